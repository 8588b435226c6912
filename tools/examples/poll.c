/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Usage: poll [WINDOWS [ENERGY]]
 * The whole machine in the caller's own event loop, a line for each window, until there were so many (0: no end), or
 * SIGINT or SIGTERM. The monitor is one descriptor among others, here one for signals.
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <schedwatt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int open_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		err(1, "cannot block signals");
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		err(1, "cannot make a descriptor for signals");
	return fd;
}

static void show(const struct sw_report *r)
{
	printf("%llu: %.3f s, on CPU %.3f s, idle %.3f s", (unsigned long long)r->seq, r->window_ns / 1e9,
	       (r->proc_oncpu_ns + r->other_oncpu_ns) / 1e9, r->idle_ns / 1e9);
	if (r->energy.total_nj == SW_ABSENT)
		printf(", no joules");
	else
		printf(", %.3f J", r->energy.total_nj / 1e9);
	for (size_t i = 0; i < r->n_processes && i < 1; i++)
		printf(", most by %s (%d)", r->processes[i].comm, r->processes[i].host_pid);
	printf("\n");
}

/* 0, or a negative errno with words in sw_monitor_error(). */
static int loop(struct sw_monitor *m, int signal_fd, unsigned long windows)
{
	struct pollfd fds[] = { { .fd = sw_monitor_fd(m), .events = POLLIN }, { .fd = signal_fd, .events = POLLIN } };
	const struct sw_report *r;
	int n = sw_monitor_begin(m);

	while (n >= 0) {
		if (poll(fds, 2, -1) < 0)
			err(1, "cannot wait");
		if (fds[1].revents) /* the window that has begun is told, too */
			break;
		n = sw_monitor_step(m, &r); /* 0: nothing was due after all */
		if (n > 0) {
			show(r);
			fflush(stdout);
			if (r->seq + 1 == windows)
				return 0;
		}
	}
	if (n >= 0)
		n = sw_monitor_finish(m, &r);
	if (n > 0)
		show(r);
	return n < 0 ? n : 0;
}

int main(int argc, char **argv)
{
	char why[512];
	struct sw_options options = {
		.sz = sizeof(options),
		.target = SW_TARGET_HOST,
		.energy = argc > 2 ? argv[2] : "auto",
		.error = why,
		.error_size = sizeof(why),
	};
	unsigned long windows = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	int signal_fd = open_signals(), failed;
	struct sw_monitor *m;

	if (sw_monitor_open(&options, &m))
		errx(1, "%s", why);
	failed = loop(m, signal_fd, windows) < 0;
	if (failed)
		warnx("%s", sw_monitor_error(m));
	sw_monitor_close(m);
	close(signal_fd);
	return failed || fflush(stdout) ? 1 : 0;
}

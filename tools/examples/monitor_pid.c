/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Usage: monitor_pid [SECONDS [ENERGY]]
 * What a busy process costs, by the best account that there is and by cpu_percent, the rule of tools that build on
 * psutil: it divides by the number of CPUs, and so bills one busy thread for an Nth of what it used.
 */
#include <err.h>
#include <schedwatt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct bill {
	double oncpu_s;
	double joules; /* negative: not known */
};

static pid_t spawn_burner(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		err(1, "cannot fork");
	if (pid)
		return pid;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
	for (;;)
		;
}

static void print_bill(const struct sw_header *h, const struct sw_summary *s, const struct bill *b)
{
	printf("%s (%s): %.3f of %.3f s on CPU, ", h->backend, h->backend_quality, b->oncpu_s, s->duration_ns / 1e9);
	if (b->joules < 0)
		printf("no joules by %s\n", h->energy_source);
	else
		printf("%.3f of %.3f J by %s (%s)\n", b->joules, s->energy[SW_POLICY_BUSY].total_nj / 1e9,
		       h->energy_source, h->energy_quality);
}

/* Record `pid` for so long. 0, or 1 when it failed, which was said then. */
static int measure(pid_t pid, const char *backend, const char *energy, uint64_t ms, struct bill *ret)
{
	char why[512];
	const int32_t pids[] = { pid };
	struct sw_options options = {
		.sz = sizeof(options),
		.target = SW_TARGET_PIDS,
		.pids = pids,
		.n_pids = 1,
		.backend = backend,
		.energy = energy,
		.duration_ms = ms,
		.error = why,
		.error_size = sizeof(why),
	};
	const struct sw_summary *s;
	struct sw_monitor *m;
	int64_t nj;

	if (sw_monitor_open(&options, &m)) {
		warnx("%s: %s", backend, why);
		return 1;
	}
	if (sw_monitor_start(m) || sw_monitor_join(m, -1) || sw_monitor_stop(m, &s)) {
		warnx("%s: %s", backend, sw_monitor_error(m));
		sw_monitor_close(m);
		return 1;
	}
	nj = s->energy[SW_POLICY_BUSY].proc_nj;
	*ret = (struct bill){ .oncpu_s = s->proc_oncpu_ns / 1e9, .joules = nj == SW_ABSENT ? -1 : nj / 1e9 };
	print_bill(sw_monitor_header(m), s, ret);
	sw_monitor_close(m);
	return 0;
}

static double difference_percent(double value, double reference)
{
	return 100 * (value - reference) / reference;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 2;
	const char *energy = argc > 2 ? argv[2] : "auto";
	struct bill best, share;
	pid_t pid;
	int failed;

	if (!(seconds >= .1 && seconds <= 3600))
		errx(2, "from 0.1 to 3600 seconds, not %s", argv[1]);
	pid = spawn_burner();
	failed = measure(pid, "auto", energy, (uint64_t)(seconds * 1000), &best) ||
		 measure(pid, "cpu_percent", energy, (uint64_t)(seconds * 1000), &share);
	if (kill(pid, SIGKILL) || waitpid(pid, NULL, 0) != pid)
		err(1, "cannot end the burner");
	if (failed)
		return 1;
	if (best.oncpu_s > 0)
		printf("cpu_percent differs in time by %+.1f %%\n", difference_percent(share.oncpu_s, best.oncpu_s));
	if (best.joules > 0 && share.joules >= 0)
		printf("cpu_percent differs in joules by %+.1f %%\n", difference_percent(share.joules, best.joules));
	return 0;
}

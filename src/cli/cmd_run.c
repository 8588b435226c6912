/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: `schedwatt run`: the order in which output, held child and monitor come to life, and the exit status.
 * Must not know: how the child is held, or what records look like.
 * Relies on: time(1) and perf-stat(1) for manners: the command's files, status and signals stay its own.
 */
#include "commands.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "session.h"
#include "spawn.h"

/* Record until the command has ended. A failing recording ends early; the command does not. */
static void record(struct session *s, struct spawn *child)
{
	struct pollfd fds[2] = {
		{ .fd = sw_monitor_fd(s->monitor), .events = POLLIN },
		{ .fd = child->signal_fd, .events = POLLIN },
	};
	struct signalfd_siginfo info;
	int err = 0;

	while (!spawn_ended(child)) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR) {
			message_error("cannot wait for the next window: %s", strerror(errno));
			s->failed = true;
			err = -errno;
			break;
		}
		while (read(child->signal_fd, &info, sizeof(info)) == sizeof(info))
			spawn_forward(child, &info);
		if (fds[0].revents)
			err = session_step(s);
		if (err)
			break;
	}
	if (!err) {
		session_ended_by(s, "command");
		session_finish(s);
	}
	spawn_wait(child);
}

/* From here on the status is the command's, unless it is 0 and we have failed. */
static int run_released(struct session *s, struct spawn *child)
{
	struct output summary;
	int status;

	session_header(s);
	record(s, child);
	output_use(&summary, STDERR_FILENO, "stderr");
	session_summary(s, &summary);
	session_remove_cgroup(s);
	session_close(s);
	status = spawn_exit_status(child);
	return status == 0 && (s->failed || s->out.err || summary.err) ? EXIT_FAILED : status;
}

static int run_held(struct session *s, struct spawn *child, char *const argv[])
{
	int32_t pid = child->pid;
	const struct target target = { .kind = SW_TARGET_PIDS, .pids = &pid, .n_pids = 1, .own_cgroup = true };
	int err, signal;

	if (session_open(s, &target) || session_begin(s))
		return EXIT_RUN_FAILED;
	signal = spawn_asked_to_end(child);
	if (signal)
		return EXIT_SIGNAL + signal;
	err = spawn_release(child);
	if (err) {
		spawn_wait(child);
		message_error("cannot run '%s': %s", argv[0], strerror(-err));
		return spawn_exit_status(child);
	}
	return run_released(s, child);
}

int command_record(const struct options *o)
{
	struct spawn child = { .go_fd = -1, .error_fd = -1, .signal_fd = -1 };
	struct session s = { .out.fd = -1 };
	int status = EXIT_RUN_FAILED, err;

	if (session_output(&s, o, false))
		goto out;
	err = spawn_hold(&child, o->command);
	if (err) {
		message_error("cannot start a process for '%s': %s", o->command[0], strerror(-err));
		goto out;
	}
	/* Only now, so that the command keeps what it would have without us. */
	signal(SIGPIPE, SIG_IGN);
	status = run_held(&s, &child, o->command);
out:
	spawn_end(&child);
	session_close(&s);
	return status;
}

int cmd_run(int argc, char **argv)
{
	struct options o;
	int status;

	if (!options_parse(&o, COMMAND_RUN, argc, argv, &status))
		status = command_record(&o);
	options_free(&o);
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: `schedwatt monitor`: when a recording ends, and why. Must not know: what records look like.
 * Relies on: signalfd(2), ppoll(2): POLLERR on the writing end of a pipe tells that its reader has gone.
 */
#include "commands.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "message.h"
#include "session.h"

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/*
 * When to end a window ahead of its time, on our own clock (in a time namespace the library's differs). A duration of
 * whole windows ends with its last window instead of a sliver after it; then the moment is only a last resort.
 */
static uint64_t deadline_ns(const struct options *o)
{
	uint64_t interval_ns = o->interval_ms * NS_PER_MS;

	if (!o->duration_ns)
		return UINT64_MAX;
	return now_ns() + o->duration_ns + (o->duration_ns % interval_ns ? 0 : interval_ns);
}

/* Wait for a window, a signal, a closed pipe or the deadline; 0 or -errno. */
static int wait_for(struct pollfd *fds, nfds_t n, uint64_t deadline)
{
	uint64_t now = now_ns(), left = now < deadline ? deadline - now : 0;
	struct timespec timeout = { .tv_sec = (time_t)(left / NS_PER_S), .tv_nsec = (long)(left % NS_PER_S) };

	if (ppoll(fds, n, deadline == UINT64_MAX ? NULL : &timeout, NULL) >= 0)
		return 0;
	if (errno != EINTR)
		return -errno;
	for (nfds_t i = 0; i < n; i++)
		fds[i].revents = 0;
	return 0;
}

/*
 * What has become of the processes that were named, after a window: said once when they have ended and others of their
 * trees live on, and when nothing is left. True in the second case.
 */
static bool target_ended(const struct session *s, bool *said)
{
	const struct sw_header *h = s->recording.header;
	struct buf words = { 0 };

	if (h->target != SW_TARGET_PIDS)
		return false;
	if (s->ended) {
		progress_clear(s->progress);
		target_ended_words(&words, h);
		message_note(&words);
	} else if (h->scope == SW_SCOPE_TREE && !s->pids_alive && !*said) {
		progress_clear(s->progress);
		target_left_words(&words, h);
		message_note(&words);
		*said = true;
	}
	return s->ended;
}

/* A duration of whole windows ends with a window. */
static bool duration_is_over(const struct session *s)
{
	const struct options *o = s->options;

	return o->duration_ns && !(o->duration_ns % (o->interval_ms * NS_PER_MS)) && s->recorded_ns >= o->duration_ns;
}

/* Why to end now, or NULL. *over: the last window is behind us; otherwise the current one is to be cut short. */
static const char *reason_to_end(const struct session *s, const struct pollfd *fds, uint64_t deadline, bool *said,
				 bool *over)
{
	*over = true;
	if (target_ended(s, said))
		return "target";
	if (duration_is_over(s))
		return "duration";
	*over = false;
	if (s->out.err || fds[2].revents)
		return "output";
	if (fds[1].revents)
		return "signal";
	return now_ns() >= deadline ? "duration" : NULL;
}

static void record(struct session *s, int signal_fd)
{
	struct pollfd fds[3] = {
		{ .fd = sw_monitor_fd(s->monitor), .events = POLLIN },
		{ .fd = signal_fd, .events = POLLIN },
		{ .fd = s->out.pollable ? s->out.fd : -1, .events = 0 }, /* only POLLERR and POLLHUP */
	};
	uint64_t deadline = deadline_ns(s->options);
	bool said = false, over = false;
	const char *end = s->out.err ? "output" : NULL;
	int err;

	while (!end) {
		err = wait_for(fds, 3, deadline);
		if (err) {
			progress_clear(s->progress);
			message_error("cannot wait for the next window: %s", strerror(-err));
			s->failed = true;
			break;
		}
		if (fds[0].revents && session_step(s))
			return; /* no window can be read any more */
		end = reason_to_end(s, fds, deadline, &said, &over);
	}
	session_ended_by(s, end);
	if (!over)
		session_finish(s);
}

static int monitor(struct session *s, int signal_fd)
{
	if (session_open(s, &s->options->target) || session_begin(s))
		return EXIT_FAILED;
	session_header(s);
	record(s, signal_fd);
	session_summary(s, NULL);
	session_close(s);
	/* `schedwatt monitor | head` has shown what was asked for. */
	return s->failed || (s->out.err && !s->out.closed_pipe) ? EXIT_FAILED : EXIT_DONE;
}

int target_record(const struct options *o)
{
	struct session s = { .out.fd = -1 };
	struct progress progress;
	int status = EXIT_FAILED, signal_fd = -1;
	sigset_t set;

	if (session_output(&s, o, true))
		goto out;
	signal_fd = session_signals(&set);
	if (signal_fd < 0)
		goto out;
	s.stop_fd = signal_fd;
	progress_begin(&progress, o->duration_ns ? STDERR_FILENO : -1, o->duration_ns);
	s.progress = &progress;
	status = monitor(&s, signal_fd);
out:
	if (signal_fd >= 0)
		close(signal_fd);
	session_close(&s);
	return status;
}

int cmd_monitor(int argc, char **argv)
{
	struct options o;
	int status;

	if (!options_parse(&o, COMMAND_MONITOR, argc, argv, &status))
		status = target_record(&o);
	options_free(&o);
	return status;
}

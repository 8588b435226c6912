/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: `schedwatt calibrate`: how long is measured, and that nothing is written unless all went well. Must not know:
 * what idle is, or what the file looks like. Relies on: access(2), which tells before ten seconds have
 * gone by what open(2) would refuse after them.
 */
#include "commands.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calibration.h"
#include "format.h"
#include "message.h"
#include "session.h"

/* The file is opened at the end only, so that what it held outlives a refusal. 0, or -errno with a message. */
static int check_output(const char *path)
{
	char copy[PATH_MAX];
	struct stat st;
	int err = 0;

	if (!path || !strcmp(path, "-"))
		return 0;
	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			err = -EISDIR;
		else if (access(path, W_OK))
			err = -errno;
	} else if (errno != ENOENT || snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy)) {
		err = -errno;
	} else if (access(dirname(copy), W_OK | X_OK)) {
		err = -errno;
	}
	if (err)
		message_error("cannot write to %s: %s", path, strerror(-err));
	return err;
}

/* Somebody who watches is told to wait, and to leave the machine alone. */
static void announce(const struct options *o)
{
	struct buf words = { 0 };
	char seconds[FORMAT_MAX];

	if (!isatty(STDERR_FILENO))
		return;
	format_udecimal(seconds, o->duration_ns, 9);
	buf_printf(&words, "measuring for %s s; leave this machine alone", seconds);
	message_note(&words);
}

/* A source that does not measure was not asked for; why there is no better one is known. */
static int check_source(const struct sw_header *h)
{
	struct buf words = { 0 };

	if (h->energy_quality && !strcmp(h->energy_quality, "measured"))
		return 0;
	buf_printf(&words, "nothing measures energy here, and the idle power of energy source %s is what it was told",
		   h->energy_source);
	for (size_t i = 0; i < h->n_energy_refusals; i++)
		buf_printf(&words, "; %s: %s", h->energy_refusals[i].name, h->energy_refusals[i].reason);
	message_note(&words);
	return -ENODEV;
}

static int interrupted(const struct session *s, uint64_t elapsed_ns)
{
	char elapsed[FORMAT_MAX], wanted[FORMAT_MAX];

	progress_clear(s->progress);
	format_fixed(elapsed, elapsed_ns, 9, 1);
	format_udecimal(wanted, s->options->duration_ns, 9);
	message_error("interrupted after %s s of %s; a calibration that is cut short is none, and nothing was written",
		      elapsed, wanted);
	return -EINTR;
}

/* Whole windows until the duration is over. 0, or -errno with a message. */
static int measure(struct session *s, int signal_fd, struct calibration *c)
{
	struct pollfd fds[2] = {
		{ .fd = sw_monitor_fd(s->monitor), .events = POLLIN },
		{ .fd = signal_fd, .events = POLLIN },
	};
	const struct sw_report *report;
	uint64_t elapsed_ns = 0;
	int r;

	/* The library keeps its beat: windows come for as long as they are asked for. */
	while (elapsed_ns < s->options->duration_ns) {
		r = poll(fds, 2, -1) < 0 ? -errno : 0;
		if (r == -EINTR)
			continue;
		if (r) {
			progress_clear(s->progress);
			message_error("cannot wait for the next window: %s", strerror(-r));
			return r;
		}
		if (fds[1].revents)
			return interrupted(s, elapsed_ns);
		r = session_next(s, &report);
		if (r < 0)
			return r;
		if (r > 0) {
			calibration_add(c, report);
			elapsed_ns = report->t_ns - c->header->started_ns;
			progress_window(s->progress, c->header, report);
		}
	}
	progress_clear(s->progress);
	return 0;
}

/* 0, or -errno when that machine was no idle one, or it is not known. */
static int judge(struct session *s, const struct calibration *c)
{
	const struct sw_summary *summary = NULL;
	int err = sw_monitor_summary(s->monitor, &summary);
	struct buf words = { 0 };

	if (err < 0) {
		message_error("cannot sum the calibration up: %s", strerror(-err));
		return err;
	}
	if (!calibration_fault(c, s->options->max_busy, summary, &words))
		return 0;
	buf_text(&words, s->options->output ? "; nothing was written" : "");
	message_note(&words);
	return -EBUSY;
}

/* The file, if one was asked for, then the words: on stdout, unless the file is there. An exit status. */
static int write_result(struct session *s, const struct calibration *c)
{
	const char *file = s->options->output;
	bool to_stdout = file && !strcmp(file, "-");
	struct output words;
	int err = 0;

	if (file) {
		baseline_write(c, s->recording.host, &s->buf);
		err = output_open(&s->out, file);
		if (!err)
			output_write(&s->out, &s->buf, -1);
		err = output_close(&s->out);
		buf_clear(&s->buf);
	}
	calibration_text(c, err || to_stdout ? NULL : file, &s->buf);
	output_use(&words, to_stdout ? STDERR_FILENO : STDOUT_FILENO, to_stdout ? "stderr" : "stdout");
	output_write(&words, &s->buf, -1);
	return err || words.err ? EXIT_FAILED : EXIT_DONE;
}

static int calibrate(struct session *s, const sigset_t *signals, int signal_fd)
{
	struct calibration c;

	if (session_open(s, &s->options->target) || check_source(s->recording.header) || session_begin(s))
		return EXIT_FAILED;
	calibration_init(&c, s->recording.header);
	announce(s->options);
	if (measure(s, signal_fd, &c) || judge(s, &c))
		return EXIT_FAILED;
	/* From here on they end us as they do others: a FIFO may wait for its reader for ever. */
	sigprocmask(SIG_UNBLOCK, signals, NULL);
	return write_result(s, &c);
}

int cmd_calibrate(int argc, char **argv)
{
	struct progress progress = { .fd = -1 };
	struct session s = { .out.fd = -1, .stop_fd = -1, .progress = &progress };
	int status, signal_fd = -1;
	struct options o;
	sigset_t set;

	if (options_parse(&o, COMMAND_CALIBRATE, argc, argv, &status))
		goto out;
	status = EXIT_FAILED;
	progress_begin(&progress, STDERR_FILENO, o.duration_ns);
	s.options = &o;
	if (check_output(o.output))
		goto out;
	signal_fd = session_signals(&set);
	if (signal_fd < 0)
		goto out;
	status = calibrate(&s, &set, signal_fd);
out:
	if (signal_fd >= 0)
		close(signal_fd);
	session_close(&s);
	options_free(&o);
	return status;
}

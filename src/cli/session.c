/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the way from the library's reports through a sink to an output. Must not know: when a recording ends, or what
 * a report holds. Relies on: schedwatt.h, which says how long each report lives.
 */
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "message.h"
#include "terminal.h"

int session_signals(sigset_t *ret)
{
	int fd = -1;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(ret);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGTERM);
	if (!sigprocmask(SIG_BLOCK, ret, NULL))
		fd = signalfd(-1, ret, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd >= 0)
		return fd;
	fd = -errno;
	message_error("cannot wait for signals: %s", strerror(-fd));
	return fd;
}

int session_output(struct session *s, const struct options *o, bool always)
{
	int err;

	*s = (struct session){ .options = o, .out.fd = -1, .thread_out.fd = -1, .stop_fd = -1 };
	if (!always && !o->sink && !o->output)
		return 0;
	s->sink = o->sink ? o->sink : always ? &sink_text : &sink_jsonl;
	if (o->compare)
		s->sink = s->sink->compare;
	err = output_open_records(&s->out, o->output ? o->output : "-");
	if (!err && o->thread_output)
		err = output_open_records(&s->thread_out, o->thread_output);
	return err;
}

/* What was not to be had is the best one's matter; why the next ones were passed over is in the records. */
static void tell_fallback(struct session *s, const struct sw_header *h)
{
	struct buf words = { 0 };

	if (!h->n_backend_refusals || s->told_fallback)
		return;
	s->told_fallback = true;
	buf_printf(&words, "CPU time comes from %s (%s): %s", h->backend, h->backend_quality,
		   h->backend_refusals[0].reason);
	message_note(&words);
}

/*
 * Each process that is named takes a descriptor, and so does each thread whose time is read in every window. The usual
 * soft limit of 1,024 is there for the sake of select(2). A command that we run was forked before, and keeps it.
 */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit); /* where that fails, opening says so, or files are opened again and again */
}

int session_open(struct session *s, const struct target *target)
{
	struct sw_options lib;
	char error[1024] = "";
	int err;

	options_to_library(s->options, &lib);
	lib.target = target->kind;
	lib.scope = target->scope;
	lib.pids = target->pids;
	lib.n_pids = target->n_pids;
	lib.cgroup = target->cgroup;
	lib.own_cgroup = target->own_cgroup;
	lib.error = error;
	lib.error_size = sizeof(error);
	allow_descriptors();
	err = sw_monitor_open(&lib, &s->monitor);
	if (err < 0) {
		message_error("%s", error[0] ? error : strerror(-err));
		s->failed = true;
		return err;
	}
	s->recording = (struct recording){
		.header = sw_monitor_header(s->monitor),
		.host = uname(&s->names) == 0 ? s->names.nodename : NULL,
		.slurm_job_id = getenv("SLURM_JOB_ID"),
		.command = s->options->command,
		.by = s->options->by,
		.style = s->options->style,
		.labels = s->options->labels,
		.n_labels = s->options->n_labels,
		.flat = s->options->flat,
		.csv_units = s->options->csv_units,
		.columns = s->options->columns,
		.thread_columns = s->options->thread_columns,
	};
	s->pids_alive = (uint32_t)s->recording.header->n_pids;
	tell_fallback(s, s->recording.header);
	err = baseline_check(&s->options->baseline, s->recording.header);
	if (!err && s->options->compare) {
		err = compare_open(&s->compare, s->monitor);
		s->recording.comparison = &s->compare.comparison;
	}
	s->failed = err != 0;
	return err;
}

static int monitor_failed(struct session *s, const char *what, int err)
{
	const char *words = sw_monitor_error(s->monitor);

	progress_clear(s->progress);
	message_error("%s: %s", what, words && words[0] ? words : strerror(-err));
	s->failed = true;
	s->recording.end = NULL;
	return err;
}

/* What the sink left in s->buf, as one write. */
static void write_record(struct session *s)
{
	output_write(&s->out, &s->buf, s->stop_fd); /* says and keeps what goes wrong */
	buf_clear(&s->buf);
}

static void take_failure(struct session *s)
{
	if (!s->thread_out.err || s->out.err)
		return;
	s->out.err = s->thread_out.err;
	s->out.closed_pipe = s->thread_out.closed_pipe;
}

static void write_threads(struct session *s)
{
	output_write(&s->thread_out, &s->buf, s->stop_fd);
	buf_clear(&s->buf);
	take_failure(s);
}

static bool has_records(const struct session *s)
{
	return s->out.fd >= 0 && !s->out.err;
}

static bool has_thread_records(const struct session *s)
{
	return s->options->thread_output && has_records(s);
}

void session_header(struct session *s)
{
	if (!has_records(s))
		return;
	s->sink->header(&s->recording, &s->buf);
	write_record(s);
	if (!has_thread_records(s))
		return;
	s->sink->threads->header(&s->recording, &s->buf);
	write_threads(s);
}

/* Once: from then on it is on every record. */
static void tell_shared(struct session *s, const struct sw_report *report)
{
	struct buf words = { 0 };

	if (s->told_shared || report->shared_with == SW_ABSENT || !report->shared_with)
		return;
	s->told_shared = true;
	progress_clear(s->progress);
	buf_printf(&words, "%lld other process%s in the cgroup, and counted in", (long long)report->shared_with,
		   report->shared_with == 1 ? " is" : "es are");
	message_note(&words);
}

static void write_report(struct session *s, const struct sw_report *report, const struct sw_data *rows)
{
	if (!has_records(s))
		return;
	progress_clear(s->progress); /* what fails is said */
	s->sink->sample(&s->recording, report, rows, &s->buf);
	write_record(s);
	if (!has_thread_records(s))
		return;
	s->sink->threads->sample(&s->recording, report, rows, &s->buf);
	write_threads(s);
}

static void take_report(struct session *s, const struct sw_report *report, const struct sw_data *rows)
{
	s->recorded_ns = report->t_ns - s->recording.header->started_ns;
	s->pids_alive = report->pids_alive;
	s->ended = report->ended;
	tell_shared(s, report);
	if (s->recording.comparison)
		compare_take(&s->compare);
	write_report(s, report, rows);
	progress_window(s->progress, s->recording.header, report);
}

/* Rows live until this returns; so the window is written in here, where there are any. */
static void take_rows(struct sw_monitor *m, const struct sw_data *rows, void *ctx)
{
	take_report(ctx, sw_monitor_report(m), rows);
}

int session_begin(struct session *s)
{
	int err = s->recording.columns.n ? sw_monitor_set_callback(s->monitor, take_rows, s) : 0;

	if (err >= 0)
		err = sw_monitor_begin(s->monitor);
	return err < 0 ? monitor_failed(s, "cannot begin the recording", err) : 0;
}

int session_next(struct session *s, const struct sw_report **ret)
{
	int r = sw_monitor_step(s->monitor, ret);

	return r < 0 ? monitor_failed(s, "cannot read a window", r) : r;
}

int session_step(struct session *s)
{
	const struct sw_report *report = NULL;
	int r = session_next(s, &report);

	if (r > 0 && !s->recording.columns.n)
		take_report(s, report, NULL);
	return r < 0 ? r : 0;
}

int session_finish(struct session *s)
{
	const struct sw_report *report = NULL;
	int r = sw_monitor_finish(s->monitor, &report);

	if (r < 0)
		return monitor_failed(s, "cannot read the last window", r);
	if (r > 0 && !s->recording.columns.n)
		take_report(s, report, NULL);
	return 0;
}

void session_ended_by(struct session *s, const char *end)
{
	s->recording.end = end;
}

void session_summary(struct session *s, struct output *extra)
{
	const struct sink *text = s->options->compare ? sink_text.compare : &sink_text;
	const struct sw_summary *summary = NULL;
	int err = sw_monitor_summary(s->monitor, &summary);

	progress_clear(s->progress);
	if (err >= 0 && s->recording.comparison)
		err = compare_end(&s->compare, summary);
	if (err < 0) {
		monitor_failed(s, "cannot sum the recording up", err);
		return;
	}
	if (has_records(s)) {
		s->recording.style.colour = terminal_colours(s->out.fd);
		s->sink->summary(&s->recording, summary, &s->buf);
		write_record(s);
	}
	if (!extra)
		return;
	s->recording.style.colour = terminal_colours(extra->fd);
	text->summary(&s->recording, summary, &s->buf);
	output_write(extra, &s->buf, -1);
	buf_clear(&s->buf);
}

void session_remove_cgroup(struct session *s)
{
	struct buf words = { 0 };

	if (!s->monitor || !sw_monitor_remove_cgroup(s->monitor))
		return;
	buf_text(&words, sw_monitor_error(s->monitor));
	message_note(&words);
}

void session_end(struct session *s)
{
	progress_clear(s->progress);
	sw_monitor_close(s->monitor);
	s->monitor = NULL;
	compare_close(&s->compare);
	s->recording.header = NULL;
	s->recording.end = NULL;
}

void session_close(struct session *s)
{
	session_end(s);
	output_close(&s->out);
	if (s->options && s->options->thread_output) {
		output_close(&s->thread_out);
		take_failure(s);
	}
	buf_free(&s->buf);
}

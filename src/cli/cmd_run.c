/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: `schedwatt run`: the order in which outputs, held child and monitor come to life, once for each run; when a
 * series ends, and the exit status. Must not know: how the child is held, or what records look like.
 * Relies on: time(1) and perf-stat(1) for manners: the command's files, status and signals stay its own.
 */
#include "commands.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "json_result.h"
#include "message.h"
#include "series.h"
#include "session.h"
#include "spawn.h"
#include "terminal.h"

struct job {
	const struct options *o;
	struct session session;
	struct spawn child;
	struct series series;
	struct json_result json;
	struct output words; /* stderr */
	struct progress progress; /* of a series; one run is left alone with its terminal */
	bool began;          /* the header is written */
	int status;          /* of the first run that failed, or of our own failure before a command; or 0 */
};

/* What `sink` has made in `buf`. */
static void write_out(struct output *out, struct buf *buf, int stop_fd)
{
	output_write(out, buf, stop_fd); /* says and keeps what goes wrong */
	buf_clear(buf);
}

static bool has_records(const struct session *s)
{
	return s->out.fd >= 0 && !s->out.err;
}

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
			progress_clear(s->progress);
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

/* One header stands for all runs. */
static void write_header(struct job *j)
{
	if (j->began)
		return;
	j->began = true;
	session_header(&j->session);
	json_result_header(&j->json, &j->session.recording);
}

/* The only run's summary is that of the recording; the runs of a series have a line each. */
static void write_run(struct job *j, struct run *run, const struct sw_summary *summary)
{
	struct session *s = &j->session;

	json_result_run(&j->json, &s->recording, &j->series, run);
	if (series_is_one(&j->series)) {
		json_result_summary(&j->json, &s->recording, summary);
		return;
	}
	if (has_records(s) && s->sink->run) {
		s->recording.style.colour = terminal_colours(s->out.fd);
		s->sink->run(&s->recording, &j->series, run, &s->buf);
		write_out(&s->out, &s->buf, s->stop_fd);
	}
	s->recording.style.colour = terminal_colours(j->words.fd);
	sink_text.run(&s->recording, &j->series, run, &s->buf);
	write_out(&j->words, &s->buf, -1);
}

/* 0 or -errno, when all is said. */
static int take_run(struct job *j, struct run *run)
{
	struct session *s = &j->session;
	const struct sw_summary *summary;
	struct run *taken;
	int err;

	progress_clear(s->progress);
	if (series_is_one(&j->series))
		session_summary(s, &j->words);
	err = sw_monitor_summary(s->monitor, &summary);
	if (err < 0) {
		if (!series_is_one(&j->series))
			message_error("cannot sum the run up: %s", strerror(-err));
		s->failed = true;
		return err;
	}
	taken = series_add(&j->series, run, s->recording.header, summary);
	if (!taken) {
		message_error("out of memory for another run");
		s->failed = true;
		return -ENOMEM;
	}
	write_run(j, taken, summary);
	series_forget_rows(taken);
	return 0;
}

/* From here on the status is the command's. Whether another run may follow; why not is in series.end. */
static bool run_released(struct job *j, struct run *run)
{
	struct session *s = &j->session;
	int status, err;

	run->pid = (int32_t)j->child.pid;
	write_header(j);
	record(s, &j->child);
	status = spawn_exit_status(&j->child);
	if (!j->status)
		j->status = status;
	run->wait_status = j->child.status;
	run->recorded = !s->failed;
	/* Whoever runs one command, a shell perhaps, and interrupts what is in it, means that and not us. */
	run->interrupted = j->child.asked && !series_is_one(&j->series);
	err = take_run(j, run);
	session_remove_cgroup(s);
	if (run->interrupted)
		j->series.end = "signal";
	else if (!err && run->recorded)
		j->series.end = status && !j->o->keep_going ? "failure" : "command";
	return j->series.end && !strcmp(j->series.end, "command");
}

/* Hold a child and have it watched. 0, or what to exit with when this is the first run. */
static int hold(struct job *j)
{
	struct session *s = &j->session;
	int32_t pid;
	const struct target target = { .kind = SW_TARGET_PIDS, .pids = &pid, .n_pids = 1, .own_cgroup = true };
	struct buf why = { 0 };
	int err;

	err = spawn_hold(&j->child, j->o->command);
	if (err) {
		message_error("cannot start a process for '%s': %s", j->o->command[0], strerror(-err));
		return EXIT_RUN_FAILED;
	}
	pid = j->child.pid;
	if (session_open(s, &target))
		return EXIT_RUN_FAILED;
	buf_text(&why, "--budget: ");
	if (budget_is_refused(&j->o->budget, s->recording.header, &why)) {
		message_note(&why);
		return EXIT_USAGE;
	}
	buf_free(&why);
	if (series_header(&j->series, s->recording.header)) {
		message_error("out of memory for a series of runs");
		return EXIT_RUN_FAILED;
	}
	return session_begin(s) ? EXIT_RUN_FAILED : 0;
}

/* We were asked to end while the child was held. The first run's files get what there is, so that they are whole. */
static void give_up(struct job *j)
{
	struct session *s = &j->session;
	const struct sw_summary *summary;

	write_header(j);
	j->series.end = "signal";
	if (!series_is_one(&j->series))
		return;
	j->status = EXIT_SIGNAL + j->child.asked;
	session_ended_by(s, "signal");
	session_finish(s);
	session_summary(s, NULL);
	if (sw_monitor_summary(s->monitor, &summary) >= 0)
		json_result_summary(&j->json, &s->recording, summary);
	message_error("interrupted before '%s' began", j->o->command[0]);
}

/* Whether another run may follow. */
static bool run_once(struct job *j, struct run *run)
{
	int status, err;

	j->series.end = NULL;
	if (spawn_asked_to_end(&j->child)) {
		j->series.end = "signal";
		return false;
	}
	session_end(&j->session);
	status = hold(j);
	if (status) {
		j->session.failed = true;
		if (!j->status)
			j->status = j->series.n ? EXIT_FAILED : status;
		return false;
	}
	if (spawn_asked_to_end(&j->child)) {
		give_up(j);
		return false;
	}
	progress_run(j->session.progress, (run->warmup ? 0 : j->o->warmup) + run->index, j->o->warmup + j->o->repeat);
	err = spawn_release(&j->child);
	if (!err)
		return run_released(j, run);
	spawn_wait(&j->child);
	progress_clear(j->session.progress);
	message_error("cannot run '%s': %s", j->o->command[0], strerror(-err));
	if (!j->status)
		j->status = spawn_exit_status(&j->child);
	j->series.end = "failure";
	return false;
}

static void run_all(struct job *j)
{
	bool go_on = true;

	for (uint32_t i = 0; go_on && i < j->o->warmup + j->o->repeat; i++) {
		bool warmup = i < j->o->warmup;
		struct run run = { .index = warmup ? i + 1 : i - j->o->warmup + 1, .warmup = warmup };

		go_on = run_once(j, &run);
	}
}

/* What all runs together come to. */
static void write_series(struct job *j)
{
	struct session *s = &j->session;
	struct recording rec = s->recording;

	if (series_end(&j->series)) {
		message_error("out of memory for statistics");
		s->failed = true;
	}
	if (series_is_one(&j->series) || !j->began)
		return;
	rec.header = j->series.header;
	rec.end = j->series.end;
	if (has_records(s) && s->sink->series) {
		rec.style.colour = terminal_colours(s->out.fd);
		s->sink->series(&rec, &j->series, &s->buf);
		write_out(&s->out, &s->buf, s->stop_fd);
	}
	json_result_series(&j->json, &rec, &j->series);
	rec.style.colour = terminal_colours(j->words.fd);
	sink_text.series(&rec, &j->series, &s->buf);
	write_out(&j->words, &s->buf, -1);
}

/* 0, or what to exit with. */
static int judge(struct job *j, struct budget_result *result)
{
	const struct budget *budget = &j->o->budget;
	struct buf words = { 0 };

	series_budget(&j->series, budget, result);
	budget_words(budget, result, j->series.header, &words);
	message_note(&words);
	if (result->verdict == BUDGET_OVER)
		return EXIT_OVER_BUDGET;
	return result->verdict == BUDGET_WITHIN ? 0 : EXIT_FAILED;
}

/* Close the records, and settle what to exit with: the command's status before ours, ours before 0. */
static int finish(struct job *j)
{
	bool interrupted = j->series.end && !strcmp(j->series.end, "signal");
	bool judged = j->o->budget.kind != BUDGET_NONE && j->series.n && !interrupted;
	struct budget_result result;
	int status = interrupted ? EXIT_SIGNAL + j->child.asked : j->status, verdict = 0;

	write_series(j);
	session_close(&j->session);
	if (judged)
		verdict = judge(j, &result);
	if (!status)
		status = verdict;
	if (!status && (j->session.failed || j->session.out.err || j->words.err))
		status = EXIT_FAILED;
	json_result_end(&j->json, &j->series, &j->o->budget, judged ? &result : NULL, status);
	return json_result_close(&j->json) && !status ? EXIT_FAILED : status;
}

int command_record(const struct options *o)
{
	struct job j = {
		.o = o,
		.series = { .repeat = o->repeat, .warmup = o->warmup, .keep_going = o->keep_going },
		.child = { .go_fd = -1, .error_fd = -1, .signal_fd = -1, .stop_fd = -1 },
		.json = { .out.fd = -1 },
	};
	int status = EXIT_RUN_FAILED, err;

	if (session_output(&j.session, o, false) || json_result_open(&j.json, o->json))
		goto out;
	output_use(&j.words, STDERR_FILENO, "stderr");
	err = spawn_prepare(&j.child);
	if (err) {
		message_error("cannot wait for signals: %s", strerror(-err));
		goto out;
	}
	if (!series_is_one(&j.series)) {
		progress_begin(&j.progress, STDERR_FILENO, 0);
		j.session.progress = &j.progress;
	}
	j.session.stop_fd = j.json.stop_fd = j.child.stop_fd;
	run_all(&j);
	spawn_end(&j.child); /* one that is still held */
	status = finish(&j);
out:
	session_close(&j.session);
	json_result_close(&j.json);
	series_free(&j.series);
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A monitor with a thread of its own, over a made-up back end: starting, waiting and stopping in all orders, who gets
 * the rows, and failures that reach the caller. `make check-tsan` runs it under ThreadSanitizer: the back end's numbers
 * are made in the thread that reads them, so that nothing of the test itself is shared.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "fake_monitor.h"

#include "child.h"

#define MS 1000000ULL
#define INTERVAL_MS 10

enum { PR_TIME, PR_PID, PR_PPID, PR_COMM, PR_STATE, PR_ONCPU_NS, PR_JOULES, PR_WATTS, PR_T_NS, PR_STARTTIME, PROC_COLUMNS };
enum { TH_TIME, TH_PID, TH_TID, TH_COMM, TH_STATE, TH_ONCPU_NS, TH_JOULES, TH_T_NS, TH_STARTTIME, THREAD_COLUMNS };
enum { NEVER = 1000000 };

static const struct sw_task tasks[2] = {
	{.start_boottime_ns = 5, .leader_start_boottime_ns = 5, .tgid = 7, .tid = 7, .ppid = 3,
	 .here = {.tgid = 7, .tid = 7, .ppid = 3}, .comm = "seven", .process_comm = "seven"},
	{.start_boottime_ns = 6, .leader_start_boottime_ns = 5, .tgid = 7, .tid = 8, .ppid = 3,
	 .here = {.tgid = 7, .tid = 8, .ppid = 3}, .comm = "eight", .process_comm = "seven"},
};

static unsigned fail_at; /* the read that fails; set before a start */
static bool mutely;

/* Each thread has had 2 ms and 1 ms more. */
static int read_more(struct sw_cpu_backend *b, struct sw_error *error, const struct sw_cpu_usage **ret)
{
	struct fake *f = (struct fake *)b;
	int err = fake_read(b, error, ret);

	if (f->reads >= fail_at)
		return mutely ? -EIO : sw_fail(error, -EIO, "the file of this back end is gone");
	for (unsigned i = 0; i < 2; i++)
		f->rows[i] = (struct sw_cpu_row){.first = f->reads == 1, .key = 1 + i, .task = &tasks[i],
						 .oncpu_ns = f->reads * (2 - i) * MS};
	f->usage.n_rows = 2;
	f->domains[0].span_ns = f->reads * 3 * MS;
	return err;
}

static struct fake *with(const struct sw_options *options, const int32_t *pids, size_t n_pids)
{
	struct sw_options o = *options;
	struct fake *f;

	o.by = SW_BY_PROCESS | SW_BY_THREAD;
	o.no_cmdline = 1;
	o.interval_ms = o.interval_ms ? o.interval_ms : INTERVAL_MS;
	f = fake_open(&o, pids, n_pids);
	f->ops.read = read_more;
	f->rows = calloc(2, sizeof(*f->rows));
	assert_non_null(f->rows);
	fail_at = NEVER;
	mutely = false;
	return f;
}

static struct fake *opened(void)
{
	return with(&(struct sw_options){0}, NULL, 0);
}

static void end_fake(struct fake *f)
{
	sw_monitor_close(f->m);
	free(f->rows);
	free(f);
}

static void starting_and_stopping(void **state)
{
	struct fake *f = opened();
	struct sw_monitor *m = f->m;
	const struct sw_summary *s = NULL;
	const struct sw_report *r;
	struct sw_monitor *other;
	uint64_t samples;

	(void)state;
	assert_int_equal(sw_monitor_join(m, 0), -EINVAL);
	assert_non_null(strstr(sw_monitor_error(m), "never started"));
	assert_int_equal(sw_monitor_stop(m, &s), -EINVAL);
	assert_int_equal(sw_monitor_start(m), 0);
	assert_true(sw_monitor_header(m)->started_ns > 0);
	assert_int_equal(sw_monitor_start(m), -EALREADY);
	assert_non_null(strstr(sw_monitor_error(m), "started already"));
	assert_int_equal(sw_monitor_step(m, &r), -EBUSY);
	assert_non_null(strstr(sw_monitor_error(m), "own thread"));
	assert_int_equal(sw_monitor_begin(m), -EBUSY);
	assert_int_equal(sw_monitor_finish(m, &r), -EBUSY);
	assert_int_equal(sw_monitor_add(m, "x", &other), -EBUSY);
	assert_int_equal(sw_monitor_remove_cgroup(m), -EBUSY);
	assert_int_equal(sw_monitor_summary(m, &s), -EBUSY);
	assert_null(sw_monitor_report(m));
	assert_int_equal(sw_monitor_join(m, 0), -ETIMEDOUT);
	assert_int_equal(sw_monitor_join(m, 5 * INTERVAL_MS), -ETIMEDOUT);
	assert_string_equal(sw_monitor_error(m), "the recording goes on");
	assert_null(s);
	assert_int_equal(sw_monitor_stop(m, &s), 0);
	assert_string_equal(sw_monitor_error(m), "");
	assert_true(s->samples >= 3);
	assert_true(s->proc_oncpu_ns == s->samples * 3 * MS);
	assert_int_equal(s->n_processes, 1);
	assert_non_null(sw_monitor_report(m));
	assert_int_equal(sw_monitor_report(m)->seq, s->samples - 1);
	samples = s->samples;
	/* the same again, and the monitor is the caller's */
	assert_int_equal(sw_monitor_stop(m, &s), 0);
	assert_int_equal(s->samples, samples);
	assert_int_equal(sw_monitor_stop(m, NULL), 0);
	assert_int_equal(sw_monitor_join(m, -1), 0);
	assert_int_equal(sw_monitor_step(m, &r), -ESHUTDOWN);
	assert_int_equal(sw_monitor_start(m), -ESHUTDOWN);
	assert_int_equal(sw_monitor_summary(m, &s), 0);
	end_fake(f);
}

static void closing_in_any_state(void **state)
{
	struct fake *f = opened();
	const struct sw_report *r;

	(void)state;
	sw_monitor_close(NULL);
	sw_data_free(NULL);
	end_fake(f);
	f = opened();
	assert_int_equal(sw_monitor_collect_start(f->m), 0);
	end_fake(f);
	f = opened();
	assert_int_equal(sw_monitor_start(f->m), 0);
	end_fake(f); /* at once */
	f = opened();
	assert_int_equal(sw_monitor_collect_start(f->m), 0);
	assert_int_equal(sw_monitor_start(f->m), 0);
	assert_int_equal(sw_monitor_join(f->m, 3 * INTERVAL_MS), -ETIMEDOUT);
	end_fake(f); /* rows and all */
	f = opened();
	assert_int_equal(sw_monitor_start(f->m), 0);
	assert_int_equal(sw_monitor_stop(f->m, NULL), 0);
	end_fake(f);
	f = with(&(struct sw_options){.duration_ms = 2 * INTERVAL_MS}, NULL, 0);
	assert_int_equal(sw_monitor_start(f->m), 0);
	assert_int_equal(sw_monitor_join(f->m, -1), 0);
	end_fake(f); /* over, and not stopped */
	f = opened(); /* stepped first */
	assert_int_equal(sw_monitor_begin(f->m), 0);
	assert_int_equal(sw_monitor_start(f->m), 0);
	assert_int_equal(sw_monitor_stop(f->m, NULL), 0);
	end_fake(f);
	f = opened();
	assert_int_equal(sw_monitor_finish(f->m, &r), 1);
	assert_int_equal(sw_monitor_start(f->m), -ESHUTDOWN);
	end_fake(f);
}

static void check_duration(uint32_t interval_ms, uint64_t duration_ms, uint64_t windows)
{
	struct fake *f = with(&(struct sw_options){.interval_ms = interval_ms, .duration_ms = duration_ms}, NULL, 0);
	const struct sw_summary *s;

	assert_int_equal(sw_monitor_start(f->m), 0);
	assert_int_equal(sw_monitor_join(f->m, 20000), 0);
	assert_int_equal(sw_monitor_stop(f->m, &s), 0);
	assert_int_equal(s->samples, windows);
	assert_true(s->duration_ns >= duration_ms * MS);
	assert_true(s->duration_ns < duration_ms * MS + interval_ms * MS);
	end_fake(f);
}

static void a_duration(void **state)
{
	(void)state;
	check_duration(200, 400, 2); /* ends with a window */
	check_duration(400, 500, 2); /* cuts one short */
	check_duration(800, 200, 1);
}

static void a_target_that_ends(void **state)
{
	pid_t pid = sleeper();
	struct fake *f = with(&(struct sw_options){.interval_ms = 30000}, &pid, 1);
	const struct sw_summary *s;

	(void)state;
	f->ops.alive = fake_alive;
	f->usage.ended = true; /* what counts is that it is asked */
	assert_int_equal(sw_monitor_start(f->m), 0);
	assert_int_equal(sw_monitor_join(f->m, 50), -ETIMEDOUT);
	end(pid);
	assert_int_equal(sw_monitor_join(f->m, 20000), 0);
	assert_int_equal(sw_monitor_stop(f->m, &s), 0);
	assert_int_equal(s->samples, 1);
	end_fake(f);
}

/* Windows of both threads' rows, with nothing between or after: how many. */
static uint64_t check_data(const struct sw_data *d, uint64_t *last_ns)
{
	const struct sw_data_column *p = d->processes.columns, *t = d->threads.columns;
	size_t n = d->processes.n_rows;

	assert_int_equal(d->processes.n_columns, PROC_COLUMNS);
	assert_int_equal(d->threads.n_columns, THREAD_COLUMNS);
	assert_string_equal(p[PR_ONCPU_NS].name, "oncpu_ns");
	assert_string_equal(p[PR_WATTS].name, "watts");
	assert_string_equal(t[TH_TID].name, "tid");
	for (size_t i = 0; i < n; i++) {
		uint64_t t_ns = ((const uint64_t *)p[PR_T_NS].values)[i];
		double joules = ((const double *)p[PR_JOULES].values)[i];

		assert_true(t_ns > *last_ns);
		*last_ns = t_ns;
		assert_true(((const int64_t *)p[PR_TIME].values)[i] > 1000000000000000);
		assert_int_equal(((const int64_t *)p[PR_PID].values)[i], 7);
		assert_int_equal(((const int64_t *)p[PR_PPID].values)[i], 3);
		assert_string_equal(((const char(*)[64])p[PR_COMM].values)[i], "seven");
		assert_int_equal(((const uint64_t *)p[PR_ONCPU_NS].values)[i], 3 * MS);
		assert_true(p[PR_JOULES].present[i] && p[PR_WATTS].present[i] && joules > 0);
		assert_true(((const double *)p[PR_WATTS].values)[i] > joules);
	}
	for (size_t i = 0; i < d->threads.n_rows; i++) {
		int64_t tid = ((const int64_t *)t[TH_TID].values)[i];

		assert_int_equal(((const int64_t *)t[TH_PID].values)[i], 7);
		assert_int_equal(tid, 7 + i % 2); /* most time first */
		assert_string_equal(((const char(*)[64])t[TH_COMM].values)[i], tid == 7 ? "seven" : "eight");
		assert_int_equal(((const uint64_t *)t[TH_ONCPU_NS].values)[i], tid == 7 ? 2 * MS : MS);
		assert_true(t[TH_JOULES].present[i]);
		if (n)
			assert_true(((const uint64_t *)t[TH_T_NS].values)[i] == ((const uint64_t *)p[PR_T_NS].values)[i / 2]);
	}
	if (!d->processes.dropped && !d->threads.dropped)
		assert_int_equal(d->threads.n_rows, 2 * n);
	return n;
}

static void collecting(void **state)
{
	struct fake *f = opened();
	struct sw_monitor *m = f->m;
	struct sw_data *d = NULL, *kept;
	const struct sw_summary *s;
	uint64_t windows = 0, last_ns = 0;

	(void)state;
	assert_int_equal(sw_monitor_get_data(m, &d), -ENODATA);
	assert_non_null(strstr(sw_monitor_error(m), "sw_monitor_collect_start()"));
	assert_null(d);
	assert_int_equal(sw_monitor_collect_stop(m), -ENODATA);
	assert_int_equal(sw_monitor_collect_start(m), 0);
	assert_int_equal(sw_monitor_collect_start(m), -EALREADY);
	assert_int_equal(sw_monitor_get_data(m, &d), 0);
	assert_int_equal(d->processes.n_rows + d->threads.n_rows, 0);
	sw_data_free(d);
	assert_int_equal(sw_monitor_start(m), 0);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(sw_monitor_join(m, 7), -ETIMEDOUT);
		assert_int_equal(sw_monitor_get_data(m, &d), 0);
		windows += check_data(d, &last_ns);
		sw_data_free(d);
	}
	assert_int_equal(sw_monitor_stop(m, &s), 0);
	assert_int_equal(sw_monitor_collect_stop(m), 0);
	assert_int_equal(sw_monitor_get_data(m, &d), 0); /* the last window's, too */
	assert_true(d->processes.n_rows > 0);
	assert_int_equal(windows + check_data(d, &last_ns), s->samples);
	assert_int_equal(sw_monitor_get_data(m, &kept), 0);
	assert_int_equal(kept->processes.n_rows, 0);
	end_fake(f);
	last_ns = 0;
	assert_true(check_data(d, &last_ns) > 0); /* of a monitor that is gone */
	sw_data_free(d);
	sw_data_free(kept);
}

static void collecting_anew(void **state)
{
	struct fake *f = opened();
	struct sw_monitor *m = f->m;
	struct sw_data *d;
	const struct sw_report *r;
	uint64_t last_ns = 0;

	(void)state;
	assert_int_equal(sw_monitor_collect_start(m), 0);
	assert_int_equal(sw_monitor_begin(m), 0);
	usleep(2 * INTERVAL_MS * 1000);
	assert_int_equal(sw_monitor_step(m, &r), 1); /* by hand, too */
	assert_int_equal(sw_monitor_collect_stop(m), 0);
	assert_int_equal(sw_monitor_collect_start(m), 0); /* what was not taken is gone */
	usleep(2 * INTERVAL_MS * 1000);
	assert_int_equal(sw_monitor_step(m, &r), 1);
	assert_int_equal(sw_monitor_collect_stop(m), 0);
	usleep(2 * INTERVAL_MS * 1000);
	assert_int_equal(sw_monitor_step(m, &r), 1); /* not collected */
	assert_int_equal(sw_monitor_get_data(m, &d), 0);
	assert_int_equal(check_data(d, &last_ns), 1);
	sw_data_free(d);
	end_fake(f);
}

static void a_bound(void **state)
{
	/* a row of a process has 146 bytes, that of a thread 137: 6 and 7 in half of it */
	struct fake *f = with(&(struct sw_options){.data_bytes_max = 1920, .duration_ms = 20 * INTERVAL_MS}, NULL, 0);
	const struct sw_summary *s;
	struct sw_data *d;
	uint64_t last_ns = 0;

	(void)state;
	assert_int_equal(sw_monitor_collect_start(f->m), 0);
	assert_int_equal(sw_monitor_start(f->m), 0);
	assert_int_equal(sw_monitor_join(f->m, -1), 0);
	assert_int_equal(sw_monitor_get_data(f->m, &d), 0); /* before the thread is waited for */
	assert_int_equal(sw_monitor_stop(f->m, &s), 0);
	assert_int_equal(d->processes.n_rows, 6);
	assert_int_equal(d->processes.dropped, s->samples - 6);
	assert_int_equal(((const uint64_t *)d->processes.columns[PR_T_NS].values)[5], sw_monitor_report(f->m)->t_ns);
	assert_in_range(d->threads.n_rows, 6, 7);
	assert_int_equal(d->threads.n_rows + d->threads.dropped, 2 * s->samples);
	d->threads.n_rows = 0; /* an odd number went */
	check_data(d, &last_ns);
	sw_data_free(d);
	assert_int_equal(sw_monitor_get_data(f->m, &d), 0);
	assert_int_equal(d->processes.dropped, 0);
	sw_data_free(d);
	end_fake(f);
}

struct calls {
	struct fake *f;
	atomic_uint n;
	unsigned clear_at;
	uint64_t last_ns;
	atomic_bool inside;
	unsigned pause_us;
	int errs[6];
	atomic_bool closed;
};

static void count(struct sw_monitor *m, const struct sw_data *rows, void *ctx)
{
	struct calls *c = ctx;

	atomic_store(&c->inside, true);
	assert_int_equal(check_data(rows, &c->last_ns), 1);
	assert_true(sw_monitor_report(m)->t_ns == c->last_ns);
	if (c->pause_us)
		usleep(c->pause_us);
	if (atomic_fetch_add(&c->n, 1) + 1 == c->clear_at)
		assert_int_equal(sw_monitor_clear_callback(m), 0);
	atomic_store(&c->inside, false);
}

static void a_callback(void **state)
{
	struct fake *f = opened();
	struct calls c = {.f = f};
	const struct sw_summary *s;

	(void)state;
	assert_int_equal(sw_monitor_set_callback(f->m, count, &c), 0);
	assert_int_equal(sw_monitor_start(f->m), 0);
	assert_int_equal(sw_monitor_join(f->m, 10 * INTERVAL_MS), -ETIMEDOUT);
	assert_int_equal(sw_monitor_stop(f->m, &s), 0);
	assert_int_equal(c.n, s->samples);
	assert_true(c.n >= 3);
	end_fake(f);
}

static void a_callback_that_clears_itself(void **state)
{
	struct fake *f = opened();
	struct calls c = {.f = f, .clear_at = 2};

	(void)state;
	assert_int_equal(sw_monitor_set_callback(f->m, count, &c), 0);
	assert_int_equal(sw_monitor_start(f->m), 0);
	while (c.n < 2)
		usleep(1000);
	assert_int_equal(sw_monitor_join(f->m, 5 * INTERVAL_MS), -ETIMEDOUT);
	assert_int_equal(sw_monitor_stop(f->m, NULL), 0);
	assert_int_equal(c.n, 2);
	end_fake(f);
}

/* Once clear has returned, nobody is in the callback, nor will be. What is behind ctx may go. */
static void a_callback_that_is_cleared(void **state)
{
	struct fake *f = opened();
	struct calls second = {.f = f};

	(void)state;
	assert_int_equal(sw_monitor_start(f->m), 0);
	for (int i = 0; i < 3; i++) {
		struct calls *c = calloc(1, sizeof(*c));

		assert_non_null(c);
		c->pause_us = 30000;
		assert_int_equal(sw_monitor_set_callback(f->m, count, c), 0);
		while (!c->inside)
			usleep(500);
		if (i == 1)
			assert_int_equal(sw_monitor_set_callback(f->m, count, &second), 0);
		else
			assert_int_equal(sw_monitor_clear_callback(f->m), 0);
		assert_false(c->inside);
		assert_int_equal(c->n, 1);
		free(c);
	}
	assert_int_equal(sw_monitor_stop(f->m, NULL), 0);
	end_fake(f);
}

static void try_all(struct sw_monitor *m, const struct sw_data *rows, void *ctx)
{
	struct calls *c = ctx;
	const struct sw_report *r;
	const struct sw_summary *s;
	struct sw_data *d;
	char name[16] = "", words[8];
	sigset_t set;

	(void)rows;
	if (atomic_load(&c->n))
		return;
	pthread_getname_np(pthread_self(), name, sizeof(name));
	assert_string_equal(name, "schedwatt");
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	assert_true(sigismember(&set, SIGTERM) && sigismember(&set, SIGUSR1));
	c->errs[0] = sw_monitor_step(m, &r);
	assert_non_null(strstr(sw_monitor_error(m), "in the callback"));
	c->errs[1] = sw_monitor_finish(m, &r);
	c->errs[2] = sw_monitor_stop(m, &s);
	c->errs[3] = sw_monitor_join(m, -1);
	sw_monitor_error_copy(m, words, sizeof(words));
	assert_string_equal(words, "the mon");
	c->errs[4] = sw_monitor_start(m);
	c->errs[5] = sw_monitor_summary(m, &s);
	assert_int_equal(s->samples, 1);
	assert_int_equal(sw_monitor_get_data(m, &d), 0);
	assert_int_equal(d->processes.n_rows, 1);
	sw_data_free(d);
	assert_int_equal(sw_monitor_collect_stop(m), 0);
	assert_int_equal(sw_monitor_collect_start(m), 0);
	assert_int_equal(sw_monitor_set_process(m, 1), 0);
	atomic_fetch_add(&c->n, 1);
}

static void what_a_callback_may_do(void **state)
{
	static const int expected[] = {-EBUSY, -EBUSY, -EDEADLK, -EDEADLK, -EALREADY, 0};
	struct fake *f = opened();
	struct calls c = {.f = f};
	const struct sw_summary *s;
	struct sw_data *d;
	uint64_t last_ns = 0;

	(void)state;
	assert_int_equal(sw_monitor_collect_start(f->m), 0);
	assert_int_equal(sw_monitor_set_callback(f->m, try_all, &c), 0);
	assert_int_equal(sw_monitor_start(f->m), 0);
	while (!c.n)
		usleep(1000);
	assert_int_equal(sw_monitor_stop(f->m, &s), 0);
	assert_memory_equal(c.errs, expected, sizeof(expected));
	assert_int_equal(sw_monitor_get_data(f->m, &d), 0);
	assert_int_equal(check_data(d, &last_ns), s->samples - 1);
	sw_data_free(d);
	end_fake(f);
}

static void step_and_start(struct sw_monitor *m, const struct sw_data *rows, void *ctx)
{
	struct calls *c = ctx;
	const struct sw_report *r;

	assert_int_equal(rows->processes.n_rows, 1);
	c->errs[0] = sw_monitor_step(m, &r);
	c->errs[1] = sw_monitor_start(m);
	atomic_fetch_add(&c->n, 1);
}

static void a_callback_of_step(void **state)
{
	struct fake *f = opened();
	struct calls c = {.f = f};
	const struct sw_report *r;

	(void)state;
	assert_int_equal(sw_monitor_set_callback(f->m, step_and_start, &c), 0);
	assert_int_equal(sw_monitor_begin(f->m), 0);
	usleep(2 * INTERVAL_MS * 1000);
	assert_int_equal(sw_monitor_step(f->m, &r), 1);
	assert_int_equal(c.n, 1);
	assert_true(c.errs[0] == -EBUSY && c.errs[1] == -EBUSY);
	end_fake(f);
}

static void note_closed(struct sw_cpu_backend *b)
{
	atomic_store((atomic_bool *)((struct fake *)b)->infos, true);
}

static void close_it(struct sw_monitor *m, const struct sw_data *rows, void *ctx)
{
	struct calls *c = ctx;

	assert_int_equal(rows->processes.n_rows, 1);
	sw_monitor_close(m);
	assert_false(c->closed); /* not yet */
	assert_int_equal(rows->threads.n_rows, 2);
	atomic_fetch_add(&c->n, 1);
}

static void closing_in_the_callback(void **state)
{
	struct fake *f = opened();
	struct calls c = {.f = f};

	(void)state;
	f->infos = (const void *)&c.closed;
	f->ops.new_cgroups = NULL;
	f->ops.tells_cgroups = false;
	f->ops.close = note_closed;
	assert_int_equal(sw_monitor_set_callback(f->m, close_it, &c), 0);
	assert_int_equal(sw_monitor_start(f->m), 0);
	while (!c.closed)
		usleep(1000);
	usleep(50000); /* the thread has the rest to free */
	assert_int_equal(c.n, 1);
	free(f->rows);
	free(f);
}

static void pausing(void **state)
{
	struct fake *f = opened();
	struct calls c = {.f = f};
	const struct sw_summary *s;
	struct sw_data *d;
	uint64_t last_ns = 0;
	unsigned n;

	(void)state;
	assert_int_equal(sw_monitor_collect_start(f->m), 0);
	assert_int_equal(sw_monitor_set_callback(f->m, count, &c), 0);
	assert_int_equal(sw_monitor_set_process(f->m, 0), 0);
	assert_int_equal(sw_monitor_start(f->m), 0);
	assert_int_equal(sw_monitor_join(f->m, 5 * INTERVAL_MS), -ETIMEDOUT);
	assert_int_equal(sw_monitor_get_data(f->m, &d), 0);
	assert_int_equal(check_data(d, &last_ns), 0);
	assert_int_equal(c.n, 0);
	sw_data_free(d);
	assert_int_equal(sw_monitor_set_process(f->m, 1), 0);
	while (c.n < 3)
		usleep(1000);
	assert_int_equal(sw_monitor_set_process(f->m, 0), 0);
	assert_int_equal(sw_monitor_join(f->m, 2 * INTERVAL_MS), -ETIMEDOUT); /* one may have been on its way */
	n = c.n;
	assert_int_equal(sw_monitor_join(f->m, 5 * INTERVAL_MS), -ETIMEDOUT);
	assert_int_equal(c.n, n);
	assert_int_equal(sw_monitor_stop(f->m, &s), 0);
	assert_int_equal(sw_monitor_get_data(f->m, &d), 0);
	assert_int_equal(check_data(d, &last_ns), n);
	assert_true(s->samples > n); /* windows go on */
	sw_data_free(d);
	end_fake(f);
}

static void a_failure_reaches_the_caller(void **state)
{
	for (int silent = 0; silent < 2; silent++) {
		const char *words = silent ? "Input/output error" : "the file of this back end is gone";
		struct fake *f = opened();
		struct sw_monitor *m = f->m;
		const struct sw_summary *s = NULL;
		struct sw_data *d = NULL;
		uint64_t last_ns = 0;
		char copy[64];

		(void)state;
		fail_at = 4;
		mutely = silent;
		assert_int_equal(sw_monitor_collect_start(m), 0);
		assert_int_equal(sw_monitor_start(m), 0);
		assert_int_equal(sw_monitor_join(m, 20000), -EIO);
		assert_string_equal(sw_monitor_error(m), words);
		assert_int_equal(sw_monitor_get_data(m, &d), 0); /* what there is first */
		assert_int_equal(check_data(d, &last_ns), 2);
		sw_data_free(d);
		d = NULL;
		assert_int_equal(sw_monitor_get_data(m, &d), -EIO);
		assert_null(d);
		sw_monitor_error_copy(m, copy, sizeof(copy));
		assert_string_equal(copy, words);
		assert_int_equal(sw_monitor_stop(m, &s), -EIO);
		assert_null(s);
		assert_string_equal(sw_monitor_error(m), words);
		assert_int_equal(sw_monitor_join(m, 0), -EIO);
		assert_int_equal(sw_monitor_stop(m, &s), -EIO);
		assert_int_equal(sw_monitor_summary(m, &s), 0);
		assert_int_equal(s->samples, 2);
		end_fake(f);
	}
}

static void a_failure_at_the_start(void **state)
{
	struct fake *f = opened();

	(void)state;
	fail_at = 1;
	assert_int_equal(sw_monitor_start(f->m), -EIO);
	assert_string_equal(sw_monitor_error(f->m), "the file of this back end is gone");
	assert_int_equal(sw_monitor_join(f->m, 0), -EINVAL);
	end_fake(f);
}

static int make_nothing(struct sw_row_maker *r, const struct sw_report *report, struct sw_table *processes,
			struct sw_table *threads, struct sw_error *error)
{
	(void)r;
	(void)report;
	(void)processes;
	(void)threads;
	return sw_fail(error, -EPROTO, "no row can be made");
}

static void close_maker(struct sw_row_maker *r)
{
	r->n_thread_columns = 0;
}

/* Another maker of rows, which fails: so does the recording. */
static void rows_that_cannot_be_made(void **state)
{
	static const struct sw_row_ops ops = {.make = make_nothing, .close = close_maker};
	struct fake *f = opened();
	struct sw_row_maker *real = f->m->row_maker, maker = *real; /* which has the columns */

	(void)state;
	maker.ops = &ops;
	f->m->row_maker = &maker;
	assert_int_equal(sw_monitor_collect_start(f->m), 0);
	assert_int_equal(sw_monitor_start(f->m), 0);
	assert_int_equal(sw_monitor_join(f->m, -1), -EPROTO);
	assert_string_equal(sw_monitor_error(f->m), "no row can be made");
	end_fake(f);
	assert_int_equal(maker.n_thread_columns, 0);
	real->ops->close(real);
}

static void *press(void *arg)
{
	struct calls *c = arg;
	struct sw_monitor *m = c->f->m;
	struct sw_data *d;
	char words[64];

	while (!c->closed) { /* here: the recording is about to be stopped */
		if (!sw_monitor_get_data(m, &d)) {
			atomic_fetch_add(&c->n, (unsigned)d->processes.n_rows);
			sw_data_free(d);
		}
		sw_monitor_join(m, 1);
		sw_monitor_set_process(m, 1);
		sw_monitor_error_copy(m, words, sizeof(words));
		sw_monitor_set_callback(m, count, c);
		sw_monitor_clear_callback(m);
		assert_null(sw_monitor_report(m));
	}
	return NULL;
}

/* Several threads at it at once: each window's rows go to one of them. */
static void from_many_threads(void **state)
{
	struct fake *f = opened();
	struct calls c[3] = {{.f = f}, {.f = f}, {.f = f}};
	pthread_t threads[3];
	const struct sw_summary *s;
	struct sw_data *d;
	uint64_t last_ns = 0, n = 0;

	(void)state;
	assert_int_equal(sw_monitor_collect_start(f->m), 0);
	assert_int_equal(sw_monitor_start(f->m), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, press, &c[i]), 0);
	assert_int_equal(sw_monitor_join(f->m, 30 * INTERVAL_MS), -ETIMEDOUT);
	for (int i = 0; i < 3; i++)
		c[i].closed = true;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(sw_monitor_stop(f->m, &s), 0);
	assert_int_equal(sw_monitor_get_data(f->m, &d), 0);
	n = check_data(d, &last_ns);
	sw_data_free(d);
	assert_true(n + c[0].n + c[1].n + c[2].n >= s->samples);
	end_fake(f);
}

static void *stop_it(void *arg)
{
	return (void *)(intptr_t)sw_monitor_stop(arg, NULL);
}

static void stopping_wakes_who_waits(void **state)
{
	struct fake *f = with(&(struct sw_options){.interval_ms = 30000}, NULL, 0);
	pthread_t thread;
	void *ret;

	(void)state;
	assert_int_equal(sw_monitor_start(f->m), 0);
	assert_int_equal(pthread_create(&thread, NULL, stop_it, f->m), 0);
	assert_int_equal(sw_monitor_join(f->m, -1), 0);
	pthread_join(thread, &ret);
	assert_null(ret);
	end_fake(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starting_and_stopping),
		cmocka_unit_test(closing_in_any_state),
		cmocka_unit_test(a_duration),
		cmocka_unit_test(a_target_that_ends),
		cmocka_unit_test(collecting),
		cmocka_unit_test(collecting_anew),
		cmocka_unit_test(a_bound),
		cmocka_unit_test(a_callback),
		cmocka_unit_test(a_callback_that_clears_itself),
		cmocka_unit_test(a_callback_that_is_cleared),
		cmocka_unit_test(what_a_callback_may_do),
		cmocka_unit_test(a_callback_of_step),
		cmocka_unit_test(closing_in_the_callback),
		cmocka_unit_test(pausing),
		cmocka_unit_test(a_failure_reaches_the_caller),
		cmocka_unit_test(a_failure_at_the_start),
		cmocka_unit_test(rows_that_cannot_be_made),
		cmocka_unit_test(from_many_threads),
		cmocka_unit_test(stopping_wakes_who_waits),
	};

	return cmocka_run_group_tests_name("runner", tests, NULL, NULL);
}

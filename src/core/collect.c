/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: who gets the rows of a window: a table for those who take them, and the callback.
 * Must not know: what is in the rows, where the windows come from.
 */
#include "monitor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_DEFAULT (64 << 20)

void sw_collect_free(struct sw_runner *r)
{
	sw_table_free(&r->processes);
	sw_table_free(&r->threads);
	sw_table_free(&r->new_processes);
	sw_table_free(&r->new_threads);
	r->prepared = false;
}

/* The tables, once they are wanted. Under the lock. */
static int prepare(struct sw_monitor *m, struct sw_error *words)
{
	const struct sw_row_maker *maker = m->row_maker;
	struct sw_runner *r = &m->runner;
	size_t bytes = m->options.data_bytes_max ? m->options.data_bytes_max : BYTES_DEFAULT;
	int err;

	if (m->follows)
		return sw_fail(words, -EINVAL, "this monitor follows another, which is to be asked");
	if (r->prepared)
		return 0;
	if (m->options.by & SW_BY_THREAD)
		bytes = bytes / 2 + 1; /* 0 would be no bound */
	err = sw_table_init(&r->processes, maker->process_columns, maker->n_process_columns, bytes);
	if (!err)
		err = sw_table_init(&r->threads, maker->thread_columns, maker->n_thread_columns, bytes);
	if (!err)
		err = sw_table_init(&r->new_processes, maker->process_columns, maker->n_process_columns, 0);
	if (!err)
		err = sw_table_init(&r->new_threads, maker->thread_columns, maker->n_thread_columns, 0);
	if (err) {
		sw_collect_free(r);
		return sw_fail(words, err, "out of memory for rows");
	}
	r->prepared = true;
	return 0;
}

int sw_monitor_collect_start(struct sw_monitor *m)
{
	struct sw_error *words = sw_runner_enter(m);
	struct sw_runner *r = &m->runner;
	int err = prepare(m, words);

	if (!err && r->keeping)
		err = sw_fail(words, -EALREADY, "rows are being collected already");
	if (!err) {
		sw_table_clear(&r->processes);
		sw_table_clear(&r->threads);
		r->keeping = r->kept = true;
	}
	pthread_mutex_unlock(&r->lock);
	return err;
}

int sw_monitor_collect_stop(struct sw_monitor *m)
{
	struct sw_error *words = sw_runner_enter(m);
	struct sw_runner *r = &m->runner;
	int err = 0;

	if (!r->keeping)
		err = sw_fail(words, -ENODATA, "no rows are being collected");
	r->keeping = false;
	pthread_mutex_unlock(&r->lock);
	return err;
}

static bool is_empty(const struct sw_table *t)
{
	return !t->n_rows && !t->dropped;
}

/* Under the lock. */
static int take(struct sw_monitor *m, struct sw_data *data, struct sw_error *words)
{
	struct sw_runner *r = &m->runner;
	struct sw_table processes, threads; /* to go on with */
	int err;

	if (!r->kept)
		return sw_fail(words, -ENODATA, "no rows were collected; sw_monitor_collect_start() begins it");
	if (r->err && is_empty(&r->processes) && is_empty(&r->threads))
		return sw_fail(words, r->err, "%s", r->failure.text);
	err = sw_table_like(&r->processes, &processes);
	if (!err)
		err = sw_table_like(&r->threads, &threads);
	if (err) {
		sw_table_free(&processes);
		return sw_fail(words, err, "out of memory; the rows can be taken later");
	}
	sw_table_take(&r->processes, &processes, &data->processes);
	sw_table_take(&r->threads, &threads, &data->threads);
	return 0;
}

int sw_monitor_get_data(struct sw_monitor *m, struct sw_data **ret)
{
	struct sw_data *data = calloc(1, sizeof(*data));
	struct sw_error *words = sw_runner_enter(m);
	int err = data ? take(m, data, words) : sw_fail(words, -ENOMEM, "out of memory; the rows can be taken later");

	pthread_mutex_unlock(&m->runner.lock);
	if (err)
		free(data);
	else
		*ret = data;
	return err;
}

void sw_data_free(struct sw_data *data)
{
	if (!data)
		return;
	sw_data_table_free(&data->processes);
	sw_data_table_free(&data->threads);
	free(data);
}

int sw_monitor_set_callback(struct sw_monitor *m, sw_callback fn, void *ctx)
{
	struct sw_error *words = sw_runner_enter(m);
	struct sw_runner *r = &m->runner;
	int err = fn ? prepare(m, words) : 0;

	if (!err) {
		r->callback = fn;
		r->callback_ctx = ctx;
		/* the earlier one may be at work: what it was given is the caller's to free from here on */
		while (r->calling && !pthread_equal(r->caller, pthread_self()))
			pthread_cond_wait(&r->changed, &r->lock);
	}
	pthread_mutex_unlock(&r->lock);
	return err;
}

int sw_monitor_clear_callback(struct sw_monitor *m)
{
	return sw_monitor_set_callback(m, NULL, NULL);
}

int sw_monitor_set_process(struct sw_monitor *m, int on)
{
	sw_runner_enter(m);
	m->runner.paused = !on;
	pthread_mutex_unlock(&m->runner.lock);
	return 0;
}

static bool is_wanted(struct sw_runner *r)
{
	bool wanted;

	pthread_mutex_lock(&r->lock);
	wanted = !r->paused && (r->keeping || r->callback);
	pthread_mutex_unlock(&r->lock);
	return wanted;
}

/* Under the lock, which is let go of meanwhile. */
static void call_back(struct sw_monitor *m)
{
	struct sw_runner *r = &m->runner;
	sw_callback fn = r->callback;
	void *ctx = r->callback_ctx;
	struct sw_data rows;

	sw_table_view(&r->new_processes, &rows.processes);
	sw_table_view(&r->new_threads, &rows.threads);
	r->calling = true;
	r->caller = pthread_self();
	pthread_mutex_unlock(&r->lock);
	fn(m, &rows, ctx);
	pthread_mutex_lock(&r->lock);
	r->calling = false;
	pthread_cond_broadcast(&r->changed);
}

int sw_collect_window(struct sw_monitor *m, const struct sw_report *report)
{
	struct sw_runner *r = &m->runner;
	int err;

	if (!is_wanted(r))
		return 0;
	sw_table_clear(&r->new_processes);
	sw_table_clear(&r->new_threads);
	err = m->row_maker->ops->make(m->row_maker, report, &r->new_processes, &r->new_threads, &m->error);
	if (err)
		return err;
	pthread_mutex_lock(&r->lock);
	if (r->keeping && !r->paused) {
		err = sw_table_append(&r->processes, &r->new_processes);
		if (!err)
			err = sw_table_append(&r->threads, &r->new_threads);
		if (err)
			sw_fail(&m->error, err, "out of memory for rows");
	}
	if (!err && r->callback && !r->paused)
		call_back(m);
	pthread_mutex_unlock(&r->lock);
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: who has a row in a window, and which of its columns the account tells and which its files.
 * Must not know: how files are read, who takes the rows.
 * Relies on proc_pid_stat(5): a task's start time there is what the kernel has, cut to ticks.
 */
#include "counter_rows.h"

#include "../base/clock.h"
#include "../counters/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A task may run seldom: its files are kept so long after its last row. */
#define SWEEP_EVERY_NS 60000000000ULL
#define NS_PER_S       1000000000ULL

#define COMM_BYTES  SW_PROC_COMM_SIZE
#define STATE_BYTES 8

/* Columns that the account tells, or that stand for who and when. */
enum { AT_TIME, AT_T_NS, AT_PID, AT_TID, AT_PPID, AT_COMM, AT_STARTTIME, AT_ONCPU_NS, AT_JOULES, AT_WATTS, AT_N };

/* Rows of one kind. */
struct side {
	struct sw_query query;
	bool reads; /* some column takes a file, for all that the account tells */
	struct sw_column_spec specs[SW_COLUMNS_N + AT_N]; /* those of the query, in its order, and then what is always there */
	size_t n;
	int at[AT_N]; /* where they are, or -1 */
};

/* One of the target's pids. */
struct named {
	int32_t pid;
	uint32_t index;     /* of the target's lists */
	uint64_t starttime; /* or SW_STARTTIME_UNKNOWN yet */
	uint64_t seq;       /* 1 + of the window that last had a row of it */
};

struct rows {
	struct sw_row_maker maker;
	struct sw_counters *counters; /* of one kind or both */
	const struct sw_target_pids *target;
	uint64_t hz;
	bool processes, threads;
	struct side process, thread;
	struct named *named; /* by pid */
	size_t n_named;
	int32_t *shown; /* threads of the named that have a row in this window, and room for so many */
	size_t n_shown, shown_size;
	uint64_t swept_ns;
	struct sw_row row; /* the one being read */
};

/* What the account says of a task in a window. */
struct told {
	int32_t pid, tid, ppid; /* ppid 0: not known */
	const char *comm;       /* NULL: not known */
	uint64_t starttime;     /* in ticks, or SW_STARTTIME_UNKNOWN */
	bool accounted;         /* whether the next two are */
	uint64_t oncpu_ns;
	int64_t nj;
	bool exited;
};

static void add_spec(struct side *s, const struct sw_column_spec *spec)
{
	s->specs[s->n++] = *spec;
}

static void add_always(struct side *s, int at, const char *name, uint32_t type)
{
	if (s->at[at] >= 0)
		return;
	s->at[at] = (int)s->n;
	add_spec(s, &(struct sw_column_spec){name, type, sizeof(uint64_t)});
}

static void plan(struct side *s, const struct sw_query *q)
{
	static const uint8_t column_at[AT_N] = {
		[AT_TIME] = SW_COL_time, [AT_T_NS] = SW_COLUMNS_N, [AT_PID] = SW_COL_pid,   [AT_TID] = SW_COL_tid,
		[AT_PPID] = SW_COL_ppid, [AT_COMM] = SW_COL_comm,  [AT_STARTTIME] = SW_COL_starttime,
		[AT_ONCPU_NS] = SW_COL_oncpu_ns, [AT_JOULES] = SW_COL_joules, [AT_WATTS] = SW_COL_watts,
	};
	size_t n_columns;
	const struct sw_column *columns = sw_columns(&n_columns);

	s->query = *q;
	for (int at = 0; at < AT_N; at++)
		s->at[at] = -1;
	for (unsigned i = 0; i < q->n; i++) {
		const struct sw_column *c = &columns[q->column[i]];

		if (q->column[i] != SW_COL_starttime)
			s->reads |= sw_column_needs_stat(q->column[i]) || sw_column_needs_statm(q->column[i]);
		for (int at = 0; at < AT_N; at++)
			if (column_at[at] == q->column[i])
				s->at[at] = (int)i;
		add_spec(s, &(struct sw_column_spec){c->name, c->type,
						     q->column[i] == SW_COL_comm  ? COMM_BYTES :
						     q->column[i] == SW_COL_state ? STATE_BYTES :
										    sizeof(uint64_t)});
	}
	add_always(s, AT_T_NS, "t_ns", SW_TYPE_U64);
	add_always(s, AT_PID, "pid", SW_TYPE_I64);
	if (q->kind == SW_COLUMN_OF_THREAD)
		add_always(s, AT_TID, "tid", SW_TYPE_I64);
	add_always(s, AT_STARTTIME, "starttime", SW_TYPE_U64);
}

/* What was read. */
static void set_read(const struct rows *r, const struct side *s, struct sw_table *t, size_t row)
{
	for (unsigned i = 0; i < s->query.n; i++) {
		if (!sw_row_has(&r->row, i))
			continue;
		switch (s->specs[i].type) {
		case SW_TYPE_I64:
			sw_table_set_i64(t, i, row, r->row.cell[i].i64);
			break;
		case SW_TYPE_U64:
			sw_table_set_u64(t, i, row, r->row.cell[i].u64);
			break;
		case SW_TYPE_F64:
			sw_table_set_f64(t, i, row, r->row.cell[i].f64);
			break;
		case SW_TYPE_TEXT:
			sw_table_set_text(t, i, row, s->query.column[i] == SW_COL_comm ? r->row.comm : r->row.state);
			break;
		}
	}
}

static bool is_unset(const struct side *s, const struct sw_table *t, int at, size_t row)
{
	return s->at[at] >= 0 && !t->present[s->at[at]][row];
}

static void set_who(const struct side *s, const struct sw_report *report, const struct told *told, struct sw_table *t,
		    size_t row)
{
	if (s->at[AT_TIME] >= 0)
		sw_table_set_i64(t, s->at[AT_TIME], row, report->time_utc_ns / 1000);
	sw_table_set_u64(t, s->at[AT_T_NS], row, report->t_ns);
	/* a task that the caller's pid namespace does not see has no number there */
	if (told->pid)
		sw_table_set_i64(t, s->at[AT_PID], row, told->pid);
	if (s->at[AT_TID] >= 0 && told->tid)
		sw_table_set_i64(t, s->at[AT_TID], row, told->tid);
	/* a task has one identity in all of its rows, whether its files were read for them or not */
	if (told->starttime != SW_STARTTIME_UNKNOWN)
		sw_table_set_u64(t, s->at[AT_STARTTIME], row, told->starttime);
	/* the files are of now, the account is of the window's end: what they say comes first */
	if (is_unset(s, t, AT_PPID, row) && told->ppid)
		sw_table_set_i64(t, s->at[AT_PPID], row, told->ppid);
	if (is_unset(s, t, AT_COMM, row) && told->comm)
		sw_table_set_text(t, s->at[AT_COMM], row, told->comm);
}

static void set_account(const struct side *s, const struct sw_report *report, const struct told *told, struct sw_table *t,
			size_t row)
{
	if (!told->accounted)
		return;
	if (s->at[AT_ONCPU_NS] >= 0)
		sw_table_set_u64(t, s->at[AT_ONCPU_NS], row, told->oncpu_ns);
	if (told->nj == SW_ABSENT)
		return;
	if (s->at[AT_JOULES] >= 0)
		sw_table_set_f64(t, s->at[AT_JOULES], row, told->nj / 1e9);
	if (s->at[AT_WATTS] >= 0 && report->window_ns)
		sw_table_set_f64(t, s->at[AT_WATTS], row, (double)told->nj / report->window_ns);
}

static uint64_t denied(const struct rows *r, const struct side *s, const struct told *told)
{
	uint64_t n = r->row.denied;

	/* of a living task these two are absent only where all of its file is denied; then the account has them */
	if (n && s->at[AT_PPID] >= 0 && told->ppid && !sw_row_has(&r->row, (unsigned)s->at[AT_PPID]))
		n--;
	if (n && s->at[AT_COMM] >= 0 && told->comm && !sw_row_has(&r->row, (unsigned)s->at[AT_COMM]))
		n--;
	if (n && s->at[AT_STARTTIME] >= 0 && (unsigned)s->at[AT_STARTTIME] < s->query.n &&
	    told->starttime != SW_STARTTIME_UNKNOWN && !sw_row_has(&r->row, (unsigned)s->at[AT_STARTTIME]))
		n--;
	return n;
}

/*
 * 0: *r->row is of the task; -ESRCH: it is gone, or its number is another's; -ENOMEM; anything else: nothing is to be
 * read of it.
 */
static int read_counters(struct rows *r, const struct side *s, const struct sw_report *report, const struct told *told)
{
	/* the window's end, as the row says: cpuUsage is then what its formula gives from the rows themselves */
	const struct sw_counters_time now = {.time_us = report->time_utc_ns / 1000, .t_ns = report->t_ns};
	int err;

	if (s == &r->process)
		err = sw_counters_process(r->counters, told->pid, told->starttime, &now, &r->row);
	else
		err = sw_counters_thread(r->counters, told->pid, told->tid, told->starttime, &now, &r->row);
	/* whose they are did not become known: no number in them is the task's for certain */
	if (!err && r->row.starttime == SW_STARTTIME_UNKNOWN)
		memset(r->row.present, 0, sizeof(r->row.present));
	return err;
}

/* The row of a task, with what was read of it unless `err`. 0 or -ENOMEM. */
static int add_read(struct rows *r, const struct side *s, const struct sw_report *report, struct told *told, int err,
		    struct sw_table *t)
{
	int64_t row = err == -ENOMEM ? err : sw_table_add(t);

	if (row < 0)
		return (int)row;
	if (!err && told->starttime == SW_STARTTIME_UNKNOWN)
		told->starttime = r->row.starttime;
	if (!err) {
		set_read(r, s, t, (size_t)row);
		t->denied += denied(r, s, told);
	}
	set_who(s, report, told, t, (size_t)row);
	set_account(s, report, told, t, (size_t)row);
	return 0;
}

/* Of one that the account tells of. 0 or -ENOMEM. */
static int add(struct rows *r, const struct side *s, const struct sw_report *report, struct told *told,
	       struct sw_table *t)
{
	int err = -ESRCH;

	if (s->reads && !told->exited && told->pid && told->tid)
		err = read_counters(r, s, report, told);
	if (told->exited)
		sw_counters_forget(r->counters, told->pid, s == &r->process ? 0 : told->tid);
	return add_read(r, s, report, told, err, t);
}

/* As /proc writes it, cut to ticks; and for a time that was made of ticks and cut to ns, these same ticks again. */
static uint64_t ticks(const struct rows *r, uint64_t start_boottime_ns)
{
	return (uint64_t)(((unsigned __int128)start_boottime_ns * r->hz + r->hz - 1) / NS_PER_S);
}

/* --- the named: they have a row whether they run or not */

static int by_pid(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct named *find_named(const struct rows *r, int32_t pid)
{
	const struct named key = {.pid = pid};

	return r->n_named ? bsearch(&key, r->named, r->n_named, sizeof(key), by_pid) : NULL;
}

static bool is_alive(const struct rows *r, const struct named *n)
{
	return !r->target->ended[n->index];
}

/* What a task has that did not run. */
static struct told asleep(const struct sw_report *report, bool accounted, int32_t pid, int32_t tid, uint64_t starttime)
{
	return (struct told){
		.pid = pid,
		.tid = tid,
		.starttime = starttime,
		.accounted = accounted,
		.nj = report->energy.total_nj == SW_ABSENT ? SW_ABSENT : 0,
	};
}

/* Held by a pidfd, it is alive, whatever /proc shows. Its number is its own as long: who it is, is read but once. */
static int add_sleeping_process(struct rows *r, const struct sw_report *report, struct named *named, struct sw_table *t)
{
	struct told told = asleep(report, r->processes, named->pid, named->pid, named->starttime);
	int err = -ESRCH;

	if (r->process.reads || named->starttime == SW_STARTTIME_UNKNOWN)
		err = read_counters(r, &r->process, report, &told);
	err = add_read(r, &r->process, report, &told, err, t);
	named->starttime = told.starttime;
	return err;
}

static int add_processes(struct rows *r, const struct sw_report *report, struct sw_table *t)
{
	int err = 0;

	for (size_t i = 0; i < report->n_processes && !err; i++) {
		const struct sw_process *p = &report->processes[i];
		struct named *named = p->pid ? find_named(r, p->pid) : NULL;
		struct told told = {
			.pid = p->pid,
			.tid = p->pid,
			.ppid = p->ppid,
			.comm = p->comm,
			.starttime = ticks(r, p->start_boottime_ns),
			.accounted = true,
			.oncpu_ns = p->oncpu_ns,
			.nj = p->nj,
			.exited = p->exited,
		};

		err = add(r, &r->process, report, &told, t);
		if (named) {
			named->seq = report->seq + 1;
			named->starttime = told.starttime;
		}
	}
	for (size_t i = 0; i < r->n_named && !err; i++)
		if (r->named[i].seq != report->seq + 1 && is_alive(r, &r->named[i]))
			err = add_sleeping_process(r, report, &r->named[i], t);
	return err;
}

static int by_number(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int show(struct rows *r, int32_t tid)
{
	if (r->n_shown == r->shown_size) {
		size_t size = r->shown_size ? 2 * r->shown_size : 64;
		int32_t *shown = reallocarray(r->shown, size, sizeof(*shown));

		if (!shown)
			return -ENOMEM;
		r->shown = shown;
		r->shown_size = size;
	}
	r->shown[r->n_shown++] = tid;
	return 0;
}

static int add_active_threads(struct rows *r, const struct sw_report *report, struct sw_table *t)
{
	int err = 0;

	r->n_shown = 0;
	for (size_t i = 0; i < report->n_threads && !err; i++) {
		const struct sw_thread *thread = &report->threads[i];
		struct told told = {
			.pid = thread->pid,
			.tid = thread->tid,
			.comm = thread->comm,
			.starttime = ticks(r, thread->start_boottime_ns),
			.accounted = true,
			.oncpu_ns = thread->oncpu_ns,
			.nj = thread->nj,
			.exited = thread->exited,
		};

		err = add(r, &r->thread, report, &told, t);
		if (!err && thread->pid && find_named(r, thread->pid))
			err = show(r, thread->tid);
	}
	return err;
}

/* Of a thread that did not run, only its file says who it is, and whether it is a leader that the others outlive. */
static int add_sleeping_thread(struct rows *r, const struct sw_report *report, int32_t pid, int32_t tid,
			       struct sw_table *t)
{
	struct told told = asleep(report, true, pid, tid, SW_STARTTIME_UNKNOWN);
	int err = read_counters(r, &r->thread, report, &told);

	if (err == -ESRCH || (!err && r->row.ended))
		return 0;
	return add_read(r, &r->thread, report, &told, err, t);
}

/* Those that a process has now, and that did not run. */
static int add_sleeping_threads(struct rows *r, const struct sw_report *report, int32_t pid, struct sw_table *t)
{
	const int32_t *tids;
	size_t n;
	int err = sw_counters_threads(r->counters, pid, &tids, &n);

	if (err) /* it has ended, or is not to be seen */
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < n && !err; i++)
		if (!r->n_shown || !bsearch(&tids[i], r->shown, r->n_shown, sizeof(*tids), by_number))
			err = add_sleeping_thread(r, report, pid, tids[i], t);
	return err;
}

static int add_threads(struct rows *r, const struct sw_report *report, struct sw_table *t)
{
	int err = add_active_threads(r, report, t);

	if (r->n_shown)
		qsort(r->shown, r->n_shown, sizeof(*r->shown), by_number);
	for (size_t i = 0; i < r->n_named && !err; i++)
		if (is_alive(r, &r->named[i]))
			err = add_sleeping_threads(r, report, r->named[i].pid, t);
	return err;
}

static int make(struct sw_row_maker *maker, const struct sw_report *report, struct sw_table *processes,
		struct sw_table *threads, struct sw_error *error)
{
	struct rows *r = (struct rows *)maker;
	int err = add_processes(r, report, processes);

	if (!err && r->threads)
		err = add_threads(r, report, threads);
	if (report->t_ns - r->swept_ns >= SWEEP_EVERY_NS) {
		sw_counters_sweep(r->counters);
		r->swept_ns = report->t_ns;
	}
	return err ? sw_fail(error, err, "out of memory for rows") : 0;
}

static void close_rows(struct sw_row_maker *maker)
{
	struct rows *r = (struct rows *)maker;

	sw_counters_close(r->counters);
	free(r->named);
	free(r->shown);
	free(r);
}

static int name(struct rows *r)
{
	size_t n = r->target->n;

	r->named = calloc(n + 1, sizeof(*r->named));
	if (!r->named)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		r->named[i] = (struct named){.pid = r->target->pids[i], .index = (uint32_t)i,
					    .starttime = SW_STARTTIME_UNKNOWN};
	qsort(r->named, n, sizeof(*r->named), by_pid);
	r->n_named = n;
	return 0;
}

static int open_counters(struct rows *r, const struct sw_counter_rows_config *config)
{
	const struct sw_counters_options options = {
		.procfs_fd = config->procfs_fd,
		.hz = config->hz,
		.fds_max = config->fds_max,
		.process = config->process,
		.thread = config->thread,
		.identify = true,
	};

	return sw_counters_open(&options, &r->counters);
}

int sw_counter_rows_open(const struct sw_counter_rows_config *config, struct sw_row_maker **ret)
{
	static const struct sw_row_ops ops = {.make = make, .close = close_rows};
	struct rows *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->target = config->target;
	r->hz = config->hz;
	r->processes = config->processes;
	r->threads = config->threads;
	plan(&r->process, config->process);
	plan(&r->thread, config->thread);
	err = name(r);
	if (!err)
		err = open_counters(r, config);
	if (err) {
		close_rows(&r->maker);
		return err;
	}
	r->maker = (struct sw_row_maker){
		.ops = &ops,
		.process_columns = r->process.specs,
		.n_process_columns = r->process.n,
		.thread_columns = r->thread.specs,
		.n_thread_columns = r->thread.n,
	};
	*ret = &r->maker;
	return 0;
}

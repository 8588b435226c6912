/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what rows of counters cost: all of one process, and all of each thread of a process of 1,000; the latter as
 * they are read, and as a monitor's windows with them, over windows without.
 * Must not know: what becomes of the numbers. Relies on: src/counters/counters.h.
 *
 * Counts the CPU time of the thread that reads. A row of a process is the mean over many, since the clock itself takes
 * a good part of one; bare reads of the files that it takes are shown beside, which is what the kernel needs.
 */
#include "bench.h"

#include "base/root.h"
#include "counters/counters.h"
#include "counters/task_files.h"
#include "load.h"
#include "schedwatt.h"
#include "stat.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define THREADS 1000
#define FDS_MAX 4096
#define ROWS 500 /* in a turn */
#define WINDOW_MS 40

enum { PROCFS, STAT, STATM, THREAD, FDS };

struct counted {
	struct sw_query process, thread;
	struct sw_counters *reader_of_one, *reader_of_many;
	struct pool one;  /* a process of one thread: a process's own file sums up all of them */
	struct pool many;
	int fd[FDS]; /* -1: none */
};

/* All columns that a kind of row has. */
static size_t all_names(uint32_t kind, const char *names[SW_COLUMNS_N])
{
	const struct sw_column *all;
	size_t n, used = 0;

	all = sw_columns(&n);
	for (size_t i = 0; i < n; i++)
		if (all[i].kinds & kind)
			names[used++] = all[i].name;
	return used;
}

static int query_all(uint32_t kind, struct sw_query *ret)
{
	const char *names[SW_COLUMNS_N];
	size_t n = all_names(kind, names);

	return sw_query_from_names(kind, names, n, ret, NULL);
}

/* Files are kept open, more than a shell allows at first. */
static int allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -errno;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) ? -errno : 0;
}

static int counted_open(struct counted *c)
{
	const unsigned none[POOL_CLASSES] = {0}, size[POOL_CLASSES] = {THREADS - 1, 0, 0}; /* and its leader */
	struct sw_counters_options o = {.hz = sysconf(_SC_CLK_TCK), .fds_max = FDS_MAX, .process = &c->process,
					.thread = &c->thread};
	struct sw_task_key key = {0};
	int err = query_all(SW_COLUMN_OF_PROCESS, &c->process);

	if (!err)
		err = query_all(SW_COLUMN_OF_THREAD, &c->thread);
	if (!err)
		err = pool_start(&c->one, none, false);
	if (!err)
		err = pool_start(&c->many, size, false);
	if (err)
		return err;
	c->fd[PROCFS] = sw_root_open("/proc");
	if (c->fd[PROCFS] < 0)
		return c->fd[PROCFS];
	key.pid = c->one.pid;
	c->fd[STAT] = sw_task_file_open(c->fd[PROCFS], key, "stat");
	c->fd[STATM] = sw_task_file_open(c->fd[PROCFS], key, "statm");
	key.pid = key.tid = c->many.pid;
	c->fd[THREAD] = sw_task_file_open(c->fd[PROCFS], key, "stat");
	if (c->fd[STAT] < 0 || c->fd[STATM] < 0 || c->fd[THREAD] < 0)
		return -ESRCH;
	o.procfs_fd = c->fd[PROCFS];
	err = sw_counters_open(&o, &c->reader_of_one);
	return err ? err : sw_counters_open(&o, &c->reader_of_many);
}

static void counted_close(struct counted *c)
{
	sw_counters_close(c->reader_of_one);
	sw_counters_close(c->reader_of_many);
	pool_end(&c->one);
	pool_end(&c->many);
	for (int i = 0; i < FDS; i++)
		if (c->fd[i] >= 0)
			close(c->fd[i]);
}

/* CPU time of one row of the process. */
static int process_row(struct counted *c, double *ns)
{
	struct sw_counters_time now;
	struct sw_row row;
	uint64_t start = thread_cpu_ns();
	int err = 0;

	for (int i = 0; i < ROWS && !err; i++) {
		now = sw_counters_now();
		err = sw_counters_process(c->reader_of_one, c->one.pid, SW_STARTTIME_UNKNOWN, &now, &row);
		sw_counters_sweep(c->reader_of_one);
	}
	*ns = (double)(thread_cpu_ns() - start) / ROWS;
	return err;
}

/* Of what a row cannot do without. */
static int process_files(struct counted *c, double *ns)
{
	uint64_t start = thread_cpu_ns();
	char text[4096];

	for (int i = 0; i < ROWS; i++)
		if (pread(c->fd[STAT], text, sizeof(text), 0) <= 0 || pread(c->fd[STATM], text, sizeof(text), 0) <= 0)
			return -errno;
	*ns = (double)(thread_cpu_ns() - start) / ROWS;
	return 0;
}

/* CPU time of a sample: who is there, a row of each, and forgetting who has gone. */
static int thread_rows(struct counted *c, double *ns)
{
	struct sw_counters_time now;
	uint64_t start = thread_cpu_ns();
	const int32_t *tids;
	struct sw_row row;
	size_t n = 0;
	int err = sw_counters_threads(c->reader_of_many, c->many.pid, &tids, &n);

	now = sw_counters_now();
	for (size_t i = 0; i < n && !err; i++)
		err = sw_counters_thread(c->reader_of_many, c->many.pid, tids[i], SW_STARTTIME_UNKNOWN, &now, &row);
	sw_counters_sweep(c->reader_of_many);
	*ns = thread_cpu_ns() - start;
	return !err && n != THREADS ? -ENOENT : err;
}

/* As many reads of a thread's file as there are threads. */
static int thread_files(struct counted *c, double *ns)
{
	uint64_t start = thread_cpu_ns();
	char text[4096];

	for (int i = 0; i < THREADS; i++)
		if (pread(c->fd[THREAD], text, sizeof(text), 0) <= 0)
			return -errno;
	*ns = thread_cpu_ns() - start;
	return 0;
}

enum { ROW, FILES, SAMPLE, THREAD_FILES, MEASURES };

static int (*const measures[MEASURES])(struct counted *c, double *ns) = {process_row, process_files, thread_rows,
								     thread_files};
static const char *const measured[MEASURES] = {"process row", "process files", "thread rows", "thread files"};

/* In turns, after one that opens files. */
static int measure(struct counted *c, double *const ns[MEASURES], size_t n)
{
	double warm_up;
	int err = 0;

	for (int m = 0; m < MEASURES && !err; m++)
		err = measures[m](c, &warm_up);
	for (size_t i = 0; i < n && !err; i++)
		for (int m = 0; m < MEASURES && !err; m++)
			err = measures[m](c, &ns[m][i]);
	return err;
}

static void report(struct bench *b, double *const ns[MEASURES], size_t n)
{
	struct stat s[MEASURES];

	for (int m = 0; m < MEASURES; m++) {
		s[m] = stat_median(ns[m], n);
		bench_raw(b, "counters", measured[m], ns[m], n);
	}
	bench_limit(b, "counters_process", "a row of all counters of a process", "us", s[ROW].value / 1e3,
		    s[ROW].se / 1e3, 12, NAN);
	bench_limit(b, "counters_process_files", "  bare reads of its two files", "us", s[FILES].value / 1e3,
		    s[FILES].se / 1e3, NAN, NAN);
	bench_limit(b, "counters_threads", "a row of each of 1,000 threads", "us", s[SAMPLE].value / 1e3,
		    s[SAMPLE].se / 1e3, 8000, NAN);
	bench_limit(b, "counters_thread_files", "  as many bare reads of one's file", "us", s[THREAD_FILES].value / 1e3,
		    s[THREAD_FILES].se / 1e3, NAN, NAN);
}

/* --- windows of a monitor */

static int monitor_open(int32_t pid, struct sw_error *error, struct sw_monitor **ret)
{
	const char *names[SW_COLUMNS_N];
	struct sw_options o = {
		.sz = sizeof(o),
		.target = SW_TARGET_PIDS,
		.pids = &pid,
		.n_pids = 1,
		.interval_ms = WINDOW_MS,
		.backend = "proc",
		.energy = "none",
		.thread_columns = names,
		.error = error->text,
		.error_size = sizeof(error->text),
	};
	int err;

	o.n_thread_columns = all_names(SW_COLUMN_OF_THREAD, names);
	err = sw_monitor_open(&o, ret);
	if (err)
		return err;
	err = sw_monitor_collect_start(*ret);
	if (!err)
		err = sw_monitor_begin(*ret);
	return err ? sw_fail(error, err, "%s", sw_monitor_error(*ret)) : 0;
}

/* CPU time of a window, with rows or without, and that there were so many. */
static int one_window(struct sw_monitor *m, bool rows, double *ns, struct sw_error *error)
{
	struct pollfd due = {.fd = sw_monitor_fd(m), .events = POLLIN};
	const struct sw_report *report;
	struct sw_data *data;
	uint64_t start;
	int n = sw_monitor_set_process(m, rows);

	while (!n) {
		if (poll(&due, 1, -1) < 0)
			return sw_fail(error, -errno, "cannot wait");
		start = thread_cpu_ns();
		n = sw_monitor_step(m, &report);
		*ns = thread_cpu_ns() - start;
	}
	if (n > 0)
		n = sw_monitor_get_data(m, &data);
	if (n)
		return sw_fail(error, n, "%s", sw_monitor_error(m));
	if (data->threads.n_rows != (rows ? THREADS : 0))
		n = sw_fail(error, -ENOENT, "a window has rows of %zu threads", data->threads.n_rows);
	sw_data_free(data);
	return n;
}

static int measure_windows(struct sw_monitor *m, double *with, double *without, size_t n, struct sw_error *error)
{
	double warm_up;
	int err = one_window(m, true, &warm_up, error);

	for (size_t i = 0; i < n && !err; i++) {
		err = one_window(m, true, &with[i], error);
		if (!err)
			err = one_window(m, false, &without[i], error);
	}
	return err;
}

static void fig_windows(struct bench *b, int32_t pid, double *with, double *without, size_t n)
{
	static const char what[] = "a window with a row of each, over one without";
	struct sw_monitor *m = NULL;
	struct sw_error error = {0};
	int err = monitor_open(pid, &error, &m);
	struct stat s;

	if (!err)
		err = measure_windows(m, with, without, n, &error);
	sw_monitor_close(m);
	if (err) {
		bench_skip(b, "counters_window", what, error.text);
		return;
	}
	s = stat_added(with, without, n);
	bench_raw(b, "counters", "window with rows", with, n);
	bench_raw(b, "counters", "window without", without, n);
	bench_limit(b, "counters_window", what, "us", s.value / 1e3, s.se / 1e3, 8000, NAN);
}

void fig_counters(struct bench *b)
{
	size_t n = b->quick ? 15 : 101;
	double *ns = calloc((MEASURES + 2) * n, sizeof(*ns));
	double *const columns[MEASURES] = {ns, ns + n, ns + 2 * n, ns + 3 * n};
	struct counted c = {.fd = {-1, -1, -1, -1}};
	int err = ns ? allow_files() : -ENOMEM;

	if (!err)
		err = counted_open(&c);
	if (!err)
		err = measure(&c, columns, n);
	if (err) {
		bench_skip(b, "counters", "rows of counters", strerror(-err));
	} else {
		report(b, columns, n);
		fig_windows(b, c.many.pid, ns + MEASURES * n, ns + (MEASURES + 1) * n, n);
	}
	counted_close(&c);
	free(ns);
}

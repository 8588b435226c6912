/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Usage: counters [PID [ENERGY]]
 * Counters of a process and its threads in the background: columns chosen by name, rows taken now and then, a callback,
 * a pause. Without a PID, or with 0, of a worker with two threads that is started here.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <schedwatt.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INTERVAL_MS = 100, TAKE_MS = 500 };

static const char *const process_columns[] = {
	"time",	  "comm", "state",    "num_threads", "utime",	 "stime",
	"minflt", "rss",  "cpuUsage", "memUsage",    "oncpu_ns", "joules",
};
static const char *const thread_columns[] = { "time", "comm", "state", "processor", "utime", "cpuUsage", "oncpu_ns" };

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* --- something to look at */

static void *burn(void *unused)
{
	for (;;)
		;
	return unused;
}

static pid_t spawn_worker(void)
{
	pid_t parent = getpid(), pid = fork();
	pthread_t thread;

	if (pid < 0)
		err(1, "cannot fork");
	if (pid)
		return pid;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent || pthread_create(&thread, NULL, burn, NULL))
		_exit(1);
	for (;;)
		usleep(1000);
}

/* --- rows as text */

static void print_value(const struct sw_data_column *c, size_t row)
{
	const char *text = (const char *)c->values + row * c->value_bytes;

	printf(" %s=", c->name);
	if (!c->present[row])
		printf("-");
	else if (c->type == SW_TYPE_I64)
		printf("%" PRId64, ((const int64_t *)c->values)[row]);
	else if (c->type == SW_TYPE_U64)
		printf("%" PRIu64, ((const uint64_t *)c->values)[row]);
	else if (c->type == SW_TYPE_F64)
		printf("%.6g", ((const double *)c->values)[row]);
	else
		printf("%.*s", (int)c->value_bytes, text);
}

static void print_table(const char *kind, const struct sw_data_table *t)
{
	for (size_t row = 0; row < t->n_rows; row++) {
		printf("%s", kind);
		for (size_t c = 0; c < t->n_columns; c++)
			print_value(&t->columns[c], row);
		printf("\n");
	}
	if (t->dropped || t->denied)
		printf("%s: %" PRIu64 " rows dropped, %" PRIu64 " values denied\n", kind, t->dropped, t->denied);
}

/* --- the monitor */

/* In the monitor's thread: be quick. */
static void on_window(struct sw_monitor *m, const struct sw_data *rows, void *ctx)
{
	(void)m;
	atomic_fetch_add((atomic_ulong *)ctx, rows->processes.n_rows);
}

/* Print what has come since the last call. 0 or a negative errno, as the other calls. */
static int take(struct sw_monitor *m)
{
	struct sw_data *data;
	int err = sw_monitor_get_data(m, &data);

	if (err)
		return err;
	print_table("process", &data->processes);
	print_table("thread", &data->threads);
	sw_data_free(data);
	return 0;
}

/* Let it record for a while, unless it ends before, and print what that gave. */
static int record_for(struct sw_monitor *m, int64_t ms)
{
	int err = sw_monitor_join(m, ms);

	return err && err != -ETIMEDOUT ? err : take(m);
}

static int record(struct sw_monitor *m)
{
	int err = sw_monitor_start(m);

	if (!err)
		err = record_for(m, TAKE_MS);
	if (!err)
		err = sw_monitor_set_process(m, 0);
	if (!err)
		err = take(m); /* of before the pause */
	if (err)
		return err;
	printf("paused\n");
	err = record_for(m, TAKE_MS);
	if (err)
		return err;
	printf("resumed\n");
	err = sw_monitor_set_process(m, 1);
	if (!err)
		err = record_for(m, TAKE_MS);
	return err;
}

static int sum_up(struct sw_monitor *m)
{
	const struct sw_summary *s;
	int err = sw_monitor_stop(m, &s);

	if (!err)
		err = take(m); /* the last window's */
	if (!err)
		printf("%.3f s on CPU in %.3f s, by %s\n", s->proc_oncpu_ns / 1e9, s->duration_ns / 1e9,
		       sw_monitor_header(m)->backend);
	return err;
}

/* 0, or 1 when it failed, which was said then. */
static int watch(int32_t pid, const char *energy)
{
	char why[512];
	struct sw_options options = {
		.sz = sizeof(options),
		.target = SW_TARGET_PIDS,
		.pids = &pid,
		.n_pids = 1,
		.scope = SW_SCOPE_PROCESS,
		.by = SW_BY_PROCESS | SW_BY_THREAD,
		.interval_ms = INTERVAL_MS,
		.energy = energy,
		.process_columns = process_columns,
		.n_process_columns = LENGTH(process_columns),
		.thread_columns = thread_columns,
		.n_thread_columns = LENGTH(thread_columns),
		.error = why,
		.error_size = sizeof(why),
	};
	atomic_ulong called = 0; /* longer than the monitor lives */
	struct sw_monitor *m;
	int failed;

	if (sw_monitor_open(&options, &m)) {
		warnx("%s", why);
		return 1;
	}
	failed = sw_monitor_set_callback(m, on_window, &called) || sw_monitor_collect_start(m) || record(m) ||
		 sum_up(m);
	if (failed)
		warnx("%s", sw_monitor_error(m));
	else
		printf("%lu rows of processes went through the callback\n", (unsigned long)called);
	sw_monitor_close(m);
	return failed;
}

int main(int argc, char **argv)
{
	long pid = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	const char *energy = argc > 2 ? argv[2] : "auto";
	pid_t worker = -1;
	int failed;

	if (pid < 0 || pid > INT32_MAX)
		errx(2, "a pid is 1 or more, not %s", argv[1]);
	if (!pid)
		pid = worker = spawn_worker();
	failed = watch((int32_t)pid, energy);
	if (worker > 0 && (kill(worker, SIGKILL) || waitpid(worker, NULL, 0) != worker))
		err(1, "cannot end the worker");
	return failed;
}

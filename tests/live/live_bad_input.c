/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what the public interface makes of input that is no good, over real back ends: pids that are gone or another
 * user's, columns that are none, calls out of their order, a callback that ends what calls it.
 * Relies on: setresuid(2), after which /proc tells less (proc_pid_stat(5), ptrace access mode).
 */
#include "support.h"

#include "schedwatt.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static char why[512];

static struct sw_options options_of(const int32_t *pid)
{
	return (struct sw_options){
		.sz = sizeof(struct sw_options),
		.target = SW_TARGET_PIDS,
		.pids = pid,
		.n_pids = 1,
		.energy = "none",
		.backend = "proc",
		.interval_ms = 20,
		.error = why,
		.error_size = sizeof(why),
	};
}

static struct sw_monitor *opened(struct sw_options *o)
{
	struct sw_monitor *m = NULL;

	if (sw_monitor_open(o, &m))
		fail_msg("cannot open: %s", why);
	return m;
}

/* Does not open, and says these words; the place for the monitor stays as it was. */
static void assert_refused(struct sw_options *o, int err, const char *words)
{
	struct sw_monitor *mark = (struct sw_monitor *)why, *m = mark;

	why[0] = '\0';
	assert_int_equal(sw_monitor_open(o, &m), err);
	assert_ptr_equal(m, mark);
	if (!strstr(why, words))
		fail_msg("\"%s\" does not say \"%s\"", why, words);
	o->error = NULL; /* nowhere to say it */
	assert_int_equal(sw_monitor_open(o, &m), err);
	o->error = why;
}

static void sleeps(void *unused)
{
	(void)unused;
	for (;;)
		pause();
}

static pid_t a_pid_that_has_gone(void)
{
	pid_t pid = start(sleeps, NULL);

	finish(pid, SIGKILL);
	return pid;
}

static void pids_that_are_none(void **state)
{
	int32_t pid = a_pid_that_has_gone();
	struct sw_options o = options_of(&pid);
	char number[16];

	(void)state;
	snprintf(number, sizeof(number), "%d", pid);
	assert_refused(&o, -ESRCH, number);
	o.backend = NULL;
	assert_refused(&o, -ESRCH, number);
	o.n_pids = 0;
	assert_refused(&o, -EINVAL, "pids (0)");
	o.n_pids = 2;
	o.pids = NULL;
	assert_refused(&o, -EINVAL, "no array of the 2 pids");
}

static void columns_that_are_none(void **state)
{
	static const struct {
		const char *process, *thread, *words;
	} cases[] = {
		{"utme", NULL, "'utme' is not known; the nearest is 'utime'"},
		{NULL, "cpuusage", "the nearest is 'cpuUsage'"},
		{NULL, "resident", "'resident' is there for processes only"},
		{"", NULL, "empty"},
	};
	int32_t pid = getpid();
	struct sw_options o = options_of(&pid);
	const char *twice[] = {"utime", "stime", "utime"};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		o.process_columns = &cases[i].process;
		o.n_process_columns = cases[i].process != NULL;
		o.thread_columns = &cases[i].thread;
		o.n_thread_columns = cases[i].thread != NULL;
		assert_refused(&o, -EINVAL, cases[i].words);
	}
	o.n_thread_columns = 0;
	o.process_columns = twice;
	o.n_process_columns = 3;
	assert_refused(&o, -EINVAL, "'utime' is asked for twice");
	twice[0] = NULL;
	assert_refused(&o, -EINVAL, "empty");
	o.process_columns = NULL;
	assert_refused(&o, -EINVAL, "empty");
}

static void intervals(void **state)
{
	int32_t pid = getpid();
	struct sw_options o = options_of(&pid);
	struct sw_monitor *m;

	(void)state;
	o.interval_ms = 0;
	m = opened(&o);
	assert_int_equal(sw_monitor_header(m)->interval_ms, 500);
	sw_monitor_close(m);
	o.interval_ms = 9;
	o.energy = "model";
	assert_refused(&o, -EINVAL, "9 ms are too short");
}

static void a_target_that_goes(void **state)
{
	int32_t pid = start(sleeps, NULL);
	struct sw_options o = options_of(&pid);
	const struct sw_summary *s;
	struct sw_data *data;
	struct sw_monitor *m;

	(void)state;
	o.backend = NULL;
	m = opened(&o);
	assert_int_equal(sw_monitor_collect_start(m), 0);
	assert_int_equal(sw_monitor_start(m), 0);
	assert_int_equal(sw_monitor_join(m, 50), -ETIMEDOUT);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(sw_monitor_join(m, 60000), 0);
	assert_int_equal(sw_monitor_stop(m, &s), 0);
	assert_true(s->samples > 0 && s->processes_alive == 0);
	assert_int_equal(sw_monitor_get_data(m, &data), 0);
	assert_true(data->processes.n_rows > 0);
	sw_data_free(data);
	sw_monitor_close(m);
	finish(pid, 0);
}

static void out_of_order(void **state)
{
	int32_t pid = getpid();
	struct sw_options o = options_of(&pid);
	struct sw_monitor *m = opened(&o);
	const struct sw_summary *s = NULL;
	struct sw_data *data = NULL;

	(void)state;
	assert_int_equal(sw_monitor_get_data(m, &data), -ENODATA);
	assert_null(data);
	assert_int_equal(sw_monitor_collect_stop(m), -ENODATA);
	assert_int_equal(sw_monitor_join(m, 0), -EINVAL);
	assert_int_equal(sw_monitor_stop(m, &s), -EINVAL);
	assert_int_equal(sw_monitor_collect_start(m), 0);
	assert_int_equal(sw_monitor_collect_start(m), -EALREADY);
	assert_int_equal(sw_monitor_start(m), 0);
	assert_int_equal(sw_monitor_start(m), -EALREADY);
	assert_non_null(strstr(sw_monitor_error(m), "already"));
	assert_int_equal(sw_monitor_join(m, 60), -ETIMEDOUT);
	assert_int_equal(sw_monitor_stop(m, &s), 0);
	assert_int_equal(sw_monitor_start(m), -ESHUTDOWN);
	assert_int_equal(sw_monitor_collect_stop(m), 0);
	assert_int_equal(sw_monitor_collect_stop(m), -ENODATA);
	/* what was collected is there to be taken, once */
	assert_int_equal(sw_monitor_get_data(m, &data), 0);
	assert_true(data->processes.n_rows > 0);
	sw_data_free(data);
	assert_int_equal(sw_monitor_get_data(m, &data), 0);
	assert_int_equal(data->processes.n_rows, 0);
	sw_monitor_close(m);
	/* and outlives its monitor */
	assert_int_equal(data->processes.dropped, 0);
	sw_data_free(data);
	sw_data_free(NULL);
	sw_monitor_close(NULL);
}

static void clear_it(struct sw_monitor *m, const struct sw_data *rows, void *ctx)
{
	(void)rows;
	atomic_fetch_add((atomic_int *)ctx, sw_monitor_clear_callback(m) ? 1000 : 1);
}

/* The monitor is gone behind it: nobody may use it any more. */
static void close_it(struct sw_monitor *m, const struct sw_data *rows, void *ctx)
{
	sw_monitor_close(m);
	atomic_fetch_add((atomic_int *)ctx, (int)rows->processes.n_rows);
}

static void await_count(atomic_int *count)
{
	for (int i = 0; i < 20000 && !atomic_load(count); i++)
		nap(NS_PER_MS);
	assert_int_equal(atomic_load(count), 1);
}

static void callbacks_that_end_something(void **state)
{
	int32_t pid = getpid();
	struct sw_options o = options_of(&pid);
	struct sw_monitor *m = opened(&o);
	atomic_int cleared = 0, closed = 0;

	(void)state;
	assert_int_equal(sw_monitor_set_callback(m, clear_it, &cleared), 0);
	assert_int_equal(sw_monitor_start(m), 0);
	await_count(&cleared);
	assert_int_equal(sw_monitor_join(m, 100), -ETIMEDOUT);
	assert_int_equal(atomic_load(&cleared), 1);
	assert_int_equal(sw_monitor_set_callback(m, close_it, &closed), 0);
	await_count(&closed);
	nap(100 * NS_PER_MS); /* the thread has the rest to free */
}

/* --- another user's process */

/* What somebody without rights was told of it. */
struct told {
	int err;
	char words[sizeof(why)];
	uint64_t rows, denied;
	uint64_t with_utime, with_startcode, with_exit_code;
};

static uint64_t count(const struct sw_data_table *t, const char *name)
{
	uint64_t n = 0;

	for (size_t c = 0; c < t->n_columns; c++)
		for (size_t row = 0; row < t->n_rows && !strcmp(t->columns[c].name, name); row++)
			n += t->columns[c].present[row];
	return n;
}

static int look(int32_t pid, struct told *told)
{
	static const char *const names[] = {"utime", "startcode", "exit_code"};
	struct sw_options o = options_of(&pid);
	struct sw_monitor *m;
	struct sw_data *data;
	int err;

	o.process_columns = names;
	o.n_process_columns = LENGTH(names);
	o.duration_ms = 100;
	err = sw_monitor_open(&o, &m);
	if (err)
		return err;
	err = sw_monitor_collect_start(m);
	if (!err)
		err = sw_monitor_start(m);
	if (!err)
		err = sw_monitor_join(m, 60000);
	if (!err)
		err = sw_monitor_get_data(m, &data);
	if (!err) {
		told->rows = data->processes.n_rows;
		told->denied = data->processes.denied;
		told->with_utime = count(&data->processes, "utime");
		told->with_startcode = count(&data->processes, "startcode");
		told->with_exit_code = count(&data->processes, "exit_code");
		sw_data_free(data);
	} else {
		snprintf(why, sizeof(why), "%s", sw_monitor_error(m));
	}
	sw_monitor_close(m);
	return err;
}

static void look_as(uid_t uid, int32_t target, struct told *told)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		if (uid && (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
			_exit(1);
		told->err = look(target, told);
		snprintf(told->words, sizeof(told->words), "%s", why);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	if (told->err)
		fail_msg("user %u: %s", uid, told->words);
}

static void another_users_process(void **state)
{
	struct told *told = shared(2 * sizeof(*told));
	pid_t pid = start(sleeps, NULL);

	(void)state;
	look_as(0, pid, &told[0]);
	look_as(NOBODY, pid, &told[1]);
	for (int i = 0; i < 2; i++) {
		print_message("# %d: %d rows, %d values denied\n", i, (int)told[i].rows, (int)told[i].denied);
		assert_true(told[i].rows >= 3);
		assert_int_equal(told[i].with_utime, told[i].rows);
		assert_int_equal(told[i].with_startcode, i ? 0 : told[i].rows);
		assert_int_equal(told[i].with_exit_code, i ? 0 : told[i].rows);
		assert_int_equal(told[i].denied, i ? 2 * told[i].rows : 0);
	}
	finish(pid, SIGKILL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		live_test(pids_that_are_none),   live_test(columns_that_are_none),
		live_test(intervals),            live_test(a_target_that_goes),
		live_test(out_of_order),         live_test(callbacks_that_end_something),
		live_test(another_users_process),
	};

	(void)argc;
	return live_run(tests);
}

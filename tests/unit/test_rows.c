/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows with columns: made-up reports joined to a made-up /proc, and the choice of columns in sw_monitor_open(). Which
 * tasks have a row, what is told of those that rest, have ended, are hidden or bear another's number, and which files
 * are opened for it.
 */
#include "core/counter_rows.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "proc_tree.h"

#include "base/clock.h"
#include "child.h"

#define MS 1000000ULL
#define US_AT 1700000000000000
#define U64_MAX_TEXT "18446744073709551615"

enum { TASKS_MAX = 128 };

static int watched_fd = -1; /* below it, files that are opened are counted */
static unsigned opened;

/* This definition stands before the C library's. */
int openat(int fd, const char *path, int flags, ...)
{
	va_list rest;
	mode_t mode;

	va_start(rest, flags);
	mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	opened += fd == watched_fd && !(flags & O_CREAT);
	return (int)syscall(SYS_openat, fd, path, flags, mode);
}

/* A maker of rows, and the report of its next window. */
struct fixture {
	const struct tree *t;
	struct sw_row_maker *maker;
	struct sw_table processes, threads;
	struct sw_target_pids target;
	int32_t pids[4];
	bool ended[4];
	struct sw_report report;
	struct sw_process process[TASKS_MAX];
	struct sw_thread thread[TASKS_MAX];
};

struct how {
	const char *process, *thread; /* columns, with commas between; NULL: the standard set */
	uint64_t hz;                  /* 0: 100 */
	size_t n_pids;                /* 7, 8, … */
	bool threads, no_processes;
};

static void open_rows(struct fixture *x, const struct tree *t, struct how how)
{
	struct sw_query process, thread;
	const struct sw_counter_rows_config config = {
		.procfs_fd = t->fd,
		.hz = how.hz ? how.hz : 100,
		.fds_max = 100,
		.target = &x->target,
		.processes = !how.no_processes,
		.threads = how.threads,
		.process = &process,
		.thread = &thread,
	};

	*x = (struct fixture){.t = t};
	for (size_t i = 0; i < 4; i++)
		x->pids[i] = 7 + (int32_t)i;
	x->target = (struct sw_target_pids){.pids = x->pids, .ended = x->ended, .n = how.n_pids, .epoll_fd = -1};
	x->report = (struct sw_report){.time_utc_ns = US_AT * INT64_C(1000), .t_ns = 1000 * MS, .window_ns = 100 * MS,
				       .energy.total_nj = 5000, .processes = x->process, .threads = x->thread};
	assert_int_equal(sw_query_from_list(SW_COLUMN_OF_PROCESS, how.process, &process, NULL), 0);
	assert_int_equal(sw_query_from_list(SW_COLUMN_OF_THREAD, how.thread, &thread, NULL), 0);
	assert_int_equal(sw_counter_rows_open(&config, &x->maker), 0);
	assert_int_equal(sw_table_init(&x->processes, x->maker->process_columns, x->maker->n_process_columns, 0), 0);
	assert_int_equal(sw_table_init(&x->threads, x->maker->thread_columns, x->maker->n_thread_columns, 0), 0);
}

static void close_rows(struct fixture *x)
{
	sw_table_free(&x->processes);
	sw_table_free(&x->threads);
	x->maker->ops->close(x->maker);
}

/* A process that ran in the next window, or a thread of one; what starts at a tick has it in ns. */
static struct sw_process *ran(struct fixture *x, int32_t pid, uint64_t tick)
{
	struct sw_process *p = &x->process[x->report.n_processes++];

	*p = (struct sw_process){.pid = pid, .host_pid = 1000 + pid, .ppid = 3, .start_boottime_ns = tick * 10 * MS + 1,
				 .comm = "told", .oncpu_ns = 2 * MS, .nj = 4000};
	return p;
}

static struct sw_thread *thread_ran(struct fixture *x, int32_t pid, int32_t tid, uint64_t tick)
{
	struct sw_thread *p = &x->thread[x->report.n_threads++];

	*p = (struct sw_thread){.pid = pid, .tid = tid, .start_boottime_ns = tick * 10 * MS + 1, .comm = "told",
				.process_comm = "its", .oncpu_ns = MS, .nj = 2000};
	return p;
}

/* Its rows, and nobody has run in the one to come, that ends so much later. */
static void make_after(struct fixture *x, uint64_t ns)
{
	struct sw_error error = {.text = ""};

	sw_table_clear(&x->processes);
	sw_table_clear(&x->threads);
	watched_fd = x->t->fd;
	opened = 0;
	assert_int_equal(x->maker->ops->make(x->maker, &x->report, &x->processes, &x->threads, &error), 0);
	watched_fd = -1;
	x->report.n_processes = x->report.n_threads = 0;
	x->report.seq++;
	x->report.t_ns += ns;
}

static void make(struct fixture *x)
{
	make_after(x, 100 * MS);
}

static size_t at(const struct sw_table *t, const char *name)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (!strcmp(t->specs[i].name, name))
			return i;
	fail_msg("there is no column %s", name);
	return 0;
}

static bool has(const struct sw_table *t, size_t row, const char *name)
{
	assert_true(row < t->n_rows);
	return t->present[at(t, name)][row];
}

static uint64_t u64(const struct sw_table *t, size_t row, const char *name)
{
	if (!has(t, row, name))
		fail_msg("%s is absent in row %zu", name, row);
	return t->cells[at(t, name)].u64[row];
}

static double f64(const struct sw_table *t, size_t row, const char *name)
{
	if (!has(t, row, name))
		fail_msg("%s is absent in row %zu", name, row);
	return t->cells[at(t, name)].f64[row];
}

static const char *text(const struct sw_table *t, size_t row, const char *name)
{
	size_t column = at(t, name);

	if (!has(t, row, name))
		fail_msg("%s is absent in row %zu", name, row);
	return t->cells[column].text + row * t->specs[column].bytes;
}

static void expect_columns(const struct sw_table *t, const char *names)
{
	char all[512] = "";

	for (size_t i = 0; i < t->n_columns; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s:%u:%u", i ? " " : "", t->specs[i].name,
			 t->specs[i].type, t->columns[i].value_bytes);
	assert_string_equal(all, names);
}

static void columns_in_order(void **state)
{
	struct fixture x;

	open_rows(&x, *state, (struct how){NULL});
	expect_columns(&x.processes, "time:1:8 pid:1:8 ppid:1:8 comm:4:64 state:4:8 oncpu_ns:2:8 joules:3:8 watts:3:8 "
				     "t_ns:2:8 starttime:2:8");
	expect_columns(&x.threads, "time:1:8 pid:1:8 tid:1:8 comm:4:64 state:4:8 oncpu_ns:2:8 joules:3:8 t_ns:2:8 "
				   "starttime:2:8");
	close_rows(&x);
	open_rows(&x, *state, (struct how){.process = "watts,comm,tid", .thread = "starttime,cpuUsage,tid"});
	expect_columns(&x.processes, "watts:3:8 comm:4:64 tid:1:8 t_ns:2:8 pid:1:8 starttime:2:8");
	expect_columns(&x.threads, "starttime:2:8 cpuUsage:3:8 tid:1:8 t_ns:2:8 pid:1:8");
	close_rows(&x);
}

static void running_and_resting(void **state)
{
	struct fixture x;

	open_rows(&x, *state, (struct how){.process = "time,tid,ppid,comm,state,utime,oncpu_ns,joules,watts", .n_pids = 2});
	fake_process(x.t, (struct fake_task){.tid = 7, .ppid = 5, .comm = "seven", .start = 70, .utime = 700});
	fake_process(x.t, (struct fake_task){.tid = 8, .ppid = 6, .comm = "eight", .state = 'D', .start = 80, .utime = 800});
	fake_process(x.t, (struct fake_task){.tid = 20, .comm = "twenty", .state = 'R', .start = 200, .utime = 2000});
	ran(&x, 20, 200);
	ran(&x, 7, 70)->nj = SW_ABSENT;
	make(&x);
	assert_int_equal(x.processes.n_rows, 3);
	assert_int_equal(x.threads.n_rows, 0);
	assert_int_equal(u64(&x.processes, 0, "pid"), 20);
	assert_true(u64(&x.processes, 0, "time") == US_AT);
	assert_int_equal(u64(&x.processes, 0, "tid"), 20);
	assert_true(u64(&x.processes, 0, "t_ns") == 1000 * MS);
	assert_int_equal(u64(&x.processes, 0, "utime"), 2000);
	assert_int_equal(u64(&x.processes, 0, "oncpu_ns"), 2 * MS);
	assert_true(f64(&x.processes, 0, "joules") == 4000 / 1e9);
	assert_true(f64(&x.processes, 0, "watts") == 4000.0 / (100 * MS));
	assert_string_equal(text(&x.processes, 0, "state"), "R");
	assert_int_equal(u64(&x.processes, 1, "pid"), 7);
	assert_string_equal(text(&x.processes, 1, "comm"), "seven"); /* as it is now */
	assert_int_equal(u64(&x.processes, 1, "ppid"), 5);
	assert_false(has(&x.processes, 1, "joules") || has(&x.processes, 1, "watts"));
	/* it did not run, which is known: 0 */
	assert_int_equal(u64(&x.processes, 2, "pid"), 8);
	assert_int_equal(u64(&x.processes, 2, "starttime"), 80);
	assert_int_equal(u64(&x.processes, 2, "utime"), 800);
	assert_int_equal(u64(&x.processes, 2, "ppid"), 6);
	assert_string_equal(text(&x.processes, 2, "state"), "D");
	assert_int_equal(u64(&x.processes, 2, "oncpu_ns"), 0);
	assert_true(f64(&x.processes, 2, "joules") == 0 && f64(&x.processes, 2, "watts") == 0);

	/* a window without energy; and one of the two has ended */
	x.report.energy.total_nj = SW_ABSENT;
	x.ended[0] = true;
	make(&x);
	assert_int_equal(x.processes.n_rows, 1);
	assert_int_equal(u64(&x.processes, 0, "pid"), 8);
	assert_int_equal(u64(&x.processes, 0, "oncpu_ns"), 0);
	assert_false(has(&x.processes, 0, "joules") || has(&x.processes, 0, "watts"));
	close_rows(&x);
}

/* Of what is not there any more, or is not shown, what the account tells is all. */
static void only_told(void **state)
{
	static const char *const read[] = {"state", "utime", "num_threads", "size", "cpuUsage"};
	struct fixture x;

	open_rows(&x, *state, (struct how){.process = "comm,ppid,state,utime,num_threads,size,cpuUsage,oncpu_ns,joules",
					   .n_pids = 1});
	fake_process(x.t, (struct fake_task){.tid = 20, .comm = "another", .start = 999, .utime = 1});
	fake_process(x.t, (struct fake_task){.tid = 21, .comm = "zombie", .state = 'Z', .start = 210, .utime = 1});
	tree_write(x.t, "23/stat", "23 (whose) S 1"); /* whose it is, it does not say */
	ran(&x, 20, 200);                 /* its number is another's */
	ran(&x, 21, 210)->exited = 1;     /* it is still to be waited for */
	ran(&x, 22, 220);                 /* it has just gone */
	ran(&x, 23, 230);
	ran(&x, 0, 240)->ppid = 0;        /* of another pid namespace */
	make(&x);
	assert_int_equal(x.processes.n_rows, 6);
	assert_int_equal(x.processes.denied, 0);
	for (size_t row = 0; row < 5; row++) {
		for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++)
			assert_false(has(&x.processes, row, read[i]));
		assert_string_equal(text(&x.processes, row, "comm"), "told");
		assert_int_equal(u64(&x.processes, row, "starttime"), 200 + 10 * row);
		assert_int_equal(u64(&x.processes, row, "oncpu_ns"), 2 * MS);
		assert_true(f64(&x.processes, row, "joules") == 4000 / 1e9);
		assert_int_equal(has(&x.processes, row, "pid"), row < 4);
		assert_int_equal(has(&x.processes, row, "ppid"), row < 4);
	}
	assert_int_equal(u64(&x.processes, 3, "ppid"), 3);
	/* an own one that lives, but that /proc hides: it rests, and no more is known */
	assert_int_equal(u64(&x.processes, 5, "pid"), 7);
	assert_int_equal(u64(&x.processes, 5, "oncpu_ns"), 0);
	assert_false(has(&x.processes, 5, "comm") || has(&x.processes, 5, "starttime") || has(&x.processes, 5, "utime"));
	close_rows(&x);
}

/* One that bears the number of another that ended in the same window: two rows, and each has its own. */
static void a_number_that_is_used_again(void **state)
{
	struct fixture x;

	open_rows(&x, *state, (struct how){.process = "comm,utime,cpuUsage"});
	fake_process(x.t, (struct fake_task){.tid = 500, .comm = "a", .start = 111, .utime = 1000});
	ran(&x, 500, 111);
	make(&x);
	assert_int_equal(u64(&x.processes, 0, "utime"), 1000);
	fake_process(x.t, (struct fake_task){.tid = 500, .comm = "b", .start = 222, .utime = 5});
	ran(&x, 500, 111)->exited = 1;
	ran(&x, 500, 222);
	make(&x);
	assert_int_equal(x.processes.n_rows, 2);
	assert_int_equal(u64(&x.processes, 0, "starttime"), 111);
	assert_string_equal(text(&x.processes, 0, "comm"), "told");
	assert_false(has(&x.processes, 0, "utime"));
	assert_int_equal(u64(&x.processes, 1, "starttime"), 222);
	assert_string_equal(text(&x.processes, 1, "comm"), "b");
	assert_int_equal(u64(&x.processes, 1, "utime"), 5);
	assert_false(has(&x.processes, 1, "cpuUsage")); /* its first row */
	fake_process(x.t, (struct fake_task){.tid = 500, .comm = "b", .start = 222, .utime = 10});
	ran(&x, 500, 222);
	make(&x);
	assert_int_equal(u64(&x.processes, 0, "utime"), 10);
	assert_true(f64(&x.processes, 0, "cpuUsage") > 0);
	close_rows(&x);
}

static void threads_running_and_resting(void **state)
{
	struct fixture x;

	open_rows(&x, *state, (struct how){.thread = "pid,tid,comm,utime,oncpu_ns,joules", .n_pids = 1, .threads = true});
	/* the leader has ended and waits for the rest, one of which is about to end as well */
	fake_thread(x.t, 7, (struct fake_task){.tid = 7, .state = 'Z', .start = 70, .num_threads = 4});
	fake_thread(x.t, 7, (struct fake_task){.tid = 71, .comm = "runs", .start = 71, .utime = 1, .num_threads = 4});
	fake_thread(x.t, 7, (struct fake_task){.tid = 72, .comm = "rests", .start = 72, .utime = 2, .num_threads = 4});
	fake_thread(x.t, 7, (struct fake_task){.tid = 73, .state = 'X', .start = 73, .num_threads = 4});
	fake_thread(x.t, 20, (struct fake_task){.tid = 20, .start = 200, .num_threads = 2});
	fake_thread(x.t, 20, (struct fake_task){.tid = 21, .start = 201, .num_threads = 2});
	thread_ran(&x, 7, 71, 71);
	thread_ran(&x, 20, 20, 200);
	thread_ran(&x, 7, 74, 74)->exited = 1;
	make(&x);
	assert_int_equal(x.threads.n_rows, 4);
	assert_int_equal(u64(&x.threads, 0, "tid"), 71);
	assert_string_equal(text(&x.threads, 0, "comm"), "runs");
	assert_int_equal(u64(&x.threads, 0, "utime"), 1);
	assert_int_equal(u64(&x.threads, 0, "oncpu_ns"), MS);
	assert_int_equal(u64(&x.threads, 1, "tid"), 20); /* no own pid: 21 has no row */
	assert_int_equal(u64(&x.threads, 2, "tid"), 74);
	assert_string_equal(text(&x.threads, 2, "comm"), "told");
	assert_false(has(&x.threads, 2, "utime"));
	assert_int_equal(u64(&x.threads, 3, "tid"), 72);
	assert_int_equal(u64(&x.threads, 3, "pid"), 7);
	assert_int_equal(u64(&x.threads, 3, "starttime"), 72);
	assert_int_equal(u64(&x.threads, 3, "utime"), 2);
	assert_int_equal(u64(&x.threads, 3, "oncpu_ns"), 0);
	assert_true(f64(&x.threads, 3, "joules") == 0);
	/* another has its number by now */
	fake_thread(x.t, 7, (struct fake_task){.tid = 72, .comm = "new", .start = 99, .utime = 3, .num_threads = 4});
	thread_ran(&x, 7, 72, 72);
	make(&x);
	assert_int_equal(x.threads.n_rows, 2);
	assert_string_equal(text(&x.threads, 0, "comm"), "told");
	assert_false(has(&x.threads, 0, "utime"));
	close_rows(&x);
}

/* Each once, whether it ran or not. */
static void many_threads(void **state)
{
	struct fixture x;
	bool seen[200] = {false};

	open_rows(&x, *state, (struct how){.thread = "tid,oncpu_ns", .n_pids = 1, .threads = true});
	for (int i = 0; i < 200; i++)
		fake_thread(x.t, 7, (struct fake_task){.tid = 1000 + i, .start = 1, .num_threads = 200});
	for (int i = 0; i < 100; i++)
		thread_ran(&x, 7, 1000 + 2 * ((i * 37) % 100), 1);
	make(&x);
	assert_int_equal(x.threads.n_rows, 200);
	for (size_t row = 0; row < 200; row++) {
		size_t i = u64(&x.threads, row, "tid") - 1000;

		assert_true(i < 200 && !seen[i]);
		seen[i] = true;
		assert_int_equal(u64(&x.threads, row, "oncpu_ns"), i % 2 ? 0 : MS);
		assert_int_equal(u64(&x.threads, row, "starttime"), 1);
	}
	close_rows(&x);
}

/* Where reports do not tell of processes, no time of theirs is known: not even that there was none. */
static void no_processes_told(void **state)
{
	struct fixture x;

	open_rows(&x, *state, (struct how){.process = "utime,oncpu_ns,joules", .n_pids = 1, .no_processes = true});
	fake_process(x.t, (struct fake_task){.tid = 7, .start = 70, .utime = 700});
	make(&x);
	assert_int_equal(x.processes.n_rows, 1);
	assert_int_equal(u64(&x.processes, 0, "utime"), 700);
	assert_false(has(&x.processes, 0, "oncpu_ns") || has(&x.processes, 0, "joules"));
	close_rows(&x);
}

static void which_files_are_opened(void **state)
{
	struct fixture x;

	/* none for what the account tells, but who an own one is that rests: once */
	open_rows(&x, *state, (struct how){.process = "time,pid,tid,starttime,oncpu_ns,joules,watts", .n_pids = 1});
	fake_process(x.t, (struct fake_task){.tid = 7, .start = 70});
	fake_process(x.t, (struct fake_task){.tid = 20, .start = 200});
	tree_write(x.t, "20/statm", "1 2 3 4 5 6 7\n");
	ran(&x, 7, 70);
	ran(&x, 20, 200);
	make(&x);
	assert_int_equal(opened, 0);
	assert_int_equal(u64(&x.processes, 0, "starttime"), 70);
	make(&x);
	assert_int_equal(opened, 0); /* it has been told */
	assert_int_equal(u64(&x.processes, 0, "starttime"), 70);
	close_rows(&x);
	open_rows(&x, *state, (struct how){.process = "time,oncpu_ns,joules", .n_pids = 1});
	make(&x);
	assert_int_equal(opened, 1);
	assert_int_equal(u64(&x.processes, 0, "starttime"), 70);
	make(&x);
	assert_int_equal(opened, 0);
	assert_int_equal(u64(&x.processes, 0, "starttime"), 70);
	close_rows(&x);

	/* stat alone; statm with stat before it, which says whose it is; each is kept */
	open_rows(&x, *state, (struct how){.process = "utime,comm"});
	ran(&x, 20, 200);
	make(&x);
	assert_int_equal(opened, 1);
	ran(&x, 20, 200);
	make(&x);
	assert_int_equal(opened, 0);
	close_rows(&x);
	open_rows(&x, *state, (struct how){.process = "resident"});
	ran(&x, 20, 200);
	make(&x);
	assert_int_equal(opened, 2);
	assert_int_equal(u64(&x.processes, 0, "resident"), 2);
	ran(&x, 20, 200);
	make(&x);
	assert_int_equal(opened, 0);
	ran(&x, 20, 200)->exited = 1;
	make(&x);
	assert_int_equal(opened, 0);
	assert_false(has(&x.processes, 0, "resident"));
	close_rows(&x);

	/* threads that ran are told of, without own pids */
	open_rows(&x, *state, (struct how){.process = "oncpu_ns", .thread = "oncpu_ns", .threads = true});
	thread_ran(&x, 20, 20, 200);
	make(&x);
	assert_int_equal(opened, 0);
	assert_int_equal(x.threads.n_rows, 1);
	close_rows(&x);
}

static void denied_is_counted(void **state)
{
	struct fixture x;

	open_rows(&x, *state, (struct how){.process = "comm,ppid,starttime,utime,cpuUsage,oncpu_ns", .n_pids = 1});
	fake_process(x.t, (struct fake_task){.tid = 7, .start = 70});
	fake_process(x.t, (struct fake_task){.tid = 20, .start = 200});
	fake_process(x.t, (struct fake_task){.tid = 21, .start = 210, .utime = 6});
	assert_int_equal(fchmodat(x.t->fd, "7/stat", 0, 0), 0);
	assert_int_equal(fchmodat(x.t->fd, "20/stat", 0, 0), 0);
	ran(&x, 20, 200);
	ran(&x, 21, 210);
	as_nobody();
	make(&x);
	as_root_again();
	assert_int_equal(x.processes.n_rows, 3);
	assert_string_equal(text(&x.processes, 0, "comm"), "told"); /* which is something */
	assert_int_equal(u64(&x.processes, 0, "ppid"), 3);
	assert_false(has(&x.processes, 0, "utime") || has(&x.processes, 0, "cpuUsage"));
	assert_int_equal(u64(&x.processes, 1, "utime"), 6);
	assert_false(has(&x.processes, 2, "comm") || has(&x.processes, 2, "starttime"));
	assert_int_equal(u64(&x.processes, 2, "oncpu_ns"), 0);
	assert_int_equal(x.processes.denied, 2 + 5); /* of 20: two; of 7, of which nothing is told: all that are read */
	ran(&x, 21, 210);
	x.ended[0] = true;
	make(&x);
	assert_int_equal(x.processes.denied, 0);
	close_rows(&x);
}

/* Start times in ns that were made of ticks, or cut to them, as the kernel does it for any number of ticks a second. */
static void ticks_of_other_kernels(void **state)
{
	static const uint64_t hz[] = {100, 250, 300, 1000, 1024, 1200};
	static const uint64_t ticks[] = {0, 1, 2, 3, 99, 1023, 1025, 34356, 18366278, 346180303};
	struct fixture x;

	for (size_t h = 0; h < sizeof(hz) / sizeof(hz[0]); h++) {
		open_rows(&x, *state, (struct how){.process = "utime", .hz = hz[h]});
		for (size_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++) {
			unsigned __int128 ns = (unsigned __int128)ticks[i] * 1000000000;

			fake_process(x.t, (struct fake_task){.tid = 100 + (int)i, .start = ticks[i], .utime = i});
			ran(&x, 100 + (int)i, 0)->start_boottime_ns = (uint64_t)(ns / hz[h]); /* cut to ns */
			/* the last ns of the tick */
			ran(&x, 100 + (int)i, 0)->start_boottime_ns =
				(uint64_t)((ns + 1000000000 - hz[h]) / hz[h]);
		}
		make(&x);
		for (size_t row = 0; row < x.processes.n_rows; row++) {
			assert_true(u64(&x.processes, row, "starttime") == ticks[row / 2]);
			assert_int_equal(u64(&x.processes, row, "utime"), row / 2);
		}
		close_rows(&x);
	}
}

/* The row of process 20 after `used` ticks, so much time behind the last. Its use of CPU, or -1. */
static double usage_after(struct fixture *x, unsigned long long used, uint64_t hz, uint64_t passed_ns)
{
	fake_process(x->t, (struct fake_task){.tid = 20, .start = 200, .utime = used});
	ran(x, 20, 0)->start_boottime_ns = 200 * 1000000000ULL / hz;
	x->report.t_ns += passed_ns;
	make_after(x, 0);
	return has(&x->processes, 0, "cpuUsage") ? f64(&x->processes, 0, "cpuUsage") : -1;
}

/* By its formula, over the time between the rows: as whoever has the rows can work it out. */
static void cpu_usage_since_the_last_row(void **state)
{
	struct fixture x;

	for (uint64_t hz = 100; hz <= 1024; hz += 924) {
		open_rows(&x, *state, (struct how){.process = "cpuUsage", .hz = hz});
		assert_true(usage_after(&x, 1024, hz, 1000 * MS) == -1);
		assert_true(usage_after(&x, 2048, hz, 1000 * MS) == 100.0 * (1024.0 / (double)hz) / 1.0);
		/* rows that it did not have: it rested, or nobody wanted any for minutes */
		for (int i = 0; i < 5; i++)
			make_after(&x, 70000 * MS);
		assert_true(usage_after(&x, 4096, hz, 250 * MS) == 100.0 * (2048.0 / (double)hz) / 350.25);
		assert_true(usage_after(&x, 4096, hz, 250 * MS) == 0);
		close_rows(&x);
	}
}

/* As they were seen elsewhere: names, the greatest numbers, short lines, a file that is gone before the other. */
static void lines_seen(void **state)
{
	struct fixture x;

	open_rows(&x, *state, (struct how){.process = "comm,ppid,utime,stime,num_threads,rss,rsslim,wchan,exit_code,size"});
	tree_write(x.t, "83875/stat", "83875 (sleep (2) .sh) S 75750 83875 75750 34824 83875 4194304 173 0 0 0 0 0 0 0 20 0 "
		   "1 0 18366278 23187456 821 " U64_MAX_TEXT " 94424231874560 94424232638561 140734866834816 0 0 0 65536 "
		   "4 65538 1 0 0 17 6 0 0 0 0 0 94424232876752 94424232924772 94424259932160 140734866837287 "
		   "140734866837313 140734866837313 140734866841576 0\n");
	tree_write(x.t, "1591/stat", "1591 (Plex Media Serv) S 1 1591 1591 0 -1 1077952768 19063 0 306 0 257 95 0 0 20 0 17 "
		   "0 1353 596594688 13330");
	tree_write(x.t, "1/stat", "1 (service) S 0 1 1 0 -1 1077944576 4345 0 1 0 13 17 0 0 20 0 5 0 346180303 732237824 "
		   "2193 " U64_MAX_TEXT " 4194304 9876697 140737276107232 140737276105984 4665027 0 0 0 2143420159 "
		   U64_MAX_TEXT " 0 0 17 4 0 0 1 0 0 14888960 15220704 24559616 140737276112712 140737276112721 "
		   "140737276112721 140737276112879 0\n");
	tree_write(x.t, "1/statm", "1 2 3 4 5 6 7\n");
	ran(&x, 83875, 18366278);
	ran(&x, 1591, 1353);
	ran(&x, 1, 346180303);
	make(&x);
	assert_string_equal(text(&x.processes, 0, "comm"), "sleep (2) .sh");
	assert_int_equal(u64(&x.processes, 0, "ppid"), 75750);
	assert_int_equal(u64(&x.processes, 0, "rss"), 821);
	assert_int_equal(u64(&x.processes, 0, "exit_code"), 0);
	assert_false(has(&x.processes, 0, "size"));
	assert_string_equal(text(&x.processes, 1, "comm"), "Plex Media Serv");
	assert_int_equal(u64(&x.processes, 1, "utime"), 257);
	assert_int_equal(u64(&x.processes, 1, "stime"), 95);
	assert_int_equal(u64(&x.processes, 1, "num_threads"), 17);
	assert_false(has(&x.processes, 1, "rsslim") || has(&x.processes, 1, "wchan"));
	assert_int_equal(u64(&x.processes, 2, "ppid"), 0);
	assert_true(u64(&x.processes, 2, "rsslim") == UINT64_MAX && u64(&x.processes, 2, "wchan") == UINT64_MAX);
	assert_int_equal(u64(&x.processes, 2, "size"), 1);
	assert_int_equal(x.processes.denied, 0);
	close_rows(&x);
}

/* --- the choice, in sw_monitor_open() */

static int try_open(struct sw_options *o, struct sw_monitor **ret, char error[512])
{
	o->sz = sizeof(*o);
	o->energy = "none";
	o->error = error;
	o->error_size = 512;
	error[0] = '\0';
	return sw_monitor_open(o, ret);
}

static void refuse(struct sw_options o, int err, const char *words)
{
	struct sw_monitor *m = NULL;
	char error[512];

	assert_int_equal(try_open(&o, &m, error), err);
	assert_null(m);
	if (!strstr(error, words))
		fail_msg("\"%s\" does not say \"%s\"", error, words);
}

static void choices_refused(void **state)
{
	static const char *const typo[] = {"time", "utme"}, *const twice[] = {"rss", "utime", "rss"};
	static const char *const of_process[] = {"tid", "resident"}, *const empty[] = {""}, *const good[] = {"utime"};

	(void)state;
	refuse((struct sw_options){.process_columns = typo, .n_process_columns = 2}, -EINVAL,
	       "'utme' is not known; the nearest is 'utime'");
	refuse((struct sw_options){.thread_columns = typo, .n_thread_columns = 2}, -EINVAL, "'utme' is not known");
	refuse((struct sw_options){.process_columns = twice, .n_process_columns = 3}, -EINVAL, "'rss' is asked for twice");
	refuse((struct sw_options){.thread_columns = of_process, .n_thread_columns = 2}, -EINVAL,
	       "'resident' is there for processes only");
	refuse((struct sw_options){.process_columns = empty, .n_process_columns = 1}, -EINVAL, "empty");
	/* they ask for threads, which this one cannot tell */
	refuse((struct sw_options){.thread_columns = good, .n_thread_columns = 1, .backend = "cgroup_v2"}, -ENOTSUP,
	       "cannot tell processes or threads apart");
}

static uint32_t by_of(struct sw_options o)
{
	pid_t pid = sleeper();
	struct sw_monitor *m = NULL;
	char error[512];
	uint32_t by;

	o.backend = "proc";
	o.target = SW_TARGET_PIDS;
	o.pids = &pid;
	o.n_pids = 1;
	if (try_open(&o, &m, error))
		fail_msg("%s", error);
	by = sw_monitor_header(m)->by;
	sw_monitor_close(m);
	end(pid);
	return by;
}

static void columns_ask_for_threads(void **state)
{
	static const char *const one[] = {"cpuUsage"};
	struct sw_options o = {.process_columns = one, .n_process_columns = 1};

	(void)state;
	assert_int_equal(by_of(o), SW_BY_PROCESS);
	o.thread_columns = one;
	o.n_thread_columns = 1;
	assert_int_equal(by_of(o), SW_BY_PROCESS | SW_BY_THREAD);
	o.by = SW_BY_COMM;
	assert_int_equal(by_of(o), SW_BY_COMM | SW_BY_THREAD);
}

#define IN_TREE(f) cmocka_unit_test_setup_teardown(f, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(columns_in_order),
		IN_TREE(running_and_resting),
		IN_TREE(only_told),
		IN_TREE(a_number_that_is_used_again),
		IN_TREE(threads_running_and_resting),
		IN_TREE(many_threads),
		IN_TREE(no_processes_told),
		IN_TREE(which_files_are_opened),
		IN_TREE(denied_is_counted),
		IN_TREE(ticks_of_other_kernels),
		IN_TREE(cpu_usage_since_the_last_row),
		IN_TREE(lines_seen),
		cmocka_unit_test(choices_refused),
		cmocka_unit_test(columns_ask_for_threads),
	};

	return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counters/: rows of made-up processes and threads, as old and new kernels write them and as they come and go, and of
 * this very process against what its files say when they are read again.
 */
#include "../../src/counters/counters.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tree.h"

#define U64_MAX_TEXT "18446744073709551615"

/* Fields 4 to 52, each of them its own number, but for what the test says. */
struct line {
	int tid;
	const char *comm;
	char state;
	unsigned long long utime, stime, start, vsize, startcode;
	int num_threads;
};

/* Fields 4 to 52 are each their own number, tpgid's negative, but for what the test says. */
static void write_stat(const struct tree *t, const char *path, struct line l)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "%d (%s) %c 4 5 6 7 -8 9 10 11 12 13 %llu %llu 16 17 18 19 %d 21 %llu %llu 24 25 %llu %llu 28 29 30 "
		 "31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52\n",
		 l.tid, l.comm ? l.comm : "task", l.state ? l.state : 'S', l.utime, l.stime,
		 l.num_threads ? l.num_threads : 1, l.start, l.vsize, l.startcode ? l.startcode : 26,
		 l.startcode ? l.startcode : 27);
	tree_write(t, path, text);
}

static const char all_of_process[] =
	"time,pid,tid,comm,state,ppid,pgrp,session,tty_nr,tpgid,flags,minflt,cminflt,majflt,cmajflt,utime,stime,cutime,"
	"cstime,priority,nice,num_threads,itrealvalue,starttime,vsize,rss,rsslim,startcode,endcode,startstack,kstkesp,"
	"kstkeip,signal,blocked,sigignore,sigcatch,wchan,nswap,cnswap,exit_signal,processor,rt_priority,policy,"
	"delayacct_blkio_ticks,guest_time,cguest_time,start_data,end_data,start_brk,arg_start,arg_end,env_start,"
	"env_end,exit_code,size,resident,share,trs,lrs,drs,dt,cpuUsage,memUsage,oncpu_ns,joules,watts";

/* A reader below `fd`; NULL for a list: no rows of that kind. */
static struct sw_counters *reader(int fd, const char *process, const char *thread, size_t fds_max,
				  struct sw_query *process_query, struct sw_query *thread_query)
{
	struct sw_counters_options o = { .procfs_fd = fd, .hz = 100, .fds_max = fds_max };
	struct sw_counters *c = NULL;

	if (process) {
		assert_int_equal(sw_query_from_list(SW_COLUMN_OF_PROCESS, process, process_query, NULL), 0);
		o.process = process_query;
	}
	if (thread) {
		assert_int_equal(sw_query_from_list(SW_COLUMN_OF_THREAD, thread, thread_query, NULL), 0);
		o.thread = thread_query;
	}
	assert_int_equal(sw_counters_open(&o, &c), 0);
	return c;
}

/* Position of a column in a query. */
static unsigned at(const struct sw_query *q, const char *name)
{
	size_t n;
	const struct sw_column *c = sw_columns(&n);

	for (unsigned i = 0; i < q->n; i++) {
		if (!strcmp(c[q->column[i]].name, name))
			return i;
	}
	fail_msg("%s is not asked for", name);
	return 0;
}

static bool has(const struct sw_row *r, const struct sw_query *q, const char *name)
{
	return sw_row_has(r, at(q, name));
}

static uint64_t u64(const struct sw_row *r, const struct sw_query *q, const char *name)
{
	if (!has(r, q, name))
		fail_msg("%s is absent", name);
	return r->cell[at(q, name)].u64;
}

static double f64(const struct sw_row *r, const struct sw_query *q, const char *name)
{
	if (!has(r, q, name))
		fail_msg("%s is absent", name);
	return r->cell[at(q, name)].f64;
}

static void expect_f64(double is, double should)
{
	if (is < should - 1e-9 || is > should + 1e-9)
		fail_msg("%.12g is not %.12g", is, should);
}

static struct sw_counters_time ms(uint64_t n)
{
	return (struct sw_counters_time){ .time_us = 1700000000000000 + (int64_t)n * 1000,
					  .t_ns = (n + 1000000) * 1000000 };
}

static int process(struct sw_counters *c, int pid, uint64_t when_ms, struct sw_row *r)
{
	struct sw_counters_time now = ms(when_ms);

	return sw_counters_process(c, pid, SW_STARTTIME_UNKNOWN, &now, r);
}

static int thread(struct sw_counters *c, int pid, int tid, uint64_t when_ms, struct sw_row *r)
{
	struct sw_counters_time now = ms(when_ms);

	return sw_counters_thread(c, pid, tid, SW_STARTTIME_UNKNOWN, &now, r);
}

/* Every field is in its own column: its value is its number, or what was written for it. */
static void every_field(void **state)
{
	const struct tree *t = *state;
	struct sw_query q;
	struct sw_counters *c = reader(t->fd, all_of_process, NULL, 10, &q, NULL);
	size_t n;
	const struct sw_column *columns = sw_columns(&n);
	struct sw_row r;

	write_stat(t, "7/stat", (struct line){ .tid = 7, .comm = "a) (b) S 1", .utime = 14, .stime = 15, .start = 22,
					       .vsize = 23, .num_threads = 20 });
	tree_write(t, "7/statm", "101 102 103 104 105 106 107\n");
	tree_write(t, "meminfo", "MemTotal: 1 kB\nMemFree: 1 kB\n");
	assert_int_equal(process(c, 7, 0, &r), 0);
	assert_int_equal(r.pid, 7);
	assert_int_equal(r.tid, 7);
	assert_true(r.starttime == 22);
	assert_int_equal(r.denied, 0);
	assert_string_equal(r.comm, "a) (b) S 1");
	assert_string_equal(r.state, "S");
	assert_true(has(&r, &q, "comm") && has(&r, &q, "state"));
	assert_true(u64(&r, &q, "time") == 1700000000000000);
	assert_int_equal(u64(&r, &q, "pid"), 7);
	assert_int_equal(u64(&r, &q, "tid"), 7);
	for (unsigned i = SW_COL_ppid; i <= SW_COL_exit_code; i++) {
		uint64_t value = u64(&r, &q, columns[i].name), number = i - SW_COL_ppid + 4;

		assert_true(value == (number == 8 ? (uint64_t)-8 : number));
	}
	for (unsigned i = SW_COL_size; i <= SW_COL_dt; i++)
		assert_int_equal(u64(&r, &q, columns[i].name), 101 + i - SW_COL_size);
	expect_f64(f64(&r, &q, "memUsage"), 23 / 1024.0);
	assert_false(has(&r, &q, "cpuUsage"));
	assert_false(has(&r, &q, "oncpu_ns") || has(&r, &q, "joules") || has(&r, &q, "watts"));
	sw_counters_close(c);
}

/* What other programs took for something else. */
static void lines_seen(void **state)
{
	const struct tree *t = *state;
	struct sw_query q;
	struct sw_counters *c = reader(t->fd, all_of_process, NULL, 0, &q, NULL);
	struct sw_row r;

	tree_write(t, "83875/stat", "83875 (sleep (2) .sh) S 75750 83875 75750 34824 83875 4194304 173 0 0 0 0 0 0 0 "
		   "20 0 1 0 18366278 23187456 821 " U64_MAX_TEXT " 94424231874560 94424232638561 140734866834816 "
		   "0 0 0 65536 4 65538 1 0 0 17 6 0 0 0 0 0 94424232876752 94424232924772 94424259932160 "
		   "140734866837287 140734866837313 140734866837313 140734866841576 0\n");
	assert_int_equal(process(c, 83875, 0, &r), 0);
	assert_string_equal(r.comm, "sleep (2) .sh");
	assert_int_equal(u64(&r, &q, "ppid"), 75750);
	assert_int_equal(u64(&r, &q, "starttime"), 18366278);
	assert_int_equal(u64(&r, &q, "rss"), 821);
	assert_true(u64(&r, &q, "rsslim") == UINT64_MAX);
	assert_true(u64(&r, &q, "env_end") == 140734866841576);
	assert_false(has(&r, &q, "size") || has(&r, &q, "memUsage")); /* no statm, no meminfo */

	/* old and short: what it lacks is absent */
	tree_write(t, "1591/stat", "1591 (Plex Media Serv) S 1 1591 1591 0 -1 1077952768 19063 0 306 0 257 95 0 0 20 0 "
		   "17 0 1353 596594688 13330");
	assert_int_equal(process(c, 1591, 0, &r), 0);
	assert_int_equal(u64(&r, &q, "utime"), 257);
	assert_int_equal(u64(&r, &q, "stime"), 95);
	assert_int_equal(u64(&r, &q, "num_threads"), 17);
	assert_int_equal(u64(&r, &q, "rss"), 13330);
	assert_false(has(&r, &q, "rsslim") || has(&r, &q, "startcode") || has(&r, &q, "exit_code"));
	assert_int_equal(r.denied, 0);

	/* the largest numbers, a line that is longer than today's, odd spacing */
	tree_write(t, "1/stat", "1 (service) S 0 1 1 0 -1 1077944576 4345 0 1 0 13 17 0 0 20 0 5 0 346180303 732237824 "
		   "2193 " U64_MAX_TEXT " 4194304 9876697 140737276107232 140737276105984 4665027 0 0 0 2143420159 "
		   U64_MAX_TEXT " 0 0 17 4 0 0 1 0 0 14888960 15220704 24559616 140737276112712 140737276112721 "
		   "140737276112721 140737276112879 0 53 54\n");
	assert_int_equal(process(c, 1, 0, &r), 0);
	assert_true(u64(&r, &q, "wchan") == UINT64_MAX);
	assert_int_equal(u64(&r, &q, "num_threads"), 5);
	assert_int_equal(u64(&r, &q, "exit_code"), 0);
	tree_write(t, "2/stat", "2  (odd)\tR   1 2\t\t3  4 \n");
	assert_int_equal(process(c, 2, 0, &r), 0);
	assert_string_equal(r.state, "R");
	assert_int_equal(u64(&r, &q, "pgrp"), 2);
	assert_int_equal(u64(&r, &q, "tty_nr"), 4);
	assert_false(has(&r, &q, "tpgid") || has(&r, &q, "utime") || has(&r, &q, "memUsage"));
	assert_true(r.starttime == SW_STARTTIME_UNKNOWN);
	tree_write(t, "3/stat", "3 (nothing else)");
	assert_int_equal(process(c, 3, 0, &r), 0);
	assert_string_equal(r.comm, "nothing else");
	assert_false(has(&r, &q, "state"));
	sw_counters_close(c);
}

static void bad_files(void **state)
{
	static const struct sw_counters_options no_hz = { .procfs_fd = -1 };
	const struct tree *t = *state;
	struct sw_query q;
	struct sw_counters *c = reader(t->fd, "ppid,size", NULL, 10, &q, NULL), *none = NULL;
	struct sw_row r;
	char wide[4096];

	assert_int_equal(sw_counters_open(&no_hz, &none), -EINVAL);
	assert_null(none);
	memset(&r, 77, sizeof(r));
	tree_write(t, "1/stat", "1 (x) S garbage\n");
	assert_int_equal(process(c, 1, 0, &r), -EINVAL);
	tree_write(t, "1/stat", "1 (x) S 1 2 3 4 5 18446744073709551616\n");
	assert_int_equal(process(c, 1, 0, &r), -ERANGE);
	memset(wide, ' ', sizeof(wide));
	memcpy(wide, "1 (x) S", 7);
	tree_write_bytes(t, "1/stat", wide, sizeof(wide));
	assert_int_equal(process(c, 1, 0, &r), -EFBIG);
	tree_write(t, "1/stat", "");
	assert_int_equal(process(c, 1, 0, &r), -ESRCH);
	tree_write(t, "1/stat", "1 (x) S 2\n");
	tree_write(t, "1/statm", "1 2 3 x 5 6 7\n");
	assert_int_equal(process(c, 1, 0, &r), -EINVAL);
	assert_int_equal(process(c, 2, 0, &r), -ESRCH);
	assert_int_equal(r.pid, 0x4d4d4d4d); /* untouched so far */
	tree_write(t, "1/statm", "1 2 3 4 5 6 7\n");
	assert_int_equal(process(c, 1, 0, &r), 0);
	assert_int_equal(u64(&r, &q, "size"), 1);
	tree_write(t, "1/statm", ""); /* it went between the two */
	assert_int_equal(process(c, 1, 0, &r), 0);
	assert_int_equal(u64(&r, &q, "ppid"), 2);
	assert_false(has(&r, &q, "size"));
	assert_int_equal(r.denied, 0);
	sw_counters_close(c);
	sw_counters_close(NULL);
}

static void cpu_usage(void **state)
{
	const struct tree *t = *state;
	struct sw_query q, tq;
	struct sw_counters *c = reader(t->fd, "cpuUsage,starttime", "cpuUsage", 10, &q, &tq);
	struct sw_counters_time back = { .time_us = 5, .t_ns = ms(4000).t_ns };
	struct sw_row r;

	write_stat(t, "5/stat", (struct line){ .utime = 1000, .stime = 50, .start = 111 });
	write_stat(t, "5/task/6/stat", (struct line){ .utime = 10, .stime = 0, .start = 112 });
	assert_int_equal(process(c, 5, 0, &r), 0);
	assert_false(has(&r, &q, "cpuUsage"));
	assert_int_equal(thread(c, 5, 6, 0, &r), 0);
	assert_false(has(&r, &tq, "cpuUsage"));
	write_stat(t, "5/stat", (struct line){ .utime = 1010, .stime = 55, .start = 111 });
	write_stat(t, "5/task/6/stat", (struct line){ .utime = 10, .stime = 5, .start = 112 });
	assert_int_equal(process(c, 5, 200, &r), 0);
	expect_f64(f64(&r, &q, "cpuUsage"), 75); /* 0.15 s in 0.2 s */
	assert_int_equal(thread(c, 5, 6, 200, &r), 0);
	expect_f64(f64(&r, &tq, "cpuUsage"), 25);
	assert_int_equal(process(c, 5, 1200, &r), 0);
	expect_f64(f64(&r, &q, "cpuUsage"), 0);
	write_stat(t, "5/stat", (struct line){ .utime = 1410, .stime = 55, .start = 111 });
	assert_int_equal(process(c, 5, 2200, &r), 0);
	expect_f64(f64(&r, &q, "cpuUsage"), 400); /* on four CPUs */
	assert_int_equal(process(c, 5, 2200, &r), 0);
	assert_false(has(&r, &q, "cpuUsage")); /* no time has passed */

	/* a fall is no usage; nor is what another had that bore the number */
	write_stat(t, "5/stat", (struct line){ .utime = 1409, .stime = 55, .start = 111 });
	assert_int_equal(process(c, 5, 2400, &r), 0);
	assert_false(has(&r, &q, "cpuUsage"));
	write_stat(t, "5/stat", (struct line){ .utime = 2000, .stime = 55, .start = 222 });
	assert_int_equal(process(c, 5, 3000, &r), 0);
	assert_true(r.starttime == 222);
	assert_false(has(&r, &q, "cpuUsage"));
	/* the clock on the wall was set back */
	write_stat(t, "5/stat", (struct line){ .utime = 2050, .stime = 55, .start = 222 });
	assert_int_equal(sw_counters_process(c, 5, 222, &back, &r), 0);
	expect_f64(f64(&r, &q, "cpuUsage"), 50);

	/* remembered when not read for many samples */
	sw_counters_sweep(c);
	assert_int_equal(process(c, 5, 5000, &r), 0);
	expect_f64(f64(&r, &q, "cpuUsage"), 0);
	for (int i = 0; i < 10; i++)
		sw_counters_sweep(c);
	write_stat(t, "5/stat", (struct line){ .utime = 2150, .stime = 55, .start = 222 });
	assert_int_equal(process(c, 5, 7000, &r), 0);
	expect_f64(f64(&r, &q, "cpuUsage"), 50);
	/* but not when it is known to have ended */
	sw_counters_forget(c, 5, 0);
	sw_counters_forget(c, 4, 4);
	assert_int_equal(process(c, 5, 8000, &r), 0);
	assert_false(has(&r, &q, "cpuUsage"));
	sw_counters_close(c);
}

/* Those that went unseen: one that has a file again is then a new one, even with the same start time. */
static void forgetting_the_gone(void **state)
{
	enum { FIRST = 3000, MANY = 1100 };
	const struct tree *t = *state;
	struct sw_query q;
	struct sw_counters *c = reader(t->fd, "cpuUsage", NULL, 0, &q, NULL);
	struct sw_row r;
	char path[32];

	for (int i = FIRST; i < FIRST + MANY; i++) {
		snprintf(path, sizeof(path), "%d/stat", i);
		write_stat(t, path, (struct line){ .start = 1 });
		assert_int_equal(process(c, i, 0, &r), 0);
	}
	assert_int_equal(unlinkat(t->fd, "3000/stat", 0), 0);
	sw_counters_sweep(c);
	sw_counters_sweep(c);
	write_stat(t, "3000/stat", (struct line){ .start = 1 });
	assert_int_equal(process(c, 3000, 1000, &r), 0);
	assert_false(has(&r, &q, "cpuUsage"));
	assert_int_equal(process(c, 3001, 1000, &r), 0);
	assert_true(has(&r, &q, "cpuUsage"));
	sw_counters_close(c);
}

static void identity(void **state)
{
	const struct tree *t = *state;
	struct sw_query q;
	struct sw_counters *c = reader(t->fd, "utime", NULL, 10, &q, NULL);
	struct sw_counters_time now = ms(0);
	struct sw_row r;

	write_stat(t, "500/stat", (struct line){ .utime = 1000, .start = 111 });
	assert_int_equal(sw_counters_process(c, 500, 111, &now, &r), 0);
	write_stat(t, "500/stat", (struct line){ .utime = 5, .start = 222 });
	assert_int_equal(sw_counters_process(c, 500, 111, &now, &r), -ESRCH);
	assert_int_equal(sw_counters_process(c, 500, 222, &now, &r), 0);
	assert_int_equal(u64(&r, &q, "utime"), 5);
	/* calculated another way: a tick apart is the same, more is not */
	assert_int_equal(sw_counters_process(c, 500, 221, &now, &r), 0);
	assert_int_equal(sw_counters_process(c, 500, 223, &now, &r), 0);
	assert_int_equal(sw_counters_process(c, 500, 220, &now, &r), -ESRCH);
	assert_int_equal(sw_counters_process(c, 500, 224, &now, &r), -ESRCH);
	assert_int_equal(sw_counters_process(c, 500, 0, &now, &r), -ESRCH); /* the first tick is one, too */
	/* the file is a new one: what was kept is another's */
	tree_write(t, "500/stat", "");
	assert_int_equal(unlinkat(t->fd, "500/stat", 0), 0);
	write_stat(t, "500/stat", (struct line){ .utime = 9, .start = 333 });
	assert_int_equal(sw_counters_process(c, 500, SW_STARTTIME_UNKNOWN, &now, &r), 0);
	assert_int_equal(u64(&r, &q, "utime"), 9);
	assert_true(r.starttime == 333);
	sw_counters_close(c);
}

static const char of_memory[] = "state,utime,vsize,rss,startcode,arg_start,rsslim,size,dt,memUsage,num_threads";

/* What belongs to memory is told by a thread that lives, or by nobody. */
static void leader_gone(void **state)
{
	const struct tree *t = *state;
	struct sw_query q, tq;
	struct sw_counters *c = reader(t->fd, of_memory, "vsize,memUsage,utime", 10, &q, &tq);
	struct sw_counters *m = reader(t->fd, "resident", NULL, 10, &q, NULL);
	const struct line gone = { .utime = 700, .state = 'Z', .num_threads = 3, .startcode = 0, .start = 1 };
	const struct line ending = { .utime = 700, .state = 'R', .num_threads = 3, .start = 1 };
	struct sw_row r;

	tree_write(t, "meminfo", "MemTotal:       8 kB\n");
	write_stat(t, "40/stat", gone);
	tree_write(t, "40/statm", "0 0 0 0 0 0 0\n");
	write_stat(t, "40/task/40/stat", gone);
	write_stat(t, "40/task/41/stat", (struct line){ .state = 'Z', .num_threads = 3, .start = 2 });
	write_stat(t, "40/task/42/stat", (struct line){ .utime = 3, .num_threads = 3, .start = 3, .vsize = 4096 });
	tree_write(t, "40/task/42/statm", "1 2 3 4 5 6 7\n");
	assert_int_equal(process(m, 40, 0, &r), 0);
	assert_int_equal(u64(&r, &q, "resident"), 2);
	assert_int_equal(sw_query_from_list(SW_COLUMN_OF_PROCESS, of_memory, &q, NULL), 0);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(process(c, 40, 0, &r), 0);
		assert_string_equal(r.state, round ? "R" : "Z");
		assert_int_equal(u64(&r, &q, "utime"), 700);
		assert_int_equal(u64(&r, &q, "num_threads"), 3);
		assert_int_equal(u64(&r, &q, "vsize"), 4096);
		assert_int_equal(u64(&r, &q, "rss"), 24);
		assert_int_equal(u64(&r, &q, "startcode"), 26);
		assert_int_equal(u64(&r, &q, "arg_start"), 48);
		assert_int_equal(u64(&r, &q, "rsslim"), 25);
		assert_int_equal(u64(&r, &q, "size"), 1);
		assert_int_equal(u64(&r, &q, "dt"), 7);
		expect_f64(f64(&r, &q, "memUsage"), 0.5);
		write_stat(t, "40/stat", ending); /* its memory goes before its state tells */
	}
	assert_int_equal(thread(c, 40, 40, 0, &r), 0);
	assert_int_equal(u64(&r, &tq, "utime"), 700);
	assert_int_equal(u64(&r, &tq, "vsize"), 4096);
	expect_f64(f64(&r, &tq, "memUsage"), 0.5);

	/* the thread ends too, and another is asked; then none is left that can be */
	write_stat(t, "40/task/42/stat", (struct line){ .state = 'X', .num_threads = 3, .start = 3 });
	write_stat(t, "40/task/43/stat", (struct line){ .num_threads = 3, .start = 4, .vsize = 8192 });
	assert_int_equal(process(c, 40, 0, &r), 0);
	assert_int_equal(u64(&r, &q, "vsize"), 8192);
	assert_false(has(&r, &q, "size")); /* that one's statm has vanished */
	write_stat(t, "40/task/43/stat", (struct line){ .state = 'Z', .num_threads = 3, .start = 4 });
	assert_int_equal(process(c, 40, 0, &r), 0);
	assert_int_equal(u64(&r, &q, "utime"), 700);
	assert_int_equal(u64(&r, &q, "rsslim"), 25);
	assert_false(has(&r, &q, "vsize") || has(&r, &q, "rss") || has(&r, &q, "startcode"));
	assert_false(has(&r, &q, "arg_start") || has(&r, &q, "size") || has(&r, &q, "memUsage"));

	/* a process that has ended as a whole, and a kernel thread, have no memory: that is 0 */
	write_stat(t, "50/stat", (struct line){ .state = 'Z', .start = 9 });
	tree_write(t, "50/statm", "0 0 0 0 0 0 0\n");
	assert_int_equal(process(c, 50, 0, &r), 0);
	assert_int_equal(u64(&r, &q, "vsize"), 0);
	assert_int_equal(u64(&r, &q, "size"), 0);
	expect_f64(f64(&r, &q, "memUsage"), 0);
	sw_counters_close(c);
	sw_counters_close(m);
}

static const char may_be_withheld[] = "time,pid,startcode,kstkeip,wchan,env_end,exit_code,utime,vsize,size,joules";

/* Where this user may not look. */
static void denied(void **state)
{
	const struct tree *t = *state;
	struct sw_query q;
	struct sw_counters *c = reader(t->fd, may_be_withheld, NULL, 10, &q, NULL);
	struct sw_row r;

	/* the kernel withholds addresses of a process that we may not trace */
	write_stat(t, "60/stat", (struct line){ .utime = 3, .start = 1, .startcode = 1, .vsize = 4096 });
	tree_write(t, "60/statm", "1 2 3 4 5 6 7\n");
	assert_int_equal(process(c, 60, 0, &r), 0);
	assert_false(has(&r, &q, "startcode") || has(&r, &q, "kstkeip") || has(&r, &q, "wchan"));
	assert_false(has(&r, &q, "env_end") || has(&r, &q, "exit_code"));
	assert_int_equal(u64(&r, &q, "utime"), 3);
	assert_int_equal(u64(&r, &q, "vsize"), 4096);
	assert_int_equal(u64(&r, &q, "size"), 1);
	assert_int_equal(r.denied, 5);

	write_stat(t, "61/stat", (struct line){ .utime = 3, .start = 1 });
	tree_write(t, "61/statm", "1 2 3 4 5 6 7\n");
	assert_int_equal(fchmodat(t->fd, "61/statm", 0, 0), 0);
	as_nobody();
	assert_int_equal(process(c, 61, 0, &r), 0);
	as_root_again();
	assert_int_equal(u64(&r, &q, "utime"), 3);
	assert_false(has(&r, &q, "size"));
	assert_int_equal(r.denied, 1);
	assert_int_equal(fchmodat(t->fd, "61", 0, 0), 0);
	sw_counters_sweep(c);
	sw_counters_sweep(c);
	as_nobody();
	assert_int_equal(process(c, 61, 0, &r), 0);
	as_root_again();
	assert_int_equal(fchmodat(t->fd, "61", 0755, 0), 0);
	assert_int_equal(u64(&r, &q, "pid"), 61);
	assert_true(has(&r, &q, "time"));
	assert_false(has(&r, &q, "utime") || has(&r, &q, "size") || has(&r, &q, "joules"));
	assert_int_equal(r.denied, 8);
	sw_counters_close(c);
}

/* Only what is needed is read: the files of the others would be errors. */
static void needed_files(void **state)
{
	const struct tree *t = *state;
	struct sw_query q;
	struct sw_counters *c;
	struct sw_row r;

	write_stat(t, "70/stat", (struct line){ .utime = 3, .start = 1, .vsize = 1 });
	tree_write(t, "70/statm", "broken");
	tree_write(t, "meminfo", "broken");
	c = reader(t->fd, "utime", NULL, 10, &q, NULL);
	assert_int_equal(process(c, 70, 0, &r), 0);
	sw_counters_close(c);

	tree_write(t, "70/statm", "1 2 3 4 5 6 7\n");
	c = reader(t->fd, "dt", NULL, 10, &q, NULL);
	assert_int_equal(process(c, 70, 0, &r), 0);
	tree_write(t, "70/stat", "broken"); /* the identity is known by then */
	assert_int_equal(process(c, 70, 0, &r), 0);
	assert_int_equal(u64(&r, &q, "dt"), 7);
	assert_true(r.starttime == 1);
	sw_counters_close(c);

	c = reader(t->fd, "pid,time,oncpu_ns", NULL, 10, &q, NULL);
	assert_int_equal(process(c, 71, 3, &r), 0);
	assert_int_equal(u64(&r, &q, "pid"), 71);
	assert_true(u64(&r, &q, "time") == 1700000000003000);
	assert_false(has(&r, &q, "oncpu_ns"));
	sw_counters_close(c);
}

static size_t count_fds(void)
{
	size_t n = 0;
	DIR *dir = opendir("/proc/self/fd");

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void kept_files(void **state)
{
	const struct tree *t = *state;
	size_t before = count_fds(), n;
	struct sw_query q, tq;
	struct sw_counters *c = reader(t->fd, "utime,size", "utime", 4, &q, &tq);
	const int32_t *tids;
	struct sw_row r;
	char path[64];

	write_stat(t, "80/stat", (struct line){ .start = 1, .vsize = 1 });
	tree_write(t, "80/statm", "1 2 3 4 5 6 7\n");
	for (int i = 80; i < 90; i++) {
		snprintf(path, sizeof(path), "80/task/%d/stat", i);
		write_stat(t, path, (struct line){ .start = 1, .utime = (unsigned long long)i, .vsize = 1 });
	}
	tree_write(t, "80/task/x/stat", "");
	assert_int_equal(sw_counters_threads(c, 81, &tids, &n), -ESRCH);
	for (int round = 0; round < 3; round++) {
		uint64_t sum = 0;

		assert_int_equal(process(c, 80, 0, &r), 0);
		assert_int_equal(sw_counters_threads(c, 80, &tids, &n), 0);
		assert_int_equal(n, 10);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(thread(c, 80, tids[i], 0, &r), 0);
			assert_int_equal(r.tid, tids[i]);
			sum += u64(&r, &tq, "utime");
		}
		assert_int_equal(sum, 845);
		assert_int_equal(count_fds(), before + 4);
		sw_counters_sweep(c);
	}
	assert_int_equal(process(c, 80, 0, &r), 0);
	sw_counters_sweep(c); /* the threads were not read again */
	assert_int_equal(count_fds(), before + 2);
	sw_counters_close(c);
	assert_int_equal(count_fds(), before);
}

/* Where no more may be opened, files that were kept are given back, and rows are read all the same. */
static void at_the_limit_of_files(void **state)
{
	const struct tree *t = *state;
	size_t before = count_fds();
	struct sw_query q, tq;
	struct sw_counters *c = reader(t->fd, "utime,size", "utime", 100, &q, &tq);
	struct rlimit limit, less;
	struct sw_row r;
	int free_fd, err;

	write_stat(t, "90/stat", (struct line){ .start = 1, .vsize = 1 });
	tree_write(t, "90/statm", "1 2 3 4 5 6 7\n");
	write_stat(t, "90/task/91/stat", (struct line){ .start = 1, .utime = 91 });
	assert_int_equal(process(c, 90, 0, &r), 0);
	assert_int_equal(count_fds(), before + 2);
	free_fd = dup(t->fd);
	assert_true(free_fd >= 0);
	close(free_fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	less = (struct rlimit){ .rlim_cur = (rlim_t)free_fd, .rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &less), 0);
	err = thread(c, 90, 91, 0, &r);
	if (!err)
		err = process(c, 90, 0, &r);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0); /* before anything can fail */
	assert_int_equal(err, 0);
	assert_true(has(&r, &q, "utime") && has(&r, &q, "size"));
	assert_int_equal(count_fds(), before);
	sw_counters_close(c);
}

/* The number behind a name in a file of /proc: fields of stat are counted from the end of the name, that is field 2. */
static uint64_t word(const char *path, unsigned number)
{
	char text[2048], *word;
	unsigned first = 1;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = '\0';
	close(fd);
	word = text;
	if (strrchr(text, ')')) {
		word = strrchr(text, ')') + 1;
		first = 3;
	}
	word = strtok(word, " \n");
	for (unsigned i = first; i < number && word; i++)
		word = strtok(NULL, " \n");
	assert_non_null(word);
	return word[0] == '-' ? (uint64_t)strtoll(word, NULL, 10) : strtoull(word, NULL, 10);
}

static void expect_all_of_stat(const struct sw_row *r, const struct sw_query *q, const char *path)
{
	size_t n;
	const struct sw_column *columns = sw_columns(&n);

	for (unsigned i = SW_COL_ppid; i <= SW_COL_exit_code; i++) {
		uint64_t is = u64(r, q, columns[i].name), again = word(path, i - SW_COL_ppid + 4);

		if (is != again)
			fail_msg("%s of %s: %llu, then %llu", columns[i].name, path, (unsigned long long)is,
				 (unsigned long long)again);
	}
}

static void *wait_for_ever(void *arg)
{
	(void)arg;
	while (pause())
		;
	return NULL;
}

/* A process with a thread beside its leader, both of which wait; or, if asked for, its leader ends. To be killed. */
static pid_t start_waiting(bool leader_ends)
{
	pthread_t other;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	if (pthread_create(&other, NULL, wait_for_ever, NULL))
		_exit(1);
	if (leader_ends)
		pthread_exit(NULL);
	wait_for_ever(NULL);
	_exit(1);
}

/* Every counter of a process and of its thread, neither of which moves, is what its file says when it is read again. */
static void real_process(void **state)
{
	static const char *const of_statm[] = { "size", "resident", "share", "trs", "lrs", "drs", "dt" };
	static char of_thread[sizeof(all_of_process)];
	int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid_t pid = start_waiting(false);
	struct sw_counters_time now;
	struct sw_counters *c;
	struct sw_query q, tq;
	const int32_t *tids;
	struct sw_row r, tr;
	char path[96];
	size_t n = 0;

	(void)state;
	assert_true(fd >= 0);
	strcpy(strstr(strcpy(of_thread, all_of_process), ",size"), ",memUsage");
	c = reader(fd, all_of_process, of_thread, 10, &q, &tq);
	for (int i = 0; i < 500; i++) {
		usleep(10000);
		now = sw_counters_now();
		assert_int_equal(sw_counters_process(c, pid, SW_STARTTIME_UNKNOWN, &now, &r), 0);
		assert_int_equal(sw_counters_threads(c, pid, &tids, &n), 0);
		if (n < 2)
			continue;
		assert_int_equal(sw_counters_thread(c, pid, tids[1], SW_STARTTIME_UNKNOWN, &now, &tr), 0);
		if (r.state[0] == 'S' && tr.state[0] == 'S')
			break;
	}
	assert_int_equal(n, 2);
	assert_int_equal(tids[0], pid);
	for (int round = 0; round < 2; round++) {
		now = sw_counters_now();
		assert_int_equal(sw_counters_process(c, pid, r.starttime, &now, &r), 0);
		assert_string_equal(r.comm, "test_counters");
		assert_string_equal(r.state, "S");
		assert_int_equal(r.denied, 0);
		assert_true(u64(&r, &q, "time") == (uint64_t)now.time_us);
		assert_int_equal(u64(&r, &q, "ppid"), getpid());
		assert_int_equal(u64(&r, &q, "num_threads"), 2);
		expect_f64(f64(&r, &q, "cpuUsage"), 0);
		assert_true(f64(&r, &q, "memUsage") > 0);
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		expect_all_of_stat(&r, &q, path);
		snprintf(path, sizeof(path), "/proc/%d/statm", pid);
		for (unsigned i = 0; i < 7; i++)
			assert_true(u64(&r, &q, of_statm[i]) == word(path, i + 1));
		assert_true(u64(&r, &q, "size") * (uint64_t)sysconf(_SC_PAGESIZE) == u64(&r, &q, "vsize"));
		assert_int_equal(sw_counters_thread(c, pid, tids[1], SW_STARTTIME_UNKNOWN, &now, &tr), 0);
		assert_int_equal(tr.tid, tids[1]);
		assert_true(f64(&tr, &tq, "memUsage") == f64(&r, &q, "memUsage"));
		snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tids[1]);
		expect_all_of_stat(&tr, &tq, path);
	}
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	now = sw_counters_now();
	assert_int_equal(sw_counters_process(c, pid, SW_STARTTIME_UNKNOWN, &now, &r), -ESRCH);
	assert_int_equal(sw_counters_thread(c, pid, tids[1], SW_STARTTIME_UNKNOWN, &now, &r), -ESRCH);
	assert_int_equal(sw_counters_threads(c, pid, &tids, &n), -ESRCH);
	sw_counters_close(c);
	close(fd);
}

/* Another user's: the kernel writes 0 and 1 for what it does not tell, and that is not shown. */
static void real_denied(void **state)
{
	int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct sw_query q;
	struct sw_counters *c;
	struct sw_row r;
	pid_t pid;

	(void)state;
	if (geteuid()) {
		print_message("# skip: only root can have a process that another user may not trace\n");
		close(fd);
		skip();
	}
	c = reader(fd, may_be_withheld, NULL, 10, &q, NULL);
	pid = start_waiting(false);
	assert_int_equal(process(c, pid, 0, &r), 0);
	assert_int_equal(r.denied, 0);
	assert_true(u64(&r, &q, "startcode") > 1);
	as_nobody();
	assert_int_equal(process(c, pid, 0, &r), 0);
	as_root_again();
	assert_int_equal(r.denied, 5);
	assert_false(has(&r, &q, "startcode") || has(&r, &q, "wchan") || has(&r, &q, "exit_code"));
	assert_true(u64(&r, &q, "vsize") > 0 && u64(&r, &q, "size") > 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	sw_counters_close(c);
	close(fd);
}

/* This one runs while it is read. */
static void this_process(void **state)
{
	int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct sw_counters_time now = sw_counters_now(), end;
	struct sw_query q;
	struct sw_counters *c = reader(fd, "state,cpuUsage,utime,stime", NULL, 10, &q, NULL);
	struct sw_row first, second;
	double ticks;

	(void)state;
	assert_int_equal(sw_counters_process(c, getpid(), SW_STARTTIME_UNKNOWN, &now, &first), 0);
	assert_string_equal(first.state, "R");
	assert_false(has(&first, &q, "cpuUsage"));
	do {
		end = sw_counters_now();
	} while (end.t_ns - now.t_ns < 100000000);
	assert_int_equal(sw_counters_process(c, getpid(), first.starttime, &end, &second), 0);
	ticks = (double)(u64(&second, &q, "utime") + u64(&second, &q, "stime") - u64(&first, &q, "utime") -
			u64(&first, &q, "stime"));
	expect_f64(f64(&second, &q, "cpuUsage"), 100 * (ticks / 100) / ((double)(end.t_ns - now.t_ns) / 1e9));
	sw_counters_close(c);
	close(fd);
}

/* A process whose leader ends before a thread does, until it is killed. */
static void real_leader_gone(void **state)
{
	int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct sw_query q;
	struct sw_counters *c = reader(fd, of_memory, NULL, 10, &q, NULL);
	struct sw_row r = { 0 };
	pid_t pid = start_waiting(true);

	(void)state;
	for (int i = 0; i < 500 && r.state[0] != 'Z'; i++) {
		usleep(10000);
		assert_int_equal(process(c, pid, (uint64_t)i, &r), 0);
	}
	assert_string_equal(r.state, "Z");
	assert_int_equal(u64(&r, &q, "num_threads"), 2);
	assert_true(u64(&r, &q, "vsize") > 0);
	assert_true(u64(&r, &q, "size") > 0);
	assert_true(f64(&r, &q, "memUsage") > 0);
	assert_true(u64(&r, &q, "startcode") > 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(process(c, pid, 1000, &r), -ESRCH);
	sw_counters_close(c);
	close(fd);
}

int main(void)
{
#define IN_TREE(f) cmocka_unit_test_setup_teardown(f, tree_setup, tree_teardown)
	static const struct CMUnitTest tests[] = {
		IN_TREE(every_field), IN_TREE(lines_seen),   IN_TREE(bad_files),  IN_TREE(cpu_usage),
		IN_TREE(identity),    IN_TREE(leader_gone),  IN_TREE(denied),     IN_TREE(needed_files),
		IN_TREE(forgetting_the_gone), IN_TREE(at_the_limit_of_files),
		IN_TREE(kept_files),  cmocka_unit_test(real_process), cmocka_unit_test(real_denied),
		cmocka_unit_test(this_process), cmocka_unit_test(real_leader_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* cpu/proc*.c on made-up /proc directories: who is a member, what each had, and who ended how. */
#include "books.h"
#include "proc_tree.h"

#include <errno.h>

#define MS 1000000ULL
#define NS 1000000000ULL
#define TICK (10 * MS)

/* A tick is 10 ms here, whatever it is on this machine. */
long sysconf(int name)
{
	return name == _SC_CLK_TCK ? 100 : name == _SC_PAGESIZE ? 4096 : -1;
}

static const int refused = -1;

static int try_proc(const struct tree *t, const int32_t *pids, size_t n_pids, unsigned n_domains, bool process_scope,
		    struct sw_error *error, struct sw_cpu_backend **ret)
{
	static const int16_t one_domain[8], two_domains[8] = {0, 1, 0, 1};
	struct sw_cpu_config config = {
		.domain_of = n_domains > 1 ? two_domains : one_domain,
		.n_cpus = 8,
		.n_domains = n_domains,
		.pids = pids,
		.n_pids = n_pids,
		.process_scope = process_scope,
		.procfs_fd = t->fd,
		.taskstats_fd = &refused,
	};

	return sw_cpu_proc.open(&config, error, ret);
}

static void open_proc(struct books *k, const struct tree *t, int32_t pid, unsigned n_domains)
{
	struct sw_cpu_backend *b = NULL;
	struct sw_error error = {""};

	if (try_proc(t, &pid, pid ? 1 : 0, n_domains, false, &error, &b))
		fail_msg("cannot open: %s", error.text);
	books_begin(k, b, n_domains);
}

static void two_cpus(const struct tree *t)
{
	tree_write(t, "stat", "cpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\n");
}

/* Children by their parents, in whatever order they are listed; strangers are other. */
static void tree_by_parents(void **state)
{
	struct tree *t = *state;
	struct books k;

	two_cpus(t);
	fake_process(t, (struct fake_task){.tid = 300, .ppid = 200, .start = 9, .comm = "sleep (2) .sh"});
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .schedstat_ns = 5 * MS, .comm = "root"});
	fake_process(t, (struct fake_task){.tid = 400, .ppid = 300, .start = 10});
	fake_process(t, (struct fake_task){.tid = 200, .ppid = 100, .start = 8});
	fake_process(t, (struct fake_task){.tid = 500, .ppid = 1, .start = 11});
	open_proc(&k, t, 100, 1);
	books_at(&k, 1 * NS);
	for (int i = 1; i <= 5; i++)
		fake_process(t, (struct fake_task){.tid = 100 * i, .ppid = i == 1 || i == 5 ? 1 : 100 * (i - 1),
						   .start = 6 + i, .schedstat_ns = (i * 10 + 5) * MS,
						   .comm = i == 3 ? "sleep (2) .sh" : "root"});
	tree_write(t, "stat", "cpu0 9 0 0 0 0 0 0 0 0 0\ncpu1 9 0 0 0 0 0 0 0 0 0\n");
	books_at(&k, 1 * NS + 100 * MS);
	assert_int_equal(books_ns(&k, 100), 10 * MS); /* 5 of it were before */
	assert_int_equal(books_ns(&k, 200), 25 * MS);
	assert_int_equal(books_ns(&k, 300), 35 * MS);
	assert_int_equal(books_ns(&k, 400), 45 * MS);
	assert_null(books_find(&k, 500));
	assert_int_equal(k.window[0].other_ns, 18 * TICK - 115 * MS);
	assert_int_equal(k.window[0].idle_ns, 20 * MS);
	assert_false(k.usage->busy_raised);
	assert_string_equal(books_find(&k, 300)->task.comm, "sleep (2) .sh");
	assert_int_equal(books_find(&k, 300)->task.ppid, 200);
	assert_int_equal(books_find(&k, 300)->task.start_boottime_ns, 9 * TICK);
	assert_int_equal(books_find(&k, 300)->task.here.tgid, 300);
	books_end(&k);
}

/* Only who was asked for, or its own threads. */
static void process_scope(void **state)
{
	struct tree *t = *state;
	struct sw_cpu_backend *b = NULL;
	struct sw_error error = {""};
	int32_t pid = 100;
	struct books k;

	two_cpus(t);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7});
	fake_process(t, (struct fake_task){.tid = 200, .ppid = 100, .start = 8});
	assert_int_equal(try_proc(t, &pid, 1, 1, true, &error, &b), 0);
	books_begin(&k, b, 1);
	books_at(&k, 1 * NS);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .schedstat_ns = 3 * MS, .num_threads = 2,
					   .cutime = 40});
	fake_thread(t, 100, (struct fake_task){.tid = 101, .ppid = 1, .start = 9, .schedstat_ns = 4 * MS});
	fake_process(t, (struct fake_task){.tid = 200, .ppid = 100, .start = 8, .schedstat_ns = 5 * MS});
	books_at(&k, 2 * NS);
	assert_int_equal(books_ns(&k, 100), 3 * MS);
	assert_int_equal(books_ns(&k, 101), 4 * MS);
	assert_null(books_find(&k, 200));
	assert_true(k.usage->busy_raised);
	books_end(&k);
}

/* A kernel without schedstat: ticks; and a number that falls takes nothing back. */
static void ticks_and_falls(void **state)
{
	struct tree *t = *state;
	struct books k;

	two_cpus(t);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .utime = 257, .stime = 95, .no_schedstat = true});
	open_proc(&k, t, 100, 1);
	books_at(&k, 1 * NS);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .utime = 260, .stime = 97, .no_schedstat = true});
	books_at(&k, 2 * NS);
	assert_int_equal(books_ns(&k, 100), 5 * TICK);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .utime = 2, .stime = 1, .no_schedstat = true});
	books_at(&k, 3 * NS);
	assert_int_equal(books_ns(&k, 100), 5 * TICK);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .utime = 4, .stime = 1, .no_schedstat = true});
	books_at(&k, 4 * NS);
	assert_int_equal(books_ns(&k, 100), 7 * TICK);
	books_end(&k);
}

/* S37: another process with the same number is another, and had what it had. */
static void pid_reuse(void **state)
{
	struct tree *t = *state;
	struct books k;

	two_cpus(t);
	fake_process(t, (struct fake_task){.tid = 500, .start = 111, .comm = "a", .utime = 1000, .no_schedstat = true});
	open_proc(&k, t, 0, 1);
	books_at(&k, 1 * NS);
	fake_process(t, (struct fake_task){.tid = 500, .start = 222, .comm = "b", .utime = 5, .no_schedstat = true});
	books_at(&k, 2 * NS);
	assert_int_equal(k.n_tasks, 2);
	assert_int_equal(k.tasks[0].start_ns, 111 * TICK);
	assert_int_equal(k.tasks[0].total_ns, 0);
	assert_int_equal(k.tasks[0].died, 1);
	assert_true(k.tasks[0].task.process_ended);
	assert_int_equal(k.tasks[1].start_ns, 222 * TICK);
	assert_int_equal(k.tasks[1].total_ns, 5 * TICK);
	assert_string_equal(k.tasks[1].task.comm, "b");
	assert_int_equal(k.tasks[1].died, 0);
	assert_int_equal(k.window[0].other_ns, 0);
	books_end(&k);

	/* of a tree: the new one is no member */
	fake_process(t, (struct fake_task){.tid = 500, .start = 222});
	open_proc(&k, t, 500, 1);
	books_at(&k, 3 * NS);
	assert_false(k.usage->ended);
	fake_process(t, (struct fake_task){.tid = 500, .start = 333, .schedstat_ns = 9 * MS});
	books_at(&k, 4 * NS);
	assert_int_equal(k.n_tasks, 1);
	assert_int_equal(books_ns(&k, 500), 0);
	assert_true(k.usage->ended);
	books_end(&k);
}

/* New children, re-parented ones, and the end of each. */
static void come_and_go(void **state)
{
	struct tree *t = *state;
	struct books k;

	two_cpus(t);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7});
	open_proc(&k, t, 100, 1);
	books_at(&k, 1 * NS);
	fake_process(t, (struct fake_task){.tid = 200, .ppid = 100, .start = 300, .schedstat_ns = 8 * MS, .comm = "new"});
	fake_process(t, (struct fake_task){.tid = 300, .ppid = 200, .start = 301, .schedstat_ns = 2 * MS});
	books_at(&k, 2 * NS);
	assert_int_equal(books_ns(&k, 200), 8 * MS);
	assert_int_equal(books_ns(&k, 300), 2 * MS);
	/* its parent ends, and somebody takes it in */
	fake_gone(t, "200");
	fake_process(t, (struct fake_task){.tid = 300, .ppid = 1, .start = 301, .schedstat_ns = 6 * MS});
	books_at(&k, 3 * NS);
	assert_int_equal(books_find(&k, 200)->died, 1);
	assert_true(books_find(&k, 200)->task.process_ended);
	assert_false(books_find(&k, 200)->task.exit_known);
	assert_int_equal(books_ns(&k, 300), 6 * MS);
	assert_int_equal(books_find(&k, 300)->task.ppid, 200); /* who forked it */
	assert_false(k.usage->ended);
	/* the root is a zombie, the orphan lives */
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .state = 'Z', .schedstat_ns = 1 * MS});
	books_at(&k, 4 * NS);
	assert_int_equal(books_ns(&k, 100), 1 * MS);
	assert_int_equal(books_find(&k, 100)->died, 1);
	assert_false(k.usage->ended);
	assert_true(k.b->ops->alive(k.b));
	fake_gone(t, "100");
	fake_gone(t, "300");
	assert_false(k.b->ops->alive(k.b));
	books_at(&k, 5 * NS);
	assert_true(k.usage->ended);
	for (unsigned i = 0; i < k.n_tasks; i++)
		assert_true(k.tasks[i].first == 1 && k.tasks[i].last == 1 && k.tasks[i].died == 1);
	books_at(&k, 6 * NS);
	assert_int_equal(k.usage->n_rows, 0);
	assert_true(k.usage->ended);
	books_end(&k);
}

/* S22: a leader that is a zombie while its thread works has not ended, nor has its process. */
static void leader_first(void **state)
{
	struct tree *t = *state;
	struct books k;

	two_cpus(t);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .num_threads = 2});
	fake_thread(t, 100, (struct fake_task){.tid = 101, .ppid = 1, .start = 8, .num_threads = 2, .comm = "worker"});
	open_proc(&k, t, 100, 1);
	books_at(&k, 1 * NS);
	for (int i = 1; i <= 3; i++) {
		fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .num_threads = 2, .state = 'Z'});
		fake_thread(t, 100, (struct fake_task){.tid = 101, .ppid = 1, .start = 8, .num_threads = 2, .comm = "worker",
						       .schedstat_ns = i * NS});
		books_at(&k, (1 + i) * NS);
	}
	assert_int_equal(books_ns(&k, 101), 3 * NS);
	assert_int_equal(books_find(&k, 101)->died, 0);
	assert_string_equal(books_find(&k, 101)->task.comm, "worker");
	assert_int_equal(books_find(&k, 101)->task.leader_start_boottime_ns, 7 * TICK);
	assert_false(k.usage->ended);
	assert_true(k.b->ops->alive(k.b));
	fake_gone(t, "100/task/101");
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .num_threads = 1, .state = 'Z'});
	books_at(&k, 5 * NS);
	assert_int_equal(books_find(&k, 101)->died, 1);
	assert_false(books_find(&k, 101)->task.process_ended);
	assert_true(books_find(&k, 100)->task.process_ended);
	assert_true(k.usage->ended);
	books_end(&k);
}

/* Threads come and go; the same number again is another. */
static void threads(void **state)
{
	struct tree *t = *state;
	struct books k;

	two_cpus(t);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7});
	open_proc(&k, t, 100, 1);
	books_at(&k, 1 * NS);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .num_threads = 3, .schedstat_ns = 1 * MS});
	fake_thread(t, 100, (struct fake_task){.tid = 101, .ppid = 1, .start = 20, .schedstat_ns = 2 * MS});
	fake_thread(t, 100, (struct fake_task){.tid = 102, .ppid = 1, .start = 21, .schedstat_ns = 3 * MS});
	books_at(&k, 2 * NS);
	assert_int_equal(books_ns(&k, 100), 1 * MS);
	assert_int_equal(books_ns(&k, 101), 2 * MS);
	assert_int_equal(books_ns(&k, 102), 3 * MS);
	fake_gone(t, "100/task/101");
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .num_threads = 2, .schedstat_ns = 1 * MS});
	books_at(&k, 3 * NS);
	assert_int_equal(books_find(&k, 101)->died, 1);
	assert_false(books_find(&k, 101)->task.process_ended);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .num_threads = 3, .schedstat_ns = 1 * MS});
	fake_thread(t, 100, (struct fake_task){.tid = 101, .ppid = 1, .start = 90, .schedstat_ns = 7 * MS});
	books_at(&k, 4 * NS);
	assert_int_equal(books_find(&k, 101)->start_ns, 90 * TICK);
	assert_int_equal(books_ns(&k, 101), 7 * MS);
	assert_int_equal(books_find(&k, 101)->died, 0);
	books_end(&k);
}

/* What children had that nobody saw is in what their parent waited for: once, and only that. */
static void waited_for(void **state)
{
	struct tree *t = *state;
	struct books k;

	two_cpus(t);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .cutime = 1000, .cstime = 500});
	fake_process(t, (struct fake_task){.tid = 200, .ppid = 100, .start = 8, .schedstat_ns = 300 * MS});
	open_proc(&k, t, 100, 1);
	books_at(&k, 1 * NS);
	/* 30 ms of a child unseen */
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .cutime = 1002, .cstime = 501, .cminflt = 40});
	fake_process(t, (struct fake_task){.tid = 200, .ppid = 100, .start = 8, .schedstat_ns = 320 * MS});
	books_at(&k, 2 * NS);
	assert_int_equal(books_ns(&k, 100), 30 * MS);
	assert_int_equal(k.usage->exits_ns, 30 * MS);
	assert_int_equal(k.usage->exits, 0);
	assert_true(k.usage->members_lost >= 1);
	/* the one that was seen ends: 320 ms are known of, 40 came after; the row that ends has them */
	fake_gone(t, "200");
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .cutime = 1038, .cstime = 501, .cminflt = 40});
	books_at(&k, 3 * NS);
	assert_int_equal(books_ns(&k, 100), 30 * MS);
	assert_int_equal(books_ns(&k, 200), 20 * MS + 40 * MS);
	assert_int_equal(books_find(&k, 200)->died, 1);
	/* waited for later than it was gone: not twice */
	fake_process(t, (struct fake_task){.tid = 300, .ppid = 100, .start = 400, .schedstat_ns = 50 * MS});
	books_at(&k, 4 * NS);
	fake_gone(t, "300");
	books_at(&k, 5 * NS);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .cutime = 1043, .cstime = 501, .cminflt = 40});
	books_at(&k, 6 * NS);
	assert_int_equal(books_ns(&k, 300), 50 * MS);
	assert_int_equal(books_ns(&k, 100), 30 * MS);
	/* a hundred seconds in one: somebody's who was taken in */
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .cutime = 11043, .cstime = 501, .cminflt = 40});
	books_at(&k, 7 * NS);
	assert_int_equal(books_ns(&k, 100), 30 * MS);
	books_end(&k);
}

/* Tasks are read later than the boundary: no window has more than its CPUs, nor a thread more than the window. */
static void held_back(void **state)
{
	struct tree *t = *state;
	struct books k;

	two_cpus(t);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7});
	fake_process(t, (struct fake_task){.tid = 200, .ppid = 100, .start = 8});
	fake_process(t, (struct fake_task){.tid = 300, .ppid = 100, .start = 9});
	open_proc(&k, t, 100, 1);
	books_at(&k, 1 * NS);
	for (int i = 1; i <= 3; i++)
		fake_process(t, (struct fake_task){.tid = 100 * i, .ppid = i > 1 ? 100 : 1, .start = 6 + i,
						   .schedstat_ns = 110 * MS});
	books_at(&k, 1 * NS + 100 * MS);
	assert_int_equal(k.window[0].idle_ns + k.window[0].other_ns, 0);
	for (unsigned i = 0; i < k.n_tasks; i++)
		assert_true(k.tasks[i].total_ns <= 100 * MS);
	/* all end; who was not told of in the first window has 100 of its 110 now, and its end is told with the rest */
	fake_gone(t, "100");
	fake_gone(t, "200");
	fake_gone(t, "300");
	books_at(&k, 1 * NS + 200 * MS);
	assert_int_equal(books_ns(&k, 100) + books_ns(&k, 200) + books_ns(&k, 300), 320 * MS);
	for (unsigned i = 0; i < k.n_tasks; i++)
		assert_int_equal(k.tasks[i].died, k.tasks[i].total_ns == 110 * MS);
	assert_false(k.usage->ended);
	books_at(&k, 1 * NS + 300 * MS);
	for (unsigned i = 0; i < k.n_tasks; i++)
		assert_true(k.tasks[i].died == 1 && k.tasks[i].total_ns == 110 * MS);
	assert_true(k.usage->ended);
	books_end(&k);
}

/* A window's time goes to where the thread was seen, or to where there is room. */
static void domains(void **state)
{
	struct tree *t = *state;
	struct books k;

	tree_write(t, "stat", "cpu0 0 0 0 0\ncpu1 0 0 0 0\ncpu2 0 0 0 0\n");
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .cpu = 0});
	fake_process(t, (struct fake_task){.tid = 200, .ppid = 100, .start = 8, .cpu = 1});
	open_proc(&k, t, 100, 2);
	assert_int_equal(k.b->cpus, 3);
	books_at(&k, 1 * NS);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .cpu = 2, .schedstat_ns = 5 * MS});
	fake_process(t, (struct fake_task){.tid = 200, .ppid = 100, .start = 8, .cpu = 1, .schedstat_ns = 6 * MS});
	books_at(&k, 2 * NS);
	assert_int_equal(k.window[0].span_ns, 2 * NS);
	assert_int_equal(k.window[1].span_ns, 1 * NS);
	assert_int_equal(books_find(&k, 100)->by_domain_ns[0], 5 * MS);
	assert_int_equal(books_find(&k, 200)->by_domain_ns[1], 6 * MS);
	/* it moves: the old row ends, but not the task */
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .cpu = 1, .schedstat_ns = 9 * MS});
	books_at(&k, 3 * NS);
	assert_int_equal(books_find(&k, 100)->by_domain_ns[0], 5 * MS);
	assert_int_equal(books_find(&k, 100)->by_domain_ns[1], 4 * MS);
	assert_int_equal(books_find(&k, 100)->last, 1);
	assert_int_equal(books_find(&k, 100)->died, 0);
	assert_int_equal(books_find(&k, 100)->first, 2);
	/* both on one CPU for the whole of a window: one was elsewhere */
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .cpu = 1, .schedstat_ns = 1009 * MS});
	fake_process(t, (struct fake_task){.tid = 200, .ppid = 100, .start = 8, .cpu = 1, .schedstat_ns = 1006 * MS});
	books_at(&k, 4 * NS);
	assert_int_equal(books_ns(&k, 100), 1009 * MS);
	assert_int_equal(books_ns(&k, 200), 1006 * MS);
	books_end(&k);
}

/* Kernel threads, names that change, programs that are replaced. */
static void described(void **state)
{
	struct tree *t = *state;
	struct books k;

	two_cpus(t);
	fake_process(t, (struct fake_task){.tid = 2, .start = 0, .comm = "kworker/u9:0-ev", .flags = 0x00200040});
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .comm = "bash", .startcode = 4096});
	open_proc(&k, t, 0, 1);
	books_at(&k, 1 * NS);
	assert_int_equal(k.usage->n_rows, 0);
	fake_process(t, (struct fake_task){.tid = 2, .start = 0, .comm = "kworker/u9:0-ev", .flags = 0x00200040, .schedstat_ns = MS});
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .comm = "bash", .startcode = 4096, .schedstat_ns = MS});
	books_at(&k, 2 * NS);
	assert_true(books_find(&k, 2)->task.kernel_thread);
	assert_false(books_find(&k, 100)->task.kernel_thread);
	assert_int_equal(books_find(&k, 100)->task.execs, 0);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .comm = "a) b", .startcode = 8192, .schedstat_ns = 2 * MS});
	books_at(&k, 3 * NS);
	assert_string_equal(books_find(&k, 100)->task.comm, "a) b");
	assert_string_equal(books_find(&k, 100)->task.process_comm, "a) b");
	assert_int_equal(books_find(&k, 100)->task.execs, 1);
	assert_true(books_find(&k, 100)->described >= 2);
	/* what is left of one that ended says nothing of its program */
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .comm = "a) b", .schedstat_ns = 3 * MS, .state = 'Z'});
	books_at(&k, 4 * NS);
	assert_int_equal(books_find(&k, 100)->task.execs, 1);
	assert_false(k.usage->ended); /* a host never does */
	books_end(&k);
}

/* Files that are there and empty, or cut, or of something else. */
static void broken_files(void **state)
{
	struct tree *t = *state;
	struct books k;

	two_cpus(t);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .schedstat_ns = 5 * MS});
	tree_write(t, "300/stat", "");
	tree_write(t, "400/stat", "400 (x");
	tree_write(t, "0500/stat", "500 (x) S 100 1");
	tree_write(t, "version", "Linux\n");
	open_proc(&k, t, 0, 1);
	books_at(&k, 1 * NS);
	tree_write(t, "100/task/100/schedstat", "garbage\n");
	books_at(&k, 2 * NS);
	assert_int_equal(books_ns(&k, 100), 0);
	tree_write(t, "100/stat", "100 (t) S 1");
	books_at(&k, 3 * NS);
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .schedstat_ns = 9 * MS});
	books_at(&k, 4 * NS);
	assert_int_equal(k.n_tasks, 1);
	assert_int_equal(books_ns(&k, 100), 4 * MS);
	assert_int_equal(books_find(&k, 100)->died, 0);
	books_end(&k);
}

/* While nobody forks, nobody is looked for. */
static void forks(void **state)
{
	struct tree *t = *state;
	struct books k;

	tree_write(t, "stat", "cpu0 0 0 0 0\nprocesses 10\n");
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7});
	open_proc(&k, t, 0, 1);
	books_at(&k, 1 * NS);
	fake_process(t, (struct fake_task){.tid = 200, .ppid = 1, .start = 8, .schedstat_ns = MS});
	books_at(&k, 2 * NS);
	assert_null(books_find(&k, 200));
	tree_write(t, "stat", "cpu0 0 0 0 0\nprocesses 14\n");
	books_at(&k, 3 * NS);
	assert_int_equal(books_ns(&k, 200), MS);
	/* three of the four were not found; that none of them is late is known at the next read */
	assert_int_equal(k.usage->members_lost, 0);
	books_at(&k, 4 * NS);
	assert_int_equal(k.usage->members_lost, 3);
	books_end(&k);
}

static void refusals(void **state)
{
	struct tree *t = *state;
	struct sw_cpu_config config = {.domain_of = (const int16_t[1]){0}, .n_cpus = 1, .n_domains = 1, .procfs_fd = t->fd,
				       .cgroup = "/x"};
	struct sw_cpu_backend *b = NULL;
	struct sw_error error = {""};
	int32_t pid = 100;

	two_cpus(t);
	assert_int_equal(try_proc(t, &pid, 1, 1, false, &error, &b), -ESRCH);
	assert_string_equal(error.text, "no process 100");
	assert_int_equal(sw_cpu_proc.open(&config, &error, &b), -ENOTSUP);
	assert_null(b);
	fake_process(t, (struct fake_task){.tid = 100, .start = 7});
	assert_int_equal(try_proc(t, &pid, 1, 1, false, &error, &b), 0);
	assert_non_null(strstr(b->note, "up to a clock tick late"));
	assert_non_null(strstr(b->note, "taskstats"));
	sw_cpu_proc.close(b);
}

#define proc_test(fn) cmocka_unit_test_setup_teardown(fn, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		proc_test(tree_by_parents), proc_test(process_scope), proc_test(ticks_and_falls), proc_test(pid_reuse),
		proc_test(come_and_go), proc_test(leader_first), proc_test(threads), proc_test(waited_for),
		proc_test(held_back), proc_test(domains), proc_test(described), proc_test(broken_files), proc_test(forks),
		proc_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes from rows of tasks: who they are, what describes them, their end, and how many are kept. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/processes.h"
#include "tree.h"

enum { FIRST = 1, LAST = 2, DESCRIBED = 4 };

static const struct sw_cgroups nowhere;

static struct sw_task task(int tgid, int tid, const char *comm)
{
	struct sw_task t = {
		.start_boottime_ns = 1000 + tid, .leader_start_boottime_ns = 1000 + tgid, .tgid = tgid, .tid = tid, .ppid = 1};

	strcpy(t.comm, comm);
	strcpy(t.process_comm, comm);
	return t;
}

static struct sw_process_entry *add(struct sw_processes *p, const struct sw_task *t, uint32_t key, uint64_t ns, int flags)
{
	struct sw_cpu_row row = {
		.key = key,
		.task = t,
		.first = flags & FIRST,
		.last = flags & LAST,
		.died = flags & LAST,
		.described = flags & DESCRIBED,
	};
	struct sw_process_entry *e = NULL;

	assert_int_equal(sw_processes_add(p, &row, ns, &e), 0);
	return e;
}

/* The leader exits first; the process goes on until its last thread ends, if that one sleeps all the while. */
static void leader_exits_first(void **state)
{
	struct sw_task leader = task(10, 10, "app"), worker = task(10, 11, "app");
	struct sw_process *rows;
	struct sw_processes p;
	size_t n;

	(void)state;
	assert_int_equal(sw_processes_init(&p, 64, 1), 0);
	sw_processes_next(&p);
	add(&p, &worker, 9, 70, FIRST);
	add(&p, &leader, 8, 5, FIRST | LAST);
	rows = sw_processes_window(&p, &nowhere, &n);
	assert_int_equal(n, 1);
	assert_int_equal(rows[0].host_pid, 10);
	assert_int_equal(rows[0].oncpu_ns, 75);
	assert_false(rows[0].exited);
	assert_int_equal(p.n_alive, 1);
	free(rows);
	sw_processes_next(&p);
	worker.process_ended = true;
	add(&p, &worker, 9, 30, LAST);
	rows = sw_processes_window(&p, &nowhere, &n);
	assert_int_equal(n, 1);
	assert_int_equal(rows[0].oncpu_ns, 30);
	assert_true(rows[0].exited);
	assert_int_equal(p.n_alive, 0);
	assert_int_equal(p.n_seen, 1);
	free(rows);
	rows = sw_processes_totals(&p, &nowhere, &n);
	assert_int_equal(rows[0].oncpu_ns, 105);
	free(rows);
	sw_processes_free(&p);
}

/* A pid that is used again is another process. */
static void pid_reuse(void **state)
{
	struct sw_task a = task(500, 500, "a"), b = task(500, 500, "b");
	struct sw_process *rows;
	struct sw_processes p;
	size_t n;

	(void)state;
	b.start_boottime_ns = b.leader_start_boottime_ns = 222;
	a.process_ended = true;
	assert_int_equal(sw_processes_init(&p, 64, 1), 0);
	sw_processes_next(&p);
	add(&p, &a, 8, 1000, FIRST | LAST);
	add(&p, &b, 8, 5, FIRST);
	rows = sw_processes_totals(&p, &nowhere, &n);
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].oncpu_ns, 1000);
	assert_string_equal(rows[0].comm, "a");
	assert_true(rows[0].exited);
	assert_int_equal(rows[1].oncpu_ns, 5);
	assert_false(rows[1].exited);
	free(rows);
	assert_int_equal(p.n_seen, 2);
	assert_int_equal(p.n_alive, 1);
	sw_processes_free(&p);
}

/* Exited processes beyond the bound live on in the totals by name. */
static void folding(void **state)
{
	struct sw_processes p;
	struct sw_comm *comms;
	size_t n;

	(void)state;
	assert_int_equal(sw_processes_init(&p, 64, 1), 0);
	for (int i = 0; i < 40000; i++) {
		struct sw_task t = task(100 + i, 100 + i, i & 1 ? "odd" : "even");

		t.process_ended = true;
		sw_processes_next(&p);
		sw_process_add_energy(add(&p, &t, 8, 10, FIRST | LAST), 3);
	}
	assert_true(HASH_COUNT(p.table) < 20000);
	assert_true(p.n_folded > 20000);
	comms = sw_processes_comms(&p, &n);
	assert_int_equal(n, 2);
	assert_string_equal(comms[0].comm, "even");
	assert_int_equal(comms[0].processes, 20000);
	assert_int_equal(comms[0].oncpu_ns, 200000);
	assert_int_equal(comms[1].nj, 60000);
	free(comms);
	assert_int_equal(p.n_seen, 40000);
	assert_int_equal(p.n_alive, 0);
	sw_processes_free(&p);
}

/* Where the ended ones are to be forgotten, neither they nor their names take memory; who lives is kept. */
static void forgetting(void **state)
{
	struct sw_task lives = task(50, 50, "lives");
	struct sw_process *rows;
	struct sw_processes p;
	size_t n;

	(void)state;
	assert_int_equal(sw_processes_init(&p, 64, 1), 0);
	p.forget_ended = true;
	sw_processes_next(&p);
	add(&p, &lives, 9, 7, FIRST);
	for (int i = 0; i < 40000; i++) {
		char name[16];
		struct sw_task t;

		snprintf(name, sizeof(name), "n%d", i);
		t = task(100 + i, 100 + i, name);
		t.process_ended = true;
		sw_processes_next(&p);
		add(&p, &t, 8, 10, FIRST | LAST);
		assert_true(HASH_COUNT(p.table) <= 1 + 257);
		rows = sw_processes_window(&p, &nowhere, &n);
		assert_int_equal(n, 1);
		assert_string_equal(rows[0].comm, name);
		free(rows);
	}
	assert_null(p.folded);
	assert_int_equal(p.n_folded + HASH_COUNT(p.table), 40001);
	assert_int_equal(p.n_seen, 40001);
	assert_int_equal(p.n_alive, 1);
	sw_processes_next(&p);
	add(&p, &lives, 9, 5, 0);
	rows = sw_processes_totals(&p, &nowhere, &n);
	assert_int_equal(n, HASH_COUNT(p.table));
	assert_string_equal(rows[0].comm, "lives");
	assert_int_equal(rows[0].oncpu_ns, 12);
	free(rows);
	sw_processes_free(&p);
}

/* Whom the caller's pid namespace does not see has no pid there. */
static void ids_twice(void **state)
{
	struct sw_task seen = task(5010, 5010, "in"), unseen = task(6000, 6000, "out");
	struct sw_process *rows;
	struct sw_processes p;
	size_t n;

	(void)state;
	seen.here.tgid = seen.here.tid = 10;
	seen.here.ppid = 1;
	seen.ppid = 5001;
	unseen.ppid = 2;
	assert_int_equal(sw_processes_init(&p, 64, 1), 0);
	sw_processes_next(&p);
	add(&p, &seen, 8, 20, FIRST);
	add(&p, &unseen, 9, 10, FIRST);
	rows = sw_processes_window(&p, &nowhere, &n);
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].pid, 10);
	assert_int_equal(rows[0].host_pid, 5010);
	assert_int_equal(rows[0].ppid, 1);
	assert_int_equal(rows[0].host_ppid, 5001);
	assert_int_equal(rows[1].pid, 0);
	assert_int_equal(rows[1].host_pid, 6000);
	assert_int_equal(rows[1].ppid, 0);
	assert_int_equal(rows[1].host_ppid, 2);
	free(rows);
	sw_processes_free(&p);
}

static const char *comm_of(const struct sw_processes *p, int tgid)
{
	struct sw_process_id id = {1000 + tgid, tgid};

	return sw_processes_find(p, &id)->comm;
}

/* What was described before the process changed its name does not give the old one back. */
static void names(void **state)
{
	struct sw_task leader = task(10, 10, "old"), worker = task(10, 11, "old");
	struct sw_processes p;

	(void)state;
	assert_int_equal(sw_processes_init(&p, 64, 1), 0);
	sw_processes_next(&p);
	add(&p, &leader, 8, 5, FIRST | DESCRIBED);
	add(&p, &worker, 9, 5, FIRST | DESCRIBED);
	strcpy(worker.comm, "pool-1"); /* a thread's own name is not its process's */
	sw_processes_next(&p);
	add(&p, &worker, 9, 5, DESCRIBED);
	assert_string_equal(comm_of(&p, 10), "old");
	strcpy(leader.comm, "new");
	strcpy(leader.process_comm, "new");
	sw_processes_next(&p);
	add(&p, &leader, 8, 5, DESCRIBED);
	add(&p, &worker, 9, 5, 0);
	assert_string_equal(comm_of(&p, 10), "new");
	sw_processes_next(&p);
	add(&p, &leader, 8, 5, 0);
	add(&p, &worker, 9, 5, DESCRIBED); /* in the same window the leader would know better; here it is the newest */
	assert_string_equal(comm_of(&p, 10), "old");
	sw_processes_next(&p);
	add(&p, &leader, 8, 5, DESCRIBED);
	add(&p, &worker, 9, 5, DESCRIBED);
	assert_string_equal(comm_of(&p, 10), "new");
	sw_processes_free(&p);
}

/* A thread calls exec: the old leader dies of it, and the thread is the leader from then on. */
static void the_leader_after_exec(void **state)
{
	struct sw_task leader = task(10, 10, "old"), heir = task(10, 10, "new");
	struct sw_processes p;

	(void)state;
	assert_int_equal(sw_processes_init(&p, 64, 1), 0);
	for (int order = 0; order < 2; order++) {
		sw_processes_next(&p);
		add(&p, &leader, 8, 5, FIRST | DESCRIBED);
		sw_processes_next(&p);
		if (order)
			add(&p, &heir, 9, 5, FIRST | DESCRIBED);
		add(&p, &leader, 8, 5, LAST | DESCRIBED);
		if (!order)
			add(&p, &heir, 9, 5, FIRST | DESCRIBED);
		assert_string_equal(comm_of(&p, 10), "new");
		add(&p, &heir, 9, 1, LAST);
	}
	sw_processes_free(&p);
}

/* Whichever thread is last tells how the process ended; an end that nobody saw has no status. */
static void exit_codes(void **state)
{
	struct sw_task leader = task(10, 10, "a"), worker = task(10, 11, "a"), unseen = task(20, 20, "b");
	struct sw_process *rows;
	struct sw_processes p;
	size_t n;

	(void)state;
	assert_int_equal(sw_processes_init(&p, 64, 1), 0);
	sw_processes_next(&p);
	leader.exit_known = true;
	leader.exit_code = 0x100;
	add(&p, &leader, 8, 5, FIRST | LAST);
	rows = sw_processes_window(&p, &nowhere, &n);
	assert_false(rows[0].exited);
	assert_false(rows[0].exit_known);
	free(rows);
	worker.exit_known = worker.process_ended = true;
	worker.exit_code = 0x700;
	unseen.process_ended = true;
	unseen.exit_code = 0x900;
	add(&p, &worker, 9, 3, FIRST | LAST);
	add(&p, &unseen, 9, 1, FIRST | LAST);
	rows = sw_processes_window(&p, &nowhere, &n);
	assert_int_equal(n, 2);
	assert_true(rows[0].exited && rows[0].exit_known);
	assert_int_equal(rows[0].exit_code, 0x700);
	assert_true(rows[1].exited);
	assert_false(rows[1].exit_known);
	assert_int_equal(rows[1].exit_code, 0);
	free(rows);
	sw_processes_free(&p);
}

/* A key that is one task's and then another's in one read belongs to each for its own row. */
static void a_key_twice_in_one_read(void **state)
{
	struct sw_task a = task(10, 10, "a"), b = task(11, 11, "b"), c = task(12, 12, "c");
	struct sw_process_entry *e[3];
	struct sw_processes p;

	(void)state;
	a.process_ended = b.process_ended = true;
	assert_int_equal(sw_processes_init(&p, 64, 1), 0);
	sw_processes_next(&p);
	add(&p, &a, 8, 1, FIRST);
	sw_processes_next(&p);
	e[0] = add(&p, &a, 8, 10, LAST);
	e[1] = add(&p, &b, 8, 20, FIRST | LAST);
	e[2] = add(&p, &c, 8, 30, FIRST);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(e[i]->id.pid, 10 + i);
		assert_int_equal(e[i]->tally.oncpu_ns, 10 * (i + 1));
		assert_int_equal(e[i]->keys, i == 2);
		assert_int_equal(e[i]->ended, i < 2);
	}
	sw_processes_next(&p);
	assert_ptr_equal(add(&p, &c, 8, 5, 0), e[2]);
	assert_ptr_equal(add(&p, &b, 8, 5, FIRST), e[1]); /* even without a last row */
	assert_int_equal(e[2]->keys, 0);
	sw_processes_free(&p);
}

static void told(struct tree *t, int pid, uint64_t start_ns, const char *cmdline)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "%d/cmdline", pid);
	tree_write_bytes(t, path, cmdline, strlen(cmdline) + 1);
	snprintf(path, sizeof(path), "%d/stat", pid);
	snprintf(text, sizeof(text), "%d (x) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 %llu 0 0\n", pid,
		 (unsigned long long)(start_ns / (1000000000 / sysconf(_SC_CLK_TCK))));
	tree_write(t, path, text);
}

static const struct sw_process_entry *after_reading(struct sw_processes *p, struct tree *t, int tgid, uint64_t start_ns)
{
	struct sw_process_id id = {start_ns, tgid};

	sw_processes_read_cmdlines(p, t->fd);
	return sw_processes_find(p, &id);
}

/* Read when a process first has time, and again after an exec; not at other times. */
static void cmdlines(void **state)
{
	const uint64_t start_ns = 5000000000;
	struct sw_task leader = task(900, 900, "x"), worker = task(900, 901, "x");
	struct tree *t = *state;
	const struct sw_process_entry *e;
	struct sw_processes p;

	leader.start_boottime_ns = leader.leader_start_boottime_ns = worker.leader_start_boottime_ns = start_ns;
	leader.here.tgid = worker.here.tgid = 42;
	told(t, 42, start_ns, "one");
	assert_int_equal(sw_processes_init(&p, 64, 1), 0);
	sw_processes_next(&p);
	add(&p, &worker, 9, 0, FIRST | DESCRIBED);
	e = after_reading(&p, t, 900, start_ns);
	assert_null(e->cmdline); /* no time yet */
	sw_processes_next(&p);
	add(&p, &worker, 9, 5, 0);
	e = after_reading(&p, t, 900, start_ns);
	assert_string_equal(e->cmdline, "one");
	assert_true(e->cmdline_new);

	told(t, 42, start_ns, "two");
	sw_processes_next(&p);
	add(&p, &worker, 9, 5, DESCRIBED);
	e = after_reading(&p, t, 900, start_ns);
	assert_string_equal(e->cmdline, "one"); /* nobody told of an exec */
	assert_false(e->cmdline_new);

	told(t, 42, start_ns, "one");
	sw_processes_next(&p);
	leader.execs = 7;
	add(&p, &leader, 8, 5, FIRST | DESCRIBED);
	e = after_reading(&p, t, 900, start_ns);
	assert_string_equal(e->cmdline, "one");
	assert_false(e->cmdline_new); /* the same */

	told(t, 42, start_ns, "three");
	sw_processes_next(&p);
	leader.execs = 8;
	add(&p, &leader, 8, 5, 0); /* an old description */
	e = after_reading(&p, t, 900, start_ns);
	assert_string_equal(e->cmdline, "one");
	sw_processes_next(&p);
	add(&p, &leader, 8, 5, DESCRIBED);
	e = after_reading(&p, t, 900, start_ns);
	assert_string_equal(e->cmdline, "three");
	assert_true(e->cmdline_new);
	sw_processes_next(&p);
	add(&p, &leader, 8, 5, DESCRIBED);
	e = after_reading(&p, t, 900, start_ns);
	assert_false(e->cmdline_new);

	/* an exec and the end in one window: what is known is of before */
	sw_processes_next(&p);
	leader.execs = 9;
	leader.process_ended = true;
	add(&p, &leader, 8, 5, LAST | DESCRIBED);
	e = after_reading(&p, t, 900, start_ns);
	assert_null(e->cmdline);
	sw_processes_free(&p);
}

/* Kernel threads, ended ones and those that are not to be seen have none; who ends keeps what was read. */
static void who_has_no_cmdline(void **state)
{
	const uint64_t start_ns = 5000000000;
	struct sw_task t[4];
	struct tree *tree = *state;
	struct sw_processes p;

	assert_int_equal(sw_processes_init(&p, 64, 1), 0);
	sw_processes_next(&p);
	for (int i = 0; i < 4; i++) {
		t[i] = task(100 + i, 100 + i, "x");
		t[i].start_boottime_ns = t[i].leader_start_boottime_ns = start_ns;
		t[i].here.tgid = 100 + i;
		told(tree, 100 + i, start_ns, "text");
	}
	t[0].kernel_thread = true;
	t[1].process_ended = true;
	t[2].here.tgid = 0;
	for (int i = 0; i < 4; i++)
		add(&p, &t[i], i, 5, FIRST | DESCRIBED | (i == 1 ? LAST : 0));
	assert_null(after_reading(&p, tree, 100, start_ns)->cmdline);
	assert_null(after_reading(&p, tree, 101, start_ns)->cmdline);
	assert_null(after_reading(&p, tree, 102, start_ns)->cmdline);
	assert_string_equal(after_reading(&p, tree, 103, start_ns)->cmdline, "text");
	sw_processes_next(&p);
	t[3].process_ended = true;
	add(&p, &t[3], 3, 5, LAST | DESCRIBED);
	assert_string_equal(after_reading(&p, tree, 103, start_ns)->cmdline, "text");
	sw_processes_free(&p);
}

/* Outside the target a known process may end, and none becomes known. */
static void outside(void **state)
{
	struct sw_task mover = task(10, 10, "m"), stranger = task(11, 11, "s");
	struct sw_cpu_row row = {.key = 9, .task = &mover, .first = true};
	struct sw_process *rows;
	struct sw_processes p;
	size_t n;

	(void)state;
	assert_int_equal(sw_processes_init(&p, 64, 1), 0);
	sw_processes_next(&p);
	add(&p, &mover, 8, 50, FIRST);
	sw_processes_next(&p);
	sw_processes_add_outside(&p, &row);
	row.task = &stranger;
	row.key = 10;
	sw_processes_add_outside(&p, &row);
	assert_null(sw_processes_window(&p, &nowhere, &n));
	assert_int_equal(n, 0);
	assert_int_equal(HASH_COUNT(p.table), 1);
	mover.process_ended = mover.exit_known = true;
	row = (struct sw_cpu_row){.key = 9, .task = &mover, .last = true, .died = true};
	sw_processes_add_outside(&p, &row);
	rows = sw_processes_totals(&p, &nowhere, &n);
	assert_int_equal(n, 1);
	assert_int_equal(rows[0].oncpu_ns, 50);
	assert_true(rows[0].exited && rows[0].exit_known);
	assert_int_equal(p.n_alive, 0);
	free(rows);
	sw_processes_free(&p);
}

/* Where a process last ran: a place that is new in the window is later than one that it had before. */
static void last_cgroup(void **state)
{
	const struct sw_cgroup_info infos[] = {{1, 0, ""}, {2, 1, "a"}, {3, 1, "b"}};
	struct sw_task t = task(10, 10, "x");
	struct sw_cpu_row in_a = {.key = 8, .first = true, .cgroup_id = 2, .task = &t};
	struct sw_cpu_row in_b = {.key = 9, .first = true, .cgroup_id = 3, .task = &t};
	struct sw_process_entry *e;
	struct sw_cgroups g = {0};
	struct sw_process *rows;
	struct sw_processes p;
	size_t n;

	(void)state;
	assert_int_equal(sw_cgroups_init(&g, NULL, NULL, 0), 0);
	assert_int_equal(sw_cgroups_learn(&g, infos, 3), 0);
	assert_int_equal(sw_processes_init(&p, 64, 1), 0);
	sw_processes_next(&p);
	assert_int_equal(sw_processes_add(&p, &in_a, 7, &e), 0);
	assert_int_equal(e->cgroup_id, 2);
	sw_processes_next(&p);
	in_a.first = false;
	assert_int_equal(sw_processes_add(&p, &in_b, 1, &e), 0);
	assert_int_equal(sw_processes_add(&p, &in_a, 9, &e), 0);
	rows = sw_processes_window(&p, &g, &n);
	assert_string_equal(rows[0].cgroup, "/b");
	free(rows);
	sw_processes_next(&p);
	in_b.first = false;
	assert_int_equal(sw_processes_add(&p, &in_a, 9, &e), 0);
	assert_int_equal(sw_processes_add(&p, &in_b, 3, &e), 0);
	rows = sw_processes_totals(&p, &g, &n);
	assert_string_equal(rows[0].cgroup, "/a");
	sw_processes_free(&p);
	sw_cgroups_free(&g);
	assert_string_equal(rows[0].cgroup, "/a"); /* totals are their own */
	assert_string_equal(rows[0].comm, "x");
	assert_int_equal(rows[0].oncpu_by_domain_ns[0], 29);
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leader_exits_first),
		cmocka_unit_test(pid_reuse),
		cmocka_unit_test(folding),
		cmocka_unit_test(forgetting),
		cmocka_unit_test(ids_twice),
		cmocka_unit_test(names),
		cmocka_unit_test(the_leader_after_exec),
		cmocka_unit_test(exit_codes),
		cmocka_unit_test(a_key_twice_in_one_read),
		cmocka_unit_test_setup_teardown(cmdlines, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(who_has_no_cmdline, tree_setup, tree_teardown),
		cmocka_unit_test(outside),
		cmocka_unit_test(last_cgroup),
	};

	return cmocka_run_group_tests_name("processes", tests, NULL, NULL);
}

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
	struct sw_cpu_row row = {.key = key, .task = t, .first = flags & 1, .last = flags & 2, .died = flags & 2};
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
	add(&p, &worker, 9, 70, 1);
	add(&p, &leader, 8, 5, 3);
	rows = sw_processes_window(&p, &nowhere, &n);
	assert_int_equal(n, 1);
	assert_int_equal(rows[0].host_pid, 10);
	assert_int_equal(rows[0].oncpu_ns, 75);
	assert_false(rows[0].exited);
	assert_int_equal(p.n_alive, 1);
	free(rows);
	sw_processes_next(&p);
	worker.process_ended = true;
	add(&p, &worker, 9, 30, 2);
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
	add(&p, &a, 8, 1000, 3);
	add(&p, &b, 8, 5, 1);
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
		sw_process_add_energy(add(&p, &t, 8, 10, 3), 3);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leader_exits_first),
		cmocka_unit_test(pid_reuse),
		cmocka_unit_test(folding),
	};

	return cmocka_run_group_tests_name("processes", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows from cumulative numbers, and processes from windows. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/processes.h"
#include "core/window.h"

static const struct sw_energy_point nowhen;

static struct sw_task task(int tgid, int tid, const char *comm)
{
	struct sw_task t = {
		.start_boottime_ns = 1000 + tid, .leader_start_boottime_ns = 1000 + tgid, .tgid = tgid, .tid = tid, .ppid = 1};

	strcpy(t.comm, comm);
	strcpy(t.process_comm, comm);
	return t;
}

static void rows_are_subtracted(void **state)
{
	struct sw_task a = task(10, 10, "a"), b = task(11, 11, "b");
	struct sw_cpu_domain domain = {.idle_ns = 500, .span_ns = 0};
	struct sw_cpu_row rows[2] = {{.key = 8, .first = true, .oncpu_ns = 100, .task = &a}};
	struct sw_cpu_usage usage = {.t_ns = 1000, .rows = rows, .n_rows = 1, .domains = &domain};
	const struct sw_window *w = NULL;
	struct sw_windows windows;

	(void)state;
	assert_int_equal(sw_windows_init(&windows, 64, 1, 0), 0);
	assert_int_equal(sw_windows_add(&windows, &usage, NULL, &nowhen, NULL, &w), 0);
	rows[0] = (struct sw_cpu_row){.key = 8, .last = true, .died = true, .oncpu_ns = 160, .task = &a};
	rows[1] = (struct sw_cpu_row){.key = 9, .first = true, .oncpu_ns = 30, .task = &b};
	usage.n_rows = 2;
	usage.t_ns = 3000;
	domain.idle_ns = 2410;
	usage.late = 1;
	assert_int_equal(sw_windows_add(&windows, &usage, NULL, &nowhen, NULL, &w), 1);
	assert_int_equal(w->t1_ns - w->t0_ns, 2000);
	assert_int_equal(w->rows[0].oncpu_ns, 60);
	assert_int_equal(w->rows[1].oncpu_ns, 30);
	assert_int_equal(w->domains[0].idle_ns, 1910);
	assert_true(w->late);
	/* the key is another's now: what it held before is over */
	rows[0] = (struct sw_cpu_row){.key = 8, .first = true, .oncpu_ns = 5, .task = &b};
	usage.n_rows = 1;
	usage.t_ns = 4000;
	assert_int_equal(sw_windows_add(&windows, &usage, NULL, &nowhen, NULL, &w), 1);
	assert_int_equal(w->rows[0].oncpu_ns, 5);
	assert_false(w->late);
	sw_windows_free(&windows);
}

static void a_fall_is_an_error(void **state)
{
	struct sw_task a = task(10, 10, "a");
	struct sw_cpu_domain domain = {0};
	struct sw_cpu_row row = {.key = 8, .first = true, .oncpu_ns = 100, .task = &a};
	struct sw_cpu_usage usage = {.t_ns = 1000, .rows = &row, .n_rows = 1, .domains = &domain};
	const struct sw_window *w = NULL;
	struct sw_error error = {""};
	struct sw_windows windows;

	(void)state;
	assert_int_equal(sw_windows_init(&windows, 64, 1, 0), 0);
	assert_int_equal(sw_windows_add(&windows, &usage, NULL, &nowhen, &error, &w), 0);
	row.first = false;
	row.oncpu_ns = 99;
	assert_int_equal(sw_windows_add(&windows, &usage, NULL, &nowhen, &error, &w), -EBADMSG);
	assert_non_null(strstr(error.text, "task 10 fell by 1 ns"));
	sw_windows_free(&windows);
}

/* A zone has energy in a window when it was readable at both ends and its sum went on between. */
static void zones(void **state)
{
	struct sw_cpu_domain domain = {0};
	struct sw_cpu_usage usage = {.t_ns = 1000, .domains = &domain};
	struct sw_zone_point z[3] = {{100, 0, true}, {200, 0, true}, {0, 0, false}};
	struct sw_energy_point point = {.begin_ns = 1010, .end_ns = 1030, .wake_ns = 1000};
	const struct sw_window *w = NULL;
	struct sw_windows windows;

	(void)state;
	assert_int_equal(sw_windows_init(&windows, 64, 1, 3), 0);
	assert_int_equal(sw_windows_add(&windows, &usage, z, &point, NULL, &w), 0);
	z[0].sum_nj = 350;
	z[1].breaks = 1;
	z[2].readable = true;
	point = (struct sw_energy_point){.begin_ns = 2005, .end_ns = 2012, .wake_ns = 2000};
	assert_int_equal(sw_windows_add(&windows, &usage, z, &point, NULL, &w), 1);
	assert_int_equal(w->zone_nj[0], 250);
	assert_true(w->zone_nj[1] == INT64_MIN);
	assert_true(w->zone_nj[2] == INT64_MIN);
	assert_int_equal(w->blur_ns, 30 + 12);
	assert_false(w->slept);
	z[1].sum_nj = 260;
	z[2].sum_nj = 9;
	point.asleep_ns = 3600000000000;
	assert_int_equal(sw_windows_add(&windows, &usage, z, &point, NULL, &w), 1);
	assert_int_equal(w->zone_nj[1], 60);
	assert_int_equal(w->zone_nj[2], 9);
	assert_true(w->slept);
	sw_windows_free(&windows);
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
	rows = sw_processes_window(&p, &n);
	assert_int_equal(n, 1);
	assert_int_equal(rows[0].pid, 10);
	assert_int_equal(rows[0].oncpu_ns, 75);
	assert_false(rows[0].exited);
	assert_int_equal(p.n_alive, 1);
	free(rows);
	sw_processes_next(&p);
	worker.process_ended = true;
	add(&p, &worker, 9, 30, 2);
	rows = sw_processes_window(&p, &n);
	assert_int_equal(n, 1);
	assert_int_equal(rows[0].oncpu_ns, 30);
	assert_true(rows[0].exited);
	assert_int_equal(p.n_alive, 0);
	assert_int_equal(p.n_seen, 1);
	free(rows);
	rows = sw_processes_totals(&p, &n);
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
	rows = sw_processes_totals(&p, &n);
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
		cmocka_unit_test(rows_are_subtracted), cmocka_unit_test(a_fall_is_an_error),
		cmocka_unit_test(zones),	       cmocka_unit_test(leader_exits_first),
		cmocka_unit_test(pid_reuse),	       cmocka_unit_test(folding),
	};

	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows from cumulative numbers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

/* Rows are taken in order: a key may end and be another's in the same read, and again. */
static void a_key_twice_in_one_read(void **state)
{
	struct sw_task a = task(10, 10, "a"), b = task(11, 11, "b"), c = task(12, 12, "c");
	struct sw_cpu_domain domain = {0};
	struct sw_cpu_row rows[3] = {{.key = 8, .first = true, .oncpu_ns = 100, .task = &a}};
	struct sw_cpu_usage usage = {.t_ns = 1000, .rows = rows, .n_rows = 1, .domains = &domain};
	const struct sw_window *w = NULL;
	struct sw_windows windows;

	(void)state;
	assert_int_equal(sw_windows_init(&windows, 64, 1, 0), 0);
	assert_int_equal(sw_windows_add(&windows, &usage, NULL, &nowhen, NULL, &w), 0);
	rows[0] = (struct sw_cpu_row){.key = 8, .last = true, .died = true, .oncpu_ns = 160, .task = &a};
	rows[1] = (struct sw_cpu_row){.key = 8, .first = true, .last = true, .died = true, .oncpu_ns = 30, .task = &b};
	rows[2] = (struct sw_cpu_row){.key = 8, .first = true, .oncpu_ns = 7, .task = &c};
	usage.n_rows = 3;
	usage.t_ns = 3000;
	assert_int_equal(sw_windows_add(&windows, &usage, NULL, &nowhen, NULL, &w), 1);
	assert_int_equal(w->rows[0].oncpu_ns, 60);
	assert_int_equal(w->rows[1].oncpu_ns, 30);
	assert_int_equal(w->rows[2].oncpu_ns, 7);
	rows[0] = (struct sw_cpu_row){.key = 8, .oncpu_ns = 9, .task = &c};
	usage.n_rows = 1;
	assert_int_equal(sw_windows_add(&windows, &usage, NULL, &nowhen, NULL, &w), 1);
	assert_int_equal(w->rows[0].oncpu_ns, 2);
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
	struct sw_zone_point z[3] = {{100, 0, true, -1}, {200, 0, true, -1}, {0, 0, false, 0}};
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
	assert_int_equal(w->read_late_ns, 10 + 5);
	assert_int_equal(w->read_bracket_ns, 20 + 7);
	assert_int_equal(w->read_ns, 2008 - 1020);
	assert_int_equal(w->mirror_of[1], -1);
	assert_int_equal(w->mirror_of[2], 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_subtracted),
		cmocka_unit_test(a_key_twice_in_one_read),
		cmocka_unit_test(a_fall_is_an_error),
		cmocka_unit_test(zones),
	};

	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}

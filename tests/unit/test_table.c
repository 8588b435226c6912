/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows in columns: values and their presence, growth, the bound and what it drops, handing over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/table.h"

enum { C_I, C_U, C_F, C_T, COLUMNS, ROW_BYTES = 3 * 9 + 17 };

static const struct sw_column_spec specs[COLUMNS] = {
	[C_I] = {"i", SW_TYPE_I64, 8},
	[C_U] = {"u", SW_TYPE_U64, 8},
	[C_F] = {"f", SW_TYPE_F64, 8},
	[C_T] = {"t", SW_TYPE_TEXT, 16},
};

static void add(struct sw_table *t, int64_t i)
{
	int64_t row = sw_table_add(t);

	assert_true(row >= 0);
	assert_int_equal(row, t->n_rows - 1);
	sw_table_set_i64(t, C_I, row, i);
	if (i % 2)
		sw_table_set_u64(t, C_U, row, UINT64_MAX - i);
	sw_table_set_f64(t, C_F, row, i / 2.0);
	if (i % 3)
		sw_table_set_text(t, C_T, row, "sixteen bytes and more");
}

/* Rows are those of first, first + 1, … */
static void check(const struct sw_data_table *d, int64_t first, size_t n, uint64_t dropped)
{
	const int64_t *is = d->columns[C_I].values;
	const uint64_t *us = d->columns[C_U].values;
	const double *fs = d->columns[C_F].values;
	const char(*ts)[16] = d->columns[C_T].values;

	assert_int_equal(d->n_rows, n);
	assert_int_equal(d->n_columns, COLUMNS);
	assert_int_equal(d->dropped, dropped);
	for (size_t k = 0; k < n; k++) {
		int64_t i = first + (int64_t)k;

		assert_true(is[k] == i && d->columns[C_I].present[k] == 1);
		assert_int_equal(d->columns[C_U].present[k], i % 2);
		assert_true(us[k] == (i % 2 ? UINT64_MAX - i : 0));
		assert_true(fs[k] == i / 2.0 && d->columns[C_F].present[k] == 1);
		assert_int_equal(d->columns[C_T].present[k], i % 3 != 0);
		assert_memory_equal(ts[k], i % 3 ? "sixteen bytes a\0" : "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	}
}

static void columns_are_described(void **state)
{
	struct sw_table t;
	struct sw_data_table d;

	(void)state;
	assert_int_equal(sw_table_init(&t, specs, COLUMNS, 0), 0);
	sw_table_view(&t, &d);
	check(&d, 0, 0, 0);
	assert_null(d.columns[C_I].values);
	assert_string_equal(d.columns[C_F].name, "f");
	assert_int_equal(d.columns[C_F].type, SW_TYPE_F64);
	assert_int_equal(d.columns[C_U].value_bytes, 8);
	assert_int_equal(d.columns[C_T].value_bytes, 16);
	sw_table_free(&t);
	sw_table_free(&t); /* a freed one is a zeroed one */
}

static void rows_that_grow(void **state)
{
	struct sw_table t;
	struct sw_data_table d;

	(void)state;
	assert_int_equal(sw_table_init(&t, specs, COLUMNS, 0), 0);
	for (int i = 0; i < 1000; i++)
		add(&t, i);
	sw_table_view(&t, &d);
	check(&d, 0, 1000, 0);
	sw_table_clear(&t);
	for (int i = 7; i < 10; i++) /* where others were: nothing is left of them */
		add(&t, i);
	sw_table_view(&t, &d);
	check(&d, 7, 3, 0);
	sw_table_free(&t);
}

static void the_oldest_go(void **state)
{
	struct sw_table t;
	struct sw_data_table d;

	(void)state;
	assert_int_equal(sw_table_init(&t, specs, COLUMNS, 80 * ROW_BYTES + 5), 0);
	for (int i = 0; i < 80; i++)
		add(&t, i);
	sw_table_view(&t, &d);
	check(&d, 0, 80, 0);
	add(&t, 80); /* ten at once */
	sw_table_view(&t, &d);
	check(&d, 10, 71, 10);
	for (int i = 81; i < 1000; i++) {
		add(&t, i);
		assert_true(t.n_rows > 70 && t.n_rows <= 80 && t.capacity == 80);
		assert_int_equal(t.dropped + t.n_rows, i + 1);
	}
	sw_table_view(&t, &d);
	check(&d, (int64_t)t.dropped, 1000 - t.dropped, t.dropped);
	sw_table_free(&t);

	assert_int_equal(sw_table_init(&t, specs, COLUMNS, 1), 0); /* one fits in any case */
	for (int i = 0; i < 5; i++)
		add(&t, i);
	sw_table_view(&t, &d);
	check(&d, 4, 1, 4);
	sw_table_free(&t);
}

static void appending(void **state)
{
	struct sw_table t, from;
	struct sw_data_table d;

	(void)state;
	assert_int_equal(sw_table_init(&t, specs, COLUMNS, 100 * ROW_BYTES), 0);
	assert_int_equal(sw_table_init(&from, specs, COLUMNS, 0), 0);
	assert_int_equal(sw_table_append(&t, &from), 0); /* nothing to nothing */
	for (int i = 0; i < 60; i++)
		add(&from, i);
	assert_int_equal(sw_table_append(&t, &from), 0);
	sw_table_clear(&from);
	for (int i = 60; i < 150; i++)
		add(&from, i);
	assert_int_equal(sw_table_append(&t, &from), 0);
	sw_table_view(&t, &d);
	check(&d, 50, 100, 50);
	sw_table_clear(&from);
	for (int i = 150; i < 400; i++) /* more than there is room for */
		add(&from, i);
	assert_int_equal(sw_table_append(&t, &from), 0);
	sw_table_view(&t, &d);
	check(&d, 300, 100, 300);
	sw_table_free(&from);
	sw_table_free(&t);
}

static void handing_over(void **state)
{
	struct sw_table t, empty;
	struct sw_data_table first, second;
	const void *values;

	(void)state;
	assert_int_equal(sw_table_init(&t, specs, COLUMNS, 80 * ROW_BYTES), 0);
	for (int i = 0; i < 81; i++)
		add(&t, i);
	values = t.cells[C_I].any;
	assert_int_equal(sw_table_like(&t, &empty), 0);
	sw_table_take(&t, &empty, &first);
	assert_ptr_equal(first.columns[C_I].values, values); /* no copy */
	for (int i = 81; i < 162; i++)
		add(&t, i);
	assert_int_equal(sw_table_like(&t, &empty), 0);
	sw_table_take(&t, &empty, &second);
	sw_table_free(&t);
	check(&first, 10, 71, 10);
	check(&second, 91, 71, 10); /* under the same bound, counted anew */
	sw_data_table_free(&first);
	sw_data_table_free(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_described),
		cmocka_unit_test(rows_that_grow),
		cmocka_unit_test(the_oldest_go),
		cmocka_unit_test(appending),
		cmocka_unit_test(handing_over),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}

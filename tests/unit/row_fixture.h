/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows with columns for the tests of the sinks: awkward names, the greatest numbers, values that are absent. */
#ifndef SW_TESTS_ROW_FIXTURE_H
#define SW_TESTS_ROW_FIXTURE_H

#include <math.h>
#include <string.h>

#include "cli/sink.h"

enum { ROWS = 5, COLUMNS_MAX = 8, COMM_BYTES = 64 };

/* What the library adds behind the chosen columns, in its order. */
static const struct sw_column row_t_ns = { "t_ns", "ns", "", SW_TYPE_U64, 3, SW_COLUMN_ACCOUNTED };

struct row_table {
	struct sw_data_table table;
	struct sw_data_column columns[COLUMNS_MAX];
	const struct sw_column *chosen[COLUMNS_MAX];
	const char *names[COLUMNS_MAX];
	struct column_list list;
};

static const uint8_t row_all[ROWS] = { 1, 1, 1, 1, 1 };
static const uint8_t row_some[ROWS] = { 1, 0, 1, 0, 1 };
static const char row_comms[ROWS][COMM_BYTES] = { "com,ma", "q\"u", "=1+1", "two\r\nlines", "caf\xc3\xa9\xff\x1b[31m" };
static const char row_empty[ROWS][COMM_BYTES];
static const int64_t row_times[ROWS] = { 1700000000000001, INT64_MAX, INT64_MIN, 0, 1700000000000005 };
static const int64_t row_pids[ROWS] = { 4242, 1, 2, 3, 2147483647 };
static const int64_t row_tids[ROWS] = { 4243, 1, 2, 3, 5 };
static const uint64_t row_signal[ROWS] = { UINT64_MAX, UINT64_MAX - 1, 0, 1, UINT64_C(9007199254740993) };
static const uint64_t row_start[ROWS] = { 77, 78, 79, 80, UINT64_MAX };
static const double row_joules[ROWS] = { 1.234567891, 7, 0.000000001, 7, 123456.5 };
static const double row_usage[ROWS] = { NAN, INFINITY, 99.95, -INFINITY, 0 };

static inline const struct sw_column *row_column(const char *name)
{
	size_t n;
	const struct sw_column *all = sw_columns(&n);

	if (!strcmp(name, "t_ns"))
		return &row_t_ns;
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(all[i].name, name))
			return &all[i];
	}
	return NULL;
}

static inline void row_add(struct row_table *t, const char *name, const void *values, const uint8_t *present, bool chosen)
{
	const struct sw_column *column = row_column(name);
	size_t i = t->table.n_columns++;

	t->columns[i] = (struct sw_data_column){
		.name = column->name,
		.type = column->type,
		.value_bytes = column->type == SW_TYPE_TEXT ? COMM_BYTES : 8,
		.values = values,
		.present = present,
	};
	t->table.columns = t->columns;
	if (!chosen)
		return;
	t->chosen[i] = column;
	t->names[i] = column->name;
	t->list = (struct column_list){ .columns = t->chosen, .names = t->names, .n = i + 1 };
}

/* time, comm, signal, cpuUsage, joules; and, not chosen, the ids. */
static inline void row_processes(struct row_table *t, const uint8_t *present)
{
	*t = (struct row_table){ .table.n_rows = ROWS };
	row_add(t, "time", row_times, present, true);
	row_add(t, "comm", row_comms, present, true);
	row_add(t, "signal", row_signal, present, true);
	row_add(t, "cpuUsage", row_usage, present, true);
	row_add(t, "joules", row_joules, present, true);
	row_add(t, "t_ns", row_start, row_all, false);
	row_add(t, "pid", row_pids, row_all, false);
	row_add(t, "starttime", row_start, row_all, false);
}

/* Of threads, where the id was asked for, behind another. */
static inline void row_threads(struct row_table *t)
{
	*t = (struct row_table){ .table.n_rows = 1 };
	row_add(t, "oncpu_ns", row_signal, row_all, true);
	row_add(t, "tid", row_tids, row_all, true);
	row_add(t, "t_ns", row_start, row_all, false);
	row_add(t, "pid", row_pids, row_all, false);
	row_add(t, "starttime", row_start, row_all, false);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the table of columns, and finding columns by name. Must not know: how any is read, or by whom it is shown.
 * Source: proc_pid_stat(5) and proc_pid_statm(5) for what fields mean.
 */
#include "columns.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "../base/nearest.h"

enum { BOTH = SW_COLUMN_OF_PROCESS | SW_COLUMN_OF_THREAD };

#define IS_FROM_TO(number, first, last) ((number) >= (first) && (number) <= (last))

/* By the number of the field in stat. What is an id, a count, a set of bits or obsolete is a mere number. */
#define STAT_UNIT(number)                                                                             \
	(IS_FROM_TO(number, 14, 17) || (number) == 22 || IS_FROM_TO(number, 42, 44) ? "ticks"         \
	 : (number) == 23 || (number) == 25 ? "bytes"                                                 \
	 : (number) == 24 || (number) == 36 || (number) == 37 ? "pages"                               \
	 : IS_FROM_TO(number, 26, 30) || (number) == 35 || IS_FROM_TO(number, 45, 51) ? "address"     \
										      : "number")

/* In the order of the columns' indices. */
static const struct sw_column columns[] = {
	{ "time", "us", "schedwatt", SW_TYPE_I64, BOTH, SW_COLUMN_READ },
	{ "pid", "number", "proc_pid(5)", SW_TYPE_I64, BOTH, SW_COLUMN_READ },
	{ "tid", "number", "proc_pid_task(5)", SW_TYPE_I64, BOTH, SW_COLUMN_READ },
	{ "comm", "none", "proc_pid_stat(5) field 2", SW_TYPE_TEXT, BOTH, SW_COLUMN_READ },
	{ "state", "none", "proc_pid_stat(5) field 3", SW_TYPE_TEXT, BOTH, SW_COLUMN_READ },
#define X(number, name, type)                                                                              \
	{ #name, STAT_UNIT(number), "proc_pid_stat(5) field " #number,                                     \
	  _Generic((type)0, int64_t: SW_TYPE_I64, uint64_t: SW_TYPE_U64), BOTH, SW_COLUMN_READ },
	SW_PROC_STAT_FIELDS(X)
#undef X
#define X(name, member) { #name, "pages", "proc_pid_statm(5)", SW_TYPE_U64, SW_COLUMN_OF_PROCESS, SW_COLUMN_READ },
	SW_STATM_COLUMNS(X)
#undef X
	{ "cpuUsage", "%", "schedwatt", SW_TYPE_F64, BOTH, SW_COLUMN_DERIVED },
	{ "memUsage", "ratio", "schedwatt", SW_TYPE_F64, BOTH, SW_COLUMN_DERIVED },
	{ "oncpu_ns", "ns", "schedwatt", SW_TYPE_U64, BOTH, SW_COLUMN_ACCOUNTED },
	{ "joules", "J", "schedwatt", SW_TYPE_F64, BOTH, SW_COLUMN_ACCOUNTED },
	{ "watts", "W", "schedwatt", SW_TYPE_F64, BOTH, SW_COLUMN_ACCOUNTED },
};

_Static_assert(sizeof(columns) / sizeof(columns[0]) == SW_COLUMNS_N, "a column for each index");

static const struct sw_query standard_process = {
	.kind = SW_COLUMN_OF_PROCESS,
	.n = 8,
	.column = { SW_COL_time, SW_COL_pid, SW_COL_ppid, SW_COL_comm, SW_COL_state, SW_COL_oncpu_ns, SW_COL_joules,
		    SW_COL_watts },
};

static const struct sw_query standard_thread = {
	.kind = SW_COLUMN_OF_THREAD,
	.n = 7,
	.column = { SW_COL_time, SW_COL_pid, SW_COL_tid, SW_COL_comm, SW_COL_state, SW_COL_oncpu_ns, SW_COL_joules },
};

const struct sw_column *sw_columns(size_t *n)
{
	*n = SW_COLUMNS_N;
	return columns;
}

/* Of the columns that this kind of row has; the first of those that are equally near. */
static const char *nearest(uint32_t kind, const char *name, size_t length)
{
	size_t best = SIZE_MAX, distance;
	const char *found = NULL;

	for (unsigned c = 0; c < SW_COLUMNS_N; c++) {
		if (!(columns[c].kinds & kind))
			continue;
		distance = sw_edit_distance(name, length, columns[c].name);
		if (distance < best) {
			best = distance;
			found = columns[c].name;
		}
	}
	return found;
}

static int find(const char *name, size_t length)
{
	for (int c = 0; c < SW_COLUMNS_N; c++) {
		if (strlen(columns[c].name) == length && !memcmp(columns[c].name, name, length))
			return c;
	}
	return -1;
}

static int add(struct sw_query *q, const char *name, size_t length, struct sw_error *e)
{
	int shown = length < SW_NEAREST_MAX ? (int)length : SW_NEAREST_MAX;
	int c = find(name, length);

	if (!length)
		return sw_fail(e, -EINVAL, "the name of a column is empty; write NAME[,NAME...], and `schedwatt "
			       "columns` lists all");
	if (c < 0)
		return sw_fail(e, -EINVAL, "column '%.*s' is not known; the nearest is '%s', and `schedwatt columns` "
			       "lists all", shown, name, nearest(q->kind, name, length));
	if (!(columns[c].kinds & q->kind))
		return sw_fail(e, -EINVAL, "column '%s' is there for %s only, not for %s", columns[c].name,
			       q->kind == SW_COLUMN_OF_THREAD ? "processes" : "threads",
			       q->kind == SW_COLUMN_OF_THREAD ? "threads" : "processes");
	for (unsigned i = 0; i < q->n; i++) {
		if (q->column[i] == c)
			return sw_fail(e, -EINVAL, "column '%s' is asked for twice; name it once", columns[c].name);
	}
	q->column[q->n++] = (uint8_t)c;
	return 0;
}

static void standard(uint32_t kind, struct sw_query *ret)
{
	*ret = kind == SW_COLUMN_OF_THREAD ? standard_thread : standard_process;
}

int sw_query_from_names(uint32_t kind, const char *const *names, size_t n, struct sw_query *ret, struct sw_error *e)
{
	struct sw_query q = { .kind = kind };
	int err = 0;

	if (!n) {
		standard(kind, ret);
		return 0;
	}
	for (size_t i = 0; i < n && !err; i++) {
		const char *name = names && names[i] ? names[i] : "";

		err = add(&q, name, strlen(name), e);
	}
	if (!err)
		*ret = q;
	return err;
}

int sw_query_from_list(uint32_t kind, const char *list, struct sw_query *ret, struct sw_error *e)
{
	struct sw_query q = { .kind = kind };
	size_t length;
	int err;

	if (!list) {
		standard(kind, ret);
		return 0;
	}
	for (;;) {
		length = strcspn(list, ",");
		err = add(&q, list, length, e);
		if (err)
			return err;
		if (!list[length])
			break;
		list += length + 1;
	}
	*ret = q;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* A row of columns, and filling it from what was read. Pure: nothing is read or kept here. */
#ifndef SW_COUNTERS_ROW_H
#define SW_COUNTERS_ROW_H

#include "columns.h"

#include <stdbool.h>
#include <stdint.h>

union sw_cell {
	int64_t i64;
	uint64_t u64;
	double f64;
};

/* In place of a start time: anyone's, or that of nobody knows whom. (0 is one: of what began with the machine.) */
#define SW_STARTTIME_UNKNOWN UINT64_MAX

/* The columns of a query. Cells and bits are by position in the query; text has a place of its own. */
struct sw_row {
	int32_t pid;
	int32_t tid;        /* of a process's row: the same */
	uint64_t starttime; /* in ticks; with the ids, it names a task for good. Or SW_STARTTIME_UNKNOWN */
	bool ended;         /* it is a zombie, or about to be none; false where stat was not read */
	unsigned denied;    /* how many cells are absent because we may not read them */
	uint64_t present[(SW_COLUMNS_N + 63) / 64];
	union sw_cell cell[SW_COLUMNS_N]; /* of type sw_column.type; undefined where absent, or of text */
	char comm[SW_PROC_COMM_SIZE];
	char state[2];
};

static inline bool sw_row_has(const struct sw_row *row, unsigned position)
{
	return row->present[position / 64] >> position % 64 & 1;
}

static inline void sw_row_set(struct sw_row *row, unsigned position, union sw_cell cell)
{
	row->cell[position] = cell;
	row->present[position / 64] |= UINT64_C(1) << position % 64;
}

/* What was read for a row. */
struct sw_row_source {
	int64_t time_us;
	const struct sw_proc_stat *stat;   /* NULL: not read */
	const struct sw_proc_stat *memory; /* the one that tells of memory: the same, a living thread's, or NULL */
	const struct sw_proc_statm *statm;
	double cpu_percent;                /* negative: absent */
	uint64_t mem_total;                /* bytes; 0: not known */
	bool stat_denied;                  /* why the file was not read */
	bool statm_denied;
};

/* Whether a column is from that file, or calculated from it. */
bool sw_column_needs_stat(unsigned column);
bool sw_column_needs_statm(unsigned column);

/* What the caller adds (SW_COLUMN_ACCOUNTED) is left absent. Ids and start time are the caller's to set before. */
void sw_row_fill(struct sw_row *row, const struct sw_query *q, const struct sw_row_source *from);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which number goes into which cell, and which is no number at all. Must not know: how files are read.
 * Source: fs/proc/array.c (do_task_stat()).
 */
#include "row.h"

#include <stddef.h>
#include <string.h>

#define BIT(number) (UINT64_C(1) << (number))
#define BITS(first, last) ((BIT((last) + 1) - 1) & ~(BIT(first) - 1))

/* Fields of stat that come from the task's memory, which a thread that has ended has no more: 0 is then no answer. */
#define OF_MEMORY (BITS(23, 24) | BITS(26, 28) | BITS(45, 51))

/* Those that are 0 or 1 without the right to ptrace(2) the task. */
#define OF_PTRACE (BITS(26, 30) | BIT(35) | BITS(45, 52))

static bool is_stat_number(unsigned column)
{
	return column >= SW_COL_ppid && column <= SW_COL_exit_code;
}

bool sw_column_needs_stat(unsigned column)
{
	return column == SW_COL_comm || column == SW_COL_state || is_stat_number(column) || column == SW_COL_cpuUsage ||
	       column == SW_COL_memUsage;
}

bool sw_column_needs_statm(unsigned column)
{
	return column >= SW_COL_size && column <= SW_COL_dt;
}

/* The kernel writes 1 for where code starts and ends when it does not tell; no program is there. */
static bool is_withheld(const struct sw_proc_stat *stat)
{
	return SW_PROC_STAT_HAS(stat, endcode) && stat->startcode == 1 && stat->endcode == 1;
}

static void fill_stat(struct sw_row *row, unsigned position, unsigned column, const struct sw_row_source *from)
{
	unsigned number = SW_PROC_STAT_NUMBER(ppid) + (column - SW_COL_ppid);
	const struct sw_proc_stat *stat = OF_MEMORY & BIT(number) ? from->memory : from->stat;
	union sw_cell cell;

	if (!stat || stat->n_fields < number)
		return;
	if (OF_PTRACE & BIT(number) && from->memory && is_withheld(from->memory)) {
		row->denied++;
		return;
	}
	memcpy(&cell, (const char *)stat + offsetof(struct sw_proc_stat, ppid) + (column - SW_COL_ppid) * sizeof(cell),
	       sizeof(cell));
	sw_row_set(row, position, cell);
}

static void fill_cell(struct sw_row *row, unsigned position, unsigned column, const struct sw_row_source *from)
{
	union sw_cell cell;

	if (is_stat_number(column)) {
		fill_stat(row, position, column, from);
	} else if (sw_column_needs_statm(column)) {
		if (!from->statm)
			return;
		memcpy(&cell, (const char *)from->statm + (column - SW_COL_size) * sizeof(cell), sizeof(cell));
		sw_row_set(row, position, cell);
	} else if (column == SW_COL_time) {
		sw_row_set(row, position, (union sw_cell){ .i64 = from->time_us });
	} else if (column == SW_COL_pid || column == SW_COL_tid) {
		sw_row_set(row, position, (union sw_cell){ .i64 = column == SW_COL_pid ? row->pid : row->tid });
	} else if (column == SW_COL_cpuUsage && from->cpu_percent >= 0) {
		sw_row_set(row, position, (union sw_cell){ .f64 = from->cpu_percent });
	} else if (column == SW_COL_memUsage) {
		if (!from->memory || !SW_PROC_STAT_HAS(from->memory, vsize) || !from->mem_total)
			return;
		cell.f64 = (double)from->memory->vsize / (double)from->mem_total;
		sw_row_set(row, position, cell);
	} else if (column == SW_COL_comm && from->stat) {
		memcpy(row->comm, from->stat->comm, sizeof(row->comm));
		sw_row_set(row, position, (union sw_cell){ 0 });
	} else if (column == SW_COL_state && from->stat && from->stat->n_fields >= 3) {
		row->state[0] = from->stat->state;
		sw_row_set(row, position, (union sw_cell){ 0 });
	}
}

_Static_assert(sizeof(union sw_cell) == sizeof(uint64_t), "numbers of the files are copied into cells");
_Static_assert(SW_COL_exit_code - SW_COL_ppid == 52 - 4, "columns of stat lie as its fields do");
#define X(name, member)                                                                                          \
	_Static_assert(offsetof(struct sw_proc_statm, member) == (SW_COL_##name - SW_COL_size) * sizeof(uint64_t), \
		       "columns of statm lie as its numbers do");
SW_STATM_COLUMNS(X)
#undef X

void sw_row_fill(struct sw_row *row, const struct sw_query *q, const struct sw_row_source *from)
{
	row->denied = 0;
	memset(row->present, 0, sizeof(row->present));
	row->comm[0] = '\0';
	memset(row->state, 0, sizeof(row->state));
	for (unsigned i = 0; i < q->n; i++) {
		row->denied += (from->stat_denied && sw_column_needs_stat(q->column[i])) ||
			       (from->statm_denied && sw_column_needs_statm(q->column[i]));
		fill_cell(row, i, q->column[i], from);
	}
}

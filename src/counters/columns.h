/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which columns there are, and choosing some of them by name. The public half, struct sw_column and sw_columns(), is in
 * schedwatt.h: this room is where that table lies.
 */
#ifndef SW_COUNTERS_COLUMNS_H
#define SW_COUNTERS_COLUMNS_H

#include "../../include/schedwatt.h"
#include "../base/error.h"
#include "../base/procfs.h"

#include <stdint.h>

/* The columns of /proc/PID/statm: name, and member of struct sw_proc_statm, in the order of both. */
#define SW_STATM_COLUMNS(X)   \
	X(size, size)         \
	X(resident, resident) \
	X(share, shared)      \
	X(trs, text)          \
	X(lrs, lib)           \
	X(drs, data)          \
	X(dt, dt)

/* Indices into sw_columns(). */
enum sw_column_index {
	SW_COL_time,
	SW_COL_pid,
	SW_COL_tid,
	SW_COL_comm,
	SW_COL_state,
#define X(number, name, type) SW_COL_##name,
	SW_PROC_STAT_FIELDS(X)
#undef X
#define X(name, member) SW_COL_##name,
	SW_STATM_COLUMNS(X)
#undef X
	SW_COL_cpuUsage,
	SW_COL_memUsage,
	SW_COL_oncpu_ns,
	SW_COL_joules,
	SW_COL_watts,
	SW_COLUMNS_N,
};

/* The columns that rows of one kind are to have, in the order asked for, each once. */
struct sw_query {
	uint32_t kind; /* enum sw_column_kind, one of them */
	unsigned n;
	uint8_t column[SW_COLUMNS_N]; /* enum sw_column_index */
};

/*
 * The query for `n` names, or the standard set for none. 0, or -EINVAL with a sentence in `e` (NULL is fine): a name
 * that is not known (it says the nearest that is), that this kind of row has not, or that came before: a second column
 * of one name could not be told from the first in a record. *ret is untouched then.
 */
int sw_query_from_names(uint32_t kind, const char *const *names, size_t n, struct sw_query *ret, struct sw_error *e);

/* Likewise for a list with commas between, without blanks; NULL: the standard set. An empty name is refused. */
int sw_query_from_list(uint32_t kind, const char *list, struct sw_query *ret, struct sw_error *e);

#endif

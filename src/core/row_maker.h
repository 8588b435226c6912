/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What makes rows of a window: it says which columns there are and fills them. Kept as its own struct's first member by
 * a maker with more to hold.
 */
#ifndef SW_CORE_ROW_MAKER_H
#define SW_CORE_ROW_MAKER_H

#include "../base/error.h"
#include "table.h"

struct sw_row_maker;

struct sw_row_ops {
	/*
	 * Add the window's rows; `threads` may stay empty. In the thread that steps, one call at a time. 0, or -errno with
	 * words, which ends the recording: what cannot be read of one process is absent, not a failure.
	 */
	int (*make)(struct sw_row_maker *r, const struct sw_report *report, struct sw_table *processes,
		    struct sw_table *threads, struct sw_error *error);
	void (*close)(struct sw_row_maker *r);
};

struct sw_row_maker {
	const struct sw_row_ops *ops;
	const struct sw_column_spec *process_columns; /* live as long as the library: data keep their names */
	size_t n_process_columns;
	const struct sw_column_spec *thread_columns;
	size_t n_thread_columns;
};

#endif

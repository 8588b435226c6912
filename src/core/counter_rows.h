/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of windows with the columns that were asked for: what the account says of a task, joined to its counters. */
#ifndef SW_CORE_COUNTER_ROWS_H
#define SW_CORE_COUNTER_ROWS_H

#include "../counters/columns.h"
#include "row_maker.h"
#include "target.h"

struct sw_counter_rows_config {
	int procfs_fd;   /* the caller's, and open for as long as the maker is */
	uint64_t hz;     /* ticks a second of that /proc */
	size_t fds_max;  /* files of it that may be kept open */
	const struct sw_target_pids *target; /* who has a row in every window; outlives the maker */
	bool processes; /* reports tell of processes: else there are rows of the target's only, with counters alone */
	bool threads;   /* rows of threads, too */
	const struct sw_query *process, *thread; /* not kept */
};

/* 0 or -ENOMEM. */
int sw_counter_rows_open(const struct sw_counter_rows_config *config, struct sw_row_maker **ret);

#endif

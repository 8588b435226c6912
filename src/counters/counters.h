/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of counters of processes and threads, read from /proc when they are asked for. Only the files that the chosen
 * columns need are read, each once for a row; files of tasks that are asked for again and again are kept open. One
 * thread at a time may use a reader; readers are independent of one another.
 */
#ifndef SW_COUNTERS_COUNTERS_H
#define SW_COUNTERS_COUNTERS_H

#include "row.h"

#include <stddef.h>
#include <stdint.h>

struct sw_counters;

struct sw_counters_options {
	int procfs_fd;   /* of a directory; the caller's, and open for as long as the reader is */
	uint64_t hz;     /* ticks a second */
	size_t fds_max;  /* how many files may be kept open: 2 of a process and 1 of a thread pay. None once open(2) has
			  * given EMFILE */
	const struct sw_query *process; /* NULL: no rows of processes are asked for */
	const struct sw_query *thread;  /* NULL: none of threads */
	bool identify; /* find out who a task is even where no column needs a file for it */
};

/* When a row is read. */
struct sw_counters_time {
	int64_t time_us; /* since the epoch: the column `time` */
	uint64_t t_ns;   /* CLOCK_MONOTONIC, which is not set: cpuUsage is over this one */
};

struct sw_counters_time sw_counters_now(void);

/* Nothing is read yet; the options and what they point to may go. 0, -EINVAL (hz 0) or -ENOMEM. */
int sw_counters_open(const struct sw_counters_options *options, struct sw_counters **ret);

/*
 * Read the row of a process, or of a thread of a process. `starttime` (in ticks; one more or less is the same) says
 * which of those that bear the number in turn is meant; SW_STARTTIME_UNKNOWN: whoever does now. row->starttime tells who
 * it was, where a file had to be read for that; columns that are in no file are there for a task that has gone, too. `now` is just before this call. A number that is
 * absent has vanished between two files, is none that this kernel writes, or may not be read (row->denied counts
 * those; if nothing may be read, the row has its ids and time). cpuUsage is there from the second row of a task on,
 * memory of a leader that has ended where a thread of its process lives.
 * 0, -ESRCH (it is gone, another bears its number, or it is hidden: hidepid=2), -EINVAL, -ERANGE or -EFBIG (a file is
 * not as it should be), -ENOMEM, or another error of open(2) or read(2). *row is untouched on failure.
 */
int sw_counters_process(struct sw_counters *c, int32_t pid, uint64_t starttime, const struct sw_counters_time *now,
			struct sw_row *row);
int sw_counters_thread(struct sw_counters *c, int32_t pid, int32_t tid, uint64_t starttime,
		       const struct sw_counters_time *now, struct sw_row *row);

/*
 * The threads that a process has now, its leader among them: an array that is the reader's and lives until the next
 * call of this. 0, -ESRCH, -ENOMEM or another error of open(2).
 */
int sw_counters_threads(struct sw_counters *c, int32_t pid, const int32_t **ret, size_t *n);

/*
 * Close the files of tasks that were not read since the last call of this, and forget those that have gone, at the latest
 * when there are twice as many as live: now and then. What a task had used is remembered, for its next row, whenever
 * that is. One that is known to have ended is forgotten at once by the other (tid 0: the process as a whole).
 */
void sw_counters_sweep(struct sw_counters *c);
void sw_counters_forget(struct sw_counters *c, int32_t pid, int32_t tid);

/* NULL is fine. */
void sw_counters_close(struct sw_counters *c);

#endif

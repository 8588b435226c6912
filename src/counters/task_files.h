/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of processes and threads below a /proc, as bytes. */
#ifndef SW_COUNTERS_TASK_FILES_H
#define SW_COUNTERS_TASK_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sw_task_key {
	int32_t pid;
	int32_t tid; /* 0: the process as a whole */
};

struct sw_tids {
	int32_t *tid; /* free() it at last */
	size_t n, size;
};

/* An fd that the caller closes, -ESRCH (no such task) or another -errno of open(2). */
int sw_task_file_open(int procfs_fd, struct sw_task_key key, const char *name);

/*
 * A file that is one line, from its start. Bytes, at least 1; -ESRCH: the task that this file was opened of is gone (a
 * new one that bears its number is not read this way); -EFBIG: it does not fit in size - 1; or -errno of pread(2).
 */
ssize_t sw_task_line_read(int fd, char *text, size_t size);

/* The threads of a process, into memory that is used again. 0, -ESRCH, -ENOMEM or another -errno of open(2). */
int sw_task_list(int procfs_fd, int32_t pid, struct sw_tids *tids);

#endif

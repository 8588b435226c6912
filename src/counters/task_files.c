/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: where the files of a task are. Must not know: what is in them, or who keeps them.
 * Source: proc_pid_task(5), fs/proc/base.c: a file belongs to the task that it was opened of, not to the number.
 */
#include "task_files.h"

#include "../base/parse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	PATH_SIZE = 64,
	TIDS_AT_FIRST = 64,
};

int sw_task_file_open(int procfs_fd, struct sw_task_key key, const char *name)
{
	char path[PATH_SIZE];
	int fd;

	if (key.tid)
		snprintf(path, sizeof(path), "%d/task/%d/%s", key.pid, key.tid, name);
	else
		snprintf(path, sizeof(path), "%d/%s", key.pid, name);
	fd = openat(procfs_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0)
		return fd;
	return errno == ENOENT ? -ESRCH : -errno;
}

ssize_t sw_task_line_read(int fd, char *text, size_t size)
{
	ssize_t n;

	/* A line comes whole in the first read; asking for the end of the file would double the cost. */
	do
		n = pread(fd, text, size, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (!n) /* a task that is going has emptied it */
		return -ESRCH;
	return (size_t)n < size ? n : -EFBIG;
}

static int add_tid(struct sw_tids *tids, int32_t tid)
{
	size_t size = tids->size ? 2 * tids->size : TIDS_AT_FIRST;
	int32_t *more;

	if (tids->n == tids->size) {
		more = realloc(tids->tid, size * sizeof(*more));
		if (!more)
			return -ENOMEM;
		tids->tid = more;
		tids->size = size;
	}
	tids->tid[tids->n++] = tid;
	return 0;
}

/* The process may end meanwhile: then those that were listed so far are all. */
static int list(DIR *dir, struct sw_tids *tids)
{
	struct dirent *entry;
	uint64_t tid;
	int err = 0;

	tids->n = 0;
	while (!err && (entry = readdir(dir))) {
		if (!sw_parse_u64(entry->d_name, INT32_MAX, &tid) && tid)
			err = add_tid(tids, (int32_t)tid);
	}
	return err || tids->n ? err : -ESRCH;
}

int sw_task_list(int procfs_fd, int32_t pid, struct sw_tids *tids)
{
	char path[PATH_SIZE];
	DIR *dir;
	int fd, err;

	snprintf(path, sizeof(path), "%d/task", pid);
	fd = openat(procfs_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	dir = fdopendir(fd);
	if (!dir) {
		err = -errno;
		close(fd);
		return err;
	}
	err = list(dir, tids);
	closedir(dir);
	return err;
}

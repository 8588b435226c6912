/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of a made-up sysfs that were removed read as those of the kernel's do: with ENODEV, for ever. A file of any
 * other file system goes on to give what it held to who has it open. And files that fail as a driver's would: see
 * kernfs_fails(). For tests only; one source of a program may include it.
 */
#ifndef SW_TESTS_KERNFS_H
#define SW_TESTS_KERNFS_H

#include "tree.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From now on reading the file fails with `err`; with 0, no more. It is told by the time that the file bears. */
static inline void kernfs_fails(const struct tree *t, const char *path, int err)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = err } };

	if (!err)
		times[1].tv_nsec = UTIME_NOW;
	assert_int_equal(utimensat(t->fd, path, times, 0), 0);
}

/* This definition stands before the C library's. */
ssize_t pread(int fd, void *buf, size_t size, off_t offset)
{
	struct stat st;

	if (!fstat(fd, &st)) {
		errno = !st.st_nlink ? ENODEV : st.st_mtime < 200 ? (int)st.st_mtime : 0;
		if (errno)
			return -1;
	}
	return syscall(SYS_pread64, fd, buf, size, offset);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of a made-up sysfs that were removed read as those of the kernel's do: with ENODEV, for ever. A file of any other
 * file system goes on to give what it held to who has it open. For tests only; one source of a program may include it.
 */
#ifndef SW_TESTS_KERNFS_H
#define SW_TESTS_KERNFS_H

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* This definition stands before the C library's. */
ssize_t pread(int fd, void *buf, size_t size, off_t offset)
{
	struct stat st;

	if (!fstat(fd, &st) && !st.st_nlink) {
		errno = ENODEV;
		return -1;
	}
	return syscall(SYS_pread64, fd, buf, size, offset);
}

#endif

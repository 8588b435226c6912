/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading small kernel files relative to a directory that was opened once, so that a captured machine is a test. */
#ifndef SW_BASE_ROOT_H
#define SW_BASE_ROOT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Open a directory as a root (O_PATH is not enough: it is also listed). An fd that the caller closes, or -errno. */
int sw_root_open(const char *path);

/*
 * Read a whole small file from its start; `fd_read` by pread(2) on a kept fd, `file_read` by name below `root_fd`.
 * Bytes read (the buffer is NUL-terminated behind them), or -errno; -EFBIG when the file does not fit in size - 1.
 */
ssize_t sw_fd_read(int fd, char *buf, size_t size);
ssize_t sw_file_read(int root_fd, const char *path, char *buf, size_t size);

/* Only the first size - 1 bytes of a file that may be long. */
ssize_t sw_file_read_start(int root_fd, const char *path, char *buf, size_t size);

/* A small file, parsed by sw_parse_u64(). An empty one is -ENODATA. */
int sw_fd_read_u64(int fd, uint64_t max, uint64_t *ret);
int sw_file_read_u64(int root_fd, const char *path, uint64_t max, uint64_t *ret);

#endif

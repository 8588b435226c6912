/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: opening and reading small kernel files below a root. Must not know: what the files mean.
 * Source: pread(2), openat(2), kernfs and seq_file: a file of one record comes whole in the first read.
 */
#include "root.h"

#include "parse.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int sw_root_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 ? fd : -errno;
}

static ssize_t pread_retry(int fd, char *buf, size_t size, size_t offset)
{
	ssize_t n;

	do
		n = pread(fd, buf, size, (off_t)offset);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

ssize_t sw_fd_read(int fd, char *buf, size_t size)
{
	size_t total = 0;
	ssize_t n;

	/* The byte that the NUL needs is offered to the file too: when it is taken, the file does not fit. */
	while (total < size) {
		n = pread_retry(fd, buf + total, size - total, total);
		if (n < 0)
			return n;
		if (!n) {
			buf[total] = '\0';
			return (ssize_t)total;
		}
		total += (size_t)n;
	}
	return -EFBIG;
}

/* O_NONBLOCK: a FIFO in a captured tree is then an error (ESPIPE) and not a wait without end. */
static int open_below(int root_fd, const char *path)
{
	int fd = openat(root_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd >= 0 ? fd : -errno;
}

ssize_t sw_file_read(int root_fd, const char *path, char *buf, size_t size)
{
	ssize_t n;
	int fd;

	fd = open_below(root_fd, path);
	if (fd < 0)
		return fd;
	n = sw_fd_read(fd, buf, size);
	close(fd);
	return n;
}

ssize_t sw_file_read_start(int root_fd, const char *path, char *buf, size_t size)
{
	size_t total = 0;
	ssize_t n = 0;
	int fd;

	fd = open_below(root_fd, path);
	if (fd < 0)
		return fd;
	while (total < size - 1 && (n = pread_retry(fd, buf + total, size - 1 - total, total)) > 0)
		total += (size_t)n;
	close(fd);
	buf[total] = '\0';
	return n < 0 ? n : (ssize_t)total;
}

int sw_fd_read_u64(int fd, uint64_t max, uint64_t *ret)
{
	char buf[32]; /* 20 digits and a newline */
	ssize_t n;

	/* One call, without asking for the end of the file: this is the read that stands in a window's path. */
	n = pread_retry(fd, buf, sizeof(buf), 0);
	if (n < 0)
		return (int)n;
	if (!n)
		return -ENODATA;
	if ((size_t)n == sizeof(buf))
		return -EFBIG;
	buf[n] = '\0';
	if (strlen(buf) != (size_t)n)
		return -EINVAL;
	return sw_parse_u64(buf, max, ret);
}

int sw_file_read_u64(int root_fd, const char *path, uint64_t max, uint64_t *ret)
{
	int fd, err;

	fd = open_below(root_fd, path);
	if (fd < 0)
		return fd;
	err = sw_fd_read_u64(fd, max, ret);
	close(fd);
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: opening, writing and closing of outputs, and the messages for what goes wrong there.
 * Must not know: what a record says. Relies on: write(2), poll(2), pipe(7) (a write of up to PIPE_BUF bytes to a
 * pipe that poll() calls writable does not block).
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gzip.h"
#include "message.h"

#define STALLED_READER_MS 2000

static int failed(struct output *o, const char *what, int err)
{
	o->err = err;
	if (err == -EPIPE)
		o->closed_pipe = true;
	else if (err == -ETIMEDOUT)
		message_error("cannot %s %s: its reader stands still; the recording ends here", what, o->name);
	else
		message_error("cannot %s %s: %s", what, o->name, strerror(-err));
	return err;
}

void output_use(struct output *o, int fd, const char *name)
{
	struct stat st;

	*o = (struct output){ .fd = fd, .name = name, .stop_fd = -1 };
	/* Of character devices only terminals have a reader; poll() on any other answers at once and does no harm. */
	o->pollable = fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISCHR(st.st_mode));
}

int output_open(struct output *o, const char *path)
{
	int fd;

	if (!strcmp(path, "-")) {
		output_use(o, STDOUT_FILENO, "stdout");
		return 0;
	}
	*o = (struct output){ .fd = -1, .name = path };
	do
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return failed(o, "open", -errno);
	output_use(o, fd, path);
	return 0;
}

int output_open_records(struct output *o, const char *path)
{
	size_t len = strlen(path);
	int err = output_open(o, path);

	if (err || len < 3 || strcmp(path + len - 3, ".gz"))
		return err;
	err = gzip_new(&o->gzip);
	return err ? failed(o, "compress", err) : 0;
}

/* Wait until the reader takes more. 0, -EPIPE when it has gone, -ETIMEDOUT. */
static int wait_writable(const struct output *o, int stop_fd)
{
	struct pollfd fds[2] = { { .fd = o->fd, .events = POLLOUT }, { .fd = stop_fd, .events = POLLIN } };
	int timeout_ms = -1, n;

	for (;;) {
		n = poll(fds, 2, timeout_ms);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n < 0)
			continue;
		if (fds[0].revents) /* an error shows in the write that follows */
			return 0;
		if (n == 0)
			return -ETIMEDOUT;
		fds[1].fd = -1;
		timeout_ms = STALLED_READER_MS;
	}
}

static int write_all(struct output *o, const struct buf *bytes, int stop_fd)
{
	const char *at = bytes->data;
	size_t left = bytes->len;
	ssize_t n;
	int err;

	while (left) {
		bool guarded = o->pollable && stop_fd >= 0;

		if (guarded) {
			err = wait_writable(o, stop_fd);
			if (err)
				return failed(o, "write to", err);
		}
		n = write(o->fd, at, guarded && left > PIPE_BUF ? PIPE_BUF : left);
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			/* Somebody who shares this pipe made it non-blocking; that must not lose a record. */
			err = wait_writable(o, stop_fd);
			if (err)
				return failed(o, "write to", err);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failed(o, "write to", -errno);
		at += n;
		left -= (size_t)n;
	}
	return 0;
}

static int write_packed(struct output *o, const struct buf *record, bool last, int stop_fd)
{
	buf_clear(&o->packed);
	gzip_add(o->gzip, record, last, &o->packed);
	if (o->packed.err)
		return failed(o, "compress a record for", o->packed.err);
	return write_all(o, &o->packed, stop_fd);
}

int output_write(struct output *o, const struct buf *record, int stop_fd)
{
	if (o->err)
		return o->err;
	if (record->err)
		return failed(o, "format a record for", record->err);
	o->stop_fd = stop_fd;
	if (o->gzip && record->len)
		return write_packed(o, record, false, stop_fd);
	return write_all(o, record, stop_fd);
}

static void end_packed(struct output *o)
{
	const struct buf nothing = { 0 };

	if (o->gzip && !o->err)
		write_packed(o, &nothing, true, o->stop_fd);
	gzip_free(o->gzip);
	o->gzip = NULL;
	buf_free(&o->packed);
}

int output_close(struct output *o)
{
	int fd = o->fd;

	if (fd < 0)
		return o->err;
	end_packed(o);
	o->fd = -1;
	if (close(fd) && errno != EINTR && !o->err)
		failed(o, "close", -errno);
	return o->err;
}

int output_flush_stdout(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_DONE;
	if (errno != EPIPE)
		message_error("cannot write to stdout: %s", strerror(errno));
	return EXIT_FAILED;
}

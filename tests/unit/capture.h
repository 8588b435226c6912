/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said on stderr between two calls. For tests only. Relies on: memfd_create(2) in place of stderr. */
#ifndef SW_TESTS_CAPTURE_H
#define SW_TESTS_CAPTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct capture {
	int saved, fd;
	char said[2048];
};

static inline void capture_begin(struct capture *c)
{
	*c = (struct capture){ .saved = dup(STDERR_FILENO), .fd = memfd_create("stderr", MFD_CLOEXEC) };
	assert_true(c->saved >= 0 && c->fd >= 0);
	assert_int_equal(dup2(c->fd, STDERR_FILENO), STDERR_FILENO);
}

static inline void capture_end(struct capture *c)
{
	ssize_t n;

	assert_int_equal(dup2(c->saved, STDERR_FILENO), STDERR_FILENO);
	n = pread(c->fd, c->said, sizeof(c->said) - 1, 0);
	assert_true(n >= 0);
	c->said[n] = '\0';
	close(c->fd);
	close(c->saved);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that grows, so that one record can be handed to the kernel in one write. */
#ifndef SW_CLI_BUF_H
#define SW_CLI_BUF_H

#include <stddef.h>
#include <stdint.h>

struct buf {
	char *data; /* not terminated: `len` bytes; NULL when nothing was ever added */
	size_t len;
	size_t size;
	int err; /* 0, or the first failure; everything after it is dropped, so that callers check once */
};

void buf_add(struct buf *b, const char *bytes, size_t len);
void buf_text(struct buf *b, const char *text);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_clear(struct buf *b); /* empty and without error again; keeps the memory */
void buf_free(struct buf *b);

#endif

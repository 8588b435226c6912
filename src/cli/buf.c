/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: a growing text. Must not know: what is written in it, or where it goes.
 * Relies on: vsnprintf(3) with integers and strings only, which no locale changes.
 */
#include "buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int reserve(struct buf *b, size_t more)
{
	size_t size = b->size ? b->size : 1024;
	char *data;

	if (b->err)
		return b->err;
	if (more > SIZE_MAX / 4 - b->len)
		return b->err = -ENOMEM;
	while (size < b->len + more)
		size *= 2;
	if (size == b->size)
		return 0;
	data = realloc(b->data, size);
	if (!data)
		return b->err = -ENOMEM;
	b->data = data;
	b->size = size;
	return 0;
}

void buf_add(struct buf *b, const char *bytes, size_t len)
{
	if (!len || reserve(b, len))
		return;
	memcpy(b->data + b->len, bytes, len);
	b->len += len;
}

void buf_text(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_printf(struct buf *b, const char *format, ...)
{
	va_list ap;
	int len;

	va_start(ap, format);
	len = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (len < 0) {
		if (!b->err)
			b->err = -EINVAL;
		return;
	}
	/* One more, because vsnprintf() ends what it writes with a NUL; the next addition overwrites it. */
	if (reserve(b, (size_t)len + 1))
		return;
	va_start(ap, format);
	vsnprintf(b->data + b->len, (size_t)len + 1, format, ap);
	va_end(ap);
	b->len += (size_t)len;
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->err = 0;
}

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}

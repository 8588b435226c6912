/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the form of an error message. Must not know: the errors.
 * Relies on: write(2); one call per message, so that lines of several processes do not mix.
 */
#include "message.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "format.h"

void message_error(const char *format, ...)
{
	struct buf b = { 0 };
	char text[2048];
	ssize_t written;
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	buf_text(&b, "schedwatt: ");
	format_plain(&b, text, UINT_MAX);
	buf_text(&b, "\n");
	if (!b.err) {
		/* Nowhere is left to report that stderr cannot be written; the exit status still tells. */
		written = write(STDERR_FILENO, b.data, b.len);
		(void)written;
	}
	buf_free(&b);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the form of a message. Must not know: what is said.
 * Relies on: write(2); one call per message, so that lines of several processes do not mix.
 */
#include "message.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "format.h"

static void say(const char *text)
{
	struct buf b = { 0 };
	ssize_t written;

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

void message_error(const char *format, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	say(text);
}

void message_note(struct buf *words)
{
	buf_add(words, "", 1);
	if (!words->err)
		say(words->data);
	buf_free(words);
}

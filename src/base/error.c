/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the wording buffer of a failure. Must not know: who failed, or where the words end up.
 * Source: vsnprintf(3).
 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int sw_fail(struct sw_error *e, int err, const char *format, ...)
{
	char text[sizeof(e->text)];
	va_list args;

	if (!e)
		return err;
	/* By way of a buffer of our own: the old words may be among the arguments ("powercap: %s", e->text). */
	va_start(args, format);
	if (vsnprintf(text, sizeof(text), format, args) < 0)
		text[0] = '\0';
	va_end(args);
	memcpy(e->text, text, sizeof(text));
	e->text[sizeof(e->text) - 1] = '\0';
	return err;
}

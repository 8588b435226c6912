/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command says on stderr beside its results. */
#ifndef SW_CLI_MESSAGE_H
#define SW_CLI_MESSAGE_H

#include "buf.h"

/* Exit statuses; `run` otherwise exits as its command does. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_OVER_BUDGET = 124,  /* run: the command succeeded, and used too much */
	EXIT_RUN_FAILED = 125,   /* run: a failure of ours before the command started */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL = 128, /* + the signal's number */
};

/* "schedwatt: " and one line, whatever bytes the values hold. It should say what failed, on what, and what to do. */
void message_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Likewise what is no error but should be known. Frees the words. */
void message_note(struct buf *words);

#endif

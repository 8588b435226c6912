/* SPDX-License-Identifier: BSD-2-Clause */
/* One line on a terminal, or the end of one, rewritten as a recording goes on; nothing anywhere else. */
#ifndef SW_CLI_PROGRESS_H
#define SW_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "schedwatt.h"

/* In each function but progress_begin() and progress_words() `p` may be NULL: then nothing is ever shown. */
struct progress {
	int fd;               /* -1: it is no terminal */
	uint64_t duration_ns; /* how long it will take; 0: nobody knows */
	uint32_t run, runs;   /* the how manieth of how many; 0: there is but one */
	uint64_t windows;     /* of this run */
	uint64_t drawn_ns;    /* end of the window that is shown */
	unsigned column;      /* where what is shown begins, from 1; 0: at the beginning of a line of its own */
	bool shown;
};

/* Show progress on `fd` from now on, if that is a terminal. */
void progress_begin(struct progress *p, int fd, uint64_t duration_ns);

/* Run `i` of `n` begins, from 1: of a command that may use the terminal itself. */
void progress_run(struct progress *p, uint32_t i, uint32_t n);

/* A window has ended. Redraws the line unless it was drawn a moment ago. */
void progress_window(struct progress *p, const struct sw_header *h, const struct sw_report *report);

/* Before anything else is written to the terminal, and at the end. */
void progress_clear(struct progress *p);

/* What the line says. */
void progress_words(struct buf *out, const struct progress *p, const struct sw_header *h,
		    const struct sw_report *report);

#endif

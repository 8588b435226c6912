/* SPDX-License-Identifier: BSD-2-Clause */
/* Where records go: a file, a pipe, stdout. Whole records, and every failure is reported once. */
#ifndef SW_CLI_OUTPUT_H
#define SW_CLI_OUTPUT_H

#include <stdbool.h>

#include "buf.h"

struct gzip;

struct output {
	int fd;           /* -1: none */
	bool pollable;    /* a pipe, terminal or socket: its reader may stand still, or go away */
	bool closed_pipe; /* the reader has gone: quietly the end of the output */
	const char *name; /* for messages; the caller's */
	int err;          /* 0, or the first failure: nothing is written after it */
	struct gzip *gzip; /* NULL: what is written is not compressed */
	struct buf packed; /* what it made of the last record */
	int stop_fd;      /* of the last record: what ends a compressed file is written likewise */
};

/*
 * Open and truncate `path` ("-": stdout) in place: never by renaming, so that /dev/null, /dev/full and pipes are
 * legal. 0 or -errno, with a message.
 */
int output_open(struct output *o, const char *path);

/* Likewise; a file whose name ends in .gz is compressed, so that it can be read up to its last record at any time. */
int output_open_records(struct output *o, const char *path);

/* An output that is open already: stdout or stderr. */
void output_use(struct output *o, int fd, const char *name);

/*
 * Write a whole record with one write(2), as far as the kernel takes it. 0 or -errno, with a message the first time,
 * but none for -EPIPE. `stop_fd` (-1: none) is a signalfd: once it is readable, a reader that stands still is waited
 * for no longer than two seconds (-ETIMEDOUT).
 */
int output_write(struct output *o, const struct buf *record, int stop_fd);

/* Close; the kernel may report a lost write only now. 0 or the first failure of all. */
int output_close(struct output *o);

/* Flush stdio's stdout, for --help and --version: an exit status. */
int output_flush_stdout(void);

#endif

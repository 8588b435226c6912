/* SPDX-License-Identifier: BSD-2-Clause */
/* Compressing what is written, so that what was written so far can be read at any time. */
#ifndef SW_CLI_GZIP_H
#define SW_CLI_GZIP_H

#include <stdbool.h>

#include "buf.h"

struct gzip;

/* 0 and *ret, or -ENOMEM. */
int gzip_new(struct gzip **ret);

/*
 * Append `text` to `out`, compressed, with all that is needed to read it. `last`: and the end of the file, after which
 * nothing may follow. A failure is in out->err.
 */
void gzip_add(struct gzip *g, const struct buf *text, bool last, struct buf *out);

void gzip_free(struct gzip *g); /* NULL is fine */

#endif

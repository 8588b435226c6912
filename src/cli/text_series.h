/* SPDX-License-Identifier: BSD-2-Clause */
/* A series of runs as people read it: of sink_text. */
#ifndef SW_CLI_TEXT_SERIES_H
#define SW_CLI_TEXT_SERIES_H

#include "sink.h"

/* A line; before the first one what they are about. */
void text_run(const struct recording *rec, const struct series *series, const struct run *run, struct buf *out);

/* The statistics, and what to know of them. */
void text_series(const struct recording *rec, const struct series *series, struct buf *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* --flat: rows as records of their own. */
#ifndef SW_CLI_JSONL_FLAT_H
#define SW_CLI_JSONL_FLAT_H

#include "sink.h"

/* A line for each row of this window, behind its sample. */
void jsonl_flat(const struct recording *rec, const struct sw_report *r, const struct sw_data *rows, struct buf *out);

#endif

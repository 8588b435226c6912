/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of a series of runs, and what they share with the summary of one. */
#ifndef SW_CLI_JSONL_RUN_H
#define SW_CLI_JSONL_RUN_H

#include "sink.h"

struct json_object;

/* The numbers of a summary, and its rows; `record` is one that has been begun. */
void jsonl_totals(int *err, struct json_object *record, const struct recording *rec, const struct sw_summary *s);
void jsonl_totals_rows(int *err, struct json_object *record, const struct sw_header *h, const struct sw_summary *s);

/* Of sink_jsonl. The rows of a series' only run are in its summary, and not here. */
void jsonl_run(const struct recording *rec, const struct series *series, const struct run *run, struct buf *out);
void jsonl_series(const struct recording *rec, const struct series *series, struct buf *out);

#endif

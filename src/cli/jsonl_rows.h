/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows in samples and summaries of schema schedwatt/1. */
#ifndef SW_CLI_JSONL_ROWS_H
#define SW_CLI_JSONL_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "schedwatt.h"

struct json_object;

/* The fields of one row, into the object `row`. n_chosen: the first so many columns; ids are added to them. */
void jsonl_process(int *err, struct json_object *row, const struct sw_header *h, const struct sw_process *p,
		   bool every_cmdline);
void jsonl_thread(int *err, struct json_object *row, const struct sw_header *h, const struct sw_thread *t);
void jsonl_cgroup(int *err, struct json_object *row, const struct sw_cgroup *c);
void jsonl_comm(int *err, struct json_object *row, const struct sw_comm *c);
void jsonl_cells(int *err, struct json_object *in, const struct sw_data_table *rows, size_t n_chosen, size_t row);

/*
 * Lists of them: each adds one array to the record `in`.
 * every_cmdline: of all rows where it is known; otherwise only where it is told for the first time, or anew.
 */
void jsonl_processes(int *err, struct json_object *in, const struct sw_header *h, const struct sw_process *rows,
		     size_t n, bool every_cmdline);
void jsonl_threads(int *err, struct json_object *in, const struct sw_header *h, const struct sw_thread *rows, size_t n);
void jsonl_cgroups(int *err, struct json_object *in, const struct sw_cgroup *rows, size_t n);
void jsonl_comms(int *err, struct json_object *in, const struct sw_comm *rows, size_t n);
void jsonl_table(int *err, struct json_object *in, const char *key, const struct sw_data_table *rows, size_t n_chosen);

#endif

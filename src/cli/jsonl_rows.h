/* SPDX-License-Identifier: BSD-2-Clause */
/* The lists of rows in samples and summaries of schema schedwatt/1; each adds one array to the record `in`. */
#ifndef SW_CLI_JSONL_ROWS_H
#define SW_CLI_JSONL_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "schedwatt.h"

struct json_object;

/* every_cmdline: of all rows where it is known; otherwise only where it is told for the first time, or anew. */
void jsonl_processes(int *err, struct json_object *in, const struct sw_header *h, const struct sw_process *rows,
		     size_t n, bool every_cmdline);
void jsonl_threads(int *err, struct json_object *in, const struct sw_header *h, const struct sw_thread *rows, size_t n);
void jsonl_cgroups(int *err, struct json_object *in, const struct sw_cgroup *rows, size_t n);
void jsonl_comms(int *err, struct json_object *in, const struct sw_comm *rows, size_t n);

#endif

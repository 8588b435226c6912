/* SPDX-License-Identifier: BSD-2-Clause */
/* All results of `schedwatt run` as one JSON object, written piece by piece as they come. */
#ifndef SW_CLI_JSON_RESULT_H
#define SW_CLI_JSON_RESULT_H

#include "budget.h"
#include "output.h"
#include "sink.h"

struct json_result {
	struct output out; /* fd -1: none is wanted, and all below does nothing */
	struct buf buf;
	int stop_fd; /* see output_write() */
	enum { JSON_RESULT_START, JSON_RESULT_RUNS, JSON_RESULT_SUMMARY } at;
	bool has_runs;
};

/* `path` as in output_open(); NULL: no result is wanted. 0 or -errno, with a message. */
int json_result_open(struct json_result *j, const char *path);

/* In this order, each but the first once; what was not written becomes null, or empty, in json_result_end(). */
void json_result_header(struct json_result *j, const struct recording *rec);
void json_result_run(struct json_result *j, const struct recording *rec, const struct series *series,
		     const struct run *run);
void json_result_summary(struct json_result *j, const struct recording *rec, const struct sw_summary *summary);
void json_result_series(struct json_result *j, const struct recording *rec, const struct series *series);

/* `budget` and `result` may be NULL: there was none to judge. */
void json_result_end(struct json_result *j, const struct series *series, const struct budget *budget,
		     const struct budget_result *result, int exit_status);

/* 0 or the first failure of all, which was said. */
int json_result_close(struct json_result *j);

#endif

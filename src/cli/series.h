/* SPDX-License-Identifier: BSD-2-Clause */
/* The runs of one command, and what they say together. A command that runs once is a series of one. */
#ifndef SW_CLI_SERIES_H
#define SW_CLI_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "budget.h"
#include "schedwatt.h"
#include "statistics.h"

enum quantity {
	QUANTITY_JOULES, /* nJ: of the command, under the chosen policy */
	QUANTITY_WATTS,  /* nW: those over the wall time */
	QUANTITY_CPU,    /* ns */
	QUANTITY_WALL,   /* ns */
	QUANTITIES,
};

/* One run. */
struct run {
	uint32_t index; /* from 1, of the warm-ups or of the repeats */
	bool warmup;
	bool interrupted; /* we were asked to end while it ran */
	bool recorded;    /* to its end */
	bool counted;     /* in the statistics */
	int wait_status;  /* as of waitpid(2) */
	int32_t pid;
	int64_t started_utc_ns;
	uint64_t started_ns;
	int64_t quantities[QUANTITIES]; /* SW_ABSENT: not known for the whole of the run */
	struct sw_summary summary;      /* with its rows until series_forget_rows() */
};

struct series {
	uint32_t repeat; /* as many runs as were asked for */
	uint32_t warmup;
	bool keep_going;
	struct run *runs;
	size_t n;
	size_t n_counted;
	size_t n_failed; /* of those that count */
	const char *end; /* "command" after all runs, "failure" of the command, "signal"; NULL: a recording failed */
	struct sw_header *header; /* of the first run, of which only what series_header() says; NULL: none began */
	bool mixed_energy;        /* runs that count had different sources */
	/* From series_end() on: */
	struct statistics statistics[QUANTITIES];
	struct sw_summary mean; /* of the runs that count: times and energies are means, counts are sums; no rows */
	char **notes;           /* what makes a mean doubtful, in sentences */
	size_t n_notes;
};

/* In the records: "joules", "watts", "cpu_s", "wall_s". */
const char *series_quantity(enum quantity quantity);

/* Have these options a series of more than one run? */
bool series_is_one(const struct series *s);

void series_free(struct series *s);

/*
 * A run has begun: keep what the next ones need of its header when it is the first: names, refusals, zones left out,
 * and how the machine was set. 0 or -ENOMEM.
 */
int series_header(struct series *s, const struct sw_header *h);

/* A run has ended; what of `run` is not set here the caller has set. Its place in *s, or NULL: out of memory. */
struct run *series_add(struct series *s, const struct run *run, const struct sw_header *h, const struct sw_summary *summary);

/* Before the monitor goes that they belong to. */
void series_forget_rows(struct run *run);

/* The last one was that. 0 or -ENOMEM. */
int series_end(struct series *s);

void series_budget(const struct series *s, const struct budget *b, struct budget_result *r);

#endif

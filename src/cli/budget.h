/* SPDX-License-Identifier: BSD-2-Clause */
/* What a command may use: read from an option, and judged by what it used. */
#ifndef SW_CLI_BUDGET_H
#define SW_CLI_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "schedwatt.h"

enum budget_kind {
	BUDGET_NONE,
	BUDGET_JOULES, /* limit and mean in nJ */
	BUDGET_CPU,    /* in ns */
};

struct budget {
	enum budget_kind kind;
	int64_t limit;
	bool modelled; /* joules of a model will do */
};

enum budget_verdict {
	BUDGET_UNKNOWN,
	BUDGET_WITHIN,
	BUDGET_OVER,
};

struct budget_result {
	enum budget_verdict verdict;
	int64_t mean;   /* of the runs that count; SW_ABSENT: none has this quantity */
	size_t runs;    /* that the mean is of */
	size_t missing; /* that count, and lack the quantity */
};

/* "500J", "1.5kJ", "30cpu-s": a number above 0 and its unit, nothing between. 0 or -EINVAL; *b is kept then. */
int budget_parse(struct budget *b, const char *text);

/* Why it could not be judged with this source of energy, as a sentence in *why; true: it could not. */
bool budget_is_refused(const struct budget *b, const struct sw_header *h, struct buf *why);

void budget_judge(const struct budget *b, struct budget_result *r);

/* The verdict as a sentence. */
void budget_words(const struct budget *b, const struct budget_result *r, const struct sw_header *h, struct buf *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What several back ends say of one target in the same windows: how far they differ from one of them, and how much of
 * that the causes make up that were measured with it.
 */
#ifndef SW_CLI_COMPARISON_H
#define SW_CLI_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "schedwatt.h"

enum { COMPARISON_MAX = 5 }; /* as many back ends as there are */

struct comparison_backend {
	const struct sw_header *header; /* its own */
	const struct sw_report *report; /* of the current window; NULL: it has none */
	uint64_t windows;               /* it told of */
	/* In those windows: */
	uint64_t oncpu_ns;     /* the target's, as it says */
	uint64_t reference_ns; /* as the reference says */
	uint64_t others_ns;    /* everything else on the machine, as the reference says */
	int64_t nj;            /* the target's; SW_ABSENT: no window had energy */
	int64_t irq_ns;        /* of the host, from whichever back end tells; SW_ABSENT: none did */
	int64_t steal_ns;
	int64_t shared_with; /* others in the target's cgroup, at the most; SW_ABSENT: there could be none */
	int64_t shared_ns;   /* what they had; SW_ABSENT: not known */
	uint64_t exits;      /* tasks that only their end told of */
	uint64_t exits_ns;
	uint64_t unseen;     /* windows in which the end of tasks went untold */
	char *failure;       /* why it told of no more windows, or NULL; ours */
};

struct comparison {
	/* First the reference, which sets the windows and which the others are compared with: ebpf where it opens. */
	struct comparison_backend backends[COMPARISON_MAX];
	size_t n;
	struct sw_refusal refusals[COMPARISON_MAX]; /* of the others; reasons are ours */
	size_t n_refusals;
	uint64_t tick_ns; /* of the kernel's clock in user space */
	uint64_t windows;
	uint64_t duration_ns;
	uint64_t offline_ns;
	uint64_t lost_ns; /* by the reference, on the whole machine */
	/* Of the target's process, where it is one, as the reference says. */
	int64_t own_ns;     /* its own part, without what descends from it; SW_ABSENT: not known */
	const char *cgroup; /* or NULL; lives as long as the summary */
};

/* How one back end differs from the reference. */
struct comparison_verdict {
	int64_t difference_ns; /* SW_ABSENT: it is the reference, or told of no window */
	int64_t explained_ns;  /* of the difference, by causes that were measured; SW_ABSENT: they could not be */
	uint64_t tolerance_ns; /* a tick of each running CPU, interrupts, stolen time */
	bool known;            /* can it be said? */
	bool agrees;           /* then: what is not explained is within the tolerance */
};

/* All zero is one with no back ends. */
void comparison_init(struct comparison *c, uint64_t tick_ns);
void comparison_free(struct comparison *c);

/* At most COMPARISON_MAX of both together. The header outlives *c; name too. */
void comparison_opened(struct comparison *c, const struct sw_header *header);
int comparison_refused(struct comparison *c, const char *name, const char *reason); /* 0 or -ENOMEM */

/* Add a window, which the reference always has: `report` of each is set. */
void comparison_add(struct comparison *c);

/* At the end: the reference's totals, which outlive *c's use. */
void comparison_end(struct comparison *c, const struct sw_summary *summary);

void comparison_judge(const struct comparison *c, size_t i, struct comparison_verdict *v);

/* The difference in thousandths of a per cent of what the reference says, rounded half up; SW_ABSENT: there is none. */
int64_t comparison_millipercent(const struct comparison *c, size_t i);

/* A sentence on the difference, from what was measured. */
void comparison_explain(const struct comparison *c, size_t i, struct buf *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules that share a domain's energy out among tasks. Pure arithmetic on integers. */
#ifndef SW_CORE_ATTRIBUTION_H
#define SW_CORE_ATTRIBUTION_H

#include "../../include/schedwatt.h"

#include <stdbool.h>

/* One who takes part: in its weight, out its part. */
struct sw_share {
	uint64_t weight; /* below 2^62, as ns of on-CPU time are */
	uint64_t tie;    /* who comes first where remainders are equal: the smaller. Unique, and the task's own, so that
			  * the order of the rows changes nothing */
	int64_t nj;
	void *who; /* the caller's, since the order of entries may change */
};

/*
 * Share total_nj (>= 0) by weight; parts are rounded by largest remainder and add up to the total exactly.
 * All weights 0: every part is 0 and false comes back.
 */
bool sw_apportion(int64_t total_nj, struct sw_share *shares, size_t n);

/* CPU time of a domain in a window that is not a watched task's, and what the rule makes of it. */
struct sw_pool {
	uint64_t other_ns;
	uint64_t idle_ns;
	uint64_t lost_ns;
	int64_t baseline_nj; /* marginal: idle power × window */
	struct sw_energy energy; /* out */
};

/* Room that sw_attribute() needs behind the tasks' entries. */
enum { SW_POOL_SHARES = 3 };

/*
 * Share total_nj among tasks[0 … n-1] (weight: on-CPU ns) and the pool, under `policy`. tasks must have room for
 * n + SW_POOL_SHARES entries. The parts and pool->energy add up to total_nj exactly; what has nobody to go to is
 * unattributed.
 */
void sw_attribute(enum sw_policy policy, int64_t total_nj, struct sw_share *tasks, size_t n, struct sw_pool *pool);

#endif

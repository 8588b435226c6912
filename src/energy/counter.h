/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a counter that wraps, fails and restarts to a sum that only grows. Pure: it is given readings and times.
 */
#ifndef SW_ENERGY_COUNTER_H
#define SW_ENERGY_COUNTER_H

#include "source.h"

struct sw_counter {
	uint64_t range_uj;
	uint64_t max_gap_ns; /* longer between two readings: it may have wrapped twice; 0: no limit */
	bool started;
	uint64_t last_uj;
	uint64_t last_extra_nj;
	uint64_t last_ns;
	uint64_t sum_nj;  /* since the first good reading; never falls */
	uint64_t breaks;  /* times the sum could not be continued: a window in which this moved has no energy */
};

/*
 * Take in a reading made at `t_ns` (CLOCK_MONOTONIC). `slept`: the machine was suspended since the last one. A reading
 * that failed, or one that cannot be joined to the last (went back and the range is unknown, too long a gap, a
 * suspend), counts a break; the next good one starts anew from there.
 */
void sw_counter_add(struct sw_counter *c, const struct sw_zone_value *value, uint64_t t_ns, bool slept);

/* The longest time between two readings that still shows every wrap: half of range ÷ greatest power. 0: no limit. */
uint64_t sw_counter_max_gap_ns(uint64_t range_uj, uint64_t max_power_uw);

#endif

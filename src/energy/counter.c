/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the sum that only grows, made of one counter's readings. Must not know: where readings come from, or clocks.
 * Source: Documentation/power/powercap/powercap.rst (energy_uj wraps at max_energy_range_uj).
 */
#include "counter.h"

/* Nanojoules from the last reading to this one. False when they cannot be known. */
static bool delta_nj(const struct sw_counter *c, const struct sw_zone_value *value, uint64_t *ret)
{
	uint64_t uj, nj;

	if (value->raw_uj >= c->last_uj)
		uj = value->raw_uj - c->last_uj;
	else if (c->range_uj)
		uj = c->range_uj - c->last_uj + value->raw_uj; /* last_uj <= range_uj: see good() */
	else
		return false;
	/* A delta that does not fit is no energy that any machine used. */
	return !__builtin_mul_overflow(uj, (uint64_t)1000, &nj) &&
	       !__builtin_add_overflow(nj, value->extra_nj, &nj) &&
	       !__builtin_sub_overflow(nj, c->last_extra_nj, ret);
}

/* A value above the range is no reading of this counter, and nothing may be continued from it. */
static bool good(const struct sw_counter *c, const struct sw_zone_value *value)
{
	return !value->status && (!c->range_uj || value->raw_uj <= c->range_uj);
}

static bool gap_too_long(const struct sw_counter *c, uint64_t t_ns)
{
	return t_ns < c->last_ns || (c->max_gap_ns && t_ns - c->last_ns > c->max_gap_ns);
}

void sw_counter_add(struct sw_counter *c, const struct sw_zone_value *value, uint64_t t_ns, bool slept)
{
	uint64_t nj, sum;

	if (!good(c, value)) {
		c->breaks++;
		c->started = false;
		return;
	}
	if (!c->started) {
		/*
		 * Only the very first reading starts for nothing. After a failed one, the time from the failure to here
		 * has no energy either, and the window that ends here must see that.
		 */
		if (c->breaks)
			c->breaks++;
	} else if (slept || gap_too_long(c, t_ns) || !delta_nj(c, value, &nj) ||
		   __builtin_add_overflow(c->sum_nj, nj, &sum)) {
		c->breaks++;
	} else {
		c->sum_nj = sum;
	}
	c->started = true;
	c->last_uj = value->raw_uj;
	c->last_extra_nj = value->extra_nj;
	c->last_ns = t_ns;
}

uint64_t sw_counter_max_gap_ns(uint64_t range_uj, uint64_t max_power_uw)
{
	unsigned __int128 ns;

	if (!range_uj || !max_power_uw)
		return 0;
	ns = (unsigned __int128)range_uj * 1000000000 / max_power_uw / 2;
	if (ns > UINT64_MAX)
		return UINT64_MAX;
	return ns ? (uint64_t)ns : 1; /* 0 would mean: no limit */
}

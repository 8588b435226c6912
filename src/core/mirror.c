/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which counters are one. Must not know: windows, nor what is made of it.
 * What it answers to: processors that show 68 W as two dies of 68 W each.
 */
#include "mirror.h"

#include "meter.h"

void sw_mirror_init(struct sw_mirror *mirrors, size_t n)
{
	for (size_t i = 0; i < n; i++)
		mirrors[i] = (struct sw_mirror){.of = -1};
}

/* Might one be the other, seen again? Zones of one die are told apart by name. */
static bool may_mirror(const struct sw_zone_info *a, const struct sw_zone_info *b)
{
	return a->role == b->role && a->package >= 0 && a->package == b->package && a->die != b->die &&
	       sw_zone_counts(a) && sw_zone_counts(b);
}

static int first_like(const struct sw_zone_info *zones, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (may_mirror(&zones[j], &zones[i]))
			return (int)j;
	return -1;
}

static uint64_t distance(uint64_t a_uj, uint64_t b_uj, uint64_t range_uj)
{
	uint64_t d = a_uj > b_uj ? a_uj - b_uj : b_uj - a_uj;

	return range_uj > d && range_uj - d < d ? range_uj - d : d; /* one of them may have gone round already */
}

void sw_mirror_add(struct sw_mirror *mirrors, const struct sw_zone_info *zones, const struct sw_zone_value *values,
		   size_t n, uint64_t bracket_ns)
{
	uint64_t off_uj = (bracket_ns + SW_COUNTER_STEP_NS) / 1000 * (SW_GREATEST_POWER_UW / 1000000);

	for (size_t i = 0; i < n; i++) {
		struct sw_mirror *m = &mirrors[i];
		const struct sw_zone_value *v = &values[i];
		int j = m->of >= 0 ? m->of : first_like(zones, i);
		bool equal, near;

		if (j < 0 || v->status || values[j].status)
			continue;
		near = distance(v->raw_uj, values[j].raw_uj, zones[i].range_uj) <= off_uj;
		equal = v->raw_uj == values[j].raw_uj && v->extra_nj == values[j].extra_nj && v->raw_uj;
		if (!near)
			m->of = -1;
		else if (m->near && (equal || m->equal) && v->raw_uj != m->last && m->last)
			m->of = j;
		m->near = near;
		m->equal = equal;
		m->last = v->raw_uj;
	}
}

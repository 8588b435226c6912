/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the readings of all zones and the counters behind them. Must not know: tasks, windows' lengths.
 */
#include "meter.h"

#include "../base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Looking for a lost counter lists a directory of sysfs: once a second at first, as a driver is loaded again or a package
 * comes back, then less and less often, for it may be gone for good.
 */
#define MEND_EVERY_NS 1000000000ULL
#define MEND_TRIES    8
#define MEND_DOUBLED  5

int sw_meter_init(struct sw_meter *m, struct sw_energy_source *source)
{
	*m = (struct sw_meter){.source = source, .n_zones = source ? source->n_zones : 0};
	m->counters = calloc(m->n_zones + 1, sizeof(*m->counters));
	m->values = calloc(m->n_zones + 1, sizeof(*m->values));
	m->points = calloc(m->n_zones + 1, sizeof(*m->points));
	m->mirrors = calloc(m->n_zones + 1, sizeof(*m->mirrors));
	if (!m->counters || !m->values || !m->points || !m->mirrors) {
		sw_meter_free(m);
		return -ENOMEM;
	}
	sw_mirror_init(m->mirrors, m->n_zones);
	for (size_t i = 0; i < m->n_zones; i++) {
		struct sw_counter *c = &m->counters[i];

		c->range_uj = source->zones[i].range_uj;
		c->max_gap_ns = 2 * sw_counter_max_gap_ns(source->zones[i].wrap_uj, SW_GREATEST_POWER_UW);
		/* half of it between two readings, so that one that comes late still counts */
		if (c->max_gap_ns && (!m->max_gap_ns || c->max_gap_ns / 2 < m->max_gap_ns))
			m->max_gap_ns = c->max_gap_ns / 2;
	}
	return 0;
}

void sw_meter_free(struct sw_meter *m)
{
	if (m->source)
		m->source->ops->close(m->source);
	free(m->counters);
	free(m->values);
	free(m->points);
	free(m->mirrors);
	*m = (struct sw_meter){0};
}

bool sw_meter_is_modelled(const struct sw_meter *m)
{
	return m->source && !strcmp(m->source->ops->quality, "modelled");
}

bool sw_meter_measures(const struct sw_meter *m)
{
	return m->source && !sw_meter_is_modelled(m);
}

bool sw_zone_counts(const struct sw_zone_info *zone)
{
	return (zone->role == SW_ROLE_PACKAGE || zone->role == SW_ROLE_DRAM) && !zone->twin && !zone->problem;
}

void sw_meter_read(struct sw_meter *m, const struct sw_busy *busy, struct sw_energy_point *point)
{
	bool slept;

	point->begin_ns = sw_now_ns();
	point->asleep_ns = sw_boottime_ns() - point->begin_ns;
	if (m->source)
		m->source->ops->read(m->source, busy, m->values);
	point->end_ns = sw_now_ns();
	/* a suspend of less than a millisecond is the two clocks being read one after the other */
	slept = m->last_ns && point->asleep_ns > m->asleep_ns + 1000000;
	if (m->source)
		sw_mirror_add(m->mirrors, m->source->zones, m->values, m->n_zones, point->end_ns - point->begin_ns);
	for (size_t i = 0; i < m->n_zones; i++) {
		struct sw_counter *c = &m->counters[i];

		sw_counter_add(c, &m->values[i], point->end_ns, slept);
		m->points[i] = (struct sw_zone_point){
			.sum_nj = c->sum_nj,
			.breaks = c->breaks,
			.readable = !m->values[i].status,
			.mirror_of = m->mirrors[i].of,
		};
	}
	m->last_ns = point->end_ns;
	m->asleep_ns = point->asleep_ns;
}

static bool has_lost(const struct sw_meter *m)
{
	for (size_t i = 0; i < m->n_zones; i++)
		if (m->values[i].status && !m->source->zones[i].problem)
			return true;
	return false;
}

static uint64_t mend_pause_ns(unsigned tries)
{
	unsigned doubled = tries < MEND_TRIES ? 0 : tries - MEND_TRIES + 1;

	return tries ? MEND_EVERY_NS << (doubled < MEND_DOUBLED ? doubled : MEND_DOUBLED) : 0;
}

void sw_meter_mend(struct sw_meter *m)
{
	uint64_t now_ns = sw_now_ns();

	if (!m->source || !m->source->ops->mend)
		return;
	if (!has_lost(m)) {
		m->mend_tries = 0;
		return;
	}
	if (now_ns - m->mended_ns < mend_pause_ns(m->mend_tries))
		return;
	m->mended_ns = now_ns;
	m->mend_tries++;
	m->source->ops->mend(m->source);
}

int sw_meter_check(struct sw_meter *m, struct sw_error *error)
{
	if (!sw_meter_measures(m))
		return 0;
	m->source->ops->read(m->source, NULL, m->values);
	for (size_t i = 0; i < m->n_zones; i++) {
		const struct sw_zone_info *zone = &m->source->zones[i];

		if (m->values[i].status && !zone->problem)
			return sw_fail(error, m->values[i].status, "cannot read the energy counter %s: %s", zone->name,
				       strerror(-m->values[i].status));
	}
	return 0;
}

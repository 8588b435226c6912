/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the totals of zones, over monitors that may number them differently. Must not know: groups, or where counters
 * come from. Relies on: powercap's names of zones, as include/schedwatt.h gives them.
 */
#include "groups_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 4096 }; /* of looking for mirrors; enough for 12 dies that might be one */

/* A search for the zones that the total leaves out. */
struct mirrors {
	const struct sw_header *header;
	const int64_t *nj;
	size_t *index;
	unsigned steps;
};

void energy_add(struct energy_total *to, enum energy_quality quality, int64_t nj)
{
	to->known[quality] = true;
	to->nj[quality] += (metrics_total)nj;
}

/* Memory beside the package is no part of it, also where another view of the zone counts instead. */
static bool is_shown(const struct sw_zone *z)
{
	const char *slash = strrchr(z->name, '/');

	return z->counted || (z->parent && !z->problem && !z->one_core && !(slash && !strcmp(slash, "/dram")));
}

static int find_zone(struct groups *g, const struct sw_zone *z, size_t *ret)
{
	struct zone_total *grown, zone = { .kind = z->counted ? ZONE_COUNTED : ZONE_SUBZONE };
	char package[16];

	snprintf(package, sizeof(package), "%d", z->package);
	metrics_label(&zone.labels, "zone", z->name);
	metrics_label(&zone.labels, "package", z->package >= 0 ? package : NULL);
	for (*ret = 0; *ret < g->n_zones && !zone.labels.err; (*ret)++) {
		const struct zone_total *t = &g->zones[*ret];

		if (t->kind != zone.kind || t->labels.len != zone.labels.len ||
		    memcmp(t->labels.data, zone.labels.data, zone.labels.len))
			continue;
		buf_free(&zone.labels);
		return 0;
	}
	grown = zone.labels.err ? NULL : realloc(g->zones, (g->n_zones + 1) * sizeof(*grown));
	if (!grown) {
		buf_free(&zone.labels);
		return -ENOMEM;
	}
	grown[g->n_zones++] = zone;
	g->zones = grown;
	return 0;
}

/* Is there an earlier one, which this one may show again? */
static bool may_mirror(const struct sw_header *h, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (h->zones[k].counted && h->zones[k].package == h->zones[i].package &&
		    !h->zones[k].parent == !h->zones[i].parent)
			return true;
	return false;
}

/* Leave out zones from `i` on that come to `excess`. False: there are none such, or too many to tell. */
static bool leave_out(struct mirrors *m, size_t i, int64_t excess)
{
	size_t index;

	if (!excess)
		return true;
	if (i == m->header->n_zones || m->steps++ == STEPS_MAX)
		return false;
	index = m->index[i];
	if (m->header->zones[i].counted && m->nj[i] > 0 && m->nj[i] <= excess && may_mirror(m->header, i)) {
		m->index[i] = SIZE_MAX;
		if (leave_out(m, i + 1, excess - m->nj[i]))
			return true;
		m->index[i] = index;
	}
	return leave_out(m, i + 1, excess);
}

int groups_plan_zones(struct groups *g, const struct sw_header *h, const struct sw_report *report,
		      struct zones_plan *ret)
{
	struct mirrors m = { .header = h, .nj = report->zone_nj };
	int64_t sum = 0;

	m.index = malloc((h->n_zones + 1) * sizeof(*m.index));
	if (!m.index)
		return -ENOMEM;
	for (size_t i = 0; i < h->n_zones; i++) {
		int err = 0;

		m.index[i] = SIZE_MAX;
		if (m.nj[i] == SW_ABSENT || !is_shown(&h->zones[i]))
			continue;
		if (m.nj[i] < 0 || (h->zones[i].counted && __builtin_add_overflow(sum, m.nj[i], &sum)))
			err = -EPROTO;
		if (!err)
			err = find_zone(g, &h->zones[i], &m.index[i]);
		if (err) {
			free(m.index);
			return err;
		}
	}
	if (report->energy.total_nj != SW_ABSENT &&
	    (sum < report->energy.total_nj || !leave_out(&m, 0, sum - report->energy.total_nj))) {
		free(m.index);
		return -EPROTO;
	}
	ret->index = m.index;
	return 0;
}

/* A window without energy may have that of some zones: of those that are summed up with others it cannot be used. */
void groups_add_zones(struct groups *g, const struct zones_plan *plan, const struct sw_header *h,
		      const struct sw_report *report, enum energy_quality quality)
{
	for (size_t i = 0; i < h->n_zones; i++) {
		size_t index = plan->index[i];

		if (index != SIZE_MAX && (g->zones[index].kind == ZONE_SUBZONE || report->energy.total_nj != SW_ABSENT))
			energy_add(&g->zones[index].energy, quality, report->zone_nj[i]);
	}
	if (report->platform_nj != SW_ABSENT)
		energy_add(&g->platform, quality, report->platform_nj);
}

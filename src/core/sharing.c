/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which zones' joules go together, to which domains, and each row's part of them. Must not know: whose
 * rows they are.
 */
#include "monitor.h"

#include "tally.h"

#include <errno.h>
#include <stdlib.h>

int sw_share_reserve(struct sw_monitor *m, size_t n_rows)
{
	size_t capacity = n_rows + n_rows / 2 + SW_POOL_SHARES;
	struct sw_share *shares;

	if (n_rows + SW_POOL_SHARES <= m->shares_capacity)
		return 0;
	shares = realloc(m->shares, capacity * sizeof(*shares));
	if (!shares)
		return -ENOMEM;
	m->shares = shares;
	m->shares_capacity = capacity;
	return 0;
}

/* What a zone covers in this window: with those that only show its energy again, what they cover, too. */
static uint32_t covered(const struct sw_monitor *m, const struct sw_window *window, size_t zone)
{
	const struct sw_zone_info *zones = m->meter.source->zones;
	uint32_t domains = zones[zone].domains;

	for (size_t i = 0; i < m->meter.n_zones; i++)
		if (window->mirror_of[i] == (int)zone)
			domains |= zones[i].domains;
	return domains;
}

static void add_to_pot(struct sw_monitor *m, uint32_t domains, const struct sw_zone_info *z, int64_t nj)
{
	struct sw_pot *pot = m->pots;

	while (pot < m->pots + m->n_pots && pot->domains != domains)
		pot++;
	if (pot == m->pots + m->n_pots) {
		*pot = (struct sw_pot){.domains = domains};
		m->n_pots++;
	}
	pot->nj += nj;
	pot->has_package |= z->role == SW_ROLE_PACKAGE;
}

/* A package of which every CPU is off has no share in anything, and its counters may be gone with it. */
static bool is_off(const struct sw_window *window, uint32_t domains)
{
	if (!domains)
		return false;
	for (; domains; domains &= domains - 1) {
		const struct sw_cpu_domain *d = &window->domains[__builtin_ctz(domains)];

		if (!d->span_ns || d->offline_ns < d->span_ns)
			return false;
	}
	return true;
}

/* For who wants to know of domains: one pot for several of them is divided by what CPU time each had. */
static void divide_pots(struct sw_monitor *m, const struct sw_window *window)
{
	for (size_t p = 0; p < m->n_pots; p++) {
		struct sw_share parts[SW_DOMAINS_MAX];
		size_t n = 0;

		for (uint32_t left = m->pots[p].domains; left; left &= left - 1) {
			unsigned d = __builtin_ctz(left);

			parts[n++] = (struct sw_share){.weight = window->domains[d].span_ns - window->domains[d].offline_ns,
						       .tie = d, .who = &m->domains[d]};
		}
		if (!sw_apportion(m->pots[p].nj, parts, n))
			parts[0].nj = m->pots[p].nj;
		for (size_t i = 0; i < n; i++)
			sw_add_nj(&((struct sw_domain *)parts[i].who)->nj, parts[i].nj);
	}
}

/* The platform's counter: where each socket has one, the first's, in every window. */
static int64_t platform_nj(const struct sw_monitor *m, const struct sw_window *window)
{
	for (size_t i = 0; i < m->meter.n_zones; i++) {
		const struct sw_zone_info *z = &m->meter.source->zones[i];

		if (z->role == SW_ROLE_PLATFORM && !z->problem && !z->twin)
			return window->zone_nj[i];
	}
	return SW_ABSENT;
}

bool sw_share_sum_zones(struct sw_monitor *m, const struct sw_window *window, int64_t *nowhere_nj, uint32_t *flags)
{
	const struct sw_energy_source *source = m->meter.source;
	struct sw_report *r = &m->report;
	bool any = false, all = true;

	r->package_nj = r->dram_nj = SW_ABSENT;
	r->platform_nj = platform_nj(m, window);
	*nowhere_nj = 0;
	m->n_pots = 0;
	for (size_t i = 0; i < m->meter.n_zones; i++) {
		const struct sw_zone_info *z = &source->zones[i];
		int64_t nj = window->zone_nj[i];
		uint32_t domains;

		if (!sw_zone_counts(z))
			continue;
		if (window->mirror_of[i] >= 0) {
			*flags |= SW_FLAG_MIRRORED;
			continue;
		}
		if (nj == SW_ABSENT && is_off(window, z->domains)) {
			*flags |= SW_FLAG_PARTIAL;
			continue;
		}
		any = true;
		if (nj == SW_ABSENT) {
			all = false;
			continue;
		}
		sw_add_nj(z->role == SW_ROLE_PACKAGE ? &r->package_nj : &r->dram_nj, nj);
		domains = covered(m, window, i);
		if (domains)
			add_to_pot(m, domains, z, nj);
		else
			*nowhere_nj += nj;
	}
	if (any && all) {
		divide_pots(m, window);
		return true;
	}
	r->package_nj = r->dram_nj = SW_ABSENT;
	return false;
}

static void add_energy(struct sw_energy *to, const struct sw_energy *from)
{
	to->total_nj += from->total_nj;
	to->proc_nj += from->proc_nj;
	to->other_nj += from->other_nj;
	to->idle_nj += from->idle_nj;
	to->unattributed_nj += from->unattributed_nj;
}

/* Other, idle and lost time of a pot's domains, and their baseline if it is this pot that it belongs to. */
static struct sw_pool pool_of(const struct sw_monitor *m, const struct sw_pot *pot)
{
	struct sw_pool pool = {.baseline_nj = pot->baseline_nj};

	for (uint32_t left = pot->domains; left; left &= left - 1) {
		const struct sw_domain *d = &m->domains[__builtin_ctz(left)];

		pool.other_ns += d->other_ns;
		pool.idle_ns += d->idle_ns;
		pool.lost_ns += d->lost_ns;
	}
	return pool;
}

static void set_baseline(const struct sw_monitor *m, struct sw_pot *pot)
{
	unsigned __int128 fj = 0; /* µW × ns = 1e-15 J */

	for (uint32_t left = m->baseline_uw && pot->has_package ? pot->domains : 0; left; left &= left - 1)
		fj += (unsigned __int128)m->baseline_uw[__builtin_ctz(left)] * m->report.window_ns;
	fj /= 1000000;
	pot->baseline_nj = fj > INT64_MAX ? INT64_MAX : (int64_t)fj;
}

/* The chosen policy, row by row. */
static void share_rows(struct sw_monitor *m, const struct sw_window *window, const struct sw_pot *pot,
		       struct sw_energy *sum)
{
	struct sw_pool pool = pool_of(m, pot);
	size_t n = 0;

	for (size_t i = 0; i < window->n_rows; i++) {
		struct sw_window_row *w = &window->rows[i];

		if (!(pot->domains >> w->row->domain & 1) || !w->inside)
			continue;
		/* a key may have served one task after another in this window: then the rows' order tells them apart */
		m->shares[n++] = (struct sw_share){
			.weight = w->oncpu_ns,
			.tie = (uint64_t)w->row->key << 32 | (uint32_t)i,
			.who = w,
		};
	}
	sw_attribute(m->options.policy, pot->nj, m->shares, n, &pool);
	for (size_t i = 0; i < n + SW_POOL_SHARES; i++)
		if (m->shares[i].who)
			sw_add_nj(&((struct sw_window_row *)m->shares[i].who)->nj, m->shares[i].nj);
	add_energy(sum, &pool.energy);
}

/* Another policy: for the watched tasks as a whole. */
static void share_whole(struct sw_monitor *m, enum sw_policy policy, const struct sw_pot *pot, struct sw_energy *sum)
{
	struct sw_pool pool = pool_of(m, pot);
	struct sw_share shares[1 + SW_POOL_SHARES] = {{.weight = 0}};

	for (uint32_t left = pot->domains; left; left &= left - 1)
		shares[0].weight += m->domains[__builtin_ctz(left)].proc_ns;
	sw_attribute(policy, pot->nj, shares, 1, &pool);
	add_energy(sum, &pool.energy);
}

void sw_share_energy(struct sw_monitor *m, const struct sw_window *window, int64_t nowhere_nj, uint32_t *flags)
{
	const struct sw_energy nowhere = {.total_nj = nowhere_nj, .unattributed_nj = nowhere_nj};
	uint64_t blur_ns = window->read_late_ns + window->read_bracket_ns;
	struct sw_energy *chosen = &m->report.energy;
	struct sw_summary *s = &m->totals.s;

	*chosen = nowhere;
	for (uint32_t p = 0; p < SW_POLICIES; p++)
		if (p != m->options.policy)
			add_energy(&s->energy[p], &nowhere);
	for (struct sw_pot *pot = m->pots; pot < m->pots + m->n_pots; pot++) {
		set_baseline(m, pot);
		/* on an idle host both are one number, but for the doubt that is in the measured one */
		if (pot->baseline_nj > pot->nj &&
		    pot->baseline_nj - pot->nj > sw_report_uncertainty_nj(m, pot->nj, window->read_ns, blur_ns))
			*flags |= SW_FLAG_BASELINE;
		share_rows(m, window, pot, chosen);
		for (uint32_t p = 0; p < SW_POLICIES; p++)
			if (p != m->options.policy)
				share_whole(m, p, pot, &s->energy[p]);
	}
	add_energy(&s->energy[m->options.policy], chosen);
}

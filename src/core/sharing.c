/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which joules go to which domain, and each row's part of them. Must not know: whose rows they are.
 */
#include "monitor.h"

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

bool sw_share_sum_zones(struct sw_monitor *m, const struct sw_window *window, int64_t *nowhere_nj)
{
	const struct sw_energy_source *source = m->meter.source;
	struct sw_report *r = &m->report;
	bool any = false, all = true;

	r->package_nj = r->dram_nj = r->platform_nj = SW_ABSENT;
	*nowhere_nj = 0;
	for (size_t i = 0; i < m->meter.n_zones; i++) {
		const struct sw_zone_info *z = &source->zones[i];
		int64_t nj = window->zone_nj[i], *kind;

		if (z->role == SW_ROLE_PLATFORM && !z->problem && r->platform_nj == SW_ABSENT)
			r->platform_nj = nj;
		if (!sw_zone_counts(z))
			continue;
		any = true;
		if (nj == SW_ABSENT) {
			all = false;
			continue;
		}
		kind = z->role == SW_ROLE_PACKAGE ? &r->package_nj : &r->dram_nj;
		*kind = (*kind == SW_ABSENT ? 0 : *kind) + nj;
		if (z->domain < 0) {
			*nowhere_nj += nj;
			continue;
		}
		m->domains[z->domain].nj = (m->domains[z->domain].nj == SW_ABSENT ? 0 : m->domains[z->domain].nj) + nj;
	}
	if (any && all)
		return true;
	for (unsigned d = 0; d < m->topology.n_domains; d++)
		m->domains[d].nj = SW_ABSENT;
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

static struct sw_pool pool_of(const struct sw_monitor *m, unsigned domain, uint64_t window_ns)
{
	const struct sw_domain *d = &m->domains[domain];
	struct sw_pool pool = {.other_ns = d->other_ns, .idle_ns = d->idle_ns, .lost_ns = d->lost_ns};

	if (m->options.n_baseline) /* µW × ns = 1e-15 J */
		pool.baseline_nj = (unsigned __int128)m->options.baseline_uw[domain] * window_ns / 1000000;
	return pool;
}

/* The chosen policy, row by row. */
static void share_domain(struct sw_monitor *m, const struct sw_window *window, unsigned domain, struct sw_energy *sum)
{
	struct sw_pool pool = pool_of(m, domain, m->report.window_ns);
	size_t n = 0;

	for (size_t i = 0; i < window->n_rows; i++) {
		struct sw_window_row *w = &window->rows[i];

		if (w->row->domain != domain || !w->process)
			continue;
		/* a key may have served one task after another in this window: then the rows' order tells them apart */
		m->shares[n++] = (struct sw_share){
			.weight = w->oncpu_ns,
			.tie = (uint64_t)w->row->key << 32 | (uint32_t)i,
			.who = w,
		};
	}
	sw_attribute(m->options.policy, m->domains[domain].nj, m->shares, n, &pool);
	for (size_t i = 0; i < n + SW_POOL_SHARES; i++)
		if (m->shares[i].who)
			((struct sw_window_row *)m->shares[i].who)->nj = m->shares[i].nj;
	add_energy(sum, &pool.energy);
}

/* Another policy: for the watched tasks as a whole. */
static void share_whole(struct sw_monitor *m, enum sw_policy policy, unsigned domain, struct sw_energy *sum)
{
	struct sw_pool pool = pool_of(m, domain, m->report.window_ns);
	struct sw_share shares[1 + SW_POOL_SHARES] = {{.weight = m->domains[domain].proc_ns}};

	sw_attribute(policy, m->domains[domain].nj, shares, 1, &pool);
	add_energy(sum, &pool.energy);
}

void sw_share_energy(struct sw_monitor *m, const struct sw_window *window, int64_t nowhere_nj)
{
	struct sw_energy *chosen = &m->report.energy;
	struct sw_summary *s = &m->totals.s;
	const struct sw_energy nowhere = {.total_nj = nowhere_nj, .unattributed_nj = nowhere_nj};

	*chosen = nowhere;
	for (uint32_t p = 0; p < SW_POLICIES; p++)
		if (p != m->options.policy)
			add_energy(&s->energy[p], &nowhere);
	for (unsigned d = 0; d < m->topology.n_domains; d++) {
		if (m->domains[d].nj == SW_ABSENT)
			continue;
		share_domain(m, window, d, chosen);
		for (uint32_t p = 0; p < SW_POLICIES; p++)
			if (p != m->options.policy)
				share_whole(m, p, d, &s->energy[p]);
	}
	add_energy(&s->energy[m->options.policy], chosen);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what a window comes to: its time by domain, its flags, its doubt, and what it adds to the totals.
 * Must not know: how anything was measured, how it is printed.
 */
#include "monitor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_NS 50000000
#define MODEL_UNCERTAINTY 0.5   /* the averages that the model stands on hide machines of half and of twice as much */

int sw_report_init(struct sw_monitor *m, uint32_t n_keys)
{
	m->domains = calloc(m->topology.n_domains, sizeof(*m->domains));
	m->pots = calloc(m->meter.n_zones + 1, sizeof(*m->pots));
	m->totals.s.total_uncertainty_nj = m->totals.s.proc_uncertainty_nj = m->totals.s.shared_with = SW_ABSENT;
	return m->domains && m->pots ? sw_rows_init(m, n_keys) : -ENOMEM;
}

void sw_report_free(struct sw_monitor *m)
{
	sw_rows_free(m);
	sw_summary_free(m);
	free(m->shares);
	free(m->domains);
	free(m->pots);
}

static void fill_domains(struct sw_monitor *m, const struct sw_window *window)
{
	struct sw_report *r = &m->report;

	memset(m->domains, 0, m->topology.n_domains * sizeof(*m->domains));
	for (size_t i = 0; i < window->n_rows; i++) {
		const struct sw_window_row *row = &window->rows[i];
		struct sw_domain *d = &m->domains[row->row->domain];

		*(row->inside ? &d->proc_ns : &d->other_ns) += row->oncpu_ns;
	}
	r->proc_oncpu_ns = r->other_oncpu_ns = r->idle_ns = r->lost_ns = r->offline_ns = 0;
	memset(r->lost_by_kind_ns, 0, sizeof(r->lost_by_kind_ns));
	for (unsigned i = 0; i < m->topology.n_domains; i++) {
		const struct sw_cpu_domain *w = &window->domains[i];
		struct sw_domain *d = &m->domains[i];

		d->nj = SW_ABSENT;
		d->other_ns += w->other_ns;
		d->busy_ns = d->proc_ns + d->other_ns;
		d->idle_ns = w->idle_ns;
		d->lost_ns = w->lost_slots_ns + w->lost_missed_ns + w->lost_other_ns;
		d->offline_ns = w->offline_ns;
		r->proc_oncpu_ns += d->proc_ns;
		r->other_oncpu_ns += d->other_ns;
		r->idle_ns += d->idle_ns;
		r->lost_ns += d->lost_ns;
		r->lost_by_kind_ns[SW_LOST_SLOTS] += w->lost_slots_ns;
		r->lost_by_kind_ns[SW_LOST_MISSED] += w->lost_missed_ns;
		r->lost_by_kind_ns[SW_LOST_OTHER] += w->lost_other_ns;
		r->offline_ns += d->offline_ns;
	}
}

int64_t sw_report_uncertainty_nj(const struct sw_monitor *m, int64_t total_nj, uint64_t read_ns, uint64_t blur_ns)
{
	if (sw_meter_is_modelled(&m->meter))
		return llround(MODEL_UNCERTAINTY * total_nj);
	return read_ns ? llround((double)total_nj / read_ns * (blur_ns + 2 * SW_COUNTER_STEP_NS)) : SW_ABSENT;
}

static bool is_partial(const struct sw_monitor *m)
{
	for (size_t i = 0; i < m->meter.n_zones; i++) {
		const struct sw_zone_info *z = &m->meter.source->zones[i];

		/* one whose name cannot be read might have been a package, too */
		if (z->problem && !z->twin && (z->role == SW_ROLE_PACKAGE || z->role == SW_ROLE_DRAM || z->role == SW_ROLE_UNKNOWN))
			return true;
	}
	return false;
}

static uint32_t flags_of(const struct sw_monitor *m, const struct sw_window *window, bool energy)
{
	uint32_t flags = 0;

	flags |= window->late ? SW_FLAG_LATE : 0;
	flags |= window->slept ? SW_FLAG_SUSPEND : 0;
	flags |= window->members_lost ? SW_FLAG_MEMBERS : 0;
	flags |= m->unverified ? SW_FLAG_UNVERIFIED : 0;
	flags |= m->steal.much ? SW_FLAG_STEAL : 0;
	flags |= m->busy_raised ? SW_FLAG_BUSY_RAISED : 0;
	if (!m->meter.source)
		return flags;
	flags |= m->report.window_ns < SHORT_NS ? SW_FLAG_SHORT : 0;
	flags |= is_partial(m) ? SW_FLAG_PARTIAL : 0;
	flags |= !energy ? SW_FLAG_NO_ENERGY : 0;
	flags |= m->topology.hybrid ? SW_FLAG_HYBRID : 0;
	return flags;
}

static void add_totals(struct sw_monitor *m, const struct sw_window *window, bool energy)
{
	const struct sw_report *r = &m->report;
	struct sw_totals *t = &m->totals;

	t->s.samples++;
	t->s.duration_ns += r->window_ns;
	t->s.proc_oncpu_ns += r->proc_oncpu_ns;
	t->s.other_oncpu_ns += r->other_oncpu_ns;
	t->s.idle_ns += r->idle_ns;
	t->s.offline_ns += r->offline_ns;
	t->s.lost_ns += r->lost_ns;
	for (int i = 0; i < SW_LOST_KINDS; i++)
		t->s.lost_by_kind_ns[i] += r->lost_by_kind_ns[i];
	for (int i = 0; i < SW_FLAGS; i++)
		t->s.windows_flagged[i] += r->flags >> i & 1;
	t->s.recursion_misses = r->recursion_misses;
	if (r->shared_with > t->s.shared_with)
		t->s.shared_with = r->shared_with;
	t->last_blur_ns = sw_energy_blur_ns(&m->windows.last_point);
	if (energy) {
		double share = r->energy.total_nj ? (double)r->energy.proc_nj / r->energy.total_nj : 0;
		double doubt = share * r->uncertainty_nj;

		t->has_energy = true;
		t->read_ns += window->read_ns;
		t->proc_variance += doubt * doubt; /* the ends of different windows miss independently */
	} else if (m->meter.source) {
		t->s.windows_without_energy++;
	}
}

int sw_report_make(struct sw_monitor *m, const struct sw_window *window, const struct sw_report **ret)
{
	struct sw_report *r = &m->report;
	int64_t nowhere_nj;
	uint32_t flags = 0;
	bool energy;
	int err = sw_share_reserve(m, window->n_rows);

	if (!err)
		err = sw_rows_add(m, window);
	if (err)
		return err;
	r->seq = m->totals.s.samples;
	r->t_ns = m->ended_ns;
	r->time_utc_ns = m->wake_utc_ns;
	r->window_ns = window->t1_ns - window->t0_ns;
	fill_domains(m, window);
	energy = sw_share_sum_zones(m, window, &nowhere_nj, &flags);
	if (energy)
		sw_share_energy(m, window, nowhere_nj, &flags);
	else
		r->energy = (struct sw_energy){SW_ABSENT, SW_ABSENT, SW_ABSENT, SW_ABSENT, SW_ABSENT};
	r->flags = flags | flags_of(m, window, energy);
	r->uncertainty_nj = energy ? sw_report_uncertainty_nj(m, r->energy.total_nj, window->read_ns,
							      window->read_late_ns + window->read_bracket_ns)
				   : SW_ABSENT;
	r->read_late_ns = sw_meter_measures(&m->meter) ? (int64_t)window->read_late_ns : SW_ABSENT;
	r->read_bracket_ns = sw_meter_measures(&m->meter) ? (int64_t)window->read_bracket_ns : SW_ABSENT;
	r->zone_nj = window->zone_nj;
	r->recursion_misses = m->recursion_misses;
	r->shared_with = m->shared_with;
	r->slots_used = m->backend->slots ? (int64_t)m->slots_used : SW_ABSENT;
	r->exits = window->exits;
	r->exits_ns = window->exits_ns;
	r->shared_ns = window->shared_ns;
	r->irq_ns = window->irq_ns;
	r->steal_ns = window->steal_ns;
	r->domains = m->domains;
	r->n_domains = m->topology.n_domains;
	r->pids_alive = m->pids_alive;
	r->ended = m->ended;
	sw_rows_add_energy(window);
	err = sw_rows_list(m);
	if (err)
		return err;
	add_totals(m, window, energy);
	*ret = r;
	return 0;
}

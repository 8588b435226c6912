/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what a window and a whole recording come to: energy shared by domain, rows by process, totals.
 * Must not know: how anything was measured, how it is printed.
 */
#include "monitor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_NS 50000000
#define COUNTER_STEP_NS 1000000 /* RAPL counters move about once a millisecond: Intel SDM volume 3, 15.10 */
#define MODEL_UNCERTAINTY 0.5   /* the averages that the model stands on hide machines of half and of twice as much */

int sw_report_init(struct sw_monitor *m)
{
	m->domains = calloc(m->topology.n_domains, sizeof(*m->domains));
	m->totals.s.total_uncertainty_nj = m->totals.s.proc_uncertainty_nj = SW_ABSENT;
	return m->domains ? 0 : -ENOMEM;
}

static void free_rows(struct sw_monitor *m)
{
	free((void *)m->report.processes);
	m->report.processes = NULL;
}

static void free_summary(struct sw_monitor *m)
{
	free((void *)m->summary.processes);
	free((void *)m->summary.comms);
	m->summary = (struct sw_summary){0};
}

void sw_report_free(struct sw_monitor *m)
{
	free_rows(m);
	free_summary(m);
	free(m->shares);
	free(m->domains);
}

static int add_rows(struct sw_monitor *m, const struct sw_window *window)
{
	struct sw_process_entry *e;
	int err = sw_processes_next(&m->processes);

	if (window->n_rows + SW_POOL_SHARES > m->shares_capacity) {
		size_t capacity = window->n_rows + window->n_rows / 2 + SW_POOL_SHARES;
		struct sw_share *shares = realloc(m->shares, capacity * sizeof(*shares));

		if (!shares)
			return -ENOMEM;
		m->shares = shares;
		m->shares_capacity = capacity;
	}
	for (size_t i = 0; i < window->n_rows && !err; i++) {
		err = sw_processes_add(&m->processes, window->rows[i].row, window->rows[i].oncpu_ns, &e);
		window->rows[i].who = e;
	}
	return err;
}

int sw_report_baseline(struct sw_monitor *m, const struct sw_window *window)
{
	for (size_t i = 0; i < window->n_rows; i++)
		window->rows[i].oncpu_ns = 0;
	return add_rows(m, window) ? sw_fail(&m->error, -ENOMEM, "out of memory") : 0;
}

/* Joules of each domain, of zones without one (-1), and of the kinds of zones. False: the window has none. */
static bool sum_zones(struct sw_monitor *m, const struct sw_window *window, int64_t *nowhere_nj)
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

static void fill_domains(struct sw_monitor *m, const struct sw_window *window)
{
	struct sw_report *r = &m->report;

	memset(m->domains, 0, m->topology.n_domains * sizeof(*m->domains));
	for (size_t i = 0; i < window->n_rows; i++)
		m->domains[window->rows[i].row->domain].proc_ns += window->rows[i].oncpu_ns;
	r->proc_oncpu_ns = r->other_oncpu_ns = r->idle_ns = r->lost_ns = r->offline_ns = 0;
	memset(r->lost_by_kind_ns, 0, sizeof(r->lost_by_kind_ns));
	for (unsigned i = 0; i < m->topology.n_domains; i++) {
		const struct sw_cpu_domain *w = &window->domains[i];
		struct sw_domain *d = &m->domains[i];

		d->nj = SW_ABSENT;
		d->other_ns = w->other_ns;
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

/* The chosen policy, task by task. */
static void share_domain(struct sw_monitor *m, const struct sw_window *window, unsigned domain, struct sw_energy *sum)
{
	struct sw_pool pool = pool_of(m, domain, m->report.window_ns);
	size_t n = 0;

	for (size_t i = 0; i < window->n_rows; i++) {
		const struct sw_window_row *w = &window->rows[i];

		if (w->row->domain == domain)
			m->shares[n++] = (struct sw_share){.weight = w->oncpu_ns, .tie = w->row->key, .who = w->who};
	}
	sw_attribute(m->options.policy, m->domains[domain].nj, m->shares, n, &pool);
	for (size_t i = 0; i < n + SW_POOL_SHARES; i++)
		if (m->shares[i].who)
			sw_process_add_energy(m->shares[i].who, m->shares[i].nj);
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

static void share_energy(struct sw_monitor *m, const struct sw_window *window, int64_t nowhere_nj)
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

/* Watts × the time by which reads may have missed the boundary, and a counter step at each end. */
static int64_t uncertainty_nj(const struct sw_monitor *m, int64_t total_nj, uint64_t time_ns, uint64_t blur_ns)
{
	if (sw_meter_is_modelled(&m->meter))
		return llround(MODEL_UNCERTAINTY * total_nj);
	return time_ns ? llround((double)total_nj / time_ns * (blur_ns + 2 * COUNTER_STEP_NS)) : SW_ABSENT;
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
	if (!m->meter.source)
		return flags;
	flags |= m->report.window_ns < SHORT_NS ? SW_FLAG_SHORT : 0;
	flags |= is_partial(m) ? SW_FLAG_PARTIAL : 0;
	flags |= !energy ? SW_FLAG_NO_ENERGY : 0;
	return flags;
}

static void add_totals(struct sw_monitor *m, bool energy)
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
	t->last_blur_ns = sw_energy_blur_ns(&m->windows.last_point);
	if (energy) {
		double share = r->energy.total_nj ? (double)r->energy.proc_nj / r->energy.total_nj : 0;
		double doubt = share * r->uncertainty_nj;

		t->has_energy = true;
		t->energy_ns += r->window_ns;
		t->proc_variance += doubt * doubt; /* the ends of different windows miss independently */
	} else if (m->meter.source) {
		t->s.windows_without_energy++;
	}
}

int sw_report_make(struct sw_monitor *m, const struct sw_window *window, const struct sw_report **ret)
{
	struct sw_report *r = &m->report;
	int64_t nowhere_nj;
	bool energy;
	size_t n;
	int err = add_rows(m, window);

	if (err)
		return err;
	free_rows(m);
	r->seq = m->totals.s.samples;
	r->t_ns = m->ended_ns;
	r->time_utc_ns = m->wake_utc_ns;
	r->window_ns = window->t1_ns - window->t0_ns;
	fill_domains(m, window);
	energy = sum_zones(m, window, &nowhere_nj);
	if (energy)
		share_energy(m, window, nowhere_nj);
	else
		r->energy = (struct sw_energy){SW_ABSENT, SW_ABSENT, SW_ABSENT, SW_ABSENT, SW_ABSENT};
	r->flags = flags_of(m, window, energy);
	r->uncertainty_nj = energy ? uncertainty_nj(m, r->energy.total_nj, r->window_ns, window->blur_ns) : SW_ABSENT;
	r->zone_nj = window->zone_nj;
	r->recursion_misses = m->recursion_misses;
	r->domains = m->domains;
	r->n_domains = m->topology.n_domains;
	r->processes = sw_processes_window(&m->processes, &n);
	if (n == SIZE_MAX)
		return -ENOMEM;
	r->n_processes = n;
	add_totals(m, energy);
	*ret = r;
	return 0;
}

int sw_monitor_summary(struct sw_monitor *m, const struct sw_summary **ret)
{
	const struct sw_energy absent = {SW_ABSENT, SW_ABSENT, SW_ABSENT, SW_ABSENT, SW_ABSENT};
	const struct sw_totals *t = &m->totals;
	struct sw_summary *s = &m->summary;
	size_t n_processes, n_comms;

	m->error.text[0] = '\0';
	free_summary(m);
	*s = t->s;
	s->processes = sw_processes_totals(&m->processes, &n_processes);
	s->comms = sw_processes_comms(&m->processes, &n_comms);
	if (n_processes == SIZE_MAX || n_comms == SIZE_MAX)
		return sw_fail(&m->error, -ENOMEM, "out of memory for a summary");
	s->n_processes = n_processes;
	s->n_comms = n_comms;
	s->processes_seen = m->processes.n_seen;
	s->processes_alive = m->processes.n_alive;
	s->processes_folded = m->processes.n_folded;
	for (int i = 0; i < SW_POLICIES; i++)
		if (!t->has_energy || (i == SW_POLICY_MARGINAL && !m->options.n_baseline))
			s->energy[i] = absent;
	if (t->has_energy) {
		const struct sw_energy *e = &s->energy[m->options.policy];

		s->total_uncertainty_nj = uncertainty_nj(m, e->total_nj, t->energy_ns, m->first_blur_ns + t->last_blur_ns);
		s->proc_uncertainty_nj = sw_meter_is_modelled(&m->meter) ? llround(MODEL_UNCERTAINTY * e->proc_nj)
									 : llround(sqrt(t->proc_variance));
	}
	*ret = s;
	return 0;
}

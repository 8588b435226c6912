/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what a whole recording comes to. Must not know: how anything was measured, how it is printed.
 */
#include "monitor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

void sw_summary_free(struct sw_monitor *m)
{
	free((void *)m->summary.processes);
	free((void *)m->summary.comms);
	free((void *)m->summary.threads);
	free((void *)m->summary.cgroups);
	m->summary = (struct sw_summary){0};
}

static int list_rows(struct sw_monitor *m)
{
	struct sw_summary *s = &m->summary;
	uint32_t by = m->options.by;

	s->processes = sw_processes_totals(&m->processes, &m->cgroups, &s->n_processes);
	s->comms = sw_processes_comms(&m->processes, &s->n_comms);
	if (by & SW_BY_THREAD)
		s->threads = sw_threads_totals(&m->threads, &m->processes, &s->n_threads);
	if (by & SW_BY_CGROUP)
		s->cgroups = sw_cgroups_totals(&m->cgroups, &s->n_cgroups);
	if (s->n_processes != SIZE_MAX && s->n_comms != SIZE_MAX && s->n_threads != SIZE_MAX &&
	    s->n_cgroups != SIZE_MAX)
		return 0;
	sw_summary_free(m);
	return sw_fail(&m->error, -ENOMEM, "out of memory for a summary");
}

static void fill_energy(struct sw_monitor *m)
{
	const struct sw_energy absent = {SW_ABSENT, SW_ABSENT, SW_ABSENT, SW_ABSENT, SW_ABSENT};
	const struct sw_totals *t = &m->totals;
	struct sw_summary *s = &m->summary;
	const struct sw_energy *chosen = &s->energy[m->options.policy];

	for (int i = 0; i < SW_POLICIES; i++)
		if (!t->has_energy || (i == SW_POLICY_MARGINAL && !m->options.n_baseline))
			s->energy[i] = absent;
	if (!t->has_energy)
		return;
	s->total_uncertainty_nj = sw_report_uncertainty_nj(m, chosen->total_nj, t->read_ns,
							   m->first_blur_ns + t->last_blur_ns);
	s->proc_uncertainty_nj = sw_meter_is_modelled(&m->meter)
					 ? sw_report_uncertainty_nj(m, chosen->proc_nj, t->read_ns, 0)
					 : llround(sqrt(t->proc_variance));
}

int sw_monitor_summary(struct sw_monitor *m, const struct sw_summary **ret)
{
	struct sw_summary *s = &m->summary;
	int err = 0;

	if (!m->follows || !m->finished) /* of one that failed, they say why */
		err = sw_runner_check_reads(m);
	if (err)
		return err;
	sw_summary_free(m);
	*s = m->totals.s;
	err = list_rows(m);
	if (err)
		return err;
	s->processes_seen = m->processes.n_seen;
	s->processes_alive = m->processes.n_alive;
	s->processes_folded = m->processes.n_folded;
	s->threads_folded = m->threads.n_folded;
	s->cgroups_folded = m->options.by & SW_BY_CGROUP ? m->cgroups.n_folded : 0;
	fill_energy(m);
	*ret = s;
	return 0;
}

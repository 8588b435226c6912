/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the names, units and meanings of all metrics, and their order. Must not know: who asks for the page, or where
 * the numbers come from. Relies on: Prometheus's "Metric and label naming" and "Writing exporters"; process_* are named
 * as its client libraries do.
 */
#include "exposition.h"

#include "schedwatt.h"

enum { NANO = 9 }; /* digits behind the point of nJ and ns, as J and s */

/* A metric without labels of its own. */
struct single {
	const char *name;
	enum metrics_type type;
	const char *unit;
	const char *help;
	int64_t value; /* or SW_ABSENT */
	unsigned digits;
};

static void add_label(struct metrics *m, struct buf *labels, const char *name, const char *value)
{
	metrics_label(labels, name, value);
	if (labels->err && !m->out->err)
		m->out->err = labels->err;
}

static void write_build(struct metrics *m, const char *version)
{
	metrics_family(m, "schedwatt_build", METRICS_INFO, NULL, "Version of schedwatt.");
	metrics_sample_with(m, NULL, "version", version, 1, 0);
}

static void write_source(struct metrics *m, const struct sw_header *h)
{
	struct buf labels = { 0 };

	metrics_family(m, "schedwatt_source", METRICS_INFO, NULL,
		       "Where CPU time (backend) and energy (source) come from, how good they are, and the rule "
		       "(policy) that shares energy out.");
	if (!h)
		return;
	add_label(m, &labels, "backend", h->backend);
	add_label(m, &labels, "attribution_quality", h->backend_quality);
	add_label(m, &labels, "hook", h->hook);
	add_label(m, &labels, "source", h->energy_source);
	add_label(m, &labels, "energy_quality", h->energy_quality);
	add_label(m, &labels, "policy", h->policy);
	metrics_sample(m, &labels, 1, 0);
	buf_free(&labels);
}

static void write_joules(struct metrics *m, const struct buf *labels, const struct energy_total *energy)
{
	for (unsigned q = 0; q < ENERGY_QUALITIES; q++)
		if (energy->known[q])
			metrics_sample_with(m, labels, "energy_quality", groups_quality_name(q), energy->nj[q], NANO);
}

static void write_zones(struct metrics *m, const struct groups *g, enum zone_kind kind)
{
	for (size_t i = 0; i < g->n_zones; i++)
		if (g->zones[i].kind == kind)
			write_joules(m, &g->zones[i].labels, &g->zones[i].energy);
}

static void write_energy(struct metrics *m, const struct groups *g)
{
	metrics_family(m, "schedwatt_zone_joules", METRICS_COUNTER, "joules",
		       "Energy of the zones that count, packages and their memory: the sum of groups, idle and "
		       "unattributed, in every scrape.");
	write_zones(m, g, ZONE_COUNTED);
	metrics_family(m, "schedwatt_subzone_joules", METRICS_COUNTER, "joules",
		       "Energy of parts of a package, which is in the package's.");
	write_zones(m, g, ZONE_SUBZONE);
	metrics_family(m, "schedwatt_platform_joules", METRICS_COUNTER, "joules",
		       "Energy of the whole platform (psys), which is not shared out.");
	write_joules(m, NULL, &g->platform);
	metrics_family(m, "schedwatt_idle_joules", METRICS_COUNTER, "joules",
		       "Energy that the policy gives to idle time.");
	write_joules(m, NULL, &g->idle);
	metrics_family(m, "schedwatt_unattributed_joules", METRICS_COUNTER, "joules",
		       "Energy that can be given to nobody, such as that of lost time.");
	write_joules(m, NULL, &g->unattributed);
}

static void write_group_joules(struct metrics *m, const struct groups *g)
{
	metrics_family(m, "schedwatt_group_joules", METRICS_COUNTER, "joules",
		       "Energy shared out to a group. Group other: all that have no series. Group departed: what "
		       "series that ended had, added in one step when they end, so leave it out of rates.");
	for (const struct group *group = g->table; group; group = group->hh.next)
		if (group->own)
			write_joules(m, &group->labels, &group->energy);
	write_joules(m, &g->other.labels, &g->other.energy);
	write_joules(m, &g->departed.labels, &g->departed.energy);
}

static void write_group_time(struct metrics *m, const struct groups *g)
{
	metrics_family(m, "schedwatt_group_cpu_seconds", METRICS_COUNTER, "seconds",
		       "On-CPU time of a group. Groups other and departed: as in schedwatt_group_joules_total.");
	for (const struct group *group = g->table; group; group = group->hh.next)
		if (group->own)
			metrics_sample(m, &group->labels, group->cpu_ns, NANO);
	metrics_sample(m, &g->other.labels, g->other.cpu_ns, NANO);
	metrics_sample(m, &g->departed.labels, g->departed.cpu_ns, NANO);
}

static void write_flaws(struct metrics *m, const struct groups *g)
{
	metrics_family(m, "schedwatt_lost_seconds", METRICS_COUNTER, "seconds",
		       "CPU time that was seen but cannot be given to a task.");
	for (unsigned i = 0; i < SW_LOST_KINDS; i++)
		metrics_sample_with(m, NULL, "kind", sw_lost_name(i), g->lost_by_kind_ns[i], NANO);
	metrics_family(m, "schedwatt_windows_flagged", METRICS_COUNTER, NULL,
		       "Windows of measurement with a flaw; one may have several.");
	for (unsigned i = 0; i < SW_FLAGS; i++)
		metrics_sample_with(m, NULL, "kind", sw_flag_name(i), g->windows_flagged[i], 0);
}

static void write_slots(struct metrics *m, const struct exposition_health *h)
{
	if (h->slots_used == SW_ABSENT || h->slots_free == SW_ABSENT)
		return;
	metrics_family(m, "schedwatt_slots", METRICS_GAUGE, NULL,
		       "Tasks that the table in the kernel holds (used), and room for more (free).");
	metrics_sample_with(m, NULL, "state", "used", (metrics_total)h->slots_used, 0);
	metrics_sample_with(m, NULL, "state", "free", (metrics_total)h->slots_free, 0);
}

static void write_switch_cost(struct metrics *m, const struct exposition_health *h)
{
	if (h->switch_cost_ns == SW_ABSENT)
		return;
	metrics_family(m, "schedwatt_switch_cost_seconds", METRICS_GAUGE, "seconds",
		       "What accounting a context switch costs, by the kernel's own measure: at the start, and as long as "
		       "kernel.bpf_stats_enabled is set.");
	metrics_sample_with(m, NULL, "origin", h->switch_cost_origin, (metrics_total)h->switch_cost_ns, NANO);
}

static void write_singles(struct metrics *m, const struct single *singles, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct single *s = &singles[i];

		if (s->value < 0) /* SW_ABSENT is; no other number here can be */
			continue;
		metrics_family(m, s->name, s->type, s->unit, s->help);
		metrics_sample(m, NULL, (metrics_total)s->value, s->digits);
	}
}

static void write_ledger(struct metrics *m, const struct groups *g)
{
	const struct single singles[] = {
		{ "schedwatt_windows", METRICS_COUNTER, NULL, "Windows of measurement.", (int64_t)g->windows, 0 },
		{ "schedwatt_windows_without_energy", METRICS_COUNTER, NULL,
		  "Windows that have no joules, though there is a source of energy.",
		  (int64_t)g->windows_without_energy, 0 },
		{ "schedwatt_last_window_timestamp_seconds", METRICS_GAUGE, "seconds", "When the last window ended.",
		  g->windows ? g->last_utc_ns : SW_ABSENT, NANO },
		{ "schedwatt_recursion_misses", METRICS_COUNTER, NULL,
		  "Runs of the program in the kernel that the kernel left out.",
		  g->recursion_known ? (int64_t)g->recursion_misses : SW_ABSENT, 0 },
		{ "schedwatt_group_series", METRICS_GAUGE, NULL, "Groups that have series, other and departed apart.",
		  (int64_t)g->n_own, 0 },
		{ "schedwatt_group_series_limit", METRICS_GAUGE, NULL, "How many groups can have series.",
		  (int64_t)g->options.max_series, 0 },
		{ "schedwatt_groups_without_series", METRICS_GAUGE, NULL,
		  "Groups in the last window that are part of group other.", (int64_t)g->without_own, 0 },
		{ "schedwatt_groups_departed", METRICS_COUNTER, NULL,
		  "Groups whose series ended: they are gone, or gave way to a larger one.", (int64_t)g->departures, 0 },
	};

	write_singles(m, singles, sizeof(singles) / sizeof(singles[0]));
}

static void write_health(struct metrics *m, const struct exposition_health *h)
{
	const struct single singles[] = {
		{ "schedwatt_accounting_available", METRICS_GAUGE, NULL,
		  "1: CPU time is being accounted; 0: it is not.", h->accounting, 0 },
		{ "schedwatt_energy_available", METRICS_GAUGE, NULL,
		  "1: the last window had joules; 0: it had none, and there are no joules here until one has.", h->energy, 0 },
		{ "schedwatt_monitor_retries", METRICS_COUNTER, NULL,
		  "Times that accounting was begun anew, or tried to be, after it had failed.", h->monitor_retries, 0 },
		{ "schedwatt_context_switches", METRICS_COUNTER, NULL, "Context switches of the host.",
		  h->context_switches, 0 },
		{ "schedwatt_overhead_ratio", METRICS_GAUGE, "ratio",
		  "Estimate of what schedwatt costs: context switches times their cost and its own CPU time, of "
		  "all CPUs' time.", h->overhead_parts, NANO },
		{ "process_cpu_seconds", METRICS_COUNTER, "seconds", "CPU time of this exporter, user and system.",
		  h->cpu_ns, NANO },
		{ "process_resident_memory_bytes", METRICS_GAUGE, "bytes", "Resident memory of this exporter.",
		  h->resident_bytes, 0 },
		{ "process_open_fds", METRICS_GAUGE, NULL, "Open file descriptors of this exporter.", h->open_fds, 0 },
		{ "process_start_time_seconds", METRICS_GAUGE, "seconds",
		  "When this exporter was started, in seconds since the epoch.", h->start_utc_ns, NANO },
	};

	write_slots(m, h);
	write_switch_cost(m, h);
	write_singles(m, singles, sizeof(singles) / sizeof(singles[0]));
}

void exposition_write(struct buf *out, enum metrics_format format, const struct exposition *e)
{
	struct metrics m = { .out = out, .format = format };

	write_build(&m, e->version);
	write_source(&m, e->header);
	/* what is not measured now has no series: one that stands still would say that nothing is used */
	if (e->health.energy) {
		write_energy(&m, e->groups);
		write_group_joules(&m, e->groups);
	}
	if (e->health.accounting)
		write_group_time(&m, e->groups);
	write_flaws(&m, e->groups);
	write_ledger(&m, e->groups);
	write_health(&m, &e->health);
	metrics_end(&m);
}

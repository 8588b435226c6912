/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the records of schema schedwatt/1, their fields and the order of them (rows are jsonl_rows.c's). Must not know:
 * where they are written, or how a number came about. Relies on: README, "Use"; a field that is not known is null, and
 * one that cannot be filled yet is left out, which readers allow for.
 */
#include "sink.h"

#include "json.h"
#include "jsonl_flat.h"
#include "jsonl_rows.h"
#include "jsonl_run.h"

static void add_refusals(int *err, struct json_object *in, const char *key, const char *what,
			 const struct sw_refusal *refusals, size_t n)
{
	struct json_object *list = record_array(err, in, key);

	for (size_t i = 0; i < n; i++) {
		struct json_object *refusal = record_object(err, list, NULL);

		record_text(err, refusal, what, refusals[i].name);
		record_text(err, refusal, "reason", refusals[i].reason);
	}
}

static void add_target(int *err, struct json_object *in, const struct sw_header *h)
{
	static const char *const kinds[] = {
		[SW_TARGET_HOST] = "host",
		[SW_TARGET_PIDS] = "pids",
		[SW_TARGET_CGROUP] = "cgroup",
	};
	struct json_object *target = record_object(err, in, "target"), *pids;

	record_text(err, target, "kind", h->target <= SW_TARGET_CGROUP ? kinds[h->target] : NULL);
	if (h->target == SW_TARGET_CGROUP)
		record_text(err, target, "path", h->cgroup);
	if (h->target != SW_TARGET_PIDS)
		return;
	pids = record_array(err, target, "pids");
	for (size_t i = 0; i < h->n_pids; i++)
		record_int(err, pids, NULL, h->pids[i]);
	record_text(err, target, "scope", h->scope == SW_SCOPE_PROCESS ? "process" : "tree");
}

static void add_zones(int *err, struct json_object *in, const struct sw_header *h)
{
	struct json_object *zones = record_array(err, in, "zones"), *list;

	for (size_t i = 0; i < h->n_zones; i++) {
		const struct sw_zone *z = &h->zones[i];
		struct json_object *zone = record_object(err, zones, NULL);

		record_text(err, zone, "name", z->name);
		record_count(err, zone, "package", z->package < 0 ? SW_ABSENT : z->package);
		record_text(err, zone, "parent", z->parent);
		list = record_array(err, zone, "domains");
		for (uint32_t d = 0; d < SW_DOMAINS_MAX; d++)
			if (z->domains >> d & 1)
				record_uint(err, list, NULL, d);
		if (z->range_nj == SW_ABSENT)
			record_null(err, zone, "range_uj");
		else
			record_decimal(err, zone, "range_uj", z->range_nj, 3);
		record_bool(err, zone, "counted", z->counted);
		record_bool(err, zone, "one_core", z->one_core);
		record_text(err, zone, "problem", z->problem);
	}
}

static void add_flag(int *err, struct json_object *in, const char *name, int64_t flag)
{
	if (flag == SW_ABSENT)
		record_null(err, in, name);
	else
		record_bool(err, in, name, flag);
}

static void add_environment(int *err, struct json_object *in, const struct recording *rec)
{
	struct json_object *environment = record_object(err, in, "environment"), *command;
	const struct sw_environment *e = rec->header->environment;

	record_text(err, environment, "governor", e->governor);
	record_text(err, environment, "driver", e->driver);
	add_flag(err, environment, "turbo", e->turbo);
	add_flag(err, environment, "smt", e->smt);
	record_text(err, environment, "microcode", e->microcode);
	add_flag(err, environment, "ac_power", e->ac_power);
	if (e->load_hundredths == SW_ABSENT)
		record_null(err, environment, "load");
	else
		record_decimal(err, environment, "load", e->load_hundredths, 2);
	if (rec->command) {
		command = record_array(err, environment, "command");
		for (char *const *arg = rec->command; *arg; arg++)
			record_text(err, command, NULL, *arg);
	} else {
		record_null(err, environment, "command");
	}
	record_text(err, environment, "slurm_job_id", rec->slurm_job_id);
}

/* Said on every record: what stands behind its numbers. */
static void add_quality(int *err, struct json_object *in, const struct sw_header *h)
{
	record_text(err, in, "attribution_backend", h->backend);
	record_text(err, in, "attribution_quality", h->backend_quality);
	record_text(err, in, "energy_source", h->energy_source);
	record_text(err, in, "energy_quality", h->energy_quality);
}

static void jsonl_header(const struct recording *rec, struct buf *out)
{
	const struct sw_header *h = rec->header;
	struct json_object *record, *list;
	int err = 0;

	record = record_new(&err, "header");
	record_text(&err, record, "schema", "schedwatt/1");
	record_text(&err, record, "version", h->version);
	record_time(&err, record, "started_at", h->started_utc_ns);
	record_uint(&err, record, "started_ns", h->started_ns);
	record_text(&err, record, "host", rec->host);
	record_text(&err, record, "kernel", h->kernel);
	record_text(&err, record, "cpu_model", h->cpu_model);
	record_uint(&err, record, "cpus", h->cpus);
	record_uint(&err, record, "packages", h->packages);
	record_uint(&err, record, "domains", h->domains);
	add_target(&err, record, h);
	record_uint(&err, record, "interval_ms", h->interval_ms);
	add_quality(&err, record, h);
	record_text(&err, record, "backend_note", h->backend_note);
	record_text(&err, record, "hook", h->hook);
	if (h->own_cgroup)
		record_text(&err, record, "own_cgroup", h->own_cgroup);
	record_count(&err, record, "slots", h->slots ? h->slots : SW_ABSENT);
	add_refusals(&err, record, "backend_refusals", "backend", h->backend_refusals, h->n_backend_refusals);
	add_refusals(&err, record, "energy_refusals", "source", h->energy_refusals, h->n_energy_refusals);
	add_zones(&err, record, h);
	record_text(&err, record, "attribution_policy", h->policy);
	list = record_array(&err, record, "baseline_watts");
	for (size_t i = 0; i < h->n_baseline; i++)
		record_udecimal(&err, list, NULL, h->baseline_uw[i], 6);
	add_environment(&err, record, rec);
	list = record_object(&err, record, "labels");
	for (size_t i = 0; i < rec->n_labels; i++)
		record_text(&err, list, rec->labels[i].key, rec->labels[i].value);
	record_finish(err, record, out);
}

static void add_lost(int *err, struct json_object *in, const uint64_t *lost_by_kind_ns)
{
	struct json_object *kinds = record_object(err, in, "lost_by_kind_ns");

	for (uint32_t kind = 0; kind < SW_LOST_KINDS; kind++)
		record_uint(err, kinds, sw_lost_name(kind), lost_by_kind_ns[kind]);
}

static void add_domains(int *err, struct json_object *in, const struct sw_report *r)
{
	struct json_object *list;

	if (r->n_domains < 2)
		return;
	list = record_array(err, in, "domains");
	for (size_t i = 0; i < r->n_domains; i++) {
		struct json_object *domain = record_object(err, list, NULL);

		record_uint(err, domain, "busy_ns", r->domains[i].busy_ns);
		record_uint(err, domain, "idle_ns", r->domains[i].idle_ns);
		record_uint(err, domain, "lost_ns", r->domains[i].lost_ns);
		record_joules(err, domain, "joules", r->domains[i].nj);
	}
}

static void add_lists(int *err, struct json_object *in, const struct recording *rec, const struct sw_report *r,
		      const struct sw_data *rows)
{
	const struct sw_header *h = rec->header;

	if (rows) {
		jsonl_table(err, in, "processes", &rows->processes, rec->columns.n);
		if (rec->thread_columns.n)
			jsonl_table(err, in, "threads", &rows->threads, rec->thread_columns.n);
		return;
	}
	if (h->by & SW_BY_PROCESS)
		jsonl_processes(err, in, h, r->processes, r->n_processes, false);
	if (h->by & SW_BY_THREAD)
		jsonl_threads(err, in, h, r->threads, r->n_threads);
	if (h->by & SW_BY_CGROUP)
		jsonl_cgroups(err, in, r->cgroups, r->n_cgroups);
	if (h->by & SW_BY_COMM)
		jsonl_comms(err, in, r->comms, r->n_comms);
}

static void jsonl_sample(const struct recording *rec, const struct sw_report *r, const struct sw_data *rows,
			 struct buf *out)
{
	const struct sw_header *h = rec->header;
	struct json_object *record, *nested;
	int err = 0;


	record = record_new(&err, "sample");
	record_uint(&err, record, "seq", r->seq);
	record_uint(&err, record, "t_ns", r->t_ns);
	record_time(&err, record, "time_utc", r->time_utc_ns);
	record_uint(&err, record, "window_ns", r->window_ns);
	add_quality(&err, record, h);
	record_joules(&err, record, "total_joules", r->energy.total_nj);
	record_joules(&err, record, "package_joules", r->package_nj);
	record_joules(&err, record, "dram_joules", r->dram_nj);
	record_joules(&err, record, "platform_joules", r->platform_nj);
	nested = record_object(&err, record, "zone_joules");
	for (size_t i = 0; i < h->n_zones; i++)
		record_joules(&err, nested, h->zones[i].name, r->zone_nj[i]);
	record_joules(&err, record, "energy_uncertainty_joules", r->uncertainty_nj);
	record_count(&err, record, "energy_read_late_ns", r->read_late_ns);
	record_count(&err, record, "energy_read_bracket_ns", r->read_bracket_ns);
	record_joules(&err, record, "proc_attributed_joules", r->energy.proc_nj);
	record_joules(&err, record, "other_joules", r->energy.other_nj);
	record_joules(&err, record, "idle_joules", r->energy.idle_nj);
	record_joules(&err, record, "unattributed_joules", r->energy.unattributed_nj);
	record_uint(&err, record, "proc_oncpu_ns", r->proc_oncpu_ns);
	record_uint(&err, record, "other_oncpu_ns", r->other_oncpu_ns);
	record_uint(&err, record, "idle_ns", r->idle_ns);
	record_uint(&err, record, "lost_ns", r->lost_ns);
	add_lost(&err, record, r->lost_by_kind_ns);
	record_count(&err, record, "recursion_misses", r->recursion_misses);
	record_uint(&err, record, "offline_ns", r->offline_ns);
	record_count(&err, record, "irq_ns", r->irq_ns);
	record_count(&err, record, "steal_ns", r->steal_ns);
	record_count(&err, record, "shared_with", r->shared_with);
	record_count(&err, record, "shared_ns", r->shared_ns);
	record_uint(&err, record, "exits", r->exits);
	record_uint(&err, record, "exits_ns", r->exits_ns);
	add_domains(&err, record, r);
	nested = record_array(&err, record, "window_flags");
	for (uint32_t bit = 0; bit < SW_FLAGS; bit++) {
		if (r->flags & UINT32_C(1) << bit)
			record_text(&err, nested, NULL, sw_flag_name(bit));
	}
	if (!rec->flat)
		add_lists(&err, record, rec, r, rows);
	record_finish(err, record, out);
	if (rec->flat)
		jsonl_flat(rec, r, rows, out);
}

static void add_parts(int *err, struct json_object *in, const struct sw_energy *e)
{
	record_joules(err, in, "proc_attributed_joules", e->proc_nj);
	record_joules(err, in, "other_joules", e->other_nj);
	record_joules(err, in, "idle_joules", e->idle_nj);
	record_joules(err, in, "unattributed_joules", e->unattributed_nj);
}

void jsonl_totals(int *err, struct json_object *record, const struct recording *rec, const struct sw_summary *s)
{
	const struct sw_header *h = rec->header;
	int policy = sw_policy_parse(h->policy);
	struct json_object *nested;
	bool told;

	add_quality(err, record, h);
	record_text(err, record, "attribution_policy", h->policy);
	if (policy >= 0) {
		record_joules(err, record, "total_joules", s->energy[policy].total_nj);
		add_parts(err, record, &s->energy[policy]);
	}
	record_joules(err, record, "total_uncertainty_joules", s->total_uncertainty_nj);
	record_joules(err, record, "proc_attributed_uncertainty_joules", s->proc_uncertainty_nj);
	nested = record_object(err, record, "policies");
	for (uint32_t i = 0; i < SW_POLICIES; i++)
		add_parts(err, record_object(err, nested, sw_policy_name(i)), &s->energy[i]);
	record_text(err, record, "end", rec->end);
	record_udecimal(err, record, "duration_s", s->duration_ns, 9);
	record_uint(err, record, "samples", s->samples);
	record_uint(err, record, "windows_without_energy", s->windows_without_energy);
	nested = record_object(err, record, "windows_flagged");
	for (uint32_t bit = 0; bit < SW_FLAGS; bit++)
		record_uint(err, nested, sw_flag_name(bit), s->windows_flagged[bit]);
	record_uint(err, record, "proc_oncpu_ns", s->proc_oncpu_ns);
	record_uint(err, record, "other_oncpu_ns", s->other_oncpu_ns);
	record_uint(err, record, "idle_ns", s->idle_ns);
	record_uint(err, record, "lost_ns", s->lost_ns);
	add_lost(err, record, s->lost_by_kind_ns);
	record_count(err, record, "recursion_misses", s->recursion_misses);
	record_uint(err, record, "offline_ns", s->offline_ns);
	record_count(err, record, "shared_with", s->shared_with);
	/* a back end that knows nothing but cgroups has not seen any, whoever was there */
	told = h->by & ~(uint32_t)SW_BY_CGROUP || s->processes_seen;
	record_count(err, record, "processes_seen", told ? (int64_t)s->processes_seen : SW_ABSENT);
	record_count(err, record, "processes_alive", told ? (int64_t)s->processes_alive : SW_ABSENT);
	record_uint(err, record, "processes_folded", s->processes_folded);
}

void jsonl_totals_rows(int *err, struct json_object *record, const struct sw_header *h, const struct sw_summary *s)
{
	jsonl_processes(err, record, h, s->processes, s->n_processes, true);
	if (h->by & SW_BY_THREAD) {
		record_uint(err, record, "threads_folded", s->threads_folded);
		jsonl_threads(err, record, h, s->threads, s->n_threads);
	}
	if (h->by & SW_BY_CGROUP) {
		record_uint(err, record, "cgroups_folded", s->cgroups_folded);
		jsonl_cgroups(err, record, s->cgroups, s->n_cgroups);
	}
	jsonl_comms(err, record, s->comms, s->n_comms);
}

static void jsonl_summary(const struct recording *rec, const struct sw_summary *s, struct buf *out)
{
	struct json_object *record;
	int err = 0;

	record = record_new(&err, "summary");
	jsonl_totals(&err, record, rec, s);
	jsonl_totals_rows(&err, record, rec->header, s);
	record_finish(err, record, out);
}

const struct sink sink_jsonl = {
	"jsonl", jsonl_header, jsonl_sample, jsonl_summary, &sink_compare_jsonl, NULL, jsonl_run, jsonl_series,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what a series of runs comes to: which of them count, their statistics, the summary of them together.
 * Must not know: how a run is made, or how numbers are spelt.
 * Relies on: schedwatt.h: a summary's energy leaves windows out that have none.
 */
#include "series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "series_notes.h"
#include "text.h"

const char *series_quantity(enum quantity quantity)
{
	static const char *const names[QUANTITIES] = { "joules", "watts", "cpu_s", "wall_s" };

	return names[quantity];
}

bool series_is_one(const struct series *s)
{
	return s->repeat + s->warmup == 1;
}

static void free_refusals(const struct sw_refusal *refusals, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free((char *)refusals[i].name);
		free((char *)refusals[i].reason);
	}
	free((struct sw_refusal *)refusals);
}

static void free_environment(struct sw_environment *e)
{
	if (!e)
		return;
	free((char *)e->governor);
	free((char *)e->driver);
	free((char *)e->microcode);
	free(e);
}

static void free_header(struct sw_header *h)
{
	if (!h)
		return;
	free((char *)h->backend);
	free((char *)h->backend_quality);
	free((char *)h->backend_note);
	free((char *)h->hook);
	free((char *)h->energy_source);
	free((char *)h->energy_quality);
	free((char *)h->policy);
	free_refusals(h->backend_refusals, h->n_backend_refusals);
	free_refusals(h->energy_refusals, h->n_energy_refusals);
	for (size_t i = 0; i < h->n_zones; i++) {
		free((char *)h->zones[i].name);
		free((char *)h->zones[i].problem);
	}
	free((struct sw_zone *)h->zones);
	free_environment((struct sw_environment *)h->environment);
	free(h);
}

void series_free(struct series *s)
{
	free(s->runs);
	free_header(s->header);
	for (size_t i = 0; i < s->n_notes; i++)
		free(s->notes[i]);
	free(s->notes);
	*s = (struct series){ 0 };
}

static const char *copy(const char *text, int *err)
{
	char *dup = text ? strdup(text) : NULL;

	if (text && !dup)
		*err = -ENOMEM;
	return dup;
}

static const struct sw_refusal *copy_refusals(const struct sw_refusal *from, size_t n, size_t *ret_n, int *err)
{
	struct sw_refusal *to = n ? calloc(n, sizeof(*to)) : NULL;

	*ret_n = to ? n : 0;
	if (n && !to)
		*err = -ENOMEM;
	for (size_t i = 0; i < *ret_n; i++)
		to[i] = (struct sw_refusal){ .name = copy(from[i].name, err), .reason = copy(from[i].reason, err) };
	return to;
}

static void copy_zones(const struct sw_header *from, struct sw_header *to, int *err)
{
	struct sw_zone *zones = from->n_zones ? calloc(from->n_zones, sizeof(*zones)) : NULL;

	if (from->n_zones && !zones)
		*err = -ENOMEM;
	to->n_zones = zones ? from->n_zones : 0;
	to->zones = zones;
	for (size_t i = 0; i < to->n_zones; i++)
		zones[i] = (struct sw_zone){ .name = copy(from->zones[i].name, err),
					     .problem = copy(from->zones[i].problem, err) };
}

static void copy_environment(const struct sw_header *from, struct sw_header *to, int *err)
{
	struct sw_environment *environment = malloc(sizeof(*environment));

	to->environment = environment;
	if (!environment) {
		*err = -ENOMEM;
		return;
	}
	*environment = *from->environment;
	environment->governor = copy(environment->governor, err);
	environment->driver = copy(environment->driver, err);
	environment->microcode = copy(environment->microcode, err);
}

int series_header(struct series *s, const struct sw_header *h)
{
	struct sw_header *own;
	int err = 0;

	if (s->header)
		return 0;
	own = calloc(1, sizeof(*own));
	if (!own)
		return -ENOMEM;
	own->by = h->by;
	own->backend = copy(h->backend, &err);
	own->backend_quality = copy(h->backend_quality, &err);
	own->backend_note = copy(h->backend_note, &err);
	own->hook = copy(h->hook, &err);
	own->energy_source = copy(h->energy_source, &err);
	own->energy_quality = copy(h->energy_quality, &err);
	own->policy = copy(h->policy, &err);
	own->backend_refusals = copy_refusals(h->backend_refusals, h->n_backend_refusals, &own->n_backend_refusals, &err);
	own->energy_refusals = copy_refusals(h->energy_refusals, h->n_energy_refusals, &own->n_energy_refusals, &err);
	copy_zones(h, own, &err);
	copy_environment(h, own, &err);
	if (err) {
		free_header(own);
		return err;
	}
	s->header = own;
	return 0;
}

static enum sw_policy policy_of(const struct sw_header *h)
{
	int policy = sw_policy_parse(h->policy);

	return policy < 0 ? SW_POLICY_BUSY : (enum sw_policy)policy;
}

static int64_t known_ns(uint64_t ns)
{
	return ns > INT64_MAX ? SW_ABSENT : (int64_t)ns;
}

struct run *series_add(struct series *s, const struct run *run, const struct sw_header *h, const struct sw_summary *summary)
{
	struct run *runs = realloc(s->runs, (s->n + 1) * sizeof(*runs)), *r;
	bool failed = run->wait_status != 0;

	if (!runs)
		return NULL;
	s->runs = runs;
	r = &runs[s->n++];
	*r = *run;
	r->summary = *summary;
	r->started_utc_ns = h->started_utc_ns;
	r->started_ns = h->started_ns;
	r->counted = !r->warmup && !r->interrupted && r->recorded && (!failed || s->keep_going || series_is_one(s));
	r->quantities[QUANTITY_JOULES] =
		summary->windows_without_energy ? SW_ABSENT : summary->energy[policy_of(h)].proc_nj;
	r->quantities[QUANTITY_WATTS] = text_nw(r->quantities[QUANTITY_JOULES], summary->duration_ns);
	r->quantities[QUANTITY_CPU] = known_ns(summary->proc_oncpu_ns);
	r->quantities[QUANTITY_WALL] = known_ns(summary->duration_ns);
	s->n_counted += r->counted;
	s->n_failed += r->counted && failed;
	if (r->counted && s->header && strcmp(h->energy_source, s->header->energy_source))
		s->mixed_energy = true;
	return r;
}

void series_forget_rows(struct run *run)
{
	struct sw_summary *s = &run->summary;

	s->processes = NULL;
	s->comms = NULL;
	s->threads = NULL;
	s->cgroups = NULL;
	s->n_processes = s->n_comms = s->n_threads = s->n_cgroups = 0;
}

/* Rounded half up. */
static uint64_t part(unsigned __int128 sum, size_t n)
{
	return (uint64_t)((sum + n / 2) / n);
}

/* The mean over runs that count of what lies `offset` into their summaries. */
static uint64_t mean_ns(const struct series *s, size_t offset)
{
	unsigned __int128 sum = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (s->runs[i].counted)
			sum += *(const uint64_t *)((const char *)&s->runs[i].summary + offset);
	}
	return part(sum, s->n_counted);
}

/* Likewise of an energy, over those runs that have it for all of their time. */
static int64_t mean_nj(const struct series *s, size_t offset)
{
	__int128 sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct run *r = &s->runs[i];
		int64_t nj = *(const int64_t *)((const char *)&r->summary + offset);

		if (!r->counted || r->summary.windows_without_energy || nj == SW_ABSENT)
			continue;
		sum += nj;
		n++;
	}
	return n ? (int64_t)((sum + (__int128)(n / 2)) / (__int128)n) : SW_ABSENT;
}

/* The total is the sum of its parts, as in every record: where each is rounded, that may be an nJ off the mean. */
static void mean_energy(struct series *s, size_t policy)
{
	size_t at = offsetof(struct sw_summary, energy) + policy * sizeof(struct sw_energy);
	struct sw_energy *e = &s->mean.energy[policy];

	e->proc_nj = mean_nj(s, at + offsetof(struct sw_energy, proc_nj));
	e->other_nj = mean_nj(s, at + offsetof(struct sw_energy, other_nj));
	e->idle_nj = mean_nj(s, at + offsetof(struct sw_energy, idle_nj));
	e->unattributed_nj = mean_nj(s, at + offsetof(struct sw_energy, unattributed_nj));
	e->total_nj = e->proc_nj == SW_ABSENT ? SW_ABSENT : e->proc_nj + e->other_nj + e->idle_nj + e->unattributed_nj;
}

static void add_counts(struct sw_summary *sum, const struct sw_summary *one)
{
	sum->samples += one->samples;
	sum->windows_without_energy += one->windows_without_energy;
	for (uint32_t bit = 0; bit < SW_FLAGS; bit++)
		sum->windows_flagged[bit] += one->windows_flagged[bit];
	if (sum->recursion_misses != SW_ABSENT)
		sum->recursion_misses = one->recursion_misses == SW_ABSENT ? SW_ABSENT
									   : sum->recursion_misses + one->recursion_misses;
	if (one->shared_with > sum->shared_with)
		sum->shared_with = one->shared_with;
	sum->processes_seen += one->processes_seen;
	sum->processes_alive += one->processes_alive;
	sum->processes_folded += one->processes_folded;
	sum->threads_folded += one->threads_folded;
	sum->cgroups_folded += one->cgroups_folded;
}

static void fill_mean(struct series *s)
{
	struct sw_summary *m = &s->mean;

	*m = (struct sw_summary){ .shared_with = SW_ABSENT };
	for (size_t policy = 0; policy < SW_POLICIES; policy++)
		mean_energy(s, policy);
	m->total_uncertainty_nj = mean_nj(s, offsetof(struct sw_summary, total_uncertainty_nj));
	m->proc_uncertainty_nj = mean_nj(s, offsetof(struct sw_summary, proc_uncertainty_nj));
	m->duration_ns = mean_ns(s, offsetof(struct sw_summary, duration_ns));
	m->proc_oncpu_ns = mean_ns(s, offsetof(struct sw_summary, proc_oncpu_ns));
	m->other_oncpu_ns = mean_ns(s, offsetof(struct sw_summary, other_oncpu_ns));
	m->idle_ns = mean_ns(s, offsetof(struct sw_summary, idle_ns));
	m->offline_ns = mean_ns(s, offsetof(struct sw_summary, offline_ns));
	for (size_t kind = 0; kind < SW_LOST_KINDS; kind++) {
		m->lost_by_kind_ns[kind] =
			mean_ns(s, offsetof(struct sw_summary, lost_by_kind_ns) + kind * sizeof(uint64_t));
		m->lost_ns += m->lost_by_kind_ns[kind];
	}
	for (size_t i = 0; i < s->n; i++) {
		if (s->runs[i].counted)
			add_counts(m, &s->runs[i].summary);
	}
}

int series_end(struct series *s)
{
	int64_t *values = malloc((s->n_counted ? s->n_counted : 1) * sizeof(*values));
	int err = values ? 0 : -ENOMEM;

	for (size_t q = 0; !err && q < QUANTITIES; q++) {
		size_t n = 0;

		for (size_t i = 0; i < s->n; i++) {
			if (s->runs[i].counted)
				values[n++] = s->runs[i].quantities[q];
		}
		err = statistics_of(values, n, &s->statistics[q]);
	}
	free(values);
	if (err)
		return err;
	if (s->n_counted)
		fill_mean(s);
	return series_notes(s);
}

void series_budget(const struct series *s, const struct budget *b, struct budget_result *r)
{
	const struct statistics *of = &s->statistics[b->kind == BUDGET_JOULES ? QUANTITY_JOULES : QUANTITY_CPU];

	*r = (struct budget_result){ .mean = of->mean, .runs = of->n, .missing = of->absent };
	budget_judge(b, r);
}

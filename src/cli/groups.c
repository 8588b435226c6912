/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the totals of groups, who has a series and for how long, and that all totals together stay true. Must not know:
 * what a row or a zone is called, or how totals are shown. Relies on uthash.
 */
#define HASH_NONFATAL_OOM 1 /* nothing is added to the table here */
#include "groups_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000ULL

enum {
	MAX_SERIES = 1000,
	STAY_S = 300, /* as long as Prometheus looks back for a value */
	HOLD_S = 60,
};

/* A window while it is being added: what has to be known before anything is. */
struct window {
	const struct sw_header *header;
	const struct sw_report *report;
	struct zones_plan zones;
	struct rows_sum rows;
	bool energy;
	enum energy_quality quality;
};

const char *groups_quality_name(enum energy_quality quality)
{
	static const char *const names[ENERGY_QUALITIES] = { "measured", "modelled" };

	return names[quality];
}

uint32_t groups_rows(enum groups_by by)
{
	static const uint32_t rows[] = { SW_BY_CGROUP, SW_BY_COMM, SW_BY_PROCESS };

	return rows[by];
}

int groups_open(const struct groups_options *options, struct groups **ret)
{
	struct groups *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->options = *options;
	if (!g->options.max_series)
		g->options.max_series = MAX_SERIES;
	if (!g->options.stay_ns)
		g->options.stay_ns = STAY_S * NS_PER_S;
	if (!g->options.hold_ns)
		g->options.hold_ns = HOLD_S * NS_PER_S;
	metrics_label(&g->other.labels, "group", "other");
	metrics_label(&g->departed.labels, "group", "departed");
	if (g->other.labels.err || g->departed.labels.err) {
		groups_close(g);
		return -ENOMEM;
	}
	*ret = g;
	return 0;
}

void groups_close(struct groups *g)
{
	struct group *group, *next;

	if (!g)
		return;
	HASH_ITER(hh, g->table, group, next) {
		HASH_DEL(g->table, group);
		group_free(group);
	}
	groups_free_paths(g);
	for (size_t i = 0; i < g->n_zones; i++)
		buf_free(&g->zones[i].labels);
	free(g->zones);
	free(g->newcomers);
	free(g->holders);
	buf_free(&g->other.labels);
	buf_free(&g->departed.labels);
	free(g);
}

void groups_new_monitor(struct groups *g)
{
	g->last_misses = 0;
}

/* --- who has a series */

static uint64_t recent_ns(const struct group *group, uint64_t now_ns, uint64_t hold_ns)
{
	uint64_t halvings = (now_ns - group->recent_at_ns) / hold_ns;

	return halvings < 64 ? group->recent_ns >> halvings : 0;
}

static void weigh_group(const struct groups *g, struct group *group, const struct sw_report *report)
{
	uint64_t per_second = group->window_ns;

	if (report->window_ns)
		per_second = (uint64_t)((metrics_total)group->window_ns * NS_PER_S / report->window_ns);
	if (per_second < recent_ns(group, report->t_ns, g->options.hold_ns))
		return;
	group->recent_ns = per_second;
	group->recent_at_ns = report->t_ns;
}

/* The series ends; the group may go on without, from 0. */
static void depart(struct groups *g, struct group *group)
{
	for (unsigned q = 0; q < ENERGY_QUALITIES; q++)
		g->departed.energy.nj[q] += group->energy.nj[q];
	g->departed.cpu_ns += group->cpu_ns;
	group->energy = (struct energy_total){ 0 };
	group->cpu_ns = 0;
	group->own = false;
	g->n_own--;
	g->departures++;
}

static void give_series(struct groups *g, struct group *group, uint64_t now_ns)
{
	group->own = true;
	group->since_ns = now_ns;
	g->n_own++;
}

/* Those whose time is over. Groups are asked for after each stay_ns, not in each window. */
static void let_go(struct groups *g, uint64_t now_ns)
{
	for (struct group *group = g->table; group; group = group->hh.next) {
		if (!group->own || group->seen || now_ns - group->active_ns < g->options.stay_ns)
			continue;
		if (!group->ended && g->options.is_there && g->options.is_there(g->options.ctx, group))
			group->active_ns = now_ns;
		else
			depart(g, group);
	}
}

static int by_labels(const struct group *a, const struct group *b)
{
	size_t len = a->labels.len < b->labels.len ? a->labels.len : b->labels.len;
	int order = memcmp(a->labels.data, b->labels.data, len);

	return order ? order : (a->labels.len > b->labels.len) - (a->labels.len < b->labels.len);
}

static int largest_first(const void *a, const void *b)
{
	const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;

	if (x->recent_ns != y->recent_ns)
		return x->recent_ns < y->recent_ns ? 1 : -1;
	return by_labels(x, y);
}

struct group_holder {
	struct group *group;
	uint64_t recent_ns;
};

static int smallest_first(const void *a, const void *b)
{
	const struct group_holder *x = a, *y = b;

	if (x->recent_ns != y->recent_ns)
		return x->recent_ns < y->recent_ns ? -1 : 1;
	return by_labels(x->group, y->group);
}

/* Groups that have held their series long enough to lose it. */
static size_t list_holders(struct groups *g, uint64_t now_ns)
{
	size_t n = 0;

	for (struct group *group = g->table; group; group = group->hh.next)
		if (group->own && now_ns - group->since_ns >= g->options.hold_ns)
			g->holders[n++] = (struct group_holder){ group, recent_ns(group, now_ns, g->options.hold_ns) };
	qsort(g->holders, n, sizeof(*g->holders), smallest_first);
	return n;
}

/* The largest of those that ran without a series get one: while there is room, then from those much smaller. */
static void assign_series(struct groups *g, uint64_t now_ns)
{
	size_t n = 0, i = 0, n_holders;

	for (struct group *group = g->table; group; group = group->hh.next)
		if (group->seen && !group->own)
			g->newcomers[n++] = group;
	if (!n)
		return;
	qsort(g->newcomers, n, sizeof(struct group *), largest_first);
	for (; i < n && g->n_own < g->options.max_series; i++)
		give_series(g, g->newcomers[i], now_ns);
	n_holders = i < n ? list_holders(g, now_ns) : 0;
	for (size_t k = 0; i < n && k < n_holders; i++, k++) {
		if (g->newcomers[i]->recent_ns <= 2 * g->holders[k].recent_ns)
			return;
		depart(g, g->holders[k].group);
		give_series(g, g->newcomers[i], now_ns);
	}
}

/* --- a window */

static int reserve(struct groups *g)
{
	size_t n = HASH_COUNT(g->table);
	void *grown;

	if (n <= g->sorted_max)
		return 0;
	grown = realloc(g->newcomers, n * sizeof(*g->newcomers));
	if (!grown)
		return -ENOMEM;
	g->newcomers = grown;
	grown = realloc(g->holders, n * sizeof(*g->holders));
	if (!grown)
		return -ENOMEM;
	g->holders = grown;
	g->sorted_max = n;
	return 0;
}

static bool adds_up(const struct window *w)
{
	const struct sw_energy *e = &w->report->energy;
	metrics_total sum;

	if (w->rows.ns > w->report->proc_oncpu_ns)
		return false;
	if (!w->energy)
		return !w->rows.nj;
	if (!w->header->energy_quality || e->proc_nj < w->rows.nj || e->other_nj < 0 || e->idle_nj < 0 ||
	    e->unattributed_nj < 0)
		return false;
	sum = (metrics_total)e->proc_nj + (metrics_total)e->other_nj + (metrics_total)e->idle_nj +
	      (metrics_total)e->unattributed_nj;
	return sum == (metrics_total)e->total_nj;
}

/* All that can fail. */
static int prepare(struct groups *g, struct window *w)
{
	int err;

	for (struct group *group = g->table; group; group = group->hh.next) {
		group->seen = false;
		group->window_ns = 0;
		group->window_nj = 0;
	}
	w->energy = w->report->energy.total_nj != SW_ABSENT;
	w->quality = w->header->energy_quality && !strcmp(w->header->energy_quality, "modelled") ? ENERGY_MODELLED
												   : ENERGY_MEASURED;
	err = groups_note_rows(g, w->header, w->report, &w->rows);
	if (!err)
		err = reserve(g);
	if (!err && !adds_up(w))
		err = -EPROTO;
	return err ? err : groups_plan_zones(g, w->header, w->report, &w->zones);
}

static void add_energy(struct groups *g, const struct window *w)
{
	const struct sw_energy *e = &w->report->energy;

	energy_add(&g->other.energy, w->quality, e->proc_nj - w->rows.nj + e->other_nj);
	energy_add(&g->departed.energy, w->quality, 0);
	energy_add(&g->idle, w->quality, e->idle_nj);
	energy_add(&g->unattributed, w->quality, e->unattributed_nj);
}

static void add_groups(struct groups *g, const struct window *w)
{
	struct group *group, *next, *to;

	g->without_own = 0;
	HASH_ITER(hh, g->table, group, next) {
		if (!group->seen && !group->own) {
			HASH_DEL(g->table, group);
			group_free(group);
			continue;
		}
		if (!group->seen)
			continue;
		to = group->own ? group : &g->other;
		g->without_own += !group->own;
		group->active_ns = w->report->t_ns;
		to->cpu_ns += group->window_ns;
		if (w->energy)
			energy_add(&to->energy, w->quality, group->window_nj);
	}
	g->other.cpu_ns += w->report->proc_oncpu_ns - w->rows.ns + w->report->other_oncpu_ns;
	if (w->energy)
		add_energy(g, w);
}

static void add_health(struct groups *g, const struct window *w)
{
	const struct sw_report *r = w->report;

	g->windows++;
	g->windows_without_energy += !w->energy && w->header->energy_quality;
	for (unsigned i = 0; i < SW_FLAGS; i++)
		g->windows_flagged[i] += r->flags >> i & 1;
	for (unsigned i = 0; i < SW_LOST_KINDS; i++)
		g->lost_by_kind_ns[i] += r->lost_by_kind_ns[i];
	if (r->recursion_misses != SW_ABSENT) {
		g->recursion_known = true;
		if (r->recursion_misses > g->last_misses)
			g->recursion_misses += (uint64_t)(r->recursion_misses - g->last_misses);
		g->last_misses = r->recursion_misses;
	}
	g->last_ns = r->t_ns;
	g->last_utc_ns = r->time_utc_ns;
	g->last_has_energy = w->energy;
}

int groups_add(struct groups *g, const struct sw_header *header, const struct sw_report *report)
{
	struct window w = { .header = header, .report = report };
	int err = prepare(g, &w);

	if (err)
		return err;
	for (struct group *group = g->table; group; group = group->hh.next)
		if (group->seen)
			weigh_group(g, group, report);
	let_go(g, report->t_ns);
	assign_series(g, report->t_ns);
	add_groups(g, &w);
	groups_add_zones(g, &w.zones, header, report, w.quality);
	add_health(g, &w);
	free(w.zones.index);
	return 0;
}

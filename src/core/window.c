/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: differences between two boundaries. Must not know: which back end or source, nor any policy.
 */
#include "window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sw_windows_init(struct sw_windows *w, uint32_t n_keys, unsigned n_domains, size_t n_zones)
{
	*w = (struct sw_windows){.n_domains = n_domains, .n_zones = n_zones, .n_keys = n_keys};
	/* by key, and mostly never touched: the kernel gives pages only where keys are in use */
	w->last_ns = calloc(n_keys, sizeof(*w->last_ns));
	w->last_domains = calloc(n_domains, sizeof(*w->last_domains));
	w->last_zones = calloc(n_zones + 1, sizeof(*w->last_zones));
	w->window.domains = calloc(n_domains, sizeof(*w->window.domains));
	w->window.zone_nj = calloc(n_zones + 1, sizeof(*w->window.zone_nj));
	w->mirror_of = calloc(n_zones + 1, sizeof(*w->mirror_of));
	w->window.mirror_of = w->mirror_of;
	if (w->last_ns && w->last_domains && w->last_zones && w->window.domains && w->window.zone_nj && w->mirror_of)
		return 0;
	sw_windows_free(w);
	return -ENOMEM;
}

void sw_windows_free(struct sw_windows *w)
{
	free(w->last_ns);
	free(w->last_domains);
	free(w->last_zones);
	free(w->window.domains);
	free(w->window.zone_nj);
	free(w->window.rows);
	free(w->mirror_of);
	*w = (struct sw_windows){0};
}

static int subtract_rows(struct sw_windows *w, const struct sw_cpu_usage *usage, struct sw_error *error)
{
	struct sw_window *window = &w->window;

	if (usage->n_rows > w->rows_capacity) {
		size_t capacity = usage->n_rows + usage->n_rows / 2;
		struct sw_window_row *rows = realloc(window->rows, capacity * sizeof(*rows));

		if (!rows)
			return sw_fail(error, -ENOMEM, "out of memory for the %zu tasks of a window", usage->n_rows);
		window->rows = rows;
		w->rows_capacity = capacity;
	}
	window->n_rows = 0;
	for (size_t i = 0; i < usage->n_rows; i++) {
		const struct sw_cpu_row *row = &usage->rows[i];
		uint64_t before = row->first ? 0 : w->last_ns[row->key];

		if (row->oncpu_ns < before)
			return sw_fail(error, -EBADMSG, "CPU time of task %d fell by %llu ns; please report this",
				       row->task ? row->task->tid : 0, (unsigned long long)(before - row->oncpu_ns));
		w->last_ns[row->key] = row->oncpu_ns;
		window->rows[window->n_rows++] = (struct sw_window_row){
			.row = row,
			.oncpu_ns = row->oncpu_ns - before,
			.nj = INT64_MIN,
		};
	}
	return 0;
}

static void subtract_domains(struct sw_windows *w, const struct sw_cpu_usage *usage)
{
	for (unsigned i = 0; i < w->n_domains; i++) {
		const struct sw_cpu_domain *now = &usage->domains[i], *before = &w->last_domains[i];

		w->window.domains[i] = (struct sw_cpu_domain){
			.span_ns = now->span_ns - before->span_ns,
			.idle_ns = now->idle_ns - before->idle_ns,
			.other_ns = now->other_ns - before->other_ns,
			.lost_slots_ns = now->lost_slots_ns - before->lost_slots_ns,
			.lost_missed_ns = now->lost_missed_ns - before->lost_missed_ns,
			.lost_other_ns = now->lost_other_ns - before->lost_other_ns,
			.offline_ns = now->offline_ns - before->offline_ns,
		};
		w->last_domains[i] = *now;
	}
}

static void subtract_zones(struct sw_windows *w, const struct sw_zone_point *zones)
{
	for (size_t i = 0; i < w->n_zones; i++) {
		const struct sw_zone_point *before = &w->last_zones[i];
		bool joined = before->readable && zones[i].readable && before->breaks == zones[i].breaks;

		w->window.zone_nj[i] = joined ? (int64_t)(zones[i].sum_nj - before->sum_nj) : INT64_MIN;
		w->mirror_of[i] = zones[i].mirror_of;
		w->last_zones[i] = zones[i];
	}
}

static uint64_t middle_ns(const struct sw_energy_point *p)
{
	return p->begin_ns + (p->end_ns - p->begin_ns) / 2;
}

/* Of numbers that may not be known at either end. */
static int64_t difference(int64_t now, int64_t *last)
{
	int64_t before = *last;

	*last = now;
	return now == INT64_MIN || before == INT64_MIN ? INT64_MIN : now - before;
}

int sw_windows_add(struct sw_windows *w, const struct sw_cpu_usage *usage, const struct sw_zone_point *zones,
		   const struct sw_energy_point *point, struct sw_error *error, const struct sw_window **ret)
{
	struct sw_window *window = &w->window;
	int err = subtract_rows(w, usage, error);

	if (err)
		return err;
	subtract_domains(w, usage);
	subtract_zones(w, zones);
	window->t0_ns = w->last_t_ns;
	window->t1_ns = usage->t_ns;
	window->late = usage->late != w->last_late;
	window->members_lost = usage->members_lost - w->last_members_lost;
	window->exits = usage->exits - w->last_exits;
	window->exits_ns = usage->exits_ns - w->last_exits_ns;
	window->shared_ns = difference(usage->shared_ns, &w->last_shared_ns);
	window->irq_ns = difference(usage->irq_ns, &w->last_irq_ns);
	window->steal_ns = difference(usage->steal_ns, &w->last_steal_ns);
	/* a suspend of less than a millisecond is the two clocks being read one after the other */
	window->slept = point->asleep_ns > w->last_point.asleep_ns + 1000000;
	window->read_late_ns = sw_energy_late_ns(point) + sw_energy_late_ns(&w->last_point);
	window->read_ns = middle_ns(point) - middle_ns(&w->last_point);
	if (!window->read_ns)
		window->read_ns = window->t1_ns - window->t0_ns;
	window->read_bracket_ns = point->end_ns - point->begin_ns + w->last_point.end_ns - w->last_point.begin_ns;
	w->last_t_ns = usage->t_ns;
	w->last_late = usage->late;
	w->last_members_lost = usage->members_lost;
	w->last_exits = usage->exits;
	w->last_exits_ns = usage->exits_ns;
	w->last_point = *point;
	*ret = window;
	if (w->started)
		return 1;
	w->started = true;
	return 0;
}

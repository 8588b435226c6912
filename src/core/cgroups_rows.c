/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what each cgroup had, the sums of subtrees, and the order of rows. Must not know: where paths come from, how
 * time was measured or energy shared. Relies on strcmp(3)'s order of bytes, but for the slash.
 */
#include "cgroups.h"

#include <stdlib.h>
#include <string.h>

/* Those above it too: so whoever is active knows that all above it are. */
void sw_cgroup_activate(struct sw_cgroups *g, struct sw_cgroup_entry *e)
{
	for (; e && e->seq != g->seq + 1; e = sw_cgroup_up(g, e)) {
		e->seq = g->seq + 1;
		e->oncpu_ns = 0;
		e->nj = INT64_MIN;
		e->next_active = g->active;
		g->active = e;
	}
}

void sw_cgroup_add(struct sw_cgroups *g, struct sw_cgroup_entry *e, uint64_t oncpu_ns)
{
	if (!oncpu_ns)
		return;
	sw_cgroup_activate(g, e);
	e->oncpu_ns += oncpu_ns;
	e->total_ns += oncpu_ns;
}

void sw_cgroup_add_energy(struct sw_cgroup_entry *e, int64_t nj)
{
	if (e->nj == INT64_MIN)
		e->nj = 0;
	e->nj += nj;
	e->total_nj += nj;
	e->has_nj = true;
}

/* --- rows */

static struct sw_cgroup_entry *first(const struct sw_cgroups *g, bool total)
{
	return total ? g->table : g->active;
}

static struct sw_cgroup_entry *next(const struct sw_cgroup_entry *e, bool total)
{
	return total ? e->hh.next : e->next_active;
}

static void sum_subtrees(const struct sw_cgroups *g, bool total)
{
	struct sw_cgroup_entry *e, *p;

	for (e = first(g, total); e; e = next(e, total)) {
		e->subtree_ns = 0;
		e->subtree_nj = 0;
		e->subtree_has_nj = false;
	}
	for (e = first(g, total); e; e = next(e, total)) {
		uint64_t ns = total ? e->total_ns + e->folded_ns : e->oncpu_ns;
		bool has_nj = total ? e->has_nj || e->folded_has_nj : e->nj != INT64_MIN;
		int64_t nj = total ? e->total_nj + e->folded_nj : e->nj;

		for (p = ns || has_nj ? e : NULL; p; p = sw_cgroup_up(g, p)) {
			p->subtree_ns += ns;
			p->subtree_nj += has_nj ? nj : 0;
			p->subtree_has_nj |= has_nj;
		}
	}
}

static struct sw_cgroup row(const struct sw_cgroup_entry *e, bool total)
{
	uint64_t oncpu_ns = total ? e->total_ns : e->oncpu_ns;
	bool has_nj = total ? e->has_nj : e->nj != INT64_MIN;
	/* where nobody was, no energy went, if any went to those below */
	int64_t none = !oncpu_ns && e->subtree_has_nj ? 0 : SW_ABSENT;

	return (struct sw_cgroup){
		.id = e->id,
		.path = e->path,
		.oncpu_ns = oncpu_ns,
		.subtree_oncpu_ns = e->subtree_ns,
		.nj = !has_nj ? none : total ? e->total_nj : e->nj,
		.subtree_nj = e->subtree_has_nj ? e->subtree_nj : SW_ABSENT,
	};
}

/* As bytes, but a slash before all others, so that nothing comes between a cgroup and those below it. */
static int compare_paths(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (*a == *b || !*a || !*b)
		return !!*a - !!*b;
	if (*a == '/' || *b == '/')
		return *a == '/' ? -1 : 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

static int by_path(const void *a, const void *b)
{
	const struct sw_cgroup *x = a, *y = b;
	int order = x->path && y->path ? compare_paths(x->path, y->path) : !x->path - !y->path;

	return order ? order : (x->id > y->id) - (x->id < y->id);
}

static struct sw_cgroup *make_rows(const struct sw_cgroups *g, bool total, size_t *ret_n)
{
	const struct sw_cgroup_entry *e;
	struct sw_cgroup *rows;
	size_t n = 0, bytes = 0;
	char *to;

	sum_subtrees(g, total);
	for (e = first(g, total); e; e = next(e, total)) {
		if (!e->subtree_ns)
			continue;
		n++;
		bytes += e->path ? strlen(e->path) + 1 : 0;
	}
	*ret_n = n;
	/* Paths lie behind the rows, so that one free() frees all: an entry may be folded while a summary lives. */
	rows = n ? malloc(n * sizeof(*rows) + bytes) : NULL;
	if (!rows) {
		*ret_n = n ? SIZE_MAX : 0;
		return NULL;
	}
	n = 0;
	for (e = first(g, total); e; e = next(e, total))
		if (e->subtree_ns)
			rows[n++] = row(e, total);
	qsort(rows, n, sizeof(*rows), by_path);
	to = (char *)(rows + n);
	for (size_t i = 0; i < n; i++) {
		char *path = to;

		if (!rows[i].path)
			continue;
		to = stpcpy(to, rows[i].path) + 1;
		rows[i].path = path;
	}
	return rows;
}

struct sw_cgroup *sw_cgroups_window(const struct sw_cgroups *g, size_t *ret_n)
{
	return make_rows(g, false, ret_n);
}

struct sw_cgroup *sw_cgroups_totals(const struct sw_cgroups *g, size_t *ret_n)
{
	return make_rows(g, true, ret_n);
}

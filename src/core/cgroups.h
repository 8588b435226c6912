/* SPDX-License-Identifier: BSD-2-Clause */
/* The cgroups of a recording: their paths, what each had, what subtrees had, and which are the target. */
#ifndef SW_CORE_CGROUPS_H
#define SW_CORE_CGROUPS_H

#include "../../include/schedwatt.h"
#include "../base/cgroupfs.h"
#include "../cpu/backend.h"

#include <uthash.h>

struct sw_cgroup_entry {
	uint64_t id;
	UT_hash_handle hh;
	struct sw_cgroup_entry *parent; /* NULL: the root, or not known */
	struct sw_cgroup_entry *child;  /* the first of those below it */
	struct sw_cgroup_entry *next_sibling, *prev_sibling;
	char *name;                     /* NULL: not known */
	char *path;                     /* as the caller sees it; NULL: not known */
	bool inside;                    /* the target, or below it; without a target all are */
	bool told;                      /* by the back end */
	bool asked;                     /* `fs`, for its path */
	bool from_real_root;            /* its path begins there, since how the caller's root lies to it is not known */
	uint32_t above;                 /* so many levels above the caller's root; 0: it is not above it */
	uint32_t keys;                  /* the back end's, that live in it: counted by who adds its rows */
	uint64_t seq;                   /* window it was last active in, itself or below it, + 1 */
	struct sw_cgroup_entry *next_active;
	/* own, of the window and in total; subtrees are summed when rows are made */
	uint64_t oncpu_ns, total_ns;
	int64_t nj, total_nj; /* nj: INT64_MIN when the window gave none */
	bool has_nj; /* of any window */
	/* of those below it that were folded, in total */
	uint64_t folded_ns;
	int64_t folded_nj;
	bool folded_has_nj;
	/* while rows are made */
	uint64_t subtree_ns;
	int64_t subtree_nj;
	bool subtree_has_nj;
};

struct sw_cgroups {
	const struct sw_cgroupfs *fs; /* for cgroups that the back end did not name; may be NULL */
	/* Set by init; tests set their own. */
	char *(*path_of)(const struct sw_cgroupfs *fs, uint64_t id);
	uint64_t (*id_of)(const struct sw_cgroupfs *fs, const char *path);
	char *target;                 /* path, or NULL */
	uint64_t target_id;           /* 0: none */
	struct sw_cgroup_entry *table;
	struct sw_cgroup_entry *root; /* the real one; NULL: not known */
	struct sw_cgroup_entry *active;
	uint64_t n_folded;
	size_t fold_above; /* entries; 0: the least bound */
	bool forget_gone;  /* few that were removed are kept; set after init */
	uint64_t seq;
};

/* Zero-filled is empty, too. `target` (copied; NULL: none) and its id. 0 or -ENOMEM. */
int sw_cgroups_init(struct sw_cgroups *g, const struct sw_cgroupfs *fs, const char *target, uint64_t target_id);
void sw_cgroups_free(struct sw_cgroups *g);

/*
 * What the back end says of cgroups: before the rows that lie in them. A child may come before its parent. What it said
 * first of an id stands. 0 or -ENOMEM.
 */
int sw_cgroups_learn(struct sw_cgroups *g, const struct sw_cgroup_info *infos, size_t n);

/*
 * The entry of a cgroup, which is made if there is none: then its path is asked of `fs`, if the back end did not tell,
 * and those above it are found by that path. Lives until sw_cgroups_next(), longer while its `keys` is not 0.
 * NULL: no memory. The target is whatever bears its path (or id): one that was removed and made anew, too.
 */
struct sw_cgroup_entry *sw_cgroups_get(struct sw_cgroups *g, uint64_t id);

/*
 * A window begins: nobody is active yet. If too many that no longer exist are kept (no key lives in them), those are
 * folded: their totals go to their parents' subtrees, and n_folded counts those that had time, or had some below them.
 * 0 or -ENOMEM.
 */
int sw_cgroups_next(struct sw_cgroups *g);

/* What a cgroup's time counts for, too: its parent; the root where that is not known: all lie below it; or NULL. */
static inline struct sw_cgroup_entry *sw_cgroup_up(const struct sw_cgroups *g, const struct sw_cgroup_entry *e)
{
	return e->parent ? e->parent : e != g->root ? g->root : NULL;
}

/*
 * Own time of the window, which makes it and those above it active (no time does not); then own energy in the same
 * window.
 */
void sw_cgroup_add(struct sw_cgroups *g, struct sw_cgroup_entry *e, uint64_t oncpu_ns);
void sw_cgroup_add_energy(struct sw_cgroup_entry *e, int64_t nj);
void sw_cgroup_activate(struct sw_cgroups *g, struct sw_cgroup_entry *e); /* what sw_cgroup_add() begins with */

/*
 * Rows for a report: those active in the window or above one that was; or all that ever had time, or stood above one
 * that had, with totals. In order of path, a subtree together ("/a", "/a/b", "/a-b"), unknown paths last by id. One
 * whose way to the root is not known counts in the root's subtree all the same: every cgroup lies below it. joules are
 * SW_ABSENT where no energy was added to the cgroup nor below; one without tasks of its own has 0.
 * A malloc()ed array for the caller, paths included; NULL when there are none or no memory (then *ret_n says which:
 * SIZE_MAX).
 */
struct sw_cgroup *sw_cgroups_window(const struct sw_cgroups *g, size_t *ret_n);
struct sw_cgroup *sw_cgroups_totals(const struct sw_cgroups *g, size_t *ret_n);

#endif

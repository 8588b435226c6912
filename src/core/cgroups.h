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
	char *name;                     /* NULL: not known */
	char *path;                     /* as the caller sees it; NULL: not known */
	bool inside;                    /* the target, or below it; without a target all are */
	uint32_t keys;                  /* the back end's, that live in it */
	uint64_t seq;                   /* window it was last active in, itself or below it, + 1 */
	struct sw_cgroup_entry *next_active;
	/* own, of the window and in total; subtrees are summed when rows are made */
	uint64_t oncpu_ns, total_ns;
	int64_t nj, total_nj;
	bool has_nj; /* of any window */
};

struct sw_cgroups {
	const struct sw_cgroupfs *fs; /* for cgroups that the back end did not name; may be NULL */
	char *target;                 /* path, or NULL */
	uint64_t target_id;
	struct sw_cgroup_entry *table;
	struct sw_cgroup_entry *active;
	uint64_t n_folded;
	uint64_t seq;
};

/* Zero-filled is empty, too. `target` (copied; NULL: none) and its id. 0 or -ENOMEM. */
int sw_cgroups_init(struct sw_cgroups *g, const struct sw_cgroupfs *fs, const char *target, uint64_t target_id);
void sw_cgroups_free(struct sw_cgroups *g);

/* What the back end says of cgroups: before the rows that lie in them. A child may come before its parent. */
int sw_cgroups_learn(struct sw_cgroups *g, const struct sw_cgroup_info *infos, size_t n);

/*
 * The entry of a cgroup, which is made if there is none: then its path is asked of `fs`, if the back end did not tell.
 * NULL: no memory. The target is whatever bears its path (or id): one that was removed and made anew, too.
 */
struct sw_cgroup_entry *sw_cgroups_get(struct sw_cgroups *g, uint64_t id);

/*
 * A window begins: nobody is active yet. If too many that no longer exist are kept (no key lives in them), those are
 * folded: their totals go to their parents' subtrees, and n_folded counts them. 0 or -ENOMEM.
 */
int sw_cgroups_next(struct sw_cgroups *g);

/* Own time of the window; own energy, in the same window. Both make it and those above it active. */
void sw_cgroup_add(struct sw_cgroups *g, struct sw_cgroup_entry *e, uint64_t oncpu_ns);
void sw_cgroup_add_energy(struct sw_cgroup_entry *e, int64_t nj);

/*
 * Rows for a report: those active in the window or above one that was; or all that ever had time, with totals. In order
 * of path, unknown paths last by id. joules are SW_ABSENT in all rows where no energy was added.
 * A malloc()ed array for the caller; NULL when there are none or no memory (then *ret_n says which: SIZE_MAX).
 */
struct sw_cgroup *sw_cgroups_window(const struct sw_cgroups *g, size_t *ret_n);
struct sw_cgroup *sw_cgroups_totals(const struct sw_cgroups *g, size_t *ret_n);

#endif

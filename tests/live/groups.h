/* SPDX-License-Identifier: BSD-2-Clause */
/* Cgroups of a test's own under the v2 mount, and what a recording has by cgroup. */
#ifndef SW_TESTS_GROUPS_H
#define SW_TESTS_GROUPS_H

#include "record.h"

/* By id; `told`: ops->new_cgroups has named it. */
struct group {
	uint64_t id;
	uint64_t parent_id;
	uint64_t oncpu_ns; /* of its own rows, since the first boundary */
	unsigned told;
	char name[256];
	UT_hash_handle hh;
};

/* For record.c. */
struct group *group_of(struct record *r, uint64_t id); /* makes it */
void groups_take(struct record *r);
void groups_free(struct record *r);

/* Its rows and those of all below it, by the chains that were told. */
uint64_t group_subtree_ns(const struct record *r, uint64_t id);

/* The mount of cgroup v2, or NULL. Found through /proc/self/mountinfo. */
const char *groups_mount(void);

/* Make a directory for a test's cgroups, which the teardown removes with all below it; or skip the test. */
const char *groups_begin(void);
int groups_teardown(void **state); /* in place of live_teardown() */

void group_make(const char *path, uint64_t *ret_id);
void group_remove(const char *path);
void group_move(const char *path, pid_t pid);
pid_t group_start(const char *path, void (*fn)(void *arg), void *arg); /* start(), and move it there before it begins */
pid_t group_fork(int dir_fd); /* fork(2) into it at once; the child is the caller's to end */
uint64_t group_usage_ns(const char *path); /* usage_usec of its cpu.stat */

#endif

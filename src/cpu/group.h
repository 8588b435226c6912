/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the back ends cgroup_v2 and cgroup_v1 share: the target is a cgroup, of which the kernel keeps the CPU time.
 *
 *   target ─► its directory, or one made for it ─► usage file, kept open ─► one row (v1: for each domain)
 *                     └─► cgroup.procs, here and below ─► whose time that is: the target's, or strangers', too
 */
#ifndef SW_CPU_GROUP_H
#define SW_CPU_GROUP_H

#include "../base/cgroupfs.h"
#include "backend.h"

#include <sys/types.h>

struct sw_group;

/* What differs between the two versions. */
struct sw_group_kind {
	const struct sw_cpu_ops *ops;
	const struct sw_cpu_ops *coarse; /* the same, for cgroups whose numbers are no better */
	const char *words;               /* "cgroup v2" */
	const char *controller;          /* whose line in /proc/PID/cgroup it is; NULL: that of v2 */
	const char *not_in_root; /* a file that every cgroup has but for the real root; NULL: there is none */
	const char *only_in_root; /* else one that only that has */
	bool tells_domains;
	/* The usage files of b->dir_fd: 0, or -errno with words. */
	int (*open)(struct sw_group *b, struct sw_error *error);
	/* ns by domain (all in the first where domains are not told), ever growing; -ENODEV: it was removed. */
	int (*read)(struct sw_group *b, uint64_t *ns);
};

/* A process in the cgroup or below it, or one of the target's that is elsewhere. */
struct sw_group_process {
	int32_t pid; /* 0: the caller's pid namespace does not see it */
	int32_t ppid;
	uint64_t start; /* ticks of CLOCK_BOOTTIME; 0: hidden */
	char comm[16];
	bool inside;
	bool member;            /* of the target */
	bool decided;           /* ... is known */
	uint64_t first_ns, now_ns; /* CPU time of a stranger */
};

struct sw_group_members {
	int dir_fd, procfs_fd; /* not ours */
	bool our_pids; /* procfs numbers processes as we do */
	bool process_scope;
	const int32_t *pids; /* the target's own; not ours */
	size_t n_pids;
	uint64_t hz;
	struct sw_group_process *list; /* by pid: those inside, and members outside */
	size_t n, n_members, n_strangers, n_outside; /* n_outside: members that are */
	bool looked;
	uint64_t looked_ticks; /* when, of CLOCK_BOOTTIME */
	uint64_t next_look_ns; /* it costs: not before that */
	uint64_t gone_ns;      /* strangers' time, of those that are no longer there */
	bool hidden;           /* the time of some cannot be read */
};

/*
 * Look who is in the cgroup. The first look finds the tree by the chains of parents, all through procfs. Later ones know
 * whom they have seen, wherever he is re-parented to; a newcomer is a member when his parent is, or when there was no
 * stranger who could have forked him. 0, -ENOMEM, -EOPNOTSUPP (it is threaded), or what reading gave; a removed cgroup
 * has nobody in it.
 */
int sw_group_look(struct sw_group_members *m);

/* CPU time of strangers, growing from somewhere; INT64_MIN: not known. */
int64_t sw_group_strangers_ns(struct sw_group_members *m);

/* "bash 12, cat 13 and 4 more": strangers inside, or members outside. */
void sw_group_names(const struct sw_group_members *m, bool strangers, char *to, size_t size);

/* The processes in a cgroup and below it, each once, in order: 0 (a removed one has none) or -errno. The caller frees. */
int sw_group_pids(int dir_fd, int32_t **ret, size_t *ret_n);

struct sw_host;

struct sw_group {
	struct sw_cpu_backend backend;
	const struct sw_group_kind *kind;
	const struct sw_cgroupfs *fs; /* the caller's, or `v1` */
	struct sw_cgroupfs v1;
	char *path; /* from the mount point */
	uint64_t id; /* of v2, else 0 */
	int dir_fd;
	int usage_fd;
	int procfs_fd;
	int32_t *pids;
	size_t n_pids;
	struct sw_group_members members;
	struct sw_host *host;
	int16_t *domain_of;
	unsigned n_cpus, n_domains;
	char *text; /* of the usage file */
	size_t text_size;

	/* group_own.c */
	char *own_path; /* of a cgroup that was made for the target, absolute; NULL: none was, or it is gone */
	const char *own_name;
	bool own_stays; /* it could not be removed: waiting once is enough */
	int parent_fd;

	uint64_t T;
	bool announced;
	bool started; /* a boundary was read */
	bool ended;
	uint64_t *last_ns, *now_ns;     /* by domain, as read */
	uint64_t *sum_ns, *told_ns;     /* since the first boundary: read, and told */
	uint64_t *window_ns;
	uint64_t members_lost;
	struct sw_cgroup_info *infos; /* told once; names lie behind them */
	size_t n_infos;
	struct sw_cpu_row *rows;
	struct sw_cpu_usage usage;
};

/*
 * group_find.c: the target's hierarchy, path and directory, with a cgroup of its own if that was asked for; what cannot be
 * the target's or is better told by another back end is refused. Then, with a host: who is in it. 0 or -errno, with words.
 */
int sw_group_find(struct sw_group *b, const struct sw_cpu_config *config, struct sw_error *error);
int sw_group_check(struct sw_group *b, const struct sw_cpu_config *config, struct sw_error *error);

/* The root of all hierarchies, which that of a cgroup namespace is not. */
bool sw_group_is_root(const struct sw_group *b);

/* Behind the ops of both. */
int sw_group_open(const struct sw_group_kind *kind, const struct sw_cpu_config *config, struct sw_error *error,
		  struct sw_cpu_backend **ret);
int sw_group_announce(struct sw_cpu_backend *backend, uint64_t at_ns, uint64_t *ret_t_ns, uint64_t *ret_wake_ns);
int sw_group_read(struct sw_cpu_backend *backend, struct sw_error *error, const struct sw_cpu_usage **ret);
size_t sw_group_new_cgroups(struct sw_cpu_backend *backend, const struct sw_cgroup_info **ret);
bool sw_group_alive(struct sw_cpu_backend *backend);
void sw_group_close(struct sw_cpu_backend *backend);

/* One pread(2) of a kept fd from its start into b->text, with a NUL behind it: bytes, or -errno. */
ssize_t sw_group_pread(struct sw_group *b, int fd);

/* group_own.c: put the target's pids into a cgroup of their own below b->dir_fd, which then is that. 0, or -errno with
 * words, and nothing has changed. */
int sw_group_make_own(struct sw_group *b, struct sw_error *error);

/* ops->remove_own: 0 (gone, or there was none) or -errno with words: who lives in it. */
int sw_group_remove_own(struct sw_cpu_backend *backend, struct sw_error *error);

/* Put the target back where it was, and remove its own cgroup: for an open that fails. */
void sw_group_undo_own(struct sw_group *b);

#endif

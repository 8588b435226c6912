/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where cgroup v2 is mounted, and which cgroup a path means; likewise a hierarchy of v1. Sources:
 * Documentation/admin-guide/cgroup-v2.rst and cgroup-v1, proc(5) on mountinfo, cgroup_namespaces(7).
 */
#ifndef SW_BASE_CGROUPFS_H
#define SW_BASE_CGROUPFS_H

#include "error.h"

#include <stddef.h>
#include <stdint.h>

/* A mounted hierarchy: of cgroup v2 where nothing else is said. */
struct sw_cgroupfs {
	int fd;           /* of the mount point; -1: none is mounted */
	uint64_t root_id; /* cgroup at the mount point: the root that the caller sees (not 1 in a cgroup namespace) */
	char *mount;      /* path of the mount point */
	char *part;       /* what of the hierarchy is mounted, as mountinfo says: "/" all that the caller's cgroup
			   * namespace has; NULL: not known, and taken for that */
};

/*
 * Find it: `path` (a directory; not NULL), or the first cgroup2 of `self/mountinfo` under procfs_fd that shows a whole
 * hierarchy, or else the first at all. 0, -ENOENT (no cgroup2 is mounted), -EINVAL (`path` is no cgroup v2, by
 * statfs(2) f_type, unless it was captured: a directory with a cgroup.controllers file will do) or what open(2) gives,
 * each with words.
 * close is fine on a zeroed one with fd -1.
 */
int sw_cgroupfs_open(struct sw_cgroupfs *c, int procfs_fd, const char *path, struct sw_error *error);
void sw_cgroupfs_close(struct sw_cgroupfs *c);

/*
 * The hierarchy of v1 that has the controller ("cpuacct", mounted alone or with others), likewise; `file` is one that is
 * in each of its cgroups ("cpuacct.usage"). Only the fields of *c, _close(), _inside() and _id() serve it.
 */
int sw_cgroupfs_open_v1(struct sw_cgroupfs *c, int procfs_fd, const char *controller, const char *file,
			struct sw_error *error);

/*
 * A path of /proc/PID/cgroup, `n` bytes, as one from the mount point: malloc()ed in *ret, as sw_cgroupfs_id() takes it.
 * -ENOENT (the mounted part does not hold it), -EXDEV (it begins with "/..": outside of the caller's cgroup namespace),
 * -ENOMEM.
 */
int sw_cgroupfs_inside(const struct sw_cgroupfs *c, const char *path, size_t n, char **ret);

/*
 * A cgroup as people write it: absolute under the mount point ("/sys/fs/cgroup/a/b", which wins where both could be
 * meant), or from the root ("/a/b", "a/b", "0::/a/b"). *ret_path: from the root, without "." and "..", "//" or a slash
 * at the end ("/" for the root); malloc()ed, the caller frees it. *ret_id: its id. -ENOENT, -ENOTDIR, -EINVAL (a path
 * that leaves the hierarchy; a cgroup of v1), with words.
 */
int sw_cgroupfs_resolve(const struct sw_cgroupfs *c, const char *text, struct sw_error *error, char **ret_path,
			uint64_t *ret_id);

/*
 * Path from the root of the cgroup with that id, if it still exists: malloc()ed, or NULL. By open_by_handle_at(2),
 * which takes CAP_DAC_READ_SEARCH and Linux 5.5 or newer; NULL without, but for the root.
 */
char *sw_cgroupfs_path(const struct sw_cgroupfs *c, uint64_t id);

/* Id of the cgroup at a path from the root, as sw_cgroupfs_path() writes it; 0: there is none. Takes no privilege. */
uint64_t sw_cgroupfs_id(const struct sw_cgroupfs *c, const char *path);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the CPU time of a cgroup of v2. Must not know: whose it is.
 * Relies on Documentation/admin-guide/cgroup-v2.rst (cpu.stat is there, with usage_usec, whether or not the controller
 * is on) and kernel/cgroup/rstat.c: the root's is made of the clock ticks of /proc/stat, all others' of the scheduler's
 * own account.
 */
#include "group.h"

#include "../base/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int v2_read(struct sw_group *b, uint64_t *ns)
{
	ssize_t n = sw_group_pread(b, b->usage_fd);
	uint64_t usec;
	int err = n < 0 ? (int)n : sw_flat_keyed_u64(b->text, (size_t)n, "usage_usec", &usec);

	if (err)
		return err;
	if (usec > UINT64_MAX / 1000)
		return -ERANGE;
	ns[0] = usec * 1000;
	return 0;
}

static int v2_open(struct sw_group *b, struct sw_error *error)
{
	int err = 0;

	b->usage_fd = openat(b->dir_fd, "cpu.stat", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (b->usage_fd < 0)
		err = -errno;
	if (!err)
		err = v2_read(b, b->now_ns);
	if (err == -ENOENT)
		return sw_fail(error, -ENOTSUP,
			       "this kernel does not tell the CPU time of the cgroup %s (usage_usec in cpu.stat)",
			       b->path);
	return err ? sw_fail(error, err, "cannot read cpu.stat of the cgroup %s: %s", b->path, strerror(-err)) : 0;
}

static const struct sw_cpu_ops coarse;

static const struct sw_group_kind v2 = {
	.ops = &sw_cpu_cgroup_v2,
	.coarse = &coarse,
	.words = "cgroup v2",
	.not_in_root = "cgroup.events",
	.open = v2_open,
	.read = v2_read,
};

static int open_v2(const struct sw_cpu_config *config, struct sw_error *error, struct sw_cpu_backend **ret)
{
	return sw_group_open(&v2, config, error, ret);
}

#define OPS(how)                                                                                                      \
	{                                                                                                             \
		.name = "cgroup_v2", .quality = (how), .tells_cgroups = true, .open = open_v2,                        \
		.announce = sw_group_announce, .read = sw_group_read, .new_cgroups = sw_group_new_cgroups,            \
		.alive = sw_group_alive, .remove_own = sw_group_remove_own, .close = sw_group_close,                  \
	}

static const struct sw_cpu_ops coarse = OPS("coarse");
const struct sw_cpu_ops sw_cpu_cgroup_v2 = OPS("exact");

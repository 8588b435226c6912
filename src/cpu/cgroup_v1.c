/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the CPU time of a cgroup of v1's cpuacct. Must not know: whose it is.
 * Relies on Documentation/admin-guide/cgroup-v1/cpuacct.rst (ns, with those below; writing 0 resets it) and
 * kernel/sched/cpuacct.c: cpuacct.usage_percpu has a number for each possible CPU.
 */
#include "group.h"

#include "../base/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Numbers with blanks between, by CPU. */
static int read_percpu(struct sw_group *b, size_t n, uint64_t *ns)
{
	const char *at = b->text, *end = b->text + n;
	uint64_t value;

	memset(ns, 0, b->n_domains * sizeof(*ns));
	for (unsigned cpu = 0; cpu < b->n_cpus; cpu++) {
		int err = sw_take_u64(&at, end, UINT64_MAX, &value);

		if (err)
			return err;
		ns[b->domain_of[cpu]] += value;
		while (at < end && (*at == ' ' || *at == '\n'))
			at++;
	}
	return 0;
}

static int v1_read(struct sw_group *b, uint64_t *ns)
{
	ssize_t n = sw_group_pread(b, b->usage_fd);

	if (n < 0)
		return (int)n;
	return b->n_domains > 1 ? read_percpu(b, (size_t)n, ns) : sw_parse_u64(b->text, UINT64_MAX, ns);
}

static int v1_open(struct sw_group *b, struct sw_error *error)
{
	const char *file = b->n_domains > 1 ? "cpuacct.usage_percpu" : "cpuacct.usage";
	int err = 0;

	b->usage_fd = openat(b->dir_fd, file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (b->usage_fd < 0)
		err = -errno;
	if (!err)
		err = v1_read(b, b->now_ns);
	return err ? sw_fail(error, err, "cannot read %s of the cgroup %s: %s", file, b->path, strerror(-err)) : 0;
}

static const struct sw_group_kind v1 = {
	.ops = &sw_cpu_cgroup_v1,
	.coarse = &sw_cpu_cgroup_v1,
	.words = "cgroup v1 (cpuacct)",
	.controller = "cpuacct",
	.only_in_root = "release_agent",
	.tells_domains = true,
	.open = v1_open,
	.read = v1_read,
};

static int open_v1(const struct sw_cpu_config *config, struct sw_error *error, struct sw_cpu_backend **ret)
{
	return sw_group_open(&v1, config, error, ret);
}

const struct sw_cpu_ops sw_cpu_cgroup_v1 = {
	.name = "cgroup_v1",
	.quality = "exact",
	.open = open_v1,
	.announce = sw_group_announce,
	.read = sw_group_read,
	.alive = sw_group_alive,
	.remove_own = sw_group_remove_own,
	.close = sw_group_close,
};

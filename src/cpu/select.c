/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the choice of a source of CPU time. Must not know: how any of them works.
 */
#include "backend.h"

#include "../base/parse.h"
#include "../base/root.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int keep_greatest(unsigned cpu, void *ctx)
{
	unsigned *greatest = ctx;

	if (cpu > *greatest)
		*greatest = cpu;
	return 0;
}

int sw_cpu_possible(struct sw_error *error)
{
	char text[4096];
	unsigned greatest = 0;
	int fd = sw_root_open("/sys/devices/system/cpu"), err;

	err = fd < 0 ? fd : (int)sw_file_read(fd, "possible", text, sizeof(text));
	if (fd >= 0)
		close(fd);
	if (err >= 0)
		err = sw_parse_cpulist(text, INT32_MAX, keep_greatest, &greatest);
	if (err < 0)
		return sw_fail(error, err, "cannot read /sys/devices/system/cpu/possible: %s; is /sys mounted?",
			       strerror(-err));
	return greatest + 1;
}

/* In order of preference. */
static const struct sw_cpu_ops *const backends[] = {
	&sw_cpu_ebpf,
	&sw_cpu_cgroup_v2,
	&sw_cpu_cgroup_v1,
	&sw_cpu_proc,
	&sw_cpu_percent,
};

/* Rows that were asked for, and that it has not. */
static int can_tell(const struct sw_cpu_ops *ops, const struct sw_cpu_config *config, struct sw_error *error)
{
	if (config->needs_tasks && !ops->tells_tasks)
		return sw_fail(error, -ENOTSUP, "%s cannot tell processes or threads apart, of which rows were asked for",
			       ops->name);
	if (config->needs_cgroups && !ops->tells_cgroups)
		return sw_fail(error, -ENOTSUP, "%s cannot tell cgroups apart, of which rows were asked for", ops->name);
	return 0;
}

int sw_cpu_open(const char *name, const struct sw_cpu_config *config,
		void (*refused)(const char *name, const char *reason, void *ctx), void *ctx, struct sw_error *error,
		struct sw_cpu_backend **ret)
{
	bool any = !name || !strcmp(name, "auto");
	int err = -EINVAL;

	sw_fail(error, err, "no back end is called '%s'; known are auto, ebpf, cgroup_v2, cgroup_v1, "
		"proc and cpu_percent", any ? "" : name);
	for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
		if (!any && strcmp(name, backends[i]->name))
			continue;
		err = can_tell(backends[i], config, error);
		if (!err)
			err = backends[i]->open(config, error, ret);
		if (!err)
			return 0;
		/* no back end could do better with these */
		if (err == -ESRCH || err == -E2BIG)
			return err;
		if (any)
			refused(backends[i]->name, error->text, ctx);
	}
	return err;
}

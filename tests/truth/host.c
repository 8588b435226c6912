/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: reading the CPU time of the whole host. Must not know: what it is for.
 * Relies on: kernel/sched/cpuacct.c (cpuacct.usage of the root holds all tasks, to the last update of each), and
 * kernel/cgroup/rstat.c (cpu.stat of every other cgroup is exact, the root's own is sampled by ticks).
 */
#include "host.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int v1_fd = -1;
static int *v2_fds;
static size_t n_v2;
static bool us;

static bool open_v1(void)
{
	static const char *const paths[] = {
		"/sys/fs/cgroup/cpuacct/cpuacct.usage",
		"/sys/fs/cgroup/cpu,cpuacct/cpuacct.usage",
	};

	for (size_t i = 0; v1_fd < 0 && i < sizeof(paths) / sizeof(paths[0]); i++)
		v1_fd = open(paths[i], O_RDONLY | O_CLOEXEC);
	us = v1_fd >= 0;
	return us;
}

/* Are we in a cgroup below the root? */
static bool below_root(void)
{
	char line[512];
	bool below = false;
	FILE *f = fopen("/proc/self/cgroup", "re");

	while (f && fgets(line, sizeof(line), f))
		below |= !strncmp(line, "0::/", 4) && line[4] != '\n';
	if (f)
		fclose(f);
	return below;
}

static bool open_v2(void)
{
	glob_t found;

	if (glob("/sys/fs/cgroup/*/cpu.stat", 0, NULL, &found))
		return false;
	v2_fds = calloc(found.gl_pathc, sizeof(*v2_fds));
	for (size_t i = 0; v2_fds && i < found.gl_pathc; i++) {
		int fd = open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC);

		if (fd >= 0)
			v2_fds[n_v2++] = fd;
	}
	globfree(&found);
	us = below_root();
	return n_v2 > 0;
}

bool host_open(void)
{
	return open_v1() || open_v2();
}

bool host_counts_us(void)
{
	return us;
}

static uint64_t read_number(int fd, const char *after)
{
	char text[1024], *at = text;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return UINT64_MAX;
	text[n] = '\0';
	if (after)
		at = strstr(text, after);
	return at ? strtoull(at + (after ? strlen(after) : 0), NULL, 10) : UINT64_MAX;
}

uint64_t host_cpu_ns(void)
{
	uint64_t sum_us = 0, value;

	if (v1_fd >= 0)
		return read_number(v1_fd, NULL);
	for (size_t i = 0; i < n_v2; i++) {
		value = read_number(v2_fds[i], "usage_usec ");
		if (value == UINT64_MAX)
			return value; /* a cgroup that is gone took its time along: no sum any more */
		sum_us += value;
	}
	return n_v2 ? sum_us * 1000 : UINT64_MAX;
}

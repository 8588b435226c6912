/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: whether much of the CPUs' time is stolen. Must not know: windows.
 * Source: proc_stat(5).
 */
#include "steal.h"

#include "../base/procfs.h"
#include "../base/root.h"

#include <fcntl.h>
#include <unistd.h>

#define LOOK_EVERY_NS 1000000000ULL
#define MUCH_PERCENT 1

/* Of all CPUs together, whose line is the first. */
static bool read_sum(int fd, uint64_t *stolen, uint64_t *all)
{
	struct sw_cpu_times t;
	char text[512];
	const char *at = text;
	ssize_t n = pread(fd, text, sizeof(text), 0);

	if (n <= 0 || sw_cpu_times_next(&at, text + n, &t) != 1 || t.cpu >= 0)
		return false;
	*stolen = t.steal;
	*all = sw_cpu_times_busy(&t) + sw_cpu_times_idle(&t);
	return true;
}

void sw_steal_open(struct sw_steal *s, int procfs_fd, bool guest)
{
	*s = (struct sw_steal){.fd = openat(procfs_fd, "stat", O_RDONLY | O_CLOEXEC)};
	if (s->fd >= 0 && (!read_sum(s->fd, &s->stolen, &s->all) || (!guest && !s->stolen)))
		sw_steal_close(s);
}

void sw_steal_close(struct sw_steal *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->much = false;
}

void sw_steal_look(struct sw_steal *s, uint64_t now_ns)
{
	uint64_t stolen, all;

	if (s->fd < 0 || now_ns - s->looked_ns < LOOK_EVERY_NS)
		return;
	if (!read_sum(s->fd, &stolen, &all))
		return;
	/* the sum may fall: iowait does */
	s->much = all > s->all && stolen > s->stolen && (stolen - s->stolen) * 100 > (all - s->all) * MUCH_PERCENT;
	s->stolen = stolen;
	s->all = all;
	s->looked_ns = now_ns;
}

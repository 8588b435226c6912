/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what a sample of the cgroup back end costs beyond the read that it cannot do without. Must not know: what becomes
 * of the numbers. Relies on: src/cpu/backend.h.
 *
 * Counts the CPU time of the thread that reads, in turns with a bare read of the same file, each after a sleep. The
 * host's time from /proc/stat is in it, which every window needs, and a bare read of that is shown beside.
 */
#include "bench.h"

#include "base/clock.h"
#include "base/cgroupfs.h"
#include "base/root.h"
#include "cpu/backend.h"
#include "load.h"
#include "stat.h"
#include "variant.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEAD_NS 2000000
#define SAMPLES 2001

struct cgroup_bench {
	struct sw_cgroupfs fs;
	struct sw_cpu_backend *backend;
	pid_t child;
	FILE *stat;  /* cpu.stat of the child's cgroup */
	FILE *times; /* /proc/stat */
};

static int open_all(struct cgroup_bench *c, struct sw_error *error)
{
	const struct sw_cpu_config config = {.pids = &c->child, .n_pids = 1, .own_cgroup = true, .cgroupfs = &c->fs};
	int procfs_fd = sw_root_open("/proc"), err;
	char path[4096];

	if (procfs_fd < 0)
		return sw_fail(error, procfs_fd, "cannot open /proc: %s", strerror(-procfs_fd));
	err = sw_cgroupfs_open(&c->fs, procfs_fd, NULL, error);
	close(procfs_fd);
	if (!err)
		err = backend_open_by(&sw_cpu_cgroup_v2, config, error, &c->backend);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/cpu.stat", c->backend->own_cgroup);
	c->stat = fopen(path, "re");
	if (!c->stat)
		return sw_fail(error, -errno, "cannot open %s: %s", path, strerror(errno));
	c->times = fopen("/proc/stat", "re");
	return c->times ? 0 : sw_fail(error, -errno, "cannot open /proc/stat: %s", strerror(errno));
}

/* After a sleep like that before a sample: what is cold then is cold here. */
static double bare_ns(FILE *f)
{
	static char text[1 << 16];
	uint64_t start;

	sw_sleep_until_ns(sw_now_ns() + LEAD_NS);
	start = thread_cpu_ns();
	return pread(fileno(f), text, sizeof(text), 0) > 0 ? thread_cpu_ns() - start : NAN;
}

static int one_sample(struct sw_cpu_backend *b, double *cpu_ns, struct sw_error *error)
{
	const struct sw_cpu_usage *usage;
	uint64_t t_ns, wake_ns, start;
	int err = b->ops->announce(b, sw_now_ns() + LEAD_NS, &t_ns, &wake_ns);

	if (err)
		return sw_fail(error, err, "cannot set a boundary");
	sw_sleep_until_ns(wake_ns);
	start = thread_cpu_ns();
	err = b->ops->read(b, error, &usage);
	*cpu_ns = thread_cpu_ns() - start;
	return err;
}

static void close_all(struct cgroup_bench *c)
{
	struct sw_error error;

	if (c->child > 0) {
		kill(c->child, SIGKILL);
		waitpid(c->child, NULL, 0);
	}
	if (c->backend) {
		c->backend->ops->remove_own(c->backend, &error);
		c->backend->ops->close(c->backend);
	}
	sw_cgroupfs_close(&c->fs);
	if (c->stat)
		fclose(c->stat);
	if (c->times)
		fclose(c->times);
}

void fig_cgroup(struct bench *b)
{
	struct cgroup_bench c = {.fs.fd = -1};
	size_t n = b->quick ? SAMPLES / 10 : SAMPLES;
	double *ns = calloc(3 * n, sizeof(*ns)), warm_up;
	struct sw_error error = {0};
	struct stat over, times;
	int err = ns ? 0 : sw_fail(&error, -ENOMEM, "out of memory");

	c.child = fork();
	if (!c.child)
		for (;;)
			pause();
	if (!err)
		err = open_all(&c, &error);
	for (size_t i = 0; i < 3 && !err; i++)
		err = one_sample(c.backend, &warm_up, &error);
	for (size_t i = 0; i < n && !err; i++) {
		err = one_sample(c.backend, &ns[i], &error);
		ns[n + i] = bare_ns(c.stat);
		ns[2 * n + i] = bare_ns(c.times);
	}
	if (err) {
		bench_skip(b, "cgroup", "a sample of cgroup_v2", error.text);
	} else {
		bench_raw(b, "cgroup", "sample", ns, n);
		bench_raw(b, "cgroup", "bare", ns + n, n);
		over = stat_added(ns, ns + n, n);
		times = stat_median(ns + 2 * n, n);
		bench_limit(b, "cgroup", "a sample of cgroup_v2, over a bare read", "us", over.value / 1e3, over.se / 1e3, 5,
			    NAN);
		bench_limit(b, "cgroup_times", "  of which /proc/stat", "us", times.value / 1e3, times.se / 1e3, NAN, NAN);
	}
	close_all(&c);
	free(ns);
}

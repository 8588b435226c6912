/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the exporter's look at itself. Must not know: groups, pages.
 * Relies on: getrusage(2); proc_pid_statm(5); proc_stat(5) for `ctxt`; bpf(2), BPF_ENABLE_STATS.
 */
#include "export_health.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/procfs.h"

#define NS_PER_S UINT64_C(1000000000)

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Of the whole host since it was booted, or SW_ABSENT. The file has a line of interrupts that may be long. */
static int64_t read_switches(int procfs_fd)
{
	enum { SIZE = 256 << 10 };
	int64_t switches = SW_ABSENT;
	char *text = malloc(SIZE), *line;
	int fd = openat(procfs_fd, "stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 && text ? read(fd, text, SIZE - 1) : -1;
	uint64_t value;

	if (n > 0) {
		text[n] = '\0';
		line = strstr(text, "\nctxt ");
		if (line) {
			line += strlen("\nctxt ");
			line[strcspn(line, "\n")] = '\0';
			if (!sw_parse_u64(line, INT64_MAX, &value))
				switches = (int64_t)value;
		}
	}
	if (fd >= 0)
		close(fd);
	free(text);
	return switches;
}

void export_health_open(struct export_health *h, const char *procfs)
{
	*h = (struct export_health){
		.procfs_fd = open(procfs ? procfs : "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.self_fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.start_utc_ns = (int64_t)clock_ns(CLOCK_REALTIME),
		.start_ns = clock_ns(CLOCK_MONOTONIC),
	};
	h->start_switches = read_switches(h->procfs_fd);
}

void export_health_close(struct export_health *h)
{
	if (h->procfs_fd >= 0)
		close(h->procfs_fd);
	if (h->self_fd >= 0)
		close(h->self_fd);
	h->procfs_fd = h->self_fd = -1;
}

/* As far as the kernel has kept it: when we began, and as long as its sysctl wants it. */
static int64_t cost_of_one(struct sw_monitor *m)
{
	struct sw_cost cost;

	if (!m || sw_monitor_cost(m, &cost) || !cost.runs)
		return SW_ABSENT;
	return (int64_t)(cost.run_ns / cost.runs);
}

static int64_t own_cpu_ns(void)
{
	struct rusage used;

	if (getrusage(RUSAGE_SELF, &used))
		return SW_ABSENT;
	return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * (int64_t)NS_PER_S +
	       (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * INT64_C(1000);
}

static int64_t resident_bytes(int self_fd)
{
	struct sw_proc_statm statm;
	char text[256];
	int fd = openat(self_fd, "statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return SW_ABSENT;
	text[n] = '\0';
	return sw_proc_statm_parse(text, (size_t)n, &statm) ? SW_ABSENT : (int64_t)statm.resident * sysconf(_SC_PAGESIZE);
}

static int64_t open_fds(int self_fd)
{
	int fd = openat(self_fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	int64_t n = -1; /* the one that is being read */

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return SW_ABSENT;
	}
	for (struct dirent *e = readdir(dir); e; e = readdir(dir))
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* All that accounting and exporting took of what the host's CPUs could do meanwhile. */
static int64_t overhead_parts(const struct export_health *h, const struct exposition_health *e)
{
	uint64_t elapsed_ns = clock_ns(CLOCK_MONOTONIC) - h->start_ns;
	double taken_ns;

	if (e->context_switches == SW_ABSENT || e->switch_cost_ns == SW_ABSENT || e->cpu_ns == SW_ABSENT || !h->cpus ||
	    !elapsed_ns)
		return SW_ABSENT;
	taken_ns = (double)e->context_switches * (double)e->switch_cost_ns + (double)e->cpu_ns;
	return (int64_t)(taken_ns / ((double)h->cpus * (double)elapsed_ns) * 1e9);
}

void export_health_fill(const struct export_health *h, struct sw_monitor *m, struct exposition_health *ret)
{
	int64_t switches = read_switches(h->procfs_fd);

	ret->start_utc_ns = h->start_utc_ns;
	ret->context_switches = switches == SW_ABSENT || h->start_switches == SW_ABSENT ? SW_ABSENT :
											  switches - h->start_switches;
	ret->switch_cost_ns = cost_of_one(m);
	ret->switch_cost_origin = ret->switch_cost_ns == SW_ABSENT ? NULL : "bpf_stats";
	ret->cpu_ns = own_cpu_ns();
	ret->resident_bytes = resident_bytes(h->self_fd);
	ret->open_fds = open_fds(h->self_fd);
	ret->overhead_parts = overhead_parts(h, ret);
}

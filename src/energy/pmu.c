/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the PMU `power` as sysfs shows it: its type, its energy events, the CPUs to read them on. Must not know:
 * perf_event_open(2), joules, windows. Source: arch/x86/events/rapl.c, kernel/events/core.c (cpumask of a scoped PMU).
 *
 * The PMU `power_core` (AMD, since Linux 6.14) is left alone: it counts each core by itself, inside of the package, so
 * that it adds nothing to any sum, and reading it would wake every idle core once a window.
 */
#include "pmu.h"

#include "../base/parse.h"
#include "../base/root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPU_NUMBERS_MAX = 1 << 16 }; /* more than any kernel has */

static const struct {
	const char *name;
	const char *label;
	enum sw_zone_role role;
} known[] = {
	{ "energy-pkg", "package", SW_ROLE_PACKAGE }, { "energy-ram", "dram", SW_ROLE_DRAM },
	{ "energy-cores", "core", SW_ROLE_SUBZONE },  { "energy-gpu", "uncore", SW_ROLE_SUBZONE },
	{ "energy-psys", "psys", SW_ROLE_PLATFORM },
};

static const char *words_of(int err)
{
	switch (err) {
	case -ENOENT:
		return "does not exist";
	case -EACCES:
	case -EPERM:
		return "permission denied";
	case -EOPNOTSUPP:
		return "needs another field than config, which schedwatt does not set";
	case -ENODATA:
		return "is empty";
	default:
		return "does not hold what it should";
	}
}

/* A small file below the PMU, without its newline; an empty one is -ENODATA. */
static int read_text(int pmu_fd, const char *path, char *buf, size_t size)
{
	ssize_t n = sw_file_read(pmu_fd, path, buf, size);

	if (n < 0)
		return (int)n;
	if (n && buf[n - 1] == '\n')
		buf[--n] = '\0';
	if (strlen(buf) != (size_t)n)
		return -EINVAL;
	return n ? 0 : -ENODATA;
}

static int read_format(const char *term, void *ctx, uint64_t *bits)
{
	char path[96], text[128];
	int err;

	snprintf(path, sizeof(path), "format/%s", term);
	err = read_text(*(int *)ctx, path, text, sizeof(text));
	return err ? err : sw_parse_format(text, bits);
}

static void read_config(int pmu_fd, const char *path, struct sw_pmu_event *e)
{
	char text[256];

	e->err = read_text(pmu_fd, path, text, sizeof(text));
	if (e->err) {
		sw_fail(&e->problem, e->err, SW_PMU_DIR "/%s: %s", path, words_of(e->err));
		return;
	}
	e->err = sw_parse_terms(text, read_format, &pmu_fd, &e->config);
	if (e->err == -ENOENT)
		sw_fail(&e->problem, e->err, SW_PMU_DIR "/%s names a term that format/ does not explain", path);
	else if (e->err)
		sw_fail(&e->problem, e->err, SW_PMU_DIR "/%s: %s", path, words_of(e->err));
}

static void read_unit(int pmu_fd, const char *path, struct sw_pmu_event *e)
{
	char text[128];

	e->err = read_text(pmu_fd, path, text, sizeof(text));
	if (e->err) {
		sw_fail(&e->problem, e->err, SW_PMU_DIR "/%s: %s", path, words_of(e->err));
	} else if (strcmp(text, "Joules")) {
		e->err = -EINVAL;
		sw_fail(&e->problem, e->err, SW_PMU_DIR "/%s: the unit is not Joules", path);
	}
}

static void read_scale(int pmu_fd, const char *path, struct sw_pmu_event *e)
{
	char text[128];

	e->err = read_text(pmu_fd, path, text, sizeof(text));
	if (!e->err)
		e->err = sw_parse_scale(text, &e->scale);
	if (e->err)
		sw_fail(&e->problem, e->err, SW_PMU_DIR "/%s: %s", path, words_of(e->err));
}

static void read_event(int pmu_fd, struct sw_pmu_event *e)
{
	char path[96];

	snprintf(path, sizeof(path), "events/%s.unit", e->name);
	read_unit(pmu_fd, path, e);
	snprintf(path, sizeof(path), "events/%s.scale", e->name);
	if (!e->err)
		read_scale(pmu_fd, path, e);
	snprintf(path, sizeof(path), "events/%s", e->name);
	if (!e->err)
		read_config(pmu_fd, path, e);
}

/* Events of kernels to come are taken, too, to be shown; what counts no energy is not for us, nor is what has a '.'. */
static bool is_energy_event(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");

	return !name[n] && n < sizeof(((struct sw_pmu_event *)0)->name) && !strncmp(name, "energy-", 7);
}

static void add_event(struct sw_pmu *pmu, const char *name)
{
	struct sw_pmu_event *e = &pmu->event[pmu->n_events++];
	size_t i;

	memset(e, 0, sizeof(*e));
	strcpy(e->name, name);
	strcpy(e->label, name);
	e->role = SW_ROLE_UNKNOWN;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].name)) {
			strcpy(e->label, known[i].label);
			e->role = known[i].role;
		}
}

static int by_role(const void *a, const void *b)
{
	const struct sw_pmu_event *x = a, *y = b;

	if (x->role != y->role)
		return x->role < y->role ? -1 : 1;
	return strcmp(x->label, y->label);
}

/* Known events go first into the list, so that a directory of very many cannot keep one of them out. */
static int list_events(int pmu_fd, struct sw_pmu *pmu)
{
	struct dirent *entry;
	size_t i;
	DIR *dir;
	int fd;

	fd = openat(pmu_fd, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		int err = -errno;

		if (fd >= 0)
			close(fd);
		return err == -ENOENT ? 0 : err;
	}
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!faccessat(fd, known[i].name, F_OK, AT_SYMLINK_NOFOLLOW))
			add_event(pmu, known[i].name);
	while ((entry = readdir(dir)) && pmu->n_events < SW_PMU_EVENTS_MAX) {
		bool listed = !is_energy_event(entry->d_name);

		for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			listed |= !strcmp(entry->d_name, known[i].name);
		if (!listed)
			add_event(pmu, entry->d_name);
	}
	closedir(dir);
	return 0;
}

static int read_events(int pmu_fd, struct sw_error *error, struct sw_pmu *pmu)
{
	int err = list_events(pmu_fd, pmu);
	size_t i;

	if (err)
		return sw_fail(error, err, SW_PMU_DIR "/events: %s", words_of(err));
	if (!pmu->n_events)
		return sw_fail(error, -ENODEV, "the PMU " SW_PMU_DIR " has no energy events: its driver found no "
			       "counter that works, as in a virtual machine whose host passes none on");
	qsort(pmu->event, pmu->n_events, sizeof(pmu->event[0]), by_role);
	for (i = 0; i < pmu->n_events; i++)
		read_event(pmu_fd, &pmu->event[i]);
	return 0;
}

static int read_id(int sysfs_fd, unsigned cpu, const char *name)
{
	char path[96];
	uint64_t id;

	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/%s", cpu, name);
	return sw_file_read_u64(sysfs_fd, path, INT_MAX, &id) ? -1 : (int)id;
}

/*
 * The energy counters of AMD's processors are the package's, whatever dies there are; Linux 6.9 to 6.11 nevertheless
 * name a CPU for each die, and each reads the same counter.
 */
static bool counts_per_package(const struct sw_cpu_id *cpu)
{
	return cpu->vendor == SW_VENDOR_AMD || cpu->vendor == SW_VENDOR_HYGON;
}

struct mask {
	int sysfs_fd;
	bool per_package;
	struct sw_pmu *pmu;
};

/* Two CPUs that are known to read one counter are one reader. Where nothing is known, the kernel's list is believed. */
static bool same_counter(const struct mask *mask, const struct sw_pmu_reader *a, const struct sw_pmu_reader *b)
{
	if (a->package < 0 || a->package != b->package)
		return a->cpu == b->cpu;
	return mask->per_package || a->cpu == b->cpu || (a->die >= 0 && a->die == b->die);
}

static int add_reader(unsigned cpu, void *ctx)
{
	const struct mask *mask = ctx;
	struct sw_pmu *pmu = mask->pmu;
	struct sw_pmu_reader reader = {
		.cpu = cpu,
		.package = read_id(mask->sysfs_fd, cpu, "physical_package_id"),
		.die = mask->per_package ? -1 : read_id(mask->sysfs_fd, cpu, "die_id"),
	};
	size_t i;

	for (i = 0; i < pmu->n_readers; i++)
		if (same_counter(mask, &pmu->reader[i], &reader))
			return 0;
	if (pmu->n_readers == SW_PMU_READERS_MAX)
		return -E2BIG;
	pmu->reader[pmu->n_readers++] = reader;
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct sw_pmu_reader *x = a, *y = b;

	if (x->package != y->package)
		return x->package < y->package ? -1 : 1;
	if (x->die != y->die)
		return x->die < y->die ? -1 : 1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static int read_cpumask(int sysfs_fd, int pmu_fd, const struct sw_cpu_id *cpu, struct sw_error *error,
			struct sw_pmu *pmu)
{
	struct mask mask = { .sysfs_fd = sysfs_fd, .per_package = counts_per_package(cpu), .pmu = pmu };
	char text[8192];
	int err;

	err = read_text(pmu_fd, "cpumask", text, sizeof(text));
	if (!err)
		err = sw_parse_cpulist(text, CPU_NUMBERS_MAX, add_reader, &mask);
	if (err == -ENODATA)
		return sw_fail(error, -ENODEV, SW_PMU_DIR "/cpumask names no CPU: all that could read are offline");
	if (err == -E2BIG)
		return sw_fail(error, err, SW_PMU_DIR "/cpumask names more than %d CPUs, where one a package was to be "
			       "expected", SW_PMU_READERS_MAX);
	if (err)
		return sw_fail(error, err, SW_PMU_DIR "/cpumask: %s", words_of(err));
	qsort(pmu->reader, pmu->n_readers, sizeof(pmu->reader[0]), by_place);
	return 0;
}

static int open_pmu(int sysfs_fd, struct sw_error *error)
{
	int fd = openat(sysfs_fd, SW_PMU_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = -errno;

	if (fd >= 0)
		return fd;
	if (err == -ENOENT)
		return sw_fail(error, err, "there is no PMU " SW_PMU_DIR " in sysfs: usual in a virtual machine; on a "
			       "machine with RAPL the module rapl is not loaded (modprobe rapl), or the kernel is "
			       "without CONFIG_PERF_EVENTS_INTEL_RAPL");
	return sw_fail(error, err, SW_PMU_DIR " cannot be opened (%s)",
		       err == -EACCES ? "permission denied" : "not a directory, or no room");
}

int sw_pmu_read(int sysfs_fd, const struct sw_cpu_id *cpu, struct sw_error *error, struct sw_pmu *ret)
{
	uint64_t type;
	int fd, err;

	ret->n_events = ret->n_readers = 0;
	fd = open_pmu(sysfs_fd, error);
	if (fd < 0)
		return fd;
	err = sw_file_read_u64(fd, "type", UINT32_MAX, &type);
	if (err) {
		sw_fail(error, err, SW_PMU_DIR "/type: %s", words_of(err));
	} else {
		ret->type = (uint32_t)type;
		err = read_cpumask(sysfs_fd, fd, cpu, error, ret);
	}
	if (!err)
		err = read_events(fd, error, ret);
	close(fd);
	return err;
}

bool sw_pmu_has_dies(const struct sw_pmu *pmu, int package)
{
	int die = -1;
	size_t i;

	for (i = 0; i < pmu->n_readers; i++) {
		const struct sw_pmu_reader *r = &pmu->reader[i];

		if (r->package != package || r->die < 0)
			continue;
		if (die >= 0 && r->die != die)
			return true;
		die = r->die;
	}
	return false;
}

bool sw_perf_is_per_die(int sysfs_fd, const struct sw_cpu_id *cpu)
{
	struct sw_pmu pmu;
	size_t i;

	if (sw_pmu_read(sysfs_fd, cpu, NULL, &pmu))
		return false;
	for (i = 0; i < pmu.n_readers; i++)
		if (pmu.reader[i].package >= 0 && sw_pmu_has_dies(&pmu, pmu.reader[i].package))
			return true;
	return false;
}

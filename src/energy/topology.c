/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the table CPU -> domain. Must not know: energy zones, or who runs on the CPUs.
 * Source: Documentation/ABI/stable/sysfs-devices-system-cpu (physical_package_id, die_id, present);
 * arch/x86/events/intel/core.c (names of the PMUs of hybrid processors).
 */
#include "source.h"

#include "../base/parse.h"
#include "../base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
	DOMAINS_MAX = sizeof(((struct sw_topology *)0)->package_of) / sizeof(int),
	CPU_NUMBERS_MAX = 1 << 16, /* more than any kernel has: a capture may list CPUs that we lack */
};

struct cpu_place {
	bool known;
	bool present;
	int package;
	int die; /* -1 unless domains are dies */
};

struct places {
	struct cpu_place *cpu;
	unsigned n_cpus;
	unsigned n_present;
};

static int read_id(int cpus_fd, unsigned cpu, const char *name, int *ret)
{
	char path[64];
	uint64_t id;
	int err;

	snprintf(path, sizeof(path), "cpu%u/topology/%s", cpu, name);
	err = sw_file_read_u64(cpus_fd, path, INT_MAX, &id);
	if (!err)
		*ret = (int)id;
	return err;
}

/* An offline CPU has no topology directory, and "-1" is how a kernel says that it does not know: both stay unknown. */
static void read_place(int cpus_fd, unsigned cpu, bool by_die, struct cpu_place *place)
{
	place->known = !read_id(cpus_fd, cpu, "physical_package_id", &place->package);
	place->die = -1;
	if (by_die && read_id(cpus_fd, cpu, "die_id", &place->die))
		place->die = 0; /* kernels before 5.2 know no dies: each package is one */
}

static int mark_present(unsigned cpu, void *ctx)
{
	struct places *places = ctx;

	if (cpu < places->n_cpus && !places->cpu[cpu].present) {
		places->cpu[cpu].present = true;
		places->n_present++;
	}
	return 0;
}

/* Where the tree does not tell, or tells of none of our CPUs, all are present. */
static void read_present(int cpus_fd, struct places *places)
{
	char list[8192];
	unsigned cpu;

	if (cpus_fd >= 0 && sw_file_read(cpus_fd, "present", list, sizeof(list)) >= 0)
		sw_parse_cpulist(list, CPU_NUMBERS_MAX, mark_present, places);
	if (places->n_present)
		return;
	for (cpu = 0; cpu < places->n_cpus; cpu++)
		mark_present(cpu, places);
}

static int compare_place(const struct cpu_place *place, const struct sw_topology *t, unsigned domain)
{
	if (place->package != t->package_of[domain])
		return place->package < t->package_of[domain] ? -1 : 1;
	return (place->die > t->die_of[domain]) - (place->die < t->die_of[domain]);
}

/* Keep (package, die) in its order among the domains, once. */
static int add_domain(struct sw_topology *t, const struct cpu_place *place)
{
	unsigned at = 0, i;

	while (at < t->n_domains && compare_place(place, t, at) > 0)
		at++;
	if (at < t->n_domains && !compare_place(place, t, at))
		return 0;
	if (t->n_domains == DOMAINS_MAX)
		return -E2BIG;
	for (i = t->n_domains; i > at; i--) {
		t->package_of[i] = t->package_of[i - 1];
		t->die_of[i] = t->die_of[i - 1];
	}
	t->package_of[at] = place->package;
	t->die_of[at] = place->die;
	t->n_domains++;
	return 0;
}

static void assign_cpus(struct sw_topology *t, const struct places *places)
{
	unsigned cpu, d;

	for (cpu = 0; cpu < t->n_cpus; cpu++) {
		const struct cpu_place *place = &places->cpu[cpu];

		t->domain_of[cpu] = 0;
		for (d = 0; place->known && d < t->n_domains; d++)
			if (!compare_place(place, t, d))
				t->domain_of[cpu] = (int16_t)d;
		if (place->present)
			t->cpus_in[t->domain_of[cpu]]++;
	}
	t->n_present = places->n_present;
	for (d = 0; d < t->n_domains; d++)
		if (!d || t->package_of[d] != t->package_of[d - 1])
			t->n_packages++;
}

/* An x86 kernel has a PMU for each type of core, and one called "cpu" where there is only one type. */
static bool is_hybrid(int sysfs_fd)
{
	return !faccessat(sysfs_fd, "devices/cpu_core", F_OK, 0) && !faccessat(sysfs_fd, "devices/cpu_atom", F_OK, 0);
}

int sw_topology_read(int sysfs_fd, unsigned n_cpus, bool by_die, struct sw_error *error, struct sw_topology *ret)
{
	struct cpu_place only = { .package = 0, .die = by_die ? 0 : -1 };
	struct places places = { .n_cpus = n_cpus };
	struct sw_topology t = { .n_cpus = n_cpus, .hybrid = is_hybrid(sysfs_fd) };
	int cpus_fd, err = -ENOMEM;
	unsigned cpu;

	if (!n_cpus)
		return sw_fail(error, -EINVAL, "a topology of 0 CPUs was asked for");
	cpus_fd = openat(sysfs_fd, "devices/system/cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	places.cpu = calloc(n_cpus, sizeof(*places.cpu));
	t.domain_of = calloc(n_cpus, sizeof(*t.domain_of));
	if (!places.cpu || !t.domain_of) {
		sw_fail(error, err, "out of memory for the topology of %u CPUs", n_cpus);
		goto out;
	}
	read_present(cpus_fd, &places);
	for (cpu = 0; cpus_fd >= 0 && cpu < n_cpus; cpu++) {
		read_place(cpus_fd, cpu, by_die, &places.cpu[cpu]);
		err = places.cpu[cpu].known ? add_domain(&t, &places.cpu[cpu]) : 0;
		if (err) {
			sw_fail(error, err, "this machine has more than %d %s; schedwatt can tell apart no more",
				DOMAINS_MAX, by_die ? "processor dies" : "processor packages");
			goto out;
		}
	}
	if (!t.n_domains)
		add_domain(&t, &only);
	assign_cpus(&t, &places);
	*ret = t;
	t.domain_of = NULL;
	err = 0;
out:
	free(t.domain_of);
	free(places.cpu);
	if (cpus_fd >= 0)
		close(cpus_fd);
	return err;
}

uint32_t sw_topology_domains(const struct sw_topology *t, int package, int die)
{
	uint32_t found = 0;
	unsigned d;

	for (d = 0; d < t->n_domains; d++)
		if (t->package_of[d] == package && (t->die_of[d] < 0 || die < 0 || t->die_of[d] == die))
			found |= UINT32_C(1) << d;
	return found;
}

bool sw_sysfs_is_real(int sysfs_fd)
{
	struct statfs fs;

	return !fstatfs(sysfs_fd, &fs) && fs.f_type == SYSFS_MAGIC;
}

void sw_topology_free(struct sw_topology *topology)
{
	if (!topology)
		return;
	free(topology->domain_of);
	topology->domain_of = NULL;
}

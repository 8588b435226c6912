/* SPDX-License-Identifier: BSD-2-Clause */
/* energy/perf.c: which events of the PMU `power` are opened, where, what they count, and what a broken one does. */
#include "tree.h"

#include "../../src/energy/counter.h"
#include "../../src/energy/perf_event.h"
#include "../../src/energy/pmu_parse.h"
#include "../../src/energy/source.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <locale.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define PMU "bus/event_source/devices/power/"
#define SCALE "2.3283064365386962890625e-10" /* 2^-32 J */
#define JOULE (UINT64_C(1) << 32)

static const struct sw_topology one = { .n_cpus = 4, .n_domains = 1, .n_packages = 1, .die_of = { -1 } };

/* --- what stands for perf_event_open(2): each event is a memfd, and what is written to its end is what is read next */

static struct {
	struct fake_event {
		uint32_t type;
		uint64_t config;
		int cpu;
		int fd; /* the test's own of the same file */
		uint64_t enabled, running;
		off_t end;
	} event[64];
	int n;
	uint64_t fail_config; /* opening this event fails … */
	int fail_cpu;         /* … on this CPU, or on all (-1) … */
	int fail_err;         /* … with this, if any */
	bool dead; /* what is opened has nothing to read */
} fake;

static void write_count(struct fake_event *e, uint64_t value)
{
	const uint64_t count[3] = { value, e->enabled, e->running };

	assert_int_equal(pwrite(e->fd, count, sizeof(count), e->end), sizeof(count));
	e->end += sizeof(count);
}

static int fake_open(uint32_t type, uint64_t config, int cpu)
{
	struct fake_event *e = &fake.event[fake.n];
	int fd;

	if (fake.fail_err && config == fake.fail_config && (fake.fail_cpu < 0 || fake.fail_cpu == cpu))
		return fake.fail_err;
	assert_true(fake.n < 64);
	fd = memfd_create("event", MFD_CLOEXEC);
	*e = (struct fake_event){
		.type = type, .config = config, .cpu = cpu, .fd = dup(fd), .enabled = 7, .running = 7,
	};
	assert_true(fd >= 0 && e->fd >= 0);
	fake.n++;
	if (!fake.dead)
		write_count(e, 0);
	return fd;
}

/* The last opened event of this kind on this CPU. */
static struct fake_event *event(uint64_t config, int cpu)
{
	int i;

	for (i = fake.n - 1; i >= 0; i--)
		if (fake.event[i].config == config && fake.event[i].cpu == cpu)
			return &fake.event[i];
	fail_msg("no event %d on CPU %d", (int)config, cpu);
	return NULL;
}

/* A second later it has counted so much. */
static void count_to(struct fake_event *e, uint64_t value)
{
	e->enabled += 1000000000;
	e->running += 1000000000;
	write_count(e, value);
}

static void count_all(uint64_t value)
{
	int i;

	for (i = 0; i < fake.n; i++)
		count_to(&fake.event[i], value * (unsigned)(i + 1));
}

static int setup(void **state)
{
	memset(&fake, 0, sizeof(fake));
	return tree_setup(state);
}

static int teardown(void **state)
{
	int i;

	for (i = 0; i < fake.n; i++)
		close(fake.event[i].fd);
	return tree_teardown(state);
}

/* --- the machine */

static void pmu_event(const struct tree *t, const char *name, const char *terms, const char *scale, const char *unit)
{
	char path[128];

	snprintf(path, sizeof(path), PMU "events/%s", name);
	tree_write(t, path, terms);
	snprintf(path, sizeof(path), PMU "events/%s.scale", name);
	if (scale)
		tree_write(t, path, scale);
	snprintf(path, sizeof(path), PMU "events/%s.unit", name);
	if (unit)
		tree_write(t, path, unit);
}

/* As a kernel shows it, attributes of events without a newline. */
static void pmu(const struct tree *t, const char *cpumask)
{
	tree_write(t, PMU "type", "24\n");
	tree_write(t, PMU "cpumask", cpumask);
	tree_write(t, PMU "format/event", "config:0-7\n");
	pmu_event(t, "energy-pkg", "event=0x02", SCALE, "Joules");
}

static void place_cpu(const struct tree *t, unsigned cpu, const char *package, const char *die)
{
	char path[128];

	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
	tree_write(t, path, package);
	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/die_id", cpu);
	if (die)
		tree_write(t, path, die);
}

static struct sw_energy_source *open_zones(const struct tree *t, const struct sw_topology *topo)
{
	const struct sw_energy_config config = { .sysfs_fd = t->fd, .topology = topo, .perf_open = fake_open };
	struct sw_energy_source *s = NULL;
	struct sw_error e = { .text = "" };

	if (sw_energy_perf.open(&config, &e, &s))
		fail_msg("%s", e.text);
	return s;
}

/* Open must fail; its words. Nothing stays open. */
static const char *refusal(const struct tree *t, int want, struct sw_error *e)
{
	const struct sw_energy_config config = { .sysfs_fd = t->fd, .topology = &one, .perf_open = fake_open };
	struct sw_energy_source *s = (void *)e;

	assert_int_equal(sw_energy_perf.open(&config, e, &s), want);
	assert_ptr_equal(s, e);
	return e->text;
}

static void assert_says(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("\"%s\" is not in \"%s\"", words, text);
}

/* All paths in their order; a zone with a problem is marked '!'. */
static void assert_zones(const struct sw_energy_source *s, const char *want)
{
	char text[1024] = "";
	size_t i, n = 0;

	for (i = 0; i < s->n_zones; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s", i ? ", " : "", s->zones[i].name,
				      s->zones[i].problem ? "!" : "");
	assert_string_equal(text, want);
}

static struct sw_zone_value read_zone(struct sw_energy_source *s, size_t i)
{
	struct sw_zone_value v[64];

	assert_true(i < s->n_zones && s->n_zones <= 64);
	s->ops->read(s, NULL, v);
	return v[i];
}

static void assert_joules(struct sw_zone_value v, uint64_t uj, uint64_t nj)
{
	assert_int_equal(v.status, 0);
	assert_int_equal(v.raw_uj, uj);
	assert_int_equal(v.extra_nj, nj);
}

/* --- tests */

static void laptop(void **state)
{
	const struct tree *t = *state;
	struct sw_zone_value v[5];
	struct sw_energy_source *s;
	int i;

	pmu(t, "0\n");
	place_cpu(t, 0, "0\n", "0\n");
	pmu_event(t, "energy-psys", "event=0x05", SCALE, "Joules");
	pmu_event(t, "energy-gpu", "event=0x04", SCALE, "Joules");
	pmu_event(t, "energy-ram", "event=0x03", SCALE, "Joules");
	pmu_event(t, "energy-cores", "event=0x01", SCALE, "Joules");
	s = open_zones(t, &one);
	assert_zones(s, "package-0, package-0/dram, package-0/core, package-0/uncore, psys");
	assert_int_equal(fake.n, 5);
	for (i = 0; i < 5; i++) {
		assert_int_equal(fake.event[i].type, 24);
		assert_int_equal(fake.event[i].cpu, 0);
		assert_int_equal(s->zones[i].range_uj, 0);
		assert_int_equal(s->zones[i].wrap_uj, 0);
		assert_int_equal(s->zones[i].die, -1);
		assert_false(s->zones[i].twin);
	}
	assert_int_equal(s->zones[0].role, SW_ROLE_PACKAGE);
	assert_null(s->zones[0].parent);
	assert_int_equal(s->zones[1].role, SW_ROLE_DRAM);
	assert_string_equal(s->zones[1].parent, "package-0");
	assert_int_equal(s->zones[2].role, SW_ROLE_SUBZONE);
	assert_int_equal(s->zones[3].role, SW_ROLE_SUBZONE);
	assert_int_equal(s->zones[3].domains, 1);
	assert_int_equal(s->zones[4].role, SW_ROLE_PLATFORM);
	assert_int_equal(s->zones[4].package, -1);
	assert_int_equal(s->zones[4].domains, 0);
	assert_null(s->zones[4].parent);
	count_to(event(2, 0), JOULE);
	count_to(event(3, 0), JOULE / 2);
	count_to(event(1, 0), JOULE / 4);
	count_to(event(4, 0), 1);
	count_to(event(5, 0), 5);
	s->ops->read(s, NULL, v);
	assert_joules(v[0], 1000000, 0);
	assert_joules(v[1], 500000, 0);
	assert_joules(v[2], 250000, 0);
	assert_joules(v[3], 0, 0); /* 0.23 nJ */
	assert_joules(v[4], 0, 1); /* 1.16 nJ */
	count_all(UINT64_C(1) << 62);
	assert_joules(read_zone(s, 0), UINT64_C(1073741824000000), 0); /* 2^30 J, after some years */
	assert_string_equal(s->ops->quality, "measured");
	s->ops->close(s);
	sw_energy_perf.close(NULL);
}

static void openings(const struct tree *t, const char *cpumask, const struct sw_topology *topo, int first, int second)
{
	struct sw_energy_source *s;
	int n = fake.n;

	pmu(t, cpumask);
	s = open_zones(t, topo);
	assert_int_equal(fake.n, n + (second < 0 ? 1 : 2));
	assert_int_equal(fake.event[n].cpu, first);
	if (second >= 0)
		assert_int_equal(fake.event[n + 1].cpu, second);
	s->ops->close(s);
}

/* One open for each CPU of the mask, lists and ranges; CPUs that are known to read one counter count once. */
static void cpumask(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	unsigned cpu;

	openings(t, "0,36\n", &one, 0, 36);
	openings(t, "0-1\n", &one, 0, 1);
	openings(t, "36", &one, 36, -1);
	openings(t, "2,2\n", &one, 2, -1);
	pmu(t, "0-1\n"); /* sysfs does not say that they share a package */
	s = open_zones(t, &one);
	assert_zones(s, "package-0, package-0 (cpu1)");
	assert_int_equal(s->zones[0].domains, 1);
	assert_int_equal(s->zones[1].domains, 1);
	s->ops->close(s);

	for (cpu = 0; cpu < 4; cpu++)
		place_cpu(t, cpu, "0\n", cpu < 2 ? "0\n" : "1\n");
	openings(t, "0-1\n", &one, 0, -1);
	openings(t, "0-3\n", &one, 0, 2);
}

static void two_packages(void **state)
{
	int16_t domain_of[4] = { 1, 0, 1, 0 };
	const struct sw_topology topo = {
		.n_cpus = 4, .domain_of = domain_of, .n_domains = 2, .n_packages = 2, .package_of = { 0, 3 },
		.die_of = { -1, -1 },
	};
	const struct tree *t = *state;
	struct sw_zone_value v[6];
	struct sw_energy_source *s;

	pmu(t, "0-1\n");
	place_cpu(t, 0, "3\n", "0\n");
	place_cpu(t, 1, "0\n", "0\n");
	pmu_event(t, "energy-ram", "event=0x03", SCALE, "Joules");
	pmu_event(t, "energy-psys", "event=0x05", SCALE, "Joules");
	s = open_zones(t, &topo);
	assert_zones(s, "package-0, package-0/dram, package-3, package-3/dram, psys, psys (package-3)");
	assert_int_equal(s->zones[1].domains, 1);
	assert_int_equal(s->zones[2].domains, 2);
	assert_int_equal(s->zones[3].domains, 2);
	assert_int_equal(s->zones[3].package, 3);
	assert_int_equal(s->zones[5].package, -1);
	assert_int_equal(s->zones[5].role, SW_ROLE_PLATFORM);
	count_to(event(2, 1), 10 * JOULE);
	count_to(event(3, 1), 11 * JOULE);
	count_to(event(2, 0), 20 * JOULE);
	count_to(event(3, 0), 21 * JOULE);
	count_to(event(5, 1), 30 * JOULE);
	count_to(event(5, 0), 31 * JOULE);
	s->ops->read(s, NULL, v);
	assert_joules(v[0], 10000000, 0);
	assert_joules(v[1], 11000000, 0);
	assert_joules(v[2], 20000000, 0);
	assert_joules(v[3], 21000000, 0);
	assert_joules(v[4], 30000000, 0);
	assert_joules(v[5], 31000000, 0);
	s->ops->close(s);
}

/* Counters of dies have names of their own, whether the topology's domains are dies or packages. */
static void dies(void **state)
{
	int16_t domain_of[8] = { 0, 0, 0, 0, 1, 1, 2, 2 };
	const struct sw_topology by_die = {
		.n_cpus = 8, .domain_of = domain_of, .n_domains = 3, .n_packages = 2,
		.package_of = { 0, 0, 1 }, .die_of = { 0, 1, 0 },
	};
	struct sw_cpu_id cpu = { .vendor = SW_VENDOR_INTEL };
	const struct tree *t = *state;
	struct sw_energy_config config = { .sysfs_fd = t->fd, .topology = &by_die, .perf_open = fake_open };
	struct sw_energy_source *s;

	assert_false(sw_perf_is_per_die(t->fd, &cpu));
	pmu(t, "0,4,6\n");
	pmu_event(t, "energy-ram", "event=0x03", SCALE, "Joules");
	place_cpu(t, 0, "0\n", "0\n");
	place_cpu(t, 4, "0\n", "1\n");
	place_cpu(t, 6, "1\n", "0\n");
	assert_true(sw_perf_is_per_die(t->fd, &cpu));
	s = open_zones(t, &by_die);
	assert_zones(s, "package-0-die-0, package-0-die-0/dram, package-0-die-1, package-0-die-1/dram, package-1, "
			"package-1/dram");
	assert_int_equal(s->zones[0].die, 0);
	assert_int_equal(s->zones[0].domains, 1);
	assert_int_equal(s->zones[3].die, 1);
	assert_int_equal(s->zones[3].package, 0);
	assert_int_equal(s->zones[3].domains, 2);
	assert_int_equal(s->zones[4].die, -1);
	assert_int_equal(s->zones[4].domains, 4);
	s->ops->close(s);

	s = open_zones(t, &one);
	assert_int_equal(s->zones[0].domains, 1);
	assert_int_equal(s->zones[2].domains, 1);
	assert_int_equal(s->zones[4].domains, 0); /* of package 1 this topology has no CPU */
	s->ops->close(s);

	/* AMD's counters are the package's. */
	config.cpu.vendor = cpu.vendor = SW_VENDOR_AMD;
	assert_false(sw_perf_is_per_die(t->fd, &cpu));
	assert_int_equal(sw_energy_perf.open(&config, NULL, &s), 0);
	assert_zones(s, "package-0, package-0/dram, package-1, package-1/dram");
	assert_int_equal(s->zones[0].domains, 1 | 2);
	s->ops->close(s);
}

/* Which CPUs perf.c asks for. This definition stands before the C library's. */
static struct {
	int calls;
	unsigned long first[8]; /* CPUs 0 … 63 of each call */
} asked;

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	if (asked.calls < 8)
		memcpy(&asked.first[asked.calls], set, sizeof(asked.first[0]));
	asked.calls++;
	return (int)syscall(SYS_sched_setaffinity, pid, size, set);
}

static void reads_near(void **state)
{
	int16_t domain_of[4] = { 0, 1, 0, 1 };
	const struct sw_topology topo = {
		.n_cpus = 4, .domain_of = domain_of, .n_domains = 2, .n_packages = 2, .package_of = { 0, 1 },
		.die_of = { -1, -1 },
	};
	const struct tree *t = *state;
	struct sw_energy_source *s;

	pmu(t, "0-1\n");
	place_cpu(t, 0, "0\n", "0\n");
	place_cpu(t, 1, "1\n", "0\n");
	pmu_event(t, "energy-ram", "event=0x03", SCALE, "Joules");
	pmu_event(t, "energy-psys", "event=0x05", SCALE, "Joules");
	s = open_zones(t, &topo);
	memset(&asked, 0, sizeof(asked));
	read_zone(s, 0);
	assert_int_equal(asked.calls, 5); /* two packages, psys of each, and back */
	assert_true(asked.first[0] == 0x5);
	assert_true(asked.first[1] == 0xa);
	assert_true(asked.first[2] == 0x5);
	assert_true(asked.first[3] == 0xa);
	s->ops->close(s);
}

/* What is broken in one event is told, the others go on; what is not there is no zone. */
static void single_events(void **state)
{
	static const struct {
		const char *terms, *scale, *unit, *says;
		int err;
	} cases[] = {
		{ "event=0x03", SCALE, "Watts", "events/energy-ram.unit: the unit is not Joules", -EINVAL },
		{ "event=0x03", SCALE, "joules", "the unit is not Joules", -EINVAL },
		{ "event=0x03", SCALE, "", "energy-ram.unit: is empty", -ENODATA },
		{ "event=0x03", SCALE, NULL, "energy-ram.unit: does not exist", -ENOENT },
		{ "event=0x03", NULL, "Joules", "energy-ram.scale: does not exist", -ENOENT },
		{ "event=0x03", "2,33e-10", "Joules", "energy-ram.scale: does not hold what it should", -EINVAL },
		{ "event=0x03", "0", "Joules", "energy-ram.scale: does not hold what it should", -ERANGE },
		{ "event=0x100", SCALE, "Joules", "events/energy-ram: does not hold what it should", -ERANGE },
		{ "umask=1", SCALE, "Joules", "energy-ram names a term that format/ does not explain", -ENOENT },
		{ "far=1", SCALE, "Joules", "energy-ram: needs another field than config", -EOPNOTSUPP },
		{ "", SCALE, "Joules", "events/energy-ram: is empty", -ENODATA },
	};
	const struct tree *t = *state;
	struct sw_energy_source *s;
	size_t i;

	pmu(t, "0\n");
	tree_write(t, PMU "format/far", "config1:0-7\n");
	s = open_zones(t, &one);
	assert_zones(s, "package-0");
	s->ops->close(s);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unlinkat(t->fd, PMU "events/energy-ram.scale", 0);
		unlinkat(t->fd, PMU "events/energy-ram.unit", 0);
		pmu_event(t, "energy-ram", cases[i].terms, cases[i].scale, cases[i].unit);
		s = open_zones(t, &one);
		assert_zones(s, "package-0, package-0/dram!");
		assert_says(s->zones[1].problem, cases[i].says);
		count_to(event(2, 0), JOULE);
		assert_joules(read_zone(s, 0), 1000000, 0);
		assert_int_equal(read_zone(s, 1).status, cases[i].err);
		s->ops->close(s);
	}
}

/* Events of kernels to come are shown, and not added; what counts no energy is left alone. */
static void unknown_events(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	char name[32];
	int i;

	pmu(t, "0\n");
	pmu_event(t, "energy-npu", "event=0x09", "6.103515625e-05\n", "Joules\n");
	pmu_event(t, "temperature", "event=0x0a", SCALE, "Joules");
	pmu_event(t, "energy-a b", "event=0x0b", SCALE, "Joules");
	s = open_zones(t, &one);
	assert_zones(s, "package-0, package-0/energy-npu");
	assert_int_equal(s->zones[1].role, SW_ROLE_UNKNOWN);
	assert_string_equal(s->zones[1].parent, "package-0");
	count_to(event(9, 0), 16384);
	assert_joules(read_zone(s, 1), 1000000, 0);
	s->ops->close(s);

	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "energy-%d", i);
		pmu_event(t, name, "event=0x09", SCALE, "Joules");
	}
	s = open_zones(t, &one);
	assert_int_equal(s->n_zones, 16);
	assert_string_equal(s->zones[0].name, "package-0");
	s->ops->close(s);
}

/* Terms find their bits by the format. */
static void config_of_terms(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;

	pmu(t, "0\n");
	tree_write(t, PMU "format/umask", "config:8-11,60-63\n");
	tree_write(t, PMU "format/edge", "config:18\n");
	pmu_event(t, "energy-pkg", "event=0x02,umask=0xa5,edge\n", SCALE "\n", "Joules\n");
	s = open_zones(t, &one);
	assert_int_equal(fake.event[0].config, UINT64_C(0xa000000000040502));
	s->ops->close(s);
}

/* Nothing there, in each way in which nothing can be there. */
static void refusals(void **state)
{
	const struct tree *t = *state;
	const struct sw_energy_config config = { .sysfs_fd = t->fd, .topology = &one };
	struct sw_energy_source *s = NULL;
	struct sw_error e = { .text = "" };

	assert_says(refusal(t, -ENOENT, &e), "there is no PMU bus/event_source/devices/power in sysfs: usual in a");
	assert_says(e.text, "modprobe rapl");
	assert_says(e.text, "CONFIG_PERF_EVENTS_INTEL_RAPL");
	tree_write(t, PMU "type", "24\n");
	assert_says(refusal(t, -ENOENT, &e), "power/cpumask: does not exist");
	tree_write(t, PMU "cpumask", "\n");
	assert_says(refusal(t, -ENODEV, &e), "cpumask names no CPU");
	tree_write(t, PMU "cpumask", "0-\n");
	assert_says(refusal(t, -EINVAL, &e), "power/cpumask: does not hold what it should");
	tree_write(t, PMU "cpumask", "0-64\n");
	assert_says(refusal(t, -E2BIG, &e), "cpumask names more than 64 CPUs");
	tree_write(t, PMU "cpumask", "0\n");
	assert_says(refusal(t, -ENODEV, &e), "has no energy events");
	tree_write(t, PMU "events/README", "");
	assert_says(refusal(t, -ENODEV, &e), "has no energy events");
	tree_write(t, PMU "format/event", "config:0-7\n");
	pmu_event(t, "energy-cores", "event=0x01", SCALE, "Joules");
	assert_says(refusal(t, -ENODEV, &e), "has no event energy-pkg");
	pmu_event(t, "energy-pkg", "event=0x02", SCALE, "Watts");
	assert_says(refusal(t, -EINVAL, &e), "energy-pkg.unit: the unit is not Joules");
	tree_write(t, PMU "type", "4294967296\n");
	assert_says(refusal(t, -ERANGE, &e), "power/type: does not hold what it should");

	/* This machine's counters are not those of another's sysfs. */
	pmu(t, "0\n");
	assert_int_equal(sw_energy_perf.open(&config, &e, &s), -EOPNOTSUPP);
	assert_says(e.text, "--sysfs names a directory that stands for another machine's /sys");
	assert_null(s);
}

/* Where the kernel says no. One no does not stop the others. */
static void open_errors(void **state)
{
	static const struct {
		int err;
		const char *says;
	} cases[] = {
		{ -EPERM, "CAP_PERFMON" }, { -ENODEV, "offline" }, { -ENOENT, "does not count this event" },
		{ -EINVAL, "does not count this event" }, { -EMFILE, "ulimit -n" }, { -ENOSYS, "CONFIG_PERF_EVENTS" },
		{ -EBUSY, "energy-pkg on CPU 0: error 16" },
	};
	const struct tree *t = *state;
	struct sw_error e = { .text = "" };
	struct sw_energy_source *s;
	char says[48], level[16];
	size_t i;
	FILE *f;

	pmu(t, "0,36\n");
	place_cpu(t, 0, "0\n", "0\n");
	place_cpu(t, 36, "1\n", "0\n");
	pmu_event(t, "energy-ram", "event=0x03", SCALE, "Joules");
	fake.fail_config = 3;
	fake.fail_cpu = 36;
	fake.fail_err = -EACCES;
	s = open_zones(t, &one);
	assert_zones(s, "package-0, package-0/dram, package-1, package-1/dram!");
	assert_says(s->zones[3].problem, "energy-ram on CPU 36: permission denied");
	f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	assert_non_null(f);
	assert_non_null(fgets(level, sizeof(level), f));
	fclose(f);
	level[strcspn(level, "\n")] = '\0';
	snprintf(says, sizeof(says), "it says %s: run as root", level);
	assert_says(s->zones[3].problem, "/proc/sys/kernel/perf_event_paranoid at 0 or below");
	assert_says(s->zones[3].problem, says);
	assert_says(s->zones[3].problem, "sysctl kernel.perf_event_paranoid=0");
	assert_says(s->zones[3].problem, "pass, too");
	count_all(JOULE);
	assert_joules(read_zone(s, 2), 3000000, 0);
	assert_int_equal(read_zone(s, 3).status, -EACCES);
	s->ops->close(s);

	fake.fail_config = 2;
	fake.fail_cpu = -1;
	assert_says(refusal(t, -EACCES, &e), "energy-pkg on CPU 0: permission denied");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake.fail_err = cases[i].err;
		assert_says(refusal(t, cases[i].err, &e), cases[i].says);
	}
	fake.fail_err = 0;
	fake.dead = true; /* opened in an error state */
	assert_says(refusal(t, -ENODEV, &e), "the counter is gone");
}

/* Of two packages, the second; the first goes on meanwhile. */
static struct sw_zone_value read_second(struct sw_energy_source *s)
{
	struct sw_zone_value v[2];

	assert_int_equal(s->n_zones, 2);
	count_to(event(2, 0), 5 * JOULE);
	s->ops->read(s, NULL, v);
	assert_joules(v[0], 5000000, 0);
	return v[1];
}

/* An event that stands still is lost; what is opened in its place is joined to nothing. */
static void mended(void **state)
{
	const struct tree *t = *state;
	struct sw_counter c = { .range_uj = 0 };
	struct sw_energy_source *s;
	struct sw_zone_value v;
	struct fake_event *e;

	pmu(t, "0,36\n");
	place_cpu(t, 0, "0\n", "0\n");
	place_cpu(t, 36, "1\n", "0\n");
	place_cpu(t, 37, "1\n", "0\n");
	s = open_zones(t, &one);
	e = event(2, 36);
	count_to(e, 2 * JOULE);
	v = read_second(s);
	assert_joules(v, 2000000, 0);
	sw_counter_add(&c, &v, 1000, false);
	count_to(e, 6 * JOULE);
	v = read_second(s);
	sw_counter_add(&c, &v, 2000, false);
	assert_int_equal(c.sum_nj, 4000000000);
	assert_int_equal(c.breaks, 0);
	s->ops->mend(s); /* nothing is lost: nothing is opened */
	assert_int_equal(fake.n, 2);

	/* The package went offline. */
	write_count(e, 6 * JOULE);
	v = read_second(s);
	assert_int_equal(v.status, -ENODEV);
	sw_counter_add(&c, &v, 3000, false);
	tree_write(t, PMU "cpumask", "0\n");
	s->ops->mend(s);
	assert_int_equal(fake.n, 2);
	count_to(e, 100 * JOULE); /* whatever it says now */
	assert_int_equal(read_second(s).status, -ENODEV);

	/* It is back, another CPU of it reads, and the driver was loaded anew. */
	tree_write(t, PMU "cpumask", "0,37\n");
	tree_write(t, PMU "type", "31\n");
	fake.fail_config = 2;
	fake.fail_cpu = 37;
	fake.fail_err = -ENODEV;
	s->ops->mend(s);
	assert_int_equal(read_second(s).status, -ENODEV);
	fake.fail_err = 0;
	s->ops->mend(s);
	assert_int_equal(fake.n, 3);
	e = event(2, 37);
	assert_int_equal(e->type, 31);
	count_to(e, 200 * JOULE); /* above all that it ever was */
	v = read_second(s);
	assert_joules(v, 200000000, 0);
	sw_counter_add(&c, &v, 4000, false);
	assert_int_equal(c.sum_nj, 4000000000);
	assert_int_equal(c.breaks, 2);
	count_to(e, 201 * JOULE);
	v = read_second(s);
	sw_counter_add(&c, &v, 5000, false);
	assert_int_equal(c.sum_nj, 5000000000);
	assert_int_equal(c.breaks, 2);

	/* End of file is an event in an error state. */
	assert_int_equal(read_second(s).status, -ENODEV);
	s->ops->mend(s);
	assert_int_equal(fake.n, 4);
	count_to(event(2, 37), JOULE);
	assert_joules(read_second(s), 1000000, 0);
	s->ops->close(s);
}

/* Off its CPU for a moment is no matter; for longer, that window has no energy, and the event is kept. */
static void gaps(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	struct fake_event *e;

	pmu(t, "0\n");
	s = open_zones(t, &one);
	e = event(2, 0);
	e->running -= 1000000;
	count_to(e, JOULE);
	assert_joules(read_zone(s, 0), 1000000, 0);
	e->running -= 1000001;
	count_to(e, 2 * JOULE);
	assert_int_equal(read_zone(s, 0).status, -EAGAIN);
	s->ops->mend(s);
	assert_int_equal(fake.n, 1);
	count_to(e, 3 * JOULE);
	assert_joules(read_zone(s, 0), 3000000, 0);

	/* What it is enabled for went back: not the same event. */
	e->enabled = 1;
	e->running = 1;
	write_count(e, 4 * JOULE);
	assert_int_equal(read_zone(s, 0).status, -ENODEV);
	s->ops->close(s);
}

/* A count that is no energy any machine used. */
static void overflow(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	struct fake_event *e;

	pmu(t, "0\n");
	pmu_event(t, "energy-pkg", "event=0x02", "1", "Joules");
	s = open_zones(t, &one);
	e = event(2, 0);
	count_to(e, UINT64_C(18446744073709));
	assert_joules(read_zone(s, 0), UINT64_C(18446744073709000000), 0);
	count_to(e, UINT64_C(18446744073710));
	assert_int_equal(read_zone(s, 0).status, -EOVERFLOW);
	count_to(e, UINT64_MAX);
	assert_int_equal(read_zone(s, 0).status, -EOVERFLOW);
	s->ops->close(s);
}

/* What is opened is closed again, whether opening failed or not. */
static void gives_fds_back(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	struct sw_error e = { .text = "" };
	int fd, before = 0, after = 0;

	pmu(t, "0,36\n");
	pmu_event(t, "energy-ram", "event=0x03", SCALE, "Watts");
	for (fd = 0; fd < 256; fd++)
		before += fcntl(fd, F_GETFD) >= 0;
	s = open_zones(t, &one);
	/* Once open it needs no path but to mend. */
	assert_int_equal(renameat(t->fd, "bus", t->fd, "elsewhere"), 0);
	count_all(JOULE);
	assert_joules(read_zone(s, 0), 1000000, 0);
	read_zone(s, 0);
	s->ops->mend(s);
	s->ops->close(s);
	fake.dead = true;
	assert_int_equal(renameat(t->fd, "elsewhere", t->fd, "bus"), 0);
	refusal(t, -ENODEV, &e);
	for (fd = 0; fd < 256; fd++)
		after += fcntl(fd, F_GETFD) >= 0;
	assert_int_equal(after, before + fake.n); /* the tests' own */
}

/* --- the parsers */

static void assert_scale(const char *text, uint64_t num, uint64_t den)
{
	struct sw_scale scale = { .num = 0 };

	if (sw_parse_scale(text, &scale))
		fail_msg("\"%s\" is refused", text);
	assert_true(scale.num == num && scale.den == den);
}

static void assert_no_scale(const char *text, int want)
{
	struct sw_scale scale = { .num = 77, .den = 78 };
	int err = sw_parse_scale(text, &scale);

	if (err != want)
		fail_msg("\"%s\" gives %d", text, err);
	assert_true(scale.num == 77 && scale.den == 78);
}

static void scales(void **state)
{
	static const char *const malformed[] = {
		"", "\n", ".5", "5.", "1.5.2", "1,5", "-1", "+1", " 1", "1 ", "1e", "1e-", "1e--1", "1e1.5", "0x1p-32",
		"inf", "nan", "1\n\n", "1e-9x", "e-9",
	};
	static const char *const out_of_range[] = {
		"0", "0.000e5", "1e11", "1e-60", "1e99999999999999999999", "1e-99999999999999999999",
		"18446744073.709551616",
	};
	struct sw_scale scale;
	char text[3200];
	size_t i;

	(void)state;
	assert_scale(SCALE, 1953125, 1 << 23);
	assert_scale(SCALE "\n", 1953125, 1 << 23);
	assert_scale("2.3283064365386962890625E-10", 1953125, 1 << 23);
	assert_scale("0.00000000023283064365386962890625", 1953125, 1 << 23);
	assert_scale("23283064365386962890625e-32", 1953125, 1 << 23);
	assert_scale("23283064365386962890625000000000000000e-47", 1953125, 1 << 23);
	assert_scale("6.103515625e-05", 1953125, 32); /* 2^-14 J */
	assert_scale("1", 1000000000, 1);
	assert_scale("1e-6", 1000, 1);
	assert_scale("0.000000001", 1, 1);
	assert_scale("1e+9", UINT64_C(1000000000000000000), 1);
	assert_scale("18446744073.709551615", UINT64_MAX, 1);
	assert_scale("3e-10", 3, 10);
	memset(text, '0', sizeof(text));
	strcpy(text + 3000, "1e-9");
	assert_scale(text, 1, 1);
	memset(text, '0', sizeof(text));
	memcpy(text, "0.", 2);
	strcpy(text + 3000, "1e2990");
	assert_scale(text, 1, 1);
	for (i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		assert_no_scale(malformed[i], -EINVAL);
	for (i = 0; i < sizeof(out_of_range) / sizeof(out_of_range[0]); i++)
		assert_no_scale(out_of_range[i], -ERANGE);

	assert_int_equal(sw_parse_scale(SCALE, &scale), 0);
	assert_true(sw_scale_nj(&scale, JOULE) == 1000000000);
	assert_true(sw_scale_nj(&scale, JOULE - 1) == 999999999);
	assert_true(sw_scale_nj(&scale, UINT64_C(1) << 63) == (unsigned __int128)1000000000 << 31);
	assert_true(sw_scale_nj(&scale, UINT64_MAX) == (unsigned __int128)1000000000 * JOULE - 1);
}

/* With more digits than fit, it is near enough: 2^60 counts are off by less than one of the energy's own. */
static void long_scales(void **state)
{
	static const struct {
		const char *text;
		uint64_t nj; /* of 2^60 counts, rounded down; by another program's integers of any size */
	} cases[] = {
		{ "3.141592653589793238462643383279502884197169399375105820974e-10", UINT64_C(362200972903856142) },
		{ "0.333333333333333333333333333333333333333333333333333333e-9", UINT64_C(384307168202282325) },
		{ "9.99999999999999999999999999999999999999999999999999999e-10", UINT64_C(1152921504606846975) },
		{ "1234567890123456789012345678901234567890123456789e-58", UINT64_C(142335986942043633) },
	};
	struct sw_scale scale;
	uint64_t nj;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(sw_parse_scale(cases[i].text, &scale), 0);
		nj = (uint64_t)sw_scale_nj(&scale, UINT64_C(1) << 60);
		if (nj > cases[i].nj + 1 || nj + 1 < cases[i].nj)
			fail_msg("%s: %" PRIu64, cases[i].text, nj);
	}
}

/* Whoever asks these asks the locale. The definitions stand before the C library's. */
static int asked_locale;

double strtod(const char *text, char **end)
{
	(void)text;
	(void)end;
	asked_locale++;
	return 0;
}

struct lconv *localeconv(void)
{
	static struct lconv none;

	asked_locale++;
	return &none;
}

/* A locale that writes "2,33". Where the system has none, one is made, which takes localedef(1) and its sources. */
static bool use_comma_locale(const struct tree *t)
{
	char command[256];

	if (setlocale(LC_ALL, "de_DE.UTF-8"))
		return true;
	snprintf(command, sizeof(command), "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", t->path);
	if (system(command) || setenv("LOCPATH", t->path, 1))
		return false;
	return setlocale(LC_ALL, "de_DE.UTF-8");
}

static void locale(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	char text[32];

	if (use_comma_locale(t)) {
		snprintf(text, sizeof(text), "%.2f", 2.5);
		assert_string_equal(text, "2,50");
	} else {
		print_message("no locale with a decimal comma here: only the C library's functions are watched\n");
	}
	pmu(t, "0\n");
	asked_locale = 0;
	s = open_zones(t, &one);
	count_to(event(2, 0), JOULE);
	assert_joules(read_zone(s, 0), 1000000, 0);
	assert_int_equal(asked_locale, 0);
	s->ops->close(s);
	assert_non_null(setlocale(LC_ALL, "C"));
	unsetenv("LOCPATH");
}

static void formats(void **state)
{
	static const struct {
		const char *text;
		uint64_t bits;
	} good[] = {
		{ "config:0-7\n", 0xff }, { "config:63", UINT64_C(1) << 63 }, { "config:0-63", UINT64_MAX },
		{ "config:0-3,8,32-33\n", UINT64_C(0x30000010f) },
	};
	static const char *const malformed[] = {
		"", "config", "config:", ":0-7", "config:7-0", "config:64", "config:0-64", "config:1,1", "config:0-3,2",
		"config:0-", "config:-7", "config:0,", "config:0-7x", "config:0-7\n\n", "config: 0",
		"config:99999999999",
	};
	uint64_t bits;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(sw_parse_format(good[i].text, &bits), 0);
		assert_true(bits == good[i].bits);
	}
	bits = 77;
	for (i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		assert_int_equal(sw_parse_format(malformed[i], &bits), -EINVAL);
	assert_int_equal(sw_parse_format("config1:0-7", &bits), -EOPNOTSUPP);
	assert_int_equal(sw_parse_format("config2:0-7\n", &bits), -EOPNOTSUPP);
	assert_int_equal(bits, 77);
}

static int format_of(const char *term, void *ctx, uint64_t *bits)
{
	(void)ctx;
	if (!strcmp(term, "event"))
		return sw_parse_format("config:0-7", bits);
	if (!strcmp(term, "split"))
		return sw_parse_format("config:8-11,32-35", bits);
	if (!strcmp(term, "all"))
		return sw_parse_format("config:0-63", bits);
	return -ENOENT;
}

static void terms(void **state)
{
	static const struct {
		const char *text;
		uint64_t config;
	} good[] = {
		{ "event=0x02", 2 }, { "event=0xFf\n", 255 }, { "event=17", 17 }, { "event", 1 }, { "event=0", 0 },
		{ "event=1,split=0xa5", UINT64_C(0xa00000501) }, { "split=0x12,event\n", UINT64_C(0x100000201) },
		{ "all=0xffffffffffffffff", UINT64_MAX }, { "all=18446744073709551615", UINT64_MAX },
	};
	static const struct {
		const char *text;
		int err;
	} bad[] = {
		{ "", -EINVAL }, { "\n", -EINVAL }, { "=1", -EINVAL }, { "event=", -EINVAL }, { "event=0x", -EINVAL },
		{ "event=?", -EINVAL }, { "event=1x", -EINVAL }, { "event=1,", -EINVAL }, { ",event=1", -EINVAL },
		{ "event=-1", -EINVAL }, { "event=1\n\n", -EINVAL }, { "../event=1", -EINVAL }, { "a/b=1", -EINVAL },
		{ "event=256", -ERANGE }, { "all=18446744073709551616", -ERANGE }, { "umask=1", -ENOENT },
		{ "a123456789012345678901234567890123456789012345678901234567890123=1", -EINVAL },
	};
	uint64_t config;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(sw_parse_terms(good[i].text, format_of, NULL, &config), 0);
		assert_true(config == good[i].config);
	}
	config = 77;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (sw_parse_terms(bad[i].text, format_of, NULL, &config) != bad[i].err)
			fail_msg("\"%s\" does not give %d", bad[i].text, bad[i].err);
	assert_int_equal(config, 77);
}

/* The kernel's own calls, on an event that every machine has: CPU 0's clock. */
static void real_event(void **state)
{
	struct sw_perf_event e = { .fd = -1 };
	uint64_t first, second;
	int err;

	(void)state;
	err = sw_perf_event_open(sw_perf_open, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, &e);
	if (err == -EACCES || err == -EPERM) {
		print_message("perf_event_open is not allowed here\n");
		skip();
	}
	assert_int_equal(err, 0);
	assert_int_equal(fcntl(e.fd, F_GETFD), FD_CLOEXEC);
	usleep(1000);
	assert_int_equal(sw_perf_event_read(&e, &first), 0);
	usleep(1000);
	assert_int_equal(sw_perf_event_read(&e, &second), 0);
	assert_true(first >= 1000000 && second - first >= 1000000);
	assert_int_equal(ioctl(e.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	assert_int_equal(sw_perf_event_read(&e, &first), 0);
	assert_int_equal(sw_perf_event_read(&e, &second), -ENODEV);
	assert_true(e.lost);
	sw_perf_event_close(&e);
	assert_int_equal(e.fd, -1);
	assert_int_equal(sw_perf_event_open(sw_perf_open, PERF_TYPE_SOFTWARE, UINT64_MAX, 0, &e), -ENOENT);
}

/* This machine's own sysfs: it has such a PMU, or the refusal is about that. */
static void real_sysfs(void **state)
{
	const struct sw_energy_config config = { .sysfs_fd = open("/sys", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
						 .topology = &one };
	struct sw_energy_source *s = NULL;
	struct sw_error e = { .text = "" };
	int err;

	(void)state;
	assert_true(config.sysfs_fd >= 0);
	err = sw_energy_perf.open(&config, &e, &s);
	close(config.sysfs_fd);
	if (err) {
		assert_null(strstr(e.text, "--sysfs"));
		return;
	}
	usleep(20000);
	assert_int_equal(read_zone(s, 0).status, 0);
	s->ops->close(s);
}

#define IN_A_TREE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_TREE(laptop), IN_A_TREE(cpumask), IN_A_TREE(two_packages), IN_A_TREE(dies),
		IN_A_TREE(reads_near), IN_A_TREE(single_events), IN_A_TREE(unknown_events),
		IN_A_TREE(config_of_terms), IN_A_TREE(refusals), IN_A_TREE(open_errors), IN_A_TREE(mended),
		IN_A_TREE(gaps), IN_A_TREE(overflow), IN_A_TREE(gives_fds_back), IN_A_TREE(locale),
		cmocka_unit_test(real_event), cmocka_unit_test(real_sysfs), cmocka_unit_test(scales),
		cmocka_unit_test(long_scales), cmocka_unit_test(formats), cmocka_unit_test(terms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

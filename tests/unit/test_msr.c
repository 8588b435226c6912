/* SPDX-License-Identifier: BSD-2-Clause */
/* energy/msr.c and msr_zones.c: registers of made-up processors, their units and wraps, and CPUs that go. */
#include "tree.h"

#include "../../src/energy/counter.h"

#include <errno.h>

#define CPUS 8

/* What the processor holds. A register that was not set is one that it does not have. */
static struct {
	struct {
		uint32_t reg;
		uint64_t value;
		int err;
	} of[CPUS][8];
	bool offline[CPUS];
	unsigned asked[64]; /* CPUs, in the order of reading */
	size_t n_asked;
} cpu;

static int read_fake(unsigned n, uint32_t reg, uint64_t *ret)
{
	size_t i;

	assert_true(n < CPUS);
	if (cpu.n_asked < 64)
		cpu.asked[cpu.n_asked++] = n;
	if (cpu.offline[n])
		return -ENXIO;
	for (i = 0; i < 8 && cpu.of[n][i].reg; i++)
		if (cpu.of[n][i].reg == reg) {
			*ret = cpu.of[n][i].value;
			return cpu.of[n][i].err;
		}
	return -EIO;
}

static void set_err(unsigned n, uint32_t reg, uint64_t value, int err)
{
	size_t i = 0;

	while (i < 7 && cpu.of[n][i].reg && cpu.of[n][i].reg != reg)
		i++;
	cpu.of[n][i].reg = reg;
	cpu.of[n][i].value = value;
	cpu.of[n][i].err = err;
}

static void set(unsigned n, uint32_t reg, uint64_t value)
{
	set_err(n, reg, value, 0);
}

static void set_all(unsigned first, unsigned last, uint32_t reg, uint64_t value)
{
	unsigned n;

	for (n = first; n <= last; n++)
		set(n, reg, value);
}

static int setup(void **state)
{
	memset(&cpu, 0, sizeof(cpu));
	return tree_setup(state);
}

/* Where CPU n lies; `siblings`: the CPUs of its core, NULL leaves that out. */
static void place(const struct tree *t, unsigned n, const char *package, const char *die, const char *siblings)
{
	char path[96];

	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/physical_package_id", n);
	tree_write(t, path, package);
	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/die_id", n);
	if (die)
		tree_write(t, path, die);
	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/core_cpus_list", n);
	if (siblings)
		tree_write(t, path, siblings);
}

enum { SANDYBRIDGE = 0x2A, SKYLAKE_X = 0x55, SKYLAKE = 0x5E, SAPPHIRERAPIDS_X = 0x8F, SILVERMONT = 0x37 };

static struct sw_cpu_id intel(unsigned model)
{
	return (struct sw_cpu_id){ .vendor = SW_VENDOR_INTEL, .family = 6, .model = model };
}

static const struct sw_cpu_id zen = { .vendor = SW_VENDOR_AMD, .family = 0x19, .model = 0x11 };

static int try_open(const struct tree *t, struct sw_cpu_id id, bool by_die, struct sw_error *e,
		    struct sw_energy_source **s)
{
	struct sw_energy_config config = { .sysfs_fd = t->fd, .dev_fd = -1, .cpu = id, .msr_read = read_fake };
	struct sw_topology topology;
	int err;

	assert_int_equal(sw_topology_read(t->fd, CPUS, by_die, NULL, &topology), 0);
	config.topology = &topology;
	err = sw_energy_msr.open(&config, e, s);
	sw_topology_free(&topology); /* the source keeps nothing of it */
	return err;
}

static struct sw_energy_source *open_msr(const struct tree *t, struct sw_cpu_id id)
{
	struct sw_energy_source *s = NULL;
	struct sw_error e = { .text = "" };

	if (try_open(t, id, false, &e, &s))
		fail_msg("%s", e.text);
	return s;
}

/* Open must fail with `err`, and its words hold `words`. */
static void assert_refused(const struct tree *t, struct sw_cpu_id id, int err, const char *words)
{
	struct sw_error e = { .text = "" };
	struct sw_energy_source *s = NULL;

	assert_int_equal(try_open(t, id, false, &e, &s), err);
	assert_null(s);
	if (!strstr(e.text, words))
		fail_msg("\"%s\" is not in \"%s\"", words, e.text);
}

static void assert_zones(const struct sw_energy_source *s, const char *want)
{
	char text[512] = "";
	size_t i, n = 0;

	for (i = 0; i < s->n_zones; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s", i ? ", " : "", s->zones[i].name,
				      s->zones[i].problem ? "!" : "");
	assert_string_equal(text, want);
}

static size_t zone(const struct sw_energy_source *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n_zones; i++)
		if (!strcmp(s->zones[i].name, name))
			return i;
	fail_msg("no zone %s", name);
	return 0;
}

static struct sw_zone_value value(struct sw_energy_source *s, const char *name)
{
	struct sw_zone_value v[16];

	assert_true(s->n_zones <= 16);
	s->ops->read(s, NULL, v);
	return v[zone(s, name)];
}

/* A reading of a zone in nanojoules; it must succeed. */
static uint64_t nj(struct sw_energy_source *s, const char *name)
{
	struct sw_zone_value v = value(s, name);

	assert_int_equal(v.status, 0);
	assert_true(v.extra_nj < 1000);
	return v.raw_uj * 1000 + v.extra_nj;
}

/* One package of 4 CPUs, 2 cores; ESU 14: 61.035 uJ. */
static void one_package(const struct tree *t)
{
	place(t, 0, "0\n", "0\n", "0,2\n");
	place(t, 1, "0\n", "0\n", "1,3\n");
	place(t, 2, "0\n", "0\n", "0,2\n");
	place(t, 3, "0\n", "0\n", "1,3\n");
	set_all(0, 3, 0x606, 0xA0E03);
	set_all(0, 3, 0x611, 16384);
}

static void zones_of_a_client(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;

	one_package(t);
	set(0, 0x639, 16384 / 2);
	set(0, 0x641, 16384 / 4);
	set(0, 0x619, 16384 * 3);
	set(0, 0x64D, 16384 * 5);
	s = open_msr(t, intel(SKYLAKE));
	assert_zones(s, "package-0, package-0/dram, package-0/core, package-0/uncore, psys");
	assert_string_equal(s->ops->quality, "measured");
	assert_int_equal(s->zones[0].role, SW_ROLE_PACKAGE);
	assert_int_equal(s->zones[0].package, 0);
	assert_int_equal(s->zones[0].die, -1);
	assert_int_equal(s->zones[0].domains, 1);
	assert_null(s->zones[0].parent);
	assert_true(s->zones[0].range_uj == 0);
	assert_true(s->zones[0].wrap_uj == UINT64_C(262144000000)); /* 2^32 / 2^14 J */
	assert_int_equal(s->zones[1].role, SW_ROLE_DRAM);
	assert_int_equal(s->zones[1].package, 0);
	assert_int_equal(s->zones[1].domains, 1);
	assert_string_equal(s->zones[1].parent, "package-0");
	assert_int_equal(s->zones[2].role, SW_ROLE_SUBZONE);
	assert_false(s->zones[2].one_core);
	assert_int_equal(s->zones[3].role, SW_ROLE_SUBZONE);
	assert_int_equal(s->zones[4].role, SW_ROLE_PLATFORM);
	assert_int_equal(s->zones[4].package, -1);
	assert_int_equal(s->zones[4].die, -1);
	assert_int_equal(s->zones[4].domains, 0);
	assert_null(s->zones[4].parent);
	assert_true(nj(s, "package-0") == 1000000000);
	assert_true(nj(s, "package-0/core") == 500000000);
	assert_true(nj(s, "package-0/uncore") == 250000000);
	assert_true(nj(s, "package-0/dram") == 3000000000); /* the unit register's unit */
	assert_true(nj(s, "psys") == 5000000000);
	set(0, 0x611, 16385);
	assert_true(nj(s, "package-0") == 1000061035); /* 1/16384 J = 61035.15 nJ */
	s->ops->close(s);
	sw_energy_msr.close(NULL);

	/* The same registers on a processor that has not all of them: what the table does not list is not read. */
	s = open_msr(t, intel(SANDYBRIDGE));
	assert_zones(s, "package-0, package-0/core, package-0/uncore");
	s->ops->close(s);
}

/* Only 32 bits count, and any number of turns goes on. */
static void wraps(void **state)
{
	const struct tree *t = *state;
	struct sw_counter c = { .range_uj = 0 };
	struct sw_energy_source *s;
	struct sw_zone_value v;
	unsigned turn;

	one_package(t);
	set(0, 0x611, UINT64_C(0xABCDEF00FFFFC000)); /* the high half is not the counter's */
	s = open_msr(t, intel(SKYLAKE));
	v = value(s, "package-0");
	assert_true(v.raw_uj == UINT64_C(262143000000));
	sw_counter_add(&c, &v, 1, false);
	for (turn = 0; turn < 5; turn++) {
		set(0, 0x611, 0x4000); /* 2 J on, past the end */
		v = value(s, "package-0");
		sw_counter_add(&c, &v, 2 + 2 * turn, false);
		set(0, 0x611, 0xFFFFC000); /* 262142 J on */
		v = value(s, "package-0");
		sw_counter_add(&c, &v, 3 + 2 * turn, false);
	}
	assert_int_equal(c.breaks, 0);
	assert_true(c.sum_nj == UINT64_C(5) * 262144 * 1000000000);
	s->ops->close(s);
}

/* Half a unit is not lost at a wrap, nor are parts of a microjoule between readings. */
static void units_are_exact(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	uint64_t from, count = 0;
	unsigned i;

	one_package(t);
	set_all(0, 3, 0x606, 31 << 8); /* 2^-31 J: 0.47 nJ */
	set(0, 0x611, 0xFFFFFFFF);
	s = open_msr(t, intel(SKYLAKE));
	assert_true(s->zones[0].wrap_uj == 2000000);
	from = nj(s, "package-0");
	assert_true(from == 1999999999);
	for (i = 0; i < 1000; i++) {
		count += 0x7FFFFFFF;
		set(0, 0x611, 0xFFFFFFFF + count);
		nj(s, "package-0");
	}
	/* (2^32 - 1 + 1000 (2^31 - 1)) / 2^31 J */
	assert_true(nj(s, "package-0") == UINT64_C(1001999999533));
	s->ops->close(s);
}

static void dram_in_fixed_units(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;

	one_package(t);
	set(0, 0x619, 65536);
	set(0, 0x639, 16384);
	set(0, 0x641, 1); /* no such zone on a server */
	set(0, 0x64D, 1);
	s = open_msr(t, intel(SKYLAKE_X));
	assert_zones(s, "package-0, package-0/dram, package-0/core");
	assert_true(nj(s, "package-0/dram") == 1000000000);
	assert_true(nj(s, "package-0/core") == 1000000000);
	assert_true(s->zones[1].wrap_uj == UINT64_C(65536000000));
	assert_true(s->zones[2].wrap_uj == UINT64_C(262144000000));
	s->ops->close(s);

	/* Sapphire Rapids: dram by the unit register, psys in joules. */
	set(0, 0x619, 16384);
	set(0, 0x64D, 77);
	s = open_msr(t, intel(SAPPHIRERAPIDS_X));
	assert_zones(s, "package-0, package-0/dram, package-0/core, psys");
	assert_true(nj(s, "package-0/dram") == 1000000000);
	assert_true(nj(s, "psys") == UINT64_C(77000000000));
	assert_true(s->zones[3].wrap_uj == UINT64_C(4294967296000000));
	s->ops->close(s);
}

static void units_that_go_up(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;

	one_package(t);
	set_all(0, 3, 0x606, 0x505); /* 2^5 uJ */
	set(0, 0x639, 10);
	s = open_msr(t, intel(SILVERMONT));
	assert_zones(s, "package-0, package-0/core");
	assert_true(nj(s, "package-0") == UINT64_C(16384) * 32000);
	assert_true(nj(s, "package-0/core") == 320000);
	assert_true(s->zones[0].wrap_uj == UINT64_C(4294967296) * 32);
	s->ops->close(s);
	set_all(0, 3, 0x606, 0x1F05); /* the most that can be told */
	s = open_msr(t, intel(SILVERMONT));
	assert_true(s->zones[0].wrap_uj == UINT64_C(1) << 63);
	s->ops->close(s);
}

/* Two sockets of two cores each, two threads a core; ESU 16: 15.26 uJ. CPUs 0 2 4 6 are of package 0. */
static void two_sockets(const struct tree *t, const char *die_of_the_second)
{
	place(t, 0, "0\n", "0\n", "0,4\n");
	place(t, 4, "0\n", "0\n", "0,4\n");
	place(t, 2, "0\n", die_of_the_second, "2,6\n");
	place(t, 6, "0\n", die_of_the_second, "2,6\n");
	place(t, 1, "1\n", "0\n", "1,5\n");
	place(t, 5, "1\n", "0\n", "1,5\n");
	place(t, 3, "1\n", die_of_the_second, "3,7\n");
	place(t, 7, "1\n", die_of_the_second, "3,7\n");
	set_all(0, 7, 0xC0010299, 0xA1003);
	set_all(0, 7, 0x606, 0xA1003);
}

static void cores_are_summed(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	uint64_t from;
	unsigned i;

	two_sockets(t, "1\n"); /* AMD's dies do not matter */
	set_all(0, 7, 0xC001029B, 65536);
	for (i = 0; i < 8; i++)
		set(i, 0xC001029A, UINT64_C(0x100000000) - 65536 * (1 + i % 4)); /* 1, 2, 3, 4 J before the end */
	set_all(0, 7, 0x619, 1);
	s = open_msr(t, zen);
	assert_zones(s, "package-0, package-0/core, package-1, package-1/core");
	assert_int_equal(s->zones[1].role, SW_ROLE_SUBZONE);
	assert_false(s->zones[1].one_core); /* it is all of them */
	assert_string_equal(s->zones[1].parent, "package-0");
	assert_int_equal(s->zones[2].package, 1);
	assert_int_equal(s->zones[2].die, -1);
	assert_int_equal(s->zones[2].domains, 2);
	assert_int_equal(s->zones[3].domains, 2);
	assert_true(s->zones[1].range_uj == 0);
	assert_true(s->zones[1].wrap_uj == UINT64_C(65536000000)); /* of one core */
	assert_true(nj(s, "package-1") == 1000000000);
	from = nj(s, "package-0/core");
	assert_true(from == UINT64_C(1000000000) * (2 * 65536 - 1 - 3));

	/* Each goes round at its own time: 2 J on in one, which has 1 J left, 2 J in the other, which has 3. */
	set_all(0, 0, 0xC001029A, 65536);
	set_all(2, 2, 0xC001029A, UINT64_C(0x100000000) - 65536);
	assert_true(nj(s, "package-0/core") - from == 4000000000);
	set_all(2, 2, 0xC001029A, 65536);
	assert_true(nj(s, "package-0/core") - from == 6000000000);
	assert_true(nj(s, "package-0/core") - from == 6000000000);

	/* One reader for each core and package, threads apart; packages first. */
	cpu.n_asked = 0;
	nj(s, "package-0");
	assert_int_equal(cpu.n_asked, 6);
	assert_int_equal(cpu.asked[0], 0);
	assert_int_equal(cpu.asked[1], 1);
	assert_int_equal(cpu.asked[2], 0);
	assert_int_equal(cpu.asked[3], 2);
	assert_int_equal(cpu.asked[4], 1);
	assert_int_equal(cpu.asked[5], 3);
	s->ops->close(s);
}

/* Kernels before 5.2 call the list otherwise; without any there is no telling threads from cores. */
static void cores_by_old_names(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	unsigned i;

	for (i = 0; i < 4; i++) {
		char path[96];

		place(t, i, "0\n", NULL, NULL);
		snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/thread_siblings_list", i);
		tree_write(t, path, i < 2 ? "0-1\n" : "2-3\n");
	}
	set_all(0, 3, 0xC0010299, 0xA1003);
	set_all(0, 3, 0xC001029B, 65536);
	set_all(0, 3, 0xC001029A, 65536);
	s = open_msr(t, zen);
	assert_true(nj(s, "package-0/core") == 2000000000);
	s->ops->close(s);
	for (i = 0; i < 4; i++)
		place(t, i, "0\n", NULL, "\n");
	assert_int_equal(unlinkat(t->fd, "devices/system/cpu/cpu0/topology/thread_siblings_list", 0), 0);
	s = open_msr(t, zen);
	assert_true(nj(s, "package-0/core") == 1000000000); /* of the core that is known */
	s->ops->close(s);
	for (i = 1; i < 4; i++) {
		char path[96];

		snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/thread_siblings_list", i);
		assert_int_equal(unlinkat(t->fd, path, 0), 0);
	}
	s = open_msr(t, zen);
	assert_zones(s, "package-0");
	s->ops->close(s);
}

/* A thread goes: its sibling is read. A core goes: the others are. It comes back: from there on. */
static void cores_that_go(void **state)
{
	const struct tree *t = *state;
	struct sw_counter c = { .range_uj = 0 };
	struct sw_energy_source *s;
	struct sw_zone_value v;

	two_sockets(t, "0\n");
	set_all(0, 7, 0xC001029B, 65536);
	set_all(0, 7, 0xC001029A, 65536 * 10);
	s = open_msr(t, zen);
	v = value(s, "package-0/core");
	sw_counter_add(&c, &v, 1, false);

	cpu.offline[2] = true;
	v = value(s, "package-0/core");
	assert_int_equal(v.status, -ENXIO);
	assert_true(v.raw_uj == 0);
	sw_counter_add(&c, &v, 2, false);
	assert_int_equal(value(s, "package-0").status, 0); /* CPU 0's */
	assert_int_equal(value(s, "package-1/core").status, 0);
	s->ops->mend(s);
	v = value(s, "package-0/core");
	assert_int_equal(v.status, 0);
	sw_counter_add(&c, &v, 3, false);
	assert_int_equal(c.breaks, 2);
	assert_true(c.sum_nj == 0);
	set(6, 0xC001029A, 65536 * 13);
	v = value(s, "package-0/core");
	sw_counter_add(&c, &v, 4, false);
	assert_true(c.sum_nj == 3000000000);

	cpu.offline[6] = true;
	assert_int_equal(value(s, "package-0/core").status, -ENXIO);
	s->ops->mend(s);
	assert_true(nj(s, "package-0/core") == 10000000000);
	set(0, 0xC001029A, 65536 * 11);
	assert_true(nj(s, "package-0/core") == 11000000000);

	/* It is read from the CPU that it had last. */
	cpu.offline[6] = false;
	set(6, 0xC001029A, 65536 * 1);
	assert_int_equal(value(s, "package-0/core").status, -EAGAIN);
	s->ops->mend(s);
	assert_true(nj(s, "package-0/core") == 12000000000);
	set(6, 0xC001029A, 65536 * 2);
	assert_true(nj(s, "package-0/core") == 13000000000);

	/* All of them go. */
	cpu.offline[0] = cpu.offline[2] = cpu.offline[4] = cpu.offline[6] = true;
	assert_int_equal(value(s, "package-0/core").status, -ENXIO);
	s->ops->mend(s);
	assert_int_equal(value(s, "package-0/core").status, -ENXIO);
	assert_int_equal(value(s, "package-0").status, -ENXIO);
	assert_int_equal(value(s, "package-1").status, 0);
	cpu.offline[4] = cpu.offline[6] = false;
	s->ops->mend(s);
	assert_int_equal(value(s, "package-0").status, 0);
	assert_int_equal(value(s, "package-0/core").status, 0);
	s->ops->close(s);
}

/* Each package by a CPU of its own, whose registers alone know it. */
static void two_packages(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	unsigned i;

	two_sockets(t, "0\n");
	for (i = 0; i < 8; i++) {
		set(i, 0x611, 65536 * (i % 2 ? 30 : 20));
		set(i, 0x619, 65536 * (i % 2 ? 3 : 2));
		set(i, 0x64D, i % 2 ? 5 : 0);
	}
	s = open_msr(t, intel(SAPPHIRERAPIDS_X));
	assert_zones(s, "package-0, package-0/dram, package-1, package-1/dram, psys");
	assert_int_equal(s->zones[0].domains, 1);
	assert_int_equal(s->zones[3].domains, 2);
	assert_int_equal(s->zones[3].package, 1);
	assert_true(nj(s, "package-0") == UINT64_C(20000000000));
	assert_true(nj(s, "package-1") == UINT64_C(30000000000));
	assert_true(nj(s, "package-1/dram") == 3000000000);
	assert_true(nj(s, "psys") == 5000000000); /* the second has it */
	cpu.n_asked = 0;
	nj(s, "package-0");
	assert_int_equal(cpu.n_asked, 5);
	assert_int_equal(cpu.asked[0], 0);
	assert_int_equal(cpu.asked[1], 0);
	assert_int_equal(cpu.asked[2], 1);
	assert_int_equal(cpu.asked[3], 1);
	assert_int_equal(cpu.asked[4], 1);

	/* Its reader goes: the value fails, and with it all that it read; another CPU of that package takes over. */
	cpu.offline[1] = true;
	assert_int_equal(value(s, "package-1").status, -ENXIO);
	assert_int_equal(value(s, "package-1/dram").status, -ENXIO);
	assert_int_equal(value(s, "psys").status, -ENXIO);
	assert_int_equal(value(s, "package-0").status, 0);
	s->ops->mend(s);
	for (i = 1; i < 8; i += 2)
		set(i, 0x611, 65536 * 31);
	cpu.n_asked = 0;
	assert_true(nj(s, "package-1") == UINT64_C(31000000000));
	assert_int_equal(cpu.asked[2], 3);
	assert_int_equal(cpu.asked[4], 3);
	assert_true(nj(s, "psys") == 5000000000);
	s->ops->close(s);

	/* Both have psys: the first is taken. CPU 0 is offline from the start, and no CPU is taken for package 0's. */
	cpu.offline[1] = false;
	cpu.offline[0] = true;
	assert_int_equal(unlinkat(t->fd, "devices/system/cpu/cpu0/topology/physical_package_id", 0), 0);
	set_all(0, 7, 0x64D, 6);
	s = open_msr(t, intel(SAPPHIRERAPIDS_X));
	assert_zones(s, "package-0, package-0/dram, package-1, package-1/dram, psys");
	cpu.n_asked = 0;
	assert_true(nj(s, "psys") == 6000000000);
	assert_int_equal(cpu.asked[0], 2);
	assert_int_equal(cpu.asked[4], 2);
	s->ops->close(s);
}

/* Intel's registers are a die's. */
static void dies(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s = NULL;
	struct sw_error e = { .text = "" };
	unsigned i;

	two_sockets(t, "3\n");
	for (i = 0; i < 8; i++)
		set(i, 0x611, 65536 * (1 + i % 4)); /* die-0: CPUs 0 4, 1 5; die-3: 2 6, 3 7 */
	set(2, 0x619, 65536 * 9);
	s = open_msr(t, intel(SKYLAKE_X));
	assert_zones(s, "package-0-die-0, package-0-die-3, package-0-die-3/dram, package-1-die-0, package-1-die-3");
	assert_int_equal(s->zones[0].die, 0);
	assert_int_equal(s->zones[2].die, 3);
	assert_string_equal(s->zones[2].parent, "package-0-die-3");
	assert_int_equal(s->zones[0].domains, 1); /* domains are packages */
	assert_int_equal(s->zones[1].domains, 1);
	assert_int_equal(s->zones[4].domains, 2);
	assert_true(nj(s, "package-0-die-0") == 1000000000);
	assert_true(nj(s, "package-0-die-3") == 3000000000);
	assert_true(nj(s, "package-1-die-0") == 2000000000);
	assert_true(nj(s, "package-1-die-3") == 4000000000);
	s->ops->close(s);

	assert_int_equal(try_open(t, intel(SKYLAKE_X), true, &e, &s), 0);
	assert_int_equal(s->zones[0].domains, 1);
	assert_int_equal(s->zones[1].domains, 2);
	assert_int_equal(s->zones[4].domains, 8);
	s->ops->close(s);

	/* AMD's are a package's, also where the topology tells dies apart. */
	set_all(0, 7, 0xC001029B, 65536);
	assert_int_equal(try_open(t, zen, true, &e, &s), 0);
	assert_zones(s, "package-0, package-1");
	assert_int_equal(s->zones[0].domains, 1 | 2);
	assert_int_equal(s->zones[1].domains, 4 | 8);
	s->ops->close(s);
}

/* 0 and a fault: not there. A package's own counter is missed. */
static void absent(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	size_t i;

	one_package(t);
	set(0, 0x619, 0);
	set(0, 0x639, UINT64_C(0xFFFFFFFF00000000)); /* 0 in the half that counts */
	set_err(0, 0x641, 1, -EIO);
	s = open_msr(t, intel(SKYLAKE));
	assert_zones(s, "package-0");
	s->ops->close(s);

	/* Another error is no absence. */
	set_err(0, 0x641, 1, -EPERM);
	s = open_msr(t, intel(SKYLAKE));
	assert_zones(s, "package-0, package-0/uncore!");
	assert_non_null(strstr(s->zones[1].problem, "/dev/cpu/0/msr: not permitted: it takes CAP_SYS_RAWIO"));
	assert_int_equal(value(s, "package-0/uncore").status, -EPERM);
	set(0, 0x641, 1);
	s->ops->mend(s);
	assert_int_equal(value(s, "package-0/uncore").status, -EPERM); /* left out from the start */
	assert_int_equal(value(s, "package-0").status, 0);
	s->ops->close(s);

	/* One package of two fails; the other goes on, and so does what lies in the first. */
	two_sockets(t, "0\n");
	for (i = 0; i < 8; i++)
		set((unsigned)i, 0x611, i % 2 ? 65536 : 0);
	set_all(0, 7, 0x619, 65536);
	s = open_msr(t, intel(SKYLAKE_X));
	assert_zones(s, "package-0!, package-0/dram, package-1, package-1/dram");
	assert_string_equal(s->zones[0].problem, "register 0x611 of CPU 0 is 0, and so is no counter");
	assert_int_equal(value(s, "package-0").status, -ENODATA);
	assert_true(nj(s, "package-0/dram") == 1000000000);
	assert_true(nj(s, "package-1") == 1000000000);
	s->ops->close(s);

	/* No unit: nothing in that package can be told. */
	for (i = 0; i < 8; i += 2)
		set_err((unsigned)i, 0x606, 0, i ? 0 : -EIO);
	s = open_msr(t, intel(SKYLAKE_X));
	assert_zones(s, "package-0!, package-1, package-1/dram");
	s->ops->close(s);
}

static void refusals(void **state)
{
	const struct tree *t = *state;
	struct sw_cpu_id id = intel(SKYLAKE);

	one_package(t);
	set_all(0, 3, 0x611, 0);
	assert_refused(t, id, -ENODATA, "register 0x611 of CPU 0 is 0");
	id.guest = true;
	assert_refused(t, id, -ENODATA, "is 0, and so is no counter; this is a virtual machine, and hosts seldom");
	set_all(0, 3, 0x606, 0);
	assert_refused(t, id, -ENODATA, "register 0x606 of CPU 0 is 0");
	memset(&cpu, 0, sizeof(cpu));
	assert_refused(t, id, -EIO, "CPU 0 has no register 0x606; this is a virtual machine, and hosts seldom");
	id.guest = false;
	assert_refused(t, id, -EIO, "CPU 0 has no register 0x606");

	id.model = 0xAD;
	assert_refused(t, id, -ENODEV, "(Intel, family 6, model 173 = 0xAD)");
	id = (struct sw_cpu_id){ .vendor = SW_VENDOR_AMD, .family = 21, .model = 2 };
	assert_refused(t, id, -ENODEV, "(AMD, family 21, model 2 = 0x2)");
	id = (struct sw_cpu_id){ .vendor = SW_VENDOR_HYGON, .family = 25 };
	assert_refused(t, id, -ENODEV, "(Hygon, family 25");
	id = (struct sw_cpu_id){ .vendor = SW_VENDOR_OTHER };
	assert_refused(t, id, -ENODEV, "known of Intel, AMD and Hygon");
}

static void no_topology(void **state)
{
	assert_refused(*state, intel(SKYLAKE), -ENODEV, "tells of no CPU's package");
}

/* With neither a fake nor the kernel's own sysfs, this machine's registers must not stand for another's. */
static void another_machine(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_config config = { .sysfs_fd = t->fd, .dev_fd = -1, .cpu = zen };
	struct sw_energy_source *s = NULL;
	struct sw_error e = { .text = "" };

	assert_int_equal(sw_energy_msr.open(&config, &e, &s), -ENODEV);
	assert_null(s);
	assert_non_null(strstr(e.text, "--sysfs names another machine"));
}

/* What each failure of a device is told as. */
static void words(void **state)
{
	static const struct {
		int err;
		const char *words;
	} told[] = {
		{ -ENOENT, "there is no /dev/cpu/0/msr: load the module (modprobe msr)" },
		{ -EACCES, "/dev/cpu/0/msr: permission denied: run as root" },
		{ -EPERM, "/dev/cpu/0/msr: not permitted: it takes CAP_SYS_RAWIO" },
		{ -ENXIO, "none of its CPUs is online" },
		{ -EMFILE, "/dev/cpu/0/msr: too many open files" },
		{ -ENOTDIR, "/dev/cpu/0/msr: error 20" },
	};
	const struct tree *t = *state;
	struct sw_cpu_id id = intel(SKYLAKE);
	unsigned i, n;

	one_package(t);
	for (i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		for (n = 0; n < 4; n++)
			set_err(n, 0x606, 0, told[i].err);
		assert_refused(t, id, told[i].err, told[i].words);
	}
	for (n = 0; n < 4; n++)
		set_err(n, 0x606, 0, -ENOENT);
	id.guest = true;
	assert_refused(t, id, -ENOENT, "(modprobe msr); this is a virtual machine, and hosts seldom");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(zones_of_a_client, setup, tree_teardown),
		cmocka_unit_test_setup_teardown(wraps, setup, tree_teardown),
		cmocka_unit_test_setup_teardown(units_are_exact, setup, tree_teardown),
		cmocka_unit_test_setup_teardown(dram_in_fixed_units, setup, tree_teardown),
		cmocka_unit_test_setup_teardown(units_that_go_up, setup, tree_teardown),
		cmocka_unit_test_setup_teardown(cores_are_summed, setup, tree_teardown),
		cmocka_unit_test_setup_teardown(cores_by_old_names, setup, tree_teardown),
		cmocka_unit_test_setup_teardown(cores_that_go, setup, tree_teardown),
		cmocka_unit_test_setup_teardown(two_packages, setup, tree_teardown),
		cmocka_unit_test_setup_teardown(dies, setup, tree_teardown),
		cmocka_unit_test_setup_teardown(absent, setup, tree_teardown),
		cmocka_unit_test_setup_teardown(refusals, setup, tree_teardown),
		cmocka_unit_test_setup_teardown(no_topology, setup, tree_teardown),
		cmocka_unit_test_setup_teardown(another_machine, setup, tree_teardown),
		cmocka_unit_test_setup_teardown(words, setup, tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* energy/powercap*.c: which zones there are, what each counts, and where it is read. */
#include "powercap.h"

#include <sched.h>
#include <sys/syscall.h>

/* 3.93 J, not 14.44 or 18.37; psys stands in the middle of the numbers and is no package. */
static void laptop(void **state)
{
	const struct tree *t = *state;
	struct sw_zone_value v[8];
	struct sw_energy_source *s;

	tree_zone(t, "intel-rapl:0", "package-0\n", "3930000\n", "262143328850\n");
	tree_zone(t, "intel-rapl:0:0", "core\n", "840000\n", "262143328850\n");
	tree_zone(t, "intel-rapl:0:1", "uncore\n", "210000\n", "262143328850\n");
	tree_zone(t, "intel-rapl:1", "psys\n", "9610000\n", "262143328850\n");
	tree_zone(t, "intel-rapl-mmio:0", "package-0\n", "3780000\n", "262143328850\n");
	s = open_zones(t, &one);
	assert_zones(s, "package-0, package-0 (mmio)=, package-0/core, package-0/uncore, psys");
	assert_int_equal(s->zones[2].role, SW_ROLE_SUBZONE);
	assert_string_equal(s->zones[2].parent, "package-0");
	assert_int_equal(s->zones[2].package, 0);
	assert_int_equal(s->zones[2].domains, 1);
	assert_int_equal(s->zones[4].role, SW_ROLE_PLATFORM);
	assert_int_equal(s->zones[4].package, -1);
	assert_int_equal(s->zones[4].domains, 0);
	assert_null(s->zones[4].parent);
	assert_true(s->zones[0].range_uj == UINT64_C(262143328850));
	assert_true(total_uj(s) == 3930000);
	s->ops->read(s, NULL, v);
	assert_true(v[1].raw_uj == 3780000 && v[4].raw_uj == 9610000);
	assert_string_equal(s->ops->quality, "measured");
	s->ops->close(s);
	sw_energy_powercap.close(NULL);
}

static void mmio_alone_counts(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;

	tree_zone(t, "intel-rapl-mmio:0", "package-0\n", "3780000\n", "1000000000\n");
	s = open_zones(t, &one);
	assert_zones(s, "package-0");
	assert_true(total_uj(s) == 3780000);
	s->ops->close(s);

	/* The MSR view is there and broken: the other view is the zone. */
	tree_zone(t, "intel-rapl:0", "package-0\n", "broken\n", "1000000000\n");
	s = open_zones(t, &one);
	assert_zones(s, "package-0, package-0 (intel-rapl:0)=!");
	assert_true(total_uj(s) == 3780000);
	s->ops->close(s);
}

/* A real host: flat links, and the directories that they lead to, in which subzones lie once more. */
static void real_shape(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;

	tree_write(t, "devices/virtual/powercap/intel-rapl/enabled", "1\n");
	tree_write(t, "devices/virtual/powercap/intel-rapl/intel-rapl:0/name", "package-0\n");
	tree_write(t, "devices/virtual/powercap/intel-rapl/intel-rapl:0/energy_uj", "1000\n");
	tree_write(t, "devices/virtual/powercap/intel-rapl/intel-rapl:0/intel-rapl:0:0/name", "dram\n");
	tree_write(t, "devices/virtual/powercap/intel-rapl/intel-rapl:0/intel-rapl:0:0/energy_uj", "200\n");
	tree_link(t, "../../devices/virtual/powercap/intel-rapl", "class/powercap/intel-rapl");
	tree_link(t, "../../devices/virtual/powercap/intel-rapl/intel-rapl:0", "class/powercap/intel-rapl:0");
	tree_link(t, "../../devices/virtual/powercap/intel-rapl/intel-rapl:0/intel-rapl:0:0",
		  "class/powercap/intel-rapl:0:0");
	s = open_zones(t, &one);
	assert_zones(s, "package-0, package-0/dram");
	assert_int_equal(s->zones[1].role, SW_ROLE_DRAM);
	assert_true(s->zones[0].range_uj == 0); /* no such file */
	assert_true(total_uj(s) == 1200);
	s->ops->close(s);

	/* A copy of nothing but what the links led to. */
	assert_int_equal(unlinkat(t->fd, "class/powercap/intel-rapl:0", 0), 0);
	assert_int_equal(unlinkat(t->fd, "class/powercap/intel-rapl:0:0", 0), 0);
	s = open_zones(t, &one);
	assert_zones(s, "package-0, package-0/dram");
	assert_true(total_uj(s) == 1200);
	s->ops->close(s);
	tree_link(t, "../../devices/virtual/powercap/intel-rapl/intel-rapl:0", "class/powercap/intel-rapl:0");

	/* A copy that kept no flat entry for the subzone; and in it a directory that is none of its subzones. */
	tree_write(t, "class/powercap/intel-rapl:0/intel-rapl:5:0/name", "dram\n");
	tree_write(t, "class/powercap/intel-rapl:0/intel-rapl-mmio:0:0/name", "dram\n");
	s = open_zones(t, &one);
	assert_zones(s, "package-0, package-0/dram");
	assert_true(total_uj(s) == 1200);
	s->ops->close(s);
}

/* Numbers come from the name, not from the directory; two sockets' dram differ. */
static void servers(void **state)
{
	const struct sw_topology topo = {
		.n_cpus = 4, .n_domains = 2, .n_packages = 1, .package_of = { 2, 15 }, .die_of = { -1, -1 },
	};
	const struct tree *t = *state;
	struct sw_energy_source *s;

	tree_zone(t, "intel-rapl:7", "package-2", "1000", "5000"); /* without newlines */
	tree_zone(t, "intel-rapl:7:3", "dram\n", "100\n", NULL);
	tree_zone(t, "intel-rapl:3", "package-15\n", "2000\n", "oops\n");
	tree_zone(t, "intel-rapl:3:0", "dram\n", "200\n", NULL);
	tree_zone(t, "intel-rapl:11", "package-40\n", "4000\n", NULL); /* no CPU of it is known */
	s = open_zones(t, &topo);
	assert_zones(s, "package-2, package-2/dram, package-15, package-15/dram, package-40");
	assert_int_equal(s->zones[0].domains, 1);
	assert_true(s->zones[0].range_uj == 5000);
	assert_int_equal(s->zones[2].package, 15);
	assert_int_equal(s->zones[2].domains, 2);
	assert_true(s->zones[2].range_uj == 0);
	assert_int_equal(s->zones[3].package, 15);
	assert_int_equal(s->zones[3].domains, 2);
	assert_int_equal(s->zones[4].domains, 0);
	assert_true(total_uj(s) == 7300);
	assert_false(sw_powercap_is_per_die(t->fd));
	s->ops->close(s);
}

static void per_die(void **state)
{
	const struct sw_topology topo = {
		.n_cpus = 4, .n_domains = 3, .n_packages = 1, .package_of = { 0, 0, 1 }, .die_of = { 0, 3, 0 },
	};
	const struct tree *t = *state;
	struct sw_energy_source *s;

	assert_false(sw_powercap_is_per_die(t->fd));
	tree_zone(t, "intel-rapl:0", "package-1-die-0\n", "10\n", NULL);
	tree_zone(t, "intel-rapl:1", "package-0-die-3\n", "20\n", NULL);
	tree_zone(t, "intel-rapl:1:0", "dram\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:2", "package-0-die-0\n", "30\n", NULL);
	tree_zone(t, "intel-rapl:2:0", "dram\n", "2\n", NULL);
	assert_true(sw_powercap_is_per_die(t->fd));
	s = open_zones(t, &topo);
	assert_zones(s, "package-0-die-0, package-0-die-0/dram, package-0-die-3, package-0-die-3/dram, "
			"package-1-die-0");
	assert_int_equal(s->zones[0].die, 0);
	assert_int_equal(s->zones[0].domains, 1);
	assert_int_equal(s->zones[2].die, 3);
	assert_int_equal(s->zones[2].domains, 2);
	assert_int_equal(s->zones[3].die, 3);
	assert_int_equal(s->zones[3].domains, 2);
	assert_int_equal(s->zones[4].package, 1);
	assert_int_equal(s->zones[4].domains, 4);
	assert_true(total_uj(s) == 63);
	s->ops->close(s);

	/* A zone of a whole package covers all its dies. */
	tree_zone(t, "intel-rapl:0", "package-1\n", "10\n", NULL);
	tree_zone(t, "intel-rapl:1", "package-0\n", "20\n", NULL);
	s = open_zones(t, &topo);
	assert_int_equal(s->zones[zone(s, "package-0")].domains, 1 | 2);
	assert_int_equal(s->zones[zone(s, "package-1")].domains, 4);
	s->ops->close(s);
	tree_zone(t, "intel-rapl:1", "package-0-die-3\n", "20\n", NULL);

	/* Domains are whole packages: both dies lie in one. */
	s = open_zones(t, &one);
	assert_int_equal(s->zones[zone(s, "package-0-die-0")].domains, 1);
	assert_int_equal(s->zones[zone(s, "package-0-die-3")].domains, 1);
	s->ops->close(s);
}

/* (package, die) of each form of name, with a newline behind it and without. */
static void forms_of_names(void **state)
{
	static const struct {
		const char *name;
		enum sw_zone_role role;
		int package, die;
	} forms[] = {
		{ "package-0", SW_ROLE_PACKAGE, 0, -1 },       { "package-15\n", SW_ROLE_PACKAGE, 15, -1 },
		{ "package-2-die-3", SW_ROLE_PACKAGE, 2, 3 },  { "package-1-die-0\n", SW_ROLE_PACKAGE, 1, 0 },
		{ "package-16-die-12", SW_ROLE_PACKAGE, 16, 12 },
		{ "psys", SW_ROLE_PLATFORM, -1, -1 },          { "psys-1\n", SW_ROLE_PLATFORM, -1, -1 },
		{ "dram\n", SW_ROLE_DRAM, -1, -1 },            { "core", SW_ROLE_SUBZONE, -1, -1 },
		{ "uncore\n", SW_ROLE_SUBZONE, -1, -1 },       { "psys-", SW_ROLE_UNKNOWN, -1, -1 },
		{ "psys-x", SW_ROLE_UNKNOWN, -1, -1 },
	};
	const struct tree *t = *state;
	struct sw_energy_source *s;
	char dir[32], path[32];
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		snprintf(dir, sizeof(dir), "intel-rapl:%zu", 3 * i + 1); /* with holes in the numbering */
		tree_zone(t, dir, forms[i].name, "1\n", NULL);
	}
	s = open_zones(t, &one);
	assert_int_equal(s->n_zones, sizeof(forms) / sizeof(forms[0]));
	for (i = 0; i < s->n_zones; i++) {
		const struct sw_zone_info *z;

		snprintf(path, sizeof(path), "%.*s", (int)strcspn(forms[i].name, "\n"), forms[i].name);
		z = &s->zones[zone(s, path)];
		assert_int_equal(z->role, forms[i].role);
		assert_int_equal(z->package, forms[i].package);
		assert_int_equal(z->die, forms[i].die);
	}
	s->ops->close(s);
}

/* A zone of the whole package holds what its dies' zones hold: either it is added, or they are. */
static void package_beside_its_dies(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;

	tree_zone(t, "intel-rapl:0", "package-0-die-0\n", "30\n", NULL);
	tree_zone(t, "intel-rapl:1", "package-0-die-1\n", "20\n", NULL);
	tree_zone(t, "intel-rapl:2", "package-1\n", "7\n", NULL);
	tree_zone(t, "intel-rapl-mmio:0", "package-0\n", "50\n", NULL);
	tree_zone(t, "intel-rapl-mmio:0:0", "dram\n", "3\n", NULL);
	s = open_zones(t, &one);
	assert_zones(s, "package-0 (mmio)=, package-0 (mmio)/dram, package-0-die-0, package-0-die-1, package-1");
	assert_true(total_uj(s) == 60);
	s->ops->close(s);

	/* dies that stand behind it in the order, one of them broken */
	tree_zone(t, "intel-rapl:0", "package-0\n", "50\n", NULL);
	tree_zone(t, "intel-rapl:3", "package-0-die-0\n", "bad\n", NULL);
	s = open_zones(t, &one);
	assert_zones(s, "package-0, package-0 (mmio)=, package-0 (mmio)/dram, package-0-die-0 (intel-rapl:3)=!, "
			"package-0-die-1 (intel-rapl:1)=, package-1");
	assert_true(total_uj(s) == 60);
	s->ops->close(s);
}

/* Names that are nearly right, and names to come: listed, never added, never a package. */
static void unknown_names(void **state)
{
	static const char *const names[] = {
		"package", "package-", "package-x", "package-0x", "package-01", "package-1-die", "package-1-die-",
		"package--1", "package-99999999999", "Package-3", "soc", "platform",
	};
	const struct tree *t = *state;
	struct sw_energy_source *s;
	char dir[32];
	size_t i;

	tree_zone(t, "intel-rapl:0", "package-0\n", "5\n", NULL);
	tree_zone(t, "intel-rapl:0:0", "package-7\n", "6\n", NULL); /* a package does not lie in another */
	tree_zone(t, "intel-rapl:0:1", "gfx\n", "7\n", NULL);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(dir, sizeof(dir), "intel-rapl:%zu", i + 1);
		tree_zone(t, dir, names[i], "1000\n", NULL);
	}
	s = open_zones(t, &one);
	assert_int_equal(s->n_zones, 3 + sizeof(names) / sizeof(names[0]));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(s->zones[zone(s, names[i])].role, SW_ROLE_UNKNOWN);
		assert_int_equal(s->zones[zone(s, names[i])].package, -1);
	}
	assert_int_equal(s->zones[zone(s, "package-0/package-7")].role, SW_ROLE_UNKNOWN);
	assert_int_equal(s->zones[zone(s, "package-0/gfx")].role, SW_ROLE_UNKNOWN);
	assert_true(total_uj(s) == 5);
	s->ops->close(s);
}

/* No path twice, and the same package never added twice. */
static void same_name_twice(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;

	tree_zone(t, "intel-rapl:0", "package-0\n", "5\n", NULL);
	tree_zone(t, "intel-rapl:0:0", "dram\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:0:1", "dram\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:1", "package-0\n", "6\n", NULL);
	tree_zone(t, "intel-rapl:2", "soc\n", "7\n", NULL);
	tree_zone(t, "intel-rapl:3", "soc\n", "8\n", NULL);
	tree_zone(t, "intel-rapl-mmio:0", "package-0\n", "9\n", NULL);
	tree_zone(t, "intel-rapl-mmio:0:0", "dram\n", "1\n", NULL);
	s = open_zones(t, &one);
	assert_zones(s, "package-0, package-0 (intel-rapl:1)=, package-0 (mmio)=, package-0 (mmio)/dram=, "
			"package-0/dram, package-0/dram (intel-rapl:0:1)=, soc, soc (intel-rapl:3)");
	assert_true(total_uj(s) == 6);
	s->ops->close(s);
}

/* A subzone whose package is missing altogether, or cannot tell its name. */
static void orphans(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;

	tree_zone(t, "intel-rapl:0", "package-0\n", "5\n", NULL);
	tree_zone(t, "intel-rapl:4:0", "dram\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:5", NULL, "1\n", NULL);
	tree_zone(t, "intel-rapl:5:0", "dram\n", "1\n", NULL);
	s = open_zones(t, &one);
	assert_zones(s, "package-0, intel-rapl:4/dram, intel-rapl:5/dram, intel-rapl:5!");
	assert_null(s->zones[1].parent);
	assert_string_equal(s->zones[2].parent, "intel-rapl:5");
	assert_int_equal(s->zones[2].domains, 0);
	s->ops->close(s);
}

/* On AMD a core counter may stand above the package's, and there is no dram. It is one core's, and is told so. */
static void amd(void **state)
{
	static const struct {
		int vendor;
		bool one_core;
	} made_by[] = {
		{ SW_VENDOR_AMD, true }, { SW_VENDOR_HYGON, true }, { SW_VENDOR_INTEL, false }, { SW_VENDOR_OTHER, false },
	};
	const struct tree *t = *state;
	struct sw_energy_source *s;
	size_t i, j;

	tree_zone(t, "intel-rapl:0", "package-0\n", "2535552910\n", "65532610987\n");
	tree_zone(t, "intel-rapl:0:0", "core\n", "36243936951\n", "65532610987\n");
	s = open_zones(t, &one);
	assert_zones(s, "package-0, package-0/core");
	assert_true(total_uj(s) == UINT64_C(2535552910));
	s->ops->close(s);

	tree_zone(t, "intel-rapl:0:1", "uncore\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:1", "core\n", "1\n", NULL); /* lies in nothing */
	for (i = 0; i < sizeof(made_by) / sizeof(made_by[0]); i++) {
		struct sw_energy_config config = { .sysfs_fd = t->fd, .topology = &one };

		config.cpu.vendor = made_by[i].vendor;
		assert_int_equal(sw_energy_powercap.open(&config, NULL, &s), 0);
		assert_int_equal(s->n_zones, 4);
		for (j = 0; j < s->n_zones; j++)
			assert_int_equal(s->zones[j].one_core,
					 made_by[i].one_core && !strcmp(s->zones[j].name, "package-0/core"));
		s->ops->close(s);
	}
}

/* Which CPUs powercap.c asks for. This definition stands before the C library's. */
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
	int16_t domain_of[64] = { 0, 1, 0, 1 };
	struct sw_topology topo = {
		.n_cpus = 64, .domain_of = domain_of, .n_domains = 3, .n_packages = 3, .package_of = { 0, 1, 2 },
		.die_of = { -1, -1, -1 },
	};
	const struct tree *t = *state;
	cpu_set_t before, after;
	struct sw_zone_value v[5];
	struct sw_energy_source *s;
	size_t i;

	for (i = 4; i < 64; i++)
		domain_of[i] = 2; /* not on this machine perhaps: such a move fails, and is no matter */
	tree_zone(t, "intel-rapl:0", "package-0\n", "10\n", NULL);
	tree_zone(t, "intel-rapl:0:0", "dram\n", "11\n", NULL);
	tree_zone(t, "intel-rapl:1", "package-1\n", "20\n", NULL);
	tree_zone(t, "intel-rapl:2", "package-2\n", "30\n", NULL);
	tree_zone(t, "intel-rapl:3", "psys\n", "40\n", NULL);
	s = open_zones(t, &topo);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	memset(&asked, 0, sizeof(asked));
	s->ops->read(s, NULL, v);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
	assert_int_equal(asked.calls, 4); /* one a package, and back */
	assert_true(asked.first[0] == 0x5);
	assert_true(asked.first[1] == 0xa);
	assert_true(asked.first[2] == ~0xfUL);
	for (i = 0; i < 5; i++)
		assert_int_equal(v[i].status, 0);
	assert_true(v[0].raw_uj == 10 && v[1].raw_uj == 11 && v[2].raw_uj == 20);
	assert_true(v[3].raw_uj == 30 && v[4].raw_uj == 40);
	s->ops->close(s);

	/* One package: nobody is moved. */
	s = open_zones(t, &one);
	memset(&asked, 0, sizeof(asked));
	s->ops->read(s, NULL, v);
	assert_int_equal(asked.calls, 0);
	s->ops->close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_TREE(laptop),     IN_A_TREE(mmio_alone_counts), IN_A_TREE(real_shape),      IN_A_TREE(servers),
		IN_A_TREE(per_die),    IN_A_TREE(unknown_names),     IN_A_TREE(same_name_twice), IN_A_TREE(orphans),
		IN_A_TREE(amd),        IN_A_TREE(reads_near),        IN_A_TREE(forms_of_names),
		IN_A_TREE(package_beside_its_dies),
	};

	return cmocka_run_group_tests_name("powercap", tests, NULL, NULL);
}

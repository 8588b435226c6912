/* SPDX-License-Identifier: BSD-2-Clause */
/* energy/powercap.c: which zones there are, what each counts, and what a broken one does. */
#include "tree.h"

#include "../../src/energy/source.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>

static const struct sw_topology one = { .n_cpus = 4, .n_domains = 1, .n_packages = 1, .die_of = { -1 } };

static struct sw_energy_source *open_zones(const struct tree *t, const struct sw_topology *topo)
{
	const struct sw_energy_config config = { .sysfs_fd = t->fd, .topology = topo };
	struct sw_energy_source *s = NULL;
	struct sw_error e = { .text = "" };

	if (sw_energy_powercap.open(&config, &e, &s))
		fail_msg("%s", e.text);
	return s;
}

/* Open must fail; its words. */
static const char *refusal(const struct tree *t, int want, struct sw_error *e)
{
	const struct sw_energy_config config = { .sysfs_fd = t->fd, .topology = &one };
	struct sw_energy_source *s = (void *)e;

	assert_int_equal(sw_energy_powercap.open(&config, e, &s), want);
	assert_ptr_equal(s, e);
	return e->text;
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

/* All paths in their order; a twin is marked '=', a zone with a problem '!'. */
static void assert_zones(const struct sw_energy_source *s, const char *want)
{
	char text[1024] = "";
	size_t i, n = 0;

	for (i = 0; i < s->n_zones; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s%s", i ? ", " : "", s->zones[i].name,
				      s->zones[i].twin ? "=" : "", s->zones[i].problem ? "!" : "");
	assert_string_equal(text, want);
}

/* What is added: packages and dram, twins and broken ones left out. */
static uint64_t total_uj(struct sw_energy_source *s)
{
	struct sw_zone_value v[32];
	uint64_t sum = 0;
	size_t i;

	assert_true(s->n_zones <= 32);
	s->ops->read(s, NULL, v);
	for (i = 0; i < s->n_zones; i++)
		if ((s->zones[i].role == SW_ROLE_PACKAGE || s->zones[i].role == SW_ROLE_DRAM) && !s->zones[i].twin &&
		    !v[i].status)
			sum += v[i].raw_uj;
	return sum;
}

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

	/* A copy that kept no flat entry for the subzone; and in it a directory that is none of its subzones. */
	tree_write(t, "class/powercap/intel-rapl:0/intel-rapl:5:0/name", "dram\n");
	tree_write(t, "class/powercap/intel-rapl:0/intel-rapl-mmio:0:0/name", "dram\n");
	assert_int_equal(unlinkat(t->fd, "class/powercap/intel-rapl:0:0", 0), 0);
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

/* The broken say why, the others go on. */
static void broken_zones(void **state)
{
	const struct tree *t = *state;
	struct sw_zone_value v[16];
	struct sw_energy_source *s;
	size_t i;

	tree_zone(t, "intel-rapl:0", "package-0\n", NULL, "1000\n");
	tree_link(t, "/proc/self/mem", "class/powercap/intel-rapl:0/energy_uj");
	tree_link(t, "/nonexistent", "class/powercap/intel-rapl:1");
	tree_zone(t, "intel-rapl:2", "package-2\n", "12abc\n", "1000\n");
	tree_zone(t, "intel-rapl:3", "package-3\n", "", "1000\n");
	tree_zone(t, "intel-rapl:4", "package-4\n", "44\n", "1000\n");
	tree_zone(t, "intel-rapl:5", "package-5\n", NULL, "1000\n");
	tree_zone(t, "intel-rapl:6", "package-6\n", "18446744073709551616\n", "1000\n");
	tree_zone(t, "intel-rapl:7", "\n", "7\n", "1000\n");
	tree_zone(t, "intel-rapl:8", "pack/age\n", "7\n", "1000\n");
	tree_write(t, "class/powercap/intel-rapl:9", "a file\n");
	s = open_zones(t, &one);
	assert_zones(s, "package-0!, package-2!, package-3!, package-4, package-5!, package-6!, "
			"intel-rapl:1!, intel-rapl:7!, intel-rapl:8!, intel-rapl:9!");
	s->ops->read(s, NULL, v);
	assert_int_equal(v[zone(s, "package-0")].status, -EIO);
	assert_int_equal(v[zone(s, "intel-rapl:1")].status, -ENOENT);
	assert_int_equal(v[zone(s, "package-2")].status, -EINVAL);
	assert_int_equal(v[zone(s, "package-3")].status, -ENODATA);
	assert_int_equal(v[zone(s, "package-4")].status, 0);
	assert_true(v[zone(s, "package-4")].raw_uj == 44);
	assert_int_equal(v[zone(s, "package-5")].status, -ENOENT);
	assert_int_equal(v[zone(s, "package-6")].status, -ERANGE);
	assert_int_equal(v[zone(s, "intel-rapl:9")].status, -ENOTDIR);
	assert_string_equal(s->zones[0].problem, "class/powercap/intel-rapl:0/energy_uj: input/output error");
	i = zone(s, "intel-rapl:1");
	assert_string_equal(s->zones[i].problem, "class/powercap/intel-rapl:1/name: does not exist");

	/* Those that turn bad later say so each time, and never give the old value. */
	tree_write(t, "class/powercap/intel-rapl:4/energy_uj", "");
	s->ops->read(s, NULL, v);
	i = zone(s, "package-4");
	assert_int_equal(v[i].status, -ENODATA);
	assert_true(v[i].raw_uj == 0);
	tree_write(t, "class/powercap/intel-rapl:4/energy_uj", "55\n");
	s->ops->read(s, NULL, v);
	assert_int_equal(v[i].status, 0);
	assert_true(v[i].raw_uj == 55);
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

/* A zone that may not be read does not stop the others. */
static void permission(void **state)
{
	const struct tree *t = *state;
	const struct sw_energy_config config = { .sysfs_fd = t->fd, .topology = &one };
	struct sw_energy_source *s = NULL, *none = NULL;
	struct sw_zone_value v[2];
	struct sw_error e = { .text = "" };
	int err, err_all;

	tree_zone(t, "intel-rapl:0", "package-0\n", "5\n", NULL);
	tree_zone(t, "intel-rapl:1", "package-1\n", "6\n", NULL);
	assert_int_equal(fchmodat(t->fd, "class/powercap/intel-rapl:0/energy_uj", 0, 0), 0);
	as_nobody();
	err = sw_energy_powercap.open(&config, &e, &s);
	as_root_again();
	assert_int_equal(err, 0);
	assert_zones(s, "package-0!, package-1");
	assert_non_null(strstr(s->zones[0].problem, "class/powercap/intel-rapl:0/energy_uj: permission denied"));
	assert_non_null(strstr(s->zones[0].problem, "CVE-2020-8694"));
	assert_non_null(strstr(s->zones[0].problem, "run as root"));
	assert_non_null(strstr(s->zones[0].problem, "CAP_DAC_READ_SEARCH"));
	assert_non_null(strstr(s->zones[0].problem, "udev rule"));
	s->ops->read(s, NULL, v);
	assert_int_equal(v[0].status, -EACCES);
	assert_int_equal(v[1].status, 0);
	assert_true(v[1].raw_uj == 6);
	s->ops->close(s);

	assert_int_equal(fchmodat(t->fd, "class/powercap/intel-rapl:1/energy_uj", 0, 0), 0);
	as_nobody();
	err_all = sw_energy_powercap.open(&config, &e, &none);
	as_root_again();
	assert_int_equal(err_all, -EACCES);
	assert_null(none);
	assert_non_null(strstr(e.text, "intel-rapl:0/energy_uj: permission denied"));
	assert_non_null(strstr(e.text, "CAP_DAC_READ_SEARCH"));
}

/* Nothing there, in each way in which nothing can be there. */
static void nothing(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	struct sw_error e = { .text = "" };

	assert_non_null(strstr(refusal(t, -ENOENT, &e), "there is no class/powercap"));
	tree_write(t, "class/powercap/README", "");
	assert_non_null(strstr(refusal(t, -ENODEV, &e), "has no RAPL zone"));

	/* Foreign control types, and the directory of our own, which is not a zone. */
	tree_zone(t, "dtpm", "dtpm\n", "1\n", NULL);
	tree_zone(t, "dtpm:0", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl-mmio", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:x", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:0x", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:0:", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:00", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:0:0:0", "package-0\n", "1\n", NULL);
	assert_non_null(strstr(refusal(t, -ENODEV, &e), "has no RAPL zone"));

	tree_zone(t, "intel-rapl:1", "psys\n", "1\n", NULL);
	assert_non_null(strstr(refusal(t, -ENODEV, &e), "none of the zones in class/powercap is a processor package"));
	tree_link(t, "/nonexistent", "class/powercap/intel-rapl:2");
	assert_non_null(strstr(refusal(t, -ENODEV, &e), "; class/powercap/intel-rapl:2/name: does not exist"));
	tree_zone(t, "intel-rapl:3", "package-0\n", "", NULL);
	assert_non_null(strstr(refusal(t, -ENODATA, &e), "intel-rapl:3/energy_uj: is empty"));

	tree_zone(t, "intel-rapl:0", "package-0\n", "1\n", NULL); /* no subzones */
	s = open_zones(t, &one);
	assert_zones(s, "package-0, package-0 (intel-rapl:3)=!, psys, intel-rapl:2!");
	assert_true(total_uj(s) == 1);
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

/* What is opened is kept and closed on exec, and all of it is given back. */
static void keeps_fds(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	int fd, before, after, during;

	tree_zone(t, "intel-rapl:0", "package-0\n", "10\n", NULL);
	tree_zone(t, "intel-rapl:1", "package-1\n", "bad\n", NULL);
	for (fd = 0, before = 0; fd < 256; fd++)
		before += fcntl(fd, F_GETFD) >= 0;
	s = open_zones(t, &one);
	for (fd = 3, during = 0; fd < 256; fd++)
		during += fcntl(fd, F_GETFD) == FD_CLOEXEC;
	assert_true(during >= 2); /* the tree's and the zone's */
	for (fd = 0, after = 0; fd < 256; fd++)
		after += fcntl(fd, F_GETFD) >= 0;
	assert_int_equal(after, before + 1);
	/* Once open it needs no path, and no rights to one. */
	assert_int_equal(renameat(t->fd, "class", t->fd, "elsewhere"), 0);
	assert_true(total_uj(s) == 10);
	s->ops->close(s);
	for (fd = 0, after = 0; fd < 256; fd++)
		after += fcntl(fd, F_GETFD) >= 0;
	assert_int_equal(after, before);
}

#define IN_A_TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_TREE(laptop),          IN_A_TREE(mmio_alone_counts), IN_A_TREE(real_shape),   IN_A_TREE(servers),
		IN_A_TREE(per_die),         IN_A_TREE(unknown_names),     IN_A_TREE(same_name_twice),
		IN_A_TREE(broken_zones),    IN_A_TREE(orphans),           IN_A_TREE(permission),   IN_A_TREE(nothing),
		IN_A_TREE(amd),             IN_A_TREE(reads_near),        IN_A_TREE(keeps_fds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

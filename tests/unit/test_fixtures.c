/* SPDX-License-Identifier: BSD-2-Clause */
/* The machines of tests/fixtures: which zones each has and whose they are, what is added, and why there is nothing. */
#include "fixture.h"

#include "../../src/core/meter.h"

#include <errno.h>

struct machine {
	struct tree *tree;
	struct sw_topology topology;
	struct sw_energy_source *source;
	struct sw_error error;
	char refused[2048]; /* "NAME: REASON\n" of each source */
	int err;
};

static void note(const char *name, const char *reason, void *ctx)
{
	struct machine *m = ctx;
	size_t n = strlen(m->refused);

	snprintf(m->refused + n, sizeof(m->refused) - n, "%s: %s\n", name, reason);
}

/* As open.c does. */
static void open_machine(struct machine *m, const char *fixture, unsigned n_cpus, const char *source, bool strict)
{
	struct sw_energy_config config = { .dev_fd = -1 };

	*m = (struct machine){ .tree = tree_new() };
	fixture_build(m->tree, fixture);
	config.sysfs_fd = m->tree->fd;
	assert_int_equal(sw_topology_read(m->tree->fd, n_cpus, sw_powercap_is_per_die(m->tree->fd), &m->error,
					  &m->topology), 0);
	config.topology = &m->topology;
	as_nobody();
	m->err = sw_energy_open(source, strict, &config, note, m, &m->error, &m->source);
	as_root_again();
}

static void close_machine(struct machine *m)
{
	if (m->source)
		m->source->ops->close(m->source);
	sw_topology_free(&m->topology);
	tree_free(m->tree);
}

static void write_uj(const struct machine *m, const char *entry, uint64_t uj)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), "class/powercap/%s/energy_uj", entry);
	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)uj);
	tree_write(m->tree, path, text);
}

/* "package-0 P1+": name, role, domains by bit; + added, = twin, ! broken. */
static void assert_zones(const struct machine *m, const char *want)
{
	char text[1024] = "";
	size_t i, n = 0;

	if (m->err)
		fail_msg("%s", m->error.text);
	for (i = 0; i < m->source->n_zones; i++) {
		const struct sw_zone_info *z = &m->source->zones[i];

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %c%x%s%s%s", i ? ", " : "", z->name,
				      "PDSLU"[z->role], z->domains, sw_zone_counts(z) ? "+" : "", z->twin ? "=" : "",
				      z->problem ? "!" : "");
	}
	assert_string_equal(text, want);
}

static void assert_says(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("'%s' does not say '%s'", text, words);
}

/* nJ between two readings of a zone, by its name; all that is added for NULL. */
static int64_t between(const struct sw_meter *meter, const struct sw_zone_point *before, const char *name)
{
	int64_t nj = 0;
	size_t i;

	for (i = 0; i < meter->n_zones; i++) {
		const struct sw_zone_info *z = &meter->source->zones[i];

		if (name ? strcmp(z->name, name) : !sw_zone_counts(z) || meter->points[i].mirror_of >= 0)
			continue;
		assert_true(meter->points[i].readable && meter->points[i].breaks == before[i].breaks);
		nj += (int64_t)(meter->points[i].sum_nj - before[i].sum_nj);
	}
	return nj;
}

static void begin(struct machine *m, struct sw_meter *meter, struct sw_zone_point *before)
{
	struct sw_energy_point point;

	assert_int_equal(sw_meter_init(meter, m->source), 0);
	m->source = NULL; /* the meter's now */
	sw_meter_read(meter, NULL, &point);
	memcpy(before, meter->points, meter->n_zones * sizeof(*before));
}

static void intel_laptop(void **state)
{
	struct sw_zone_point before[8];
	struct sw_energy_point point;
	struct sw_meter meter;
	struct machine m;

	(void)state;
	open_machine(&m, "intel-laptop", 4, "auto", true);
	assert_zones(&m, "package-0 P1+, package-0 (mmio) P1=, package-0/core S1, package-0/uncore S1, psys L0");
	assert_string_equal(m.source->ops->name, "powercap");
	assert_string_equal(m.refused, "");
	begin(&m, &meter, before);
	/* a second of it: 3.93 J, of which 0.84 and 0.21, seen from elsewhere as 3.78; 9.61 for all of the machine */
	write_uj(&m, "intel-rapl:0", UINT64_C(50007860000));
	write_uj(&m, "intel-rapl:0:0", UINT64_C(20001680000));
	write_uj(&m, "intel-rapl:0:1", 420000);
	write_uj(&m, "intel-rapl:1", UINT64_C(90019220000));
	write_uj(&m, "intel-rapl-mmio:0", UINT64_C(50007560000));
	sw_meter_read(&meter, NULL, &point);
	assert_int_equal(between(&meter, before, NULL), 3930000000);
	assert_int_equal(between(&meter, before, "package-0 (mmio)"), 3780000000);
	assert_int_equal(between(&meter, before, "psys"), 9610000000);
	assert_int_equal(between(&meter, before, "package-0/core"), 840000000);
	sw_meter_free(&meter);
	close_machine(&m);
}

static void two_socket_server(void **state)
{
	struct sw_zone_point before[8];
	struct sw_energy_point point;
	struct sw_meter meter;
	struct machine m;

	(void)state;
	open_machine(&m, "two-socket-server", 32, NULL, true);
	assert_zones(&m, "package-0 P1+, package-0/dram D1+, package-1 P2+, package-1/dram D2+");
	assert_int_equal(m.topology.n_packages, 2);
	assert_int_equal(m.topology.domain_of[17], 0);
	assert_int_equal(m.topology.domain_of[24], 1);
	begin(&m, &meter, before);
	write_uj(&m, "intel-rapl:0", 21000000);
	write_uj(&m, "intel-rapl:1", 499013); /* gone round: 987 uJ to the end, and then these */
	write_uj(&m, "intel-rapl:0:0", 1000700);
	sw_meter_read(&meter, NULL, &point);
	assert_int_equal(between(&meter, before, "package-0"), 500000000);
	assert_int_equal(between(&meter, before, "package-1"), 20000000000);
	assert_int_equal(between(&meter, before, "package-1/dram"), 1000000000);
	assert_int_equal(between(&meter, before, "package-0/dram"), 0);
	assert_int_equal(between(&meter, before, NULL), 21500000000);
	sw_meter_free(&meter);
	close_machine(&m);
}

static void multi_die(void **state)
{
	struct sw_zone_point before[8];
	struct sw_energy_point point;
	struct sw_meter meter;
	struct machine m;

	(void)state;
	open_machine(&m, "multi-die", 16, "powercap", false);
	assert_zones(&m, "package-0-die-0 P1+, package-0-die-0/dram D1+, package-0-die-1 P2+, package-0-die-1/dram D2+, "
			 "package-1-die-0 P4+, package-1-die-0/dram D4+, package-1-die-1 P8+, package-1-die-1/dram D8+");
	assert_int_equal(m.topology.n_domains, 4);
	assert_int_equal(m.topology.n_packages, 2);
	assert_int_equal(m.topology.domain_of[9], 2);
	begin(&m, &meter, before);
	/* the first package's dies differ, the second one's show one counter from here on */
	write_uj(&m, "intel-rapl:0", 1068000000);
	write_uj(&m, "intel-rapl:1", 30000500);
	sw_meter_read(&meter, NULL, &point);
	assert_int_equal(between(&meter, before, NULL), 98000000000);
	sw_meter_free(&meter);
	close_machine(&m);
}

/* The same machine, if it is one of those whose dies all show the package's counter: 68 J, not 136. */
static void multi_die_mirrored(void **state)
{
	struct sw_zone_point before[8];
	struct sw_energy_point point;
	struct sw_meter meter;
	struct machine m;

	(void)state;
	open_machine(&m, "multi-die", 16, "powercap", false);
	write_uj(&m, "intel-rapl:1", 1000000000);
	begin(&m, &meter, before);
	write_uj(&m, "intel-rapl:0", 1068000000);
	write_uj(&m, "intel-rapl:1", 1068000000);
	sw_meter_read(&meter, NULL, &point);
	assert_int_equal(between(&meter, before, NULL), 68000000000);
	assert_int_equal(meter.points[2].mirror_of, 0);
	sw_meter_free(&meter);
	close_machine(&m);
}

/* 5 J of the package and 2 J in its core counter, which stands above it; no memory. */
static void amd_zen(void **state)
{
	struct sw_zone_point before[8];
	struct sw_energy_point point;
	struct sw_meter meter;
	struct machine m;

	(void)state;
	open_machine(&m, "amd-zen", 48, "auto", true);
	assert_zones(&m, "package-0 P1+, package-0/core S1");
	begin(&m, &meter, before);
	write_uj(&m, "intel-rapl:0", UINT64_C(2540552910));
	write_uj(&m, "intel-rapl:0/intel-rapl:0:0", UINT64_C(36245936951));
	sw_meter_read(&meter, NULL, &point);
	assert_int_equal(between(&meter, before, "package-0"), 5000000000);
	assert_int_equal(between(&meter, before, "package-0/core"), 2000000000);
	assert_int_equal(between(&meter, before, NULL), 5000000000);
	sw_meter_free(&meter);
	close_machine(&m);
}

/* Nothing measures: the model answers, marked; or nobody does. */
static void virtual_machine(void **state)
{
	struct machine m;

	(void)state;
	open_machine(&m, "virtual-machine", 2, "auto", false);
	assert_zones(&m, "package-0 P1+, package-1 P2+");
	assert_string_equal(m.source->ops->quality, "modelled");
	assert_says(m.refused, "powercap: there is no class/powercap in sysfs: no RAPL counters here (usual in a virtual "
			       "machine), or a kernel without CONFIG_POWERCAP\n");
	close_machine(&m);
	open_machine(&m, "virtual-machine", 2, "auto", true);
	assert_int_equal(m.err, -ENODEV);
	assert_null(m.source);
	assert_says(m.error.text, "no energy source that measures, and strict was asked for");
	close_machine(&m);
	open_machine(&m, "virtual-machine", 2, "powercap", false);
	assert_int_equal(m.err, -ENOENT);
	assert_null(m.source);
	close_machine(&m);
}

static void container(void **state)
{
	struct machine m;

	(void)state;
	open_machine(&m, "container", 8, "powercap", false);
	assert_int_equal(m.err, -EACCES);
	assert_says(m.error.text, "class/powercap/intel-rapl:0/energy_uj: permission denied. Since CVE-2020-8694");
	assert_says(m.error.text, "run as root, grant CAP_DAC_READ_SEARCH, or let a udev rule");
	close_machine(&m);
	open_machine(&m, "container", 8, "auto", false);
	assert_zones(&m, "package-0 P1+");
	assert_string_equal(m.source->ops->quality, "modelled");
	assert_says(m.refused, "powercap: class/powercap/intel-rapl:0/energy_uj: permission denied");
	close_machine(&m);
}

static void container_masked(void **state)
{
	struct machine m;

	(void)state;
	open_machine(&m, "container-masked", 8, "powercap", false);
	assert_int_equal(m.err, -ENODEV);
	assert_says(m.error.text, "none of the zones in class/powercap is a processor package; "
				  "class/powercap/intel-rapl:0/name: does not exist: the driver has gone, or a container's "
				  "runtime hides it");
	close_machine(&m);
	open_machine(&m, "container-masked", 8, "auto", false);
	assert_zones(&m, "package-0 P1+");
	assert_string_equal(m.source->ops->name, "model");
	close_machine(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intel_laptop),    cmocka_unit_test(two_socket_server),
		cmocka_unit_test(multi_die),       cmocka_unit_test(multi_die_mirrored),
		cmocka_unit_test(amd_zen),         cmocka_unit_test(virtual_machine),
		cmocka_unit_test(container),       cmocka_unit_test(container_masked),
	};

	return cmocka_run_group_tests_name("fixtures", tests, NULL, NULL);
}

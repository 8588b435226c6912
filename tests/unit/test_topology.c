/* SPDX-License-Identifier: BSD-2-Clause */
/* energy/topology.c: which CPU belongs to which domain, whatever the tree leaves out. */
#include "tree.h"

#include "../../src/energy/source.h"

#include <errno.h>

static void cpu(const struct tree *t, unsigned number, const char *package, const char *die)
{
	char path[128];

	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/physical_package_id", number);
	tree_write(t, path, package);
	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/die_id", number);
	if (die)
		tree_write(t, path, die);
}

static void no_tree(void **state)
{
	const struct tree *t = *state;
	struct sw_topology topo;

	assert_int_equal(sw_topology_read(t->fd, 6, false, NULL, &topo), 0);
	assert_int_equal(topo.n_cpus, 6);
	assert_int_equal(topo.n_present, 6);
	assert_int_equal(topo.n_domains, 1);
	assert_int_equal(topo.n_packages, 1);
	assert_int_equal(topo.package_of[0], 0);
	assert_int_equal(topo.die_of[0], -1);
	assert_int_equal(topo.cpus_in[0], 6);
	assert_int_equal(topo.domain_of[5], 0);
	sw_topology_free(&topo);
	assert_null(topo.domain_of);
	sw_topology_free(NULL);

	assert_int_equal(sw_topology_read(t->fd, 2, true, NULL, &topo), 0);
	assert_int_equal(topo.die_of[0], 0);
	sw_topology_free(&topo);
}

/* Numbers with holes, the higher first: indices are in order of the numbers. */
static void two_packages(void **state)
{
	const struct tree *t = *state;
	struct sw_topology topo;

	tree_write(t, "devices/system/cpu/present", "0-3\n");
	cpu(t, 0, "15\n", "0\n");
	cpu(t, 1, "3\n", "0\n");
	cpu(t, 2, "15\n", "1\n");
	cpu(t, 3, "3\n", "0\n");
	assert_int_equal(sw_topology_read(t->fd, 4, false, NULL, &topo), 0);
	assert_int_equal(topo.n_domains, 2);
	assert_int_equal(topo.n_packages, 2);
	assert_int_equal(topo.package_of[0], 3);
	assert_int_equal(topo.package_of[1], 15);
	assert_int_equal(topo.die_of[1], -1);
	assert_int_equal(topo.domain_of[0], 1);
	assert_int_equal(topo.domain_of[1], 0);
	assert_int_equal(topo.domain_of[2], 1);
	assert_int_equal(topo.domain_of[3], 0);
	assert_int_equal(topo.cpus_in[0], 2);
	assert_int_equal(topo.cpus_in[1], 2);
	sw_topology_free(&topo);
}

static void dies(void **state)
{
	const struct tree *t = *state;
	struct sw_topology topo;

	cpu(t, 0, "1\n", "0\n");
	cpu(t, 1, "0\n", "1\n");
	cpu(t, 2, "0\n", "0\n");
	cpu(t, 3, "1\n", NULL); /* no die_id: die 0 */
	assert_int_equal(sw_topology_read(t->fd, 4, true, NULL, &topo), 0);
	assert_int_equal(topo.n_domains, 3);
	assert_int_equal(topo.n_packages, 2);
	assert_int_equal(topo.package_of[1], 0);
	assert_int_equal(topo.die_of[0], 0);
	assert_int_equal(topo.die_of[1], 1);
	assert_int_equal(topo.package_of[2], 1);
	assert_int_equal(topo.die_of[2], 0);
	assert_int_equal(topo.domain_of[0], 2);
	assert_int_equal(topo.domain_of[1], 1);
	assert_int_equal(topo.domain_of[2], 0);
	assert_int_equal(topo.domain_of[3], 2);
	sw_topology_free(&topo);
}

/* CPUs 2 and 3 are possible only, 1 is offline: it has no topology directory, yet it is there. */
static void offline_and_absent(void **state)
{
	const struct tree *t = *state;
	struct sw_topology topo;

	tree_write(t, "devices/system/cpu/present", "0-1,4\n");
	cpu(t, 0, "0\n", NULL);
	tree_write(t, "devices/system/cpu/cpu1/online", "0\n");
	cpu(t, 4, "1\n", NULL);
	assert_int_equal(sw_topology_read(t->fd, 6, false, NULL, &topo), 0);
	assert_int_equal(topo.n_cpus, 6);
	assert_int_equal(topo.n_present, 3);
	assert_int_equal(topo.n_domains, 2);
	assert_int_equal(topo.domain_of[1], 0);
	assert_int_equal(topo.domain_of[3], 0);
	assert_int_equal(topo.domain_of[4], 1);
	assert_int_equal(topo.cpus_in[0], 2);
	assert_int_equal(topo.cpus_in[1], 1);
	sw_topology_free(&topo);
}

/* A capture of a larger machine: CPUs that this kernel does not have make no domain. */
static void larger_capture(void **state)
{
	const struct tree *t = *state;
	struct sw_topology topo;

	tree_write(t, "devices/system/cpu/present", "0-95\n");
	cpu(t, 0, "0\n", NULL);
	cpu(t, 1, "0\n", NULL);
	cpu(t, 64, "1\n", NULL);
	assert_int_equal(sw_topology_read(t->fd, 2, false, NULL, &topo), 0);
	assert_int_equal(topo.n_domains, 1);
	assert_int_equal(topo.n_present, 2);
	assert_int_equal(topo.cpus_in[0], 2);
	sw_topology_free(&topo);
}

static void garbage(void **state)
{
	static const char *const bad_ids[] = { "-1\n", "0x1\n", "", "1 \n", "2147483648\n" };
	static const char *const bad_lists[] = { "1-0\n", "x", "", "\n", "7\n", "0-65536\n" };
	const struct tree *t = *state;
	struct sw_topology topo;
	size_t i;

	cpu(t, 0, "5\n", NULL);
	for (i = 0; i < sizeof(bad_ids) / sizeof(bad_ids[0]); i++) {
		cpu(t, 1, bad_ids[i], "0\n");
		assert_int_equal(sw_topology_read(t->fd, 2, false, NULL, &topo), 0);
		assert_int_equal(topo.n_domains, 1);
		assert_int_equal(topo.package_of[0], 5);
		assert_int_equal(topo.domain_of[1], 0);
		sw_topology_free(&topo);
	}
	for (i = 0; i < sizeof(bad_lists) / sizeof(bad_lists[0]); i++) {
		tree_write(t, "devices/system/cpu/present", bad_lists[i]);
		assert_int_equal(sw_topology_read(t->fd, 2, false, NULL, &topo), 0);
		assert_int_equal(topo.n_present, 2);
		sw_topology_free(&topo);
	}
}

static void too_many(void **state)
{
	const struct tree *t = *state;
	struct sw_topology topo = { .n_cpus = 77 };
	struct sw_error e = { .text = "" };
	char id[16];
	unsigned i;

	for (i = 0; i < 33; i++) {
		snprintf(id, sizeof(id), "%u\n", i);
		cpu(t, i, id, NULL);
	}
	assert_int_equal(sw_topology_read(t->fd, 33, false, &e, &topo), -E2BIG);
	assert_non_null(strstr(e.text, "more than 32 processor packages"));
	assert_int_equal(topo.n_cpus, 77); /* untouched */
	assert_int_equal(sw_topology_read(t->fd, 32, false, &e, &topo), 0);
	assert_int_equal(topo.n_domains, 32);
	assert_int_equal(topo.domain_of[31], 31);
	sw_topology_free(&topo);
	assert_int_equal(sw_topology_read(t->fd, 0, false, &e, &topo), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_tree, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(two_packages, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(dies, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(offline_and_absent, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(larger_capture, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(garbage, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(too_many, tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

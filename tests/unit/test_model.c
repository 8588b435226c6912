/* SPDX-License-Identifier: BSD-2-Clause */
/* energy/model.c and energy/select.c: exact joules of a modelled machine, and which source answers. */
#include "tree.h"

#include "../../src/energy/source.h"

#include <errno.h>

#define SECOND UINT64_C(1000000000)

static const struct sw_topology one = { .n_cpus = 4, .n_domains = 1, .n_packages = 1, .die_of = { -1 } };

static void shape(void **state)
{
	const struct sw_topology topo = {
		.n_cpus = 8,
		.n_domains = 3,
		.n_packages = 2,
		.package_of = { 0, 0, 15 },
		.die_of = { 0, 1, -1 },
	};
	const struct sw_energy_config config = { .topology = &topo };
	struct sw_energy_source *s = NULL;

	(void)state;
	assert_int_equal(sw_energy_model.open(&config, NULL, &s), 0);
	assert_ptr_equal(s->ops, &sw_energy_model);
	assert_string_equal(s->ops->quality, "modelled");
	assert_int_equal(s->n_zones, 3);
	assert_string_equal(s->zones[0].name, "package-0-die-0");
	assert_string_equal(s->zones[1].name, "package-0-die-1");
	assert_string_equal(s->zones[2].name, "package-15");
	assert_int_equal(s->zones[2].package, 15);
	assert_int_equal(s->zones[2].die, -1);
	assert_int_equal(s->zones[2].domains, 1 << 2);
	assert_int_equal(s->zones[2].role, SW_ROLE_PACKAGE);
	assert_true(s->zones[2].range_uj == 0);
	assert_false(s->zones[2].twin);
	assert_null(s->zones[2].parent);
	assert_null(s->zones[2].problem);
	sw_energy_model.close(s);
	sw_energy_model.close(NULL);
}

static void expect(uint64_t idle_uw, uint64_t max_uw, struct sw_busy busy, uint64_t raw_uj, uint64_t extra_nj)
{
	const struct sw_energy_config config = {
		.topology = &one,
		.model_idle_uw = idle_uw,
		.model_max_uw = max_uw,
	};
	struct sw_zone_value value = { .status = 1 };
	struct sw_energy_source *s;

	assert_int_equal(sw_energy_model.open(&config, NULL, &s), 0);
	sw_energy_model.read(s, &busy, &value);
	assert_int_equal(value.status, 0);
	if (value.raw_uj != raw_uj || value.extra_nj != extra_nj)
		fail_msg("%llu uJ + %llu nJ", (unsigned long long)value.raw_uj, (unsigned long long)value.extra_nj);
	sw_energy_model.close(s);
}

static void joules(void **state)
{
	(void)state;
	/* Defaults: 0.74 W idle, 3.5 W busy. 1 s × 4 CPUs idle: 2.96 J; all busy: 14 J; one of four busy: 5.72 J. */
	expect(0, 0, (struct sw_busy){ 0, 4 * SECOND }, 2960000, 0);
	expect(0, 0, (struct sw_busy){ 4 * SECOND, 0 }, 14000000, 0);
	expect(0, 0, (struct sw_busy){ SECOND, 3 * SECOND }, 5720000, 0);
	/* Below a microjoule: 1 W × 1234567 ns = 1234567 nJ; and what is below a nanojoule is cut. */
	expect(1000000, 1000000, (struct sw_busy){ 1234567, 0 }, 1234, 567);
	expect(1, 1, (struct sw_busy){ 0, 999999 }, 0, 0);
	expect(1, 1, (struct sw_busy){ 1, 999999 }, 0, 1);
	/* Idle may be free; the model may be flat. */
	expect(0, 2000000, (struct sw_busy){ SECOND, SECOND }, 2000000, 0);
	expect(2000000, 2000000, (struct sw_busy){ SECOND, SECOND }, 4000000, 0);
	expect(0, 0, (struct sw_busy){ 0, 0 }, 0, 0);
	/* A double would be wrong here: 3.5 W × (2^53 + 1) ns = 31525197391593475.5 nJ. */
	expect(3500000, 3500000, (struct sw_busy){ (UINT64_C(1) << 53) + 1, 0 }, UINT64_C(31525197391593), 475);
	/* The most that there can be: 1 kW on 2^63 ns busy and as much idle. */
	expect(1000000000, 1000000000, (struct sw_busy){ INT64_MAX, INT64_MAX }, UINT64_MAX - 1, 0);
}

static void without_times(void **state)
{
	const struct sw_energy_config config = { .topology = &one };
	struct sw_zone_value value = { .status = 0 };
	struct sw_energy_source *s;

	(void)state;
	assert_int_equal(sw_energy_model.open(&config, NULL, &s), 0);
	sw_energy_model.read(s, NULL, &value);
	assert_int_equal(value.status, -ENODATA);
	sw_energy_model.close(s);
}

static void bad_watts(void **state)
{
	struct sw_energy_config config = { .topology = &one, .model_idle_uw = 3, .model_max_uw = 2 };
	struct sw_energy_source *s = (void *)&config;
	struct sw_error e = { .text = "" };

	(void)state;
	assert_int_equal(sw_energy_model.open(&config, &e, &s), -EINVAL);
	assert_non_null(strstr(e.text, "(2 microwatts) is less than that of an idle one (3)"));
	config.model_max_uw = 0; /* only both at 0 mean the defaults */
	assert_int_equal(sw_energy_model.open(&config, &e, &s), -EINVAL);
	config.model_max_uw = 1000000001;
	assert_int_equal(sw_energy_model.open(&config, &e, &s), -EINVAL);
	assert_non_null(strstr(e.text, "over 1000 watts"));
	assert_ptr_equal(s, &config);
}

struct told {
	int n;
	char text[2048];
};

static void refused(const char *name, const char *reason, void *ctx)
{
	struct told *told = ctx;

	told->n++;
	snprintf(told->text + strlen(told->text), sizeof(told->text) - strlen(told->text), "%s: %s\n", name, reason);
}

static void choice(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_config config = { .sysfs_fd = t->fd, .topology = &one };
	struct sw_energy_source *s = (void *)&config;
	struct sw_error e = { .text = "" };
	struct told told = { .n = 0 };
	int measuring;

	/* No counter: the model answers, and each refusal is told, in the order of asking. */
	assert_int_equal(sw_energy_open("auto", false, &config, refused, &told, &e, &s), 0);
	assert_ptr_equal(s->ops, &sw_energy_model);
	measuring = told.n;
	assert_true(strstr(told.text, "powercap: there is no class/powercap") == told.text);
	assert_non_null(strstr(told.text, "\nperf: there is no PMU "));
	s->ops->close(s);
	assert_int_equal(sw_energy_open(NULL, false, &config, NULL, NULL, NULL, &s), 0);
	s->ops->close(s);

	s = (void *)&config;
	assert_int_equal(sw_energy_open("auto", true, &config, refused, &told, &e, &s), -ENODEV);
	assert_non_null(strstr(e.text, "strict was asked for: powercap: there is no class/powercap"));
	assert_non_null(strstr(e.text, "; perf: there is no PMU "));
	assert_int_equal(told.n, 2 * measuring);
	assert_int_equal(sw_energy_open("model", true, &config, NULL, NULL, &e, &s), -ENODEV);
	assert_int_equal(sw_energy_open("powercap", false, &config, refused, &told, &e, &s), -ENOENT);
	assert_int_equal(told.n, 2 * measuring); /* named sources do not fall back */
	assert_int_equal(sw_energy_open("rapl", false, &config, NULL, NULL, &e, &s), -EINVAL);
	assert_non_null(strstr(e.text, "\"rapl\""));
	assert_int_equal(sw_energy_open("", false, &config, NULL, NULL, &e, &s), -EINVAL);
	assert_ptr_equal(s, &config);

	assert_int_equal(sw_energy_open("none", false, &config, refused, &told, &e, &s), 0);
	assert_null(s);

	config.model_idle_uw = 9;
	config.model_max_uw = 8;
	assert_int_equal(sw_energy_open("auto", false, &config, refused, &told, &e, &s), -EINVAL);
	measuring = told.n;

	/* A counter: it is taken, the model is not asked. */
	tree_zone(t, "intel-rapl:0", "package-0\n", "1\n", "1000\n");
	assert_int_equal(sw_energy_open("auto", true, &config, refused, &told, &e, &s), 0);
	assert_ptr_equal(s->ops, &sw_energy_powercap);
	assert_int_equal(told.n, measuring);
	s->ops->close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shape),
		cmocka_unit_test(joules),
		cmocka_unit_test(without_times),
		cmocka_unit_test(bad_watts),
		cmocka_unit_test_setup_teardown(choice, tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

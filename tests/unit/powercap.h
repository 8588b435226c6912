/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of energy/powercap*.c share: zones of a made-up tree opened, listed, added up. */
#ifndef SW_TESTS_POWERCAP_H
#define SW_TESTS_POWERCAP_H

#include "tree.h"

#include "../../src/energy/source.h"

static const struct sw_topology one = { .n_cpus = 4, .n_domains = 1, .n_packages = 1, .die_of = { -1 } };

static inline struct sw_energy_source *open_zones(const struct tree *t, const struct sw_topology *topo)
{
	const struct sw_energy_config config = { .sysfs_fd = t->fd, .topology = topo };
	struct sw_energy_source *s = NULL;
	struct sw_error e = { .text = "" };

	if (sw_energy_powercap.open(&config, &e, &s))
		fail_msg("%s", e.text);
	return s;
}

/* Open must fail; its words. */
static inline const char *refusal(const struct tree *t, int want, struct sw_error *e)
{
	const struct sw_energy_config config = { .sysfs_fd = t->fd, .topology = &one };
	struct sw_energy_source *s = (void *)e;

	assert_int_equal(sw_energy_powercap.open(&config, e, &s), want);
	assert_ptr_equal(s, e);
	return e->text;
}

static inline size_t zone(const struct sw_energy_source *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n_zones; i++)
		if (!strcmp(s->zones[i].name, name))
			return i;
	fail_msg("no zone %s", name);
	return 0;
}

/* All paths in their order; a twin is marked '=', a zone with a problem '!'. */
static inline void assert_zones(const struct sw_energy_source *s, const char *want)
{
	char text[1024] = "";
	size_t i, n = 0;

	for (i = 0; i < s->n_zones; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s%s", i ? ", " : "", s->zones[i].name,
				      s->zones[i].twin ? "=" : "", s->zones[i].problem ? "!" : "");
	assert_string_equal(text, want);
}

/* What is added: packages and dram, twins and broken ones left out. */
static inline uint64_t total_uj(struct sw_energy_source *s)
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

#define IN_A_TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* core/mirror.c: two dies that show one counter are one; two counters that are alike for a moment are two. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/mirror.h"

#define RANGE UINT64_C(262143328850)

/* What a package may use while a counter steps, and while both are read: 1 kW for 1 ms, and for the bracket. */
enum { BRACKET_NS = 20000, STEP_UJ = 1000000, OFF_UJ = STEP_UJ + 20000 };

struct pair {
	struct sw_zone_info zones[2];
	struct sw_mirror mirrors[2];
};

static struct pair dies(void)
{
	struct pair p = {.zones = {{.role = SW_ROLE_PACKAGE, .package = 0, .die = 0, .range_uj = RANGE},
				   {.role = SW_ROLE_PACKAGE, .package = 0, .die = 1, .range_uj = RANGE}}};

	sw_mirror_init(p.mirrors, 2);
	return p;
}

static void add_values(struct pair *p, struct sw_zone_value a, struct sw_zone_value b)
{
	const struct sw_zone_value values[2] = {a, b};

	sw_mirror_add(p->mirrors, p->zones, values, 2, BRACKET_NS);
	assert_int_equal(p->mirrors[0].of, -1); /* the first is always itself */
}

static bool mirrors_at(struct pair *p, uint64_t a_uj, uint64_t b_uj)
{
	add_values(p, (struct sw_zone_value){.raw_uj = a_uj}, (struct sw_zone_value){.raw_uj = b_uj});
	return p->mirrors[1].of == 0;
}

/* Threadripper's 68 W, shown by each of two dies. */
static void one_counter_shown_twice(void **state)
{
	struct pair p = dies();

	(void)state;
	assert_false(mirrors_at(&p, 1000000000, 1000000000)); /* once may be chance */
	assert_true(mirrors_at(&p, 1068000000, 1068000000));
	assert_true(mirrors_at(&p, 1136000000, 1136000000));
	assert_true(mirrors_at(&p, 1136000000, 1136000000)); /* a moment later: nothing has moved, nothing is unsaid */
}

static void two_counters(void **state)
{
	struct pair p = dies();

	(void)state;
	assert_false(mirrors_at(&p, 1000000000, 500));
	assert_false(mirrors_at(&p, 1068000000, 30000500));
}

/* Two that stand still at the same value, as after power-on, have not shown to be one. */
static void standing_still(void **state)
{
	struct pair p = dies();

	(void)state;
	assert_false(mirrors_at(&p, 0, 0));
	assert_false(mirrors_at(&p, 0, 0));
	assert_false(mirrors_at(&p, 700, 700)); /* they were 0 when last seen: any two counters begin there */
	p = dies();
	assert_false(mirrors_at(&p, 500, 500));
	assert_false(mirrors_at(&p, 500, 500));
	assert_true(mirrors_at(&p, 50000000, 50000000));
}

/* The counter steps between the two reads of it: at the first reading, at the second, or later. */
static void a_step_between_the_reads(void **state)
{
	struct pair p = dies();

	(void)state;
	assert_false(mirrors_at(&p, 1000000000, 1000068000));
	assert_true(mirrors_at(&p, 1068000000, 1068000000));
	p = dies();
	assert_false(mirrors_at(&p, 1000000000, 1000000000));
	assert_true(mirrors_at(&p, 1068000000, 1068068000));
	assert_true(mirrors_at(&p, 1136000000, 1136068000));
	assert_true(mirrors_at(&p, 1204000000, 1204000000));
	/* at both: not yet, and when they are next equal, it shows */
	p = dies();
	assert_false(mirrors_at(&p, 1000000000, 1000068000));
	assert_false(mirrors_at(&p, 1068000000, 1068068000));
	assert_true(mirrors_at(&p, 1136000000, 1136000000));
}

/* As far apart as what a package can use meanwhile, and 1 uJ more. */
static void how_far_apart(void **state)
{
	struct pair p = dies();

	(void)state;
	mirrors_at(&p, 1000000000, 1000000000);
	assert_true(mirrors_at(&p, 1068000000, 1068000000 + OFF_UJ));
	assert_true(mirrors_at(&p, 1136000000 + OFF_UJ, 1136000000));
	assert_false(mirrors_at(&p, 1204000000, 1204000000 + OFF_UJ + 1));
}

/* A mirror no longer once they part; and they must show it anew to be one again. */
static void parting(void **state)
{
	struct pair p = dies();

	(void)state;
	mirrors_at(&p, 1000000000, 1000000000);
	assert_true(mirrors_at(&p, 1068000000, 1068000000));
	assert_false(mirrors_at(&p, 1136000000, 1100000000));
	assert_false(mirrors_at(&p, 1204000000, 1140000000));
	assert_false(mirrors_at(&p, 1300000000, 1300000000)); /* one has caught up with the other, by chance */
	assert_false(mirrors_at(&p, 1350000000, 1390000000));
	assert_false(mirrors_at(&p, 1400000000, 1400000000));
	assert_true(mirrors_at(&p, 1450000000, 1450000000));
}

/* One of them has gone round already. */
static void a_wrap_between_the_reads(void **state)
{
	struct pair p = dies();

	(void)state;
	mirrors_at(&p, RANGE - 68000000, RANGE - 68000000);
	assert_true(mirrors_at(&p, RANGE - 1000, 67000));
	assert_true(mirrors_at(&p, 67000000, 67000000));
	p = dies(); /* where the range is not known, that looks like two */
	p.zones[0].range_uj = p.zones[1].range_uj = 0;
	mirrors_at(&p, RANGE - 68000000, RANGE - 68000000);
	assert_false(mirrors_at(&p, RANGE - 1000, 67000));
}

/* Sources that know more than microjoules are compared in full. */
static void below_a_microjoule(void **state)
{
	struct pair p = dies();

	(void)state;
	add_values(&p, (struct sw_zone_value){0, 5000000, 1}, (struct sw_zone_value){0, 5000000, 2});
	add_values(&p, (struct sw_zone_value){0, 6000000, 900}, (struct sw_zone_value){0, 6000000, 899});
	assert_int_equal(p.mirrors[1].of, -1);
	add_values(&p, (struct sw_zone_value){0, 7000000, 500}, (struct sw_zone_value){0, 7000000, 500});
	assert_int_equal(p.mirrors[1].of, 0);
}

/* A reading that failed says nothing, neither for nor against. */
static void failed_readings(void **state)
{
	const struct sw_zone_value failed = {.status = -EIO};
	struct pair p = dies();

	(void)state;
	mirrors_at(&p, 1000000000, 1000000000);
	add_values(&p, failed, (struct sw_zone_value){.raw_uj = 1068000000});
	assert_int_equal(p.mirrors[1].of, -1);
	add_values(&p, (struct sw_zone_value){.raw_uj = 1100000000}, failed);
	assert_int_equal(p.mirrors[1].of, -1);
	assert_true(mirrors_at(&p, 1136000000, 1136000000));
	add_values(&p, failed, failed);
	assert_int_equal(p.mirrors[1].of, 0);
}

/* What can never be one: packages, roles, zones that are shown only, zones of one die. */
static void never(void **state)
{
	struct pair p;

	(void)state;
	for (int i = 0; i < 7; i++) {
		p = dies();
		if (i == 0)
			p.zones[1].package = 1;
		if (i == 1)
			p.zones[1].role = SW_ROLE_DRAM;
		if (i == 2)
			p.zones[0].role = p.zones[1].role = SW_ROLE_SUBZONE;
		if (i == 3)
			p.zones[1].twin = true;
		if (i == 4)
			p.zones[1].problem = (char *)"EIO";
		if (i == 5)
			p.zones[1].die = 0;
		if (i == 6)
			p.zones[0].package = p.zones[1].package = -1;
		assert_false(mirrors_at(&p, 1000000000, 1000000000));
		assert_false(mirrors_at(&p, 1068000000, 1068000000));
	}
	p = dies();
	p.zones[0].role = p.zones[1].role = SW_ROLE_DRAM; /* a package's memory, shown below each die */
	mirrors_at(&p, 1000000000, 1000000000);
	assert_true(mirrors_at(&p, 1068000000, 1068000000));
}

/* Four dies of two packages, with memory: each finds the first of its own. */
static void many(void **state)
{
	struct sw_zone_info zones[8];
	struct sw_zone_value values[8];
	struct sw_mirror mirrors[8];
	int want[8] = {-1, -1, 0, 1, -1, -1, 4, -1};

	(void)state;
	for (int i = 0; i < 8; i++)
		zones[i] = (struct sw_zone_info){.role = i % 2 ? SW_ROLE_DRAM : SW_ROLE_PACKAGE,
						 .package = i / 4, .die = i / 2 % 2};
	sw_mirror_init(mirrors, 8);
	for (int reading = 1; reading <= 3; reading++) {
		for (int i = 0; i < 8; i++)
			values[i] = (struct sw_zone_value){.raw_uj = 900000000 + reading * (i % 2 ? 3000000 : 50000000)};
		values[7].raw_uj += 5000000 * reading; /* this one has a counter of its own */
		sw_mirror_add(mirrors, zones, values, 8, BRACKET_NS);
	}
	for (int i = 0; i < 8; i++)
		assert_int_equal(mirrors[i].of, want[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_counter_shown_twice), cmocka_unit_test(two_counters),
		cmocka_unit_test(standing_still),          cmocka_unit_test(a_step_between_the_reads),
		cmocka_unit_test(how_far_apart),           cmocka_unit_test(parting),
		cmocka_unit_test(a_wrap_between_the_reads), cmocka_unit_test(below_a_microjoule),
		cmocka_unit_test(failed_readings),         cmocka_unit_test(never),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests_name("mirror", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* energy/counter.c: wraps, failures, gaps. */
#include "../../src/energy/counter.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static void add(struct sw_counter *c, uint64_t raw_uj, uint64_t t_ns)
{
	const struct sw_zone_value value = { .raw_uj = raw_uj };

	sw_counter_add(c, &value, t_ns, false);
}

static void add_failed(struct sw_counter *c, uint64_t t_ns)
{
	const struct sw_zone_value value = { .status = -EIO };

	sw_counter_add(c, &value, t_ns, false);
}

static void first_gives_nothing(void **state)
{
	struct sw_counter c = { .range_uj = 262143999938 };

	(void)state;
	add(&c, 5000000, SECOND);
	assert_true(c.sum_nj == 0 && c.breaks == 0);
	add(&c, 5000001, 2 * SECOND);
	assert_true(c.sum_nj == 1000 && c.breaks == 0);
	add(&c, 5000001, 3 * SECOND);
	assert_true(c.sum_nj == 1000 && c.breaks == 0);
}

static void wraps(void **state)
{
	struct sw_counter c = { .range_uj = 262143999938 };
	struct sw_counter log = { .range_uj = 262143328850 };

	(void)state;
	add(&c, 262143000000, SECOND);
	add(&c, 500000, 2 * SECOND);
	assert_true(c.sum_nj == UINT64_C(1499938) * 1000 && c.breaks == 0);

	/* From Kepler's log: a raw difference of -262094848 mJ is 48480.85 mJ. */
	add(&log, 262094848000, SECOND);
	add(&log, 0, 2 * SECOND);
	assert_true(log.sum_nj == UINT64_C(48480850) * 1000 && log.breaks == 0);
}

static void wraps_again(void **state)
{
	static const uint64_t raw[] = { 900, 100, 900, 100 }, sum_uj[] = { 0, 200, 1000, 1200 };
	struct sw_counter c = { .range_uj = 1000 };
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		add(&c, raw[i], i * SECOND);
		assert_true(c.sum_nj == sum_uj[i] * 1000);
	}
	assert_true(c.breaks == 0);
}

static void ends_of_range(void **state)
{
	struct sw_counter c = { .range_uj = 1000 };

	(void)state;
	add(&c, 1000, 1);
	add(&c, 0, 2);
	assert_true(c.sum_nj == 0 && c.breaks == 0);
	add(&c, 1000, 3);
	assert_true(c.sum_nj == 1000000 && c.breaks == 0);

	c = (struct sw_counter){ .range_uj = UINT64_MAX };
	add(&c, UINT64_MAX - 1, 1);
	add(&c, 2, 2);
	assert_true(c.sum_nj == 3000 && c.breaks == 0);
}

static void back_without_range(void **state)
{
	struct sw_counter c = { .range_uj = 0 };

	(void)state;
	add(&c, 900, 1);
	add(&c, 100, 2);
	assert_true(c.sum_nj == 0 && c.breaks == 1);
	add(&c, 150, 3); /* from the new reading on */
	assert_true(c.sum_nj == 50000 && c.breaks == 1);
}

static void above_range(void **state)
{
	struct sw_counter c = { .range_uj = 1000 };

	(void)state;
	add(&c, 500, 1);
	add(&c, 1001, 2);
	assert_true(c.sum_nj == 0 && c.breaks == 1);
	add(&c, 600, 3); /* cannot be joined to anything: this window too has no energy */
	assert_true(c.sum_nj == 0 && c.breaks == 2);
	add(&c, 700, 4);
	assert_true(c.sum_nj == 100000 && c.breaks == 2);
}

/* Each window whose energy cannot be known sees `breaks` move, and no other one does. */
static void failures(void **state)
{
	struct sw_counter c = { .range_uj = 1000 };

	(void)state;
	add(&c, 100, 1);
	add(&c, 200, 2);
	assert_true(c.sum_nj == 100000 && c.breaks == 0);
	add_failed(&c, 3);
	assert_true(c.sum_nj == 100000 && c.breaks == 1);
	add_failed(&c, 4);
	assert_true(c.sum_nj == 100000 && c.breaks == 2);
	add(&c, 50, 5); /* less than before, but no wrap is made of it */
	assert_true(c.sum_nj == 100000 && c.breaks == 3);
	add(&c, 60, 6);
	assert_true(c.sum_nj == 110000 && c.breaks == 3);

	c = (struct sw_counter){ .range_uj = 1000 };
	add_failed(&c, 1);
	assert_true(c.breaks == 1);
	add(&c, 10, 2);
	assert_true(c.sum_nj == 0 && c.breaks == 2);
	add(&c, 20, 3);
	assert_true(c.sum_nj == 10000 && c.breaks == 2);
}

static void gaps(void **state)
{
	struct sw_counter c = { .range_uj = 1000, .max_gap_ns = 100 };

	(void)state;
	add(&c, 100, 1000);
	add(&c, 200, 1100); /* just short enough */
	assert_true(c.sum_nj == 100000 && c.breaks == 0);
	add(&c, 300, 1201);
	assert_true(c.sum_nj == 100000 && c.breaks == 1);
	add(&c, 310, 1300);
	assert_true(c.sum_nj == 110000 && c.breaks == 1);
	add(&c, 320, 1299); /* a clock that went back tells no gap */
	assert_true(c.sum_nj == 110000 && c.breaks == 2);

	c = (struct sw_counter){ .range_uj = 1000, .max_gap_ns = 0 };
	add(&c, 100, 0);
	add(&c, 200, UINT64_MAX);
	assert_true(c.sum_nj == 100000 && c.breaks == 0);
	add(&c, 300, 5);
	assert_true(c.sum_nj == 100000 && c.breaks == 1);
}

/* 50 J over a suspend are not 50 J of this window; nor is a smaller value a wrap. */
static void suspend(void **state)
{
	const struct sw_zone_value more = { .raw_uj = 50000100 }, less = { .raw_uj = 7 };
	struct sw_counter c = { .range_uj = 262143999938 };

	(void)state;
	add(&c, 100, SECOND);
	sw_counter_add(&c, &more, 2 * SECOND, true);
	assert_true(c.sum_nj == 0 && c.breaks == 1);
	sw_counter_add(&c, &less, 3 * SECOND, true);
	assert_true(c.sum_nj == 0 && c.breaks == 2);
	add(&c, 17, 4 * SECOND);
	assert_true(c.sum_nj == 10000 && c.breaks == 2);

	/* Before the first reading there is nothing to break. */
	c = (struct sw_counter){ .range_uj = 1000 };
	sw_counter_add(&c, &less, SECOND, true);
	assert_true(c.breaks == 0 && c.started);
}

static void below_a_microjoule(void **state)
{
	struct sw_zone_value value = { .raw_uj = 10, .extra_nj = 900 };
	struct sw_counter c = { .range_uj = 0 };

	(void)state;
	sw_counter_add(&c, &value, 1, false);
	value = (struct sw_zone_value){ .raw_uj = 12, .extra_nj = 100 };
	sw_counter_add(&c, &value, 2, false);
	assert_true(c.sum_nj == 1200 && c.breaks == 0);
	value.extra_nj = 99; /* back, if by 1 nJ */
	sw_counter_add(&c, &value, 3, false);
	assert_true(c.sum_nj == 1200 && c.breaks == 1);
}

static void never_overflows(void **state)
{
	struct sw_counter c = { .range_uj = 0 };

	(void)state;
	add(&c, 0, 1);
	add(&c, UINT64_MAX, 2); /* 2^64 µJ do not fit in nJ, and nobody used them */
	assert_true(c.sum_nj == 0 && c.breaks == 1);

	c = (struct sw_counter){ .range_uj = 0, .sum_nj = UINT64_MAX - 999 };
	add(&c, 1, 1);
	add(&c, 2, 2);
	assert_true(c.sum_nj == UINT64_MAX - 999 && c.breaks == 1);
}

static void greatest_gap(void **state)
{
	(void)state;
	/* 65532610987 µJ at 280 W is 234.045 s; half of it. */
	assert_true(sw_counter_max_gap_ns(65532610987, 280000000) == UINT64_C(117022519619));
	assert_true(sw_counter_max_gap_ns(0, 280000000) == 0);
	assert_true(sw_counter_max_gap_ns(65532610987, 0) == 0);
	assert_true(sw_counter_max_gap_ns(1, UINT64_MAX) == 1);
	assert_true(sw_counter_max_gap_ns(UINT64_MAX, 1) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_gives_nothing), cmocka_unit_test(wraps),
		cmocka_unit_test(wraps_again),         cmocka_unit_test(ends_of_range),
		cmocka_unit_test(back_without_range),  cmocka_unit_test(above_range),
		cmocka_unit_test(failures),            cmocka_unit_test(gaps),
		cmocka_unit_test(suspend),             cmocka_unit_test(below_a_microjoule),
		cmocka_unit_test(never_overflows),     cmocka_unit_test(greatest_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

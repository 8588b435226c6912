/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The policies with known answers, and what must hold for any input: parts add up, order plays no part, nobody gets
 * energy for no time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/attribution.h"

#define J 1000000000LL

static uint32_t roll(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

static int64_t part_of(const struct sw_share *s, size_t n, uint64_t tie)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].tie == tie)
			return s[i].nj;
	fail_msg("share %llu is gone", (unsigned long long)tie);
	return 0;
}

static void assert_adds_up(const struct sw_energy *e)
{
	assert_int_equal(e->proc_nj + e->other_nj + e->idle_nj + e->unattributed_nj, e->total_nj);
	assert_true(e->proc_nj >= 0 && e->other_nj >= 0 && e->idle_nj >= 0 && e->unattributed_nj >= 0);
}

/* 4 CPUs, 10 s, 100 J; A has 20 s, B 10 s, idle 10 s. */
static void known_shares(void **state)
{
	struct sw_share s[2 + SW_POOL_SHARES];
	struct sw_pool pool;

	(void)state;
	for (int policy = 0; policy < SW_POLICIES; policy++) {
		pool = (struct sw_pool){.idle_ns = 10 * J, .baseline_nj = 40 * J};
		s[0] = (struct sw_share){.weight = 20 * J, .tie = 1};
		s[1] = (struct sw_share){.weight = 10 * J, .tie = 2};
		sw_attribute(policy, 100 * J, s, 2, &pool);
		assert_adds_up(&pool.energy);
		if (policy == SW_POLICY_BUSY) {
			assert_int_equal(part_of(s, 5, 1), 66666666667);
			assert_int_equal(part_of(s, 5, 2), 33333333333);
			assert_int_equal(pool.energy.idle_nj, 0);
		} else if (policy == SW_POLICY_CAPACITY) {
			assert_int_equal(part_of(s, 5, 1), 50 * J);
			assert_int_equal(part_of(s, 5, 2), 25 * J);
			assert_int_equal(pool.energy.idle_nj, 25 * J);
		} else {
			assert_int_equal(part_of(s, 5, 1), 40 * J);
			assert_int_equal(part_of(s, 5, 2), 20 * J);
			assert_int_equal(pool.energy.idle_nj, 40 * J);
		}
		assert_int_equal(pool.energy.unattributed_nj, 0);
	}
}

/* Lost time is nobody's, tasks outside the target are `other`. */
static void lost_and_other(void **state)
{
	struct sw_share s[1 + SW_POOL_SHARES] = {{.weight = 5, .tie = 1}};
	struct sw_pool pool = {.other_ns = 3, .lost_ns = 2, .idle_ns = 10};

	(void)state;
	sw_attribute(SW_POLICY_BUSY, 1000, s, 1, &pool);
	assert_int_equal(pool.energy.proc_nj, 500);
	assert_int_equal(pool.energy.other_nj, 300);
	assert_int_equal(pool.energy.unattributed_nj, 200);
	s[0] = (struct sw_share){.weight = 5, .tie = 1};
	sw_attribute(SW_POLICY_CAPACITY, 1000, s, 1, &pool);
	assert_int_equal(pool.energy.proc_nj, 250);
	assert_int_equal(pool.energy.other_nj, 150);
	assert_int_equal(pool.energy.idle_nj, 500);
	assert_int_equal(pool.energy.unattributed_nj, 100);
}

/* Nobody to give it to. */
static void nothing_ran(void **state)
{
	struct sw_share s[1 + SW_POOL_SHARES];
	struct sw_pool pool = {.idle_ns = 10, .baseline_nj = 300};

	(void)state;
	sw_attribute(SW_POLICY_BUSY, 1000, s, 0, &pool);
	assert_int_equal(pool.energy.unattributed_nj, 1000);
	assert_int_equal(pool.energy.idle_nj, 0);
	sw_attribute(SW_POLICY_MARGINAL, 1000, s, 0, &pool);
	assert_int_equal(pool.energy.idle_nj, 300);
	assert_int_equal(pool.energy.unattributed_nj, 700);
	sw_attribute(SW_POLICY_CAPACITY, 1000, s, 0, &pool);
	assert_int_equal(pool.energy.idle_nj, 1000);
	pool.idle_ns = 0;
	sw_attribute(SW_POLICY_CAPACITY, 1000, s, 0, &pool);
	assert_int_equal(pool.energy.unattributed_nj, 1000);
}

static void no_energy(void **state)
{
	struct sw_share s[1 + SW_POOL_SHARES] = {{.weight = 7, .tie = 1}};
	struct sw_pool pool = {.other_ns = 3, .baseline_nj = 50};

	(void)state;
	for (int policy = 0; policy < SW_POLICIES; policy++) {
		s[0] = (struct sw_share){.weight = 7, .tie = 1};
		sw_attribute(policy, 0, s, 1, &pool);
		assert_adds_up(&pool.energy);
		assert_int_equal(pool.energy.proc_nj, 0);
	}
}

/* A baseline above what was measured takes all there is, and no share is negative. */
static void baseline_above_total(void **state)
{
	struct sw_share s[1 + SW_POOL_SHARES] = {{.weight = 7, .tie = 1}};
	struct sw_pool pool = {.baseline_nj = 5000};

	(void)state;
	sw_attribute(SW_POLICY_MARGINAL, 1000, s, 1, &pool);
	assert_int_equal(pool.energy.idle_nj, 1000);
	assert_int_equal(pool.energy.proc_nj, 0);
}

static void largest_remainder(void **state)
{
	struct sw_share s[3] = {{.weight = 1, .tie = 3}, {.weight = 1, .tie = 1}, {.weight = 1, .tie = 2}};

	(void)state;
	assert_true(sw_apportion(11, s, 3)); /* 3⅔ each: two are rounded up, by tie */
	assert_int_equal(part_of(s, 3, 1), 4);
	assert_int_equal(part_of(s, 3, 2), 4);
	assert_int_equal(part_of(s, 3, 3), 3);
	s[0] = (struct sw_share){.weight = 47, .tie = 1};
	s[1] = (struct sw_share){.weight = 16, .tie = 2};
	s[2] = (struct sw_share){.weight = 37, .tie = 3};
	sw_apportion(10, s, 3); /* 4.7, 1.6, 3.7: the .7s are rounded up */
	assert_int_equal(part_of(s, 3, 1), 5);
	assert_int_equal(part_of(s, 3, 2), 1);
	assert_int_equal(part_of(s, 3, 3), 4);
}

static void order_plays_no_part(void **state)
{
	struct sw_share a[50], b[50];
	uint32_t seed = 7;

	(void)state;
	for (int round = 0; round < 500; round++) {
		size_t n = 1 + roll(&seed, 50);
		int64_t total = roll(&seed, 5000), sum = 0;

		for (size_t i = 0; i < n; i++)
			a[i] = b[n - 1 - i] = (struct sw_share){.weight = roll(&seed, 4) ? roll(&seed, 9) : 0, .tie = i * 7 % 50};
		if (!sw_apportion(total, a, n))
			continue;
		sw_apportion(total, b, n);
		for (size_t i = 0; i < n; i++) {
			sum += a[i].nj;
			assert_int_equal(a[i].nj, part_of(b, n, a[i].tie));
			if (!a[i].weight)
				assert_int_equal(a[i].nj, 0);
		}
		assert_int_equal(sum, total);
	}
}

/* Years at a kilowatt, in one window. */
static void great_numbers(void **state)
{
	struct sw_share s[2 + SW_POOL_SHARES] = {{.weight = 1ULL << 61, .tie = 1}, {.weight = (1ULL << 61) - 1, .tie = 2}};
	struct sw_pool pool = {.lost_ns = 1};

	(void)state;
	sw_attribute(SW_POLICY_BUSY, INT64_MAX, s, 2, &pool);
	assert_adds_up(&pool.energy);
	assert_true(part_of(s, 5, 1) > part_of(s, 5, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_shares),
		cmocka_unit_test(lost_and_other),
		cmocka_unit_test(nothing_ran),
		cmocka_unit_test(no_energy),
		cmocka_unit_test(baseline_above_total),
		cmocka_unit_test(largest_remainder),
		cmocka_unit_test(order_plays_no_part),
		cmocka_unit_test(great_numbers),
	};

	return cmocka_run_group_tests_name("attribution", tests, NULL, NULL);
}

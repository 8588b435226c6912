/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what statistics say of known numbers. Relies on: Student, "The probable error of a mean", Biometrika 6 (1908)
 * (hours of sleep; interval as R's t.test(sleep) gives it); A. Michelson's 1879 speeds of light, first experiment (R's
 * `morley`); NIST's Statistical Reference Datasets NumAcc1, NumAcc3 and NumAcc4, which are hard on careless sums; and
 * quantiles of Student's t that were computed with 30 digits from the regularized incomplete beta function.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/statistics.h"
#include "schedwatt.h"

static void test_student(void **state)
{
	static const struct {
		size_t freedom;
		double t;
	} known[] = {
		{ 1, 12.7062047361747 }, { 2, 4.30265272974946 }, { 3, 3.18244630528371 }, { 4, 2.77644510519779 },
		{ 5, 2.57058183563632 }, { 7, 2.36462425159279 }, { 9, 2.26215716279821 }, { 10, 2.22813885198627 },
		{ 29, 2.0452296421327 }, { 30, 2.04227245630124 }, { 99, 1.98421695158642 },
		{ 100, 1.98397151852355 }, { 199, 1.97195654425175 }, { 200, 1.97189622363391 },
		{ 201, 1.97183650677986 }, { 202, 1.97177738466999 }, { 500, 1.96471983746737 },
		{ 1000, 1.96233908082641 }, { 9999, 1.96020126362136 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_true(fabs(statistics_student95(known[i].freedom) - known[i].t) < 1e-9);
	/* a normal distribution's, in the end */
	assert_true(fabs(statistics_student95(SIZE_MAX) - 1.95996398454005) < 1e-12);
	for (size_t freedom = 1; freedom < 1000; freedom++)
		assert_true(statistics_student95(freedom) > statistics_student95(freedom + 1));
}

static void test_sleep(void **state)
{
	static const int64_t hours_e8[] = {
		120000000, 240000000, 130000000, 130000000, 0, 100000000, 180000000, 80000000, 460000000, 140000000,
	};
	struct statistics s;

	(void)state;
	assert_int_equal(statistics_of(hours_e8, 10, &s), 0);
	assert_int_equal(s.n, 10);
	assert_int_equal(s.absent, 0);
	assert_int_equal(s.mean, 158000000);
	assert_int_equal(s.sd, 122999548);
	/* 0.7001142 to 2.4598858 */
	assert_in_range(s.mean - s.half, 70011415, 70011425);
	assert_in_range(s.mean + s.half, 245988575, 245988585);
	assert_int_equal(s.median, 130000000);
	assert_int_equal(s.min, 0);
	assert_int_equal(s.max, 460000000);
	assert_true(s.wide);
	assert_int_equal(s.trend, 0);
}

static void test_light(void **state)
{
	static const int64_t speed_e3[] = {
		850000, 740000, 900000, 1070000, 930000, 850000, 950000,  980000,  980000, 880000,
		1000000, 980000, 930000, 650000, 760000, 810000, 1000000, 1000000, 960000, 960000,
	};
	struct statistics s;

	(void)state;
	assert_int_equal(statistics_of(speed_e3, 20, &s), 0);
	assert_int_equal(s.mean, 909000);
	assert_int_equal(s.sd, 104926);
	assert_int_equal(s.median, 940000);
	assert_true(s.wide); /* 49.1 of 909 */
}

static void test_accuracy(void **state)
{
	static const int64_t first[] = { 10000001000, 10000003000, 10000002000 };
	int64_t values[1001];
	struct statistics s;

	(void)state;
	assert_int_equal(statistics_of(first, 3, &s), 0);
	assert_int_equal(s.mean, 10000002000);
	assert_int_equal(s.sd, 1000);
	assert_false(s.wide);
	for (int64_t whole = 1000000; whole <= 10000000; whole *= 10) {
		values[0] = whole * 1000000000 + 200000000;
		for (size_t i = 1; i < 1001; i++)
			values[i] = values[0] + (i % 2 ? -100000000 : 100000000);
		assert_int_equal(statistics_of(values, 1001, &s), 0);
		assert_true(s.mean == values[0]);
		assert_int_equal(s.sd, 100000000);
		assert_true(s.median == values[0]);
	}
}

static void test_absent(void **state)
{
	static const int64_t values[] = { SW_ABSENT, 30, SW_ABSENT, 10, 21 };
	struct statistics s;

	(void)state;
	assert_int_equal(statistics_of(values, 5, &s), 0);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.absent, 2);
	assert_int_equal(s.mean, 20);
	assert_int_equal(s.sd, 10);
	assert_int_equal(s.median, 21);
	assert_int_equal(s.min, 10);
	assert_int_equal(s.max, 30);

	assert_int_equal(statistics_of(values, 1, &s), 0);
	assert_int_equal(s.n, 0);
	assert_int_equal(s.absent, 1);
	assert_true(s.mean == SW_ABSENT && s.sd == SW_ABSENT && s.half == SW_ABSENT && s.median == SW_ABSENT);
	assert_true(s.min == SW_ABSENT && s.max == SW_ABSENT);
	assert_int_equal(statistics_of(NULL, 0, &s), 0);
	assert_int_equal(s.n, 0);
	assert_true(s.mean == SW_ABSENT);
}

/* One value has no spread; two have the widest of intervals; numbers near the end of the range stay in it. */
static void test_few(void **state)
{
	static const int64_t two[] = { 1000, 1002 }, largest[] = { 0, INT64_MAX };
	struct statistics s;

	(void)state;
	assert_int_equal(statistics_of(two, 1, &s), 0);
	assert_int_equal(s.mean, 1000);
	assert_int_equal(s.median, 1000);
	assert_true(s.sd == SW_ABSENT && s.half == SW_ABSENT);
	assert_false(s.wide);
	assert_int_equal(statistics_of(two, 2, &s), 0);
	assert_int_equal(s.mean, 1001);
	assert_int_equal(s.median, 1001);
	assert_int_equal(s.sd, 1);    /* 1.414 */
	assert_int_equal(s.half, 13); /* 12.706 * 1.414 / 1.414 */
	assert_false(s.wide);
	assert_int_equal(statistics_of(largest, 2, &s), 0);
	assert_true(s.min == 0 && s.max == INT64_MAX && s.median == INT64_C(1) << 62);
	assert_true(s.half == SW_ABSENT && s.wide); /* 5.9e19 */
}

static void test_trend(void **state)
{
	static const int64_t rising[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	static const int64_t falling[] = { 90, 80, 70, 70, 60, 50, 40, 30, 20, 20 };
	static const int64_t level[] = { 5, 5, 5, 5, 5, 5, 5, 5, 5, 5 };
	static const int64_t mixed[] = { 4, 9, 1, 7, 3, 10, 2, 8, 5, 6 };
	struct statistics s;

	(void)state;
	/* score 45, variance 10 * 9 * 25 / 18 = 125 */
	assert_true(fabs(statistics_trend(rising, 10) - 44 / sqrt(125)) < 1e-12);
	/* score -43; two pairs of equals take 2 * 1 * 9 each: (2250 - 36) / 18 = 123 */
	assert_true(fabs(statistics_trend(falling, 10) + 42 / sqrt(123)) < 1e-12);
	assert_true(statistics_trend(level, 10) == 0);
	assert_true(statistics_trend(level, 1) == 0);
	assert_int_equal(statistics_of(rising, 10, &s), 0);
	assert_int_equal(s.trend, 1);
	assert_int_equal(statistics_of(falling, 10, &s), 0);
	assert_int_equal(s.trend, -1);
	assert_int_equal(statistics_of(level, 10, &s), 0);
	assert_int_equal(s.trend, 0);
	assert_int_equal(s.sd, 0);
	assert_false(s.wide);
	assert_int_equal(statistics_of(mixed, 10, &s), 0);
	assert_int_equal(s.trend, 0);
	/* too few to tell, whatever their order */
	assert_int_equal(statistics_of(rising, 9, &s), 0);
	assert_int_equal(s.trend, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_student), cmocka_unit_test(test_sleep),  cmocka_unit_test(test_light),
		cmocka_unit_test(test_accuracy), cmocka_unit_test(test_absent), cmocka_unit_test(test_few),
		cmocka_unit_test(test_trend),
	};

	return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}

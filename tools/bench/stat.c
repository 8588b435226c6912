/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the arithmetic of figures and their standard errors. Must not know: what was measured.
 * Source: B. Efron, "Bootstrap methods: another look at the jackknife" (1979): rounds are drawn again with
 * replacement, whole, so that what a round's variants have in common stays in common.
 */
#include "stat.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS 400

typedef double statistic(const double *v, const double *floor, const double *none, size_t n);

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile_in_place(double *v, size_t n, double q)
{
	double at = q * (n - 1);
	size_t i = at;

	qsort(v, n, sizeof(*v), compare);
	return i + 1 < n ? v[i] + (at - i) * (v[i + 1] - v[i]) : v[n - 1];
}

double stat_quantile(const double *v, size_t n, double q)
{
	double *copy = malloc(n * sizeof(*copy)), result;

	if (!copy || !n) {
		free(copy);
		return NAN;
	}
	memcpy(copy, v, n * sizeof(*copy));
	result = quantile_in_place(copy, n, q);
	free(copy);
	return result;
}

static double median_of(const double *v, const double *none, size_t n, double (*of)(double, double))
{
	double *d = malloc(n * sizeof(*d)), result;

	if (!d)
		return NAN;
	for (size_t i = 0; i < n; i++)
		d[i] = of(v[i], none[i]);
	result = quantile_in_place(d, n, .5);
	free(d);
	return result;
}

static double minus(double a, double b)
{
	return a - b;
}

static double over(double a, double b)
{
	return a / b;
}

static double added(const double *v, const double *floor, const double *none, size_t n)
{
	(void)floor;
	return median_of(v, none, n, minus);
}

static double added_p25(const double *v, const double *floor, const double *none, size_t n)
{
	(void)floor;
	return stat_quantile(v, n, .25) - stat_quantile(none, n, .25);
}

static double ratio_added(const double *v, const double *floor, const double *none, size_t n)
{
	return added(v, NULL, none, n) / added(floor, NULL, none, n);
}

static double ratio(const double *v, const double *floor, const double *none, size_t n)
{
	(void)floor;
	return median_of(v, none, n, over);
}

static double median(const double *v, const double *floor, const double *none, size_t n)
{
	(void)floor;
	(void)none;
	return stat_quantile(v, n, .5);
}

static uint64_t draw(uint64_t *state)
{
	/* xorshift64*, with a fixed seed: the same data give the same error */
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (*state * 0x2545F4914F6CDD1DULL) >> 33;
}

/* Draw rounds anew and see how far the result moves. `floor` and `none` may be NULL. */
static struct stat estimate(statistic *of, const double *v, const double *floor, const double *none, size_t n)
{
	struct stat result = {.value = n ? of(v, floor, none, n) : NAN, .se = NAN};
	double *draws = calloc(3 * n + DRAWS, sizeof(*draws)), sum = 0, squares = 0;
	double *dv = draws + DRAWS, *df = dv + n, *dn = df + n;
	uint64_t state = 88172645463325252ULL;

	if (!draws || n < 3)
		goto out;
	for (int k = 0; k < DRAWS; k++) {
		for (size_t i = 0; i < n; i++) {
			size_t pick = draw(&state) % n;

			dv[i] = v[pick];
			df[i] = floor ? floor[pick] : 0;
			dn[i] = none ? none[pick] : 0;
		}
		draws[k] = of(dv, df, dn, n);
		sum += draws[k];
	}
	for (int k = 0; k < DRAWS; k++)
		squares += (draws[k] - sum / DRAWS) * (draws[k] - sum / DRAWS);
	result.se = sqrt(squares / (DRAWS - 1));
out:
	free(draws);
	return result;
}

struct stat stat_added(const double *v, const double *none, size_t n)
{
	return estimate(added, v, NULL, none, n);
}

struct stat stat_added_p25(const double *v, const double *none, size_t n)
{
	return estimate(added_p25, v, NULL, none, n);
}

struct stat stat_ratio_added(const double *v, const double *floor, const double *none, size_t n)
{
	return estimate(ratio_added, v, floor, none, n);
}

struct stat stat_ratio(const double *v, const double *none, size_t n)
{
	return estimate(ratio, v, NULL, none, n);
}

struct stat stat_median(const double *v, size_t n)
{
	return estimate(median, v, NULL, NULL, n);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: mean, spread, interval and trend of a handful of numbers. Must not know: what was measured, or who reads it.
 * Relies on: M. Abramowitz, I. Stegun, Handbook of Mathematical Functions (1964), 26.7.3 to 26.7.5 (Student's t);
 * H. B. Mann, Econometrica 13 (1945), M. G. Kendall, Rank Correlation Methods (1975), and R. O. Gilbert, Statistical
 * Methods for Environmental Pollution Monitoring (1987), 16.4 (the normal deviate, from 10 values on).
 */
#include "statistics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "schedwatt.h"

enum {
	EXACT_MAX = 200, /* degrees of freedom; above, the expansion is as exact, and short */
	BISECTIONS = 60, /* of an angle below 2, down to the last bit of a double */
};

static const double NORMAL_95 = 1.959963984540054; /* 97.5 % of a standard normal distribution lies below */
static const double NORMAL_99 = 2.575829303548901; /* 99.5 % */

/* The probability of |t| <= sqrt(freedom) * tan(angle): 26.7.3 for odd degrees, 26.7.4 for even ones. */
static double within(double angle, size_t freedom)
{
	double c2 = cos(angle) * cos(angle), term, sum;

	if (freedom == 1)
		return angle * M_2_PI;
	term = freedom % 2 ? cos(angle) : 1;
	sum = term;
	for (size_t k = freedom % 2 ? 3 : 2; k + 1 < freedom; k += 2) {
		term *= c2 * (double)(k - 1) / (double)k;
		sum += term;
	}
	return freedom % 2 ? M_2_PI * (angle + sin(angle) * sum) : sin(angle) * sum;
}

/* 26.7.5, an expansion in 1 / freedom. */
static double expanded(double freedom)
{
	double x = NORMAL_95, x2 = x * x;
	double g1 = x * (x2 + 1) / 4;
	double g2 = x * ((5 * x2 + 16) * x2 + 3) / 96;
	double g3 = x * (((3 * x2 + 19) * x2 + 17) * x2 - 15) / 384;
	double g4 = x * ((((79 * x2 + 776) * x2 + 1482) * x2 - 1920) * x2 - 945) / 92160;

	return x + (g1 + (g2 + (g3 + g4 / freedom) / freedom) / freedom) / freedom;
}

double statistics_student95(size_t freedom)
{
	double low = 0, high = M_PI_2, angle = 0;

	if (freedom > EXACT_MAX)
		return expanded((double)freedom);
	for (int i = 0; i < BISECTIONS; i++) {
		angle = (low + high) / 2;
		if (within(angle, freedom) < 0.95)
			low = angle;
		else
			high = angle;
	}
	return sqrt((double)freedom) * tan(angle);
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* What equal values take from the variance of the score: each group of t of them t(t - 1)(2t + 5). */
static double ties(const int64_t *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double equal = 0;

		/* counted at each of the group, of which each is a t-th */
		for (size_t j = 0; j < n; j++)
			equal += values[j] == values[i];
		sum += (equal - 1) * (2 * equal + 5);
	}
	return sum;
}

double statistics_trend(const int64_t *values, size_t n)
{
	double count = (double)n, score = 0, variance;

	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++)
			score += compare(&values[j], &values[i]);
	}
	variance = (count * (count - 1) * (2 * count + 5) - ties(values, n)) / 18;
	if (variance <= 0 || score == 0)
		return 0;
	/* the score moves in steps of 2: half a step is taken off */
	return (score > 0 ? score - 1 : score + 1) / sqrt(variance);
}

static int64_t rounded(double value)
{
	return value < 9.2e18 ? llround(value) : SW_ABSENT;
}

/* In two passes about one of the values, so that nothing is lost where they are large and differ by little. */
static void spread(const int64_t *values, size_t n, struct statistics *s)
{
	double origin = (double)values[0], sum = 0, squares = 0, mean, half;

	for (size_t i = 0; i < n; i++)
		sum += (double)(values[i] - values[0]);
	mean = sum / (double)n;
	s->mean = values[0] + llround(mean);
	if (n < 2)
		return;
	for (size_t i = 0; i < n; i++) {
		double off = (double)(values[i] - values[0]) - mean;

		squares += off * off;
	}
	half = statistics_student95(n - 1) * sqrt(squares / (double)(n - 1) / (double)n);
	s->sd = rounded(sqrt(squares / (double)(n - 1)));
	s->half = rounded(half);
	s->wide = half * 100 > (origin + mean) * STATISTICS_WIDE_PERCENT;
}

/* `values` are all there, and are sorted here. */
static void order(int64_t *values, size_t n, struct statistics *s)
{
	int64_t below, above;

	qsort(values, n, sizeof(*values), compare);
	below = values[(n - 1) / 2];
	above = values[n / 2];
	s->min = values[0];
	s->max = values[n - 1];
	s->median = below + (above - below) / 2 + (above - below) % 2;
}

int statistics_of(const int64_t *values, size_t n, struct statistics *ret)
{
	struct statistics s = {
		.mean = SW_ABSENT, .sd = SW_ABSENT, .half = SW_ABSENT,
		.median = SW_ABSENT, .min = SW_ABSENT, .max = SW_ABSENT,
	};
	int64_t *known = malloc((n ? n : 1) * sizeof(*known));

	if (!known)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (values[i] == SW_ABSENT)
			s.absent++;
		else
			known[s.n++] = values[i];
	}
	if (s.n) {
		double trend = s.n < STATISTICS_TREND_MIN ? 0 : statistics_trend(known, s.n);

		s.trend = trend > NORMAL_99 ? 1 : trend < -NORMAL_99 ? -1 : 0;
		spread(known, s.n, &s);
		order(known, s.n, &s);
	}
	free(known);
	*ret = s;
	return 0;
}

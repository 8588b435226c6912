/* SPDX-License-Identifier: BSD-2-Clause */
/* What a few repeated measurements say of the quantity that was measured. Pure arithmetic. */
#ifndef SW_CLI_STATISTICS_H
#define SW_CLI_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	STATISTICS_WIDE_PERCENT = 5, /* a mean that is known no better than this is doubtful */
	STATISTICS_TREND_MIN = 10,   /* fewer values say nothing of a trend */
};

/* All numbers are in the unit of the values, rounded; SW_ABSENT: there are too few values for this one. */
struct statistics {
	size_t n;      /* values that are there */
	size_t absent; /* those that are not; they are in no number below */
	int64_t mean;
	int64_t sd;    /* standard deviation of the values, by n - 1; from 2 values on */
	int64_t half;  /* the 95 % interval of the mean is mean - half to mean + half; from 2 values on */
	int64_t median;
	int64_t min;
	int64_t max;
	bool wide;     /* half is more than STATISTICS_WIDE_PERCENT of the mean */
	int trend;     /* 1: the values rise in their order, -1: they fall, with 99 % confidence; 0: neither is sure */
};

/* `values` in the order they were measured, each 0 or more, or SW_ABSENT. 0 or -ENOMEM. */
int statistics_of(const int64_t *values, size_t n, struct statistics *ret);

/*
 * Student's t of `freedom` degrees (1 or more) that is exceeded, one way or the other, in 5 of 100 cases. To 1e-9.
 */
double statistics_student95(size_t freedom);

/*
 * The standard normal deviate of Mann's and Kendall's test for a trend, with the correction for ties: above 0 where
 * later values are greater. 0 where all are equal, or there is only one.
 */
double statistics_trend(const int64_t *values, size_t n);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Robust statistics over interleaved rounds. A series is one variant's number in every round; series of one run have
 * the same length, and place r of each was measured within the same round.
 */
#ifndef BENCH_STAT_H
#define BENCH_STAT_H

#include <stddef.h>

struct stat {
	double value;
	double se; /* by bootstrap over the rounds */
};

/* `v` is left as it is. */
double stat_quantile(const double *v, size_t n, double q);

/* What a variant adds to `none`: the median over rounds of the difference within a round. */
struct stat stat_added(const double *v, const double *none, size_t n);

/* The difference of the lower quartiles, as the prototype's figures were taken. */
struct stat stat_added_p25(const double *v, const double *none, size_t n);

/* What `v` adds to `none` ÷ what `floor` adds. */
struct stat stat_ratio_added(const double *v, const double *floor, const double *none, size_t n);

/* Median over rounds of v ÷ none. */
struct stat stat_ratio(const double *v, const double *none, size_t n);

struct stat stat_median(const double *v, size_t n);

#endif

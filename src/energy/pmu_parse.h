/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The three languages in which a PMU describes its events in sysfs: a format, a list of terms, a scale. Whole texts or
 * nothing, without the locale; one newline at the end is allowed. *ret is untouched on failure.
 */
#ifndef SW_ENERGY_PMU_PARSE_H
#define SW_ENERGY_PMU_PARSE_H

#include <stdint.h>

/* Nanojoules per count, as a fraction. */
struct sw_scale {
	uint64_t num;
	unsigned __int128 den;
};

/*
 * Joules per count ("2.3283064365386962890625e-10") to nanojoules per count: digits, an optional fraction and an
 * optional exponent. Exact and in lowest terms where that fits, which holds for every multiple of 2^-32 J up to 2 kJ;
 * else off by less than 2^-60 of it. 0, -EINVAL (no such number) or -ERANGE (0, or too great or too small; from
 * 10^-28 to 10^10 J all fit).
 */
int sw_parse_scale(const char *text, struct sw_scale *ret);

/* That many counts, rounded down to nanojoules. */
unsigned __int128 sw_scale_nj(const struct sw_scale *scale, uint64_t count);

/*
 * Which bits of perf_event_attr.config a term goes to: "config:0-7,32". 0, -EINVAL (malformed, or a bit twice or over
 * 63) or -EOPNOTSUPP (another field than config).
 */
int sw_parse_format(const char *text, uint64_t *ret);

/*
 * An event's terms ("event=0x02,umask=1"; without a value: 1) to its config. `format` tells the bits of a term, or
 * fails with a negative errno, which is passed on; ctx is its own. The lowest bit of a value goes to the lowest of
 * those bits, and so on. 0, -EINVAL (malformed), -ERANGE (a value wider than its bits).
 */
int sw_parse_terms(const char *text, int (*format)(const char *term, void *ctx, uint64_t *bits), void *ctx,
		   uint64_t *ret);

#endif

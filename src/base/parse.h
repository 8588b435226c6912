/* SPDX-License-Identifier: BSD-2-Clause */
/* Strict parsing: the whole token, base 10, range-checked, the locale plays no part. */
#ifndef SW_BASE_PARSE_H
#define SW_BASE_PARSE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Decimal digits only, no sign, no white space, at least one digit, value <= max. One newline at the end is allowed,
 * since kernel files end with one. 0, -EINVAL (not such a number) or -ERANGE (over max); *ret is untouched on failure.
 */
int sw_parse_u64(const char *text, uint64_t max, uint64_t *ret);

/*
 * A decimal number with an optional fraction ("3.5", "0.74", "2"), scaled by 10^digits and exact: more fraction digits
 * than that are -EINVAL. Same errors as above.
 */
int sw_parse_decimal(const char *text, unsigned digits, uint64_t max, uint64_t *ret);

/*
 * The kernel's CPU list ("0-3,8,10-11\n", "" for none). Calls `each` for every number in the order written.
 * 0, -EINVAL (malformed, or a range that runs backwards), -ERANGE (a number >= limit), or what `each` returned when it
 * was not 0. Source: Documentation/admin-guide/cputopology.rst, bitmap_parselist().
 */
int sw_parse_cpulist(const char *text, unsigned limit, int (*each)(unsigned cpu, void *ctx), void *ctx);

/*
 * The digits at *text, one number of many in a text that goes on, to `end` at most. It steps over them all, fitting or
 * not; what has to be behind them is the caller's. 0, -EINVAL (no digit there) or -ERANGE (over max).
 */
int sw_take_u64(const char **text, const char *end, uint64_t max, uint64_t *ret);

#endif

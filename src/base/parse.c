/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: turning text into numbers, whole tokens or nothing. Must not know: which file or option the text came from.
 * Source: Documentation/admin-guide/cputopology.rst for the CPU list; everything is ASCII, so no locale is asked.
 */
#include "parse.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define SAFE_DIGITS 19 /* 10^19 < 2^64: so many need no check for overflow, and a parser of many numbers is quick */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* value * 10 + digit; false when that exceeds max. */
static bool push_digit(uint64_t *value, unsigned digit, uint64_t max)
{
	uint64_t next;

	if (__builtin_mul_overflow(*value, (uint64_t)10, &next) || __builtin_add_overflow(next, digit, &next) ||
	    next > max)
		return false;
	*value = next;
	return true;
}

int sw_take_u64(const char **text, const char *end, uint64_t max, uint64_t *ret)
{
	const char *at = *text, *safe = end - at > SAFE_DIGITS ? at + SAFE_DIGITS : end;
	uint64_t value = 0;
	int err = 0;

	if (at == end || !is_digit(*at))
		return -EINVAL;
	for (; at < safe && is_digit(*at); at++)
		value = value * 10 + (unsigned)(*at - '0');
	if (value > max)
		err = -ERANGE;
	for (; at < end && is_digit(*at); at++)
		if (!err && !push_digit(&value, (unsigned)(*at - '0'), max))
			err = -ERANGE;
	*text = at;
	if (!err)
		*ret = value;
	return err;
}

int sw_parse_u64(const char *text, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;
	int err;

	err = sw_take_u64(&text, text + strlen(text), max, &value);
	if (*text == '\n')
		text++;
	/* What is not a number at all is never "out of range", however long it is. */
	if (*text)
		return -EINVAL;
	if (err)
		return err;
	*ret = value;
	return 0;
}

int sw_parse_decimal(const char *text, unsigned digits, uint64_t max, uint64_t *ret)
{
	unsigned fraction = 0;
	uint64_t value = 0;
	int err;

	err = sw_take_u64(&text, text + strlen(text), max, &value);
	if (err == -EINVAL)
		return err;
	if (*text == '.') {
		text++;
		if (!is_digit(*text))
			return -EINVAL;
		for (; is_digit(*text); text++) {
			if (++fraction > digits)
				return -EINVAL;
			if (!err && !push_digit(&value, (unsigned)(*text - '0'), max))
				err = -ERANGE;
		}
	}
	if (*text)
		return -EINVAL;
	for (; !err && value && fraction < digits; fraction++)
		if (!push_digit(&value, 0, max))
			err = -ERANGE;
	if (err)
		return err;
	*ret = value;
	return 0;
}

/* "N" or "N-M". */
static int take_range(const char **text, const char *end, unsigned limit, uint64_t *first, uint64_t *last)
{
	int err, late;

	err = sw_take_u64(text, end, UINT64_MAX, first);
	if (err)
		return err;
	*last = *first;
	if (**text == '-') {
		(*text)++;
		late = sw_take_u64(text, end, UINT64_MAX, last);
		if (late)
			return late;
		if (*last < *first)
			return -EINVAL;
	}
	return *last < limit ? 0 : -ERANGE;
}

/* One pass over the list; without `each` it only checks. */
static int walk_cpulist(const char *text, unsigned limit, int (*each)(unsigned cpu, void *ctx), void *ctx)
{
	const char *end = text + strlen(text);
	uint64_t first, last, cpu;
	int err, found = 0;

	if (!*text || (text[0] == '\n' && !text[1]))
		return 0;
	for (;;) {
		err = take_range(&text, end, limit, &first, &last);
		if (err == -EINVAL)
			return err;
		if (err)
			found = err;
		for (cpu = first; !err && each && cpu <= last; cpu++) {
			found = each((unsigned)cpu, ctx);
			if (found)
				return found;
		}
		if (*text != ',')
			break;
		text++;
	}
	if (*text == '\n')
		text++;
	return *text ? -EINVAL : found;
}

int sw_parse_cpulist(const char *text, unsigned limit, int (*each)(unsigned cpu, void *ctx), void *ctx)
{
	int err;

	/* Checked as a whole first, so that a list that turns out bad has told nobody anything. */
	err = walk_cpulist(text, limit, NULL, NULL);
	return err ? err : walk_cpulist(text, limit, each, ctx);
}

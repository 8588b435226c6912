/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what a PMU's format, event and scale files mean. Must not know: which PMU it is, or where the files lie.
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-{events,format}; tools/perf/util/pmu.c
 * (pmu_format_value() scatters a value over the bits of its format).
 */
#include "pmu_parse.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

typedef unsigned __int128 u128;

enum {
	DIGITS_MAX = 38,      /* as many always fit in 128 bits; what follows is less than 10^-37 of the number */
	EXPONENT_MAX = 10000, /* written ones beyond are out of range whatever digits stand before them */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool at_end(const char *text)
{
	return !*text || (text[0] == '\n' && !text[1]);
}

/* digits × 10^exponent */
struct decimal {
	u128 digits;
	long exponent;
};

static void take_mantissa(const char **text, struct decimal *d)
{
	int significant = 0;
	bool fraction = false;

	for (;; (*text)++) {
		if (**text == '.' && !fraction && is_digit((*text)[1])) {
			fraction = true;
			continue;
		}
		if (!is_digit(**text))
			return;
		if (significant == DIGITS_MAX) {
			d->exponent += !fraction;
			continue;
		}
		d->digits = d->digits * 10 + (unsigned)(**text - '0');
		d->exponent -= fraction;
		significant += d->digits != 0;
	}
}

static int take_exponent(const char **text, long *ret)
{
	long value = 0;
	bool negative;

	if (**text != 'e' && **text != 'E')
		return 0;
	(*text)++;
	negative = **text == '-';
	if (**text == '-' || **text == '+')
		(*text)++;
	if (!is_digit(**text))
		return -EINVAL;
	for (; is_digit(**text); (*text)++)
		if (value < EXPONENT_MAX)
			value = value * 10 + (**text - '0');
	*ret += negative ? -value : value;
	return 0;
}

/* base^n times *value, if that fits in 128 bits. */
static bool times_power(u128 *value, unsigned base, long n)
{
	for (; n > 0; n--)
		if (__builtin_mul_overflow(*value, (u128)base, value))
			return false;
	return true;
}

/* In lowest terms. False when that does not fit. */
static bool exact_fraction(const struct decimal *d, struct sw_scale *ret)
{
	long twos = d->exponent < 0 ? -d->exponent : 0, fives = twos;
	u128 num = d->digits, den = 1;

	if (!times_power(&num, 10, d->exponent))
		return false;
	for (; twos && !(num & 1); twos--)
		num /= 2;
	for (; fives && !(num % 5); fives--)
		num /= 5;
	if (num > UINT64_MAX || !times_power(&den, 2, twos) || !times_power(&den, 5, fives))
		return false;
	*ret = (struct sw_scale){ .num = (uint64_t)num, .den = den };
	return true;
}

/* Shift the highest bit to the top, and say by how much. */
static long normalize(u128 *value)
{
	uint64_t high = (uint64_t)(*value >> 64);
	int by = high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)*value);

	*value <<= by;
	return by;
}

/*
 * A binary fraction of 64 bits. Each step loses less than 2^-123 of the value, and there are at most 100 of them, so
 * that the last rounding, 2^-64, is all that counts.
 */
static bool near_fraction(const struct decimal *d, struct sw_scale *ret)
{
	u128 value = d->digits;
	long e = d->exponent, shift = normalize(&value); /* the number is value × 10^e ÷ 2^shift */

	if (e < -100 || e > 100)
		return false;
	for (; e > 0; e--) {
		value = (value >> 4) * 10;
		shift += normalize(&value) - 4;
	}
	for (; e < 0; e++) {
		value /= 10;
		shift += normalize(&value);
	}
	value = (value >> 64) + (value >> 63 & 1);
	shift -= 64;
	if (value > UINT64_MAX) {
		value >>= 1;
		shift--;
	}
	if (shift < 0 || shift > 127)
		return false;
	*ret = (struct sw_scale){ .num = (uint64_t)value, .den = (u128)1 << shift };
	return true;
}

int sw_parse_scale(const char *text, struct sw_scale *ret)
{
	struct decimal d = { .exponent = 9 }; /* nanojoules */

	if (!is_digit(*text))
		return -EINVAL;
	take_mantissa(&text, &d);
	if (take_exponent(&text, &d.exponent) || !at_end(text))
		return -EINVAL;
	if (!d.digits)
		return -ERANGE;
	return exact_fraction(&d, ret) || near_fraction(&d, ret) ? 0 : -ERANGE;
}

u128 sw_scale_nj(const struct sw_scale *scale, uint64_t count)
{
	return (u128)count * scale->num / scale->den;
}

static bool take_bit(const char **text, unsigned *ret)
{
	unsigned value = 0;

	if (!is_digit(**text))
		return false;
	for (; is_digit(**text); (*text)++) {
		value = value * 10 + (unsigned)(**text - '0');
		if (value > 63)
			return false;
	}
	*ret = value;
	return true;
}

static bool take_bits(const char **text, uint64_t *ret)
{
	unsigned first, last;
	uint64_t bits;

	if (!take_bit(text, &first))
		return false;
	last = first;
	if (**text == '-') {
		(*text)++;
		if (!take_bit(text, &last) || last < first)
			return false;
	}
	bits = (UINT64_MAX >> (63 - (last - first))) << first;
	if (*ret & bits)
		return false;
	*ret |= bits;
	return true;
}

int sw_parse_format(const char *text, uint64_t *ret)
{
	size_t field = strcspn(text, ":");
	const char *at = text + field;
	uint64_t bits = 0;

	if (!field || *at != ':')
		return -EINVAL;
	do {
		at++;
		if (!take_bits(&at, &bits))
			return -EINVAL;
	} while (*at == ',');
	if (!at_end(at))
		return -EINVAL;
	if (field != strlen("config") || memcmp(text, "config", field))
		return -EOPNOTSUPP;
	*ret = bits;
	return 0;
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "0x1f" or "31". */
static int take_value(const char **text, uint64_t *ret)
{
	bool hex = (*text)[0] == '0' && ((*text)[1] == 'x' || (*text)[1] == 'X');
	int base = hex ? 16 : 10, err = 0, digit;
	uint64_t value = 0;

	*text += hex ? 2 : 0;
	digit = hex_digit(**text);
	if (digit < 0 || digit >= base)
		return -EINVAL;
	for (; digit >= 0 && digit < base; digit = hex_digit(*++*text))
		if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			err = -ERANGE;
	*ret = value;
	return err;
}

/* A term is also the name of a file. */
static int take_name(const char **text, char *name, size_t size)
{
	size_t n = strcspn(*text, "=,\n");

	if (!n || n >= size || **text == '.' || memchr(*text, '/', n))
		return -EINVAL;
	memcpy(name, *text, n);
	name[n] = '\0';
	*text += n;
	return 0;
}

/* False when the value has more bits than there are for it. */
static bool scatter(uint64_t value, uint64_t bits, uint64_t *config)
{
	for (; bits; bits &= bits - 1, value >>= 1)
		if (value & 1)
			*config |= bits & -bits;
	return !value;
}

int sw_parse_terms(const char *text, int (*format)(const char *term, void *ctx, uint64_t *bits), void *ctx,
		   uint64_t *ret)
{
	uint64_t config = 0, bits = 0, value;
	char name[64];
	int err;

	for (;; text++) {
		value = 1;
		err = take_name(&text, name, sizeof(name));
		if (!err && *text == '=') {
			text++;
			err = take_value(&text, &value);
		}
		if (!err && *text != ',' && !at_end(text))
			err = -EINVAL;
		if (!err)
			err = format(name, ctx, &bits);
		if (err)
			return err;
		if (!scatter(value, bits, &config))
			return -ERANGE;
		if (*text != ',')
			break;
	}
	*ret = config;
	return 0;
}

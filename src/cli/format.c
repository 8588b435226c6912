/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how numbers, times and foreign bytes are spelt. Must not know: which record they stand in.
 * Relies on: RFC 3339 (times), RFC 3629 section 4 (what is valid UTF-8). Integers only: no rounding by floating point,
 * no decimal comma. Real numbers are taken apart into two of them.
 */
#include "format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_S 1000000000

static uint64_t power10(unsigned digits)
{
	uint64_t p = 1;

	while (digits--)
		p *= 10;
	return p;
}

void format_udecimal(char text[FORMAT_MAX], uint64_t value, unsigned digits)
{
	uint64_t unit = power10(digits), fraction = value % unit;

	while (fraction && fraction % 10 == 0) {
		fraction /= 10;
		digits--;
	}
	if (fraction)
		snprintf(text, FORMAT_MAX, "%llu.%0*llu", (unsigned long long)(value / unit), (int)digits,
			 (unsigned long long)fraction);
	else
		snprintf(text, FORMAT_MAX, "%llu", (unsigned long long)(value / unit));
}

void format_decimal(char text[FORMAT_MAX], int64_t value, unsigned digits)
{
	char magnitude[FORMAT_MAX];

	if (value >= 0) {
		format_udecimal(text, (uint64_t)value, digits);
		return;
	}
	format_udecimal(magnitude, -(uint64_t)value, digits);
	snprintf(text, FORMAT_MAX, "-%.*s", FORMAT_MAX - 2, magnitude);
}

void format_fixed(char text[FORMAT_MAX], uint64_t value, unsigned digits, unsigned places)
{
	uint64_t cut = power10(digits - places), unit = power10(places);

	value = value / cut + (cut > 1 && value % cut >= cut / 2);
	if (places)
		snprintf(text, FORMAT_MAX, "%llu.%0*llu", (unsigned long long)(value / unit), (int)places,
			 (unsigned long long)(value % unit));
	else
		snprintf(text, FORMAT_MAX, "%llu", (unsigned long long)value);
}

/* |value| as a whole number and a fraction in units of 10^-places. */
static bool split_real(double value, unsigned places, uint64_t *whole, uint64_t *fraction)
{
	double magnitude = fabs(value);

	if (!(magnitude < 18446744073709551616.0)) /* or not a number */
		return false;
	*whole = (uint64_t)magnitude;
	*fraction = (uint64_t)llround((magnitude - (double)*whole) * (double)power10(places));
	if (*fraction == power10(places)) { /* from 2^53 on there is no fraction to carry over */
		*fraction = 0;
		(*whole)++;
	}
	return true;
}

static bool real(char text[FORMAT_MAX], double value, unsigned places, bool fixed)
{
	uint64_t whole, fraction;
	const char *sign;

	if (!split_real(value, places, &whole, &fraction))
		return false;
	sign = value < 0 && (whole || fraction) ? "-" : "";
	while (!fixed && fraction && fraction % 10 == 0) {
		fraction /= 10;
		places--;
	}
	if (places && (fixed || fraction))
		snprintf(text, FORMAT_MAX, "%s%llu.%0*llu", sign, (unsigned long long)whole, (int)places,
			 (unsigned long long)fraction);
	else
		snprintf(text, FORMAT_MAX, "%s%llu", sign, (unsigned long long)whole);
	return true;
}

bool format_real_fixed(char text[FORMAT_MAX], double value, unsigned places)
{
	return real(text, value, places, true);
}

bool format_real(char text[FORMAT_MAX], double value, unsigned places)
{
	return real(text, value, places, false);
}

uint64_t format_scale(uint64_t value, uint64_t mul, uint64_t div)
{
	unsigned __int128 scaled;

	if (!div)
		return FORMAT_NONE;
	scaled = ((unsigned __int128)value * mul + div / 2) / div;
	return scaled < FORMAT_NONE ? (uint64_t)scaled : FORMAT_NONE;
}

static void split_time(int64_t utc_ns, struct tm *tm, unsigned *ns)
{
	time_t s = utc_ns / NS_PER_S;
	int64_t rest = utc_ns % NS_PER_S;

	if (rest < 0) { /* a clock that was never set may stand before 1970 */
		rest += NS_PER_S;
		s--;
	}
	gmtime_r(&s, tm);
	*ns = (unsigned)rest;
}

void format_time(char text[FORMAT_MAX], int64_t utc_ns)
{
	struct tm tm;
	unsigned ns;

	split_time(utc_ns, &tm, &ns);
	snprintf(text, FORMAT_MAX, "%04d-%02d-%02dT%02d:%02d:%02d.%09uZ", tm.tm_year + 1900, tm.tm_mon + 1,
		 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, ns);
}

void format_clock(char text[FORMAT_MAX], int64_t utc_ns)
{
	struct tm tm;
	unsigned ns;

	split_time(utc_ns, &tm, &ns);
	snprintf(text, FORMAT_MAX, "%02d:%02d:%02d.%03u", tm.tm_hour, tm.tm_min, tm.tm_sec, ns / 1000000);
}

static bool is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Length of the valid code point that starts at `s`, or 0. The table of RFC 3629: no overlong forms, no surrogates. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		return left >= 2 && is_tail(s[1]) ? 2 : 0;
	if (s[0] >= 0xe0 && s[0] <= 0xef) {
		if (left < 3 || !is_tail(s[1]) || !is_tail(s[2]))
			return 0;
		if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))
			return 0;
		return 3;
	}
	if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		if (left < 4 || !is_tail(s[1]) || !is_tail(s[2]) || !is_tail(s[3]))
			return 0;
		if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
			return 0;
		return 4;
	}
	return 0;
}

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define ELLIPSIS    "\xe2\x80\xa6" /* U+2026 */

void format_utf8(struct buf *out, const char *bytes, size_t len)
{
	const unsigned char *s = (const unsigned char *)bytes;

	for (size_t i = 0; i < len;) {
		size_t n = utf8_length(s + i, len - i);

		if (n)
			buf_add(out, bytes + i, n);
		else
			buf_text(out, REPLACEMENT);
		i += n ? n : 1;
	}
}

static bool is_control(const unsigned char *s, size_t n)
{
	return (n == 1 && (s[0] < 0x20 || s[0] == 0x7f)) || (n == 2 && s[0] == 0xc2 && s[1] < 0xa0);
}

static unsigned count_columns(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned columns = 0;

	for (size_t i = 0, len = strlen(text); i < len; columns++) {
		size_t n = utf8_length(s + i, len - i);

		i += n ? n : 1;
	}
	return columns;
}

unsigned format_plain(struct buf *out, const char *bytes, unsigned columns)
{
	const unsigned char *s = (const unsigned char *)bytes;
	size_t len = strlen(bytes);
	unsigned all = count_columns(bytes), keep = all <= columns ? all : columns ? columns - 1 : 0, done = 0;

	for (size_t i = 0; i < len && done < keep; done++) {
		size_t n = utf8_length(s + i, len - i);

		if (!n)
			buf_text(out, REPLACEMENT);
		else if (is_control(s + i, n))
			buf_text(out, "?");
		else
			buf_add(out, bytes + i, n);
		i += n ? n : 1;
	}
	if (all > columns && columns) {
		buf_text(out, ELLIPSIS);
		done++;
	}
	return done;
}

unsigned format_tail(struct buf *out, const char *bytes, unsigned columns)
{
	size_t len = strlen(bytes);
	unsigned all = count_columns(bytes);

	if (all <= columns || !columns)
		return format_plain(out, bytes, columns);
	for (unsigned skip = all - columns + 1; skip; skip--) {
		size_t n = utf8_length((const unsigned char *)bytes, len);

		n = n ? n : 1;
		bytes += n;
		len -= n;
	}
	buf_text(out, ELLIPSIS);
	return 1 + format_plain(out, bytes, columns - 1);
}

void format_left(struct buf *out, const char *text, unsigned columns)
{
	unsigned done = format_plain(out, text, columns);

	for (; done < columns; done++)
		buf_text(out, " ");
}

void format_right(struct buf *out, const char *text, unsigned columns)
{
	/* A number that is too wide for its column is shown whole: a shifted line is better than a wrong number. */
	for (unsigned all = count_columns(text) + 1; all < columns; all++)
		buf_text(out, " ");
	buf_text(out, " ");
	buf_text(out, text);
}

void format_wrapped(struct buf *out, const char *text, unsigned indent, unsigned columns)
{
	unsigned at = 0;

	while (*text) {
		size_t blanks = strspn(text, " \t\n"), len = strcspn(text + blanks, " \t\n");
		char word[128];
		unsigned width;

		text += blanks;
		if (!len)
			break;
		if (len >= sizeof(word)) /* a path, say: its parts follow one another as words of their own */
			len = sizeof(word) - 1;
		memcpy(word, text, len);
		word[len] = '\0';
		text += len;
		width = count_columns(word);
		if (at && at + 1 + width > columns) {
			buf_printf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (at) {
			buf_text(out, " ");
			at++;
		}
		at += format_plain(out, word, columns);
	}
	buf_text(out, "\n");
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* base/parse.c and base/error.c: what is a number, and above all what is not. */
#include "../../src/base/error.h"
#include "../../src/base/parse.h"

#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void u64_good(void **state)
{
	static const struct {
		const char *text;
		uint64_t max, want;
	} cases[] = {
		{ "0", UINT64_MAX, 0 },
		{ "0\n", 0, 0 },
		{ "007", 7, 7 },
		{ "262143999938\n", UINT64_MAX, 262143999938 },
		{ "18446744073709551615", UINT64_MAX, UINT64_MAX },
		{ "00000000000000000000000000000012", 12, 12 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t v = 99;

		assert_int_equal(sw_parse_u64(cases[i].text, cases[i].max, &v), 0);
		assert_true(v == cases[i].want);
	}
}

static void u64_bad(void **state)
{
	static const struct {
		const char *text;
		uint64_t max;
		int want;
	} cases[] = {
		{ "", UINT64_MAX, -EINVAL },
		{ "\n", UINT64_MAX, -EINVAL },
		{ " 1", UINT64_MAX, -EINVAL },
		{ "1 ", UINT64_MAX, -EINVAL },
		{ "1\t", UINT64_MAX, -EINVAL },
		{ "1\n\n", UINT64_MAX, -EINVAL },
		{ "1\r\n", UINT64_MAX, -EINVAL },
		{ "12abc", UINT64_MAX, -EINVAL },
		{ "garbage", UINT64_MAX, -EINVAL },
		{ "0x10", UINT64_MAX, -EINVAL },
		{ "-1", UINT64_MAX, -EINVAL },
		{ "+1", UINT64_MAX, -EINVAL },
		{ "1.0", UINT64_MAX, -EINVAL },
		{ "1,000", UINT64_MAX, -EINVAL },
		{ "\xd9\xa1", UINT64_MAX, -EINVAL }, /* ARABIC-INDIC DIGIT ONE */
		{ "18446744073709551616", UINT64_MAX, -ERANGE },
		{ "99999999999999999999999\n", UINT64_MAX, -ERANGE },
		{ "99999999999999999999999x", UINT64_MAX, -EINVAL },
		{ "101", 100, -ERANGE },
		{ "1", 0, -ERANGE },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t v = 99;

		if (sw_parse_u64(cases[i].text, cases[i].max, &v) != cases[i].want)
			fail_msg("\"%s\"", cases[i].text);
		assert_true(v == 99);
	}
}

static void decimal(void **state)
{
	static const struct {
		const char *text;
		unsigned digits;
		uint64_t max;
		int want;
		uint64_t value;
	} cases[] = {
		{ "3.5", 6, UINT64_MAX, 0, 3500000 },
		{ "0.74", 6, UINT64_MAX, 0, 740000 },
		{ "2", 6, UINT64_MAX, 0, 2000000 },
		{ "2", 0, UINT64_MAX, 0, 2 },
		{ "0.000001", 6, UINT64_MAX, 0, 1 },
		{ "0", 30, UINT64_MAX, 0, 0 },
		{ "18446744073709.551615", 6, UINT64_MAX, 0, UINT64_MAX },
		{ "3.5", 6, 3500000, 0, 3500000 },
		{ "3.5", 6, 3499999, -ERANGE, 0 },
		{ "18446744073709.551616", 6, UINT64_MAX, -ERANGE, 0 },
		{ "18446744073710", 6, UINT64_MAX, -ERANGE, 0 },
		{ "1", 20, UINT64_MAX, -ERANGE, 0 },
		{ "0.0000001", 6, UINT64_MAX, -EINVAL, 0 },
		{ "0.1000000", 6, UINT64_MAX, -EINVAL, 0 },
		{ "1.0", 0, UINT64_MAX, -EINVAL, 0 },
		{ "", 6, UINT64_MAX, -EINVAL, 0 },
		{ ".", 6, UINT64_MAX, -EINVAL, 0 },
		{ ".5", 6, UINT64_MAX, -EINVAL, 0 },
		{ "5.", 6, UINT64_MAX, -EINVAL, 0 },
		{ "1.2.3", 6, UINT64_MAX, -EINVAL, 0 },
		{ "3,5", 6, UINT64_MAX, -EINVAL, 0 },
		{ "-1.0", 6, UINT64_MAX, -EINVAL, 0 },
		{ "+1.0", 6, UINT64_MAX, -EINVAL, 0 },
		{ " 1.0", 6, UINT64_MAX, -EINVAL, 0 },
		{ "1.0 ", 6, UINT64_MAX, -EINVAL, 0 },
		{ "1e3", 6, UINT64_MAX, -EINVAL, 0 },
		{ "nan", 6, UINT64_MAX, -EINVAL, 0 },
		{ "inf", 6, UINT64_MAX, -EINVAL, 0 },
		{ "99999999999999999999.x", 6, UINT64_MAX, -EINVAL, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t v = 99;

		if (sw_parse_decimal(cases[i].text, cases[i].digits, cases[i].max, &v) != cases[i].want)
			fail_msg("\"%s\"", cases[i].text);
		assert_true(v == (cases[i].want ? 99 : cases[i].value));
	}
}

/* One number of a text that goes on. */
static void take(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		uint64_t max;
		int want;
		uint64_t value;
		size_t taken;
	} cases[] = {
		{ "12 34", 5, UINT64_MAX, 0, 12, 2 },
		{ "1234", 3, UINT64_MAX, 0, 123, 3 },
		{ "12x", 3, UINT64_MAX, 0, 12, 2 },
		{ "12\0" "3", 4, UINT64_MAX, 0, 12, 2 },
		{ "0", 1, 0, 0, 0, 1 },
		{ "9999999999999999999 ", 20, UINT64_MAX, 0, 9999999999999999999u, 19 },
		{ "18446744073709551615,", 21, UINT64_MAX, 0, UINT64_MAX, 20 },
		{ "0000000000000000000018446744073709551615", 40, UINT64_MAX, 0, UINT64_MAX, 40 },
		{ "00000000000000000000000000000000000000007", 41, 7, 0, 7, 41 },
		{ "18446744073709551616", 20, UINT64_MAX, -ERANGE, 0, 20 },
		{ "99999999999999999999999999 1", 28, UINT64_MAX, -ERANGE, 0, 26 },
		{ "101 1", 5, 100, -ERANGE, 0, 3 },
		{ "1", 0, UINT64_MAX, -EINVAL, 0, 0 },
		{ " 1", 2, UINT64_MAX, -EINVAL, 0, 0 },
		{ "-1", 2, UINT64_MAX, -EINVAL, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *at = cases[i].text;
		uint64_t v = 99;

		if (sw_take_u64(&at, at + cases[i].n, cases[i].max, &v) != cases[i].want)
			fail_msg("\"%s\"", cases[i].text);
		assert_true(v == (cases[i].want ? 99 : cases[i].value));
		assert_int_equal(at - cases[i].text, cases[i].taken);
	}
}

struct seen {
	char text[256];
	unsigned stop_at;
};

static int note(unsigned cpu, void *ctx)
{
	struct seen *seen = ctx;
	size_t n = strlen(seen->text);

	snprintf(seen->text + n, sizeof(seen->text) - n, "%u ", cpu);
	return cpu == seen->stop_at ? 7 : 0;
}

static void cpulist(void **state)
{
	static const struct {
		const char *text;
		unsigned limit;
		int want;
		const char *seen;
	} cases[] = {
		{ "0-3,8,10-11\n", 12, 0, "0 1 2 3 8 10 11 " },
		{ "", 1, 0, "" },
		{ "\n", 1, 0, "" },
		{ "0", 1, 0, "0 " },
		{ "5-5", 6, 0, "5 " },
		{ "8,2", 9, 0, "8 2 " },
		{ "3-1", 9, -EINVAL, "" },
		{ "0,3-1", 9, -EINVAL, "" },
		{ "0,", 9, -EINVAL, "" },
		{ ",0", 9, -EINVAL, "" },
		{ "0,,1", 9, -EINVAL, "" },
		{ "0-", 9, -EINVAL, "" },
		{ "-3", 9, -EINVAL, "" },
		{ "0-1-2", 9, -EINVAL, "" },
		{ "0 1", 9, -EINVAL, "" },
		{ " 0", 9, -EINVAL, "" },
		{ "0\n\n", 9, -EINVAL, "" },
		{ "0x1", 9, -EINVAL, "" },
		{ "all", 9, -EINVAL, "" },
		{ "0-7:1/2", 9, -EINVAL, "" },
		{ "9", 9, -ERANGE, "" },
		{ "0,7-9", 9, -ERANGE, "" },
		{ "0-18446744073709551615", 9, -ERANGE, "" },
		{ "0-18446744073709551616", 9, -ERANGE, "" },
		{ "4294967296", 9, -ERANGE, "" }, /* 2^32: not CPU 0 */
		{ "99,x", 9, -EINVAL, "" },
		{ "0", 0, -ERANGE, "" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct seen seen = { .stop_at = UINT32_MAX };

		if (sw_parse_cpulist(cases[i].text, cases[i].limit, note, &seen) != cases[i].want)
			fail_msg("\"%s\"", cases[i].text);
		assert_string_equal(seen.text, cases[i].seen);
	}
}

static void cpulist_stops(void **state)
{
	struct seen seen = { .stop_at = 2 };

	(void)state;
	assert_int_equal(sw_parse_cpulist("0-3,8", 9, note, &seen), 7);
	assert_string_equal(seen.text, "0 1 2 ");
}

static void fail_words(void **state)
{
	struct sw_error e = { .text = "" };
	char longer[1000];

	(void)state;
	assert_int_equal(sw_fail(&e, -EINVAL, "cpu %d: %s", 3, "odd"), -EINVAL);
	assert_string_equal(e.text, "cpu 3: odd");
	assert_int_equal(sw_fail(&e, -EIO, "outer: %s", e.text), -EIO);
	assert_string_equal(e.text, "outer: cpu 3: odd");
	assert_int_equal(sw_fail(NULL, -ENOMEM, "%s", "nowhere"), -ENOMEM);

	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	sw_fail(&e, -EIO, "%s", longer);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(u64_good), cmocka_unit_test(u64_bad),       cmocka_unit_test(decimal),
		cmocka_unit_test(cpulist),  cmocka_unit_test(cpulist_stops), cmocka_unit_test(fail_words),
		cmocka_unit_test(take),
	};

	/* Where there is a locale with a decimal comma, everything above runs under it. */
	setlocale(LC_ALL, "de_DE.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what families, labels and numbers look like in both formats, whatever bytes they are made of. Relies on: the
 * examples of Prometheus's "Exposition formats" and of OpenMetrics 1.0.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/metrics.h"

static void assert_text(struct buf *b, const char *expected)
{
	assert_int_equal(b->err, 0);
	buf_add(b, "", 1);
	assert_string_equal(b->data, expected);
	buf_free(b);
}

static void write_families(struct buf *out, enum metrics_format format)
{
	struct metrics m = { .out = out, .format = format };
	struct buf labels = { 0 };

	metrics_label(&labels, "zone", "package-0");
	metrics_family(&m, "x_zone_joules", METRICS_COUNTER, "joules", "Energy of a \"zone\",\nback\\slash.");
	metrics_sample(&m, &labels, 1500000000, 9);
	metrics_sample_with(&m, &labels, "energy_quality", "measured", 3, 9);
	metrics_family(&m, "x_build", METRICS_INFO, NULL, "Version.");
	metrics_sample_with(&m, NULL, "version", "1.0", 1, 0);
	metrics_family(&m, "x_slots", METRICS_GAUGE, NULL, "Slots.");
	metrics_sample(&m, NULL, 0, 0);
	metrics_end(&m);
	buf_free(&labels);
}

static void test_text(void **state)
{
	struct buf out = { 0 };

	(void)state;
	write_families(&out, METRICS_TEXT);
	assert_text(&out, "# HELP x_zone_joules_total Energy of a \"zone\",\\nback\\\\slash.\n"
			  "# TYPE x_zone_joules_total counter\n"
			  "x_zone_joules_total{zone=\"package-0\"} 1.5\n"
			  "x_zone_joules_total{zone=\"package-0\",energy_quality=\"measured\"} 0.000000003\n"
			  "# HELP x_build_info Version.\n"
			  "# TYPE x_build_info gauge\n"
			  "x_build_info{version=\"1.0\"} 1\n"
			  "# HELP x_slots Slots.\n"
			  "# TYPE x_slots gauge\n"
			  "x_slots 0\n");
	assert_string_equal(metrics_content_type(METRICS_TEXT), "text/plain; version=0.0.4; charset=utf-8");
}

static void test_openmetrics(void **state)
{
	struct buf out = { 0 };

	(void)state;
	write_families(&out, METRICS_OPENMETRICS);
	assert_text(&out, "# HELP x_zone_joules Energy of a \\\"zone\\\",\\nback\\\\slash.\n"
			  "# TYPE x_zone_joules counter\n"
			  "# UNIT x_zone_joules joules\n"
			  "x_zone_joules_total{zone=\"package-0\"} 1.5\n"
			  "x_zone_joules_total{zone=\"package-0\",energy_quality=\"measured\"} 0.000000003\n"
			  "# HELP x_build Version.\n"
			  "# TYPE x_build info\n"
			  "x_build_info{version=\"1.0\"} 1\n"
			  "# HELP x_slots Slots.\n"
			  "# TYPE x_slots gauge\n"
			  "x_slots 0\n"
			  "# EOF\n");
	assert_string_equal(metrics_content_type(METRICS_OPENMETRICS),
			    "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

static void test_labels(void **state)
{
	static const struct {
		const char *value, *expected;
	} known[] = {
		{ "a\"b\\c", "k=\"a\\\"b\\\\c\"" },
		{ "a\nb\r\t", "k=\"a\\nb\r\t\"" },
		{ "\\u0041", "k=\"\\\\u0041\"" },
		{ "gr\xc3\xbc\xc3\x9f", "k=\"gr\xc3\xbc\xc3\x9f\"" },
		{ "a\xff\x62\xc3", "k=\"a\xef\xbf\xbd\x62\xef\xbf\xbd\"" },
		{ "\xed\xa0\x80", "k=\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "", "" },
		{ NULL, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct buf labels = { 0 };

		metrics_label(&labels, "k", known[i].value);
		assert_text(&labels, known[i].expected);
	}
}

/* Every length around the limit, with code points of one to four bytes: what is left is whole, and as much as fits. */
static void test_cut(void **state)
{
	static const char *const points[] = { "a", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x94\x8b", "\"" };

	(void)state;
	for (size_t p = 0; p < sizeof(points) / sizeof(points[0]); p++) {
		size_t size = strlen(points[p]);

		for (size_t shift = 0; shift < 4; shift++) {
			char value[1024] = "", expected[1024] = "k=\"";
			struct buf labels = { 0 };

			memset(value, 'x', shift);
			memset(expected + 3, 'x', shift);
			for (size_t i = 0; i < 200; i++)
				strcat(value, points[p]);
			for (size_t n = shift; n + size <= METRICS_LABEL_MAX && n < shift + 200 * size; n += size)
				strcat(strcat(expected, *points[p] == '"' ? "\\" : ""), points[p]);
			strcat(expected, "\"");
			metrics_label(&labels, "k", value);
			assert_text(&labels, expected);
		}
	}
}

/* 4478 bytes that are no UTF-8 grow threefold: the label is short all the same. */
static void test_cut_invalid(void **state)
{
	char value[4479];
	struct buf labels = { 0 };

	(void)state;
	memset(value, 0xff, sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	metrics_label(&labels, "k", value);
	assert_int_equal(labels.err, 0);
	assert_int_equal(labels.len, 4 + METRICS_LABEL_MAX / 3 * 3);
	buf_free(&labels);
}

static void test_numbers(void **state)
{
	static const struct {
		metrics_total value;
		unsigned digits;
		const char *expected;
	} known[] = {
		{ 0, 9, "x 0\n" },
		{ 1, 9, "x 0.000000001\n" },
		{ 10, 9, "x 0.00000001\n" },
		{ 1000000000, 9, "x 1\n" },
		{ 120000000050, 9, "x 120.00000005\n" },
		{ UINT64_MAX, 0, "x 18446744073709551615\n" },
		{ UINT64_MAX, 9, "x 18446744073.709551615\n" },
		{ (metrics_total)UINT64_MAX + 1, 9, "x 18446744073.709551616\n" },
		{ (metrics_total)UINT64_MAX * 1000000000 + 7, 9, "x 18446744073709551615.000000007\n" },
		{ ~(metrics_total)0, 0, "x 340282366920938463463374607431768211455\n" },
	};

	(void)state;
	if (!setlocale(LC_ALL, "de_DE.UTF-8"))
		print_message("no de_DE.UTF-8 here: numbers are seen in the C locale only\n");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct buf out = { 0 };
		struct metrics m = { .out = &out, .name = "x" };

		metrics_sample(&m, NULL, known[i].value, known[i].digits);
		assert_text(&out, known[i].expected);
	}
	setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text), cmocka_unit_test(test_openmetrics), cmocka_unit_test(test_labels),
		cmocka_unit_test(test_cut),  cmocka_unit_test(test_cut_invalid), cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

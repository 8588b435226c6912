/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how rows with columns stand in records and in text, and rows that are records of their own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/format.h"
#include "cli_fixture.h"
#include "row_fixture.h"

static void expect_real(double value, unsigned places, const char *shortest, const char *fixed)
{
	char text[FORMAT_MAX];

	assert_true(format_real(text, value, places));
	assert_string_equal(text, shortest);
	assert_true(format_real_fixed(text, value, places));
	assert_string_equal(text, fixed);
}

static void test_real(void **state)
{
	char text[FORMAT_MAX] = "untouched";

	(void)state;
	expect_real(0, 9, "0", "0.000000000");
	expect_real(-0.0, 3, "0", "0.000");
	expect_real(1.5, 1, "1.5", "1.5");
	expect_real(-1.25, 3, "-1.25", "-1.250");
	expect_real(1e-9, 9, "0.000000001", "0.000000001");
	expect_real(1e-10, 9, "0", "0.000000000");
	expect_real(-1e-10, 9, "0", "0.000000000");
	expect_real(0.96, 1, "1", "1.0");
	expect_real(0.5, 0, "1", "1");
	expect_real(1234567.891234567, 9, "1234567.891234567", "1234567.891234567");
	expect_real(9007199254740993.0, 9, "9007199254740992", "9007199254740992.000000000");
	expect_real(18446744073709549568.0, 9, "18446744073709549568", "18446744073709549568.000000000");
	assert_false(format_real(text, 18446744073709551616.0, 9));
	assert_false(format_real(text, -INFINITY, 9));
	assert_false(format_real(text, INFINITY, 9));
	assert_false(format_real_fixed(text, NAN, 9));
	assert_string_equal(text, "untouched");
}

/* The record from its lists of rows on. */
static void expect_tail(struct buf *b, const char *golden)
{
	static const char after[] = "\"window_flags\":[\"late\",\"no_energy\"]";
	const char *at;

	buf_add(b, "", 1);
	assert_int_equal(b->err, 0);
	at = strstr(b->data, after);
	assert_non_null(at);
	assert_string_equal(at + sizeof(after) - 1, golden);
	buf_clear(b);
}

#define THREAD "\"tid\":4243,\"pid\":4242,\"starttime\":77,\"oncpu_ns\":18446744073709551615}"

/* Ids always; what is absent, or is no number, is null. */
static void test_jsonl(void **state)
{
	struct recording rec = { .header = &fixture_header };
	struct row_table processes, threads;
	struct sw_data rows;
	struct buf b = { 0 };

	(void)state;
	row_processes(&processes, row_some);
	row_threads(&threads);
	processes.table.n_rows = 3;
	rows = (struct sw_data){ .processes = processes.table, .threads = threads.table };
	rec.columns = processes.list;
#define PROCESSES                                                                                              \
	",\"processes\":[{\"pid\":4242,\"starttime\":77,\"time\":1700000000000001,\"comm\":\"com,ma\","        \
	"\"signal\":18446744073709551615,\"cpuUsage\":null,\"joules\":1.234567891},"                           \
	"{\"pid\":1,\"starttime\":78,\"time\":null,\"comm\":null,\"signal\":null,\"cpuUsage\":null,"           \
	"\"joules\":null},"                                                                                    \
	"{\"pid\":2,\"starttime\":79,\"time\":-9223372036854775808,\"comm\":\"=1+1\",\"signal\":0,"            \
	"\"cpuUsage\":99.95,\"joules\":0.000000001}]"
	sink_jsonl.sample(&rec, &fixture_report, &rows, &b);
	expect_tail(&b, PROCESSES "}\n");
	rec.thread_columns = threads.list;
	sink_jsonl.sample(&rec, &fixture_report, &rows, &b);
	expect_tail(&b, PROCESSES ",\"threads\":[{" THREAD "]}\n");
	buf_free(&b);
}

static void test_flat_columns(void **state)
{
	struct recording rec = { .header = &fixture_header, .labels = fixture_labels, .n_labels = 2, .flat = true };
	struct row_table processes = { .table.n_rows = 2 }, threads;
	struct sw_data rows;
	struct buf b = { 0 };

	(void)state;
	row_add(&processes, "comm", row_comms, row_some, true);
	row_add(&processes, "pid", row_pids, row_all, false);
	row_threads(&threads);
	rows = (struct sw_data){ .processes = processes.table, .threads = threads.table };
	rec.columns = processes.list;
	rec.thread_columns = threads.list;
#define TIE "\"seq\":7,\"t_ns\":18446744073709551615,\"labels\":{\"job\":\"a\\\"b\",\"empty\":\"\"},"
	sink_jsonl.sample(&rec, &fixture_report, &rows, &b);
	expect_tail(&b, "}\n"
			"{\"type\":\"process\"," TIE "\"pid\":4242,\"comm\":\"com,ma\"}\n"
			"{\"type\":\"process\"," TIE "\"pid\":1,\"comm\":null}\n"
			"{\"type\":\"thread\"," TIE THREAD "\n");
	buf_free(&b);
}

/* As many lines as there were rows in the lists, with the fields that they had there. */
static void test_flat_report(void **state)
{
	static const char *const wanted[] = {
		"\n{\"type\":\"process\",\"seq\":7,\"t_ns\":18446744073709551615,\"pid\":null,\"host_pid\":4000077,",
		"\n{\"type\":\"process\",\"seq\":7,\"t_ns\":18446744073709551615,\"pid\":7,",
		"\n{\"type\":\"thread\",\"seq\":7,\"t_ns\":18446744073709551615,\"pid\":5,\"host_pid\":105,\"tid\":5,",
		"\n{\"type\":\"cgroup\",\"seq\":7,\"t_ns\":18446744073709551615,\"path\":\"/a\",\"id\":20,",
		"\n{\"type\":\"comm\",\"seq\":7,\"t_ns\":18446744073709551615,\"comm\":\"cc1\",\"processes\":12,"
		"\"oncpu_ns\":1500000000,\"joules\":6}\n",
	};
	struct recording rec = { .header = &fixture_header, .flat = true };
	struct sw_report r = fixture_report;
	struct buf b = { 0 };
	size_t lines = 0;

	(void)state;
	fixture_rows(&r);
	sink_jsonl.sample(&rec, &r, NULL, &b);
	buf_add(&b, "", 1);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_non_null(strstr(b.data, wanted[i]));
	assert_null(strstr(b.data, "\"processes\":["));
	assert_null(strstr(b.data, "\"labels\""));
	for (const char *at = b.data; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 1 + FIXTURE_FAMILY + FIXTURE_THREADS + FIXTURE_CGROUPS + 2);
	buf_free(&b);
}

static void expect_text(struct buf *b, const char *golden)
{
	buf_add(b, "", 1);
	assert_int_equal(b->err, 0);
	assert_string_equal(b->data, golden);
	buf_clear(b);
}

/* Names with the first window and every twentieth; no escape sequence reaches the terminal; numbers to the right. */
static void test_text(void **state)
{
	struct recording rec = { .header = &fixture_header };
	struct sw_report r = fixture_report;
	struct row_table processes;
	struct sw_data rows;
	struct buf b = { 0 };

	(void)state;
	row_processes(&processes, row_all);
	rec.columns = processes.list;
	rows = (struct sw_data){ .processes = processes.table };
#define NAMES "             time comm             signal cpuUsage      joules\n"
#define LINES                                                                           \
	" 1700000000000001 com,ma          18446744073709551615        -    1.234568\n"  \
	" 9223372036854775807 q\"u             18446744073709551614        -    7.000000\n" \
	" -9223372036854775808 =1+1                  0    100.0    0.000000\n"         \
	"                0 two??lines            1        -    7.000000\n"             \
	" 1700000000000005 caf\xc3\xa9\xef\xbf\xbd?[31m      9007199254740993      0.0 123456.500000\n"
	sink_text.sample(&rec, &r, &rows, &b);
	expect_text(&b, LINES);
	r.seq = 0;
	sink_text.sample(&rec, &r, &rows, &b);
	expect_text(&b, NAMES LINES);
	r.seq = 20;
	sink_text.sample(&rec, &r, &rows, &b);
	expect_text(&b, NAMES LINES);
	buf_free(&b);
}

/* No limit is the usual value of one column; and a line ends with what is last in it. */
static void test_text_widths(void **state)
{
	struct recording rec = { .header = &fixture_header };
	struct sw_report r = fixture_report;
	struct row_table processes = { .table.n_rows = 2 };
	struct sw_data rows;
	struct buf b = { 0 };

	(void)state;
	r.seq = 0;
	row_add(&processes, "rsslim", row_signal, row_all, true);
	row_add(&processes, "comm", row_comms, row_some, true);
	rec.columns = processes.list;
	rows = (struct sw_data){ .processes = processes.table };
	sink_text.sample(&rec, &r, &rows, &b);
	expect_text(&b, "               rsslim comm\n"
			" 18446744073709551615 com,ma\n"
			" 18446744073709551614 -\n");
	buf_free(&b);
}

/* Both kinds of rows say which they are, and a model's energy is marked. */
static void test_text_threads(void **state)
{
	struct sw_header h = fixture_header;
	struct recording rec = { .header = &h };
	struct sw_report r = fixture_report;
	struct row_table processes = { .table.n_rows = 2 }, threads;
	struct sw_data rows;
	struct buf b = { 0 };

	(void)state;
	h.energy_quality = "modelled";
	r.seq = 0;
	row_add(&processes, "comm", row_comms, row_some, true);
	row_add(&processes, "joules", row_joules, row_some, true);
	row_threads(&threads);
	threads.columns[0].present = row_some + 1;
	rec.columns = processes.list;
	rec.thread_columns = threads.list;
	rows = (struct sw_data){ .processes = processes.table, .threads = threads.table };
	sink_text.sample(&rec, &r, &rows, &b);
	expect_text(&b, "process  comm                 joules\n"
			"thread       oncpu_ns     tid\n"
			"process  com,ma            ~1.234568\n"
			"process  -                         -\n"
			"thread              -    4243\n");
	sink_text.header(&rec, &b);
	buf_add(&b, "", 1);
	assert_non_null(strstr(b.data, "back end ebpf"));
	assert_null(strstr(b.data, "busiest"));
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real),        cmocka_unit_test(test_jsonl),
		cmocka_unit_test(test_flat_columns), cmocka_unit_test(test_flat_report),
		cmocka_unit_test(test_text),        cmocka_unit_test(test_text_threads),
		cmocka_unit_test(test_text_widths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

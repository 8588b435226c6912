/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: that rows are a table as RFC 4180 has it: as many fields on every line, each quoted where it must be, nothing
 * where a value is absent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli_fixture.h"
#include "row_fixture.h"

static void expect(struct buf *b, const char *golden)
{
	buf_add(b, "", 1);
	assert_int_equal(b->err, 0);
	assert_string_equal(b->data, golden);
	buf_clear(b);
}

static void write_rows(const struct sink *sink, const struct recording *rec, struct row_table *processes,
		       struct row_table *threads, struct buf *b)
{
	struct sw_data rows = { .processes = processes->table };

	if (threads)
		rows.threads = threads->table;
	sink->sample(rec, &fixture_report, &rows, b);
}

/* CR LF ends each line; text that holds a comma, a quote or a line end is quoted, and no other. */
static void test_table(void **state)
{
	struct recording rec = { .header = &fixture_header };
	struct row_table t;
	struct buf b = { 0 };

	(void)state;
	row_processes(&t, row_all);
	rec.columns = t.list;
	sink_csv.header(&rec, &b);
	expect(&b, "time,comm,signal,cpuUsage,joules\r\n");
	write_rows(&sink_csv, &rec, &t, NULL, &b);
	expect(&b, "1700000000000001,\"com,ma\",18446744073709551615,,1.234567891\r\n"
		   "9223372036854775807,\"q\"\"u\",18446744073709551614,,7\r\n"
		   "-9223372036854775808,=1+1,0,99.95,0.000000001\r\n"
		   "0,\"two\r\nlines\",1,,7\r\n"
		   "1700000000000005,caf\xc3\xa9\xef\xbf\xbd\x1b[31m,9007199254740993,0,123456.5\r\n");
	sink_csv.summary(&rec, &fixture_summary, &b);
	expect(&b, "");
	buf_free(&b);
}

static void test_absent(void **state)
{
	static const uint8_t none[ROWS];
	struct recording rec = { .header = &fixture_header };
	struct row_table t;
	struct buf b = { 0 };

	(void)state;
	row_processes(&t, none);
	rec.columns = t.list;
	write_rows(&sink_csv, &rec, &t, NULL, &b);
	expect(&b, ",,,,\r\n,,,,\r\n,,,,\r\n,,,,\r\n,,,,\r\n");
	buf_free(&b);
}

/* One column: a line without anything would be no row; and a name of no bytes is not one that is absent. */
static void test_one_column(void **state)
{
	struct recording rec = { .header = &fixture_header };
	struct row_table t = { .table.n_rows = ROWS };
	struct buf b = { 0 };

	(void)state;
	row_add(&t, "joules", row_joules, row_some, true);
	rec.columns = t.list;
	write_rows(&sink_csv, &rec, &t, NULL, &b);
	expect(&b, "1.234567891\r\n\"\"\r\n0.000000001\r\n\"\"\r\n123456.5\r\n");

	t = (struct row_table){ .table.n_rows = 2 };
	row_add(&t, "comm", row_empty, row_some, true);
	row_add(&t, "pid", row_pids, row_all, true);
	rec.columns = t.list;
	write_rows(&sink_csv, &rec, &t, NULL, &b);
	expect(&b, "\"\",4242\r\n,1\r\n");
	buf_free(&b);
}

static void test_labels_and_units(void **state)
{
	struct recording rec = {
		.header = &fixture_header,
		.labels = fixture_labels,
		.n_labels = 2,
		.csv_units = true,
	};
	struct row_table t = { .table.n_rows = 2 };
	struct buf b = { 0 };

	(void)state;
	row_add(&t, "time", row_times, row_some, true);
	row_add(&t, "joules", row_joules, row_all, true);
	row_add(&t, "pid", row_pids, row_all, false);
	rec.columns = t.list;
	sink_csv.header(&rec, &b);
	expect(&b, "time,joules,job,empty\r\nus,J,none,none\r\n");
	write_rows(&sink_csv, &rec, &t, NULL, &b);
	expect(&b, "1700000000000001,1.234567891,\"a\"\"b\",\"\"\r\n,7,\"a\"\"b\",\"\"\r\n");
	buf_free(&b);
}

/* The second table has the threads, and nothing of the first. */
static void test_threads(void **state)
{
	struct recording rec = { .header = &fixture_header };
	struct row_table processes, threads;
	struct buf b = { 0 };

	(void)state;
	assert_ptr_equal(sink_csv.threads, &sink_csv_threads);
	assert_null(sink_csv_threads.threads);
	assert_null(sink_jsonl.threads);
	row_processes(&processes, row_all);
	row_threads(&threads);
	rec.columns = processes.list;
	rec.thread_columns = threads.list;
	sink_csv_threads.header(&rec, &b);
	expect(&b, "oncpu_ns,tid\r\n");
	write_rows(&sink_csv_threads, &rec, &processes, &threads, &b);
	expect(&b, "18446744073709551615,4243\r\n");
	sink_csv_threads.summary(&rec, &fixture_summary, &b);
	expect(&b, "");
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_one_column),
		cmocka_unit_test(test_labels_and_units),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

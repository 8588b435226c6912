/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which columns and rows a command line asks for, that they are the library's, and which options about them
 * exclude one another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "command_line.h"

#define STANDARD       "time,pid,ppid,comm,state,oncpu_ns,joules,watts"
#define STANDARD_TASKS "time,pid,tid,comm,state,oncpu_ns,joules"

/* `wanted` with commas between; NULL: none at all. Each with the library's own description. */
static void expect_columns(const struct column_list *list, const char *const *names, size_t n, const char *wanted)
{
	char joined[512] = "";

	assert_int_equal(list->n, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(list->columns[i]->name, names[i]);
		snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "%s%s", i ? "," : "", names[i]);
	}
	assert_string_equal(joined, wanted ? wanted : "");
}

static void expect(enum command command, const char *const *args, uint32_t by, const char *processes,
		   const char *threads)
{
	struct sw_options lib;
	struct result r;

	parse(&r, command, args);
	assert_string_equal(r.capture.said, "");
	assert_int_equal(r.err, 0);
	options_to_library(&r.o, &lib);
	assert_int_equal(lib.by, by);
	expect_columns(&r.o.columns, lib.process_columns, lib.n_process_columns, processes);
	expect_columns(&r.o.thread_columns, lib.thread_columns, lib.n_thread_columns, threads);
	options_free(&r.o);
}

static void test_columns(void **state)
{
	const uint32_t both = SW_BY_PROCESS | SW_BY_THREAD;

	(void)state;
	/* nobody asks, nothing is read */
	expect(COMMAND_MONITOR, ARGS("-f", "jsonl"), 0, NULL, NULL);
	expect(COMMAND_MONITOR, ARGS("-f", "jsonl", "--flat", "--threads"), both, NULL, NULL);
	expect(COMMAND_MONITOR, ARGS("--columns", "joules,time"), SW_BY_PROCESS, "joules,time", NULL);
	expect(COMMAND_MONITOR, ARGS("--by", "process", "--columns", "memUsage", "--columns=size,comm"), SW_BY_PROCESS,
	       "memUsage,size,comm", NULL);
	expect(COMMAND_MONITOR, ARGS("--columns", "utime", "--threads"), both, "utime", STANDARD_TASKS);
	expect(COMMAND_MONITOR, ARGS("--thread-columns", "utime"), both, STANDARD, "utime");
	expect(COMMAND_RUN, ARGS("-o", "x", "--thread-columns", "time,cpuUsage", "--columns", "time", "true"), both, "time",
	       "time,cpuUsage");
}

static void test_csv(void **state)
{
	struct result r;

	(void)state;
	expect(COMMAND_MONITOR, ARGS("-fcsv"), SW_BY_PROCESS, STANDARD, NULL);
	expect(COMMAND_MONITOR, ARGS("-fcsv", "-o/dev/null", "--thread-output=/dev/null"), SW_BY_PROCESS | SW_BY_THREAD,
	       STANDARD, STANDARD_TASKS);
	expect(COMMAND_RUN, ARGS("-fcsv", "--thread-output", "t", "true"), SW_BY_PROCESS | SW_BY_THREAD, STANDARD,
	       STANDARD_TASKS);
	parse(&r, COMMAND_MONITOR, ARGS("-f", "csv", "--thread-columns", "comm", "--thread-output", "-", "-o", "p.csv",
					"--csv-units", "--label", "joule=1"));
	assert_int_equal(r.err, 0);
	assert_ptr_equal(r.o.sink, &sink_csv);
	assert_true(r.o.csv_units);
	assert_false(r.o.flat);
	assert_string_equal(r.o.thread_output, "-");
	options_free(&r.o);
}

#define REFUSE_COLUMNS(said, ...) refuse_with(COMMAND_MONITOR, "schedwatt: " said "\n", ARGS(__VA_ARGS__))

static void test_refused_columns(void **state)
{
	char name[301];

	(void)state;
	REFUSE_COLUMNS("--columns: column 'utme' is not known; the nearest is 'utime', and `schedwatt columns` lists all",
		       "--columns", "time,utme");
	REFUSE_COLUMNS("--thread-columns: column 'Comm' is not known; the nearest is 'comm', and `schedwatt columns` lists "
		       "all", "--thread-columns", "Comm");
	REFUSE_COLUMNS("--columns: the name of a column is empty; write NAME[,NAME...], and `schedwatt columns` lists all",
		       "--columns", "time,");
	REFUSE_COLUMNS("--columns: the name of a column is empty; write NAME[,NAME...], and `schedwatt columns` lists all",
		       "--columns", "");
	REFUSE_COLUMNS("--columns: column 'time' is asked for twice; name it once", "--columns", "time", "--columns",
		       "pid,time");
	REFUSE_COLUMNS("--thread-columns: column 'resident' is there for processes only; `schedwatt columns` says which "
		       "rows have it", "--thread-columns", "resident");
	/* the nearest is one that rows of this kind have: not `size`, which is nearer */
	REFUSE_COLUMNS("--thread-columns: column 'sizes' is not known; the nearest is 'vsize', and `schedwatt columns` lists "
		       "all", "--thread-columns", "sizes");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	refuse(COMMAND_MONITOR, "column 'xxxxxxxx", ARGS("--columns", name));
	refuse(COMMAND_COMPARE, "--columns", ARGS("-p", "1", "--columns", "time"));
	refuse(COMMAND_CALIBRATE, "--flat", ARGS("--flat"));
}

static void test_refused_together(void **state)
{
	(void)state;
	refuse(COMMAND_RUN, "--columns is about records", ARGS("--columns", "time", "true"));
	refuse(COMMAND_RUN, "--thread-columns is about records", ARGS("--thread-columns", "time", "true"));
	refuse(COMMAND_RUN, "--flat is about records", ARGS("--flat", "true"));
	refuse(COMMAND_MONITOR, "--flat is for jsonl", ARGS("--flat"));
	refuse(COMMAND_MONITOR, "--flat is for jsonl", ARGS("--flat", "-f", "csv"));
	refuse(COMMAND_MONITOR, "--csv-units is for csv", ARGS("--csv-units", "-f", "jsonl"));
	refuse(COMMAND_MONITOR, "--thread-output 'x' is for csv", ARGS("--thread-output", "x", "-f", "jsonl"));
	refuse(COMMAND_MONITOR, "add --thread-output FILE", ARGS("--threads", "-f", "csv"));
	refuse(COMMAND_MONITOR, "add --thread-output FILE", ARGS("--thread-columns", "comm", "-f", "csv"));
	refuse(COMMAND_MONITOR, "'-' is where the rows of processes go", ARGS("--thread-output", "-", "-f", "csv"));
	refuse(COMMAND_RUN, "'x' is where the rows of processes go",
	       ARGS("--thread-output", "x", "-ox", "-f", "csv", "true"));
	for (size_t i = 0; i < 3; i++) {
		static const char *const by[] = { "thread", "cgroup", "comm" };

		refuse(COMMAND_MONITOR, "leave --by out, or use -f jsonl", ARGS("-f", "csv", "--by", by[i]));
		refuse(COMMAND_MONITOR, "leave --by out\n", ARGS("--columns", "time", "--by", by[i]));
	}
	refuse(COMMAND_COMPARE, "run and monitor have", ARGS("-p", "1", "-f", "csv"));
	refuse(COMMAND_COLUMNS, "run and monitor have", ARGS("-f", "csv"));
	refuse(COMMAND_MONITOR, "--label 'watts=1'", ARGS("-f", "csv", "--label", "watts=1"));
	refuse(COMMAND_MONITOR, "--label 'tid=1'", ARGS("-f", "csv", "--label", "tid=1", "--thread-output", "x"));
	expect(COMMAND_MONITOR, ARGS("-f", "jsonl", "--columns", "watts", "--label", "watts=1"), SW_BY_PROCESS, "watts",
	       NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_refused_columns),
		cmocka_unit_test(test_refused_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

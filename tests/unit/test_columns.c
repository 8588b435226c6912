/* SPDX-License-Identifier: BSD-2-Clause */
/* counters/columns.c: the table holds what the documentation promises, and queries name what they cannot have. */
#include "../../src/counters/columns.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* As the documentation lists them. */
static const char *const names[] = {
	"time", "pid", "tid", "comm", "state", "ppid", "pgrp", "session", "tty_nr", "tpgid", "flags", "minflt",
	"cminflt", "majflt", "cmajflt", "utime", "stime", "cutime", "cstime", "priority", "nice", "num_threads", "itrealvalue",
	"starttime", "vsize", "rss", "rsslim", "startcode", "endcode", "startstack", "kstkesp", "kstkeip", "signal",
	"blocked", "sigignore", "sigcatch", "wchan", "nswap", "cnswap", "exit_signal", "processor", "rt_priority",
	"policy", "delayacct_blkio_ticks", "guest_time", "cguest_time", "start_data", "end_data", "start_brk",
	"arg_start", "arg_end", "env_start", "env_end", "exit_code", "size", "resident", "share", "trs", "lrs", "drs",
	"dt", "cpuUsage", "memUsage", "oncpu_ns", "joules", "watts",
};

enum { N = sizeof(names) / sizeof(names[0]) };

static const struct sw_column *column(const char *name)
{
	size_t n;
	const struct sw_column *c = sw_columns(&n);

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(c[i].name, name))
			return &c[i];
	}
	fail_msg("no column %s", name);
	return NULL;
}

static void all_in_order(void **state)
{
	static const char *const units[] = { "ticks", "pages", "bytes", "us", "ns", "J", "W", "%", "ratio", "number",
					     "address", "none" };
	const struct sw_column *c;
	size_t n = 0, u;

	(void)state;
	c = sw_columns(&n);
	assert_int_equal(n, N);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(c[i].name, names[i]);
		assert_true(c[i].source && c[i].source[0]);
		assert_in_range(c[i].type, SW_TYPE_I64, SW_TYPE_TEXT);
		assert_true(c[i].kinds & SW_COLUMN_OF_PROCESS);
		for (u = 0; u < sizeof(units) / sizeof(units[0]) && strcmp(units[u], c[i].unit); u++)
			;
		assert_true(u < sizeof(units) / sizeof(units[0]));
		assert_int_equal(!strcmp(c[i].unit, "none"), c[i].type == SW_TYPE_TEXT);
	}
}

static void expect(const char *name, uint32_t type, const char *unit, const char *source, uint32_t kinds,
		   uint32_t origin)
{
	const struct sw_column *c = column(name);

	assert_int_equal(c->type, type);
	assert_string_equal(c->unit, unit);
	assert_string_equal(c->source, source);
	assert_int_equal(c->kinds, kinds);
	assert_int_equal(c->origin, origin);
}

static void what_they_are(void **state)
{
	const uint32_t both = SW_COLUMN_OF_PROCESS | SW_COLUMN_OF_THREAD;

	(void)state;
	expect("time", SW_TYPE_I64, "us", "schedwatt", both, SW_COLUMN_READ);
	expect("pid", SW_TYPE_I64, "number", "proc_pid(5)", both, SW_COLUMN_READ);
	expect("comm", SW_TYPE_TEXT, "none", "proc_pid_stat(5) field 2", both, SW_COLUMN_READ);
	expect("ppid", SW_TYPE_I64, "number", "proc_pid_stat(5) field 4", both, SW_COLUMN_READ);
	expect("flags", SW_TYPE_U64, "number", "proc_pid_stat(5) field 9", both, SW_COLUMN_READ);
	expect("utime", SW_TYPE_U64, "ticks", "proc_pid_stat(5) field 14", both, SW_COLUMN_READ);
	expect("cstime", SW_TYPE_I64, "ticks", "proc_pid_stat(5) field 17", both, SW_COLUMN_READ);
	expect("priority", SW_TYPE_I64, "number", "proc_pid_stat(5) field 18", both, SW_COLUMN_READ);
	expect("starttime", SW_TYPE_U64, "ticks", "proc_pid_stat(5) field 22", both, SW_COLUMN_READ);
	expect("vsize", SW_TYPE_U64, "bytes", "proc_pid_stat(5) field 23", both, SW_COLUMN_READ);
	expect("rss", SW_TYPE_I64, "pages", "proc_pid_stat(5) field 24", both, SW_COLUMN_READ);
	expect("rsslim", SW_TYPE_U64, "bytes", "proc_pid_stat(5) field 25", both, SW_COLUMN_READ);
	expect("startcode", SW_TYPE_U64, "address", "proc_pid_stat(5) field 26", both, SW_COLUMN_READ);
	expect("kstkeip", SW_TYPE_U64, "address", "proc_pid_stat(5) field 30", both, SW_COLUMN_READ);
	expect("signal", SW_TYPE_U64, "number", "proc_pid_stat(5) field 31", both, SW_COLUMN_READ);
	expect("wchan", SW_TYPE_U64, "address", "proc_pid_stat(5) field 35", both, SW_COLUMN_READ);
	expect("nswap", SW_TYPE_U64, "pages", "proc_pid_stat(5) field 36", both, SW_COLUMN_READ);
	expect("delayacct_blkio_ticks", SW_TYPE_U64, "ticks", "proc_pid_stat(5) field 42", both, SW_COLUMN_READ);
	expect("env_end", SW_TYPE_U64, "address", "proc_pid_stat(5) field 51", both, SW_COLUMN_READ);
	expect("exit_code", SW_TYPE_I64, "number", "proc_pid_stat(5) field 52", both, SW_COLUMN_READ);
	expect("size", SW_TYPE_U64, "pages", "proc_pid_statm(5)", SW_COLUMN_OF_PROCESS, SW_COLUMN_READ);
	expect("dt", SW_TYPE_U64, "pages", "proc_pid_statm(5)", SW_COLUMN_OF_PROCESS, SW_COLUMN_READ);
	expect("cpuUsage", SW_TYPE_F64, "%", "schedwatt", both, SW_COLUMN_DERIVED);
	expect("memUsage", SW_TYPE_F64, "ratio", "schedwatt", both, SW_COLUMN_DERIVED);
	expect("oncpu_ns", SW_TYPE_U64, "ns", "schedwatt", both, SW_COLUMN_ACCOUNTED);
	expect("joules", SW_TYPE_F64, "J", "schedwatt", both, SW_COLUMN_ACCOUNTED);
	expect("watts", SW_TYPE_F64, "W", "schedwatt", both, SW_COLUMN_ACCOUNTED);
}

static void expect_query(const struct sw_query *q, uint32_t kind, const char *list)
{
	size_t n, length;
	const struct sw_column *c = sw_columns(&n);

	assert_int_equal(q->kind, kind);
	for (unsigned i = 0; i < q->n; i++) {
		length = strlen(c[q->column[i]].name);
		assert_int_equal(strncmp(list, c[q->column[i]].name, length), 0);
		list += length;
		assert_int_equal(*list, i + 1 < q->n ? ',' : '\0');
		list++;
	}
}

static void queries(void **state)
{
	static const char *const chosen[] = { "joules", "time", "dt" };
	struct sw_error e = { "" };
	struct sw_query q;

	(void)state;
	assert_int_equal(sw_query_from_list(SW_COLUMN_OF_PROCESS, NULL, &q, &e), 0);
	expect_query(&q, SW_COLUMN_OF_PROCESS, "time,pid,ppid,comm,state,oncpu_ns,joules,watts");
	assert_int_equal(sw_query_from_names(SW_COLUMN_OF_THREAD, NULL, 0, &q, &e), 0);
	expect_query(&q, SW_COLUMN_OF_THREAD, "time,pid,tid,comm,state,oncpu_ns,joules");
	assert_int_equal(sw_query_from_list(SW_COLUMN_OF_PROCESS, "watts,cpuUsage,memUsage,size,utime", &q, &e), 0);
	expect_query(&q, SW_COLUMN_OF_PROCESS, "watts,cpuUsage,memUsage,size,utime");
	assert_int_equal(sw_query_from_list(SW_COLUMN_OF_THREAD, "rss", &q, NULL), 0);
	expect_query(&q, SW_COLUMN_OF_THREAD, "rss");
	assert_int_equal(sw_query_from_names(SW_COLUMN_OF_PROCESS, chosen, 3, &q, &e), 0);
	expect_query(&q, SW_COLUMN_OF_PROCESS, "joules,time,dt");
	assert_int_equal(sw_query_from_names(SW_COLUMN_OF_PROCESS, names, N, &q, &e), 0);
	assert_int_equal(q.n, N);
	for (unsigned i = 0; i < q.n; i++)
		assert_int_equal(q.column[i], i);
	assert_string_equal(e.text, "");
}

static void refused(uint32_t kind, const char *list, const char *words)
{
	struct sw_query q = { .n = 77 };
	struct sw_error e = { "" };

	assert_int_equal(sw_query_from_list(kind, list, &q, &e), -EINVAL);
	assert_string_equal(e.text, words);
	assert_int_equal(q.n, 77);
	assert_int_equal(sw_query_from_list(kind, list, &q, NULL), -EINVAL);
}

static void bad_queries(void **state)
{
	static const char *const with_comma[] = { "time", "time,pid" };
	struct sw_error e = { "" };
	struct sw_query q;
	char *endless;

	(void)state;
#define UNKNOWN(name, nearest) \
	"column '" name "' is not known; the nearest is '" nearest "', and `schedwatt columns` lists all"
#define EMPTY "the name of a column is empty; write NAME[,NAME...], and `schedwatt columns` lists all"
	refused(SW_COLUMN_OF_PROCESS, "time,utme", UNKNOWN("utme", "utime"));
	refused(SW_COLUMN_OF_PROCESS, "cpuusage", UNKNOWN("cpuusage", "cpuUsage"));
	refused(SW_COLUMN_OF_PROCESS, "Joules", UNKNOWN("Joules", "joules"));
	refused(SW_COLUMN_OF_PROCESS, "siz", UNKNOWN("siz", "size"));
	refused(SW_COLUMN_OF_PROCESS, "num-threads", UNKNOWN("num-threads", "num_threads"));
	refused(SW_COLUMN_OF_PROCESS, " pid", UNKNOWN(" pid", "pid"));
	refused(SW_COLUMN_OF_PROCESS, "", EMPTY);
	refused(SW_COLUMN_OF_PROCESS, "pid,", EMPTY);
	refused(SW_COLUMN_OF_PROCESS, ",pid", EMPTY);
	refused(SW_COLUMN_OF_THREAD, "vsiz", UNKNOWN("vsiz", "vsize"));
	refused(SW_COLUMN_OF_THREAD, "time,resident", "column 'resident' is there for processes only, not for threads");
	refused(SW_COLUMN_OF_PROCESS, "time,pid,time", "column 'time' is asked for twice; name it once");
	assert_int_equal(sw_query_from_names(SW_COLUMN_OF_PROCESS, with_comma, 2, &q, &e), -EINVAL);
	assert_string_equal(e.text, UNKNOWN("time,pid", "time"));

	endless = malloc(100001);
	assert_non_null(endless);
	memset(endless, 'x', 100000);
	endless[100000] = '\0';
	assert_int_equal(sw_query_from_list(SW_COLUMN_OF_PROCESS, endless, &q, &e), -EINVAL);
	free(endless);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_in_order), cmocka_unit_test(what_they_are), cmocka_unit_test(queries),
		cmocka_unit_test(bad_queries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

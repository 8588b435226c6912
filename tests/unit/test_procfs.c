/* SPDX-License-Identifier: BSD-2-Clause */
/* base/procfs.c: kernel files as they have been seen, as old and new kernels write them, and as none may be read. */
#include "../../src/base/procfs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define U64_MAX_TEXT "18446744073709551615"

/* In a block of just its size, so that a sanitized build sees a read behind it. */
static char *exact(const char *text, size_t n)
{
	char *copy = malloc(n ? n : 1);

	assert_non_null(copy);
	memcpy(copy, text, n);
	return copy;
}

static int parse_stat_bytes(const char *text, size_t n, struct sw_proc_stat *ret)
{
	char *copy = exact(text, n);
	int err = sw_proc_stat_parse(copy, n, ret);

	free(copy);
	return err;
}

static int parse_stat(const char *text, struct sw_proc_stat *ret)
{
	return parse_stat_bytes(text, strlen(text), ret);
}

/* Lines that other programs took for something else. */
static void stat_seen(void **state)
{
	struct sw_proc_stat s;

	(void)state;
	assert_int_equal(parse_stat("83875 (sleep (2) .sh) S 75750 83875 75750 34824 83875 4194304 173 0 0 0 0 0 0 0 "
				    "20 0 1 0 18366278 23187456 821 18446744073709551615 94424231874560 94424232638561 "
				    "140734866834816 0 0 0 65536 4 65538 1 0 0 17 6 0 0 0 0 0 94424232876752 "
				    "94424232924772 94424259932160 140734866837287 140734866837313 140734866837313 "
				    "140734866841576 0\n", &s), 0);
	assert_int_equal(s.n_fields, SW_PROC_STAT_N_FIELDS);
	assert_int_equal(s.pid, 83875);
	assert_string_equal(s.comm, "sleep (2) .sh");
	assert_int_equal(s.state, 'S');
	assert_int_equal(s.ppid, 75750);
	assert_int_equal(s.pgrp, 83875);
	assert_int_equal(s.session, 75750);
	assert_int_equal(s.tty_nr, 34824);
	assert_int_equal(s.flags, 4194304);
	assert_int_equal(s.minflt, 173);
	assert_int_equal(s.priority, 20);
	assert_int_equal(s.num_threads, 1);
	assert_int_equal(s.starttime, 18366278);
	assert_int_equal(s.vsize, 23187456);
	assert_int_equal(s.rss, 821);
	assert_true(s.rsslim == UINT64_MAX);
	assert_true(s.startcode == 94424231874560);
	assert_int_equal(s.blocked, 65536);
	assert_int_equal(s.wchan, 1);
	assert_int_equal(s.exit_signal, 17);
	assert_int_equal(s.processor, 6);
	assert_true(s.env_end == 140734866841576);
	assert_int_equal(s.exit_code, 0);

	assert_int_equal(parse_stat("1591 (Plex Media Serv) S 1 1591 1591 0 -1 1077952768 19063 0 306 0 257 95 0 0 20 "
				    "0 17 0 1353 596594688 13330", &s), 0);
	assert_int_equal(s.n_fields, 24);
	assert_string_equal(s.comm, "Plex Media Serv");
	assert_int_equal(s.tpgid, -1);
	assert_int_equal(s.utime, 257);
	assert_int_equal(s.stime, 95);
	assert_int_equal(s.num_threads, 17);
	assert_int_equal(s.rss, 13330);
	assert_true(SW_PROC_STAT_HAS(&s, rss));
	assert_false(SW_PROC_STAT_HAS(&s, rsslim));

	/* limits of 2^64 - 1, and flags over 2^31 */
	assert_int_equal(parse_stat("1 (service) S 0 1 1 0 -1 2151686400 4345 0 1 0 13 17 0 0 20 0 5 0 346180303 "
				    "732237824 2193 18446744073709551615 4194304 9876697 140737276107232 "
				    "140737276105984 4665027 0 0 0 2143420159 18446744073709551615 0 0 17 4 0 0 1 0 0 "
				    "14888960 15220704 24559616 140737276112712 140737276112721 140737276112721 "
				    "140737276112879 0\n", &s), 0);
	assert_int_equal(s.utime, 13);
	assert_int_equal(s.stime, 17);
	assert_int_equal(s.num_threads, 5);
	assert_int_equal(s.rss, 2193);
	assert_true(s.rsslim == UINT64_MAX && s.wchan == UINT64_MAX);
	assert_int_equal(s.sigcatch, 2143420159);
	assert_true(s.flags == 2151686400);
	assert_int_equal(s.delayacct_blkio_ticks, 1);
}

/* Each field has a number of its own, so that none can be taken for another. */
static void stat_fields_in_order(void **state)
{
	char line[512] = "1 (x) R", want[512] = "";
	struct sw_proc_stat s;
	size_t at = strlen(line), n = 0;

	(void)state;
	for (int number = 4; number <= 52; number++)
		at += (size_t)snprintf(line + at, sizeof(line) - at, " %d", 1000 + number);
	assert_int_equal(parse_stat(line, &s), 0);
#define X(number, name, type)                                                                \
	assert_int_equal(s.name, 1000 + (number));                                           \
	assert_int_equal(SW_PROC_STAT_NUMBER(name), number);                                 \
	n += (size_t)snprintf(want + n, sizeof(want) - n, " %lld", (long long)s.name);
	SW_PROC_STAT_FIELDS(X)
#undef X
	assert_string_equal(line + strlen("1 (x) R"), want);
}

/* A line in which one field is `text` and the others are 7. */
static int with_field(int number, const char *text, struct sw_proc_stat *ret)
{
	char line[1024] = "1 (x) R";
	size_t at = strlen(line);

	for (int i = 4; i <= 52; i++)
		at += (size_t)snprintf(line + at, sizeof(line) - at, " %s", i == number ? text : "7");
	return parse_stat(line, ret);
}

static void stat_ranges(void **state)
{
	struct sw_proc_stat s;

	(void)state;
#define EXPECT_uint64_t(number, name)                                                        \
	assert_int_equal(with_field(number, U64_MAX_TEXT, &s), 0);                           \
	assert_true(s.name == UINT64_MAX);                                                   \
	assert_int_equal(with_field(number, "18446744073709551616", &s), -ERANGE);           \
	assert_int_equal(with_field(number, "-1", &s), -EINVAL);
#define EXPECT_int64_t(number, name)                                                         \
	assert_int_equal(with_field(number, "-9223372036854775808", &s), 0);                 \
	assert_true(s.name == INT64_MIN);                                                    \
	assert_int_equal(with_field(number, "9223372036854775807", &s), 0);                  \
	assert_true(s.name == INT64_MAX);                                                    \
	assert_int_equal(with_field(number, "9223372036854775808", &s), -ERANGE);            \
	assert_int_equal(with_field(number, "-9223372036854775809", &s), -ERANGE);
#define X(number, name, type) EXPECT_##type(number, name)
	SW_PROC_STAT_FIELDS(X)
#undef X
	/* those that the manual page has with %d or %ld, and are seen below zero */
	assert_int_equal(with_field(8, "-1", &s), 0);
	assert_int_equal(s.tpgid, -1);
	assert_int_equal(with_field(18, "-100", &s), 0);
	assert_int_equal(s.priority, -100);
	assert_int_equal(with_field(19, "-20", &s), 0);
	assert_int_equal(s.nice, -20);
	assert_int_equal(with_field(38, "-1", &s), 0);
	assert_int_equal(s.exit_signal, -1);
}

static void stat_names(void **state)
{
	static const struct {
		const char *text, *comm;
	} cases[] = {
		{ "9 (a) R (b) S 7", "a) R (b" },
		{ "9 (a) R 1 2 3\n(b) S 7\n", "a) R 1 2 3\n(b" },
		{ "9 (a\nb) S 7\n", "a\nb" },
		{ "9 () S 7\n", "" },
		{ "9 ()) S 7\n", ")" },
		{ "9 ((sd-pam)) S 7\n", "(sd-pam)" },
		{ "9 ( ) ) S 7\n", " ) " },
		{ "9 (tmux: server) S 7\n", "tmux: server" },
		{ "9 (a\\nb\\134) S 7\n", "a\\nb\\134" },
		{ "9 (\xff\xc3\x28) S 7\n", "\xff\xc3(" },
		{ "9 (kworker/0:0-events_power_efficient) S 7\n", "kworker/0:0-events_power_efficient" },
		{ "9 (0123456789012345678901234567890123456789012345678901234567890123456789) S 7\n",
		  "012345678901234567890123456789012345678901234567890123456789012" },
	};
	struct sw_proc_stat s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse_stat(cases[i].text, &s), 0);
		assert_string_equal(s.comm, cases[i].comm);
		assert_int_equal(s.pid, 9);
		assert_int_equal(s.state, 'S');
		assert_int_equal(s.ppid, 7);
		assert_int_equal(s.n_fields, 4);
	}
}

/* Short and long lines, and odd blanks: nothing shifts. */
static void stat_shapes(void **state)
{
	struct sw_proc_stat s;
	char line[600];
	size_t at;

	(void)state;
	assert_int_equal(parse_stat("5 (x)", &s), 0);
	assert_int_equal(s.n_fields, 2);
	assert_int_equal(s.state, 0);
	assert_int_equal(parse_stat("5 (x) \n", &s), 0);
	assert_int_equal(s.n_fields, 2);
	assert_int_equal(parse_stat("5 (x) Z", &s), 0);
	assert_int_equal(s.n_fields, 3);
	assert_int_equal(s.state, 'Z');
	assert_false(SW_PROC_STAT_HAS(&s, ppid));
	assert_int_equal(parse_stat("  5   (x)\tR  1 2\t\t3  4 \n", &s), 0);
	assert_int_equal(s.n_fields, 7);
	assert_int_equal(s.pid, 5);
	assert_int_equal(s.ppid, 1);
	assert_int_equal(s.pgrp, 2);
	assert_int_equal(s.session, 3);
	assert_int_equal(s.tty_nr, 4);
	assert_int_equal(s.tpgid, 0);

	at = (size_t)snprintf(line, sizeof(line), "5 (x) I");
	for (int number = 4; number <= 52; number++)
		at += (size_t)snprintf(line + at, sizeof(line) - at, " %d", number);
	snprintf(line + at, sizeof(line) - at, " 53 0x36 -\n");
	assert_int_equal(parse_stat(line, &s), 0);
	assert_int_equal(s.n_fields, 52);
	assert_int_equal(s.ppid, 4);
	assert_int_equal(s.exit_code, 52);
}

static void stat_bad(void **state)
{
	static const char *const bad[] = {
		"\n", " ", "5", "5 x R 1", "(x) R 1", "5 (x R 1", "5 x) R 1", "5 )x( R 1", "5(x) R 1", "x (x) R 1",
		"5x (x) R 1", "5 6 (x) R 1", "0x5 (x) R 1", "+5 (x) R 1", "- (x) R 1", "5 (x)R 1", "5 (x) RR 1",
		"5 (x) 0 1", "5 (x) - 1", "5 (x) R 1x", "5 (x) R x", "5 (x) R 1 -", "5 (x) R 1 --2", "5 (x) R 1 +2",
		"5 (x) R 1 2.0", "5 (x) R 1,2", "5 (x) R 1 0x2", "5 (x) R 1 2\r\n", "5 (x) R 1 2\n3 4\n",
		"5 (x) R 1 2\n\n", "5 (x) R\n1 2", "5 (x) R 99999999999999999999x", "5 (x) R 1 \xd9\xa1",
	};
	struct sw_proc_stat s, untouched;

	(void)state;
	memset(&s, 0x5a, sizeof(s));
	untouched = s;
	assert_int_equal(parse_stat("", &s), -ENODATA);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse_stat(bad[i], &s) != -EINVAL)
			fail_msg("\"%s\"", bad[i]);
	assert_int_equal(parse_stat("99999999999999999999 (x) R 1", &s), -ERANGE);
	assert_int_equal(parse_stat("5 (x) R 9223372036854775808", &s), -ERANGE);
	assert_int_equal(parse_stat_bytes("5 (a\0b) R 1\n", 12, &s), -EINVAL);
	assert_int_equal(parse_stat_bytes("5 (a) R 1\0\n", 11, &s), -EINVAL);
	assert_memory_equal(&s, &untouched, sizeof(s));
}

/* A pid that is another's, and a leader that ended before its threads: what callers tell them by. */
static void stat_identity(void **state)
{
	struct sw_proc_stat a, b;

	(void)state;
	assert_int_equal(parse_stat("500 (a) S 1 500 500 0 -1 0 0 0 0 0 1000 0 0 0 20 0 1 0 111 0 0\n", &a), 0);
	assert_int_equal(parse_stat("500 (b) S 1 500 500 0 -1 0 0 0 0 0 5 0 0 0 20 0 1 0 222 0 0\n", &b), 0);
	assert_int_equal(a.utime, 1000);
	assert_int_equal(b.utime, 5);
	assert_int_equal(a.starttime, 111);
	assert_int_equal(b.starttime, 222);
	assert_int_equal(parse_stat("600 (main) Z 1 600 600 0 -1 0 0 0 0 0 300 0 0 0 20 0 2 0 333 0 0\n", &a), 0);
	assert_int_equal(a.state, 'Z');
	assert_int_equal(a.num_threads, 2);
}

static int parse_statm(const char *text, struct sw_proc_statm *ret)
{
	char *copy = exact(text, strlen(text));
	int err = sw_proc_statm_parse(copy, strlen(text), ret);

	free(copy);
	return err;
}

static void statm(void **state)
{
	static const char *const bad[] = { "\n", "1 2 3 4 5 6", "1 2 3 4 5 6\n7", "1 2 3 4 5 6 x", "1 2 3 4 5 6 -7",
					   "1 2 3 4 5 6 7x", "1 2 3 4 5 6 7\n8", "1,2 3 4 5 6 7 8" };
	struct sw_proc_statm s;

	(void)state;
	assert_int_equal(parse_statm("765 437 409 5 0 123 9\n", &s), 0);
	assert_int_equal(s.size, 765);
	assert_int_equal(s.resident, 437);
	assert_int_equal(s.shared, 409);
	assert_int_equal(s.text, 5);
	assert_int_equal(s.lib, 0);
	assert_int_equal(s.data, 123);
	assert_int_equal(s.dt, 9);
	assert_int_equal(parse_statm("0 0 0 0 0 0 0", &s), 0);
	assert_int_equal(s.size, 0);
	assert_int_equal(s.dt, 0);
	assert_int_equal(parse_statm(" 1  2\t3 4 5 6 " U64_MAX_TEXT " 8 z\n", &s), 0);
	assert_int_equal(s.shared, 3);
	assert_true(s.dt == UINT64_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse_statm(bad[i], &s) != -EINVAL)
			fail_msg("\"%s\"", bad[i]);
	assert_int_equal(parse_statm("", &s), -ENODATA);
	assert_int_equal(parse_statm("1 2 3 4 5 6 18446744073709551616\n", &s), -ERANGE);
	assert_true(s.dt == UINT64_MAX);
}

static int parse_schedstat(const char *text, struct sw_proc_schedstat *ret)
{
	char *copy = exact(text, strlen(text));
	int err = sw_proc_schedstat_parse(copy, strlen(text), ret);

	free(copy);
	return err;
}

static void schedstat(void **state)
{
	static const char *const bad[] = { "\n", "1 2", "1 2\n3", "1.5 2 3", "-1 2 3", "1 2 3s\n" };
	struct sw_proc_schedstat s;

	(void)state;
	assert_int_equal(parse_schedstat("4993555 12 1\n", &s), 0);
	assert_int_equal(s.run_ns, 4993555);
	assert_int_equal(s.wait_ns, 12);
	assert_int_equal(s.timeslices, 1);
	assert_int_equal(parse_schedstat("0 0 0", &s), 0);
	assert_int_equal(s.run_ns, 0);
	assert_int_equal(parse_schedstat(U64_MAX_TEXT " " U64_MAX_TEXT " " U64_MAX_TEXT " 4\n", &s), 0);
	assert_true(s.run_ns == UINT64_MAX && s.wait_ns == UINT64_MAX && s.timeslices == UINT64_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse_schedstat(bad[i], &s) != -EINVAL)
			fail_msg("\"%s\"", bad[i]);
	assert_int_equal(parse_schedstat("", &s), -ENODATA);
	assert_int_equal(parse_schedstat("18446744073709551616 0 0", &s), -ERANGE);
	assert_true(s.run_ns == UINT64_MAX);
}

/* `want` NULL: there is none. */
static void expect_cgroup(const char *text, const char *controller, const char *want, bool deleted)
{
	char *copy = exact(text, strlen(text));
	struct sw_proc_cgroup c;
	int err = sw_proc_cgroup_find(copy, strlen(text), controller, &c);

	assert_int_equal(err, want ? 0 : -ENOENT);
	if (want) {
		if (c.path_length != strlen(want) || memcmp(c.path, want, c.path_length))
			fail_msg("\"%.*s\", not \"%s\"", (int)c.path_length, c.path, want);
		assert_true(c.path > copy && c.path + c.path_length <= copy + strlen(text));
		assert_int_equal(c.deleted, deleted);
	}
	free(copy);
}

#define SESSION "/user.slice/user-1000.slice/session-1.scope"

static void cgroup_hybrid(void **state)
{
	static const char text[] = "12:cpuset:/\n11:hugetlb:/\n10:blkio:/\n9:misc:/\n8:perf_event:/\n7:rdma:/\n"
				   "6:net_cls,net_prio:/\n5:pids:" SESSION "\n4:freezer:/\n3:memory:" SESSION "\n"
				   "2:cpu,cpuacct:/\n1:name=systemd:" SESSION "\n0::" SESSION "\n";

	(void)state;
	expect_cgroup(text, NULL, SESSION, false);
	expect_cgroup(text, "cpuacct", "/", false);
	expect_cgroup(text, "cpu", "/", false);
	expect_cgroup(text, "name=systemd", SESSION, false);
	expect_cgroup(text, "net_prio", "/", false);
	/* words, not parts of words */
	expect_cgroup(text, "net", NULL, false);
	expect_cgroup(text, "acct", NULL, false);
	expect_cgroup(text, "cpu,cpuacct", NULL, false);
	expect_cgroup(text, "systemd", NULL, false);
	expect_cgroup(text, "", NULL, false);
	/* cpu and cpuacct apart, together the other way round, with v1 only */
	expect_cgroup("3:cpuset:/s\n2:cpuacct:/a\n1:cpu:/c\n0::/\n", "cpuacct", "/a", false);
	expect_cgroup("3:cpuset:/s\n2:cpuacct:/a\n1:cpu:/c\n0::/\n", "cpu", "/c", false);
	expect_cgroup("4:cpuacct,cpu:/x", "cpuacct", "/x", false);
	expect_cgroup("4:cpuacct,cpu:/x", NULL, NULL, false);
}

static void cgroup_paths(void **state)
{
	(void)state;
	expect_cgroup("8:memory:/foo:bar\n", "memory", "/foo:bar", false);
	expect_cgroup("0::/kubepods-besteffort-pod162385e5.slice:cri-containerd:278a0aac\n", NULL,
		      "/kubepods-besteffort-pod162385e5.slice:cri-containerd:278a0aac", false);
	expect_cgroup("0::/0::/a b\\n \n", NULL, "/0::/a b\\n ", false);
	expect_cgroup("0::/\n", NULL, "/", false);
	expect_cgroup("0::/", NULL, "/", false);
	expect_cgroup("0::/../../other\n", NULL, "/../../other", false);
	/* removed, with a zombie in it */
	expect_cgroup("0::/gone (deleted)\n", NULL, "/gone", true);
	expect_cgroup("0::/gone (deleted) (deleted)", NULL, "/gone (deleted)", true);
	expect_cgroup("0::/gone (deleted) \n", NULL, "/gone (deleted) ", false);
	expect_cgroup("0::/(deleted)\n", NULL, "/(deleted)", false);
	expect_cgroup("3:cpuacct:/name (deleted)\n", "cpuacct", "/name (deleted)", false);
	/* lines that are none */
	expect_cgroup("", NULL, NULL, false);
	expect_cgroup("\n\n0::\n0:\n0\n::/x\n00x::/x\n-0::/x\n0:cpu:/x\n 0::/x\n0::x\n", NULL, NULL, false);
	expect_cgroup("\n0::\n0::x\n0::/y\n0::/z\n", NULL, "/y", false);
	expect_cgroup("1:cpu\n1:cpu:\n0:cpu:/x\n1x:cpu:/x\n99999999999999999999:cpu:/x\n1:,cpu,:/y\n", "cpu", "/y",
		      false);
}

static void expect_cpu(const char **at, const char *end, int32_t cpu, unsigned n_fields, const uint64_t want[10])
{
	struct sw_cpu_times t;

	assert_int_equal(sw_cpu_times_next(at, end, &t), 1);
	assert_int_equal(t.cpu, cpu);
	assert_int_equal(t.n_fields, n_fields);
	assert_true(t.user == want[0] && t.nice == want[1] && t.system == want[2] && t.idle == want[3]);
	assert_true(t.iowait == want[4] && t.irq == want[5] && t.softirq == want[6] && t.steal == want[7]);
	assert_true(t.guest == want[8] && t.guest_nice == want[9]);
}

#define EXPECT_CPU(at, end, cpu, n_fields, ...) expect_cpu(at, end, cpu, n_fields, (const uint64_t[10]){ __VA_ARGS__ })

static void cpu_times_seen(void **state)
{
	static const char huge[] = "cpu  465552918 3813058 111153634 9065060137 5821166 0 4346876 0 0 0\n";
	/* CPU 2 is offline */
	static const char hole[] = "cpu  1 2 3 4 5 6 7 8 9 10\n"
				   "cpu0 26136 18 1312 2733593 371 0 135 0 0 0\n"
				   "cpu1 32708 2 424 2717609 268 0 2 0 0 0\n"
				   "cpu3 26460 0 87 119161 6 0 0 0 0 0\n"
				   "intr 37297789 0 0 1\nctxt 5\nbtime 1700000000\ncpufreq 1 2 3 4\nsoftirq 1 2 3\n";
	/* old kernels: no steal, no guest; and a line that is empty */
	static const char old[] = "cpu  7470681 0 1586197 13118409351 150947 0 0 0\ncpu0 1 2 3 4\n\n\n"
				  "cpu1 5 6 7 8 9\n";
	const char *at = huge, *end = huge + sizeof(huge) - 1;
	struct sw_cpu_times t = {.cpu = 77};

	(void)state;
	EXPECT_CPU(&at, end, -1, 10, 465552918, 3813058, 111153634, 9065060137, 5821166, 0, 4346876, 0, 0, 0);
	assert_int_equal(sw_cpu_times_next(&at, end, &t), 0);
	at = hole, end = hole + sizeof(hole) - 1;
	EXPECT_CPU(&at, end, -1, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	EXPECT_CPU(&at, end, 0, 10, 26136, 18, 1312, 2733593, 371, 0, 135, 0, 0, 0);
	EXPECT_CPU(&at, end, 1, 10, 32708, 2, 424, 2717609, 268, 0, 2, 0, 0, 0);
	EXPECT_CPU(&at, end, 3, 10, 26460, 0, 87, 119161, 6, 0, 0, 0, 0, 0);
	assert_int_equal(sw_cpu_times_next(&at, end, &t), 0);
	assert_int_equal(sw_cpu_times_next(&at, end, &t), 0);
	at = old, end = old + sizeof(old) - 1;
	EXPECT_CPU(&at, end, -1, 8, 7470681, 0, 1586197, 13118409351, 150947, 0, 0, 0, 0, 0);
	EXPECT_CPU(&at, end, 0, 4, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0);
	EXPECT_CPU(&at, end, 1, 5, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0);
	assert_int_equal(sw_cpu_times_next(&at, end, &t), 0);
	assert_int_equal(t.cpu, 77);
}

/* One absurd line costs itself only. */
static void cpu_times_bad(void **state)
{
	static const struct {
		const char *line;
		int want;
	} cases[] = {
		{ "cpu0", -EINVAL },
		{ "cpu0 1 2 3", -EINVAL },
		{ "cpu ", -EINVAL },
		{ "cpu0 1 2 3 x", -EINVAL },
		{ "cpu0 1 2 3 4x", -EINVAL },
		{ "cpu0 1 2 -3 4", -EINVAL },
		{ "cpu0x 1 2 3 4", -EINVAL },
		{ "cpu0 1 2 3 4 5 6 7 8 9 nan", -EINVAL },
		{ "cpu2147483648 1 2 3 4", -ERANGE },
		{ "cpu99999999999999999999 1 2 3 4", -ERANGE },
		{ "cpu0 18446744073709551616 0 0 0", -ERANGE },
		{ "cpu0 18446744073709551615 0 0 1", -ERANGE },
		{ "cpu0 0 0 0 0 0 0 0 18446744073709551615", 1 },
		{ "cpu2147483647 1 2 3 4", 1 },
		{ "cpu0 1 2 3 4 5 6 7 8 9 10 11 x", 1 },
		{ "cpu0\t1  2 3 4 ", 1 },
		{ "cpu", 2 },
		{ "cpux 1 2 3 4", 2 },
		{ "Cpu0 1 2 3 4", 2 },
		{ " cpu0 1 2 3 4", 2 },
	};
	struct sw_cpu_times t;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[128];
		const char *at = text, *end;
		int got;

		end = text + snprintf(text, sizeof(text), "%s\ncpu7 11 12 13 14", cases[i].line);
		t.cpu = 77;
		got = sw_cpu_times_next(&at, end, &t);
		/* 2: it is no CPU's line */
		if (got != (cases[i].want == 2 ? 1 : cases[i].want) || (got < 0 && t.cpu != 77))
			fail_msg("\"%s\": %d", cases[i].line, got);
		if (cases[i].want != 2)
			assert_int_equal(sw_cpu_times_next(&at, end, &t), 1);
		assert_int_equal(t.cpu, 7);
		assert_int_equal(t.idle, 14);
		assert_int_equal(sw_cpu_times_next(&at, end, &t), 0);
	}
}

static void busy_and_idle(void **state)
{
	static const char text[] = "cpu  1000 100 200 5000 50 10 20 30 400 40\n";
	const char *at = text;
	struct sw_cpu_times t;

	(void)state;
	assert_int_equal(sw_cpu_times_next(&at, text + sizeof(text) - 1, &t), 1);
	assert_int_equal(sw_cpu_times_busy(&t), 1360);
	assert_int_equal(sw_cpu_times_idle(&t), 5050);
	assert_int_equal(t.user - t.guest, 600);
	assert_int_equal(t.nice - t.guest_nice, 60);
}

static int keyed(const char *text, const char *key, uint64_t *ret)
{
	char *copy = exact(text, strlen(text));
	int err = sw_flat_keyed_u64(copy, strlen(text), key, ret);

	free(copy);
	return err;
}

static void flat_keyed(void **state)
{
	static const char stat[] = "usage_usec 123456\nuser_usec 100000\nsystem_usec 23456\n";
	uint64_t v = 99;

	(void)state;
	assert_int_equal(keyed("", "usage_usec", &v), -ENODATA);
	assert_int_equal(keyed(stat, "nr_periods", &v), -ENOENT);
	assert_int_equal(keyed(stat, "usec", &v), -ENOENT);
	assert_int_equal(keyed(stat, "usage", &v), -ENOENT);
	assert_int_equal(keyed(stat, "usage_usec ", &v), -ENOENT);
	assert_int_equal(keyed("usage_usec\n", "usage_usec", &v), -ENOENT);
	assert_int_equal(keyed("usage_usec \n", "usage_usec", &v), -EINVAL);
	assert_int_equal(keyed("usage_usec 1 2\n", "usage_usec", &v), -EINVAL);
	assert_int_equal(keyed("usage_usec -1\n", "usage_usec", &v), -EINVAL);
	assert_int_equal(keyed("usage_usec 1x\nusage_usec 2\n", "usage_usec", &v), -EINVAL);
	assert_int_equal(keyed("usage_usec 18446744073709551616\n", "usage_usec", &v), -ERANGE);
	assert_true(v == 99);
	assert_int_equal(keyed(stat, "usage_usec", &v), 0);
	assert_int_equal(v, 123456);
	assert_int_equal(keyed(stat, "system_usec", &v), 0);
	assert_int_equal(v, 23456);
	assert_int_equal(keyed("core_sched.force_idle_usec 5\n\nxusage_usec 1\nusage_usec_x 2\nusage_usec " U64_MAX_TEXT
			       "\nusage_usec 3", "usage_usec", &v), 0);
	assert_true(v == UINT64_MAX);
}

static int meminfo(const char *text, uint64_t *ret)
{
	char *copy = exact(text, strlen(text));
	int err = sw_meminfo_bytes(copy, strlen(text), "MemTotal", ret);

	free(copy);
	return err;
}

static void meminfo_sizes(void **state)
{
	uint64_t v = 99;

	(void)state;
	assert_int_equal(meminfo("", &v), -ENODATA);
	assert_int_equal(meminfo("MemFree:  12 kB\nMemTotalX: 1 kB\n", &v), -ENOENT);
	assert_int_equal(meminfo("MemTotal 12 kB\n", &v), -ENOENT);
	assert_int_equal(meminfo("MemTotal: kB\n", &v), -EINVAL);
	assert_int_equal(meminfo("MemTotal: 12\n", &v), -EINVAL);
	assert_int_equal(meminfo("MemTotal: 12kB\n", &v), -EINVAL);
	assert_int_equal(meminfo("MemTotal: 12 MB\n", &v), -EINVAL);
	assert_int_equal(meminfo("MemTotal: 12 kB 3\n", &v), -EINVAL);
	assert_int_equal(meminfo("MemTotal: -12 kB\n", &v), -EINVAL);
	assert_int_equal(meminfo("MemTotal: 18014398509481984 kB\n", &v), -ERANGE);
	assert_int_equal(meminfo("MemTotal: 18446744073709551616 kB\n", &v), -ERANGE);
	assert_true(v == 99);
	assert_int_equal(meminfo("MemTotal: 18014398509481983 kB\n", &v), 0);
	assert_true(v == UINT64_MAX - 1023);
	assert_int_equal(meminfo("MemFree:          1 kB\nMemTotal:       16316412 kB\nMemTotal: 1 kB\n", &v), 0);
	assert_true(v == 16708005888);
	assert_int_equal(meminfo("MemTotal:\t7 kB", &v), 0);
	assert_int_equal(v, 7168);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_seen),      cmocka_unit_test(stat_fields_in_order),
		cmocka_unit_test(stat_ranges),    cmocka_unit_test(stat_names),
		cmocka_unit_test(stat_shapes),    cmocka_unit_test(stat_bad),
		cmocka_unit_test(stat_identity),  cmocka_unit_test(statm),
		cmocka_unit_test(schedstat),      cmocka_unit_test(cgroup_hybrid),
		cmocka_unit_test(cgroup_paths),   cmocka_unit_test(cpu_times_seen),
		cmocka_unit_test(cpu_times_bad),  cmocka_unit_test(busy_and_idle),
		cmocka_unit_test(flat_keyed),     cmocka_unit_test(meminfo_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

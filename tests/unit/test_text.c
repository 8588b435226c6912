/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the text that people read: its numbers, its marks of what a model made, its width.
 * Relies on: nothing but the synthetic recording of cli_fixture.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/format.h"
#include "cli/target.h"
#include "cli_fixture.h"

#define BAD "\xef\xbf\xbd"
#define PM  "\xc2\xb1"

/* No line is wider than 100 columns, and none holds a control character. */
static void check_lines(const char *text)
{
	unsigned columns = 0;

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '\n') {
			assert_in_range(columns, 0, 100);
			columns = 0;
			continue;
		}
		assert_true(c >= 0x20 && c != 0x7f);
		if ((c & 0xc0) != 0x80)
			columns++;
	}
	assert_int_equal(columns, 0); /* whole lines */
}

static void expect(struct buf *b, const char *golden)
{
	buf_add(b, "", 1);
	assert_int_equal(b->err, 0);
	check_lines(b->data);
	assert_string_equal(b->data, golden);
	buf_clear(b);
}

static void test_plain(void **state)
{
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(format_plain(&b, "a\x1b[1m\x7f\xc2\x9b", 20), 7);
	buf_text(&b, "\n");
	expect(&b, "a?[1m??\n");
	assert_int_equal(format_plain(&b, "\xc3\xa9\xff" "bcdef", 4), 4);
	buf_text(&b, "\n");
	expect(&b, "\xc3\xa9" BAD "b\xe2\x80\xa6\n");
	format_left(&b, "ab", 4);
	format_right(&b, "\xc2\xb1" "1", 4);
	format_right(&b, "12345", 3); /* shown whole */
	buf_text(&b, "\n");
	expect(&b, "ab    \xc2\xb1" "1 12345\n");
	format_wrapped(&b, "one two three", 2, 8);
	expect(&b, "one two\n  three\n");
	buf_free(&b);
}

static void test_header(void **state)
{
	struct buf b = { 0 };

	(void)state;
	sink_text.header(&fixture_recording, &b);
	expect(&b,
	       " schedwatt 0.1.0 on box, Linux 6.1.0, unknown processor, 4 CPUs; from\n"
	       "   2023-11-14T22:13:20.000000001Z, a window every 200 ms; labels job=a\"b, empty=\n"
	       " back end ebpf (exact, attached by tp_btf); energy source powercap (measured); policy capacity\n"
	       " zone package-0/dram is left out: EIO\n"
	       "time (UTC)            watts          joules busy %  lost ms  flags  busiest, in % of one CPU\n");
	buf_free(&b);
}

/* A back end that has no hook, knows cgroups only, and was not the first choice. */
static void test_cgroup_backend(void **state)
{
	static const struct sw_refusal refusals[] = { { "ebpf", "this kernel has no BTF" } };
	static const struct sw_cgroup cgroups[] = {
		{ .path = "/", .subtree_oncpu_ns = 150000000, .nj = 0, .subtree_nj = 1 },
		{ .path = "/a", .oncpu_ns = 150000000, .subtree_oncpu_ns = 150000000, .nj = 1, .subtree_nj = 1 },
	};
	struct sw_header h = fixture_header;
	struct recording rec = { .header = &h, .host = "box" };
	struct sw_report r = { .window_ns = 200000000, .proc_oncpu_ns = 150000000, .idle_ns = 650000000,
			       .energy = { SW_ABSENT, SW_ABSENT, SW_ABSENT, SW_ABSENT, SW_ABSENT },
			       .cgroups = cgroups, .n_cgroups = 2, .shared_with = 3 };
	struct sw_summary s = { .duration_ns = 200000000, .samples = 1, .proc_oncpu_ns = 150000000, .shared_with = 3,
				.cgroups = cgroups, .n_cgroups = 2 };
	struct buf b = { 0 };

	(void)state;
	h.backend = "cgroup_v2";
	h.hook = NULL;
	h.own_cgroup = "/sys/fs/cgroup/schedwatt-1-2";
	h.by = SW_BY_CGROUP;
	h.n_zones = 0;
	h.energy_source = "none";
	h.energy_quality = NULL;
	h.backend_refusals = refusals;
	h.n_backend_refusals = 1;
	sink_text.sample(&rec, &r, NULL, &b);
	expect(&b, "00:00:00.000              -               -   18.8    0.000  -      a 75.0\n");
	sink_text.summary(&rec, &s, &b);
	expect(&b, "\n"
		   " schedwatt monitor: process 4242 and its descendants\n"
		   "\n"
		   "          0.150000 s                   CPU time\n"
		   "          0.200000 s                   wall time\n"
		   "             0.750                     average parallelism: CPU time / wall time\n"
		   "                 3                     other processes in the cgroup, counted in\n"
		   "\n"
		   "      own CPU s  subtree CPU s subtree joules  cgroup\n"
		   "       0.000000       0.150000       0.000000  /\n"
		   "       0.150000       0.150000       0.000000  /a\n"
		   "\n"
		   " 1 window, none flagged, nothing lost\n"
		   " back end cgroup_v2 (exact), in a cgroup of its own; energy source none; policy capacity\n"
		   " no ebpf: this kernel has no BTF\n"
		   "\n");
	buf_free(&b);
}

static void test_sample(void **state)
{
	struct sw_report r = fixture_report;
	struct buf b = { 0 };

	(void)state;
	sink_text.sample(&fixture_recording, &r, NULL, &b);
	expect(&b,
	       "22:13:20.200          12.00           2.400   25.0    0.002  "
	       "late,no_energy  a\"b\\?" BAD " 75.0   0.5\n");

	/* All flags do not fit; the busiest give way. */
	r.flags = (1u << SW_FLAGS) - 1;
	sink_text.sample(&fixture_recording, &r, NULL, &b);
	expect(&b,
	       "22:13:20.200          12.00           2.400   25.0    0.002  late,short,partial,no_energy,suspend+7\n");

	/* No energy, nothing ran, and a window of no length divides by nothing. */
	r.energy = (struct sw_energy)FIXTURE_NOTHING;
	r.uncertainty_nj = SW_ABSENT;
	r.n_processes = 0;
	r.flags = 0;
	r.window_ns = r.proc_oncpu_ns = r.other_oncpu_ns = r.idle_ns = r.lost_ns = 0;
	sink_text.sample(&fixture_recording, &r, NULL, &b);
	expect(&b,
	       "22:13:20.200              -               -      -    0.000  -\n");
	buf_free(&b);
}

#define HEAD "            joules share %    CPU time s"

#define TABLE_COMMS                                                    \
	"\n"                                                           \
	HEAD "  processes     exited  command\n"                       \
	"          6.000000   120.0      1.500000         12         12  cc1\n" \
	"                 -       -      0.000000 18446744073709551615 18446744073709551615  m?k\xc3\xa9\n"

#define TABLE_PROCESSES                                                                                   \
	"\n"                                                                                              \
	HEAD "          pid  command            end       command line\n"                                 \
	"          2.500000    50.0      0.090000 host:4000077  inner              sig 11    a\\ b '' x\\n" BAD "\n" \
	"          0.500000    10.0      0.050000            5  [kworker/0:1]\n"                          \
	"          0.000000     0.0      0.030000            6  six                exit 3    /usr/bin/six --\xe2\x80\xa6\n" \
	"                 -       -      0.002000            7  seven              sig 9\n"               \
	"                                                       and 2 more\n"

#define TABLE_THREADS                                                                \
	"\n"                                                                         \
	HEAD "          tid          pid  thread\n"                                  \
	"          2.500000    50.0      0.090000 host:4000078 host:4000077  work?\n" \
	"                 -       -      0.050000            5            5  [kworker/0:1]\n"

static void test_summary_of_run(void **state)
{
	struct buf b = { 0 };

	(void)state;
	sink_text.summary(&fixture_recording, &fixture_summary, &b);
	expect(&b,
	       "\n"
	       " schedwatt run: make -j" BAD "\n"
	       "\n"
	       "          5.000000 J " PM "0.050000         command, policy capacity\n"
	       "          2.000000 W " PM "0.020000         command, mean power\n"
	       "         10.000000 J " PM "0.100000         whole machine\n"
	       "          4.000000 W " PM "0.040000         whole machine, mean power\n"
	       "\n"
	       "          8.000000 J                   busy: all energy goes by CPU time\n"
	       "          5.000000 J " PM "0.050000         capacity: idle CPUs keep their part\n"
	       "                 - J                   above idle: what the idle baseline leaves over\n"
	       "\n"
	       "          3.000000 s                   CPU time of the command\n"
	       "          2.500000 s                   wall time\n"
	       "             1.200                     average parallelism: CPU time / wall time\n"
	       "                14                     processes seen, 1 still running\n"
	       TABLE_COMMS
	       "\n"
	       HEAD "          pid  command            end       command line\n"
	       "          1.234568    24.7      0.150000         4242  a\"b\\?" BAD "             exited\n"
	       "                                                       and 2 more\n"
	       "\n"
	       " 13 windows\n"
	       " lost: 0.000002 s of CPU time belong to no task, and their energy is in no share: 0.000002 s at\n"
	       "   context switches that no program saw; 0.000001 s for other reasons, such as a boundary seen late\n"
	       " late, 1 of 13 windows: a CPU saw a boundary only after it had passed; what could not be placed\n"
	       "   there is lost\n"
	       " no_energy, 2 of 13 windows: an energy counter failed, went back or stood too long; their joules are\n"
	       "   missing from the totals, their CPU time is not\n"
	       " back end ebpf (exact, attached by tp_btf); energy source powercap (measured); policy capacity\n"
	       " zone package-0/dram is left out: EIO\n"
	       "\n");
	buf_free(&b);
}

/* What a model made is marked, and why there is no better is said. */
static void test_modelled(void **state)
{
	struct sw_header h = fixture_header;
	struct recording rec = { .header = &h };
	struct buf b = { 0 };

	(void)state;
	h.energy_source = "model";
	h.energy_quality = "modelled";
	h.energy_refusals = fixture_refusals;
	h.n_energy_refusals = 1;
	h.n_zones = 0;
	h.policy = "busy";
	sink_text.sample(&rec, &fixture_report, NULL, &b);
	expect(&b,
	       "22:13:20.200    ~12.00" PM "0.12    ~2.400" PM "0.024   25.0    0.002  "
	       "late,no_energy  a\"b\\?" BAD " 75.0   0.5\n");
	sink_text.summary(&rec, &fixture_summary, &b);
	expect(&b,
	       "\n"
	       " schedwatt monitor: process 4242 and its descendants\n"
	       "\n"
	       "         ~8.000000 J " PM "0.050000         target, policy busy\n"
	       "         ~3.200000 W " PM "0.020000         target, mean power\n"
	       "        ~10.000000 J " PM "0.100000         whole machine\n"
	       "         ~4.000000 W " PM "0.040000         whole machine, mean power\n"
	       "\n"
	       "         ~8.000000 J " PM "0.050000         busy: all energy goes by CPU time\n"
	       "         ~5.000000 J " PM "0.050000         capacity: idle CPUs keep their part\n"
	       "                 - J                   above idle: what the idle baseline leaves over\n"
	       "\n"
	       "          3.000000 s                   CPU time\n"
	       "          2.500000 s                   wall time\n"
	       "             1.200                     average parallelism: CPU time / wall time\n"
	       "                14                     processes seen, 1 still running\n"
	       "\n"
	       "     joules " PM "1.0 % share %    CPU time s  processes     exited  command\n"
	       "         ~6.000000    75.0      1.500000         12         12  cc1\n"
	       "                 -       -      0.000000 18446744073709551615 18446744073709551615  m?k\xc3\xa9\n"
	       "\n"
	       "     joules " PM "1.0 % share %    CPU time s          pid  command            end       command line\n"
	       "         ~1.234568    15.4      0.150000         4242  a\"b\\?" BAD "             exited\n"
	       "                                                       and 2 more\n"
	       "\n"
	       " 13 windows\n"
	       " lost: 0.000002 s of CPU time belong to no task, and their energy is in no share: 0.000002 s at\n"
	       "   context switches that no program saw; 0.000001 s for other reasons, such as a boundary seen late\n"
	       " late, 1 of 13 windows: a CPU saw a boundary only after it had passed; what could not be placed\n"
	       "   there is lost\n"
	       " no_energy, 2 of 13 windows: an energy counter failed, went back or stood too long; their joules are\n"
	       "   missing from the totals, their CPU time is not\n"
	       " back end ebpf (exact, attached by tp_btf); energy source model (modelled); policy busy\n"
	       " ~ is a model's number " PM "1.0 %, not a measured one. No counter: /sys/class/powercap has no intel-rapl\n"
	       "   zone; this is a virtual machine; schedwatt doctor says what would help\n"
	       "\n");
	buf_free(&b);
}

static void test_summary_without_energy(void **state)
{
	struct sw_header h = fixture_header;
	struct recording rec = { .header = &h };
	struct sw_summary s = { .duration_ns = 1, .samples = 1 };
	struct buf b = { 0 };

	(void)state;
	h.target = SW_TARGET_HOST;
	h.energy_source = "none";
	h.energy_quality = NULL;
	h.n_zones = 0;
	for (int i = 0; i < SW_POLICIES; i++)
		s.energy[i] = (struct sw_energy)FIXTURE_NOTHING;
	s.total_uncertainty_nj = s.proc_uncertainty_nj = SW_ABSENT;
	sink_text.summary(&rec, &s, &b);
	expect(&b,
	       "\n"
	       " schedwatt monitor: this machine\n"
	       "\n"
	       "          0.000000 s                   CPU time\n"
	       "          0.000000 s                   wall time\n"
	       "             0.000                     average parallelism: CPU time / wall time\n"
	       "                 0                     processes seen, 0 still running\n"
	       "\n"
	       " 1 window, none flagged, nothing lost\n"
	       " back end ebpf (exact, attached by tp_btf); energy source none; policy capacity\n"
	       "\n");
	buf_free(&b);
}

/* What the line of a window names is what --by asks for. */
static void test_busiest(void **state)
{
#define LINE "22:13:20.200          12.00           2.400   25.0    0.002  -    "
	static const struct {
		uint32_t by;
		const char *golden;
	} cases[] = {
		{ 0, LINE "  inner 45.0  [kworker/0:1] 25.0\n" },
		{ SW_BY_PROCESS, LINE "  inner 45.0  [kworker/0:1] 25.0\n" },
		{ SW_BY_THREAD, LINE "  work?/host:4000078 45.0\n" },
		{ SW_BY_CGROUP, LINE "  b" BAD " 75.0  (removed) 15.0  / 0.5\n" },
		{ SW_BY_COMM, LINE "  cc1 750.0  m?k\xc3\xa9 0.0\n" },
	};
	struct recording rec = { .header = &fixture_header };
	struct sw_report r = fixture_report;
	struct buf b = { 0 };

	(void)state;
	fixture_rows(&r);
	r.flags = 0;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rec.by = cases[i].by;
		sink_text.sample(&rec, &r, NULL, &b);
		expect(&b, cases[i].golden);
	}
	buf_free(&b);
}

/* The tables of the summary: what stands between the numbers and the windows. */
static void expect_tables(struct buf *b, const struct recording *rec, const struct sw_summary *s, const char *golden)
{
	static const char before[] = "processes seen, 1 still running\n";
	char *at, *end;

	sink_text.summary(rec, s, b);
	buf_add(b, "", 1);
	assert_int_equal(b->err, 0);
	check_lines(b->data);
	at = strstr(b->data, before);
	assert_non_null(at);
	at += strlen(before);
	end = strstr(at, "\n 13 windows\n");
	assert_non_null(end);
	*end = '\0';
	assert_string_equal(at, golden);
	buf_clear(b);
}

static void test_tables(void **state)
{
	struct sw_header h = fixture_header;
	struct recording rec = { .header = &h };
	struct sw_summary s = fixture_summary;
	struct buf b = { 0 };

	(void)state;
	s.processes = fixture_family;
	s.n_processes = FIXTURE_FAMILY;
	s.threads = fixture_threads;
	s.n_threads = FIXTURE_THREADS;
	s.cgroups = fixture_cgroups;
	s.n_cgroups = FIXTURE_CGROUPS;
	expect_tables(&b, &rec, &s, TABLE_COMMS TABLE_PROCESSES);
	rec.by = SW_BY_COMM;
	expect_tables(&b, &rec, &s, TABLE_COMMS);
	h.by |= SW_BY_THREAD;
	expect_tables(&b, &rec, &s, TABLE_COMMS TABLE_THREADS);
	rec.by = SW_BY_THREAD;
	expect_tables(&b, &rec, &s, TABLE_THREADS);
	s.threads_folded = 4;
	expect_tables(&b, &rec, &s, TABLE_THREADS
		      "                                                                    and 4 more\n");
	h.by = rec.by = SW_BY_PROCESS;
	expect_tables(&b, &rec, &s, TABLE_PROCESSES);
	h.by = rec.by = SW_BY_CGROUP;
	expect_tables(&b, &rec, &s,
		      "\n"
		      "      own CPU s  subtree CPU s subtree joules  cgroup\n"
		      "       0.001000       0.181000       3.000000  /\n"
		      "       0.000000       0.150000       2.500000  /a\n"
		      "       0.150000       0.150000       2.500000  /a/b" BAD "\n"
		      "       0.030000       0.030000              -  (removed)\n");
	s.n_cgroups = 0;
	expect_tables(&b, &rec, &s, "");
	buf_free(&b);
}

/* Of many cgroups, 20 with what they lie in: 30 of equal time give way from the end, the busy one after them does not. */
static void test_many_cgroups(void **state)
{
	struct sw_cgroup rows[33] = { { .path = "/", .subtree_oncpu_ns = 40000000000, .subtree_nj = 1 } };
	char paths[33][80], golden[4096], *at = golden;
	struct recording rec = { .header = &fixture_header, .by = SW_BY_CGROUP };
	struct sw_summary s = fixture_summary;
	struct buf b = { 0 };

	(void)state;
	for (int i = 1; i < 33; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/%031d", i);
		rows[i] = (struct sw_cgroup){ .path = paths[i], .oncpu_ns = 1000, .subtree_oncpu_ns = 1000000000 };
	}
	rows[31].subtree_oncpu_ns = 10000000000;
	snprintf(paths[32], sizeof(paths[32]), "/%031d/%031d", 31, 32); /* its end is what is shown */
	rows[32].subtree_oncpu_ns = 9000000000;
	s.cgroups = rows;
	s.n_cgroups = 33;
	s.cgroups_folded = 1;
	at += sprintf(at, "\n      own CPU s  subtree CPU s subtree joules  cgroup\n"
			  "       0.000000      40.000000       0.000000  /\n");
	for (int i = 1; i <= 17; i++)
		at += sprintf(at, "       0.000001       1.000000       0.000000  /%031d\n", i);
	at += sprintf(at, "       0.000001      10.000000       0.000000  /%031d\n", 31);
	at += sprintf(at, "       0.000001       9.000000       0.000000  \xe2\x80\xa6%020d/%031d\n", 31, 32);
	sprintf(at, "                                               and 14 more\n");
	expect_tables(&b, &rec, &s, golden);
	buf_free(&b);
}

static void test_tail(void **state)
{
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(format_tail(&b, "/ab/\x1b" "d", 6), 6);
	buf_text(&b, "\n");
	expect(&b, "/ab/?d\n");
	assert_int_equal(format_tail(&b, "/\xc3\xa9\xff\xc3\xa9" "bc", 4), 4);
	buf_text(&b, "\n");
	expect(&b, "\xe2\x80\xa6\xc3\xa9" "bc\n");
	assert_int_equal(format_tail(&b, "abc", 1), 1);
	buf_text(&b, "\n");
	expect(&b, "\xe2\x80\xa6\n");
	buf_free(&b);
}

static void test_target_words(void **state)
{
	static const int32_t pids[] = { 1, 22, 333, 4444, 55555, 666666 };
	static const struct {
		uint32_t target, scope, n_pids;
		const char *words, *left, *ended;
	} cases[] = {
		{ SW_TARGET_HOST, 0, 0, "this machine", NULL, NULL },
		{ SW_TARGET_CGROUP, 0, 0, "cgroup /a/b", NULL, NULL },
		{ SW_TARGET_PIDS, SW_SCOPE_TREE, 1, "process 1 and its descendants",
		  "process 1 has ended; its descendants are recorded on",
		  "process 1 and its descendants have ended; the recording is over" },
		{ SW_TARGET_PIDS, SW_SCOPE_PROCESS, 1, "process 1", NULL, "process 1 has ended; the recording is over" },
		{ SW_TARGET_PIDS, SW_SCOPE_TREE, 3, "processes 1,22,333 and their descendants",
		  "processes 1,22,333 have ended; their descendants are recorded on",
		  "processes 1,22,333 and their descendants have ended; the recording is over" },
		{ SW_TARGET_PIDS, SW_SCOPE_PROCESS, 6, "processes 1,22,333,4444 and 2 more", NULL,
		  "processes 1,22,333,4444 and 2 more have ended; the recording is over" },
	};
	struct sw_header h = fixture_header;
	struct buf b = { 0 };

	(void)state;
	h.pids = pids;
	h.cgroup = "/a/b";
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		h.target = cases[i].target;
		h.scope = cases[i].scope;
		h.n_pids = cases[i].n_pids;
		target_words(&b, &h);
		buf_add(&b, "", 1);
		assert_string_equal(b.data, cases[i].words);
		buf_clear(&b);
		if (cases[i].left) {
			target_left_words(&b, &h);
			buf_add(&b, "", 1);
			assert_string_equal(b.data, cases[i].left);
			buf_clear(&b);
		}
		if (cases[i].ended) {
			target_ended_words(&b, &h);
			buf_add(&b, "", 1);
			assert_string_equal(b.data, cases[i].ended);
			buf_clear(&b);
		}
	}
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),          cmocka_unit_test(test_header),
		cmocka_unit_test(test_sample),         cmocka_unit_test(test_summary_of_run),
		cmocka_unit_test(test_modelled),       cmocka_unit_test(test_summary_without_energy),
		cmocka_unit_test(test_busiest),        cmocka_unit_test(test_tables),
		cmocka_unit_test(test_many_cgroups),   cmocka_unit_test(test_tail),
		cmocka_unit_test(test_target_words),   cmocka_unit_test(test_cgroup_backend),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}

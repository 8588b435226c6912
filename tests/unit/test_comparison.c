/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A comparison of back ends: its sums, what it makes of them, the sentence on each difference, and both of its formats.
 * Relies on: nothing but made-up reports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/comparison.h"
#include "cli/sink.h"

#define MS 1000000ULL

enum { EBPF, V2, V1, PROC, PERCENT, KINDS };

static const int32_t pids[] = { 7 };

static const struct sw_environment environment = { .turbo = SW_ABSENT };

#define HEADER(name, how)                                                                                              \
	{ .backend = (name), .backend_quality = (how), .cpus = 2, .pids = pids, .n_pids = 1, .target = SW_TARGET_PIDS, \
	  .version = "0.1.0", .kernel = "6.1.0", .energy_source = "powercap", .energy_quality = "measured",            \
	  .policy = "busy", .hook = "tp_btf", .interval_ms = 200, .environment = &environment }

static const struct sw_header headers[KINDS] = {
	[EBPF] = HEADER("ebpf", "exact"),       [V2] = HEADER("cgroup_v2", "exact"),
	[V1] = HEADER("cgroup_v1", "exact"),    [PROC] = HEADER("proc", "coarse"),
	[PERCENT] = HEADER("cpu_percent", "coarse"),
};

static struct sw_report report_of(uint64_t oncpu_ns)
{
	return (struct sw_report){
		.window_ns = 200 * MS,
		.proc_oncpu_ns = oncpu_ns,
		.energy = { .total_nj = 2000000000, .proc_nj = 10 * (int64_t)oncpu_ns },
		.shared_with = SW_ABSENT,
		.shared_ns = SW_ABSENT,
		.irq_ns = SW_ABSENT,
		.steal_ns = SW_ABSENT,
	};
}

/* Of the reference and one other, in one window of theirs. */
struct pair {
	struct comparison c;
	struct sw_report reference, other;
};

static void pair(struct pair *p, int kind, uint64_t reference_ns, uint64_t other_ns)
{
	comparison_init(&p->c, 10 * MS);
	comparison_opened(&p->c, &headers[EBPF]);
	comparison_opened(&p->c, &headers[kind]);
	p->reference = report_of(reference_ns);
	p->other = report_of(other_ns);
	p->other.irq_ns = 3 * MS;
	p->other.steal_ns = 1 * MS;
	p->c.backends[0].report = &p->reference;
	p->c.backends[1].report = &p->other;
}

/* The target's process itself had so much. */
static void end(struct comparison *c, uint64_t own_ns)
{
	const struct sw_process rows[] = {
		{ .pid = 7, .start_boottime_ns = 90, .oncpu_ns = 1, .cgroup = "/late" }, /* the number was used again */
		{ .pid = 8, .start_boottime_ns = 10, .oncpu_ns = 2 },
		{ .pid = 7, .start_boottime_ns = 20, .oncpu_ns = own_ns, .cgroup = "/x" },
	};
	const struct sw_summary s = { .processes = rows, .n_processes = 3 };

	comparison_end(c, &s);
}

static void explains(const struct comparison *c, size_t i, const char *words)
{
	struct buf b = { 0 };

	comparison_explain(c, i, &b);
	buf_add(&b, "", 1);
	assert_int_equal(b.err, 0);
	assert_string_equal(b.data, words);
	buf_free(&b);
}

static void judged(const struct comparison *c, size_t i, int64_t difference_ns, int64_t explained_ns, bool known,
		   bool agrees)
{
	struct comparison_verdict v;

	comparison_judge(c, i, &v);
	assert_true(v.difference_ns == difference_ns);
	assert_true(v.explained_ns == explained_ns);
	assert_int_equal(v.known, known);
	assert_int_equal(v.agrees, agrees);
}

#define WITHIN "the tolerance of 24.0 ms (1 tick on each of 2 CPUs, 3.0 ms in interrupts, 1.0 ms stolen)"

static void sums_are_of_the_same_windows(void **state)
{
	struct comparison c;
	struct sw_report a, b;

	(void)state;
	comparison_init(&c, 10 * MS);
	comparison_opened(&c, &headers[EBPF]);
	comparison_opened(&c, &headers[PROC]);
	comparison_opened(&c, &headers[V2]);
	for (unsigned i = 0; i < 4; i++) {
		a = report_of(100 * MS + i);
		a.other_oncpu_ns = 7;
		a.lost_ns = 5;
		b = report_of(90 * MS + i);
		b.exits = 2;
		b.exits_ns = 30;
		b.flags = i == 1 ? SW_FLAG_MEMBERS : SW_FLAG_SHORT;
		b.irq_ns = i ? 4 : SW_ABSENT; /* as in a first window */
		if (i == 3)
			b.energy.proc_nj = SW_ABSENT;
		c.backends[0].report = &a;
		c.backends[1].report = &b;
		c.backends[2].report = i < 2 ? &b : NULL;
		comparison_add(&c);
	}
	assert_true(c.windows == 4 && c.duration_ns == 800 * MS && c.lost_ns == 20);
	assert_true(c.backends[0].oncpu_ns == 400 * MS + 6 && c.backends[0].reference_ns == 400 * MS + 6);
	assert_true(c.backends[1].oncpu_ns == 360 * MS + 6 && c.backends[1].reference_ns == 400 * MS + 6);
	assert_true(c.backends[1].others_ns == 28);
	assert_true(c.backends[1].windows == 4 && c.backends[1].exits == 8 && c.backends[1].exits_ns == 120);
	assert_true(c.backends[1].unseen == 1);
	assert_true(c.backends[1].irq_ns == 12 && c.backends[0].irq_ns == 12 && c.backends[2].irq_ns == 4);
	assert_true(c.backends[1].steal_ns == SW_ABSENT);
	assert_true(c.backends[1].nj == 10 * (int64_t)(270 * MS + 3));
	/* of the two windows that it had */
	assert_true(c.backends[2].windows == 2 && c.backends[2].oncpu_ns == 180 * MS + 1);
	assert_true(c.backends[2].reference_ns == 200 * MS + 1);
	c.backends[2].failure = strdup("the file is gone");
	judged(&c, 2, -20000000, 0, true, true);
	explains(&c, 2, "agrees within the tolerance of 20.0 ms (1 tick on each of 2 CPUs, 0.000 ms in interrupts); 4 tasks "
			"ended between two reads, with 0.000 ms of which only their ends told; in 1 window the end of "
			"tasks went untold; it failed after 2 of 4 windows, over which this is: the file is gone");
	explains(&c, 0, "the reference; it lost 0.000 ms of this machine's time");
	judged(&c, 0, SW_ABSENT, SW_ABSENT, false, false);
	comparison_free(&c);
	assert_int_equal(c.n, 0);
}

static void the_tolerance_has_an_edge(void **state)
{
	struct pair p;

	(void)state;
	pair(&p, PROC, 1000 * MS, 1024 * MS);
	comparison_add(&p.c);
	judged(&p.c, 1, 24000000, 0, true, true);
	explains(&p.c, 1, "agrees within " WITHIN);
	comparison_free(&p.c);

	pair(&p, PROC, 1000 * MS, 1024 * MS + 1);
	comparison_add(&p.c);
	judged(&p.c, 1, 24000001, 0, true, false);
	explains(&p.c, 1, "leaves 24.0 ms of the difference unexplained, beyond " WITHIN);
	comparison_free(&p.c);

	pair(&p, PROC, 1024 * MS + 1, 1000 * MS);
	p.reference.lost_ns = 1500 * MS;
	comparison_add(&p.c);
	judged(&p.c, 1, -24000001, 0, true, false);
	explains(&p.c, 1, "leaves 24.0 ms of the difference unexplained, beyond " WITHIN "; ebpf lost 1.500 s");
	comparison_free(&p.c);

	/* one CPU is off all the time, and nobody tells of interrupts */
	pair(&p, V1, 1000 * MS, 1010 * MS);
	p.reference.offline_ns = 200 * MS;
	p.other.irq_ns = p.other.steal_ns = SW_ABSENT;
	comparison_add(&p.c);
	judged(&p.c, 1, 10000000, 0, true, true);
	explains(&p.c, 1, "agrees within the tolerance of 10.0 ms (1 tick of the CPU; interrupts and stolen time are not "
			  "known)");
	comparison_free(&p.c);
}

static void strangers_in_a_cgroup(void **state)
{
	struct pair p;

	(void)state;
	pair(&p, V2, 1000 * MS, 2207 * MS);
	p.other.shared_with = 3;
	p.other.shared_ns = 1204 * MS;
	comparison_add(&p.c);
	end(&p.c, 900 * MS);
	judged(&p.c, 1, 1207000000, 1204000000, true, true);
	explains(&p.c, 1, "its cgroup /x also holds 3 other processes, which used 1.204 s; that is the difference, but for "
			  "3.0 ms, within " WITHIN);
	comparison_free(&p.c);

	/* not all of it is theirs */
	pair(&p, V1, 1000 * MS, 2504 * MS);
	p.other.shared_with = 1;
	p.other.shared_ns = 1204 * MS;
	comparison_add(&p.c);
	end(&p.c, 900 * MS);
	judged(&p.c, 1, 1504000000, 1204000000, true, false);
	explains(&p.c, 1, "its cgroup also holds 1 other process, which used 1.204 s; that leaves 300.0 ms of the difference "
			  "unexplained, beyond " WITHIN);
	comparison_free(&p.c);

	/* but all others on the machine together had just that */
	pair(&p, V2, 1000 * MS, 2504 * MS);
	p.other.shared_with = 100;
	p.other.shared_ns = 1204 * MS;
	p.reference.other_oncpu_ns = 1504 * MS + 24 * MS;
	comparison_add(&p.c);
	judged(&p.c, 1, 1504000000, 1528000000, true, true);
	explains(&p.c, 1, "its cgroup also holds 100 other processes, which used 1.204 s while they were seen; with those "
			  "that came and went, all others on this machine used 1.528 s; that is the difference, but for 24.0 "
			  "ms, within " WITHIN);
	comparison_free(&p.c);
	pair(&p, V2, 1000 * MS, 2504 * MS);
	p.other.shared_with = 100;
	p.other.shared_ns = 1204 * MS;
	p.reference.other_oncpu_ns = 1504 * MS + 24 * MS + 1; /* or not */
	comparison_add(&p.c);
	judged(&p.c, 1, 1504000000, 1204000000, true, false);
	comparison_free(&p.c);

	/* what they used is not known in one of the windows */
	pair(&p, V2, 1000 * MS, 2504 * MS);
	p.other.shared_with = 2;
	for (unsigned i = 0; i < 3; i++) {
		p.other.shared_ns = i == 1 ? SW_ABSENT : (int64_t)(1504 * MS);
		comparison_add(&p.c);
	}
	judged(&p.c, 1, 4512000000, SW_ABSENT, false, false);
	explains(&p.c, 1, "its cgroup also holds up to 2 other processes, of which is not known what they used");
	comparison_free(&p.c);

	/* there could be others, and are none */
	pair(&p, V2, 1000 * MS, 1001 * MS);
	p.other.shared_with = 0;
	p.other.shared_ns = 0;
	comparison_add(&p.c);
	judged(&p.c, 1, 1000000, 0, true, true);
	explains(&p.c, 1, "agrees within " WITHIN);
	comparison_free(&p.c);
}

static void one_process_divided_by_the_cpus(void **state)
{
	struct pair p;

	(void)state;
	pair(&p, PERCENT, 1998 * MS, 1000 * MS);
	comparison_add(&p.c);
	end(&p.c, 1998 * MS);
	assert_true(p.c.own_ns == (int64_t)(1998 * MS));
	judged(&p.c, 1, -998000000, -999000000, true, true);
	explains(&p.c, 1, "divides by the CPUs of this machine: 1/2 of the 1.998 s that the process itself used; that is the "
			  "difference, but for 1.0 ms, within " WITHIN);
	comparison_free(&p.c);

	/* with children, which it leaves out */
	pair(&p, PERCENT, 2298 * MS, 940 * MS);
	comparison_add(&p.c);
	end(&p.c, 1998 * MS);
	judged(&p.c, 1, -1358000000, -1299000000, true, false);
	explains(&p.c, 1, "divides by the CPUs of this machine: 1/2 of the 1.998 s that the process itself used, without the "
			  "300.0 ms of what descends from it; that leaves 59.0 ms of the difference unexplained, beyond "
			  WITHIN);
	comparison_free(&p.c);

	/* nobody tells what the process itself had */
	pair(&p, PERCENT, 2298 * MS, 940 * MS);
	comparison_add(&p.c);
	comparison_end(&p.c, &(struct sw_summary){ .n_processes = 0 });
	judged(&p.c, 1, -1358000000, SW_ABSENT, false, false);
	explains(&p.c, 1, "divides by the 2 CPUs of this machine; what the process itself used is not known");
	comparison_free(&p.c);

	/* or only of more windows than these */
	pair(&p, PERCENT, 1000 * MS, 500 * MS);
	comparison_add(&p.c);
	p.c.backends[1].report = NULL;
	comparison_add(&p.c);
	end(&p.c, 2000 * MS);
	judged(&p.c, 1, -500000000, SW_ABSENT, false, false);
	comparison_free(&p.c);
}

static void tasks_that_ended(void **state)
{
	struct pair p;

	(void)state;
	pair(&p, PROC, 1000 * MS, 999 * MS);
	p.other.exits = 12;
	p.other.exits_ns = 52 * MS;
	comparison_add(&p.c);
	explains(&p.c, 1, "agrees within " WITHIN "; 12 tasks ended between two reads, with 52.0 ms of which only their ends "
			  "told");
	comparison_free(&p.c);
	pair(&p, PROC, 1000 * MS, 900 * MS);
	p.other.exits = 1;
	p.other.exits_ns = 52000;
	comparison_add(&p.c);
	explains(&p.c, 1, "leaves 100.0 ms of the difference unexplained, beyond " WITHIN "; 1 task ended between two reads, "
			  "with 0.052 ms of which only its end told");
	comparison_free(&p.c);
}

static void one_that_never_told(void **state)
{
	struct pair p;

	(void)state;
	pair(&p, PROC, 1000 * MS, 0);
	p.c.backends[1].report = NULL;
	comparison_add(&p.c);
	p.c.backends[1].failure = strdup("no memory");
	judged(&p.c, 1, SW_ABSENT, SW_ABSENT, false, false);
	assert_true(comparison_millipercent(&p.c, 1) == SW_ABSENT);
	explains(&p.c, 1, "failed before the end of its first window: no memory");
	comparison_free(&p.c);
}

static void without_ebpf(void **state)
{
	struct comparison c;
	struct sw_report r = report_of(5);

	(void)state;
	comparison_init(&c, 10 * MS);
	comparison_opened(&c, &headers[PROC]);
	comparison_opened(&c, &headers[PERCENT]);
	assert_int_equal(comparison_refused(&c, "ebpf", "no right to"), 0);
	c.backends[0].report = c.backends[1].report = &r;
	comparison_add(&c);
	explains(&c, 0, "the reference, since there is no ebpf to be it");
	comparison_free(&c);
}

static void per_cent(void **state)
{
	static const struct {
		uint64_t reference_ns, other_ns;
		int64_t milli;
	} cases[] = {
		{ 1000, 1000, 0 },       { 200000, 199999, -1 },     { 200000, 200001, 1 }, /* half up */
		{ 200001, 200002, 0 },   { 3, 1, -66667 },           { 3, 4, 33333 },
		{ 1000, 0, -100000 },    { UINT64_MAX / 40, 0, -100000 }, { 0, 5, SW_ABSENT },
		{ 1, 10000000000, 999999999900000 },
	};
	struct pair p;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pair(&p, PROC, cases[i].reference_ns, cases[i].other_ns);
		comparison_add(&p.c);
		assert_true(comparison_millipercent(&p.c, 1) == cases[i].milli);
		assert_true(comparison_millipercent(&p.c, 0) == SW_ABSENT);
		comparison_free(&p.c);
	}
}

/* A recording of one window, as both sinks show it. */
static void record(struct pair *p, struct recording *rec, struct sw_summary *s)
{
	pair(p, PERCENT, 200 * MS, 95 * MS);
	assert_int_equal(comparison_refused(&p->c, "cgroup_v2", "no such\x1b[1m file"), 0);
	comparison_add(&p->c);
	end(&p->c, 190 * MS);
	*rec = (struct recording){ .header = &headers[EBPF], .comparison = &p->c, .end = "duration", .host = "box" };
	*s = (struct sw_summary){
		.duration_ns = 200 * MS,
		.samples = 1,
		.energy = { { 2000000000, 2000000000, 0, 0, 0 } },
	};
}

static void expect(struct buf *b, const char *text)
{
	buf_add(b, "", 1);
	assert_int_equal(b->err, 0);
	assert_string_equal(b->data, text);
	buf_clear(b);
}

static void as_text(void **state)
{
	struct recording rec;
	struct sw_summary s;
	struct buf b = { 0 };
	struct pair p;

	(void)state;
	record(&p, &rec, &s);
	assert_string_equal(sink_text.compare->name, "text");
	sink_text.compare->sample(&rec, &p.reference, NULL, &b);
	expect(&b, "");
	sink_text.compare->summary(&rec, &s, &b);
	expect(&b,
	       "\n schedwatt compare: process 7 and its descendants\n\n"
	       " back end    quality         CPU s         joules  difference in ns      in %\n"
	       " ebpf        exact        0.200000       2.000000                 -         -  reference\n"
	       " cpu_percent coarse       0.095000       0.950000        -105000000    -52.50  explained\n"
	       "\n"
	       " ebpf: the reference\n"
	       " cpu_percent: divides by the CPUs of this machine: 1/2 of the 190.0 ms that the process itself used,\n"
	       "   without the 10.0 ms of what descends from it; that is the difference, but for 0 ms, within the\n"
	       "   tolerance of 24.0 ms (1 tick on each of 2 CPUs, 3.0 ms in interrupts, 1.0 ms stolen)\n"
	       " cgroup_v2 did not open: no such?[1m file\n"
	       "\n"
	       " 0.200 s in 1 window, the same for all\n"
	       " back end ebpf (exact, attached by tp_btf); energy source powercap (measured); policy busy\n\n");
	comparison_free(&p.c);

	/* what stands in the last column */
	pair(&p, V2, 1000 * MS, 2000 * MS);
	comparison_add(&p.c);
	rec.comparison = &p.c;
	sink_text.compare->summary(&rec, &s, &b);
	assert_non_null(strstr(b.data, "+1000000000   +100.00  UNEXPLAINED\n"));
	comparison_free(&p.c);
	buf_clear(&b);
	pair(&p, V2, 1000 * MS, 1001 * MS);
	comparison_add(&p.c);
	sink_text.compare->summary(&rec, &s, &b);
	assert_non_null(strstr(b.data, "+1000000     +0.10  agrees\n"));
	comparison_free(&p.c);
	buf_clear(&b);
	pair(&p, PERCENT, 1000 * MS, 500 * MS);
	comparison_add(&p.c);
	sink_text.compare->summary(&rec, &s, &b);
	assert_non_null(strstr(b.data, "-500000000    -50.00  not known\n"));
	comparison_free(&p.c);
	buf_free(&b);
}

#define QUALITY "\"energy_source\":\"powercap\",\"energy_quality\":\"measured\",\"attribution_policy\":\"busy\","
#define NOTHING "\"other_oncpu_ns\":0,\"idle_ns\":0,\"lost_ns\":0,\"offline_ns\":0," \
	"\"shared_with\":null,\"shared_ns\":null,\"exits\":0,\"exits_ns\":0,"

static void as_records(void **state)
{
	struct recording rec;
	struct sw_summary s;
	struct buf b = { 0 };
	struct pair p;

	(void)state;
	record(&p, &rec, &s);
	sink_jsonl.compare->header(&rec, &b);
	buf_add(&b, "", 1);
	assert_non_null(strstr(b.data, "\"type\":\"header\",\"schema\":\"schedwatt/1\""));
	assert_non_null(strstr(b.data, "\"attribution_backend\":\"ebpf\""));
	assert_non_null(strstr(b.data, "\"backend_refusals\":[{\"backend\":\"cgroup_v2\",\"reason\":\"no such\\u001b[1m "
				       "file\"}]"));
	buf_clear(&b);
	p.reference.flags = SW_FLAG_SHORT;
	sink_jsonl.compare->sample(&rec, &p.reference, NULL, &b);
	expect(&b, "{\"type\":\"comparison\",\"seq\":0,\"t_ns\":0,\"time_utc\":\"1970-01-01T00:00:00.000000000Z\","
		   "\"window_ns\":200000000," QUALITY "\"total_joules\":2,\"backends\":["
		   "{\"backend\":\"ebpf\",\"quality\":\"exact\",\"proc_oncpu_ns\":200000000,\"proc_attributed_joules\":2,"
		   NOTHING "\"irq_ns\":null,\"steal_ns\":null,\"window_flags\":[\"short\"]},"
		   "{\"backend\":\"cpu_percent\",\"quality\":\"coarse\",\"proc_oncpu_ns\":95000000,"
		   "\"proc_attributed_joules\":0.95," NOTHING
		   "\"irq_ns\":3000000,\"steal_ns\":1000000,\"window_flags\":[]}]}\n");
	p.c.backends[1].report = NULL; /* it has failed: there is nothing of it */
	sink_jsonl.compare->sample(&rec, &p.reference, NULL, &b);
	buf_add(&b, "", 1);
	assert_null(strstr(b.data, "cpu_percent"));
	buf_clear(&b);
	sink_jsonl.compare->summary(&rec, &s, &b);
	expect(&b, "{\"type\":\"comparison_summary\",\"reference\":\"ebpf\",\"end\":\"duration\",\"duration_s\":0.2,"
		   "\"samples\":1," QUALITY "\"total_joules\":2,\"cpus\":2,\"tick_ns\":10000000,\"lost_ns\":0,"
		   "\"own_oncpu_ns\":190000000,\"backends\":["
		   "{\"backend\":\"ebpf\",\"quality\":\"exact\",\"windows\":1,\"oncpu_ns\":200000000,\"joules\":2,"
		   "\"difference_ns\":null,\"difference_percent\":null,\"explained_ns\":null,\"tolerance_ns\":24000000,"
		   "\"agrees\":null,\"shared_with\":null,\"shared_ns\":null,\"exits\":0,\"exits_ns\":0,\"irq_ns\":3000000,"
		   "\"steal_ns\":1000000,\"failure\":null,\"explanation\":\"the reference\"},"
		   "{\"backend\":\"cpu_percent\",\"quality\":\"coarse\",\"windows\":1,\"oncpu_ns\":95000000,\"joules\":0.95,"
		   "\"difference_ns\":-105000000,\"difference_percent\":-52.5,\"explained_ns\":-105000000,"
		   "\"tolerance_ns\":24000000,\"agrees\":true,\"shared_with\":null,\"shared_ns\":null,\"exits\":0,"
		   "\"exits_ns\":0,\"irq_ns\":3000000,\"steal_ns\":1000000,\"failure\":null,\"explanation\":\"divides by the "
		   "CPUs of this machine: 1/2 of the 190.0 ms that the process itself used, without the 10.0 ms of what "
		   "descends from it; that is the difference, but for 0 ms, within " WITHIN "\"}]}\n");
	comparison_free(&p.c);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_of_the_same_windows),
		cmocka_unit_test(the_tolerance_has_an_edge),
		cmocka_unit_test(strangers_in_a_cgroup),
		cmocka_unit_test(one_process_divided_by_the_cpus),
		cmocka_unit_test(tasks_that_ended),
		cmocka_unit_test(one_that_never_told),
		cmocka_unit_test(without_ebpf),
		cmocka_unit_test(per_cent),
		cmocka_unit_test(as_text),
		cmocka_unit_test(as_records),
	};

	return cmocka_run_group_tests_name("comparison", tests, NULL, NULL);
}

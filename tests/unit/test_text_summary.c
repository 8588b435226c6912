/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what the summary says beside its numbers: shares, flaws, warnings, what is short-lived; its width whatever names
 * hold, and its colours.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli_fixture.h"

#define PM "\xc2\xb1"
#define S  UINT64_C(1000000000)
#define MJ INT64_C(1000000)

/* One process of one package: 12 J in 2 s, 9 J of it the command's, 6 J above idle. */
static const uint64_t idle_uw[] = { 1500000 };
static char *const command[] = { (char *)"./bench", NULL };

static struct sw_header header(void)
{
	struct sw_header h = fixture_header;

	h.policy = "busy";
	h.n_zones = 0;
	h.baseline_uw = idle_uw;
	h.n_baseline = 1;
	return h;
}

static struct sw_summary summary(void)
{
	return (struct sw_summary){
		.duration_ns = 2 * S,
		.samples = 10,
		.energy = {
			[SW_POLICY_BUSY] = { 12000 * MJ, 9000 * MJ, 3000 * MJ, 0, 0 },
			[SW_POLICY_CAPACITY] = { 12000 * MJ, 4500 * MJ, 1500 * MJ, 6000 * MJ, 0 },
			[SW_POLICY_MARGINAL] = { 12000 * MJ, 6000 * MJ, 3000 * MJ, 3000 * MJ, 0 },
		},
		.total_uncertainty_nj = 24 * MJ,
		.proc_uncertainty_nj = 30 * MJ,
		.proc_oncpu_ns = 3 * S,
		.shared_with = SW_ABSENT,
		.recursion_misses = SW_ABSENT,
	};
}

/* The text, terminated; no line of it is wider than 100 columns, and none holds a control character. */
static const char *plain(struct buf *b, const struct recording *rec, const struct sw_summary *s)
{
	unsigned columns = 0;

	buf_clear(b);
	sink_text.summary(rec, s, b);
	buf_add(b, "", 1);
	assert_int_equal(b->err, 0);
	for (const char *at = b->data; *at; at++) {
		assert_true((unsigned char)*at >= 0x20 ? *at != 0x7f : *at == '\n');
		columns = *at == '\n' ? 0 : columns + ((*at & 0xc0) != 0x80);
		assert_in_range(columns, 0, 100);
	}
	return b->data;
}

/* cmocka cuts its messages. */
static void holds(const char *text, const char *part)
{
	if (strstr(text, part))
		return;
	fprintf(stderr, "%s", text);
	fail_msg("there is no\n%s", part);
}

static void lacks(const char *text, const char *part)
{
	if (!strstr(text, part))
		return;
	fprintf(stderr, "%s", text);
	fail_msg("there is\n%s", part);
}

static void test_measured_with_baseline(void **state)
{
	struct sw_header h = header();
	struct recording rec = { .header = &h, .command = command };
	struct sw_summary s = summary();
	struct buf b = { 0 };

	(void)state;
	assert_string_equal(plain(&b, &rec, &s),
			    "\n"
			    " schedwatt run: ./bench\n"
			    "\n"
			    "          9.000000 J " PM "0.030000         command, policy busy\n"
			    "          4.500000 W " PM "0.015000         command, mean power\n"
			    "         12.000000 J " PM "0.024000         whole machine\n"
			    "          6.000000 W " PM "0.012000         whole machine, mean power\n"
			    "\n"
			    "          9.000000 J " PM "0.030000         busy: all energy goes by CPU time\n"
			    "          4.500000 J                   capacity: idle CPUs keep their part\n"
			    "          6.000000 J                   above idle: what the idle baseline leaves over\n"
			    "\n"
			    "          3.000000 s                   CPU time of the command\n"
			    "          2.000000 s                   wall time\n"
			    "             1.500                     average parallelism: CPU time / wall time\n"
			    "                 0                     processes seen, 0 still running\n"
			    "\n"
			    " 10 windows, none flagged, nothing lost\n"
			    " back end ebpf (exact, attached by tp_btf); energy source powercap (measured); policy busy\n"
			    "\n");
	h.policy = "marginal";
	holds(plain(&b, &rec, &s), "          6.000000 J " PM "0.030000         command, policy marginal\n");
	holds(b.data, "          9.000000 J                   busy: all energy goes by CPU time\n");
	holds(b.data, "          6.000000 J " PM "0.030000         above idle: what the idle baseline leaves over\n");
	h.n_baseline = 0;
	holds(plain(&b, &rec, &s), "                 - J                   above idle: needs --baseline\n");
	rec.command = NULL;
	h.target = SW_TARGET_HOST;
	holds(plain(&b, &rec, &s), " all tasks, policy marginal\n");
	buf_free(&b);
}

/* A model's doubt is in proportion, so that every number of it has one. */
static void test_modelled(void **state)
{
	struct sw_header h = header();
	struct recording rec = { .header = &h, .command = command };
	struct sw_summary s = summary();
	struct buf b = { 0 };

	(void)state;
	h.energy_source = "model";
	h.energy_quality = "modelled";
	s.total_uncertainty_nj = 6000 * MJ;
	s.proc_uncertainty_nj = 4500 * MJ;
	holds(plain(&b, &rec, &s), "         ~9.000000 J " PM "4.500000         busy: ");
	holds(b.data, "         ~4.500000 J " PM "2.250000         capacity: ");
	holds(b.data, "         ~6.000000 J " PM "3.000000         above idle: ");
	holds(b.data, "\n ~ is a model's number " PM "50.0 %, not a measured one\n");
	s.cgroups = fixture_cgroups;
	s.n_cgroups = FIXTURE_CGROUPS;
	rec.by = SW_BY_CGROUP;
	holds(plain(&b, &rec, &s),
	      "\n      own CPU s  subtree CPU s  subtree joules " PM "50.0 %  cgroup\n"
	      "       0.001000       0.181000               ~3.000000  /\n");
	lacks(b.data, "too short"); /* that is about counters */
	buf_free(&b);
}

/* How the machine was set is said where it makes numbers doubtful. */
static void test_settings(void **state)
{
	struct sw_environment environment = { .ac_power = 1 };
	struct sw_header h = header();
	struct recording rec = { .header = &h };
	struct sw_summary s = summary();
	struct buf b = { 0 };

	(void)state;
	h.environment = &environment;
	assert_null(strstr(plain(&b, &rec, &s), "battery"));
	environment.ac_power = SW_ABSENT;
	assert_null(strstr(plain(&b, &rec, &s), "battery"));
	environment.ac_power = 0;
	holds(plain(&b, &rec, &s), "\n on battery: the machine may have been slowed down to save it\n");
	lacks(b.data, "governor");
	environment = (struct sw_environment){ .ac_power = 0, .governor = "powersave", .driver = "acpi-cpufreq" };
	holds(plain(&b, &rec, &s), " to save it\n governor powersave of acpi-cpufreq: the CPUs are held at their lowest "
				   "frequency\n");
	environment.governor = "performance";
	lacks(plain(&b, &rec, &s), "governor");
	environment.governor = "powersave";
	environment.driver = "intel_pstate";
	lacks(plain(&b, &rec, &s), "governor");
	environment.driver = "amd-pstate-epp";
	lacks(plain(&b, &rec, &s), "governor");
	environment.driver = NULL;
	lacks(plain(&b, &rec, &s), "governor");
	buf_free(&b);
}

/* Each flag says what it means for the numbers. */
static void test_flaws(void **state)
{
	struct sw_header h = header();
	struct recording rec = { .header = &h };
	struct sw_summary s = summary();
	struct buf b = { 0 };
	char head[64];

	(void)state;
	for (uint32_t bit = 0; bit < SW_FLAGS; bit++)
		s.windows_flagged[bit] = bit + 1;
	s.samples = 1234;
	s.lost_ns = 3 * S;
	s.lost_by_kind_ns[SW_LOST_SLOTS] = 2 * S;
	s.lost_by_kind_ns[SW_LOST_OTHER] = S;
	plain(&b, &rec, &s);
	holds(b.data,
	      "\n 1234 windows\n"
	      " lost: 3.000000 s of CPU time belong to no task, and their energy is in no share: 2.000000 s for\n"
	      "   want of room in the kernel's table of tasks (--slots makes it larger); 1.000000 s for other\n"
	      "   reasons, such as a boundary seen late\n"
	      " late, 1 of 1234 windows: a CPU saw a boundary only after it had passed; what could not be placed\n"
	      "   there is lost\n"
	      " short, 2 of 1234 windows: shorter than 50 ms, of which the step of the energy counters is a large\n"
	      "   part\n"
	      " partial, 3 of 1234 windows: a zone could not be read, or its package was off, and is in no sum: the\n"
	      "   totals are too low\n"
	      " no_energy, 4 of 1234 windows: an energy counter failed, went back or stood too long; their joules\n"
	      "   are missing from the totals, their CPU time is not\n");
	lacks(b.data, "no program saw");
	for (uint32_t bit = 0; bit < SW_FLAGS; bit++) {
		snprintf(head, sizeof(head), "\n %s, %u of 1234 windows: ", sw_flag_name(bit), bit + 1);
		holds(b.data, head);
	}
	/* which meaning goes with which name */
	holds(b.data, " suspend, 5 of 1234 windows: the machine slept;");
	holds(b.data, " members, 6 of 1234 windows: tasks of the target could not be followed;");
	holds(b.data, " hybrid, 9 of 1234 windows: cores of different types");
	holds(b.data, " steal, 10 of 1234 windows: a hypervisor");
	holds(b.data, " baseline, 11 of 1234 windows: less was used than the baseline says;");
	holds(b.data, " busy_raised, 12 of 1234 windows: the host's busy time");
	buf_free(&b);
}

/* Below twenty steps of a counter, or with a doubt above a fifth, joules mean little; only where counters are read. */
static void test_too_short(void **state)
{
	static const struct {
		uint64_t duration_ns;
		int64_t total_doubt_nj, proc_doubt_nj;
		bool warned;
	} cases[] = {
		{ 20000000, 2400 * MJ, 1800 * MJ, false }, { 19999999, 0, 0, true },
		{ 2 * S, 2401 * MJ, 1800 * MJ, true },     { 2 * S, 2400 * MJ, 1801 * MJ, true },
		{ 2 * S, SW_ABSENT, SW_ABSENT, false },
	};
	struct sw_header h = header();
	struct recording rec = { .header = &h };
	struct sw_summary s = summary();
	struct buf b = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s.duration_ns = cases[i].duration_ns;
		s.total_uncertainty_nj = cases[i].total_doubt_nj;
		s.proc_uncertainty_nj = cases[i].proc_doubt_nj;
		plain(&b, &rec, &s);
		(cases[i].warned ? holds : lacks)(b.data, "too short: ");
	}
	s.duration_ns = 8000000;
	holds(plain(&b, &rec, &s),
	      "\n too short: energy counters step about once a millisecond, and 0.008000 s are too few steps for\n"
	      "   joules to mean much; let it run longer, or do its work many times in one recording\n");
	for (int i = 0; i < SW_POLICIES; i++)
		s.energy[i] = (struct sw_energy)FIXTURE_NOTHING;
	lacks(plain(&b, &rec, &s), "too short: ");
	holds(b.data, "                 - J                   whole machine\n");
	buf_free(&b);
}

/* 3,000 children that hardly lived: ten rows, one number for the rest, and one for all that were short. */
static void test_short_lived(void **state)
{
	enum { N = 3000 };
	struct sw_process *rows = calloc(N + 1, sizeof(*rows));
	const struct sw_comm comms[] = { { "sh", 1, S, 3000 * MJ }, { "true", N, 2 * S, 6000 * MJ } };
	struct sw_header h = header();
	struct recording rec = { .header = &h, .command = command };
	struct sw_summary s = summary();
	struct buf b = { 0 };

	(void)state;
	assert_non_null(rows);
	rows[0] = (struct sw_process){ .pid = 10, .comm = "sh", .oncpu_ns = S, .nj = 3000 * MJ };
	for (int i = 1; i <= N; i++)
		rows[i] = (struct sw_process){ .pid = 10 + i, .comm = "true", .oncpu_ns = 2 * S / N, .nj = 2 * MJ,
					       .exited = 1, .exit_known = 1 };
	s.processes = rows;
	s.n_processes = N + 1;
	s.processes_folded = 7;
	s.comms = comms;
	s.n_comms = 2;
	plain(&b, &rec, &s);
	holds(b.data,
	      "\n            joules share %    CPU time s  processes     exited  command\n"
	      "          3.000000    33.3      1.000000          1          0  sh\n"
	      "          6.000000    66.7      2.000000       3000       3000  true\n");
	holds(b.data,
	      "\n          3.000000    33.3      1.000000           10  sh\n"
	      "          0.002000     0.0      0.000667           11  true               exit 0\n");
	holds(b.data,
	      "                                                       and 2998 more\n"
	      " short-lived or idle: 3000 processes ended with under 10 ms of CPU time each; together 1.999998 s,\n"
	      "   6.000000 J, 66.7 %\n");
	rows[1].exited = 0; /* a process that is running may do more yet */
	rows[2].oncpu_ns = 10000000;
	holds(plain(&b, &rec, &s), " short-lived or idle: 2998 processes ended");
	h.energy_quality = NULL;
	for (int i = 0; i < SW_POLICIES; i++)
		s.energy[i] = (struct sw_energy)FIXTURE_NOTHING;
	for (int i = 0; i <= N; i++)
		rows[i].nj = SW_ABSENT;
	holds(plain(&b, &rec, &s), "together 1.998665 s,\n   66.6 %\n"); /* of CPU time, where there are no joules */
	s.n_processes = 4; /* one alone is in the table */
	lacks(plain(&b, &rec, &s), "short-lived");
	buf_free(&b);
	free(rows);
}

/* Names of every width and byte keep to their columns. */
static void test_names(void **state)
{
	const struct sw_process rows[] = {
		{ .host_pid = 4194304, .comm = "123456789012345", .kernel_thread = 1, .oncpu_ns = S, .nj = MJ,
		  .exited = 1, .exit_known = 1, .exit_code = 255 << 8 },
		{ .pid = 4194304, .comm = "\x1b]0;title\x07", .cmdline = "/a/very/long/path/to/some/program --and=more",
		  .oncpu_ns = S, .nj = INT64_MAX, .exited = 1, .exit_known = 1, .exit_code = 64 },
		{ .pid = 1, .comm = "\xc3\xa9\xff", .cmdline = "short", .oncpu_ns = S, .nj = SW_ABSENT, .exited = 1 },
	};
	struct sw_header h = header();
	struct recording rec = { .header = &h, .by = SW_BY_PROCESS };
	struct sw_summary s = summary();
	struct buf b = { 0 };

	(void)state;
	s.processes = rows;
	s.n_processes = 3;
	holds(plain(&b, &rec, &s),
	      "\n            joules share %    CPU time s          pid  command            end       command line\n"
	      "          0.001000     0.0      1.000000 host:4194304  [123456789012345]  exit 255\n"
	      " 9223372036.854776 102481911520.6      1.000000      4194304  ?]0;title?         sig 64    /a/very/\xe2\x80\xa6\n"
	      "                 -       -      1.000000            1  \xc3\xa9\xef\xbf\xbd                 exited    short\n");
	buf_free(&b);
}

/* Without the escape sequences the text is the same; each line ends as it began. */
static void test_colours(void **state)
{
	struct sw_header h = header();
	struct recording rec = { .header = &h, .command = command };
	struct sw_summary s = summary();
	struct buf coloured = { 0 }, b = { 0 };
	char *from, *to;

	(void)state;
	s.windows_flagged[0] = 1;
	s.lost_ns = s.lost_by_kind_ns[SW_LOST_MISSED] = 1000;
	rec.style.colour = true;
	sink_text.summary(&rec, &s, &coloured);
	buf_add(&coloured, "", 1);
	assert_int_equal(coloured.err, 0);
	holds(coloured.data, "\n\033[1m schedwatt run: ./bench\033[0m\n");
	holds(coloured.data, "\n\033[1m          9.000000 J " PM "0.030000         command, policy busy\033[0m\n");
	holds(coloured.data, "\n\033[33m late, 1 of 10 windows: ");
	holds(coloured.data, "   context switches that no program saw\033[0m\n");
	for (from = to = coloured.data; *from;) {
		if (*from == '\033')
			from += strcspn(from, "m") + 1;
		else
			*to++ = *from++;
	}
	*to = '\0';
	rec.style.colour = false;
	assert_string_equal(coloured.data, plain(&b, &rec, &s));
	buf_free(&coloured);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_measured_with_baseline), cmocka_unit_test(test_modelled),
		cmocka_unit_test(test_settings),               cmocka_unit_test(test_flaws),
		cmocka_unit_test(test_too_short),
		cmocka_unit_test(test_short_lived),            cmocka_unit_test(test_names),
		cmocka_unit_test(test_colours),
	};

	return cmocka_run_group_tests_name("text_summary", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what series of runs come to, from made-up summaries: which runs count, means whose parts are their whole, notes,
 * verdicts on budgets, and how they look as text, as records and as one JSON object.
 */
#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/budget.h"
#include "cli/json_result.h"
#include "cli/series.h"
#include "cli_fixture.h"

/* What the library would say of a run, of so many hundredths of what the fixture has. */
static struct sw_summary summary_of(uint64_t hundredths)
{
	struct sw_summary s = fixture_summary;

	s.windows_without_energy = 0;
	s.duration_ns = s.duration_ns / 100 * hundredths;
	s.proc_oncpu_ns = s.proc_oncpu_ns / 100 * hundredths;
	for (int i = 0; i < SW_POLICY_MARGINAL; i++) {
		s.energy[i].proc_nj = s.energy[i].proc_nj / 100 * (int64_t)hundredths;
		s.energy[i].total_nj = s.energy[i].proc_nj + s.energy[i].other_nj + s.energy[i].idle_nj +
				       s.energy[i].unattributed_nj;
	}
	return s;
}

static struct run *add(struct series *s, struct run run, const struct sw_summary *summary)
{
	struct run *r;

	assert_int_equal(series_header(s, &fixture_header), 0);
	run.recorded = true;
	run.index = (uint32_t)s->n + 1 - (run.warmup ? 0 : s->warmup);
	run.pid = 4242;
	r = series_add(s, &run, &fixture_header, summary);
	assert_non_null(r);
	return r;
}

/* Runs of 100, 90 and 110 hundredths behind a warm-up of 300. */
static void make(struct series *s)
{
	static const uint64_t all[] = { 300, 100, 90, 110 };

	*s = (struct series){ .repeat = 3, .warmup = 1, .end = "command" };
	for (size_t i = 0; i < 4; i++) {
		struct sw_summary summary = summary_of(all[i]);

		series_forget_rows(add(s, (struct run){ .warmup = i == 0 }, &summary));
	}
	assert_int_equal(series_end(s), 0);
}

static void test_counts(void **state)
{
	struct series s;

	(void)state;
	make(&s);
	assert_int_equal(s.n, 4);
	assert_int_equal(s.n_counted, 3);
	assert_false(s.runs[0].counted);
	assert_int_equal(s.runs[3].index, 3);
	assert_true(s.statistics[QUANTITY_WALL].mean == 2500000000);
	assert_true(s.statistics[QUANTITY_WALL].min == 2250000000 && s.statistics[QUANTITY_WALL].max == 2750000000);
	assert_true(s.statistics[QUANTITY_CPU].mean == 3000000000);
	assert_true(s.statistics[QUANTITY_CPU].sd == 300000000);
	/* the fixture's policy is capacity; 5000000001 / 100 is rounded down */
	assert_true(s.statistics[QUANTITY_JOULES].mean == 5000000000);
	assert_true(s.statistics[QUANTITY_WATTS].mean == 2000000000);
	assert_true(s.statistics[QUANTITY_WATTS].sd == 0);
	series_free(&s);
}

static void test_failures(void **state)
{
	struct sw_summary summary = summary_of(100);
	struct series s = { .repeat = 3 };

	(void)state;
	assert_true(add(&s, (struct run){ 0 }, &summary)->counted);
	assert_false(add(&s, (struct run){ .wait_status = 7 << 8 }, &summary)->counted);
	assert_false(add(&s, (struct run){ .interrupted = true }, &summary)->counted);
	assert_int_equal(s.n_failed, 0);
	series_free(&s);
	s = (struct series){ .repeat = 3, .keep_going = true };
	assert_true(add(&s, (struct run){ 0 }, &summary)->counted);
	assert_true(add(&s, (struct run){ .wait_status = 7 << 8 }, &summary)->counted);
	assert_int_equal(series_end(&s), 0);
	assert_int_equal(s.n_failed, 1);
	assert_string_equal(s.notes[0], "the command failed in 1 of 2 runs, which count like the others");
	series_free(&s);
	/* a command that runs once is what was asked about, however it ends */
	s = (struct series){ .repeat = 1 };
	assert_true(add(&s, (struct run){ .wait_status = 9 }, &summary)->counted);
	series_free(&s);
}

/* A run in which energy went missing is not in the joules, and in all else. */
static void test_missing(void **state)
{
	struct sw_summary summary = summary_of(100), without = summary_of(50);
	struct series s = { .repeat = 2 };

	(void)state;
	without.windows_without_energy = 1;
	add(&s, (struct run){ 0 }, &summary);
	assert_true(add(&s, (struct run){ 0 }, &without)->quantities[QUANTITY_JOULES] == SW_ABSENT);
	assert_int_equal(series_end(&s), 0);
	assert_int_equal(s.statistics[QUANTITY_JOULES].n, 1);
	assert_int_equal(s.statistics[QUANTITY_JOULES].absent, 1);
	assert_int_equal(s.statistics[QUANTITY_WATTS].absent, 1);
	assert_true(s.statistics[QUANTITY_CPU].mean == 2250000000);
	assert_true(s.mean.energy[SW_POLICY_BUSY].proc_nj == 8000000000);
	assert_true(s.mean.energy[SW_POLICY_MARGINAL].proc_nj == SW_ABSENT);
	assert_int_equal(s.mean.windows_without_energy, 1);
	assert_string_equal(s.notes[0],
			    "1 of 2 runs lack energy for some of their time, and are not in the joules and watts");
	series_free(&s);
}

/* Means are rounded; what adds up in each run does so in the mean, and what is counted is a sum. */
static void test_mean(void **state)
{
	struct sw_summary summary = summary_of(100);
	struct series s = { .repeat = 2 };
	const struct sw_energy *e;

	(void)state;
	add(&s, (struct run){ 0 }, &summary);
	for (int i = 0; i < SW_POLICY_MARGINAL; i++) {
		summary.energy[i].proc_nj += 1;
		summary.energy[i].other_nj += 1;
		summary.energy[i].total_nj += 2;
	}
	summary.lost_by_kind_ns[1] += 1;
	summary.lost_ns += 1;
	summary.recursion_misses = SW_ABSENT;
	summary.shared_with = 3;
	add(&s, (struct run){ 0 }, &summary);
	assert_int_equal(series_end(&s), 0);
	for (int i = 0; i < SW_POLICY_MARGINAL; i++) {
		e = &s.mean.energy[i];
		assert_true(e->total_nj == e->proc_nj + e->other_nj + e->idle_nj + e->unattributed_nj);
	}
	assert_true(s.mean.energy[SW_POLICY_BUSY].proc_nj == 8000000001); /* half up */
	assert_int_equal(s.mean.lost_by_kind_ns[1], 1501);
	assert_int_equal(s.mean.lost_ns, s.mean.lost_by_kind_ns[0] + 1501 + s.mean.lost_by_kind_ns[2]);
	assert_int_equal(s.mean.samples, 26);
	assert_int_equal(s.mean.windows_flagged[3], 4);
	assert_int_equal(s.mean.processes_seen, 28);
	assert_true(s.mean.recursion_misses == SW_ABSENT);
	assert_int_equal(s.mean.shared_with, 3);
	series_free(&s);
}

static void test_notes(void **state)
{
	struct sw_header other = fixture_header;
	struct series s = { .repeat = 10 };
	struct sw_summary summary;

	(void)state;
	for (uint64_t i = 0; i < 10; i++) {
		summary = summary_of(10000 + i);
		add(&s, (struct run){ 0 }, &summary);
	}
	assert_int_equal(series_end(&s), 0);
	assert_int_equal(s.n_notes, 1);
	assert_string_equal(s.notes[0], "joules, CPU time, wall time: rising from run to run (Mann-Kendall test, 99%), so that "
					"the mean depends on how many there are; more --warmup may help");
	series_free(&s);

	s = (struct series){ .repeat = 2 };
	summary = summary_of(100);
	add(&s, (struct run){ 0 }, &summary);
	other.energy_source = "model";
	assert_non_null(series_add(&s, &(struct run){ .recorded = true }, &other, &summary));
	assert_int_equal(series_end(&s), 0);
	assert_int_equal(s.n_notes, 1);
	assert_non_null(strstr(s.notes[0], "not the same in all runs"));
	series_free(&s);

	make(&s);
	assert_int_equal(s.n_notes, 1);
	assert_string_equal(s.notes[0], "joules (\xc2\xb1" "24.8%), CPU time (\xc2\xb1" "24.8%), wall time (\xc2\xb1"
					"24.8%): the mean is known to no better than \xc2\xb1" "5%; more runs, or a quieter "
					"machine, would help");
	series_free(&s);
}

static void test_budget(void **state)
{
	struct sw_header header = fixture_header;
	struct budget b = { 0 };
	struct budget_result r;
	struct buf words = { 0 };
	struct series s;

	(void)state;
	make(&s);
	assert_int_equal(budget_parse(&b, "4.5J"), 0);
	series_budget(&s, &b, &r);
	assert_int_equal(r.verdict, BUDGET_OVER);
	budget_words(&b, &r, &fixture_header, &words);
	buf_add(&words, "", 1);
	assert_string_equal(words.data,
			    "over budget: the mean of 3 runs is 5 J, 0.5 J (11.1 %) more than the 4.5 J allowed");
	assert_int_equal(budget_parse(&b, "5J"), 0); /* to the last */
	series_budget(&s, &b, &r);
	assert_int_equal(r.verdict, BUDGET_WITHIN);
	assert_int_equal(budget_parse(&b, "2999cpu-ms"), 0);
	series_budget(&s, &b, &r);
	assert_int_equal(r.verdict, BUDGET_OVER);
	assert_true(r.mean == 3000000000);
	series_free(&s);

	buf_clear(&words);
	b = (struct budget){ .kind = BUDGET_JOULES, .limit = 1 };
	assert_false(budget_is_refused(&b, &header, &words));
	header.energy_quality = "modelled";
	assert_true(budget_is_refused(&b, &header, &words));
	b.modelled = true;
	assert_false(budget_is_refused(&b, &header, &words));
	header.energy_quality = NULL;
	assert_true(budget_is_refused(&b, &header, &words));
	b.kind = BUDGET_CPU;
	assert_false(budget_is_refused(&b, &header, &words));
	buf_free(&words);
}

/* One that lacks energy for a part cannot be judged, however little the rest is. */
static void test_unknown_budget(void **state)
{
	struct sw_summary summary = summary_of(100);
	struct budget b = { .kind = BUDGET_JOULES, .limit = INT64_MAX };
	struct series s = { .repeat = 2 };
	struct budget_result r;

	(void)state;
	add(&s, (struct run){ 0 }, &summary);
	summary.windows_without_energy = 1;
	add(&s, (struct run){ 0 }, &summary);
	assert_int_equal(series_end(&s), 0);
	series_budget(&s, &b, &r);
	assert_int_equal(r.verdict, BUDGET_UNKNOWN);
	assert_int_equal(r.missing, 1);
	series_free(&s);
	s = (struct series){ .repeat = 2 };
	assert_int_equal(series_end(&s), 0);
	series_budget(&s, &b, &r);
	assert_int_equal(r.verdict, BUDGET_UNKNOWN);
	series_free(&s);
}

static const struct recording recording = { .header = &fixture_header, .command = fixture_command, .end = "command" };

static void test_text(void **state)
{
	struct sw_header modelled = fixture_header;
	struct recording rec = recording;
	struct buf out = { 0 };
	struct series s;

	(void)state;
	make(&s);
	modelled.energy_quality = "modelled";
	rec.header = &modelled;
	sink_text.run(&rec, &s, &s.runs[0], &out);
	s.runs[3].wait_status = 11;
	sink_text.run(&rec, &s, &s.runs[3], &out);
	sink_text.series(&rec, &s, &out);
	buf_add(&out, "", 1);
	assert_int_equal(out.err, 0);
	assert_non_null(strstr(out.data,
		"\n schedwatt run: make -j\xef\xbf\xbd\n\n"
		" run                        joules          watts          CPU s         wall s  end\n"
		" warm-up 1/1            ~15.000000      ~2.000000       9.000000       7.500000  exit 0\n"
		" run 3/3                 ~5.500000      ~2.000000       3.300000       2.750000  SIGSEGV\n"
		"\n"
		" of 3 runs               mean         \xc2\xb1" "95 %     std. dev.        median           min           max\n"
		" joules             ~5.000000     \xc2\xb1" "1.242069     ~0.500000     ~5.000000     ~4.500000     ~5.500000\n"
		" watts              ~2.000000     \xc2\xb1" "0.000000     ~0.000000     ~2.000000     ~2.000000     ~2.000000\n"
		" CPU s               3.000000     \xc2\xb1" "0.745241      0.300000      3.000000      2.700000      3.300000\n"
		" wall s              2.500000     \xc2\xb1" "0.621034      0.250000      2.500000      2.250000      2.750000\n"
		"\n"
		" the interval is of the differences between runs; what makes all joules too high or too low alike,\n"));
	assert_non_null(strstr(out.data, "\n 39 windows\n lost: 0.000006 s "));
	buf_free(&out);
	series_free(&s);
}

static struct json_object *parse(const char *text)
{
	struct json_object *object = json_tokener_parse(text);

	assert_non_null(object);
	return object;
}

static const char *text_of(struct json_object *in, const char *key)
{
	struct json_object *value;

	assert_true(json_object_object_get_ex(in, key, &value));
	return json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

/* The series has its own copy of the header, since the first run's is gone when all have ended. */
static void test_text_of_kept_header(void **state)
{
	char governor[] = "powersave", driver[] = "acpi-cpufreq", microcode[] = "0xf0";
	struct sw_environment environment = {
		.governor = governor, .driver = driver, .microcode = microcode, .turbo = SW_ABSENT, .smt = SW_ABSENT,
		.ac_power = 0, .load_hundredths = SW_ABSENT,
	};
	struct sw_header first = fixture_header;
	struct recording rec = recording;
	struct series s = { .repeat = 1 };
	struct buf out = { 0 };

	(void)state;
	first.environment = &environment;
	assert_int_equal(series_header(&s, &first), 0);
	environment.ac_power = 1;
	governor[0] = driver[0] = microcode[0] = '\0';
	add(&s, (struct run){ 0 }, &fixture_summary);
	assert_int_equal(series_end(&s), 0);
	rec.header = s.header;
	sink_text.series(&rec, &s, &out);
	buf_add(&out, "", 1);
	assert_int_equal(out.err, 0);
	assert_non_null(strstr(out.data, "\n on battery: "));
	assert_non_null(strstr(out.data, "\n governor powersave of acpi-cpufreq: "));
	assert_string_equal(s.header->environment->microcode, "0xf0");
	assert_non_null(strstr(out.data, "\n back end ebpf (exact, attached by tp_btf); energy source powercap (measured)"));
	buf_free(&out);
	series_free(&s);
}

static void test_records(void **state)
{
	struct json_object *record, *statistics, *joules;
	struct buf out = { 0 };
	struct series s;

	(void)state;
	make(&s);
	s.runs[1].wait_status = 9;
	sink_jsonl.run(&recording, &s, &s.runs[1], &out);
	buf_add(&out, "", 1);
	record = parse(out.data);
	assert_string_equal(text_of(record, "type"), "\"run\"");
	assert_string_equal(text_of(record, "index"), "1");
	assert_string_equal(text_of(record, "warmup"), "false");
	assert_string_equal(text_of(record, "exit_status"), "null");
	assert_string_equal(text_of(record, "exit_signal"), "9");
	assert_string_equal(text_of(record, "pid"), "4242");
	assert_string_equal(text_of(record, "joules"), "5");
	assert_string_equal(text_of(record, "watts"), "2");
	assert_string_equal(text_of(record, "cpu_s"), "3");
	assert_string_equal(text_of(record, "duration_s"), "2.5");
	json_object_put(record);

	buf_clear(&out);
	sink_jsonl.series(&recording, &s, &out);
	buf_add(&out, "", 1);
	record = parse(out.data);
	assert_string_equal(text_of(record, "type"), "\"summary\"");
	assert_string_equal(text_of(record, "series"),
			    "{\"repeat\":3,\"warmup\":1,\"runs\":4,\"counted\":3,\"failed\":0}");
	assert_string_equal(text_of(record, "end"), "\"command\"");
	assert_string_equal(text_of(record, "proc_attributed_joules"), "5");
	assert_true(json_object_object_get_ex(record, "statistics", &statistics));
	assert_true(json_object_object_get_ex(statistics, "joules", &joules));
	assert_string_equal(text_of(joules, "n"), "3");
	assert_string_equal(text_of(joules, "standard_deviation"), "0.5");
	assert_string_equal(text_of(joules, "interval95_low"), "3.757931144");
	assert_string_equal(text_of(joules, "interval95_high"), "6.242068856");
	assert_string_equal(text_of(joules, "trend"), "null");
	json_object_put(record);
	buf_free(&out);
	series_free(&s);
}

/* What is in the file that open_result() made, which is closed. */
static struct json_object *finish(struct json_result *j, int fd, const struct series *s, const struct budget_result *r)
{
	static const struct budget budget = { .kind = BUDGET_CPU, .limit = 1000000000 };
	char text[65536];
	ssize_t n;

	json_result_end(j, s, &budget, r, 124);
	assert_int_equal(json_result_close(j), 0);
	n = pread(fd, text, sizeof(text) - 1, 0);
	assert_true(n > 0 && n < (ssize_t)sizeof(text) - 1);
	text[n] = '\0';
	close(fd);
	return parse(text);
}

static int open_result(struct json_result *j)
{
	char path[64];
	int fd = memfd_create("result", MFD_CLOEXEC);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(json_result_open(j, path), 0);
	return fd;
}

static void test_result(void **state)
{
	struct budget_result r = { .verdict = BUDGET_OVER, .mean = 3000000000, .runs = 3 };
	struct json_object *object, *runs, *budget;
	struct json_result j;
	struct series s;
	int fd;

	(void)state;
	make(&s);
	fd = open_result(&j);
	json_result_header(&j, &recording);
	for (size_t i = 0; i < s.n; i++)
		json_result_run(&j, &recording, &s, &s.runs[i]);
	json_result_series(&j, &recording, &s);
	object = finish(&j, fd, &s, &r);
	assert_true(json_object_object_get_ex(object, "runs", &runs));
	assert_int_equal(json_object_array_length(runs), 4);
	assert_string_equal(text_of(object, "exit_status"), "124");
	assert_non_null(strstr(text_of(object, "header"), "\"schema\":\"schedwatt/1\""));
	assert_non_null(strstr(text_of(object, "notes"), "no better than"));
	assert_true(json_object_object_get_ex(object, "budget", &budget));
	assert_string_equal(text_of(budget, "verdict"), "\"over\"");
	assert_string_equal(text_of(budget, "excess"), "2");
	json_object_put(object);
	series_free(&s);
}

/* Whole, wherever it stops. */
static void test_result_cut_short(void **state)
{
	struct json_object *object;
	struct json_result j;
	struct series s;
	int fd;

	(void)state;
	make(&s);
	for (int stop = 0; stop < 3; stop++) {
		fd = open_result(&j);
		if (stop > 0)
			json_result_header(&j, &recording);
		if (stop > 1)
			json_result_run(&j, &recording, &s, &s.runs[0]);
		object = finish(&j, fd, &s, NULL);
		assert_string_equal(text_of(object, "budget"), "null");
		assert_string_equal(text_of(object, "summary"), "null");
		assert_int_equal(!strcmp(text_of(object, "header"), "null"), stop == 0);
		assert_int_equal(!strcmp(text_of(object, "runs"), "[]"), stop < 2);
		json_object_put(object);
	}
	/* the only run's rows are those of the summary */
	series_free(&s);
	s = (struct series){ .repeat = 1 };
	assert_int_equal(series_header(&s, &fixture_header), 0);
	fd = open_result(&j);
	json_result_header(&j, &recording);
	json_result_run(&j, &recording, &s, add(&s, (struct run){ 0 }, &fixture_summary));
	json_result_summary(&j, &recording, &fixture_summary);
	object = finish(&j, fd, &s, NULL);
	assert_null(strstr(text_of(object, "runs"), "\"processes\""));
	assert_non_null(strstr(text_of(object, "summary"), "\"processes\""));
	json_object_put(object);
	series_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts), cmocka_unit_test(test_failures), cmocka_unit_test(test_missing),
		cmocka_unit_test(test_mean),   cmocka_unit_test(test_notes),    cmocka_unit_test(test_budget),
		cmocka_unit_test(test_unknown_budget), cmocka_unit_test(test_text), cmocka_unit_test(test_records),
		cmocka_unit_test(test_text_of_kept_header),
		cmocka_unit_test(test_result), cmocka_unit_test(test_result_cut_short),
	};

	return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}

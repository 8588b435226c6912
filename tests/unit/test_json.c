/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what numbers, times and foreign bytes look like, and the records of schema schedwatt/1, byte for byte.
 * Relies on: RFC 3629's own examples of what is not UTF-8.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/format.h"
#include "cli/json.h"
#include "cli_fixture.h"

static void expect(struct buf *b, const char *golden)
{
	buf_add(b, "", 1);
	assert_int_equal(b->err, 0);
	assert_string_equal(b->data, golden);
	buf_clear(b);
}

static void test_decimal(void **state)
{
	static const struct {
		int64_t value;
		unsigned digits;
		const char *golden;
	} cases[] = {
		{ 0, 9, "0" },
		{ 1, 9, "0.000000001" },
		{ 1500000000, 9, "1.5" },
		{ 2000000000, 9, "2" },
		{ 10, 0, "10" },
		{ 1234567891, 9, "1.234567891" },
		{ -1500000000, 9, "-1.5" },
		{ -1, 9, "-0.000000001" },
		{ INT64_MAX, 9, "9223372036.854775807" },
		{ 1500, 3, "1.5" },
	};
	char text[FORMAT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		format_decimal(text, cases[i].value, cases[i].digits);
		assert_string_equal(text, cases[i].golden);
	}
	format_udecimal(text, UINT64_MAX, 9);
	assert_string_equal(text, "18446744073.709551615");
}

static void test_fixed(void **state)
{
	static const struct {
		uint64_t value;
		unsigned digits, places;
		const char *golden;
	} cases[] = {
		{ 0, 9, 3, "0.000" },
		{ 499999, 9, 3, "0.000" },
		{ 500000, 9, 3, "0.001" },
		{ 1999999999, 9, 3, "2.000" },
		{ 1999999999, 9, 9, "1.999999999" },
		{ 15, 1, 0, "2" },
		{ UINT64_MAX, 9, 6, "18446744073.709552" },
	};
	char text[FORMAT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		format_fixed(text, cases[i].value, cases[i].digits, cases[i].places);
		assert_string_equal(text, cases[i].golden);
	}
}

static void test_scale(void **state)
{
	(void)state;
	assert_true(format_scale(10, 3, 4) == 8); /* 7.5, half up */
	assert_true(format_scale(UINT64_MAX - 1, 1000, 1000) == UINT64_MAX - 1);
	assert_true(format_scale(1, 1, 0) == FORMAT_NONE);
	assert_true(format_scale(UINT64_MAX, 2, 1) == FORMAT_NONE);
}

static void test_time(void **state)
{
	char text[FORMAT_MAX];

	(void)state;
	format_time(text, 0);
	assert_string_equal(text, "1970-01-01T00:00:00.000000000Z");
	format_time(text, -1);
	assert_string_equal(text, "1969-12-31T23:59:59.999999999Z");
	format_time(text, 1709164800123456789);
	assert_string_equal(text, "2024-02-29T00:00:00.123456789Z");
	format_time(text, INT64_MAX);
	assert_string_equal(text, "2262-04-11T23:47:16.854775807Z");
	format_clock(text, 1709164800123456789);
	assert_string_equal(text, "00:00:00.123");
}

static void test_utf8(void **state)
{
#define BAD "\xef\xbf\xbd"
	static const struct {
		const char *bytes, *golden;
	} cases[] = {
		{ "plain", "plain" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa7", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa7" },
		{ "\xff" "a", BAD "a" },
		{ "\x80", BAD },                            /* a tail without a head */
		{ "a\xc3", "a" BAD },                       /* cut at the end */
		{ "\xe2\x82" "b", BAD BAD "b" },            /* cut in the middle: each byte by itself */
		{ "\xc0\xaf", BAD BAD },                    /* overlong '/' */
		{ "\xe0\x9f\xbf", BAD BAD BAD },            /* overlong */
		{ "\xf0\x8f\xbf\xbf", BAD BAD BAD BAD },    /* overlong */
		{ "\xed\xa0\x80", BAD BAD BAD },            /* surrogate U+D800 */
		{ "\xed\x9f\xbf", "\xed\x9f\xbf" },         /* the last before them */
		{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" }, /* U+10FFFF */
		{ "\xf4\x90\x80\x80", BAD BAD BAD BAD },    /* beyond it */
		{ "\xf8\x88\x80\x80\x80", BAD BAD BAD BAD BAD },
	};
	struct buf b = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		format_utf8(&b, cases[i].bytes, strlen(cases[i].bytes));
		expect(&b, cases[i].golden);
	}
	buf_free(&b);
}

static void test_values(void **state)
{
	struct buf b = { 0 };
	int err = 0;
	struct json_object *record = record_new(&err, "t"), *list = record_array(&err, record, "list");

	(void)state;
	record_uint(&err, list, NULL, UINT64_MAX);
	record_int(&err, list, NULL, INT64_MIN);
	record_null(&err, list, NULL);
	record_joules(&err, list, NULL, SW_ABSENT);
	record_joules(&err, list, NULL, INT64_MAX);
	record_count(&err, list, NULL, SW_ABSENT);
	record_text(&err, list, NULL, NULL);
	record_text(&err, list, NULL, "\x01\n\t\"\\/\x7f");
	record_bool(&err, list, NULL, true);
	record_finish(err, record, &b);
	expect(&b, "{\"type\":\"t\",\"list\":[18446744073709551615,-9223372036854775808,null,null,"
		   "9223372036.854775807,null,null,\"\\u0001\\n\\t\\\"\\\\/\x7f\",true]}\n");
	buf_free(&b);
}

static void test_failed_record(void **state)
{
	struct buf b = { 0 };
	int err = 0;
	struct json_object *record = record_new(&err, "t");

	(void)state;
	record_uint(&err, NULL, "lost", 1); /* as after a failed record_object() */
	assert_int_not_equal(err, 0);
	record_finish(err, record, &b);
	assert_int_equal(b.err, err); /* and no half of a record */
	assert_int_equal(b.len, 0);
	buf_free(&b);
}

static const char golden_header[] =
	"{\"type\":\"header\",\"schema\":\"schedwatt/1\",\"version\":\"0.1.0\","
	"\"started_at\":\"2023-11-14T22:13:20.000000001Z\",\"started_ns\":18446744073709551615,\"host\":\"box\","
	"\"kernel\":\"6.1.0\",\"cpu_model\":null,\"cpus\":4,\"packages\":2,\"domains\":2,"
	"\"target\":{\"kind\":\"pids\",\"pids\":[4242],\"scope\":\"tree\"},\"interval_ms\":200,"
	"\"attribution_backend\":\"ebpf\",\"attribution_quality\":\"exact\","
	"\"energy_source\":\"powercap\",\"energy_quality\":\"measured\",\"backend_note\":null,\"hook\":\"tp_btf\",\"slots\":16384,"
	"\"backend_refusals\":[],\"energy_refusals\":[],\"zones\":["
	"{\"name\":\"package-0\",\"package\":0,\"parent\":null,\"domains\":[0,1],"
	"\"range_uj\":262143328850,\"counted\":true,\"one_core\":false,"
	"\"problem\":null},"
	"{\"name\":\"package-0/dram\",\"package\":0,\"parent\":\"package-0\",\"domains\":[],"
	"\"range_uj\":null,\"counted\":false,\"one_core\":false,"
	"\"problem\":\"EIO\"},"
	"{\"name\":\"psys\",\"package\":null,\"parent\":null,\"domains\":[],"
	"\"range_uj\":1.5,\"counted\":false,\"one_core\":true,\"problem\":null}],"
	"\"attribution_policy\":\"capacity\",\"baseline_watts\":[3.5,12.345678],"
	"\"environment\":{\"governor\":\"powersave\",\"driver\":\"intel_pstate\",\"turbo\":true,\"smt\":false,"
	"\"microcode\":\"0xb000040\",\"ac_power\":null,\"load\":1.05,\"command\":[\"make\",\"-j\xef\xbf\xbd\"],\"slurm_job_id\":null},"
	"\"labels\":{\"job\":\"a\\\"b\",\"empty\":\"\"}}\n";

#define GOLDEN_QUALITY                                                  \
	"\"attribution_backend\":\"ebpf\",\"attribution_quality\":\"exact\"," \
	"\"energy_source\":\"powercap\",\"energy_quality\":\"measured\","

#define GOLDEN_PROCESS                                                                                       \
	"{\"pid\":4242,\"start_boottime_ns\":18446744073709551615,\"ppid\":1,"                               \
	"\"comm\":\"a\\\"b\\\\\\u001b\xef\xbf\xbd\",\"cgroup\":null,\"oncpu_ns\":150000000,"                 \
	"\"oncpu_ns_by_domain\":[1,18446744073709551614],\"joules\":1.234567891,\"exited\":true,"        \
	"\"exit_status\":null,\"exit_signal\":null}"

static const char golden_sample[] =
	"{\"type\":\"sample\",\"seq\":7,\"t_ns\":18446744073709551615,"
	"\"time_utc\":\"2023-11-14T22:13:20.200000000Z\",\"window_ns\":200000000," GOLDEN_QUALITY
	"\"total_joules\":2.4,\"package_joules\":2.4,\"dram_joules\":null,\"platform_joules\":0.000000001,"
	"\"zone_joules\":{\"package-0\":2.4,\"package-0/dram\":null,\"psys\":0.000000001},"
	"\"energy_uncertainty_joules\":0.024,\"energy_read_late_ns\":61000,\"energy_read_bracket_ns\":null,"
	"\"proc_attributed_joules\":1.234567891,\"other_joules\":0.000000001,"
	"\"idle_joules\":0,\"unattributed_joules\":0.00000001,\"proc_oncpu_ns\":151000000,"
	"\"other_oncpu_ns\":49000000,\"idle_ns\":599998000,\"lost_ns\":2000,"
	"\"lost_by_kind_ns\":{\"slots\":0,\"missed\":1500,\"other\":500},\"recursion_misses\":null,\"offline_ns\":0,"
	"\"irq_ns\":null,\"steal_ns\":7,\"shared_with\":2,\"shared_ns\":5,\"exits\":3,\"exits_ns\":4,"
	"\"domains\":[{\"busy_ns\":10,\"idle_ns\":20,\"lost_ns\":30,\"joules\":1},"
	"{\"busy_ns\":40,\"idle_ns\":50,\"lost_ns\":0,\"joules\":null}],"
	"\"window_flags\":[\"late\",\"no_energy\"],\"processes\":[" GOLDEN_PROCESS ","
	"{\"pid\":7,\"start_boottime_ns\":0,\"ppid\":2,\"comm\":\"\",\"cgroup\":null,\"oncpu_ns\":1000000,"
	"\"oncpu_ns_by_domain\":[1,18446744073709551614],\"joules\":null,\"exited\":false}]}\n";

static const char golden_summary[] =
	"{\"type\":\"summary\"," GOLDEN_QUALITY "\"attribution_policy\":\"capacity\",\"total_joules\":10,"
	"\"proc_attributed_joules\":5.000000001,\"other_joules\":1,\"idle_joules\":3.999999999,"
	"\"unattributed_joules\":0,\"total_uncertainty_joules\":0.1,\"proc_attributed_uncertainty_joules\":0.05,"
	"\"policies\":{\"busy\":{\"proc_attributed_joules\":8,\"other_joules\":2,\"idle_joules\":0,"
	"\"unattributed_joules\":0},\"capacity\":{\"proc_attributed_joules\":5.000000001,\"other_joules\":1,"
	"\"idle_joules\":3.999999999,\"unattributed_joules\":0},\"marginal\":{\"proc_attributed_joules\":null,"
	"\"other_joules\":null,\"idle_joules\":null,\"unattributed_joules\":null}},\"end\":\"command\","
	"\"duration_s\":2.5,\"samples\":13,"
	"\"windows_without_energy\":1,\"windows_flagged\":{\"late\":1,\"short\":0,\"partial\":0,\"no_energy\":2,"
	"\"suspend\":0,\"members\":0,\"unverified\":0,\"mirrored\":0,\"hybrid\":0,\"steal\":0,\"baseline\":0,\"busy_raised\":0},"
	"\"proc_oncpu_ns\":3000000000,\"other_oncpu_ns\":500000000,"
	"\"idle_ns\":6499998000,\"lost_ns\":2000,\"lost_by_kind_ns\":{\"slots\":0,\"missed\":1500,\"other\":500},"
	"\"recursion_misses\":0,\"offline_ns\":0,\"shared_with\":0,\"processes_seen\":14,\"processes_alive\":1,\"processes_folded\":2,"
	"\"processes\":[" GOLDEN_PROCESS "],\"comms\":["
	"{\"comm\":\"cc1\",\"processes\":12,\"oncpu_ns\":1500000000,\"joules\":6},"
	"{\"comm\":\"m\\nk\xc3\xa9\",\"processes\":18446744073709551615,\"oncpu_ns\":1,\"joules\":null}]}\n";

static void test_records(void **state)
{
	struct buf b = { 0 };

	(void)state;
	sink_jsonl.header(&fixture_recording, &b);
	expect(&b, golden_header);
	sink_jsonl.sample(&fixture_recording, &fixture_report, NULL, &b);
	expect(&b, golden_sample);
	sink_jsonl.summary(&fixture_recording, &fixture_summary, &b);
	expect(&b, golden_summary);
	buf_free(&b);
}

/* Whole host, no energy: absent is null, and nothing else stands in for it. */
static void test_records_without_energy(void **state)
{
	struct sw_header h = fixture_header;
	struct recording rec = { .header = &h };
	struct sw_report r = fixture_report;
	struct buf b = { 0 };

	(void)state;
	h.target = SW_TARGET_HOST;
	h.domains = 1;
	h.energy_source = "none";
	h.energy_quality = NULL;
	h.n_zones = 0;
	h.n_baseline = 0;
	h.energy_refusals = fixture_refusals;
	h.n_energy_refusals = 1;
	sink_jsonl.header(&rec, &b);
	buf_add(&b, "", 1);
	assert_non_null(strstr(b.data, "\"host\":null,"));
	assert_non_null(strstr(b.data, "\"target\":{\"kind\":\"host\"},"));
	assert_non_null(strstr(b.data, "\"energy_source\":\"none\",\"energy_quality\":null,"));
	assert_non_null(strstr(b.data, "\"energy_refusals\":[{\"source\":\"powercap\","
				       "\"reason\":\"/sys/class/powercap has"));
	assert_non_null(strstr(b.data, "\"zones\":[],"));
	assert_non_null(strstr(b.data, "\"baseline_watts\":[],\"environment\":{"));
	assert_non_null(strstr(b.data, "\"load\":1.05,\"command\":null,"));
	assert_non_null(strstr(b.data, "\"labels\":{}}\n"));
	buf_clear(&b);

	r.energy = (struct sw_energy)FIXTURE_NOTHING;
	r.package_nj = r.platform_nj = r.uncertainty_nj = SW_ABSENT;
	r.n_domains = 1;
	r.n_processes = 0;
	r.flags = 0;
	sink_jsonl.sample(&rec, &r, NULL, &b);
	buf_add(&b, "", 1);
	assert_non_null(strstr(b.data, "\"total_joules\":null,\"package_joules\":null,\"dram_joules\":null,"
				       "\"platform_joules\":null,\"zone_joules\":{},"
				       "\"energy_uncertainty_joules\":null,\"energy_read_late_ns\":61000,\"energy_read_bracket_ns\":null,"
	"\"proc_attributed_joules\":null,"
				       "\"other_joules\":null,\"idle_joules\":null,\"unattributed_joules\":null,"));
	assert_null(strstr(b.data, "\"domains\""));
	assert_non_null(strstr(b.data, "\"window_flags\":[],\"processes\":[]}\n"));
	buf_free(&b);
}

/* Ids as the reader sees them and the kernel's where they differ; every way to end; command lines when they are new. */
#define GOLDEN_FAMILY(inner, six, seven)                                                                     \
	"\"processes\":[{\"pid\":null,\"host_pid\":4000077,\"start_boottime_ns\":0,\"ppid\":null,"              \
	"\"host_ppid\":1,\"comm\":\"inner\",\"cgroup\":\"/a/b\xef\xbf\xbd\"," inner                            \
	"\"oncpu_ns\":90000000,\"joules\":2.5,\"exited\":true,\"exit_signal\":11,\"core_dumped\":true},"        \
	"{\"pid\":5,\"host_pid\":105,\"start_boottime_ns\":0,\"ppid\":4,\"host_ppid\":104,"                     \
	"\"comm\":\"kworker/0:1\",\"kernel_thread\":true,\"cgroup\":\"/\",\"oncpu_ns\":50000000,"               \
	"\"joules\":0.5,\"exited\":false},"                                                                  \
	"{\"pid\":6,\"start_boottime_ns\":0,\"ppid\":1,\"comm\":\"six\",\"cgroup\":null," six                  \
	"\"oncpu_ns\":30000000,\"joules\":0,\"exited\":true,\"exit_status\":3},"                              \
	"{\"pid\":7,\"start_boottime_ns\":0,\"ppid\":1,\"comm\":\"seven\",\"cgroup\":null," seven              \
	"\"oncpu_ns\":2000000,\"joules\":null,\"exited\":true,\"exit_signal\":9}]"

#define GOLDEN_INNER "\"cmdline\":\"a\\\\ b '' x\\\\n\xef\xbf\xbd\","
#define GOLDEN_SIX   "\"cmdline\":\"/usr/bin/six --with an-argument --and another-one\xe2\x80\xa6\","

#define GOLDEN_THREADS                                                                                      \
	"\"threads\":[{\"pid\":null,\"host_pid\":4000077,\"tid\":null,\"host_tid\":4000078,"                   \
	"\"start_boottime_ns\":18446744073709551615,\"comm\":\"work\\u001b\",\"process_comm\":\"inner\","      \
	"\"oncpu_ns\":90000000,\"oncpu_ns_by_domain\":[1,18446744073709551614],\"joules\":2.5,"              \
	"\"exited\":true},"                                                                                 \
	"{\"pid\":5,\"host_pid\":105,\"tid\":5,\"host_tid\":105,\"start_boottime_ns\":0,"                      \
	"\"comm\":\"kworker/0:1\",\"process_comm\":\"kworker/0:1\",\"kernel_thread\":true,"                   \
	"\"oncpu_ns\":50000000,\"joules\":null,\"exited\":false}]"

#define GOLDEN_CGROUPS                                                                                      \
	"\"cgroups\":[{\"path\":\"/\",\"id\":1,\"oncpu_ns\":1000000,\"subtree_oncpu_ns\":181000000,"            \
	"\"joules\":0.000000001,\"subtree_joules\":3.000000001},"                                            \
	"{\"path\":\"/a\",\"id\":20,\"oncpu_ns\":0,\"subtree_oncpu_ns\":150000000,\"joules\":0,"               \
	"\"subtree_joules\":2.5},"                                                                           \
	"{\"path\":\"/a/b\xef\xbf\xbd\",\"id\":21,\"oncpu_ns\":150000000,\"subtree_oncpu_ns\":150000000,"     \
	"\"joules\":2.5,\"subtree_joules\":2.5},"                                                            \
	"{\"path\":null,\"id\":18446744073709551615,\"oncpu_ns\":30000000,\"subtree_oncpu_ns\":30000000,"    \
	"\"joules\":null,\"subtree_joules\":null}]"

#define GOLDEN_COMMS                                                                                        \
	"\"comms\":[{\"comm\":\"cc1\",\"processes\":12,\"oncpu_ns\":1500000000,\"joules\":6},"                 \
	"{\"comm\":\"m\\nk\xc3\xa9\",\"processes\":18446744073709551615,\"oncpu_ns\":1,\"joules\":null}]"

/* The record's end, from the first of its lists of rows on. */
static void expect_tail(struct buf *b, const char *after, const char *golden)
{
	const char *at;

	buf_add(b, "", 1);
	assert_int_equal(b->err, 0);
	at = strstr(b->data, after);
	assert_non_null(at);
	assert_string_equal(at + strlen(after), golden);
	buf_clear(b);
}

/* Each grouping by itself has its list and no other; all together have all. */
static void test_groupings(void **state)
{
	static const struct {
		uint32_t by;
		const char *golden;
	} cases[] = {
		{ SW_BY_PROCESS, GOLDEN_FAMILY(GOLDEN_INNER, "", "\"cmdline\":null,") "}\n" },
		{ SW_BY_THREAD, GOLDEN_THREADS "}\n" },
		{ SW_BY_CGROUP, GOLDEN_CGROUPS "}\n" },
		{ SW_BY_COMM, GOLDEN_COMMS "}\n" },
		{ SW_BY_PROCESS | SW_BY_THREAD | SW_BY_CGROUP | SW_BY_COMM,
		  GOLDEN_FAMILY(GOLDEN_INNER, "", "\"cmdline\":null,") "," GOLDEN_THREADS "," GOLDEN_CGROUPS "," GOLDEN_COMMS
		  "}\n" },
	};
	struct sw_header h = fixture_header;
	struct recording rec = { .header = &h };
	struct sw_report r = fixture_report;
	struct buf b = { 0 };

	(void)state;
	fixture_rows(&r);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		h.by = cases[i].by;
		sink_jsonl.sample(&rec, &r, NULL, &b);
		expect_tail(&b, "\"window_flags\":[\"late\",\"no_energy\"],", cases[i].golden);
	}
	buf_free(&b);
}

/* Processes and commands always, threads and cgroups on request; and every command line that is known. */
static void test_summary_groupings(void **state)
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
	s.threads_folded = 3;
	s.cgroups = fixture_cgroups;
	s.n_cgroups = FIXTURE_CGROUPS;
	s.cgroups_folded = UINT64_MAX;
	h.by = SW_BY_THREAD | SW_BY_CGROUP;
	sink_jsonl.summary(&rec, &s, &b);
	expect_tail(&b, "\"processes_folded\":2,",
		    GOLDEN_FAMILY(GOLDEN_INNER, GOLDEN_SIX, "") ",\"threads_folded\":3," GOLDEN_THREADS
		    ",\"cgroups_folded\":18446744073709551615," GOLDEN_CGROUPS "," GOLDEN_COMMS "}\n");
	h.by = SW_BY_COMM;
	sink_jsonl.summary(&rec, &s, &b);
	expect_tail(&b, "\"processes_folded\":2,", GOLDEN_FAMILY(GOLDEN_INNER, GOLDEN_SIX, "") "," GOLDEN_COMMS "}\n");
	buf_free(&b);
}

static void test_targets(void **state)
{
	static const int32_t pids[] = { 1, INT32_MAX };
	struct sw_header h = fixture_header;
	struct recording rec = { .header = &h };
	struct buf b = { 0 };

	(void)state;
	h.pids = pids;
	h.n_pids = 2;
	h.scope = SW_SCOPE_PROCESS;
	sink_jsonl.header(&rec, &b);
	buf_add(&b, "", 1);
	assert_non_null(strstr(b.data, "\"target\":{\"kind\":\"pids\",\"pids\":[1,2147483647],\"scope\":\"process\"},"));
	buf_clear(&b);
	h.target = SW_TARGET_CGROUP;
	h.cgroup = "/a\"\xff";
	sink_jsonl.header(&rec, &b);
	buf_add(&b, "", 1);
	assert_non_null(strstr(b.data, "\"target\":{\"kind\":\"cgroup\",\"path\":\"/a\\\"\xef\xbf\xbd\"},"));
	buf_clear(&b);
	/* A recording that failed has no such reason to end. */
	sink_jsonl.summary(&rec, &fixture_summary, &b);
	buf_add(&b, "", 1);
	assert_non_null(strstr(b.data, ",\"end\":null,"));
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decimal),      cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_scale),        cmocka_unit_test(test_time),
		cmocka_unit_test(test_utf8),         cmocka_unit_test(test_values),
		cmocka_unit_test(test_failed_record), cmocka_unit_test(test_records),
		cmocka_unit_test(test_records_without_energy),
		cmocka_unit_test(test_groupings),    cmocka_unit_test(test_summary_groupings),
		cmocka_unit_test(test_targets),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}

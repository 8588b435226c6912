/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the file of a baseline, good and bad, byte for byte; which machine it is taken on; and the arithmetic of a
 * calibration on windows whose numbers are made up. Relies on: memfd_create(2), so that a file has no place on disk.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/baseline.h"
#include "cli/calibration.h"
#include "cli/options.h"
#include "capture.h"

#define W INT64_C(1000000000) /* nJ in a window of one second */
#define S UINT64_C(1000000000)

#define HEAD    "{\"type\":\"baseline\",\"schema\":\"schedwatt-baseline/1\",\"cpu_model\":\"x\",\"energy_source\":\"perf\","
#define ONE(p)  HEAD "\"packages\":[" p "]}"
#define PKG(p, w) "{\"package\":" p ",\"watts\":" w "}"

/* A file of these bytes; its name stays good until file_end(). */
struct file {
	int fd;
	char name[32];
};

static void file_begin(struct file *f, const char *text, size_t len)
{
	f->fd = memfd_create("baseline", MFD_CLOEXEC);
	assert_true(f->fd >= 0);
	assert_int_equal(write(f->fd, text, len), len);
	snprintf(f->name, sizeof(f->name), "/proc/self/fd/%d", f->fd);
}

static void file_end(struct file *f)
{
	close(f->fd);
}

static void test_good(void **state)
{
	static const char text[] = HEAD "\"packages\":[" PKG("0", "11.520001") "," PKG("7", "9") "," PKG("36", "0.000001")
				   "],\"more\":[{}],\"host\":null}\n";
	struct baseline b;
	struct file f;

	(void)state;
	file_begin(&f, text, strlen(text));
	assert_int_equal(baseline_read(&b, f.name), 0);
	assert_int_equal(b.n, 3);
	assert_int_equal(b.uw[0], 11520001);
	assert_int_equal(b.uw[1], 9000000);
	assert_int_equal(b.uw[2], 1);
	assert_int_equal(b.package[0], 0);
	assert_int_equal(b.package[1], 7);
	assert_int_equal(b.package[2], 36);
	assert_string_equal(b.cpu_model, "x");
	assert_string_equal(b.energy_source, "perf");
	assert_string_equal(b.file, f.name);
	baseline_free(&b);
	assert_int_equal(b.n, 0);
	file_end(&f);
}

/* A kernel without a name for its processor, white space, any order of fields. */
static void test_good_null(void **state)
{
	static const char text[] = " { \"packages\" : [ " PKG("3", "1.5") " ], \"energy_source\":\"msr\", \"cpu_model\":null,\n"
				   "\"schema\":\"schedwatt-baseline/1\", \"type\":\"baseline\" } \r\n\t";
	struct baseline b;
	struct file f;

	(void)state;
	file_begin(&f, text, strlen(text));
	assert_int_equal(baseline_read(&b, f.name), 0);
	assert_null(b.cpu_model);
	assert_int_equal(b.uw[0], 1500000);
	baseline_free(&b);
	file_end(&f);
}

static void refuse_bytes(const char *text, size_t len, const char *why)
{
	struct capture c;
	struct baseline b;
	struct file f;
	int err;

	file_begin(&f, text, len);
	capture_begin(&c);
	err = baseline_read(&b, f.name);
	capture_end(&c);
	if (!err)
		print_error("this was taken for good: %s\n", text);
	assert_int_equal(err, -EINVAL);
	assert_int_equal(b.n, 0);
	assert_ptr_equal(strstr(c.said, "schedwatt: --baseline '/proc/self/fd/"), c.said);
	if (!strstr(c.said, why))
		print_error("'%s' is not in: %s", why, c.said);
	assert_non_null(strstr(c.said, why));
	assert_non_null(strstr(c.said, "schedwatt calibrate -o FILE")); /* what to do */
	assert_string_equal(strchr(c.said, '\n'), "\n");                /* one line */
	file_end(&f);
}

static void test_bad(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		/* no JSON */
		{ "", "is not JSON (it is empty)" },
		{ "\n", "is not JSON (it is empty)" },
		{ "11.5 watts", "is not JSON" },
		{ "{\"type\":\"baseline\"", "is not JSON (it ends too early)" },
		{ ONE(PKG("0", "1")) "{}", "is not JSON" },
		{ ONE(PKG("0", "1")) " x", "is not JSON" },
		{ ONE(PKG("0", "1")) "\xff", "is not JSON" },
		{ "\xef\xbb\xbf" ONE(PKG("0", "1")), "is not JSON" },
		{ "{'type':'baseline'}", "is not JSON" },
		{ HEAD "\"host\":\"\xff\",\"packages\":[" PKG("0", "1") "]}", "is not JSON" },
		{ "{\"a\":[[[[[[[[[1]]]]]]]]]}", "is not JSON" },
		/* another JSON */
		{ "[]", "no object" },
		{ "\"baseline\"", "no object" },
		{ "null", "is not JSON" },
		{ "{}", "it says type '' and schema ''" },
		{ "{\"type\":\"header\",\"schema\":\"schedwatt/1\"}", "it says type 'header' and schema 'schedwatt/1'" },
		{ "{\"type\":\"baseline\",\"schema\":\"schedwatt-baseline/2\"}", "schema 'schedwatt-baseline/2'" },
		{ "{\"type\":\"baseline\",\"schema\":1}", "schema ''" },
		/* the machine */
		{ "{\"type\":\"baseline\",\"schema\":\"schedwatt-baseline/1\",\"cpu_model\":\"x\"}", "no energy_source" },
		{ "{\"type\":\"baseline\",\"schema\":\"schedwatt-baseline/1\",\"energy_source\":\"perf\"}", "no cpu_model" },
		{ "{\"type\":\"baseline\",\"schema\":\"schedwatt-baseline/1\",\"energy_source\":\"perf\",\"cpu_model\":7}",
		  "no cpu_model" },
		/* packages */
		{ HEAD "\"host\":\"h\"}", "no list of packages" },
		{ HEAD "\"packages\":{}}", "no list of packages" },
		{ ONE(""), "its list of packages is empty" },
		{ ONE("11.5"), "one of its packages is no object" },
		{ ONE("null"), "one of its packages is no object" },
		{ ONE("{\"watts\":1}"), "'' of its package at place 0 is no number" },
		{ ONE(PKG("-1", "1")), "'-1' of its package at place 0 is no number" },
		{ ONE(PKG("\"0\"", "1")), "'\"0\"' of its package at place 0 is no number" },
		{ ONE(PKG("1.5", "1")), "'1.5' of its package at place 0 is no number" },
		{ ONE(PKG("2147483648", "1")), "'2147483648' of its package at place 0 is no number" },
		{ ONE(PKG("1", "1") "," PKG("0", "1")), "in order of their numbers, each once" },
		{ ONE(PKG("1", "1") "," PKG("1", "1")), "in order of their numbers, each once" },
		/* watts */
		{ ONE("{\"package\":4}"), "its package 4 has no watts" },
		{ ONE(PKG("4", "null")), "its package 4 has no watts" },
		{ ONE(PKG("4", "-0.5")), "'-0.5' of its package 4 is no number of watts" },
		{ ONE(PKG("4", "-1")), "'-1' of its package 4 is no number of watts" },
		{ ONE(PKG("4", "NaN")), "of its package 4 is no number of watts" },
		{ ONE(PKG("4", "Infinity")), "of its package 4 is no number of watts" },
		{ ONE(PKG("4", "\"11\"")), "'\"11\"' of its package 4 is no number of watts" },
		{ ONE(PKG("4", "true")), "'true' of its package 4 is no number of watts" },
		{ ONE(PKG("4", "[11]")), "'[11]' of its package 4 is no number of watts" },
		{ ONE(PKG("4", "1e1")), "'1e1' of its package 4 is no number of watts" },
		{ ONE(PKG("4", "1.0000001")), "'1.0000001' of its package 4 is no number of watts" },
		{ ONE(PKG("4", "1000000.000001")), "of its package 4 is no number of watts from 0 to 1000000" },
		{ ONE(PKG("4", "99999999999999999999")), "of its package 4 is no number of watts" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refuse_bytes(cases[i].text, strlen(cases[i].text), cases[i].why);
	refuse_bytes(ONE(PKG("0", "1")) "\0{}", sizeof(ONE(PKG("0", "1")) "\0{}") - 1, "it holds a NUL byte");
}

static void test_bad_sizes(void **state)
{
	static char text[65537 + 64];
	size_t len = sprintf(text, "%s", ONE(PKG("0", "1")));
	struct baseline b;
	struct file f;

	(void)state;
	/* The largest that is read, and one byte more. */
	memset(text + len, ' ', 65536 - len);
	file_begin(&f, text, 65536);
	assert_int_equal(baseline_read(&b, f.name), 0);
	baseline_free(&b);
	file_end(&f);
	text[65536] = ' ';
	refuse_bytes(text, 65537, "more than 65536 bytes");

	len = sprintf(text, HEAD "\"packages\":[");
	for (int i = 0; i <= SW_DOMAINS_MAX; i++)
		len += sprintf(text + len, "%s{\"package\":%d,\"watts\":1}", i ? "," : "", i);
	len += sprintf(text + len, "]}");
	refuse_bytes(text, len, "more packages than any machine");
}

static void refuse_name(const char *name, const char *said)
{
	struct capture c;
	struct baseline b;
	int err;

	capture_begin(&c);
	err = baseline_read(&b, name);
	capture_end(&c);
	assert_int_equal(err, -EINVAL);
	assert_string_equal(c.said, said);
}

static void test_no_file(void **state)
{
	(void)state;
	refuse_name("11.5W", "schedwatt: --baseline '11.5W' is neither watts (like 11.5 or 11.5,12) nor a file that there is; "
			     "write one with `schedwatt calibrate -o FILE`\n");
	refuse_name("/", "schedwatt: --baseline '/': cannot read it: Is a directory\n");
}

/* By way of the option: in place of numbers, and numbers in place of a file. */
static void test_option(void **state)
{
	static const char text[] = ONE(PKG("0", "2.5"));
	char *argv[] = { (char *)"monitor", (char *)"--policy=marginal", (char *)"--baseline", NULL, (char *)"--baseline",
			 (char *)"1,2", NULL };
	struct sw_options lib;
	struct options o;
	struct file f;
	int status;

	(void)state;
	file_begin(&f, text, strlen(text));
	argv[3] = f.name;
	assert_int_equal(options_parse(&o, COMMAND_MONITOR, 4, argv, &status), 0);
	options_to_library(&o, &lib);
	assert_int_equal(lib.n_baseline, 1);
	assert_int_equal(lib.baseline_uw[0], 2500000);
	options_free(&o);
	assert_int_equal(options_parse(&o, COMMAND_MONITOR, 6, argv, &status), 0);
	options_to_library(&o, &lib);
	assert_null(o.baseline.file);
	assert_int_equal(lib.n_baseline, 2);
	assert_int_equal(lib.baseline_uw[1], 2000000);
	options_free(&o);
	file_end(&f);
}

/* Two packages, 0 and 2, of which the second has two dies. */
static const int32_t domain_package[] = { 0, 2, 2 };
static const struct sw_zone zones[] = { { .name = "package-0" }, { .name = "package-2", .problem = "it has gone" } };

static const struct sw_header header = {
	.version = "0.1.0",
	.started_utc_ns = 1700000000000000001,
	.kernel = "6.1.0",
	.cpu_model = "x",
	.packages = 2,
	.domains = 3,
	.interval_ms = 1000,
	.energy_source = "perf",
	.energy_quality = "measured",
	.domain_package = domain_package,
};

static int check(const struct baseline *b, const struct sw_header *h, struct capture *c)
{
	int err;

	capture_begin(c);
	err = baseline_check(b, h);
	capture_end(c);
	return err;
}

static void test_machine(void **state)
{
	struct baseline b = { .n = 2, .file = "f", .package = { 0, 2 }, .cpu_model = (char *)"x", .energy_source = (char *)"perf" };
	struct sw_header h = header;
	struct capture c;

	(void)state;
	assert_int_equal(check(&b, &h, &c), 0);
	assert_string_equal(c.said, "");

	h.energy_source = "msr";
	assert_int_equal(check(&b, &h, &c), 0);
	assert_string_equal(c.said, "schedwatt: --baseline 'f' was measured by perf, and energy comes from msr now; the two may "
				    "differ\n");
	h.energy_source = "none";
	h.energy_quality = NULL;
	assert_int_equal(check(&b, &h, &c), 0);
	assert_string_equal(c.said, "");

	h.cpu_model = "y";
	assert_int_equal(check(&b, &h, &c), -EINVAL);
	assert_string_equal(c.said, "schedwatt: --baseline 'f' is of another processor ('x'), and this machine has 'y'; "
				    "calibrate again on this machine\n");
	h.cpu_model = NULL;
	assert_int_equal(check(&b, &h, &c), -EINVAL);
	b.cpu_model = NULL;
	assert_int_equal(check(&b, &h, &c), 0);

	b.package[1] = 1;
	assert_int_equal(check(&b, &h, &c), -EINVAL);
	assert_string_equal(c.said, "schedwatt: --baseline 'f' is of packages 0,1, and this machine has 0,2; calibrate again on "
				    "this machine\n");
	/* Three of two packages would be one of each domain to the library. */
	b = (struct baseline){ .n = 3, .file = "f", .package = { 0, 1, 2 }, .energy_source = (char *)"perf" };
	assert_int_equal(check(&b, &h, &c), -EINVAL);

	/* Numbers are the user's word. */
	b = (struct baseline){ .n = 1, .uw = { 1 } };
	assert_int_equal(check(&b, &h, &c), 0);
	assert_string_equal(c.said, "");
}

/* A second's window: energy of the three domains, and how busy each of 4 CPUs was, in ms. */
static void add(struct calibration *c, uint32_t flags, int64_t a, int64_t b0, int64_t b1, uint64_t busy_ms)
{
	const int64_t nj[] = { a, b0, b1 };
	struct sw_domain domains[3];
	struct sw_report r = { .window_ns = S, .flags = flags, .domains = domains, .n_domains = 3 };

	for (int i = 0; i < 3; i++)
		domains[i] = (struct sw_domain){ .busy_ns = busy_ms * 1000000, .idle_ns = 4 * S - busy_ms * 1000000,
						 .offline_ns = S, .nj = nj[i] };
	calibration_add(c, &r);
}

static void test_arithmetic(void **state)
{
	static const char golden[] =
		"{\"type\":\"baseline\",\"schema\":\"schedwatt-baseline/1\",\"version\":\"0.1.0\",\"host\":\"box\","
		"\"cpu_model\":\"x\",\"kernel\":\"6.1.0\",\"started_at\":\"2023-11-14T22:13:20.000000001Z\",\"duration_s\":3,"
		"\"interval_ms\":1000,\"windows\":3,\"windows_without_energy\":3,\"windows_suspended\":1,"
		"\"energy_source\":\"perf\",\"busy_percent\":2,\"packages\":["
		"{\"package\":0,\"watts\":11,\"watts_sd\":1,\"watts_min\":10,\"watts_max\":12,\"busy_percent\":2},"
		"{\"package\":2,\"watts\":5.000001,\"watts_sd\":0.000001,\"watts_min\":5,\"watts_max\":5.000002,"
		"\"busy_percent\":2}]}\n";
	struct sw_header h = header;
	struct buf out = { 0 };
	struct calibration c;
	struct baseline b;
	struct file f;

	(void)state;
	calibration_init(&c, &h);
	assert_int_equal(c.n_packages, 2);
	add(&c, 0, 10 * W, 2 * W, 3 * W, 80);
	add(&c, SW_FLAG_SUSPEND, 90 * W, W, W, 4000);
	add(&c, SW_FLAG_NO_ENERGY, SW_ABSENT, SW_ABSENT, SW_ABSENT, 4000);
	add(&c, SW_FLAG_PARTIAL, 90 * W, W, SW_ABSENT, 4000);
	add(&c, SW_FLAG_PARTIAL, SW_ABSENT, W, W, 4000);
	add(&c, SW_FLAG_HYBRID, 12 * W, 2 * W, 3 * W + 1000, 80);
	add(&c, 0, 11 * W, 2 * W, 3 * W + 2000, 80);
	baseline_write(&c, "box", &out);
	buf_add(&out, "", 1);
	assert_string_equal(out.data, golden);

	file_begin(&f, golden, strlen(golden));
	assert_int_equal(baseline_read(&b, f.name), 0);
	assert_int_equal(b.n, 2);
	assert_int_equal(b.uw[0], 11000000);
	assert_int_equal(b.uw[1], 5000001);
	baseline_free(&b);
	file_end(&f);

	buf_clear(&out);
	calibration_numbers(&c, &out);
	buf_add(&out, "", 1);
	assert_string_equal(out.data, "11,5.000001");
	buf_clear(&out);
	h.zones = zones;
	h.n_zones = 2;
	calibration_text(&c, "a\x1b", &out);
	buf_add(&out, "", 1);
	assert_string_equal(out.data,
			    "\n idle power, from perf, 3 windows of 1000 ms in 3 s (left out: 3 without energy, 1 slept through)\n"
			    "\n"
			    "            11.000 W  \xc2\xb1" "1.000  package 0; windows from 10.000 to 12.000 W; CPUs busy 2.00 %\n"
			    "             5.000 W  \xc2\xb1" "0.000  package 2; windows from 5.000 to 5.000 W; CPUs busy 2.00 %\n"
			    " zone package-2 is left out: it has gone\n"
			    "\n"
			    " for run and monitor: --baseline a? or --baseline 11,5.000001\n");
	buf_free(&out);
}

/* One window has no spread. */
static void test_one_window(void **state)
{
	struct buf out = { 0 };
	struct calibration c;

	(void)state;
	calibration_init(&c, &header);
	add(&c, 0, 10 * W, 2 * W, 3 * W, 0);
	baseline_write(&c, NULL, &out);
	buf_add(&out, "", 1);
	assert_non_null(strstr(out.data, "\"host\":null,"));
	assert_non_null(strstr(out.data, "\"watts\":10,\"watts_sd\":null,\"watts_min\":10,"));
	buf_free(&out);
}

/* What is said of it, or "". */
static void fault(const struct calibration *c, uint32_t max_busy, char *said, size_t size)
{
	static const struct sw_comm comms[] = {
		{ .comm = "hog", .oncpu_ns = 950000000 },
		{ .comm = "b", .oncpu_ns = 10000000 },
		{ .comm = "c", .oncpu_ns = 500000 },
		{ .comm = "d", .oncpu_ns = 1 },
	};
	static const struct sw_summary summary = { .duration_ns = S, .comms = comms, .n_comms = 4 };
	struct buf words = { 0 };
	bool bad = calibration_fault(c, max_busy, &summary, &words);

	snprintf(said, size, "%.*s", (int)words.len, words.len ? words.data : "");
	assert_int_equal(bad, words.len > 0);
	buf_free(&words);
}

static void test_busy(void **state)
{
	struct calibration c;
	char said[1024];

	(void)state;
	/* 200 of 4000 ms are 5 %, and not over it. */
	calibration_init(&c, &header);
	add(&c, 0, 10 * W, 2 * W, 3 * W, 200);
	fault(&c, 0, said, sizeof(said));
	assert_string_equal(said, "");
	fault(&c, 4999, said, sizeof(said));
	assert_string_equal(said, "this machine is not idle: the CPUs of package 0 were busy 5.00 % of the time, over the limit "
				  "of 4.999 %; busiest: hog (95.0 % of a CPU), b (1.0 % of a CPU), c (0.1 % of a CPU); end what "
				  "is busy and calibrate again, or set another limit with --max-busy PERCENT");
	calibration_init(&c, &header);
	add(&c, 0, 10 * W, 2 * W, 3 * W, 201);
	fault(&c, 0, said, sizeof(said));
	assert_non_null(strstr(said, "package 0 were busy 5.03 % of the time, over the limit of 5 %;"));
	fault(&c, 5025, said, sizeof(said));
	assert_string_equal(said, "");

	calibration_init(&c, &header);
	add(&c, 0, 10 * W, 2 * W, 3 * W, 4000);
	fault(&c, CALIBRATION_ALL, said, sizeof(said));
	assert_string_equal(said, "");
}

/* Of 64 CPUs, half a one at work is what a quiet host has, and not 5 %. One package that is busy is enough. */
static void test_busy_many(void **state)
{
	static const int32_t packages[] = { 0, 1 };
	static const struct sw_header wide = { .domains = 2, .domain_package = packages };
	struct sw_domain domains[2] = {
		{ .busy_ns = S / 10, .idle_ns = 64 * S - S / 10, .nj = W },
		{ .busy_ns = S / 2 - 1, .lost_ns = 1, .idle_ns = 64 * S - S / 2, .nj = W },
	};
	struct sw_report r = { .window_ns = S, .domains = domains, .n_domains = 2 };
	struct calibration c;
	char said[1024];

	(void)state;
	calibration_init(&c, &wide);
	calibration_add(&c, &r);
	fault(&c, 0, said, sizeof(said));
	assert_string_equal(said, "");
	domains[1].lost_ns = 2; /* nobody knows whose, but idle it was not */
	calibration_init(&c, &wide);
	calibration_add(&c, &r);
	fault(&c, 0, said, sizeof(said));
	assert_non_null(strstr(said, "package 1 were busy 0.78 % of the time, over the limit of 0.781 %;"));
	fault(&c, 5000, said, sizeof(said));
	assert_string_equal(said, "");
}

static void test_nothing(void **state)
{
	struct sw_header h = header;
	struct calibration c;
	char said[1024];

	(void)state;
	calibration_init(&c, &h);
	add(&c, SW_FLAG_NO_ENERGY, SW_ABSENT, SW_ABSENT, SW_ABSENT, 0);
	add(&c, SW_FLAG_SUSPEND, W, W, W, 0);
	fault(&c, CALIBRATION_ALL, said, sizeof(said));
	assert_string_equal(said, "no window tells the energy of every package: 1 had none, and in 1 the machine slept; "
				  "`schedwatt monitor -f jsonl` shows what each counter says");
	h.zones = zones;
	h.n_zones = 2;
	fault(&c, 0, said, sizeof(said));
	assert_non_null(strstr(said, "slept; zone package-2: it has gone"));

	/* A counter that a hypervisor shows and does not move. */
	calibration_init(&c, &header);
	add(&c, 0, 10 * W, 0, 0, 0);
	add(&c, 0, 10 * W, 0, 0, 0);
	fault(&c, 0, said, sizeof(said));
	assert_string_equal(said, "the energy counter of package 2 stood still: no machine runs on 0 W; use another source with "
				  "--energy");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),       cmocka_unit_test(test_good_null), cmocka_unit_test(test_bad),
		cmocka_unit_test(test_bad_sizes),  cmocka_unit_test(test_no_file),   cmocka_unit_test(test_option),
		cmocka_unit_test(test_machine),    cmocka_unit_test(test_arithmetic), cmocka_unit_test(test_one_window),
		cmocka_unit_test(test_busy),       cmocka_unit_test(test_busy_many), cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests_name("baseline", tests, NULL, NULL);
}

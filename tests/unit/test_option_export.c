/* SPDX-License-Identifier: BSD-2-Clause */
/* The exporter's options: what each is by default, what it takes, and what is said of the rest. */
#include "command_line.h"

static void test_defaults(void **state)
{
	struct sw_options lib;
	struct result r;

	(void)state;
	parse(&r, COMMAND_EXPORT, ARGS(NULL));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.export.n_listen, 0);
	assert_string_equal(r.o.export.path, "/metrics");
	assert_null(r.o.export.web_config);
	assert_int_equal(r.o.export.by, GROUPS_BY_CGROUP);
	assert_int_equal(r.o.export.max_series, 1000);
	assert_int_equal(r.o.export.keep_ns, 300000000000);
	options_to_library(&r.o, &lib);
	assert_int_equal(lib.interval_ms, 1000);
	assert_int_equal(lib.policy, SW_POLICY_CAPACITY);
	options_free(&r.o);
}

static void test_all(void **state)
{
	struct result r;

	(void)state;
	parse(&r, COMMAND_EXPORT,
	      ARGS("--listen", ":1", "--web.listen-address=[::1]:65535", "--listen", "localhost:0", "--web.telemetry-path",
		   "/a/b-c._~", "--web.config.file", "web.yml", "--by", "process", "--max-series", "100000", "--keep", "1",
		   "-i", "250", "--policy", "busy"));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.export.n_listen, 3);
	assert_string_equal(r.o.export.listen[0], ":1");
	assert_string_equal(r.o.export.listen[1], "[::1]:65535");
	assert_string_equal(r.o.export.listen[2], "localhost:0");
	assert_string_equal(r.o.export.path, "/a/b-c._~");
	assert_string_equal(r.o.export.web_config, "web.yml");
	assert_int_equal(r.o.export.by, GROUPS_BY_PROCESS);
	assert_int_equal(r.o.export.max_series, 100000);
	assert_int_equal(r.o.export.keep_ns, 1000000000);
	assert_int_equal(r.o.interval_ms, 250);
	assert_int_equal(r.o.policy, SW_POLICY_BUSY);
	options_free(&r.o);
	parse(&r, COMMAND_EXPORT, ARGS("--by", "comm"));
	assert_int_equal(r.o.export.by, GROUPS_BY_COMM);
	options_free(&r.o);
	parse(&r, COMMAND_EXPORT, ARGS("--web.telemetry-path", "/"));
	assert_int_equal(r.err, 0);
	options_free(&r.o);
}

static void test_bad(void **state)
{
	static const char *const bad[][8] = {
		{ "--listen", "", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:80", "[::1:80", ":http" },
		{ "--web.listen-address", "a:b:1", "]:1", "[]1", "host:-1", "host: 1", "host:1 ", "host:000001" },
		{ "--web.telemetry-path", "", "metrics", "/a b", "/\"", "/<b>", "/healthz", "/a?b" },
		{ "--by", "", "group", "thread", "cgroups", "Comm", "process,comm", "all" },
		{ "--max-series", "", "0", "-1", "100001", "1e3", "10 ", "x" },
		{ "--keep", "", "0", "1.5", "86401", "5m", " 1", "1\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		for (size_t k = 1; k < 8; k++)
			refuse(COMMAND_EXPORT, k == 7 && i == 5 ? "'1" : bad[i][k], ARGS(bad[i][0], bad[i][k]));
	refuse_with(COMMAND_EXPORT, "schedwatt: export takes no argument 'host'; it is about the whole machine\n", ARGS("host"));
	refuse(COMMAND_EXPORT, "--pid", ARGS("--pid", "1"));
	refuse(COMMAND_MONITOR, "--listen", ARGS("--listen", ":1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests_name("option_export", tests, NULL, NULL);
}

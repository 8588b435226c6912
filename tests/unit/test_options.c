/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which command lines are accepted, what they mean, and that a refusal is one line that names the value.
 * Relies on: memfd_create(2) in place of stderr.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/message.h"
#include "cli/options.h"

enum { ARGS_MAX = 24 };

struct result {
	struct options o;
	int err, status;
	char said[2048];
	char *argv[ARGS_MAX];
};

/* Parse with stderr kept in r->said. The caller frees r->o. */
static void parse(struct result *r, enum command command, const char *const *args)
{
	int argc = 1, saved = dup(STDERR_FILENO), fd = memfd_create("stderr", MFD_CLOEXEC);
	ssize_t n;

	assert_true(saved >= 0 && fd >= 0);
	*r = (struct result){ .status = -1, .argv = { (char *)"command" } };
	for (; args[argc - 1]; argc++) {
		assert_true(argc < ARGS_MAX - 1);
		r->argv[argc] = (char *)args[argc - 1];
	}
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	r->err = options_parse(&r->o, command, argc, r->argv, &r->status);
	assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
	n = pread(fd, r->said, sizeof(r->said) - 1, 0);
	assert_true(n >= 0);
	close(fd);
	close(saved);
}

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_defaults(void **state)
{
	struct result r;

	(void)state;
	parse(&r, COMMAND_MONITOR, (const char *const[]){ NULL });
	assert_int_equal(r.err, 0);
	assert_string_equal(r.said, "");
	assert_int_equal(r.o.interval_ms, 200);
	assert_true(r.o.duration_ns == 0);
	assert_null(r.o.output);
	assert_null(r.o.sink);
	assert_string_equal(r.o.backend, "auto");
	assert_string_equal(r.o.energy, "auto");
	assert_int_equal(r.o.policy, SW_POLICY_BUSY);
	assert_int_equal(r.o.hook, SW_HOOK_AUTO);
	assert_int_equal(r.o.n_baseline, 0);
	assert_null(r.o.command);
	options_free(&r.o);
}

static void test_all(void **state)
{
	struct sw_options lib;
	struct result r;

	(void)state;
	parse(&r, COMMAND_MONITOR,
	      ARGS("-I", "10", "-d", "2.5", "-o", "-", "-fjsonl", "--strict", "--slots=64", "--hook", "tracepoint",
		   "--label", "job=a=b", "--label", "x="));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.interval_ms, 10);
	assert_true(r.o.duration_ns == 2500000000);
	assert_string_equal(r.o.output, "-");
	assert_ptr_equal(r.o.sink, &sink_jsonl);
	assert_int_equal(r.o.hook, SW_HOOK_TP);
	assert_int_equal(r.o.n_labels, 2);
	assert_string_equal(r.o.labels[0].key, "job");
	assert_string_equal(r.o.labels[0].value, "a=b");
	assert_string_equal(r.o.labels[1].key, "x");
	assert_string_equal(r.o.labels[1].value, "");
	options_free(&r.o);

	parse(&r, COMMAND_MONITOR,
	      ARGS("--attribution-mode", "ebpf", "--energy", "model", "--policy", "marginal", "--baseline", "1.5,0,20",
		   "--model", "0.74:3.5", "--sysfs", "/s", "--procfs", "/p", "-f", "text"));
	assert_int_equal(r.err, 0);
	assert_ptr_equal(r.o.sink, &sink_text);
	options_to_library(&r.o, &lib);
	assert_int_equal(lib.sz, sizeof(lib));
	assert_int_equal(lib.interval_ms, 200);
	assert_string_equal(lib.backend, "ebpf");
	assert_string_equal(lib.energy, "model");
	assert_int_equal(lib.policy, SW_POLICY_MARGINAL);
	assert_int_equal(lib.n_baseline, 3);
	assert_true(lib.baseline_uw[0] == 1500000 && lib.baseline_uw[1] == 0 && lib.baseline_uw[2] == 20000000);
	assert_true(lib.model_idle_uw == 740000 && lib.model_max_uw == 3500000);
	assert_string_equal(lib.sysfs, "/s");
	assert_string_equal(lib.procfs, "/p");
	options_free(&r.o);
}

static void test_command(void **state)
{
	struct result r;

	(void)state;
	parse(&r, COMMAND_RUN, ARGS("-i", "50", "--", "-i", "x"));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.interval_ms, 50);
	assert_string_equal(r.o.command[0], "-i");
	assert_string_equal(r.o.command[1], "x");
	assert_null(r.o.command[2]);
	options_free(&r.o);

	/* What follows the first word is the command's, options too. */
	parse(&r, COMMAND_RUN, ARGS("ls", "-i", "--", "--bogus"));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.interval_ms, 200);
	assert_string_equal(r.o.command[0], "ls");
	assert_string_equal(r.o.command[3], "--bogus");
	options_free(&r.o);
}

static void test_interval_without_energy(void **state)
{
	struct result r;

	(void)state;
	/* In either order. */
	parse(&r, COMMAND_MONITOR, ARGS("-i", "1", "--energy", "none"));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.interval_ms, 1);
	options_free(&r.o);
	parse(&r, COMMAND_MONITOR, ARGS("--energy", "none", "-i", "3600000"));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.interval_ms, 3600000);
	options_free(&r.o);
}

static void refuse(enum command command, const char *value, const char *const *args)
{
	char *end;
	struct result r;

	parse(&r, command, args);
	assert_int_not_equal(r.err, 0);
	assert_int_equal(r.status, EXIT_USAGE);
	assert_int_equal(strncmp(r.said, "schedwatt: ", 11), 0);
	assert_non_null(strstr(r.said, value));
	end = strchr(r.said, '\n');
	assert_non_null(end);
	assert_string_equal(end, "\n"); /* one line */
	options_free(&r.o);
}

static void test_refused_values(void **state)
{
	static const char *const cases[][2] = {
		{ "-i", "9" }, { "-i", "0" }, { "-i", "-1" }, { "-i", "+20" }, { "-i", " 20" }, { "-i", "20 " },
		{ "-i", "20ms" }, { "-i", "0x20" }, { "-i", "1e3" }, { "-i", "20.0" }, { "-i", "3600001" },
		{ "-i", "18446744073709551817" }, { "-d", "0" }, { "-d", "-1" }, { "-d", "1,5" }, { "-d", "nan" },
		{ "-d", "inf" }, { "-d", "." }, { "-d", "1." }, { "-d", "0.0000000001" }, { "-d", "1000000001" },
		{ "-f", "csv" }, { "-f", "JSONL" }, { "--attribution-mode", "proc" }, { "--energy", "perf" },
		{ "--policy", "fair" }, { "--policy", "marginal" }, { "--baseline", "x" }, { "--baseline", "1,,2" },
		{ "--baseline", "1," }, { "--baseline", "1000001" }, { "--baseline", "-1" },
		{ "--model", "3" }, { "--model", "3:" }, { "--model", ":3" }, { "--model", "4:3" },
		{ "--model", "0:0" }, { "--model", "1:2:3" }, { "--slots", "0" }, { "--slots", "16777217" },
		{ "--hook", "kprobe" }, { "--label", "x" }, { "--label", "=x" }, { "--label", "1=x" },
		{ "--label", "a b=x" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refuse(COMMAND_MONITOR, cases[i][1], ARGS(cases[i][0], cases[i][1]));
	/* A newline at the end is no number either, and the message still is one line. */
	refuse(COMMAND_MONITOR, "20?", ARGS("-i", "20\n"));
	refuse(COMMAND_MONITOR, "2?", ARGS("--slots", "2\n"));
}

static void test_refused_lines(void **state)
{
	(void)state;
	refuse(COMMAND_MONITOR, "--bogus", ARGS("--bogus"));
	refuse(COMMAND_MONITOR, "Z", ARGS("-Z"));
	refuse(COMMAND_MONITOR, "--interval-ms", ARGS("--interval-ms"));
	refuse(COMMAND_MONITOR, "word", ARGS("word"));
	refuse(COMMAND_MONITOR, "word", ARGS("--", "word"));
	refuse(COMMAND_MONITOR, "a=2", ARGS("--label", "a=1", "--label", "a=2"));
	refuse(COMMAND_RUN, "command", ARGS("-i", "50"));
	refuse(COMMAND_RUN, "command", ARGS("--"));
	refuse(COMMAND_RUN, "d", ARGS("-d", "1", "--", "true"));
	refuse(COMMAND_RUN, "5", ARGS("-i", "5", "--", "true"));
}

static void test_baseline_count(void **state)
{
	char many[4 * SW_DOMAINS_MAX + 1] = "";
	struct result r;

	(void)state;
	for (int i = 0; i < SW_DOMAINS_MAX; i++)
		strcat(many, i ? ",7" : "7");
	parse(&r, COMMAND_MONITOR, ARGS("--baseline", many));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.n_baseline, SW_DOMAINS_MAX);
	options_free(&r.o);
	strcat(many, ",7");
	refuse(COMMAND_MONITOR, many, ARGS("--baseline", many));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),       cmocka_unit_test(test_all),
		cmocka_unit_test(test_command),        cmocka_unit_test(test_interval_without_energy),
		cmocka_unit_test(test_refused_values), cmocka_unit_test(test_refused_lines),
		cmocka_unit_test(test_baseline_count),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}

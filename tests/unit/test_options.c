/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which command lines are accepted, what they mean, and that a refusal is one line that names the value.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/message.h"
#include "cli/options.h"
#include "command_line.h"

static void test_defaults(void **state)
{
	struct sw_options lib;
	struct result r;

	(void)state;
	parse(&r, COMMAND_MONITOR, (const char *const[]){ NULL });
	assert_int_equal(r.err, 0);
	assert_string_equal(r.capture.said, "");
	assert_int_equal(r.o.interval_ms, 200);
	assert_true(r.o.duration_ns == 0);
	assert_null(r.o.output);
	assert_null(r.o.sink);
	assert_string_equal(r.o.backend, "auto");
	assert_string_equal(r.o.energy, "auto");
	assert_int_equal(r.o.policy, SW_POLICY_BUSY);
	assert_int_equal(r.o.hook, SW_HOOK_AUTO);
	assert_int_equal(r.o.baseline.n, 0);
	assert_null(r.o.command);
	assert_int_equal(r.o.target.kind, SW_TARGET_HOST);
	assert_int_equal(r.o.by, 0);
	options_to_library(&r.o, &lib);
	assert_int_equal(lib.by, 0);
	assert_int_equal(lib.no_cmdline, 0);
	assert_null(lib.cgroupfs);
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

/* Pids of one -p and of several are one list, in which each stands once. */
static void test_targets(void **state)
{
	static const int32_t pids[] = { 12, 1, INT32_MAX, 7 };
	struct result r;

	(void)state;
	parse(&r, COMMAND_MONITOR, ARGS("-p", "12,1", "--pid=2147483647,12", "-p7", "--scope", "process"));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.target.kind, SW_TARGET_PIDS);
	assert_int_equal(r.o.target.scope, SW_SCOPE_PROCESS);
	assert_int_equal(r.o.target.n_pids, 4);
	assert_memory_equal(r.o.target.pids, pids, sizeof(pids));
	options_free(&r.o);

	/* In either order. */
	parse(&r, COMMAND_MONITOR, ARGS("--scope", "tree", "-p", "3"));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.target.scope, SW_SCOPE_TREE);
	options_free(&r.o);

	parse(&r, COMMAND_MONITOR, ARGS("--cgroup", "0::/a b"));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.target.kind, SW_TARGET_CGROUP);
	assert_string_equal(r.o.target.cgroup, "0::/a b");
	assert_int_equal(r.o.target.n_pids, 0);
	options_free(&r.o);
}

static void test_groupings(void **state)
{
	static const struct {
		const char *name;
		uint32_t by, with_threads;
	} cases[] = {
		{ "process", SW_BY_PROCESS, SW_BY_PROCESS | SW_BY_THREAD },
		{ "thread", SW_BY_THREAD, SW_BY_THREAD },
		{ "cgroup", SW_BY_CGROUP, SW_BY_CGROUP | SW_BY_THREAD },
		{ "comm", SW_BY_COMM, SW_BY_COMM | SW_BY_THREAD },
	};
	struct sw_options lib;
	struct result r;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		parse(&r, COMMAND_MONITOR, ARGS("--by", cases[i].name));
		assert_int_equal(r.err, 0);
		assert_int_equal(r.o.by, cases[i].by);
		options_to_library(&r.o, &lib);
		assert_int_equal(lib.by, cases[i].by);
		options_free(&r.o);
		parse(&r, COMMAND_RUN, ARGS("--by", cases[i].name, "--threads", "true"));
		assert_int_equal(r.err, 0);
		options_to_library(&r.o, &lib);
		assert_int_equal(lib.by, cases[i].with_threads);
		options_free(&r.o);
	}
	parse(&r, COMMAND_RUN, ARGS("--threads", "--no-cmdline", "--cgroupfs", "/c", "true"));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.by, 0);
	options_to_library(&r.o, &lib);
	assert_int_equal(lib.by, SW_BY_PROCESS | SW_BY_THREAD);
	assert_int_equal(lib.no_cmdline, 1);
	assert_string_equal(lib.cgroupfs, "/c");
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

/* The picture is of processes, whatever the table is of. */
static void test_tree(void **state)
{
	static const char *const bad[] = { "", "-1", "100.001", "1%", "1,5", "x" };
	struct sw_options lib;
	struct result r;

	(void)state;
	parse(&r, COMMAND_RUN, ARGS("--by", "comm", "true"));
	assert_false(r.o.style.tree);
	options_free(&r.o);
	parse(&r, COMMAND_RUN, ARGS("--by", "comm", "--tree", "true"));
	assert_int_equal(r.err, 0);
	assert_true(r.o.style.tree);
	assert_int_equal(r.o.style.tree_fold, 1000);
	assert_string_equal(r.o.command[0], "true"); /* which is not the option's */
	options_to_library(&r.o, &lib);
	assert_int_equal(lib.by, SW_BY_PROCESS | SW_BY_COMM);
	options_free(&r.o);
	parse(&r, COMMAND_MONITOR, ARGS("--tree=0.125"));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.style.tree_fold, 125);
	options_to_library(&r.o, &lib);
	assert_int_equal(lib.by, SW_BY_PROCESS);
	options_free(&r.o);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char arg[32];

		snprintf(arg, sizeof(arg), "--tree=%s", bad[i]);
		refuse(COMMAND_MONITOR, bad[i], ARGS(arg));
	}
}

static void test_refused_targets(void **state)
{
#define NO_PID(all, token) \
	"schedwatt: --pid '" all "': '" token "' is not a process id, a whole number from 1 to 2147483647\n"
	static const char *const pids[][2] = {
		{ "0", NO_PID("0", "0") },
		{ "-1", NO_PID("-1", "-1") },
		{ "+1", NO_PID("+1", "+1") },
		{ " 1", NO_PID(" 1", " 1") },
		{ "1 2", NO_PID("1 2", "1 2") },
		{ "12x", NO_PID("12x", "12x") },
		{ "0x10", NO_PID("0x10", "0x10") },
		{ "1.0", NO_PID("1.0", "1.0") },
		{ "1\n", NO_PID("1?", "1?") },
		{ "self", NO_PID("self", "self") },
		{ "", NO_PID("", "") },
		{ ",", NO_PID(",", "") },
		{ "1,", NO_PID("1,", "") },
		{ "1,,2", NO_PID("1,,2", "") },
		{ "7,2147483648", NO_PID("7,2147483648", "2147483648") },
		{ "18446744073709551617", NO_PID("18446744073709551617", "18446744073709551617") },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++)
		refuse_with(COMMAND_MONITOR, pids[i][1], ARGS("-p", pids[i][0]));
	refuse_with(COMMAND_MONITOR, "schedwatt: option requires an argument -- 'p'\n", ARGS("-p"));
	refuse_with(COMMAND_MONITOR, "schedwatt: --pid and --cgroup '/a' exclude each other; give one of them\n",
		    ARGS("-p", "1", "--cgroup", "/a"));
	refuse_with(COMMAND_MONITOR, "schedwatt: --pid and --cgroup '/a' exclude each other; give one of them\n",
		    ARGS("--cgroup", "/a", "-p", "1"));
	refuse_with(COMMAND_MONITOR, "schedwatt: --cgroup '' is no path; write it like /sys/fs/cgroup/system.slice\n",
		    ARGS("--cgroup", ""));
	refuse_with(COMMAND_MONITOR, "schedwatt: --cgroup '/b': a cgroup was given before; give one\n",
		    ARGS("--cgroup", "/a", "--cgroup", "/b"));
	refuse_with(COMMAND_MONITOR, "schedwatt: --scope 'session' is not known; use tree or process\n",
		    ARGS("-p", "1", "--scope", "session"));
	refuse_with(COMMAND_MONITOR, "schedwatt: --scope is about processes; add --pid PID[,PID...]\n",
		    ARGS("--scope", "tree"));
	refuse_with(COMMAND_MONITOR, "schedwatt: --scope is about processes; add --pid PID[,PID...]\n",
		    ARGS("--scope", "process", "--cgroup", "/a"));
	refuse_with(COMMAND_MONITOR, "schedwatt: --by 'user' is not known; use process, thread, cgroup or comm\n",
		    ARGS("--by", "user"));
	refuse_with(COMMAND_MONITOR,
		    "schedwatt: monitor takes no argument '12'; -p PID names a process, and `schedwatt run -- COMMAND` "
		    "accounts a command\n",
		    ARGS("12"));
}

/* The targets are monitor's: run does not know them, nor take --cgroup for a short --cgroupfs. */
static void test_run_has_no_target(void **state)
{
	(void)state;
	refuse_with(COMMAND_RUN, "schedwatt: invalid option -- 'p'\n", ARGS("-p", "1", "true"));
	refuse_with(COMMAND_RUN, "schedwatt: unrecognized option '--pid'\n", ARGS("--pid", "1", "true"));
	refuse_with(COMMAND_RUN, "schedwatt: unrecognized option '--scope'\n", ARGS("--scope", "tree", "true"));
	refuse_with(COMMAND_RUN, "schedwatt: unrecognized option '--cgroup'\n", ARGS("--cgroup", "/a", "true"));
	refuse_with(COMMAND_RUN, "schedwatt: unrecognized option '--cgroup'\n", ARGS("--cgroup=/a", "true"));
}

static void test_pid_count(void **state)
{
	static char many[4096 * 5 + 8];
	struct result r;
	char *at = many;

	(void)state;
	for (int i = 0; i < 4096; i++)
		at += sprintf(at, "%s%d", i ? "," : "", i + 1);
	parse(&r, COMMAND_MONITOR, ARGS("-p", many, "-p", "4096"));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.target.n_pids, 4096);
	assert_int_equal(r.o.target.pids[4095], 4096);
	options_free(&r.o);
	refuse_with(COMMAND_MONITOR, "schedwatt: --pid: more than 4096 processes; --cgroup takes any number\n",
		    ARGS("-p", many, "-p", "4097"));
}

static void test_refused_values(void **state)
{
	static const char *const cases[][2] = {
		{ "-i", "9" }, { "-i", "0" }, { "-i", "-1" }, { "-i", "+20" }, { "-i", " 20" }, { "-i", "20 " },
		{ "-i", "20ms" }, { "-i", "0x20" }, { "-i", "1e3" }, { "-i", "20.0" }, { "-i", "3600001" },
		{ "-i", "18446744073709551817" }, { "-d", "0" }, { "-d", "-1" }, { "-d", "1,5" }, { "-d", "nan" },
		{ "-d", "inf" }, { "-d", "." }, { "-d", "1." }, { "-d", "0.0000000001" }, { "-d", "1000000001" },
		{ "-f", "xml" }, { "-f", "JSONL" }, { "--attribution-mode", "bpf" }, { "--energy", "rapl" },
		{ "--policy", "fair" }, { "--policy", "marginal" }, { "--baseline", "x" }, { "--baseline", "1,,2" },
		{ "--baseline", "" }, { "--baseline", "nan" }, { "--baseline", "1e1" }, { "--baseline", "0.0000001" },
		{ "--baseline", "1.2.3" }, { "--baseline", "." },
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

static void test_calibrate(void **state)
{
	struct sw_options lib;
	struct result r;

	(void)state;
	parse(&r, COMMAND_CALIBRATE, (const char *const[]){ NULL });
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.interval_ms, 500);
	assert_true(r.o.duration_ns == UINT64_C(10000000000));
	assert_int_equal(r.o.max_busy, 0);
	assert_null(r.o.output);
	options_to_library(&r.o, &lib);
	assert_int_equal(lib.by, SW_BY_COMM);
	assert_int_equal(lib.no_cmdline, 1);
	assert_string_equal(lib.energy, "auto");
	options_free(&r.o);

	parse(&r, COMMAND_CALIBRATE,
	      ARGS("-d", "0.1", "-I", "50", "-o", "-", "--max-busy", "12.345", "--energy", "perf", "--sysfs", "/s", "--procfs",
		   "/p", "--attribution-mode", "ebpf"));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.interval_ms, 50);
	assert_true(r.o.duration_ns == 100000000);
	assert_int_equal(r.o.max_busy, 12345);
	assert_string_equal(r.o.output, "-");
	options_to_library(&r.o, &lib);
	assert_string_equal(lib.energy, "perf");
	assert_string_equal(lib.sysfs, "/s");
	assert_string_equal(lib.procfs, "/p");
	options_free(&r.o);
}

static void test_refused_calibrate(void **state)
{
	static const char *const percents[] = { "0", "100.001", "-1", "5%", "nan", "", "1.0005", "5 " };

	(void)state;
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		refuse(COMMAND_CALIBRATE, percents[i], ARGS("--max-busy", percents[i]));
	refuse_with(COMMAND_CALIBRATE,
		    "schedwatt: --energy 'model' cannot be calibrated: a model's idle power is what it was told; use auto, "
		    "powercap, perf or msr\n",
		    ARGS("--energy", "model"));
	refuse_with(COMMAND_CALIBRATE, "schedwatt: --energy 'none' is not known; use auto, powercap, perf or msr\n",
		    ARGS("--energy", "none"));
	refuse_with(COMMAND_CALIBRATE,
		    "schedwatt: --duration is shorter than two windows of 501 ms, which it takes to see how much the power "
		    "varies; give 1.002 s or more, or a shorter --interval-ms\n",
		    ARGS("-d", "1", "-i", "501"));
	refuse_with(COMMAND_CALIBRATE,
		    "schedwatt: --output '12,5' would be a number of watts to --baseline; write it like ./12,5\n",
		    ARGS("-o", "12,5"));
	refuse_with(COMMAND_CALIBRATE, "schedwatt: calibrate takes no argument 'idle.json'; -o FILE names what to write\n",
		    ARGS("idle.json"));
	/* What records have, a calibration has not. */
	refuse_with(COMMAND_CALIBRATE, "schedwatt: unrecognized option '--policy'\n", ARGS("--policy", "busy"));
	refuse_with(COMMAND_CALIBRATE, "schedwatt: unrecognized option '--model'\n", ARGS("--model", "1:2"));
	refuse_with(COMMAND_CALIBRATE, "schedwatt: invalid option -- 'p'\n", ARGS("-p", "1"));
	refuse_with(COMMAND_MONITOR, "schedwatt: unrecognized option '--max-busy'\n", ARGS("--max-busy", "5"));
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
	assert_int_equal(r.o.baseline.n, SW_DOMAINS_MAX);
	options_free(&r.o);
	strcat(many, ",7");
	refuse(COMMAND_MONITOR, many, ARGS("--baseline", many));
}

/* It measures nothing, and so takes none of the options of those that do. */
static void test_columns(void **state)
{
	struct result r;

	(void)state;
	parse(&r, COMMAND_COLUMNS, (const char *const[]){ NULL });
	assert_int_equal(r.err, 0);
	assert_null(r.o.sink);
	options_free(&r.o);
	parse(&r, COMMAND_COLUMNS, ARGS("-f", "jsonl"));
	assert_int_equal(r.err, 0);
	assert_ptr_equal(r.o.sink, &sink_jsonl);
	options_free(&r.o);
	refuse_with(COMMAND_COLUMNS, "schedwatt: columns takes no argument 'utime'; it lists them all\n", ARGS("utime"));
	refuse(COMMAND_COLUMNS, "csv", ARGS("-f", "csv"));
	refuse(COMMAND_COLUMNS, "--procfs", ARGS("--procfs", "/proc"));
	refuse(COMMAND_COLUMNS, "--energy", ARGS("--energy", "none"));
}

/* A target or a command, and none of the options that ask for rows, or for one back end. */
static void test_compare(void **state)
{
	struct sw_options lib;
	struct result r;

	(void)state;
	parse(&r, COMMAND_COMPARE, ARGS("-p", "7", "-d", "2", "--scope", "process", "-f", "jsonl"));
	assert_int_equal(r.err, 0);
	assert_true(r.o.compare && r.o.no_cmdline);
	assert_null(r.o.command);
	assert_int_equal(r.o.target.pids[0], 7);
	assert_true(r.o.duration_ns == 2000000000);
	options_to_library(&r.o, &lib);
	assert_int_equal(lib.by, 0); /* or back ends that cannot tell them would be refused */
	assert_string_equal(lib.backend, "auto");
	options_free(&r.o);
	parse(&r, COMMAND_COMPARE, ARGS("--cgroup", "/a"));
	assert_int_equal(r.err, 0);
	options_free(&r.o);
	parse(&r, COMMAND_COMPARE, ARGS("-i", "50", "ls", "-p", "7"));
	assert_int_equal(r.err, 0);
	assert_string_equal(r.o.command[0], "ls");
	assert_int_equal(r.o.target.n_pids, 0);
	options_free(&r.o);
	parse(&r, COMMAND_MONITOR, ARGS("-p", "7"));
	assert_int_equal(r.err, 0);
	assert_false(r.o.compare || r.o.no_cmdline);
	options_free(&r.o);

	refuse_with(COMMAND_COMPARE,
		    "schedwatt: compare needs a target; write schedwatt compare -p PID, or schedwatt compare -- COMMAND "
		    "[ARGUMENT...]\n",
		    (const char *const[]){ NULL });
	refuse_with(COMMAND_COMPARE, "schedwatt: compare takes what runs already or a command, not both; leave out 'ls' or the "
				     "target\n",
		    ARGS("-p", "7", "--", "ls"));
	refuse_with(COMMAND_COMPARE, "schedwatt: compare takes what runs already or a command, not both; leave out 'ls' or the "
				     "target\n",
		    ARGS("--cgroup", "/a", "ls"));
	refuse_with(COMMAND_COMPARE, "schedwatt: --duration is for what runs already; a comparison of the command 'ls' ends "
				     "when that does\n",
		    ARGS("-d", "2", "--", "ls"));
	refuse_with(COMMAND_COMPARE, "schedwatt: --pid and --cgroup '/a' exclude each other; give one of them\n",
		    ARGS("-p", "1", "--cgroup", "/a"));
	refuse(COMMAND_COMPARE, "--by", ARGS("-p", "7", "--by", "thread"));
	refuse(COMMAND_COMPARE, "--threads", ARGS("-p", "7", "--threads"));
	refuse(COMMAND_COMPARE, "--attribution-mode", ARGS("-p", "7", "--attribution-mode", "auto"));
	refuse(COMMAND_COMPARE, "--scope", ARGS("--scope", "tree", "ls"));
}

/* What only run has. */
static void test_run(void **state)
{
	static const struct {
		const char *text;
		enum budget_kind kind;
		int64_t limit;
	} budgets[] = {
		{ "500J", BUDGET_JOULES, 500000000000 }, { "0.5kJ", BUDGET_JOULES, 500000000000 },
		{ "1.25mJ", BUDGET_JOULES, 1250000 }, { "9000MJ", BUDGET_JOULES, 9000000000000000000 },
		{ "0.000000001J", BUDGET_JOULES, 1 }, { "30cpu-s", BUDGET_CPU, 30000000000 },
		{ "1.5cpu-ms", BUDGET_CPU, 1500000 },
	};
	struct result r;

	(void)state;
	parse(&r, COMMAND_RUN, ARGS("true"));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.repeat, 1);
	assert_int_equal(r.o.warmup, 0);
	assert_int_equal(r.o.budget.kind, BUDGET_NONE);
	assert_false(r.o.keep_going || r.o.budget.modelled);
	assert_null(r.o.json);
	options_free(&r.o);
	parse(&r, COMMAND_RUN, ARGS("-r", "10000", "--warmup=3", "--keep-going", "--json", "-", "--budget", "2J",
				    "--budget-modelled", "--", "true", "-r", "x"));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.repeat, 10000);
	assert_int_equal(r.o.warmup, 3);
	assert_true(r.o.keep_going && r.o.budget.modelled);
	assert_string_equal(r.o.json, "-");
	assert_string_equal(r.o.command[1], "-r");
	options_free(&r.o);
	for (size_t i = 0; i < sizeof(budgets) / sizeof(budgets[0]); i++) {
		parse(&r, COMMAND_RUN, ARGS("--budget", budgets[i].text, "true"));
		assert_int_equal(r.err, 0);
		assert_int_equal(r.o.budget.kind, budgets[i].kind);
		assert_true(r.o.budget.limit == budgets[i].limit);
		options_free(&r.o);
	}
}

static void test_refused_run(void **state)
{
	static const char *const cases[][2] = {
		{ "-r", "0" }, { "-r", "10001" }, { "-r", "-1" }, { "-r", "3x" }, { "-r", "" }, { "--warmup", "10001" },
		{ "--warmup", "1.5" }, { "--budget", "500" }, { "--budget", "J" }, { "--budget", "0J" },
		{ "--budget", "-1J" }, { "--budget", "5 J" }, { "--budget", "5Wh" }, { "--budget", "5s" },
		{ "--budget", "5cpu" }, { "--budget", "5j" }, { "--budget", "1e3J" }, { "--budget", "0x5J" },
		{ "--budget", "1,5J" }, { "--budget", "nanJ" }, { "--budget", "5JJ" }, { "--budget", "0.0000000001J" },
		{ "--budget", "9300MJ" }, { "--budget", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refuse(COMMAND_RUN, cases[i][1], ARGS(cases[i][0], cases[i][1], "true"));
	refuse_with(COMMAND_RUN, "schedwatt: --budget-modelled is about a budget of joules; add --budget like 500J\n",
		    ARGS("--budget-modelled", "--budget", "5cpu-s", "true"));
	refuse_with(COMMAND_RUN,
		    "schedwatt: --budget: with --energy 'none' there are no joules to judge; use another --energy, or a budget "
		    "in cpu-s\n",
		    ARGS("--budget", "5J", "--energy", "none", "true"));
#define SAME "is where records go; name another file, or give them one of their own with -o\n"
	refuse_with(COMMAND_RUN, "schedwatt: --json 'x' " SAME, ARGS("--json", "x", "-o", "x", "true"));
	refuse_with(COMMAND_RUN, "schedwatt: --json '-' " SAME, ARGS("--json", "-", "-f", "jsonl", "true"));
	refuse_with(COMMAND_MONITOR, "schedwatt: unrecognized option '--json'\n", ARGS("--json", "x"));
	refuse_with(COMMAND_MONITOR, "schedwatt: invalid option -- 'r'\n", ARGS("-r", "2"));
	refuse_with(COMMAND_COMPARE, "schedwatt: unrecognized option '--budget'\n", ARGS("--budget", "2J", "true"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),       cmocka_unit_test(test_all),
		cmocka_unit_test(test_command), cmocka_unit_test(test_tree),        cmocka_unit_test(test_interval_without_energy),
		cmocka_unit_test(test_refused_values), cmocka_unit_test(test_refused_lines),
		cmocka_unit_test(test_baseline_count), cmocka_unit_test(test_targets),
		cmocka_unit_test(test_groupings),      cmocka_unit_test(test_refused_targets),
		cmocka_unit_test(test_run_has_no_target), cmocka_unit_test(test_pid_count),
		cmocka_unit_test(test_calibrate),      cmocka_unit_test(test_refused_calibrate),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_run),            cmocka_unit_test(test_refused_run),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}

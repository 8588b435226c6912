/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the options of each command and their help. Must not know: what values are legal, what is done with them.
 * Relies on: argp (glibc manual, "Parsing Program Options with Argp").
 */
#include "option_tables.h"

/* Every command's. */
static const struct argp_option help_options[] = {
	{ "help", '?', NULL, 0, "Show this help", -1 },
	{ NULL, 'h', NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, -1 },
	{ "usage", KEY_USAGE, NULL, 0, "Show a short usage message", -1 },
	{ 0 },
};

/* Those of the commands that measure. */
static const struct argp_option common_options[] = {
	{ "slots", KEY_SLOTS, "N", 0, "Size of the kernel's table of tasks; chosen by itself by default", 0 },
	{ "hook", KEY_HOOK, "NAME", OPTION_HIDDEN, NULL, 0 },
	{ "sysfs", KEY_SYSFS, "DIR", 0, "Directory that stands for /sys, for energy counters", 0 },
	{ "procfs", KEY_PROCFS, "DIR", 0, "Directory that stands for /proc", 0 },
	{ 0 },
};

/* Those of the commands that share energy out. */
static const struct argp_option energy_options[] = {
	{ "energy", KEY_ENERGY, "NAME", 0, "Energy source: auto, powercap, perf, msr, model or none", 0 },
	{ "baseline", KEY_BASELINE, "FILE|W0[,W1...]", 0,
	  "Idle watts of each package, for the marginal share: a file of calibrate, or numbers", 0 },
	{ "model", KEY_MODEL, "IDLE:MAX", 0, "Watts of one logical CPU, idle and busy, for the model", 0 },
	{ "strict", KEY_STRICT, NULL, 0, "Fail where energy would not be measured", 0 },
	{ "cgroupfs", KEY_CGROUPFS, "DIR", 0, "Directory where cgroup v2 is mounted; found by itself by default", 0 },
	{ 0 },
};

/* Those of the commands that write records. */
static const struct argp_option record_options[] = {
	{ "interval-ms", 'i', "MS", 0, "Length of a window in whole milliseconds, 10 to 3600000; 200 by default", 0 },
	{ NULL, 'I', NULL, OPTION_ALIAS, NULL, 0 },
	{ "output", 'o', "FILE", 0, "Write records to FILE, which is truncated; - is stdout, and .gz at its end compresses", 0 },
	{ "policy", KEY_POLICY, "NAME", 0, "How energy is shared: busy (default), capacity or marginal", 0 },
	{ "label", KEY_LABEL, "KEY=VALUE", 0, "Put a label into the records; may be repeated", 0 },
	{ 0 },
};

/* Those of the commands that have rows. */
static const struct argp_option row_options[] = {
	{ "by", KEY_BY, "WHAT", 0, "What rows stand for: process (default), thread, cgroup or comm", 0 },
	{ "threads", KEY_THREADS, NULL, 0, "Add rows of threads to those of --by", 0 },
	{ "format", 'f', "FORMAT", 0, "Format of records: jsonl, csv (rows of processes) or text", 0 },
	{ "columns", KEY_COLUMNS, "NAME[,NAME...]", 0,
	  "What rows of processes hold, in this order; `schedwatt columns` lists all", 0 },
	{ "thread-columns", KEY_THREAD_COLUMNS, "NAME[,NAME...]", 0, "What rows of threads hold; adds these", 0 },
	{ "thread-output", KEY_THREAD_OUTPUT, "FILE", 0, "With -f csv: write rows of threads to FILE", 0 },
	{ "csv-units", KEY_CSV_UNITS, NULL, 0, "With -f csv: a row of units behind that of names", 0 },
	{ "flat", KEY_FLAT, NULL, 0, "With -f jsonl: a record for each row of a window, instead of lists", 0 },
	{ "tree", KEY_TREE, "PERCENT", OPTION_ARG_OPTIONAL,
	  "Draw the fork tree in the summary; what has less than this part of the CPU time is folded (1)", 0 },
	{ "no-cmdline", KEY_NO_CMDLINE, NULL, 0, "Leave the command lines of processes out", 0 },
	{ 0 },
};

/* Where records hold no such rows. */
static const struct argp_option compare_options[] = {
	{ "format", 'f', "FORMAT", 0, "Format of records: jsonl or text", 0 },
	{ 0 },
};

/* Those of the commands that account by one back end. */
static const struct argp_option backend_options[] = {
	{ "attribution-mode", KEY_ATTRIBUTION_MODE, "NAME", 0,
	  "Back end for CPU time: auto, ebpf, cgroup_v2, cgroup_v1, proc or cpu_percent", 0 },
	{ 0 },
};

/* And compare's. */
static const struct argp_option monitor_options[] = {
	{ "pid", 'p', "PID[,PID...]", 0, "Record these processes and what descends from them; may be repeated", 0 },
	{ "scope", KEY_SCOPE, "SCOPE", 0, "With -p: tree (default), or process for the processes alone", 0 },
	{ "cgroup", KEY_CGROUP, "PATH", 0, "Record this cgroup (v2) and those below it", 0 },
	{ "duration", 'd', "SECONDS", 0, "End after this time (decimals are allowed); by default, at SIGINT or SIGTERM",
	  0 },
	{ 0 },
};

static const struct argp_option calibrate_options[] = {
	{ "duration", 'd', "SECONDS", 0, "How long to measure (decimals are allowed), in whole windows; 10 by default", 0 },
	{ "interval-ms", 'i', "MS", 0, "Length of a window in whole milliseconds, 10 to 3600000; 500 by default", 0 },
	{ NULL, 'I', NULL, OPTION_ALIAS, NULL, 0 },
	{ "output", 'o', "FILE", 0, "Write the baseline to FILE, for --baseline; - is stdout", 0 },
	{ "energy", KEY_ENERGY, "NAME", 0, "Energy source: auto, powercap, perf or msr", 0 },
	{ "max-busy", KEY_MAX_BUSY, "PERCENT", 0,
	  "How busy the CPUs of a package may be; by default 5, and no more than half a CPU", 0 },
	{ 0 },
};

static const struct argp_option export_options[] = {
	{ "listen", KEY_LISTEN, "HOST:PORT", 0,
	  "Where to serve; [HOST]:PORT for IPv6, :PORT for all addresses; may be repeated; 127.0.0.1:19100 by default", 0 },
	{ "web.listen-address", KEY_LISTEN, "HOST:PORT", 0, "The same, as other exporters call it", 0 },
	{ "web.telemetry-path", KEY_TELEMETRY_PATH, "PATH", 0, "Where the metrics are; /metrics by default", 0 },
	{ "web.config.file", KEY_WEB_CONFIG, "FILE", 0, "TLS and users, in the form that exporters share", 0 },
	{ "by", KEY_BY, "WHAT", 0,
	  "What series stand for: cgroup (default: container, else systemd unit, else cgroup), comm or process", 0 },
	{ "max-series", KEY_MAX_SERIES, "N", 0,
	  "The most groups with series of their own, 1 to 100000; the rest is summed in one; 1000 by default", 0 },
	{ "keep", KEY_KEEP, "SECONDS", 0, "How long a group stays that had no CPU time; 300 by default", 0 },
	{ "interval-ms", 'i', "MS", 0, "Length of a window in whole milliseconds, 10 to 3600000; 1000 by default", 0 },
	{ NULL, 'I', NULL, OPTION_ALIAS, NULL, 0 },
	{ "policy", KEY_POLICY, "NAME", 0, "How energy is shared: capacity (default), busy or marginal", 0 },
	{ 0 },
};

static const struct argp_option columns_options[] = {
	{ "format", 'f', "FORMAT", 0, "Format of the list: text (default) or jsonl", 0 },
	{ 0 },
};

/* Of those that measure it has what names the machine: it tries all hooks, back ends and sources. */
static const struct argp_option doctor_options[] = {
	{ "format", 'f', "FORMAT", 0, "Format of the findings: text (default) or jsonl", 0 },
	{ "slots", KEY_SLOTS, "N", 0, "Size of the kernel's table of tasks; chosen by itself by default", 0 },
	{ "sysfs", KEY_SYSFS, "DIR", 0, "Directory that stands for /sys, for energy counters", 0 },
	{ "procfs", KEY_PROCFS, "DIR", 0, "Directory that stands for /proc", 0 },
	{ "cgroupfs", KEY_CGROUPFS, "DIR", 0, "Directory where cgroup v2 is mounted; found by itself by default", 0 },
	{ 0 },
};

static const struct argp_option run_options[] = {
	{ "repeat", 'r', "N", 0, "Run the command N times, 1 to 10000, and give statistics", 0 },
	{ "warmup", KEY_WARMUP, "N", 0, "Run it N times before, 0 to 10000, which do not count", 0 },
	{ "keep-going", KEY_KEEP_GOING, NULL, 0, "Go on when the command fails, and count that run too", 0 },
	{ "budget", KEY_BUDGET, "AMOUNT", 0,
	  "Exit 124 if a successful command used more in the mean: 500J (mJ, kJ, MJ) or 30cpu-s (cpu-ms)", 0 },
	{ "budget-modelled", KEY_BUDGET_MODELLED, NULL, 0, "Let a model's joules stand for measured ones in --budget", 0 },
	{ "json", KEY_JSON, "FILE", 0, "Write all results as one JSON object to FILE, which is truncated; - is stdout", 0 },
	/* Or getopt would take run's --cgroup for a short --cgroupfs, and record something else than was asked for. */
	{ "cgroup", KEY_CGROUP, "PATH", OPTION_HIDDEN | OPTION_ARG_OPTIONAL, NULL, 0 },
	{ 0 },
};

static const char run_doc[] =
	"Account the energy and CPU time of a command and of all that descends from it. The summary goes to stderr; "
	"records are written only with -f or -o. Exits as the command does."
	"\vExamples:\n"
	"  schedwatt run -- make -j8\n"
	"  schedwatt run -o build.jsonl --label job=nightly -- make -j8\n"
	"  schedwatt run --by thread --policy marginal --baseline idle.json -- ./benchmark\n"
	"  schedwatt run -r 10 --warmup 2 --json result.json -- ./benchmark\n"
	"  schedwatt run -r 5 --budget 500J -- make check\n"
	"\n"
	"Exit status: the command's, of a series that of the first run that failed; 124 over budget, 127 not found, 126 not executable, 128+n killed by signal n, 125 a failure of "
	"schedwatt before the command started, 2 usage; in a series 130 after SIGINT.";

static const char monitor_doc[] =
	"Record the energy and CPU time of this machine, of running processes with all that descends from them, or of a "
	"cgroup, window by window."
	"\vExamples:\n"
	"  schedwatt monitor\n"
	"  schedwatt monitor -p 4242 --threads\n"
	"  schedwatt monitor -p 4242,4300 --scope process -d 10\n"
	"  schedwatt monitor --cgroup /sys/fs/cgroup/system.slice --by cgroup\n"
	"  schedwatt monitor -i 1000 -d 60 -f jsonl -o host.jsonl\n"
	"  schedwatt monitor -p 4242 -f csv --columns time,comm,utime,joules -o 4242.csv.gz\n"
	"  schedwatt monitor -f jsonl | jq -c '[.time_utc, .total_joules]'\n"
	"\n"
	"A recording of processes ends when they and, unless --scope process, their descendants have ended; SIGINT and "
	"SIGTERM end any, with its summary. Exit status: 0 done, 1 failed, 2 usage.";

static const char calibrate_doc[] =
	"Measure the idle power of each package, for the marginal policy of run and monitor, and how much it varies. Do "
	"this when the machine has nothing to do: a busy one is refused."
	"\vExamples:\n"
	"  schedwatt calibrate\n"
	"  schedwatt calibrate -o idle.json -d 60\n"
	"  schedwatt run --policy marginal --baseline idle.json -- make -j8\n"
	"\n"
	"Nothing is written unless the machine was idle all the time. Exit status: 0 done, 1 failed, refused or "
	"interrupted, 2 usage.";

static const char compare_doc[] =
	"Account one target by every source of CPU time that opens here, over the same windows, and show side by side "
	"what each says, how far it is from ebpf, and how much of that its causes make up: others in a cgroup, tasks "
	"that ended between two reads, ticks, interrupts, stolen time, division by the number of CPUs. What is beyond "
	"them is UNEXPLAINED."
	"\vExamples:\n"
	"  schedwatt compare -p 4242 -d 10\n"
	"  schedwatt compare --cgroup /sys/fs/cgroup/system.slice -d 60\n"
	"  schedwatt compare -- make -j8\n"
	"  schedwatt compare -p 4242 -d 10 -f jsonl -o comparison.jsonl\n"
	"\n"
	"The table of a command goes to stderr, as run's summary does; then the exit status is the command's, or 125 for "
	"a failure before it started. Otherwise: 0 done, 1 failed, 2 usage. No second back end to compare with is a "
	"failure.";

static const char columns_doc[] =
	"List the columns that rows of processes and threads can have: name, type, unit, which rows have it, and where "
	"its values come from."
	"\vExamples:\n"
	"  schedwatt columns\n"
	"  schedwatt columns -f jsonl | jq -r 'select(.thread).name'\n"
	"\n"
	"Nothing is measured. Exit status: 0 done, 1 failed, 2 usage.";

static const char doctor_doc[] =
	"Say what works on this machine and what does not: hooks, back ends, energy sources with their zones, privileges, "
	"how the kernel is set, cgroups, memory; with the reason, and what to do about it. Everything is tried as the other "
	"commands would, and closed again."
	"\vExamples:\n"
	"  schedwatt doctor\n"
	"  schedwatt doctor -f jsonl | jq -r 'select(.state == \"lacks\").remedy'\n"
	"\n"
	"Exit status: 0 where a back end opens and energy is measured, 1 where not, or failed, 2 usage.";

static const char export_doc[] =
	"Serve the energy and CPU time of all that runs on this machine to Prometheus, by container, systemd unit and "
	"cgroup, until SIGINT or SIGTERM. Privileges that are not needed any more are given up once the counters are open."
	"\vExamples:\n"
	"  schedwatt export\n"
	"  schedwatt export --listen :19100 --max-series 200\n"
	"  schedwatt export --web.config.file web.yml --by comm\n"
	"\n"
	"SIGHUP reads the users of --web.config.file again. Exit status: 0 ended by a signal, 1 failed, 2 usage.";

/* What a command has of its own. */
static const struct {
	const char *name;
	const struct argp_option *options;
	const char *args, *doc;
} own[] = {
	[COMMAND_RUN] = { "run", run_options, "[--] COMMAND [ARGUMENT...]", run_doc },
	[COMMAND_MONITOR] = { "monitor", monitor_options, NULL, monitor_doc },
	[COMMAND_CALIBRATE] = { "calibrate", calibrate_options, NULL, calibrate_doc },
	[COMMAND_COMPARE] = { "compare", monitor_options, "-p PID[,PID...]\n--cgroup=PATH\n[--] COMMAND [ARGUMENT...]",
			      compare_doc },
	[COMMAND_COLUMNS] = { "columns", columns_options, NULL, columns_doc },
	[COMMAND_DOCTOR] = { "doctor", doctor_options, NULL, doctor_doc },
	[COMMAND_EXPORT] = { "export", export_options, NULL, export_doc },
};

_Static_assert(sizeof(own) / sizeof(own[0]) == COMMANDS, "options for each command");

#define BIT(command) (1U << (command))

/* Tables that commands share. */
static const struct {
	const struct argp_option *options;
	uint32_t commands; /* by bit */
} shared[] = {
	{ help_options, ~0U },
	{ common_options, ~(BIT(COMMAND_COLUMNS) | BIT(COMMAND_DOCTOR)) },
	{ backend_options, ~(BIT(COMMAND_COLUMNS) | BIT(COMMAND_DOCTOR) | BIT(COMMAND_COMPARE)) },
	{ energy_options, BIT(COMMAND_RUN) | BIT(COMMAND_MONITOR) | BIT(COMMAND_COMPARE) | BIT(COMMAND_EXPORT) },
	{ record_options, BIT(COMMAND_RUN) | BIT(COMMAND_MONITOR) | BIT(COMMAND_COMPARE) },
	{ row_options, BIT(COMMAND_RUN) | BIT(COMMAND_MONITOR) },
	{ compare_options, BIT(COMMAND_COMPARE) },
};

_Static_assert(sizeof(shared) / sizeof(shared[0]) < OPTION_TABLES_MAX, "room for all");

struct option_tables option_tables(enum command command)
{
	struct option_tables t = {
		.name = own[command].name,
		.args = own[command].args,
		.doc = own[command].doc,
		.n = 1,
		.table = { own[command].options },
	};

	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		if (shared[i].commands & BIT(command))
			t.table[t.n++] = shared[i].options;
	}
	return t;
}

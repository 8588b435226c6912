/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the options of each command and their help. Must not know: what is done with them.
 * Relies on: argp (glibc manual, "Parsing Program Options with Argp"). argp's own second line after an error ("Try...")
 * is turned off by taking its error stream away, and help is printed here, so that a failing write is seen.
 */
#include "options.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "option_values.h"
#include "output.h"

enum {
	INTERVAL_DEFAULT_MS = 200,
	CALIBRATE_INTERVAL_MS = 500,
	TABLES_MAX = 5, /* of options, that commands share */
};

#define CALIBRATE_DURATION_NS UINT64_C(10000000000)

/* Keys of options without a short form. */
enum {
	KEY_ATTRIBUTION_MODE = 0x100,
	KEY_ENERGY,
	KEY_POLICY,
	KEY_BASELINE,
	KEY_MODEL,
	KEY_STRICT,
	KEY_SLOTS,
	KEY_HOOK,
	KEY_LABEL,
	KEY_SYSFS,
	KEY_PROCFS,
	KEY_CGROUPFS,
	KEY_CGROUP,
	KEY_SCOPE,
	KEY_BY,
	KEY_THREADS,
	KEY_NO_CMDLINE,
	KEY_MAX_BUSY,
	KEY_USAGE,
};

struct parse {
	struct options *o;
	enum command command;
	int helped; /* --help was printed */
	int status; /* and how that went */
};

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

/* Those of the commands that write records. */
static const struct argp_option record_options[] = {
	{ "interval-ms", 'i', "MS", 0, "Length of a window in whole milliseconds, 10 to 3600000; 200 by default", 0 },
	{ NULL, 'I', NULL, OPTION_ALIAS, NULL, 0 },
	{ "output", 'o', "FILE", 0, "Write records to FILE, which is truncated; - is stdout", 0 },
	{ "format", 'f', "FORMAT", 0, "Format of records: jsonl or text", 0 },
	{ "energy", KEY_ENERGY, "NAME", 0, "Energy source: auto, powercap, perf, msr, model or none", 0 },
	{ "policy", KEY_POLICY, "NAME", 0, "How energy is shared: busy (default), capacity or marginal", 0 },
	{ "baseline", KEY_BASELINE, "FILE|W0[,W1...]", 0,
	  "Idle watts of each package, for the marginal share: a file of calibrate, or numbers", 0 },
	{ "model", KEY_MODEL, "IDLE:MAX", 0, "Watts of one logical CPU, idle and busy, for the model", 0 },
	{ "strict", KEY_STRICT, NULL, 0, "Fail where energy would not be measured", 0 },
	{ "label", KEY_LABEL, "KEY=VALUE", 0, "Put a label into the records; may be repeated", 0 },
	{ "cgroupfs", KEY_CGROUPFS, "DIR", 0, "Directory where cgroup v2 is mounted; found by itself by default", 0 },
	{ 0 },
};

/* Those of the commands that have rows. */
static const struct argp_option row_options[] = {
	{ "by", KEY_BY, "WHAT", 0, "What rows stand for: process (default), thread, cgroup or comm", 0 },
	{ "threads", KEY_THREADS, NULL, 0, "Add rows of threads to those of --by", 0 },
	{ "no-cmdline", KEY_NO_CMDLINE, NULL, 0, "Leave the command lines of processes out", 0 },
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

static const struct argp_option columns_options[] = {
	{ "format", 'f', "FORMAT", 0, "Format of the list: text (default) or jsonl", 0 },
	{ 0 },
};

/* Or getopt would take run's --cgroup for a short --cgroupfs, and record something else than was asked for. */
static const struct argp_option run_options[] = {
	{ "cgroup", KEY_CGROUP, "PATH", OPTION_HIDDEN | OPTION_ARG_OPTIONAL, NULL, 0 },
	{ 0 },
};

static error_t print_help(struct parse *p, struct argp_state *state, unsigned flags)
{
	static const char *const names[] = {
		[COMMAND_RUN] = "schedwatt run",
		[COMMAND_MONITOR] = "schedwatt monitor",
		[COMMAND_CALIBRATE] = "schedwatt calibrate",
		[COMMAND_COMPARE] = "schedwatt compare",
		[COMMAND_COLUMNS] = "schedwatt columns",
	};

	/* argp sets this to argv[0], which has to be the bare "schedwatt" for getopt's messages. */
	state->name = (char *)names[p->command];
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write here, and nothing else runs after it */
	argp_state_help(state, stdout, flags);
	p->helped = 1;
	p->status = output_flush_stdout();
	return ECANCELED; /* parse no further */
}

static error_t parse_energy(struct parse *p, const char *arg)
{
	static const char *const all[] = { "auto", "powercap", "perf", "msr", "model", "none", NULL };
	static const char *const measured[] = { "auto", "powercap", "perf", "msr", NULL };

	if (p->command != COMMAND_CALIBRATE)
		return option_name(&p->o->energy, "energy", arg, all, "auto, powercap, perf, msr, model or none");
	if (!strcmp(arg, "model")) {
		message_error("--energy 'model' cannot be calibrated: a model's idle power is what it was told; use auto, "
			      "powercap, perf or msr");
		return EINVAL;
	}
	return option_name(&p->o->energy, "energy", arg, measured, "auto, powercap, perf or msr");
}

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	static const char *const backends[] = { "auto", "ebpf", "cgroup_v2", "cgroup_v1", "proc", "cpu_percent", NULL };
	struct parse *p = state->input;
	struct options *o = p->o;

	switch (key) {
	case 'i':
	case 'I':
		return option_interval(o, arg);
	case 'o':
		o->output = arg;
		return 0;
	case 'f':
		return option_format(o, arg);
	case KEY_BY:
		return option_by(o, arg);
	case KEY_THREADS:
		o->threads = true;
		return 0;
	case KEY_NO_CMDLINE:
		o->no_cmdline = true;
		return 0;
	case KEY_ATTRIBUTION_MODE:
		return option_name(&o->backend, "attribution-mode", arg, backends,
				   "auto, ebpf, cgroup_v2, cgroup_v1, proc or cpu_percent");
	case KEY_ENERGY:
		return parse_energy(p, arg);
	case KEY_POLICY:
		return option_policy(o, arg);
	case KEY_BASELINE:
		return option_baseline(o, arg);
	case KEY_MAX_BUSY:
		return option_max_busy(o, arg);
	case KEY_MODEL:
		return option_model(o, arg);
	case KEY_STRICT:
		o->strict = 1;
		return 0;
	case KEY_SLOTS:
		return option_slots(o, arg);
	case KEY_HOOK:
		return option_hook(o, arg);
	case KEY_LABEL:
		return option_label(o, arg);
	case KEY_SYSFS:
		o->sysfs = arg;
		return 0;
	case KEY_PROCFS:
		o->procfs = arg;
		return 0;
	case KEY_CGROUPFS:
		o->cgroupfs = arg;
		return 0;
	case '?':
	case 'h':
		return print_help(p, state, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC);
	case KEY_USAGE:
		return print_help(p, state, ARGP_HELP_USAGE);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_command(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->err_stream = NULL;
		for (size_t i = 0; state->root_argp->children[i].argp; i++)
			state->child_inputs[i] = p;
		return 0;
	case 'd': /* which options a command has, its tables say */
		return option_duration(p->o, arg);
	case 'p':
		return option_pids(p->o, arg);
	case KEY_SCOPE:
		return option_scope(p->o, arg);
	case KEY_CGROUP:
		if (p->command == COMMAND_RUN) {
			message_error("unrecognized option '--cgroup'");
			return EINVAL;
		}
		return option_cgroup(p->o, arg);
	case ARGP_KEY_ARG:
		if (p->command == COMMAND_CALIBRATE) {
			message_error("calibrate takes no argument '%s'; -o FILE names what to write", arg);
			return EINVAL;
		}
		if (p->command == COMMAND_COLUMNS) {
			message_error("columns takes no argument '%s'; it lists them all", arg);
			return EINVAL;
		}
		if (p->command == COMMAND_MONITOR) {
			message_error("monitor takes no argument '%s'; -p PID names a process, and `schedwatt run -- "
				      "COMMAND` accounts a command",
				      arg);
			return EINVAL;
		}
		/* The first word that is not an option: it and all behind it are the command's. */
		p->o->command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	default:
		return parse_common(key, arg, state);
	}
}

static int check_compare(const struct options *o)
{
	bool target = o->target.n_pids || o->target.cgroup;

	if (!target && !o->command) {
		message_error("compare needs a target; write schedwatt compare -p PID, or schedwatt compare -- COMMAND "
			      "[ARGUMENT...]");
		return -EINVAL;
	}
	if (target && o->command) {
		message_error("compare takes what runs already or a command, not both; leave out '%s' or the target",
			      o->command[0]);
		return -EINVAL;
	}
	if (o->duration_ns && o->command) {
		message_error("--duration is for what runs already; a comparison of the command '%s' ends when that "
			      "does", o->command[0]);
		return -EINVAL;
	}
	return 0;
}

static int check_target(const struct options *o)
{
	if (o->target.n_pids && o->target.cgroup) {
		message_error("--pid and --cgroup '%s' exclude each other; give one of them", o->target.cgroup);
		return -EINVAL;
	}
	if (o->scope_given && !o->target.n_pids) {
		message_error("--scope is about processes; add --pid PID[,PID...]");
		return -EINVAL;
	}
	return 0;
}

static int check_calibrate(const struct options *o)
{
	uint64_t two_ns = UINT64_C(2000000) * o->interval_ms;

	if (o->duration_ns < two_ns) {
		message_error("--duration is shorter than two windows of %u ms, which it takes to see how much the power "
			      "varies; give %u.%03u s or more, or a shorter --interval-ms",
			      o->interval_ms, o->interval_ms / 500, o->interval_ms % 500 * 2);
		return -EINVAL;
	}
	if (o->output && o->output[0] && !o->output[strspn(o->output, "0123456789.,")]) {
		message_error("--output '%s' would be a number of watts to --baseline; write it like ./%s", o->output,
			      o->output);
		return -EINVAL;
	}
	return 0;
}

/* What can only be judged when all options are known. */
static int check(const struct options *o, enum command command)
{
	if (o->interval_ms < OPTION_INTERVAL_MIN_MS && strcmp(o->energy, "none")) {
		message_error("--interval-ms '%u' is below %d, too short for energy counters; use %d or more, or "
			      "--energy none",
			      o->interval_ms, OPTION_INTERVAL_MIN_MS, OPTION_INTERVAL_MIN_MS);
		return -EINVAL;
	}
	if (o->policy == SW_POLICY_MARGINAL && !o->baseline.n) {
		message_error("--policy 'marginal' needs the idle watts of each package; add --baseline FILE, which `schedwatt "
			      "calibrate -o FILE` writes, or --baseline W0[,W1...]");
		return -EINVAL;
	}
	if (command == COMMAND_RUN && !o->command) {
		message_error("run needs a command; write schedwatt run -- COMMAND [ARGUMENT...]");
		return -EINVAL;
	}
	if (command == COMMAND_COMPARE && check_compare(o))
		return -EINVAL;
	return command == COMMAND_CALIBRATE ? check_calibrate(o) : check_target(o);
}

static const char run_doc[] =
	"Account the energy and CPU time of a command and of all that descends from it. The summary goes to stderr; "
	"records are written only with -f or -o. Exits as the command does."
	"\vExamples:\n"
	"  schedwatt run -- make -j8\n"
	"  schedwatt run -o build.jsonl --label job=nightly -- make -j8\n"
	"  schedwatt run --by thread --policy marginal --baseline idle.json -- ./benchmark\n"
	"\n"
	"Exit status: the command's; 127 not found, 126 not executable, 128+n killed by signal n, 125 a failure of "
	"schedwatt before the command started, 2 usage.";

static const char monitor_doc[] =
	"Record the energy and CPU time of this machine, of running processes with all that descends from them, or of a "
	"cgroup, window by window."
	"\vExamples:\n"
	"  schedwatt monitor\n"
	"  schedwatt monitor -p 4242 --threads\n"
	"  schedwatt monitor -p 4242,4300 --scope process -d 10\n"
	"  schedwatt monitor --cgroup /sys/fs/cgroup/system.slice --by cgroup\n"
	"  schedwatt monitor -i 1000 -d 60 -f jsonl -o host.jsonl\n"
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

/* Which tables of options a command has, beside its own; the last is empty. */
static void choose_tables(enum command command, struct argp tables[TABLES_MAX],
			  struct argp_child children[TABLES_MAX + 1])
{
	bool measures = command != COMMAND_COLUMNS;
	const struct argp_option *const options[TABLES_MAX] = {
		help_options,
		measures ? common_options : NULL,
		measures && command != COMMAND_COMPARE ? backend_options : NULL,
		measures && command != COMMAND_CALIBRATE ? record_options : NULL,
		command == COMMAND_RUN || command == COMMAND_MONITOR ? row_options : NULL,
	};
	size_t n = 0;

	for (size_t i = 0; i < TABLES_MAX; i++) {
		if (!options[i])
			continue;
		tables[n] = (struct argp){ .options = options[i], .parser = parse_common };
		children[n] = (struct argp_child){ .argp = &tables[n] };
		n++;
	}
	children[n] = (struct argp_child){ 0 };
}

int options_parse(struct options *o, enum command command, int argc, char **argv, int *status)
{
	static const struct {
		const struct argp_option *options;
		const char *args, *doc;
	} own[] = {
		[COMMAND_RUN] = { run_options, "[--] COMMAND [ARGUMENT...]", run_doc },
		[COMMAND_MONITOR] = { monitor_options, NULL, monitor_doc },
		[COMMAND_CALIBRATE] = { calibrate_options, NULL, calibrate_doc },
		[COMMAND_COMPARE] = { monitor_options, "-p PID[,PID...]\n--cgroup=PATH\n[--] COMMAND [ARGUMENT...]",
				      compare_doc },
		[COMMAND_COLUMNS] = { columns_options, NULL, columns_doc },
	};
	struct argp tables[TABLES_MAX];
	struct argp_child children[TABLES_MAX + 1];
	const struct argp argp = {
		.options = own[command].options,
		.parser = parse_command,
		.args_doc = own[command].args,
		.doc = own[command].doc,
		.children = children,
	};
	struct parse p = { .o = o, .command = command };
	error_t err;

	*o = (struct options){ .interval_ms = INTERVAL_DEFAULT_MS, .backend = "auto", .energy = "auto" };
	if (command == COMMAND_CALIBRATE) {
		o->interval_ms = CALIBRATE_INTERVAL_MS;
		o->duration_ns = CALIBRATE_DURATION_NS;
		o->by = SW_BY_COMM; /* who was busy */
		o->no_cmdline = true;
	}
	o->compare = command == COMMAND_COMPARE;
	o->no_cmdline |= o->compare; /* it shows no processes */
	choose_tables(command, tables, children);
	argv[0] = (char *)"schedwatt"; /* getopt begins its messages with it */
	err = argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP | ARGP_NO_EXIT, NULL, &p);
	if (p.helped) {
		*status = p.status;
		return -ECANCELED;
	}
	if (err == ENOMEM) {
		*status = command == COMMAND_RUN ? EXIT_RUN_FAILED : EXIT_FAILED;
		return -ENOMEM;
	}
	if (err || check(o, command)) {
		*status = EXIT_USAGE;
		return -EINVAL;
	}
	return 0;
}

void options_free(struct options *o)
{
	for (size_t i = 0; i < o->n_labels; i++)
		free((char *)o->labels[i].key); /* key and value are one piece */
	free(o->labels);
	free(o->target.pids);
	baseline_free(&o->baseline);
	*o = (struct options){ 0 };
}

void options_to_library(const struct options *o, struct sw_options *lib)
{
	*lib = (struct sw_options){
		.sz = sizeof(*lib),
		.interval_ms = o->interval_ms,
		/* none asked for: what the back end can tell */
		.by = o->threads ? (o->by ? o->by : SW_BY_PROCESS) | SW_BY_THREAD : o->by,
		.no_cmdline = o->no_cmdline,
		.backend = o->backend,
		.energy = o->energy,
		.policy = o->policy,
		.strict = o->strict,
		.baseline_uw = o->baseline.n ? o->baseline.uw : NULL,
		.n_baseline = o->baseline.n,
		.model_idle_uw = o->model_idle_uw,
		.model_max_uw = o->model_max_uw,
		.slots = o->slots,
		.hook = o->hook,
		.sysfs = o->sysfs,
		.procfs = o->procfs,
		.cgroupfs = o->cgroupfs,
	};
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what each option does to struct options. Must not know: what is done with them.
 * Relies on: argp (glibc manual, "Parsing Program Options with Argp"). argp's own second line after an error ("Try...")
 * is turned off by taking its error stream away, and help is printed here, so that a failing write is seen.
 */
#include "options.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "option_export.h"
#include "option_rows.h"
#include "option_tables.h"
#include "option_values.h"
#include "output.h"

enum {
	INTERVAL_DEFAULT_MS = 200,
	CALIBRATE_INTERVAL_MS = 500,
	EXPORT_INTERVAL_MS = 1000,
};

#define CALIBRATE_DURATION_NS UINT64_C(10000000000)

struct parse {
	struct options *o;
	enum command command;
	int helped; /* --help was printed */
	int status; /* and how that went */
};

static error_t print_help(struct parse *p, struct argp_state *state, unsigned flags)
{
	char name[64];

	/* argp sets this to argv[0], which has to be the bare "schedwatt" for getopt's messages. */
	snprintf(name, sizeof(name), "schedwatt %s", option_tables(p->command).name);
	state->name = name;
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

static error_t parse_option(int key, char *arg, struct argp_state *state)
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
		return p->command == COMMAND_EXPORT ? option_export_by(&o->export, arg) : option_by(o, arg);
	case KEY_THREADS:
		o->threads = true;
		return 0;
	case KEY_COLUMNS:
		return option_columns(o, arg);
	case KEY_THREAD_COLUMNS:
		return option_thread_columns(o, arg);
	case KEY_THREAD_OUTPUT:
		o->thread_output = arg;
		return 0;
	case KEY_CSV_UNITS:
		o->csv_units = true;
		return 0;
	case KEY_FLAT:
		o->flat = true;
		return 0;
	case KEY_TREE:
		return option_tree(o, arg);
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

/* How often run runs, and what it makes of that. */
static error_t parse_series(int key, char *arg, struct options *o)
{
	switch (key) {
	case 'r':
		return option_runs(&o->repeat, "repeat", arg, 1);
	case KEY_WARMUP:
		return option_runs(&o->warmup, "warmup", arg, 0);
	case KEY_KEEP_GOING:
		o->keep_going = true;
		return 0;
	case KEY_BUDGET:
		return option_budget(o, arg);
	case KEY_BUDGET_MODELLED:
		o->budget.modelled = true;
		return 0;
	case KEY_JSON:
		o->json = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_export(int key, char *arg, struct export_options *e)
{
	switch (key) {
	case KEY_LISTEN:
		return option_listen(e, arg);
	case KEY_TELEMETRY_PATH:
		return option_telemetry_path(e, arg);
	case KEY_WEB_CONFIG:
		e->web_config = arg;
		return 0;
	case KEY_MAX_SERIES:
		return option_max_series(e, arg);
	default:
		return option_keep(e, arg);
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
	case 'r':
	case KEY_WARMUP:
	case KEY_KEEP_GOING:
	case KEY_BUDGET:
	case KEY_BUDGET_MODELLED:
	case KEY_JSON:
		return parse_series(key, arg, p->o);
	case KEY_LISTEN:
	case KEY_TELEMETRY_PATH:
	case KEY_WEB_CONFIG:
	case KEY_MAX_SERIES:
	case KEY_KEEP:
		return parse_export(key, arg, &p->o->export);
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
		if (p->command == COMMAND_DOCTOR) {
			message_error("doctor takes no argument '%s'; it looks at this machine", arg);
			return EINVAL;
		}
		if (p->command == COMMAND_EXPORT) {
			message_error("export takes no argument '%s'; it is about the whole machine", arg);
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
		return parse_option(key, arg, state);
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

static int check_run(const struct options *o)
{
	bool joules = o->budget.kind == BUDGET_JOULES;
	const char *records = o->output ? o->output : o->sink ? "-" : NULL;

	if (!o->command) {
		message_error("run needs a command; write schedwatt run -- COMMAND [ARGUMENT...]");
		return -EINVAL;
	}
	if (o->budget.modelled && !joules) {
		message_error("--budget-modelled is about a budget of joules; add --budget like 500J");
		return -EINVAL;
	}
	if (joules && !strcmp(o->energy, "none")) {
		message_error("--budget: with --energy 'none' there are no joules to judge; use another --energy, or a budget "
			      "in cpu-s");
		return -EINVAL;
	}
	if (o->json && strncmp(o->json, "/dev/", 5) &&
	    ((records && !strcmp(o->json, records)) || (o->thread_output && !strcmp(o->json, o->thread_output)))) {
		message_error("--json '%s' is where records go; name another file, or give them one of their own with -o",
			      o->json);
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
	if (command == COMMAND_RUN)
		return check_run(o);
	if (command == COMMAND_COMPARE && check_compare(o))
		return -EINVAL;
	return command == COMMAND_CALIBRATE ? check_calibrate(o) : check_target(o);
}

int options_parse(struct options *o, enum command command, int argc, char **argv, int *status)
{
	const struct option_tables t = option_tables(command);
	struct argp shared[OPTION_TABLES_MAX];
	struct argp_child children[OPTION_TABLES_MAX] = { 0 };
	const struct argp argp = {
		.options = t.table[0],
		.parser = parse_command,
		.args_doc = t.args,
		.doc = t.doc,
		.children = children,
	};
	struct parse p = { .o = o, .command = command };
	error_t err;

	for (size_t i = 1; i < t.n; i++) {
		shared[i] = (struct argp){ .options = t.table[i], .parser = parse_option };
		children[i - 1] = (struct argp_child){ .argp = &shared[i] };
	}
	*o = (struct options){ .interval_ms = INTERVAL_DEFAULT_MS, .backend = "auto", .energy = "auto", .repeat = 1 };
	if (command == COMMAND_EXPORT) {
		o->interval_ms = EXPORT_INTERVAL_MS;
		o->policy = SW_POLICY_CAPACITY;
		option_export_defaults(&o->export);
	}
	if (command == COMMAND_CALIBRATE) {
		o->interval_ms = CALIBRATE_INTERVAL_MS;
		o->duration_ns = CALIBRATE_DURATION_NS;
		o->by = SW_BY_COMM; /* who was busy */
		o->no_cmdline = true;
	}
	o->compare = command == COMMAND_COMPARE;
	o->no_cmdline |= o->compare; /* it shows no processes */
	argv[0] = (char *)"schedwatt"; /* getopt begins its messages with it */
	err = argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP | ARGP_NO_EXIT, NULL, &p);
	if (p.helped) {
		*status = p.status;
		return -ECANCELED;
	}
	if (!err)
		err = -option_rows_settle(o, command);
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

static void column_list_free(struct column_list *list)
{
	free(list->columns);
	free(list->names);
}

void options_free(struct options *o)
{
	for (size_t i = 0; i < o->n_labels; i++)
		free((char *)o->labels[i].key); /* key and value are one piece */
	free(o->labels);
	column_list_free(&o->columns);
	column_list_free(&o->thread_columns);
	free(o->target.pids);
	free(o->export.listen);
	baseline_free(&o->baseline);
	*o = (struct options){ 0 };
}

void options_to_library(const struct options *o, struct sw_options *lib)
{
	/* none asked for: what the back end can tell; but rows with columns are those of processes */
	uint32_t by = o->by || !(o->threads || o->columns.n) ? o->by : SW_BY_PROCESS;

	by |= o->style.tree ? SW_BY_PROCESS : 0; /* its picture is of these, whatever the table is of */
	*lib = (struct sw_options){
		.sz = sizeof(*lib),
		.interval_ms = o->interval_ms,
		.by = o->threads ? by | SW_BY_THREAD : by,
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
		.process_columns = o->columns.names,
		.n_process_columns = o->columns.n,
		.thread_columns = o->thread_columns.names,
		.n_thread_columns = o->thread_columns.n,
	};
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how the value of each option is read, its range, and what is said when it is wrong. Must not know: argp, or
 * what is done with a value. Relies on: base/parse.h, whose parsers take a whole token or nothing.
 */
#include "option_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "calibration.h"
#include "message.h"

enum {
	INTERVAL_MAX_MS = 3600000,
	SLOTS_MIN = 64,
	SLOTS_MAX = 262144,
	PIDS_MAX = 4096,
	RUNS_MAX = 10000,
	TREE_FOLD_DEFAULT = 1000, /* thousandths of a per cent */
};

#define DURATION_MAX_S 1000000000

/* sw_parse_u64() allows the newline that kernel files end with; an option must not have it. */
static int parse_whole(const char *text, uint64_t max, uint64_t *ret)
{
	return strchr(text, '\n') ? -EINVAL : sw_parse_u64(text, max, ret);
}

static int add_pid(struct target *t, int32_t pid)
{
	int32_t *pids;

	for (size_t i = 0; i < t->n_pids; i++) {
		if (t->pids[i] == pid)
			return 0;
	}
	if (t->n_pids == PIDS_MAX) {
		message_error("--pid: more than %d processes; --cgroup takes any number", PIDS_MAX);
		return EINVAL;
	}
	pids = realloc(t->pids, (t->n_pids + 1) * sizeof(*pids));
	if (!pids) {
		message_error("--pid: out of memory");
		return ENOMEM;
	}
	t->pids = pids;
	pids[t->n_pids++] = pid;
	return 0;
}

int option_pids(struct options *o, const char *arg)
{
	const char *at = arg;
	char token[16];
	uint64_t pid;

	for (;;) {
		size_t len = strcspn(at, ",");
		int err;

		snprintf(token, sizeof(token), "%.*s", len < sizeof(token) ? (int)len : 0, at); /* too long is empty */
		if (parse_whole(token, INT32_MAX, &pid) || !pid) {
			message_error("--pid '%.100s': '%.*s' is not a process id, a whole number from 1 to %d", arg,
				      (int)(len < 100 ? len : 100), at, INT32_MAX);
			return EINVAL;
		}
		err = add_pid(&o->target, (int32_t)pid);
		if (err)
			return err;
		if (!at[len])
			break;
		at += len + 1;
	}
	o->target.kind = SW_TARGET_PIDS;
	return 0;
}

int option_cgroup(struct options *o, const char *arg)
{
	if (!arg[0]) {
		message_error("--cgroup '' is no path; write it like /sys/fs/cgroup/system.slice");
		return EINVAL;
	}
	if (o->target.cgroup) {
		message_error("--cgroup '%s': a cgroup was given before; give one", arg);
		return EINVAL;
	}
	o->target.cgroup = arg;
	o->target.kind = SW_TARGET_CGROUP;
	return 0;
}

int option_interval(struct options *o, const char *arg)
{
	uint64_t ms;

	if (parse_whole(arg, INTERVAL_MAX_MS, &ms) || ms < 1) {
		message_error("--interval-ms '%s' is not a whole number of milliseconds from 10 to 3600000", arg);
		return EINVAL;
	}
	o->interval_ms = (uint32_t)ms;
	return 0;
}

int option_duration(struct options *o, const char *arg)
{
	uint64_t ns;

	if (sw_parse_decimal(arg, 9, UINT64_C(1000000000) * DURATION_MAX_S, &ns) || !ns) {
		message_error("--duration '%s' is not a number of seconds above 0 and up to %d; write it like 2.5", arg,
			      DURATION_MAX_S);
		return EINVAL;
	}
	o->duration_ns = ns;
	return 0;
}

int option_slots(struct options *o, const char *arg)
{
	uint64_t n;

	if (parse_whole(arg, SLOTS_MAX, &n) || n < SLOTS_MIN) {
		message_error("--slots '%s' is not a whole number from %d to %d", arg, SLOTS_MIN, SLOTS_MAX);
		return EINVAL;
	}
	o->slots = (uint32_t)n;
	return 0;
}

int option_format(struct options *o, const char *arg)
{
	static const struct sink *const sinks[] = { &sink_jsonl, &sink_csv, &sink_text };

	for (size_t i = 0; i < sizeof(sinks) / sizeof(sinks[0]); i++) {
		if (!strcmp(arg, sinks[i]->name)) {
			o->sink = sinks[i];
			return 0;
		}
	}
	message_error("--format '%s' is not known; use jsonl, text or, for run and monitor, csv", arg);
	return EINVAL;
}

/* Position of `arg` in a list that ends with NULL, or -1 with a message. */
static int choose(const char *option, const char *arg, const char *const *names, const char *list)
{
	for (int i = 0; names[i]; i++) {
		if (!strcmp(arg, names[i]))
			return i;
	}
	message_error("--%s '%s' is not known; use %s", option, arg, list);
	return -1;
}

int option_name(const char **ret, const char *option, const char *arg, const char *const *names,
			  const char *list)
{
	int i = choose(option, arg, names, list);

	if (i < 0)
		return EINVAL;
	*ret = names[i];
	return 0;
}

int option_scope(struct options *o, const char *arg)
{
	static const char *const names[] = { "tree", "process", NULL };
	int scope = choose("scope", arg, names, "tree or process");

	if (scope < 0)
		return EINVAL;
	o->target.scope = (uint32_t)scope; /* in the order of enum sw_scope */
	o->scope_given = true;
	return 0;
}

int option_by(struct options *o, const char *arg)
{
	static const char *const names[] = { "process", "thread", "cgroup", "comm", NULL };
	int by = choose("by", arg, names, "process, thread, cgroup or comm");

	if (by < 0)
		return EINVAL;
	o->by = UINT32_C(1) << by; /* in the order of enum sw_by's bits */
	return 0;
}

int option_policy(struct options *o, const char *arg)
{
	int policy = sw_policy_parse(arg);

	if (policy < 0) {
		message_error("--policy '%s' is not known; use busy, capacity or marginal", arg);
		return EINVAL;
	}
	o->policy = (uint32_t)policy;
	return 0;
}

int option_hook(struct options *o, const char *arg)
{
	static const char *const names[] = { "auto", "tp_btf", "raw_tp", "tracepoint", NULL };
	int hook = choose("hook", arg, names, "tp_btf, raw_tp or tracepoint");

	if (hook < 0)
		return EINVAL;
	o->hook = (uint32_t)hook; /* in the order of enum sw_hook */
	return 0;
}

static int parse_watts(const char *option, const char *arg, const char *text, size_t len, uint64_t *ret_uw)
{
	char token[32];

	if (len < sizeof(token)) {
		memcpy(token, text, len);
		token[len] = '\0';
		if (!sw_parse_decimal(token, 6, UINT64_C(1000000) * BASELINE_WATTS_MAX, ret_uw))
			return 0;
	}
	message_error("--%s '%s': '%.*s' is not a number of watts from 0 to %d; write it like 3.5", option, arg,
		      (int)(len < 100 ? len : 100), text, BASELINE_WATTS_MAX);
	return EINVAL;
}

int option_baseline(struct options *o, const char *arg)
{
	const char *at = arg;
	size_t n = 0;

	baseline_free(&o->baseline);
	/* Nothing but what numbers are made of is numbers, right or wrong; a file of such a name is ./12. */
	if (arg[strspn(arg, "0123456789.,")] || !arg[0])
		return baseline_read(&o->baseline, arg) ? EINVAL : 0;
	for (;;) {
		size_t len = strcspn(at, ",");

		if (n == SW_DOMAINS_MAX) {
			message_error("--baseline '%s' has more than %d values, one a package", arg, SW_DOMAINS_MAX);
			return EINVAL;
		}
		if (parse_watts("baseline", arg, at, len, &o->baseline.uw[n]))
			return EINVAL;
		n++;
		if (!at[len])
			break;
		at += len + 1;
	}
	o->baseline.n = n;
	return 0;
}

int option_max_busy(struct options *o, const char *arg)
{
	uint64_t milli;

	if (sw_parse_decimal(arg, 3, CALIBRATION_ALL, &milli) || !milli) {
		message_error("--max-busy '%s' is not a per cent above 0 and up to 100; write it like 2.5", arg);
		return EINVAL;
	}
	o->max_busy = (uint32_t)milli;
	return 0;
}

int option_tree(struct options *o, const char *arg)
{
	uint64_t milli = TREE_FOLD_DEFAULT;

	if (arg && sw_parse_decimal(arg, 3, CALIBRATION_ALL, &milli)) {
		message_error("--tree '%s' is not a per cent from 0 to 100; write it like --tree=0.5", arg);
		return EINVAL;
	}
	o->style.tree = true;
	o->style.tree_fold = (uint32_t)milli;
	return 0;
}

int option_model(struct options *o, const char *arg)
{
	size_t len = strcspn(arg, ":");

	if (!arg[len]) {
		message_error("--model '%s' is not IDLE:MAX, watts of a logical CPU; write it like 0.74:3.5", arg);
		return EINVAL;
	}
	if (parse_watts("model", arg, arg, len, &o->model_idle_uw) ||
	    parse_watts("model", arg, arg + len + 1, strlen(arg + len + 1), &o->model_max_uw))
		return EINVAL;
	if (!o->model_max_uw || o->model_idle_uw > o->model_max_uw) {
		message_error("--model '%s': MAX must be above 0 and not below IDLE", arg);
		return EINVAL;
	}
	return 0;
}

int option_runs(uint32_t *ret, const char *option, const char *arg, uint32_t min)
{
	uint64_t n;

	if (parse_whole(arg, RUNS_MAX, &n) || n < min) {
		message_error("--%s '%s' is not a whole number of runs from %u to %d", option, arg, min, RUNS_MAX);
		return EINVAL;
	}
	*ret = (uint32_t)n;
	return 0;
}

int option_budget(struct options *o, const char *arg)
{
	if (!budget_parse(&o->budget, arg))
		return 0;
	message_error("--budget '%s' is not a number above 0 with its unit, J (mJ, kJ, MJ) or cpu-s (cpu-ms); write it like "
		      "500J or 30cpu-s",
		      arg);
	return EINVAL;
}

int option_label(struct options *o, const char *arg)
{
	static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	size_t len = strcspn(arg, "="), all = strlen(arg);
	struct label *labels;
	char *copy;

	/* The key is a JSON field now and a CSV column or a metric's label later: letters, digits, '_', '-', '.'. */
	if (!len || !arg[len] || strspn(arg, first) == 0 ||
	    strspn(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.-") < len) {
		message_error("--label '%s' is not KEY=VALUE with a key of letters, digits, '_', '-' and '.'", arg);
		return EINVAL;
	}
	for (size_t i = 0; i < o->n_labels; i++) {
		if (strlen(o->labels[i].key) == len && !memcmp(o->labels[i].key, arg, len)) {
			message_error("--label '%s': this key was given before; give each key once", arg);
			return EINVAL;
		}
	}
	labels = realloc(o->labels, (o->n_labels + 1) * sizeof(*labels));
	if (labels)
		o->labels = labels;
	copy = labels ? malloc(all + 1) : NULL;
	if (!copy) {
		message_error("--label '%s': out of memory", arg);
		return ENOMEM;
	}
	memcpy(copy, arg, all + 1);
	copy[len] = '\0';
	labels[o->n_labels++] = (struct label){ .key = copy, .value = copy + len + 1 };
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: lists of columns, and which options about rows go together. Must not know: what is in a row, or how it is
 * written. Relies on: sw_columns() for what there is; schedwatt.h names the standard sets.
 */
#include "option_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "message.h"

/* Of those that this kind of row has; the first of those that are equally near. */
static const char *nearest(uint32_t kind, const char *name, size_t len)
{
	size_t best = SIZE_MAX, n, distance;
	const struct sw_column *all = sw_columns(&n);
	const char *found = NULL;

	for (size_t i = 0; i < n; i++) {
		distance = sw_edit_distance(name, len, all[i].name);
		if (all[i].kinds & kind && distance < best) {
			best = distance;
			found = all[i].name;
		}
	}
	return found;
}

static const struct sw_column *find(const char *name, size_t len)
{
	size_t n;
	const struct sw_column *all = sw_columns(&n);

	for (size_t i = 0; i < n; i++) {
		if (strlen(all[i].name) == len && !memcmp(all[i].name, name, len))
			return &all[i];
	}
	return NULL;
}

static bool has(const struct column_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++) {
		if (!strcmp(list->names[i], name))
			return true;
	}
	return false;
}

static int append(struct column_list *list, const struct sw_column *column)
{
	const struct sw_column **columns = realloc(list->columns, (list->n + 1) * sizeof(*columns));
	const char **names = realloc(list->names, (list->n + 1) * sizeof(*names));

	if (columns)
		list->columns = columns;
	if (names)
		list->names = names;
	if (!columns || !names) {
		message_error("out of memory for columns");
		return ENOMEM;
	}
	columns[list->n] = column;
	names[list->n++] = column->name;
	return 0;
}

static int add(struct column_list *list, const char *option, uint32_t kind, const char *name, size_t len)
{
	const struct sw_column *column = find(name, len);
	int shown = len < SW_NEAREST_MAX ? (int)len : SW_NEAREST_MAX;

	if (!len)
		message_error("--%s: the name of a column is empty; write NAME[,NAME...], and `schedwatt columns` lists "
			      "all", option);
	else if (!column)
		message_error("--%s: column '%.*s' is not known; the nearest is '%s', and `schedwatt columns` lists all",
			      option, shown, name, nearest(kind, name, len));
	else if (!(column->kinds & kind))
		message_error("--%s: column '%s' is there for %s only; `schedwatt columns` says which rows have it",
			      option, column->name, kind == SW_COLUMN_OF_THREAD ? "processes" : "threads");
	else if (has(list, column->name))
		message_error("--%s: column '%s' is asked for twice; name it once", option, column->name);
	else
		return append(list, column);
	return EINVAL;
}

static int add_all(struct column_list *list, const char *option, uint32_t kind, const char *arg)
{
	for (;;) {
		size_t len = strcspn(arg, ",");
		int err = add(list, option, kind, arg, len);

		if (err || !arg[len])
			return err;
		arg += len + 1;
	}
}

int option_columns(struct options *o, const char *arg)
{
	return add_all(&o->columns, "columns", SW_COLUMN_OF_PROCESS, arg);
}

int option_thread_columns(struct options *o, const char *arg)
{
	o->threads = true;
	return add_all(&o->thread_columns, "thread-columns", SW_COLUMN_OF_THREAD, arg);
}

/* The first option given that means nothing without records, or NULL. */
static const char *about_records(const struct options *o)
{
	return o->columns.n ? "columns" : o->thread_columns.n ? "thread-columns" : o->flat ? "flat" :
	       o->thread_output ? "thread-output" : o->csv_units ? "csv-units" : NULL;
}

/* By name, which is what mistakes are made with. Devices take whatever comes. */
static bool is_same_file(const char *a, const char *b)
{
	return !strcmp(a, b) && strncmp(a, "/dev/", 5);
}

/* Where threads' rows of csv go. */
static int check_files(const struct options *o, bool csv)
{
	if (o->thread_output && !csv)
		message_error("--thread-output '%s' is for csv, and other formats have threads beside processes; add -f csv, "
			      "or write --threads instead", o->thread_output);
	else if (csv && o->threads && !o->thread_output)
		message_error("rows of threads have columns of their own, for which csv needs a second file; add "
			      "--thread-output FILE");
	else if (o->thread_output && is_same_file(o->thread_output, o->output ? o->output : "-"))
		message_error("--thread-output '%s' is where the rows of processes go; name another file, or give these "
			      "one with --output", o->thread_output);
	else
		return 0;
	return -EINVAL;
}

/* In a table a label is a column like others. */
static int check_labels(const struct options *o)
{
	for (size_t i = 0; i < o->n_labels; i++) {
		if (!has(&o->columns, o->labels[i].key) && !has(&o->thread_columns, o->labels[i].key))
			continue;
		message_error("--label '%s=%s': a column of the table has this name; choose another", o->labels[i].key,
			      o->labels[i].value);
		return -EINVAL;
	}
	return 0;
}

static int check_together(const struct options *o, const struct sink *sink)
{
	bool csv = sink == &sink_csv, rows = csv || o->columns.n || o->thread_columns.n;
	const char *useless = sink ? NULL : about_records(o);

	if (useless)
		message_error("--%s is about records, and run writes them only with --format or --output; add one",
			      useless);
	else if (o->csv_units && !csv)
		message_error("--csv-units is for csv; add -f csv, or see `schedwatt columns`");
	else if (o->flat && sink != &sink_jsonl)
		message_error("--flat is for jsonl, where rows are in lists; add -f jsonl");
	else if (rows && o->by && o->by != SW_BY_PROCESS)
		message_error("rows with columns are those of processes and, with --threads, of threads; leave --by out%s",
			      csv ? ", or use -f jsonl" : "");
	else
		return check_files(o, csv);
	return -EINVAL;
}

static int choose_standard(struct options *o)
{
	int err = 0;

	if (!o->columns.n)
		err = option_columns(o, "time,pid,ppid,comm,state,oncpu_ns,joules,watts");
	if (!err && o->threads && !o->thread_columns.n)
		err = option_thread_columns(o, "time,pid,tid,comm,state,oncpu_ns,joules");
	return -err;
}

int option_rows_settle(struct options *o, enum command command)
{
	const struct sink *sink = o->sink ? o->sink : command == COMMAND_MONITOR ? &sink_text :
				  o->output ? &sink_jsonl : NULL;
	int err;

	if (command != COMMAND_RUN && command != COMMAND_MONITOR) {
		if (sink != &sink_csv)
			return 0;
		message_error("--format 'csv' is for rows of processes and threads, which run and monitor have; use jsonl "
			      "or text");
		return -EINVAL;
	}
	err = check_together(o, sink);
	if (err)
		return err;
	o->threads |= o->thread_output != NULL;
	if (sink != &sink_csv && !o->columns.n && !o->thread_columns.n)
		return 0;
	err = choose_standard(o);
	return err || sink != &sink_csv ? err : check_labels(o);
}

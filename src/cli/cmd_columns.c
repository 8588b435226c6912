/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: `schedwatt columns`, the list of counters as text and as records. Must not know: how any is read.
 * Relies on: sw_columns() for all of them.
 */
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "commands.h"
#include "json.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "schedwatt.h"

static const char *type_name(uint32_t type)
{
	static const char *const names[] = {
		[SW_TYPE_I64] = "i64",
		[SW_TYPE_U64] = "u64",
		[SW_TYPE_F64] = "f64",
		[SW_TYPE_TEXT] = "text",
	};

	return names[type];
}

static const char *has(const struct sw_column *c, uint32_t kind)
{
	return c->kinds & kind ? "yes" : "-";
}

static void add_text(const struct sw_column *c, size_t n, struct buf *out)
{
	buf_printf(out, "%-22s %-5s %-8s %-8s %-7s %s\n", "NAME", "TYPE", "UNIT", "PROCESS", "THREAD", "SOURCE");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%-22s %-5s %-8s %-8s %-7s %s\n", c[i].name, type_name(c[i].type), c[i].unit,
			   has(&c[i], SW_COLUMN_OF_PROCESS), has(&c[i], SW_COLUMN_OF_THREAD), c[i].source);
}

/* `type` is what every record calls its own kind. */
static void add_jsonl(const struct sw_column *c, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		struct json_object *record;
		int err = 0;

		record = record_new(&err, "column");
		record_text(&err, record, "name", c[i].name);
		record_text(&err, record, "value_type", type_name(c[i].type));
		record_text(&err, record, "unit", c[i].unit);
		record_bool(&err, record, "process", c[i].kinds & SW_COLUMN_OF_PROCESS);
		record_bool(&err, record, "thread", c[i].kinds & SW_COLUMN_OF_THREAD);
		record_text(&err, record, "source", c[i].source);
		record_finish(err, record, out);
	}
}

int cmd_columns(int argc, char **argv)
{
	const struct sw_column *columns;
	struct buf text = { 0 };
	struct output out;
	struct options o;
	int status;
	size_t n;

	if (options_parse(&o, COMMAND_COLUMNS, argc, argv, &status))
		goto done;
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write here */
	columns = sw_columns(&n);
	if (o.sink == &sink_jsonl)
		add_jsonl(columns, n, &text);
	else
		add_text(columns, n, &text);
	output_use(&out, STDOUT_FILENO, "stdout");
	status = output_write(&out, &text, -1) ? EXIT_FAILED : EXIT_DONE;
done:
	buf_free(&text);
	options_free(&o);
	return status;
}

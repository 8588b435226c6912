/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: `schedwatt doctor`, what works here as text and as records, and the verdict. Must not know: how anything is looked
 * at. Relies on: sw_checkup_run() having the checks of an area together.
 */
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "format.h"
#include "json.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "schedwatt.h"

enum {
	COLUMNS = 100, /* no line is wider */
	MARK = 10, /* with the blanks around it */
	NAME_MAX = 32,
};

static const char *state_name(uint32_t state)
{
	static const char *const state_names[] = {
		[SW_CHECK_WORKS] = "works",
		[SW_CHECK_LACKS] = "lacks",
		[SW_CHECK_NOTE] = "note",
		[SW_CHECK_UNKNOWN] = "unknown",
	};

	return state_names[state];
}

static bool all_works(const struct sw_checkup *c)
{
	return c->backend && c->energy_source;
}

/* Names of an area, which begins at `at`, are one column. */
static unsigned name_width(const struct sw_checkup *c, size_t at)
{
	const char *area = c->checks[at].area;
	size_t width = 0;

	for (; at < c->n_checks && !strcmp(c->checks[at].area, area); at++)
		if (strlen(c->checks[at].name) > width)
			width = strlen(c->checks[at].name);
	return width < NAME_MAX ? (unsigned)width : NAME_MAX;
}

/* Words behind the name, wrapped below one another. */
static void add_words(struct buf *out, unsigned indent, const char *before, const char *words, const char *more)
{
	struct buf text = { 0 }, wrapped = { 0 };
	size_t from = 0;

	buf_printf(&text, "%s%s%s%s", before, words ? words : "", words && more ? "; " : "", more ? more : "");
	buf_add(&text, "", 1);
	if (!text.err)
		format_wrapped(&wrapped, text.data, 0, COLUMNS - indent);
	while (!wrapped.err && from < wrapped.len) {
		const char *end = memchr(wrapped.data + from, '\n', wrapped.len - from);
		size_t len = (size_t)(end - wrapped.data) - from + 1;

		if (from)
			buf_printf(out, "%*s", (int)indent, "");
		buf_add(out, wrapped.data + from, len);
		from += len;
	}
	if (text.err || wrapped.err)
		out->err = text.err ? text.err : wrapped.err;
	buf_free(&text);
	buf_free(&wrapped);
}

static bool is_same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* What the check before says too is not said again. */
static void add_check(struct buf *out, const struct sw_check *c, const struct sw_check *before, unsigned width)
{
	const unsigned indent = MARK + width + 2;
	bool same_reason = before && is_same(c->reason, before->reason);
	bool same_remedy = before && is_same(c->remedy, before->remedy);

	buf_text(out, "  ");
	format_left(out, state_name(c->state), MARK - 2);
	format_left(out, c->name, width);
	buf_text(out, "  ");
	add_words(out, indent, "", c->value, same_reason ? "as above" : c->reason);
	if (c->remedy && !(same_reason && same_remedy)) {
		buf_printf(out, "%*s", (int)indent, "");
		add_words(out, indent, "remedy: ", same_remedy ? "as above" : c->remedy, NULL);
	}
}

static void add_verdict(struct buf *out, const struct sw_checkup *c)
{
	struct buf text = { 0 };

	if (all_works(c))
		buf_printf(&text, "CPU time comes from %s, and %s measures energy.", c->backend, c->energy_source);
	else if (c->backend)
		buf_printf(&text, "CPU time comes from %s, but nothing measures energy here: joules would be a model's.",
			   c->backend);
	else if (c->energy_source)
		buf_printf(&text, "%s measures energy, but no back end for CPU time opens here.", c->energy_source);
	else
		buf_text(&text, "No back end for CPU time opens here, and nothing measures energy.");
	buf_add(&text, "", 1);
	if (text.err)
		out->err = text.err;
	else
		format_wrapped(out, text.data, 0, COLUMNS);
	buf_free(&text);
}

static void add_text(struct buf *out, const struct sw_checkup *c)
{
	const struct sw_check *before = NULL;
	unsigned width = 0;

	for (size_t i = 0; i < c->n_checks; i++) {
		const struct sw_check *check = &c->checks[i];

		if (!before || strcmp(before->area, check->area)) {
			buf_printf(out, "%s%s\n", before ? "\n" : "", check->area);
			before = NULL;
			width = name_width(c, i);
		}
		add_check(out, check, before, width);
		before = check;
	}
	buf_text(out, "\n");
	add_verdict(out, c);
}

static void add_jsonl(struct buf *out, const struct sw_checkup *c)
{
	struct json_object *record;
	int err;

	for (size_t i = 0; i < c->n_checks; i++) {
		const struct sw_check *check = &c->checks[i];

		err = 0;
		record = record_new(&err, "check");
		record_text(&err, record, "area", check->area);
		record_text(&err, record, "name", check->name);
		record_text(&err, record, "state", state_name(check->state));
		record_text(&err, record, "value", check->value);
		record_text(&err, record, "reason", check->reason);
		record_text(&err, record, "remedy", check->remedy);
		record_finish(err, record, out);
	}
	err = 0;
	record = record_new(&err, "verdict");
	record_bool(&err, record, "works", all_works(c));
	record_text(&err, record, "backend", c->backend);
	record_text(&err, record, "energy_source", c->energy_source);
	record_finish(err, record, out);
}

static int examine(const struct options *o)
{
	struct sw_options options;
	struct sw_checkup *checkup;
	struct buf text = { 0 };
	struct output out;
	char error[512] = "";
	int status;

	options_to_library(o, &options);
	options.error = error;
	options.error_size = sizeof(error);
	if (sw_checkup_run(&options, &checkup)) {
		message_error("%s", error);
		return EXIT_FAILED;
	}
	if (o->sink == &sink_jsonl)
		add_jsonl(&text, checkup);
	else
		add_text(&text, checkup);
	status = all_works(checkup) ? EXIT_DONE : EXIT_FAILED;
	sw_checkup_free(checkup);
	output_use(&out, STDOUT_FILENO, "stdout");
	if (output_write(&out, &text, -1))
		status = EXIT_FAILED;
	buf_free(&text);
	return status;
}

int cmd_doctor(int argc, char **argv)
{
	struct options o;
	int status;

	if (!options_parse(&o, COMMAND_DOCTOR, argc, argv, &status)) {
		signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write here */
		status = examine(&o);
	}
	options_free(&o);
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: rows with columns as people read them: a line each, their names above them. Must not know: where a value came
 * from. Relies on: cell.h for exact values; here they are rounded to what a glance takes in. Lines are wider than
 * TEXT_COLUMNS only where so many columns were asked for.
 */
#include "text.h"

#include <stdio.h>
#include <string.h>

#include "cell.h"

enum {
	NAMES_EVERY = 20, /* windows */
	KIND_COLUMNS = 8,
	COMM_COLUMNS = 16,
	STATE_COLUMNS = 6,
	RSSLIM_COLUMNS = 21, /* no limit, as it is for most, is 2^64-1 */
};

/* Room for usual values; greater ones shift their line. */
static const struct {
	const char *unit;
	unsigned columns, places; /* of fraction */
} forms[] = {
	{ "us", 17, 0 },  { "ns", 13, 0 }, { "ticks", 9, 0 },   { "bytes", 13, 0 },  { "pages", 9, 0 },
	{ "J", 12, 6 },   { "W", 10, 3 },  { "%", 9, 1 },       { "ratio", 10, 6 },  { "address", 16, 0 },
	{ "number", 8, 0 },
};

enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

static size_t form_of(const struct sw_column *column)
{
	size_t i = 0;

	while (i < FORMS - 1 && strcmp(forms[i].unit, column->unit))
		i++;
	return i;
}

static unsigned width_of(const struct sw_column *column)
{
	unsigned name = (unsigned)strlen(column->name) + 1, usual;

	if (column->type == SW_TYPE_TEXT)
		usual = strcmp(column->name, "comm") ? STATE_COLUMNS : COMM_COLUMNS;
	else
		usual = strcmp(column->name, "rsslim") ? forms[form_of(column)].columns : RSSLIM_COLUMNS;
	return name > usual ? name : usual;
}

/* Text to the left, with no blanks at the end of a line. */
static void add_left(struct buf *out, const char *text, const struct sw_column *column, bool last)
{
	unsigned columns = width_of(column) - 1;

	buf_text(out, " ");
	if (last)
		format_plain(out, text, columns);
	else
		format_left(out, text, columns);
}

static void add_names(struct buf *out, const char *kind, const struct column_list *list)
{
	format_left(out, kind, kind[0] ? KIND_COLUMNS : 0);
	for (size_t i = 0; i < list->n; i++) {
		const struct sw_column *column = list->columns[i];

		if (column->type == SW_TYPE_TEXT)
			add_left(out, column->name, column, i == list->n - 1);
		else
			format_right(out, column->name, width_of(column));
	}
	buf_text(out, "\n");
}

static void add_number(struct buf *out, const struct sw_header *h, const struct sw_column *column,
		       const struct sw_data_column *values, size_t row)
{
	char number[FORMAT_MAX] = "-", text[FORMAT_MAX + 1];
	bool energy = !strcmp(column->unit, "J") || !strcmp(column->unit, "W"), known;

	if (column->type == SW_TYPE_F64)
		known = values->present[row] && format_real_fixed(number, ((const double *)values->values)[row],
								  forms[form_of(column)].places);
	else
		known = cell_number(number, values, row);
	snprintf(text, sizeof(text), "%s%s", known && energy && text_is_modelled(h) ? "~" : "", number);
	format_right(out, text, width_of(column));
}

static void add_row(struct buf *out, const struct sw_header *h, const char *kind, const struct column_list *list,
		    const struct sw_data_table *rows, size_t row)
{
	format_left(out, kind, kind[0] ? KIND_COLUMNS : 0);
	for (size_t i = 0; i < list->n; i++) {
		const struct sw_column *column = list->columns[i];
		const char *text = cell_text(&rows->columns[i], row);

		if (column->type == SW_TYPE_TEXT)
			add_left(out, text ? text : "-", column, i == list->n - 1);
		else
			add_number(out, h, column, &rows->columns[i], row);
	}
	buf_text(out, "\n");
}

void text_rows(struct buf *out, const struct recording *rec, const struct sw_report *r, const struct sw_data *rows)
{
	bool both = rec->thread_columns.n > 0;
	const char *process = both ? "process" : "", *thread = "thread";

	if (r->seq % NAMES_EVERY == 0) {
		add_names(out, process, &rec->columns);
		if (both)
			add_names(out, thread, &rec->thread_columns);
	}
	for (size_t i = 0; i < rows->processes.n_rows; i++)
		add_row(out, rec->header, process, &rec->columns, &rows->processes, i);
	for (size_t i = 0; both && i < rows->threads.n_rows; i++)
		add_row(out, rec->header, thread, &rec->thread_columns, &rows->threads, i);
}

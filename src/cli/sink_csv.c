/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: rows with columns as a table: which field stands where, and how it is quoted. Must not know: where a value came
 * from. Relies on: RFC 4180, lines ending in CR LF among it. Every line has the chosen columns in their order, then the
 * labels; what is absent is empty. Nothing defuses a leading '=': a name is what it is.
 */
#include "sink.h"

#include <string.h>

#include "cell.h"

/* What has to be quoted stays the same in UTF-8 that is made valid. */
static void add_text(struct buf *out, const char *text)
{
	if (text[0] && !strpbrk(text, ",\"\r\n")) {
		format_utf8(out, text, strlen(text));
		return;
	}
	buf_text(out, "\"");
	for (;;) {
		size_t len = strcspn(text, "\"");

		format_utf8(out, text, len);
		if (!text[len])
			break;
		buf_text(out, "\"\"");
		text += len + 1;
	}
	buf_text(out, "\"");
}

/* A line with nothing in it would be no row to those who read it. */
static void end_line(struct buf *out, size_t start)
{
	if (out->len == start)
		buf_text(out, "\"\"");
	buf_text(out, "\r\n");
}

static void add_header(const struct recording *rec, const struct column_list *columns, struct buf *out)
{
	size_t start = out->len;

	for (size_t i = 0; i < columns->n; i++)
		buf_printf(out, "%s%s", i ? "," : "", columns->names[i]);
	for (size_t i = 0; i < rec->n_labels; i++)
		buf_printf(out, ",%s", rec->labels[i].key);
	end_line(out, start);
	if (!rec->csv_units)
		return;
	start = out->len;
	for (size_t i = 0; i < columns->n; i++)
		buf_printf(out, "%s%s", i ? "," : "", columns->columns[i]->unit);
	for (size_t i = 0; i < rec->n_labels; i++)
		buf_text(out, ",none");
	end_line(out, start);
}

static void add_rows(const struct recording *rec, const struct sw_data_table *rows, size_t n_columns, struct buf *out)
{
	char number[FORMAT_MAX];

	for (size_t row = 0; row < rows->n_rows; row++) {
		size_t start = out->len;

		for (size_t i = 0; i < n_columns; i++) {
			const char *text = cell_text(&rows->columns[i], row);

			if (i)
				buf_text(out, ",");
			if (text)
				add_text(out, text);
			else if (cell_number(number, &rows->columns[i], row))
				buf_text(out, number);
		}
		for (size_t i = 0; i < rec->n_labels; i++) {
			buf_text(out, ",");
			add_text(out, rec->labels[i].value);
		}
		end_line(out, start);
	}
}

static void csv_header(const struct recording *rec, struct buf *out)
{
	add_header(rec, &rec->columns, out);
}

static void csv_threads_header(const struct recording *rec, struct buf *out)
{
	add_header(rec, &rec->thread_columns, out);
}

static void csv_sample(const struct recording *rec, const struct sw_report *r, const struct sw_data *rows,
		       struct buf *out)
{
	(void)r;
	add_rows(rec, &rows->processes, rec->columns.n, out);
}

static void csv_threads_sample(const struct recording *rec, const struct sw_report *r, const struct sw_data *rows,
			       struct buf *out)
{
	(void)r;
	add_rows(rec, &rows->threads, rec->thread_columns.n, out);
}

/* There is no place for totals in a table. */
static void csv_no_summary(const struct recording *rec, const struct sw_summary *s, struct buf *out)
{
	(void)rec;
	(void)s;
	(void)out;
}

const struct sink sink_csv = { "csv", csv_header, csv_sample, csv_no_summary, NULL, &sink_csv_threads, NULL, NULL };
const struct sink sink_csv_threads = { "csv", csv_threads_header, csv_threads_sample, csv_no_summary, NULL, NULL, NULL, NULL };

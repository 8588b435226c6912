/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the spelling of metric families, labels and numbers. Must not know: which metrics there are. Relies on:
 * Prometheus's "Exposition formats" (text 0.0.4) and the OpenMetrics 1.0 specification, whose escapes are the same but
 * for quotes in help.
 */
#include "metrics.h"

#include <stdbool.h>
#include <string.h>

#include "format.h"

const char *metrics_content_type(enum metrics_format format)
{
	return format == METRICS_OPENMETRICS ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
					     : "text/plain; version=0.0.4; charset=utf-8";
}

static void add_escaped(struct buf *out, const char *text, size_t len, const char *special)
{
	size_t done = 0;

	for (size_t i = 0; i < len; i++) {
		if (!text[i] || !strchr(special, text[i]))
			continue;
		buf_add(out, text + done, i - done);
		buf_text(out, text[i] == '\n' ? "\\n" : text[i] == '"' ? "\\\"" : "\\\\");
		done = i + 1;
	}
	buf_add(out, text + done, len - done);
}

static const char *suffix_of(enum metrics_type type)
{
	static const char *const suffixes[] = { "", "_total", "_info" };

	return suffixes[type];
}

/* In the text format a family is named as its samples are, and has no unit but in its name. */
void metrics_family(struct metrics *m, const char *name, enum metrics_type type, const char *unit, const char *help)
{
	static const char *const names[] = { "gauge", "counter", "info" };
	bool open = m->format == METRICS_OPENMETRICS;
	const char *suffix = open ? "" : suffix_of(type);

	m->name = name;
	m->type = type;
	buf_printf(m->out, "# HELP %s%s ", name, suffix);
	add_escaped(m->out, help, strlen(help), open ? "\\\n\"" : "\\\n");
	buf_printf(m->out, "\n# TYPE %s%s %s\n", name, suffix, open || type != METRICS_INFO ? names[type] : "gauge");
	if (open && unit)
		buf_printf(m->out, "# UNIT %s %s\n", name, unit);
}

/* The length of valid UTF-8 that fits: what is cut off begins a code point. */
static size_t cut(const char *text, size_t len)
{
	if (len <= METRICS_LABEL_MAX)
		return len;
	len = METRICS_LABEL_MAX;
	while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return len;
}

/* Nothing to cut, to mend or to escape: nearly all values are. */
static bool is_plain(const char *value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (value[i] < ' ' || value[i] > '~' || value[i] == '"' || value[i] == '\\')
			return false;
	return len <= METRICS_LABEL_MAX;
}

void metrics_label(struct buf *labels, const char *name, const char *value)
{
	struct buf valid = { 0 };
	size_t len = value ? strlen(value) : 0;

	if (!len)
		return;
	if (labels->len)
		buf_text(labels, ",");
	buf_text(labels, name);
	buf_text(labels, "=\"");
	if (is_plain(value, len)) {
		buf_add(labels, value, len);
		buf_text(labels, "\"");
		return;
	}
	/* A byte that is no part of a code point becomes three: more of `value` than this is cut off in any case. */
	format_utf8(&valid, value, len <= METRICS_LABEL_MAX ? len : METRICS_LABEL_MAX + 4);
	if (valid.err)
		labels->err = labels->err ? labels->err : valid.err;
	else
		add_escaped(labels, valid.data, cut(valid.data, valid.len), "\\\"\n");
	buf_text(labels, "\"");
	buf_free(&valid);
}

/* Both write backwards from `end`, and give where they begin. */
static char *print_whole(char *end, metrics_total value)
{
	uint64_t rest;

	for (; value > UINT64_MAX; value /= 10)
		*--end = (char)('0' + (unsigned)(value % 10));
	rest = (uint64_t)value; /* dividing 64 bits is much quicker */
	do {
		*--end = (char)('0' + rest % 10);
	} while (rest /= 10);
	return end;
}

static char *print_number(char *end, metrics_total value, unsigned digits)
{
	uint64_t unit = 1, fraction;
	bool any = false;

	for (unsigned i = 0; i < digits; i++)
		unit *= 10;
	fraction = (uint64_t)(value % unit);
	for (unsigned i = 0; i < digits; i++, fraction /= 10) {
		any |= fraction % 10 > 0; /* no zeros at its end */
		if (any)
			*--end = (char)('0' + fraction % 10);
	}
	if (any)
		*--end = '.';
	return print_whole(end, value / unit);
}

static void add_sample(struct metrics *m, const struct buf *labels, const struct buf *more, metrics_total value,
		       unsigned digits)
{
	size_t len = labels ? labels->len : 0;
	char text[FORMAT_MAX], *end = text + sizeof(text), *number = print_number(end, value, digits);

	buf_text(m->out, m->name);
	buf_text(m->out, suffix_of(m->type));
	if (len || more->len) {
		buf_text(m->out, "{");
		if (len)
			buf_add(m->out, labels->data, len);
		if (len && more->len)
			buf_text(m->out, ",");
		if (more->len)
			buf_add(m->out, more->data, more->len);
		buf_text(m->out, "}");
	}
	buf_text(m->out, " ");
	buf_add(m->out, number, (size_t)(end - number));
	buf_text(m->out, "\n");
}

void metrics_sample(struct metrics *m, const struct buf *labels, metrics_total value, unsigned digits)
{
	static const struct buf none;

	add_sample(m, labels, &none, value, digits);
}

void metrics_sample_with(struct metrics *m, const struct buf *labels, const char *name, const char *value,
			 metrics_total number, unsigned digits)
{
	struct buf more = { 0 };

	metrics_label(&more, name, value);
	if (more.err && !m->out->err)
		m->out->err = more.err;
	add_sample(m, labels, &more, number, digits);
	buf_free(&more);
}

void metrics_end(struct metrics *m)
{
	if (m->format == METRICS_OPENMETRICS)
		buf_text(m->out, "# EOF\n");
}

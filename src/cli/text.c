/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how people read numbers, ids and names, and what is said of where numbers come from. Must not know: where in the
 * text they stand. Relies on: nJ / ns being watts. What a model made, and no counter, stands behind a `~`.
 */
#include "text.h"

#include <stdio.h>
#include <string.h>

bool text_is_modelled(const struct sw_header *h)
{
	return h->energy_quality && !strcmp(h->energy_quality, "modelled");
}

void text_joules(char text[FORMAT_MAX], const struct sw_header *h, int64_t nj, unsigned places)
{
	char number[FORMAT_MAX];

	if (nj == SW_ABSENT || nj < 0) {
		strcpy(text, "-");
		return;
	}
	format_fixed(number, (uint64_t)nj, 9, places);
	snprintf(text, FORMAT_MAX, "%s%.*s", text_is_modelled(h) ? "~" : "", FORMAT_MAX - 2, number);
}

int64_t text_nw(int64_t nj, uint64_t ns)
{
	uint64_t nw = nj == SW_ABSENT || nj < 0 ? FORMAT_NONE : format_scale((uint64_t)nj, 1000000000, ns);

	return nw > INT64_MAX ? SW_ABSENT : (int64_t)nw;
}

void text_percent(char text[FORMAT_MAX], uint64_t part, uint64_t whole)
{
	uint64_t permille = format_scale(part, 1000, whole);

	if (permille == FORMAT_NONE)
		strcpy(text, "-");
	else
		format_fixed(text, permille, 1, 1);
}

void text_uncertainty(char text[FORMAT_MAX], int64_t nj, unsigned places)
{
	char number[FORMAT_MAX];

	text[0] = '\0';
	if (nj == SW_ABSENT || nj < 0)
		return;
	format_fixed(number, (uint64_t)nj, 9, places);
	snprintf(text, FORMAT_MAX, PLUS_MINUS "%.*s", FORMAT_MAX - 4, number);
}

void text_wrapped(struct buf *out, const struct buf *text)
{
	struct buf words = { 0 };

	buf_add(&words, text->data, text->len);
	buf_add(&words, "", 1);
	if (text->err || words.err) {
		out->err = text->err ? text->err : words.err;
	} else {
		buf_text(out, " ");
		format_wrapped(out, words.data, 3, TEXT_COLUMNS - 1);
	}
	buf_free(&words);
}

void text_left_out(struct buf *out, const struct sw_header *h)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < h->n_zones; i++) {
		if (!h->zones[i].problem)
			continue;
		buf_clear(&text);
		buf_printf(&text, "zone %s is left out: %s", h->zones[i].name, h->zones[i].problem);
		text_wrapped(out, &text);
	}
	buf_free(&text);
}

void text_sources(struct buf *out, const struct sw_header *h)
{
	struct buf text = { 0 };

	buf_printf(&text, "back end %s (%s%s%s)", h->backend, h->backend_quality, h->hook ? ", attached by " : "",
		   h->hook ? h->hook : "");
	if (h->own_cgroup)
		buf_printf(&text, ", in a cgroup of its own");
	buf_printf(&text, "; energy source %s", h->energy_source);
	if (h->energy_quality)
		buf_printf(&text, " (%s)", h->energy_quality);
	buf_printf(&text, "; policy %s", h->policy);
	text_wrapped(out, &text);
	if (h->backend_note) {
		buf_clear(&text);
		buf_printf(&text, "%s: %s", h->backend, h->backend_note);
		text_wrapped(out, &text);
	}
	for (size_t i = 0; i < h->n_backend_refusals; i++) {
		buf_clear(&text);
		buf_printf(&text, "no %s: %s", h->backend_refusals[i].name, h->backend_refusals[i].reason);
		text_wrapped(out, &text);
	}
	text_left_out(out, h);
	if (text_is_modelled(h)) {
		buf_clear(&text);
		buf_text(&text, "~ is a model's number, not a measured one");
		for (size_t i = 0; i < h->n_energy_refusals; i++)
			buf_printf(&text, "; no %s: %s", h->energy_refusals[i].name, h->energy_refusals[i].reason);
		text_wrapped(out, &text);
	}
	buf_free(&text);
}

void text_id(char text[FORMAT_MAX], int32_t id, int32_t host_id)
{
	if (id)
		snprintf(text, FORMAT_MAX, "%d", id);
	else if (host_id)
		snprintf(text, FORMAT_MAX, "host:%d", host_id);
	else
		strcpy(text, "-");
}

unsigned text_comm(struct buf *out, const char *comm, bool kernel_thread)
{
	unsigned columns;

	if (!kernel_thread)
		return format_plain(out, comm, TEXT_COMM);
	buf_text(out, "[");
	columns = format_plain(out, comm, TEXT_COMM);
	buf_text(out, "]");
	return columns + 2;
}

uint32_t text_by(const struct recording *rec)
{
	if (rec->by || rec->header->by & (SW_BY_PROCESS | SW_BY_THREAD | SW_BY_COMM))
		return rec->by;
	return rec->header->by & SW_BY_CGROUP;
}

size_t text_next_cgroup(const struct sw_cgroup *rows, size_t n, uint64_t (*time)(const struct sw_cgroup *), size_t last)
{
	size_t best = n;

	for (size_t i = 0; i < n; i++) {
		if (last < n && (time(&rows[i]) > time(&rows[last]) ||
				 (time(&rows[i]) == time(&rows[last]) && i <= last)))
			continue; /* came before */
		if (best == n || time(&rows[i]) > time(&rows[best]))
			best = i;
	}
	return best;
}

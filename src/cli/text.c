/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how people read numbers, ids and names, and what is said of where numbers come from. Must not know: where in the
 * text they stand. Relies on: nJ / ns being watts. What a model made, and no counter, stands behind a `~`.
 */
#include "text.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

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

int64_t text_model_doubt_nj(const struct sw_header *h, const struct sw_summary *s, int64_t part_nj)
{
	int64_t total_nj = text_chosen(h, s)->total_nj;
	uint64_t doubt;

	if (!text_is_modelled(h) || part_nj < 0 || total_nj <= 0 || s->total_uncertainty_nj < 0)
		return SW_ABSENT;
	doubt = format_scale((uint64_t)part_nj, (uint64_t)s->total_uncertainty_nj, (uint64_t)total_nj);
	return doubt > INT64_MAX ? SW_ABSENT : (int64_t)doubt;
}

void text_model_doubt(char text[FORMAT_MAX], const struct sw_header *h, const struct sw_summary *s)
{
	int64_t total_nj = text_chosen(h, s)->total_nj, doubt_nj = text_model_doubt_nj(h, s, total_nj);
	char percent[FORMAT_MAX];

	text[0] = '\0';
	if (doubt_nj == SW_ABSENT)
		return;
	text_percent(percent, (uint64_t)doubt_nj, (uint64_t)total_nj);
	snprintf(text, FORMAT_MAX, " " PLUS_MINUS "%.*s %%", FORMAT_MAX - 8, percent);
}

const struct sw_energy *text_chosen(const struct sw_header *h, const struct sw_summary *s)
{
	int policy = sw_policy_parse(h->policy);

	return &s->energy[policy < 0 ? SW_POLICY_BUSY : policy];
}

void text_share(char text[FORMAT_MAX], const struct sw_header *h, const struct sw_summary *s, int64_t nj,
		uint64_t oncpu_ns)
{
	int64_t all_nj = text_chosen(h, s)->proc_nj;

	if (all_nj <= 0)
		text_percent(text, oncpu_ns, s->proc_oncpu_ns);
	else if (nj < 0)
		strcpy(text, "-");
	else
		text_percent(text, (uint64_t)nj, (uint64_t)all_nj);
}

void text_end(char text[FORMAT_MAX], const struct sw_process *p)
{
	text[0] = '\0';
	if (p->exited && !p->exit_known)
		strcpy(text, "exited");
	else if (p->exited && WIFSIGNALED(p->exit_code))
		snprintf(text, FORMAT_MAX, "sig %d", WTERMSIG(p->exit_code));
	else if (p->exited)
		snprintf(text, FORMAT_MAX, "exit %d", WEXITSTATUS(p->exit_code));
}

void text_paint(struct buf *out, const struct recording *rec, enum text_look look, size_t from)
{
	static const char *const begin[] = {
		[TEXT_STRONG] = "\033[1m",
		[TEXT_WARNING] = "\033[33m",
		[TEXT_FAINT] = "\033[2m",
	};
	struct buf text = { 0 };

	if (!rec->style.colour || out->err || out->len <= from)
		return;
	buf_add(&text, out->data + from, out->len - from - 1); /* without the end of the line */
	out->len = from;
	buf_text(out, begin[look]);
	buf_add(out, text.data, text.len);
	buf_text(out, "\033[0m\n");
	if (text.err)
		out->err = text.err;
	buf_free(&text);
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

void text_back_end(struct buf *out, const struct sw_header *h)
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
	buf_free(&text);
}

void text_sources(struct buf *out, const struct sw_header *h)
{
	struct buf text = { 0 };

	text_back_end(out, h);
	if (text_is_modelled(h)) {
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: a comparison of back ends as records and as text. Must not know: how one differs from another, or why
 * (comparison.c says that). Relies on: sink_jsonl.c and sink_text.c for what is the same in every recording.
 */
#include <stdio.h>

#include "comparison.h"
#include "json.h"
#include "sink.h"
#include "text.h"

enum {
	NAME_COLUMNS = 12,
	QUALITY_COLUMNS = 8,
	SECONDS_COLUMNS = 13,
	JOULES_COLUMNS = 15,
	NS_COLUMNS = 18,
	PERCENT_COLUMNS = 10,
};

/* The reference's, but that its refusals are those of all back ends. */
static void jsonl_header(const struct recording *rec, struct buf *out)
{
	struct sw_header h = *rec->header;
	struct recording all = *rec;

	h.backend_refusals = rec->comparison->refusals;
	h.n_backend_refusals = rec->comparison->n_refusals;
	all.header = &h;
	sink_jsonl.header(&all, out);
}

static void add_energy(int *err, struct json_object *in, const struct sw_header *h, int64_t total_nj)
{
	record_text(err, in, "energy_source", h->energy_source);
	record_text(err, in, "energy_quality", h->energy_quality);
	record_text(err, in, "attribution_policy", h->policy);
	record_joules(err, in, "total_joules", total_nj);
}

static void add_window(int *err, struct json_object *in, const struct sw_report *r)
{
	struct json_object *flags;

	record_uint(err, in, "proc_oncpu_ns", r->proc_oncpu_ns);
	record_joules(err, in, "proc_attributed_joules", r->energy.proc_nj);
	record_uint(err, in, "other_oncpu_ns", r->other_oncpu_ns);
	record_uint(err, in, "idle_ns", r->idle_ns);
	record_uint(err, in, "lost_ns", r->lost_ns);
	record_uint(err, in, "offline_ns", r->offline_ns);
	record_count(err, in, "shared_with", r->shared_with);
	record_count(err, in, "shared_ns", r->shared_ns);
	record_uint(err, in, "exits", r->exits);
	record_uint(err, in, "exits_ns", r->exits_ns);
	record_count(err, in, "irq_ns", r->irq_ns);
	record_count(err, in, "steal_ns", r->steal_ns);
	flags = record_array(err, in, "window_flags");
	for (uint32_t bit = 0; bit < SW_FLAGS; bit++) {
		if (r->flags & UINT32_C(1) << bit)
			record_text(err, flags, NULL, sw_flag_name(bit));
	}
}

static struct json_object *add_backend(int *err, struct json_object *list, const struct sw_header *h)
{
	struct json_object *backend = record_object(err, list, NULL);

	record_text(err, backend, "backend", h->backend);
	record_text(err, backend, "quality", h->backend_quality);
	return backend;
}

static void jsonl_sample(const struct recording *rec, const struct sw_report *r, const struct sw_data *rows,
			 struct buf *out)
{
	const struct comparison *c = rec->comparison;
	struct json_object *record, *list;
	int err = 0;

	(void)rows;
	record = record_new(&err, "comparison");
	record_uint(&err, record, "seq", r->seq);
	record_uint(&err, record, "t_ns", r->t_ns);
	record_time(&err, record, "time_utc", r->time_utc_ns);
	record_uint(&err, record, "window_ns", r->window_ns);
	add_energy(&err, record, rec->header, r->energy.total_nj);
	list = record_array(&err, record, "backends");
	for (size_t i = 0; i < c->n; i++) {
		if (c->backends[i].report)
			add_window(&err, add_backend(&err, list, c->backends[i].header), c->backends[i].report);
	}
	record_finish(err, record, out);
}

static void add_millipercent(int *err, struct json_object *in, const char *key, int64_t value)
{
	if (value == SW_ABSENT)
		record_null(err, in, key);
	else
		record_decimal(err, in, key, value, 3);
}

static void add_explanation(int *err, struct json_object *in, const struct comparison *c, size_t i)
{
	struct buf words = { 0 };

	comparison_explain(c, i, &words);
	buf_add(&words, "", 1);
	if (words.err)
		*err = words.err;
	else
		record_text(err, in, "explanation", words.data);
	buf_free(&words);
}

static void add_verdict(int *err, struct json_object *in, const struct comparison *c, size_t i)
{
	const struct comparison_backend *b = &c->backends[i];
	struct comparison_verdict v;

	comparison_judge(c, i, &v);
	record_uint(err, in, "windows", b->windows);
	record_uint(err, in, "oncpu_ns", b->oncpu_ns);
	record_joules(err, in, "joules", b->nj);
	record_count(err, in, "difference_ns", v.difference_ns);
	add_millipercent(err, in, "difference_percent", comparison_millipercent(c, i));
	record_count(err, in, "explained_ns", v.explained_ns);
	record_uint(err, in, "tolerance_ns", v.tolerance_ns);
	if (v.known)
		record_bool(err, in, "agrees", v.agrees);
	else
		record_null(err, in, "agrees");
	record_count(err, in, "shared_with", b->shared_with);
	record_count(err, in, "shared_ns", b->shared_ns);
	record_uint(err, in, "exits", b->exits);
	record_uint(err, in, "exits_ns", b->exits_ns);
	record_count(err, in, "irq_ns", b->irq_ns);
	record_count(err, in, "steal_ns", b->steal_ns);
	record_text(err, in, "failure", b->failure);
	add_explanation(err, in, c, i);
}

static const struct sw_energy *energy_of(const struct sw_header *h, const struct sw_summary *s)
{
	int policy = sw_policy_parse(h->policy);

	return &s->energy[policy < 0 ? SW_POLICY_BUSY : policy];
}

static void jsonl_summary(const struct recording *rec, const struct sw_summary *s, struct buf *out)
{
	const struct comparison *c = rec->comparison;
	struct json_object *record, *list;
	int err = 0;

	record = record_new(&err, "comparison_summary");
	record_text(&err, record, "reference", c->backends[0].header->backend);
	record_text(&err, record, "end", rec->end);
	record_udecimal(&err, record, "duration_s", s->duration_ns, 9);
	record_uint(&err, record, "samples", s->samples);
	add_energy(&err, record, rec->header, energy_of(rec->header, s)->total_nj);
	record_uint(&err, record, "cpus", rec->header->cpus);
	record_uint(&err, record, "tick_ns", c->tick_ns);
	record_uint(&err, record, "lost_ns", c->lost_ns);
	record_count(&err, record, "own_oncpu_ns", c->own_ns);
	list = record_array(&err, record, "backends");
	for (size_t i = 0; i < c->n; i++)
		add_verdict(&err, add_backend(&err, list, c->backends[i].header), c, i);
	record_finish(err, record, out);
}

/* A comparison is of the whole recording: its windows have no lines. */
static void text_no_sample(const struct recording *rec, const struct sw_report *r, const struct sw_data *rows,
			   struct buf *out)
{
	(void)rec;
	(void)r;
	(void)rows;
	(void)out;
}

static void add_signed(struct buf *out, int64_t value, unsigned digits, unsigned places, unsigned columns)
{
	char number[FORMAT_MAX], text[FORMAT_MAX + 1];

	if (value == SW_ABSENT) {
		format_right(out, "-", columns);
		return;
	}
	format_fixed(number, value < 0 ? -(uint64_t)value : (uint64_t)value, digits, places);
	snprintf(text, sizeof(text), "%s%s", value < 0 ? "-" : "+", number);
	format_right(out, text, columns);
}

static const char *verdict_word(const struct comparison *c, size_t i)
{
	struct comparison_verdict v;

	comparison_judge(c, i, &v);
	if (!i)
		return "reference";
	if (!v.known)
		return "not known";
	return !v.agrees ? "UNEXPLAINED" : v.explained_ns ? "explained" : "agrees";
}

static void add_row(struct buf *out, const struct recording *rec, size_t i)
{
	const struct comparison *c = rec->comparison;
	const struct comparison_backend *b = &c->backends[i];
	struct comparison_verdict v;
	char text[FORMAT_MAX];

	comparison_judge(c, i, &v);
	buf_text(out, " ");
	format_left(out, b->header->backend, NAME_COLUMNS);
	format_left(out, b->header->backend_quality, QUALITY_COLUMNS);
	format_fixed(text, b->oncpu_ns, 9, 6);
	format_right(out, text, SECONDS_COLUMNS);
	text_joules(text, rec->header, b->nj, 6);
	format_right(out, text, JOULES_COLUMNS);
	add_signed(out, v.difference_ns, 0, 0, NS_COLUMNS);
	add_signed(out, comparison_millipercent(c, i), 3, 2, PERCENT_COLUMNS);
	buf_printf(out, "  %s\n", verdict_word(c, i));
}

/* Nobody's name or file may write escape sequences to the terminal: text_wrapped() sees to that. */
static void add_reasons(struct buf *out, const struct comparison *c)
{
	struct buf words = { 0 };

	for (size_t i = 0; i < c->n; i++) {
		buf_clear(&words);
		buf_printf(&words, "%s: ", c->backends[i].header->backend);
		comparison_explain(c, i, &words);
		text_wrapped(out, &words);
	}
	for (size_t i = 0; i < c->n_refusals; i++) {
		buf_clear(&words);
		buf_printf(&words, "%s did not open: %s", c->refusals[i].name, c->refusals[i].reason);
		text_wrapped(out, &words);
	}
	buf_free(&words);
}

static void text_compared(const struct recording *rec, const struct sw_summary *s, struct buf *out)
{
	const struct comparison *c = rec->comparison;
	struct sw_header h = *rec->header;
	char text[FORMAT_MAX];

	h.n_backend_refusals = 0; /* all that did not open are among the reasons */
	text_title(out, rec);
	buf_text(out, " ");
	format_left(out, "back end", NAME_COLUMNS);
	format_left(out, "quality", QUALITY_COLUMNS);
	format_right(out, "CPU s", SECONDS_COLUMNS);
	format_right(out, "joules", JOULES_COLUMNS);
	format_right(out, "difference in ns", NS_COLUMNS);
	format_right(out, "in %", PERCENT_COLUMNS);
	buf_text(out, "\n");
	for (size_t i = 0; i < c->n; i++)
		add_row(out, rec, i);
	buf_text(out, "\n");
	add_reasons(out, c);
	format_fixed(text, s->duration_ns, 9, 3);
	buf_printf(out, "\n %s s in %llu window%s, the same for all\n", text, (unsigned long long)s->samples,
		   s->samples == 1 ? "" : "s");
	text_sources(out, &h);
	buf_text(out, "\n");
}

const struct sink sink_compare_jsonl = { "jsonl", jsonl_header, jsonl_sample, jsonl_summary, NULL, NULL, NULL, NULL };
const struct sink sink_compare_text = { "text", text_begin, text_no_sample, text_compared, NULL, NULL, NULL, NULL };

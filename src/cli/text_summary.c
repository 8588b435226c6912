/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the summary as people read it, but for its tables. Must not know: how numbers are spelt.
 * Relies on: a run being known by its command.
 */
#include <stdbool.h>
#include <stdio.h>

#include "target.h"
#include "text.h"

enum {
	DOUBT_COLUMNS = 16,
	SHORT_NS = 20000000, /* twenty steps of a counter */
	VAGUE_PERCENT = 20,  /* a number with a greater doubt than this part of it says little */
};

/* One line of the summary: a number in its column, its unit, its doubt, and what it is. */
static void add_line(struct buf *out, const char *number, const char *unit, const char *doubt, const char *what)
{
	format_right(out, number, TEXT_NUMBER);
	buf_text(out, " ");
	format_left(out, unit, 2);
	format_left(out, doubt, DOUBT_COLUMNS);
	buf_text(out, "  ");
	buf_text(out, what);
	buf_text(out, "\n");
}

static void add_energy(struct buf *out, const struct sw_header *h, const char *unit, int64_t nj, int64_t doubt_nj,
		       const char *what)
{
	char number[FORMAT_MAX], doubt[FORMAT_MAX];

	text_joules(number, h, nj, 6);
	text_uncertainty(doubt, doubt_nj, 6);
	add_line(out, number, unit, doubt, what);
}

static void add_seconds(struct buf *out, uint64_t ns, const char *what)
{
	char number[FORMAT_MAX];

	format_fixed(number, ns, 9, 6);
	add_line(out, number, "s", "", what);
}

void text_title(struct buf *out, const struct recording *rec)
{
	struct buf words = { 0 };
	size_t at;

	buf_printf(&words, "schedwatt %s:%s", rec->comparison ? "compare" : rec->command ? "run" : "monitor",
		   rec->command ? "" : " ");
	if (!rec->command)
		target_words(&words, rec->header);
	for (char *const *arg = rec->command; arg && *arg; arg++)
		buf_printf(&words, " %s", *arg);
	buf_add(&words, "", 1);
	buf_text(out, "\n");
	at = out->len;
	buf_text(out, " ");
	if (words.err)
		out->err = words.err;
	else
		format_plain(out, words.data, TEXT_COLUMNS - 1);
	buf_text(out, "\n");
	text_paint(out, rec, TEXT_STRONG, at);
	buf_text(out, "\n");
	buf_free(&words);
}

/* Of a policy that was not chosen, only a model's doubt is known: it is in proportion. */
static int64_t share_doubt_nj(const struct sw_header *h, const struct sw_summary *s, uint32_t policy)
{
	const struct sw_energy *e = &s->energy[policy];

	return e == text_chosen(h, s) ? s->proc_uncertainty_nj : text_model_doubt_nj(h, s, e->proc_nj);
}

static void add_shares(struct buf *out, const struct sw_header *h, const struct sw_summary *s)
{
	static const char *const rules[SW_POLICIES] = {
		[SW_POLICY_BUSY] = "busy: all energy goes by CPU time",
		[SW_POLICY_CAPACITY] = "capacity: idle CPUs keep their part",
		[SW_POLICY_MARGINAL] = "above idle: what the idle baseline leaves over",
	};

	buf_text(out, "\n");
	for (uint32_t i = 0; i < SW_POLICIES; i++) {
		if (i == SW_POLICY_MARGINAL && !h->n_baseline)
			add_line(out, "-", "J", "", "above idle: needs --baseline");
		else
			add_energy(out, h, "J", s->energy[i].proc_nj, share_doubt_nj(h, s, i), rules[i]);
	}
	buf_text(out, "\n");
}

static void add_energies(struct buf *out, const struct recording *rec, const struct sw_summary *s)
{
	const struct sw_header *h = rec->header;
	const struct sw_energy *e = text_chosen(h, s);
	const char *who = rec->command ? "command" : h->target == SW_TARGET_HOST ? "all tasks" : "target";
	char what[FORMAT_MAX];
	size_t at = out->len;

	snprintf(what, sizeof(what), "%s, policy %s", who, h->policy);
	add_energy(out, h, "J", e->proc_nj, s->proc_uncertainty_nj, what);
	text_paint(out, rec, TEXT_STRONG, at);
	snprintf(what, sizeof(what), "%s, mean power", who);
	add_energy(out, h, "W", text_nw(e->proc_nj, s->duration_ns), text_nw(s->proc_uncertainty_nj, s->duration_ns),
		   what);
	add_energy(out, h, "J", e->total_nj, s->total_uncertainty_nj, "whole machine");
	add_energy(out, h, "W", text_nw(e->total_nj, s->duration_ns), text_nw(s->total_uncertainty_nj, s->duration_ns),
		   "whole machine, mean power");
	add_shares(out, h, s);
}

static void add_times(struct buf *out, const struct recording *rec, const struct sw_summary *s)
{
	uint64_t parallel = format_scale(s->proc_oncpu_ns, 1000, s->duration_ns);
	char number[FORMAT_MAX] = "-";

	add_seconds(out, s->proc_oncpu_ns, rec->command ? "CPU time of the command" : "CPU time");
	add_seconds(out, s->duration_ns, "wall time");
	if (parallel != FORMAT_NONE)
		format_fixed(number, parallel, 3, 3);
	add_line(out, number, "", "", "average parallelism: CPU time / wall time");
}

static void add_counts(struct buf *out, const struct sw_header *h, const struct sw_summary *s)
{
	char number[FORMAT_MAX], what[FORMAT_MAX];

	if (h->by & ~(uint32_t)SW_BY_CGROUP || s->processes_seen) { /* else nobody can tell */
		snprintf(number, sizeof(number), "%llu", (unsigned long long)s->processes_seen);
		snprintf(what, sizeof(what), "processes seen, %llu still running",
			 (unsigned long long)s->processes_alive);
		add_line(out, number, "", "", what);
	}
	if (s->shared_with != SW_ABSENT && s->shared_with) {
		snprintf(number, sizeof(number), "%lld", (long long)s->shared_with);
		add_line(out, number, "", "", "other processes in the cgroup, counted in");
	}
}

/* Why a model had to answer, by the source that would have come first, and where to read on. */
void text_model(struct buf *out, const struct recording *rec, const struct sw_summary *s)
{
	const struct sw_header *h = rec->header;
	size_t at = out->len;
	struct buf words = { 0 };
	char doubt[FORMAT_MAX];

	if (!text_is_modelled(h))
		return;
	text_model_doubt(doubt, h, s);
	buf_printf(&words, "~ is a model's number%s, not a measured one", doubt);
	if (h->n_energy_refusals)
		buf_printf(&words, ". No counter: %s; schedwatt doctor says what would help",
			   h->energy_refusals[0].reason);
	text_wrapped(out, &words);
	text_paint(out, rec, TEXT_WARNING, at);
	buf_free(&words);
}

static bool is_vague(int64_t nj, int64_t doubt_nj)
{
	return nj >= 0 && doubt_nj > 0 && (uint64_t)doubt_nj * (100 / VAGUE_PERCENT) > (uint64_t)nj;
}

/* Counters step about once a millisecond: what spans few steps was hardly measured. */
static void add_vague(struct buf *out, const struct recording *rec, const struct sw_summary *s)
{
	const struct sw_energy *e = text_chosen(rec->header, s);
	bool modelled = text_is_modelled(rec->header), absent = e->total_nj == SW_ABSENT;
	size_t at = out->len;
	struct buf words = { 0 };
	char seconds[FORMAT_MAX];

	if (modelled || absent || (s->duration_ns >= SHORT_NS && !is_vague(e->total_nj, s->total_uncertainty_nj) &&
				   !is_vague(e->proc_nj, s->proc_uncertainty_nj)))
		return;
	format_fixed(seconds, s->duration_ns, 9, 6);
	buf_printf(&words, "too short: energy counters step about once a millisecond, and %s s are too few steps for "
		   "joules to mean much; let it run longer, or do its work many times in one recording", seconds);
	text_wrapped(out, &words);
	text_paint(out, rec, TEXT_WARNING, at);
	buf_free(&words);
}

void text_summary(const struct recording *rec, const struct sw_summary *s, struct buf *out)
{
	const struct sw_header *h = rec->header;

	text_title(out, rec);
	if (h->energy_quality)
		add_energies(out, rec, s);
	add_times(out, rec, s);
	add_counts(out, h, s);
	text_tables(out, rec, s);
	if (rec->style.tree)
		text_tree(out, rec, s);
	text_flaws(out, rec, s);
	add_vague(out, rec, s);
	text_back_end(out, h);
	text_model(out, rec, s);
	buf_text(out, "\n");
}

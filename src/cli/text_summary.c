/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the summary as people read it, but for its tables. Must not know: how numbers are spelt.
 * Relies on: a run being known by its command.
 */
#include <stdbool.h>
#include <stdio.h>

#include "target.h"
#include "text.h"

enum { DOUBT_COLUMNS = 16 };

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

	buf_printf(&words, "schedwatt %s:%s", rec->comparison ? "compare" : rec->command ? "run" : "monitor",
		   rec->command ? "" : " ");
	if (!rec->command)
		target_words(&words, rec->header);
	for (char *const *arg = rec->command; arg && *arg; arg++)
		buf_printf(&words, " %s", *arg);
	buf_add(&words, "", 1);
	buf_text(out, "\n ");
	if (words.err)
		out->err = words.err;
	else
		format_plain(out, words.data, TEXT_COLUMNS - 1);
	buf_text(out, "\n\n");
	buf_free(&words);
}

static void add_shares(struct buf *out, const struct recording *rec, const struct sw_summary *s)
{
	static const char *const rules[SW_POLICIES] = {
		[SW_POLICY_BUSY] = "busy share: all energy goes by CPU time",
		[SW_POLICY_CAPACITY] = "capacity share: idle CPUs keep their part",
		[SW_POLICY_MARGINAL] = "marginal share: what lies above the idle baseline",
	};

	for (uint32_t i = 0; i < SW_POLICIES; i++) {
		if (s->energy[i].proc_nj != SW_ABSENT)
			add_energy(out, rec->header, "J", s->energy[i].proc_nj, SW_ABSENT, rules[i]);
	}
}

static void add_windows(struct buf *out, const struct sw_summary *s)
{
	struct buf text = { 0 };
	char number[FORMAT_MAX];
	const char *between = "flagged: ";

	buf_text(out, "\n");
	format_fixed(number, s->lost_ns, 9, 6);
	buf_printf(&text, "lost %s s", number);
	for (uint32_t kind = 0; s->lost_ns && kind < SW_LOST_KINDS; kind++) {
		format_fixed(number, s->lost_by_kind_ns[kind], 9, 6);
		buf_printf(&text, "%s%s %s", kind ? ", " : " (", sw_lost_name(kind), number);
	}
	buf_printf(&text, "%s; %llu window%s, ", s->lost_ns ? ")" : "", (unsigned long long)s->samples,
		   s->samples == 1 ? "" : "s");
	for (uint32_t bit = 0; bit < SW_FLAGS; bit++) {
		if (!s->windows_flagged[bit])
			continue;
		buf_printf(&text, "%s%s %llu", between, sw_flag_name(bit), (unsigned long long)s->windows_flagged[bit]);
		between = ", ";
	}
	if (between[0] != ',')
		buf_text(&text, "none flagged");
	if (s->windows_without_energy)
		buf_printf(&text, "; %llu without energy", (unsigned long long)s->windows_without_energy);
	text_wrapped(out, &text);
	buf_free(&text);
}

static void add_doubt(struct buf *out, int64_t total_nj, int64_t doubt_nj)
{
	char percent[FORMAT_MAX];

	if (total_nj <= 0 || doubt_nj < 0) /* absent numbers are negative too */
		return;
	text_percent(percent, (uint64_t)doubt_nj, (uint64_t)total_nj);
	buf_printf(out, " the total and with it every share of it is good to " PLUS_MINUS "%s %%\n", percent);
}

void text_summary(const struct recording *rec, const struct sw_summary *s, struct buf *out)
{
	const struct sw_header *h = rec->header;
	int policy = sw_policy_parse(h->policy);
	const struct sw_energy *e = &s->energy[policy < 0 ? SW_POLICY_BUSY : policy];
	bool run = rec->command;
	char number[FORMAT_MAX], what[FORMAT_MAX];

	text_title(out, rec);
	if (h->energy_quality) {
		snprintf(what, sizeof(what), "%s, policy %s", run ? "command" : "processes", h->policy);
		add_energy(out, h, "J", e->proc_nj, s->proc_uncertainty_nj, what);
		add_energy(out, h, "W", text_nw(e->proc_nj, s->duration_ns),
			   text_nw(s->proc_uncertainty_nj, s->duration_ns),
			   run ? "command, mean power" : "processes, mean power");
		add_energy(out, h, "J", e->total_nj, s->total_uncertainty_nj, "whole machine");
		add_energy(out, h, "W", text_nw(e->total_nj, s->duration_ns),
			   text_nw(s->total_uncertainty_nj, s->duration_ns), "whole machine, mean power");
		add_shares(out, rec, s);
	}
	add_seconds(out, s->proc_oncpu_ns, run ? "CPU time of the command" : "CPU time");
	add_seconds(out, s->duration_ns, "wall time");
	if (h->by & ~(uint32_t)SW_BY_CGROUP || s->processes_seen) { /* else nobody can tell */
		snprintf(number, sizeof(number), "%llu", (unsigned long long)s->processes_seen);
		snprintf(what, sizeof(what), "processes seen, %llu still running", (unsigned long long)s->processes_alive);
		add_line(out, number, "", "", what);
	}
	if (s->shared_with != SW_ABSENT && s->shared_with) {
		snprintf(number, sizeof(number), "%lld", (long long)s->shared_with);
		add_line(out, number, "", "", "other processes in the cgroup, counted in");
	}
	text_tables(out, rec, s);
	add_windows(out, s);
	text_sources(out, h);
	if (text_is_modelled(h))
		add_doubt(out, e->total_nj, s->total_uncertainty_nj);
	buf_text(out, "\n");
}

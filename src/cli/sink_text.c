/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: a recording as people read it: lines of at most 100 columns, in UTF-8, the same in every locale.
 * Must not know: where the text goes, or whether that is a terminal (so there is no colour).
 * Relies on: nJ / ns being watts. What a model made, and no counter, stands behind a `~` and beside a `±`.
 */
#include "sink.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "format.h"

enum {
	COLUMNS = 100,
	COMMS_MAX = 10,
	NUMBER_COLUMNS = 18, /* of the summary */
	DOUBT_COLUMNS = 16,
};

#define PLUS_MINUS "\xc2\xb1"

static bool is_modelled(const struct sw_header *h)
{
	return h->energy_quality && !strcmp(h->energy_quality, "modelled");
}

/* nJ as joules, "-" where there is no number. */
static void spell_joules(char text[FORMAT_MAX], const struct sw_header *h, int64_t nj, unsigned places)
{
	char number[FORMAT_MAX];

	if (nj == SW_ABSENT || nj < 0) {
		strcpy(text, "-");
		return;
	}
	format_fixed(number, (uint64_t)nj, 9, places);
	snprintf(text, FORMAT_MAX, "%s%.*s", is_modelled(h) ? "~" : "", FORMAT_MAX - 2, number);
}

/* nJ in ns as nW; absent when it cannot be said. */
static int64_t to_nw(int64_t nj, uint64_t ns)
{
	uint64_t nw = nj == SW_ABSENT || nj < 0 ? FORMAT_NONE : format_scale((uint64_t)nj, 1000000000, ns);

	return nw > INT64_MAX ? SW_ABSENT : (int64_t)nw;
}

/* "12.3" per cent, or "-". */
static void spell_percent(char text[FORMAT_MAX], uint64_t part, uint64_t whole)
{
	uint64_t permille = format_scale(part, 1000, whole);

	if (permille == FORMAT_NONE)
		strcpy(text, "-");
	else
		format_fixed(text, permille, 1, 1);
}

/* "±0.001", or nothing where the uncertainty is not known. */
static void spell_uncertainty(char text[FORMAT_MAX], int64_t nj, unsigned places)
{
	char number[FORMAT_MAX];

	text[0] = '\0';
	if (nj == SW_ABSENT || nj < 0)
		return;
	format_fixed(number, (uint64_t)nj, 9, places);
	snprintf(text, FORMAT_MAX, PLUS_MINUS "%.*s", FORMAT_MAX - 4, number);
}

/* A paragraph; lines after the first are indented further. */
static void add_wrapped(struct buf *out, const struct buf *text)
{
	struct buf words = { 0 };

	buf_add(&words, text->data, text->len);
	buf_add(&words, "", 1);
	if (text->err || words.err) {
		out->err = text->err ? text->err : words.err;
	} else {
		buf_text(out, " ");
		format_wrapped(out, words.data, 3, COLUMNS - 1);
	}
	buf_free(&words);
}

/* What stands behind the numbers, and why it is no better. */
static void add_sources(struct buf *out, const struct sw_header *h)
{
	struct buf text = { 0 };

	buf_printf(&text, "back end %s (%s, attached by %s); energy source %s", h->backend, h->backend_quality,
		   h->hook ? h->hook : "-", h->energy_source);
	if (h->energy_quality)
		buf_printf(&text, " (%s)", h->energy_quality);
	buf_printf(&text, "; policy %s", h->policy);
	add_wrapped(out, &text);
	for (size_t i = 0; i < h->n_zones; i++) {
		if (!h->zones[i].problem)
			continue;
		buf_clear(&text);
		buf_printf(&text, "zone %s is left out: %s", h->zones[i].name, h->zones[i].problem);
		add_wrapped(out, &text);
	}
	if (is_modelled(h)) {
		buf_clear(&text);
		buf_text(&text, "~ is a model's number, not a measured one");
		for (size_t i = 0; i < h->n_energy_refusals; i++)
			buf_printf(&text, "; no %s: %s", h->energy_refusals[i].name, h->energy_refusals[i].reason);
		add_wrapped(out, &text);
	}
	buf_free(&text);
}

/* A value and, beside a model's number, its doubt; a measured window's is in the records. */
static void add_cell(struct buf *out, const struct sw_header *h, int64_t value, int64_t doubt, unsigned places,
		     unsigned columns)
{
	char text[FORMAT_MAX], uncertainty[FORMAT_MAX], both[2 * FORMAT_MAX];

	spell_joules(text, h, value, places);
	spell_uncertainty(uncertainty, is_modelled(h) ? doubt : SW_ABSENT, places);
	snprintf(both, sizeof(both), "%s%s", text, uncertainty);
	format_right(out, both, columns);
}

enum { CLOCK_COLUMNS = 12, WATTS_COLUMNS = 15, JOULES_COLUMNS = 16, BUSY_COLUMNS = 7, LOST_COLUMNS = 9, FLAGS_MIN = 5 };

static void text_header(const struct recording *rec, struct buf *out)
{
	const struct sw_header *h = rec->header;
	struct buf text = { 0 };
	char started[FORMAT_MAX];

	format_time(started, h->started_utc_ns);
	buf_printf(&text, "schedwatt %s on %s, Linux %s, %s, %u CPUs; from %s, a window every %u ms", h->version,
		   rec->host ? rec->host : "-", h->kernel, h->cpu_model ? h->cpu_model : "unknown processor", h->cpus,
		   started, h->interval_ms);
	for (size_t i = 0; i < rec->n_labels; i++)
		buf_printf(&text, "%s %s=%s", i ? "," : "; labels", rec->labels[i].key, rec->labels[i].value);
	add_wrapped(out, &text);
	buf_free(&text);
	add_sources(out, h);
	format_left(out, "time (UTC)", CLOCK_COLUMNS);
	format_right(out, "watts", WATTS_COLUMNS);
	format_right(out, "joules", JOULES_COLUMNS);
	format_right(out, "busy %", BUSY_COLUMNS);
	format_right(out, "lost ms", LOST_COLUMNS);
	buf_text(out, "  flags  busiest, in % of one CPU\n");
}

/* Names with commas between, as many as fit, then how many more. The columns taken. */
static unsigned add_flags(struct buf *out, uint32_t flags, unsigned room)
{
	unsigned done = 0, left = 0;

	for (uint32_t bit = 0; bit < SW_FLAGS; bit++) {
		const char *name = sw_flag_name(bit);

		if (!(flags & UINT32_C(1) << bit) || !name)
			continue;
		if (left || done + 1 + strlen(name) + 2 > room) { /* 2: for the "+n" */
			left++;
			continue;
		}
		buf_printf(out, "%s%s", done ? "," : "", name);
		done += (unsigned)strlen(name) + (done ? 1 : 0);
	}
	if (left) {
		buf_printf(out, "+%u", left);
		done += 2;
	}
	if (!done) {
		buf_text(out, "-");
		done++;
	}
	return done;
}

static void add_busiest(struct buf *out, const struct sw_report *r, unsigned room)
{
	char percent[FORMAT_MAX];
	struct buf comm = { 0 };
	unsigned columns;

	for (size_t i = 0; i < r->n_processes; i++) {
		buf_clear(&comm);
		columns = format_plain(&comm, r->processes[i].comm, 15);
		spell_percent(percent, r->processes[i].oncpu_ns, r->window_ns);
		columns += 3 + (unsigned)strlen(percent);
		if (columns > room)
			break;
		buf_text(out, "  ");
		buf_add(out, comm.data, comm.len);
		buf_printf(out, " %s", percent);
		room -= columns;
	}
	buf_free(&comm);
}

static void text_sample(const struct recording *rec, const struct sw_report *r, struct buf *out)
{
	const struct sw_header *h = rec->header;
	uint64_t busy_ns = r->proc_oncpu_ns + r->other_oncpu_ns;
	unsigned at = CLOCK_COLUMNS + WATTS_COLUMNS + JOULES_COLUMNS + BUSY_COLUMNS + LOST_COLUMNS + 2, flags;
	char text[FORMAT_MAX];

	format_clock(text, r->time_utc_ns);
	format_left(out, text, CLOCK_COLUMNS);
	add_cell(out, h, to_nw(r->energy.total_nj, r->window_ns), to_nw(r->uncertainty_nj, r->window_ns), 2,
		 WATTS_COLUMNS);
	add_cell(out, h, r->energy.total_nj, r->uncertainty_nj, 3, JOULES_COLUMNS);
	spell_percent(text, busy_ns, busy_ns + r->idle_ns + r->lost_ns + r->offline_ns);
	format_right(out, text, BUSY_COLUMNS);
	format_fixed(text, r->lost_ns, 6, 3);
	format_right(out, text, LOST_COLUMNS);
	buf_text(out, "  ");
	flags = add_flags(out, r->flags, COLUMNS - at);
	if (r->n_processes) {
		for (; flags < FLAGS_MIN; flags++)
			buf_text(out, " ");
		add_busiest(out, r, at + flags < COLUMNS ? COLUMNS - at - flags : 0);
	}
	buf_text(out, "\n");
}

/* One line of the summary: a number in its column, its unit, its doubt, and what it is. */
static void add_line(struct buf *out, const char *number, const char *unit, const char *doubt, const char *what)
{
	format_right(out, number, NUMBER_COLUMNS);
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

	spell_joules(number, h, nj, 6);
	spell_uncertainty(doubt, doubt_nj, 6);
	add_line(out, number, unit, doubt, what);
}

static void add_seconds(struct buf *out, uint64_t ns, const char *what)
{
	char number[FORMAT_MAX];

	format_fixed(number, ns, 9, 6);
	add_line(out, number, "s", "", what);
}

static void add_title(struct buf *out, const struct recording *rec)
{
	struct buf words = { 0 };

	buf_text(&words, rec->command ? "schedwatt run:" : "schedwatt monitor: this machine");
	for (char *const *arg = rec->command; arg && *arg; arg++)
		buf_printf(&words, " %s", *arg);
	buf_add(&words, "", 1);
	buf_text(out, "\n ");
	if (words.err)
		out->err = words.err;
	else
		format_plain(out, words.data, COLUMNS - 1);
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

static void add_comms(struct buf *out, const struct sw_header *h, const struct sw_summary *s)
{
	char text[FORMAT_MAX];

	if (!s->n_comms)
		return;
	buf_text(out, "\n");
	format_right(out, "joules", NUMBER_COLUMNS);
	format_right(out, "CPU s", NUMBER_COLUMNS);
	format_right(out, "processes", 11);
	buf_text(out, "  command\n");
	for (size_t i = 0; i < s->n_comms && i < COMMS_MAX; i++) {
		spell_joules(text, h, s->comms[i].nj, 6);
		format_right(out, text, NUMBER_COLUMNS);
		format_fixed(text, s->comms[i].oncpu_ns, 9, 6);
		format_right(out, text, NUMBER_COLUMNS);
		snprintf(text, sizeof(text), "%llu", (unsigned long long)s->comms[i].processes);
		format_right(out, text, 11);
		buf_text(out, "  ");
		format_plain(out, s->comms[i].comm, 15);
		buf_text(out, "\n");
	}
	if (s->n_comms > COMMS_MAX)
		buf_printf(out, "%*s  and %zu more\n", 2 * NUMBER_COLUMNS + 11, "", s->n_comms - COMMS_MAX);
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
	add_wrapped(out, &text);
	buf_free(&text);
}

static void add_doubt(struct buf *out, int64_t total_nj, int64_t doubt_nj)
{
	char percent[FORMAT_MAX];

	if (total_nj <= 0 || doubt_nj < 0) /* absent numbers are negative too */
		return;
	spell_percent(percent, (uint64_t)doubt_nj, (uint64_t)total_nj);
	buf_printf(out, " the total and with it every share of it is good to " PLUS_MINUS "%s %%\n", percent);
}

static void text_summary(const struct recording *rec, const struct sw_summary *s, struct buf *out)
{
	const struct sw_header *h = rec->header;
	int policy = sw_policy_parse(h->policy);
	const struct sw_energy *e = &s->energy[policy < 0 ? SW_POLICY_BUSY : policy];
	bool run = rec->command;
	char number[FORMAT_MAX], what[FORMAT_MAX];

	add_title(out, rec);
	if (h->energy_quality) {
		snprintf(what, sizeof(what), "%s, policy %s", run ? "command" : "processes", h->policy);
		add_energy(out, h, "J", e->proc_nj, s->proc_uncertainty_nj, what);
		add_energy(out, h, "W", to_nw(e->proc_nj, s->duration_ns),
			   to_nw(s->proc_uncertainty_nj, s->duration_ns),
			   run ? "command, mean power" : "processes, mean power");
		add_energy(out, h, "J", e->total_nj, s->total_uncertainty_nj, "whole machine");
		add_energy(out, h, "W", to_nw(e->total_nj, s->duration_ns),
			   to_nw(s->total_uncertainty_nj, s->duration_ns), "whole machine, mean power");
		add_shares(out, rec, s);
	}
	add_seconds(out, s->proc_oncpu_ns, run ? "CPU time of the command" : "CPU time");
	add_seconds(out, s->duration_ns, "wall time");
	snprintf(number, sizeof(number), "%llu", (unsigned long long)s->processes_seen);
	snprintf(what, sizeof(what), "processes seen, %llu still running", (unsigned long long)s->processes_alive);
	add_line(out, number, "", "", what);
	add_comms(out, h, s);
	add_windows(out, s);
	add_sources(out, h);
	if (is_modelled(h))
		add_doubt(out, e->total_nj, s->total_uncertainty_nj);
	buf_text(out, "\n");
}

const struct sink sink_text = { "text", text_header, text_sample, text_summary };

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the line of a run and the table of statistics. Must not know: how either came about.
 * Relies on: text.h for how numbers are spelt.
 */
#include "text_series.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "series.h"
#include "text.h"

enum {
	NAME_COLUMNS = 19,
	RUN_NUMBER = 15,
	LABEL_COLUMNS = 15,
	STATISTIC_NUMBER = 14,
};

static bool is_energy(enum quantity q)
{
	return q == QUANTITY_JOULES || q == QUANTITY_WATTS;
}

static void add_value(struct buf *out, const struct sw_header *h, enum quantity q, int64_t value, unsigned places,
		      unsigned columns)
{
	char text[FORMAT_MAX] = "-";

	if (is_energy(q))
		text_joules(text, h, value, places);
	else if (value != SW_ABSENT)
		format_fixed(text, (uint64_t)value, 9, places);
	format_right(out, text, columns);
}

static void add_run_end(struct buf *out, const struct run *run)
{
	const char *name;

	if (WIFSIGNALED(run->wait_status)) {
		name = sigabbrev_np(WTERMSIG(run->wait_status));
		if (name)
			buf_printf(out, "SIG%s", name);
		else
			buf_printf(out, "signal %d", WTERMSIG(run->wait_status));
	} else {
		buf_printf(out, "exit %d", WEXITSTATUS(run->wait_status));
	}
	if (!run->warmup && !run->counted)
		buf_text(out, ", not counted");
}

void text_run(const struct recording *rec, const struct series *series, const struct run *run, struct buf *out)
{
	char name[FORMAT_MAX];

	if (run == series->runs) {
		text_title(out, rec);
		format_left(out, " run", NAME_COLUMNS);
		format_right(out, "joules", RUN_NUMBER);
		format_right(out, "watts", RUN_NUMBER);
		format_right(out, "CPU s", RUN_NUMBER);
		format_right(out, "wall s", RUN_NUMBER);
		buf_text(out, "  end\n");
	}
	snprintf(name, sizeof(name), " %s %u/%u", run->warmup ? "warm-up" : "run", run->index,
		 run->warmup ? series->warmup : series->repeat);
	format_left(out, name, NAME_COLUMNS);
	for (enum quantity q = 0; q < QUANTITIES; q++)
		add_value(out, rec->header, q, run->quantities[q], 6, RUN_NUMBER);
	buf_text(out, "  ");
	add_run_end(out, run);
	buf_text(out, "\n");
}

/* As many places for the whole row as its greatest number leaves room for. */
static unsigned places_of(const struct statistics *s)
{
	int64_t greatest = s->max > s->half ? s->max : s->half;

	return greatest < INT64_C(10000000000000) ? 6 : greatest < INT64_C(10000000000000000) ? 3 : 0;
}

static void add_statistics(struct buf *out, const struct sw_header *h, enum quantity q, const struct statistics *s)
{
	static const char *const labels[QUANTITIES] = { " joules", " watts", " CPU s", " wall s" };
	unsigned places = places_of(s);
	char half[FORMAT_MAX];

	format_left(out, labels[q], LABEL_COLUMNS);
	add_value(out, h, q, s->mean, places, STATISTIC_NUMBER);
	text_uncertainty(half, s->half, places);
	format_right(out, half[0] ? half : "-", STATISTIC_NUMBER);
	add_value(out, h, q, s->sd, places, STATISTIC_NUMBER);
	add_value(out, h, q, s->median, places, STATISTIC_NUMBER);
	add_value(out, h, q, s->min, places, STATISTIC_NUMBER);
	add_value(out, h, q, s->max, places, STATISTIC_NUMBER);
	buf_text(out, "\n");
}

static void add_table(struct buf *out, const struct sw_header *h, const struct series *series)
{
	static const char *const heads[] = { "mean", PLUS_MINUS "95 %", "std. dev.", "median", "min", "max" };
	char runs[FORMAT_MAX];

	buf_text(out, "\n");
	snprintf(runs, sizeof(runs), " of %zu run%s", series->n_counted, series->n_counted == 1 ? "" : "s");
	format_left(out, runs, LABEL_COLUMNS);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		format_right(out, heads[i], STATISTIC_NUMBER);
	buf_text(out, "\n");
	for (enum quantity q = 0; q < QUANTITIES; q++) {
		if (!is_energy(q) || h->energy_quality)
			add_statistics(out, h, q, &series->statistics[q]);
	}
}

/* Which runs the table is of, where it is not of all that were asked for. */
static void add_end(struct buf *out, const struct series *series)
{
	struct buf text = { 0 };

	if (!series->end)
		buf_text(&text, "the series ended early: a run could not be recorded");
	else if (!strcmp(series->end, "signal"))
		buf_text(&text, "the series was interrupted");
	else if (!strcmp(series->end, "failure"))
		buf_text(&text, "the series ended early: the command failed; --keep-going goes on and counts such runs");
	if (text.len) {
		buf_printf(&text, "; %zu of %u runs count", series->n_counted, series->repeat);
		text_wrapped(out, &text);
	}
	buf_free(&text);
}

/* What the interval does not tell. */
static void add_doubt(struct buf *out, const struct sw_header *h, const struct series *series)
{
	const struct statistics *joules = &series->statistics[QUANTITY_JOULES];
	struct buf text = { 0 };
	char doubt[FORMAT_MAX];

	text_uncertainty(doubt, series->mean.proc_uncertainty_nj, places_of(joules));
	if (h->energy_quality && joules->n && doubt[0]) {
		buf_printf(&text, "the interval is of the differences between runs; what makes all joules too high or too low "
			   "alike, %s J of the mean%s, is not in it",
			   doubt, text_is_modelled(h) ? " by the model" : " by reading the counters");
		text_wrapped(out, &text);
	}
	buf_free(&text);
}

/* Lost time and windows of all runs that count together: it is little, and a mean of it would hide it. */
static void add_windows(struct buf *out, const struct recording *rec, const struct series *series)
{
	struct sw_summary all = series->mean;

	all.lost_ns = 0;
	for (uint32_t kind = 0; kind < SW_LOST_KINDS; kind++) {
		all.lost_by_kind_ns[kind] = 0;
		for (size_t i = 0; i < series->n; i++)
			all.lost_by_kind_ns[kind] +=
				series->runs[i].counted ? series->runs[i].summary.lost_by_kind_ns[kind] : 0;
		all.lost_ns += all.lost_by_kind_ns[kind];
	}
	text_flaws(out, rec, &all);
}

void text_series(const struct recording *rec, const struct series *series, struct buf *out)
{
	struct buf text = { 0 };

	if (series->n_counted)
		add_table(out, rec->header, series);
	buf_text(out, "\n");
	add_end(out, series);
	add_doubt(out, rec->header, series);
	for (size_t i = 0; i < series->n_notes; i++) {
		buf_clear(&text);
		buf_text(&text, series->notes[i]);
		text_wrapped(out, &text);
	}
	buf_free(&text);
	if (series->n_counted)
		add_windows(out, rec, series);
	text_back_end(out, rec->header);
	text_model(out, rec, &series->mean);
	buf_text(out, "\n");
}

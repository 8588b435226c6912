/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: when a mean is called doubtful, and the words for it. Must not know: where they are shown.
 * Relies on: statistics.h for what is wide and what is a trend.
 */
#include "series_notes.h"

#include <errno.h>
#include <stdlib.h>

#include "series.h"
#include "text.h"

static const char *const names[QUANTITIES] = { "joules", "watts", "CPU time", "wall time" };

/* Takes the words over. */
static int add_note(struct series *s, struct buf *words)
{
	char **notes = realloc(s->notes, (s->n_notes + 1) * sizeof(*notes));

	buf_add(words, "", 1);
	if (notes)
		s->notes = notes;
	if (!notes || words->err) {
		buf_free(words);
		return -ENOMEM;
	}
	s->notes[s->n_notes++] = words->data;
	*words = (struct buf){ 0 };
	return 0;
}

static void add_name(struct buf *out, const char *name)
{
	buf_printf(out, "%s%s", out->len ? ", " : "", name);
}

static int note_missing(struct series *s)
{
	const struct statistics *joules = &s->statistics[QUANTITY_JOULES];
	struct buf words = { 0 };

	if (!joules->absent || !s->header || !s->header->energy_quality)
		return 0;
	buf_printf(&words, "%zu of %zu runs lack energy for some of their time, and are not in the joules and watts",
		   joules->absent, s->n_counted);
	return add_note(s, &words);
}

static int note_failed(struct series *s)
{
	struct buf words = { 0 };

	if (!s->n_failed || series_is_one(s))
		return 0;
	buf_printf(&words, "the command failed in %zu of %zu runs, which count like the others", s->n_failed,
		   s->n_counted);
	return add_note(s, &words);
}

static int note_mixed(struct series *s)
{
	struct buf words = { 0 };

	if (!s->mixed_energy)
		return 0;
	buf_text(&words, "the source of energy was not the same in all runs: their joules do not compare");
	return add_note(s, &words);
}

/* One sentence for all quantities of which it holds. */
static int note_wide(struct series *s)
{
	struct buf words = { 0 };
	char percent[FORMAT_MAX];

	for (size_t q = 0; q < QUANTITIES; q++) {
		const struct statistics *of = &s->statistics[q];

		if (!of->wide)
			continue;
		add_name(&words, names[q]);
		if (of->half == SW_ABSENT || of->mean <= 0)
			continue;
		text_percent(percent, (uint64_t)of->half, (uint64_t)of->mean);
		buf_printf(&words, " (" PLUS_MINUS "%s%%)", percent);
	}
	if (!words.len)
		return 0;
	buf_printf(&words, ": the mean is known to no better than " PLUS_MINUS "%d%%; more runs, or a quieter machine, would "
		   "help", STATISTICS_WIDE_PERCENT);
	return add_note(s, &words);
}

static int note_trend(struct series *s, int direction)
{
	struct buf words = { 0 };

	for (size_t q = 0; q < QUANTITIES; q++) {
		if (s->statistics[q].trend == direction)
			add_name(&words, names[q]);
	}
	if (!words.len)
		return 0;
	buf_printf(&words, ": %s from run to run (Mann-Kendall test, 99%%), so that the mean depends on how many there are; "
		   "more --warmup may help",
		   direction > 0 ? "rising" : "falling");
	return add_note(s, &words);
}

int series_notes(struct series *s)
{
	int err = note_missing(s);

	if (!err)
		err = note_failed(s);
	if (!err)
		err = note_mixed(s);
	if (!err)
		err = note_wide(s);
	if (!err)
		err = note_trend(s, 1);
	if (!err)
		err = note_trend(s, -1);
	return err;
}

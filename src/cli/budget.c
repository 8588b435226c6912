/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how a budget is written, when it can be judged, and the words of a verdict. Must not know: what exit status
 * follows from it. Relies on: base/parse.h for numbers.
 */
#include "budget.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "text.h"

/* `digits` is the power of ten that makes nJ or ns of it. */
static const struct {
	const char *name;
	enum budget_kind kind;
	unsigned digits;
} units[] = {
	{ "mJ", BUDGET_JOULES, 6 }, { "J", BUDGET_JOULES, 9 },     { "kJ", BUDGET_JOULES, 12 },
	{ "MJ", BUDGET_JOULES, 15 }, { "cpu-ms", BUDGET_CPU, 6 }, { "cpu-s", BUDGET_CPU, 9 },
};

int budget_parse(struct budget *b, const char *text)
{
	size_t len = strspn(text, "0123456789.");
	char number[32];
	uint64_t limit;

	if (len >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, len);
	number[len] = '\0';
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(text + len, units[i].name))
			continue;
		if (sw_parse_decimal(number, units[i].digits, INT64_MAX, &limit) || !limit)
			return -EINVAL;
		b->kind = units[i].kind;
		b->limit = (int64_t)limit;
		return 0;
	}
	return -EINVAL;
}

bool budget_is_refused(const struct budget *b, const struct sw_header *h, struct buf *why)
{
	if (b->kind != BUDGET_JOULES || (h->energy_quality && (b->modelled || !text_is_modelled(h))))
		return false;
	if (h->energy_quality)
		buf_text(why, "the joules would be a model's, and a budget on them would judge the model; use a machine with "
			      "energy counters, a budget in cpu-s, or --budget-modelled");
	else
		buf_text(why, "there is no source of energy; use another --energy, or a budget in cpu-s");
	for (size_t i = 0; i < h->n_energy_refusals; i++)
		buf_printf(why, "; no %s: %s", h->energy_refusals[i].name, h->energy_refusals[i].reason);
	return true;
}

void budget_judge(const struct budget *b, struct budget_result *r)
{
	r->verdict = BUDGET_UNKNOWN;
	if (r->runs && !r->missing)
		r->verdict = r->mean > b->limit ? BUDGET_OVER : BUDGET_WITHIN;
}

static void add_amount(struct buf *out, const char *mark, int64_t value, const char *unit)
{
	char number[FORMAT_MAX];

	format_decimal(number, value, 9);
	buf_printf(out, "%s%s %s", mark, number, unit);
}

void budget_words(const struct budget *b, const struct budget_result *r, const struct sw_header *h, struct buf *out)
{
	bool joules = b->kind == BUDGET_JOULES;
	const char *unit = joules ? "J" : "s of CPU time", *mark = joules && h && text_is_modelled(h) ? "~" : "";
	char percent[FORMAT_MAX];

	if (r->verdict == BUDGET_UNKNOWN) {
		add_amount(out, "the budget of ", b->limit, unit);
		if (r->missing)
			buf_printf(out, " cannot be judged: %zu of %zu runs lack energy for some of their time",
				   r->missing, r->runs + r->missing);
		else
			buf_text(out, " cannot be judged: no run was recorded to its end");
		return;
	}
	buf_printf(out, "%s budget: ", r->verdict == BUDGET_OVER ? "over" : "within");
	if (r->runs > 1)
		buf_printf(out, "the mean of %zu runs is ", r->runs);
	else
		buf_text(out, "the command used ");
	add_amount(out, mark, r->mean, unit);
	if (r->verdict == BUDGET_OVER) {
		text_percent(percent, (uint64_t)(r->mean - b->limit), (uint64_t)b->limit);
		add_amount(out, ", ", r->mean - b->limit, unit);
		buf_printf(out, " (%s %%) more than the ", percent);
	} else {
		buf_text(out, " of ");
	}
	add_amount(out, "", b->limit, unit);
	if (r->verdict == BUDGET_OVER)
		buf_text(out, " allowed");
}

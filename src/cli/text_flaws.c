/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what was lost and which windows are flagged, and what either means for the numbers, in words.
 * Must not know: how time is lost or when a flag is raised. Relies on: schedwatt.h for the kinds of both;
 * Documentation/admin-guide/pm/cpufreq.rst for governors.
 */
#include <stdio.h>
#include <string.h>

#include "text.h"

#define BIT(flag) __builtin_ctz(flag)

static const char *const meanings[] = {
	[BIT(SW_FLAG_LATE)] = "a CPU saw a boundary only after it had passed; what could not be placed there is lost",
	[BIT(SW_FLAG_SHORT)] = "shorter than 50 ms, of which the step of the energy counters is a large part",
	[BIT(SW_FLAG_PARTIAL)] = "a zone could not be read, or its package was off, and is in no sum: the totals are too low",
	[BIT(SW_FLAG_NO_ENERGY)] = "an energy counter failed, went back or stood too long; their joules are missing from "
				   "the totals, their CPU time is not",
	[BIT(SW_FLAG_SUSPEND)] = "the machine slept; their joules are missing from the totals",
	[BIT(SW_FLAG_MEMBERS)] = "tasks of the target could not be followed; what they used is counted as others', so the "
				 "target's numbers are too low",
	[BIT(SW_FLAG_UNVERIFIED)] = "this kernel does not let us check what each CPU runs; a switch that went unseen gives "
				    "its time to the wrong task",
	[BIT(SW_FLAG_MIRRORED)] = "counters of several dies showed one and the same energy, which is counted once",
	[BIT(SW_FLAG_HYBRID)] = "cores of different types share a counter and are taken for alike: who ran on the fast "
				"ones gets too little, who ran on the others too much",
	[BIT(SW_FLAG_STEAL)] = "a hypervisor took more than 1 % of the CPUs' time, which counts as CPU time here",
	[BIT(SW_FLAG_BASELINE)] = "less was used than the baseline says; nothing is above idle there (calibrate again when "
				  "the machine is idle)",
	[BIT(SW_FLAG_BUSY_RAISED)] = "the host's busy time was told too coarsely and is taken to be what the tasks had; "
				     "shares may be too high",
};

_Static_assert(sizeof(meanings) / sizeof(meanings[0]) == SW_FLAGS, "a sentence for each flag");

static const char *const losses[] = {
	[SW_LOST_SLOTS] = "for want of room in the kernel's table of tasks (--slots makes it larger)",
	[SW_LOST_MISSED] = "at context switches that no program saw",
	[SW_LOST_OTHER] = "for other reasons, such as a boundary seen late",
};

_Static_assert(sizeof(losses) / sizeof(losses[0]) == SW_LOST_KINDS, "words for each kind");

static void add_warning(struct buf *out, const struct recording *rec, const struct buf *words)
{
	size_t from = out->len;

	text_wrapped(out, words);
	text_paint(out, rec, TEXT_WARNING, from);
}

static void add_lost(struct buf *out, const struct recording *rec, const struct sw_summary *s)
{
	struct buf words = { 0 };
	const char *between = ": ";
	char number[FORMAT_MAX];

	if (!s->lost_ns)
		return;
	format_fixed(number, s->lost_ns, 9, 6);
	buf_printf(&words, "lost: %s s of CPU time belong to no task, and their energy is in no share", number);
	for (uint32_t kind = 0; kind < SW_LOST_KINDS; kind++) {
		if (!s->lost_by_kind_ns[kind])
			continue;
		format_fixed(number, s->lost_by_kind_ns[kind], 9, 6);
		buf_printf(&words, "%s%s s %s", between, number, losses[kind]);
		between = "; ";
	}
	add_warning(out, rec, &words);
	buf_free(&words);
}

static void add_flag(struct buf *out, const struct recording *rec, const struct sw_summary *s, uint32_t bit)
{
	uint64_t n = s->windows_flagged[bit];
	struct buf words = { 0 };

	buf_printf(&words, "%s, %llu of %llu window%s: %s", sw_flag_name(bit), (unsigned long long)n,
		   (unsigned long long)s->samples, s->samples == 1 ? "" : "s", meanings[bit]);
	add_warning(out, rec, &words);
	buf_free(&words);
}

/* The lowest frequency is what this governor stands for, but with drivers that choose frequencies by themselves. */
static bool is_held_slow(const struct sw_environment *e)
{
	static const char *const choosing[] = { "intel_pstate", "amd-pstate-epp", "amd_pstate_epp" };

	if (!e->governor || !e->driver || strcmp(e->governor, "powersave"))
		return false;
	for (size_t i = 0; i < sizeof(choosing) / sizeof(choosing[0]); i++) {
		if (!strcmp(e->driver, choosing[i]))
			return false;
	}
	return true;
}

/* What the machine was set to that a reader would not guess: on mains, and as fast as it can, is what one expects. */
static void add_setting(struct buf *out, const struct recording *rec)
{
	const struct sw_environment *e = rec->header->environment;
	struct buf words = { 0 };

	if (!e->ac_power) {
		buf_text(&words, "on battery: the machine may have been slowed down to save it");
		add_warning(out, rec, &words);
		buf_clear(&words);
	}
	if (is_held_slow(e)) {
		buf_printf(&words, "governor powersave of %s: the CPUs are held at their lowest frequency", e->driver);
		add_warning(out, rec, &words);
	}
	buf_free(&words);
}

void text_flaws(struct buf *out, const struct recording *rec, const struct sw_summary *s)
{
	struct buf words = { 0 };
	bool flagged = false;

	buf_text(out, "\n");
	for (uint32_t bit = 0; bit < SW_FLAGS; bit++)
		flagged |= s->windows_flagged[bit] != 0;
	buf_printf(&words, "%llu window%s%s%s", (unsigned long long)s->samples, s->samples == 1 ? "" : "s",
		   flagged ? "" : ", none flagged", s->lost_ns ? "" : ", nothing lost");
	text_wrapped(out, &words);
	buf_free(&words);
	add_lost(out, rec, s);
	for (uint32_t bit = 0; bit < SW_FLAGS; bit++) {
		if (s->windows_flagged[bit])
			add_flag(out, rec, s, bit);
	}
	add_setting(out, rec);
}

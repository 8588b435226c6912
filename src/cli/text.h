/* SPDX-License-Identifier: BSD-2-Clause */
/* Pieces of the text sink that its parts share. */
#ifndef SW_CLI_TEXT_H
#define SW_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format.h"
#include "sink.h"

enum {
	TEXT_COLUMNS = 100, /* no line is wider */
	TEXT_NUMBER = 18,   /* columns of a number in the summary */
	TEXT_COMM = 15,     /* the kernel keeps no more of a command's name */
};

#define PLUS_MINUS "\xc2\xb1"

bool text_is_modelled(const struct sw_header *h);

/* nJ as joules, "-" where there is no number. */
void text_joules(char text[FORMAT_MAX], const struct sw_header *h, int64_t nj, unsigned places);

/* nJ in ns as nW; absent when it cannot be said. */
int64_t text_nw(int64_t nj, uint64_t ns);

/* "12.3" per cent, or "-". */
void text_percent(char text[FORMAT_MAX], uint64_t part, uint64_t whole);

/* "±0.001", or nothing where the uncertainty is not known. */
void text_uncertainty(char text[FORMAT_MAX], int64_t nj, unsigned places);

/* The part of a total's uncertainty that a part of the total has, for a model's numbers; absent for counters'. */
int64_t text_model_doubt_nj(const struct sw_header *h, const struct sw_summary *s, int64_t part_nj);

/* How good a model's numbers are, " ±50.0 %", as their columns are headed; nothing of counters'. */
void text_model_doubt(char text[FORMAT_MAX], const struct sw_header *h, const struct sw_summary *s);

/* The energy of the chosen policy. */
const struct sw_energy *text_chosen(const struct sw_header *h, const struct sw_summary *s);

/* What part of the target's joules these are, in per cent, or of its CPU time where there are no joules; or "-". */
void text_share(char text[FORMAT_MAX], const struct sw_header *h, const struct sw_summary *s, int64_t nj,
		uint64_t oncpu_ns);

/* How a process ended: "exit 1", "sig 9", "exited" where only that is known, nothing of one that is running. */
void text_end(char text[FORMAT_MAX], const struct sw_process *p);

/* How the line or paragraph that stands in `out` from offset `from` to its end looks, where text may have colours. */
enum text_look { TEXT_STRONG, TEXT_WARNING, TEXT_FAINT };
void text_paint(struct buf *out, const struct recording *rec, enum text_look look, size_t from);

/* An id as the reader sees it; "host:77", the kernel's own, where it cannot; "-" for neither. */
void text_id(char text[FORMAT_MAX], int32_t id, int32_t host_id);

/* A command's name, a kernel thread's in [brackets]. The number of columns written. */
unsigned text_comm(struct buf *out, const char *comm, bool kernel_thread);

/* What rows stand for: as --by says, or 0; a back end that knows nothing but cgroups has rows of these. */
uint32_t text_by(const struct recording *rec);

/* The rows of a window with the columns of `rec`, and their names from time to time. */
void text_rows(struct buf *out, const struct recording *rec, const struct sw_report *r, const struct sw_data *rows);

/*
 * The cgroup that follows row `last` (n: none yet) when most `time` comes first, and of equal ones the first by path;
 * n when there is none.
 */
size_t text_next_cgroup(const struct sw_cgroup *rows, size_t n, uint64_t (*time)(const struct sw_cgroup *), size_t last);

/* A paragraph; lines after the first are indented further. */
void text_wrapped(struct buf *out, const struct buf *text);

/* Zones without a reading, which are in no sum, and why. */
void text_left_out(struct buf *out, const struct sw_header *h);

/* Back end, energy source and policy, with what to know of the back end. */
void text_back_end(struct buf *out, const struct sw_header *h);

/* What stands behind the numbers, and why it is no better. */
void text_sources(struct buf *out, const struct sw_header *h);

/* Where and when a recording was made. */
void text_begin(const struct recording *rec, struct buf *out);

/* The command, and what it is about. */
void text_title(struct buf *out, const struct recording *rec);

/* Of the summary: what was lost, and what the flags of its windows mean for the numbers. */
void text_flaws(struct buf *out, const struct recording *rec, const struct sw_summary *s);

/* Of the summary: the table that --by asks for, or both by command and by process; and the threads' with --threads. */
void text_tables(struct buf *out, const struct recording *rec, const struct sw_summary *s);

/* Of the summary: how good a model's numbers are, and why there are no better ones. */
void text_model(struct buf *out, const struct recording *rec, const struct sw_summary *s);

/* Of the summary: the fork tree. */
void text_tree(struct buf *out, const struct recording *rec, const struct sw_summary *s);

/* Of sink_text. */
void text_summary(const struct recording *rec, const struct sw_summary *s, struct buf *out);

#endif

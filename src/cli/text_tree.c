/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the picture of the fork tree. Must not know: who descends from whom, or what is folded.
 * Relies on: tree.h for the order of lines.
 */
#include <string.h>

#include "text.h"
#include "tree.h"

enum {
	JOULES = 11, /* to the millijoule, and times to the millisecond: names need the room */
	SECONDS = 11,
	SHARE = 8,
	PLACES = 3,
	DEPTH_MAX = 6, /* levels that are drawn; of deeper ones the last */
	LEVEL = 2,     /* columns */
};

#define MILLI_PERCENT_ALL 100000

#define BRANCH   "\xe2\x94\x9c\xe2\x94\x80" /* ├─ */
#define CORNER   "\xe2\x94\x94\xe2\x94\x80" /* └─ */
#define TRUNK    "\xe2\x94\x82 "             /* │ */
#define ELLIPSIS "\xe2\x80\xa6"

static void add_joules(struct buf *out, const struct sw_header *h, int64_t nj)
{
	char text[FORMAT_MAX];

	text_joules(text, h, nj, PLACES);
	format_right(out, text, JOULES);
}

static void add_seconds(struct buf *out, uint64_t ns)
{
	char text[FORMAT_MAX];

	format_fixed(text, ns, 9, PLACES);
	format_right(out, text, SECONDS);
}

/* Bars of the levels above it and its own branch. The number of columns written. */
static unsigned add_branches(struct buf *out, const struct tree *t, const struct tree_line *line)
{
	const char *bars[DEPTH_MAX];
	unsigned depth = 0, columns = 0;

	if (line->parent == TREE_NONE)
		return 0;
	bars[depth++] = line->last ? CORNER : BRANCH;
	for (line = &t->lines[line->parent]; line->parent != TREE_NONE; line = &t->lines[line->parent]) {
		if (depth == DEPTH_MAX) {
			buf_text(out, ELLIPSIS);
			columns++;
			break;
		}
		bars[depth++] = line->last ? "  " : TRUNK;
	}
	columns += LEVEL * depth;
	while (depth)
		buf_text(out, bars[--depth]);
	return columns;
}

static void add_what(struct buf *out, const struct tree_line *line, unsigned room)
{
	const struct sw_process *p = line->process;
	struct buf words = { 0 };
	char id[FORMAT_MAX], end[FORMAT_MAX];

	if (p) {
		text_comm(&words, p->comm, p->kernel_thread);
		text_id(id, p->pid, p->host_pid);
		text_end(end, p);
		buf_printf(&words, "%s %s%s%s", line->stray ? "?" : "", id, end[0] ? " " : "", end);
	} else {
		buf_printf(&words, ELLIPSIS " %zu more", line->members);
	}
	buf_add(&words, "", 1);
	if (words.err)
		out->err = words.err;
	else
		format_plain(out, words.data, room);
	buf_free(&words);
}

static void add_line(struct buf *out, const struct recording *rec, const struct sw_summary *s, const struct tree *t,
		     const struct tree_line *line)
{
	size_t at = out->len, columns;
	char share[FORMAT_MAX];

	if (line->process) {
		add_joules(out, rec->header, line->own_nj);
		add_seconds(out, line->own_ns);
	} else {
		format_right(out, "", JOULES);
		format_right(out, "", SECONDS);
	}
	add_joules(out, rec->header, line->all_nj);
	add_seconds(out, line->all_ns);
	text_share(share, rec->header, s, line->all_nj, line->all_ns);
	format_right(out, share, SHARE);
	buf_text(out, "  ");
	columns = out->len - at; /* numbers are ASCII */
	columns += add_branches(out, t, line);
	add_what(out, line, columns < TEXT_COLUMNS ? TEXT_COLUMNS - (unsigned)columns : 0);
	buf_text(out, "\n");
	if (!line->process)
		text_paint(out, rec, TEXT_FAINT, at);
}

static void add_head(struct buf *out, const struct sw_header *h, const struct sw_summary *s)
{
	char doubt[FORMAT_MAX];

	text_model_doubt(doubt, h, s);
	buf_text(out, "\n");
	format_right(out, "own J", JOULES);
	format_right(out, "own CPU s", SECONDS);
	format_right(out, "tree J", JOULES);
	format_right(out, "tree CPU s", SECONDS);
	format_right(out, "share %", SHARE);
	buf_printf(out, "  process%s%s\n", doubt[0] ? ", joules" : "", doubt);
}

/* What is in the totals, and in no line of the picture; who is a stray. */
static void add_notes(struct buf *out, const struct tree *t, const struct sw_summary *s)
{
	bool stray = false;

	for (size_t i = 0; i < t->n; i++)
		stray |= t->lines[i].stray;
	if (stray)
		buf_text(out, " ? stands here because its parent had no CPU time in the recording, or is not kept\n");
	if (s->processes_folded)
		buf_printf(out, " %llu more have ended, of which only the commands' totals are kept\n",
			   (unsigned long long)s->processes_folded);
}

void text_tree(struct buf *out, const struct recording *rec, const struct sw_summary *s)
{
	uint64_t fold_ns = format_scale(s->proc_oncpu_ns, rec->style.tree_fold, MILLI_PERCENT_ALL);
	struct tree t;
	int err = tree_draw(&t, rec->header, s, fold_ns);

	if (err) {
		out->err = err;
		return;
	}
	if (t.n) {
		add_head(out, rec->header, s);
		for (size_t i = 0; i < t.n; i++)
			add_line(out, rec, s, &t, &t.lines[i]);
		add_notes(out, &t, s);
	}
	tree_free(&t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the line of progress: what it says, where it stands and when. Must not know: how long a recording takes, or why.
 * Relies on: poll(2): a terminal that was stopped (Ctrl-S) is not writable, and must not hold the recording up;
 * ECMA-48 for EL and CHA, and the terminals of the world for DECSC and DECRC.
 */
#include "progress.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "terminal.h"
#include "text.h"

#define SAVE    "\0337"
#define RESTORE "\0338"
#define CLEAR   "\033[K" /* to the end of the line */

/* Often enough for an eye. */
#define REDRAW_NS UINT64_C(100000000)

void progress_begin(struct progress *p, int fd, uint64_t duration_ns)
{
	*p = (struct progress){ .fd = terminal_rewrites(fd) ? fd : -1, .duration_ns = duration_ns };
}

static void add_watts(struct buf *out, const struct sw_header *h, const struct sw_report *r)
{
	char watts[FORMAT_MAX], doubt[FORMAT_MAX] = "";
	int64_t nw = text_nw(r->energy.proc_nj, r->window_ns);
	uint64_t doubt_nw;

	if (!h->energy_quality)
		return;
	text_joules(watts, h, nw, 2);
	if (text_is_modelled(h) && nw >= 0 && r->uncertainty_nj >= 0 && r->energy.total_nj > 0) {
		doubt_nw = format_scale((uint64_t)nw, (uint64_t)r->uncertainty_nj, (uint64_t)r->energy.total_nj);
		text_uncertainty(doubt, doubt_nw > INT64_MAX ? SW_ABSENT : (int64_t)doubt_nw, 2);
	}
	buf_printf(out, ", %s%s W", watts, doubt);
}

void progress_words(struct buf *out, const struct progress *p, const struct sw_header *h, const struct sw_report *r)
{
	char text[FORMAT_MAX];

	buf_text(out, "schedwatt: ");
	if (p->runs)
		buf_printf(out, "run %u of %u, ", p->run, p->runs);
	format_fixed(text, r->t_ns - h->started_ns, 9, 1);
	buf_printf(out, "%s s", text);
	if (p->duration_ns) {
		format_fixed(text, p->duration_ns, 9, 1);
		buf_printf(out, " of %s s", text);
	}
	buf_printf(out, ", %llu window%s", (unsigned long long)p->windows, p->windows == 1 ? "" : "s");
	add_watts(out, h, r);
}

/* All or nothing: who reads it is a person, and there will be another. */
static void show(struct progress *p, const struct buf *text)
{
	struct pollfd fd = { .fd = p->fd, .events = POLLOUT };

	if (text->err || poll(&fd, 1, 0) != 1 || !(fd.revents & POLLOUT))
		return;
	if (write(p->fd, text->data, text->len) < 0)
		p->fd = -1; /* the terminal has gone */
}

/*
 * Where only we write, the line is ours. A command that runs may write to the same terminal: then the words stand at the
 * right end of the line that it is in, and the cursor where the command left it.
 */
static void draw(struct progress *p, const struct buf *words)
{
	unsigned room = terminal_columns(p->fd) - 1; /* the last column would wrap on some terminals */
	struct buf text = { 0 }, line = { 0 };
	unsigned columns = format_plain(&text, words->data, room);

	if (p->runs)
		progress_clear(p); /* it may have begun further to the left */
	p->column = p->runs ? room - columns + 1 : 0;
	if (p->column)
		buf_printf(&line, SAVE "\033[%uG", p->column);
	else
		buf_text(&line, "\r");
	buf_add(&line, text.data, text.len);
	buf_text(&line, p->column ? CLEAR RESTORE : CLEAR "\r");
	show(p, &line);
	buf_free(&line);
	buf_free(&text);
	p->shown = true;
}

void progress_run(struct progress *p, uint32_t i, uint32_t n)
{
	struct buf words = { 0 };

	if (!p || p->fd < 0)
		return;
	p->run = i;
	p->runs = n;
	p->windows = 0;
	p->drawn_ns = 0;
	buf_printf(&words, "schedwatt: run %u of %u", i, n);
	buf_add(&words, "", 1);
	if (!words.err)
		draw(p, &words);
	buf_free(&words);
}

void progress_window(struct progress *p, const struct sw_header *h, const struct sw_report *r)
{
	struct buf words = { 0 };

	if (!p || p->fd < 0)
		return;
	p->windows++;
	if (p->shown && r->t_ns - p->drawn_ns < REDRAW_NS)
		return;
	p->drawn_ns = r->t_ns;
	progress_words(&words, p, h, r);
	buf_add(&words, "", 1);
	if (!words.err)
		draw(p, &words);
	buf_free(&words);
}

void progress_clear(struct progress *p)
{
	struct buf clear = { 0 };

	if (!p || p->fd < 0 || !p->shown)
		return;
	p->shown = false;
	if (p->column)
		buf_printf(&clear, SAVE "\033[%uG" CLEAR RESTORE, p->column);
	else
		buf_text(&clear, "\r" CLEAR);
	show(p, &clear);
	buf_free(&clear);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: a recording as people read it: lines of at most 100 columns, in UTF-8, the same in every locale; the header and
 * the line of a window are here. Must not know: where the text goes, or whether that is a terminal (so there is no
 * colour). Relies on: text.h.
 */
#include "sink.h"

#include <stdio.h>
#include <string.h>

#include "text.h"
#include "text_series.h"

/* A value and, beside a model's number, its doubt; a measured window's is in the records. */
static void add_cell(struct buf *out, const struct sw_header *h, int64_t value, int64_t doubt, unsigned places,
		     unsigned columns)
{
	char text[FORMAT_MAX], uncertainty[FORMAT_MAX], both[2 * FORMAT_MAX];

	text_joules(text, h, value, places);
	text_uncertainty(uncertainty, text_is_modelled(h) ? doubt : SW_ABSENT, places);
	snprintf(both, sizeof(both), "%s%s", text, uncertainty);
	format_right(out, both, columns);
}

enum { CLOCK_COLUMNS = 12, WATTS_COLUMNS = 15, JOULES_COLUMNS = 16, BUSY_COLUMNS = 7, LOST_COLUMNS = 9, FLAGS_MIN = 5 };
enum { CGROUP_COLUMNS = 24 };

void text_begin(const struct recording *rec, struct buf *out)
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
	text_wrapped(out, &text);
	buf_free(&text);
}

static void text_header(const struct recording *rec, struct buf *out)
{
	text_begin(rec, out);
	text_sources(out, rec->header);
	if (rec->columns.n)
		return; /* text_rows() names them */
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

static uint64_t own_time(const struct sw_cgroup *c)
{
	return c->oncpu_ns;
}

static size_t count_rows(const struct sw_report *r, uint32_t by)
{
	switch (by) {
	case SW_BY_THREAD:
		return r->n_threads;
	case SW_BY_CGROUP:
		return r->n_cgroups;
	case SW_BY_COMM:
		return r->n_comms;
	default:
		return r->n_processes;
	}
}

/* The row behind `last`, of n, most time first; n when there is none. With `last` n, the first. */
static size_t next_row(const struct sw_report *r, uint32_t by, size_t n, size_t last)
{
	if (by == SW_BY_CGROUP)
		return text_next_cgroup(r->cgroups, n, own_time, last);
	return last == n ? 0 : last + 1;
}

static unsigned add_thread_name(struct buf *out, const struct sw_thread *t)
{
	char id[FORMAT_MAX];
	unsigned columns = text_comm(out, t->comm, t->kernel_thread);

	text_id(id, t->tid, t->host_tid);
	buf_printf(out, "/%s", id);
	return columns + 1 + (unsigned)strlen(id);
}

/* The last part of its path, which tells cgroups apart better than the first ones. */
static unsigned add_cgroup_name(struct buf *out, const struct sw_cgroup *c)
{
	const char *slash;

	if (!c->path)
		return format_plain(out, "(removed)", CGROUP_COLUMNS);
	slash = strrchr(c->path, '/');
	return format_plain(out, slash && slash[1] ? slash + 1 : c->path, CGROUP_COLUMNS);
}

/* How row i is called and what time it had. The number of columns written. */
static unsigned add_name(struct buf *out, const struct sw_report *r, uint32_t by, size_t i, uint64_t *oncpu_ns)
{
	switch (by) {
	case SW_BY_THREAD:
		*oncpu_ns = r->threads[i].oncpu_ns;
		return add_thread_name(out, &r->threads[i]);
	case SW_BY_CGROUP:
		*oncpu_ns = r->cgroups[i].oncpu_ns;
		return add_cgroup_name(out, &r->cgroups[i]);
	case SW_BY_COMM:
		*oncpu_ns = r->comms[i].oncpu_ns;
		return text_comm(out, r->comms[i].comm, false);
	default:
		*oncpu_ns = r->processes[i].oncpu_ns;
		return text_comm(out, r->processes[i].comm, r->processes[i].kernel_thread);
	}
}

/* As many names as fit into `room` columns, of what --by asks for. */
static void add_busiest(struct buf *out, const struct recording *rec, const struct sw_report *r, unsigned room)
{
	size_t n = count_rows(r, text_by(rec));
	char percent[FORMAT_MAX];
	struct buf name = { 0 };
	uint64_t oncpu_ns;
	unsigned columns;

	for (size_t i = next_row(r, text_by(rec), n, n); i < n; i = next_row(r, text_by(rec), n, i)) {
		buf_clear(&name);
		columns = add_name(&name, r, text_by(rec), i, &oncpu_ns);
		if (!oncpu_ns) /* a cgroup that only lies above others */
			break;
		text_percent(percent, oncpu_ns, r->window_ns);
		columns += 3 + (unsigned)strlen(percent);
		if (columns > room)
			break;
		buf_text(out, "  ");
		buf_add(out, name.data, name.len);
		buf_printf(out, " %s", percent);
		room -= columns;
	}
	buf_free(&name);
}

static void text_sample(const struct recording *rec, const struct sw_report *r, const struct sw_data *rows,
			struct buf *out)
{
	const struct sw_header *h = rec->header;
	uint64_t busy_ns = r->proc_oncpu_ns + r->other_oncpu_ns;
	unsigned at = CLOCK_COLUMNS + WATTS_COLUMNS + JOULES_COLUMNS + BUSY_COLUMNS + LOST_COLUMNS + 2, flags;
	char text[FORMAT_MAX];

	if (rows) {
		text_rows(out, rec, r, rows);
		return;
	}
	format_clock(text, r->time_utc_ns);
	format_left(out, text, CLOCK_COLUMNS);
	add_cell(out, h, text_nw(r->energy.total_nj, r->window_ns), text_nw(r->uncertainty_nj, r->window_ns), 2,
		 WATTS_COLUMNS);
	add_cell(out, h, r->energy.total_nj, r->uncertainty_nj, 3, JOULES_COLUMNS);
	text_percent(text, busy_ns, busy_ns + r->idle_ns + r->lost_ns + r->offline_ns);
	format_right(out, text, BUSY_COLUMNS);
	format_fixed(text, r->lost_ns, 6, 3);
	format_right(out, text, LOST_COLUMNS);
	buf_text(out, "  ");
	flags = add_flags(out, r->flags, TEXT_COLUMNS - at);
	if (count_rows(r, text_by(rec))) {
		for (; flags < FLAGS_MIN; flags++)
			buf_text(out, " ");
		add_busiest(out, rec, r, at + flags < TEXT_COLUMNS ? TEXT_COLUMNS - at - flags : 0);
	}
	buf_text(out, "\n");
}

const struct sink sink_text = {
	"text", text_header, text_sample, text_summary, &sink_compare_text, NULL, text_run, text_series,
};

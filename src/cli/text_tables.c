/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the tables of the summary: commands, processes, threads, cgroups. Must not know: how numbers are spelt.
 * Relies on: rows that come in the order schedwatt.h states.
 */
#include <stdio.h>

#include "text.h"

enum {
	COMMS_MAX = 10, /* where no table was asked for */
	ROWS_MAX = 20,  /* with what stands around them, a screenful */
	ID_COLUMNS = 13,
	CGROUP_NUMBER = 15,
};

static void add_seconds(struct buf *out, uint64_t ns, unsigned columns)
{
	char text[FORMAT_MAX];

	format_fixed(text, ns, 9, 6);
	format_right(out, text, columns);
}

static void add_joules(struct buf *out, const struct sw_header *h, int64_t nj, unsigned columns)
{
	char text[FORMAT_MAX];

	text_joules(text, h, nj, 6);
	format_right(out, text, columns);
}

static void add_id(struct buf *out, int32_t id, int32_t host_id)
{
	char text[FORMAT_MAX];

	text_id(text, id, host_id);
	format_right(out, text, ID_COLUMNS);
}

/* What every table but the cgroups' begins with. */
static void add_head(struct buf *out)
{
	buf_text(out, "\n");
	format_right(out, "joules", TEXT_NUMBER);
	format_right(out, "CPU s", TEXT_NUMBER);
}

static void add_more(struct buf *out, uint64_t more, int columns)
{
	if (more)
		buf_printf(out, "%*s  and %llu more\n", columns, "", (unsigned long long)more);
}

static void add_comms(struct buf *out, const struct sw_header *h, const struct sw_summary *s, size_t max)
{
	size_t n = s->n_comms < max ? s->n_comms : max;
	char text[FORMAT_MAX];

	add_head(out);
	format_right(out, "processes", 11);
	buf_text(out, "  command\n");
	for (size_t i = 0; i < n; i++) {
		add_joules(out, h, s->comms[i].nj, TEXT_NUMBER);
		add_seconds(out, s->comms[i].oncpu_ns, TEXT_NUMBER);
		snprintf(text, sizeof(text), "%llu", (unsigned long long)s->comms[i].processes);
		format_right(out, text, 11);
		buf_text(out, "  ");
		text_comm(out, s->comms[i].comm, false);
		buf_text(out, "\n");
	}
	add_more(out, s->n_comms - n, 2 * TEXT_NUMBER + 11);
}

static void add_processes(struct buf *out, const struct sw_header *h, const struct sw_summary *s)
{
	enum { NAME = TEXT_COMM + 2, AT = 2 * TEXT_NUMBER + ID_COLUMNS + 2 + NAME + 2 };
	size_t n = s->n_processes < ROWS_MAX ? s->n_processes : ROWS_MAX;

	add_head(out);
	format_right(out, "pid", ID_COLUMNS);
	buf_text(out, "  ");
	format_left(out, "command", NAME);
	buf_text(out, "  command line\n");
	for (size_t i = 0; i < n; i++) {
		const struct sw_process *p = &s->processes[i];
		unsigned done;

		add_joules(out, h, p->nj, TEXT_NUMBER);
		add_seconds(out, p->oncpu_ns, TEXT_NUMBER);
		add_id(out, p->pid, p->host_pid);
		buf_text(out, "  ");
		done = text_comm(out, p->comm, p->kernel_thread);
		if (p->cmdline) {
			buf_printf(out, "%*s", (int)(NAME - done + 2), "");
			format_plain(out, p->cmdline, TEXT_COLUMNS - AT);
		}
		buf_text(out, "\n");
	}
	add_more(out, s->n_processes - n + s->processes_folded, 2 * TEXT_NUMBER + ID_COLUMNS);
}

static void add_threads(struct buf *out, const struct sw_header *h, const struct sw_summary *s)
{
	size_t n = s->n_threads < ROWS_MAX ? s->n_threads : ROWS_MAX;

	add_head(out);
	format_right(out, "tid", ID_COLUMNS);
	format_right(out, "pid", ID_COLUMNS);
	buf_text(out, "  thread\n");
	for (size_t i = 0; i < n; i++) {
		const struct sw_thread *t = &s->threads[i];

		add_joules(out, h, t->nj, TEXT_NUMBER);
		add_seconds(out, t->oncpu_ns, TEXT_NUMBER);
		add_id(out, t->tid, t->host_tid);
		add_id(out, t->pid, t->host_pid);
		buf_text(out, "  ");
		text_comm(out, t->comm, t->kernel_thread);
		buf_text(out, "\n");
	}
	add_more(out, s->n_threads - n + s->threads_folded, 2 * TEXT_NUMBER + 2 * ID_COLUMNS);
}

static uint64_t subtree_time(const struct sw_cgroup *c)
{
	return c->subtree_oncpu_ns;
}

static void add_cgroup(struct buf *out, const struct sw_header *h, const struct sw_cgroup *c)
{
	add_seconds(out, c->oncpu_ns, CGROUP_NUMBER);
	add_seconds(out, c->subtree_oncpu_ns, CGROUP_NUMBER);
	add_joules(out, h, c->subtree_nj, CGROUP_NUMBER);
	buf_text(out, "  ");
	format_tail(out, c->path ? c->path : "(removed)", TEXT_COLUMNS - 3 * CGROUP_NUMBER - 2);
	buf_text(out, "\n");
}

/*
 * In order of path, those whose subtrees had most time. A cgroup never has less than one below it, so whatever is shown
 * is shown with all that it lies in.
 */
static void add_cgroups(struct buf *out, const struct sw_header *h, const struct sw_summary *s)
{
	size_t n = s->n_cgroups, least = n, shown = n < ROWS_MAX ? n : ROWS_MAX;

	for (size_t i = 0; i < shown; i++)
		least = text_next_cgroup(s->cgroups, n, subtree_time, least);
	buf_text(out, "\n");
	format_right(out, "own CPU s", CGROUP_NUMBER);
	format_right(out, "subtree CPU s", CGROUP_NUMBER);
	format_right(out, "subtree joules", CGROUP_NUMBER);
	buf_text(out, "  cgroup\n");
	for (size_t i = 0; i < n; i++) {
		const struct sw_cgroup *c = &s->cgroups[i], *last = &s->cgroups[least];

		if (c->subtree_oncpu_ns > last->subtree_oncpu_ns ||
		    (c->subtree_oncpu_ns == last->subtree_oncpu_ns && i <= least))
			add_cgroup(out, h, c);
	}
	add_more(out, n - shown + s->cgroups_folded, 3 * CGROUP_NUMBER);
}

void text_tables(struct buf *out, const struct recording *rec, const struct sw_summary *s)
{
	const struct sw_header *h = rec->header;
	uint32_t by = text_by(rec);
	bool threads = by == SW_BY_THREAD || h->by & SW_BY_THREAD;

	if (by == SW_BY_PROCESS && s->n_processes)
		add_processes(out, h, s);
	else if (by == SW_BY_CGROUP && s->n_cgroups)
		add_cgroups(out, h, s);
	else if ((!by || by == SW_BY_COMM) && s->n_comms)
		add_comms(out, h, s, by ? ROWS_MAX : COMMS_MAX);
	if (threads && s->n_threads)
		add_threads(out, h, s);
}

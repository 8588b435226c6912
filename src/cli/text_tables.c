/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the tables of the summary: commands, processes, threads, cgroups. Must not know: how numbers are spelt.
 * Relies on: rows that come in the order schedwatt.h states.
 */
#include <stdio.h>
#include <string.h>

#include "text.h"

enum {
	BOTH_MAX = 10,  /* where no table was asked for, and there are two */
	ROWS_MAX = 20,  /* with what stands around them, a screenful */
	JOULES = TEXT_NUMBER,
	SHARE = 8,
	SECONDS = 14,
	COUNT = 11,
	ID_COLUMNS = 13,
	NAME = TEXT_COMM + 2,
	END = 8,
	CGROUP_NUMBER = 15,
};

/* Exited with less than this, a process is one of those that only make sense together. */
#define SHORT_NS 10000000

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

static void add_count(struct buf *out, uint64_t n, unsigned columns)
{
	char text[FORMAT_MAX];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	format_right(out, text, columns);
}

static void add_id(struct buf *out, int32_t id, int32_t host_id)
{
	char text[FORMAT_MAX];

	text_id(text, id, host_id);
	format_right(out, text, ID_COLUMNS);
}

/* What every table but the cgroups' begins with. */
static void add_head(struct buf *out, const struct sw_header *h, const struct sw_summary *s)
{
	char doubt[FORMAT_MAX], joules[FORMAT_MAX];

	text_model_doubt(doubt, h, s);
	snprintf(joules, sizeof(joules), "joules%.*s", FORMAT_MAX - 8, doubt);
	buf_text(out, "\n");
	format_right(out, joules, JOULES);
	format_right(out, "share %", SHARE);
	format_right(out, "CPU time s", SECONDS);
}

/* And each of its rows. */
static void add_numbers(struct buf *out, const struct sw_header *h, const struct sw_summary *s, int64_t nj,
			uint64_t oncpu_ns)
{
	char share[FORMAT_MAX];

	add_joules(out, h, nj, JOULES);
	text_share(share, h, s, nj, oncpu_ns);
	format_right(out, share, SHARE);
	add_seconds(out, oncpu_ns, SECONDS);
}

static void add_more(struct buf *out, uint64_t more, int columns)
{
	if (more)
		buf_printf(out, "%*s  and %llu more\n", columns, "", (unsigned long long)more);
}

/* Those that are alive are never without a row. */
static uint64_t count_alive(const struct sw_summary *s, const char *comm)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_processes; i++)
		n += !s->processes[i].exited && !strcmp(s->processes[i].comm, comm);
	return n;
}

static void add_comms(struct buf *out, const struct sw_header *h, const struct sw_summary *s, size_t max)
{
	size_t n = s->n_comms < max ? s->n_comms : max;

	add_head(out, h, s);
	format_right(out, "processes", COUNT);
	format_right(out, "exited", COUNT);
	buf_text(out, "  command\n");
	for (size_t i = 0; i < n; i++) {
		const struct sw_comm *c = &s->comms[i];

		add_numbers(out, h, s, c->nj, c->oncpu_ns);
		add_count(out, c->processes, COUNT);
		add_count(out, c->processes - count_alive(s, c->comm), COUNT);
		buf_text(out, "  ");
		text_comm(out, c->comm, false);
		buf_text(out, "\n");
	}
	add_more(out, s->n_comms - n, JOULES + SHARE + SECONDS + 2 * COUNT);
}

static void add_process(struct buf *out, const struct sw_header *h, const struct sw_summary *s,
			const struct sw_process *p)
{
	size_t at = out->len, columns;
	char end[FORMAT_MAX];
	unsigned done;

	add_numbers(out, h, s, p->nj, p->oncpu_ns);
	add_id(out, p->pid, p->host_pid);
	buf_text(out, "  ");
	columns = out->len - at + NAME + 2 + END + 2; /* so far all is ASCII */
	done = text_comm(out, p->comm, p->kernel_thread);
	text_end(end, p);
	if (end[0] || p->cmdline)
		buf_printf(out, "%*s", (int)(NAME - done + 2), "");
	if (p->cmdline) {
		format_left(out, end, END);
		buf_text(out, "  ");
		format_plain(out, p->cmdline, columns < TEXT_COLUMNS ? TEXT_COLUMNS - (unsigned)columns : 0);
	} else {
		buf_text(out, end);
	}
	buf_text(out, "\n");
}

/* Of many processes that hardly lived, no row says much. */
static void add_short_lived(struct buf *out, const struct sw_header *h, const struct sw_summary *s)
{
	char joules[FORMAT_MAX], share[FORMAT_MAX], seconds[FORMAT_MAX];
	struct buf words = { 0 };
	int64_t nj = SW_ABSENT;
	uint64_t ns = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->n_processes; i++) {
		const struct sw_process *p = &s->processes[i];

		if (!p->exited || p->oncpu_ns >= SHORT_NS)
			continue;
		n++;
		ns += p->oncpu_ns;
		if (p->nj != SW_ABSENT)
			nj = nj == SW_ABSENT ? p->nj : nj + p->nj;
	}
	if (n < 2)
		return;
	text_joules(joules, h, nj, 6);
	text_share(share, h, s, nj, ns);
	format_fixed(seconds, ns, 9, 6);
	buf_printf(&words, "short-lived or idle: %zu processes ended with under 10 ms of CPU time each; together %s s",
		   n, seconds);
	if (nj != SW_ABSENT)
		buf_printf(&words, ", %s J", joules);
	buf_printf(&words, ", %s %%", share);
	text_wrapped(out, &words);
	buf_free(&words);
}

static void add_processes(struct buf *out, const struct sw_header *h, const struct sw_summary *s, size_t max)
{
	size_t n = s->n_processes < max ? s->n_processes : max;

	add_head(out, h, s);
	format_right(out, "pid", ID_COLUMNS);
	buf_text(out, "  ");
	format_left(out, "command", NAME + 2);
	format_left(out, "end", END + 2);
	buf_text(out, "command line\n");
	for (size_t i = 0; i < n; i++)
		add_process(out, h, s, &s->processes[i]);
	add_more(out, s->n_processes - n + s->processes_folded, JOULES + SHARE + SECONDS + ID_COLUMNS);
	add_short_lived(out, h, s);
}

static void add_threads(struct buf *out, const struct sw_header *h, const struct sw_summary *s)
{
	size_t n = s->n_threads < ROWS_MAX ? s->n_threads : ROWS_MAX;

	add_head(out, h, s);
	format_right(out, "tid", ID_COLUMNS);
	format_right(out, "pid", ID_COLUMNS);
	buf_text(out, "  thread\n");
	for (size_t i = 0; i < n; i++) {
		const struct sw_thread *t = &s->threads[i];

		add_numbers(out, h, s, t->nj, t->oncpu_ns);
		add_id(out, t->tid, t->host_tid);
		add_id(out, t->pid, t->host_pid);
		buf_text(out, "  ");
		text_comm(out, t->comm, t->kernel_thread);
		buf_text(out, "\n");
	}
	add_more(out, s->n_threads - n + s->threads_folded, JOULES + SHARE + SECONDS + 2 * ID_COLUMNS);
}

static uint64_t subtree_time(const struct sw_cgroup *c)
{
	return c->subtree_oncpu_ns;
}

/* A model's column has its doubt in its head. */
static unsigned cgroup_joules(const struct sw_header *h)
{
	return text_is_modelled(h) ? CGROUP_NUMBER + 9 : CGROUP_NUMBER;
}

static void add_cgroup_head(struct buf *out, const struct sw_header *h, const struct sw_summary *s)
{
	char doubt[FORMAT_MAX], joules[2 * FORMAT_MAX];

	text_model_doubt(doubt, h, s);
	snprintf(joules, sizeof(joules), "subtree joules%s", doubt);
	buf_text(out, "\n");
	format_right(out, "own CPU s", CGROUP_NUMBER);
	format_right(out, "subtree CPU s", CGROUP_NUMBER);
	format_right(out, joules, cgroup_joules(h));
	buf_text(out, "  cgroup\n");
}

static void add_cgroup(struct buf *out, const struct sw_header *h, const struct sw_cgroup *c)
{
	add_seconds(out, c->oncpu_ns, CGROUP_NUMBER);
	add_seconds(out, c->subtree_oncpu_ns, CGROUP_NUMBER);
	add_joules(out, h, c->subtree_nj, cgroup_joules(h));
	buf_text(out, "  ");
	format_tail(out, c->path ? c->path : "(removed)", TEXT_COLUMNS - 2 * CGROUP_NUMBER - cgroup_joules(h) - 2);
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
	add_cgroup_head(out, h, s);
	for (size_t i = 0; i < n; i++) {
		const struct sw_cgroup *c = &s->cgroups[i], *last = &s->cgroups[least];

		if (c->subtree_oncpu_ns > last->subtree_oncpu_ns ||
		    (c->subtree_oncpu_ns == last->subtree_oncpu_ns && i <= least))
			add_cgroup(out, h, c);
	}
	add_more(out, n - shown + s->cgroups_folded, 2 * CGROUP_NUMBER + (int)cgroup_joules(h));
}

void text_tables(struct buf *out, const struct recording *rec, const struct sw_summary *s)
{
	const struct sw_header *h = rec->header;
	uint32_t by = text_by(rec);
	bool threads = by == SW_BY_THREAD || h->by & SW_BY_THREAD;

	if ((!by || by == SW_BY_COMM) && s->n_comms)
		add_comms(out, h, s, by ? ROWS_MAX : BOTH_MAX);
	if ((!by || by == SW_BY_PROCESS) && s->n_processes)
		add_processes(out, h, s, by ? ROWS_MAX : BOTH_MAX);
	if (by == SW_BY_CGROUP && s->n_cgroups)
		add_cgroups(out, h, s);
	if (threads && s->n_threads)
		add_threads(out, h, s);
}

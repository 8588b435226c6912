/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: processes as reports and summaries show them, by process and by name, and the order of rows.
 * Must not know: how a process comes into the table.
 */
#include "processes.h"

#include <stdlib.h>
#include <string.h>

static int by_time(const void *a, const void *b)
{
	const struct sw_process *x = a, *y = b;

	if (x->oncpu_ns != y->oncpu_ns)
		return x->oncpu_ns < y->oncpu_ns ? 1 : -1;
	if (x->start_boottime_ns != y->start_boottime_ns)
		return x->start_boottime_ns < y->start_boottime_ns ? -1 : 1;
	return (x->host_pid > y->host_pid) - (x->host_pid < y->host_pid);
}

/* By id, since the entry may have been folded since the process was there; or as /proc says. */
static const char *path_of(const struct sw_cgroups *g, const struct sw_process_entry *e)
{
	const struct sw_cgroup_entry *c;

	if (e->cgroup_path)
		return e->cgroup_path;
	HASH_FIND(hh, g->table, &e->cgroup_id, sizeof(e->cgroup_id), c);
	return c ? c->path : NULL;
}

static struct sw_process window_row(const struct sw_process_entry *e, const struct sw_cgroups *g)
{
	return (struct sw_process){
		.pid = e->pid,
		.host_pid = e->id.pid,
		.ppid = e->ppid,
		.host_ppid = e->host_ppid,
		.start_boottime_ns = e->id.start_boottime_ns,
		.comm = e->comm,
		.cmdline = e->cmdline,
		.cmdline_new = e->cmdline_new,
		.cgroup = path_of(g, e),
		.oncpu_ns = e->tally.oncpu_ns,
		.oncpu_by_domain_ns = e->by_domain_ns,
		.nj = e->tally.nj,
		.exited = e->ended,
		.exit_known = e->exit_known,
		.exit_code = e->exit_code,
		.kernel_thread = e->kernel_thread,
	};
}

struct sw_process *sw_processes_window(const struct sw_processes *p, const struct sw_cgroups *g, size_t *ret_n)
{
	const struct sw_process_entry *e;
	struct sw_process *rows;
	size_t n = 0;

	for (e = p->active; e; e = e->next_active)
		n++;
	rows = n ? malloc(n * sizeof(*rows)) : NULL;
	*ret_n = n && !rows ? SIZE_MAX : n;
	if (!rows)
		return NULL;
	n = 0;
	for (e = p->active; e; e = e->next_active)
		rows[n++] = window_row(e, g);
	qsort(rows, n, sizeof(*rows), by_time);
	return rows;
}

/* The same over the whole recording, with its own copies of what it points to. */
static struct sw_process total_row(const struct sw_process_entry *e, const struct sw_cgroups *g, unsigned n_domains,
				   char **times, char **texts)
{
	struct sw_process row = window_row(e, g);

	row.comm = sw_put_text(texts, row.comm);
	row.cmdline = sw_put_text(texts, row.cmdline);
	row.cmdline_new = 0;
	row.cgroup = sw_put_text(texts, row.cgroup);
	row.oncpu_ns = e->tally.total_ns;
	row.oncpu_by_domain_ns = sw_put_times(times, e->by_domain_ns + n_domains, n_domains);
	row.nj = e->tally.total_nj;
	return row;
}

struct sw_process *sw_processes_totals(const struct sw_processes *p, const struct sw_cgroups *g, size_t *ret_n)
{
	const struct sw_process_entry *e;
	struct sw_process *rows;
	char *times, *texts;
	size_t n = 0, room = 0;

	for (e = p->table; e; e = e->hh.next) {
		if (!e->counted)
			continue;
		n++;
		room += sw_room_for(e->comm) + sw_room_for(e->cmdline) + sw_room_for(path_of(g, e));
	}
	rows = n ? malloc(n * (sizeof(*rows) + p->n_domains * sizeof(e->by_domain_ns[0])) + room) : NULL;
	*ret_n = n && !rows ? SIZE_MAX : n;
	if (!rows)
		return NULL;
	times = (char *)(rows + n);
	texts = times + n * p->n_domains * sizeof(e->by_domain_ns[0]);
	n = 0;
	for (e = p->table; e; e = e->hh.next)
		if (e->counted)
			rows[n++] = total_row(e, g, p->n_domains, &times, &texts);
	qsort(rows, n, sizeof(*rows), by_time);
	return rows;
}

struct sw_comm *sw_processes_window_comms(const struct sw_processes *p, size_t *ret_n)
{
	struct sw_comm_entry *table = NULL;
	const struct sw_process_entry *e;
	struct sw_comm *rows = NULL;
	int err = 0;

	*ret_n = SIZE_MAX;
	for (e = p->active; e && !err; e = e->next_active)
		err = sw_comms_add(&table, e->comm, 1, e->tally.oncpu_ns, e->tally.nj);
	if (!err)
		rows = sw_comms_rows(table, ret_n);
	sw_comms_free(&table);
	return rows;
}

struct sw_comm *sw_processes_comms(const struct sw_processes *p, size_t *ret_n)
{
	struct sw_comm_entry *table = NULL;
	const struct sw_process_entry *e;
	const struct sw_comm_entry *c;
	struct sw_comm *rows = NULL;
	int err = 0;

	*ret_n = SIZE_MAX;
	for (c = p->folded; c && !err; c = c->hh.next)
		err = sw_comms_add(&table, c->comm, c->processes, c->oncpu_ns, c->nj);
	for (e = p->table; e && !err; e = e->hh.next)
		if (e->counted)
			err = sw_comms_add(&table, e->comm, 1, e->tally.total_ns, e->tally.total_nj);
	if (!err)
		rows = sw_comms_rows(table, ret_n);
	sw_comms_free(&table);
	return rows;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the table of processes by identity (start time, pid), its memory bound, and the order of rows.
 * Must not know: how time was measured or energy shared. Relies on uthash.
 */
#include "processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Exited processes that are kept one by one. */
#define EXITED_MAX 16384

int sw_processes_init(struct sw_processes *p, uint32_t n_keys, unsigned n_domains)
{
	*p = (struct sw_processes){.n_domains = n_domains, .n_keys = n_keys};
	p->by_key = calloc(n_keys, sizeof(*p->by_key));
	return p->by_key ? 0 : -ENOMEM;
}

void sw_processes_free(struct sw_processes *p)
{
	struct sw_process_entry *e, *next;
	struct sw_comm_entry *c, *next_comm;

	HASH_ITER(hh, p->table, e, next) {
		HASH_DEL(p->table, e);
		free(e);
	}
	HASH_ITER(hh, p->folded, c, next_comm) {
		HASH_DEL(p->folded, c);
		free(c);
	}
	free(p->by_key);
	*p = (struct sw_processes){0};
}

static struct sw_comm_entry *comm_entry(struct sw_comm_entry **table, const char *comm)
{
	struct sw_comm_entry *c;

	HASH_FIND(hh, *table, comm, sizeof(c->comm), c);
	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	memcpy(c->comm, comm, sizeof(c->comm));
	HASH_ADD(hh, *table, comm, sizeof(c->comm), c);
	return c;
}

static int add_to_comm(struct sw_comm_entry **table, const struct sw_process_entry *e)
{
	struct sw_comm_entry *c = comm_entry(table, e->comm);

	if (!c)
		return -ENOMEM;
	c->processes++;
	c->oncpu_ns += e->total_ns;
	c->nj += e->total_nj;
	c->has_nj |= e->has_nj;
	return 0;
}

static int fold(struct sw_processes *p)
{
	struct sw_process_entry *e, *next;

	HASH_ITER(hh, p->table, e, next) {
		if (!e->ended || e->keys)
			continue;
		if (e->counted) {
			if (add_to_comm(&p->folded, e))
				return -ENOMEM;
			p->n_folded++;
		}
		HASH_DEL(p->table, e);
		free(e);
	}
	return 0;
}

int sw_processes_next(struct sw_processes *p)
{
	p->seq++;
	p->active = NULL;
	if (HASH_COUNT(p->table) - p->n_alive > EXITED_MAX)
		return fold(p);
	return 0;
}

/* A name of at most 15 bytes, the rest zero, since comms are compared whole. */
static void copy_comm(char *to, const char *from)
{
	size_t n = strnlen(from, 15);

	memcpy(to, from, n);
	memset(to + n, 0, 16 - n);
}

static struct sw_process_entry *find(struct sw_processes *p, const struct sw_task *t)
{
	struct sw_process_id id = {t->leader_start_boottime_ns, (uint32_t)t->tgid};
	struct sw_process_entry *e;

	HASH_FIND(hh, p->table, &id, sizeof(id), e);
	if (e)
		return e;
	e = calloc(1, sizeof(*e) + 2 * p->n_domains * sizeof(e->by_domain_ns[0]));
	if (!e)
		return NULL;
	e->id = id;
	e->ppid = t->ppid;
	e->kernel_thread = t->kernel_thread;
	HASH_ADD(hh, p->table, id, sizeof(e->id), e);
	return e;
}

static void activate(struct sw_processes *p, struct sw_process_entry *e)
{
	if (e->seq == p->seq)
		return;
	e->seq = p->seq;
	e->next_active = p->active;
	p->active = e;
	e->oncpu_ns = 0;
	e->nj = INT64_MIN;
	memset(e->by_domain_ns, 0, p->n_domains * sizeof(e->by_domain_ns[0]));
}

int sw_processes_add(struct sw_processes *p, const struct sw_cpu_row *row, uint64_t oncpu_ns,
		     struct sw_process_entry **ret)
{
	const struct sw_task *t = row->task;
	struct sw_process_entry *e = row->first ? NULL : p->by_key[row->key];

	if (!e) {
		e = find(p, t);
		if (!e)
			return -ENOMEM;
		p->by_key[row->key] = e;
		e->keys++;
	}
	copy_comm(e->comm, t->process_comm);
	if (oncpu_ns || row->last) {
		activate(p, e);
		e->oncpu_ns += oncpu_ns;
		e->total_ns += oncpu_ns;
		e->by_domain_ns[row->domain] += oncpu_ns;
		e->by_domain_ns[p->n_domains + row->domain] += oncpu_ns;
	}
	if (oncpu_ns && !e->counted) {
		e->counted = true;
		p->n_seen++;
		p->n_alive += !e->ended;
	}
	if (row->last) {
		p->by_key[row->key] = NULL;
		e->keys--;
		if (row->died && t->tid == t->tgid)
			e->exit_code = t->exit_code;
		if (row->died && t->process_ended && !e->ended) {
			e->ended = true;
			p->n_alive -= e->counted;
		}
	}
	*ret = e;
	return 0;
}

void sw_process_add_energy(struct sw_process_entry *e, int64_t nj)
{
	if (e->nj == INT64_MIN)
		e->nj = 0;
	e->nj += nj;
	e->total_nj += nj;
	e->has_nj = true;
}

static int by_time(const void *a, const void *b)
{
	const struct sw_process *x = a, *y = b;

	if (x->oncpu_ns != y->oncpu_ns)
		return x->oncpu_ns < y->oncpu_ns ? 1 : -1;
	if (x->start_boottime_ns != y->start_boottime_ns)
		return x->start_boottime_ns < y->start_boottime_ns ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct sw_process row(const struct sw_process_entry *e, unsigned n_domains, bool total)
{
	return (struct sw_process){
		.pid = e->id.pid,
		.ppid = e->ppid,
		.start_boottime_ns = e->id.start_boottime_ns,
		.comm = e->comm,
		.oncpu_ns = total ? e->total_ns : e->oncpu_ns,
		.oncpu_by_domain_ns = e->by_domain_ns + (total ? n_domains : 0),
		.nj = !total ? e->nj : e->has_nj ? e->total_nj : INT64_MIN,
		.exited = e->ended,
		.exit_code = e->exit_code,
		.kernel_thread = e->kernel_thread,
	};
}

struct sw_process *sw_processes_window(const struct sw_processes *p, size_t *ret_n)
{
	const struct sw_process_entry *e;
	struct sw_process *rows;
	size_t n = 0;

	for (e = p->active; e; e = e->next_active)
		n++;
	*ret_n = n;
	rows = n ? malloc(n * sizeof(*rows)) : NULL;
	if (!rows) {
		*ret_n = n ? SIZE_MAX : 0;
		return NULL;
	}
	n = 0;
	for (e = p->active; e; e = e->next_active)
		rows[n++] = row(e, p->n_domains, false);
	qsort(rows, n, sizeof(*rows), by_time);
	return rows;
}

struct sw_process *sw_processes_totals(const struct sw_processes *p, size_t *ret_n)
{
	const struct sw_process_entry *e;
	size_t n = HASH_COUNT(p->table);
	struct sw_process *rows = n ? malloc(n * sizeof(*rows)) : NULL;

	*ret_n = n && !rows ? SIZE_MAX : 0;
	if (!rows)
		return NULL;
	n = 0;
	for (e = p->table; e; e = e->hh.next)
		if (e->counted)
			rows[n++] = row(e, p->n_domains, true);
	qsort(rows, n, sizeof(*rows), by_time);
	*ret_n = n;
	return rows;
}

static int comm_by_time(const void *a, const void *b)
{
	const struct sw_comm *x = a, *y = b;

	if (x->oncpu_ns != y->oncpu_ns)
		return x->oncpu_ns < y->oncpu_ns ? 1 : -1;
	return strcmp(x->comm, y->comm);
}

struct sw_comm *sw_processes_comms(const struct sw_processes *p, size_t *ret_n)
{
	struct sw_comm_entry *table = NULL, *c, *next;
	const struct sw_process_entry *e;
	struct sw_comm *rows = NULL;
	size_t n = 0;
	int err = 0;

	*ret_n = SIZE_MAX;
	for (c = p->folded; c && !err; c = c->hh.next) {
		struct sw_comm_entry *copy = comm_entry(&table, c->comm);

		err = copy ? 0 : -ENOMEM;
		if (copy) {
			copy->processes = c->processes;
			copy->oncpu_ns = c->oncpu_ns;
			copy->nj = c->nj;
			copy->has_nj = c->has_nj;
		}
	}
	for (e = p->table; e && !err; e = e->hh.next)
		if (e->counted)
			err = add_to_comm(&table, e);
	/* the names lie behind the rows, so that one free() frees all */
	if (!err)
		rows = malloc(HASH_COUNT(table) * (sizeof(*rows) + sizeof(table->comm)) + 1);
	if (rows) {
		char *names = (char *)(rows + HASH_COUNT(table));

		for (c = table; c; c = c->hh.next, n++) {
			rows[n] = (struct sw_comm){
				.comm = memcpy(names + n * sizeof(c->comm), c->comm, sizeof(c->comm)),
				.processes = c->processes,
				.oncpu_ns = c->oncpu_ns,
				.nj = c->has_nj ? c->nj : INT64_MIN,
			};
		}
		qsort(rows, n, sizeof(*rows), comm_by_time);
		*ret_n = n;
	}
	HASH_ITER(hh, table, c, next) {
		HASH_DEL(table, c);
		free(c);
	}
	return rows;
}

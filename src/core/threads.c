/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the table of threads by identity (start time, tgid, tid), its memory bound, and their rows.
 * Must not know: how time was measured or energy shared. Relies on uthash.
 */
#define HASH_NONFATAL_OOM 1 /* a library does not exit */
#include "threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Exited threads that are kept one by one; or, where they are to be forgotten, before it pays to go through the table. */
#define EXITED_MAX 16384
#define EXITED_FEW 256

int sw_threads_init(struct sw_threads *t, uint32_t n_keys, unsigned n_domains)
{
	*t = (struct sw_threads){.n_domains = n_domains, .n_keys = n_keys};
	t->by_key = calloc(n_keys, sizeof(*t->by_key));
	return t->by_key ? 0 : -ENOMEM;
}

void sw_threads_free(struct sw_threads *t)
{
	struct sw_thread_entry *e, *next;

	HASH_ITER(hh, t->table, e, next) {
		HASH_DEL(t->table, e);
		free(e);
	}
	free(t->by_key);
	*t = (struct sw_threads){0};
}

/*
 * All that the back end has no key for are let go: the ended ones, those that became another task by exec, and a few
 * that are between two cgroups and will be new ones when they come back.
 */
void sw_threads_next(struct sw_threads *t)
{
	struct sw_thread_entry *e, *next;

	t->seq++;
	t->active = NULL;
	if (t->n_keyless <= (t->forget_ended ? EXITED_FEW : EXITED_MAX))
		return;
	HASH_ITER(hh, t->table, e, next) {
		if (e->keys)
			continue;
		t->n_folded += e->counted;
		HASH_DEL(t->table, e);
		free(e);
	}
	t->n_keyless = 0;
}

static struct sw_thread_entry *find(const struct sw_threads *t, const struct sw_task *task)
{
	struct sw_thread_id id = {task->start_boottime_ns, (uint32_t)task->tgid, (uint32_t)task->tid};
	struct sw_thread_entry *e;

	HASH_FIND(hh, t->table, &id, sizeof(id), e);
	return e;
}

static struct sw_thread_entry *make(struct sw_threads *t, const struct sw_task *task)
{
	struct sw_thread_entry *e = malloc(sizeof(*e) + 2 * t->n_domains * sizeof(e->by_domain_ns[0]));

	if (!e)
		return NULL;
	*e = (struct sw_thread_entry){
		.id = {task->start_boottime_ns, (uint32_t)task->tgid, (uint32_t)task->tid},
		.process = {task->leader_start_boottime_ns, (uint32_t)task->tgid},
		.pid = task->here.tgid,
		.tid = task->here.tid,
		.kernel_thread = task->kernel_thread,
	};
	sw_copy_comm(e->comm, task->comm);
	sw_copy_comm(e->process_comm, task->process_comm);
	sw_tally_clear(&e->tally, e->by_domain_ns, t->n_domains);
	HASH_ADD(hh, t->table, id, sizeof(e->id), e);
	if (!e->hh.tbl) {
		free(e);
		return NULL;
	}
	t->n_keyless++;
	return e;
}

static void release_key(struct sw_threads *t, uint32_t key)
{
	struct sw_thread_entry *e = t->by_key[key];

	if (e && !--e->keys)
		t->n_keyless++;
	t->by_key[key] = NULL;
}

static struct sw_thread_entry *hold_key(struct sw_threads *t, const struct sw_cpu_row *row)
{
	struct sw_thread_entry *e = find(t, row->task);

	if (!e)
		e = make(t, row->task);
	if (!e)
		return NULL;
	if (!e->keys++)
		t->n_keyless--;
	t->by_key[row->key] = e;
	return e;
}

int sw_threads_add(struct sw_threads *t, const struct sw_cpu_row *row, uint64_t oncpu_ns,
		   struct sw_thread_entry **ret)
{
	struct sw_thread_entry *e;

	if (row->first)
		release_key(t, row->key);
	e = t->by_key[row->key];
	if (!e)
		e = hold_key(t, row);
	if (!e)
		return -ENOMEM;
	if (row->described)
		sw_copy_comm(e->comm, row->task->comm);
	if (oncpu_ns || row->last) {
		if (e->active_seq != t->seq) {
			e->active_seq = t->seq;
			e->next_active = t->active;
			t->active = e;
			sw_tally_next(&e->tally, e->by_domain_ns, t->n_domains);
		}
		sw_tally_add(&e->tally, e->by_domain_ns, t->n_domains, row->domain, oncpu_ns);
	}
	e->counted |= oncpu_ns > 0;
	e->died |= row->last && row->died;
	if (row->last)
		release_key(t, row->key);
	*ret = e;
	return 0;
}

void sw_threads_add_outside(struct sw_threads *t, const struct sw_cpu_row *row)
{
	struct sw_thread_entry *e = row->last && row->died ? find(t, row->task) : NULL;

	if (e)
		e->died = true;
	if (row->first || row->last)
		release_key(t, row->key);
}

void sw_thread_add_energy(struct sw_thread_entry *e, int64_t nj)
{
	sw_tally_add_energy(&e->tally, nj);
}

static int by_time(const void *a, const void *b)
{
	const struct sw_thread *x = a, *y = b;

	if (x->oncpu_ns != y->oncpu_ns)
		return x->oncpu_ns < y->oncpu_ns ? 1 : -1;
	if (x->start_boottime_ns != y->start_boottime_ns)
		return x->start_boottime_ns < y->start_boottime_ns ? -1 : 1;
	return (x->host_tid > y->host_tid) - (x->host_tid < y->host_tid);
}

static struct sw_thread window_row(struct sw_thread_entry *e, const struct sw_processes *p)
{
	const struct sw_process_entry *process = sw_processes_find(p, &e->process);

	if (process)
		sw_copy_comm(e->process_comm, process->comm);
	return (struct sw_thread){
		.pid = e->pid,
		.host_pid = e->id.tgid,
		.tid = e->tid,
		.host_tid = e->id.tid,
		.start_boottime_ns = e->id.start_boottime_ns,
		.comm = e->comm,
		.process_comm = e->process_comm,
		.oncpu_ns = e->tally.oncpu_ns,
		.oncpu_by_domain_ns = e->by_domain_ns,
		.nj = e->tally.nj,
		/* one that called exec has the identity of the leader who died of it */
		.exited = e->died && !e->keys,
		.kernel_thread = e->kernel_thread,
	};
}

struct sw_thread *sw_threads_window(struct sw_threads *t, const struct sw_processes *p, size_t *ret_n)
{
	struct sw_thread_entry *e;
	struct sw_thread *rows;
	size_t n = 0;

	for (e = t->active; e; e = e->next_active)
		n++;
	rows = n ? malloc(n * sizeof(*rows)) : NULL;
	*ret_n = n && !rows ? SIZE_MAX : n;
	if (!rows)
		return NULL;
	n = 0;
	for (e = t->active; e; e = e->next_active)
		rows[n++] = window_row(e, p);
	qsort(rows, n, sizeof(*rows), by_time);
	return rows;
}

/* The same over the whole recording, with its own copies of what it points to. */
static struct sw_thread total_row(struct sw_thread_entry *e, const struct sw_processes *p, unsigned n_domains,
				  char **times, char **texts)
{
	struct sw_thread row = window_row(e, p);

	row.comm = sw_put_text(texts, row.comm);
	row.process_comm = sw_put_text(texts, row.process_comm);
	row.oncpu_ns = e->tally.total_ns;
	row.oncpu_by_domain_ns = sw_put_times(times, e->by_domain_ns + n_domains, n_domains);
	row.nj = e->tally.total_nj;
	return row;
}

struct sw_thread *sw_threads_totals(struct sw_threads *t, const struct sw_processes *p, size_t *ret_n)
{
	struct sw_thread_entry *e;
	struct sw_thread *rows;
	char *times, *texts;
	size_t n = 0;

	for (e = t->table; e; e = e->hh.next)
		n += e->counted;
	rows = n ? malloc(n * (sizeof(*rows) + t->n_domains * sizeof(e->by_domain_ns[0]) + 2 * sizeof(e->comm))) : NULL;
	*ret_n = n && !rows ? SIZE_MAX : n;
	if (!rows)
		return NULL;
	times = (char *)(rows + n);
	texts = times + n * t->n_domains * sizeof(e->by_domain_ns[0]);
	n = 0;
	for (e = t->table; e; e = e->hh.next)
		if (e->counted)
			rows[n++] = total_row(e, p, t->n_domains, &times, &texts);
	qsort(rows, n, sizeof(*rows), by_time);
	return rows;
}

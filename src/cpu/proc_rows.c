/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: keys, and what of the tasks' time is told at a boundary. Must not know: how time was read.
 *
 * Tasks are read one after another, later than the boundary, and not all equally late. So that no window has more time
 * than its CPUs, and no thread more than the window, what exceeds that is kept back and told with the next.
 */
#include "proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void rebase_thread(struct sw_proc_thread *t)
{
	t->value_ns = t->told_ns = 0;
	t->clump = false;
}

/* Off its process's list; it is freed at the next read, for a row may speak of it. */
static void bury(struct sw_proc *b, struct sw_proc_thread **at)
{
	struct sw_proc_thread *t = *at;

	*at = t->next;
	t->next = b->dead;
	b->dead = t;
}

void sw_proc_rebase(struct sw_proc *b)
{
	struct sw_proc_process *p, *next;

	for (p = b->living; p; p = p->hh.next) {
		for (struct sw_proc_thread **at = &p->threads; *at;) {
			rebase_thread(*at);
			if ((*at)->gone)
				bury(b, at);
			else
				at = &(*at)->next;
		}
		rebase_thread(&p->leader);
		p->counted_ns = p->waited_ns;
		p->fresh = false;
		/* that one has ended is no news */
		p->pending = false;
		p->leader.over = p->ended;
	}
	for (p = b->gone; p; p = next) {
		next = p->hh.next;
		HASH_DEL(b->gone, p);
		sw_proc_free_process(b, p);
	}
	b->n_records = b->n_early = b->n_of_threads = 0;
	b->usage.members_lost = b->usage.exits = b->usage.exits_ns = 0;
	b->unseen = b->last_unseen = 0;
}

static bool take_key(struct sw_proc *b, struct sw_proc_thread *t)
{
	if (b->n_free_keys)
		t->key = b->free_keys[--b->n_free_keys];
	else if (b->n_keys < SW_PROC_KEYS)
		t->key = b->n_keys++;
	else
		return false;
	t->key_ns = t->told_ns;
	t->key_domain = t->domain;
	return true;
}

static int add_row(struct sw_proc *b, struct sw_proc_thread *t, bool first, bool last, bool died)
{
	if (b->usage.n_rows == b->rows_capacity) {
		size_t capacity = b->rows_capacity ? 2 * b->rows_capacity : 256;
		struct sw_cpu_row *rows = realloc(b->rows, capacity * sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		b->rows = rows;
		b->rows_capacity = capacity;
	}
	b->rows[b->usage.n_rows++] = (struct sw_cpu_row){
		.key = t->key,
		.first = first,
		.last = last,
		.died = died,
		.described = t->described,
		.domain = t->key_domain,
		.oncpu_ns = t->told_ns - t->key_ns,
		.task = &t->task,
	};
	t->described = false;
	if (last) {
		b->free_keys[b->n_free_keys++] = t->key;
		t->key = SW_PROC_NO_KEY;
	}
	return 0;
}

static uint16_t roomiest(const struct sw_proc *b)
{
	unsigned best = 0;

	for (unsigned d = 1; d < b->n_domains; d++)
		if (b->room_ns[d] > b->room_ns[best])
			best = d;
	return (uint16_t)best;
}

/* A row with so much more in the domain where the thread is now; the end of the one before, if that was elsewhere. */
static int tell(struct sw_proc *b, struct sw_proc_thread *t, uint64_t ns, bool over)
{
	bool first;
	int err = 0;

	if (t->key != SW_PROC_NO_KEY && t->key_domain != t->domain)
		err = add_row(b, t, false, true, false);
	first = t->key == SW_PROC_NO_KEY;
	if (!err && first && !take_key(b, t)) {
		/* more tasks than keys: their time is with the others' of the host */
		b->usage.members_lost++;
		t->told_ns += ns;
		return 0;
	}
	b->room_ns[t->domain] -= ns;
	b->watched_ns[t->domain] += ns;
	t->told_ns += ns;
	return err ? err : add_row(b, t, first, over, over);
}

/*
 * What it had since it was told last, as far as it fits: where it was seen, and then where there is room, for it may have
 * run in more than that domain. `others`: threads of the process are yet to be told of, whatever becomes of the leader.
 */
static int emit_thread(struct sw_proc *b, struct sw_proc_thread *t, uint64_t window_ns, bool others)
{
	uint64_t ns = t->value_ns - t->told_ns, part_ns;
	int err = 0;

	if (!t->clump)
		ns = lower(ns, window_ns);
	if (t->domain == SW_PROC_ANYWHERE)
		t->domain = roomiest(b);
	for (unsigned i = 0; i < b->n_domains && !err && (ns || !i); i++) {
		if (i)
			t->domain = roomiest(b);
		part_ns = lower(ns, b->room_ns[t->domain]);
		ns -= part_ns;
		t->over = t->gone && t->value_ns == t->told_ns + part_ns && !others;
		if (part_ns || t->over)
			err = tell(b, t, part_ns, t->over);
	}
	t->clump &= t->value_ns != t->told_ns;
	return err;
}

static int emit_process(struct sw_proc *b, struct sw_proc_process *p, uint64_t window_ns)
{
	struct sw_proc_thread *t, **at = &p->threads;
	bool all = true;
	int err = 0;

	while ((t = *at) && !err) {
		err = emit_thread(b, t, window_ns, false);
		all &= t->over || (!t->gone && t->value_ns == t->told_ns);
		if (t->over)
			bury(b, at);
		else
			at = &t->next;
	}
	if (!err && !p->leader.over)
		err = emit_thread(b, &p->leader, window_ns, p->threads || !p->ended);
	p->pending = !all || p->leader.value_ns != p->leader.told_ns || (p->ended && !p->leader.over);
	return err;
}

/* Those that were seen, or those that were not. */
static int emit_table(struct sw_proc *b, struct sw_proc_process *table, bool unseen)
{
	uint64_t window_ns = b->t_ns - b->last_t_ns;
	int err = 0;

	for (struct sw_proc_process *p = table; p && !err; p = p->hh.next) {
		if (p->pending && p->unseen == unseen)
			err = emit_process(b, p, window_ns);
		p->fresh = false;
	}
	return err;
}

int sw_proc_emit(struct sw_proc *b)
{
	int err;

	b->usage.n_rows = 0;
	for (unsigned d = 0; d < b->n_domains; d++) {
		b->room_ns[d] = sw_host_room_ns(b->host, d, b->t_ns);
		b->watched_ns[d] = 0;
	}
	err = emit_table(b, b->gone, false);
	if (!err)
		err = emit_table(b, b->living, false);
	if (!err) /* nobody knows where they ran: where there is room */
		err = emit_table(b, b->gone, true);
	if (!err)
		sw_host_add(b->host, b->t_ns, b->watched_ns);
	b->usage.rows = b->rows;
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the end of processes, and the time of those that came and went between two reads. Must not know: how time is
 * read or told.
 *
 * Two things tell of them. A record (taskstats.h) names a task that ended and most of its time, but not what it did
 * from there to its very end. And when a parent waits for a child, the kernel adds all that the child had, and what the
 * child's own children had that it waited for, to the parent's cutime and cstime. What these grow by and nobody was
 * given yet belongs to those that ended below that parent: it is shared among them, and where none is known it is the
 * parent's. So no ns is given twice, and all that was waited for is given, to a clock tick of each parent.
 */
#include "proc.h"

#include "../base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The nearest of its forebears that is there: who has waited for what ended below it. */
static struct sw_proc_process *living_above(struct sw_proc *b, int32_t parent)
{
	struct sw_proc_process *p = NULL;

	for (unsigned depth = 0; parent && depth < 64; depth++) {
		p = sw_proc_find(b->living, parent);
		if (p)
			return p;
		p = sw_proc_find(b->gone, parent);
		if (!p || p->parent == parent)
			break;
		parent = p->parent;
	}
	return NULL;
}

/* What one that ended was given will be in its parent's cutime, and is not to be given again. */
static void count(struct sw_proc *b, int32_t parent, uint64_t ns)
{
	struct sw_proc_process *p = living_above(b, parent);

	if (!p) /* an orphan's new parent; most often this one */
		p = sw_proc_find(b->living, 1);
	if (p)
		p->counted_ns += ns;
}

static void leave_orphans(struct sw_proc *b, const struct sw_proc_process *p)
{
	if (!p->n_children)
		return;
	for (struct sw_proc_process *c = b->living; c; c = c->hh.next)
		c->orphan |= c->parent == p->leader.tid;
}

/* By its record, and beyond what was read of it. Where there is a clock it has told all, unless that is gone, too. */
static void end_thread(struct sw_proc *b, struct sw_proc_thread *t, bool add)
{
	const struct sw_proc_record *record;

	if (t->gone)
		return;
	record = sw_proc_record_of(b, t);
	if (record && record->r.exit_known) {
		t->task.exit_code = record->r.exit_code;
		t->task.exit_known = true;
	}
	if (record) {
		memcpy(t->task.comm, record->r.comm, sizeof(t->task.comm));
		t->described = true;
	}
	if (record && t == &t->process->leader)
		t->process->parent = record->r.ppid;
	if (record && add && record->r.run_ns > t->own_ns) {
		t->process->total_ns += record->r.run_ns - t->own_ns;
		sw_proc_give(t, record->r.run_ns - t->own_ns);
	}
	sw_proc_thread_gone(b, t);
}

void sw_proc_end(struct sw_proc *b, struct sw_proc_process *p, bool gone)
{
	struct sw_proc_process *parent;

	if (!p->ended) {
		for (struct sw_proc_thread *t = p->threads; t; t = t->next)
			end_thread(b, t, gone || !b->clocks);
		end_thread(b, &p->leader, gone || !b->clocks);
		p->ended = p->pending = true;
		p->leader.task.process_ended = true;
		leave_orphans(b, p);
	}
	if (!gone)
		return;
	HASH_DEL(b->living, p);
	p->newly_gone = true;
	HASH_ADD(hh, b->gone, leader.tid, sizeof(p->leader.tid), p);
	parent = sw_proc_find(b->living, p->parent);
	if (parent && parent->n_children)
		parent->n_children--;
	count(b, p->parent, p->total_ns + p->counted_ns);
}

/* A start that no file has told, from its length and an end in this window. */
static uint64_t start_of(const struct sw_taskstats_record *r)
{
	uint64_t now_ns = sw_boottime_ns();

	return now_ns > r->elapsed_ns ? now_ns - r->elapsed_ns : 0;
}

static void describe_unseen(struct sw_proc_thread *t, const struct sw_taskstats_record *r)
{
	t->task.start_boottime_ns = start_of(r);
	memcpy(t->task.comm, r->comm, sizeof(t->task.comm));
	t->described = true;
}

/* One that came and went: of its process, living or not, with so much time. */
static int add_unseen_thread(struct sw_proc *b, struct sw_proc_process *p, struct sw_proc_record *record, uint64_t ns)
{
	struct sw_proc_thread *t = sw_proc_make_thread(b, p, record->r.tid, true);

	if (!t)
		return -ENOMEM;
	record->taken = true;
	describe_unseen(t, &record->r);
	t->domain = p->leader.domain;
	sw_proc_give(t, ns);
	b->usage.exits++;
	b->usage.exits_ns += ns;
	return 0;
}

int sw_proc_unseen_threads(struct sw_proc *b, struct sw_proc_process *p, uint64_t *left_ns)
{
	struct sw_proc_thread *known;
	int err = 0;

	for (size_t i = 0; i < b->n_early && b->n_of_threads && !err; i++) {
		struct sw_proc_record *record = &b->records[i];
		uint64_t ns = record->r.run_ns < *left_ns ? record->r.run_ns : *left_ns;

		if (record->taken || record->r.tgid != p->leader.tid || record->r.tid == record->r.tgid)
			continue;
		HASH_FIND(hh, b->threads, &record->r.tid, sizeof(record->r.tid), known);
		if (known) /* on its way */
			continue;
		*left_ns -= ns;
		err = add_unseen_thread(b, p, record, ns);
	}
	return err;
}

static void describe_unseen_leader(struct sw_proc_process *p, const struct sw_taskstats_record *r)
{
	struct sw_task *k = &p->leader.task;

	describe_unseen(&p->leader, r);
	k->leader_start_boottime_ns = k->start_boottime_ns;
	memcpy(k->process_comm, k->comm, sizeof(k->comm));
	for (struct sw_proc_thread *t = p->threads; t; t = t->next) {
		t->task.leader_start_boottime_ns = k->start_boottime_ns;
		memcpy(t->task.process_comm, k->comm, sizeof(k->comm));
	}
}

/* A process that came and went, as a leader of its own, or as the process of a thread whose record came first. */
static struct sw_proc_process *add_unseen(struct sw_proc *b, const struct sw_taskstats_record *r)
{
	struct sw_proc_process *p = sw_proc_make(r->tgid);

	if (!p)
		return NULL;
	p->parent = p->leader.task.ppid = p->leader.task.here.ppid = r->ppid;
	p->leader.domain = SW_PROC_ANYWHERE;
	p->unseen = p->newly_gone = p->ended = p->pending = p->leader.gone = true;
	p->leader.task.process_ended = true;
	describe_unseen_leader(p, r);
	HASH_ADD(hh, b->gone, leader.tid, sizeof(p->leader.tid), p);
	if (p->hh.tbl)
		return p;
	free(p);
	return NULL;
}

static int give_unseen(struct sw_proc *b, struct sw_proc_process *p, struct sw_proc_record *record)
{
	const struct sw_taskstats_record *r = &record->r;

	p->total_ns += r->run_ns;
	count(b, p->parent, r->run_ns);
	if (r->tid != r->tgid)
		return add_unseen_thread(b, p, record, r->run_ns);
	record->taken = true;
	describe_unseen_leader(p, r);
	p->leader.task.exit_code = r->exit_code;
	p->leader.task.exit_known = r->exit_known;
	sw_proc_give(&p->leader, r->run_ns);
	b->usage.exits++;
	b->usage.exits_ns += r->run_ns;
	return 0;
}

/* 1: it is a member's, and done with; 0: not, or not yet; or -ENOMEM. */
static int resolve(struct sw_proc *b, struct sw_proc_record *record)
{
	const struct sw_taskstats_record *r = &record->r;
	struct sw_proc_process *p = sw_proc_find(b->living, r->tgid);
	bool member;
	int err;

	if (p) {
		/* it ends, and will be found to have ended: the record waits for that, but not if threads go on for long */
		if (r->tid == r->tgid) {
			p->leader.task.exit_code = r->exit_code;
			p->leader.task.exit_known = r->exit_known;
			return 0;
		}
		if (b->clocks)
			return 0;
		p->total_ns += r->run_ns;
		err = add_unseen_thread(b, p, record, r->run_ns);
		return err ? err : 1;
	}
	p = sw_proc_find(b->gone, r->tgid);
	if (p && !p->newly_gone)
		p = NULL;
	member = p || !b->tree ||
		 (b->follows && (sw_proc_find(b->living, r->ppid) || sw_proc_find(b->gone, r->ppid)));
	if (!member)
		return 0;
	if (!p)
		p = add_unseen(b, r);
	err = p ? give_unseen(b, p, record) : -ENOMEM;
	return err ? err : 1;
}

/* Until no more find a parent. What comes while we look is left to the next read, for it may be seen yet. */
static int resolve_all(struct sw_proc *b)
{
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = 0; i < b->n_early; i++) {
			int done = b->records[i].taken ? 0 : resolve(b, &b->records[i]);

			if (done < 0)
				return done;
			again |= done > 0;
		}
	}
	sw_proc_drop_records(b);
	return 0;
}

/* Those that ended in this read, under whom is there to have waited for them. */
static void gather_heirs(struct sw_proc *b)
{
	struct sw_proc_process *p, *above;

	for (p = b->gone; p; p = p->hh.next) {
		above = p->newly_gone && !p->leader.over ? living_above(b, p->parent) : NULL;
		if (!above)
			continue;
		p->next_heir = above->heirs;
		above->heirs = p;
		above->n_heirs++;
	}
}

/* The most that can have been had since the last read, which may have come late. */
static uint64_t possible_ns(const struct sw_proc *b)
{
	uint64_t window_ns = b->t_ns - b->last_t_ns;

	return b->backend.cpus * ((b->passed_ns > window_ns ? b->passed_ns : window_ns) + 2 * sw_ticks_ns(1, b->host->hz));
}

/* What a process waited for and nobody was given. More than can be is that of a stranger, which it adopted. */
static void share_waited(struct sw_proc *b, struct sw_proc_process *p)
{
	uint64_t rest_ns = p->waited_ns > p->counted_ns ? p->waited_ns - p->counted_ns : 0, share_ns;
	bool told_of = b->taskstats || !b->some_unseen;

	if (rest_ns > possible_ns(b))
		rest_ns = 0;
	if (p->waited_ns > p->counted_ns)
		p->counted_ns = p->waited_ns;
	/* it may have been for one that nobody has seen */
	if (b->tree && !told_of && (rest_ns || p->n_waited_faults))
		b->usage.members_lost++;
	share_ns = p->n_heirs ? rest_ns / p->n_heirs : 0;
	for (struct sw_proc_process *heir = p->heirs, *next; heir; heir = next) {
		next = heir->next_heir;
		heir->leader.clump |= share_ns > 0;
		heir->total_ns += share_ns;
		sw_proc_give(&heir->leader, share_ns);
		rest_ns -= share_ns;
		b->usage.exits_ns += share_ns;
		heir->next_heir = NULL;
	}
	p->heirs = NULL;
	p->n_heirs = 0;
	p->leader.clump |= rest_ns > 0;
	sw_proc_give(&p->leader, rest_ns);
	b->usage.exits_ns += rest_ns;
}

/* Of the whole host it is known how many tasks came; not found at two reads, one will not be found any more. */
static void count_unseen(struct sw_proc *b)
{
	int64_t least = b->unseen < b->last_unseen ? b->unseen : b->last_unseen;

	b->last_unseen = b->unseen;
	if (!b->tree && !b->taskstats && least > 0 && (uint64_t)least > b->usage.members_lost)
		b->usage.members_lost = (uint64_t)least;
}

int sw_proc_reckon(struct sw_proc *b)
{
	struct sw_proc_process *p, *next;
	int err = resolve_all(b);

	if (err)
		return err;
	if (b->follows)
		gather_heirs(b);
	for (p = b->living; p && b->follows; p = p->hh.next)
		if (p->waited_ns > p->counted_ns || p->n_heirs || p->n_waited_faults)
			share_waited(b, p);
	count_unseen(b);
	for (p = b->gone; p; p = next) {
		next = p->hh.next;
		p->newly_gone = false;
		if (!p->leader.over)
			continue;
		HASH_DEL(b->gone, p);
		sw_proc_free_process(b, p);
	}
	return 0;
}

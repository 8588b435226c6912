/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The accounting rule. At each switch the stretch since the last one goes to the task that is switched out; a stretch
 * in which a boundary falls is split there. This file also compiles for user space, where the unit tests replay
 * scheduler events on it.
 *
 * Who includes it defines first
 *   struct task_struct, opaque here; SWA_INLINE, SWA_FN (a function that is kept whole);
 *   swa_global: struct swb_global; cfg_tree, cfg_process, cfg_slot_mask;
 *   swa_slot(n), swa_filter(n): an element of the map, or NULL;
 *   swa_now(): the clock;
 *   swa_tid(p), swa_tgid(p), swa_live(p) (threads of its process that live), swa_css(p), swa_is_dead(p): what the
 *   kernel says of task p;
 *   swa_number(c, p), swa_leader(c, p): the address of p, of its process's main thread, as a plain number;
 *   swa_know_cpu(c, p): the CPU's run queue and idle task, where they can be had from p, which runs on it;
 *   swa_run_start(c, p, t): when p, switched out at t, was switched in, or t where that is not kept;
 *   swa_count(c, p): how many switches the run queue has counted; 0 where that is not known;
 *   swa_left(c, p, t, &left): of the expected task, what struct swa_left holds (ran_ns: of the run that began at
 *   since_ns);
 *   swa_create(c, p, task, member), see slots.h; swa_is_start_of(n, ns): does slot n's task have that start time?
 *   swa_describe(p, task, n, enum swa_moment): fill the cold part of slot n, as far as that moment has news.
 *
 * Order of stores. User space reads while CPUs go on. Within a CPU's state it relies on `seq`; for a slot on `epoch`
 * being stored before `acc_ns` moves on, and on reading them the other way round, the epoch twice, microseconds apart.
 * Compilers are held by swa_barrier(); the processor's store buffer drains within the 50 µs that user space waits.
 */
#ifndef SW_ACCOUNT_H
#define SW_ACCOUNT_H

#include "slots.h"

SWA_FN int swa_note(struct swb_cpu *c, __u32 parity, __u32 where, struct swb_slot *s, __u64 late_ns)
{
	struct swb_crossing *x;

	if (!c)
		return 0;
	x = &c->crossing[parity & 1];
	x->origin_ns = c->origin_ns ? c->origin_ns : c->since_ns;
	x->from_ns = c->since_ns;
	x->base_ns = c->bucket_ns[where & 3];
	swa_barrier(); /* as in swa_add() */
	if (s)
		x->base_ns = s->acc_ns;
	for (int i = 0; i < SWB_BUCKETS; i++)
		x->bucket_ns[i] = c->bucket_ns[i];
	x->late_ns = late_ns;
	x->where = where;
	x->before = c->origin_ns ? c->before : where;
	return 0;
}

/* The epoch that T ends. One that was drawn nearer is neither of the pair for a moment: it is the newer one's. */
SWA_INLINE __u32 swa_epoch_of(__u64 T)
{
	__u32 even = swa_global.boundary[0].epoch, odd = swa_global.boundary[1].epoch;

	if (swa_global.boundary[0].T == T)
		return even;
	if (swa_global.boundary[1].T == T)
		return odd;
	return (__s32)(odd - even) > 0 ? odd : even;
}

/*
 * Seldom: a boundary T that this CPU has not seen was announced, or the stretch up to t crosses it. The slot of a
 * stretch that crosses does not go onto the closing list, which may have been read already: the crossing says it.
 */
SWA_FN int swa_boundary(struct swb_cpu *c, __u64 t, __u64 T, __u32 where)
{
	struct swb_slot *s = where >= SWB_FIRST_SLOT ? swa_slot(where) : 0;
	__u32 epoch;
	__u64 b = T;

	if (!c)
		return 0;
	epoch = swa_epoch_of(T);
	if ((__s32)(c->epoch - epoch) < 0) { /* no switch since the last boundary: user space computed what stood there */
		swa_note(c, epoch - 1, where, s, 0);
		c->head[epoch & 1] = 0;
		c->epoch = epoch;
	}
	c->T = T;
	c->limit_ns = T;
	if (t < T)
		return 0;
	if (c->since_ns > T) {
		b = c->since_ns;
		c->late++;
	}
	swa_note(c, epoch, where, s, b - T);
	c->limit_ns = ~0ULL;
	c->epoch = epoch + 1;
	c->head[(epoch + 1) & 1] = 0;
	if (s && (__s32)(s->epoch - (epoch + 1)) >= 0) { /* it was active on a CPU that is ahead, and is on a list there */
		s->at_ns += b - c->since_ns;
		s->acc_ns += b - c->since_ns;
	} else if (s) {
		__u64 acc_ns = s->acc_ns + (b - c->since_ns);

		s->at_ns = acc_ns;
		s->next[(epoch + 1) & 1] = 0;
		c->head[(epoch + 1) & 1] = where;
		swa_barrier();
		s->epoch = epoch + 1;
		swa_barrier();
		s->acc_ns = acc_ns;
	} else {
		c->bucket_ns[where & 3] += b - c->since_ns;
	}
	c->since_ns = b;
	c->origin_ns = 0;
	return 0;
}

/* The stretch up to t, in which no boundary falls, to a slot or a bucket. */
SWA_INLINE void swa_add(struct swb_cpu *c, struct swb_slot *s, __u32 where, __u64 t)
{
	if (s) {
		swa_touch(c, s, where);
		if (s->epoch != c->epoch) /* ahead, see swa_touch(): what it had at the boundary between grows, too */
			s->at_ns += t - c->since_ns;
		s->acc_ns += t - c->since_ns;
		swa_barrier(); /* keeps the compiler from choosing between the two addresses before s is known */
	} else {
		c->bucket_ns[where & 3] += t - c->since_ns;
	}
	c->since_ns = t;
}

/* A stretch up to t that ends without its task's being here to be asked. */
SWA_INLINE void swa_give(struct swb_cpu *c, __u64 t, __u32 where)
{
	struct swb_slot *s = where >= SWB_FIRST_SLOT ? swa_slot(where) : 0;
	__u64 T = swa_once(swa_global.T);

	if (T != c->T || t >= c->limit_ns)
		swa_boundary(c, t, T, where);
	swa_add(c, s, where, t);
}

/*
 * The last switch-out of p. In tree mode a leader that goes first leaves its slots: its id marks the members until the
 * process ends, since a thread that execs takes it over. A leader that was replaced so, and was long in going, knows
 * only who came next: if that one was replaced too, the process seems to have ended, but the id is a third one's.
 */
SWA_FN int swa_died(struct swb_cpu *c, struct task_struct *p)
{
	__u32 tid = swa_tid(p), tgid = swa_tgid(p);
	bool last = !swa_live(p);

	if (!c || (cfg_tree && tid == tgid && !last))
		return 0;
	swa_retire(c, p, swa_number(c, p), tid);
	if (cfg_tree && tid != tgid && last)
		swa_retire(c, 0, swa_leader(c, p), tgid);
	return 0;
}

/* Switches of this CPU that no event showed, up to now; from now on they are known. */
SWA_INLINE __u64 swa_recount(struct swb_cpu *c, struct task_struct *p)
{
	__u64 unseen = swa_count(c, p) - (c->seq >> 1) - c->switches;

	c->switches += unseen;
	return unseen;
}

/*
 * prev is not the task that was switched in, or was it more than once: one switch at least went unseen. If it was just one, the expected task
 * ran until prev did, and the kernel keeps when that was: the start of prev's run, or, where prev is the idle task, how
 * long the expected one ran. If there were more, what lies before prev's own run is lost.
 */
SWA_FN int swa_missed(struct swb_cpu *c, struct task_struct *p, __u64 task, __u64 t)
{
	__u32 where = SWB_LOST_MISSED, found, epoch;
	struct swa_left left = {};
	__u64 origin, from;
	bool one;

	if (!c)
		return 0;
	epoch = c->epoch;
	origin = c->since_ns;
	one = swa_recount(c, p) == 1;
	if (one)
		swa_left(c, p, t, &left);
	if (task != c->idle_task)
		from = swa_run_start(c, p, t);
	else
		from = left.ran_ns && left.ran_ns != SWA_UNKNOWN_END ? origin + left.ran_ns : t;
	if (from < origin || from > t)
		from = t;
	if (from == t)
		one = false; /* not known */
	if (one && c->outside)
		where = SWB_OTHER;
	else if (one && c->running == c->idle_task)
		where = SWB_IDLE;
	else if (one && left.ran_ns && (found = swa_find(c, left.tid, left.css, c->running)))
		where = found;
	c->missed++;
	c->outside = 0;
	swa_give(c, from, where);
	c->renote = c->epoch != epoch && c->limit_ns == c->T; /* the boundary it slept through may lie behind `from` */
	c->origin_ns = origin;
	c->before = where;
	return 0;
}

/* Charge p, which has run on this CPU since the last stretch ended, up to t. */
SWA_INLINE void swa_charge(struct swb_cpu *c, struct task_struct *p, __u64 task, bool expected, __u64 t)
{
	__u64 T = swa_once(swa_global.T);
	__u32 tid = swa_tid(p), where;
	struct swb_slot *s = 0;

	if (!expected)
		swa_missed(c, p, task, t);
	if (cfg_tree && c->outside) {
		where = SWB_OTHER;
	} else if (task == c->idle_task) {
		where = SWB_IDLE;
	} else {
		where = tid & cfg_slot_mask;
		s = where >= SWB_FIRST_SLOT ? swa_slot(where) : 0;
		if (!s || !swa_is_slot_of(s, tid, swa_css(p), task, c->domain)) {
			where = swa_admit(c, p, task);
			s = where >= SWB_FIRST_SLOT ? swa_slot(where) : 0;
		}
	}
	if (!expected && c->renote) {
		swa_note(c, c->epoch - 1, where, s, 0);
		c->renote = 0;
	}
	if (T != c->T || t >= c->limit_ns)
		swa_boundary(c, t, T, where);
	swa_add(c, s, where, t);
	if (!expected)
		c->origin_ns = 0;
}

/*
 * A task was made. Its id may still stand for one whose death no switch showed. It gets its slot now: later its parent
 * may be gone. In tree mode the mark of its parent is handed on; `inherits`: the parent has none yet, but will have.
 */
SWA_FN int swa_newtask(struct swb_cpu *c, __u32 parent_tid, bool inherits, struct task_struct *child, __u64 task)
{
	if (!c)
		return 0;
	swa_drop(c, 0, swa_tid(child), true);
	if (cfg_tree && !inherits && !swa_inside(parent_tid))
		return 0;
	if (swa_create(c, child, task, true) < SWB_FIRST_SLOT && cfg_tree)
		c->members_lost++;
	return 0;
}

/* Whether a child belongs to the target if its parent does. */
SWA_INLINE bool swa_reaches(__u32 parent_tgid, struct task_struct *child)
{
	return !cfg_process || swa_tgid(child) == parent_tgid;
}

/*
 * A task execed. Its names are new. If a thread did it, it took its leader's id and start time over, and with them who
 * it is: the leader's slots are its own now, and what it had as a thread stays under its old id.
 */
SWA_FN int swa_exec(struct swb_cpu *c, struct task_struct *p, __u64 task, __u32 old_tid)
{
	__u32 tid = swa_tid(p), n;
	struct swb_slot *s;
	bool owns = false;

	if (!c || !task)
		return 0;
	if (old_tid != tid) {
		if (c->running == SWB_TID(old_tid))
			c->running = SWB_TID(tid);
		swa_for_ways(n, s, tid) {
			if (!s->task || s->tid != tid)
				continue;
			s->task = task;
			owns = true;
		}
		/* before what marked it goes: it must not be outside for a moment */
		if (cfg_tree && !owns && swa_inside(old_tid) && swa_create(c, p, task, true) < SWB_FIRST_SLOT)
			c->members_lost++;
		swa_drop(c, task, old_tid, false);
	}
	swa_for_ways(n, s, tid) {
		if (s->task != task)
			continue;
		swa_describe(p, task, n, SWA_EXEC);
		swa_barrier();
		s->names++;
	}
	return 0;
}

/* Tree mode: what kind of stretch begins with the task of that id. */
SWA_INLINE bool swa_is_outside(__u32 tid)
{
	return tid && !swa_inside(tid);
}

/* Is p, which this CPU runs, who was switched in, and has been all the while? Asked before seq moves. */
SWA_INLINE bool swa_is_expected(struct swb_cpu *c, struct task_struct *p, bool same)
{
	__u64 count = swa_count(c, p);

	return same && (!count || count == (c->seq >> 1) + c->switches);
}

/* A CPU's first moment. */
SWA_INLINE void swa_begin(struct swb_cpu *c, struct task_struct *p, __u64 running, __u64 t)
{
	swa_know_cpu(c, p);
	swa_recount(c, p);
	c->began_ns = t;
	c->since_ns = t;
	c->limit_ns = ~0ULL;
	swa_barrier();
	c->running = running;
}

/* A CPU that came after the start. It begins with what it switches to: before, it was off. */
SWA_INLINE int swa_first_switch(struct swb_cpu *c, struct task_struct *prev, __u64 running)
{
	if (!swa_global.open)
		return 0;
	c->seq++;
	swa_barrier();
	swa_begin(c, prev, running, swa_now());
	swa_barrier();
	c->seq++;
	return 0;
}

/*
 * A switch: prev, whose address is `task`, is switched out. `running` is the next expected prev, `outside` what kind of
 * stretch begins with it. `expected`: prev is who should have run.
 */
SWA_INLINE int swa_switch(struct swb_cpu *c, struct task_struct *prev, __u64 task, bool expected, __u64 running,
			  bool outside)
{
	c->seq++;
	swa_barrier();
	swa_charge(c, prev, task, expected, swa_now());
	c->running = running;
	if (cfg_tree)
		c->outside = outside;
	if (swa_is_dead(prev))
		swa_died(c, prev); /* to carry `task` so far would double the verifier's work */
	swa_barrier();
	c->seq++;
	return 0;
}

/* From an outsider to another the stretch goes on, and no clock is read. */
SWA_INLINE void swa_pass(struct swb_cpu *c, __u64 running)
{
	c->running = running;
	c->seq += 2;
}

/* Charge p, which runs here, up to now; or let the CPU begin with it. */
SWA_INLINE void swa_snap(struct swb_cpu *c, struct task_struct *p, __u64 task, __u64 running)
{
	bool expected;

	c->snaps++;
	c->switches--; /* seq is about to move without one */
	if (c->running) {
		expected = swa_is_expected(c, p, c->running == running);
		c->seq++;
		swa_barrier();
		swa_charge(c, p, task, expected, swa_now());
		c->running = running;
	} else {
		c->seq++;
		swa_barrier();
		swa_begin(c, p, running, swa_now());
	}
	if (cfg_tree)
		c->outside = swa_is_outside(swa_tid(p));
	swa_barrier();
	c->seq++;
}

#endif

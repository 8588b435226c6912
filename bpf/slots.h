/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of slots: where a task's slots lie, how they are found, made and given up. Part of the rule in account.h,
 * which says what whoever includes it has to define.
 */
#ifndef SW_SLOTS_H
#define SW_SLOTS_H

/*
 * Where a task's slots may lie: its thread id, then strides of an eighth of the table. Neighbours share pages; the next
 * child of a shell lands beside the last one, whose slot is still to be read, where its task_struct's address would be
 * the same again. Strides rather than neighbours, since a run of tasks that own two slots each would fill up a
 * neighbourhood.
 */
#define swa_for_ways(n, s, first)                                                                                      \
	for (int way_ = 0; way_ < SWB_WAYS; way_++)                                                                    \
		if ((n = ((first) + way_ * ((cfg_slot_mask >> 3) + 1)) & cfg_slot_mask) >= SWB_FIRST_SLOT &&           \
		    (s = swa_slot(n)))

/*
 * Tree mode: is the task a member? Ids rather than addresses tell: when a thread execs it takes its leader's id, and the
 * leader has the thread's until it is gone, so that members' ids stay members' ids. The counting filter answers most
 * questions about outsiders with one load.
 */
SWA_INLINE bool swa_inside(__u32 tid)
{
	__u32 *count = swa_filter(tid), n;
	struct swb_slot *s;

	if (!count || !*count)
		return false;
	swa_for_ways(n, s, tid)
		if (s->task && s->tid == tid)
			return true;
	return false;
}

/* One slot of a member more (1) or less (-1). Plain adds, since older kernels have no fetching ones. */
SWA_INLINE void swa_mark(__u32 tid, __u32 by)
{
	__u32 *count = swa_filter(tid);

	if (count)
		__sync_fetch_and_add(count, by);
	__sync_fetch_and_add(&swa_global.held, (__u64)(__s32)by);
}

SWA_INLINE bool swa_is_slot_of(const struct swb_slot *s, __u32 tid, __u64 css, __u64 task, __u16 domain)
{
	return s->task == task && s->css == css && s->domain == domain && s->tid == tid;
}

/* A task's slot in this CPU's domain; 0: none. At a switch the first way is looked at before, in line. */
SWA_FN __u32 swa_find(struct swb_cpu *c, __u32 tid, __u64 css, __u64 task)
{
	struct swb_slot *s;
	__u32 n;

	if (!c)
		return 0;
	swa_for_ways(n, s, tid)
		if (swa_is_slot_of(s, tid, css, task, c->domain))
			return n;
	return 0;
}

/* Onto this CPU's list of what was active in its epoch. */
SWA_INLINE void swa_touch(struct swb_cpu *c, struct swb_slot *s, __u32 n)
{
	__u32 epoch = c->epoch;

	if ((__s32)(s->epoch - epoch) >= 0) /* ahead: after an unseen switch, on a CPU that knows more than this one */
		return;
	s->at_ns = s->acc_ns;
	s->next[epoch & 1] = c->head[epoch & 1];
	c->head[epoch & 1] = n;
	swa_barrier();
	s->epoch = epoch;
	swa_barrier();
}

/*
 * A slot for a task that swa_find() did not find: the same cgroup behind another css_set, another cgroup, another
 * domain, another thread id, or a task new to us. `member`: it belongs to the tree. Returns where its time goes.
 * Whoever includes this defines it, by swa_make(), which takes what the task says of itself.
 */
SWA_FN __u32 swa_create(struct swb_cpu *c, struct task_struct *p, __u64 task, bool member);

SWA_INLINE __u32 swa_make(struct swb_cpu *c, struct task_struct *p, __u64 task, __u32 tid, __u64 start_boottime_ns,
			  __u64 css, __u64 cgroup_id, bool member)
{
	__u32 n, found = 0;
	struct swb_slot *s;

	if (!c || !task)
		return SWB_LOST_SLOTS;
	swa_for_ways(n, s, tid) {
		if (!s->task || s->tid != tid)
			continue;
		member = true;
		/* a thread that execs and is switched before swa_exec() hears of it: it is who its leader was */
		if (s->task != task && swa_is_start_of(n, start_boottime_ns))
			s->task = task;
		if (s->task != task)
			continue;
		if (s->domain == c->domain && s->cgroup_id == cgroup_id) {
			s->css = css;
			found = n;
		} else if (s->css != css || s->cgroup_id != cgroup_id) {
			s->css = 0; /* addresses are used again: it must not come to stand for another cgroup */
		}
	}
	if (found)
		return found;
	if (cfg_tree && !member)
		return SWB_OTHER;
	swa_for_ways(n, s, tid) {
		if (swa_once(s->claim))
			continue;
		/* a plain add, since older kernels have no fetching one: two CPUs that chose the same slot both back out */
		__sync_fetch_and_add(&s->claim, 1);
		if (swa_once(s->claim) != 1) {
			__sync_fetch_and_add(&s->claim, -1);
			continue;
		}
		s->acc_ns = s->at_ns = 0;
		s->epoch = 0;
		s->dead = SWB_ALIVE;
		s->css = css;
		s->cgroup_id = cgroup_id;
		s->domain = c->domain;
		s->tid = tid;
		s->names++;
		swa_describe(p, task, n, SWA_BIRTH);
		if (cfg_tree)
			swa_mark(tid, 1);
		swa_barrier();
		s->task = task;
		return n;
	}
	c->full++;
	return SWB_LOST_SLOTS;
}

/* Less often: the task's slot does not lie first, it has none yet, or the idle task's address is not known. */
SWA_FN __u32 swa_admit(struct swb_cpu *c, struct task_struct *p, __u64 task)
{
	__u32 found;

	if (!c)
		return SWB_LOST_SLOTS;
	if (!swa_tid(p)) { /* every CPU's idle task has id 0; from now on known by its address */
		c->idle_task = task;
		return SWB_IDLE;
	}
	found = swa_find(c, swa_tid(p), swa_css(p), task);
	return found ? found : swa_create(c, p, task, false);
}

/*
 * Slots of an id, of `task` or (0) of any, leave the table; user space frees them when it reads them from the list.
 * p is NULL where the task can no longer be asked.
 */
SWA_FN int swa_retire(struct swb_cpu *c, struct task_struct *p, __u64 task, __u32 tid)
{
	struct swb_slot *s;
	__u32 n;

	if (!c)
		return 0;
	swa_for_ways(n, s, tid) {
		if (!s->task || s->tid != tid || (task && s->task != task))
			continue;
		swa_touch(c, s, n);
		if (p)
			swa_describe(p, s->task, n, SWA_DEATH);
		s->names++;
		if (cfg_tree)
			swa_mark(tid, -1);
		s->task = 0;
		swa_barrier();
		s->dead = SWB_DIED;
	}
	return 0;
}

/*
 * Slots that lost their task outside a switch leave the table. They may be on no list, and hooks must not touch lists
 * (the CPU they run on may stand in an epoch that was read already), so user space is told to look for them.
 * Selected are those of `task` with thread id `tid`; with `others`, those of any other task with that id.
 */
SWA_INLINE void swa_drop(struct swb_cpu *c, __u64 task, __u32 tid, bool others)
{
	struct swb_slot *s;
	__u32 n;

	swa_for_ways(n, s, tid) {
		__u64 holder = s->task;

		if (!holder || (holder != task) != others || s->tid != tid)
			continue;
		if (cfg_tree)
			swa_mark(tid, -1);
		s->task = 0;
		swa_barrier();
		s->dead = SWB_REKEYED;
		swa_barrier();
		c->unlisted++;
	}
}

/* The slot of a task that has ended without a switch that was seen. Asked for by user space, so it sweeps anyway. */
SWA_INLINE void swa_bury(struct swb_cpu *c, struct swb_slot *s, __u64 task)
{
	if (!task || s->task != task)
		return;
	if (cfg_tree)
		swa_mark(s->tid, -1);
	s->task = 0;
	s->names++;
	swa_barrier();
	s->dead = SWB_DIED;
	swa_barrier();
	c->unlisted++;
}

#endif

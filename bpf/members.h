/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who belongs to a watched tree, in which cgroup a task is, and what number it has in another pid namespace: all that
 * is asked when a task is new, by probe reads on bare addresses. Functions that are not static here are verified once,
 * by themselves, however often and from wherever they are called: so they take numbers only.
 * Sources: include/linux/pid.h, kernel/cgroup/cgroup.c, kernel/exit.c (forget_original_parent), kernel/time/namespace.c.
 */
#ifndef SW_MEMBERS_H
#define SW_MEMBERS_H

#define CHAIN_MAX 64     /* generations */
#define CHILDREN_MAX 512
#define GROUP_DEPTH_MAX 64

/* The number of a struct pid in user space's pid namespace; 0: not visible there. */
SWA_INLINE u32 number_here(struct pid *pid)
{
	u64 level = swa_global.pid_ns_level;
	u64 at = bpf_core_field_offset(struct pid, numbers) + level * bpf_core_type_size(struct upid);
	struct upid there = {};

	if (!pid || level > 32 || BPF_CORE_READ(pid, level) < level) /* 32: MAX_PID_NS_LEVEL */
		return 0;
	bpf_core_read(&there.ns, sizeof(there.ns), (void *)pid + at + bpf_core_field_offset(struct upid, ns));
	bpf_core_read(&there.nr, sizeof(there.nr), (void *)pid + at + bpf_core_field_offset(struct upid, nr));
	return (u64)there.ns == swa_global.pid_ns ? there.nr : 0;
}

WHOLE int tgid_here(u64 address)
{
	struct task_struct *p = (struct task_struct *)address;

	if (!swa_global.pid_ns_level)
		return BPF_CORE_READ(p, tgid);
	return number_here(BPF_CORE_READ(p, group_leader, thread_pid));
}

/* A member, a process of the target, or one that lost its parent after we had begun to look. */
WHOLE int is_member(u64 address)
{
	struct task_struct *p = (struct task_struct *)address;
	u32 tid = BPF_CORE_READ(p, pid), here = tgid_here(address);
	u64 *start;

	if (bpf_map_lookup_elem(&roots, &here) || swa_inside(tid))
		return 1;
	start = bpf_map_lookup_elem(&bereaved, &tid);
	return start && *start == BPF_CORE_READ(p, start_boottime);
}

/*
 * Does a task belong to the target: is it a member, or does its chain of parents reach one? While the scan goes on,
 * every link that breaks is noted by bereave() before it does, so that the answer is right at any moment.
 */
WHOLE int descends(u64 address)
{
	struct task_struct *p = (struct task_struct *)address;
	struct swb_cpu *c = this_cpu();

	for (int i = 0; i < CHAIN_MAX; i++) {
		if (is_member((u64)p))
			return 1;
		if (cfg_process)
			return 0;
		/* a thread is in if its process is, whose parent may be gone */
		if (is_member((u64)BPF_CORE_READ(p, group_leader)))
			return 1;
		if (BPF_CORE_READ(p, tgid) <= 1)
			return 0;
		p = BPF_CORE_READ(p, real_parent);
	}
	if (c)
		c->members_lost++; /* who knows */
	return 0;
}

WHOLE int remember(u64 link)
{
	struct task_struct *child = (void *)(link - bpf_core_field_offset(struct task_struct, sibling));
	u64 start = BPF_CORE_READ(child, start_boottime);
	u32 tid = BPF_CORE_READ(child, pid);

	if (bpf_map_update_elem(&bereaved, &tid, &start, BPF_ANY))
		return 0;
	__sync_fetch_and_add(&swa_global.remembered, 1);
	return 1;
}

/*
 * The children of a thread, before they are given away. The list may change under us (another thread of the process
 * reaps one): a child that was taken off leads to itself, and we begin anew. 0: some may be missing.
 */
WHOLE int remember_children(u64 address)
{
	u64 head = address + bpf_core_field_offset(struct task_struct, children);
	u64 at = head, next = 0;

	for (int i = 0; i < CHILDREN_MAX; i++) {
		bpf_core_read(&next, sizeof(next), (void *)at + bpf_core_field_offset(struct list_head, next));
		if (next == head)
			return 1;
		if (!next)
			return 0;
		if (next != at && !remember(next))
			return 0;
		at = next == at ? head : next;
	}
	return 0;
}

#define for_group_ways(i, g, id)                                                                                       \
	for (int way_ = 0; way_ < SWB_WAYS; way_++)                                                                    \
		if ((i = ((u32)(id) + way_ * ((cfg_group_mask >> 3) + 1)) & cfg_group_mask, g = bpf_map_lookup_elem(&groups, &i)))

/* Note a cgroup. 1: it was known, and so is all above it. */
WHOLE int note_group(u64 address)
{
	struct cgroup *cgroup = (struct cgroup *)address;
	u64 id = BPF_CORE_READ(cgroup, kn, id);
	const char *name = BPF_CORE_READ(cgroup, kn, name);
	struct swb_group *g;
	u32 i;

	for_group_ways(i, g, id)
		if (g->id == id && swa_once(g->state))
			return 1;
	for_group_ways(i, g, id) {
		if (swa_once(g->claim))
			continue;
		__sync_fetch_and_add(&g->claim, 1); /* as in swa_create() */
		if (swa_once(g->claim) != 1) {
			__sync_fetch_and_add(&g->claim, -1);
			continue;
		}
		g->id = id;
		g->parent_id = BPF_CORE_READ(cgroup, self.parent, cgroup, kn, id);
		bpf_probe_read_kernel_str(g->name, sizeof(g->name), name);
		swa_barrier();
		g->state = SWB_GROUP_READY;
		swa_barrier();
		__sync_fetch_and_add(&swa_global.groups, 1);
		return 0;
	}
	return 0; /* user space has to ask cgroupfs */
}

/* Note a task's cgroup and all above it. */
WHOLE int note_groups(u64 address)
{
	struct task_struct *p = (struct task_struct *)address;
	struct cgroup *cgroup = BPF_CORE_READ(p, cgroups, dfl_cgrp);

	for (int i = 0; i < GROUP_DEPTH_MAX && cgroup; i++) {
		if (note_group((u64)cgroup))
			break;
		cgroup = BPF_CORE_READ(cgroup, self.parent, cgroup);
	}
	return 0;
}

WHOLE int describe_whole(u64 task, u32 n, u32 moment)
{
	struct task_struct *p = (struct task_struct *)task;
	struct swb_cold *cold = swa_cold(n);

	if (!cold)
		return 0;
	describe(p, cold, moment, false);
	if (moment != SWA_BIRTH)
		return 0;
	if (swa_global.pid_ns_level) {
		cold->tid_here = number_here(BPF_CORE_READ(p, thread_pid));
		cold->tgid_here = tgid_here(task);
		cold->ppid_here = tgid_here((u64)BPF_CORE_READ(p, real_parent));
	}
	note_groups(task);
	return 0;
}

WHOLE int create_whole(u64 task, u32 member)
{
	struct task_struct *p = (struct task_struct *)task;
	struct swb_cpu *c = this_cpu();

	return swa_make(c, p, task, BPF_CORE_READ(p, pid), BPF_CORE_READ(p, start_boottime),
			(u64)BPF_CORE_READ(p, cgroups), BPF_CORE_READ(p, cgroups, dfl_cgrp, kn, id), member);
}

/*
 * Of the task of a slot that is in use: its names anew, or, if it has ended unseen, its end. 1: somebody else lives at
 * its address. Memory of a task that is gone looks so, but so does a thread in the midst of an exec, which has its
 * leader's id already; so only `bury` makes that an end.
 */
WHOLE int ask_again(u32 n, u32 bury)
{
	struct swb_slot *s = swa_slot(n);
	struct swb_cold *cold = swa_cold(n);
	struct swb_cpu *c = this_cpu();
	u64 task = s ? swa_once(s->task) : 0;
	struct task_struct *p = (struct task_struct *)task;

	if (!cold || !task || !c)
		return 0;
	if ((u32)BPF_CORE_READ(p, pid) != s->tid || BPF_CORE_READ(p, start_boottime) != cold->start_boottime_ns) {
		if (bury)
			swa_bury(c, s, task);
		return !bury;
	}
	if (!is_dead(p, false) || BPF_CORE_READ(p, on_cpu)) {
		describe_whole(task, n, SWA_RAN);
		s->names++;
		return 0;
	}
	if (cfg_tree && s->tid == cold->tgid && BPF_CORE_READ(p, signal, live.counter)) /* see swa_died() */
		return 0;
	describe_whole(task, n, SWA_DEATH);
	swa_bury(c, s, task);
	return 0;
}

/* In which namespaces the caller lives. */
SWA_INLINE void find_self(void)
{
	struct task_struct *me = (struct task_struct *)bpf_get_current_task();
	struct pid *pid = BPF_CORE_READ(me, thread_pid);
	u64 level = BPF_CORE_READ(pid, level);
	u64 at = bpf_core_field_offset(struct pid, numbers) + level * bpf_core_type_size(struct upid);
	struct time_namespace *time;
	struct pid_namespace *ns = 0;

	bpf_core_read(&ns, sizeof(ns), (void *)pid + at + bpf_core_field_offset(struct upid, ns));
	swa_global.pid_ns = (u64)ns;
	swa_global.pid_ns_level = level;
	if (!bpf_core_field_exists(struct nsproxy, time_ns)) /* before 5.6, and without CONFIG_TIME_NS */
		return;
	time = BPF_CORE_READ(me, nsproxy, time_ns);
	swa_global.monotonic_ahead_ns = BPF_CORE_READ(time, offsets.monotonic.tv_sec) * 1000000000LL +
					BPF_CORE_READ(time, offsets.monotonic.tv_nsec);
	swa_global.boottime_ahead_ns = BPF_CORE_READ(time, offsets.boottime.tv_sec) * 1000000000LL +
				       BPF_CORE_READ(time, offsets.boottime.tv_nsec);
}

#endif

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How this kernel is asked: the answers that account.h wants. A field is loaded straight where the verifier knows the
 * type of the pointer, and by probe read where it is a bare number.
 * Sources: include/linux/sched.h, include/linux/sched/signal.h, kernel/sched/sched.h, kernel/exit.c.
 */
#ifndef SW_KERNEL_H
#define SW_KERNEL_H

/* A task's field: straight where the verifier knows the pointer's type, by probe read where it is a bare number. */
#define TASK(p, field) (cfg_direct ? (p)->field : BPF_CORE_READ(p, field))

SWA_INLINE u32 swa_tid(struct task_struct *p)
{
	return TASK(p, pid);
}

SWA_INLINE u32 swa_tgid(struct task_struct *p)
{
	return TASK(p, tgid);
}

/* The last thread has reaped its leader when it gets here: then there is no signal_struct, and this reads 0. */
SWA_INLINE u32 swa_live(struct task_struct *p)
{
	return cfg_direct ? p->group_leader->signal->live.counter : BPF_CORE_READ(p, group_leader, signal, live.counter);
}

SWA_INLINE u64 swa_css(struct task_struct *p)
{
	return (u64)TASK(p, cgroups);
}

SWA_INLINE u64 swa_cgroup_id(struct task_struct *p)
{
	return cfg_direct ? p->cgroups->dfl_cgrp->kn->id : BPF_CORE_READ(p, cgroups, dfl_cgrp, kn, id);
}

SWA_INLINE u64 swa_now(void)
{
	return bpf_ktime_get_ns();
}

SWA_INLINE void swa_know_cpu(struct swb_cpu *c, struct task_struct *p)
{
	if (!bpf_core_field_exists(p->se.cfs_rq))
		return;
	c->rq = (u64)(cfg_direct ? p->se.cfs_rq->rq : BPF_CORE_READ(p, se.cfs_rq, rq));
	c->idle_task = (u64)(cfg_direct ? p->se.cfs_rq->rq->idle : BPF_CORE_READ(p, se.cfs_rq, rq, idle));
}

/* The event's own prev_state hides TASK_DEAD; 5.14 renamed the field, and some older kernels took that over. */
SWA_INLINE bool is_dead(struct task_struct *p, bool direct)
{
	struct task_struct___old *old = (struct task_struct___old *)p;

	if (bpf_core_field_exists(p->__state))
		return (direct ? p->__state : BPF_CORE_READ(p, __state)) & TASK_DEAD;
	return (direct ? old->state : BPF_CORE_READ(old, state)) & TASK_DEAD;
}

SWA_INLINE bool swa_is_dead(struct task_struct *p)
{
	return is_dead(p, cfg_direct);
}

/* The run queue's clock stands still while the scheduler holds its lock, so this is the length of p's run. */
SWA_INLINE u64 swa_run_start(struct swb_cpu *c, struct task_struct *p, u64 t)
{
	u64 arrival, clock;

	if (!bpf_core_field_exists(p->sched_info.last_arrival) || !bpf_core_field_exists(p->se.cfs_rq))
		return t;
	arrival = TASK(p, sched_info.last_arrival);
	clock = cfg_direct ? p->se.cfs_rq->rq->clock : BPF_CORE_READ(p, se.cfs_rq, rq, clock);
	return arrival && arrival <= clock ? t - (clock - arrival) : t;
}

SWA_INLINE u64 swa_count(struct swb_cpu *c, struct task_struct *p)
{
	if (!bpf_core_field_exists(p->se.cfs_rq))
		return 0;
	return cfg_direct ? p->se.cfs_rq->rq->nr_switches : BPF_CORE_READ(p, se.cfs_rq, rq, nr_switches);
}

/*
 * The run that began when x was last switched in, if it has ended: its start is kept in the run queue's clock, its end
 * (when its run time was last brought up to date) in clock_task. 0: x runs, or the two do not fit each other.
 */
SWA_INLINE u64 last_run_ns(struct rq *rq, struct task_struct *x, u64 *arrival)
{
	u64 clock = BPF_CORE_READ(rq, clock);
	u64 end = BPF_CORE_READ(x, se.exec_start) + clock - BPF_CORE_READ(rq, clock_task);

	*arrival = BPF_CORE_READ(x, sched_info.last_arrival);
	if (!*arrival || BPF_CORE_READ(x, on_cpu) || end <= *arrival)
		return 0;
	/* x is just being switched in again: that has wiped out when it left */
	return end >= clock ? SWA_UNKNOWN_END : end - *arrival;
}

SWA_INLINE void swa_left(struct swb_cpu *c, struct task_struct *p, u64 t, struct swa_left *left)
{
	struct task_struct *x = (struct task_struct *)swa_once(c->running);
	struct rq *rq = (struct rq *)swa_once(c->rq);
	u64 arrival, ago;

	if (!cfg_probe || cfg_by_tid || !rq || !bpf_core_field_exists(p->sched_info.last_arrival))
		return;
	left->tid = BPF_CORE_READ(x, pid);
	left->css = (u64)BPF_CORE_READ(x, cgroups);
	left->ran_ns = last_run_ns(rq, x, &arrival);
	/* is that still the run that we saw begin, or has x run elsewhere since? */
	ago = BPF_CORE_READ(rq, clock) - arrival;
	if (ago + RUN_SLACK_NS < t - c->since_ns || ago > t - c->since_ns + RUN_SLACK_NS)
		left->ran_ns = 0;
}

SWA_INLINE void copy_comm(char *to, struct task_struct *p, bool direct)
{
	if (direct) { /* no helper, so that it works where lockdown forbids probe reads */
		u64 *from = (u64 *)__builtin_preserve_access_index(&p->comm);

		((u64 *)to)[0] = from[0];
		((u64 *)to)[1] = from[1];
	} else {
		bpf_core_read(to, COMM_LEN, &p->comm);
	}
}

/*
 * The wait status of p's process, as wait_task_zombie() in kernel/exit.c finds it: of exit_group() or a fatal signal if
 * there was one, else what its main thread left. Without a signal_struct the main thread's says it, too.
 */
SWA_INLINE u32 exit_code(struct task_struct *leader, bool direct)
{
	u32 flags = direct ? leader->signal->flags : BPF_CORE_READ(leader, signal, flags);

	if (flags & SIGNAL_GROUP_EXIT)
		return direct ? leader->signal->group_exit_code : BPF_CORE_READ(leader, signal, group_exit_code);
	return direct ? leader->exit_code : BPF_CORE_READ(leader, exit_code);
}

/* `direct` is a constant: one of the two ways is not there for the verifier. */
SWA_INLINE void describe(struct task_struct *p, struct swb_cold *cold, u32 moment, bool direct)
{
	struct task_struct *leader = direct ? p->group_leader : BPF_CORE_READ(p, group_leader);

	if (moment == SWA_BIRTH) {
		cold->start_boottime_ns = direct ? p->start_boottime : BPF_CORE_READ(p, start_boottime);
		cold->leader_start_boottime_ns = direct ? leader->start_boottime : BPF_CORE_READ(leader, start_boottime);
		cold->tgid = direct ? p->tgid : BPF_CORE_READ(p, tgid);
		cold->ppid = direct ? p->real_parent->tgid : BPF_CORE_READ(p, real_parent, tgid);
		cold->flags = direct ? p->flags : BPF_CORE_READ(p, flags);
		cold->live = 1;
		cold->exit_known = cold->execs = 0;
		cold->tgid_here = cold->tid_here = cold->ppid_here = 0;
	}
	if (moment == SWA_DEATH) {
		cold->live = direct ? leader->signal->live.counter : BPF_CORE_READ(leader, signal, live.counter);
		cold->exit_code = exit_code(leader, direct);
		cold->exit_known = 1;
	}
	if (moment == SWA_EXEC)
		cold->execs++;
	copy_comm(cold->comm, p, direct);
	copy_comm(cold->leader_comm, leader, direct);
}

/* The verifier forbids arithmetic on addresses, but not on what was loaded from memory. */
SWA_INLINE u64 swa_number(struct swb_cpu *c, struct task_struct *p)
{
	c->scratch = (u64)p;
	return swa_once(c->scratch);
}

SWA_INLINE u64 swa_leader(struct swb_cpu *c, struct task_struct *p)
{
	return swa_number(c, TASK(p, group_leader));
}

#endif

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The program in the kernel: one hook on sched_switch in three flavours, of which one is loaded; two hooks where
 * identities change; and three programs that user space runs: snap() settles a CPU, peek() looks what every CPU really
 * runs, scan() marks the tasks of a tree. The rule itself is in account.h; here is how this kernel is asked.
 * Sources: include/trace/events/sched.h, include/trace/events/task.h, kernel/sched/core.c (__schedule), kernel/sched/stats.h.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "schedwatt_bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define SWA_INLINE static __always_inline
#define SWA_FN static __noinline
#define TASK_DEAD 0x80
#define COMM_LEN 16
#define ROOTS_MAX 64
#define RUN_SLACK_NS 50000 /* by how much the run queue's clock may lag behind a switch */
#define PEEK_SLACK_NS 200000 /* and the clock of the CPU that peeks, which has switched just now */

/* Set before load; what is off is not even there for the verifier. */
const volatile __u8 cfg_tree;
const volatile __u8 cfg_direct; /* bpf_get_current_task_btf() exists: fields are loaded straight, else by probe read */
const volatile __u8 cfg_probe;  /* memory may be read by helper: lockdown can forbid that */
const volatile __u8 cfg_by_tid; /* the classic event: swb_cpu.running is SWB_TID() */
const volatile __u32 cfg_slot_mask;
const volatile __u32 cfg_cpus;       /* possible */
const volatile __u32 cfg_roots;      /* entries of cfg_root */
const volatile __s32 cfg_root[ROOTS_MAX]; /* process ids as the loader sees them */
const volatile __u32 cfg_drop_every; /* test seam: leave out one switch in so many */

struct swb_global swa_global SEC(".data.g");
__u64 dropped; /* test seam */

struct swb_filter {
	u32 count[2]; /* map elements have a stride of 8 bytes */
};

/* The sizes are set at load: possible CPUs, slots, slots, slots / 2. */
#define SWB_ARRAY(name, vtype)                                                                                       \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                                      \
		__uint(map_flags, BPF_F_MMAPABLE);                                                                     \
		__uint(max_entries, 1);                                                                                \
		__type(key, u32);                                                                                      \
		__type(value, vtype);                                                                                  \
	} name SEC(".maps")

SWB_ARRAY(cpus, struct swb_cpu);
SWB_ARRAY(slots, struct swb_slot);
SWB_ARRAY(cold, struct swb_cold);
SWB_ARRAY(filter, struct swb_filter);

SWA_INLINE struct swb_slot *swa_slot(u32 n)
{
	return bpf_map_lookup_elem(&slots, &n);
}

SWA_INLINE struct swb_cold *swa_cold(u32 n)
{
	return bpf_map_lookup_elem(&cold, &n);
}

SWA_INLINE u32 *swa_filter(u32 tid)
{
	u32 k = (tid & cfg_slot_mask) / 2;
	struct swb_filter *f = bpf_map_lookup_elem(&filter, &k);

	return f ? &f->count[tid & 1] : 0;
}

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
	left->dead = is_dead(x, false);
	left->ran_ns = last_run_ns(rq, x, &arrival);
	/* is that still the run that we saw begin, or has x run elsewhere since? */
	ago = BPF_CORE_READ(rq, clock) - arrival;
	if (ago + RUN_SLACK_NS < t - c->since_ns || ago > t - c->since_ns + RUN_SLACK_NS)
		left->ran_ns = 0;
}

SWA_INLINE void copy_comm(char *to, struct task_struct *p)
{
	if (cfg_direct) { /* no helper, so that it works where lockdown forbids probe reads */
		u64 *from = (u64 *)__builtin_preserve_access_index(&p->comm);

		((u64 *)to)[0] = from[0];
		((u64 *)to)[1] = from[1];
	} else {
		bpf_core_read(to, COMM_LEN, &p->comm);
	}
}

SWA_INLINE void swa_describe(struct task_struct *p, struct swb_cold *cold, bool birth)
{
	struct task_struct *leader = TASK(p, group_leader);

	if (birth) {
		cold->start_boottime_ns = TASK(p, start_boottime);
		cold->leader_start_boottime_ns = TASK(leader, start_boottime);
		cold->tgid = TASK(p, tgid);
		cold->ppid = cfg_direct ? p->real_parent->tgid : BPF_CORE_READ(p, real_parent, tgid);
		cold->flags = TASK(p, flags);
	}
	cold->exit_code = TASK(p, exit_code);
	cold->live = swa_live(p);
	copy_comm(cold->comm, p);
	copy_comm(cold->leader_comm, leader);
}

/* The verifier forbids arithmetic on addresses, but not on what was loaded from memory. */
SWA_INLINE u64 swa_number(struct swb_cpu *c, struct task_struct *p)
{
	c->scratch = (u64)p;
	return swa_once(c->scratch);
}

#include "account.h"

SWA_INLINE struct swb_cpu *this_cpu(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &cpu);
}

SWA_INLINE struct task_struct *current_task(void)
{
	return cfg_direct ? bpf_get_current_task_btf() : (struct task_struct *)bpf_get_current_task();
}

/*
 * swa_number() where a switch may come between store and load (a kernel whose tracepoints can be preempted): what another
 * hook left there is not ours. 0 then, which no task is.
 */
SWA_INLINE u64 swa_hook_number(struct swb_cpu *c, struct task_struct *p)
{
	u64 number;

	c->hook_scratch = (u64)p;
	number = swa_once(c->hook_scratch);
	__asm__ volatile("" : "+r"(number));
	return number == (u64)p ? swa_once(number) : 0;
}

SWA_INLINE bool drop_this(void)
{
	return cfg_drop_every && ++dropped % cfg_drop_every == 0;
}

/* All flavours. `expected` and `task` are worked out by the caller, who knows what kind of address it was given. */
SWA_INLINE int switched(struct swb_cpu *c, struct task_struct *prev, u64 task, bool expected, u64 running, u32 next_tid)
{
	bool outside = cfg_tree && swa_is_outside(next_tid);

	if (outside && c->outside && expected) { /* the stretch of outsiders goes on: no clock */
		swa_pass(c, running);
		return 0;
	}
	return swa_switch(c, prev, task, expected, running, outside);
}

/* 5.18 added a fourth argument: three load everywhere. */
SEC("tp_btf/sched_switch")
int BPF_PROG(switch_btf, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct swb_cpu *c = this_cpu();
	u64 task, running;
	bool expected;

	if (!c || drop_this())
		return 0;
	task = running = swa_once(c->running);
	/* else the compiler, knowing the two equal, goes on with the pointer that the verifier does not let us store */
	__asm__ volatile("" : "+r"(running));
	if (!running)
		return swa_first_switch(c, prev, (u64)next);
	expected = running == (u64)prev;
	if (!expected)
		task = swa_number(c, prev);
	expected = swa_is_expected(c, prev, expected);
	return switched(c, prev, task, expected, (u64)next, cfg_tree ? TASK(next, pid) : 0);
}

SEC("raw_tp/sched_switch")
int switch_raw(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *prev = current_task(), *next = (struct task_struct *)ctx->args[2];
	struct swb_cpu *c = this_cpu();
	u64 task = ctx->args[1];

	if (!c || drop_this())
		return 0;
	if (!c->running)
		return swa_first_switch(c, prev, (u64)next);
	return switched(c, prev, task, swa_is_expected(c, prev, c->running == task), (u64)next,
			cfg_tree ? BPF_CORE_READ(next, pid) : 0);
}

/* The classic event tells ids only. */
SEC("tp/sched/sched_switch")
int switch_tp(struct trace_event_raw_sched_switch *ctx)
{
	struct task_struct *prev = current_task();
	struct swb_cpu *c = this_cpu();
	u32 next_tid = ctx->next_pid;
	bool expected;

	if (!c || drop_this())
		return 0;
	if (!c->running)
		return swa_first_switch(c, prev, SWB_TID(next_tid));
	expected = swa_is_expected(c, prev, c->running == SWB_TID(swa_tid(prev)));
	return switched(c, prev, swa_number(c, prev), expected, SWB_TID(next_tid), next_tid);
}

/* Charge what runs here up to now. test_run on a CPU: at the start, and for one whose state will not settle. */
SEC("raw_tp")
int snap(void *ctx)
{
	struct task_struct *p = current_task();
	struct swb_cpu *c = this_cpu();
	u64 task;

	if (!c)
		return 0;
	task = swa_number(c, p);
	swa_snap(c, p, task, cfg_by_tid ? SWB_TID(swa_tid(p)) : task);
	return 0;
}

/* As swa_missed(), for a stretch that goes on: how long did the expected task run before curr? */
SWA_INLINE void peek_left(struct swb_cpu *c, struct rq *rq, struct task_struct *curr, u64 clock_to_ns)
{
	struct task_struct *x = (struct task_struct *)swa_once(c->running);
	u64 ran, arrival, next_arrival;

	if (!bpf_core_field_exists(x->sched_info.last_arrival) || c->seen_unseen != 1)
		return;
	c->left_tid = BPF_CORE_READ(x, pid);
	c->left_css = (u64)BPF_CORE_READ(x, cgroups);
	ran = last_run_ns(rq, x, &arrival);
	/* is that still the run that we saw begin, or has x run elsewhere since? */
	if (!clock_to_ns || arrival + clock_to_ns - c->since_ns + PEEK_SLACK_NS > 2 * PEEK_SLACK_NS)
		return;
	next_arrival = BPF_CORE_READ(curr, sched_info.last_arrival);
	if (ran && (u64)curr != c->idle_task)
		ran = next_arrival > arrival ? next_arrival - arrival : 0;
	if (ran == SWA_UNKNOWN_END)
		ran = 0;
	c->left_ran_ns = ran;
}

/*
 * What does each CPU really run? Not what it should: a switch went unseen, and its running time is nobody's. Reads all
 * CPUs from here, without an interrupt to any. Without group scheduling a task does not lead to its run queue; then
 * the expected task is asked whether it is on a CPU.
 */
SEC("raw_tp")
int peek(void *ctx)
{
	struct swb_cpu *here = this_cpu();
	struct rq *rq_here = here ? (struct rq *)swa_once(here->rq) : 0;
	u64 clock_to_ns = 0;

	swa_global.now_ns = bpf_ktime_get_ns();
	if (rq_here)
		clock_to_ns = swa_global.now_ns - BPF_CORE_READ(rq_here, clock);
	for (u32 i = 0; i < cfg_cpus; i++) {
		u32 k = i;
		struct task_struct *curr = 0;
		struct swb_cpu *c;
		struct rq *rq;
		int on_cpu = 0;

		__asm__ volatile("" : "+r"(k)); /* a counter whose address is taken would have no bounds any more */
		c = bpf_map_lookup_elem(&cpus, &k);
		if (!c)
			break;
		c->seen_seq = swa_once(c->seq);
		swa_barrier();
		rq = (struct rq *)swa_once(c->rq);
		if (rq) {
			curr = BPF_CORE_READ(rq, curr);
		} else if (!cfg_by_tid) {
			curr = (struct task_struct *)swa_once(c->running);
			bpf_core_read(&on_cpu, sizeof(on_cpu), &curr->on_cpu);
			if (!on_cpu)
				curr = 0;
		}
		c->seen_tid = BPF_CORE_READ(curr, pid);
		c->seen_css = (u64)BPF_CORE_READ(curr, cgroups);
		c->seen_task = (u64)curr;
		c->left_ran_ns = 0;
		c->seen_unseen = rq ? BPF_CORE_READ(rq, nr_switches) + 1 - (c->seen_seq >> 1) - c->switches : 0;
		if (rq && !cfg_by_tid && (u64)curr != swa_once(c->running))
			peek_left(c, rq, curr, clock_to_ns);
	}
	return 0;
}

/* A process id as the reader of the iterator sees it; 0 when it cannot. */
SWA_INLINE s32 tgid_here(struct task_struct *p)
{
	struct task_struct *reader = current_task();
	struct pid *mine = BPF_CORE_READ(reader, thread_pid), *its = BPF_CORE_READ(p, group_leader, thread_pid);
	u32 level = BPF_CORE_READ(mine, level);
	struct upid here = {}, there = {};
	u64 at = bpf_core_field_offset(struct pid, numbers) + (u64)level * bpf_core_type_size(struct upid);

	if (BPF_CORE_READ(its, level) < level)
		return 0;
	bpf_core_read(&here.ns, sizeof(here.ns), (void *)mine + at + bpf_core_field_offset(struct upid, ns));
	bpf_core_read(&there.ns, sizeof(there.ns), (void *)its + at + bpf_core_field_offset(struct upid, ns));
	bpf_core_read(&there.nr, sizeof(there.nr), (void *)its + at + bpf_core_field_offset(struct upid, nr));
	return here.ns == there.ns ? there.nr : 0;
}

/* Mark the members of the trees. Read again until a pass adds none: a child may lie before its parent. */
SEC("iter/task")
int scan(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct swb_cpu *c = this_cpu();
	bool member = false;
	s32 tgid;

	if (!p || !c || swa_inside(swa_tid(p)))
		return 0;
	tgid = tgid_here(p);
	for (u32 i = 0; i < cfg_roots && i < ROOTS_MAX; i++)
		if (tgid && cfg_root[i] == tgid)
			member = true;
	if (!member)
		member = swa_inside(BPF_CORE_READ(p, real_parent, pid));
	if (!member)
		return 0;
	if (swa_create(c, p, swa_hook_number(c, p), true) < SWB_FIRST_SLOT)
		c->members_lost++;
	else
		swa_global.added++;
	return 0;
}

SWA_INLINE int newtask(struct task_struct *child)
{
	struct swb_cpu *c = this_cpu();

	if (!c)
		return 0;
	return swa_newtask(c, swa_tid(current_task()), child, swa_hook_number(c, child));
}

SWA_INLINE int exec(struct task_struct *p, u32 old_tid)
{
	struct swb_cpu *c = this_cpu();

	return c ? swa_exec(c, p, swa_hook_number(c, p), old_tid) : 0;
}

/* task_newtask rather than sched_process_fork, which does not see io_uring's workers. */
SEC("tp_btf/task_newtask")
int BPF_PROG(newtask_btf, struct task_struct *child)
{
	return newtask(child);
}

SEC("raw_tp/task_newtask")
int newtask_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return newtask((struct task_struct *)ctx->args[0]);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(exec_btf, struct task_struct *p, pid_t old_tid)
{
	return exec(p, old_tid);
}

SEC("raw_tp/sched_process_exec")
int exec_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return exec(current_task(), ctx->args[1]);
}

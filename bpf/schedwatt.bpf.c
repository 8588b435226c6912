// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The program in the kernel: one hook on sched_switch in three flavours, of which one is loaded; two hooks where
 * identities change; and programs that user space runs: snap() settles a CPU, peek() looks what every CPU really runs,
 * ask() asks about single tasks, scan() marks the tasks of a tree, self() tells who user space is. The rule itself is in
 * account.h; how this kernel is asked is in kernel.h, who belongs to a tree in members.h.
 * Sources: include/trace/events/sched.h, include/trace/events/task.h, kernel/sched/core.c (__schedule).
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "schedwatt_bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define SWA_INLINE static __always_inline
#define SWA_FN static __noinline
#define WHOLE __noinline /* and not static, see members.h */
#define TASK_DEAD 0x80
#define SIGNAL_GROUP_EXIT 4 /* include/linux/sched/signal.h */
#define COMM_LEN 16
#define RUN_SLACK_NS 50000 /* by how much the run queue's clock may lag behind a switch */
#define PEEK_SLACK_NS 200000 /* and the clock of the CPU that peeks, which has switched just now */

/* Set before load; what is off is not even there for the verifier. */
const volatile __u8 cfg_tree;
const volatile __u8 cfg_process; /* cfg_tree, of the roots' own threads only */
const volatile __u8 cfg_direct; /* bpf_get_current_task_btf() exists: fields are loaded straight, else by probe read */
const volatile __u8 cfg_probe;  /* memory may be read by helper: lockdown can forbid that */
const volatile __u8 cfg_by_tid; /* the classic event: swb_cpu.running is SWB_TID() */
const volatile __u32 cfg_slot_mask;
const volatile __u32 cfg_cpus;       /* possible */
const volatile __u32 cfg_group_mask;
const volatile __u32 cfg_drop_every; /* test seam: leave out one switch in so many */
const volatile __u8 cfg_tell_tasks;  /* test seam: the scan writes each task's id, so that a read ends with it */

struct swb_global swa_global SEC(".data.g") __attribute__((aligned(64)));
struct swb_asked swa_asked SEC(".data.a");
__u64 dropped; /* test seam */

struct swb_filter {
	u32 count[2]; /* map elements have a stride of 8 bytes */
};

/* The sizes are set at load. */
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
SWB_ARRAY(groups, struct swb_group);

#define SWB_HASH(name, ktype, vtype)                                                                                 \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_HASH);                                                                       \
		__uint(max_entries, 1);                                                                                \
		__type(key, ktype);                                                                                    \
		__type(value, vtype);                                                                                  \
	} name SEC(".maps")

/* Neither is used at a switch. */
SWB_HASH(roots, u32, u32);      /* ids of the target's processes as user space numbers them; no value */
SWB_HASH(bereaved, u32, u64);   /* thread id → start time: members whose parent went before the scan came to them */

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

#include "kernel.h"

WHOLE int describe_whole(u64 task, u32 n, u32 moment);

SWA_INLINE void swa_describe(struct task_struct *p, u64 task, u32 n, enum swa_moment moment)
{
	struct swb_cold *cold;

	if (cfg_probe) {
		describe_whole(task, n, moment);
		return;
	}
	cold = swa_cold(n);
	if (cold)
		describe(p, cold, moment, true);
}

SWA_INLINE struct swb_cpu *this_cpu(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &cpu);
}

SWA_INLINE bool swa_is_start_of(u32 n, u64 start_boottime_ns)
{
	struct swb_cold *cold = swa_cold(n);

	return cold && cold->start_boottime_ns == start_boottime_ns;
}

#include "account.h"
#include "members.h"

SWA_FN u32 swa_create(struct swb_cpu *c, struct task_struct *p, u64 task, bool member)
{
	if (cfg_probe)
		return create_whole(task, member);
	return swa_make(c, p, task, swa_tid(p), TASK(p, start_boottime), swa_css(p), swa_cgroup_id(p), member);
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
		bool coming = false; /* a switch that no event has told yet */
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
			bpf_core_read(&on_cpu, sizeof(on_cpu), &curr->on_cpu);
			/*
			 * The run queue names and counts the next task before the event, and puts it on the CPU after it
			 * (__schedule). Where a hypervisor takes the CPU away just then, that lasts.
			 */
			coming = !on_cpu && !cfg_by_tid;
			if (coming)
				curr = (struct task_struct *)swa_once(c->running);
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
		if (coming)
			c->seen_unseen--;
		if (rq && !cfg_by_tid && (u64)curr != swa_once(c->running))
			peek_left(c, rq, curr, clock_to_ns);
	}
	return 0;
}

/* Mark the members of the trees. Read again until a pass adds none and nobody new was remembered meanwhile. */
SEC("iter/task")
int scan(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct swb_cpu *c = this_cpu();
	u32 tid;
	u64 task;

	if (!p || !c)
		return 0;
	tid = swa_tid(p);
	if (cfg_tell_tasks)
		bpf_seq_write(ctx->meta->seq, &tid, sizeof(tid));
	if (swa_inside(tid))
		return 0;
	task = swa_hook_number(c, p);
	if (!task) { /* another pass, please */
		__sync_fetch_and_add(&swa_global.remembered, 1);
		return 0;
	}
	if (!descends(task))
		return 0;
	if (swa_create(c, p, task, true) < SWB_FIRST_SLOT)
		c->members_lost++;
	else
		swa_global.added++;
	return 0;
}

/*
 * While the scan goes on, a task that ends: its children are about to lose their link to the tree. Attached only then.
 * It comes before exit_notify() in kernel/exit.c, which gives the children away.
 */
SEC("raw_tp/sched_process_exit")
int bereave(struct bpf_raw_tracepoint_args *ctx)
{
	struct swb_cpu *c = this_cpu();
	u64 task = ctx->args[0];

	if (!c || !swa_global.scanning || !descends(task))
		return 0;
	if (!remember_children(task))
		c->members_lost++;
	return 0;
}

/* Ask anew about the tasks of some slots: see ask_again(). */
SEC("raw_tp")
int ask(void *ctx)
{
	for (u32 i = 0; i < SWB_ASK_MAX; i++) {
		u32 *slot = &swa_asked.slot[i & (SWB_ASK_MAX - 1)];

		if (i >= swa_asked.n)
			break;
		if (ask_again(*slot & ~SWB_ASK_BURY, *slot & SWB_ASK_BURY))
			*slot = SWB_ASK_OTHER;
	}
	return 0;
}

/* Who runs this: in which pid and time namespaces does user space live? */
SEC("raw_tp")
int self(void *ctx)
{
	find_self();
	return 0;
}

SWA_INLINE int newtask(struct task_struct *child)
{
	struct task_struct *parent = current_task();
	struct swb_cpu *c = this_cpu();
	bool inherits = false;

	if (!c || !swa_reaches(swa_tgid(parent), child))
		return 0;
	if (cfg_tree && cfg_probe && swa_global.scanning)
		inherits = descends(bpf_get_current_task());
	return swa_newtask(c, swa_tid(parent), inherits, child, swa_hook_number(c, child));
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

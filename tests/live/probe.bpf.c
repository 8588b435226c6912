// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The test's own witness of deaths: at the last switch-out of every descendant of one process, what the kernel itself
 * says that the task ran. It must not know schedwatt's program or its maps.
 * Relies on: include/trace/events/sched.h (sched_switch), kernel/sched/core.c (a task's run time is brought up to date
 * before its last switch).
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "probe.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define TASK_DEAD 0x80
#define GENERATIONS 8

/* A flavour: vmlinux.h has the fields that the product reads. */
struct sched_entity___probe {
	u64 sum_exec_runtime;
} __attribute__((preserve_access_index));

const volatile __s32 cfg_ancestor;
__u64 seen;  /* deaths, kept or not */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PROBE_MAX);
	__type(key, u32);
	__type(value, struct probe_death);
} deaths SEC(".maps");

SEC("tp_btf/sched_switch")
int BPF_PROG(witness, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct task_struct *p = prev;
	struct probe_death *death;
	u64 n;
	u32 key;
	int i;

	if (!(prev->__state & TASK_DEAD) || prev->tgid == cfg_ancestor)
		return 0;
	for (i = 0; i < GENERATIONS && p->tgid != cfg_ancestor && p->tgid > 1; i++)
		p = p->real_parent;
	if (p->tgid != cfg_ancestor)
		return 0;
	n = __sync_fetch_and_add(&seen, 1);
	if (n >= PROBE_MAX)
		return 0;
	key = n;
	death = bpf_map_lookup_elem(&deaths, &key);
	if (!death)
		return 0;
	death->start_boottime_ns = prev->start_boottime;
	death->tgid = prev->tgid;
	death->tid = prev->pid;
	death->ppid = prev->real_parent->tgid;
	death->exit_code = prev->exit_code;
	death->ran_ns = ((struct sched_entity___probe *)&prev->se)->sum_exec_runtime;
	((u64 *)death->comm)[0] = ((u64 *)prev->comm)[0];
	((u64 *)death->comm)[1] = ((u64 *)prev->comm)[1];
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Owns: the floors that schedwatt's cost is held against: a program on sched_switch that does nothing, and one that
 * only reads the clock, in each of the three flavours. Relies on: include/trace/events/sched.h.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tp_btf/sched_switch")
int BPF_PROG(empty_btf, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(clock_btf, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	bpf_ktime_get_ns();
	return 0;
}

SEC("raw_tp/sched_switch")
int empty_raw(void *ctx)
{
	return 0;
}

SEC("raw_tp/sched_switch")
int clock_raw(void *ctx)
{
	bpf_ktime_get_ns();
	return 0;
}

SEC("tp/sched/sched_switch")
int empty_tp(void *ctx)
{
	return 0;
}

SEC("tp/sched/sched_switch")
int clock_tp(void *ctx)
{
	bpf_ktime_get_ns();
	return 0;
}

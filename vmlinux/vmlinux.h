/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel types that the program reads, cut down by hand to the fields it uses. CO-RE finds each field by its name
 * in the running kernel, so neither order nor offsets here mean anything, and building needs no kernel's BTF. Fields
 * that not every kernel has are asked for with bpf_core_field_exists() before use.
 */
#ifndef SW_VMLINUX_H
#define SW_VMLINUX_H

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u8 u8;
typedef __u16 u16;
typedef __s32 s32;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;
typedef int pid_t;
typedef _Bool bool;
/* bpf_helper_defs.h wants these */
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

enum { false = 0, true = 1 };

enum bpf_map_type { BPF_MAP_TYPE_HASH = 1, BPF_MAP_TYPE_ARRAY = 2 };
enum { BPF_F_MMAPABLE = 1U << 10 };
enum { BPF_ANY = 0 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pid_namespace;
struct task_struct;

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct kernfs_node {
	u64 id;
	const char *name;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct timespec64 {
	s64 tv_sec;
	long tv_nsec;
};

struct timens_offsets {
	struct timespec64 monotonic;
	struct timespec64 boottime;
};

struct time_namespace {
	struct timens_offsets offsets;
};

struct nsproxy {
	struct time_namespace *time_ns; /* 5.6, CONFIG_TIME_NS */
};

struct list_head {
	struct list_head *next;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct rq {
	struct task_struct *curr;
	struct task_struct *idle;
	u64 nr_switches;
	u64 clock;
	u64 clock_task; /* clock, less the time in interrupts where that is accounted */
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	u64 exec_start;        /* clock_task when its run time was last brought up to date */
	struct cfs_rq *cfs_rq; /* CONFIG_FAIR_GROUP_SCHED */
};

struct sched_info {
	unsigned long long last_arrival; /* CONFIG_SCHED_INFO */
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live; /* threads that have not begun to exit */
	int group_exit_code;
	unsigned int flags;
};

struct task_struct {
	unsigned int __state; /* 5.14 and backports; before: `state`, see task_struct___old */
	unsigned int flags;
	int on_cpu;
	struct sched_entity se;
	struct sched_info sched_info;
	int exit_code;
	pid_t pid;
	pid_t tgid;
	struct task_struct *real_parent;
	struct list_head children;
	struct list_head sibling;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	u64 start_boottime;
	char comm[16];
	struct css_set *cgroups;
	struct nsproxy *nsproxy;      /* NULL when the task is exiting */
	struct signal_struct *signal; /* NULL when the task has been reaped */
};

struct task_struct___old {
	long state;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	u64 session_id;
	u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct trace_event_raw_sched_switch {
	char prev_comm[16];
	pid_t prev_pid;
	pid_t next_pid;
};

#pragma clang attribute pop

/* What a raw tracepoint's program is given: not relocated, it is the program's own context. */
struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

#endif

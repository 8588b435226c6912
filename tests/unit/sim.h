/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A machine in user space on which the rule of bpf/account.h runs as it does in the kernel: CPUs, tasks, a clock that
 * stands where the test puts it, and the maps as plain arrays. One file includes it; everything is static.
 */
#ifndef TESTS_UNIT_SIM_H
#define TESTS_UNIT_SIM_H

#include <linux/types.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schedwatt_bpf.h"

#define SIM_CPUS 4
#define SIM_SLOTS 4096

struct task_struct {
	uint32_t tid, tgid, ppid;
	uint32_t live;       /* other threads of its process */
	struct task_struct *leader; /* or NULL: it does not matter */
	uint64_t start, css, cgroup;
	bool dead;
	int on_cpu;          /* -1: on none */
	uint64_t arrival;    /* when it was last switched in */
	uint64_t departure;  /* and out */
	uint64_t true_ns;    /* what it really had */
	char comm[16];
};

/* State of the machine. Zeroed by sim_reset(). */
static struct swb_cpu sim_cpus[SIM_CPUS];
static struct swb_slot sim_slots[SIM_SLOTS];
static struct swb_cold sim_cold[SIM_SLOTS];
static __u32 sim_filter[SIM_SLOTS];
static struct swb_global swa_global;
static struct task_struct sim_idle[SIM_CPUS], *sim_runs[SIM_CPUS];
static uint64_t sim_time, sim_switches[SIM_CPUS];
static bool cfg_tree, cfg_process, sim_knows_runs = true;
static uint32_t cfg_slot_mask = SIM_SLOTS - 1;

#define SWA_INLINE static inline __attribute__((always_inline))
#define SWA_FN static __attribute__((noinline, unused))

static unsigned sim_cpu_number(const struct swb_cpu *c)
{
	return c - sim_cpus;
}

static struct swb_slot *swa_slot(__u32 n)
{
	return n <= cfg_slot_mask ? &sim_slots[n] : NULL;
}

static __u32 *swa_filter(__u32 tid)
{
	return &sim_filter[tid & cfg_slot_mask];
}

static __u64 swa_now(void)
{
	return sim_time;
}

static __u64 swa_number(struct swb_cpu *c, struct task_struct *p)
{
	(void)c;
	return (uintptr_t)p;
}

static __u32 swa_tid(struct task_struct *p)
{
	return p->tid;
}

static __u32 swa_tgid(struct task_struct *p)
{
	return p->tgid;
}

static __u64 swa_leader(struct swb_cpu *c, struct task_struct *p)
{
	(void)c;
	return (uintptr_t)p->leader;
}

static __u32 swa_live(struct task_struct *p)
{
	return p->live;
}

static __u64 swa_css(struct task_struct *p)
{
	return p->css;
}

static bool swa_is_dead(struct task_struct *p)
{
	return p->dead;
}

static void swa_know_cpu(struct swb_cpu *c, struct task_struct *p)
{
	(void)p;
	c->rq = 1;
	c->idle_task = (uintptr_t)&sim_idle[sim_cpu_number(c)];
}

static __u64 swa_run_start(struct swb_cpu *c, struct task_struct *p, __u64 t)
{
	(void)c;
	return sim_knows_runs && p->tid ? p->arrival : t;
}

static __u64 swa_count(struct swb_cpu *c, struct task_struct *p)
{
	(void)p;
	return sim_knows_runs ? 1000 + sim_switches[sim_cpu_number(c)] : 0;
}

static void swa_left(struct swb_cpu *c, struct task_struct *p, __u64 t, struct swa_left *left)
{
	struct task_struct *x = (struct task_struct *)(uintptr_t)c->running;

	(void)p;
	(void)t;
	left->tid = x->tid;
	left->css = x->css;
	/* the run that began at since_ns, and not a later one elsewhere */
	left->ran_ns = x->on_cpu < 0 && x->arrival == c->since_ns && x->departure > x->arrival ? x->departure - x->arrival
											       : 0;
}

static void swa_describe(struct task_struct *p, __u64 task, __u32 n, enum swa_moment moment)
{
	struct swb_cold *cold = &sim_cold[n];

	(void)task;
	if (moment == SWA_BIRTH) {
		*cold = (struct swb_cold){.start_boottime_ns = p->start, .leader_start_boottime_ns = p->start};
		cold->tgid = p->tgid;
		cold->ppid = p->ppid;
		cold->live = 1;
	}
	if (moment == SWA_DEATH) {
		cold->live = p->live;
		cold->exit_known = 1;
	}
	if (moment == SWA_EXEC)
		cold->execs++;
	memcpy(cold->comm, p->comm, sizeof(cold->comm));
	memcpy(cold->leader_comm, p->comm, sizeof(cold->leader_comm));
}

static bool swa_is_start_of(__u32 n, __u64 start_boottime_ns)
{
	return sim_cold[n].start_boottime_ns == start_boottime_ns;
}

#include "account.h"

static __u32 swa_create(struct swb_cpu *c, struct task_struct *p, __u64 task, bool member)
{
	return swa_make(c, p, task, p->tid, p->start, p->css, p->cgroup, member);
}

/* What ask() does for a slot: a task that ended unseen is found out. True: somebody else lives there. */
static __attribute__((unused)) bool sim_ask(__u32 n, bool bury)
{
	struct swb_slot *s = &sim_slots[n];
	struct task_struct *p = (struct task_struct *)(uintptr_t)s->task;
	bool died;

	if (!p)
		return false;
	if (p->tid != s->tid || p->start != sim_cold[n].start_boottime_ns) {
		if (bury)
			swa_bury(&sim_cpus[0], s, s->task);
		return !bury;
	}
	died = p->dead && p->on_cpu < 0;
	if (died && cfg_tree && p->tid == p->tgid && p->live)
		return false;
	swa_describe(p, s->task, n, died ? SWA_DEATH : SWA_RAN);
	s->names++;
	if (died)
		swa_bury(&sim_cpus[0], s, s->task);
	return false;
}

static __attribute__((unused)) void sim_reset(void)
{
	memset(sim_cpus, 0, sizeof(sim_cpus));
	memset(sim_slots, 0, sizeof(sim_slots));
	memset(sim_cold, 0, sizeof(sim_cold));
	memset(sim_filter, 0, sizeof(sim_filter));
	memset(&swa_global, 0, sizeof(swa_global));
	memset(sim_idle, 0, sizeof(sim_idle));
	memset(sim_switches, 0, sizeof(sim_switches));
	sim_time = 0;
	cfg_tree = cfg_process = false;
	cfg_slot_mask = SIM_SLOTS - 1;
	sim_knows_runs = true;
	for (int i = 0; i < SIM_CPUS; i++) {
		sim_cpus[i].epoch = 1;
		sim_runs[i] = &sim_idle[i];
		sim_idle[i].on_cpu = i;
		strcpy(sim_idle[i].comm, "idle");
	}
}

static __attribute__((unused)) struct task_struct sim_task(uint32_t tid)
{
	struct task_struct t = {.tid = tid, .tgid = tid, .ppid = 1, .start = 1000 + tid, .css = 100, .cgroup = 1, .on_cpu = -1};

	snprintf(t.comm, sizeof(t.comm), "task-%u", tid);
	return t;
}

/* The CPU begins with what it runs. */
static __attribute__((unused)) void sim_snap(unsigned cpu)
{
	struct task_struct *p = sim_runs[cpu];

	swa_snap(&sim_cpus[cpu], p, (uintptr_t)p, (uintptr_t)p);
}

static __attribute__((unused)) void sim_begin(void)
{
	for (int i = 0; i < SIM_CPUS; i++) {
		sim_runs[i]->arrival = sim_time;
		sim_snap(i);
	}
	swa_global.open = 1;
}

/* The kernel switches: NULL is the idle task. */
static struct task_struct *sim_move(unsigned cpu, uint64_t t, struct task_struct *next)
{
	struct task_struct *prev = sim_runs[cpu];

	if (!next)
		next = &sim_idle[cpu];
	sim_time = t;
	prev->true_ns += t - prev->arrival;
	prev->departure = t;
	prev->on_cpu = -1;
	next->on_cpu = cpu;
	sim_runs[cpu] = next;
	sim_switches[cpu]++;
	return prev;
}

/* A switch that no program sees. */
static __attribute__((unused)) void sim_unseen(unsigned cpu, uint64_t t, struct task_struct *next)
{
	sim_move(cpu, t, next);
	sim_runs[cpu]->arrival = t;
}

/* A switch: the event comes before the kernel notes next's arrival, as in __schedule(). */
static __attribute__((unused)) void sim_switch(unsigned cpu, uint64_t t, struct task_struct *next)
{
	struct swb_cpu *c = &sim_cpus[cpu];
	struct task_struct *prev = sim_move(cpu, t, next);
	uint64_t to = (uintptr_t)sim_runs[cpu];
	bool outside = cfg_tree && swa_is_outside(sim_runs[cpu]->tid), expected;

	expected = c->running && swa_is_expected(c, prev, c->running == (uintptr_t)prev);
	if (!c->running)
		swa_first_switch(c, prev, to);
	else if (outside && c->outside && expected)
		swa_pass(c, to);
	else
		swa_switch(c, prev, (uintptr_t)prev, expected, to, outside);
	sim_runs[cpu]->arrival = t;
}

/* Announce the boundary that ends `epoch`. */
static __attribute__((unused)) void sim_announce(uint32_t epoch, uint64_t T)
{
	swa_global.boundary[epoch & 1].epoch = epoch;
	swa_global.boundary[epoch & 1].T = T;
	swa_global.T = T;
}

/* What all slots of a task hold, dead ones included while nobody has freed them. */
static __attribute__((unused)) uint64_t sim_acc(const struct task_struct *p)
{
	uint64_t ns = 0;

	for (uint32_t n = 0; n < SIM_SLOTS; n++)
		if (sim_slots[n].claim && sim_cold[n].start_boottime_ns == p->start && sim_slots[n].tid == p->tid)
			ns += sim_slots[n].acc_ns;
	return ns;
}

static __attribute__((unused)) unsigned sim_in_use(void)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < SIM_SLOTS; i++)
		n += sim_slots[i].claim != 0;
	return n;
}

#endif

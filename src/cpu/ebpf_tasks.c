/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what is told of tasks and cgroups beside their time: names, ids, who has ended unseen.
 * Must not know: how time is reckoned.
 * Relies on bpf/members.h, which is asked through its programs and maps.
 */
#include "ebpf.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */
#define SWEEP_PERIOD_NS 30000000000ULL
#define SWEEP_QUIET_NS 500000000ULL
#define BURY_AFTER_NS 10000000000ULL /* longer than an exec takes from its new id to its hook */

static void ask(struct sw_ebpf *b)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	uint32_t slots[SWB_ASK_MAX];

	memcpy(slots, b->asked->slot, sizeof(slots));
	/* a failure shows in what it would have written */
	bpf_prog_test_run_opts(b->ask_fd, &opts);
	for (uint32_t i = 0; i < b->asked->n; i++) {
		struct sw_slot_state *st = &b->state[slots[i] & ~SWB_ASK_BURY];

		if (b->asked->slot[i] != SWB_ASK_OTHER)
			st->other_ns = 0;
		else if (!st->other_ns)
			st->other_ns = b->T;
	}
	b->asked->n = 0;
}

static void ask_about(struct sw_ebpf *b, uint32_t n)
{
	uint64_t other_ns = b->state[n].other_ns;
	bool bury = other_ns && b->T - other_ns >= BURY_AFTER_NS;

	b->asked->slot[b->asked->n++] = n | (bury ? SWB_ASK_BURY : 0);
	if (b->asked->n == SWB_ASK_MAX)
		ask(b);
}

void sw_ebpf_ask_names(struct sw_ebpf *b)
{
	if (!b->peeks)
		return;
	for (size_t i = 0; i < b->n_active; i++)
		if (!b->state[b->active[i]].known && !once(b->slots[b->active[i]].dead))
			ask_about(b, b->active[i]);
	if (b->asked->n)
		ask(b);
}

bool sw_ebpf_fill_task(struct sw_ebpf *b, uint32_t n)
{
	const struct swb_cold *d = &b->cold[n];
	struct sw_slot_state *st = &b->state[n];
	uint8_t names = once(b->slots[n].names);
	struct sw_task *t = &st->task;
	uint64_t ahead_ns = b->global->boottime_ahead_ns;

	if (st->known && st->names == names)
		return false;
	read_barrier();
	st->names = names;
	*t = (struct sw_task){
		.start_boottime_ns = d->start_boottime_ns + ahead_ns,
		.leader_start_boottime_ns = d->leader_start_boottime_ns + ahead_ns,
		.tgid = d->tgid,
		.tid = b->slots[n].tid,
		.ppid = d->ppid,
		.here = {d->tgid_here, d->tid_here, d->ppid_here},
		.exit_code = d->exit_code,
		.exit_known = d->exit_known,
		.process_ended = !d->live,
		.kernel_thread = d->flags & PF_KTHREAD,
		.execs = d->execs,
	};
	if (!b->global->pid_ns_level) {
		t->here.tgid = t->tgid;
		t->here.tid = t->tid;
		t->here.ppid = t->ppid;
	}
	memcpy(t->comm, d->comm, sizeof(t->comm));
	memcpy(t->process_comm, d->leader_comm, sizeof(t->process_comm));
	t->comm[sizeof(t->comm) - 1] = t->process_comm[sizeof(t->process_comm) - 1] = '\0';
	return true;
}

/*
 * A death that no program saw leaves a slot behind. Only where switches go unseen at all is the table worth walking,
 * and now and then; and when a tree has been still, which may mean that it has ended.
 */
void sw_ebpf_sweep(struct sw_ebpf *b)
{
	bool still = b->tree && b->quiet && once(b->global->held);
	uint64_t missed = 0;

	if (!b->peeks || b->T - b->swept_ns < SWEEP_QUIET_NS)
		return;
	for (unsigned i = 0; i < b->n_cpus; i++)
		missed += once(b->cpus[i].missed);
	if (!still && (missed == b->missed || b->T - b->swept_ns < SWEEP_PERIOD_NS))
		return;
	b->missed = missed;
	b->swept_ns = b->T;
	for (uint32_t n = SWB_FIRST_SLOT; n < b->n_slots; n++)
		if (once(b->slots[n].claim) && once(b->slots[n].task))
			ask_about(b, n);
	if (b->asked->n)
		ask(b);
}

/* Read or not, all leave the table; those that live on are noted anew when a new task comes up in them. */
static void clear_groups(struct sw_ebpf *b)
{
	for (uint32_t i = 0; i < SW_EBPF_GROUPS; i++) {
		struct swb_group *g = &b->groups[i];

		if (once(g->state) != SWB_GROUP_TAKEN)
			continue;
		g->id = 0;
		g->state = SWB_GROUP_FREE;
		__atomic_sub_fetch(&g->claim, 1, __ATOMIC_RELEASE);
	}
}

/* How many wait to be read; *taken: how many places are in use. */
static size_t count_groups(const struct sw_ebpf *b, size_t *taken)
{
	size_t ready = 0;

	*taken = 0;
	for (uint32_t i = 0; i < SW_EBPF_GROUPS; i++) {
		uint32_t state = once(b->groups[i].state);

		*taken += state != SWB_GROUP_FREE;
		ready += state == SWB_GROUP_READY;
	}
	return ready;
}

size_t sw_ebpf_new_cgroups(struct sw_cpu_backend *backend, const struct sw_cgroup_info **ret)
{
	struct sw_ebpf *b = (struct sw_ebpf *)backend;
	uint64_t groups = once(b->global->groups);
	size_t n = 0, ready, taken;
	char *names;

	if (groups == b->groups_seen)
		return 0;
	ready = count_groups(b, &taken);
	free(b->infos);
	b->infos = malloc(ready * (sizeof(*b->infos) + SWB_GROUP_NAME_MAX) + 1);
	if (!b->infos) /* they stay in the table until there is memory */
		return 0;
	names = (char *)(b->infos + ready);
	b->groups_seen = groups;
	read_barrier();
	for (uint32_t i = 0; i < SW_EBPF_GROUPS && n < ready; i++) {
		struct swb_group *g = &b->groups[i];
		size_t length;

		if (once(g->state) != SWB_GROUP_READY)
			continue;
		read_barrier();
		length = strnlen(g->name, SWB_GROUP_NAME_MAX - 1);
		memcpy(names, g->name, length);
		names[length] = '\0';
		b->infos[n++] = (struct sw_cgroup_info){.id = g->id, .parent_id = g->parent_id, .name = names};
		names += length + 1;
		g->state = SWB_GROUP_TAKEN;
	}
	/* one that came while we counted waits for the next time */
	if (once(b->global->groups) != groups)
		b->groups_seen = groups - 1;
	if (taken > SW_EBPF_GROUPS / 2)
		clear_groups(b);
	*ret = b->infos;
	return n;
}

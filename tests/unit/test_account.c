/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The accounting rule on sequences of scheduler events, each with a known answer. Times are in ns; c0 … c3 are CPUs.
 */
#include "sim.h"

static int reset(void **state)
{
	(void)state;
	sim_reset();
	return 0;
}

static uint64_t idle_ns(unsigned cpu)
{
	return sim_cpus[cpu].bucket_ns[SWB_IDLE];
}

static uint64_t missed_ns(unsigned cpu)
{
	return sim_cpus[cpu].bucket_ns[SWB_LOST_MISSED];
}

/* Each CPU has its own idle task, and none of them is a process. */
static void idle_is_per_cpu(void **state)
{
	struct task_struct a = sim_task(10), b = sim_task(11);

	(void)state;
	sim_begin();
	sim_switch(0, 0, &a);
	sim_switch(1, 0, &b);
	sim_switch(0, 0, NULL);
	sim_switch(1, 5, NULL);
	sim_switch(0, 20, &a);
	sim_switch(1, 105, &b);
	assert_int_equal(idle_ns(0), 20);
	assert_int_equal(idle_ns(1), 100);
	assert_int_equal(sim_acc(&b), 5);
	assert_int_equal(sim_in_use(), 2);
}

/* Time counts whatever the state at switch-out, the last one too. */
static void every_switch_out_charges(void **state)
{
	struct task_struct a = sim_task(10);

	(void)state;
	sim_begin();
	sim_switch(0, 0, &a);
	sim_switch(0, 30, NULL);
	sim_switch(0, 40, &a);
	a.dead = true;
	sim_switch(0, 50, NULL);
	assert_int_equal(sim_acc(&a), 40);
	assert_int_equal(idle_ns(0), 10);
}

/* What ran before the start is charged from the start on, and by a snapshot without being charged twice. */
static void open_slices(void **state)
{
	struct task_struct a = sim_task(10), b = sim_task(11);

	(void)state;
	sim_runs[0] = &a;
	sim_time = 100;
	sim_begin();
	sim_switch(0, 150, &b);
	sim_time = 400;
	sim_snap(0);
	assert_int_equal(sim_acc(&a), 50);
	assert_int_equal(sim_acc(&b), 250);
	sim_switch(0, 500, NULL);
	assert_int_equal(sim_acc(&b), 350);
}

/* Two switches in a row go unseen: what ran between is lost; prev has its own run where that is known. */
static void gap_is_lost(void **state)
{
	struct task_struct a = sim_task(10), b = sim_task(11), c = sim_task(12);

	(void)state;
	sim_begin();
	sim_switch(0, 0, &a);
	sim_unseen(0, 10, &b);
	sim_unseen(0, 14, &c);
	sim_switch(0, 20, NULL);
	assert_int_equal(sim_acc(&a), 0);
	assert_int_equal(sim_acc(&b), 0);
	assert_int_equal(sim_acc(&c), 6);
	assert_int_equal(missed_ns(0), 14);
	assert_int_equal(sim_cpus[0].missed, 1);
}

/* The same where the kernel keeps no arrival times: all of it is lost, and nobody is given what is not theirs. */
static void gap_without_arrival(void **state)
{
	struct task_struct a = sim_task(10), b = sim_task(11);

	(void)state;
	sim_knows_runs = false;
	sim_begin();
	sim_switch(0, 0, &a);
	sim_unseen(0, 10, &b);
	sim_switch(0, 20, NULL);
	assert_int_equal(sim_acc(&a) + sim_acc(&b), 0);
	assert_int_equal(missed_ns(0), 20);
	sim_switch(0, 30, &a);
	assert_int_equal(idle_ns(0), 10);
}

/* One unseen switch, from a task that has a slot: both halves are known. */
static void single_gap_is_resolved(void **state)
{
	struct task_struct a = sim_task(10), b = sim_task(11);

	(void)state;
	sim_begin();
	sim_switch(0, 0, &a);
	sim_switch(0, 5, NULL);
	sim_switch(0, 6, &a);
	sim_unseen(0, 10, &b);
	sim_switch(0, 20, NULL);
	assert_int_equal(sim_acc(&a), 9);
	assert_int_equal(sim_acc(&b), 10);
	assert_int_equal(missed_ns(0), 0);
	/* to idle: how long the expected task ran says where idle began */
	sim_switch(0, 30, &a);
	sim_unseen(0, 33, NULL);
	sim_switch(0, 50, &b);
	assert_int_equal(sim_acc(&a), 12);
	assert_int_equal(idle_ns(0), 1 + 10 + 17);
	/* from idle */
	sim_switch(0, 60, NULL);
	sim_unseen(0, 64, &a);
	sim_switch(0, 70, NULL);
	assert_int_equal(sim_acc(&a), 18);
	assert_int_equal(idle_ns(0), 1 + 10 + 17 + 4);
	assert_int_equal(missed_ns(0), 0);
}

/* Two unseen switches that lead back to the expected task: it has its last run, and not what lay between. */
static void unseen_there_and_back(void **state)
{
	struct task_struct a = sim_task(10), b = sim_task(11);

	(void)state;
	sim_begin();
	sim_switch(0, 0, &a);
	sim_unseen(0, 10, &b);
	sim_unseen(0, 90, &a);
	sim_switch(0, 95, NULL);
	assert_int_equal(sim_acc(&a), 5);
	assert_int_equal(missed_ns(0), 90);
}

/* The switch that went unseen was a task's last: it keeps its slot until it is asked for. */
static void unseen_death(void **state)
{
	struct task_struct a = sim_task(10), b = sim_task(11);

	(void)state;
	sim_begin();
	sim_switch(0, 0, &a);
	sim_switch(0, 5, &b);
	sim_switch(0, 8, &a);
	a.dead = true;
	sim_unseen(0, 10, &b);
	sim_switch(0, 20, NULL);
	assert_int_equal(sim_acc(&a), 7);
	assert_int_equal(sim_acc(&b), 13);
	for (uint32_t n = 0; n < SIM_SLOTS; n++)
		assert_false(sim_ask(n, false));
	for (uint32_t n = 0; n < SIM_SLOTS; n++)
		if (sim_slots[n].claim)
			assert_int_equal(sim_slots[n].dead, sim_slots[n].tid == 10 ? SWB_DIED : SWB_ALIVE);
	assert_int_equal(sim_cpus[0].unlisted, 1);
}

/* A sleeper that was expected and has run elsewhere since is not given this CPU's time. */
static void stale_expectation(void **state)
{
	struct task_struct a = sim_task(10), b = sim_task(11);

	(void)state;
	sim_begin();
	sim_switch(0, 0, &a);
	sim_switch(0, 5, NULL);
	sim_switch(0, 6, &a);
	sim_unseen(0, 10, NULL);
	sim_switch(1, 12, &a);
	sim_switch(1, 15, NULL);
	sim_switch(0, 100, &b);
	assert_int_equal(sim_acc(&a), 5 + 3);
	assert_int_equal(missed_ns(0), 94);
}

static void slice_is_split_at_T(void **state)
{
	struct task_struct a = sim_task(10);
	const struct swb_crossing *x = &sim_cpus[0].crossing[1];
	uint32_t n;

	(void)state;
	sim_begin();
	sim_switch(0, 100, &a);
	sim_announce(1, 1000);
	sim_switch(0, 1300, NULL);
	n = x->where;
	assert_true(n >= SWB_FIRST_SLOT);
	assert_int_equal(x->origin_ns, 100);
	assert_int_equal(x->base_ns + (1000 - x->from_ns), 900);
	assert_int_equal(sim_slots[n].at_ns, 900);
	assert_int_equal(sim_slots[n].acc_ns, 1200);
	assert_int_equal(sim_slots[n].epoch, 2);
	assert_int_equal(sim_cpus[0].epoch, 2);
	assert_int_equal(sim_cpus[0].head[0], n); /* on the list of epoch 2, not on the one that closed */
	assert_int_equal(sim_cpus[0].head[1], 0);
	assert_int_equal(x->late_ns, 0);
}

/* A switch exactly at T belongs to the window that ends there, and crosses. */
static void switch_at_T(void **state)
{
	struct task_struct a = sim_task(10), b = sim_task(11);

	(void)state;
	sim_begin();
	sim_switch(0, 0, &a);
	sim_announce(1, 1000);
	sim_switch(0, 1000, &b);
	assert_int_equal(sim_cpus[0].epoch, 2);
	assert_int_equal(sim_acc(&a), 1000);
	sim_switch(0, 1001, NULL);
	assert_int_equal(sim_acc(&b), 1);
	assert_int_equal(sim_cpus[0].late, 0);
}

static void late_boundary(void **state)
{
	struct task_struct a = sim_task(10), b = sim_task(11);

	(void)state;
	sim_begin();
	sim_switch(0, 0, &a);
	sim_switch(0, 1500, &b);
	sim_announce(1, 1000); /* behind what the CPU has accounted already */
	sim_switch(0, 1600, NULL);
	assert_int_equal(sim_cpus[0].late, 1);
	assert_int_equal(sim_cpus[0].crossing[1].late_ns, 500);
	assert_int_equal(sim_acc(&a), 1500);
	assert_int_equal(sim_acc(&b), 100);
}

/* A CPU that slept through boundaries says which slot took the stretch that held the last one. */
static void skipped_epochs(void **state)
{
	struct task_struct a = sim_task(10);

	(void)state;
	sim_begin();
	sim_switch(0, 100, &a);
	sim_announce(1, 1000);
	sim_announce(2, 2000);
	sim_announce(3, 3000);
	sim_switch(0, 2500, NULL); /* epoch 3 runs: T2 lies in this stretch, T3 does not */
	assert_int_equal(sim_cpus[0].epoch, 3);
	assert_int_equal(sim_cpus[0].crossing[0].origin_ns, 100);
	assert_true(sim_cpus[0].crossing[0].where >= SWB_FIRST_SLOT);
	assert_int_equal(sim_acc(&a), 2400);
	assert_int_equal(sim_slots[sim_cpus[0].crossing[0].where].epoch, 3);
	sim_announce(4, 4000);
	sim_switch(0, 5000, &a); /* slept through T3, crosses T4 */
	assert_int_equal(sim_cpus[0].epoch, 5);
	assert_int_equal(sim_cpus[0].crossing[1].where, SWB_IDLE);
	assert_int_equal(sim_cpus[0].crossing[1].origin_ns, 2500);
	assert_int_equal(sim_cpus[0].crossing[0].where, SWB_IDLE);
	assert_int_equal(sim_cpus[0].crossing[0].bucket_ns[SWB_IDLE] + (4000 - 2500), 100 + 1500);
}

/* A boundary that is drawn nearer is still the same epoch's. */
static void boundary_drawn_nearer(void **state)
{
	struct task_struct a = sim_task(10);

	(void)state;
	sim_begin();
	sim_announce(1, 9000);
	sim_switch(0, 100, &a);
	assert_int_equal(sim_cpus[0].limit_ns, 9000);
	swa_global.T = 2000; /* between the two stores */
	assert_int_equal(swa_epoch_of(2000), 1);
	sim_announce(1, 2000);
	sim_switch(0, 2500, NULL);
	assert_int_equal(sim_cpus[0].epoch, 2);
	assert_int_equal(sim_slots[sim_cpus[0].crossing[1].where].at_ns, 1900);
}

/* A missed switch in a stretch that also holds a boundary, on either side of it. */
static void gap_across_T(void **state)
{
	struct task_struct a = sim_task(10), b = sim_task(11);
	const struct swb_crossing *x = &sim_cpus[0].crossing[1];

	(void)state;
	sim_begin();
	sim_switch(0, 0, &a);
	sim_switch(0, 10, NULL);
	sim_switch(0, 20, &a);
	sim_announce(1, 1000);
	sim_unseen(0, 400, &b);
	sim_switch(0, 1200, NULL);
	assert_int_equal(x->origin_ns, 20);
	assert_int_equal(x->from_ns, 400);
	assert_int_equal(sim_slots[x->before].tid, 10);
	assert_int_equal(sim_slots[x->where].tid, 11);
	assert_int_equal(sim_slots[x->where].at_ns, 600);
	assert_int_equal(sim_acc(&a), 390);
	assert_int_equal(sim_acc(&b), 800);
	/* behind it: slept through T2, the switch went unseen after T2 */
	x = &sim_cpus[0].crossing[0];
	sim_switch(0, 1300, &a);
	sim_announce(2, 2000);
	sim_announce(3, 9000);
	sim_unseen(0, 2500, &b);
	sim_switch(0, 2700, NULL);
	assert_int_equal(x->origin_ns, 1300);
	assert_int_equal(x->from_ns, 2500);
	assert_int_equal(sim_slots[x->before].tid, 10);
	assert_int_equal(sim_acc(&a), 390 + 1200);
	assert_int_equal(sim_acc(&b), 800 + 200);
}

static void exec_by_thread(void **state)
{
	struct task_struct leader = sim_task(10), thread = sim_task(11);
	uint64_t before;

	(void)state;
	thread.tgid = 10;
	sim_begin();
	sim_switch(0, 0, &leader);
	sim_switch(0, 10, &thread);
	sim_switch(0, 30, NULL);
	sim_switch(0, 40, &thread);
	/* de_thread(): ids are swapped while the thread runs, it takes over the leader's start time */
	leader.tid = 11;
	thread.tid = 10;
	thread.start = leader.start;
	strcpy(thread.comm, "new");
	sim_time = 45;
	swa_exec(&sim_cpus[0], &thread, (uintptr_t)&thread, 11);
	assert_int_equal(sim_cpus[0].unlisted, 1);
	assert_int_equal(sim_in_use(), 2); /* the leader's slot is the thread's now */
	leader.dead = true;
	sim_switch(1, 46, &leader);
	sim_switch(1, 48, NULL); /* the old leader's last switch-out comes after the swap */
	sim_switch(0, 50, NULL);
	assert_int_equal(sim_cpus[0].missed, 0);
	/* identity (start 1010, 10): what the leader had, and what the thread has now */
	assert_int_equal(sim_acc(&thread), 10 + 10);
	before = 0;
	for (uint32_t n = 0; n < SIM_SLOTS; n++)
		if (sim_slots[n].claim && sim_slots[n].tid == 11)
			before += sim_slots[n].acc_ns;
	assert_int_equal(before, 20 + 2);
	for (uint32_t n = 0; n < SIM_SLOTS; n++)
		if (sim_slots[n].task == (uintptr_t)&thread)
			assert_string_equal(sim_cold[n].comm, "new");
}

static void exec_by_thread_in_tree(void **state)
{
	struct task_struct leader = sim_task(10), thread = sim_task(11);

	(void)state;
	cfg_tree = true;
	thread.tgid = 10;
	sim_begin();
	assert_true(swa_create(&sim_cpus[0], &leader, (uintptr_t)&leader, true) >= SWB_FIRST_SLOT);
	sim_time = 1;
	swa_newtask(&sim_cpus[0], leader.tid, false, &thread, (uintptr_t)&thread);
	sim_switch(0, 5, &thread);
	sim_switch(0, 25, NULL);
	/* de_thread() ends the leader first; then ids are swapped, and the thread may be switched before exec is over */
	leader.live = 1;
	leader.dead = true;
	sim_switch(0, 26, &leader);
	sim_switch(0, 28, NULL);
	sim_switch(0, 30, &thread);
	leader.tid = 11;
	thread.tid = 10;
	thread.start = leader.start;
	sim_switch(0, 34, NULL);
	sim_switch(0, 35, &thread);
	assert_int_equal(sim_cpus[0].outside, 0);
	assert_int_equal(sim_in_use(), 2); /* it took the leader's slot over */
	sim_time = 36;
	swa_exec(&sim_cpus[0], &thread, (uintptr_t)&thread, 11);
	assert_true(swa_inside(thread.tid)); /* it never left the tree */
	assert_false(swa_inside(leader.tid));
	thread.dead = true;
	sim_switch(0, 40, NULL);
	assert_int_equal(sim_acc(&thread), 2 + 4 + 5);
	assert_int_equal(sim_cpus[0].bucket_ns[SWB_OTHER], 0);
	assert_false(swa_inside(thread.tid));
	assert_int_equal(*swa_filter(10), 0);
	assert_int_equal(*swa_filter(11), 0);
}

/* A leader that goes first marks its id until the last thread is gone. */
static void leader_goes_first_in_tree(void **state)
{
	struct task_struct leader = sim_task(10), thread = sim_task(11);

	(void)state;
	cfg_tree = true;
	thread.tgid = 10;
	sim_begin();
	swa_create(&sim_cpus[0], &leader, (uintptr_t)&leader, true);
	swa_newtask(&sim_cpus[0], leader.tid, false, &thread, (uintptr_t)&thread);
	leader.live = 1;
	leader.dead = thread.dead = true;
	sim_switch(0, 5, &leader);
	sim_switch(0, 8, &thread);
	assert_true(swa_inside(10));
	sim_switch(0, 12, NULL);
	assert_false(swa_inside(10));
	assert_false(swa_inside(11));
	for (uint32_t n = 0; n < SIM_SLOTS; n++)
		if (sim_slots[n].claim)
			assert_int_equal(sim_slots[n].dead, SWB_DIED);
	assert_int_equal(sim_acc(&leader), 3);
	assert_int_equal(sim_acc(&thread), 4);
}

/*
 * A leader is on its way out while its process execs twice, each time by a thread. It knows its successor only, which is
 * gone as well and has no process any more; the third one is alive.
 */
static void leader_goes_late_in_tree(void **state)
{
	struct task_struct leader = sim_task(10), second = sim_task(11), third = sim_task(12);
	struct swb_cpu *c = &sim_cpus[0];

	(void)state;
	cfg_tree = true;
	second.tgid = third.tgid = 10;
	sim_begin();
	swa_create(c, &leader, (uintptr_t)&leader, true);
	swa_newtask(c, 10, false, &second, (uintptr_t)&second);
	leader.tid = 11;
	second.tid = 10;
	second.start = leader.start;
	leader.leader = &second;
	swa_exec(c, &second, (uintptr_t)&second, 11);
	swa_newtask(c, 10, false, &third, (uintptr_t)&third);
	second.tid = 12;
	third.tid = 10;
	third.start = leader.start;
	swa_exec(c, &third, (uintptr_t)&third, 12);
	leader.live = 0; /* as read through the second, which has been reaped */
	leader.dead = true;
	sim_switch(0, 5, &leader);
	sim_switch(0, 8, &third);
	assert_true(swa_inside(10));
	third.dead = true;
	third.leader = &third;
	sim_switch(0, 15, NULL);
	assert_int_equal(sim_acc(&third), 7);
	assert_false(swa_inside(10));
	assert_int_equal(*swa_filter(10), 0);
}

/* A plain exec changes the name, not the slot. */
static void exec_renames(void **state)
{
	struct task_struct a = sim_task(10);

	(void)state;
	sim_begin();
	sim_switch(0, 0, &a);
	sim_switch(0, 10, NULL);
	strcpy(a.comm, "cc1");
	swa_exec(&sim_cpus[0], &a, (uintptr_t)&a, 10);
	sim_switch(0, 20, &a);
	sim_switch(0, 30, NULL);
	assert_int_equal(sim_in_use(), 1);
	assert_int_equal(sim_acc(&a), 20);
	for (uint32_t n = 0; n < SIM_SLOTS; n++)
		if (sim_slots[n].claim)
			assert_string_equal(sim_cold[n].comm, "cc1");
}

static void death(void **state)
{
	struct task_struct a = sim_task(10), again;

	(void)state;
	sim_begin();
	sim_switch(0, 0, &a);
	sim_switch(0, 10, NULL);
	sim_switch(0, 20, &a);
	a.dead = true;
	sim_switch(0, 25, NULL);
	assert_int_equal(sim_acc(&a), 15);
	for (uint32_t n = 0; n < SIM_SLOTS; n++)
		if (sim_slots[n].claim) {
			assert_int_equal(sim_slots[n].dead, SWB_DIED);
			assert_int_equal(sim_slots[n].task, 0);
		}
	/* the same address and the same pid: another task all the same */
	again = sim_task(10);
	again.start = 9999;
	a = again;
	sim_switch(0, 30, &a);
	sim_switch(0, 33, NULL);
	assert_int_equal(sim_acc(&a), 3);
	assert_int_equal(sim_in_use(), 2);
}

static void slots_run_out(void **state)
{
	static struct task_struct many[200];
	uint64_t sum = 0;

	(void)state;
	cfg_slot_mask = 63;
	sim_begin();
	for (int i = 0; i < 200; i++) {
		many[i] = sim_task(100 + i);
		sim_switch(0, 10 * i, &many[i]);
	}
	sim_switch(0, 2000, NULL);
	for (uint32_t n = 0; n < 64; n++)
		sum += sim_slots[n].claim ? sim_slots[n].acc_ns : 0;
	assert_true(sim_cpus[0].bucket_ns[SWB_LOST_SLOTS] > 0);
	assert_true(sim_cpus[0].full > 0);
	assert_int_equal(sum + sim_cpus[0].bucket_ns[SWB_LOST_SLOTS], 2000);
	assert_true(sim_in_use() <= 56);
	/* one that is freed is used again */
	for (uint32_t n = 0; n < 64; n++)
		if (sim_slots[n].claim) {
			sim_slots[n].task = 0;
			sim_slots[n].claim = 0;
		}
	sim_switch(0, 2100, &many[199]);
	sim_switch(0, 2110, NULL);
	assert_int_equal(sim_in_use(), 1);
}

static void domains_are_apart(void **state)
{
	struct task_struct a = sim_task(10);
	uint64_t by_domain[2] = {0};

	(void)state;
	sim_cpus[1].domain = 1;
	sim_begin();
	sim_switch(0, 0, &a);
	sim_switch(0, 10, NULL);
	sim_switch(1, 20, &a);
	sim_switch(1, 50, NULL);
	sim_switch(0, 60, &a);
	a.dead = true;
	sim_switch(0, 65, NULL);
	for (uint32_t n = 0; n < SIM_SLOTS; n++)
		if (sim_slots[n].claim) {
			by_domain[sim_slots[n].domain] += sim_slots[n].acc_ns;
			assert_int_equal(sim_slots[n].dead, SWB_DIED); /* in both */
		}
	assert_int_equal(by_domain[0], 15);
	assert_int_equal(by_domain[1], 30);
}

static void cgroup_change(void **state)
{
	struct task_struct a = sim_task(10);
	uint64_t by_cgroup[4] = {0};

	(void)state;
	sim_cpus[1].domain = 1;
	sim_begin();
	sim_switch(1, 0, &a);
	sim_switch(1, 1, NULL);
	sim_switch(0, 10, &a);
	sim_switch(0, 20, NULL);
	a.css = 200, a.cgroup = 2;
	sim_switch(0, 30, &a);
	sim_switch(0, 50, NULL);
	/* the same cgroup behind another css_set: no new slot */
	a.css = 300;
	sim_switch(0, 60, &a);
	sim_switch(0, 70, NULL);
	/* the address of the first css_set comes back as another cgroup's: in both domains it must not be taken for it */
	a.css = 100, a.cgroup = 3;
	sim_switch(0, 80, &a);
	sim_switch(0, 85, NULL);
	sim_switch(1, 90, &a);
	sim_switch(1, 97, NULL);
	for (uint32_t n = 0; n < SIM_SLOTS; n++)
		if (sim_slots[n].claim)
			by_cgroup[sim_slots[n].cgroup_id] += sim_slots[n].acc_ns;
	assert_int_equal(by_cgroup[1], 1 + 10);
	assert_int_equal(by_cgroup[2], 20 + 10);
	assert_int_equal(by_cgroup[3], 5 + 7);
	assert_int_equal(sim_in_use(), 5);
}

static void tree_mark_is_handed_on(void **state)
{
	struct task_struct root = sim_task(10), child = sim_task(11), stranger = sim_task(12), other = sim_task(13);
	uint32_t counted;

	(void)state;
	cfg_tree = true;
	sim_begin();
	swa_create(&sim_cpus[0], &root, (uintptr_t)&root, true);
	counted = *swa_filter(child.tid); /* they may share an entry */
	swa_newtask(&sim_cpus[0], root.tid, false, &child, (uintptr_t)&child);
	swa_newtask(&sim_cpus[0], stranger.tid, false, &other, (uintptr_t)&other);
	assert_true(swa_inside(child.tid));
	assert_false(swa_inside(other.tid));
	sim_switch(0, 10, &stranger);
	sim_switch(0, 20, &other); /* outside to outside: no clock, the stretch goes on */
	assert_int_equal(sim_cpus[0].since_ns, 10);
	sim_switch(0, 35, &child);
	assert_int_equal(sim_cpus[0].bucket_ns[SWB_OTHER], 25);
	child.dead = true;
	sim_switch(0, 40, NULL);
	assert_int_equal(sim_acc(&child), 5);
	assert_false(swa_inside(child.tid));
	assert_int_equal(*swa_filter(child.tid), counted);
	assert_int_equal(sim_cpus[0].missed, 0);
}

/* Asked after between the swap of ids and the hook, a thread that execs does not look dead. */
static void asked_in_mid_exec(void **state)
{
	struct task_struct leader = sim_task(10), thread = sim_task(11);

	(void)state;
	cfg_tree = true;
	thread.tgid = 10;
	sim_begin();
	swa_create(&sim_cpus[0], &leader, (uintptr_t)&leader, true);
	swa_newtask(&sim_cpus[0], leader.tid, false, &thread, (uintptr_t)&thread);
	leader.live = 1;
	leader.dead = true;
	leader.tid = 11;
	thread.tid = 10;
	thread.start = leader.start;
	for (uint32_t n = 0; n < SIM_SLOTS; n++)
		assert_int_equal(sim_ask(n, false), sim_slots[n].claim != 0);
	swa_exec(&sim_cpus[0], &thread, (uintptr_t)&thread, 11);
	assert_true(swa_inside(10));
	assert_false(swa_inside(11));
	for (uint32_t n = 0; n < SIM_SLOTS; n++)
		assert_false(sim_ask(n, false));
	assert_int_equal(swa_global.held, 1);
}

/* Only the processes themselves: a thread inherits, a child does not. */
static void process_scope(void **state)
{
	struct task_struct root = sim_task(10), thread = sim_task(11), child = sim_task(12);

	(void)state;
	cfg_tree = cfg_process = true;
	thread.tgid = 10;
	sim_begin();
	swa_create(&sim_cpus[0], &root, (uintptr_t)&root, true);
	assert_true(swa_reaches(root.tgid, &thread));
	assert_false(swa_reaches(root.tgid, &child));
	swa_newtask(&sim_cpus[0], root.tid, false, &thread, (uintptr_t)&thread);
	assert_true(swa_inside(thread.tid));
	assert_int_equal(swa_global.held, 2);
}

/* While the tree is looked for: the parent is not marked yet, but will be. */
static void heir_before_its_parent(void **state)
{
	struct task_struct parent = sim_task(10), child = sim_task(11), other = sim_task(12);

	(void)state;
	cfg_tree = true;
	sim_begin();
	swa_newtask(&sim_cpus[0], parent.tid, true, &child, (uintptr_t)&child);
	swa_newtask(&sim_cpus[0], parent.tid, false, &other, (uintptr_t)&other);
	assert_true(swa_inside(child.tid));
	assert_false(swa_inside(parent.tid));
	assert_false(swa_inside(other.tid));
}

/* A member whose death no switch showed: its id comes back as an outsider's. */
static void stale_mark_is_dropped(void **state)
{
	struct task_struct member = sim_task(10), stranger = sim_task(20), child = sim_task(10);

	(void)state;
	cfg_tree = true;
	sim_begin();
	swa_create(&sim_cpus[0], &member, (uintptr_t)&member, true);
	swa_newtask(&sim_cpus[0], stranger.tid, false, &child, (uintptr_t)&child);
	assert_false(swa_inside(child.tid));
	assert_int_equal(sim_cpus[0].unlisted, 1);
}

/* One short child after another in the same task_struct, many in one window: each has a slot. */
static void address_is_used_again(void **state)
{
	struct task_struct parent = sim_task(10), child;

	(void)state;
	cfg_tree = true;
	sim_begin();
	swa_create(&sim_cpus[0], &parent, (uintptr_t)&parent, true);
	for (int i = 0; i < 1000; i++) {
		child = sim_task(100 + i);
		swa_newtask(&sim_cpus[0], parent.tid, false, &child, (uintptr_t)&child);
		sim_switch(0, 100 * i + 50, &child);
		child.dead = true;
		sim_switch(0, 100 * i + 57, NULL);
		assert_int_equal(sim_acc(&child), 7);
	}
	assert_int_equal(sim_cpus[0].members_lost, 0);
	assert_int_equal(sim_cpus[0].bucket_ns[SWB_OTHER], 0);
}

/* A task that becomes a member while outsiders have run unclocked is not given their time. */
static void marked_in_mid_stretch(void **state)
{
	struct task_struct stranger = sim_task(10), late = sim_task(11);

	(void)state;
	cfg_tree = true;
	sim_begin();
	sim_switch(0, 10, &stranger);
	sim_switch(0, 100, &late);
	swa_create(&sim_cpus[1], &late, (uintptr_t)&late, true);
	sim_switch(0, 120, NULL);
	assert_int_equal(sim_acc(&late), 0);
	assert_int_equal(sim_cpus[0].bucket_ns[SWB_OTHER], 110);
	sim_switch(0, 130, &late);
	sim_switch(0, 137, NULL);
	assert_int_equal(sim_acc(&late), 7);
}

/* A CPU that is switched on during a recording begins with its first switch, not before recording is open. */
static void cpu_comes_online(void **state)
{
	struct task_struct a = sim_task(10);

	(void)state;
	sim_switch(3, 5, &a);
	assert_int_equal(sim_cpus[3].running, 0);
	swa_global.open = 1;
	sim_switch(3, 10, NULL);
	assert_int_equal(sim_cpus[3].began_ns, 10);
	sim_switch(3, 25, &a);
	sim_switch(3, 30, NULL);
	assert_int_equal(idle_ns(3), 15);
	assert_int_equal(sim_acc(&a), 5);
}

static void seq_is_even_at_rest(void **state)
{
	struct task_struct a = sim_task(10);

	(void)state;
	sim_begin();
	for (int i = 1; i < 20; i++) {
		sim_switch(0, 10 * i, i & 1 ? &a : NULL);
		assert_int_equal(sim_cpus[0].seq & 1, 0);
	}
	assert_int_equal(sim_cpus[0].seq / 2, 1 + 19);
	assert_int_equal(sim_cpus[0].missed, 0);
	sim_snap(0); /* moves seq without a switch */
	sim_switch(0, 300, NULL);
	assert_int_equal(sim_cpus[0].missed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(idle_is_per_cpu, reset),
		cmocka_unit_test_setup(every_switch_out_charges, reset),
		cmocka_unit_test_setup(open_slices, reset),
		cmocka_unit_test_setup(gap_is_lost, reset),
		cmocka_unit_test_setup(gap_without_arrival, reset),
		cmocka_unit_test_setup(single_gap_is_resolved, reset),
		cmocka_unit_test_setup(unseen_there_and_back, reset),
		cmocka_unit_test_setup(unseen_death, reset),
		cmocka_unit_test_setup(stale_expectation, reset),
		cmocka_unit_test_setup(slice_is_split_at_T, reset),
		cmocka_unit_test_setup(switch_at_T, reset),
		cmocka_unit_test_setup(late_boundary, reset),
		cmocka_unit_test_setup(skipped_epochs, reset),
		cmocka_unit_test_setup(boundary_drawn_nearer, reset),
		cmocka_unit_test_setup(gap_across_T, reset),
		cmocka_unit_test_setup(exec_by_thread, reset),
		cmocka_unit_test_setup(exec_by_thread_in_tree, reset),
		cmocka_unit_test_setup(leader_goes_first_in_tree, reset),
		cmocka_unit_test_setup(leader_goes_late_in_tree, reset),
		cmocka_unit_test_setup(exec_renames, reset),
		cmocka_unit_test_setup(death, reset),
		cmocka_unit_test_setup(slots_run_out, reset),
		cmocka_unit_test_setup(domains_are_apart, reset),
		cmocka_unit_test_setup(cgroup_change, reset),
		cmocka_unit_test_setup(tree_mark_is_handed_on, reset),
		cmocka_unit_test_setup(stale_mark_is_dropped, reset),
		cmocka_unit_test_setup(asked_in_mid_exec, reset),
		cmocka_unit_test_setup(process_scope, reset),
		cmocka_unit_test_setup(heir_before_its_parent, reset),
		cmocka_unit_test_setup(address_is_used_again, reset),
		cmocka_unit_test_setup(marked_in_mid_stretch, reset),
		cmocka_unit_test_setup(cpu_comes_online, reset),
		cmocka_unit_test_setup(seq_is_even_at_rest, reset),
	};

	return cmocka_run_group_tests_name("account", tests, NULL, NULL);
}

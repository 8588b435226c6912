/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader of src/cpu/ebpf_read.c on a simulated machine that goes on while it is read, against an account that the
 * simulation keeps itself: every task, window by window, to the nanosecond. Random, but the same in every run.
 */
#include "sim.h"

#include "cpu/ebpf.h"

#include <bpf/bpf.h>

#define TASKS 60
#define PEEK_FD 1001
#define SNAP_FD 1002
#define ASK_FD 1003

struct truth {
	uint64_t start;  /* identity */
	uint64_t at_T;   /* cumulative, at the boundary */
	uint64_t final;  /* when it has died */
	bool dead;
	uint64_t reported;
};

struct machine {
	struct sw_ebpf b;
	struct swb_asked asked;
	struct task_struct *tasks[TASKS]; /* pages apart, as the kernel's are */
	bool member[TASKS];
	struct truth truth[TASKS * 400];
	size_t n_truth;
	uint32_t next_tid;
	uint64_t next_start;
	uint64_t T;
	bool passed; /* T: the truth was taken */
	uint64_t idle_at_T, idle_before, other_at_T, other_before, dead_other;
	unsigned busy_peek; /* events while it is being read */
	/* what may happen, in per mille of events */
	unsigned unseen, deaths, moves, execs;
	unsigned tends; /* boundaries within a window that nobody is told of, at most */
	bool late; /* boundaries are announced when they have passed */
	uint32_t seed;
	uint64_t lost;
};

static struct machine *sim;

static uint32_t roll(uint32_t below)
{
	sim->seed = sim->seed * 1664525 + 1013904223;
	return (sim->seed >> 8) % below;
}

static struct truth *truth_of(uint64_t start)
{
	for (size_t i = sim->n_truth; i-- > 0;)
		if (sim->truth[i].start == start)
			return &sim->truth[i];
	return NULL;
}

/* Ids come back, as pids do; its lowest bits say which task it is, which also keeps tasks apart in the table. */
static uint32_t next_tid(int i)
{
	return 64 * (1 + sim->next_tid++ % 37) + i;
}

static void born(int i, int parent)
{
	struct task_struct *p = sim->tasks[i];
	uint64_t start = ++sim->next_start;

	*p = sim_task(next_tid(i));
	p->start = start;
	assert_true(sim->n_truth < sizeof(sim->truth) / sizeof(sim->truth[0]));
	sim->truth[sim->n_truth++] = (struct truth){.start = start};
	sim->member[i] = parent >= 0 && sim->member[parent];
	if (parent >= 0)
		swa_newtask(&sim_cpus[0], sim->tasks[parent]->tid, false, p, (uintptr_t)p);
}

static uint64_t ns_at(const struct task_struct *p, uint64_t t)
{
	return p->true_ns + (p->on_cpu >= 0 ? t - p->arrival : 0);
}

/* The moment T: what is true of everyone. */
static void take_truth(void)
{
	sim->idle_at_T = 0;
	sim->other_at_T = sim->dead_other;
	for (int i = 0; i < SIM_CPUS; i++)
		sim->idle_at_T += ns_at(&sim_idle[i], sim->T);
	for (size_t i = 0; i < sim->n_truth; i++)
		if (sim->truth[i].dead)
			sim->truth[i].at_T = sim->truth[i].final;
	for (int i = 0; i < TASKS; i++) {
		uint64_t ns = ns_at(sim->tasks[i], sim->T);

		if (cfg_tree && !sim->member[i])
			sim->other_at_T += ns;
		else
			truth_of(sim->tasks[i]->start)->at_T = ns;
	}
	sim->passed = true;
}

/* It is gone, and its memory becomes another task's. */
static void buried(int i)
{
	struct task_struct *p = sim->tasks[i];

	if (cfg_tree && !sim->member[i]) {
		sim->dead_other += p->true_ns;
	} else {
		truth_of(p->start)->dead = true;
		truth_of(p->start)->final = p->true_ns;
	}
	born(i, (i + 1 + roll(TASKS - 1)) % TASKS);
}

/* Memory of a task that nobody saw leave is not used again before its CPU has gone on. */
static void bury_unseen(void)
{
	for (int i = 0; i < TASKS; i++) {
		bool expected = false;

		for (int cpu = 0; cpu < SIM_CPUS; cpu++)
			expected |= sim_cpus[cpu].running == (uintptr_t)sim->tasks[i];
		if (sim->tasks[i]->dead && !expected)
			buried(i);
	}
}

/* One event, somewhere. */
static void event(void)
{
	uint64_t t = sim_time + 1 + roll(400);
	unsigned cpu = roll(SIM_CPUS);
	struct task_struct *prev = sim_runs[cpu], *next = NULL;
	int i = prev->tid ? (int)(prev->tid % 64) : -1, to = roll(TASKS + TASKS / 2);

	if (!sim->passed && t >= sim->T)
		take_truth();
	sim_time = t;
	if (i >= 0 && roll(1000) < sim->moves) {
		prev->cgroup = 1 + roll(2);
		prev->css = 100 * prev->cgroup + roll(2);
	}
	if (i >= 0 && roll(1000) < sim->execs) {
		uint32_t old = prev->tid;

		prev->tid = next_tid(i);
		swa_exec(&sim_cpus[cpu], prev, (uintptr_t)prev, old);
	}
	if (to < TASKS && sim->tasks[to]->on_cpu < 0 && !sim->tasks[to]->dead)
		next = sim->tasks[to];
	if (!next && !prev->tid)
		return; /* idle to idle is no switch */
	if (next == prev)
		return;
	prev->dead = i >= 0 && roll(1000) < sim->deaths;
	if (roll(1000) < sim->unseen) {
		sim_unseen(cpu, t, next);
		return;
	}
	sim_switch(cpu, t, next);
	if (prev->dead)
		buried(i);
	bury_unseen();
}

/* What the programs peek, snap and ask do, when user space runs them. */
int bpf_prog_test_run_opts(int fd, struct bpf_test_run_opts *opts)
{
	if (fd == SNAP_FD) {
		sim_snap(opts->cpu);
		return 0;
	}
	if (fd == ASK_FD) {
		for (uint32_t i = 0; i < sim->asked.n; i++)
			if (sim_ask(sim->asked.slot[i] & ~SWB_ASK_BURY, sim->asked.slot[i] & SWB_ASK_BURY))
				sim->asked.slot[i] = SWB_ASK_OTHER;
		return 0;
	}
	assert_int_equal(fd, PEEK_FD);
	for (unsigned i = 0; i < SIM_CPUS; i++) {
		struct swb_cpu *c = &sim_cpus[i];
		struct task_struct *curr = sim_runs[i], *x = (struct task_struct *)(uintptr_t)c->running;

		c->seen_seq = c->seq;
		c->seen_task = (uintptr_t)curr;
		c->seen_tid = curr->tid;
		c->seen_css = curr->css;
		c->left_ran_ns = 0;
		c->seen_unseen = swa_count(c, curr) + 1 - (c->seq >> 1) - c->switches;
		if (c->running == (uintptr_t)curr)
			continue;
		if (c->seen_unseen != 1)
			continue;
		c->left_tid = x->tid;
		c->left_css = x->css;
		if (x->tid && x->on_cpu < 0 && x->arrival == c->since_ns && x->departure > x->arrival)
			c->left_ran_ns = x->departure - x->arrival;
	}
	for (unsigned n = roll(sim->busy_peek + 1); n > 0; n--)
		event();
	return 0;
}

int bpf_obj_get_info_by_fd(int fd, void *info, __u32 *size)
{
	(void)fd;
	(void)info;
	(void)size;
	return -1;
}

static void start(uint32_t seed)
{
	static int16_t domain_of[SIM_CPUS] = {0, 0, 1, 1};
	struct sw_ebpf *b;

	sim = calloc(1, sizeof(*sim));
	assert_non_null(sim);
	sim->seed = seed;
	sim->busy_peek = 6;
	b = &sim->b;
	b->tree = cfg_tree;
	b->peeks = true;
	b->peek_fd = PEEK_FD;
	b->snap_fd = SNAP_FD;
	b->ask_fd = ASK_FD;
	b->asked = &sim->asked;
	b->switch_fd = b->online_fd = -1;
	b->cpus = sim_cpus;
	b->slots = sim_slots;
	b->cold = sim_cold;
	b->global = &swa_global;
	b->n_slots = SIM_SLOTS;
	b->n_cpus = SIM_CPUS;
	b->n_domains = 2;
	b->domain_of = domain_of;
	b->state = calloc(SIM_SLOTS, sizeof(*b->state));
	b->cpu = calloc(SIM_CPUS, sizeof(*b->cpu));
	b->active = calloc(SIM_SLOTS, sizeof(*b->active));
	b->domains = calloc(2, sizeof(*b->domains));
	for (int i = 0; i < SIM_CPUS; i++) {
		sim_cpus[i].domain = domain_of[i];
		b->cpu[i].present = true;
	}
	sim->passed = true;
	for (int i = 0; i < TASKS; i++) {
		sim->tasks[i] = aligned_alloc(8192, 8192);
		assert_non_null(sim->tasks[i]);
		born(i, -1);
	}
	if (cfg_tree)
		for (int i = 0; i < 3; i++) {
			sim->member[i] = true;
			swa_create(&sim_cpus[0], sim->tasks[i], (uintptr_t)sim->tasks[i], true);
		}
	sim_time = 1000; /* a moment of 0 means none */
	sim_begin();
}

static void stop(void)
{
	struct sw_ebpf *b = &sim->b;

	for (int i = 0; i < TASKS; i++)
		free(sim->tasks[i]);
	free(b->state);
	free(b->cpu);
	free(b->active);
	free(b->touched);
	free(b->departed);
	free(b->domains);
	free(b->held);
	free(b->rows);
	free(sim);
	sim = NULL;
}

struct sums {
	uint64_t last_key[SIM_SLOTS];
	bool lives[SIM_SLOTS];
	struct sw_cpu_domain last[2];
};

/* Go on until T has passed, and a little beyond it. */
static void pass(struct sw_ebpf *b, uint64_t T)
{
	sim->T = T;
	sim->passed = false;
	if (!sim->late)
		sw_ebpf_set_boundary(b, T);
	while (!sim->passed)
		event();
	if (sim->late)
		sw_ebpf_set_boundary(b, T);
	for (unsigned n = roll(20); n > 0; n--)
		event();
	if (!roll(8)) /* as if it were long ago */
		b->swept_ns = b->T - 60 * UINT64_C(1000000000);
}

/* A window of which the far end is announced, and boundaries of the back end's own before that. */
static void tend(struct sw_ebpf *b, unsigned times)
{
	uint64_t far = sim_time + 100000;

	sw_ebpf_set_boundary(b, far);
	for (unsigned i = 0; i < times; i++) {
		for (unsigned n = roll(20); n > 0; n--)
			event();
		pass(b, sim_time + 2000 + roll(4000));
		assert_int_equal(sw_ebpf_keep_boundary(b, far--), 0);
	}
}

/* Announce, run, read, and compare one window. `exact`: nothing went unseen, so everything must be as it truly was. */
static void window(struct sums *s, bool first, bool exact)
{
	const struct sw_cpu_usage *usage = NULL;
	struct sw_ebpf *b = &sim->b;
	uint64_t T_before = b->T, rows = 0, idle = 0, other = 0, lost = 0, offline = 0;

	if (!first && sim->tends && roll(2))
		tend(b, 1 + roll(sim->tends));
	/* where boundaries come late, windows are no longer than that, and hold little */
	pass(b, sim_time + (sim->late ? 50 + roll(1000) : 2000 + roll(4000)));
	assert_int_equal(sw_ebpf_read(&b->backend, NULL, &usage), 0);
	for (size_t i = 0; i < usage->n_rows; i++) {
		const struct sw_cpu_row *r = &usage->rows[i];
		uint64_t before = r->first ? 0 : s->last_key[r->key];
		struct truth *t = truth_of(r->task->start_boottime_ns);

		assert_non_null(t);
		assert_true(r->oncpu_ns >= before);
		assert_true(r->first == !s->lives[r->key]); /* keys are handed on in order */
		s->lives[r->key] = !r->last;
		rows += r->oncpu_ns - before;
		t->reported += r->oncpu_ns - before;
		s->last_key[r->key] = r->oncpu_ns;
	}
	for (int d = 0; d < 2; d++) {
		const struct sw_cpu_domain *now = &usage->domains[d], *was = &s->last[d];

		assert_true(now->idle_ns >= was->idle_ns && now->other_ns >= was->other_ns);
		assert_true(now->lost_missed_ns >= was->lost_missed_ns && now->lost_slots_ns >= was->lost_slots_ns);
		idle += now->idle_ns - was->idle_ns;
		other += now->other_ns - was->other_ns;
		lost += now->lost_missed_ns - was->lost_missed_ns + now->lost_slots_ns - was->lost_slots_ns;
		offline += now->offline_ns - was->offline_ns;
		s->last[d] = *now;
	}
	if (!first) {
		assert_int_equal(rows + idle + other + lost + offline, SIM_CPUS * (b->T - T_before));
		sim->lost += lost;
	}
	for (size_t i = 0; i < sim->n_truth; i++) {
		struct truth *t = &sim->truth[i];

		if (exact)
			assert_int_equal(t->reported, t->at_T);
		else
			assert_true(sim->late || t->reported <= t->at_T); /* never what somebody else had */
	}
	if (exact && !first) {
		assert_int_equal(idle, sim->idle_at_T - sim->idle_before);
		assert_int_equal(other, sim->other_at_T - sim->other_before);
		assert_int_equal(lost, 0);
	}
	sim->idle_before = sim->idle_at_T;
	sim->other_before = sim->other_at_T;
	assert_int_equal(b->check_differ, 0);
}

static void run(unsigned windows, bool exact)
{
	struct sums s = {0};
	unsigned alive = 0, held = 0;

	for (unsigned i = 0; i < windows; i++)
		window(&s, i == 0, exact);
	/* slots in use are those of tasks that live: dead and renamed ones came back */
	for (uint32_t n = 0; n < SIM_SLOTS; n++)
		if (sim_slots[n].claim) {
			assert_int_equal(sim_slots[n].claim, 1);
			alive += sim_slots[n].dead == SWB_ALIVE;
		}
	assert_true(sim_in_use() - alive <= 30); /* those that died since the last boundary */
	for (int i = 0; i < 2; i++) { /* those who look like others, at first */
		sim->b.T += 60 * UINT64_C(1000000000);
		sim->b.missed--;
		sw_ebpf_sweep(&sim->b);
	}
	for (uint32_t n = 0; n < SIM_SLOTS; n++) {
		const struct task_struct *p = (struct task_struct *)(uintptr_t)sim_slots[n].task;

		held += p != NULL;
		assert_true(!p || (p->tid == sim_slots[n].tid && p->start == sim_cold[n].start_boottime_ns));
	}
	assert_int_equal(swa_global.held, cfg_tree ? held : 0);
	assert_true(sim->late || sim->b.check_compared > windows / 8);
}

static void exact_host(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		sim_reset();
		start(seed);
		sim->deaths = 20;
		run(150, true);
		stop();
	}
}

static void exact_with_moves_and_execs(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		sim_reset();
		start(seed);
		sim->deaths = 20;
		sim->moves = 100;
		sim->execs = 50;
		run(150, true);
		stop();
	}
}

static void exact_tree(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		sim_reset();
		cfg_tree = true;
		start(seed);
		sim->deaths = 20;
		sim->moves = 50;
		run(150, true);
		stop();
	}
}

/* Long windows, in which the dead are let go before anybody is told of them. */
static void long_windows(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		sim_reset();
		cfg_tree = seed % 2;
		start(seed);
		sim->deaths = 30;
		sim->moves = 50;
		sim->execs = cfg_tree ? 0 : 20;
		sim->tends = 6;
		run(40, true);
		stop();
	}
}

static void unseen_switches(void **state)
{
	uint64_t lost = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		sim_reset();
		start(seed);
		sim->deaths = 10;
		sim->unseen = 20;
		run(60, false);
		lost += sim->lost;
		stop();
	}
	assert_true(lost > 0);
}

static void unseen_in_tree(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		sim_reset();
		cfg_tree = true;
		start(seed);
		sim->deaths = 10;
		sim->moves = 20;
		sim->unseen = 20;
		sim->tends = seed % 2;
		run(60, false);
		stop();
	}
}

/* A CPU that saw T too late: what it did behind T waits for the next window, and every window's sum is right. */
static void late_boundaries(void **state)
{
	uint64_t late = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		sim_reset();
		start(seed);
		sim->late = true;
		sim->deaths = 150 * (seed % 3);
		run(100, false);
		late += sim->b.late;
		stop();
	}
	assert_true(late > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_host),
		cmocka_unit_test(exact_with_moves_and_execs),
		cmocka_unit_test(exact_tree),
		cmocka_unit_test(long_windows),
		cmocka_unit_test(unseen_switches),
		cmocka_unit_test(unseen_in_tree),
		cmocka_unit_test(late_boundaries),
	};

	return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}

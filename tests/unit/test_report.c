/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports of a machine that is made up at random: tasks that fork, move between cgroups, end, and leave their keys to
 * others within one read. Every grouping must add up to the whole, to the nanosecond and the nanojoule, and be what the
 * machine's own books say.
 */
#include <stdio.h>

#include "fake_monitor.h"

enum { PROCESSES = 24, THREADS_EACH = 3, TASKS = PROCESSES * THREADS_EACH, CGROUPS = 7, ROWS_MAX = 4096 };

/* "/", "/in", "/in/a", "/in/b", "/out", "/out/in", "/inside": three of them lie in "/in". */
static const struct sw_cgroup_info tree[CGROUPS] = {
	{3, 2, "a"}, {1, 0, ""}, {2, 1, "in"}, {4, 2, "b"}, {5, 1, "out"}, {6, 5, "in"}, {7, 1, "inside"},
};

static bool lies_in(uint64_t cgroup)
{
	return cgroup >= 2 && cgroup <= 4;
}

struct books { /* of the window, and in total */
	uint64_t process[PROCESSES], thread[TASKS], cgroup[CGROUPS + 1], other[FAKE_DOMAINS], proc[FAKE_DOMAINS];
};

struct key {
	bool used;
	int task;
	unsigned domain;
	uint64_t cgroup;
	uint64_t oncpu_ns; /* cumulative */
	bool known;
};

struct machine {
	struct fake *f;
	bool targeted; /* a cgroup is the target */
	uint32_t seed;
	struct sw_task task[TASKS];
	unsigned born; /* times that the processes' pids were used again */
	struct key key[FAKE_KEYS];
	struct sw_cpu_row rows[ROWS_MAX];
	struct sw_task row_task[ROWS_MAX];
	size_t n_rows;
	struct books window, total;
	struct sw_zone_point zones[4];
	struct sw_energy_point point;
};

static uint32_t roll(struct machine *x, uint32_t below)
{
	x->seed = x->seed * 1664525 + 1013904223;
	return (x->seed >> 8) % below;
}

static void name_task(struct machine *x, int i)
{
	int process = i / THREADS_EACH, thread = i % THREADS_EACH;
	struct sw_task *t = &x->task[i];

	*t = (struct sw_task){
		.start_boottime_ns = 1000000 + 100 * process + thread,
		.leader_start_boottime_ns = 1000000 + 100 * process,
		.tgid = 1000 + 10 * process,
		.tid = 1000 + 10 * process + thread,
		.ppid = 1,
	};
	snprintf(t->comm, sizeof(t->comm), "t%d", thread);
	snprintf(t->process_comm, sizeof(t->process_comm), "p%d", process % 5);
	if (!thread)
		memcpy(t->comm, t->process_comm, sizeof(t->comm));
}

static void emit(struct machine *x, unsigned k, bool last, bool died)
{
	struct key *key = &x->key[k];
	struct sw_task *t = &x->row_task[x->n_rows];

	assert_true(x->n_rows < ROWS_MAX);
	*t = x->task[key->task];
	x->rows[x->n_rows++] = (struct sw_cpu_row){
		.key = k,
		.first = !key->known,
		.last = last,
		.died = died,
		.described = roll(x, 4) == 0,
		.domain = key->domain,
		.cgroup_id = key->cgroup,
		.oncpu_ns = key->oncpu_ns,
		.task = t,
	};
	key->known = true;
	if (last)
		*key = (struct key){0};
}

static void book(struct machine *x, const struct key *key, uint64_t ns)
{
	struct books *both[2] = {&x->window, &x->total};

	for (int i = 0; i < 2; i++) {
		struct books *b = both[i];

		if (x->targeted && !lies_in(key->cgroup)) {
			b->other[key->domain] += ns;
			continue;
		}
		b->proc[key->domain] += ns;
		b->process[key->task / THREADS_EACH] += ns;
		b->thread[key->task] += ns;
		b->cgroup[key->cgroup] += ns;
	}
}

/* A few keys do something, some end, and some of those serve another task at once. */
static void live(struct machine *x)
{
	memset(&x->window, 0, sizeof(x->window));
	x->n_rows = 0;
	for (unsigned i = 0; i < 150; i++) {
		unsigned k = roll(x, FAKE_KEYS);
		struct key *key = &x->key[k];

		/* one row for each life of a key in a read */
		for (size_t r = 0; r < x->n_rows; r++)
			if (x->rows[r].key == k && !x->rows[r].last)
				key = NULL;
		for (bool again = key; again;) {
			uint64_t ns = roll(x, 8) ? roll(x, 1 << 23) : 0;

			if (!key->used)
				*key = (struct key){.used = true, .task = roll(x, TASKS), .domain = roll(x, FAKE_DOMAINS),
						    .cgroup = 1 + roll(x, CGROUPS)};
			key->oncpu_ns += ns;
			book(x, key, ns);
			again = roll(x, 3) == 0;
			emit(x, k, again, roll(x, 2));
		}
	}
}

static void tell_domains(struct machine *x)
{
	for (unsigned d = 0; d < FAKE_DOMAINS; d++) {
		struct sw_cpu_domain *c = &x->f->domains[d];
		uint64_t idle = roll(x, 1 << 24), other = x->targeted ? 0 : roll(x, 1 << 22);
		uint64_t lost[3] = {roll(x, 1000), roll(x, 9999), roll(x, 3)}, off = roll(x, 5) ? 0 : roll(x, 1 << 20);

		c->idle_ns += idle;
		c->other_ns += other;
		c->lost_slots_ns += lost[0];
		c->lost_missed_ns += lost[1];
		c->lost_other_ns += lost[2];
		c->offline_ns += off;
		c->span_ns += idle + other + lost[0] + lost[1] + lost[2] + off + x->window.proc[d] + x->window.other[d];
		x->window.other[d] += other;
		x->total.other[d] += other;
	}
}

static const struct sw_report *window(struct machine *x, bool first)
{
	const struct sw_window *w = NULL;
	const struct sw_report *r = NULL;
	struct fake *f = x->f;
	int err;

	live(x);
	tell_domains(x);
	f->usage.rows = x->rows;
	f->usage.n_rows = x->n_rows;
	f->usage.domains = f->domains;
	f->usage.t_ns += 1000000000 + roll(x, 1000);
	for (int i = 0; i < 4; i++)
		x->zones[i].sum_nj += roll(x, 1 << 30) * 7ULL;
	x->zones[1].readable = roll(x, 6) != 0;
	err = sw_windows_add(&f->m->windows, &f->usage, x->zones, &x->point, &f->m->error, &w);
	assert_int_equal(err, !first);
	if (first)
		assert_int_equal(sw_report_baseline(f->m, w), 0);
	else
		assert_int_equal(sw_report_make(f->m, w, &r), 0);
	/* what the back end lent is gone with the next read */
	memset(x->row_task, 0x55, sizeof(x->row_task));
	return r;
}

static int64_t there(int64_t nj)
{
	return nj == SW_ABSENT ? 0 : nj;
}

static int task_of(int32_t host_tid)
{
	int n = host_tid - 1000;

	return n / 10 * THREADS_EACH + n % 10;
}

static void check_processes(const struct sw_process *rows, size_t n, const struct books *b, uint64_t ns, int64_t nj)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t sum = 0;

		assert_int_equal(rows[i].oncpu_ns, b->process[task_of(rows[i].host_pid) / THREADS_EACH]);
		for (int d = 0; d < FAKE_DOMAINS; d++)
			sum += rows[i].oncpu_by_domain_ns[d];
		assert_int_equal(sum, rows[i].oncpu_ns);
		assert_true(!i || rows[i - 1].oncpu_ns >= rows[i].oncpu_ns);
		ns -= rows[i].oncpu_ns;
		nj -= there(rows[i].nj);
	}
	assert_int_equal(ns, 0);
	assert_int_equal(nj, 0);
}

/* Threads add up to their processes, too. */
static void check_threads(const struct sw_thread *rows, size_t n, const struct sw_process *processes, size_t n_processes,
			  const struct books *b)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t sum = 0;

		assert_int_equal(rows[i].oncpu_ns, b->thread[task_of(rows[i].host_tid)]);
		for (int d = 0; d < FAKE_DOMAINS; d++)
			sum += rows[i].oncpu_by_domain_ns[d];
		assert_int_equal(sum, rows[i].oncpu_ns);
		assert_true(!i || rows[i - 1].oncpu_ns >= rows[i].oncpu_ns);
	}
	for (size_t k = 0; k < n_processes; k++) {
		uint64_t ns = processes[k].oncpu_ns;
		int64_t nj = there(processes[k].nj);

		for (size_t i = 0; i < n; i++) {
			if (rows[i].host_pid != processes[k].host_pid)
				continue;
			ns -= rows[i].oncpu_ns;
			nj -= there(rows[i].nj);
			assert_string_equal(rows[i].process_comm, processes[k].comm);
		}
		assert_int_equal(ns, 0);
		assert_int_equal(nj, 0);
	}
}

static void check_cgroups(const struct sw_cgroup *rows, size_t n, const struct books *b, uint64_t ns, int64_t nj)
{
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(rows[i].oncpu_ns, b->cgroup[rows[i].id]);
		ns -= rows[i].oncpu_ns;
		nj -= there(rows[i].nj);
	}
	assert_int_equal(ns, 0);
	assert_int_equal(nj, 0);
}

static void check_comms(const struct sw_comm *rows, size_t n, uint64_t n_processes, uint64_t ns, int64_t nj)
{
	for (size_t i = 0; i < n; i++) {
		ns -= rows[i].oncpu_ns;
		nj -= there(rows[i].nj);
		n_processes -= rows[i].processes;
	}
	assert_int_equal(n_processes, 0);
	assert_int_equal(ns, 0);
	assert_int_equal(nj, 0);
}

static void check_whole(struct machine *x, const struct sw_report *r)
{
	const struct sw_energy *e = &r->energy;
	uint64_t span = 0, proc = 0, other = 0;

	for (int d = 0; d < FAKE_DOMAINS; d++) {
		const struct sw_cpu_domain *w = &x->f->m->windows.window.domains[d];

		span += w->span_ns;
		proc += x->window.proc[d];
		other += x->window.other[d];
		assert_int_equal(r->domains[d].proc_ns, x->window.proc[d]);
		assert_int_equal(r->domains[d].other_ns, x->window.other[d]);
		assert_int_equal(r->domains[d].busy_ns, x->window.proc[d] + x->window.other[d]);
	}
	assert_int_equal(r->proc_oncpu_ns, proc);
	assert_int_equal(r->other_oncpu_ns, other);
	assert_int_equal(proc + other + r->idle_ns + r->lost_ns + r->offline_ns, span);
	if (e->total_nj != SW_ABSENT) {
		assert_int_equal(e->proc_nj + e->other_nj + e->idle_nj + e->unattributed_nj, e->total_nj);
		assert_int_equal(e->total_nj, r->package_nj + r->dram_nj);
	}
}

static void check_report(struct machine *x, const struct sw_report *r)
{
	uint32_t by = x->f->m->options.by;
	int64_t nj = there(r->energy.proc_nj);

	check_whole(x, r);
	if (by & SW_BY_PROCESS)
		check_processes(r->processes, r->n_processes, &x->window, r->proc_oncpu_ns, nj);
	else
		assert_true(!r->processes && !r->n_processes);
	if (by & SW_BY_THREAD)
		check_threads(r->threads, r->n_threads, r->processes, r->n_processes, &x->window);
	else
		assert_true(!r->threads && !r->n_threads);
	if (by & SW_BY_CGROUP)
		check_cgroups(r->cgroups, r->n_cgroups, &x->window, r->proc_oncpu_ns, nj);
	else
		assert_true(!r->cgroups && !r->n_cgroups);
	if (by & SW_BY_COMM)
		check_comms(r->comms, r->n_comms, r->n_processes, r->proc_oncpu_ns, nj);
	else
		assert_true(!r->comms && !r->n_comms);
}

static void check_summary(struct machine *x)
{
	const struct sw_summary *s = NULL;
	uint32_t by = x->f->m->options.by;
	const struct sw_energy *e;

	assert_int_equal(sw_monitor_summary(x->f->m, &s), 0);
	e = &s->energy[x->f->m->options.policy];
	check_processes(s->processes, s->n_processes, &x->total, s->proc_oncpu_ns, e->proc_nj);
	check_comms(s->comms, s->n_comms, s->processes_seen, s->proc_oncpu_ns, e->proc_nj);
	if (by & SW_BY_THREAD)
		check_threads(s->threads, s->n_threads, s->processes, s->n_processes, &x->total);
	else
		assert_true(!s->threads && !s->n_threads);
	if (by & SW_BY_CGROUP)
		check_cgroups(s->cgroups, s->n_cgroups, &x->total, s->proc_oncpu_ns, e->proc_nj);
	else
		assert_true(!s->cgroups && !s->n_cgroups);
	for (int p = 0; p < SW_POLICIES; p++) {
		const struct sw_energy *other = &s->energy[p];

		if (p == SW_POLICY_MARGINAL)
			assert_true(other->total_nj == SW_ABSENT);
		else
			assert_int_equal(other->proc_nj + other->other_nj + other->idle_nj + other->unattributed_nj,
					 e->total_nj);
	}
}

static void run(uint32_t by, const char *cgroup, enum sw_policy policy, uint32_t seed)
{
	const struct sw_options o = {.by = by, .policy = policy, .cgroup = cgroup, .no_cmdline = 1};
	struct machine *x = calloc(1, sizeof(*x));
	unsigned keys = 0;

	assert_non_null(x);
	x->f = fake_open(&o, NULL, 0);
	x->f->infos = tree;
	x->f->n_infos = CGROUPS;
	x->targeted = cgroup;
	x->seed = seed;
	for (int i = 0; i < 4; i++)
		x->zones[i] = (struct sw_zone_point){.readable = true, .mirror_of = -1};
	for (int i = 0; i < TASKS; i++)
		name_task(x, i);
	window(x, true);
	memset(&x->total, 0, sizeof(x->total));
	for (int i = 0; i < 60; i++)
		check_report(x, window(x, false));
	check_summary(x);
	for (int i = 0; i < 20; i++)
		check_report(x, window(x, false));
	check_summary(x);
	/* every key lives in one cgroup and belongs to one process and thread */
	for (int i = 0; i < FAKE_KEYS; i++)
		keys += x->key[i].used;
	for (const struct sw_cgroup_entry *c = x->f->m->cgroups.table; c; c = c->hh.next)
		keys -= c->keys;
	assert_int_equal(keys, 0);
	fake_free(x->f);
	free(x);
}

static void groupings_add_up(void **state)
{
	(void)state;
	for (uint32_t by = 1; by < 16; by++)
		if (by & SW_BY_PROCESS || !(by & (SW_BY_THREAD | SW_BY_COMM)))
			run(by, NULL, by % 2 ? SW_POLICY_BUSY : SW_POLICY_CAPACITY, by);
}

/* Who moves out of the target and in again has its time inside only; all else is `other`. */
static void a_cgroup_as_target(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 8; seed++)
		run(15, "/in", seed % 2 ? SW_POLICY_BUSY : SW_POLICY_CAPACITY, seed);
}

/* Two that are alike in all but whose they are: a nanojoule that cannot be split goes to one, not to both. */
static void equal_shares(void **state)
{
	const struct sw_options o = {.by = SW_BY_PROCESS, .no_cmdline = 1};
	struct machine *x = calloc(1, sizeof(*x));
	const struct sw_window *w = NULL;
	const struct sw_report *r = NULL;

	(void)state;
	assert_non_null(x);
	x->f = fake_open(&o, NULL, 0);
	x->f->usage.domains = x->f->domains;
	x->f->usage.rows = x->rows;
	for (int i = 0; i < 4; i++)
		x->zones[i] = (struct sw_zone_point){.readable = true, .mirror_of = -1};
	assert_int_equal(sw_windows_add(&x->f->m->windows, &x->f->usage, x->zones, &x->point, NULL, &w), 0);
	assert_int_equal(sw_report_baseline(x->f->m, w), 0);
	for (int i = 0; i < 4; i++) {
		name_task(x, i * THREADS_EACH);
		x->rows[i] = (struct sw_cpu_row){.key = 8, .first = true, .last = true, .oncpu_ns = 100,
						 .task = &x->task[i * THREADS_EACH]};
	}
	x->f->usage.n_rows = 4;
	x->f->usage.t_ns = 1000;
	x->zones[0].sum_nj = 1001 * 2;
	assert_int_equal(sw_windows_add(&x->f->m->windows, &x->f->usage, x->zones, &x->point, NULL, &w), 1);
	assert_int_equal(sw_report_make(x->f->m, w, &r), 0);
	assert_int_equal(r->energy.proc_nj, 2002);
	assert_int_equal(r->n_processes, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(r->processes[i].nj, i < 2 ? 501 : 500);
	fake_free(x->f);
	free(x);
}

static void names_alone(void **state)
{
	const struct sw_options o = {.by = SW_BY_COMM, .no_cmdline = 1};
	struct machine *x = calloc(1, sizeof(*x));
	const struct sw_report *r;
	uint64_t ns;

	(void)state;
	assert_non_null(x);
	x->f = fake_open(&o, NULL, 0);
	for (int i = 0; i < 4; i++)
		x->zones[i] = (struct sw_zone_point){.readable = true, .mirror_of = -1};
	for (int i = 0; i < TASKS; i++)
		name_task(x, i);
	window(x, true);
	r = window(x, false);
	ns = r->proc_oncpu_ns;
	assert_true(!r->processes && !r->threads && !r->cgroups);
	assert_int_equal(r->n_comms, 5);
	for (size_t i = 0; i < r->n_comms; i++)
		ns -= r->comms[i].oncpu_ns;
	assert_int_equal(ns, 0);
	fake_free(x->f);
	free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groupings_add_up),
		cmocka_unit_test(a_cgroup_as_target),
		cmocka_unit_test(equal_shares),
		cmocka_unit_test(names_alone),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}

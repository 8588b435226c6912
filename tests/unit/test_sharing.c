/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sharing.c: whose a zone's joules are. Zones of one domain and of several, mirrored ones, packages that are off,
 * baselines; every window's parts add up to its total, to the nanojoule.
 */
#include "fake_monitor.h"

#define J INT64_C(1000000000)
#define S UINT64_C(1000000000)

enum { ZONES_MAX = 6, TASKS = 4, NONE = -1 };

struct stage {
	struct fake *f;
	struct sw_energy_source source;
	struct sw_zone_point z[ZONES_MAX];
	struct sw_energy_point point;
	struct sw_cpu_row rows[TASKS * FAKE_DOMAINS];
	struct sw_task task[TASKS];
	const struct sw_report *r;
};

static const struct sw_energy_ops ops = {
	.name = "fake", .quality = "measured", .read = fake_source_read, .close = fake_source_close};

/* One row for each task in each domain, all there from the first boundary on. */
static void set_rows(struct stage *s)
{
	for (unsigned i = 0; i < TASKS * FAKE_DOMAINS; i++) {
		struct sw_task *t = &s->task[i / FAKE_DOMAINS];
		int32_t pid = 100 + (int32_t)(i / FAKE_DOMAINS);

		*t = (struct sw_task){.start_boottime_ns = (uint64_t)pid, .leader_start_boottime_ns = (uint64_t)pid,
				      .tgid = pid, .tid = pid, .ppid = 1, .comm = "t", .process_comm = "t"};
		s->rows[i] = (struct sw_cpu_row){.key = 8 + i, .first = true, .domain = i % FAKE_DOMAINS, .task = t};
	}
}

static void next_window(struct stage *s)
{
	const struct sw_window *w = NULL;
	struct fake *f = s->f;
	bool first = !f->m->windows.started;

	f->usage.rows = s->rows;
	f->usage.n_rows = TASKS * FAKE_DOMAINS;
	f->usage.domains = f->domains;
	f->usage.t_ns += 10 * S;
	assert_int_equal(sw_windows_add(&f->m->windows, &f->usage, s->z, &s->point, &f->m->error, &w), !first);
	if (first)
		assert_int_equal(sw_report_baseline(f->m, w), 0);
	else
		assert_int_equal(sw_report_make(f->m, w, &s->r), 0);
	for (unsigned i = 0; i < TASKS * FAKE_DOMAINS; i++)
		s->rows[i].first = false;
}

static struct stage *set(struct sw_zone_info *zones, size_t n, enum sw_policy policy, const uint64_t *baseline_uw)
{
	const struct sw_options o = {.by = SW_BY_PROCESS, .policy = policy, .no_cmdline = 1};
	struct stage *s = calloc(1, sizeof(*s));
	struct sw_monitor *m;

	assert_non_null(s);
	assert_true(n <= ZONES_MAX);
	s->f = fake_open(&o, NULL, 0);
	m = s->f->m;
	s->source = (struct sw_energy_source){.ops = &ops, .zones = zones, .n_zones = n};
	sw_meter_free(&m->meter);
	sw_windows_free(&m->windows);
	free(m->pots);
	assert_int_equal(sw_meter_init(&m->meter, &s->source), 0);
	assert_int_equal(sw_windows_init(&m->windows, FAKE_KEYS, FAKE_DOMAINS, n), 0);
	m->pots = calloc(n + 1, sizeof(*m->pots));
	assert_non_null(m->pots);
	if (baseline_uw) {
		m->baseline_uw = calloc(FAKE_DOMAINS, sizeof(*m->baseline_uw));
		assert_non_null(m->baseline_uw);
		memcpy(m->baseline_uw, baseline_uw, FAKE_DOMAINS * sizeof(*m->baseline_uw));
	}
	for (size_t i = 0; i < n; i++)
		s->z[i] = (struct sw_zone_point){.sum_nj = 77, .readable = true, .mirror_of = NONE};
	set_rows(s);
	next_window(s);
	return s;
}

static void strike(struct stage *s)
{
	fake_free(s->f);
	free(s);
}

static void ran(struct stage *s, int task, unsigned domain, uint64_t ns)
{
	s->rows[task * FAKE_DOMAINS + (int)domain].oncpu_ns += ns;
	s->f->domains[domain].span_ns += ns;
}

static void idled(struct stage *s, unsigned domain, uint64_t ns)
{
	s->f->domains[domain].idle_ns += ns;
	s->f->domains[domain].span_ns += ns;
}

static void was_off(struct stage *s, unsigned domain, uint64_t ns)
{
	s->f->domains[domain].offline_ns += ns;
	s->f->domains[domain].span_ns += ns;
}

static int64_t nj_of(const struct stage *s, int task)
{
	for (size_t i = 0; i < s->r->n_processes; i++)
		if (s->r->processes[i].host_pid == 100 + task)
			return s->r->processes[i].nj == SW_ABSENT ? 0 : s->r->processes[i].nj;
	return 0;
}

/* The window's total, and that every way of adding it up comes to it. */
static void assert_total(const struct stage *s, int64_t want_nj)
{
	const struct sw_energy *e = &s->r->energy;
	int64_t of_tasks = 0;

	assert_int_equal(e->total_nj, want_nj);
	assert_int_equal(e->proc_nj + e->other_nj + e->idle_nj + e->unattributed_nj, want_nj);
	assert_true(e->proc_nj >= 0 && e->other_nj >= 0 && e->idle_nj >= 0 && e->unattributed_nj >= 0);
	for (int i = 0; i < TASKS; i++)
		of_tasks += nj_of(s, i);
	assert_int_equal(of_tasks, e->proc_nj);
	assert_int_equal(s->r->package_nj + (s->r->dram_nj == SW_ABSENT ? 0 : s->r->dram_nj), want_nj);
}

/* 4 CPUs, 10 s, 100 J; A 20 s, B 10 s, idle 10 s: 66.667 and 33.333 J, or 50, 25 and 25. */
static void two_tasks_and_idle(void **state)
{
	struct sw_zone_info zones[] = {{.role = SW_ROLE_PACKAGE, .domains = 1, .name = (char *)"package-0"}};

	(void)state;
	for (int policy = SW_POLICY_BUSY; policy <= SW_POLICY_CAPACITY; policy++) {
		struct stage *s = set(zones, 1, policy, NULL);

		ran(s, 0, 0, 20 * S);
		ran(s, 1, 0, 10 * S);
		idled(s, 0, 10 * S);
		s->z[0].sum_nj += 100 * J;
		next_window(s);
		assert_total(s, 100 * J);
		assert_int_equal(nj_of(s, 0), policy == SW_POLICY_BUSY ? INT64_C(66666666667) : 50 * J);
		assert_int_equal(nj_of(s, 1), policy == SW_POLICY_BUSY ? INT64_C(33333333333) : 25 * J);
		assert_int_equal(s->r->energy.idle_nj, policy == SW_POLICY_BUSY ? 0 : 25 * J);
		assert_int_equal(s->r->domains[0].nj, 100 * J);
		assert_true(s->r->dram_nj == SW_ABSENT && s->r->platform_nj == SW_ABSENT); /* absent, not 0 */
		assert_int_equal(s->r->flags, 0);
		strike(s);
	}
}

/* Nobody ran; or, for a policy that gives to idle too, there was no CPU time at all. */
static void nobody_ran(void **state)
{
	struct sw_zone_info zones[] = {{.role = SW_ROLE_PACKAGE, .domains = 1, .name = (char *)"package-0"}};

	(void)state;
	for (int policy = SW_POLICY_BUSY; policy < SW_POLICIES; policy++) {
		struct stage *s = set(zones, 1, policy, NULL);

		if (policy == SW_POLICY_BUSY)
			idled(s, 0, 40 * S);
		s->z[0].sum_nj += 100 * J;
		next_window(s);
		assert_total(s, 100 * J);
		assert_int_equal(s->r->energy.unattributed_nj, 100 * J);
		strike(s);
	}
}

/* Each domain's joules go to those who ran there, and to no other. */
static void domain_by_domain(void **state)
{
	struct sw_zone_info zones[] = {
		{.role = SW_ROLE_PACKAGE, .package = 0, .die = -1, .domains = 1, .name = (char *)"package-0"},
		{.role = SW_ROLE_DRAM, .package = 0, .die = -1, .domains = 1, .name = (char *)"package-0/dram"},
		{.role = SW_ROLE_PACKAGE, .package = 1, .die = -1, .domains = 2, .name = (char *)"package-1"},
		{.role = SW_ROLE_PLATFORM, .package = -1, .die = -1, .name = (char *)"psys"},
		{.role = SW_ROLE_PLATFORM, .package = -1, .die = -1, .name = (char *)"psys-1"},
	};
	struct stage *s = set(zones, 5, SW_POLICY_BUSY, NULL);

	(void)state;
	ran(s, 0, 0, 7 * S);
	ran(s, 1, 0, 1 * S);
	ran(s, 1, 1, 1 * S);
	idled(s, 1, 9 * S);
	s->z[0].sum_nj += 70 * J;
	s->z[1].sum_nj += 10 * J;
	s->z[2].sum_nj += 5 * J;
	s->z[3].sum_nj += 200 * J;
	s->z[4].sum_nj += 1 * J;
	next_window(s);
	assert_total(s, 85 * J);
	assert_int_equal(nj_of(s, 0), 70 * J);
	assert_int_equal(nj_of(s, 1), 10 * J + 5 * J);
	assert_int_equal(s->r->domains[0].nj, 80 * J);
	assert_int_equal(s->r->domains[1].nj, 5 * J);
	assert_int_equal(s->r->dram_nj, 10 * J);
	assert_int_equal(s->r->platform_nj, 200 * J);

	/* The platform's counter fails: no other one is taken for it, and the packages' energy is known all the same. */
	ran(s, 0, 0, 8 * S);
	idled(s, 1, 10 * S);
	s->z[0].sum_nj += 8 * J;
	s->z[3].readable = false;
	s->z[3].breaks = 1;
	s->z[4].sum_nj += 1 * J;
	next_window(s);
	assert_total(s, 8 * J);
	assert_true(s->r->platform_nj == SW_ABSENT);

	/* A package's counter fails: the window has no energy, and none of it is guessed. */
	ran(s, 0, 0, 8 * S);
	s->z[0].sum_nj += 8 * J;
	s->z[2].readable = false;
	s->z[2].breaks = 1;
	next_window(s);
	assert_true(s->r->energy.total_nj == SW_ABSENT && s->r->energy.proc_nj == SW_ABSENT);
	assert_true(s->r->package_nj == SW_ABSENT && s->r->dram_nj == SW_ABSENT);
	assert_int_equal(s->r->flags, SW_FLAG_NO_ENERGY);
	strike(s);
}

/* Two dies that show one counter: its joules once, shared among all who ran on either. */
static void mirrored_dies(void **state)
{
	struct sw_zone_info zones[] = {
		{.role = SW_ROLE_PACKAGE, .package = 0, .die = 0, .domains = 1, .name = (char *)"package-0-die-0"},
		{.role = SW_ROLE_PACKAGE, .package = 0, .die = 1, .domains = 2, .name = (char *)"package-0-die-1"},
		{.role = SW_ROLE_PACKAGE, .package = 1, .die = 0, .domains = 4, .name = (char *)"package-1-die-0"},
	};
	struct stage *s = set(zones, 3, SW_POLICY_BUSY, NULL);

	(void)state;
	ran(s, 0, 0, 3 * S);
	ran(s, 1, 1, 1 * S);
	idled(s, 1, 4 * S);
	ran(s, 2, 2, 1 * S);
	s->z[0].sum_nj += 68 * J;
	s->z[1].sum_nj += 68 * J;
	s->z[1].mirror_of = 0;
	s->z[2].sum_nj += 9 * J;
	next_window(s);
	assert_total(s, 77 * J);
	assert_int_equal(nj_of(s, 0), 51 * J);
	assert_int_equal(nj_of(s, 1), 17 * J);
	assert_int_equal(nj_of(s, 2), 9 * J);
	assert_int_equal(s->r->flags, SW_FLAG_MIRRORED);
	/* for who asks by domain: by the CPU time that each had, 3 s and 5 s */
	assert_int_equal(s->r->domains[0].nj, 68 * J * 3 / 8);
	assert_int_equal(s->r->domains[1].nj, 68 * J * 5 / 8);
	assert_int_equal(s->r->domains[2].nj, 9 * J);

	/* They part: two counters, each for its own die. */
	ran(s, 0, 0, 3 * S);
	ran(s, 1, 1, 1 * S);
	ran(s, 2, 2, 1 * S);
	s->z[0].sum_nj += 68 * J;
	s->z[1].sum_nj += 30 * J;
	s->z[1].mirror_of = NONE;
	next_window(s);
	assert_total(s, 98 * J);
	assert_int_equal(nj_of(s, 0), 68 * J);
	assert_int_equal(nj_of(s, 1), 30 * J);
	assert_int_equal(s->r->flags, 0);
	strike(s);
}

/* Memory of the whole package beside a zone for each die: the dies' joules stay theirs, the memory's go to all. */
static void memory_over_dies(void **state)
{
	struct sw_zone_info zones[] = {
		{.role = SW_ROLE_PACKAGE, .package = 0, .die = 0, .domains = 1, .name = (char *)"package-0-die-0"},
		{.role = SW_ROLE_PACKAGE, .package = 0, .die = 1, .domains = 2, .name = (char *)"package-0-die-1"},
		{.role = SW_ROLE_DRAM, .package = 0, .die = -1, .domains = 3, .name = (char *)"package-0/dram"},
	};
	struct stage *s = set(zones, 3, SW_POLICY_CAPACITY, NULL);

	(void)state;
	ran(s, 0, 0, 6 * S);
	idled(s, 0, 2 * S);
	ran(s, 1, 1, 1 * S);
	idled(s, 1, 7 * S);
	ran(s, 2, 2, 5 * S); /* of another package: has nothing of it */
	s->z[0].sum_nj += 80 * J;
	s->z[1].sum_nj += 8 * J;
	s->z[2].sum_nj += 16 * J;
	next_window(s);
	assert_total(s, 104 * J);
	assert_int_equal(nj_of(s, 0), 60 * J + 6 * J);
	assert_int_equal(nj_of(s, 1), 1 * J + 1 * J);
	assert_int_equal(nj_of(s, 2), 0);
	assert_int_equal(s->r->energy.idle_nj, 20 * J + 7 * J + 9 * J);
	assert_int_equal(s->r->dram_nj, 16 * J);
	strike(s);
}

/* A CPU that is off has no share of anything; a package that is off has no joules, and that is no failure. */
static void hotplug(void **state)
{
	struct sw_zone_info zones[] = {
		{.role = SW_ROLE_PACKAGE, .package = 0, .die = -1, .domains = 1, .name = (char *)"package-0"},
		{.role = SW_ROLE_PACKAGE, .package = 1, .die = -1, .domains = 2, .name = (char *)"package-1"},
	};
	struct stage *s = set(zones, 2, SW_POLICY_CAPACITY, NULL);

	(void)state;
	ran(s, 0, 0, 6 * S);
	was_off(s, 0, 4 * S); /* one of two CPUs, for a while */
	ran(s, 1, 1, 5 * S);
	idled(s, 1, 5 * S);
	s->z[0].sum_nj += 60 * J;
	s->z[1].sum_nj += 20 * J;
	next_window(s);
	assert_total(s, 80 * J);
	assert_int_equal(nj_of(s, 0), 60 * J);
	assert_int_equal(nj_of(s, 1), 10 * J);
	assert_int_equal(s->r->flags, 0);

	/* Its last CPU goes in the window, and its counter with it: what it used before cannot be known. */
	ran(s, 0, 0, 10 * S);
	was_off(s, 1, 9 * S);
	ran(s, 1, 1, 1 * S);
	s->z[0].sum_nj += 60 * J;
	s->z[1].readable = false;
	s->z[1].breaks = 1;
	next_window(s);
	assert_true(s->r->energy.total_nj == SW_ABSENT);
	assert_int_equal(s->r->flags, SW_FLAG_NO_ENERGY);

	/* Off all along. */
	ran(s, 0, 0, 10 * S);
	was_off(s, 1, 10 * S);
	s->z[0].sum_nj += 61 * J;
	s->z[1].breaks = 2;
	next_window(s);
	assert_total(s, 61 * J);
	assert_int_equal(nj_of(s, 0), 61 * J);
	assert_int_equal(s->r->flags, SW_FLAG_PARTIAL);
	assert_true(s->r->domains[1].nj == SW_ABSENT);

	/* Some hardware counts on: then it is known, and there was nobody whose it is. */
	ran(s, 0, 0, 10 * S);
	was_off(s, 1, 10 * S);
	s->z[1].readable = true;
	next_window(s);
	s->z[0].sum_nj += 61 * J;
	s->z[1].sum_nj += 3 * J;
	ran(s, 0, 0, 10 * S);
	was_off(s, 1, 10 * S);
	next_window(s);
	assert_total(s, 64 * J);
	assert_int_equal(nj_of(s, 0), 61 * J);
	assert_int_equal(s->r->energy.unattributed_nj, 3 * J);
	assert_int_equal(s->r->flags, 0);
	strike(s);
}

/* A zone of which no CPU is known counts in the total, and is nobody's. */
static void zone_of_no_domain(void **state)
{
	struct sw_zone_info zones[] = {
		{.role = SW_ROLE_PACKAGE, .package = 0, .die = -1, .domains = 1, .name = (char *)"package-0"},
		{.role = SW_ROLE_PACKAGE, .package = 5, .die = -1, .domains = 0, .name = (char *)"package-5"},
		{.role = SW_ROLE_DRAM, .package = -1, .die = -1, .domains = 0, .name = (char *)"dram"},
	};

	(void)state;
	for (int policy = SW_POLICY_BUSY; policy < SW_POLICIES; policy++) {
		struct stage *s = set(zones, 3, policy, NULL);

		ran(s, 0, 0, 10 * S);
		s->z[0].sum_nj += 30 * J;
		s->z[1].sum_nj += 12 * J;
		s->z[2].sum_nj += 1;
		next_window(s);
		assert_total(s, 42 * J + 1);
		assert_int_equal(nj_of(s, 0), 30 * J);
		assert_int_equal(s->r->energy.unattributed_nj, 12 * J + 1);
		strike(s);
	}
}

/* Ten seconds above an idle power of 4 W and 1 W, each die's own; the memory has no part in that. */
static void baseline_of_dies(void **state)
{
	const uint64_t baseline_uw[FAKE_DOMAINS] = {4000000, 1000000, 9000000};
	struct sw_zone_info zones[] = {
		{.role = SW_ROLE_PACKAGE, .package = 0, .die = 0, .domains = 1, .name = (char *)"package-0-die-0"},
		{.role = SW_ROLE_PACKAGE, .package = 0, .die = 1, .domains = 2, .name = (char *)"package-0-die-1"},
		{.role = SW_ROLE_DRAM, .package = 0, .die = -1, .domains = 3, .name = (char *)"package-0/dram"},
	};
	struct stage *s = set(zones, 3, SW_POLICY_MARGINAL, baseline_uw);

	(void)state;
	ran(s, 0, 0, 5 * S);
	idled(s, 0, 5 * S);
	ran(s, 1, 1, 5 * S);
	idled(s, 1, 5 * S);
	s->z[0].sum_nj += 100 * J;
	s->z[1].sum_nj += 30 * J;
	s->z[2].sum_nj += 8 * J;
	next_window(s);
	assert_total(s, 138 * J);
	assert_int_equal(nj_of(s, 0), 60 * J + 4 * J);
	assert_int_equal(nj_of(s, 1), 20 * J + 4 * J);
	assert_int_equal(s->r->energy.idle_nj, 50 * J);
	assert_int_equal(s->r->flags, 0);

	/* Mirrored, the package's one counter has both dies' idle power in it. */
	ran(s, 0, 0, 5 * S);
	idled(s, 0, 5 * S);
	ran(s, 1, 1, 5 * S);
	idled(s, 1, 5 * S);
	s->z[0].sum_nj += 90 * J;
	s->z[1].sum_nj += 90 * J;
	s->z[1].mirror_of = 0;
	next_window(s);
	assert_total(s, 90 * J);
	assert_int_equal(s->r->energy.idle_nj, 50 * J);
	assert_int_equal(nj_of(s, 0), 20 * J);
	assert_int_equal(nj_of(s, 1), 20 * J);
	assert_int_equal(s->r->flags, SW_FLAG_MIRRORED);
	strike(s);
}

/* A baseline above what was measured takes all of it and no more, and the window says so. */
static void baseline_too_high(void **state)
{
	const uint64_t baseline_uw[FAKE_DOMAINS] = {4000000, 4000000, 0};
	struct sw_zone_info zones[] = {
		{.role = SW_ROLE_PACKAGE, .package = 0, .die = -1, .domains = 1, .name = (char *)"package-0"},
		{.role = SW_ROLE_PACKAGE, .package = 1, .die = -1, .domains = 2, .name = (char *)"package-1"},
	};
	struct stage *s = set(zones, 2, SW_POLICY_MARGINAL, baseline_uw);

	(void)state;
	for (int i = 0; i < 2; i++) {
		ran(s, 0, 0, 10 * S);
		ran(s, 1, 1, 10 * S);
		s->z[0].sum_nj += i ? 39 * J : 40 * J - 1000; /* within the doubt of the measured: no reason for a flag */
		s->z[1].sum_nj += 100 * J;
		next_window(s);
		assert_total(s, i ? 139 * J : 140 * J - 1000);
		assert_int_equal(nj_of(s, 0), 0);
		assert_int_equal(nj_of(s, 1), 60 * J);
		assert_int_equal(s->r->flags, i ? SW_FLAG_BASELINE : 0);
	}
	strike(s);
}

/*
 * The reading before this window came 8 s late, so that 2 s are left for its energy: 20 J are 10 W then, not 2 W, and the
 * doubt is what 8 s of that come to, with 1 ms for the reading and a step at either end.
 */
static void doubt_after_a_late_reading(void **state)
{
	struct sw_zone_info zones[] = {
		{.role = SW_ROLE_PACKAGE, .package = 0, .die = -1, .domains = 1, .name = (char *)"package-0"},
	};
	struct stage *s = set(zones, 1, SW_POLICY_BUSY, NULL);
	const struct sw_summary *sum = NULL;

	(void)state;
	s->point = (struct sw_energy_point){.begin_ns = 28 * S, .end_ns = 28 * S, .wake_ns = 20 * S};
	ran(s, 0, 0, 10 * S);
	s->z[0].sum_nj += 180 * J;
	next_window(s);
	s->point = (struct sw_energy_point){.begin_ns = 30 * S - S / 2000, .end_ns = 30 * S + S / 2000, .wake_ns = 30 * S};
	ran(s, 0, 0, 10 * S);
	s->z[0].sum_nj += 20 * J;
	next_window(s);
	assert_total(s, 20 * J);
	assert_int_equal(s->r->read_late_ns, 8 * S);
	assert_int_equal(s->r->read_bracket_ns, S / 1000);
	assert_int_equal(s->r->uncertainty_nj, 80 * J + 10 * J * 3 / 1000);
	/* of the whole only its own ends count */
	assert_int_equal(sw_monitor_summary(s->f->m, &sum), 0);
	assert_true(sum->total_uncertainty_nj < J);
	strike(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_tasks_and_idle), cmocka_unit_test(nobody_ran),
		cmocka_unit_test(domain_by_domain),   cmocka_unit_test(mirrored_dies),
		cmocka_unit_test(memory_over_dies),   cmocka_unit_test(hotplug),
		cmocka_unit_test(zone_of_no_domain),  cmocka_unit_test(baseline_of_dies),
		cmocka_unit_test(baseline_too_high),  cmocka_unit_test(doubt_after_a_late_reading),
	};

	return cmocka_run_group_tests_name("sharing", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: that totals of groups only rise and add up to the zones in nJ, whoever comes and goes; who has a series. Relies
 * on: a calculation of its own of what each series should be, in the test of churn.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/groups.h"

#define S  1000000000ULL
#define MS 1000000ULL

static const struct sw_zone zones[] = {
	{ .name = "package-0", .package = 0, .counted = 1 },
	{ .name = "package-0/core", .package = 0, .parent = "package-0" },
	{ .name = "package-0/dram", .package = 0, .parent = "package-0", .counted = 1 },
	{ .name = "package-0-die-1", .package = 0, .counted = 1 },
	{ .name = "psys", .package = -1 },
};

enum { ZONES = sizeof(zones) / sizeof(zones[0]), ROWS_MAX = 4096 };

static const struct sw_header measured = {
	.by = SW_BY_CGROUP, .energy_source = "powercap", .energy_quality = "measured", .zones = zones,
	.n_zones = ZONES };
static const struct sw_header modelled = {
	.by = SW_BY_CGROUP, .energy_source = "model", .energy_quality = "modelled", .zones = zones, .n_zones = ZONES };
static const struct sw_header without = { .by = SW_BY_CGROUP, .energy_source = "none" };

/* A window in the making. */
struct feed {
	struct sw_report report;
	struct sw_cgroup cgroups[ROWS_MAX];
	struct sw_comm comms[ROWS_MAX];
	struct sw_process processes[ROWS_MAX];
	int64_t zone_nj[ZONES];
};

static struct feed *window(struct feed *f, double at_s)
{
	memset(&f->report, 0, sizeof(f->report));
	f->report.t_ns = (uint64_t)(at_s * S) + 1000 * S;
	f->report.window_ns = S;
	f->report.recursion_misses = SW_ABSENT;
	f->report.platform_nj = SW_ABSENT;
	f->report.cgroups = f->cgroups;
	f->report.comms = f->comms;
	f->report.processes = f->processes;
	f->report.zone_nj = f->zone_nj;
	for (size_t i = 0; i < ZONES; i++)
		f->zone_nj[i] = SW_ABSENT;
	return f;
}

static void whole(struct feed *f, uint64_t ns, int64_t nj)
{
	f->report.proc_oncpu_ns += ns;
	f->report.energy.proc_nj += nj;
}

static void cgroup(struct feed *f, const char *path, uint64_t ns, int64_t nj)
{
	f->cgroups[f->report.n_cgroups++] = (struct sw_cgroup){ .path = path, .oncpu_ns = ns, .nj = nj };
	whole(f, ns, nj);
}

static void comm(struct feed *f, const char *name, uint64_t ns, int64_t nj)
{
	f->comms[f->report.n_comms++] = (struct sw_comm){ .comm = name, .oncpu_ns = ns, .nj = nj };
	whole(f, ns, nj);
}

static struct sw_process *process(struct feed *f, int32_t pid, const char *name, uint64_t ns, int64_t nj)
{
	struct sw_process *p = &f->processes[f->report.n_processes++];

	*p = (struct sw_process){ .pid = pid, .host_pid = pid, .comm = name, .oncpu_ns = ns, .nj = nj };
	whole(f, ns, nj);
	return p;
}

static void energy_of(struct feed *f, int64_t idle_nj, int64_t unattributed_nj)
{
	struct sw_energy *e = &f->report.energy;

	e->idle_nj = idle_nj;
	e->unattributed_nj = unattributed_nj;
	e->total_nj = e->proc_nj + e->other_nj + idle_nj + unattributed_nj;
	f->zone_nj[2] = e->total_nj / 3;
	f->zone_nj[0] = e->total_nj - f->zone_nj[2];
	f->zone_nj[1] = f->zone_nj[0] / 2;
	f->report.platform_nj = f->zone_nj[4] = 2 * e->total_nj;
}

static void no_energy(struct feed *f)
{
	f->report.energy = (struct sw_energy){ SW_ABSENT, SW_ABSENT, SW_ABSENT, SW_ABSENT, SW_ABSENT };
	for (size_t i = 0; i < f->report.n_cgroups; i++)
		f->cgroups[i].nj = SW_ABSENT;
}

static struct groups *open_groups(enum groups_by by, size_t max)
{
	struct groups_options options = { .by = by, .max_series = max, .stay_ns = 100 * S, .hold_ns = 10 * S };
	struct groups *g = NULL;

	assert_int_equal(groups_open(&options, &g), 0);
	return g;
}

/* The series with these labels, or NULL. */
static const struct group *series(const struct groups *g, const char *labels)
{
	for (const struct group *group = g->table; group; group = group->hh.next)
		if (group->own && group->labels.len == strlen(labels) &&
		    !memcmp(group->labels.data, labels, group->labels.len))
			return group;
	return NULL;
}

static metrics_total sum_of(const struct groups *g, enum energy_quality q)
{
	metrics_total sum = g->other.energy.nj[q] + g->departed.energy.nj[q] + g->idle.nj[q] + g->unattributed.nj[q];

	for (const struct group *group = g->table; group; group = group->hh.next)
		sum += group->own ? group->energy.nj[q] : 0;
	return sum;
}

static metrics_total zones_of(const struct groups *g, enum energy_quality q)
{
	metrics_total sum = 0;

	for (size_t i = 0; i < g->n_zones; i++)
		sum += g->zones[i].kind == ZONE_COUNTED ? g->zones[i].energy.nj[q] : 0;
	return sum;
}

/* 128 bits do not fit cmocka's. */
#define assert_total(a, b) assert_true((metrics_total)(a) == (metrics_total)(b))

static void assert_adds_up(const struct groups *g)
{
	for (unsigned q = 0; q < ENERGY_QUALITIES; q++)
		assert_total(sum_of(g, q), zones_of(g, q));
}

/* --- churn, against an account of our own */

enum { UNITS = 300, STEPS = 3000, SERIES = 40 };

struct unit {
	char path[64], below[64]; /* two cgroups that are one group */
	char labels[100];
	uint64_t window_ns, ns;
	int64_t window_nj;
	metrics_total nj[2];
	bool had; /* a series, after the last step */
};

struct account {
	struct unit units[UNITS];
	metrics_total other_nj[2], departed_nj[2], total_nj[2];
	uint64_t other_ns, departed_ns, departures;
};

static unsigned pick(unsigned below)
{
	return (unsigned)random() % below;
}

/* A third of the units run, and few for a third of the time; which are large drifts. */
static void make_rows(struct account *a, struct feed *f, unsigned step)
{
	for (unsigned i = 0; i < UNITS; i++) {
		struct unit *u = &a->units[i];
		unsigned size = 1 + (i * 7 + step / 50) % UNITS;

		u->window_ns = 0;
		u->window_nj = 0;
		if (pick(3) || (step / 400 + i) % 5 == 0 || (step / 250 % 3 == 1 && i >= 30))
			continue;
		u->window_ns = pick(size * 10000) + (i % 7 == 0 ? 0 : 1);
		u->window_nj = pick(size * 100000);
		cgroup(f, u->path, u->window_ns / 3, 0);
		cgroup(f, u->below, u->window_ns - u->window_ns / 3, u->window_nj);
	}
	if (!pick(4))
		cgroup(f, NULL, pick(1000), pick(1000));
	whole(f, pick(100), pick(100)); /* what rows do not tell */
	f->report.other_oncpu_ns = pick(3);
	f->report.energy.other_nj = pick(3);
}

static void follow(struct account *a, const struct groups *g, unsigned q, const struct sw_report *r, bool energy)
{
	metrics_total known_nj = 0;
	uint64_t known_ns = 0;

	for (unsigned i = 0; i < UNITS; i++) {
		struct unit *u = &a->units[i];
		const struct group *now = series(g, u->labels);
		int64_t nj = energy ? u->window_nj : 0;

		if (u->had && !now) {
			for (unsigned k = 0; k < 2; k++)
				a->departed_nj[k] += u->nj[k];
			a->departed_ns += u->ns;
			a->departures++;
		}
		if (!u->had || !now) {
			u->ns = 0;
			u->nj[0] = u->nj[1] = 0;
		}
		u->had = now;
		if (!now)
			continue;
		u->ns += u->window_ns;
		u->nj[q] += (metrics_total)nj;
		known_ns += u->window_ns;
		known_nj += (metrics_total)nj;
		assert_total(now->cpu_ns, u->ns);
		for (unsigned k = 0; k < 2; k++)
			assert_total(now->energy.nj[k], u->nj[k]);
	}
	a->other_ns += r->proc_oncpu_ns + r->other_oncpu_ns - known_ns;
	if (energy)
		a->other_nj[q] += (metrics_total)(r->energy.proc_nj + r->energy.other_nj) - known_nj;
}

static void assert_account(const struct account *a, const struct groups *g)
{
	assert_total(g->other.cpu_ns, a->other_ns);
	assert_total(g->departed.cpu_ns, a->departed_ns);
	assert_int_equal(g->departures, a->departures);
	for (unsigned k = 0; k < 2; k++) {
		assert_total(g->other.energy.nj[k], a->other_nj[k]);
		assert_total(g->departed.energy.nj[k], a->departed_nj[k]);
		assert_total(zones_of(g, k), a->total_nj[k]);
		assert_total(sum_of(g, k), a->total_nj[k]);
	}
	assert_true(g->n_own <= SERIES);
	assert_true(HASH_COUNT(g->table) <= SERIES + UNITS);
}

static bool sometimes(void *ctx, const struct group *g)
{
	(*(unsigned *)ctx)++;
	assert_non_null(g->cgroup);
	return pick(2);
}

static void test_churn(void **state)
{
	struct groups_options options = { .max_series = SERIES, .stay_ns = 30 * S, .hold_ns = 10 * S,
					  .is_there = sometimes };
	struct account *a = calloc(1, sizeof(*a));
	struct feed *f = calloc(1, sizeof(*f));
	unsigned asked = 0;
	struct groups *g;

	(void)state;
	srandom(20240611);
	options.ctx = &asked;
	assert_int_equal(groups_open(&options, &g), 0);
	for (unsigned i = 0; i < UNITS; i++) {
		snprintf(a->units[i].path, sizeof(a->units[i].path), "/system.slice/u%u.service", i);
		snprintf(a->units[i].below, sizeof(a->units[i].below), "/x.slice/u%u.service/y", i);
		snprintf(a->units[i].labels, sizeof(a->units[i].labels),
			 "group=\"u%u.service\",systemd_unit=\"u%u.service\"", i, i);
	}
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned q = step / 100 % 4 == 3;
		bool energy = pick(5) && step / 200 % 6 != 2;

		make_rows(a, window(f, step), step);
		if (energy)
			energy_of(f, pick(1000000), pick(1000));
		else
			no_energy(f);
		a->total_nj[q] += energy ? (metrics_total)f->report.energy.total_nj : 0;
		assert_int_equal(groups_add(g, q ? &modelled : &measured, &f->report), 0);
		follow(a, g, q, &f->report, energy);
		assert_account(a, g);
	}
	/* all that can happen did */
	assert_true(asked > 10);
	assert_true(a->departures > 100 && a->departures < STEPS);
	assert_true(a->total_nj[0] && a->total_nj[1] && a->other_nj[0] && a->departed_nj[1]);
	groups_close(g);
	free(f);
	free(a);
}

/* --- who has a series */

static void test_largest(void **state)
{
	static char path[1100][32];
	struct groups *g = open_groups(GROUPS_BY_CGROUP, 0);
	struct feed *f = window(calloc(1, sizeof(*f)), 0);

	(void)state;
	g->options.max_series = 1000;
	for (unsigned i = 0; i < 1100; i++) {
		snprintf(path[i], sizeof(path[i]), "/g%u", i);
		cgroup(f, path[i], (i * 7919) % 1100 + 1, 10);
	}
	energy_of(f, 5, 6);
	assert_int_equal(groups_add(g, &measured, &f->report), 0);
	assert_int_equal(g->n_own, 1000);
	assert_int_equal(g->without_own, 100);
	assert_total(g->other.energy.nj[0], 1000);
	for (unsigned i = 0; i < 1100; i++) {
		char labels[64];

		snprintf(labels, sizeof(labels), "group=\"/g%u\"", i);
		assert_int_equal(series(g, labels) != NULL, (i * 7919) % 1100 + 1 > 100);
	}
	assert_adds_up(g);
	groups_close(g);
	free(f);
}

/* One series for two groups: a larger one gets it, if it is much larger and the other has had it for a while. */
static void test_hysteresis(void **state)
{
	static const struct {
		double at_s;
		uint64_t a_ms, b_ms;
		bool a_has;
	} steps[] = {
		{ 0, 100, 0, true },
		{ 1, 100, 300, true },   /* a has not held it for 10 s */
		{ 11, 100, 200, true },  /* not over twice as much; of the 300 ms half counts */
		{ 12, 0, 150, true },    /* a had 100 ms, a second ago */
		{ 22, 0, 150, false },   /* only half of that counts now */
		{ 23, 1000, 10, false }, /* b has not held it for 10 s */
		{ 33, 1000, 10, true },
		{ 34, 0, 300, true },
		{ 50, 0, 300, true },
	};
	struct groups *g = open_groups(GROUPS_BY_CGROUP, 1);
	struct feed *f = calloc(1, sizeof(*f));

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		window(f, steps[i].at_s);
		cgroup(f, "/a", steps[i].a_ms * MS, 1);
		cgroup(f, "/b", steps[i].b_ms * MS, 1);
		energy_of(f, 0, 0);
		assert_int_equal(groups_add(g, &measured, &f->report), 0);
		assert_int_equal(series(g, "group=\"/a\"") != NULL, steps[i].a_has);
		assert_int_equal(series(g, "group=\"/b\"") != NULL, !steps[i].a_has);
		assert_adds_up(g);
	}
	assert_int_equal(g->departures, 2);
	/* it began anew at 33 s */
	assert_total(series(g, "group=\"/a\"")->cpu_ns, 1000 * MS);
	groups_close(g);
	free(f);
}

/* It is the smallest of those that have series that has to go. */
static void test_smallest(void **state)
{
	struct groups *g = open_groups(GROUPS_BY_CGROUP, 3);
	struct feed *f = calloc(1, sizeof(*f));

	(void)state;
	for (unsigned s = 0; s < 11; s++) {
		window(f, s);
		cgroup(f, "/a", 200 * MS, 1);
		cgroup(f, "/b", 100 * MS, 1);
		cgroup(f, "/c", 300 * MS, 1);
		cgroup(f, "/d", s == 10 ? 900 * MS : 0, 1);
		cgroup(f, "/e", s == 10 ? 350 * MS : 0, 1);
		energy_of(f, 0, 0);
		assert_int_equal(groups_add(g, &measured, &f->report), 0);
		assert_adds_up(g);
	}
	/* /d takes the place of /b; /e is not over twice what /a had */
	assert_non_null(series(g, "group=\"/a\""));
	assert_null(series(g, "group=\"/b\""));
	assert_non_null(series(g, "group=\"/c\""));
	assert_non_null(series(g, "group=\"/d\""));
	assert_null(series(g, "group=\"/e\""));
	assert_int_equal(g->without_own, 2);
	groups_close(g);
	free(f);
}

struct answer {
	bool there;
	unsigned asked;
};

static bool answer(void *ctx, const struct group *g)
{
	struct answer *a = ctx;

	assert_string_equal(g->cgroup, "/a.slice/x.service");
	a->asked++;
	return a->there;
}

/* A group that is idle keeps its series as long as it is there. */
static void test_stay(void **state)
{
	struct answer a = { 0 };
	struct groups *g = open_groups(GROUPS_BY_CGROUP, 10);
	struct feed *f = calloc(1, sizeof(*f));
	static const char labels[] = "group=\"x.service\",systemd_unit=\"x.service\"";

	(void)state;
	g->options.is_there = answer;
	g->options.ctx = &a;
	window(f, 0);
	cgroup(f, "/a.slice/x.service/deep/below", 1, 70);
	cgroup(f, "/a.slice/x.service", 1, 7);
	energy_of(f, 0, 0);
	assert_int_equal(groups_add(g, &measured, &f->report), 0);
	for (unsigned s = 1; s < 500; s++) {
		energy_of(window(f, s), 3, 0);
		a.there = s < 300;
		assert_int_equal(groups_add(g, &measured, &f->report), 0);
		assert_int_equal(a.asked, s < 300 ? s / 100 : 3);
		assert_int_equal(series(g, labels) != NULL, s < 300);
		assert_total(g->departed.energy.nj[0], s < 300 ? 0 : 77);
		assert_adds_up(g);
	}
	assert_total(g->departed.cpu_ns, 2);
	assert_null(g->table);
	window(f, 500);
	cgroup(f, "/a.slice/x.service", 1, 5);
	energy_of(f, 0, 0);
	assert_int_equal(groups_add(g, &measured, &f->report), 0);
	assert_total(series(g, labels)->energy.nj[0], 5);
	assert_adds_up(g);
	groups_close(g);
	free(f);
}

/* 30,000 names, each once: memory and series are bounded. */
static void test_storm(void **state)
{
	static char path[1000][32];
	struct groups *g = open_groups(GROUPS_BY_CGROUP, 50);
	struct feed *f = calloc(1, sizeof(*f));

	(void)state;
	for (unsigned s = 0; s < 30; s++) {
		window(f, s);
		for (unsigned i = 0; i < 1000; i++) {
			snprintf(path[i], sizeof(path[i]), "/g%u", s * 1000 + i);
			cgroup(f, path[i], 1000, 3);
		}
		energy_of(f, 0, 0);
		assert_int_equal(groups_add(g, &measured, &f->report), 0);
		assert_int_equal(g->n_own, 50);
		assert_true(HASH_COUNT(g->table) <= 1050);
	}
	/* the first ones are small by now, halved three times, but hold on: no newcomer is over twice as large */
	assert_int_equal(g->departures, 50);
	groups_close(g);
	free(f);
}

/* --- which group */

static void test_cgroups(void **state)
{
#define ID "99f3a16ea25b7724cb56a4f0c0df1113ad9474fbf5545bead97fd5c7f61c13f4"
	struct groups *g = open_groups(GROUPS_BY_CGROUP, 10);
	struct feed *f = window(calloc(1, sizeof(*f)), 0);

	(void)state;
	cgroup(f, "/", 1, 1);
	cgroup(f, "/docker/" ID, 1, 2);
	cgroup(f, "/docker/" ID "/a", 1, 4);
	cgroup(f, "/odd \"name\"", 1, 8);
	cgroup(f, "/slurm/uid_7/job_12/step_0/task_0", 1, 16);
	cgroup(f, "/slurm/uid_7/job_12/step_0/task_1", 1, 32);
	cgroup(f, "/system.slice", 0, 0);
	energy_of(f, 0, 0);
	assert_int_equal(groups_add(g, &measured, &f->report), 0);
	assert_int_equal(g->n_own, 4);
	assert_total(series(g, "group=\"/\"")->energy.nj[0], 1);
	assert_total(series(g, "group=\"docker://" ID "\",container_id=\"docker://" ID "\"")->energy.nj[0], 6);
	assert_total(series(g, "group=\"/odd \\\"name\\\"\"")->energy.nj[0], 8);
	assert_total(series(g, "group=\"slurm/12/0\",slurm_job_id=\"12\",slurm_step=\"0\",user=\"7\"")
			     ->energy.nj[0], 48);
	groups_close(g);
	free(f);
}

static void test_comms(void **state)
{
	struct groups *g = open_groups(GROUPS_BY_COMM, 10);
	struct feed *f = window(calloc(1, sizeof(*f)), 0);

	(void)state;
	comm(f, "bash", 1, 1);
	comm(f, "other", 1, 2);
	comm(f, "", 1, 4);
	energy_of(f, 0, 0);
	assert_int_equal(groups_add(g, &measured, &f->report), 0);
	assert_total(series(g, "group=\"bash\",comm=\"bash\"")->energy.nj[0], 1);
	assert_total(series(g, "group=\"other\",comm=\"other\"")->energy.nj[0], 2);
	assert_total(g->other.energy.nj[0], 4);
	assert_adds_up(g);
	groups_close(g);
	free(f);
}

static bool always(void *ctx, const struct group *g)
{
	*(int32_t *)ctx = g->pid;
	return true;
}

static void test_processes(void **state)
{
	struct groups *g = open_groups(GROUPS_BY_PROCESS, 10);
	struct feed *f = window(calloc(1, sizeof(*f)), 0);
	struct sw_process *p;
	int32_t asked = 0;

	(void)state;
	g->options.is_there = always;
	g->options.ctx = &asked;
	process(f, 2, "kthreadd", 1, 1)->kernel_thread = 1;
	process(f, 3, "ksoftirqd/0", 1, 2)->kernel_thread = 1;
	process(f, 40, "sh", 1, 4)->cgroup = "/user.slice/user-7.slice/session-1.scope";
	p = process(f, 41, "true", 1, 8);
	p->exited = 1;
	p->cgroup = "/";
	energy_of(f, 0, 0);
	assert_int_equal(groups_add(g, &measured, &f->report), 0);
	assert_total(series(g, "group=\"kernel threads\"")->energy.nj[0], 3);
	assert_total(series(g, "group=\"sh[40]\",comm=\"sh\",pid=\"40\",systemd_unit=\"session-1.scope\",user=\"7\"")
			     ->energy.nj[0], 4);
	assert_non_null(series(g, "group=\"true[41]\",comm=\"true\",pid=\"41\""));
	energy_of(window(f, 99), 0, 0);
	assert_int_equal(groups_add(g, &measured, &f->report), 0);
	assert_int_equal(g->n_own, 3);
	/* who has exited is not asked for */
	energy_of(window(f, 100), 0, 0);
	assert_int_equal(groups_add(g, &measured, &f->report), 0);
	assert_int_equal(g->n_own, 2);
	assert_int_equal(asked, 40);
	assert_total(g->departed.energy.nj[0], 8);
	groups_close(g);
	free(f);
}

/* Where the back end tells processes but no cgroups, /proc says of each where it is. */
static void test_processes_by_cgroup(void **state)
{
	static const struct sw_header by_process = {
		.by = SW_BY_PROCESS, .energy_source = "powercap", .energy_quality = "measured", .zones = zones,
		.n_zones = ZONES };
	struct groups *g = open_groups(GROUPS_BY_CGROUP, 10);
	struct feed *f = window(calloc(1, sizeof(*f)), 0);

	(void)state;
	process(f, 40, "nginx", 3, 4)->cgroup = "/system.slice/nginx.service";
	process(f, 41, "nginx", 5, 8)->cgroup = "/system.slice/nginx.service";
	process(f, 42, "gone", 7, 16);
	energy_of(f, 0, 0);
	assert_int_equal(groups_add(g, &by_process, &f->report), 0);
	assert_int_equal(g->n_own, 1);
	assert_total(series(g, "group=\"nginx.service\",systemd_unit=\"nginx.service\"")->energy.nj[0], 12);
	assert_total(series(g, "group=\"nginx.service\",systemd_unit=\"nginx.service\"")->cpu_ns, 8);
	assert_total(g->other.energy.nj[0], 16);
	assert_total(g->other.cpu_ns, 7);
	groups_close(g);
	free(f);
}

/* --- energy */

static void test_no_energy(void **state)
{
	struct groups *g = open_groups(GROUPS_BY_CGROUP, 10);
	struct feed *f = calloc(1, sizeof(*f));

	(void)state;
	for (unsigned s = 0; s < 3; s++) {
		window(f, s);
		cgroup(f, "/a", 10, 5);
		energy_of(f, 1, 1);
		no_energy(f);
		f->report.flags = SW_FLAG_NO_ENERGY;
		f->report.platform_nj = SW_ABSENT;
		assert_int_equal(groups_add(g, s ? &measured : &without, &f->report), 0);
	}
	assert_total(series(g, "group=\"/a\"")->cpu_ns, 30);
	assert_false(series(g, "group=\"/a\"")->energy.known[0]);
	assert_false(g->other.energy.known[0] || g->idle.known[0] || g->unattributed.known[0] || g->platform.known[0]);
	assert_int_equal(g->windows_without_energy, 2);
	assert_int_equal(g->windows_flagged[3], 3);
	assert_false(g->last_has_energy);
	/* a part of a package was read all the same; of what is summed up, nothing is used */
	assert_int_equal(g->n_zones, 3);
	for (size_t i = 0; i < g->n_zones; i++)
		assert_int_equal(g->zones[i].energy.known[0], g->zones[i].kind == ZONE_SUBZONE);
	groups_close(g);
	free(f);
}

static void test_quality(void **state)
{
	struct groups *g = open_groups(GROUPS_BY_CGROUP, 10);
	struct feed *f = calloc(1, sizeof(*f));
	const struct group *a;

	(void)state;
	for (unsigned s = 0; s < 5; s++) {
		window(f, s);
		cgroup(f, "/a", 10, 100 + s);
		energy_of(f, 1, 2);
		assert_int_equal(groups_add(g, s < 3 ? &measured : &modelled, &f->report), 0);
		assert_adds_up(g);
	}
	a = series(g, "group=\"/a\"");
	assert_total(a->energy.nj[ENERGY_MEASURED], 303);
	assert_total(a->energy.nj[ENERGY_MODELLED], 207);
	assert_total(g->idle.nj[ENERGY_MODELLED], 2);
	assert_total(g->unattributed.nj[ENERGY_MEASURED], 6);
	assert_total(g->platform.nj[ENERGY_MODELLED], 2 * (103 + 104 + 6));
	assert_total(a->cpu_ns, 50);
	assert_string_equal(groups_quality_name(ENERGY_MODELLED), "modelled");
	groups_close(g);
	free(f);
}

/* The die's zone shows what the package's does, and the total has it once. */
static void test_mirror(void **state)
{
	struct groups *g = open_groups(GROUPS_BY_CGROUP, 10);
	struct feed *f = calloc(1, sizeof(*f));

	(void)state;
	for (unsigned s = 0; s < 2; s++) {
		window(f, s);
		cgroup(f, "/a", 10, 300);
		energy_of(f, 0, 0);
		f->zone_nj[3] = f->zone_nj[0] + s; /* a step apart */
		f->report.flags = SW_FLAG_MIRRORED;
		assert_int_equal(groups_add(g, &measured, &f->report), 0);
		assert_adds_up(g);
	}
	/* a sum that nothing explains */
	f->zone_nj[3] = f->zone_nj[0] + f->zone_nj[2] + 1;
	f->report.energy.total_nj++;
	f->report.energy.idle_nj++;
	assert_int_equal(groups_add(g, &measured, &f->report), -EPROTO);
	groups_close(g);
	free(f);
}

/* Months at 1 kW and more. */
static void test_wide(void **state)
{
	struct groups *g = open_groups(GROUPS_BY_CGROUP, 10);
	struct feed *f = calloc(1, sizeof(*f));
	metrics_total expected = 0;

	(void)state;
	for (unsigned s = 0; s < 10; s++) {
		window(f, s);
		cgroup(f, "/a", UINT64_MAX / 4, INT64_MAX / 4);
		energy_of(f, INT64_MAX / 8, 0);
		f->report.platform_nj = SW_ABSENT;
		expected += INT64_MAX / 4;
		assert_int_equal(groups_add(g, &measured, &f->report), 0);
		assert_adds_up(g);
	}
	assert_total(series(g, "group=\"/a\"")->energy.nj[0], expected);
	assert_true(expected > UINT64_MAX);
	assert_total(series(g, "group=\"/a\"")->cpu_ns, (metrics_total)(UINT64_MAX / 4) * 10);
	groups_close(g);
	free(f);
}

/* Parts that are more than their whole: the window is refused, and nothing of it is left. */
static void test_refused(void **state)
{
	struct groups *g = open_groups(GROUPS_BY_CGROUP, 10);
	struct feed *f = calloc(1, sizeof(*f));

	(void)state;
	for (unsigned fault = 0; fault < 7; fault++) {
		window(f, 0);
		cgroup(f, "/a", 10, 5);
		energy_of(f, 4, 1);
		f->report.proc_oncpu_ns -= fault == 0;
		f->report.energy.proc_nj -= fault == 1;
		f->report.energy.total_nj += fault == 1 ? -1 : fault == 2;
		f->zone_nj[0] -= fault == 3;
		f->cgroups[0].nj = fault == 4 ? -1 : 5;
		f->zone_nj[2] = fault == 5 ? -1 : f->zone_nj[2];
		assert_int_equal(groups_add(g, fault == 6 ? &without : &measured, &f->report), -EPROTO);
		assert_int_equal(g->windows, 0);
		assert_int_equal(g->n_own, 0);
		assert_total(g->other.cpu_ns, 0);
		assert_total(sum_of(g, 0), 0);
		assert_total(zones_of(g, 0), 0);
	}
	window(f, 1);
	cgroup(f, "/b", 10, 5);
	energy_of(f, 4, 1);
	assert_int_equal(groups_add(g, &measured, &f->report), 0);
	assert_int_equal(g->n_own, 1);
	assert_int_equal(HASH_COUNT(g->table), 1);
	assert_adds_up(g);
	groups_close(g);
	free(f);
}

static void test_health(void **state)
{
	static const int64_t misses[] = { 3, 5, SW_ABSENT, 5, 2, 4 };
	struct groups *g = open_groups(GROUPS_BY_CGROUP, 10);
	struct feed *f = calloc(1, sizeof(*f));

	(void)state;
	for (unsigned s = 0; s < 6; s++) {
		energy_of(window(f, s), 0, 0);
		f->report.recursion_misses = misses[s];
		f->report.lost_by_kind_ns[SW_LOST_MISSED] = 7;
		f->report.flags = SW_FLAG_LATE | (s == 2 ? SW_FLAG_STEAL : 0);
		f->report.time_utc_ns = s;
		if (s == 4)
			groups_new_monitor(g);
		assert_int_equal(groups_add(g, &measured, &f->report), 0);
	}
	assert_int_equal(g->windows, 6);
	assert_int_equal(g->recursion_misses, 5 + 4);
	assert_total(g->lost_by_kind_ns[SW_LOST_MISSED], 42);
	assert_int_equal(g->windows_flagged[0], 6);
	assert_int_equal(g->windows_flagged[9], 1);
	assert_int_equal(g->last_utc_ns, 5);
	assert_true(g->last_has_energy);
	groups_close(g);
	groups_close(NULL);
	free(f);
}

static void test_defaults(void **state)
{
	struct groups_options options = { 0 };
	struct groups *g;

	(void)state;
	assert_int_equal(groups_open(&options, &g), 0);
	assert_int_equal(g->options.max_series, 1000);
	assert_int_equal(g->options.stay_ns, 300 * S);
	assert_int_equal(g->options.hold_ns, 60 * S);
	groups_close(g);
	assert_int_equal(groups_rows(GROUPS_BY_CGROUP), SW_BY_CGROUP);
	assert_int_equal(groups_rows(GROUPS_BY_COMM), SW_BY_COMM);
	assert_int_equal(groups_rows(GROUPS_BY_PROCESS), SW_BY_PROCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_churn), cmocka_unit_test(test_largest), cmocka_unit_test(test_hysteresis),
		cmocka_unit_test(test_smallest), cmocka_unit_test(test_stay), cmocka_unit_test(test_storm),
		cmocka_unit_test(test_cgroups), cmocka_unit_test(test_comms), cmocka_unit_test(test_processes),
		cmocka_unit_test(test_processes_by_cgroup), cmocka_unit_test(test_no_energy),
		cmocka_unit_test(test_quality), cmocka_unit_test(test_mirror), cmocka_unit_test(test_wide),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_health), cmocka_unit_test(test_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what a context switch costs with schedwatt, against the floors. Must not know: how variants attach.
 * Method: CPU time of the switching tasks themselves, all variants in every round in random order, the same pair of
 * tasks for one round; differences within a round, their median over rounds.
 */
#include "bench.h"
#include "load.h"
#include "stat.h"
#include "variant.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAIR_RUN_NS 10e6
#define RING_TASKS 2000
#define RING_LAPS 4
#define RING_ROUNDS 101
#define YIELD_ROUNDS 101
#define VARIANTS_MAX 16

enum { NONE, NONE_AGAIN, EMPTY_BTF, CLOCK_BTF, HOST_BTF, INSIDE, OUTSIDE, PIPE_VARIANTS, EMPTY_RAW = PIPE_VARIANTS,
       CLOCK_RAW, HOST_RAW, EMPTY_TP, CLOCK_TP, HOST_TP, PAIR_VARIANTS };

static const struct variant pair_variants[PAIR_VARIANTS] = {
	[NONE] = {.name = "none", .kind = NOTHING},
	[NONE_AGAIN] = {.name = "none again", .kind = NOTHING},
	[EMPTY_BTF] = {.name = "empty tp_btf", .kind = EMPTY, .flavour = BTF},
	[CLOCK_BTF] = {.name = "clock tp_btf", .kind = CLOCK, .flavour = BTF},
	[HOST_BTF] = {.name = "schedwatt host tp_btf", .kind = HOST, .flavour = BTF},
	[INSIDE] = {.name = "schedwatt tree inside tp_btf", .kind = TREE_INSIDE, .flavour = BTF},
	[OUTSIDE] = {.name = "schedwatt tree outside tp_btf", .kind = TREE_OUTSIDE, .flavour = BTF},
	[EMPTY_RAW] = {.name = "empty raw_tp", .kind = EMPTY, .flavour = RAW},
	[CLOCK_RAW] = {.name = "clock raw_tp", .kind = CLOCK, .flavour = RAW},
	[HOST_RAW] = {.name = "schedwatt host raw_tp", .kind = HOST, .flavour = RAW},
	[EMPTY_TP] = {.name = "empty tracepoint", .kind = EMPTY, .flavour = CLASSIC},
	[CLOCK_TP] = {.name = "clock tracepoint", .kind = CLOCK, .flavour = CLASSIC},
	[HOST_TP] = {.name = "schedwatt host tracepoint", .kind = HOST, .flavour = CLASSIC},
};

static const struct variant ring_variants[] = {
	{.name = "none", .kind = NOTHING},
	{.name = "none again", .kind = NOTHING},
	{.name = "empty tp_btf", .kind = EMPTY, .flavour = BTF},
	{.name = "clock tp_btf", .kind = CLOCK, .flavour = BTF},
	{.name = "schedwatt host tp_btf", .kind = HOST, .flavour = BTF},
};

#define RING_VARIANTS (sizeof(ring_variants) / sizeof(ring_variants[0]))

struct run {
	struct bench *bench;
	const char *group;
	struct floors *floors;
	struct variant v[VARIANTS_MAX];
	unsigned n;
	unsigned rounds;
	uint32_t chunks;
	double *ns[VARIANTS_MAX];      /* per switch, by round */
	double *charged[VARIANTS_MAX]; /* what schedwatt charged ÷ what the pair used */
	struct sw_error error;
};

static void run_close(struct run *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		variant_close(&r->v[i]);
		free(r->ns[i]);
		free(r->charged[i]);
	}
	floors_close(r->floors);
}

static int run_open(struct run *r, struct bench *b, const char *group, const struct variant *v, unsigned n,
		    unsigned rounds)
{
	int err;

	*r = (struct run){.bench = b, .group = group, .n = n, .rounds = b->rounds};
	if (rounds < r->rounds)
		r->rounds = rounds;
	memcpy(r->v, v, n * sizeof(*v));
	err = floors_open(&r->floors);
	if (err)
		return sw_fail(&r->error, err, "the floor programs do not load: %s", strerror(-err));
	for (unsigned i = 0; i < n; i++) {
		r->ns[i] = calloc(r->rounds, sizeof(double));
		r->charged[i] = calloc(r->rounds, sizeof(double));
		if (!r->ns[i] || !r->charged[i])
			return sw_fail(&r->error, -ENOMEM, "out of memory");
		err = variant_open(&r->v[i], r->floors, &r->error);
		if (err)
			return err;
	}
	return 0;
}

static void shuffle(unsigned *order, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		order[i] = i;
	for (unsigned i = n - 1; i > 0; i--) {
		unsigned k = rand() % (i + 1), keep = order[i];

		order[i] = order[k];
		order[k] = keep;
	}
}

static int tidy(struct run *r)
{
	int err = 0;

	for (unsigned i = 0; i < r->n && !err; i++) {
		if (variant_tidy(&r->v[i]))
			continue;
		variant_close(&r->v[i]);
		err = variant_open(&r->v[i], r->floors, &r->error);
	}
	return err;
}

/* Outside its tree it charges nobody. */
static bool is_charged(const struct variant *v)
{
	return v->kind == HOST || v->kind == TREE_INSIDE;
}

static int pair_once(struct run *r, unsigned i, unsigned round, struct pair *p)
{
	struct variant *v = &r->v[i];
	uint64_t before = variant_charged_ns(v, p->tids);
	double used;
	int err = variant_attach(v);

	if (err)
		return sw_fail(&r->error, err, "%s does not attach: %s", v->name, strerror(-err));
	err = pair_run(p, r->chunks, &r->ns[i][round], &used);
	variant_detach(v);
	if (err)
		return sw_fail(&r->error, err, "the pair of tasks ended");
	r->charged[i][round] = is_charged(v) ? (variant_charged_ns(v, p->tids) - before) / used : NAN;
	return 0;
}

static int pair_rounds(struct run *r, enum pair_way way)
{
	unsigned order[VARIANTS_MAX];
	struct pair p;
	int err = 0;

	for (unsigned round = 0; round < r->rounds && !err; round++) {
		shuffle(order, r->n);
		err = tidy(r);
		if (!err && (err = pair_start(&p, r->bench->cpu, way, true)))
			sw_fail(&r->error, err, "the pair of tasks does not start: %s", strerror(-err));
		if (err)
			break;
		if (!round)
			r->chunks = pair_chunks(&p, r->bench->quick ? PAIR_RUN_NS / 2 : PAIR_RUN_NS);
		for (unsigned k = 0; k < r->n && !err; k++)
			err = pair_once(r, order[k], round, &p);
		pair_end(&p);
	}
	return err;
}

/* All of a pair's time was charged to it, or what was measured is not what it should be. */
static int check_charged(struct run *r)
{
	for (unsigned i = 0; i < r->n; i++)
		if (is_charged(&r->v[i]) && !(fabs(stat_quantile(r->charged[i], r->rounds, .5) - 1) < .05))
			return sw_fail(&r->error, -EIO, "%s did not account for the pair of tasks", r->v[i].name);
	return 0;
}

static int ring_rounds(struct run *r)
{
	unsigned order[VARIANTS_MAX], hops = RING_TASKS * (r->bench->quick ? 1 : RING_LAPS);
	struct ring ring;
	double warm;
	int err = ring_start(&ring, r->bench->cpu, RING_TASKS);

	if (err)
		return sw_fail(&r->error, err, "no ring of %d tasks: %s", RING_TASKS, strerror(-err));
	for (unsigned round = 0; round < r->rounds && !err; round++) {
		shuffle(order, r->n);
		for (unsigned k = 0; k < r->n && !err; k++) {
			struct variant *v = &r->v[order[k]];

			err = variant_attach(v);
			if (!err)
				err = ring_run(&ring, RING_TASKS, &warm);
			if (!err)
				err = ring_run(&ring, hops, &r->ns[order[k]][round]);
			variant_detach(v);
		}
	}
	ring_end(&ring);
	return err ? sw_fail(&r->error, err, "the ring broke: %s", strerror(-err)) : 0;
}

/* Everything is held against "none", so it was measured twice; from here on it is the mean. */
static void keep_raw(struct run *r)
{
	char name[128];

	bench_raw(r->bench, r->group, "none", r->ns[NONE], r->rounds);
	for (unsigned k = 0; k < r->rounds; k++)
		r->ns[NONE][k] = (r->ns[NONE][k] + r->ns[NONE_AGAIN][k]) / 2;
	for (unsigned i = NONE_AGAIN; i < r->n; i++) {
		bench_raw(r->bench, r->group, r->v[i].name, r->ns[i], r->rounds);
		if (i == NONE_AGAIN)
			continue;
		snprintf(name, sizeof(name), "%s: added_ns", r->v[i].name);
		bench_raw_number(r->bench, r->group, name, stat_added(r->ns[i], r->ns[NONE], r->rounds).value);
		snprintf(name, sizeof(name), "%s: added_ns_standard_error", r->v[i].name);
		bench_raw_number(r->bench, r->group, name, stat_added(r->ns[i], r->ns[NONE], r->rounds).se);
		snprintf(name, sizeof(name), "%s: added_p25_ns", r->v[i].name);
		bench_raw_number(r->bench, r->group, name, stat_added_p25(r->ns[i], r->ns[NONE], r->rounds).value);
		snprintf(name, sizeof(name), "%s: added_p25_ns_standard_error", r->v[i].name);
		bench_raw_number(r->bench, r->group, name, stat_added_p25(r->ns[i], r->ns[NONE], r->rounds).se);
		if (!is_charged(&r->v[i]) || !r->charged[i][0])
			continue;
		snprintf(name, sizeof(name), "%s: charged / used", r->v[i].name);
		bench_raw(r->bench, r->group, name, r->charged[i], r->rounds);
	}
}

static void row_added(struct run *r, unsigned i, const char *name, const char *what)
{
	struct stat s = stat_added(r->ns[i], r->ns[NONE], r->rounds);

	bench_stat(r->bench, name, what, "ns", s);
}

static void row_ratio(struct run *r, unsigned i, unsigned floor, const char *name, const char *what, double must,
		      double aim)
{
	struct stat s = stat_ratio_added(r->ns[i], r->ns[floor], r->ns[NONE], r->rounds);

	bench_limit(r->bench, name, what, "", s.value, s.se, must, aim);
}

/* Partners that yield: all flavours. The last digits are worth more here than with pipes, the cache is warmer. */
static void yield_rows(struct bench *b)
{
	struct run r;
	struct stat s;

	if (run_open(&r, b, "yield", pair_variants, PAIR_VARIANTS, YIELD_ROUNDS) ||
	    pair_rounds(&r, YIELDS) || check_charged(&r)) {
		bench_skip(b, "yield", "partners that yield", r.error.text);
		run_close(&r);
		return;
	}
	keep_raw(&r);
	s = stat_median(r.ns[NONE], r.rounds);
	bench_stat(b, "yield_bare", "a bare switch, partners that yield", "ns", s);
	row_added(&r, EMPTY_BTF, "yield_added_empty", "  added by an empty program (tp_btf)");
	row_added(&r, CLOCK_BTF, "yield_added_clock", "  added by one that reads the clock");
	row_added(&r, HOST_BTF, "yield_added_host", "  added by schedwatt, whole host");
	row_ratio(&r, HOST_BTF, CLOCK_BTF, "yield_host_per_clock", "  whole host / clock only", NAN, NAN);
	row_ratio(&r, HOST_BTF, EMPTY_BTF, "yield_host_per_empty", "  whole host / empty", NAN, NAN);
	row_ratio(&r, INSIDE, CLOCK_BTF, "yield_inside_per_clock", "  inside a tree / clock only", NAN, NAN);
	row_ratio(&r, OUTSIDE, CLOCK_BTF, "yield_outside_per_clock", "  outside a tree / clock only", NAN, NAN);
	row_ratio(&r, HOST_RAW, CLOCK_RAW, "raw_per_clock", "  raw_tp: whole host / its clock only", NAN, NAN);
	row_ratio(&r, HOST_RAW, EMPTY_RAW, "raw_per_empty", "  raw_tp: whole host / its empty", NAN, NAN);
	row_ratio(&r, HOST_TP, CLOCK_TP, "classic_per_clock", "  tracepoint: whole host / its clock only", NAN, NAN);
	row_ratio(&r, HOST_TP, EMPTY_TP, "classic_per_empty", "  tracepoint: whole host / its empty", NAN, NAN);
	run_close(&r);
}

static void pipe_rows(struct bench *b)
{
	struct run r;
	struct stat s;

	if (run_open(&r, b, "switch", pair_variants, PIPE_VARIANTS, b->rounds) || pair_rounds(&r, PIPES) ||
	    check_charged(&r)) {
		bench_skip(b, "switch", "cost per context switch", r.error.text);
		run_close(&r);
		return;
	}
	keep_raw(&r);
	s = stat_median(r.ns[NONE], r.rounds);
	bench_stat(b, "bare", "a bare switch, pinned pipe partners", "ns", s);
	row_added(&r, EMPTY_BTF, "added_empty", "  added by an empty program (tp_btf)");
	row_added(&r, CLOCK_BTF, "added_clock", "  added by one that reads the clock");
	row_added(&r, HOST_BTF, "added_host", "  added by schedwatt, whole host");
	row_ratio(&r, HOST_BTF, CLOCK_BTF, "host_per_clock", "cost per switch / clock only, whole host", 1.3, 1.15);
	row_ratio(&r, HOST_BTF, EMPTY_BTF, "host_per_empty", "cost per switch / empty, whole host", 2.0, 1.75);
	row_ratio(&r, INSIDE, CLOCK_BTF, "inside_per_clock", "cost per switch / clock only, inside a tree", 1.45, 1.3);
	row_ratio(&r, OUTSIDE, CLOCK_BTF, "outside_per_clock", "cost per switch / clock only, outside a tree", 1.0,
		  .85);
	s = stat_ratio(r.ns[HOST_BTF], r.ns[NONE], r.rounds);
	bench_limit(b, "partners", "CPU time of pipe partners, with / without", "", s.value, s.se, 1.12, 1.08);
	run_close(&r);
}

void fig_switch(struct bench *b)
{
	pipe_rows(b);
	yield_rows(b);
}

void fig_ring(struct bench *b)
{
	struct run r;
	struct stat s;

	if (run_open(&r, b, "ring", ring_variants, RING_VARIANTS, RING_ROUNDS) || ring_rounds(&r)) {
		bench_skip(b, "ring", "a ring of 2,000 tasks", r.error.text);
		run_close(&r);
		return;
	}
	keep_raw(&r);
	s = stat_median(r.ns[NONE], r.rounds);
	bench_stat(b, "ring_bare", "a bare switch in a ring of 2,000 tasks", "ns", s);
	row_added(&r, CLOCK_BTF, "ring_added_clock", "  added by one that reads the clock");
	row_added(&r, HOST_BTF, "ring_added_host", "  added by schedwatt, whole host");
	row_ratio(&r, HOST_BTF, CLOCK_BTF, "ring_per_clock", "a ring of 2,000 tasks / its clock only", 2, 1.35);
	run_close(&r);
}

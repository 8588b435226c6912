/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what becomes of time when a context switch reaches no program. The program itself leaves out one in so many
 * (sw_cpu_config.drop_every), as virtual machines do by nature.
 */
#include "record.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { SLEEPERS = 12 };

struct load {
	volatile uint32_t go[SLEEPERS];
	volatile uint32_t stop;
	uint64_t sleeper_ns[SLEEPERS];
	volatile uint32_t sleepers;
};

static struct load *load;

/* Wakes to sleep again, and says at last how much it had. */
static void sleeper(void *number)
{
	unsigned i = (intptr_t)number;

	pin(i % cpus_online());
	__sync_fetch_and_add(&load->sleepers, 1);
	while (!load->stop)
		nap((3 + i % 4 * 4) * NS_PER_MS);
	load->sleeper_ns[i] = process_cpu_ns(0);
	for (;;)
		pause();
}

static void unseen(uint32_t drop_every, bool tree)
{
	pid_t sleepers[SLEEPERS], hogs[2], pids[2 + SLEEPERS];
	struct sw_cpu_config config = {.drop_every = drop_every, .pids = pids};
	uint64_t hog_before[2], hog_ns[2], before[SLEEPERS], had_ns = 0, own_ns = 0, lost;
	struct record *r;
	bool ok = true;

	load = shared(sizeof(*load));
	for (int i = 0; i < 2; i++)
		pids[config.n_pids++] = hogs[i] = start(hog, (void *)(intptr_t)(i % cpus_online()));
	for (intptr_t i = 0; i < SLEEPERS; i++)
		pids[config.n_pids++] = sleepers[i] = start(sleeper, (void *)i);
	while (load->sleepers < SLEEPERS)
		nap(NS_PER_MS);
	if (!tree)
		config.n_pids = 0;
	r = record_open(&config);
	record_begin(r);
	for (int i = 0; i < 2; i++)
		hog_before[i] = process_cpu_ns(hogs[i]);
	for (int i = 0; i < SLEEPERS; i++)
		before[i] = process_cpu_ns(sleepers[i]);
	record_windows(r, 40, 50 * NS_PER_MS);
	/* one hog less: an idle CPU behaves in its own way */
	for (int i = 0; i < 2; i++)
		hog_ns[i] = process_cpu_ns(hogs[i]) - hog_before[i];
	for (int i = 0; i < 2; i++)
		ok &= record_matches(r, "busy task", record_process_ns(r, hogs[i]), hog_ns[i], switches_of(hogs[i]), 5);
	finish(hogs[1], SIGKILL);
	record_windows(r, 40, 50 * NS_PER_MS);
	load->stop = 1;
	record_windows(r, 2, 50 * NS_PER_MS);
	record_assert_exact(r);
	lost = record_lost_ns(r);
	for (int i = 0; i < SLEEPERS; i++) {
		uint64_t ns = record_process_ns(r, sleepers[i]), own = load->sleeper_ns[i] - before[i];

		assert_true(own > 0);
		had_ns += ns;
		own_ns += own;
		/* each of its some hundred turns may be told apart from its neighbours' by microseconds only */
		if (ns > own + own / 10 + 3 * NS_PER_MS) {
			print_message("# sleeper %d has %.3f ms, its own clock says %.3f\n", i, ns / 1e6, own / 1e6);
			ok = false;
		}
	}
	print_message("# one in %u: sleepers have %.3f ms, their own clocks say %.3f; lost %.3f of %.0f ms\n",
		      drop_every, had_ns / 1e6, own_ns / 1e6, lost / 1e6, r->sum.span_ns / 1e6);
	assert_true(ok);
	assert_true(had_ns > own_ns / 4);
	/* a single unseen switch resolves; only what lies between two of them, or behind a mismatch, is lost */
	assert_true(lost < r->sum.span_ns / 4);
}

static void one_in_1000(void **state)
{
	(void)state;
	unseen(1000, false);
}

static void one_in_7(void **state)
{
	(void)state;
	unseen(7, false);
}

static void one_in_7_of_a_tree(void **state)
{
	(void)state;
	unseen(7, true);
}

/* The seam works at all: more of the switches are missed than without it. */
static void seam_drops(void **state)
{
	uint64_t missed[2] = {0};

	(void)state;
	start(ping_pong, (void *)0);
	for (int k = 0; k < 2; k++) {
		struct sw_cpu_config config = {.drop_every = k ? 7 : 0};
		struct record *r = record_open(&config);

		record_begin(r);
		record_windows(r, 10, 20 * NS_PER_MS);
		for (unsigned i = 0; i < record_inside(r)->n_cpus; i++)
			missed[k] += record_inside(r)->cpus[i].missed;
		record_assert_exact(r);
		record_close(r);
	}
	print_message("# missed %llu, with the seam %llu\n", (unsigned long long)missed[0],
		      (unsigned long long)missed[1]);
	assert_true(missed[1] > missed[0] + 100);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		live_test(seam_drops),
		live_test(one_in_1000),
		live_test(one_in_7),
		live_test(one_in_7_of_a_tree),
	};

	(void)argc;
	return live_run(tests);
}

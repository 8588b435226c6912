/* SPDX-License-Identifier: BSD-2-Clause */
/* cpu/host.c: lines of /proc/stat as people met them, and windows whose parts add up whatever they say. */
#include "tree.h"

#include "cpu/host.h"

#include <errno.h>

#define MS 1000000ULL
#define NS 1000000000ULL
#define TICK (10 * MS)

/* What the library calls, so that a test says how long a tick is. */
static long ticks_a_second = 100;

long sysconf(int name)
{
	if (name == _SC_CLK_TCK)
		return ticks_a_second;
	return name == _SC_PAGESIZE ? 4096 : -1;
}

static const int16_t domain_of[8] = {0, 0, 1, 1, 1, 1, 1, 1};

static struct sw_host *open_host(struct tree *t, unsigned n_domains, bool whole)
{
	static const int16_t one_domain[8];
	struct sw_cpu_config config = {.domain_of = n_domains > 1 ? domain_of : one_domain, .n_cpus = 8,
				       .n_domains = n_domains, .procfs_fd = t->fd};
	struct sw_host *h = NULL;
	struct sw_error error = {""};

	if (sw_host_open(&config, whole, &error, &h))
		fail_msg("cannot open: %s", error.text);
	return h;
}

/* A boundary; every window's parts add up. */
static void at(struct sw_host *h, uint64_t t_ns, unsigned n_domains, const uint64_t *watched_ns)
{
	static struct sw_cpu_domain before[2];
	struct sw_error error = {""};

	memcpy(before, h->domains, n_domains * sizeof(before[0]));
	assert_int_equal(sw_host_read(h, &error), 0);
	for (unsigned d = 0; d < n_domains; d++) {
		uint64_t room_ns = sw_host_room_ns(h, d, t_ns);

		assert_true(watched_ns[d] <= room_ns);
	}
	sw_host_add(h, t_ns, watched_ns);
	for (unsigned d = 0; d < n_domains; d++) {
		const struct sw_cpu_domain *x = &h->domains[d], *b = &before[d];

		assert_true(x->idle_ns >= b->idle_ns && x->other_ns >= b->other_ns);
		assert_true(x->lost_other_ns >= b->lost_other_ns && x->offline_ns >= b->offline_ns);
		assert_int_equal(x->span_ns - b->span_ns,
				 x->idle_ns - b->idle_ns + x->other_ns - b->other_ns + x->lost_other_ns -
					 b->lost_other_ns + x->offline_ns - b->offline_ns + watched_ns[d]);
		assert_int_equal(x->lost_slots_ns + x->lost_missed_ns, 0);
	}
}

static void at1(struct sw_host *h, uint64_t t_ns, uint64_t watched_ns)
{
	at(h, t_ns, 1, &watched_ns);
}

/* S34: user 10, system 5; iowait that falls is no busy time, and none is negative. */
static void iowait_backwards(void **state)
{
	struct tree *t = *state;
	struct sw_host *h;

	tree_write(t, "stat", "cpu  100 0 50 1000 90 0 0 0 0 0\ncpu0 100 0 50 1000 90 0 0 0 0 0\n");
	h = open_host(t, 1, false);
	assert_int_equal(h->cpus, 1);
	assert_false(h->real_procfs);
	at1(h, 5 * NS, 0);
	tree_write(t, "stat", "cpu  110 0 55 1200 70 0 0 0 0 0\ncpu0 110 0 55 1200 70 0 0 0 0 0\n");
	at1(h, 7 * NS, 0);
	assert_int_equal(h->domains[0].span_ns, 2 * NS);
	assert_int_equal(h->domains[0].other_ns, 15 * TICK);
	assert_int_equal(h->domains[0].idle_ns, 2 * NS - 15 * TICK);
	sw_host_close(h);
}

/* S35: guest time is in user's; irq and steal are busy, and told apart. */
static void guest_once(void **state)
{
	struct tree *t = *state;
	struct sw_host *h;

	tree_write(t, "stat", "cpu0 0 0 0 0 0 0 0 0 0 0\nprocesses 1077\n");
	h = open_host(t, 1, false);
	assert_int_equal(h->forks, 1077);
	at1(h, 1 * NS, 0);
	tree_write(t, "stat", "cpu0 1000 100 200 5000 50 10 20 30 400 40\nprocesses 1080\n");
	at1(h, 1 * NS + 6410 * TICK, 0);
	assert_int_equal(h->domains[0].other_ns, 1360 * TICK);
	assert_int_equal(h->domains[0].idle_ns, 5050 * TICK);
	assert_int_equal(h->irq_ns, 30 * TICK);
	assert_int_equal(h->steal_ns, 30 * TICK);
	assert_int_equal(h->forks, 1080);
	sw_host_close(h);
}

/* S36: a CPU without a line is off; the others keep their own numbers. */
static void offline_hole(void **state)
{
	struct tree *t = *state;
	uint64_t none[2] = {0};
	struct sw_host *h;

	tree_write(t, "stat", "cpu0 26133 18 1309 2725972 370 0 134 0 0 0\ncpu1 32707 2 422 2709984 266 0 2 0 0 0\n"
			      "cpu2 28312 0 587 67 0 0 7 0 0 0\ncpu3 26460 0 86 111532 5 0 0 0 0 0\n");
	h = open_host(t, 2, false);
	assert_int_equal(h->cpus, 4);
	at(h, 1 * NS, 2, none);
	tree_write(t, "stat", "cpu0 26136 18 1312 2733593 371 0 135 0 0 0\ncpu1 32708 2 424 2717609 268 0 2 0 0 0\n"
			      "cpu3 26460 0 87 119161 6 0 0 0 0 0\n");
	at(h, 77 * NS, 2, none);
	assert_int_equal(h->domains[0].other_ns, 10 * TICK);
	assert_int_equal(h->domains[1].other_ns, 1 * TICK);
	assert_int_equal(h->domains[1].offline_ns, 76 * NS);
	assert_int_equal(h->domains[1].span_ns, 152 * NS);
	/* it is back, and had been busy for three ticks before it went */
	tree_write(t, "stat", "cpu0 26136 18 1312 2733593 371 0 135 0 0 0\ncpu1 32708 2 424 2717609 268 0 2 0 0 0\n"
			      "cpu2 28312 0 590 67 0 0 7 0 0 0\ncpu3 26460 0 87 119161 6 0 0 0 0 0\n");
	at(h, 78 * NS, 2, none);
	assert_int_equal(h->domains[1].offline_ns, 76 * NS);
	assert_int_equal(h->domains[1].other_ns, 4 * TICK);
	sw_host_close(h);
}

/* Eight columns and an empty line: an old kernel's, and a copy's. */
static void short_lines(void **state)
{
	struct tree *t = *state;
	struct sw_host *h;

	tree_write(t, "stat", "cpu  10 0 5 100 7 0 0 0\n\ncpu0 10 0 5 100\n\n");
	h = open_host(t, 1, false);
	at1(h, 1 * NS, 0);
	tree_write(t, "stat", "cpu  10 0 5 100 7 0 0 0\n\ncpu0 12 0 6 100\n\n");
	at1(h, 2 * NS, 0);
	assert_int_equal(h->domains[0].other_ns, 3 * TICK);
	assert_int_equal(h->steal_ns, 0);
	assert_int_equal(h->forks, 0);
	sw_host_close(h);
}

/* A line that makes no sense loses its own CPU's windows, not the others', and not the CPU. */
static void absurd_line(void **state)
{
	static const char *const bad[] = {
		"cpu1 10 0 5 x 0 0 0 0 0 0\n",
		"cpu1 10\n",
		"cpu1 18446744073709551615 1 0 0 0 0 0 0 0 0\n",
		"cpu1 9999999999 0 5 100 0 0 0 0 0 0\n", /* as many seconds have not passed */
		"cpu1 3 0 5 100 0 0 0 0 0 0\n", /* went back */
	};
	struct tree *t = *state;
	struct sw_host *h;
	char text[256];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		bool parsed = i >= 3;

		tree_write(t, "stat", "cpu0 10 0 5 100 0 0 0 0 0 0\ncpu1 10 0 5 100 0 0 0 0 0 0\n");
		h = open_host(t, 1, false);
		at1(h, 1 * NS, 0);
		snprintf(text, sizeof(text), "cpu0 12 0 6 190 0 0 0 0 0 0\n%s", bad[i]);
		tree_write(t, "stat", text);
		at1(h, 2 * NS, 0);
		assert_int_equal(h->domains[0].lost_other_ns, 1 * NS);
		assert_int_equal(h->domains[0].other_ns, 3 * TICK);
		assert_int_equal(h->domains[0].idle_ns, 1 * NS - 3 * TICK);
		/* good again: a new beginning, so that the window before it remains unknown */
		tree_write(t, "stat", "cpu0 12 0 6 190 0 0 0 0 0 0\ncpu1 20 0 5 100 0 0 0 0 0 0\n");
		at1(h, 3 * NS, 0);
		if (!parsed || i == 3)
			assert_int_equal(h->domains[0].lost_other_ns, 2 * NS);
		tree_write(t, "stat", "cpu0 12 0 6 190 0 0 0 0 0 0\ncpu1 27 0 5 100 0 0 0 0 0 0\n");
		at1(h, 4 * NS, 0);
		assert_int_equal(h->domains[0].other_ns, (i == 4 ? 17 + 10 : 3 + 7) * TICK);
		assert_int_equal(h->domains[0].offline_ns, 0);
		sw_host_close(h);
	}
}

/* Ticks come in tens of milliseconds, tasks' time does not. */
static void coarse_ticks(void **state)
{
	struct tree *t = *state;
	struct sw_host *h;

	tree_write(t, "stat", "cpu0 10 0 5 100 0 0 0 0 0 0\n");
	h = open_host(t, 1, false);
	at1(h, 1 * NS, 0);
	assert_false(h->busy_raised);
	at1(h, 1 * NS + 20 * MS, 6 * MS);
	assert_true(h->busy_raised);
	assert_int_equal(h->domains[0].other_ns, 0);
	assert_int_equal(h->domains[0].idle_ns, 14 * MS);
	/* the tick that was ahead of: the tasks had 6 ms of it before */
	tree_write(t, "stat", "cpu0 12 0 5 100 0 0 0 0 0 0\n");
	at1(h, 1 * NS + 40 * MS, 6 * MS);
	assert_false(h->busy_raised);
	assert_int_equal(h->domains[0].other_ns, 20 * MS - 6 * MS - 6 * MS);
	/* no more than one tick is taken off again */
	for (int i = 1; i <= 50; i++)
		at1(h, 1 * NS + 40 * MS + i * 20 * MS, 20 * MS);
	assert_true(h->busy_raised);
	tree_write(t, "stat", "cpu0 15 0 5 100 0 0 0 0 0 0\n");
	at1(h, 3 * NS, 0);
	assert_int_equal(h->domains[0].other_ns, 8 * MS + 20 * MS);
	sw_host_close(h);
}

/* More ticks than the window is long: read late, they belong to what follows. */
static void ticks_that_do_not_fit(void **state)
{
	struct tree *t = *state;
	struct sw_host *h;

	tree_write(t, "stat", "cpu0 0 0 0 0 0\n");
	h = open_host(t, 1, false);
	at1(h, 1 * NS, 0);
	tree_write(t, "stat", "cpu0 3 0 0 0 0\n");
	at1(h, 1 * NS + 20 * MS, 5 * MS);
	assert_int_equal(h->domains[0].other_ns, 15 * MS);
	assert_int_equal(h->domains[0].idle_ns, 0);
	assert_false(h->busy_raised);
	at1(h, 1 * NS + 40 * MS, 5 * MS);
	assert_int_equal(h->domains[0].other_ns, 20 * MS);
	assert_int_equal(h->domains[0].idle_ns, 10 * MS);
	sw_host_close(h);
}

/* All tasks are watched: what ticks have beyond them is idle, `other` is nothing. */
static void whole_host(void **state)
{
	struct tree *t = *state;
	struct sw_host *h;

	tree_write(t, "stat", "cpu0 0 0 0 0 0\n");
	h = open_host(t, 1, true);
	at1(h, 1 * NS, 0);
	tree_write(t, "stat", "cpu0 10 0 0 0 0\n");
	at1(h, 2 * NS, 95 * MS);
	assert_false(h->busy_raised);
	assert_int_equal(h->domains[0].other_ns, 0);
	assert_int_equal(h->domains[0].idle_ns, 905 * MS);
	at1(h, 3 * NS, 6 * MS);
	assert_true(h->busy_raised);
	assert_int_equal(h->domains[0].other_ns, 0);
	assert_int_equal(h->domains[0].idle_ns, 905 * MS + 994 * MS);
	sw_host_close(h);
}

/* Tasks ran where a CPU is said to have been off, or nobody knows: then it was not. */
static void tasks_know_better(void **state)
{
	struct tree *t = *state;
	struct sw_host *h;

	tree_write(t, "stat", "cpu0 0 0 0 0\ncpu1 0 0 0 0\ncpu2 0 0 0 0\n");
	h = open_host(t, 1, false);
	at1(h, 1 * NS, 0);
	tree_write(t, "stat", "cpu0 0 0 0 0\n");
	at1(h, 2 * NS, 2500 * MS);
	assert_int_equal(h->domains[0].offline_ns, 500 * MS);
	tree_write(t, "stat", "cpu0 0 0 0 0\ncpu1 0 0 0 0\ncpu2 0 0 0 0\n");
	at1(h, 3 * NS, 0);
	tree_write(t, "stat", "cpu0 0 0 0 0\ncpu1 0 - 0 0\n"); /* or cpu2: either may be the bad one */
	at1(h, 4 * NS, 2500 * MS);
	assert_int_equal(h->domains[0].lost_other_ns, 500 * MS);
	assert_int_equal(h->domains[0].offline_ns, 500 * MS);
	sw_host_close(h);
}

/* S38: 1024 ticks are a second there; parts of a nanosecond are not lost window by window. */
static void other_ticks(void **state)
{
	struct tree *t = *state;
	struct sw_host *h;
	char text[64];

	ticks_a_second = 1024;
	tree_write(t, "stat", "cpu0 0 0 0 0\n");
	h = open_host(t, 1, false);
	ticks_a_second = 100;
	at1(h, 0, 0);
	for (unsigned i = 1; i <= 1024; i++) {
		snprintf(text, sizeof(text), "cpu0 %u 0 0 0\n", i);
		tree_write(t, "stat", text);
		at1(h, i * MS, 0);
	}
	assert_int_equal(h->domains[0].other_ns, 1 * NS);
	sw_host_close(h);
	assert_true(sw_ticks_ns(UINT64_MAX, 100) == UINT64_MAX);
	assert_true(sw_ticks_ns(9065060137, 100) == 90650601370000000);
}

/* 2,000 interrupts make a long file. */
static void long_file(void **state)
{
	struct tree *t = *state;
	size_t size = 400000, n;
	char *text = malloc(size);
	struct sw_host *h;

	assert_non_null(text);
	n = (size_t)snprintf(text, size, "cpu0 1 0 0 0\nintr 7");
	while (n < size - 100)
		n += (size_t)snprintf(text + n, size - n, " 0");
	snprintf(text + n, size - n, "\nprocesses 5\n");
	tree_write(t, "stat", text);
	free(text);
	h = open_host(t, 1, false);
	assert_int_equal(h->forks, 5);
	sw_host_close(h);
}

static void refusals(void **state)
{
	struct tree *t = *state;
	struct sw_cpu_config config = {.domain_of = domain_of, .n_cpus = 8, .n_domains = 2, .procfs_fd = t->fd};
	struct sw_error error = {""};
	struct sw_host *h = NULL;

	assert_int_equal(sw_host_open(&config, false, &error, &h), -ENOENT);
	assert_string_equal(error.text, "cannot open the stat file of procfs: No such file or directory");
	tree_write(t, "stat", "");
	assert_int_equal(sw_host_open(&config, false, &error, &h), -ENODATA);
	tree_write(t, "stat", "cpu  1 0 0 0\nintr 5\n");
	assert_int_equal(sw_host_open(&config, false, &error, &h), -ENODATA);
	assert_string_equal(error.text, "the stat file of procfs names no CPU");
	assert_null(h);
	sw_host_close(NULL);
}

#define host_test(fn) cmocka_unit_test_setup_teardown(fn, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		host_test(iowait_backwards), host_test(guest_once), host_test(offline_hole), host_test(short_lines),
		host_test(absurd_line), host_test(coarse_ticks), host_test(ticks_that_do_not_fit), host_test(whole_host),
		host_test(tasks_know_better), host_test(other_ticks), host_test(long_file), host_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the rule that every window's parts add up to the nanosecond, and the check that does not telescope: what user
 * space says of a boundary against what each CPU notes when it crosses it.
 */
#include "record.h"

#include <signal.h>

/* What makes boundaries hard: CPUs that hardly switch, that switch all the time, tasks that come and go. */
static pid_t start_load(void)
{
	pid_t spinner = start(hog, (void *)0);

	start(hog, (void *)(intptr_t)(cpus_online() - 1));
	start(ping_pong, (void *)(intptr_t)(cpus_online() - 1));
	start(fork_storm, NULL);
	return spinner;
}

static void sum_rule(unsigned windows, uint64_t ns, unsigned n_domains)
{
	struct sw_cpu_config config = {.n_domains = n_domains};
	struct record *r = record_open(&config);
	pid_t spinner = start_load();
	uint64_t before, after;

	record_begin(r);
	before = process_cpu_ns(spinner);
	record_windows(r, windows, ns);
	after = process_cpu_ns(spinner);
	record_assert_exact(r);
	assert_int_equal(r->windows, windows);
	assert_true(HASH_COUNT(r->identities) > windows * ns / NS_PER_S * 20); /* the storm is in it */
	/* the kernel's own clock lags behind switches by some microseconds, and its reading behind the boundaries */
	assert_true(record_matches(r, "spinner", record_process_ns(r, spinner), after - before,
				   switches_of(spinner), 50));
}

static void sum_of_50_ms_windows(void **state)
{
	(void)state;
	sum_rule(100, 50 * NS_PER_MS, 1);
}

static void sum_of_10_ms_windows(void **state)
{
	(void)state;
	sum_rule(100, 10 * NS_PER_MS, 1);
}

/* Tasks that wander between two domains have a slot in each. */
static void sum_of_two_domains(void **state)
{
	(void)state;
	if (cpus_online() < 2)
		skip_because("two domains need two CPUs");
	sum_rule(100, 10 * NS_PER_MS, 2);
}

struct stopped {
	volatile uint32_t halfway;
	uint32_t windows, broken, fell;
	uint64_t longest_ns;
	pid_t spinner;
	uint64_t spinner_ns, spinner_own_ns, lost_ns;
};

static void stopped_reader(void *arg)
{
	struct stopped *s = arg;
	struct sw_cpu_config config = {0};
	struct record *r = record_open(&config);
	uint64_t before;

	record_begin(r);
	before = process_cpu_ns(s->spinner);
	for (int i = 0; i < 40; i += s->halfway != 1) {
		uint64_t t = r->t_ns;

		record_window(r, 10 * NS_PER_MS);
		if (r->t_ns - t > s->longest_ns)
			s->longest_ns = r->t_ns - t;
		if (i == 10 && !s->halfway)
			s->halfway = 1; /* stop me now */
	}
	s->spinner_own_ns = process_cpu_ns(s->spinner) - before;
	s->spinner_ns = record_process_ns(r, s->spinner);
	s->windows = r->windows;
	s->broken = r->broken;
	s->fell = r->fell;
	s->lost_ns = record_lost_ns(r) + record_stolen_ns(r);
	record_close(r);
}

/* A reader that is stopped for a second, in whatever it does just then. */
static void reader_stopped(void **state)
{
	struct stopped *s = shared(sizeof(*s));
	struct ended e;
	int64_t more;
	pid_t reader;

	(void)state;
	s->spinner = start_load();
	reader = start(stopped_reader, s);
	await(&s->halfway);
	for (int i = 0; i < 4; i++) {
		nap(13 * NS_PER_MS);
		assert_int_equal(kill(reader, SIGSTOP), 0);
		nap(i ? 100 * NS_PER_MS : NS_PER_S);
		assert_int_equal(kill(reader, SIGCONT), 0);
	}
	s->halfway = 2;
	e = finish(reader, 0);
	assert_int_equal(e.status, 0);
	assert_true(s->windows > 40);
	assert_true(s->longest_ns > 900 * NS_PER_MS); /* else it was not stopped within one */
	assert_int_equal(s->broken, 0);
	assert_int_equal(s->fell, 0);
	more = (int64_t)(s->spinner_ns - s->spinner_own_ns);
	print_message("# spinner: %.6f s, %+.3f ms\n", s->spinner_ns / 1e9, more / 1e6);
	assert_true((uint64_t)(more < 0 ? -more : more) <= s->spinner_own_ns / 20 + s->lost_ns);
}

/* Stretches that mostly hold a boundary and soon end: what gives the check something to compare. */
static void bursts(void *cpu)
{
	pin((intptr_t)cpu);
	for (;;) {
		burn(1300000);
		nap(300000);
	}
}

/* 10,000 windows of 2 ms, on every CPU; most of them where CPUs seldom switch, the last under a load that does. */
static void value_at_boundary(void **state)
{
	struct sw_cpu_config config = {0};
	struct record *r = record_open(&config);
	struct sw_ebpf *b = record_inside(r);
	const unsigned windows = 10000;

	(void)state;
	start(bursts, (void *)(intptr_t)(cpus_online() - 1));
	record_begin(r);
	record_windows(r, windows * 3 / 4, 2 * NS_PER_MS);
	start_load();
	record_windows(r, windows / 4, 2 * NS_PER_MS);
	print_message("# of %llu windows × %u CPUs: %llu compared, %llu differ, %llu not comparable, %llu late\n",
		      (unsigned long long)r->windows, r->b->cpus, (unsigned long long)b->check_compared,
		      (unsigned long long)b->check_differ, (unsigned long long)b->check_missed,
		      (unsigned long long)r->late);
	record_assert_exact(r);
	assert_int_equal(b->check_differ, 0);
	/* a CPU that has switched between the boundary and the read has nothing to compare */
	assert_true(b->check_compared > windows / 10);
	assert_true(b->check_missed < b->check_compared / 20);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		live_test(sum_of_50_ms_windows),
		live_test(sum_of_10_ms_windows),
		live_test(sum_of_two_domains),
		live_test(reader_stopped),
		live_test(value_at_boundary),
	};

	(void)argc;
	return live_run(tests);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the proc back end on the running kernel: against tasks' own clocks, and in storms of forks with and without the
 * kernel's records of what ends.
 */
#include "record.h"

#include "base/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KIDS = 2000, TICK_NS = 10000000 };

static const int refused = -1;

static struct record *open_proc(pid_t *pid, bool records)
{
	struct sw_cpu_config config = {.pids = pid, .n_pids = pid != NULL, .taskstats_fd = records ? NULL : &refused};
	struct record *r = record_open_by(&sw_cpu_proc, &config);

	print_message("# %s\n", r->b->note);
	return r;
}

static void within(const char *what, uint64_t ns, uint64_t own_ns, double less_permille, double more_permille)
{
	double more = ((double)ns - (double)own_ns) / own_ns * 1000;

	print_message("# %s: %.6f of %.6f s, %+.3f per mille\n", what, ns / 1e9, own_ns / 1e9, more);
	assert_true(more >= -less_permille && more <= more_permille);
}

static void spin(void *unused)
{
	(void)unused;
	nice(5);
	for (;;)
		;
}

/* Two seconds of load: 1 %, for the two reads of it are a tick late or early. */
static void steady(void **state)
{
	pid_t pid = start(spin, NULL);
	struct record *r = open_proc(&pid, true);
	uint64_t before;

	(void)state;
	record_begin(r);
	before = process_cpu_ns(pid);
	record_windows(r, 20, 100 * NS_PER_MS);
	while (record_process_ns(r, pid) < 1000 * NS_PER_MS)
		record_window(r, 100 * NS_PER_MS);
	within("a load", record_process_ns(r, pid), process_cpu_ns(pid) - before, 10, 10);
	record_assert_exact(r);
	assert_false(r->ended);
	assert_true(r->b->ops->alive(r->b));
	finish(pid, SIGKILL);
	assert_false(r->b->ops->alive(r->b));
	record_window(r, 20 * NS_PER_MS);
	assert_true(r->ended);
	assert_true(record_find(r, pid)->process_ended);
	assert_true(record_find(r, pid)->task.exit_known);
	assert_int_equal(record_find(r, pid)->exit_code, SIGKILL);
}

struct brood {
	volatile uint32_t go, done;
	uint64_t own_ns, kids_ns; /* of the parent since `go`, of what it waited for */
	int32_t pid[KIDS];
};

static uint64_t rusage_ns(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NS_PER_S + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

/* Most alone, some together; a third of them exec. Each ends with a status of its own. */
static void breed(void *arg)
{
	struct brood *b = arg;

	await(&b->go);
	b->own_ns = process_cpu_ns(0);
	for (int i = 0; i < KIDS; i++) {
		pid_t pid = fork();

		if (!pid) {
			if (i % 3 == 0)
				execl("/bin/true", "true", NULL);
			prctl(PR_SET_NAME, i % 3 == 1 ? "kid) S 1" : "kid-two");
			burn(200000);
			_exit(i % 3);
		}
		if (pid < 0)
			_exit(1);
		b->pid[i] = pid;
		if (i % 8 != 7)
			while (waitpid(-1, NULL, i % 4 == 3 ? WNOHANG : 0) > 0 && i % 4 != 3)
				;
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	b->kids_ns = rusage_ns(RUSAGE_CHILDREN);
	b->own_ns = process_cpu_ns(0) - b->own_ns;
	b->done = 1;
	for (;;)
		pause();
}

static uint64_t all_ns(const struct record *r)
{
	uint64_t ns = 0;

	for (const struct identity *i = r->identities; i; i = i->hh.next)
		ns += i->oncpu_ns;
	return ns;
}

/* Children with a row, and of those the ones whose row is not as they were. */
static unsigned count_kids(const struct record *r, const struct brood *b, pid_t parent, unsigned *wrong)
{
	static const char *const names[] = {"true", "kid) S 1", "kid-two"};
	unsigned found = 0;

	*wrong = 0;
	for (int i = 0; i < KIDS; i++) {
		const struct identity *k = record_find(r, b->pid[i]);

		found += k != NULL;
		*wrong += k && (!k->died || !k->process_ended || k->ppid != parent || strcmp(k->comm, names[i % 3]) ||
				!k->task.exit_known || k->exit_code != (i % 3) << 8);
	}
	return found;
}

static struct record *storm(bool records, uint64_t window_ns, struct brood *b, pid_t *parent)
{
	struct record *r;

	*parent = start(breed, b);
	r = open_proc(parent, records);
	record_begin(r);
	b->go = 1;
	while (!b->done)
		record_window(r, window_ns);
	/* what did not fit in its windows, for we were late, is told with the next */
	record_window(r, 300 * NS_PER_MS);
	record_window(r, 20 * NS_PER_MS);
	return r;
}

/* With records nobody is missing, and no time. */
static void storm_with_records(uint64_t window_ns)
{
	struct brood *b = shared(sizeof(*b));
	unsigned found, wrong;
	pid_t parent;
	struct record *r = storm(true, window_ns, b, &parent);

	found = count_kids(r, b, parent, &wrong);
	print_message("# %u of %d children, %u wrong; %llu ended unseen with %.3f s; %llu lost\n", found, KIDS, wrong,
		      (unsigned long long)r->usage->exits, r->usage->exits_ns / 1e9,
		      (unsigned long long)r->usage->members_lost);
	within("children", all_ns(r) - record_process_ns(r, parent), b->kids_ns, 10, 10);
	within("the tree", all_ns(r), b->kids_ns + b->own_ns, 10, 10);
	assert_int_equal(found, KIDS);
	assert_int_equal(wrong, 0);
	assert_int_equal(r->usage->members_lost, 0);
	assert_true(r->usage->exits > KIDS / 2);
	record_assert_exact(r);
}

static void storm_short_windows(void **state)
{
	(void)state;
	storm_with_records(50 * NS_PER_MS);
}

static void storm_long_windows(void **state)
{
	(void)state;
	storm_with_records(1000 * NS_PER_MS);
}

/* Without, their time is what their parent waited for; that some were not seen is said. */
static void storm_without_records(void **state)
{
	struct brood *b = shared(sizeof(*b));
	pid_t parent;
	struct record *r = storm(false, 100 * NS_PER_MS, b, &parent);

	(void)state;
	print_message("# ended unseen: %.3f s; %llu lost\n", r->usage->exits_ns / 1e9,
		      (unsigned long long)r->usage->members_lost);
	assert_true(all_ns(r) <= b->kids_ns + b->own_ns + TICK_NS);
	within("the tree", all_ns(r), b->kids_ns + b->own_ns, 20, 5);
	assert_true(r->usage->members_lost > 0);
	record_assert_exact(r);
}

struct crowd {
	volatile uint32_t go, done;
	uint64_t own_ns;
};

static void *work(void *ns)
{
	burn((uintptr_t)ns);
	return NULL;
}

/* Threads that come and go, beside one that stays; the leader ends before it. */
static void *come_and_go(void *arg)
{
	struct crowd *c = arg;
	pthread_t thread;

	for (int i = 0; i < 300; i++) {
		if (pthread_create(&thread, NULL, work, (void *)(uintptr_t)(i % 10 ? 1000000 : 20000000)))
			_exit(1);
		pthread_join(thread, NULL);
	}
	c->own_ns = process_cpu_ns(0);
	c->done = 1;
	for (;;)
		pause();
}

static void lead(void *arg)
{
	struct crowd *c = arg;
	pthread_t thread;

	await(&c->go);
	if (pthread_create(&thread, NULL, come_and_go, c))
		_exit(1);
	nap(200 * NS_PER_MS);
	pthread_exit(NULL);
}

static void threads(bool records)
{
	struct crowd *c = shared(sizeof(*c));
	pid_t pid = start(lead, c);
	struct record *r = open_proc(&pid, records);
	unsigned n;

	record_begin(r);
	c->go = 1;
	while (!c->done)
		record_window(r, 50 * NS_PER_MS);
	record_windows(r, 2, 20 * NS_PER_MS);
	n = HASH_COUNT(r->identities);
	print_message("# %u threads with a row\n", n);
	within("a process", record_process_ns(r, pid), c->own_ns, 10, 5);
	record_assert_exact(r);
	assert_false(r->ended);
	assert_false(record_find(r, pid)->died);
	if (records)
		assert_int_equal(n, 302);
	finish(pid, SIGKILL);
	record_window(r, 20 * NS_PER_MS);
	assert_true(r->ended);
}

static void threads_with_records(void **state)
{
	(void)state;
	threads(true);
}

static void threads_without_records(void **state)
{
	(void)state;
	threads(false);
}

enum { MANY = 200, FORKED = 40 };

struct forking {
	volatile uint32_t go, done;
	int32_t pid[FORKED];
};

static void *little_by_little(void *unused)
{
	(void)unused;
	for (;;)
		nap(3 * NS_PER_MS);
	return NULL;
}

/* One of many threads, all of which run now and then. */
static void fork_from_thread(void *arg)
{
	struct forking *f = arg;
	pthread_t thread;

	for (int i = 0; i < MANY; i++)
		if (pthread_create(&thread, NULL, little_by_little, NULL))
			_exit(1);
	await(&f->go);
	for (int i = 0; i < FORKED; i++) {
		pid_t pid = fork();

		if (!pid) {
			nap(300 * NS_PER_MS);
			burn(3 * NS_PER_MS);
			_exit(0);
		}
		f->pid[i] = pid;
		nap(10 * NS_PER_MS);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	f->done = 1;
	for (;;)
		pause();
}

/* Each child is seen, though its parent's threads are too many to be asked one by one. */
static void many_threads_fork(void **state)
{
	struct forking *f = shared(sizeof(*f));
	pid_t pid = start(fork_from_thread, f);
	unsigned found = 0, wrong = 0;
	struct record *r;

	(void)state;
	nap(100 * NS_PER_MS);
	r = open_proc(&pid, false);
	record_begin(r);
	f->go = 1;
	while (!f->done)
		record_window(r, 50 * NS_PER_MS);
	record_window(r, 50 * NS_PER_MS);
	for (int i = 0; i < FORKED; i++) {
		const struct identity *k = record_find(r, f->pid[i]);

		found += k != NULL;
		wrong += k && (k->ppid != pid || !k->died || k->oncpu_ns < 2 * NS_PER_MS);
	}
	print_message("# %u of %d children, %u wrong; %u tasks\n", found, FORKED, wrong, HASH_COUNT(r->identities));
	assert_int_equal(found, FORKED);
	assert_int_equal(wrong, 0);
	record_assert_exact(r);
}

/* All tasks there are, of two domains, while some come and go. */
static void whole_host(void **state)
{
	struct sw_cpu_config config = {.n_domains = 2};
	struct record *r;
	int64_t more_ns;
	uint64_t before;
	pid_t pid;

	(void)state;
	start(fork_storm, NULL);
	pid = start(hog, (void *)0);
	r = record_open_by(&sw_cpu_proc, &config);
	record_begin(r);
	before = process_cpu_ns(pid);
	record_windows(r, 60, 50 * NS_PER_MS);
	assert_non_null(record_find(r, pid));
	/* late by a tick, or held back for a window */
	more_ns = (int64_t)(record_process_ns(r, pid) - (process_cpu_ns(pid) - before));
	print_message("# a load: %.6f s, %+.3f ms\n", record_process_ns(r, pid) / 1e9, more_ns / 1e6);
	assert_true(more_ns > -50 * (int64_t)NS_PER_MS && more_ns < 2 * TICK_NS);
	record_assert_exact(r);
	assert_int_equal(r->sum.other_ns, 0);
	print_message("# %u tasks, %.3f s of %.3f s on CPUs; %llu lost\n", HASH_COUNT(r->identities), all_ns(r) / 1e9,
		      r->sum.span_ns / 1e9, (unsigned long long)r->usage->members_lost);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		live_test(steady),
		live_test(storm_short_windows),
		live_test(storm_long_windows),
		live_test(storm_without_records),
		live_test(threads_with_records),
		live_test(threads_without_records),
		live_test(many_threads_fork),
		live_test(whole_host),
	};

	(void)argc;
	return live_run(tests);
}

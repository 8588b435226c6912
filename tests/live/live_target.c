/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what a target of pids means: several that lie in one another, a process's threads alone, and when it has ended.
 * Relies on: puppet.h, pthread_exit(3), execve(2) by a thread.
 */
#include "puppet.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct puppet *puppet;

static struct record *watch(const pid_t *pids, size_t n, bool process_scope)
{
	struct sw_cpu_config config = {.pids = pids, .n_pids = n, .process_scope = process_scope};
	struct record *r = record_open(&config);

	record_begin(r);
	return r;
}

static uint64_t ns_of(const struct record *r, int i)
{
	struct identity *id = record_find(r, puppet[i].tid);

	return id ? id->oncpu_ns : 0;
}

/* What puppets 0 to n-1 burn counts once, whatever way they lie in the target. */
static void nested_pids(void **state)
{
	uint64_t before_ns = 0, own_ns = 0, sum_ns = 0, tasks_ns;
	struct record *r;
	pid_t pids[5];

	(void)state;
	puppet = puppets();
	puppet_root(0);
	puppet_fork(0, 1, 0); /* named, as is its parent */
	puppet_fork(1, 2, 0); /* not named */
	puppet_fork(2, 3, 0); /* named */
	puppet_thread(1, 4);
	puppet_root(5); /* on its own */
	for (int i = 0; i < 3; i++)
		pids[i] = puppet[(int[]){1, 0, 3}[i]].tgid;
	pids[3] = puppet[5].tgid;
	pids[4] = pids[0]; /* and one twice */
	for (int i = 0; i <= 5; i++) {
		puppet_burn(i, 1000);
		before_ns += puppet[i].own_ns;
	}
	r = watch(pids, 5, false);
	puppet_burn_all(100 * NS_PER_MS);
	record_window(r, 10 * NS_PER_MS);
	for (int i = 0; i <= 5; i++) {
		own_ns += puppet[i].own_ns;
		sum_ns += ns_of(r, i);
		print_message("# puppet %d: %.3f of %.3f ms\n", i, ns_of(r, i) / 1e6, puppet[i].own_ns / 1e6);
	}
	tasks_ns = r->sum.span_ns - r->sum.idle_ns - r->sum.other_ns - record_lost_ns(r) - r->sum.offline_ns;
	record_assert_exact(r);
	assert_true(tasks_ns == sum_ns); /* nobody else is in */
	assert_true(record_matches(r, "six that lie in one another", sum_ns, own_ns - before_ns, 600, 5));
	assert_int_equal(r->members_lost, 0);
}

/* --- a process alone */

static void process_scope(void **state)
{
	uint64_t own_ns = 0, before_ns = 0, sum_ns = 0;
	struct record *r;

	(void)state;
	puppet = puppets();
	puppet_root(0);
	puppet_thread(0, 1);
	puppet_fork(0, 2, 0);
	puppet_fork(1, 3, 0);
	for (int i = 0; i < 2; i++) {
		puppet_burn(i, 1000);
		before_ns += puppet[i].own_ns;
	}
	r = watch(&puppet[0].tgid, 1, true);
	puppet_thread(0, 4);
	puppet_thread(4, 5);
	puppet_fork(0, 6, 0);
	puppet_fork(5, 7, 0);
	puppet_thread(7, 8);
	puppet_burn_all(50 * NS_PER_MS);
	record_window(r, 10 * NS_PER_MS);
	for (int i = 0; i <= 8; i++) {
		bool in = i < 2 || i == 4 || i == 5;

		print_message("# puppet %d, %s: %.3f ms\n", i, in ? "a thread" : "of a child", ns_of(r, i) / 1e6);
		assert_true(in == (ns_of(r, i) > 0));
		own_ns += in ? puppet[i].own_ns : 0;
		sum_ns += ns_of(r, i);
	}
	for (const struct identity *i = r->identities; i; i = i->hh.next)
		assert_int_equal(i->id.tgid, puppet[0].tgid);
	record_assert_exact(r);
	assert_true(r->sum.other_ns > 100 * NS_PER_MS);
	assert_true(record_matches(r, "threads", sum_ns, own_ns - before_ns, 400, 5));
	assert_int_equal(r->members_lost, 0);
	assert_false(r->ended);
}

static void *exec_burner(void *unused)
{
	execl("/proc/self/exe", "live_target", "--burn", NULL);
	return unused;
}

static void execs_in_thread(void *go)
{
	pthread_t thread;

	await(go);
	if (!pthread_create(&thread, NULL, exec_burner, NULL))
		pause();
}

/* Its threads go, its id stays, and so does its time. */
static void process_scope_and_exec(void **state)
{
	volatile uint32_t *go = shared(sizeof(*go));
	pid_t pid = start(execs_in_thread, (void *)go);
	struct record *r = watch(&pid, 1, true);
	uint64_t before_ns = process_cpu_ns(pid) - record_process_ns(r, pid);
	struct ended e;

	(void)state;
	*go = 1;
	while (runs(pid)) {
		assert_false(r->ended);
		record_window(r, 10 * NS_PER_MS);
	}
	for (int i = 0; i < 100 && !r->ended; i++)
		record_window(r, 10 * NS_PER_MS);
	assert_true(r->ended);
	e = finish(pid, 0);
	assert_int_equal(e.status, 7 << 8);
	record_assert_exact(r);
	assert_true(record_matches(r, "an exec by a thread", record_process_ns(r, pid), e.cpu_ns - before_ns,
				   e.switches, 20));
	assert_string_equal(record_find(r, pid)->process_comm, "exe");
}

/* --- the end */

/* Within how many windows of 10 ms does the target end? */
static unsigned windows_to_the_end(struct record *r)
{
	unsigned n = 0;

	while (!r->ended && n < 200) {
		record_window(r, 10 * NS_PER_MS);
		n++;
	}
	assert_true(r->ended);
	return n;
}

static void still_on(struct record *r)
{
	for (int i = 0; i < 5; i++) {
		record_window(r, 10 * NS_PER_MS);
		assert_false(r->ended);
		assert_true(r->b->ops->alive(r->b));
	}
}

/* For long enough that a tree that is quiet is looked through. */
static void still_on_when_quiet(struct record *r)
{
	record_windows(r, 2, 10 * NS_PER_MS);
	nap(550 * NS_PER_MS);
	still_on(r);
}

static void ends_with_its_last_descendant(void **state)
{
	struct record *r;

	(void)state;
	puppet = puppets();
	puppet_root(0);
	puppet_fork(0, 1, 0);
	r = watch(&puppet[0].tgid, 1, false);
	puppet_fork(1, 2, 0);
	puppet_thread(2, 3);
	puppet_exit(0);
	still_on(r);
	puppet_exit(1);
	still_on(r);
	puppet_leave(2); /* the main thread of the last process */
	still_on_when_quiet(r);
	puppet_burn(3, NS_PER_MS);
	puppet_exit(3);
	print_message("# ended after %u windows\n", windows_to_the_end(r));
	assert_true(ns_of(r, 3) > 0);
	assert_false(r->b->ops->alive(r->b));
	record_assert_exact(r);
}

/* Nobody waits for the root before the test is over. */
static void ends_with_a_zombie(bool process_scope_too)
{
	struct record *r;

	puppet = puppets();
	puppet_root(0);
	puppet_fork(0, 1, 0);
	if (!process_scope_too)
		puppet_exit(1);
	r = watch(&puppet[0].tgid, 1, process_scope_too);
	still_on(r);
	puppet_exit(0); /* it was started by us */
	print_message("# ended after %u windows\n", windows_to_the_end(r));
	assert_int_equal(kill(puppet[0].tgid, 0), 0); /* a zombie */
	assert_false(runs(puppet[0].tgid));
	record_close(r);
}

static void zombie_has_ended(void **state)
{
	(void)state;
	ends_with_a_zombie(false);
}

static void zombie_has_ended_in_process_scope(void **state)
{
	(void)state;
	ends_with_a_zombie(true);
}

/* S22: 1 s of work in a thread that outlives the main thread. */
static void outlives_its_leader(bool scope)
{
	uint64_t before_ns, own_ns, had_ns;
	struct record *r;
	clockid_t clock;
	struct timespec t;

	puppet = puppets();
	puppet_root(0);
	assert_int_equal(clock_getcpuclockid(puppet[0].tgid, &clock), 0);
	r = watch(&puppet[0].tgid, 1, scope);
	before_ns = process_cpu_ns(puppet[0].tgid) - record_process_ns(r, puppet[0].tgid);
	puppet_thread(0, 1);
	puppet_burn(1, 100 * NS_PER_MS);
	puppet_leave(0);
	for (int i = 0; i < 9; i++) {
		had_ns = record_process_ns(r, puppet[0].tgid);
		puppet_burn(1, 100 * NS_PER_MS);
		record_window(r, 10 * NS_PER_MS);
		assert_true(record_process_ns(r, puppet[0].tgid) > had_ns + 50 * NS_PER_MS);
		assert_false(r->ended);
	}
	assert_int_equal(clock_gettime(clock, &t), 0);
	own_ns = t.tv_sec * NS_PER_S + t.tv_nsec - before_ns;
	still_on_when_quiet(r);
	assert_true(record_matches(r, "the process", record_process_ns(r, puppet[0].tgid), own_ns, 200, 2));
	print_message("# leader %.3f ms, worker %.3f ms\n", ns_of(r, 0) / 1e6, ns_of(r, 1) / 1e6);
	assert_true(ns_of(r, 0) < 10 * NS_PER_MS);
	assert_true(ns_of(r, 1) > 900 * NS_PER_MS);
	puppet_exit(1);
	print_message("# ended after %u windows\n", windows_to_the_end(r));
	assert_true(record_find(r, puppet[0].tid)->process_ended || record_find(r, puppet[1].tid)->process_ended);
	record_assert_exact(r);
	record_close(r);
}

static void thread_outlives_its_leader(void **state)
{
	(void)state;
	outlives_its_leader(false);
}

static void thread_outlives_its_leader_in_process_scope(void **state)
{
	(void)state;
	outlives_its_leader(true);
}

static void exit_soon(void *go)
{
	await(go);
	burn(NS_PER_MS + getpid() % 7 * 300000);
}

/* Whoever stops when the target has ended must have seen its last time: however close to the boundary that was. */
static void no_time_after_the_end(void **state)
{
	unsigned late = 0;

	(void)state;
	for (int round = 0; round < 3; round++) {
		volatile uint32_t *go = shared(sizeof(*go));
		pid_t pids[40];
		struct record *r;

		for (int i = 0; i < 40; i++)
			pids[i] = start(exit_soon, (void *)go);
		r = watch(pids, 40, false);
		*go = 1;
		while (!r->ended)
			record_window(r, NS_PER_MS);
		for (int i = 0; i < 40; i++) {
			struct identity *id = record_find(r, pids[i]);

			late += !id || !id->died || !id->process_ended;
		}
		record_window(r, NS_PER_MS);
		print_message("# %llu windows; rows in the one after the end: %zu\n", (unsigned long long)r->windows,
			      r->usage->n_rows);
		late += r->usage->n_rows;
		record_close(r);
	}
	assert_int_equal(late, 0);
}

/* A thread whose leader was gone before we came. */
static void leader_gone_before_the_start(void **state)
{
	struct record *r;

	(void)state;
	puppet = puppets();
	puppet_root(0);
	puppet_thread(0, 1);
	puppet_leave(0);
	r = watch(&puppet[0].tgid, 1, false);
	puppet_burn(1, 20 * NS_PER_MS);
	puppet_fork(1, 2, 0);
	puppet_burn(2, NS_PER_MS);
	still_on(r);
	assert_true(ns_of(r, 1) > 19 * NS_PER_MS && ns_of(r, 2) > 0);
	puppet_exit(2);
	still_on_when_quiet(r);
	puppet_exit(1);
	print_message("# ended after %u windows\n", windows_to_the_end(r));
	record_assert_exact(r);
}

/* It had ended before we came; beside one that lives it does not keep the target alive. */
static void zombie_at_the_start(void **state)
{
	pid_t pids[2];
	struct record *r;

	(void)state;
	puppet = puppets();
	puppet_root(0);
	puppet_root(1);
	puppet_exit(0);
	for (int i = 0; i < 2; i++)
		pids[i] = puppet[i].tgid;
	r = watch(pids, 1, false);
	print_message("# alone: ended after %u windows\n", windows_to_the_end(r));
	record_close(r);
	r = watch(pids, 2, false);
	puppet_burn(1, 10 * NS_PER_MS);
	still_on(r);
	puppet_exit(1);
	print_message("# beside another: ended after %u windows\n", windows_to_the_end(r));
	assert_true(ns_of(r, 1) > 0 && !ns_of(r, 0));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		live_test(nested_pids),
		live_test(process_scope),
		live_test(process_scope_and_exec),
		live_test(ends_with_its_last_descendant),
		live_test(zombie_has_ended),
		live_test(zombie_has_ended_in_process_scope),
		live_test(thread_outlives_its_leader),
		live_test(thread_outlives_its_leader_in_process_scope),
		live_test(leader_gone_before_the_start),
		live_test(zombie_at_the_start),
		live_test(no_time_after_the_end),
	};

	if (argc == 2 && !strcmp(argv[1], "--burn")) {
		burn(100 * NS_PER_MS);
		_exit(7); /* the leak check of a sanitized build is a child of its own, whose time is not this process's */
	}
	return live_run(tests);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads from rows of tasks: who they are, their names, their end, and how many are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/threads.h"

enum { FIRST = 1, LAST = 2, DIED = 4, DESCRIBED = 8 };

struct both {
	struct sw_processes p;
	struct sw_threads t;
};

static struct sw_task task(int tgid, int tid, const char *comm)
{
	struct sw_task t = {.start_boottime_ns = 1000 + tid, .leader_start_boottime_ns = 1000 + tgid, .tgid = tgid,
			    .tid = tid, .here = {tgid % 1000, tid % 1000, 1}};

	strcpy(t.comm, comm);
	strcpy(t.process_comm, comm);
	return t;
}

static struct sw_thread_entry *add(struct both *b, const struct sw_task *t, uint32_t key, uint64_t ns, int flags)
{
	struct sw_cpu_row row = {
		.key = key,
		.task = t,
		.first = flags & FIRST,
		.last = flags & LAST,
		.died = flags & DIED,
		.described = flags & DESCRIBED,
	};
	struct sw_process_entry *process;
	struct sw_thread_entry *e = NULL;

	assert_int_equal(sw_processes_add(&b->p, &row, ns, &process), 0);
	assert_int_equal(sw_threads_add(&b->t, &row, ns, &e), 0);
	return e;
}

static void next(struct both *b)
{
	assert_int_equal(sw_processes_next(&b->p), 0);
	sw_threads_next(&b->t);
}

static int setup(void **state)
{
	struct both *b = calloc(1, sizeof(*b));

	*state = b;
	return !b || sw_processes_init(&b->p, 64, 1) || sw_threads_init(&b->t, 64, 1);
}

static int teardown(void **state)
{
	struct both *b = *state;

	sw_processes_free(&b->p);
	sw_threads_free(&b->t);
	free(b);
	return 0;
}

static void names_and_ids(void **state)
{
	struct sw_task leader = task(5010, 5010, "app"), worker = task(5010, 5011, "pool");
	struct both *b = *state;
	struct sw_thread *rows;
	size_t n;

	strcpy(worker.process_comm, "app");
	next(b);
	add(b, &leader, 8, 5, FIRST | DESCRIBED);
	add(b, &worker, 9, 50, FIRST | DESCRIBED);
	rows = sw_threads_window(&b->t, &b->p, &n);
	assert_int_equal(n, 2);
	assert_string_equal(rows[0].comm, "pool");
	assert_string_equal(rows[0].process_comm, "app");
	assert_int_equal(rows[0].host_pid, 5010);
	assert_int_equal(rows[0].host_tid, 5011);
	assert_int_equal(rows[0].pid, 10);
	assert_int_equal(rows[0].tid, 11);
	assert_int_equal(rows[0].start_boottime_ns, 6011);
	assert_int_equal(rows[1].host_tid, 5010);
	free(rows);
	/* the process has another name by now; the thread's own is as it was described last */
	next(b);
	strcpy(leader.comm, "app2");
	add(b, &leader, 8, 5, DESCRIBED);
	strcpy(worker.comm, "x");
	add(b, &worker, 9, 1, 0);
	rows = sw_threads_totals(&b->t, &b->p, &n);
	assert_int_equal(n, 2);
	assert_string_equal(rows[0].comm, "pool");
	assert_string_equal(rows[0].process_comm, "app2");
	assert_int_equal(rows[0].oncpu_ns, 51);
	assert_int_equal(rows[0].oncpu_by_domain_ns[0], 51);
	free(rows);
}

/* Time in two cgroups under two keys is one thread's, and so is what comes under a key that was another's just now. */
static void keys(void **state)
{
	struct sw_task a = task(10, 10, "a"), c = task(12, 12, "c");
	struct both *b = *state;
	struct sw_thread *rows;
	size_t n;

	next(b);
	add(b, &a, 8, 5, FIRST);
	add(b, &a, 9, 7, FIRST);
	add(b, &c, 10, 1, FIRST | LAST | DIED);
	add(b, &a, 10, 30, FIRST);
	rows = sw_threads_window(&b->t, &b->p, &n);
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].oncpu_ns, 42);
	assert_false(rows[0].exited);
	assert_true(rows[1].exited);
	free(rows);
	assert_int_equal(b->t.n_keyless, 1);
	add(b, &c, 11, 0, FIRST);
	add(b, &a, 11, 0, FIRST); /* even without a last row */
	assert_int_equal(b->t.n_keyless, 1);
	next(b);
	add(b, &a, 8, 0, LAST);
	add(b, &a, 11, 0, LAST);
	add(b, &a, 9, 1, LAST | DIED);
	rows = sw_threads_window(&b->t, &b->p, &n);
	assert_false(rows[0].exited); /* there is a key of it yet */
	free(rows);
	add(b, &a, 10, 1, LAST | DIED);
	rows = sw_threads_window(&b->t, &b->p, &n);
	assert_true(rows[0].exited);
	assert_int_equal(rows[0].oncpu_ns, 2);
	free(rows);
}

/* A thread that calls exec takes the identity of its leader, who dies of it: that one has not ended. */
static void exec_by_a_thread(void **state)
{
	struct sw_task leader = task(10, 10, "a"), worker = task(10, 11, "a"), heir = task(10, 10, "new");
	struct both *b = *state;
	struct sw_thread *rows;
	size_t n;

	next(b);
	add(b, &leader, 8, 1, FIRST);
	add(b, &worker, 9, 9, FIRST);
	next(b);
	add(b, &worker, 9, 2, LAST);
	add(b, &leader, 8, 1, LAST | DIED);
	add(b, &heir, 10, 5, FIRST | DESCRIBED);
	rows = sw_threads_totals(&b->t, &b->p, &n);
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].host_tid, 11);
	assert_int_equal(rows[0].oncpu_ns, 11);
	assert_int_equal(rows[1].host_tid, 10);
	assert_int_equal(rows[1].oncpu_ns, 7);
	assert_string_equal(rows[1].comm, "new");
	assert_false(rows[1].exited);
	free(rows);
}

/* Beyond the bound the ended ones go, and what the back end still has keys for stays. */
static void folding(void **state)
{
	struct sw_task stays = task(10, 10, "stays");
	struct both *b = *state;
	struct sw_thread *rows;
	uint64_t sum = 0;
	size_t n;

	next(b);
	add(b, &stays, 9, 1000, FIRST);
	for (int i = 0; i < 40000; i++) {
		struct sw_task t = task(100, 100 + i, "t");

		next(b);
		sw_thread_add_energy(add(b, &t, 8, 10, FIRST | LAST | DIED), 3);
	}
	assert_true(HASH_COUNT(b->t.table) < 20000);
	assert_true(b->t.n_folded > 20000);
	assert_int_equal(b->t.n_folded + HASH_COUNT(b->t.table), 40001);
	rows = sw_threads_totals(&b->t, &b->p, &n);
	assert_int_equal(n, HASH_COUNT(b->t.table));
	assert_string_equal(rows[0].comm, "stays");
	assert_int_equal(rows[0].oncpu_ns, 1000);
	assert_true(rows[0].nj == INT64_MIN);
	for (size_t i = 1; i < n; i++)
		sum += rows[i].nj;
	assert_int_equal(sum, 3 * (n - 1));
	free(rows);
}

/* Where the ended ones are to be forgotten, few are kept. */
static void forgetting(void **state)
{
	struct both *b = *state;

	b->t.forget_ended = true;
	for (int i = 0; i < 5000; i++) {
		struct sw_task t = task(100, 100 + i, "t");

		next(b);
		add(b, &t, 8, 10, FIRST | LAST | DIED);
		assert_true(HASH_COUNT(b->t.table) <= 257);
	}
	assert_int_equal(b->t.n_folded + HASH_COUNT(b->t.table), 5000);
}

/* A known thread may end outside the target. */
static void outside(void **state)
{
	struct sw_task a = task(10, 10, "a");
	struct sw_cpu_row row = {.key = 9, .task = &a, .first = true};
	struct both *b = *state;
	struct sw_thread *rows;
	size_t n;

	next(b);
	add(b, &a, 8, 5, FIRST);
	next(b);
	add(b, &a, 8, 0, LAST);
	sw_threads_add_outside(&b->t, &row);
	rows = sw_threads_totals(&b->t, &b->p, &n);
	assert_false(rows[0].exited);
	free(rows);
	row = (struct sw_cpu_row){.key = 9, .task = &a, .last = true, .died = true};
	sw_threads_add_outside(&b->t, &row);
	rows = sw_threads_totals(&b->t, &b->p, &n);
	assert_int_equal(n, 1);
	assert_true(rows[0].exited);
	assert_int_equal(rows[0].oncpu_ns, 5);
	free(rows);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_and_ids), TEST(keys), TEST(exec_by_a_thread), TEST(folding), TEST(forgetting), TEST(outside),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: many tasks: a crowd that sleeps while a few work, and thousands that come and go.
 * Relies on: futex(2), /proc/sys/kernel/pid_max and threads-max for how many there may be.
 */
#include "record.h"
#include "ways.h"

#include "base/clock.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CROWD = 20000, PER_PROCESS = 1000, PARTS = CROWD / PER_PROCESS, ACTIVE = 5 };
enum { FORKS = 10000, LIMIT_S = 7 };

static uint64_t number_in(const char *path)
{
	unsigned long long n = 0;
	FILE *f = fopen(path, "r");

	if (f && fscanf(f, "%llu", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

static unsigned threads_alive(void)
{
	unsigned n = 0;
	FILE *f = fopen("/proc/loadavg", "r");

	if (f && fscanf(f, "%*f %*f %*f %*d/%u", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

/* --- a crowd */

static struct {
	uint32_t never;
	volatile uint32_t made[PARTS], done[PARTS];
	volatile uint32_t go;
	pid_t active[ACTIVE];
	unsigned per_process;
} *crowd;

static void *sleeps(void *unused)
{
	for (;;)
		syscall(SYS_futex, &crowd->never, FUTEX_WAIT, 0, NULL, NULL, 0);
	return unused;
}

static void *works(void *n)
{
	crowd->active[(intptr_t)n] = gettid();
	for (;;) {
		burn(NS_PER_MS / 2);
		nap(4 * NS_PER_MS);
	}
	return NULL;
}

static void make_part(void *part)
{
	intptr_t k = (intptr_t)part;
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	pthread_attr_setguardsize(&attr, 0);
	for (unsigned i = 1; i < crowd->per_process; i++) {
		bool active = k == 0 && i <= ACTIVE;

		if (pthread_create(&thread, &attr, active ? works : sleeps, (void *)(intptr_t)(i - 1)))
			break;
		crowd->made[k]++;
	}
	crowd->done[k] = 1;
	sleeps(NULL);
}

static bool is_active(pid_t tid)
{
	for (int i = 0; i < ACTIVE; i++)
		if (crowd->active[i] == tid)
			return true;
	return false;
}

/* None is lost to slots, but for what strangers fill. */
static void check_lost_slots(const struct record *r)
{
	if (ways_full())
		print_message("# tasks that are not ours filled all places of an id %u times\n", ways_full());
	else
		assert_int_equal(r->sum.lost_slots_ns, 0);
}

static const pid_t *parts;

static bool of_crowd(const struct sw_task *t)
{
	for (int i = 0; i < PARTS; i++)
		if (t->tgid == parts[i])
			return true;
	return false;
}

/* In each of some windows, the rows of the crowd are those of the few that work. */
static void watch_crowd(const pid_t *pids, bool tree)
{
	struct sw_cpu_config config = {.pids = pids, .n_pids = tree ? PARTS : 0};
	struct record *r = record_open(&config);
	unsigned sleeping = 0, working = 0;

	parts = pids;
	record_begin(r);
	for (int i = 0; i < 5; i++) {
		record_window(r, 200 * NS_PER_MS);
		ways_look(r, !i, of_crowd);
		for (size_t k = 0; k < r->usage->n_rows; k++) {
			const struct sw_task *t = r->usage->rows[k].task;

			working += of_crowd(t) && is_active(t->tid);
			sleeping += of_crowd(t) && !is_active(t->tid);
		}
	}
	print_message("# %s, %u slots: in 5 windows %u rows of the %d that work, %u of sleepers; %llu not marked, lost "
		      "to slots %.3f ms, missed %.3f\n", tree ? "trees" : "host", r->b->max_keys, working, ACTIVE,
		      sleeping,
		      (unsigned long long)r->members_lost, r->sum.lost_slots_ns / 1e6, r->sum.lost_missed_ns / 1e6);
	assert_int_equal(working, 5 * ACTIVE);
	assert_int_equal(sleeping, 0);
	assert_int_equal(r->members_lost, 0);
	check_lost_slots(r);
	record_assert_exact(r);
	record_close(r);
}

static void few_of_many_work(void **state)
{
	uint64_t room = number_in("/proc/sys/kernel/pid_max"), threads_max = number_in("/proc/sys/kernel/threads-max");
	unsigned all = 0, before = threads_alive();
	pid_t pids[PARTS];

	(void)state;
	room = room < threads_max ? room : threads_max;
	room = room > before + 4000 ? room - before - 4000 : 0; /* and others live here, too */
	if (room < 1000)
		skip_because("there is room for %u threads only", (unsigned)room);
	crowd = shared(sizeof(*crowd));
	crowd->per_process = room < CROWD ? room / PARTS : PER_PROCESS;
	for (int i = 0; i < PARTS; i++)
		pids[i] = start(make_part, (void *)(intptr_t)i);
	for (int i = 0; i < PARTS; i++) {
		await(&crowd->done[i]);
		all += 1 + crowd->made[i];
	}
	nap(100 * NS_PER_MS); /* the last of them fall asleep */
	print_message("# %u threads in %d processes; %u alive before, %u now\n", all, PARTS, before, threads_alive());
	assert_true(all > PARTS * crowd->per_process / 2);
	watch_crowd(pids, false);
	watch_crowd(pids, true);
	for (int i = 0; i < PARTS; i++)
		kill(pids[i], SIGKILL);
	for (int i = 0; i < PARTS; i++)
		finish(pids[i], 0);
}

/* --- a storm */

static struct {
	volatile uint32_t go, stop, done;
	volatile uint32_t n;
	pid_t pid[FORKS];
} *storm;

static void breed(void *unused)
{
	(void)unused;
	await(&storm->go);
	while (storm->n < FORKS && !storm->stop) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0)
			_exit(1);
		storm->pid[storm->n++] = pid;
		if (storm->n % 16 == 0)
			while (waitpid(-1, NULL, 0) > 0)
				;
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	storm->done = 1;
	for (;;)
		pause();
}

/* By process id: the identities with that id that `parent` made. Ids may come back, but not within so few. */
static const struct identity **by_pid(const struct record *r, pid_t parent, size_t *ret_n)
{
	const struct identity **list;

	*ret_n = number_in("/proc/sys/kernel/pid_max") + 1;
	list = calloc(*ret_n, sizeof(*list));
	assert_non_null(list);
	for (const struct identity *i = r->identities; i; i = i->hh.next)
		if (i->ppid == parent && i->oncpu_ns && (size_t)i->id.tgid < *ret_n)
			list[i->id.tgid] = i;
	return list;
}

static pid_t breeder;

static bool of_storm(const struct sw_task *t)
{
	return t->ppid == breeder || t->tgid == breeder;
}

static void ride_out(bool tree)
{
	unsigned missing = 0, unended = 0, n;
	const struct identity **list;
	uint64_t begin_ns, end_ns;
	struct record *r;
	size_t n_list;
	pid_t parent;

	storm = shared(sizeof(*storm));
	parent = breeder = start(breed, NULL);
	r = record_open(&(struct sw_cpu_config){.pids = &parent, .n_pids = tree});
	record_begin(r);
	begin_ns = sw_now_ns();
	storm->go = 1;
	while (!storm->done) {
		record_window(r, NS_PER_S);
		ways_look(r, r->windows == 1, of_storm);
		storm->stop = sw_now_ns() - begin_ns > LIMIT_S * NS_PER_S;
	}
	end_ns = sw_now_ns();
	record_windows(r, 2, 20 * NS_PER_MS);
	n = storm->n;
	list = by_pid(r, parent, &n_list);
	for (unsigned i = 0; i < n; i++) {
		const struct identity *id = (size_t)storm->pid[i] < n_list ? list[storm->pid[i]] : NULL;

		missing += !id && !ways_were_full(r, storm->pid[i]);
		unended += id && !(id->died && id->process_ended && id->task.exit_known);
	}
	free(list);
	print_message("# %s: %u processes in %.1f s, %llu windows; %u missing, the end of %u unseen; lost to slots "
		      "%.3f ms, missed %.3f ms, otherwise %.3f ms; %lld runs refused, %llu not marked\n",
		      tree ? "tree" : "host", n, (end_ns - begin_ns) / 1e9, (unsigned long long)r->windows, missing,
		      unended,
		      r->sum.lost_slots_ns / 1e6, r->sum.lost_missed_ns / 1e6, r->sum.lost_other_ns / 1e6,
		      (long long)r->usage->recursion_misses, (unsigned long long)r->members_lost);
	assert_true(n > 100); /* on a machine that is busy otherwise */
	assert_int_equal(missing, 0);
	check_lost_slots(r);
	assert_int_equal(r->members_lost, 0);
	assert_true(unended <= n / 100);
	record_assert_exact(r);
	finish(parent, SIGKILL);
	record_close(r);
}

static void storm_on_a_host(void **state)
{
	(void)state;
	ride_out(false);
}

static void storm_in_a_tree(void **state)
{
	(void)state;
	ride_out(true);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		live_test(few_of_many_work),
		live_test(storm_on_a_host),
		live_test(storm_in_a_tree),
	};

	(void)argc;
	return live_run(tests);
}

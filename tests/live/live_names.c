/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what describes a task: names of threads, parents that have gone, what is the kernel's own.
 * Relies on: prctl(2) (PR_SET_NAME), proc(5) (flags in stat).
 */
#include "record.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */

/* --- names of threads, at birth and at death */

struct threads {
	volatile uint32_t go, named, end, gone;
	pid_t short_lived, long_lived, renamed;
};

static struct threads *threads;

static void *short_lived(void *unused)
{
	threads->short_lived = gettid();
	prctl(PR_SET_NAME, "short");
	burn(100000);
	return unused;
}

static void *long_lived(void *unused)
{
	threads->long_lived = gettid();
	prctl(PR_SET_NAME, "at birth");
	burn(NS_PER_MS);
	threads->named = 1;
	await(&threads->end);
	prctl(PR_SET_NAME, "at death");
	burn(NS_PER_MS);
	return unused;
}

static void name_threads(void *unused)
{
	pthread_t a, b;

	(void)unused;
	prctl(PR_SET_NAME, "main thread");
	await(&threads->go);
	if (pthread_create(&a, NULL, short_lived, NULL) || pthread_create(&b, NULL, long_lived, NULL))
		_exit(1);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	threads->gone = 1;
	pause();
}

static void names_of_threads(bool tree)
{
	struct record *r;
	struct identity *id;
	pid_t pid;

	threads = shared(sizeof(*threads));
	pid = start(name_threads, NULL);
	r = record_begun(tree);
	threads->go = 1;
	await(&threads->named);
	nap(5 * NS_PER_MS);
	record_window(r, NS_PER_MS);
	id = record_find(r, threads->short_lived);
	assert_non_null(id);
	assert_string_equal(id->comm, "short");
	assert_string_equal(id->process_comm, "main thread");
	assert_int_equal(id->id.tgid, pid);
	assert_true(id->died && !id->process_ended);
	id = record_find(r, threads->long_lived);
	assert_non_null(id);
	assert_int_equal(id->windows, 1);
	assert_string_equal(id->comm, "at birth");
	threads->end = 1;
	await(&threads->gone);
	nap(5 * NS_PER_MS);
	record_window(r, NS_PER_MS);
	assert_string_equal(id->comm, "at death");
	assert_string_equal(id->process_comm, "main thread");
	assert_true(id->died && !id->process_ended);
	assert_true(runs(pid));
	assert_int_equal(record_find(r, pid)->died, false);
	record_assert_exact(r);
	finish(pid, SIGKILL);
	record_close(r);
}

static void threads_name_themselves(void **state)
{
	(void)state;
	names_of_threads(false);
	names_of_threads(true);
}

/* --- the parent as it was at the fork */

struct twice {
	volatile uint32_t go, born, burn, burnt;
	pid_t middle, child, parent_then;
};

static struct twice *twice;

static void fork_twice(void *unused)
{
	pid_t pid;

	(void)unused;
	await(&twice->go);
	pid = fork();
	if (!pid) {
		pid_t middle = getpid();

		if (fork())
			_exit(0);
		alarm(60);
		twice->child = getpid();
		while (getppid() == middle)
			nap(100000);
		twice->parent_then = getppid();
		twice->born = 1;
		await(&twice->burn);
		burn(NS_PER_MS);
		twice->burnt = 1;
		pause();
	}
	twice->middle = pid;
	waitpid(pid, NULL, 0);
	pause();
}

static void parent_at_fork(bool tree)
{
	struct identity *id;
	struct record *r;
	pid_t pid;

	twice = shared(sizeof(*twice));
	pid = start(fork_twice, NULL);
	r = record_begun(tree);
	twice->go = 1;
	await(&twice->born);
	record_window(r, NS_PER_MS);
	twice->burn = 1;
	await(&twice->burnt);
	record_window(r, NS_PER_MS);
	id = record_find(r, twice->child);
	assert_non_null(id);
	print_message("# told to be of %d, which was made by %d; the kernel's parent is %d\n", id->ppid, twice->middle,
		      twice->parent_then);
	assert_int_not_equal(twice->parent_then, twice->middle);
	assert_int_equal(id->ppid, twice->middle);
	assert_int_equal(id->task.here.ppid, twice->middle);
	id = record_find(r, twice->middle);
	assert_non_null(id);
	assert_int_equal(id->ppid, pid);
	assert_true(id->died);
	finish(pid, SIGKILL);
	record_close(r);
}

static void parent_that_exits_at_once(void **state)
{
	(void)state;
	parent_at_fork(false);
	parent_at_fork(true);
}

/* --- threads of the kernel */

/* Its flags (PF_*) as /proc says; -1: it is gone. */
static long flags_of(pid_t pid)
{
	char path[64], line[512], *end;
	long flags = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof(line), f) && (end = strrchr(line, ')')))
		sscanf(end + 3, " %*d %*d %*d %*d %*d %ld", &flags);
	if (f)
		fclose(f);
	return flags;
}

/* Short processes make work for the kernel's own threads. */
static void kernel_threads(void **state)
{
	unsigned kernels = 0, users = 0, wrong = 0;
	struct record *r = record_begun(false);
	pid_t storm = start(fork_storm, NULL);
	uint64_t kernel_ns = 0;

	(void)state;
	for (int i = 0; i < 100 && !kernels; i++) {
		record_windows(r, 2, 100 * NS_PER_MS);
		for (const struct identity *id = r->identities; id; id = id->hh.next)
			kernels += id->oncpu_ns && id->task.kernel_thread;
	}
	kernels = 0;
	for (const struct identity *i = r->identities; i; i = i->hh.next) {
		long flags = i->died ? -1 : flags_of(i->id.tgid);
		bool kernel = flags & PF_KTHREAD;

		kernels += i->task.kernel_thread;
		users += !i->task.kernel_thread;
		kernel_ns += i->task.kernel_thread ? i->oncpu_ns : 0;
		if (i->task.kernel_thread && i->ppid != 2 && i->id.tgid != 2 && i->ppid) {
			wrong++;
			print_message("# %s is the kernel's, but its parent is %d\n", i->comm, i->ppid);
		}
		if (flags >= 0 && kernel != i->task.kernel_thread) {
			wrong++;
			print_message("# %s, process %d: flags %lx, told %d\n", i->comm, i->id.tgid,
				      (unsigned long)flags, i->task.kernel_thread);
		}
	}
	print_message("# %u threads of the kernel had %.3f ms; %u others; %u wrong\n", kernels, kernel_ns / 1e6, users,
		      wrong);
	assert_int_equal(wrong, 0);
	assert_true(kernels > 0 && kernel_ns > 0);
	assert_true(users > 10);
	assert_false(record_find(r, storm)->task.kernel_thread);
	record_assert_exact(r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		live_test(threads_name_themselves),
		live_test(parent_that_exits_at_once),
		live_test(kernel_threads),
	};

	(void)argc;
	return live_run(tests);
}

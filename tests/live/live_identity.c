/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: who a task is told to be: ids that come back within a window, and processes that exec.
 * Relies on: clone3(2) (set_tid), execve(2), prctl(2) (PR_SET_NAME), memfd_create(2).
 */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIVES = 5, EXECS = 10 };

/* --- one id, several lives in one window */

static long fork_with_id(pid_t pid)
{
	struct clone_args args = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&pid, .set_tid_size = 1};

	return syscall(SYS_clone3, &args, sizeof(args));
}

/* Live one life after the other under that id. False: somebody else has it by now. */
static bool relive(pid_t pid, uint64_t *own_ns)
{
	char name[16];

	for (int i = 0; i < LIVES; i++) {
		long child = fork_with_id(pid);

		if (!child) {
			alarm(20);
			snprintf(name, sizeof(name), "life-%d", i);
			prctl(PR_SET_NAME, name);
			burn((i + 1) * 3 * NS_PER_MS);
			_exit(i);
		}
		if (child < 0)
			return false;
		own_ns[i] = finish(child, 0).cpu_ns;
	}
	return true;
}

static pid_t an_unused_id(void)
{
	static pid_t from = 29000;

	while (!kill(--from, 0) || errno != ESRCH)
		;
	return from;
}

static int by_start(const void *a, const void *b)
{
	const struct identity *x = *(const struct identity *const *)a, *y = *(const struct identity *const *)b;

	return (x->id.start_boottime_ns > y->id.start_boottime_ns) -
	       (x->id.start_boottime_ns < y->id.start_boottime_ns);
}

static void id_comes_back(bool tree)
{
	struct identity *found[LIVES + 1];
	uint64_t own_ns[LIVES];
	struct record *r = record_begun(tree);
	unsigned n = 0;
	pid_t pid;

	do
		pid = an_unused_id();
	while (!relive(pid, own_ns));
	record_window(r, NS_PER_MS);
	record_window(r, NS_PER_MS);
	for (struct identity *i = r->identities; i; i = i->hh.next)
		if (i->id.tid == pid && n <= LIVES)
			found[n++] = i;
	assert_int_equal(n, LIVES);
	qsort(found, n, sizeof(found[0]), by_start);
	for (int i = 0; i < LIVES; i++) {
		struct identity *id = found[i];
		char name[16];

		snprintf(name, sizeof(name), "life-%d", i);
		/* lives differ by 3 ms: what an interrupt takes at most is no other's time yet */
		assert_true(record_matches(r, name, id->oncpu_ns, own_ns[i], 100, 10));
		assert_string_equal(id->comm, name);
		assert_true(id->died && id->process_ended && id->task.exit_known);
		assert_int_equal(id->exit_code, i << 8);
		assert_int_equal(id->windows, 1);
	}
	record_assert_exact(r);
	assert_int_equal(r->members_lost, 0);
	record_close(r);
}

static void id_comes_back_in_a_window(void **state)
{
	(void)state;
	id_comes_back(false);
}

static void id_comes_back_in_a_window_of_a_tree(void **state)
{
	(void)state;
	id_comes_back(true);
}

/* --- ten execs, each under a name of its own */

static char directory[] = "/tmp/schedwatt-XXXXXX";
static char self[512];

struct chain {
	volatile uint32_t may; /* stages that may go on */
	volatile uint32_t at;  /* that have burnt */
};

static void exec_stage(int fd, int stage)
{
	char path[64], a[16], b[16];

	snprintf(path, sizeof(path), "%s/stage-%d", directory, stage);
	snprintf(a, sizeof(a), "%d", fd);
	snprintf(b, sizeof(b), "%d", stage);
	execl(path, path, "--chain", a, b, directory, NULL);
	_exit(9);
}

static int run_stage(int fd, int stage)
{
	struct chain *c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	burn(2 * NS_PER_MS);
	c->at = stage;
	while ((int)c->may <= stage)
		nap(NS_PER_MS / 2);
	if (stage == EXECS)
		return 3;
	exec_stage(fd, stage + 1);
	return 9;
}

static void begin_chain(void *fd)
{
	struct chain *c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED, (intptr_t)fd, 0);

	while (!c->may) /* it sleeps, so that what it had before is known to the nanosecond */
		syscall(SYS_futex, &c->may, FUTEX_WAIT, 0, NULL, NULL, 0);
	exec_stage((intptr_t)fd, 1);
}

static void go_on(struct chain *c, uint32_t may)
{
	c->may = may;
	syscall(SYS_futex, &c->may, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static struct chain *plant_chain(int *fd)
{
	char path[64];
	struct chain *c;

	assert_non_null(mkdtemp(directory));
	for (int i = 1; i <= EXECS; i++) {
		snprintf(path, sizeof(path), "%s/stage-%d", directory, i);
		assert_int_equal(symlink(self, path), 0);
	}
	*fd = memfd_create("chain", 0);
	assert_int_equal(ftruncate(*fd, sizeof(*c)), 0);
	c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	assert_true(c != MAP_FAILED);
	return c;
}

static void uproot_chain(void)
{
	char path[64];

	for (int i = 1; i <= EXECS; i++) {
		snprintf(path, sizeof(path), "%s/stage-%d", directory, i);
		unlink(path);
	}
	rmdir(directory);
	strcpy(strrchr(directory, '-'), "-XXXXXX");
}

static int teardown(void **state)
{
	uproot_chain();
	return live_teardown(state);
}

static void check_chain(struct record *r, pid_t pid, uint64_t before_ns, unsigned windows)
{
	struct ended e = finish(pid, 0);
	struct identity *id;
	unsigned n = 0;

	record_window(r, NS_PER_MS);
	for (struct identity *i = r->identities; i; i = i->hh.next)
		n += i->id.tgid == pid;
	id = record_find(r, pid);
	assert_non_null(id);
	print_message("# %u identities, %u execs, comm %s, told anew %u times in %u windows\n", n,
		      id->task.execs, id->comm, id->described, id->windows);
	assert_int_equal(e.status, 3 << 8);
	assert_int_equal(n, 1);
	assert_int_equal(id->task.execs, EXECS);
	assert_string_equal(id->comm, "stage-10");
	assert_string_equal(id->process_comm, "stage-10");
	assert_true(id->windows >= windows && id->described >= windows);
	/* where the kernel does not preempt itself, its clock stands still for long in an exec: see record_matches() */
	assert_true(record_matches(r, "ten execs", id->oncpu_ns, e.cpu_ns - before_ns, e.switches, 100));
	record_assert_exact(r);
}

static void ten_execs_in_a_window(void **state)
{
	struct record *r;
	struct chain *c;
	pid_t pid;
	int fd;

	(void)state;
	c = plant_chain(&fd);
	r = record_begun(false);
	pid = start(begin_chain, (void *)(intptr_t)fd);
	go_on(c, EXECS + 1);
	while (runs(pid))
		nap(NS_PER_MS);
	record_window(r, NS_PER_MS);
	check_chain(r, pid, 0, 1);
	munmap(c, sizeof(*c));
	close(fd);
}

/* In each window it goes by the name that it bore last, and the row says that this is news. */
static void an_exec_in_each_window(void **state)
{
	char name[16];
	struct record *r;
	struct chain *c;
	uint64_t before_ns;
	pid_t pid;
	int fd;

	(void)state;
	c = plant_chain(&fd);
	pid = start(begin_chain, (void *)(intptr_t)fd);
	r = record_begun(true);
	before_ns = process_cpu_ns(pid) - record_process_ns(r, pid);
	for (int i = 1; i <= EXECS; i++) {
		struct identity *id;
		unsigned described;

		id = record_find(r, pid);
		described = id ? id->described : 0;
		go_on(c, i);
		for (int k = 0; k < 20000 && (int)c->at < i; k++)
			nap(NS_PER_MS);
		record_window(r, NS_PER_MS);
		id = record_find(r, pid);
		assert_non_null(id);
		snprintf(name, sizeof(name), "stage-%d", i);
		assert_string_equal(id->comm, name);
		assert_int_equal(id->described, described + 1);
		assert_int_equal(id->task.execs, i);
	}
	c->may = EXECS + 1;
	check_chain(r, pid, before_ns, EXECS);
	munmap(c, sizeof(*c));
	close(fd);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		live_test(id_comes_back_in_a_window),
		live_test(id_comes_back_in_a_window_of_a_tree),
		cmocka_unit_test_setup_teardown(ten_execs_in_a_window, live_setup, teardown),
		cmocka_unit_test_setup_teardown(an_exec_in_each_window, live_setup, teardown),
	};

	if (argc == 5 && !strcmp(argv[1], "--chain")) {
		snprintf(directory, sizeof(directory), "%s", argv[4]);
		return run_stage(atoi(argv[2]), atoi(argv[3]));
	}
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	return live_run(tests);
}

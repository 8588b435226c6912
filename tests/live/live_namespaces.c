/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: recording from inside of pid and time namespaces. A test starts this program again inside of them, where it
 * records and asserts (a failed assertion is its exit status), and looks at the status only.
 * Relies on: pid_namespaces(7), time_namespaces(7), /proc/thread-self, which tells the number in its mount's namespace.
 */
#include "record.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define AHEAD_S 100000

/* --- outside */

struct inside {
	const char *name;
	int flags;
	pid_t stranger; /* a process that is outside */
};

static void offset_clocks(void)
{
	FILE *f = fopen("/proc/self/timens_offsets", "w");

	if (!f || fprintf(f, "monotonic %d 0\nboottime %d 0\n", AHEAD_S, AHEAD_S) < 0 || fclose(f))
		_exit(77);
}

/* The first process of the namespaces. The /proc of outside stays open. */
static void enter(void *arg)
{
	const struct inside *in = arg;
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY), status;
	char fd[16], stranger[16];
	pid_t pid;

	if (unshare(in->flags))
		_exit(77);
	if (in->flags & CLONE_NEWTIME)
		offset_clocks();
	pid = fork();
	if (pid)
		_exit(waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(60);
	if (in->flags & CLONE_NEWPID && (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
					 mount("proc", "/proc", "proc", 0, NULL)))
		_exit(77);
	snprintf(fd, sizeof(fd), "%d", proc_fd);
	snprintf(stranger, sizeof(stranger), "%d", in->stranger);
	execl("/proc/self/exe", "live_namespaces", "--inside", in->name, fd, stranger, NULL);
	_exit(1);
}

static void works_now_and_then(void *unused)
{
	(void)unused;
	for (;;) {
		burn(NS_PER_MS);
		nap(2 * NS_PER_MS);
	}
}

static void record_inside_of(const char *name, int flags)
{
	struct inside *in = shared(sizeof(*in));
	int status;

	*in = (struct inside){name, flags, start(works_now_and_then, NULL)};
	fflush(stdout);
	status = finish(start(enter, in), 0).status;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip_because("such namespaces cannot be made here");
	assert_int_equal(status, 0);
}

static void pid_namespace(void **state)
{
	(void)state;
	record_inside_of("host", CLONE_NEWPID | CLONE_NEWNS);
}

static void pid_namespace_of_a_tree(void **state)
{
	(void)state;
	record_inside_of("tree", CLONE_NEWPID | CLONE_NEWNS);
}

static void time_namespace(void **state)
{
	(void)state;
	record_inside_of("time", CLONE_NEWTIME);
}

static void time_and_pid_namespace(void **state)
{
	(void)state;
	record_inside_of("time", CLONE_NEWTIME | CLONE_NEWPID | CLONE_NEWNS);
}

/* --- inside */

static int host_proc_fd, own_proc_fd;

/* A thread's numbers, as it found them itself in both /proc. */
struct numbers {
	struct {
		int tgid, tid;
	} host, here;
	pid_t own; /* getpid() */
	volatile uint32_t ready;
};

static struct {
	volatile uint32_t go;
	struct numbers before, thread, nested, middle, after, self;
	volatile uint32_t burnt[5];
} *said;

static void find_numbers(struct numbers *n)
{
	char link[64] = "";

	if (readlinkat(host_proc_fd, "thread-self", link, sizeof(link) - 1) < 0 ||
	    sscanf(link, "%d/task/%d", &n->host.tgid, &n->host.tid) != 2)
		_exit(1);
	memset(link, 0, sizeof(link));
	if (readlinkat(own_proc_fd, "thread-self", link, sizeof(link) - 1) < 0 ||
	    sscanf(link, "%d/task/%d", &n->here.tgid, &n->here.tid) != 2)
		_exit(1);
	n->own = getpid();
	n->ready = 1;
}

static void work(struct numbers *n, int which)
{
	find_numbers(n);
	await(&said->go);
	burn(NS_PER_MS);
	said->burnt[which] = 1;
}

static void *second_thread(void *unused)
{
	work(&said->thread, 1);
	for (;;)
		pause();
	return unused;
}

static void two_threads(void *unused)
{
	pthread_t thread;

	(void)unused;
	if (pthread_create(&thread, NULL, second_thread, NULL))
		_exit(1);
	work(&said->before, 0);
	for (;;)
		pause();
}

static void one_more_namespace(void *unused)
{
	(void)unused;
	find_numbers(&said->middle);
	if (unshare(CLONE_NEWPID))
		_exit(1);
	if (!fork()) {
		work(&said->nested, 2);
		for (;;)
			pause();
	}
	for (;;)
		pause();
}

static void dies_soon(void *unused)
{
	(void)unused;
	work(&said->after, 3);
}

static void check(const struct record *r, const char *what, const struct numbers *n, const struct numbers *parent)
{
	const struct identity *id = record_find(r, n->host.tid);

	assert_non_null(id);
	print_message("# %s: process %d, thread %d, of %d; here %d, %d, of %d; it calls itself %d\n", what,
		      id->task.tgid, id->task.tid, id->task.ppid, id->task.here.tgid, id->task.here.tid,
		      id->task.here.ppid, n->own);
	assert_int_equal(id->task.tgid, n->host.tgid);
	assert_int_equal(id->task.here.tgid, n->here.tgid);
	assert_int_equal(id->task.here.tid, n->here.tid);
	assert_int_not_equal(id->task.here.tid, n->host.tid);
	assert_int_equal(id->task.here.ppid, parent ? parent->here.tgid : 0);
	if (parent)
		assert_int_equal(id->task.ppid, parent->host.tgid);
}

static int record_pids(bool tree, pid_t stranger)
{
	pid_t init = 1;
	struct sw_cpu_config config = {.pids = &init, .n_pids = tree};
	const struct identity *id;
	struct record *r;

	said = shared(sizeof(*said));
	find_numbers(&said->self);
	assert_int_equal(getpid(), 1);
	start(two_threads, NULL);
	start(one_more_namespace, NULL);
	await(&said->before.ready);
	await(&said->thread.ready);
	await(&said->nested.ready);
	r = record_open(&config);
	record_begin(r);
	start(dies_soon, NULL);
	said->go = 1;
	for (int i = 0; i < 4; i++)
		await(&said->burnt[i]);
	waitpid(said->after.own, NULL, 0);
	record_windows(r, 2, 20 * NS_PER_MS);
	check(r, "init", &said->self, NULL);
	check(r, "a child", &said->before, &said->self);
	check(r, "its thread", &said->thread, &said->self);
	check(r, "one more namespace", &said->nested, &said->middle);
	check(r, "one that is dead", &said->after, &said->self);
	assert_int_equal(said->nested.own, 1);
	assert_int_not_equal(said->nested.here.tgid, 1);
	id = record_find(r, said->after.host.tid);
	assert_true(id->died && id->process_ended);
	id = record_find(r, stranger);
	assert_true(tree == !id);
	if (id) {
		assert_int_equal(id->task.here.tgid, 0);
		assert_int_equal(id->task.here.tid, 0);
		assert_int_equal(id->task.here.ppid, 0);
	}
	for (const struct identity *i = r->identities; i && tree; i = i->hh.next)
		assert_true(i->task.here.tgid > 0);
	assert_int_equal(r->members_lost, 0);
	record_assert_exact(r);
	record_close(r);
	return 0;
}

/* --- clocks */

struct born {
	volatile uint32_t ready, go, burnt;
	unsigned long long start_ticks;
};

static void reads_its_start(void *arg)
{
	char text[1024];
	struct born *b = arg;
	FILE *f = fopen("/proc/self/stat", "r");

	if (!f || !fgets(text, sizeof(text), f) ||
	    sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
					   "%*d %llu", &b->start_ticks) != 1)
		_exit(1);
	fclose(f);
	b->ready = 1;
	await(&b->go);
	burn(NS_PER_MS);
	b->burnt = 1;
	for (;;)
		pause();
}

static void check_start(const struct record *r, const struct born *b, pid_t pid)
{
	uint64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK), start_ns = 0;

	for (const struct identity *i = r->identities; i; i = i->hh.next)
		if (i->task.here.tgid == pid && i->oncpu_ns)
			start_ns = i->id.start_boottime_ns;
	print_message("# started %.3f s after boot, /proc says %.2f\n", start_ns / 1e9, b->start_ticks * tick_ns / 1e9);
	assert_true(start_ns > AHEAD_S * NS_PER_S);
	assert_true(start_ns / tick_ns + 1 >= b->start_ticks && start_ns / tick_ns <= b->start_ticks + 1);
}

static int record_time(void)
{
	struct born *before = shared(sizeof(*before)), *after = shared(sizeof(*after));
	pid_t pids[2] = {start(reads_its_start, before), 0}, self = getpid();
	struct sw_cpu_config config = {.pids = &self, .n_pids = 1};
	uint64_t wake_ns, begin_ns, end_ns;
	struct record *r;

	await(&before->ready);
	r = record_open(&config);
	record_begin(r);
	begin_ns = sw_now_ns();
	wake_ns = r->wake_ns;
	pids[1] = start(reads_its_start, after);
	before->go = after->go = 1;
	await(&before->burnt);
	await(&after->burnt);
	for (int i = 0; i < 10; i++) {
		uint64_t t_ns = r->t_ns, last_ns = r->wake_ns, late_ns = sw_now_ns() - r->wake_ns;

		record_window(r, 50 * NS_PER_MS);
		assert_true(r->t_ns - t_ns == r->wake_ns - last_ns);
		assert_true(r->t_ns - t_ns >= 50 * NS_PER_MS);
		assert_true(r->t_ns - t_ns < NS_PER_S + late_ns); /* a busy machine may be late, but not by hours */
	}
	end_ns = sw_now_ns();
	print_message("# 10 windows in %.3f ms of the back end's clock, %.3f ms of ours, which is %.3f s ahead\n",
		      (r->t_ns - r->t0_ns) / 1e6, (end_ns - begin_ns) / 1e6, (double)(r->wake_ns - r->t_ns) / 1e9);
	assert_true(r->wake_ns - r->t_ns == AHEAD_S * NS_PER_S);
	assert_true(r->t_ns - r->t0_ns == r->wake_ns - wake_ns);
	assert_true(r->wake_ns <= end_ns);
	check_start(r, before, pids[0]);
	check_start(r, after, pids[1]);
	record_assert_exact(r);
	record_close(r);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		live_test(pid_namespace),
		live_test(pid_namespace_of_a_tree),
		live_test(time_namespace),
		live_test(time_and_pid_namespace),
	};

	if (argc == 5 && !strcmp(argv[1], "--inside")) {
		setvbuf(stdout, NULL, _IOLBF, 0);
		host_proc_fd = atoi(argv[3]);
		own_proc_fd = open("/proc", O_RDONLY | O_DIRECTORY);
		if (!strcmp(argv[2], "time"))
			return record_time();
		return record_pids(!strcmp(argv[2], "tree"), atoi(argv[4]));
	}
	return live_run(tests);
}

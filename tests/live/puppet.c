/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: puppets: their orders and their answers. Must not know: what a test makes of them.
 * Relies on: futex(2) between processes, clone3(2) (set_tid), proc(5): state Z comes after children were given away.
 */
#include "puppet.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIFE_S 100

enum what { BURN, FORK, THREAD, STORM, SUBREAPER, EXIT, LEAVE };

static struct puppet *all;

static void wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void sleep_while(uint32_t *word, uint32_t value, const struct timespec *limit)
{
	syscall(SYS_futex, word, FUTEX_WAIT, value, limit, NULL, 0);
}

/* The test's side: until *word is `value`. */
static void await_value(uint32_t *word, uint32_t value)
{
	struct timespec limit = {.tv_sec = 1};
	uint32_t now;

	for (int i = 0; i < 20 && (now = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != value; i++)
		sleep_while(word, now, &limit);
	assert_int_equal(__atomic_load_n(word, __ATOMIC_ACQUIRE), value);
}

static void live(struct puppet *p);

static void *live_thread(void *p)
{
	live(p);
	return NULL;
}

static void make_thread(struct puppet *child)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 64 << 10);
	pthread_create(&thread, &attr, live_thread, child);
	pthread_attr_destroy(&attr);
}

static void make_process(struct puppet *child, pid_t set_tid)
{
	uint64_t tid = set_tid;
	pid_t tids[] = {tid};
	struct clone_args args = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)tids, .set_tid_size = 1};

	long pid = set_tid ? syscall(SYS_clone3, &args, sizeof(args)) : -1;

	if (pid < 0)
		pid = fork(); /* somebody else has that id by now */
	if (pid)
		return;
	alarm(LIFE_S);
	live(child);
}

static void make_storm(struct puppet *child)
{
	if (fork())
		return;
	alarm(LIFE_S);
	child->tgid = child->tid = getpid();
	__atomic_store_n(&child->ready, 1, __ATOMIC_RELEASE);
	wake(&child->ready);
	fork_storm(NULL);
}

static void obey(struct puppet *p)
{
	switch ((enum what)p->what) {
	case BURN:
		burn(p->ns);
		p->own_ns = thread_cpu_ns();
		break;
	case FORK:
		make_process(&all[p->other], p->set_tid);
		break;
	case THREAD:
		make_thread(&all[p->other]);
		break;
	case STORM:
		make_storm(&all[p->other]);
		break;
	case SUBREAPER:
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		break;
	case EXIT:
		_exit(0);
	case LEAVE:
		syscall(SYS_exit, 0);
	}
}

static void live(struct puppet *p)
{
	p->tgid = syscall(SYS_getpid);
	p->tid = syscall(SYS_gettid);
	p->maker = getppid();
	__atomic_store_n(&p->ready, 1, __ATOMIC_RELEASE);
	wake(&p->ready);
	for (;;) {
		uint32_t order;

		while ((order = __atomic_load_n(&p->order, __ATOMIC_ACQUIRE)) == p->done)
			sleep_while(&p->order, order, NULL);
		obey(p);
		__atomic_store_n(&p->done, order, __ATOMIC_RELEASE);
		wake(&p->done);
	}
}

static void tell(struct puppet *p, enum what what)
{
	p->what = what;
	__atomic_add_fetch(&p->order, 1, __ATOMIC_RELEASE);
	wake(&p->order);
}

static void begin(void *i)
{
	signal(SIGCHLD, SIG_IGN); /* inherited: nobody stays a zombie for want of a parent that waits */
	live(&all[(intptr_t)i]);
}

struct puppet *puppets(void)
{
	all = shared(PUPPETS * sizeof(*all));
	return all;
}

void puppet_root(int i)
{
	start(begin, (void *)(intptr_t)i);
	await_value(&all[i].ready, 1);
}

static void make(int i, int other, enum what what, pid_t set_tid)
{
	assert_true(other < PUPPETS && !all[other].ready);
	all[i].other = other;
	all[i].set_tid = set_tid;
	tell(&all[i], what);
	await_value(&all[i].done, all[i].order);
	await_value(&all[other].ready, 1);
}

void puppet_fork(int i, int other, pid_t set_tid)
{
	make(i, other, FORK, set_tid);
}

void puppet_thread(int i, int other)
{
	make(i, other, THREAD, 0);
}

void puppet_storm(int i, int other)
{
	make(i, other, STORM, 0);
	all[other].gone = 1; /* it takes no orders */
}

void puppet_subreaper(int i)
{
	tell(&all[i], SUBREAPER);
	await_value(&all[i].done, all[i].order);
}

void puppet_burn(int i, uint64_t ns)
{
	all[i].ns = ns;
	tell(&all[i], BURN);
	await_value(&all[i].done, all[i].order);
}

void puppet_burn_all(uint64_t ns)
{
	for (int i = 0; i < PUPPETS; i++)
		if (puppet_alive(i)) {
			all[i].ns = ns;
			tell(&all[i], BURN);
		}
	for (int i = 0; i < PUPPETS; i++)
		if (puppet_alive(i))
			await_value(&all[i].done, all[i].order);
}

/* State of a task, or 0 if it is gone. */
static char state_of(pid_t tgid, pid_t tid)
{
	char path[64], line[512], state = 0, *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", tgid, tid);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof(line), f) && (end = strrchr(line, ')')))
		state = end[2];
	if (f)
		fclose(f);
	return state;
}

static void await_gone(const struct puppet *p)
{
	char state = 'R';

	for (int i = 0; i < 100000 && (state = state_of(p->tgid, p->tid)) && state != 'Z' && state != 'X'; i++)
		nap(NS_PER_MS / 5);
	assert_true(!state || state == 'Z' || state == 'X');
}

void puppet_exit(int i)
{
	tell(&all[i], EXIT);
	for (int k = 0; k < PUPPETS; k++)
		if (all[k].ready && !all[k].gone && all[k].tgid == all[i].tgid) {
			await_gone(&all[k]);
			all[k].gone = 1;
		}
}

void puppet_leave(int i)
{
	tell(&all[i], LEAVE);
	await_gone(&all[i]);
	all[i].gone = 1;
}

bool puppet_alive(int i)
{
	return all[i].ready && !all[i].gone;
}

int puppet_of(pid_t tid)
{
	for (int i = 0; i < PUPPETS; i++)
		if (all[i].ready && all[i].tid == tid)
			return i;
	return -1;
}

bool puppet_owns(pid_t tgid)
{
	for (int i = 0; i < PUPPETS; i++)
		if (all[i].ready && all[i].tgid == tgid)
			return true;
	return false;
}

pid_t free_tid_below(pid_t tid)
{
	for (pid_t t = tid - 1; t > 300; t--)
		if (kill(t, 0) && errno == ESRCH && getpgid(t) < 0 && getsid(t) < 0)
			return t;
	return 0;
}

pid_t parent_of(pid_t pid)
{
	char path[64], line[512], *end;
	pid_t parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof(line), f) && (end = strrchr(line, ')')))
		sscanf(end + 3, " %d", &parent);
	if (f)
		fclose(f);
	return parent;
}

void puppets_end(int i)
{
	pid_t group = all[i].tgid;

	finish(group, SIGKILL);
	while (waitpid(-group, NULL, 0) > 0)
		;
	memset(all, 0, PUPPETS * sizeof(*all));
}

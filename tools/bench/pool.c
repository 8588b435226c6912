/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: tens of thousands of tasks that sleep. Must not know: who watches.
 * Relies on: futex(2) on shared memory, pthread_attr_setstacksize(3).
 */
#include "load.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define POOL_SECONDS 300
#define WAIT_MS 20000

/* A line each: tasks of one class do not touch another's. */
struct pool_shared {
	struct {
		uint32_t word;
		uint32_t ran;
		uint32_t made;
		uint32_t pad[13];
	} of[POOL_CLASSES];
	uint32_t ready;
};

struct seat {
	struct pool_shared *shared;
	unsigned class;
};

static _Noreturn void sleeper(struct pool_shared *s, unsigned class)
{
	uint32_t seen = 0;

	for (;;) {
		syscall(SYS_futex, &s->of[class].word, FUTEX_WAIT, seen, NULL, NULL, 0);
		if (__atomic_load_n(&s->of[class].word, __ATOMIC_ACQUIRE) == seen)
			continue;
		seen++;
		__atomic_fetch_add(&s->of[class].ran, 1, __ATOMIC_RELEASE);
	}
}

static void *thread_sleeper(void *arg)
{
	const struct seat *seat = arg;

	sleeper(seat->shared, seat->class);
}

static bool make(struct pool_shared *s, struct seat *seat, const pthread_attr_t *attr)
{
	pthread_t thread;
	pid_t pid;

	if (attr)
		return !pthread_create(&thread, attr, thread_sleeper, seat);
	pid = child_fork(POOL_SECONDS);
	if (!pid)
		sleeper(s, seat->class);
	return pid > 0;
}

static _Noreturn void fill(struct pool_shared *s, const unsigned size[POOL_CLASSES], bool processes)
{
	struct seat seats[POOL_CLASSES];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	pthread_attr_setguardsize(&attr, 0);
	for (unsigned class = 0; class < POOL_CLASSES; class++) {
		seats[class] = (struct seat){s, class};
		while (s->of[class].made < size[class] && make(s, &seats[class], processes ? NULL : &attr))
			s->of[class].made++;
	}
	__atomic_store_n(&s->ready, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

static int wait_for(const uint32_t *word, uint32_t value)
{
	struct timespec pause_ = {.tv_nsec = 100000};

	for (int i = 0; i < 10 * WAIT_MS; i++) {
		if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value)
			return 0;
		nanosleep(&pause_, NULL);
	}
	return -ETIMEDOUT;
}

int pool_start(struct pool *p, const unsigned size[POOL_CLASSES], bool processes)
{
	int err;

	*p = (struct pool){0};
	p->shared = mmap(NULL, sizeof(*p->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->shared == MAP_FAILED) {
		p->shared = NULL;
		return -ENOMEM;
	}
	p->pid = child_fork(POOL_SECONDS);
	if (!p->pid)
		fill(p->shared, size, processes);
	err = p->pid < 0 ? p->pid : wait_for(&p->shared->ready, 1);
	for (unsigned class = 0; class < POOL_CLASSES; class++)
		p->size[class] = p->shared->of[class].made;
	if (err)
		pool_end(p);
	return err;
}

int pool_wake(struct pool *p, unsigned class)
{
	uint32_t *word = &p->shared->of[class].word;

	__atomic_store_n(&p->shared->of[class].ran, 0, __ATOMIC_RELEASE);
	__atomic_fetch_add(word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	return wait_for(&p->shared->of[class].ran, p->size[class]);
}

void pool_end(struct pool *p)
{
	if (p->pid > 0)
		child_end(p->pid, SIGKILL);
	if (p->shared)
		munmap(p->shared, sizeof(*p->shared));
	*p = (struct pool){0};
}

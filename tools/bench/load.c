/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the switching workloads, and the CPU time they took. Must not know: who watches.
 * Relies on: pipe(2), clock_getcpuclockid(3).
 *
 * A run is cut into chunks of under a millisecond, and the median chunk counts: what comes between now and then (an
 * interrupt, another task that leaves cold caches) does not.
 */
#include "load.h"
#include "stat.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WARM_TURNS 500
#define CHILD_SECONDS 300

#define CHUNK_TURNS 100
#define CHUNKS_MAX 1024

struct pair_shared {
	struct {
		uint64_t whole_ns;
		pid_t tid;
		double chunk_ns[CHUNKS_MAX];
	} of[2];
};

struct partner {
	struct pair_shared *shared;
	enum pair_way way;
	int me, cpu, go, done, from, to;
};

static void turn(const struct partner *p, uint32_t turns)
{
	char byte = 0;

	for (uint32_t i = 0; i < turns; i++) {
		if (p->way == YIELDS) {
			sched_yield();
			continue;
		}
		if (!p->me && write(p->to, &byte, 1) != 1)
			_exit(1);
		if (read(p->from, &byte, 1) != 1)
			_exit(1);
		if (p->me && write(p->to, &byte, 1) != 1)
			_exit(1);
	}
}

static void *partner(void *arg)
{
	const struct partner *p = arg;
	struct pair_shared *s = p->shared;
	int me = p->me;
	uint32_t chunks;
	char byte = 0;

	if (pin(p->cpu))
		_exit(1);
	s->of[me].tid = gettid();
	if (write(p->done, &byte, 1) != 1)
		_exit(1);
	while (read(p->go, &chunks, sizeof(chunks)) == sizeof(chunks)) {
		uint64_t start = thread_cpu_ns(), before, after;

		turn(p, WARM_TURNS);
		before = thread_cpu_ns();
		for (uint32_t i = 0; i < chunks; i++) {
			turn(p, CHUNK_TURNS);
			after = thread_cpu_ns();
			s->of[me].chunk_ns[i] = after - before;
			before = after;
		}
		s->of[me].whole_ns = before - start;
		if (write(p->done, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

/* One child with both, or one of the two. */
static pid_t partner_fork(struct partner of[2], int first, bool threads)
{
	pid_t pid = child_fork(CHILD_SECONDS);
	pthread_t thread;

	if (pid)
		return pid;
	if (threads && pthread_create(&thread, NULL, partner, &of[1]))
		_exit(1);
	partner(&of[first]);
	_exit(0);
}

int pair_start(struct pair *p, int cpu, enum pair_way way, bool threads)
{
	int there[2] = {-1, -1}, back[2] = {-1, -1}, go[2][2] = {{-1, -1}, {-1, -1}}, done[2] = {-1, -1}, err = 0;
	char byte;

	*p = (struct pair){.go = {-1, -1}, .done = -1};
	p->shared = mmap(NULL, sizeof(*p->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->shared == MAP_FAILED) {
		p->shared = NULL;
		return -ENOMEM;
	}
	if (pipe(there) || pipe(back) || pipe(go[0]) || pipe(go[1]) || pipe(done))
		err = -errno;
	if (!err) {
		struct partner of[2] = {
			{p->shared, way, 0, cpu, go[0][0], done[1], back[0], there[1]},
			{p->shared, way, 1, cpu, go[1][0], done[1], there[0], back[1]},
		};

		for (int i = 0; i < (threads ? 1 : 2); i++)
			p->children[i] = partner_fork(of, i, threads);
	}
	for (int i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
		close(go[i][0]);
		p->go[i] = go[i][1];
	}
	close(done[1]);
	p->done = done[0];
	for (int i = 0; i < 2 && !err; i++)
		if (p->children[i] < 0 || read(p->done, &byte, 1) != 1)
			err = -EAGAIN;
	for (int i = 0; i < 2; i++)
		p->tids[i] = p->shared->of[i].tid;
	if (err)
		pair_end(p);
	return err;
}

int pair_run(struct pair *p, uint32_t chunks, double *ret_ns, double *cpu_ns)
{
	struct timespec last_sleep = {.tv_nsec = 200000};
	double ns[CHUNKS_MAX];
	char byte;

	if (chunks > CHUNKS_MAX)
		chunks = CHUNKS_MAX;
	for (int i = 0; i < 2; i++)
		if (write(p->go[i], &chunks, sizeof(chunks)) != sizeof(chunks))
			return -EPIPE;
	for (int i = 0; i < 2; i++)
		if (read(p->done, &byte, 1) != 1)
			return -EPIPE;
	nanosleep(&last_sleep, NULL); /* the last one is still on its way to sleep */
	for (uint32_t i = 0; i < chunks; i++)
		ns[i] = (p->shared->of[0].chunk_ns[i] + p->shared->of[1].chunk_ns[i]) / (2. * CHUNK_TURNS);
	*ret_ns = stat_quantile(ns, chunks, .5);
	if (cpu_ns)
		*cpu_ns = p->shared->of[0].whole_ns + p->shared->of[1].whole_ns;
	return 0;
}

uint32_t pair_chunks(struct pair *p, double ns)
{
	double each;

	if (pair_run(p, 10, &each, NULL) || each <= 0)
		return 10;
	return ns / (2 * each * CHUNK_TURNS) + 1;
}

void pair_end(struct pair *p)
{
	for (int i = 0; i < 2; i++)
		if (p->go[i] >= 0)
			close(p->go[i]);
	if (p->done >= 0)
		close(p->done);
	for (int i = 0; i < 2; i++)
		if (p->children[i] > 0)
			child_end(p->children[i], SIGKILL);
	if (p->shared)
		munmap(p->shared, sizeof(*p->shared));
	*p = (struct pair){.go = {-1, -1}, .done = -1};
}

struct ring_seat {
	int from, to, done;
};

static void *sit(void *arg)
{
	struct ring_seat *s = arg;
	uint32_t hops;

	while (read(s->from, &hops, sizeof(hops)) == sizeof(hops)) {
		hops--;
		if (write(hops ? s->to : s->done, &hops, sizeof(hops)) != sizeof(hops))
			break;
	}
	return NULL;
}

static _Noreturn void ring(unsigned n, int cpu, int go[2], int done)
{
	struct ring_seat *seats = calloc(n, sizeof(*seats));
	pthread_attr_t attr;
	pthread_t thread;
	uint32_t ready = 0;
	int fds[2];

	if (!seats || pin(cpu))
		_exit(1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	seats[0].from = go[0];
	seats[n - 1].to = go[1];
	for (unsigned i = 0; i < n; i++) {
		seats[i].done = done;
		if (i + 1 == n)
			break;
		if (pipe(fds))
			_exit(1);
		seats[i].to = fds[1];
		seats[i + 1].from = fds[0];
	}
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&thread, &attr, sit, &seats[i]))
			_exit(1);
	if (write(done, &ready, sizeof(ready)) != sizeof(ready))
		_exit(1);
	for (;;)
		pause();
}

int ring_start(struct ring *r, int cpu, unsigned n)
{
	int go[2] = {-1, -1}, done[2] = {-1, -1}, err = 0;
	uint32_t hops;

	*r = (struct ring){.go = -1, .done = -1};
	if (pipe(go) || pipe(done))
		return -errno;
	r->pid = child_fork(CHILD_SECONDS);
	if (!r->pid) {
		close(done[0]);
		ring(n, cpu, go, done[1]);
	}
	err = r->pid < 0 ? r->pid : 0;
	close(go[0]);
	close(done[1]);
	r->go = go[1];
	r->done = done[0];
	if (!err && read(r->done, &hops, sizeof(hops)) != sizeof(hops))
		err = -EAGAIN; /* too few descriptors or threads */
	if (err)
		ring_end(r);
	return err;
}

static uint64_t process_cpu_ns(pid_t pid)
{
	struct timespec t = {0};
	clockid_t clock;

	if (!clock_getcpuclockid(pid, &clock))
		clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

int ring_run(struct ring *r, uint32_t hops, double *ret_ns)
{
	struct timespec pause_ = {.tv_nsec = 200000};
	uint64_t before = process_cpu_ns(r->pid);
	uint32_t n = hops;

	if (write(r->go, &n, sizeof(n)) != sizeof(n) || read(r->done, &n, sizeof(n)) != sizeof(n))
		return -EPIPE;
	nanosleep(&pause_, NULL); /* the last one is still on its way to sleep */
	*ret_ns = (double)(process_cpu_ns(r->pid) - before) / hops;
	return 0;
}

void ring_end(struct ring *r)
{
	if (r->go >= 0)
		close(r->go);
	if (r->done >= 0)
		close(r->done);
	if (r->pid > 0)
		child_end(r->pid, SIGKILL);
	*r = (struct ring){.go = -1, .done = -1};
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the switching workloads, and the CPU time they took. Must not know: who watches.
 * Relies on: pipe(2), getrusage(2), clock_getcpuclockid(3).
 */
#include "load.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WARM_TURNS 500
#define CHILD_SECONDS 300

struct pair_shared {
	struct {
		uint64_t measured_ns;
		uint64_t whole_ns;
		uint64_t switches;
	} of[2];
};

static void turn(int from, int to, bool first, uint32_t turns)
{
	char byte = 0;

	for (uint32_t i = 0; i < turns; i++) {
		if (first && write(to, &byte, 1) != 1)
			_exit(1);
		if (read(from, &byte, 1) != 1)
			_exit(1);
		if (!first && write(to, &byte, 1) != 1)
			_exit(1);
	}
}

static uint64_t switches_so_far(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw + u.ru_nivcsw;
}

static _Noreturn void partner(struct pair_shared *s, int me, int cpu, int go, int done, int from, int to)
{
	uint32_t turns;
	char byte = 0;

	if (pin(cpu))
		_exit(1);
	while (read(go, &turns, sizeof(turns)) == sizeof(turns)) {
		uint64_t start = thread_cpu_ns(), warm, switches;

		turn(from, to, !me, WARM_TURNS);
		switches = switches_so_far();
		warm = thread_cpu_ns();
		turn(from, to, !me, turns);
		s->of[me].measured_ns = thread_cpu_ns() - warm;
		s->of[me].whole_ns = thread_cpu_ns() - start;
		s->of[me].switches = switches_so_far() - switches;
		if (write(done, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

int pair_start(struct pair *p, int cpu)
{
	int there[2] = {-1, -1}, back[2] = {-1, -1}, go[2][2] = {{-1, -1}, {-1, -1}}, done[2] = {-1, -1}, err = 0;

	*p = (struct pair){.go = {-1, -1}, .done = -1};
	p->shared = mmap(NULL, sizeof(*p->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->shared == MAP_FAILED) {
		p->shared = NULL;
		return -ENOMEM;
	}
	if (pipe(there) || pipe(back) || pipe(go[0]) || pipe(go[1]) || pipe(done))
		err = -errno;
	for (int i = 0; i < 2 && !err; i++) {
		p->pids[i] = child_fork(CHILD_SECONDS);
		if (!p->pids[i]) {
			close(go[0][1]);
			close(go[1][1]);
			partner(p->shared, i, cpu, go[i][0], done[1], i ? there[0] : back[0], i ? back[1] : there[1]);
		}
		if (p->pids[i] < 0) {
			err = p->pids[i];
			p->pids[i] = 0;
		}
	}
	for (int i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
		close(go[i][0]);
		p->go[i] = go[i][1];
	}
	close(done[1]);
	p->done = done[0];
	if (err)
		pair_end(p);
	return err;
}

int pair_run(struct pair *p, uint32_t turns, double *ret_ns, double *cpu_ns)
{
	char byte;

	for (int i = 0; i < 2; i++)
		if (write(p->go[i], &turns, sizeof(turns)) != sizeof(turns))
			return -EPIPE;
	for (int i = 0; i < 2; i++)
		if (read(p->done, &byte, 1) != 1)
			return -EPIPE;
	*ret_ns = (double)(p->shared->of[0].measured_ns + p->shared->of[1].measured_ns) /
		  (p->shared->of[0].switches + p->shared->of[1].switches);
	if (cpu_ns)
		*cpu_ns = p->shared->of[0].whole_ns + p->shared->of[1].whole_ns;
	return 0;
}

void pair_end(struct pair *p)
{
	for (int i = 0; i < 2; i++)
		if (p->go[i] >= 0)
			close(p->go[i]);
	if (p->done >= 0)
		close(p->done);
	for (int i = 0; i < 2; i++)
		if (p->pids[i] > 0)
			child_end(p->pids[i], SIGKILL);
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

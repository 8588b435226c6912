/* SPDX-License-Identifier: BSD-2-Clause */
/* Workloads, all in children that end with the bench, and after a while by themselves. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A child that dies with its parent, or after `seconds`. fork(2)'s result. */
pid_t child_fork(unsigned seconds);

/* Run a program with its output going to `output_fd` (-1: nowhere). `tracefs`: in a mount namespace of its own, with
 * tracefs mounted there. -errno when it cannot be forked; a program that cannot be run exits with 127. */
pid_t child_exec(unsigned seconds, char *const argv[], int output_fd, bool tracefs);

/* Ask with `signal`, wait up to two seconds, kill. Its wait status. */
int child_end(pid_t pid, int signal);

int pin(int cpu);
uint64_t thread_cpu_ns(void);

/*
 * Two partners on one CPU, threads of one process or two processes, that pass a byte to and fro through two pipes, or
 * that just yield to one another: then a switch costs less, and so do its ups and downs.
 */
enum pair_way { PIPES, YIELDS };

struct pair {
	pid_t tids[2];
	pid_t children[2];
	int go[2], done;
	struct pair_shared *shared;
};

int pair_start(struct pair *p, int cpu, enum pair_way way, bool threads);
/* CPU time of both per switch, the median of so many chunks, after some unmeasured turns; *cpu_ns (may be NULL) the
 * whole sum with those turns. */
int pair_run(struct pair *p, uint32_t chunks, double *ret_ns, double *cpu_ns);
uint32_t pair_chunks(struct pair *p, double ns); /* how many take about so long */
void pair_end(struct pair *p);

/* n threads of one process on one CPU, each of which wakes the next. */
struct ring {
	pid_t pid;
	int go, done;
};

int ring_start(struct ring *r, int cpu, unsigned n);
int ring_run(struct ring *r, uint32_t hops, double *ret_ns); /* CPU time per switch */
void ring_end(struct ring *r);

/* Many sleeping tasks in classes that can be woken class by class; each does next to nothing and sleeps again. */
enum { POOL_CLASSES = 3 };

struct pool {
	pid_t pid;
	unsigned size[POOL_CLASSES]; /* as far as they could be made */
	struct pool_shared *shared;
};

int pool_start(struct pool *p, const unsigned size[POOL_CLASSES], bool processes);
int pool_wake(struct pool *p, unsigned class); /* and wait until all of that class have run */
void pool_end(struct pool *p);

#endif

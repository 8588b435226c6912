/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading a package's counters from one of its own CPUs: a read from elsewhere costs an interrupt there, and 18 us. It
 * is a thrift only: where the thread may not go (a cpuset, an offline package), it reads from where it is.
 */
#ifndef SW_ENERGY_NEAR_H
#define SW_ENERGY_NEAR_H

#include "source.h"

#include <sched.h>

struct sw_near {
	cpu_set_t **cpus; /* by domain; NULL on a machine of one package, where every CPU is near */
	cpu_set_t *saved;
	size_t set_size;
	unsigned n_domains;
	bool may_move; /* `saved` holds the thread's own affinity */
	int here;      /* domain that it has gone to, or -1 */
};

/* 0 or -ENOMEM. A zeroed one may be freed. */
int sw_near_init(struct sw_near *near, const struct sw_topology *topology);
void sw_near_free(struct sw_near *near);

/* Around a round of reads: go to the first of `domains` (bits; 0: stay) before each, and back after the last. */
void sw_near_begin(struct sw_near *near);
void sw_near_go(struct sw_near *near, uint32_t domains);
void sw_near_end(struct sw_near *near);

#endif

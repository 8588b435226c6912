/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: where the reading thread runs. Must not know: what is read there.
 * Relies on: sched_setaffinity(2), which leaves out of a set those CPUs that are offline.
 */
#include "near.h"

#include <errno.h>
#include <stdlib.h>

int sw_near_init(struct sw_near *near, const struct sw_topology *t)
{
	/* The kernel refuses to tell an affinity into less room than it has CPU numbers; 8192 is its greatest. */
	unsigned n_bits = t->n_cpus > 8192 ? t->n_cpus : 8192;
	unsigned cpu;

	*near = (struct sw_near){ .here = -1 };
	if (t->n_packages < 2)
		return 0;
	near->set_size = CPU_ALLOC_SIZE(n_bits);
	near->saved = CPU_ALLOC(n_bits);
	near->cpus = calloc(t->n_domains, sizeof(*near->cpus));
	if (!near->saved || !near->cpus)
		goto fail;
	for (near->n_domains = 0; near->n_domains < t->n_domains; near->n_domains++) {
		cpu_set_t *set = CPU_ALLOC(n_bits);

		if (!set)
			goto fail;
		CPU_ZERO_S(near->set_size, set);
		for (cpu = 0; cpu < t->n_cpus; cpu++)
			if (t->domain_of[cpu] == (int)near->n_domains)
				CPU_SET_S(cpu, near->set_size, set);
		near->cpus[near->n_domains] = set;
	}
	return 0;
fail:
	sw_near_free(near);
	return -ENOMEM;
}

void sw_near_free(struct sw_near *near)
{
	unsigned d;

	for (d = 0; d < near->n_domains; d++)
		CPU_FREE(near->cpus[d]);
	free(near->cpus);
	CPU_FREE(near->saved);
	*near = (struct sw_near){ .here = -1 };
}

void sw_near_begin(struct sw_near *near)
{
	near->may_move = near->cpus && !sched_getaffinity(0, near->set_size, near->saved);
	near->here = -1;
}

void sw_near_go(struct sw_near *near, uint32_t domains)
{
	int domain = domains ? __builtin_ctz(domains) : -1;

	if (!near->may_move || domain < 0 || domain == near->here)
		return;
	sched_setaffinity(0, near->set_size, near->cpus[domain]);
	near->here = domain;
}

void sw_near_end(struct sw_near *near)
{
	if (near->here >= 0)
		sched_setaffinity(0, near->set_size, near->saved);
}

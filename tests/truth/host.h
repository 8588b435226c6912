/* SPDX-License-Identifier: BSD-2-Clause */
/* The CPU time of the whole host, as the kernel's own cgroup accounting tells it. */
#ifndef TRUTH_HOST_H
#define TRUTH_HOST_H

#include <stdbool.h>
#include <stdint.h>

/* Look for who could tell. False: nobody. */
bool host_open(void);

/* Is the time of the caller and its children in it? (A root cgroup of version 2 has no exact time of its own.) */
bool host_counts_us(void);

/* CPU time of all tasks so far; of cgroup v2 those in any cgroup below the root. UINT64_MAX: it cannot be read. */
uint64_t host_cpu_ns(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of its CPUs' time a virtual machine's host takes away. It counts as on-CPU time of whoever thought he ran, so
 * windows are marked when it is much.
 */
#ifndef SW_CORE_STEAL_H
#define SW_CORE_STEAL_H

#include <stdbool.h>
#include <stdint.h>

struct sw_steal {
	int fd; /* stat of procfs, or -1: nothing is ever stolen here, or it is not told */
	uint64_t looked_ns;
	uint64_t stolen, all; /* ticks, as they stood then */
	bool much;            /* over 1 % in the time before that look */
};

/* `guest`: a hypervisor is known to be there. Where none is, and none has ever taken time, nobody looks again. */
void sw_steal_open(struct sw_steal *s, int procfs_fd, bool guest);
void sw_steal_close(struct sw_steal *s);

/* Look if the last look is a second old or more: the file is long, and told in ticks. */
void sw_steal_look(struct sw_steal *s, uint64_t now_ns);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's records of tasks that end, one of each thread, over generic netlink. A record is made before the task has
 * quite ended: what it does from there on (giving its memory back, most of all), and what it ran since its clock moved
 * last, is not in it.
 */
#ifndef SW_CPU_TASKSTATS_H
#define SW_CPU_TASKSTATS_H

#include "../base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sw_taskstats_record {
	int32_t tid; /* ids of the initial pid namespace */
	int32_t tgid; /* 0: not said (before Linux 5.19) */
	int32_t ppid; /* process of its parent at its end; who was orphaned before has who took it in */
	int32_t exit_code; /* wait status */
	bool exit_known;   /* of the process's leader only */
	uint64_t run_ns;
	uint64_t elapsed_ns; /* from its start to its end, CLOCK_MONOTONIC, to a microsecond */
	char comm[16];
};

struct sw_taskstats;

/*
 * Ask for records from all possible CPUs. 0 (the caller closes *ret), or -errno with the reason, in words that a user
 * can act on: -EPERM (CAP_NET_ADMIN), -ENOENT (not built into the kernel, or the caller is in another network
 * namespace), -EINVAL (in another user or pid namespace).
 */
int sw_taskstats_open(struct sw_error *error, struct sw_taskstats **ret);

/* The same over a socket that brings such messages, which is the caller's. 0 or -ENOMEM. */
int sw_taskstats_adopt(int fd, struct sw_taskstats **ret);

void sw_taskstats_close(struct sw_taskstats *t); /* NULL is fine */

/*
 * Give each record that waits to `each`; stops with what that returns when it is not 0. Messages of another kind, and
 * such as are cut or wrong, are passed over. Returns 0, or -errno of the socket.
 */
int sw_taskstats_read(struct sw_taskstats *t, int (*each)(const struct sw_taskstats_record *record, void *ctx), void *ctx);

/* How often records were dropped because they were not read in time: each time one or more. Cumulative. */
uint64_t sw_taskstats_overruns(const struct sw_taskstats *t);

#endif

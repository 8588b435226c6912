/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes that a target of pids names, and whether they are alive. Source: pidfd_open(2), proc_pid_status(5). */
#ifndef SW_CORE_TARGET_H
#define SW_CORE_TARGET_H

#include "../base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many pids can be watched at once. */
enum { SW_TARGET_PIDS_MAX = 4096 };

struct sw_target_pids {
	int32_t *pids; /* as the caller's pid namespace numbers them, each once, in the order given */
	int *fds;      /* pidfds; -1: it has ended, or the kernel gives none */
	bool *ended;
	size_t n;
	size_t n_fds; /* still open */
	int epoll_fd; /* readable when one of the fds is; -1: there are none */
};

/* Zero-filled with epoll_fd -1: no processes. */
#define SW_TARGET_PIDS_NONE ((struct sw_target_pids){.epoll_fd = -1})

/*
 * Take hold of every process. 0; -ESRCH: there is no such process, it has ended already, or the number is a thread's;
 * -E2BIG; -EMFILE; -ENOMEM; each with a sentence. *t is to be closed in any case. procfs_fd: for the words only.
 */
int sw_target_open(struct sw_target_pids *t, const int32_t *pids, size_t n, int procfs_fd, struct sw_error *error);

/* Are they all alive still? 0, or -ESRCH with a sentence on the first that is not. */
int sw_target_check(struct sw_target_pids *t, struct sw_error *error);

/* How many are alive: a process has ended when its last thread has, waited for or not. Takes note of ended ones. */
size_t sw_target_alive(struct sw_target_pids *t);

void sw_target_close(struct sw_target_pids *t);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes and threads that do what they are told, one step after the other, so that a test decides at which moment
 * a tree changes. A puppet has a number; orders come through shared memory, and are carried out when a call returns.
 */
#ifndef SW_TESTS_PUPPET_H
#define SW_TESTS_PUPPET_H

#include "record.h"

enum { PUPPETS = 512 };

struct puppet {
	uint32_t order; /* a futex, as are the next two: moves when there is one */
	uint32_t done;  /* the last that was carried out */
	uint32_t ready; /* it is there */
	uint32_t gone;  /* it was told to go, and went */
	int what;
	int other;
	pid_t set_tid;
	uint64_t ns;
	pid_t tgid;
	pid_t tid;
	pid_t maker; /* its parent when it began */
	uint64_t own_ns; /* its own clock after the last burn */
};

struct puppet *puppets(void); /* all of them, none alive yet */
void puppet_root(int i);

/* `other` is made by i; with the thread id set_tid, if that is not 0 and still free. */
void puppet_fork(int i, int other, pid_t set_tid);
void puppet_thread(int i, int other);
void puppet_storm(int i, int other); /* a child that is a fork_storm() */
void puppet_subreaper(int i);
void puppet_burn(int i, uint64_t ns);
void puppet_burn_all(uint64_t ns); /* all that are there, together */

/* When these return its children have been given away. */
void puppet_exit(int i);  /* its whole process */
void puppet_leave(int i); /* this thread alone */

bool puppet_alive(int i);
int puppet_of(pid_t tid);  /* -1: none */
bool puppet_owns(pid_t tgid); /* is or was it a puppet's process? */
pid_t free_tid_below(pid_t tid); /* 0: none was found */
pid_t parent_of(pid_t pid);      /* as the kernel says now */

/* End what root number i has started, and forget them all. */
void puppets_end(int i);

#endif

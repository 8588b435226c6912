/* SPDX-License-Identifier: BSD-2-Clause */
/* The workloads: processes that use CPU in known ways, children of one that is made for them. */
#ifndef TRUTH_LOAD_H
#define TRUTH_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Its watts for each second of CPU time are raplsim.c's. */
enum class { CLASS_LIGHT, CLASS_HEAVY, CLASSES };

/* So many processes of one kind. */
struct load_part {
	const char *workload;
	const char *name;
	int from_ms;  /* since the recording began; -1: before it does */
	int count;    /* 0 is 1 */
	int every_ms; /* between one and the next, where there are several */
	int until_ms; /* killed then; 0: when all is over */
	int cpu_us;   /* ends by itself after so much CPU time; 0: never */
	int on_us;    /* so much CPU time, then so long a sleep; 0: runs all the time */
	int off_us;
	int cpu;      /* 1 + the one that it is pinned to, -1 for the last; 0: any */
	int thread_us; /* a second thread, which ends after so much CPU time; 0: none */
	enum class class;
};

/* The next part of a workload after `last` (NULL: the first), or NULL. */
const struct load_part *load_next(const char *workload, const struct load_part *last);

bool load_known(const char *workload);

/* What became of a request. */
struct load_born {
	const struct load_part *part;
	pid_t pid; /* or a negative errno */
};

/*
 * A child that has the workload's processes, at nice 19, so that its caller need not wait for a fork. Those that ended
 * stay zombies, whose time can be read, until *ret_fd is closed; then it ends them all, and itself. Its pid, or a
 * negative errno.
 */
pid_t load_nursery(int *ret_fd);

/* Ask for a process that does what the part says. False: not now. */
bool load_start(int nursery_fd, const struct load_part *part);

/* False: nobody new. */
bool load_born(int nursery_fd, struct load_born *ret);

/* A child that runs a command at the nice value of its parent. Its pid, or a negative errno. */
pid_t load_exec(char *const argv[]);

#endif

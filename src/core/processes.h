/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes of a recording: tasks' rows summed by process, and what each had over the whole of it. */
#ifndef SW_CORE_PROCESSES_H
#define SW_CORE_PROCESSES_H

#include "../../include/schedwatt.h"
#include "../cpu/backend.h"
#include "cgroups.h"
#include "comms.h"
#include "tally.h"

#include <uthash.h>

struct sw_process_id { /* hashed as bytes: no padding */
	uint64_t start_boottime_ns;
	uint64_t pid; /* of the initial pid namespace */
};

struct sw_process_entry {
	struct sw_process_id id;
	UT_hash_handle hh;
	struct sw_process_entry *next_active; /* list of the window */
	uint64_t active_seq;                  /* window it was last active in */
	uint64_t row_seq;                     /* window that last had a row of it, with time or without */
	uint32_t keys;                        /* the back end's, that live */
	int32_t pid;                          /* as the caller numbers it; 0: it is not to be seen there */
	int32_t ppid;                         /* likewise */
	int32_t host_ppid;
	int32_t exit_code;
	bool exit_known;
	bool counted; /* it had time */
	bool ended;   /* its last thread is gone */
	bool kernel_thread;
	char comm[16];
	uint8_t told; /* who described it in this window */
	bool execs_known;
	uint32_t execs;
	bool cmdline_due;   /* it is to be read when the process has time */
	bool cmdline_stale; /* there was an exec since it was read */
	bool cmdline_new;   /* in this window */
	char *cmdline;
	uint64_t cgroup_id;  /* where it last ran */
	uint64_t cgroup_ns;  /* what it had there in this window, */
	bool cgroup_first;   /* and whether it had not been there before */
	char *cgroup_path;   /* where /proc says that it is, if the back end does not say */
	uint64_t cgroup_seq; /* window in which that was looked up */
	struct sw_tally tally;
	uint64_t by_domain_ns[]; /* n_domains of the window, then n_domains in total */
};

struct sw_processes {
	unsigned n_domains;
	uint32_t n_keys;
	struct sw_process_entry *table;
	struct sw_process_entry **by_key;
	struct sw_process_entry *active; /* of the window */
	struct sw_comm_entry *folded;    /* exited ones that were let go */
	uint64_t n_folded;
	uint64_t n_seen;
	uint64_t n_alive; /* of those seen */
	size_t n_ended;   /* in the table */
	bool forget_ended; /* few of them are kept, and no sums of the others; set after init */
	uint64_t seq;     /* of the window, from 1 */
};

int sw_processes_init(struct sw_processes *p, uint32_t n_keys, unsigned n_domains);
void sw_processes_free(struct sw_processes *p);

/* A window begins: nobody is active yet, and if too many have exited, those go into `folded`. 0 or -ENOMEM. */
int sw_processes_next(struct sw_processes *p);

/* Take in one row: its task had `oncpu_ns` in this window. *ret is its process, until the next window. 0 or -ENOMEM. */
int sw_processes_add(struct sw_processes *p, const struct sw_cpu_row *row, uint64_t oncpu_ns,
		     struct sw_process_entry **ret);

/* A row that lies outside the target: it is in no sum, but a process that is known may end there. */
void sw_processes_add_outside(struct sw_processes *p, const struct sw_cpu_row *row);

/* The part of the window's energy that one of its rows has. */
void sw_process_add_energy(struct sw_process_entry *e, int64_t nj);

/*
 * Read the command lines of processes that had time in the window, have not ended, and are new or have called exec.
 * Once per window, after all rows.
 */
void sw_processes_read_cmdlines(struct sw_processes *p, int procfs_fd);

/*
 * Look up in which cgroups the processes are that had time in the window and have not ended: those that are new, and the
 * others now and then, since they may be moved. Once per window, after all rows, for back ends that do not say.
 */
void sw_processes_read_cgroups(struct sw_processes *p, int procfs_fd);

/* By identity, or NULL. */
struct sw_process_entry *sw_processes_find(const struct sw_processes *p, const struct sw_process_id *id);

/*
 * Rows for a report: the active ones of the window, or all that had time, with totals. Most on-CPU time first.
 * A malloc()ed array for the caller, NULL when there are none or no memory (then *ret_n says which: SIZE_MAX).
 * What rows of a window point to lives until the next one; rows of totals hold all that they point to.
 */
struct sw_process *sw_processes_window(const struct sw_processes *p, const struct sw_cgroups *g, size_t *ret_n);
struct sw_process *sw_processes_totals(const struct sw_processes *p, const struct sw_cgroups *g, size_t *ret_n);

/* By command name: of the window, or totals, folded ones included. Likewise; they hold all that they point to. */
struct sw_comm *sw_processes_window_comms(const struct sw_processes *p, size_t *ret_n);
struct sw_comm *sw_processes_comms(const struct sw_processes *p, size_t *ret_n);

#endif

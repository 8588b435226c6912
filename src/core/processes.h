/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes of a recording: tasks' rows summed by process, and what each had over the whole of it. */
#ifndef SW_CORE_PROCESSES_H
#define SW_CORE_PROCESSES_H

#include "../../include/schedwatt.h"
#include "../cpu/backend.h"

#include <uthash.h>

struct sw_process_id { /* hashed as bytes: no padding */
	uint64_t start_boottime_ns;
	uint64_t pid;
};

struct sw_process_entry {
	struct sw_process_id id;
	UT_hash_handle hh;
	struct sw_process_entry *next_active; /* list of the window */
	uint64_t seq;                         /* window it was last active in, + 1 */
	uint32_t keys;                        /* the back end's, that live */
	int32_t ppid;
	int32_t exit_code;
	bool counted; /* it had time */
	bool ended;   /* its last thread is gone */
	bool kernel_thread;
	char comm[16];
	uint64_t oncpu_ns; /* of the window */
	uint64_t total_ns;
	int64_t nj; /* of the window */
	int64_t total_nj;
	bool has_nj; /* of any window */
	uint64_t by_domain_ns[]; /* n_domains of the window, then n_domains in total */
};

struct sw_comm_entry {
	char comm[16];
	UT_hash_handle hh;
	uint64_t processes;
	uint64_t oncpu_ns;
	int64_t nj;
	bool has_nj;
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
	uint64_t seq;
};

int sw_processes_init(struct sw_processes *p, uint32_t n_keys, unsigned n_domains);
void sw_processes_free(struct sw_processes *p);

/* A window begins: nobody is active yet, and if too many have exited, those go into `folded`. 0 or -ENOMEM. */
int sw_processes_next(struct sw_processes *p);

/* Take in one row: its task had `oncpu_ns` in this window. *ret is its process. 0 or -ENOMEM. */
int sw_processes_add(struct sw_processes *p, const struct sw_cpu_row *row, uint64_t oncpu_ns,
		     struct sw_process_entry **ret);

/* A row's part of the window's energy. */
void sw_process_add_energy(struct sw_process_entry *e, int64_t nj);

/*
 * Rows for a report: the active ones of the window, or all that had time, with totals. Most on-CPU time first.
 * A malloc()ed array for the caller, NULL when there are none or no memory (then *ret_n says which: SIZE_MAX).
 */
struct sw_process *sw_processes_window(const struct sw_processes *p, size_t *ret_n);
struct sw_process *sw_processes_totals(const struct sw_processes *p, size_t *ret_n);

/* Totals by command name, folded ones included. Likewise. */
struct sw_comm *sw_processes_comms(const struct sw_processes *p, size_t *ret_n);

#endif

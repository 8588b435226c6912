/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of a recording: tasks' rows summed by thread, and what each had over the whole of it. */
#ifndef SW_CORE_THREADS_H
#define SW_CORE_THREADS_H

#include "processes.h"

struct sw_thread_id { /* hashed as bytes: no padding */
	uint64_t start_boottime_ns;
	uint32_t tgid; /* of the initial pid namespace, like the next */
	uint32_t tid;
};

struct sw_thread_entry {
	struct sw_thread_id id;
	UT_hash_handle hh;
	struct sw_thread_entry *next_active; /* list of the window */
	uint64_t active_seq;                 /* window it was last active in */
	uint32_t keys;                       /* the back end's, that live */
	int32_t pid;                         /* as the caller numbers it; 0: it is not to be seen there */
	int32_t tid;                         /* likewise */
	struct sw_process_id process;
	bool counted; /* it had time */
	bool died;
	bool kernel_thread;
	char comm[16];
	char process_comm[16]; /* as it last was while the thread was active */
	struct sw_tally tally;
	uint64_t by_domain_ns[]; /* n_domains of the window, then n_domains in total */
};

struct sw_threads {
	unsigned n_domains;
	uint32_t n_keys;
	struct sw_thread_entry *table;
	struct sw_thread_entry **by_key;
	struct sw_thread_entry *active; /* of the window */
	size_t n_keyless;               /* in the table, whom the back end no longer knows */
	uint64_t n_folded;
	bool forget_ended; /* few of those are kept; set after init */
	uint64_t seq; /* of the window, from 1 */
};

int sw_threads_init(struct sw_threads *t, uint32_t n_keys, unsigned n_domains);
void sw_threads_free(struct sw_threads *t);

/* A window begins: nobody is active yet, and if too many have exited, those are let go. */
void sw_threads_next(struct sw_threads *t);

/* Take in one row. *ret is its thread, until the next window. 0 or -ENOMEM. */
int sw_threads_add(struct sw_threads *t, const struct sw_cpu_row *row, uint64_t oncpu_ns,
		   struct sw_thread_entry **ret);

/* A row that lies outside the target: it is in no sum, but a thread that is known may end there. */
void sw_threads_add_outside(struct sw_threads *t, const struct sw_cpu_row *row);

/* The part of the window's energy that one of its rows has. */
void sw_thread_add_energy(struct sw_thread_entry *e, int64_t nj);

/* Rows for a report, as processes.h has them; `p` knows the names of processes. */
struct sw_thread *sw_threads_window(struct sw_threads *t, const struct sw_processes *p, size_t *ret_n);
struct sw_thread *sw_threads_totals(struct sw_threads *t, const struct sw_processes *p, size_t *ret_n);

#endif

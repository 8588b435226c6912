/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two recordings for tests: one straight over a back end (windows, sums, totals by identity), one over the
 * public interface. Both check every window they read and are closed by live_teardown() at the latest.
 */
#ifndef SW_TESTS_RECORD_H
#define SW_TESTS_RECORD_H

#include "support.h"

#include "cpu/ebpf.h"
#include "schedwatt.h"

#include <uthash.h>

struct identity_key { /* hashed as bytes: no padding */
	uint64_t start_boottime_ns;
	int32_t tgid;
	int32_t tid;
};

/* A task, and what it had since the first boundary. */
struct identity {
	struct identity_key id;
	UT_hash_handle hh;
	uint64_t oncpu_ns;
	int32_t ppid;
	int32_t exit_code;
	bool died;
	bool process_ended;
	unsigned windows;   /* that it has a row in */
	unsigned described; /* in how many of them it was told anew */
	struct sw_task task; /* as last told */
	char comm[16];
	char process_comm[16];
};

struct group; /* groups.h */

struct record {
	struct sw_cpu_backend *b;
	const struct sw_cpu_usage *usage; /* the last boundary's */
	int16_t domain_of[64];
	unsigned n_domains;
	uint64_t *last_ns; /* by key */
	struct sw_cpu_domain before[2];
	struct identity *identities;
	struct group *groups;
	uint64_t wake_ns; /* t_ns in our own clock */
	/* since the first boundary */
	uint64_t t0_ns, t_ns;
	uint64_t windows;
	uint64_t broken; /* domains × windows whose parts did not add up to the nanosecond */
	uint64_t fell;   /* times that something cumulative went backwards */
	struct sw_cpu_domain sum;
	uint64_t irq_and_steal_at_begin_ns;
	uint64_t members_lost;
	uint64_t late;
	bool ended;
};

/* Open with what differs from: the whole host, one domain (`n_domains` 2: the odd CPUs are the second), ebpf. */
struct record *record_open(const struct sw_cpu_config *config);
struct record *record_open_by(const struct sw_cpu_ops *ops, const struct sw_cpu_config *config);
void record_begin(struct record *r);                      /* the first boundary */
/* Open and begin: the whole host, or (tree) what the calling process starts from now on. */
struct record *record_begun(bool tree);
void record_window(struct record *r, uint64_t ns);        /* one more, so long after the last */
void record_windows(struct record *r, unsigned n, uint64_t ns);
void record_close(struct record *r);

/* The one that a thread id stood for, and if for several, the last to come; NULL: none had time. */
struct identity *record_find(const struct record *r, pid_t tid);

/* No window was broken and nothing fell; says how many windows that holds for. */
void record_assert_exact(const struct record *r);

/* A process's threads; a process's tree by the parents that the back end told. */
uint64_t record_process_ns(const struct record *r, pid_t pid);
uint64_t record_tree_ns(const struct record *r, pid_t root);

uint64_t record_lost_ns(const struct record *r); /* all kinds */

/* By how much a task may have had more than its own clock says (interrupts, steal), since the first boundary. */
uint64_t record_stolen_ns(const struct record *r);

/*
 * Does what a task had agree with its own clock: to so many parts per thousand, give or take what was lost or stolen,
 * and 25 µs for each time it was switched out? The kernel's clock stands still from a wake-up (in an interrupt) to the
 * switch that follows, and gives that time to whoever comes. Says what it found.
 */
bool record_matches(const struct record *r, const char *what, uint64_t ns, uint64_t own_ns, uint64_t switches,
		    double permille);

struct sw_ebpf *record_inside(struct record *r);

/* Slots of the table that are taken; of those, by tasks of a process. */
unsigned record_slots(struct record *r, unsigned *ret_of_process, pid_t pid);

/* --- the public interface */

struct watch {
	struct sw_monitor *m;
	uint64_t windows;
	uint64_t broken; /* windows whose times or joules did not add up */
};

/* `sz` and `error` are set here; energy is "none" unless given. The first boundary is set. */
struct watch *watch_open(struct sw_options *options);
const struct sw_report *watch_step(struct watch *w);      /* waits for it */
const struct sw_summary *watch_finish(struct watch *w);   /* ends the recording; NULL when that fails */
const struct sw_process *watch_find(const struct sw_process *p, size_t n, pid_t pid);

#endif

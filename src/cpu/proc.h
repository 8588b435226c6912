/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The proc back end as its own files see it: proc.c opens it and owns the order of a read; proc_tree.c knows the members,
 * proc_look.c finds new ones, proc_read.c reads their time, proc_records.c keeps the kernel's records of ended ones,
 * proc_exits.c reckons the time of those that ended unseen, proc_rows.c tells it all.
 *
 *   /proc/stat ─► records of ended tasks ─► known processes: clock, threads, gone? ─► new members (read likewise)
 *             ─► records that came meanwhile ─► the unseen ─► rows, as far as CPUs × window have room ─► host
 */
#ifndef SW_CPU_PROC_H
#define SW_CPU_PROC_H

#include "backend.h"

#include "../base/procfs.h"
#include "host.h"
#include "taskstats.h"

#include <time.h>

#include <uthash.h>

enum {
	SW_PROC_KEYS = 262144,
	SW_PROC_NO_KEY = 0xffffffff,
	SW_PROC_ANYWHERE = 0xffff, /* no domain */
};

struct sw_proc_process;

/* A thread. `own_ns` is what the kernel counts for it; what it is given can be more (the leader's, see below). */
struct sw_proc_thread {
	struct sw_proc_process *process;
	UT_hash_handle hh;           /* by tid; not the leader, nor one that is gone */
	struct sw_proc_thread *next; /* of its process; the leader is not in that list */
	int32_t tid;
	int fd;            /* its kept schedstat, or -1 */
	uint64_t own_ns;   /* since it began, as last read */
	uint64_t value_ns; /* to be told in all: since the first boundary, or since it began */
	uint64_t told_ns;  /* of that, in rows */
	uint64_t key_ns;   /* of that, under earlier keys */
	uint32_t key;
	uint16_t domain;   /* where it ran when it was last looked at */
	uint16_t key_domain;
	bool clump;        /* it was given what others had: may be more than a window's length */
	bool gone;         /* no more time is to come, but what it is given when its process is reckoned with */
	bool over;         /* and all is told */
	bool active;       /* ran since the last read */
	bool recent;       /* was active at the last read */
	bool described;    /* since its last row */
	uint64_t forks;    /* the host's, when its children were looked for last */
	uint64_t looked_ns; /* when its stat was read last */
	struct sw_task task;
};

/*
 * A process. Where its number is the caller's, too, its CPU clock has the time of all its threads, of the ended ones as
 * well: what the others did not have of it is given to the leader, so that nothing is lost.
 */
struct sw_proc_process {
	struct sw_proc_thread leader;
	UT_hash_handle hh;              /* by leader.tid, in `living` or `gone` */
	struct sw_proc_thread *threads; /* the others, gone ones too until they are told */
	unsigned n_threads;             /* of them, not gone */
	clockid_t clock;
	uint64_t start_ticks;
	uint64_t total_ns;   /* of all its threads since it began: what was given, or was before the recording */
	uint64_t waited_ns;  /* of children that it waited for, theirs in it, since it began, as last read */
	uint64_t counted_ns; /* of that, what was given to whom it was of, or was before the recording */
	uint64_t waited_faults;   /* page faults of such children */
	uint64_t n_waited_faults; /* in this read */
	int32_t parent;      /* the process that would wait for it */
	uint64_t startcode;
	uint64_t forks;      /* the host's, when its threads were listed last */
	unsigned n_children; /* known ones that it ever had */
	bool orphan;         /* its parent has ended: ask for the new one */
	bool fresh;          /* found in this read */
	bool active;         /* ran since the last read */
	bool ended;          /* all its threads have; it may wait for its parent yet */
	bool unseen;         /* known by its record only */
	bool newly_gone;
	bool pending;        /* there are rows to tell */
	unsigned n_heirs;    /* proc_exits.c: those that what it waited for may be of */
	struct sw_proc_process *heirs, *next_heir;
};

/* How far the host had come when members were looked for. */
struct sw_proc_look {
	int32_t pid; /* the one given last, or 0 */
	uint64_t forks;
};

struct sw_proc_record {
	struct sw_taskstats_record r;
	unsigned age; /* reads since it came */
	bool taken;
};

struct sw_proc {
	struct sw_cpu_backend backend;
	struct sw_cpu_usage usage;
	struct sw_host *host;
	struct sw_taskstats *taskstats; /* or NULL */
	uint64_t overruns;              /* of its, that are counted */
	char note[1024];
	int procfs_fd;
	bool tree;         /* the target is pids */
	bool follows;      /* and what descends from them */
	bool clocks;       /* procfs numbers processes as the caller does */
	bool no_schedstat;
	bool no_children;  /* files that list them */
	int16_t *domain_of;
	unsigned n_cpus, n_domains;
	unsigned fds_left; /* that may be kept */
	struct sw_proc_process *living; /* or waiting for their parents */
	struct sw_proc_process *gone;   /* told or not, for a read longer */
	struct sw_proc_thread *threads; /* by tid */
	struct sw_proc_thread *dead;    /* of living processes, told: freed at the next read */
	struct sw_proc_record *records;
	size_t n_records, records_capacity;
	size_t n_early;        /* of them: came before this read began to look */
	size_t n_of_threads;   /* of them: of threads that lead no process */
	uint32_t *free_keys;
	uint32_t n_free_keys, n_keys; /* given back; ever given */
	struct sw_cpu_row *rows;
	size_t rows_capacity;
	uint64_t *watched_ns, *room_ns; /* by domain */
	struct sw_proc_look look[2]; /* the last, and the one before, where there are many threads */
	uint64_t forks;        /* the host's, when all of /proc was looked through last */
	int64_t unseen, last_unseen; /* forks less the tasks that were found, since the first boundary */
	bool some_unseen;      /* on the host since the last read, or it does not count forks */
	uint64_t began_ns;     /* CLOCK_BOOTTIME of the first boundary */
	uint64_t t_ns, last_t_ns;
	uint64_t sampled_ns, passed_ns; /* when all was read last, CLOCK_MONOTONIC; since the time before */
	bool announced, begun;
	char *text; /* room for a file */
};

enum { SW_PROC_TEXT_SIZE = 65536 };

/* --- proc_read.c */

/* Read and parse the stat of a process (tid 0) or of its thread. 0, or -errno; -ESRCH: it is gone. */
int sw_proc_read_stat(struct sw_proc *b, int32_t pid, int32_t tid, struct sw_proc_stat *ret);

/* What a living process and its threads had since the last read, and whether they are gone. 0 or -ENOMEM. */
int sw_proc_sample(struct sw_proc *b, struct sw_proc_process *p);

void sw_proc_give(struct sw_proc_thread *t, uint64_t ns);

/* --- proc_tree.c */

struct sw_proc_process *sw_proc_find(struct sw_proc_process *table, int32_t pid);

/* Make one that is in no table yet, or a thread of one (in its list, and in the table unless it is gone). NULL: -ENOMEM. */
struct sw_proc_process *sw_proc_make(int32_t pid);
struct sw_proc_thread *sw_proc_make_thread(struct sw_proc *b, struct sw_proc_process *p, int32_t tid, bool gone);
void sw_proc_thread_gone(struct sw_proc *b, struct sw_proc_thread *t);
void sw_proc_free_process(struct sw_proc *b, struct sw_proc_process *p);

/* A process that is there now, if it is: in `living` with all it has had, or *ret NULL. 0 or -ENOMEM. */
int sw_proc_meet(struct sw_proc *b, int32_t pid, struct sw_proc_process **ret);

/* What a stat line tells of a thread. */
void sw_proc_describe(struct sw_proc *b, struct sw_proc_thread *t, const struct sw_proc_stat *s);

/* --- proc_look.c */

/* Find members that are new, and read them; likewise a process's threads. 0 or -ENOMEM. */
int sw_proc_look(struct sw_proc *b);
int sw_proc_look_for_threads(struct sw_proc *b, struct sw_proc_process *p);

/* --- proc_records.c */

/* Take what records have come, behind those that there are. 0 or -errno. */
int sw_proc_take_records(struct sw_proc *b);
/* The record of a thread that has ended, taken; NULL: none came. */
struct sw_proc_record *sw_proc_record_of(struct sw_proc *b, const struct sw_proc_thread *t);
/* Those that were taken, and those that nobody took for some reads. */
void sw_proc_drop_records(struct sw_proc *b);

/* --- proc_exits.c */

/* All threads of a process have ended; `gone`: its parent has waited for it. */
void sw_proc_end(struct sw_proc *b, struct sw_proc_process *p, bool gone);
/* Threads of a process that came and went, by their records: of *left_ns, which is less then. 0 or -ENOMEM. */
int sw_proc_unseen_threads(struct sw_proc *b, struct sw_proc_process *p, uint64_t *left_ns);
/* What ended unseen: by records, and by what parents waited for. 0 or -ENOMEM. */
int sw_proc_reckon(struct sw_proc *b);

/* --- proc_rows.c */

/* The first boundary: what was before counts for nothing. */
void sw_proc_rebase(struct sw_proc *b);
/* Rows as far as there is room for their time, and the host's part. 0 or -ENOMEM. */
int sw_proc_emit(struct sw_proc *b);

#endif

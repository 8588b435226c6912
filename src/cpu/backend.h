/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a source of CPU time is and does: it returns cumulative numbers as they stood at a boundary. It never subtracts
 * two windows, never prints, and knows nothing of energy but the table CPU → domain.
 */
#ifndef SW_CPU_BACKEND_H
#define SW_CPU_BACKEND_H

#include "../base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Who a task is. Identity is (start, tgid, tid); the rest describes it. Owned by the back end. Start times are in the
 * caller's time namespace. Ids are the initial pid namespace's; `here` has them as the caller's numbers them, 0 where
 * that one does not see the task.
 */
struct sw_task {
	uint64_t start_boottime_ns;
	uint64_t leader_start_boottime_ns; /* of its process */
	int32_t tgid;
	int32_t tid;
	int32_t ppid; /* when it was forked, or first seen */
	struct {
		int32_t tgid;
		int32_t tid;
		int32_t ppid;
	} here;
	int32_t exit_code; /* wait status of its process, in a row that died with process_ended */
	bool exit_known;
	bool kernel_thread;
	bool process_ended; /* in a row that died: it was the last thread of its process */
	uint32_t execs;     /* moves when it execs */
	char comm[16];
	char process_comm[16]; /* its leader's */
};

/* A task's time in one domain and one cgroup, since the back end first saw it there. */
struct sw_cpu_row {
	uint32_t key; /* small and dense; the same from `first` to `last`, then free for another, within a read too: rows
		       * are to be taken in the order given */
	bool first;   /* the key is new: what it stood for before is over */
	bool last;    /* no more time will come under this key */
	bool died;    /* with `last`: because the task ended (else its identity or place changed) */
	bool described; /* the back end has asked the kernel anew what describes the task: newer than in older rows */
	uint16_t domain;
	uint64_t cgroup_id; /* of cgroup v2 */
	uint64_t oncpu_ns;  /* cumulative */
	const struct sw_task *task; /* valid until the next read; NULL: of the target, but tasks cannot be told apart */
};

/* Cumulative since the start, by domain. */
struct sw_cpu_domain {
	uint64_t span_ns; /* CPUs × time since the first boundary: what tasks, idle, lost and offline add up to */
	uint64_t idle_ns;
	uint64_t other_ns;
	uint64_t lost_slots_ns;
	uint64_t lost_missed_ns;
	uint64_t lost_other_ns;
	uint64_t offline_ns;
};

/* What a back end says of a boundary. */
struct sw_cpu_usage {
	uint64_t t_ns; /* the boundary, in the back end's clock */
	struct sw_cpu_row *rows;
	size_t n_rows; /* only what was active since the last boundary */
	struct sw_cpu_domain *domains;
	uint64_t members_lost;  /* tasks of the target that could not be marked, or that may have come and gone unseen; what
				 * is known of them, of which there may be more; cumulative */
	uint64_t late;          /* times a CPU saw a boundary too late, cumulative */
	int64_t recursion_misses; /* or INT64_MIN */
	bool unverified;        /* what each CPU really runs could not be checked */
	bool busy_raised;       /* the host's busy time was told too coarsely, and is what the tasks had, since the last read */
	int64_t shared_with;    /* processes whose time cannot be told from the target's; INT64_MIN: does not apply */
	uint64_t exits;         /* tasks that ended between two reads, of whose time only their end told; cumulative */
	uint64_t exits_ns;      /* that time, and what parents are known to have waited for beyond what others were given */
	/* Cumulative, or INT64_MIN where it is not known. */
	int64_t shared_ns; /* what those of shared_with had, as far as the kernel tells */
	int64_t irq_ns;    /* interrupts and softirqs, of the whole host, which a kernel may leave out of tasks' time */
	int64_t steal_ns;  /* taken by a hypervisor, likewise */
	uint32_t slots_used;    /* of the table in the kernel, where there is one */
	bool ended;             /* pids: none of the target's tasks is alive */
};

struct sw_cgroupfs;

struct sw_cpu_config {
	const int16_t *domain_of; /* by possible CPU */
	unsigned n_cpus;          /* possible */
	unsigned n_domains;
	const int32_t *pids; /* roots of trees, as the caller's pid namespace numbers them; n_pids 0: the whole host */
	size_t n_pids;
	bool process_scope; /* the pids' own threads only */
	const struct sw_cgroupfs *cgroupfs; /* cgroup v2, or NULL where there is none; outlives the back end */
	const char *cgroup; /* the target's path below that, or NULL: pids, or the whole host */
	bool own_cgroup; /* pids: a back end that accounts cgroups is to put them into one of their own */
	bool any;       /* others will be tried: refuse what another back end does better */
	bool needs_tasks;   /* rows by task were asked for */
	bool needs_cgroups; /* rows by cgroup were asked for */
	uint32_t slots; /* 0: by threads alive */
	uint32_t hook;  /* enum sw_hook; 0: first that attaches */
	int procfs_fd;
	/* For tests. */
	uint32_t drop_every; /* the program takes no notice of one switch in so many; 0: of all */
	void (*at_task)(int32_t tid, void *ctx); /* called in the midst of the scan, after each task that it has looked at */
	void *at_task_ctx;
	const int *taskstats_fd; /* records of tasks that end come from there; -1: as if the kernel had refused them */
};

/* What a back end knows of a cgroup, as it stood when a task was first seen in it. */
struct sw_cgroup_info {
	uint64_t id;
	uint64_t parent_id; /* 0: it is the root */
	const char *name;   /* "" for the root; lives until the next read */
};

struct sw_cpu_backend;

struct sw_cpu_ops {
	const char *name;    /* "ebpf" */
	const char *quality; /* "exact" or "coarse" */
	int (*open)(const struct sw_cpu_config *config, struct sw_error *error, struct sw_cpu_backend **ret);
	bool tells_tasks;   /* rows are of tasks: of processes and threads */
	bool tells_cgroups; /* rows have a cgroup */
	/* Announce the boundary that ends the current window, at `at_ns` of the caller's CLOCK_MONOTONIC, 1 ms ahead or
	 * more; the same moment in the back end's clock in *ret_t_ns. One that was announced and not read yet is drawn
	 * nearer, or stays: what it is then, in the caller's clock, in *ret_wake_ns. */
	int (*announce)(struct sw_cpu_backend *b, uint64_t at_ns, uint64_t *ret_t_ns, uint64_t *ret_wake_ns);
	/* Read what stood at the announced boundary, which has passed. *ret lives until the next call. */
	int (*read)(struct sw_cpu_backend *b, struct sw_error *error, const struct sw_cpu_usage **ret);
	/*
	 * Between boundaries, `tend_ns` after the last boundary or call, give or take a quarter (0: there is no need):
	 * lets the back end make room for new tasks. Takes about 1 ms; the announced boundary stays. NULL: not needed.
	 */
	int (*tend)(struct sw_cpu_backend *b, struct sw_error *error);
	/* The cgroups that came up since the last call: *ret lives until the next read. NULL: the back end knows none. */
	size_t (*new_cgroups)(struct sw_cpu_backend *b, const struct sw_cgroup_info **ret);
	/* Is any task of a target of pids alive? Cheap; exact only in `ended` of a read. NULL: it cannot tell. */
	bool (*alive)(struct sw_cpu_backend *b);
	/*
	 * Do once what reading a boundary may have the kernel do on behalf of this process, so that a process with fewer
	 * privileges finds out whether they suffice; no account changes, so that a child of fork(2) may do it too. NULL:
	 * files that are open, and are read, are all it takes.
	 */
	int (*check)(struct sw_cpu_backend *b, struct sw_error *error);
	/*
	 * How often the program on context switches has run, and how long that took, as far as the kernel has kept it.
	 * `keep`: have it kept from here on, or no longer. 0, -ENODATA (it keeps nothing) or -errno. NULL: there is none.
	 */
	int (*keep_cost)(struct sw_cpu_backend *b, bool keep);
	int (*cost)(struct sw_cpu_backend *b, uint64_t *runs, uint64_t *run_ns);
	/* Remove the cgroup that was made for the target: 0 (there is none any more), or -EBUSY with words: who lives on in
	 * it. `close` tries too, and has no words. NULL: none is ever made. */
	int (*remove_own)(struct sw_cpu_backend *b, struct sw_error *error);
	void (*close)(struct sw_cpu_backend *b); /* NULL is fine */
};

/* The head of every back end's own structure; set by open, then constant. */
struct sw_cpu_backend {
	const struct sw_cpu_ops *ops;
	const char *hook;  /* how it is attached, or NULL */
	const char *own_cgroup; /* absolute path of the cgroup that was made for the target, or NULL */
	uint32_t max_keys; /* keys are below this */
	uint32_t slots;    /* of a table in the kernel, or 0 */
	uint64_t memory_bytes; /* of all tables there, or 0 */
	unsigned cpus;     /* whose time it accounts: those present */
	uint64_t tend_ns;  /* see ops->tend */
	const char *note;  /* what to know of its numbers, in a sentence, or NULL */
	const char *without; /* what this kernel refused and it does without, in a sentence, or NULL */
};

extern const struct sw_cpu_ops sw_cpu_ebpf;
extern const struct sw_cpu_ops sw_cpu_cgroup_v2;
extern const struct sw_cpu_ops sw_cpu_cgroup_v1;
extern const struct sw_cpu_ops sw_cpu_proc;
extern const struct sw_cpu_ops sw_cpu_percent;

/* How many CPUs the running kernel could ever have: the size of per-CPU tables. Or -errno, with the reason. */
int sw_cpu_possible(struct sw_error *error);

/* Does the kernel charge the tables of ebpf to RLIMIT_MEMLOCK? 1, 0; only one that lets this process load BPF knows. */
int sw_cpu_charges_memlock(void);

/*
 * Open by name: "auto" (or NULL) takes the first that opens; each that refuses is told to `refused` with its reason.
 * 0, -EINVAL (unknown name), or the error of the one named, or of the last tried.
 */
int sw_cpu_open(const char *name, const struct sw_cpu_config *config,
		void (*refused)(const char *name, const char *reason, void *ctx), void *ctx, struct sw_error *error,
		struct sw_cpu_backend **ret);

#endif

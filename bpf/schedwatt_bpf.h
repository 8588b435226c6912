/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the program in the kernel and its loader share: plain data in mapped arrays, nothing else.
 * Included by the program, by its one loader and by the unit test of the rule, each after its own integer types
 * (__u64 and the like).
 */
#ifndef SCHEDWATT_BPF_H
#define SCHEDWATT_BPF_H

/*
 * Where a stretch of a CPU's time goes: one of its own buckets, or (from SWB_FIRST_SLOT on) a slot by number. So the
 * first slots of the table are never used.
 */
enum {
	SWB_IDLE,
	SWB_OTHER,        /* tree mode: tasks outside */
	SWB_LOST_MISSED,  /* a switch went unseen */
	SWB_LOST_SLOTS,   /* no slot was free */
	SWB_BUCKETS,
	SWB_FIRST_SLOT = 8,
	SWB_WAYS = 8, /* places in the table where a task's slots may lie */
};

/* swb_slot.dead */
enum {
	SWB_ALIVE,
	SWB_DIED,    /* the task's last switch-out was seen */
	SWB_REKEYED, /* its identity changed (exec by a thread), or its death went unseen */
};

/* A task in one domain and one cgroup. All that a switch touches, in one cache line: many tasks need few pages. */
struct swb_slot {
	__u64 task;      /* address of its task_struct; 0: no task finds it any more */
	__u64 css;       /* address of its css_set, whose comparison is cheaper than reading the cgroup's id; 0: unknown */
	__u64 acc_ns;    /* on-CPU time since the slot was claimed */
	__u64 at_ns;     /* acc_ns when epoch `epoch` began */
	__u64 cgroup_id; /* cgroup v2 */
	__u32 epoch;     /* the last one it was active in, and on whose list it is; 0: none yet */
	__u32 next[2];   /* links of the active lists, by parity of the epoch */
	__u32 tid;
	__u16 domain;
	__u8 dead;
	__u8 names;      /* moves when the cold part was written anew */
	__u32 claim;     /* 1: taken. User space sets it back to 0 */
};

/* The same number in the cold array: what describes the task, written at birth, exec and death. */
struct swb_cold {
	__u64 start_boottime_ns;
	__u64 leader_start_boottime_ns;
	__u32 tgid;
	__u32 ppid; /* when the slot was made: at death a parent may be gone */
	__u32 exit_code; /* wait status of its process */
	__u32 flags; /* PF_* of the kernel's sched.h */
	char comm[16];
	char leader_comm[16];
	__u32 live; /* threads of its process that lived when this was written, at death the others */
	__u32 exit_known; /* exit_code and live are of its end */
	__u32 execs; /* how many were seen */
	/* the ids again as the pid namespace numbers them that user space lives in; 0: it does not see them */
	__u32 tgid_here;
	__u32 tid_here;
	__u32 ppid_here;
	__u32 reserved[10];
};

#define SWB_GROUP_NAME_MAX 256 /* NAME_MAX of a file, and its end */

/* swb_group.state */
enum {
	SWB_GROUP_FREE,
	SWB_GROUP_READY,
	SWB_GROUP_TAKEN, /* user space has read it */
};

/* A cgroup (v2), noted when a task was first seen in it, with all above it. User space frees them. */
struct swb_group {
	__u64 id;
	__u64 parent_id; /* 0: it is the root */
	__u32 claim;
	__u32 state;
	char name[SWB_GROUP_NAME_MAX];
};

/*
 * What a CPU notes of the stretch in which a boundary fell, by parity of the epoch that the boundary ended. User space
 * may have given that stretch away already, as far as the boundary, by its own reckoning: this is where it really went.
 */
struct swb_crossing {
	__u64 origin_ns; /* where the stretch began */
	__u64 from_ns;   /* behind it when a switch was missed: [origin, from) went to `before`, what follows to `where` */
	__u64 base_ns;   /* what `where` held at from_ns */
	__u64 bucket_ns[SWB_BUCKETS]; /* the CPU's buckets at from_ns */
	__u64 late_ns;   /* boundary seen too late by this much: the values hold that much later */
	__u32 where;
	__u32 before;
	__u64 pad[7];
};

struct swb_cpu {
	/* line 0: every switch */
	__u64 seq;      /* odd from before the clock is read until after the last store */
	__u64 since_ns; /* accounted up to here */
	__u64 running;  /* the expected next prev: its task_struct, or SWB_TID(tid) where the event has no pointer; 0: the
			 * CPU has not begun */
	__u64 limit_ns; /* a switch at or behind it crosses a boundary; ~0: the announced one is behind us */
	__u64 T;        /* the boundary last seen announced */
	__u64 idle_task;
	__u64 switches; /* the run queue's own count at an event, less seq / 2: what differs from it went unseen */
	__u32 epoch;
	__u16 domain;
	__u8 outside;   /* tree mode: only tasks outside since since_ns, perhaps several */
	__u8 renote;    /* the last crossing was noted before all of its stretch was known */
	/* line 1 */
	__u64 bucket_ns[SWB_BUCKETS];
	__u64 origin_ns; /* see swb_crossing; 0: since_ns */
	__u32 head[2];   /* active lists, by parity of the epoch */
	__u64 missed;    /* times prev was not the expected task */
	__u64 full;      /* times no slot was free */
	/* lines 2 to 5 */
	struct swb_crossing crossing[2];
	/* line 6: seldom */
	__u64 began_ns;
	__u64 rq;           /* the kernel's run queue of this CPU; 0: unknown */
	__u64 scratch;      /* a pointer that went through memory is a plain number to the verifier */
	__u64 before;       /* see swb_crossing, where origin_ns is not 0 */
	__u64 late;         /* boundaries seen too late */
	__u64 unlisted;     /* slots that died outside a switch: they may be on no list */
	__u64 members_lost; /* children of the tree that could not be marked */
	__u64 hook_scratch; /* `scratch` of the hooks */
	/* line 7: written by peek() and snap() only */
	__u64 seen_task;   /* what the kernel says it runs */
	__u64 seen_css;
	__u64 left_css;    /* of the expected task, where that is another */
	__u64 left_ran_ns; /* how long it ran before it was switched out unseen; 0: that cannot be known */
	__u32 seen_tid;
	__u32 left_tid;
	__u64 seen_seq;    /* seq before it looked */
	__u64 seen_unseen; /* switches since the last event */
	__u64 snaps;       /* times that user space had to ask this CPU */
};

/* One word names the epoch that CPUs are in: T is stored last, after the pair that tells T's number. */
struct swb_global {
	/* line 0: read at every switch, so that nothing may lie in it that is often written */
	__u64 T;
	struct {
		__u64 T;
		__u64 epoch;
	} boundary[2];
	__u64 open; /* CPUs that come may begin by themselves */
	__u64 pad[2];
	/* line 1 */
	__u64 now_ns;     /* the program's clock, as peek() last read it */
	__u64 held;       /* slots of members */
	__u64 groups;     /* cgroups noted, cumulative */
	__u64 scanning;   /* user space looks for the members of the tree */
	__u64 added;      /* tasks that the scan marked, cumulative */
	__u64 remembered; /* children whose parent went before the scan came to them, cumulative */
	__u64 pad1[2];
	/* line 2: who user space is, as self() found it */
	__u64 pid_ns;       /* address of its pid namespace; 0: not known */
	__u64 pid_ns_level; /* 0: the initial one */
	__s64 monotonic_ahead_ns; /* its CLOCK_MONOTONIC less the program's */
	__s64 boottime_ahead_ns;
	__u64 pad2[4];
};

#define SWB_ASK_MAX 256
#define SWB_ASK_BURY (1U << 31)
#define SWB_ASK_OTHER (~0U)

/*
 * Which slots ask() is to look at: with SWB_ASK_BURY, those whose task was found to be another one a while ago are given
 * up. What it finds to be so becomes SWB_ASK_OTHER.
 */
struct swb_asked {
	__u32 n;
	__u32 slot[SWB_ASK_MAX];
};

/* swb_cpu.running in the flavour whose event carries no pointers. No address has this bit alone with a small number. */
#define SWB_TID(tid) (1ULL << 63 | (__u32)(tid))

/* For account.h and who answers it: what is known of the expected task of a switch that went unseen. */
struct swa_left {
	__u64 css;
	__u64 ran_ns; /* how long its run lasted, SWA_UNKNOWN_END; 0: not even that it was this run */
	__u32 tid;
};

/* When a task is described. */
enum swa_moment {
	SWA_BIRTH,
	SWA_RAN, /* at the end of the first window it ran in: now it bears a name of its own */
	SWA_EXEC,
	SWA_DEATH,
};

#define SWA_UNKNOWN_END (~0ULL)

#define swa_barrier() __asm__ volatile("" ::: "memory")
#define swa_once(x) (*(volatile __typeof__(x) *)&(x))

_Static_assert(sizeof(struct swb_slot) == 64, "a slot is one cache line");
_Static_assert(sizeof(struct swb_cold) == 128, "layout of the cold part");
_Static_assert(sizeof(struct swb_global) == 192, "three lines");
_Static_assert(sizeof(struct swb_crossing) == 128, "two cache lines");
_Static_assert(sizeof(struct swb_cpu) == 512, "a power of two, so that the index is a shift");

#endif

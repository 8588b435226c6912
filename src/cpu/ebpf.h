/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of the ebpf back end: what its loader (ebpf.c) and its reader (ebpf_read.c) share. Nobody else includes it,
 * but for the tests that look at the reader's own check.
 */
#ifndef SW_CPU_EBPF_H
#define SW_CPU_EBPF_H

#include <linux/types.h>

#include "backend.h"
#include "schedwatt_bpf.h"

#define once(x) (*(const volatile __typeof__(x) *)&(x))
#define read_barrier() __atomic_thread_fence(__ATOMIC_ACQUIRE)

enum { SW_EBPF_GROUPS = 4096 }; /* cgroups that can come up between two reads; a power of two */

/* Places in sw_ebpf.links; one that the scan needs only. */
enum { SW_LINK_SCAN = 3, SW_LINKS };

/* One more place for a CPU's time, beside swb's buckets: the CPU was off. Only user space knows of it. */
enum { SW_OFFLINE = SWB_BUCKETS };

/* What we keep of a slot. */
struct sw_slot_state {
	int64_t shift_ns;     /* to add to the slot's value: time that was reported here or there and went elsewhere */
	uint64_t reported_ns; /* at the last boundary */
	uint64_t acc_ns;      /* as first seen in this pass */
	uint64_t value_ns;    /* at the boundary, without shift_ns */
	uint64_t running_ns;  /* of a stretch that has not ended, up to the boundary */
	uint64_t left_ns;     /* the same, of one that it left unseen: it may run elsewhere by now */
	uint64_t other_ns;    /* boundary at which somebody else was found where its task had been; 0: it is there */
	uint32_t pass;        /* last one it was collected in */
	uint8_t known;        /* `task` was filled for who has the slot */
	uint8_t told;         /* handed out before */
	uint8_t touched;      /* active at a boundary of our own since rows were last handed out */
	uint8_t kept;         /* some of its time is held back at a late boundary */
	uint8_t listed;       /* in sw_ebpf.touched, for its task or for one that had the slot before */
	uint8_t described;    /* `task` was filled anew since then */
	uint8_t names;        /* swb_slot.names when `task` was filled */
	struct sw_task task;
};

/* A row of a task that was gone before rows were handed out. */
struct sw_departed {
	struct sw_cpu_row row;
	struct sw_task task;
};

/* A stretch of a CPU's time: [origin, from) goes to `before`, what follows to `where`. */
struct sw_stretch {
	uint64_t origin_ns;
	uint64_t from_ns;
	uint32_t before;
	uint32_t where;
};

/* A CPU's own state, copied whole. */
struct sw_cpu_view {
	struct swb_cpu state;
	bool started;
	bool crossed;
	bool unseen; /* it runs what no event said, and where its time goes cannot be told */
	struct sw_stretch running; /* where it has not crossed */
};

/* A stretch that was open at a boundary, as we gave it away up to there. */
struct sw_open_stretch {
	bool valid;
	uint64_t T;
	uint64_t value_ns; /* what `where` held at T by our reckoning, without shifts */
	uint32_t epoch;
	struct sw_stretch stretch;
};

struct sw_ebpf_cpu {
	bool present;
	bool online; /* as last read */
	struct sw_open_stretch open;
	int64_t shift_ns[SWB_BUCKETS + 1];
	uint64_t reported_ns[SWB_BUCKETS + 1];
	int64_t offline_ns;
	struct sw_cpu_view view;
};

/* Time that was kept back at a late boundary, to be given out at the next. */
struct sw_held {
	uint32_t cpu;
	uint32_t where;
	uint64_t ns;
};

struct schedwatt_bpf;

struct sw_ebpf {
	struct sw_cpu_backend backend;
	struct schedwatt_bpf *bpf;
	struct bpf_link *links[SW_LINKS];
	bool tree;
	bool process_scope;
	bool by_tid;
	bool peeks; /* peek() and the others that read any memory could be loaded */
	char without[320]; /* behind backend.without */
	int switch_fd;
	int snap_fd;
	int peek_fd;
	int ask_fd;
	int stats_fd;  /* while the kernel is to keep what its programs cost; or -1 */
	int online_fd; /* /sys/devices/system/cpu/online of the running kernel */

	struct swb_cpu *cpus;   /* mapped, like the next two */
	struct swb_slot *slots;
	struct swb_cold *cold;
	struct swb_group *groups;
	struct swb_global *global;
	struct swb_asked *asked;
	size_t cpus_size, slots_size, cold_size, groups_size;
	uint32_t n_slots;
	uint32_t n_known; /* of them, as of the last boundary: those of tasks that have run and are alive */
	unsigned n_cpus;
	unsigned n_domains;
	int16_t *domain_of;

	uint32_t epoch;      /* that the announced boundary ends */
	uint64_t T;          /* the announced boundary */
	bool announced;      /* and not read yet */
	uint64_t start_ns;   /* the first boundary; 0: none was read yet */
	int64_t clock_ahead_ns; /* the program's CLOCK_MONOTONIC minus ours: not 0 in a time namespace */
	uint64_t unlisted;   /* as last seen, summed */
	uint64_t groups_seen; /* likewise */
	struct sw_cgroup_info *infos; /* those last handed out, and their names behind them */
	uint64_t missed;     /* unseen switches at the last sweep for tasks that ended unseen */
	uint64_t swept_ns;   /* and when that was */
	bool quiet;          /* nobody was active in the last window */
	uint64_t late;
	uint64_t misses_read_ns;

	struct sw_slot_state *state; /* by slot */
	struct sw_ebpf_cpu *cpu;     /* by CPU */
	uint32_t pass;               /* a collection of all that was active; seldom more than one a boundary */
	uint32_t *active;            /* slots collected in this pass */
	size_t n_active;
	struct sw_held *held;
	size_t n_held, held_capacity;
	struct sw_cpu_row *rows;
	size_t rows_capacity;
	uint32_t *touched; /* slots that are `listed` */
	size_t n_touched, touched_capacity;
	struct sw_departed *departed;
	size_t n_departed, departed_capacity;
	struct sw_cpu_domain *domains;
	struct sw_cpu_usage usage;

	/* The check that does not telescope: our value at T against the CPU's own, where it crossed T later. */
	uint64_t check_compared;
	uint64_t check_differ;
	uint64_t check_missed; /* not comparable: a switch was missed in that stretch */
};

/* ebpf_load.c: load and attach. 0 or -errno with words, and nothing is left. */
int sw_ebpf_load(struct sw_ebpf *b, const struct sw_cpu_config *config, struct sw_error *error);
void sw_ebpf_unload(struct sw_ebpf *b);
/* Attach to the classic event; NULL and errno. */
struct bpf_program;
struct bpf_link *sw_ebpf_attach_classic(struct bpf_program *p);

/* ebpf_view.c: look at what every CPU is at, as of the boundary T, which has passed; at one CPU, once more. */
void sw_ebpf_view(struct sw_ebpf *b);
void sw_ebpf_view_cpu(struct sw_ebpf *b, unsigned cpu);

/* ebpf_tasks.c */

/* Names of those that are active for the first time, by what the kernel says now. */
void sw_ebpf_ask_names(struct sw_ebpf *b);
/* Who the task of a slot is. True: that was copied anew. */
bool sw_ebpf_fill_task(struct sw_ebpf *b, uint32_t n);
/* Look for tasks that ended without a switch that was seen, where there is reason to; they go onto `unlisted`. */
void sw_ebpf_sweep(struct sw_ebpf *b);
size_t sw_ebpf_new_cgroups(struct sw_cpu_backend *b, const struct sw_cgroup_info **ret);

/* ebpf_rows.c: the rows of what is active in this pass; kept back after a boundary of our own, or handed out with those
 * that were kept. 0 or -ENOMEM. */
int sw_ebpf_keep_rows(struct sw_ebpf *b);
int sw_ebpf_emit_rows(struct sw_ebpf *b);

/* ebpf.c: announce a boundary, in the program's clock. One that was not read yet can only be drawn nearer. */
void sw_ebpf_set_boundary(struct sw_ebpf *b, uint64_t T);

/* Read the announced boundary, of which nobody is to be told, and announce T (less a ns) again. 0 or -ENOMEM. */
int sw_ebpf_keep_boundary(struct sw_ebpf *b, uint64_t T);
int sw_ebpf_tend(struct sw_cpu_backend *b, struct sw_error *error);
int sw_ebpf_read(struct sw_cpu_backend *b, struct sw_error *error, const struct sw_cpu_usage **ret);

#endif

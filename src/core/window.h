/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows: the one place where cumulative numbers are subtracted. Takes what a back end and the energy counters say at
 * two boundaries, gives what happened between them.
 */
#ifndef SW_CORE_WINDOW_H
#define SW_CORE_WINDOW_H

#include "../base/error.h"
#include "../cpu/backend.h"
#include "../energy/counter.h"

/* The energy side of a boundary. */
struct sw_energy_point {
	uint64_t begin_ns;   /* CLOCK_MONOTONIC before the first counter was read */
	uint64_t end_ns;     /* and after the last */
	uint64_t asleep_ns;  /* CLOCK_BOOTTIME - CLOCK_MONOTONIC: moves in a suspend */
	uint64_t wake_ns;    /* the boundary itself, in the same clock */
};

/* One zone's cumulative sum at a boundary. */
struct sw_zone_point {
	uint64_t sum_nj;
	uint64_t breaks;
	bool readable;
	int mirror_of; /* index of the zone whose energy it shows again, or -1 */
};

struct sw_process_entry;
struct sw_thread_entry;
struct sw_cgroup_entry;

struct sw_window_row {
	const struct sw_cpu_row *row; /* its identity and place; row->oncpu_ns is cumulative */
	uint64_t oncpu_ns;            /* in this window */
	int64_t nj;                   /* its part of the window's energy, once that is shared out; INT64_MIN: absent */
	/* For who sums the rows up: where they belong, until the next window. */
	bool inside;                  /* the target's; else its time is `other` */
	struct sw_process_entry *process; /* NULL: outside, or tasks cannot be told apart */
	struct sw_thread_entry *thread;   /* or NULL */
	struct sw_cgroup_entry *cgroup;
};

struct sw_window {
	uint64_t t0_ns, t1_ns; /* in the back end's clock */
	struct sw_window_row *rows;
	size_t n_rows;
	struct sw_cpu_domain *domains; /* in this window */
	int64_t *zone_nj;              /* INT64_MIN: absent */
	const int *mirror_of;          /* by zone, or -1 */
	bool late, slept;
	uint64_t members_lost, exits, exits_ns;
	int64_t shared_ns, irq_ns, steal_ns; /* INT64_MIN: not known */
	uint64_t read_late_ns, read_bracket_ns; /* of both its boundaries */
	uint64_t read_ns; /* from one reading of the energy to the other: that is when it was used */
};

/* By how much the reads of a boundary's energy missed it: they began late, and took their time. */
static inline uint64_t sw_energy_late_ns(const struct sw_energy_point *p)
{
	return p->begin_ns > p->wake_ns ? p->begin_ns - p->wake_ns : 0;
}

static inline uint64_t sw_energy_blur_ns(const struct sw_energy_point *p)
{
	return sw_energy_late_ns(p) + (p->end_ns - p->begin_ns);
}

struct sw_windows {
	unsigned n_domains;
	size_t n_zones;
	uint32_t n_keys;
	bool started;
	uint64_t *last_ns; /* by key */
	struct sw_cpu_domain *last_domains;
	struct sw_zone_point *last_zones;
	uint64_t last_t_ns, last_late, last_members_lost, last_exits, last_exits_ns;
	int64_t last_shared_ns, last_irq_ns, last_steal_ns;
	struct sw_energy_point last_point;
	size_t rows_capacity;
	int *mirror_of;
	struct sw_window window;
};

/* 0 or -ENOMEM. */
int sw_windows_init(struct sw_windows *w, uint32_t n_keys, unsigned n_domains, size_t n_zones);
void sw_windows_free(struct sw_windows *w);

/*
 * Take in a boundary. 1: *ret is the window that it ends, until the next call; 0: it was the first; -ENOMEM.
 * Numbers of a back end that fall are its error: -EBADMSG, and the key is named.
 */
int sw_windows_add(struct sw_windows *w, const struct sw_cpu_usage *usage, const struct sw_zone_point *zones,
		   const struct sw_energy_point *point, struct sw_error *error, const struct sw_window **ret);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ledger behind a page of metrics: what each group, idle time and the zones have had since it was opened. Windows
 * go in, totals come out, and every total that is exposed only rises.
 *
 * A group has a series of its own, or its energy and CPU time go to `other` while it has none. There are at most
 * max_series. While there is room each group gets one. When there is none, the largest without takes that of the
 * smallest, if it had over twice as much of late and the other has held it for `hold_ns`. What a group had of late is
 * the most CPU time of any window, halved for each `hold_ns` since, so that series do not change hands back and forth;
 * CPU time stands for energy here, which windows may lack. Of one without a series only windows without a gap count.
 *
 * A series leaves when another takes its place, or `stay_ns` after its group last ran, if the group is there no more.
 * What it had is then added to `departed`, once, in one step: this keeps the sums true, but is no use of energy at that
 * moment, so rates are for all groups but this one. A group that comes back begins anew, from 0.
 *
 * After each window, for each quality of energy apart, in nJ:
 *   groups + other + departed + idle + unattributed = zones that count
 * A window without energy adds CPU time only. Memory is bounded by max_series and what runs in one window.
 */
#ifndef SW_CLI_GROUPS_H
#define SW_CLI_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uthash.h>

#include "buf.h"
#include "metrics.h"
#include "schedwatt.h"

enum groups_by {
	GROUPS_BY_CGROUP = 0,  /* container, else Slurm step, else systemd unit, else cgroup; SW_BY_CGROUP */
	GROUPS_BY_COMM = 1,    /* SW_BY_COMM */
	GROUPS_BY_PROCESS = 2, /* kernel threads are one group; SW_BY_PROCESS */
};

enum energy_quality {
	ENERGY_MEASURED = 0,
	ENERGY_MODELLED = 1,
	ENERGY_QUALITIES = 2,
};

/* Joules of either quality. What is not known has no series. */
struct energy_total {
	metrics_total nj[ENERGY_QUALITIES];
	bool known[ENERGY_QUALITIES];
};

/* A group. Its labels are its identity: two things that would look the same are one group. */
struct group {
	struct buf labels; /* escaped, `group` first, as metrics_label() makes them */
	char *cgroup;      /* the shortest path of those it was seen in, or NULL */
	int32_t pid;       /* by process: its id, else 0 */
	struct energy_total energy;
	metrics_total cpu_ns;

	/* the ledger's own */
	bool own;            /* it has a series */
	uint64_t since_ns;   /* when it got that */
	uint64_t active_ns;  /* end of the last window in which it ran, or in which it was found to be there still */
	uint64_t recent_ns;  /* CPU time a second in its greatest window */
	uint64_t recent_at_ns; /* when that was */
	uint64_t window_ns;  /* CPU time in the window that is being added */
	int64_t window_nj;
	bool seen;           /* in that window */
	bool ended;          /* by process: it has exited, then */
	UT_hash_handle hh;
};

enum zone_kind {
	ZONE_COUNTED = 0, /* package or dram */
	ZONE_SUBZONE = 1, /* inside a package: core, uncore; not one that is of one core only */
};

struct zone_total {
	struct buf labels; /* zone, package: its identity */
	enum zone_kind kind;
	struct energy_total energy;
};

struct groups_options {
	enum groups_by by;
	size_t max_series; /* `other` and `departed` apart; 0: 1000 */
	uint64_t stay_ns;  /* 0: 300 s */
	uint64_t hold_ns;  /* 0: 60 s */
	/*
	 * Is the group there, although it has not run for `stay_ns`? By its cgroup or pid. Asked once in `stay_ns`.
	 * NULL: no group is.
	 */
	bool (*is_there)(void *ctx, const struct group *g);
	void *ctx;
};

struct groups_path;  /* labels of a cgroup's path, worked out once */
struct group_holder;

/* To be read by anyone while nobody adds to it, and written by nobody else. */
struct groups {
	struct groups_options options;
	struct group *table; /* uthash, by labels: those with `own`, and those of the last window without */
	size_t n_own;
	struct group other;
	struct group departed;
	struct energy_total idle;
	struct energy_total unattributed;
	struct energy_total platform;
	struct zone_total *zones;
	size_t n_zones;
	uint64_t windows;
	uint64_t windows_without_energy; /* though there is a source */
	uint64_t windows_flagged[SW_FLAGS];
	metrics_total lost_by_kind_ns[SW_LOST_KINDS];
	bool recursion_known;
	uint64_t recursion_misses;
	uint64_t departures;   /* series that left */
	uint64_t without_own;  /* groups of the last window that have no series */
	uint64_t last_ns;      /* end of the last window */
	int64_t last_utc_ns;
	bool last_has_energy;

	/* the ledger's own */
	int64_t last_misses; /* the monitor's count */
	struct groups_path *paths; /* uthash */
	struct group **newcomers; /* room for as many as there are groups, to sort them; likewise: */
	struct group_holder *holders;
	size_t sorted_max;
};

int groups_open(const struct groups_options *options, struct groups **ret);

/* NULL is fine. */
void groups_close(struct groups *g);

/* sw_options.by that a grouping needs. */
uint32_t groups_rows(enum groups_by by);

/* A monitor was opened anew: what it counts since it was opened starts at 0 again. */
void groups_new_monitor(struct groups *g);

/*
 * Add a window of a monitor of the whole host. What its rows leave of the whole goes to `other`. 0; -ENOMEM, or
 * -EPROTO when its parts do not add up: then nothing was added.
 */
int groups_add(struct groups *g, const struct sw_header *header, const struct sw_report *report);

/* "measured" or "modelled". */
const char *groups_quality_name(enum energy_quality quality);

#endif

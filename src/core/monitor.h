/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The monitor object as its own files see it: open.c makes it, monitor.c beats the windows, wake.c says when;
 * rows.c, sharing.c, report.c and summary.c make of a window what callers get; runner.c is the thread that steps it, if
 * there is one, and collect.c keeps rows.
 */
#ifndef SW_CORE_MONITOR_H
#define SW_CORE_MONITOR_H

#include "../../include/schedwatt.h"
#include "../counters/columns.h"
#include "../cpu/backend.h"
#include "attribution.h"
#include "cgroups.h"
#include "header.h"
#include "meter.h"
#include "processes.h"
#include "row_maker.h"
#include "runner.h"
#include "steal.h"
#include "target.h"
#include "threads.h"
#include "window.h"

/* Zones that cover the same domains: their energy together goes to who ran there. */
struct sw_pot {
	uint32_t domains; /* by bit; never 0 */
	bool has_package; /* so that the baseline is to be taken from it */
	int64_t nj;
	int64_t baseline_nj;
};

struct sw_totals {
	struct sw_summary s; /* but for rows */
	bool has_energy;     /* of any window */
	double proc_variance; /* of proc_nj */
	uint64_t read_ns;    /* between the readings of the windows that had energy */
	uint64_t last_blur_ns;
};

struct sw_monitor {
	struct sw_options options; /* strings and arrays: the monitor's own */
	struct sw_error error;
	int procfs_fd;
	struct sw_cgroupfs cgroupfs;
	struct sw_target_pids target;
	struct sw_topology topology;
	struct sw_cpu_backend *backend;
	struct sw_meter meter;
	struct sw_steal steal;
	struct sw_windows windows;
	struct sw_header_store header;

	/* monitor.c */
	struct sw_busy *busy;                /* by domain */
	struct sw_cpu_domain *first_domains; /* as they stood at the first boundary */
	bool finished;                       /* of another's: it failed */
	uint64_t t_ns;       /* the announced boundary, in the back end's clock */
	uint64_t wake_ns;    /* the same in ours */
	uint64_t ended_ns;   /* the last boundary that was read, in ours */
	int64_t wake_utc_ns; /* and on CLOCK_REALTIME */
	uint64_t first_blur_ns;
	int64_t recursion_misses;
	bool unverified, busy_raised;
	int64_t shared_with;
	uint32_t slots_used;
	bool ended;          /* none of the target's tasks was alive at the last boundary */
	uint32_t pids_alive; /* there, of the target's own processes */

	/* others.c */
	struct sw_monitor **others;
	size_t n_others;
	bool follows; /* it is another's */
	const struct sw_cpu_usage *usage; /* of another's: as last read; NULL: it failed */
	const struct sw_report *reported; /* the last window; NULL: none yet */

	/* wake.c */
	int epoll_fd; /* of the timer and the target's processes */
	int timer_fd;
	uint64_t tended_ns;     /* when the back end was last read or tended */
	uint64_t look_ns;       /* when to look next whether the target has ended; 0: not now */
	uint64_t look_pause_ns; /* from the look before to that one */
	bool drawn;             /* the boundary was drawn near because the target had ended */

	/* rows.c */
	struct sw_processes processes;
	struct sw_threads threads; /* if asked for */
	struct sw_cgroups cgroups;
	struct sw_cgroup_entry **cgroup_of; /* by the back end's keys */

	/* report.c, sharing.c, summary.c */
	struct sw_report report;
	struct sw_summary summary;
	struct sw_totals totals;
	struct sw_share *shares;
	size_t shares_capacity;
	struct sw_domain *domains;
	struct sw_pot *pots; /* room for one a zone */
	size_t n_pots;
	uint64_t *baseline_uw; /* by domain, or NULL */

	/* runner.c, collect.c */
	struct sw_runner runner;
	struct sw_query process_query, thread_query;
	struct sw_row_maker *row_maker; /* what makes the rows that are collected; NULL: it follows another's */
};

/* A zeroed monitor holds nothing open. */
void sw_monitor_init(struct sw_monitor *m);

/*
 * The rest of opening, once the options, the target, the topology, the source and the cgroups are there. The tree of
 * cgroups outlives the monitor. 0 or -errno, with words.
 */
int sw_open_backend(struct sw_monitor *m, const struct sw_cgroupfs *cgroupfs);

/* What reports say of a boundary beside its rows. */
void sw_monitor_take_usage(struct sw_monitor *m, const struct sw_cpu_usage *usage);

/* The target, the source and the back end are open; what follows needs them. 0 or -ENOMEM. */
int sw_report_init(struct sw_monitor *m, uint32_t n_keys);
void sw_report_free(struct sw_monitor *m);

/* Rows of the first boundary: who is there, with no time yet. */
int sw_report_baseline(struct sw_monitor *m, const struct sw_window *window);

/* Share a window's energy out, sum its rows up, add it to the totals. 0 or -ENOMEM. */
int sw_report_make(struct sw_monitor *m, const struct sw_window *window, const struct sw_report **ret);

/*
 * Watts × the time by which reads may have missed the boundary, and a counter step at each end. `read_ns`: between the
 * readings, which is what the watts are to be had from: where one came late, that is not the window.
 */
int64_t sw_report_uncertainty_nj(const struct sw_monitor *m, int64_t total_nj, uint64_t read_ns, uint64_t blur_ns);

/* To whom the rows belong, and what they had of the time. 0 or -ENOMEM. */
int sw_rows_init(struct sw_monitor *m, uint32_t n_keys);
void sw_rows_free(struct sw_monitor *m);
int sw_rows_add(struct sw_monitor *m, const struct sw_window *window);

/* And of the energy, once each row has its own. */
void sw_rows_add_energy(const struct sw_window *window);

/* The lists of the report. 0 or -ENOMEM. */
int sw_rows_list(struct sw_monitor *m);

/*
 * Joules of each pot, of each domain, of zones that have no domain, and of the kinds of zones; flags that say what was
 * made of the zones. False: the window has none.
 */
bool sw_share_sum_zones(struct sw_monitor *m, const struct sw_window *window, int64_t *nowhere_nj, uint32_t *flags);

/* Give each row of the target its part, and the report and the totals theirs. There must be room for the rows. */
void sw_share_energy(struct sw_monitor *m, const struct sw_window *window, int64_t nowhere_nj, uint32_t *flags);
int sw_share_reserve(struct sw_monitor *m, size_t n_rows);

void sw_summary_free(struct sw_monitor *m);

/* The timer, and the fd that callers wait for. 0 or -errno, with words; free is fine on one whose fds are -1. */
int sw_wake_init(struct sw_monitor *m);
void sw_wake_free(struct sw_monitor *m);

/* Wake the caller at the boundary, or before it for what is due earlier. 0 or -errno, with words. */
int sw_wake_arm(struct sw_monitor *m);

/* 1: the timer has fired; 0: it has not. Or -errno, with words. */
int sw_wake_take(struct sw_monitor *m);

/* A boundary was read; `ended`: none of the target's tasks was alive there. Before the next one is announced. */
void sw_wake_passed(struct sw_monitor *m, bool ended);

bool sw_wake_meter_is_due(const struct sw_monitor *m, uint64_t now_ns);
bool sw_wake_tend_is_due(const struct sw_monitor *m, uint64_t now_ns);

/* Nobody of the target is left, and no boundary has been drawn near for it: true once. */
bool sw_wake_all_ended(struct sw_monitor *m, uint64_t now_ns);

#endif

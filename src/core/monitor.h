/* SPDX-License-Identifier: BSD-2-Clause */
/* The monitor object as its own files see it: monitor.c beats the windows, report.c makes reports and the summary. */
#ifndef SW_CORE_MONITOR_H
#define SW_CORE_MONITOR_H

#include "../../include/schedwatt.h"
#include "../cpu/backend.h"
#include "attribution.h"
#include "header.h"
#include "meter.h"
#include "processes.h"
#include "window.h"

struct sw_totals {
	struct sw_summary s; /* but for rows */
	bool has_energy;     /* of any window */
	double proc_variance; /* of proc_nj */
	uint64_t energy_ns;  /* time of the windows that had energy */
	uint64_t last_blur_ns;
};

struct sw_monitor {
	struct sw_options options;
	struct sw_error error;
	struct sw_topology topology;
	struct sw_cpu_backend *backend;
	struct sw_meter meter;
	struct sw_windows windows;
	struct sw_processes processes;
	struct sw_header_store header;
	struct sw_busy *busy;                /* by domain */
	struct sw_cpu_domain *first_domains; /* as they stood at the first boundary */
	int timer_fd;
	bool finished;
	uint64_t t_ns;       /* the announced boundary, in the back end's clock */
	uint64_t wake_ns;    /* the same in ours */
	uint64_t ended_ns;   /* the last boundary that was read, in ours */
	int64_t wake_utc_ns; /* and on CLOCK_REALTIME */
	uint64_t first_blur_ns;
	int64_t recursion_misses;
	bool unverified;

	/* report.c */
	struct sw_report report;
	struct sw_summary summary;
	struct sw_totals totals;
	struct sw_share *shares;
	size_t shares_capacity;
	struct sw_domain *domains;
};

int sw_report_init(struct sw_monitor *m);
void sw_report_free(struct sw_monitor *m);

/* Rows of the first boundary: who is there, with no time yet. */
int sw_report_baseline(struct sw_monitor *m, const struct sw_window *window);

/* Share a window's energy out, sum it by process, add it to the totals. 0 or -ENOMEM. */
int sw_report_make(struct sw_monitor *m, const struct sw_window *window, const struct sw_report **ret);

#endif

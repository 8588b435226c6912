/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page that Prometheus reads: every metric of the exporter, with its name and meaning. It formats what it is given
 * and computes nothing. Never a label that service discovery or kube-state-metrics sets: pod, namespace, container,
 * job, instance.
 */
#ifndef SW_CLI_EXPOSITION_H
#define SW_CLI_EXPOSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "groups.h"
#include "metrics.h"

/* How the exporter itself is doing. A number that is SW_ABSENT has no sample. */
struct exposition_health {
	bool accounting;           /* CPU time is being accounted now, by the back end of source_info; else the page has none */
	bool energy;               /* the last window had joules; else the page has none */
	int64_t monitor_retries;   /* times that accounting failed and was begun anew, or could not be */
	int64_t slots_used;        /* of the slot table */
	int64_t slots_free;
	int64_t context_switches;  /* of the host, since the exporter began */
	int64_t switch_cost_ns;    /* of accounting one */
	const char *switch_cost_origin; /* "bpf_stats": by the kernel's own measure; NULL: not known */
	int64_t overhead_parts;    /* (switches * cost + own CPU) / the host's capacity, in 10^-9 */
	int64_t cpu_ns;            /* of this process */
	int64_t resident_bytes;
	int64_t open_fds;
	int64_t start_utc_ns;      /* of this process */
};

/* One consistent state: whoever adds to `groups` waits until the page is written. */
struct exposition {
	const struct groups *groups;
	const struct sw_header *header; /* of the present monitor; NULL: there is none */
	const char *version;
	struct exposition_health health;
};

/* The whole page, added to `out`, which has the first failure. */
void exposition_write(struct buf *out, enum metrics_format format, const struct exposition *e);

#endif

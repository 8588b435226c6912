/* SPDX-License-Identifier: BSD-2-Clause */
/* What an exporter takes itself, and what accounting costs the host. */
#ifndef SW_CLI_EXPORT_HEALTH_H
#define SW_CLI_EXPORT_HEALTH_H

#include "exposition.h"
#include "schedwatt.h"

struct export_health {
	int procfs_fd;            /* the host's; or -1 */
	int self_fd;              /* of /proc/self, our own; or -1 */
	int64_t start_utc_ns;
	uint64_t start_ns;        /* of CLOCK_MONOTONIC */
	int64_t start_switches;   /* of the host, or SW_ABSENT */
	uint32_t cpus;
};

/* Files are opened here, while there is a right to. `procfs`: a directory, or NULL. */
void export_health_open(struct export_health *h, const char *procfs);
void export_health_close(struct export_health *h);

/* Fill in all that is of this process and of the host. `m`: NULL where nothing accounts. */
void export_health_fill(const struct export_health *h, struct sw_monitor *m, struct exposition_health *ret);

#endif

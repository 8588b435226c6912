/* SPDX-License-Identifier: BSD-2-Clause */
/* What perf.c asks of pmu.c: the energy events of a PMU, and who reads them, as sysfs tells it. */
#ifndef SW_ENERGY_PMU_H
#define SW_ENERGY_PMU_H

#include "pmu_parse.h"
#include "source.h"

#define SW_PMU_DIR "bus/event_source/devices/power"

enum {
	SW_PMU_EVENTS_MAX = 16,
	SW_PMU_READERS_MAX = 64, /* twice as many packages and dies as a topology may have */
};

struct sw_pmu_event {
	char name[48];  /* "energy-pkg" */
	char label[48]; /* what its zone is called: "dram"; as `name` when we do not know it */
	enum sw_zone_role role;
	uint64_t config;
	struct sw_scale scale;
	int err; /* why it cannot be counted, as -errno; `problem` says it in words */
	struct sw_error problem;
};

/* One of the CPUs of its cpumask: where the counters of a package, or of a die, are opened. */
struct sw_pmu_reader {
	unsigned cpu;
	int package; /* -1: sysfs does not tell */
	int die;     /* -1: sysfs does not tell, or counters are per package whatever dies there are */
};

struct sw_pmu {
	uint32_t type;
	struct sw_pmu_event event[SW_PMU_EVENTS_MAX];    /* in order of (role, label) */
	size_t n_events;
	struct sw_pmu_reader reader[SW_PMU_READERS_MAX]; /* in order of (package, die, CPU); no counter has two */
	size_t n_readers;
};

/*
 * Read <sysfs>/bus/event_source/devices/power, and where its CPUs are. 0, or a negative errno with the reason and the
 * remedy in `error`: -ENOENT (no such PMU, or a file of it is missing), -ENODEV (no energy events, or no CPU), -E2BIG
 * (too many CPUs), or what a file gave. A broken event does not fail, it has a problem. It keeps no memory.
 */
int sw_pmu_read(int sysfs_fd, const struct sw_cpu_id *cpu, struct sw_error *error, struct sw_pmu *ret);

/* Has this package more than one reader, each for a die? */
bool sw_pmu_has_dies(const struct sw_pmu *pmu, int package);

#endif

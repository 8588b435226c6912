/* SPDX-License-Identifier: BSD-2-Clause */
/* An energy source with its counters: joules that only grow, read at boundaries and, where they wrap fast, between. */
#ifndef SW_CORE_METER_H
#define SW_CORE_METER_H

#include "../energy/source.h"
#include "mirror.h"
#include "window.h"

/* RAPL counters move about once a millisecond: Intel SDM volume 3, 15.10. */
#define SW_COUNTER_STEP_NS 1000000
/* No package or its memory draws more: what bounds the time in which a counter may wrap. */
#define SW_GREATEST_POWER_UW 1000000000ULL

struct sw_meter {
	struct sw_energy_source *source; /* NULL: none; this structure's own */
	struct sw_counter *counters;
	struct sw_zone_value *values;
	struct sw_zone_point *points;
	struct sw_mirror *mirrors;
	size_t n_zones;
	uint64_t max_gap_ns; /* between two readings; 0: any */
	uint64_t last_ns;
	uint64_t asleep_ns;
	uint64_t mended_ns; /* when the source last looked for what is gone */
	unsigned mend_tries; /* in a row */
};

/* Takes `source` over, also on failure. 0 or -ENOMEM. */
int sw_meter_init(struct sw_meter *m, struct sw_energy_source *source);
void sw_meter_free(struct sw_meter *m);

/* Is the source computed from CPU time? Then `busy` must hold what stood at the boundary. */
bool sw_meter_is_modelled(const struct sw_meter *m);

/* Are there counters, whose reading is a matter of when? */
bool sw_meter_measures(const struct sw_meter *m);

/* Read every zone into m->points. */
void sw_meter_read(struct sw_meter *m, const struct sw_busy *busy, struct sw_energy_point *point);

/* Between boundaries: have the source look for counters that went away, if some did. */
void sw_meter_mend(struct sw_meter *m);

/* Can this process still read what the source opened? 0 or -errno, with words. The counters take no notice. */
int sw_meter_check(struct sw_meter *m, struct sw_error *error);

/* Does the zone's energy belong into the total? */
bool sw_zone_counts(const struct sw_zone_info *zone);

#endif

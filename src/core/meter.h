/* SPDX-License-Identifier: BSD-2-Clause */
/* An energy source with its counters: joules that only grow, read at boundaries and, where they wrap fast, between. */
#ifndef SW_CORE_METER_H
#define SW_CORE_METER_H

#include "../energy/source.h"
#include "window.h"

struct sw_meter {
	struct sw_energy_source *source; /* NULL: none; this structure's own */
	struct sw_counter *counters;
	struct sw_zone_value *values;
	struct sw_zone_point *points;
	size_t n_zones;
	uint64_t max_gap_ns; /* between two readings; 0: any */
	uint64_t last_ns;
	uint64_t asleep_ns;
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

/* Does the zone's energy belong into the total? */
bool sw_zone_counts(const struct sw_zone_info *zone);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters of dies that show one and the same energy: some processors give each die a zone, and all zones of a package
 * the package's counter. Added up, they would count it twice. Pure: it is given readings.
 */
#ifndef SW_CORE_MIRROR_H
#define SW_CORE_MIRROR_H

#include "../energy/source.h"

struct sw_mirror {
	int of;        /* index of the zone that this one shows again, which is none itself; or -1 */
	bool near;     /* both showed the same when last read, or nearly */
	bool equal;    /* the same value, exactly */
	uint64_t last; /* what this one showed then, in uJ */
};

/* n entries that mirror nothing. */
void sw_mirror_init(struct sw_mirror *mirrors, size_t n);

/*
 * Take in a reading of all zones, made within `bracket_ns`. A zone becomes the mirror of an earlier one of its package
 * and role when both showed the same at two readings, and moved between. One of the two may be off by what a package
 * can use while both are read, since the counter may step just then; no more, or it is a mirror no longer.
 */
void sw_mirror_add(struct sw_mirror *mirrors, const struct sw_zone_info *zones, const struct sw_zone_value *values,
		   size_t n, uint64_t bracket_ns);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* A made-up /sys with the counters of one processor package, which other processes read while they move. */
#ifndef TRUTH_ZONES_H
#define TRUTH_ZONES_H

#include <stdbool.h>
#include <stdint.h>

enum zone { ZONE_PACKAGE, ZONE_CORE, ZONE_DRAM, ZONE_PSYS, ZONES };

/*
 * Make the tree below `root`, an empty directory: the zones, and where every CPU sits (in package 0). `nested`: the
 * subzones lie in their package only, without entries of their own in class/powercap. 0 or a negative errno.
 */
int zones_make(const char *root, bool nested);

/*
 * What the counter shows from now on: where it started, so short before its end that it wraps soon, and all the energy
 * since then. A reader sees the old value or this one.
 */
void zones_show(enum zone zone, uint64_t nj);

#endif

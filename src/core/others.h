/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Further back ends beside a monitor's own, over the same windows and the same energy. Each is a monitor that has no
 * meter, no clock and no target of its own, and does what its leader does.
 */
#ifndef SW_CORE_OTHERS_H
#define SW_CORE_OTHERS_H

#include "monitor.h"

/* Of each of these: one that fails says why, and is out from then on. */

/* Set the boundary that the leader has set. */
void sw_others_announce(struct sw_monitor *m);

/* Between boundaries, those for which it is time: see tend of backend.h. */
void sw_others_tend(struct sw_monitor *m, uint64_t now_ns);

/* The boundary has passed: read them all, once the energy is read. */
void sw_others_read(struct sw_monitor *m);

/* The leader's window is made: make theirs; at the first boundary (`first`) there is none yet. */
void sw_others_report(struct sw_monitor *m, const struct sw_energy_point *point, bool first);

/* Those that were made for them. 0 or -errno, with words. */
int sw_others_remove_cgroups(struct sw_monitor *m);

void sw_others_close(struct sw_monitor *m);

#endif

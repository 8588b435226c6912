/* SPDX-License-Identifier: BSD-2-Clause */
/* One kept counter of perf: opening it on a CPU, reading it, and seeing when it has stopped counting. */
#ifndef SW_ENERGY_PERF_EVENT_H
#define SW_ENERGY_PERF_EVENT_H

#include "../base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct sw_perf_count {
	uint64_t value;
	uint64_t enabled_ns; /* time that the event was to count */
	uint64_t running_ns; /* time that it did */
};

struct sw_perf_event {
	int fd;    /* or -1 */
	bool lost; /* it counts no more, and never will again */
	struct sw_perf_count last;
};

typedef int sw_perf_open_fn(uint32_t type, uint64_t config, int cpu);

/* perf_event_open(2) for all that runs on a CPU: an fd, or -errno. */
int sw_perf_open(uint32_t type, uint64_t config, int cpu);

/* Take an fd that `open` gives, and read it once to see that it can be. 0 or -errno; *ret is untouched on failure. */
int sw_perf_event_open(sw_perf_open_fn *open, uint32_t type, uint64_t config, unsigned cpu, struct sw_perf_event *ret);
void sw_perf_event_close(struct sw_perf_event *event);

/*
 * The count since it was opened. 0, -EAGAIN (it did not count all the time since the last read, but does now), -ENODEV
 * (it is lost), or what read(2) gave; all but -EAGAIN leave it lost.
 */
int sw_perf_event_read(struct sw_perf_event *event, uint64_t *ret);

/* Say why the event `name` could not be opened on a CPU, and what helps. Returns `err`. */
int sw_perf_event_fail(const char *name, unsigned cpu, int err, struct sw_error *error);

#endif

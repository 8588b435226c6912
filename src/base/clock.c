/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the clocks. Must not know: what they are read for.
 * Relies on clock_gettime(2) and clock_nanosleep(2).
 */
#include "clock.h"

#include <errno.h>
#include <time.h>

#define SPIN_NS 20000 /* below this, waiting costs less than sleeping */

static int64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t); /* cannot fail for these clocks */
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

uint64_t sw_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t sw_boottime_ns(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

int64_t sw_realtime_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

/* The kernel takes a timer interrupt even for a moment that has passed, and two switches for one that is near. */
void sw_sleep_until_ns(uint64_t t_ns)
{
	struct timespec t = {.tv_sec = t_ns / 1000000000, .tv_nsec = t_ns % 1000000000};

	if (sw_now_ns() + SPIN_NS < t_ns)
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
			;
	while (sw_now_ns() < t_ns)
		;
}

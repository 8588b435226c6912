/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks in nanoseconds. Source: clock_gettime(2), clock_nanosleep(2). */
#ifndef SW_BASE_CLOCK_H
#define SW_BASE_CLOCK_H

#include <stdint.h>

uint64_t sw_now_ns(void);          /* CLOCK_MONOTONIC */
uint64_t sw_boottime_ns(void);     /* CLOCK_BOOTTIME: goes on in suspend */
int64_t sw_realtime_ns(void);      /* CLOCK_REALTIME */
void sw_sleep_until_ns(uint64_t t_ns); /* of CLOCK_MONOTONIC; returns at once when that has passed */

#endif

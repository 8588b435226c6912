/* SPDX-License-Identifier: BSD-2-Clause */
/* The back ends of one comparison, beside the monitor of a session. Says what fails. */
#ifndef SW_CLI_COMPARE_H
#define SW_CLI_COMPARE_H

#include "comparison.h"

struct compare {
	struct comparison comparison;
	struct sw_monitor *monitors[COMPARISON_MAX]; /* as the comparison has its back ends; the session's first */
};

/* Let every other back end account beside `leader`. 0, or -errno with a message: fewer than two opened, no memory. */
int compare_open(struct compare *c, struct sw_monitor *leader);

/* The leader has a window. */
void compare_take(struct compare *c);

/* The recording is over. 0 or -ENOMEM. */
int compare_end(struct compare *c, const struct sw_summary *summary);

void compare_close(struct compare *c);

#endif

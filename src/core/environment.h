/* SPDX-License-Identifier: BSD-2-Clause */
/* How a machine was set when a recording began: what a reader of its numbers wants to know later. */
#ifndef SW_CORE_ENVIRONMENT_H
#define SW_CORE_ENVIRONMENT_H

#include "../../include/schedwatt.h"

enum { SW_ENVIRONMENT_TEXT = 32 }; /* of a name, with its end; what is longer is no name that the kernel has */

struct sw_environment_store {
	struct sw_environment environment;
	char governor[SW_ENVIRONMENT_TEXT];
	char driver[SW_ENVIRONMENT_TEXT];
	char microcode[SW_ENVIRONMENT_TEXT];
};

/*
 * What cannot be read is absent. `microcode` is what /proc/cpuinfo says of the first CPU, for machines that do not say it
 * of each in sysfs; empty where it says nothing. Either fd may be -1.
 */
void sw_environment_read(struct sw_environment_store *s, int sysfs_fd, int procfs_fd, const char *microcode);

#endif

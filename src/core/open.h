/* SPDX-License-Identifier: BSD-2-Clause */
/* What opening a monitor and looking a machine over have in common. */
#ifndef SW_CORE_OPEN_H
#define SW_CORE_OPEN_H

#include "../../include/schedwatt.h"
#include "../base/error.h"
#include "../energy/source.h"

/* Copy the caller's options into ours; what a newer caller has beyond ours must be zero. -EINVAL or -E2BIG, with words. */
int sw_options_take(const struct sw_options *from, struct sw_options *to, struct sw_error *error);

/* 0, or -EINVAL with words. */
int sw_options_check(const struct sw_options *o, struct sw_error *error);

/* Where the caller wants to have the words, if he does. */
void sw_options_tell(const struct sw_options *options, const struct sw_error *error);

/* A directory that the options name, or that which it stands for: 0, or what open(2) gave, with words. */
int sw_open_root(const char *path, const char *fallback, int *ret, struct sw_error *error);

/* CPU → domain, by dies where some source tells them apart. 0 or -errno, with words. */
int sw_open_topology(int sysfs_fd, const struct sw_cpu_id *cpu, struct sw_error *error, struct sw_topology *ret);

#endif

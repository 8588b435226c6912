/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums by command name. */
#ifndef SW_CORE_COMMS_H
#define SW_CORE_COMMS_H

#include "../../include/schedwatt.h"

#include <uthash.h>

struct sw_comm_entry {
	char comm[16]; /* zeroes behind it: names are compared whole */
	UT_hash_handle hh;
	uint64_t processes;
	uint64_t oncpu_ns;
	int64_t nj; /* INT64_MIN: absent */
};

/* An empty table is NULL. 0 or -ENOMEM. */
int sw_comms_add(struct sw_comm_entry **table, const char comm[16], uint64_t processes, uint64_t oncpu_ns, int64_t nj);
void sw_comms_free(struct sw_comm_entry **table);

/* Most on-CPU time first. A malloc()ed array, names and all; NULL: none, or no memory (*ret_n: SIZE_MAX). */
struct sw_comm *sw_comms_rows(const struct sw_comm_entry *table, size_t *ret_n);

#endif

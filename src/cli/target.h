/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording watches: as the options name it, and in words for people. */
#ifndef SW_CLI_TARGET_H
#define SW_CLI_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "schedwatt.h"

/* Zero-filled is the whole host. */
struct target {
	uint32_t kind;  /* enum sw_target */
	uint32_t scope; /* enum sw_scope */
	int32_t *pids;  /* SW_TARGET_PIDS */
	size_t n_pids;
	const char *cgroup; /* SW_TARGET_CGROUP */
	bool own_cgroup;    /* SW_TARGET_PIDS that wait for us: they may be put into a cgroup of their own */
};

/* "this machine", "process 12 and its descendants", "processes 1,2,3,4 and 5 more", "cgroup /a/b". */
void target_words(struct buf *out, const struct sw_header *h);

/* Of a target of pids: "process 12 has ended; its descendants are recorded on". */
void target_left_words(struct buf *out, const struct sw_header *h);

/* Likewise: "process 12 and its descendants have ended; the recording is over". */
void target_ended_words(struct buf *out, const struct sw_header *h);

#endif

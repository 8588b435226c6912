/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Giving up what a service that goes on for months does not need. In this order, while the process has one thread:
 * privileges_reduce(); then the threads are made, and privileges_confine() is for all of them.
 */
#ifndef SW_CLI_PRIVILEGES_H
#define SW_CLI_PRIVILEGES_H

#include "buf.h"

/*
 * Keep the fewest capabilities with which `check` succeeds, whatever the kernel, and gain none by exec(2) ever after.
 * Each set is tried in a child first, which is under the filter of privileges_confine() too; `check` gives 0, or -errno
 * with words in `why`. `kept`: their names, "none", or "all" where no smaller set sufficed (and why not). 0, -errno with
 * a message where giving up failed.
 */
int privileges_reduce(int (*check)(void *ctx, struct buf *why), void *ctx, struct buf *kept);

/*
 * From here on the kernel lets all threads of the process do only what an exporter does: no file is opened for writing,
 * no program run, no process traced or signalled, no socket made but for IPC within the kernel, no BPF program loaded.
 * What is not let through fails with EPERM. 0, or -errno with a message.
 */
int privileges_confine(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A task's slots have eight places in the table, which it shares with ids that lie a stride apart. A stranger on this
 * machine that fills them (a chain of execs by threads in one window does) takes them from whoever shares them, and the
 * time is lost to slots, as it should be. Tests that assert that none is have to know.
 */
#ifndef SW_TESTS_WAYS_H
#define SW_TESTS_WAYS_H

#include "record.h"

/* After each window: which places do tasks fill that are not `mine`? Beginning with `first` it forgets what it knew. */
void ways_look(struct record *r, bool first, bool (*mine)(const struct sw_task *t));

unsigned ways_full(void);                                /* how often that was so */
bool ways_were_full(const struct record *r, pid_t tid); /* of those that this id has */

#endif

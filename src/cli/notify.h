/* SPDX-License-Identifier: BSD-2-Clause */
/* Telling the service manager how we are: sd_notify(3)'s protocol, which is a datagram. */
#ifndef SW_CLI_NOTIFY_H
#define SW_CLI_NOTIFY_H

#include <stdint.h>

#include "buf.h"

struct notify {
	int fd;               /* -1: nobody wants to know */
	uint64_t watchdog_ns; /* how often at least it wants to hear that we live; 0: not at all */
};

/* By $NOTIFY_SOCKET and $WATCHDOG_USEC, which are taken out of the environment. What is there but wrong is said. */
void notify_open(struct notify *n);

/* Lines as "READY=1" or "STATUS=…"; who cannot be reached is left alone. */
void notify_send(const struct notify *n, const char *state);

void notify_close(struct notify *n);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets that the exporter listens at. */
#ifndef SW_CLI_HTTP_LISTEN_H
#define SW_CLI_HTTP_LISTEN_H

#include <stddef.h>

#include "buf.h"

enum { LISTEN_MAX = 16 };

struct listening {
	int fd[LISTEN_MAX]; /* -1: somebody else's by now */
	size_t n;
	struct buf words; /* their addresses */
};

/* All of them, or none and -errno with a message. listening_close() takes it in any case. */
int listening_open(struct listening *l, const char *const *addresses, size_t n);
void listening_words(const struct listening *l, struct buf *out);
void listening_close(struct listening *l);

#endif

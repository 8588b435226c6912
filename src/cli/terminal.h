/* SPDX-License-Identifier: BSD-2-Clause */
/* What a file descriptor that people look at can do. */
#ifndef SW_CLI_TERMINAL_H
#define SW_CLI_TERMINAL_H

#include <stdbool.h>

/* A terminal on which a line can be rewritten: any but TERM=dumb, or one that is not named. */
bool terminal_rewrites(int fd);

/* One that takes colours, unless NO_COLOR is set to anything but nothing (no-color.org). */
bool terminal_colours(int fd);

/* Its width now; 80 where that is not known. */
unsigned terminal_columns(int fd);

#endif

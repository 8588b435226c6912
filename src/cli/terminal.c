/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the questions asked of a terminal and of the environment about it. Must not know: what is written there.
 * Relies on: isatty(3), ioctl_tty(2), environ(7) for TERM, and https://no-color.org for NO_COLOR.
 */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_DEFAULT = 80 };

bool terminal_rewrites(int fd)
{
	const char *term = getenv("TERM");

	return term && term[0] && strcmp(term, "dumb") && isatty(fd);
}

bool terminal_colours(int fd)
{
	const char *no_color = getenv("NO_COLOR");

	return !(no_color && no_color[0]) && terminal_rewrites(fd);
}

unsigned terminal_columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : COLUMNS_DEFAULT;
}

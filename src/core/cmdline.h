/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of a process, as one printable string. Source: proc_pid_cmdline(5), proc_pid_stat(5). */
#ifndef SW_CORE_CMDLINE_H
#define SW_CORE_CMDLINE_H

#include <stddef.h>
#include <stdint.h>

/* As much of it as is kept, in raw bytes. */
enum { SW_CMDLINE_MAX = 1024 };

/*
 * Arguments with a blank between. Within one, a blank and a backslash are written with a backslash before them, control
 * characters as \n, \t or \x1b, an empty argument as ''; other bytes are as they are. What was cut ends in "…" (UTF-8),
 * without the half of a UTF-8 sequence that the cut left.
 * `raw` holds arguments that each end in a NUL, but perhaps the last. Two or more NULs behind that of the only argument
 * are no arguments, but what is left of those that a process wrote its title over. malloc()ed, or NULL (no memory, or n
 * is 0).
 */
char *sw_cmdline_escape(const char *raw, size_t n, int cut);

/*
 * Read `pid`'s (as procfs numbers it), if it is still the process that started at start_boottime_ns, to a clock tick
 * and a half, in the clock of that procfs. malloc()ed; NULL: it has ended, has no command line (a kernel thread, a
 * zombie), is another process, or may not be read.
 */
char *sw_cmdline_read(int procfs_fd, int32_t pid, uint64_t start_boottime_ns);

#endif

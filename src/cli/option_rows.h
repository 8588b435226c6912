/* SPDX-License-Identifier: BSD-2-Clause */
/* Which rows and columns are asked for, and what that means together with the format and the outputs. */
#ifndef SW_CLI_OPTION_ROWS_H
#define SW_CLI_OPTION_ROWS_H

#include "options.h"

/* Add the columns of a list with commas between. 0, or EINVAL or ENOMEM when all has been said. */
int option_columns(struct options *o, const char *arg);
int option_thread_columns(struct options *o, const char *arg); /* and with them threads */

/*
 * When all options are known. Afterwards o->columns has those of processes if rows are to be made, and
 * o->thread_columns those of threads if these are, too: the standard set where none were chosen. 0 or -errno, with a
 * message.
 */
int option_rows_settle(struct options *o, enum command command);

#endif

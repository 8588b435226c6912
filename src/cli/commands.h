/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands. Each takes its own argument vector (argv[0] is its name) and returns what to exit with. */
#ifndef SW_CLI_COMMANDS_H
#define SW_CLI_COMMANDS_H

int cmd_run(int argc, char **argv);
int cmd_monitor(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands. Each takes its own argument vector (argv[0] is its name) and returns what to exit with. */
#ifndef SW_CLI_COMMANDS_H
#define SW_CLI_COMMANDS_H

int cmd_run(int argc, char **argv);
int cmd_monitor(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_columns(int argc, char **argv);

struct options;

/* What these are made of: record a command from its start to its end, or what runs already. What to exit with. */
int command_record(const struct options *o);
int target_record(const struct options *o);

#endif

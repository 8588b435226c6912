/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which commands there are. Must not know: what they do.
 * Relies on: argp's global argp_err_exit_status (<argp.h>). setlocale(3) is never called: all output is the same in
 * every locale.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "message.h"
#include "output.h"
#include "schedwatt.h"

static const struct command {
	const char *name;
	const char *summary;
	int (*fn)(int argc, char **argv);
} commands[] = {
	{ "run", "account the energy and CPU time of a command and its whole tree", cmd_run },
	{ "monitor", "record this machine, processes or a cgroup, window by window", cmd_monitor },
	{ "calibrate", "measure the idle power of each package, for the marginal policy", cmd_calibrate },
	{ "compare", "what every source of CPU time says of one target, and why they differ", cmd_compare },
	{ "doctor", "say what works on this machine, what does not, and what to do about it", cmd_doctor },
	{ "export", "serve energy and CPU time of containers, units and cgroups to Prometheus", cmd_export },
	{ "columns", "list the counters that rows of processes and threads can have", cmd_columns },
};

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	return NULL;
}

static int print_version(void)
{
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write here */
	printf("schedwatt %s\n", sw_version());
	return output_flush_stdout();
}

static int print_help(void)
{
	signal(SIGPIPE, SIG_IGN);
	fputs("Usage: schedwatt COMMAND [OPTION...]\n"
	      "How much energy each process of this machine uses: exact CPU time joined to energy counters.\n\n"
	      "Commands:\n",
	      stdout);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("  help       show this help, or that of a command\n"
	      "\nExamples:\n"
	      "  schedwatt run -- make -j8\n"
	      "  schedwatt monitor -i 1000 -d 60 -f jsonl -o host.jsonl\n"
	      "  schedwatt monitor -p 4242\n"
	      "  schedwatt calibrate -o idle.json\n"
	      "  schedwatt compare -p 4242 -d 10\n"
	      "  schedwatt doctor\n"
	      "  schedwatt help run\n"
	      "\nOptions: --help, --version\n",
	      stdout);
	return output_flush_stdout();
}

static int help(int argc, char **argv)
{
	char *help_argv[] = { NULL, (char *)"--help", NULL };
	const struct command *command;

	if (argc < 2)
		return print_help();
	command = find(argv[1]);
	if (!command || argc > 2) {
		message_error("help knows no command '%s'; see schedwatt --help", argv[command ? 2 : 1]);
		return EXIT_USAGE;
	}
	help_argv[0] = argv[1];
	return command->fn(2, help_argv);
}

/*
 * A file descriptor 0, 1 or 2 that our caller closed must not become one of ours, or a message would end in a record
 * or a map. What fills the gap cannot be used in its direction, so that using it is an error and not a silence, and
 * is gone again in a command that we run.
 */
static int fill_standard_fds(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC) != fd)
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct command *command;

	argp_err_exit_status = EXIT_USAGE;
	if (fill_standard_fds())
		return EXIT_FAILED;
	if (argc < 2) {
		message_error("a command is missing; see schedwatt --help");
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "-?"))
		return print_help();
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return print_version();
	if (!strcmp(argv[1], "help"))
		return help(argc - 1, argv + 1);
	command = find(argv[1]);
	if (!command) {
		message_error("%s '%s' is not known; see schedwatt --help", argv[1][0] == '-' ? "option" : "command",
			      argv[1]);
		return EXIT_USAGE;
	}
	return command->fn(argc - 1, argv + 1);
}

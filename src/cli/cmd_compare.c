/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: `schedwatt compare`, which is a recording as `run` and `monitor` make them, by several back ends. Must not
 * know: how they are compared. Relies on: the session doing that for options of `compare`.
 */
#include "commands.h"
#include "options.h"

int cmd_compare(int argc, char **argv)
{
	struct options o;
	int status;

	if (!options_parse(&o, COMMAND_COMPARE, argc, argv, &status))
		status = o.command ? command_record(&o) : target_record(&o);
	options_free(&o);
	return status;
}

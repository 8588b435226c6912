/* SPDX-License-Identifier: BSD-2-Clause */
/* Which options each command has, and their help: what parsing, --help, the manual's test and completion go by. */
#ifndef SW_CLI_OPTION_TABLES_H
#define SW_CLI_OPTION_TABLES_H

#include <argp.h>

#include "options.h"

/* Keys of options without a short form. */
enum {
	KEY_ATTRIBUTION_MODE = 0x100,
	KEY_ENERGY,
	KEY_POLICY,
	KEY_BASELINE,
	KEY_MODEL,
	KEY_STRICT,
	KEY_SLOTS,
	KEY_HOOK,
	KEY_LABEL,
	KEY_SYSFS,
	KEY_PROCFS,
	KEY_CGROUPFS,
	KEY_CGROUP,
	KEY_SCOPE,
	KEY_BY,
	KEY_THREADS,
	KEY_COLUMNS,
	KEY_THREAD_COLUMNS,
	KEY_THREAD_OUTPUT,
	KEY_CSV_UNITS,
	KEY_FLAT,
	KEY_NO_CMDLINE,
	KEY_TREE,
	KEY_MAX_BUSY,
	KEY_WARMUP,
	KEY_KEEP_GOING,
	KEY_BUDGET,
	KEY_BUDGET_MODELLED,
	KEY_JSON,
	KEY_LISTEN,
	KEY_TELEMETRY_PATH,
	KEY_WEB_CONFIG,
	KEY_MAX_SERIES,
	KEY_KEEP,
	KEY_USAGE,
};

enum { OPTION_TABLES_MAX = 8 }; /* of one command */

struct option_tables {
	const char *name; /* of the command, as users type it */
	const char *args, *doc; /* as argp has them */
	size_t n;
	const struct argp_option *table[OPTION_TABLES_MAX]; /* its own first */
};

struct option_tables option_tables(enum command command);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of each command. */
#ifndef SW_CLI_OPTIONS_H
#define SW_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "baseline.h"
#include "budget.h"
#include "groups.h"
#include "schedwatt.h"
#include "sink.h"
#include "target.h"

/* Which command's options to parse. */
enum command {
	COMMAND_RUN,
	COMMAND_MONITOR,
	COMMAND_CALIBRATE,
	COMMAND_COMPARE,
	COMMAND_COLUMNS,
	COMMAND_DOCTOR,
	COMMAND_EXPORT,
	COMMANDS,
};

struct export_options {
	const char **listen;    /* as it was written; none: the default */
	size_t n_listen;
	const char *path;       /* of the metrics */
	const char *web_config; /* or NULL */
	enum groups_by by;      /* what series stand for */
	uint32_t max_series;    /* of groups */
	uint64_t keep_ns;       /* how long one stays that has no time any more */
};

struct options {
	bool compare;         /* by all back ends at once */
	struct target target; /* monitor's and compare's; its pids are ours */
	bool scope_given;
	uint32_t by;              /* --by: one of enum sw_by; 0: not given */
	bool threads;             /* rows of threads, beside those */
	struct column_list columns, thread_columns; /* ours; see option_rows.h */
	bool flat;                /* a record for each row, instead of lists */
	bool csv_units;
	const char *thread_output; /* csv: where threads' rows go; or NULL */
	bool no_cmdline;
	struct text_style style;  /* as far as options tell: --tree */
	uint32_t interval_ms;
	uint64_t duration_ns;     /* 0: until a signal */
	uint32_t max_busy;        /* calibrate: thousandths of a per cent; 0: as quiet as a host can be asked to be */
	const char *output;       /* -o, or NULL */
	const struct sink *sink;  /* -f, or NULL */
	const char *backend;      /* "auto" or a name */
	const char *energy;       /* "auto" or a name */
	uint32_t policy;          /* enum sw_policy */
	uint32_t hook;            /* enum sw_hook */
	uint32_t slots;           /* 0: chosen by the library */
	uint32_t strict;
	struct baseline baseline; /* ours but for its file's name */
	uint64_t model_idle_uw; /* both 0: the model's defaults */
	uint64_t model_max_uw;
	const char *sysfs;
	const char *procfs;
	const char *cgroupfs;
	struct label *labels; /* ours; keys and values too */
	size_t n_labels;
	uint32_t repeat;      /* run: how many runs count */
	uint32_t warmup;      /* and how many go before them */
	bool keep_going;      /* a command that fails does not end the series */
	struct budget budget; /* on the mean */
	const char *json;     /* --json, or NULL */
	struct export_options export; /* the list is ours */
	char **command; /* run, compare: points into the argument vector; otherwise NULL */
};

/*
 * Parse `argv` (argv[0] is the command's name). Fills *o, which options_free() takes in any case. 0: go on. Otherwise
 * all is said, and *status is what to exit with: EXIT_USAGE, or after --help EXIT_DONE or EXIT_FAILED.
 */
int options_parse(struct options *o, enum command command, int argc, char **argv, int *status);
void options_free(struct options *o);

/* The library's options, of which pointers lead into *o. The caller sets the target and where errors go. */
void options_to_library(const struct options *o, struct sw_options *lib);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how the values of the exporter's options are read, and their ranges. Must not know: what is served, or how.
 */
#include "option_export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "http.h"
#include "message.h"

enum { SERIES_DEFAULT = 1000, SERIES_MAX = 100000, KEEP_MAX_S = 86400 }; /* 24 h */

#define NS_PER_S        UINT64_C(1000000000)
#define KEEP_DEFAULT_NS (300 * NS_PER_S) /* the five minutes after which Prometheus calls a series stale */

void option_export_defaults(struct export_options *e)
{
	*e = (struct export_options){ .path = "/metrics", .max_series = SERIES_DEFAULT, .keep_ns = KEEP_DEFAULT_NS };
}

int option_listen(struct export_options *e, const char *arg)
{
	const char **listen;

	if (http_check_address(arg))
		return EINVAL;
	listen = reallocarray(e->listen, e->n_listen + 1, sizeof(*listen));
	if (!listen) {
		message_error("--listen: out of memory");
		return ENOMEM;
	}
	e->listen = listen;
	listen[e->n_listen++] = arg;
	return 0;
}

/* It stands in a page, and is compared with what clients ask for, byte by byte. */
int option_telemetry_path(struct export_options *e, const char *arg)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";

	if (arg[0] == '/' && !arg[strspn(arg, plain)] && strcmp(arg, "/healthz")) {
		e->path = arg;
		return 0;
	}
	message_error("--web.telemetry-path '%s' is no path for metrics; it begins with / and has letters, digits and -._~/ "
		      "only, and /healthz is taken", arg);
	return EINVAL;
}

int option_export_by(struct export_options *e, const char *arg)
{
	static const char *const names[] = {
		[GROUPS_BY_CGROUP] = "cgroup",
		[GROUPS_BY_COMM] = "comm",
		[GROUPS_BY_PROCESS] = "process",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(arg, names[i])) {
			e->by = (enum groups_by)i;
			return 0;
		}
	}
	message_error("--by '%s' is not cgroup, comm or process", arg);
	return EINVAL;
}

int option_max_series(struct export_options *e, const char *arg)
{
	uint64_t n;

	if (strchr(arg, '\n') || sw_parse_u64(arg, SERIES_MAX, &n) || !n) {
		message_error("--max-series '%s' is not a whole number from 1 to %d", arg, SERIES_MAX);
		return EINVAL;
	}
	e->max_series = (uint32_t)n;
	return 0;
}

int option_keep(struct export_options *e, const char *arg)
{
	uint64_t s;

	if (strchr(arg, '\n') || sw_parse_u64(arg, KEEP_MAX_S, &s) || !s) {
		message_error("--keep '%s' is not a whole number of seconds from 1 to %d", arg, KEEP_MAX_S);
		return EINVAL;
	}
	e->keep_ns = s * NS_PER_S;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Parsing a command line, with all that is said about it. For tests only. */
#ifndef SW_TESTS_COMMAND_LINE_H
#define SW_TESTS_COMMAND_LINE_H

#include <string.h>

#include "cli/message.h"
#include "cli/options.h"
#include "capture.h"

enum { ARGS_MAX = 24 };

struct result {
	struct options o;
	int err, status;
	struct capture capture;
	char *argv[ARGS_MAX];
};

/* Parse with stderr kept in r->capture. The caller frees r->o. */
static inline void parse(struct result *r, enum command command, const char *const *args)
{
	int argc = 1;

	*r = (struct result){ .status = -1, .argv = { (char *)"command" } };
	for (; args[argc - 1]; argc++) {
		assert_true(argc < ARGS_MAX - 1);
		r->argv[argc] = (char *)args[argc - 1];
	}
	capture_begin(&r->capture);
	r->err = options_parse(&r->o, command, argc, r->argv, &r->status);
	capture_end(&r->capture);
}

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static inline void refuse(enum command command, const char *value, const char *const *args)
{
	char *end;
	struct result r;

	parse(&r, command, args);
	assert_int_not_equal(r.err, 0);
	assert_int_equal(r.status, EXIT_USAGE);
	assert_int_equal(strncmp(r.capture.said, "schedwatt: ", 11), 0);
	assert_non_null(strstr(r.capture.said, value));
	end = strchr(r.capture.said, '\n');
	assert_non_null(end);
	assert_string_equal(end, "\n"); /* one line */
	options_free(&r.o);
}

/* The whole of what is said. */
static inline void refuse_with(enum command command, const char *said, const char *const *args)
{
	struct result r;

	parse(&r, command, args);
	assert_int_not_equal(r.err, 0);
	assert_int_equal(r.status, EXIT_USAGE);
	assert_string_equal(r.capture.said, said);
	options_free(&r.o);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* `schedwatt columns`: every column has its line and its record, and an output that fails is seen. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <json.h>

#include "cli/commands.h"
#include "cli/message.h"
#include "capture.h"
#include "schedwatt.h"

enum { SAID_MAX = 64 * 1024 };

/* Run the command with stdout at `fd`; its exit status. */
static int columns_to(int fd, const char *format)
{
	char *argv[] = { (char *)"columns", (char *)"-f", (char *)format, NULL };
	int saved = dup(STDOUT_FILENO), status;

	fflush(stdout);
	assert_true(saved >= 0 && fd >= 0);
	assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
	status = cmd_columns(format ? 3 : 1, argv);
	assert_int_equal(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
	close(saved);
	return status;
}

static void said(char *text, const char *format)
{
	int fd = memfd_create("stdout", MFD_CLOEXEC);
	ssize_t n;

	assert_int_equal(columns_to(fd, format), EXIT_DONE);
	n = pread(fd, text, SAID_MAX - 1, 0);
	assert_true(n > 0);
	text[n] = '\0';
	close(fd);
}

static void as_text(void **state)
{
	static char text[SAID_MAX], explicit_text[SAID_MAX];
	size_t n, lines = 0;
	const struct sw_column *c = sw_columns(&n);
	char name[32], type[8], unit[16], process[8], thread[8], source[64];

	(void)state;
	said(text, NULL);
	said(explicit_text, "text");
	assert_string_equal(text, explicit_text);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++) {
		assert_int_equal(sscanf(line, "%31s %7s %15s %7s %7s %63[^\n]", name, type, unit, process, thread, source),
				 6);
		if (!lines) {
			assert_string_equal(name, "NAME");
			continue;
		}
		assert_true(lines <= n);
		assert_string_equal(name, c[lines - 1].name);
		assert_string_equal(unit, c[lines - 1].unit);
		assert_string_equal(source, c[lines - 1].source);
		assert_string_equal(process, "yes");
		assert_string_equal(thread, c[lines - 1].kinds & SW_COLUMN_OF_THREAD ? "yes" : "-");
		if (!strcmp(name, "rsslim"))
			assert_string_equal(type, "u64");
		if (!strcmp(name, "comm"))
			assert_string_equal(type, "text");
	}
	assert_int_equal(lines, n + 1);
}

static const char *text_in(struct json_object *record, const char *key)
{
	return json_object_get_string(json_object_object_get(record, key));
}

static void as_records(void **state)
{
	static const char *const types[] = { NULL, "i64", "u64", "f64", "text" };
	static char text[SAID_MAX];
	size_t n, lines = 0;
	const struct sw_column *c = sw_columns(&n);

	(void)state;
	said(text, "jsonl");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++) {
		struct json_object *record = json_tokener_parse(line);

		assert_non_null(record);
		assert_true(lines < n);
		assert_string_equal(text_in(record, "type"), "column");
		assert_string_equal(text_in(record, "name"), c[lines].name);
		assert_string_equal(text_in(record, "value_type"), types[c[lines].type]);
		assert_string_equal(text_in(record, "unit"), c[lines].unit);
		assert_string_equal(text_in(record, "source"), c[lines].source);
		assert_string_equal(text_in(record, "process"), "true");
		assert_string_equal(text_in(record, "thread"), c[lines].kinds & SW_COLUMN_OF_THREAD ? "true" : "false");
		json_object_put(record);
	}
	assert_int_equal(lines, n);
}

static void full_disk(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC), status;
	struct capture capture;

	(void)state;
	capture_begin(&capture);
	status = columns_to(fd, "jsonl");
	capture_end(&capture);
	assert_int_equal(status, EXIT_FAILED);
	assert_string_equal(capture.said, "schedwatt: cannot write to stdout: No space left on device\n");
	close(fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_text),
		cmocka_unit_test(as_records),
		cmocka_unit_test(full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds the machines that tests/fixtures describes; their README has the format. For tests only. */
#ifndef SW_TESTS_FIXTURE_H
#define SW_TESTS_FIXTURE_H

#include "tree.h"

/* One line, its path without a range. */
static inline void fixture_make_(const struct tree *t, const char *path, const char *how, const char *rest)
{
	char text[256];

	if (!strcmp(how, "=")) {
		snprintf(text, sizeof(text), "%s\n", rest);
		tree_write(t, path, *rest ? text : "");
	} else if (!strcmp(how, "->")) {
		tree_link(t, rest, path);
	} else if (!strcmp(how, "mode")) {
		assert_int_equal(fchmodat(t->fd, path, (mode_t)strtoul(rest, NULL, 8), 0), 0);
	} else {
		fail_msg("'%s %s %s' means nothing", path, how, rest);
	}
}

static inline void fixture_line_(const struct tree *t, char *line)
{
	char *path = strtok(line, " "), *how = strtok(NULL, " "), *rest = strtok(NULL, ""), *range = strchr(path, '[');
	unsigned from, to;
	char one[256];
	int n = 0;

	if (!how)
		fail_msg("'%s' means nothing", line);
	if (!range) {
		fixture_make_(t, path, how, rest ? rest : "");
		return;
	}
	assert_int_equal(sscanf(range, "[%u-%u]%n", &from, &to, &n), 2);
	for (; from <= to; from++) {
		snprintf(one, sizeof(one), "%.*s%u%s", (int)(range - path), path, from, range + n);
		fixture_make_(t, one, how, rest ? rest : "");
	}
}

/* Into an empty tree: tests/fixtures/NAME.tree. Tests run in the directory that holds it. */
static inline void fixture_build(const struct tree *t, const char *name)
{
	char path[256], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "tests/fixtures/%s.tree", name);
	f = fopen(path, "re");
	if (!f)
		fail_msg("%s is not here", path);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line && *line != '#')
			fixture_line_(t, line);
	}
	fclose(f);
}

#endif

// SPDX-License-Identifier: BSD-2-Clause
/*
 * base/mountinfo.c: the mounts taken from a text lie in it, one behind another, and taken again from what they are
 * written out as they are the same.
 */
#include "fuzz.h"

#include "../../src/base/mountinfo.h"

#include <stdbool.h>

static bool lies_in(const char *field, const char *from, const char *end)
{
	return field >= from && field < end && memchr(field, '\0', (size_t)(end - field));
}

/* As mangle_path() writes it; at most four bytes for one. */
static char *put_escaped(char *to, const char *text)
{
	for (; *text; text++)
		if (strchr(" \t\n\\", *text))
			to += sprintf(to, "\\%03o", *text);
		else
			*to++ = *text;
	return to;
}

static void expect_same_again(const struct sw_mount *mount)
{
	char *line = malloc(4 * (strlen(mount->root) + strlen(mount->point) + strlen(mount->type)) + 64), *at = line;
	struct sw_mount again;

	must(line);
	at += sprintf(at, "1 2 3:4 ");
	at = put_escaped(at, mount->root);
	*at++ = ' ';
	at = put_escaped(at, mount->point);
	at += sprintf(at, " rw shared:1 - ");
	at = put_escaped(at, mount->type);
	sprintf(at, " none rw\n");
	at = line;
	must(sw_mountinfo_next(&at, &again));
	must(!strcmp(again.root, mount->root) && !strcmp(again.point, mount->point));
	must(!strcmp(again.type, mount->type));
	must(!sw_mountinfo_next(&at, &again));
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size), *at = text;
	const char *from = text, *end = text + size + 1;
	struct sw_mount mount;

	while (sw_mountinfo_next(&at, &mount)) {
		const char *next = at ? at : end;

		must(lies_in(mount.root, from, next) && *mount.root);
		must(lies_in(mount.point, mount.root, next) && *mount.point == '/');
		must(lies_in(mount.type, mount.point, next) && *mount.type);
		expect_same_again(&mount);
		from = next;
	}
	free(text);
	return 0;
}

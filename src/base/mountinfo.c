/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: reading the list of mounts. Must not know: which mount is looked for.
 * Relies on proc_pid_mountinfo(5), and fs/proc_namespace.c and seq_file's mangle_path() for what is escaped.
 */
#include "mountinfo.h"

#include "parse.h"
#include "root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_FIRST 32768
#define SIZE_LAST (64 << 20) /* the kernel's 100,000 mounts, with long paths */

int sw_mountinfo_read(int procfs_fd, char **ret)
{
	for (size_t size = SIZE_FIRST; size <= SIZE_LAST; size *= 2) {
		char *text = malloc(size);
		ssize_t n;

		if (!text)
			return -ENOMEM;
		n = sw_file_read(procfs_fd, "self/mountinfo", text, size);
		if (n >= 0) {
			*ret = text;
			return 0;
		}
		free(text);
		if (n != -EFBIG)
			return (int)n;
	}
	return -EFBIG;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* A blank, tab, newline or backslash is a backslash and three octal digits; no backslash stands for itself. */
static bool unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		unsigned c;

		if (*text != '\\') {
			*to++ = *text;
			continue;
		}
		if (!is_octal(text[1]) || !is_octal(text[2]) || !is_octal(text[3]))
			return false;
		c = (unsigned)(text[1] - '0') * 64 + (unsigned)(text[2] - '0') * 8 + (unsigned)(text[3] - '0');
		if (!c || c > 255)
			return false;
		*to++ = (char)c;
		text += 3;
	}
	*to = '\0';
	return true;
}

static bool is_number(const char *text)
{
	uint64_t value;

	return text && !sw_parse_u64(text, UINT64_MAX, &value);
}

/* ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [OPTIONAL…] - TYPE SOURCE SUPER-OPTIONS */
static bool take_line(char *line, struct sw_mount *ret)
{
	char *device, *root, *point, *options, *field, *type;

	if (!is_number(strsep(&line, " ")) || !is_number(strsep(&line, " ")))
		return false;
	device = strsep(&line, " ");
	if (!is_number(strsep(&device, ":")) || !is_number(device))
		return false;
	root = strsep(&line, " ");
	point = strsep(&line, " ");
	options = strsep(&line, " ");
	if (!options || !*options)
		return false;
	do
		field = strsep(&line, " ");
	while (field && *field && strcmp(field, "-"));
	type = field && *field ? strsep(&line, " ") : NULL;
	/* the source may be empty, but both fields behind the type are there */
	if (!type || !*type || !strsep(&line, " ") || !line)
		return false;
	if (!*root || !unescape(root) || !unescape(point) || *point != '/' || !unescape(type))
		return false;
	*ret = (struct sw_mount){.root = root, .point = point, .type = type, .options = line};
	return true;
}

bool sw_mountinfo_next(char **text, struct sw_mount *ret)
{
	while (*text && **text)
		if (take_line(strsep(text, "\n"), ret))
			return true;
	return false;
}

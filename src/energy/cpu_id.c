/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which processor this is. Must not know: what follows from that.
 * Source: arch/x86/kernel/cpu/proc.c (show_cpuinfo); other architectures print other lines, and are none of ours.
 */
#include "source.h"

#include "../base/parse.h"
#include "../base/root.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The value of a line "key\t: value" of the first processor, or NULL. The text is cut up by the caller. */
static const char *value_of(char *line, const char *key)
{
	size_t n = strlen(key);
	char *colon;

	if (strncmp(line, key, n) || (line[n] != '\t' && line[n] != ' ' && line[n] != ':'))
		return NULL;
	colon = line + n + strspn(line + n, "\t ");
	return *colon == ':' ? colon + 1 + strspn(colon + 1, " ") : NULL;
}

static void take_number(const char *text, unsigned *to)
{
	uint64_t value;

	if (!sw_parse_u64(text, UINT_MAX, &value))
		*to = (unsigned)value;
}

/* What is longer than names are is none. */
static void take_text(const char *text, char *to, size_t size)
{
	if (strlen(text) < size)
		strcpy(to, text);
}

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (; (text = strstr(text, word)); text += n)
		if (text[-1] == ' ' && (text[n] == ' ' || !text[n]))
			return true;
	return false;
}

static void take_vendor(const char *name, struct sw_cpu_id *id)
{
	if (!strcmp(name, "GenuineIntel"))
		id->vendor = SW_VENDOR_INTEL;
	else if (!strcmp(name, "AuthenticAMD"))
		id->vendor = SW_VENDOR_AMD;
	else if (!strcmp(name, "HygonGenuine"))
		id->vendor = SW_VENDOR_HYGON;
}

struct sw_cpu_id sw_cpu_identify(int procfs_fd)
{
	struct sw_cpu_id id = { .vendor = SW_VENDOR_OTHER };
	char text[8192], *line, *rest = text;
	const char *value;

	if (sw_file_read_start(procfs_fd, "cpuinfo", text, sizeof(text)) < 0)
		return id;
	while ((line = strsep(&rest, "\n")) && *line) { /* up to the blank line behind the first processor */
		if ((value = value_of(line, "vendor_id")))
			take_vendor(value, &id);
		else if ((value = value_of(line, "cpu family")))
			take_number(value, &id.family);
		else if ((value = value_of(line, "model"))) /* and not "model name", which has no colon there */
			take_number(value, &id.model);
		else if ((value = value_of(line, "model name")))
			take_text(value, id.model_name, sizeof(id.model_name));
		else if ((value = value_of(line, "microcode")))
			take_text(value, id.microcode, sizeof(id.microcode));
		else if ((value = value_of(line, "flags")))
			id.guest = has_word(value, "hypervisor");
	}
	return id;
}

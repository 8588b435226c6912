// SPDX-License-Identifier: BSD-2-Clause
/* base/procfs.c: a path found in /proc/PID/cgroup ends a line of it, and is found again in a line of its own. */
#include "fuzz.h"

#include "../../src/base/procfs.h"

#include <errno.h>
#include <stdbool.h>

static const char deleted[] = " (deleted)";

static void expect_same_again(const struct sw_proc_cgroup *c, const char *head, const char *controller)
{
	char *line = malloc(strlen(head) + c->path_length + sizeof(deleted) + 1), *to;
	struct sw_proc_cgroup again;

	must(line);
	to = stpcpy(line, head);
	to = mempcpy(to, c->path, c->path_length);
	if (c->deleted)
		to = stpcpy(to, deleted);
	*to++ = '\n';
	must(!sw_proc_cgroup_find(line, (size_t)(to - line), controller, &again));
	must(again.path == line + strlen(head) && again.path_length == c->path_length && again.deleted == c->deleted);
	must(!memcmp(again.path, c->path, c->path_length));
	/* what is v2's is not v1's */
	must(sw_proc_cgroup_find(line, (size_t)(to - line), controller ? NULL : "cpuacct", &again) == -ENOENT);
	free(line);
}

static void one(const char *text, size_t size, const char *head, const char *controller)
{
	const char *end = text + size, *behind;
	struct sw_proc_cgroup c = {.path_length = 77};
	int err = sw_proc_cgroup_find(text, size, controller, &c);

	must(!err || (err == -ENOENT && !c.path && c.path_length == 77));
	if (err)
		return;
	must(c.path >= text + strlen("0::") && c.path < end);
	must(c.path_length && c.path_length <= (size_t)(end - c.path));
	must(c.path[-1] == ':' && c.path[0] == '/' && !memchr(c.path, '\n', c.path_length));
	behind = c.path + c.path_length;
	if (c.deleted) {
		must(!controller && (size_t)(end - behind) >= strlen(deleted));
		must(!memcmp(behind, deleted, strlen(deleted)));
		behind += strlen(deleted);
	}
	must(behind == end || *behind == '\n');
	expect_same_again(&c, head, controller);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	one(text, size, "0::", NULL);
	one(text, size, "2:cpuacct:", "cpuacct");
	one(text, size, "18446744073709551615:cpu,cpuacct:", "cpuacct");
	one(text, size, "4:cpuacct,cpu:", "cpuacct");
	one(text, size, "1:name=systemd:", "name=systemd");
	return 0;
}

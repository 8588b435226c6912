/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how container runtimes, kubelet, systemd and Slurm name their cgroups. Must not know: what runs in them, or
 * what the labels are for. Relies on: runc's libcontainer/cgroups/systemd, kubelet's cgroup_manager_linux.go, podman's
 * libpod, cri-o's cgmgr; systemd's src/basic/cgroup-util.c and unit-name.c; slurm's cgroup plugins.
 */
#include "cgroup_labels.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
	ID_DIGITS = 64,
	UUID_LENGTH = 36,
	STATIC_DIGITS = 32, /* the uid of a static pod is a hash of its file */
};

/* A part of the path. */
struct part {
	const char *text;
	size_t len;
};

struct walk {
	struct part parent, grandparent; /* of the component looked at */
	bool slices;    /* all so far were slices */
	bool in_job;    /* the parent is a job of Slurm's */
	struct cgroup_labels *labels;
};

static bool is(struct part p, const char *text)
{
	return p.len == strlen(text) && !memcmp(p.text, text, p.len);
}

static bool starts(struct part p, const char *text)
{
	return p.len >= strlen(text) && !memcmp(p.text, text, strlen(text));
}

static bool ends(struct part p, const char *text)
{
	size_t len = strlen(text);

	return p.len >= len && !memcmp(p.text + p.len - len, text, len);
}

static struct part from(struct part p, size_t n)
{
	return (struct part){ p.text + n, p.len - n };
}

static struct part without(struct part p, const char *suffix)
{
	return ends(p, suffix) ? (struct part){ p.text, p.len - strlen(suffix) } : p;
}

#define DIGITS  "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static bool consists_of(struct part p, const char *bytes)
{
	for (size_t i = 0; i < p.len; i++)
		if (!memchr(bytes, p.text[i], strlen(bytes)))
			return false;
	return p.len > 0;
}

static bool is_hex(struct part p, size_t len)
{
	return p.len == len && consists_of(p, DIGITS "abcdef");
}

static bool is_number(struct part p, size_t max)
{
	return p.len <= max && consists_of(p, DIGITS);
}

static void set(char *to, size_t size, struct part p)
{
	if (p.len < size)
		snprintf(to, size, "%.*s", (int)p.len, p.text);
}

/* --- containers */

static const char *runtime_of(struct part prefix)
{
	static const char *const runtimes[][2] = {
		{ "docker", "docker://" },
		{ "cri-containerd", "containerd://" },
		{ "nerdctl", "containerd://" },
		{ "crio", "cri-o://" },
		{ "libpod", "podman://" },
	};

	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
		if (is(prefix, runtimes[i][0]))
			return runtimes[i][1];
	return NULL;
}

/* A pod's uid behind "pod", as the name of a slice or of a directory has it. */
static bool pod_uid(struct part p, char uid[CGROUP_POD_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < p.len; i++) {
		struct part rest = from(p, i);

		if (n == UUID_LENGTH)
			return false;
		if (starts(rest, "\\x2d")) {
			uid[n++] = '-';
			i += 3;
		} else {
			uid[n++] = *rest.text == '_' ? '-' : *rest.text;
		}
	}
	uid[n] = '\0';
	if (n == UUID_LENGTH)
		return is_hex((struct part){ uid, 8 }, 8) && uid[8] == '-' && is_hex((struct part){ uid + 9, 4 }, 4) &&
		       uid[13] == '-' && is_hex((struct part){ uid + 14, 4 }, 4) && uid[18] == '-' &&
		       is_hex((struct part){ uid + 19, 4 }, 4) && uid[23] == '-' &&
		       is_hex((struct part){ uid + 24, 12 }, 12);
	return is_hex((struct part){ uid, n }, STATIC_DIGITS);
}

/* "pod<uid>", "kubepods-burstable-pod<uid>.slice" */
static bool pod_of(struct part component, char uid[CGROUP_POD_MAX])
{
	struct part name = without(component, ".slice");

	if (starts(name, "pod"))
		return pod_uid(from(name, 3), uid);
	if (name.len == component.len)
		return false;
	for (size_t i = name.len; i-- > 0;)
		if (starts(from(name, i), "-pod"))
			return pod_uid(from(name, i + 4), uid);
	return false;
}

/* A component that systemd's driver of runc did not get to translate: "slice:prefix:name". */
static bool split_colons(struct part component, struct part *slice, struct part *prefix, struct part *name)
{
	const char *first = memchr(component.text, ':', component.len), *second;
	const char *end = component.text + component.len;

	second = first ? memchr(first + 1, ':', (size_t)(end - first - 1)) : NULL;
	if (!second)
		return false;
	*slice = (struct part){ component.text, (size_t)(first - component.text) };
	*prefix = (struct part){ first + 1, (size_t)(second - first - 1) };
	*name = (struct part){ second + 1, (size_t)(end - second - 1) };
	return true;
}

/* The name of the directory alone is 64 digits: its parent says whether that is a container. */
static const char *runtime_by_parent(struct part parent)
{
	char uid[CGROUP_POD_MAX];

	if (is(parent, "docker"))
		return "docker://";
	if (is(parent, "k8s.io"))
		return "containerd://";
	return pod_of(parent, uid) ? "" : NULL;
}

static const char *container_of(const struct walk *w, struct part component, struct part *id)
{
	struct part slice, prefix, name = without(component, ".scope");

	if (split_colons(component, &slice, &prefix, id))
		return is_hex(*id, ID_DIGITS) ? runtime_of(prefix) : NULL;
	if (name.len < ID_DIGITS)
		return NULL;
	*id = from(name, name.len - ID_DIGITS);
	if (!is_hex(*id, ID_DIGITS))
		return NULL;
	if (name.len == ID_DIGITS)
		return runtime_by_parent(w->parent);
	prefix = (struct part){ name.text, name.len - ID_DIGITS };
	return ends(prefix, "-") ? runtime_of(without(prefix, "-")) : NULL;
}

static void look_for_container(const struct walk *w, struct part component)
{
	struct part slice = component, prefix, id;
	const char *runtime = container_of(w, component, &id);
	char uid[CGROUP_POD_MAX];

	if (runtime)
		snprintf(w->labels->container_id, CGROUP_CONTAINER_MAX, "%s%.*s", runtime, (int)id.len, id.text);
	split_colons(component, &slice, &prefix, &id);
	if (pod_of(slice, uid))
		memcpy(w->labels->pod_uid, uid, sizeof(uid));
}

/* --- systemd */

static bool is_unit_name(struct part p)
{
	const char *at = memchr(p.text, '@', p.len), *dot = memrchr(p.text, '.', p.len);

	if (p.len >= CGROUP_UNIT_MAX || !consists_of(p, DIGITS LETTERS ":-_.\\@"))
		return false;
	return p.text[0] != '.' && at != p.text && !(at && dot == at + 1); /* which would be a template */
}

/* The kinds of units that have cgroups, but for slices. */
static bool is_unit(struct part p)
{
	static const char *const suffixes[] = { ".service", ".scope", ".socket", ".mount", ".swap" };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (ends(p, suffixes[i]))
			return p.len > strlen(suffixes[i]) && is_unit_name(p);
	return false;
}

static void look_for_unit(struct walk *w, struct part component)
{
	struct part user = without(from(component, starts(component, "user-") ? 5 : 0), ".slice");

	if (!w->slices)
		return;
	if (starts(component, "_")) /* put before names that the kernel would take for files of its own */
		component = from(component, 1);
	if (ends(component, ".slice") && is_unit_name(component)) {
		if (user.text != component.text && is_number(user, CGROUP_USER_MAX - 1))
			set(w->labels->user, CGROUP_USER_MAX, user);
		return;
	}
	w->slices = false;
	if (is_unit(component))
		set(w->labels->systemd_unit, CGROUP_UNIT_MAX, component);
}

/* --- Slurm */

static bool is_slurm_root(struct part p)
{
	return is(p, "slurm") || starts(p, "slurm_");
}

static bool is_slurm_scope(struct part p)
{
	return is(p, "slurmstepd.scope") || ends(p, "_slurmstepd.scope");
}

static bool is_step(struct part p)
{
	return p.len < CGROUP_SLURM_MAX && consists_of(p, DIGITS LETTERS "_.+-");
}

static void look_for_job(struct walk *w, struct part component)
{
	struct cgroup_labels *l = w->labels;
	bool in_job = w->in_job;

	w->in_job = false;
	if (in_job && starts(component, "step_") && is_step(from(component, 5))) {
		set(l->slurm_step, CGROUP_SLURM_MAX, from(component, 5));
	} else if (starts(component, "job_") && is_number(from(component, 4), CGROUP_SLURM_MAX - 1) &&
		   (is_slurm_scope(w->parent) || (is_slurm_root(w->grandparent) && starts(w->parent, "uid_")))) {
		set(l->slurm_job_id, CGROUP_SLURM_MAX, from(component, 4));
		l->slurm_step[0] = '\0';
		w->in_job = true;
	} else if (is_slurm_root(w->parent) && starts(component, "uid_") && !l->container_id[0] &&
		   is_number(from(component, 4), CGROUP_USER_MAX - 1)) {
		set(l->user, CGROUP_USER_MAX, from(component, 4));
	}
}

const char *cgroup_labels_path(const char *line)
{
	const char *colon = *line == '/' ? NULL : strchr(line, ':');

	colon = colon ? strchr(colon + 1, ':') : NULL;
	return colon ? colon + 1 : line;
}

void cgroup_labels_parse(const char *path, struct cgroup_labels *ret)
{
	struct walk w = { .slices = true, .labels = ret, .parent = { "", 0 }, .grandparent = { "", 0 } };

	*ret = (struct cgroup_labels){ 0 };
	path = cgroup_labels_path(path);
	while (*(path += strspn(path, "/"))) {
		struct part component = { path, strcspn(path, "/") };

		path += component.len;
		if (is(component, ".."))
			continue;
		look_for_job(&w, component);
		look_for_container(&w, component);
		look_for_unit(&w, component);
		w.grandparent = w.parent;
		w.parent = component;
	}
}

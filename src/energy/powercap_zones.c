/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which of the zones found can be read, which count the same energy, and the path that each is shown by. Must not
 * know: wraps, windows, tasks, CPUs. Source: Documentation/power/powercap/powercap.rst.
 */
#include "powercap_zones.h"

#include "../base/root.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int set_problem(struct sw_found *f, const char *file, int err)
{
	const char *words;
	int n;

	f->err = err;
	switch (err) {
	case -EACCES:
	case -EPERM:
		words = "permission denied. Since CVE-2020-8694 (energy readings give secrets away) only root may read "
			"it: run as root, grant CAP_DAC_READ_SEARCH, or let a udev rule make the file readable to "
			"your group";
		break;
	case -ENOENT:
		words = strcmp(file, "name") ? "does not exist" : "does not exist: the driver has gone, or a container's "
			"runtime hides it";
		break;
	case -ENODATA:
		words = "is empty, or the counter has no data";
		break;
	case -EINVAL:
	case -ERANGE:
	case -EFBIG:
		words = "does not hold what it should, or the counter refuses to be read";
		break;
	case -EIO:
		words = "input/output error";
		break;
	default:
		words = NULL;
	}
	/* No strerror(): its words change with the locale. */
	if (words)
		n = asprintf(&f->info.problem, SW_POWERCAP_DIR "/%s/%s: %s", f->where, file, words);
	else
		n = asprintf(&f->info.problem, SW_POWERCAP_DIR "/%s/%s: error %d", f->where, file, -err);
	if (n < 0)
		f->info.problem = NULL;
	return n < 0 ? -ENOMEM : 0;
}

/* Where the zone lies, and a first reading. Only -ENOMEM fails; anything else becomes the zone's problem. */
static int examine(int powercap_fd, const struct sw_found_list *list, struct sw_found *f)
{
	const struct sw_found *parent = sw_found_parent(list, f);
	char path[128];
	uint64_t uj;
	int err;

	if (parent) {
		f->info.package = parent->info.package;
		f->info.die = parent->info.die;
	}
	if (f->err)
		return set_problem(f, "name", f->err);

	snprintf(path, sizeof(path), "%s/max_energy_range_uj", f->where);
	if (sw_file_read_u64(powercap_fd, path, UINT64_MAX, &f->info.range_uj))
		f->info.range_uj = 0;
	f->info.wrap_uj = f->info.range_uj;
	f->fd = sw_found_open_counter(powercap_fd, f);
	err = f->fd < 0 ? f->fd : sw_fd_read_u64(f->fd, UINT64_MAX, &uj);
	if (!err)
		return 0;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	return set_problem(f, "energy_uj", err);
}

/*
 * True when one counts what the other does, or a part of it: a whole package beside its dies. Never for names we do not
 * know: they are not added anyway.
 */
static bool same_energy(const struct sw_found *a, const struct sw_found *b)
{
	if (a->info.role != b->info.role || a->info.role == SW_ROLE_UNKNOWN)
		return false;
	if (a->info.role == SW_ROLE_PLATFORM) /* two of one kind are two; each socket may have one */
		return a->mmio != b->mmio && !strcmp(a->label, b->label);
	if (a->info.role == SW_ROLE_SUBZONE && strcmp(a->label, b->label))
		return false;
	return a->info.package >= 0 && a->info.package == b->info.package &&
	       (a->info.die == b->info.die || a->info.die < 0 || b->info.die < 0);
}

/* Does one of the list's first n, which is no twin itself, count the energy of f? */
static bool is_counted(const struct sw_found_list *list, size_t n, const struct sw_found *f, bool readable)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct sw_found *other = &list->zone[i];

		if (other != f && !other->info.twin && !other->info.problem == readable && same_energy(f, other))
			return true;
	}
	return false;
}

/* Of several views of one energy the first that can be read is the zone, MSR before MMIO; the others are twins. */
static void mark_twins(struct sw_found_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (!list->zone[i].info.problem)
			list->zone[i].info.twin = is_counted(list, i, &list->zone[i], true);
	for (i = 0; i < list->n; i++)
		if (list->zone[i].info.problem)
			list->zone[i].info.twin = is_counted(list, list->n, &list->zone[i], true) ||
						  is_counted(list, i, &list->zone[i], false);
}

static bool path_taken(const struct sw_found_list *list, const char *path)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (list->zone[i].info.name && !strcmp(list->zone[i].info.name, path))
			return true;
	return false;
}

/* Paths are unique: they become keys of records and labels of metrics. */
static int name_zone(const struct sw_found_list *list, struct sw_found *f)
{
	const struct sw_found *parent = sw_found_parent(list, f);
	char inside[64] = "", view[96] = "", *path;

	if (parent) {
		f->info.parent = strdup(parent->info.name);
		if (!f->info.parent)
			return -ENOMEM;
	} else if (f->subnumber >= 0) {
		snprintf(inside, sizeof(inside), "intel-rapl%s:%d", f->mmio ? "-mmio" : "", f->number);
	} else if (f->info.twin) {
		snprintf(view, sizeof(view), " (%s)", f->mmio ? "mmio" : sw_found_entry(f));
	}
	if (asprintf(&path, "%s%s%s%s", parent ? f->info.parent : inside, f->subnumber >= 0 ? "/" : "", f->label,
		     view) < 0)
		return -ENOMEM;
	if (!path_taken(list, path)) {
		f->info.name = path;
		return 0;
	}
	if (asprintf(&f->info.name, "%s (%s)", path, sw_found_entry(f)) < 0)
		f->info.name = NULL;
	free(path);
	return f->info.name ? 0 : -ENOMEM;
}

/* Package by package; zones without a number (psys) last. */
static int by_place(const void *a, const void *b)
{
	const struct sw_found *x = a, *y = b;

	if (x->info.package != y->info.package)
		return (unsigned)x->info.package < (unsigned)y->info.package ? -1 : 1;
	if (x->info.die != y->info.die)
		return x->info.die < y->info.die ? -1 : 1;
	if (x->info.role != y->info.role)
		return x->info.role < y->info.role ? -1 : 1;
	return strcmp(x->info.name, y->info.name);
}

int sw_powercap_find(int powercap_fd, struct sw_found_list *ret)
{
	struct sw_found_list list = { .n = 0 };
	size_t i;
	int err;

	err = sw_powercap_list(powercap_fd, &list);
	for (i = 0; !err && i < list.n; i++)
		err = examine(powercap_fd, &list, &list.zone[i]);
	if (!err)
		mark_twins(&list);
	for (i = 0; !err && i < list.n; i++)
		err = name_zone(&list, &list.zone[i]);
	if (err) {
		sw_found_free(&list);
		return err;
	}
	if (list.n)
		qsort(list.zone, list.n, sizeof(*list.zone), by_place);
	*ret = list;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: finding RAPL zones below class/powercap, and which of them count the same energy. Must not know: wraps,
 * windows, tasks, CPUs. Source: Documentation/power/powercap/powercap.rst, drivers/powercap/intel_rapl_common.c (names
 * of zones), Documentation/ABI/testing/sysfs-class-powercap. AMD's zones bear the same names.
 */
#include "powercap_zones.h"

#include "../base/root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool take_word(const char **text, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*text, word, n))
		return false;
	*text += n;
	return true;
}

/* As the kernel prints a small number: digits, no leading zero, so that one zone has one name. */
static bool take_number(const char **text, int *ret)
{
	const char *p = *text;
	int value = 0;

	if (p[0] == '0' && p[1] >= '0' && p[1] <= '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (p - *text == 9)
			return false;
		value = value * 10 + (*p - '0');
	}
	if (p == *text)
		return false;
	*text = p;
	*ret = value;
	return true;
}

/* "intel-rapl:0", "intel-rapl-mmio:0:1". Anything else (dtpm, the control type's own directory) is not for us. */
static bool parse_entry(const char *name, struct sw_found *f)
{
	f->subnumber = -1;
	f->mmio = take_word(&name, "intel-rapl-mmio:");
	if (!f->mmio && !take_word(&name, "intel-rapl:"))
		return false;
	if (!take_number(&name, &f->number))
		return false;
	if (*name == ':') {
		name++;
		if (!take_number(&name, &f->subnumber))
			return false;
	}
	return !*name;
}

/* "package-0" or "package-0-die-1". */
static bool parse_package(const char *label, int *package, int *die)
{
	int p, d = -1;

	if (!take_word(&label, "package-") || !take_number(&label, &p))
		return false;
	if (*label && (!take_word(&label, "-die-") || !take_number(&label, &d)))
		return false;
	if (*label)
		return false;
	*package = p;
	*die = d;
	return true;
}

static const char *entry_name(const struct sw_found *f)
{
	const char *slash = strrchr(f->where, '/');

	return slash ? slash + 1 : f->where;
}

static struct sw_found *find(const struct sw_found_list *list, bool mmio, int number, int subnumber)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (list->zone[i].mmio == mmio && list->zone[i].number == number &&
		    list->zone[i].subnumber == subnumber)
			return &list->zone[i];
	return NULL;
}

static int add_found(struct sw_found_list *list, const struct sw_found *f)
{
	struct sw_found *grown = reallocarray(list->zone, list->n + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	list->zone = grown;
	list->zone[list->n++] = *f;
	return 0;
}

/* Add what a directory lists: class/powercap itself, or (`parent`) a zone whose subzones have no flat entry. */
static int list_dir(int dir_fd, const char *path, const struct sw_found *parent, struct sw_found_list *list)
{
	struct dirent *entry;
	int fd, err = 0;
	DIR *dir;

	fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		err = -errno;
		close(fd);
		return err;
	}
	while (!err && (errno = 0, entry = readdir(dir))) {
		struct sw_found f = { .fd = -1, .info = { .package = -1, .die = -1 } };

		if (!parse_entry(entry->d_name, &f) || find(list, f.mmio, f.number, f.subnumber))
			continue;
		if (parent && (f.subnumber < 0 || f.mmio != parent->mmio || f.number != parent->number))
			continue;
		/* parse_entry() has bounded the name: 16 + 9 + 1 + 9 characters. */
		snprintf(f.where, sizeof(f.where), "%.*s%s%.*s", parent ? 38 : 0, parent ? parent->where : "",
			 parent ? "/" : "", 38, entry->d_name);
		err = add_found(list, &f);
	}
	if (!err && errno)
		err = -errno;
	closedir(dir);
	return err;
}

/* Packages before their subzones, MSR before MMIO, by number: the order of the directory does not matter. */
static int by_entry(const void *a, const void *b)
{
	const struct sw_found *x = a, *y = b;

	if ((x->subnumber < 0) != (y->subnumber < 0))
		return x->subnumber < 0 ? -1 : 1;
	if (x->mmio != y->mmio)
		return x->mmio ? 1 : -1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->subnumber > y->subnumber) - (x->subnumber < y->subnumber);
}

static int find_zones(int powercap_fd, struct sw_found_list *list)
{
	size_t i, n_flat;
	int err;

	err = list_dir(powercap_fd, ".", NULL, list);
	for (i = 0, n_flat = list->n; !err && i < n_flat; i++) {
		struct sw_found parent = list->zone[i]; /* a copy: the list may move */

		if (parent.subnumber < 0 && list_dir(powercap_fd, parent.where, &parent, list) == -ENOMEM)
			err = -ENOMEM; /* any other failure will show when the zone itself is read */
	}
	if (list->n)
		qsort(list->zone, list->n, sizeof(*list->zone), by_entry);
	return err;
}

/* Into f->label. Bytes that the kernel would not use in a name are taken for a file that holds no name. */
static int read_label(int powercap_fd, struct sw_found *f)
{
	char path[128], label[sizeof(f->label)];
	ssize_t n, i;

	snprintf(f->label, sizeof(f->label), "%.*s", (int)sizeof(f->label) - 1, entry_name(f));
	snprintf(path, sizeof(path), "%s/name", f->where);
	n = sw_file_read(powercap_fd, path, label, sizeof(label));
	if (n < 0)
		return (int)n;
	if (n && label[n - 1] == '\n')
		label[--n] = '\0';
	if (!n)
		return -ENODATA;
	for (i = 0; i < n; i++)
		if (label[i] <= ' ' || label[i] > '~' || label[i] == '/')
			return -EINVAL;
	memcpy(f->label, label, (size_t)n + 1);
	return 0;
}

static enum sw_zone_role role_of(struct sw_found *f)
{
	if (f->subnumber < 0 && parse_package(f->label, &f->info.package, &f->info.die))
		return SW_ROLE_PACKAGE;
	if (!strcmp(f->label, "dram"))
		return SW_ROLE_DRAM;
	if (!strcmp(f->label, "core") || !strcmp(f->label, "uncore"))
		return SW_ROLE_SUBZONE;
	if (!strcmp(f->label, "psys"))
		return SW_ROLE_PLATFORM;
	return SW_ROLE_UNKNOWN;
}

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
		words = "does not exist";
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

/* What the zone is, and a first reading. Only -ENOMEM fails; anything else becomes the zone's problem. */
static int examine(int powercap_fd, const struct sw_found_list *list, struct sw_found *f)
{
	const struct sw_found *parent = f->subnumber < 0 ? NULL : find(list, f->mmio, f->number, -1);
	char path[128];
	uint64_t uj;
	int err;

	err = read_label(powercap_fd, f);
	f->info.role = err ? SW_ROLE_UNKNOWN : role_of(f);
	if (parent) {
		f->info.package = parent->info.package;
		f->info.die = parent->info.die;
	}
	if (err)
		return set_problem(f, "name", err);

	snprintf(path, sizeof(path), "%s/max_energy_range_uj", f->where);
	if (sw_file_read_u64(powercap_fd, path, UINT64_MAX, &f->info.range_uj))
		f->info.range_uj = 0;
	f->info.wrap_uj = f->info.range_uj;
	snprintf(path, sizeof(path), "%s/energy_uj", f->where);
	f->fd = openat(powercap_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	err = f->fd < 0 ? -errno : sw_fd_read_u64(f->fd, UINT64_MAX, &uj);
	if (!err)
		return 0;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	return set_problem(f, "energy_uj", err);
}

/* True when both count the same energy. Never for names we do not know: they are not added anyway. */
static bool same_energy(const struct sw_found *a, const struct sw_found *b)
{
	if (a->info.role != b->info.role || a->info.role == SW_ROLE_UNKNOWN || strcmp(a->label, b->label))
		return false;
	if (a->info.role == SW_ROLE_PLATFORM) /* two of one kind are two; each socket may have one */
		return a->mmio != b->mmio;
	return a->info.package >= 0 && a->info.package == b->info.package && a->info.die == b->info.die;
}

/* Of several views of one energy the first that can be read is the zone, MSR before MMIO; the others are twins. */
static void mark_twins(struct sw_found_list *list)
{
	size_t i, j;

	for (i = 0; i < list->n; i++) {
		struct sw_found *f = &list->zone[i];

		for (j = 0; j < list->n && !f->info.twin; j++) {
			const struct sw_found *other = &list->zone[j];

			if (j == i || !same_energy(f, other))
				continue;
			if (!f->info.problem == !other->info.problem)
				f->info.twin = j < i;
			else
				f->info.twin = !other->info.problem;
		}
	}
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
	const struct sw_found *parent = f->subnumber < 0 ? NULL : find(list, f->mmio, f->number, -1);
	char inside[64] = "", view[96] = "", *path;

	if (parent) {
		f->info.parent = strdup(parent->info.name);
		if (!f->info.parent)
			return -ENOMEM;
	} else if (f->subnumber >= 0) {
		snprintf(inside, sizeof(inside), "intel-rapl%s:%d", f->mmio ? "-mmio" : "", f->number);
	} else if (f->info.twin) {
		snprintf(view, sizeof(view), " (%s)", f->mmio ? "mmio" : f->where);
	}
	if (asprintf(&path, "%s%s%s%s", parent ? f->info.parent : inside, f->subnumber >= 0 ? "/" : "", f->label,
		     view) < 0)
		return -ENOMEM;
	if (!path_taken(list, path)) {
		f->info.name = path;
		return 0;
	}
	if (asprintf(&f->info.name, "%s (%s)", path, entry_name(f)) < 0)
		f->info.name = NULL;
	free(path);
	return f->info.name ? 0 : -ENOMEM;
}

void sw_found_free(struct sw_found_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (list->zone[i].fd >= 0)
			close(list->zone[i].fd);
		free(list->zone[i].info.name);
		free(list->zone[i].info.parent);
		free(list->zone[i].info.problem);
	}
	free(list->zone);
	*list = (struct sw_found_list){ .n = 0 };
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

	err = find_zones(powercap_fd, &list);
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

bool sw_powercap_is_per_die(int sysfs_fd)
{
	struct sw_found_list list = { .n = 0 };
	bool per_die = false;
	int fd;
	size_t i;

	fd = openat(sysfs_fd, SW_POWERCAP_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (!list_dir(fd, ".", NULL, &list)) {
		for (i = 0; i < list.n; i++)
			if (!read_label(fd, &list.zone[i]) && role_of(&list.zone[i]) == SW_ROLE_PACKAGE &&
			    list.zone[i].info.die >= 0)
				per_die = true;
	}
	sw_found_free(&list);
	close(fd);
	return per_die;
}

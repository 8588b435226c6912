/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what lies in class/powercap, what each zone is called there, and which it is whatever its number. Must not
 * know: what counters say, nor which of them count the same energy. Source: Documentation/power/powercap/powercap.rst,
 * drivers/powercap/intel_rapl_common.c (names of zones), Documentation/ABI/testing/sysfs-class-powercap. AMD's zones
 * bear the same names.
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

const char *sw_found_entry(const struct sw_found *f)
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

/* Add what a directory lists: class/powercap itself, or one in it for what has no flat entry there; `parent`: a zone. */
static int list_dir(int dir_fd, const char *path, const struct sw_found *parent, struct sw_found_list *list)
{
	struct dirent *entry;
	int fd, err = 0;
	DIR *dir;

	fd = openat(dir_fd, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
		/* The deepest is a control type's, a zone's and a subzone's name, which parse_entry() has bounded. */
		snprintf(f.where, sizeof(f.where), "%.*s%s%.*s", 41, path, *path ? "/" : "", 35, entry->d_name);
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

/*
 * The kernel lists every zone in class/powercap; copies of it may hold only what the links there led to: zones below
 * their control type, subzones below their zones. What is there both ways is one.
 */
static int find_zones(int powercap_fd, struct sw_found_list *list)
{
	static const char *const control_types[] = { "intel-rapl", "intel-rapl-mmio" };
	size_t i, n_flat;
	int err;

	err = list_dir(powercap_fd, "", NULL, list);
	for (i = 0; !err && i < sizeof(control_types) / sizeof(control_types[0]); i++)
		if (list_dir(powercap_fd, control_types[i], NULL, list) == -ENOMEM)
			err = -ENOMEM;
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

	snprintf(f->label, sizeof(f->label), "%.*s", (int)sizeof(f->label) - 1, sw_found_entry(f));
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

/* "psys", or that of another socket: "psys-1". */
static bool is_platform(const char *label)
{
	int socket;

	return take_word(&label, "psys") &&
	       (!*label || (take_word(&label, "-") && take_number(&label, &socket) && !*label));
}

static enum sw_zone_role role_of(struct sw_found *f)
{
	if (f->subnumber < 0 && parse_package(f->label, &f->info.package, &f->info.die))
		return SW_ROLE_PACKAGE;
	if (!strcmp(f->label, "dram"))
		return SW_ROLE_DRAM;
	if (!strcmp(f->label, "core") || !strcmp(f->label, "uncore"))
		return SW_ROLE_SUBZONE;
	if (is_platform(f->label))
		return SW_ROLE_PLATFORM;
	return SW_ROLE_UNKNOWN;
}

const struct sw_found *sw_found_parent(const struct sw_found_list *list, const struct sw_found *f)
{
	return f->subnumber < 0 ? NULL : find(list, f->mmio, f->number, -1);
}

static bool look_alike(const struct sw_found_list *list, const struct sw_found *a, const struct sw_found *b)
{
	const struct sw_found *in_a = sw_found_parent(list, a), *in_b = sw_found_parent(list, b);

	return a->mmio == b->mmio && (a->subnumber < 0) == (b->subnumber < 0) && !strcmp(a->label, b->label) &&
	       !strcmp(in_a ? in_a->label : "", in_b ? in_b->label : "");
}

/* A zone is known by its name and its package's. Only of those that look alike each is what its number says. */
static int say_what(const struct sw_found_list *list, struct sw_found *f)
{
	const struct sw_found *parent = sw_found_parent(list, f);
	size_t i, n_alike = 0;
	int n;

	for (i = 0; i < list->n; i++)
		n_alike += look_alike(list, f, &list->zone[i]);
	n = asprintf(&f->what, "%s/%s%s%s%s%s", f->mmio ? "mmio" : "msr", parent ? parent->label : "",
		     f->subnumber < 0 ? "" : "/", f->label, n_alike > 1 ? " " : "", n_alike > 1 ? sw_found_entry(f) : "");
	if (n < 0)
		f->what = NULL;
	return n < 0 ? -ENOMEM : 0;
}

int sw_powercap_list(int powercap_fd, struct sw_found_list *ret)
{
	struct sw_found_list list = { .n = 0 };
	size_t i;
	int err;

	err = find_zones(powercap_fd, &list);
	for (i = 0; !err && i < list.n; i++) {
		struct sw_found *f = &list.zone[i];

		f->err = read_label(powercap_fd, f);
		f->info.role = f->err ? SW_ROLE_UNKNOWN : role_of(f);
	}
	for (i = 0; !err && i < list.n; i++)
		err = say_what(&list, &list.zone[i]);
	if (err) {
		sw_found_free(&list);
		return err;
	}
	*ret = list;
	return 0;
}

int sw_found_open_counter(int powercap_fd, const struct sw_found *f)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/energy_uj", f->where);
	fd = openat(powercap_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd >= 0 ? fd : -errno;
}

int sw_powercap_open_counter(int powercap_fd, const struct sw_found_list *list, const char *what)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (!strcmp(list->zone[i].what, what))
			return sw_found_open_counter(powercap_fd, &list->zone[i]);
	return -ENODEV;
}

void sw_found_free(struct sw_found_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (list->zone[i].fd >= 0)
			close(list->zone[i].fd);
		free(list->zone[i].what);
		free(list->zone[i].info.name);
		free(list->zone[i].info.parent);
		free(list->zone[i].info.problem);
	}
	free(list->zone);
	*list = (struct sw_found_list){ .n = 0 };
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
	if (!sw_powercap_list(fd, &list))
		for (i = 0; i < list.n; i++)
			if (list.zone[i].info.role == SW_ROLE_PACKAGE && list.zone[i].info.die >= 0)
				per_die = true;
	sw_found_free(&list);
	close(fd);
	return per_die;
}

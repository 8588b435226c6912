/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the mounted hierarchy of cgroup v2, and the way between ids and paths in it. Must not know: what cgroups are
 * watched, or why.
 * Relies on cgroup_namespaces(7), open_by_handle_at(2), and fs/kernfs/mount.c: a cgroup's id is its file handle and its
 * inode number.
 */
#include "cgroupfs.h"

#include "mountinfo.h"
#include "root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FILEID_KERNFS 0xfe /* include/linux/exportfs.h: 64-bit id of a kernfs node. Since Linux 5.5 */

/* Not /proc of the caller's choice: fds are those of this very process. malloc()ed, or NULL. */
static char *path_of_fd(int fd)
{
	char link[32], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	if (n <= 0 || n == sizeof(path) || path[0] != '/')
		return NULL;
	return strndup(path, (size_t)n);
}

/* A directory of this very file system: 0 and *ret_id, or -errno. `path` is from the root, without "..". */
static int find_directory(const struct sw_cgroupfs *c, const char *path, uint64_t *ret_id)
{
	struct stat root, st;
	int fd, err = 0;

	while (*path == '/')
		path++;
	fd = openat(c->fd, *path ? path : ".", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || fstat(c->fd, &root))
		err = -errno;
	else if (st.st_dev != root.st_dev)
		err = -EXDEV;
	else
		*ret_id = st.st_ino;
	close(fd);
	return err;
}

static bool climbs(const char *path)
{
	const char *at = path;

	while ((at = strstr(at, ".."))) {
		if ((at == path || at[-1] == '/') && (!at[2] || at[2] == '/'))
			return true;
		at += 2;
	}
	return false;
}

uint64_t sw_cgroupfs_id(const struct sw_cgroupfs *c, const char *path)
{
	uint64_t id;

	return climbs(path) || find_directory(c, path, &id) ? 0 : id;
}

static int open_by_id(const struct sw_cgroupfs *c, uint64_t id)
{
	_Alignas(struct file_handle) char room[sizeof(struct file_handle) + sizeof(id)] = {0};
	struct file_handle *handle = (struct file_handle *)room;

	handle->handle_bytes = sizeof(id);
	handle->handle_type = FILEID_KERNFS;
	memcpy(handle->f_handle, &id, sizeof(id));
	return open_by_handle_at(c->fd, handle, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

char *sw_cgroupfs_path(const struct sw_cgroupfs *c, uint64_t id)
{
	char *whole, *path = NULL;
	size_t n;
	int fd;

	if (c->fd < 0)
		return NULL;
	n = strcmp(c->mount, "/") ? strlen(c->mount) : 0;
	if (id == c->root_id)
		return strdup("/");
	fd = open_by_id(c, id);
	if (fd < 0)
		return NULL;
	whole = path_of_fd(fd);
	close(fd);
	/* What lies outside of the mounted part has a path without the mount point before it, and what was removed just
	 * now has " (deleted)" behind it: so the path must lead back. */
	if (whole && !strncmp(whole, c->mount, n) && whole[n] == '/' && sw_cgroupfs_id(c, whole + n) == id)
		path = strdup(whole + n);
	free(whole);
	return path;
}

/* --- which cgroup a text means */

/* What is behind the mount point in an absolute path that begins with it, or NULL. */
static const char *behind_mount(const char *text, const char *mount)
{
	if (*text != '/')
		return NULL;
	for (;;) {
		size_t n;

		while (*text == '/' || (text[0] == '.' && (text[1] == '/' || !text[1])))
			text++;
		while (*mount == '/')
			mount++;
		n = strcspn(mount, "/");
		if (!n)
			return text;
		if (strncmp(text, mount, n) || (text[n] && text[n] != '/'))
			return NULL;
		text += n;
		mount += n;
	}
}

/* The path from the root, each step taken as written: 0 and *ret, malloc()ed; -EINVAL: it climbs out of the root. */
static int normalize(const char *text, char **ret)
{
	char *path = malloc(strlen(text) + 2), *to = path;

	if (!path)
		return -ENOMEM;
	while (*text) {
		size_t n = strcspn(text, "/");

		if (n == 2 && text[0] == '.' && text[1] == '.') {
			if (to == path) {
				free(path);
				return -EINVAL;
			}
			while (*--to != '/')
				;
		} else if (n && !(n == 1 && text[0] == '.')) {
			*to++ = '/';
			to = mempcpy(to, text, n);
		}
		text += n + (text[n] == '/');
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
	*ret = path;
	return 0;
}

/* Is an absolute path, or what exists of it, in a hierarchy of v1? */
static bool is_v1(const char *text)
{
	char *path = *text == '/' ? strdup(text) : NULL, *end;
	bool found = false;
	struct statfs fs;

	while (path && *path && !found) {
		if (!statfs(path, &fs)) {
			found = fs.f_type == CGROUP_SUPER_MAGIC;
			break;
		}
		end = strrchr(path, '/');
		*end = '\0';
	}
	free(path);
	return found;
}

/* "4:memory:/x", "1:name=systemd:/x": a line of /proc/PID/cgroup that is not the one of v2. */
static bool is_v1_line(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	const char *colon = digits && text[digits] == ':' ? strchr(text + digits + 1, ':') : NULL;

	return colon && colon[1] == '/' && strncmp(text, "0::", 3);
}

static int refuse_v1(const char *text, struct sw_error *error)
{
	return sw_fail(error, -EINVAL, "%s is a cgroup of v1, by which no time is accounted; give that of v2: the line "
		       "with 0:: in /proc/PID/cgroup of a process in it", text);
}

static int explain(const struct sw_cgroupfs *c, int err, const char *text, const char *path, struct sw_error *error)
{
	if (is_v1(text))
		return refuse_v1(text, error);
	if (err == -ENOENT)
		return sw_fail(error, err, "there is no cgroup %s below %s; find %s -type d lists all", path, c->mount,
			       c->mount);
	if (err == -ENOTDIR)
		return sw_fail(error, err, "%s below %s is a file and no cgroup; give its directory", path, c->mount);
	if (err == -EXDEV)
		return sw_fail(error, -EINVAL, "%s below %s is of another file system and no cgroup", path, c->mount);
	return sw_fail(error, err, "cannot look at a cgroup: %s: %s below %s", strerror(-err), path, c->mount);
}

/* Where in `text` the path from the root begins. A link may lead below the mount point: then *real is to be freed. */
static const char *from_root(const struct sw_cgroupfs *c, const char *text, char **real)
{
	const char *rest = behind_mount(text, c->mount);

	if (rest || *text != '/')
		return rest ? rest : text;
	*real = realpath(text, NULL);
	rest = *real ? behind_mount(*real, c->mount) : NULL;
	return rest ? rest : text;
}

int sw_cgroupfs_resolve(const struct sw_cgroupfs *c, const char *text, struct sw_error *error, char **ret_path,
			uint64_t *ret_id)
{
	char *real = NULL, *path = NULL;
	int err;

	if (!*text)
		return sw_fail(error, -EINVAL, "an empty path is no cgroup; the root is /");
	if (is_v1_line(text))
		return refuse_v1(text, error);
	if (!strncmp(text, "0::", 3) && text[3] != '/')
		return sw_fail(error, -EINVAL, "%s is no cgroup; behind 0:: comes a slash", text);
	err = normalize(!strncmp(text, "0::", 3) ? text + 3 : from_root(c, text, &real), &path);
	if (err == -EINVAL)
		sw_fail(error, err, "%s leads out of what is seen below %s; it has a .. too many", text,
			c->mount);
	else if (err)
		sw_fail(error, err, "out of memory");
	free(real);
	if (err)
		return err;
	err = find_directory(c, path, ret_id);
	if (err) {
		err = explain(c, err, text, path, error);
		free(path);
		return err;
	}
	*ret_path = path;
	return 0;
}

/* --- where it is mounted */

/* Which hierarchy is looked for. A captured tree has the file that is in every cgroup of it, and in no other. */
struct wanted {
	const char *controller; /* of v1; NULL: v2 */
	const char *file;
};

static const struct wanted v2 = {.file = "cgroup.controllers"};

static bool is_wanted(const struct wanted *w, int fd)
{
	struct statfs fs;

	return (!w->controller && !fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC) ||
	       !faccessat(fd, w->file, F_OK, 0);
}

static bool lists(const char *options, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = options; (at = strstr(at, word)); at += n)
		if ((at == options || at[-1] == ',') && (!at[n] || at[n] == ','))
			return true;
	return false;
}

static bool is_type(const struct wanted *w, const struct sw_mount *mount)
{
	if (!w->controller)
		return !strcmp(mount->type, "cgroup2");
	return !strcmp(mount->type, "cgroup") && lists(mount->options, w->controller);
}

/* 0, -EINVAL (another file system: what was mounted here is covered, or never was), or what open(2) gives. */
static int open_mount(struct sw_cgroupfs *c, const struct wanted *w, const char *path, const char *part)
{
	struct stat st;
	int err = -EINVAL, fd = sw_root_open(path);

	if (fd < 0)
		return fd;
	if (!is_wanted(w, fd))
		goto out;
	err = fstat(fd, &st) ? -errno : 0;
	if (err)
		goto out;
	err = -ENOMEM;
	c->mount = path_of_fd(fd); /* the kernel's own way to write it, which paths by handle begin with */
	if (!c->mount)
		c->mount = strdup(path);
	c->part = part ? strdup(part) : NULL;
	if (!c->mount || !c->part != !part)
		goto out;
	c->fd = fd;
	c->root_id = st.st_ino;
	return 0;
out:
	close(fd);
	sw_cgroupfs_close(c);
	return err;
}

/* The first that opens, of those that show a whole hierarchy, or of the others. *ret_point: one that did not. */
static int open_first(struct sw_cgroupfs *c, const struct wanted *w, const char *mounts, bool whole, char **ret_point,
		      int *ret_err)
{
	char *text = strdup(mounts), *at = text;
	struct sw_mount mount;
	int err = text ? -ENOENT : -ENOMEM;

	while (err && at && sw_mountinfo_next(&at, &mount)) {
		if (!is_type(w, &mount) || !strcmp(mount.root, "/") != whole)
			continue;
		err = open_mount(c, w, mount.point, mount.root);
		if (err && !*ret_point) {
			*ret_err = err;
			*ret_point = strdup(mount.point);
		}
	}
	free(text);
	return err;
}

static int find_mount(struct sw_cgroupfs *c, const struct wanted *w, int procfs_fd, struct sw_error *error)
{
	char *mounts, *point = NULL;
	int point_err = 0, err = sw_mountinfo_read(procfs_fd, &mounts);

	if (err)
		return sw_fail(error, err, "cannot read self/mountinfo of procfs: %s", strerror(-err));
	err = open_first(c, w, mounts, true, &point, &point_err);
	if (err)
		err = open_first(c, w, mounts, false, &point, &point_err);
	if (err && point)
		err = sw_fail(error, point_err, "cannot use cgroup %s at %s: %s", w->controller ? "v1" : "v2", point,
			      point_err == -EINVAL ? "another file system covers it" : strerror(-point_err));
	else if (err && w->controller)
		err = sw_fail(error, -ENOENT, "no cgroup v1 with the controller %s is mounted", w->controller);
	else if (err)
		err = sw_fail(error, -ENOENT, "no cgroup v2 is mounted; mount -t cgroup2 none DIR mounts it");
	free(mounts);
	free(point);
	return err;
}

int sw_cgroupfs_open(struct sw_cgroupfs *c, int procfs_fd, const char *path, struct sw_error *error)
{
	struct sw_cgroupfs other;
	int err;

	*c = (struct sw_cgroupfs){.fd = -1};
	if (!path)
		return find_mount(c, &v2, procfs_fd, error);
	err = open_mount(c, &v2, path, NULL);
	if (err != -EINVAL)
		return err ? sw_fail(error, err, "cannot open cgroup v2 at %s: %s", path, strerror(-err)) : 0;
	if (sw_cgroupfs_open(&other, procfs_fd, NULL, NULL))
		return sw_fail(error, err, "%s is no cgroup v2; give the directory where it is mounted", path);
	sw_fail(error, err, "%s is no cgroup v2; one is mounted at %s", path, other.mount);
	sw_cgroupfs_close(&other);
	return err;
}

int sw_cgroupfs_open_v1(struct sw_cgroupfs *c, int procfs_fd, const char *controller, const char *file,
			struct sw_error *error)
{
	const struct wanted v1 = {.controller = controller, .file = file};

	*c = (struct sw_cgroupfs){.fd = -1};
	return find_mount(c, &v1, procfs_fd, error);
}

int sw_cgroupfs_inside(const struct sw_cgroupfs *c, const char *path, size_t n, char **ret)
{
	size_t skip = c->part && strcmp(c->part, "/") ? strlen(c->part) : 0;
	bool holds = n >= skip && !memcmp(path, c->part ? c->part : "", skip) && (n == skip || path[skip] == '/');

	/* What is mounted from above the caller's root ("/..") holds that too, but no path could be made of these two. */
	if (n >= 3 && !memcmp(path, "/..", 3) && (n == 3 || path[3] == '/'))
		return -EXDEV;
	if (!holds)
		return -ENOENT;
	*ret = n == skip ? strdup("/") : strndup(path + skip, n - skip);
	return *ret ? 0 : -ENOMEM;
}

void sw_cgroupfs_close(struct sw_cgroupfs *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->mount);
	free(c->part);
	*c = (struct sw_cgroupfs){.fd = -1};
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the mounted hierarchy of cgroup v2, and the way between ids and paths in it. Must not know: what cgroups are
 * watched, or why.
 * Relies on open_by_handle_at(2) and fs/kernfs/mount.c: a cgroup's id is its file handle and its inode number.
 */
#include "cgroupfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
	size_t n = strcmp(c->mount ? c->mount : "/", "/") ? strlen(c->mount) : 0;
	char *whole, *path = NULL;
	int fd;

	if (c->fd < 0)
		return NULL;
	if (id == c->root_id)
		return strdup("/");
	fd = open_by_id(c, id);
	if (fd < 0)
		return NULL;
	whole = path_of_fd(fd);
	close(fd);
	/* One outside of what is mounted here has a path without the mount point before it, and one that was removed just
	 * now has " (deleted)" behind: so the path must lead back. */
	if (whole && !strncmp(whole, c->mount ? c->mount : "", n) && whole[n] == '/' && sw_cgroupfs_id(c, whole + n) == id)
		path = strdup(whole + n);
	free(whole);
	return path;
}

void sw_cgroupfs_close(struct sw_cgroupfs *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->mount);
	*c = (struct sw_cgroupfs){.fd = -1};
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: a cgroup that is made for a target, so that the kernel itself accounts it, and its removal. Must not know: how
 * time is read.
 * Relies on cgroups(7): whoever may make a directory in a cgroup may move the processes of that cgroup into it (also of
 * a delegated one), and one with processes or cgroups in it cannot be removed. No controller is switched on.
 */
#include "group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REMOVE_TRIES 20 /* what has ended may take a moment to leave */
#define REMOVE_PAUSE_NS 5000000
#define DEPTH_MAX 64

static int move(int dir_fd, const int32_t *pids, size_t n)
{
	int fd = openat(dir_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC), err = 0;
	char text[16];

	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < n && !err; i++) {
		int length = snprintf(text, sizeof(text), "%d\n", pids[i]);

		if (write(fd, text, (size_t)length) < 0)
			err = -errno;
	}
	close(fd);
	return err;
}

static int make(struct sw_group *b, char **ret_path, const char **ret_name, int *ret_fd)
{
	const char *below = strcmp(b->path, "/") ? b->path : "";
	uint32_t random = 0;
	char *path;
	int err;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (uint32_t)(uintptr_t)b; /* the pid tells runs apart, this only reuse of it */
	if (asprintf(&path, "%s%s/schedwatt-%d-%08x", b->fs->mount, below, (int)getpid(), random) < 0)
		return -ENOMEM;
	*ret_name = strrchr(path, '/') + 1;
	err = mkdirat(b->dir_fd, *ret_name, 0755) ? -errno : 0;
	if (!err) {
		*ret_fd = openat(b->dir_fd, *ret_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		err = *ret_fd < 0 ? -errno : 0;
		if (err)
			unlinkat(b->dir_fd, *ret_name, AT_REMOVEDIR);
	}
	if (err)
		free(path);
	else
		*ret_path = path;
	return err;
}

int sw_group_make_own(struct sw_group *b, struct sw_error *error)
{
	char *own_path, *path = NULL;
	const char *name;
	int fd, err = make(b, &own_path, &name, &fd);

	if (err)
		return sw_fail(error, err, "cannot make a cgroup for the command below %s%s: %s", b->fs->mount,
			       strcmp(b->path, "/") ? b->path : "", strerror(-err));
	err = move(fd, b->pids, b->n_pids);
	if (!err && asprintf(&path, "%s/%s", strcmp(b->path, "/") ? b->path : "", name) < 0)
		err = -ENOMEM;
	if (err) {
		move(b->dir_fd, b->pids, b->n_pids);
		unlinkat(b->dir_fd, name, AT_REMOVEDIR);
		close(fd);
		sw_fail(error, err, "cannot put the command into a cgroup of its own, %s: %s", own_path,
			strerror(-err));
		free(own_path);
		return err;
	}
	b->own_path = own_path;
	b->own_name = name;
	b->parent_fd = b->dir_fd;
	b->dir_fd = fd;
	free(b->path);
	b->path = path;
	return 0;
}

void sw_group_undo_own(struct sw_group *b)
{
	move(b->parent_fd, b->pids, b->n_pids);
}

/* With those that were made below it, if nobody is in any of them. */
static int remove_tree(int at_fd, const char *name, unsigned depth)
{
	struct dirent *entry;
	DIR *dir;
	int fd;

	if (!unlinkat(at_fd, name, AT_REMOVEDIR) || errno == ENOENT)
		return 0;
	if (errno != EBUSY || depth == DEPTH_MAX)
		return -errno;
	fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return -EBUSY;
	}
	while ((entry = readdir(dir)))
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			remove_tree(dirfd(dir), entry->d_name, depth + 1);
	closedir(dir);
	return unlinkat(at_fd, name, AT_REMOVEDIR) ? -errno : 0;
}

static void name_those_inside(struct sw_group *b, char *to, size_t size)
{
	struct sw_group_members m = b->members;

	/* all of them, whosever they are: as strangers of a look of its own */
	m.list = NULL;
	m.n = m.n_pids = 0;
	m.looked = m.process_scope = true;
	m.dir_fd = b->dir_fd;
	if (sw_group_look(&m))
		to[0] = '\0';
	else
		sw_group_names(&m, true, to, size);
	free(m.list);
}

int sw_group_remove_own(struct sw_cpu_backend *backend, struct sw_error *error)
{
	struct sw_group *b = (struct sw_group *)backend;
	const struct timespec pause = {.tv_nsec = REMOVE_PAUSE_NS};
	char names[160];
	int err = b->own_path ? -EBUSY : 0;

	for (int i = 0; i < (b->own_stays ? 1 : REMOVE_TRIES) && err == -EBUSY; i++) {
		if (i)
			nanosleep(&pause, NULL);
		err = remove_tree(b->parent_fd, b->own_name, 0);
	}
	if (!err) {
		free(b->own_path);
		b->own_path = NULL;
		b->backend.own_cgroup = NULL;
		return 0;
	}
	b->own_stays = true;
	if (error)
		name_those_inside(b, names, sizeof(names));
	sw_fail(error, err,
		"the command's own cgroup %s stays, since processes live on in it (%s); when they have ended, rmdir %s "
		"removes it", b->own_path, error ? names : "", b->own_path);
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* A made-up machine: a directory below /tmp that stands for /sys, and goes again. For tests only. */
#ifndef SW_TESTS_TREE_H
#define SW_TESTS_TREE_H

#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree {
	char path[64];
	int fd;
};

static inline struct tree *tree_new(void)
{
	struct tree *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	strcpy(t->path, "/tmp/schedwatt-test-XXXXXX");
	assert_non_null(mkdtemp(t->path));
	assert_int_equal(chmod(t->path, 0755), 0); /* tests also look at it as nobody */
	t->fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(t->fd >= 0);
	return t;
}

static inline int tree_unlink_(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void tree_free(struct tree *t)
{
	close(t->fd);
	nftw(t->path, tree_unlink_, 16, FTW_DEPTH | FTW_PHYS);
	free(t);
}

/* Make every directory on the way to `path`. */
static inline void tree_dirs_(const struct tree *t, const char *path)
{
	char dir[256];
	size_t i;

	for (i = 0; path[i] && i < sizeof(dir) - 1; i++) {
		if (path[i] == '/' && i) {
			dir[i] = '\0';
			mkdirat(t->fd, dir, 0755);
		}
		dir[i] = path[i];
	}
}

static inline void tree_write_bytes(const struct tree *t, const char *path, const void *bytes, size_t n)
{
	int fd;

	tree_dirs_(t, path);
	fd = openat(t->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

static inline void tree_write(const struct tree *t, const char *path, const char *text)
{
	tree_write_bytes(t, path, text, strlen(text));
}

static inline void tree_link(const struct tree *t, const char *target, const char *path)
{
	tree_dirs_(t, path);
	unlinkat(t->fd, path, 0);
	assert_int_equal(symlinkat(target, t->fd, path), 0);
}

/* A powercap zone at `dir` below class/powercap; NULL leaves a file out. */
static inline void tree_zone(const struct tree *t, const char *dir, const char *name, const char *uj, const char *range)
{
	char path[256];

	snprintf(path, sizeof(path), "class/powercap/%s/enabled", dir);
	tree_write(t, path, "0\n");
	snprintf(path, sizeof(path), "class/powercap/%s/name", dir);
	if (name)
		tree_write(t, path, name);
	snprintf(path, sizeof(path), "class/powercap/%s/energy_uj", dir);
	if (uj)
		tree_write(t, path, uj);
	snprintf(path, sizeof(path), "class/powercap/%s/max_energy_range_uj", dir);
	if (range)
		tree_write(t, path, range);
}

/* Root reads every file, so a test of permissions ceases to be root for a while. Who never was root stays as he is. */
static inline void as_nobody(void)
{
	if (!geteuid())
		assert_int_equal(seteuid(65534), 0);
}

static inline void as_root_again(void)
{
	if (!getuid())
		assert_int_equal(seteuid(0), 0);
}

static inline int tree_setup(void **state)
{
	*state = tree_new();
	return 0;
}

static inline int tree_teardown(void **state)
{
	as_root_again();
	tree_free(*state);
	return 0;
}

#endif

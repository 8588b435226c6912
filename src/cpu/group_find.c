/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which cgroup a target is, and whether its time is that of the target and of nobody else. Must not know: how that
 * time is read.
 * Relies on cgroups(7), cgroup_namespaces(7).
 */
#include "group.h"

#include "../base/parse.h"
#include "../base/procfs.h"
#include "../base/root.h"
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CGROUP_TEXT_SIZE 65536 /* a line for each hierarchy, with a path of PATH_MAX at most */

/* The path of a process's cgroup, from the mount point; malloc()ed. */
static int path_of(const struct sw_group *b, int32_t pid, struct sw_error *error, char **ret)
{
	const struct sw_group_kind *kind = b->kind;
	struct sw_proc_cgroup cgroup;
	char name[32], *text = malloc(CGROUP_TEXT_SIZE);
	ssize_t n;
	int err;

	if (!text)
		return sw_fail(error, -ENOMEM, "out of memory");
	snprintf(name, sizeof(name), "%d/cgroup", pid);
	n = sw_file_read_start(b->procfs_fd, name, text, CGROUP_TEXT_SIZE);
	if (n == -ENOENT || n == -ESRCH) {
		err = sw_fail(error, -ESRCH, "there is no process %d", pid);
	} else if (n < 0) {
		err = sw_fail(error, (int)n, "cannot read the cgroup of process %d: %s", pid, strerror((int)-n));
	} else if (sw_proc_cgroup_find(text, (size_t)n, kind->controller, &cgroup)) {
		err = sw_fail(error, -ENOENT, "process %d is in no %s", pid, kind->words);
	} else if (cgroup.deleted) {
		err = sw_fail(error, -ENOENT, "the cgroup of process %d was removed", pid);
	} else {
		err = sw_cgroupfs_inside(b->fs, cgroup.path, cgroup.path_length, ret);
		if (err == -EXDEV)
			sw_fail(error, err, "process %d is in a cgroup outside of this cgroup namespace (%.*s), where it "
				"cannot be read", pid, (int)cgroup.path_length, cgroup.path);
		else if (err == -ENOENT)
			sw_fail(error, err, "the %s of process %d (%.*s) is not in what is mounted at %s", kind->words,
				pid, (int)cgroup.path_length, cgroup.path, b->fs->mount);
		else if (err)
			sw_fail(error, err, "out of memory");
	}
	free(text);
	return err;
}

static bool is_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	return !strcmp(top, "/") || (!strncmp(path, top, n) && (!path[n] || path[n] == '/'));
}

/* Of several processes, the cgroup that all the others are in or below. */
static int path_of_all(struct sw_group *b, struct sw_error *error)
{
	int32_t top = b->pids[0];
	int err = path_of(b, top, error, &b->path);

	for (size_t i = 1; i < b->n_pids && !err; i++) {
		char *path = NULL, *other;

		err = path_of(b, b->pids[i], error, &path);
		if (err)
			break;
		if (!is_below(path, b->path) && is_below(b->path, path)) {
			other = b->path;
			b->path = path;
			path = other;
			top = b->pids[i];
		} else if (!is_below(path, b->path)) {
			err = sw_fail(error, -ENOTSUP,
				      "processes %d and %d are in different cgroups, %s and %s, of which neither holds "
				      "the other", top, b->pids[i], b->path, path);
		}
		free(path);
	}
	return err;
}

static int open_directory(struct sw_group *b, struct sw_error *error)
{
	const char *below = b->path + strspn(b->path, "/");

	b->dir_fd = openat(b->fs->fd, *below ? below : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (b->dir_fd >= 0)
		return 0;
	return sw_fail(error, -errno, "cannot open the %s %s below %s: %s", b->kind->words, b->path, b->fs->mount,
		       strerror(errno));
}

bool sw_group_is_root(const struct sw_group *b)
{
	const struct sw_group_kind *kind = b->kind;

	if (strcmp(b->path, "/"))
		return false;
	if (kind->not_in_root)
		return faccessat(b->dir_fd, kind->not_in_root, F_OK, 0) != 0;
	return faccessat(b->dir_fd, kind->only_in_root, F_OK, 0) == 0;
}

/* A target's cgroup is one of v2: that of v1 with the same path is it too when the same processes are in both. */
static int check_same(const struct sw_group *b, const struct sw_cpu_config *config, struct sw_error *error)
{
	const char *below = config->cgroup + strspn(config->cgroup, "/");
	int fd = openat(config->cgroupfs->fd, *below ? below : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool same = false;
	int err = fd < 0 ? -errno : 0;

	for (int attempt = 0; attempt < 3 && !same && !err; attempt++) { /* they come and go */
		int32_t *here = NULL, *there = NULL;
		size_t n_here, n_there;

		err = sw_group_pids(b->dir_fd, &here, &n_here);
		if (!err)
			err = sw_group_pids(fd, &there, &n_there);
		same = !err && n_here == n_there && (!n_here || !memcmp(here, there, n_here * sizeof(*here)));
		free(here);
		free(there);
	}
	if (fd >= 0)
		close(fd);
	if (err)
		return sw_fail(error, err, "cannot compare the cgroups %s of v1 and v2: %s", b->path, strerror(-err));
	return same ? 0 : sw_fail(error, -ENOTSUP, "the %s %s does not hold the same processes as that of v2",
				  b->kind->words, b->path);
}

static int check_host(const struct sw_group *b, const struct sw_cpu_config *config, struct sw_error *error)
{
	if (config->any)
		return sw_fail(error, -ENOTSUP, "a cgroup of the whole host tells no processes apart; proc does");
	if (!sw_group_is_root(b))
		return sw_fail(error, -ENOTSUP, "the root of this cgroup namespace is not that of the whole host");
	return 0;
}

/* The cgroup's time is that of all in it, and of nobody else. */
static int check_members(const struct sw_group *b, const struct sw_cpu_config *config, struct sw_error *error)
{
	const struct sw_group_members *m = &b->members;
	char names[160];

	if (!m->n_members && !m->n_outside)
		return sw_fail(error, -ESRCH, "process %d has ended", b->pids[0]);
	if (!m->n_members)
		return sw_fail(error, -ENOENT, "process %d is not in the cgroup %s below %s", b->pids[0], b->path,
			       b->fs->mount);
	if (!config->any)
		return 0;
	if (sw_group_is_root(b))
		return sw_fail(error, -ENOTSUP,
			       "its %s is the root, whose time is the whole machine's; proc tells it apart",
			       b->kind->words);
	if (m->n_strangers) {
		sw_group_names(m, true, names, sizeof(names));
		return sw_fail(error, -ENOTSUP,
			       "its %s %s is shared with %zu other process%s (%s); proc tells them apart", b->kind->words,
			       b->path, m->n_strangers, m->n_strangers == 1 ? "" : "es", names);
	}
	if (m->n_outside) {
		sw_group_names(m, false, names, sizeof(names));
		return sw_fail(error, -ENOTSUP, "%zu of its descendants (%s) %s not in its %s %s; proc finds them",
			       m->n_outside, names, m->n_outside == 1 ? "is" : "are", b->kind->words, b->path);
	}
	return 0;
}

/* Does procfs number processes as we do? Only then their clocks can be asked for by those numbers. */
static bool has_our_pids(const struct sw_group *b)
{
	char self[32] = "";
	uint64_t pid;

	return b->host->real_procfs && readlinkat(b->procfs_fd, "self", self, sizeof(self) - 1) > 0 &&
	       !sw_parse_u64(self, INT32_MAX, &pid) && pid == (uint64_t)getpid();
}

static int look(struct sw_group *b, struct sw_error *error)
{
	int err;

	b->members.dir_fd = b->dir_fd;
	b->members.procfs_fd = b->procfs_fd;
	b->members.pids = b->pids;
	b->members.n_pids = b->n_pids;
	b->members.hz = b->host->hz;
	b->members.our_pids = has_our_pids(b);
	err = sw_group_look(&b->members);
	if (err == -EOPNOTSUPP)
		return sw_fail(error, err, "the cgroup %s is threaded: its processes have threads elsewhere", b->path);
	return err ? sw_fail(error, err, "cannot list the processes of the cgroup %s: %s", b->path, strerror(-err)) : 0;
}

/* Names and ids from the root down, for whoever may not look ids up. Only v2 has ids. */
static int name_cgroups(struct sw_group *b)
{
	size_t levels = 1, size = strlen(b->path) + 1;
	char *name, *end;

	if (b->kind->controller)
		return 0;
	for (const char *at = b->path; *at; at++)
		levels += at[0] == '/' && at[1];
	b->infos = malloc(levels * sizeof(*b->infos) + size);
	if (!b->infos)
		return -ENOMEM;
	name = memcpy(b->infos + levels, b->path, size);
	b->infos[0] = (struct sw_cgroup_info){.id = b->fs->root_id, .name = ""};
	for (size_t i = 1; i < levels; i++) {
		char *cut;

		name++;
		end = strchrnul(name, '/');
		cut = b->path + (end - (char *)(b->infos + levels));
		*end = *cut = '\0';
		b->infos[i] = (struct sw_cgroup_info){
			.id = sw_cgroupfs_id(b->fs, b->path), /* 0: removed just now */
			.parent_id = b->infos[i - 1].id,
			.name = name,
		};
		*cut = i + 1 < levels ? '/' : '\0';
		name = end;
	}
	b->id = b->infos[levels - 1].id;
	b->n_infos = levels;
	return 0;
}

static int find_hierarchy(struct sw_group *b, const struct sw_cpu_config *config, struct sw_error *error)
{
	struct sw_cgroupfs none;
	int err;

	if (b->kind->controller) {
		b->fs = &b->v1;
		return sw_cgroupfs_open_v1(&b->v1, b->procfs_fd, b->kind->controller, "cpuacct.usage", error);
	}
	b->fs = config->cgroupfs;
	if (b->fs)
		return 0;
	err = sw_cgroupfs_open(&none, b->procfs_fd, NULL, error); /* for the words */
	sw_cgroupfs_close(&none);
	return err ? err : sw_fail(error, -ENOENT, "no cgroup v2 is mounted");
}

static int find_cgroup(struct sw_group *b, const struct sw_cpu_config *config, struct sw_error *error)
{
	int err = 0;

	if (b->n_pids) {
		err = path_of_all(b, error);
	} else {
		b->path = strdup(config->cgroup ? config->cgroup : "/");
		if (!b->path)
			err = sw_fail(error, -ENOMEM, "out of memory");
	}
	if (!err)
		err = open_directory(b, error);
	if (!err && b->n_pids && config->own_cgroup)
		err = sw_group_make_own(b, error);
	if (!err && config->cgroup && b->kind->controller)
		err = check_same(b, config, error);
	if (!err && !config->cgroup && !b->n_pids)
		err = check_host(b, config, error);
	return err;
}

int sw_group_find(struct sw_group *b, const struct sw_cpu_config *config, struct sw_error *error)
{
	int err = find_hierarchy(b, config, error);

	/* proc does, but knows no target that is a cgroup */
	if (!err && config->any && !config->cgroup && b->n_domains > 1 && !b->kind->tells_domains)
		err = sw_fail(error, -ENOTSUP,
			      "%s does not tell on which of the %u packages or dies time was spent; proc does",
			      b->kind->words, b->n_domains);
	if (!err)
		err = find_cgroup(b, config, error);
	if (!err && name_cgroups(b))
		err = sw_fail(error, -ENOMEM, "out of memory");
	return err;
}

int sw_group_check(struct sw_group *b, const struct sw_cpu_config *config, struct sw_error *error)
{
	int err;

	if (!b->n_pids)
		return 0;
	b->members.process_scope = config->process_scope;
	err = look(b, error);
	return err ? err : check_members(b, config, error);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: cgroups of a test's own, and the books by cgroup. Must not know: how a task's cgroup is found.
 * Relies on: proc(5) (mountinfo), Documentation/admin-guide/cgroup-v2.rst, clone3(2) (CLONE_INTO_CGROUP).
 */
#include "groups.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char mount_path[256], own_path[320];

struct group *group_of(struct record *r, uint64_t id)
{
	struct group *g;

	HASH_FIND(hh, r->groups, &id, sizeof(id), g);
	if (g)
		return g;
	g = calloc(1, sizeof(*g));
	assert_non_null(g);
	g->id = id;
	HASH_ADD(hh, r->groups, id, sizeof(g->id), g);
	return g;
}

void groups_take(struct record *r)
{
	const struct sw_cgroup_info *infos = NULL;
	size_t n = r->b->ops->new_cgroups ? r->b->ops->new_cgroups(r->b, &infos) : 0;

	for (size_t i = 0; i < n; i++) {
		struct group *g = group_of(r, infos[i].id);

		g->parent_id = infos[i].parent_id;
		g->told++;
		snprintf(g->name, sizeof(g->name), "%s", infos[i].name);
	}
}

void groups_free(struct record *r)
{
	struct group *g, *next;

	HASH_ITER(hh, r->groups, g, next) {
		HASH_DEL(r->groups, g);
		free(g);
	}
}

static bool lies_in(const struct record *r, const struct group *g, uint64_t id)
{
	for (int depth = 0; g && depth < 64; depth++) {
		uint64_t parent_id = g->parent_id;

		if (g->id == id)
			return true;
		HASH_FIND(hh, r->groups, &parent_id, sizeof(parent_id), g);
	}
	return false;
}

uint64_t group_subtree_ns(const struct record *r, uint64_t id)
{
	uint64_t ns = 0;

	for (const struct group *g = r->groups; g; g = g->hh.next)
		if (lies_in(r, g, id))
			ns += g->oncpu_ns;
	return ns;
}

const char *groups_mount(void)
{
	FILE *f = fopen("/proc/self/mountinfo", "r");
	char line[1024];

	mount_path[0] = '\0';
	while (f && !mount_path[0] && fgets(line, sizeof(line), f))
		if (strstr(line, " - cgroup2 "))
			sscanf(line, "%*s %*s %*s %*s %255s", mount_path);
	if (f)
		fclose(f);
	return mount_path[0] ? mount_path : NULL;
}

const char *groups_begin(void)
{
	if (!groups_mount())
		skip_because("cgroup v2 is mounted nowhere");
	snprintf(own_path, sizeof(own_path), "%s/schedwatt-test-%d", mount_path, getpid());
	if (mkdir(own_path, 0755)) {
		own_path[0] = '\0';
		skip_because("no cgroup can be made in %s: %s", mount_path, strerror(errno));
	}
	return own_path;
}

static void remove_below(const char *path)
{
	DIR *d = opendir(path);
	char below[4200];
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (e->d_type != DT_DIR || !strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, e->d_name);
		remove_below(below);
		group_remove(below);
	}
	if (d)
		closedir(d);
}

int groups_teardown(void **state)
{
	int err = live_teardown(state);

	if (own_path[0]) {
		remove_below(own_path);
		group_remove(own_path);
		if (!access(own_path, F_OK)) {
			print_error("# the cgroup %s is left behind\n", own_path);
			err = -1;
		}
	}
	own_path[0] = '\0';
	return err;
}

void group_make(const char *path, uint64_t *ret_id)
{
	struct stat st;

	if (mkdir(path, 0755))
		fail_msg("cannot make %s: %s", path, strerror(errno));
	assert_int_equal(stat(path, &st), 0);
	if (ret_id)
		*ret_id = st.st_ino;
}

/* Its last task may be on its way out still. */
void group_remove(const char *path)
{
	for (int i = 0; i < 2000 && rmdir(path) && errno == EBUSY; i++)
		nap(NS_PER_MS);
}

void group_move(const char *path, pid_t pid)
{
	char file[4200], number[16];
	int fd, n = snprintf(number, sizeof(number), "%d", pid);

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, number, n) != n)
		fail_msg("cannot move process %d to %s: %s", pid, path, strerror(errno));
	close(fd);
}

struct held {
	void (*fn)(void *arg);
	void *arg;
	volatile uint32_t go;
};

static void when_told(void *arg)
{
	struct held *h = arg;

	await(&h->go);
	h->fn(h->arg);
}

pid_t group_start(const char *path, void (*fn)(void *arg), void *arg)
{
	struct held *h = shared(sizeof(*h));
	pid_t pid;

	h->fn = fn;
	h->arg = arg;
	pid = start(when_told, h);
	group_move(path, pid);
	h->go = 1;
	return pid;
}

pid_t group_fork(int dir_fd)
{
	struct clone_args args = {.flags = CLONE_INTO_CGROUP, .cgroup = dir_fd, .exit_signal = SIGCHLD};

	return syscall(SYS_clone3, &args, sizeof(args));
}

uint64_t group_usage_ns(const char *path)
{
	unsigned long long usec = 0;
	char file[4200];
	FILE *f;

	snprintf(file, sizeof(file), "%s/cpu.stat", path);
	f = fopen(file, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "usage_usec %llu", &usec), 1);
	fclose(f);
	return usec * 1000;
}

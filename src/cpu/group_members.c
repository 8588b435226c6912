/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: who is in a cgroup, and which of them are the target's. Must not know: how CPU time of a cgroup is read.
 * Relies on Documentation/admin-guide/cgroup-v2.rst (cgroup.procs: in no order, perhaps twice, 0 for a process of
 * another pid namespace, which v1 leaves out; -EOPNOTSUPP in threaded cgroups, -ENODEV in removed ones), proc_pid_stat(5),
 * clock_getcpuclockid(3): the CPU clock of any process can be read by anybody.
 */
#include "group.h"

#include "../base/clock.h"
#include "../base/procfs.h"
#include "../base/root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_EVERY_NS UINT64_C(1000000000)
#define LOOK_SHARE 100 /* at most one part in so many of a CPU goes into looking */
#define DEPTH_MAX 64   /* each level takes a descriptor */
#define NAMED_MAX 3

/* --- numbers of processes */

struct pids {
	int32_t *list;
	size_t n, capacity;
};

static int add_pid(struct pids *p, int32_t pid)
{
	if (p->n == p->capacity) {
		size_t capacity = p->capacity ? 2 * p->capacity : 64;
		int32_t *list = realloc(p->list, capacity * sizeof(*list));

		if (!list)
			return -ENOMEM;
		p->list = list;
		p->capacity = capacity;
	}
	p->list[p->n++] = pid;
	return 0;
}

/* Lines with a number each; a read may end within one. */
static int take_pids(const char *text, ssize_t n, int64_t *number, struct pids *p)
{
	int err = 0;

	for (ssize_t i = 0; i < n && !err; i++) {
		if (text[i] == '\n') {
			err = *number >= 0 ? add_pid(p, (int32_t)*number) : -EINVAL;
			*number = -1;
		} else if (text[i] < '0' || text[i] > '9') {
			err = -EINVAL;
		} else {
			*number = (*number > 0 ? *number * 10 : 0) + (text[i] - '0');
			err = *number > INT32_MAX ? -EINVAL : 0;
		}
	}
	return err;
}

static int read_procs(int dir_fd, struct pids *p)
{
	int fd = openat(dir_fd, "cgroup.procs", O_RDONLY | O_CLOEXEC), err = 0;
	char text[4096];
	int64_t number = -1;
	ssize_t n;

	if (fd < 0)
		return -errno;
	do {
		n = read(fd, text, sizeof(text));
		if (n < 0 && errno == EINTR)
			continue;
		err = n < 0 ? -errno : take_pids(text, n, &number, p);
	} while (n && !err);
	close(fd);
	return err;
}

static bool is_gone(int err)
{
	return err == -ENODEV || err == -ENOENT;
}

/* Those below too. Threaded ones there need not be read: their processes are in the domain's list. */
static int collect(int dir_fd, unsigned depth, struct pids *p)
{
	int fd, err = read_procs(dir_fd, p);
	struct dirent *entry;
	DIR *dir;

	if (is_gone(err) || (depth && err == -EOPNOTSUPP))
		return 0;
	if (err || depth == DEPTH_MAX)
		return err;
	fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return is_gone(err) ? 0 : err;
	}
	while (!err && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0) {
			err = errno == ENOENT ? 0 : -errno;
			continue;
		}
		err = collect(fd, depth + 1, p);
		close(fd);
	}
	closedir(dir);
	return err;
}

static int by_number(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

/* Zeros stay: each is another process. */
static void sort_once(struct pids *p)
{
	size_t n = 0;

	if (p->n)
		qsort(p->list, p->n, sizeof(*p->list), by_number);
	for (size_t i = 0; i < p->n; i++)
		if (!n || !p->list[i] || p->list[i] != p->list[n - 1])
			p->list[n++] = p->list[i];
	p->n = n;
}

int sw_group_pids(int dir_fd, int32_t **ret, size_t *ret_n)
{
	struct pids p = {0};
	int err = collect(dir_fd, 0, &p);

	if (err) {
		free(p.list);
		return err;
	}
	sort_once(&p);
	*ret = p.list;
	*ret_n = p.n;
	return 0;
}

static int list_procfs(int procfs_fd, struct pids *p)
{
	int fd = openat(procfs_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (entry = readdir(dir))) {
		char *end;
		long pid = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? strtol(entry->d_name, &end, 10) : 0;

		if (pid > 0 && pid <= INT32_MAX && !*end)
			err = add_pid(p, (int32_t)pid);
	}
	closedir(dir);
	return err;
}

/* --- processes */

static struct sw_group_process *find(struct sw_group_process *list, size_t n, int32_t pid)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (list[mid].pid < pid)
			low = mid + 1;
		else
			high = mid;
	}
	return pid && low < n && list[low].pid == pid ? &list[low] : NULL;
}

static bool is_of(const struct sw_group_members *m, int32_t pid)
{
	for (size_t i = 0; i < m->n_pids; i++)
		if (m->pids[i] == pid)
			return true;
	return false;
}

/* False: there is none any more. One whose files are hidden keeps its number only. */
static bool describe(const struct sw_group_members *m, struct sw_group_process *p)
{
	struct sw_proc_stat stat;
	char path[32], text[1024];
	ssize_t n;

	if (!p->pid)
		return true;
	snprintf(path, sizeof(path), "%d/stat", p->pid);
	n = sw_file_read_start(m->procfs_fd, path, text, sizeof(text));
	if (n < 0 || sw_proc_stat_parse(text, (size_t)n, &stat))
		return p->inside && m->our_pids && (!kill(p->pid, 0) || errno == EPERM);
	if ((stat.state == 'Z' || stat.state == 'X') && stat.num_threads <= 1)
		return false;
	p->ppid = (int32_t)stat.ppid;
	p->start = stat.starttime;
	snprintf(p->comm, sizeof(p->comm), "%.15s", stat.comm);
	return true;
}

/* The clock of its scheduled time, as clock_getcpuclockid(3) makes it, which would ask the kernel once more. */
static bool read_clock(int32_t pid, uint64_t *ret)
{
	struct timespec t;

	if (!pid || clock_gettime(~(clockid_t)pid * 8 + 2, &t))
		return false;
	*ret = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	return true;
}

/* As the last look left it, if it is the same process. */
static void recall(const struct sw_group_members *m, struct sw_group_process *p)
{
	const struct sw_group_process *before = find(m->list, m->n, p->pid);

	if (before && before->start == p->start) {
		p->decided = true;
		p->member = before->member;
		p->first_ns = before->first_ns;
		p->now_ns = before->now_ns;
	} else if (!m->looked && is_of(m, p->pid)) {
		p->decided = p->member = true;
	} else if (m->process_scope || !p->pid) {
		p->decided = true;
	}
}

/* What the first of its ancestors is of which that is known; and so is it, and those between. */
static void decide(const struct sw_group_members *m, struct sw_group_process *list, size_t n, struct sw_group_process *p)
{
	struct sw_group_process *at = p, *up;
	size_t steps = 0; /* of processes that were looked at one after the other, chains could be circles */
	bool member;

	while (!at->decided && steps++ < n && (up = find(list, n, at->ppid)) && up->start <= at->start)
		at = up;
	if (at->decided)
		member = at->member;
	else /* its parent is gone, or elsewhere: only members were there to fork it, or nobody knows */
		member = at->inside && m->looked && !m->n_strangers;
	for (up = p; up && !up->decided; up = up == at ? NULL : find(list, n, up->ppid)) {
		up->decided = true;
		up->member = member;
	}
}

/* Those whom this look saw: all of procfs the first time, then all in the cgroup and the members seen before. */
static int gather(const struct sw_group_members *m, struct sw_group_process **ret, size_t *ret_n)
{
	struct pids all = {0}, inside = {0};
	struct sw_group_process *list = NULL;
	int err = m->looked ? 0 : list_procfs(m->procfs_fd, &all);
	size_t n = 0, at = 0;

	for (size_t i = 0; i < m->n && !err; i++)
		if (m->list[i].member)
			err = add_pid(&all, m->list[i].pid);
	/* later than those: who is alive after it, and not in it, is elsewhere */
	if (!err)
		err = collect(m->dir_fd, 0, &inside);
	sort_once(&inside);
	for (size_t i = 0; i < inside.n && !err; i++)
		if (inside.list[i])
			err = add_pid(&all, inside.list[i]);
	sort_once(&all);
	for (; at < inside.n && !inside.list[at]; at++)
		;
	if (!err) {
		list = calloc(at + all.n + 1, sizeof(*list));
		err = list ? 0 : -ENOMEM;
	}
	for (; !err && n < at; n++)
		list[n] = (struct sw_group_process){.inside = true};
	for (size_t i = 0; !err && i < all.n; i++) {
		struct sw_group_process p = {.pid = all.list[i]};

		for (; at < inside.n && inside.list[at] < p.pid; at++)
			;
		p.inside = at < inside.n && inside.list[at] == p.pid;
		if (describe(m, &p))
			list[n++] = p;
	}
	free(all.list);
	free(inside.list);
	if (err) {
		free(list);
		return err;
	}
	*ret = list;
	*ret_n = n;
	return 0;
}

/* The time of strangers who are not in the new list stays in the sum. */
static void settle_gone(struct sw_group_members *m, struct sw_group_process *list, size_t n)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct sw_group_process *before = &m->list[i], *now = find(list, n, before->pid);

		if (!before->member && !(now && now->inside && now->start == before->start))
			m->gone_ns += before->now_ns - before->first_ns;
	}
}

/* A stranger who was born since the last look has had all his time here. */
static void begin_clock(struct sw_group_members *m, struct sw_group_process *p)
{
	if (!p->start || !m->our_pids || !read_clock(p->pid, &p->now_ns)) {
		m->hidden = true;
		return;
	}
	if (!p->first_ns && !(m->looked && p->start >= m->looked_ticks))
		p->first_ns = p->now_ns;
}

int sw_group_look(struct sw_group_members *m)
{
	uint64_t begin_ns = sw_now_ns(), ticks = sw_boottime_ns() / (1000000000 / m->hz), cost_ns;
	struct sw_group_process *list;
	size_t n, kept = 0, members = 0, strangers = 0, outside = 0;
	int err = gather(m, &list, &n);

	if (err)
		return err;
	for (size_t i = 0; i < n; i++)
		recall(m, &list[i]);
	for (size_t i = 0; i < n; i++)
		if (!list[i].decided)
			decide(m, list, n, &list[i]);
	settle_gone(m, list, n);
	m->hidden = false;
	for (size_t i = 0; i < n; i++) {
		struct sw_group_process *p = &list[i];

		if (!p->inside && !p->member)
			continue;
		members += p->inside && p->member;
		outside += !p->inside;
		strangers += !p->member;
		if (!p->member && !p->now_ns)
			begin_clock(m, p);
		list[kept++] = *p;
	}
	free(m->list);
	m->list = list;
	m->n = kept;
	m->n_members = members;
	m->n_strangers = strangers;
	m->n_outside = outside;
	m->looked = true;
	m->looked_ticks = ticks;
	cost_ns = (sw_now_ns() - begin_ns) * LOOK_SHARE;
	m->next_look_ns = begin_ns + (cost_ns > LOOK_EVERY_NS ? cost_ns : LOOK_EVERY_NS);
	return 0;
}

int64_t sw_group_strangers_ns(struct sw_group_members *m)
{
	uint64_t ns = m->gone_ns;

	if (!m->n_strangers && !m->hidden)
		return (int64_t)ns;
	for (size_t i = 0; i < m->n && !m->hidden; i++) {
		struct sw_group_process *p = &m->list[i];

		if (p->member)
			continue;
		read_clock(p->pid, &p->now_ns); /* one that has ended keeps what it had */
		ns += p->now_ns - p->first_ns;
	}
	return m->hidden ? INT64_MIN : (int64_t)ns;
}

void sw_group_names(const struct sw_group_members *m, bool strangers, char *to, size_t size)
{
	size_t named = 0, left = 0, at = 0;

	to[0] = '\0';
	for (size_t i = 0; i < m->n; i++) {
		const struct sw_group_process *p = &m->list[i];

		if (strangers ? p->member : !p->member || p->inside)
			continue;
		if (named == NAMED_MAX || at + 32 >= size || !p->pid) {
			left++;
			continue;
		}
		at += (size_t)snprintf(to + at, size - at, "%s%s%s%d", named ? ", " : "", p->comm, p->comm[0] ? " " : "",
				       p->pid);
		named++;
	}
	if (left)
		snprintf(to + at, size - at, named ? " and %zu more" : "%zu that this pid namespace does not see", left);
}

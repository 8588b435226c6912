/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the search for members and threads that are new. Must not know: how time is read or told.
 * Relies on proc_pid_task(5), proc_pid_tid_children(5) (CONFIG_PROC_CHILDREN), proc_loadavg(5): its last number is the
 * pid given last, and pids are given in rising order, from 300 again when there are no higher ones.
 *
 * A member that did not run has not forked; and while the host's count of forks stands still there is nobody new.
 */
#include "proc.h"

#include "../base/parse.h"
#include "../base/root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIDS_LEAST 32768 /* that a host has, most often */
#define THREADS_MANY 64 /* to ask each for its children then costs more than to look who is new on the host */

/* The number that a name is, or 0. */
static int32_t number_of(const char *name)
{
	uint64_t n;

	return sw_parse_u64(name, INT32_MAX, &n) ? 0 : (int32_t)n;
}

/* A directory below procfs, open for reading its names; NULL: it is not there. */
static DIR *open_dir(struct sw_proc *b, const char *path)
{
	int fd = openat(b->procfs_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

	if (!d && fd >= 0)
		close(fd);
	return d;
}

static int meet_thread(struct sw_proc *b, struct sw_proc_process *p, int32_t tid)
{
	struct sw_proc_thread *t;
	struct sw_proc_stat s;

	HASH_FIND(hh, b->threads, &tid, sizeof(tid), t);
	/* of another process: that one has ended, and its number is used again */
	if (t && t->process != p)
		sw_proc_thread_gone(b, t);
	if ((t && t->process == p) || tid == p->leader.tid || sw_proc_read_stat(b, p->leader.tid, tid, &s))
		return 0;
	t = sw_proc_make_thread(b, p, tid, false);
	if (!t)
		return -ENOMEM;
	sw_proc_describe(b, t, &s);
	b->unseen--;
	return 0;
}

int sw_proc_look_for_threads(struct sw_proc *b, struct sw_proc_process *p)
{
	struct dirent *e;
	char path[32];
	int32_t tid;
	int err = 0;
	DIR *d;

	if (!p->fresh && b->host->forks && b->host->forks == p->forks)
		return 0;
	p->forks = b->host->forks;
	snprintf(path, sizeof(path), "%d/task", p->leader.tid);
	d = open_dir(b, path);
	if (!d)
		return 0;
	while (!err && (e = readdir(d)))
		if ((tid = number_of(e->d_name)))
			err = meet_thread(b, p, tid);
	closedir(d);
	return err;
}

/* The whole host: everybody that is not known. */
static int look_everywhere(struct sw_proc *b)
{
	struct sw_proc_process *p;
	struct dirent *e;
	int32_t pid;
	int err = 0;
	DIR *d;

	if (b->host->forks && b->forks == b->host->forks)
		return 0;
	b->forks = b->host->forks;
	d = open_dir(b, ".");
	if (!d)
		return 0;
	while (!err && (e = readdir(d)))
		if ((pid = number_of(e->d_name)) && !sw_proc_find(b->living, pid))
			err = sw_proc_meet(b, pid, &p);
	closedir(d);
	return err;
}

/* Pids with blanks between, of which those that are not known are met. */
static int meet_listed(struct sw_proc *b, const char *text)
{
	struct sw_proc_process *p;
	const char *end = text + strlen(text);
	uint64_t pid;
	int err = 0;

	while (!err && text < end && !sw_take_u64(&text, end, INT32_MAX, &pid)) {
		if (!sw_proc_find(b->living, (int32_t)pid))
			err = sw_proc_meet(b, (int32_t)pid, &p);
		while (text < end && *text == ' ')
			text++;
	}
	return err;
}

/* May it have children that are not known? */
static bool is_due(const struct sw_proc *b, const struct sw_proc_thread *t)
{
	if (t->gone)
		return false;
	return t->process->fresh || (t->active && !(b->host->forks && t->forks == b->host->forks));
}

/* Children are listed by the thread that forked them, which has run then. */
static int look_for_children(struct sw_proc *b, struct sw_proc_thread *t)
{
	char path[64], *blank;
	ssize_t n;

	if (!is_due(b, t))
		return 0;
	t->forks = b->host->forks;
	snprintf(path, sizeof(path), "%d/task/%d/children", t->process->leader.tid, t->tid);
	n = sw_file_read_start(b->procfs_fd, path, b->text, SW_PROC_TEXT_SIZE);
	if (n == SW_PROC_TEXT_SIZE - 1 && (blank = strrchr(b->text, ' '))) {
		*blank = '\0'; /* thousands: the last one is cut, and found at the next read with what comes behind */
		t->forks = 0;
	}
	return n > 0 ? meet_listed(b, b->text) : 0;
}

static int look_below(struct sw_proc *b, struct sw_proc_process *p)
{
	int err = look_for_children(b, &p->leader);

	for (struct sw_proc_thread *t = p->threads; t && !err; t = t->next)
		err = look_for_children(b, t);
	return err;
}

struct relative {
	int32_t pid, ppid;
};

/* Pids that were given after `from`, up to `to`; or all. */
struct range {
	bool all;
	int32_t from, to;
};

static bool is_in(const struct range *r, int32_t pid)
{
	if (r->all)
		return true;
	return r->from <= r->to ? pid > r->from && pid <= r->to : pid > r->from || pid <= r->to;
}

/* Everybody in /proc that is not known, with the parent: *ret is the caller's. */
static int list_strangers(struct sw_proc *b, const struct range *range, struct relative **ret, size_t *ret_n)
{
	size_t n = 0, capacity = 0;
	struct relative *list = NULL, *grown;
	struct sw_proc_stat s;
	struct dirent *e;
	int32_t pid;
	DIR *d = open_dir(b, ".");
	int err = 0;

	while (d && !err && (e = readdir(d))) {
		pid = number_of(e->d_name);
		if (!pid || !is_in(range, pid) || sw_proc_find(b->living, pid) || sw_proc_read_stat(b, pid, 0, &s))
			continue;
		if (n == capacity) {
			capacity = capacity ? 2 * capacity : 256;
			grown = realloc(list, capacity * sizeof(*list));
			err = grown ? 0 : -ENOMEM;
			list = grown ? grown : list;
		}
		if (!err)
			list[n++] = (struct relative){pid, (int32_t)s.ppid};
	}
	if (d)
		closedir(d);
	*ret = list;
	*ret_n = n;
	return err;
}

/* By their parents, until a pass adds nobody. */
static int look_by_parents(struct sw_proc *b, const struct range *range)
{
	struct sw_proc_process *p;
	struct relative *list;
	bool added;
	size_t n;
	int err = list_strangers(b, range, &list, &n);

	do {
		added = false;
		for (size_t i = 0; i < n && !err; i++) {
			if (!list[i].pid || !sw_proc_find(b->living, list[i].ppid))
				continue;
			err = sw_proc_meet(b, list[i].pid, &p);
			list[i].pid = 0;
			added = true;
		}
	} while (added && !err);
	free(list);
	return err;
}

/* Threads that would be asked for their children, at most one more than are too many. */
static unsigned count_due(const struct sw_proc *b)
{
	const struct sw_proc_process *p;
	unsigned n = 0;

	for (p = b->living; p && n <= THREADS_MANY; p = p->hh.next) {
		if (p->fresh || p->n_threads < THREADS_MANY)
			continue;
		for (const struct sw_proc_thread *t = p->threads; t && n <= THREADS_MANY; t = t->next)
			n += is_due(b, t);
	}
	return n;
}

static void set_looked(struct sw_proc *b)
{
	struct sw_proc_process *p;

	for (p = b->living; p; p = p->hh.next) {
		p->leader.forks = p->leader.active ? b->host->forks : p->leader.forks;
		for (struct sw_proc_thread *t = p->threads; t; t = t->next)
			t->forks = t->active ? b->host->forks : t->forks;
	}
}

/* The pid given last, or 0: not known, or it is not of our own numbers. */
static int32_t last_pid(struct sw_proc *b)
{
	char text[128], *blank;
	uint64_t pid;

	if (!b->clocks || sw_file_read(b->procfs_fd, "loadavg", text, sizeof(text)) < 0)
		return 0;
	blank = strrchr(text, ' ');
	return blank && !sw_parse_u64(blank + 1, INT32_MAX, &pid) ? (int32_t)pid : 0;
}

/*
 * Where many threads ran: among those that are new on the host. What a thread forked while its clock stood still shows
 * at the next look only, so that these go back to the look before the last.
 */
static int look_among_new(struct sw_proc *b, bool *ret_done)
{
	struct sw_proc_look now = {.pid = last_pid(b), .forks = b->host->forks}, from = b->look[1];
	struct range range = {.from = from.pid, .to = now.pid};

	*ret_done = from.pid && now.pid && now.forks && count_due(b) > THREADS_MANY;
	b->look[1] = b->look[0];
	b->look[0] = now;
	if (!*ret_done)
		return 0;
	range.all = now.forks - from.forks > PIDS_LEAST / 2;
	set_looked(b);
	return look_by_parents(b, &range);
}

static bool has_many_threads(const struct sw_proc *b)
{
	for (const struct sw_proc_process *p = b->living; p; p = p->hh.next)
		if (p->n_threads >= THREADS_MANY)
			return true;
	return false;
}

/* Each for its own. Those that are met come behind in the table, and have their turn. */
static int look_at_each(struct sw_proc *b)
{
	int err = 0;

	for (struct sw_proc_process *p = b->living; p && !err; p = p->hh.next)
		if (p->active || p->fresh)
			err = look_below(b, p);
	return err;
}

int sw_proc_look(struct sw_proc *b)
{
	const struct range everybody = {.all = true};
	bool done = false;
	int err;

	if (!b->tree)
		return look_everywhere(b);
	if (!b->follows)
		return 0;
	if (b->no_children) {
		if (b->host->forks && b->forks == b->host->forks)
			return 0;
		b->forks = b->host->forks;
		return look_by_parents(b, &everybody);
	}
	err = has_many_threads(b) ? look_among_new(b, &done) : 0;
	/* in any case whom it has found */
	return err ? err : look_at_each(b);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: who is a member: finding processes and threads, and their memory. Must not know: how time is read or told.
 * Relies on proc_pid_task(5), proc_pid_tid_children(5) (CONFIG_PROC_CHILDREN); where the kernel has no such file, the
 * whole of /proc is looked through for parents.
 *
 * A member that did not run has not forked; and while the host's count of forks stands still there is nobody new.
 */
#include "proc.h"

#include "../base/clock.h"
#include "../base/parse.h"
#include "../base/root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */

struct sw_proc_process *sw_proc_find(struct sw_proc_process *table, int32_t pid)
{
	struct sw_proc_process *p;

	HASH_FIND(hh, table, &pid, sizeof(pid), p);
	return p;
}

struct sw_proc_process *sw_proc_make(int32_t pid)
{
	struct sw_proc_process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->leader.process = p;
	p->leader.tid = pid;
	p->leader.fd = -1;
	p->leader.key = SW_PROC_NO_KEY;
	p->leader.task = (struct sw_task){.tgid = pid, .tid = pid, .here = {.tgid = pid, .tid = pid}};
	return p;
}

struct sw_proc_thread *sw_proc_make_thread(struct sw_proc *b, struct sw_proc_process *p, int32_t tid, bool gone)
{
	struct sw_proc_thread *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->process = p;
	t->tid = tid;
	t->fd = -1;
	t->key = SW_PROC_NO_KEY;
	t->gone = gone;
	t->task = p->leader.task;
	t->task.tid = t->task.here.tid = tid;
	t->task.process_ended = t->task.exit_known = false;
	if (!gone) {
		HASH_ADD(hh, b->threads, tid, sizeof(t->tid), t);
		if (!t->hh.tbl) {
			free(t);
			return NULL;
		}
		p->n_threads++;
	}
	t->next = p->threads;
	p->threads = t;
	p->pending = true;
	return t;
}

static void close_schedstat(struct sw_proc *b, struct sw_proc_thread *t)
{
	if (t->fd < 0)
		return;
	close(t->fd);
	t->fd = -1;
	b->fds_left++;
}

void sw_proc_thread_gone(struct sw_proc *b, struct sw_proc_thread *t)
{
	struct sw_proc_process *p = t->process;

	close_schedstat(b, t);
	if (t->gone)
		return;
	t->gone = true;
	p->pending = true;
	if (t == &p->leader)
		return;
	HASH_DEL(b->threads, t);
	p->n_threads--;
}

void sw_proc_free_process(struct sw_proc *b, struct sw_proc_process *p)
{
	struct sw_proc_thread *t;

	while ((t = p->threads)) {
		p->threads = t->next;
		sw_proc_thread_gone(b, t);
		free(t);
	}
	close_schedstat(b, &p->leader);
	free(p);
}

static void copy_comm(char *to, size_t size, const char *from)
{
	size_t n = strnlen(from, size - 1);

	memcpy(to, from, n);
	memset(to + n, 0, size - n);
}

void sw_proc_describe(struct sw_proc *b, struct sw_proc_thread *t, const struct sw_proc_stat *s)
{
	struct sw_proc_process *p = t->process;
	struct sw_task *k = &t->task;
	uint64_t cpu = (uint64_t)s->processor;
	bool is_leader = t == &p->leader;

	t->looked_ns = b->t_ns;
	if (SW_PROC_STAT_HAS(s, processor) && cpu < b->n_cpus && b->domain_of[cpu] >= 0)
		t->domain = (uint16_t)b->domain_of[cpu];
	k->start_boottime_ns = sw_ticks_ns(s->starttime, b->host->hz);
	k->kernel_thread = s->flags & PF_KTHREAD;
	if (is_leader && s->startcode) { /* else it has no program, or none any more */
		k->execs += !p->fresh && (p->startcode != s->startcode || strncmp(k->comm, s->comm, sizeof(k->comm) - 1));
		p->startcode = s->startcode;
	}
	if (is_leader) {
		p->start_ticks = s->starttime;
		k->leader_start_boottime_ns = k->start_boottime_ns;
		if (!k->ppid)
			k->ppid = k->here.ppid = (int32_t)s->ppid;
	}
	copy_comm(k->comm, sizeof(k->comm), s->comm);
	copy_comm(k->process_comm, sizeof(k->process_comm), is_leader ? s->comm : p->leader.task.comm);
	t->described = true;
}

/* Did it begin in the recording? What a captured directory has is never as old as its own clock says. */
static bool is_new(const struct sw_proc *b, const struct sw_proc_process *p)
{
	return b->begun && (!b->host->real_procfs ||
			    p->leader.task.start_boottime_ns + 2 * sw_ticks_ns(1, b->host->hz) > b->began_ns);
}

/* One that was there before, and is found only now, begins where it stands. */
static void forget_past(struct sw_proc_process *p)
{
	for (struct sw_proc_thread *t = p->threads; t; t = t->next)
		t->value_ns = t->told_ns;
	p->leader.value_ns = p->leader.told_ns;
	p->counted_ns = p->waited_ns;
}

int sw_proc_meet(struct sw_proc *b, int32_t pid, struct sw_proc_process **ret)
{
	struct sw_proc_process *p, *parent;
	struct sw_proc_stat s;
	int err;

	*ret = NULL;
	err = sw_proc_read_stat(b, pid, 0, &s);
	if (err || s.pid != pid)
		return 0;
	p = sw_proc_make(pid);
	if (!p)
		return -ENOMEM;
	p->fresh = true;
	p->parent = (int32_t)s.ppid;
	clock_getcpuclockid(pid, &p->clock);
	sw_proc_describe(b, &p->leader, &s);
	HASH_ADD(hh, b->living, leader.tid, sizeof(p->leader.tid), p);
	if (!p->hh.tbl) {
		free(p);
		return -ENOMEM;
	}
	parent = sw_proc_find(b->living, p->parent);
	if (parent)
		parent->n_children++;
	b->unseen--;
	*ret = p;
	err = sw_proc_sample(b, p);
	if (!is_new(b, p))
		forget_past(p);
	return err;
}

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

/* Children are listed by the thread that forked them, which has run then. */
static int look_for_children(struct sw_proc *b, struct sw_proc_thread *t)
{
	uint64_t forks = b->host->forks;
	char path[64], *blank;
	ssize_t n;

	if (t->gone || !(t->active || t->process->fresh) || (!t->process->fresh && forks && t->forks == forks))
		return 0;
	t->forks = forks;
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

/* Everybody in /proc that is not known, with the parent: *ret is the caller's. */
static int list_strangers(struct sw_proc *b, struct relative **ret, size_t *ret_n)
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
		if (!pid || sw_proc_find(b->living, pid) || sw_proc_read_stat(b, pid, 0, &s))
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
static int look_by_parents(struct sw_proc *b)
{
	struct sw_proc_process *p;
	struct relative *list;
	bool added;
	size_t n;
	int err;

	if (b->host->forks && b->forks == b->host->forks)
		return 0;
	b->forks = b->host->forks;
	err = list_strangers(b, &list, &n);
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

int sw_proc_look(struct sw_proc *b)
{
	int err = 0;

	if (!b->tree)
		return look_everywhere(b);
	if (!b->follows)
		return 0;
	if (b->no_children)
		return look_by_parents(b);
	/* those that are met come behind in the table, and have their turn */
	for (struct sw_proc_process *p = b->living; p && !err; p = p->hh.next)
		if (p->active || p->fresh)
			err = look_below(b, p);
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: processes and threads that are known, what describes them, and their memory. Must not know: how they were found,
 * how time is read or told. Relies on proc_pid_stat(5), uthash.
 */
#include "proc.h"

#include <errno.h>
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the table of processes by identity (start time, pid), what describes them, and its memory bound.
 * Must not know: how time was measured or energy shared. Relies on uthash.
 */
#define HASH_NONFATAL_OOM 1 /* a library does not exit */
#include "processes.h"

#include "../base/procfs.h"
#include "../base/root.h"
#include "cmdline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exited processes that are kept one by one; or, where they are to be forgotten, before it pays to go through the table. */
#define EXITED_MAX 16384
#define EXITED_FEW 256

/* A line for each hierarchy; and how often it is looked whether a process was moved. */
enum { CGROUP_FILE_BYTES = 8192, CGROUP_AGAIN_WINDOWS = 64 };

/* Who described a process in a window: the later ones know better. */
enum {
	TOLD_BY_NOBODY,
	TOLD_BY_THREAD,
	TOLD_BY_LEADER_GONE, /* a thread that called exec may be the leader by now */
	TOLD_BY_LEADER,
};

int sw_processes_init(struct sw_processes *p, uint32_t n_keys, unsigned n_domains)
{
	*p = (struct sw_processes){.n_domains = n_domains, .n_keys = n_keys};
	p->by_key = calloc(n_keys, sizeof(*p->by_key));
	return p->by_key ? 0 : -ENOMEM;
}

static void forget(struct sw_processes *p, struct sw_process_entry *e)
{
	p->n_ended -= e->ended;
	HASH_DEL(p->table, e);
	free(e->cmdline);
	free(e->cgroup_path);
	free(e);
}

void sw_processes_free(struct sw_processes *p)
{
	struct sw_process_entry *e, *next;

	HASH_ITER(hh, p->table, e, next)
		forget(p, e);
	sw_comms_free(&p->folded);
	free(p->by_key);
	*p = (struct sw_processes){0};
}

static int fold(struct sw_processes *p)
{
	struct sw_process_entry *e, *next;

	HASH_ITER(hh, p->table, e, next) {
		if (!e->ended || e->keys)
			continue;
		if (e->counted) {
			if (!p->forget_ended &&
			    sw_comms_add(&p->folded, e->comm, 1, e->tally.total_ns, e->tally.total_nj))
				return -ENOMEM;
			p->n_folded++;
		}
		forget(p, e);
	}
	return 0;
}

int sw_processes_next(struct sw_processes *p)
{
	p->seq++;
	p->active = NULL;
	return p->n_ended > (p->forget_ended ? EXITED_FEW : EXITED_MAX) ? fold(p) : 0;
}

struct sw_process_entry *sw_processes_find(const struct sw_processes *p, const struct sw_process_id *id)
{
	struct sw_process_entry *e;

	HASH_FIND(hh, p->table, id, sizeof(*id), e);
	return e;
}

static struct sw_process_id id_of(const struct sw_task *t)
{
	return (struct sw_process_id){t->leader_start_boottime_ns, (uint32_t)t->tgid};
}

static struct sw_process_entry *find_or_make(struct sw_processes *p, const struct sw_task *t)
{
	struct sw_process_id id = id_of(t);
	struct sw_process_entry *e = sw_processes_find(p, &id);

	if (e)
		return e;
	e = malloc(sizeof(*e) + 2 * p->n_domains * sizeof(e->by_domain_ns[0]));
	if (!e)
		return NULL;
	*e = (struct sw_process_entry){
		.id = id,
		.host_ppid = t->ppid,
		.ppid = t->here.ppid,
		.pid = t->here.tgid,
		.kernel_thread = t->kernel_thread,
		.cmdline_due = true,
	};
	sw_copy_comm(e->comm, t->process_comm);
	sw_tally_clear(&e->tally, e->by_domain_ns, p->n_domains);
	HASH_ADD(hh, p->table, id, sizeof(e->id), e);
	if (e->hh.tbl)
		return e;
	free(e);
	return NULL;
}

/* The key may have stood for another until this row. */
static void release_key(struct sw_processes *p, uint32_t key)
{
	if (p->by_key[key])
		p->by_key[key]->keys--;
	p->by_key[key] = NULL;
}

/* Names and the count of execs, if this row knows better than those before it. */
static void describe(struct sw_process_entry *e, const struct sw_cpu_row *row)
{
	const struct sw_task *t = row->task;
	bool leader = t->tid == t->tgid;
	uint8_t who = !leader ? TOLD_BY_THREAD : row->died && !t->process_ended ? TOLD_BY_LEADER_GONE : TOLD_BY_LEADER;

	if (!row->described || who < e->told)
		return;
	e->told = who;
	sw_copy_comm(e->comm, leader ? t->comm : t->process_comm);
	if (!leader)
		return;
	/* the first count says nothing of execs before it: then the same may be read again */
	if (!e->execs_known || e->execs != t->execs)
		e->cmdline_due = true;
	if (e->execs_known && e->execs != t->execs)
		e->cmdline_stale = true;
	e->execs_known = true;
	e->execs = t->execs;
}

/* A window's rows do not tell their order, but where it had not been before, it came later than where it had. */
static void place(struct sw_process_entry *e, const struct sw_cpu_row *row, uint64_t oncpu_ns)
{
	if (e->cgroup_first > row->first || (e->cgroup_first == row->first && e->cgroup_ns > oncpu_ns))
		return;
	e->cgroup_id = row->cgroup_id;
	e->cgroup_first = row->first;
	e->cgroup_ns = oncpu_ns;
}

static void meet(struct sw_processes *p, struct sw_process_entry *e)
{
	if (e->row_seq == p->seq)
		return;
	e->row_seq = p->seq;
	e->told = TOLD_BY_NOBODY;
	e->cmdline_new = false;
	e->cgroup_first = false;
	e->cgroup_ns = 0;
}

static void activate(struct sw_processes *p, struct sw_process_entry *e)
{
	if (e->active_seq == p->seq)
		return;
	e->active_seq = p->seq;
	e->next_active = p->active;
	p->active = e;
	sw_tally_next(&e->tally, e->by_domain_ns, p->n_domains);
}

static void end(struct sw_processes *p, struct sw_process_entry *e, const struct sw_task *t)
{
	if (t->exit_known) {
		e->exit_known = true;
		e->exit_code = t->exit_code;
	}
	if (e->ended)
		return;
	e->ended = true;
	p->n_ended++;
	p->n_alive -= e->counted;
}

int sw_processes_add(struct sw_processes *p, const struct sw_cpu_row *row, uint64_t oncpu_ns,
		     struct sw_process_entry **ret)
{
	struct sw_process_entry *e;

	if (row->first)
		release_key(p, row->key);
	e = p->by_key[row->key];
	if (!e) {
		e = find_or_make(p, row->task);
		if (!e)
			return -ENOMEM;
		p->by_key[row->key] = e;
		e->keys++;
	}
	meet(p, e);
	describe(e, row);
	place(e, row, oncpu_ns);
	if (oncpu_ns || row->last) {
		activate(p, e);
		sw_tally_add(&e->tally, e->by_domain_ns, p->n_domains, row->domain, oncpu_ns);
	}
	if (oncpu_ns && !e->counted) {
		e->counted = true;
		p->n_seen++;
		p->n_alive += !e->ended;
	}
	if (row->last)
		release_key(p, row->key);
	if (row->last && row->died && row->task->process_ended)
		end(p, e, row->task);
	*ret = e;
	return 0;
}

void sw_processes_add_outside(struct sw_processes *p, const struct sw_cpu_row *row)
{
	struct sw_process_id id = id_of(row->task);
	struct sw_process_entry *e;

	if (row->first || row->last)
		release_key(p, row->key);
	if (!row->last || !row->died || !row->task->process_ended)
		return;
	e = sw_processes_find(p, &id);
	if (e)
		end(p, e, row->task);
}

void sw_process_add_energy(struct sw_process_entry *e, int64_t nj)
{
	sw_tally_add_energy(&e->tally, nj);
}

static void read_cmdline(struct sw_process_entry *e, int procfs_fd)
{
	char *text = e->ended ? NULL : sw_cmdline_read(procfs_fd, e->pid, e->id.start_boottime_ns);

	if (text || e->cmdline_stale) {
		/* the same again: what was read last was what the exec had put there already */
		e->cmdline_new = text && (!e->cmdline || strcmp(text, e->cmdline));
		free(e->cmdline);
		e->cmdline = text;
	}
	e->cmdline_due = e->cmdline_stale = false;
}

void sw_processes_read_cmdlines(struct sw_processes *p, int procfs_fd)
{
	struct sw_process_entry *e;

	for (e = p->active; e; e = e->next_active)
		if (e->cmdline_due && e->tally.oncpu_ns && e->pid && !e->kernel_thread)
			read_cmdline(e, procfs_fd);
}

/* The path of its cgroup v2, or NULL. The back end read the same process a moment ago. */
static char *read_cgroup(int procfs_fd, int32_t pid)
{
	char path[32], text[CGROUP_FILE_BYTES];
	struct sw_proc_cgroup line;
	ssize_t n;

	snprintf(path, sizeof(path), "%d/cgroup", pid);
	n = sw_file_read(procfs_fd, path, text, sizeof(text));
	if (n < 0 || sw_proc_cgroup_find(text, (size_t)n, NULL, &line))
		return NULL;
	return strndup(line.path, line.path_length);
}

void sw_processes_read_cgroups(struct sw_processes *p, int procfs_fd)
{
	struct sw_process_entry *e;
	char *path;

	for (e = p->active; e; e = e->next_active) {
		if (!e->tally.oncpu_ns || !e->pid || e->ended ||
		    (e->cgroup_path && p->seq - e->cgroup_seq < CGROUP_AGAIN_WINDOWS))
			continue;
		path = read_cgroup(procfs_fd, e->pid);
		if (path) {
			free(e->cgroup_path);
			e->cgroup_path = path;
		}
		e->cgroup_seq = p->seq;
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which files are read for a row, which are kept open, and who a task is. Must not know: how a row is used.
 * Source: proc_pid_stat(5), proc_pid_statm(5), fs/proc/array.c.
 */
#include "counters.h"

#include "../base/clock.h"
#include "../base/root.h"
#include "task_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

#define MEM_TOTAL_AGAIN_NS UINT64_C(1000000000) /* memory may be plugged */

enum {
	STAT_SIZE = 2048, /* of text: the 52 fields have 1100 bytes at most */
	STATM_SIZE = 256,
	MEMINFO_SIZE = 8192,
	TASKS_FEW = 1024, /* to remember costs less than to look whether they are gone */
};

struct task {
	struct sw_task_key key;
	int stat_fd, statm_fd; /* kept, or -1 */
	uint64_t starttime;    /* or SW_STARTTIME_UNKNOWN */
	uint64_t ticks, t_ns;  /* utime + stime as they were then; t_ns 0: not known */
	int32_t memory_tid;    /* the thread that told of memory last, 0: none */
	bool seen;             /* since the last sweep */
	UT_hash_handle hh;
};

/* A query, and what it takes. */
struct plan {
	struct sw_query query;
	bool stat, statm, mem_total;
};

struct sw_counters {
	int procfs_fd;
	uint64_t hz;
	size_t fds_left;
	bool identify;
	struct plan process, thread;
	struct task *tasks; /* by key */
	size_t tasks_max;   /* beyond so many, look which of them are gone */
	uint64_t mem_total; /* bytes; 0: not known */
	uint64_t mem_total_ns;
	struct sw_tids listed;  /* for the caller */
	struct sw_tids searched; /* for us */
};

struct sw_counters_time sw_counters_now(void)
{
	return (struct sw_counters_time){ .time_us = sw_realtime_ns() / 1000, .t_ns = sw_now_ns() };
}

static void plan(struct plan *p, const struct sw_query *q)
{
	if (!q)
		return;
	p->query = *q;
	for (unsigned i = 0; i < q->n; i++) {
		p->stat |= sw_column_needs_stat(q->column[i]);
		p->statm |= sw_column_needs_statm(q->column[i]);
		p->mem_total |= q->column[i] == SW_COL_memUsage;
	}
}

int sw_counters_open(const struct sw_counters_options *options, struct sw_counters **ret)
{
	struct sw_counters *c;

	if (!options->hz)
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->procfs_fd = options->procfs_fd;
	c->hz = options->hz;
	c->fds_left = options->fds_max;
	c->identify = options->identify;
	c->tasks_max = TASKS_FEW;
	plan(&c->process, options->process);
	plan(&c->thread, options->thread);
	*ret = c;
	return 0;
}

static void close_kept(struct sw_counters *c, int *fd)
{
	if (*fd < 0)
		return;
	close(*fd);
	*fd = -1;
	c->fds_left++;
}

/* This process may open no more: what is kept is the caller's, from here on. */
static void keep_no_more(struct sw_counters *c)
{
	struct task *t;

	for (t = c->tasks; t; t = t->hh.next) {
		close_kept(c, &t->stat_fd);
		close_kept(c, &t->statm_fd);
	}
	c->fds_left = 0;
}

static void forget(struct sw_counters *c, struct task *t)
{
	close_kept(c, &t->stat_fd);
	close_kept(c, &t->statm_fd);
	HASH_DEL(c->tasks, t);
	free(t);
}

static struct task *task_of(struct sw_counters *c, struct sw_task_key key)
{
	struct task *t;

	HASH_FIND(hh, c->tasks, &key, sizeof(key), t);
	if (t)
		return t;
	t = malloc(sizeof(*t));
	if (!t)
		return NULL;
	*t = (struct task){ .key = key, .stat_fd = -1, .statm_fd = -1, .starttime = SW_STARTTIME_UNKNOWN };
	HASH_ADD(hh, c->tasks, key, sizeof(t->key), t);
	return t;
}

/* By way of the file that is kept at *fd, or will be (NULL: it will not). Bytes, or -errno; -ESRCH: it is gone. */
static ssize_t read_file(struct sw_counters *c, int *fd, struct sw_task_key key, const char *name, char *text,
			 size_t size)
{
	ssize_t n;
	int opened;

	if (fd && *fd >= 0) {
		n = sw_task_line_read(*fd, text, size);
		if (n == -ESRCH)
			close_kept(c, fd);
		return n;
	}
	opened = sw_task_file_open(c->procfs_fd, key, name);
	if (opened == -EMFILE) {
		keep_no_more(c);
		opened = sw_task_file_open(c->procfs_fd, key, name);
	}
	if (opened < 0)
		return opened;
	n = sw_task_line_read(opened, text, size);
	if (fd && n > 0 && c->fds_left) {
		*fd = opened;
		c->fds_left--;
	} else {
		close(opened);
	}
	return n;
}

static int read_stat(struct sw_counters *c, int *fd, struct sw_task_key key, struct sw_proc_stat *ret)
{
	bool was_kept = fd && *fd >= 0;
	char text[STAT_SIZE];
	ssize_t n = read_file(c, fd, key, "stat", text, sizeof(text));

	if (n == -ESRCH && was_kept) /* but another may bear its number */
		n = read_file(c, fd, key, "stat", text, sizeof(text));
	return n < 0 ? (int)n : sw_proc_stat_parse(text, (size_t)n, ret);
}

static int read_statm(struct sw_counters *c, int *fd, struct sw_task_key key, struct sw_proc_statm *ret)
{
	char text[STATM_SIZE];
	ssize_t n = read_file(c, fd, key, "statm", text, sizeof(text));

	return n < 0 ? (int)n : sw_proc_statm_parse(text, (size_t)n, ret);
}

static bool is_denied(int err)
{
	return err == -EACCES || err == -EPERM;
}

static bool has_ended(const struct sw_proc_stat *stat)
{
	return stat->n_fields >= 3 && (stat->state == 'Z' || stat->state == 'X' || stat->state == 'x');
}

/* Of a task that has ended, or has come so far in ending, while others of its process live. */
static bool has_lost_memory(const struct sw_proc_stat *stat)
{
	return SW_PROC_STAT_HAS(stat, num_threads) && stat->num_threads > 1 &&
	       (has_ended(stat) || (SW_PROC_STAT_HAS(stat, vsize) && !stat->vsize));
}

static bool tells_of_memory(struct sw_counters *c, int32_t pid, int32_t tid, struct sw_proc_stat *ret)
{
	return !read_stat(c, NULL, (struct sw_task_key){ pid, tid }, ret) && !has_lost_memory(ret);
}

/* A thread of the process that lives: the one of last time, or the first that is found. False: there is none. */
static bool find_memory(struct sw_counters *c, struct task *t, struct sw_proc_stat *ret)
{
	const struct sw_tids *tids = &c->searched;

	if (t->memory_tid && tells_of_memory(c, t->key.pid, t->memory_tid, ret))
		return true;
	t->memory_tid = 0;
	if (sw_task_list(c->procfs_fd, t->key.pid, &c->searched))
		return false;
	for (size_t i = 0; i < tids->n; i++) {
		if (tids->tid[i] == t->key.pid || !tells_of_memory(c, t->key.pid, tids->tid[i], ret))
			continue;
		t->memory_tid = tids->tid[i];
		return true;
	}
	return false;
}

/* Now and then, since a machine's memory hardly changes and this file is a slow one. */
static uint64_t mem_total(struct sw_counters *c, uint64_t t_ns)
{
	char text[MEMINFO_SIZE];
	ssize_t n;

	if (c->mem_total && t_ns - c->mem_total_ns < MEM_TOTAL_AGAIN_NS)
		return c->mem_total;
	n = sw_file_read(c->procfs_fd, "meminfo", text, sizeof(text));
	if (n < 0 || sw_meminfo_bytes(text, (size_t)n, "MemTotal", &c->mem_total))
		c->mem_total = 0;
	c->mem_total_ns = t_ns;
	return c->mem_total;
}

/* Since the task's last row; negative: there was none, or what should grow fell. */
static double cpu_percent(struct sw_counters *c, struct task *t, const struct sw_proc_stat *stat, uint64_t t_ns)
{
	uint64_t ticks = stat->utime + stat->stime;
	double percent = -1;

	if (!SW_PROC_STAT_HAS(stat, stime)) {
		t->t_ns = 0;
		return -1;
	}
	if (t->t_ns && t_ns > t->t_ns && ticks >= t->ticks)
		percent = 100.0 * ((double)(ticks - t->ticks) / (double)c->hz) / ((double)(t_ns - t->t_ns) / 1e9);
	t->ticks = ticks;
	t->t_ns = t_ns;
	return percent;
}

/* Start times are calculated in more ways than one: two can be a tick apart. */
static bool is_other(uint64_t starttime, uint64_t meant)
{
	return meant != SW_STARTTIME_UNKNOWN && (starttime > meant ? starttime - meant : meant - starttime) > 1;
}

/* Whom stat was read of. 0, or -ESRCH: it is not the one that is meant. */
static int identify(struct sw_counters *c, struct task *t, const struct sw_proc_stat *stat, uint64_t starttime)
{
	if (!SW_PROC_STAT_HAS(stat, starttime))
		return 0;
	if (is_other(stat->starttime, starttime))
		return -ESRCH;
	if (t->starttime != SW_STARTTIME_UNKNOWN && t->starttime != stat->starttime) {
		close_kept(c, &t->statm_fd);
		t->t_ns = 0;
		t->memory_tid = 0;
	}
	t->starttime = stat->starttime;
	return 0;
}

/* What is read for a row lies here while it is filled. */
struct reading {
	struct sw_row_source source;
	struct sw_proc_stat stat, memory;
	struct sw_proc_statm statm;
	bool ended;
};

static int take_stat(struct sw_counters *c, struct task *t, uint64_t starttime, uint64_t t_ns, struct reading *r)
{
	int err;

	err = read_stat(c, &t->stat_fd, t->key, &r->stat);
	if (is_denied(err)) {
		r->source.stat_denied = true;
		return 0;
	}
	if (!err)
		err = identify(c, t, &r->stat, starttime);
	if (err)
		return err;
	r->ended = has_ended(&r->stat);
	r->source.stat = r->source.memory = &r->stat;
	if (has_lost_memory(&r->stat))
		r->source.memory = find_memory(c, t, &r->memory) ? &r->memory : NULL;
	r->source.cpu_percent = cpu_percent(c, t, &r->stat, t_ns);
	return 0;
}

/* After stat, which told who has the memory. What is gone by now is absent; so is what is not told. */
static int take_statm(struct sw_counters *c, struct task *t, struct reading *r)
{
	int err;

	if (r->source.stat && !r->source.memory)
		return 0;
	if (r->source.memory == &r->memory)
		err = read_statm(c, NULL, (struct sw_task_key){ t->key.pid, t->memory_tid }, &r->statm);
	else
		err = read_statm(c, &t->statm_fd, t->key, &r->statm);
	r->source.statm = err ? NULL : &r->statm;
	r->source.statm_denied = is_denied(err);
	return err == -ESRCH || is_denied(err) ? 0 : err;
}

/*
 * Where nothing of stat is asked for: a file that was kept is its task's for certain, and a size in it is of memory
 * that the task has. False: stat has to tell more.
 */
static bool take_statm_alone(struct sw_counters *c, struct task *t, uint64_t starttime, struct reading *r)
{
	char text[STATM_SIZE];
	ssize_t n;

	if (t->statm_fd < 0 || t->starttime == SW_STARTTIME_UNKNOWN || is_other(t->starttime, starttime))
		return false;
	n = sw_task_line_read(t->statm_fd, text, sizeof(text));
	if (n == -ESRCH)
		close_kept(c, &t->statm_fd);
	if (n < 0 || sw_proc_statm_parse(text, (size_t)n, &r->statm) || !r->statm.size)
		return false;
	r->source.statm = &r->statm;
	return true;
}

static int read_files(struct sw_counters *c, const struct plan *p, struct task *t, uint64_t starttime, uint64_t t_ns,
		      struct reading *r)
{
	int err;

	if (!p->stat && p->statm && take_statm_alone(c, t, starttime, r))
		return 0;
	err = take_stat(c, t, starttime, t_ns, r);
	return !err && p->statm ? take_statm(c, t, r) : err;
}

static int read_row(struct sw_counters *c, const struct plan *p, struct sw_task_key key, uint64_t starttime,
		    const struct sw_counters_time *now, struct sw_row *row)
{
	uint64_t found_starttime = SW_STARTTIME_UNKNOWN;
	struct reading r;
	struct task *t;
	int err;

	r.source = (struct sw_row_source){ .time_us = now->time_us, .cpu_percent = -1 };
	r.ended = false;
	if (p->stat || p->statm || c->identify) {
		t = task_of(c, key);
		if (!t)
			return -ENOMEM;
		err = read_files(c, p, t, starttime, now->t_ns, &r);
		if (err == -ESRCH)
			forget(c, t);
		if (err)
			return err;
		t->seen = true;
		found_starttime = t->starttime;
	}
	if (p->mem_total)
		r.source.mem_total = mem_total(c, now->t_ns);
	row->starttime = found_starttime;
	row->ended = r.ended;
	row->pid = key.pid;
	row->tid = key.tid ? key.tid : key.pid;
	sw_row_fill(row, &p->query, &r.source);
	return 0;
}

int sw_counters_process(struct sw_counters *c, int32_t pid, uint64_t starttime, const struct sw_counters_time *now,
			struct sw_row *row)
{
	return read_row(c, &c->process, (struct sw_task_key){ .pid = pid }, starttime, now, row);
}

int sw_counters_thread(struct sw_counters *c, int32_t pid, int32_t tid, uint64_t starttime,
		       const struct sw_counters_time *now, struct sw_row *row)
{
	return read_row(c, &c->thread, (struct sw_task_key){ pid, tid }, starttime, now, row);
}

int sw_counters_threads(struct sw_counters *c, int32_t pid, const int32_t **ret, size_t *n)
{
	int err = sw_task_list(c->procfs_fd, pid, &c->listed);

	if (err)
		return err;
	*ret = c->listed.tid;
	*n = c->listed.n;
	return 0;
}

/* Is there nobody any more who bears the number? Whoever does may be another: that is found out when it is read. */
static bool is_gone(struct sw_counters *c, const struct task *t)
{
	int fd = sw_task_file_open(c->procfs_fd, t->key, "stat");

	if (fd >= 0)
		close(fd);
	return fd == -ESRCH;
}

/* As many again may come before all are looked at anew: so each that comes costs one look at most. */
static void forget_gone(struct sw_counters *c)
{
	struct task *t, *next;

	HASH_ITER(hh, c->tasks, t, next) {
		if (is_gone(c, t))
			forget(c, t);
	}
	c->tasks_max = 2 * HASH_COUNT(c->tasks) + TASKS_FEW;
}

void sw_counters_sweep(struct sw_counters *c)
{
	struct task *t;

	if (HASH_COUNT(c->tasks) > c->tasks_max)
		forget_gone(c);
	for (t = c->tasks; t; t = t->hh.next) {
		if (!t->seen) {
			close_kept(c, &t->stat_fd);
			close_kept(c, &t->statm_fd);
		}
		t->seen = false;
	}
}

void sw_counters_forget(struct sw_counters *c, int32_t pid, int32_t tid)
{
	struct sw_task_key key = { pid, tid };
	struct task *t;

	HASH_FIND(hh, c->tasks, &key, sizeof(key), t);
	if (t)
		forget(c, t);
}

void sw_counters_close(struct sw_counters *c)
{
	struct task *t, *next;

	if (!c)
		return;
	HASH_ITER(hh, c->tasks, t, next)
		forget(c, t);
	free(c->listed.tid);
	free(c->searched.tid);
	free(c);
}

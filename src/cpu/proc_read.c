/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: reading what processes and threads had. Must not know: who is a member, what rows are.
 * Relies on proc_pid_stat(5), Documentation/scheduler/sched-stats.rst, clock_getcpuclockid(3).
 *
 * All these numbers are the kernel's sum of finished stretches: of one that goes on it is told at the next clock tick or
 * switch, be it the process's clock or schedstat. So both agree, but a running thread is up to a tick behind.
 */
#include "proc.h"

#include "../base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOOK_AGAIN_NS 1000000000 /* a thread may change its name, and run elsewhere */

void sw_proc_give(struct sw_proc_thread *t, uint64_t ns)
{
	if (!ns)
		return;
	t->value_ns += ns;
	t->process->pending = true;
}

int sw_proc_read_stat(struct sw_proc *b, int32_t pid, int32_t tid, struct sw_proc_stat *ret)
{
	char path[64], text[2048];
	ssize_t n;

	if (tid)
		snprintf(path, sizeof(path), "%d/task/%d/stat", pid, tid);
	else
		snprintf(path, sizeof(path), "%d/stat", pid);
	n = sw_file_read(b->procfs_fd, path, text, sizeof(text));
	if (n < 0)
		return n == -ENOENT ? -ESRCH : (int)n;
	if (!n) /* a dying task has emptied it */
		return -ESRCH;
	n = sw_proc_stat_parse(text, (size_t)n, ret);
	return n ? (int)n : SW_PROC_STAT_HAS(ret, starttime) ? 0 : -EINVAL;
}

/* A short line comes whole in the first read, and there is one such read for each of a thousand threads. */
static ssize_t read_line(int fd, char *text, size_t size)
{
	ssize_t n;

	do
		n = pread(fd, text, size, 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Keep the file of a thread that will be asked again and again, while descriptors last. */
static ssize_t read_schedstat(struct sw_proc *b, struct sw_proc_thread *t, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	if (t->fd >= 0)
		return read_line(t->fd, text, size);
	snprintf(path, sizeof(path), "%d/task/%d/schedstat", t->process->leader.tid, t->tid);
	fd = openat(b->procfs_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	n = read_line(fd, text, size);
	if (b->fds_left && n > 0) {
		t->fd = fd;
		b->fds_left--;
	} else {
		close(fd);
	}
	return n;
}

/* What the kernel has counted for the thread: 0, or -ESRCH: it is gone. What cannot be read now stays as it was. */
static int read_own(struct sw_proc *b, struct sw_proc_thread *t, uint64_t *ret_ns)
{
	struct sw_proc_schedstat schedstat;
	struct sw_proc_stat stat;
	char text[128];
	ssize_t n = b->no_schedstat ? -ENOENT : read_schedstat(b, t, text, sizeof(text));
	int err;

	*ret_ns = t->own_ns;
	if (n > 0 && !sw_proc_schedstat_parse(text, (size_t)n, &schedstat))
		*ret_ns = schedstat.run_ns;
	if (n > 0)
		return 0;
	if (n == -ESRCH)
		return -ESRCH;
	/* a kernel without schedstat, or the thread has gone */
	err = sw_proc_read_stat(b, t->process->leader.tid, t->tid, &stat);
	if (!err)
		*ret_ns = sw_ticks_ns(stat.utime + stat.stime, b->host->hz);
	return err == -ESRCH ? err : 0;
}

/* Give it what its own number has grown by, but no more than *left_ns. A number that fell is another thread's (exec). */
static void grow(struct sw_proc_thread *t, uint64_t own_ns, uint64_t *left_ns)
{
	uint64_t ns = own_ns > t->own_ns ? own_ns - t->own_ns : 0;

	if (own_ns < t->own_ns)
		t->own_ns = own_ns;
	ns = ns < *left_ns ? ns : *left_ns;
	t->active = ns > 0;
	t->own_ns += ns;
	*left_ns -= ns;
	sw_proc_give(t, ns);
}

static void sample_thread(struct sw_proc *b, struct sw_proc_thread *t, uint64_t *left_ns)
{
	const struct sw_proc_record *record;
	struct sw_proc_stat stat;
	uint64_t own_ns;

	if (read_own(b, t, &own_ns)) {
		record = sw_proc_record_of(b, t);
		if (record && record->r.run_ns > t->own_ns)
			grow(t, record->r.run_ns, left_ns);
		sw_proc_thread_gone(b, t);
		return;
	}
	grow(t, own_ns, left_ns);
	if (t->active && (b->n_domains > 1 || b->t_ns - t->looked_ns >= LOOK_AGAIN_NS) &&
	    !sw_proc_read_stat(b, t->process->leader.tid, t->tid, &stat))
		sw_proc_describe(b, t, &stat);
}

/* Those that ran in the last window, or those that did not; no more than it takes where a clock tells what is left. */
static void sample_some(struct sw_proc *b, struct sw_proc_process *p, int64_t num_threads, bool recent, uint64_t *left_ns)
{
	for (struct sw_proc_thread *t = p->threads; t; t = t->next) {
		if (t->gone || t->recent != recent)
			continue;
		if (!*left_ns && p->n_threads < num_threads)
			continue;
		sample_thread(b, t, left_ns);
	}
}

/*
 * Those beside the leader. A process of a thousand threads has few that run, and its clock tells when they are found.
 * To list the threads costs as much as to read them: it is done when they are not as many as the process says it has.
 */
static int sample_threads(struct sw_proc *b, struct sw_proc_process *p, int64_t num_threads, uint64_t *left_ns)
{
	struct sw_proc_thread *t, *known = p->threads;
	int err;

	for (t = known; t; t = t->next) {
		t->recent = t->active;
		t->active = false;
	}
	sample_some(b, p, num_threads, true, left_ns);
	sample_some(b, p, num_threads, false, left_ns);
	err = p->n_threads + 1 != num_threads ? sw_proc_look_for_threads(b, p) : 0;
	for (t = p->threads; t != known && !err; t = t->next)
		sample_thread(b, t, left_ns);
	return err ? err : sw_proc_unseen_threads(b, p, left_ns);
}

/* With the process's clock, which was read before its threads are: what these have not had is the leader's. */
static int share_clock(struct sw_proc *b, struct sw_proc_process *p, uint64_t clock_ns, int64_t num_threads)
{
	uint64_t left_ns = clock_ns > p->total_ns ? clock_ns - p->total_ns : 0, own_ns;
	int err;

	p->total_ns += left_ns;
	if (num_threads <= 1 && !p->n_threads) {
		p->leader.own_ns += left_ns;
		p->leader.active = left_ns > 0;
		/* more than it can have run alone: threads came and went */
		p->leader.clump |= left_ns > b->t_ns - b->last_t_ns + 2 * sw_ticks_ns(1, b->host->hz);
		sw_proc_give(&p->leader, left_ns);
		return 0;
	}
	if (!read_own(b, &p->leader, &own_ns))
		grow(&p->leader, own_ns, &left_ns);
	err = sample_threads(b, p, num_threads, &left_ns);
	p->leader.clump |= left_ns > 0;
	p->leader.active |= left_ns > 0;
	sw_proc_give(&p->leader, left_ns);
	return err;
}

/* Without: each has what its own number says. */
static int add_threads(struct sw_proc *b, struct sw_proc_process *p, int64_t num_threads)
{
	uint64_t left_ns = UINT64_MAX, own_ns;
	int err = sample_threads(b, p, num_threads, &left_ns);

	if (!read_own(b, &p->leader, &own_ns))
		grow(&p->leader, own_ns, &left_ns);
	p->total_ns += UINT64_MAX - left_ns;
	p->active = left_ns != UINT64_MAX;
	return err;
}

static void take_waited(struct sw_proc *b, struct sw_proc_process *p, const struct sw_proc_stat *s)
{
	uint64_t ticks = (s->cutime > 0 ? (uint64_t)s->cutime : 0) + (s->cstime > 0 ? (uint64_t)s->cstime : 0);
	uint64_t waited_ns = sw_ticks_ns(ticks, b->host->hz), faults = s->cminflt + s->cmajflt;

	if (waited_ns > p->waited_ns)
		p->waited_ns = waited_ns;
	p->n_waited_faults = faults > p->waited_faults ? faults - p->waited_faults : 0;
	p->waited_faults = faults;
}

/* Is it the process that was met under that number? */
static int read_leader(struct sw_proc *b, struct sw_proc_process *p, struct sw_proc_stat *s)
{
	int err = sw_proc_read_stat(b, p->leader.tid, 0, s);

	if (!err && s->starttime != p->start_ticks)
		err = -ESRCH;
	if (err)
		return err;
	p->parent = (int32_t)s->ppid;
	p->orphan = false;
	take_waited(b, p, s);
	if (!p->ended)
		sw_proc_describe(b, &p->leader, s);
	return 0;
}

static bool read_clock(const struct sw_proc_process *p, uint64_t *ret_ns)
{
	struct timespec now;

	if (clock_gettime(p->clock, &now))
		return false;
	*ret_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	return true;
}

int sw_proc_sample(struct sw_proc *b, struct sw_proc_process *p)
{
	struct sw_proc_stat s;
	uint64_t clock_ns = 0;
	int err;

	p->active = false;
	p->n_waited_faults = 0;
	if (b->clocks) {
		if (!read_clock(p, &clock_ns)) {
			sw_proc_end(b, p, true);
			return 0;
		}
		p->active = clock_ns != p->total_ns;
		if (!p->active && !p->fresh && !p->orphan)
			return 0;
	}
	err = read_leader(b, p, &s);
	if (err == -ESRCH)
		sw_proc_end(b, p, true);
	/* any other error will pass, or be another's to tell */
	if (err || p->ended)
		return 0;
	err = b->clocks ? share_clock(b, p, clock_ns, s.num_threads) : add_threads(b, p, s.num_threads);
	/* a leader that is a zombie while its threads live has ended alone */
	if (err || (s.state != 'X' && s.state != 'x' && (s.state != 'Z' || s.num_threads > 1)))
		return err;
	/* what it did since its clock was read */
	if (b->clocks && read_clock(p, &clock_ns))
		err = share_clock(b, p, clock_ns, 1);
	sw_proc_end(b, p, false);
	return err;
}

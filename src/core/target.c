/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the target's own processes, held by pidfds so that a number that is used again is not taken for them.
 * Must not know: what descends from them, nor what they use.
 * Relies on: pidfd_open(2), epoll(7): a pidfd becomes readable when the last thread of its process has ended.
 */
#include "target.h"

#include "../base/parse.h"
#include "../base/root.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EVENTS_AT_ONCE = 64 };

static int open_pidfd(int32_t pid)
{
	int fd = syscall(SYS_pidfd_open, pid, 0U);

	return fd < 0 ? -errno : fd;
}

/* Without pidfds: before Linux 5.3, and where a seccomp filter does not know the call. */
static bool is_refused(int err)
{
	return err == -ENOSYS || err == -EPERM;
}

static bool has_number(int32_t pid)
{
	return !kill(pid, 0) || errno == EPERM;
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* The process of a thread as procfs has it, or 0. */
static int32_t process_of(int procfs_fd, int32_t tid)
{
	static const char key[] = "\nTgid:\t";
	char path[32], text[4096], *at;
	uint64_t tgid;

	snprintf(path, sizeof(path), "%d/status", tid);
	if (sw_file_read_start(procfs_fd, path, text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, key);
	if (!at)
		return 0;
	at += strlen(key);
	at[strcspn(at, "\n")] = '\0';
	return sw_parse_u64(at, INT32_MAX, &tgid) ? 0 : tgid;
}

static int explain(int32_t pid, int err, int procfs_fd, struct sw_error *error)
{
	int32_t process;

	if (err == -EMFILE || err == -ENFILE)
		return sw_fail(error, err,
			       "cannot watch process %d: %s; raise the limit (ulimit -n) or name fewer processes", pid,
			       strerror(-err));
	if (err != -ESRCH && err != -EINVAL && err != -ENOENT)
		return sw_fail(error, err, "cannot watch process %d: %s", pid, strerror(-err));
	/* EINVAL or, in newer kernels, ENOENT: a thread that does not lead its process. ESRCH: nobody, or just gone. */
	process = has_number(pid) ? process_of(procfs_fd, pid) : 0;
	if (process && process != pid)
		return sw_fail(error, -ESRCH, "%d is not a process but a thread of process %d: give %d", pid,
			       process, process);
	if (err != -ESRCH && has_number(pid))
		return sw_fail(error, -ESRCH,
			       "%d is not a process but a thread of one: give the process's own number", pid);
	return sw_fail(error, -ESRCH,
		       "there is no process %d in this pid namespace: see 'ps -e' for those there are", pid);
}

static int already_ended(int32_t pid, struct sw_error *error)
{
	return sw_fail(error, -ESRCH,
		       "process %d has ended already, though its parent has not waited for it yet: give one that runs",
		       pid);
}

static int hold(struct sw_target_pids *t, int32_t pid, int procfs_fd, struct sw_error *error)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = t->n};
	int fd = open_pidfd(pid), process;

	t->pids[t->n] = pid;
	t->fds[t->n] = -1;
	if (is_refused(fd)) {
		process = has_number(pid) ? process_of(procfs_fd, pid) : 0;
		if (!has_number(pid) || (process && process != pid))
			return explain(pid, -ESRCH, procfs_fd, error);
		t->n++;
		return 0;
	}
	if (fd < 0)
		return explain(pid, fd, procfs_fd, error);
	t->fds[t->n++] = fd;
	t->n_fds++;
	if (is_readable(fd))
		return already_ended(pid, error);
	if (epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		return sw_fail(error, -errno, "cannot watch process %d: %s", pid, strerror(errno));
	return 0;
}

static bool is_held(const struct sw_target_pids *t, int32_t pid)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->pids[i] == pid)
			return true;
	return false;
}

int sw_target_open(struct sw_target_pids *t, const int32_t *pids, size_t n, int procfs_fd, struct sw_error *error)
{
	int err = 0;

	*t = SW_TARGET_PIDS_NONE;
	if (n > SW_TARGET_PIDS_MAX)
		return sw_fail(error, -E2BIG,
			       "%zu processes are more than %d: watch an ancestor of theirs, their cgroup or the host", n,
			       SW_TARGET_PIDS_MAX);
	if (!n)
		return 0;
	t->pids = calloc(n, sizeof(*t->pids));
	t->fds = calloc(n, sizeof(*t->fds));
	t->ended = calloc(n, sizeof(*t->ended));
	if (!t->pids || !t->fds || !t->ended)
		return sw_fail(error, -ENOMEM, "out of memory for %zu pids", n);
	t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (t->epoll_fd < 0)
		return sw_fail(error, -errno, "cannot wait for the end of processes: %s", strerror(errno));
	for (size_t i = 0; i < n && !err; i++)
		if (!is_held(t, pids[i]))
			err = hold(t, pids[i], procfs_fd, error);
	return err;
}

/* An ended one leaves the set, so that it does not stay readable. */
static void let_go(struct sw_target_pids *t, size_t i)
{
	t->ended[i] = true;
	if (t->fds[i] < 0)
		return;
	epoll_ctl(t->epoll_fd, EPOLL_CTL_DEL, t->fds[i], NULL);
	close(t->fds[i]);
	t->fds[i] = -1;
	t->n_fds--;
}

size_t sw_target_alive(struct sw_target_pids *t)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	size_t alive = 0;
	int n;

	do {
		n = t->n_fds ? epoll_wait(t->epoll_fd, events, EVENTS_AT_ONCE, 0) : 0;
		for (int i = 0; i < n; i++)
			let_go(t, events[i].data.u64);
	} while (n == EVENTS_AT_ONCE);
	for (size_t i = 0; i < t->n; i++) {
		if (!t->ended[i] && t->fds[i] < 0 && !has_number(t->pids[i]))
			let_go(t, i);
		alive += !t->ended[i];
	}
	return alive;
}

int sw_target_check(struct sw_target_pids *t, struct sw_error *error)
{
	if (sw_target_alive(t) == t->n)
		return 0;
	for (size_t i = 0; i < t->n; i++)
		if (t->ended[i])
			return sw_fail(error, -ESRCH,
				       "process %d ended before the recording began: start it anew, or watch its parent",
				       t->pids[i]);
	return 0;
}

void sw_target_close(struct sw_target_pids *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->fds[i] >= 0)
			close(t->fds[i]);
	if (t->epoll_fd >= 0)
		close(t->epoll_fd);
	free(t->pids);
	free(t->fds);
	free(t->ended);
	*t = SW_TARGET_PIDS_NONE;
}

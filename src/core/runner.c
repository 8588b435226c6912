/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the monitor's own thread, and who may do what while it runs. Must not know: what a window is made of, who gets
 * its rows. Relies on: pthreads(7); eventfd(2), which wakes the thread from its poll; signal masks that are inherited.
 */
#include "monitor.h"

#include "../base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NS_PER_MS 1000000ULL

void sw_runner_init(struct sw_runner *r)
{
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	r->wake_fd = -1;
}

void sw_runner_free(struct sw_runner *r)
{
	sw_collect_free(r);
	if (r->wake_fd >= 0)
		close(r->wake_fd);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
}

static bool has_thread(const struct sw_runner *r)
{
	return r->state == SW_RUN_ON || r->state == SW_RUN_OVER;
}

static bool is_thread(const struct sw_runner *r)
{
	return has_thread(r) && pthread_equal(r->thread, pthread_self());
}

/* --- words: the monitor's own are written by whoever steps it, so other threads' have a place of theirs */

struct sw_error *sw_runner_words(struct sw_monitor *m)
{
	struct sw_runner *r = &m->runner;

	return has_thread(r) && !is_thread(r) ? &r->said : &m->error;
}

struct sw_error *sw_runner_enter(struct sw_monitor *m)
{
	struct sw_error *words;

	pthread_mutex_lock(&m->runner.lock);
	words = sw_runner_words(m);
	words->text[0] = '\0';
	return words;
}

const char *sw_monitor_error(const struct sw_monitor *m)
{
	struct sw_monitor *mine = (struct sw_monitor *)m; /* only its lock is to be had */
	const char *text;

	pthread_mutex_lock(&mine->runner.lock);
	text = sw_runner_words(mine)->text;
	pthread_mutex_unlock(&mine->runner.lock);
	return text;
}

void sw_monitor_error_copy(const struct sw_monitor *m, char *text, size_t size)
{
	struct sw_monitor *mine = (struct sw_monitor *)m;
	const char *from;
	size_t n;

	if (!size)
		return;
	pthread_mutex_lock(&mine->runner.lock);
	from = sw_runner_words(mine)->text;
	n = strnlen(from, size - 1);
	memcpy(text, from, n);
	text[n] = '\0';
	pthread_mutex_unlock(&mine->runner.lock);
}

/* --- who may do what */

bool sw_runner_is_elsewhere(const struct sw_monitor *m)
{
	struct sw_runner *r = (struct sw_runner *)&m->runner;
	bool elsewhere;

	pthread_mutex_lock(&r->lock);
	elsewhere = has_thread(r) && !is_thread(r);
	pthread_mutex_unlock(&r->lock);
	return elsewhere;
}

int sw_runner_check_reads(struct sw_monitor *m)
{
	struct sw_error *words = sw_runner_enter(m);
	struct sw_runner *r = &m->runner;
	int err = 0;

	if (has_thread(r) && !is_thread(r))
		err = sw_fail(words, -EBUSY, "the monitor's own thread has it, until sw_monitor_stop()");
	pthread_mutex_unlock(&r->lock);
	return err;
}

int sw_runner_check_steps(struct sw_monitor *m)
{
	int err = sw_runner_check_reads(m);
	struct sw_runner *r = &m->runner;

	if (err)
		return err;
	pthread_mutex_lock(&r->lock);
	if (r->calling && pthread_equal(r->caller, pthread_self()))
		err = sw_fail(sw_runner_words(m), -EBUSY, "this cannot be done in the callback");
	pthread_mutex_unlock(&r->lock);
	return err;
}

/* --- the thread */

static enum sw_run_asked asked(struct sw_runner *r)
{
	enum sw_run_asked what;

	pthread_mutex_lock(&r->lock);
	what = r->asked;
	pthread_mutex_unlock(&r->lock);
	return what;
}

/* Under the lock. */
static void ask(struct sw_runner *r, enum sw_run_asked what)
{
	if (what > r->asked)
		r->asked = what;
	eventfd_write(r->wake_fd, 1); /* a full one is readable all the same */
}

/* A duration of whole windows ends with its last one, instead of a sliver after it. */
static bool is_whole_windows(const struct sw_options *o)
{
	return !(o->duration_ms % o->interval_ms);
}

/* When to cut the window short at the latest. */
static uint64_t deadline_ns(const struct sw_monitor *m)
{
	const struct sw_options *o = &m->options;
	uint64_t ms = o->duration_ms + (is_whole_windows(o) ? o->interval_ms : 0);

	/* a duration beyond the clock's end is none */
	if (!o->duration_ms || ms < o->duration_ms || ms > (UINT64_MAX - m->header.header.started_ns) / NS_PER_MS)
		return UINT64_MAX;
	return m->header.header.started_ns + ms * NS_PER_MS;
}

static bool is_over(const struct sw_monitor *m, const struct sw_report *report)
{
	const struct sw_options *o = &m->options;

	if (report->ended)
		return true;
	return o->duration_ms && is_whole_windows(o) &&
	       (report->t_ns - m->header.header.started_ns) / NS_PER_MS >= o->duration_ms;
}

static int wait_until(struct sw_monitor *m, uint64_t t_ns)
{
	struct pollfd fds[] = {
		{.fd = m->epoll_fd, .events = POLLIN},
		{.fd = m->runner.wake_fd, .events = POLLIN},
	};
	uint64_t now_ns = sw_now_ns(), left_ns = now_ns < t_ns ? t_ns - now_ns : 0;
	const struct timespec timeout = {.tv_sec = left_ns / 1000000000, .tv_nsec = left_ns % 1000000000};

	/* no signal comes in between: all are blocked */
	if (ppoll(fds, 2, t_ns == UINT64_MAX ? NULL : &timeout, NULL) < 0)
		return sw_fail(&m->error, -errno, "cannot wait for a window: %s", strerror(errno));
	return fds[0].revents ? 1 : 0;
}

static int record(struct sw_monitor *m)
{
	const struct sw_report *report;
	uint64_t end_ns = deadline_ns(m);

	for (;;) {
		int r = wait_until(m, end_ns);

		if (r < 0)
			return r;
		if (asked(&m->runner) == SW_ASKED_QUIT)
			return 0;
		if (asked(&m->runner) == SW_ASKED_FINISH || sw_now_ns() >= end_ns) {
			r = sw_monitor_finish(m, &report);
			return r < 0 ? r : 0;
		}
		if (r)
			r = sw_monitor_step(m, &report);
		if (r < 0 || (r > 0 && is_over(m, report)))
			return r < 0 ? r : 0;
	}
}

static void *work(void *arg)
{
	struct sw_monitor *m = arg;
	struct sw_runner *r = &m->runner;
	bool orphan;
	int err;

	pthread_setname_np(pthread_self(), "schedwatt");
	err = record(m);
	pthread_mutex_lock(&r->lock);
	m->finished = true;
	r->err = err;
	if (err)
		sw_fail(&r->failure, err, "%s", m->error.text[0] ? m->error.text : strerror(-err));
	orphan = r->orphan;
	r->state = orphan ? SW_RUN_JOINED : SW_RUN_OVER;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	if (orphan)
		sw_monitor_close(m);
	return NULL;
}

/* Under the lock, which the thread takes before it asks who it is. */
static int make_thread(struct sw_monitor *m)
{
	struct sw_runner *r = &m->runner;
	sigset_t all, before;
	int err;

	r->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->wake_fd < 0)
		return sw_fail(&m->error, -errno, "cannot make what wakes a thread: %s", strerror(errno));
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&r->thread, NULL, work, m);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!err) {
		r->state = SW_RUN_ON;
		return 0;
	}
	close(r->wake_fd);
	r->wake_fd = -1;
	return sw_fail(&m->error, -err, "cannot make a thread: %s", strerror(err));
}

int sw_monitor_start(struct sw_monitor *m)
{
	struct sw_error *words = sw_runner_enter(m);
	struct sw_runner *r = &m->runner;
	int err = 0;

	if (has_thread(r))
		err = sw_fail(words, -EALREADY, "the monitor was started already");
	else if (r->state == SW_RUN_JOINED || m->finished)
		err = sw_fail(words, -ESHUTDOWN, "the recording is over");
	pthread_mutex_unlock(&r->lock);
	if (err)
		return err;
	/* here, so that its failures are the caller's and the header stands once this has returned */
	err = sw_runner_check_steps(m);
	if (!err && (m->follows || !m->windows.started))
		err = sw_monitor_begin(m);
	if (err)
		return err;
	pthread_mutex_lock(&r->lock);
	err = make_thread(m);
	pthread_mutex_unlock(&r->lock);
	return err;
}

/* Whether the thread can be waited for, under the lock: 0 or -errno, with words. */
static int check_waits(struct sw_monitor *m, struct sw_error *words)
{
	if (m->runner.state == SW_RUN_NONE)
		return sw_fail(words, -EINVAL, "the monitor was never started: it has no thread to wait for");
	if (is_thread(&m->runner))
		return sw_fail(words, -EDEADLK, "the monitor's thread cannot wait for itself");
	return 0;
}

/* How it ended, under the lock. */
static int outcome(struct sw_monitor *m)
{
	struct sw_runner *r = &m->runner;

	return r->err ? sw_fail(sw_runner_words(m), r->err, "%s", r->failure.text) : 0;
}

int sw_monitor_join(struct sw_monitor *m, int64_t timeout_ms)
{
	/* longer than anybody waits, and no overflow */
	uint64_t ms = timeout_ms < INT64_MAX / 4000000 ? (uint64_t)timeout_ms : INT64_MAX / 4000000;
	uint64_t until_ns = timeout_ms < 0 ? 0 : sw_now_ns() + ms * NS_PER_MS;
	const struct timespec until = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
	struct sw_error *words = sw_runner_enter(m);
	struct sw_runner *r = &m->runner;
	int err = check_waits(m, words);

	while (!err && r->state == SW_RUN_ON)
		err = timeout_ms < 0 ? pthread_cond_wait(&r->changed, &r->lock)
				     : pthread_cond_clockwait(&r->changed, &r->lock, CLOCK_MONOTONIC, &until);
	if (err == ETIMEDOUT)
		err = sw_fail(sw_runner_words(m), -ETIMEDOUT, "the recording goes on");
	else if (!err)
		err = outcome(m);
	pthread_mutex_unlock(&r->lock);
	return err;
}

/* The thread has come to its end, or is about to. The lock is let go of meanwhile. */
static void reap(struct sw_runner *r)
{
	r->joining = true;
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	pthread_mutex_lock(&r->lock);
	r->joining = false;
	r->state = SW_RUN_JOINED;
}

int sw_monitor_stop(struct sw_monitor *m, const struct sw_summary **ret)
{
	struct sw_error *words = sw_runner_enter(m);
	struct sw_runner *r = &m->runner;
	int err = check_waits(m, words);

	if (!err && r->joining)
		err = sw_fail(words, -EALREADY, "another thread is stopping the monitor");
	if (!err && r->state != SW_RUN_JOINED) {
		ask(r, SW_ASKED_FINISH);
		reap(r);
	}
	if (!err)
		err = outcome(m);
	pthread_mutex_unlock(&r->lock);
	return err || !ret ? err : sw_monitor_summary(m, ret);
}

bool sw_runner_quit(struct sw_monitor *m)
{
	struct sw_runner *r = &m->runner;
	bool mine;

	pthread_mutex_lock(&r->lock);
	mine = is_thread(r);
	if (has_thread(r)) {
		ask(r, SW_ASKED_QUIT);
		if (mine && !r->orphan)
			pthread_detach(r->thread);
		r->orphan = mine;
		if (!mine)
			reap(r);
	}
	pthread_mutex_unlock(&r->lock);
	return !mine;
}

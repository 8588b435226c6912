/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: when a monitor has something to do: at a boundary, and between boundaries for counters that would wrap, for a
 * back end that wants room made, and for a target that has ended. Must not know: what is done then.
 * Relies on: timerfd_create(2), epoll(7), which may hold another epoll fd (the target's).
 */
#include "monitor.h"

#include "../base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NS_PER_MS 1000000ULL
#define CPU_GUARD_NS 60000 /* how long back ends wait behind a boundary before they read it */
#define TEND_ROOM_NS (10 * NS_PER_MS) /* what it takes before a boundary, should the timer come late */
/* After the last of the target's own processes: what descends from it may die soon, or live for days. */
#define LOOK_FIRST_NS NS_PER_MS
#define LOOK_MAX_NS (500 * NS_PER_MS)

int sw_wake_init(struct sw_monitor *m)
{
	struct epoll_event event = {.events = EPOLLIN};

	m->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (m->timer_fd < 0)
		return sw_fail(&m->error, -errno, "cannot make a timer: %s", strerror(errno));
	m->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (m->epoll_fd < 0 || epoll_ctl(m->epoll_fd, EPOLL_CTL_ADD, m->timer_fd, &event) ||
	    (m->target.epoll_fd >= 0 && epoll_ctl(m->epoll_fd, EPOLL_CTL_ADD, m->target.epoll_fd, &event)))
		return sw_fail(&m->error, -errno, "cannot wait for a timer: %s", strerror(errno));
	return 0;
}

void sw_wake_free(struct sw_monitor *m)
{
	if (m->epoll_fd >= 0)
		close(m->epoll_fd);
	if (m->timer_fd >= 0)
		close(m->timer_fd);
	m->epoll_fd = m->timer_fd = -1;
}

static uint64_t meter_at_ns(const struct sw_monitor *m)
{
	return m->meter.max_gap_ns && m->meter.last_ns ? m->meter.last_ns + m->meter.max_gap_ns : UINT64_MAX;
}

/* UINT64_MAX: not before the boundary, at which it makes room anyway. */
static uint64_t tend_at_ns(const struct sw_monitor *m, uint64_t now_ns)
{
	uint64_t every_ns = m->backend->tend_ns, at_ns = m->tended_ns + every_ns;

	if (!m->backend->ops->tend || !every_ns || m->wake_ns <= at_ns + every_ns / 4)
		return UINT64_MAX;
	return (at_ns > now_ns ? at_ns : now_ns) + TEND_ROOM_NS < m->wake_ns ? at_ns : UINT64_MAX;
}

bool sw_wake_meter_is_due(const struct sw_monitor *m, uint64_t now_ns)
{
	return meter_at_ns(m) <= now_ns;
}

bool sw_wake_tend_is_due(const struct sw_monitor *m, uint64_t now_ns)
{
	return tend_at_ns(m, now_ns) <= now_ns;
}

/* Without `alive` of the back end the descendants cannot be known of. */
static bool can_tell(const struct sw_monitor *m)
{
	return m->target.n && (m->backend->ops->alive || m->options.scope == SW_SCOPE_PROCESS);
}

static void look_later(struct sw_monitor *m, uint64_t now_ns)
{
	m->look_pause_ns = m->look_pause_ns ? m->look_pause_ns * 2 : LOOK_FIRST_NS;
	if (m->look_pause_ns > LOOK_MAX_NS)
		m->look_pause_ns = LOOK_MAX_NS;
	m->look_ns = now_ns + m->look_pause_ns;
}

bool sw_wake_all_ended(struct sw_monitor *m, uint64_t now_ns)
{
	const struct sw_cpu_ops *ops = m->backend->ops;
	size_t alive = sw_target_alive(&m->target); /* in any case, or their fd would stay readable */

	/* while there is a pidfd, it will tell */
	if (!can_tell(m) || m->target.n_fds || m->ended || m->drawn || now_ns < m->look_ns)
		return false;
	if (ops->alive ? ops->alive(m->backend) : alive > 0) {
		look_later(m, now_ns);
		return false;
	}
	m->drawn = true;
	m->look_ns = 0;
	return true;
}

void sw_wake_passed(struct sw_monitor *m, bool ended)
{
	m->tended_ns = m->ended_ns;
	m->pids_alive = sw_target_alive(&m->target);
	m->ended = ended && m->windows.started; /* the first boundary ends no window that could tell */
	if (m->drawn && !m->ended && m->backend->ops->alive) { /* it was too early: somebody was about to die yet */
		m->drawn = false;
		m->look_pause_ns = LOOK_MAX_NS;
	}
	if (!can_tell(m) || m->target.n_fds || m->ended || m->drawn)
		m->look_ns = 0;
	else if (!m->look_ns)
		look_later(m, sw_now_ns());
}

int sw_wake_arm(struct sw_monitor *m)
{
	/* counters are read at the boundary; without any, a moment later, when CPU time can be read at once */
	uint64_t t = m->wake_ns + (sw_meter_measures(&m->meter) ? 0 : CPU_GUARD_NS);
	uint64_t early[] = {meter_at_ns(m), tend_at_ns(m, sw_now_ns()), m->look_ns ? m->look_ns : UINT64_MAX};
	struct itimerspec when = {0};

	for (size_t i = 0; i < sizeof(early) / sizeof(early[0]); i++)
		t = early[i] < t ? early[i] : t;
	for (size_t i = 0; i < m->n_others; i++) {
		uint64_t at_ns = m->others[i]->finished ? UINT64_MAX : tend_at_ns(m->others[i], sw_now_ns());

		t = at_ns < t ? at_ns : t;
	}
	when.it_value.tv_sec = t / 1000000000;
	when.it_value.tv_nsec = t % 1000000000;
	if (timerfd_settime(m->timer_fd, TFD_TIMER_ABSTIME, &when, NULL))
		return sw_fail(&m->error, -errno, "cannot set a timer: %s", strerror(errno));
	return 0;
}

int sw_wake_take(struct sw_monitor *m)
{
	uint64_t expirations;

	if (read(m->timer_fd, &expirations, sizeof(expirations)) >= 0)
		return 1;
	return errno == EAGAIN ? 0 : sw_fail(&m->error, -errno, "cannot read a timer: %s", strerror(errno));
}

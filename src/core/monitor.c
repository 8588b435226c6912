/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the beat of windows. Must not know: how time or energy is read, nor how it is shared (sharing.c asks
 * attribution.c).
 *
 *   announce T ─ ─ ─ ─ T passes ─► energy read ─► CPU time read ─► announce the next ─► window ─► report
 *                      (the model is read after the CPU time that it is made of)
 */
#include "monitor.h"

#include "../base/clock.h"
#include "others.h"

#include <errno.h>
#include <string.h>

#define LEAD_NS 1000000 /* a boundary is announced at least so long ahead, so that every CPU sees it in time */

const struct sw_header *sw_monitor_header(const struct sw_monitor *m)
{
	return &m->header.header;
}

int sw_monitor_fd(const struct sw_monitor *m)
{
	return m->epoll_fd;
}

/* At that time, or as soon as can be. */
static int announce(struct sw_monitor *m, uint64_t at_ns)
{
	uint64_t least_ns = sw_now_ns() + LEAD_NS;
	int err = m->backend->ops->announce(m->backend, at_ns < least_ns ? least_ns : at_ns, &m->t_ns, &m->wake_ns);

	if (err)
		return sw_fail(&m->error, err, "cannot set a boundary: %s", strerror(-err));
	sw_others_announce(m);
	return sw_wake_arm(m);
}

/* What the model is made of: all time that was neither idle nor off, since the first boundary. */
static void sum_busy(struct sw_monitor *m, const struct sw_cpu_usage *usage)
{
	if (!m->windows.started)
		memcpy(m->first_domains, usage->domains, m->topology.n_domains * sizeof(*m->first_domains));
	for (unsigned i = 0; i < m->topology.n_domains; i++) {
		const struct sw_cpu_domain *d = &usage->domains[i], *first = &m->first_domains[i];

		m->busy[i].idle_ns = d->idle_ns - first->idle_ns;
		m->busy[i].busy_ns = d->span_ns - m->busy[i].idle_ns - (d->offline_ns - first->offline_ns);
	}
}

void sw_monitor_take_usage(struct sw_monitor *m, const struct sw_cpu_usage *usage)
{
	m->recursion_misses = usage->recursion_misses;
	m->unverified = usage->unverified;
	m->busy_raised = usage->busy_raised;
	m->shared_with = usage->shared_with;
	m->slots_used = usage->slots_used;
}

int sw_monitor_remove_cgroup(struct sw_monitor *m)
{
	const struct sw_cpu_ops *ops = m->backend->ops;
	int err = sw_runner_check_steps(m);

	if (err)
		return err;
	err = ops->remove_own ? ops->remove_own(m->backend, &m->error) : 0;
	return err ? err : sw_others_remove_cgroups(m);
}

int sw_monitor_check(struct sw_monitor *m)
{
	const struct sw_cpu_ops *ops = m->backend->ops;
	int err = sw_runner_check_steps(m);

	if (!err && ops->check)
		err = ops->check(m->backend, &m->error);
	return err ? err : sw_meter_check(&m->meter, &m->error);
}

static int cost_failed(struct sw_monitor *m, int err)
{
	return sw_fail(&m->error, err, "what the program on context switches costs is not known: %s", strerror(-err));
}

int sw_monitor_keep_cost(struct sw_monitor *m, int on)
{
	const struct sw_cpu_ops *ops = m->backend->ops;
	int err = sw_runner_check_steps(m);

	if (err)
		return err;
	err = ops->keep_cost ? ops->keep_cost(m->backend, on) : -ENOTSUP;
	return err ? cost_failed(m, err) : 0;
}

int sw_monitor_cost(struct sw_monitor *m, struct sw_cost *ret)
{
	const struct sw_cpu_ops *ops = m->backend->ops;
	int err = sw_runner_check_steps(m);

	if (err)
		return err;
	err = ops->cost ? ops->cost(m->backend, &ret->runs, &ret->run_ns) : -ENOTSUP;
	return err ? cost_failed(m, err) : 0;
}

/* The announced boundary has passed: 1 and *ret is the window that it ended, 0: it was the first. */
static int take_boundary(struct sw_monitor *m, bool more, struct sw_energy_point *point, const struct sw_window **ret)
{
	const struct sw_cpu_usage *usage = NULL;
	uint64_t next_ns = m->wake_ns + m->options.interval_ms * 1000000ULL;
	bool modelled = sw_meter_is_modelled(&m->meter);
	int err;

	*point = (struct sw_energy_point){.wake_ns = m->wake_ns};
	sw_sleep_until_ns(m->wake_ns);
	if (!modelled)
		sw_meter_read(&m->meter, NULL, point);
	sw_others_read(m); /* first: what they say is of the moment at which they are asked */
	err = m->backend->ops->read(m->backend, &m->error, &usage);
	if (err)
		return err;
	m->wake_utc_ns = sw_realtime_ns() - (int64_t)(sw_now_ns() - point->wake_ns);
	m->ended_ns = point->wake_ns;
	sw_wake_passed(m, usage->ended);
	if (modelled) {
		sum_busy(m, usage);
		sw_meter_read(&m->meter, m->busy, point);
		/* it says what stood at the boundary, whenever it is asked */
		point->begin_ns = point->end_ns = point->wake_ns;
	}
	if (more)
		err = announce(m, next_ns);
	if (err)
		return err;
	sw_meter_mend(&m->meter);
	sw_steal_look(&m->steal, m->ended_ns);
	sw_monitor_take_usage(m, usage);
	return sw_windows_add(&m->windows, usage, m->meter.points, point, &m->error, ret);
}

/* What only the monitor that the caller opened can do. */
static int check_leads(struct sw_monitor *m)
{
	int err = sw_runner_check_steps(m);

	if (err)
		return err;
	return m->follows ? sw_fail(&m->error, -EINVAL, "this monitor follows another, which is to be asked") : 0;
}

int sw_monitor_begin(struct sw_monitor *m)
{
	const struct sw_window *window;
	struct sw_energy_point point;
	int err = check_leads(m);

	if (err)
		return err;
	if (m->windows.started)
		return sw_fail(&m->error, -EALREADY, "the recording has begun already");
	err = announce(m, 0);
	if (!err)
		err = take_boundary(m, true, &point, &window);
	if (err)
		return err;
	m->first_blur_ns = m->windows.window.read_late_ns + m->windows.window.read_bracket_ns;
	m->header.header.started_ns = m->ended_ns;
	m->header.header.started_utc_ns = m->wake_utc_ns;
	err = sw_report_baseline(m, &m->windows.window);
	if (!err)
		sw_others_report(m, &point, true);
	return err;
}

static int finish_window(struct sw_monitor *m, bool more, const struct sw_report **ret)
{
	const struct sw_window *window;
	struct sw_energy_point point;
	int err;

	m->reported = NULL;
	err = take_boundary(m, more, &point, &window);
	if (err < 0)
		return err;
	err = sw_report_make(m, window, &m->reported);
	if (err)
		return sw_fail(&m->error, err, "out of memory for a report");
	*ret = m->reported;
	sw_others_report(m, &point, false);
	err = sw_collect_window(m, m->reported);
	return err ? err : 1;
}

/* Something else than a boundary is due: what, wake.c knows. */
static int between(struct sw_monitor *m)
{
	uint64_t now_ns = sw_now_ns();
	struct sw_energy_point point;
	int err = 0;

	if (sw_wake_meter_is_due(m, now_ns)) {
		sw_meter_read(&m->meter, m->busy, &point);
		sw_meter_mend(&m->meter);
	}
	if (sw_wake_tend_is_due(m, now_ns)) {
		err = m->backend->ops->tend(m->backend, &m->error);
		m->tended_ns = now_ns;
	}
	sw_others_tend(m, now_ns);
	if (err)
		return err;
	if (sw_wake_all_ended(m, now_ns) && now_ns + LEAD_NS < m->wake_ns)
		return announce(m, 0);
	return sw_wake_arm(m);
}

int sw_monitor_step(struct sw_monitor *m, const struct sw_report **ret)
{
	int fired = check_leads(m);

	if (fired)
		return fired;
	if (m->finished)
		return sw_fail(&m->error, -ESHUTDOWN, "the recording is over");
	if (!m->windows.started)
		return sw_monitor_begin(m);
	fired = sw_wake_take(m);
	if (fired < 0)
		return fired;
	if (fired && sw_now_ns() >= m->wake_ns)
		return finish_window(m, true, ret);
	return between(m);
}

int sw_monitor_finish(struct sw_monitor *m, const struct sw_report **ret)
{
	int err = check_leads(m);

	if (err)
		return err;
	if (m->finished)
		return sw_fail(&m->error, -ESHUTDOWN, "the recording is over");
	if (!m->windows.started)
		err = sw_monitor_begin(m);
	if (!err && sw_now_ns() + LEAD_NS < m->wake_ns)
		err = announce(m, 0);
	if (err)
		return err;
	m->finished = true;
	return finish_window(m, false, ret);
}

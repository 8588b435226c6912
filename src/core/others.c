/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the monitors that follow another one. Must not know: which back ends they are, nor what they are compared for.
 */
#include "others.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* What the leader has and the other only looks at; it goes before the other is closed. */
static void borrow(struct sw_monitor *other, const struct sw_monitor *m)
{
	other->topology = m->topology;
	other->target = (struct sw_target_pids){.pids = m->target.pids, .n = m->target.n, .epoll_fd = -1};
	other->meter = (struct sw_meter){.source = m->meter.source, .n_zones = m->meter.n_zones};
	other->baseline_uw = m->baseline_uw;
	other->header.cpu = m->header.cpu;
}

static void give_back(struct sw_monitor *other)
{
	other->topology = (struct sw_topology){.n_cpus = 0};
	other->target = SW_TARGET_PIDS_NONE;
	other->meter = (struct sw_meter){.source = NULL};
	other->baseline_uw = NULL;
}

static int open_other(struct sw_monitor *other, struct sw_monitor *m, const char *backend)
{
	const struct sw_options *o = &m->options;
	int err;

	other->options = *o;
	other->options.backend = backend;
	other->options.by = 0; /* what it can tell */
	other->procfs_fd = fcntl(m->procfs_fd, F_DUPFD_CLOEXEC, 0);
	if (other->procfs_fd < 0)
		return sw_fail(&other->error, -errno, "cannot open another back end: %s", strerror(errno));
	borrow(other, m);
	err = sw_cgroups_init(&other->cgroups, m->cgroupfs.fd >= 0 ? &m->cgroupfs : NULL, m->cgroups.target,
			      m->cgroups.target_id);
	if (err)
		return sw_fail(&other->error, err, "out of memory");
	other->options.cgroup = other->cgroups.target;
	err = sw_open_backend(other, &m->cgroupfs);
	other->header.header.environment = m->header.header.environment;
	return err;
}

int sw_monitor_add(struct sw_monitor *m, const char *backend, struct sw_monitor **ret)
{
	struct sw_monitor **others, *other;
	int err = sw_runner_check_steps(m);

	if (err)
		return err;
	other = calloc(1, sizeof(*other));
	others = reallocarray(m->others, m->n_others + 1, sizeof(struct sw_monitor *));
	if (others)
		m->others = others;
	if (!others || !other) {
		free(other);
		return sw_fail(&m->error, -ENOMEM, "out of memory");
	}
	sw_monitor_init(other);
	other->follows = true;
	if (m->follows)
		err = sw_fail(&other->error, -EINVAL, "this monitor follows another, to which back ends are to be added");
	else if (m->windows.started)
		err = sw_fail(&other->error, -EALREADY, "the recording has begun already");
	else if (!backend || !strcmp(backend, "auto"))
		err = sw_fail(&other->error, -EINVAL, "another back end has to be named");
	else
		err = open_other(other, m, backend);
	if (err) {
		m->error = other->error;
		give_back(other);
		sw_monitor_close(other);
		return err;
	}
	m->others[m->n_others++] = other;
	*ret = other;
	return 0;
}

/* From now on it is out, and the others go on; what it was to do is said by sw_monitor_error() of it. */
static void fail(struct sw_monitor *o, int err, const char *what)
{
	if (!o->error.text[0])
		sw_fail(&o->error, err, "%s: %s: %s", o->backend->ops->name, what, strerror(-err));
	o->finished = true;
}

void sw_others_announce(struct sw_monitor *m)
{
	for (size_t i = 0; i < m->n_others; i++) {
		struct sw_monitor *o = m->others[i];
		int err = o->finished ? 0 : o->backend->ops->announce(o->backend, m->wake_ns, &o->t_ns, &o->wake_ns);

		if (err)
			fail(o, err, "cannot set a boundary");
	}
}

void sw_others_tend(struct sw_monitor *m, uint64_t now_ns)
{
	for (size_t i = 0; i < m->n_others; i++) {
		struct sw_monitor *o = m->others[i];
		int err;

		if (o->finished || !sw_wake_tend_is_due(o, now_ns))
			continue;
		err = o->backend->ops->tend(o->backend, &o->error);
		o->tended_ns = now_ns;
		if (err)
			fail(o, err, "cannot be read");
	}
}

void sw_others_read(struct sw_monitor *m)
{
	for (size_t i = 0; i < m->n_others; i++) {
		struct sw_monitor *o = m->others[i];
		int err = o->finished ? 0 : o->backend->ops->read(o->backend, &o->error, &o->usage);

		if (err)
			fail(o, err, "cannot be read");
		if (o->finished)
			o->usage = NULL;
		o->reported = NULL;
	}
}

static int report(struct sw_monitor *o, const struct sw_monitor *m, const struct sw_energy_point *point, bool first)
{
	const struct sw_window *window = NULL;
	int err;

	o->tended_ns = o->ended_ns = m->ended_ns;
	o->wake_utc_ns = m->wake_utc_ns;
	o->ended = m->ended;
	o->pids_alive = m->pids_alive;
	o->steal = m->steal;
	sw_monitor_take_usage(o, o->usage);
	err = sw_windows_add(&o->windows, o->usage, m->meter.points, point, &o->error, &window);
	if (err < 0)
		return err;
	if (!first)
		return sw_report_make(o, window, &o->reported);
	o->first_blur_ns = m->first_blur_ns;
	o->header.header.started_ns = m->ended_ns;
	o->header.header.started_utc_ns = m->wake_utc_ns;
	return sw_report_baseline(o, window);
}

void sw_others_report(struct sw_monitor *m, const struct sw_energy_point *point, bool first)
{
	for (size_t i = 0; i < m->n_others; i++) {
		struct sw_monitor *o = m->others[i];
		/* one that could not set the next boundary has this window still */
		int err = o->usage ? report(o, m, point, first) : 0;

		if (err)
			fail(o, err, "no window can be made of it");
	}
}

int sw_others_remove_cgroups(struct sw_monitor *m)
{
	int err = 0;

	for (size_t i = 0; i < m->n_others && !err; i++) {
		struct sw_cpu_backend *b = m->others[i]->backend;

		if (b->ops->remove_own)
			err = b->ops->remove_own(b, &m->error);
	}
	return err;
}

void sw_others_close(struct sw_monitor *m)
{
	for (size_t i = 0; i < m->n_others; i++) {
		struct sw_monitor *o = m->others[i];

		o->steal.fd = -1;
		give_back(o);
		sw_monitor_close(o);
	}
	free(m->others);
	m->others = NULL;
	m->n_others = 0;
}

const struct sw_report *sw_monitor_report(const struct sw_monitor *m)
{
	return sw_runner_is_elsewhere(m) ? NULL : m->reported;
}

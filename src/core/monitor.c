/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the monitor object: opening, the beat of windows, closing. Must not know: how time or energy is read, nor how
 * it is shared (report.c asks attribution.c).
 *
 *   announce T ─ ─ ─ ─ T passes ─► energy read ─► CPU time read ─► announce the next ─► window ─► report
 *                      (the model is read after the CPU time that it is made of)
 */
#include "monitor.h"

#include "../base/clock.h"
#include "../base/root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define LEAD_NS 1000000 /* a boundary is announced at least so long ahead, so that every CPU sees it in time */
#define CPU_GUARD_NS 60000 /* how long back ends wait behind a boundary before they read it */
#define INTERVAL_DEFAULT_MS 500

const char *sw_monitor_error(const struct sw_monitor *m)
{
	return m->error.text;
}

const struct sw_header *sw_monitor_header(const struct sw_monitor *m)
{
	return &m->header.header;
}

int sw_monitor_fd(const struct sw_monitor *m)
{
	return m->timer_fd;
}

void sw_monitor_close(struct sw_monitor *m)
{
	if (!m)
		return;
	sw_report_free(m);
	sw_header_free(&m->header);
	sw_windows_free(&m->windows);
	sw_processes_free(&m->processes);
	sw_meter_free(&m->meter);
	if (m->backend)
		m->backend->ops->close(m->backend);
	sw_topology_free(&m->topology);
	free(m->busy);
	free(m->first_domains);
	if (m->timer_fd >= 0)
		close(m->timer_fd);
	free(m);
}

/* Copy the caller's options into ours; what a newer caller has beyond ours must be zero. */
static int take_options(const struct sw_options *from, struct sw_options *to, struct sw_error *error)
{
	size_t size = from->sz < sizeof(*to) ? from->sz : sizeof(*to);

	if (from->sz < offsetof(struct sw_options, interval_ms))
		return sw_fail(error, -EINVAL, "options of %zu bytes are too small; set sz to sizeof(struct sw_options)",
			       from->sz);
	for (size_t i = sizeof(*to); i < from->sz; i++)
		if (((const char *)from)[i])
			return sw_fail(error, -E2BIG, "the option at byte %zu is not known to this library (version %s)", i,
				       sw_version());
	*to = (struct sw_options){0};
	memcpy(to, from, size);
	if (!to->interval_ms)
		to->interval_ms = INTERVAL_DEFAULT_MS;
	if (to->policy >= SW_POLICIES)
		return sw_fail(error, -EINVAL, "policy %u does not exist", to->policy);
	if (to->hook > SW_HOOK_TP)
		return sw_fail(error, -EINVAL, "hook %u does not exist", to->hook);
	if (to->target > SW_TARGET_PIDS)
		return sw_fail(error, -EINVAL, "target %u does not exist", to->target);
	if (to->slots && (to->slots < 64 || to->slots > 262144))
		return sw_fail(error, -EINVAL, "%u slots are not from 64 to 262144", to->slots);
	if ((to->target == SW_TARGET_PIDS) != (to->n_pids > 0))
		return sw_fail(error, -EINVAL, "the target and the number of pids (%zu) do not fit", to->n_pids);
	for (size_t i = 0; i < to->n_pids; i++)
		if (to->pids[i] <= 0)
			return sw_fail(error, -EINVAL, "pid %d is not a process; a pid is 1 or more", to->pids[i]);
	return 0;
}

static int open_root(const char *path, const char *fallback, int *ret, struct sw_error *error)
{
	int fd = sw_root_open(path ? path : fallback);

	if (fd < 0)
		return sw_fail(error, fd, "cannot open the directory %s: %s", path ? path : fallback, strerror(-fd));
	*ret = fd;
	return 0;
}

static int open_parts(struct sw_monitor *m, int sysfs_fd, int procfs_fd)
{
	const struct sw_options *o = &m->options;
	struct sw_energy_config energy = {
		.sysfs_fd = sysfs_fd,
		.topology = &m->topology,
		.model_idle_uw = o->model_idle_uw,
		.model_max_uw = o->model_max_uw,
	};
	struct sw_cpu_config cpu = {
		.pids = o->pids,
		.n_pids = o->n_pids,
		.slots = o->slots,
		.hook = o->hook,
		.procfs_fd = procfs_fd,
	};
	struct sw_energy_source *source = NULL;
	int n_cpus = sw_cpu_possible(&m->error), err = n_cpus;

	if (n_cpus > 0)
		err = sw_topology_read(sysfs_fd, n_cpus, sw_powercap_is_per_die(sysfs_fd), &m->error, &m->topology);
	if (err < 0)
		return err;
	if (o->n_baseline && o->n_baseline != m->topology.n_domains)
		return sw_fail(&m->error, -EINVAL, "the baseline has %zu values, but this machine has %u packages or dies",
			       o->n_baseline, m->topology.n_domains);
	if (o->policy == SW_POLICY_MARGINAL && !o->n_baseline)
		return sw_fail(&m->error, -EINVAL, "the marginal policy needs a baseline: the idle watts of each package");
	err = sw_energy_open(o->energy, o->strict, &energy, sw_refuse, &m->header.energy, &m->error, &source);
	if (!err && sw_meter_init(&m->meter, source))
		err = sw_fail(&m->error, -ENOMEM, "out of memory");
	if (err)
		return err;
	cpu.domain_of = m->topology.domain_of;
	cpu.n_cpus = n_cpus;
	cpu.n_domains = m->topology.n_domains;
	err = sw_cpu_open(o->backend, &cpu, sw_refuse, &m->header.backend, &m->error, &m->backend);
	if (err)
		return err;
	m->busy = calloc(m->topology.n_domains, sizeof(*m->busy));
	m->first_domains = calloc(m->topology.n_domains, sizeof(*m->first_domains));
	err = m->busy && m->first_domains ? 0 : -ENOMEM;
	if (!err)
		err = sw_windows_init(&m->windows, m->backend->max_keys, m->topology.n_domains, m->meter.n_zones);
	if (!err)
		err = sw_processes_init(&m->processes, m->backend->max_keys, m->topology.n_domains);
	if (!err)
		err = sw_report_init(m);
	if (!err)
		err = sw_header_fill(&m->header, o, &m->topology, m->backend, source, procfs_fd);
	return err ? sw_fail(&m->error, err, "out of memory") : 0;
}

int sw_monitor_open(const struct sw_options *options, struct sw_monitor **ret)
{
	struct sw_monitor *m = calloc(1, sizeof(*m));
	struct sw_error error = {""};
	int sysfs_fd = -1, procfs_fd = -1, err = -ENOMEM;

	if (!m) {
		sw_fail(&error, err, "out of memory");
		goto out;
	}
	m->timer_fd = -1;
	err = take_options(options, &m->options, &m->error);
	if (!err)
		err = open_root(m->options.sysfs, "/sys", &sysfs_fd, &m->error);
	if (!err)
		err = open_root(m->options.procfs, "/proc", &procfs_fd, &m->error);
	if (!err)
		err = open_parts(m, sysfs_fd, procfs_fd);
	if (!err) {
		m->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		if (m->timer_fd < 0)
			err = sw_fail(&m->error, -errno, "cannot make a timer: %s", strerror(errno));
	}
	if (sysfs_fd >= 0)
		close(sysfs_fd);
	if (procfs_fd >= 0)
		close(procfs_fd);
	error = m->error;
	if (err) {
		sw_monitor_close(m);
		goto out;
	}
	/* the caller's strings and arrays may go now; header and back end have their own copies */
	m->options.pids = NULL;
	m->options.baseline_uw = m->header.header.baseline_uw;
	m->error.text[0] = '\0';
	*ret = m;
	return 0;
out:
	if (options->sz >= sizeof(*options) && options->error && options->error_size) {
		size_t n = strnlen(error.text, options->error_size - 1);

		memcpy(options->error, error.text, n);
		options->error[n] = '\0';
	}
	return err;
}

/* Wake the caller at the boundary, or before it for a reading without which a counter could wrap unseen. */
static int arm(struct sw_monitor *m)
{
	/* counters are read at the boundary; without any, a moment later, when CPU time can be read at once */
	uint64_t t = m->wake_ns + (sw_meter_measures(&m->meter) ? 0 : CPU_GUARD_NS);
	struct itimerspec when = {0};

	if (m->meter.max_gap_ns && m->meter.last_ns && m->meter.last_ns + m->meter.max_gap_ns < t)
		t = m->meter.last_ns + m->meter.max_gap_ns;
	when.it_value.tv_sec = t / 1000000000;
	when.it_value.tv_nsec = t % 1000000000;
	if (timerfd_settime(m->timer_fd, TFD_TIMER_ABSTIME, &when, NULL))
		return sw_fail(&m->error, -errno, "cannot set a timer: %s", strerror(errno));
	return 0;
}

static int announce(struct sw_monitor *m, uint64_t lead_ns)
{
	int err = m->backend->ops->announce(m->backend, lead_ns < LEAD_NS ? LEAD_NS : lead_ns, &m->t_ns, &m->wake_ns);

	return err ? sw_fail(&m->error, err, "cannot set a boundary: %s", strerror(-err)) : arm(m);
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

/* The announced boundary has passed: 1 and *ret is the window that it ended, 0: it was the first. */
static int take_boundary(struct sw_monitor *m, bool more, const struct sw_window **ret)
{
	const struct sw_cpu_usage *usage = NULL;
	struct sw_energy_point point = {.wake_ns = m->wake_ns};
	uint64_t next_ns = m->wake_ns + m->options.interval_ms * 1000000ULL, now_ns;
	bool modelled = sw_meter_is_modelled(&m->meter);
	int err;

	sw_sleep_until_ns(m->wake_ns);
	if (!modelled)
		sw_meter_read(&m->meter, NULL, &point);
	err = m->backend->ops->read(m->backend, &m->error, &usage);
	if (err)
		return err;
	m->wake_utc_ns = sw_realtime_ns() - (int64_t)(sw_now_ns() - point.wake_ns);
	m->ended_ns = point.wake_ns;
	if (modelled) {
		sum_busy(m, usage);
		sw_meter_read(&m->meter, m->busy, &point);
		/* it says what stood at the boundary, whenever it is asked */
		point.begin_ns = point.end_ns = point.wake_ns;
	}
	now_ns = sw_now_ns();
	if (more)
		err = announce(m, next_ns > now_ns ? next_ns - now_ns : 0);
	if (err)
		return err;
	m->recursion_misses = usage->recursion_misses;
	m->unverified = usage->unverified;
	return sw_windows_add(&m->windows, usage, m->meter.points, &point, &m->error, ret);
}

int sw_monitor_begin(struct sw_monitor *m)
{
	const struct sw_window *window;
	int err;

	m->error.text[0] = '\0';
	if (m->windows.started)
		return sw_fail(&m->error, -EALREADY, "the recording has begun already");
	err = announce(m, LEAD_NS);
	if (!err)
		err = take_boundary(m, true, &window);
	if (err)
		return err;
	m->first_blur_ns = m->windows.window.blur_ns;
	m->header.header.started_ns = m->ended_ns;
	m->header.header.started_utc_ns = m->wake_utc_ns;
	return sw_report_baseline(m, &m->windows.window);
}

static int finish_window(struct sw_monitor *m, bool more, const struct sw_report **ret)
{
	const struct sw_window *window;
	int err = take_boundary(m, more, &window);

	if (err < 0)
		return err;
	err = sw_report_make(m, window, ret);
	return err ? sw_fail(&m->error, err, "out of memory for a report") : 1;
}

int sw_monitor_step(struct sw_monitor *m, const struct sw_report **ret)
{
	struct sw_energy_point point;
	uint64_t expirations;

	m->error.text[0] = '\0';
	if (m->finished)
		return sw_fail(&m->error, -ESHUTDOWN, "the recording is over");
	if (!m->windows.started)
		return sw_monitor_begin(m);
	if (read(m->timer_fd, &expirations, sizeof(expirations)) < 0)
		return errno == EAGAIN ? 0 : sw_fail(&m->error, -errno, "cannot read a timer: %s", strerror(errno));
	if (sw_now_ns() < m->wake_ns) { /* a reading between two boundaries */
		sw_meter_read(&m->meter, m->busy, &point);
		return arm(m);
	}
	return finish_window(m, true, ret);
}

int sw_monitor_finish(struct sw_monitor *m, const struct sw_report **ret)
{
	int err = 0;

	m->error.text[0] = '\0';
	if (m->finished)
		return sw_fail(&m->error, -ESHUTDOWN, "the recording is over");
	if (!m->windows.started)
		err = sw_monitor_begin(m);
	if (!err && sw_now_ns() + LEAD_NS < m->wake_ns)
		err = announce(m, LEAD_NS);
	if (err)
		return err;
	m->finished = true;
	return finish_window(m, false, ret);
}

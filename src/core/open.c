/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how a monitor comes to be and goes: options, roots, target, source and back end, in that order.
 * Must not know: windows and their beat, nor how time or energy is read.
 */
#include "monitor.h"

#include "../base/root.h"
#include "counter_rows.h"
#include "open.h"
#include "others.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define INTERVAL_DEFAULT_MS 500
#define INTERVAL_MIN_MS 10 /* ten steps of a RAPL counter */
#define BY_ALL (SW_BY_PROCESS | SW_BY_THREAD | SW_BY_CGROUP | SW_BY_COMM)

int sw_options_take(const struct sw_options *from, struct sw_options *to, struct sw_error *error)
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
	return 0;
}

static int check_target(const struct sw_options *o, struct sw_error *error)
{
	if (o->target > SW_TARGET_CGROUP)
		return sw_fail(error, -EINVAL, "target %u does not exist", o->target);
	if ((o->target == SW_TARGET_PIDS) != (o->n_pids > 0))
		return sw_fail(error, -EINVAL, "the target and the number of pids (%zu) do not fit", o->n_pids);
	if (o->n_pids && !o->pids)
		return sw_fail(error, -EINVAL, "there is no array of the %zu pids", o->n_pids);
	if ((o->target == SW_TARGET_CGROUP) != (o->cgroup != NULL))
		return sw_fail(error, -EINVAL, "the target and the cgroup (%s) do not fit",
			       o->cgroup ? o->cgroup : "none");
	if (o->scope > SW_SCOPE_PROCESS)
		return sw_fail(error, -EINVAL, "scope %u does not exist", o->scope);
	if (o->own_cgroup && o->target != SW_TARGET_PIDS)
		return sw_fail(error, -EINVAL, "only a target of pids can have a cgroup of its own");
	if (o->scope != SW_SCOPE_TREE && o->target != SW_TARGET_PIDS)
		return sw_fail(error, -EINVAL, "only a target of pids has a scope of processes");
	for (size_t i = 0; i < o->n_pids; i++)
		if (o->pids[i] <= 0)
			return sw_fail(error, -EINVAL, "pid %d is not a process; a pid is 1 or more", o->pids[i]);
	return 0;
}

int sw_options_check(const struct sw_options *o, struct sw_error *error)
{
	if (o->interval_ms < INTERVAL_MIN_MS && (!o->energy || strcmp(o->energy, "none")))
		return sw_fail(error, -EINVAL, "windows of %u ms are too short for energy counters; let them be %d ms or more, "
			       "or ask for no energy", o->interval_ms, INTERVAL_MIN_MS);
	if (o->policy >= SW_POLICIES)
		return sw_fail(error, -EINVAL, "policy %u does not exist", o->policy);
	if (o->hook > SW_HOOK_TP)
		return sw_fail(error, -EINVAL, "hook %u does not exist", o->hook);
	if (o->slots && (o->slots < 64 || o->slots > 262144))
		return sw_fail(error, -EINVAL, "%u slots are not from 64 to 262144", o->slots);
	if (o->by & ~BY_ALL)
		return sw_fail(error, -EINVAL, "rows by %#x do not exist", o->by & ~BY_ALL);
	return check_target(o, error);
}

int sw_open_root(const char *path, const char *fallback, int *ret, struct sw_error *error)
{
	int fd = sw_root_open(path ? path : fallback);

	if (fd < 0)
		return sw_fail(error, fd, "cannot open the directory %s: %s", path ? path : fallback, strerror(-fd));
	*ret = fd;
	return 0;
}

/* The tree of cgroups names paths, where there is one; a target in it cannot do without. */
static int open_cgroups(struct sw_monitor *m)
{
	struct sw_options *o = &m->options;
	const struct sw_cgroupfs *fs = &m->cgroupfs;
	bool needed = o->cgroup || o->cgroupfs;
	uint64_t id = 0;
	char *path = NULL;
	int err = sw_cgroupfs_open(&m->cgroupfs, m->procfs_fd, o->cgroupfs, needed ? &m->error : NULL);

	if (err && needed)
		return err;
	if (err)
		fs = NULL;
	if (o->cgroup)
		err = sw_cgroupfs_resolve(fs, o->cgroup, &m->error, &path, &id);
	else
		err = 0;
	if (!err && sw_cgroups_init(&m->cgroups, fs, path, id))
		err = sw_fail(&m->error, -ENOMEM, "out of memory");
	free(path);
	o->cgroup = err ? NULL : m->cgroups.target;
	return err;
}

/* Whole packages' idle power is divided among their dies by CPUs: where dies share a counter, it is added up again. */
static int take_baseline(struct sw_monitor *m)
{
	const struct sw_topology *t = &m->topology;
	const struct sw_options *o = &m->options;
	unsigned package = 0, cpus = 0, d, i;

	if (!o->n_baseline)
		return 0;
	if (o->n_baseline != t->n_domains && o->n_baseline != t->n_packages)
		return sw_fail(&m->error, -EINVAL, "the baseline has %zu values, but this machine has %u package%s%s; give the "
			       "idle watts of each", o->n_baseline, t->n_packages, t->n_packages > 1 ? "s" : "",
			       t->n_domains > t->n_packages ? " of several dies" : "");
	m->baseline_uw = calloc(t->n_domains, sizeof(*m->baseline_uw));
	if (!m->baseline_uw)
		return sw_fail(&m->error, -ENOMEM, "out of memory");
	for (d = 0; d < t->n_domains; d++) {
		if (o->n_baseline == t->n_domains) {
			m->baseline_uw[d] = o->baseline_uw[d];
			continue;
		}
		if (d && t->package_of[d] != t->package_of[d - 1])
			package++;
		for (cpus = 0, i = 0; i < t->n_domains; i++)
			cpus += t->package_of[i] == t->package_of[d] ? t->cpus_in[i] : 0;
		if (cpus)
			m->baseline_uw[d] = o->baseline_uw[package] * t->cpus_in[d] / cpus;
	}
	return 0;
}

static int open_energy(struct sw_monitor *m, int sysfs_fd, const struct sw_cpu_id *cpu)
{
	const struct sw_options *o = &m->options;
	struct sw_energy_config config = {
		.sysfs_fd = sysfs_fd,
		.topology = &m->topology,
		.cpu = *cpu,
		.model_idle_uw = o->model_idle_uw,
		.model_max_uw = o->model_max_uw,
	};
	struct sw_energy_source *source = NULL;
	int dev_fd, err;

	err = take_baseline(m);
	if (err)
		return err;
	if (o->policy == SW_POLICY_MARGINAL && !o->n_baseline)
		return sw_fail(&m->error, -EINVAL, "the marginal policy needs a baseline: the idle watts of each package");
	sw_steal_open(&m->steal, m->procfs_fd, cpu->guest);
	dev_fd = sw_root_open("/dev");
	config.dev_fd = dev_fd;
	err = sw_energy_open(o->energy, o->strict, &config, sw_refuse, &m->header.energy, &m->error, &source);
	if (dev_fd >= 0)
		close(dev_fd);
	if (!err && sw_meter_init(&m->meter, source))
		err = sw_fail(&m->error, -ENOMEM, "out of memory");
	return err;
}

static int choose_backend(struct sw_monitor *m, const struct sw_cgroupfs *cgroupfs)
{
	const struct sw_options *o = &m->options;
	const struct sw_cpu_config config = {
		.domain_of = m->topology.domain_of,
		.n_cpus = m->topology.n_cpus,
		.n_domains = m->topology.n_domains,
		.pids = m->target.pids,
		.n_pids = m->target.n,
		.process_scope = o->scope == SW_SCOPE_PROCESS,
		.cgroupfs = cgroupfs->fd >= 0 ? cgroupfs : NULL,
		.cgroup = o->cgroup,
		.own_cgroup = o->own_cgroup,
		.any = !o->backend || !strcmp(o->backend, "auto"),
		.needs_tasks = o->by & ~SW_BY_CGROUP,
		.needs_cgroups = o->by & SW_BY_CGROUP,
		.slots = o->slots,
		.hook = o->hook,
		.procfs_fd = m->procfs_fd,
	};
	int err = sw_cpu_open(o->backend, &config, sw_refuse, &m->header.backend, &m->error, &m->backend);

	if (!err && !o->by)
		m->options.by = m->backend->ops->tells_tasks ? SW_BY_PROCESS :
				m->backend->ops->tells_cgroups ? SW_BY_CGROUP : 0;
	return err;
}

int sw_open_backend(struct sw_monitor *m, const struct sw_cgroupfs *cgroupfs)
{
	int err = choose_backend(m, cgroupfs);

	if (err)
		return err;
	m->busy = calloc(m->topology.n_domains, sizeof(*m->busy));
	m->first_domains = calloc(m->topology.n_domains, sizeof(*m->first_domains));
	err = m->busy && m->first_domains ? 0 : -ENOMEM;
	if (!err)
		err = sw_windows_init(&m->windows, m->backend->max_keys, m->topology.n_domains, m->meter.n_zones);
	if (!err)
		err = sw_report_init(m, m->backend->max_keys);
	if (!err)
		err = sw_header_fill(&m->header, &m->options, &m->topology, m->backend, m->meter.source);
	return err ? sw_fail(&m->error, err, "out of memory") : 0;
}

int sw_open_topology(int sysfs_fd, const struct sw_cpu_id *cpu, struct sw_error *error, struct sw_topology *ret)
{
	/* a counter of a whole package covers all its dies; the other way round, dies could not be told apart */
	bool by_die = sw_powercap_is_per_die(sysfs_fd) || sw_perf_is_per_die(sysfs_fd, cpu);
	int n_cpus = sw_cpu_possible(error);

	return n_cpus < 0 ? n_cpus : sw_topology_read(sysfs_fd, (unsigned)n_cpus, by_die, error, ret);
}

static int open_parts(struct sw_monitor *m, int sysfs_fd)
{
	struct sw_cpu_id *cpu = &m->header.cpu;
	int err;

	*cpu = sw_cpu_identify(m->procfs_fd); /* once: to open it makes older kernels ask busy CPUs for their frequency */
	sw_environment_read(&m->header.environment, sysfs_fd, m->procfs_fd, cpu->microcode);
	err = sw_open_topology(sysfs_fd, cpu, &m->error, &m->topology);
	if (!err)
		err = open_energy(m, sysfs_fd, cpu);
	if (!err)
		err = sw_open_backend(m, &m->cgroupfs);
	/* it has found all that descends from them: from here on their end is a part of the recording */
	return err ? err : sw_target_check(&m->target, &m->error);
}

/* Half of what this process may open is the caller's: the library changes no limit. */
static size_t kept_files(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) ? 0 : limit.rlim_cur / 2;
}

/* The columns are known before anything is opened, so that a name that is wrong costs nothing. */
static int take_columns(struct sw_monitor *m)
{
	struct sw_options *o = &m->options;
	int err = sw_query_from_names(SW_COLUMN_OF_PROCESS, o->process_columns, o->n_process_columns, &m->process_query,
				      &m->error);

	if (!err)
		err = sw_query_from_names(SW_COLUMN_OF_THREAD, o->thread_columns, o->n_thread_columns, &m->thread_query,
					  &m->error);
	if (!err && o->n_thread_columns)
		o->by |= o->by ? SW_BY_THREAD : SW_BY_PROCESS | SW_BY_THREAD;
	return err;
}

static int open_rows(struct sw_monitor *m)
{
	const struct sw_counter_rows_config config = {
		.procfs_fd = m->procfs_fd,
		.hz = (uint64_t)sysconf(_SC_CLK_TCK),
		.fds_max = kept_files(),
		.target = &m->target,
		.processes = m->options.by & SW_BY_PROCESS,
		.threads = m->options.by & SW_BY_THREAD,
		.process = &m->process_query,
		.thread = &m->thread_query,
	};
	int err = sw_counter_rows_open(&config, &m->row_maker);

	return err ? sw_fail(&m->error, err, "out of memory for rows") : 0;
}

/* All that the options ask for, in the order in which their faults are told. */
static int open_all(struct sw_monitor *m, const struct sw_options *options)
{
	struct sw_options *o = &m->options;
	int sysfs_fd = -1, err;

	err = sw_options_take(options, o, &m->error);
	if (!err)
		err = sw_options_check(o, &m->error);
	if (!err)
		err = take_columns(m);
	if (!err)
		err = sw_open_root(o->sysfs, "/sys", &sysfs_fd, &m->error);
	if (!err)
		err = sw_open_root(o->procfs, "/proc", &m->procfs_fd, &m->error);
	if (!err)
		err = sw_target_open(&m->target, o->pids, o->n_pids, m->procfs_fd, &m->error);
	o->pids = m->target.pids;
	o->n_pids = m->target.n;
	if (!err)
		err = open_cgroups(m);
	if (!err)
		err = open_parts(m, sysfs_fd);
	if (!err)
		err = open_rows(m);
	if (!err)
		err = sw_wake_init(m);
	if (sysfs_fd >= 0)
		close(sysfs_fd);
	return err;
}

/* The caller's strings and arrays may go when open returns. */
static void let_options_go(struct sw_options *o, const struct sw_header *h)
{
	o->baseline_uw = h->baseline_uw;
	o->backend = o->energy = o->sysfs = o->procfs = o->cgroupfs = NULL;
	o->process_columns = o->thread_columns = NULL;
	o->error = NULL;
}

void sw_options_tell(const struct sw_options *options, const struct sw_error *error)
{
	size_t n;

	if (options->sz < offsetof(struct sw_options, error_size) + sizeof(options->error_size) || !options->error ||
	    !options->error_size)
		return;
	n = strnlen(error->text, options->error_size - 1);
	memcpy(options->error, error->text, n);
	options->error[n] = '\0';
}

void sw_monitor_init(struct sw_monitor *m)
{
	m->steal.fd = m->procfs_fd = m->timer_fd = m->epoll_fd = m->cgroupfs.fd = -1;
	m->target = SW_TARGET_PIDS_NONE;
	sw_runner_init(&m->runner);
}

int sw_monitor_open(const struct sw_options *options, struct sw_monitor **ret)
{
	struct sw_monitor *m = calloc(1, sizeof(*m));
	int err;

	if (!m) {
		sw_options_tell(options, &(struct sw_error){"out of memory"});
		return -ENOMEM;
	}
	sw_monitor_init(m);
	err = open_all(m, options);
	if (err) {
		sw_options_tell(options, &m->error);
		sw_monitor_close(m);
		return err;
	}
	let_options_go(&m->options, &m->header.header);
	m->error.text[0] = '\0';
	*ret = m;
	return 0;
}

void sw_monitor_close(struct sw_monitor *m)
{
	if (!m || !sw_runner_quit(m))
		return;
	sw_others_close(m);
	sw_report_free(m);
	sw_header_free(&m->header);
	sw_windows_free(&m->windows);
	sw_meter_free(&m->meter);
	if (m->backend)
		m->backend->ops->close(m->backend);
	sw_topology_free(&m->topology);
	free(m->busy);
	free(m->first_domains);
	free(m->baseline_uw);
	sw_wake_free(m);
	sw_steal_close(&m->steal);
	sw_target_close(&m->target);
	sw_cgroupfs_close(&m->cgroupfs);
	if (m->procfs_fd >= 0)
		close(m->procfs_fd);
	if (m->row_maker)
		m->row_maker->ops->close(m->row_maker);
	sw_runner_free(&m->runner);
	free(m);
}

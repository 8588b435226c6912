/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A monitor whose back end and energy source say what a test tells them, so that only src/core is at work. For tests
 * only.
 */
#ifndef SW_TESTS_FAKE_MONITOR_H
#define SW_TESTS_FAKE_MONITOR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "core/counter_rows.h"
#include "core/monitor.h"

enum { FAKE_DOMAINS = 3, FAKE_KEYS = 256 };

/* What the next read gives; the test fills it in. */
struct fake {
	struct sw_cpu_backend head;
	struct sw_cpu_ops ops;
	struct sw_monitor *m;
	struct sw_cpu_usage usage;
	struct sw_cpu_domain domains[FAKE_DOMAINS];
	struct sw_cpu_row *rows;
	const struct sw_cgroup_info *infos; /* told once */
	size_t n_infos;
	uint64_t t_ns;
	bool announced;
	bool alive;
	unsigned asked; /* whether anybody is alive */
	unsigned tended;
	uint64_t last_tended_ns;
	unsigned reads;
};

static inline int fake_announce(struct sw_cpu_backend *b, uint64_t at_ns, uint64_t *ret_t_ns, uint64_t *ret_wake_ns)
{
	struct fake *f = (struct fake *)b;

	if (!f->announced || at_ns < f->t_ns)
		f->t_ns = at_ns;
	f->announced = true;
	*ret_t_ns = *ret_wake_ns = f->t_ns;
	return 0;
}

static inline int fake_read(struct sw_cpu_backend *b, struct sw_error *error, const struct sw_cpu_usage **ret)
{
	struct fake *f = (struct fake *)b;

	(void)error;
	f->announced = false;
	f->reads++;
	f->usage.t_ns = f->t_ns;
	f->usage.domains = f->domains;
	f->usage.rows = f->rows;
	*ret = &f->usage;
	return 0;
}

static inline int fake_tend(struct sw_cpu_backend *b, struct sw_error *error)
{
	struct fake *f = (struct fake *)b;

	(void)error;
	f->tended++;
	f->last_tended_ns = sw_now_ns();
	return 0;
}

static inline bool fake_alive(struct sw_cpu_backend *b)
{
	struct fake *f = (struct fake *)b;

	f->asked++;
	return f->alive;
}

static inline size_t fake_new_cgroups(struct sw_cpu_backend *b, const struct sw_cgroup_info **ret)
{
	struct fake *f = (struct fake *)b;
	size_t n = f->n_infos;

	*ret = f->infos;
	f->n_infos = 0;
	return n;
}

static inline void fake_close(struct sw_cpu_backend *b)
{
	(void)b;
}

static inline void fake_source_close(struct sw_energy_source *source)
{
	(void)source;
}

static inline void fake_source_read(struct sw_energy_source *source, const struct sw_busy *busy,
				    struct sw_zone_value *values)
{
	(void)busy;
	for (size_t i = 0; i < source->n_zones; i++)
		values[i] = (struct sw_zone_value){.raw_uj = sw_now_ns() / 1000};
}

/* A package each for domains 0 and 1, none for 2, and one of which no CPU is known. */
static inline struct sw_energy_source *fake_source(void)
{
	static struct sw_zone_info zones[] = {
		{.role = SW_ROLE_PACKAGE, .domains = 1, .name = "a"},
		{.role = SW_ROLE_PACKAGE, .domains = 2, .name = "b"},
		{.role = SW_ROLE_DRAM, .domains = 2, .name = "c"},
		{.role = SW_ROLE_PACKAGE, .name = "d"},
	};
	static const struct sw_energy_ops ops = {
		.name = "fake", .quality = "measured", .read = fake_source_read, .close = fake_source_close};
	static struct sw_energy_source source = {.ops = &ops, .zones = zones, .n_zones = 4};

	return &source;
}

/* Rows with these columns, with commas between (NULL: the standard set), and the counters of a /proc; -1: there is none. */
static inline void fake_rows(struct fake *f, int procfs_fd, uint64_t hz, size_t fds_max, const char *process,
			     const char *thread)
{
	struct sw_query process_query, thread_query;
	const struct sw_counter_rows_config config = {
		.procfs_fd = procfs_fd,
		.hz = hz,
		.fds_max = fds_max,
		.target = &f->m->target,
		.processes = f->m->options.by & SW_BY_PROCESS,
		.threads = f->m->options.by & SW_BY_THREAD,
		.process = &process_query,
		.thread = &thread_query,
	};

	if (f->m->row_maker)
		f->m->row_maker->ops->close(f->m->row_maker);
	assert_int_equal(sw_query_from_list(SW_COLUMN_OF_PROCESS, process, &process_query, NULL), 0);
	assert_int_equal(sw_query_from_list(SW_COLUMN_OF_THREAD, thread, &thread_query, NULL), 0);
	assert_int_equal(sw_counter_rows_open(&config, &f->m->row_maker), 0);
}

/* Options hold what the caller cares for: by, policy, interval, cgroup (a path, which then is the target). */
static inline struct fake *fake_open(const struct sw_options *options, const int32_t *pids, size_t n_pids)
{
	struct fake *f = calloc(1, sizeof(*f));
	struct sw_monitor *m = calloc(1, sizeof(*m));

	assert_non_null(f);
	assert_non_null(m);
	f->ops = (struct sw_cpu_ops){.name = "fake", .quality = "exact", .tells_tasks = true,
				     .tells_cgroups = true, .announce = fake_announce, .read = fake_read,
				     .new_cgroups = fake_new_cgroups, .close = fake_close};
	f->head = (struct sw_cpu_backend){.ops = &f->ops, .max_keys = FAKE_KEYS, .cpus = 1};
	f->usage.recursion_misses = f->usage.shared_with = f->usage.shared_ns = f->usage.irq_ns = f->usage.steal_ns =
		INT64_MIN;
	f->m = m;
	m->backend = &f->head;
	m->options = *options;
	m->shared_with = INT64_MIN;
	sw_monitor_init(m);
	m->topology.n_domains = FAKE_DOMAINS;
	assert_int_equal(sw_target_open(&m->target, pids, n_pids, -1, &m->error), 0);
	assert_int_equal(sw_cgroups_init(&m->cgroups, NULL, options->cgroup, 0), 0);
	assert_int_equal(sw_meter_init(&m->meter, fake_source()), 0);
	m->busy = calloc(FAKE_DOMAINS, sizeof(*m->busy));
	m->first_domains = calloc(FAKE_DOMAINS, sizeof(*m->first_domains));
	assert_int_equal(sw_windows_init(&m->windows, FAKE_KEYS, FAKE_DOMAINS, m->meter.n_zones), 0);
	assert_int_equal(sw_report_init(m, FAKE_KEYS), 0);
	assert_int_equal(sw_wake_init(m), 0);
	fake_rows(f, -1, 100, 0, NULL, NULL);
	return f;
}

static inline void fake_free(struct fake *f)
{
	sw_monitor_close(f->m);
	free(f);
}

#endif

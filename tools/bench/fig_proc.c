/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what a sample of the proc back end costs. Must not know: what becomes of the numbers.
 * Relies on: src/cpu/backend.h.
 *
 * Counts the CPU time of the thread that reads, the host's time from /proc/stat in it.
 */
#include "bench.h"

#include "base/clock.h"
#include "cpu/backend.h"
#include "load.h"
#include "stat.h"
#include "variant.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FEW 5
#define THREADS 1000
#define LEAD_NS 20000000

/* One sample, in whose window the classes up to `last_class` ran; 0: none. */
static int one_sample(struct sw_cpu_backend *b, struct pool *p, unsigned n_classes, double *cpu_ns,
		      struct sw_error *error)
{
	const struct sw_cpu_usage *usage;
	uint64_t t_ns, wake_ns, start;
	int err = b->ops->announce(b, sw_now_ns() + LEAD_NS, &t_ns, &wake_ns);

	for (unsigned class = 0; class < n_classes && !err; class++)
		err = pool_wake(p, class);
	if (err)
		return sw_fail(error, err, "the sleepers do not wake: %s", strerror(-err));
	sw_sleep_until_ns(wake_ns);
	start = thread_cpu_ns();
	err = b->ops->read(b, error, &usage);
	*cpu_ns = thread_cpu_ns() - start;
	return err;
}

static int measure(struct bench *bench, struct sw_cpu_backend *b, struct pool *p, unsigned n_classes, size_t n,
		   double *cpu_ns, struct sw_error *error)
{
	static const char *const names[] = {"none active", "few active", "all active"};
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = one_sample(b, p, n_classes, &cpu_ns[i], error);
	if (!err)
		bench_raw(bench, "proc", names[n_classes], cpu_ns, n);
	return err;
}

void fig_proc(struct bench *b)
{
	const unsigned size[POOL_CLASSES] = {FEW, THREADS - FEW, 0};
	size_t n = b->quick ? 15 : 101;
	double *ns = calloc(3 * n, sizeof(*ns));
	struct sw_cpu_backend *backend = NULL;
	struct sw_error error = {0};
	struct pool pool = {0};
	struct stat s[3];
	double warm_up;
	int err = ns ? pool_start(&pool, size, false) : -ENOMEM;

	if (err)
		sw_fail(&error, err, "%d sleeping threads cannot be made: %s", THREADS, strerror(-err));
	else
		err = backend_open_by(&sw_cpu_proc, (struct sw_cpu_config){.pids = &pool.pid, .n_pids = 1}, &error, &backend);
	for (int i = 0; i < 3 && !err; i++)
		err = one_sample(backend, &pool, 2, &warm_up, &error);
	for (unsigned i = 0; i < 3 && !err; i++)
		err = measure(b, backend, &pool, i, n, ns + i * n, &error);
	if (err) {
		bench_skip(b, "proc", "a sample of proc", error.text);
	} else {
		for (unsigned i = 0; i < 3; i++)
			s[i] = stat_median(ns + i * n, n);
		bench_limit(b, "proc", "a sample of proc, 1,000 threads asleep, 5 active", "us", s[1].value / 1e3,
			    s[1].se / 1e3, 3000, NAN);
		bench_limit(b, "proc_quiet", "  none active", "us", s[0].value / 1e3, s[0].se / 1e3, NAN, NAN);
		bench_limit(b, "proc_busy", "  all active", "us", s[2].value / 1e3, s[2].se / 1e3, NAN, NAN);
	}
	if (backend)
		backend->ops->close(backend);
	pool_end(&pool);
	free(ns);
}

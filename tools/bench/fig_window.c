/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what reading a window costs, and whether its parts add up. Must not know: what becomes of the numbers.
 * Relies on: src/cpu/ebpf.h, for the reader's own check.
 *
 * Of a window counts the CPU time of the thread that announces and reads it, with the call that sleeps until every
 * store of a switch before the boundary can be seen.
 */
#include "bench.h"

#include "base/clock.h"
#include "load.h"
#include "stat.h"
#include "variant.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLEEPERS 20000
#define FEW 5
#define MANY 2000
#define FEW_LEAD_NS 10000000
#define MANY_LEAD_NS 50000000
#define SUM_WINDOWS 100
#define SUM_LEAD_NS 20000000

struct windows {
	size_t n;
	double *cpu_ns;
	double *rows;
};

static int windows_make(struct windows *w, size_t n)
{
	w->n = n;
	w->cpu_ns = calloc(n, sizeof(double));
	w->rows = calloc(n, sizeof(double));
	return w->cpu_ns && w->rows ? 0 : -ENOMEM;
}

static void windows_free(struct windows *w)
{
	free(w->cpu_ns);
	free(w->rows);
}

/* One window, in which the classes up to `last_class` run. `guard`: let the reader sleep by
 * itself, as it does in use. */
static int one_window(struct sw_ebpf *b, struct pool *p, unsigned last_class, uint64_t lead_ns, bool guard,
		      const struct sw_cpu_usage **usage, double *cpu_ns, struct sw_error *error)
{
	uint64_t T, wake, start = thread_cpu_ns(), announced;
	int err = b->backend.ops->announce(&b->backend, sw_now_ns() + lead_ns, &T, &wake);

	announced = thread_cpu_ns() - start;
	for (unsigned class = 0; class <= last_class && !err; class++)
		err = pool_wake(p, class);
	if (err)
		return sw_fail(error, err, "the sleepers do not wake: %s", strerror(-err));
	sw_sleep_until_ns(guard ? wake : wake + 100000);
	start = thread_cpu_ns();
	err = b->backend.ops->read(&b->backend, error, usage);
	*cpu_ns = announced + (thread_cpu_ns() - start);
	return err;
}

static int many_windows(struct sw_ebpf *b, struct pool *p, unsigned last_class, uint64_t lead_ns, bool guard,
			struct windows *w, struct sw_error *error)
{
	const struct sw_cpu_usage *usage;
	int err = 0;

	for (size_t i = 0; i < w->n && !err; i++) {
		err = one_window(b, p, last_class, lead_ns, guard, &usage, &w->cpu_ns[i], error);
		if (!err)
			w->rows[i] = usage->n_rows;
	}
	return err;
}

/* Windows are read by way of a few system calls: what one costs on this machine tells how to read the figure. */
static double syscall_ns(void)
{
	double ns[101];

	for (size_t i = 0; i < 101; i++) {
		uint64_t start = thread_cpu_ns();

		for (int k = 0; k < 100; k++)
			syscall(SYS_getppid);
		ns[i] = (thread_cpu_ns() - start) / 100.;
	}
	return stat_quantile(ns, 101, .5);
}

static void report_windows(struct bench *b, const struct windows *few, const struct windows *unguarded,
			   const struct windows *many, unsigned threads)
{
	struct stat f = stat_median(few->cpu_ns, few->n), m = stat_median(many->cpu_ns, many->n);
	double rows = stat_quantile(many->rows, many->n, .5) - stat_quantile(few->rows, few->n, .5);
	struct stat u = stat_median(unguarded->cpu_ns, unguarded->n);
	char what[96];

	bench_raw(b, "window", "few: cpu_ns", few->cpu_ns, few->n);
	bench_raw(b, "window", "few: rows", few->rows, few->n);
	bench_raw(b, "window", "few, without the guard's sleep: cpu_ns", unguarded->cpu_ns, unguarded->n);
	bench_raw(b, "window", "many: cpu_ns", many->cpu_ns, many->n);
	bench_raw(b, "window", "many: rows", many->rows, many->n);
	bench_value(b, "syscall", "a system call that does nothing", "ns", syscall_ns());
	bench_raw_number(b, "window", "sleepers", threads);
	snprintf(what, sizeof(what), "a window, %u threads asleep, %d active", threads, FEW);
	bench_limit(b, "window", what, "us", f.value / 1e3, f.se / 1e3, 15, 3);
	bench_limit(b, "window_unguarded", "  the same without the guard's sleep", "us", u.value / 1e3, u.se / 1e3,
		    NAN, NAN);
	bench_limit(b, "window_per_task", "a window, per active task", "ns", (m.value - f.value) / rows,
		    sqrt(m.se * m.se + f.se * f.se) / rows, 150, 60);
}

void fig_window(struct bench *b)
{
	const unsigned size[POOL_CLASSES] = {FEW, MANY - FEW, (b->quick ? SLEEPERS / 10 : SLEEPERS) - MANY};
	struct windows few = {0}, unguarded = {0}, many = {0};
	const struct sw_cpu_usage *usage;
	struct sw_error error = {0};
	struct sw_ebpf *backend = NULL;
	struct pool pool = {0};
	double ns;
	int err = pool_start(&pool, size, false);

	if (err)
		sw_fail(&error, err, "%u sleeping threads cannot be made: %s", SLEEPERS, strerror(-err));
	if (!err && (windows_make(&few, b->quick ? 30 : 300) || windows_make(&unguarded, few.n) ||
		     windows_make(&many, b->quick ? 15 : 100)))
		err = sw_fail(&error, -ENOMEM, "out of memory");
	if (!err)
		err = backend_open(0, 0, NULL, 0, &error, &backend);
	/* all have run once and own a slot; then some windows to warm up */
	for (int i = 0; i < 5 && !err; i++)
		err = one_window(backend, &pool, i ? 0 : POOL_CLASSES - 1, FEW_LEAD_NS, true, &usage, &ns, &error);
	if (!err)
		err = many_windows(backend, &pool, 0, FEW_LEAD_NS, true, &few, &error);
	if (!err)
		err = many_windows(backend, &pool, 0, FEW_LEAD_NS, false, &unguarded, &error);
	if (!err)
		err = many_windows(backend, &pool, 1, MANY_LEAD_NS, true, &many, &error);
	if (err)
		bench_skip(b, "window", "a window with many asleep", error.text);
	else
		report_windows(b, &few, &unguarded, &many, pool.size[0] + pool.size[1] + pool.size[2]);
	backend_close(backend);
	pool_end(&pool);
	windows_free(&few);
	windows_free(&unguarded);
	windows_free(&many);
}

/* Short children one after another, some of which spin a while. */
static pid_t fork_storm(void)
{
	pid_t pid = child_fork(120);

	if (pid)
		return pid;
	for (unsigned i = 0;; i++) {
		pid = fork();
		if (!pid) {
			for (volatile unsigned k = 0; k < 20000 * (i % 8); k++)
				;
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

/* Partners without end. */
static pid_t endless_pair(int cpu)
{
	pid_t pid = child_fork(120);
	struct pair p;
	double ns;

	if (pid)
		return pid;
	if (pair_start(&p, cpu, PIPES, false))
		_exit(1);
	while (!pair_run(&p, 100, &ns, NULL))
		;
	_exit(0);
}

static pid_t hog(void)
{
	pid_t pid = child_fork(120);

	while (!pid)
		;
	return pid;
}

/* What a window's rows say, over what they said last. A key that is new starts from 0. */
static int64_t sum_rows(const struct sw_cpu_usage *u, uint64_t *before)
{
	int64_t sum = 0;

	for (size_t i = 0; i < u->n_rows; i++) {
		const struct sw_cpu_row *row = &u->rows[i];

		sum += row->oncpu_ns - (row->first ? 0 : before[row->key]);
		before[row->key] = row->last ? 0 : row->oncpu_ns;
	}
	return sum;
}

static int64_t rest_ns(const struct sw_cpu_domain *d)
{
	return d->span_ns - d->idle_ns - d->other_ns - d->lost_slots_ns - d->lost_missed_ns - d->lost_other_ns -
	       d->offline_ns;
}

struct sum {
	struct sw_ebpf *backend;
	uint64_t *before; /* by key, as last read */
	struct sw_cpu_domain last;
	bool begun;
	double worst_ns;
	double lost_ns;
};

static int sum_windows(struct sum *s, int n, struct sw_error *error)
{
	struct sw_cpu_backend *b = &s->backend->backend;
	const struct sw_cpu_usage *u;
	uint64_t T, wake;
	int err = 0;

	for (int i = 0; i < n && !err; i++) {
		int64_t differ;

		err = b->ops->announce(b, sw_now_ns() + SUM_LEAD_NS, &T, &wake);
		if (!err)
			err = b->ops->read(b, error, &u);
		if (err)
			break;
		differ = rest_ns(&u->domains[0]) - rest_ns(&s->last) - sum_rows(u, s->before);
		if (s->begun) {
			if (llabs(differ) > s->worst_ns)
				s->worst_ns = llabs(differ);
			s->lost_ns += u->domains[0].lost_missed_ns - s->last.lost_missed_ns;
		}
		s->begun = true;
		s->last = u->domains[0];
	}
	return err;
}

/* Under full load; then without those that switch all the time; then on a quiet host, whose CPUs cross late. */
static int sum_phases(struct sum *s, int n, int cpu, struct sw_error *error)
{
	pid_t load[] = {endless_pair(cpu), endless_pair(cpu), fork_storm(), fork_storm(), hog(), hog()};
	const int n_load = sizeof(load) / sizeof(load[0]);
	int err = sum_windows(s, n, error);

	for (int i = 0; i < n_load; i++) {
		if (load[i] > 0)
			child_end(load[i], SIGKILL);
		if (!err && (i == 1 || i == n_load - 1))
			err = sum_windows(s, n, error);
	}
	return err;
}

void fig_sum(struct bench *b)
{
	struct sw_error error = {0};
	struct sum s = {0};
	struct sw_ebpf *e;
	int err = backend_open(0, 0, NULL, 0, &error, &s.backend);

	if (!err && !(s.before = calloc(s.backend->backend.max_keys, sizeof(*s.before))))
		err = sw_fail(&error, -ENOMEM, "out of memory");
	if (!err)
		err = sum_phases(&s, b->quick ? SUM_WINDOWS / 10 : SUM_WINDOWS / 2, b->cpu, &error);
	e = s.backend;
	if (err) {
		bench_skip(b, "sum", "parts of a window against the window", error.text);
	} else {
		bench_limit(b, "sum", "|tasks + idle + lost - window|, worst", "ns", s.worst_ns, NAN, 0, NAN);
		bench_limit(b, "check_differ", "values at T that the CPU later told otherwise", "", e->check_differ,
			    NAN, 0, NAN);
		bench_value(b, "check_compared", "  of so many compared", "", e->check_compared);
		bench_value(b, "check_missed", "  not comparable, a switch was missed", "", e->check_missed);
		bench_value(b, "lost", "lost after missed switches, in all windows", "ms", s.lost_ns / 1e6);
	}
	free(s.before);
	backend_close(e);
}

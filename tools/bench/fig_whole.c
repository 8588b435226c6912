/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: figures of the whole: what the command itself uses, how long it takes to start, how much memory it holds.
 * Must not know: anything of the inside but the size of the maps.
 * Relies on: schedwatt.h, /proc/PID/task/TID/schedstat (proc(5)), mallinfo2(3).
 */
#include "bench.h"

#include "base/clock.h"
#include "load.h"
#include "schedwatt.h"
#include "stat.h"
#include "variant.h"

#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET_S 10
#define QUIET_CPUS .1
#define STARTS 5
#define TASKS 1000

/* CPU time of all its threads. Negative: it is gone. */
static double process_ns(pid_t pid)
{
	char path[300], text[128];
	double sum = -1, ns;
	struct dirent *entry;
	FILE *file;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return -1;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/schedstat", pid, entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(text, sizeof(text), file)) {
			ns = strtod(text, NULL);
			sum = sum < 0 ? ns : sum + ns;
		}
		fclose(file);
	}
	closedir(dir);
	return sum;
}

/* CPU time that all CPUs together were not idle. */
static double host_busy_s(void)
{
	double user = 0, nice = 0, system = 0;
	FILE *file = fopen("/proc/stat", "re");

	if (file && fscanf(file, "cpu %lf %lf %lf", &user, &nice, &system) != 3)
		user = nice = system = 0;
	if (file)
		fclose(file);
	return (user + nice + system) / sysconf(_SC_CLK_TCK);
}

void fig_monitor(struct bench *b)
{
	static const char what[] = "own CPU of monitor -i 1000, quiet host";
	char path[sizeof(b->build) + 16];
	char *argv[] = {path, "monitor", "-i", "1000", "-o", "/dev/null", "-f", "jsonl", NULL};
	unsigned seconds = b->quick ? 3 : QUIET_S;
	uint64_t start;
	double before, after, percent, busy;
	char loud[96];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/schedwatt", b->build);
	pid = child_exec(60, argv, -1, false);
	if (pid < 0) {
		bench_skip(b, "monitor", what, strerror(-pid));
		return;
	}
	sw_sleep_until_ns(sw_now_ns() + 2500000000ULL);
	start = sw_now_ns();
	busy = host_busy_s();
	before = process_ns(pid);
	sw_sleep_until_ns(start + seconds * 1000000000ULL);
	after = process_ns(pid);
	busy = (host_busy_s() - busy) / seconds;
	percent = 100 * (after - before) / (sw_now_ns() - start);
	if (waitpid(pid, NULL, WNOHANG) || before < 0 || after < 0) {
		bench_skip(b, "monitor", what, "the command ended by itself; is it built?");
		return;
	}
	child_end(pid, SIGINT);
	bench_raw_number(b, "monitor", "cpu_ns", after - before);
	bench_raw_number(b, "monitor", "seconds", seconds);
	bench_raw_number(b, "monitor", "host_busy_cpus", busy);
	/* the more tasks run, the more a window costs: on a loud host the limits do not apply */
	if (busy > QUIET_CPUS) {
		snprintf(loud, sizeof(loud), "own CPU of monitor -i 1000, %.2f CPUs busy", busy);
		bench_value(b, "monitor", loud, "%", percent);
		return;
	}
	bench_limit(b, "monitor", what, "%", percent, NAN, .1, .02);
}

static double own_cpu_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

void fig_start(struct bench *b)
{
	double wall_ms[STARTS], cpu_ms[STARTS];
	struct stat wall, cpu;
	char error[512] = "";

	for (int i = 0; i < STARTS; i++) {
		struct sw_options options = {.sz = sizeof(options), .error = error, .error_size = sizeof(error)};
		double start = own_cpu_ms();
		uint64_t from = sw_now_ns();
		struct sw_monitor *m = NULL;
		int err = sw_monitor_open(&options, &m);

		if (!err)
			err = sw_monitor_begin(m);
		wall_ms[i] = (sw_now_ns() - from) / 1e6;
		cpu_ms[i] = own_cpu_ms() - start;
		sw_monitor_close(m);
		if (err) {
			bench_skip(b, "start", "start to first boundary", *error ? error : strerror(-err));
			return;
		}
	}
	bench_raw(b, "start", "wall_ms", wall_ms, STARTS);
	bench_raw(b, "start", "cpu_ms", cpu_ms, STARTS);
	wall = stat_median(wall_ms, STARTS);
	cpu = stat_median(cpu_ms, STARTS);
	bench_limit(b, "start", "start to first boundary", "ms", wall.value, wall.se, 200, 50);
	bench_stat(b, "start_cpu", "  CPU time of that", "ms", cpu);
}

static double heap_mb(void)
{
	struct mallinfo2 m = mallinfo2();

	return (m.uordblks + m.hblkhd) / 1e6;
}

/* A monitor of the whole host, after some windows in which 1,000 processes ran. */
static int grown_heap(struct pool *pool, double *ret, char *error, size_t error_size)
{
	struct sw_options options = {.sz = sizeof(options), .interval_ms = 100, .error = error,
				     .error_size = error_size};
	double before = heap_mb(), most = 0;
	const struct sw_report *report;
	struct sw_monitor *m = NULL;
	int err = sw_monitor_open(&options, &m);

	if (!err)
		err = sw_monitor_begin(m);
	for (int windows = 0; windows < 5 && !err;) {
		pool_wake(pool, 0);
		sw_sleep_until_ns(sw_now_ns() + 20000000);
		err = sw_monitor_step(m, &report);
		if (err > 0) {
			windows++;
			if (report->n_processes > most)
				most = report->n_processes;
			err = 0;
		}
	}
	*ret = heap_mb() - before;
	sw_monitor_close(m);
	if (!err && most < TASKS) {
		snprintf(error, error_size, "only %.0f processes were seen", most);
		err = -EAGAIN;
	}
	return err;
}

static void maps_row(struct bench *b)
{
	const int32_t self = getpid();
	struct sw_error error = {0};
	struct sw_ebpf *backend;
	double most = 0;

	/* a tree needs a filter more than the whole host does */
	if (backend_open(0, 64 << 10, &self, 1, &error, &backend)) {
		bench_skip(b, "maps", "maps at 64 Ki slots", error.text);
		return;
	}
	most = backend_map_bytes(backend) / 1048576.;
	if (backend->n_slots != 64 << 10)
		bench_skip(b, "maps", "maps at 64 Ki slots", "the kernel gave fewer slots");
	else
		bench_limit(b, "maps", "maps at 64 Ki slots", "MiB", most, NAN, 16, NAN);
	backend_close(backend);
}

void fig_memory(struct bench *b)
{
	const unsigned size[POOL_CLASSES] = {TASKS};
	struct pool pool = {0};
	char error[512] = "";
	double heap;
	int err = pool_start(&pool, size, true);

	if (!err && pool.size[0] != TASKS)
		err = -EAGAIN;
	if (!err)
		err = grown_heap(&pool, &heap, error, sizeof(error));
	pool_end(&pool);
	if (err)
		bench_skip(b, "heap", "heap at 1,000 tasks", *error ? error : strerror(-err));
	else
		bench_limit(b, "heap", "heap at 1,000 tasks", "MB", heap, NAN, 4, NAN);
	maps_row(b);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Usage: bench [--quick] [--rounds N] [--only NAME] FILE.json          (root)
 * Owns: options and the order of figures. Relies on: links and children ending with this process, so that an interrupt
 * leaves nothing behind (children ask for a signal at their parent's death).
 */
#include "bench.h"

#include "base/parse.h"
#include "load.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <getopt.h>
#include <json-c/json.h>
#include <libgen.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 301
#define ROUNDS_QUICK 5

static const struct {
	const char *name;
	void (*run)(struct bench *b);
} figures[] = {
	{"switch", fig_switch}, {"ring", fig_ring},	{"window", fig_window}, {"sum", fig_sum},
	{"monitor", fig_monitor}, {"proc", fig_proc},	{"cgroup", fig_cgroup}, {"counters", fig_counters},
	{"start", fig_start},	{"memory", fig_memory}, {"peers", fig_peers},
};

#define N_FIGURES (sizeof(figures) / sizeof(figures[0]))

static void on_signal(int number)
{
	_exit(128 + number);
}

static int usage(void)
{
	fprintf(stderr, "usage: bench [--quick] [--rounds N] [--only NAME] FILE.json\n       NAME:");
	for (size_t i = 0; i < N_FIGURES; i++)
		fprintf(stderr, " %s", figures[i].name);
	fprintf(stderr, "\n");
	return 2;
}

static bool is_figure(const char *name)
{
	for (size_t i = 0; i < N_FIGURES; i++)
		if (!strcmp(figures[i].name, name))
			return true;
	return false;
}

/* Switches are measured on the last CPU that we may use, the bench itself runs on the first. */
static int choose_cpus(struct bench *b)
{
	cpu_set_t set;

	b->cpu = b->other_cpu = -1;
	if (sched_getaffinity(0, sizeof(set), &set))
		return -errno;
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &set))
			continue;
		if (b->other_cpu < 0)
			b->other_cpu = i;
		b->cpu = i;
	}
	return 0;
}

static int find_build(struct bench *b)
{
	ssize_t n = readlink("/proc/self/exe", b->build, sizeof(b->build) - 1);

	if (n < 0)
		return -errno;
	b->build[n] = '\0';
	*strrchr(b->build, '/') = '\0';
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"quick", no_argument, NULL, 'q'},
		{"rounds", required_argument, NULL, 'r'},
		{"only", required_argument, NULL, 'o'},
		{0},
	};
	struct bench b = {0};
	const char *only = NULL;
	uint64_t rounds = 0;
	int c, err;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'q')
			b.quick = true;
		else if (c == 'r' && !sw_parse_u64(optarg, 100000, &rounds) && rounds)
			continue;
		else if (c == 'o' && is_figure(optarg))
			only = optarg;
		else
			return usage();
	}
	if (optind + 1 != argc)
		return usage();
	b.rounds = rounds ? (int)rounds : b.quick ? ROUNDS_QUICK : ROUNDS;
	err = choose_cpus(&b);
	if (!err)
		err = find_build(&b);
	if (err) {
		fprintf(stderr, "bench: %s\n", strerror(-err));
		return 1;
	}
	if (geteuid()) {
		fprintf(stderr, "bench: needs root\n");
		return 1;
	}
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGPIPE, SIG_IGN);
	libbpf_set_print(NULL);
	pin(b.other_cpu);
	srand(time(NULL));
	b.rows = json_object_new_array();
	b.raw = json_object_new_object();
	printf("%-52s %12s  %7s  %10s  %10s\n", "what", "measured", "+-", "must", "aim");
	for (size_t i = 0; i < N_FIGURES; i++)
		if (!only || !strcmp(only, figures[i].name))
			figures[i].run(&b);
	printf("%d missed; %d rounds, CPU %d; errors (+-) of what is added above 4 ns ask for a quieter machine\n",
	       b.n_missed, b.rounds, b.cpu);
	err = bench_write(&b, argv[optind]);
	if (err)
		fprintf(stderr, "bench: cannot write %s: %s\n", argv[optind], strerror(-err));
	json_object_put(b.rows);
	json_object_put(b.raw);
	return err ? 1 : 0;
}

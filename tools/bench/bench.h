/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of the bench share: the run's options, the table of figures and how a figure gets into it.
 * Every figure is a ratio or a cost inside one run; limits are upper ones.
 */
#ifndef BENCH_H
#define BENCH_H

#include "stat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

struct bench {
	int rounds;
	bool quick;
	int cpu;       /* where switches are measured: the last one */
	int other_cpu; /* where the bench itself runs */
	char build[4096]; /* the directory that the bench lies in, with the command beside it */
	struct json_object *rows;
	struct json_object *raw;
	int n_missed;
};

/*
 * Print a line of the table and keep it for the file. `name` is in the file, `what` on the terminal; a ratio's unit
 * is "". What there is none of (error, must, aim) is NAN.
 */
void bench_limit(struct bench *b, const char *name, const char *what, const char *unit, double value, double se,
		 double must, double aim);
/* The same without limits. */
void bench_stat(struct bench *b, const char *name, const char *what, const char *unit, struct stat s);
void bench_value(struct bench *b, const char *name, const char *what, const char *unit, double value);
void bench_skip(struct bench *b, const char *name, const char *what, const char *reason);

/* Raw numbers for the file, under raw.GROUP.NAME. */
void bench_raw(struct bench *b, const char *group, const char *name, const double *v, size_t n);
void bench_raw_number(struct bench *b, const char *group, const char *name, double v);

/* Write everything. 0 or -errno. */
int bench_write(const struct bench *b, const char *path);

/* The figures. Each makes its own rows, also where it fails. */
void fig_switch(struct bench *b);
void fig_ring(struct bench *b);
void fig_window(struct bench *b);
void fig_sum(struct bench *b);
void fig_monitor(struct bench *b);
void fig_proc(struct bench *b);
void fig_cgroup(struct bench *b);
void fig_counters(struct bench *b);
void fig_start(struct bench *b);
void fig_memory(struct bench *b);
void fig_peers(struct bench *b);

#endif

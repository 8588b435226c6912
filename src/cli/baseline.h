/* SPDX-License-Identifier: BSD-2-Clause */
/* Idle power: what --baseline was given, and the file that carries it there from `calibrate`. */
#ifndef SW_CLI_BASELINE_H
#define SW_CLI_BASELINE_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "schedwatt.h"

struct calibration;

struct baseline {
	uint64_t uw[SW_DOMAINS_MAX]; /* idle microwatts of each package, in order of the packages' numbers */
	size_t n;                    /* 0: none is known */
	/* What only a file tells. */
	const char *file; /* its name, the caller's; NULL: numbers were given */
	int32_t package[SW_DOMAINS_MAX];
	char *cpu_model; /* ours; NULL where that machine's kernel has no name for it */
	char *energy_source; /* ours */
};

/* The greatest power that a package is believed to have, in watts. */
enum { BASELINE_WATTS_MAX = 1000000 };

/* Read `file`, whose name has to outlive *b. 0, or -errno with a message. */
int baseline_read(struct baseline *b, const char *file);

/*
 * Is it a baseline of this machine, as far as a file tells? 0 or -EINVAL, with a message; a note where it was measured
 * by another energy source.
 */
int baseline_check(const struct baseline *b, const struct sw_header *h);

void baseline_free(struct baseline *b);

/* The file's one line. `host` may be NULL. */
void baseline_write(const struct calibration *c, const char *host, struct buf *out);

/* Numbers of a machine's packages, ascending; how many there are. */
size_t baseline_packages(const struct sw_header *h, int32_t numbers[SW_DOMAINS_MAX]);

#endif

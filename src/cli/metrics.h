/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics as text: Prometheus text format 0.0.4 and OpenMetrics 1.0. Numbers are integers with a point put in. */
#ifndef SW_CLI_METRICS_H
#define SW_CLI_METRICS_H

#include <stdint.h>

#include "buf.h"

/* Nanojoules, or ns of CPU time, summed up over months: 64 bits of nJ are full after 106 days at 1 kW. */
typedef unsigned __int128 metrics_total;

enum { METRICS_LABEL_MAX = 256 }; /* bytes of a label's value, before it is escaped; what is longer is cut */

enum metrics_format {
	METRICS_TEXT = 0,
	METRICS_OPENMETRICS = 1,
};

enum metrics_type {
	METRICS_GAUGE = 0,
	METRICS_COUNTER = 1, /* its samples are named with `_total` */
	METRICS_INFO = 2,    /* with `_info`; value 1 */
};

struct metrics {
	struct buf *out; /* has the first failure */
	enum metrics_format format;
	const char *name; /* of the family that was begun last */
	enum metrics_type type;
};

/* For the Content-Type of HTTP. */
const char *metrics_content_type(enum metrics_format format);

/*
 * Begin a family: once each, all its samples follow. `name` without `_total` or `_info`, kept until the next; it ends
 * with `_unit` if there is one; unit: a base unit such as "joules", or NULL; help: a sentence.
 */
void metrics_family(struct metrics *m, const char *name, enum metrics_type type, const char *unit, const char *help);

/*
 * Add a label to those in `labels`: made valid UTF-8, cut between code points, escaped. NULL or "" adds nothing, since
 * to Prometheus that is the same as no label.
 */
void metrics_label(struct buf *labels, const char *name, const char *value);

/* A sample: value / 10^digits, exactly. `labels` as metrics_label() makes them, or NULL. digits <= 9. */
void metrics_sample(struct metrics *m, const struct buf *labels, metrics_total value, unsigned digits);

/* The same with one label more, behind those of `labels`. */
void metrics_sample_with(struct metrics *m, const struct buf *labels, const char *name, const char *value,
			 metrics_total number, unsigned digits);

/* What ends a page. */
void metrics_end(struct metrics *m);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* What a calibration comes to: windows summed up by package, and whether that was an idle machine. */
#ifndef SW_CLI_CALIBRATION_H
#define SW_CLI_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "schedwatt.h"

/* Shares of time in thousandths of a per cent. */
#define CALIBRATION_ALL UINT32_C(100000)

struct calibration_package {
	int32_t number;
	uint64_t nj;
	uint64_t busy_ns; /* tasks and lost time */
	uint64_t span_ns; /* busy and idle, of all its CPUs that were on */
	uint64_t min_uw;  /* of a window, as max_uw */
	uint64_t max_uw;
	double mean_watts; /* over windows, and the sum of squares of what they differ from it by (Welford's way) */
	double squares;
};

struct calibration {
	const struct sw_header *header;
	struct calibration_package packages[SW_DOMAINS_MAX];
	size_t n_packages;
	uint64_t windows; /* that count */
	uint64_t time_ns; /* of those */
	uint64_t suspended; /* windows left out, because the machine slept in them */
	uint64_t without_energy; /* likewise, because not every package's energy is known */
};

/* `header` outlives *c. */
void calibration_init(struct calibration *c, const struct sw_header *header);
void calibration_add(struct calibration *c, const struct sw_report *report);

/* Mean power over the whole time, and how much that of windows varies (standard deviation; FORMAT_NONE below two). */
uint64_t calibration_uw(const struct calibration *c, const struct calibration_package *p);
uint64_t calibration_sd_uw(const struct calibration *c, const struct calibration_package *p);

/* Thousandths of a per cent that its CPUs were busy. */
uint64_t calibration_busy(const struct calibration_package *p);

/* The same of all CPUs of the machine. */
uint64_t calibration_busy_all(const struct calibration *c);

/*
 * What keeps this from being the idle power of the machine, in words; false when nothing does. `max_busy` is how busy
 * a package may be, in thousandths of a per cent; 0: 5 %, but no more than half a CPU.
 */
bool calibration_fault(const struct calibration *c, uint32_t max_busy, const struct sw_summary *summary,
		       struct buf *words);

/* "11.52,9.8": what --baseline takes. */
void calibration_numbers(const struct calibration *c, struct buf *out);

/* The result for people. `file`: where it was written, or NULL. */
void calibration_text(const struct calibration *c, const char *file, struct buf *out);

#endif

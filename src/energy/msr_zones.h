/* SPDX-License-Identifier: BSD-2-Clause */
/* What msr.c asks of msr_zones.c: the zones that the registers make up, each begun. */
#ifndef SW_ENERGY_MSR_ZONES_H
#define SW_ENERGY_MSR_ZONES_H

#include "msr_models.h"
#include "msr_reader.h"
#include "near.h"

struct sw_msr_counter {
	struct sw_msr_reader *reader;
	uint32_t last;
	bool away; /* its core is offline: nothing is read, and that is no failure */
};

struct sw_msr_meter {
	uint32_t reg;
	struct sw_msr_unit unit;
	struct sw_msr_counter *counters;
	size_t n_counters;
	uint64_t units; /* while `begun`: what the registers held when it began, and all that they counted since */
	bool begun;
	int status; /* of the last reading */
};

struct sw_msr {
	struct sw_energy_source head;
	const struct sw_msr_model *model;
	struct sw_msr_machine machine;
	struct sw_msr_reader *readers; /* of packages, then of cores */
	size_t n_packages;
	size_t n_readers;
	struct sw_msr_meter *meters; /* by zone */
	struct sw_near near;
	bool guest;
	bool dies; /* some package has more than one */
};

/*
 * Fill in readers, zones and meters, of a model and an initialised machine; in order of (package, die, zone), psys
 * last. Zones that cannot be read are listed with their problem. 0; -ENOMEM; or, when no package can be read, why, in
 * words.
 */
int sw_msr_find_zones(struct sw_msr *m, const struct sw_topology *topology, struct sw_error *error);

/* Take all registers of a zone in. 0 and what they hold is in meter->units, or -errno, and the next begins anew. */
int sw_msr_take(const struct sw_msr *m, struct sw_msr_meter *meter);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Which energy registers a processor has, and what one count of each is worth. */
#ifndef SW_ENERGY_MSR_MODELS_H
#define SW_ENERGY_MSR_MODELS_H

#include "source.h"

/* In the order in which the zones of a package are listed. */
enum sw_msr_zone { SW_MSR_PACKAGE, SW_MSR_DRAM, SW_MSR_CORE, SW_MSR_UNCORE, SW_MSR_PSYS, SW_MSR_ZONES };

enum sw_msr_quirk {
	SW_MSR_PLAIN,
	SW_MSR_FIXED_DRAM, /* dram counts in 2^-16 J whatever the unit register says */
	SW_MSR_JOULE_PSYS, /* psys counts in joules */
	SW_MSR_UP,         /* all count in 2^ESU uJ, where others count in 2^-ESU J */
};

struct sw_msr_model {
	int vendor;
	unsigned family;
	int model;      /* -1: the whole family */
	unsigned zones; /* by bit (1 << enum sw_msr_zone) */
	enum sw_msr_quirk quirk;
};

/* One count is nj / 2^shift nanojoules. */
struct sw_msr_unit {
	uint64_t nj;
	unsigned shift;
};

/* NULL for a processor that the table does not know. */
const struct sw_msr_model *sw_msr_model_find(const struct sw_cpu_id *cpu);

/* AMD and its kin: the register of a core counts that core only, and that of a package the package, dies or not. */
bool sw_msr_is_amd(const struct sw_msr_model *model);

uint32_t sw_msr_unit_register(const struct sw_msr_model *model);
uint32_t sw_msr_register(const struct sw_msr_model *model, enum sw_msr_zone zone);

/* `units`: what the unit register holds. */
struct sw_msr_unit sw_msr_unit(const struct sw_msr_model *model, enum sw_msr_zone zone, uint64_t units);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the table of processors that count energy in model-specific registers. Must not know: how registers are read.
 * Source: the Linux kernel, by identifier in each row: "perf" is rapl_model_match in arch/x86/events/rapl.c, "powercap"
 * is rapl_ids in drivers/powercap/intel_rapl_msr.c (in older kernels: intel_rapl_common.c), "turbostat" is
 * turbostat_pdata in tools/power/x86/turbostat/turbostat.c. Numbers of models are in
 * arch/x86/include/asm/intel-family.h, those of registers in arch/x86/include/asm/msr-index.h.
 */
#include "msr_models.h"

enum {
	PACKAGE = 1 << SW_MSR_PACKAGE,
	DRAM = 1 << SW_MSR_DRAM,
	CORE = 1 << SW_MSR_CORE,
	UNCORE = 1 << SW_MSR_UNCORE,
	PSYS = 1 << SW_MSR_PSYS,

	SNB = PACKAGE | CORE | UNCORE,
	SNB_X = PACKAGE | CORE | DRAM,
	HSW = PACKAGE | CORE | UNCORE | DRAM,
	SKL = PACKAGE | CORE | UNCORE | DRAM | PSYS,
	SPR = PACKAGE | CORE | DRAM | PSYS,

	INTEL = SW_VENDOR_INTEL,
	AMD = SW_VENDOR_AMD,
	HYGON = SW_VENDOR_HYGON,
};

/*
 * A register in a row may still be missing in a machine: one that faults or reads 0 is taken for missing, as perf and
 * powercap do. Where perf has the model, its registers are taken (powercap tries all of them on every model); where
 * only powercap has it, those that turbostat lists. Left out are registers that turbostat alone lists (psys of Ice Lake
 * servers) and a model that it alone lists (Silvermont D, with another unit than its kin). Servers after Emerald Rapids
 * have no rows: they count elsewhere (drivers/powercap/intel_rapl_tpmi.c).
 *
 * dram in fixed units: perf says 2^-16 J (RAPL_UNIT_QUIRK_INTEL_HSW), powercap 15.3 uJ (rapl_defaults_hsw_server),
 * which is the same as data sheets round it. Sapphire Rapids' dram follows the unit register in both.
 */
static const struct sw_msr_model models[] = {
	{ INTEL, 6, 0x2A, SNB, SW_MSR_PLAIN },          /* perf: INTEL_SANDYBRIDGE, model_snb */
	{ INTEL, 6, 0x2D, SNB_X, SW_MSR_PLAIN },        /* perf: INTEL_SANDYBRIDGE_X, model_snbep */
	{ INTEL, 6, 0x3A, SNB, SW_MSR_PLAIN },          /* perf: INTEL_IVYBRIDGE, model_snb */
	{ INTEL, 6, 0x3E, SNB_X, SW_MSR_PLAIN },        /* perf: INTEL_IVYBRIDGE_X, model_snbep */
	{ INTEL, 6, 0x3C, HSW, SW_MSR_PLAIN },          /* perf: INTEL_HASWELL, model_hsw */
	{ INTEL, 6, 0x3F, SNB_X, SW_MSR_FIXED_DRAM },   /* perf: INTEL_HASWELL_X, model_hsx */
	{ INTEL, 6, 0x45, HSW, SW_MSR_PLAIN },          /* perf: INTEL_HASWELL_L, model_hsw */
	{ INTEL, 6, 0x46, HSW, SW_MSR_PLAIN },          /* perf: INTEL_HASWELL_G, model_hsw */
	{ INTEL, 6, 0x3D, HSW, SW_MSR_PLAIN },          /* perf: INTEL_BROADWELL, model_hsw */
	{ INTEL, 6, 0x47, HSW, SW_MSR_PLAIN },          /* perf: INTEL_BROADWELL_G, model_hsw */
	{ INTEL, 6, 0x4F, SNB_X, SW_MSR_FIXED_DRAM },   /* perf: INTEL_BROADWELL_X, model_hsx */
	/*
	 * perf: INTEL_BROADWELL_D, model_hsx; turbostat: bdx_features, fixed as well. powercap: rapl_defaults_core, the
	 * register's unit, in which dram would be a multiple of this.
	 */
	{ INTEL, 6, 0x56, SNB_X, SW_MSR_FIXED_DRAM },
	{ INTEL, 6, 0x57, PACKAGE | DRAM, SW_MSR_FIXED_DRAM }, /* perf: INTEL_XEON_PHI_KNL, model_knl */
	{ INTEL, 6, 0x85, PACKAGE | DRAM, SW_MSR_FIXED_DRAM }, /* perf: INTEL_XEON_PHI_KNM, model_knl */
	{ INTEL, 6, 0x4E, SKL, SW_MSR_PLAIN },          /* perf: INTEL_SKYLAKE_L, model_skl */
	{ INTEL, 6, 0x5E, SKL, SW_MSR_PLAIN },          /* perf: INTEL_SKYLAKE, model_skl */
	{ INTEL, 6, 0x55, SNB_X, SW_MSR_FIXED_DRAM },   /* perf: INTEL_SKYLAKE_X, model_hsx; Cascade and Cooper Lake */
	{ INTEL, 6, 0x8E, SKL, SW_MSR_PLAIN },          /* perf: INTEL_KABYLAKE_L, model_skl */
	{ INTEL, 6, 0x9E, SKL, SW_MSR_PLAIN },          /* perf: INTEL_KABYLAKE, model_skl */
	{ INTEL, 6, 0xA5, SKL, SW_MSR_PLAIN },          /* perf: INTEL_COMETLAKE, model_skl */
	{ INTEL, 6, 0xA6, SKL, SW_MSR_PLAIN },          /* perf: INTEL_COMETLAKE_L, model_skl */
	{ INTEL, 6, 0x66, SKL, SW_MSR_PLAIN },          /* perf: INTEL_CANNONLAKE_L, model_skl */
	{ INTEL, 6, 0x6A, SNB_X, SW_MSR_FIXED_DRAM },   /* perf: INTEL_ICELAKE_X, model_hsx */
	{ INTEL, 6, 0x6C, SNB_X, SW_MSR_FIXED_DRAM },   /* perf: INTEL_ICELAKE_D, model_hsx */
	{ INTEL, 6, 0x7D, SKL, SW_MSR_PLAIN },          /* perf: INTEL_ICELAKE, model_skl */
	{ INTEL, 6, 0x7E, SKL, SW_MSR_PLAIN },          /* perf: INTEL_ICELAKE_L, model_skl */
	{ INTEL, 6, 0x9D, SKL, SW_MSR_PLAIN },          /* powercap: INTEL_ICELAKE_NNPI; turbostat: cnl_features */
	{ INTEL, 6, 0xA7, SKL, SW_MSR_PLAIN },          /* powercap: INTEL_ROCKETLAKE; turbostat: cnl_features */
	{ INTEL, 6, 0x8C, SKL, SW_MSR_PLAIN },          /* perf: INTEL_TIGERLAKE_L, model_skl */
	{ INTEL, 6, 0x8D, SKL, SW_MSR_PLAIN },          /* perf: INTEL_TIGERLAKE, model_skl */
	{ INTEL, 6, 0x8F, SPR, SW_MSR_JOULE_PSYS },     /* perf: INTEL_SAPPHIRERAPIDS_X, model_spr */
	{ INTEL, 6, 0xCF, SPR, SW_MSR_JOULE_PSYS },     /* perf: INTEL_EMERALDRAPIDS_X, model_spr */
	{ INTEL, 6, 0x8A, SKL, SW_MSR_PLAIN },          /* powercap: INTEL_LAKEFIELD; turbostat: cnl_features */
	{ INTEL, 6, 0x97, SKL, SW_MSR_PLAIN },          /* perf: INTEL_ALDERLAKE, model_skl */
	{ INTEL, 6, 0x9A, SKL, SW_MSR_PLAIN },          /* perf: INTEL_ALDERLAKE_L, model_skl */
	{ INTEL, 6, 0xBE, SKL, SW_MSR_PLAIN },          /* perf: INTEL_ATOM_GRACEMONT, model_skl */
	{ INTEL, 6, 0xB7, SKL, SW_MSR_PLAIN },          /* perf: INTEL_RAPTORLAKE, model_skl */
	{ INTEL, 6, 0xBA, SKL, SW_MSR_PLAIN },          /* perf: INTEL_RAPTORLAKE_P, model_skl */
	{ INTEL, 6, 0xBF, SKL, SW_MSR_PLAIN },          /* perf: INTEL_RAPTORLAKE_S, model_skl */
	{ INTEL, 6, 0xAC, SKL, SW_MSR_PLAIN },          /* perf: INTEL_METEORLAKE, model_skl */
	{ INTEL, 6, 0xAA, SKL, SW_MSR_PLAIN },          /* perf: INTEL_METEORLAKE_L, model_skl */
	{ INTEL, 6, 0xC5, SKL, SW_MSR_PLAIN },          /* perf: INTEL_ARROWLAKE_H, model_skl */
	{ INTEL, 6, 0xC6, SKL, SW_MSR_PLAIN },          /* perf: INTEL_ARROWLAKE, model_skl */
	{ INTEL, 6, 0xB5, SKL, SW_MSR_PLAIN },          /* perf: INTEL_ARROWLAKE_U, model_skl */
	{ INTEL, 6, 0xBD, SKL, SW_MSR_PLAIN },          /* perf: INTEL_LUNARLAKE_M, model_skl */
	{ INTEL, 6, 0xCC, SKL, SW_MSR_PLAIN },          /* powercap: INTEL_PANTHERLAKE_L; turbostat: lnl_features */
	{ INTEL, 6, 0xD5, SKL, SW_MSR_PLAIN },          /* powercap: INTEL_WILDCATLAKE_L; turbostat: lnl_features */
	{ INTEL, 18, 0x01, SKL, SW_MSR_PLAIN },         /* powercap: INTEL_NOVALAKE; turbostat: lnl_features */
	{ INTEL, 18, 0x03, SKL, SW_MSR_PLAIN },         /* powercap: INTEL_NOVALAKE_L; turbostat: lnl_features */
	{ INTEL, 6, 0x5C, HSW, SW_MSR_PLAIN },          /* perf: INTEL_ATOM_GOLDMONT, model_hsw */
	{ INTEL, 6, 0x5F, HSW, SW_MSR_PLAIN },          /* perf: INTEL_ATOM_GOLDMONT_D, model_hsw */
	{ INTEL, 6, 0x7A, HSW, SW_MSR_PLAIN },          /* perf: INTEL_ATOM_GOLDMONT_PLUS, model_hsw */
	{ INTEL, 6, 0x86, PACKAGE, SW_MSR_PLAIN },      /* powercap: INTEL_ATOM_TREMONT_D; turbostat: tmtd_features */
	{ INTEL, 6, 0x96, HSW, SW_MSR_PLAIN },          /* powercap: INTEL_ATOM_TREMONT; turbostat: tmt_features */
	{ INTEL, 6, 0x9C, HSW, SW_MSR_PLAIN },          /* powercap: INTEL_ATOM_TREMONT_L; turbostat: tmt_features */
	/* The unit of these is powercap's alone (rapl_check_unit_atom), and turbostat lists no register for 0x4C. */
	{ INTEL, 6, 0x37, PACKAGE | CORE, SW_MSR_UP },  /* powercap: INTEL_ATOM_SILVERMONT; turbostat: slv_features */
	{ INTEL, 6, 0x4A, PACKAGE | CORE, SW_MSR_UP },  /* powercap: INTEL_ATOM_SILVERMONT_MID */
	{ INTEL, 6, 0x4C, PACKAGE | CORE, SW_MSR_UP },  /* powercap: INTEL_ATOM_AIRMONT */
	{ INTEL, 6, 0x5A, PACKAGE | CORE, SW_MSR_UP },  /* powercap: INTEL_ATOM_SILVERMONT_MID2 (was AIRMONT_MID) */
	/* perf: model_amd_hygon, for all that have X86_FEATURE_RAPL; powercap: rapl_defaults_amd, by family. */
	{ AMD, 0x17, -1, PACKAGE | CORE, SW_MSR_PLAIN },
	{ AMD, 0x19, -1, PACKAGE | CORE, SW_MSR_PLAIN },
	{ AMD, 0x1A, -1, PACKAGE | CORE, SW_MSR_PLAIN },
	{ HYGON, 0x18, -1, PACKAGE | CORE, SW_MSR_PLAIN },
};

const struct sw_msr_model *sw_msr_model_find(const struct sw_cpu_id *cpu)
{
	size_t i;

	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (models[i].vendor == (int)cpu->vendor && models[i].family == cpu->family &&
		    (models[i].model < 0 || (unsigned)models[i].model == cpu->model))
			return &models[i];
	return NULL;
}

bool sw_msr_is_amd(const struct sw_msr_model *model)
{
	return model->vendor != INTEL;
}

uint32_t sw_msr_unit_register(const struct sw_msr_model *model)
{
	return sw_msr_is_amd(model) ? 0xC0010299 : 0x606; /* MSR_AMD_RAPL_POWER_UNIT, MSR_RAPL_POWER_UNIT */
}

uint32_t sw_msr_register(const struct sw_msr_model *model, enum sw_msr_zone zone)
{
	static const uint32_t intel[SW_MSR_ZONES] = {
		[SW_MSR_PACKAGE] = 0x611, /* MSR_PKG_ENERGY_STATUS */
		[SW_MSR_DRAM] = 0x619,    /* MSR_DRAM_ENERGY_STATUS */
		[SW_MSR_CORE] = 0x639,    /* MSR_PP0_ENERGY_STATUS */
		[SW_MSR_UNCORE] = 0x641,  /* MSR_PP1_ENERGY_STATUS */
		[SW_MSR_PSYS] = 0x64D,    /* MSR_PLATFORM_ENERGY_STATUS */
	};
	static const uint32_t amd[SW_MSR_ZONES] = {
		[SW_MSR_PACKAGE] = 0xC001029B, /* MSR_AMD_PKG_ENERGY_STATUS */
		[SW_MSR_CORE] = 0xC001029A,    /* MSR_AMD_CORE_ENERGY_STATUS */
	};

	return sw_msr_is_amd(model) ? amd[zone] : intel[zone];
}

struct sw_msr_unit sw_msr_unit(const struct sw_msr_model *model, enum sw_msr_zone zone, uint64_t units)
{
	unsigned esu = units >> 8 & 0x1F;

	if (model->quirk == SW_MSR_UP)
		return (struct sw_msr_unit){ .nj = UINT64_C(1000) << esu };
	if (model->quirk == SW_MSR_FIXED_DRAM && zone == SW_MSR_DRAM)
		esu = 16;
	if (model->quirk == SW_MSR_JOULE_PSYS && zone == SW_MSR_PSYS)
		esu = 0;
	return (struct sw_msr_unit){ .nj = 1000000000, .shift = esu };
}

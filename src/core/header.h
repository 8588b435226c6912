/* SPDX-License-Identifier: BSD-2-Clause */
/* What does not change during a recording, gathered once, and the strings it owns. */
#ifndef SW_CORE_HEADER_H
#define SW_CORE_HEADER_H

#include "../../include/schedwatt.h"
#include "../base/error.h"
#include "../cpu/backend.h"
#include "../energy/source.h"
#include "environment.h"

struct sw_refusals {
	struct sw_refusal *list;
	size_t n;
	int err;
};

struct sw_header_store {
	struct sw_header header;
	struct sw_refusals backend, energy;
	int32_t *pids;
	uint64_t *baseline_uw;
	int32_t *domain_package;
	struct sw_zone *zones;
	char *own_cgroup;
	char kernel[65];
	struct sw_cpu_id cpu;                    /* this and the next are read before the rest */
	struct sw_environment_store environment;
};

/* For the `refused` callbacks of sw_cpu_open() and sw_energy_open(); ctx is a struct sw_refusals. */
void sw_refuse(const char *name, const char *reason, void *ctx);

/*
 * Fill all but started_*, with `cpu` and `environment` read. The back end, the source (or NULL) and the options' cgroup
 * outlive the header. 0 or -ENOMEM.
 */
int sw_header_fill(struct sw_header_store *s, const struct sw_options *options, const struct sw_topology *topology,
		   const struct sw_cpu_backend *backend, const struct sw_energy_source *source);
void sw_header_free(struct sw_header_store *s);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the header of a recording. Must not know: windows. Relies on uname(2).
 */
#include "header.h"

#include "meter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

void sw_refuse(const char *name, const char *reason, void *ctx)
{
	struct sw_refusals *r = ctx;
	struct sw_refusal *list = realloc(r->list, (r->n + 1) * sizeof(*list));
	char *copy = strdup(reason);

	if (list)
		r->list = list;
	if (!list || !copy) {
		free(copy);
		r->err = -ENOMEM;
		return;
	}
	r->list[r->n++] = (struct sw_refusal){.name = name, .reason = copy};
}

static void free_refusals(struct sw_refusals *r)
{
	for (size_t i = 0; i < r->n; i++)
		free((char *)r->list[i].reason);
	free(r->list);
	*r = (struct sw_refusals){0};
}

static void *copy_of(const void *from, size_t size, int *err)
{
	void *to = size ? malloc(size) : NULL;

	if (size && !to)
		*err = -ENOMEM;
	return to ? memcpy(to, from, size) : NULL;
}

static int fill_zones(struct sw_header_store *s, const struct sw_energy_source *source)
{
	struct sw_header *h = &s->header;

	if (!source || !source->n_zones)
		return 0;
	s->zones = calloc(source->n_zones, sizeof(*s->zones));
	if (!s->zones)
		return -ENOMEM;
	for (size_t i = 0; i < source->n_zones; i++) {
		const struct sw_zone_info *z = &source->zones[i];

		s->zones[i] = (struct sw_zone){
			.name = z->name,
			.domains = z->domains,
			.package = z->package,
			.parent = z->parent,
			.range_nj = z->range_uj && z->range_uj <= INT64_MAX / 1000 ? (int64_t)z->range_uj * 1000 : SW_ABSENT,
			.counted = sw_zone_counts(z),
			.one_core = z->one_core,
			.problem = z->problem,
		};
	}
	h->zones = s->zones;
	h->n_zones = source->n_zones;
	return 0;
}

int sw_header_fill(struct sw_header_store *s, const struct sw_options *options, const struct sw_topology *topology,
		   const struct sw_cpu_backend *backend, const struct sw_energy_source *source)
{
	struct sw_header *h = &s->header;
	struct utsname name;
	int err = s->backend.err ? s->backend.err : s->energy.err;

	if (!uname(&name))
		snprintf(s->kernel, sizeof(s->kernel), "%s", name.release);
	if (backend->own_cgroup)
		s->own_cgroup = copy_of(backend->own_cgroup, strlen(backend->own_cgroup) + 1, &err);
	s->pids = copy_of(options->pids, options->n_pids * sizeof(*s->pids), &err);
	s->domain_package = copy_of(topology->package_of, topology->n_domains * sizeof(*s->domain_package), &err);
	s->baseline_uw = copy_of(options->baseline_uw, options->n_baseline * sizeof(*s->baseline_uw), &err);
	*h = (struct sw_header){
		.version = sw_version(),
		.kernel = s->kernel,
		.cpu_model = s->cpu.model_name[0] ? s->cpu.model_name : NULL,
		.cpus = backend->cpus,
		.packages = topology->n_packages,
		.domains = topology->n_domains,
		.interval_ms = options->interval_ms,
		.target = options->target,
		.scope = options->scope,
		.by = options->by,
		.pids = s->pids,
		.n_pids = options->n_pids,
		.cgroup = options->cgroup,
		.backend = backend->ops->name,
		.backend_quality = backend->ops->quality,
		.backend_note = backend->note,
		.hook = backend->hook,
		.own_cgroup = s->own_cgroup,
		.energy_source = source ? source->ops->name : "none",
		.energy_quality = source ? source->ops->quality : NULL,
		.policy = sw_policy_name(options->policy),
		.backend_refusals = s->backend.list,
		.n_backend_refusals = s->backend.n,
		.energy_refusals = s->energy.list,
		.n_energy_refusals = s->energy.n,
		.baseline_uw = s->baseline_uw,
		.n_baseline = options->n_baseline,
		.slots = backend->slots,
		.domain_package = s->domain_package,
		.environment = &s->environment.environment,
	};
	return err ? err : fill_zones(s, source);
}

void sw_header_free(struct sw_header_store *s)
{
	free_refusals(&s->backend);
	free_refusals(&s->energy);
	free(s->pids);
	free(s->own_cgroup);
	free(s->baseline_uw);
	free(s->domain_package);
	free(s->zones);
	*s = (struct sw_header_store){0};
}

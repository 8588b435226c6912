/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the energy that a machine without counters probably uses, from its CPUs' busy and idle time. Must not know:
 * where those times come from. Source: Cloud Carbon Footprint, "Methodology", Appendix I: watts per logical CPU idle
 * and fully busy, average of the server types that AWS runs.
 */
#include "source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_IDLE_UW 740000  /* 0.74 W */
#define DEFAULT_MAX_UW 3500000  /* 3.5 W */
/* 1 kW per logical CPU. Up to here 292 CPU-years, busy and idle each, still give microjoules of 64 bits. */
#define LIMIT_UW 1000000000

struct model {
	struct sw_energy_source head;
	uint64_t idle_uw;
	uint64_t max_uw;
};

static void model_close(struct sw_energy_source *source)
{
	struct model *m = (struct model *)source;

	if (!m)
		return;
	sw_zones_free(m->head.zones, m->head.n_zones);
	free(m);
}

static int name_zone(struct sw_zone_info *zone)
{
	int n;

	if (zone->die < 0)
		n = asprintf(&zone->name, "package-%d", zone->package);
	else
		n = asprintf(&zone->name, "package-%d-die-%d", zone->package, zone->die);
	if (n >= 0)
		return 0;
	zone->name = NULL; /* asprintf() leaves it undefined */
	return -ENOMEM;
}

static int check_watts(const struct model *m, struct sw_error *error)
{
	if (m->max_uw < m->idle_uw)
		return sw_fail(error, -EINVAL,
			       "the model's power of a busy CPU (%" PRIu64 " microwatts) is less than that of an idle "
			       "one (%" PRIu64 "); the idle power comes first", m->max_uw, m->idle_uw);
	if (m->max_uw > LIMIT_UW)
		return sw_fail(error, -EINVAL,
			       "the model's power of a busy CPU (%" PRIu64 " microwatts) is over %d watts; it is meant "
			       "per logical CPU", m->max_uw, LIMIT_UW / 1000000);
	return 0;
}

static int model_open(const struct sw_energy_config *config, struct sw_error *error, struct sw_energy_source **ret)
{
	const struct sw_topology *t = config->topology;
	struct model *m;
	int err;

	m = calloc(1, sizeof(*m));
	if (!m)
		return sw_fail(error, -ENOMEM, "out of memory");
	m->head.ops = &sw_energy_model;
	m->idle_uw = config->model_idle_uw;
	m->max_uw = config->model_max_uw;
	if (!m->idle_uw && !m->max_uw) {
		m->idle_uw = DEFAULT_IDLE_UW;
		m->max_uw = DEFAULT_MAX_UW;
	}
	err = check_watts(m, error);
	if (err)
		goto fail;

	m->head.zones = calloc(t->n_domains, sizeof(*m->head.zones));
	if (!m->head.zones) {
		err = sw_fail(error, -ENOMEM, "out of memory");
		goto fail;
	}
	for (m->head.n_zones = 0; m->head.n_zones < t->n_domains; m->head.n_zones++) {
		size_t d = m->head.n_zones;
		struct sw_zone_info *zone = &m->head.zones[d];

		*zone = (struct sw_zone_info){
			.role = SW_ROLE_PACKAGE,
			.package = t->package_of[d],
			.die = t->die_of[d],
			.domains = UINT32_C(1) << d,
		};
		err = name_zone(zone);
		if (err) {
			sw_fail(error, err, "out of memory");
			goto fail;
		}
	}
	*ret = &m->head;
	return 0;
fail:
	model_close(&m->head);
	return err;
}

static void model_read(struct sw_energy_source *source, const struct sw_busy *busy, struct sw_zone_value *values)
{
	const struct model *m = (const struct model *)source;
	unsigned __int128 fj; /* microwatts × ns = 10^-15 J */
	size_t d;

	for (d = 0; d < m->head.n_zones; d++) {
		values[d] = (struct sw_zone_value){ .status = busy ? 0 : -ENODATA };
		if (!busy)
			continue;
		fj = (unsigned __int128)m->idle_uw * ((unsigned __int128)busy[d].busy_ns + busy[d].idle_ns) +
		     (unsigned __int128)(m->max_uw - m->idle_uw) * busy[d].busy_ns;
		values[d].raw_uj = (uint64_t)(fj / 1000000000);
		values[d].extra_nj = (uint64_t)(fj / 1000000 % 1000);
	}
}

const struct sw_energy_ops sw_energy_model = {
	.name = "model",
	.quality = "modelled",
	.open = model_open,
	.read = model_read,
	.close = model_close,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the zones that the PMU `power` counts, and their energy. Must not know: windows, tasks.
 * Source: arch/x86/events/rapl.c. A count is the energy since its event was opened; the kernel looks after the
 * hardware often enough to extend it to 64 bits, so that it never wraps.
 */
#include "near.h"
#include "perf_event.h"
#include "pmu.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct meter {
	struct sw_perf_event event;
	int err; /* why there is no event, as -errno */
	struct sw_scale scale;
	char name[sizeof(((struct sw_pmu_event *)0)->name)];
	struct sw_pmu_reader reader;
	uint32_t near; /* domains to read it from; of psys, too, which covers none */
};

struct perf {
	struct sw_energy_source head;
	struct meter *meters; /* by zone */
	struct sw_near near;
	int sysfs_fd;
	struct sw_cpu_id cpu;
	sw_perf_open_fn *open;
};

/* One reader's zones as they come to be. */
struct place {
	const struct sw_pmu_reader *reader;
	char *name; /* of its package: "package-0", "package-0-die-1" */
	int package;
	int die;
	uint32_t domains;
};

static void perf_close(struct sw_energy_source *source)
{
	struct perf *p = (struct perf *)source;
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->head.n_zones; i++)
		sw_perf_event_close(&p->meters[i].event);
	free(p->meters);
	sw_near_free(&p->near);
	sw_zones_free(p->head.zones, p->head.n_zones);
	if (p->sysfs_fd >= 0)
		close(p->sysfs_fd);
	free(p);
}

/* 0 or -errno; then the meter is as it was. */
static int start_meter(const struct perf *p, const struct sw_pmu *pmu, const struct sw_pmu_event *e,
		       const struct sw_pmu_reader *reader, struct meter *m)
{
	struct sw_perf_event event;
	int err;

	err = e->err ? e->err : sw_perf_event_open(p->open, pmu->type, e->config, reader->cpu, &event);
	if (err)
		return err;
	sw_perf_event_close(&m->event);
	m->event = event;
	m->scale = e->scale;
	m->reader = *reader;
	return 0;
}

static bool name_taken(const struct perf *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->head.n_zones; i++)
		if (!strcmp(p->head.zones[i].name, name))
			return true;
	return false;
}

static int name_package(const struct perf *p, struct place *place)
{
	char *name;
	int n;

	if (place->die < 0)
		n = asprintf(&name, "package-%d", place->package);
	else
		n = asprintf(&name, "package-%d-die-%d", place->package, place->die);
	if (n < 0)
		return -ENOMEM;
	if (name_taken(p, name)) { /* two readers of which sysfs does not say where they are */
		free(name);
		if (asprintf(&name, "package-%d (cpu%u)", place->package, place->reader->cpu) < 0)
			return -ENOMEM;
	}
	place->name = name;
	return 0;
}

/* Where sysfs does not say where a reader is, the topology's guess at its CPU has to do. */
static int find_place(const struct perf *p, const struct sw_topology *t, const struct sw_pmu *pmu,
		      const struct sw_pmu_reader *reader, struct place *place)
{
	int domain = t->domain_of && reader->cpu < t->n_cpus ? t->domain_of[reader->cpu] : 0;

	*place = (struct place){ .reader = reader, .package = reader->package, .die = -1 };
	if (place->package < 0) {
		place->package = t->package_of[domain];
		place->domains = UINT32_C(1) << domain;
	} else {
		if (sw_pmu_has_dies(pmu, place->package))
			place->die = reader->die;
		place->domains = sw_topology_domains(t, place->package, place->die);
	}
	return name_package(p, place);
}

/* The first psys is "psys"; where each package has one, the others say whose they are. */
static int name_zone(const struct perf *p, const struct sw_pmu_event *e, const struct place *place,
		     struct sw_zone_info *z)
{
	int n;

	if (e->role == SW_ROLE_PACKAGE)
		n = asprintf(&z->name, "%s", place->name);
	else if (e->role != SW_ROLE_PLATFORM)
		n = asprintf(&z->name, "%s/%s", place->name, e->label);
	else if (!name_taken(p, e->label))
		n = asprintf(&z->name, "%s", e->label);
	else
		n = asprintf(&z->name, "%s (%s)", e->label, place->name);
	return n < 0 ? -ENOMEM : 0;
}

/* Where the zone lies: psys beside all packages, and what the package holds below it. */
static int place_zone(const struct place *place, struct sw_zone_info *z)
{
	if (z->role == SW_ROLE_PLATFORM)
		return 0;
	z->package = place->package;
	z->die = place->die;
	z->domains = place->domains;
	if (z->role == SW_ROLE_PACKAGE)
		return 0;
	z->parent = strdup(place->name);
	return z->parent ? 0 : -ENOMEM;
}

/* An event on a reader. Only -ENOMEM fails; anything else becomes the zone's problem. */
static int add_zone(struct perf *p, const struct sw_pmu *pmu, const struct sw_pmu_event *e, const struct place *place)
{
	struct sw_zone_info *z = &p->head.zones[p->head.n_zones];
	struct meter *m = &p->meters[p->head.n_zones];
	struct sw_error problem = e->problem;
	int err;

	*z = (struct sw_zone_info){ .role = e->role, .package = -1, .die = -1 };
	*m = (struct meter){ .event = { .fd = -1 }, .near = place->domains };
	strcpy(m->name, e->name);
	err = name_zone(p, e, place, z);
	if (err)
		return err;
	p->head.n_zones++;
	err = place_zone(place, z);
	if (err)
		return err;
	m->err = start_meter(p, pmu, e, place->reader, m);
	if (!m->err)
		return 0;
	if (!e->err)
		sw_perf_event_fail(e->name, place->reader->cpu, m->err, &problem);
	z->problem = strdup(problem.text);
	return z->problem ? 0 : -ENOMEM;
}

static int add_zones_at(struct perf *p, const struct sw_pmu *pmu, const struct place *place, bool platform)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < pmu->n_events; i++)
		if ((pmu->event[i].role == SW_ROLE_PLATFORM) == platform)
			err = add_zone(p, pmu, &pmu->event[i], place);
	return err;
}

/* Package by package; psys last. */
static int add_zones(struct perf *p, const struct sw_topology *t, const struct sw_pmu *pmu)
{
	struct place places[SW_PMU_READERS_MAX] = { { .name = NULL } };
	size_t n = pmu->n_events * pmu->n_readers, i;
	int err = 0;

	p->meters = calloc(n, sizeof(*p->meters));
	p->head.zones = calloc(n, sizeof(*p->head.zones));
	if (!p->meters || !p->head.zones)
		return -ENOMEM;
	for (i = 0; !err && i < pmu->n_readers; i++) {
		err = find_place(p, t, pmu, &pmu->reader[i], &places[i]);
		if (!err)
			err = add_zones_at(p, pmu, &places[i], false);
	}
	for (i = 0; !err && i < pmu->n_readers; i++)
		err = add_zones_at(p, pmu, &places[i], true);
	for (i = 0; i < pmu->n_readers; i++)
		free(places[i].name);
	return err;
}

/* 0 when some package can be read; else why there is no energy to be had from here. */
static int check_packages(const struct perf *p, struct sw_error *error)
{
	const struct meter *bad = NULL;
	size_t i;

	for (i = 0; i < p->head.n_zones; i++) {
		if (p->head.zones[i].role != SW_ROLE_PACKAGE)
			continue;
		if (!p->head.zones[i].problem)
			return 0;
		if (!bad)
			bad = &p->meters[i];
	}
	if (bad)
		return sw_fail(error, bad->err, "%s", p->head.zones[bad - p->meters].problem);
	return sw_fail(error, -ENODEV, "the PMU " SW_PMU_DIR " has no event energy-pkg, which counts a package");
}

static int perf_open(const struct sw_energy_config *config, struct sw_error *error, struct sw_energy_source **ret)
{
	struct sw_pmu pmu;
	struct perf *p;
	int err;

	err = sw_pmu_read(config->sysfs_fd, &config->cpu, error, &pmu);
	if (err)
		return err;
	if (!config->perf_open && !sw_sysfs_is_real(config->sysfs_fd))
		return sw_fail(error, -EOPNOTSUPP, "--sysfs names a directory that stands for another machine's /sys; "
			       "the perf counters of this one do not belong to it");
	p = calloc(1, sizeof(*p));
	if (!p)
		return sw_fail(error, -ENOMEM, "out of memory");
	p->head.ops = &sw_energy_perf;
	p->cpu = config->cpu;
	p->open = config->perf_open ? config->perf_open : sw_perf_open;
	p->sysfs_fd = openat(config->sysfs_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->sysfs_fd < 0) {
		err = sw_fail(error, -errno, "sysfs cannot be opened again (error %d)", errno);
		goto fail;
	}
	err = sw_near_init(&p->near, config->topology);
	if (!err)
		err = add_zones(p, config->topology, &pmu);
	if (err) {
		sw_fail(error, err, "out of memory");
		goto fail;
	}
	err = check_packages(p, error);
	if (err)
		goto fail;
	*ret = &p->head;
	return 0;
fail:
	perf_close(&p->head);
	return err;
}

static int read_meter(struct meter *m, struct sw_zone_value *value)
{
	unsigned __int128 nj;
	uint64_t count;
	int err;

	err = sw_perf_event_read(&m->event, &count);
	if (err)
		return err;
	nj = sw_scale_nj(&m->scale, count);
	if (nj / 1000 > UINT64_MAX)
		return -EOVERFLOW;
	value->raw_uj = (uint64_t)(nj / 1000);
	value->extra_nj = (uint64_t)(nj % 1000);
	return 0;
}

static void perf_read(struct sw_energy_source *source, const struct sw_busy *busy, struct sw_zone_value *values)
{
	struct perf *p = (struct perf *)source;
	size_t i;

	(void)busy;
	sw_near_begin(&p->near);
	for (i = 0; i < p->head.n_zones; i++) {
		struct meter *m = &p->meters[i];

		values[i] = (struct sw_zone_value){ .status = m->err };
		if (m->err)
			continue;
		sw_near_go(&p->near, m->near);
		values[i].status = read_meter(m, &values[i]);
	}
	sw_near_end(&p->near);
}

static bool same_place(const struct sw_pmu_reader *a, const struct sw_pmu_reader *b)
{
	if (a->package < 0 || b->package < 0)
		return a->cpu == b->cpu;
	return a->package == b->package && a->die == b->die;
}

static void mend_meter(const struct perf *p, const struct sw_pmu *pmu, struct meter *m)
{
	size_t e, r;

	for (e = 0; e < pmu->n_events; e++)
		for (r = 0; r < pmu->n_readers; r++)
			if (!strcmp(pmu->event[e].name, m->name) && same_place(&pmu->reader[r], &m->reader) &&
			    !start_meter(p, pmu, &pmu->event[e], &pmu->reader[r], m))
				return;
}

/*
 * All is asked anew: another CPU may read for the package now, and a driver that was loaded again has another type.
 * The new event counts from 0; nothing joins that to what was, since the read that showed the loss has failed.
 */
static void perf_mend(struct sw_energy_source *source)
{
	struct perf *p = (struct perf *)source;
	struct sw_pmu pmu;
	bool any = false;
	size_t i;

	for (i = 0; i < p->head.n_zones; i++)
		any |= p->meters[i].event.lost;
	if (!any || sw_pmu_read(p->sysfs_fd, &p->cpu, NULL, &pmu))
		return;
	for (i = 0; i < p->head.n_zones; i++)
		if (p->meters[i].event.lost)
			mend_meter(p, &pmu, &p->meters[i]);
}

const struct sw_energy_ops sw_energy_perf = {
	.name = "perf",
	.quality = "measured",
	.open = perf_open,
	.read = perf_read,
	.mend = perf_mend,
	.close = perf_close,
};

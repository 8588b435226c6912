/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which zones a processor's registers make up, what they are called, and why one cannot be read. Must not know:
 * windows, tasks. Source: rapl_check_domain() in drivers/powercap/intel_rapl_common.c and perf_msr_probe() in
 * arch/x86/events/probe.c (what is absent), arch/x86/kernel/msr.c (errors of the device).
 */
#include "msr_zones.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Why a register cannot be read. No strerror(): its words change with the locale. NULL: no memory. */
static char *explain(const struct sw_msr *m, unsigned cpu, uint32_t reg, int err)
{
	const char *guest = m->guest ? "; this is a virtual machine, and hosts seldom pass energy counters on" : "";
	char *text;
	int n;

	switch (err) {
	case -ENOENT:
		n = asprintf(&text, "there is no /dev/cpu/%u/msr: load the module (modprobe msr)%s", cpu, guest);
		break;
	case -EACCES:
		n = asprintf(&text, "/dev/cpu/%u/msr: permission denied: run as root", cpu);
		break;
	case -EPERM:
		n = asprintf(&text, "/dev/cpu/%u/msr: not permitted: it takes CAP_SYS_RAWIO, and in a container the "
			     "device too; run as root of the machine itself", cpu);
		break;
	case -EIO:
		n = asprintf(&text, "CPU %u has no register 0x%" PRIX32 "%s", cpu, reg, guest);
		break;
	case -ENODATA:
		n = asprintf(&text, "register 0x%" PRIX32 " of CPU %u is 0, and so is no counter%s", reg, cpu, guest);
		break;
	case -ENXIO:
		n = asprintf(&text, "none of its CPUs is online");
		break;
	case -EMFILE:
		n = asprintf(&text, "/dev/cpu/%u/msr: too many open files: raise the limit (ulimit -n)", cpu);
		break;
	default:
		n = asprintf(&text, "/dev/cpu/%u/msr: error %d", cpu, -err);
	}
	return n < 0 ? NULL : text;
}

static int add_readers(struct sw_msr *m, const struct sw_topology *t)
{
	struct sw_msr_place place, last = { .package = -1 };
	unsigned cpu;

	m->readers = calloc(2 * (size_t)m->machine.n_cpus, sizeof(*m->readers));
	if (!m->readers)
		return -ENOMEM;
	while (sw_msr_next_place(&m->machine, &last, &place)) {
		m->dies = m->dies || place.package == last.package;
		last = place;
		m->readers[m->n_packages++] = (struct sw_msr_reader){
			.of = place,
			.domains = sw_topology_domains(t, place.package, place.die),
			.fd = -1,
		};
	}
	m->n_readers = m->n_packages;
	for (cpu = 0; cpu < m->machine.n_cpus && sw_msr_is_amd(m->model); cpu++)
		if (m->machine.place[cpu].package >= 0 && m->machine.place[cpu].core == (int)cpu)
			m->readers[m->n_readers++] = (struct sw_msr_reader){
				.of = m->machine.place[cpu],
				.domains = sw_topology_domains(t, m->machine.place[cpu].package, -1),
				.fd = -1,
			};
	return 0;
}

/* The energy in which one register goes round. */
static uint64_t wrap_uj(struct sw_msr_unit unit)
{
	unsigned __int128 uj = ((unsigned __int128)unit.nj << 32 >> unit.shift) / 1000;

	return uj > UINT64_MAX ? UINT64_MAX : (uint64_t)uj;
}

static int name_zone(const struct sw_msr *m, struct sw_zone_info *info, enum sw_msr_zone zone)
{
	static const char *const names[SW_MSR_ZONES] = {
		[SW_MSR_DRAM] = "dram", [SW_MSR_CORE] = "core", [SW_MSR_UNCORE] = "uncore", [SW_MSR_PSYS] = "psys",
	};
	char package[48];

	if (m->dies)
		snprintf(package, sizeof(package), "package-%d-die-%d", info->package, info->die);
	else
		snprintf(package, sizeof(package), "package-%d", info->package);
	if (zone == SW_MSR_PACKAGE || zone == SW_MSR_PSYS) {
		info->name = strdup(zone == SW_MSR_PSYS ? names[zone] : package);
		return info->name ? 0 : -ENOMEM;
	}
	info->parent = strdup(package);
	if (!info->parent)
		return -ENOMEM;
	if (asprintf(&info->name, "%s/%s", package, names[zone]) < 0) {
		info->name = NULL; /* asprintf() leaves it undefined */
		return -ENOMEM;
	}
	return 0;
}

static const enum sw_zone_role roles[SW_MSR_ZONES] = {
	[SW_MSR_PACKAGE] = SW_ROLE_PACKAGE, [SW_MSR_DRAM] = SW_ROLE_DRAM, [SW_MSR_CORE] = SW_ROLE_SUBZONE,
	[SW_MSR_UNCORE] = SW_ROLE_SUBZONE, [SW_MSR_PSYS] = SW_ROLE_PLATFORM,
};

/* Those whose registers make up a zone: of the package, or of each of its cores. -ENOMEM, or how many. */
static int set_counters(struct sw_msr *m, struct sw_msr_meter *meter, struct sw_msr_reader *package,
			enum sw_msr_zone zone)
{
	struct sw_msr_reader *first = package, *end = package + 1, *r;

	if (zone == SW_MSR_CORE && sw_msr_is_amd(m->model)) {
		first = m->readers + m->n_packages;
		end = m->readers + m->n_readers;
	}
	meter->counters = calloc((size_t)(end - first) + 1, sizeof(*meter->counters));
	if (!meter->counters)
		return -ENOMEM;
	for (r = first; r < end; r++)
		if (r->of.package == package->of.package)
			meter->counters[meter->n_counters++].reader = r;
	return (int)meter->n_counters;
}

/* The first reading of a zone. `cpu`: whose register it was that could not be read. */
static int begin(struct sw_msr *m, struct sw_msr_meter *meter, unsigned *cpu)
{
	size_t i;
	int err;

	for (i = 0; i < meter->n_counters; i++) {
		struct sw_msr_reader *r = meter->counters[i].reader;

		err = r->settled ? 0 : sw_msr_reader_settle(&m->machine, r, meter->reg);
		*cpu = r->cpu;
		if (err)
			return err;
	}
	*cpu = meter->counters[0].reader->cpu;
	err = sw_msr_take(m, meter);
	return err || meter->units ? err : -ENODATA;
}

/*
 * Append a zone. A register that faults or is 0 is one that the processor does not have, as perf and powercap see it;
 * a package's is always there, and its absence is a problem to be told of. `why`: it cannot be read even so far.
 * 1: added, 0: not there, -ENOMEM.
 */
static int add_zone(struct sw_msr *m, struct sw_msr_reader *package, enum sw_msr_zone zone, uint64_t units, int why)
{
	uint32_t reg = why ? sw_msr_unit_register(m->model) : sw_msr_register(m->model, zone);
	struct sw_msr_meter *meter = &m->meters[m->head.n_zones];
	struct sw_zone_info *info = &m->head.zones[m->head.n_zones];
	unsigned cpu = package->cpu;
	int n;

	*meter = (struct sw_msr_meter){ .reg = reg, .unit = sw_msr_unit(m->model, zone, units), .status = why };
	n = set_counters(m, meter, package, zone);
	if (n > 0 && !why)
		meter->status = begin(m, meter, &cpu);
	if (n <= 0 || (zone != SW_MSR_PACKAGE && (meter->status == -EIO || meter->status == -ENODATA))) {
		free(meter->counters);
		return n < 0 ? n : 0;
	}
	*info = (struct sw_zone_info){
		.role = roles[zone],
		.package = package->of.package,
		.die = m->dies ? package->of.die : -1,
		.domains = package->domains,
		.wrap_uj = wrap_uj(meter->unit),
	};
	m->head.n_zones++;
	if (name_zone(m, info, zone))
		return -ENOMEM;
	if (zone == SW_MSR_PSYS) {
		info->package = info->die = -1;
		info->domains = 0;
	}
	if (!meter->status)
		return 1;
	info->problem = explain(m, cpu, reg, meter->status);
	return info->problem ? 1 : -ENOMEM;
}

static int read_units(struct sw_msr *m, struct sw_msr_reader *r, uint64_t *ret)
{
	int err = sw_msr_reader_read(&m->machine, r, sw_msr_unit_register(m->model), ret);

	return err || *ret ? err : -ENODATA;
}

static int add_package(struct sw_msr *m, struct sw_msr_reader *r)
{
	uint64_t units = 0;
	int zone, err;

	err = sw_msr_reader_settle(&m->machine, r, sw_msr_unit_register(m->model));
	if (!err)
		err = read_units(m, r, &units);
	if (err)
		return add_zone(m, r, SW_MSR_PACKAGE, units, err);
	for (zone = SW_MSR_PACKAGE; zone < SW_MSR_PSYS && err >= 0; zone++)
		if (m->model->zones & 1U << zone)
			err = add_zone(m, r, (enum sw_msr_zone)zone, units, 0);
	return err;
}

/* There is one platform, whose energy the first package that has the register tells. */
static int add_platform(struct sw_msr *m)
{
	uint64_t units = 0;
	size_t i;
	int err = 0;

	for (i = 0; i < m->n_packages && !err && m->model->zones & 1U << SW_MSR_PSYS; i++)
		if (m->readers[i].settled && !read_units(m, &m->readers[i], &units))
			err = add_zone(m, &m->readers[i], SW_MSR_PSYS, units, 0);
	return err;
}

static int add_zones(struct sw_msr *m)
{
	size_t i, n_max = m->n_packages * SW_MSR_PSYS + 1;
	int err = 0;

	m->meters = calloc(n_max, sizeof(*m->meters));
	m->head.zones = calloc(n_max, sizeof(*m->head.zones));
	if (!m->meters || !m->head.zones)
		return -ENOMEM;
	for (i = 0; i < m->n_packages && err >= 0; i++)
		err = add_package(m, &m->readers[i]);
	if (err >= 0)
		err = add_platform(m);
	return err < 0 ? err : 0;
}

/* 0 when some package can be read; else why there is no energy to be had from here. */
static int check_packages(const struct sw_msr *m, struct sw_error *error)
{
	size_t i;

	for (i = 0; i < m->head.n_zones; i++)
		if (m->head.zones[i].role == SW_ROLE_PACKAGE && !m->head.zones[i].problem)
			return 0;
	/* The first zone is a package, or there would be none. */
	return sw_fail(error, m->meters[0].status, "%s", m->head.zones[0].problem);
}


int sw_msr_find_zones(struct sw_msr *m, const struct sw_topology *topology, struct sw_error *error)
{
	int err = add_readers(m, topology);

	if (!err)
		err = add_zones(m);
	return err ? sw_fail(error, err, "out of memory") : check_packages(m, error);
}

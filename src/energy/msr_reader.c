/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: /dev/cpu/N/msr, and which N to take. Must not know: what the registers hold.
 * Source: msr(4), arch/x86/kernel/msr.c (the offset is the register; an fd of a CPU that went offline works again when
 * it is back), Documentation/ABI/stable/sysfs-devices-system-cpu (core_cpus_list, thread_siblings_list).
 */
#include "msr_reader.h"

#include "../base/parse.h"
#include "../base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CPU_NUMBERS_MAX (1 << 16) /* more than any kernel has */

static int read_id(int sysfs_fd, unsigned cpu, const char *name, int *ret)
{
	char path[96];
	uint64_t id;
	int err;

	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/%s", cpu, name);
	err = sw_file_read_u64(sysfs_fd, path, INT_MAX, &id);
	if (!err)
		*ret = (int)id;
	return err;
}

static int take_lowest(unsigned cpu, void *ctx)
{
	int *lowest = ctx;

	if (*lowest < 0 || (int)cpu < *lowest)
		*lowest = (int)cpu;
	return 0;
}

static int read_core(int sysfs_fd, unsigned cpu)
{
	static const char *const names[] = { "core_cpus_list", "thread_siblings_list" }; /* since 5.2; always */
	char path[96], list[4096];
	int core;
	size_t i;

	for (i = 0; i < 2; i++) {
		core = -1;
		snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/%s", cpu, names[i]);
		if (sw_file_read(sysfs_fd, path, list, sizeof(list)) >= 0 &&
		    !sw_parse_cpulist(list, CPU_NUMBERS_MAX, take_lowest, &core) && core >= 0)
			return core;
	}
	return -1;
}

int sw_msr_machine_init(struct sw_msr_machine *m, const struct sw_energy_config *config, bool by_die,
			struct sw_error *error)
{
	bool known = false;
	unsigned cpu;

	m->read = config->msr_read;
	m->n_cpus = config->topology->n_cpus;
	m->place = calloc(m->n_cpus, sizeof(*m->place));
	if (!m->place)
		return sw_fail(error, -ENOMEM, "out of memory");
	if (!m->read) {
		m->dev_fd = fcntl(config->dev_fd, F_DUPFD_CLOEXEC, 0);
		if (m->dev_fd < 0)
			return sw_fail(error, -ENODEV, "/dev cannot be opened");
	}
	for (cpu = 0; cpu < m->n_cpus; cpu++) {
		struct sw_msr_place *place = &m->place[cpu];

		*place = (struct sw_msr_place){ .package = -1, .die = -1, .core = -1 };
		if (read_id(config->sysfs_fd, cpu, "physical_package_id", &place->package))
			continue;
		known = true;
		if (by_die && read_id(config->sysfs_fd, cpu, "die_id", &place->die))
			place->die = 0; /* kernels before 5.2 know no dies */
		place->core = read_core(config->sysfs_fd, cpu);
	}
	if (!known)
		return sw_fail(error, -ENODEV, "devices/system/cpu in sysfs tells of no CPU's package");
	return 0;
}

void sw_msr_machine_free(struct sw_msr_machine *m)
{
	if (m->dev_fd >= 0)
		close(m->dev_fd);
	free(m->place);
	*m = (struct sw_msr_machine){ .dev_fd = -1 };
}

static int compare(const struct sw_msr_place *a, const struct sw_msr_place *b)
{
	if (a->package != b->package)
		return a->package < b->package ? -1 : 1;
	return (a->die > b->die) - (a->die < b->die);
}

bool sw_msr_next_place(const struct sw_msr_machine *m, const struct sw_msr_place *last, struct sw_msr_place *ret)
{
	const struct sw_msr_place *next = NULL;
	unsigned cpu;

	for (cpu = 0; cpu < m->n_cpus; cpu++) {
		const struct sw_msr_place *place = &m->place[cpu];

		if (place->package >= 0 && (!last || compare(place, last) > 0) && (!next || compare(place, next) < 0))
			next = place;
	}
	if (!next)
		return false;
	*ret = (struct sw_msr_place){ .package = next->package, .die = next->die, .core = -1 };
	return true;
}

static int read_register(const struct sw_msr_machine *m, unsigned cpu, int fd, uint32_t reg, uint64_t *ret)
{
	ssize_t n;

	if (m->read)
		return m->read(cpu, reg, ret);
	n = pread(fd, ret, sizeof(*ret), (off_t)reg);
	if (n < 0)
		return -errno;
	return n == sizeof(*ret) ? 0 : -EIO;
}

static int open_device(const struct sw_msr_machine *m, unsigned cpu)
{
	char path[32];
	int fd;

	if (m->read)
		return -1;
	snprintf(path, sizeof(path), "cpu/%u/msr", cpu);
	fd = openat(m->dev_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static int try_cpu(const struct sw_msr_machine *m, struct sw_msr_reader *reader, unsigned cpu, uint32_t reg)
{
	uint64_t value;
	int fd, err;

	fd = open_device(m, cpu);
	if (fd < 0 && !m->read)
		return fd;
	err = read_register(m, cpu, fd, reg, &value);
	if (err) {
		if (fd >= 0)
			close(fd);
		return err;
	}
	sw_msr_reader_close(reader);
	reader->settled = true;
	reader->cpu = cpu;
	reader->fd = fd;
	return 0;
}

int sw_msr_reader_settle(const struct sw_msr_machine *m, struct sw_msr_reader *reader, uint32_t reg)
{
	int err, first = 0;
	unsigned cpu;

	for (cpu = 0; cpu < m->n_cpus; cpu++) {
		const struct sw_msr_place *place = &m->place[cpu];

		if (place->package < 0 || compare(place, &reader->of) ||
		    (reader->of.core >= 0 && place->core != reader->of.core))
			continue;
		err = try_cpu(m, reader, cpu, reg);
		if (!err)
			return 0;
		if (!first && !reader->settled)
			reader->cpu = cpu;
		first = first ? first : err;
	}
	return first ? first : -ENXIO;
}

void sw_msr_reader_close(struct sw_msr_reader *reader)
{
	if (reader->fd >= 0)
		close(reader->fd);
	reader->fd = -1;
}

int sw_msr_reader_read(const struct sw_msr_machine *m, const struct sw_msr_reader *reader, uint32_t reg, uint64_t *ret)
{
	return read_register(m, reader->cpu, reader->fd, reg, ret);
}

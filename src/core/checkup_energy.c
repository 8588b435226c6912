/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which energy sources open, the zones of each, and what to do for the others. Must not know: how any is read.
 * Relies on: sw_energy_open() being what a monitor opens them by. A source that opens has every zone that it found, the
 * unreadable ones with their problem; one that does not open says in its reason which it was.
 */
#include "checkup.h"

#include "../base/root.h"
#include "meter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = { "powercap", "perf", "msr", "model" };

enum { N_SOURCES = sizeof(names) / sizeof(names[0]) };

struct opened {
	int err;
	struct sw_error error; /* why it does not open */
	struct sw_energy_source *source;
};

static bool is_measured(const struct sw_energy_source *source)
{
	return source && source->ops->quality && !strcmp(source->ops->quality, "measured");
}

static void open_all(const struct sw_machine *m, struct opened *all)
{
	struct sw_energy_config config = {
		.sysfs_fd = m->sysfs_fd,
		.dev_fd = sw_root_open("/dev"),
		.topology = &m->topology,
		.cpu = m->cpu,
	};

	for (size_t i = 0; i < N_SOURCES; i++) {
		all[i] = (struct opened){ .err = 0 };
		all[i].err = sw_energy_open(names[i], false, &config, NULL, NULL, &all[i].error, &all[i].source);
	}
	if (config.dev_fd >= 0)
		close(config.dev_fd);
}

/* The kernel has zones, and somebody took what the links of class/powercap lead to away. */
static bool is_masked(const struct sw_machine *m)
{
	const char *zone = "class/powercap/intel-rapl:0";

	return !faccessat(m->sysfs_fd, zone, F_OK, AT_SYMLINK_NOFOLLOW) && faccessat(m->sysfs_fd, zone, F_OK, 0);
}

static const char *denied(const struct sw_machine *m, const char *name)
{
	const bool perf = !strcmp(name, "perf"), powercap = !strcmp(name, "powercap");
	const enum sw_cap cap = perf ? SW_CAP_PERFMON : powercap ? SW_CAP_DAC_READ_SEARCH : SW_CAP_SYS_RAWIO;
	const char *remedy = sw_privileges_remedy(&m->privileges, UINT64_C(1) << cap);

	if (remedy && (perf || powercap))
		return remedy;
	return perf ? "let the container's seccomp filter allow perf_event_open(2)"
	       : powercap ? "let SELinux or AppArmor, or the container's runtime, allow this program to read it"
			  : "run it as root, with CAP_SYS_RAWIO; in a container, give it the device too";
}

/* What to do where a source, or a zone of it, cannot be read for the reason `err`. */
static const char *remedy_for(const struct sw_machine *m, const char *name, int err)
{
	if (err == -EACCES || err == -EPERM)
		return denied(m, name);
	if (m->captured && strcmp(name, "powercap"))
		return "leave --sysfs out, if this machine is meant";
	if (!strcmp(name, "powercap") && is_masked(m))
		return "in a container, mount the host's /sys elsewhere (-v /sys:/host/sys:ro) and give --sysfs /host/sys";
	if (m->cpu.guest)
		return "measure on the host, or have it hand the counters on; for an estimate, tell --model this machine's "
		       "watts";
	if (m->cpu.vendor == SW_VENDOR_OTHER)
		return "only processors of Intel, AMD and Hygon are known to have such counters; for an estimate, tell --model "
		       "this machine's watts";
	if (!strcmp(name, "powercap"))
		return "modprobe intel_rapl_msr, or use a kernel with CONFIG_POWERCAP and CONFIG_INTEL_RAPL";
	if (!strcmp(name, "perf"))
		return "modprobe rapl, or use a kernel with CONFIG_PERF_EVENTS_INTEL_RAPL";
	return err == -ENOENT || err == -ENXIO ? "modprobe msr" : "use another source: this processor has none that is known";
}

static void add_source(struct sw_checkup_store *s, const struct sw_machine *m, const char *name, const struct opened *o)
{
	char value[96], other[64];
	size_t left_out = 0;

	if (!o->source) {
		snprintf(other, sizeof(other), "none is needed: %s measures",
			 s->head.energy_source ? s->head.energy_source : "");
		sw_checkup_add(s, "energy", name, SW_CHECK_LACKS, NULL, o->error.text,
			       s->head.energy_source ? other : remedy_for(m, name, o->err));
		return;
	}
	for (size_t i = 0; i < o->source->n_zones; i++)
		left_out += o->source->zones[i].problem != NULL;
	snprintf(value, sizeof(value), "%s; %zu zone%s", o->source->ops->quality, o->source->n_zones,
		 o->source->n_zones == 1 ? "" : "s");
	if (left_out)
		snprintf(value + strlen(value), sizeof(value) - strlen(value), ", %zu of them left out", left_out);
	if (is_measured(o->source))
		sw_checkup_add(s, "energy", name, SW_CHECK_WORKS, value, NULL, NULL);
	else
		sw_checkup_add(s, "energy", name, SW_CHECK_NOTE, value,
			       "an estimate from CPU time, taken where nothing measures, and marked as such", NULL);
}

static const char *part_of(const struct sw_zone_info *z)
{
	if (z->problem)
		return "left out";
	if (z->twin)
		return "the same energy as another zone: shown, not added";
	switch (z->role) {
	case SW_ROLE_PACKAGE:
		return "a package: added";
	case SW_ROLE_DRAM:
		return "memory beside its package: added";
	case SW_ROLE_SUBZONE:
		return z->one_core ? "one core within its package: shown, not added" : "within its package: shown, not added";
	case SW_ROLE_PLATFORM:
		return "the whole platform: shown, not added";
	case SW_ROLE_UNKNOWN:
		break;
	}
	return "of an unknown kind: shown, not added";
}

/* A reading tells the reason of each that has a problem, as a number. */
static void add_zones(struct sw_checkup_store *s, const struct sw_machine *m, struct sw_energy_source *source)
{
	struct sw_zone_value *values = calloc(source->n_zones, sizeof(*values));
	bool measured = is_measured(source);
	char name[128];

	if (!values) {
		s->err = -ENOMEM;
		return;
	}
	source->ops->read(source, NULL, values);
	for (size_t i = 0; i < source->n_zones; i++) {
		const struct sw_zone_info *z = &source->zones[i];

		snprintf(name, sizeof(name), "%s:%s", source->ops->name, z->name);
		sw_checkup_add(s, "zone", name, z->problem ? SW_CHECK_LACKS : measured ? SW_CHECK_WORKS : SW_CHECK_NOTE,
			       part_of(z), z->problem,
			       z->problem ? remedy_for(m, source->ops->name, values[i].status) : NULL);
	}
	free(values);
}

void sw_checkup_energy(struct sw_checkup_store *s, const struct sw_machine *m)
{
	struct opened all[N_SOURCES];

	open_all(m, all);
	for (size_t i = N_SOURCES; i--;)
		if (is_measured(all[i].source))
			s->head.energy_source = all[i].source->ops->name;
	for (size_t i = 0; i < N_SOURCES; i++)
		add_source(s, m, names[i], &all[i]);
	for (size_t i = 0; i < N_SOURCES; i++) {
		if (!all[i].source)
			continue;
		add_zones(s, m, all[i].source);
		all[i].source->ops->close(all[i].source);
	}
}

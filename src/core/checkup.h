/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of a checkup share: the machine that is looked at, and where findings go.
 *
 *   checkup.c ─► kernel, privileges ─► hooks and back ends, memory ─► cgroups ─► energy sources, zones
 */
#ifndef SW_CORE_CHECKUP_H
#define SW_CORE_CHECKUP_H

#include "../../include/schedwatt.h"
#include "../base/cgroupfs.h"
#include "../energy/source.h"

/* Numbers of capabilities, as of linux/capability.h, which older headers do not have all of. */
enum sw_cap {
	SW_CAP_DAC_READ_SEARCH = 2,
	SW_CAP_NET_ADMIN = 12,
	SW_CAP_SYS_RAWIO = 17,
	SW_CAP_SYS_PTRACE = 19,
	SW_CAP_SYS_ADMIN = 21,
	SW_CAP_SYS_RESOURCE = 24,
	SW_CAP_PERFMON = 38,
	SW_CAP_BPF = 39,
};

/* What the caller may do. */
struct sw_privileges {
	int err;            /* 0, or why `effective` is not known */
	uint64_t effective; /* by bit: enum sw_cap */
	bool contained;     /* in a user namespace of its own, outside of which they do not count */
};

struct sw_machine {
	uint32_t slots; /* as of the options */
	bool captured;  /* `sysfs_fd` is another machine's */
	int sysfs_fd, procfs_fd; /* that the options name */
	int kernel_sysfs_fd, kernel_procfs_fd; /* of the kernel that runs: /sys and /proc; -1: there is none */
	struct sw_cpu_id cpu;
	struct sw_topology topology;
	struct sw_cgroupfs cgroupfs; /* of v2; fd -1: none is mounted */
	struct sw_privileges privileges;
};

struct sw_checkup_store {
	struct sw_checkup head; /* first: it is what callers have */
	struct sw_check *list;
	size_t capacity;
	int err; /* 0 or -ENOMEM: something could not be added */
};

/* Words that checks are made of; all but the area are copied. NULL: there is none. */
void sw_checkup_add(struct sw_checkup_store *s, const char *area, const char *name, uint32_t state, const char *value,
		    const char *reason, const char *remedy);

/* checkup_privileges.c */
struct sw_privileges sw_privileges_read(int procfs_fd);
bool sw_privileges_have(const struct sw_privileges *p, enum sw_cap cap); /* CAP_SYS_ADMIN stands for some others */
/* What to do where a capability of these is wanting, or NULL where none is: `wanted` by bit. */
const char *sw_privileges_remedy(const struct sw_privileges *p, uint64_t wanted);
void sw_checkup_privileges(struct sw_checkup_store *s, const struct sw_machine *m);

/* checkup_kernel.c: `procfs`: the path that the options' procfs has. */
void sw_checkup_kernel(struct sw_checkup_store *s, const struct sw_machine *m, const char *procfs);

/* checkup_cpu.c: hooks, back ends, memory; sets head.backend. */
void sw_checkup_cpu(struct sw_checkup_store *s, const struct sw_machine *m);

/* checkup_cgroups.c */
void sw_checkup_cgroups(struct sw_checkup_store *s, const struct sw_machine *m);

/* checkup_energy.c: sources and their zones; sets head.energy_source. */
void sw_checkup_energy(struct sw_checkup_store *s, const struct sw_machine *m);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an energy source is and does: it finds zones, and reads what their counters say. It never subtracts, never
 * prints, and knows nothing of tasks. counter.h makes cumulative joules of what it reads.
 */
#ifndef SW_ENERGY_SOURCE_H
#define SW_ENERGY_SOURCE_H

#include "../base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sw_zone_role {
	SW_ROLE_PACKAGE,  /* counts into the total */
	SW_ROLE_DRAM,     /* counts into the total, beside the package */
	SW_ROLE_SUBZONE,  /* core, uncore: inside the package, shown only */
	SW_ROLE_PLATFORM, /* psys: shown, never added */
	SW_ROLE_UNKNOWN,  /* a name we do not know: listed, not added */
};

struct sw_zone_info {
	char *name;   /* path: "package-0/dram" */
	char *parent; /* path of the zone it lies in, or NULL */
	enum sw_zone_role role;
	int package;       /* number in its name, or -1 */
	int die;           /* number in its name, or -1 */
	uint32_t domains;  /* by bit: those whose CPUs it covers; 0 when no CPU of it is known */
	bool twin;         /* another view of a zone that is counted already (intel-rapl-mmio): shown, not added */
	bool one_core;     /* of one core only, whatever its name says */
	uint64_t range_uj; /* largest raw value; 0 when it cannot be known, or there is none to be met */
	uint64_t wrap_uj;  /* energy in which a counter behind it goes round, so that a reading is due well before; 0: never */
	char *problem;     /* why it could not be read when it was opened, or NULL; such a zone stays out of the sums */
};

/* One reading of one zone. */
struct sw_zone_value {
	int status;       /* 0, or -errno */
	uint64_t raw_uj;  /* as the counter says */
	uint64_t extra_nj; /* 0 … 999: what a finer source knows below a microjoule */
};

/* CPU time that the model needs, cumulative since the recording began, by domain. */
struct sw_busy {
	uint64_t busy_ns; /* tasks and lost time */
	uint64_t idle_ns;
};

/* CPU → domain. A domain is a package, or a die where zones are per die. Indices are dense, in order of (package, die). */
struct sw_topology {
	unsigned n_cpus;    /* possible */
	int16_t *domain_of; /* by CPU number; a CPU whose topology is unreadable belongs to domain 0 */
	unsigned n_domains; /* 1 … SW_DOMAINS_MAX */
	unsigned n_packages;
	int package_of[32]; /* by domain */
	int die_of[32];     /* by domain; -1 when domains are packages */
	unsigned cpus_in[32]; /* CPUs present in each domain */
	unsigned n_present;
	bool hybrid; /* cores of more than one type, which a domain does not tell apart */
};

/*
 * Which processor this is, as /proc/cpuinfo says of its first CPU. All zero and empty where it does not (other
 * architectures).
 */
struct sw_cpu_id {
	enum { SW_VENDOR_OTHER, SW_VENDOR_INTEL, SW_VENDOR_AMD, SW_VENDOR_HYGON } vendor;
	unsigned family; /* decimal, extended, as cpuinfo prints it */
	unsigned model;
	bool guest; /* a hypervisor says so */
	char model_name[128];
	char microcode[32]; /* its revision */
};

struct sw_energy_config {
	int sysfs_fd;
	int dev_fd; /* /dev, or -1 */
	const struct sw_topology *topology;
	struct sw_cpu_id cpu;
	uint64_t model_idle_uw; /* microwatts per logical CPU */
	uint64_t model_max_uw;
	/*
	 * For tests, which have neither counters nor a kernel's sysfs: what stands for perf_event_open(2) with its read(2),
	 * and for a read of a CPU's model-specific register. NULL: the kernel's, and only if sysfs_fd is a real sysfs.
	 */
	int (*perf_open)(uint32_t type, uint64_t config, int cpu); /* an fd to read(2) from, or -errno */
	int (*msr_read)(unsigned cpu, uint32_t reg, uint64_t *ret);     /* 0 or -errno */
};

struct sw_energy_source;

struct sw_energy_ops {
	const char *name;    /* "powercap" */
	const char *quality; /* "measured", "modelled", or NULL */
	/* 0 and *ret, or a negative errno with the reason and the remedy in `error`. */
	int (*open)(const struct sw_energy_config *config, struct sw_error *error, struct sw_energy_source **ret);
	/* Fill values[n_zones]. `busy` has n_domains entries; only the model looks at it. Never fails as a whole. */
	void (*read)(struct sw_energy_source *source, const struct sw_busy *busy, struct sw_zone_value *values);
	/*
	 * Some of the values last read failed: open anew what went away and has come back (a driver, a package), so that
	 * the next read finds it. Called between boundaries, at most once a second. NULL: nothing of it ever goes.
	 */
	void (*mend)(struct sw_energy_source *source);
	void (*close)(struct sw_energy_source *source); /* NULL is fine */
};

/* The head of every source's own structure. */
struct sw_energy_source {
	const struct sw_energy_ops *ops;
	struct sw_zone_info *zones;
	size_t n_zones;
};

extern const struct sw_energy_ops sw_energy_powercap;
extern const struct sw_energy_ops sw_energy_perf;
extern const struct sw_energy_ops sw_energy_msr;
extern const struct sw_energy_ops sw_energy_model;

/* Free `zones` and what hangs on them. */
void sw_zones_free(struct sw_zone_info *zones, size_t n);

/*
 * Read the CPU → domain table from <sysfs>/devices/system/cpu. `by_die`: domains are dies. CPUs are the possible ones
 * of this kernel (`n_cpus`), whatever the sysfs tree says. 0, -E2BIG (more than 32 domains), -ENOMEM.
 */
int sw_topology_read(int sysfs_fd, unsigned n_cpus, bool by_die, struct sw_error *error, struct sw_topology *ret);
void sw_topology_free(struct sw_topology *topology);

/* By bit: the domains of a package, or of one die of it (`die` >= 0). Where domains are packages, dies do not matter. */
uint32_t sw_topology_domains(const struct sw_topology *topology, int package, int die);

/* Is it the kernel's own sysfs, rather than a directory that stands for one? */
bool sw_sysfs_is_real(int sysfs_fd);

/* Which processor <procfs>/cpuinfo tells of. */
struct sw_cpu_id sw_cpu_identify(int procfs_fd);

/* True when the powercap tree names its packages per die ("package-0-die-1"). */
bool sw_powercap_is_per_die(int sysfs_fd);

/* True when the PMU `power` has a counter for each die of some package. */
bool sw_perf_is_per_die(int sysfs_fd, const struct sw_cpu_id *cpu);

/*
 * Open by name: "auto" (or NULL), "powercap", "perf", "msr", "model", "none". *ret is NULL for "none". Under "auto" each
 * source that refuses is told to `refused` with its reason; the model answers last unless `strict`. 0, -EINVAL (unknown name),
 * -ENODEV (nothing measured under strict), or the named source's own error.
 */
int sw_energy_open(const char *name, bool strict, const struct sw_energy_config *config,
		   void (*refused)(const char *name, const char *reason, void *ctx), void *ctx, struct sw_error *error,
		   struct sw_energy_source **ret);

#endif

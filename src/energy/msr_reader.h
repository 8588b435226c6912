/* SPDX-License-Identifier: BSD-2-Clause */
/* The CPUs from which registers are read: one for each package, die or core, and another when that one goes. */
#ifndef SW_ENERGY_MSR_READER_H
#define SW_ENERGY_MSR_READER_H

#include "source.h"

/* Where a CPU lies. `package` is -1 for one that was offline when it was looked at: it is never read from. */
struct sw_msr_place {
	int package;
	int die;  /* -1: dies do not matter */
	int core; /* lowest number among the CPUs of its core, or -1 when that cannot be known */
};

struct sw_msr_machine {
	int dev_fd; /* /dev, own; -1: none */
	int (*read)(unsigned cpu, uint32_t reg, uint64_t *ret); /* stands for the devices, or NULL */
	struct sw_msr_place *place; /* by CPU */
	unsigned n_cpus;
};

struct sw_msr_reader {
	struct sw_msr_place of; /* its CPU is of that package and die and, unless it is -1, core */
	uint32_t domains;
	bool settled;
	unsigned cpu; /* until it has settled: the first that was tried */
	int fd;       /* /dev/cpu/N/msr, or -1 */
};

/* 0, or -ENOMEM, -ENODEV with words. `by_die`: do dies matter? A zeroed machine with dev_fd -1 may be freed. */
int sw_msr_machine_init(struct sw_msr_machine *machine, const struct sw_energy_config *config, bool by_die,
			struct sw_error *error);
void sw_msr_machine_free(struct sw_msr_machine *machine);

/* The place that comes next after `last` among those of the machine's packages and dies; false: that was the last. */
bool sw_msr_next_place(const struct sw_msr_machine *machine, const struct sw_msr_place *last, struct sw_msr_place *ret);

/*
 * Settle on the first CPU there from which `reg` can be read. 0, or -errno of the first that was tried, or -ENXIO when
 * there is none; the reader then keeps the CPU that it had.
 */
int sw_msr_reader_settle(const struct sw_msr_machine *machine, struct sw_msr_reader *reader, uint32_t reg);
void sw_msr_reader_close(struct sw_msr_reader *reader);

/* 0, -ENXIO or -EIO (that CPU is offline), -EIO (it has no such register), or what else reading gave. */
int sw_msr_reader_read(const struct sw_msr_machine *machine, const struct sw_msr_reader *reader, uint32_t reg,
		       uint64_t *ret);

#endif

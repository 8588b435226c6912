/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host's time by domain, for the back ends that cannot see it themselves: what /proc/stat says of busy and of
 * offline CPUs, joined to what the watched tasks had, so that all parts of a window add up to CPUs × its length.
 *
 *   once a boundary, when T has passed:
 *     sw_host_read()                     /proc/stat, at about the time at which the tasks are read
 *     sw_host_room_ns() for each domain  how much of the tasks' time this window can hold; the rest is kept back
 *     sw_host_add()                      → domains, busy_raised
 *
 * Busy time is in clock ticks, sampled by most kernels: what tasks are known to have had goes before it. Ticks that do
 * not fit in a window are told in later ones; tasks' time that was ahead of the ticks is taken off them, up to one tick
 * of each CPU.
 */
#ifndef SW_CPU_HOST_H
#define SW_CPU_HOST_H

#include "backend.h"

struct sw_host {
	/* constant */
	unsigned cpus;    /* present: those whose time is accounted */
	uint64_t hz;      /* clock ticks a second, of /proc/stat and /proc/PID/stat; at least 1 */
	bool real_procfs; /* the kernel's, and not a directory that stands for it */
	/* since sw_host_add() */
	struct sw_cpu_domain *domains; /* cumulative, all 0 at the first boundary; as many as the config has */
	bool busy_raised;              /* ticks had less than the tasks, somewhere in this window */
	uint64_t irq_ns;   /* interrupts and softirqs since the first boundary, all CPUs; busy, but kernels that tell them
			    * apart leave them out of tasks' own clocks */
	uint64_t steal_ns; /* likewise, taken by the hypervisor */
	/* since sw_host_read() */
	uint64_t forks; /* processes and threads ever created on the host, or 0: not said */
};

/*
 * `whole`: the tasks are all there are, so that `other` is 0 and what ticks have beyond them counts as idle. 0 (the
 * caller closes *ret), -ENOENT (no such file below config->procfs_fd), -ENODATA (it names no CPU), -ENOMEM, or what
 * reading gave; in words in `error`. CPUs present are those that /sys/devices/system/cpu says, or, where procfs is only
 * a directory, those that its stat has now.
 */
int sw_host_open(const struct sw_cpu_config *config, bool whole, struct sw_error *error, struct sw_host **ret);
void sw_host_close(struct sw_host *host); /* NULL is fine */

/* Take /proc/stat in. 0, or -errno in words; a line in it that makes no sense is not an error. */
int sw_host_read(struct sw_host *host, struct sw_error *error);

/* The most that tasks can have had in the window that ends at t_ns: 0 at the first boundary. */
uint64_t sw_host_room_ns(const struct sw_host *host, unsigned domain, uint64_t t_ns);

/* Busy ticks of a domain's CPUs between sw_host_add() and sw_host_read(): by these, what nobody tells can be divided. */
uint64_t sw_host_busy_ticks(const struct sw_host *host, unsigned domain);

/*
 * Close the window that ends at t_ns, at or after the last one's end. `watched_ns`: the tasks' time in it by domain, at
 * most the room for it (what is above is cut: the caller has kept it back). The first call begins the first window.
 */
void sw_host_add(struct sw_host *host, uint64_t t_ns, const uint64_t *watched_ns);

/* Ticks in ns, rounded down; UINT64_MAX where that exceeds it. */
uint64_t sw_ticks_ns(uint64_t ticks, uint64_t hz);

#endif

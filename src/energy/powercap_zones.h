/* SPDX-License-Identifier: BSD-2-Clause */
/* The zones of a powercap tree: powercap_list.c lists them, powercap_zones.c looks into them, powercap.c keeps them. */
#ifndef SW_ENERGY_POWERCAP_ZONES_H
#define SW_ENERGY_POWERCAP_ZONES_H

#include "source.h"

#define SW_POWERCAP_DIR "class/powercap"

struct sw_found {
	bool mmio;
	int number;
	int subnumber;  /* -1: not a subzone */
	char where[80]; /* directory below class/powercap */
	char label[64]; /* what its `name` file says; the directory's name when that cannot be read */
	char *what;     /* which zone it is, in words that hold when the driver numbers its zones anew; unique */
	int fd;         /* energy_uj, or -1 */
	int err;        /* why there is no fd, as -errno; info.problem says it in words */
	struct sw_zone_info info; /* all but `domains` */
};

struct sw_found_list {
	struct sw_found *zone;
	size_t n;
};

/*
 * All zones of an opened class/powercap, in order of (package, die, role, path). 0, -ENOMEM, or what listing the
 * directory gave; zones that cannot be read are listed with their problem. The list is the caller's to free.
 */
int sw_powercap_find(int powercap_fd, struct sw_found_list *ret);
void sw_found_free(struct sw_found_list *list);

/* The same list as far as directories and `name` files tell: no counter is opened, none wakes a processor. */
int sw_powercap_list(int powercap_fd, struct sw_found_list *ret);

/* Open the counter of the zone that is `what`, wherever it is now. An fd, or -errno; -ENODEV: it is not in the list. */
int sw_powercap_open_counter(int powercap_fd, const struct sw_found_list *list, const char *what);

/* Of one of a list's zones: the name of its directory, the zone that it lies in or NULL, and its energy_uj, opened. */
const char *sw_found_entry(const struct sw_found *f);
const struct sw_found *sw_found_parent(const struct sw_found_list *list, const struct sw_found *f);
int sw_found_open_counter(int powercap_fd, const struct sw_found *f);

#endif

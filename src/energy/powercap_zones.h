/* SPDX-License-Identifier: BSD-2-Clause */
/* What powercap.c asks of powercap_zones.c: the zones of a tree, each with its counter opened. */
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

#endif

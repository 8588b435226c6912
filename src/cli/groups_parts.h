/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the ledger have of one another. */
#ifndef SW_CLI_GROUPS_PARTS_H
#define SW_CLI_GROUPS_PARTS_H

#include "groups.h"

/* What the rows of a window add up to. */
struct rows_sum {
	uint64_t ns;
	int64_t nj; /* 0 without energy */
};

/*
 * Find or make the group of every row that had something, and note what that was. 0, -ENOMEM, or -EPROTO for rows that
 * no whole can hold; groups may have been noted then.
 */
int groups_note_rows(struct groups *g, const struct sw_header *header, const struct sw_report *report,
		     struct rows_sum *ret);
void groups_free_paths(struct groups *g);
void group_free(struct group *group);

/*
 * Zones of one window. groups_plan_zones() finds each zone's total, and which zones the total leaves out because they
 * mirror others; it adds nothing. groups_add_zones() cannot fail.
 */
struct zones_plan {
	size_t *index; /* header's n_zones entries: in groups.zones, or SIZE_MAX */
};
int groups_plan_zones(struct groups *g, const struct sw_header *header, const struct sw_report *report,
		      struct zones_plan *ret);
void groups_add_zones(struct groups *g, const struct zones_plan *plan, const struct sw_header *header,
		      const struct sw_report *report, enum energy_quality quality);

void energy_add(struct energy_total *to, enum energy_quality quality, int64_t nj);

#endif

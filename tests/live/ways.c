/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the search for places of the slot table that strangers fill. Must not know: what a test lost by it.
 * Relies on: bpf/slots.h, which says where a task's slots lie.
 */
#include "ways.h"

#include <stdlib.h>
#include <string.h>

enum { SETS_MAX = (256 << 10) / SWB_WAYS, FULL = SWB_WAYS - 2 }; /* one of ours may be among them, or two */

static uint8_t taken[SETS_MAX];
static bool full[SETS_MAX];
static unsigned n_full;

void ways_look(struct record *r, bool first, bool (*mine)(const struct sw_task *t))
{
	struct sw_ebpf *b = record_inside(r);
	uint32_t sets = b->n_slots / SWB_WAYS;

	if (first) {
		memset(full, 0, sizeof(full));
		n_full = 0;
	}
	memset(taken, 0, sizeof(taken));
	for (size_t i = 0; i < r->usage->n_rows; i++) {
		const struct sw_cpu_row *row = &r->usage->rows[i];

		taken[row->key % sets] += row->last && !mine(row->task); /* it is free again by now */
	}
	for (uint32_t n = SWB_FIRST_SLOT; n < b->n_slots; n++)
		taken[n % sets] += *(volatile uint32_t *)&b->slots[n].claim && !mine(&b->state[n].task);
	for (uint32_t k = 0; k < sets; k++) {
		n_full += taken[k] >= FULL;
		full[k] |= taken[k] >= FULL;
	}
}

unsigned ways_full(void)
{
	return n_full;
}

bool ways_were_full(const struct record *r, pid_t tid)
{
	return full[tid % (record_inside((struct record *)r)->n_slots / SWB_WAYS)];
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: rows, and the giving back of slots whose tasks are gone. Must not know: how time is reckoned.
 *
 * In a long window there are boundaries of our own, of which nobody is told (sw_ebpf_tend()): then the rows of the dead
 * are kept with a copy of who they were, and their slots come free; of the living it is enough to know that they were
 * active, since numbers are cumulative.
 */
#include "ebpf.h"

#include <errno.h>
#include <stdlib.h>

/* Is the slot of a task that is gone to be given back? */
static bool is_last(struct sw_ebpf *b, uint32_t n, uint8_t dead)
{
	const struct sw_slot_state *st = &b->state[n];

	if (!dead || st->kept || (int32_t)(once(b->slots[n].epoch) - b->epoch) > 0)
		return false;
	if (st->running_ns || st->left_ns) { /* an exec just now; its stretch is open and will be settled next time */
		b->unlisted = UINT64_MAX;
		return false;
	}
	return true;
}

/* The row of a slot that is active. If it is the last one, the slot is free from here on. */
static struct sw_cpu_row take_row(struct sw_ebpf *b, uint32_t n)
{
	struct sw_slot_state *st = &b->state[n];
	struct swb_slot *s = &b->slots[n];
	uint8_t dead = once(s->dead);
	struct sw_cpu_row row;
	bool last;

	read_barrier();
	last = is_last(b, n, dead);
	st->described |= sw_ebpf_fill_task(b, n);
	row = (struct sw_cpu_row){
		.key = n,
		.first = !st->told,
		.last = last,
		.died = dead == SWB_DIED,
		.described = st->described,
		.domain = s->domain,
		.cgroup_id = s->cgroup_id,
		.oncpu_ns = st->value_ns + st->shift_ns,
		.task = &st->task,
	};
	b->n_known += !last - st->known;
	st->known = !last;
	st->reported_ns = last ? 0 : row.oncpu_ns;
	if (last) {
		st->told = st->touched = st->described = false;
		st->shift_ns = 0;
		st->other_ns = 0;
		__atomic_sub_fetch(&s->claim, 1, __ATOMIC_RELEASE);
	}
	return row;
}

/* An array with room for `n` elements. */
static int reserve(void **array, size_t *capacity, size_t n, size_t size)
{
	size_t wanted = n + n / 2 + 64;
	void *grown;

	if (n <= *capacity)
		return 0;
	grown = realloc(*array, wanted * size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*capacity = wanted;
	return 0;
}

int sw_ebpf_keep_rows(struct sw_ebpf *b)
{
	int err = reserve((void **)&b->departed, &b->departed_capacity, b->n_departed + b->n_active, sizeof(*b->departed));

	if (!err)
		err = reserve((void **)&b->touched, &b->touched_capacity, b->n_touched + b->n_active, sizeof(*b->touched));
	for (size_t i = 0; i < b->n_active && !err; i++) {
		struct sw_slot_state *st = &b->state[b->active[i]];
		struct sw_cpu_row row = take_row(b, b->active[i]);

		if (row.last) {
			b->departed[b->n_departed++] = (struct sw_departed){.row = row, .task = st->task};
			continue;
		}
		if (!st->listed)
			b->touched[b->n_touched++] = b->active[i];
		st->touched = st->listed = true;
	}
	return err;
}

static void add_row(struct sw_ebpf *b, struct sw_cpu_row row)
{
	struct sw_slot_state *st = &b->state[row.key];

	b->rows[b->usage.n_rows++] = row;
	if (!row.last) {
		st->told = true;
		st->touched = st->described = false;
	}
}

int sw_ebpf_emit_rows(struct sw_ebpf *b)
{
	int err = reserve((void **)&b->rows, &b->rows_capacity, b->n_departed + b->n_touched + b->n_active, sizeof(*b->rows));

	if (err)
		return err;
	b->usage.n_rows = 0;
	for (size_t i = 0; i < b->n_departed; i++) {
		b->rows[b->usage.n_rows] = b->departed[i].row;
		b->rows[b->usage.n_rows++].task = &b->departed[i].task;
	}
	for (size_t i = 0; i < b->n_active; i++)
		add_row(b, take_row(b, b->active[i]));
	/* those that were active before only */
	for (size_t i = 0; i < b->n_touched; i++) {
		uint32_t n = b->touched[i];
		struct sw_slot_state *st = &b->state[n];

		st->listed = false;
		if (!st->touched)
			continue;
		add_row(b, (struct sw_cpu_row){
				.key = n,
				.first = !st->told,
				.described = st->described,
				.domain = b->slots[n].domain,
				.cgroup_id = b->slots[n].cgroup_id,
				.oncpu_ns = st->reported_ns,
				.task = &st->task,
			});
	}
	b->n_departed = b->n_touched = 0;
	b->usage.rows = b->rows;
	return 0;
}

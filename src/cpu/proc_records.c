/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the records of tasks that end, from when they come until somebody takes them. Must not know: what their time is
 * counted as. See taskstats.h for what is in them.
 */
#include "proc.h"

#include <errno.h>
#include <stdlib.h>

#define RECORD_READS 2 /* a parent's own record comes at the latest with the next read */
#define RECORDS_MAX (1u << 20)

static int keep_record(const struct sw_taskstats_record *r, void *ctx)
{
	struct sw_proc *b = ctx;

	if (b->n_records == b->records_capacity) {
		size_t capacity = b->records_capacity ? 2 * b->records_capacity : 256;
		struct sw_proc_record *records = capacity > RECORDS_MAX ? NULL :
						 realloc(b->records, capacity * sizeof(*records));

		if (!records) { /* the others are told of */
			b->usage.members_lost++;
			return 0;
		}
		b->records = records;
		b->records_capacity = capacity;
	}
	b->records[b->n_records] = (struct sw_proc_record){.r = *r};
	if (!r->tgid) /* an old kernel does not say */
		b->records[b->n_records].r.tgid = r->tid;
	b->n_of_threads += r->tgid && r->tgid != r->tid;
	b->n_records++;
	return 0;
}

int sw_proc_take_records(struct sw_proc *b)
{
	return b->taskstats ? sw_taskstats_read(b->taskstats, keep_record, b) : 0;
}

/* They come in the order of their ends: of two with the same number the later one is whom we saw. */
static struct sw_proc_record *take_record_of(struct sw_proc *b, const struct sw_proc_thread *t, size_t from)
{
	for (size_t i = b->n_records; i-- > from;)
		if (b->records[i].r.tid == t->tid && b->records[i].r.tgid == t->process->leader.tid && !b->records[i].taken) {
			b->records[i].taken = true;
			return &b->records[i];
		}
	return NULL;
}

struct sw_proc_record *sw_proc_record_of(struct sw_proc *b, const struct sw_proc_thread *t)
{
	struct sw_proc_record *record = take_record_of(b, t, 0);
	size_t n = b->n_records;

	if (record || sw_proc_take_records(b))
		return record;
	/* it has been sent before anybody can see that the task has ended */
	return take_record_of(b, t, n);
}

void sw_proc_drop_records(struct sw_proc *b)
{
	size_t kept = 0;

	b->n_of_threads = 0;
	for (size_t i = 0; i < b->n_records; i++) {
		struct sw_proc_record *record = &b->records[i];

		if (record->taken || ++record->age > RECORD_READS)
			continue;
		b->n_of_threads += record->r.tid != record->r.tgid;
		b->records[kept++] = *record;
	}
	b->n_records = kept;
}

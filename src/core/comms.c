/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: tables of sums by command name. Must not know: what a process is. Relies on uthash.
 */
#define HASH_NONFATAL_OOM 1 /* a library does not exit */
#include "comms.h"

#include "tally.h"

#include <errno.h>
#include <stdlib.h>

int sw_comms_add(struct sw_comm_entry **table, const char comm[16], uint64_t processes, uint64_t oncpu_ns, int64_t nj)
{
	struct sw_comm_entry *c;

	HASH_FIND(hh, *table, comm, sizeof(c->comm), c);
	if (!c) {
		c = calloc(1, sizeof(*c));
		if (!c)
			return -ENOMEM;
		memcpy(c->comm, comm, sizeof(c->comm));
		c->nj = INT64_MIN;
		HASH_ADD(hh, *table, comm, sizeof(c->comm), c);
		if (!c->hh.tbl) {
			free(c);
			return -ENOMEM;
		}
	}
	c->processes += processes;
	c->oncpu_ns += oncpu_ns;
	sw_add_nj(&c->nj, nj);
	return 0;
}

void sw_comms_free(struct sw_comm_entry **table)
{
	struct sw_comm_entry *c, *next;

	HASH_ITER(hh, *table, c, next) {
		HASH_DEL(*table, c);
		free(c);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct sw_comm *x = a, *y = b;

	if (x->oncpu_ns != y->oncpu_ns)
		return x->oncpu_ns < y->oncpu_ns ? 1 : -1;
	return strcmp(x->comm, y->comm);
}

struct sw_comm *sw_comms_rows(const struct sw_comm_entry *table, size_t *ret_n)
{
	const struct sw_comm_entry *c;
	size_t n = HASH_COUNT(table), i = 0;
	/* the names lie behind the rows, so that one free() frees all */
	struct sw_comm *rows = n ? malloc(n * (sizeof(*rows) + sizeof(c->comm))) : NULL;
	char *names;

	*ret_n = n && !rows ? SIZE_MAX : n;
	if (!rows)
		return NULL;
	names = (char *)(rows + n);
	for (c = table; c; c = c->hh.next, i++)
		rows[i] = (struct sw_comm){
			.comm = memcpy(names + i * sizeof(c->comm), c->comm, sizeof(c->comm)),
			.processes = c->processes,
			.oncpu_ns = c->oncpu_ns,
			.nj = c->nj,
		};
	qsort(rows, n, sizeof(*rows), by_time);
	return rows;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows in columns: an array of values and one of presence for each, so that a row costs no allocation and whole columns
 * are handed to callers as they lie. A bound on memory drops the oldest rows and counts them.
 */
#ifndef SW_CORE_TABLE_H
#define SW_CORE_TABLE_H

#include "../../include/schedwatt.h"

struct sw_column_spec {
	const char *name; /* a literal: data outlive the monitor */
	uint32_t type;    /* enum sw_type */
	uint32_t bytes;   /* of a value: 8, or more for text */
};

union sw_cells {
	void *any;
	int64_t *i64;
	uint64_t *u64;
	double *f64;
	char *text;
};

struct sw_table {
	const struct sw_column_spec *specs;
	size_t n_columns;
	union sw_cells *cells;          /* by column */
	uint8_t **present;              /* by column */
	struct sw_data_column *columns; /* as callers see them; their pointers are set when they look */
	size_t n_rows;
	size_t capacity;
	size_t max_rows;
	uint64_t dropped;
	uint64_t denied; /* values that may not be read; whoever adds rows counts them */
};

/* No rows yet. `specs` outlive the table. max_bytes: of all rows, but at least one fits; 0: no bound. 0 or -ENOMEM. */
int sw_table_init(struct sw_table *t, const struct sw_column_spec *specs, size_t n_columns, size_t max_bytes);

/* A zeroed table is fine. */
void sw_table_free(struct sw_table *t);

/* Forget rows and counts, keep the room. */
void sw_table_clear(struct sw_table *t);

/* Add a row in which everything is absent: its number, or -ENOMEM. The setters are for the type of the column. */
int64_t sw_table_add(struct sw_table *t);
void sw_table_set_i64(struct sw_table *t, size_t column, size_t row, int64_t value);
void sw_table_set_u64(struct sw_table *t, size_t column, size_t row, uint64_t value);
void sw_table_set_f64(struct sw_table *t, size_t column, size_t row, double value);
void sw_table_set_text(struct sw_table *t, size_t column, size_t row, const char *value); /* cut to what fits */

/* All rows of a table of the same columns; what does not fit goes, oldest first. 0 or -ENOMEM: nothing was added. */
int sw_table_append(struct sw_table *t, const struct sw_table *from);

/* The rows as they lie, until the table is changed. */
void sw_table_view(struct sw_table *t, struct sw_data_table *ret);

/* An empty table of the same columns and bound. 0, or -ENOMEM: *ret needs no free. */
int sw_table_like(const struct sw_table *t, struct sw_table *ret);

/* Hand all rows over and go on with the empty one, which is t's from then on: the same work for any number of rows. */
void sw_table_take(struct sw_table *t, const struct sw_table *empty, struct sw_data_table *ret);
void sw_data_table_free(struct sw_data_table *d);

#endif

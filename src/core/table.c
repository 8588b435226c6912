/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the room that rows take, and which rows go when there is no more.
 * Must not know: what the columns mean, who reads them.
 */
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROWS 64
#define DROP_PARTS 8 /* room is made for an eighth at once, so that few rows are moved for each one that comes */

int sw_table_init(struct sw_table *t, const struct sw_column_spec *specs, size_t n_columns, size_t max_bytes)
{
	size_t row_bytes = 0;

	*t = (struct sw_table){.specs = specs, .n_columns = n_columns};
	t->cells = calloc(n_columns + 1, sizeof(*t->cells));
	t->present = calloc(n_columns + 1, sizeof(*t->present));
	t->columns = calloc(n_columns + 1, sizeof(*t->columns));
	if (!t->cells || !t->present || !t->columns) {
		sw_table_free(t);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n_columns; i++) {
		t->columns[i] = (struct sw_data_column){.name = specs[i].name, .type = specs[i].type,
							.value_bytes = specs[i].bytes};
		row_bytes += specs[i].bytes + 1;
	}
	t->max_rows = max_bytes && row_bytes ? max_bytes / row_bytes : SIZE_MAX;
	if (!t->max_rows)
		t->max_rows = 1;
	return 0;
}

void sw_table_free(struct sw_table *t)
{
	for (size_t i = 0; i < t->n_columns && t->cells && t->present; i++) {
		free(t->cells[i].any);
		free(t->present[i]);
	}
	free(t->cells);
	free(t->present);
	free(t->columns);
	*t = (struct sw_table){0};
}

void sw_table_clear(struct sw_table *t)
{
	t->n_rows = 0;
	t->dropped = t->denied = 0;
}

static int grow(struct sw_table *t, size_t least)
{
	size_t capacity = t->capacity ? t->capacity : FIRST_ROWS;

	while (capacity < least && capacity <= SIZE_MAX / 2)
		capacity *= 2;
	if (capacity > t->max_rows)
		capacity = t->max_rows;
	/* where one column fails, those before it have room to spare */
	for (size_t i = 0; i < t->n_columns; i++) {
		void *values = reallocarray(t->cells[i].any, capacity, t->specs[i].bytes);
		uint8_t *present;

		if (!values)
			return -ENOMEM;
		t->cells[i].any = values;
		present = realloc(t->present[i], capacity);
		if (!present)
			return -ENOMEM;
		t->present[i] = present;
	}
	t->capacity = capacity;
	return 0;
}

static void drop_oldest(struct sw_table *t, size_t n)
{
	size_t left;

	n = n > t->max_rows / DROP_PARTS ? n : t->max_rows / DROP_PARTS;
	n = n < t->n_rows ? n : t->n_rows;
	left = t->n_rows - n;
	for (size_t i = 0; i < t->n_columns; i++) {
		size_t size = t->specs[i].bytes;
		char *values = t->cells[i].any;

		memmove(values, values + n * size, left * size);
		memmove(t->present[i], t->present[i] + n, left);
	}
	t->n_rows = left;
	t->dropped += n;
}

/* Room for so many more, which is no more than max_rows. */
static int reserve(struct sw_table *t, size_t n)
{
	int err = 0;

	if (n > t->capacity - t->n_rows && t->capacity < t->max_rows)
		err = grow(t, t->n_rows + n);
	if (!err && n > t->capacity - t->n_rows)
		drop_oldest(t, n - (t->capacity - t->n_rows));
	return err;
}

int64_t sw_table_add(struct sw_table *t)
{
	int err = reserve(t, 1);

	if (err)
		return err;
	for (size_t i = 0; i < t->n_columns; i++) {
		size_t size = t->specs[i].bytes;

		memset((char *)t->cells[i].any + t->n_rows * size, 0, size);
		t->present[i][t->n_rows] = 0;
	}
	return (int64_t)t->n_rows++;
}

void sw_table_set_i64(struct sw_table *t, size_t column, size_t row, int64_t value)
{
	t->cells[column].i64[row] = value;
	t->present[column][row] = 1;
}

void sw_table_set_u64(struct sw_table *t, size_t column, size_t row, uint64_t value)
{
	t->cells[column].u64[row] = value;
	t->present[column][row] = 1;
}

void sw_table_set_f64(struct sw_table *t, size_t column, size_t row, double value)
{
	t->cells[column].f64[row] = value;
	t->present[column][row] = 1;
}

void sw_table_set_text(struct sw_table *t, size_t column, size_t row, const char *value)
{
	size_t size = t->specs[column].bytes, n = strnlen(value, size - 1);
	char *text = t->cells[column].text + row * size;

	memcpy(text, value, n);
	memset(text + n, 0, size - n);
	t->present[column][row] = 1;
}

int sw_table_append(struct sw_table *t, const struct sw_table *from)
{
	size_t n = from->n_rows < t->max_rows ? from->n_rows : t->max_rows, skip = from->n_rows - n;
	int err = reserve(t, n);

	if (err)
		return err;
	t->dropped += skip + from->dropped;
	t->denied += from->denied;
	for (size_t i = 0; i < t->n_columns && n; i++) {
		size_t size = t->specs[i].bytes;

		memcpy((char *)t->cells[i].any + t->n_rows * size, (char *)from->cells[i].any + skip * size, n * size);
		memcpy(t->present[i] + t->n_rows, from->present[i] + skip, n);
	}
	t->n_rows += n;
	return 0;
}

void sw_table_view(struct sw_table *t, struct sw_data_table *ret)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		t->columns[i].values = t->cells[i].any;
		t->columns[i].present = t->present[i];
	}
	*ret = (struct sw_data_table){
		.n_rows = t->n_rows,
		.n_columns = t->n_columns,
		.columns = t->columns,
		.dropped = t->dropped,
		.denied = t->denied,
	};
}

int sw_table_like(const struct sw_table *t, struct sw_table *ret)
{
	int err = sw_table_init(ret, t->specs, t->n_columns, 0);

	ret->max_rows = t->max_rows;
	return err;
}

void sw_table_take(struct sw_table *t, const struct sw_table *empty, struct sw_data_table *ret)
{
	sw_table_view(t, ret);
	free(t->cells);
	free(t->present);
	*t = *empty;
}

void sw_data_table_free(struct sw_data_table *d)
{
	for (size_t i = 0; i < d->n_columns; i++) {
		free((void *)d->columns[i].values);
		free((void *)d->columns[i].present);
	}
	free((void *)d->columns);
	*d = (struct sw_data_table){0};
}

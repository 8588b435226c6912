/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how a value is taken from a column of rows. Must not know: what the column means, or where the value is shown.
 * Relies on: schedwatt.h, struct sw_data_column.
 */
#include "cell.h"

#include <stdio.h>

bool cell_number(char text[FORMAT_MAX], const struct sw_data_column *column, size_t row)
{
	if (!column->present[row])
		return false;
	switch (column->type) {
	case SW_TYPE_I64:
		snprintf(text, FORMAT_MAX, "%lld", (long long)((const int64_t *)column->values)[row]);
		return true;
	case SW_TYPE_U64:
		snprintf(text, FORMAT_MAX, "%llu", (unsigned long long)((const uint64_t *)column->values)[row]);
		return true;
	case SW_TYPE_F64:
		return format_real(text, ((const double *)column->values)[row], 9);
	default:
		return false;
	}
}

const char *cell_text(const struct sw_data_column *column, size_t row)
{
	if (column->type != SW_TYPE_TEXT || !column->present[row])
		return NULL;
	return (const char *)column->values + row * column->value_bytes;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Single values of rows with columns. */
#ifndef SW_CLI_CELL_H
#define SW_CLI_CELL_H

#include <stdbool.h>

#include "format.h"
#include "schedwatt.h"

/* The number in this row, as exact as it is held. False: it is absent, or the column is of text. */
bool cell_number(char text[FORMAT_MAX], const struct sw_data_column *column, size_t row);

/* The text in this row, raw, with a NUL at its end. NULL: it is absent, or the column is of numbers. */
const char *cell_text(const struct sw_data_column *column, size_t row);

#endif

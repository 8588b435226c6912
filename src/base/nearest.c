/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the distance between two names. Must not know: what they name.
 * Relies on: Levenshtein's recurrence, a row of the table at a time.
 */
#include "nearest.h"

#include <string.h>

size_t sw_edit_distance(const char *a, size_t a_length, const char *b)
{
	size_t cut = a_length < SW_NEAREST_MAX ? a_length : SW_NEAREST_MAX;
	size_t b_length = strlen(b), row[SW_NEAREST_MAX + 1];

	for (size_t i = 0; i <= cut; i++)
		row[i] = i;
	for (size_t j = 1; j <= b_length; j++) {
		size_t diagonal = row[0];

		row[0] = j;
		for (size_t i = 1; i <= cut; i++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[i];
			best = row[i - 1] + 1 < best ? row[i - 1] + 1 : best;
			row[i] = diagonal + 1 < best ? diagonal + 1 : best;
		}
	}
	return row[cut] + (a_length - cut);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* How alike two names are, to tell what may have been meant by one that is not known. */
#ifndef SW_BASE_NEAREST_H
#define SW_BASE_NEAREST_H

#include <stddef.h>

enum { SW_NEAREST_MAX = 64 }; /* no more bytes of a name are looked at */

/* How many bytes must be put in, taken out or changed to make `b` of the first `a_length` of `a` (Levenshtein). */
size_t sw_edit_distance(const char *a, size_t a_length, const char *b);

#endif

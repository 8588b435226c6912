/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every fuzz target has: its entry, which libFuzzer or replay.c calls with one input, and must(), for what holds
 * besides not crashing. An input is not NUL-terminated, and the byte behind it is out of bounds.
 */
#ifndef SW_TESTS_FUZZ_H
#define SW_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(condition)                                                                                \
	do {                                                                                           \
		if (!(condition)) {                                                                    \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                       \
		}                                                                                      \
	} while (0)

/* The input as a string, for a parser that takes one; what it makes of an inner NUL is that it ends there. */
static inline char *fuzz_string(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	must(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#endif

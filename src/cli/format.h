/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers, times and foreign bytes as text; exact, and the same in every locale. */
#ifndef SW_CLI_FORMAT_H
#define SW_CLI_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

/* Room for any number or time below, with its end. */
enum { FORMAT_MAX = 48 };

#define FORMAT_NONE UINT64_MAX /* format_scale(): there is no such number */

/* value / 10^digits exactly, without zeros at the end of the fraction: 1500000000, 9 -> "1.5". digits <= 18. */
void format_decimal(char text[FORMAT_MAX], int64_t value, unsigned digits);
void format_udecimal(char text[FORMAT_MAX], uint64_t value, unsigned digits);

/* value / 10^digits, rounded half up to `places` (<= digits <= 18) and always showing them: "1.500". */
void format_fixed(char text[FORMAT_MAX], uint64_t value, unsigned digits, unsigned places);

/*
 * A real number, rounded half up to `places` (<= 9), with zeros at the end of its fraction (fixed) or without. False, and
 * `text` untouched: it is none, not finite, or 2^64 and above.
 */
bool format_real_fixed(char text[FORMAT_MAX], double value, unsigned places);
bool format_real(char text[FORMAT_MAX], double value, unsigned places);

/* value * mul / div, rounded half up; FORMAT_NONE when div is 0 or the result does not fit. */
uint64_t format_scale(uint64_t value, uint64_t mul, uint64_t div);

/* RFC 3339 in UTC with nine digits of fraction; clock: only "HH:MM:SS.mmm" of it. */
void format_time(char text[FORMAT_MAX], int64_t utc_ns);
void format_clock(char text[FORMAT_MAX], int64_t utc_ns);

/* The bytes with each one that is not part of valid UTF-8 replaced by U+FFFD. */
void format_utf8(struct buf *out, const char *bytes, size_t len);

/*
 * For terminals: as above, and control characters become '?', so that no process can write escape sequences by its
 * name. Cut to `columns` with an ellipsis (each code point is counted as one column). The number of columns written.
 */
unsigned format_plain(struct buf *out, const char *bytes, unsigned columns);

/* Likewise, but what is cut off is the beginning. */
unsigned format_tail(struct buf *out, const char *bytes, unsigned columns);

/* format_plain(), then blanks up to `columns`. */
void format_left(struct buf *out, const char *text, unsigned columns);

/* Blanks, at least one, then `text`, which is UTF-8 of our own; `columns` in all, or more. */
void format_right(struct buf *out, const char *text, unsigned columns);

/* Words of `text` in lines of at most `columns`, each but the first indented by `indent` blanks, with a newline. */
void format_wrapped(struct buf *out, const char *text, unsigned indent, unsigned columns);

#endif

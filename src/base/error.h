/* SPDX-License-Identifier: BSD-2-Clause */
/* A failure in words, handed up beside its errno. The library never prints; whoever called decides. */
#ifndef SW_BASE_ERROR_H
#define SW_BASE_ERROR_H

struct sw_error {
	char text[512]; /* "" when nothing failed */
};

/*
 * Write the sentence (cut to fit, always terminated) and return `err` as it came, so that a caller can write
 * `return sw_fail(e, -EINVAL, …)`. `e` may be NULL.
 */
int sw_fail(struct sw_error *e, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif

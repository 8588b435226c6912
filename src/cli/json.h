/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Building one JSON record. Every function adds `value` to the object `in` under `key`, or appends it to the array
 * `in` when `key` is NULL. Failures are kept in *err (0, or the first one), so that a record is checked once, at its
 * end; a NULL `in` is one that failed before.
 */
#ifndef SW_CLI_JSON_H
#define SW_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"

struct json_object;

struct json_object *record_new(int *err, const char *type);
struct json_object *record_begin(int *err); /* one without a type */
struct json_object *record_object(int *err, struct json_object *in, const char *key);
struct json_object *record_array(int *err, struct json_object *in, const char *key);

void record_null(int *err, struct json_object *in, const char *key);
void record_bool(int *err, struct json_object *in, const char *key, bool value);
void record_int(int *err, struct json_object *in, const char *key, int64_t value);
void record_uint(int *err, struct json_object *in, const char *key, uint64_t value);

/* value / 10^digits, exactly as written; record_joules(): nanojoules as joules, and null for SW_ABSENT. */
void record_decimal(int *err, struct json_object *in, const char *key, int64_t value, unsigned digits);
void record_udecimal(int *err, struct json_object *in, const char *key, uint64_t value, unsigned digits);
void record_joules(int *err, struct json_object *in, const char *key, int64_t nj);

/* A number as it is written. */
void record_number(int *err, struct json_object *in, const char *key, const char *text);

/* A count that may be SW_ABSENT: then null. */
void record_count(int *err, struct json_object *in, const char *key, int64_t value);

/* Any bytes, made valid UTF-8; null for NULL. */
void record_text(int *err, struct json_object *in, const char *key, const char *bytes);

/* RFC 3339. */
void record_time(int *err, struct json_object *in, const char *key, int64_t utc_ns);

/* Write the record as one line and free it. A failure goes to out->err. */
void record_finish(int err, struct json_object *record, struct buf *out);

#endif

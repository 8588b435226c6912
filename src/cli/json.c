/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how values become JSON. Must not know: the fields of any record.
 * Relies on: json-c (json_object.h), because it holds integers up to 2^64-1 and numbers as they are written;
 * RFC 8259. json-c escapes control characters and leaves other bytes alone, so UTF-8 is made valid before.
 */
#include "json.h"

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <string.h>

#include "format.h"
#include "schedwatt.h"

static void fail(int *err)
{
	if (!*err)
		*err = -ENOMEM;
}

/* Takes `value` over in any case. A NULL value is out of memory, not null. */
static void put(int *err, json_object *in, const char *key, json_object *value)
{
	struct buf clean = { 0 };
	int r;

	if (!in || !value) {
		json_object_put(value);
		fail(err);
		return;
	}
	if (key) {
		/* Keys may be names of zones, read from files. */
		format_utf8(&clean, key, strlen(key) + 1);
		r = clean.err ? -1 : json_object_object_add(in, clean.data, value);
		buf_free(&clean);
	} else {
		r = json_object_array_add(in, value);
	}
	if (r) {
		json_object_put(value);
		fail(err);
	}
}

json_object *record_begin(int *err)
{
	json_object *record = json_object_new_object();

	if (!record)
		fail(err);
	return record;
}

json_object *record_new(int *err, const char *type)
{
	json_object *record = record_begin(err);

	record_text(err, record, "type", type);
	return record;
}

json_object *record_object(int *err, json_object *in, const char *key)
{
	json_object *object = json_object_new_object();

	put(err, in, key, object);
	return *err ? NULL : object;
}

json_object *record_array(int *err, json_object *in, const char *key)
{
	json_object *array = json_object_new_array();

	put(err, in, key, array);
	return *err ? NULL : array;
}

void record_null(int *err, json_object *in, const char *key)
{
	/* To json-c, null is the NULL pointer. */
	if (!in || (key ? json_object_object_add(in, key, NULL) : json_object_array_add(in, NULL)))
		fail(err);
}

void record_bool(int *err, json_object *in, const char *key, bool value)
{
	put(err, in, key, json_object_new_boolean(value));
}

void record_int(int *err, json_object *in, const char *key, int64_t value)
{
	put(err, in, key, json_object_new_int64(value));
}

void record_uint(int *err, json_object *in, const char *key, uint64_t value)
{
	put(err, in, key, json_object_new_uint64(value));
}

void record_number(int *err, json_object *in, const char *key, const char *text)
{
	/* json-c writes the text; the double beside it is only for readers of the object, of which there are none. */
	put(err, in, key, json_object_new_double_s(0, text));
}

void record_decimal(int *err, json_object *in, const char *key, int64_t value, unsigned digits)
{
	char text[FORMAT_MAX];

	format_decimal(text, value, digits);
	record_number(err, in, key, text);
}

void record_udecimal(int *err, json_object *in, const char *key, uint64_t value, unsigned digits)
{
	char text[FORMAT_MAX];

	format_udecimal(text, value, digits);
	record_number(err, in, key, text);
}

void record_joules(int *err, json_object *in, const char *key, int64_t nj)
{
	if (nj == SW_ABSENT)
		record_null(err, in, key);
	else
		record_decimal(err, in, key, nj, 9);
}

void record_count(int *err, json_object *in, const char *key, int64_t value)
{
	if (value == SW_ABSENT)
		record_null(err, in, key);
	else
		record_int(err, in, key, value);
}

void record_text(int *err, json_object *in, const char *key, const char *bytes)
{
	struct buf clean = { 0 };

	if (!bytes) {
		record_null(err, in, key);
		return;
	}
	format_utf8(&clean, bytes, strlen(bytes));
	if (clean.err || clean.len > INT_MAX)
		fail(err);
	else
		put(err, in, key, json_object_new_string_len(clean.len ? clean.data : "", (int)clean.len));
	buf_free(&clean);
}

void record_time(int *err, json_object *in, const char *key, int64_t utc_ns)
{
	char text[FORMAT_MAX];

	format_time(text, utc_ns);
	record_text(err, in, key, text);
}

void record_finish(int err, json_object *record, struct buf *out)
{
	const char *text = NULL;
	size_t len;

	if (!err) {
		text = json_object_to_json_string_length(record,
							 JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
							 &len);
		if (!text)
			fail(&err);
	}
	if (text) {
		buf_add(out, text, len);
		buf_text(out, "\n");
	}
	if (err && !out->err)
		out->err = err;
	json_object_put(record);
}

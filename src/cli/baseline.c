/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the file of a baseline, schema schedwatt-baseline/1: its fields, and every way in which one is refused. Must not
 * know: how idle power is measured, or what is done with it. Relies on: json-c keeping each number as it was written
 * (json_tokener(3) makes doubles with json_object_new_double_s()), so that decimals stay exact.
 */
#include "baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "calibration.h"
#include "format.h"
#include "json.h"
#include "message.h"

#define SCHEMA "schedwatt-baseline/1"
#define AGAIN  "write one with `schedwatt calibrate -o FILE`"

enum {
	FILE_MAX = 65536, /* 32 packages take 5,000 bytes */
	DEPTH_MAX = 8,
};

size_t baseline_packages(const struct sw_header *h, int32_t numbers[SW_DOMAINS_MAX])
{
	size_t n = 0;

	for (uint32_t i = 0; i < h->domains; i++) {
		if (!n || numbers[n - 1] != h->domain_package[i])
			numbers[n++] = h->domain_package[i];
	}
	return n;
}

void baseline_free(struct baseline *b)
{
	free(b->cpu_model);
	free(b->energy_source);
	*b = (struct baseline){ 0 };
}

/* --- writing */

static void add_watts(int *err, struct json_object *in, const char *key, uint64_t uw)
{
	if (uw == FORMAT_NONE)
		record_null(err, in, key);
	else
		record_udecimal(err, in, key, uw, 6);
}

void baseline_write(const struct calibration *c, const char *host, struct buf *out)
{
	const struct sw_header *h = c->header;
	struct json_object *record, *list;
	int err = 0;

	record = record_new(&err, "baseline");
	record_text(&err, record, "schema", SCHEMA);
	record_text(&err, record, "version", h->version);
	record_text(&err, record, "host", host);
	record_text(&err, record, "cpu_model", h->cpu_model);
	record_text(&err, record, "kernel", h->kernel);
	record_time(&err, record, "started_at", h->started_utc_ns);
	record_udecimal(&err, record, "duration_s", c->time_ns, 9);
	record_uint(&err, record, "interval_ms", h->interval_ms);
	record_uint(&err, record, "windows", c->windows);
	record_uint(&err, record, "windows_without_energy", c->without_energy);
	record_uint(&err, record, "windows_suspended", c->suspended);
	record_text(&err, record, "energy_source", h->energy_source);
	record_udecimal(&err, record, "busy_percent", calibration_busy_all(c), 3);
	list = record_array(&err, record, "packages");
	for (size_t i = 0; i < c->n_packages; i++) {
		const struct calibration_package *p = &c->packages[i];
		struct json_object *package = record_object(&err, list, NULL);

		record_int(&err, package, "package", p->number);
		add_watts(&err, package, "watts", calibration_uw(c, p));
		add_watts(&err, package, "watts_sd", calibration_sd_uw(c, p));
		add_watts(&err, package, "watts_min", p->min_uw);
		add_watts(&err, package, "watts_max", p->max_uw);
		record_udecimal(&err, package, "busy_percent", calibration_busy(p), 3);
	}
	record_finish(err, record, out);
}

/* --- reading */

/* The whole file, at most FILE_MAX bytes: how many, or -errno. */
static ssize_t read_all(const char *file, char *to)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	while (n && len <= FILE_MAX) {
		n = read(fd, to + len, FILE_MAX + 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		len += (size_t)n;
	}
	n = n < 0 ? -errno : len > FILE_MAX ? -EFBIG : (ssize_t)len;
	close(fd);
	return n;
}

/* The one value that the text is, or NULL; *why is a word of json-c's then. */
static json_object *parse_json(const char *text, size_t len, const char **why)
{
	struct json_tokener *tok = json_tokener_new_ex(DEPTH_MAX);
	json_object *value = NULL;

	*why = "out of memory";
	if (!tok)
		return NULL;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	value = json_tokener_parse_ex(tok, text, (int)len);
	*why = json_tokener_get_error(tok) == json_tokener_continue
		       ? "it ends too early"
		       : json_tokener_error_desc(json_tokener_get_error(tok));
	json_tokener_free(tok);
	return value;
}

static json_object *load(const char *file)
{
	char *text = malloc(FILE_MAX + 1);
	ssize_t len = text ? read_all(file, text) : -ENOMEM;
	json_object *value = NULL;
	const char *why;

	if (len == -ENOENT) {
		message_error("--baseline '%s' is neither watts (like 11.5 or 11.5,12) nor a file that there is; " AGAIN, file);
	} else if (len == -EFBIG) {
		message_error("--baseline '%s' has more than %d bytes, and is no file of calibrate's; " AGAIN, file, FILE_MAX);
	} else if (len < 0) {
		message_error("--baseline '%s': cannot read it: %s", file, strerror((int)-len));
	} else {
		/* json-c takes a NUL for the end, and what follows it for none of its business. */
		while (len && strchr(" \t\r\n", text[len - 1]) && text[len - 1])
			len--;
		why = "it holds a NUL byte";
		if (!memchr(text, 0, (size_t)len))
			value = parse_json(text, (size_t)len, &why);
		if (!value)
			message_error("--baseline '%s' is not JSON (%s); " AGAIN, file, len ? why : "it is empty");
	}
	free(text);
	return value;
}

static bool refuse(const char *file, const char *what)
{
	message_error("--baseline '%s': %s; " AGAIN, file, what);
	return false;
}

/* A string under `key`; NULL when there is none. */
static const char *text_of(json_object *in, const char *key)
{
	json_object *value;

	if (!json_object_object_get_ex(in, key, &value) || !json_object_is_type(value, json_type_string))
		return NULL;
	return json_object_get_string(value);
}

static bool check_schema(const char *file, json_object *root)
{
	const char *type, *schema;

	if (!json_object_is_type(root, json_type_object))
		return refuse(file, "it is JSON, but no object");
	type = text_of(root, "type");
	schema = text_of(root, "schema");
	if (type && !strcmp(type, "baseline") && schema && !strcmp(schema, SCHEMA))
		return true;
	message_error("--baseline '%s': it says type '%.100s' and schema '%.100s', not 'baseline' and '%s'; " AGAIN, file,
		      type ? type : "", schema ? schema : "", SCHEMA);
	return false;
}

static bool take_machine(struct baseline *b, json_object *root)
{
	const char *source = text_of(root, "energy_source"), *model = text_of(root, "cpu_model");
	json_object *value;

	if (!source)
		return refuse(b->file, "it has no energy_source that is a text");
	/* null is the NULL pointer to json-c */
	if (!json_object_object_get_ex(root, "cpu_model", &value) || (value && !model))
		return refuse(b->file, "it has no cpu_model that is a text or null");
	b->energy_source = strdup(source);
	b->cpu_model = model ? strdup(model) : NULL;
	return b->energy_source && (b->cpu_model || !model) ? true : refuse(b->file, "out of memory");
}

/* A number as the file writes it; what is no number at all fails to parse as one, too. */
static const char *number_of(json_object *in, const char *key)
{
	json_object *value;

	if (!json_object_object_get_ex(in, key, &value) || json_object_is_type(value, json_type_null))
		return NULL;
	return json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
}

static bool take_package(struct baseline *b, size_t at, json_object *package)
{
	const char *text;
	uint64_t number;

	if (!json_object_is_type(package, json_type_object))
		return refuse(b->file, "one of its packages is no object");
	text = number_of(package, "package");
	if (!text || sw_parse_u64(text, INT32_MAX, &number)) {
		message_error("--baseline '%s': '%.100s' of its package at place %zu is no number of a package; " AGAIN,
			      b->file, text ? text : "", at);
		return false;
	}
	if (at && (int32_t)number <= b->package[at - 1])
		return refuse(b->file, "its packages do not stand in order of their numbers, each once");
	b->package[at] = (int32_t)number;
	text = number_of(package, "watts");
	if (!text) {
		message_error("--baseline '%s': its package %d has no watts; " AGAIN, b->file, b->package[at]);
		return false;
	}
	if (sw_parse_decimal(text, 6, UINT64_C(1000000) * BASELINE_WATTS_MAX, &b->uw[at])) {
		message_error("--baseline '%s': '%.100s' of its package %d is no number of watts from 0 to %d with at most six "
			      "decimals; " AGAIN, b->file, text, b->package[at], BASELINE_WATTS_MAX);
		return false;
	}
	return true;
}

static bool take_packages(struct baseline *b, json_object *root)
{
	json_object *list;
	size_t n;

	if (!json_object_object_get_ex(root, "packages", &list) || !json_object_is_type(list, json_type_array))
		return refuse(b->file, "it has no list of packages");
	n = json_object_array_length(list);
	if (!n || n > SW_DOMAINS_MAX)
		return refuse(b->file, n ? "it has more packages than any machine" : "its list of packages is empty");
	for (size_t i = 0; i < n; i++) {
		if (!take_package(b, i, json_object_array_get_idx(list, i)))
			return false;
	}
	b->n = n;
	return true;
}

int baseline_read(struct baseline *b, const char *file)
{
	json_object *root = load(file);
	bool good;

	*b = (struct baseline){ .file = file };
	if (!root)
		return -EINVAL;
	good = check_schema(file, root) && take_machine(b, root) && take_packages(b, root);
	json_object_put(root);
	if (good)
		return 0;
	baseline_free(b);
	return -EINVAL;
}

static void add_list(struct buf *out, const int32_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%s%d", i ? "," : "", numbers[i]);
	buf_add(out, "", 1);
}

static int check_packages(const struct baseline *b, const struct sw_header *h)
{
	struct buf theirs = { 0 }, ours = { 0 };
	int32_t numbers[SW_DOMAINS_MAX];
	size_t n = baseline_packages(h, numbers);

	if (n == b->n && !memcmp(numbers, b->package, n * sizeof(*numbers)))
		return 0;
	add_list(&theirs, b->package, b->n);
	add_list(&ours, numbers, n);
	if (!theirs.err && !ours.err)
		message_error("--baseline '%s' is of packages %s, and this machine has %s; calibrate again on this machine",
			      b->file, theirs.data, ours.data);
	buf_free(&theirs);
	buf_free(&ours);
	return -EINVAL;
}

int baseline_check(const struct baseline *b, const struct sw_header *h)
{
	const char *theirs = b->cpu_model ? b->cpu_model : "unknown", *ours = h->cpu_model ? h->cpu_model : "unknown";
	struct buf words = { 0 };

	if (!b->file)
		return 0;
	if (strcmp(theirs, ours)) {
		message_error("--baseline '%s' is of another processor ('%s'), and this machine has '%s'; calibrate again on "
			      "this machine", b->file, theirs, ours);
		return -EINVAL;
	}
	if (check_packages(b, h))
		return -EINVAL;
	if (h->energy_quality && strcmp(b->energy_source, h->energy_source)) {
		buf_printf(&words, "--baseline '%s' was measured by %s, and energy comes from %s now; the two may differ",
			   b->file, b->energy_source, h->energy_source);
		message_note(&words);
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which form of a page a client gets. Must not know: pages, connections.
 * Relies on: RFC 9110 for the headers; Prometheus asks for OpenMetrics by its version.
 */
#include "http_accept.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { QUALITY_ONE = 1000 }; /* three decimals are all there can be */

struct item {
	const char *text; /* of the header */
	size_t length;    /* up to its first parameter */
	const char *parameters;
	size_t parameters_length;
	int quality; /* in thousandths */
};

static const char *skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* The number behind "q=": what is not one counts as 1, as if it were not there. */
static int quality(const char *p)
{
	int whole, thousandths = 0;

	if (*p != '0' && *p != '1')
		return QUALITY_ONE;
	whole = *p++ - '0';
	if (*p == '.') {
		p++;
		for (int unit = 100; unit && isdigit((unsigned char)*p); unit /= 10)
			thousandths += unit * (*p++ - '0');
	}
	return whole ? QUALITY_ONE : thousandths;
}

static int find_quality(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *name;

		if (p[i] != ';')
			continue;
		name = skip_blanks(p + i + 1);
		if (!strncasecmp(name, "q=", 2))
			return quality(name + 2);
	}
	return QUALITY_ONE;
}

/* The next item of a list with commas between; false: there is none. */
static bool next_item(const char **at, struct item *item)
{
	const char *p = skip_blanks(*at);
	size_t n;

	while (*p == ',')
		p = skip_blanks(p + 1);
	if (!*p)
		return false;
	n = strcspn(p, ",");
	item->text = p;
	item->length = strcspn(p, ";,");
	item->parameters = p + item->length;
	item->parameters_length = n - item->length;
	while (item->length && (p[item->length - 1] == ' ' || p[item->length - 1] == '\t'))
		item->length--;
	item->quality = find_quality(item->parameters, item->parameters_length);
	*at = p + n;
	return true;
}

static bool is_name(const struct item *item, const char *name)
{
	return item->length == strlen(name) && !strncasecmp(item->text, name, item->length);
}

/* Of OpenMetrics only version 1.0 is written here; who names none takes it. */
static bool is_version_1(const struct item *item)
{
	const char *version = memmem(item->parameters, item->parameters_length, "version=", 8);

	return !version || !strncmp(version + 8, "1.0.0", 5) || !strncmp(version + 8, "\"1.0.0\"", 7);
}

bool http_accepts_openmetrics(const char *accept)
{
	int openmetrics = 0, text = -1, any = -1;
	struct item item;

	while (accept && next_item(&accept, &item)) {
		if (is_name(&item, "application/openmetrics-text") && is_version_1(&item) && item.quality > openmetrics)
			openmetrics = item.quality;
		else if (is_name(&item, "text/plain") && item.quality > text)
			text = item.quality;
		else if ((is_name(&item, "*/*") || is_name(&item, "text/*")) && item.quality > any)
			any = item.quality;
	}
	return openmetrics && openmetrics >= (text >= 0 ? text : any);
}

bool http_accepts_gzip(const char *accept_encoding)
{
	int gzip = -1, any = -1;
	struct item item;

	while (accept_encoding && next_item(&accept_encoding, &item)) {
		if (is_name(&item, "gzip") || is_name(&item, "x-gzip"))
			gzip = item.quality;
		else if (is_name(&item, "*"))
			any = item.quality;
	}
	return (gzip >= 0 ? gzip : any) > 0;
}

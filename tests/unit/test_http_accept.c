/* SPDX-License-Identifier: BSD-2-Clause */
/* Which form of a page a client gets, by what clients really send, and by what they might. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/http_accept.h"

static void test_forms(void **state)
{
	static const struct {
		const char *accept;
		bool openmetrics;
	} cases[] = {
		{ NULL, false },
		{ "", false },
		{ "*/*", false }, /* curl */
		{ "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", false }, /* browsers */
		{ "text/plain;version=0.0.4;q=1,*/*;q=0.1", false }, /* Prometheus 1 */
		/* Prometheus 2.5, 2.42 and 3 */
		{ "application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", false },
		{ "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
		  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", true },
		{ "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;"
		  "version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,"
		  "*/*;q=0.2", true },
		{ "application/openmetrics-text", true },
		{ "APPLICATION/OpenMetrics-Text ; Q=0.5 , */*;q=0.5", true },
		{ "application/openmetrics-text;version=\"1.0.0\"", true },
		{ "application/openmetrics-text;version=2.0.0", false },
		{ "application/openmetrics-text;q=0", false },
		{ "application/openmetrics-text;q=0.000,*/*", false },
		{ "application/openmetrics-text;q=0.4,text/plain;q=0.5", false },
		{ "application/openmetrics-text;q=0.4,text/*;q=0.5", false },
		{ "text/plain;q=0.001,application/openmetrics-text;q=0.002", true },
		{ "application/openmetrics-textual", false },
		{ ",;=,;q=,application/openmetrics-text", true },
		{ ";;;", false },
		{ "application/openmetrics-text;q=", true }, /* as if it were not there */
		{ "application/openmetrics-text;q=9", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (http_accepts_openmetrics(cases[i].accept) != cases[i].openmetrics)
			fail_msg("%s", cases[i].accept);
	}
}

static void test_encodings(void **state)
{
	static const struct {
		const char *accept;
		bool gzip;
	} cases[] = {
		{ NULL, false },       { "", false },
		{ "gzip", true },      { "deflate, gzip;q=1.0, *;q=0.5", true },
		{ "x-gzip", true },    { "identity", false },
		{ "*", true },         { "gzip;q=0", false },
		{ "gzip;q=0,*", false }, { "*;q=0", false },
		{ "br, GZIP", true },  { "gzipped", false },
		{ "gzip ; q=0.0", false }, { "deflate;q=1,gzip;q=0.001", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (http_accepts_gzip(cases[i].accept) != cases[i].gzip)
			fail_msg("%s", cases[i].accept);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_encodings),
	};

	return cmocka_run_group_tests_name("http_accept", tests, NULL, NULL);
}

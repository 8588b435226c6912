/* SPDX-License-Identifier: BSD-2-Clause */
/* What a client would have: RFC 9110, sections 12.4.2, 12.5.1 and 12.5.3. Pure. */
#ifndef SW_CLI_HTTP_ACCEPT_H
#define SW_CLI_HTTP_ACCEPT_H

#include <stdbool.h>

/* By its Accept header (NULL: none): does it like OpenMetrics 1.0 better than the text format? */
bool http_accepts_openmetrics(const char *accept);

/* By its Accept-Encoding header (NULL: none): does it take gzip? */
bool http_accepts_gzip(const char *accept_encoding);

#endif

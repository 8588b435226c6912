/* SPDX-License-Identifier: BSD-2-Clause */
/* The exporter's pages over HTTP, served by threads of their own, one for each address that is listened at. */
#ifndef SW_CLI_HTTP_H
#define SW_CLI_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "web_config.h"

#define HTTP_LISTEN_DEFAULT "127.0.0.1:19100"

/* What the pages are made of. Called in the server's threads, at once by several. */
struct http_source {
	/* Append the page of metrics, in the text format or as OpenMetrics. 0, or -errno: it answers 500. */
	int (*metrics)(void *ctx, bool openmetrics, struct buf *out);
	/* Is what it serves current? A line of words to `out` either way. */
	bool (*healthy)(void *ctx, struct buf *out);
	void *ctx;
};

struct http;

/* Is it ADDRESS:PORT, [ADDRESS]:PORT or :PORT? 0, or -EINVAL with a message. */
int http_check_address(const char *address);

/*
 * Take all addresses (HOST:PORT, [HOST]:PORT, :PORT for every address of this machine), so that one that is in use is
 * known before anything else is done. `path`: of the metrics' page, beginning with /. Both are not kept. 0 or -errno
 * with a message.
 */
int http_listen(const char *const *addresses, size_t n, const char *path, struct http **ret);

/* The addresses, as "127.0.0.1:19100", with commas between: what was asked for as port 0 has its number. */
void http_addresses(const struct http *h, struct buf *out);

/* Serve. `web` is taken over and becomes empty; what it says of TLS holds until http_close(). 0 or -errno with a message. */
int http_start(struct http *h, const struct http_source *source, struct web_config *web);

/* From now on let these users in; *web is taken over and becomes empty, its TLS is not looked at. Any thread. */
void http_set_users(struct http *h, struct web_config *web);

/* NULL is fine. */
void http_close(struct http *h);

#endif

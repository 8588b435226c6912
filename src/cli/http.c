/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which page a request gets, and the bounds of what clients may take: connections, time, memory.
 * Must not know: what is on the pages. Relies on: libmicrohttpd, one thread with epoll for each address, so that slow
 * and idle clients cost a descriptor and no more.
 */
#include "http.h"

#include <crypt.h>
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "http_accept.h"
#include "http_listen.h"
#include "message.h"

enum {
	CONNECTIONS_MAX = 512,       /* for each address; who comes beyond waits in the kernel's queue */
	CONNECTION_TIMEOUT_S = 10,   /* without a byte either way; a scrape is given up by then */
	CONNECTION_MEMORY = 16 << 10, /* of a request's head */
	GZIP_LEVEL = 1,              /* pages of numbers shrink to a sixth by the first level already */
};

#define TYPE_TEXT        "text/plain; version=0.0.4; charset=utf-8"
#define TYPE_OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define TYPE_PLAIN       "text/plain; charset=utf-8"
#define TYPE_HTML        "text/html; charset=utf-8"

/* Who was let in last: bcrypt takes 0.1 s on purpose, which nobody wants at each scrape. */
struct admitted {
	char *name;
	char hash[CRYPT_OUTPUT_SIZE]; /* of the password, by a faster rule and with a salt of our own */
};

struct http {
	struct listening listening;
	struct MHD_Daemon *daemon[LISTEN_MAX];
	char *path;
	char *index;
	struct http_source source;
	pthread_mutex_t lock; /* of what follows */
	struct web_config web;
	struct admitted admitted;
};

/* --- who may come in */

static void forget_admitted(struct http *h)
{
	free(h->admitted.name);
	h->admitted = (struct admitted){ 0 };
}

/* Under the lock. */
static bool is_admitted(struct http *h, const char *name, const char *password)
{
	struct crypt_data *data = calloc(1, sizeof(*data));
	char salt[CRYPT_GENSALT_OUTPUT_SIZE];
	const char *got = NULL;
	bool known;

	if (!data)
		return false;
	if (h->admitted.name && !strcmp(h->admitted.name, name))
		got = crypt_r(password, h->admitted.hash, data);
	known = got && !strcmp(got, h->admitted.hash);
	if (!known && web_config_admits(&h->web, name, password)) {
		known = true;
		forget_admitted(h);
		got = crypt_gensalt_rn("$5$", 1000, NULL, 0, salt, sizeof(salt)) ? crypt_r(password, salt, data) : NULL;
		if (got && got[0] != '*') {
			h->admitted.name = strdup(name);
			strncpy(h->admitted.hash, got, sizeof(h->admitted.hash) - 1);
		}
	}
	explicit_bzero(data, sizeof(*data));
	free(data);
	return known;
}

static bool may_enter(struct http *h, struct MHD_Connection *c)
{
	char *password = NULL, *name;
	bool may;

	pthread_mutex_lock(&h->lock);
	may = !h->web.n_users;
	if (!may) {
		name = MHD_basic_auth_get_username_password(c, &password);
		may = name && password && is_admitted(h, name, password);
		if (password)
			explicit_bzero(password, strlen(password));
		MHD_free(password);
		MHD_free(name);
	}
	pthread_mutex_unlock(&h->lock);
	return may;
}

/* --- answers */

static enum MHD_Result answer(struct MHD_Connection *c, unsigned status, const char *type, const char *text)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result queued;

	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, "Content-Type", type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, "Allow", "GET, HEAD");
	queued = status == MHD_HTTP_UNAUTHORIZED ? MHD_queue_basic_auth_fail_response(c, "schedwatt", r) :
						   MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return queued;
}

/* Put the compressed page in the page's place; where that fails it stays as it is. */
static bool compress_page(struct buf *page)
{
	z_stream z = { .next_in = (unsigned char *)page->data, .avail_in = (unsigned)page->len };
	struct buf packed = { 0 };

	if (deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	packed.size = deflateBound(&z, page->len);
	packed.data = malloc(packed.size);
	z.next_out = (unsigned char *)packed.data;
	z.avail_out = (unsigned)packed.size;
	if (!packed.data || deflate(&z, Z_FINISH) != Z_STREAM_END) {
		deflateEnd(&z);
		free(packed.data);
		return false;
	}
	packed.len = z.total_out;
	deflateEnd(&z);
	buf_free(page);
	*page = packed;
	return true;
}

static enum MHD_Result answer_metrics(struct http *h, struct MHD_Connection *c)
{
	bool openmetrics =
		http_accepts_openmetrics(MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT));
	bool gzip = http_accepts_gzip(MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT_ENCODING));
	struct buf page = { 0 };
	enum MHD_Result queued;
	struct MHD_Response *r;

	if (h->source.metrics(h->source.ctx, openmetrics, &page) || page.err || !page.len) {
		buf_free(&page);
		return answer(c, MHD_HTTP_INTERNAL_SERVER_ERROR, TYPE_PLAIN, "no memory for the page\n");
	}
	gzip = gzip && compress_page(&page);
	r = MHD_create_response_from_buffer(page.len, page.data, MHD_RESPMEM_MUST_FREE);
	if (!r) {
		buf_free(&page);
		return MHD_NO;
	}
	MHD_add_response_header(r, "Content-Type", openmetrics ? TYPE_OPENMETRICS : TYPE_TEXT);
	MHD_add_response_header(r, "Vary", "Accept, Accept-Encoding");
	if (gzip)
		MHD_add_response_header(r, "Content-Encoding", "gzip");
	queued = MHD_queue_response(c, MHD_HTTP_OK, r);
	MHD_destroy_response(r);
	return queued;
}

static enum MHD_Result answer_health(struct http *h, struct MHD_Connection *c)
{
	struct buf words = { 0 };
	bool healthy = h->source.healthy(h->source.ctx, &words);
	enum MHD_Result queued;

	buf_add(&words, "\n", 2); /* with its end */
	queued = answer(c, healthy ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE, TYPE_PLAIN,
			words.err ? "out of memory\n" : words.data);
	buf_free(&words);
	return queued;
}

static enum MHD_Result handle(void *ctx, struct MHD_Connection *c, const char *url, const char *method, const char *version,
			      const char *upload, size_t *upload_size, void **request)
{
	static char seen;
	struct http *h = ctx;

	(void)version;
	(void)upload;
	if (!*request) { /* only the head is there yet */
		*request = &seen;
		return MHD_YES;
	}
	if (*upload_size) { /* nobody asked for it */
		*upload_size = 0;
		return MHD_YES;
	}
	if (!may_enter(h, c))
		return answer(c, MHD_HTTP_UNAUTHORIZED, TYPE_PLAIN, "a user and a password are wanted here\n");
	if (strcmp(url, h->path) && strcmp(url, "/healthz") && strcmp(url, "/"))
		return answer(c, MHD_HTTP_NOT_FOUND, TYPE_PLAIN, "there is no such page\n");
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return answer(c, MHD_HTTP_METHOD_NOT_ALLOWED, TYPE_PLAIN, "pages can be read only: GET or HEAD\n");
	if (!strcmp(url, h->path)) /* first: it may be / */
		return answer_metrics(h, c);
	return strcmp(url, "/") ? answer_health(h, c) : answer(c, MHD_HTTP_OK, TYPE_HTML, h->index);
}

/* --- the server's life */

int http_listen(const char *const *addresses, size_t n, const char *path, struct http **ret)
{
	struct http *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	pthread_mutex_init(&h->lock, NULL);
	h->path = strdup(path);
	if (!h->path || asprintf(&h->index,
				 "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>schedwatt</title></head>"
				 "<body><h1>schedwatt</h1><p><a href=\"%s\">Metrics</a></p>"
				 "<p><a href=\"/healthz\">Health</a></p></body></html>\n", path) < 0) {
		h->index = NULL;
		http_close(h);
		return -ENOMEM;
	}
	err = listening_open(&h->listening, addresses, n);
	if (err)
		http_close(h);
	else
		*ret = h;
	return err;
}

void http_addresses(const struct http *h, struct buf *out)
{
	listening_words(&h->listening, out);
}

static struct MHD_Daemon *start_one(struct http *h, int fd)
{
	const struct web_config *w = &h->web;
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, w->cert },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, w->key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0,
		  (void *)(w->tls13_only ? "NORMAL:-VERS-ALL:+VERS-TLS1.3" : "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2") },
		{ w->client_cert_required ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0, w->client_ca },
		{ MHD_OPTION_END, 0, NULL },
	};
	struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };

	return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | (w->cert ? MHD_USE_TLS : 0), 0, NULL, NULL,
				handle, h, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
				(unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)CONNECTION_TIMEOUT_S,
				MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_ARRAY,
				w->cert ? tls : none, MHD_OPTION_END);
}

int http_start(struct http *h, const struct http_source *source, struct web_config *web)
{
	h->source = *source;
	h->web = *web;
	*web = (struct web_config){ 0 };
	for (size_t i = 0; i < h->listening.n; i++) {
		errno = 0;
		h->daemon[i] = start_one(h, h->listening.fd[i]);
		if (!h->daemon[i]) {
			int err = errno ? -errno : -EIO;

			message_error("cannot start the server%s: %s", h->web.cert ? " with this certificate and key" : "",
				      errno ? strerror(errno) : "libmicrohttpd gives no reason");
			return err;
		}
		h->listening.fd[i] = -1; /* it is the server's now */
	}
	return 0;
}

void http_set_users(struct http *h, struct web_config *web)
{
	struct web_config old;

	pthread_mutex_lock(&h->lock);
	old = h->web;
	h->web.users = web->users;
	h->web.n_users = web->n_users;
	forget_admitted(h);
	pthread_mutex_unlock(&h->lock);
	web->users = old.users;
	web->n_users = old.n_users;
	web_config_free(web);
}

void http_close(struct http *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < LISTEN_MAX; i++) {
		if (h->daemon[i])
			MHD_stop_daemon(h->daemon[i]);
	}
	listening_close(&h->listening);
	web_config_free(&h->web);
	forget_admitted(h);
	pthread_mutex_destroy(&h->lock);
	free(h->path);
	free(h->index);
	free(h);
}

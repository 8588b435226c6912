/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: addresses as users write them, and the sockets bound to them. Must not know: what is served.
 * Relies on: getaddrinfo(3), ipv6(7).
 */
#include "http_listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http.h"
#include "message.h"

enum { HOST_MAX = 256, BACKLOG = 1024 };

struct address {
	char host[HOST_MAX]; /* "": all */
	const char *port;
};

static bool is_port(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n && n <= 5 && !text[n] && atol(text) <= 65535;
}

static bool parse(const char *text, struct address *ret)
{
	const char *colon = strrchr(text, ':'), *host = text, *end = colon;

	if (!colon || !is_port(colon + 1))
		return false;
	if (host[0] == '[') {
		host++;
		end--;
		if (end < host || *end != ']')
			return false;
	} else if (memchr(host, ':', (size_t)(end - host))) {
		return false; /* an address of IPv6 has to be in brackets, or its end could be taken for a port */
	}
	if (end - host >= HOST_MAX || memchr(host, '[', (size_t)(end - host)) || memchr(host, ']', (size_t)(end - host)))
		return false;
	memcpy(ret->host, host, (size_t)(end - host));
	ret->host[end - host] = '\0';
	ret->port = colon + 1;
	return true;
}

int http_check_address(const char *address)
{
	struct address a;

	if (parse(address, &a))
		return 0;
	message_error("--listen '%s' is no address; write HOST:PORT, [HOST]:PORT for IPv6, or :PORT for all addresses of this "
		      "machine", address);
	return -EINVAL;
}

static int open_one(const struct addrinfo *a, bool both)
{
	int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol), one = 1, err;
	int v6only = !both;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    (a->ai_family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof(v6only))) ||
	    bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, BACKLOG)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static void add_words(struct listening *l, int fd)
{
	char host[NI_MAXHOST], port[NI_MAXSERV];
	struct sockaddr_storage at;
	socklen_t size = sizeof(at);

	if (getsockname(fd, (struct sockaddr *)&at, &size) ||
	    getnameinfo((struct sockaddr *)&at, size, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	buf_printf(&l->words, at.ss_family == AF_INET6 ? "%s[%s]:%s" : "%s%s:%s", l->words.len ? "," : "", host, port);
}

/* Every address that a name stands for; of ":PORT" one socket for both families, or one of IPv4 where there is no IPv6. */
static int open_all(struct listening *l, const char *text, const struct address *address, const struct addrinfo *list)
{
	bool all = !address->host[0];
	int fd = -EADDRNOTAVAIL;

	for (const struct addrinfo *a = list; a; a = a->ai_next) {
		if (l->n == LISTEN_MAX) {
			message_error("cannot listen at '%s': there are %d addresses already, which is all there can be", text,
				      LISTEN_MAX);
			return -E2BIG;
		}
		if (all && a->ai_family != AF_INET6 && fd >= 0)
			continue; /* the one of IPv6 is for both */
		fd = open_one(a, all);
		if (fd == -EAFNOSUPPORT && (a->ai_next || l->n))
			continue;
		if (fd < 0) {
			message_error("cannot listen at '%s': %s%s", text, strerror(-fd),
				      fd == -EADDRINUSE ? "; another exporter may run already, or choose a port with --listen" :
							  "");
			return fd;
		}
		l->fd[l->n++] = fd;
		add_words(l, fd);
	}
	return fd < 0 ? fd : 0;
}

static int by_family(const struct addrinfo *a)
{
	return a->ai_family == AF_INET6 ? 0 : 1;
}

/* IPv6 first. */
static void sort(struct addrinfo **list)
{
	struct addrinfo *sorted = NULL, **end, *a, *next;

	for (a = *list; a; a = next) {
		next = a->ai_next;
		for (end = &sorted; *end && by_family(*end) <= by_family(a); end = &(*end)->ai_next)
			;
		a->ai_next = *end;
		*end = a;
	}
	*list = sorted;
}

static int add_address(struct listening *l, const char *text)
{
	const struct addrinfo hints = { .ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL;
	struct address address;
	int err = http_check_address(text);

	if (err)
		return err;
	parse(text, &address);
	err = getaddrinfo(address.host[0] ? address.host : NULL, address.port, &hints, &list);
	if (err) {
		message_error("cannot listen at '%s': %s", text, err == EAI_SYSTEM ? strerror(errno) : gai_strerror(err));
		return -EADDRNOTAVAIL;
	}
	sort(&list);
	err = open_all(l, text, &address, list);
	freeaddrinfo(list);
	return err;
}

int listening_open(struct listening *l, const char *const *addresses, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = add_address(l, addresses[i]);
	return err ? err : l->words.err;
}

void listening_words(const struct listening *l, struct buf *out)
{
	buf_add(out, l->words.data, l->words.len);
}

void listening_close(struct listening *l)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->fd[i] >= 0)
			close(l->fd[i]);
	}
	buf_free(&l->words);
	*l = (struct listening){ 0 };
}

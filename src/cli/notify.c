/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the way to the service manager. Must not know: what is reported. Relies on: sd_notify(3), unix(7): a name that
 * begins with @ is an abstract one.
 */
#include "notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "message.h"

static int reach(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t n = strlen(path);
	int fd, err;

	if ((path[0] != '/' && path[0] != '@') || n < 2 || n >= sizeof(to.sun_path))
		return -EINVAL;
	memcpy(to.sun_path, path, n);
	if (path[0] == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (struct sockaddr *)&to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Microseconds, if they are meant for this process. */
static uint64_t watchdog_ns(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t us = 0;

	if (!usec || (pid && strtol(pid, NULL, 10) != getpid()))
		return 0;
	if (!usec[0] || usec[strspn(usec, "0123456789")] || strlen(usec) > 15) {
		message_error("WATCHDOG_USEC '%s' is no number of microseconds; going on without a watchdog", usec);
		return 0;
	}
	us = strtoull(usec, NULL, 10);
	return us * 1000;
}

void notify_open(struct notify *n)
{
	const char *path = getenv("NOTIFY_SOCKET");

	*n = (struct notify){ .fd = -1 };
	if (path && path[0]) {
		n->fd = reach(path);
		if (n->fd < 0)
			message_error("cannot reach the service manager at NOTIFY_SOCKET '%s': %s; going on without it", path,
				      strerror(-n->fd));
		n->fd = n->fd < 0 ? -1 : n->fd;
	}
	n->watchdog_ns = n->fd < 0 ? 0 : watchdog_ns();
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

void notify_send(const struct notify *n, const char *state)
{
	if (n->fd >= 0)
		(void)!send(n->fd, state, strlen(state), MSG_NOSIGNAL);
}

void notify_close(struct notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the netlink socket that tells of tasks that end, and the form of its messages. Must not know: whose tasks they
 * are, what is done with their time.
 * Relies on Documentation/accounting/taskstats.rst, linux/taskstats.h, linux/genetlink.h, kernel/taskstats.c. The
 * structure grows with the kernel: what is there is taken, by its length.
 */
#include "taskstats.h"

#include "../base/root.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES (32 << 20) /* of the socket: some 20,000 records between two reads */
#define RUN_SIZE (offsetof(struct taskstats, cpu_run_virtual_total) + sizeof(uint64_t))
#define BASIC_SIZE (offsetof(struct taskstats, ac_etime) + sizeof(uint64_t))
/* of version 12, which the headers of an older system do not have: behind ac_btime64 and the two of version 11 */
#define TGID_OFFSET 368
#define TGID_SIZE (TGID_OFFSET + sizeof(uint32_t))

struct sw_taskstats {
	int fd;
	bool own;
	uint64_t overruns;
	char message[16384];
};

struct span {
	const char *at, *end;
};

/* The next attribute of *in, which moves behind it: its type, or -1 (no more, or it does not fit). */
static int next_attribute(struct span *in, struct span *ret)
{
	struct nlattr a;

	if ((size_t)(in->end - in->at) < sizeof(a))
		return -1;
	memcpy(&a, in->at, sizeof(a));
	if (a.nla_len < NLA_HDRLEN || a.nla_len > in->end - in->at)
		return -1;
	*ret = (struct span){in->at + NLA_HDRLEN, in->at + a.nla_len};
	in->at += NLA_ALIGN(a.nla_len) < in->end - in->at ? NLA_ALIGN(a.nla_len) : in->end - in->at;
	return a.nla_type & NLA_TYPE_MASK;
}

static bool find_attribute(struct span in, int type, struct span *ret)
{
	int found;

	while ((found = next_attribute(&in, ret)) >= 0)
		if (found == type)
			return true;
	return false;
}

static bool take_stats(struct span in, struct sw_taskstats_record *r)
{
	size_t size = (size_t)(in.end - in.at);
	struct taskstats s = {0};
	uint32_t tgid = 0;

	if (size < BASIC_SIZE)
		return false;
	memcpy(&s, in.at, size < sizeof(s) ? size : sizeof(s));
	if (s.version >= 12 && size >= TGID_SIZE)
		memcpy(&tgid, in.at + TGID_OFFSET, sizeof(tgid));
	*r = (struct sw_taskstats_record){
		.tid = (int32_t)s.ac_pid,
		.tgid = (int32_t)tgid,
		.ppid = (int32_t)s.ac_ppid,
		.exit_code = (int32_t)s.ac_exitcode,
		.exit_known = !tgid || tgid == s.ac_pid,
		.run_ns = s.cpu_run_virtual_total,
		.elapsed_ns = s.ac_etime * 1000,
	};
	memcpy(r->comm, s.ac_comm, sizeof(r->comm));
	r->comm[sizeof(r->comm) - 1] = '\0';
	return r->tid > 0 && r->tgid >= 0 && r->ppid >= 0;
}

_Static_assert(sizeof(((struct taskstats *)0)->ac_comm) >= sizeof(((struct sw_taskstats_record *)0)->comm), "names fit");
#if TASKSTATS_VERSION >= 12
_Static_assert(offsetof(struct taskstats, ac_tgid) == TGID_OFFSET, "the place of the process's id");
#endif

/* A message has the record of a task, and after a process's last thread one of the whole, which repeats the others. */
static bool take_message(const struct nlmsghdr *h, struct sw_taskstats_record *r)
{
	struct span all = {(const char *)NLMSG_DATA(h), (const char *)h + h->nlmsg_len}, of_task, stats;
	struct genlmsghdr g;

	if (h->nlmsg_type < NLMSG_MIN_TYPE || (size_t)(all.end - all.at) < GENL_HDRLEN)
		return false;
	memcpy(&g, all.at, sizeof(g));
	all.at += GENL_HDRLEN;
	return g.cmd == TASKSTATS_CMD_NEW && find_attribute(all, TASKSTATS_TYPE_AGGR_PID, &of_task) &&
	       find_attribute(of_task, TASKSTATS_TYPE_STATS, &stats) && take_stats(stats, r);
}

static int take_datagram(struct sw_taskstats *t, size_t n,
			 int (*each)(const struct sw_taskstats_record *record, void *ctx), void *ctx)
{
	const char *at = t->message, *end = t->message + n;
	struct sw_taskstats_record record;
	int err = 0;

	while (!err && (size_t)(end - at) >= sizeof(struct nlmsghdr)) {
		const struct nlmsghdr *h = (const struct nlmsghdr *)at;
		size_t length = NLMSG_ALIGN(h->nlmsg_len);

		if (h->nlmsg_len < sizeof(*h) || h->nlmsg_len > (size_t)(end - at))
			break;
		if (take_message(h, &record))
			err = each(&record, ctx);
		at += length < (size_t)(end - at) ? length : (size_t)(end - at);
	}
	return err;
}

int sw_taskstats_read(struct sw_taskstats *t, int (*each)(const struct sw_taskstats_record *record, void *ctx), void *ctx)
{
	int err = 0;

	while (!err) {
		ssize_t n = recv(t->fd, t->message, sizeof(t->message), MSG_DONTWAIT);

		if (n > 0)
			err = take_datagram(t, (size_t)n, each, ctx);
		else if (!n || errno == EAGAIN)
			return 0;
		else if (errno == ENOBUFS)
			t->overruns++;
		else if (errno != EINTR)
			return -errno;
	}
	return err;
}

uint64_t sw_taskstats_overruns(const struct sw_taskstats *t)
{
	return t->overruns;
}

int sw_taskstats_adopt(int fd, struct sw_taskstats **ret)
{
	struct sw_taskstats *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->fd = fd;
	*ret = t;
	return 0;
}

void sw_taskstats_close(struct sw_taskstats *t)
{
	if (t && t->own && t->fd >= 0)
		close(t->fd);
	free(t);
}

/* Ask for something with one attribute and wait for the answer. Its length, or -errno, also of the kernel's own. */
static ssize_t ask(struct sw_taskstats *t, uint16_t family, uint8_t command, uint16_t attribute, const char *text)
{
	struct {
		struct nlmsghdr n;
		struct genlmsghdr g;
		struct nlattr a;
		char text[4096];
	} m = {
		.n = {.nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
		.g = {.cmd = command, .version = 1},
		.a = {.nla_type = attribute, .nla_len = (uint16_t)(NLA_HDRLEN + strlen(text) + 1)},
	};
	const struct nlmsghdr *h = (const struct nlmsghdr *)t->message;
	const struct nlmsgerr *answer = NLMSG_DATA(h);
	ssize_t n;

	if (strlen(text) >= sizeof(m.text))
		return -E2BIG;
	strcpy(m.text, text);
	m.n.nlmsg_len = (uint32_t)(offsetof(typeof(m), a) + NLA_ALIGN(m.a.nla_len));
	if (send(t->fd, &m, m.n.nlmsg_len, 0) < 0)
		return -errno;
	do
		n = recv(t->fd, t->message, sizeof(t->message), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if ((size_t)n < sizeof(*h) || h->nlmsg_len > (size_t)n)
		return -EPROTO;
	if (h->nlmsg_type != NLMSG_ERROR)
		return n;
	return n < (ssize_t)NLMSG_LENGTH(sizeof(*answer)) ? -EPROTO : answer->error;
}

/* The number that the kernel gave the family, or -errno. */
static int family_of(struct sw_taskstats *t)
{
	ssize_t n = ask(t, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME);
	struct span all = {t->message + NLMSG_HDRLEN + GENL_HDRLEN, t->message + n}, found;
	uint16_t id;

	if (n < 0)
		return (int)n;
	if (n < (ssize_t)(NLMSG_HDRLEN + GENL_HDRLEN) || !find_attribute(all, CTRL_ATTR_FAMILY_ID, &found) ||
	    (size_t)(found.end - found.at) < sizeof(id))
		return -EPROTO;
	memcpy(&id, found.at, sizeof(id));
	/* the acknowledgement that follows */
	if (recv(t->fd, t->message, sizeof(t->message), 0) < 0)
		return -errno;
	return id;
}

static int register_all(struct sw_taskstats *t)
{
	char possible[4096];
	int family, fd, err;

	family = family_of(t);
	if (family < 0)
		return family;
	fd = sw_root_open("/sys/devices/system/cpu");
	err = fd < 0 ? fd : (int)sw_file_read(fd, "possible", possible, sizeof(possible));
	if (fd >= 0)
		close(fd);
	if (err < 0)
		return err;
	possible[strcspn(possible, "\n")] = '\0';
	return (int)ask(t, (uint16_t)family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, possible);
}

static int explain(int err, struct sw_error *error)
{
	switch (err) {
	case -EPERM:
		return sw_fail(error, err, "records of tasks that end (taskstats) need CAP_NET_ADMIN");
	case -ENOENT:
		return sw_fail(error, err, "there are no records of tasks that end (taskstats): the kernel was built without "
			       "CONFIG_TASKSTATS, or this is not the host's network namespace");
	case -EINVAL:
		return sw_fail(error, err, "records of tasks that end (taskstats) are given only to the host's own user and "
			       "pid namespaces");
	default:
		return sw_fail(error, err, "records of tasks that end (taskstats) cannot be had: %s", strerror(-err));
	}
}

int sw_taskstats_open(struct sw_error *error, struct sw_taskstats **ret)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC), bytes = BUFFER_BYTES, err;
	struct sockaddr_nl address = {.nl_family = AF_NETLINK};
	struct timeval patience = {.tv_sec = 2};
	struct sw_taskstats *t;

	if (fd < 0)
		return explain(-errno, error);
	err = sw_taskstats_adopt(fd, &t);
	if (err) {
		close(fd);
		return sw_fail(error, err, "out of memory");
	}
	t->own = true;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	/* the smaller buffer of who may not has room for fewer */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	err = bind(fd, (struct sockaddr *)&address, sizeof(address)) ? -errno : register_all(t);
	if (err < 0) {
		sw_taskstats_close(t);
		return explain(err, error);
	}
	*ret = t;
	return 0;
}

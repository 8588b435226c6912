/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpu/taskstats.c: messages of kernels old and new, and such as no kernel sends; cpu/proc_exits.c: what the proc back
 * end makes of records of tasks that it has seen, and of those that came and went.
 */
#include "books.h"
#include "proc_tree.h"

#include "cpu/taskstats.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define MS 1000000ULL
#define NS 1000000000ULL

static unsigned overruns_to_come;

/* The kernel's own, but that it may have dropped something. */
ssize_t recv(int fd, void *buf, size_t size, int flags)
{
	if (!overruns_to_come)
		return syscall(SYS_recvfrom, fd, buf, size, flags, NULL, NULL);
	overruns_to_come--;
	errno = ENOBUFS;
	return -1;
}

struct message {
	char bytes[4096];
	size_t n;
};

static size_t open_attribute(struct message *m, int type)
{
	struct nlattr a = {.nla_type = (uint16_t)type};

	memcpy(m->bytes + m->n, &a, sizeof(a));
	m->n += sizeof(a);
	return m->n - sizeof(a);
}

static void close_attribute(struct message *m, size_t at)
{
	uint16_t length = (uint16_t)(m->n - at);

	memcpy(m->bytes + at, &length, sizeof(length));
	m->n = (m->n + 3) & ~(size_t)3;
}

static void add_bytes(struct message *m, const void *bytes, size_t n)
{
	memcpy(m->bytes + m->n, bytes, n);
	m->n += n;
}

/* One record as fill_pid() and its callers write it: an aggregate that has an id and the statistics. */
static void add_record(struct message *m, bool group, const struct taskstats *s, size_t size)
{
	size_t outer = open_attribute(m, group ? TASKSTATS_TYPE_AGGR_TGID : TASKSTATS_TYPE_AGGR_PID), inner;
	uint32_t id = s->ac_pid;

	inner = open_attribute(m, group ? TASKSTATS_TYPE_TGID : TASKSTATS_TYPE_PID);
	add_bytes(m, &id, sizeof(id));
	close_attribute(m, inner);
	inner = open_attribute(m, TASKSTATS_TYPE_NULL); /* aligns what follows, since Linux 2.6.38 */
	close_attribute(m, inner);
	inner = open_attribute(m, TASKSTATS_TYPE_STATS);
	add_bytes(m, s, size);
	close_attribute(m, inner);
	close_attribute(m, outer);
}

static void begin_message(struct message *m)
{
	struct nlmsghdr n = {.nlmsg_type = 31};
	struct genlmsghdr g = {.cmd = TASKSTATS_CMD_NEW, .version = 1};

	m->n = 0;
	add_bytes(m, &n, sizeof(n));
	add_bytes(m, &g, sizeof(g));
}

static void send_message(int fd, struct message *m)
{
	uint32_t length = (uint32_t)m->n;

	memcpy(m->bytes, &length, sizeof(length));
	assert_int_equal(send(fd, m->bytes, m->n, 0), m->n);
}

static struct taskstats stats_of(int tid, int tgid, int ppid, uint64_t run_ns)
{
	struct taskstats s = {.version = 13, .ac_pid = (uint32_t)tid, .ac_ppid = (uint32_t)ppid, .ac_tgid = (uint32_t)tgid,
			      .cpu_run_virtual_total = run_ns, .ac_etime = 2000, .ac_exitcode = 3 << 8};

	strcpy(s.ac_comm, "gone");
	return s;
}

static void send_record(int fd, int tid, int tgid, int ppid, uint64_t run_ns)
{
	struct taskstats s = stats_of(tid, tgid, ppid, run_ns);
	struct message m;

	begin_message(&m);
	add_record(&m, false, &s, sizeof(s));
	send_message(fd, &m);
}

/* --- messages */

struct list {
	struct sw_taskstats_record r[16];
	unsigned n;
};

static int keep(const struct sw_taskstats_record *r, void *ctx)
{
	struct list *l = ctx;

	assert_true(l->n < 16);
	l->r[l->n++] = *r;
	return 0;
}

static void a_pair(int fds[2], struct sw_taskstats **t)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(sw_taskstats_adopt(fds[0], t), 0);
}

static void records(void **state)
{
	struct taskstats s = stats_of(201, 200, 100, 7 * MS);
	struct sw_taskstats *t;
	struct list l = {.n = 0};
	struct message m;
	int fds[2];

	(void)state;
	a_pair(fds, &t);
	assert_int_equal(sw_taskstats_read(t, keep, &l), 0);
	assert_int_equal(l.n, 0);
	send_record(fds[1], 200, 200, 100, 5 * MS);
	/* the last thread of a process: the group's record follows, and is no task's */
	begin_message(&m);
	add_record(&m, false, &s, sizeof(s));
	s.cpu_run_virtual_total = 12 * MS;
	add_record(&m, true, &s, sizeof(s));
	send_message(fds[1], &m);
	begin_message(&m);
	add_record(&m, true, &s, sizeof(s));
	send_message(fds[1], &m);
	assert_int_equal(sw_taskstats_read(t, keep, &l), 0);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.r[0].tid, 200);
	assert_int_equal(l.r[0].tgid, 200);
	assert_int_equal(l.r[0].ppid, 100);
	assert_int_equal(l.r[0].run_ns, 5 * MS);
	assert_int_equal(l.r[0].elapsed_ns, 2 * MS);
	assert_int_equal(l.r[0].exit_code, 3 << 8);
	assert_true(l.r[0].exit_known);
	assert_string_equal(l.r[0].comm, "gone");
	assert_int_equal(l.r[1].tid, 201);
	assert_int_equal(l.r[1].tgid, 200);
	assert_int_equal(l.r[1].run_ns, 7 * MS);
	assert_false(l.r[1].exit_known);
	assert_int_equal(sw_taskstats_overruns(t), 0);
	sw_taskstats_close(t);
	close(fds[0]);
	close(fds[1]);
}

/* Shorter structures of older kernels, longer ones of newer. */
static void versions(void **state)
{
	struct taskstats s = stats_of(201, 200, 100, 7 * MS);
	char newer[sizeof(s) + 64] = {0};
	struct sw_taskstats *t;
	struct list l = {.n = 0};
	struct message m;
	int fds[2];

	(void)state;
	a_pair(fds, &t);
	s.version = 8;
	begin_message(&m);
	add_record(&m, false, &s, 328);
	send_message(fds[1], &m);
	s.version = 16;
	memcpy(newer, &s, sizeof(s));
	begin_message(&m);
	add_record(&m, false, (struct taskstats *)newer, sizeof(newer));
	send_message(fds[1], &m);
	assert_int_equal(sw_taskstats_read(t, keep, &l), 0);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.r[0].tid, 201);
	assert_int_equal(l.r[0].tgid, 0);
	assert_int_equal(l.r[1].tgid, 200);
	sw_taskstats_close(t);
	close(fds[0]);
	close(fds[1]);
}

/* Cut anywhere, or with lengths that lie: passed over, and the next one is read. */
static void broken(void **state)
{
	struct taskstats s = stats_of(200, 200, 100, 5 * MS);
	struct sw_taskstats *t;
	struct list l;
	struct message m;
	int fds[2];

	(void)state;
	a_pair(fds, &t);
	for (size_t cut = 1; cut < sizeof(s) + 40; cut += 7) {
		begin_message(&m);
		add_record(&m, false, &s, sizeof(s));
		m.n -= cut;
		send_message(fds[1], &m);
		send_record(fds[1], 300, 300, 100, MS);
		l.n = 0;
		assert_int_equal(sw_taskstats_read(t, keep, &l), 0);
		assert_int_equal(l.n, 1);
		assert_int_equal(l.r[0].tid, 300);
	}
	for (size_t at = 0; at < 60; at += 2) {
		static const uint16_t lies[] = {0, 1, 3, 65535};

		for (unsigned i = 0; i < 4; i++) {
			begin_message(&m);
			add_record(&m, false, &s, sizeof(s));
			*(uint32_t *)m.bytes = (uint32_t)m.n;
			memcpy(m.bytes + at, &lies[i], 2);
			assert_int_equal(send(fds[1], m.bytes, m.n, 0), m.n);
			l.n = 0;
			assert_int_equal(sw_taskstats_read(t, keep, &l), 0);
			assert_true(l.n <= 1);
		}
	}
	assert_int_equal(send(fds[1], "x", 1, 0), 1);
	overruns_to_come = 2;
	send_record(fds[1], 300, 300, 100, MS);
	l.n = 0;
	assert_int_equal(sw_taskstats_read(t, keep, &l), 0);
	assert_int_equal(l.n, 1);
	assert_int_equal(sw_taskstats_overruns(t), 2);
	sw_taskstats_close(t);
	sw_taskstats_close(NULL);
	close(fds[0]);
	close(fds[1]);
}

/* --- what becomes of them */

struct machine {
	struct tree *t;
	struct books k;
	int fds[2];
};

static void open_machine(struct machine *m, struct tree *t, int32_t pid)
{
	static const int16_t domain_of[2];
	struct sw_cpu_config config = {.domain_of = domain_of, .n_cpus = 2, .n_domains = 1, .pids = &pid,
				       .n_pids = pid ? 1 : 0, .procfs_fd = t->fd, .taskstats_fd = m->fds};
	struct sw_cpu_backend *b = NULL;
	struct sw_error error = {""};

	m->t = t;
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, m->fds), 0);
	tree_write(t, "stat", "cpu0 0 0 0 0\ncpu1 0 0 0 0\n");
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .schedstat_ns = 1 * MS});
	fake_process(t, (struct fake_task){.tid = 150, .ppid = 100, .start = 8, .schedstat_ns = 2 * MS});
	if (sw_cpu_proc.open(&config, &error, &b))
		fail_msg("cannot open: %s", error.text);
	books_begin(&m->k, b, 1);
	books_at(&m->k, 1 * NS);
}

static void close_machine(struct machine *m)
{
	books_end(&m->k);
	close(m->fds[0]);
	close(m->fds[1]);
}

/* Came and went: by the parent, by its process, by a parent whose own record comes later. Strangers are not ours. */
static void unseen(void **state)
{
	struct machine m;

	open_machine(&m, *state, 100);
	send_record(m.fds[1], 203, 203, 202, 30 * MS); /* whose parent follows */
	send_record(m.fds[1], 200, 200, 100, 5 * MS);
	send_record(m.fds[1], 202, 202, 200, 20 * MS);
	send_record(m.fds[1], 205, 204, 150, 3 * MS); /* a thread before its leader */
	send_record(m.fds[1], 204, 204, 150, 4 * MS);
	send_record(m.fds[1], 900, 900, 1, 50 * MS);
	send_record(m.fds[1], 901, 901, 900, 60 * MS);
	books_at(&m.k, 2 * NS);
	assert_int_equal(books_ns(&m.k, 200), 5 * MS);
	assert_int_equal(books_ns(&m.k, 202), 20 * MS);
	assert_int_equal(books_ns(&m.k, 203), 30 * MS);
	assert_int_equal(books_ns(&m.k, 204), 4 * MS);
	assert_int_equal(books_ns(&m.k, 205), 3 * MS);
	assert_null(books_find(&m.k, 900));
	assert_null(books_find(&m.k, 901));
	for (unsigned i = 0; i < m.k.n_tasks; i++) {
		struct book *t = &m.k.tasks[i];

		assert_true(t->first == 1 && t->last == 1 && t->died == 1);
		assert_int_equal(t->task.process_ended, t->tid != 205);
		assert_string_equal(t->task.comm, "gone");
	}
	assert_int_equal(books_find(&m.k, 205)->tgid, 204);
	assert_int_equal(books_find(&m.k, 205)->task.leader_start_boottime_ns, books_find(&m.k, 204)->start_ns);
	assert_int_equal(books_find(&m.k, 203)->task.ppid, 202);
	assert_true(books_find(&m.k, 203)->task.exit_known);
	assert_int_equal(books_find(&m.k, 203)->task.exit_code, 3 << 8);
	assert_int_equal(m.k.usage->exits, 5);
	assert_int_equal(m.k.usage->exits_ns, 62 * MS);
	assert_int_equal(m.k.usage->members_lost, 0);
	books_at(&m.k, 3 * NS);
	assert_int_equal(m.k.usage->n_rows, 0);
	assert_int_equal(m.k.usage->exits, 5);
	/* the parent's record comes a read later */
	send_record(m.fds[1], 301, 301, 300, 6 * MS);
	books_at(&m.k, 4 * NS);
	assert_null(books_find(&m.k, 301));
	send_record(m.fds[1], 300, 300, 100, 5 * MS);
	books_at(&m.k, 5 * NS);
	assert_int_equal(books_ns(&m.k, 301), 6 * MS);
	assert_int_equal(books_ns(&m.k, 300), 5 * MS);
	/* dropped: at least one more each time */
	overruns_to_come = 2;
	books_at(&m.k, 6 * NS);
	assert_int_equal(m.k.usage->members_lost, 2);
	close_machine(&m);
}

/* What was read of it before is not counted again, and a record never takes anything back. */
static void seen(void **state)
{
	struct machine m;

	open_machine(&m, *state, 100);
	fake_process(m.t, (struct fake_task){.tid = 150, .ppid = 100, .start = 8, .schedstat_ns = 12 * MS});
	books_at(&m.k, 2 * NS);
	assert_int_equal(books_ns(&m.k, 150), 10 * MS);
	/* it is still there, and dies: no time until it is seen to be gone */
	send_record(m.fds[1], 150, 150, 100, 19 * MS);
	books_at(&m.k, 3 * NS);
	assert_int_equal(books_ns(&m.k, 150), 10 * MS);
	assert_int_equal(books_find(&m.k, 150)->died, 0);
	fake_gone(m.t, "150");
	books_at(&m.k, 4 * NS);
	assert_int_equal(books_ns(&m.k, 150), 17 * MS);
	assert_int_equal(books_find(&m.k, 150)->died, 1);
	assert_true(books_find(&m.k, 150)->task.exit_known);
	assert_int_equal(books_find(&m.k, 150)->task.exit_code, 3 << 8);
	assert_int_equal(m.k.usage->exits, 0);
	/* a zombie's own number is final */
	fake_process(m.t, (struct fake_task){.tid = 160, .ppid = 100, .start = 300, .schedstat_ns = 9 * MS, .state = 'Z'});
	send_record(m.fds[1], 160, 160, 100, 7 * MS);
	books_at(&m.k, 5 * NS);
	assert_int_equal(books_ns(&m.k, 160), 9 * MS);
	assert_int_equal(books_find(&m.k, 160)->died, 1);
	assert_true(books_find(&m.k, 160)->task.exit_known);
	fake_gone(m.t, "160");
	books_at(&m.k, 6 * NS);
	assert_int_equal(books_ns(&m.k, 160), 9 * MS);
	assert_int_equal(m.k.usage->exits, 0);
	close_machine(&m);
}

/* What records leave out is in what the parent waited for, and is shared among those that ended. */
static void rest_of_exits(void **state)
{
	struct machine m;

	open_machine(&m, *state, 100);
	send_record(m.fds[1], 200, 200, 100, 5 * MS);
	send_record(m.fds[1], 201, 201, 100, 7 * MS);
	send_record(m.fds[1], 202, 202, 201, 8 * MS); /* waited for by 201 */
	fake_process(m.t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .schedstat_ns = 1 * MS, .cutime = 5});
	books_at(&m.k, 2 * NS);
	assert_int_equal(books_ns(&m.k, 200), 15 * MS);
	assert_int_equal(books_ns(&m.k, 201), 17 * MS);
	assert_int_equal(books_ns(&m.k, 202), 18 * MS);
	assert_int_equal(books_ns(&m.k, 100), 0);
	assert_int_equal(m.k.usage->exits, 3);
	assert_int_equal(m.k.usage->exits_ns, 50 * MS);
	assert_int_equal(m.k.usage->members_lost, 0);
	close_machine(&m);
}

/* Threads that came and went within a process that lives: of its own time, not more. */
static void unseen_threads(void **state)
{
	struct machine m;

	open_machine(&m, *state, 0);
	fake_process(m.t, (struct fake_task){.tid = 150, .ppid = 100, .start = 8, .schedstat_ns = 2 * MS, .num_threads = 2});
	fake_thread(m.t, 150, (struct fake_task){.tid = 151, .ppid = 100, .start = 9, .schedstat_ns = 4 * MS});
	send_record(m.fds[1], 152, 150, 100, 6 * MS);
	books_at(&m.k, 2 * NS);
	assert_int_equal(books_ns(&m.k, 151), 4 * MS);
	assert_int_equal(books_ns(&m.k, 152), 6 * MS);
	assert_int_equal(books_find(&m.k, 152)->died, 1);
	assert_false(books_find(&m.k, 152)->task.process_ended);
	assert_int_equal(books_find(&m.k, 152)->task.leader_start_boottime_ns, 80 * MS);
	/* of the whole host everybody is a member */
	send_record(m.fds[1], 900, 900, 1, 50 * MS);
	books_at(&m.k, 3 * NS);
	assert_int_equal(books_ns(&m.k, 900), 50 * MS);
	assert_int_equal(m.k.usage->exits, 2);
	close_machine(&m);
}

#define machine_test(fn) cmocka_unit_test_setup_teardown(fn, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records), cmocka_unit_test(versions), cmocka_unit_test(broken),
		machine_test(unseen), machine_test(seen), machine_test(rest_of_exits), machine_test(unseen_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

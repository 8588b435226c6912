/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what belongs to a tree although it is no child of the usual kind, and a table that is too small.
 * Relies on: io_uring_setup(2), io_uring_enter(2): a request with IOSQE_ASYNC is worked off by a thread of the kernel's
 * that belongs to the process.
 */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_SIZE = 1 << 20, DEPTH = 4, SLEEPERS = 200 };

struct ring {
	int fd;
	uint8_t *rings;
	struct io_uring_sqe *sqes;
	struct io_uring_params p;
};

static int ring_open(struct ring *r)
{
	size_t size, cq_size;

	memset(r, 0, sizeof(*r));
	r->fd = syscall(SYS_io_uring_setup, DEPTH, &r->p);
	if (r->fd < 0)
		return -errno;
	if (!(r->p.features & IORING_FEAT_SINGLE_MMAP))
		return -ENOSYS;
	size = r->p.sq_off.array + r->p.sq_entries * sizeof(uint32_t);
	cq_size = r->p.cq_off.cqes + r->p.cq_entries * sizeof(struct io_uring_cqe);
	r->rings = mmap(NULL, size > cq_size ? size : cq_size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
			IORING_OFF_SQ_RING);
	r->sqes = mmap(NULL, r->p.sq_entries * sizeof(*r->sqes), PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
		       IORING_OFF_SQES);
	return r->rings == MAP_FAILED || r->sqes == MAP_FAILED ? -errno : 0;
}

/* One read in a worker thread, and wait for it. */
static bool ring_read(struct ring *r, int fd, void *to, size_t size)
{
	uint32_t *tail = (uint32_t *)(r->rings + r->p.sq_off.tail), *array = (uint32_t *)(r->rings + r->p.sq_off.array);
	uint32_t *done = (uint32_t *)(r->rings + r->p.cq_off.head), i = *tail & (r->p.sq_entries - 1);

	r->sqes[i] = (struct io_uring_sqe){
		.opcode = IORING_OP_READ,
		.flags = IOSQE_ASYNC,
		.fd = fd,
		.addr = (uintptr_t)to,
		.len = size,
	};
	array[i] = i;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return false;
	__atomic_store_n(done, *done + 1, __ATOMIC_RELEASE); /* how much came does not matter */
	return true;
}

/* The ring and its worker come to life only after the start, in a child of the tree's root. */
static void read_random(void *go)
{
	void *to = mmap(NULL, READ_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/dev/urandom", O_RDONLY), status;
	struct ring ring;
	pid_t pid;

	await(go);
	pid = fork();
	if (!pid) {
		alarm(60);
		if (ring_open(&ring))
			_exit(2);
		while (process_cpu_ns(0) < NS_PER_S / 2)
			if (!ring_read(&ring, fd, to, READ_SIZE))
				_exit(3);
		_exit(0);
	}
	_exit(waitpid(pid, &status, 0) == pid && !status ? 0 : 1);
}

static void io_uring_workers(void **state)
{
	volatile uint32_t *go = shared(sizeof(*go));
	struct ring probe;
	struct sw_cpu_config config = {0};
	uint64_t workers_ns = 0, total_ns = 0, before_ns;
	unsigned workers = 0;
	struct record *r;
	struct ended e;
	pid_t pid;
	int err = ring_open(&probe);

	(void)state;
	if (probe.fd >= 0)
		close(probe.fd);
	if (err)
		skip_because("io_uring cannot be used here: %s", strerror(-err));
	pid = start(read_random, (void *)go);
	config.pids = &pid;
	config.n_pids = 1;
	r = record_open(&config);
	record_begin(r);
	before_ns = process_cpu_ns(pid);
	*go = 1;
	while (runs(pid))
		record_window(r, 20 * NS_PER_MS);
	e = finish(pid, 0);
	record_window(r, 20 * NS_PER_MS);
	assert_int_equal(e.status, 0);
	for (const struct identity *i = r->identities; i; i = i->hh.next) {
		total_ns += i->oncpu_ns;
		if (strncmp(i->comm, "iou-wrk", 7))
			continue;
		workers++;
		workers_ns += i->oncpu_ns;
		assert_int_not_equal(i->id.tid, i->id.tgid);
	}
	print_message("# %u workers have %.3f ms\n", workers, workers_ns / 1e6);
	record_assert_exact(r);
	assert_int_equal(r->members_lost, 0);
	assert_true(workers > 0);
	assert_true(workers_ns > total_ns / 2);
	assert_true(record_matches(r, "tree", total_ns, e.cpu_ns - before_ns, e.switches, 10));
}

/* --- 200 sleepers in a table of 64 */

static volatile uint32_t *wake;

static void wakes_now_and_then(void *unused)
{
	(void)unused;
	while (!*wake) {
		burn(100000);
		nap(5 * NS_PER_MS);
	}
}

static unsigned slots_of(struct record *r, const pid_t *pids, unsigned n)
{
	unsigned sum = 0, own;

	for (unsigned i = 0; i < n; i++) {
		record_slots(r, &own, pids[i]);
		sum += own;
	}
	return sum;
}

static void slots_exhausted(void **state)
{
	struct sw_cpu_config config = {.slots = 64};
	struct record *r = record_open(&config);
	uint64_t had_ns = 0, own_ns = 0, lost_before;
	unsigned held, left, listed = 0, got = 0;
	pid_t pids[SLEEPERS], fresh[16];

	(void)state;
	wake = shared(sizeof(*wake));
	assert_int_equal(r->b->max_keys, 64);
	record_begin(r);
	record_windows(r, 3, 20 * NS_PER_MS);
	if (record_slots(r, &left, 0) > 40)
		skip_because("other tasks of this machine fill the table already");
	for (int i = 0; i < SLEEPERS; i++)
		pids[i] = start(wakes_now_and_then, NULL);
	record_windows(r, 20, 20 * NS_PER_MS);
	held = slots_of(r, pids, SLEEPERS);
	*wake = 1;
	for (int i = 0; i < SLEEPERS; i++) {
		struct ended e = finish(pids[i], 0);

		assert_int_equal(e.status, 0);
		own_ns += e.cpu_ns;
		if (i % 20 == 19)
			record_window(r, 10 * NS_PER_MS);
	}
	record_windows(r, 3, 10 * NS_PER_MS);
	left = slots_of(r, pids, SLEEPERS);
	for (int i = 0; i < SLEEPERS; i++) {
		uint64_t ns = record_process_ns(r, pids[i]);

		had_ns += ns;
		listed += ns > 0;
	}
	print_message("# %u of %d have a row, held %u slots, then %u; they have %.3f of %.3f ms, lost to slots %.3f\n",
		      listed, SLEEPERS, held, left, had_ns / 1e6, own_ns / 1e6, r->sum.lost_slots_ns / 1e6);
	record_assert_exact(r);
	assert_true(held > 10);
	assert_true(listed < SLEEPERS);
	assert_int_equal(left, 0);
	assert_true(r->sum.lost_slots_ns > 0);
	/* nothing has vanished: what rows lack is in the losses (which hold other tasks' time, too) */
	assert_true(had_ns + record_lost_ns(r) >= own_ns - own_ns / 20);
	assert_true(had_ns <= own_ns + own_ns / 20 + record_stolen_ns(r));

	/* and the slots are there for others */
	lost_before = r->sum.lost_slots_ns;
	*wake = 0;
	for (int i = 0; i < 16; i++)
		fresh[i] = start(wakes_now_and_then, NULL);
	record_windows(r, 5, 20 * NS_PER_MS);
	*wake = 1;
	for (int i = 0; i < 16; i++)
		finish(fresh[i], 0);
	record_windows(r, 2, 10 * NS_PER_MS);
	for (int i = 0; i < 16; i++)
		got += record_process_ns(r, fresh[i]) > 0;
	print_message("# of 16 that came later %u have a row; lost to slots %.3f ms more\n", got,
		      (r->sum.lost_slots_ns - lost_before) / 1e6);
	assert_true(got >= 8);
	record_assert_exact(r);
}

/* In a tree the members that find no slot are counted, and their time is that of others. */
static void slots_exhausted_in_tree(void **state)
{
	pid_t pids[SLEEPERS], parent = getpid();
	struct sw_cpu_config config = {.slots = 64, .pids = &parent, .n_pids = 1};
	struct record *r = record_open(&config);
	unsigned listed = 0;

	(void)state;
	wake = shared(sizeof(*wake));
	record_begin(r);
	for (int i = 0; i < SLEEPERS; i++)
		pids[i] = start(wakes_now_and_then, NULL);
	record_windows(r, 20, 20 * NS_PER_MS);
	*wake = 1;
	for (int i = 0; i < SLEEPERS; i++)
		finish(pids[i], 0);
	record_windows(r, 2, 20 * NS_PER_MS);
	for (int i = 0; i < SLEEPERS; i++)
		listed += record_process_ns(r, pids[i]) > 0;
	print_message("# %u of %d have a row, %llu were not marked\n", listed, SLEEPERS,
		      (unsigned long long)r->members_lost);
	record_assert_exact(r);
	assert_true(listed > 0 && listed < SLEEPERS);
	assert_int_equal(listed + r->members_lost, SLEEPERS);
	assert_int_equal(slots_of(r, pids, SLEEPERS), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		live_test(io_uring_workers),
		live_test(slots_exhausted),
		live_test(slots_exhausted_in_tree),
	};

	(void)argc;
	return live_run(tests);
}

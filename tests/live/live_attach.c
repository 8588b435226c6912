/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: attaching to trees that live, and change while their members are looked for: nobody is missed, nor is anybody
 * else in.
 * Relies on: puppet.h; the back end's seam at_task(), which is called exactly between two steps of its scan.
 */
#include "puppet.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROOT, FIRST = 1, OLD = 40, ROUNDS = 10, TREE = 200 };

static struct puppet *puppet;
static struct record *record;
static int next;  /* the first puppet that is not there yet */
static bool done[PUPPETS];
static struct {
	unsigned from_seen, from_unseen; /* children made in mid-scan, by whether it had passed their parent */
	unsigned low, orphans;
	unsigned tasks; /* that the scan told of */
} scan;

static struct record *attach(void (*at_task)(int32_t tid, void *ctx))
{
	struct sw_cpu_config config = {.pids = &puppet[ROOT].tgid, .n_pids = 1, .at_task = at_task};

	memset(&scan, 0, sizeof(scan));
	memset(done, 0, sizeof(done));
	return record_open(&config);
}

/* All burn, in a window of their own. How many of `in` have no row, and how many outside of it have one? */
static void check_members(const bool *in, pid_t storm)
{
	unsigned members = 0, missing = 0, outside = 0, others = 0;

	record_begin(record);
	puppet_burn_all(300000);
	record_window(record, 5 * NS_PER_MS);
	for (int i = 0; i < PUPPETS; i++) {
		struct identity *id = puppet_alive(i) ? record_find(record, puppet[i].tid) : NULL;

		if (!puppet_alive(i))
			continue;
		members += in[i];
		others += !in[i];
		if (in[i] && (!id || id->id.tgid != puppet[i].tgid)) {
			missing++;
			print_message("# puppet %d (thread %d of %d, parent %d) has no row\n", i, puppet[i].tid,
				      puppet[i].tgid, parent_of(puppet[i].tgid));
		} else if (!in[i] && id) {
			outside++;
			print_message("# puppet %d (thread %d of %d) is outside, but has a row\n", i, puppet[i].tid,
				      puppet[i].tgid);
		}
	}
	for (const struct identity *i = record->identities; i; i = i->hh.next)
		if (!puppet_owns(i->id.tgid) && (!storm || i->ppid != storm)) {
			outside++;
			print_message("# %s, process %d of %d, is outside, but has a row\n", i->comm, i->id.tgid,
				      i->ppid);
		}
	print_message("# %u members and %u others, %u missing, %u too many; %u tasks scanned, %llu not marked\n",
		      members, others, missing, outside, scan.tasks, (unsigned long long)record->members_lost);
	assert_int_equal(missing, 0);
	assert_int_equal(outside, 0);
	assert_int_equal(record->members_lost, 0);
	assert_true(record->usage->n_rows > 0);
	record_assert_exact(record);
}

/* --- forks in mid-scan */

/* Puppet i makes a child, which (`orphan`) makes one and goes, so that its own child leads to the tree no more. */
static void fork_now(int i, int32_t at, bool seen, bool low, bool orphan)
{
	pid_t set_tid = low ? free_tid_below(at) : 0;

	puppet_fork(i, next++, set_tid);
	scan.low += puppet[next - 1].tid < at;
	*(seen ? &scan.from_seen : &scan.from_unseen) += 1;
	if (!orphan)
		return;
	set_tid = low ? 0 : free_tid_below(at); /* on the other side */
	puppet_fork(next - 1, next, set_tid);
	puppet_exit(next - 1);
	next++;
	scan.orphans++;
}

/* At each of the first members, one that the scan has passed and one that it has not come to fork. */
static void forks_in_scan(int32_t tid, void *ctx)
{
	static int before;
	int at = puppet_of(tid);

	(void)ctx;
	scan.tasks++;
	if (at < FIRST || at >= OLD || done[at])
		return;
	if (before) /* the scan has passed it */
		fork_now(before, tid, true, at % 2, at % 3 == 0);
	done[at] = true;
	before = at;
	for (int i = FIRST; i < OLD; i++)
		if (!done[i] && puppet[i].tid > tid) {
			fork_now(i, tid, false, at % 2 == 0, at % 3 == 1);
			break;
		}
}

static void forks_in_mid_scan(void **state)
{
	bool in[PUPPETS];

	(void)state;
	puppet = puppets();
	puppet_root(ROOT);
	for (next = FIRST; next < OLD; next++)
		if (next % 5 == 4)
			puppet_thread(next - 1, next);
		else
			puppet_fork(next % 5 ? next - 1 : ROOT, next, 0);
	start(fork_storm, NULL);
	record = attach(forks_in_scan);
	print_message("# in mid-scan %u children of members that were passed, %u of such as were not, %u of them behind"
		      " the scan, %u orphaned at once\n", scan.from_seen, scan.from_unseen, scan.low, scan.orphans);
	assert_true(scan.from_seen > 5 && scan.from_unseen > 5 && scan.low > 5 && scan.orphans > 5);
	memset(in, true, sizeof(in));
	check_members(in, 0);
	puppets_end(ROOT);
}

/* --- orphans in mid-scan */

enum { MANY = 150, HEADS = 6 };

static int head[HEADS];
static int orphan_at; /* which puppet the scan has just looked at when they go; -1: the first task of all */

static int family(int parent, unsigned children)
{
	int first = next;

	for (unsigned i = 0; i < children; i++)
		puppet_fork(parent, next++, 0);
	return first;
}

static void plant(void)
{
	int child;

	puppet = puppets();
	next = FIRST;
	puppet_root(ROOT);
	for (int i = 0; i < HEADS; i++)
		puppet_fork(ROOT, head[i] = next++, 0);
	/* 0: children and grandchildren; 1: of one thread, which goes alone; 2: of the main thread, which goes alone */
	child = family(head[0], 3);
	family(child, 2);
	family(child + 1, 2);
	puppet_thread(head[1], child = next++);
	family(child, 3);
	puppet_thread(head[2], next++);
	family(head[2], 3);
	/* 3: of one that goes below a subreaper, which goes, too; 4: likewise, but the subreaper stays; 5: many */
	for (int i = 3; i < 5; i++) {
		puppet_subreaper(head[i]);
		puppet_fork(head[i], child = next++, 0);
		family(child, 3);
	}
	family(head[5], MANY);
}

static void orphan_all(void)
{
	puppet_exit(head[0]);
	puppet_exit(head[0] + HEADS);     /* its first child, who has children */
	puppet_leave(head[1] + HEADS + 6); /* the thread */
	puppet_leave(head[2]);
	for (int i = 3; i < 5; i++)
		for (int k = 0; k < next; k++)
			if (puppet_alive(k) && parent_of(puppet[k].tgid) == puppet[head[i]].tgid) {
				puppet_exit(k);
				break;
			}
	puppet_exit(head[3]);
	puppet_exit(head[5]);
}

static void orphans_in_scan(int32_t tid, void *ctx)
{
	(void)ctx;
	scan.tasks++;
	if (done[0] || (orphan_at >= 0 && puppet[orphan_at].tid != tid))
		return;
	done[0] = true;
	orphan_all();
	for (int i = 0; i < next; i++)
		scan.orphans += puppet_alive(i) && puppet[i].tid == puppet[i].tgid && i != ROOT &&
				parent_of(puppet[i].tgid) == getpid();
}

static void orphans(int at)
{
	bool in[PUPPETS];

	plant();
	orphan_at = at;
	record = attach(orphans_in_scan);
	print_message("# in mid-scan %u came to lead to the tree no more\n", scan.orphans);
	assert_true(scan.orphans >= MANY + 6);
	memset(in, true, sizeof(in));
	check_members(in, 0);
	puppets_end(ROOT);
}

static void orphans_before_the_scan_comes(void **state)
{
	(void)state;
	orphans(-1);
}

static void orphans_when_the_root_is_passed(void **state)
{
	(void)state;
	orphans(ROOT);
}

static void orphans_when_their_parents_are_passed(void **state)
{
	(void)state;
	orphans(FIRST + HEADS - 1); /* the last head: all heads are behind, their children are to come */
}

/* --- random trees */

static uint64_t seed;

static unsigned any(unsigned n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % n;
}

static int any_alive(void)
{
	int i;

	do
		i = any(next);
	while (!puppet_alive(i));
	return i;
}

/* How many were made by the double fork. */
static unsigned grow(void)
{
	unsigned daemons = 0;

	puppet_root(ROOT);
	for (next = FIRST; next < TREE;) {
		int parent = any_alive();
		unsigned what = any(100);

		if (what < 20) {
			puppet_thread(parent, next++);
		} else if (what < 35) {
			puppet_fork(parent, next, 0);
			puppet_fork(next, next + 1, 0);
			puppet_exit(next);
			next += 2;
			daemons++;
		} else {
			puppet_fork(parent, next++, 0);
		}
		if (any(8) == 0)
			puppet_subreaper(next - 1);
	}
	for (int i = 0; i < 8; i++) {
		int gone = any_alive();

		if (puppet[gone].tgid != puppet[ROOT].tgid)
			i % 2 ? puppet_exit(gone) : puppet_leave(gone);
	}
	return daemons;
}

/* By the kernel's own chain of parents. */
static bool reaches_root(pid_t pid)
{
	while (pid > 1 && pid != puppet[ROOT].tgid && pid != getpid())
		pid = parent_of(pid);
	return pid == puppet[ROOT].tgid;
}

static void random_trees(void **state)
{
	unsigned strangers = 0, adopted = 0, daemons = 0;
	bool in[PUPPETS];

	(void)state;
	seed = getenv("LIVE_SEED") ? strtoull(getenv("LIVE_SEED"), NULL, 10) : (uint64_t)time(NULL);
	print_message("# LIVE_SEED=%llu\n", (unsigned long long)seed);
	puppet = puppets();
	for (int round = 0; round < ROUNDS; round++) {
		pid_t storm;

		daemons += grow();
		for (int i = 0; i < next; i++) {
			in[i] = puppet_alive(i) && reaches_root(puppet[i].tgid);
			strangers += puppet_alive(i) && !in[i];
			adopted += in[i] && puppet[i].tid == puppet[i].tgid && i != ROOT &&
				   parent_of(puppet[i].tgid) != puppet[i].maker;
		}
		storm = start(fork_storm, NULL);
		puppet_storm(ROOT, next++);
		record = attach(NULL);
		check_members(in, puppet[next - 1].tgid);
		record_close(record);
		finish(storm, SIGKILL);
		puppets_end(ROOT);
	}
	print_message("# %u daemons made; of those without their parents %u led to the root still; %u of all did not\n",
		      daemons, adopted, strangers);
	assert_true(strangers > 0);
	assert_true(adopted > 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		live_test(forks_in_mid_scan),
		live_test(orphans_before_the_scan_comes),
		live_test(orphans_when_the_root_is_passed),
		live_test(orphans_when_their_parents_are_passed),
		live_test(random_trees),
	};

	(void)argc;
	return live_run(tests);
}

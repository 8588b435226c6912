/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: time by cgroup, against the kernel's own account of it, and the names of cgroups however short they live.
 * Relies on: cpu.stat of cgroup v2, which leaves interrupts and stolen time out; see groups.h.
 */
#include "groups.h"
#include "ways.h"

#include "base/clock.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_NS (NS_PER_S / sysconf(_SC_CLK_TCK))
#define LAG_NS 25000

static struct record *watch(void)
{
	struct sw_cpu_config config = {0};
	struct record *r = record_open(&config);

	record_begin(r);
	return r;
}

/* Stop them, and wait until they stand. */
static void halt(const pid_t *pids, unsigned n)
{
	siginfo_t info;

	for (unsigned i = 0; i < n; i++)
		assert_int_equal(kill(pids[i], SIGSTOP), 0);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(waitid(P_PID, pids[i], &info, WSTOPPED), 0);
	nap(NS_PER_MS);
}

static void go_on(const pid_t *pids, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(kill(pids[i], SIGCONT), 0);
}

static char *join(char *to, const char *directory, const char *name)
{
	assert_true(snprintf(to, PATH_MAX, "%s/%s", directory, name) < PATH_MAX);
	return to;
}

static uint64_t switches_of_all(const pid_t *pids, unsigned n)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += switches_of(pids[i]);
	return sum;
}

struct truth {
	const char *what;
	const char *path;
	uint64_t id;
	uint64_t ours_ns, kernel_ns; /* at the beginning */
};

static void begin_truth(const struct record *r, struct truth *t)
{
	t->ours_ns = group_subtree_ns(r, t->id);
	t->kernel_ns = group_usage_ns(t->path);
}

/*
 * Both stood still at the two moments, so that nothing but interrupts, steal and what was lost can lie between, and the
 * time from a wake-up to the switch that follows (see record_matches()), of each time that they were switched out.
 */
static bool is_true(const struct record *r, const struct truth *t, uint64_t stolen_before_ns, uint64_t switches,
		    double permille)
{
	uint64_t ours_ns = group_subtree_ns(r, t->id) - t->ours_ns, kernel_ns = group_usage_ns(t->path) - t->kernel_ns;
	uint64_t stolen_ns = irq_and_steal_ns() - stolen_before_ns, lost_ns = record_lost_ns(r);
	int64_t more = (int64_t)(ours_ns - kernel_ns), slack = cpus_online() * TICK_NS;

	if (permille > 0)
		slack = kernel_ns * permille / 1000;
	slack += switches * LAG_NS;
	print_message("# %s: ours %.3f ms, cpu.stat %.3f ms, %+.3f ms; %llu switches, interrupts and steal %.0f, "
		      "lost %.3f ms\n", t->what, ours_ns / 1e6, kernel_ns / 1e6, more / 1e6,
		      (unsigned long long)switches, stolen_ns / 1e6, lost_ns / 1e6);
	return kernel_ns > 0 && more <= slack + (int64_t)stolen_ns && -more <= slack + (int64_t)lost_ns;
}

/* top holds a and b, a holds below; burners in all, and one moves. */
static void subtrees_equal_cpu_stat(void **state)
{
	static char path[4][PATH_MAX];
	const char *own = groups_begin();
	struct truth truth[4];
	uint64_t stolen_ns, switches;
	struct record *r;
	unsigned wrong = 0;
	pid_t pids[5];

	(void)state;
	join(path[0], own, "top");
	join(path[1], path[0], "a");
	join(path[2], path[0], "b");
	join(path[3], path[1], "below");
	for (int i = 0; i < 4; i++) {
		truth[i] = (struct truth){.what = path[i] + strlen(own) + 1, .path = path[i]};
		group_make(path[i], &truth[i].id);
	}
	r = watch();
	for (int i = 0; i < 5; i++)
		pids[i] = group_start(path[i % 4], hog, (void *)(intptr_t)(i % cpus_online()));
	record_window(r, 50 * NS_PER_MS);
	halt(pids, 5);
	record_window(r, NS_PER_MS);
	stolen_ns = irq_and_steal_ns();
	for (int i = 0; i < 4; i++)
		begin_truth(r, &truth[i]);
	switches = switches_of_all(pids, 5);
	go_on(pids, 5);
	for (int i = 0; i < 10; i++) {
		record_window(r, 200 * NS_PER_MS);
		if (i % 3 == 2)
			group_move(path[i % 4], pids[4]);
	}
	halt(pids, 5);
	switches = switches_of_all(pids, 5) - switches;
	record_window(r, NS_PER_MS);
	for (int i = 0; i < 4; i++)
		wrong += !is_true(r, &truth[i], stolen_ns, switches, 0);
	assert_int_equal(wrong, 0);
	/* a subtree is more than its own */
	assert_true(group_of(r, truth[0].id)->oncpu_ns < group_subtree_ns(r, truth[0].id) / 2);
	record_assert_exact(r);
}

/* S18: one that always runs, and a neighbour of a tenth at nice 19. */
static void burns(void *cpu)
{
	pin((intptr_t)cpu);
	for (;;)
		burn(NS_PER_MS);
}

static void burns_a_tenth(void *cpu)
{
	pin((intptr_t)cpu);
	setpriority(PRIO_PROCESS, 0, 19);
	for (;;) {
		burn(5 * NS_PER_MS);
		nap(45 * NS_PER_MS);
	}
}

static void neighbours(void **state)
{
	static char path[2][PATH_MAX];
	const char *own = groups_begin();
	struct truth truth[2];
	intptr_t cpu = cpus_online() - 1;
	uint64_t stolen_ns, switches;
	struct record *r;
	unsigned wrong = 0;
	pid_t pids[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		truth[i].what = i ? "a tenth at nice 19" : "all of a CPU";
		truth[i].path = join(path[i], own, i ? "B" : "A");
		group_make(path[i], &truth[i].id);
	}
	r = watch();
	pids[0] = group_start(path[0], burns, (void *)cpu);
	pids[1] = group_start(path[1], burns_a_tenth, (void *)cpu);
	record_window(r, 50 * NS_PER_MS);
	halt(pids, 2);
	record_window(r, NS_PER_MS);
	stolen_ns = irq_and_steal_ns();
	for (int i = 0; i < 2; i++)
		begin_truth(r, &truth[i]);
	switches = switches_of_all(pids, 2);
	go_on(pids, 2);
	record_windows(r, 10, 200 * NS_PER_MS);
	halt(pids, 2);
	switches = switches_of_all(pids, 2) - switches;
	record_window(r, NS_PER_MS);
	for (int i = 0; i < 2; i++)
		wrong += !is_true(r, &truth[i], stolen_ns, switches, 10);
	assert_int_equal(wrong, 0);
	record_assert_exact(r);
}

/* --- names */

/* A task runs in it. `removed`: and it is gone before this returns. */
static void use(const char *path, uint64_t *ret_id, bool removed)
{
	int fd;
	pid_t pid;

	group_make(path, ret_id);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid = group_fork(fd);
	if (!pid) {
		burn(50000);
		_exit(0);
	}
	close(fd);
	if (pid < 0)
		skip_because("clone3 cannot fork into a cgroup here");
	finish(pid, 0);
	if (removed)
		group_remove(path);
}

static const struct group *told(struct record *r, uint64_t id)
{
	const struct group *g;

	HASH_FIND(hh, r->groups, &id, sizeof(id), g);
	return g && g->told ? g : NULL;
}

static void awkward_names(void **state)
{
	static const char *const names[] = {
		"blank and \"quotes\" and \\ and 'those'", "tab\there", "\xff\xfe bytes that are no UTF-8 \x80",
		"gr\xc3\xbc\xc3\x9f" "e", "-p", "a:b;c,d=e", "%s%n", " ", "\x01\x1b[31m",
	};
	enum { N = sizeof(names) / sizeof(names[0]) };
	char path[PATH_MAX], longest[256], deep[PATH_MAX];
	const char *own = groups_begin();
	const struct group *g;
	uint64_t ids[N], id, leaf, own_id;
	struct stat st;
	struct record *r = watch();

	(void)state;
	assert_int_equal(stat(own, &st), 0);
	own_id = st.st_ino;
	for (int i = 0; i < N; i++)
		use(join(path, own, names[i]), &ids[i], false);
	memset(longest, 'x', 255);
	longest[255] = '\0';
	use(join(path, own, longest), &id, false);
	snprintf(deep, sizeof(deep), "%s/%s", own, longest);
	for (int i = 0; i < 8; i++) /* and the last of ten levels */
		group_make(strcat(deep, "/d"), NULL);
	use(strcat(deep, "/leaf"), &leaf, false);
	record_window(r, NS_PER_MS);
	record_window(r, NS_PER_MS);
	for (int i = 0; i < N; i++) {
		g = told(r, ids[i]);
		assert_non_null(g);
		assert_string_equal(g->name, names[i]);
		assert_true(g->parent_id == own_id);
		assert_true(g->oncpu_ns > 0);
	}
	assert_string_equal(told(r, id)->name, longest);
	/* from the leaf up to the root, each was told */
	g = told(r, leaf);
	assert_non_null(g);
	assert_string_equal(g->name, "leaf");
	for (int i = 0; i < 9; i++) {
		g = told(r, g->parent_id);
		assert_non_null(g);
		assert_string_equal(g->name, i < 8 ? "d" : longest);
	}
	g = told(r, g->parent_id);
	assert_true(g && g->id == own_id && !strcmp(g->name, strrchr(own, '/') + 1));
	while (g->parent_id) {
		g = told(r, g->parent_id);
		assert_non_null(g);
	}
	assert_int_equal(stat(groups_mount(), &st), 0);
	assert_true(g->id == st.st_ino);
	assert_string_equal(g->name, "");
}

static bool is_child(const struct sw_task *t)
{
	return t->ppid == getpid() || t->tgid == getpid();
}

/* Made, used and removed within a window; and so many, if there is time, that the table of 4096 has to forget. */
static void short_lived_groups(void **state)
{
	enum { IN_A_WINDOW = 300, ALL = 4800, LIMIT_S = 8 };
	static uint64_t ids[ALL];
	const char *own = groups_begin();
	char path[PATH_MAX], name[32];
	struct record *r = watch();
	uint64_t until_ns = sw_now_ns() + LIMIT_S * NS_PER_S;
	unsigned missing = 0, wrong = 0;
	int n = 0;

	(void)state;
	while (n < ALL && (n % IN_A_WINDOW || sw_now_ns() < until_ns)) {
		snprintf(name, sizeof(name), "short-%d", n);
		use(join(path, own, name), &ids[n], true);
		if (++n % IN_A_WINDOW)
			continue;
		record_window(r, NS_PER_MS);
		ways_look(r, n == IN_A_WINDOW, is_child);
	}
	record_window(r, NS_PER_MS);
	for (int i = 0; i < n; i++) {
		const struct group *g = told(r, ids[i]);

		snprintf(name, sizeof(name), "short-%d", i);
		missing += !g;
		wrong += g && (strcmp(g->name, name) || !g->oncpu_ns);
	}
	print_message("# %d cgroups, %d in a window: %u were not named, %u wrongly or without time\n", n, IN_A_WINDOW,
		      missing, wrong);
	if (ways_full()) /* then a task may find no slot, and its cgroup no name */
		skip_because("tasks that are not ours fill all places of an id (%u times)", ways_full());
	assert_int_equal(missing, 0);
	assert_int_equal(wrong, 0);
	assert_int_equal(r->sum.lost_slots_ns, 0);
	record_assert_exact(r);
}

#define group_test(fn) cmocka_unit_test_setup_teardown(fn, live_setup, groups_teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		group_test(subtrees_equal_cpu_stat),
		group_test(neighbours),
		group_test(awkward_names),
		group_test(short_lived_groups),
	};

	(void)argc;
	return live_run(tests);
}

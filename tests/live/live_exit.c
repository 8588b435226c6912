/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how processes end, as the row that tells of the end has it: what waitpid(2) says, or would have said.
 * Relies on: waitpid(2), exit_group(2), core(5).
 */
#include "record.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint32_t *go;
static char directory[] = "/tmp/schedwatt-XXXXXX"; /* where cores go */

static void exits_7(void *unused)
{
	(void)unused;
	await(go);
	_exit(7);
}

static void waits_to_be_killed(void *unused)
{
	(void)unused;
	await(go);
	for (;;)
		burn(NS_PER_MS);
}

static void *burner(void *unused)
{
	for (;;)
		burn(NS_PER_MS);
	return unused;
}

static void kills_many(void *unused)
{
	pthread_t thread;

	(void)unused;
	await(go);
	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread, NULL, burner, NULL))
			_exit(1);
	for (;;)
		pause();
}

static void segfaults(uint64_t core_bytes)
{
	struct rlimit limit = {.rlim_cur = core_bytes, .rlim_max = core_bytes};

	if (chdir(directory))
		_exit(1);
	signal(SIGSEGV, SIG_DFL); /* cmocka catches it */
	setrlimit(RLIMIT_CORE, &limit);
	await(go);
	raise(SIGSEGV);
}

static void segfaults_without_core(void *unused)
{
	(void)unused;
	segfaults(0);
}

static void segfaults_with_core(void *unused)
{
	(void)unused;
	segfaults(1 << 20);
}

static pthread_t leader;
static int how;

/* The last thread: alone with a status of its own, or for all. */
static void *goes_last(void *unused)
{
	pthread_join(leader, NULL);
	nap(20 * NS_PER_MS);
	syscall(how, how == SYS_exit ? 3 : 5);
	return unused;
}

static void leader_goes_first(int last)
{
	pthread_t thread;

	leader = pthread_self();
	how = last;
	await(go);
	if (pthread_create(&thread, NULL, goes_last, NULL))
		_exit(1);
	syscall(SYS_exit, 0);
}

static void last_thread_exits(void *unused)
{
	(void)unused;
	leader_goes_first(SYS_exit);
}

static void last_thread_exits_for_all(void *unused)
{
	(void)unused;
	leader_goes_first(SYS_exit_group);
}

static void leader_has_status(void *unused)
{
	pthread_t thread;

	(void)unused;
	leader = pthread_self();
	how = SYS_exit;
	await(go);
	if (pthread_create(&thread, NULL, goes_last, NULL))
		_exit(1);
	syscall(SYS_exit, 11);
}

/* Nobody waits for it. */
static void ignores_its_child(void *ret_pid)
{
	pid_t pid;

	signal(SIGCHLD, SIG_IGN);
	await(go);
	pid = fork();
	if (!pid) {
		burn(NS_PER_MS);
		_exit(9);
	}
	*(volatile pid_t *)ret_pid = pid;
	for (;;)
		pause();
}

static const struct end {
	const char *name;
	void (*fn)(void *arg);
	int signal; /* that ends it */
	int status; /* as waitpid says, but for the core; -1: kernels differ */
} ends[] = {
	{"exit(7)", exits_7, 0, 7 << 8},
	{"killed", waits_to_be_killed, SIGKILL, SIGKILL},
	{"SIGSEGV, no core", segfaults_without_core, 0, SIGSEGV},
	{"SIGSEGV with a core", segfaults_with_core, 0, SIGSEGV},
	{"SIGTERM with five threads", kills_many, SIGTERM, SIGTERM},
	{"SIGKILL with five threads", kills_many, SIGKILL, SIGKILL},
	{"leader first, the last thread exits with 3", last_thread_exits, 0, -1},
	{"leader first with 11, the last thread exits with 3", leader_has_status, 0, -1},
	{"leader first, exit_group(5)", last_thread_exits_for_all, 0, 5 << 8},
	{"reaped by nobody, exit(9)", ignores_its_child, 0, 9 << 8},
};

enum { ENDS = sizeof(ends) / sizeof(ends[0]) };

/* The row that says that the process is gone, and if there are several, how many do not agree. */
static const struct identity *last_row(const struct record *r, pid_t pid, unsigned *others)
{
	const struct identity *found = NULL;

	*others = 0;
	for (const struct identity *i = r->identities; i; i = i->hh.next) {
		if (i->id.tgid != pid || !i->process_ended)
			continue;
		*others += found && (found->task.exit_code != i->task.exit_code || !i->task.exit_known);
		found = i;
	}
	return found;
}

static bool told_right(const struct record *r, const struct end *end, pid_t pid, int status)
{
	unsigned others;
	const struct identity *id = last_row(r, pid, &others);

	print_message("# %s: wait status %x, told %s%x\n", end->name, status, id && id->task.exit_known ? "" : "not, ",
		      id ? (unsigned)id->task.exit_code : 0);
	if (end->status >= 0 && (status & ~0x80) != end->status)
		return false;
	return id && id->task.exit_known && id->task.exit_code == status && !others;
}

static int teardown(void **state)
{
	int err = live_teardown(state);
	DIR *d = opendir(directory);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_type == DT_REG) /* whatever the kernel calls a core here */
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	return rmdir(directory) ? -1 : err;
}

static void ends_told(bool tree)
{
	volatile pid_t *orphan = shared(sizeof(*orphan));
	pid_t pids[ENDS], self = getpid();
	struct sw_cpu_config config = {.pids = &self, .n_pids = tree};
	int status[ENDS];
	struct record *r;
	unsigned wrong = 0;

	go = shared(sizeof(*go));
	strcpy(strrchr(directory, '-'), "-XXXXXX");
	assert_non_null(mkdtemp(directory));
	for (int i = 0; i < ENDS; i++)
		pids[i] = start(ends[i].fn, (void *)orphan);
	r = record_open(&config);
	record_begin(r);
	*go = 1;
	record_window(r, 50 * NS_PER_MS);
	for (int i = 0; i < ENDS; i++) {
		status[i] = ends[i].status;
		if (ends[i].fn != ignores_its_child)
			status[i] = finish(pids[i], ends[i].signal).status;
	}
	for (int i = 0; i < 5000 && (!*orphan || !kill(*orphan, 0)); i++)
		nap(NS_PER_MS);
	record_windows(r, 2, 10 * NS_PER_MS);
	for (int i = 0; i < ENDS; i++) {
		bool orphaned = ends[i].fn == ignores_its_child;

		wrong += !told_right(r, &ends[i], orphaned ? *orphan : pids[i], status[i]);
		if (!orphaned)
			continue;
		for (const struct identity *id = r->identities; id; id = id->hh.next)
			assert_false(id->id.tgid == pids[i] && id->process_ended); /* the parent lives on */
	}
	assert_int_equal(wrong, 0);
	assert_int_equal(r->members_lost, 0);
	record_assert_exact(r);
	for (int i = 0; i < ENDS; i++)
		if (ends[i].fn == ignores_its_child)
			finish(pids[i], SIGKILL);
	record_close(r);
}

static void ends_are_told(void **state)
{
	(void)state;
	ends_told(false);
}

static void ends_are_told_of_a_tree(void **state)
{
	(void)state;
	ends_told(true);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ends_are_told, live_setup, teardown),
		cmocka_unit_test_setup_teardown(ends_are_told_of_a_tree, live_setup, teardown),
	};

	(void)argc;
	return live_run(tests);
}

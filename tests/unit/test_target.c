/* SPDX-License-Identifier: BSD-2-Clause */
/* A target of pids: what can be one, in which words it is refused, and when it has ended. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "child.h"
#include "core/target.h"

static int procfs_fd = -1;

static void await_zombie(pid_t pid)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
}

static int open_one(struct sw_target_pids *t, int32_t pid, struct sw_error *error)
{
	return sw_target_open(t, &pid, 1, procfs_fd, error);
}

/* Refused with -ESRCH, and the sentence holds these words and the number. */
static void assert_refused(int32_t pid, const char *words)
{
	struct sw_target_pids t;
	struct sw_error error = {""};
	char number[16];

	assert_int_equal(open_one(&t, pid, &error), -ESRCH);
	snprintf(number, sizeof(number), "%d", pid);
	if (!strstr(error.text, words) || !strstr(error.text, number))
		fail_msg("'%s' does not say '%s' of %d", error.text, words, pid);
	sw_target_close(&t);
}

static void no_such_process(void **state)
{
	pid_t pid = sleeper();

	(void)state;
	end(pid);
	assert_refused(pid, "there is no process");
	assert_refused(INT32_MAX, "there is no process");
}

static void zombies_have_ended(void **state)
{
	pid_t pid = sleeper();

	(void)state;
	kill(pid, SIGKILL);
	await_zombie(pid);
	assert_refused(pid, "has ended already");
	end(pid);
}

static void *report_tid(void *arg)
{
	int32_t tid = syscall(SYS_gettid);
	int *fds = arg;
	char c;

	if (write(fds[1], &tid, sizeof(tid)) == sizeof(tid))
		while (read(fds[2], &c, 1) < 0)
			;
	return NULL;
}

static void threads_are_no_processes(void **state)
{
	int out[2], back[2], fds[3];
	pthread_t thread;
	int32_t tid = 0;
	char words[64];

	(void)state;
	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(back), 0);
	fds[1] = out[1];
	fds[2] = back[0];
	assert_int_equal(pthread_create(&thread, NULL, report_tid, fds), 0);
	assert_int_equal(read(out[0], &tid, sizeof(tid)), sizeof(tid));
	snprintf(words, sizeof(words), "a thread of process %d: give %d", getpid(), getpid());
	assert_refused(tid, words);
	assert_int_equal(write(back[1], "", 1), 1);
	pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++) {
		close(out[i]);
		close(back[i]);
	}
}

static void *sleep_on(void *unused)
{
	while (pause() < 0)
		;
	return unused;
}

/* A process lives as long as its last thread, though its leader be a zombie. */
static void a_leader_is_not_its_process(void **state)
{
	struct sw_target_pids t;
	struct sw_error error = {""};
	char path[64], text[512];
	pid_t pid = fork();
	bool zombie = false;

	(void)state;
	if (!pid) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(60);
		pthread_create(&thread, NULL, sleep_on, NULL);
		syscall(SYS_exit, 0);
	}
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (int i = 0; i < 5000 && !zombie; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = read(fd, text, sizeof(text) - 1);

		close(fd);
		assert_true(n > 0);
		text[n] = '\0';
		zombie = strstr(text, ") Z ") != NULL;
		usleep(1000);
	}
	assert_true(zombie);
	assert_int_equal(open_one(&t, pid, &error), 0);
	assert_int_equal(sw_target_alive(&t), 1);
	kill(pid, SIGKILL);
	await_zombie(pid);
	assert_int_equal(sw_target_alive(&t), 0);
	sw_target_close(&t);
	end(pid);
}

static void ended_before_the_recording(void **state)
{
	pid_t pids[2] = {sleeper(), sleeper()};
	struct sw_target_pids t;
	struct sw_error error = {""};
	char words[64];

	(void)state;
	assert_int_equal(sw_target_open(&t, pids, 2, procfs_fd, &error), 0);
	assert_int_equal(sw_target_check(&t, &error), 0);
	end(pids[1]);
	assert_int_equal(sw_target_check(&t, &error), -ESRCH);
	snprintf(words, sizeof(words), "process %d ended before", pids[1]);
	assert_non_null(strstr(error.text, words));
	sw_target_close(&t);
	end(pids[0]);
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* Duplicates are one; the fd tells of each end, and is quiet again once that has been noted. */
static void duplicates_and_ends(void **state)
{
	pid_t a = sleeper(), b = sleeper(), c = sleeper(), pids[] = {b, a, b, b, c, a};
	struct sw_target_pids t;
	struct sw_error error = {""};

	(void)state;
	assert_int_equal(sw_target_open(&t, pids, 6, procfs_fd, &error), 0);
	assert_int_equal(t.n, 3);
	assert_int_equal(t.pids[0], b);
	assert_int_equal(t.pids[1], a);
	assert_int_equal(t.pids[2], c);
	assert_int_equal(sw_target_alive(&t), 3);
	assert_false(is_readable(t.epoll_fd));
	kill(a, SIGKILL);
	await_zombie(a);
	assert_true(is_readable(t.epoll_fd));
	assert_int_equal(sw_target_alive(&t), 2);
	assert_int_equal(t.n_fds, 2);
	assert_false(is_readable(t.epoll_fd));
	end(a);
	end(b);
	end(c);
	assert_int_equal(sw_target_alive(&t), 0);
	assert_int_equal(t.n_fds, 0);
	sw_target_close(&t);
}

static void too_many(void **state)
{
	static int32_t pids[SW_TARGET_PIDS_MAX + 1];
	struct sw_target_pids t;
	struct sw_error error = {""};

	(void)state;
	for (int i = 0; i <= SW_TARGET_PIDS_MAX; i++)
		pids[i] = getpid();
	assert_int_equal(sw_target_open(&t, pids, SW_TARGET_PIDS_MAX + 1, procfs_fd, &error), -E2BIG);
	assert_non_null(strstr(error.text, "4097 processes are more than 4096"));
	sw_target_close(&t);
	assert_int_equal(sw_target_open(&t, pids, SW_TARGET_PIDS_MAX, procfs_fd, &error), 0);
	assert_int_equal(t.n, 1);
	sw_target_close(&t);
	assert_int_equal(sw_target_open(&t, NULL, 0, procfs_fd, &error), 0);
	assert_int_equal(sw_target_alive(&t), 0);
	assert_int_equal(t.epoll_fd, -1);
	sw_target_close(&t);
}

static int setup(void **state)
{
	(void)state;
	procfs_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return procfs_fd < 0;
}

static int teardown(void **state)
{
	(void)state;
	return close(procfs_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_such_process),
		cmocka_unit_test(zombies_have_ended),
		cmocka_unit_test(threads_are_no_processes),
		cmocka_unit_test(a_leader_is_not_its_process),
		cmocka_unit_test(ended_before_the_recording),
		cmocka_unit_test(duplicates_and_ends),
		cmocka_unit_test(too_many),
	};

	return cmocka_run_group_tests_name("target", tests, setup, teardown);
}

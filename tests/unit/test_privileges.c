/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what a process that gave its privileges up can do no longer, and what it still can.
 * Relies on: a child of its own for each, whose exit status is the line that went wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/privileges.h"

/* Run in a child, whose exit status is the number of the line that went wrong, or 0. */
static int in_child(int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(fn() & 0xff);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define MUST(condition)                     \
	do {                                \
		if (!(condition))           \
			return __LINE__;    \
	} while (0)
#define REFUSED(call) MUST((call) == -1 && errno == EPERM)

static int fine(void *ctx, struct buf *why)
{
	(void)ctx;
	(void)why;
	return 0;
}

static bool has(cap_value_t cap)
{
	cap_flag_value_t value = CAP_CLEAR;
	cap_t now = cap_get_proc();

	cap_get_flag(now, cap, CAP_EFFECTIVE, &value);
	cap_free(now);
	return value == CAP_SET;
}

/* As a kernel that wants CAP_BPF of whoever runs a program. */
static int wants_bpf(void *ctx, struct buf *why)
{
	(void)ctx;
	if (has(CAP_BPF))
		return 0;
	buf_text(why, "cannot run a loaded BPF program");
	return -EPERM;
}

static int never(void *ctx, struct buf *why)
{
	(void)ctx;
	buf_text(why, "the moon is full");
	return -EIO;
}

static bool is_kept(const struct buf *kept, const char *text)
{
	return kept->len == strlen(text) && !memcmp(kept->data, text, kept->len);
}

static int keeps_the_fewest(void)
{
	bool root = has(CAP_SYS_ADMIN);
	struct buf kept = { 0 };

	MUST(!privileges_reduce(fine, NULL, &kept));
	MUST(is_kept(&kept, root ? "cap_dac_read_search" : "none"));
	MUST(!root || (!cap_get_bound(CAP_SYS_ADMIN) && cap_get_bound(CAP_DAC_READ_SEARCH)));
	MUST(!has(CAP_SYS_ADMIN) && !has(CAP_BPF) && !has(CAP_KILL) && has(CAP_DAC_READ_SEARCH) == root);
	MUST(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	return 0;
}

static int keeps_what_it_takes(void)
{
	struct buf kept = { 0 };

	MUST(!privileges_reduce(wants_bpf, NULL, &kept));
	MUST(is_kept(&kept, "cap_dac_read_search,cap_bpf"));
	MUST(has(CAP_BPF) && !has(CAP_PERFMON) && !has(CAP_SYS_ADMIN));
	return 0;
}

static int keeps_all_if_it_must(void)
{
	bool root = has(CAP_SYS_ADMIN);
	struct buf kept = { 0 };

	MUST(!privileges_reduce(never, NULL, &kept));
	MUST(is_kept(&kept, "all, since fewer do not suffice here: the moon is full"));
	MUST(has(CAP_SYS_ADMIN) == root);
	MUST(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	return 0;
}

static char path[] = "/tmp/schedwatt-XXXXXX";

static int refuses(void)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1 };
	char *const argv[] = { (char *)"true", NULL };

	MUST(!privileges_confine());
	REFUSED(open(path, O_WRONLY));
	REFUSED(open(path, O_RDWR));
	REFUSED(open(path, O_RDONLY | O_TRUNC));
	REFUSED(open("/tmp/schedwatt-never", O_RDONLY | O_CREAT, 0600));
	REFUSED(unlink(path));
	REFUSED(rename(path, "/tmp/schedwatt-never"));
	REFUSED(chmod(path, 0777));
	REFUSED(mkdir("/tmp/schedwatt-never", 0700));
	REFUSED(fork());
	REFUSED(execv("/bin/true", argv));
	REFUSED(kill(getppid(), 0));
	REFUSED(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
	REFUSED(socket(AF_INET, SOCK_STREAM, 0));
	REFUSED(socket(AF_UNIX, SOCK_DGRAM, 0));
	REFUSED(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
	REFUSED(syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr)));
	REFUSED(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
	REFUSED(prctl(PR_SET_NAME, "other"));
	MUST(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	REFUSED(setuid(65534));
	REFUSED(unshare(CLONE_NEWUTS));
	return 0;
}

static int lets_through(void)
{
	union bpf_attr attr = { .test.prog_fd = (uint32_t)-1 };
	cpu_set_t cpus;
	char text[64];
	int fd;

	MUST(!privileges_confine());
	fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	MUST(fd >= 0 && read(fd, text, sizeof(text)) > 0 && pread(fd, text, sizeof(text), 0) > 0 && !close(fd));
	MUST(syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr)) == -1 && errno != EPERM);
	MUST(!sched_getaffinity(0, sizeof(cpus), &cpus) && !sched_setaffinity(0, sizeof(cpus), &cpus));
	MUST(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0) >= 0);
	return 0;
}

static int thread_result;

static void *opens_for_writing(void *arg)
{
	pthread_barrier_t *both = arg;

	pthread_barrier_wait(both); /* it is there before the filter */
	pthread_barrier_wait(both); /* and goes on behind it */
	thread_result = open("/dev/null", O_WRONLY) == -1 && errno == EPERM;
	return NULL;
}

static int confines_all_threads(void)
{
	pthread_barrier_t both;
	pthread_t thread;

	pthread_barrier_init(&both, NULL, 2);
	MUST(!pthread_create(&thread, NULL, opens_for_writing, &both));
	pthread_barrier_wait(&both);
	MUST(!privileges_confine());
	pthread_barrier_wait(&both);
	MUST(!pthread_join(thread, NULL));
	MUST(thread_result);
	return 0;
}

static void capabilities(void **state)
{
	(void)state;
	assert_int_equal(in_child(keeps_the_fewest), 0);
	assert_int_equal(in_child(keeps_all_if_it_must), 0);
	if (!has(CAP_BPF))
		print_message("# skip: without CAP_BPF there is none to keep\n");
	else
		assert_int_equal(in_child(keeps_what_it_takes), 0);
}

static void system_calls(void **state)
{
	int fd = mkstemp(path), line;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	line = in_child(refuses);
	unlink(path);
	assert_int_equal(line, 0);
	assert_int_equal(in_child(lets_through), 0);
	assert_int_equal(in_child(confines_all_threads), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capabilities),
		cmocka_unit_test(system_calls),
	};

	return cmocka_run_group_tests_name("privileges", tests, NULL, NULL);
}

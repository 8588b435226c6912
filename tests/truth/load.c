/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what the workloads are and their processes do. Must not know: energy, nor how their time is read.
 * Relies on: prctl(2) (PR_SET_PDEATHSIG), clock_gettime(2) (CPU clocks), sched_setaffinity(2).
 */
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIFE_S 60
#define USUAL_SLACK_NS 50000

static const struct load_part parts[] = {
	{.workload = "hog", .name = "hog", .from_ms = -1},
	{.workload = "duty", .name = "duty-70", .from_ms = -1, .on_us = 14000, .off_us = 6000},
	{.workload = "duty", .name = "duty-30", .from_ms = -1, .on_us = 3000, .off_us = 7000},
	{.workload = "children", .name = "child", .from_ms = 50, .count = 200, .every_ms = 8, .cpu_us = 4000},
	{.workload = "pinned", .name = "pinned-first", .from_ms = -1, .cpu = 1},
	{.workload = "pinned", .name = "pinned-last", .from_ms = -1, .cpu = -1},
	{.workload = "ends", .name = "ends", .from_ms = -1, .until_ms = 1430},
	{.workload = "ends", .name = "stays", .from_ms = -1},
	{.workload = "threads", .name = "threads", .from_ms = -1, .on_us = 4000, .off_us = 4000, .thread_us = 500000},
	{.workload = "idle"},
	{.workload = "mixed", .name = "light", .from_ms = -1, .class = CLASS_LIGHT},
	{.workload = "mixed", .name = "heavy", .from_ms = -1, .class = CLASS_HEAVY},
};

const struct load_part *load_next(const char *workload, const struct load_part *last)
{
	const struct load_part *end = parts + sizeof(parts) / sizeof(parts[0]);

	for (const struct load_part *p = last ? last + 1 : parts; p < end; p++)
		if (p->name && !strcmp(p->workload, workload))
			return p;
	return NULL;
}

bool load_known(const char *workload)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strcmp(parts[i].workload, workload))
			return true;
	return false;
}

/* CPU time of the calling thread, which is all of a child's but for `threads`. */
static uint64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000ULL + t.tv_nsec / 1000;
}

static void spin(uint64_t until_us)
{
	do {
		for (volatile int i = 0; i < 20000; i++)
			;
	} while (cpu_us() < until_us);
}

static void *thread_main(void *us)
{
	spin(*(const int *)us);
	return NULL;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? sysconf(_SC_NPROCESSORS_ONLN) - 1 : cpu - 1, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/*
 * A nice value counts within a session only, where the kernel groups by session (sched(7), autogroup): there hogs would
 * eat what is ours, and we and schedwatt would come late. So each has a session of its own, and that is nice, too. Not
 * who ends soon: it would come late itself.
 */
static void be_strangers(void)
{
	int fd;

	setsid();
	fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	dprintf(fd, "10"); /* a courtesy: it need not work */
	close(fd);
}

static _Noreturn void work(const struct load_part *part)
{
	struct timespec off = {.tv_nsec = part->off_us * 1000L};
	pthread_t thread;

	prctl(PR_SET_NAME, part->name);
	setpriority(PRIO_PROCESS, 0, 19);
	if (!part->cpu_us)
		be_strangers();
	if (part->cpu)
		pin(part->cpu);
	if (part->thread_us && pthread_create(&thread, NULL, thread_main, (void *)&part->thread_us))
		_exit(1);
	if (part->cpu_us)
		spin(part->cpu_us);
	while (!part->cpu_us) {
		if (!part->on_us)
			for (;;)
				__asm__ volatile(""); /* no system call: only interrupts take it out of user space */
		spin(cpu_us() + part->on_us);
		nanosleep(&off, NULL);
	}
	_exit(0);
}

/* What the parent set for its own punctuality is not for its children. */
static pid_t fork_usual(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} usual = {.size = sizeof(usual), .nice = getpriority(PRIO_PROCESS, 0)};
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid < 0 ? -errno : pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_TIMERSLACK, USUAL_SLACK_NS);
	syscall(SYS_sched_setattr, 0, &usual, 0);
	if (getppid() != parent)
		_exit(1);
	alarm(LIFE_S);
	return 0;
}

/* Fork whoever is asked for, and leave the dead unreaped, until nobody can ask any more. */
static _Noreturn void nurse(int fd)
{
	static struct load_born born[1024];
	size_t n = 0;

	prctl(PR_SET_NAME, "nursery");
	while (n < sizeof(born) / sizeof(born[0]) && read(fd, &born[n].part, sizeof(born[n].part)) > 0) {
		born[n].pid = fork_usual();
		if (!born[n].pid)
			work(born[n].part);
		if (write(fd, &born[n], sizeof(born[n])) < 0)
			break;
		n++;
	}
	while (n-- > 0)
		if (born[n].pid > 0) {
			kill(born[n].pid, SIGKILL);
			waitpid(born[n].pid, NULL, 0);
		}
	_exit(0);
}

pid_t load_nursery(int *ret_fd)
{
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	pid = fork_usual();
	if (!pid) {
		close(fds[0]);
		nurse(fds[1]);
	}
	close(fds[1]);
	*ret_fd = fds[0];
	return pid;
}

bool load_start(int fd, const struct load_part *part)
{
	return send(fd, &part, sizeof(part), MSG_DONTWAIT) == sizeof(part);
}

bool load_born(int fd, struct load_born *ret)
{
	return recv(fd, ret, sizeof(*ret), MSG_DONTWAIT) == sizeof(*ret);
}

pid_t load_exec(char *const argv[])
{
	pid_t pid = fork_usual();

	if (pid)
		return pid;
	execvp(argv[0], argv);
	_exit(127);
}

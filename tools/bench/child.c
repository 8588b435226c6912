/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the bench's children and how they end. Must not know: what they do.
 * Relies on: prctl(2) PR_SET_PDEATHSIG, alarm(2) (both survive execve), unshare(2), mount(2).
 */
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

uint64_t thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

pid_t child_fork(unsigned seconds)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid < 0 ? -errno : pid;
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	alarm(seconds);
	return 0;
}

pid_t child_exec(unsigned seconds, char *const argv[], int output_fd, bool tracefs)
{
	pid_t pid = child_fork(seconds);
	int fd;

	if (pid)
		return pid;
	fd = output_fd >= 0 ? output_fd : open("/dev/null", O_WRONLY);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
	if (tracefs && (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
			mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL)))
		_exit(126);
	execvp(argv[0], argv);
	_exit(127);
}

int child_end(pid_t pid, int signal)
{
	struct timespec pause = {.tv_nsec = 20000000};
	int status = 0;

	kill(pid, signal);
	for (int i = 0; i < 100 && signal != SIGKILL; i++) {
		if (waitpid(pid, &status, WNOHANG))
			return status;
		nanosleep(&pause, NULL);
	}
	if (signal != SIGKILL)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Usage: target SECONDS
 * Owns: a process of which every counter has something to tell: a session and signals of its own, a niceness, children
 * that were waited for, threads that burn, call, fault and sleep. Says "ready", and ends with its input or after
 * SECONDS. Must not know: who looks.
 * Relies on: proc_pid_stat(5), for what there is to be told.
 */
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILDREN = 3, CHILD_MS = 60, CHILD_PAGES = 500, PAGES = 60000, PAGE = 4096, NICE = 3 };

static void nap_ms(unsigned ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

static unsigned long thread_ms(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t))
		err(1, "no clock of a thread");
	return t.tv_sec * 1000UL + t.tv_nsec / 1000000;
}

static void touch(size_t pages, unsigned every_ms)
{
	volatile char *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "no memory");
	if (madvise((void *)memory, pages * PAGE, MADV_NOHUGEPAGE))
		err(1, "no small pages");
	for (size_t i = 0; i < pages; i++) {
		memory[i * PAGE] = 1;
		if (every_ms)
			nap_ms(every_ms);
	}
}

/* Half of a child's time is spent in the kernel. */
static void child(void)
{
	touch(CHILD_PAGES, 0);
	while (thread_ms() < CHILD_MS / 2)
		;
	while (thread_ms() < CHILD_MS)
		getppid();
	_exit(0);
}

static void raise_children(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "cannot fork");
		if (!pid)
			child();
		if (waitpid(pid, NULL, 0) != pid)
			err(1, "cannot wait");
	}
}

static void *burns(void *unused)
{
	for (;;)
		;
	return unused;
}

static void *calls(void *unused)
{
	for (;;) {
		for (int i = 0; i < 2000; i++)
			getppid();
		nap_ms(1);
	}
	return unused;
}

static void *faults(void *unused)
{
	touch(PAGES, 1);
	pause();
	return unused;
}

static void *sleeps(void *unused)
{
	const struct sched_param p = { 0 };

	if (sched_setscheduler(0, SCHED_BATCH, &p))
		err(1, "no batch policy");
	pause();
	return unused;
}

static void begin(const char *name, void *(*fn)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fn, NULL) || pthread_setname_np(thread, name))
		errx(1, "no thread %s", name);
}

static void caught(int number)
{
	(void)number;
}

int main(int argc, char **argv)
{
	const struct rlimit limit = { .rlim_cur = 1L << 40, .rlim_max = 1L << 41 };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, catch = { .sa_handler = caught };
	pid_t parent = getppid();
	sigset_t blocked;
	char byte;

	if (argc != 2 || prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		errx(2, "usage: target SECONDS");
	alarm((unsigned)strtoul(argv[1], NULL, 10));
	setsid(); /* fails for who leads a group already */
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	if (sigaction(SIGUSR2, &ignore, NULL) || sigaction(SIGHUP, &catch, NULL) ||
	    sigprocmask(SIG_BLOCK, &blocked, NULL) || raise(SIGUSR1) || setrlimit(RLIMIT_RSS, &limit) ||
	    setpriority(PRIO_PROCESS, 0, NICE))
		err(1, "cannot set what is to be told");
	raise_children();
	begin("burns", burns);
	begin("calls", calls);
	begin("faults) 1 (", faults);
	begin("sleeps", sleeps);
	if (prctl(PR_SET_NAME, "leads) S 1 (x") || puts("ready") < 0 || fflush(stdout))
		err(1, "cannot say so");
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}

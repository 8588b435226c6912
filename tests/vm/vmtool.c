/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what the checks in the virtual machines do that a shell cannot: loads, children, rights given away, readings of
 * the simulated counters, and the end of the machine. Must not know: what is checked.
 * Relies on: capabilities(7), qemu's isa-debug-exit or, on arm64, its semihosting for user space.
 *
 *   vmtool spin SECONDS [CPU]     keep a CPU busy
 *   vmtool children N [MS]        N short children, one after the other, with a pause between; every third becomes true,
 *                                 the others exit 3
 *   vmtool sample FILE MODULE     the model of the simulated counters of a module, every 50 ms, until it is killed
 *   vmtool now us                 the model's clock
 *   vmtool as-user CAPS CMD…      as nobody with these capabilities (their numbers, with commas) and no others
 *   vmtool memlock BYTES CMD…     as root without CAP_SYS_RESOURCE, with that much locked memory
 *   vmtool exit N                 end the machine; qemu's exit status is 2 N + 1
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <sys/io.h>
#endif

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int spin(double seconds, const char *cpu)
{
	double end = now() + seconds;
	cpu_set_t set;

	if (cpu) {
		CPU_ZERO(&set);
		CPU_SET(atoi(cpu), &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			fail("sched_setaffinity");
	}
	while (now() < end)
		for (volatile int i = 0; i < 100000; i++)
			;
	return 0;
}

static int children(int n, unsigned pause_ms)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_NAME, "kid");
			if (i % 3 == 0)
				execl("/bin/true", "true", NULL);
			_exit(3);
		}
		if (pid < 0)
			fail("fork");
		waitpid(pid, NULL, 0);
		usleep(1000 * pause_ms);
	}
	return 0;
}

static ssize_t read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (n < 0)
		fail(path);
	text[n] = '\0';
	close(fd);
	return n;
}

static int sample(const char *path, const char *module)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	struct sched_param first = {.sched_priority = 1};
	char line[256], model[256];

	if (fd < 0)
		fail(path);
	snprintf(model, sizeof(model), "/sys/module/%s/parameters/model", module);
	sched_setscheduler(0, SCHED_FIFO, &first); /* what it looks at must not keep it from looking */
	do {
		ssize_t n = read_text(model, line, sizeof(line));

		if (write(fd, line, n) != n)
			fail(path);
	} while (!usleep(50000));
	return 1;
}

static void run(char **argv)
{
	execvp(argv[0], argv);
	fail(argv[0]);
}

/* The caller is root; `keep` of what it may do is left, across a change of user and an exec. */
static void give_rights_away(uint64_t keep, uid_t uid)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	for (int c = 0; c < 64; c++)
		if (!(keep >> c & 1))
			prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
	if (uid && (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
		fail("setresuid");
	for (int i = 0; i < 2; i++)
		data[i].effective = data[i].permitted = data[i].inheritable = keep >> 32 * i;
	if (syscall(SYS_capget, &head, (struct __user_cap_data_struct[2]){}) || syscall(SYS_capset, &head, data))
		fail("capset");
	for (int c = 0; uid && c < 64; c++)
		if (keep >> c & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, c, 0, 0))
			fail("PR_CAP_AMBIENT_RAISE");
}

static int as_user(char *caps, char **argv)
{
	uint64_t keep = 0;

	for (char *c = strtok(caps, ","); c; c = strtok(NULL, ","))
		keep |= UINT64_C(1) << atoi(c);
	give_rights_away(keep, 65534);
	run(argv);
	return 1;
}

static int memlock(const char *bytes, char **argv)
{
	struct rlimit limit = {strtoul(bytes, NULL, 10), strtoul(bytes, NULL, 10)};
	uint64_t all = 0;

	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		fail("setrlimit");
	for (int c = 0; prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; c++)
		all |= UINT64_C(1) << c;
	give_rights_away(all & ~(UINT64_C(1) << CAP_SYS_RESOURCE), 0);
	run(argv);
	return 1;
}

static int end_machine(int n)
{
#ifdef __x86_64__
	if (ioperm(0xf4, 4, 1))
		fail("ioperm");
	outb(n, 0xf4);
#elif defined(__aarch64__)
	uint64_t why[2] = {0x20026 /* ADP_Stopped_ApplicationExit */, 2 * n + 1};
	register uint64_t operation __asm__("x0") = 0x18 /* SYS_EXIT */;
	register void *block __asm__("x1") = why;

	__asm__ volatile("hlt #0xf000" : "+r"(operation) : "r"(block) : "memory");
#endif
	return 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "spin"))
		return spin(strtod(argv[2], NULL), argv[3]);
	if (!strcmp(what, "children"))
		return children(atoi(argv[2]), argv[3] ? atoi(argv[3]) : 0);
	if (!strcmp(what, "sample") && argc > 3)
		return sample(argv[2], argv[3]);
	if (!strcmp(what, "now"))
		return printf("%.0f\n", now() * 1e6) < 0;
	if (!strcmp(what, "as-user") && argc > 3)
		return as_user(argv[2], argv + 3);
	if (!strcmp(what, "memlock") && argc > 3)
		return memlock(argv[2], argv + 3);
	if (!strcmp(what, "exit"))
		return end_machine(atoi(argv[2]));
	fputs("usage: see the head of vmtool.c\n", stderr);
	return 2;
}

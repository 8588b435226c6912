/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the life of test children, loads, clocks and the search for programs that were left behind.
 * Must not know: how time is accounted.
 * Relies on: prctl(2) (subreaper, so that grandchildren come to us), alarm(2), proc(5) (fdinfo, stat), libbpf.
 */
#include "support.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIFE_S 120
#define CHILDREN_MAX 512
#define SHARED_MAX 16

static pid_t children[CHILDREN_MAX];
static unsigned n_children;
static struct {
	void *at;
	size_t size;
} areas[SHARED_MAX];
static unsigned n_areas;
static void (*at_teardown)(void);

bool live_allowed(const char *name)
{
	if (getenv("LIVE_ONLY"))
		cmocka_set_test_filter(getenv("LIVE_ONLY"));
	setvbuf(stdout, NULL, _IOLBF, 0); /* a child must not print what its parent had in its buffer */
	if (!geteuid())
		return true;
	printf("1..1\nok 1 - %s # SKIP\n# skip: loading BPF programs needs root\n", name);
	return false;
}

void live_at_teardown(void (*fn)(void))
{
	at_teardown = fn;
}

int live_setup(void **state)
{
	(void)state;
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Children and what became ours through them. False when one will not go. */
static bool end_all(void)
{
	for (unsigned i = 0; i < n_children; i++) {
		kill(-children[i], SIGKILL);
		kill(children[i], SIGKILL);
	}
	n_children = 0;
	for (int i = 0; i < 2000; i++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
			return true;
		nap(NS_PER_MS);
	}
	return false;
}

int live_teardown(void **state)
{
	bool gone = end_all();
	struct bpf_ids ids;
	unsigned left;

	(void)state;
	bpf_ids_of(getpid(), &ids);
	if (at_teardown)
		at_teardown();
	for (unsigned i = 0; i < n_areas; i++)
		munmap(areas[i].at, areas[i].size);
	n_areas = 0;
	if (!gone)
		print_error("# a child outlives its test\n");
	left = bpf_ids_left(&ids);
	if (left)
		print_error("# %u BPF objects of %u are left behind\n", left, ids.n);
	return gone && !left ? 0 : -1;
}

/* A session is a scheduling group of its own where the kernel makes such (sched_autogroup), and a process group. */
static void begin_child(void)
{
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(LIFE_S);
}

static void keep(pid_t pid)
{
	assert_true(pid > 0);
	assert_true(n_children < CHILDREN_MAX);
	children[n_children++] = pid;
}

pid_t start(void (*fn)(void *arg), void *arg)
{
	pid_t pid = fork();

	if (!pid) {
		begin_child();
		fn(arg);
		_exit(0);
	}
	keep(pid);
	return pid;
}

pid_t start_program(char *const argv[])
{
	pid_t pid = fork();

	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		begin_child();
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execv(argv[0], argv);
		_exit(127);
	}
	keep(pid);
	return pid;
}

static uint64_t to_ns(const struct timeval *t)
{
	return t->tv_sec * NS_PER_S + t->tv_usec * 1000ULL;
}

struct ended finish(pid_t pid, int signal)
{
	struct rusage usage;
	struct ended e;

	if (signal)
		assert_int_equal(kill(pid, signal), 0);
	while (wait4(pid, &e.status, 0, &usage) < 0)
		assert_int_equal(errno, EINTR);
	for (unsigned i = 0; i < n_children; i++)
		if (children[i] == pid)
			children[i] = children[--n_children];
	/* what it has left behind in its group */
	kill(-pid, SIGKILL);
	e.cpu_ns = to_ns(&usage.ru_utime) + to_ns(&usage.ru_stime);
	e.switches = usage.ru_nvcsw + usage.ru_nivcsw;
	return e;
}

bool runs(pid_t pid)
{
	siginfo_t info = {0};

	return !waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) && !info.si_pid;
}

void *shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	assert_true(n_areas < SHARED_MAX);
	areas[n_areas].at = p;
	areas[n_areas++].size = size;
	return p;
}

void await(const volatile uint32_t *flag)
{
	for (int i = 0; i < 20000 && !*flag; i++)
		nap(NS_PER_MS);
	assert_int_not_equal(*flag, 0);
}

void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		abort();
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	return clock_gettime(clock, &t) ? 0 : t.tv_sec * NS_PER_S + t.tv_nsec;
}

uint64_t thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t process_cpu_ns(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : clock_ns(clock);
}

uint64_t switches_of(pid_t pid)
{
	unsigned long long n, sum = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &n) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %llu", &n) == 1)
			sum += n;
	if (f)
		fclose(f);
	return sum;
}

void burn(uint64_t ns)
{
	uint64_t until = thread_cpu_ns() + ns;

	while (thread_cpu_ns() < until)
		;
}

void nap(uint64_t ns)
{
	struct timespec t = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};

	nanosleep(&t, NULL);
}

/* All else on this machine goes first: kernel threads above all, without which no program can be attached. */
static void stand_back(void)
{
	FILE *f = fopen("/proc/self/autogroup", "w");

	setpriority(PRIO_PROCESS, 0, 19);
	if (f) {
		fputs("19", f);
		fclose(f);
	}
}

void hog(void *cpu)
{
	volatile unsigned n = 0;

	stand_back();
	pin((intptr_t)cpu);
	for (;;)
		n++;
}

void ping_pong(void *cpu)
{
	int there[2], back[2];
	char c = 0;

	pin((intptr_t)cpu);
	if (pipe(there) || pipe(back))
		abort();
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(LIFE_S);
		while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
			;
		_exit(0);
	}
	while (write(there[1], &c, 1) == 1 && read(back[0], &c, 1) == 1)
		;
}

void fork_storm(void *unused)
{
	(void)unused;
	for (unsigned i = 0;; i++) {
		pid_t pid = fork();

		if (!pid) {
			alarm(LIFE_S);
			if (i % 3 == 0)
				execl("/bin/true", "true", NULL);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

unsigned cpus_online(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

uint64_t irq_and_steal_ns(void)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
	FILE *f = fopen("/proc/stat", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &iowait,
				&irq, &softirq, &steal), 8);
	fclose(f);
	return (irq + softirq + steal) * (NS_PER_S / sysconf(_SC_CLK_TCK));
}

static bool id_exists(uint32_t id, bool link)
{
	int fd = link ? bpf_link_get_fd_by_id(id) : bpf_prog_get_fd_by_id(id);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void add_id(struct bpf_ids *ids, uint32_t id, bool link)
{
	if (ids->n == sizeof(ids->id) / sizeof(ids->id[0]))
		return;
	ids->link[ids->n] = link;
	ids->id[ids->n++] = id;
	if (!link) {
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) && !strncmp(info.name, "switch_", 7))
			ids->on_switch = true;
		if (fd >= 0)
			close(fd);
	}
}

void bpf_ids_of(pid_t pid, struct bpf_ids *ids)
{
	char path[64], line[128];
	struct dirent *entry;
	uint32_t id;
	FILE *f;
	DIR *d;

	*ids = (struct bpf_ids){0};
	snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
	d = opendir(path);
	while (d && (entry = readdir(d))) {
		bool link = false;

		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.20s", pid, entry->d_name);
		f = fopen(path, "r");
		/* a link's entry names its program too, behind its own id */
		while (f && fgets(line, sizeof(line), f)) {
			if (sscanf(line, "link_id: %u", &id) == 1)
				add_id(ids, id, link = true);
			else if (!link && sscanf(line, "prog_id: %u", &id) == 1)
				add_id(ids, id, false);
		}
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
}

unsigned bpf_ids_alive(const struct bpf_ids *ids)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ids->n; i++)
		n += id_exists(ids->id[i], ids->link[i]);
	return n;
}

unsigned bpf_ids_left(const struct bpf_ids *ids)
{
	for (int i = 0; i < 200 && bpf_ids_alive(ids); i++)
		nap(10 * NS_PER_MS);
	return bpf_ids_alive(ids);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Usage: raplsim [-n] ROOT TRACE WORKLOAD RECORDS -- COMMAND…
 *
 * A processor with energy counters that are known better than any real one's: below ROOT, an empty directory, a /sys
 * whose counters move while COMMAND (schedwatt; %p in an argument is our pid) runs beside WORKLOAD. Each zone's joules
 * are idle watts × time + Σ over the classes of tasks: watts × CPU time, as the kernel reports it; the counters follow
 * every millisecond. TRACE gets what the counters never tell: the exact energy and every task's CPU time, step by step.
 * The recording has begun when the file RECORDS holds something; all ends with COMMAND, and exits as it does.
 *
 * Owns: the model, its steps and the trace. Must not know: what schedwatt makes of it.
 * Relies on: clock_getcpuclockid(3), whose clock is sum_exec_runtime of the process, its ended threads' too, up to this
 * moment also where it is running, and final in a zombie (nobody reaps those before the end); pidfd_open(2);
 * sched_setattr(2) (sched_runtime of SCHED_OTHER is the slice it asks for, from Linux 6.12 on, which brings it soon).
 *
 * Every CPU second must have its watts in the model, since a rule on time gives watts to every CPU second: our own time
 * and COMMAND's are of the light class, and so is the time of whoever else runs on this host, as far as cgroups tell
 * it. That comes in the kernel's own steps (a tick, where a task runs on), so it is read every 10 ms and spread over
 * the next 10.
 */
#include "host.h"
#include "load.h"
#include "zones.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS 1000000ULL
#define HOST_STEPS 10
#define LIFE_NS 60000000000ULL
#define LINGER_STEPS 20 /* after COMMAND, so that its last boundary lies inside the trace */
#define TASKS_MAX 1024

/* Milliwatts: the whole package with core in it, and dram beside it. */
static const struct {
	const char *name;
	uint64_t package_mw, dram_mw;
} classes[CLASSES] = {
	[CLASS_LIGHT] = {"light", 90000, 10000},
	[CLASS_HEAVY] = {"heavy", 135000, 15000},
};

#define IDLE_PACKAGE_MW 60000
#define IDLE_DRAM_MW 10000
#define IDLE_PSYS_MW 5000 /* of the rest of the platform */
#define CORE_PERMILLE 700 /* of what the package draws above idle */

struct task {
	pid_t pid;
	clockid_t clock;
	enum class class;
	uint64_t cpu_ns;
	uint64_t until_ns; /* killed then; 0: not before the end */
	bool ended;        /* a zombie, to be read once more */
	bool gone;         /* and that is done */
};

static struct task tasks[TASKS_MAX];
static struct pollfd pidfds[TASKS_MAX]; /* of each */
static unsigned n_tasks, n_live_from; /* all before that are gone */
static uint64_t class_ns[CLASSES];
static uint64_t host_first_ns, host_ns, host_target_ns; /* of strangers: first raw reading; in the model; to be in it */
static bool has_host;
static uint64_t start_ns, begun_ns; /* begun_ns: 0 before the recording has begun */
static int own_fd = -1;
static FILE *trace;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return UINT64_MAX;
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static _Noreturn void die(const char *what, int err)
{
	fprintf(stderr, "raplsim: %s: %s\n", what, strerror(-err));
	exit(125);
}

static struct task *add_task(pid_t pid, const char *name, enum class class)
{
	struct task *t = &tasks[n_tasks];

	if (pid < 0)
		die(name, pid);
	if (n_tasks == TASKS_MAX)
		die("tasks", -ENOSPC);
	*t = (struct task){.pid = pid, .class = class};
	errno = clock_getcpuclockid(pid, &t->clock);
	if (errno)
		die("clock_getcpuclockid", -errno);
	pidfds[n_tasks] = (struct pollfd){.fd = syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	if (pidfds[n_tasks].fd < 0)
		die("pidfd_open", -errno);
	fprintf(trace, "task %u %d %s %s\n", n_tasks++, pid, classes[class].name, name);
	return t;
}

/* --- a step: clocks, energy, counters */

/*
 * Our own CPU time. We sleep every millisecond, and the kernel's CPU clocks charge a task that wakes from its wakeup
 * on, before the switch to it: in a virtual machine 8 us, a third of what a step takes, which would be in everybody's
 * error. perf's task clock runs from switch to switch. Where it is refused, it has to be the CPU clock.
 */
static void open_own_clock(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
	};

	own_fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t own_ns(void)
{
	uint64_t ns;

	if (own_fd >= 0 && read(own_fd, &ns, sizeof(ns)) == sizeof(ns))
		return ns;
	return clock_ns(tasks[0].clock);
}

static void read_tasks(void)
{
	for (unsigned i = n_live_from; i < n_tasks; i++) {
		struct task *t = &tasks[i];
		uint64_t now = t->gone ? UINT64_MAX : i ? clock_ns(t->clock) : own_ns();

		t->gone |= t->ended;
		if (now == UINT64_MAX || now <= t->cpu_ns)
			continue;
		class_ns[t->class] += now - t->cpu_ns;
		t->cpu_ns = now;
		fprintf(trace, " %u=%llu", i, (unsigned long long)now);
	}
}

static uint64_t strangers_ns(void)
{
	uint64_t ours = 0, all = host_cpu_ns();

	if (all == UINT64_MAX) {
		has_host = false;
		return 0;
	}
	for (int i = 0; i < CLASSES; i++)
		ours += class_ns[i];
	ours += clock_ns(tasks[0].clock) - tasks[0].cpu_ns;
	return all - (host_counts_us() ? ours : 0);
}

/* Strangers' time comes late and in lumps: what was found is spread over the steps until the next look. */
static void follow_host(uint64_t steps)
{
	static uint64_t until_next;

	if (has_host && !until_next) {
		int64_t found = strangers_ns() - host_first_ns;

		if (has_host && found > (int64_t)host_target_ns)
			host_target_ns = found;
		until_next = HOST_STEPS;
	}
	if (!until_next)
		return;
	steps = steps < until_next ? steps : until_next;
	host_ns += (host_target_ns - host_ns) * steps / until_next;
	until_next -= steps;
}

static void step(uint64_t now_ns, uint64_t steps)
{
	uint64_t us = (now_ns - start_ns) / 1000, package = 0, nj[ZONES];

	fputs("cpu", trace);
	read_tasks();
	fputc('\n', trace);
	follow_host(steps);
	/* mW × us = nJ; the CPU times are held in ns, and an hour's product fits */
	nj[ZONE_DRAM] = IDLE_DRAM_MW * us;
	for (int i = 0; i < CLASSES; i++) {
		uint64_t ns = class_ns[i] + (i == CLASS_LIGHT ? host_ns : 0);

		package += classes[i].package_mw * ns / 1000;
		nj[ZONE_DRAM] += classes[i].dram_mw * ns / 1000;
	}
	nj[ZONE_PACKAGE] = IDLE_PACKAGE_MW * us + package;
	nj[ZONE_CORE] = package / 1000 * CORE_PERMILLE;
	nj[ZONE_PSYS] = nj[ZONE_PACKAGE] + nj[ZONE_DRAM] + IDLE_PSYS_MW * us;
	for (int i = 0; i < ZONES; i++)
		zones_show(i, nj[i]);
	fprintf(trace, "step %llu %llu %llu %llu %llu %llu\n", (unsigned long long)now_ns,
		(unsigned long long)nj[ZONE_PACKAGE], (unsigned long long)nj[ZONE_CORE],
		(unsigned long long)nj[ZONE_DRAM], (unsigned long long)nj[ZONE_PSYS], (unsigned long long)host_ns);
}

/* --- who comes and goes */

/* Ask for what is due, and take in who has come. */
static void start_due(const char *workload, int nursery_fd, uint64_t now_ns)
{
	static int started[64];
	struct load_born born;
	int i = 0;

	while (load_born(nursery_fd, &born))
		add_task(born.pid, born.part->name, born.part->class)->until_ns = born.part->until_ms * 1000000ULL;

	for (const struct load_part *p = load_next(workload, NULL); p && i < 64; p = load_next(workload, p), i++) {
		int count = p->count ? p->count : 1;
		uint64_t since_ms = begun_ns ? (now_ns - begun_ns) / 1000000 : 0;

		if (started[i] == count)
			continue;
		if (p->from_ms >= 0 &&
		    (!begun_ns || since_ms < (uint64_t)(p->from_ms + started[i] * p->every_ms)))
			continue;
		started[i] += load_start(nursery_fd, p);
	}
}

static void kill_due(uint64_t now_ns)
{
	for (unsigned i = n_live_from; i < n_tasks; i++)
		if (begun_ns && tasks[i].until_ns && !tasks[i].ended && now_ns >= begun_ns + tasks[i].until_ns)
			kill(tasks[i].pid, SIGKILL);
}

static void see_ended(void)
{
	while (n_live_from < n_tasks && tasks[n_live_from].gone)
		n_live_from++;
	poll(pidfds + n_live_from, n_tasks - n_live_from, 0);
	for (unsigned i = n_live_from; i < n_tasks; i++)
		tasks[i].ended |= pidfds[i].revents & POLLIN;
}

static bool has_begun(const char *records)
{
	struct stat st;

	return !stat(records, &st) && st.st_size > 0;
}

static int run(const char *workload, int nursery_fd, const char *records, char *const command[])
{
	uint64_t next_ns = start_ns, now_ns, steps = 1;
	struct task *commander = NULL;
	int linger = LINGER_STEPS, status;

	while (linger && clock_ns(CLOCK_MONOTONIC) - start_ns < LIFE_NS) {
		struct timespec at;

		next_ns += steps * STEP_NS;
		at = (struct timespec){.tv_sec = next_ns / 1000000000, .tv_nsec = next_ns % 1000000000};
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
			;
		now_ns = clock_ns(CLOCK_MONOTONIC);
		step(now_ns, steps);
		steps = now_ns > next_ns ? 1 + (now_ns - next_ns) / STEP_NS : 1;
		see_ended();
		start_due(workload, nursery_fd, now_ns);
		kill_due(now_ns);
		if (!commander)
			commander = add_task(load_exec(command), "command", CLASS_LIGHT);
		if (!begun_ns && has_begun(records))
			begun_ns = now_ns;
		linger -= commander->gone;
	}
	if (linger)
		kill(commander->pid, SIGKILL);
	if (waitpid(commander->pid, &status, 0) < 0)
		die("waitpid", -errno);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* To come soon where somebody runs already; without any right that others lack. */
static void be_punctual(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = {.size = sizeof(attr)};

	prctl(PR_SET_TIMERSLACK, 1);
	if (!syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0)) {
		attr.runtime = 100000;
		syscall(SYS_sched_setattr, 0, &attr, 0);
	}
}

static void describe(void)
{
	fprintf(trace, "idle %d %d\n", IDLE_PACKAGE_MW, IDLE_DRAM_MW);
	for (int i = 0; i < CLASSES; i++)
		fprintf(trace, "class %s %llu %llu\n", classes[i].name, (unsigned long long)classes[i].package_mw,
			(unsigned long long)classes[i].dram_mw);
}

/* %p as an argument is our pid. */
static void name_us(char *argv[])
{
	static char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	for (; *argv; argv++)
		if (!strcmp(*argv, "%p"))
			*argv = pid;
}

int main(int argc, char *argv[])
{
	bool nested = argc > 1 && !strcmp(argv[1], "-n");
	char **arg = argv + 1 + nested;
	int err, status, nursery_fd;
	pid_t nursery;

	if (argc < 7 + nested || strcmp(arg[4], "--") || !load_known(arg[2])) {
		fprintf(stderr, "usage: raplsim [-n] ROOT TRACE WORKLOAD RECORDS -- COMMAND...\n");
		return 2;
	}
	nursery = load_nursery(&nursery_fd); /* before we are large */
	err = zones_make(arg[0], nested);
	if (err)
		die(arg[0], err);
	trace = fopen(arg[1], "we");
	if (!trace || setvbuf(trace, NULL, _IOFBF, 1 << 22))
		die(arg[1], -errno);
	name_us(arg + 5);
	describe();
	be_punctual();
	add_task(getpid(), "raplsim", CLASS_LIGHT);
	open_own_clock();
	class_ns[CLASS_LIGHT] = tasks[0].cpu_ns = own_ns();
	add_task(nursery, "nursery", CLASS_LIGHT);
	has_host = host_open();
	host_first_ns = has_host ? strangers_ns() : 0;
	start_ns = clock_ns(CLOCK_MONOTONIC);
	status = run(arg[2], nursery_fd, arg[3], arg + 5);
	close(nursery_fd);
	waitpid(nursery, NULL, 0);
	if (fclose(trace))
		die(arg[1], -errno);
	return status;
}

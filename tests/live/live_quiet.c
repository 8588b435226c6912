/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: that reading a window disturbs no idle CPU, and that programs go when their owner goes, however it goes.
 * Relies on: proc(5) (interrupts: a program that is run on another CPU comes as a function-call interrupt).
 */
#include "record.h"

#include "base/clock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WINDOWS = 50, ROUNDS = 25 };

/* One row of /proc/interrupts, for one CPU. -1: there is no such row. */
static int64_t interrupts(const char *row, unsigned cpu)
{
	char line[4096], *at;
	int64_t n = -1;
	FILE *f = fopen("/proc/interrupts", "r");

	assert_non_null(f);
	while (n < 0 && fgets(line, sizeof(line), f)) {
		at = line + strspn(line, " ");
		if (strncmp(at, row, strlen(row)))
			continue;
		at = strchr(at, ':') + 1;
		for (unsigned i = 0; i <= cpu; i++)
			n = strtoll(at, &at, 10);
	}
	fclose(f);
	return n;
}

struct quiet {
	int64_t calls; /* function-call interrupts of the other CPU */
	uint32_t snaps;
	uint64_t switches;
	uint64_t idle_ns;
};

static void look(struct record *r, unsigned cpu, struct quiet *q)
{
	const volatile struct swb_cpu *c = &record_inside(r)->cpus[cpu];

	q->calls = interrupts("CAL", cpu);
	q->snaps = c->snaps;
	q->switches = (c->seq >> 1) - c->snaps;
	q->idle_ns = c->bucket_ns[SWB_IDLE];
}

/* So many windows, read or only slept through; what came to the other CPU meanwhile. */
static struct quiet windows(struct record *r, unsigned cpu, bool read)
{
	struct quiet before, after;

	look(r, cpu, &before);
	for (int i = 0; i < WINDOWS; i++) {
		if (read)
			record_window(r, 20 * NS_PER_MS);
		else
			nap(20 * NS_PER_MS);
	}
	look(r, cpu, &after);
	return (struct quiet){after.calls - before.calls, after.snaps - before.snaps, after.switches - before.switches,
			      after.idle_ns - before.idle_ns};
}

/*
 * Of many rounds one at least must be undisturbed: a machine like this has others that interrupt. A reader that asked
 * the idle CPU would do so in each window of each round.
 */
static void no_idle_cpu_woken(void **state)
{
	struct sw_cpu_config config = {0};
	int64_t least = INT64_MAX;
	unsigned other = 1;
	struct record *r;
	bool idle = false;

	(void)state;
	if (cpus_online() < 2)
		skip_because("it takes a CPU that is not the reader's");
	if (interrupts("CAL", 0) < 0)
		skip_because("/proc/interrupts does not count function calls here");
	pin(0);
	r = record_open(&config);
	record_begin(r);
	record_windows(r, 3, 20 * NS_PER_MS);
	for (int i = 0; i < ROUNDS && least > 0; i++) {
		struct quiet q = windows(r, other, true);

		/* only a round in which it idled tells anything: asking a busy CPU is allowed */
		if (q.idle_ns < WINDOWS * 20 * NS_PER_MS * 9 / 10)
			continue;
		idle = true;
		print_message("# %d windows: %lld function calls to the idle CPU, %u of them ours; %llu switches\n",
			      WINDOWS, (long long)q.calls, q.snaps, (unsigned long long)q.switches);
		/* where a task runs for the first time, its CPU may be asked */
		assert_true(q.snaps < WINDOWS / 5);
		if (!q.snaps && q.calls < least)
			least = q.calls;
	}
	if (!idle)
		skip_because("CPU %u never idled", other);
	if (least) {
		/* never quite quiet: then at least no more than without reading */
		int64_t without = INT64_MAX;

		for (int i = 0; i < 5; i++) {
			struct quiet q = windows(r, other, false);

			if (q.calls < without)
				without = q.calls;
		}
		print_message("# at least %lld, without reading %lld\n", (long long)least, (long long)without);
		assert_true(least <= without + WINDOWS / 10);
	}
	record_assert_exact(r);
}

/* --- what is left in the kernel */

static void program_path(char *path, size_t size)
{
	const char *build = getenv("SCHEDWATT_BUILD");

	snprintf(path, size, "%s/schedwatt", build ? build : "build");
	if (access(path, X_OK))
		fail_msg("%s is not there", path);
}

static pid_t start_schedwatt(bool run, struct bpf_ids *ids, bool brief)
{
	char path[256];
	char *const monitor[] = {path, (char *)"monitor", (char *)"-i", (char *)"50", brief ? (char *)"-d" : NULL,
				 (char *)"1", NULL};
	char *const command[] = {path, (char *)"run", (char *)"--", (char *)"/bin/sleep",
				 brief ? (char *)"1" : (char *)"60", NULL};
	pid_t pid;

	program_path(path, sizeof(path));
	pid = start_program(run ? command : monitor);
	for (int i = 0; i < 1000; i++) {
		unsigned links = 0;

		bpf_ids_of(pid, ids);
		for (unsigned k = 0; k < ids->n; k++)
			links += ids->link[k];
		if (ids->on_switch && links >= 2)
			break;
		nap(10 * NS_PER_MS);
	}
	assert_true(ids->on_switch);
	assert_true(bpf_ids_alive(ids) > 2);
	nap(200 * NS_PER_MS);
	return pid;
}

static void gone_after(bool run, int signal, int status)
{
	struct bpf_ids ids;
	pid_t pid = start_schedwatt(run, &ids, !signal);
	struct ended e = finish(pid, signal);
	unsigned left = bpf_ids_left(&ids);

	print_message("# %s, signal %d: status %x, %u of %u left\n", run ? "run" : "monitor", signal, e.status, left,
		      ids.n);
	assert_int_equal(e.status, status);
	assert_int_equal(left, 0);
}

static void gone_after_exit(void **state)
{
	(void)state;
	gone_after(false, 0, 0);
	gone_after(true, 0, 0);
}

static void gone_after_sigterm(void **state)
{
	(void)state;
	gone_after(false, SIGTERM, 0);
	/* the command is told to end, and we end as it did */
	gone_after(true, SIGTERM, (128 + SIGTERM) << 8);
}

static void gone_after_sigkill(void **state)
{
	(void)state;
	gone_after(false, SIGKILL, SIGKILL);
	gone_after(true, SIGKILL, SIGKILL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		live_test(no_idle_cpu_woken),
		live_test(gone_after_exit),
		live_test(gone_after_sigterm),
		live_test(gone_after_sigkill),
	};

	(void)argc;
	return live_run(tests);
}

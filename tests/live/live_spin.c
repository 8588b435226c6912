/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: totals of tasks against their own CPU clocks: spinners, one that never sleeps and was there first, and a known
 * workload under each way of attaching.
 */
#include "record.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

struct spun {
	volatile uint32_t done;
	uint64_t own_ns;
};

static void *spin_pinned(void *cpu)
{
	pin((intptr_t)cpu);
	burn(5 * NS_PER_S);
	return NULL;
}

static void two_threads(void *arg)
{
	struct spun *s = arg;
	pthread_t thread;

	if (pthread_create(&thread, NULL, spin_pinned, (void *)(intptr_t)(cpus_online() - 1)))
		_exit(1);
	spin_pinned((void *)0);
	pthread_join(thread, NULL);
	s->own_ns = process_cpu_ns(0);
	s->done = 1;
	for (;;)
		pause();
}

/* On two CPUs, 5 s on each. */
static void two_cpu_spinner(void **state)
{
	struct spun *s = shared(sizeof(*s));
	struct sw_cpu_config config = {0};
	struct record *r = record_open(&config);
	uint64_t ns;
	pid_t pid;

	(void)state;
	record_begin(r);
	pid = start(two_threads, s);
	while (!s->done)
		record_window(r, 100 * NS_PER_MS);
	record_window(r, 100 * NS_PER_MS);
	record_assert_exact(r);
	assert_true(s->own_ns > 10 * NS_PER_S);
	ns = record_process_ns(r, pid);
	assert_true(record_matches(r, "two threads", ns, s->own_ns, finish(pid, SIGKILL).switches, 2));
}

/* It started before we came and never sleeps: perhaps it is never switched out by its own doing. */
static void there_before(bool tree)
{
	pid_t pid = start(hog, (void *)0);
	struct sw_cpu_config config = {.pids = &pid, .n_pids = tree};
	struct record *r;
	uint64_t before, after;

	nap(100 * NS_PER_MS);
	r = record_open(&config);
	record_begin(r);
	before = process_cpu_ns(pid);
	record_windows(r, 50, 100 * NS_PER_MS);
	after = process_cpu_ns(pid);
	record_assert_exact(r);
	assert_true(after - before > NS_PER_S);
	assert_true(record_matches(r, "it", record_process_ns(r, pid), after - before, switches_of(pid), 2));
}

static void spinner_before_attach(void **state)
{
	(void)state;
	there_before(false);
}

static void spinner_before_attach_tree(void **state)
{
	(void)state;
	there_before(true);
}

/* 300 ms in threads, 300 ms in the root and some hundred children that it waits for. */
static void workload(void *go)
{
	pthread_t thread;

	await(go);
	if (pthread_create(&thread, NULL, (void *(*)(void *))(void (*)(void))burn, (void *)(300 * NS_PER_MS)))
		_exit(1);
	burn(300 * NS_PER_MS);
	for (int i = 0; i < 300; i++) {
		pid_t pid = fork();

		if (!pid) {
			alarm(20);
			if (i % 3 == 0)
				execl("/bin/true", "true", NULL);
			burn(NS_PER_MS);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			_exit(1);
	}
	pthread_join(thread, NULL);
}

static void flavour(uint32_t hook, const char *name, bool tree)
{
	volatile uint32_t *go = shared(sizeof(*go));
	pid_t pid = start(workload, (void *)go);
	struct sw_cpu_config config = {.hook = hook, .pids = &pid, .n_pids = tree};
	struct record *r = record_open(&config);
	uint64_t before_ns;
	struct ended e;

	assert_string_equal(r->b->hook, name);
	record_begin(r);
	before_ns = process_cpu_ns(pid);
	*go = 1;
	while (runs(pid))
		record_window(r, 20 * NS_PER_MS);
	e = finish(pid, 0);
	record_window(r, 20 * NS_PER_MS);
	assert_int_equal(e.status, 0);
	record_assert_exact(r);
	assert_int_equal(r->members_lost, 0);
	assert_true(e.cpu_ns > 900 * NS_PER_MS);
	assert_true(record_matches(r, name, record_tree_ns(r, pid), e.cpu_ns - before_ns, e.switches, 5));
	record_close(r);
}

static void each_flavour(void **state)
{
	(void)state;
	flavour(SW_HOOK_TP_BTF, "tp_btf", false);
	flavour(SW_HOOK_RAW_TP, "raw_tp", false);
	flavour(SW_HOOK_TP, "tracepoint", false);
}

static void each_flavour_tree(void **state)
{
	(void)state;
	flavour(SW_HOOK_TP_BTF, "tp_btf", true);
	flavour(SW_HOOK_RAW_TP, "raw_tp", true);
	flavour(SW_HOOK_TP, "tracepoint", true);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		live_test(two_cpu_spinner),     live_test(spinner_before_attach), live_test(spinner_before_attach_tree),
		live_test(each_flavour), live_test(each_flavour_tree),
	};

	(void)argc;
	return live_run(tests);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: short-lived processes. Each of 3,000 is there with its name, parent and end, and what they had agrees with what
 * the kernel itself says of them when they die (probe.bpf.c).
 */
#include "record.h"

#include "probe.h"
#include "probe.skel.h"

#include <bpf/bpf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KIDS = 3000 };

struct brood {
	volatile uint32_t go, done;
	int32_t pid[KIDS];
};

static struct brood *brood;
static struct probe_bpf *probe;

static void close_probe(void **state)
{
	(void)state;
	probe_bpf__destroy(probe);
	probe = NULL;
}

static int teardown(void **state)
{
	close_probe(state);
	return live_teardown(state);
}

/* Every third execs; the others take a name of their own, and end with a status of their own. */
static void breed(void *unused)
{
	(void)unused;
	await(&brood->go);
	for (int i = 0; i < KIDS; i++) {
		pid_t pid = fork();

		if (!pid) {
			alarm(20);
			if (i % 3 == 0)
				execl("/bin/true", "true", NULL);
			prctl(PR_SET_NAME, i % 3 == 1 ? "kid \"one" : "kid-two");
			burn(20000);
			_exit(i % 3);
		}
		if (pid < 0)
			_exit(1);
		brood->pid[i] = pid;
		/* some together, most alone */
		if (i % 8 != 7)
			while (waitpid(-1, NULL, i % 4 == 3 ? WNOHANG : 0) > 0 && i % 4 != 3)
				;
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	brood->done = 1;
	for (;;)
		pause();
}

static pid_t start_brood(void)
{
	pid_t parent;

	brood = shared(sizeof(*brood));
	parent = start(breed, NULL);
	probe = probe_bpf__open();
	assert_non_null(probe);
	probe->rodata->cfg_ancestor = parent;
	assert_int_equal(probe_bpf__load(probe), 0);
	assert_int_equal(probe_bpf__attach(probe), 0);
	return parent;
}

static const char *name_of(int kid)
{
	return kid % 3 == 0 ? "true" : kid % 3 == 1 ? "kid \"one" : "kid-two";
}

static int by_pid(const void *a, const void *b)
{
	const struct probe_death *x = a, *y = b;

	return (x->tgid > y->tgid) - (x->tgid < y->tgid);
}

/* All deaths, by pid; the list is the caller's. */
static struct probe_death *deaths(void)
{
	struct probe_death *list = calloc(KIDS + 1, sizeof(*list));
	uint64_t n = probe->bss->seen;

	assert_non_null(list);
	assert_int_equal(n, KIDS);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(probe->maps.deaths), &i, &list[i]), 0);
	qsort(list, KIDS, sizeof(*list), by_pid);
	return list;
}

/* One brood over the back end: 0 may be missing. Returns ours ÷ the kernel's, interrupts, steal and losses allowed. */
static double account_brood(bool tree, uint64_t window_ns)
{
	pid_t parent = start_brood();
	struct sw_cpu_config config = {.pids = &parent, .n_pids = tree};
	struct record *r = record_open(&config);
	uint64_t ours_ns = 0, kernel_ns = 0;
	unsigned missing = 0, wrong = 0;
	struct probe_death *list;
	double ratio, allowed;

	record_begin(r);
	brood->go = 1;
	while (!brood->done)
		record_window(r, window_ns);
	record_window(r, 20 * NS_PER_MS);
	list = deaths();
	for (int i = 0; i < KIDS; i++) {
		struct probe_death *d, key = {.tgid = brood->pid[i]};
		struct identity_key id = {.tgid = key.tgid, .tid = key.tgid};
		struct identity *found;

		d = bsearch(&key, list, KIDS, sizeof(*list), by_pid);
		assert_non_null(d);
		kernel_ns += d->ran_ns;
		id.start_boottime_ns = d->start_boottime_ns;
		HASH_FIND(hh, r->identities, &id, sizeof(id), found);
		if (!found || !found->oncpu_ns) {
			missing++;
			continue;
		}
		ours_ns += found->oncpu_ns;
		if (!found->died || found->ppid != parent || strcmp(found->comm, name_of(i)) ||
		    strcmp(found->process_comm, name_of(i)) || found->exit_code != (i % 3) << 8)
			if (!wrong++)
				print_message("# child %d: died %d, ppid %d for %d, comm '%s' for '%s', exit code %x\n",
					      i, found->died, found->ppid, parent, found->comm, name_of(i),
					      (unsigned)found->exit_code);
	}
	free(list);
	allowed = (double)(record_lost_ns(r) + record_stolen_ns(r)) / kernel_ns;
	ratio = (double)ours_ns / kernel_ns;
	print_message("# %d children, %u missing, %u wrong: %.6f s, the kernel's own %.6f: %.4f; lost, interrupts and "
		      "steal %.4f; %llu windows, %llu unmarked\n",
		      KIDS, missing, wrong, ours_ns / 1e9, kernel_ns / 1e9, ratio, allowed,
		      (unsigned long long)r->windows, (unsigned long long)r->members_lost);
	assert_int_equal(missing, 0);
	assert_int_equal(wrong, 0);
	record_assert_exact(r);
	finish(parent, SIGKILL);
	record_close(r);
	close_probe(NULL);
	if (ratio > 1)
		return ratio - allowed < 1 ? 1 : ratio - allowed;
	return ratio + allowed > 1 ? 1 : ratio + allowed;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void short_children(void **state)
{
	double ratio[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		ratio[i] = account_brood(false, 50 * NS_PER_MS);
	qsort(ratio, 3, sizeof(ratio[0]), by_value);
	assert_true(ratio[1] > 0.995 && ratio[1] < 1.005);
}

/* However long a window is: the kernel uses the same task_struct for one child after another. */
static void short_children_of_a_tree(void **state)
{
	(void)state;
	account_brood(true, 20 * NS_PER_MS);
	account_brood(true, 2 * NS_PER_S);
}

static void short_children_in_long_windows(void **state)
{
	(void)state;
	account_brood(false, 2 * NS_PER_S);
}

/* The same over the public interface: each in the summary, exited, with its wait status. */
static void short_children_in_public(void **state)
{
	pid_t parent = start_brood();
	struct sw_options options = {.target = SW_TARGET_PIDS, .pids = &parent, .n_pids = 1, .interval_ms = 20};
	struct watch *w = watch_open(&options);
	unsigned missing = 0, wrong = 0;
	const struct sw_summary *s;

	(void)state;
	brood->go = 1;
	while (!brood->done)
		watch_step(w);
	s = watch_finish(w);
	for (int i = 0; i < KIDS; i++) {
		const struct sw_process *p = watch_find(s->processes, s->n_processes, brood->pid[i]);

		if (!p)
			missing++;
		else if (!p->exited || p->exit_code != (i % 3) << 8 || p->ppid != parent || !p->oncpu_ns ||
			 strcmp(p->comm, name_of(i)))
			wrong++;
	}
	print_message("# %d children, %u missing, %u wrong; %llu seen, %llu alive\n", KIDS, missing, wrong,
		      (unsigned long long)s->processes_seen, (unsigned long long)s->processes_alive);
	assert_int_equal(missing, 0);
	assert_int_equal(wrong, 0);
	assert_int_equal(s->processes_seen, KIDS + 1);
	assert_int_equal(s->processes_alive, 1);
	assert_int_equal(w->broken, 0);
}

#define brood_test(fn) cmocka_unit_test_setup_teardown(fn, live_setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		brood_test(short_children),
		brood_test(short_children_in_long_windows),
		brood_test(short_children_of_a_tree),
		brood_test(short_children_in_public),
	};

	(void)argc;
	return live_run(tests);
}

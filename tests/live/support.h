/* SPDX-License-Identifier: BSD-2-Clause */
/* What the live tests share: children that cannot outlive a test, loads, clocks, and the kernel's list of programs. */
#ifndef SW_TESTS_SUPPORT_H
#define SW_TESTS_SUPPORT_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <sys/types.h>

#define NS_PER_S 1000000000ULL
#define NS_PER_MS 1000000ULL

/* cmocka's skip() gives no reason; tools/run-tests shows lines like this one. */
#define skip_because(...)                                                                                              \
	do {                                                                                                           \
		print_message("# skip: " __VA_ARGS__);                                                                 \
		print_message("\n");                                                                                   \
		skip();                                                                                                \
	} while (0)

#define live_test(fn) cmocka_unit_test_setup_teardown(fn, live_setup, live_teardown)

/* Run a group (LIVE_ONLY=PATTERN: those of it that match), or skip it when BPF is not ours to use. For main(). */
#define live_run(tests) (live_allowed(argv[0]) ? cmocka_run_group_tests(tests, NULL, NULL) : 0)
bool live_allowed(const char *name);

int live_setup(void **state);
/* Ends children and recordings; fails when a program of ours stays in the kernel. */
int live_teardown(void **state);
/* Called by the teardown before it looks for programs. */
void live_at_teardown(void (*fn)(void));

/* --- children: killed with their whole process group at the end of a test at the latest; none lives for 2 minutes */

pid_t start(void (*fn)(void *arg), void *arg);
pid_t start_program(char *const argv[]); /* stdout and stderr go nowhere */

struct ended {
	int status;      /* as of waitpid(2) */
	uint64_t cpu_ns; /* its own and its waited children's, as the kernel counts it */
	uint64_t switches; /* likewise */
};

/* Send `signal` (0: none) and wait for it. */
struct ended finish(pid_t pid, int signal);

/* Has it not ended yet? Leaves it to finish(). */
bool runs(pid_t pid);

/* Memory that children share with the test, zeroed; freed by the teardown. */
void *shared(size_t size);

/* Wait until a child has set *flag. Fails after 20 s. */
void await(const volatile uint32_t *flag);

/* --- what children do */

void pin(int cpu);                /* the calling thread */
uint64_t thread_cpu_ns(void);
uint64_t process_cpu_ns(pid_t pid); /* of another process, all its threads; 0: ours */
uint64_t switches_of(pid_t pid);    /* times that a task of one thread was switched out */
void burn(uint64_t ns);             /* of the calling thread's own CPU time */
void nap(uint64_t ns);

void hog(void *cpu);         /* pinned to (intptr_t)cpu, for ever */
void ping_pong(void *cpu);   /* two processes and a pair of pipes, both pinned there, for ever */
void fork_storm(void *unused); /* short children, one after the other, a third of them exec, for ever */

unsigned cpus_online(void);

/* --- what a comparison with the kernel's own counters has to allow for, in ns since boot, all CPUs */

uint64_t irq_and_steal_ns(void);

/* --- the kernel's programs and links, by id */

struct bpf_ids {
	uint32_t id[64];
	bool link[64];
	unsigned n;
	bool on_switch; /* one of the programs is called switch_… */
};

/* Those that a process holds, by its file descriptors. */
void bpf_ids_of(pid_t pid, struct bpf_ids *ids);
/* How many of them are still there. */
unsigned bpf_ids_alive(const struct bpf_ids *ids);
/* The same, after giving the kernel 2 s. */
unsigned bpf_ids_left(const struct bpf_ids *ids);

#endif

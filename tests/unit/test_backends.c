/* SPDX-License-Identifier: BSD-2-Clause */
/* What every back end promises (cpu/backend.h), for those that can be had without the kernel's help: on made-up files. */
#include "books.h"
#include "proc_tree.h"

#include <errno.h>

#define MS 1000000ULL
#define NS 1000000000ULL

static const int refused = -1;

/* A back end, the files that it reads (at moment 0, 1, 2 …), and the time that it tells of between two moments. */
struct contender {
	const struct sw_cpu_ops *ops;
	void (*files)(const struct tree *t, unsigned moment);
	uint64_t step_ns;
	void (*end)(const struct tree *t); /* of the target; NULL: it has none */
};

/* 10 ms of user time, 10 of system time, 25 by schedstat, in every moment. */
static void process_files(const struct tree *t, unsigned moment)
{
	fake_process(t, (struct fake_task){.tid = 100, .ppid = 1, .start = 7, .comm = "a) b", .utime = 3 + moment,
					   .stime = moment, .schedstat_ns = 30 * MS + moment * 25 * MS});
}

static void process_end(const struct tree *t)
{
	fake_gone(t, "100");
}

static const struct contender contenders[] = {
	{&sw_cpu_proc, process_files, 25 * MS, process_end},
	{&sw_cpu_percent, process_files, 10 * MS, process_end}, /* 20 ms on 2 CPUs */
};

#define for_each_contender(c) \
	for (const struct contender *c = contenders; c < contenders + sizeof(contenders) / sizeof(contenders[0]); c++)

static int try_open(const struct contender *c, const struct tree *t, struct sw_error *error, struct sw_cpu_backend **ret)
{
	static const int16_t domain_of[4];
	static const int32_t pid = 100;
	struct sw_cpu_config config = {.domain_of = domain_of, .n_cpus = 4, .n_domains = 1, .pids = &pid, .n_pids = 1,
				       .procfs_fd = t->fd, .taskstats_fd = &refused};

	*ret = NULL;
	return c->ops->open(&config, error, ret);
}

static void begin(struct books *k, const struct contender *c, const struct tree *t)
{
	struct sw_error error = {""};
	struct sw_cpu_backend *b;

	if (try_open(c, t, &error, &b))
		fail_msg("%s does not open: %s", c->ops->name, error.text);
	assert_ptr_equal(b->ops, c->ops);
	books_begin(k, b, 1);
}

/* 70 ms of each CPU busy in every moment; the second CPU is away in the fourth. */
static void moment(const struct contender *c, const struct tree *t, unsigned n)
{
	char text[256];
	int length = snprintf(text, sizeof(text), "cpu0 %u 0 0 %u 0 0 0 0 0 0\n", n * 7, n * 13);

	if (n != 4)
		snprintf(text + length, sizeof(text) - (size_t)length, "cpu1 %u 0 0 %u 0 0 0 0 0 0\n", n * 7, n * 13);
	tree_write(t, "stat", text);
	c->files(t, n);
}

static void nothing_there(void **state)
{
	struct sw_cpu_backend *b;

	for_each_contender(c) {
		struct sw_error error = {""};

		assert_int_equal(try_open(c, *state, &error, &b), -ENOENT);
		assert_string_not_equal(error.text, "");
		assert_null(b);
		c->ops->close(NULL);
	}
}

static void windows(void **state)
{
	for_each_contender(c) {
		struct tree *t = tree_new();
		uint64_t total_ns = 0;
		struct books k;

		moment(c, t, 0);
		begin(&k, c, t);
		assert_int_equal(k.b->cpus, 2);
		books_at(&k, 1 * NS);
		for (unsigned n = 1; n <= 6; n++) {
			moment(c, t, n);
			books_at(&k, 1 * NS + n * 200 * MS);
			total_ns = 0;
			for (unsigned i = 0; i < k.n_tasks; i++)
				total_ns += k.tasks[i].total_ns;
			assert_int_equal(total_ns, n * c->step_ns);
			assert_int_equal(k.window[0].offline_ns, n == 4 ? 200 * MS : 0);
			assert_int_equal(k.window[0].other_ns, (n == 4 ? 70 : n == 5 ? 210 : 140) * MS - c->step_ns);
			assert_false(k.usage->ended);
			assert_int_equal(k.usage->recursion_misses, INT64_MIN);
			assert_int_equal(k.usage->late, 0);
		}
		/* nothing new: no rows, and nothing lost */
		books_at(&k, 3 * NS);
		assert_int_equal(k.usage->n_rows, 0);
		if (c->end) {
			assert_true(!c->ops->alive || c->ops->alive(k.b));
			c->end(t);
			assert_false(c->ops->alive && c->ops->alive(k.b));
			books_at(&k, 4 * NS);
			assert_true(k.usage->ended);
			books_at(&k, 5 * NS);
			assert_true(k.usage->ended);
			assert_int_equal(k.usage->n_rows, 0);
		}
		books_end(&k);
		tree_free(t);
	}
	(void)state;
}

/* Two at once know nothing of each other. */
static void two_at_once(void **state)
{
	for_each_contender(c) {
		struct tree *t = tree_new();
		struct books a, b;

		moment(c, t, 0);
		begin(&a, c, t);
		books_at(&a, 1 * NS);
		moment(c, t, 1);
		begin(&b, c, t);
		books_at(&b, 2 * NS);
		moment(c, t, 2);
		books_at(&b, 3 * NS);
		books_end(&b);
		books_at(&a, 3 * NS);
		assert_int_equal(a.tasks[0].total_ns, 2 * c->step_ns);
		assert_int_equal(b.tasks[0].total_ns, c->step_ns);
		books_end(&a);
		tree_free(t);
	}
	(void)state;
}

/* A boundary that was announced is drawn nearer, or stays. */
static void drawn_nearer(void **state)
{
	for_each_contender(c) {
		struct tree *t = tree_new();
		const struct sw_cpu_usage *usage;
		uint64_t t_ns, wake_ns;
		struct sw_error error;
		struct books k;

		moment(c, t, 0);
		begin(&k, c, t);
		books_at(&k, 1 * NS);
		assert_int_equal(c->ops->announce(k.b, 3 * NS, &t_ns, &wake_ns), 0);
		assert_int_equal(c->ops->announce(k.b, 2 * NS, &t_ns, &wake_ns), 0);
		assert_int_equal(t_ns, 2 * NS);
		assert_int_equal(c->ops->announce(k.b, 4 * NS, &t_ns, &wake_ns), 0);
		assert_int_equal(wake_ns, 2 * NS);
		assert_int_equal(c->ops->read(k.b, &error, &usage), 0);
		assert_int_equal(usage->t_ns, 2 * NS);
		assert_int_equal(usage->domains[0].span_ns, 2 * NS);
		books_end(&k);
		tree_free(t);
	}
	(void)state;
}

static void told_refusal(const char *name, const char *reason, void *ctx)
{
	(void)name;
	(void)ctx;
	assert_string_not_equal(reason, "");
}

/* By name, and what a name cannot do; cpu_percent is never taken of itself. */
static void by_name(void **state)
{
	static const int32_t pids[] = {100, 101};
	static const int16_t domain_of[4];
	struct tree *t = *state;
	struct sw_cpu_config config = {.domain_of = domain_of, .n_cpus = 4, .n_domains = 1, .pids = pids, .n_pids = 1,
				       .procfs_fd = t->fd, .taskstats_fd = &refused};
	struct sw_cpu_backend *b = NULL;
	struct sw_error error = {""};

	moment(contenders, t, 0);
	assert_int_equal(sw_cpu_open("proc", &config, told_refusal, NULL, &error, &b), 0);
	assert_string_equal(b->ops->name, "proc");
	assert_string_equal(b->ops->quality, "coarse");
	b->ops->close(b);
	assert_int_equal(sw_cpu_open("cpu_percent", &config, told_refusal, NULL, &error, &b), 0);
	assert_string_equal(b->ops->name, "cpu_percent");
	assert_string_equal(b->ops->quality, "coarse");
	assert_non_null(strstr(b->note, "lower bound"));
	b->ops->close(b);
	config.needs_cgroups = true;
	assert_int_equal(sw_cpu_open("proc", &config, told_refusal, NULL, &error, &b), -ENOTSUP);
	assert_non_null(strstr(error.text, "cannot tell cgroups apart"));
	config.needs_cgroups = false;
	config.n_pids = 2;
	assert_int_equal(sw_cpu_open("cpu_percent", &config, told_refusal, NULL, &error, &b), -ENOTSUP);
	assert_non_null(strstr(error.text, "exactly one process"));
	config.n_pids = 0;
	assert_int_equal(sw_cpu_open("cpu_percent", &config, told_refusal, NULL, &error, &b), -ENOTSUP);
	config.n_pids = 1;
	config.any = true;
	assert_int_equal(sw_cpu_percent.open(&config, &error, &b), -ENOTSUP);
	assert_int_equal(sw_cpu_open("top", &config, told_refusal, NULL, &error, &b), -EINVAL);
	assert_non_null(strstr(error.text, "known are"));
}

#define backend_test(fn) cmocka_unit_test_setup_teardown(fn, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		backend_test(nothing_there), cmocka_unit_test(windows), cmocka_unit_test(two_at_once),
		cmocka_unit_test(drawn_nearer), backend_test(by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The beat of a monitor over a made-up back end: windows at the interval, one ahead of its time when the target has
 * ended, and a back end that is tended between.
 */
#include <errno.h>
#include <poll.h>

#include "fake_monitor.h"

#include "child.h"

#define MS 1000000ULL

/* Step whenever the fd says so, until a report comes or the time is up: NULL. */
static const struct sw_report *report_within(struct fake *f, uint64_t ns, unsigned *ret_steps)
{
	struct pollfd p = {.fd = sw_monitor_fd(f->m), .events = POLLIN};
	uint64_t until = sw_now_ns() + ns, now;
	const struct sw_report *report = NULL;

	for (now = sw_now_ns(); now < until; now = sw_now_ns()) {
		int r;

		if (!poll(&p, 1, (until - now) / MS + 1))
			continue;
		*ret_steps += 1;
		r = sw_monitor_step(f->m, &report);
		if (r < 0)
			fail_msg("step: %s", sw_monitor_error(f->m));
		if (r)
			return report;
	}
	return NULL;
}

static struct fake *begun(uint32_t interval_ms, uint32_t scope, const int32_t *pids, size_t n)
{
	const struct sw_options o = {.by = SW_BY_PROCESS, .interval_ms = interval_ms, .no_cmdline = 1, .scope = scope};
	struct fake *f = fake_open(&o, pids, n);

	f->ops.alive = fake_alive;
	f->alive = true;
	assert_int_equal(sw_monitor_begin(f->m), 0);
	return f;
}

static void windows_keep_the_interval(void **state)
{
	struct fake *f = begun(20, SW_SCOPE_TREE, NULL, 0);
	unsigned steps = 0;

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		const struct sw_report *r = report_within(f, 5000 * MS, &steps);

		assert_non_null(r);
		assert_int_equal(r->seq, i);
		assert_true(r->window_ns >= 20 * MS);
		assert_int_equal(r->pids_alive, 0);
		assert_int_equal(r->ended, 0);
	}
	assert_true(steps <= 10); /* the fd is quiet between */
	fake_free(f);
}

/* The last of two roots ends, a descendant lives on for a while, then nobody is left: that window ends there. */
static void a_target_that_ends(void **state)
{
	pid_t pids[2] = {sleeper(), sleeper()};
	struct fake *f = begun(30000, SW_SCOPE_TREE, pids, 2);
	const struct sw_report *r;
	unsigned steps = 0;
	uint64_t t;

	(void)state;
	end(pids[0]);
	assert_null(report_within(f, 50 * MS, &steps));
	assert_int_equal(f->asked, 0); /* one lives: no need to ask */
	end(pids[1]);
	assert_null(report_within(f, 1700 * MS, &steps));
	assert_true(f->asked >= 5 && f->asked <= 16); /* every half second in the end */
	assert_true(steps <= 20);
	f->alive = false;
	f->usage.ended = true;
	t = sw_now_ns();
	r = report_within(f, 5000 * MS, &steps);
	assert_non_null(r);
	assert_true(sw_now_ns() - t < 2000 * MS);
	assert_int_equal(r->ended, 1);
	assert_int_equal(r->pids_alive, 0);
	steps = f->asked = 0;
	assert_null(report_within(f, 100 * MS, &steps)); /* once */
	assert_int_equal(steps + f->asked, 0);
	assert_int_equal(sw_monitor_finish(f->m, &r), 1);
	assert_int_equal(r->ended, 1);
	fake_free(f);
}

/* A root's end that a regular window swallows is followed up all the same. */
static void an_end_at_a_boundary(void **state)
{
	pid_t pid = sleeper();
	struct fake *f = begun(200, SW_SCOPE_TREE, &pid, 1);
	const struct sw_report *r;
	unsigned steps = 0;

	(void)state;
	usleep(210000);
	end(pid);
	r = report_within(f, 1000 * MS, &steps);
	assert_non_null(r);
	assert_int_equal(r->ended, 0);
	assert_int_equal(r->pids_alive, 0);
	f->alive = false;
	f->usage.ended = true;
	r = report_within(f, 5000 * MS, &steps);
	assert_non_null(r);
	assert_int_equal(r->ended, 1);
	assert_true(r->window_ns < 150 * MS);
	r = report_within(f, 5000 * MS, &steps); /* and on at the interval */
	assert_non_null(r);
	assert_true(r->window_ns >= 200 * MS);
	fake_free(f);
}

/* A back end that says too early that nobody is left gets another window, not one after the other. */
static void an_end_told_too_early(void **state)
{
	pid_t pid = sleeper();
	struct fake *f = begun(30000, SW_SCOPE_TREE, &pid, 1);
	const struct sw_report *r;
	unsigned steps = 0;

	(void)state;
	f->alive = false;
	end(pid);
	r = report_within(f, 5000 * MS, &steps);
	assert_non_null(r);
	assert_int_equal(r->ended, 0);
	f->usage.ended = true;
	assert_null(report_within(f, 300 * MS, &steps));
	r = report_within(f, 5000 * MS, &steps);
	assert_non_null(r);
	assert_int_equal(r->ended, 1);
	fake_free(f);
}

/* What ended between opening and the first boundary has a window, too. */
static void ended_before_the_first_boundary(void **state)
{
	const struct sw_options o = {.by = SW_BY_PROCESS, .interval_ms = 30000, .no_cmdline = 1};
	pid_t pid = sleeper();
	struct fake *f = fake_open(&o, &pid, 1);
	const struct sw_report *r;
	unsigned steps = 0;

	(void)state;
	f->ops.alive = fake_alive;
	f->usage.ended = true;
	end(pid);
	assert_int_equal(sw_monitor_begin(f->m), 0);
	r = report_within(f, 5000 * MS, &steps);
	assert_non_null(r);
	assert_int_equal(r->ended, 1);
	fake_free(f);
}

/* Processes alone need no back end that can tell; a tree does, and without one its windows go on. */
static void without_alive(void **state)
{
	for (uint32_t scope = SW_SCOPE_TREE; scope <= SW_SCOPE_PROCESS; scope++) {
		pid_t pid = sleeper();
		struct fake *f = begun(30000, scope, &pid, 1);
		unsigned steps = 0;

		(void)state;
		f->ops.alive = NULL;
		assert_null(report_within(f, 20 * MS, &steps));
		end(pid);
		if (scope == SW_SCOPE_PROCESS)
			assert_non_null(report_within(f, 5000 * MS, &steps));
		assert_null(report_within(f, 700 * MS, &steps));
		assert_true(steps < 8);
		fake_free(f);
	}
}

static void tending(void **state)
{
	struct fake *f = begun(1000, SW_SCOPE_TREE, NULL, 0);
	uint64_t begin_ns = f->m->ended_ns;
	unsigned steps = 0;

	(void)state;
	f->ops.tend = fake_tend;
	f->head.tend_ns = 200 * MS;
	assert_int_equal(sw_wake_arm(f->m), 0);
	assert_null(report_within(f, 880 * MS, &steps));
	/* each 200 ms or a little more, and none where the boundary will do */
	assert_true(f->tended >= 2 && f->tended <= 4);
	assert_true(f->last_tended_ns < begin_ns + 990 * MS);
	assert_non_null(report_within(f, 5000 * MS, &steps));
	assert_true(f->tended <= 4);
	assert_true(steps < 20);
	fake_free(f);

	f = begun(90, SW_SCOPE_TREE, NULL, 0); /* the next boundary is soon enough */
	f->ops.tend = fake_tend;
	f->head.tend_ns = 80 * MS;
	assert_non_null(report_within(f, 5000 * MS, &steps));
	assert_non_null(report_within(f, 5000 * MS, &steps));
	assert_int_equal(f->tended, 0);
	fake_free(f);
}

static void a_window_cut_short_by_finish(void **state)
{
	struct fake *f = begun(30000, SW_SCOPE_TREE, NULL, 0);
	const struct sw_report *r = NULL;

	(void)state;
	assert_int_equal(sw_monitor_step(f->m, &r), 0);
	assert_int_equal(sw_monitor_finish(f->m, &r), 1);
	assert_true(r->window_ns < 5000 * MS);
	assert_int_equal(sw_monitor_step(f->m, &r), -ESHUTDOWN);
	assert_int_equal(sw_monitor_finish(f->m, &r), -ESHUTDOWN);
	fake_free(f);
}

static void assert_invalid(struct sw_options *o, int err, const char *words)
{
	struct sw_monitor *m = NULL;
	char error[256] = "";

	o->sz = sizeof(*o);
	o->error = error;
	o->error_size = sizeof(error);
	assert_int_equal(sw_monitor_open(o, &m), err);
	assert_null(m);
	if (!strstr(error, words))
		fail_msg("'%s' does not say '%s'", error, words);
}

static void options_that_do_not_fit(void **state)
{
	const int32_t one = 1, zero = 0;

	(void)state;
	assert_invalid(&(struct sw_options){.interval_ms = 9}, -EINVAL, "windows of 9 ms are too short");
	assert_invalid(&(struct sw_options){.target = 3}, -EINVAL, "target 3 does not exist");
	assert_invalid(&(struct sw_options){.target = SW_TARGET_PIDS}, -EINVAL, "pids (0) do not fit");
	assert_invalid(&(struct sw_options){.pids = &one, .n_pids = 1}, -EINVAL, "pids (1) do not fit");
	assert_invalid(&(struct sw_options){.target = SW_TARGET_PIDS, .pids = &zero, .n_pids = 1}, -EINVAL, "pid 0");
	assert_invalid(&(struct sw_options){.target = SW_TARGET_CGROUP}, -EINVAL, "cgroup (none) do not fit");
	assert_invalid(&(struct sw_options){.cgroup = "/a"}, -EINVAL, "cgroup (/a) do not fit");
	assert_invalid(&(struct sw_options){.target = SW_TARGET_CGROUP, .cgroup = "/a", .pids = &one, .n_pids = 1},
		       -EINVAL, "pids (1) do not fit");
	assert_invalid(&(struct sw_options){.scope = SW_SCOPE_PROCESS}, -EINVAL, "only a target of pids");
	assert_invalid(&(struct sw_options){.own_cgroup = 1}, -EINVAL, "only a target of pids can have a cgroup of its own");
	assert_invalid(&(struct sw_options){.target = SW_TARGET_PIDS, .pids = &one, .n_pids = 1, .scope = 2}, -EINVAL,
		       "scope 2 does not exist");
	assert_invalid(&(struct sw_options){.by = 0x11}, -EINVAL, "rows by 0x10 do not exist");
}

static void pids_that_are_none(void **state)
{
	const int32_t none = INT32_MAX;

	(void)state;
	assert_invalid(&(struct sw_options){.target = SW_TARGET_PIDS, .pids = &none, .n_pids = 1}, -ESRCH,
		       "there is no process 2147483647");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_keep_the_interval),
		cmocka_unit_test(a_target_that_ends),
		cmocka_unit_test(an_end_at_a_boundary),
		cmocka_unit_test(an_end_told_too_early),
		cmocka_unit_test(ended_before_the_first_boundary),
		cmocka_unit_test(without_alive),
		cmocka_unit_test(tending),
		cmocka_unit_test(a_window_cut_short_by_finish),
		cmocka_unit_test(options_that_do_not_fit),
		cmocka_unit_test(pids_that_are_none),
	};

	return cmocka_run_group_tests_name("monitor", tests, NULL, NULL);
}

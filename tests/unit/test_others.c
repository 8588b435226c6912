/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Back ends beside a monitor's own, all of them made up: the same windows for all, each with its own account of time
 * and so of energy; one that fails is out, and the others go on. The choice of back ends is this file's, in place of
 * src/cpu/select.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>

#include "fake_monitor.h"

#include "child.h"

#define MS 1000000ULL

enum { OFFERED_MAX = 4, CLOSED_MAX = 64 };

static struct fake *offered[OFFERED_MAX]; /* to sw_monitor_add(), by name */
static char closed[CLOSED_MAX];           /* names of what was closed, in order */

int sw_cpu_possible(struct sw_error *error)
{
	(void)error;
	return 1;
}

int sw_cpu_open(const char *name, const struct sw_cpu_config *config,
		void (*refused)(const char *name, const char *reason, void *ctx), void *ctx, struct sw_error *error,
		struct sw_cpu_backend **ret)
{
	(void)refused;
	(void)ctx;
	assert_false(config->any);
	for (unsigned i = 0; i < OFFERED_MAX; i++) {
		if (!offered[i] || strcmp(offered[i]->ops.name, name))
			continue;
		*ret = &offered[i]->head;
		return 0;
	}
	return sw_fail(error, -ENOTSUP, "%s does not open here", name);
}

static void note_close(struct sw_cpu_backend *b)
{
	snprintf(closed + strlen(closed), CLOSED_MAX - strlen(closed), "%s ", b->ops->name);
}

/* A struct fake without a monitor yet. */
static struct fake *offer(const char *name, bool tells_tasks)
{
	struct fake *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->ops = (struct sw_cpu_ops){.name = name, .quality = "coarse", .tells_tasks = tells_tasks,
				     .announce = fake_announce, .read = fake_read, .close = note_close};
	f->head = (struct sw_cpu_backend){.ops = &f->ops, .max_keys = FAKE_KEYS, .cpus = 1};
	f->usage.recursion_misses = f->usage.shared_with = f->usage.shared_ns = f->usage.irq_ns = f->usage.steal_ns =
		INT64_MIN;
	for (unsigned i = 0; i < OFFERED_MAX; i++) {
		if (offered[i])
			continue;
		offered[i] = f;
		return f;
	}
	fail_msg("too many back ends");
	return NULL;
}

static struct fake *lead(uint32_t interval_ms, const int32_t *pids, size_t n)
{
	const struct sw_options o = {.by = SW_BY_PROCESS, .interval_ms = interval_ms, .no_cmdline = 1};
	struct fake *f = fake_open(&o, pids, n);

	closed[0] = '\0';
	f->m->options.pids = f->m->target.pids;
	f->m->options.n_pids = n;
	f->ops.name = "leader";
	f->ops.close = note_close;
	f->m->procfs_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(f->m->procfs_fd >= 0);
	return f;
}

static void add(struct fake *leader, struct fake *f)
{
	assert_int_equal(sw_monitor_add(leader->m, f->ops.name, &f->m), 0);
	assert_string_equal(sw_monitor_error(leader->m), "");
	assert_null(sw_monitor_report(f->m));
}

static void end_all(struct fake *leader)
{
	free(leader->rows);
	fake_free(leader);
	for (unsigned i = 0; i < OFFERED_MAX; i++) {
		if (offered[i])
			free(offered[i]->rows);
		free(offered[i]);
		offered[i] = NULL;
	}
}

static const struct sw_task task = {.start_boottime_ns = 5, .leader_start_boottime_ns = 5, .tgid = 7, .tid = 7,
				    .here = {.tgid = 7, .tid = 7}, .comm = "seven", .process_comm = "seven"};

/* From now on the target has had so much in domain 0, and others so much there. */
static void tell(struct fake *f, bool first, uint64_t proc_ns, uint64_t other_ns)
{
	if (!f->rows)
		f->rows = calloc(1, sizeof(*f->rows));
	assert_non_null(f->rows);
	f->rows[0] = (struct sw_cpu_row){
		.first = first,
		.oncpu_ns = proc_ns,
		.task = f->ops.tells_tasks ? &task : NULL,
	};
	f->usage.n_rows = 1;
	f->domains[0].other_ns = other_ns;
	f->domains[0].span_ns = proc_ns + other_ns;
}

static const struct sw_report *next_window(struct fake *leader)
{
	struct pollfd p = {.fd = sw_monitor_fd(leader->m), .events = POLLIN};
	uint64_t until = sw_now_ns() + 10000 * MS;
	const struct sw_report *report = NULL;

	while (sw_now_ns() < until) {
		int r = poll(&p, 1, 1000) > 0 ? sw_monitor_step(leader->m, &report) : 0;

		if (r < 0)
			fail_msg("step: %s", sw_monitor_error(leader->m));
		if (r) {
			assert_ptr_equal(sw_monitor_report(leader->m), report);
			return report;
		}
	}
	fail_msg("no window came");
	return NULL;
}

/* Of domain 0, whose energy is all shared out by time; what the other zones had is nobody's. */
static void check_account(const struct fake *f, const struct sw_report *lead, uint64_t proc_ns, uint64_t other_ns)
{
	const struct sw_report *r = sw_monitor_report(f->m);
	int64_t share;

	assert_non_null(r);
	assert_int_equal(r->seq, lead->seq);
	assert_true(r->t_ns == lead->t_ns && r->window_ns == lead->window_ns && r->time_utc_ns == lead->time_utc_ns);
	assert_true(r->proc_oncpu_ns == proc_ns && r->other_oncpu_ns == other_ns);
	assert_true(r->energy.total_nj == lead->energy.total_nj && r->energy.total_nj > 0);
	assert_true(r->energy.proc_nj + r->energy.other_nj + r->energy.idle_nj + r->energy.unattributed_nj ==
		    r->energy.total_nj);
	assert_true(r->domains[0].nj == lead->domains[0].nj);
	assert_true(r->energy.proc_nj + r->energy.other_nj == r->domains[0].nj);
	share = (int64_t)((unsigned __int128)r->domains[0].nj * proc_ns / (proc_ns + other_ns));
	assert_in_range(r->energy.proc_nj, share, share + 1);
	assert_int_equal(r->n_processes, f->ops.tells_tasks);
	if (r->n_processes) {
		assert_int_equal(r->processes[0].pid, 7);
		assert_true(r->processes[0].oncpu_ns == proc_ns && r->processes[0].nj == r->energy.proc_nj);
	}
}

static void each_has_its_own_account(void **state)
{
	struct fake *leader = lead(20, NULL, 0), *one = offer("one", true), *two = offer("two", false);
	const struct sw_report *r;
	const struct sw_summary *s;
	int64_t one_nj = 0, total_nj = 0;

	(void)state;
	add(leader, one);
	add(leader, two);
	assert_string_equal(sw_monitor_header(one->m)->backend, "one");
	assert_string_equal(sw_monitor_header(two->m)->backend_quality, "coarse");
	assert_int_equal(sw_monitor_header(one->m)->by, SW_BY_PROCESS);
	assert_int_equal(sw_monitor_header(two->m)->by, 0);
	assert_int_equal(sw_monitor_header(two->m)->n_zones, 4);
	tell(leader, true, 1000, 0); /* before the first boundary: nobody's */
	tell(one, true, 500, 0);
	tell(two, true, 0, 0);
	assert_int_equal(sw_monitor_begin(leader->m), 0);
	assert_null(sw_monitor_report(one->m));
	assert_true(sw_monitor_header(two->m)->started_ns == sw_monitor_header(leader->m)->started_ns ||
		    !sw_monitor_header(leader->m)->started_ns);
	for (unsigned i = 1; i <= 5; i++) {
		tell(leader, false, 1000 + i * 10 * MS, 0);
		tell(one, false, 500 + i * 8 * MS, i * 2 * MS);
		tell(two, false, i * 3 * MS, i * 6 * MS + i);
		two->usage.shared_with = i;
		two->usage.shared_ns = i * 6 * MS;
		two->usage.exits = i;
		two->usage.exits_ns = i * 7;
		two->usage.irq_ns = two->usage.steal_ns = i * i;
		r = next_window(leader);
		assert_int_equal(r->seq, i - 1);
		check_account(leader, r, 10 * MS, 0);
		check_account(one, r, 8 * MS, 2 * MS);
		check_account(two, r, 3 * MS, 6 * MS + 1);
		assert_true(r->shared_with == SW_ABSENT && r->irq_ns == SW_ABSENT && !r->exits);
		r = sw_monitor_report(two->m);
		assert_int_equal(r->shared_with, i);
		assert_true(i == 1 ? r->shared_ns == SW_ABSENT : r->shared_ns == (int64_t)(6 * MS));
		assert_true(i == 1 ? r->steal_ns == SW_ABSENT : r->steal_ns == 2 * i - 1);
		assert_true(r->exits == 1 && r->exits_ns == 7);
		one_nj += sw_monitor_report(one->m)->energy.proc_nj;
		total_nj += r->energy.total_nj;
	}
	assert_int_equal(sw_monitor_summary(one->m, &s), 0);
	assert_int_equal(s->samples, 5);
	assert_true(s->proc_oncpu_ns == 40 * MS && s->other_oncpu_ns == 10 * MS);
	assert_true(s->energy[SW_POLICY_BUSY].proc_nj == one_nj && s->energy[SW_POLICY_BUSY].total_nj == total_nj);
	assert_int_equal(s->n_processes, 1);
	assert_true(s->processes[0].oncpu_ns == 40 * MS);
	end_all(leader);
	assert_string_equal(closed, "one two leader ");
}

static int read_fails(struct sw_cpu_backend *b, struct sw_error *error, const struct sw_cpu_usage **ret)
{
	(void)b;
	(void)ret;
	return sw_fail(error, -EIO, "the file of this back end is gone");
}

static int read_fails_mutely(struct sw_cpu_backend *b, struct sw_error *error, const struct sw_cpu_usage **ret)
{
	(void)b;
	(void)error;
	(void)ret;
	return -EIO;
}

static int announce_fails(struct sw_cpu_backend *b, uint64_t at_ns, uint64_t *ret_t_ns, uint64_t *ret_wake_ns)
{
	(void)b;
	(void)at_ns;
	(void)ret_t_ns;
	(void)ret_wake_ns;
	return -EBUSY;
}

/* A window of both, then whatever `fault` does to `one`, and two more windows of the other. */
static void fail_midway(void (*fault)(struct fake *), unsigned windows, const char *words)
{
	struct fake *leader = lead(20, NULL, 0), *one = offer("one", true), *two = offer("two", true);
	const struct sw_summary *s;
	unsigned reads, made = 0;

	add(leader, one);
	add(leader, two);
	tell(leader, true, 0, 0);
	tell(one, true, 0, 0);
	tell(two, true, 0, 0);
	assert_int_equal(sw_monitor_begin(leader->m), 0);
	for (unsigned i = 1; i <= 4; i++) {
		const struct sw_report *r;

		tell(leader, false, i * 10 * MS, 0);
		tell(one, false, i * 9 * MS, 0);
		tell(two, false, i * 8 * MS, MS);
		if (i == 2)
			fault(one);
		r = next_window(leader);
		assert_int_equal(r->seq, i - 1);
		assert_true(sw_monitor_report(two->m)->proc_oncpu_ns == 8 * MS);
		made += sw_monitor_report(one->m) != NULL;
		assert_int_equal(sw_monitor_report(one->m) != NULL, i <= windows);
		assert_string_equal(sw_monitor_error(two->m), "");
	}
	assert_int_equal(made, windows);
	assert_string_equal(sw_monitor_error(one->m), words);
	assert_int_equal(sw_monitor_summary(one->m, &s), 0);
	assert_int_equal(s->samples, windows);
	assert_true(s->proc_oncpu_ns == windows * 9 * MS);
	assert_string_equal(sw_monitor_error(one->m), words); /* still */
	assert_int_equal(sw_monitor_summary(two->m, &s), 0);
	assert_int_equal(s->samples, 4);
	reads = one->reads;
	next_window(leader);
	assert_int_equal(one->reads, reads); /* nobody asks it again */
	end_all(leader);
	assert_string_equal(closed, "one two leader ");
}

static void lose_its_file(struct fake *f)
{
	f->ops.read = read_fails;
}

static void lose_its_file_mutely(struct fake *f)
{
	f->ops.read = read_fails_mutely;
}

static void refuse_boundaries(struct fake *f)
{
	f->ops.announce = announce_fails;
}

static void go_back(struct fake *f)
{
	f->rows[0].oncpu_ns = MS;
}

static void one_that_fails_midway(void **state)
{
	(void)state;
	fail_midway(lose_its_file, 1, "the file of this back end is gone");
	fail_midway(lose_its_file_mutely, 1, "one: cannot be read: Input/output error");
	/* the boundary behind the second window is refused, and the window is whole */
	fail_midway(refuse_boundaries, 2, "one: cannot set a boundary: Device or resource busy");
	fail_midway(go_back, 1, "CPU time of task 7 fell by 8000000 ns; please report this");
}

static void one_that_fails_at_once(void **state)
{
	struct fake *leader = lead(20, NULL, 0), *one = offer("one", true);
	const struct sw_summary *s;

	(void)state;
	add(leader, one);
	one->ops.read = read_fails;
	assert_int_equal(sw_monitor_begin(leader->m), 0);
	next_window(leader);
	assert_null(sw_monitor_report(one->m));
	assert_int_equal(sw_monitor_summary(one->m, &s), 0);
	assert_int_equal(s->samples, 0);
	end_all(leader);
}

/* The target ends: the boundary that is drawn near is everybody's. */
static void a_boundary_drawn_near(void **state)
{
	pid_t pid = sleeper();
	struct fake *leader = lead(30000, &pid, 1), *one = offer("one", true);
	const struct sw_report *r;

	(void)state;
	leader->ops.alive = fake_alive;
	leader->alive = true;
	add(leader, one);
	assert_int_equal(sw_monitor_header(one->m)->n_pids, 1);
	assert_int_equal(sw_monitor_header(one->m)->pids[0], pid);
	tell(leader, true, 0, 0);
	tell(one, true, 0, 0);
	assert_int_equal(sw_monitor_begin(leader->m), 0);
	tell(leader, false, 2 * MS, 0);
	tell(one, false, 1 * MS, 1 * MS);
	leader->alive = false;
	leader->usage.ended = true;
	end(pid);
	r = next_window(leader);
	assert_true(r->window_ns < 10000 * MS);
	assert_true(one->t_ns >= leader->t_ns);
	check_account(one, r, MS, MS);
	assert_int_equal(sw_monitor_report(one->m)->ended, 1);
	assert_int_equal(sw_monitor_report(one->m)->pids_alive, 0);
	/* and one that finish() draws near */
	tell(leader, false, 3 * MS, 0);
	tell(one, false, 3 * MS, 2 * MS);
	assert_int_equal(sw_monitor_finish(leader->m, &r), 1);
	assert_int_equal(r->seq, 1);
	check_account(one, r, 2 * MS, MS);
	end_all(leader);
}

static void tending(void **state)
{
	struct fake *leader = lead(1000, NULL, 0), *one = offer("one", true);

	(void)state;
	one->ops.tend = fake_tend;
	one->head.tend_ns = 200 * MS;
	add(leader, one);
	assert_int_equal(sw_monitor_begin(leader->m), 0);
	next_window(leader);
	/* each 200 ms or a little more, and none where the boundary will do */
	assert_in_range(one->tended, 2, 4);
	assert_int_equal(leader->tended, 0);
	end_all(leader);
}

static void what_cannot_be_added(void **state)
{
	struct fake *leader = lead(20, NULL, 0), *one = offer("one", true), *two = offer("two", true);
	struct sw_monitor *none = NULL;
	const struct sw_report *r = NULL;

	(void)state;
	assert_int_equal(sw_monitor_add(leader->m, NULL, &none), -EINVAL);
	assert_string_equal(sw_monitor_error(leader->m), "another back end has to be named");
	assert_int_equal(sw_monitor_add(leader->m, "auto", &none), -EINVAL);
	assert_int_equal(sw_monitor_add(leader->m, "three", &none), -ENOTSUP);
	assert_string_equal(sw_monitor_error(leader->m), "three does not open here");
	add(leader, one); /* and those that were refused are not in its way */
	assert_int_equal(sw_monitor_add(one->m, "two", &none), -EINVAL);
	assert_non_null(strstr(sw_monitor_error(one->m), "follows another"));
	assert_int_equal(sw_monitor_begin(one->m), -EINVAL);
	assert_int_equal(sw_monitor_step(one->m, &r), -EINVAL);
	assert_int_equal(sw_monitor_finish(one->m, &r), -EINVAL);
	assert_int_equal(sw_monitor_begin(leader->m), 0);
	assert_int_equal(sw_monitor_add(leader->m, "two", &none), -EALREADY);
	assert_null(none);
	assert_null(r);
	next_window(leader);
	assert_non_null(sw_monitor_report(one->m));
	assert_string_equal(closed, "");
	assert_int_equal(two->reads, 0);
	end_all(leader);
	assert_string_equal(closed, "one leader ");
}

/* Before the recording has begun, and after it is over. */
static void closing_at_any_time(void **state)
{
	struct fake *leader = lead(20, NULL, 0), *one = offer("one", false);
	const struct sw_report *r;

	(void)state;
	add(leader, one);
	end_all(leader);
	assert_string_equal(closed, "one leader ");
	leader = lead(20, NULL, 0);
	one = offer("one", false);
	add(leader, one);
	assert_int_equal(sw_monitor_finish(leader->m, &r), 1);
	assert_int_equal(sw_monitor_report(one->m)->seq, 0);
	assert_int_equal(sw_monitor_step(leader->m, &r), -ESHUTDOWN);
	assert_non_null(sw_monitor_report(one->m)); /* lives until then */
	end_all(leader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_own_account),
		cmocka_unit_test(one_that_fails_midway),
		cmocka_unit_test(one_that_fails_at_once),
		cmocka_unit_test(a_boundary_drawn_near),
		cmocka_unit_test(tending),
		cmocka_unit_test(what_cannot_be_added),
		cmocka_unit_test(closing_at_any_time),
	};

	return cmocka_run_group_tests_name("others", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/meter.c and wake.c by clocks of the test's own: when counters are read between boundaries, what a suspend does,
 * what the wall clock does not, and how often a lost counter is looked for.
 */
#include "fake_monitor.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define HOUR (3600 * SECOND)

/* These definitions stand for all of base/clock.c, and before the C library's. */
static struct {
	uint64_t now_ns, asleep_ns;
	int64_t realtime_ns;
	uint64_t armed_ns;
} clocks;

uint64_t sw_now_ns(void)
{
	return clocks.now_ns += 1000; /* no two readings of a clock are the same */
}

uint64_t sw_boottime_ns(void)
{
	return sw_now_ns() + clocks.asleep_ns;
}

int64_t sw_realtime_ns(void)
{
	return clocks.realtime_ns + (int64_t)clocks.now_ns;
}

void sw_sleep_until_ns(uint64_t t_ns)
{
	if (clocks.now_ns < t_ns)
		clocks.now_ns = t_ns;
}

/* The timer is never waited for: armed, it has fired when the test has set the clock on. */
int timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *old)
{
	(void)fd;
	(void)flags;
	(void)old;
	clocks.armed_ns = (uint64_t)when->it_value.tv_sec * SECOND + (uint64_t)when->it_value.tv_nsec;
	return 0;
}

/* A source whose counters the test moves, and that notes when it is read. */
static struct {
	struct sw_energy_source head;
	struct sw_zone_value values[2];
	uint64_t power_w;
	uint64_t range_uj;
	uint64_t last_read_ns, longest_ns;
	unsigned reads, mends;
} src;

static void src_read(struct sw_energy_source *source, const struct sw_busy *busy, struct sw_zone_value *values)
{
	(void)busy;
	if (src.power_w)
		for (size_t i = 0; i < source->n_zones; i++)
			src.values[i].raw_uj = (clocks.now_ns / 1000 * src.power_w) % (src.range_uj + 1);
	memcpy(values, src.values, source->n_zones * sizeof(*values));
	if (src.reads++ && clocks.now_ns - src.last_read_ns > src.longest_ns)
		src.longest_ns = clocks.now_ns - src.last_read_ns;
	src.last_read_ns = clocks.now_ns;
}

static void src_mend(struct sw_energy_source *source)
{
	(void)source;
	src.mends++;
}

static struct sw_zone_info zones[2] = {
	{.role = SW_ROLE_PACKAGE, .domains = 1, .die = -1, .name = (char *)"package-0"},
	{.role = SW_ROLE_DRAM, .domains = 1, .die = -1, .name = (char *)"package-0/dram"},
};

static const struct sw_energy_ops ops = {
	.name = "fake", .quality = "measured", .read = src_read, .mend = src_mend, .close = fake_source_close};

static struct fake *begun(uint32_t interval_ms, uint64_t range_uj)
{
	const struct sw_options o = {.by = SW_BY_PROCESS, .interval_ms = interval_ms, .no_cmdline = 1};
	struct fake *f = fake_open(&o, NULL, 0);
	struct sw_monitor *m = f->m;

	memset(&clocks, 0, sizeof(clocks));
	memset(&src, 0, sizeof(src));
	clocks.now_ns = 1000 * SECOND;
	clocks.realtime_ns = INT64_C(1700000000000000000);
	zones[0].range_uj = zones[0].wrap_uj = zones[1].range_uj = zones[1].wrap_uj = src.range_uj = range_uj;
	src.head = (struct sw_energy_source){.ops = &ops, .zones = zones, .n_zones = 2};
	sw_meter_free(&m->meter);
	sw_windows_free(&m->windows);
	assert_int_equal(sw_meter_init(&m->meter, &src.head), 0);
	assert_int_equal(sw_windows_init(&m->windows, FAKE_KEYS, FAKE_DOMAINS, 2), 0);
	return f;
}

/* Set the clock on to what the timer is armed for, and let the monitor do what is due. */
static const struct sw_report *step(struct fake *f)
{
	const struct sw_report *r = NULL;
	int err;

	sw_sleep_until_ns(clocks.armed_ns);
	if (clocks.now_ns >= f->m->wake_ns) { /* what sw_wake_take() would read of a real timer */
		int fd = f->m->timer_fd, pipes[2];

		assert_int_equal(pipe(pipes), 0);
		assert_int_equal(write(pipes[1], "8 bytes!", 8), 8);
		f->m->timer_fd = pipes[0];
		err = sw_monitor_step(f->m, &r);
		f->m->timer_fd = fd;
		close(pipes[0]);
		close(pipes[1]);
	} else {
		err = sw_monitor_step(f->m, &r);
	}
	if (err < 0)
		fail_msg("step: %s", sw_monitor_error(f->m));
	return r;
}

static const struct sw_report *window(struct fake *f)
{
	const struct sw_report *r = NULL;

	for (int i = 0; i < 100000 && !r; i++)
		r = step(f);
	assert_non_null(r);
	return r;
}

/*
 * Windows of an hour, a counter that goes round in less: it is read at least each range ÷ 2 kW, here 32.8 s, and what it
 * counts in the hour is all there, though it went round 15 times.
 */
static void read_before_it_wraps(void **state)
{
	const uint64_t range_uj = UINT64_C(65532610987), at_most_ns = range_uj * 1000 / 2 / 1000;
	struct fake *f = begun(3600000, range_uj);
	const struct sw_report *r;

	(void)state;
	src.power_w = 280;
	assert_int_equal(sw_monitor_begin(f->m), 0);
	for (int i = 0; i < 3; i++) {
		r = window(f);
		assert_true(r->window_ns >= HOUR && r->window_ns < HOUR + SECOND);
		assert_int_equal(r->flags, 0);
		/* 280 W × 1 h in each of two zones, but for when exactly it is read, and one unit a wrap */
		assert_in_range(r->package_nj, INT64_C(280) * 3600 * (int64_t)SECOND - 1000000,
				INT64_C(280) * 3600 * (int64_t)SECOND + 1000000000);
		assert_int_equal(r->dram_nj, r->package_nj);
	}
	assert_true(src.longest_ns <= at_most_ns + SECOND / 1000);
	assert_in_range(src.reads, 3 * HOUR / at_most_ns, 3 * HOUR / at_most_ns + 8);
	fake_free(f);
}

/* A counter that never goes round, or does so in years, is read at boundaries only. */
static void not_read_without_need(void **state)
{
	static const uint64_t ranges[] = {0, UINT64_MAX};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct fake *f = begun(3600000, ranges[i]);

		assert_int_equal(sw_monitor_begin(f->m), 0);
		window(f);
		window(f);
		assert_int_equal(src.reads, 3);
		fake_free(f);
	}
}

/* We were held up for so long that it may have gone round unseen: no joules rather than too few. */
static void a_gap_too_long(void **state)
{
	struct fake *f = begun(1000, UINT64_C(65532610987));

	(void)state;
	src.power_w = 280;
	assert_int_equal(sw_monitor_begin(f->m), 0);
	assert_int_equal(window(f)->flags, 0);
	clocks.now_ns += 400 * SECOND;
	assert_int_equal(window(f)->flags, SW_FLAG_NO_ENERGY);
	assert_int_equal(window(f)->flags, 0);
	fake_free(f);
}

/* An hour asleep in a window of a second: 50 J are not its power, and a counter that fell has not gone round. */
static void a_suspend(void **state)
{
	struct fake *f = begun(1000, UINT64_C(262143999938));
	const struct sw_summary *sum;
	const struct sw_report *r;

	(void)state;
	src.values[0].raw_uj = src.values[1].raw_uj = 1000000;
	assert_int_equal(sw_monitor_begin(f->m), 0);
	src.values[0].raw_uj += 5000000;
	r = window(f);
	assert_int_equal(r->package_nj, 5 * (int64_t)SECOND);
	assert_int_equal(r->flags, 0);
	for (int fell = 0; fell < 2; fell++) {
		clocks.asleep_ns += 3600 * SECOND;
		src.values[0].raw_uj = fell ? 7 : src.values[0].raw_uj + 50000000;
		r = window(f);
		assert_int_equal(r->flags, SW_FLAG_SUSPEND | SW_FLAG_NO_ENERGY);
		assert_true(r->energy.total_nj == SW_ABSENT && r->package_nj == SW_ABSENT);
		assert_true(r->window_ns < 2 * SECOND);
		src.values[0].raw_uj += 3000000;
		r = window(f);
		assert_int_equal(r->flags, 0);
		assert_int_equal(r->package_nj, 3 * (int64_t)SECOND);
	}
	assert_int_equal(sw_monitor_summary(f->m, &sum), 0);
	assert_int_equal(sum->energy[SW_POLICY_BUSY].total_nj, 11 * (int64_t)SECOND);
	fake_free(f);
}

/* An hour asleep between two boundaries, seen by a reading of the counters between them. */
static void a_suspend_between(void **state)
{
	struct fake *f = begun(60000, UINT64_C(65532610987));
	const struct sw_report *r = NULL;

	(void)state;
	assert_int_equal(sw_monitor_begin(f->m), 0);
	assert_null(step(f));
	clocks.asleep_ns += 3600 * SECOND;
	src.values[0].raw_uj += 50000000;
	r = window(f);
	assert_int_equal(r->flags, SW_FLAG_SUSPEND | SW_FLAG_NO_ENERGY);
	assert_int_equal(window(f)->flags, 0);
	fake_free(f);
}

/* The wall clock is set back by two hours, and on by a year: all but the wall time is as it would have been. */
static void a_clock_that_is_set(void **state)
{
	static const int64_t steps[] = {0, -7200 * (int64_t)SECOND, 365 * 24 * (int64_t)HOUR};
	struct sw_report plain[4];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct fake *f = begun(1000, UINT64_C(262143999938));
		int64_t utc_ns = 0;

		src.power_w = 30;
		assert_int_equal(sw_monitor_begin(f->m), 0);
		for (int k = 0; k < 4; k++) {
			const struct sw_report *r;

			if (k == 2)
				clocks.realtime_ns += steps[i];
			r = window(f);
			if (i == 0)
				plain[k] = *r;
			assert_int_equal(r->t_ns, plain[k].t_ns);
			assert_int_equal(r->window_ns, plain[k].window_ns);
			assert_int_equal(r->energy.total_nj, plain[k].energy.total_nj);
			assert_true(r->energy.total_nj != SW_ABSENT);
			assert_int_equal(r->flags, 0);
			assert_int_equal(r->time_utc_ns, plain[k].time_utc_ns + (k >= 2 ? steps[i] : 0));
			assert_true(r->time_utc_ns != utc_ns);
			utc_ns = r->time_utc_ns;
		}
		fake_free(f);
	}
}

/* What fails is looked for after a boundary, once a second, and after a while less often; what failed from the start is not. */
static void looking_for_what_is_lost(void **state)
{
	struct fake *f = begun(200, 0);

	(void)state;
	assert_int_equal(sw_monitor_begin(f->m), 0);
	for (int i = 0; i < 10; i++)
		window(f);
	assert_int_equal(src.mends, 0);
	src.values[1].status = -19;
	for (int i = 0; i < 50; i++) /* 10 s: at 0, 1 … 7 and 9 */
		assert_int_equal(window(f)->flags, SW_FLAG_NO_ENERGY);
	assert_int_equal(src.mends, 9);
	for (int i = 50; i < 5 * 102; i++) /* and at 13, 21, 37, 69 and 101 */
		window(f);
	assert_int_equal(src.mends, 14);
	src.values[1].status = 0;
	src.mends = 0;
	assert_int_equal(window(f)->flags, SW_FLAG_NO_ENERGY); /* it is read again, but was not when the window began */
	assert_int_equal(window(f)->flags, 0);
	assert_int_equal(src.mends, 0);
	src.values[1].status = -19; /* gone anew: looked for at once again */
	window(f);
	assert_int_equal(src.mends, 1);
	src.values[1].status = 0;
	src.mends = 0;
	window(f);
	window(f);
	zones[1].problem = (char *)"permission denied";
	src.values[1].status = -13;
	for (int i = 0; i < 10; i++)
		assert_int_equal(window(f)->flags, SW_FLAG_PARTIAL);
	assert_int_equal(src.mends, 0);
	zones[1].problem = NULL;
	fake_free(f);
}

/* What a process that gave privileges up can still do: the counters take no notice of being asked. */
static void asked_whether_it_can_go_on(void **state)
{
	struct fake *f = begun(200, UINT64_C(1) << 40);
	const struct sw_report *r;

	(void)state;
	assert_int_equal(sw_monitor_begin(f->m), 0);
	src.power_w = 5;
	window(f);
	assert_int_equal(sw_monitor_check(f->m), 0);
	src.values[1].status = -EACCES;
	assert_int_equal(sw_monitor_check(f->m), -EACCES);
	assert_string_equal(sw_monitor_error(f->m), "cannot read the energy counter package-0/dram: Permission denied");
	zones[1].problem = (char *)"permission denied"; /* it could not be read before either */
	assert_int_equal(sw_monitor_check(f->m), 0);
	zones[1].problem = NULL;
	src.values[1].status = 0;
	r = window(f);
	assert_int_equal(r->flags, 0);
	assert_int_equal(r->zone_nj[0], INT64_C(1000000000)); /* 5 W for 0.2 s */
	fake_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asked_whether_it_can_go_on),
		cmocka_unit_test(read_before_it_wraps), cmocka_unit_test(not_read_without_need),
		cmocka_unit_test(a_gap_too_long),       cmocka_unit_test(a_suspend),
		cmocka_unit_test(a_suspend_between),    cmocka_unit_test(a_clock_that_is_set),
		cmocka_unit_test(looking_for_what_is_lost),
	};

	return cmocka_run_group_tests_name("meter", tests, NULL, NULL);
}

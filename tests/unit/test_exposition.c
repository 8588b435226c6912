/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the page of metrics: every name, label and number, in both formats. Relies on: tests/unit/exposition.txt, which
 * promtool check metrics finds nothing wrong with, and exposition.openmetrics, which Prometheus reads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/exposition.h"

static const struct sw_zone zones[] = {
	{ .name = "package-0", .package = 0, .counted = 1 },
	{ .name = "package-0/core", .package = 0, .parent = "package-0" },
	{ .name = "package-0/dram", .package = 0, .parent = "package-0", .counted = 1 },
	{ .name = "package-1", .package = 1, .counted = 1 },
	{ .name = "package-1/core", .package = 1, .parent = "package-1", .one_core = 1 },
	{ .name = "package-1/dram", .package = 1, .parent = "package-1", .problem = "EIO" },
	{ .name = "psys", .package = -1 },
};

static const int64_t zone_nj[] = { 5000000000, 2000000000, 1000000000, 4000000001, 7, SW_ABSENT, 20000000000 };

static const struct sw_header header = {
	.by = SW_BY_CGROUP, .backend = "ebpf", .backend_quality = "exact", .hook = "tp_btf", .energy_source = "powercap",
	.energy_quality = "measured", .policy = "capacity", .zones = zones, .n_zones = 7,
};

#define ID "99f3a16ea25b7724cb56a4f0c0df1113ad9474fbf5545bead97fd5c7f61c13f4"

static const struct sw_cgroup cgroups[] = {
	{ .path = "/", .oncpu_ns = 5000000, .nj = 10000000 },
	{ .path = "/a\"b\\c\xff", .oncpu_ns = 1, .nj = 1 },
	{ .path = "/kubepods.slice/kubepods-pod162385e5_7f69_4c38_ba9c_db0a8f02b35e.slice/cri-containerd-" ID ".scope",
	  .oncpu_ns = 1500000000, .nj = 3000000000 },
	{ .path = "/small", .oncpu_ns = 0, .nj = 1 },
	{ .path = "/system.slice/nginx.service", .oncpu_ns = 250000000, .nj = 500000000 },
};

static const struct sw_report report = {
	.t_ns = 5000000000, .time_utc_ns = 1700000000250000000, .window_ns = 1000000000,
	.flags = SW_FLAG_LATE | SW_FLAG_PARTIAL,
	.energy = { .total_nj = 10000000001, .proc_nj = 3510000002, .idle_nj = 6000000000,
		    .unattributed_nj = 489999999 },
	.platform_nj = 20000000000, .zone_nj = zone_nj, .proc_oncpu_ns = 1755000001,
	.lost_ns = 1001, .lost_by_kind_ns = { 1000, 1, 0 }, .recursion_misses = 2,
	.cgroups = cgroups, .n_cgroups = 5,
};

static const struct exposition_health well = {
	.accounting = true, .energy = true, .monitor_retries = 1, .slots_used = 350, .slots_free = 16034,
	.context_switches = 123456789, .switch_cost_ns = 105, .switch_cost_origin = "bpf_stats",
	.overhead_parts = 1234500, .cpu_ns = 340000000, .resident_bytes = 5242880, .open_fds = 21,
	.start_utc_ns = 1699999999500000000,
};

static const struct exposition_health nothing = {
	.monitor_retries = SW_ABSENT, .slots_used = SW_ABSENT, .slots_free = SW_ABSENT, .context_switches = SW_ABSENT,
	.switch_cost_ns = SW_ABSENT, .overhead_parts = SW_ABSENT, .cpu_ns = SW_ABSENT, .resident_bytes = SW_ABSENT,
	.open_fds = SW_ABSENT, .start_utc_ns = SW_ABSENT,
};

/* The page, ended with a NUL. */
static char *page(enum metrics_format format, const struct exposition *e)
{
	struct buf out = { 0 };

	exposition_write(&out, format, e);
	assert_int_equal(out.err, 0);
	buf_add(&out, "", 1);
	assert_int_equal(out.err, 0);
	return out.data;
}

static struct groups *ledger(void)
{
	struct groups_options options = { .max_series = 4 };
	struct groups *g;

	assert_int_equal(groups_open(&options, &g), 0);
	assert_int_equal(groups_add(g, &header, &report), 0);
	return g;
}

static void assert_page(const char *text, const char *golden)
{
	char expected[32768];
	FILE *file = fopen(golden, "r");
	size_t len;

	assert_non_null(file);
	len = fread(expected, 1, sizeof(expected) - 1, file);
	expected[len] = '\0';
	fclose(file);
	assert_string_equal(text, expected);
}

static void test_pages(void **state)
{
	struct exposition e = { .groups = ledger(), .header = &header, .version = "1.2.3", .health = well };
	char *text = page(METRICS_TEXT, &e), *open = page(METRICS_OPENMETRICS, &e);

	(void)state;
	assert_page(text, "tests/unit/exposition.txt");
	assert_page(open, "tests/unit/exposition.openmetrics");
	free(text);
	free(open);
	groups_close((struct groups *)e.groups);
}

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* Before the first window, without a monitor: no number is made up. */
static void test_empty(void **state)
{
	struct groups_options options = { 0 };
	struct exposition e = { .version = "1.2.3", .health = nothing };
	struct groups *g;
	char *text;

	(void)state;
	assert_int_equal(groups_open(&options, &g), 0);
	e.groups = g;
	text = page(METRICS_TEXT, &e);
	assert_int_equal(count(text, "joules_total{"), 0);
	assert_int_equal(count(text, "\nschedwatt_source_info{"), 0);
	assert_int_equal(count(text, "process_"), 0);
	assert_int_equal(count(text, "slots{"), 0);
	assert_int_equal(count(text, "schedwatt_recursion"), 0);
	assert_int_equal(count(text, "schedwatt_last_window"), 0);
	assert_int_equal(count(text, "\nschedwatt_accounting_available 0\n"), 1);
	assert_int_equal(count(text, "\nschedwatt_energy_available 0\n"), 1);
	assert_int_equal(count(text, "cpu_seconds_total{"), 0);
	free(text);
	groups_close(g);
}

/* A source that is lost: joules go, and do not stand still as if nothing were used; time is still accounted. */
static void test_lost_energy(void **state)
{
	struct exposition e = { .groups = ledger(), .header = &header, .version = "1.2.3", .health = well };
	char *text;

	(void)state;
	e.health.energy = false;
	text = page(METRICS_TEXT, &e);
	assert_int_equal(count(text, "joules_total{"), 0);
	assert_int_equal(count(text, "\nschedwatt_energy_available 0\n"), 1);
	assert_int_equal(count(text, "schedwatt_group_cpu_seconds_total{"), 6);
	free(text);
	e.health.accounting = false;
	text = page(METRICS_TEXT, &e);
	assert_int_equal(count(text, "group_cpu_seconds_total{"), 0);
	assert_int_equal(count(text, "\nschedwatt_lost_seconds_total{"), SW_LOST_KINDS);
	free(text);
	groups_close((struct groups *)e.groups);
}

/* Whatever a page has: each family is told of once, and labels that others set are never used. */
static void test_rules(void **state)
{
	static const char *const forbidden[] = { "pod=", "namespace=", "container=", "job=", "instance=" };
	struct exposition e = { .groups = ledger(), .header = &header, .version = "1.2.3", .health = well };
	char *text = page(METRICS_TEXT, &e);

	(void)state;
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		char first[32], later[32];

		snprintf(first, sizeof(first), "{%s", forbidden[i]);
		snprintf(later, sizeof(later), ",%s", forbidden[i]);
		assert_int_equal(count(text, first) + count(text, later), 0);
	}
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		char told[128];

		if (strncmp(line, "# TYPE ", 7))
			continue;
		snprintf(told, sizeof(told), "%.*s", (int)strcspn(line + 7, " ") + 8, line);
		assert_int_equal(count(text, told), 1);
		memcpy(told, "# HELP ", 7);
		assert_int_equal(count(text, told), 1);
	}
	assert_int_equal(count(text, "# TYPE "), count(text, "# HELP "));
	assert_int_equal(count(text, "joules_total{"), count(text, "energy_quality=\"measured\"} "));
	free(text);
	groups_close((struct groups *)e.groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_lost_energy),
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

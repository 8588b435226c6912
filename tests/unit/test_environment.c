/* SPDX-License-Identifier: BSD-2-Clause */
/* How made-up machines were set, and what is not told of the others. */
#include "tree.h"

#include "core/environment.h"

static int setup(void **state)
{
	*state = tree_new();
	return 0;
}

static int teardown(void **state)
{
	tree_free(*state);
	return 0;
}

/* What is told of it points into one place, which lasts until the next look. */
static const struct sw_environment *look(const struct tree *t)
{
	static struct sw_environment_store s;

	s = (struct sw_environment_store){0};
	sw_environment_read(&s, t->fd, t->fd, "");
	return &s.environment;
}

static void policy(const struct tree *t, unsigned n, const char *governor, const char *driver)
{
	char path[80];

	snprintf(path, sizeof(path), "devices/system/cpu/cpufreq/policy%u/scaling_governor", n);
	tree_write(t, path, governor);
	snprintf(path, sizeof(path), "devices/system/cpu/cpufreq/policy%u/scaling_driver", n);
	tree_write(t, path, driver);
}

static void laptop(void **state)
{
	const struct sw_environment *e;

	policy(*state, 0, "powersave", "intel_pstate");
	policy(*state, 1, "powersave", "intel_pstate");
	tree_write(*state, "devices/system/cpu/intel_pstate/no_turbo", "0\n");
	tree_write(*state, "devices/system/cpu/smt/active", "1\n");
	tree_write(*state, "class/power_supply/AC/type", "Mains\n");
	tree_write(*state, "class/power_supply/AC/online", "0\n");
	tree_write(*state, "class/power_supply/BAT0/type", "Battery\n");
	tree_write(*state, "class/power_supply/BAT0/status", "Discharging\n");
	tree_write(*state, "class/power_supply/hidpp_battery_0/type", "Battery\n");
	tree_write(*state, "class/power_supply/hidpp_battery_0/scope", "Device\n");
	tree_write(*state, "loadavg", "1.05 0.70 12.00 2/345 6789\n");
	e = look(*state);
	assert_string_equal(e->governor, "powersave");
	assert_string_equal(e->driver, "intel_pstate");
	assert_int_equal(e->turbo, 1);
	assert_int_equal(e->smt, 1);
	assert_int_equal(e->ac_power, 0);
	assert_int_equal(e->load_hundredths, 105);
	tree_write(*state, "devices/system/cpu/intel_pstate/no_turbo", "1\n");
	tree_write(*state, "class/power_supply/AC/online", "1\n");
	e = look(*state);
	assert_int_equal(e->turbo, 0);
	assert_int_equal(e->ac_power, 1);
}

static void server(void **state)
{
	const struct sw_environment *e;

	policy(*state, 0, "performance", "acpi-cpufreq");
	policy(*state, 1, "schedutil", "acpi-cpufreq");
	policy(*state, 2, "performance", "acpi-cpufreq");
	tree_write(*state, "devices/system/cpu/cpufreq/boost", "1\n");
	tree_write(*state, "devices/system/cpu/smt/active", "0\n");
	e = look(*state);
	assert_string_equal(e->governor, "mixed");
	assert_string_equal(e->driver, "acpi-cpufreq");
	assert_int_equal(e->turbo, 1);
	assert_int_equal(e->smt, 0);
	assert_true(e->ac_power == SW_ABSENT);
}

/* No mains that tells, as behind USB-C: what feeds the machine, or that the battery does. */
static void other_supplies(void **state)
{
	tree_write(*state, "class/power_supply/BAT0/type", "Battery\n");
	tree_write(*state, "class/power_supply/BAT0/status", "Charging\n");
	assert_true(look(*state)->ac_power == SW_ABSENT);
	tree_write(*state, "class/power_supply/BAT0/status", "Discharging\n");
	assert_int_equal(look(*state)->ac_power, 0);
	tree_write(*state, "class/power_supply/ucsi-source-psy-USBC000:001/type", "USB\n");
	tree_write(*state, "class/power_supply/ucsi-source-psy-USBC000:001/online", "2\n");
	assert_int_equal(look(*state)->ac_power, 1);
	tree_write(*state, "class/power_supply/ucsi-source-psy-USBC000:001/scope", "Device\n");
	assert_int_equal(look(*state)->ac_power, 0);
}

/* Without a battery, nothing but mains can feed a machine, whatever the supplies say that it has. */
static void no_battery(void **state)
{
	tree_write(*state, "class/power_supply/ucsi-source-psy-USBC000:001/type", "USB\n");
	tree_write(*state, "class/power_supply/ucsi-source-psy-USBC000:001/online", "0\n");
	assert_true(look(*state)->ac_power == SW_ABSENT);
	tree_write(*state, "class/power_supply/hidpp_battery_0/type", "Battery\n");
	tree_write(*state, "class/power_supply/hidpp_battery_0/scope", "Device\n");
	assert_true(look(*state)->ac_power == SW_ABSENT);
	tree_write(*state, "class/power_supply/BAT0/type", "Battery\n");
	assert_int_equal(look(*state)->ac_power, 0);
}

/* What sysfs says of each CPU goes before what /proc/cpuinfo says of the first. */
static void microcode(void **state)
{
	const struct tree *t = *state;
	struct sw_environment_store s;

	sw_environment_read(&s, t->fd, -1, "0x1");
	assert_string_equal(s.environment.microcode, "0x1");
	tree_write(t, "devices/system/cpu/cpu0/microcode/version", "0xb000040\n");
	tree_write(t, "devices/system/cpu/cpu1/topology/core_id", "0\n"); /* it is off */
	tree_write(t, "devices/system/cpu/cpu10/microcode/version", "0xb000040\n");
	tree_write(t, "devices/system/cpu/cpufreq/microcode", "none\n");
	sw_environment_read(&s, t->fd, -1, "0x1");
	assert_string_equal(s.environment.microcode, "0xb000040");
	tree_write(t, "devices/system/cpu/cpu10/microcode/version", "0xb00003e\n");
	sw_environment_read(&s, t->fd, -1, "0x1");
	assert_string_equal(s.environment.microcode, "mixed");
}

static void nothing_to_see(void **state)
{
	const struct sw_environment *e = look(*state);

	assert_null(e->governor);
	assert_null(e->driver);
	assert_null(e->microcode);
	assert_true(e->turbo == SW_ABSENT);
	assert_true(e->smt == SW_ABSENT);
	assert_true(e->ac_power == SW_ABSENT);
	assert_true(e->load_hundredths == SW_ABSENT);
}

/* What is not as the kernel writes it is not known: never 0, never a part of it. */
static void garbage(void **state)
{
	const struct sw_environment *e;

	policy(*state, 0, "", "a-name-that-is-far-too-long-to-be-one-of-the-kernel");
	tree_write(*state, "devices/system/cpu/intel_pstate/no_turbo", "2\n");
	tree_write(*state, "devices/system/cpu/smt/active", "on\n");
	tree_write(*state, "class/power_supply/AC/type", "Mains\n");
	tree_write(*state, "class/power_supply/AC/online", "yes\n");
	tree_write(*state, "class/power_supply/BAT0/type", "Battery\n");
	tree_write(*state, "loadavg", "1,05 0,70\n");
	e = look(*state);
	assert_null(e->governor);
	assert_null(e->driver);
	assert_true(e->turbo == SW_ABSENT);
	assert_true(e->smt == SW_ABSENT);
	assert_true(e->ac_power == SW_ABSENT);
	assert_true(e->load_hundredths == SW_ABSENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(laptop, setup, teardown),
		cmocka_unit_test_setup_teardown(server, setup, teardown),
		cmocka_unit_test_setup_teardown(other_supplies, setup, teardown),
		cmocka_unit_test_setup_teardown(no_battery, setup, teardown),
		cmocka_unit_test_setup_teardown(microcode, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_to_see, setup, teardown),
		cmocka_unit_test_setup_teardown(garbage, setup, teardown),
	};

	return cmocka_run_group_tests_name("environment", tests, NULL, NULL);
}

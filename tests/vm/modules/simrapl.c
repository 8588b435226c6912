// SPDX-License-Identifier: GPL-2.0
/*
 * A simulated intel-rapl control type of powercap, with the zones that a processor has, whose energy is model.h's.
 * Zones by number: 0 package-0, 1 its core, 2 its dram, 3 package-1, 4 its core, 5 its dram, 6 psys, 7 package-0 again
 * as intel-rapl-mmio. dram lies beside the package, core inside it, psys holds all.
 * Relies on include/linux/powercap.h, drivers/powercap/powercap_sys.c; names as in intel_rapl_common.c.
 */
#include "model.h"

#include <linux/mutex.h>
#include <linux/powercap.h>

#define ZONES 8
#define MMIO 7

static ulong max_uj = 262143328850UL; /* where counters wrap */
module_param(max_uj, ulong, 0644);
static ulong start_uj; /* where they stand when the module comes */
module_param(start_uj, ulong, 0444);
static uint core_permille = 700; /* of its package */
module_param(core_permille, uint, 0644);
static uint dram_permille = 150; /* of its package, on top */
module_param(dram_permille, uint, 0644);
/* By bit: zones whose energy, or range, cannot be read. User space sees EINVAL, whatever a driver says. */
static uint fail;
module_param(fail, uint, 0644);
static uint fail_range;
module_param(fail_range, uint, 0644);
static bool psys; /* is there such a zone? */
module_param(psys, bool, 0444);
static bool mmio;
module_param(mmio, bool, 0444);

struct sim_zone {
	struct powercap_zone zone;
	const char *name;
	int package; /* -1: both */
	int parent;  /* -1: none */
	bool there;
};

static struct sim_zone zones[ZONES] = {
	{.name = "package-0", .package = 0, .parent = -1},
	{.name = "core", .package = 0, .parent = 0},
	{.name = "dram", .package = 0, .parent = 0},
	{.name = "package-1", .package = 1, .parent = -1},
	{.name = "core", .package = 1, .parent = 3},
	{.name = "dram", .package = 1, .parent = 3},
	{.name = "psys", .package = -1, .parent = -1},
	{.name = "package-0", .package = 0, .parent = -1},
};

static struct powercap_control_type *msr_type, *mmio_type;
static DEFINE_MUTEX(zones_mutex);
static uint absent; /* by bit: zones that are not there, at the moment */

static int number_of(struct powercap_zone *zone)
{
	return container_of(zone, struct sim_zone, zone) - zones;
}

static u64 permille(u64 nj, uint part)
{
	return div_u64(nj, 1000) * part;
}

static u64 zone_nj(int i)
{
	u64 nj;

	if (zones[i].package < 0) {
		nj = sim_shown_nj(0) + (sim_packages() > 1 ? sim_shown_nj(1) : 0);
		return nj + permille(nj, dram_permille);
	}
	nj = sim_shown_nj(zones[i].package);
	if (zones[i].parent < 0)
		return nj;
	return permille(nj, i == 2 || i == 5 ? dram_permille : core_permille);
}

static int get_energy_uj(struct powercap_zone *zone, u64 *uj)
{
	int i = number_of(zone);
	u64 value;

	if (fail & 1U << i)
		return -EIO;
	value = start_uj + div_u64(zone_nj(i), 1000);
	*uj = max_uj ? value - div64_u64(value, max_uj) * max_uj : value;
	return 0;
}

static int get_range_uj(struct powercap_zone *zone, u64 *uj)
{
	if (fail_range & 1U << number_of(zone))
		return -EIO;
	*uj = max_uj;
	return 0;
}

/* The zones are ours, and static. */
static int release(struct powercap_zone *zone)
{
	return 0;
}

static const struct powercap_zone_ops zone_ops = {
	.get_max_energy_range_uj = get_range_uj,
	.get_energy_uj = get_energy_uj,
	.release = release,
};

static int set_limit(struct powercap_zone *zone, int constraint, u64 value)
{
	return 0;
}

static int get_limit(struct powercap_zone *zone, int constraint, u64 *value)
{
	*value = 65000000;
	return 0;
}

static const char *get_limit_name(struct powercap_zone *zone, int constraint)
{
	return constraint ? "short_term" : "long_term";
}

static const struct powercap_zone_constraint_ops limit_ops = {
	.set_power_limit_uw = set_limit,
	.get_power_limit_uw = get_limit,
	.set_time_window_us = set_limit,
	.get_time_window_us = get_limit,
	.get_name = get_limit_name,
};

static bool wanted(int i)
{
	int parent = zones[i].parent;

	if (absent & 1U << i || (parent >= 0 && absent & 1U << parent))
		return false;
	return i == 6 ? psys : i == MMIO ? mmio : zones[i].package < sim_packages();
}

/* Make what is there what should be. Subzones have greater numbers than their package, and go first. */
static int arrange(void)
{
	int i;

	for (i = ZONES - 1; i >= 0; i--) {
		if (!zones[i].there || wanted(i))
			continue;
		powercap_unregister_zone(i == MMIO ? mmio_type : msr_type, &zones[i].zone);
		zones[i].there = false;
	}
	for (i = 0; i < ZONES; i++) {
		struct powercap_zone *zone, *parent = zones[i].parent < 0 ? NULL : &zones[zones[i].parent].zone;

		if (zones[i].there || !wanted(i))
			continue;
		zone = powercap_register_zone(&zones[i].zone, i == MMIO ? mmio_type : msr_type, zones[i].name, parent,
					      &zone_ops, 2, &limit_ops);
		if (IS_ERR(zone))
			return PTR_ERR(zone);
		zones[i].there = true;
	}
	return 0;
}

static int set_absent(const char *text, const struct kernel_param *param)
{
	uint value;
	int err = kstrtouint(text, 0, &value);

	if (err)
		return err;
	mutex_lock(&zones_mutex);
	absent = value;
	if (msr_type)
		err = arrange();
	mutex_unlock(&zones_mutex);
	return err;
}

static const struct kernel_param_ops absent_ops = {.set = set_absent, .get = param_get_uint};
module_param_cb(absent, &absent_ops, &absent, 0644);

static void take_down(void)
{
	mutex_lock(&zones_mutex);
	absent = ~0U;
	arrange();
	if (mmio_type)
		powercap_unregister_control_type(mmio_type);
	powercap_unregister_control_type(msr_type);
	msr_type = NULL;
	mutex_unlock(&zones_mutex);
}

static int __init simrapl_init(void)
{
	struct powercap_control_type *type = powercap_register_control_type(NULL, "intel-rapl", NULL);
	int err;

	if (IS_ERR(type))
		return PTR_ERR(type);
	if (mmio) {
		mmio_type = powercap_register_control_type(NULL, "intel-rapl-mmio", NULL);
		if (IS_ERR(mmio_type)) {
			powercap_unregister_control_type(type);
			return PTR_ERR(mmio_type);
		}
	}
	sim_begin();
	mutex_lock(&zones_mutex);
	msr_type = type;
	err = arrange();
	mutex_unlock(&zones_mutex);
	if (err)
		take_down();
	return err;
}

static void __exit simrapl_exit(void)
{
	take_down();
}

module_init(simrapl_init);
module_exit(simrapl_exit);
MODULE_DESCRIPTION("Simulated RAPL zones");
MODULE_LICENSE("GPL");

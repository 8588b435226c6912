// SPDX-License-Identifier: GPL-2.0
/*
 * A simulated perf PMU `power`, as arch/x86/events/rapl.c shows RAPL: one reader CPU a package in cpumask, events in
 * units of 2^-32 J with unit and scale, counting only. The energy is model.h's.
 * Relies on include/linux/perf_event.h.
 */
#include "model.h"

#include <linux/device.h>
#include <linux/perf_event.h>

enum { CORES = 1, PACKAGE = 2, RAM = 3 }; /* event= of the real driver */

static uint core_permille = 700;
module_param(core_permille, uint, 0644);
static uint ram_permille = 150;
module_param(ram_permille, uint, 0644);

static u64 counter(struct perf_event *event)
{
	u64 nj = sim_shown_nj(sim_package_of(event->cpu)), j, rest_nj;

	if (event->attr.config != PACKAGE)
		nj = div_u64(nj, 1000) * (event->attr.config == RAM ? ram_permille : core_permille);
	j = div_u64(nj, 1000000000);
	rest_nj = nj - j * 1000000000;
	return (j << 32) + div_u64(rest_nj << 32, 1000000000);
}

static void update(struct perf_event *event)
{
	u64 now = counter(event);

	local64_add(now - local64_xchg(&event->hw.prev_count, now), &event->count);
}

static int event_init(struct perf_event *event)
{
	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->cpu < 0 || is_sampling_event(event) || event->attr.config < CORES || event->attr.config > RAM)
		return -EINVAL;
	return 0;
}

static void event_start(struct perf_event *event, int flags)
{
	local64_set(&event->hw.prev_count, counter(event));
	event->hw.state = 0;
}

static void event_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	update(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int event_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED;
	if (flags & PERF_EF_START)
		event_start(event, flags);
	return 0;
}

static void event_del(struct perf_event *event, int flags)
{
	event_stop(event, PERF_EF_UPDATE);
}

/* The first CPU of each package. */
static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *text)
{
	int cpu, package, n = 0;

	for (package = 0; package < SIM_PACKAGES; package++)
		for_each_online_cpu(cpu)
			if (sim_package_of(cpu) == package) {
				n += sprintf(text + n, n ? ",%d" : "%d", cpu);
				break;
			}
	return n + sprintf(text + n, "\n");
}

static DEVICE_ATTR_RO(cpumask);
PMU_FORMAT_ATTR(event, "config:0-7");
/* clang-format off: names with a hyphen, which it takes for a minus */
PMU_EVENT_ATTR_STRING(energy-cores, cores_event, "event=0x01");
PMU_EVENT_ATTR_STRING(energy-pkg, pkg_event, "event=0x02");
PMU_EVENT_ATTR_STRING(energy-ram, ram_event, "event=0x03");
PMU_EVENT_ATTR_STRING(energy-cores.unit, cores_unit, "Joules");
PMU_EVENT_ATTR_STRING(energy-pkg.unit, pkg_unit, "Joules");
PMU_EVENT_ATTR_STRING(energy-ram.unit, ram_unit, "Joules");
PMU_EVENT_ATTR_STRING(energy-cores.scale, cores_scale, "2.3283064365386962890625e-10");
PMU_EVENT_ATTR_STRING(energy-pkg.scale, pkg_scale, "2.3283064365386962890625e-10");
PMU_EVENT_ATTR_STRING(energy-ram.scale, ram_scale, "2.3283064365386962890625e-10");
/* clang-format on */

static struct attribute *mask_attrs[] = {&dev_attr_cpumask.attr, NULL};
static struct attribute *format_attrs[] = {&format_attr_event.attr, NULL};
static struct attribute *event_attrs[] = {
	&cores_event.attr.attr, &pkg_event.attr.attr, &ram_event.attr.attr,
	&cores_unit.attr.attr,  &pkg_unit.attr.attr,  &ram_unit.attr.attr,
	&cores_scale.attr.attr, &pkg_scale.attr.attr, &ram_scale.attr.attr,
	NULL,
};
static const struct attribute_group mask_group = {.attrs = mask_attrs};
static const struct attribute_group format_group = {.name = "format", .attrs = format_attrs};
static const struct attribute_group event_group = {.name = "events", .attrs = event_attrs};
static const struct attribute_group *groups[] = {&mask_group, &format_group, &event_group, NULL};

static struct pmu power_pmu = {
	.module = THIS_MODULE,
	.attr_groups = groups,
	.task_ctx_nr = perf_invalid_context,
	.event_init = event_init,
	.add = event_add,
	.del = event_del,
	.start = event_start,
	.stop = event_stop,
	.read = update,
	.capabilities = PERF_PMU_CAP_NO_EXCLUDE,
};

static int __init simpmu_init(void)
{
	sim_begin();
	return perf_pmu_register(&power_pmu, "power", -1);
}

static void __exit simpmu_exit(void)
{
	perf_pmu_unregister(&power_pmu);
}

module_init(simpmu_init);
module_exit(simpmu_exit);
MODULE_DESCRIPTION("Simulated RAPL counters in perf");
MODULE_LICENSE("GPL");

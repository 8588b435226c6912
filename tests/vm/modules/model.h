/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The energy of simulated processor packages: idle_mw + busy_mw × the busy CPUs of the package, integrated from what
 * the kernel itself says of its CPUs' idle time, which no program on sched_switch has a part in. Each module that
 * includes this has a model of its own. Must not know: through which interface it is read.
 * Relies on kernel/time/tick-sched.c (get_cpu_idle_time_us), Documentation/admin-guide/cputopology.rst.
 */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include <linux/cpumask.h>
#include <linux/kernel_stat.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/spinlock.h>
#include <linux/tick.h>
#include <linux/topology.h>

#define SIM_PACKAGES 2

struct sim_package {
	u64 exact_nj;
	u64 shown_nj; /* as of the last tick that has passed */
	u64 busy_us;  /* sum over its CPUs */
};

struct sim_cpu {
	u64 idle_us; /* as last read */
	bool known;
};

static DEFINE_RAW_SPINLOCK(sim_lock);
static struct sim_package sim_package[SIM_PACKAGES];
static struct sim_cpu sim_cpu[NR_CPUS];
static u64 sim_last_us;
static u64 sim_tick; /* number of the tick that is shown */

static uint idle_mw = 10000; /* of a package */
static uint busy_mw = 20000; /* of a busy CPU, on top */
static uint tick_us = 1000;  /* how often the counter moves; 0: always */

/* What a CPU was busy since it was last looked at. One that was off comes back with its counters begun anew. */
static u64 sim_busy_us(int cpu, u64 wall_us)
{
	struct sim_cpu *c = &sim_cpu[cpu];
	u64 idle_us, before = c->idle_us;
	bool known = c->known;

	c->known = cpu_online(cpu);
	if (!c->known)
		return 0;
	idle_us = get_cpu_idle_time_us(cpu, NULL) + get_cpu_iowait_time_us(cpu, NULL);
	c->idle_us = idle_us;
	if (!known || idle_us < before || idle_us - before > wall_us)
		return 0;
	return wall_us - (idle_us - before);
}

static int sim_package_of(int cpu)
{
	int package = topology_physical_package_id(cpu);

	return package > 0 && package < SIM_PACKAGES ? package : 0;
}

static inline int sim_packages(void)
{
	int cpu, n = 1;

	for_each_online_cpu(cpu)
		n = max(n, sim_package_of(cpu) + 1);
	return n;
}

/* Integrate up to now. The caller holds the lock. */
static void sim_update(void)
{
	u64 now_us = ktime_to_us(ktime_get()), wall_us = now_us - sim_last_us, busy_us[SIM_PACKAGES] = {};
	u64 tick = tick_us ? div_u64(now_us, tick_us) : 0;
	u64 before_tick_us = tick_us && tick * tick_us > sim_last_us ? tick * tick_us - sim_last_us : 0;
	int cpu, i;

	if (!wall_us)
		return;
	for_each_possible_cpu(cpu)
		busy_us[sim_package_of(cpu)] += sim_busy_us(cpu, wall_us);
	for (i = 0; i < SIM_PACKAGES; i++) {
		struct sim_package *p = &sim_package[i];
		u64 added_nj = wall_us * idle_mw + busy_us[i] * busy_mw;

		if (!tick_us)
			p->shown_nj = p->exact_nj + added_nj;
		else if (before_tick_us) /* as if all of it had come at one rate */
			p->shown_nj = p->exact_nj + (added_nj * div64_u64(before_tick_us << 20, wall_us) >> 20);
		else if (tick != sim_tick)
			p->shown_nj = p->exact_nj;
		p->exact_nj += added_nj;
		p->busy_us += busy_us[i];
	}
	sim_tick = tick;
	sim_last_us = now_us;
}

static u64 sim_shown_nj(int package)
{
	unsigned long flags;
	u64 nj;

	raw_spin_lock_irqsave(&sim_lock, flags);
	sim_update();
	nj = sim_package[package].shown_nj;
	raw_spin_unlock_irqrestore(&sim_lock, flags);
	return nj;
}

static void sim_begin(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&sim_lock, flags);
	sim_last_us = ktime_to_us(ktime_get()) - 1;
	sim_update();
	raw_spin_unlock_irqrestore(&sim_lock, flags);
}

/* A rate holds from when it was written. */
static int sim_set(const char *text, const struct kernel_param *param)
{
	unsigned long flags;
	uint value;
	int err = kstrtouint(text, 0, &value);

	if (err)
		return err;
	raw_spin_lock_irqsave(&sim_lock, flags);
	if (sim_last_us)
		sim_update();
	*(uint *)param->arg = value;
	raw_spin_unlock_irqrestore(&sim_lock, flags);
	return 0;
}

static const struct kernel_param_ops sim_uint_ops = {.set = sim_set, .get = param_get_uint};
module_param_cb(idle_mw, &sim_uint_ops, &idle_mw, 0644);
module_param_cb(busy_mw, &sim_uint_ops, &busy_mw, 0644);
module_param_cb(tick_us, &sim_uint_ops, &tick_us, 0644);

/* Now, exact and without wraps: µs since boot, and of each package its µJ and the µs that its CPUs were busy. */
static int sim_get_model(char *text, const struct kernel_param *param)
{
	struct sim_package p[SIM_PACKAGES];
	unsigned long flags;
	u64 now_us;

	raw_spin_lock_irqsave(&sim_lock, flags);
	sim_update();
	now_us = sim_last_us;
	memcpy(p, sim_package, sizeof(p));
	raw_spin_unlock_irqrestore(&sim_lock, flags);
	return sprintf(text, "%llu %llu %llu %llu %llu\n", now_us, div_u64(p[0].exact_nj, 1000), p[0].busy_us,
		       div_u64(p[1].exact_nj, 1000), p[1].busy_us);
}

static const struct kernel_param_ops sim_model_ops = {.get = sim_get_model};
module_param_cb(model, &sim_model_ops, NULL, 0444);

#endif

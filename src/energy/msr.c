/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: zones made of model-specific registers, and counters that do not wrap made of 32 bits that do. Must not know:
 * windows, tasks; nor, beyond what msr_models.h says, one processor from another.
 * Source: Intel SDM volume 3, "Platform Specific Power Management Support"; the kernel files that msr_models.c names.
 *
 * Every zone is a count of energy units in 64 bits, to which each reading adds what its registers have gone on, modulo
 * 2^32: one register for a package, one for each physical core for AMD's cores. So nothing is rounded where a register
 * wraps, and a sum of registers, which each wrap at their own time, is no other thing than one. That readings come in
 * time for this is asked for by wrap_uj; where they do not, or the machine slept, counter.c drops what was added.
 */
#include "msr_zones.h"

#include <errno.h>
#include <stdlib.h>

static void msr_close(struct sw_energy_source *source)
{
	struct sw_msr *m = (struct sw_msr *)source;
	size_t i;

	if (!m)
		return;
	for (i = 0; m->meters && i < m->head.n_zones; i++)
		free(m->meters[i].counters);
	free(m->meters);
	for (i = 0; i < m->n_readers; i++)
		sw_msr_reader_close(&m->readers[i]);
	free(m->readers);
	sw_msr_machine_free(&m->machine);
	sw_near_free(&m->near);
	sw_zones_free(m->head.zones, m->head.n_zones);
	free(m);
}

int sw_msr_take(const struct sw_msr *m, struct sw_msr_meter *meter)
{
	uint64_t value, sum = 0, gone_on = 0;
	bool back = false;
	size_t i, n = 0;
	int err, first = 0;

	for (i = 0; i < meter->n_counters; i++) {
		struct sw_msr_counter *c = &meter->counters[i];

		err = sw_msr_reader_read(&m->machine, c->reader, meter->reg, &value);
		if (err) {
			first = first || c->away ? first : err;
			continue;
		}
		back = back || c->away;
		c->away = false;
		gone_on += (uint32_t)((uint32_t)value - c->last);
		c->last = (uint32_t)value;
		sum += c->last;
		n++;
	}
	if (!first && !n)
		first = -ENXIO;
	if (!first && back) /* what it used since it came back is in no reading: one more from which nothing goes on */
		first = -EAGAIN;
	if (!first)
		meter->units = meter->begun ? meter->units + gone_on : sum;
	meter->begun = !first;
	return first;
}

static void set_value(struct sw_zone_value *value, const struct sw_msr_meter *meter)
{
	unsigned __int128 nj = (unsigned __int128)meter->units * meter->unit.nj >> meter->unit.shift;

	value->raw_uj = (uint64_t)(nj / 1000);
	value->extra_nj = (uint64_t)(nj % 1000);
}

static void read_zones(struct sw_msr *m, struct sw_zone_value *values, bool sums)
{
	size_t i;

	for (i = 0; i < m->head.n_zones; i++) {
		struct sw_msr_meter *meter = &m->meters[i];

		if ((meter->n_counters > 1) != sums)
			continue;
		if (!m->head.zones[i].problem) {
			sw_near_go(&m->near, meter->counters[0].reader->domains);
			meter->status = sw_msr_take(m, meter);
		}
		values[i] = (struct sw_zone_value){ .status = meter->status };
		if (!meter->status)
			set_value(&values[i], meter);
	}
}

static void msr_read(struct sw_energy_source *source, const struct sw_busy *busy, struct sw_zone_value *values)
{
	struct sw_msr *m = (struct sw_msr *)source;

	(void)busy;
	sw_near_begin(&m->near);
	read_zones(m, values, false);
	/* Waking hundreds of cores takes its time, which shall not lie between the packages that make the total. */
	read_zones(m, values, true);
	sw_near_end(&m->near);
}

static void msr_mend(struct sw_energy_source *source)
{
	struct sw_msr *m = (struct sw_msr *)source;
	uint64_t value;
	size_t i, j;

	for (i = 0; i < m->head.n_zones; i++) {
		struct sw_msr_meter *meter = &m->meters[i];

		if (!meter->status || m->head.zones[i].problem)
			continue;
		for (j = 0; j < meter->n_counters; j++) {
			struct sw_msr_counter *c = &meter->counters[j];

			if (sw_msr_reader_read(&m->machine, c->reader, meter->reg, &value) &&
			    sw_msr_reader_settle(&m->machine, c->reader, meter->reg))
				c->away = meter->n_counters > 1; /* the others make up the zone until it is back */
		}
	}
}

static const struct sw_msr_model *find_model(const struct sw_energy_config *config, struct sw_error *error)
{
	static const char *const vendors[] = {
		[SW_VENDOR_INTEL] = "Intel", [SW_VENDOR_AMD] = "AMD", [SW_VENDOR_HYGON] = "Hygon",
	};
	const struct sw_msr_model *model = sw_msr_model_find(&config->cpu);

	if (model)
		return model;
	if (config->cpu.vendor == SW_VENDOR_OTHER)
		sw_fail(error, -ENODEV, "energy registers are known of Intel, AMD and Hygon, and this is none of these");
	else
		sw_fail(error, -ENODEV, "the energy registers of this processor are not known (%s, family %u, model "
			"%u = 0x%X)", vendors[config->cpu.vendor], config->cpu.family, config->cpu.model,
			config->cpu.model);
	return NULL;
}

static int msr_open(const struct sw_energy_config *config, struct sw_error *error, struct sw_energy_source **ret)
{
	const struct sw_msr_model *model;
	struct sw_msr *m;
	int err;

	if (!config->msr_read && !sw_sysfs_is_real(config->sysfs_fd))
		return sw_fail(error, -ENODEV, "--sysfs names another machine, and registers are this one's");
	model = find_model(config, error);
	if (!model)
		return -ENODEV;
	m = calloc(1, sizeof(*m));
	if (!m)
		return sw_fail(error, -ENOMEM, "out of memory");
	m->head.ops = &sw_energy_msr;
	m->model = model;
	m->guest = config->cpu.guest;
	m->machine.dev_fd = -1;
	/* As perf and powercap see it: where an Intel package has several dies, each has registers of its own. */
	err = sw_msr_machine_init(&m->machine, config, !sw_msr_is_amd(model), error);
	if (err)
		goto fail;
	err = sw_near_init(&m->near, config->topology);
	if (err) {
		sw_fail(error, err, "out of memory");
		goto fail;
	}
	err = sw_msr_find_zones(m, config->topology, error);
	if (err)
		goto fail;
	*ret = &m->head;
	return 0;
fail:
	msr_close(&m->head);
	return err;
}

const struct sw_energy_ops sw_energy_msr = {
	.name = "msr",
	.quality = "measured",
	.open = msr_open,
	.read = msr_read,
	.mend = msr_mend,
	.close = msr_close,
};

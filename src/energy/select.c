/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which energy source answers, and in what order they are asked. Must not know: how any of them works.
 * A source named by the user never falls back; the model answers last, marked.
 */
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Best first. */
static const struct sw_energy_ops *const sources[] = {
	&sw_energy_powercap,
	&sw_energy_perf,
	&sw_energy_msr,
	&sw_energy_model,
};

enum { N_SOURCES = sizeof(sources) / sizeof(sources[0]) };

static bool measures(const struct sw_energy_ops *ops)
{
	return ops->quality && !strcmp(ops->quality, "measured");
}

static int open_named(const char *name, bool strict, const struct sw_energy_config *config, struct sw_error *error,
		      struct sw_energy_source **ret)
{
	size_t i;

	for (i = 0; i < N_SOURCES; i++) {
		if (strcmp(name, sources[i]->name))
			continue;
		if (strict && !measures(sources[i]))
			return sw_fail(error, -ENODEV, "energy source \"%s\" does not measure and strict was asked for",
				       name);
		return sources[i]->open(config, error, ret);
	}
	return sw_fail(error, -EINVAL, "unknown energy source \"%s\"; there are auto, powercap, perf, msr, model and none",
		       name);
}

static int open_first(bool strict, const struct sw_energy_config *config,
		      void (*refused)(const char *name, const char *reason, void *ctx), void *ctx,
		      struct sw_error *error, struct sw_energy_source **ret)
{
	struct sw_error why = { .text = "" }, all = { .text = "" };
	int err = -ENODEV;
	size_t i;

	for (i = 0; i < N_SOURCES; i++) {
		if (strict && !measures(sources[i]))
			continue;
		err = sources[i]->open(config, &why, ret);
		if (!err)
			return 0;
		if (err == -ENOMEM) /* no reason to take a worse source */
			return sw_fail(error, err, "%s: %s", sources[i]->name, why.text);
		if (refused)
			refused(sources[i]->name, why.text, ctx);
		sw_fail(&all, err, "%s%s%s: %s", all.text, all.text[0] ? "; " : "", sources[i]->name, why.text);
	}
	if (strict)
		return sw_fail(error, -ENODEV, "no energy source that measures, and strict was asked for: %s",
			       all.text);
	return sw_fail(error, err, "%s", why.text);
}

int sw_energy_open(const char *name, bool strict, const struct sw_energy_config *config,
		   void (*refused)(const char *name, const char *reason, void *ctx), void *ctx, struct sw_error *error,
		   struct sw_energy_source **ret)
{
	if (!name || !strcmp(name, "auto"))
		return open_first(strict, config, refused, ctx, error, ret);
	if (!strcmp(name, "none")) {
		*ret = NULL; /* claims no energy at all, so strict has nothing to refuse */
		return 0;
	}
	return open_named(name, strict, config, error, ret);
}

void sw_zones_free(struct sw_zone_info *zones, size_t n)
{
	size_t i;

	for (i = 0; zones && i < n; i++) {
		free(zones[i].name);
		free(zones[i].parent);
		free(zones[i].problem);
	}
	free(zones);
}

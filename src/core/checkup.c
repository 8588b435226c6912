/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the order of a checkup, what it is given, and the memory of its findings. Must not know: what is looked at, and
 * what follows from it. Relies on: every part closing what it opens.
 */
#include "checkup.h"

#include "../base/root.h"
#include "../cpu/backend.h"
#include "open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void free_check(const struct sw_check *c)
{
	free((char *)c->name);
	free((char *)c->value);
	free((char *)c->reason);
	free((char *)c->remedy);
}

static const char *copy(struct sw_checkup_store *s, const char *text)
{
	char *to = text ? strdup(text) : NULL;

	if (text && !to)
		s->err = -ENOMEM;
	return to;
}

static bool reserve(struct sw_checkup_store *s)
{
	size_t capacity = s->capacity ? 2 * s->capacity : 64;
	struct sw_check *list;

	if (s->head.n_checks < s->capacity)
		return true;
	list = reallocarray(s->list, capacity, sizeof(*list));
	if (!list) {
		s->err = -ENOMEM;
		return false;
	}
	s->head.checks = s->list = list;
	s->capacity = capacity;
	return true;
}

void sw_checkup_add(struct sw_checkup_store *s, const char *area, const char *name, uint32_t state, const char *value,
		    const char *reason, const char *remedy)
{
	if (!reserve(s))
		return;
	s->list[s->head.n_checks++] = (struct sw_check){
		.area = area,
		.name = copy(s, name),
		.state = state,
		.value = copy(s, value),
		.reason = copy(s, reason),
		.remedy = copy(s, remedy),
	};
}

void sw_checkup_free(struct sw_checkup *checkup)
{
	struct sw_checkup_store *s = (struct sw_checkup_store *)checkup;

	if (!s)
		return;
	for (size_t i = 0; i < s->head.n_checks; i++)
		free_check(&s->list[i]);
	free(s->list);
	free(s);
}

static void close_machine(struct sw_machine *m)
{
	const int fds[] = { m->sysfs_fd, m->procfs_fd, m->kernel_sysfs_fd, m->kernel_procfs_fd };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	sw_cgroupfs_close(&m->cgroupfs);
	sw_topology_free(&m->topology);
}

static int open_machine(struct sw_machine *m, const struct sw_options *o, struct sw_error *error)
{
	int err = sw_open_root(o->sysfs, "/sys", &m->sysfs_fd, error);

	if (!err)
		err = sw_open_root(o->procfs, "/proc", &m->procfs_fd, error);
	if (err)
		return err;
	m->slots = o->slots;
	m->captured = !sw_sysfs_is_real(m->sysfs_fd);
	m->kernel_sysfs_fd = sw_root_open("/sys");
	m->kernel_procfs_fd = sw_root_open("/proc");
	m->cpu = sw_cpu_identify(m->procfs_fd);
	m->privileges = sw_privileges_read(m->kernel_procfs_fd);
	err = sw_cgroupfs_open(&m->cgroupfs, m->procfs_fd, o->cgroupfs, o->cgroupfs ? error : NULL);
	if (err && o->cgroupfs)
		return err;
	return sw_open_topology(m->sysfs_fd, &m->cpu, error, &m->topology);
}

/* Only these are looked at: the rest is for monitors. */
static int take_options(const struct sw_options *from, struct sw_options *to, struct sw_error *error)
{
	struct sw_options all;
	int err;

	*to = (struct sw_options){ .sz = sizeof(*to) };
	if (from) {
		err = sw_options_take(from, &all, error);
		if (err)
			return err;
		to->sysfs = all.sysfs;
		to->procfs = all.procfs;
		to->cgroupfs = all.cgroupfs;
		to->slots = all.slots;
	}
	to->energy = "none"; /* no windows, of which the length could be wrong */
	return sw_options_check(to, error);
}

static int look(struct sw_checkup_store *s, const struct sw_options *o, struct sw_error *error)
{
	struct sw_machine m = {
		.sysfs_fd = -1,
		.procfs_fd = -1,
		.kernel_sysfs_fd = -1,
		.kernel_procfs_fd = -1,
		.cgroupfs = { .fd = -1 },
	};
	int err = open_machine(&m, o, error);

	if (!err) {
		sw_checkup_kernel(s, &m, o->procfs ? o->procfs : "/proc");
		sw_checkup_privileges(s, &m);
		sw_checkup_cpu(s, &m);
		sw_checkup_cgroups(s, &m);
		sw_checkup_energy(s, &m);
		if (s->err)
			err = sw_fail(error, s->err, "out of memory");
	}
	close_machine(&m);
	return err;
}

int sw_checkup_run(const struct sw_options *options, struct sw_checkup **ret)
{
	struct sw_checkup_store *s = calloc(1, sizeof(*s));
	struct sw_error error = { "" };
	struct sw_options o;
	int err = s ? take_options(options, &o, &error) : sw_fail(&error, -ENOMEM, "out of memory");

	if (!err)
		err = look(s, &o, &error);
	if (!err) {
		*ret = &s->head;
		return 0;
	}
	if (options)
		sw_options_tell(options, &error);
	sw_checkup_free(&s->head);
	return err;
}

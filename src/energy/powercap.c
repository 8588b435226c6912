/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the kept counters of powercap and reading them. Must not know: wraps, windows, tasks.
 * Source: Documentation/power/powercap/powercap.rst.
 */
#include "powercap_zones.h"

#include "../base/root.h"
#include "near.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct meter {
	int fd;      /* energy_uj, or -1 */
	int err;     /* why there is none, as -errno */
	bool lost;   /* it was there when opened, and the last read failed */
	char *what;  /* which zone it belongs to, to be found again */
};

struct powercap {
	struct sw_energy_source head;
	int sysfs_fd;
	struct meter *meters;  /* by zone */
	struct sw_near near;
};

static void powercap_close(struct sw_energy_source *source)
{
	struct powercap *p = (struct powercap *)source;
	size_t i;

	if (!p)
		return;
	for (i = 0; p->meters && i < p->head.n_zones; i++) {
		if (p->meters[i].fd >= 0)
			close(p->meters[i].fd);
		free(p->meters[i].what);
	}
	free(p->meters);
	if (p->sysfs_fd >= 0)
		close(p->sysfs_fd);
	sw_near_free(&p->near);
	sw_zones_free(p->head.zones, p->head.n_zones);
	free(p);
}

/* Move what was found into the source; the list keeps nothing that both would free. */
static int take_zones(struct powercap *p, struct sw_found_list *list, const struct sw_topology *t)
{
	size_t i;

	p->meters = calloc(list->n, sizeof(*p->meters));
	p->head.zones = calloc(list->n, sizeof(*p->head.zones));
	if (!p->meters || !p->head.zones)
		return -ENOMEM;
	p->head.n_zones = list->n;
	for (i = 0; i < list->n; i++) {
		struct sw_found *f = &list->zone[i];

		p->meters[i] = (struct meter){ .fd = f->fd, .err = f->err, .what = f->what };
		p->head.zones[i] = f->info;
		p->head.zones[i].domains = f->info.package < 0 ? 0 :
						sw_topology_domains(t, f->info.package, f->info.die);
		f->fd = -1;
		f->what = NULL;
		f->info = (struct sw_zone_info){ .name = NULL };
	}
	return 0;
}

/* 0 when some package can be read; else why there is no energy to be had from here. */
static int check_packages(const struct sw_found_list *list, struct sw_error *error)
{
	const struct sw_found *bad = NULL;
	size_t i;

	if (!list->n)
		return sw_fail(error, -ENODEV, SW_POWERCAP_DIR " has no RAPL zone: this processor, or the host of this "
			       "virtual machine, offers none, or the module intel_rapl_msr is not loaded");
	for (i = 0; i < list->n; i++) {
		const struct sw_found *f = &list->zone[i];

		if (f->info.role == SW_ROLE_PACKAGE && !f->info.problem)
			return 0;
		if (f->info.problem && (!bad || (f->info.role == SW_ROLE_PACKAGE && bad->info.role != SW_ROLE_PACKAGE)))
			bad = f;
	}
	if (bad && bad->info.role == SW_ROLE_PACKAGE)
		return sw_fail(error, bad->err, "%s", bad->info.problem);
	return sw_fail(error, -ENODEV, "none of the zones in " SW_POWERCAP_DIR " is a processor package%s%s",
		       bad ? "; " : "", bad ? bad->info.problem : "");
}

static int find_readable(int sysfs_fd, struct sw_error *error, struct sw_found_list *list)
{
	int fd, err;

	fd = openat(sysfs_fd, SW_POWERCAP_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		if (err == -ENOENT)
			return sw_fail(error, err, "there is no " SW_POWERCAP_DIR " in sysfs: no RAPL counters here "
				       "(usual in a virtual machine), or a kernel without CONFIG_POWERCAP");
		return sw_fail(error, err, SW_POWERCAP_DIR " cannot be opened (%s)",
			       err == -EACCES ? "permission denied" : "not a directory, or no room");
	}
	err = sw_powercap_find(fd, list);
	close(fd);
	if (err)
		return sw_fail(error, err, err == -ENOMEM ? "out of memory" : SW_POWERCAP_DIR " cannot be listed");
	return check_packages(list, error);
}

/* The kernel reads AMD's core register from one CPU of the package, and each core has its own. */
static void mark_one_core(struct powercap *p, const struct sw_cpu_id *cpu)
{
	const char *last;
	size_t i;

	if (cpu->vendor != SW_VENDOR_AMD && cpu->vendor != SW_VENDOR_HYGON)
		return;
	for (i = 0; i < p->head.n_zones; i++) {
		last = strrchr(p->head.zones[i].name, '/');
		if (p->head.zones[i].role == SW_ROLE_SUBZONE && last && !strncmp(last, "/core", 5))
			p->head.zones[i].one_core = true;
	}
}

static int powercap_open(const struct sw_energy_config *config, struct sw_error *error, struct sw_energy_source **ret)
{
	struct sw_found_list list = { .n = 0 };
	struct powercap *p = NULL;
	int err;

	err = find_readable(config->sysfs_fd, error, &list);
	if (err)
		goto out;
	p = calloc(1, sizeof(*p));
	if (!p) {
		err = sw_fail(error, -ENOMEM, "out of memory");
		goto out;
	}
	p->head.ops = &sw_energy_powercap;
	p->sysfs_fd = fcntl(config->sysfs_fd, F_DUPFD_CLOEXEC, 0);
	if (p->sysfs_fd < 0) {
		err = sw_fail(error, -errno, "cannot keep a file descriptor of sysfs");
		goto out;
	}
	err = sw_near_init(&p->near, config->topology);
	if (!err)
		err = take_zones(p, &list, config->topology);
	if (err) {
		sw_fail(error, err, "out of memory");
		goto out;
	}
	mark_one_core(p, &config->cpu);
	*ret = &p->head;
	p = NULL;
out:
	if (p)
		powercap_close(&p->head);
	sw_found_free(&list);
	return err;
}

static void powercap_read(struct sw_energy_source *source, const struct sw_busy *busy, struct sw_zone_value *values)
{
	struct powercap *p = (struct powercap *)source;
	size_t i;

	(void)busy;
	sw_near_begin(&p->near);
	for (i = 0; i < p->head.n_zones; i++) {
		struct meter *meter = &p->meters[i];

		values[i] = (struct sw_zone_value){ .status = meter->err };
		if (meter->fd < 0)
			continue;
		sw_near_go(&p->near, p->head.zones[i].domains);
		values[i].status = sw_fd_read_u64(meter->fd, UINT64_MAX, &values[i].raw_uj);
		meter->lost = values[i].status;
	}
	sw_near_end(&p->near);
}

/*
 * The kept file of a zone that was removed (its driver unloaded, the last CPU of its package off) fails with ENODEV for
 * ever, whatever comes back in its place: kernfs_get_active(). So a counter that begun anew is never taken for the old
 * one: a failed read stands between. A file that fails otherwise, and cannot be opened now, is kept: it may recover.
 */
static void mend_meter(struct meter *meter, int powercap_fd, const struct sw_found_list *list)
{
	int fd = sw_powercap_open_counter(powercap_fd, list, meter->what);

	if (fd < 0 && fd != -ENODEV)
		return;
	if (meter->fd >= 0)
		close(meter->fd);
	meter->fd = fd < 0 ? -1 : fd;
	meter->err = fd < 0 ? fd : 0;
}

static void powercap_mend(struct sw_energy_source *source)
{
	struct powercap *p = (struct powercap *)source;
	struct sw_found_list list = { .n = 0 };
	size_t i;
	int fd;

	fd = openat(p->sysfs_fd, SW_POWERCAP_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		return;
	if (fd < 0 || !sw_powercap_list(fd, &list))
		for (i = 0; i < p->head.n_zones; i++)
			if (p->meters[i].lost)
				mend_meter(&p->meters[i], fd, &list);
	sw_found_free(&list);
	if (fd >= 0)
		close(fd);
}

const struct sw_energy_ops sw_energy_powercap = {
	.name = "powercap",
	.quality = "measured",
	.open = powercap_open,
	.read = powercap_read,
	.mend = powercap_mend,
	.close = powercap_close,
};

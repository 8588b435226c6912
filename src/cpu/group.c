/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the life of a cgroup back end, and from a cgroup's cumulative time to windows that have room for it. Must not
 * know: how the cgroup was found, nor in which file of which version its time is.
 * Relies on cgroups(7): the open files of a cgroup that was removed give -ENODEV, and it keeps what it had.
 */
#include "group.h"

#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_SIZE 4096

size_t sw_group_new_cgroups(struct sw_cpu_backend *backend, const struct sw_cgroup_info **ret)
{
	struct sw_group *b = (struct sw_group *)backend;
	size_t n = b->n_infos;

	*ret = b->infos;
	b->n_infos = 0;
	return n;
}

/* --- its time */

ssize_t sw_group_pread(struct sw_group *b, int fd)
{
	ssize_t n;

	do
		n = pread(fd, b->text, b->text_size - 1, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	b->text[n] = '\0';
	return n;
}

/* What grew since the last read. A v1 counter that somebody has reset begins anew: what it had then is not known. */
static int take_usage(struct sw_group *b)
{
	int err = b->kind->read(b, b->now_ns);

	if (err)
		return err == -ENODEV ? 0 : err; /* removed: it keeps what it had */
	for (unsigned d = 0; d < b->n_domains; d++) {
		if (b->started && b->now_ns[d] < b->last_ns[d])
			b->members_lost++;
		else if (b->started)
			b->sum_ns[d] += b->now_ns[d] - b->last_ns[d];
		b->last_ns[d] = b->now_ns[d];
	}
	return 0;
}

/* Where domains are not told: by the ticks in which each was busy; by its CPUs if none was. */
static uint64_t share_of(const struct sw_group *b, unsigned d, uint64_t whole_ns, uint64_t t_ns)
{
	unsigned __int128 ticks = 0, room = 0;

	if (b->n_domains == 1)
		return whole_ns;
	for (unsigned i = 0; i < b->n_domains; i++) {
		ticks += sw_host_busy_ticks(b->host, i);
		room += sw_host_room_ns(b->host, i, t_ns);
	}
	if (ticks)
		return (uint64_t)(whole_ns * (unsigned __int128)sw_host_busy_ticks(b->host, d) / ticks);
	return room ? (uint64_t)(whole_ns * (unsigned __int128)sw_host_room_ns(b->host, d, t_ns) / room) : 0;
}

/* What is to be told of a window, as far as it has room; the rest waits for the next. */
static void fill_window(struct sw_group *b, uint64_t t_ns)
{
	uint64_t whole_ns = b->sum_ns[0], wanted_ns, room_ns;

	for (unsigned d = 0; d < b->n_domains && !b->kind->tells_domains; d++)
		whole_ns -= b->told_ns[d];
	for (unsigned d = 0; d < b->n_domains; d++) {
		wanted_ns = b->kind->tells_domains ? b->sum_ns[d] - b->told_ns[d] : share_of(b, d, whole_ns, t_ns);
		room_ns = sw_host_room_ns(b->host, d, t_ns);
		b->window_ns[d] = wanted_ns < room_ns ? wanted_ns : room_ns;
		b->told_ns[d] += b->window_ns[d];
	}
}

static void make_rows(struct sw_group *b)
{
	b->usage.n_rows = 0;
	for (unsigned d = 0; d < b->n_domains; d++) {
		struct sw_cpu_row *row = &b->rows[b->usage.n_rows];

		if (b->started && !b->window_ns[d])
			continue;
		*row = (struct sw_cpu_row){
			.key = d,
			.first = !b->started,
			.domain = d,
			.cgroup_id = b->id,
			.oncpu_ns = b->told_ns[d],
		};
		b->usage.n_rows++;
	}
}

static void look_again(struct sw_group *b)
{
	if (sw_group_look(&b->members))
		return; /* it stays as it was; a cgroup's time does not depend on it */
	b->ended = !b->members.n_members && !b->members.n_outside;
}

/* A target that was told by pids: who else is there. */
static void take_members(struct sw_group *b)
{
	if (!b->n_pids)
		return;
	if (b->T >= b->members.next_look_ns)
		look_again(b);
	b->members_lost += b->members.n_outside; /* for as long as they are, each window says so */
	b->usage.shared_with = (int64_t)b->members.n_strangers;
	b->usage.shared_ns = sw_group_strangers_ns(&b->members);
	b->usage.ended = b->ended;
}

int sw_group_announce(struct sw_cpu_backend *backend, uint64_t at_ns, uint64_t *ret_t_ns, uint64_t *ret_wake_ns)
{
	struct sw_group *b = (struct sw_group *)backend;

	if (!b->announced || at_ns < b->T)
		b->T = at_ns;
	b->announced = true;
	*ret_t_ns = *ret_wake_ns = b->T;
	return 0;
}

int sw_group_read(struct sw_cpu_backend *backend, struct sw_error *error, const struct sw_cpu_usage **ret)
{
	struct sw_group *b = (struct sw_group *)backend;
	int err = take_usage(b);

	if (err)
		return sw_fail(error, err, "cannot read the time of the cgroup %s: %s", b->path, strerror(-err));
	err = sw_host_read(b->host, error);
	if (err)
		return err;
	b->announced = false;
	fill_window(b, b->T);
	sw_host_add(b->host, b->T, b->window_ns);
	make_rows(b);
	take_members(b);
	b->started = true;
	b->usage.t_ns = b->T;
	b->usage.members_lost = b->members_lost;
	b->usage.busy_raised = b->host->busy_raised;
	b->usage.irq_ns = (int64_t)b->host->irq_ns;
	b->usage.steal_ns = (int64_t)b->host->steal_ns;
	*ret = &b->usage;
	return 0;
}

/* Asked when the pids that were named have ended: their cgroup may go at any moment, so what it has is read, too. */
bool sw_group_alive(struct sw_cpu_backend *backend)
{
	struct sw_group *b = (struct sw_group *)backend;

	if (b->started)
		take_usage(b);
	look_again(b);
	return !b->ended;
}

/* --- open and close */

void sw_group_close(struct sw_cpu_backend *backend)
{
	struct sw_group *b = (struct sw_group *)backend;

	if (!b)
		return;
	if (b->own_path && !b->started)
		sw_group_undo_own(b);
	sw_group_remove_own(backend, NULL);
	if (b->usage_fd >= 0)
		close(b->usage_fd);
	if (b->dir_fd >= 0)
		close(b->dir_fd);
	if (b->parent_fd >= 0)
		close(b->parent_fd);
	if (b->procfs_fd >= 0)
		close(b->procfs_fd);
	sw_cgroupfs_close(&b->v1);
	sw_host_close(b->host);
	free(b->path);
	free(b->own_path);
	free(b->pids);
	free(b->members.list);
	free(b->domain_of);
	free(b->text);
	free(b->last_ns);
	free(b->now_ns);
	free(b->sum_ns);
	free(b->told_ns);
	free(b->window_ns);
	free(b->infos);
	free(b->rows);
	free(b);
}

static int allocate(struct sw_group *b, const struct sw_cpu_config *config)
{
	b->n_pids = config->n_pids;
	b->n_cpus = config->n_cpus;
	b->n_domains = config->n_domains;
	b->pids = calloc(b->n_pids + 1, sizeof(*b->pids));
	b->domain_of = calloc(b->n_cpus, sizeof(*b->domain_of));
	/* a CPU's number of 20 digits and a blank */
	b->text_size = TEXT_SIZE + 21 * b->n_cpus;
	b->text = malloc(b->text_size);
	b->last_ns = calloc(b->n_domains, sizeof(*b->last_ns));
	b->now_ns = calloc(b->n_domains, sizeof(*b->now_ns));
	b->sum_ns = calloc(b->n_domains, sizeof(*b->sum_ns));
	b->told_ns = calloc(b->n_domains, sizeof(*b->told_ns));
	b->window_ns = calloc(b->n_domains, sizeof(*b->window_ns));
	b->rows = calloc(b->n_domains, sizeof(*b->rows));
	if (!b->pids || !b->domain_of || !b->text || !b->last_ns || !b->now_ns || !b->sum_ns || !b->told_ns ||
	    !b->window_ns || !b->rows)
		return -ENOMEM;
	if (b->n_pids)
		memcpy(b->pids, config->pids, b->n_pids * sizeof(*b->pids));
	memcpy(b->domain_of, config->domain_of, b->n_cpus * sizeof(*b->domain_of));
	b->procfs_fd = fcntl(config->procfs_fd, F_DUPFD_CLOEXEC, 0);
	return b->procfs_fd < 0 ? -errno : 0;
}

static int open_all(struct sw_group *b, const struct sw_cpu_config *config, struct sw_error *error)
{
	bool whole = !config->n_pids && !config->cgroup;
	int err = allocate(b, config);

	if (err)
		return sw_fail(error, err, "cannot open a cgroup: %s", strerror(-err));
	err = sw_group_find(b, config, error);
	if (!err)
		err = sw_host_open(config, whole, error, &b->host);
	if (!err)
		err = sw_group_check(b, config, error);
	return err ? err : b->kind->open(b, error);
}

int sw_group_open(const struct sw_group_kind *kind, const struct sw_cpu_config *config, struct sw_error *error,
		  struct sw_cpu_backend **ret)
{
	struct sw_group *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return sw_fail(error, -ENOMEM, "out of memory");
	b->kind = kind;
	b->dir_fd = b->usage_fd = b->procfs_fd = b->parent_fd = b->v1.fd = -1;
	err = open_all(b, config, error);
	if (err) {
		sw_group_close(&b->backend);
		return err;
	}
	b->backend = (struct sw_cpu_backend){
		.ops = sw_group_is_root(b) || (b->n_domains > 1 && !kind->tells_domains) ? kind->coarse : kind->ops,
		.own_cgroup = b->own_path,
		.max_keys = b->n_domains,
		.cpus = b->host->cpus,
	};
	if (sw_group_is_root(b) && kind->coarse != kind->ops)
		b->backend.note = "of the root cgroup the kernel tells clock ticks only, with interrupts and stolen time";
	else if (b->n_domains > 1 && !kind->tells_domains)
		b->backend.note = "the cgroup's time is divided among packages by how busy each was";
	b->usage = (struct sw_cpu_usage){
		.rows = b->rows,
		.domains = b->host->domains,
		.recursion_misses = INT64_MIN,
		.shared_with = INT64_MIN,
		.shared_ns = INT64_MIN,
	};
	*ret = &b->backend;
	return 0;
}

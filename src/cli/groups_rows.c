/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which group a row belongs to, and the labels of it; labels of paths are worked out once. Must not know: who has
 * a series, or what was added before. Relies on uthash.
 */
#define HASH_NONFATAL_OOM 1 /* a window is refused instead */
#include "groups_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup_labels.h"

enum { PATHS_SPARE = 1024 }; /* paths that are kept though nothing ran there in the last window; as many again as ran */

struct groups_path {
	char *path;
	struct buf labels; /* with `group`, when that is what cgroups are grouped by */
	unsigned hash;     /* of them */
	uint64_t window;   /* the last in which it was looked for */
	UT_hash_handle hh;
};

/* What a row says, whatever its kind. */
struct row {
	const char *cgroup;
	int32_t pid;
	bool ended;
	uint64_t ns;
	int64_t nj;
};

static void free_path(struct groups_path *p)
{
	free(p->path);
	buf_free(&p->labels);
	free(p);
}

void groups_free_paths(struct groups *g)
{
	struct groups_path *p, *next;

	HASH_ITER(hh, g->paths, p, next) {
		HASH_DEL(g->paths, p);
		free_path(p);
	}
}

static void forget_paths(struct groups *g, size_t n_rows)
{
	struct groups_path *p, *next;

	if (HASH_COUNT(g->paths) <= 2 * n_rows + PATHS_SPARE)
		return;
	HASH_ITER(hh, g->paths, p, next) {
		if (p->window == g->windows)
			continue;
		HASH_DEL(g->paths, p);
		free_path(p);
	}
}

static void name_group(struct buf *labels, const struct cgroup_labels *l, const char *path)
{
	char slurm[2 * CGROUP_SLURM_MAX + sizeof("slurm//")];

	snprintf(slurm, sizeof(slurm), "slurm/%s%s%s", l->slurm_job_id, l->slurm_step[0] ? "/" : "", l->slurm_step);
	metrics_label(labels, "group", l->container_id[0]   ? l->container_id
				       : l->slurm_job_id[0] ? slurm
				       : l->systemd_unit[0] ? l->systemd_unit
							    : path);
}

static unsigned hash_of(const struct buf *labels)
{
	unsigned hash;

	HASH_VALUE(labels->data, labels->len, hash);
	return hash;
}

static struct groups_path *make_path(const struct groups *g, const char *path)
{
	struct groups_path *p = calloc(1, sizeof(*p));
	struct cgroup_labels l;

	if (!p)
		return NULL;
	p->path = strdup(path);
	cgroup_labels_parse(path, &l);
	if (g->options.by == GROUPS_BY_CGROUP)
		name_group(&p->labels, &l, path);
	metrics_label(&p->labels, "container_id", l.container_id);
	metrics_label(&p->labels, "pod_uid", l.pod_uid);
	metrics_label(&p->labels, "systemd_unit", l.systemd_unit);
	metrics_label(&p->labels, "slurm_job_id", l.slurm_job_id);
	metrics_label(&p->labels, "slurm_step", l.slurm_step);
	metrics_label(&p->labels, "user", l.user);
	if (!p->path || p->labels.err) {
		free_path(p);
		return NULL;
	}
	p->hash = hash_of(&p->labels);
	return p;
}

static const struct groups_path *find_path(struct groups *g, const char *path)
{
	struct groups_path *p;

	HASH_FIND_STR(g->paths, path, p);
	if (!p) {
		p = make_path(g, path);
		if (!p)
			return NULL;
		HASH_ADD_KEYPTR(hh, g->paths, p->path, strlen(p->path), p);
		if (!p->hh.tbl) {
			free_path(p);
			return NULL;
		}
	}
	p->window = g->windows;
	return p;
}

void group_free(struct group *group)
{
	buf_free(&group->labels);
	free(group->cgroup);
	free(group);
}

static struct group *make_group(struct groups *g, const struct buf *labels, unsigned hash)
{
	struct group *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	buf_add(&group->labels, labels->data, labels->len);
	if (!group->labels.err) {
		HASH_ADD_KEYPTR_BYHASHVALUE(hh, g->table, group->labels.data, group->labels.len, hash, group);
		if (group->hh.tbl)
			return group;
	}
	group_free(group);
	return NULL;
}

/* What lies above lives at least as long. */
static int keep_shorter(struct group *group, const char *path)
{
	char *copy;

	if (!path || (group->cgroup && strlen(group->cgroup) <= strlen(path)))
		return 0;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	free(group->cgroup);
	group->cgroup = copy;
	return 0;
}

static int note(struct groups *g, const struct buf *labels, unsigned hash, const struct row *row)
{
	struct group *group;

	HASH_FIND_BYHASHVALUE(hh, g->table, labels->data, labels->len, hash, group);
	if (!group)
		group = make_group(g, labels, hash);
	if (!group || keep_shorter(group, row->cgroup))
		return -ENOMEM;
	group->ended = row->ended;
	group->seen = true;
	group->pid = row->pid;
	group->window_ns += row->ns;
	group->window_nj += row->nj;
	return 0;
}

/* Does the row have anything? 1, 0, or -EPROTO. Without energy, `nj` becomes 0. */
static int weigh(struct row *row, struct rows_sum *sum)
{
	if (row->nj == SW_ABSENT)
		row->nj = 0;
	if (row->nj < 0 || __builtin_add_overflow(sum->ns, row->ns, &sum->ns) ||
	    __builtin_add_overflow(sum->nj, row->nj, &sum->nj))
		return -EPROTO;
	return row->ns || row->nj;
}

/* Of what runs in a cgroup. Without a path it was gone too soon, and is part of the rest. */
static int note_in_cgroup(struct groups *g, struct row *row, struct rows_sum *sum)
{
	const struct groups_path *path;
	int err = row->cgroup ? weigh(row, sum) : 0;

	if (err <= 0)
		return err;
	path = find_path(g, row->cgroup);
	return path ? note(g, &path->labels, path->hash, row) : -ENOMEM;
}

static int note_cgroups(struct groups *g, const struct sw_report *report, struct rows_sum *sum)
{
	int err = 0;

	for (size_t i = 0; i < report->n_cgroups && !err; i++) {
		const struct sw_cgroup *c = &report->cgroups[i];
		struct row row = { .cgroup = c->path && c->path[0] ? c->path : NULL, .ns = c->oncpu_ns, .nj = c->nj };

		err = note_in_cgroup(g, &row, sum);
	}
	if (!err)
		forget_paths(g, report->n_cgroups);
	return err;
}

/* Where the back end tells processes but no cgroups: by what /proc says of each. */
static int note_processes_by_cgroup(struct groups *g, const struct sw_report *report, struct rows_sum *sum)
{
	int err = 0;

	for (size_t i = 0; i < report->n_processes && !err; i++) {
		const struct sw_process *p = &report->processes[i];
		struct row row = { .cgroup = p->cgroup && p->cgroup[0] ? p->cgroup : NULL, .ns = p->oncpu_ns, .nj = p->nj };

		err = note_in_cgroup(g, &row, sum);
	}
	if (!err)
		forget_paths(g, report->n_processes);
	return err;
}

static int note_comms(struct groups *g, const struct sw_report *report, struct buf *labels, struct rows_sum *sum)
{
	for (size_t i = 0; i < report->n_comms; i++) {
		const struct sw_comm *c = &report->comms[i];
		struct row row = { .ns = c->oncpu_ns, .nj = c->nj };
		int err;

		if (!c->comm[0]) /* no name, no label: part of the rest */
			continue;
		err = weigh(&row, sum);
		if (err > 0) {
			buf_clear(labels);
			metrics_label(labels, "group", c->comm);
			metrics_label(labels, "comm", c->comm); /* so that one named "other" is not what we call so */
			err = labels->err ? labels->err : note(g, labels, hash_of(labels), &row);
		}
		if (err)
			return err;
	}
	return 0;
}

static int label_process(struct groups *g, struct buf *labels, const struct sw_process *p, int32_t id)
{
	const struct groups_path *path;
	char pid[16], name[64];

	buf_clear(labels);
	if (p->kernel_thread) {
		metrics_label(labels, "group", "kernel threads");
		return labels->err;
	}
	snprintf(pid, sizeof(pid), "%d", id);
	snprintf(name, sizeof(name), "%s[%d]", p->comm, id);
	metrics_label(labels, "group", name);
	metrics_label(labels, "comm", p->comm);
	metrics_label(labels, "pid", pid);
	path = p->cgroup ? find_path(g, p->cgroup) : NULL;
	if (p->cgroup && !path)
		return -ENOMEM;
	if (path && path->labels.len) {
		buf_text(labels, ",");
		buf_add(labels, path->labels.data, path->labels.len);
	}
	return labels->err;
}

static int note_processes(struct groups *g, const struct sw_report *report, struct buf *labels, struct rows_sum *sum)
{
	for (size_t i = 0; i < report->n_processes; i++) {
		const struct sw_process *p = &report->processes[i];
		int32_t id = p->pid ? p->pid : p->host_pid; /* the one that we can look for */
		struct row row = { .ns = p->oncpu_ns, .nj = p->nj, .ended = p->exited && !p->kernel_thread,
				   .cgroup = p->kernel_thread ? NULL : p->cgroup, .pid = p->kernel_thread ? 0 : id };
		int err = weigh(&row, sum);

		if (err > 0) {
			err = label_process(g, labels, p, id);
			if (!err)
				err = note(g, labels, hash_of(labels), &row);
		}
		if (err)
			return err;
	}
	forget_paths(g, report->n_processes);
	return 0;
}

int groups_note_rows(struct groups *g, const struct sw_header *header, const struct sw_report *report,
		     struct rows_sum *ret)
{
	struct buf labels = { 0 };
	int err;

	*ret = (struct rows_sum){ 0 };
	if (g->options.by == GROUPS_BY_COMM)
		err = note_comms(g, report, &labels, ret);
	else if (g->options.by == GROUPS_BY_PROCESS)
		err = note_processes(g, report, &labels, ret);
	else if (header->by & SW_BY_CGROUP)
		err = note_cgroups(g, report, ret);
	else
		err = note_processes_by_cgroup(g, report, ret);
	buf_free(&labels);
	return err;
}

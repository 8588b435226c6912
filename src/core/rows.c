/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: to whom each row of a window belongs, and the lists that a report has of them: by process, thread, cgroup and
 * name. Must not know: how energy is shared out.
 */
#include "monitor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sw_rows_init(struct sw_monitor *m, uint32_t n_keys)
{
	int err = sw_processes_init(&m->processes, n_keys, m->topology.n_domains);

	if (!err && m->options.by & SW_BY_THREAD)
		err = sw_threads_init(&m->threads, n_keys, m->topology.n_domains);
	m->processes.forget_ended = m->threads.forget_ended = m->cgroups.forget_gone = m->options.forget_ended;
	m->cgroup_of = calloc(n_keys, sizeof(*m->cgroup_of));
	return m->cgroup_of ? err : -ENOMEM;
}

static void free_lists(struct sw_monitor *m)
{
	struct sw_report *r = &m->report;

	free((void *)r->processes);
	free((void *)r->threads);
	free((void *)r->cgroups);
	free((void *)r->comms);
	r->processes = NULL;
	r->threads = NULL;
	r->cgroups = NULL;
	r->comms = NULL;
	r->n_processes = r->n_threads = r->n_cgroups = r->n_comms = 0;
}

void sw_rows_free(struct sw_monitor *m)
{
	free_lists(m);
	sw_threads_free(&m->threads);
	sw_processes_free(&m->processes);
	sw_cgroups_free(&m->cgroups);
	free(m->cgroup_of);
	m->cgroup_of = NULL;
}

static void leave_cgroup(struct sw_monitor *m, uint32_t key)
{
	if (m->cgroup_of[key])
		m->cgroup_of[key]->keys--;
	m->cgroup_of[key] = NULL;
}

/* The cgroup that the row's key lives in; it has the key until another row says that this was its last. */
static struct sw_cgroup_entry *enter_cgroup(struct sw_monitor *m, const struct sw_cpu_row *row)
{
	struct sw_cgroup_entry *c;

	if (row->first)
		leave_cgroup(m, row->key);
	c = m->cgroup_of[row->key];
	if (c)
		return c;
	c = sw_cgroups_get(&m->cgroups, row->cgroup_id);
	if (!c)
		return NULL;
	c->keys++;
	m->cgroup_of[row->key] = c;
	return c;
}

static int add_inside(struct sw_monitor *m, struct sw_window_row *w)
{
	int err = !w->row->task ? 0 : sw_processes_add(&m->processes, w->row, w->oncpu_ns, &w->process);

	if (!err && w->row->task && m->options.by & SW_BY_THREAD)
		err = sw_threads_add(&m->threads, w->row, w->oncpu_ns, &w->thread);
	if (!err && w->oncpu_ns)
		sw_cgroup_add(&m->cgroups, w->cgroup, w->oncpu_ns);
	return err;
}

static int add_row(struct sw_monitor *m, struct sw_window_row *w)
{
	int err = 0;

	w->cgroup = enter_cgroup(m, w->row);
	if (!w->cgroup)
		return -ENOMEM;
	w->inside = w->cgroup->inside || !w->row->task;
	if (w->inside) {
		err = add_inside(m, w);
	} else {
		sw_processes_add_outside(&m->processes, w->row);
		if (m->options.by & SW_BY_THREAD)
			sw_threads_add_outside(&m->threads, w->row);
	}
	if (w->row->last)
		leave_cgroup(m, w->row->key);
	return err;
}

static int learn_cgroups(struct sw_monitor *m)
{
	const struct sw_cgroup_info *infos;
	size_t n;

	if (!m->backend->ops->new_cgroups)
		return 0;
	n = m->backend->ops->new_cgroups(m->backend, &infos);
	return n ? sw_cgroups_learn(&m->cgroups, infos, n) : 0;
}

int sw_rows_add(struct sw_monitor *m, const struct sw_window *window)
{
	int err;

	free_lists(m); /* they point to what may be folded now */
	err = sw_cgroups_next(&m->cgroups);
	if (!err)
		err = sw_processes_next(&m->processes);
	if (!err && m->options.by & SW_BY_THREAD)
		sw_threads_next(&m->threads);
	if (!err)
		err = learn_cgroups(m);
	for (size_t i = 0; i < window->n_rows && !err; i++)
		err = add_row(m, &window->rows[i]);
	if (!err && !m->options.no_cmdline)
		sw_processes_read_cmdlines(&m->processes, m->procfs_fd);
	if (!err && m->options.by & SW_BY_PROCESS && !m->backend->ops->tells_cgroups)
		sw_processes_read_cgroups(&m->processes, m->procfs_fd);
	return err;
}

int sw_report_baseline(struct sw_monitor *m, const struct sw_window *window)
{
	for (size_t i = 0; i < window->n_rows; i++)
		window->rows[i].oncpu_ns = 0;
	return sw_rows_add(m, window) ? sw_fail(&m->error, -ENOMEM, "out of memory") : 0;
}

void sw_rows_add_energy(const struct sw_window *window)
{
	for (size_t i = 0; i < window->n_rows; i++) {
		const struct sw_window_row *w = &window->rows[i];

		/* those with neither time nor an end are in no list of this window */
		if (w->nj == INT64_MIN || (!w->oncpu_ns && !w->row->last))
			continue;
		if (w->process)
			sw_process_add_energy(w->process, w->nj);
		if (w->thread)
			sw_thread_add_energy(w->thread, w->nj);
		if (w->oncpu_ns)
			sw_cgroup_add_energy(w->cgroup, w->nj);
	}
}

int sw_rows_list(struct sw_monitor *m)
{
	struct sw_report *r = &m->report;
	uint32_t by = m->options.by;

	if (by & SW_BY_PROCESS)
		r->processes = sw_processes_window(&m->processes, &m->cgroups, &r->n_processes);
	if (by & SW_BY_THREAD)
		r->threads = sw_threads_window(&m->threads, &m->processes, &r->n_threads);
	if (by & SW_BY_CGROUP)
		r->cgroups = sw_cgroups_window(&m->cgroups, &r->n_cgroups);
	if (by & SW_BY_COMM)
		r->comms = sw_processes_window_comms(&m->processes, &r->n_comms);
	if (r->n_processes != SIZE_MAX && r->n_threads != SIZE_MAX && r->n_cgroups != SIZE_MAX &&
	    r->n_comms != SIZE_MAX)
		return 0;
	free_lists(m);
	return -ENOMEM;
}

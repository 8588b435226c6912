/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the fields of processes, threads, cgroups and command names in records, and of rows with columns. Must not
 * know: which record they are in. Relies on: schedwatt.h (ids of 0 are not seen from here), waitpid(2) (what a wait
 * status says).
 */
#include "jsonl_rows.h"

#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#include "cell.h"
#include "json.h"

/* An id as the reader sees it, null where it cannot; beside it the kernel's own where that differs. */
static void add_id(int *err, struct json_object *in, const char *key, int32_t id, const char *host_key, int32_t host_id)
{
	record_count(err, in, key, id ? id : SW_ABSENT);
	if (host_id && host_id != id)
		record_int(err, in, host_key, host_id);
}

static void add_kernel_thread(int *err, struct json_object *in, uint32_t kernel_thread)
{
	if (kernel_thread)
		record_bool(err, in, "kernel_thread", true);
}

static void add_by_domain(int *err, struct json_object *in, const uint64_t *oncpu_by_domain_ns, uint32_t domains)
{
	struct json_object *list;

	if (domains < 2 || !oncpu_by_domain_ns)
		return;
	list = record_array(err, in, "oncpu_ns_by_domain");
	for (uint32_t i = 0; i < domains; i++)
		record_uint(err, list, NULL, oncpu_by_domain_ns[i]);
}

/* One of exit_status and exit_signal; both are null where the end went unseen. */
static void add_end(int *err, struct json_object *in, const struct sw_process *p)
{
	int status = p->exit_code;

	record_bool(err, in, "exited", p->exited);
	if (!p->exited)
		return;
	if (p->exit_known && WIFEXITED(status)) {
		record_int(err, in, "exit_status", WEXITSTATUS(status));
	} else if (p->exit_known && WIFSIGNALED(status)) {
		record_int(err, in, "exit_signal", WTERMSIG(status));
		if (WCOREDUMP(status))
			record_bool(err, in, "core_dumped", true);
	} else {
		record_null(err, in, "exit_status");
		record_null(err, in, "exit_signal");
	}
}

void jsonl_process(int *err, struct json_object *row, const struct sw_header *h, const struct sw_process *p,
		   bool every_cmdline)
{
	add_id(err, row, "pid", p->pid, "host_pid", p->host_pid);
	record_uint(err, row, "start_boottime_ns", p->start_boottime_ns);
	add_id(err, row, "ppid", p->ppid, "host_ppid", p->host_ppid);
	record_text(err, row, "comm", p->comm);
	add_kernel_thread(err, row, p->kernel_thread);
	record_text(err, row, "cgroup", p->cgroup);
	if (every_cmdline ? p->cmdline != NULL : p->cmdline_new != 0)
		record_text(err, row, "cmdline", p->cmdline);
	record_uint(err, row, "oncpu_ns", p->oncpu_ns);
	add_by_domain(err, row, p->oncpu_by_domain_ns, h->domains);
	record_joules(err, row, "joules", p->nj);
	add_end(err, row, p);
}

void jsonl_thread(int *err, struct json_object *row, const struct sw_header *h, const struct sw_thread *t)
{
	add_id(err, row, "pid", t->pid, "host_pid", t->host_pid);
	add_id(err, row, "tid", t->tid, "host_tid", t->host_tid);
	record_uint(err, row, "start_boottime_ns", t->start_boottime_ns);
	record_text(err, row, "comm", t->comm);
	record_text(err, row, "process_comm", t->process_comm);
	add_kernel_thread(err, row, t->kernel_thread);
	record_uint(err, row, "oncpu_ns", t->oncpu_ns);
	add_by_domain(err, row, t->oncpu_by_domain_ns, h->domains);
	record_joules(err, row, "joules", t->nj);
	record_bool(err, row, "exited", t->exited);
}

void jsonl_cgroup(int *err, struct json_object *row, const struct sw_cgroup *c)
{
	record_text(err, row, "path", c->path);
	record_uint(err, row, "id", c->id);
	record_uint(err, row, "oncpu_ns", c->oncpu_ns);
	record_uint(err, row, "subtree_oncpu_ns", c->subtree_oncpu_ns);
	record_joules(err, row, "joules", c->nj);
	record_joules(err, row, "subtree_joules", c->subtree_nj);
}

void jsonl_comm(int *err, struct json_object *row, const struct sw_comm *c)
{
	record_text(err, row, "comm", c->comm);
	record_uint(err, row, "processes", c->processes);
	record_uint(err, row, "oncpu_ns", c->oncpu_ns);
	record_joules(err, row, "joules", c->nj);
}

static void add_cell(int *err, struct json_object *in, const struct sw_data_column *column, size_t row)
{
	char number[FORMAT_MAX];

	if (cell_number(number, column, row))
		record_number(err, in, column->name, number);
	else
		record_text(err, in, column->name, cell_text(column, row)); /* null where there is neither */
}

/* What every row has, whether it is chosen or not. */
static bool is_id(const struct sw_data_column *column)
{
	return !strcmp(column->name, "pid") || !strcmp(column->name, "tid") || !strcmp(column->name, "starttime");
}

void jsonl_cells(int *err, struct json_object *in, const struct sw_data_table *rows, size_t n_chosen, size_t row)
{
	for (size_t i = 0; i < rows->n_columns; i++) {
		if (is_id(&rows->columns[i]))
			add_cell(err, in, &rows->columns[i], row);
	}
	for (size_t i = 0; i < n_chosen; i++) {
		if (!is_id(&rows->columns[i]))
			add_cell(err, in, &rows->columns[i], row);
	}
}

void jsonl_processes(int *err, struct json_object *in, const struct sw_header *h, const struct sw_process *rows,
		     size_t n, bool every_cmdline)
{
	struct json_object *list = record_array(err, in, "processes");

	for (size_t i = 0; i < n; i++)
		jsonl_process(err, record_object(err, list, NULL), h, &rows[i], every_cmdline);
}

void jsonl_threads(int *err, struct json_object *in, const struct sw_header *h, const struct sw_thread *rows, size_t n)
{
	struct json_object *list = record_array(err, in, "threads");

	for (size_t i = 0; i < n; i++)
		jsonl_thread(err, record_object(err, list, NULL), h, &rows[i]);
}

void jsonl_cgroups(int *err, struct json_object *in, const struct sw_cgroup *rows, size_t n)
{
	struct json_object *list = record_array(err, in, "cgroups");

	for (size_t i = 0; i < n; i++)
		jsonl_cgroup(err, record_object(err, list, NULL), &rows[i]);
}

void jsonl_comms(int *err, struct json_object *in, const struct sw_comm *rows, size_t n)
{
	struct json_object *list = record_array(err, in, "comms");

	for (size_t i = 0; i < n; i++)
		jsonl_comm(err, record_object(err, list, NULL), &rows[i]);
}

void jsonl_table(int *err, struct json_object *in, const char *key, const struct sw_data_table *rows, size_t n_chosen)
{
	struct json_object *list = record_array(err, in, key);

	for (size_t i = 0; i < rows->n_rows; i++)
		jsonl_cells(err, record_object(err, list, NULL), rows, n_chosen, i);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the fields of processes, threads, cgroups and command names in records. Must not know: which record they are
 * in. Relies on: schedwatt.h (ids of 0 are not seen from here), waitpid(2) (what a wait status says).
 */
#include "jsonl_rows.h"

#include <stdint.h>
#include <sys/wait.h>

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

void jsonl_processes(int *err, struct json_object *in, const struct sw_header *h, const struct sw_process *rows,
		     size_t n, bool every_cmdline)
{
	struct json_object *list = record_array(err, in, "processes");

	for (size_t i = 0; i < n; i++) {
		const struct sw_process *p = &rows[i];
		struct json_object *row = record_object(err, list, NULL);

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
}

void jsonl_threads(int *err, struct json_object *in, const struct sw_header *h, const struct sw_thread *rows, size_t n)
{
	struct json_object *list = record_array(err, in, "threads");

	for (size_t i = 0; i < n; i++) {
		const struct sw_thread *t = &rows[i];
		struct json_object *row = record_object(err, list, NULL);

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
}

void jsonl_cgroups(int *err, struct json_object *in, const struct sw_cgroup *rows, size_t n)
{
	struct json_object *list = record_array(err, in, "cgroups");

	for (size_t i = 0; i < n; i++) {
		const struct sw_cgroup *c = &rows[i];
		struct json_object *row = record_object(err, list, NULL);

		record_text(err, row, "path", c->path);
		record_uint(err, row, "id", c->id);
		record_uint(err, row, "oncpu_ns", c->oncpu_ns);
		record_uint(err, row, "subtree_oncpu_ns", c->subtree_oncpu_ns);
		record_joules(err, row, "joules", c->nj);
		record_joules(err, row, "subtree_joules", c->subtree_nj);
	}
}

void jsonl_comms(int *err, struct json_object *in, const struct sw_comm *rows, size_t n)
{
	struct json_object *list = record_array(err, in, "comms");

	for (size_t i = 0; i < n; i++) {
		struct json_object *row = record_object(err, list, NULL);

		record_text(err, row, "comm", rows[i].comm);
		record_uint(err, row, "processes", rows[i].processes);
		record_uint(err, row, "oncpu_ns", rows[i].oncpu_ns);
		record_joules(err, row, "joules", rows[i].nj);
	}
}

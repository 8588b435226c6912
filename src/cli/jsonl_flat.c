/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the records of rows that stand for themselves: what ties them to their sample, and the labels, which every one
 * repeats. Must not know: the fields of a row. Relies on: jsonl_rows.h, which has these for lists, too.
 */
#include "jsonl_flat.h"

#include "json.h"
#include "jsonl_rows.h"

static struct json_object *begin(int *err, const char *type, const struct recording *rec, const struct sw_report *r)
{
	struct json_object *record, *labels;

	*err = 0;
	record = record_new(err, type);
	record_uint(err, record, "seq", r->seq);
	record_uint(err, record, "t_ns", r->t_ns);
	if (!rec->n_labels)
		return record;
	labels = record_object(err, record, "labels");
	for (size_t i = 0; i < rec->n_labels; i++)
		record_text(err, labels, rec->labels[i].key, rec->labels[i].value);
	return record;
}

static void add_table(const char *type, const struct recording *rec, const struct sw_report *r,
		      const struct sw_data_table *rows, size_t n_chosen, struct buf *out)
{
	struct json_object *record;
	int err;

	for (size_t i = 0; i < rows->n_rows; i++) {
		record = begin(&err, type, rec, r);
		jsonl_cells(&err, record, rows, n_chosen, i);
		record_finish(err, record, out);
	}
}

static void add_report(const struct recording *rec, const struct sw_report *r, struct buf *out)
{
	struct json_object *record;
	int err;

	for (size_t i = 0; i < r->n_processes; i++) {
		record = begin(&err, "process", rec, r);
		jsonl_process(&err, record, rec->header, &r->processes[i], false);
		record_finish(err, record, out);
	}
	for (size_t i = 0; i < r->n_threads; i++) {
		record = begin(&err, "thread", rec, r);
		jsonl_thread(&err, record, rec->header, &r->threads[i]);
		record_finish(err, record, out);
	}
	for (size_t i = 0; i < r->n_cgroups; i++) {
		record = begin(&err, "cgroup", rec, r);
		jsonl_cgroup(&err, record, &r->cgroups[i]);
		record_finish(err, record, out);
	}
	for (size_t i = 0; i < r->n_comms; i++) {
		record = begin(&err, "comm", rec, r);
		jsonl_comm(&err, record, &r->comms[i]);
		record_finish(err, record, out);
	}
}

void jsonl_flat(const struct recording *rec, const struct sw_report *r, const struct sw_data *rows, struct buf *out)
{
	if (!rows) {
		add_report(rec, r, out);
		return;
	}
	add_table("process", rec, r, &rows->processes, rec->columns.n, out);
	if (rec->thread_columns.n)
		add_table("thread", rec, r, &rows->threads, rec->thread_columns.n, out);
}

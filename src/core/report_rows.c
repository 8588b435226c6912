/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the columns that come from reports alone. Must not know: /proc, who takes the rows.
 */
#include "row_maker.h"

#include <errno.h>

enum { P_TIME, P_T_NS, P_PID, P_PPID, P_COMM, P_ONCPU_NS, P_JOULES, P_WATTS, P_COLUMNS };
enum { T_TIME, T_T_NS, T_PID, T_TID, T_COMM, T_ONCPU_NS, T_JOULES, T_COLUMNS };

static const struct sw_column_spec process_columns[P_COLUMNS] = {
	[P_TIME] = {"time", SW_TYPE_I64},
	[P_T_NS] = {"t_ns", SW_TYPE_U64},
	[P_PID] = {"pid", SW_TYPE_I64},
	[P_PPID] = {"ppid", SW_TYPE_I64},
	[P_COMM] = {"comm", SW_TYPE_TEXT},
	[P_ONCPU_NS] = {"oncpu_ns", SW_TYPE_U64},
	[P_JOULES] = {"joules", SW_TYPE_F64},
	[P_WATTS] = {"watts", SW_TYPE_F64},
};

static const struct sw_column_spec thread_columns[T_COLUMNS] = {
	[T_TIME] = {"time", SW_TYPE_I64},
	[T_T_NS] = {"t_ns", SW_TYPE_U64},
	[T_PID] = {"pid", SW_TYPE_I64},
	[T_TID] = {"tid", SW_TYPE_I64},
	[T_COMM] = {"comm", SW_TYPE_TEXT},
	[T_ONCPU_NS] = {"oncpu_ns", SW_TYPE_U64},
	[T_JOULES] = {"joules", SW_TYPE_F64},
};

static int add_process(const struct sw_report *report, const struct sw_process *p, struct sw_table *t)
{
	int64_t row = sw_table_add(t);

	if (row < 0)
		return (int)row;
	sw_table_set_i64(t, P_TIME, row, report->time_utc_ns / 1000);
	sw_table_set_u64(t, P_T_NS, row, report->t_ns);
	sw_table_set_i64(t, P_PID, row, p->pid);
	sw_table_set_i64(t, P_PPID, row, p->ppid);
	sw_table_set_text(t, P_COMM, row, p->comm);
	sw_table_set_u64(t, P_ONCPU_NS, row, p->oncpu_ns);
	if (p->nj != SW_ABSENT) {
		sw_table_set_f64(t, P_JOULES, row, p->nj / 1e9);
		if (report->window_ns)
			sw_table_set_f64(t, P_WATTS, row, (double)p->nj / report->window_ns);
	}
	return 0;
}

static int add_thread(const struct sw_report *report, const struct sw_thread *thread, struct sw_table *t)
{
	int64_t row = sw_table_add(t);

	if (row < 0)
		return (int)row;
	sw_table_set_i64(t, T_TIME, row, report->time_utc_ns / 1000);
	sw_table_set_u64(t, T_T_NS, row, report->t_ns);
	sw_table_set_i64(t, T_PID, row, thread->pid);
	sw_table_set_i64(t, T_TID, row, thread->tid);
	sw_table_set_text(t, T_COMM, row, thread->comm);
	sw_table_set_u64(t, T_ONCPU_NS, row, thread->oncpu_ns);
	if (thread->nj != SW_ABSENT)
		sw_table_set_f64(t, T_JOULES, row, thread->nj / 1e9);
	return 0;
}

static int make(struct sw_row_maker *r, const struct sw_report *report, struct sw_table *processes,
		struct sw_table *threads, struct sw_error *error)
{
	int err = 0;

	(void)r;
	for (size_t i = 0; i < report->n_processes && !err; i++)
		err = add_process(report, &report->processes[i], processes);
	for (size_t i = 0; i < report->n_threads && !err; i++)
		err = add_thread(report, &report->threads[i], threads);
	return err ? sw_fail(error, err, "out of memory for rows") : 0;
}

static void close_nothing(struct sw_row_maker *r)
{
	(void)r;
}

void sw_report_rows_init(struct sw_row_maker *r)
{
	static const struct sw_row_ops ops = {.make = make, .close = close_nothing};

	*r = (struct sw_row_maker){
		.ops = &ops,
		.process_columns = process_columns,
		.n_process_columns = P_COLUMNS,
		.thread_columns = thread_columns,
		.n_thread_columns = T_COLUMNS,
	};
}

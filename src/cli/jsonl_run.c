/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the fields of the records `run` and, of a series, `summary`. Must not know: where they are written.
 * Relies on: README, "Repeats"; the numbers of a summary being sink_jsonl.c's.
 */
#include "jsonl_run.h"

#include <sys/wait.h>

#include "json.h"
#include "series.h"

static void add_end(int *err, struct json_object *in, int wait_status)
{
	bool signalled = WIFSIGNALED(wait_status);

	record_count(err, in, "exit_status", signalled ? SW_ABSENT : WEXITSTATUS(wait_status));
	record_count(err, in, "exit_signal", signalled ? WTERMSIG(wait_status) : SW_ABSENT);
}

void jsonl_run(const struct recording *rec, const struct series *series, const struct run *run, struct buf *out)
{
	struct json_object *record;
	int err = 0;

	record = record_new(&err, "run");
	record_uint(&err, record, "index", run->index);
	record_bool(&err, record, "warmup", run->warmup);
	record_bool(&err, record, "counted", run->counted);
	record_bool(&err, record, "interrupted", run->interrupted);
	record_int(&err, record, "pid", run->pid);
	add_end(&err, record, run->wait_status);
	record_time(&err, record, "started_at", run->started_utc_ns);
	record_uint(&err, record, "started_ns", run->started_ns);
	for (enum quantity q = 0; q < QUANTITIES; q++)
		record_joules(&err, record, series_quantity(q), run->quantities[q]); /* n of a unit, like nJ */
	jsonl_totals(&err, record, rec, &run->summary);
	if (!series_is_one(series))
		jsonl_totals_rows(&err, record, rec->header, &run->summary);
	record_finish(err, record, out);
}

static void add_statistics(int *err, struct json_object *in, enum quantity quantity, const struct statistics *s)
{
	struct json_object *of = record_object(err, in, series_quantity(quantity));
	bool interval = s->half != SW_ABSENT;

	record_uint(err, of, "n", s->n);
	record_uint(err, of, "absent", s->absent);
	record_joules(err, of, "mean", s->mean);
	record_joules(err, of, "standard_deviation", s->sd);
	record_joules(err, of, "interval95_low", interval ? s->mean - s->half : SW_ABSENT);
	record_joules(err, of, "interval95_high", interval && s->half <= INT64_MAX - s->mean ? s->mean + s->half
											     : SW_ABSENT);
	record_joules(err, of, "median", s->median);
	record_joules(err, of, "min", s->min);
	record_joules(err, of, "max", s->max);
	record_bool(err, of, "wide", s->wide);
	record_text(err, of, "trend", s->trend > 0 ? "rising" : s->trend < 0 ? "falling" : NULL);
}

static void add_series(int *err, struct json_object *in, const struct series *s)
{
	struct json_object *of = record_object(err, in, "series");

	record_uint(err, of, "repeat", s->repeat);
	record_uint(err, of, "warmup", s->warmup);
	record_uint(err, of, "runs", s->n);
	record_uint(err, of, "counted", s->n_counted);
	record_uint(err, of, "failed", s->n_failed);
}

void jsonl_series(const struct recording *rec, const struct series *series, struct buf *out)
{
	struct json_object *record, *nested;
	int err = 0;

	record = record_new(&err, "summary");
	add_series(&err, record, series);
	if (series->n_counted)
		jsonl_totals(&err, record, rec, &series->mean);
	else
		record_text(&err, record, "end", rec->end);
	nested = record_object(&err, record, "statistics");
	for (enum quantity q = 0; q < QUANTITIES; q++)
		add_statistics(&err, nested, q, &series->statistics[q]);
	nested = record_array(&err, record, "notes");
	for (size_t i = 0; i < series->n_notes; i++)
		record_text(&err, nested, NULL, series->notes[i]);
	record_finish(err, record, out);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the object of --json: which records are its members, and that it is whole however a run ends.
 * Must not know: the fields of those records. Relies on: RFC 8259: a record's newline is blank space between two
 * members. Runs are written as they come, so that a thousand of them with all their processes are not kept in memory.
 */
#include "json_result.h"

#include "json.h"
#include "series.h"

int json_result_open(struct json_result *j, const char *path)
{
	*j = (struct json_result){ .out.fd = -1, .stop_fd = -1 };
	return path ? output_open(&j->out, path) : 0;
}

static bool wanted(const struct json_result *j)
{
	return j->out.fd >= 0 && !j->out.err;
}

static void flush(struct json_result *j)
{
	output_write(&j->out, &j->buf, j->stop_fd); /* says and keeps what goes wrong */
	buf_clear(&j->buf);
}

/* Up to the list of runs. */
static void begin(struct json_result *j, const struct recording *rec)
{
	buf_text(&j->buf, "{\"type\":\"result\",\"schema\":\"schedwatt/1\",\"header\":");
	if (rec)
		sink_jsonl.header(rec, &j->buf);
	else
		buf_text(&j->buf, "null\n");
	buf_text(&j->buf, ",\"runs\":[\n");
	j->at = JSON_RESULT_RUNS;
}

void json_result_header(struct json_result *j, const struct recording *rec)
{
	if (!wanted(j) || j->at != JSON_RESULT_START)
		return;
	begin(j, rec);
	flush(j);
}

void json_result_run(struct json_result *j, const struct recording *rec, const struct series *series,
		     const struct run *run)
{
	if (!wanted(j))
		return;
	if (j->has_runs)
		buf_text(&j->buf, ",");
	j->has_runs = true;
	sink_jsonl.run(rec, series, run, &j->buf);
	flush(j);
}

void json_result_summary(struct json_result *j, const struct recording *rec, const struct sw_summary *summary)
{
	if (!wanted(j))
		return;
	buf_text(&j->buf, "],\"summary\":");
	sink_jsonl.summary(rec, summary, &j->buf);
	j->at = JSON_RESULT_SUMMARY;
	flush(j);
}

void json_result_series(struct json_result *j, const struct recording *rec, const struct series *series)
{
	if (!wanted(j))
		return;
	buf_text(&j->buf, "],\"summary\":");
	sink_jsonl.series(rec, series, &j->buf);
	j->at = JSON_RESULT_SUMMARY;
	flush(j);
}

static void add_budget(int *err, struct json_object *in, const struct budget *b, const struct budget_result *r)
{
	static const char *const verdicts[] = {
		[BUDGET_UNKNOWN] = "unknown", [BUDGET_WITHIN] = "within", [BUDGET_OVER] = "over",
	};
	struct json_object *of = record_object(err, in, "budget");

	record_text(err, of, "quantity", series_quantity(b->kind == BUDGET_JOULES ? QUANTITY_JOULES : QUANTITY_CPU));
	record_joules(err, of, "limit", b->limit);
	record_text(err, of, "verdict", verdicts[r->verdict]);
	record_uint(err, of, "runs", r->runs);
	record_uint(err, of, "missing", r->missing);
	record_joules(err, of, "mean", r->mean);
	record_joules(err, of, "excess", r->verdict == BUDGET_OVER ? r->mean - b->limit : SW_ABSENT);
}

void json_result_end(struct json_result *j, const struct series *series, const struct budget *budget,
		     const struct budget_result *result, int exit_status)
{
	struct json_object *end, *notes;
	struct buf members = { 0 };
	int err = 0;

	if (!wanted(j))
		return;
	if (j->at == JSON_RESULT_START)
		begin(j, NULL);
	if (j->at == JSON_RESULT_RUNS)
		buf_text(&j->buf, "],\"summary\":null\n");
	end = record_begin(&err);
	if (result)
		add_budget(&err, end, budget, result);
	else
		record_null(&err, end, "budget");
	notes = record_array(&err, end, "notes");
	for (size_t i = 0; i < series->n_notes; i++)
		record_text(&err, notes, NULL, series->notes[i]);
	record_int(&err, end, "exit_status", exit_status);
	record_finish(err, end, &members);
	/* its members become ours */
	buf_text(&j->buf, ",");
	if (!members.err)
		buf_add(&j->buf, members.data + 1, members.len - 1);
	else
		j->buf.err = members.err;
	buf_free(&members);
	flush(j);
}

int json_result_close(struct json_result *j)
{
	buf_free(&j->buf);
	return output_close(&j->out);
}

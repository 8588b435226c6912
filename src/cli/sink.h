/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink turns const reports into text. It computes nothing but units (nJ to J, a mean power, a share in per cent),
 * keeps no state, and does not know where its text goes.
 */
#ifndef SW_CLI_SINK_H
#define SW_CLI_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "schedwatt.h"

struct comparison;
struct run;
struct series;

struct label {
	const char *key;
	const char *value;
};

/* Columns of rows, in their order. */
struct column_list {
	const struct sw_column **columns;
	const char **names; /* of these */
	size_t n;
};

/* How text is to look, which depends on where it goes and on what was asked for. */
struct text_style {
	bool colour;
	bool tree;          /* the summary has a picture of the tree */
	uint32_t tree_fold; /* what has less of the CPU time, in thousandths of a per cent, is not drawn one by one */
};

/* What a recording is, as far as the command knows it and the library does not. */
struct recording {
	const struct sw_header *header;
	const char *host;         /* nodename, or NULL */
	const char *slurm_job_id; /* or NULL */
	char *const *command;     /* run: its argument vector, NULL at the end; otherwise NULL */
	uint32_t by;              /* --by, one of enum sw_by: what text is about; 0 where it was left to us */
	const char *end;          /* in the summary: why the recording ended; NULL where it failed */
	const struct label *labels;
	size_t n_labels;
	bool flat;      /* rows are records of their own */
	bool csv_units; /* a row of units behind the header row */
	struct column_list columns; /* of rows of processes; none: no rows with columns are made */
	struct column_list thread_columns; /* likewise, of threads */
	struct text_style style;
	const struct comparison *comparison; /* compare: what all back ends say; otherwise NULL */
};

/*
 * Each function appends whole lines to `out`; what fails is in out->err. `rows` are the window's, with the columns that
 * rec->columns and rec->thread_columns say; NULL where these are empty.
 */
struct sink {
	const char *name;
	void (*header)(const struct recording *rec, struct buf *out);
	void (*sample)(const struct recording *rec, const struct sw_report *report, const struct sw_data *rows,
		       struct buf *out);
	void (*summary)(const struct recording *rec, const struct sw_summary *summary, struct buf *out);
	const struct sink *compare; /* the same format, of rec->comparison; NULL: there is none */
	const struct sink *threads; /* of the rows of threads, where these are written apart; otherwise NULL */
	/* Of a series: each run as it ends, with its rows; and in place of the summary all of them. NULL: nothing. */
	void (*run)(const struct recording *rec, const struct series *series, const struct run *run, struct buf *out);
	void (*series)(const struct recording *rec, const struct series *series, struct buf *out);
};

extern const struct sink sink_jsonl; /* the records of schema schedwatt/1 */
extern const struct sink sink_csv;   /* a table of rows, and nothing else: RFC 4180 */
extern const struct sink sink_csv_threads;
extern const struct sink sink_text;  /* for people: UTF-8, at most 100 columns */
extern const struct sink sink_compare_jsonl;
extern const struct sink sink_compare_text;

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* One recording: a monitor, and the sink and output that its reports go to. Says what fails. */
#ifndef SW_CLI_SESSION_H
#define SW_CLI_SESSION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/utsname.h>

#include "compare.h"
#include "options.h"
#include "output.h"
#include "progress.h"

struct session {
	const struct options *options;
	const struct sink *sink; /* NULL: no records */
	struct output out;       /* fd -1: no records; its `err` also tells of thread_out */
	struct output thread_out; /* of rows of threads, if the options name a file for them */
	struct buf buf;
	struct sw_monitor *monitor;
	struct recording recording;
	struct progress *progress; /* the caller's, who may set it once the output is open; NULL: none is shown */
	struct compare compare; /* if the options ask for it */
	struct utsname names;
	uint64_t recorded_ns; /* up to the end of the last window */
	uint32_t pids_alive;  /* of a target of pids, as the last window says */
	bool ended;           /* likewise: no more time will come */
	int stop_fd;          /* see output_write() */
	bool told_shared;     /* that others are counted in */
	bool told_fallback;   /* why not the best back end */
	bool failed;          /* the monitor has failed, which was said; out.err tells of the output */
};

/*
 * From here on SIGPIPE is a failed write, and SIGINT and SIGTERM make a signalfd readable, which the caller closes;
 * they are the *ret. The fd, or -errno with a message.
 */
int session_signals(sigset_t *ret);

/*
 * Choose sink and output: records are written with -f or -o, or always (to stdout, as text unless -f) when `always`.
 * Opens the output. 0 or -errno; session_close() takes *s in any case.
 */
int session_output(struct session *s, const struct options *o, bool always);

/* Open the monitor on `target`, which is not kept; again after session_end(). 0 or -errno. */
int session_open(struct session *s, const struct target *target);

/* Set the first boundary. 0 or -errno. */
int session_begin(struct session *s);

/* Write the header. A failing write stops the records, not the recording; s->out.err tells. */
void session_header(struct session *s);

/* Close the window that is due, for a caller that has no sink: 1 and *ret; 0: none is due; or -errno of the monitor. */
int session_next(struct session *s, const struct sw_report **ret);

/* Close and write the window that is due; finish: the current one, ahead of its time. 0, or -errno of the monitor. */
int session_step(struct session *s);
int session_finish(struct session *s);

/* Why the recording ended, as the summary says it: "duration", "signal", "target", "output" or "command". */
void session_ended_by(struct session *s, const char *end);

/* Write the summary to the records; then, unless `extra` is NULL, as text to `extra`. */
void session_summary(struct session *s, struct output *extra);

/* The target has ended: remove the cgroup that was made for it. Where others live on in it, it stays, and that is said. */
void session_remove_cgroup(struct session *s);

/* Close the monitor, and keep the output. */
void session_end(struct session *s);

void session_close(struct session *s);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A monitor among threads. runner.c: the thread that steps it; collect.c: rows for those who take them or are called
 * with them. One lock for both; it is never held while a window is read or a callback runs.
 */
#ifndef SW_CORE_RUNNER_H
#define SW_CORE_RUNNER_H

#include "../base/error.h"
#include "row_maker.h"

#include <pthread.h>
#include <stdbool.h>

enum sw_run_state {
	SW_RUN_NONE = 0, /* no thread: the monitor is the caller's */
	SW_RUN_ON,       /* the thread has it */
	SW_RUN_OVER,     /* and is done with it */
	SW_RUN_JOINED,   /* the thread is gone: the monitor is the caller's again */
};

enum sw_run_asked { SW_ASKED_NOTHING = 0, SW_ASKED_FINISH, SW_ASKED_QUIT };

struct sw_runner {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a state, or a callback that has returned */

	/* runner.c; under the lock */
	enum sw_run_state state;
	enum sw_run_asked asked;
	pthread_t thread;
	bool joining;         /* somebody waits for its very end */
	bool orphan;          /* closed in the callback: it is the thread that frees the monitor */
	int wake_fd;          /* what was asked for is there to be seen */
	int err;              /* why the thread gave up, and */
	struct sw_error failure;
	struct sw_error said; /* words of calls from other threads, while the monitor's own are the thread's */

	/* collect.c; under the lock */
	bool prepared; /* the tables have their columns */
	bool keeping, kept, paused;
	struct sw_table processes, threads; /* for whoever takes them */
	sw_callback callback;
	void *callback_ctx;
	bool calling;
	pthread_t caller;

	/* collect.c; of the thread that steps, once they are prepared */
	struct sw_table new_processes, new_threads;
};

/* Before anything else; nothing in it can fail. */
void sw_runner_init(struct sw_runner *r);

/* End the thread. False: this is the thread, which is to close the monitor when it is done. */
bool sw_runner_quit(struct sw_monitor *m);
void sw_runner_free(struct sw_runner *r);

/* Take the lock; where the words of this call belong, cleared. */
struct sw_error *sw_runner_enter(struct sw_monitor *m);

/* The same for words only, under the lock: another place may be theirs once a call has waited. */
struct sw_error *sw_runner_words(struct sw_monitor *m);

/* Another thread than the caller's has the monitor. */
bool sw_runner_is_elsewhere(const struct sw_monitor *m);

/* May this caller read the monitor now? 0, or -EBUSY with words. Clears them. */
int sw_runner_check_reads(struct sw_monitor *m);

/* May it change what is recorded? Not in the callback either. */
int sw_runner_check_steps(struct sw_monitor *m);

/* A report was made: make rows of it for whoever wants them. In the thread that steps. 0 or -errno, with words. */
int sw_collect_window(struct sw_monitor *m, const struct sw_report *report);
void sw_collect_free(struct sw_runner *r);

#endif

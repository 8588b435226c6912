/* SPDX-License-Identifier: BSD-2-Clause */
/* A command that is started, but held before its first instruction until everything watches it; once, or again and again. */
#ifndef SW_CLI_SPAWN_H
#define SW_CLI_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/types.h>

/* What we change for ourselves, and what each child gets back before it runs. */
struct spawn_inherited {
	sigset_t mask;
	struct sigaction child_action;
	struct sigaction pipe_action;
	struct rlimit files;
	struct rlimit memlock;
};

struct spawn {
	pid_t pid;     /* 0: none, or reaped */
	int go_fd;     /* closing it without a byte written ends the held child */
	int error_fd;  /* how execvp() failed; end of file when it did not */
	int signal_fd; /* signals to us, and SIGCHLD */
	int stop_fd;   /* readable from when we are asked to end, for output_write() */
	int asked;     /* the signal that asked us to end, or 0: from the terminal, or sent to us by others than the child */
	int status;    /* wait status once reaped */
	struct spawn_inherited inherited;
};

/*
 * Before anything else: blocks the signals of signal_fd and ignores SIGPIPE, for good. 0 or -errno; spawn_end() takes *s
 * in any case.
 */
int spawn_prepare(struct spawn *s);

/* Fork and hold; again once the one before has been reaped. 0 or -errno. */
int spawn_hold(struct spawn *s, char *const argv[]);

/* The signal that asks us to end and that has come already, or 0; for the time before spawn_release(). */
int spawn_asked_to_end(struct spawn *s);

/* Let it go. 0 when the command runs, or the -errno of execvp(). */
int spawn_release(struct spawn *s);

/* Pass a signal that came to us on to the child, and note whether it asks us to end. */
void spawn_forward(struct spawn *s, const struct signalfd_siginfo *info);

/* Has it ended? It is not reaped: as long as it is a zombie, procfs tells what it had. A stopped child has not. */
bool spawn_ended(const struct spawn *s);

/* Wait for its end, passing signals on, and reap it; then s->status is set. */
void spawn_wait(struct spawn *s);

/* What a shell would give for s->status: the exit status, or 128 + signal. */
int spawn_exit_status(const struct spawn *s);

/* End a child that is still held, reap it, close everything. A released child is left alone. */
void spawn_end(struct spawn *s);

#endif

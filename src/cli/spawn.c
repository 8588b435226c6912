/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the life of the command: fork, hold, exec, signals, end. Must not know: why it is run.
 * Relies on: signalfd(2) (ssi_code tells the terminal's signals, which the whole process group has already, from
 * those sent to us alone), execvp(3), pipe(7). The child stays in our process group, so that the terminal and job
 * control treat both as one.
 */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "message.h"

static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

/* The others are a command's own business. */
enum { FORWARDED = sizeof(forwarded) / sizeof(forwarded[0]), ASKING = 4 };

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void __attribute__((noreturn)) run_child(char *const argv[], int go_fd, int error_fd,
						const struct spawn_inherited *inherited)
{
	ssize_t n;
	char go;
	int err;

	do
		n = read(go_fd, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1) /* whoever held us has died or given up */
		_exit(EXIT_RUN_FAILED);
	sigaction(SIGCHLD, &inherited->child_action, NULL);
	sigaction(SIGPIPE, &inherited->pipe_action, NULL);
	/* None of these can fail: the hard limits are what they were. */
	setrlimit(RLIMIT_NOFILE, &inherited->files);
	setrlimit(RLIMIT_MEMLOCK, &inherited->memlock);
	sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
	execvp(argv[0], argv);
	err = errno;
	do
		n = write(error_fd, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	_exit(err == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* Signals are blocked and not handled, so that they wait, and none gets lost between two calls. */
static int block_signals(struct spawn *s)
{
	struct sigaction default_action = { .sa_handler = SIG_DFL }, ignore = { .sa_handler = SIG_IGN };
	sigset_t all, asking;

	sigemptyset(&all);
	sigaddset(&all, SIGCHLD);
	sigemptyset(&asking);
	for (int i = 0; i < FORWARDED; i++) {
		sigaddset(&all, forwarded[i]);
		if (i < ASKING)
			sigaddset(&asking, forwarded[i]);
	}
	/* Where SIGCHLD is ignored, the kernel reaps children by itself and their status is lost. */
	if (sigprocmask(SIG_BLOCK, &all, &s->inherited.mask) ||
	    sigaction(SIGCHLD, &default_action, &s->inherited.child_action) ||
	    sigaction(SIGPIPE, &ignore, &s->inherited.pipe_action))
		return -errno;
	s->signal_fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	s->stop_fd = signalfd(-1, &asking, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signal_fd < 0 || s->stop_fd < 0 ? -errno : 0;
}

int spawn_prepare(struct spawn *s)
{
	*s = (struct spawn){ .go_fd = -1, .error_fd = -1, .signal_fd = -1, .stop_fd = -1 };
	if (getrlimit(RLIMIT_NOFILE, &s->inherited.files) || getrlimit(RLIMIT_MEMLOCK, &s->inherited.memlock))
		return -errno;
	return block_signals(s);
}

int spawn_hold(struct spawn *s, char *const argv[])
{
	int go[2] = { -1, -1 }, error[2] = { -1, -1 }, err;

	if (pipe2(go, O_CLOEXEC) || pipe2(error, O_CLOEXEC)) {
		err = -errno;
		goto out;
	}
	s->pid = fork();
	if (s->pid < 0) {
		err = -errno;
		s->pid = 0;
		goto out;
	}
	if (s->pid == 0) {
		close(go[1]); /* or it would keep itself waiting */
		run_child(argv, go[0], error[1], &s->inherited);
	}
	s->go_fd = go[1];
	s->error_fd = error[0];
	go[1] = error[0] = -1;
	err = 0;
out:
	close_fd(&go[0]);
	close_fd(&go[1]);
	close_fd(&error[0]);
	close_fd(&error[1]);
	return err;
}

/* The signal is taken, which would leave stop_fd with nothing to read: something else that is readable goes there. */
static void note_asked(struct spawn *s, int signal)
{
	int fd;

	if (s->asked)
		return;
	s->asked = signal;
	fd = eventfd(1, EFD_CLOEXEC);
	if (fd < 0)
		return; /* then the next such signal ends the wait */
	dup3(fd, s->stop_fd, O_CLOEXEC);
	close(fd);
}

int spawn_asked_to_end(struct spawn *s)
{
	struct signalfd_siginfo info;

	while (!s->asked && read(s->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			note_asked(s, (int)info.ssi_signo);
	}
	return s->asked;
}

int spawn_release(struct spawn *s)
{
	int err = 0;
	ssize_t n;

	do
		n = write(s->go_fd, "", 1);
	while (n < 0 && errno == EINTR);
	/* A failed write means that the child is dead already; its status tells how. */
	close_fd(&s->go_fd);
	do
		n = read(s->error_fd, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	close_fd(&s->error_fd);
	return n == sizeof(err) ? -err : 0;
}

static bool asks(int signal)
{
	for (int i = 0; i < ASKING; i++) {
		if (signal == forwarded[i])
			return true;
	}
	return false;
}

void spawn_forward(struct spawn *s, const struct signalfd_siginfo *info)
{
	int signal = (int)info->ssi_signo;

	if (!s->pid || signal == SIGCHLD)
		return;
	/* From the child itself, to its group: it has it. */
	if (info->ssi_code == SI_USER && info->ssi_pid == (uint32_t)s->pid)
		return;
	if (asks(signal))
		note_asked(s, signal);
	/* From the terminal: likewise. */
	if ((signal == SIGINT || signal == SIGQUIT) && info->ssi_code > 0)
		return;
	kill(s->pid, signal);
}

bool spawn_ended(const struct spawn *s)
{
	siginfo_t info = { .si_pid = 0 };

	/* A failing call is no child of ours any more: spawn_wait() will find that out, too. */
	return !s->pid || waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

void spawn_wait(struct spawn *s)
{
	struct pollfd fd = { .fd = s->signal_fd, .events = POLLIN };
	struct signalfd_siginfo info;

	while (!spawn_ended(s)) {
		poll(&fd, 1, -1);
		while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info))
			spawn_forward(s, &info);
	}
	while (s->pid && waitpid(s->pid, &s->status, 0) < 0 && errno == EINTR)
		;
	s->pid = 0;
}

int spawn_exit_status(const struct spawn *s)
{
	return WIFSIGNALED(s->status) ? EXIT_SIGNAL + WTERMSIG(s->status) : WEXITSTATUS(s->status);
}

void spawn_end(struct spawn *s)
{
	if (s->pid && s->go_fd >= 0) {
		close_fd(&s->go_fd);
		while (waitpid(s->pid, &s->status, 0) < 0 && errno == EINTR)
			;
		s->pid = 0;
	}
	close_fd(&s->go_fd);
	close_fd(&s->error_fd);
	close_fd(&s->signal_fd);
	close_fd(&s->stop_fd);
}

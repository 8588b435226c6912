/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which capabilities stay, and which system calls are let through. Must not know: what the process does with them.
 * Relies on: capabilities(7), seccomp(2), bpf(2); kernel/bpf/syscall.c, which wants CAP_BPF of whoever runs a loaded
 * program up to Linux 5.18 where unprivileged_bpf_disabled is set, and not since then: so it is tried.
 */
#include "privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "message.h"

enum {
	SET_MAX = 4,
	WHY_MAX = 512, /* of a child's words */
};

/*
 * Smallest first. CAP_DAC_READ_SEARCH is in each: energy counters that only root may read are opened again when they
 * went away and came back, and cgroups are opened by their ids. Linux 5.8 parted the other two from CAP_SYS_ADMIN.
 */
static const struct {
	int n;
	cap_value_t cap[SET_MAX];
} sets[] = {
	{ 1, { CAP_DAC_READ_SEARCH } },
	{ 2, { CAP_DAC_READ_SEARCH, CAP_BPF } },
	{ 3, { CAP_DAC_READ_SEARCH, CAP_BPF, CAP_PERFMON } },
	{ 2, { CAP_DAC_READ_SEARCH, CAP_SYS_ADMIN } },
};

/* Those of the set that the process has. */
static int set_capabilities(size_t set)
{
	cap_t now = cap_get_proc(), then = cap_init();
	cap_flag_value_t has;
	int err = 0;

	if (!now || !then)
		err = -errno;
	for (int i = 0; !err && i < sets[set].n; i++) {
		if (cap_get_flag(now, sets[set].cap[i], CAP_PERMITTED, &has))
			has = CAP_CLEAR; /* this libcap or kernel does not know it */
		if (has == CAP_SET && (cap_set_flag(then, CAP_PERMITTED, 1, &sets[set].cap[i], CAP_SET) ||
				       cap_set_flag(then, CAP_EFFECTIVE, 1, &sets[set].cap[i], CAP_SET)))
			err = -errno;
	}
	if (!err && cap_set_proc(then))
		err = -errno;
	cap_free(now);
	cap_free(then);
	return err;
}

static bool is_in(size_t set, cap_value_t cap)
{
	for (int i = 0; i < sets[set].n; i++)
		if (sets[set].cap[i] == cap)
			return true;
	return false;
}

/* What can never be had again, either; that takes a capability itself, and where it is missing there is little to drop. */
static void drop_bounds(size_t set)
{
	for (cap_value_t cap = 0; cap_get_bound(cap) >= 0; cap++)
		if (!is_in(set, cap))
			(void)cap_drop_bound(cap);
}

static int give_up(size_t set)
{
	drop_bounds(set);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || cap_reset_ambient())
		return -errno;
	return set_capabilities(set);
}

static void add_names(struct buf *out, size_t set)
{
	const char *between = "";
	cap_flag_value_t has;
	cap_t now = cap_get_proc();
	char *name;

	for (int i = 0; now && i < sets[set].n; i++) {
		if (cap_get_flag(now, sets[set].cap[i], CAP_EFFECTIVE, &has) || has != CAP_SET)
			continue;
		name = cap_to_name(sets[set].cap[i]);
		buf_printf(out, "%s%s", between, name ? name : "?");
		cap_free(name);
		between = ",";
	}
	if (!between[0])
		buf_text(out, "none");
	cap_free(now);
}

/* In the child: its words are written to `fd`. */
static _Noreturn void try_set(size_t set, int (*check)(void *ctx, struct buf *why), void *ctx, int fd)
{
	struct buf why = { 0 };
	int err = give_up(set);

	if (!err)
		err = privileges_confine();
	if (!err)
		err = check(ctx, &why);
	if (err && !why.len)
		buf_text(&why, strerror(-err));
	if (err && write(fd, why.data, why.len < WHY_MAX ? why.len : WHY_MAX) < 0)
		_exit(2);
	_exit(err ? 1 : 0);
}

/* 1: it suffices; 0: it does not, and *why says why; -errno: it could not be tried. */
static int suffices(size_t set, int (*check)(void *ctx, struct buf *why), void *ctx, struct buf *why)
{
	char words[WHY_MAX];
	int pipes[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid == 0)
		try_set(set, check, ctx, pipes[1]);
	close(pipes[1]);
	buf_clear(why);
	while (pid > 0 && (n = read(pipes[0], words, sizeof(words))) > 0)
		buf_add(why, words, (size_t)n);
	close(pipes[0]);
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int privileges_reduce(int (*check)(void *ctx, struct buf *why), void *ctx, struct buf *kept)
{
	struct buf why = { 0 };
	int r = 0;

	for (size_t set = 0; set < sizeof(sets) / sizeof(sets[0]) && !r; set++) {
		r = suffices(set, check, ctx, &why);
		if (r > 0) {
			r = give_up(set);
			if (!r)
				add_names(kept, set);
			break;
		}
	}
	if (r < 0) {
		message_error("cannot give privileges up: %s", strerror(-r));
	} else if (!kept->len) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
			r = -errno;
		buf_text(kept, "all, since fewer do not suffice here: ");
		buf_add(kept, why.data, why.len);
	}
	buf_free(&why);
	return r < 0 ? r : 0;
}

/* --- system calls */

/* Let through whatever their arguments: none of these gets at other processes, or changes what outlives this one. */
static const int plain_calls[] = {
	SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(readv), SCMP_SYS(preadv), SCMP_SYS(write), SCMP_SYS(writev),
	SCMP_SYS(pwrite64), SCMP_SYS(close), SCMP_SYS(close_range), SCMP_SYS(lseek), SCMP_SYS(dup), SCMP_SYS(dup3), SCMP_SYS(pipe2),
	SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(statfs),
	SCMP_SYS(fstatfs), SCMP_SYS(getdents64), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(access),
	SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(name_to_handle_at),
	SCMP_SYS(fcntl), SCMP_SYS(fadvise64), SCMP_SYS(getcwd), SCMP_SYS(umask),
	/* waiting */
	SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(select), SCMP_SYS(pselect6), SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_pwait2), SCMP_SYS(eventfd2),
	SCMP_SYS(timerfd_create), SCMP_SYS(timerfd_settime), SCMP_SYS(timerfd_gettime), SCMP_SYS(signalfd4),
	SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep), SCMP_SYS(restart_syscall),
	/* connections that were accepted */
	SCMP_SYS(accept), SCMP_SYS(accept4), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(sendto), SCMP_SYS(sendmsg),
	SCMP_SYS(sendfile), SCMP_SYS(shutdown), SCMP_SYS(getsockopt), SCMP_SYS(setsockopt), SCMP_SYS(getsockname),
	SCMP_SYS(getpeername),
	/* memory and threads; making executable memory is let through nowhere */
	SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk), SCMP_SYS(futex), SCMP_SYS(futex_waitv),
	SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(set_tid_address), SCMP_SYS(membarrier),
	/* itself and the machine, as far as it only asks */
	SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(getpid),
	SCMP_SYS(gettid), SCMP_SYS(getppid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid),
	SCMP_SYS(getrusage), SCMP_SYS(getrlimit), SCMP_SYS(uname), SCMP_SYS(sysinfo), SCMP_SYS(getrandom),
	SCMP_SYS(getcpu), SCMP_SYS(capget), SCMP_SYS(times),
	SCMP_SYS(sched_getaffinity), SCMP_SYS(sched_yield),
	SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigtimedwait),
	SCMP_SYS(sigaltstack), SCMP_SYS(exit), SCMP_SYS(exit_group),
};

/* What reading windows takes: programs that are loaded already are run, and asked how often they were. */
static const unsigned bpf_commands[] = { BPF_PROG_TEST_RUN, BPF_OBJ_GET_INFO_BY_FD, BPF_MAP_LOOKUP_ELEM };

static int allow_plain(scmp_filter_ctx filter)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(plain_calls) / sizeof(plain_calls[0]) && !err; i++) {
		if (plain_calls[i] >= 0) /* negative: not of this architecture */
			err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, plain_calls[i], 0);
	}
	return err;
}

/* By what they are asked to do. */
static int allow_some(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp read_only = SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY);
	const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	const struct scmp_arg_cmp no_new_limit = SCMP_A2(SCMP_CMP_EQ, 0, 0);
	const struct scmp_arg_cmp netlink = SCMP_A0(SCMP_CMP_EQ, AF_NETLINK, 0); /* taskstats: of the fall-back */
	const struct scmp_arg_cmp own_thread = SCMP_A0(SCMP_CMP_EQ, 0, 0); /* energy is read on a CPU of its package */
	int err = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1, &read_only);

	if (!err)
		err = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(open_by_handle_at), 1, &read_only);
	for (size_t i = 0; i < sizeof(bpf_commands) / sizeof(bpf_commands[0]) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(bpf), 1,
				       SCMP_A0(SCMP_CMP_EQ, bpf_commands[i], 0));
	if (!err)
		err = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, &no_code);
	if (!err)
		err = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, &no_code);
	if (!err)
		err = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(sched_setaffinity), 1, &own_thread);
	if (!err)
		err = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, &no_new_limit);
	if (!err)
		err = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, &netlink);
	/* abort(3), so that a fault still leaves a core */
	return err ? err : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
					    SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
}

int privileges_confine(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = filter ? 0 : -ENOMEM;

	if (!err)
		err = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (!err)
		err = allow_plain(filter);
	if (!err)
		err = allow_some(filter);
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	if (err)
		message_error("cannot load a filter of system calls: %s", strerror(-err));
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel files about processes, CPUs and cgroups, from text to numbers. Pure functions: nothing is read, allocated or
 * changed, no locale is asked. The text is `n` bytes (or ends at `end`), and nothing need be behind them; the newline
 * at the end may be missing. *ret is untouched on failure. Where a function says no more: 0, -ENODATA (empty text),
 * -EINVAL (not as that file is written) or -ERANGE (a number that its type cannot hold). That a process went between
 * open and read is for the reader to say: it got -ESRCH or -ENOENT.
 */
#ifndef SW_BASE_PROCFS_H
#define SW_BASE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The numbers of /proc/PID/stat behind the name and the state: number, name and type of each field, in order. `tick`:
 * sysconf(_SC_CLK_TCK) of them a second. Types as the manual page has them, but 64 bits wide.
 */
#define SW_PROC_STAT_FIELDS(X)                                                                            \
	X(4, ppid, int64_t)                                                                               \
	X(5, pgrp, int64_t)                                                                               \
	X(6, session, int64_t)                                                                            \
	X(7, tty_nr, int64_t)                                                                             \
	X(8, tpgid, int64_t)  /* -1: no terminal */                                                       \
	X(9, flags, uint64_t) /* PF_* */                                                                  \
	X(10, minflt, uint64_t)                                                                           \
	X(11, cminflt, uint64_t)                                                                          \
	X(12, majflt, uint64_t)                                                                           \
	X(13, cmajflt, uint64_t)                                                                          \
	X(14, utime, uint64_t) /* ticks, guest_time in it */                                              \
	X(15, stime, uint64_t) /* ticks */                                                                \
	X(16, cutime, int64_t) /* ticks, of children that were waited for */                              \
	X(17, cstime, int64_t) /* ticks */                                                                \
	X(18, priority, int64_t)                                                                          \
	X(19, nice, int64_t)                                                                              \
	X(20, num_threads, int64_t) /* of the process, in a thread's file too */                          \
	X(21, itrealvalue, int64_t) /* 0 since Linux 2.6.17 */                                            \
	X(22, starttime, uint64_t)  /* ticks of CLOCK_BOOTTIME, in the reader's time namespace */         \
	X(23, vsize, uint64_t)      /* bytes */                                                           \
	X(24, rss, int64_t)         /* pages */                                                           \
	X(25, rsslim, uint64_t)     /* bytes; 2^64-1: none */                                             \
	X(26, startcode, uint64_t)  /* 26-30, 45-51: addresses; 0 or 1 without the right to ptrace(2) */  \
	X(27, endcode, uint64_t)                                                                          \
	X(28, startstack, uint64_t)                                                                       \
	X(29, kstkesp, uint64_t)                                                                          \
	X(30, kstkeip, uint64_t)                                                                          \
	X(31, signal, uint64_t) /* this and the next three: the lower 31 bits, obsolete */                \
	X(32, blocked, uint64_t)                                                                          \
	X(33, sigignore, uint64_t)                                                                        \
	X(34, sigcatch, uint64_t)                                                                         \
	X(35, wchan, uint64_t)  /* an address once, now 0 or 1 */                                         \
	X(36, nswap, uint64_t)  /* 0 */                                                                   \
	X(37, cnswap, uint64_t) /* 0 */                                                                   \
	X(38, exit_signal, int64_t) /* -1: of a thread that is no leader */                               \
	X(39, processor, int64_t)   /* CPU on which it ran last */                                        \
	X(40, rt_priority, uint64_t)                                                                      \
	X(41, policy, uint64_t)                /* SCHED_* */                                              \
	X(42, delayacct_blkio_ticks, uint64_t) /* ticks; 0 without delay accounting */                    \
	X(43, guest_time, uint64_t)            /* ticks */                                                \
	X(44, cguest_time, int64_t)            /* ticks */                                                \
	X(45, start_data, uint64_t)                                                                       \
	X(46, end_data, uint64_t)                                                                         \
	X(47, start_brk, uint64_t)                                                                        \
	X(48, arg_start, uint64_t)                                                                        \
	X(49, arg_end, uint64_t)                                                                          \
	X(50, env_start, uint64_t)                                                                        \
	X(51, env_end, uint64_t)                                                                          \
	X(52, exit_code, int64_t) /* as wait(2) gives it; 0 without that right */

enum {
	SW_PROC_STAT_N_FIELDS = 52,
	SW_PROC_COMM_SIZE = 64, /* the kernel's own bound, which names of workers come near; others end at 16 */
};

struct sw_proc_stat {
	unsigned n_fields;            /* how many were there, of these 52; those behind are absent, and 0 here */
	int64_t pid;                  /* field 1 */
	char comm[SW_PROC_COMM_SIZE]; /* field 2: bytes of any kind but NUL, no escapes; a longer one is cut */
	char state;                   /* field 3 */
#define X(number, name, type) type name;
	SW_PROC_STAT_FIELDS(X)
#undef X
};

/* Number of a field behind the state by its name, and whether a line that was parsed had it. */
#define SW_PROC_STAT_NUMBER(name) \
	(4 + (offsetof(struct sw_proc_stat, name) - offsetof(struct sw_proc_stat, ppid)) / sizeof(uint64_t))
#define SW_PROC_STAT_HAS(stat, name) ((stat)->n_fields >= SW_PROC_STAT_NUMBER(name))

/*
 * /proc/PID/stat or /proc/PID/task/TID/stat. The name is what lies between the first "(" and the last ")". The line of
 * an old kernel may end early, but not before the name does; what is behind field 52 is not looked at. A zombie that
 * has other threads ('Z' with num_threads > 1) is a leader that has ended, and not its process.
 * Source: proc_pid_stat(5), fs/proc/array.c (do_task_stat()).
 */
int sw_proc_stat_parse(const char *text, size_t n, struct sw_proc_stat *ret);

/* /proc/PID/statm, in pages. All 0 without memory of its own: a kernel thread, a zombie, a leader that has ended. */
struct sw_proc_statm {
	uint64_t size;     /* virtual */
	uint64_t resident;
	uint64_t shared;   /* resident, and backed by a file or shared memory */
	uint64_t text;
	uint64_t lib;      /* 0 */
	uint64_t data;     /* and stack */
	uint64_t dt;       /* 0 */
};

/* All seven are there, or it is -EINVAL. Source: proc_pid_statm(5), fs/proc/array.c (proc_pid_statm()). */
int sw_proc_statm_parse(const char *text, size_t n, struct sw_proc_statm *ret);

/* /proc/PID/schedstat (of the leader alone), /proc/PID/task/TID/schedstat. */
struct sw_proc_schedstat {
	uint64_t run_ns;     /* on a CPU */
	uint64_t wait_ns;    /* runnable, waiting for one */
	uint64_t timeslices; /* how often it was switched in */
};

/*
 * Three zeros are also what a kernel writes that does not collect this; a task that reads its own can tell.
 * Source: Documentation/scheduler/sched-stats.rst, fs/proc/base.c (proc_pid_schedstat()).
 */
int sw_proc_schedstat_parse(const char *text, size_t n, struct sw_proc_schedstat *ret);

/* A line of /proc/PID/cgroup. */
struct sw_proc_cgroup {
	const char *path;   /* in the text; begins with "/", and with "/.." when outside the reader's namespace */
	size_t path_length; /* at least 1 */
	bool deleted;       /* removed, with a zombie in it: " (deleted)" stood behind the path. Only v2 says so */
};

/*
 * The cgroup of v2 (`controller` NULL: the line "0::"), or that in the hierarchy of v1 which has the controller
 * ("cpuacct", whether mounted alone or as "cpu,cpuacct"). A path may hold colons and blanks, but no newline, and is
 * written without escapes. Lines that are not as they should be are passed over. 0 or -ENOENT (there is none, or the
 * text is empty). Source: cgroups(7), kernel/cgroup/cgroup.c (proc_cgroup_show()).
 */
int sw_proc_cgroup_find(const char *text, size_t n, const char *controller, struct sw_proc_cgroup *ret);

/* A line of /proc/stat about one CPU or all of them, in ticks since boot (iowait may fall: it is no counter). */
struct sw_cpu_times {
	int32_t cpu;       /* -1: the sum, of CPUs that are offline too; numbers of lines may have gaps */
	unsigned n_fields; /* how many were there, of these ten; those behind are absent, and 0 here */
	uint64_t user;     /* guest in it */
	uint64_t nice;     /* guest_nice in it */
	uint64_t system;
	uint64_t idle;
	uint64_t iowait;
	uint64_t irq;
	uint64_t softirq;
	uint64_t steal;
	uint64_t guest;
	uint64_t guest_nice;
};

/*
 * Take the next CPU's line off *text; other lines and empty ones are passed over. 1, 0 (no more), -EINVAL (a CPU's
 * line, but with less than four times or with something else in it) or -ERANGE (its number exceeds INT32_MAX, or a time
 * or their sum 2^64-1). A bad line has been stepped over like a good one: the next call takes the one behind it.
 * Source: proc_stat(5), fs/proc/stat.c (show_stat()).
 */
int sw_cpu_times_next(const char **text, const char *end, struct sw_cpu_times *ret);

/*
 * Ticks in which the CPU ran something (or was stolen) and in which it did not, iowait among them; each tick once, so
 * guest time, which is in user's, is not added. Of a line or of the differences between two.
 */
uint64_t sw_cpu_times_busy(const struct sw_cpu_times *t);
uint64_t sw_cpu_times_idle(const struct sw_cpu_times *t);

/*
 * The number behind `key` in a flat keyed file, such as usage_usec (microseconds) in a cgroup's cpu.stat: the first
 * line that begins with the whole key and a blank. -ENOENT: none does. Source: Documentation/admin-guide/cgroup-v2.rst.
 */
int sw_flat_keyed_u64(const char *text, size_t n, const char *key, uint64_t *ret);

/*
 * The size behind `key` (without its colon) in /proc/meminfo, which writes it in kB, in bytes. -ENOENT: no line has it.
 * Source: proc_meminfo(5), fs/proc/meminfo.c.
 */
int sw_meminfo_bytes(const char *text, size_t n, const char *key, uint64_t *ret);

#endif

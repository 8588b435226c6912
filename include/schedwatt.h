/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libschedwatt: exact on-CPU time of process trees, processes and threads, joined window by window to energy counters.
 * This is the whole public interface. It is usable from other languages: fixed-width types, no bit-fields, no macros
 * that a caller needs.
 *
 * Conventions
 *   Times are in nanoseconds of CLOCK_MONOTONIC, unless a name says otherwise (`_boottime_ns`, `_utc_ns`).
 *   Energy is in nanojoules, as signed 64-bit integers, so that parts add up to their whole exactly. A value that was
 *   not measured is SW_ABSENT, never 0.
 *   Functions return 0 or a positive number, or a negative errno. Strings and rows that the library hands out stay its
 *   own and live until the time each function states.
 *   A monitor may be used by one thread at a time; different monitors are independent. From sw_monitor_start() until
 *   sw_monitor_stop() has returned its own thread has it. "Any thread" says which functions may be called meanwhile, by
 *   several threads at once and in the callback; those that step, end or sum up a recording give -EBUSY, and the rest
 *   is not to be called.
 */
#ifndef SCHEDWATT_H
#define SCHEDWATT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SW_API __attribute__((visibility("default")))

#define SW_ABSENT INT64_MIN /* a number that is not there: not measured, not known, not applicable */

/* The most energy domains (packages or dies) that one machine can have here. */
enum { SW_DOMAINS_MAX = 32 };

/* What to watch: sw_options.target. */
enum sw_target {
	SW_TARGET_HOST = 0, /* everything; no task is `other` */
	SW_TARGET_PIDS = 1, /* sw_options.pids and, by sw_options.scope, all that descends from them */
	SW_TARGET_CGROUP = 2, /* sw_options.cgroup and all below it: whoever is in there, for as long as it is */
};

/* How far a target of pids reaches: sw_options.scope. */
enum sw_scope {
	SW_SCOPE_TREE = 0,    /* each process with all that descends from it by fork, wherever it is re-parented to */
	SW_SCOPE_PROCESS = 1, /* the processes alone, with their threads */
};

/* What rows stand for: bits of sw_options.by. */
enum sw_by {
	SW_BY_PROCESS = 1 << 0,
	SW_BY_THREAD = 1 << 1,
	SW_BY_CGROUP = 1 << 2,
	SW_BY_COMM = 1 << 3, /* processes of one command name together */
};

/* The rule that shares a domain's energy out; the formulas are in README, "How energy is shared". */
enum sw_policy {
	SW_POLICY_BUSY = 0,
	SW_POLICY_CAPACITY = 1,
	SW_POLICY_MARGINAL = 2,
	SW_POLICIES = 3,
};

/* Why a window is less than perfect: bits of sw_report.flags. sw_flag_name() gives their names. */
enum sw_flag {
	SW_FLAG_LATE = 1 << 0,      /* a CPU saw the boundary only after it had passed */
	SW_FLAG_SHORT = 1 << 1,     /* under 50 ms: the counter's own step is a large part of it */
	SW_FLAG_PARTIAL = 1 << 2,   /* a zone is left out of the sums: it could not be read from the start, or its package
				     * was off */
	SW_FLAG_NO_ENERGY = 1 << 3, /* a counter failed, went back or stood too long: this window has no joules */
	SW_FLAG_SUSPEND = 1 << 4,   /* the machine slept inside the window */
	SW_FLAG_MEMBERS = 1 << 5,   /* tasks of the target could not be followed: their time is `other` */
	SW_FLAG_UNVERIFIED = 1 << 6, /* this kernel does not let us check what each CPU really runs */
	SW_FLAG_MIRRORED = 1 << 7,   /* counters of several dies showed one and the same energy: counted once */
	SW_FLAG_HYBRID = 1 << 8,     /* cores of different types share a counter, and are taken for alike */
	SW_FLAG_STEAL = 1 << 9,      /* a hypervisor took over 1 % of the CPUs' time, which counts as on-CPU time here */
	SW_FLAG_BASELINE = 1 << 10,  /* the baseline is above what a package used: nothing was above idle */
	SW_FLAG_BUSY_RAISED = 1 << 11, /* the host's busy time was told too coarsely: it is taken to be what the tasks had */
	SW_FLAGS = 12,
};

/* Kinds of lost time: time that was seen but cannot be given to a task. */
enum sw_lost {
	SW_LOST_SLOTS = 0,  /* no free slot for the task */
	SW_LOST_MISSED = 1, /* a context switch that no program saw */
	SW_LOST_OTHER = 2,  /* anything else, such as the remainder of a late boundary */
	SW_LOST_KINDS = 3,
};

/*
 * Options of sw_monitor_open(). Zero the whole, set `sz` to sizeof(struct sw_options), then set what differs from the
 * default. A library older than its caller refuses an `sz` with non-zero bytes that it does not know (-E2BIG).
 * Nothing here is kept: strings and arrays may go once the call has returned.
 */
struct sw_options {
	size_t sz;
	uint32_t target;      /* enum sw_target */
	uint32_t interval_ms; /* length of a window; 0: 500 ms; at least 10 ms, unless `energy` is "none" */
	const int32_t *pids;  /* SW_TARGET_PIDS: process ids as the caller's pid namespace numbers them, at most 4096 */
	size_t n_pids;
	uint32_t scope;       /* enum sw_scope */
	uint32_t by;          /* enum sw_by, or-ed: which rows reports hold; a back end that cannot tell these is refused.
			       * 0: by process, or what the back end can tell */
	const char *cgroup;   /* SW_TARGET_CGROUP: a path in cgroup v2, absolute under its mount (/sys/fs/cgroup/a/b),
			       * or as /proc/PID/cgroup writes it (/a/b, 0::/a/b) */
	uint32_t no_cmdline;  /* non-zero: do not read the command lines of processes */
	uint32_t own_cgroup;  /* non-zero, and SW_TARGET_PIDS that have not begun to work: a back end that accounts cgroups puts
			       * them into one that it makes below theirs, or is refused. It goes with the monitor; see
			       * sw_monitor_remove_cgroup() */
	/*
	 * Where CPU time comes from. NULL or "auto": the first that opens, and can tell the target from others, of "ebpf",
	 * "cgroup_v2", "cgroup_v1", "proc", "cpu_percent"; one that is named does not fall back.
	 */
	const char *backend;
	const char *energy;  /* NULL or "auto": the first that opens of powercap, perf, msr, model; or one of them; "none" */
	uint32_t policy;     /* enum sw_policy of the `proc` figures; the summary holds all three */
	uint32_t strict;     /* non-zero: refuse energy that is not measured (-ENODEV) */
	const uint64_t *baseline_uw; /* idle microwatts of each package, dram included, or of each domain, for the marginal
				      * policy; NULL: none known */
	size_t n_baseline;
	uint64_t model_idle_uw; /* the model's microwatts per logical CPU, idle and fully busy; both 0: its defaults */
	uint64_t model_max_uw;
	uint32_t slots;       /* size of the slot table, 64 to 262144, rounded up to a power of two; 0: by threads alive */
	uint32_t hook;        /* enum sw_hook: force one way of attaching; 0: the first that attaches */
	const char *sysfs;    /* directory that stands for /sys; NULL: /sys */
	const char *procfs;   /* directory that stands for /proc; NULL: /proc */
	const char *cgroupfs; /* directory where cgroup v2 is mounted; NULL: found through procfs's mountinfo */
	char *error;          /* where a failing sw_monitor_open() writes why, in words; may be NULL */
	size_t error_size;    /* bytes at `error` */
	uint64_t duration_ms; /* of a recording by sw_monitor_start(), from its first boundary; one of whole windows ends with
			       * its last window. 0: until the target ends or sw_monitor_stop() */
	uint64_t data_bytes_max; /* the most memory for collected rows, half of it for threads' if there are any: beyond it
				  * the oldest go, an eighth of the room at a time. 0: 64 MiB */
	/*
	 * Which columns the rows of processes and of threads are to have, by name and in this order (sw_columns() lists
	 * them); none: the standard set, which is for processes "time", "pid", "ppid", "comm", "state", "oncpu_ns",
	 * "joules", "watts", and for threads "time", "pid", "tid", "comm", "state", "oncpu_ns", "joules". A name that is
	 * not known, that the kind of row lacks, or that comes twice is refused (-EINVAL). To ask for columns of threads
	 * is to ask for SW_BY_THREAD.
	 */
	const char *const *process_columns;
	size_t n_process_columns;
	const char *const *thread_columns;
	size_t n_thread_columns;
	uint32_t forget_ended; /* non-zero: for recordings without end. Of processes, threads and cgroups that have ended few
				* are kept, and not their sums by name: a summary counts them in `*_folded`, its totals have
				* them, and its rows do not */
};

/* Ways to attach to sched_switch, best first. */
enum sw_hook {
	SW_HOOK_AUTO = 0,
	SW_HOOK_TP_BTF = 1, /* BTF-typed raw tracepoint */
	SW_HOOK_RAW_TP = 2, /* raw tracepoint */
	SW_HOOK_TP = 3,     /* classic tracepoint */
};

/* A back end or energy source that was tried and did not open. */
struct sw_refusal {
	const char *name;
	const char *reason; /* a sentence that a user can act on */
};

/* One energy counter. */
struct sw_zone {
	const char *name;    /* its path: "package-0", "package-0/dram", "psys" */
	uint32_t domains;    /* by bit: those whose CPUs it covers; 0: none is known */
	int32_t package;     /* number of the package, or -1 */
	const char *parent;  /* path of the zone it lies in, or NULL */
	int64_t range_nj;    /* where it wraps, or SW_ABSENT */
	uint32_t counted;    /* non-zero: part of total_nj */
	uint32_t one_core;   /* non-zero: of one core of the package only (AMD's `core` in powercap) */
	const char *problem; /* why it cannot be read, or NULL */
};

/*
 * How the machine was set and what it had to do when the monitor was opened, as far as /sys and /proc of the options
 * tell: NULL or SW_ABSENT where they do not.
 */
struct sw_environment {
	const char *governor;  /* cpufreq's scaling_governor; "mixed" where CPUs differ, as for the next two */
	const char *driver;    /* cpufreq's scaling_driver */
	const char *microcode; /* its revision, as /proc/cpuinfo writes it */
	int64_t turbo;         /* 1: frequencies above the nominal one are allowed; 0: they are not */
	int64_t smt;           /* 1: more than one thread of a core is in use; 0: not */
	int64_t ac_power;      /* 1: on mains; 0: on battery */
	int64_t load_hundredths; /* the load average over one minute, times 100 */
};

/* What does not change during a recording. Lives until sw_monitor_close(). */
struct sw_header {
	const char *version;
	int64_t started_utc_ns; /* first boundary, CLOCK_REALTIME */
	uint64_t started_ns;    /* first boundary */
	const char *kernel;     /* release, as uname -r prints it */
	const char *cpu_model;  /* as /proc/cpuinfo says, or NULL */
	uint32_t cpus;          /* present */
	uint32_t packages;
	uint32_t domains;
	uint32_t interval_ms;
	uint32_t target; /* enum sw_target */
	uint32_t scope;  /* enum sw_scope */
	uint32_t by;     /* enum sw_by, or-ed; 0: the back end tells no rows apart */
	const int32_t *pids;
	size_t n_pids;
	const char *cgroup; /* path of the target from the root of cgroup v2 that the caller sees, or NULL */
	const char *backend;         /* its name, as of sw_options.backend */
	const char *backend_quality; /* "exact" or "coarse" */
	const char *backend_note;    /* what to know of its numbers, in a sentence, or NULL */
	const char *hook;            /* how ebpf is attached: "tp_btf", "raw_tp", "tracepoint"; else NULL */
	const char *own_cgroup;      /* absolute path of the cgroup that was made for the target, or NULL */
	const char *energy_source;   /* "powercap", "perf", "msr", "model" or "none" */
	const char *energy_quality;  /* "measured", "modelled" or NULL for none */
	const char *policy;          /* "busy", "capacity", "marginal" */
	const struct sw_refusal *backend_refusals;
	size_t n_backend_refusals;
	const struct sw_refusal *energy_refusals;
	size_t n_energy_refusals;
	const struct sw_zone *zones;
	size_t n_zones;
	const uint64_t *baseline_uw; /* as it was given: one per package, or per domain */
	size_t n_baseline;           /* 0 when no baseline is known */
	uint32_t slots;              /* of the slot table in use; 0: there is none */
	const int32_t *domain_package; /* number of each domain's package; a package's domains stand together */
	const struct sw_environment *environment; /* never NULL */
};

/*
 * A process in a window, or over a whole recording. Ids are given twice: as the pid namespace of the caller numbers
 * them, 0 where that one does not see the process, and (`host_`) as the kernel's initial pid namespace does.
 * Start times are in the caller's time namespace, as /proc/PID/stat shows them there.
 */
struct sw_process {
	int32_t pid;
	int32_t host_pid;
	int32_t ppid;     /* parent when it was forked, or when it was first seen if it ran before the recording */
	int32_t host_ppid;
	uint64_t start_boottime_ns;
	const char *comm; /* of its main thread; raw bytes as the kernel holds them, NUL-terminated, at most 15 */
	const char *cmdline; /* arguments with blanks between, escaped as README says; NULL: not known */
	uint32_t cmdline_new; /* non-zero: first told in this window, or changed by an exec */
	const char *cgroup;  /* path in cgroup v2 of where it last ran; NULL: not known */
	uint64_t oncpu_ns;
	const uint64_t *oncpu_by_domain_ns; /* header's `domains` entries */
	int64_t nj;                         /* under the chosen policy, or SW_ABSENT */
	uint32_t exited;                    /* non-zero: its last thread is gone */
	uint32_t exit_known;                /* non-zero: exit_code is the kernel's word; an end that went unseen has none */
	int32_t exit_code;                  /* wait status, as of waitpid(2), when exited and known */
	uint32_t kernel_thread;
};

/* A thread in a window, or over a whole recording. */
struct sw_thread {
	int32_t pid;
	int32_t host_pid;
	int32_t tid;
	int32_t host_tid;
	uint64_t start_boottime_ns;
	const char *comm;         /* its own */
	const char *process_comm; /* of its process's main thread */
	uint64_t oncpu_ns;
	const uint64_t *oncpu_by_domain_ns; /* header's `domains` entries */
	int64_t nj;
	uint32_t exited;
	uint32_t kernel_thread;
};

/*
 * A cgroup (v2) in a window, or over a whole recording: one that was active, or that lies above one. Over all rows the
 * own times add up to the watched tasks' time, and so do the own joules. One that was removed keeps what it had.
 */
struct sw_cgroup {
	uint64_t id;      /* inode number of its directory */
	const char *path; /* from the root of cgroup v2 that the caller sees; NULL: not known (it was gone too soon) */
	uint64_t oncpu_ns;         /* of tasks in it */
	uint64_t subtree_oncpu_ns; /* and in those below it */
	int64_t nj;
	int64_t subtree_nj;
};

/* CPU time and energy by command name, in a window or over a recording. */
struct sw_comm {
	const char *comm;
	uint64_t processes; /* how many bore the name at last */
	uint64_t oncpu_ns;
	int64_t nj;
};

/* CPU time and energy of a domain in a window. */
struct sw_domain {
	uint64_t busy_ns;    /* watched and other tasks */
	uint64_t proc_ns;    /* watched tasks */
	uint64_t other_ns;   /* tasks outside the target */
	uint64_t idle_ns;
	uint64_t lost_ns;
	uint64_t offline_ns;
	int64_t nj;          /* its zones that count, or SW_ABSENT; a zone of several domains is divided by their CPUs'
			      * time here */
};

/*
 * Energy parts. proc + other + idle + unattributed = total, exactly. All are SW_ABSENT together where the window has
 * no energy.
 */
struct sw_energy {
	int64_t total_nj; /* package + dram */
	int64_t proc_nj;
	int64_t other_nj;
	int64_t idle_nj;
	int64_t unattributed_nj;
};

/* One window. Lives until the next call of sw_monitor_step(), _finish() or _close(). */
struct sw_report {
	uint64_t seq;       /* 0, 1, 2, … */
	uint64_t t_ns;      /* its end */
	int64_t time_utc_ns; /* the same moment on CLOCK_REALTIME */
	uint64_t window_ns;
	uint32_t flags; /* enum sw_flag */
	struct sw_energy energy;
	int64_t package_nj;
	int64_t dram_nj;        /* SW_ABSENT where there is no such zone */
	int64_t platform_nj;    /* psys, which is never added */
	int64_t uncertainty_nj; /* of total_nj, one way, or SW_ABSENT */
	/* How late the reads of energy began, and how long they took, both ends together; SW_ABSENT without counters. */
	int64_t read_late_ns;
	int64_t read_bracket_ns;
	const int64_t *zone_nj; /* header's `n_zones` entries */
	/* proc + other + idle + lost + offline = cpus × window, exactly */
	uint64_t proc_oncpu_ns;
	uint64_t other_oncpu_ns;
	uint64_t idle_ns;
	uint64_t lost_ns;
	uint64_t lost_by_kind_ns[SW_LOST_KINDS];
	uint64_t offline_ns;
	int64_t recursion_misses; /* runs of the program that the kernel refused, or SW_ABSENT where it does not count */
	int64_t shared_with; /* processes in the target's cgroup that are not its own, and are counted in; SW_ABSENT: none
			      * could be */
	uint64_t exits;      /* tasks that ended in it, of whose last time only their end told: 0 for exact back ends */
	uint64_t exits_ns;   /* that time */
	int64_t shared_ns;   /* what the processes of shared_with had; SW_ABSENT: not known */
	int64_t irq_ns;      /* of the whole host, in interrupts, which kernels may leave out of tasks' time; or SW_ABSENT */
	int64_t steal_ns;    /* of the whole host, taken by a hypervisor; or SW_ABSENT */
	int64_t slots_used;  /* of the header's `slots`, by tasks that are alive; SW_ABSENT: there are none */
	const struct sw_domain *domains;
	size_t n_domains;
	/* Those that ran, most on-CPU time first; each kind only if the options' `by` asks for it. */
	const struct sw_process *processes;
	size_t n_processes;
	const struct sw_thread *threads;
	size_t n_threads;
	const struct sw_cgroup *cgroups; /* in order of path */
	size_t n_cgroups;
	const struct sw_comm *comms;
	size_t n_comms;
	uint32_t pids_alive; /* of the header's `pids`; a zombie without other threads has ended */
	uint32_t ended;      /* non-zero: no task of the target of pids is alive, and no more time will come */
};

/* A whole recording. Lives until sw_monitor_close() or the next call of sw_monitor_summary(). */
struct sw_summary {
	uint64_t duration_ns;
	uint64_t samples;
	uint64_t windows_without_energy;
	uint64_t windows_flagged[SW_FLAGS];
	struct sw_energy energy[SW_POLICIES]; /* by policy; marginal is SW_ABSENT without a baseline */
	int64_t total_uncertainty_nj;
	int64_t proc_uncertainty_nj; /* of the chosen policy's proc_nj, one way */
	uint64_t proc_oncpu_ns;
	uint64_t other_oncpu_ns;
	uint64_t idle_ns;
	uint64_t offline_ns;
	uint64_t lost_ns;
	uint64_t lost_by_kind_ns[SW_LOST_KINDS];
	int64_t recursion_misses;
	int64_t shared_with; /* the most that any window had, or SW_ABSENT */
	uint64_t processes_seen;
	uint64_t processes_alive; /* of those seen */
	const struct sw_process *processes; /* totals, most on-CPU time first */
	size_t n_processes;
	uint64_t processes_folded; /* exited ones that are kept in `comms` only, to bound memory */
	const struct sw_comm *comms; /* most on-CPU time first */
	size_t n_comms;
	/* Only if the options' `by` asks for them. */
	const struct sw_thread *threads; /* most on-CPU time first */
	size_t n_threads;
	uint64_t threads_folded; /* exited ones that are in their processes' totals only */
	const struct sw_cgroup *cgroups; /* in order of path */
	size_t n_cgroups;
	uint64_t cgroups_folded; /* removed ones that are in the subtree totals of those above them only */
};

/* What the values of a column are: sw_column.type and sw_data_column.type. */
enum sw_type {
	SW_TYPE_I64 = 1,  /* int64_t */
	SW_TYPE_U64 = 2,  /* uint64_t */
	SW_TYPE_F64 = 3,  /* double */
	SW_TYPE_TEXT = 4, /* bytes, filled up with NUL, at least one of them: raw as the kernel holds them */
};

/* Which rows have a column: bits of sw_column.kinds. */
enum sw_column_kind {
	SW_COLUMN_OF_PROCESS = 1 << 0,
	SW_COLUMN_OF_THREAD = 1 << 1,
};

/* Where the values come from: sw_column.origin. */
enum sw_column_origin {
	SW_COLUMN_READ = 0,      /* read as they are */
	SW_COLUMN_DERIVED = 1,   /* calculated from what is read */
	SW_COLUMN_ACCOUNTED = 2, /* from the back end and the energy source in use, over the window */
};

/*
 * A column that rows of processes or threads can have. A value that this kernel lacks, that has vanished or that may not
 * be read is absent, never 0.
 *   time      microseconds since the epoch, CLOCK_REALTIME
 *   pid, tid  of a process's row: the same, its leader's
 *   cpuUsage  100 × (growth of utime + stime in seconds) ÷ (seconds passed); absent in a task's first row
 *   memUsage  vsize ÷ MemTotal of /proc/meminfo; of a thread's row, its process's
 * Of a leader that has ended before its process, what belongs to memory is told by a thread that is alive.
 */
struct sw_column {
	const char *name;
	const char *unit;   /* "ticks" (sysconf(_SC_CLK_TCK) a second), "pages", "bytes", "us", "ns", "J", "W", "%",
			     * "ratio", "number", "address", or "none" of text */
	const char *source; /* such as "proc_pid_stat(5) field 14" or "schedwatt" */
	uint32_t type;      /* enum sw_type */
	uint32_t kinds;     /* enum sw_column_kind, or-ed */
	uint32_t origin;    /* enum sw_column_origin */
};

struct sw_monitor;

/* One column of a table: two arrays of n_rows, which a numpy array can be laid over. */
struct sw_data_column {
	const char *name;       /* as long as the library is loaded */
	uint32_t type;          /* enum sw_type */
	uint32_t value_bytes;   /* of one value: 8, or what text of this column has room for: 64 of "comm", 8 of "state" */
	const void *values;     /* one a row, 0 where it is absent; NULL when there are no rows */
	const uint8_t *present; /* by row: 1, or 0 for a value that is absent */
};

/* Rows, the oldest first. */
struct sw_data_table {
	size_t n_rows;
	size_t n_columns;
	const struct sw_data_column *columns;
	uint64_t dropped; /* rows that went before these, for want of room, since the last sw_monitor_get_data() */
	uint64_t denied;  /* values that are absent because the caller may not read them, in rows made since then */
};

/*
 * What was collected: for each window a row for each process that ran in it, and for each of the options' pids that is
 * alive, whether it ran or not. With SW_BY_THREAD likewise a row for each thread that ran, and for each living thread of
 * the options' pids. One that has ended in the window has what the account tells of it ("time", ids, "ppid", "comm",
 * "starttime", "oncpu_ns", "joules", "watts"), and the rest is absent; so has one that this /proc does not show. Where
 * reports do not tell of processes (options.by), there are rows of the options' pids only, with counters alone.
 *
 * The columns are those chosen, in their order; then, of the following, those that are not chosen:
 *   "t_ns" u64 (the window's end, CLOCK_MONOTONIC), "pid" i64, "tid" i64 (threads), and "starttime" u64, which tells
 *   tasks apart whose number is used again.
 * A thread's rows are those with its value in "tid" (and in "pid" and "starttime"), in order of time. "time" is that of
 * the window's end; counters are read just after it.
 */
struct sw_data {
	struct sw_data_table processes;
	struct sw_data_table threads;
};

/*
 * Called with the rows of each window, in the thread that makes them: the monitor's own after sw_monitor_start(), else
 * that which calls sw_monitor_step(). `rows` live until it returns; to keep them, copy the arrays. In it,
 * sw_monitor_report() gives the window, and everything that says "any thread" may be called; what steps or ends the
 * recording gives -EBUSY, what would wait for the thread -EDEADLK. It holds the next window up: let it be quick.
 */
typedef void (*sw_callback)(struct sw_monitor *m, const struct sw_data *rows, void *ctx);

/* Version of the library, such as "0.1.0". */
SW_API const char *sw_version(void);

/* Name of the flag with bit number `bit` (0 … SW_FLAGS-1) as records write it, or NULL. */
SW_API const char *sw_flag_name(uint32_t bit);

/* Name of a policy or of a kind of lost time, or NULL; sw_policy_parse() gives -EINVAL for a name it does not know. */
SW_API const char *sw_policy_name(uint32_t policy);
SW_API const char *sw_lost_name(uint32_t kind);
SW_API int sw_policy_parse(const char *name);

/* All columns, *n of them, in the order of the documentation. Constant; any thread may call this. */
SW_API const struct sw_column *sw_columns(size_t *n);

/*
 * Load and attach, find the target's tasks, open the energy source. Nothing is recorded yet.
 * 0, or: -EINVAL a bad option; -E2BIG an option this library does not know; -ESRCH no such process, or it has
 * ended already; -ENOENT no such cgroup; -EPERM or -EACCES
 * not allowed; -ENOTSUP this kernel lacks something that is needed; -ENODEV no energy source as asked for; -ENOMEM.
 * In each case `error` of the options says what failed, on what value, and what to do; *ret is untouched.
 */
SW_API int sw_monitor_open(const struct sw_options *options, struct sw_monitor **ret);

/*
 * Before sw_monitor_begin(): account the same target by another back end too, over the same windows, and share the same
 * energy out by its account. *ret is a monitor for sw_monitor_header(), _report(), _summary() and _error() only (what it
 * is not for gives -EINVAL); it lives until sw_monitor_close(m), and is not the caller's to close. 0, -EALREADY, or as
 * sw_monitor_open() gives it for a back end that does not open, with the words in sw_monitor_error(m). A back end that
 * fails later has no more reports, and its sw_monitor_error() says why; the others go on.
 */
SW_API int sw_monitor_add(struct sw_monitor *m, const char *backend, struct sw_monitor **ret);

/*
 * The last window, as long as it lives; NULL when there is none yet. Any thread, but while the monitor's own runs there
 * is none to see outside the callback.
 */
SW_API const struct sw_report *sw_monitor_report(const struct sw_monitor *m);

/* Set the first boundary and wait until it has passed (about 1 ms): recording starts there. -EALREADY when it has. */
SW_API int sw_monitor_begin(struct sw_monitor *m);

/*
 * A file descriptor that is readable when sw_monitor_step() has something to do: a window is due, or a process of the
 * target has ended. The monitor's own: do not read or close it.
 */
SW_API int sw_monitor_fd(const struct sw_monitor *m);

/*
 * Close the window that is due. 1: *ret is the window; 0: none is due yet; -ESHUTDOWN after sw_monitor_finish(). When
 * the last task of a target of pids has ended, the current window is closed ahead of its time, once.
 */
SW_API int sw_monitor_step(struct sw_monitor *m, const struct sw_report **ret);

/* End the current window now, ahead of its time (about 1 ms). 1: *ret is the last window. The recording is over. */
SW_API int sw_monitor_finish(struct sw_monitor *m, const struct sw_report **ret);

/* Totals of all windows so far. May be called in the callback. -ENOMEM; -EBUSY in another thread than the monitor's. */
SW_API int sw_monitor_summary(struct sw_monitor *m, const struct sw_summary **ret);

/*
 * Record in a thread of the monitor's own, "schedwatt", with all signals blocked: set the first boundary as
 * sw_monitor_begin() does, unless that was called, and step from there until the target has ended, the options' duration
 * is over, or sw_monitor_stop(). Not while another call on this monitor is under way.
 * 0; -EALREADY it was started before; -ESHUTDOWN the recording is over; -EBUSY in the callback of sw_monitor_step();
 * -EINVAL it follows another; -EAGAIN, -EMFILE or -ENFILE no thread or descriptor is to be had; or as sw_monitor_begin()
 * gives it.
 */
SW_API int sw_monitor_start(struct sw_monitor *m);

/*
 * Wait until the recording of sw_monitor_start() is over, at most so many milliseconds; 0: only ask; negative: as long as
 * it takes. 0: it is over; -ETIMEDOUT; -EINVAL it was never started; -EDEADLK in the callback; or why the thread gave up,
 * with its words. Any thread.
 */
SW_API int sw_monitor_join(struct sw_monitor *m, int64_t timeout_ms);

/*
 * End the recording of sw_monitor_start() with a last window ahead of its time, unless it is over, and wait for the
 * thread (which the callback may be keeping). From then on the monitor is used as without a thread; calling it again
 * gives the same again. *ret, unless `ret` is NULL: the totals, as sw_monitor_summary() gives them.
 * 0; -EINVAL it was never started; -EDEADLK in the callback; -EALREADY another thread is at it; -ENOMEM; or why the
 * thread gave up, with its words: then *ret is untouched, and sw_monitor_summary() tells what there was. Any thread.
 */
SW_API int sw_monitor_stop(struct sw_monitor *m, const struct sw_summary **ret);

/*
 * From the next window on keep rows for sw_monitor_get_data(), whether the windows come from a thread or from
 * sw_monitor_step(). What was collected before and not taken goes. 0; -EALREADY they are being kept; -EINVAL this monitor
 * follows another; -ENOMEM. Any thread.
 */
SW_API int sw_monitor_collect_start(struct sw_monitor *m);

/* Keep no more rows. Those that there are can still be taken. 0, or -ENODATA: none are being kept. Any thread. */
SW_API int sw_monitor_collect_stop(struct sw_monitor *m);

/*
 * Take all rows since sw_monitor_collect_start() or the last call. *ret is the caller's own, as long as it likes, even
 * after sw_monitor_close(), to be given to sw_data_free(); it costs the same for any number of rows.
 * 0, if there are no rows, too; -ENODATA sw_monitor_collect_start() was never called; -ENOMEM, and the rows stay; or, once
 * all rows were taken, why the thread gave up, with its words. Any thread.
 */
SW_API int sw_monitor_get_data(struct sw_monitor *m, struct sw_data **ret);

/* What a check found: sw_check.state. */
enum sw_check_state {
	SW_CHECK_WORKS = 1,
	SW_CHECK_LACKS = 2,    /* `reason` says why, `remedy` what to do about it */
	SW_CHECK_NOTE = 3,     /* neither good nor bad: how the machine is set */
	SW_CHECK_UNKNOWN = 4,  /* it could not be found out; `reason` says why */
};

/* One thing that was looked at. */
struct sw_check {
	const char *area;   /* "backend", "hook", "energy", "zone", "kernel", "privilege", "cgroup" or "memory" */
	const char *name;   /* what within it: "ebpf", "tp_btf", "powercap", "powercap:package-0", "CAP_BPF" */
	uint32_t state;     /* enum sw_check_state */
	const char *value;  /* what was found, such as "6.1.0-18-amd64", or NULL */
	const char *reason; /* why, or what to know of it, in a sentence, or NULL */
	const char *remedy; /* what to do, in a sentence, or NULL; never NULL for what lacks */
};

/* What works on this machine for this caller. The receiver's own, to be given to sw_checkup_free(). */
struct sw_checkup {
	const struct sw_check *checks; /* those of an area stand together */
	size_t n_checks;
	const char *backend;       /* that a monitor of the whole host would take by itself, or NULL */
	const char *energy_source; /* the first in order that opens and is measured, or NULL */
};

/*
 * Try every hook and energy source, and every back end for the whole host and for the calling process, as
 * sw_monitor_open() would, and look at what they need. Of the options only the roots (`sysfs`, `procfs`, `cgroupfs`),
 * `slots` and where errors go are looked at; NULL: the defaults. What is opened is closed again; nothing stays attached.
 * Privileges and settings are those of the kernel that runs, whatever the roots stand for.
 * 0, whatever was found; -EINVAL a bad option, -E2BIG one that this library does not know, or more domains than it can
 * have, -ENOENT or -ENOTDIR no such directory, -ENOMEM, or why the CPUs cannot be read, each with words in the options'
 * `error`; *ret is untouched then. Any thread.
 */
SW_API int sw_checkup_run(const struct sw_options *options, struct sw_checkup **ret);

/* NULL is fine. Any thread. */
SW_API void sw_checkup_free(struct sw_checkup *checkup);

/* NULL is fine. Any thread. */
SW_API void sw_data_free(struct sw_data *data);

/*
 * Call `fn` at each window from the next on, in place of an earlier one; NULL: none. When this has returned, the earlier
 * one runs no more: it waits until it is done, except in the callback itself. Do not hold what the callback waits for.
 * 0; -EINVAL this monitor follows another; -ENOMEM. Any thread.
 */
SW_API int sw_monitor_set_callback(struct sw_monitor *m, sw_callback fn, void *ctx);

/* As sw_monitor_set_callback(m, NULL, NULL): always 0 on a monitor that follows no other. Any thread. */
SW_API int sw_monitor_clear_callback(struct sw_monitor *m);

/*
 * 0: make no rows until further notice, neither for collecting nor for the callback; windows go on, and so do the totals.
 * Any other number: make them again, as at first. 0. Any thread.
 */
SW_API int sw_monitor_set_process(struct sw_monitor *m, int on);

/*
 * Remove the cgroup that was made by the options' own_cgroup, once the target has ended. 0: it is gone, or there was none.
 * -EBUSY after 0.1 s: processes live on in it, and it stays for good; sw_monitor_error() says which and where. Nothing
 * is accounted any more, so this is for after sw_monitor_finish(). sw_monitor_close() does the same, without the words.
 */
SW_API int sw_monitor_remove_cgroup(struct sw_monitor *m);

/* What does not change. Never NULL; `started_*` are 0 before sw_monitor_begin(). Any thread after sw_monitor_start(). */
SW_API const struct sw_header *sw_monitor_header(const struct sw_monitor *m);

/*
 * Why the last call on this monitor failed, in words; "" when it did not. Lives until the next call: where several
 * threads call, sw_monitor_error_copy() is for them.
 */
SW_API const char *sw_monitor_error(const struct sw_monitor *m);

/*
 * The same copied to `text`, cut to `size` bytes with the NUL that ends it. In the callback: of calls there; elsewhere: of
 * the last call in any thread but the monitor's. Any thread.
 */
SW_API void sw_monitor_error_copy(const struct sw_monitor *m, char *text, size_t size);

/*
 * Do once, without effect on the recording, what windows take: read every energy counter that was opened, and run the
 * programs that are loaded. For a process that means to give privileges up: a child of fork(2) gives them up, asks, and
 * ends with _exit(2); what suffices there suffices here. 0; -EACCES or -EPERM it does not, or another reason, with its
 * words; -EBUSY while the monitor's own thread runs.
 */
SW_API int sw_monitor_check(struct sw_monitor *m);

/* What the program on context switches has cost, since the kernel first kept that. */
struct sw_cost {
	uint64_t runs;
	uint64_t run_ns; /* that includes the kernel's own look at the clock, before and after */
};

/*
 * Have the kernel keep what its BPF programs cost, all of them, which makes each a little slower (on != 0), or leave that to
 * its sysctl bpf_stats_enabled again. 0; -EPERM it takes CAP_SYS_ADMIN; -EINVAL this kernel cannot (before 5.8);
 * -ENOTSUP the back end is not ebpf; -EBUSY while the monitor's own thread runs.
 */
SW_API int sw_monitor_keep_cost(struct sw_monitor *m, int on);

/* 0; -ENODATA the kernel has kept nothing; -ENOTSUP the back end is not ebpf; -EBUSY as above. */
SW_API int sw_monitor_cost(struct sw_monitor *m, struct sw_cost *ret);

/*
 * Detach and free, in any state; NULL is fine. A thread of the monitor's is ended first, without a last window. No other
 * thread may use the monitor then. In the callback of a monitor with a thread: it is freed behind the callback, after
 * which nobody may use it; not in the callback of one that is stepped.
 */
SW_API void sw_monitor_close(struct sw_monitor *m);

#ifdef __cplusplus
}
#endif
#endif

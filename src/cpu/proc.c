/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the life of the proc back end, and the order of what a read does. Must not know: energy; what is done with the
 * numbers. See proc.h for the way of the data.
 */
#include "proc.h"

#include "../base/clock.h"
#include "../base/parse.h"
#include "../base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define TEND_NS 1000000000 /* so that who is forked by who dies soon is met in a long window, too */
#define KEPT_FDS_MAX 16384

/* Does procfs number processes as we do? Only then their clocks can be asked for by those numbers. */
static bool has_our_pids(const struct sw_proc *b)
{
	char self[32] = "";
	uint64_t pid;

	return b->host->real_procfs && readlinkat(b->procfs_fd, "self", self, sizeof(self) - 1) > 0 &&
	       !sw_parse_u64(self, INT32_MAX, &pid) && pid == (uint64_t)getpid();
}

/* Three zeros in one's own are a kernel that does not collect it. */
static bool lacks_schedstat(const struct sw_proc *b)
{
	struct sw_proc_schedstat s;
	char text[128];
	ssize_t n = sw_file_read(b->procfs_fd, "self/schedstat", text, sizeof(text));

	return b->host->real_procfs && (n < 0 || sw_proc_schedstat_parse(text, (size_t)n, &s) || !s.run_ns);
}

static bool lacks_children(const struct sw_proc *b)
{
	char path[64], self[32] = "";

	if (readlinkat(b->procfs_fd, "self", self, sizeof(self) - 1) <= 0)
		return true;
	snprintf(path, sizeof(path), "%s/task/%s/children", self, self);
	return faccessat(b->procfs_fd, path, F_OK, 0) != 0;
}

/* With hidepid, others' processes do not show: to who may read it, process 1 does. */
static bool hides_pids(const struct sw_proc *b)
{
	return b->host->real_procfs && faccessat(b->procfs_fd, "1/stat", R_OK, 0) != 0;
}

/* A file of an ordinary directory can be read for ever once it is open, and a task's only while that is there. */
static unsigned room_for_fds(const struct sw_proc *b)
{
	struct rlimit limit;

	if (!b->host->real_procfs || getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	return limit.rlim_cur / 2 < KEPT_FDS_MAX ? (unsigned)(limit.rlim_cur / 2) : KEPT_FDS_MAX;
}

static void open_records(struct sw_proc *b, const struct sw_cpu_config *config, struct sw_error *refusal)
{
	int fd = config->taskstats_fd ? *config->taskstats_fd : -1;

	if (fd >= 0)
		sw_taskstats_adopt(fd, &b->taskstats);
	else if (config->taskstats_fd)
		sw_fail(refusal, -EPERM, "a test does without records of tasks that end (taskstats)");
	else
		sw_taskstats_open(refusal, &b->taskstats);
}

static void write_note(struct sw_proc *b, const struct sw_error *refusal)
{
	snprintf(b->note, sizeof(b->note), "CPU time is the kernel's own count of each task, up to a clock tick late%s%s%s%s",
		 b->taskstats ? "" : "; of tasks that come and go between two reads only their parents' and processes' "
				     "totals tell: ",
		 b->taskstats ? "" : refusal->text,
		 hides_pids(b) ? "; only one's own processes show in /proc (hidepid), and no others are in the sums" : "",
		 !b->clocks && b->host->real_procfs ? "; threads that end between two reads are missing, because /proc is of "
						      "another pid namespace" : "");
}

static void free_table(struct sw_proc *b, struct sw_proc_process **table)
{
	struct sw_proc_process *p, *next;

	for (p = *table; p; p = next) {
		next = p->hh.next;
		HASH_DEL(*table, p);
		sw_proc_free_process(b, p);
	}
}

static void free_dead(struct sw_proc *b)
{
	struct sw_proc_thread *t;

	while ((t = b->dead)) {
		b->dead = t->next;
		free(t);
	}
}

static void proc_close(struct sw_cpu_backend *backend)
{
	struct sw_proc *b = (struct sw_proc *)backend;

	if (!b)
		return;
	free_table(b, &b->living);
	free_table(b, &b->gone);
	free_dead(b);
	sw_taskstats_close(b->taskstats);
	sw_host_close(b->host);
	if (b->procfs_fd >= 0)
		close(b->procfs_fd);
	free(b->domain_of);
	free(b->records);
	free(b->free_keys);
	free(b->rows);
	free(b->watched_ns);
	free(b->room_ns);
	free(b->text);
	free(b);
}

static int allocate(struct sw_proc *b, const struct sw_cpu_config *config)
{
	b->n_cpus = config->n_cpus;
	b->n_domains = config->n_domains;
	b->domain_of = malloc(b->n_cpus * sizeof(*b->domain_of));
	b->free_keys = malloc(SW_PROC_KEYS * sizeof(*b->free_keys));
	b->watched_ns = calloc(b->n_domains, sizeof(*b->watched_ns));
	b->room_ns = calloc(b->n_domains, sizeof(*b->room_ns));
	b->text = malloc(SW_PROC_TEXT_SIZE);
	if (!b->domain_of || !b->free_keys || !b->watched_ns || !b->room_ns || !b->text)
		return -ENOMEM;
	memcpy(b->domain_of, config->domain_of, b->n_cpus * sizeof(*b->domain_of));
	return 0;
}

static int meet_roots(struct sw_proc *b, const struct sw_cpu_config *config, struct sw_error *error)
{
	struct sw_proc_process *p;
	int err;

	for (size_t i = 0; i < config->n_pids; i++) {
		if (sw_proc_find(b->living, config->pids[i]))
			continue;
		err = sw_proc_meet(b, config->pids[i], &p);
		if (err)
			return sw_fail(error, err, "out of memory");
		if (!p || p->newly_gone)
			return sw_fail(error, -ESRCH, "no process %d", config->pids[i]);
	}
	return 0;
}

static int open_parts(struct sw_proc *b, const struct sw_cpu_config *config, struct sw_error *error)
{
	struct sw_error refusal = {""};
	int err;

	b->procfs_fd = openat(config->procfs_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (b->procfs_fd < 0)
		return sw_fail(error, -errno, "cannot open the directory of procfs: %s", strerror(errno));
	err = sw_host_open(config, !b->tree, error, &b->host);
	if (err)
		return err;
	if (allocate(b, config))
		return sw_fail(error, -ENOMEM, "out of memory for %u keys", SW_PROC_KEYS);
	b->usage.domains = b->host->domains;
	b->clocks = has_our_pids(b);
	b->no_schedstat = lacks_schedstat(b);
	b->no_children = lacks_children(b);
	b->fds_left = room_for_fds(b);
	open_records(b, config, &refusal);
	write_note(b, &refusal);
	err = meet_roots(b, config, error);
	if (err)
		return err;
	return sw_proc_look(b) ? sw_fail(error, -ENOMEM, "out of memory") : 0;
}

static int proc_open(const struct sw_cpu_config *config, struct sw_error *error, struct sw_cpu_backend **ret)
{
	struct sw_proc *b;
	int err;

	if (config->cgroup)
		return sw_fail(error, -ENOTSUP, "proc watches processes and the host, not a cgroup: name a process of it, or "
			       "its cgroup back end");
	b = calloc(1, sizeof(*b));
	if (!b)
		return sw_fail(error, -ENOMEM, "out of memory");
	b->procfs_fd = -1;
	b->tree = config->n_pids > 0;
	b->follows = !config->process_scope;
	b->usage.recursion_misses = b->usage.shared_with = b->usage.shared_ns = INT64_MIN;
	err = open_parts(b, config, error);
	if (err) {
		proc_close(&b->backend);
		return err;
	}
	b->backend = (struct sw_cpu_backend){
		.ops = &sw_cpu_proc,
		.max_keys = SW_PROC_KEYS,
		.cpus = b->host->cpus,
		.tend_ns = TEND_NS,
		.note = b->note,
	};
	*ret = &b->backend;
	return 0;
}

static int proc_announce(struct sw_cpu_backend *backend, uint64_t at_ns, uint64_t *ret_t_ns, uint64_t *ret_wake_ns)
{
	struct sw_proc *b = (struct sw_proc *)backend;

	if (!b->announced || at_ns < b->t_ns)
		b->t_ns = at_ns;
	b->announced = true;
	*ret_t_ns = *ret_wake_ns = b->t_ns;
	return 0;
}

/* Everything that there is to be known now. */
static int sample(struct sw_proc *b, struct sw_error *error)
{
	struct sw_proc_process *p, *next;
	uint64_t forks = b->host->forks, now_ns = sw_now_ns();
	int64_t unseen = b->unseen;
	int err = sw_host_read(b->host, error);

	if (err)
		return err;
	b->passed_ns = now_ns - b->sampled_ns;
	b->sampled_ns = now_ns;
	b->unseen += b->host->forks > forks ? (int64_t)(b->host->forks - forks) : 0;
	err = sw_proc_take_records(b);
	b->n_early = b->n_records;
	for (p = b->living; p && !err; p = next) {
		next = p->hh.next;
		err = sw_proc_sample(b, p);
	}
	if (!err)
		err = sw_proc_look(b);
	if (!err)
		err = sw_proc_take_records(b);
	b->some_unseen = b->unseen > unseen || !b->host->forks;
	if (!err)
		err = sw_proc_reckon(b);
	if (err)
		return sw_fail(error, err, "cannot read what processes had: %s", strerror(-err));
	if (b->taskstats) {
		b->usage.members_lost += sw_taskstats_overruns(b->taskstats) - b->overruns;
		b->overruns = sw_taskstats_overruns(b->taskstats);
	}
	return 0;
}

/* Nobody is there, and all that they had is told. */
static bool has_ended(const struct sw_proc *b)
{
	const struct sw_proc_process *p;

	for (p = b->living; p && b->tree; p = p->hh.next)
		if (!p->leader.over)
			return false;
	for (p = b->gone; p && b->tree; p = p->hh.next)
		if (!p->leader.over)
			return false;
	return b->tree;
}

static int proc_read(struct sw_cpu_backend *backend, struct sw_error *error, const struct sw_cpu_usage **ret)
{
	struct sw_proc *b = (struct sw_proc *)backend;
	int err;

	free_dead(b);
	err = sample(b, error);
	if (err)
		return err;
	if (!b->begun) {
		sw_proc_rebase(b);
		b->last_t_ns = b->t_ns;
		b->began_ns = sw_boottime_ns();
		b->begun = true;
	}
	err = sw_proc_emit(b);
	if (err)
		return sw_fail(error, err, "out of memory for the tasks of a window");
	b->usage.t_ns = b->last_t_ns = b->t_ns;
	b->usage.irq_ns = (int64_t)b->host->irq_ns;
	b->usage.steal_ns = (int64_t)b->host->steal_ns;
	b->usage.busy_raised = b->host->busy_raised;
	b->usage.ended = has_ended(b);
	b->announced = false;
	*ret = &b->usage;
	return 0;
}

static int proc_tend(struct sw_cpu_backend *backend, struct sw_error *error)
{
	struct sw_proc *b = (struct sw_proc *)backend;

	return b->begun ? sample(b, error) : 0;
}

/* A zombie's clock can still be read, so its stat is asked. */
static bool proc_alive(struct sw_cpu_backend *backend)
{
	struct sw_proc *b = (struct sw_proc *)backend;
	struct sw_proc_stat s;

	for (struct sw_proc_process *p = b->living; p; p = p->hh.next)
		if (!p->ended && !sw_proc_read_stat(b, p->leader.tid, 0, &s) && s.starttime == p->start_ticks &&
		    s.state != 'X' && s.state != 'x' && (s.state != 'Z' || s.num_threads > 1))
			return true;
	return false;
}

const struct sw_cpu_ops sw_cpu_proc = {
	.name = "proc",
	.quality = "coarse",
	.tells_tasks = true,
	.tells_cgroups = false,
	.open = proc_open,
	.announce = proc_announce,
	.read = proc_read,
	.tend = proc_tend,
	.alive = proc_alive,
	.close = proc_close,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the rule of tools that stand on psutil, for comparison with them: utime + stime of one process, in ticks, ÷
 * (window × CPUs). Must not know: energy; what is done with the numbers.
 * Relies on proc_pid_stat(5). Processes that the one has started are not counted, as Process.cpu_percent() does not, and
 * what is told is already ÷ CPUs: the time that such a tool bills the process for, not the time that it ran.
 */
#include "backend.h"

#include "../base/procfs.h"
#include "../base/root.h"
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char note[] = "what tools on psutil would bill: user and system time of one process in clock ticks, divided "
			   "by the number of CPUs; without the processes it has started. It is a lower bound, and on N "
			   "CPUs an Nth of what the process used";

struct percent {
	struct sw_cpu_backend backend;
	struct sw_cpu_usage usage;
	struct sw_host *host;
	int procfs_fd;
	int32_t pid;
	int16_t *domain_of;
	unsigned n_cpus, n_domains;
	uint64_t *watched_ns; /* by domain */
	struct sw_cpu_row row[2]; /* of the domain that it left, if it did, and of that where it is */
	struct sw_task task;
	uint64_t start_ticks;
	uint64_t billed_ns;   /* since it began, as last read */
	uint64_t told_ns;     /* of that; at the first boundary all of it is */
	uint64_t key_ns;      /* told under earlier keys, or before the recording */
	uint32_t key;
	uint16_t key_domain;
	uint16_t domain;      /* where it was seen last */
	bool has_key, ended, over;
	uint64_t t_ns;
	bool announced, begun;
};

static void copy_comm(char *to, size_t size, const char *from)
{
	size_t n = strnlen(from, size - 1);

	memcpy(to, from, n);
	memset(to + n, 0, size - n);
}

/* 0, or -ESRCH: it is gone; or what else stood in the way, for now. */
static int read_stat(struct percent *b, struct sw_proc_stat *ret)
{
	char path[32], text[2048];
	ssize_t n;

	snprintf(path, sizeof(path), "%d/stat", b->pid);
	n = sw_file_read(b->procfs_fd, path, text, sizeof(text));
	if (n <= 0)
		return n == -ENOENT || !n ? -ESRCH : (int)n;
	return sw_proc_stat_parse(text, (size_t)n, ret);
}

static bool has_ended(const struct sw_proc_stat *s)
{
	return s->state == 'X' || s->state == 'x' || (s->state == 'Z' && s->num_threads <= 1);
}

static void take_stat(struct percent *b, const struct sw_proc_stat *s)
{
	uint64_t billed_ns = sw_ticks_ns(s->utime + s->stime, b->host->hz) / b->host->cpus;
	uint64_t cpu = (uint64_t)s->processor;

	if (billed_ns > b->billed_ns)
		b->billed_ns = billed_ns;
	if (SW_PROC_STAT_HAS(s, processor) && cpu < b->n_cpus && b->domain_of[cpu] >= 0)
		b->domain = (uint16_t)b->domain_of[cpu];
	copy_comm(b->task.comm, sizeof(b->task.comm), s->comm);
	memcpy(b->task.process_comm, b->task.comm, sizeof(b->task.comm));
	b->ended = has_ended(s);
}

/* Of one that was not waited for yet the times can still be read. */
static void sample(struct percent *b)
{
	struct sw_proc_stat s;
	int err;

	if (b->ended)
		return;
	err = read_stat(b, &s);
	if (err == -ESRCH || (!err && s.starttime != b->start_ticks))
		b->ended = true;
	else if (!err)
		take_stat(b, &s);
}

static void add_row(struct percent *b, bool first, bool last, bool died)
{
	b->task.process_ended = died;
	b->row[b->usage.n_rows++] = (struct sw_cpu_row){
		.key = b->key,
		.first = first,
		.last = last,
		.died = died,
		.described = true,
		.domain = b->key_domain,
		.oncpu_ns = b->told_ns - b->key_ns,
		.task = &b->task,
	};
}

/* As much of it as the window has room for; the rest is told with the next. */
static void tell(struct percent *b, uint64_t room_ns)
{
	uint64_t ns = b->billed_ns - b->told_ns < room_ns ? b->billed_ns - b->told_ns : room_ns;
	bool over = b->ended && b->billed_ns - b->told_ns == ns, first;

	if (b->over || (!ns && !over))
		return;
	if (b->has_key && b->key_domain != b->domain) {
		add_row(b, false, true, false);
		b->has_key = false;
		b->key ^= 1;
		b->key_ns = b->told_ns;
	}
	first = !b->has_key;
	b->has_key = true;
	b->key_domain = b->domain;
	b->watched_ns[b->domain] += ns;
	b->told_ns += ns;
	b->over = over;
	add_row(b, first, over, over);
}

static void percent_close(struct sw_cpu_backend *backend)
{
	struct percent *b = (struct percent *)backend;

	if (!b)
		return;
	sw_host_close(b->host);
	if (b->procfs_fd >= 0)
		close(b->procfs_fd);
	free(b->domain_of);
	free(b->watched_ns);
	free(b);
}

static int open_parts(struct percent *b, const struct sw_cpu_config *config, struct sw_error *error)
{
	struct sw_proc_stat s;
	int err;

	b->procfs_fd = openat(config->procfs_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (b->procfs_fd < 0)
		return sw_fail(error, -errno, "cannot open the directory of procfs: %s", strerror(errno));
	err = sw_host_open(config, false, error, &b->host);
	if (err)
		return err;
	b->pid = config->pids[0];
	b->n_cpus = config->n_cpus;
	b->n_domains = config->n_domains;
	b->domain_of = malloc(b->n_cpus * sizeof(*b->domain_of));
	b->watched_ns = calloc(b->n_domains, sizeof(*b->watched_ns));
	if (!b->domain_of || !b->watched_ns)
		return sw_fail(error, -ENOMEM, "out of memory");
	memcpy(b->domain_of, config->domain_of, b->n_cpus * sizeof(*b->domain_of));
	err = read_stat(b, &s);
	if (err)
		return sw_fail(error, err, "no process %d", b->pid);
	b->start_ticks = s.starttime;
	b->task = (struct sw_task){
		.start_boottime_ns = sw_ticks_ns(s.starttime, b->host->hz),
		.leader_start_boottime_ns = sw_ticks_ns(s.starttime, b->host->hz),
		.tgid = b->pid,
		.tid = b->pid,
		.ppid = (int32_t)s.ppid,
		.here = {b->pid, b->pid, (int32_t)s.ppid},
	};
	take_stat(b, &s);
	return 0;
}

static int percent_open(const struct sw_cpu_config *config, struct sw_error *error, struct sw_cpu_backend **ret)
{
	struct percent *b;
	int err;

	if (config->any)
		return sw_fail(error, -ENOTSUP, "cpu_percent is for comparison and never taken unless it is named");
	if (config->n_pids != 1)
		return sw_fail(error, -ENOTSUP, "cpu_percent tells of exactly one process, and %s: give one with --pid",
			       config->cgroup ? "a cgroup is watched" : config->n_pids ? "several are watched" :
									"the whole host is watched");
	b = calloc(1, sizeof(*b));
	if (!b)
		return sw_fail(error, -ENOMEM, "out of memory");
	b->procfs_fd = -1;
	b->usage.recursion_misses = b->usage.shared_with = b->usage.shared_ns = INT64_MIN;
	err = open_parts(b, config, error);
	if (err) {
		percent_close(&b->backend);
		return err;
	}
	b->usage.domains = b->host->domains;
	b->usage.rows = b->row;
	b->backend = (struct sw_cpu_backend){.ops = &sw_cpu_percent, .max_keys = 2, .cpus = b->host->cpus, .note = note};
	*ret = &b->backend;
	return 0;
}

static int percent_announce(struct sw_cpu_backend *backend, uint64_t at_ns, uint64_t *ret_t_ns, uint64_t *ret_wake_ns)
{
	struct percent *b = (struct percent *)backend;

	if (!b->announced || at_ns < b->t_ns)
		b->t_ns = at_ns;
	b->announced = true;
	*ret_t_ns = *ret_wake_ns = b->t_ns;
	return 0;
}

static int percent_read(struct sw_cpu_backend *backend, struct sw_error *error, const struct sw_cpu_usage **ret)
{
	struct percent *b = (struct percent *)backend;
	int err = sw_host_read(b->host, error);

	if (err)
		return err;
	sample(b);
	b->usage.n_rows = 0;
	memset(b->watched_ns, 0, b->n_domains * sizeof(*b->watched_ns));
	if (b->begun)
		tell(b, sw_host_room_ns(b->host, b->domain, b->t_ns));
	else
		b->told_ns = b->key_ns = b->billed_ns;
	b->begun = true;
	sw_host_add(b->host, b->t_ns, b->watched_ns);
	b->usage.t_ns = b->t_ns;
	b->usage.irq_ns = (int64_t)b->host->irq_ns;
	b->usage.steal_ns = (int64_t)b->host->steal_ns;
	b->usage.busy_raised = b->host->busy_raised;
	b->usage.ended = b->over;
	b->announced = false;
	*ret = &b->usage;
	return 0;
}

static bool percent_alive(struct sw_cpu_backend *backend)
{
	struct percent *b = (struct percent *)backend;
	struct sw_proc_stat s;

	return !b->ended && !read_stat(b, &s) && s.starttime == b->start_ticks && !has_ended(&s);
}

const struct sw_cpu_ops sw_cpu_percent = {
	.name = "cpu_percent",
	.quality = "coarse",
	.tells_tasks = true,
	.tells_cgroups = false,
	.open = percent_open,
	.announce = percent_announce,
	.read = percent_read,
	.alive = percent_alive,
	.close = percent_close,
};

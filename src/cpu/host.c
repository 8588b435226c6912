/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: /proc/stat, and how a window's time falls into busy, idle, lost and offline. Must not know: which tasks are
 * watched, how their time was read.
 * Relies on proc_stat(5), fs/proc/stat.c. Of a CPU's line only busy ticks are used: its idle time is what is left of the
 * window, for iowait goes backwards and idle jumps when a CPU comes back. A CPU that is offline has no line.
 */
#include "host.h"

#include "../base/clock.h"
#include "../base/parse.h"
#include "../base/procfs.h"
#include "../base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#define TEXT_SIZE (16u << 10) /* to begin with; interrupts of a large host take more */
#define TEXT_SIZE_MAX (64u << 20)
#define SLACK_NS 1000000000 /* no CPU was busy for longer than a window and this: such a line is absurd */

/* A CPU's line at a read. One that makes no sense does not say whose it is: a CPU that has none then is not yet off. */
enum line { NONE, GOOD, BAD };

struct cpu {
	bool present;
	enum line last;            /* at the last boundary */
	bool has_base;             /* what follows is known */
	uint64_t busy, irq, steal; /* ticks, of the last good line */
	uint64_t base_ns;          /* when that was read */
	bool seen;                 /* in this read, with what follows */
	uint64_t new_busy, new_irq, new_steal;
};

struct host {
	struct sw_host host;
	bool whole;
	int fd;
	int16_t *domain_of;
	unsigned n_cpus, n_domains;
	struct cpu *cpu;
	int64_t *pending_ns; /* by domain: busy ticks not told yet; negative: told ahead of them */
	unsigned *cpus_in;   /* by domain, present */
	unsigned *off_in, *unknown_in; /* of those, in the window that is being closed */
	char *text;
	size_t text_size;
	bool bad_lines; /* in this read */
	bool started;
	uint64_t t_ns;    /* the last boundary */
	uint64_t read_ns; /* when the file was read last, CLOCK_MONOTONIC */
};

uint64_t sw_ticks_ns(uint64_t ticks, uint64_t hz)
{
	unsigned __int128 ns = (unsigned __int128)ticks * 1000000000 / hz;

	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

static uint64_t lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The whole file in h->text: its length, or -errno. */
static ssize_t read_text(struct host *h)
{
	ssize_t n = -EFBIG;

	while (n == -EFBIG) {
		if (h->text) {
			n = sw_fd_read(h->fd, h->text, h->text_size);
			if (n != -EFBIG || h->text_size >= TEXT_SIZE_MAX)
				break;
		}
		free(h->text);
		h->text_size = h->text_size ? 2 * h->text_size : TEXT_SIZE;
		h->text = malloc(h->text_size);
		if (!h->text)
			return -ENOMEM;
	}
	return n;
}

static void take_line(struct host *h, const struct sw_cpu_times *times)
{
	struct cpu *c = &h->cpu[times->cpu];

	c->new_busy = sw_cpu_times_busy(times);
	c->new_irq = times->irq + times->softirq;
	c->new_steal = times->steal;
	c->seen = true;
}

/* Ticks since the last good line that cannot be: they fell, or are more than the time that has passed. */
static bool is_absurd(const struct host *h, const struct cpu *c, uint64_t window_ns)
{
	uint64_t passed_ns = h->read_ns - c->base_ns;

	if (c->new_busy < c->busy)
		return true;
	return sw_ticks_ns(c->new_busy - c->busy, h->host.hz) > (passed_ns > window_ns ? passed_ns : window_ns) + SLACK_NS;
}

/* How much of a window that ends with this read is known of a CPU: GOOD, or it was off, or nobody can tell (BAD). */
static enum line judge(struct host *h, struct cpu *c, uint64_t window_ns)
{
	if (!c->seen)
		return h->bad_lines && c->last != NONE ? BAD : NONE;
	if (!c->has_base)
		return NONE; /* it was off before */
	return c->last == BAD || is_absurd(h, c, window_ns) ? BAD : GOOD;
}

static uint64_t grown_ns(const struct host *h, uint64_t now, uint64_t before)
{
	return now > before ? sw_ticks_ns(now, h->host.hz) - sw_ticks_ns(before, h->host.hz) : 0;
}

/* Ticks of a CPU that was off go on where they were. After a bad line a good one is a new beginning. */
static void close_cpu(struct host *h, struct cpu *c, uint64_t window_ns)
{
	unsigned d = h->domain_of[c - h->cpu];
	enum line line = judge(h, c, window_ns);

	h->off_in[d] += line == NONE;
	h->unknown_in[d] += line == BAD;
	if (line != GOOD)
		return;
	h->pending_ns[d] += grown_ns(h, c->new_busy, c->busy);
	h->host.irq_ns += grown_ns(h, c->new_irq, c->irq);
	h->host.steal_ns += grown_ns(h, c->new_steal, c->steal);
}

static void keep_line(struct host *h, struct cpu *c)
{
	c->last = c->seen ? GOOD : h->bad_lines && c->last != NONE ? BAD : NONE;
	if (!c->seen)
		return;
	c->busy = c->new_busy;
	c->irq = c->new_irq;
	c->steal = c->new_steal;
	c->base_ns = h->read_ns;
	c->has_base = true;
}

static void close_domain(struct host *h, unsigned d, uint64_t window_ns, uint64_t watched_ns)
{
	struct sw_cpu_domain *sum = &h->host.domains[d];
	uint64_t span_ns = h->cpus_in[d] * window_ns, offline_ns = h->off_in[d] * window_ns;
	uint64_t lost_ns = h->unknown_in[d] * window_ns, known_ns = span_ns - offline_ns - lost_ns, busy_ns, need_ns;

	/* that tasks ran is certain, that a CPU was off the whole window, or what it did, is not */
	watched_ns = lower(watched_ns, span_ns);
	need_ns = watched_ns > known_ns ? watched_ns - known_ns : 0;
	known_ns += need_ns;
	lost_ns -= lower(lost_ns, need_ns);
	offline_ns = span_ns - known_ns - lost_ns;

	busy_ns = h->pending_ns[d] > 0 ? lower(h->pending_ns[d], known_ns) : 0;
	if (busy_ns < watched_ns) {
		busy_ns = watched_ns;
		h->host.busy_raised = true;
	}
	h->pending_ns[d] -= busy_ns;
	if (h->pending_ns[d] < -(int64_t)(h->cpus_in[d] * sw_ticks_ns(1, h->host.hz)))
		h->pending_ns[d] = -(int64_t)(h->cpus_in[d] * sw_ticks_ns(1, h->host.hz));
	if (h->whole)
		busy_ns = watched_ns;
	sum->span_ns += span_ns;
	sum->offline_ns += offline_ns;
	sum->lost_other_ns += lost_ns;
	sum->other_ns += busy_ns - watched_ns;
	sum->idle_ns += known_ns - busy_ns;
}

uint64_t sw_host_room_ns(const struct sw_host *host, unsigned domain, uint64_t t_ns)
{
	const struct host *h = (const struct host *)host;

	return h->started ? h->cpus_in[domain] * (t_ns - h->t_ns) : 0;
}

uint64_t sw_host_busy_ticks(const struct sw_host *host, unsigned domain)
{
	const struct host *h = (const struct host *)host;
	uint64_t ticks = 0;

	for (unsigned i = 0; i < h->n_cpus; i++) {
		const struct cpu *c = &h->cpu[i];

		if (c->present && (unsigned)h->domain_of[i] == domain && c->seen && c->has_base && c->new_busy > c->busy)
			ticks += c->new_busy - c->busy;
	}
	return ticks;
}

void sw_host_add(struct sw_host *host, uint64_t t_ns, const uint64_t *watched_ns)
{
	struct host *h = (struct host *)host;
	uint64_t window_ns = h->started ? t_ns - h->t_ns : 0;

	memset(h->off_in, 0, h->n_domains * sizeof(*h->off_in));
	memset(h->unknown_in, 0, h->n_domains * sizeof(*h->unknown_in));
	host->busy_raised = false;
	for (unsigned i = 0; i < h->n_cpus; i++) {
		if (!h->cpu[i].present)
			continue;
		if (h->started)
			close_cpu(h, &h->cpu[i], window_ns);
		keep_line(h, &h->cpu[i]);
	}
	for (unsigned d = 0; d < h->n_domains && h->started; d++)
		close_domain(h, d, window_ns, watched_ns[d]);
	h->t_ns = t_ns;
	h->started = true;
}

static int parse_text(struct host *h, size_t n)
{
	const char *at = h->text, *end = h->text + n;
	struct sw_cpu_times times;
	unsigned seen = 0;
	int found;

	for (unsigned i = 0; i < h->n_cpus; i++)
		h->cpu[i].seen = false;
	h->bad_lines = false;
	while ((found = sw_cpu_times_next(&at, end, &times)) != 0) {
		h->bad_lines |= found < 0;
		if (found < 0 || times.cpu < 0 || (unsigned)times.cpu >= h->n_cpus)
			continue;
		take_line(h, &times);
		seen++;
	}
	if (sw_flat_keyed_u64(h->text, n, "processes", &h->host.forks))
		h->host.forks = 0;
	return seen || h->bad_lines ? 0 : -ENODATA;
}

int sw_host_read(struct sw_host *host, struct sw_error *error)
{
	struct host *h = (struct host *)host;
	ssize_t n = read_text(h);
	int err;

	h->read_ns = sw_now_ns();
	err = n < 0 ? (int)n : parse_text(h, (size_t)n);
	if (err == -ENODATA)
		return sw_fail(error, err, "the stat file of procfs names no CPU");
	return err ? sw_fail(error, err, "cannot read the stat file of procfs: %s", strerror(-err)) : 0;
}

static int mark_present(unsigned cpu, void *ctx)
{
	struct host *h = ctx;

	if (cpu < h->n_cpus)
		h->cpu[cpu].present = true;
	return 0;
}

static int find_present(struct host *h, struct sw_error *error)
{
	char text[4096];
	int err = 0;

	if (h->host.real_procfs) {
		int fd = sw_root_open("/sys/devices/system/cpu");

		err = fd < 0 ? fd : (int)sw_file_read(fd, "present", text, sizeof(text));
		if (fd >= 0)
			close(fd);
		if (err >= 0)
			err = sw_parse_cpulist(text, UINT32_MAX, mark_present, h);
		if (err)
			return sw_fail(error, err, "cannot read /sys/devices/system/cpu/present: %s", strerror(-err));
	}
	for (unsigned i = 0; i < h->n_cpus; i++) {
		h->cpu[i].present |= !h->host.real_procfs && h->cpu[i].seen;
		if (!h->cpu[i].present)
			continue;
		h->host.cpus++;
		h->cpus_in[h->domain_of[i]]++;
	}
	return 0;
}

void sw_host_close(struct sw_host *host)
{
	struct host *h = (struct host *)host;

	if (!h)
		return;
	if (h->fd >= 0)
		close(h->fd);
	free(h->domain_of);
	free(h->cpu);
	free(h->host.domains);
	free(h->pending_ns);
	free(h->cpus_in);
	free(h->off_in);
	free(h->unknown_in);
	free(h->text);
	free(h);
}

static int allocate(struct host *h, const struct sw_cpu_config *config)
{
	h->n_cpus = config->n_cpus;
	h->n_domains = config->n_domains;
	h->domain_of = malloc(h->n_cpus * sizeof(*h->domain_of));
	h->cpu = calloc(h->n_cpus, sizeof(*h->cpu));
	h->host.domains = calloc(h->n_domains, sizeof(*h->host.domains));
	h->pending_ns = calloc(h->n_domains, sizeof(*h->pending_ns));
	h->cpus_in = calloc(h->n_domains, sizeof(*h->cpus_in));
	h->off_in = calloc(h->n_domains, sizeof(*h->off_in));
	h->unknown_in = calloc(h->n_domains, sizeof(*h->unknown_in));
	if (!h->domain_of || !h->cpu || !h->host.domains || !h->pending_ns || !h->cpus_in || !h->off_in || !h->unknown_in)
		return -ENOMEM;
	memcpy(h->domain_of, config->domain_of, h->n_cpus * sizeof(*h->domain_of));
	return 0;
}

int sw_host_open(const struct sw_cpu_config *config, bool whole, struct sw_error *error, struct sw_host **ret)
{
	struct host *h = calloc(1, sizeof(*h));
	long hz = sysconf(_SC_CLK_TCK);
	struct statfs fs;
	int err;

	if (!h)
		return sw_fail(error, -ENOMEM, "out of memory");
	h->whole = whole;
	h->host.hz = hz > 0 ? (uint64_t)hz : 100;
	h->host.real_procfs = !fstatfs(config->procfs_fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
	h->fd = openat(config->procfs_fd, "stat", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (h->fd < 0)
		err = sw_fail(error, -errno, "cannot open the stat file of procfs: %s", strerror(errno));
	else if (allocate(h, config))
		err = sw_fail(error, -ENOMEM, "out of memory for %u CPUs", config->n_cpus);
	else
		err = sw_host_read(&h->host, error);
	if (!err)
		err = find_present(h, error);
	if (err) {
		sw_host_close(&h->host);
		return err;
	}
	*ret = &h->host;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the life of the ebpf back end: opening, the scan for the members of a tree, boundaries, closing.
 * Must not know: energy; what is done with the numbers; in which way the program was attached.
 * Relies on libbpf, the kernel's task iterator (Documentation/bpf/bpf_iterators.rst).
 *
 *   open:  map sizes → load one flavour → hooks → sched_switch → scan (a tree) → every CPU begins
 *   then, per window:  announce T … T passes … sw_ebpf_read()
 */
#include "ebpf.h"

#include "../base/clock.h"
#include "../base/parse.h"
#include "../base/root.h"
#include "schedwatt.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS_MIN 64 /* what --slots may ask for, to see a table run full */
#define SLOTS_DEFAULT_MIN (16u << 10)
#define SLOTS_MAX (256u << 10)
#define SCAN_PASSES_MAX 1000
#define TEND_NS 1000000000 /* 16,384 deaths in a second are more than a fork storm brings about */

static uint32_t round_up_pow2(uint32_t n)
{
	uint32_t p = SLOTS_MIN;

	while (p < n && p < SLOTS_MAX)
		p *= 2;
	return p;
}

/* Four for each thread alive: one per domain and cgroup it runs in, and room for those that come. */
static uint32_t default_slots(int procfs_fd)
{
	char text[128], *slash;
	uint64_t threads = 0;

	if (sw_file_read(procfs_fd, "loadavg", text, sizeof(text)) > 0 && (slash = strchr(text, '/'))) {
		slash[1 + strcspn(slash + 1, " \n")] = '\0';
		if (sw_parse_u64(slash + 1, SLOTS_MAX, &threads))
			threads = 0;
	}
	threads *= 4;
	return round_up_pow2(threads < SLOTS_DEFAULT_MIN ? SLOTS_DEFAULT_MIN : threads);
}

static int read_scan(const struct sw_cpu_config *config, int fd)
{
	int32_t tids[64];
	ssize_t n;

	for (;;) {
		n = read(fd, tids, config->at_task ? sizeof(tids[0]) : sizeof(tids));
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n > 0 && config->at_task)
			config->at_task(tids[0], config->at_task_ctx);
	}
}

/* Run the iterator until a pass adds none, while the hooks look after those that it has yet to come to. */
static int scan(struct sw_ebpf *b, const struct sw_cpu_config *config)
{
	struct bpf_link *link = bpf_program__attach_iter(b->bpf->progs.scan, NULL);
	uint64_t added, remembered;
	int fd, err = 0;

	if (!link)
		return -errno;
	for (int i = 0; i < SCAN_PASSES_MAX && !err; i++) {
		added = once(b->global->added);
		remembered = once(b->global->remembered);
		fd = bpf_iter_create(bpf_link__fd(link));
		err = fd < 0 ? -errno : read_scan(config, fd);
		if (fd >= 0)
			close(fd);
		if (once(b->global->added) == added && once(b->global->remembered) == remembered)
			break;
	}
	bpf_link__destroy(link);
	b->global->scanning = 0;
	bpf_link__destroy(b->links[SW_LINK_SCAN]);
	b->links[SW_LINK_SCAN] = NULL;
	return err;
}

static int begin_cpu(unsigned cpu, void *ctx)
{
	struct sw_ebpf *b = ctx;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

	if (cpu >= b->n_cpus)
		return 0;
	if (bpf_prog_test_run_opts(b->snap_fd, &opts) && errno != ENXIO)
		return -errno;
	return 0;
}

/* Let every CPU begin. */
static int begin(struct sw_ebpf *b, struct sw_error *error)
{
	char text[4096];
	int err = sw_fd_read(b->online_fd, text, sizeof(text));

	if (err < 0)
		return sw_fail(error, err, "cannot read /sys/devices/system/cpu/online: %s", strerror(-err));
	err = sw_parse_cpulist(text, UINT32_MAX, begin_cpu, b);
	if (err)
		return sw_fail(error, err, "cannot start the BPF program on the CPUs %.*s: %s", (int)strcspn(text, "\n"), text,
			       strerror(-err));
	b->global->open = 1;
	b->clock_ahead_ns = -b->global->monotonic_ahead_ns;
	return 0;
}

static int mark_present(unsigned cpu, void *ctx)
{
	struct sw_ebpf *b = ctx;

	if (cpu < b->n_cpus) {
		b->cpu[cpu].present = true;
		b->backend.cpus++;
	}
	return 0;
}

static int count_present(struct sw_ebpf *b)
{
	char text[4096];
	int fd = open("/sys/devices/system/cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = sw_file_read(fd, "present", text, sizeof(text));
	close(fd);
	return err < 0 ? err : sw_parse_cpulist(text, UINT32_MAX, mark_present, b);
}

static void ebpf_close(struct sw_cpu_backend *backend)
{
	struct sw_ebpf *b = (struct sw_ebpf *)backend;

	if (!b)
		return;
	sw_ebpf_unload(b);
	if (b->online_fd >= 0)
		close(b->online_fd);
	if (b->stats_fd >= 0)
		close(b->stats_fd);
	free(b->domain_of);
	free(b->state);
	free(b->cpu);
	free(b->active);
	free(b->held);
	free(b->rows);
	free(b->departed);
	free(b->touched);
	free(b->infos);
	free(b->domains);
	free(b);
}

static int ebpf_open(const struct sw_cpu_config *config, struct sw_error *error, struct sw_cpu_backend **ret)
{
	struct sw_ebpf *b = calloc(1, sizeof(*b));
	int err = -ENOMEM;

	if (!b)
		return sw_fail(error, err, "out of memory");
	b->backend.ops = &sw_cpu_ebpf;
	b->stats_fd = -1;
	b->online_fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
	b->tree = config->n_pids > 0;
	b->process_scope = config->process_scope;
	b->n_cpus = config->n_cpus;
	b->n_domains = config->n_domains;
	b->n_slots = config->slots ? round_up_pow2(config->slots) : default_slots(config->procfs_fd);
	err = sw_ebpf_load(b, config, error);
	if (err)
		goto fail;
	err = -ENOMEM;
	b->domain_of = malloc(b->n_cpus * sizeof(*b->domain_of));
	b->state = calloc(b->n_slots, sizeof(*b->state));
	b->cpu = calloc(b->n_cpus, sizeof(*b->cpu));
	b->active = malloc(b->n_slots * sizeof(*b->active));
	b->domains = calloc(b->n_domains, sizeof(*b->domains));
	if (!b->domain_of || !b->state || !b->cpu || !b->active || !b->domains) {
		sw_fail(error, err, "out of memory for %u slots", b->n_slots);
		goto fail;
	}
	memcpy(b->domain_of, config->domain_of, b->n_cpus * sizeof(*b->domain_of));
	b->backend.max_keys = b->backend.slots = b->n_slots;
	b->backend.tend_ns = TEND_NS;
	err = count_present(b);
	if (err) {
		sw_fail(error, err, "cannot read /sys/devices/system/cpu/present: %s", strerror(-err));
		goto fail;
	}
	if (b->tree) {
		err = scan(b, config);
		if (err < 0) {
			sw_fail(error, err, "cannot list the tasks of the tree: %s", strerror(-err));
			goto fail;
		}
		if (!b->global->added) {
			err = sw_fail(error, -ESRCH, "no process %d", config->pids[0]);
			goto fail;
		}
	}
	err = begin(b, error);
	if (err)
		goto fail;
	*ret = &b->backend;
	return 0;
fail:
	ebpf_close(&b->backend);
	return err;
}

void sw_ebpf_set_boundary(struct sw_ebpf *b, uint64_t T)
{
	if (!b->announced)
		b->epoch++;
	if (!b->announced || T < b->T)
		b->T = T;
	b->announced = true;
	b->global->boundary[b->epoch & 1].epoch = b->epoch;
	b->global->boundary[b->epoch & 1].T = b->T;
	/* last: this one word tells the epoch */
	__atomic_store_n(&b->global->T, b->T, __ATOMIC_RELEASE);
}

static int ebpf_announce(struct sw_cpu_backend *backend, uint64_t at_ns, uint64_t *ret_t_ns, uint64_t *ret_wake_ns)
{
	struct sw_ebpf *b = (struct sw_ebpf *)backend;

	sw_ebpf_set_boundary(b, at_ns + b->clock_ahead_ns);
	*ret_t_ns = b->T;
	*ret_wake_ns = b->T - b->clock_ahead_ns;
	return 0;
}

/* Both programs that reading runs: here, and on a CPU whose state will not settle. Both only look, or charge the time. */
static int ebpf_check(struct sw_cpu_backend *backend, struct sw_error *error)
{
	struct sw_ebpf *b = (struct sw_ebpf *)backend;
	LIBBPF_OPTS(bpf_test_run_opts, here);
	int cpu = sched_getcpu(), err = 0;

	if (b->peeks && bpf_prog_test_run_opts(b->peek_fd, &here))
		err = -errno;
	if (!err && cpu >= 0)
		err = begin_cpu((unsigned)cpu, b);
	if (err)
		return sw_fail(error, err, "cannot run a loaded BPF program: %s; this kernel wants CAP_BPF for it", strerror(-err));
	return 0;
}

static int ebpf_keep_cost(struct sw_cpu_backend *backend, bool keep)
{
	struct sw_ebpf *b = (struct sw_ebpf *)backend;

	if (b->stats_fd >= 0)
		close(b->stats_fd);
	b->stats_fd = keep ? bpf_enable_stats(BPF_STATS_RUN_TIME) : -1;
	return keep && b->stats_fd < 0 ? -errno : 0;
}

static int ebpf_cost(struct sw_cpu_backend *backend, uint64_t *runs, uint64_t *run_ns)
{
	struct sw_ebpf *b = (struct sw_ebpf *)backend;
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(b->switch_fd, &info, &size))
		return -errno;
	if (size < offsetof(struct bpf_prog_info, run_cnt) + sizeof(info.run_cnt) || !info.run_cnt)
		return -ENODATA;
	*runs = info.run_cnt;
	*run_ns = info.run_time_ns;
	return 0;
}

static bool ebpf_alive(struct sw_cpu_backend *backend)
{
	struct sw_ebpf *b = (struct sw_ebpf *)backend;

	return once(b->global->held) > 0;
}

const struct sw_cpu_ops sw_cpu_ebpf = {
	.name = "ebpf",
	.quality = "exact",
	.tells_tasks = true,
	.tells_cgroups = true,
	.open = ebpf_open,
	.announce = ebpf_announce,
	.read = sw_ebpf_read,
	.tend = sw_ebpf_tend,
	.new_cgroups = sw_ebpf_new_cgroups,
	.alive = ebpf_alive,
	.check = ebpf_check,
	.keep_cost = ebpf_keep_cost,
	.cost = ebpf_cost,
	.close = ebpf_close,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: loading, attaching and starting the program of bpf/schedwatt.bpf.c, and its maps.
 * Must not know: energy; what is done with the numbers.
 * Relies on libbpf, perf_event_open(2), fsopen(2), the skeleton that bpftool makes of the program.
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
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLOTS_MIN 64 /* what --slots may ask for, to see a table run full */
#define SLOTS_DEFAULT_MIN (16u << 10)
#define SLOTS_MAX (256u << 10)
#define SCAN_PASSES_MAX 1000

/* Ways to load, best first. In the last, fields are read by helper: for kernels before 5.11, and where typed programs
 * are refused. */
struct way {
	uint32_t hook; /* enum sw_hook of the public header */
	const char *name;
	bool direct;
	bool raw_hooks;
};

static const struct way ways[] = {
	{1, "tp_btf", true, false},  {1, "tp_btf", false, false},   {2, "raw_tp", true, false},
	{2, "raw_tp", false, true}, {3, "tracepoint", true, false}, {3, "tracepoint", false, true},
};

/* libbpf's callback has no context of ours: the last line it said on this thread. */
static _Thread_local char libbpf_said[256];

static int keep_message(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level == LIBBPF_WARN)
		vsnprintf(libbpf_said, sizeof(libbpf_said), format, args);
	libbpf_said[strcspn(libbpf_said, "\n")] = '\0';
	return 0;
}

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

static size_t array_size(const struct bpf_map *map)
{
	size_t stride = (bpf_map__value_size(map) + 7) & ~(size_t)7, page = sysconf(_SC_PAGESIZE);

	return (stride * bpf_map__max_entries(map) + page - 1) & ~(page - 1);
}

static void *map_array(const struct bpf_map *map, size_t *ret_size)
{
	void *p;

	*ret_size = array_size(map);
	p = mmap(NULL, *ret_size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	return p == MAP_FAILED ? NULL : p;
}

static void unload(struct sw_ebpf *b)
{
	for (size_t i = 0; i < sizeof(b->links) / sizeof(b->links[0]); i++) {
		bpf_link__destroy(b->links[i]);
		b->links[i] = NULL;
	}
	if (b->cpus)
		munmap(b->cpus, b->cpus_size);
	if (b->slots)
		munmap(b->slots, b->slots_size);
	if (b->cold)
		munmap(b->cold, b->cold_size);
	b->cpus = NULL;
	b->slots = NULL;
	b->cold = NULL;
	schedwatt_bpf__destroy(b->bpf);
	b->bpf = NULL;
}

/* Choose the programs of one way. peek is left out where it is refused: its check is worth having, not needed. */
static struct bpf_program *choose(struct sw_ebpf *b, const struct way *way, bool peeks)
{
	struct schedwatt_bpf *s = b->bpf;
	struct bpf_program *p, *on_switch = way->hook == 1 ? s->progs.switch_btf
					  : way->hook == 2 ? s->progs.switch_raw
							   : s->progs.switch_tp;

	bpf_object__for_each_program(p, s->obj)
		bpf_program__set_autoload(p, false);
	bpf_program__set_autoload(on_switch, true);
	bpf_program__set_autoload(s->progs.snap, true);
	bpf_program__set_autoload(s->progs.peek, peeks);
	bpf_program__set_autoload(way->raw_hooks ? s->progs.exec_raw : s->progs.exec_btf, true);
	if (b->tree) {
		bpf_program__set_autoload(way->raw_hooks ? s->progs.newtask_raw : s->progs.newtask_btf, true);
		bpf_program__set_autoload(s->progs.scan, true);
	}
	return on_switch;
}

static void configure(struct sw_ebpf *b, const struct sw_cpu_config *config, const struct way *way, bool peeks)
{
	struct schedwatt_bpf *s = b->bpf;

	s->rodata->cfg_tree = b->tree;
	s->rodata->cfg_direct = way->direct;
	s->rodata->cfg_probe = peeks;
	s->rodata->cfg_by_tid = b->by_tid;
	s->rodata->cfg_slot_mask = b->n_slots - 1;
	s->rodata->cfg_cpus = b->n_cpus;
	s->rodata->cfg_drop_every = config->drop_every;
	s->rodata->cfg_roots = config->n_pids;
	for (size_t i = 0; i < config->n_pids; i++)
		s->rodata->cfg_root[i] = config->pids[i];
	bpf_map__set_max_entries(s->maps.cpus, b->n_cpus);
	bpf_map__set_max_entries(s->maps.slots, b->n_slots);
	bpf_map__set_max_entries(s->maps.cold, b->n_slots);
	bpf_map__set_max_entries(s->maps.filter, b->tree ? b->n_slots / 2 : 1);
}

/*
 * The id of the classic event. Where tracefs is mounted nowhere, a mount that is attached nowhere shows it too, and is
 * gone with its descriptor.
 */
static int event_id(uint64_t *ret)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	const char *path = "events/sched/sched_switch/id";
	int err = -ENOENT, fs, fd;

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]) && err; i++) {
		fd = open(roots[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			continue;
		err = sw_file_read_u64(fd, path, UINT32_MAX, ret);
		close(fd);
	}
	if (!err)
		return 0;
	fs = fsopen("tracefs", FSOPEN_CLOEXEC);
	if (fs < 0)
		return -errno;
	fd = fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) ? -1 : fsmount(fs, FSMOUNT_CLOEXEC, 0);
	err = fd < 0 ? -errno : sw_file_read_u64(fd, path, UINT32_MAX, ret);
	if (fd >= 0)
		close(fd);
	close(fs);
	return err;
}

static int attach_classic(struct sw_ebpf *b, struct bpf_program *p)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .type = PERF_TYPE_TRACEPOINT};
	uint64_t id;
	int err = event_id(&id), fd;

	if (err)
		return err;
	attr.config = id;
	/* one event on any CPU is enough: a program is attached to the tracepoint, not to the event's CPU */
	fd = syscall(SYS_perf_event_open, &attr, -1, sched_getcpu(), -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	b->links[0] = bpf_program__attach_perf_event(p, fd);
	if (!b->links[0]) {
		err = -errno;
		close(fd);
		return err;
	}
	return 0;
}

static int attach_one(struct bpf_link **link, struct bpf_program *p)
{
	*link = bpf_program__attach(p);
	return *link ? 0 : -errno;
}

/* The hooks first: a child born between the scan and its parent's mark must not be missed. */
static int attach(struct sw_ebpf *b, const struct way *way, struct bpf_program *on_switch)
{
	struct schedwatt_bpf *s = b->bpf;
	int err = attach_one(&b->links[1], way->raw_hooks ? s->progs.exec_raw : s->progs.exec_btf);

	if (!err && b->tree)
		err = attach_one(&b->links[2], way->raw_hooks ? s->progs.newtask_raw : s->progs.newtask_btf);
	if (err)
		return err;
	return way->hook == 3 ? attach_classic(b, on_switch) : attach_one(&b->links[0], on_switch);
}

static int load_way(struct sw_ebpf *b, const struct sw_cpu_config *config, const struct way *way, bool peeks)
{
	struct bpf_program *on_switch;
	int err;

	b->by_tid = way->hook == 3;
	b->bpf = schedwatt_bpf__open();
	if (!b->bpf)
		return -errno;
	on_switch = choose(b, way, peeks);
	configure(b, config, way, peeks);
	err = schedwatt_bpf__load(b->bpf);
	if (err)
		goto fail;
	err = -ENOMEM;
	b->cpus = map_array(b->bpf->maps.cpus, &b->cpus_size);
	b->slots = map_array(b->bpf->maps.slots, &b->slots_size);
	b->cold = map_array(b->bpf->maps.cold, &b->cold_size);
	if (!b->cpus || !b->slots || !b->cold)
		goto fail;
	for (unsigned i = 0; i < b->n_cpus; i++) {
		b->cpus[i].domain = config->domain_of[i];
		b->cpus[i].epoch = 1; /* 0 is a slot's that was never on a list */
	}
	b->global = &b->bpf->data_g->swa_global;
	b->switch_fd = bpf_program__fd(on_switch);
	b->snap_fd = bpf_program__fd(b->bpf->progs.snap);
	b->peek_fd = peeks ? bpf_program__fd(b->bpf->progs.peek) : -1;
	b->peeks = peeks;
	b->backend.hook = way->name;
	err = attach(b, way, on_switch);
	if (!err)
		return 0;
fail:
	unload(b);
	return err;
}

/* Memory for the maps may be refused (8 MiB of it before 5.11, and then as EPERM): half as many slots may do. */
static int load_sized(struct sw_ebpf *b, const struct sw_cpu_config *config, const struct way *way, bool peeks)
{
	uint32_t wanted = b->n_slots;
	int err;

	while ((err = load_way(b, config, way, peeks)) && b->n_slots > 1024 &&
	       (err == -ENOMEM || (err == -EPERM && strstr(libbpf_said, "failed to create"))))
		b->n_slots /= 2;
	if (err)
		b->n_slots = wanted;
	return err;
}

static bool lockdown_is_confidentiality(void)
{
	char text[128] = "";
	int fd = open("/sys/kernel/security/lockdown", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	sw_fd_read(fd, text, sizeof(text));
	close(fd);
	return strstr(text, "[confidentiality]");
}

static bool has_btf(void)
{
	struct stat st;

	return !stat("/sys/kernel/btf/vmlinux", &st) && S_ISREG(st.st_mode) && st.st_size > 0;
}

/* Say in words what an errno of loading or attaching means here, and what to do. */
static int explain(struct sw_error *error, int err)
{
	if (!has_btf())
		return sw_fail(error, -ENOTSUP,
			       "this kernel has no BTF (/sys/kernel/btf/vmlinux is missing or empty); use a kernel built "
			       "with CONFIG_DEBUG_INFO_BTF=y");
	if (err == -EPERM && lockdown_is_confidentiality())
		return sw_fail(error, err, "kernel lockdown is in confidentiality mode and refuses the BPF program (%s); "
					   "boot with lockdown=integrity or none", libbpf_said);
	if (err == -EPERM)
		return sw_fail(error, err, "not permitted to load BPF programs; run as root, or with the capabilities "
					   "CAP_BPF and CAP_PERFMON (CAP_SYS_ADMIN before kernel 5.8); before 5.11 a "
					   "small RLIMIT_MEMLOCK (ulimit -l) shows so, too");
	if (err == -EACCES)
		return sw_fail(error, err, "access denied while loading the BPF program (%s); if this runs as root, a "
					   "security module such as SELinux or AppArmor forbids it", libbpf_said);
	if (err == -ENOMEM)
		return sw_fail(error, err, "no memory for the BPF maps; ask for fewer with --slots, or raise "
					   "RLIMIT_MEMLOCK (ulimit -l)");
	return sw_fail(error, err, "the BPF program cannot be loaded or attached: %s (%s)",
		       err == -524 ? "not supported by this kernel (ENOTSUPP)" : strerror(-err), libbpf_said);
}

static int load(struct sw_ebpf *b, const struct sw_cpu_config *config, struct sw_error *error)
{
	libbpf_print_fn_t before = libbpf_set_print(keep_message);
	int err = -ENOTSUP, first = 0;
	bool done = false;

	for (size_t i = 0; i < 2 * sizeof(ways) / sizeof(ways[0]) && !done; i++) {
		const struct way *way = &ways[i / 2];
		bool peeks = i % 2 == 0;

		if (config->hook && config->hook != way->hook)
			continue;
		if (!has_btf())
			break;
		err = load_sized(b, config, way, peeks);
		if (err && !first) {
			first = err;
			explain(error, err);
		}
		done = !err || err == -EPERM || err == -ENOMEM; /* other ways would be refused likewise */
	}
	libbpf_set_print(before);
	if (!err)
		return 0;
	return first ? first : explain(error, err);
}

/* Run the iterator until a pass adds none. Positive: how many tasks were marked. */
static int scan(struct sw_ebpf *b)
{
	struct bpf_link *link = bpf_program__attach_iter(b->bpf->progs.scan, NULL);
	uint64_t before;
	char nothing[64];
	int fd, err = 0;

	if (!link)
		return -errno;
	for (int i = 0; i < SCAN_PASSES_MAX; i++) {
		before = b->global->added;
		fd = bpf_iter_create(bpf_link__fd(link));
		if (fd < 0) {
			err = -errno;
			break;
		}
		while ((err = read(fd, nothing, sizeof(nothing))) > 0 || (err < 0 && (errno == EINTR || errno == EAGAIN)))
			;
		err = err < 0 ? -errno : 0;
		close(fd);
		if (err || b->global->added == before)
			break;
	}
	bpf_link__destroy(link);
	return err ? err : (int)b->global->added;
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

/* Let every CPU begin, and find out by how much the program's clock is ahead of ours. */
static int begin(struct sw_ebpf *b, struct sw_error *error)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	uint64_t best = UINT64_MAX;
	char text[4096];
	int err = sw_fd_read(b->online_fd, text, sizeof(text));

	if (err < 0)
		return sw_fail(error, err, "cannot read /sys/devices/system/cpu/online: %s", strerror(-err));
	err = sw_parse_cpulist(text, UINT32_MAX, begin_cpu, b);
	if (err)
		return sw_fail(error, err, "cannot start the BPF program on the CPUs %.*s: %s", (int)strcspn(text, "\n"), text,
			       strerror(-err));
	b->global->open = 1;
	for (int i = 0; i < 10 && b->peeks; i++) {
		uint64_t before = sw_now_ns(), after;

		if (bpf_prog_test_run_opts(b->peek_fd, &opts))
			return sw_fail(error, -errno, "cannot run the BPF program: %s", strerror(errno));
		after = sw_now_ns();
		if (after - before < best) {
			best = after - before;
			b->clock_ahead_ns = (int64_t)(b->global->now_ns - (before + after) / 2);
		}
	}
	/* an offset of a time namespace is set by hand: what is within the bracket is none */
	if (b->clock_ahead_ns < 1000000 && b->clock_ahead_ns > -1000000)
		b->clock_ahead_ns = 0;
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
	unload(b);
	if (b->online_fd >= 0)
		close(b->online_fd);
	free(b->domain_of);
	free(b->state);
	free(b->cpu);
	free(b->active);
	free(b->held);
	free(b->rows);
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
	b->online_fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
	b->tree = config->n_pids > 0;
	b->n_cpus = config->n_cpus;
	b->n_domains = config->n_domains;
	b->n_slots = config->slots ? round_up_pow2(config->slots) : default_slots(config->procfs_fd);
	if (config->n_pids > 64) {
		err = sw_fail(error, -E2BIG, "%zu pids are more than 64; watch a common ancestor or the whole host",
			      config->n_pids);
		goto fail;
	}
	err = load(b, config, error);
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
	b->backend.max_keys = b->n_slots;
	err = count_present(b);
	if (err) {
		sw_fail(error, err, "cannot read /sys/devices/system/cpu/present: %s", strerror(-err));
		goto fail;
	}
	if (b->tree) {
		err = scan(b);
		if (err < 0) {
			sw_fail(error, err, "cannot list the tasks of the tree: %s", strerror(-err));
			goto fail;
		}
		if (!err) {
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

static int ebpf_announce(struct sw_cpu_backend *backend, uint64_t lead_ns, uint64_t *ret_t_ns, uint64_t *ret_wake_ns)
{
	struct sw_ebpf *b = (struct sw_ebpf *)backend;
	uint64_t T = sw_now_ns() + b->clock_ahead_ns + lead_ns;

	if (!b->announced)
		b->epoch++;
	if (!b->announced || T < b->T)
		b->T = T;
	b->announced = true;
	b->global->boundary[b->epoch & 1].epoch = b->epoch;
	b->global->boundary[b->epoch & 1].T = b->T;
	/* last: this one word tells the epoch */
	__atomic_store_n(&b->global->T, b->T, __ATOMIC_RELEASE);
	*ret_t_ns = b->T;
	*ret_wake_ns = b->T - b->clock_ahead_ns;
	return 0;
}

const struct sw_cpu_ops sw_cpu_ebpf = {
	.name = "ebpf",
	.quality = "exact",
	.open = ebpf_open,
	.announce = ebpf_announce,
	.read = sw_ebpf_read,
	.close = ebpf_close,
};

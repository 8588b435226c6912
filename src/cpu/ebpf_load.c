/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: loading and attaching the program of bpf/schedwatt.bpf.c in the best way that this kernel takes, and its maps.
 * Must not know: what is read from the maps, energy.
 * Relies on libbpf, perf_event_open(2), fsopen(2), the skeleton that bpftool makes of the program.
 */
#include "ebpf.h"

#include "../base/parse.h"
#include "../base/root.h"
#include "schedwatt.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GROUPS SW_EBPF_GROUPS
#define BEREAVED 8192 /* tasks that may lose their parents while the scan goes on */

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

void sw_ebpf_unload(struct sw_ebpf *b)
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
	if (b->groups)
		munmap(b->groups, b->groups_size);
	b->cpus = NULL;
	b->slots = NULL;
	b->cold = NULL;
	b->groups = NULL;
	schedwatt_bpf__destroy(b->bpf);
	b->bpf = NULL;
}

/*
 * Choose the programs of one way. Those that read any memory by helper are left out where that is refused: what they
 * check and tell is worth having, but only a tree needs it.
 */
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
	bpf_program__set_autoload(s->progs.ask, peeks);
	bpf_program__set_autoload(s->progs.self, peeks);
	bpf_program__set_autoload(way->raw_hooks ? s->progs.exec_raw : s->progs.exec_btf, true);
	bpf_program__set_autoload(way->raw_hooks ? s->progs.newtask_raw : s->progs.newtask_btf, true);
	bpf_program__set_autoload(s->progs.scan, b->tree);
	bpf_program__set_autoload(s->progs.bereave, b->tree && !b->process_scope);
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
	s->rodata->cfg_process = b->process_scope;
	s->rodata->cfg_group_mask = GROUPS - 1;
	s->rodata->cfg_tell_tasks = config->at_task != NULL;
	bpf_map__set_max_entries(s->maps.cpus, b->n_cpus);
	bpf_map__set_max_entries(s->maps.slots, b->n_slots);
	bpf_map__set_max_entries(s->maps.cold, b->n_slots);
	bpf_map__set_max_entries(s->maps.filter, b->tree ? b->n_slots / 2 : 1);
	bpf_map__set_max_entries(s->maps.groups, GROUPS);
	bpf_map__set_max_entries(s->maps.roots, b->tree ? config->n_pids : 1);
	bpf_map__set_max_entries(s->maps.bereaved, b->tree && !b->process_scope ? BEREAVED : 1);
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

struct bpf_link *sw_ebpf_attach_classic(struct bpf_program *p)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .type = PERF_TYPE_TRACEPOINT};
	struct bpf_link *link;
	uint64_t id;
	int err = event_id(&id), fd;

	if (err) {
		errno = -err;
		return NULL;
	}
	attr.config = id;
	/* one event on any CPU is enough: a program is attached to the tracepoint, not to the event's CPU */
	fd = syscall(SYS_perf_event_open, &attr, -1, sched_getcpu(), -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return NULL;
	link = bpf_program__attach_perf_event(p, fd);
	if (!link) {
		err = errno;
		close(fd);
		errno = err;
	}
	return link;
}

static int attach_one(struct bpf_link **ret, struct bpf_link *link)
{
	*ret = link;
	return link ? 0 : -errno;
}

/* The hooks first: a child born between the scan and its parent's mark must not be missed. */
static int attach(struct sw_ebpf *b, const struct way *way, struct bpf_program *on_switch)
{
	struct schedwatt_bpf *s = b->bpf;
	int err = attach_one(&b->links[1], bpf_program__attach(way->raw_hooks ? s->progs.exec_raw : s->progs.exec_btf));

	b->global->scanning = b->tree;
	if (!err && b->tree && !b->process_scope)
		err = attach_one(&b->links[SW_LINK_SCAN], bpf_program__attach(s->progs.bereave));
	if (!err)
		err = attach_one(&b->links[2],
				 bpf_program__attach(way->raw_hooks ? s->progs.newtask_raw : s->progs.newtask_btf));
	if (err)
		return err;
	return attach_one(&b->links[0],
			  way->hook == 3 ? sw_ebpf_attach_classic(on_switch) : bpf_program__attach(on_switch));
}

/* What the hooks have to know before they are attached: in which namespaces we live, and who is watched. */
static int prepare(struct sw_ebpf *b, const struct sw_cpu_config *config)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	uint32_t nothing = 0;

	if (b->peeks && bpf_prog_test_run_opts(bpf_program__fd(b->bpf->progs.self), &opts))
		return -errno;
	for (size_t i = 0; i < config->n_pids; i++)
		if (bpf_map__update_elem(b->bpf->maps.roots, &config->pids[i], sizeof(config->pids[i]), &nothing,
					 sizeof(nothing), BPF_ANY))
			return -errno;
	return 0;
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
	b->groups = map_array(b->bpf->maps.groups, &b->groups_size);
	if (!b->cpus || !b->slots || !b->cold || !b->groups)
		goto fail;
	for (unsigned i = 0; i < b->n_cpus; i++) {
		b->cpus[i].domain = config->domain_of[i];
		b->cpus[i].epoch = 1; /* 0 is a slot's that was never on a list */
	}
	b->global = &b->bpf->data_g->swa_global;
	b->switch_fd = bpf_program__fd(on_switch);
	b->snap_fd = bpf_program__fd(b->bpf->progs.snap);
	b->peek_fd = peeks ? bpf_program__fd(b->bpf->progs.peek) : -1;
	b->ask_fd = peeks ? bpf_program__fd(b->bpf->progs.ask) : -1;
	b->asked = &b->bpf->data_a->swa_asked;
	b->peeks = peeks;
	b->backend.hook = way->name;
	err = prepare(b, config);
	if (!err)
		err = attach(b, way, on_switch);
	if (!err)
		return 0;
fail:
	sw_ebpf_unload(b);
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

/* What was refused on the way to the one that loads. */
static void tell_without(struct sw_ebpf *b, const struct way *way, uint32_t wanted_slots)
{
	char slots[96] = "";

	if (b->n_slots < wanted_slots)
		snprintf(slots, sizeof(slots), "; memory for %u slots was refused, and there are %u", wanted_slots,
			 b->n_slots);
	snprintf(b->without, sizeof(b->without), "%s%s%s",
		 way->direct ? "" : "; fields of the kernel are read by a helper, which makes each switch dearer",
		 b->peeks ? "" : "; programs that read any memory are refused, so that trees cannot be followed and what each "
				 "CPU really runs goes unchecked",
		 slots);
	b->backend.without = b->without[0] ? b->without + strlen("; ") : NULL;
}

static uint64_t map_bytes(const struct schedwatt_bpf *s)
{
	const struct bpf_map *map;
	uint64_t bytes = 0;

	bpf_object__for_each_map(map, s->obj)
		bytes += array_size(map);
	return bytes;
}

static int load_any(struct sw_ebpf *b, const struct sw_cpu_config *config, struct sw_error *error)
{
	uint32_t wanted_slots = b->n_slots;
	int err = -ENOTSUP, first = 0;
	bool done = false;

	for (size_t i = 0; i < 2 * sizeof(ways) / sizeof(ways[0]) && !done; i++) {
		const struct way *way = &ways[i / 2];
		bool peeks = i % 2 == 0;

		if ((config->hook && config->hook != way->hook) || (b->tree && !peeks))
			continue;
		if (!has_btf())
			break;
		err = load_sized(b, config, way, peeks);
		if (!err)
			tell_without(b, way, wanted_slots);
		if (err && !first) {
			first = err;
			explain(error, err);
		}
		done = !err || err == -EPERM || err == -ENOMEM; /* other ways would be refused likewise */
	}
	if (err)
		return first ? first : explain(error, err);
	b->backend.memory_bytes = map_bytes(b->bpf);
	return 0;
}

int sw_ebpf_load(struct sw_ebpf *b, const struct sw_cpu_config *config, struct sw_error *error)
{
	/* libbpf has one place for all threads that says where its words go: loads take turns at it */
	static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
	libbpf_print_fn_t before;
	int err;

	pthread_mutex_lock(&turn);
	before = libbpf_set_print(keep_message);
	err = load_any(b, config, error);
	libbpf_set_print(before);
	pthread_mutex_unlock(&turn);
	return err;
}

/* Those that do not have bpf_ktime_get_coarse_ns(), which came with the charge to cgroups (Linux 5.11). */
int sw_cpu_charges_memlock(void)
{
	return !libbpf_probe_bpf_helper(BPF_PROG_TYPE_SOCKET_FILTER, BPF_FUNC_ktime_get_coarse_ns, NULL);
}

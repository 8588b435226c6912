/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: attaching and detaching what is measured. Must not know: the workload.
 * Relies on: src/cpu/ebpf.h (the insides of the back end that the library hands out).
 *
 * After a new attachment a CPU's state is stale: its first switch counts as missed. Workloads warm up.
 */
#include "variant.h"

#include "base/parse.h"
#include "base/root.h"
#include "floor.skel.h"
#include "load.h"
#include "schedwatt.skel.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTSIDER_SECONDS 1800

struct floors {
	struct floor_bpf *skeleton;
};

int floors_open(struct floors **ret)
{
	struct floors *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->skeleton = floor_bpf__open_and_load();
	if (!f->skeleton) {
		int err = -errno;

		free(f);
		return err;
	}
	*ret = f;
	return 0;
}

void floors_close(struct floors *f)
{
	if (!f)
		return;
	floor_bpf__destroy(f->skeleton);
	free(f);
}

int backend_open_by(const struct sw_cpu_ops *ops, struct sw_cpu_config config, struct sw_error *error,
		    struct sw_cpu_backend **ret)
{
	int n_cpus = sw_cpu_possible(error), err;
	int16_t *domain_of = n_cpus > 0 ? calloc(n_cpus, sizeof(*domain_of)) : NULL;

	config.domain_of = domain_of;
	config.n_cpus = n_cpus;
	config.n_domains = 1;
	config.procfs_fd = sw_root_open("/proc");
	if (n_cpus < 0)
		err = n_cpus;
	else if (!domain_of || config.procfs_fd < 0)
		err = sw_fail(error, -ENOMEM, "out of memory, or no /proc");
	else
		err = ops->open(&config, error, ret);
	free(domain_of);
	if (config.procfs_fd >= 0)
		close(config.procfs_fd);
	return err;
}

int backend_open(uint32_t hook, uint32_t slots, const int32_t *pids, size_t n_pids, struct sw_error *error,
		 struct sw_ebpf **ret)
{
	const struct sw_cpu_config config = {.pids = pids, .n_pids = n_pids, .slots = slots, .hook = hook};
	struct sw_cpu_backend *backend;
	int err = backend_open_by(&sw_cpu_ebpf, config, error, &backend);

	if (!err)
		*ret = (struct sw_ebpf *)backend;
	return err;
}

void backend_close(struct sw_ebpf *b)
{
	sw_cpu_ebpf.close(b ? &b->backend : NULL);
}

static struct bpf_program *floor_program(const struct floor_bpf *s, const struct variant *v)
{
	switch (v->flavour) {
	case BTF:
		return v->kind == EMPTY ? s->progs.empty_btf : s->progs.clock_btf;
	case RAW:
		return v->kind == EMPTY ? s->progs.empty_raw : s->progs.clock_raw;
	case CLASSIC:
		return v->kind == EMPTY ? s->progs.empty_tp : s->progs.clock_tp;
	}
	return NULL;
}

int variant_open(struct variant *v, struct floors *f, struct sw_error *error)
{
	int32_t root = getpid();
	int err;

	if (v->kind == NOTHING)
		return 0;
	if (v->kind == EMPTY || v->kind == CLOCK) {
		v->program = floor_program(f->skeleton, v);
		return 0;
	}
	if (v->kind == TREE_OUTSIDE) {
		v->outsider = child_fork(OUTSIDER_SECONDS);
		if (v->outsider < 0)
			return sw_fail(error, v->outsider, "fork: %s", strerror(-v->outsider));
		while (!v->outsider)
			pause();
		root = v->outsider;
	}
	err = backend_open(v->flavour, 0, &root, v->kind == HOST ? 0 : 1, error, &v->backend);
	if (err) {
		variant_close(v);
		return err;
	}
	v->program = v->flavour == BTF   ? v->backend->bpf->progs.switch_btf
		     : v->flavour == RAW ? v->backend->bpf->progs.switch_raw
					 : v->backend->bpf->progs.switch_tp;
	variant_detach(v);
	return 0;
}

void variant_close(struct variant *v)
{
	variant_detach(v);
	backend_close(v->backend);
	v->backend = NULL;
	if (v->outsider > 0)
		child_end(v->outsider, SIGKILL);
	v->outsider = 0;
}

int variant_attach(struct variant *v)
{
	struct bpf_link *link;

	if (v->kind == NOTHING)
		return 0;
	link = v->flavour == CLASSIC ? sw_ebpf_attach_classic(v->program) : bpf_program__attach(v->program);
	if (!link)
		return -errno;
	*(v->backend ? &v->backend->links[0] : &v->link) = link;
	return 0;
}

void variant_detach(struct variant *v)
{
	struct bpf_link **link = v->backend ? &v->backend->links[0] : &v->link;

	bpf_link__destroy(*link);
	*link = NULL;
}

uint64_t variant_charged_ns(const struct variant *v, const pid_t tids[2])
{
	const struct sw_ebpf *b = v->backend;
	uint64_t sum = 0;

	if (!b)
		return 0;
	for (uint32_t n = SWB_FIRST_SLOT; n < b->n_slots; n++)
		if (b->slots[n].tid == (uint32_t)tids[0] || b->slots[n].tid == (uint32_t)tids[1])
			sum += b->slots[n].acc_ns;
	return sum;
}

bool variant_tidy(struct variant *v)
{
	struct sw_ebpf *b = v->backend;
	uint32_t claimed = 0;

	if (!b)
		return true;
	for (uint32_t n = SWB_FIRST_SLOT; n < b->n_slots; n++) {
		struct swb_slot *s = &b->slots[n];

		if (s->claim && s->dead)
			__atomic_sub_fetch(&s->claim, 1, __ATOMIC_RELEASE);
		claimed += s->claim != 0;
	}
	return claimed <= b->n_slots / 4;
}

/* fdinfo says what the kernel itself counts: Documentation/bpf, kernel/bpf/syscall.c (bpf_map_show_fdinfo). */
uint64_t backend_map_bytes(const struct sw_ebpf *b)
{
	const struct bpf_map *map;
	uint64_t sum = 0, bytes;
	char path[64], text[1024], *line;
	int fd = sw_root_open("/proc/self/fdinfo");

	bpf_object__for_each_map(map, b->bpf->obj) {
		snprintf(path, sizeof(path), "%d", bpf_map__fd(map));
		if (fd < 0 || sw_file_read(fd, path, text, sizeof(text)) < 0)
			continue;
		line = strstr(text, "memlock:");
		if (!line)
			continue;
		line += strlen("memlock:");
		line += strspn(line, " \t");
		line[strcspn(line, "\n")] = '\0';
		if (!sw_parse_u64(line, UINT64_MAX, &bytes))
			sum += bytes;
	}
	if (fd >= 0)
		close(fd);
	return sum;
}

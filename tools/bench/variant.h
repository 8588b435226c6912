/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can be attached to sched_switch while a workload runs: nothing, a floor, or schedwatt's own program. All are
 * loaded once and stay loaded; only the attachment comes and goes.
 */
#ifndef BENCH_VARIANT_H
#define BENCH_VARIANT_H

#include "cpu/ebpf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum flavour { BTF = 1, RAW = 2, CLASSIC = 3 }; /* as enum sw_hook numbers them */
enum variant_kind { NOTHING, EMPTY, CLOCK, HOST, TREE_INSIDE, TREE_OUTSIDE };

struct bpf_program;
struct bpf_link;

struct variant {
	const char *name;
	enum variant_kind kind;
	enum flavour flavour;
	struct bpf_program *program;
	struct bpf_link *link; /* of a floor; schedwatt's is the back end's own */
	struct sw_ebpf *backend;
	pid_t outsider; /* root of the tree whose outside is measured */
};

/* The floors' programs, loaded. */
struct floors;
int floors_open(struct floors **ret);
void floors_close(struct floors *f);

/* Load a variant and leave it unattached. -errno, with the reason in `error`. The tree inside is the caller's own. */
int variant_open(struct variant *v, struct floors *f, struct sw_error *error);
void variant_close(struct variant *v);

int variant_attach(struct variant *v);
void variant_detach(struct variant *v);

/* What schedwatt has charged so far to those two tasks. So a bench sees that it measured one at work. */
uint64_t variant_charged_ns(const struct variant *v, const pid_t tids[2]);

/* Nobody reads these tables: free what died. False: it fills up with tasks whose end was not seen, so open it anew. */
bool variant_tidy(struct variant *v);

/*
 * Open a back end on this machine, all CPUs in one domain: fills in what of `config` is about the machine. 0, or as
 * ops->open() says, in words.
 */
int backend_open_by(const struct sw_cpu_ops *ops, struct sw_cpu_config config, struct sw_error *error,
		    struct sw_cpu_backend **ret);

/* BPF's over the whole host (n_pids 0) or trees, domains left out. */
int backend_open(uint32_t hook, uint32_t slots, const int32_t *pids, size_t n_pids, struct sw_error *error,
		 struct sw_ebpf **ret);
void backend_close(struct sw_ebpf *b);

/* Bytes that the kernel holds for its maps. */
uint64_t backend_map_bytes(const struct sw_ebpf *b);

#endif

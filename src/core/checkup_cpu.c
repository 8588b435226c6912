/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which hooks attach, which sources of CPU time open, and what the kernel's tables take. Must not know: how any of
 * them works. Relies on: sw_cpu_open() being what a monitor opens them by; each is closed again at once.
 */
#include "checkup.h"

#include "../cpu/backend.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRACING (UINT64_C(1) << SW_CAP_BPF | UINT64_C(1) << SW_CAP_PERFMON)

/* What came of an attempt to open a back end. */
struct attempt {
	int err;
	struct sw_error error; /* why it did not open */
	const char *name, *quality;
	char words[512]; /* what to know of one that did; "": nothing */
	uint32_t slots;
	uint64_t memory_bytes;
};

static void no_need(const char *name, const char *reason, void *ctx)
{
	(void)name;
	(void)reason;
	(void)ctx;
}

/* For the host, or for a process; `name` NULL: the first that opens. */
static struct attempt try_open(const struct sw_machine *m, const char *name, int32_t pid, uint32_t hook)
{
	const struct sw_cpu_config config = {
		.domain_of = m->topology.domain_of,
		.n_cpus = m->topology.n_cpus,
		.n_domains = m->topology.n_domains,
		.pids = pid ? &pid : NULL,
		.n_pids = pid ? 1 : 0,
		.cgroupfs = m->cgroupfs.fd >= 0 ? &m->cgroupfs : NULL,
		.any = !name,
		.slots = m->slots,
		.hook = hook,
		.procfs_fd = m->procfs_fd,
	};
	struct sw_cpu_backend *b = NULL;
	struct attempt a = { .err = 0 };

	a.err = sw_cpu_open(name, &config, no_need, NULL, &a.error, &b);
	if (a.err)
		return a;
	a.name = b->ops->name;
	a.quality = b->ops->quality;
	a.slots = b->slots;
	a.memory_bytes = b->memory_bytes;
	snprintf(a.words, sizeof(a.words), "%s%s%s", b->note ? b->note : "", b->note && b->without ? "; " : "",
		 b->without ? b->without : "");
	b->ops->close(b);
	return a;
}

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

/* Where the kernel refuses BPF; the reason is told in the attempt's own words. */
static const char *bpf_remedy(const struct sw_machine *m, const struct attempt *a)
{
	const char *privileged = sw_privileges_remedy(&m->privileges, TRACING);
	struct stat st;

	if (fstatat(m->kernel_sysfs_fd, "kernel/btf/vmlinux", &st, 0) || !st.st_size)
		return "use a kernel built with CONFIG_DEBUG_INFO_BTF=y";
	if ((a->err == -EPERM || a->err == -EACCES) && privileged)
		return privileged;
	if (a->err == -EPERM || a->err == -EACCES)
		return "let a container's seccomp filter, and SELinux or AppArmor, allow bpf(2) and perf_event_open(2) to this "
		       "program";
	if (a->err == -ENOMEM)
		return "ask for fewer with --slots N, or give more memory (its cgroup's; before Linux 5.11, ulimit -l)";
	return "report this, with what schedwatt doctor -f jsonl prints";
}

static void check_hooks(struct sw_checkup_store *s, const struct sw_machine *m)
{
	static const struct {
		const char *name;
		uint32_t hook;
	} hooks[] = { { "tp_btf", SW_HOOK_TP_BTF }, { "raw_tp", SW_HOOK_RAW_TP }, { "tracepoint", SW_HOOK_TP } };
	const char *first = NULL;
	char enough[64];

	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		const struct attempt a = try_open(m, "ebpf", 0, hooks[i].hook);

		if (!a.err) {
			first = first ? first : hooks[i].name;
			sw_checkup_add(s, "hook", hooks[i].name, SW_CHECK_WORKS, "loads and attaches", or_null(a.words),
				       NULL);
			continue;
		}
		snprintf(enough, sizeof(enough), "none is needed: %s attaches", first ? first : "");
		sw_checkup_add(s, "hook", hooks[i].name, SW_CHECK_LACKS, NULL, a.error.text,
			       first ? enough : bpf_remedy(m, &a));
	}
}

static void check_tree(struct sw_checkup_store *s, const struct sw_machine *m, const struct attempt *a)
{
	if (!a->err)
		sw_checkup_add(s, "hook", "tree", SW_CHECK_WORKS, "follows forks, and lists the tasks that run already",
			       or_null(a->words), NULL);
	else
		sw_checkup_add(s, "hook", "tree", SW_CHECK_LACKS, NULL, a->error.text, bpf_remedy(m, a));
}

static const char *backend_remedy(const struct sw_checkup_store *s, const struct sw_machine *m, const char *name,
				  const struct attempt *a, char *text, size_t size)
{
	if (!strcmp(name, "ebpf"))
		return bpf_remedy(m, a);
	if (s->head.backend) {
		snprintf(text, size, "none is needed: %s opens", s->head.backend);
		return text;
	}
	return "mount procfs at /proc, or name it with --procfs DIR";
}

static void add_backend(struct sw_checkup_store *s, const struct sw_machine *m, const char *name,
			const struct attempt *host, const struct attempt *process)
{
	const struct attempt *opened = host->err ? process : host;
	char value[96], reason[640], remedy[96];

	if (host->err && process->err) {
		sw_checkup_add(s, "backend", name, SW_CHECK_LACKS, NULL, process->error.text,
			       backend_remedy(s, m, name, process, remedy, sizeof(remedy)));
		return;
	}
	snprintf(value, sizeof(value), "%s, for %s", opened->quality,
		 host->err ? "processes" : process->err ? "the whole host" : "the whole host and processes");
	if (host->err || process->err)
		snprintf(reason, sizeof(reason), "not for %s: %s", host->err ? "the whole host" : "processes",
			 host->err ? host->error.text : process->error.text);
	else
		snprintf(reason, sizeof(reason), "%s", opened->words);
	sw_checkup_add(s, "backend", name, SW_CHECK_WORKS, value, or_null(reason), NULL);
}

static void check_slots(struct sw_checkup_store *s, const struct attempt *ebpf)
{
	char value[64];

	if (ebpf->err) {
		sw_checkup_add(s, "memory", "slots", SW_CHECK_UNKNOWN, NULL, "ebpf, of which they are, does not open", NULL);
		return;
	}
	snprintf(value, sizeof(value), "%u", ebpf->slots);
	sw_checkup_add(s, "memory", "slots", SW_CHECK_NOTE, value, NULL, NULL);
	snprintf(value, sizeof(value), "%" PRIu64 " bytes", ebpf->memory_bytes);
	sw_checkup_add(s, "memory", "tables", SW_CHECK_NOTE, value, "what the kernel keeps for ebpf, while it is in use", NULL);
}

static void check_memlock(struct sw_checkup_store *s, const struct attempt *ebpf)
{
	int charged = ebpf->err ? -EPERM : sw_cpu_charges_memlock();
	struct rlimit limit;
	char value[64];

	if (getrlimit(RLIMIT_MEMLOCK, &limit)) {
		sw_checkup_add(s, "memory", "RLIMIT_MEMLOCK", SW_CHECK_UNKNOWN, NULL, strerror(errno), NULL);
		return;
	}
	if (limit.rlim_cur == RLIM_INFINITY)
		strcpy(value, "unlimited");
	else
		snprintf(value, sizeof(value), "%llu bytes", (unsigned long long)limit.rlim_cur);
	sw_checkup_add(s, "memory", "RLIMIT_MEMLOCK", SW_CHECK_NOTE, value,
		       charged < 0 ? "before Linux 5.11 it bounds the tables of ebpf; whether it does here cannot be asked "
				     "without BPF"
		       : charged ? "this kernel charges the tables of ebpf to it"
				 : "this kernel charges the tables of ebpf to cgroups, and not to it",
		       NULL);
}

void sw_checkup_cpu(struct sw_checkup_store *s, const struct sw_machine *m)
{
	static const char *const names[] = { "ebpf", "cgroup_v2", "cgroup_v1", "proc", "cpu_percent" };
	const struct attempt first = try_open(m, NULL, 0, SW_HOOK_AUTO);
	const struct attempt ebpf = first.err || strcmp(first.name, names[0]) ? try_open(m, names[0], 0, SW_HOOK_AUTO) : first;

	s->head.backend = first.err ? NULL : first.name;
	check_hooks(s, m);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct attempt host = i ? try_open(m, names[i], 0, SW_HOOK_AUTO) : ebpf;
		const struct attempt process = try_open(m, names[i], (int32_t)getpid(), SW_HOOK_AUTO);

		if (!i)
			check_tree(s, m, &process);
		add_backend(s, m, names[i], &host, &process);
	}
	check_slots(s, &ebpf);
	check_memlock(s, &ebpf);
}

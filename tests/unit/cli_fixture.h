/* SPDX-License-Identifier: BSD-2-Clause */
/* One synthetic recording for the tests of the sinks: awkward names, the largest numbers, absent ones. */
#ifndef SW_TESTS_CLI_FIXTURE_H
#define SW_TESTS_CLI_FIXTURE_H

#include "cli/sink.h"

static const struct sw_refusal fixture_refusals[] = {
	{ "powercap", "/sys/class/powercap has no intel-rapl zone; this is a virtual machine" },
};

static const struct sw_zone fixture_zones[] = {
	{ .name = "package-0", .domains = 3, .package = 0, .range_nj = 262143328850000, .counted = 1 },
	{ .name = "package-0/dram", .package = 0, .parent = "package-0", .range_nj = SW_ABSENT, .problem = "EIO" },
	{ .name = "psys", .package = -1, .one_core = 1, .range_nj = 1500 },
};

static const uint64_t fixture_baseline_uw[] = { 3500000, 12345678 };
static const int32_t fixture_pids[] = { 4242 };
static const int32_t fixture_domain_package[] = { 0, 2 };

static const struct sw_environment fixture_environment = {
	.governor = "powersave",
	.driver = "intel_pstate",
	.microcode = "0xb000040",
	.turbo = 1,
	.smt = 0,
	.ac_power = SW_ABSENT,
	.load_hundredths = 105,
};

static const struct sw_header fixture_header = {
	.version = "0.1.0",
	.started_utc_ns = 1700000000000000001,
	.started_ns = UINT64_MAX,
	.kernel = "6.1.0",
	.cpus = 4,
	.packages = 2,
	.domains = 2,
	.interval_ms = 200,
	.target = SW_TARGET_PIDS,
	.by = SW_BY_PROCESS,
	.pids = fixture_pids,
	.n_pids = 1,
	.backend = "ebpf",
	.backend_quality = "exact",
	.hook = "tp_btf",
	.energy_source = "powercap",
	.energy_quality = "measured",
	.policy = "capacity",
	.zones = fixture_zones,
	.n_zones = 3,
	.baseline_uw = fixture_baseline_uw,
	.n_baseline = 2,
	.slots = 16384,
	.domain_package = fixture_domain_package,
	.environment = &fixture_environment,
};

static const uint64_t fixture_by_domain_ns[] = { 1, UINT64_MAX - 1 };

static const struct sw_process fixture_processes[] = {
	{
		.pid = 4242,
		.ppid = 1,
		.start_boottime_ns = UINT64_MAX,
		.comm = "a\"b\\\x1b\xff",
		.oncpu_ns = 150000000,
		.oncpu_by_domain_ns = fixture_by_domain_ns,
		.nj = 1234567891,
		.exited = 1,
	},
	{ .pid = 7, .ppid = 2, .comm = "", .oncpu_ns = 1000000, .nj = SW_ABSENT,
	  .oncpu_by_domain_ns = fixture_by_domain_ns },
};

/* As seen from another pid namespace, with every way to end. Wait statuses as of waitpid(2). */
static const struct sw_process fixture_family[] = {
	{
		.host_pid = 4000077,
		.host_ppid = 1,
		.comm = "inner",
		.cmdline = "a\\ b '' x\\n\xff",
		.cmdline_new = 1,
		.cgroup = "/a/b\xff",
		.oncpu_ns = 90000000,
		.nj = 2500000000,
		.exited = 1,
		.exit_known = 1,
		.exit_code = 0x80 | 11,
	},
	{ .pid = 5, .host_pid = 105, .ppid = 4, .host_ppid = 104, .comm = "kworker/0:1", .cgroup = "/",
	  .oncpu_ns = 50000000, .nj = 500000000, .kernel_thread = 1 },
	{ .pid = 6, .host_pid = 6, .ppid = 1, .host_ppid = 1, .comm = "six",
	  .cmdline = "/usr/bin/six --with an-argument --and another-one\xe2\x80\xa6",
	  .oncpu_ns = 30000000, .nj = 0, .exited = 1, .exit_known = 1, .exit_code = 3 << 8 },
	{ .pid = 7, .host_pid = 7, .ppid = 1, .host_ppid = 1, .comm = "seven", .cmdline_new = 1,
	  .oncpu_ns = 2000000, .nj = SW_ABSENT, .exited = 1, .exit_known = 1, .exit_code = 9 },
};
enum { FIXTURE_FAMILY = 4 };

static const struct sw_thread fixture_threads[] = {
	{ .host_pid = 4000077, .host_tid = 4000078, .start_boottime_ns = UINT64_MAX, .comm = "work\x1b",
	  .process_comm = "inner", .oncpu_ns = 90000000, .oncpu_by_domain_ns = fixture_by_domain_ns, .nj = 2500000000, .exited = 1 },
	{ .pid = 5, .host_pid = 105, .tid = 5, .host_tid = 105, .comm = "kworker/0:1", .process_comm = "kworker/0:1",
	  .oncpu_ns = 50000000, .nj = SW_ABSENT, .kernel_thread = 1 },
};
enum { FIXTURE_THREADS = 2 };

/* In order of path; the last was gone before its path could be read. */
static const struct sw_cgroup fixture_cgroups[] = {
	{ .id = 1, .path = "/", .oncpu_ns = 1000000, .subtree_oncpu_ns = 181000000, .nj = 1, .subtree_nj = 3000000001 },
	{ .id = 20, .path = "/a", .oncpu_ns = 0, .subtree_oncpu_ns = 150000000, .nj = 0, .subtree_nj = 2500000000 },
	{ .id = 21, .path = "/a/b\xff", .oncpu_ns = 150000000, .subtree_oncpu_ns = 150000000, .nj = 2500000000,
	  .subtree_nj = 2500000000 },
	{ .id = UINT64_MAX, .oncpu_ns = 30000000, .subtree_oncpu_ns = 30000000, .nj = SW_ABSENT, .subtree_nj = SW_ABSENT },
};
enum { FIXTURE_CGROUPS = 4 };

static const struct sw_domain fixture_domains[] = {
	{ .busy_ns = 10, .idle_ns = 20, .lost_ns = 30, .nj = 1000000000 },
	{ .busy_ns = 40, .idle_ns = 50, .lost_ns = 0, .nj = SW_ABSENT },
};

static const int64_t fixture_zone_nj[] = { 2400000000, SW_ABSENT, 1 };

static const struct sw_report fixture_report = {
	.seq = 7,
	.t_ns = UINT64_MAX,
	.time_utc_ns = 1700000000200000000,
	.window_ns = 200000000,
	.flags = SW_FLAG_LATE | SW_FLAG_NO_ENERGY,
	.energy = { .total_nj = 2400000000, .proc_nj = 1234567891, .other_nj = 1, .idle_nj = 0, .unattributed_nj = 10 },
	.package_nj = 2400000000,
	.dram_nj = SW_ABSENT,
	.platform_nj = 1,
	.uncertainty_nj = 24000000,
	.read_late_ns = 61000,
	.read_bracket_ns = SW_ABSENT,
	.zone_nj = fixture_zone_nj,
	.proc_oncpu_ns = 151000000,
	.other_oncpu_ns = 49000000,
	.idle_ns = 599998000,
	.lost_ns = 2000,
	.lost_by_kind_ns = { 0, 1500, 500 },
	.recursion_misses = SW_ABSENT,
	.irq_ns = SW_ABSENT,
	.steal_ns = 7,
	.shared_with = 2,
	.shared_ns = 5,
	.exits = 3,
	.exits_ns = 4,
	.domains = fixture_domains,
	.n_domains = 2,
	.processes = fixture_processes,
	.n_processes = 2,
};

static const struct sw_comm fixture_comms[] = {
	{ .comm = "cc1", .processes = 12, .oncpu_ns = 1500000000, .nj = 6000000000 },
	{ .comm = "m\nk\xc3\xa9", .processes = UINT64_MAX, .oncpu_ns = 1, .nj = SW_ABSENT },
};

/* All rows above in one window. */
static inline void fixture_rows(struct sw_report *r)
{
	r->processes = fixture_family;
	r->n_processes = FIXTURE_FAMILY;
	r->threads = fixture_threads;
	r->n_threads = FIXTURE_THREADS;
	r->cgroups = fixture_cgroups;
	r->n_cgroups = FIXTURE_CGROUPS;
	r->comms = fixture_comms;
	r->n_comms = 2;
}

#define FIXTURE_NOTHING { SW_ABSENT, SW_ABSENT, SW_ABSENT, SW_ABSENT, SW_ABSENT }

static const struct sw_summary fixture_summary = {
	.duration_ns = 2500000000,
	.samples = 13,
	.windows_without_energy = 1,
	.windows_flagged = { [0] = 1, [3] = 2 },
	.energy = {
		[SW_POLICY_BUSY] = { 10000000000, 8000000000, 2000000000, 0, 0 },
		[SW_POLICY_CAPACITY] = { 10000000000, 5000000001, 1000000000, 3999999999, 0 },
		[SW_POLICY_MARGINAL] = FIXTURE_NOTHING,
	},
	.total_uncertainty_nj = 100000000,
	.proc_uncertainty_nj = 50000000,
	.proc_oncpu_ns = 3000000000,
	.other_oncpu_ns = 500000000,
	.idle_ns = 6499998000,
	.lost_ns = 2000,
	.lost_by_kind_ns = { 0, 1500, 500 },
	.recursion_misses = 0,
	.processes_seen = 14,
	.processes_alive = 1,
	.processes = fixture_processes,
	.n_processes = 1,
	.processes_folded = 2,
	.comms = fixture_comms,
	.n_comms = 2,
};

static char *const fixture_command[] = { (char *)"make", (char *)"-j\xff", NULL };
static const struct label fixture_labels[] = { { "job", "a\"b" }, { "empty", "" } };

static const struct recording fixture_recording = {
	.header = &fixture_header,
	.host = "box",
	.command = fixture_command,
	.labels = fixture_labels,
	.n_labels = 2,
	.end = "command",
};

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* A checkup of made-up machines: what each part finds, with the reason and what to do; and of this one, as nobody. */
#include <errno.h>

#include "fixture.h"

#include <json.h>
#include <sys/mman.h>

#include "cli/commands.h"
#include "cli/message.h"
#include "core/checkup.h"
#include "schedwatt.h"

enum { SAID_MAX = 64 * 1024 };

/* A machine that has nothing, in trees that stand for its /sys and /proc. */
struct fake {
	struct tree *sys, *proc;
	struct sw_machine machine;
	struct sw_checkup_store store;
};

static struct fake *fake_new(const char *fixture)
{
	struct fake *f = calloc(1, sizeof(*f));
	struct sw_error error;

	assert_non_null(f);
	f->sys = tree_new();
	f->proc = tree_new();
	if (fixture)
		fixture_build(f->sys, fixture);
	f->machine = (struct sw_machine){
		.captured = true,
		.sysfs_fd = f->sys->fd,
		.procfs_fd = f->proc->fd,
		.kernel_sysfs_fd = f->sys->fd,
		.kernel_procfs_fd = f->proc->fd,
		.cgroupfs = { .fd = -1 },
	};
	assert_int_equal(sw_topology_read(f->sys->fd, 4, false, &error, &f->machine.topology), 0);
	return f;
}

static void fake_free(struct fake *f)
{
	struct sw_checkup_store *s = malloc(sizeof(*s));

	assert_non_null(s);
	assert_int_equal(f->store.err, 0);
	*s = f->store;
	sw_checkup_free(&s->head);
	sw_topology_free(&f->machine.topology);
	tree_free(f->sys);
	tree_free(f->proc);
	free(f);
}

static const struct sw_check *find(const struct sw_checkup *c, const char *area, const char *name)
{
	const struct sw_check *found = NULL;

	for (size_t i = 0; i < c->n_checks; i++) {
		if (strcmp(c->checks[i].area, area) || strcmp(c->checks[i].name, name))
			continue;
		assert_null(found);
		found = &c->checks[i];
	}
	if (!found)
		fail_msg("there is no check of %s %s", area, name);
	return found;
}

static void assert_says(const char *text, const char *words)
{
	if (!words)
		assert_null(text);
	else if (!text || !strstr(text, words))
		fail_msg("'%s' does not say '%s'", text ? text : "(nothing)", words);
}

/* Words that value, reason and remedy hold; NULL: there is none. */
static void assert_check(const struct fake *f, const char *area, const char *name, uint32_t state, const char *value,
			 const char *reason, const char *remedy)
{
	const struct sw_check *c = find(&f->store.head, area, name);

	if (c->state != state)
		fail_msg("%s %s is in state %u, not %u", area, name, c->state, state);
	assert_says(c->value, value);
	assert_says(c->reason, reason);
	assert_says(c->remedy, remedy);
}

static struct fake *with_privileges(const char *cap_eff, const char *uid_map)
{
	struct fake *f = fake_new(NULL);
	char text[128];

	snprintf(text, sizeof(text), "Name:\tx\nCapPrm:\t00000000ffffffff\nCapEff:\t%s\nCapBnd:\t0\n", cap_eff);
	tree_write(f->proc, "self/status", text);
	tree_write(f->proc, "self/uid_map", uid_map);
	f->machine.privileges = sw_privileges_read(f->proc->fd);
	sw_checkup_privileges(&f->store, &f->machine);
	return f;
}

#define INITIAL "         0          0 4294967295\n"

static void root_is_privileged(void **state)
{
	struct fake *f = with_privileges("000001fffeffffff", INITIAL); /* all but CAP_SYS_RESOURCE */

	(void)state;
	assert_check(f, "privilege", "CAP_BPF", SW_CHECK_WORKS, "effective", "loads BPF programs", NULL);
	assert_check(f, "privilege", "CAP_SYS_PTRACE", SW_CHECK_WORKS, "effective", "hidepid", NULL);
	assert_check(f, "privilege", "CAP_SYS_RESOURCE", SW_CHECK_NOTE, "not effective", "RLIMIT_MEMLOCK", NULL);
	assert_check(f, "privilege", "user namespace", SW_CHECK_WORKS, "the initial one", NULL, NULL);
	assert_null(sw_privileges_remedy(&f->machine.privileges, UINT64_C(1) << SW_CAP_BPF));
	fake_free(f);
}

static void nobody_is_not(void **state)
{
	struct fake *f = with_privileges("0000000000000000", INITIAL);

	(void)state;
	assert_check(f, "privilege", "CAP_BPF", SW_CHECK_LACKS, "not effective", "loads", "setcap cap_bpf,");
	assert_check(f, "privilege", "CAP_DAC_READ_SEARCH", SW_CHECK_LACKS, "not effective", "powercap", "run it as root");
	assert_check(f, "privilege", "CAP_SYS_RAWIO", SW_CHECK_NOTE, "not effective", "msr", NULL);
	fake_free(f);
}

/* As it was before there was a CAP_BPF. */
static void admin_stands_in(void **state)
{
	struct fake *f = with_privileges("0000000000200000", INITIAL);

	(void)state;
	assert_check(f, "privilege", "CAP_SYS_ADMIN", SW_CHECK_WORKS, "effective", "stands for", NULL);
	assert_check(f, "privilege", "CAP_PERFMON", SW_CHECK_NOTE, "not effective", "trace", NULL);
	assert_check(f, "privilege", "CAP_DAC_READ_SEARCH", SW_CHECK_LACKS, "not effective", "powercap", "setcap");
	assert_true(sw_privileges_have(&f->machine.privileges, SW_CAP_BPF));
	assert_false(sw_privileges_have(&f->machine.privileges, SW_CAP_SYS_RAWIO));
	fake_free(f);
}

static void a_namespaces_root_is_not(void **state)
{
	struct fake *f = with_privileges("000001ffffffffff", "         0       1000          1\n");

	(void)state;
	assert_check(f, "privilege", "user namespace", SW_CHECK_LACKS, "one of its own", "count in it only", "outside");
	assert_says(sw_privileges_remedy(&f->machine.privileges, UINT64_C(1) << SW_CAP_BPF), "outside");
	fake_free(f);
}

static void privileges_can_be_unknown(void **state)
{
	static const char *const broken[] = { "", "1fffeffffff", "00000000000000zz", "00000000000000000", "0x00000000000000" };

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct fake *f = with_privileges(broken[i], INITIAL);

		assert_check(f, "privilege", "capabilities", SW_CHECK_UNKNOWN, NULL, "CapEff", "mount /proc");
		assert_check(f, "privilege", "CAP_BPF", SW_CHECK_UNKNOWN, NULL, "loads", NULL);
		fake_free(f);
	}
}

static void kernel_as_it_should_be(void **state)
{
	struct fake *f = fake_new(NULL);

	(void)state;
	f->machine.cpu.vendor = SW_VENDOR_INTEL;
	tree_write(f->sys, "kernel/btf/vmlinux", "btf");
	tree_write(f->sys, "kernel/security/lockdown", "none [integrity] confidentiality\n");
	tree_write(f->proc, "sys/kernel/unprivileged_bpf_disabled", "2\n");
	tree_write(f->proc, "sys/kernel/perf_event_paranoid", "-1\n");
	tree_write(f->proc, "sys/kernel/bpf_stats_enabled", "0\n");
	tree_write(f->proc, "self/mountinfo", "20 1 0:5 / /proc rw - proc proc rw\n");
	sw_checkup_kernel(&f->store, &f->machine, "/proc");
	assert_check(f, "kernel", "btf", SW_CHECK_WORKS, "3 bytes", NULL, NULL);
	assert_check(f, "kernel", "lockdown", SW_CHECK_NOTE, "integrity", NULL, NULL);
	assert_check(f, "kernel", "unprivileged_bpf_disabled", SW_CHECK_NOTE, "2", "without privileges", NULL);
	assert_check(f, "kernel", "perf_event_paranoid", SW_CHECK_NOTE, "-1", "CAP_PERFMON", NULL);
	assert_check(f, "kernel", "bpf_stats_enabled", SW_CHECK_NOTE, "0", NULL, NULL);
	assert_check(f, "kernel", "hidepid", SW_CHECK_NOTE, "0", NULL, NULL);
	assert_check(f, "kernel", "virtualisation", SW_CHECK_NOTE, "no hypervisor", NULL, NULL);
	fake_free(f);
}

static void kernel_as_it_should_not(void **state)
{
	struct fake *f = fake_new(NULL);

	(void)state;
	f->machine.cpu.guest = true;
	tree_write(f->sys, "kernel/security/lockdown", "none integrity [confidentiality]\n");
	tree_write(f->proc, "sys/kernel/perf_event_paranoid", "");
	tree_write(f->proc, "sys/kernel/bpf_stats_enabled", "1\n");
	tree_write(f->proc, "self/mountinfo",
		   "20 1 0:5 / /proc rw - proc proc rw\n21 1 0:6 / /proc rw - proc proc rw,gid=7,hidepid=invisible\n");
	sw_checkup_kernel(&f->store, &f->machine, "/proc/");
	assert_check(f, "kernel", "btf", SW_CHECK_LACKS, NULL, "missing or empty", "CONFIG_DEBUG_INFO_BTF=y");
	assert_check(f, "kernel", "lockdown", SW_CHECK_NOTE, "confidentiality", "refused", "lockdown=integrity");
	assert_check(f, "kernel", "unprivileged_bpf_disabled", SW_CHECK_NOTE, "no such setting", NULL, NULL);
	assert_check(f, "kernel", "perf_event_paranoid", SW_CHECK_UNKNOWN, NULL, "empty", NULL);
	assert_check(f, "kernel", "bpf_stats_enabled", SW_CHECK_NOTE, "1", "dearer", "sysctl kernel.bpf_stats_enabled=0");
	assert_check(f, "kernel", "hidepid", SW_CHECK_LACKS, "invisible", "hidden", "gid=");
	assert_check(f, "kernel", "virtualisation", SW_CHECK_NOTE, "a hypervisor", "RAPL", NULL);
	fake_free(f);
}

/* It hides nothing from whoever may trace. */
static void hidepid_of_the_privileged(void **state)
{
	struct fake *f = fake_new(NULL);

	(void)state;
	f->machine.privileges.effective = UINT64_C(1) << SW_CAP_SYS_PTRACE;
	tree_write(f->proc, "self/mountinfo", "20 1 0:5 / /proc rw - proc proc rw,hidepid=2\n");
	sw_checkup_kernel(&f->store, &f->machine, "/proc");
	assert_check(f, "kernel", "virtualisation", SW_CHECK_UNKNOWN, NULL, "x86", NULL);
	assert_check(f, "kernel", "hidepid", SW_CHECK_NOTE, "2", "CAP_SYS_PTRACE", NULL);
	fake_free(f);
}

/* With the energy sources of tests/fixtures; as nobody, to whom a mode means something. */
static struct fake *with_energy(const char *fixture, bool guest)
{
	struct fake *f = fake_new(fixture);

	f->machine.cpu = (struct sw_cpu_id){ .vendor = SW_VENDOR_AMD, .guest = guest };
	as_nobody();
	sw_checkup_energy(&f->store, &f->machine);
	as_root_again();
	return f;
}

static void energy_that_is_measured(void **state)
{
	struct fake *f = with_energy("intel-laptop", false);

	(void)state;
	assert_string_equal(f->store.head.energy_source, "powercap");
	assert_check(f, "energy", "powercap", SW_CHECK_WORKS, "measured; 5 zones", NULL, NULL);
	assert_check(f, "energy", "perf", SW_CHECK_LACKS, NULL, "no PMU", "none is needed: powercap measures");
	assert_check(f, "energy", "msr", SW_CHECK_LACKS, NULL, "another machine", "none is needed: powercap measures");
	assert_check(f, "energy", "model", SW_CHECK_NOTE, "modelled; 1 zone", "estimate", NULL);
	assert_check(f, "zone", "powercap:package-0", SW_CHECK_WORKS, "a package: added", NULL, NULL);
	assert_check(f, "zone", "powercap:package-0 (mmio)", SW_CHECK_WORKS, "the same energy", NULL, NULL);
	assert_check(f, "zone", "powercap:package-0/core", SW_CHECK_WORKS, "within its package", NULL, NULL);
	assert_check(f, "zone", "powercap:psys", SW_CHECK_WORKS, "the whole platform", NULL, NULL);
	assert_check(f, "zone", "model:package-0", SW_CHECK_NOTE, "a package", NULL, NULL);
	fake_free(f);
}

/* One of two zones cannot be read: the source opens without it, and says so. */
static void energy_in_part(void **state)
{
	struct fake *f = fake_new("two-socket-server");

	(void)state;
	assert_int_equal(fchmodat(f->sys->fd, "class/powercap/intel-rapl:0:0/energy_uj", 0, 0), 0);
	as_nobody();
	sw_checkup_energy(&f->store, &f->machine);
	as_root_again();
	assert_check(f, "energy", "powercap", SW_CHECK_WORKS, "measured; 4 zones, 1 of them left out", NULL, NULL);
	assert_check(f, "zone", "powercap:package-1/dram", SW_CHECK_LACKS, "left out", "permission denied", "setcap");
	assert_check(f, "zone", "powercap:package-0/dram", SW_CHECK_WORKS, "memory", NULL, NULL);
	fake_free(f);
}

static void energy_that_is_denied(void **state)
{
	struct fake *f = with_energy("container", true);

	(void)state;
	assert_null(f->store.head.energy_source);
	assert_check(f, "energy", "powercap", SW_CHECK_LACKS, NULL, "energy_uj: permission denied", "cap_dac_read_search");
	fake_free(f);
}

/* Whoever has the capability, and is denied it, is told something else. */
static void energy_that_is_denied_to_root(void **state)
{
	struct fake *f = fake_new("container");

	(void)state;
	f->machine.privileges.effective = UINT64_MAX;
	as_nobody();
	sw_checkup_energy(&f->store, &f->machine);
	as_root_again();
	assert_check(f, "energy", "powercap", SW_CHECK_LACKS, NULL, "permission denied", "SELinux or AppArmor");
	fake_free(f);
}

static void energy_that_is_masked(void **state)
{
	struct fake *f = with_energy("container-masked", true);

	(void)state;
	assert_check(f, "energy", "powercap", SW_CHECK_LACKS, NULL, "runtime hides it", "--sysfs /host/sys");
	assert_check(f, "energy", "msr", SW_CHECK_LACKS, NULL, "another machine", "leave --sysfs out");
	fake_free(f);
}

static void energy_of_guests_and_others(void **state)
{
	struct fake *guest = with_energy("virtual-machine", true), *other = with_energy("virtual-machine", false);

	(void)state;
	assert_check(guest, "energy", "powercap", SW_CHECK_LACKS, NULL, "no class/powercap", "on the host");
	assert_check(other, "energy", "powercap", SW_CHECK_LACKS, NULL, "no class/powercap", "modprobe intel_rapl_msr");
	assert_null(other->store.head.energy_source);
	fake_free(guest);
	fake_free(other);
}

static void energy_of_other_processors(void **state)
{
	struct fake *f = fake_new("virtual-machine");

	(void)state;
	sw_checkup_energy(&f->store, &f->machine);
	assert_check(f, "energy", "powercap", SW_CHECK_LACKS, NULL, "no class/powercap", "only processors of Intel");
	fake_free(f);
}

/* `modes`: of the directory and of cgroup.procs in it. */
static void check_own(mode_t dir_mode, mode_t procs_mode, uint32_t state, const char *remedy)
{
	struct fake *f = fake_new(NULL);
	struct tree *cgroups = tree_new();

	tree_write(cgroups, "cgroup.controllers", "cpu\n");
	tree_write(cgroups, "a/b/cgroup.procs", "");
	assert_int_equal(fchmodat(cgroups->fd, "a/b/cgroup.procs", procs_mode, 0), 0);
	assert_int_equal(fchmodat(cgroups->fd, "a/b", dir_mode, 0), 0);
	tree_write(f->proc, "self/cgroup", "0::/a/b\n");
	tree_write(f->proc, "self/mountinfo", "");
	assert_int_equal(sw_cgroupfs_open(&f->machine.cgroupfs, f->proc->fd, cgroups->path, NULL), 0);
	as_nobody();
	sw_checkup_cgroups(&f->store, &f->machine);
	as_root_again();
	assert_check(f, "cgroup", "layout", SW_CHECK_NOTE, "v2", NULL, NULL);
	assert_check(f, "cgroup", "v2", SW_CHECK_NOTE, cgroups->path, NULL, NULL);
	assert_check(f, "cgroup", "own", state, "/a/b", remedy ? "cannot put a command" : NULL, remedy);
	sw_cgroupfs_close(&f->machine.cgroupfs);
	assert_int_equal(fchmodat(cgroups->fd, "a/b", 0755, 0), 0);
	tree_free(cgroups);
	fake_free(f);
}

static void cgroups_of_ones_own(void **state)
{
	(void)state;
	check_own(0777, 0666, SW_CHECK_WORKS, NULL);
	check_own(0555, 0666, SW_CHECK_LACKS, "Delegate=yes");
	check_own(0777, 0444, SW_CHECK_LACKS, "Delegate=yes");
}

static void no_cgroups(void **state)
{
	struct fake *f = fake_new(NULL);

	(void)state;
	tree_write(f->proc, "self/mountinfo", "20 1 0:5 / /proc rw - proc proc rw\n");
	sw_checkup_cgroups(&f->store, &f->machine);
	assert_check(f, "cgroup", "layout", SW_CHECK_LACKS, NULL, "no cgroups are mounted", "mount -t cgroup2");
	assert_int_equal(f->store.head.n_checks, 1);
	fake_free(f);
}

/* What holds of every machine. */
static void assert_whole(const struct sw_checkup *c)
{
	static const char *const areas[] = { "kernel", "privilege", "hook", "backend", "memory", "cgroup", "energy", "zone" };
	size_t area = 0;

	for (size_t i = 0; i < c->n_checks; i++) {
		const struct sw_check *check = &c->checks[i];

		while (area < 8 && strcmp(areas[area], check->area))
			area++;
		if (area == 8)
			fail_msg("%s %s stands apart from its area", check->area, check->name);
		assert_true(check->state >= SW_CHECK_WORKS && check->state <= SW_CHECK_UNKNOWN);
		if (check->state == SW_CHECK_LACKS && (!check->reason || !check->remedy))
			fail_msg("%s %s lacks without a reason or a remedy", check->area, check->name);
		if (check->state == SW_CHECK_UNKNOWN && !check->reason)
			fail_msg("%s %s is unknown without a reason", check->area, check->name);
	}
	assert_string_equal(find(c, "energy", "model")->value, "modelled; 1 zone");
	for (size_t i = 0; i < 3; i++)
		find(c, "hook", ((const char *const[]){ "tp_btf", "raw_tp", "tracepoint" })[i]);
	for (size_t i = 0; i < 5; i++)
		find(c, "backend", ((const char *const[]){ "ebpf", "cgroup_v2", "cgroup_v1", "proc", "cpu_percent" })[i]);
}

static void this_machine_as_nobody(void **state)
{
	struct tree *sys = tree_new();
	struct sw_options o = { .sz = sizeof(o), .sysfs = sys->path };
	struct sw_checkup *c = NULL;
	char uid[16];
	int err;

	(void)state;
	fixture_build(sys, "amd-zen");
	as_nobody();
	snprintf(uid, sizeof(uid), "%u", (unsigned)geteuid());
	err = sw_checkup_run(&o, &c);
	as_root_again();
	assert_int_equal(err, 0);
	assert_whole(c);
	assert_string_equal(c->energy_source, "powercap");
	assert_string_equal(c->backend, "proc");
	assert_int_equal(find(c, "backend", "proc")->state, SW_CHECK_WORKS);
	assert_int_equal(find(c, "backend", "cpu_percent")->state, SW_CHECK_WORKS);
	assert_int_equal(find(c, "hook", "tree")->state, SW_CHECK_LACKS);
	assert_int_equal(find(c, "memory", "slots")->state, SW_CHECK_UNKNOWN);
	assert_string_equal(find(c, "privilege", "uid")->value, uid);
	sw_checkup_free(c);
	tree_free(sys);
}

static void refuse(const struct sw_options *o, int wanted, const char *words)
{
	struct sw_checkup *c = (struct sw_checkup *)1;
	char error[512] = "";
	struct sw_options with_words = *o;

	with_words.error = error;
	with_words.error_size = sizeof(error);
	assert_int_equal(sw_checkup_run(&with_words, &c), wanted);
	assert_ptr_equal(c, (struct sw_checkup *)1);
	assert_says(error, words);
}

static void bad_options(void **state)
{
	struct {
		struct sw_options known;
		uint64_t newer;
	} more = { .known.sz = sizeof(more), .newer = 1 };
	struct sw_checkup *c = (struct sw_checkup *)1;

	(void)state;
	refuse(&(struct sw_options){ .sz = sizeof(struct sw_options), .slots = 3 }, -EINVAL, "3 slots");
	refuse(&(struct sw_options){ .sz = sizeof(struct sw_options), .sysfs = "/does/not/exist" }, -ENOENT,
	       "cannot open the directory /does/not/exist");
	refuse(&(struct sw_options){ .sz = sizeof(struct sw_options), .procfs = "/dev/null" }, -ENOTDIR, "/dev/null");
	refuse(&(struct sw_options){ .sz = sizeof(struct sw_options), .cgroupfs = "/dev" }, -EINVAL, "no cgroup v2");
	assert_int_equal(sw_checkup_run(&more.known, &c), -E2BIG);
	assert_ptr_equal(c, (struct sw_checkup *)1);
	sw_checkup_free(NULL);
}

/* The command as nobody, with counters of a fixture; what it wrote, and its exit status. */
static int doctor(const char *fixture, const char *format, char said[SAID_MAX])
{
	struct tree *sys = tree_new();
	char *argv[] = { (char *)"doctor", (char *)"-f", (char *)format, (char *)"--sysfs", sys->path, NULL };
	int fd = memfd_create("stdout", MFD_CLOEXEC), saved = dup(STDOUT_FILENO), status;
	ssize_t n;

	fixture_build(sys, fixture);
	fflush(stdout);
	assert_true(fd >= 0 && saved >= 0);
	assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
	as_nobody();
	status = cmd_doctor(5, argv);
	as_root_again();
	assert_int_equal(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
	close(saved);
	n = pread(fd, said, SAID_MAX - 1, 0);
	assert_true(n > 0);
	said[n] = '\0';
	close(fd);
	tree_free(sys);
	return status;
}

static void assert_field(struct json_object *record, const char *key, const char *value)
{
	struct json_object *field = NULL;

	assert_true(json_object_object_get_ex(record, key, &field));
	if (value)
		assert_string_equal(json_object_get_string(field), value);
	else
		assert_null(field);
}

static void as_records(void **state)
{
	static char said[SAID_MAX];
	struct json_object *record = NULL;
	size_t checks = 0;

	(void)state;
	assert_int_equal(doctor("amd-zen", "jsonl", said), EXIT_DONE);
	for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n"), checks++) {
		if (record) {
			assert_field(record, "type", "check");
			json_object_put(record);
		}
		record = json_tokener_parse(line);
		assert_non_null(record);
	}
	assert_true(checks > 30);
	assert_field(record, "type", "verdict");
	assert_field(record, "works", "true");
	assert_field(record, "backend", "proc");
	assert_field(record, "energy_source", "powercap");
	json_object_put(record);
	assert_int_equal(doctor("virtual-machine", "jsonl", said), EXIT_FAILED);
	record = json_tokener_parse(strstr(said, "{\"type\":\"verdict\""));
	assert_field(record, "works", "false");
	assert_field(record, "energy_source", NULL);
	json_object_put(record);
}

/* A remedy that the line above has too is not told again, and no line is wider than 100 columns. */
static void as_text(void **state)
{
	static char said[SAID_MAX];
	const char *last = NULL;

	(void)state;
	assert_int_equal(doctor("virtual-machine", "text", said), EXIT_FAILED);
	assert_says(said, "\n  lacks   raw_tp      as above\n  lacks   tracepoint  as above\n");
	assert_says(said, "\nenergy\n  lacks   powercap  there is no class/powercap in sysfs");
	assert_says(said, "\n                    remedy: ");
	for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n")) {
		if (strlen(line) > 100)
			fail_msg("'%s' is wider than 100 columns", line);
		last = line;
	}
	assert_string_equal(last, "CPU time comes from proc, but nothing measures energy here: joules would be a model's.");
	assert_int_equal(doctor("amd-zen", "text", said), EXIT_DONE);
	assert_says(said, "\n\nCPU time comes from proc, and powercap measures energy.\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(root_is_privileged),
		cmocka_unit_test(nobody_is_not),
		cmocka_unit_test(admin_stands_in),
		cmocka_unit_test(a_namespaces_root_is_not),
		cmocka_unit_test(privileges_can_be_unknown),
		cmocka_unit_test(kernel_as_it_should_be),
		cmocka_unit_test(kernel_as_it_should_not),
		cmocka_unit_test(hidepid_of_the_privileged),
		cmocka_unit_test(energy_that_is_measured),
		cmocka_unit_test(energy_in_part),
		cmocka_unit_test(energy_that_is_denied),
		cmocka_unit_test(energy_that_is_denied_to_root),
		cmocka_unit_test(energy_that_is_masked),
		cmocka_unit_test(energy_of_guests_and_others),
		cmocka_unit_test(energy_of_other_processors),
		cmocka_unit_test(cgroups_of_ones_own),
		cmocka_unit_test(no_cgroups),
		cmocka_unit_test(this_machine_as_nobody),
		cmocka_unit_test(bad_options),
		cmocka_unit_test(as_records),
		cmocka_unit_test(as_text),
	};

	return cmocka_run_group_tests_name("checkup", tests, NULL, NULL);
}

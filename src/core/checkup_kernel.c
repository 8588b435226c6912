/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how the kernel is made and set, as far as it matters here. Must not know: what opens.
 * Source: Documentation/admin-guide/sysctl/kernel.rst, proc(5) on hidepid, kernel_lockdown(7), msr(4). All but hidepid and
 * the hypervisor is of the kernel that runs, whatever the options' roots stand for.
 */
#include "checkup.h"

#include "../base/mountinfo.h"
#include "../base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

static void add(struct sw_checkup_store *s, const char *name, uint32_t state, const char *value, const char *reason,
		const char *remedy)
{
	sw_checkup_add(s, "kernel", name, state, value, reason, remedy);
}

/* A line of text, without its end: its length, or -errno. */
static ssize_t read_line(int fd, const char *path, char *text, size_t size)
{
	ssize_t n = sw_file_read(fd, path, text, size);

	if (n >= 0)
		text[n = (ssize_t)strcspn(text, "\n")] = '\0';
	return n;
}

static void check_release(struct sw_checkup_store *s)
{
	struct utsname name;

	if (uname(&name))
		add(s, "release", SW_CHECK_UNKNOWN, NULL, strerror(errno), NULL);
	else
		add(s, "release", SW_CHECK_NOTE, name.release, NULL, NULL);
}

static void check_btf(struct sw_checkup_store *s, int sysfs_fd)
{
	char value[48];
	struct stat st;

	if (!fstatat(sysfs_fd, "kernel/btf/vmlinux", &st, 0) && S_ISREG(st.st_mode) && st.st_size > 0) {
		snprintf(value, sizeof(value), "%lld bytes", (long long)st.st_size);
		add(s, "btf", SW_CHECK_WORKS, value, NULL, NULL);
		return;
	}
	add(s, "btf", SW_CHECK_LACKS, NULL, "/sys/kernel/btf/vmlinux is missing or empty, which tells BPF programs where "
	    "fields of the kernel lie", "use a kernel built with CONFIG_DEBUG_INFO_BTF=y; until then proc accounts, coarsely");
}

static void check_lockdown(struct sw_checkup_store *s, int sysfs_fd)
{
	char text[128], *from, *to;
	ssize_t n = read_line(sysfs_fd, "kernel/security/lockdown", text, sizeof(text));

	from = n > 0 ? strchr(text, '[') : NULL;
	to = from ? strchr(from, ']') : NULL;
	if (n == -ENOENT) {
		add(s, "lockdown", SW_CHECK_NOTE, "none to be seen", NULL, NULL);
	} else if (!to) {
		add(s, "lockdown", SW_CHECK_UNKNOWN, NULL, n < 0 ? strerror((int)-n) : "the file says nothing known", NULL);
	} else {
		*to = '\0';
		add(s, "lockdown", SW_CHECK_NOTE, from + 1,
		    strcmp(from + 1, "confidentiality") ? NULL : "BPF programs may be refused memory of the kernel",
		    strcmp(from + 1, "confidentiality") ? NULL : "where ebpf lacks: boot with lockdown=integrity");
	}
}

/* `bad`: where the setting is this, the remedy is due; NULL: it never is. */
static void check_setting(struct sw_checkup_store *s, int procfs_fd, const char *name, const char *reason, const char *bad,
			  const char *remedy)
{
	char path[64], text[32];
	ssize_t n;

	snprintf(path, sizeof(path), "sys/kernel/%s", name);
	n = read_line(procfs_fd, path, text, sizeof(text));
	if (n == -ENOENT)
		add(s, name, SW_CHECK_NOTE, "this kernel has no such setting", NULL, NULL);
	else if (n <= 0)
		add(s, name, SW_CHECK_UNKNOWN, NULL, n < 0 ? strerror((int)-n) : "the file is empty", NULL);
	else
		add(s, name, SW_CHECK_NOTE, text, !bad || !strcmp(text, bad) ? reason : NULL,
		    bad && !strcmp(text, bad) ? remedy : NULL);
}

/* The value of `key` ("hidepid=") among a mount's options. */
static bool find_option(const char *options, const char *key, char *value, size_t size)
{
	size_t n = strlen(key), length;

	for (; *options; options += length + (options[length] == ',')) {
		length = strcspn(options, ",");
		if (strncmp(options, key, n))
			continue;
		snprintf(value, size, "%.*s", (int)(length - n), options + n);
		return true;
	}
	return false;
}

/* Of the mount at `procfs`: the last of several there is the one to be seen. */
static void check_hidepid(struct sw_checkup_store *s, const struct sw_machine *m, const char *procfs)
{
	char value[32] = "0", *text, *rest, *path = realpath(procfs, NULL);
	struct sw_mount mount;
	bool found = false, hides;
	int err = sw_mountinfo_read(m->kernel_procfs_fd, &text);

	rest = err ? NULL : text;
	while (rest && path && sw_mountinfo_next(&rest, &mount)) {
		if (strcmp(mount.point, path) || strcmp(mount.type, "proc"))
			continue;
		found = true;
		if (!find_option(mount.options, "hidepid=", value, sizeof(value)))
			strcpy(value, "0");
	}
	if (!err)
		free(text);
	free(path);
	hides = found && strcmp(value, "0") && strcmp(value, "off");
	if (err)
		add(s, "hidepid", SW_CHECK_UNKNOWN, NULL, strerror(-err), NULL);
	else if (!found)
		add(s, "hidepid", SW_CHECK_NOTE, "none: procfs is no mount of its own", NULL, NULL);
	else if (!hides || sw_privileges_have(&m->privileges, SW_CAP_SYS_PTRACE))
		add(s, "hidepid", SW_CHECK_NOTE, value, hides ? "CAP_SYS_PTRACE sees behind it" : NULL, NULL);
	else
		add(s, "hidepid", SW_CHECK_LACKS, value, "processes of other users are hidden in /proc: proc does not see "
		    "them, and ebpf not their command lines",
		    "run it as root or as a member of the group that the mount's gid= names");
}

static void check_msr(struct sw_checkup_store *s, int dev_fd)
{
	if (!faccessat(dev_fd, "cpu/0/msr", F_OK, 0))
		add(s, "msr", SW_CHECK_NOTE, "/dev/cpu/0/msr", NULL, NULL);
	else
		add(s, "msr", SW_CHECK_NOTE, "there is no /dev/cpu/0/msr", "only the energy source msr takes it", NULL);
}

static void check_hypervisor(struct sw_checkup_store *s, const struct sw_cpu_id *cpu)
{
	if (cpu->guest)
		add(s, "virtualisation", SW_CHECK_NOTE, "a hypervisor runs this machine",
		    "few hypervisors show a guest the RAPL counters, so that there may be none here", NULL);
	else if (cpu->vendor == SW_VENDOR_OTHER)
		add(s, "virtualisation", SW_CHECK_UNKNOWN, NULL, "/proc/cpuinfo tells it of x86 processors only", NULL);
	else
		add(s, "virtualisation", SW_CHECK_NOTE, "no hypervisor to be seen", NULL, NULL);
}

void sw_checkup_kernel(struct sw_checkup_store *s, const struct sw_machine *m, const char *procfs)
{
	int dev_fd = sw_root_open("/dev");

	check_release(s);
	check_btf(s, m->kernel_sysfs_fd);
	check_lockdown(s, m->kernel_sysfs_fd);
	check_setting(s, m->kernel_procfs_fd, "unprivileged_bpf_disabled",
		      "it is about programs without privileges; those that trace need them whatever it says", NULL, NULL);
	check_setting(s, m->kernel_procfs_fd, "perf_event_paranoid",
		      "above 0, to count on a whole CPU takes CAP_PERFMON", NULL, NULL);
	check_setting(s, m->kernel_procfs_fd, "bpf_stats_enabled",
		      "the kernel times each run of a BPF program, which makes each switch dearer", "1",
		      "sysctl kernel.bpf_stats_enabled=0");
	check_hidepid(s, m, procfs);
	check_msr(s, dev_fd);
	check_hypervisor(s, &m->cpu);
	if (dev_fd >= 0)
		close(dev_fd);
}

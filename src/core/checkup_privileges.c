/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what the caller may do, by name, and what each privilege is for. Must not know: what fails without.
 * Source: capabilities(7), proc_pid_status(5), user_namespaces(7); BPF, perf_event_open(2) and MSRs ask for capabilities
 * in the initial user namespace.
 */
#include "checkup.h"

#include "../base/root.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BIT(cap) (UINT64_C(1) << (cap))
#define WANTED (BIT(SW_CAP_BPF) | BIT(SW_CAP_PERFMON) | BIT(SW_CAP_DAC_READ_SEARCH))

static const struct privilege {
	enum sw_cap cap;
	const char *name;
	const char *purpose;
} privileges[] = {
	{ SW_CAP_BPF, "CAP_BPF", "it loads BPF programs and makes their tables" },
	{ SW_CAP_PERFMON, "CAP_PERFMON", "it lets BPF programs trace, and perf count energy on a whole CPU" },
	{ SW_CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH",
	  "it reads powercap's counters, which are root's, and finds the path of a cgroup by its id" },
	{ SW_CAP_SYS_ADMIN, "CAP_SYS_ADMIN",
	  "it stands for CAP_BPF and CAP_PERFMON, which kernels before 5.8 do not have" },
	{ SW_CAP_SYS_PTRACE, "CAP_SYS_PTRACE",
	  "it shows other users' processes behind hidepid, and those of their counters that are addresses" },
	{ SW_CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE",
	  "it raises RLIMIT_MEMLOCK, where the kernel charges BPF tables to that" },
	{ SW_CAP_NET_ADMIN, "CAP_NET_ADMIN", "it has the kernel tell proc of each task that ends (taskstats)" },
	{ SW_CAP_SYS_RAWIO, "CAP_SYS_RAWIO", "it reads the energy registers in /dev/cpu/N/msr" },
};

/* As the kernel prints a mask: 16 hexadecimal digits. */
static int parse_mask(const char *text, uint64_t *ret)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t mask = 0;
	int i;

	for (i = 0; i < 16; i++) {
		const char *digit = text[i] ? strchr(digits, text[i]) : NULL;

		if (!digit)
			return -EINVAL;
		mask = mask << 4 | (uint64_t)(digit - digits);
	}
	if (text[i] != '\n')
		return -EINVAL;
	*ret = mask;
	return 0;
}

/* The initial one maps every id onto itself, and no other needs to. Where there is no such file, there are none. */
static bool is_contained(int procfs_fd)
{
	char text[128];

	return sw_file_read_start(procfs_fd, "self/uid_map", text, sizeof(text)) > 0 &&
	       strcmp(text, "         0          0 4294967295\n");
}

struct sw_privileges sw_privileges_read(int procfs_fd)
{
	static const char key[] = "\nCapEff:\t";
	struct sw_privileges p = { .contained = is_contained(procfs_fd) };
	char text[4096];
	ssize_t n = sw_file_read_start(procfs_fd, "self/status", text, sizeof(text));
	const char *at = n > 0 ? strstr(text, key) : NULL;

	if (n < 0)
		p.err = (int)n;
	else
		p.err = at ? parse_mask(at + strlen(key), &p.effective) : -ENODATA;
	return p;
}

bool sw_privileges_have(const struct sw_privileges *p, enum sw_cap cap)
{
	bool stands_in = (cap == SW_CAP_BPF || cap == SW_CAP_PERFMON) && p->effective & BIT(SW_CAP_SYS_ADMIN);

	return p->effective & BIT(cap) || stands_in;
}

const char *sw_privileges_remedy(const struct sw_privileges *p, uint64_t wanted)
{
	bool wanting = false;

	for (size_t i = 0; i < sizeof(privileges) / sizeof(privileges[0]); i++)
		if (wanted & BIT(privileges[i].cap) && !sw_privileges_have(p, privileges[i].cap))
			wanting = true;
	if (p->contained)
		return "run it outside of this user namespace (a rootless container has one), as root";
	if (wanting)
		return "run it as root, or give its file the capabilities: setcap cap_bpf,cap_perfmon,"
		       "cap_dac_read_search=ep FILE";
	return NULL;
}

static void check_capability(struct sw_checkup_store *s, const struct sw_privileges *p, const struct privilege *one)
{
	uint64_t bit = BIT(one->cap);
	bool held = p->effective & bit, missed = WANTED & bit && !sw_privileges_have(p, one->cap);

	if (p->err)
		sw_checkup_add(s, "privilege", one->name, SW_CHECK_UNKNOWN, NULL, one->purpose, NULL);
	else
		sw_checkup_add(s, "privilege", one->name, held ? SW_CHECK_WORKS : missed ? SW_CHECK_LACKS : SW_CHECK_NOTE,
			       held ? "effective" : "not effective", one->purpose,
			       missed ? sw_privileges_remedy(p, bit) : NULL);
}

void sw_checkup_privileges(struct sw_checkup_store *s, const struct sw_machine *m)
{
	const struct sw_privileges *p = &m->privileges;
	char uid[16], why[128];

	snprintf(uid, sizeof(uid), "%u", (unsigned)geteuid());
	sw_checkup_add(s, "privilege", "uid", SW_CHECK_NOTE, uid, NULL, NULL);
	if (p->err) {
		snprintf(why, sizeof(why), "cannot read CapEff in /proc/self/status: %s", strerror(-p->err));
		sw_checkup_add(s, "privilege", "capabilities", SW_CHECK_UNKNOWN, NULL, why, "mount /proc");
	}
	for (size_t i = 0; i < sizeof(privileges) / sizeof(privileges[0]); i++)
		check_capability(s, p, &privileges[i]);
	if (p->contained)
		sw_checkup_add(s, "privilege", "user namespace", SW_CHECK_LACKS, "one of its own",
			       "capabilities count in it only, and BPF, perf and registers ask for those outside",
			       sw_privileges_remedy(p, 0));
	else
		sw_checkup_add(s, "privilege", "user namespace", SW_CHECK_WORKS, "the initial one", NULL, NULL);
}

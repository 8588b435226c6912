/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the witness of deaths (probe.bpf.c) tells. Included after __u64 and the like. */
#ifndef SW_TESTS_PROBE_H
#define SW_TESTS_PROBE_H

enum { PROBE_MAX = 16384 };

struct probe_death {
	__u64 start_boottime_ns;
	__u64 ran_ns; /* sum_exec_runtime */
	__s32 tgid;
	__s32 tid;
	__s32 ppid;
	__s32 exit_code;
	char comm[16];
};

#endif

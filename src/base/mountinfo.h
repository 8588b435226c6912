/* SPDX-License-Identifier: BSD-2-Clause */
/* The mounts that a process sees. Source: proc_pid_mountinfo(5), fs/proc_namespace.c. */
#ifndef SW_BASE_MOUNTINFO_H
#define SW_BASE_MOUNTINFO_H

#include <stdbool.h>

/* Strings lie in the text that was parsed, unescaped. */
struct sw_mount {
	const char *root;  /* what of the file system is mounted: "/" all of it */
	const char *point; /* where, from the process's root */
	const char *type;
	const char *options; /* of the file system itself; of a cgroup v1 they name its controllers */
};

/* The whole text of `self/mountinfo` under procfs_fd: 0 and *ret, which the caller frees, or -errno. */
int sw_mountinfo_read(int procfs_fd, char **ret);

/* Take the next mount off *text, which is changed. Lines that are not as they should be are passed over. */
bool sw_mountinfo_next(char **text, struct sw_mount *ret);

#endif

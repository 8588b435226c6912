/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how cgroups are laid out, and whether one could be made for a command. Must not know: which back end accounts by
 * them. Relies on cgroups(7): whoever may make a directory in a cgroup, and write to its cgroup.procs, may move processes
 * from there into it. Nothing is made to find that out.
 */
#include "checkup.h"

#include "../base/procfs.h"
#include "../base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CGROUP_TEXT_SIZE 65536 /* a line for each hierarchy, with a path of PATH_MAX at most */

/* May a cgroup be made in that of `path`, and processes moved? 0 or -errno. */
static int may_make(const struct sw_cgroupfs *fs, const char *path)
{
	const char *below = path + strspn(path, "/");
	int fd = openat(fs->fd, *below ? below : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) || faccessat(fd, "cgroup.procs", W_OK, AT_EACCESS))
		err = -errno;
	close(fd);
	return err;
}

/* The caller's own cgroup in the hierarchy: the text in *ret, to be freed, or -errno. */
static int own_path(const struct sw_machine *m, const struct sw_cgroupfs *fs, const char *controller, char **ret)
{
	struct sw_proc_cgroup cgroup;
	char *text = malloc(CGROUP_TEXT_SIZE);
	ssize_t n;
	int err;

	if (!text)
		return -ENOMEM;
	n = sw_file_read_start(m->procfs_fd, "self/cgroup", text, CGROUP_TEXT_SIZE);
	err = n < 0 ? (int)n : sw_proc_cgroup_find(text, (size_t)n, controller, &cgroup);
	if (!err)
		err = cgroup.deleted ? -ENOENT : sw_cgroupfs_inside(fs, cgroup.path, cgroup.path_length, ret);
	free(text);
	return err;
}

static void check_own(struct sw_checkup_store *s, const struct sw_machine *m, const struct sw_cgroupfs *fs,
		      const char *controller)
{
	char *path = NULL, value[512], reason[640];
	int err = own_path(m, fs, controller, &path);

	if (err) {
		snprintf(reason, sizeof(reason), "the cgroup of this process is not to be found below %s: %s", fs->mount,
			 strerror(-err));
		sw_checkup_add(s, "cgroup", "own", SW_CHECK_UNKNOWN, NULL, reason, NULL);
		return;
	}
	snprintf(value, sizeof(value), "below %s%s", fs->mount, strcmp(path, "/") ? path : "");
	err = may_make(fs, path);
	snprintf(reason, sizeof(reason), "run cannot put a command into a cgroup of its own here: %s", strerror(-err));
	if (err)
		sw_checkup_add(s, "cgroup", "own", SW_CHECK_LACKS, value, reason,
			       "run it as root, or in a delegated cgroup: systemd-run --user --scope -p Delegate=yes COMMAND");
	else
		sw_checkup_add(s, "cgroup", "own", SW_CHECK_WORKS, value, NULL, NULL);
	free(path);
}

void sw_checkup_cgroups(struct sw_checkup_store *s, const struct sw_machine *m)
{
	struct sw_cgroupfs v1 = { .fd = -1 };
	bool has_v2 = m->cgroupfs.fd >= 0,
	     has_v1 = !sw_cgroupfs_open_v1(&v1, m->procfs_fd, "cpuacct", "cpuacct.usage", NULL);

	sw_checkup_add(s, "cgroup", "layout", has_v1 || has_v2 ? SW_CHECK_NOTE : SW_CHECK_LACKS,
		       has_v1 && has_v2 ? "hybrid: v2 beside v1" : has_v2 ? "v2" : has_v1 ? "v1" : NULL,
		       has_v1 || has_v2 ? NULL : "no cgroups are mounted, neither v2 nor v1 with cpuacct",
		       has_v1 || has_v2 ? NULL : "mount -t cgroup2 none DIR, and name it with --cgroupfs DIR");
	if (has_v2)
		sw_checkup_add(s, "cgroup", "v2", SW_CHECK_NOTE, m->cgroupfs.mount, NULL, NULL);
	if (has_v1)
		sw_checkup_add(s, "cgroup", "v1", SW_CHECK_NOTE, v1.mount, "of the controller cpuacct", NULL);
	if (has_v2)
		check_own(s, m, &m->cgroupfs, NULL);
	else if (has_v1)
		check_own(s, m, &v1, "cpuacct");
	sw_cgroupfs_close(&v1);
}

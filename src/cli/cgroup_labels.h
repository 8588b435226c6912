/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the path of a cgroup tells of who is in it. Nothing is looked up: the path alone speaks, and what it does not
 * tell is empty. Of things that lie in one another, such as a container in a container, the deepest counts, each kind
 * by itself: a container within a pod's container keeps that pod.
 */
#ifndef SW_CLI_CGROUP_LABELS_H
#define SW_CLI_CGROUP_LABELS_H

/* Sizes with the NUL that ends each text. */
enum {
	CGROUP_CONTAINER_MAX = 80, /* "containerd://" and 64 digits */
	CGROUP_POD_MAX = 37,
	CGROUP_UNIT_MAX = 256, /* systemd's own limit */
	CGROUP_SLURM_MAX = 32,
	CGROUP_USER_MAX = 12,
};

struct cgroup_labels {
	/*
	 * "containerd://<64 hex digits>", "docker://", "cri-o://" or "podman://", as kube-state-metrics writes
	 * container_id. The digits alone where the path does not say which runtime it was: kubelet's cgroupfs driver
	 * names none.
	 */
	char container_id[CGROUP_CONTAINER_MAX];
	char pod_uid[CGROUP_POD_MAX]; /* with `-`, as the API has it; of a static pod 32 digits */
	/*
	 * The host's unit, as sd_pid_get_unit(3) tells it: the first thing below the slices, so never one of a systemd
	 * in a container, nor one of a user's own manager (which is in user@UID.service); spelt as systemctl(1) takes
	 * it, so with its \x2d. A slice is none.
	 */
	char systemd_unit[CGROUP_UNIT_MAX];
	char slurm_job_id[CGROUP_SLURM_MAX];
	char slurm_step[CGROUP_SLURM_MAX]; /* "0", "batch", "extern", … */
	char user[CGROUP_USER_MAX]; /* the host's uid, of user-UID.slice or Slurm's uid_UID; not one in a container */
};

/* The path in a line of /proc/PID/cgroup ("8:memory:/foo:bar" has "/foo:bar"); a path is itself. Part of `line`. */
const char *cgroup_labels_path(const char *line);

/* `path` is one, of cgroup v2 or v1, or such a line; of any bytes. It may begin with "/..", outside of our own root. */
void cgroup_labels_parse(const char *path, struct cgroup_labels *ret);

#endif

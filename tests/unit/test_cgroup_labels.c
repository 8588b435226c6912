/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which labels paths of cgroups give, as runtimes, kubelet, systemd and Slurm write them, and what looks like one
 * and is none. Relies on: paths that people reported to tools of this kind, and those that the programs document.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cgroup_labels.h"

#define A "99f3a16ea25b7724cb56a4f0c0df1113ad9474fbf5545bead97fd5c7f61c13f4"
#define B "fd9d0ea06257a9780827cbc7fd92e3812a54fca26d63e191b73610d5d48b9cbd"
#define POD  "eab5a334-93fe-48a8-b140-9e8079c1f163"
#define POD_ "eab5a334_93fe_48a8_b140_9e8079c1f163"
#define HASH "8d2d0b5a6a31a0a5f8d2a6f0a3d9a1b2"

struct expected {
	const char *path, *container, *pod, *unit, *job, *step, *user;
};

static const char *or_none(const char *text)
{
	return text ? text : "";
}

static void check(const struct expected *known, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct expected *e = &known[i];
		struct cgroup_labels l;

		memset(&l, 0xa5, sizeof(l));
		cgroup_labels_parse(e->path, &l);
		assert_string_equal(l.container_id, or_none(e->container));
		assert_string_equal(l.pod_uid, or_none(e->pod));
		assert_string_equal(l.systemd_unit, or_none(e->unit));
		assert_string_equal(l.slurm_job_id, or_none(e->job));
		assert_string_equal(l.slurm_step, or_none(e->step));
		assert_string_equal(l.user, or_none(e->user));
	}
}

#define CHECK(known) check(known, sizeof(known) / sizeof((known)[0]))

static void test_reported(void **state)
{
	static const struct expected known[] = {
		/* a node that is a container: the deepest */
		{ .path = "0::/system.slice/docker-" B ".scope/kubelet.slice/kubelet-kubepods.slice/"
			  "kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod" POD_
			  ".slice/cri-containerd-" A ".scope",
		  .container = "containerd://" A, .pod = POD, .unit = "docker-" B ".scope" },
		{ .path = "11:blkio:/kubepods/burstable/podf6adb0af-0855-4bab-b25b-c853f18d0ce2/"
			  "35b97177dada20362ab90d90ac63cd54e8a41cf87bea34f270631b6da17f4a93",
		  .container = "35b97177dada20362ab90d90ac63cd54e8a41cf87bea34f270631b6da17f4a93",
		  .pod = "f6adb0af-0855-4bab-b25b-c853f18d0ce2" },
		{ .path = "0::/kubepods-besteffort-pod162385e5_7f69_4c38_ba9c_db0a8f02b35e.slice:cri-containerd:"
			  "278a0aac1fff30dfbc41b4a32ba9de4519928fe7480213dba87aa1498838ef34",
		  .container = "containerd://278a0aac1fff30dfbc41b4a32ba9de4519928fe7480213dba87aa1498838ef34",
		  .pod = "162385e5-7f69-4c38-ba9c-db0a8f02b35e" },
		{ .path = "8:memory:/foo:bar" },
		{ .path = "0::/system.slice/docker-agent.service", .unit = "docker-agent.service" },
		{ .path = "0::/user.slice/user-1000.slice/session-1.scope", .unit = "session-1.scope",
		  .user = "1000" },
		{ .path = "5:pids:/user.slice/user-1000.slice/session-1.scope", .unit = "session-1.scope",
		  .user = "1000" },
		{ .path = "2:cpu,cpuacct:/" },
	};

	(void)state;
	CHECK(known);
	assert_string_equal(cgroup_labels_path("8:memory:/foo:bar"), "/foo:bar");
	assert_string_equal(cgroup_labels_path("1:name=systemd:/a"), "/a");
	assert_string_equal(cgroup_labels_path("/a:b:c"), "/a:b:c");
	assert_string_equal(cgroup_labels_path("0::/"), "/");
	assert_string_equal(cgroup_labels_path(""), "");
}

static void test_runtimes(void **state)
{
	static const struct expected known[] = {
		{ .path = "/docker/" A, .container = "docker://" A },
		{ .path = "/docker/" A "/system.slice/nginx.service", .container = "docker://" A },
		{ .path = "/docker/" A "/docker/" B, .container = "docker://" B },
		{ .path = "/system.slice/docker-" A ".scope", .container = "docker://" A,
		  .unit = "docker-" A ".scope" },
		{ .path = "/system.slice/docker-" A ".scope/init.scope", .container = "docker://" A,
		  .unit = "docker-" A ".scope" },
		{ .path = "/system.slice/nerdctl-" A ".scope", .container = "containerd://" A,
		  .unit = "nerdctl-" A ".scope" },
		{ .path = "/system.slice:docker:" A, .container = "docker://" A },
		{ .path = "/k8s.io/" A, .container = "containerd://" A },
		{ .path = "/machine.slice/libpod-" A ".scope/container", .container = "podman://" A,
		  .unit = "libpod-" A ".scope" },
		{ .path = "/libpod_parent/libpod-" A, .container = "podman://" A },
		{ .path = "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" A ".scope",
		  .container = "podman://" A, .unit = "user@1000.service", .user = "1000" },
		{ .path = "/../docker-" A ".scope", .container = "docker://" A, .unit = "docker-" A ".scope" },
		{ .path = "/../../system.slice/nginx.service", .unit = "nginx.service" },
		{ .path = "/.." },
	};

	(void)state;
	CHECK(known);
}

static void test_pods(void **state)
{
	static const struct expected known[] = {
		{ .path = "/kubepods.slice/kubepods-pod" POD_ ".slice/crio-" A ".scope/container",
		  .container = "cri-o://" A, .pod = POD, .unit = "crio-" A ".scope" },
		{ .path = "/kubepods/pod" POD "/crio-" A, .container = "cri-o://" A, .pod = POD },
		{ .path = "/kubepods/besteffort/pod" HASH "/" A, .container = A, .pod = HASH },
		{ .path = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" HASH
			  ".slice/docker-" A ".scope",
		  .container = "docker://" A, .pod = HASH, .unit = "docker-" A ".scope" },
		{ .path = "/kubepods.slice/kubepods-podeab5a334\\x2d93fe\\x2d48a8\\x2db140\\x2d9e8079c1f163.slice/"
			  "cri-containerd-" A ".scope",
		  .container = "containerd://" A, .pod = POD, .unit = "cri-containerd-" A ".scope" },
		/* a pod's own cgroup */
		{ .path = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_ ".slice",
		  .pod = POD },
		/* Docker in a pod's container is that pod's */
		{ .path = "/kubepods/burstable/pod" POD "/" A "/docker/" B, .container = "docker://" B, .pod = POD },
		{ .path = "/../pod" POD "/" A, .container = A, .pod = POD },
		{ .path = "/../../kubepods-besteffort-pod" POD_ ".slice/cri-containerd-" A ".scope",
		  .container = "containerd://" A, .pod = POD, .unit = "cri-containerd-" A ".scope" },
		{ .path = "/system.slice/containerd.service/kubepods-burstable-pod" POD_ ".slice:cri-containerd:" A,
		  .container = "containerd://" A, .pod = POD, .unit = "containerd.service" },
	};

	(void)state;
	CHECK(known);
}

static void test_units(void **state)
{
	static const struct expected known[] = {
		{ .path = "/init.scope", .unit = "init.scope" },
		{ .path = "/system.slice/nginx.service/worker", .unit = "nginx.service" },
		{ .path = "/system.slice/system-getty.slice/getty@tty1.service", .unit = "getty@tty1.service" },
		{ .path = "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator",
		  .unit = "machine-qemu\\x2d1\\x2dvm.scope" },
		{ .path = "/user.slice/user-0.slice/user@0.service/app.slice/app-a.service", .unit = "user@0.service",
		  .user = "0" },
		{ .path = "/system.slice/dev-disk-by\\x2duuid-a.swap", .unit = "dev-disk-by\\x2duuid-a.swap" },
		{ .path = "/system.slice/_cpu.service", .unit = "cpu.service" },
		{ .path = "/system.slice" },
		{ .path = "/system.slice/foo/nginx.service" },
		{ .path = "/system.slice/foo@.service" },
		{ .path = "/system.slice/a b.service" },
		{ .path = "/system.slice/.service" },
		{ .path = "/lxc.payload.a/user.slice/user-7.slice/session-1.scope" },
		{ .path = "/user.slice/user-7x.slice/session-1.scope", .unit = "session-1.scope" },
		{ .path = "//user.slice//user-7.slice/", .user = "7" },
	};

	(void)state;
	CHECK(known);
}

static void test_slurm(void **state)
{
	static const struct expected known[] = {
		{ .path = "/slurm/uid_1000/job_123/step_0/task_0", .job = "123", .step = "0", .user = "1000" },
		{ .path = "/slurm_node1/uid_1000/job_123/step_batch", .job = "123", .step = "batch", .user = "1000" },
		{ .path = "/slurm/uid_1000/job_123", .job = "123", .user = "1000" },
		{ .path = "/system.slice/slurmstepd.scope/job_123/step_batch/user/task_0", .unit = "slurmstepd.scope",
		  .job = "123", .step = "batch" },
		{ .path = "/system.slice/node-1_slurmstepd.scope/job_7/step_extern/slurm",
		  .unit = "node-1_slurmstepd.scope", .job = "7", .step = "extern" },
		{ .path = "/docker/" A "/system.slice/slurmstepd.scope/job_9/step_4294967291",
		  .container = "docker://" A, .job = "9", .step = "4294967291" },
		{ .path = "/docker/" A "/slurm/uid_1000/job_5/step_0", .container = "docker://" A, .job = "5",
		  .step = "0" },
		{ .path = "/system.slice/slurmstepd.scope/system", .unit = "slurmstepd.scope" },
		{ .path = "/system.slice/slurmstepd.scope/job_12x/step_0", .unit = "slurmstepd.scope" },
		{ .path = "/slurm/uid_1000/job_1/x/step_0", .job = "1", .user = "1000" },
		{ .path = "/foo/job_123/step_0" },
		{ .path = "/foo/uid_1000/job_123" },
	};

	(void)state;
	CHECK(known);
}

static void test_false_hits(void **state)
{
	static const struct expected known[] = {
		{ .path = "/foo/" A },
		{ .path = "/" A },
		{ .path = "/system.slice/" A ".scope", .unit = A ".scope" },
		{ .path = "/machine.slice/libpod-conmon-" A ".scope", .unit = "libpod-conmon-" A ".scope" },
		{ .path = "/kubepods/pod" POD "/crio-conmon-" A, .pod = POD },
		{ .path = "/docker/" A "0" },
		{ .path = "/docker/99F3A16ea25b7724cb56a4f0c0df1113ad9474fbf5545bead97fd5c7f61c13f4" },
		{ .path = "/docker/buildx" },
		{ .path = "/system.slice/docker-99f3.scope", .unit = "docker-99f3.scope" },
		{ .path = "/system.slice:docker:99f3" },
		{ .path = "/a.slice:unknown:" A },
		{ .path = "/kubepods/pod1234/" A },
		{ .path = "/kubepods/podeab5a334-93fe-48a8-b140-9e8079c1f1634/" A },
		{ .path = "/kubepods/podeab5a334-93fe-48a8-b140_9e8079c1f16g/" A },
		{ .path = "/kubepods-pod.slice" },
		{ .path = "/-pod.slice" },
		{ .path = "" },
		{ .path = "a:b" },
	};

	(void)state;
	CHECK(known);
}

/* Names as long as the kernel allows, and longer: nothing is cut, it is left out. */
static void test_long(void **state)
{
	char path[1024];
	struct cgroup_labels l;

	(void)state;
	snprintf(path, sizeof(path), "/system.slice/%0247d.service", 0);
	cgroup_labels_parse(path, &l);
	assert_int_equal(strlen(l.systemd_unit), 255);
	snprintf(path, sizeof(path), "/system.slice/%0248d.service", 0);
	cgroup_labels_parse(path, &l);
	assert_string_equal(l.systemd_unit, "");
	snprintf(path, sizeof(path), "/slurm/uid_1/job_%031d/step_%031d", 0, 0);
	cgroup_labels_parse(path, &l);
	assert_int_equal(strlen(l.slurm_job_id), 31);
	assert_int_equal(strlen(l.slurm_step), 31);
	snprintf(path, sizeof(path), "/slurm/uid_123456789012/job_%032d/step_0", 0);
	cgroup_labels_parse(path, &l);
	assert_string_equal(l.slurm_job_id, "");
	assert_string_equal(l.slurm_step, "");
	assert_string_equal(l.user, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reported), cmocka_unit_test(test_runtimes),   cmocka_unit_test(test_pods),
		cmocka_unit_test(test_units),    cmocka_unit_test(test_slurm),      cmocka_unit_test(test_false_hits),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

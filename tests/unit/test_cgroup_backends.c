/* SPDX-License-Identifier: BSD-2-Clause */
/* cpu/group*.c, cgroup_v2.c, cgroup_v1.c: which cgroup is a target's, whose time it holds. On made-up machines. */
#include "tree.h"

#include "../../src/base/cgroupfs.h"
#include "../../src/base/clock.h"
#include "../../src/cpu/group.h"

#include <errno.h>

enum { CPUS = 4 };

static const int16_t one_domain[CPUS];
static const int16_t two_domains[CPUS] = {0, 0, 1, 1};

struct machine {
	struct tree *t;
	struct sw_cgroupfs v2;
	struct sw_cpu_config config;
	int32_t pids[4];
	unsigned ticks;
};

static void host(struct machine *m, unsigned ticks)
{
	char text[256], *at = text;

	m->ticks = ticks;
	for (int i = 0; i < CPUS; i++)
		at += sprintf(at, "cpu%d %u 0 0 0 0 0 0 0 0 0\n", i, ticks);
	tree_write(m->t, "stat", text);
}

static void process(const struct machine *m, int pid, int ppid, const char *comm, const char *cgroups)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "%d/stat", pid);
	snprintf(text, sizeof(text), "%d (%s) S %d 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 %d 0 0 0\n", pid, comm, ppid,
		 100 + pid);
	tree_write(m->t, path, text);
	snprintf(path, sizeof(path), "%d/cgroup", pid);
	tree_write(m->t, path, cgroups);
}

static void unlink_process(const struct machine *m, int pid)
{
	char path[64];

	snprintf(path, sizeof(path), "%d/stat", pid);
	assert_int_equal(unlinkat(m->t->fd, path, 0), 0);
}

/* A cgroup of v2 with its processes and its microseconds. */
static void v2_group(const struct machine *m, const char *path, const char *procs, unsigned usec)
{
	char name[256], text[128];

	snprintf(name, sizeof(name), "v2%s/cgroup.procs", path);
	tree_write(m->t, name, procs);
	snprintf(name, sizeof(name), "v2%s/cgroup.controllers", path);
	tree_write(m->t, name, "");
	if (*path) {
		snprintf(name, sizeof(name), "v2%s/cgroup.events", path);
		tree_write(m->t, name, "populated 1\n");
	}
	snprintf(name, sizeof(name), "v2%s/cpu.stat", path);
	snprintf(text, sizeof(text), "usage_usec %u\nuser_usec %u\nsystem_usec 0\n", usec, usec);
	tree_write(m->t, name, text);
}

static void v1_group(const struct machine *m, const char *path, const char *procs, const char *ns)
{
	char name[256];

	snprintf(name, sizeof(name), "v1%s/cgroup.procs", path);
	tree_write(m->t, name, procs);
	snprintf(name, sizeof(name), "v1%s/cpuacct.usage", path);
	tree_write(m->t, name, ns);
	if (!*path)
		tree_write(m->t, "v1/release_agent", "");
}

/* %s is the fixture's directory. */
static void __attribute__((format(printf, 2, 0))) mounts(const struct machine *m, const char *format)
{
	char text[1024];

	snprintf(text, sizeof(text), format, m->t->path, m->t->path);
	tree_write(m->t, "self/mountinfo", text);
}

#define HYBRID "1 0 0:1 / %s/v1 rw - cgroup cgroup rw,cpu,cpuacct\n2 0 0:2 / %s/v2 rw - cgroup2 none rw\n"

static int setup(void **state)
{
	struct machine *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->t = tree_new();
	m->v2.fd = -1;
	m->config = (struct sw_cpu_config){
		.domain_of = one_domain, .n_cpus = CPUS, .n_domains = 1, .pids = m->pids, .procfs_fd = m->t->fd};
	host(m, 1000);
	mounts(m, HYBRID);
	v2_group(m, "", "1\n", 5000000);
	v1_group(m, "", "1\n", "5000000000\n");
	process(m, 1, 0, "init", "2:cpu,cpuacct:/\n0::/\n");
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct machine *m = *state;

	sw_cgroupfs_close(&m->v2);
	tree_free(m->t);
	free(m);
	return 0;
}

static int open_backend(struct machine *m, const struct sw_cpu_ops *ops, int n_pids, struct sw_error *error,
			struct sw_cpu_backend **ret)
{
	sw_cgroupfs_close(&m->v2);
	m->config.cgroupfs = sw_cgroupfs_open(&m->v2, m->t->fd, NULL, NULL) ? NULL : &m->v2;
	m->config.n_pids = (size_t)n_pids;
	return ops->open(&m->config, error, ret);
}

static struct sw_cpu_backend *opened(struct machine *m, const struct sw_cpu_ops *ops, int n_pids)
{
	struct sw_cpu_backend *b = NULL;
	struct sw_error error = {""};

	if (open_backend(m, ops, n_pids, &error, &b))
		fail_msg("%s", error.text);
	assert_string_equal(b->ops->name, ops->name);
	return b;
}

static void refused(struct machine *m, const struct sw_cpu_ops *ops, int n_pids, int err, const char *words)
{
	struct sw_cpu_backend *b = (struct sw_cpu_backend *)m;
	struct sw_error error = {""};
	int got = open_backend(m, ops, n_pids, &error, &b);

	if (got != err || !strstr(error.text, words))
		fail_msg("%d, %s; not %d, %s", got, error.text, err, words);
	assert_ptr_equal(b, m);
}

static const struct sw_cpu_usage *read_at(struct sw_cpu_backend *b, uint64_t t_ns)
{
	const struct sw_cpu_usage *usage = NULL;
	struct sw_error error = {""};
	uint64_t got_ns, wake_ns;

	assert_int_equal(b->ops->announce(b, t_ns, &got_ns, &wake_ns), 0);
	assert_true(got_ns == t_ns && wake_ns == t_ns);
	if (b->ops->read(b, &error, &usage))
		fail_msg("%s", error.text);
	assert_true(usage->t_ns == t_ns);
	assert_true(usage->recursion_misses == INT64_MIN);
	return usage;
}

static void adds_up(const struct sw_cpu_usage *u, unsigned n_domains)
{
	uint64_t watched[2] = {0};

	for (size_t i = 0; i < u->n_rows; i++)
		watched[u->rows[i].domain] += u->rows[i].oncpu_ns;
	for (unsigned d = 0; d < n_domains && u->n_rows == n_domains; d++)
		assert_true(u->domains[d].span_ns == watched[d] + u->domains[d].other_ns + u->domains[d].idle_ns +
							     u->domains[d].offline_ns + u->domains[d].lost_other_ns);
}

#define S 1000000000ULL
#define MS 1000000ULL

/* --- v2 */

static void one_row(void **state)
{
	struct machine *m = *state;
	const struct sw_cgroup_info *infos;
	const struct sw_cpu_usage *u;
	struct sw_cpu_backend *b;
	struct stat st;

	v2_group(m, "/a", "", 900000);
	v2_group(m, "/a/b:c", "70\n71\n", 700000);
	process(m, 70, 1, "sh", "2:cpu,cpuacct:/\n0::/a/b:c\n");
	process(m, 71, 70, "cat", "2:cpu,cpuacct:/\n0::/a/b:c\n");
	m->pids[0] = 70;
	m->config.any = true;
	b = opened(m, &sw_cpu_cgroup_v2, 1);
	assert_string_equal(b->ops->quality, "exact");
	assert_int_equal(b->cpus, CPUS);
	assert_int_equal(b->max_keys, 1);
	u = read_at(b, 10 * S);
	assert_int_equal(u->n_rows, 1);
	assert_true(u->rows[0].first && !u->rows[0].oncpu_ns && !u->rows[0].task && !u->rows[0].key);
	assert_int_equal(fstatat(m->t->fd, "v2/a/b:c", &st, 0), 0);
	assert_true(u->rows[0].cgroup_id == st.st_ino);
	assert_int_equal(u->shared_with, 0);
	assert_int_equal(b->ops->new_cgroups(b, &infos), 3);
	assert_string_equal(infos[0].name, "");
	assert_string_equal(infos[1].name, "a");
	assert_string_equal(infos[2].name, "b:c");
	assert_true(infos[2].id == st.st_ino && infos[2].parent_id == infos[1].id && infos[1].parent_id == infos[0].id);
	assert_int_equal(b->ops->new_cgroups(b, &infos), 0);
	v2_group(m, "/a/b:c", "70\n71\n", 950000);
	host(m, 1050);
	u = read_at(b, 11 * S);
	assert_int_equal(u->n_rows, 1);
	assert_true(!u->rows[0].first && u->rows[0].oncpu_ns == 250 * MS);
	assert_true(u->domains[0].span_ns == 4 * S && u->domains[0].other_ns == 2 * S - 250 * MS);
	adds_up(u, 1);
	u = read_at(b, 12 * S);
	assert_int_equal(u->n_rows, 0); /* nothing was active */
	b->ops->close(b);
}

/* More than a window can hold waits for the next; time never falls. */
static void held_back(void **state)
{
	struct machine *m = *state;
	const struct sw_cpu_usage *u;
	struct sw_cpu_backend *b;
	uint64_t last_ns = 0;

	v2_group(m, "/a", "70\n", 0);
	process(m, 70, 1, "sh", "0::/a\n");
	m->pids[0] = 70;
	b = opened(m, &sw_cpu_cgroup_v2, 1);
	read_at(b, 10 * S);
	v2_group(m, "/a", "70\n", 5000000);
	u = read_at(b, 11 * S);
	assert_true(u->rows[0].oncpu_ns == 4 * S);
	assert_true(u->busy_raised);
	adds_up(u, 1);
	u = read_at(b, 12 * S);
	assert_true(u->rows[0].oncpu_ns == 5 * S);
	for (unsigned i = 0; i < 20; i++) {
		v2_group(m, "/a", "70\n", i % 7 * 1000000);
		u = read_at(b, (13 + i) * S);
		if (u->n_rows)
			assert_true(u->rows[0].oncpu_ns >= last_ns);
		last_ns = u->n_rows ? u->rows[0].oncpu_ns : last_ns;
	}
	assert_true(u->members_lost > 0); /* it fell */
	b->ops->close(b);
}

static int read_removed(struct sw_group *b, uint64_t *ns)
{
	(void)b;
	(void)ns;
	return -ENODEV;
}

/* The open file of a removed cgroup gives ENODEV, which no file of a made-up one does. */
static void removed(void **state)
{
	struct machine *m = *state;
	struct sw_group_kind kind;
	const struct sw_cpu_usage *u;
	struct sw_cpu_backend *b;
	struct sw_group *g;

	v2_group(m, "/a", "70\n", 0);
	process(m, 70, 1, "sh", "0::/a\n");
	m->pids[0] = 70;
	b = opened(m, &sw_cpu_cgroup_v2, 1);
	g = (struct sw_group *)b;
	read_at(b, 10 * S);
	v2_group(m, "/a", "70\n", 100000);
	u = read_at(b, 11 * S);
	assert_true(u->rows[0].oncpu_ns == 100 * MS);
	assert_true(b->ops->alive(b));
	unlink_process(m, 70);
	assert_int_equal(unlinkat(m->t->fd, "v2/a/cgroup.procs", 0), 0);
	kind = *g->kind;
	kind.read = read_removed;
	g->kind = &kind;
	assert_false(b->ops->alive(b));
	for (uint64_t i = 12; i < 15; i++) {
		u = read_at(b, i * S);
		assert_true(u->ended && !u->n_rows);
	}
	b->ops->close(b);
}

static void which_group(void **state)
{
	struct machine *m = *state;
	const struct sw_cpu_usage *u;
	struct sw_cpu_backend *b;

	v2_group(m, "/a", "70\n", 0);
	v2_group(m, "/a/in", "71\n", 0);
	v2_group(m, "/b", "72\n", 0);
	process(m, 70, 1, "sh", "0::/a\n");
	process(m, 71, 1, "sh", "0::/a/in\n");
	process(m, 72, 1, "sh", "0::/b\n");
	process(m, 73, 1, "out", "2:cpu,cpuacct:/../x\n0::/../x\n");
	process(m, 74, 1, "dead", "0::/a/old (deleted)\n");
	process(m, 75, 1, "v1 only", "2:cpuacct:/\n");
	m->config.any = true;
	memcpy(m->pids, (int32_t[]){71, 70}, 8);
	b = opened(m, &sw_cpu_cgroup_v2, 2); /* the top one of both */
	assert_string_equal(((struct sw_group *)b)->path, "/a");
	u = read_at(b, 10 * S);
	assert_int_equal(u->shared_with, 0);
	b->ops->close(b);
	memcpy(m->pids, (int32_t[]){70, 72}, 8);
	refused(m, &sw_cpu_cgroup_v2, 2, -ENOTSUP, "processes 70 and 72 are in different cgroups, /a and /b");
	m->pids[0] = 73;
	refused(m, &sw_cpu_cgroup_v2, 1, -EXDEV, "outside of this cgroup namespace (/../x)");
	refused(m, &sw_cpu_cgroup_v1, 1, -EXDEV, "outside of this cgroup namespace (/../x)");
	m->pids[0] = 74;
	refused(m, &sw_cpu_cgroup_v2, 1, -ENOENT, "was removed");
	m->pids[0] = 75;
	refused(m, &sw_cpu_cgroup_v2, 1, -ENOENT, "process 75 is in no cgroup v2");
	m->pids[0] = 99;
	refused(m, &sw_cpu_cgroup_v2, 1, -ESRCH, "no process 99");
	m->pids[0] = 1;
	refused(m, &sw_cpu_cgroup_v2, 1, -ENOTSUP, "is the root");
	refused(m, &sw_cpu_cgroup_v1, 1, -ENOTSUP, "is the root");
	refused(m, &sw_cpu_cgroup_v2, 0, -ENOTSUP, "tells no processes apart");
	m->config.any = false;
	b = opened(m, &sw_cpu_cgroup_v2, 0);
	assert_string_equal(b->ops->quality, "coarse");
	assert_non_null(b->note);
	u = read_at(b, 10 * S);
	assert_true(u->shared_with == INT64_MIN);
	b->ops->close(b);
	b = opened(m, &sw_cpu_cgroup_v1, 0);
	assert_string_equal(b->ops->quality, "exact");
	b->ops->close(b);
}

/* Only a part of the hierarchy is mounted, as in a container that has no cgroup namespace. */
static void a_part(void **state)
{
	struct machine *m = *state;
	struct sw_cpu_backend *b;

	v2_group(m, "", "", 0);
	tree_write(m->t, "v2/cgroup.events", "populated 1\n");
	v2_group(m, "/in", "70\n", 0);
	v1_group(m, "/in", "70\n", "0\n");
	assert_int_equal(unlinkat(m->t->fd, "v1/release_agent", 0), 0);
	mounts(m, "1 0 0:1 /docker/c1 %s/v1 rw - cgroup cgroup rw,cpuacct\n"
		  "2 0 0:2 /docker/c1 %s/v2 rw - cgroup2 none rw\n");
	process(m, 70, 1, "sh", "2:cpuacct:/docker/c1/in\n0::/docker/c1/in\n");
	process(m, 71, 1, "sh", "2:cpuacct:/docker/c11\n0::/docker/c11\n");
	m->pids[0] = 70;
	m->config.any = true;
	b = opened(m, &sw_cpu_cgroup_v2, 1);
	assert_string_equal(((struct sw_group *)b)->path, "/in");
	b->ops->close(b);
	b = opened(m, &sw_cpu_cgroup_v1, 1);
	b->ops->close(b);
	m->pids[0] = 71;
	refused(m, &sw_cpu_cgroup_v2, 1, -ENOENT, "is not in what is mounted");
	m->config.any = false;
	refused(m, &sw_cpu_cgroup_v2, 0, -ENOTSUP, "not that of the whole host");
	refused(m, &sw_cpu_cgroup_v1, 0, -ENOTSUP, "not that of the whole host");
}

static void no_time(void **state)
{
	struct machine *m = *state;

	v2_group(m, "/a", "70\n", 0);
	process(m, 70, 1, "sh", "0::/a\n");
	m->pids[0] = 70;
	tree_write(m->t, "v2/a/cpu.stat", "nr_periods 0\n");
	refused(m, &sw_cpu_cgroup_v2, 1, -ENOTSUP, "does not tell the CPU time");
	assert_int_equal(unlinkat(m->t->fd, "v2/a/cpu.stat", 0), 0);
	refused(m, &sw_cpu_cgroup_v2, 1, -ENOTSUP, "does not tell the CPU time");
	tree_write(m->t, "v2/a/cpu.stat", "usage_usec 1x\n");
	refused(m, &sw_cpu_cgroup_v2, 1, -EINVAL, "cannot read cpu.stat");
	refused(m, &sw_cpu_cgroup_v1, 1, -ENOENT, "in no cgroup v1");
	mounts(m, "1 0 0:1 / %s/v2 rw - cgroup2 none rw\n");
	process(m, 70, 1, "sh", "1:cpuacct:/\n0::/a\n");
	refused(m, &sw_cpu_cgroup_v1, 1, -ENOENT, "no cgroup v1 with the controller cpuacct");
	mounts(m, "1 0 0:1 / %s/v1 rw - cgroup cgroup rw,cpu,cpuacctx\n");
	refused(m, &sw_cpu_cgroup_v1, 1, -ENOENT, "no cgroup v1 with the controller cpuacct");
	refused(m, &sw_cpu_cgroup_v2, 1, -ENOENT, "no cgroup v2 is mounted");
}

/* --- strangers */

static void strangers(void **state)
{
	struct machine *m = *state;
	const struct sw_cpu_usage *u;
	struct sw_cpu_backend *b;
	struct sw_group *g;

	v2_group(m, "/a", "70\n71\n72\n", 0);
	v2_group(m, "/a/in", "80\n0\n0\n81\n", 0);
	process(m, 70, 1, "sh", "0::/a\n");
	process(m, 71, 70, "child", "0::/a\n");
	process(m, 72, 1, "bash", "0::/a\n");
	process(m, 80, 71, "grandchild", "0::/a/in\n");
	process(m, 81, 72, "make", "0::/a/in\n");
	m->pids[0] = 70;
	m->config.any = true;
	refused(m, &sw_cpu_cgroup_v2, 1, -ENOTSUP,
		"/a is shared with 4 other processes (bash 72, make 81 and 2 more); proc tells them apart");
	m->config.any = false;
	b = opened(m, &sw_cpu_cgroup_v2, 1);
	g = (struct sw_group *)b;
	u = read_at(b, 10 * S);
	assert_int_equal(u->shared_with, 4);
	assert_true(u->shared_ns == INT64_MIN); /* clocks of processes that are made up */
	b->ops->close(b);
	/* without the hidden ones */
	v2_group(m, "/a/in", "80\n81\n", 0);
	b = opened(m, &sw_cpu_cgroup_v2, 1);
	g = (struct sw_group *)b;
	assert_int_equal(g->members.n_strangers, 2);
	/* a known one stays one when its parent goes; a new one is as its parent; who knows of orphans? */
	unlink_process(m, 71);
	process(m, 80, 1, "grandchild", "0::/a/in\n");
	process(m, 82, 80, "new", "0::/a/in\n");
	process(m, 83, 81, "new", "0::/a/in\n");
	process(m, 84, 1, "orphan", "0::/a/in\n");
	v2_group(m, "/a", "70\n72\n", 0);
	v2_group(m, "/a/in", "80\n81\n82\n83\n84\n", 0);
	g->members.next_look_ns = 0;
	u = read_at(b, 11 * S);
	assert_int_equal(g->members.n_members, 3);
	assert_int_equal(u->shared_with, 4);
	b->ops->close(b);
	/* the processes alone: their children are strangers */
	m->config.process_scope = true;
	b = opened(m, &sw_cpu_cgroup_v2, 1);
	assert_int_equal(((struct sw_group *)b)->members.n_members, 1);
	b->ops->close(b);
}

static void orphans_without_strangers(void **state)
{
	struct machine *m = *state;
	const struct sw_cpu_usage *u;
	struct sw_cpu_backend *b;
	struct sw_group *g;

	v2_group(m, "/a", "70\n", 0);
	process(m, 70, 1, "sh", "0::/a\n");
	m->pids[0] = 70;
	m->config.any = true;
	b = opened(m, &sw_cpu_cgroup_v2, 1);
	g = (struct sw_group *)b;
	read_at(b, 10 * S);
	process(m, 90, 1, "daemon", "0::/a\n");
	v2_group(m, "/a", "90\n", 0);
	unlink_process(m, 70);
	assert_true(b->ops->alive(b));
	u = read_at(b, 11 * S);
	assert_true(!u->ended && u->shared_with == 0);
	unlink_process(m, 90);
	v2_group(m, "/a", "", 0);
	assert_false(b->ops->alive(b));
	u = read_at(b, 12 * S);
	assert_true(u->ended);
	assert_int_equal(g->members.n, 0);
	b->ops->close(b);
}

static void members_elsewhere(void **state)
{
	struct machine *m = *state;
	const struct sw_cpu_usage *u;
	struct sw_cpu_backend *b;
	uint64_t lost;

	v2_group(m, "/a", "70\n", 0);
	v2_group(m, "/b", "71\n", 0);
	process(m, 70, 1, "sh", "0::/a\n");
	process(m, 71, 70, "moved", "0::/b\n");
	m->pids[0] = 70;
	m->config.any = true;
	refused(m, &sw_cpu_cgroup_v2, 1, -ENOTSUP, "1 of its descendants (moved 71) is not in its cgroup v2 /a");
	m->config.any = false;
	b = opened(m, &sw_cpu_cgroup_v2, 1);
	lost = read_at(b, 10 * S)->members_lost;
	u = read_at(b, 11 * S);
	assert_true(u->members_lost > lost); /* each window says so */
	b->ops->close(b);
	tree_write(m->t, "v2/a/cgroup.procs", "1x\n");
	refused(m, &sw_cpu_cgroup_v2, 1, -EINVAL, "cannot list the processes");
}

/* --- v1 */

static void v1_path(void **state)
{
	struct machine *m = *state;
	const struct sw_cpu_usage *u;
	struct sw_cpu_backend *b;

	/* not the path of v2 */
	v1_group(m, "/x", "70\n", "123\n");
	v2_group(m, "/user.slice/session-1.scope", "70\n", 0);
	process(m, 70, 1, "sh", "3:memory:/user.slice/session-1.scope\n2:cpu,cpuacct:/x\n1:name=systemd:/user.slice/"
				"session-1.scope\n0::/user.slice/session-1.scope\n");
	m->pids[0] = 70;
	m->config.any = true;
	b = opened(m, &sw_cpu_cgroup_v1, 1);
	u = read_at(b, 10 * S);
	assert_int_equal(u->n_rows, 1);
	assert_true(!u->rows[0].cgroup_id);
	v1_group(m, "/x", "70\n", "1000000123\n");
	u = read_at(b, 11 * S);
	assert_true(u->rows[0].oncpu_ns == S);
	v1_group(m, "/x", "70\n", "5\n"); /* reset */
	u = read_at(b, 12 * S);
	assert_true(!u->n_rows && u->members_lost == 1);
	v1_group(m, "/x", "70\n", "15\n");
	u = read_at(b, 13 * S);
	assert_true(u->rows[0].oncpu_ns == S + 10);
	b->ops->close(b);
	/* alone */
	mounts(m, "1 0 0:1 / %s/v1 rw - cgroup cgroup rw,cpuacct\n");
	b = opened(m, &sw_cpu_cgroup_v1, 1);
	b->ops->close(b);
}

static void v1_of_a_cgroup(void **state)
{
	struct machine *m = *state;
	struct sw_cpu_backend *b;

	v2_group(m, "/a", "70\n71\n", 0);
	v1_group(m, "/a", "71\n", "0\n");
	v1_group(m, "/a/b", "70\n", "0\n");
	m->config.cgroup = "/a";
	b = opened(m, &sw_cpu_cgroup_v1, 0);
	b->ops->close(b);
	b = opened(m, &sw_cpu_cgroup_v2, 0);
	b->ops->close(b);
	v1_group(m, "/a/b", "70\n72\n", "0\n");
	refused(m, &sw_cpu_cgroup_v1, 0, -ENOTSUP, "does not hold the same processes");
	m->config.cgroup = "/user.slice";
	refused(m, &sw_cpu_cgroup_v1, 0, -ENOENT, "cannot open the cgroup v1");
}

static void domains(void **state)
{
	struct machine *m = *state;
	const struct sw_cpu_usage *u;
	struct sw_cpu_backend *b;

	v1_group(m, "/a", "70\n", "0\n");
	tree_write(m->t, "v1/a/cpuacct.usage_percpu", "1 2 3 4 \n");
	v2_group(m, "/a", "70\n", 0);
	process(m, 70, 1, "sh", "2:cpu,cpuacct:/a\n0::/a\n");
	m->pids[0] = 70;
	m->config.domain_of = two_domains;
	m->config.n_domains = 2;
	m->config.any = true;
	b = opened(m, &sw_cpu_cgroup_v1, 1);
	assert_int_equal(read_at(b, 10 * S)->n_rows, 2);
	tree_write(m->t, "v1/a/cpuacct.usage_percpu", "100000001 2 3 300000004 \n");
	u = read_at(b, 11 * S);
	assert_int_equal(u->n_rows, 2);
	assert_true(u->rows[0].oncpu_ns == 100 * MS && u->rows[1].oncpu_ns == 300 * MS);
	assert_true(u->rows[1].domain == 1 && u->rows[1].key == 1);
	adds_up(u, 2);
	b->ops->close(b);
	tree_write(m->t, "v1/a/cpuacct.usage_percpu", "1 2 3\n");
	refused(m, &sw_cpu_cgroup_v1, 1, -EINVAL, "cpuacct.usage_percpu");
	refused(m, &sw_cpu_cgroup_v2, 1, -ENOTSUP, "on which of the 2 packages");
	m->config.cgroup = "/a"; /* nobody else has it */
	b = opened(m, &sw_cpu_cgroup_v2, 0);
	assert_string_equal(b->ops->quality, "coarse");
	b->ops->close(b);
	m->config.cgroup = NULL;
	m->config.any = false;
	b = opened(m, &sw_cpu_cgroup_v2, 1);
	assert_string_equal(b->ops->quality, "coarse");
	read_at(b, 10 * S);
	tree_write(m->t, "stat", "cpu0 1010 0 0 0\ncpu1 1000 0 0 0\ncpu2 1010 0 0 0\ncpu3 1020 0 0 0\n");
	v2_group(m, "/a", "70\n", 400000);
	u = read_at(b, 11 * S);
	assert_true(u->rows[0].oncpu_ns == 100 * MS && u->rows[1].oncpu_ns == 300 * MS);
	adds_up(u, 2);
	b->ops->close(b);
}

/* --- the contract of all back ends */

static void contract(void **state)
{
	static const struct sw_cpu_ops *const all[] = {&sw_cpu_cgroup_v2, &sw_cpu_cgroup_v1};
	struct machine *m = *state;
	struct tree *empty = tree_new();

	v2_group(m, "/a", "70\n", 0);
	v1_group(m, "/a", "70\n", "0\n");
	process(m, 70, 1, "sh", "2:cpu,cpuacct:/a\n0::/a\n");
	m->pids[0] = 70;
	for (size_t i = 0; i < 2; i++) {
		struct sw_cpu_config nothing = {
			.domain_of = one_domain, .n_cpus = CPUS, .n_domains = 1, .procfs_fd = empty->fd};
		struct sw_cpu_backend *a, *b, *none = NULL;
		struct sw_error error = {""};
		uint64_t t, wake;

		assert_int_equal(all[i]->open(&nothing, &error, &none), -ENOENT);
		assert_null(none);
		assert_true(strlen(error.text) > 10);
		all[i]->close(NULL);
		a = opened(m, all[i], 1);
		b = opened(m, all[i], 1); /* two at once */
		read_at(a, 10 * S);
		read_at(b, 10 * S);
		a->ops->close(a);
		/* a boundary can be drawn nearer only */
		assert_int_equal(b->ops->announce(b, 20 * S, &t, &wake), 0);
		assert_int_equal(b->ops->announce(b, 30 * S, &t, &wake), 0);
		assert_true(t == 20 * S && wake == t);
		assert_int_equal(b->ops->announce(b, 15 * S, &t, &wake), 0);
		assert_true(t == 15 * S && wake == t);
		assert_int_equal(b->ops->remove_own(b, &error), 0);
		b->ops->close(b);
	}
	tree_free(empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_row, setup, teardown),
		cmocka_unit_test_setup_teardown(held_back, setup, teardown),
		cmocka_unit_test_setup_teardown(removed, setup, teardown),
		cmocka_unit_test_setup_teardown(which_group, setup, teardown),
		cmocka_unit_test_setup_teardown(a_part, setup, teardown),
		cmocka_unit_test_setup_teardown(no_time, setup, teardown),
		cmocka_unit_test_setup_teardown(strangers, setup, teardown),
		cmocka_unit_test_setup_teardown(orphans_without_strangers, setup, teardown),
		cmocka_unit_test_setup_teardown(members_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(v1_path, setup, teardown),
		cmocka_unit_test_setup_teardown(v1_of_a_cgroup, setup, teardown),
		cmocka_unit_test_setup_teardown(domains, setup, teardown),
		cmocka_unit_test_setup_teardown(contract, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

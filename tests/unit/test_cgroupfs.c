/* SPDX-License-Identifier: BSD-2-Clause */
/* base/cgroupfs.c and mountinfo.c: where cgroup v2 is, and which cgroup is meant. Captured trees, then the live one. */
#include "tree.h"

#include "../../src/base/cgroupfs.h"
#include "../../src/base/mountinfo.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

/* --- mountinfo */

static void expect_mount(const char *line, const char *root, const char *point, const char *type)
{
	char text[512], *at = text;
	struct sw_mount m;

	snprintf(text, sizeof(text), "%s", line);
	if (!sw_mountinfo_next(&at, &m))
		fail_msg("refused: %s", line);
	assert_string_equal(m.root, root);
	assert_string_equal(m.point, point);
	assert_string_equal(m.type, type);
	assert_non_null(m.options);
	assert_false(sw_mountinfo_next(&at, &m));
}

static void mount_lines(void **state)
{
	(void)state;
	expect_mount("25 30 0:23 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n", "/", "/sys", "sysfs");
	/* none to many optional fields, unknown ones too */
	expect_mount("36 35 98:0 /a /b rw - ext3 /dev/root rw", "/a", "/b", "ext3");
	expect_mount("36 35 98:0 / /b rw master:1 shared:2 propagate_from:3 new - x y z\n", "/", "/b", "x");
	expect_mount("36 35 98:0 / / rw unbindable - x  rw\n", "/", "/", "x"); /* no source */
	expect_mount("36 35 0:4 net:[4026531840] /run/netns/a rw - nsfs nsfs rw\n", "net:[4026531840]", "/run/netns/a",
		     "nsfs");
	expect_mount("36 35 0:4 /../.. /x rw - cgroup2 - -\n", "/../..", "/x", "cgroup2");
	expect_mount("1 1 0:1 /a\\040b /c\\011d\\012e\\134f\\043\\303\\251 rw - fuse.a\\040b s rw\n", "/a b",
		     "/c\td\ne\\f#\xc3\xa9", "fuse.a b");
	expect_mount("1 1 0:1 / /\\134040 rw - x y z\n", "/", "/\\040", "x"); /* unescaped once */
}

static void bad_mount_lines(void **state)
{
	static const char *const lines[] = {
		"",
		"\n",
		"1 1 0:1 / /x rw\n",
		"1 1 0:1 / /x rw shared:1\n",
		"1 1 0:1 / /x rw -\n",
		"1 1 0:1 / /x rw - \n",
		"1 1 0:1 / /x rw - cgroup2\n",
		"1 1 0:1 / /x rw - cgroup2 none\n",
		"1 1 0:1 / /x - cgroup2 none rw\n",
		"x 1 0:1 / /x rw - cgroup2 none rw\n",
		"1 -1 0:1 / /x rw - cgroup2 none rw\n",
		"1 1 01 / /x rw - cgroup2 none rw\n",
		"1 1 0:1:2 / /x rw - cgroup2 none rw\n",
		"1 1 0: / /x rw - cgroup2 none rw\n",
		"1 1 0:1 / x rw - cgroup2 none rw\n",
		"1 1 0:1  /x rw - cgroup2 none rw\n",
		"1 1 0:1 /  rw - cgroup2 none rw\n",
		"1 1 0:1 / /x rw  - cgroup2 none rw\n",
		" 1 1 0:1 / /x rw - cgroup2 none rw\n",
		"1 1 0:1 / /x\\ rw - cgroup2 none rw\n",
		"1 1 0:1 / /x\\04 rw - cgroup2 none rw\n",
		"1 1 0:1 / /x\\048 rw - cgroup2 none rw\n",
		"1 1 0:1 / /x\\000 rw - cgroup2 none rw\n",
		"1 1 0:1 / /x\\777 rw - cgroup2 none rw\n",
	};
	char text[1024], *at;
	struct sw_mount m;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(text, sizeof(text), "%s", lines[i]);
		at = text;
		if (sw_mountinfo_next(&at, &m))
			fail_msg("taken: %s", lines[i]);
		/* and the next line is not taken with it */
		snprintf(text, sizeof(text), "%s\n1 1 0:1 / /good rw - t s o\n", lines[i]);
		at = text;
		assert_true(sw_mountinfo_next(&at, &m));
		assert_string_equal(m.point, "/good");
	}
}

static void long_mountinfo(void **state)
{
	const struct tree *t = *state;
	const char line[] = "36 35 98:0 / /a/rather/long/way/to/somewhere rw,noatime - ext4 /dev/root rw\n";
	char *text = malloc(2000 * (sizeof(line) - 1) + 1), *at, *read;
	struct sw_mount m;
	size_t n = 0;

	assert_non_null(text);
	for (at = text, *at = '\0'; n < 2000; n++)
		at = stpcpy(at, line);
	tree_write(t, "self/mountinfo", text);
	free(text);
	assert_int_equal(sw_mountinfo_read(t->fd, &read), 0);
	for (at = read, n = 0; sw_mountinfo_next(&at, &m); n++)
		;
	assert_int_equal(n, 2000);
	free(read);
}

/* --- captured trees: the fixture's directory is procfs, and holds the mount points */

static void captured(const struct tree *t, const char *point)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/cgroup.controllers", point);
	tree_write(t, path, "cpu memory\n");
}

/* "%s" in the format is the fixture's directory. */
static void __attribute__((format(printf, 2, 0))) mountinfo(const struct tree *t, const char *format)
{
	char text[2048];

	snprintf(text, sizeof(text), format, t->path, t->path, t->path, t->path);
	tree_write(t, "self/mountinfo", text);
}

static uint64_t inode(const struct tree *t, const char *path)
{
	struct stat st;

	assert_int_equal(fstatat(t->fd, path, &st, 0), 0);
	return st.st_ino;
}

/* Found at `point` below the fixture, or not at all with that error and those words in it. */
static void expect_found(const struct tree *t, const char *path, const char *point)
{
	struct sw_error error = {""};
	struct sw_cgroupfs c;
	char want[128];

	snprintf(want, sizeof(want), "%s/%s", t->path, point);
	if (sw_cgroupfs_open(&c, t->fd, path, &error))
		fail_msg("%s", error.text);
	assert_string_equal(c.mount, want);
	assert_true(c.root_id == inode(t, point));
	assert_int_equal(fcntl(c.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	sw_cgroupfs_close(&c);
	assert_int_equal(c.fd, -1);
	sw_cgroupfs_close(&c);
}

static void expect_refused(const struct tree *t, const char *path, int err, const char *words)
{
	struct sw_error error = {""};
	struct sw_cgroupfs c = {.fd = 99};

	assert_int_equal(sw_cgroupfs_open(&c, t->fd, path, &error), err);
	if (!strstr(error.text, words))
		fail_msg("no \"%s\" in: %s", words, error.text);
	assert_int_equal(c.fd, -1);
	sw_cgroupfs_close(&c);
}

static void finds_the_mount(void **state)
{
	const struct tree *t = *state;

	expect_refused(t, NULL, -ENOENT, "self/mountinfo");
	mountinfo(t, "1 1 0:1 / /sys rw - sysfs sysfs rw\n2 1 0:2 / %s/v1 rw - cgroup cgroup rw,memory\n");
	expect_refused(t, NULL, -ENOENT, "no cgroup v2 is mounted");
	captured(t, "one");
	captured(t, "two words");
	mkdirat(t->fd, "plain", 0755);
	mountinfo(t, "1 1 0:1 / %s/one rw - cgroup2 none rw\n");
	expect_found(t, NULL, "one");
	/* beside v1 */
	mountinfo(t, "1 1 0:1 / %s/plain rw - tmpfs tmpfs rw\n2 1 0:2 / %s/plain/cpu rw - cgroup cgroup rw,cpu\n"
		     "3 1 0:3 / %s/two\\040words rw shared:4 - cgroup2 none rw\n");
	expect_found(t, NULL, "two words");
	/* a part is taken only where there is no whole */
	mountinfo(t, "1 1 0:1 /part %s/one rw - cgroup2 none rw\n2 1 0:1 / %s/two\\040words rw - cgroup2 none rw\n");
	expect_found(t, NULL, "two words");
	mountinfo(t, "1 1 0:1 /part %s/one rw - cgroup2 none rw\n"
		     "2 1 0:1 /../x %s/two\\040words rw - cgroup2 none rw\n");
	expect_found(t, NULL, "one");
	/* the first of several */
	mountinfo(t, "1 1 0:1 / %s/two\\040words rw - cgroup2 none rw\n2 1 0:1 / %s/one rw - cgroup2 none rw\n");
	expect_found(t, NULL, "two words");
	/* gone, covered, then a part */
	mountinfo(t, "1 1 0:1 / %s/gone rw - cgroup2 none rw\n2 1 0:1 / %s/plain rw - cgroup2 none rw\n"
		     "3 1 0:1 /part %s/one rw - cgroup2 none rw\n");
	expect_found(t, NULL, "one");
	mountinfo(t, "1 1 0:1 / %s/plain rw - cgroup2 none rw\n");
	expect_refused(t, NULL, -EINVAL, "covers it");
	mountinfo(t, "1 1 0:1 / %s/gone rw - cgroup2 none rw\n");
	expect_refused(t, NULL, -ENOENT, "gone: No such file");
	mountinfo(t, "1 1 0:1 / %s/one rw - cgroup2\n");
	expect_refused(t, NULL, -ENOENT, "no cgroup v2 is mounted");
}

static void named_mount(void **state)
{
	const struct tree *t = *state;
	char path[128];

	captured(t, "one");
	mkdirat(t->fd, "plain", 0755);
	snprintf(path, sizeof(path), "%s/one/", t->path);
	expect_found(t, path, "one");
	tree_link(t, "one", "link");
	snprintf(path, sizeof(path), "%s/link", t->path);
	expect_found(t, path, "one"); /* in the kernel's words */
	snprintf(path, sizeof(path), "%s/plain", t->path);
	expect_refused(t, path, -EINVAL, "give the directory where it is mounted");
	mountinfo(t, "1 1 0:1 / %s/one rw - cgroup2 none rw\n");
	expect_refused(t, path, -EINVAL, "/one");
	snprintf(path, sizeof(path), "%s/none", t->path);
	expect_refused(t, path, -ENOENT, "/none");
	snprintf(path, sizeof(path), "%s/one/cgroup.controllers", t->path);
	expect_refused(t, path, -ENOTDIR, "/one/cgroup.controllers");
}

static struct sw_cgroupfs open_captured(const struct tree *t)
{
	struct sw_cgroupfs c;
	char path[128];

	captured(t, "cg");
	captured(t, "cg/a");
	captured(t, "cg/a/b");
	captured(t, "cg/a/n\nl\xff \\x");
	captured(t, "cg/..a");
	captured(t, "cg/4:memory:");
	captured(t, "elsewhere/x");
	snprintf(path, sizeof(path), "%s/cg", t->path);
	assert_int_equal(sw_cgroupfs_open(&c, t->fd, path, NULL), 0);
	return c;
}

static void expect_resolved(const struct sw_cgroupfs *c, const char *text, const char *want)
{
	struct sw_error error = {""};
	char *path = NULL, *at;
	struct stat st;
	uint64_t id = 0;

	if (sw_cgroupfs_resolve(c, text, &error, &path, &id))
		fail_msg("%s: %s", text, error.text);
	assert_string_equal(path, want);
	assert_true(asprintf(&at, "%s%s", c->mount, want) > 0);
	assert_int_equal(stat(at, &st), 0);
	free(at);
	assert_true(id == st.st_ino);
	assert_true(sw_cgroupfs_id(c, path) == id);
	free(path);
}

static void expect_unresolved(const struct sw_cgroupfs *c, const char *text, int err, const char *words)
{
	struct sw_error error = {""};
	char *path = (char *)c;
	uint64_t id = 99;

	assert_int_equal(sw_cgroupfs_resolve(c, text, &error, &path, &id), err);
	if (!strstr(error.text, words))
		fail_msg("no \"%s\" in: %s", words, error.text);
	assert_ptr_equal(path, c);
	assert_true(id == 99);
}

static void resolves(void **state)
{
	const struct tree *t = *state;
	struct sw_cgroupfs c = open_captured(t);
	char text[256];

	expect_resolved(&c, "/", "/");
	expect_resolved(&c, ".", "/");
	expect_resolved(&c, "0::/", "/");
	expect_resolved(&c, "/a/b", "/a/b");
	expect_resolved(&c, "a/b", "/a/b");
	expect_resolved(&c, "a/b/", "/a/b");
	expect_resolved(&c, "0::/a/b", "/a/b");
	expect_resolved(&c, "//a/./b//", "/a/b");
	expect_resolved(&c, "/a/../a/b/..", "/a");
	expect_resolved(&c, "a/..", "/");
	expect_resolved(&c, "/..a", "/..a");
	expect_resolved(&c, "/a/n\nl\xff \\x", "/a/n\nl\xff \\x");
	expect_resolved(&c, "/4:memory:", "/4:memory:");
	snprintf(text, sizeof(text), "%s/cg", t->path);
	expect_resolved(&c, text, "/");
	snprintf(text, sizeof(text), "%s/cg/a/b", t->path);
	expect_resolved(&c, text, "/a/b");
	snprintf(text, sizeof(text), "/%s/.//cg/./a//b/", t->path);
	expect_resolved(&c, text, "/a/b");
	snprintf(text, sizeof(text), "%s/elsewhere/../cg/a", t->path);
	expect_resolved(&c, text, "/a");
	tree_link(t, "cg", "link");
	snprintf(text, sizeof(text), "%s/link/a", t->path);
	expect_resolved(&c, text, "/a");
	/* both could be meant: the mount point wins */
	snprintf(text, sizeof(text), "cg%s/cg/a/inner", t->path);
	captured(t, text);
	snprintf(text, sizeof(text), "%s/cg/a", t->path);
	expect_resolved(&c, text, "/a");
	snprintf(text, sizeof(text), "0::%s/cg/a", t->path);
	expect_resolved(&c, text, text + 3);
	sw_cgroupfs_close(&c);
}

static void does_not_resolve(void **state)
{
	const struct tree *t = *state;
	struct sw_cgroupfs c = open_captured(t);
	char text[256], *long_name = calloc(1, 5001);

	expect_unresolved(&c, "", -EINVAL, "empty");
	expect_unresolved(&c, "/a/c", -ENOENT, "no cgroup /a/c");
	expect_unresolved(&c, "/a/b\n", -ENOENT, "/a/b\n");
	expect_unresolved(&c, "/a/cgroup.controllers", -ENOTDIR, "is a file");
	expect_unresolved(&c, "/a/cgroup.controllers/x", -ENOTDIR, "is a file");
	expect_unresolved(&c, "..", -EINVAL, "leads out");
	expect_unresolved(&c, "/../elsewhere/x", -EINVAL, "leads out");
	expect_unresolved(&c, "/a/../../elsewhere/x", -EINVAL, "leads out");
	expect_unresolved(&c, "0::/../elsewhere/x", -EINVAL, "leads out");
	snprintf(text, sizeof(text), "%s/cg/../elsewhere/x", t->path);
	expect_unresolved(&c, text, -EINVAL, "leads out");
	snprintf(text, sizeof(text), "%s/elsewhere/x", t->path);
	expect_unresolved(&c, text, -ENOENT, "/elsewhere/x");
	/* the mount point's name is no prefix of another's */
	captured(t, "cgx/a");
	snprintf(text, sizeof(text), "%s/cgx/a", t->path);
	expect_unresolved(&c, text, -ENOENT, "/cgx/a");
	expect_unresolved(&c, "4:memory:/x", -EINVAL, "cgroup of v1");
	expect_unresolved(&c, "1:name=systemd:/a/b", -EINVAL, "0::");
	expect_unresolved(&c, "12:cpu,cpuacct:/", -EINVAL, "cgroup of v1");
	expect_unresolved(&c, "0::a/b", -EINVAL, "slash");
	expect_unresolved(&c, "0::", -EINVAL, "slash");
	tree_link(t, "../elsewhere", "cg/link");
	expect_unresolved(&c, "/link", -ENOTDIR, "/link");
	tree_link(t, "/proc", "cg/foreign");
	expect_unresolved(&c, "/foreign/sys", -EINVAL, "another file system");
	assert_non_null(long_name);
	memset(long_name, 'x', 5000);
	expect_unresolved(&c, long_name, -ENAMETOOLONG, "too long");
	free(long_name);
	/* ids of a captured tree are not handles */
	assert_null(sw_cgroupfs_path(&c, inode(t, "cg/a")));
	assert_true(sw_cgroupfs_id(&c, "/a/../a") == 0);
	assert_true(sw_cgroupfs_id(&c, "/..") == 0);
	assert_true(sw_cgroupfs_id(&c, "/a/c") == 0);
	sw_cgroupfs_close(&c);
}

/* --- v1, and paths of processes */

static void v1_mounts(void **state)
{
	const struct tree *t = *state;
	struct sw_error error = {""};
	struct sw_cgroupfs c;

	tree_write(t, "acct/cpuacct.usage", "0\n");
	tree_write(t, "cpu/cpu.shares", "1024\n");
	captured(t, "v2");
	mountinfo(t, "1 1 0:1 / %s/v2 rw - cgroup2 none rw,cpuacct\n2 1 0:2 / %s/cpu rw - cgroup cgroup rw,cpu\n"
		     "3 1 0:3 /part %s/acct rw - cgroup cgroup rw,xcpuacct,cpuacct\n");
	assert_int_equal(sw_cgroupfs_open_v1(&c, t->fd, "cpuacct", "cpuacct.usage", &error), 0);
	assert_true(c.root_id == inode(t, "acct"));
	assert_string_equal(c.part, "/part");
	sw_cgroupfs_close(&c);
	assert_null(c.part);
	mountinfo(t, "1 1 0:1 / %s/v2 rw - cgroup2 none rw\n2 1 0:2 / %s/cpu rw - cgroup cgroup rw,cpu\n"
		     "3 1 0:3 / %s/acct rw - cgroup cgroup rw,cpuacctx,cpuset\n");
	assert_int_equal(sw_cgroupfs_open_v1(&c, t->fd, "cpuacct", "cpuacct.usage", &error), -ENOENT);
	assert_string_equal(error.text, "no cgroup v1 with the controller cpuacct is mounted");
	mountinfo(t, "1 1 0:1 / %s/cpu rw - cgroup cgroup rw,cpuacct\n");
	assert_int_equal(sw_cgroupfs_open_v1(&c, t->fd, "cpuacct", "cpuacct.usage", &error), -EINVAL);
	assert_non_null(strstr(error.text, "covers it"));
	sw_cgroupfs_close(&c);
}

static void expect_inside(const char *part, const char *path, int err, const char *want)
{
	const struct sw_cgroupfs c = {.part = (char *)part};
	char *got = NULL;

	assert_int_equal(sw_cgroupfs_inside(&c, path, strlen(path), &got), err);
	if (want)
		assert_string_equal(got, want);
	else
		assert_null(got);
	free(got);
}

static void paths_of_processes(void **state)
{
	(void)state;
	expect_inside(NULL, "/", 0, "/");
	expect_inside("/", "/", 0, "/");
	expect_inside("/", "/a:b/c", 0, "/a:b/c");
	expect_inside("/", "/..a", 0, "/..a");
	expect_inside("/docker/x", "/docker/x", 0, "/");
	expect_inside("/docker/x", "/docker/x/y", 0, "/y");
	expect_inside("/docker/x", "/docker/xy", -ENOENT, NULL);
	expect_inside("/docker/x", "/docker", -ENOENT, NULL);
	expect_inside("/docker/x", "/", -ENOENT, NULL);
	expect_inside("/", "/..", -EXDEV, NULL);
	expect_inside("/", "/../x", -EXDEV, NULL);
	expect_inside("/..", "/../x", -EXDEV, NULL);
	expect_inside("/..", "/x", -ENOENT, NULL);
}

/* --- the live hierarchy */

struct live {
	struct sw_cgroupfs c;
	char name[64]; /* of a cgroup of our own below the root: "/schedwatt-test-PID" */
};

static const char *const live_below[] = {"/in", "/in/deep", "/\xff x\\040"}; /* a newline the kernel refuses */

static int live_make(const struct live *l, const char *below, bool make)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s%s", l->c.mount, l->name, below);
	return make ? mkdir(path, 0755) : rmdir(path);
}

static int live_setup(void **state)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct live *l = calloc(1, sizeof(*l));

	assert_non_null(l);
	*state = l;
	if (geteuid() || sw_cgroupfs_open(&l->c, proc, NULL, NULL))
		l->c.fd = -1;
	close(proc);
	snprintf(l->name, sizeof(l->name), "/schedwatt-test-%d", (int)getpid());
	if (l->c.fd >= 0 && live_make(l, "", true)) {
		sw_cgroupfs_close(&l->c);
		return 0;
	}
	for (size_t i = 0; l->c.fd >= 0 && i < sizeof(live_below) / sizeof(live_below[0]); i++)
		live_make(l, live_below[i], true); /* a test will miss it */
	return 0;
}

static int live_teardown(void **state)
{
	struct live *l = *state;

	for (size_t i = sizeof(live_below) / sizeof(live_below[0]); l->c.fd >= 0 && i; i--)
		live_make(l, live_below[i - 1], false);
	if (l->c.fd >= 0)
		live_make(l, "", false);
	sw_cgroupfs_close(&l->c);
	free(l);
	return 0;
}

static const struct live *need_live(void **state)
{
	const struct live *l = *state;

	if (l->c.fd < 0) {
		print_message("skip: it takes root and a cgroup v2 where cgroups can be made\n");
		skip();
	}
	return l;
}

static void expect_live_path(const struct sw_cgroupfs *c, uint64_t id, const char *want)
{
	char *path = sw_cgroupfs_path(c, id);

	if (!want != !path || (want && strcmp(want, path)))
		fail_msg("%s, not %s", path ? path : "nothing", want ? want : "nothing");
	free(path);
}

static void live_paths(void **state)
{
	const struct live *l = need_live(state);
	struct sw_cgroupfs part;
	char text[512], want[512];
	uint64_t id, gone;

	for (size_t i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "%s%s", l->name, live_below[i]);
		expect_resolved(&l->c, text, text);
		expect_live_path(&l->c, sw_cgroupfs_id(&l->c, text), text);
	}
	expect_live_path(&l->c, l->c.root_id, "/");
	expect_live_path(&l->c, 0, NULL);
	expect_live_path(&l->c, UINT64_MAX, NULL);
	snprintf(text, sizeof(text), "%s%s/in/deep/", l->c.mount, l->name);
	snprintf(want, sizeof(want), "%s/in/deep", l->name);
	expect_resolved(&l->c, text, want);
	id = sw_cgroupfs_id(&l->c, want);
	/* from a part of it, the rest is not to be seen */
	snprintf(text, sizeof(text), "%s%s/in", l->c.mount, l->name);
	assert_int_equal(sw_cgroupfs_open(&part, -1, text, NULL), 0);
	expect_live_path(&part, id, "/deep");
	expect_live_path(&part, part.root_id, "/");
	expect_live_path(&part, l->c.root_id, NULL);
	expect_live_path(&part, sw_cgroupfs_id(&l->c, l->name), NULL);
	sw_cgroupfs_close(&part);
	/* removed, and made anew: another id */
	gone = id;
	assert_int_equal(live_make(l, "/in/deep", false), 0);
	expect_live_path(&l->c, gone, NULL);
	assert_int_equal(live_make(l, "/in/deep", true), 0);
	expect_live_path(&l->c, gone, NULL);
	snprintf(text, sizeof(text), "%s/in/deep", l->name);
	assert_true(sw_cgroupfs_id(&l->c, text) != gone);
	expect_live_path(&l->c, sw_cgroupfs_id(&l->c, text), text);
}

static void live_without_privilege(void **state)
{
	const struct live *l = need_live(state);
	char text[512];

	snprintf(text, sizeof(text), "%s/in/deep", l->name);
	as_nobody();
	expect_resolved(&l->c, text, text);
	expect_live_path(&l->c, sw_cgroupfs_id(&l->c, text), NULL);
	expect_live_path(&l->c, l->c.root_id, "/");
	as_root_again();
}

static void live_v1(void **state)
{
	const struct live *l = need_live(state);
	struct sw_mount m = {0};
	char *text, *at, path[512];
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool found = false;

	assert_int_equal(sw_mountinfo_read(proc, &text), 0);
	for (at = text; !found && sw_mountinfo_next(&at, &m);)
		found = !strcmp(m.type, "cgroup");
	if (found) {
		struct sw_error error = {""};
		struct sw_cgroupfs c;

		expect_unresolved(&l->c, m.point, -EINVAL, "cgroup of v1");
		snprintf(path, sizeof(path), "%s/not/there", m.point);
		expect_unresolved(&l->c, path, -EINVAL, "cgroup of v1");
		assert_int_equal(sw_cgroupfs_open(&c, proc, m.point, &error), -EINVAL);
		assert_non_null(strstr(error.text, l->c.mount)); /* what to give instead */
	}
	close(proc);
	free(text);
	if (!found) {
		print_message("skip: no cgroup v1 is mounted here\n");
		skip();
	}
}

/* In a child with mounts of its own, since those must not stay; it exits with the line that failed. */
#define CHECK(ok) ((ok) ? (void)0 : _exit(__LINE__ % 250 + 1))

static void in_child(void (*work)(const struct live *l, const char *dir), const struct live *l)
{
	struct tree *t = tree_new();
	int status;
	pid_t pid = fork();

	if (!pid) {
		CHECK(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
		work(l, t->path);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	tree_free(t);
	assert_int_equal(status, 0);
}

/* A part is mounted elsewhere, and the whole is covered: the part it is. */
static void cover(const struct live *l, const char *dir)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct sw_cgroupfs c;
	char text[512], *path;
	uint64_t id;

	snprintf(text, sizeof(text), "%s%s/in", l->c.mount, l->name);
	CHECK(!mount(text, dir, NULL, MS_BIND, NULL));
	CHECK(!sw_cgroupfs_open(&c, proc, NULL, NULL) && !strcmp(c.mount, l->c.mount) && c.root_id == l->c.root_id);
	sw_cgroupfs_close(&c);
	CHECK(!mount("none", l->c.mount, "tmpfs", 0, NULL));
	CHECK(!sw_cgroupfs_open(&c, proc, NULL, NULL) && !strcmp(c.mount, dir));
	CHECK(!sw_cgroupfs_resolve(&c, "/deep", NULL, &path, &id) && !strcmp(path, "/deep"));
	free(path);
	path = sw_cgroupfs_path(&c, id);
	CHECK(path && !strcmp(path, "/deep"));
	free(path);
	sw_cgroupfs_close(&c);
	close(proc);
}

static void live_covered(void **state)
{
	in_child(cover, need_live(state));
}

/* A cgroup namespace, as a container has it: its own root, whatever the id of that. */
static void enter_namespace(const struct live *l, const char *dir)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
	struct sw_cgroupfs c;
	char text[512], *path;
	uint64_t id;

	snprintf(text, sizeof(text), "%s%s/in/cgroup.procs", l->c.mount, l->name);
	fd = open(text, O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0 && write(fd, "0", 1) == 1 && !close(fd));
	CHECK(!unshare(CLONE_NEWCGROUP));
	CHECK(!mount("none", dir, "cgroup2", 0, NULL));
	CHECK(!sw_cgroupfs_open(&c, proc, NULL, NULL) && !strcmp(c.mount, dir) && c.root_id != l->c.root_id);
	CHECK(!sw_cgroupfs_resolve(&c, "0::/deep", NULL, &path, &id));
	free(path);
	path = sw_cgroupfs_path(&c, id);
	CHECK(path && !strcmp(path, "/deep"));
	free(path);
	CHECK(!sw_cgroupfs_path(&c, l->c.root_id));
	CHECK(sw_cgroupfs_resolve(&c, "0::/..", NULL, &path, &id) == -EINVAL);
	sw_cgroupfs_close(&c);
	close(proc);
}

static void live_namespace(void **state)
{
	in_child(enter_namespace, need_live(state));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mount_lines),
		cmocka_unit_test(bad_mount_lines),
		cmocka_unit_test_setup_teardown(long_mountinfo, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(finds_the_mount, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(named_mount, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(resolves, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(does_not_resolve, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(v1_mounts, tree_setup, tree_teardown),
		cmocka_unit_test(paths_of_processes),
		cmocka_unit_test_setup_teardown(live_paths, live_setup, live_teardown),
		cmocka_unit_test_setup_teardown(live_without_privilege, live_setup, live_teardown),
		cmocka_unit_test_setup_teardown(live_v1, live_setup, live_teardown),
		cmocka_unit_test_setup_teardown(live_covered, live_setup, live_teardown),
		cmocka_unit_test_setup_teardown(live_namespace, live_setup, live_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* energy/powercap*.c: zones that are broken, forbidden, or not there; what is kept open. */
#include "kernfs.h"
#include "powercap.h"

#include <errno.h>

/* The broken say why, the others go on. */
static void broken_zones(void **state)
{
	const struct tree *t = *state;
	struct sw_zone_value v[16];
	struct sw_energy_source *s;
	size_t i;

	tree_zone(t, "intel-rapl:0", "package-0\n", NULL, "1000\n");
	tree_link(t, "/proc/self/mem", "class/powercap/intel-rapl:0/energy_uj");
	tree_link(t, "/nonexistent", "class/powercap/intel-rapl:1");
	tree_zone(t, "intel-rapl:2", "package-2\n", "12abc\n", "1000\n");
	tree_zone(t, "intel-rapl:3", "package-3\n", "", "1000\n");
	tree_zone(t, "intel-rapl:4", "package-4\n", "44\n", "1000\n");
	tree_zone(t, "intel-rapl:5", "package-5\n", NULL, "1000\n");
	tree_zone(t, "intel-rapl:6", "package-6\n", "18446744073709551616\n", "1000\n");
	tree_zone(t, "intel-rapl:7", "\n", "7\n", "1000\n");
	tree_zone(t, "intel-rapl:8", "pack/age\n", "7\n", "1000\n");
	tree_write(t, "class/powercap/intel-rapl:9", "a file\n");
	s = open_zones(t, &one);
	assert_zones(s, "package-0!, package-2!, package-3!, package-4, package-5!, package-6!, "
			"intel-rapl:1!, intel-rapl:7!, intel-rapl:8!, intel-rapl:9!");
	s->ops->read(s, NULL, v);
	assert_int_equal(v[zone(s, "package-0")].status, -EIO);
	assert_int_equal(v[zone(s, "intel-rapl:1")].status, -ENOENT);
	assert_int_equal(v[zone(s, "package-2")].status, -EINVAL);
	assert_int_equal(v[zone(s, "package-3")].status, -ENODATA);
	assert_int_equal(v[zone(s, "package-4")].status, 0);
	assert_true(v[zone(s, "package-4")].raw_uj == 44);
	assert_int_equal(v[zone(s, "package-5")].status, -ENOENT);
	assert_int_equal(v[zone(s, "package-6")].status, -ERANGE);
	assert_int_equal(v[zone(s, "intel-rapl:9")].status, -ENOTDIR);
	assert_string_equal(s->zones[0].problem, "class/powercap/intel-rapl:0/energy_uj: input/output error");
	i = zone(s, "intel-rapl:1");
	assert_string_equal(s->zones[i].problem, "class/powercap/intel-rapl:1/name: does not exist: the driver has gone, "
			    "or a container's runtime hides it");

	/* Those that turn bad later say so each time, and never give the old value. */
	tree_write(t, "class/powercap/intel-rapl:4/energy_uj", "");
	s->ops->read(s, NULL, v);
	i = zone(s, "package-4");
	assert_int_equal(v[i].status, -ENODATA);
	assert_true(v[i].raw_uj == 0);
	tree_write(t, "class/powercap/intel-rapl:4/energy_uj", "55\n");
	s->ops->read(s, NULL, v);
	assert_int_equal(v[i].status, 0);
	assert_true(v[i].raw_uj == 55);
	s->ops->close(s);
}

/* What drivers answer instead of a number, from the start and later; the other package is read all the while. */
static void drivers_that_fail(void **state)
{
	static const struct {
		int err;
		const char *words;
	} ways[] = {
		{ EIO, "energy_uj: input/output error" },
		{ EINVAL, "energy_uj: does not hold what it should, or the counter refuses to be read" },
		{ ENODATA, "energy_uj: is empty, or the counter has no data" },
		{ EACCES, "energy_uj: permission denied. Since CVE-2020-8694" },
		{ ENODEV, "energy_uj: error 19" },
	};
	static const char path[] = "class/powercap/intel-rapl:0/energy_uj";
	const struct tree *t = *state;
	struct sw_energy_source *s;
	struct sw_zone_value v[2];
	size_t i;

	tree_zone(t, "intel-rapl:0", "package-0\n", "5\n", NULL);
	tree_zone(t, "intel-rapl:1", "package-1\n", "6\n", NULL);
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		kernfs_fails(t, path, ways[i].err);
		s = open_zones(t, &one);
		assert_zones(s, "package-0!, package-1");
		assert_non_null(strstr(s->zones[0].problem, ways[i].words));
		s->ops->close(s);

		kernfs_fails(t, path, 0);
		s = open_zones(t, &one);
		assert_zones(s, "package-0, package-1");
		kernfs_fails(t, path, ways[i].err);
		s->ops->read(s, NULL, v);
		assert_int_equal(v[0].status, -ways[i].err);
		assert_true(v[0].raw_uj == 0 && v[1].raw_uj == 6 && !v[1].status);
		s->ops->mend(s); /* it is there, and fails on; then it recovers */
		s->ops->read(s, NULL, v);
		assert_int_equal(v[0].status, -ways[i].err);
		kernfs_fails(t, path, 0);
		s->ops->read(s, NULL, v);
		assert_true(v[0].raw_uj == 5 && !v[0].status);
		s->ops->close(s);
	}
}

/* A zone that may not be read does not stop the others. */
static void permission(void **state)
{
	const struct tree *t = *state;
	const struct sw_energy_config config = { .sysfs_fd = t->fd, .topology = &one };
	struct sw_energy_source *s = NULL, *none = NULL;
	struct sw_zone_value v[2];
	struct sw_error e = { .text = "" };
	int err, err_all;

	tree_zone(t, "intel-rapl:0", "package-0\n", "5\n", NULL);
	tree_zone(t, "intel-rapl:1", "package-1\n", "6\n", NULL);
	assert_int_equal(fchmodat(t->fd, "class/powercap/intel-rapl:0/energy_uj", 0, 0), 0);
	as_nobody();
	err = sw_energy_powercap.open(&config, &e, &s);
	as_root_again();
	assert_int_equal(err, 0);
	assert_zones(s, "package-0!, package-1");
	assert_non_null(strstr(s->zones[0].problem, "class/powercap/intel-rapl:0/energy_uj: permission denied"));
	assert_non_null(strstr(s->zones[0].problem, "CVE-2020-8694"));
	assert_non_null(strstr(s->zones[0].problem, "run as root"));
	assert_non_null(strstr(s->zones[0].problem, "CAP_DAC_READ_SEARCH"));
	assert_non_null(strstr(s->zones[0].problem, "udev rule"));
	s->ops->read(s, NULL, v);
	assert_int_equal(v[0].status, -EACCES);
	assert_int_equal(v[1].status, 0);
	assert_true(v[1].raw_uj == 6);
	s->ops->close(s);

	assert_int_equal(fchmodat(t->fd, "class/powercap/intel-rapl:1/energy_uj", 0, 0), 0);
	as_nobody();
	err_all = sw_energy_powercap.open(&config, &e, &none);
	as_root_again();
	assert_int_equal(err_all, -EACCES);
	assert_null(none);
	assert_non_null(strstr(e.text, "intel-rapl:0/energy_uj: permission denied"));
	assert_non_null(strstr(e.text, "CAP_DAC_READ_SEARCH"));
}

/* Nothing there, in each way in which nothing can be there. */
static void nothing(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	struct sw_error e = { .text = "" };

	assert_non_null(strstr(refusal(t, -ENOENT, &e), "there is no class/powercap"));
	tree_write(t, "class/powercap/README", "");
	assert_non_null(strstr(refusal(t, -ENODEV, &e), "has no RAPL zone"));

	/* Foreign control types, and the directory of our own, which is not a zone. */
	tree_zone(t, "dtpm", "dtpm\n", "1\n", NULL);
	tree_zone(t, "dtpm:0", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl-mmio", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:x", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:0x", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:0:", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:00", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:0:0:0", "package-0\n", "1\n", NULL);
	assert_non_null(strstr(refusal(t, -ENODEV, &e), "has no RAPL zone"));

	tree_zone(t, "intel-rapl:1", "psys\n", "1\n", NULL);
	assert_non_null(strstr(refusal(t, -ENODEV, &e), "none of the zones in class/powercap is a processor package"));
	tree_link(t, "/nonexistent", "class/powercap/intel-rapl:2");
	assert_non_null(strstr(refusal(t, -ENODEV, &e), "; class/powercap/intel-rapl:2/name: does not exist"));
	tree_zone(t, "intel-rapl:3", "package-0\n", "", NULL);
	assert_non_null(strstr(refusal(t, -ENODATA, &e), "intel-rapl:3/energy_uj: is empty"));

	tree_zone(t, "intel-rapl:0", "package-0\n", "1\n", NULL); /* no subzones */
	s = open_zones(t, &one);
	assert_zones(s, "package-0, package-0 (intel-rapl:3)=!, psys, intel-rapl:2!");
	assert_true(total_uj(s) == 1);
	s->ops->close(s);
}

/* What is opened is kept and closed on exec, and all of it is given back. */
static void keeps_fds(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	int fd, before, after, during;

	tree_zone(t, "intel-rapl:0", "package-0\n", "10\n", NULL);
	tree_zone(t, "intel-rapl:1", "package-1\n", "bad\n", NULL);
	for (fd = 0, before = 0; fd < 256; fd++)
		before += fcntl(fd, F_GETFD) >= 0;
	s = open_zones(t, &one);
	for (fd = 3, during = 0; fd < 256; fd++)
		during += fcntl(fd, F_GETFD) == FD_CLOEXEC;
	assert_true(during >= 3); /* the tree's, the source's and the zone's */
	for (fd = 0, after = 0; fd < 256; fd++)
		after += fcntl(fd, F_GETFD) >= 0;
	assert_int_equal(after, before + 2); /* its file, and where to look for it again */
	/* Once open it needs no path, and no rights to one. */
	assert_int_equal(renameat(t->fd, "class", t->fd, "elsewhere"), 0);
	assert_true(total_uj(s) == 10);
	s->ops->close(s);
	for (fd = 0, after = 0; fd < 256; fd++)
		after += fcntl(fd, F_GETFD) >= 0;
	assert_int_equal(after, before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_TREE(broken_zones),
		IN_A_TREE(drivers_that_fail),
		IN_A_TREE(permission),
		IN_A_TREE(nothing),
		IN_A_TREE(keeps_fds),
	};

	return cmocka_run_group_tests_name("powercap_broken", tests, NULL, NULL);
}

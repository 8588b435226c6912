/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * energy/powercap.c: zones that go away and come back, under other numbers, with counters that begin anew: a driver
 * unloaded and loaded again, a package whose last CPU is taken off.
 */
#include "kernfs.h"
#include "powercap.h"

#include "../../src/energy/counter.h"

#include <mntent.h>

#define SECOND UINT64_C(1000000000)

static void remove_zone(const struct tree *t, const char *dir)
{
	static const char *const files[] = { "enabled", "name", "energy_uj", "max_energy_range_uj" };
	char path[256];
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "class/powercap/%s/%s", dir, files[i]);
		unlinkat(t->fd, path, 0);
	}
	snprintf(path, sizeof(path), "class/powercap/%s", dir);
	assert_int_equal(unlinkat(t->fd, path, AT_REMOVEDIR), 0);
}

/* "12 -19 7": what each zone reads, in its order, or its error. */
static void assert_reads(struct sw_energy_source *s, const char *want)
{
	struct sw_zone_value v[16];
	char text[256] = "";
	size_t i, n = 0;

	assert_true(s->n_zones <= 16);
	s->ops->read(s, NULL, v);
	for (i = 0; i < s->n_zones; i++) {
		assert_true(!v[i].status || !v[i].raw_uj); /* nothing stale beside an error */
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%lld", i ? " " : "",
				      v[i].status ? v[i].status : (long long)v[i].raw_uj);
	}
	assert_string_equal(text, want);
}

static int open_fds(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* The driver's zones all go and come back in another order; each is found by what it is. */
static void driver_loaded_again(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	int n_fds;

	tree_zone(t, "intel-rapl:0", "package-0\n", "1000\n", "262143328850\n");
	tree_zone(t, "intel-rapl:0:0", "dram\n", "10\n", NULL);
	tree_zone(t, "intel-rapl:0:1", "core\n", "20\n", NULL);
	tree_zone(t, "intel-rapl:1", "package-1\n", "2000\n", NULL);
	tree_zone(t, "intel-rapl:1:0", "dram\n", "30\n", NULL);
	tree_zone(t, "intel-rapl:2", "psys\n", "9000\n", NULL);
	s = open_zones(t, &one);
	n_fds = open_fds();
	assert_zones(s, "package-0, package-0/dram, package-0/core, package-1, package-1/dram, psys");
	assert_reads(s, "1000 10 20 2000 30 9000");
	s->ops->mend(s); /* nothing is lost: nothing changes */
	assert_int_equal(open_fds(), n_fds);

	remove_zone(t, "intel-rapl:0:0");
	remove_zone(t, "intel-rapl:0:1");
	remove_zone(t, "intel-rapl:0");
	remove_zone(t, "intel-rapl:1:0");
	remove_zone(t, "intel-rapl:1");
	remove_zone(t, "intel-rapl:2");
	assert_reads(s, "-19 -19 -19 -19 -19 -19");
	s->ops->mend(s);
	assert_int_equal(open_fds(), n_fds - 6);
	assert_reads(s, "-19 -19 -19 -19 -19 -19");

	/* It comes back bit by bit: first with a package alone, under the number that the other one had. */
	tree_zone(t, "intel-rapl:0", "package-1\n", "5\n", NULL);
	assert_reads(s, "-19 -19 -19 -19 -19 -19"); /* until it is looked for */
	s->ops->mend(s);
	assert_reads(s, "-19 -19 -19 5 -19 -19");
	tree_zone(t, "intel-rapl:0:1", "dram\n", "6\n", NULL);
	tree_zone(t, "intel-rapl:1", "psys\n", "7\n", NULL);
	tree_zone(t, "intel-rapl:2", "package-0\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:2:0", "core\n", "3\n", NULL);
	tree_zone(t, "intel-rapl:2:1", "dram\n", "2\n", NULL);
	s->ops->mend(s);
	assert_reads(s, "1 2 3 5 6 7");
	assert_int_equal(open_fds(), n_fds);
	assert_zones(s, "package-0, package-0/dram, package-0/core, package-1, package-1/dram, psys");
	s->ops->close(s);
	assert_int_equal(open_fds(), n_fds - 7);
}

/* Gone and there again between two reads: the kept file fails all the same, and the counter's fall is no wrap. */
static void never_without_a_failed_read(void **state)
{
	struct sw_counter c = { .range_uj = 262143328850 };
	const struct tree *t = *state;
	struct sw_energy_source *s;
	struct sw_zone_value v;

	tree_zone(t, "intel-rapl:0", "package-0\n", "1000000\n", "262143328850\n");
	s = open_zones(t, &one);
	s->ops->read(s, NULL, &v);
	sw_counter_add(&c, &v, SECOND, false);
	tree_write(t, "class/powercap/intel-rapl:0/energy_uj", "3000000\n");
	s->ops->read(s, NULL, &v);
	sw_counter_add(&c, &v, 2 * SECOND, false);
	assert_true(c.sum_nj == 2000000000 && !c.breaks);

	remove_zone(t, "intel-rapl:0");
	tree_zone(t, "intel-rapl:0", "package-0\n", "500000\n", "262143328850\n");
	s->ops->mend(s); /* not by this, either: no read has failed yet */
	s->ops->read(s, NULL, &v);
	assert_int_equal(v.status, -ENODEV);
	sw_counter_add(&c, &v, 3 * SECOND, false);
	assert_true(c.sum_nj == 2000000000 && c.breaks == 1);
	s->ops->mend(s);
	s->ops->read(s, NULL, &v);
	assert_int_equal(v.status, 0);
	sw_counter_add(&c, &v, 4 * SECOND, false);
	assert_true(c.sum_nj == 2000000000 && c.breaks == 2);
	tree_write(t, "class/powercap/intel-rapl:0/energy_uj", "600000\n");
	s->ops->read(s, NULL, &v);
	sw_counter_add(&c, &v, 5 * SECOND, false);
	assert_true(c.sum_nj == 2100000000 && c.breaks == 2);
	s->ops->close(s);
}

/* With the MSR view gone its place stays empty, though the other one shows that package; each comes back as itself. */
static void twins_stay_twins(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;

	tree_zone(t, "intel-rapl:0", "package-0\n", "1000\n", NULL);
	tree_zone(t, "intel-rapl-mmio:0", "package-0\n", "7\n", NULL);
	s = open_zones(t, &one);
	assert_zones(s, "package-0, package-0 (mmio)=");
	remove_zone(t, "intel-rapl:0");
	assert_reads(s, "-19 7");
	s->ops->mend(s);
	assert_reads(s, "-19 7");
	remove_zone(t, "intel-rapl-mmio:0");
	assert_reads(s, "-19 -19");
	tree_zone(t, "intel-rapl-mmio:3", "package-0\n", "8\n", NULL);
	tree_zone(t, "intel-rapl:4", "package-0\n", "2000\n", NULL);
	s->ops->mend(s);
	assert_reads(s, "2000 8");
	assert_zones(s, "package-0, package-0 (mmio)=");
	s->ops->close(s);
}

/* One package of two goes with its last CPU: the other one is read on, and its file is not opened anew. */
static void a_package_that_goes(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;

	tree_zone(t, "intel-rapl:0", "package-0\n", "10\n", NULL);
	tree_zone(t, "intel-rapl:0:0", "dram\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:1", "package-1\n", "20\n", NULL);
	s = open_zones(t, &one);
	remove_zone(t, "intel-rapl:0:0");
	remove_zone(t, "intel-rapl:0");
	assert_reads(s, "-19 -19 20");
	/* were it looked for by name once more, it would be another: not while the kept one reads well */
	assert_int_equal(renameat(t->fd, "class/powercap/intel-rapl:1", t->fd, "class/powercap/kept"), 0);
	tree_zone(t, "intel-rapl:1", "package-1\n", "99\n", NULL);
	s->ops->mend(s);
	assert_reads(s, "-19 -19 20");
	s->ops->close(s);
}

/* All of class/powercap goes with its module. */
static void the_class_goes(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;
	int n_fds;

	tree_zone(t, "intel-rapl:0", "package-0\n", "10\n", NULL);
	s = open_zones(t, &one);
	n_fds = open_fds();
	remove_zone(t, "intel-rapl:0");
	assert_int_equal(unlinkat(t->fd, "class/powercap", AT_REMOVEDIR), 0);
	assert_reads(s, "-19");
	s->ops->mend(s);
	assert_int_equal(open_fds(), n_fds - 1);
	tree_zone(t, "intel-rapl:0", "package-0\n", "11\n", NULL);
	s->ops->mend(s);
	assert_reads(s, "11");
	assert_int_equal(open_fds(), n_fds);
	s->ops->close(s);
}

/* Alike in all but their number, and then one is missing: which, nobody can tell, so none stands for another. */
static void which_of_two(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;

	tree_zone(t, "intel-rapl:0", "package-0\n", "10\n", NULL);
	tree_zone(t, "intel-rapl:1", "soc\n", "1\n", NULL);
	tree_zone(t, "intel-rapl:2", "soc\n", "2\n", NULL);
	s = open_zones(t, &one);
	assert_zones(s, "package-0, soc, soc (intel-rapl:2)");
	remove_zone(t, "intel-rapl:1");
	remove_zone(t, "intel-rapl:2");
	assert_reads(s, "10 -19 -19");
	tree_zone(t, "intel-rapl:1", "soc\n", "3\n", NULL);
	s->ops->mend(s);
	assert_reads(s, "10 -19 -19");
	tree_zone(t, "intel-rapl:2", "soc\n", "4\n", NULL);
	s->ops->mend(s);
	assert_reads(s, "10 3 4");
	s->ops->close(s);
}

/* A counter that fails but is there, and may not be opened any more, keeps the file that it has. */
static void one_that_recovers(void **state)
{
	const struct tree *t = *state;
	struct sw_energy_source *s;

	tree_zone(t, "intel-rapl:0", "package-0\n", "10\n", NULL);
	tree_zone(t, "intel-rapl:1", "package-1\n", "bad\n", NULL); /* from the start: nothing is ever looked for */
	s = open_zones(t, &one);
	assert_zones(s, "package-0, package-1!");
	tree_write(t, "class/powercap/intel-rapl:0/energy_uj", "");
	tree_write(t, "class/powercap/intel-rapl:1/energy_uj", "30\n");
	assert_int_equal(fchmodat(t->fd, "class/powercap/intel-rapl:0/energy_uj", 0, 0), 0);
	assert_reads(s, "-61 -22");
	as_nobody();
	s->ops->mend(s);
	as_root_again();
	assert_int_equal(fchmodat(t->fd, "class/powercap/intel-rapl:0/energy_uj", 0600, 0), 0);
	tree_write(t, "class/powercap/intel-rapl:0/energy_uj", "20\n");
	assert_reads(s, "20 -22");
	s->ops->close(s);
}

/* The kernel's own removed files, of which a cgroup has some that hold a number: not imitated. */
static void a_file_of_the_kernel(void **state)
{
	const struct tree *t = *state;
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct sw_energy_source *s;
	struct mntent *m;
	char group[512] = "", file[600];

	while (mounts && !*group && (m = getmntent(mounts)))
		if (!strcmp(m->mnt_type, "cgroup2"))
			snprintf(group, sizeof(group), "%s/schedwatt-test-%d", m->mnt_dir, getpid());
	if (mounts)
		endmntent(mounts);
	if (!*group || mkdir(group, 0755)) {
		print_message("# skip: no cgroup can be made here\n");
		skip();
	}
	tree_zone(t, "intel-rapl:0", "package-0\n", NULL, NULL);
	snprintf(file, sizeof(file), "%s/cgroup.max.depth", group);
	tree_link(t, file, "class/powercap/intel-rapl:0/energy_uj");
	tree_write(t, "class/powercap/intel-rapl:0/energy_uj", "5000\n");
	s = open_zones(t, &one);
	assert_reads(s, "5000");
	assert_int_equal(rmdir(group), 0);
	assert_int_equal(mkdir(group, 0755), 0);
	tree_write(t, "class/powercap/intel-rapl:0/energy_uj", "40\n");
	assert_reads(s, "-19");
	assert_reads(s, "-19");
	s->ops->mend(s);
	assert_reads(s, "40");
	assert_int_equal(rmdir(group), 0);
	s->ops->close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_TREE(driver_loaded_again), IN_A_TREE(never_without_a_failed_read), IN_A_TREE(twins_stay_twins),
		IN_A_TREE(a_package_that_goes), IN_A_TREE(the_class_goes),              IN_A_TREE(which_of_two),
		IN_A_TREE(one_that_recovers),   IN_A_TREE(a_file_of_the_kernel),
	};

	return cmocka_run_group_tests_name("powercap_mend", tests, NULL, NULL);
}

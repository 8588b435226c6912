/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the made-up /sys. Must not know: what makes the energy.
 * Relies on: Documentation/power/powercap/powercap.rst and drivers/powercap/intel_rapl_common.c (names and places).
 *
 * A counter moves while others read it. So what changes of its text is 8 digits in one aligned word, stored at once
 * into the mapped file: a pwrite(2) could be seen half way. The counter's unit is 10 uJ (Intel's is 61), its last digit
 * stays 0.
 */
#include "zones.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNIT_UJ 10
#define START_BELOW_UJ 20000000

static const struct {
	const char *path; /* below devices/virtual/powercap */
	const char *name;
	uint64_t range_uj; /* whatever draws 1000 W must not wrap unseen, so schedwatt reads every range / 2000 W */
} kinds[ZONES] = {
	[ZONE_PACKAGE] = {"intel-rapl/intel-rapl:0", "package-0", 150000000},
	[ZONE_CORE] = {"intel-rapl/intel-rapl:0/intel-rapl:0:0", "core", 160000000},
	[ZONE_DRAM] = {"intel-rapl/intel-rapl:0/intel-rapl:0:1", "dram", 140000000},
	[ZONE_PSYS] = {"intel-rapl/intel-rapl:1", "psys", 200000000},
};

static volatile uint64_t *words[ZONES];

static int make_dirs(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return 0;
}

/* A file with this text, and the directories above it. The fd, or a negative errno. */
static int make_file(const char *root, const char *path, const char *text)
{
	char full[512];
	int fd, err;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	err = make_dirs(full);
	if (err)
		return err;
	fd = open(full, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) == (ssize_t)strlen(text))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static int make_text(const char *root, const char *dir, const char *file, const char *text)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = make_file(root, path, text);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* As the kernel has it: the zone is a device, class/powercap has a link to it. */
static int make_link(const char *root, const char *device)
{
	char at[512], to[256];

	snprintf(at, sizeof(at), "%s/class/powercap/%s", root, strrchr(device, '/') + 1);
	snprintf(to, sizeof(to), "../../%s", device);
	return symlink(to, at) ? -errno : 0;
}

static int make_zone(const char *root, enum zone zone, bool nested)
{
	char device[128], path[256], text[32];
	void *page;
	int fd, err;

	snprintf(device, sizeof(device), "devices/virtual/powercap/%s", kinds[zone].path);
	snprintf(text, sizeof(text), "%s\n", kinds[zone].name);
	err = make_text(root, device, "name", text);
	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)kinds[zone].range_uj);
	if (!err)
		err = make_text(root, device, "max_energy_range_uj", text);
	if (!err)
		err = make_text(root, device, "enabled", "0\n");
	if (!err && !(nested && strchr(strchr(kinds[zone].path, ':') + 1, ':')))
		err = make_link(root, device);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/energy_uj", device);
	fd = make_file(root, path, "000000000\n");
	if (fd < 0)
		return fd;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	err = page == MAP_FAILED ? -errno : 0;
	close(fd);
	if (err)
		return err;
	words[zone] = page;
	zones_show(zone, 0);
	return 0;
}

static int make_cpus(const char *root)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);
	char dir[64], text[32];
	int err;

	snprintf(text, sizeof(text), n > 1 ? "0-%ld\n" : "0\n", n - 1);
	err = make_text(root, "devices/system/cpu", "present", text);
	for (long cpu = 0; !err && cpu < n; cpu++) {
		snprintf(dir, sizeof(dir), "devices/system/cpu/cpu%ld/topology", cpu);
		err = make_text(root, dir, "physical_package_id", "0\n");
		if (!err)
			err = make_text(root, dir, "die_id", "0\n");
	}
	return err;
}

int zones_make(const char *root, bool nested)
{
	int err = make_text(root, "class/powercap", "uevent", "");

	if (!err)
		err = make_text(root, "devices/virtual/powercap/intel-rapl", "enabled", "1\n");
	if (!err)
		err = make_link(root, "devices/virtual/powercap/intel-rapl");
	for (int i = 0; !err && i < ZONES; i++)
		err = make_zone(root, i, nested);
	return err ? err : make_cpus(root);
}

void zones_show(enum zone zone, uint64_t nj)
{
	uint64_t range = kinds[zone].range_uj, units = (range - START_BELOW_UJ + nj / 1000) % range / UNIT_UJ, word;
	char digits[sizeof(word)];

	for (int i = sizeof(digits); i-- > 0; units /= 10)
		digits[i] = '0' + units % 10;
	memcpy(&word, digits, sizeof(word));
	*words[zone] = word;
}

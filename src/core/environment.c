/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: settings of the machine that change what its joules mean. Must not know: what is made of them.
 * Sources: Documentation/admin-guide/pm/cpufreq.rst (policies, boost) and intel_pstate.rst (no_turbo);
 * Documentation/ABI/testing/sysfs-devices-system-cpu (smt, microcode) and sysfs-class-power; proc_loadavg(5).
 */
#include "environment.h"

#include "../base/parse.h"
#include "../base/root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CPU_DIR     "devices/system/cpu/"
#define CPUFREQ_DIR CPU_DIR "cpufreq"
#define SUPPLY_DIR  "class/power_supply"

/* A line of its own, without its newline. False: it is not there, or not so short. */
static bool read_word(int dir_fd, const char *path, char *to, size_t size)
{
	ssize_t n = sw_file_read(dir_fd, path, to, size);

	if (n <= 0)
		return false;
	to[strcspn(to, "\n")] = '\0';
	return to[0];
}

/* Call `each` with the fd of every directory below `path` whose name begins so. */
static void for_directories(int root_fd, const char *path, const char *prefix, void (*each)(int fd, void *ctx), void *ctx)
{
	int list_fd = openat(root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
	DIR *list = list_fd >= 0 ? fdopendir(list_fd) : NULL;

	if (!list) {
		if (list_fd >= 0)
			close(list_fd);
		return;
	}
	for (struct dirent *e = readdir(list); e; e = readdir(list)) {
		if (e->d_name[0] == '.' || strncmp(e->d_name, prefix, strlen(prefix)))
			continue;
		fd = openat(list_fd, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			continue;
		each(fd, ctx);
		close(fd);
	}
	closedir(list);
}

/* The same for all, or "mixed". */
static void take_name(char to[SW_ENVIRONMENT_TEXT], int fd, const char *file)
{
	char name[SW_ENVIRONMENT_TEXT];

	if (!read_word(fd, file, name, sizeof(name)))
		return;
	if (!to[0])
		strcpy(to, name);
	else if (strcmp(to, name))
		strcpy(to, "mixed");
}

static void take_policy(int fd, void *ctx)
{
	struct sw_environment_store *s = ctx;

	take_name(s->governor, fd, "scaling_governor");
	take_name(s->driver, fd, "scaling_driver");
}

/* A CPU that is off has none, and none has one in a virtual machine. */
static void take_microcode(int fd, void *ctx)
{
	struct sw_environment_store *s = ctx;

	take_name(s->microcode, fd, "microcode/version");
}

static int64_t read_flag(int sysfs_fd, const char *path)
{
	uint64_t value;

	return sw_file_read_u64(sysfs_fd, path, 1, &value) ? SW_ABSENT : (int64_t)value;
}

/* One driver says what is forbidden, the others what is allowed. */
static int64_t read_turbo(int sysfs_fd)
{
	int64_t forbidden = read_flag(sysfs_fd, CPU_DIR "intel_pstate/no_turbo");

	return forbidden == SW_ABSENT ? read_flag(sysfs_fd, CPUFREQ_DIR "/boost") : !forbidden;
}

struct supplies {
	bool mains, online; /* there is one that is no battery; it feeds the machine */
	bool battery, discharging;
};

/* Those of mice and headsets say that they are of a device. */
static void take_supply(int fd, void *ctx)
{
	struct supplies *s = ctx;
	char text[SW_ENVIRONMENT_TEXT];
	uint64_t online;

	if (read_word(fd, "scope", text, sizeof(text)) && !strcmp(text, "Device"))
		return;
	if (!read_word(fd, "type", text, sizeof(text)))
		return;
	if (!strcmp(text, "Mains") || !strcmp(text, "USB")) {
		if (sw_file_read_u64(fd, "online", UINT64_MAX, &online)) /* 2: one of programmable voltage */
			return;
		s->mains = true;
		s->online |= online > 0;
	} else if (!strcmp(text, "Battery")) {
		s->battery = true;
		s->discharging |= read_word(fd, "status", text, sizeof(text)) && !strcmp(text, "Discharging");
	}
}

static int64_t read_ac_power(int sysfs_fd)
{
	struct supplies s = {0};

	for_directories(sysfs_fd, SUPPLY_DIR, "", take_supply, &s);
	if (s.online)
		return 1;
	/* A desktop's USB ports say that nothing feeds the machine by them: without a battery, something else does. */
	return s.discharging || (s.mains && s.battery) ? 0 : SW_ABSENT;
}

static int64_t read_load(int procfs_fd)
{
	char text[128];
	uint64_t load;

	if (sw_file_read(procfs_fd, "loadavg", text, sizeof(text)) <= 0)
		return SW_ABSENT;
	text[strcspn(text, " ")] = '\0';
	return sw_parse_decimal(text, 2, INT64_MAX, &load) ? SW_ABSENT : (int64_t)load;
}

void sw_environment_read(struct sw_environment_store *s, int sysfs_fd, int procfs_fd, const char *microcode)
{
	s->governor[0] = s->driver[0] = s->microcode[0] = '\0';
	for_directories(sysfs_fd, CPUFREQ_DIR, "policy", take_policy, s);
	for_directories(sysfs_fd, CPU_DIR, "cpu", take_microcode, s);
	if (!s->microcode[0])
		snprintf(s->microcode, sizeof(s->microcode), "%s", microcode);
	s->environment = (struct sw_environment){
		.governor = s->governor[0] ? s->governor : NULL,
		.driver = s->driver[0] ? s->driver : NULL,
		.microcode = s->microcode[0] ? s->microcode : NULL,
		.turbo = read_turbo(sysfs_fd),
		.smt = read_flag(sysfs_fd, CPU_DIR "smt/active"),
		.ac_power = read_ac_power(sysfs_fd),
		.load_hundredths = read_load(procfs_fd),
	};
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * energy/powercap*.c: any tree of zones is listed with each zone once and under a name of its own, no energy is added
 * twice, every zone is found again by what it is, and all that was opened is closed.
 *
 * An input is lines of "ENTRY KIND TEXT": in the directory class/powercap/ENTRY a file that holds TEXT and a newline
 * (KIND n: name, e: energy_uj, r: max_energy_range_uj; capitals: without the newline), or (KIND l) ENTRY itself as a
 * link to TEXT. ENTRY may lie in another.
 */
#include "fuzz.h"

#include "../../src/energy/powercap_zones.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINES_MAX = 24, ENTRY_MAX = 100 };

static char root[] = "/dev/shm/schedwatt-fuzz-XXXXXX"; /* in memory: it is built thousands of times a second */
static int root_fd = -1;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	return ftw->level && remove(path);
}

static void empty_root(void)
{
	must(!nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS));
}

static void leave(void)
{
	empty_root();
	rmdir(root);
}

static void enter(void)
{
	if (root_fd >= 0)
		return;
	if (!mkdtemp(root))
		must(mkdtemp(strcpy(root, "/tmp/schedwatt-fuzz-XXXXXX")));
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(root_fd >= 0);
	atexit(leave);
}

/* Nothing outside of the root is touched: neither by a path that climbs, nor through a link that was made before. */
static int is_safe(const char *entry)
{
	return *entry && *entry != '/' && strlen(entry) < ENTRY_MAX && !strstr(entry, "..");
}

static void write_file(const char *entry, const char *file, const char *text, int newline)
{
	char path[ENTRY_MAX + 32];
	struct stat st;
	size_t i;
	int fd;

	for (i = 0; i <= strlen(entry); i++) {
		if (entry[i] && entry[i] != '/')
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)i, entry);
		mkdirat(root_fd, path, 0755);
		if (fstatat(root_fd, path, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
			return;
	}
	snprintf(path, sizeof(path), "%s/%s", entry, file);
	fd = openat(root_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return;
	must(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	must(!newline || write(fd, "\n", 1) == 1);
	close(fd);
}

static void build(char *text)
{
	char *entry, *kind, *rest, *save;
	int n = 0;

	for (char *line = strtok_r(text, "\n", &save); line && n < LINES_MAX; line = strtok_r(NULL, "\n", &save), n++) {
		entry = strsep(&line, " ");
		kind = line ? strsep(&line, " ") : NULL;
		rest = line ? line : (char *)"";
		if (!kind || !is_safe(entry))
			continue;
		if (*kind == 'n' || *kind == 'N')
			write_file(entry, "name", rest, *kind == 'n');
		else if (*kind == 'e' || *kind == 'E')
			write_file(entry, "energy_uj", rest, *kind == 'e');
		else if (*kind == 'r' || *kind == 'R')
			write_file(entry, "max_energy_range_uj", rest, *kind == 'r');
		else if (*kind == 'l' && is_safe(rest) && symlinkat(rest, root_fd, entry))
			continue;
	}
}

/* The lowest number that a new fd would get: the same before and after, when all are closed. */
static int next_fd(void)
{
	int fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);

	must(fd >= 0);
	close(fd);
	return fd;
}

static bool counts(const struct sw_zone_info *z)
{
	return (z->role == SW_ROLE_PACKAGE || z->role == SW_ROLE_DRAM) && !z->twin && !z->problem;
}

static void check_two(const struct sw_found *a, const struct sw_found *b)
{
	must(strcmp(a->info.name, b->info.name));
	must(strcmp(a->what, b->what));
	must(a->mmio != b->mmio || a->number != b->number || a->subnumber != b->subnumber);
	if (!counts(&a->info) || !counts(&b->info) || a->info.role != b->info.role || a->info.package < 0 ||
	    a->info.package != b->info.package)
		return;
	must(a->info.die >= 0 && b->info.die >= 0 && a->info.die != b->info.die);
}

static void check(const struct sw_found_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct sw_found *f = &list->zone[i];
		int fd;

		must(f->info.name && *f->info.name && f->what);
		must(!f->info.problem == (f->fd >= 0));
		must((f->err < 0) == !!f->info.problem);
		must(f->info.role != SW_ROLE_PACKAGE || f->info.package >= 0);
		must(!f->info.parent || (strlen(f->info.name) > strlen(f->info.parent) &&
					 !strncmp(f->info.name, f->info.parent, strlen(f->info.parent))));
		for (size_t j = 0; j < i; j++)
			check_two(f, &list->zone[j]);
		fd = sw_powercap_open_counter(root_fd, list, f->what);
		must(fd >= 0 || f->fd < 0);
		if (fd >= 0)
			close(fd);
	}
}

/* Through the whole source, as a monitor opens it. */
static void check_source(void)
{
	static int16_t domain_of[1];
	static const struct sw_topology one = {.n_cpus = 1, .domain_of = domain_of, .n_domains = 1, .n_packages = 1,
					       .die_of = {-1}};
	struct sw_energy_config config = {.topology = &one};
	struct sw_energy_source *s = NULL;
	struct sw_zone_value *values;
	struct sw_error error = {""};
	int err;

	config.sysfs_fd = openat(root_fd, "sys", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(config.sysfs_fd >= 0);
	err = sw_energy_powercap.open(&config, &error, &s);
	close(config.sysfs_fd);
	must(err <= 0 && !err == !!s && (!err || *error.text));
	if (err)
		return;
	values = calloc(s->n_zones, sizeof(*values));
	must(values);
	for (int i = 0; i < 2; i++) {
		s->ops->read(s, NULL, values);
		for (size_t k = 0; k < s->n_zones; k++)
			must(!values[k].status == !s->zones[k].problem && (!values[k].status || !values[k].raw_uj));
		s->ops->mend(s);
	}
	free(values);
	s->ops->close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);
	struct sw_found_list list = {.n = 0};
	int fd;

	enter();
	build(text);
	fd = next_fd();
	if (!sw_powercap_find(root_fd, &list))
		check(&list);
	sw_found_free(&list);
	/* the same directory, once more as a /sys, unless the input has something of these names */
	if (!mkdirat(root_fd, "sys", 0755) && !mkdirat(root_fd, "sys/class", 0755) &&
	    !symlinkat("../..", root_fd, "sys/class/powercap"))
		check_source();
	must(next_fd() == fd);
	empty_root();
	free(text);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the shapes of the kernel's text files about processes, CPUs and cgroups. Must not know: where they lie, who
 * reads them, or what the numbers are for.
 * Relies on proc(5) and fs/proc/array.c, base.c and stat.c: fields in order, new ones behind the old.
 */
#include "procfs.h"

#include "parse.h"

#include <errno.h>
#include <string.h>

#define DELETED " (deleted)"
#define CPU_FIELDS_MIN 4 /* Linux 2.4's: user, nice, system, idle */
#define CPU_FIELDS 10
#define CPU_FIELDS_ADDED 8 /* user to steal: guest and guest_nice are in these already */

#define X(number, name, type) _Static_assert(SW_PROC_STAT_NUMBER(name) == (number), "fields in order, 8 bytes each");
SW_PROC_STAT_FIELDS(X)
#undef X

/* A bit for each field of stat that may be negative; bit 0 is field 4. */
#define X(number, name, type) | _Generic((type)0, int64_t: UINT64_C(1), uint64_t: UINT64_C(0)) << ((number) - 4)
static const uint64_t stat_signed = 0 SW_PROC_STAT_FIELDS(X);
#undef X

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void skip_blanks(const char **at, const char *end)
{
	while (*at < end && is_blank(**at))
		++*at;
}

/* A number ends at a blank or with the line, and at nothing else. */
static bool field_ends(const char *at, const char *end)
{
	return at == end || is_blank(*at) || *at == '\n';
}

/* The first newline, if there is one, is the last byte. */
static bool is_one_line(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return !newline || newline + 1 == end;
}

/* Two's complement, as memory holds both kinds. */
static int take_number(const char **at, const char *end, bool is_signed, uint64_t *ret)
{
	bool negative = is_signed && *at < end && **at == '-';
	int err;

	*at += negative;
	err = sw_take_u64(at, end, is_signed ? (uint64_t)INT64_MAX + negative : UINT64_MAX, ret);
	if (!err && negative)
		*ret = -*ret;
	return field_ends(*at, end) ? err : -EINVAL;
}

/*
 * Up to `max` numbers with blanks between, to the end of the line, into as many times 8 bytes; bit i of `signs`: number
 * i may be negative. How many there were, or -errno.
 */
static int take_numbers(const char **at, const char *end, unsigned max, uint64_t signs, void *to)
{
	unsigned n;

	for (n = 0; n < max; n++) {
		uint64_t value;
		int err;

		skip_blanks(at, end);
		if (*at == end || **at == '\n')
			break;
		err = take_number(at, end, signs >> n & 1, &value);
		if (err)
			return err;
		memcpy((char *)to + n * sizeof(value), &value, sizeof(value));
	}
	return (int)n;
}

/* "PID (NAME)", with *at behind it. */
static int take_name(const char **at, const char *end, struct sw_proc_stat *stat)
{
	const char *open = memchr(*at, '(', (size_t)(end - *at)), *close = memrchr(*at, ')', (size_t)(end - *at));
	size_t length;
	uint64_t pid;
	int err;

	if (!open || !close || close < open)
		return -EINVAL;
	skip_blanks(at, open);
	err = take_number(at, open, true, &pid);
	if (err)
		return err;
	skip_blanks(at, open);
	length = (size_t)(close - open - 1);
	if (*at != open || !is_blank(open[-1]) || memchr(open, '\0', length + 1))
		return -EINVAL;
	stat->pid = (int64_t)pid;
	memcpy(stat->comm, open + 1, length < sizeof(stat->comm) ? length : sizeof(stat->comm) - 1);
	*at = close + 1;
	return 0;
}

int sw_proc_stat_parse(const char *text, size_t n, struct sw_proc_stat *ret)
{
	const char *at = text, *end = text + n;
	struct sw_proc_stat stat = {.n_fields = 2};
	int numbers, err;

	if (!n)
		return -ENODATA;
	err = take_name(&at, end, &stat);
	if (err)
		return err;
	if (!field_ends(at, end))
		return -EINVAL;
	skip_blanks(&at, end);
	if (at < end && *at != '\n') {
		stat.state = *at++;
		if (((stat.state | 0x20) < 'a' || (stat.state | 0x20) > 'z') || !field_ends(at, end))
			return -EINVAL;
		numbers = take_numbers(&at, end, SW_PROC_STAT_N_FIELDS - 3, stat_signed,
				       (char *)&stat + offsetof(struct sw_proc_stat, ppid));
		if (numbers < 0)
			return numbers;
		stat.n_fields = 3 + (unsigned)numbers;
	}
	if (!is_one_line(at, end))
		return -EINVAL;
	*ret = stat;
	return 0;
}

/* A file that is one line of `n_numbers`, none negative; what else a newer kernel adds is not looked at. */
static int take_file(const char *text, size_t n, unsigned n_numbers, void *to)
{
	const char *at = text, *end = text + n;
	int numbers;

	if (!n)
		return -ENODATA;
	numbers = take_numbers(&at, end, n_numbers, 0, to);
	if (numbers < 0)
		return numbers;
	return (unsigned)numbers == n_numbers && is_one_line(at, end) ? 0 : -EINVAL;
}

int sw_proc_statm_parse(const char *text, size_t n, struct sw_proc_statm *ret)
{
	struct sw_proc_statm statm;
	int err;

	err = take_file(text, n, sizeof(statm) / sizeof(uint64_t), &statm);
	if (!err)
		*ret = statm;
	return err;
}

int sw_proc_schedstat_parse(const char *text, size_t n, struct sw_proc_schedstat *ret)
{
	struct sw_proc_schedstat schedstat;
	int err;

	err = take_file(text, n, sizeof(schedstat) / sizeof(uint64_t), &schedstat);
	if (!err)
		*ret = schedstat;
	return err;
}

struct span {
	const char *at, *end;
};

/* The next line of *text, without its newline. */
static bool next_line(const char **text, const char *end, struct span *ret)
{
	const char *newline;

	if (*text == end)
		return false;
	newline = memchr(*text, '\n', (size_t)(end - *text));
	*ret = (struct span){.at = *text, .end = newline ? newline : end};
	*text = newline ? newline + 1 : end;
	return true;
}

/* What is before the next `c` of *from, which moves behind it; false, and nothing has moved: there is none. */
static bool take_until(struct span *from, char c, struct span *ret)
{
	const char *at = memchr(from->at, c, (size_t)(from->end - from->at));

	if (!at)
		return false;
	*ret = (struct span){.at = from->at, .end = at};
	from->at = at + 1;
	return true;
}

static bool equals(struct span s, const char *word)
{
	size_t length = strlen(word);

	return (size_t)(s.end - s.at) == length && !memcmp(s.at, word, length);
}

/* Whether a list with commas between has the whole word. */
static bool lists(struct span list, const char *word)
{
	struct span item;

	while (take_until(&list, ',', &item))
		if (equals(item, word))
			return true;
	return equals(list, word);
}

/* HIERARCHY:CONTROLLERS:PATH; hierarchy 0 is v2's, which lists none. */
static bool is_cgroup_of(struct span *line, const char *controller)
{
	struct span hierarchy, controllers;
	uint64_t id;

	if (!take_until(line, ':', &hierarchy) || !take_until(line, ':', &controllers))
		return false;
	if (sw_take_u64(&hierarchy.at, hierarchy.end, UINT64_MAX, &id) || hierarchy.at != hierarchy.end)
		return false;
	if (line->at == line->end || *line->at != '/')
		return false;
	return controller ? id && lists(controllers, controller) : !id && controllers.at == controllers.end;
}

int sw_proc_cgroup_find(const char *text, size_t n, const char *controller, struct sw_proc_cgroup *ret)
{
	const char *end = text + n;
	struct span line;

	while (next_line(&text, end, &line)) {
		const size_t suffix = strlen(DELETED);
		size_t length;
		bool deleted;

		if (!is_cgroup_of(&line, controller))
			continue;
		length = (size_t)(line.end - line.at);
		/* v1 never says so, and a cgroup there may have such a name */
		deleted = !controller && length > suffix && !memcmp(line.end - suffix, DELETED, suffix);
		*ret = (struct sw_proc_cgroup){
			.path = line.at,
			.path_length = deleted ? length - suffix : length,
			.deleted = deleted,
		};
		return 0;
	}
	return -ENOENT;
}

static bool is_cpu_line(struct span line)
{
	return line.end - line.at > 3 && !memcmp(line.at, "cpu", 3) &&
	       (is_blank(line.at[3]) || (line.at[3] >= '0' && line.at[3] <= '9'));
}

static int take_cpu_line(struct span line, struct sw_cpu_times *ret)
{
	struct sw_cpu_times times = {.cpu = -1};
	uint64_t value[CPU_FIELDS] = {0}, cpu, sum = 0;
	int n, err;

	line.at += strlen("cpu");
	if (!is_blank(*line.at)) {
		err = take_number(&line.at, line.end, false, &cpu);
		if (err)
			return err;
		if (cpu > INT32_MAX)
			return -ERANGE;
		times.cpu = (int32_t)cpu;
	}
	n = take_numbers(&line.at, line.end, CPU_FIELDS, 0, value);
	if (n < 0)
		return n;
	if (n < CPU_FIELDS_MIN)
		return -EINVAL;
	for (unsigned i = 0; i < CPU_FIELDS_ADDED; i++)
		if (__builtin_add_overflow(sum, value[i], &sum))
			return -ERANGE;
	times.n_fields = (unsigned)n;
	memcpy((char *)&times + offsetof(struct sw_cpu_times, user), value, sizeof(value));
	*ret = times;
	return 0;
}

_Static_assert(sizeof(struct sw_cpu_times) == offsetof(struct sw_cpu_times, user) + CPU_FIELDS * sizeof(uint64_t),
	       "the ten times lie one behind another");

int sw_cpu_times_next(const char **text, const char *end, struct sw_cpu_times *ret)
{
	struct span line;
	int err;

	while (next_line(text, end, &line)) {
		if (!is_cpu_line(line))
			continue;
		err = take_cpu_line(line, ret);
		return err ? err : 1;
	}
	return 0;
}

uint64_t sw_cpu_times_busy(const struct sw_cpu_times *t)
{
	return t->user + t->nice + t->system + t->irq + t->softirq + t->steal;
}

uint64_t sw_cpu_times_idle(const struct sw_cpu_times *t)
{
	return t->idle + t->iowait;
}

int sw_flat_keyed_u64(const char *text, size_t n, const char *key, uint64_t *ret)
{
	const char *end = text + n;
	struct span line, name;
	uint64_t value;
	int err;

	if (!n)
		return -ENODATA;
	while (next_line(&text, end, &line)) {
		if (!take_until(&line, ' ', &name) || !equals(name, key))
			continue;
		skip_blanks(&line.at, line.end);
		err = take_number(&line.at, line.end, false, &value);
		if (!err && line.at != line.end)
			err = -EINVAL;
		if (!err)
			*ret = value;
		return err;
	}
	return -ENOENT;
}

int sw_meminfo_bytes(const char *text, size_t n, const char *key, uint64_t *ret)
{
	const char *end = text + n;
	struct span line, name;
	uint64_t kb;
	int err;

	if (!n)
		return -ENODATA;
	while (next_line(&text, end, &line)) {
		if (!take_until(&line, ':', &name) || !equals(name, key))
			continue;
		skip_blanks(&line.at, line.end);
		err = take_number(&line.at, line.end, false, &kb);
		if (err)
			return err;
		skip_blanks(&line.at, line.end);
		if (!equals(line, "kB"))
			return -EINVAL;
		if (kb > UINT64_MAX / 1024)
			return -ERANGE;
		*ret = kb * 1024;
		return 0;
	}
	return -ENOENT;
}

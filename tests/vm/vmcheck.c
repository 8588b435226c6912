/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what records of schedwatt must say in the virtual machines, exact in ns and nJ. Says why, and exits 1, when
 * something is wrong. Must not know: how they were recorded. Relies on: README, "Use"; json-c.
 *
 *   vmcheck sums RECORDS LEAST                  header, LEAST samples or more, summary: all parts add up, nothing lost
 *   vmcheck sums-lossy RECORDS LEAST            the same, whatever was lost
 *   vmcheck joules RECORDS MODEL [FROM TO BUSY] within 3 % of what the simulated zones say of the same time (MODEL: what
 *                                               `vmtool sample` wrote), BUSY CPUs being busy
 *   vmcheck gap RECORDS FROM TO SECONDS         no joules in windows that touch this time (MODEL's clock); joules again at
 *                                               most so long after, in all windows then; the last line says from when
 *   vmcheck off RECORDS MODEL                   while a CPU, and package 1 with it, was off, joules are package 0's;
 *                                               at last they are whole again
 *   vmcheck baseline RECORDS W0 W1 none|all     idle joules are these watts, or all there are where they are more: then it is flagged
 *   vmcheck above RECORDS MODEL PID W1          its joules are its part of what package 1 used above W1 watts, by the model
 *   vmcheck children RECORDS N                  N processes called "kid" or "true", each ended as it should
 *   vmcheck process RECORDS PID alive|exited MS it is in the summary, with MS of CPU time or more
 *   vmcheck pinned RECORDS PID DOMAIN           it ran in that domain only, and has its share of its joules
 *   vmcheck offline RECORDS                     some CPU was off for a while
 *   vmcheck agree RECORDS MS BACKEND…           what each says of the target lies within 3 % of the first, or of what it
 *                                               may be off by its own word, and is MS of CPU time or more
 *   vmcheck field RECORDS header|sample|summary KEY VALUE
 */
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PACKAGES = 2, DRAM_PERMILLE = 150, TOLERANCE_PERMILLE = 30 };

/* Of all CPU time: interrupts on an idle CPU are idle to us, and busy to the kernel. */
enum { BUSY_PERMILLE = 100 };

struct records {
	struct json_object **line;
	size_t n;
};

static _Noreturn void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

static _Noreturn void wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	exit(1);
}

static struct records read_records(const char *path)
{
	struct records r = {NULL, 0};
	size_t room = 0;
	char *line = NULL;
	FILE *f = fopen(path, "re");

	if (!f)
		wrong("%s: %m", path);
	while (getline(&line, &room, f) > 0) {
		r.line = reallocarray(r.line, r.n + 1, sizeof(*r.line));
		if (!r.line || !(r.line[r.n++] = json_tokener_parse(line)))
			wrong("%s: line %zu is no record", path, r.n);
	}
	free(line);
	fclose(f);
	if (r.n < 2)
		wrong("%s: only %zu records", path, r.n);
	return r;
}

static struct json_object *get(struct json_object *o, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(o, key, &value))
		wrong("no %s in %.300s", key, json_object_to_json_string(o));
	return value;
}

static int64_t ns(struct json_object *o, const char *key)
{
	return json_object_get_int64(get(o, key));
}

static int64_t nj_of(struct json_object *value)
{
	return llround(json_object_get_double(value) * 1e9);
}

static int64_t nj(struct json_object *o, const char *key)
{
	return nj_of(get(o, key));
}

static const char *text(struct json_object *o, const char *key)
{
	const char *value = json_object_get_string(get(o, key));

	return value ? value : "null";
}

static struct json_object *item(struct json_object *list, size_t i)
{
	return json_object_array_get_idx(list, i);
}

static struct json_object *header(const struct records *r)
{
	if (strcmp(text(r->line[0], "type"), "header"))
		wrong("no header");
	return r->line[0];
}

static struct json_object *summary(const struct records *r)
{
	if (strcmp(text(r->line[r->n - 1], "type"), "summary"))
		wrong("no summary");
	return r->line[r->n - 1];
}

static void check_joules(struct json_object *o, const char *where)
{
	static const char *const parts[] = {"proc_attributed_joules", "other_joules", "idle_joules",
					    "unattributed_joules"};
	int64_t sum = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (nj(o, parts[i]) < 0)
			wrong("%s: %s is negative", where, parts[i]);
		sum += nj(o, parts[i]);
	}
	if (sum != nj(o, "total_joules"))
		wrong("%s: joules add up to %" PRId64 " nJ of %" PRId64, where, sum, nj(o, "total_joules"));
}

static void check_sample(struct json_object *sample, int64_t cpus, int64_t *end, bool lossy)
{
	struct json_object *rows = get(sample, "processes");
	int64_t times = 0, window = ns(sample, "window_ns"), processes = 0;
	char where[32];

	snprintf(where, sizeof(where), "sample %" PRId64, ns(sample, "seq"));
	*end += window;
	if (ns(sample, "t_ns") != *end)
		wrong("%s: windows do not join: %" PRId64 ", %" PRId64, where, ns(sample, "t_ns"), *end);
	times = ns(sample, "proc_oncpu_ns") + ns(sample, "other_oncpu_ns") + ns(sample, "idle_ns") +
		ns(sample, "lost_ns") + ns(sample, "offline_ns");
	if (times != cpus * window)
		wrong("%s: %" PRId64 " ns of %" PRId64, where, times, cpus * window);
	if (ns(sample, "lost_ns") && !lossy)
		wrong("%s: lost %" PRId64 " ns: %s", where, ns(sample, "lost_ns"), text(sample, "lost_by_kind_ns"));
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		processes += ns(item(rows, i), "oncpu_ns");
	if (processes != ns(sample, "proc_oncpu_ns"))
		wrong("%s: processes have %" PRId64 " ns of %" PRId64, where, processes, ns(sample, "proc_oncpu_ns"));
	check_joules(sample, where);
}

static void sums(const struct records *r, size_t least, bool lossy)
{
	int64_t cpus = ns(header(r), "cpus"), end = ns(header(r), "started_ns");

	if (r->n < least + 2)
		wrong("only %zu samples", r->n - 2);
	for (size_t i = 1; i < r->n - 1; i++)
		check_sample(r->line[i], cpus, &end, lossy);
	if (ns(summary(r), "samples") != (int64_t)r->n - 2)
		wrong("the summary counts %" PRId64 " samples", ns(summary(r), "samples"));
	check_joules(summary(r), "summary");
	printf("%zu samples, lost %" PRId64 " ns\n", r->n - 2, ns(summary(r), "lost_ns"));
}

/* --- against the model */

struct model {
	double us;
	double uj[PACKAGES];
	double busy_us[PACKAGES];
};

/* What the model said at a moment, between two of its lines. */
static struct model model_at(const char *path, double us)
{
	struct model before = {.us = -1}, m;
	FILE *f = fopen(path, "re");

	if (!f)
		wrong("%s: %m", path);
	while (fscanf(f, "%lf %lf %lf %lf %lf", &m.us, &m.uj[0], &m.busy_us[0], &m.uj[1], &m.busy_us[1]) == 5) {
		if (m.us < before.us) /* of two writers */
			continue;
		if (m.us >= us && before.us >= 0) {
			double part = (us - before.us) / (m.us - before.us);

			for (int i = 0; i < PACKAGES; i++) {
				before.uj[i] += part * (m.uj[i] - before.uj[i]);
				before.busy_us[i] += part * (m.busy_us[i] - before.busy_us[i]);
			}
			fclose(f);
			return before;
		}
		before = m;
	}
	wrong("%s: the model was not looked at around %.0f us (last at %.0f)", path, us, before.us);
}

/* `said`: how far off it may be by its own word, as a part of it: counters that were read late, where CPUs are scarce. */
static void near(const char *what, double got, double wanted, double said)
{
	double off = wanted ? got / wanted - 1 : got;

	printf("%s: %.3f, the model says %.3f: %+.2f %%, ±%.2f %% were said\n", what, got, wanted, 100 * off, 100 * said);
	if (!(fabs(off) <= TOLERANCE_PERMILLE / 1000.0 + said))
		wrong("%s is off by more than %d per thousand", what, TOLERANCE_PERMILLE);
}

/* Windows one after the other, and how far off they say that they may be at either end of them. */
struct stretch {
	size_t n;
	double t0_us;
	double t1_us;
	double first_said;
	double last_said;
};

static double end_us(struct json_object *sample)
{
	return ns(sample, "t_ns") / 1e3;
}

static double begin_us(struct json_object *sample)
{
	return (ns(sample, "t_ns") - ns(sample, "window_ns")) / 1e3;
}

static bool has_joules(struct json_object *sample)
{
	return get(sample, "total_joules") != NULL;
}

static bool has_flag(struct json_object *sample, const char *flag)
{
	struct json_object *flags = get(sample, "window_flags");

	for (size_t i = 0; i < json_object_array_length(flags); i++)
		if (!strcmp(json_object_get_string(item(flags, i)), flag))
			return true;
	return false;
}

static void lengthen(struct stretch *stretch, struct json_object *sample)
{
	if (!has_joules(sample))
		wrong("sample %" PRId64 " has no joules", ns(sample, "seq"));
	if (stretch->n && fabs(begin_us(sample) - stretch->t1_us) > 1)
		wrong("sample %" PRId64 " does not join the one before that is looked at", ns(sample, "seq"));
	stretch->last_said = nj(sample, "energy_uncertainty_joules") / 1e9;
	if (!stretch->n++) {
		stretch->t0_us = begin_us(sample);
		stretch->first_said = stretch->last_said;
	}
	stretch->t1_us = end_us(sample);
}

/*
 * Begin and end with the windows that say the least of how far off they may be, among a quarter of them at either end:
 * where CPUs are scarce, some are read late. Within, that is no error of the sum.
 */
static void trim(const struct records *r, size_t *first, size_t *last)
{
	size_t quarter = *last > *first ? (*last - *first + 1) / 4 : 0, begin = *first, end = *last;

	for (size_t i = 1; i <= quarter; i++) {
		struct json_object *a = r->line[*first + i], *b = r->line[*last - i];

		if (nj(a, "energy_uncertainty_joules") < nj(r->line[begin], "energy_uncertainty_joules"))
			begin = *first + i;
		if (nj(b, "energy_uncertainty_joules") < nj(r->line[end], "energy_uncertainty_joules"))
			end = *last - i;
	}
	*first = begin;
	*last = end;
}

/* As a part of so many joules. What lies between the ends is no error of the sum. */
static double said_of(const struct stretch *stretch, double joules)
{
	double said = (stretch->first_said + stretch->last_said) / joules;

	if (stretch->n < 3)
		wrong("only %zu samples", stretch->n);
	if (!(said <= 0.1))
		wrong("±%.0f %% were said: that proves nothing", 100 * said);
	return said;
}

/* What a package and its dram used by the model, and how long its CPUs were busy. */
static double model_joules(const struct stretch *stretch, const char *path, size_t package, double *busy_s)
{
	struct model a = model_at(path, stretch->t0_us), b = model_at(path, stretch->t1_us);

	*busy_s = (b.busy_us[package] - a.busy_us[package]) / 1e6;
	return (b.uj[package] - a.uj[package]) / 1e6 * (1000 + DRAM_PERMILLE) / 1000;
}

/* The samples that lie between two moments (in the model's clock), or all of them. */
static void joules(const struct records *r, const char *path, double from_us, double to_us, double busy)
{
	double total = 0, wanted_total = 0, busy_s = 0, model_busy_s = 0, got[PACKAGES] = {0}, said, s;
	size_t domains = ns(header(r), "domains");
	size_t first = 1, last = r->n - 2;
	struct stretch stretch = {0};

	while (first <= last && begin_us(r->line[first]) < from_us)
		first++;
	while (last >= first && end_us(r->line[last]) > to_us)
		last--;
	trim(r, &first, &last);
	for (size_t i = first; i <= last; i++) {
		struct json_object *sample = r->line[i];

		lengthen(&stretch, sample);
		total += nj(sample, "total_joules") / 1e9;
		busy_s += (ns(sample, "proc_oncpu_ns") + ns(sample, "other_oncpu_ns")) / 1e9;
		for (size_t d = 0; domains > 1 && d < domains && d < PACKAGES; d++)
			got[d] += nj(item(get(sample, "domains"), d), "joules") / 1e9;
	}
	said = said_of(&stretch, total);
	for (size_t d = 0; d < domains && d < PACKAGES; d++) {
		double wanted = model_joules(&stretch, path, d, &s);
		char what[32];

		snprintf(what, sizeof(what), "joules of domain %zu", d);
		if (domains > 1)
			near(what, got[d], wanted, said);
		wanted_total += wanted;
		model_busy_s += s;
	}
	near("total joules", total, wanted_total, said);
	s = (stretch.t1_us - stretch.t0_us) / 1e6;
	printf("busy for %.3f s, the model says %.3f, of %.3f\n", busy_s, model_busy_s, s);
	if (fabs(busy_s - model_busy_s) * 1000 > BUSY_PERMILLE * s * ns(header(r), "cpus"))
		wrong("our busy time and the model's differ");
	if (busy >= 0 && fabs(busy_s / s - busy) > 0.35)
		wrong("that is not the load of %.0f CPUs", busy);
}

static void gap(const struct records *r, double from_us, double to_us, double at_most_s)
{
	double again_us = 0;
	size_t without = 0;

	for (size_t i = 1; i < r->n - 1; i++) {
		struct json_object *sample = r->line[i];
		bool touches = begin_us(sample) < to_us && end_us(sample) > from_us;

		if (end_us(sample) <= from_us)
			continue;
		if (has_joules(sample) ? touches : again_us > 0 || !has_flag(sample, "no_energy"))
			wrong("gap from %.0f to %.0f us: %.900s", from_us, to_us, json_object_to_json_string(sample));
		without += !has_joules(sample);
		if (has_joules(sample) && !again_us)
			again_us = begin_us(sample);
	}
	if (!again_us || again_us > to_us + at_most_s * 1e6)
		wrong("joules at %.0f us, after a gap that ended at %.0f", again_us, to_us);
	printf("%zu windows without joules; again after %.3f s\n%.0f\n", without, (again_us - to_us) / 1e6, again_us);
}

static bool is_off(struct json_object *sample)
{
	return ns(sample, "offline_ns") == ns(sample, "window_ns");
}

static void off(const struct records *r, const char *path)
{
	struct json_object *at_last = r->line[r->n - 2];
	size_t first = 1, last = r->n - 2;
	struct stretch stretch = {0};
	double total = 0, wanted, busy_s;

	while (first <= last && !(is_off(r->line[first]) && has_flag(r->line[first], "partial")))
		first++; /* zones go after their CPU */
	while (last >= first && !is_off(r->line[last]))
		last--;
	trim(r, &first, &last);
	for (size_t i = first; i <= last; i++) {
		struct json_object *sample = r->line[i];

		lengthen(&stretch, sample);
		if (!has_flag(sample, "partial") || get(item(get(sample, "domains"), 1), "joules"))
			wrong("package 1 was off: %.900s", json_object_to_json_string(sample));
		total += nj(sample, "total_joules") / 1e9;
	}
	wanted = model_joules(&stretch, path, 0, &busy_s);
	near("joules of domain 0", total, wanted, said_of(&stretch, total));
	if (!has_joules(at_last) || has_flag(at_last, "partial"))
		wrong("at last: %.900s", json_object_to_json_string(at_last));
}

/* --- against a baseline */

static void baseline(const struct records *r, const double *watts, bool above)
{
	size_t in_time = 0;

	for (size_t i = 1; i < r->n - 1; i++) {
		struct json_object *sample = r->line[i];
		int64_t idle = 0, full = 0, window = ns(sample, "window_ns");

		for (size_t d = 0; d < PACKAGES; d++) {
			int64_t had = nj(item(get(sample, "domains"), d), "joules"), s = llround(watts[d] * window);

			full += s;
			idle += s < had ? s : had;
		}
		if (!has_joules(sample) || llabs(nj(sample, "idle_joules") - idle) > PACKAGES)
			wrong("idle joules are not %" PRId64 " nJ: %.900s", idle, json_object_to_json_string(sample));
		if (ns(sample, "energy_read_late_ns") > window / 10)
			continue; /* where CPUs are scarce, its energy is that of another time */
		if (has_flag(sample, "baseline") != above || (!above && idle != full))
			wrong("%" PRId64 " of %" PRId64 " nJ are idle: %.900s", idle, full, json_object_to_json_string(sample));
		in_time++;
	}
	printf("%zu of %zu windows were read in time\n", in_time, r->n - 2);
	if (in_time < 2)
		wrong("that proves nothing");
}

static struct json_object *process(struct json_object *record, int64_t pid)
{
	struct json_object *rows = get(record, "processes");

	for (size_t i = 0; i < json_object_array_length(rows); i++)
		if (ns(item(rows, i), "pid") == pid)
			return item(rows, i);
	return NULL;
}

static void above(const struct records *r, const char *path, int64_t pid, double watts)
{
	double ran = 0, busy = 0, got = 0, wanted, busy_s;
	size_t first = 3, last = r->n - 2; /* it may have been anywhere before it was pinned */
	struct stretch stretch = {0};

	trim(r, &first, &last);
	for (size_t i = first; i <= last; i++) {
		struct json_object *sample = r->line[i], *p = process(sample, pid), *d;
		int64_t t = p ? json_object_get_int64(item(get(p, "oncpu_ns_by_domain"), 1)) : 0;

		if (!t || t != ns(p, "oncpu_ns"))
			wrong("sample %zu: it ran elsewhere: %.300s", i - 1, json_object_to_json_string(p));
		lengthen(&stretch, sample);
		d = item(get(sample, "domains"), 1);
		ran += t;
		busy += ns(d, "busy_ns") + ns(d, "lost_ns");
		got += nj(p, "joules") / 1e9;
	}
	wanted = model_joules(&stretch, path, 1, &busy_s) - watts * (stretch.t1_us - stretch.t0_us) / 1e6;
	wanted *= ran / busy;
	near("joules of the process above idle", got, wanted, said_of(&stretch, wanted));
}

/* --- processes */

static void children(const struct records *r, size_t wanted)
{
	struct json_object *rows = get(summary(r), "processes");
	size_t found = 0, odd = 0;

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *p = item(rows, i), *status;
		const char *comm = text(p, "comm");

		if (strcmp(comm, "kid") && strcmp(comm, "true"))
			continue;
		found++;
		if (!json_object_get_boolean(get(p, "exited")) || !ns(p, "oncpu_ns") ||
		    !json_object_object_get_ex(p, "exit_status", &status) ||
		    json_object_get_int(status) != (strcmp(comm, "kid") ? 0 : 3)) {
			if (!odd++)
				printf("odd: %s\n", json_object_to_json_string(p));
		}
	}
	printf("%zu children, %zu missing, %zu odd\n", found, wanted - found, odd);
	if (found != wanted || odd)
		exit(1);
}

static void check_process(const struct records *r, int64_t pid, const char *state, int64_t least_ms)
{
	struct json_object *p = process(summary(r), pid);

	if (!p)
		wrong("process %" PRId64 " is missing", pid);
	if (json_object_get_boolean(get(p, "exited")) != !strcmp(state, "exited"))
		wrong("it is not %s: %s", state, json_object_to_json_string(p));
	if (ns(p, "oncpu_ns") < least_ms * 1000000)
		wrong("it had less than %" PRId64 " ms: %s", least_ms, json_object_to_json_string(p));
}

static void pinned(const struct records *r, int64_t pid, size_t domain)
{
	int64_t ran = 0, had = 0, share = 0;
	unsigned windows = 0;

	for (size_t i = 1; i < r->n - 1; i++) {
		struct json_object *p = process(r->line[i], pid), *d, *by;
		int64_t t;

		if (!p)
			continue;
		d = item(get(r->line[i], "domains"), domain);
		by = get(p, "oncpu_ns_by_domain");
		t = json_object_get_int64(item(by, domain));
		if (t != ns(p, "oncpu_ns") && ++windows > 3) /* it may have been anywhere before it was pinned */
			wrong("sample %zu: it ran elsewhere: %s", i - 1, json_object_to_json_string(p));
		if (t != ns(p, "oncpu_ns"))
			continue;
		ran += t;
		had += nj(p, "joules");
		if (t)
			share += llround((double)nj(d, "joules") * t / (ns(d, "busy_ns") + ns(d, "lost_ns")));
	}
	printf("ran %.3f s, had %.3f J of domain %zu, its share is %.3f\n", ran / 1e9, had / 1e9, domain, share / 1e9);
	if (ran < 300000000)
		wrong("it hardly ran");
	if (llabs(had - share) > 2 * (int64_t)r->n)
		wrong("joules of another package");
}

static void field(const struct records *r, const char *kind, const char *key, const char *value)
{
	for (size_t i = 0; i < r->n; i++) {
		if (strcmp(text(r->line[i], "type"), kind))
			continue;
		if (strcmp(text(r->line[i], key), value))
			wrong("%s %s is %s, wanted %s", kind, key, text(r->line[i], key), value);
		return;
	}
	wrong("no %s", kind);
}

/* Of a comparison each back end's; of another recording the only one's. */
static struct json_object *said_by(const struct records *r, const char *backend)
{
	struct json_object *last = r->line[r->n - 1], *list;

	if (!strcmp(text(last, "type"), "summary"))
		return strcmp(text(last, "attribution_backend"), backend) ? NULL : last;
	list = get(last, "backends");
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (!strcmp(text(item(list, i), "backend"), backend))
			return item(list, i);
	return NULL;
}

static void agree(const struct records *r, int64_t least_ms, char **backends)
{
	int64_t first = 0;

	for (char **b = backends; *b; b++) {
		struct json_object *o = said_by(r, *b), *oncpu, *tolerance = NULL;
		int64_t had, off;

		if (!o)
			wrong("nothing of %s: %.900s", *b, json_object_to_json_string(r->line[r->n - 1]));
		if (!json_object_object_get_ex(o, "oncpu_ns", &oncpu))
			oncpu = get(o, "proc_oncpu_ns");
		had = json_object_get_int64(oncpu);
		first = first ? first : had;
		off = had > first ? had - first : first - had;
		json_object_object_get_ex(o, "tolerance_ns", &tolerance);
		printf("%s: %.3f s\n", *b, had / 1e9);
		if (had < least_ms * 1000000)
			wrong("that is less than %" PRId64 " ms", least_ms);
		if (off * 1000 > first * TOLERANCE_PERMILLE && off > json_object_get_int64(tolerance))
			wrong("that is not what %s says: %s", *backends, json_object_to_json_string(o));
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	struct records r;

	if (argc < 3) {
		fputs("usage: vmcheck WHAT RECORDS ARGUMENTS…\n", stderr);
		return 2;
	}
	r = read_records(argv[2]);
	if (!strcmp(what, "sums") && argc == 4)
		sums(&r, strtoul(argv[3], NULL, 10), false);
	else if (!strcmp(what, "sums-lossy") && argc == 4)
		sums(&r, strtoul(argv[3], NULL, 10), true);
	else if (!strcmp(what, "joules") && argc == 4)
		joules(&r, argv[3], 0, INFINITY, -1);
	else if (!strcmp(what, "joules") && argc == 7)
		joules(&r, argv[3], strtod(argv[4], NULL), strtod(argv[5], NULL), strtod(argv[6], NULL));
	else if (!strcmp(what, "gap") && argc == 6)
		gap(&r, strtod(argv[3], NULL), strtod(argv[4], NULL), strtod(argv[5], NULL));
	else if (!strcmp(what, "off") && argc == 4)
		off(&r, argv[3]);
	else if (!strcmp(what, "baseline") && argc == 6)
		baseline(&r, (double[]){strtod(argv[3], NULL), strtod(argv[4], NULL)}, !strcmp(argv[5], "all"));
	else if (!strcmp(what, "above") && argc == 6)
		above(&r, argv[3], strtol(argv[4], NULL, 10), strtod(argv[5], NULL));
	else if (!strcmp(what, "children") && argc == 4)
		children(&r, strtoul(argv[3], NULL, 10));
	else if (!strcmp(what, "process") && argc == 6)
		check_process(&r, strtol(argv[3], NULL, 10), argv[4], strtol(argv[5], NULL, 10));
	else if (!strcmp(what, "pinned") && argc == 5)
		pinned(&r, strtol(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
	else if (!strcmp(what, "offline") && argc == 3)
		exit(ns(summary(&r), "offline_ns") > 0 ? 0 : (puts("offline_ns is 0"), 1));
	else if (!strcmp(what, "agree") && argc > 4)
		agree(&r, strtol(argv[3], NULL, 10), argv + 4);
	else if (!strcmp(what, "field") && argc == 6)
		field(&r, argv[3], argv[4], argv[5]);
	else
		return fputs("vmcheck: unknown check\n", stderr), 2;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how figures look, on the terminal and in the file. Must not know: how they were measured.
 * Relies on: json-c (json_object.h, json_util.h).
 */
#include "bench.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

static json_object *number(double v)
{
	return isfinite(v) ? json_object_new_double(v) : NULL;
}

/* A line of the table: NAN where there is none of that kind. */
struct figure {
	const char *name;
	const char *what;
	const char *unit;
	double value;
	double se;
	double must;
	double aim;
};

static void format(char *to, size_t size, double v, const char *unit)
{
	if (!isfinite(v))
		snprintf(to, size, "-");
	else
		snprintf(to, size, "%.*f%s%s", v != 0 && fabs(v) < 10 ? 3 : 1, v, *unit ? " " : "", unit);
}

static const char *verdict(const struct figure *f)
{
	if (!isfinite(f->must))
		return "reported";
	if (f->value > f->must)
		return isfinite(f->se) && f->value - 2 * f->se <= f->must ? "missed, within the error" : "missed";
	return isfinite(f->aim) && f->value > f->aim ? "met" : "met, aim too";
}

static void keep(struct bench *b, const struct figure *f, const char *said, const char *reason)
{
	json_object *row = json_object_new_object();

	json_object_object_add(row, "name", json_object_new_string(f->name));
	json_object_object_add(row, "what", json_object_new_string(f->what));
	json_object_object_add(row, "unit", json_object_new_string(f->unit));
	json_object_object_add(row, "measured", number(f->value));
	json_object_object_add(row, "standard_error", number(f->se));
	json_object_object_add(row, "must", number(f->must));
	json_object_object_add(row, "aim", number(f->aim));
	json_object_object_add(row, "verdict", json_object_new_string(said));
	if (reason)
		json_object_object_add(row, "reason", json_object_new_string(reason));
	json_object_array_add(b->rows, row);
}

static void row(struct bench *b, const struct figure *f)
{
	char measured[64], se[64], must[64], aim[64];
	const char *said = verdict(f);

	format(measured, sizeof(measured), f->value, f->unit);
	format(se, sizeof(se), f->se, "");
	format(must, sizeof(must), f->must, f->unit);
	format(aim, sizeof(aim), f->aim, f->unit);
	printf("%-52s %12s  %7s  %10s  %10s  %s\n", f->what, measured, se, must, aim, said);
	fflush(stdout);
	if (isfinite(f->must) && f->value > f->must)
		b->n_missed++;
	keep(b, f, said, NULL);
}

void bench_limit(struct bench *b, const char *name, const char *what, const char *unit, double value, double se,
		 double must, double aim)
{
	row(b, &(struct figure){name, what, unit, value, se, must, aim});
}

void bench_stat(struct bench *b, const char *name, const char *what, const char *unit, struct stat s)
{
	bench_limit(b, name, what, unit, s.value, s.se, NAN, NAN);
}

void bench_value(struct bench *b, const char *name, const char *what, const char *unit, double value)
{
	bench_limit(b, name, what, unit, value, NAN, NAN, NAN);
}

void bench_skip(struct bench *b, const char *name, const char *what, const char *reason)
{
	struct figure f = {name, what, "", NAN, NAN, NAN, NAN};

	printf("%-52s skipped: %s\n", what, reason);
	fflush(stdout);
	keep(b, &f, "skipped", reason);
}

static json_object *group_of(struct bench *b, const char *group)
{
	json_object *o = json_object_object_get(b->raw, group);

	if (!o) {
		o = json_object_new_object();
		json_object_object_add(b->raw, group, o);
	}
	return o;
}

void bench_raw(struct bench *b, const char *group, const char *name, const double *v, size_t n)
{
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < n; i++)
		json_object_array_add(list, number(v[i]));
	json_object_object_add(group_of(b, group), name, list);
}

void bench_raw_number(struct bench *b, const char *group, const char *name, double v)
{
	json_object_object_add(group_of(b, group), name, number(v));
}

int bench_write(const struct bench *b, const char *path)
{
	json_object *o = json_object_new_object();
	struct utsname u;
	int err = 0;

	uname(&u);
	json_object_object_add(o, "kernel", json_object_new_string(u.release));
	json_object_object_add(o, "machine", json_object_new_string(u.machine));
	json_object_object_add(o, "cpus", json_object_new_int(get_nprocs()));
	json_object_object_add(o, "cpu_measured", json_object_new_int(b->cpu));
	json_object_object_add(o, "rounds", json_object_new_int(b->rounds));
	json_object_object_add(o, "quick", json_object_new_boolean(b->quick));
	json_object_object_add(o, "figures", json_object_get(b->rows));
	json_object_object_add(o, "raw", json_object_get(b->raw));
	errno = 0;
	if (json_object_to_file_ext(path, o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED))
		err = errno ? -errno : -EIO;
	json_object_put(o);
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the arithmetic of a calibration, what makes it no calibration, and its result in words. Must not know: where a
 * file of it goes, or when a recording ends. Relies on: µW being nJ × 10^6 ÷ ns; Welford, Technometrics 4 (1962), for
 * a spread that keeps its digits.
 */
#include "calibration.h"

#include <inttypes.h>
#include <math.h>

#include "baseline.h"
#include "format.h"
#include "text.h"

/*
 * A quiet host. Of a machine of few CPUs, 5 % of their time is what a desktop's or a server's daemons need at rest. Of
 * one with many that would be whole CPUs at work, and it takes one to keep a package out of its deep sleep: hence the
 * second bound. We ourselves need a ten thousandth of a CPU.
 */
#define QUIET_BUSY    (CALIBRATION_ALL / 20)
#define QUIET_CPUS(t) ((t) / 2)

enum { BUSIEST = 3 };

void calibration_init(struct calibration *c, const struct sw_header *header)
{
	int32_t numbers[SW_DOMAINS_MAX];

	*c = (struct calibration){ .header = header, .n_packages = baseline_packages(header, numbers) };
	for (size_t i = 0; i < c->n_packages; i++)
		c->packages[i] = (struct calibration_package){ .number = numbers[i], .min_uw = UINT64_MAX };
}

/* Package `number` in this window alone; false when its energy is not known. */
static bool of_window(const struct calibration *c, const struct sw_report *r, int32_t number,
		      struct calibration_package *ret)
{
	bool known = true;

	*ret = (struct calibration_package){ .number = number };
	for (size_t i = 0; i < r->n_domains; i++) {
		const struct sw_domain *d = &r->domains[i];

		if (c->header->domain_package[i] != number)
			continue;
		known &= d->nj != SW_ABSENT && d->nj >= 0;
		ret->nj += known ? (uint64_t)d->nj : 0;
		ret->busy_ns += d->busy_ns + d->lost_ns;
		ret->span_ns += d->busy_ns + d->lost_ns + d->idle_ns;
	}
	return known;
}

static void add_package(struct calibration *c, struct calibration_package *p, const struct calibration_package *w,
			uint64_t window_ns)
{
	uint64_t uw = format_scale(w->nj, 1000000, window_ns);
	double watts = (double)w->nj / (double)window_ns, off = watts - p->mean_watts;

	p->nj += w->nj;
	p->busy_ns += w->busy_ns;
	p->span_ns += w->span_ns;
	p->min_uw = uw < p->min_uw ? uw : p->min_uw;
	p->max_uw = uw > p->max_uw ? uw : p->max_uw;
	p->mean_watts += off / (double)c->windows;
	p->squares += off * (watts - p->mean_watts);
}

void calibration_add(struct calibration *c, const struct sw_report *r)
{
	struct calibration_package now[SW_DOMAINS_MAX];
	bool known = !(r->flags & SW_FLAG_NO_ENERGY) && r->window_ns;

	if (r->flags & SW_FLAG_SUSPEND) {
		c->suspended++;
		return;
	}
	for (size_t i = 0; known && i < c->n_packages; i++)
		known = of_window(c, r, c->packages[i].number, &now[i]);
	if (!known) {
		c->without_energy++;
		return;
	}
	c->windows++;
	c->time_ns += r->window_ns;
	for (size_t i = 0; i < c->n_packages; i++)
		add_package(c, &c->packages[i], &now[i], r->window_ns);
}

uint64_t calibration_uw(const struct calibration *c, const struct calibration_package *p)
{
	return format_scale(p->nj, 1000000, c->time_ns);
}

uint64_t calibration_sd_uw(const struct calibration *c, const struct calibration_package *p)
{
	if (c->windows < 2)
		return FORMAT_NONE;
	return (uint64_t)llround(sqrt(p->squares / (double)(c->windows - 1)) * 1e6);
}

uint64_t calibration_busy(const struct calibration_package *p)
{
	return p->span_ns ? format_scale(p->busy_ns, CALIBRATION_ALL, p->span_ns) : 0;
}

uint64_t calibration_busy_all(const struct calibration *c)
{
	struct calibration_package all = { .number = -1 };

	for (size_t i = 0; i < c->n_packages; i++) {
		all.busy_ns += c->packages[i].busy_ns;
		all.span_ns += c->packages[i].span_ns;
	}
	return calibration_busy(&all);
}

static uint64_t limit_ns(const struct calibration *c, const struct calibration_package *p, uint32_t max_busy)
{
	uint64_t limit = format_scale(p->span_ns, max_busy ? max_busy : QUIET_BUSY, CALIBRATION_ALL);

	return !max_busy && limit > QUIET_CPUS(c->time_ns) ? QUIET_CPUS(c->time_ns) : limit;
}

/* Every window was left out. */
static void nothing_measured(const struct calibration *c, struct buf *words)
{
	buf_printf(words, "no window tells the energy of every package: %" PRIu64 " had none, and in %" PRIu64
		   " the machine slept; ", c->without_energy, c->suspended);
	for (size_t i = 0; i < c->header->n_zones; i++) {
		if (!c->header->zones[i].problem)
			continue;
		buf_printf(words, "zone %s: %s", c->header->zones[i].name, c->header->zones[i].problem);
		return;
	}
	buf_text(words, "`schedwatt monitor -f jsonl` shows what each counter says");
}

static void too_busy(const struct calibration_package *p, uint64_t limit, const struct sw_summary *s, struct buf *words)
{
	char busy[FORMAT_MAX], most[FORMAT_MAX], share[FORMAT_MAX];
	size_t n = s->n_comms < BUSIEST ? s->n_comms : BUSIEST;

	format_fixed(busy, calibration_busy(p), 3, 2);
	format_decimal(most, (int64_t)format_scale(limit, CALIBRATION_ALL, p->span_ns), 3);
	buf_printf(words, "this machine is not idle: the CPUs of package %d were busy %s %% of the time, over the limit of "
		   "%s %%", p->number, busy, most);
	for (size_t i = 0; i < n; i++) {
		text_percent(share, s->comms[i].oncpu_ns, s->duration_ns);
		buf_printf(words, "%s%s (%s %% of a CPU)", i ? ", " : "; busiest: ", s->comms[i].comm, share);
	}
	buf_text(words, "; end what is busy and calibrate again, or set another limit with --max-busy PERCENT");
}

bool calibration_fault(const struct calibration *c, uint32_t max_busy, const struct sw_summary *summary,
		       struct buf *words)
{
	if (!c->windows) {
		nothing_measured(c, words);
		return true;
	}
	for (size_t i = 0; i < c->n_packages; i++) {
		const struct calibration_package *p = &c->packages[i];
		uint64_t limit = limit_ns(c, p, max_busy);

		if (p->busy_ns > limit) {
			too_busy(p, limit, summary, words);
			return true;
		}
		if (!p->nj) {
			buf_printf(words, "the energy counter of package %d stood still: no machine runs on 0 W; use another "
				   "source with --energy", p->number);
			return true;
		}
	}
	return false;
}

void calibration_numbers(const struct calibration *c, struct buf *out)
{
	char number[FORMAT_MAX];

	for (size_t i = 0; i < c->n_packages; i++) {
		format_udecimal(number, calibration_uw(c, &c->packages[i]), 6);
		buf_printf(out, "%s%s", i ? "," : "", number);
	}
}

static void add_package_line(const struct calibration *c, const struct calibration_package *p, struct buf *out)
{
	char watts[FORMAT_MAX], sd[FORMAT_MAX] = "", min[FORMAT_MAX], max[FORMAT_MAX], busy[FORMAT_MAX];
	uint64_t sd_uw = calibration_sd_uw(c, p);

	format_fixed(watts, calibration_uw(c, p), 6, 3);
	if (sd_uw != FORMAT_NONE)
		format_fixed(sd, sd_uw, 6, 3);
	format_fixed(min, p->min_uw, 6, 3);
	format_fixed(max, p->max_uw, 6, 3);
	format_fixed(busy, calibration_busy(p), 3, 2);
	format_right(out, watts, TEXT_NUMBER);
	buf_printf(out, " W  %s%s  package %d; windows from %s to %s W; CPUs busy %s %%\n", sd[0] ? PLUS_MINUS : "", sd,
		   p->number, min, max, busy);
}

void calibration_text(const struct calibration *c, const char *file, struct buf *out)
{
	struct buf name = { 0 };
	char seconds[FORMAT_MAX];

	format_decimal(seconds, (int64_t)c->time_ns, 9);
	buf_printf(out, "\n idle power, from %s, %" PRIu64 " window%s of %u ms in %s s", c->header->energy_source,
		   c->windows, c->windows == 1 ? "" : "s", c->header->interval_ms, seconds);
	if (c->without_energy || c->suspended)
		buf_printf(out, " (left out: %" PRIu64 " without energy, %" PRIu64 " slept through)", c->without_energy,
			   c->suspended);
	buf_text(out, "\n\n");
	for (size_t i = 0; i < c->n_packages; i++)
		add_package_line(c, &c->packages[i], out);
	/* nor will they be in what the watts are taken from, if it stays so */
	text_left_out(out, c->header);
	buf_text(out, "\n for run and monitor: ");
	if (file) {
		format_plain(&name, file, UINT32_MAX);
		buf_text(out, "--baseline ");
		buf_add(out, name.data, name.len);
		buf_text(out, " or ");
		buf_free(&name);
	}
	buf_text(out, "--baseline ");
	calibration_numbers(c, out);
	buf_text(out, "\n");
}

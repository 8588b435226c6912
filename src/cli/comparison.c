/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the arithmetic of `schedwatt compare` and the sentence on each difference. Must not know: where the numbers
 * come from, or how a table of them looks.
 * Relies on: what each back end counts. Kernels that account interrupts and stolen time apart leave them out of tasks'
 * clocks, which sched_switch cannot; those clocks move by ticks; a cgroup's clock has all that is in it; cpu_percent is
 * one process's clock ÷ CPUs.
 */
#include "comparison.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

void comparison_init(struct comparison *c, uint64_t tick_ns)
{
	*c = (struct comparison){ .tick_ns = tick_ns, .own_ns = SW_ABSENT };
}

void comparison_free(struct comparison *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->backends[i].failure);
	for (size_t i = 0; i < c->n_refusals; i++)
		free((char *)c->refusals[i].reason);
	*c = (struct comparison){ 0 };
}

void comparison_opened(struct comparison *c, const struct sw_header *header)
{
	c->backends[c->n++] = (struct comparison_backend){
		.header = header,
		.nj = SW_ABSENT,
		.irq_ns = SW_ABSENT,
		.steal_ns = SW_ABSENT,
		.shared_with = SW_ABSENT,
		.shared_ns = SW_ABSENT,
	};
}

int comparison_refused(struct comparison *c, const char *name, const char *reason)
{
	char *copy = strdup(reason);

	if (!copy)
		return -ENOMEM;
	c->refusals[c->n_refusals++] = (struct sw_refusal){ .name = name, .reason = copy };
	return 0;
}

static void add_known(int64_t *sum, int64_t value)
{
	if (value != SW_ABSENT)
		*sum = *sum == SW_ABSENT ? value : *sum + value;
}

/* Once in want of it, the sum is none. */
static void add_shared(struct comparison_backend *b, const struct sw_report *r)
{
	bool wanting = b->shared_with > 0 && b->shared_ns == SW_ABSENT;

	if (r->shared_with > b->shared_with)
		b->shared_with = r->shared_with;
	if (r->shared_with > 0 && r->shared_ns == SW_ABSENT)
		b->shared_ns = SW_ABSENT;
	else if (!wanting)
		add_known(&b->shared_ns, r->shared_ns);
}

static void add_report(struct comparison_backend *b, const struct sw_report *r, const struct sw_report *reference,
		       int64_t irq_ns, int64_t steal_ns)
{
	b->windows++;
	b->oncpu_ns += r->proc_oncpu_ns;
	b->reference_ns += reference->proc_oncpu_ns;
	b->others_ns += reference->other_oncpu_ns;
	add_known(&b->nj, r->energy.proc_nj);
	add_known(&b->irq_ns, irq_ns);
	add_known(&b->steal_ns, steal_ns);
	add_shared(b, r);
	b->exits += r->exits;
	b->exits_ns += r->exits_ns;
	b->unseen += r->flags & SW_FLAG_MEMBERS ? 1 : 0;
}

void comparison_add(struct comparison *c)
{
	const struct sw_report *reference = c->backends[0].report;
	int64_t irq_ns = SW_ABSENT, steal_ns = SW_ABSENT;

	for (size_t i = 0; i < c->n; i++) {
		const struct sw_report *r = c->backends[i].report;

		irq_ns = r && irq_ns == SW_ABSENT ? r->irq_ns : irq_ns;
		steal_ns = r && steal_ns == SW_ABSENT ? r->steal_ns : steal_ns;
	}
	c->windows++;
	c->duration_ns += reference->window_ns;
	c->offline_ns += reference->offline_ns;
	c->lost_ns += reference->lost_ns;
	for (size_t i = 0; i < c->n; i++) {
		if (c->backends[i].report)
			add_report(&c->backends[i], c->backends[i].report, reference, irq_ns, steal_ns);
	}
}

void comparison_end(struct comparison *c, const struct sw_summary *summary)
{
	const struct sw_header *h = c->backends[0].header;
	const struct sw_process *own = NULL;

	/* a number that was used again belongs to the later one */
	for (size_t i = 0; h->n_pids == 1 && i < summary->n_processes; i++) {
		const struct sw_process *p = &summary->processes[i];

		if (p->pid == h->pids[0] && (!own || p->start_boottime_ns < own->start_boottime_ns))
			own = p;
	}
	c->own_ns = own ? (int64_t)own->oncpu_ns : SW_ABSENT;
	c->cgroup = own ? own->cgroup : NULL;
}

static bool is(const struct comparison_backend *b, const char *name)
{
	return !strcmp(b->header->backend, name);
}

static bool has_strangers(const struct comparison_backend *b)
{
	return b->shared_with > 0;
}

static uint64_t magnitude(int64_t ns)
{
	return ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
}

/* CPUs that were on, on average, rounded up: one that was on for a while could hold a tick as any other. */
static uint64_t running_cpus(const struct comparison *c)
{
	uint64_t off = c->duration_ns ? c->offline_ns / c->duration_ns : 0, cpus = c->backends[0].header->cpus;

	return off < cpus ? cpus - off : 1;
}

static uint64_t known(int64_t ns)
{
	return ns == SW_ABSENT || ns < 0 ? 0 : (uint64_t)ns;
}

/* What is known of the process itself is of all windows. */
static bool knows_own(const struct comparison *c, const struct comparison_backend *b)
{
	return c->own_ns != SW_ABSENT && b->windows == c->windows && b->header->cpus;
}

static uint64_t tolerance(const struct comparison *c, const struct comparison_backend *b)
{
	return c->tick_ns * running_cpus(c) + known(b->irq_ns) + known(b->steal_ns);
}

static int64_t difference(const struct comparison_backend *b)
{
	return (int64_t)(b->oncpu_ns - b->reference_ns);
}

/*
 * Of those in a cgroup only what lived when it was looked at is known, which is less than all; all others on the
 * machine are those in the cgroup where the two are equal, as in the root.
 */
static bool holds_all(const struct comparison *c, const struct comparison_backend *b)
{
	return has_strangers(b) && b->shared_ns != SW_ABSENT && b->others_ns <= INT64_MAX &&
	       magnitude(difference(b) - b->shared_ns) > tolerance(c, b) &&
	       magnitude(difference(b) - (int64_t)b->others_ns) <= tolerance(c, b);
}

static int64_t explained(const struct comparison *c, const struct comparison_backend *b)
{
	if (has_strangers(b))
		return holds_all(c, b) ? (int64_t)b->others_ns : b->shared_ns;
	if (!is(b, "cpu_percent"))
		return 0;
	if (!knows_own(c, b))
		return SW_ABSENT;
	return (int64_t)format_scale((uint64_t)c->own_ns, 1, b->header->cpus) - (int64_t)b->reference_ns;
}

void comparison_judge(const struct comparison *c, size_t i, struct comparison_verdict *v)
{
	const struct comparison_backend *b = &c->backends[i];
	bool compared = i && b->windows;

	*v = (struct comparison_verdict){
		.difference_ns = compared ? difference(b) : SW_ABSENT,
		.explained_ns = compared ? explained(c, b) : SW_ABSENT,
		.tolerance_ns = tolerance(c, b),
	};
	v->known = compared && v->explained_ns != SW_ABSENT;
	v->agrees = v->known && magnitude(v->difference_ns - v->explained_ns) <= v->tolerance_ns;
}

int64_t comparison_millipercent(const struct comparison *c, size_t i)
{
	struct comparison_verdict v;
	uint64_t value;

	comparison_judge(c, i, &v);
	if (v.difference_ns == SW_ABSENT)
		return SW_ABSENT;
	value = format_scale(magnitude(v.difference_ns), 100000, c->backends[i].reference_ns);
	if (value > INT64_MAX)
		return SW_ABSENT;
	return v.difference_ns < 0 ? -(int64_t)value : (int64_t)value;
}

/* "1.204 s", "12.3 ms", "0.052 ms". */
static void add_time(struct buf *out, uint64_t ns)
{
	char text[FORMAT_MAX];

	if (ns >= 1000000000)
		format_fixed(text, ns, 9, 3);
	else
		format_fixed(text, ns, 6, !ns ? 0 : ns >= 1000000 ? 1 : 3);
	buf_printf(out, "%s %s", text, ns >= 1000000000 ? "s" : "ms");
}

static void add_tolerance(const struct comparison *c, const struct comparison_backend *b, uint64_t tolerance_ns,
			  struct buf *out)
{
	uint64_t cpus = running_cpus(c);

	buf_text(out, "the tolerance of ");
	add_time(out, tolerance_ns);
	if (cpus == 1)
		buf_text(out, " (1 tick of the CPU");
	else
		buf_printf(out, " (1 tick on each of %llu CPUs", (unsigned long long)cpus);
	if (b->irq_ns != SW_ABSENT) {
		buf_text(out, ", ");
		add_time(out, known(b->irq_ns));
		buf_text(out, " in interrupts");
	}
	if (b->steal_ns != SW_ABSENT) {
		buf_text(out, ", ");
		add_time(out, known(b->steal_ns));
		buf_text(out, " stolen");
	}
	if (b->irq_ns == SW_ABSENT && b->steal_ns == SW_ABSENT)
		buf_text(out, "; interrupts and stolen time are not known");
	buf_text(out, ")");
}

/* What the causes that were named leave over. */
static void add_rest(const struct comparison *c, const struct comparison_backend *b, const struct comparison_verdict *v,
		     bool causes, struct buf *out)
{
	uint64_t rest_ns = magnitude(v->difference_ns - v->explained_ns);

	if (v->agrees && !causes) {
		buf_text(out, "agrees within ");
	} else if (v->agrees) {
		buf_text(out, "; that is the difference, but for ");
		add_time(out, rest_ns);
		buf_text(out, ", within ");
	} else {
		buf_text(out, causes ? "; that leaves " : "leaves ");
		add_time(out, rest_ns);
		buf_text(out, " of the difference unexplained, beyond ");
	}
	add_tolerance(c, b, v->tolerance_ns, out);
	if (!v->agrees && c->lost_ns) {
		buf_printf(out, "; %s lost ", c->backends[0].header->backend);
		add_time(out, c->lost_ns);
	}
}

static void explain_strangers(const struct comparison *c, const struct comparison_backend *b,
			      const struct comparison_verdict *v, struct buf *out)
{
	unsigned long long n = (unsigned long long)b->shared_with;

	buf_text(out, "its cgroup ");
	if (c->cgroup && is(b, "cgroup_v2"))
		buf_printf(out, "%s ", c->cgroup);
	buf_printf(out, "also holds %s%llu other process%s, ", c->windows > 1 ? "up to " : "", n, n == 1 ? "" : "es");
	if (b->shared_ns == SW_ABSENT) {
		buf_text(out, "of which is not known what they used");
		return;
	}
	buf_text(out, "which used ");
	add_time(out, known(b->shared_ns));
	if (holds_all(c, b)) {
		buf_text(out, " while they were seen; with those that came and went, all others on this machine used ");
		add_time(out, b->others_ns);
	}
	add_rest(c, b, v, true, out);
}

static void explain_percent(const struct comparison *c, const struct comparison_backend *b,
			    const struct comparison_verdict *v, struct buf *out)
{
	if (!knows_own(c, b)) {
		buf_printf(out, "divides by the %u CPUs of this machine; what the process itself used is not known",
			   b->header->cpus);
		return;
	}
	buf_printf(out, "divides by the CPUs of this machine: 1/%u of the ", b->header->cpus);
	add_time(out, (uint64_t)c->own_ns);
	buf_text(out, " that the process itself used");
	if (b->reference_ns > (uint64_t)c->own_ns) {
		buf_text(out, ", without the ");
		add_time(out, b->reference_ns - (uint64_t)c->own_ns);
		buf_text(out, " of what descends from it");
	}
	add_rest(c, b, v, true, out);
}

static void explain_ends(const struct comparison_backend *b, struct buf *out)
{
	if (b->exits) {
		buf_printf(out, "; %llu task%s ended between two reads, with ", (unsigned long long)b->exits,
			   b->exits == 1 ? "" : "s");
		add_time(out, b->exits_ns);
		buf_printf(out, " of which only %s told", b->exits == 1 ? "its end" : "their ends");
	}
	if (b->unseen)
		buf_printf(out, "; in %llu window%s the end of tasks went untold", (unsigned long long)b->unseen,
			   b->unseen == 1 ? "" : "s");
}

static void explain_reference(const struct comparison *c, const struct comparison_backend *b, struct buf *out)
{
	buf_text(out, is(b, "ebpf") ? "the reference" : "the reference, since there is no ebpf to be it");
	if (!c->lost_ns)
		return;
	buf_text(out, "; it lost ");
	add_time(out, c->lost_ns);
	buf_text(out, " of this machine's time");
}

static void explain_failure(const struct comparison *c, const struct comparison_backend *b, struct buf *out)
{
	if (b->windows)
		buf_printf(out, "; it failed after %llu of %llu windows, over which this is: %s",
			   (unsigned long long)b->windows, (unsigned long long)c->windows, b->failure);
	else
		buf_printf(out, "failed before the end of its first window: %s", b->failure);
}

void comparison_explain(const struct comparison *c, size_t i, struct buf *out)
{
	const struct comparison_backend *b = &c->backends[i];
	struct comparison_verdict v;

	comparison_judge(c, i, &v);
	if (!i)
		explain_reference(c, b, out);
	else if (b->windows && has_strangers(b))
		explain_strangers(c, b, &v, out);
	else if (b->windows && is(b, "cpu_percent"))
		explain_percent(c, b, &v, out);
	else if (b->windows)
		add_rest(c, b, &v, false, out);
	if (b->windows)
		explain_ends(b, out);
	if (b->failure)
		explain_failure(c, b, out);
}

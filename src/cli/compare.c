/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: which back ends are compared, and taking their reports. Must not know: what the numbers mean.
 * Relies on: sw_monitor_add(); sysconf(3) for the clock tick of the kernel's counters.
 */
#include "compare.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "message.h"

static const char *const names[] = { "ebpf", "cgroup_v2", "cgroup_v1", "proc", "cpu_percent" };

_Static_assert(sizeof(names) / sizeof(names[0]) == COMPARISON_MAX, "room for each");

/* Why the leader is not this one; those that were not tried before it may open beside it. */
static const char *refusal_of(const struct sw_header *h, const char *name)
{
	for (size_t i = 0; i < h->n_backend_refusals; i++) {
		if (!strcmp(h->backend_refusals[i].name, name))
			return h->backend_refusals[i].reason;
	}
	return NULL;
}

static int add(struct compare *c, const struct sw_header *leader, const char *name)
{
	struct comparison *co = &c->comparison;
	/* Other back ends may have been refused only because a better one might open. */
	const char *reason = strcmp(name, "ebpf") ? NULL : refusal_of(leader, name);
	struct sw_monitor *m;

	if (!reason && !sw_monitor_add(c->monitors[0], name, &m)) {
		c->monitors[co->n] = m;
		comparison_opened(co, sw_monitor_header(m));
		return 0;
	}
	return comparison_refused(co, name, reason ? reason : sw_monitor_error(c->monitors[0]));
}

static void say_why_alone(const struct comparison *c)
{
	struct buf words = { 0 };

	for (size_t i = 0; i < c->n_refusals; i++)
		buf_printf(&words, "%s%s: %s", i ? "; " : "", c->refusals[i].name, c->refusals[i].reason);
	buf_add(&words, "", 1);
	message_error("there is nothing to compare %s with, as no other back end opens here (%s)",
		      c->backends[0].header->backend, words.err ? "out of memory for the reasons" : words.data);
	buf_free(&words);
}

int compare_open(struct compare *c, struct sw_monitor *leader)
{
	const struct sw_header *h = sw_monitor_header(leader);
	long hz = sysconf(_SC_CLK_TCK);

	*c = (struct compare){ .monitors = { leader } };
	comparison_init(&c->comparison, 1000000000 / (uint64_t)(hz > 0 ? hz : 100));
	comparison_opened(&c->comparison, h);
	for (size_t i = 0; i < COMPARISON_MAX; i++) {
		if (strcmp(names[i], h->backend) && add(c, h, names[i])) {
			message_error("out of memory");
			return -ENOMEM;
		}
	}
	if (c->comparison.n > 1)
		return 0;
	say_why_alone(&c->comparison);
	return -ENOTSUP;
}

void compare_take(struct compare *c)
{
	for (size_t i = 0; i < c->comparison.n; i++)
		c->comparison.backends[i].report = sw_monitor_report(c->monitors[i]);
	comparison_add(&c->comparison);
}

int compare_end(struct compare *c, const struct sw_summary *summary)
{
	struct comparison *co = &c->comparison;

	for (size_t i = 1; i < co->n; i++) {
		struct comparison_backend *b = &co->backends[i];

		if (b->windows == co->windows || b->failure)
			continue;
		b->failure = strdup(sw_monitor_error(c->monitors[i]));
		if (!b->failure)
			return -ENOMEM;
	}
	comparison_end(co, summary);
	return 0;
}

void compare_close(struct compare *c)
{
	comparison_free(&c->comparison);
	*c = (struct compare){ 0 };
}

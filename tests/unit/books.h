/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a back end says at boundary after boundary, checked as its interface promises: parts add up to the span, nothing
 * falls, keys are opened and closed once. For tests only.
 */
#ifndef SW_TESTS_BOOKS_H
#define SW_TESTS_BOOKS_H

#include "tree.h"

#include "cpu/backend.h"

enum { BOOKS_DOMAINS = 2, BOOKS_TASKS = 64 };

/* A task of which there were rows; tgid 0: not to be told apart. */
struct book {
	uint64_t start_ns;
	int32_t tgid, tid;
	uint64_t total_ns;
	uint64_t window_ns; /* in the last window */
	uint64_t by_domain_ns[BOOKS_DOMAINS];
	unsigned first, last, died, described;
	struct sw_task task; /* as last told */
};

struct books {
	struct sw_cpu_backend *b;
	const struct sw_cpu_usage *usage;
	unsigned n_domains;
	uint64_t *last_ns; /* by key */
	bool *open;        /* by key */
	struct sw_cpu_domain before[BOOKS_DOMAINS], window[BOOKS_DOMAINS];
	uint64_t last_t_ns;
	unsigned boundaries;
	struct book tasks[BOOKS_TASKS];
	unsigned n_tasks;
};

static inline void books_begin(struct books *k, struct sw_cpu_backend *b, unsigned n_domains)
{
	*k = (struct books){.b = b, .n_domains = n_domains};
	assert_true(n_domains <= BOOKS_DOMAINS);
	k->last_ns = calloc(b->max_keys, sizeof(*k->last_ns));
	k->open = calloc(b->max_keys, sizeof(*k->open));
	assert_true(k->last_ns && k->open);
}

static inline void books_end(struct books *k)
{
	k->b->ops->close(k->b);
	free(k->last_ns);
	free(k->open);
}

/* The last of that number, or NULL. */
static inline struct book *books_find(struct books *k, int32_t tid)
{
	for (unsigned i = k->n_tasks; i-- > 0;)
		if (k->tasks[i].tid == tid)
			return &k->tasks[i];
	return NULL;
}

static inline uint64_t books_ns(struct books *k, int32_t tid)
{
	struct book *t = books_find(k, tid);

	return t ? t->total_ns : 0;
}

static inline struct book *books_of_(struct books *k, const struct sw_task *task)
{
	static const struct sw_task nobody;
	struct book *t;

	task = task ? task : &nobody;
	for (unsigned i = 0; i < k->n_tasks; i++) {
		t = &k->tasks[i];
		if (t->start_ns == task->start_boottime_ns && t->tgid == task->tgid && t->tid == task->tid)
			return t;
	}
	assert_true(k->n_tasks < BOOKS_TASKS);
	t = &k->tasks[k->n_tasks++];
	*t = (struct book){.start_ns = task->start_boottime_ns, .tgid = task->tgid, .tid = task->tid};
	return t;
}

static inline void books_row_(struct books *k, const struct sw_cpu_row *row, uint64_t sums_ns[BOOKS_DOMAINS])
{
	struct book *t = books_of_(k, row->task);
	uint64_t ns;

	assert_true(row->key < k->b->max_keys);
	assert_true(row->domain < k->n_domains);
	assert_int_equal(row->first, !k->open[row->key]);
	assert_true(!row->died || row->last);
	ns = row->oncpu_ns - (row->first ? 0 : k->last_ns[row->key]);
	assert_true((int64_t)ns >= 0);
	k->last_ns[row->key] = row->oncpu_ns;
	k->open[row->key] = !row->last;
	sums_ns[row->domain] += ns;
	t->total_ns += ns;
	t->window_ns += ns;
	t->by_domain_ns[row->domain] += ns;
	t->first += row->first;
	t->last += row->last;
	t->died += row->died;
	t->described += row->described;
	if (row->task)
		t->task = *row->task;
}

#define BOOKS_DIFFERENCE_(field)                                    \
	do {                                                        \
		assert_true(now->field >= before->field);           \
		w->field = now->field - before->field;              \
	} while (0)

/* A boundary at t_ns; the first one opens the first window. */
static inline void books_at(struct books *k, uint64_t t_ns)
{
	uint64_t sums_ns[BOOKS_DOMAINS] = {0}, span_ns = 0, ret_t_ns, ret_wake_ns, members_lost = 0, exits = 0;
	struct sw_error error = {""};

	if (k->usage) {
		members_lost = k->usage->members_lost;
		exits = k->usage->exits_ns;
	}
	assert_int_equal(k->b->ops->announce(k->b, t_ns, &ret_t_ns, &ret_wake_ns), 0);
	assert_int_equal(ret_t_ns, t_ns);
	assert_int_equal(ret_wake_ns, t_ns);
	if (k->b->ops->read(k->b, &error, &k->usage))
		fail_msg("cannot read: %s", error.text);
	assert_int_equal(k->usage->t_ns, t_ns);
	for (unsigned i = 0; i < k->n_tasks; i++)
		k->tasks[i].window_ns = 0;
	for (size_t i = 0; i < k->usage->n_rows; i++)
		books_row_(k, &k->usage->rows[i], sums_ns);
	for (unsigned d = 0; d < k->n_domains; d++) {
		const struct sw_cpu_domain *now = &k->usage->domains[d];
		struct sw_cpu_domain *before = &k->before[d], *w = &k->window[d];

		BOOKS_DIFFERENCE_(span_ns);
		BOOKS_DIFFERENCE_(idle_ns);
		BOOKS_DIFFERENCE_(other_ns);
		BOOKS_DIFFERENCE_(lost_slots_ns);
		BOOKS_DIFFERENCE_(lost_missed_ns);
		BOOKS_DIFFERENCE_(lost_other_ns);
		BOOKS_DIFFERENCE_(offline_ns);
		if (k->boundaries)
			assert_int_equal(w->span_ns, w->idle_ns + w->other_ns + w->lost_slots_ns + w->lost_missed_ns +
							     w->lost_other_ns + w->offline_ns + sums_ns[d]);
		span_ns += w->span_ns;
		*before = *now;
	}
	assert_int_equal(span_ns, k->boundaries ? k->b->cpus * (t_ns - k->last_t_ns) : 0);
	if (k->boundaries > 1) /* what was before the first is not of the recording */
		assert_true(k->usage->members_lost >= members_lost && k->usage->exits_ns >= exits);
	if (!k->boundaries)
		for (unsigned i = 0; i < k->n_tasks; i++)
			k->tasks[i].total_ns = k->tasks[i].window_ns = k->tasks[i].by_domain_ns[0] =
				k->tasks[i].by_domain_ns[1] = 0;
	k->last_t_ns = t_ns;
	k->boundaries++;
}

#endif

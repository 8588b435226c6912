/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the books that tests keep of what a back end returns. Must not know: what a test expects of it.
 * Relies on: src/cpu/backend.h, include/schedwatt.h, uthash.
 */
#include "groups.h"
#include "record.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPEN_MAX 4
#define LAG_NS 25000

static struct record *records[OPEN_MAX];
static struct watch *watches[OPEN_MAX];

static void close_all(void)
{
	for (int i = 0; i < OPEN_MAX; i++) {
		record_close(records[i]);
		if (watches[i]) {
			sw_monitor_close(watches[i]->m);
			free(watches[i]);
			watches[i] = NULL;
		}
	}
}

static unsigned free_place(void *const *list)
{
	unsigned i = 0;

	live_at_teardown(close_all);
	while (i < OPEN_MAX && list[i])
		i++;
	assert_true(i < OPEN_MAX);
	return i;
}

struct record *record_open(const struct sw_cpu_config *config)
{
	return record_open_by(&sw_cpu_ebpf, config);
}

struct record *record_open_by(const struct sw_cpu_ops *ops, const struct sw_cpu_config *config)
{
	struct record *r = calloc(1, sizeof(*r));
	struct sw_cpu_config c = *config;
	struct sw_error error = {""};
	int n_cpus = sw_cpu_possible(&error), err;

	assert_non_null(r);
	assert_true(n_cpus > 0 && n_cpus <= 64);
	records[free_place((void *const *)records)] = r;
	if (!c.n_domains)
		c.n_domains = 1;
	assert_true(c.n_domains <= 2);
	r->n_domains = c.n_domains;
	for (int i = 0; i < n_cpus; i++)
		r->domain_of[i] = i % c.n_domains;
	c.domain_of = r->domain_of;
	c.n_cpus = n_cpus;
	c.procfs_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = ops->open(&c, &error, &r->b);
	close(c.procfs_fd);
	if (err)
		fail_msg("cannot open: %s", error.text);
	r->last_ns = calloc(r->b->max_keys, sizeof(*r->last_ns));
	assert_non_null(r->last_ns);
	return r;
}

void record_close(struct record *r)
{
	struct identity *i, *next;

	if (!r)
		return;
	for (int k = 0; k < OPEN_MAX; k++)
		if (records[k] == r)
			records[k] = NULL;
	if (r->b)
		r->b->ops->close(r->b);
	HASH_ITER(hh, r->identities, i, next) {
		HASH_DEL(r->identities, i);
		free(i);
	}
	groups_free(r);
	free(r->last_ns);
	free(r);
}

static struct identity *identity_of(struct record *r, const struct sw_task *t)
{
	struct identity_key id = {t->start_boottime_ns, t->tgid, t->tid};
	struct identity *i;

	HASH_FIND(hh, r->identities, &id, sizeof(id), i);
	if (i)
		return i;
	i = calloc(1, sizeof(*i));
	assert_non_null(i);
	i->id = id;
	HASH_ADD(hh, r->identities, id, sizeof(i->id), i);
	return i;
}

/* Add up the rows of each domain in *sum_ns, as differences from the last window. */
static void take_rows(struct record *r, const struct sw_cpu_usage *u, bool first, uint64_t sum_ns[2])
{
	for (size_t i = 0; i < u->n_rows; i++) {
		const struct sw_cpu_row *row = &u->rows[i];
		uint64_t before = row->first ? 0 : r->last_ns[row->key];
		struct identity *id = identity_of(r, row->task);

		if (row->oncpu_ns < before)
			r->fell++;
		sum_ns[row->domain] += row->oncpu_ns - before;
		if (!first) {
			id->oncpu_ns += row->oncpu_ns - before;
			id->windows++;
			id->described += row->described;
			group_of(r, row->cgroup_id)->oncpu_ns += row->oncpu_ns - before;
		}
		r->last_ns[row->key] = row->oncpu_ns;
		id->ppid = row->task->ppid;
		id->exit_code = row->task->exit_code;
		id->died |= row->last && row->died;
		id->process_ended |= row->last && row->died && row->task->process_ended;
		id->task = *row->task;
		memcpy(id->comm, row->task->comm, sizeof(id->comm));
		memcpy(id->process_comm, row->task->process_comm, sizeof(id->process_comm));
	}
}

#define ADD_DIFFERENCE(field)                                                                                          \
	do {                                                                                                           \
		if (now->field < before->field)                                                                        \
			r->fell++;                                                                                     \
		difference.field = now->field - before->field;                                                         \
		r->sum.field += difference.field;                                                                      \
	} while (0)

/* Everything but the tasks' time. */
static uint64_t take_domain(struct record *r, const struct sw_cpu_domain *now, struct sw_cpu_domain *before)
{
	struct sw_cpu_domain difference;

	ADD_DIFFERENCE(span_ns);
	ADD_DIFFERENCE(idle_ns);
	ADD_DIFFERENCE(other_ns);
	ADD_DIFFERENCE(lost_slots_ns);
	ADD_DIFFERENCE(lost_missed_ns);
	ADD_DIFFERENCE(lost_other_ns);
	ADD_DIFFERENCE(offline_ns);
	*before = *now;
	return difference.span_ns - difference.idle_ns - difference.other_ns - difference.lost_slots_ns -
	       difference.lost_missed_ns - difference.lost_other_ns - difference.offline_ns;
}

static void boundary(struct record *r, uint64_t lead_ns, bool first)
{
	const struct sw_cpu_usage *u = NULL;
	uint64_t t_ns, wake_ns, sum_ns[2] = {0};
	struct sw_error error = {""};

	assert_int_equal(r->b->ops->announce(r->b, sw_now_ns() + lead_ns, &t_ns, &wake_ns), 0);
	sw_sleep_until_ns(wake_ns);
	if (r->b->ops->read(r->b, &error, &u))
		fail_msg("cannot read: %s", error.text);
	assert_true(u->t_ns == t_ns);
	r->usage = u;
	r->ended = u->ended;
	take_rows(r, u, first, sum_ns);
	groups_take(r);
	for (unsigned d = 0; d < r->n_domains; d++) {
		uint64_t tasks_ns;

		if (first) {
			r->before[d] = u->domains[d];
			continue;
		}
		tasks_ns = take_domain(r, &u->domains[d], &r->before[d]);
		if (tasks_ns != sum_ns[d]) {
			if (!r->broken)
				print_message("# window %llu, domain %u: tasks have %lld ns more than is left\n",
					      (unsigned long long)r->windows, d, (long long)(sum_ns[d] - tasks_ns));
			r->broken++;
		}
	}
	r->members_lost = u->members_lost;
	r->late = u->late;
	r->t_ns = t_ns;
	r->wake_ns = wake_ns;
	if (first)
		r->t0_ns = t_ns;
	else
		r->windows++;
}

void record_begin(struct record *r)
{
	r->irq_and_steal_at_begin_ns = irq_and_steal_ns();
	boundary(r, NS_PER_MS, true);
}

struct record *record_begun(bool tree)
{
	pid_t self = getpid();
	struct sw_cpu_config config = {.pids = &self, .n_pids = tree};
	struct record *r = record_open(&config);

	record_begin(r);
	return r;
}

void record_window(struct record *r, uint64_t ns)
{
	uint64_t now = sw_now_ns(), next = r->wake_ns + ns;

	boundary(r, next > now + NS_PER_MS ? next - now : NS_PER_MS, false);
}

void record_windows(struct record *r, unsigned n, uint64_t ns)
{
	for (unsigned i = 0; i < n; i++)
		record_window(r, ns);
}

struct identity *record_find(const struct record *r, pid_t tid)
{
	struct identity *last = NULL;

	for (struct identity *i = r->identities; i; i = i->hh.next)
		if (i->id.tid == tid && i->oncpu_ns && (!last || i->id.start_boottime_ns > last->id.start_boottime_ns))
			last = i;
	return last;
}

void record_assert_exact(const struct record *r)
{
	assert_true(r->windows > 0);
	assert_true(r->sum.span_ns == r->b->cpus * (r->t_ns - r->t0_ns));
	assert_int_equal(r->broken, 0);
	assert_int_equal(r->fell, 0);
}

uint64_t record_process_ns(const struct record *r, pid_t pid)
{
	uint64_t ns = 0;

	for (const struct identity *i = r->identities; i; i = i->hh.next)
		if (i->id.tgid == pid)
			ns += i->oncpu_ns;
	return ns;
}

static int by_parent(const void *a, const void *b)
{
	const struct identity *x = *(const struct identity *const *)a, *y = *(const struct identity *const *)b;

	return (x->ppid > y->ppid) - (x->ppid < y->ppid);
}

static uint64_t subtree_ns(struct identity **sorted, size_t n, const struct record *r, pid_t root, int depth)
{
	uint64_t ns = record_process_ns(r, root);
	size_t low = 0, high = n;

	assert_true(depth < 16);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sorted[middle]->ppid < root)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < n && sorted[low]->ppid == root; low++)
		if (sorted[low]->id.tid == sorted[low]->id.tgid) /* a process once */
			ns += subtree_ns(sorted, n, r, sorted[low]->id.tgid, depth + 1);
	return ns;
}

uint64_t record_tree_ns(const struct record *r, pid_t root)
{
	size_t n = 0;
	struct identity **sorted = malloc((HASH_COUNT(r->identities) + 1) * sizeof(*sorted));
	uint64_t ns;

	assert_non_null(sorted);
	for (struct identity *i = r->identities; i; i = i->hh.next)
		sorted[n++] = i;
	qsort(sorted, n, sizeof(*sorted), by_parent);
	ns = subtree_ns(sorted, n, r, root, 0);
	free(sorted);
	return ns;
}

uint64_t record_lost_ns(const struct record *r)
{
	return r->sum.lost_slots_ns + r->sum.lost_missed_ns + r->sum.lost_other_ns;
}

uint64_t record_stolen_ns(const struct record *r)
{
	return irq_and_steal_ns() - r->irq_and_steal_at_begin_ns;
}

bool record_matches(const struct record *r, const char *what, uint64_t ns, uint64_t own_ns, uint64_t switches,
		    double permille)
{
	double slack = own_ns * permille / 1000 + switches * LAG_NS, more = (double)ns - (double)own_ns;
	uint64_t lost = record_lost_ns(r), stolen = record_stolen_ns(r);

	print_message("# %s: %.6f of %.6f s, %+.3f ms or %+.3f per mille, %llu switches; lost %.3f, stolen %.0f ms\n",
		      what, ns / 1e9, own_ns / 1e9, more / 1e6, own_ns ? more / own_ns * 1000 : 0,
		      (unsigned long long)switches, lost / 1e6, stolen / 1e6);
	return more <= slack + stolen && -more <= slack + lost;
}

struct sw_ebpf *record_inside(struct record *r)
{
	return (struct sw_ebpf *)r->b;
}

unsigned record_slots(struct record *r, unsigned *ret_of_process, pid_t pid)
{
	struct sw_ebpf *b = record_inside(r);
	unsigned n = 0;

	*ret_of_process = 0;
	for (uint32_t i = SWB_FIRST_SLOT; i < b->n_slots; i++) {
		if (!*(volatile uint32_t *)&b->slots[i].claim)
			continue;
		n++;
		*ret_of_process += (pid_t)b->cold[i].tgid == pid;
	}
	return n;
}

struct watch *watch_open(struct sw_options *options)
{
	struct watch *w = calloc(1, sizeof(*w));
	char error[512] = "";

	assert_non_null(w);
	watches[free_place((void *const *)watches)] = w;
	options->sz = sizeof(*options);
	options->error = error;
	options->error_size = sizeof(error);
	if (!options->energy)
		options->energy = "none";
	if (sw_monitor_open(options, &w->m))
		fail_msg("cannot open: %s", error);
	options->error = NULL;
	if (sw_monitor_begin(w->m))
		fail_msg("cannot begin: %s", sw_monitor_error(w->m));
	return w;
}

static const struct sw_report *checked(struct watch *w, const struct sw_report *r)
{
	uint64_t processes_ns = 0;

	for (size_t i = 0; i < r->n_processes; i++)
		processes_ns += r->processes[i].oncpu_ns;
	w->windows++;
	if (processes_ns != r->proc_oncpu_ns || r->proc_oncpu_ns + r->other_oncpu_ns + r->idle_ns + r->lost_ns +
						r->offline_ns != sw_monitor_header(w->m)->cpus * r->window_ns)
		w->broken++;
	return r;
}

const struct sw_report *watch_step(struct watch *w)
{
	struct pollfd fd = {.fd = sw_monitor_fd(w->m), .events = POLLIN};
	const struct sw_report *r = NULL;
	int done = 0;

	while (!done) {
		assert_int_equal(poll(&fd, 1, 20000), 1);
		done = sw_monitor_step(w->m, &r);
		if (done < 0)
			fail_msg("cannot step: %s", sw_monitor_error(w->m));
	}
	return checked(w, r);
}

const struct sw_summary *watch_finish(struct watch *w)
{
	const struct sw_summary *s = NULL;
	const struct sw_report *r = NULL;

	if (sw_monitor_finish(w->m, &r) < 0)
		fail_msg("cannot finish: %s", sw_monitor_error(w->m));
	checked(w, r);
	if (sw_monitor_summary(w->m, &s))
		fail_msg("cannot sum up: %s", sw_monitor_error(w->m));
	return s;
}

const struct sw_process *watch_find(const struct sw_process *p, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (p[i].pid == pid)
			return &p[i];
	return NULL;
}

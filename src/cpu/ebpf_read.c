/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: reading what stood at a boundary, from the mapped state of CPUs that go on working, without waking any.
 * Must not know: energy, windows (it returns cumulative numbers), how the program was attached.
 * Relies on bpf/account.h, whose header says how stores are ordered.
 *
 * A CPU has either crossed the boundary T (it switched since; what it held at T it noted itself) or its stretch goes on
 * (then the running task's part up to T is ours to compute, provisionally: the note that the CPU makes when the stretch
 * ends says where it really went, and the difference is shifted so that totals stay true).
 */
#include "ebpf.h"

#include "../base/clock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GUARD_NS 50000 /* after T, so that every store of a switch before T can be seen */
#define MISSES_PERIOD_NS 1000000000
#define LEAD_NS 1000000      /* how long ahead a boundary has to be announced */
#define TEND_ROOM_NS 5000000 /* what it takes to fit one in before the next */

static uint64_t lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void shift_one(struct sw_ebpf *b, struct sw_ebpf_cpu *c, uint32_t where, int64_t ns)
{
	if (where >= SWB_FIRST_SLOT)
		b->state[where].shift_ns += ns;
	else
		c->shift_ns[where] += ns;
}

/* What a stretch has up to T, given to its places (sign 1) or taken back (sign -1). */
static void shift(struct sw_ebpf *b, struct sw_ebpf_cpu *c, const struct sw_stretch *s, uint64_t T, int sign)
{
	uint64_t from_ns = lower(s->from_ns, T);

	shift_one(b, c, s->before, sign * (int64_t)(from_ns - s->origin_ns));
	shift_one(b, c, s->where, sign * (int64_t)(T - from_ns));
}

/* Two slots of one process: it moved to another cgroup, or a thread execed, while the stretch went on. */
static bool same_process(const struct sw_ebpf *b, uint32_t n, uint32_t m)
{
	return n >= SWB_FIRST_SLOT && m >= SWB_FIRST_SLOT && b->cold[n].tgid == b->cold[m].tgid;
}

static void check(struct sw_ebpf *b, const struct sw_open_stretch *o, const struct swb_crossing *x)
{
	uint32_t where = o->stretch.where == SW_OFFLINE ? SWB_IDLE : o->stretch.where;

	if (x->origin_ns != x->from_ns || x->where == SWB_LOST_MISSED || where == SWB_LOST_MISSED ||
	    o->stretch.from_ns != o->stretch.origin_ns) {
		b->check_missed++;
		return;
	}
	b->check_compared++;
	if (x->where == where)
		b->check_differ += o->stretch.where == where && x->base_ns + (o->T - x->from_ns) != o->value_ns;
	else
		b->check_differ += !same_process(b, x->where, where);
}

/*
 * The stretch that was open at the last boundary: where did it go? What was reported of it stays where it was reported;
 * its true places get that much less in what is to come.
 */
static void settle_open(struct sw_ebpf *b, struct sw_ebpf_cpu *c)
{
	const struct swb_crossing *x = &c->view.state.crossing[c->open.epoch & 1];
	const struct sw_open_stretch *o = &c->open;
	struct sw_stretch now = c->view.running;

	if (!o->valid)
		return;
	if (c->view.crossed || c->view.state.since_ns != o->stretch.origin_ns) { /* it has ended */
		if (x->origin_ns != o->stretch.origin_ns) { /* cannot be: a stretch that holds a boundary is noted */
			b->check_differ++;
			return;
		}
		check(b, o, x);
		now = (struct sw_stretch){x->origin_ns, x->from_ns, x->before, x->where};
	}
	shift(b, c, &o->stretch, o->T, 1);
	shift(b, c, &now, o->T, -1);
}

static void collect(struct sw_ebpf *b, uint32_t n)
{
	struct sw_slot_state *st = &b->state[n];

	if (st->pass == b->pass)
		return;
	st->pass = b->pass;
	st->running_ns = st->left_ns = 0;
	st->acc_ns = once(b->slots[n].acc_ns);
	b->active[b->n_active++] = n;
}

/* Its list of the closing epoch, which it no longer writes to. 0: none. */
static uint32_t closing_list(const struct sw_ebpf *b, const struct sw_cpu_view *v)
{
	if (!v->started || (int32_t)(v->state.epoch - b->epoch) < 0)
		return 0;
	return v->state.head[b->epoch & 1];
}

static void collect_running(struct sw_ebpf *b, const struct sw_stretch *s)
{
	if (s->where >= SWB_FIRST_SLOT) {
		collect(b, s->where);
		b->state[s->where].running_ns += b->T - s->from_ns;
	}
	if (s->before >= SWB_FIRST_SLOT && s->from_ns > s->origin_ns) {
		collect(b, s->before);
		b->state[s->before].left_ns += s->from_ns - s->origin_ns;
	}
}

static void collect_cpu(struct sw_ebpf *b, struct sw_ebpf_cpu *c)
{
	struct sw_cpu_view *v = &c->view;
	uint32_t steps = 0;

	for (uint32_t n = closing_list(b, v); n && steps < b->n_slots; n = once(b->slots[n].next[b->epoch & 1]), steps++)
		collect(b, n);
	if (!v->started)
		return;
	if (v->crossed) {
		if (v->state.crossing[b->epoch & 1].where >= SWB_FIRST_SLOT)
			collect(b, v->state.crossing[b->epoch & 1].where);
	} else if (b->T > v->state.since_ns) {
		/* should it cross just now, slot_value() sees the slot's epoch move on */
		collect_running(b, &v->running);
	}
}

/* What a slot held at T. The epoch is looked at long after acc_ns was: if it had moved on, at_ns says it. */
static uint64_t slot_value(const struct sw_ebpf *b, uint32_t n)
{
	const struct swb_slot *s = &b->slots[n];

	if ((int32_t)(once(s->epoch) - b->epoch) > 0) {
		read_barrier();
		return once(s->at_ns) + b->state[n].left_ns;
	}
	return b->state[n].acc_ns + b->state[n].running_ns + b->state[n].left_ns;
}

/* One more slot, when all is collected: it does not run. */
static void collect_late(struct sw_ebpf *b, uint32_t n)
{
	if (b->state[n].pass == b->pass)
		return;
	collect(b, n);
	b->state[n].value_ns = slot_value(b, n);
}

/* Slots that died outside a switch and lie on no list. Seldom: an exec by a thread, a death that went unseen. */
static void collect_unlisted(struct sw_ebpf *b)
{
	uint64_t unlisted = 0;

	for (unsigned i = 0; i < b->n_cpus; i++)
		unlisted += once(b->cpus[i].unlisted);
	if (unlisted == b->unlisted)
		return;
	b->unlisted = unlisted;
	for (uint32_t n = SWB_FIRST_SLOT; n < b->n_slots; n++) {
		const struct swb_slot *s = &b->slots[n];

		if (once(s->claim) && once(s->dead) && (int32_t)(once(s->epoch) - b->epoch) <= 0)
			collect_late(b, n);
	}
}

/*
 * A stretch that was split by our own reckoning, or given up as lost, must be whole: had the CPU crossed T meanwhile,
 * slots would say where its parts really went and the rest would not fit them. True: look at that CPU again.
 */
static bool moved_on(const struct sw_ebpf *b, unsigned cpu)
{
	const struct sw_cpu_view *v = &b->cpu[cpu].view;

	return v->started && !v->crossed && once(b->cpus[cpu].seq) != v->state.seq &&
	       (v->running.from_ns != v->running.origin_ns || v->running.where == SWB_LOST_MISSED);
}

static void collect_all(struct sw_ebpf *b)
{
	bool again;

	do {
		again = false;
		b->pass++;
		b->n_active = 0;
		for (unsigned i = 0; i < b->n_cpus; i++)
			collect_cpu(b, &b->cpu[i]);
		for (size_t i = 0; i < b->n_active; i++)
			b->state[b->active[i]].value_ns = slot_value(b, b->active[i]);
		for (unsigned i = 0; i < b->n_cpus; i++)
			if (moved_on(b, i)) {
				sw_ebpf_view_cpu(b, i);
				again = true;
			}
	} while (again);
}

/* What the running stretch adds to a place up to T. */
static uint64_t running_part(const struct sw_ebpf *b, const struct sw_cpu_view *v, uint32_t where)
{
	const struct sw_stretch *s = &v->running;
	uint64_t ns = 0;

	if (b->T <= v->state.since_ns)
		return 0;
	if (s->before == where)
		ns += s->from_ns - s->origin_ns;
	if (s->where == where)
		ns += b->T - s->from_ns;
	return ns;
}

static uint64_t bucket_value(const struct sw_ebpf *b, const struct sw_ebpf_cpu *c, uint32_t bucket)
{
	const struct sw_cpu_view *v = &c->view;
	const struct swb_crossing *x = &v->state.crossing[b->epoch & 1];
	uint64_t ns;

	if (!v->started)
		return 0;
	if (v->crossed) {
		ns = x->bucket_ns[bucket];
		if (x->where == bucket)
			ns += b->T + x->late_ns - x->from_ns;
	} else {
		ns = v->state.bucket_ns[bucket] + running_part(b, v, bucket);
	}
	return ns + c->shift_ns[bucket];
}

static uint64_t offline_value(const struct sw_ebpf *b, const struct sw_ebpf_cpu *c)
{
	const struct sw_cpu_view *v = &c->view;
	uint64_t ns = 0;

	if (!v->started)
		return b->start_ns ? b->T - b->start_ns : 0;
	if (b->start_ns && v->state.began_ns > b->start_ns)
		ns = v->state.began_ns - b->start_ns;
	if (!v->crossed)
		ns += running_part(b, v, SW_OFFLINE);
	return ns + c->shift_ns[SW_OFFLINE];
}

static uint64_t place_value(const struct sw_ebpf *b, const struct sw_ebpf_cpu *c, uint32_t where)
{
	if (where >= SWB_FIRST_SLOT)
		return b->state[where].value_ns;
	return where == SW_OFFLINE ? 0 : bucket_value(b, c, where) - c->shift_ns[where];
}

static uint64_t lateness(const struct sw_ebpf *b, const struct sw_cpu_view *v)
{
	if (!v->started)
		return 0;
	if (v->crossed)
		return v->state.crossing[b->epoch & 1].late_ns;
	return v->state.since_ns > b->T ? v->state.since_ns - b->T : 0;
}

/* As much as is needed of what that place has had in this window. */
static int hold(struct sw_ebpf *b, unsigned cpu, uint32_t where, uint64_t value, uint64_t reported, uint64_t *need)
{
	uint64_t ns = value > reported ? lower(value - reported, *need) : 0;

	if (!ns)
		return 0;
	if (b->n_held == b->held_capacity) {
		size_t capacity = b->held_capacity ? 2 * b->held_capacity : 16;
		struct sw_held *held = realloc(b->held, capacity * sizeof(*held));

		if (!held)
			return -ENOMEM;
		b->held = held;
		b->held_capacity = capacity;
	}
	shift_one(b, &b->cpu[cpu], where, -(int64_t)ns);
	b->held[b->n_held++] = (struct sw_held){.cpu = cpu, .where = where, .ns = ns};
	if (where >= SWB_FIRST_SLOT)
		b->state[where].kept = true; /* if its task is dead, too, for it has time to come */
	*need -= ns;
	return 0;
}

/*
 * A CPU that saw T too late stands at a moment after T. Its surplus is kept back from what it did in this window and
 * given out with the next, so that every window's parts still add up.
 */
static int hold_late(struct sw_ebpf *b, unsigned cpu)
{
	struct sw_ebpf_cpu *c = &b->cpu[cpu];
	uint64_t need = lateness(b, &c->view);
	int err = 0;

	if (!need)
		return 0;
	b->late++;
	for (uint32_t i = 0; i < SWB_BUCKETS && need && !err; i++)
		err = hold(b, cpu, i, bucket_value(b, c, i), c->reported_ns[i], &need);
	for (uint32_t n = closing_list(b, &c->view); n && need && !err; n = once(b->slots[n].next[b->epoch & 1]))
		err = hold(b, cpu, n, b->state[n].value_ns + b->state[n].shift_ns, b->state[n].reported_ns, &need);
	return err;
}

static void give_held(struct sw_ebpf *b)
{
	for (size_t i = 0; i < b->n_held; i++) {
		shift_one(b, &b->cpu[b->held[i].cpu], b->held[i].where, b->held[i].ns);
		if (b->held[i].where < SWB_FIRST_SLOT)
			continue;
		collect_late(b, b->held[i].where); /* if it did nothing else in this window */
		b->state[b->held[i].where].kept = false;
	}
	b->n_held = 0;
}

static void sum_domains(struct sw_ebpf *b)
{
	memset(b->domains, 0, b->n_domains * sizeof(*b->domains));
	b->usage.members_lost = 0;
	for (unsigned i = 0; i < b->n_cpus; i++) {
		struct sw_ebpf_cpu *c = &b->cpu[i];
		struct sw_cpu_domain *d = &b->domains[b->domain_of[i]];

		for (uint32_t k = 0; k < SWB_BUCKETS; k++)
			c->reported_ns[k] = bucket_value(b, c, k);
		d->idle_ns += c->reported_ns[SWB_IDLE];
		d->other_ns += c->reported_ns[SWB_OTHER];
		d->lost_missed_ns += c->reported_ns[SWB_LOST_MISSED];
		d->lost_slots_ns += c->reported_ns[SWB_LOST_SLOTS];
		if (c->present) {
			d->offline_ns += offline_value(b, c);
			d->span_ns += b->T - b->start_ns;
		}
		b->usage.members_lost += once(b->cpus[i].members_lost);
	}
}

/* Cumulative, and asked for once a second at most: it is a system call that windows can do without. */
static int64_t recursion_misses(struct sw_ebpf *b)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	if (b->misses_read_ns && b->T - b->misses_read_ns < MISSES_PERIOD_NS)
		return b->usage.recursion_misses;
	b->misses_read_ns = b->T;
	if (bpf_obj_get_info_by_fd(b->switch_fd, &info, &size))
		return INT64_MIN;
	/* older kernels return a shorter structure */
	return size >= offsetof(struct bpf_prog_info, recursion_misses) + sizeof(info.recursion_misses)
		       ? (int64_t)info.recursion_misses
		       : INT64_MIN;
}

static void keep_open(struct sw_ebpf *b, struct sw_ebpf_cpu *c)
{
	const struct sw_cpu_view *v = &c->view;

	c->open.valid = v->started && !v->crossed && v->state.since_ns <= b->T;
	if (!c->open.valid)
		return;
	c->open.stretch = v->running;
	c->open.T = b->T;
	c->open.epoch = b->epoch;
	c->open.value_ns = place_value(b, c, v->running.where);
}

/* No member is alive, and all that they had has been told: one that went just after T has time in the next window. */
static bool has_ended(const struct sw_ebpf *b)
{
	if (!b->tree || once(b->global->held))
		return false;
	for (uint32_t n = SWB_FIRST_SLOT; n < b->n_slots; n++)
		if (once(b->slots[n].claim))
			return false;
	return true;
}

/* Take in what stood at T. */
static int read_boundary(struct sw_ebpf *b)
{
	int err = 0;

	sw_sleep_until_ns(b->T + GUARD_NS - b->clock_ahead_ns);
	sw_ebpf_view(b);
	collect_all(b);
	give_held(b);
	for (unsigned i = 0; i < b->n_cpus; i++)
		settle_open(b, &b->cpu[i]);
	sw_ebpf_sweep(b);
	collect_unlisted(b);
	for (unsigned i = 0; i < b->n_cpus && !err; i++) {
		keep_open(b, &b->cpu[i]);
		err = hold_late(b, i);
	}
	if (!b->start_ns)
		b->start_ns = b->T;
	sum_domains(b);
	sw_ebpf_ask_names(b);
	b->announced = false;
	return err;
}

int sw_ebpf_read(struct sw_cpu_backend *backend, struct sw_error *error, const struct sw_cpu_usage **ret)
{
	struct sw_ebpf *b = (struct sw_ebpf *)backend;
	int err = read_boundary(b);

	if (!err)
		err = sw_ebpf_emit_rows(b);
	if (err)
		return sw_fail(error, err, "out of memory for the %zu tasks of a window", b->n_active);
	b->usage.t_ns = b->T;
	b->usage.domains = b->domains;
	b->usage.late = b->late;
	b->usage.recursion_misses = recursion_misses(b);
	b->usage.slots_used = b->n_known;
	b->usage.shared_with = b->usage.shared_ns = b->usage.irq_ns = b->usage.steal_ns = INT64_MIN;
	b->usage.unverified = !b->peeks;
	b->usage.ended = has_ended(b);
	b->quiet = !b->usage.n_rows;
	*ret = &b->usage;
	return 0;
}

int sw_ebpf_keep_boundary(struct sw_ebpf *b, uint64_t T)
{
	int err = read_boundary(b);

	if (!err)
		err = sw_ebpf_keep_rows(b);
	/* a CPU knows an epoch by its boundary: never the same again, or those that have not switched would not notice */
	sw_ebpf_set_boundary(b, T - 1);
	return err;
}

/* A boundary of our own, so that the slots of the dead come free in a long window, too. Nobody is told of it. */
int sw_ebpf_tend(struct sw_cpu_backend *backend, struct sw_error *error)
{
	struct sw_ebpf *b = (struct sw_ebpf *)backend;
	uint64_t T = b->T, now_ns = sw_now_ns() + b->clock_ahead_ns;

	if (!b->announced || !b->start_ns || now_ns + TEND_ROOM_NS > T)
		return 0;
	sw_ebpf_set_boundary(b, now_ns + LEAD_NS);
	if (sw_ebpf_keep_boundary(b, T))
		return sw_fail(error, -ENOMEM, "out of memory for the %zu tasks of a window", b->n_active);
	return 0;
}

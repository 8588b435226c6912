/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what every CPU is at, seen from outside while it goes on working, without waking any.
 * Must not know: what tasks had before, or what is told of them.
 * Relies on bpf/account.h, whose header says how stores are ordered.
 */
#include "ebpf.h"

#include "../base/clock.h"
#include "../base/parse.h"
#include "../base/root.h"

#include <bpf/bpf.h>
#include <string.h>

#define SETTLE_TRIES 2
#define SETTLE_PAUSE_NS 10000

static uint64_t lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void run_program(int fd, uint32_t flags, uint32_t cpu)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = flags, .cpu = cpu);

	/* a failure shows in what the program would have written */
	bpf_prog_test_run_opts(fd, &opts);
}

static void peek(struct sw_ebpf *b)
{
	if (b->peeks)
		run_program(b->peek_fd, 0, 0);
}

/*
 * The slot in which the program would find a task; 0 when it has none. *member: a slot has its id, be it of another
 * domain, or of the leader whose id it took.
 */
static uint32_t find_slot(const struct sw_ebpf *b, uint16_t domain, uint64_t task, uint32_t tid, uint64_t css, bool *member)
{
	uint32_t mask = b->n_slots - 1, n, other = 0;

	*member = false;
	for (unsigned way = 0; way < SWB_WAYS; way++) {
		const struct swb_slot *s = &b->slots[n = (tid + way * ((mask >> 3) + 1)) & mask];
		uint64_t holder = once(s->task);

		if (n < SWB_FIRST_SLOT || !holder || s->tid != tid)
			continue;
		*member = true;
		if (holder != task || s->domain != domain)
			continue;
		if (s->css == css)
			return n;
		other = n; /* its cgroup changed while it runs: provisionally where it was */
	}
	return other;
}

/* Where a task's time goes on a CPU, as far as can be told from outside. -1: only the CPU itself can say. */
static int place(const struct sw_ebpf *b, const struct swb_cpu *c, uint64_t task, uint32_t tid, uint64_t css)
{
	bool member;
	uint32_t n;

	if (!tid)
		return SWB_IDLE;
	n = find_slot(b, c->domain, task, tid, css, &member);
	if (n)
		return n;
	return b->tree && !member ? SWB_OTHER : -1;
}

/* The running stretch of a CPU that has not crossed. False: only the CPU itself can say where it goes. */
static bool place_running(const struct sw_ebpf *b, struct sw_cpu_view *v)
{
	const struct swb_cpu *c = &v->state;
	uint64_t expected = c->running, seen = b->by_tid ? SWB_TID(c->seen_tid) : c->seen_task;
	int where, before;

	v->running = (struct sw_stretch){.origin_ns = c->since_ns, .from_ns = c->since_ns};
	v->unseen = false;
	if (c->outside && b->peeks && (c->seen_seq != c->seq || place(b, c, c->seen_task, c->seen_tid, 0) == SWB_OTHER)) {
		v->running.where = SWB_OTHER; /* outsiders pass the CPU on among themselves: any of them will do */
		return true;
	}
	if (!b->peeks) { /* nothing says which id the expected task has */
		where = c->outside ? SWB_OTHER : expected == c->idle_task || expected == SWB_TID(0) ? SWB_IDLE : -1;
		v->running.where = where;
		return where >= 0;
	}
	if (seen == expected && !(c->seen_unseen && c->seen_seq == c->seq)) {
		where = c->outside ? SWB_OTHER : place(b, c, c->seen_task, c->seen_tid, c->seen_css);
		v->running.where = where;
		return where >= 0;
	}
	/* it runs another, or the same again, which has not run all the while */
	where = place(b, c, c->seen_task, c->seen_tid, c->seen_css);
	before = c->outside ? SWB_OTHER : place(b, c, expected, c->left_tid, c->left_css);
	v->unseen = !c->left_ran_ns || where < 0 || before < 0;
	if (v->unseen) {
		v->running.where = SWB_LOST_MISSED;
		return true;
	}
	v->running.before = before;
	v->running.where = where;
	v->running.from_ns = lower(c->since_ns + c->left_ran_ns, b->T > c->since_ns ? b->T : c->since_ns);
	return true;
}

/* Copy a CPU's state as one. False when it would not settle, or only the CPU can say where its stretch goes. */
static bool look(const struct sw_ebpf *b, unsigned cpu, struct sw_cpu_view *v)
{
	const struct swb_cpu *c = &b->cpus[cpu];

	for (int i = 0; i < 1000; i++) {
		uint64_t seq = once(c->seq);
		bool placed = true;

		read_barrier();
		memcpy(&v->state, c, sizeof(v->state));
		v->started = v->state.running && v->state.began_ns <= b->T;
		v->crossed = (int32_t)(v->state.epoch - b->epoch) > 0;
		v->unseen = false;
		if (v->started && !v->crossed)
			placed = place_running(b, v);
		read_barrier();
		if (!(seq & 1) && once(c->seq) == seq && v->state.seq == seq)
			return placed;
	}
	return false;
}

/* It was so at the last boundary, too. */
static bool still_lost(const struct sw_ebpf_cpu *c)
{
	return c->open.valid && c->open.stretch.where == SWB_LOST_MISSED &&
	       c->open.stretch.origin_ns == c->view.state.since_ns;
}

void sw_ebpf_view_cpu(struct sw_ebpf *b, unsigned cpu)
{
	struct sw_cpu_view *v = &b->cpu[cpu].view;
	bool ok = look(b, cpu, v);

	/* the kernel names the next task a moment before its event: a switch just then looks like a missed one */
	for (int i = 0; i < SETTLE_TRIES && ok && v->unseen && !still_lost(&b->cpu[cpu]); i++) {
		sw_sleep_until_ns(sw_now_ns() + SETTLE_PAUSE_NS);
		peek(b);
		ok = look(b, cpu, v);
	}
	for (int i = 0; i < SETTLE_TRIES && !ok; i++) {
		run_program(b->snap_fd, BPF_F_TEST_RUN_ON_CPU, cpu);
		ok = look(b, cpu, v);
	}
	if (!ok)
		v->running.where = v->running.before = SWB_LOST_MISSED;
}

static bool idle_throughout(const struct sw_ebpf *b, const struct sw_ebpf_cpu *c)
{
	return c->view.running.where == SWB_IDLE && c->open.valid &&
	       c->open.stretch.origin_ns == c->view.state.since_ns && c->open.T < b->T;
}

/*
 * A CPU that is off looks idle, or as if a switch had gone unseen: the kernel has no events for a CPU that is on its way
 * out (cpu_online() in include/linux/tracepoint.h).
 */
static bool may_be_off(const struct sw_ebpf *b, const struct sw_ebpf_cpu *c)
{
	return c->view.started && !c->view.crossed && (c->view.unseen || idle_throughout(b, c));
}

static int mark_online(unsigned cpu, void *ctx)
{
	struct sw_ebpf *b = ctx;

	if (cpu < b->n_cpus)
		b->cpu[cpu].online = true;
	return 0;
}

/* The list of CPUs that are online is worth reading only where one may be off: few are idle for a whole window. */
static void find_offline(struct sw_ebpf *b)
{
	char text[4096];
	bool any = false;

	for (unsigned i = 0; i < b->n_cpus; i++)
		any |= may_be_off(b, &b->cpu[i]);
	if (!any || b->online_fd < 0 || sw_fd_read(b->online_fd, text, sizeof(text)) <= 0)
		return;
	for (unsigned i = 0; i < b->n_cpus; i++)
		b->cpu[i].online = false;
	if (sw_parse_cpulist(text, UINT32_MAX, mark_online, b))
		return;
	for (unsigned i = 0; i < b->n_cpus; i++)
		if (!b->cpu[i].online && may_be_off(b, &b->cpu[i]))
			b->cpu[i].view.running.where = b->cpu[i].view.running.before = SW_OFFLINE;
}

void sw_ebpf_view(struct sw_ebpf *b)
{
	peek(b);
	for (unsigned i = 0; i < b->n_cpus; i++)
		sw_ebpf_view_cpu(b, i);
	find_offline(b);
}

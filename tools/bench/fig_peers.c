/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what people would use instead, on the same pair of tasks: a bpftrace sum, and perf sched record.
 * Must not know: what they find. Relies on: bpftrace(8), perf-sched(1). They get tracefs in a mount namespace of their
 * own where the host has none.
 */
#include "bench.h"

#include "base/clock.h"
#include "load.h"
#include "stat.h"
#include "variant.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PEER_ROUNDS 9
#define PEER_RUN_NS 200e6
#define PEER_SECONDS 60
#define PEERS 2

struct peer {
	const char *name;
	const char *what;
	char *argv[8];
	unsigned settle_ms; /* from start until it is attached */
	char reason[128];   /* why it is left out */
	double ratio[PEER_ROUNDS];
};

static char bpftrace_sum[] = "tracepoint:sched:sched_switch { $now = nsecs; if (@since[cpu]) "
			     "{ @ns[args->prev_pid] = sum($now - @since[cpu]); } @since[cpu] = $now; }";

static const struct peer known[PEERS] = {
	{.name = "bpftrace", .what = "pipe partners with a bpftrace sum / without",
	 .argv = {"bpftrace", "-e", bpftrace_sum}, .settle_ms = 2500},
	{.name = "perf_sched", .what = "pipe partners with perf sched record / without",
	 .argv = {"perf", "sched", "record", "-o", "/dev/null"}, .settle_ms = 1500},
};

static void pause_ms(unsigned ms)
{
	sw_sleep_until_ns(sw_now_ns() + ms * 1000000ULL);
}

/* 0, or -errno of the pair; a peer that does not work is left out from here on. */
static int run_peer(struct peer *p, unsigned round, struct pair *pair, uint32_t chunks, double none)
{
	pid_t pid = child_exec(PEER_SECONDS, p->argv, -1, access("/sys/kernel/tracing/events", F_OK));
	double ns = 0;
	int status, err = 0;

	if (pid < 0) {
		snprintf(p->reason, sizeof(p->reason), "%s", strerror(-pid));
		return 0;
	}
	pause_ms(p->settle_ms);
	if (waitpid(pid, &status, WNOHANG)) {
		if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
			snprintf(p->reason, sizeof(p->reason), "%s is not installed", p->argv[0]);
		else
			snprintf(p->reason, sizeof(p->reason), "%s does not work here (status %#x)", p->argv[0],
				 status);
		return 0;
	}
	err = pair_run(pair, chunks, &ns, NULL);
	child_end(pid, SIGINT);
	p->ratio[round] = ns / none;
	return err;
}

static int peer_round(struct bench *b, struct peer peers[PEERS], struct variant *ours, double *our_ratio,
		      unsigned round)
{
	struct pair pair;
	uint32_t chunks;
	double none, after, ns;
	int err = pair_start(&pair, b->cpu, PIPES, false);

	if (err)
		return err;
	chunks = pair_chunks(&pair, b->quick ? PEER_RUN_NS / 10 : PEER_RUN_NS);
	err = pair_run(&pair, chunks, &none, NULL);
	if (!err)
		err = variant_attach(ours);
	if (!err)
		err = pair_run(&pair, chunks, &ns, NULL);
	variant_detach(ours);
	if (!err)
		err = pair_run(&pair, chunks, &after, NULL);
	if (!err) {
		none = (none + after) / 2;
		our_ratio[round] = ns / none;
	}
	for (unsigned i = 0; i < PEERS && !err; i++)
		if (!*peers[i].reason)
			err = run_peer(&peers[i], round, &pair, chunks, none);
	pair_end(&pair);
	return err;
}

void fig_peers(struct bench *b)
{
	struct variant ours = {.name = "schedwatt host tp_btf", .kind = HOST, .flavour = BTF};
	double our_ratio[PEER_ROUNDS];
	struct peer peers[PEERS];
	struct sw_error error = {0};
	unsigned rounds = b->quick ? 1 : PEER_ROUNDS;
	int err = variant_open(&ours, NULL, &error);
	struct stat s;

	memcpy(peers, known, sizeof(peers));
	for (unsigned i = 0; i < rounds && !err; i++) {
		err = peer_round(b, peers, &ours, our_ratio, i);
		if (err)
			sw_fail(&error, err, "the pair of tasks ended: %s", strerror(-err));
	}
	variant_close(&ours);
	if (err) {
		bench_skip(b, "peers", "peers on the same pair of tasks", error.text);
		return;
	}
	s = stat_median(our_ratio, rounds);
	bench_raw(b, "peers", "schedwatt", our_ratio, rounds);
	bench_stat(b, "peer_schedwatt", "pipe partners with schedwatt / without", "", s);
	for (unsigned i = 0; i < PEERS; i++) {
		if (*peers[i].reason) {
			bench_skip(b, peers[i].name, peers[i].what, peers[i].reason);
			continue;
		}
		s = stat_median(peers[i].ratio, rounds);
		bench_raw(b, "peers", peers[i].name, peers[i].ratio, rounds);
		bench_stat(b, peers[i].name, peers[i].what, "", s);
	}
}

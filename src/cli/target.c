/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how a target is called in words. Must not know: where the words go; whoever prints them makes a cgroup's path
 * fit for terminals. Relies on: schedwatt.h, struct sw_header.
 */
#include "target.h"

#include <stdbool.h>

/* So many pids are named; 4,096 of them would fill the screen. */
enum { NAMED_MAX = 4 };

static void add_pids(struct buf *out, const struct sw_header *h)
{
	size_t named = h->n_pids > NAMED_MAX ? NAMED_MAX : h->n_pids;

	buf_text(out, h->n_pids == 1 ? "process " : "processes ");
	for (size_t i = 0; i < named; i++)
		buf_printf(out, "%s%d", i ? "," : "", h->pids[i]);
	if (h->n_pids > named)
		buf_printf(out, " and %zu more", h->n_pids - named);
}

static const char *their(const struct sw_header *h)
{
	return h->n_pids == 1 ? "its" : "their";
}

static bool has_descendants(const struct sw_header *h)
{
	return h->target == SW_TARGET_PIDS && h->scope == SW_SCOPE_TREE;
}

void target_words(struct buf *out, const struct sw_header *h)
{
	switch (h->target) {
	case SW_TARGET_PIDS:
		add_pids(out, h);
		if (has_descendants(h))
			buf_printf(out, " and %s descendants", their(h));
		break;
	case SW_TARGET_CGROUP:
		buf_printf(out, "cgroup %s", h->cgroup ? h->cgroup : "-");
		break;
	default:
		buf_text(out, "this machine");
		break;
	}
}

void target_left_words(struct buf *out, const struct sw_header *h)
{
	add_pids(out, h);
	buf_printf(out, " %s ended; %s descendants are recorded on", h->n_pids == 1 ? "has" : "have", their(h));
}

void target_ended_words(struct buf *out, const struct sw_header *h)
{
	target_words(out, h);
	buf_printf(out, " %s ended; the recording is over", h->n_pids == 1 && !has_descendants(h) ? "has" : "have");
}

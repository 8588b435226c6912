/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: who descends from whom, sums over subtrees, and which of them are folded. Must not know: how a line looks.
 * Relies on: (host_pid, start time) being a process's identity, and host_ppid its parent's number when it was forked.
 */
#include "tree.h"

#include <errno.h>
#include <stdlib.h>

struct node {
	const struct sw_process *p;
	size_t parent; /* node, or TREE_NONE */
	size_t first, next; /* child and sibling, most time first */
	size_t waiting; /* children whose sums are to come */
	size_t mark;
	size_t members;
	uint64_t all_ns;
	int64_t all_nj;
	bool stray;
};

/* Rows by number and, of one number, by age. */
static int by_identity(const void *a, const void *b)
{
	const struct sw_process *x = ((const struct node *)a)->p, *y = ((const struct node *)b)->p;

	if (x->host_pid != y->host_pid)
		return x->host_pid < y->host_pid ? -1 : 1;
	return (x->start_boottime_ns > y->start_boottime_ns) - (x->start_boottime_ns < y->start_boottime_ns);
}

static struct node *make_nodes(const struct sw_summary *s)
{
	struct node *nodes = malloc((s->n_processes ? s->n_processes : 1) * sizeof(*nodes));

	if (!nodes)
		return NULL;
	for (size_t i = 0; i < s->n_processes; i++) {
		const struct sw_process *p = &s->processes[i];

		nodes[i] = (struct node){ .p = p, .parent = TREE_NONE, .first = TREE_NONE, .next = TREE_NONE,
					  .members = 1, .all_ns = p->oncpu_ns, .all_nj = p->nj };
	}
	qsort(nodes, s->n_processes, sizeof(*nodes), by_identity);
	return nodes;
}

/* Who bore its parent's number last when `child` was born, or TREE_NONE. */
static size_t find_parent(const struct node *nodes, size_t n, size_t child)
{
	const struct sw_process *c = nodes[child].p;
	size_t low = 0, high = n;

	if (!c->host_ppid)
		return TREE_NONE;
	while (low < high) { /* the first that is beyond */
		size_t middle = low + (high - low) / 2;
		const struct sw_process *p = nodes[middle].p;

		if (p->host_pid < c->host_ppid ||
		    (p->host_pid == c->host_ppid && p->start_boottime_ns <= c->start_boottime_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || low - 1 == child || nodes[low - 1].p->host_pid != c->host_ppid)
		return TREE_NONE;
	return low - 1;
}

/* Start times of whole ticks can be equal, and then two could each be taken for the other's parent. */
static void cut_circles(struct node *nodes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = i;

		while (at != TREE_NONE && !nodes[at].mark) {
			nodes[at].mark = i + 1;
			if (nodes[at].parent != TREE_NONE && nodes[nodes[at].parent].mark == i + 1)
				nodes[at].parent = TREE_NONE;
			at = nodes[at].parent;
		}
	}
}

static bool is_target(const struct sw_header *h, const struct sw_process *p)
{
	for (size_t i = 0; i < h->n_pids; i++) {
		if (h->pids[i] == p->pid)
			return true;
	}
	return false;
}

/*
 * Only of the target's processes is it known that no parent of theirs is watched. Any other without one is a stray: its
 * parent had no time in the recording, or was let go.
 */
static void place_strays(struct node *nodes, size_t n, const struct sw_header *h)
{
	size_t root = TREE_NONE;

	if (h->target != SW_TARGET_PIDS)
		return;
	for (size_t i = 0; i < n; i++) {
		if (nodes[i].parent != TREE_NONE)
			continue;
		if (!is_target(h, nodes[i].p))
			nodes[i].stray = true;
		else if (h->n_pids == 1)
			root = i; /* the youngest of its number: the command, or who was named */
	}
	for (size_t i = 0; root != TREE_NONE && i < n; i++) {
		if (nodes[i].stray)
			nodes[i].parent = root;
	}
}

static void add_sums(struct node *to, const struct node *from)
{
	to->members += from->members;
	to->all_ns += from->all_ns;
	if (from->all_nj != SW_ABSENT)
		to->all_nj = to->all_nj == SW_ABSENT ? from->all_nj : to->all_nj + from->all_nj;
}

/* From the leaves up, each node when all its children are done; without recursion, for trees of any depth. */
static void sum_up(struct node *nodes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (nodes[i].parent != TREE_NONE)
			nodes[nodes[i].parent].waiting++;
	}
	for (size_t i = 0; i < n; i++) {
		size_t at = i;

		while (!nodes[at].waiting) {
			size_t parent = nodes[at].parent;

			nodes[at].waiting = TREE_NONE; /* done */
			if (parent == TREE_NONE)
				break;
			add_sums(&nodes[parent], &nodes[at]);
			nodes[parent].waiting--;
			at = parent;
		}
	}
}

/* qsort() takes no context, so what is sorted are pointers. Least first: they are then put at the head, one by one. */
static int by_time(const void *a, const void *b)
{
	const struct node *x = *(const struct node *const *)a, *y = *(const struct node *const *)b;

	if (x->all_ns != y->all_ns)
		return x->all_ns < y->all_ns ? -1 : 1;
	return (x < y) - (x > y);
}

/* The first at the top, or TREE_NONE; *err is -ENOMEM without memory. */
static size_t link_children(struct node *nodes, size_t n, int *err)
{
	struct node **order = malloc((n ? n : 1) * sizeof(struct node *));
	size_t top = TREE_NONE;

	*err = order ? 0 : -ENOMEM;
	if (!order)
		return TREE_NONE;
	for (size_t i = 0; i < n; i++)
		order[i] = &nodes[i];
	qsort(order, n, sizeof(struct node *), by_time);
	for (size_t i = 0; i < n; i++) {
		struct node *node = order[i];
		size_t *first = node->parent == TREE_NONE ? &top : &nodes[node->parent].first;

		node->next = *first;
		*first = (size_t)(node - nodes);
	}
	free(order);
	return top;
}

static void draw_node(struct tree *t, struct node *node, size_t parent)
{
	const struct sw_process *p = node->p;

	node->mark = t->n; /* its line */
	t->lines[t->n++] = (struct tree_line){
		.process = p,
		.parent = parent,
		.last = node->next == TREE_NONE,
		.stray = node->stray,
		.members = node->members,
		.own_ns = p->oncpu_ns,
		.all_ns = node->all_ns,
		.own_nj = p->nj,
		.all_nj = node->all_nj,
	};
}

/* All from `at` on among its siblings: those behind it have less. */
static void draw_folded(struct tree *t, const struct node *nodes, size_t at, size_t parent)
{
	struct node sum = { .all_nj = SW_ABSENT };

	for (; at != TREE_NONE; at = nodes[at].next)
		add_sums(&sum, &nodes[at]);
	t->lines[t->n++] = (struct tree_line){ .parent = parent, .last = true, .members = sum.members,
					       .all_ns = sum.all_ns, .own_nj = SW_ABSENT, .all_nj = sum.all_nj };
}

/* One process more costs no more than the line that it would be folded into. */
static bool is_folded(const struct node *nodes, size_t at, uint64_t fold_ns)
{
	bool alone = nodes[at].members == 1 && nodes[at].next == TREE_NONE;

	return nodes[at].all_ns < fold_ns && !alone;
}

static void draw_lines(struct tree *t, struct node *nodes, size_t top, uint64_t fold_ns)
{
	size_t at = top, up = TREE_NONE;

	while (at != TREE_NONE) {
		size_t parent = up == TREE_NONE ? TREE_NONE : nodes[up].mark;

		if (is_folded(nodes, at, fold_ns)) {
			draw_folded(t, nodes, at, parent);
			at = TREE_NONE;
		} else {
			draw_node(t, &nodes[at], parent);
			up = at;
			at = nodes[at].first;
		}
		while (at == TREE_NONE && up != TREE_NONE) { /* up, until there is a sibling that was not drawn */
			at = nodes[up].next;
			up = nodes[up].parent;
		}
	}
}

int tree_draw(struct tree *t, const struct sw_header *h, const struct sw_summary *s, uint64_t fold_ns)
{
	size_t n = s->n_processes, top;
	struct node *nodes = make_nodes(s);
	int err = -ENOMEM;

	*t = (struct tree){ .lines = calloc(n ? n : 1, sizeof(*t->lines)) }; /* a folded line stands for one or more */
	if (!nodes || !t->lines)
		goto out;
	for (size_t i = 0; i < n; i++)
		nodes[i].parent = find_parent(nodes, n, i);
	cut_circles(nodes, n);
	place_strays(nodes, n, h);
	sum_up(nodes, n);
	top = link_children(nodes, n, &err);
	if (!err)
		draw_lines(t, nodes, top, fold_ns);
out:
	free(nodes);
	if (err)
		tree_free(t);
	return err;
}

void tree_free(struct tree *t)
{
	free(t->lines);
	*t = (struct tree){ 0 };
}

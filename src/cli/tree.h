/* SPDX-License-Identifier: BSD-2-Clause */
/* The fork tree of a recording: who descends from whom, and what each has used with all below it. */
#ifndef SW_CLI_TREE_H
#define SW_CLI_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedwatt.h"

#define TREE_NONE SIZE_MAX

/* A line of the picture, in the order of drawing: children follow their parent, most time first, folded ones last. */
struct tree_line {
	const struct sw_process *process; /* NULL: processes that are folded into this line */
	size_t parent;     /* line, or TREE_NONE at the top */
	bool last;         /* of its parent's lines */
	bool stray;        /* its parent has no row, so that it stands under the root, or at the top */
	size_t members;    /* processes that it stands for: itself and all below it */
	uint64_t own_ns;   /* 0 of folded ones */
	uint64_t all_ns;   /* with all below it */
	int64_t own_nj;    /* SW_ABSENT of folded ones, and where there is none */
	int64_t all_nj;    /* of those that have any; SW_ABSENT where none has */
};

struct tree {
	struct tree_line *lines;
	size_t n;
};

/*
 * Draw the tree of `s`, whose rows it points into. A subtree with less than `fold_ns` is folded into a line with its
 * siblings of that kind, unless it is one process alone. A parent is who had its number last when the child was born,
 * so that a number that was used again misleads nobody. Where the target is one process, strays hang under it.
 * 0 or -ENOMEM. n log n.
 */
int tree_draw(struct tree *t, const struct sw_header *h, const struct sw_summary *s, uint64_t fold_ns);

void tree_free(struct tree *t);

#endif

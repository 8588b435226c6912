/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the table of cgroups by id, the tree they form, their paths, which are the target, and the memory bound.
 * Must not know: how time was measured or energy shared. Relies on uthash and cgroup_namespaces(7).
 */
#define HASH_NONFATAL_OOM 1 /* a library does not exit */
#include "cgroups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GONE_MAX 4096    /* removed cgroups that are kept one by one */
#define GONE_FEW 256     /* likewise, where they are to be forgotten */
#define REAL_ROOT_ID 1   /* fs/kernfs/dir.c numbers nodes from 1, the root first */

int sw_cgroups_init(struct sw_cgroups *g, const struct sw_cgroupfs *fs, const char *target, uint64_t target_id)
{
	*g = (struct sw_cgroups){
		.fs = fs,
		.path_of = sw_cgroupfs_path,
		.id_of = sw_cgroupfs_id,
		.target = target ? strdup(target) : NULL,
		.target_id = target_id,
	};
	return target && !g->target ? -ENOMEM : 0;
}

static void free_entry(struct sw_cgroup_entry *e)
{
	free(e->name);
	free(e->path);
	free(e);
}

void sw_cgroups_free(struct sw_cgroups *g)
{
	struct sw_cgroup_entry *e, *next;

	HASH_ITER(hh, g->table, e, next) {
		HASH_DEL(g->table, e);
		free_entry(e);
	}
	free(g->target);
	*g = (struct sw_cgroups){0};
}

/* The root that the caller sees; 0: not known, the real one is taken. */
static uint64_t root_id(const struct sw_cgroups *g)
{
	return g->fs ? g->fs->root_id : 0;
}

/* --- paths and the target */

/* "/..", "/../..": as /proc/PID/cgroup writes what lies above the reader's root. */
static char *path_above(uint32_t levels)
{
	char *path = malloc(3 * (size_t)levels + 1), *to = path;

	if (!path)
		return NULL;
	for (; levels; levels--)
		to = mempcpy(to, "/..", 3);
	*to = '\0';
	return path;
}

static char *path_below(const char *parent, const char *name)
{
	size_t n = strcmp(parent, "/") ? strlen(parent) : 0, n_name = strlen(name);
	char *path = malloc(n + 1 + n_name + 1);

	if (!path)
		return NULL;
	memcpy(path, parent, n);
	path[n] = '/';
	memcpy(path + n + 1, name, n_name + 1);
	return path;
}

/* The path, from where `e` stands in the tree. Where that does not tell, the one that it may have stays. */
static int set_path(const struct sw_cgroups *g, struct sw_cgroup_entry *e)
{
	const struct sw_cgroup_entry *p = e->parent;
	bool from_real_root = false;
	char *path;

	if (e->id && e->id == root_id(g)) {
		path = strdup("/");
	} else if (e->above) {
		path = path_above(e->above);
	} else if (e == g->root) {
		path = strdup("/");
		from_real_root = root_id(g) != 0;
	} else if (p && p->path && e->name) {
		path = path_below(p->path, e->name);
		from_real_root = p->from_real_root;
	} else {
		return 0;
	}
	if (!path)
		return -ENOMEM;
	free(e->path);
	e->path = path;
	e->from_real_root = from_real_root;
	return 0;
}

static bool is_below(const char *path, const char *root)
{
	size_t n = strlen(root);

	if (!strcmp(root, "/"))
		return strcmp(path, "/..") && strncmp(path, "/../", 4);
	return !strncmp(path, root, n) && (!path[n] || path[n] == '/');
}

static bool is_inside(const struct sw_cgroups *g, const struct sw_cgroup_entry *e)
{
	if (!g->target && !g->target_id)
		return true;
	if ((g->target_id && e->id == g->target_id) || (e->parent && e->parent->inside))
		return true;
	/* A path from the real root is that of a cgroup outside of what the caller sees, where no target is. */
	return g->target && e->path && !e->from_real_root && is_below(e->path, g->target);
}

/* `top` or one below it has moved: set what follows from the place in the tree. No recursion: trees can be deep. */
static int settle(const struct sw_cgroups *g, struct sw_cgroup_entry *top)
{
	struct sw_cgroup_entry *e = top;
	int err = 0;

	for (;;) {
		if (set_path(g, e))
			err = -ENOMEM;
		e->inside = is_inside(g, e);
		if (e->child) {
			e = e->child;
			continue;
		}
		while (e != top && !e->next_sibling)
			e = e->parent;
		if (e == top)
			return err;
		e = e->next_sibling;
	}
}

/* --- the tree */

static struct sw_cgroup_entry *find(struct sw_cgroups *g, uint64_t id)
{
	struct sw_cgroup_entry *e;

	HASH_FIND(hh, g->table, &id, sizeof(id), e);
	if (e)
		return e;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->id = id;
	e->nj = INT64_MIN;
	HASH_ADD(hh, g->table, id, sizeof(e->id), e);
	if (!e->hh.tbl) {
		free(e);
		return NULL;
	}
	if (id == REAL_ROOT_ID && id == root_id(g) && !g->root)
		g->root = e;
	return settle(g, e) ? NULL : e;
}

/* -ELOOP: it would make a circle, which only damaged data can; the tree stays as it is. */
static int link_below(struct sw_cgroups *g, struct sw_cgroup_entry *e, struct sw_cgroup_entry *parent)
{
	struct sw_cgroup_entry *p, *top = e;
	uint32_t levels = e->above;

	if (e == g->root)
		return -ELOOP;
	for (p = parent; p; p = p->parent)
		if (p == e)
			return -ELOOP;
	e->parent = parent;
	e->next_sibling = parent->child;
	if (parent->child)
		parent->child->prev_sibling = e;
	parent->child = e;
	if (e->seq == g->seq + 1)
		sw_cgroup_activate(g, parent);
	if (levels || (e->id && e->id == root_id(g)))
		for (p = parent; p; top = p, p = p->parent)
			p->above = ++levels;
	return settle(g, top);
}

static void unlink_leaf(struct sw_cgroup_entry *e)
{
	if (e->next_sibling)
		e->next_sibling->prev_sibling = e->prev_sibling;
	if (e->prev_sibling)
		e->prev_sibling->next_sibling = e->next_sibling;
	else if (e->parent)
		e->parent->child = e->next_sibling;
}

static int learn(struct sw_cgroups *g, const struct sw_cgroup_info *info)
{
	struct sw_cgroup_entry *e = find(g, info->id), *parent;
	int err;

	if (!e)
		return -ENOMEM;
	if (e->told)
		return 0;
	if (info->name[0]) {
		free(e->name);
		e->name = strdup(info->name);
		if (!e->name)
			return -ENOMEM;
	}
	e->told = true;
	if (!info->parent_id && !e->parent && !g->root)
		g->root = e;
	if (info->parent_id && !e->parent) {
		parent = find(g, info->parent_id);
		if (!parent)
			return -ENOMEM;
		err = link_below(g, e, parent);
		if (err != -ELOOP)
			return err;
	}
	return settle(g, e);
}

int sw_cgroups_learn(struct sw_cgroups *g, const struct sw_cgroup_info *infos, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		if (infos[i].id)
			err = learn(g, &infos[i]);
	return err;
}

/* --- what the back end did not tell */

/* e->path is the file system's word: so are the paths, and perhaps the places, of those above it. */
static int climb(struct sw_cgroups *g, struct sw_cgroup_entry *e)
{
	int err = settle(g, e);

	while (!err && strcmp(e->path, "/")) {
		size_t n = (size_t)(strrchr(e->path, '/') - e->path);
		char *path = strndup(e->path, n ? n : 1);
		struct sw_cgroup_entry *parent = e->parent;
		uint64_t id;

		if (!path)
			return -ENOMEM;
		if (!parent) {
			id = g->id_of(g->fs, path);
			parent = id ? find(g, id) : NULL;
			err = parent ? link_below(g, e, parent) : id ? -ENOMEM : -ENOENT;
		}
		if (err || parent->path) {
			free(path);
			break;
		}
		parent->path = path;
		err = settle(g, parent);
		e = parent;
	}
	return err == -ENOMEM ? err : 0;
}

struct sw_cgroup_entry *sw_cgroups_get(struct sw_cgroups *g, uint64_t id)
{
	struct sw_cgroup_entry *e = find(g, id);

	if (!e || e->path || e->asked || !id || !g->fs)
		return e;
	e->asked = true;
	e->path = g->path_of(g->fs, id);
	return e->path && climb(g, e) ? NULL : e;
}

/* --- folding */

static bool exists(const struct sw_cgroups *g, const struct sw_cgroup_entry *e)
{
	char *path;

	if (e == g->root || (e->id && e->id == root_id(g)))
		return true;
	if (!e->id || !g->fs)
		return false;
	path = g->path_of(g->fs, e->id);
	free(path);
	/* who may not ask by id can still look whether the path leads there */
	return path || (e->path && !e->from_real_root && g->id_of(g->fs, e->path) == e->id);
}

static void fold(struct sw_cgroups *g, struct sw_cgroup_entry *e)
{
	struct sw_cgroup_entry *to = sw_cgroup_up(g, e);

	g->n_folded += e->total_ns || e->folded_ns;
	if (to) {
		to->folded_ns += e->total_ns + e->folded_ns;
		to->folded_nj += e->total_nj + e->folded_nj;
		to->folded_has_nj |= e->has_nj || e->folded_has_nj;
	}
	unlink_leaf(e);
	HASH_DEL(g->table, e);
	free_entry(e);
}

/* From the leaves up, since who stands above one that is kept is kept. The list of the window is free for this. */
static void fold_gone(struct sw_cgroups *g)
{
	struct sw_cgroup_entry *e, *parent, *leaves = NULL;

	for (e = g->table; e; e = e->hh.next) {
		if (e->child)
			continue;
		e->next_active = leaves;
		leaves = e;
	}
	while (leaves) {
		e = leaves;
		leaves = e->next_active;
		if (e->keys || exists(g, e))
			continue;
		parent = e->parent;
		fold(g, e);
		if (parent && !parent->child) {
			parent->next_active = leaves;
			leaves = parent;
		}
	}
}

int sw_cgroups_next(struct sw_cgroups *g)
{
	size_t kept = g->forget_gone ? GONE_FEW : GONE_MAX;

	g->seq++;
	g->active = NULL;
	if (HASH_COUNT(g->table) > (g->fold_above > kept ? g->fold_above : kept)) {
		fold_gone(g);
		/* those that are left exist, or did just now: they are asked for again when as many have come */
		g->fold_above = HASH_COUNT(g->table) + kept;
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* core/cgroups.c and cgroups_rows.c: paths in whatever order they come, subtree sums, the target, the memory bound. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "../../src/core/cgroups.h"

/* A hierarchy to be asked: made-up ids and paths. */
struct fake {
	struct sw_cgroupfs fs; /* the first member: hooks get it */
	struct {
		uint64_t id;
		const char *path;
	} nodes[16];
	size_t n;
	bool refuses_ids;
	unsigned asked;
};

static char *fake_path(const struct sw_cgroupfs *fs, uint64_t id)
{
	struct fake *f = (struct fake *)fs;

	f->asked++;
	for (size_t i = 0; i < f->n && !f->refuses_ids; i++)
		if (f->nodes[i].id == id)
			return strdup(f->nodes[i].path);
	return NULL;
}

static uint64_t fake_id(const struct sw_cgroupfs *fs, const char *path)
{
	const struct fake *f = (const struct fake *)fs;

	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->nodes[i].path, path))
			return f->nodes[i].id;
	return 0;
}

static void init(struct sw_cgroups *g, struct fake *f, const char *target, uint64_t target_id)
{
	assert_int_equal(sw_cgroups_init(g, f ? &f->fs : NULL, target, target_id), 0);
	g->path_of = fake_path;
	g->id_of = fake_id;
}

static void learn(struct sw_cgroups *g, uint64_t id, uint64_t parent_id, const char *name)
{
	const struct sw_cgroup_info info = {id, parent_id, name};

	assert_int_equal(sw_cgroups_learn(g, &info, 1), 0);
}

static void add(struct sw_cgroups *g, uint64_t id, uint64_t ns, int64_t nj)
{
	struct sw_cgroup_entry *e = sw_cgroups_get(g, id);

	assert_non_null(e);
	sw_cgroup_add(g, e, ns);
	if (nj != SW_ABSENT)
		sw_cgroup_add_energy(e, nj);
}

static void expect_path(struct sw_cgroups *g, uint64_t id, const char *want)
{
	const struct sw_cgroup_entry *e = sw_cgroups_get(g, id);

	assert_non_null(e);
	if (!want != !e->path || (want && strcmp(want, e->path)))
		fail_msg("%llu is %s, not %s", (unsigned long long)id, e->path ? e->path : "nameless",
			 want ? want : "nameless");
}

static bool inside(struct sw_cgroups *g, uint64_t id)
{
	const struct sw_cgroup_entry *e = sw_cgroups_get(g, id);

	assert_non_null(e);
	return e->inside;
}

static void expect_row(const struct sw_cgroup *row, const struct sw_cgroup *want)
{
	if (row->id != want->id || !row->path != !want->path || (row->path && strcmp(row->path, want->path)) ||
	    row->oncpu_ns != want->oncpu_ns || row->subtree_oncpu_ns != want->subtree_oncpu_ns || row->nj != want->nj ||
	    row->subtree_nj != want->subtree_nj)
		fail_msg("%llu %s %llu %llu %lld %lld", (unsigned long long)row->id, row->path ? row->path : "nameless",
			 (unsigned long long)row->oncpu_ns, (unsigned long long)row->subtree_oncpu_ns,
			 (long long)row->nj, (long long)row->subtree_nj);
}

static void expect_rows(const struct sw_cgroups *g, bool total, const struct sw_cgroup *want, size_t n_want)
{
	size_t n = 99;
	struct sw_cgroup *rows = total ? sw_cgroups_totals(g, &n) : sw_cgroups_window(g, &n);

	assert_int_equal(n, n_want);
	assert_true(!rows == !n);
	for (size_t i = 0; i < n; i++)
		expect_row(&rows[i], &want[i]);
	free(rows);
}

#define EXPECT_ROWS(g, total, ...)                                                       \
	do {                                                                              \
		const struct sw_cgroup want_[] = {__VA_ARGS__};                           \
		expect_rows(g, total, want_, sizeof(want_) / sizeof(want_[0]));           \
	} while (0)

#define NONE SW_ABSENT

/* --- paths */

static void any_order(void **state)
{
	static const struct sw_cgroup_info infos[] = {
		{1, 0, ""}, {10, 1, "a"}, {20, 10, "b"}, {30, 20, "c d"}, {40, 1, "a-b"},
	};
	static const char *const paths[] = {"/", "/a", "/a/b", "/a/b/c d", "/a-b"};
	unsigned order[5];

	(void)state;
	for (unsigned code = 0; code < 3125; code++) { /* all words of five digits: the permutations among them */
		struct sw_cgroups g = {0};
		unsigned seen = 0, rest = code;

		for (int i = 0; i < 5; i++, rest /= 5) {
			order[i] = rest % 5;
			seen |= 1U << order[i];
		}
		if (seen != 31)
			continue;
		for (int i = 0; i < 5; i++)
			assert_int_equal(sw_cgroups_learn(&g, &infos[order[i]], 1), 0);
		for (int i = 0; i < 5; i++)
			expect_path(&g, infos[i].id, paths[i]);
		/* what was said first stands */
		learn(&g, 20, 1, "other");
		learn(&g, 10, 0, "");
		expect_path(&g, 30, "/a/b/c d");
		sw_cgroups_free(&g);
	}
}

static void paths_wait_for_parents(void **state)
{
	struct sw_cgroups g = {0};

	(void)state;
	learn(&g, 30, 20, "c");
	learn(&g, 20, 10, "b");
	expect_path(&g, 30, NULL);
	expect_path(&g, 10, NULL);
	learn(&g, 10, 1, "a");
	expect_path(&g, 30, NULL);
	learn(&g, 1, 0, "");
	expect_path(&g, 30, "/a/b/c");
	expect_path(&g, 77, NULL);
	expect_path(&g, 0, NULL);
	learn(&g, 0, 1, "zero"); /* no id at all */
	expect_path(&g, 0, NULL);
	sw_cgroups_free(&g);
}

static void deep(void **state)
{
	enum { DEPTH = 3000 };
	struct sw_cgroup_info *infos = calloc(DEPTH, sizeof(*infos));
	struct sw_cgroup *rows;
	size_t n;

	(void)state;
	assert_non_null(infos);
	for (int up = 0; up < 2; up++) {
		struct sw_cgroups g = {0};

		for (uint64_t i = 0; i < DEPTH; i++)
			infos[up ? DEPTH - 1 - i : i] = (struct sw_cgroup_info){i + 1, i, i ? "x" : ""};
		assert_int_equal(sw_cgroups_learn(&g, infos, DEPTH), 0);
		assert_int_equal(sw_cgroups_next(&g), 0);
		add(&g, DEPTH, 7, 5);
		rows = sw_cgroups_window(&g, &n);
		assert_int_equal(n, DEPTH);
		assert_string_equal(rows[0].path, "/");
		assert_int_equal(strlen(rows[DEPTH - 1].path), 2 * (DEPTH - 1));
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(rows[i].id, i + 1);
			assert_int_equal(rows[i].subtree_oncpu_ns, 7);
			assert_int_equal(rows[i].oncpu_ns, i == DEPTH - 1 ? 7 : 0);
			assert_int_equal(rows[i].subtree_nj, 5);
		}
		free(rows);
		sw_cgroups_free(&g);
	}
	free(infos);
}

static void circles(void **state)
{
	static const struct sw_cgroup_info infos[] = {
		{5, 5, "self"}, {6, 7, "six"}, {7, 6, "seven"}, {8, 10, "8"},
		{9, 8, "9"}, {10, 9, "10"}, {11, 10, "tail"},
	};
	struct sw_cgroups g = {0};
	struct sw_cgroup *rows;
	uint64_t own = 0;
	size_t n;

	(void)state;
	assert_int_equal(sw_cgroups_learn(&g, infos, 7), 0);
	assert_int_equal(sw_cgroups_next(&g), 0);
	for (uint64_t id = 5; id <= 11; id++) {
		expect_path(&g, id, NULL);
		add(&g, id, id, NONE);
	}
	rows = sw_cgroups_window(&g, &n);
	assert_int_equal(n, 7);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(rows[i].id, 5 + i);
		assert_null(rows[i].path);
		own += rows[i].oncpu_ns;
	}
	assert_int_equal(own, 56);
	free(rows);
	/* all is below the root, as soon as there is one */
	learn(&g, 1, 0, "");
	EXPECT_ROWS(&g, true, {1, "/", 0, 56, NONE, NONE}, {5, NULL, 5, 5, NONE, NONE}, {6, NULL, 6, 6, NONE, NONE},
		    {7, NULL, 7, 13, NONE, NONE}, {8, NULL, 8, 17, NONE, NONE}, {9, NULL, 9, 9, NONE, NONE},
		    {10, NULL, 10, 38, NONE, NONE}, {11, NULL, 11, 11, NONE, NONE});
	sw_cgroups_free(&g);
}

static void namespaced(void **state)
{
	struct fake f = {.fs = {.root_id = 30}};
	struct sw_cgroups g;

	(void)state;
	init(&g, &f, NULL, 0);
	learn(&g, 40, 10, "other");
	learn(&g, 41, 40, "y");
	learn(&g, 10, 1, "a");
	learn(&g, 50, 1, "z");
	learn(&g, 1, 0, "");
	/* how the caller's root lies to these is not known yet */
	expect_path(&g, 41, "/a/other/y");
	learn(&g, 60, 30, "mine");
	expect_path(&g, 60, "/mine");
	learn(&g, 30, 20, "container");
	expect_path(&g, 41, "/a/other/y");
	learn(&g, 20, 10, "b");
	expect_path(&g, 30, "/");
	expect_path(&g, 60, "/mine");
	expect_path(&g, 20, "/..");
	expect_path(&g, 10, "/../..");
	expect_path(&g, 1, "/../../..");
	expect_path(&g, 41, "/../../other/y");
	expect_path(&g, 50, "/../../../z");
	learn(&g, 21, 20, "sibling");
	expect_path(&g, 21, "/../sibling");
	sw_cgroups_free(&g);
	/* not namespaced: the root is the root */
	f.fs.root_id = 1;
	init(&g, &f, NULL, 0);
	learn(&g, 10, 1, "a");
	learn(&g, 1, 0, "");
	expect_path(&g, 1, "/");
	expect_path(&g, 10, "/a");
	assert_int_equal(f.asked, 0);
	sw_cgroups_free(&g);
}

static void asked_of_fs(void **state)
{
	struct fake f = {
		.fs = {.root_id = 1},
		.nodes = {{1, "/"}, {10, "/a"}, {20, "/a/b"}, {30, "/a/b/c"}, {40, "/d"}},
		.n = 5,
	};
	struct sw_cgroups g;

	(void)state;
	init(&g, &f, "/a/b", 20);
	assert_int_equal(sw_cgroups_next(&g), 0);
	add(&g, 30, 5, 3);
	add(&g, 40, 2, 1);
	add(&g, 99, 1, 1); /* gone too soon */
	add(&g, 99, 1, 1);
	assert_int_equal(f.asked, 3); /* once each, not for those above them */
	assert_true(inside(&g, 30) && inside(&g, 20));
	assert_false(inside(&g, 10) || inside(&g, 1) || inside(&g, 40) || inside(&g, 99));
	EXPECT_ROWS(&g, false, {1, "/", 0, 9, 0, 6}, {10, "/a", 0, 5, 0, 3}, {20, "/a/b", 0, 5, 0, 3},
		    {30, "/a/b/c", 5, 5, 3, 3}, {40, "/d", 2, 2, 1, 1}, {99, NULL, 2, 2, 2, 2});
	sw_cgroups_free(&g);
	/* the back end tells a part: the rest is asked, and what it told hangs below that */
	init(&g, &f, NULL, 0);
	learn(&g, 31, 30, "told");
	learn(&g, 30, 20, "c");
	f.nodes[f.n].id = 31;
	f.nodes[f.n++].path = "/a/b/c/told";
	expect_path(&g, 31, "/a/b/c/told");
	f.asked = 0;
	expect_path(&g, 30, "/a/b/c");
	expect_path(&g, 20, "/a/b");
	expect_path(&g, 10, "/a");
	expect_path(&g, 1, "/");
	assert_int_equal(f.asked, 0);
	learn(&g, 32, 30, "new");
	expect_path(&g, 32, "/a/b/c/new");
	learn(&g, 20, 10, "b");
	learn(&g, 10, 1, "a");
	learn(&g, 1, 0, "");
	expect_path(&g, 32, "/a/b/c/new");
	sw_cgroups_free(&g);
	/* nothing may be asked */
	f.refuses_ids = true;
	init(&g, &f, NULL, 0);
	expect_path(&g, 30, NULL);
	expect_path(&g, 1, "/");
	sw_cgroups_free(&g);
}

/* --- the target */

static void targets(void **state)
{
	struct fake f = {.fs = {.root_id = 1}};
	struct sw_cgroups g;

	(void)state;
	init(&g, &f, "/a/b", 20);
	learn(&g, 1, 0, "");
	learn(&g, 10, 1, "a");
	learn(&g, 20, 10, "b");
	learn(&g, 21, 10, "bc");
	learn(&g, 22, 20, "c");
	learn(&g, 23, 22, "d");
	learn(&g, 11, 1, "b");
	assert_true(inside(&g, 20) && inside(&g, 22) && inside(&g, 23));
	assert_false(inside(&g, 1) || inside(&g, 10) || inside(&g, 21) || inside(&g, 11) || inside(&g, 99));
	/* removed, and made anew */
	learn(&g, 120, 10, "b");
	learn(&g, 122, 120, "c");
	assert_true(inside(&g, 120) && inside(&g, 122));
	sw_cgroups_free(&g);

	/* by id alone, while the paths are not known */
	init(&g, NULL, "/a/b", 20);
	learn(&g, 23, 22, "d");
	assert_false(inside(&g, 23));
	learn(&g, 22, 20, "c");
	assert_true(inside(&g, 20) && inside(&g, 22) && inside(&g, 23));
	sw_cgroups_free(&g);

	/* without a target all are */
	init(&g, NULL, NULL, 0);
	assert_true(inside(&g, 5));
	sw_cgroups_free(&g);
}

static void target_in_a_namespace(void **state)
{
	struct fake f = {.fs = {.root_id = 30}};
	struct sw_cgroups g;

	(void)state;
	for (int late = 0; late < 2; late++) {
		init(&g, &f, late ? "/x" : "/", late ? 0 : 30);
		learn(&g, 1, 0, "");
		learn(&g, 50, 1, "x"); /* "/x" of the real root is not the caller's "/x" */
		learn(&g, 51, 50, "y");
		assert_false(inside(&g, 1) || inside(&g, 50) || inside(&g, 51));
		learn(&g, 30, 20, "c");
		learn(&g, 20, 1, "b");
		learn(&g, 31, 30, "x");
		learn(&g, 32, 31, "y");
		learn(&g, 33, 30, "..y");
		expect_path(&g, 50, "/../../x");
		assert_false(inside(&g, 1) || inside(&g, 20) || inside(&g, 50) || inside(&g, 51));
		assert_true(inside(&g, 31) && inside(&g, 32));
		assert_true(inside(&g, 30) == !late);
		assert_true(inside(&g, 33) == !late);
		sw_cgroups_free(&g);
	}
}

/* --- rows */

static void windows_and_totals(void **state)
{
	struct sw_cgroups g = {0};

	(void)state;
	expect_rows(&g, false, NULL, 0);
	expect_rows(&g, true, NULL, 0);
	learn(&g, 1, 0, "");
	learn(&g, 10, 1, "a");
	learn(&g, 20, 10, "b");
	learn(&g, 30, 1, "idle");
	assert_int_equal(sw_cgroups_next(&g), 0);
	add(&g, 20, 100, 40);
	add(&g, 20, 1, 2);
	add(&g, 10, 10, 5);
	add(&g, 30, 0, NONE); /* no time, no row */
	EXPECT_ROWS(&g, false, {1, "/", 0, 111, 0, 47}, {10, "/a", 10, 111, 5, 47}, {20, "/a/b", 101, 101, 42, 42});
	/* a window without energy */
	assert_int_equal(sw_cgroups_next(&g), 0);
	expect_rows(&g, false, NULL, 0);
	add(&g, 10, 7, NONE);
	EXPECT_ROWS(&g, false, {1, "/", 0, 7, NONE, NONE}, {10, "/a", 7, 7, NONE, NONE});
	EXPECT_ROWS(&g, true, {1, "/", 0, 118, 0, 47}, {10, "/a", 17, 118, 5, 47}, {20, "/a/b", 101, 101, 42, 42});
	/* energy for a part of it only */
	assert_int_equal(sw_cgroups_next(&g), 0);
	add(&g, 10, 3, NONE);
	add(&g, 20, 3, 0);
	EXPECT_ROWS(&g, false, {1, "/", 0, 6, 0, 0}, {10, "/a", 3, 6, NONE, 0}, {20, "/a/b", 3, 3, 0, 0});
	sw_cgroups_free(&g);
}

static void order_of_rows(void **state)
{
	struct sw_cgroups g = {0};

	(void)state;
	learn(&g, 1, 0, "");
	learn(&g, 10, 1, "a");
	learn(&g, 11, 1, "a-b");
	learn(&g, 12, 10, "b");
	learn(&g, 14, 1, "\xc3\xa9");
	learn(&g, 15, 1, "a\nb");
	learn(&g, 110, 1, "a"); /* removed and made anew: a row of its own */
	learn(&g, 112, 110, "b");
	assert_int_equal(sw_cgroups_next(&g), 0);
	add(&g, 77, 1, NONE);
	add(&g, 76, 1, NONE);
	add(&g, 12, 1, NONE);
	add(&g, 112, 1, NONE);
	add(&g, 11, 1, NONE);
	add(&g, 14, 1, NONE);
	add(&g, 15, 1, NONE);
	EXPECT_ROWS(&g, false, {1, "/", 0, 7, NONE, NONE}, {10, "/a", 0, 1, NONE, NONE}, {110, "/a", 0, 1, NONE, NONE},
		    {12, "/a/b", 1, 1, NONE, NONE}, {112, "/a/b", 1, 1, NONE, NONE}, {15, "/a\nb", 1, 1, NONE, NONE},
		    {11, "/a-b", 1, 1, NONE, NONE}, {14, "/\xc3\xa9", 1, 1, NONE, NONE}, {76, NULL, 1, 1, NONE, NONE},
		    {77, NULL, 1, 1, NONE, NONE});
	sw_cgroups_free(&g);
}

static void learnt_amid_a_window(void **state)
{
	struct sw_cgroups g = {0};

	(void)state;
	learn(&g, 1, 0, "");
	assert_int_equal(sw_cgroups_next(&g), 0);
	add(&g, 20, 4, 9);
	learn(&g, 20, 10, "b");
	learn(&g, 10, 5, "a");
	learn(&g, 5, 1, "z");
	EXPECT_ROWS(&g, false, {1, "/", 0, 4, 0, 9}, {5, "/z", 0, 4, 0, 9}, {10, "/z/a", 0, 4, 0, 9},
		    {20, "/z/a/b", 4, 4, 9, 9});
	sw_cgroups_free(&g);
}

/* A random forest, random windows, against sums that are made the plain way. */
static void against_brute_force(void **state)
{
	enum { N = 60 };

	(void)state;
	srand(7);
	for (int round = 0; round < 200; round++) {
		uint64_t parent[N + 1] = {0}, total[N + 1] = {0};
		int64_t total_nj[N + 1] = {0};
		struct sw_cgroups g = {0};
		uint64_t n_told = 1;

		for (uint64_t i = 2; i <= N; i++)
			parent[i] = 1 + (uint64_t)rand() % (i - 1);
		learn(&g, 1, 0, "");
		for (int w = 0; w < 10; w++) {
			uint64_t own[N + 1] = {0}, sub[N + 1] = {0}, sum_own = 0;
			int64_t nj[N + 1] = {0}, sub_nj[N + 1] = {0};
			size_t n = 0, want = 0;
			struct sw_cgroup *rows;

			assert_int_equal(sw_cgroups_next(&g), 0);
			while (n_told < N && (w == 9 || rand() % 8)) {
				char name[8];

				n_told++;
				snprintf(name, sizeof(name), "%d", (int)n_told);
				learn(&g, n_told, parent[n_told], name);
			}
			for (int k = rand() % 20; k > 0; k--) {
				uint64_t id = 1 + (uint64_t)rand() % n_told, ns = 1 + (uint64_t)rand() % 1000;

				add(&g, id, ns, (int64_t)ns * 3);
				own[id] += ns;
				nj[id] += (int64_t)ns * 3;
				total[id] += ns;
				total_nj[id] += (int64_t)ns * 3;
			}
			for (int all = 0; all < 2; all++) {
				memset(sub, 0, sizeof(sub));
				memset(sub_nj, 0, sizeof(sub_nj));
				sum_own = want = 0;
				for (uint64_t i = 1; i <= N; i++)
					for (uint64_t p = i; p; p = parent[p]) {
						sub[p] += all ? total[i] : own[i];
						sub_nj[p] += all ? total_nj[i] : nj[i];
					}
				for (uint64_t i = 1; i <= N; i++)
					want += sub[i] > 0;
				rows = all ? sw_cgroups_totals(&g, &n) : sw_cgroups_window(&g, &n);
				assert_int_equal(n, want);
				for (size_t i = 0; i < n; i++) {
					uint64_t id = rows[i].id;

					assert_int_equal(rows[i].oncpu_ns, all ? total[id] : own[id]);
					assert_int_equal(rows[i].subtree_oncpu_ns, sub[id]);
					assert_int_equal(rows[i].nj, all ? total_nj[id] : nj[id]);
					assert_int_equal(rows[i].subtree_nj, sub_nj[id]);
					sum_own += rows[i].oncpu_ns;
				}
				assert_int_equal(sum_own, sub[1]);
				free(rows);
			}
		}
		sw_cgroups_free(&g);
	}
}

/* Whatever is told, and in whatever order: it comes to an end, and the root's subtree is all there is. */
static void damaged_data(void **state)
{
	static const char *const names[] = {"", "a", "b", "..", "a/b"};

	(void)state;
	srand(11);
	for (int round = 0; round < 3000; round++) {
		struct fake f = {.fs = {.root_id = (uint64_t)rand() % 8}, .n = 3};
		uint64_t sum = 0;
		struct sw_cgroup *rows;
		struct sw_cgroups g;
		size_t n;

		for (size_t i = 0; i < f.n; i++) {
			f.nodes[i].id = (uint64_t)rand() % 24;
			f.nodes[i].path = i == 0 ? "/" : i == 1 ? "/a" : "/a/b";
		}
		init(&g, &f, rand() % 2 ? "/a" : NULL, (uint64_t)rand() % 24);
		for (int step = 0; step < 60; step++) {
			uint64_t ns = (uint64_t)rand() % 5;

			learn(&g, (uint64_t)rand() % 24, rand() % 9 ? (uint64_t)rand() % 24 : 0, names[rand() % 5]);
			add(&g, (uint64_t)rand() % 24, ns, (int64_t)ns);
			sum += ns;
			if (rand() % 10)
				continue;
			free(sw_cgroups_window(&g, &n));
			assert_int_equal(sw_cgroups_next(&g), 0);
		}
		rows = sw_cgroups_totals(&g, &n);
		assert_true(!rows == !sum);
		for (size_t i = 0; g.root && i < n; i++)
			if (rows[i].id == g.root->id)
				assert_int_equal(rows[i].subtree_oncpu_ns, sum);
		free(rows);
		sw_cgroups_free(&g);
	}
}

/* --- folding */

static void folding(void **state)
{
	struct fake f = {
		.fs = {.root_id = 1},
		.nodes = {{1, "/"}, {10, "/jobs"}, {2000000, "/jobs/lives"}},
		.n = 3,
	};
	struct sw_cgroups g;
	struct sw_cgroup *rows, *before;
	uint64_t sum = 0;
	size_t n, n_before;

	(void)state;
	init(&g, &f, NULL, 0);
	learn(&g, 1, 0, "");
	learn(&g, 10, 1, "jobs");
	learn(&g, 2000000, 10, "lives");
	/* 4096 in all, which is not too many: jobs of two levels, of which the lower one has the time */
	for (uint64_t i = 0; HASH_COUNT(g.table) < 4096; i++) {
		learn(&g, 1000 + i, i % 2 ? 999 + i : 10, "job");
		assert_int_equal(sw_cgroups_next(&g), 0);
		if (i % 2)
			add(&g, 1000 + i, 1 + i, (int64_t)i);
		sum += i % 2 ? 1 + i : 0;
	}
	assert_int_equal(f.asked, 0);
	assert_int_equal(g.n_folded, 0);
	sw_cgroups_get(&g, 1001)->keys = 1; /* a task still lives in one that is gone */
	add(&g, 2000000, 5, 50);
	add(&g, 3000000, 7, 70); /* nobody knows where: but somewhere below the root */
	before = sw_cgroups_totals(&g, &n_before);
	assert_int_equal(before[0].subtree_oncpu_ns, sum + 12);
	f.asked = 0;
	assert_int_equal(sw_cgroups_next(&g), 0);
	assert_true(f.asked > 4000);
	EXPECT_ROWS(&g, true, {1, "/", 0, sum + 12, 0, before[0].subtree_nj},
		    {10, "/jobs", 0, sum + 5, 0, before[0].subtree_nj - 70}, {1000, "/jobs/job", 0, 2, 0, 1},
		    {1001, "/jobs/job/job", 2, 2, 1, 1}, {2000000, "/jobs/lives", 5, 5, 50, 50});
	/* not 1000 and 1001, which are kept, nor the last one, which had no time; but the lost one */
	assert_int_equal(g.n_folded, 4093 - 2 - 1 + 1);
	/* rows that were made before are whole */
	for (size_t i = 2; i < n_before - 2; i++)
		assert_int_equal(strncmp(before[i].path, "/jobs/job", 9), 0);
	free(before);
	/* nothing is asked again until as many have come again */
	f.asked = 0;
	for (int i = 0; i < 10; i++)
		assert_int_equal(sw_cgroups_next(&g), 0);
	for (uint64_t i = 0; i < 4096; i++)
		learn(&g, 10000 + i, 10, "job");
	assert_int_equal(sw_cgroups_next(&g), 0);
	assert_int_equal(f.asked, 0);
	add(&g, 10000, 1, NONE);
	learn(&g, 20000, 10, "job");
	assert_int_equal(sw_cgroups_next(&g), 0);
	assert_int_equal(HASH_COUNT(g.table), 5);
	rows = sw_cgroups_totals(&g, &n);
	assert_int_equal(n, 5);
	assert_int_equal(rows[0].subtree_oncpu_ns, sum + 13);
	free(rows);
	sw_cgroups_free(&g);
}

/* Gone ones among those that are kept, under one parent: the tree hangs together afterwards. */
static void folding_amid_siblings(void **state)
{
	struct fake f = {.fs = {.root_id = 30}, .nodes = {{30, "/"}}, .n = 1};
	struct sw_cgroups g;

	(void)state;
	init(&g, &f, NULL, 0);
	learn(&g, 1, 0, "");
	for (uint64_t i = 0; i < 5000; i++) {
		learn(&g, 1000 + i, 1, "job");
		sw_cgroups_get(&g, 1000 + i)->keys = i % 3 == 1;
	}
	assert_int_equal(sw_cgroups_next(&g), 0);
	assert_int_equal(HASH_COUNT(g.table), 1 + 1667);
	for (uint64_t i = 1; i < 5000; i += 3)
		expect_path(&g, 1000 + i, "/job");
	learn(&g, 30, 1, "container"); /* every path is another one now */
	for (uint64_t i = 1; i < 5000; i += 3)
		expect_path(&g, 1000 + i, "/../job");
	for (uint64_t i = 1; i < 5000; i += 3)
		sw_cgroups_get(&g, 1000 + i)->keys = 0;
	for (uint64_t i = 0; i < 5000; i++)
		learn(&g, 7000 + i, 30, "job");
	assert_int_equal(sw_cgroups_next(&g), 0);
	assert_int_equal(HASH_COUNT(g.table), 2);
	sw_cgroups_free(&g);
}

/* Where those that were removed are to be forgotten, no more than a few are kept, however many come and go. */
static void forgetting(void **state)
{
	struct fake f = {.fs = {.root_id = 1}, .nodes = {{1, "/"}, {10, "/lives"}}, .n = 2};
	struct sw_cgroups g;

	(void)state;
	init(&g, &f, NULL, 0);
	g.forget_gone = true;
	learn(&g, 1, 0, "");
	learn(&g, 10, 1, "lives");
	for (uint64_t i = 0; i < 20000; i++) {
		assert_int_equal(sw_cgroups_next(&g), 0);
		learn(&g, 1000 + i, 1, "job");
		add(&g, 1000 + i, 1, NONE);
		assert_true(HASH_COUNT(g.table) <= 2 + 2 * 256 + 1);
	}
	assert_int_equal(g.n_folded + HASH_COUNT(g.table), 20002);
	expect_path(&g, 10, "/lives");
	assert_int_equal(g.root->folded_ns, g.n_folded);
	sw_cgroups_free(&g);
}

static void folding_without_privilege(void **state)
{
	struct fake f = {.fs = {.root_id = 1}, .nodes = {{1, "/"}, {10, "/lives"}}, .n = 2, .refuses_ids = true};
	struct sw_cgroups g;

	(void)state;
	init(&g, &f, NULL, 0);
	learn(&g, 1, 0, "");
	learn(&g, 10, 1, "lives");
	for (uint64_t i = 0; i < 5000; i++)
		learn(&g, 1000 + i, 1, i % 2 ? "gone" : "lives"); /* the path is there, but it is another's */
	assert_int_equal(sw_cgroups_next(&g), 0);
	assert_int_equal(HASH_COUNT(g.table), 2);
	assert_int_equal(g.n_folded, 0); /* they never had time */
	expect_path(&g, 10, "/lives");
	sw_cgroups_free(&g);
}

static void folding_without_root(void **state)
{
	struct sw_cgroups g = {0};

	(void)state;
	for (uint64_t i = 1; i <= 5000; i++)
		add(&g, i, 1, NONE);
	assert_int_equal(sw_cgroups_next(&g), 0);
	assert_int_equal(HASH_COUNT(g.table), 0);
	assert_int_equal(g.n_folded, 5000);
	sw_cgroups_free(&g);
	sw_cgroups_free(&g);
}

/* --- the live hierarchy, asked as it is */

static void live(void **state)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct sw_cgroup_entry *e;
	struct sw_cgroupfs fs;
	struct sw_cgroups g;
	char name[64], path[512];
	bool made = false;

	(void)state;
	if (!sw_cgroupfs_open(&fs, proc, NULL, NULL) && !geteuid()) {
		snprintf(name, sizeof(name), "/schedwatt-test-%d", (int)getpid());
		snprintf(path, sizeof(path), "%s%s", fs.mount, name);
		made = !mkdir(path, 0755);
	}
	close(proc);
	if (!made) {
		sw_cgroupfs_close(&fs);
		print_message("skip: it takes root and a cgroup v2 where cgroups can be made\n");
		skip();
	}
	if (sw_cgroups_init(&g, &fs, name, 0))
		g = (struct sw_cgroups){0};
	e = sw_cgroups_get(&g, sw_cgroupfs_id(&fs, name));
	assert_int_equal(rmdir(path), 0);
	assert_non_null(e);
	assert_string_equal(e->path, name);
	assert_true(e->inside);
	assert_non_null(e->parent);
	assert_true(e->parent->id == fs.root_id);
	assert_string_equal(e->parent->path, "/");
	assert_false(e->parent->inside);
	sw_cgroups_free(&g);
	sw_cgroupfs_close(&fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order),
		cmocka_unit_test(paths_wait_for_parents),
		cmocka_unit_test(deep),
		cmocka_unit_test(circles),
		cmocka_unit_test(namespaced),
		cmocka_unit_test(asked_of_fs),
		cmocka_unit_test(targets),
		cmocka_unit_test(target_in_a_namespace),
		cmocka_unit_test(windows_and_totals),
		cmocka_unit_test(order_of_rows),
		cmocka_unit_test(learnt_amid_a_window),
		cmocka_unit_test(against_brute_force),
		cmocka_unit_test(damaged_data),
		cmocka_unit_test(folding),
		cmocka_unit_test(folding_amid_siblings),
		cmocka_unit_test(forgetting),
		cmocka_unit_test(folding_without_privilege),
		cmocka_unit_test(folding_without_root),
		cmocka_unit_test(live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

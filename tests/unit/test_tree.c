/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the fork tree: who descends from whom when numbers are used again and parents are gone, sums over subtrees,
 * what is folded, and how it is drawn. Relies on: nothing but rows made here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/text.h"
#include "cli/tree.h"

#define MS     UINT64_C(1000000)
#define BRANCH "\xe2\x94\x9c\xe2\x94\x80"
#define CORNER "\xe2\x94\x94\xe2\x94\x80"
#define TRUNK  "\xe2\x94\x82 "
#define DOTS   "\xe2\x80\xa6"
#define PM     "\xc2\xb1"

static const int32_t pids[] = { 10, 11 };

static struct sw_header header(void)
{
	return (struct sw_header){ .target = SW_TARGET_PIDS, .pids = pids, .n_pids = 1, .policy = "busy",
				   .energy_quality = "measured", .backend = "ebpf", .energy_source = "powercap" };
}

/* A row of `ms`, at one millijoule each. */
static struct sw_process row(int32_t pid, int32_t ppid, uint64_t start, uint64_t ms, const char *comm)
{
	return (struct sw_process){ .pid = pid, .host_pid = pid, .ppid = ppid, .host_ppid = ppid,
				    .start_boottime_ns = start, .comm = comm, .oncpu_ns = ms * MS,
				    .nj = (int64_t)(ms * MS) };
}

static struct sw_summary summary(const struct sw_process *rows, size_t n)
{
	struct sw_summary s = { .processes = rows, .n_processes = n };

	for (size_t i = 0; i < n; i++)
		s.proc_oncpu_ns += rows[i].oncpu_ns;
	s.energy[SW_POLICY_BUSY] = (struct sw_energy){ .total_nj = (int64_t)s.proc_oncpu_ns,
						       .proc_nj = (int64_t)s.proc_oncpu_ns };
	s.total_uncertainty_nj = s.proc_uncertainty_nj = 0;
	return s;
}

static struct tree draw(const struct sw_header *h, const struct sw_process *rows, size_t n, uint64_t fold_ms)
{
	struct sw_summary s = summary(rows, n);
	struct tree t;

	assert_int_equal(tree_draw(&t, h, &s, fold_ms * MS), 0);
	return t;
}

static void is_line(const struct tree *t, size_t i, const char *comm, size_t parent, uint64_t own_ms, uint64_t all_ms)
{
	assert_true(i < t->n);
	assert_int_equal(t->lines[i].parent, parent);
	assert_int_equal(t->lines[i].own_ns, own_ms * MS);
	assert_int_equal(t->lines[i].all_ns, all_ms * MS);
	assert_int_equal(t->lines[i].all_nj, all_ms * MS);
	if (!comm) {
		assert_null(t->lines[i].process);
		assert_int_equal(t->lines[i].own_nj, SW_ABSENT);
		return;
	}
	assert_string_equal(t->lines[i].process->comm, comm);
	assert_int_equal(t->lines[i].own_nj, own_ms * MS);
}

/* A daemon, whose parent has exited, stays where it was forked; children stand in order of what is below them. */
static void test_family(void **state)
{
	struct sw_process rows[] = {
		row(10, 1, 100, 5, "root"),
		row(20, 10, 110, 1, "forker"),
		row(21, 20, 120, 30, "daemon"),
		row(12, 10, 115, 20, "worker"),
	};
	struct sw_header h = header();
	struct tree t;

	(void)state;
	rows[1].exited = 1;
	t = draw(&h, rows, 4, 0);
	assert_int_equal(t.n, 4);
	is_line(&t, 0, "root", TREE_NONE, 5, 56);
	is_line(&t, 1, "forker", 0, 1, 31);
	is_line(&t, 2, "daemon", 1, 30, 30);
	is_line(&t, 3, "worker", 0, 20, 20);
	assert_int_equal(t.lines[0].members, 4);
	assert_int_equal(t.lines[1].members, 2);
	assert_true(t.lines[0].last && !t.lines[1].last && t.lines[2].last && t.lines[3].last);
	for (size_t i = 0; i < t.n; i++)
		assert_false(t.lines[i].stray);
	tree_free(&t);
}

/* A number that three processes bore: each child belongs to whoever had it when the child was born. */
static void test_reused_pid(void **state)
{
	const struct sw_process rows[] = {
		row(10, 1, 100, 1, "root"),      row(20, 10, 110, 1, "first"), row(20, 10, 200, 2, "second"),
		row(20, 10, 300, 3, "third"),    row(30, 20, 150, 10, "of first"), row(30, 20, 250, 20, "of second"),
		row(30, 20, 300, 30, "of third"), row(31, 20, 105, 40, "too old"),
	};
	struct sw_header h = header();
	struct tree t;

	(void)state;
	t = draw(&h, rows, 8, 0);
	assert_int_equal(t.n, 8);
	is_line(&t, 0, "root", TREE_NONE, 1, 107);
	is_line(&t, 1, "too old", 0, 40, 40); /* born before any that could have been its parent */
	assert_true(t.lines[1].stray);
	is_line(&t, 2, "third", 0, 3, 33);
	is_line(&t, 3, "of third", 2, 30, 30);
	is_line(&t, 4, "second", 0, 2, 22);
	is_line(&t, 5, "of second", 4, 20, 20);
	is_line(&t, 6, "first", 0, 1, 11);
	is_line(&t, 7, "of first", 6, 10, 10);
	tree_free(&t);
}

/* Strays hang under the one root there is; with two, or on a whole host, they stand at the top. */
static void test_strays(void **state)
{
	const struct sw_process rows[] = {
		row(10, 1, 100, 9, "root"), row(40, 39, 200, 8, "stray"), row(41, 40, 210, 2, "its child"),
		row(11, 1, 100, 1, "other"),
	};
	struct sw_header h = header();
	struct tree t;

	(void)state;
	t = draw(&h, rows, 3, 0);
	is_line(&t, 0, "root", TREE_NONE, 9, 19);
	is_line(&t, 1, "stray", 0, 8, 10);
	is_line(&t, 2, "its child", 1, 2, 2);
	assert_true(!t.lines[0].stray && t.lines[1].stray && !t.lines[2].stray);
	tree_free(&t);
	h.n_pids = 2;
	t = draw(&h, rows, 4, 0);
	is_line(&t, 0, "stray", TREE_NONE, 8, 10);
	is_line(&t, 2, "root", TREE_NONE, 9, 9);
	is_line(&t, 3, "other", TREE_NONE, 1, 1);
	assert_true(t.lines[0].stray && !t.lines[2].stray && !t.lines[3].stray);
	tree_free(&t);
	h.target = SW_TARGET_HOST;
	h.n_pids = 0;
	t = draw(&h, rows, 4, 0);
	is_line(&t, 0, "stray", TREE_NONE, 8, 10);
	for (size_t i = 0; i < t.n; i++)
		assert_false(t.lines[i].stray);
	tree_free(&t);
	t = draw(&h, NULL, 0, 0);
	assert_int_equal(t.n, 0);
	tree_free(&t);
}

/* What cannot be: two that are each other's parent, of the same tick, and one that is its own. All are drawn, once. */
static void test_circle(void **state)
{
	const struct sw_process rows[] = {
		row(50, 51, 100, 3, "a"), row(51, 50, 100, 2, "b"), row(52, 52, 100, 1, "self"),
	};
	struct sw_header h = header();
	struct tree t;

	(void)state;
	t = draw(&h, rows, 3, 0);
	assert_int_equal(t.n, 3);
	assert_int_equal(t.lines[0].all_ns, 5 * MS);
	assert_int_equal(t.lines[1].parent, 0);
	is_line(&t, 2, "self", TREE_NONE, 1, 1);
	tree_free(&t);
}

static void test_fold(void **state)
{
	const struct sw_process rows[] = {
		row(10, 1, 100, 50, "root"), row(20, 10, 110, 1, "light"), row(21, 20, 120, 30, "heavy"),
		row(22, 10, 130, 4, "few"),  row(23, 22, 140, 3, "below"), row(24, 10, 150, 2, "least"),
		row(25, 21, 160, 1, "alone"),
	};
	struct sw_header h = header();
	struct tree t;

	(void)state;
	t = draw(&h, rows, 7, 10);
	assert_int_equal(t.n, 5);
	is_line(&t, 0, "root", TREE_NONE, 50, 91);
	is_line(&t, 1, "light", 0, 1, 32); /* kept for what is below it */
	is_line(&t, 2, "heavy", 1, 30, 31);
	is_line(&t, 3, "alone", 2, 1, 1); /* a line for one is that one's */
	is_line(&t, 4, NULL, 0, 0, 9);
	assert_int_equal(t.lines[4].members, 3);
	assert_true(t.lines[4].last && !t.lines[1].last);
	tree_free(&t);
	t = draw(&h, rows, 7, 1000); /* all of it */
	assert_int_equal(t.n, 1);
	is_line(&t, 0, NULL, TREE_NONE, 0, 91);
	assert_int_equal(t.lines[0].members, 7);
	tree_free(&t);
}

/* Joules that only some have. */
static void test_absent(void **state)
{
	struct sw_process rows[] = { row(10, 1, 100, 1, "root"), row(20, 10, 110, 1, "child") };
	struct sw_header h = header();
	struct tree t;

	(void)state;
	rows[0].nj = SW_ABSENT;
	t = draw(&h, rows, 2, 0);
	assert_int_equal(t.lines[0].own_nj, SW_ABSENT);
	assert_int_equal(t.lines[0].all_nj, 1 * MS);
	tree_free(&t);
	rows[1].nj = SW_ABSENT;
	t = draw(&h, rows, 2, 0);
	assert_int_equal(t.lines[0].all_nj, SW_ABSENT);
	tree_free(&t);
}

/* The picture alone: from its head to the end of the lines. */
static void expect_picture(const struct recording *rec, const struct sw_summary *s, const char *golden)
{
	struct buf b = { 0 };

	text_tree(&b, rec, s);
	buf_add(&b, "", 1);
	assert_int_equal(b.err, 0);
	for (const char *line = b.data; *line;) {
		unsigned columns = 0;

		for (; *line != '\n'; line++) {
			assert_true((unsigned char)*line >= 0x20);
			columns += (*line & 0xc0) != 0x80;
		}
		assert_in_range(columns, 0, 100);
		line++;
	}
	assert_string_equal(b.data, golden);
	buf_free(&b);
}

#define HEAD "\n      own J  own CPU s     tree J tree CPU s share %  process"

static void test_picture(void **state)
{
	struct sw_process rows[] = {
		row(10, 1, 100, 50, "make"), row(20, 10, 110, 5, "sh"), row(21, 20, 120, 30, "e\x1b[1mvil\xff"),
		row(22, 20, 130, 6, "kworker/u8:2-ev"), row(99, 98, 140, 7, "lost child"), row(23, 10, 150, 1, "true"),
		row(24, 10, 160, 1, "true"),
	};
	struct sw_header h = header();
	struct recording rec = { .header = &h, .style = { .tree = true, .tree_fold = 2000 } };
	struct sw_summary s = summary(rows, 7);

	(void)state;
	rows[1].exited = rows[1].exit_known = 1;
	rows[1].exit_code = 3 << 8;
	rows[2].exited = 1;
	rows[3].pid = 0;
	rows[3].host_pid = 4000022;
	s.processes_folded = 4;
	expect_picture(&rec, &s,
		       HEAD "\n"
		       "      0.050      0.050      0.100      0.100   100.0  make 10\n"
		       "      0.005      0.005      0.041      0.041    41.0  " BRANCH "sh 20 exit 3\n"
		       "      0.030      0.030      0.030      0.030    30.0  " TRUNK BRANCH "e?[1mvil\xef\xbf\xbd 21 exited\n"
		       "      0.006      0.006      0.006      0.006     6.0  " TRUNK CORNER "kworker/u8:2-ev host:4000022\n"
		       "      0.007      0.007      0.007      0.007     7.0  " BRANCH "lost child? 99\n"
		       "                            0.002      0.002     2.0  " CORNER DOTS " 2 more\n"
		       " ? stands here because its parent had no CPU time in the recording, or is not kept\n"
		       " 4 more have ended, of which only the commands' totals are kept\n");
}

/* A chain deeper than is drawn, of modelled numbers: six levels and what stands for those above. */
static void test_deep(void **state)
{
	struct sw_process rows[9];
	struct sw_header h = header();
	struct recording rec = { .header = &h, .style = { .tree = true } };
	struct sw_summary s;

	(void)state;
	for (int i = 0; i < 9; i++)
		rows[i] = row(10 + i, 9 + i, 100, 1000, "sh");
	h.energy_quality = "modelled";
	s = summary(rows, 9);
	s.total_uncertainty_nj = s.energy[SW_POLICY_BUSY].total_nj / 2;
	expect_picture(&rec, &s,
		       HEAD ", joules " PM "50.0 %\n"
		       "     ~1.000      1.000     ~9.000      9.000   100.0  sh 10\n"
		       "     ~1.000      1.000     ~8.000      8.000    88.9  " CORNER "sh 11\n"
		       "     ~1.000      1.000     ~7.000      7.000    77.8    " CORNER "sh 12\n"
		       "     ~1.000      1.000     ~6.000      6.000    66.7      " CORNER "sh 13\n"
		       "     ~1.000      1.000     ~5.000      5.000    55.6        " CORNER "sh 14\n"
		       "     ~1.000      1.000     ~4.000      4.000    44.4          " CORNER "sh 15\n"
		       "     ~1.000      1.000     ~3.000      3.000    33.3            " CORNER "sh 16\n"
		       "     ~1.000      1.000     ~2.000      2.000    22.2  " DOTS "          " CORNER "sh 17\n"
		       "     ~1.000      1.000     ~1.000      1.000    11.1  " DOTS "          " CORNER "sh 18\n");
}

/* 3,000 children of one shell become a line; as many, each the child of the one before, need no stack. */
static void test_many(void **state)
{
	enum { N = 3000 };
	struct sw_process *rows = calloc(N + 1, sizeof(*rows));
	struct sw_header h = header();
	struct recording rec = { .header = &h, .style = { .tree = true, .tree_fold = 1000 } };
	struct sw_summary s;
	struct tree t;

	(void)state;
	assert_non_null(rows);
	rows[0] = row(10, 1, 100, 7000, "sh");
	for (int i = 1; i <= N; i++)
		rows[i] = row(10000 + i, 10, 200 + (uint64_t)i, 1, "true");
	s = summary(rows, N + 1);
	expect_picture(&rec, &s,
		       HEAD "\n"
		       "      7.000      7.000     10.000     10.000   100.0  sh 10\n"
		       "                            3.000      3.000    30.0  " CORNER DOTS " 3000 more\n");
	for (int i = 1; i <= N; i++)
		rows[i].host_ppid = i == 1 ? 10 : rows[i - 1].host_pid;
	t = draw(&h, rows, N + 1, 0);
	assert_int_equal(t.n, N + 1);
	assert_int_equal(t.lines[0].all_ns, 10000 * MS);
	assert_int_equal(t.lines[1].members, N);
	is_line(&t, N, "true", N - 1, 1, 1);
	tree_free(&t);
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_family), cmocka_unit_test(test_reused_pid), cmocka_unit_test(test_strays),
		cmocka_unit_test(test_circle), cmocka_unit_test(test_fold),       cmocka_unit_test(test_absent),
		cmocka_unit_test(test_picture), cmocka_unit_test(test_deep),      cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}

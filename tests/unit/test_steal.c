/* SPDX-License-Identifier: BSD-2-Clause */
/* core/steal.c: when time is stolen, and when nobody needs to look. */
#include "tree.h"

#include "core/steal.h"

#define S 1000000000ULL

/* 1.25 % of what went by is much, 0.8 % is not; who looks within a second sees what the last look saw. */
static void much(void **state)
{
	const struct tree *t = *state;
	struct sw_steal s;

	tree_write(t, "stat", "cpu  100 0 100 1000 0 0 0 50 0 0\ncpu0 1 2 3 4\n");
	sw_steal_open(&s, t->fd, false);
	assert_true(s.fd >= 0);
	tree_write(t, "stat", "cpu  400 0 100 1490 0 0 0 60 0 0\n");
	sw_steal_look(&s, 5 * S);
	assert_true(s.much);
	tree_write(t, "stat", "cpu  900 0 100 1982 0 0 0 68 0 0\n");
	sw_steal_look(&s, 5 * S + S / 2);
	assert_true(s.much);
	sw_steal_look(&s, 6 * S);
	assert_false(s.much);
	sw_steal_close(&s);
	assert_true(s.fd == -1);
}

/* iowait goes backwards, the line cannot be read: no more than the last look is known. */
static void odd(void **state)
{
	const struct tree *t = *state;
	struct sw_steal s;

	tree_write(t, "stat", "cpu  0 0 0 1000 900 0 0 1 0 0\n");
	sw_steal_open(&s, t->fd, false);
	tree_write(t, "stat", "cpu  0 0 0 1000 800 0 0 90 0 0\n");
	sw_steal_look(&s, S);
	assert_false(s.much);
	tree_write(t, "stat", "cpu  0 0 0 1000 800 0 0 100 0 0\n");
	sw_steal_look(&s, 2 * S);
	assert_true(s.much);
	tree_write(t, "stat", "cpu  x\n");
	sw_steal_look(&s, 3 * S);
	assert_true(s.much);
	sw_steal_close(&s);
}

/* No hypervisor and nothing stolen, no such column, no file: then there is nothing to look at. */
static void nothing(void **state)
{
	const struct tree *t = *state;
	struct sw_steal s;

	sw_steal_open(&s, t->fd, true);
	assert_int_equal(s.fd, -1);
	sw_steal_look(&s, 9 * S);
	assert_false(s.much);
	tree_write(t, "stat", "cpu  1 2 3 4 5 6 7\n");
	sw_steal_open(&s, t->fd, false);
	assert_int_equal(s.fd, -1);
	sw_steal_open(&s, t->fd, true);
	assert_true(s.fd >= 0);
	sw_steal_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(much, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(odd, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(nothing, tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests_name("steal", tests, NULL, NULL);
}

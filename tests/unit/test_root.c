/* SPDX-License-Identifier: BSD-2-Clause */
/* base/root.c: whole files or an error, never a part, and never yesterday's bytes. */
#include "tree.h"

#include "../../src/base/root.h"

#include <errno.h>

static void open_root(void **state)
{
	const struct tree *t = *state;
	char path[128];
	int fd;

	fd = sw_root_open(t->path);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(fd);
	tree_write(t, "file", "x");
	snprintf(path, sizeof(path), "%s/file", t->path);
	assert_int_equal(sw_root_open(path), -ENOTDIR);
	snprintf(path, sizeof(path), "%s/none", t->path);
	assert_int_equal(sw_root_open(path), -ENOENT);
}

static void read_whole(void **state)
{
	const struct tree *t = *state;
	char buf[8];

	tree_write(t, "a/b/seven", "1234567");
	tree_write(t, "eight", "12345678");
	tree_write(t, "empty", "");
	assert_int_equal(sw_file_read(t->fd, "a/b/seven", buf, sizeof(buf)), 7);
	assert_string_equal(buf, "1234567");
	assert_int_equal(sw_file_read(t->fd, "eight", buf, sizeof(buf)), -EFBIG);
	assert_int_equal(sw_file_read(t->fd, "empty", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
	assert_int_equal(sw_file_read(t->fd, "none", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(sw_file_read(t->fd, "a", buf, sizeof(buf)), -EISDIR);
	assert_int_equal(sw_file_read(t->fd, "eight/x", buf, sizeof(buf)), -ENOTDIR);
}

static void read_strange(void **state)
{
	const struct tree *t = *state;
	char buf[64];

	tree_link(t, "/nonexistent", "dangling");
	tree_link(t, "loop", "loop");
	tree_link(t, "/proc/self/mem", "broken");
	assert_int_equal(mkfifoat(t->fd, "fifo", 0644), 0);
	assert_int_equal(sw_file_read(t->fd, "dangling", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(sw_file_read(t->fd, "loop", buf, sizeof(buf)), -ELOOP);
	assert_int_equal(sw_file_read(t->fd, "broken", buf, sizeof(buf)), -EIO);
	assert_int_equal(sw_file_read(t->fd, "fifo", buf, sizeof(buf)), -ESPIPE); /* and does not wait */
	assert_int_equal(sw_fd_read(-1, buf, sizeof(buf)), -EBADF);
}

static void read_numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t max;
		int want;
		uint64_t value;
	} cases[] = {
		{ "42\n", UINT64_MAX, 0, 42 },
		{ "42", 42, 0, 42 },
		{ "18446744073709551615\n", UINT64_MAX, 0, UINT64_MAX },
		{ "18446744073709551616\n", UINT64_MAX, -ERANGE, 0 },
		{ "42\n", 41, -ERANGE, 0 },
		{ "", UINT64_MAX, -ENODATA, 0 },
		{ "\n", UINT64_MAX, -EINVAL, 0 },
		{ "12abc", UINT64_MAX, -EINVAL, 0 },
		{ " 12", UINT64_MAX, -EINVAL, 0 },
		{ "-1\n", UINT64_MAX, -EINVAL, 0 },
		{ "1111111111111111111111111111111111111111", UINT64_MAX, -EFBIG, 0 },
	};
	const struct tree *t = *state;
	uint64_t v;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		v = 99;
		tree_write(t, "n", cases[i].text);
		if (sw_file_read_u64(t->fd, "n", cases[i].max, &v) != cases[i].want)
			fail_msg("\"%s\"", cases[i].text);
		assert_true(v == (cases[i].want ? 99 : cases[i].value));
	}
	v = 99;
	tree_write_bytes(t, "n", "12\0abc", 6);
	assert_int_equal(sw_file_read_u64(t->fd, "n", UINT64_MAX, &v), -EINVAL);
	assert_int_equal(sw_file_read_u64(t->fd, "none", UINT64_MAX, &v), -ENOENT);
	assert_true(v == 99);
}

static void kept_fd_reads_anew(void **state)
{
	const struct tree *t = *state;
	char buf[16];
	uint64_t v;
	int fd;

	tree_write(t, "n", "1000\n");
	fd = openat(t->fd, "n", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(sw_fd_read_u64(fd, UINT64_MAX, &v), 0);
	assert_true(v == 1000);
	tree_write(t, "n", "7\n");
	assert_int_equal(sw_fd_read_u64(fd, UINT64_MAX, &v), 0);
	assert_true(v == 7);
	assert_int_equal(sw_fd_read(fd, buf, sizeof(buf)), 2);
	assert_string_equal(buf, "7\n");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(open_root, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(read_whole, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(read_strange, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(read_numbers, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(kept_fd_reads_anew, tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

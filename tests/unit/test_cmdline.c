/* SPDX-License-Identifier: BSD-2-Clause */
/* core/cmdline.c: arguments as one line that can be read back, and never another process's. */
#include "tree.h"

#include "../../src/base/root.h"
#include "../../src/core/cmdline.h"

#include <signal.h>
#include <sys/wait.h>

#define TICK_NS UINT64_C(10000000) /* USER_HZ is 100 on every architecture that runs this test */

static char **own_argv;

static void expect(const char *raw, size_t n, int cut, const char *want)
{
	char *copy = malloc(n ? n : 1), *text; /* of its own, so that a byte too many is seen */

	assert_non_null(copy);
	memcpy(copy, raw, n);
	text = sw_cmdline_escape(copy, n, cut);
	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
	free(copy);
}

#define EXPECT(raw, cut, want) expect(raw, sizeof(raw) - 1, cut, want)

static void escapes(void **state)
{
	(void)state;
	EXPECT("ls\0-l\0/tmp\0", 0, "ls -l /tmp");
	EXPECT("a b\0c\\d\0", 0, "a\\ b c\\\\d");
	EXPECT("printf\0%s\n\t\r\x1b[31m\x7f\x01\0", 0, "printf %s\\n\\t\\x0d\\x1b[31m\\x7f\\x01");
	EXPECT("caf\xc3\xa9\0\xff\xfe\x80\0", 0, "caf\xc3\xa9 \xff\xfe\x80");
	EXPECT("\"quoted\"\0it's\0$HOME\0", 0, "\"quoted\" it's $HOME");
	EXPECT("\n", 0, "\\n");
	assert_null(sw_cmdline_escape("", 0, 0));
	assert_null(sw_cmdline_escape("", 0, 1));
}

static void empty_arguments(void **state)
{
	(void)state;
	EXPECT("\0", 0, "''");
	EXPECT("sh\0\0", 0, "sh ''");
	EXPECT("sh\0\0x\0", 0, "sh '' x");
	EXPECT("\0x\0", 0, "'' x");
	EXPECT("\0\0x", 0, "'' '' x");
	EXPECT("sh\0x\0\0\0\0", 0, "sh x '' '' ''");
}

static void titles(void **state)
{
	(void)state;
	/* no NUL at all, then NULs over what the arguments were before */
	EXPECT("nginx: worker process", 0, "nginx:\\ worker\\ process");
	EXPECT("nginx: worker process\0", 0, "nginx:\\ worker\\ process");
	EXPECT("sshd: root@pts/0\0\0\0", 0, "sshd:\\ root@pts/0");
	EXPECT("(sd-pam)\0\0\0\0\0\0\0\0\0\0\0\0\0", 0, "(sd-pam)");
	EXPECT("(sd-pam)\0\0\0\0\0\0\0\0\0\0\0\0\0", 1, "(sd-pam)");
	EXPECT("\0\0\0\0", 0, "''");
}

static void cuts(void **state)
{
	(void)state;
	EXPECT("ls\0-la", 1, "ls -la…");
	EXPECT("ls\0-la\0", 1, "ls -la …");
	EXPECT("a\xc3\xa9", 1, "a\xc3\xa9…");
	EXPECT("a\xc3", 1, "a…");
	EXPECT("a\xe2\x82\xac", 1, "a\xe2\x82\xac…");
	EXPECT("a\xe2\x82", 1, "a…");
	EXPECT("a\xe2", 1, "a…");
	EXPECT("a\xf0\x9f\x98\x80", 1, "a\xf0\x9f\x98\x80…");
	EXPECT("a\xf0\x9f\x98", 1, "a…");
	EXPECT("\xf0\x9f\x98", 1, "…");
	/* what is no UTF-8 anyway stays */
	EXPECT("a\x80\x80\x80\x80", 1, "a\x80\x80\x80\x80…");
	EXPECT("a\xff", 1, "a\xff…");
	EXPECT("a\xc3", 0, "a\xc3");
}

/* A line of stat with the start time in its place, and other numbers that cannot be taken for it. */
static void fake_stat(const struct tree *t, const char *comm, const char *start)
{
	char line[1024];

	snprintf(line, sizeof(line),
		 "77 (%s) S 1 77 77 0 -1 4194560 5 6 7 8 9 10 11 12 20 0 1 0 %s 1000001 1000002\n", comm, start);
	tree_write(t, "77/stat", line);
}

static void expect_read(const struct tree *t, uint64_t start_ns, const char *want)
{
	char *text = sw_cmdline_read(t->fd, 77, start_ns);

	if (want && !text)
		fail_msg("nothing, not \"%s\"", want);
	if (want)
		assert_string_equal(text, want);
	else if (text)
		fail_msg("\"%s\", not nothing", text);
	free(text);
}

static void identity(void **state)
{
	const struct tree *t = *state;

	tree_write_bytes(t, "77/cmdline", "a\0b c\0", 6);
	fake_stat(t, "plain", "5000");
	expect_read(t, 5000 * TICK_NS, "a b\\ c");
	expect_read(t, 5000 * TICK_NS + TICK_NS - 1, "a b\\ c");
	expect_read(t, 5000 * TICK_NS + TICK_NS * 3 / 2, "a b\\ c");
	expect_read(t, 5000 * TICK_NS - TICK_NS * 3 / 2, "a b\\ c");
	/* its pid is another's now, or was */
	expect_read(t, 5000 * TICK_NS + TICK_NS * 3 / 2 + 1, NULL);
	expect_read(t, 5000 * TICK_NS - TICK_NS * 3 / 2 - 1, NULL);
	expect_read(t, 0, NULL);
	expect_read(t, UINT64_MAX, NULL);
	/* names that look like more of the line */
	fake_stat(t, "x) S 1 2 3", "5000");
	expect_read(t, 5000 * TICK_NS, "a b\\ c");
	fake_stat(t, ") ) ((", "5000");
	expect_read(t, 5000 * TICK_NS, "a b\\ c");
	fake_stat(t, "", "5000");
	expect_read(t, 5000 * TICK_NS, "a b\\ c");
	fake_stat(t, "\xff\xc3 \\n", "5000");
	expect_read(t, 5000 * TICK_NS, "a b\\ c");
}

static void bad_stat(void **state)
{
	static const char *const starts[] = { "-5000", "5000x", "0x1388", "+5000", "", "18446744073709551616",
					      "18446744073709551615" };
	static const char *const lines[] = { "", "\n", "77 (a", "77 a S 1 2 3", "77 (a)", "77 (a)S 1 2",
					     "77 (a) S 1 2 3\n",
					     "77 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18" };
	const struct tree *t = *state;

	tree_write_bytes(t, "77/cmdline", "a\0", 2);
	expect_read(t, 5000 * TICK_NS, NULL);
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		fake_stat(t, "a", starts[i]);
		expect_read(t, 5000 * TICK_NS, NULL);
	}
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		tree_write(t, "77/stat", lines[i]);
		expect_read(t, 0, NULL);
		expect_read(t, 18 * TICK_NS, NULL);
	}
	fake_stat(t, "a", "5000");
	expect_read(t, 5000 * TICK_NS, "a");
	assert_null(sw_cmdline_read(t->fd, 0, 5000 * TICK_NS));
	assert_null(sw_cmdline_read(t->fd, -77, 5000 * TICK_NS));
	assert_null(sw_cmdline_read(t->fd, 78, 5000 * TICK_NS));
	assert_null(sw_cmdline_read(-1, 77, 5000 * TICK_NS));
}

static void no_command_line(void **state)
{
	const struct tree *t = *state;

	fake_stat(t, "kworker/0:1-events", "3");
	expect_read(t, 3 * TICK_NS, NULL);
	tree_write(t, "77/cmdline", "");
	expect_read(t, 3 * TICK_NS, NULL);
}

static void long_ones(void **state)
{
	const struct tree *t = *state;
	char raw[SW_CMDLINE_MAX + 100], want[2 * SW_CMDLINE_MAX];

	fake_stat(t, "long", "9");
	memset(raw, 'x', sizeof(raw));
	memset(want, 'x', sizeof(want));
	tree_write_bytes(t, "77/cmdline", raw, SW_CMDLINE_MAX);
	strcpy(want + SW_CMDLINE_MAX, "");
	expect_read(t, 9 * TICK_NS, want);
	tree_write_bytes(t, "77/cmdline", raw, SW_CMDLINE_MAX + 1);
	strcpy(want + SW_CMDLINE_MAX, "…");
	expect_read(t, 9 * TICK_NS, want);
	tree_write_bytes(t, "77/cmdline", raw, sizeof(raw));
	expect_read(t, 9 * TICK_NS, want);
	memcpy(raw + SW_CMDLINE_MAX - 1, "\xc3\xa9", 2);
	tree_write_bytes(t, "77/cmdline", raw, sizeof(raw));
	strcpy(want + SW_CMDLINE_MAX - 1, "…");
	expect_read(t, 9 * TICK_NS, want);
	/* every byte becomes four */
	memset(raw, '\x1b', sizeof(raw));
	tree_write_bytes(t, "77/cmdline", raw, sizeof(raw));
	{
		char *text = sw_cmdline_read(t->fd, 77, 9 * TICK_NS);

		assert_non_null(text);
		assert_int_equal(strlen(text), 4 * SW_CMDLINE_MAX + strlen("…"));
		free(text);
	}
}

/* --- the live /proc */

static uint64_t live_start_ns(int proc, pid_t pid)
{
	unsigned long long ticks = 0;
	char path[32], line[2048], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%d/stat", (int)pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, line, sizeof(line) - 1);
	assert_true(n > 0);
	close(fd);
	line[n] = '\0';
	at = strrchr(line, ')');
	assert_non_null(at);
	for (int i = 3; at && i <= 22; i++)
		at = strchr(at + 1, ' ');
	assert_non_null(at);
	assert_int_equal(sscanf(at, "%llu", &ticks), 1);
	return ticks * TICK_NS;
}

static void live_arguments(void **state)
{
	char *const args[] = { "a name) S 1", "-c", "read x; exit 0", "", "two words", "n\nl", "back\\slash", "\x1b[1m",
			       NULL };
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), up[2], status;
	const char *want = "a\\ name)\\ S\\ 1 -c read\\ x;\\ exit\\ 0 '' two\\ words n\\nl back\\\\slash \\x1b[1m";
	char *text = NULL;
	uint64_t start;
	pid_t pid;

	(void)state;
	assert_true(proc >= 0);
	assert_int_equal(pipe(up), 0);
	pid = fork();
	if (!pid) {
		dup2(up[0], 0);
		close(up[0]);
		close(up[1]);
		execv("/bin/sh", args);
		_exit(127);
	}
	close(up[0]);
	start = live_start_ns(proc, pid);
	for (int i = 0; i < 2000 && (!text || strcmp(text, want)); i++) { /* until it has called exec */
		free(text);
		usleep(1000);
		text = sw_cmdline_read(proc, pid, start);
	}
	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
	assert_null(sw_cmdline_read(proc, pid, start + 2 * TICK_NS));
	assert_int_equal(write(up[1], "\n", 1), 1);
	close(up[1]);
	/* a zombie has none */
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	assert_null(sw_cmdline_read(proc, pid, start));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_null(sw_cmdline_read(proc, pid, start));
	close(proc);
}

static void live_title(void **state)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ready[2], status;
	char byte, *text;
	pid_t pid;

	(void)state;
	assert_true(proc >= 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		size_t n = strlen(own_argv[0]); /* a path, longer than the title */

		memset(own_argv[0], 0, n);
		memcpy(own_argv[0], "db: idle", 8);
		if (n < 11 || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	text = sw_cmdline_read(proc, pid, live_start_ns(proc, pid));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_non_null(text);
	assert_string_equal(text, "db:\\ idle");
	free(text);
	close(proc);
}

static void live_kernel_thread(void **state)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char comm[32] = "";

	(void)state;
	assert_true(proc >= 0);
	if (sw_file_read(proc, "2/comm", comm, sizeof(comm)) < 0 || strcmp(comm, "kthreadd\n")) {
		close(proc);
		print_message("skip: kthreadd is not to be seen from here\n");
		skip();
	}
	assert_null(sw_cmdline_read(proc, 2, live_start_ns(proc, 2)));
	close(proc);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes),
		cmocka_unit_test(empty_arguments),
		cmocka_unit_test(titles),
		cmocka_unit_test(cuts),
		cmocka_unit_test_setup_teardown(identity, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(bad_stat, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(no_command_line, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(long_ones, tree_setup, tree_teardown),
		cmocka_unit_test(live_arguments),
		cmocka_unit_test(live_title),
		cmocka_unit_test(live_kernel_thread),
	};

	(void)argc;
	own_argv = argv;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

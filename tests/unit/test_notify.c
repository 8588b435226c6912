/* SPDX-License-Identifier: BSD-2-Clause */
/* What a service manager hears, at either kind of address, and what is made of one that is wrong. */
#include "tree.h"

#include "capture.h"
#include "cli/notify.h"

#include <sys/socket.h>
#include <sys/un.h>

static int setup(void **state)
{
	*state = tree_new();
	return 0;
}

static int teardown(void **state)
{
	tree_free(*state);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return 0;
}

/* A manager at an address as NOTIFY_SOCKET has it. */
static int manager(const char *address)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	size_t n = strlen(address);

	assert_true(fd >= 0);
	memcpy(at.sun_path, address, n);
	if (address[0] == '@')
		at.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)), 0);
	setenv("NOTIFY_SOCKET", address, 1);
	return fd;
}

static void expect_heard(int fd, const char *what)
{
	char heard[64] = "";

	assert_int_equal(recv(fd, heard, sizeof(heard) - 1, 0), (ssize_t)strlen(what));
	assert_string_equal(heard, what);
}

static void open_said(struct notify *n, const char *said)
{
	struct capture c;

	capture_begin(&c);
	notify_open(n);
	capture_end(&c);
	assert_string_equal(c.said, said);
	/* not for whoever is started from here */
	assert_null(getenv("NOTIFY_SOCKET"));
	assert_null(getenv("WATCHDOG_USEC"));
	assert_null(getenv("WATCHDOG_PID"));
}

static void test_heard(void **state)
{
	const struct tree *t = *state;
	char path[100], abstract[100];
	const char *const addresses[] = { path, abstract };

	snprintf(path, sizeof(path), "%s/manager", t->path);
	snprintf(abstract, sizeof(abstract), "@%s", t->path);
	for (size_t i = 0; i < 2; i++) {
		int fd = manager(addresses[i]);
		struct notify n;
		char pid[16];

		snprintf(pid, sizeof(pid), "%d", getpid());
		setenv("WATCHDOG_USEC", "30000000", 1);
		setenv("WATCHDOG_PID", pid, 1);
		open_said(&n, "");
		assert_int_equal(n.watchdog_ns, 30000000000);
		notify_send(&n, "READY=1");
		expect_heard(fd, "READY=1");
		close(fd); /* it has gone: nothing to do about it */
		notify_send(&n, "WATCHDOG=1");
		notify_close(&n);
	}
}

static void test_nobody(void **state)
{
	struct notify n;

	(void)state;
	setenv("WATCHDOG_USEC", "1000", 1);
	open_said(&n, "");
	assert_int_equal(n.fd, -1);
	assert_int_equal(n.watchdog_ns, 0);
	notify_send(&n, "READY=1");
	notify_close(&n);
}

static void test_wrong(void **state)
{
	static const char *const addresses[] = { "/nonexistent/manager", "relative", "@", "/" };
	static const char *const times[] = { "1s", "", "-1", "1e6", "99999999999999999999" };
	const struct tree *t = *state;
	struct notify n;
	char path[100], said[300];

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		snprintf(said, sizeof(said), "schedwatt: cannot reach the service manager at NOTIFY_SOCKET '%s': %s; going on "
			 "without it\n", addresses[i], i ? "Invalid argument" : "No such file or directory");
		setenv("NOTIFY_SOCKET", addresses[i], 1);
		open_said(&n, said);
		assert_int_equal(n.fd, -1);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/manager%zu", t->path, i);
		fd = manager(path);
		setenv("WATCHDOG_USEC", times[i], 1);
		snprintf(said, sizeof(said), "schedwatt: WATCHDOG_USEC '%s' is no number of microseconds; going on without a "
			 "watchdog\n", times[i]);
		open_said(&n, said);
		assert_int_equal(n.watchdog_ns, 0);
		notify_close(&n);
		close(fd);
	}
}

static void test_of_another(void **state)
{
	const struct tree *t = *state;
	struct notify n;
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "%s/manager", t->path);
	fd = manager(path);
	setenv("WATCHDOG_USEC", "1000", 1);
	setenv("WATCHDOG_PID", "1", 1);
	open_said(&n, "");
	assert_int_equal(n.watchdog_ns, 0);
	notify_close(&n);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_heard, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrong, setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_another, setup, teardown),
	};

	return cmocka_run_group_tests_name("notify", tests, NULL, NULL);
}

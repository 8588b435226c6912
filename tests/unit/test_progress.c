/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the line of progress: its words, that it is rewritten and cleared on a terminal, and that it is nowhere else.
 * Relies on: pty(7).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/progress.h"
#include "cli/terminal.h"

#define PM "\xc2\xb1"
#define S  UINT64_C(1000000000)

struct pty {
	int master, slave;
	char read[4096];
};

static void open_pty(struct pty *t, unsigned short columns)
{
	const struct winsize size = { .ws_row = 24, .ws_col = columns };
	struct termios raw;

	t->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(t->master >= 0);
	assert_int_equal(grantpt(t->master) | unlockpt(t->master), 0);
	t->slave = open(ptsname(t->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(t->slave >= 0);
	assert_int_equal(tcgetattr(t->slave, &raw), 0);
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(t->slave, TCSANOW, &raw), 0);
	assert_int_equal(ioctl(t->slave, TIOCSWINSZ, &size), 0);
}

/* All that was written to the terminal since the last call. */
static const char *seen(struct pty *t)
{
	struct pollfd fd = { .fd = t->master, .events = POLLIN };
	size_t len = 0;

	while (len < sizeof(t->read) - 1 && poll(&fd, 1, 0) == 1) {
		ssize_t n = read(t->master, t->read + len, sizeof(t->read) - 1 - len);

		assert_true(n > 0);
		len += (size_t)n;
	}
	t->read[len] = '\0';
	return t->read;
}

static void close_pty(struct pty *t)
{
	close(t->slave);
	close(t->master);
}

static const struct sw_header measured = { .started_ns = 5 * S, .energy_quality = "measured", .policy = "busy" };

/* A window of 0.2 s that ends after `t_ns`, of 24.69 W in all and half of it the target's. */
static struct sw_report window(uint64_t t_ns)
{
	return (struct sw_report){ .t_ns = 5 * S + t_ns, .window_ns = S / 5, .uncertainty_nj = 493800000,
				   .energy = { .total_nj = 4938000000, .proc_nj = 2469000000 } };
}

static void says(const struct progress *p, const struct sw_header *h, const struct sw_report *r, const char *golden)
{
	struct buf b = { 0 };

	progress_words(&b, p, h, r);
	buf_add(&b, "", 1);
	assert_int_equal(b.err, 0);
	assert_string_equal(b.data, golden);
	buf_free(&b);
}

static void test_words(void **state)
{
	struct progress p = { .fd = -1, .duration_ns = 90 * S, .windows = 61 };
	struct sw_header h = measured;
	struct sw_report r = window(12350000000);

	(void)state;
	says(&p, &h, &r, "schedwatt: 12.4 s of 90.0 s, 61 windows, 12.35 W");
	p = (struct progress){ .fd = -1, .run = 2, .runs = 5, .windows = 1 };
	h.energy_quality = "modelled";
	says(&p, &h, &r, "schedwatt: run 2 of 5, 12.4 s, 1 window, ~12.35" PM "1.23 W");
	r.energy.proc_nj = r.energy.total_nj = r.uncertainty_nj = SW_ABSENT;
	says(&p, &h, &r, "schedwatt: run 2 of 5, 12.4 s, 1 window, - W");
	h.energy_quality = NULL;
	says(&p, &h, &r, "schedwatt: run 2 of 5, 12.4 s, 1 window");
}

static void test_on_a_terminal(void **state)
{
	struct sw_report r = window(S / 5);
	struct progress p;
	struct pty t;

	(void)state;
	setenv("TERM", "xterm", 1);
	open_pty(&t, 100);
	progress_begin(&p, t.slave, 2 * S);
	progress_clear(&p); /* there is nothing to clear */
	assert_string_equal(seen(&t), "");
	progress_window(&p, &measured, &r);
	assert_string_equal(seen(&t), "\rschedwatt: 0.2 s of 2.0 s, 1 window, 12.35 W\033[K\r");
	r = window(S / 5 + S / 50); /* too soon for anybody to see */
	progress_window(&p, &measured, &r);
	assert_string_equal(seen(&t), "");
	r = window(2 * S / 5);
	progress_window(&p, &measured, &r);
	assert_string_equal(seen(&t), "\rschedwatt: 0.4 s of 2.0 s, 3 windows, 12.35 W\033[K\r");
	progress_clear(&p);
	assert_string_equal(seen(&t), "\r\033[K");
	progress_clear(&p);
	assert_string_equal(seen(&t), "");
	progress_window(&p, &measured, &r); /* what was cleared comes back at once */
	assert_string_equal(seen(&t), "\rschedwatt: 0.4 s of 2.0 s, 4 windows, 12.35 W\033[K\r");
	close_pty(&t);
}

/* At the right end of whatever line a command is in, which finds the cursor where it left it. */
static void test_beside_a_command(void **state)
{
	struct sw_report r = window(S / 5);
	struct progress p;
	struct pty t;

	(void)state;
	setenv("TERM", "xterm", 1);
	open_pty(&t, 100);
	progress_begin(&p, t.slave, 0);
	progress_run(&p, 2, 3);
	assert_string_equal(seen(&t), "\0337\033[79Gschedwatt: run 2 of 3\033[K\0338");
	progress_window(&p, &measured, &r);
	assert_string_equal(seen(&t), "\0337\033[79G\033[K\0338"
				      "\0337\033[53Gschedwatt: run 2 of 3, 0.2 s, 1 window, 12.35 W\033[K\0338");
	progress_clear(&p);
	assert_string_equal(seen(&t), "\0337\033[53G\033[K\0338");
	progress_run(&p, 3, 3); /* whose windows are counted from 1 again */
	seen(&t);
	progress_window(&p, &measured, &r);
	assert_non_null(strstr(seen(&t), "run 3 of 3, 0.2 s, 1 window, "));
	close_pty(&t);
}

/* A line that would wrap could not be rewritten. */
static void test_narrow(void **state)
{
	struct sw_report r = window(S / 5);
	struct progress p;
	struct pty t;

	(void)state;
	setenv("TERM", "xterm", 1);
	open_pty(&t, 20);
	progress_begin(&p, t.slave, 0);
	progress_window(&p, &measured, &r);
	assert_string_equal(seen(&t), "\rschedwatt: 0.2 s, \xe2\x80\xa6\033[K\r");
	close_pty(&t);
}

static void test_nowhere_else(void **state)
{
	struct sw_report r = window(S / 5);
	char bytes[8];
	struct progress p;
	struct pty t;
	int fds[2];

	(void)state;
	setenv("TERM", "xterm", 1);
	assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
	progress_begin(&p, fds[1], S);
	progress_run(&p, 1, 2);
	progress_window(&p, &measured, &r);
	progress_clear(&p);
	assert_int_equal(read(fds[0], bytes, sizeof(bytes)), -1);
	close(fds[0]);
	close(fds[1]);
	open_pty(&t, 80);
	setenv("TERM", "dumb", 1);
	progress_begin(&p, t.slave, S);
	progress_window(&p, &measured, &r);
	assert_string_equal(seen(&t), "");
	close_pty(&t);
	progress_run(NULL, 1, 2);
	progress_window(NULL, &measured, &r);
	progress_clear(NULL);
}

static void test_terminal(void **state)
{
	struct pty t;

	(void)state;
	open_pty(&t, 132);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	assert_true(terminal_rewrites(t.slave) && terminal_colours(t.slave));
	assert_int_equal(terminal_columns(t.slave), 132);
	setenv("NO_COLOR", "", 1); /* as if it were not set */
	assert_true(terminal_colours(t.slave));
	setenv("NO_COLOR", "0", 1);
	assert_false(terminal_colours(t.slave));
	assert_true(terminal_rewrites(t.slave));
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	assert_false(terminal_rewrites(t.slave) || terminal_colours(t.slave));
	unsetenv("TERM");
	assert_false(terminal_rewrites(t.slave) || terminal_colours(t.slave));
	setenv("TERM", "xterm", 1);
	close_pty(&t);
	assert_false(terminal_rewrites(t.slave) || terminal_colours(t.slave));
	assert_int_equal(terminal_columns(t.slave), 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),  cmocka_unit_test(test_on_a_terminal), cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_beside_a_command),
		cmocka_unit_test(test_nowhere_else), cmocka_unit_test(test_terminal),
	};

	return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <err.h>
#include <math.h>
#include <schedwatt.h>
#include <stdio.h>
#include <unistd.h>

static int work(void)
{
	for (volatile long i = 0; i < 1000000000; i++)
		;
	return 0;
}

int main(int argc, char **argv)
{
	char why[256];
	int32_t pid = getpid();
	struct sw_options options = { .sz = sizeof(options), .target = SW_TARGET_PIDS, .pids = &pid, .n_pids = 1,
				      .energy = argc > 1 ? argv[1] : "auto", .error = why, .error_size = sizeof(why) };
	struct sw_monitor *m;
	const struct sw_report *r;

	if (sw_monitor_open(&options, &m))
		errx(1, "%s", why);
	if (sw_monitor_begin(m) || work() || sw_monitor_finish(m, &r) < 0)
		errx(1, "%s", sw_monitor_error(m));
	double joules = r->energy.proc_nj == SW_ABSENT ? NAN : r->energy.proc_nj / 1e9;
	printf("%.3f s on CPU, %.3f J by %s\n", r->proc_oncpu_ns / 1e9, joules, sw_monitor_header(m)->energy_source);
	sw_monitor_close(m);
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * base/procfs.c: every line of /proc/stat is stepped over once, and what is taken of a CPU says the same when it is
 * written out again.
 */
#include "fuzz.h"

#include "../../src/base/procfs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

#define TIMES 10
#define UNTOUCHED 77

static void times_of(const struct sw_cpu_times *t, uint64_t ret[TIMES])
{
	const uint64_t times[TIMES] = {t->user, t->nice, t->system, t->idle, t->iowait,
				       t->irq, t->softirq, t->steal, t->guest, t->guest_nice};

	memcpy(ret, times, sizeof(times));
}

static void expect_same_again(const struct sw_cpu_times *t)
{
	uint64_t times[TIMES], times_again[TIMES];
	struct sw_cpu_times again;
	char line[512], *to = line;
	const char *at = line;

	times_of(t, times);
	to += t->cpu < 0 ? sprintf(to, "cpu ") : sprintf(to, "cpu%" PRId32, t->cpu);
	for (unsigned i = 0; i < t->n_fields; i++)
		to += sprintf(to, " %" PRIu64, times[i]);
	for (unsigned i = t->n_fields; i < TIMES; i++)
		must(!times[i]);
	*to++ = '\n';
	must(sw_cpu_times_next(&at, to, &again) == 1);
	must(again.cpu == t->cpu && again.n_fields == t->n_fields);
	times_of(&again, times_again);
	must(!memcmp(times, times_again, sizeof(times)));
	must(!sw_cpu_times_next(&at, to, &again) && at == to);
}

/* A line that begins so is a CPU's, and is either taken or refused. */
static unsigned count_cpu_lines(const char *at, const char *end)
{
	bool at_start = true;
	unsigned n = 0;

	for (; at < end; at_start = *at++ == '\n')
		n += at_start && end - at > 3 && !memcmp(at, "cpu", 3) && strchr(" \t0123456789", at[3]) && at[3];
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size, *from = at;
	unsigned n;

	for (n = 0;; n++) {
		struct sw_cpu_times t = {.n_fields = UNTOUCHED};
		int found = sw_cpu_times_next(&at, end, &t);

		must(found == 1 || t.n_fields == UNTOUCHED);
		if (!found)
			break;
		must(at > from && at <= end && (at == end || at[-1] == '\n'));
		from = at;
		if (found < 0) {
			must(found == -EINVAL || found == -ERANGE);
			continue;
		}
		must(found == 1 && t.cpu >= -1 && t.n_fields >= 4 && t.n_fields <= TIMES);
		must(sw_cpu_times_busy(&t) <= UINT64_MAX - sw_cpu_times_idle(&t));
		expect_same_again(&t);
	}
	must(at == end);
	must(n == count_cpu_lines((const char *)data, end));
	return 0;
}

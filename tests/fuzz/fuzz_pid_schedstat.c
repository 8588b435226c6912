// SPDX-License-Identifier: BSD-2-Clause
/* base/procfs.c: a /proc/PID/schedstat that is taken says the same when it is written out again. */
#include "fuzz.h"

#include "../../src/base/procfs.h"

#include <errno.h>
#include <inttypes.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sw_proc_schedstat s, again;
	const uint8_t *newline;
	char line[128];
	int n, err;

	memset(&s, 0x5a, sizeof(s));
	again = s;
	err = sw_proc_schedstat_parse((const char *)data, size, &s);
	if (err) {
		must(err == (size ? -EINVAL : -ENODATA) || err == -ERANGE);
		must(!memcmp(&s, &again, sizeof(s)));
		return 0;
	}
	newline = memchr(data, '\n', size);
	must(!newline || newline + 1 == data + size);
	n = snprintf(line, sizeof(line), "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", s.run_ns, s.wait_ns, s.timeslices);
	must(!sw_proc_schedstat_parse(line, (size_t)n, &again));
	must(!memcmp(&s, &again, sizeof(s)));
	must(sw_proc_schedstat_parse(line, (size_t)(strrchr(line, ' ') - line), &again) == -EINVAL);
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/* base/procfs.c: a size that is taken out of a /proc/meminfo says the same when its line is written out again. */
#include "fuzz.h"

#include "../../src/base/procfs.h"

#include <errno.h>
#include <inttypes.h>

#define UNTOUCHED 77

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t bytes = UNTOUCHED, again = 0;
	char line[64];
	int n, err;

	err = sw_meminfo_bytes((const char *)data, size, "MemTotal", &bytes);
	if (err) {
		must(size ? err == -EINVAL || err == -ERANGE || err == -ENOENT : err == -ENODATA);
		must(bytes == UNTOUCHED);
		return 0;
	}
	must(bytes % 1024 == 0);
	n = snprintf(line, sizeof(line), "MemTotal: %" PRIu64 " kB\n", bytes / 1024);
	must(!sw_meminfo_bytes(line, (size_t)n, "MemTotal", &again));
	must(again == bytes);
	must(sw_meminfo_bytes(line, (size_t)n - 2, "MemTotal", &again) == -EINVAL);
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/* base/procfs.c: usage_usec in a cgroup's cpu.stat is found where a line begins with it, and nowhere else. */
#include "fuzz.h"

#include "../../src/base/procfs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

#define KEY "usage_usec"
#define UNTOUCHED 0x5a5a5a5a5a5a5a5a

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char in_line[] = "\n" KEY " ";
	const size_t length = strlen(KEY " ");
	uint64_t value = UNTOUCHED, again;
	int n, err = sw_flat_keyed_u64((const char *)data, size, KEY, &value);
	bool is_there = memmem(data, size, in_line, strlen(in_line)) ||
			(size >= length && !memcmp(data, in_line + 1, length));
	char line[64];

	must(err == 0 || value == UNTOUCHED);
	must(err == 0 || err == -EINVAL || err == -ERANGE || err == (size ? -ENOENT : -ENODATA));
	must(is_there == (err != -ENOENT && err != -ENODATA));
	if (err)
		return 0;
	n = snprintf(line, sizeof(line), "%" PRIu64, value);
	must(memmem(data, size, line, (size_t)n));
	n = snprintf(line, sizeof(line), "x" KEY " 1\n" KEY " %" PRIu64 "\n", value);
	must(!sw_flat_keyed_u64(line, (size_t)n, KEY, &again) && again == value);
	return 0;
}

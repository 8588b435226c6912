// SPDX-License-Identifier: BSD-2-Clause
/* base/parse.c: a number or a list that is taken means what is written, and is the same when it is written again. */
#include "fuzz.h"

#include "../../src/base/parse.h"

#include <errno.h>
#include <inttypes.h>

#define UNTOUCHED 0x5a5a5a5a5a5a5a5a
#define LIMIT 256 /* CPUs */

static void one_u64(const char *text)
{
	uint64_t value = UNTOUCHED, again;
	int err = sw_parse_u64(text, UINT64_MAX, &value);
	char written[32];

	must(!err || err == -EINVAL || err == -ERANGE);
	must(!err || value == UNTOUCHED);
	if (err)
		return;
	must(strspn(text, "0123456789") && value == strtoull(text, NULL, 10));
	snprintf(written, sizeof(written), "%" PRIu64 "\n", value);
	must(!sw_parse_u64(written, value, &again) && again == value);
	must(!value || sw_parse_u64(text, value - 1, &again) == -ERANGE);
}

static void one_decimal(const char *text)
{
	uint64_t value = UNTOUCHED, again, whole;
	int err = sw_parse_decimal(text, 6, UINT64_MAX, &value);
	char written[40];

	must(!err || err == -EINVAL || err == -ERANGE);
	must(!err || value == UNTOUCHED);
	if (err)
		return;
	snprintf(written, sizeof(written), "%" PRIu64 ".%06" PRIu64, value / 1000000, value % 1000000);
	must(!sw_parse_decimal(written, 6, value, &again) && again == value);
	must(!value || sw_parse_decimal(text, 6, value - 1, &again) == -ERANGE);
	/* what is a decimal number without a fraction is a whole one too */
	must(strchr(text, '.') || (!sw_parse_u64(text, UINT64_MAX, &whole) && whole == value / 1000000));
}

struct seen {
	uint8_t cpu[LIMIT];
	unsigned n, stop_at;
};

static int note(unsigned cpu, void *ctx)
{
	struct seen *seen = ctx;

	must(cpu < LIMIT);
	seen->cpu[cpu] = 1;
	seen->n++;
	return seen->n == seen->stop_at ? 7 : 0;
}

static void one_cpulist(const char *text)
{
	struct seen seen = {.n = 0}, again = {.n = 0}, stopped = {.stop_at = 1};
	char written[4 * LIMIT + 1], *at = written;
	int err = sw_parse_cpulist(text, LIMIT, note, &seen);

	must(!err || err == -EINVAL || err == -ERANGE);
	must(!err || !seen.n);
	if (err)
		return;
	must(sw_parse_cpulist(text, LIMIT, note, &stopped) == (seen.n ? 7 : 0));
	for (unsigned cpu = 0; cpu < LIMIT; cpu++)
		if (seen.cpu[cpu])
			at += sprintf(at, "%s%u", at == written ? "" : ",", cpu);
	*at = '\0';
	must(!sw_parse_cpulist(written, LIMIT, note, &again));
	must(!memcmp(seen.cpu, again.cpu, sizeof(seen.cpu)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);

	one_u64(text);
	one_decimal(text);
	one_cpulist(text);
	free(text);
	return 0;
}

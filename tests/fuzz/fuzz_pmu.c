// SPDX-License-Identifier: BSD-2-Clause
/*
 * energy/pmu_parse.c: a scale is the number that is written, as the C library's own arithmetic has it; a format is the
 * set of bits that writing it out again gives; and a config has no bits but those of its terms' formats.
 */
#include "fuzz.h"

#include "../../src/energy/pmu_parse.h"

#include <errno.h>
#include <math.h>

#define UNTOUCHED 0x5a5a5a5a5a5a5a5a

static void one_scale(const char *text)
{
	struct sw_scale scale = {.num = UNTOUCHED, .den = 1};
	int err = sw_parse_scale(text, &scale);
	long double joules, want, got;
	uint64_t count = UINT64_C(1) << 32;
	char *end;

	must(!err || err == -EINVAL || err == -ERANGE);
	must(!err || (scale.num == UNTOUCHED && scale.den == 1));
	if (err == -EINVAL)
		return;
	joules = strtold(text, &end); /* in the locale "C" */
	must(!*end || (end[0] == '\n' && !end[1]));
	if (err) {
		must(!(joules > 1e-28L && joules < 1e10L));
		return;
	}
	must(scale.num && scale.den && joules > 0);
	/* a nanojoule for rounding down, and what 64 bits of a long double leave open */
	want = joules * 1e9L * count;
	got = (long double)sw_scale_nj(&scale, count);
	must(fabsl(got - want) <= 1 + want * 0x1p-58L);
	must(sw_scale_nj(&scale, 1) <= sw_scale_nj(&scale, 2));
	must(sw_scale_nj(&scale, 0) == 0);
	must(sw_scale_nj(&scale, UINT64_MAX) >= sw_scale_nj(&scale, UINT64_C(1) << 63));
	if (!(scale.den & (scale.den - 1)))
		must(scale.den == 1 || scale.num & 1 || scale.num >> 63); /* lowest terms, or all 64 bits */
}

static void one_format(const char *text)
{
	char written[8 * 64 + 8], *at = written;
	uint64_t bits = UNTOUCHED, again;
	int err = sw_parse_format(text, &bits);

	must(!err || err == -EINVAL || err == -EOPNOTSUPP);
	must(!err || bits == UNTOUCHED);
	if (err)
		return;
	must(bits && !strncmp(text, "config:", 7));
	at += sprintf(at, "config");
	for (unsigned bit = 0; bit < 64; bit++)
		if (bits >> bit & 1)
			at += sprintf(at, "%c%u", at == written + 6 ? ':' : ',', bit);
	must(!sw_parse_format(written, &again) && again == bits);
}

struct asked {
	uint64_t bits; /* of all terms so far */
	unsigned n;
};

static int format_of(const char *term, void *ctx, uint64_t *bits)
{
	struct asked *asked = ctx;

	must(*term && strlen(term) < 64 && !strpbrk(term, "=,/\n") && *term != '.');
	asked->n++;
	if (*term == 'x')
		return -ENOENT;
	*bits = *term == 'e' ? 0xff : UINT64_C(0xf0000000000f00);
	asked->bits |= *bits;
	return 0;
}

static void one_event(const char *text)
{
	struct asked asked = {.n = 0};
	uint64_t config = UNTOUCHED;
	int err = sw_parse_terms(text, format_of, &asked, &config);

	must(!err || err == -EINVAL || err == -ERANGE || err == -ENOENT);
	must(!err || config == UNTOUCHED);
	must(err || (asked.n && !(config & ~asked.bits)));
	if (!err && asked.n == 1 && !strncmp(text, "event=", 6))
		must(config == strtoull(text + 6, NULL, text[6] == '0' && (text[7] | 32) == 'x' ? 16 : 10));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);

	one_scale(text);
	one_format(text);
	one_event(text);
	free(text);
	return 0;
}

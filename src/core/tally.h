/* SPDX-License-Identifier: BSD-2-Clause */
/* Time and energy of whatever rows are summed by: in the window, and over the recording. */
#ifndef SW_CORE_TALLY_H
#define SW_CORE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sw_tally {
	uint64_t oncpu_ns; /* of the window */
	uint64_t total_ns;
	int64_t nj;       /* of the window; INT64_MIN: absent */
	int64_t total_nj; /* INT64_MIN: absent in all windows */
};

/* Energy that may be absent on either side. */
static inline void sw_add_nj(int64_t *to, int64_t nj)
{
	if (nj != INT64_MIN)
		*to = (*to == INT64_MIN ? 0 : *to) + nj;
}

/* Nothing yet. by_domain_ns: n_domains of the window, then n_domains in total. */
static inline void sw_tally_clear(struct sw_tally *t, uint64_t *by_domain_ns, unsigned n_domains)
{
	*t = (struct sw_tally){.nj = INT64_MIN, .total_nj = INT64_MIN};
	memset(by_domain_ns, 0, 2 * n_domains * sizeof(*by_domain_ns));
}

/* A window begins. */
static inline void sw_tally_next(struct sw_tally *t, uint64_t *by_domain_ns, unsigned n_domains)
{
	t->oncpu_ns = 0;
	t->nj = INT64_MIN;
	memset(by_domain_ns, 0, n_domains * sizeof(*by_domain_ns));
}

static inline void sw_tally_add(struct sw_tally *t, uint64_t *by_domain_ns, unsigned n_domains, unsigned domain,
				uint64_t oncpu_ns)
{
	t->oncpu_ns += oncpu_ns;
	t->total_ns += oncpu_ns;
	by_domain_ns[domain] += oncpu_ns;
	by_domain_ns[n_domains + domain] += oncpu_ns;
}

static inline void sw_tally_add_energy(struct sw_tally *t, int64_t nj)
{
	sw_add_nj(&t->nj, nj);
	sw_add_nj(&t->total_nj, nj);
}

/* Rows of totals outlive the entries that they are made of: their strings lie behind them, and *end is where next. */
static inline size_t sw_room_for(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static inline const char *sw_put_text(char **end, const char *text)
{
	char *at = *end;
	size_t size = sw_room_for(text);

	if (!text)
		return NULL;
	*end += size;
	return (const char *)memcpy(at, text, size);
}

static inline const uint64_t *sw_put_times(char **end, const uint64_t *times, unsigned n)
{
	char *at = *end;

	*end += n * sizeof(*times);
	return (const uint64_t *)memcpy(at, times, n * sizeof(*times));
}

/* A name of at most 15 bytes, the rest zero, since names are compared whole. */
static inline void sw_copy_comm(char to[16], const char *from)
{
	size_t n = strnlen(from, 15);

	memcpy(to, from, n);
	memset(to + n, 0, 16 - n);
}

#endif

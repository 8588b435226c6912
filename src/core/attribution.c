/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the policies busy, capacity and marginal, and exact rounding.
 * Must not know: which back end measured the time, which source the energy.
 * Rounding is Hamilton's method of largest remainders.
 */
#include "attribution.h"

typedef unsigned __int128 u128;

/* total < 2^63 and weights sum below 2^64, so the product of a total and a weight fits. */
static uint64_t quotient(int64_t total, uint64_t weight, uint64_t sum, uint64_t *remainder)
{
	u128 product = (u128)(uint64_t)total * weight;

	*remainder = product % sum;
	return product / sum;
}

static bool comes_before(const struct sw_share *a, uint64_t rest_a, const struct sw_share *b, uint64_t rest_b)
{
	return rest_a != rest_b ? rest_a > rest_b : a->tie < b->tie;
}

/* The k-th of those with a remainder, in order of who is rounded up first; their remainders lie in nj meanwhile. */
static struct sw_share kth(struct sw_share *s, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		struct sw_share pivot = s[low + (high - low) / 2];
		size_t i = low - 1, j = high + 1; /* Hoare's partition; the first step makes them valid */

		for (;;) {
			do
				i++;
			while (comes_before(&s[i], s[i].nj, &pivot, pivot.nj));
			do
				j--;
			while (comes_before(&pivot, pivot.nj, &s[j], s[j].nj));
			if (i >= j)
				break;
			struct sw_share swap = s[i];
			s[i] = s[j];
			s[j] = swap;
		}
		if (k <= j)
			high = j;
		else
			low = j + 1;
	}
	return s[k];
}

bool sw_apportion(int64_t total_nj, struct sw_share *shares, size_t n)
{
	uint64_t sum = 0, rest;
	int64_t left = total_nj;

	for (size_t i = 0; i < n; i++)
		sum += shares[i].weight;
	for (size_t i = 0; i < n; i++)
		shares[i].nj = 0;
	if (!sum)
		return false;
	for (size_t i = 0; i < n; i++) {
		left -= quotient(total_nj, shares[i].weight, sum, &rest);
		shares[i].nj = rest;
	}
	if (left) { /* 0 < left < n: the first `left` in order get one more */
		struct sw_share last = kth(shares, n, left - 1);

		for (size_t i = 0; i < n; i++) {
			bool up = !comes_before(&last, last.nj, &shares[i], shares[i].nj);

			shares[i].nj = quotient(total_nj, shares[i].weight, sum, &rest) + up;
		}
		return true;
	}
	for (size_t i = 0; i < n; i++)
		shares[i].nj = quotient(total_nj, shares[i].weight, sum, &rest);
	return true;
}

void sw_attribute(enum sw_policy policy, int64_t total_nj, struct sw_share *tasks, size_t n, struct sw_pool *pool)
{
	int64_t idle_nj = 0, shared_nj;

	if (policy == SW_POLICY_MARGINAL)
		idle_nj = pool->baseline_nj < total_nj ? pool->baseline_nj : total_nj;
	shared_nj = total_nj - idle_nj;
	tasks[n] = (struct sw_share){.weight = pool->other_ns, .tie = UINT64_MAX - 2};
	tasks[n + 1] = (struct sw_share){.weight = policy == SW_POLICY_CAPACITY ? pool->idle_ns : 0, .tie = UINT64_MAX - 1};
	tasks[n + 2] = (struct sw_share){.weight = pool->lost_ns, .tie = UINT64_MAX};
	pool->energy = (struct sw_energy){.total_nj = total_nj, .idle_nj = idle_nj};
	if (!sw_apportion(shared_nj, tasks, n + SW_POOL_SHARES)) {
		pool->energy.unattributed_nj = shared_nj;
		return;
	}
	/* the rows may stand in another order now, but for their sum and their own ties */
	for (size_t i = 0; i < n + SW_POOL_SHARES; i++) {
		if (tasks[i].tie == UINT64_MAX)
			pool->energy.unattributed_nj = tasks[i].nj;
		else if (tasks[i].tie == UINT64_MAX - 1)
			pool->energy.idle_nj += tasks[i].nj;
		else if (tasks[i].tie == UINT64_MAX - 2)
			pool->energy.other_nj = tasks[i].nj;
		else
			pool->energy.proc_nj += tasks[i].nj;
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the words of the public interface. Must not know: anything else.
 */
#include "../../include/schedwatt.h"

#include <errno.h>
#include <string.h>

static const char *const policies[SW_POLICIES] = {"busy", "capacity", "marginal"};
static const char *const lost_kinds[SW_LOST_KINDS] = {"slots", "missed", "other"};
static const char *const flags[SW_FLAGS] = {"late",    "short",   "partial",   "no_energy",
					    "suspend", "members", "unverified", "mirrored",
					    "hybrid",  "steal",   "baseline", "busy_raised"};

const char *sw_version(void)
{
	return SW_VERSION;
}

const char *sw_flag_name(uint32_t bit)
{
	return bit < SW_FLAGS ? flags[bit] : NULL;
}

const char *sw_policy_name(uint32_t policy)
{
	return policy < SW_POLICIES ? policies[policy] : NULL;
}

const char *sw_lost_name(uint32_t kind)
{
	return kind < SW_LOST_KINDS ? lost_kinds[kind] : NULL;
}

int sw_policy_parse(const char *name)
{
	for (int i = 0; i < SW_POLICIES; i++)
		if (!strcmp(name, policies[i]))
			return i;
	return -EINVAL;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy, as its own files see it. */
#ifndef GP_POLICY_H
#define GP_POLICY_H

#include <gpreempt/policy.h>

/* value * up / down, rounded down; no more than the largest number. */
static inline uint64_t gp_policy_scale(uint64_t value, uint64_t up,
				       uint64_t down)
{
	unsigned __int128 scaled = (unsigned __int128)value * up / down;

	return scaled < UINT64_MAX ? (uint64_t)scaled : UINT64_MAX;
}

#endif

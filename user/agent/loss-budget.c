// SPDX-License-Identifier: GPL-2.0-only
#include "agent/loss-budget.h"

bool loss_budget_spend(struct loss_budget *b, uint64_t now_ns)
{
	if (now_ns > b->last_ns + LOSS_BUDGET_MEMORY_NS)
		b->losses = 0;
	b->last_ns = now_ns;
	return ++b->losses <= LOSS_BUDGET_MAX;
}

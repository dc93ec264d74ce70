// SPDX-License-Identifier: LGPL-2.1-or-later
#include "shared/loss-budget.h"

bool shr_loss_budget_spend(struct shr_loss_budget *b, uint64_t now_ns)
{
	if (now_ns > b->last_ns + SHR_LOSS_BUDGET_MEMORY_NS)
		b->losses = 0;
	b->last_ns = now_ns;
	return ++b->losses <= SHR_LOSS_BUDGET_MAX;
}

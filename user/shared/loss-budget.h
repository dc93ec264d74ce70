/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How often something that others end is begun again. */
#ifndef SHARED_LOSS_BUDGET_H
#define SHARED_LOSS_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* More losses than that in short order are too many. */
#define SHR_LOSS_BUDGET_MAX 5
/* Losses are forgotten when there was none for so long. */
#define SHR_LOSS_BUDGET_MEMORY_NS 10000000000ULL

struct shr_loss_budget {
	uint64_t last_ns;	/* of CLOCK_MONOTONIC: the last loss */
	unsigned int losses;	/* in short order */
};

/* It was lost. False: that has happened too often. */
bool shr_loss_budget_spend(struct shr_loss_budget *b, uint64_t now_ns);

#endif

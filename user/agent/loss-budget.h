/* SPDX-License-Identifier: GPL-2.0-only */
/* How often a session that another process ends is opened again. */
#ifndef AGENT_LOSS_BUDGET_H
#define AGENT_LOSS_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* A process that ends our session more often than that is left its way. */
#define LOSS_BUDGET_MAX 5
/* Losses are forgotten when there was none for so long. */
#define LOSS_BUDGET_MEMORY_NS 10000000000ULL

struct loss_budget {
	uint64_t last_ns;	/* of CLOCK_MONOTONIC: the last loss */
	unsigned int losses;	/* in short order */
};

/* The session was lost. False: it has happened too often. */
bool loss_budget_spend(struct loss_budget *b, uint64_t now_ns);

#endif

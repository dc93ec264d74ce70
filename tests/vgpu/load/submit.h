/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LOAD_SUBMIT_H
#define LOAD_SUBMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "process.h"

/* Retire complete packets and, unless @stop, top the rings up. */
void load_submit_round(struct load_process *proc, const struct load_args *args, uint64_t now_ns,
		       bool stop);

/* Have all queues submitted and completed all of --count? */
bool load_submit_finished(const struct load_process *proc, const struct load_args *args);
bool load_submit_drained(const struct load_process *proc);

/* How long may this process sleep before a ring could run dry, in ns. */
uint64_t load_submit_sleep(const struct load_process *proc, const struct load_args *args,
			   uint64_t now_ns);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The process that holds a target, for the user. */
#ifndef AGENT_OWNER_TEXT_H
#define AGENT_OWNER_TEXT_H

#include <gpreempt/core.h>

#include "agent/holder-lock.h"

/* Formats of sentences that several commands print; %d is the target. */
#define TEXT_PAUSE_DAMAGED HOLD_DIR "/%d.pause is damaged, or no entry of ours"
#define NEXT_PAUSE_DAMAGED "look at it, and remove it"

/* The command that has it; "-" for none. */
const char *hold_role_name(enum hold_role role);

#define HOLD_MAX_COMMAND 64

/* The command that makes the owner release the target; "" for none. */
const char *hold_release_command(const struct hold_owner *owner, pid_t target,
				 char buf[HOLD_MAX_COMMAND]);
/*
 * What a command can't do, in the form of a holder's answer: status, and text of two
 * lines, why and what to do.
 */

/* The target is held by that one. */
void hold_taken(struct hold_reply *out, const struct hold_owner *owner, pid_t target);
/* hold_take(), hold_lock() or pause_take() failed with that -errno. */
void hold_not_taken(struct hold_reply *out, int code, pid_t target);
/* So did pause_journal_write(). */
void hold_not_noted(struct hold_reply *out, int code, pid_t target);
/* And pause_guardian_start(). */
void hold_no_guardian(struct hold_reply *out, int code, pid_t target);
/*
 * Print a note that queues of a target ran while it was held, so that the other
 * figures do not cover all of that time.
 */
void hold_note_churn(pid_t target, uint64_t ran_ns, uint64_t window_ns);
/* The PID whose end releases the target: what the user started. */
uint64_t hold_command_of(const struct hold_owner *owner);

#endif

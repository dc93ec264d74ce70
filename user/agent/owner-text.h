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
/* That it is held, and on a second line what to do. */
void hold_taken_text(const struct hold_owner *owner, pid_t target, char *buf,
		     size_t size);
/*
 * Why hold_take(), hold_lock() or pause_take() failed with that -errno, and on a
 * second line what to do. Returns the exit status for it.
 */
enum gpreempt_class hold_not_taken_text(int code, pid_t target, char *buf,
					size_t size);
/*
 * Why pause_journal_write() failed with that -errno, and on a second line what to do.
 * Returns the exit status for it.
 */
enum gpreempt_class hold_not_noted_text(int code, pid_t target, char *buf,
					size_t size);
/* Why pause_guardian_start() failed, in the same form. */
enum gpreempt_class hold_no_guardian_text(int code, pid_t target, char *buf,
					  size_t size);
/*
 * Print a note that queues of a target ran while it was held, so that the other
 * figures do not cover all of that time.
 */
void hold_note_churn(pid_t target, uint64_t ran_ns, uint64_t window_ns);
/* The PID whose end releases the target: what the user started. */
uint64_t hold_command_of(const struct hold_owner *owner);

#endif

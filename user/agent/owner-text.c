// SPDX-License-Identifier: GPL-2.0-only
/* What the user reads about the process that holds a target. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent/owner-text.h"
#include "output/message.h"
#include "shared/parse.h"

const char *hold_role_name(enum hold_role role)
{
	static const char *const names[HOLD_ROLES] = {
		[HOLD_ROLE_HOLDER] = "suspend",	 [HOLD_ROLE_PREEMPT] = "preempt",
		[HOLD_ROLE_FOLLOW] = "follow",	 [HOLD_ROLE_GUARD] = "guard",
		[HOLD_ROLE_UNKNOWN] = "unknown",
	};

	return role < HOLD_ROLES && names[role] ? names[role] : "-";
}

const char *hold_release_command(const struct hold_owner *owner, pid_t target,
				 char buf[HOLD_MAX_COMMAND])
{
	*buf = '\0';
	switch (owner->role) {
	case HOLD_ROLE_HOLDER:
		snprintf(buf, HOLD_MAX_COMMAND, "gpreempt-ctl resume %d", target);
		break;
	case HOLD_ROLE_GUARD:
		snprintf(buf, HOLD_MAX_COMMAND, "gpreempt-ctl guard release %d", target);
		break;
	case HOLD_ROLE_PREEMPT:
	case HOLD_ROLE_FOLLOW:
		/* They release the target however they end. */
		snprintf(buf, HOLD_MAX_COMMAND, "kill %llu", (unsigned long long)owner->pid);
		break;
	default:
		break;
	}
	return buf;
}

uint64_t hold_command_of(const struct hold_owner *owner)
{
	return owner->role == HOLD_ROLE_GUARD ? owner->guardian : owner->pid;
}

__attribute__((format(printf, 3, 4))) static void
tell(struct hold_reply *out, enum gpreempt_class class, const char *format, ...)
{
	va_list ap;

	out->status = class;
	va_start(ap, format);
	vsnprintf(out->text, sizeof(out->text), format, ap);
	va_end(ap);
}

void hold_taken(struct hold_reply *out, const struct hold_owner *owner, pid_t target)
{
	bool stays = owner->role == HOLD_ROLE_HOLDER || owner->role == HOLD_ROLE_GUARD;
	char command[HOLD_MAX_COMMAND];

	hold_release_command(owner, target, command);
	if (owner->role == HOLD_ROLE_UNKNOWN)
		tell(out, GPREEMPT_CLASS_BUSY,
		     "process %d is held by an unknown holder "
		     "(its lock is held)\n"
		     "find and end it: fuser -v " HOLD_DIR "/%d.lock",
		     target, target);
	/* A command that makes a holder, which takes a moment. */
	else if (!*command)
		tell(out, GPREEMPT_CLASS_BUSY,
		     "process %d is being held or released by "
		     "another gpreempt-ctl\ntry again",
		     target);
	else
		tell(out, GPREEMPT_CLASS_BUSY,
		     "process %d is held by gpreempt-ctl %s (%llu)\n%s: %s", target,
		     hold_role_name(owner->role), (unsigned long long)hold_command_of(owner),
		     stays ? "release it first" : "wait for it, or end it", command);
}

/* A file in it could not be made. */
static const char *what_the_directory_wants(int code)
{
	const char *want = ctl_want(code);

	if (code == -ENOSPC)
		return "make room in " HOLD_DIR " and try again";
	return want ? want : "it must be a directory of root's that can be written to";
}

void hold_not_taken(struct hold_reply *out, int code, pid_t target)
{
	struct hold_owner owner = { 0 };

	if (code == -EWOULDBLOCK) {
		hold_read_owner(target, &owner);
		hold_taken(out, &owner, target);
	} else if (code == -EALREADY) {
		tell(out, GPREEMPT_CLASS_BUSY,
		     "process %d is paused by gpreempt-ctl suspend\n"
		     "release it first: gpreempt-ctl resume %d",
		     target, target);
	} else if (code == -EPROTO) {
		tell(out, GPREEMPT_CLASS_FAILED,
		     TEXT_PAUSE_DAMAGED "\n" NEXT_PAUSE_DAMAGED "; gpreempt-ctl queues %d "
					"shows whether the process is evicted",
		     target, target);
	} else {
		tell(out, GPREEMPT_CLASS_FAILED, "cannot lock process %d in " HOLD_DIR ": %s\n%s",
		     target, strerror(-code), what_the_directory_wants(code));
	}
}

void hold_not_noted(struct hold_reply *out, int code, pid_t target)
{
	if (code == -EPROTO || code == -EALREADY)
		hold_not_taken(out, code, target);
	else
		tell(out, GPREEMPT_CLASS_FAILED,
		     "cannot note process %d in " HOLD_DIR
		     ", and without that it is not paused: %s\n%s",
		     target, strerror(-code), what_the_directory_wants(code));
}

void hold_no_guardian(struct hold_reply *out, int code, pid_t target)
{
	const char *want = ctl_want(code);

	tell(out, GPREEMPT_CLASS_FAILED,
	     "cannot start the guardian that would end the pause of "
	     "process %d: %s\n%s",
	     target, code == -ECHILD ? "it ended at once" : strerror(-code),
	     want ? want :
		    "raise the limits of open files and of processes: "
		    "ulimit -n, ulimit -u");
}

void hold_note_churn(pid_t target, uint64_t ran_ns, uint64_t window_ns)
{
	char ran[32], window[32];

	shr_format_duration(ran_ns, ran, sizeof(ran));
	shr_format_duration(window_ns, window, sizeof(window));
	ctl_note("process %d makes and destroys queues all the time: some of its "
		 "queues ran %s of the last %s",
		 target, ran, window);
}

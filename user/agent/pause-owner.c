// SPDX-License-Identifier: GPL-2.0-only
#include <poll.h>
#include <unistd.h>

#include "agent/holder-lock.h"
#include "agent/owner-text.h"
#include "agent/pause-guardian.h"
#include "agent/pause-journal.h"
#include "agent/pause-owner.h"

/* The guardian sees it and ends; until then the lock is held. */
static void close_guardian(struct pause_owner *o)
{
	if (o->guardian > 0)
		close(o->guardian);
	o->guardian = 0;
	hold_drop(o->target, o->lock);
	o->lock = -1;
}

static int start_guardian(struct pause_owner *o)
{
	int ret = pause_guardian_start(o->lock, o->target, o->start,
				       o->heartbeat, &o->guardian_pid);

	o->is_alone = ret < 0;
	if (ret < 0)
		return ret;
	o->guardian = ret;
	return 0;
}

int pause_owner_renew(struct pause_owner *o)
{
	struct pollfd fd = { .fd = o->guardian, .events = POLLIN };

	if (!o->is_noted || o->guarded || poll(&fd, 1, 0) <= 0)
		return 0;
	close(o->guardian);
	o->guardian = 0;
	return start_guardian(o);
}

int pause_owner_begin(struct pause_owner *o, const struct hold_owner *as)
{
	struct pause_entry entry;
	int ret;

	pause_entry_init(&entry, o->target, o->start);
	ret = pause_journal_write(&entry);
	if (ret || o->guarded) {
		o->is_noted = !ret;
		return ret;
	}
	ret = start_guardian(o);
	if (!ret)
		ret = hold_write_owner(o->lock, as);
	o->is_noted = !ret;
	if (!ret)
		return 0;
	pause_journal_remove(o->target);
	close_guardian(o);
	return ret;
}

enum gpreempt_class pause_owner_text(const struct pause_owner *o, int code,
				     char *buf, size_t size)
{
	return o->is_alone ? hold_no_guardian_text(code, o->target, buf, size) :
			     hold_not_noted_text(code, o->target, buf, size);
}

int pause_owner_end(struct pause_owner *o, bool runs)
{
	int ret = 0;

	if (!o->is_noted)
		return 0;
	o->is_noted = false;
	if (runs)
		ret = pause_journal_remove(o->target);
	if (!o->guarded)
		close_guardian(o);
	return ret;
}

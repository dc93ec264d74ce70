// SPDX-License-Identifier: GPL-2.0-only
#include <unistd.h>

#include "agent/holder-lock.h"
#include "agent/owner-text.h"
#include "agent/pause-journal.h"
#include "agent/pause-owner.h"

/* Keepers that there are see it and end; until then the lock is theirs. */
static void close_keepers(struct pause_owner *o)
{
	if (o->keepers.first)
		close(o->keepers.confirm);
	o->keepers.first = 0;
	hold_drop(o->target, o->lock);
	o->lock = -1;
}

int pause_owner_begin(struct pause_owner *o, const struct hold_owner *as)
{
	struct pause_entry entry;
	int ret;

	pause_entry_init(&entry, o->target, o->start);
	ret = pause_journal_write(&entry);
	if (ret)
		return ret;
	ret = pause_keepers_start(o->lock, o->target, o->start, 0, &o->keepers);
	o->is_alone = ret;
	if (!ret)
		ret = hold_write_owner(o->lock, as);
	o->is_noted = !ret;
	if (!ret)
		return 0;
	pause_journal_remove(o->target);
	close_keepers(o);
	return ret;
}

enum gpreempt_class pause_owner_text(const struct pause_owner *o, int code,
				     char *buf, size_t size)
{
	return o->is_alone ? hold_no_keepers_text(code, o->target, buf, size) :
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
	close_keepers(o);
	return ret;
}

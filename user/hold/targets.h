/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Selection of processes by TARGET words, for a command. A word "cmd:" is compared with command
 * lines, which are in the memory of the processes: a process can map its own from a file system
 * that never answers. A child process reads them and is left behind if it hangs; the process
 * that does not answer is named in a note, and has no command line from then on.
 */
#ifndef HOLD_TARGETS_H
#define HOLD_TARGETS_H

#include <gpreempt/select.h>

#include "run-dir.h"

/* Are both the same process? A number alone may be that of another one by now. */
bool same_target(const struct gpreempt_target *a, const struct gpreempt_target *b);

#define FIND_MUTE 8 /* processes that do not answer; then it fails */

/* Search of a command, one look after the other. All 0 but for the members that the caller sets. */
struct find {
	/* Set by the caller: */
	struct gpreempt *g;
	bool saved; /* g reads a snapshot: this host has neither process nor holder */
	bool sure;  /* without processes in doubt */
	/* Called all the time during the search; or NULL. A look at all can take seconds. */
	void (*beat)(void *data);
	void *data;

	struct hold_owners owners;
	struct gpreempt_target mute[FIND_MUTE];
	size_t n_mute;
};

/*
 * Do the same as gpreempt_select(). -ETIMEDOUT: too many processes do not answer. @err must not
 * be NULL; *out is for gpreempt_list_free(), @f for find_free().
 */
int find_targets(struct find *f, const char *const *words, size_t count,
		 struct gpreempt_targets **out, struct gpreempt_error *err);
void find_free(struct find *f);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of libgpreempt: a session that is opened again when another process ended
 * it. Included by gpreempt.h.
 */
#ifndef GPREEMPT_KEEPER_H
#define GPREEMPT_KEEPER_H

#include <gpreempt/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * struct gpreempt_keeper - a session that is opened again when it is lost
 * @session: open; it stays the caller's, who closes it
 * @lost: or NULL; called before each renewal, with the reason of the loss
 * @data: given to @lost
 * @over: 0, or the negative errno value of a loss that was not renewed
 * @losses: the library's, 0 at first: losses in short order
 * @last_ns: the library's, 0 at first: the time of the last loss
 * @reserved: 0; a later release may use it
 *
 * Any process that may open /dev/kfd can end a debug session (Linux 6.18 and
 * older). The functions below renew a session that was lost, and the queues are
 * again as they were wanted. After six losses with less than 10 s between them
 * they give up: the session stays lost, its queues run, and all later calls
 * return @over, because what was wanted must not be done without the caller's
 * knowledge. The process is still traced then: close the session, or pass its
 * signals on with gpreempt_session_dispatch().
 */
struct gpreempt_keeper {
	struct gpreempt_session *session;
	void (*lost)(void *data, const struct gpreempt_error *err);
	void *data;
	int over;
	unsigned int losses;
	uint64_t last_ns;
	uint64_t reserved[4];
};

/**
 * gpreempt_keeper_dispatch() - gpreempt_session_dispatch(), and renew
 * @k: keeper
 *
 * Its thread.
 *
 * Return: as gpreempt_session_dispatch(); GPREEMPT_EVENT_LOST when it was lost
 * and is open again. -ENOTCONN when it was lost too often, or as
 * gpreempt_session_renew().
 */
int gpreempt_keeper_dispatch(struct gpreempt_keeper *k);

/**
 * gpreempt_keeper_suspend() - gpreempt_session_suspend(), and renew
 * @k: keeper
 * @which: or NULL for all
 * @out: or NULL; what a renewal has suspended is not counted in it
 *
 * Its thread.
 *
 * Return: as gpreempt_session_suspend(), or as gpreempt_keeper_dispatch() when
 * it was lost.
 */
int gpreempt_keeper_suspend(struct gpreempt_keeper *k,
			    const struct gpreempt_filter *which,
			    struct gpreempt_outcome *out);

/** gpreempt_keeper_resume() - let queues run again; as suspend */
int gpreempt_keeper_resume(struct gpreempt_keeper *k,
			   const struct gpreempt_filter *which,
			   struct gpreempt_outcome *out);

/** gpreempt_keeper_refresh() - gpreempt_session_refresh(); as suspend */
int gpreempt_keeper_refresh(struct gpreempt_keeper *k);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif

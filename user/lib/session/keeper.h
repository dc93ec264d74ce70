/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GP_KEEPER_H
#define GP_KEEPER_H

#include <gpreempt/session.h>

/*
 * A session that is opened again when it is lost. Any process that may open
 * /dev/kfd can end a debug session (Linux 6.18 and older). The functions below
 * renew a session that was lost, and the queues are again as they were wanted.
 * After six losses with less than 10 s between them they give up: the session
 * stays lost, its queues run, and all later calls return @over, because what was
 * wanted must not be done without the caller's knowledge. The process is still
 * traced then: close the session, or pass its signals on with
 * gpreempt_session_dispatch().
 */
struct gp_keeper {
	struct gpreempt_session *session; /* the caller's, who closes it */
	/* Or NULL; called before each renewal, with the reason of the loss. */
	void (*lost)(void *data, const struct gpreempt_error *err);
	void *data;
	int over; /* 0, or the -errno of a loss that was not renewed */
	unsigned int losses; /* in short order */
	uint64_t last_ns;    /* time of the last one */
};

/*
 * As gpreempt_session_dispatch() and its like, in the session's thread, and renew.
 * GPREEMPT_EVENT_LOST when it was lost and is open again; -ENOTCONN when it was
 * lost too often, or as gpreempt_session_renew(). What a renewal has suspended is
 * not counted in @out.
 */
int gp_keeper_dispatch(struct gp_keeper *k);
int gp_keeper_suspend(struct gp_keeper *k, const struct gpreempt_filter *which,
		      struct gpreempt_outcome *out);
int gp_keeper_resume(struct gp_keeper *k, const struct gpreempt_filter *which,
		     struct gpreempt_outcome *out);
int gp_keeper_refresh(struct gp_keeper *k);

#endif

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Opening and closing a session. */
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "lib/session/sampler.h"
#include "lib/session/session.h"

#define OPEN_TRIES 100

static struct gpreempt_session *new_session(struct gpreempt *g, pid_t pid)
{
	struct gpreempt_session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->g = g;
	s->grace = GPREEMPT_GRACE_DEFAULT;
	s->kfd = (struct gp_kfd){ .g = g, .fd = -1, .pid = pid };
	s->events = -1;
	s->stops = -1;
	s->timer = -1;
	s->epoll = -1;
	return s;
}

static void free_session(struct gpreempt_session *s)
{
	gp_sampler_stop(s->sampler);
	gp_reader_stop(s->reader);
	shr_cleanup_fd(&s->kfd.fd);
	shr_cleanup_fd(&s->events);
	shr_cleanup_fd(&s->timer);
	shr_cleanup_fd(&s->epoll);
	free(s->queues);
	free(s->spare);
	free(s->snapshot);
	free(s);
}

/*
 * The driver takes all locks of our memory for it, and gives up with EINTR
 * when a signal is pending. One that stays pending would have us try for ever.
 */
static int open_kfd(const struct gpreempt *g)
{
	int tries, ret = -EINTR;

	for (tries = 0; ret == -EINTR && tries < OPEN_TRIES; tries++)
		ret = g->ops->open_kfd(g->be);
	return ret;
}

static int open_device(struct gpreempt_session *s)
{
	static const char step[] = "opening /dev/kfd";
	unsigned int major, minor;
	int ret;

	ret = open_kfd(s->g);
	if (ret == -EINTR)
		return gp_session_fail(s, ret, GPREEMPT_SYSTEM, step);
	if (ret == -EACCES || ret == -EPERM)
		return gp_session_fail(s, ret, GPREEMPT_NOT_ROOT, step);
	if (ret == -EBUSY) /* a helper of this process is stuck: see apart.h */
		return gp_session_fail(s, ret, GPREEMPT_STUCK,
				       "a helper still waits for another process");
	if (ret < 0)
		return gp_session_fail(s, ret, GPREEMPT_NO_KFD, step);
	s->kfd.fd = ret;
	ret = gp_kfd_version(&s->kfd, &major, &minor);
	if (ret)
		return gp_session_fail(s, ret, GPREEMPT_SYSTEM,
				       "asking the driver for its version");
	if (major == 1 && minor >= 13)
		return 0;
	gp_session_fail(s, -ENOTSUP, GPREEMPT_KFD_VERSION, step);
	s->error.major = major;
	s->error.minor = minor;
	return -ENOTSUP;
}

static int open_timers(struct gpreempt_session *s)
{
	struct epoll_event event = {
		.events = EPOLLIN,
		.data.ptr = &s->timer,
	};

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->epoll < 0 || s->timer < 0 ||
	    epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->timer, &event) < 0)
		return gp_session_fail(s, -errno, GPREEMPT_SYSTEM, "making a timer");
	return 0;
}

/*
 * The session's own thread has to trace the process, and could not be abandoned if it
 * waited: it is the caller's.
 */
static int check_answers(struct gpreempt_session *s)
{
	int ret = s->g->ops->try_trace(s->g->be, s->kfd.pid);

	return ret == -ETIMEDOUT ?
		       gp_session_fail(s, ret, GPREEMPT_STUCK, "it is executing a program") :
		       0;
}

static int open_session(struct gpreempt_session *s)
{
	uint64_t before, after;
	int ret;

	ret = gpreempt_check(s->g, s->kfd.pid, &s->error);
	if (ret)
		return ret;
	ret = gpreempt_start_time(s->g, s->kfd.pid, &before);
	if (ret)
		return gp_session_fail(s, ret, GPREEMPT_NO_PROCESS, "looking at the process");
	ret = check_answers(s);
	if (!ret)
		ret = open_device(s);
	if (ret)
		return ret;
	ret = open_timers(s);
	if (ret)
		return ret;
	ret = gp_session_attach(s);
	if (ret)
		return ret;
	/* A traced process keeps its number; it may be another's by now. */
	ret = gpreempt_start_time(s->g, s->kfd.pid, &after);
	if (ret || before != after)
		return gp_session_fail(s, -ESRCH, GPREEMPT_ENDED, "looking at the process again");
	ret = gp_session_enable(s);
	if (ret)
		return ret;
	s->state = GP_SESSION_OPEN;
	ret = gpreempt_session_refresh(s);
	if (!ret)
		gp_release_start(s);
	return ret;
}

int gpreempt_session_open(struct gpreempt *g, pid_t pid, struct gpreempt_session **out,
			  struct gpreempt_error *err)
{
	struct gpreempt_session *s = new_session(g, pid);
	int ret;

	if (!s)
		return gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, pid, "getting memory");
	ret = open_session(s);
	if (ret) {
		if (err)
			*err = s->error;
		gpreempt_session_close(s);
		return ret;
	}
	/* Here it delays no process that ends. Without it, it is tried again. */
	if (gp_reader_start(g, pid, &s->reader))
		s->reader = NULL;
	*out = s;
	return 0;
}

int gpreempt_session_close(struct gpreempt_session *s)
{
	int ret;

	if (!s)
		return 0;
	ret = gp_session_leave(s, false);
	free_session(s);
	return ret;
}

int gpreempt_session_fd(const struct gpreempt_session *s)
{
	return s->epoll;
}

const struct gpreempt_error *gpreempt_session_error(const struct gpreempt_session *s)
{
	return &s->error;
}

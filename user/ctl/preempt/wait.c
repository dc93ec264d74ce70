// SPDX-License-Identifier: GPL-2.0-only
/* Wait, and look after the targets meanwhile. */
#include <errno.h>
#include <poll.h>

#include "ctl/preempt/preempt.h"
#include "shared/clock.h"

int preempt_fail(struct preempt *p, int code, enum gpreempt_reason reason,
		 pid_t pid, const char *step)
{
	p->err = (struct gpreempt_error){
		.code = code,
		.reason = reason,
		.pid = pid,
		.step = step,
	};
	return code;
}

/* Has a target gone, or its session? */
static int check_events(struct preempt *p)
{
	size_t i;

	gpreempt_gang_members(p->gang, p->members, p->n_targets);
	for (i = 0; i < p->n_targets; i++) {
		const struct gpreempt_member *m = &p->members[i];

		if (m->events & GPREEMPT_EVENT_ENDED) {
			p->err = m->error;
			return -ESRCH;
		}
		if (m->events & GPREEMPT_EVENT_LOST)
			return preempt_fail(p, -ENOTCONN, GPREEMPT_LOST, m->pid,
					    "watching the process");
	}
	return 0;
}

/* In short pieces, so that the heart beats. */
int preempt_wait(struct preempt *p, uint64_t ns, int fd)
{
	uint64_t start = shr_now_ns();
	struct pollfd fds[] = {
		{ .fd = p->stop, .events = POLLIN },
		{ .fd = gpreempt_gang_fd(p->gang), .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};

	for (;;) {
		uint64_t passed = shr_now_ns() - start;
		uint64_t left = passed < ns ? ns - passed : 0;
		struct timespec ts = { 0 };
		int ret;

		heartbeat_beat(&p->heartbeat);
		if (left > HEARTBEAT_TICK_NS)
			left = HEARTBEAT_TICK_NS;
		ts.tv_nsec = left;
		ret = ppoll(fds, ARRAY_SIZE(fds), &ts, NULL);
		if (ret < 0 && errno != EINTR)
			return preempt_fail(p, -errno, GPREEMPT_SYSTEM, 0,
					    "waiting");
		if (ret > 0 && fds[0].revents) {
			p->interrupted = true;
			return -EINTR;
		}
		if (ret > 0 && fds[1].revents) {
			ret = check_events(p);
			if (ret)
				return ret;
		} else if (ret > 0 && fds[2].revents) {
			return 0;
		}
		if (passed >= ns)
			return 0;
	}
}

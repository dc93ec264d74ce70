// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread of an offline process: it has the session, which only it may use,
 * and keeps it warm so that a preemption is one ioctl.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "ctl/guard.h"
#include "ctl/nudge.h"
#include "shared/clock.h"

/* Somebody who ends our session again and again is stronger than we are. */
#define MAX_LOSSES 5
#define LOSS_MEMORY_NS (10 * NSEC_PER_SEC)

static void beat(struct guard_worker *w)
{
	atomic_store(&w->beat_ns, shr_now_ns());
}

static void tell_busy(void *data, bool busy)
{
	struct guard_worker *w = data;

	atomic_store(&w->busy, busy);
	beat(w);
	nudge_busy(busy);
}

bool guard_worker_well(const struct guard_worker *w)
{
	uint64_t limit = atomic_load(&w->busy) ? HOLD_BUSY_NS :
						 HOLD_SILENCE_NS;

	return atomic_load(&w->state) == GUARD_ENDED ||
	       shr_now_ns() < atomic_load(&w->beat_ns) + limit;
}

static void push_result(struct guard_worker *w, struct guard_result *result)
{
	struct guard *guard = w->guard;

	result->pid = w->pid;
	pthread_mutex_lock(&guard->results_lock);
	if (guard->n_results < GUARD_RESULTS)
		guard->results[guard->n_results++] = *result;
	pthread_mutex_unlock(&guard->results_lock);
}

static void make_filter(const struct guard_worker *w, uint64_t nodes,
			uint32_t *gpu_ids, struct gpreempt_filter *out)
{
	size_t i, n = 0;

	for (i = 0; i < GUARD_NODES; i++)
		if (nodes & (1ULL << i))
			gpu_ids[n++] = w->guard->gpu_id[i];
	*out = (struct gpreempt_filter){ .gpu_ids = gpu_ids, .n_gpu_ids = n };
}

/* One ioctl, for the queues on these nodes. */
static int call(struct guard_worker *w, const struct guard_order *order,
		uint64_t nodes, bool suspend)
{
	struct guard_result result = {
		.suspend = suspend,
		.nodes = nodes,
		.reason = order->reason,
		.arrival_ns = suspend ? order->arrival_ns : 0,
	};
	/* Resumed everywhere: also what was made there meanwhile. */
	bool all = !suspend && !order->nodes;
	struct gpreempt_outcome outcome = { 0 };
	uint32_t gpu_ids[GUARD_NODES];
	struct gpreempt_filter filter;

	make_filter(w, nodes, gpu_ids, &filter);
	result.start_ns = shr_now_ns();
	result.code = suspend ?
		gpreempt_session_suspend(w->session, &filter, &outcome) :
		gpreempt_session_resume(w->session, all ? NULL : &filter,
					&outcome);
	result.end_ns = shr_now_ns();
	/* No runtime yet: what comes of it is suspended as it comes. */
	if (result.code == -EPERM)
		result.code = 0;
	if (!result.code && outcome.failed)
		result.code = -EIO;
	result.requested = outcome.requested;
	result.done = outcome.done;
	push_result(w, &result);
	return result.code;
}

static void obey(struct guard_worker *w)
{
	struct guard_order order;
	uint64_t add, drop;

	pthread_mutex_lock(&w->lock);
	order = w->order;
	pthread_mutex_unlock(&w->lock);
	add = order.nodes & ~w->have;
	drop = w->have & ~order.nodes;
	/*
	 * The policy is told of what fails, and asks again later. The driver
	 * may have marked queues that the hardware did not let go of.
	 */
	if (add && !call(w, &order, add, true))
		w->have |= add;
	else if (add)
		gpreempt_session_resume(w->session, NULL, NULL);
	if (drop && !call(w, &order, drop, false))
		w->have &= ~drop;
}

static int renew(struct guard_worker *w)
{
	uint64_t now = shr_now_ns();

	if (now > w->lost_ns + LOSS_MEMORY_NS)
		w->losses = 0;
	w->lost_ns = now;
	if (++w->losses > MAX_LOSSES)
		return -ENOTCONN;
	return gpreempt_session_renew(w->session, NULL);
}

static int attend(struct guard_worker *w)
{
	int ret = gpreempt_session_dispatch(w->session);

	if (ret < 0)
		return ret;
	if (ret & GPREEMPT_EVENT_ENDED)
		return -ESRCH;
	return ret & GPREEMPT_EVENT_LOST ? renew(w) : 0;
}

static void fail(struct guard_worker *w, int code, const char *step)
{
	w->error = (struct gpreempt_error){
		.code = code, .reason = GPREEMPT_SYSTEM,
		.pid = w->pid, .step = step,
	};
}

static void life(struct guard_worker *w)
{
	struct timespec tick = { .tv_nsec = HOLD_TICK_NS };
	struct pollfd fds[] = {
		{ .fd = gpreempt_session_fd(w->session), .events = POLLIN },
		{ .fd = w->wake, .events = POLLIN },
	};
	uint64_t count;
	int ret = 0;

	atomic_store(&w->state, GUARD_READY);
	while (!ret && !atomic_load(&w->quit)) {
		/* An order first: somebody waits for the GPU. */
		if (ppoll(fds, ARRAY_SIZE(fds), &tick, NULL) > 0 &&
		    fds[1].revents && read(w->wake, &count, sizeof(count)) > 0)
			obey(w);
		ret = attend(w);
		beat(w);
	}
	if (ret)
		w->error = *gpreempt_session_error(w->session);
	if (ret && !w->error.code)
		fail(w, ret, "holding it");
}

static void *worker_thread(void *arg)
{
	struct guard_worker *w = arg;
	struct gpreempt_options setup = {
		.size = sizeof(setup),
		.busy = tell_busy,
		.data = w,
	};
	int ret;

	beat(w);
	ret = gpreempt_new(&setup, &w->g);
	if (ret)
		fail(w, ret, "setting up");
	else if (!gpreempt_session_open(w->g, w->pid, &w->session, &w->error))
		life(w);
	gpreempt_session_close(w->session);
	gpreempt_free(w->g);
	atomic_store(&w->state, GUARD_ENDED);
	return NULL;
}

int guard_worker_start(struct guard *guard, pid_t pid,
		       struct guard_worker **out)
{
	struct guard_worker *w = calloc(1, sizeof(*w));
	int ret;

	if (!w)
		return -ENOMEM;
	w->guard = guard;
	w->pid = pid;
	pthread_mutex_init(&w->lock, NULL);
	beat(w);
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = w->wake < 0 ? -errno :
	      -pthread_create(&w->thread, NULL, worker_thread, w);
	if (ret) {
		if (w->wake >= 0)
			close(w->wake);
		free(w);
		return ret;
	}
	*out = w;
	return 0;
}

static void wake(struct guard_worker *w)
{
	uint64_t one = 1;
	ssize_t n;

	do {
		n = write(w->wake, &one, sizeof(one));
	} while (n < 0 && errno == EINTR);
}

void guard_worker_order(struct guard_worker *w, const struct guard_order *order)
{
	pthread_mutex_lock(&w->lock);
	w->order = *order;
	pthread_mutex_unlock(&w->lock);
	wake(w);
}

void guard_worker_end(struct guard_worker *w)
{
	atomic_store(&w->quit, true);
	wake(w);
	pthread_join(w->thread, NULL);
	close(w->wake);
	free(w);
}

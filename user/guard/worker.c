// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process of an offline target: it owns the target. It keeps a session warm so that a
 * preemption is one ioctl; or it pauses the target. It is a process, not a thread: a process that
 * has opened /dev/kfd keeps the driver from switching partitions for as long as it lives; one that
 * hangs in the driver keeps no other waiting; and one that is killed releases its own target only.
 */
#include <errno.h>
#include <string.h>

#include "hold/escape.h"
#include "hold/owner.h"
#include "guard.h"
#include "cli/message.h"
#include "shared/cgroup.h"
#include "shared/util.h"

/* Watching slots costs a CPU for as long as a suspend takes. */
#define SAMPLE_EVERY_NS NSEC_PER_SEC
/* Times between looks for a stop of a paused target, and after a failure. */
#define LOOK_NS	  (50 * NSEC_PER_MSEC)
#define RETRY_NS  NSEC_PER_SEC
#define ALL_NODES UINT64_MAX

struct worker {
	const struct guard_job *job;
	struct guard_channel *channel;
	uint64_t have;	     /* nodes on which it is suspended */
	uint64_t arrival_ns; /* arrival of the last order */
	bool again;	     /* the last order could not be read */
	bool late;	     /* the poller, which would resume, is away */
	bool stopped;	     /* by job control, which we follow */
	uint64_t look_ns;    /* when to look at stopped again */
	struct shr_freezer freezer;
	struct heartbeat heartbeat;
	struct owner owner;
	uint64_t sample_ns; /* slots are not watched again before then */
	bool blind;	    /* they cannot be */
};

/* Guard watches us, too. */
static void tell_guard(void *data, bool busy)
{
	struct worker *w = data;

	atomic_store(&w->channel->busy, busy);
	atomic_store(&w->channel->beat_ns, shr_now_ns());
}

static void make_filter(const struct worker *w, uint64_t nodes, uint32_t *gpu_ids,
			struct gpreempt_filter *out)
{
	size_t i, n = 0;

	for (i = 0; i < GUARD_NODES; i++)
		if (nodes & (1ULL << i))
			gpu_ids[n++] = w->job->common->gpu_id[i];
	*out = (struct gpreempt_filter){ .gpu_ids = gpu_ids, .n_gpu_ids = n };
}

/* Switch the measurement. Without the module there is none, and the rest works. */
static void set_sampling(struct worker *w, uint64_t now)
{
	bool due = w->job->sample_each || now >= w->sample_ns;

	if (owner_is_paused(&w->owner) || (!due && w->blind))
		return;
	w->blind = gp_session_sample_slots(w->owner.method.keeper.session,
					   due ? GPREEMPT_SAMPLE_BESIDE : GPREEMPT_SAMPLE_PAUSE);
	if (due)
		w->sample_ns = now + SAMPLE_EVERY_NS;
}

/* Returns the time when the driver returned, or failed: not when the slots were seen. */
static uint64_t end_of(const struct worker *w, uint64_t start_ns,
		       const struct gpreempt_outcome *outcome)
{
	if (owner_is_paused(&w->owner) && w->owner.method.pause.return_ns > start_ns)
		return w->owner.method.pause.return_ns;
	return !owner_is_paused(&w->owner) && outcome->ioctl_ns ? start_ns + outcome->ioctl_ns :
								  shr_now_ns();
}

/* Report the method once: it stays so. */
static void tell_method(struct worker *w)
{
	if (!owner_is_paused(&w->owner) || atomic_load(&w->channel->paused))
		return;
	w->channel->why = w->owner.why;
	atomic_store(&w->channel->paused, true);
}

/* Make one ioctl, for the queues on these nodes. */
static void call(struct worker *w, const struct guard_order *order, uint64_t nodes, bool suspend)
{
	struct guard_result result = {
		.pid = w->job->target,
		.suspend = suspend,
		.nodes = nodes,
		.reason = order->reason,
		.arrival_ns = suspend ? order->arrival_ns : 0,
	};
	/* A suspend on all nodes takes the queues that were made meanwhile, too. */
	bool all = suspend ? nodes == ALL_NODES : !order->nodes;
	struct gpreempt_outcome outcome = { .slots_ns = GPREEMPT_UNKNOWN };
	struct gpreempt_filter filter, *which = all ? NULL : &filter;
	uint32_t gpu_ids[GUARD_NODES];

	make_filter(w, nodes, gpu_ids, &filter);
	result.start_ns = shr_now_ns();
	result.code = suspend ? owner_suspend(&w->owner, which, &outcome) :
				owner_resume(&w->owner, which, &outcome);
	result.end_ns = end_of(w, result.start_ns, &outcome);
	result.slots_ns = outcome.slots_ns;
	/* The target has no runtime yet: its queues are suspended as they come. */
	if (result.code == -EPERM && !owner_is_paused(&w->owner))
		result.code = 0;
	if (!result.code && outcome.failed)
		result.code = -EIO;
	if (result.code)
		result.error = *owner_error(&w->owner);
	else
		w->have = suspend ? w->have | nodes : w->have & ~nodes;
	result.held = w->have;
	result.requested = outcome.requested;
	result.done = outcome.done;
	tell_method(w);
	guard_channel_give(w->channel, &result);
	/* The driver may have marked queues that the hardware did not release. */
	if (suspend && result.code && !owner_is_paused(&w->owner))
		owner_resume(&w->owner, which, NULL);
}

/* Read the order. While the poller is late, nothing is to be held, but for job control. */
static void get_order(struct worker *w, struct guard_order *order)
{
	uint64_t arrival_ns;

	w->again = !guard_channel_get_order(w->channel, order);
	if (w->again)
		*order = (struct guard_order){ .nodes = w->have, .arrival_ns = w->arrival_ns };
	arrival_ns = order->arrival_ns;
	if (w->late)
		*order = (struct guard_order){ .reason = GPREEMPT_POLICY_RELEASED };
	else if (arrival_ns == w->arrival_ns)
		order->arrival_ns = 0;
	w->arrival_ns = arrival_ns;
	if (w->stopped)
		*order = (struct guard_order){
			.nodes = ALL_NODES,
			.reason = GPREEMPT_POLICY_JOB_CONTROL,
		};
}

/* A pause takes the target off all nodes, and ends when the order names no node. */
static void obey_whole(struct worker *w, const struct guard_order *order)
{
	if (order->nodes && w->have)
		w->have = order->nodes;
	else if (order->nodes || w->have)
		call(w, order, order->nodes | w->have, order->nodes);
}

static void obey(struct worker *w, bool by_job_control)
{
	struct guard_order order;
	uint64_t add, drop;

	get_order(w, &order);
	if (by_job_control)
		order.reason = GPREEMPT_POLICY_JOB_CONTROL;
	if (owner_is_paused(&w->owner)) {
		obey_whole(w, &order);
		return;
	}
	add = order.nodes & ~w->have;
	drop = w->have & ~order.nodes;
	/* The policy gets the failure, and retries later. */
	if (add)
		call(w, &order, add, true);
	if (drop)
		call(w, &order, drop, false);
	/* Set the sampling while no online work waits for it. */
	if (drop)
		set_sampling(w, shr_now_ns());
}

/* How long some queue has run although it was to be suspended. */
static void give_released(struct worker *w, bool too_much)
{
	struct guard_channel *c = w->channel;
	struct gpreempt_released released;

	gp_session_released(w->owner.method.keeper.session, &released);
	atomic_store(&c->released_ns, released.total_ns);
	atomic_store(&c->unseen, released.unseen);
	if (!too_much)
		return;
	atomic_store(&c->recent_ns, released.recent_ns);
	atomic_store(&c->window_ns, released.window_ns);
	atomic_store(&c->made, released.made > 0);
	atomic_fetch_add(&c->churns, 1);
}

/* Has job control stopped it, or does it go on, and have we not followed that yet? */
static bool follow(struct worker *w)
{
	bool was = w->stopped;
	uint64_t now = shr_now_ns();

	if (!w->job->follow || now < w->look_ns)
		return false;
	w->look_ns = now + LOOK_NS;
	shr_freezer_read(&w->freezer);
	w->stopped = owner_is_stopped(&w->owner) || w->freezer.frozen;
	if (w->stopped == was && (!w->stopped || w->have == ALL_NODES))
		return false;
	/* Do not try again all the time. */
	if (w->stopped == was)
		w->look_ns = now + RETRY_NS;
	return true;
}

static int dispatch(struct worker *w)
{
	int ret = owner_dispatch(&w->owner);

	if (ret < 0)
		return ret;
	if (ret & GPREEMPT_EVENT_QUEUES)
		atomic_fetch_add(&w->channel->queues, 1);
	/* No queue of a paused process runs. */
	if (!owner_is_paused(&w->owner))
		give_released(w, ret & GPREEMPT_EVENT_CHURN);
	return ret & GPREEMPT_EVENT_ENDED ? -ESRCH : 0;
}

/* Is there an order, or a reason to think of the last one again? */
static bool ordered(struct worker *w, bool woken)
{
	const struct guard_common *common = w->job->common;
	bool before = w->late;
	uint64_t count;

	w->late = shr_now_ns() > atomic_load(&common->beat_ns) + common->late_ns;
	return (woken && read(w->job->wake, &count, sizeof(count)) > 0) || w->late != before ||
	       w->again;
}

static void serve(struct worker *w)
{
	const struct shr_freezer *freezer = w->job->follow ? &w->freezer : NULL;
	struct pollfd fds[] = { [OWNER_OTHERS] = { .fd = w->job->wake, .events = POLLIN } };
	int ret = 0;

	tell_method(w);
	atomic_store(&w->channel->state, GUARD_READY);
	while (!ret && !atomic_load(&w->channel->quit)) {
		int n = owner_wait(&w->owner, freezer, fds, ARRAY_SIZE(fds), HEARTBEAT_TICK_NS);

		/* An order first: online work waits for the GPU. */
		if (ordered(w, n > 0 && fds[OWNER_OTHERS].revents))
			obey(w, false);
		ret = dispatch(w);
		if (n > 0 && (fds[OWNER_TARGET].revents || fds[OWNER_FREEZER].revents))
			w->look_ns = 0;
		if (!ret && follow(w))
			obey(w, true);
		heartbeat_beat(&w->heartbeat);
	}
	if (ret)
		w->channel->error = *owner_error(&w->owner);
	if (ret && !w->channel->error.code)
		ctl_set_error(&w->channel->error, ret, GPREEMPT_SYSTEM, w->job->target,
			      "holding it");
}

static void count_loss(void *data, const struct gpreempt_error *err)
{
	struct guard_channel *c = data;

	if (err->reason == GPREEMPT_PAUSE_OFF)
		atomic_store(&c->off, true);
	atomic_fetch_add(&c->losses, 1);
}

void guard_work(const struct guard_job *job, struct guard_channel *channel)
{
	bool alone = shr_processors() == 1;
	struct worker w = {
		.job = job,
		.channel = channel,
		.heartbeat = { .also = tell_guard, .data = &w },
		.freezer = { .root = -1, .dir = -1, .events = -1 },
		/* On one processor, slots cannot be watched beside the ioctl. */
		.sample_ns = alone ? UINT64_MAX : 0,
		.blind = alone,
		.owner = {
			.target = job->target,
			.heartbeat = &w.heartbeat,
			.how = job->how,
			.lock = job->lock,
			.as = { .role = HOLD_ROLE_GUARD, .pid = getpid(), .guardian = job->guard },
			.lost = count_loss,
			.data = channel,
		},
	};
	int ret;

	shr_ask_short_slices();
	/* The freezer looks again for a cgroup that is not known now. */
	if (job->follow)
		shr_freezer_open(&w.freezer, job->target);
	ret = capabilities_keep(CAPABILITIES_HOLDER);
	if (!ret)
		ret = heartbeat_start(&w.heartbeat);
	if (ret) {
		ctl_set_error(&channel->error, ret, GPREEMPT_SYSTEM, job->target, "setting up");
	} else if (!owner_open(&w.owner, &channel->error)) {
		set_sampling(&w, shr_now_ns());
		serve(&w);
	}
	/* Guard learns of a resume at the end in no other manner. */
	if (owner_close(&w.owner) && w.owner.error.reason == GPREEMPT_PAUSE_OFF)
		channel->error = w.owner.error;
	shr_freezer_close(&w.freezer);
	atomic_store(&channel->state, GUARD_ENDED);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The poller: sees work come and go, asks the policy, and gives orders.
 *
 * It reads memory of other processes, without the lock, and such a read may
 * never end. The process that is being read is left out until that read returns;
 * another thread takes over: poll-threads.c.
 */
#include <sys/prctl.h>
#include <time.h>

#include "guard/guard.h"
#include "shared/clock.h"

/* It looks for new targets at least that often. */
#define MAX_SLEEP_NS (20 * NSEC_PER_MSEC)
/* To ask for its CPU time takes as long as a look. */
#define LOOKS_A_COUNT 64

/* What was seen of one. Under the lock. */
static void note_seen(struct guard *guard, struct guard_online *online, int seen, uint64_t now)
{
	bool busy = seen == GUARD_BUSY, before = online->busy;
	struct guard_turn *turn = &guard->turn;
	bool new = !online->looked;

	online->looked = true;
	online->gone |= seen < 0;
	if (seen == GUARD_BUSY || seen == GUARD_PULSE)
		turn->worked_ns = now;
	if (busy == before && seen != GUARD_PULSE)
		return;
	guard_work_note(guard, online->target.pid, seen, now);
	/* When the work of a new one came is not known. */
	if (!before && seen > 0 && !new)
		turn->arrival_ns = turn->looked_ns;
	if (seen == GUARD_PULSE)
		gpreempt_policy_busy(guard->policy, online->entity, true, now);
	gpreempt_policy_busy(guard->policy, online->entity, busy, now);
	online->busy = busy;
	guard->changed = true;
}

/* The offline process of an entity, among those that changed. */
static struct guard_offline *find_entity(struct guard *guard, int entity, uint64_t *nodes)
{
	size_t i;

	for (i = 0; i < guard->n_offline; i++) {
		*nodes = guard_nodes_of_entity(guard, &guard->offline[i], entity);
		if (*nodes)
			return &guard->offline[i];
	}
	return NULL;
}

static void give_order(const struct guard *guard, struct guard_offline *offline,
		       enum gpreempt_policy_reason reason)
{
	struct guard_order order = {
		.nodes = offline->want,
		.reason = reason,
		.arrival_ns = reason == GPREEMPT_POLICY_ARRIVAL ? guard->turn.arrival_ns : 0,
	};

	guard_worker_order(offline->worker, &order);
}

/* One order for each process, whatever number of nodes it is about. */
static void carry_out(struct guard *guard, unsigned int n)
{
	enum gpreempt_policy_reason reasons[GUARD_TARGETS];
	const struct gpreempt_policy_action *action;
	uint64_t changed = 0, nodes;
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct guard_offline *offline;

		action = &guard->turn.actions[i];
		offline = find_entity(guard, action->entity, &nodes);
		if (!offline)
			continue;
		if (action->suspend)
			offline->want |= nodes;
		else
			offline->want &= ~nodes;
		reasons[offline - guard->offline] = action->reason;
		changed |= 1ULL << (offline - guard->offline);
	}
	for (i = 0; i < guard->n_offline; i++)
		if (changed & (1ULL << i))
			give_order(guard, &guard->offline[i], reasons[i]);
}

/* Then nothing is read any more, but servers may still ask. */
static bool no_more_threads(const struct guard *guard)
{
	return !guard->turn.has_stand_in && guard->turn.threads > GUARD_STUCK;
}

/*
 * Begin to read one; NULL: it is not answering the read of another thread, or
 * cannot be read. Under the lock.
 */
static struct guard_sight *claim(struct guard *guard, struct guard_online *online, uint64_t now)
{
	struct guard_sight *sight = online->sight;

	if (sight->since_ns) {
		if (now > sight->since_ns + GUARD_SILENT_NS)
			note_seen(guard, online, GUARD_IDLE, now);
		return NULL;
	}
	if (online->gone || no_more_threads(guard)) {
		note_seen(guard, online, GUARD_IDLE, now);
		return NULL;
	}
	/* It is on its way; without it the last thread would be caught. */
	if (!guard->turn.has_stand_in)
		return NULL;
	guard_sight_update(sight, online);
	sight->since_ns = now;
	guard->turn.since_ns = now;
	return sight;
}

/* The read has returned, in time or not. Under the lock. */
static void give_back(struct guard *guard, struct guard_sight *sight, int seen, bool in_time,
		      uint64_t now)
{
	size_t i;

	sight->since_ns = 0;
	if (in_time)
		guard->turn.since_ns = 0;
	for (i = 0; in_time && i < guard->n_online; i++)
		if (guard->online[i].sight == sight)
			note_seen(guard, &guard->online[i], seen, now);
	if (sight->left)
		free(sight);
}

/* Under the lock, but for the reads. False: another thread has taken over. */
static bool look_at_all(struct guard *guard, unsigned int me, uint64_t now)
{
	struct guard_turn *turn = &guard->turn;
	struct guard_sight *sight;
	bool in_time = true;
	size_t i;
	int seen;

	turn->arrival_ns = 0;
	for (i = 0; in_time && i < guard->n_online; i++) {
		sight = claim(guard, &guard->online[i], shr_now_ns());
		if (!sight)
			continue;
		pthread_mutex_unlock(&guard->lock);
		seen = guard_look(sight);
		pthread_mutex_lock(&guard->lock);
		in_time = turn->thread == me;
		give_back(guard, sight, seen, in_time, now);
	}
	return in_time;
}

/* False: another thread has taken over meanwhile. */
static bool poll_once(struct guard *guard, unsigned int me)
{
	struct guard_turn *turn = &guard->turn;
	bool in_time;
	uint64_t now;

	pthread_mutex_lock(&guard->lock);
	now = shr_now_ns();
	in_time = look_at_all(guard, me, now);
	if (in_time && (guard->changed || now >= turn->wake)) {
		guard->changed = false;
		carry_out(guard,
			  gpreempt_policy_step(guard->policy, now, turn->actions, &turn->wake));
	}
	if (in_time)
		turn->looked_ns = now;
	pthread_mutex_unlock(&guard->lock);
	return in_time;
}

static void doze(const struct guard *guard)
{
	const struct guard_turn *turn = &guard->turn;
	uint64_t ns = guard->poll_ns, now = shr_now_ns();

	if (guard->n_online && now < shr_later_ns(turn->worked_ns, guard->spin_ns))
		return;
	if (!guard->n_online && !guard->n_clients)
		ns = MAX_SLEEP_NS;
	if (turn->wake < now + ns)
		ns = turn->wake > now ? turn->wake - now : 0;
	if (ns)
		shr_sleep_ns(ns);
}

/* The poller is alive; after a gap, the user gets a note. */
static void beat(struct guard *guard, uint64_t now)
{
	uint64_t gap = now - atomic_load(&guard->common->beat_ns);

	if (gap > guard->common->late_ns)
		atomic_store(&guard->gap_ns, gap);
	atomic_store(&guard->common->beat_ns, now);
}

void guard_poll_turn(struct guard *guard, unsigned int me)
{
	uint64_t looks, cpu = shr_thread_cpu_ns(), was = cpu;

	prctl(PR_SET_NAME, "guard-poller");
	for (looks = 1; !atomic_load(&guard->quit); looks++) {
		if (!poll_once(guard, me))
			break;
		beat(guard, guard->turn.looked_ns);
		atomic_fetch_add(&guard->polls, 1);
		if (looks % LOOKS_A_COUNT == 0) {
			cpu = shr_thread_cpu_ns();
			atomic_fetch_add(&guard->poll_cpu_ns, cpu - was);
			was = cpu;
		}
		doze(guard);
	}
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The poller: sees work come and go, asks the policy, and gives orders.
 *
 * It reads memory of other processes, without the lock, and such a read may
 * never end: the page may be one of userfaultfd or of a FUSE file, and the
 * kernel waits for whatever the process does to its address space. A second
 * thread, the stand-in, watches the one whose turn it is, and takes over when a
 * read takes long. The process that is being read is left out until that read
 * returns; the thread that waits for it is the next stand-in then. Even SIGKILL
 * does not end a wait for a page of FUSE, so these threads share no descriptors
 * with the others: guard's socket and locks are closed when guard is killed.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "guard/guard.h"
#include "shared/clock.h"
#include "shared/urgent.h"

/* An adaptive poller does not sleep as long after it has seen work. */
#define ADAPTIVE_SPIN_NS (2 * NSEC_PER_MSEC)
#define ADAPTIVE_SLEEP_NS (200 * NSEC_PER_USEC)
/* It looks for new targets at least that often. */
#define MAX_SLEEP_NS (20 * NSEC_PER_MSEC)
/* Workers release their targets when the poller is away for longer. */
#define LATE_NS NSEC_PER_SEC
/* To ask for its CPU time takes as long as a look. */
#define LOOKS_A_COUNT 64
/* A read takes microseconds. */
#define STUCK_NS (10 * NSEC_PER_MSEC)
#define STAND_IN_NS (3 * NSEC_PER_MSEC)
/* To end them all takes no longer than a sleep of one. */
#define END_NS (2 * NSEC_PER_SEC)

/* For the picture. One that came and went was there since the last look. */
static void draw(const struct guard *guard, const struct guard_online *online,
		 int seen, uint64_t now)
{
	struct guard_picture *picture = guard->picture;

	if (!picture)
		return;
	if (seen == GUARD_BUSY || seen == GUARD_PULSE)
		guard_picture_begin(picture, online->lane, seen == GUARD_BUSY ?
				    now : guard->turn.looked_ns);
	if (seen != GUARD_BUSY)
		guard_picture_end(picture, online->lane, now);
}

/* What was seen of one; has it changed? Under the lock. */
static bool note_seen(struct guard *guard, struct guard_online *online,
		      int seen, uint64_t now)
{
	bool busy = seen == GUARD_BUSY, before = online->busy;
	struct guard_turn *turn = &guard->turn;
	bool new = !online->looked;

	online->looked = true;
	online->gone |= seen < 0;
	if (seen == GUARD_BUSY || seen == GUARD_PULSE)
		turn->worked_ns = now;
	if (busy == before && seen != GUARD_PULSE)
		return false;
	draw(guard, online, seen, now);
	/* When the work of a new one came is not known. */
	if (!before && seen > 0 && !new)
		turn->arrival_ns = turn->looked_ns;
	if (seen == GUARD_PULSE)
		gpreempt_policy_busy(guard->policy, online->party, true, now);
	gpreempt_policy_busy(guard->policy, online->party, busy, now);
	online->busy = busy;
	return true;
}

/* The party of an offline process on a node, among those that changed. */
static struct guard_offline *find_party(struct guard *guard,
					unsigned int party, size_t *node)
{
	size_t i;

	for (i = 0; i < guard->n_offline; i++)
		for (*node = 0; *node < guard->n_nodes; (*node)++)
			if (guard->offline[i].party[*node] == (int)party)
				return &guard->offline[i];
	return NULL;
}

static void give_order(const struct guard *guard,
		       struct guard_offline *offline,
		       enum gpreempt_policy_reason reason)
{
	struct guard_order order = {
		.nodes = offline->want,
		.reason = reason,
		.arrival_ns = reason == GPREEMPT_POLICY_ARRIVAL ?
			      guard->turn.arrival_ns : 0,
	};

	guard_worker_order(offline->worker, &order);
}

/* One order for each process, whatever number of nodes it is about. */
static void carry_out(struct guard *guard, unsigned int n)
{
	enum gpreempt_policy_reason reasons[GUARD_TARGETS];
	const struct gpreempt_policy_action *action;
	uint64_t changed = 0;
	unsigned int i;
	size_t node;

	for (i = 0; i < n; i++) {
		struct guard_offline *offline;

		action = &guard->turn.actions[i];
		offline = find_party(guard, action->party, &node);
		if (!offline)
			continue;
		if (action->suspend)
			offline->want |= 1ULL << node;
		else
			offline->want &= ~(1ULL << node);
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
static struct guard_sight *claim(struct guard *guard,
				 struct guard_online *online, uint64_t now)
{
	struct guard_sight *sight = online->sight;

	if (sight->since_ns) {
		if (now > sight->since_ns + GUARD_SILENT_NS)
			guard->changed |= note_seen(guard, online, GUARD_IDLE,
						    now);
		return NULL;
	}
	if (online->gone || no_more_threads(guard)) {
		guard->changed |= note_seen(guard, online, GUARD_IDLE, now);
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
static void give_back(struct guard *guard, struct guard_sight *sight, int seen,
		      bool in_time, uint64_t now)
{
	size_t i;

	sight->since_ns = 0;
	if (in_time)
		guard->turn.since_ns = 0;
	for (i = 0; in_time && i < guard->n_online; i++)
		if (guard->online[i].sight == sight)
			guard->changed |= note_seen(guard, &guard->online[i],
						    seen, now);
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
		carry_out(guard, gpreempt_policy_step(guard->policy, now,
						      turn->actions,
						      &turn->wake));
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

	if (guard->poll == GUARD_POLL_BUSY && guard->n_online)
		return;
	if (guard->poll != GUARD_POLL_TIMED) {
		if (guard->n_online && now < turn->worked_ns + ADAPTIVE_SPIN_NS)
			return;
		ns = ADAPTIVE_SLEEP_NS;
	}
	if (!guard->n_online && !guard->n_clients)
		ns = MAX_SLEEP_NS;
	if (turn->wake < now + ns)
		ns = turn->wake > now ? turn->wake - now : 0;
	if (ns)
		shr_sleep_ns(ns);
}

static uint64_t cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* The poller is alive; after a gap, the user gets a note. */
static void beat(struct guard *guard, uint64_t now)
{
	uint64_t gap = now - atomic_load(&guard->common->beat_ns);

	if (gap > guard->common->late_ns)
		atomic_store(&guard->gap_ns, gap);
	atomic_store(&guard->common->beat_ns, now);
}

/* As long as it is this thread's turn. */
static void poll_for_long(struct guard *guard, unsigned int me)
{
	uint64_t looks, cpu = cpu_time(), was = cpu;

	prctl(PR_SET_NAME, "guard-poller");
	for (looks = 1; !atomic_load(&guard->quit); looks++) {
		if (!poll_once(guard, me))
			break;
		beat(guard, guard->turn.looked_ns);
		atomic_fetch_add(&guard->polls, 1);
		if (looks % LOOKS_A_COUNT == 0) {
			cpu = cpu_time();
			atomic_fetch_add(&guard->poll_cpu_ns, cpu - was);
			was = cpu;
		}
		doze(guard);
	}
}

/* Wait until the one whose turn it is has to be relieved. False: the end. */
static bool stand_in(struct guard *guard, unsigned int me)
{
	struct guard_turn *turn = &guard->turn;
	bool taken = false;

	prctl(PR_SET_NAME, "guard-stand-in");
	while (!taken && !atomic_load(&guard->quit)) {
		shr_sleep_ns(STAND_IN_NS);
		pthread_mutex_lock(&guard->lock);
		taken = turn->since_ns &&
			shr_now_ns() > turn->since_ns + STUCK_NS;
		if (taken) {
			turn->thread = me;
			turn->since_ns = 0;
			turn->stuck++;
			turn->has_stand_in = false;
		}
		pthread_mutex_unlock(&guard->lock);
	}
	if (taken)
		guard_poll_tend(guard);
	return taken;
}

/*
 * It does not poll any more: at the end of all, or because it was relieved and
 * its read has returned. True: it is the stand-in.
 */
static bool come_back(struct guard *guard, unsigned int me)
{
	struct guard_turn *turn = &guard->turn;
	bool wanted = false;

	pthread_mutex_lock(&guard->lock);
	if (turn->thread != me) {
		turn->stuck--;
		wanted = !turn->has_stand_in && !atomic_load(&guard->quit);
		turn->has_stand_in |= wanted;
	}
	pthread_mutex_unlock(&guard->lock);
	return wanted;
}

/* As long as it is its turn, or it is the stand-in. */
static void take_turns(struct guard *guard)
{
	struct guard_turn *turn = &guard->turn;
	unsigned int me;
	bool polls;

	/* The kernel rounds sleeps up by 50 us otherwise. */
	prctl(PR_SET_TIMERSLACK, 1);
	shr_ask_short_slices();
	pthread_mutex_lock(&guard->lock);
	me = ++turn->numbers;
	polls = !turn->thread;
	if (polls)
		turn->thread = me;
	pthread_mutex_unlock(&guard->lock);
	while (polls || stand_in(guard, me)) {
		poll_for_long(guard, me);
		polls = false;
		if (!come_back(guard, me))
			break;
	}
}

static void *poller_thread(void *arg)
{
	struct guard *guard = arg;
	int ret = guard_wake_keep_only(&guard->wakes);

	if (!ret)
		take_turns(guard);
	pthread_mutex_lock(&guard->lock);
	guard->turn.threads--;
	/* It was to be one; another can try. */
	if (ret)
		guard->turn.has_stand_in = false;
	pthread_mutex_unlock(&guard->lock);
	return NULL;
}

static int pin(const struct guard *guard, pthread_attr_t *attr)
{
	uint64_t cpu = guard->options->cpu;
	cpu_set_t set;

	if (!cpu)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(cpu - 1, &set);
	return -pthread_attr_setaffinity_np(attr, sizeof(set), &set);
}

static int start_thread(struct guard *guard)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int ret;

	pthread_attr_init(&attr);
	/* One that never returns from a read cannot be joined. */
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	ret = pin(guard, &attr);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_mutex_lock(&guard->lock);
	if (!ret)
		ret = -pthread_create(&thread, &attr, poller_thread, guard);
	guard->turn.threads += !ret;
	pthread_mutex_unlock(&guard->lock);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return ret;
}

int guard_poll_start(struct guard *guard)
{
	int ret;

	atomic_store(&guard->common->beat_ns, shr_now_ns());
	guard->common->late_ns = LATE_NS + guard->poll_ns;
	guard->turn.wake = GPREEMPT_POLICY_NEVER;
	guard->turn.looked_ns = shr_now_ns();
	/* The first that runs polls. */
	guard->turn.has_stand_in = true;
	ret = start_thread(guard);
	if (ret)
		return ret;
	ret = start_thread(guard);
	if (ret)
		guard_poll_stop(guard);
	return ret;
}

void guard_poll_tend(struct guard *guard)
{
	struct guard_turn *turn = &guard->turn;
	bool wanted;

	pthread_mutex_lock(&guard->lock);
	wanted = !turn->has_stand_in && turn->threads <= GUARD_STUCK &&
		 !atomic_load(&guard->quit);
	turn->has_stand_in |= wanted;
	pthread_mutex_unlock(&guard->lock);
	if (!wanted || !start_thread(guard))
		return;
	pthread_mutex_lock(&guard->lock);
	turn->has_stand_in = false;
	pthread_mutex_unlock(&guard->lock);
}

void guard_poll_stop(struct guard *guard)
{
	uint64_t end = shr_now_ns() + END_NS;
	bool ended = false;

	atomic_store(&guard->quit, true);
	while (!ended && shr_now_ns() < end) {
		shr_sleep_ns(NSEC_PER_MSEC);
		pthread_mutex_lock(&guard->lock);
		ended = guard->turn.threads <= guard->turn.stuck;
		pthread_mutex_unlock(&guard->lock);
	}
}

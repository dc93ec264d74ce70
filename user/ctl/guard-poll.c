// SPDX-License-Identifier: GPL-2.0-only
/* The poller: sees work come and go, asks the policy, and gives orders. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "ctl/guard.h"
#include "shared/clock.h"
#include "shared/urgent.h"

/* An adaptive poller does not sleep as long after it has seen work. */
#define ADAPTIVE_SPIN_NS (2 * NSEC_PER_MSEC)
#define ADAPTIVE_SLEEP_NS (200 * NSEC_PER_USEC)
/* It looks for new targets at least that often. */
#define MAX_SLEEP_NS (20 * NSEC_PER_MSEC)
/* Workers let go of their targets when it is away for longer. */
#define LATE_NS NSEC_PER_SEC
/* To ask for its CPU time takes as long as a look. */
#define LOOKS_A_COUNT 64

struct poller {
	struct guard *guard;
	uint64_t wake;		/* of the policy */
	uint64_t looked_ns;	/* the last look began then */
	uint64_t worked_ns;	/* last time that there was work */
	uint64_t arrival_ns;	/* work came after that; 0: none came */
	struct gpreempt_policy_action actions[GPREEMPT_POLICY_PARTIES];
};

/* For the picture. One that came and went was there since the last look. */
static void draw(const struct poller *p, const struct guard_online *online,
		 int seen, uint64_t now)
{
	struct guard_picture *picture = p->guard->picture;

	if (!picture)
		return;
	if (seen == GUARD_BUSY || seen == GUARD_PULSE)
		guard_picture_begin(picture, online->lane,
				    seen == GUARD_BUSY ? now : p->looked_ns);
	if (seen != GUARD_BUSY)
		guard_picture_end(picture, online->lane, now);
}

static bool look_at_one(struct poller *p, struct guard_online *online,
			uint64_t now)
{
	int seen = online->gone ? GUARD_IDLE : guard_look(online);
	bool busy = seen == GUARD_BUSY, before = online->busy;
	bool new = !online->looked;

	online->looked = true;
	online->gone |= seen < 0;
	if (seen == GUARD_BUSY || seen == GUARD_PULSE)
		p->worked_ns = now;
	if (busy == before && seen != GUARD_PULSE)
		return false;
	draw(p, online, seen, now);
	/* When the work of a new one came, nobody knows. */
	if (!before && seen > 0 && !new)
		p->arrival_ns = p->looked_ns;
	if (seen == GUARD_PULSE)
		gpreempt_policy_busy(p->guard->policy, online->party, true,
				     now);
	gpreempt_policy_busy(p->guard->policy, online->party, busy, now);
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

static void give_order(const struct poller *p, struct guard_offline *offline,
		       enum gpreempt_policy_reason reason)
{
	struct guard_order order = {
		.nodes = offline->want,
		.reason = reason,
		.arrival_ns = reason == GPREEMPT_POLICY_ARRIVAL ?
			      p->arrival_ns : 0,
	};

	guard_worker_order(offline->worker, &order);
}

/* One order for each process, whatever number of nodes it is about. */
static void carry_out(struct poller *p, unsigned int n)
{
	enum gpreempt_policy_reason reasons[GUARD_TARGETS];
	struct guard *guard = p->guard;
	uint64_t changed = 0;
	unsigned int i;
	size_t node;

	for (i = 0; i < n; i++) {
		struct guard_offline *offline;

		offline = find_party(guard, p->actions[i].party, &node);
		if (!offline)
			continue;
		if (p->actions[i].suspend)
			offline->want |= 1ULL << node;
		else
			offline->want &= ~(1ULL << node);
		reasons[offline - guard->offline] = p->actions[i].reason;
		changed |= 1ULL << (offline - guard->offline);
	}
	for (i = 0; i < guard->n_offline; i++)
		if (changed & (1ULL << i))
			give_order(p, &guard->offline[i], reasons[i]);
}

static void poll_once(struct poller *p)
{
	struct guard *guard = p->guard;
	bool changed;
	uint64_t now;
	size_t i;

	pthread_mutex_lock(&guard->lock);
	now = shr_now_ns();
	changed = guard->changed;
	guard->changed = false;
	p->arrival_ns = 0;
	for (i = 0; i < guard->n_online; i++)
		changed |= look_at_one(p, &guard->online[i], now);
	if (changed || now >= p->wake)
		carry_out(p, gpreempt_policy_step(guard->policy, now,
						  p->actions, &p->wake));
	p->looked_ns = now;
	pthread_mutex_unlock(&guard->lock);
}

static void doze(const struct poller *p)
{
	const struct guard *guard = p->guard;
	uint64_t ns = guard->poll_ns, now = shr_now_ns();

	if (guard->poll == GUARD_POLL_BUSY && guard->n_online)
		return;
	if (guard->poll != GUARD_POLL_TIMED) {
		if (guard->n_online && now < p->worked_ns + ADAPTIVE_SPIN_NS)
			return;
		ns = ADAPTIVE_SLEEP_NS;
	}
	if (!guard->n_online && !guard->n_clients)
		ns = MAX_SLEEP_NS;
	if (p->wake < now + ns)
		ns = p->wake > now ? p->wake - now : 0;
	if (ns)
		shr_sleep_ns(ns);
}

static uint64_t cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* It is alive; and if it was not, for a while, the user is told. */
static void beat(struct guard *guard, uint64_t now)
{
	uint64_t gap = now - atomic_load(&guard->common->beat_ns);

	if (gap > guard->common->late_ns)
		atomic_store(&guard->gap_ns, gap);
	atomic_store(&guard->common->beat_ns, now);
}

static void *poller_thread(void *arg)
{
	struct poller p = { .guard = arg, .wake = GPREEMPT_POLICY_NEVER };
	struct guard *guard = arg;
	uint64_t looks;

	prctl(PR_SET_NAME, "guard-poller");
	/* The kernel rounds sleeps up by 50 us otherwise. */
	prctl(PR_SET_TIMERSLACK, 1);
	shr_ask_short_slices();
	p.looked_ns = shr_now_ns();
	for (looks = 1; !atomic_load(&guard->quit); looks++) {
		poll_once(&p);
		beat(guard, p.looked_ns);
		atomic_store(&guard->polls, looks);
		if (looks % LOOKS_A_COUNT == 0)
			atomic_store(&guard->poll_cpu_ns, cpu_time());
		doze(&p);
	}
	return NULL;
}

static int pin(struct guard *guard)
{
	uint64_t cpu = guard->args->sched.cpu;
	cpu_set_t set;

	if (!cpu)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(cpu - 1, &set);
	return -pthread_setaffinity_np(guard->poller, sizeof(set), &set);
}

int guard_poll_start(struct guard *guard)
{
	sigset_t all, old;
	int ret;

	atomic_store(&guard->common->beat_ns, shr_now_ns());
	guard->common->late_ns = LATE_NS + guard->poll_ns;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = -pthread_create(&guard->poller, NULL, poller_thread, guard);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret)
		return ret;
	ret = pin(guard);
	if (ret)
		guard_poll_stop(guard);
	return ret;
}

void guard_poll_stop(struct guard *guard)
{
	atomic_store(&guard->quit, true);
	pthread_join(guard->poller, NULL);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* The scheduler's rules, without I/O, and a server's requests to guard. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gpreempt/online.h>

#include "lib/core/internal.h"
#include "shared/socket.h"
#include "shared/util.h"
#include "policy.h"
#include "wire.h"

/* Entities, the caller's reports about them, and the answers. */

#define MAX_SHARE 90
#define MAX_NS	  (365ULL * 24 * 3600 * NSEC_PER_SEC)

static const char *const reason_names[] = {
	[GPREEMPT_POLICY_ARRIVAL] = "arrival",	 [GPREEMPT_POLICY_DUTY] = "duty",
	[GPREEMPT_POLICY_IDLE] = "idle",	 [GPREEMPT_POLICY_SHARE] = "share",
	[GPREEMPT_POLICY_RELEASED] = "released", [GPREEMPT_POLICY_JOB_CONTROL] = "job-control",
};

const char *gpreempt_policy_reason_name(enum gpreempt_policy_reason reason)
{
	return reason < GPREEMPT_POLICY_REASONS ? reason_names[reason] : "-";
}

/* value * up / down, rounded down; no more than the largest number. */
static uint64_t scale(uint64_t value, uint64_t up, uint64_t down)
{
	unsigned __int128 scaled = (unsigned __int128)value * up / down;

	return scaled < UINT64_MAX ? (uint64_t)scaled : UINT64_MAX;
}

static bool valid(const struct gpreempt_policy_options *o)
{
	if (o->share > MAX_SHARE || o->duty > 99)
		return false;
	if (!o->max_hold_ns || o->max_hold_ns > MAX_NS || o->linger_ns > MAX_NS ||
	    o->min_run_ns > MAX_NS)
		return false;
	if (o->window_ns && (o->window_ns < o->max_hold_ns || o->window_ns > MAX_NS))
		return false;
	return !o->duty || (o->period_ns >= 100 && o->period_ns <= o->max_hold_ns);
}

int gpreempt_policy_new(const struct gpreempt_policy_options *options, uint64_t now,
			struct gpreempt_policy **out)
{
	struct gpreempt_policy_options o;
	struct gpreempt_policy *p;
	uint64_t payback;
	int ret;

	ret = gp_options_take(options, sizeof(o), &o, sizeof(o));
	if (ret)
		return ret;
	if (!valid(&o))
		return -EINVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->options = o;
	/* The share is that of hold and run together, so more than that of the hold. */
	payback = scale(o.max_hold_ns, o.share, 100 - o.share);
	/* Round up, or each round would lose a little. */
	payback += payback > 0;
	p->payback_ns = payback > o.min_run_ns ? payback : o.min_run_ns;
	p->start = now;
	p->now = now;
	*out = p;
	return 0;
}

void gpreempt_policy_free(struct gpreempt_policy *p)
{
	free(p);
}

int gpreempt_policy_add(struct gpreempt_policy *p, enum gpreempt_role role, uint64_t nodes,
			unsigned int job, uint64_t now)
{
	unsigned int i;

	if ((role != GPREEMPT_ROLE_ONLINE && role != GPREEMPT_ROLE_OFFLINE) ||
	    job > GPREEMPT_POLICY_ENTITIES || (role == GPREEMPT_ROLE_ONLINE && p->options.duty))
		return -EINVAL;
	for (i = 0; i < p->top; i++)
		if (p->entity[i].role == GPREEMPT_ROLE_NONE)
			break;
	if (i == GPREEMPT_POLICY_ENTITIES)
		return -ENOSPC;
	if (i == p->top)
		p->top++;
	p->entity[i] = (struct gpreempt_policy_entity){
		.role = role,
		.nodes = nodes,
		.job = job,
		.idle_since = GPREEMPT_POLICY_NEVER,
		.counted = now > p->now ? now : p->now,
	};
	return i;
}

void gpreempt_policy_remove(struct gpreempt_policy *p, unsigned int entity)
{
	memset(&p->entity[entity], 0, sizeof(p->entity[entity]));
	while (p->top && p->entity[p->top - 1].role == GPREEMPT_ROLE_NONE)
		p->top--;
}

void gp_policy_nodes(struct gpreempt_policy *p, unsigned int entity, uint64_t nodes)
{
	p->entity[entity].nodes = nodes;
}

void gp_policy_idle(struct gpreempt_policy *p, unsigned int entity, uint64_t nodes)
{
	p->entity[entity].idle = nodes;
}

static bool working(const struct gpreempt_policy_entity *entity)
{
	return entity->busy || entity->requests;
}

void gpreempt_policy_busy(struct gpreempt_policy *p, unsigned int entity, bool busy, uint64_t now)
{
	struct gpreempt_policy_entity *a = &p->entity[entity];
	bool before = working(a);

	a->busy = busy;
	if (before && !working(a))
		a->idle_since = now;
}

int gpreempt_policy_begin(struct gpreempt_policy *p, unsigned int entity)
{
	struct gpreempt_policy_entity *a = &p->entity[entity];

	if (a->role != GPREEMPT_ROLE_ONLINE || a->requests == INT32_MAX)
		return -EINVAL;
	return ++a->requests;
}

int gpreempt_policy_end(struct gpreempt_policy *p, unsigned int entity, uint64_t now)
{
	struct gpreempt_policy_entity *a = &p->entity[entity];

	if (a->role != GPREEMPT_ROLE_ONLINE || !a->requests)
		return -EINVAL;
	a->requests--;
	if (!working(a))
		a->idle_since = now;
	return a->requests;
}

/* Take held time off the debt; more than that is credit. */
static void give(const struct gpreempt_policy *p, struct gpreempt_policy_entity *a, uint64_t ns)
{
	const struct gpreempt_policy_options *o = &p->options;
	uint64_t most = o->window_ns ? o->window_ns - o->max_hold_ns : 0;
	uint64_t off = ns < a->debt ? ns : a->debt;

	a->debt -= off;
	a->credit = shr_later_ns(a->credit, ns - off);
	if (!a->debt && a->credit >= most) {
		a->credit = most;
		a->rest = 0;
	}
}

/* Take the time that the entity ran off its debt, at the rate of payback_ns. */
static void pay(const struct gpreempt_policy *p, struct gpreempt_policy_entity *a, uint64_t ns)
{
	unsigned __int128 paid = (unsigned __int128)ns * p->options.max_hold_ns + a->rest;

	if (!p->payback_ns)
		return;
	a->rest = paid % p->payback_ns;
	paid /= p->payback_ns;
	give(p, a, paid < UINT64_MAX ? (uint64_t)paid : UINT64_MAX);
}

/* Take held time off the credit, and add the rest to the debt. */
static void owe(struct gpreempt_policy_entity *a, uint64_t ns)
{
	uint64_t covered = ns < a->credit ? ns : a->credit;

	a->credit -= covered;
	a->debt = shr_later_ns(a->debt, ns - covered);
}

/* Held time adds to the debt. */
static void count(const struct gpreempt_policy *p, struct gpreempt_policy_entity *a, uint64_t now)
{
	uint64_t ns = now > a->counted ? now - a->counted : 0;

	if (now > a->counted)
		a->counted = now;
	if (a->held)
		owe(a, ns);
	else
		pay(p, a, ns);
}

void gp_policy_ran(struct gpreempt_policy *p, unsigned int entity, uint64_t ns, uint64_t now)
{
	struct gpreempt_policy_entity *a = &p->entity[entity];

	if (a->role != GPREEMPT_ROLE_OFFLINE)
		return;
	count(p, a, now > p->now ? now : p->now);
	give(p, a, ns);
	pay(p, a, ns);
}

void gpreempt_policy_release(struct gpreempt_policy *p, unsigned int entity, uint64_t until)
{
	p->entity[entity].until = until;
}

void gp_policy_failed(struct gpreempt_policy *p, unsigned int entity, uint64_t nodes, bool suspend,
		      uint64_t retry)
{
	struct gpreempt_policy_entity *a = &p->entity[entity];

	nodes &= suspend ? a->held : ~a->held;
	a->held ^= nodes;
	a->failed |= nodes;
	if (nodes)
		a->retry = retry;
}

/* Step of the policy: actions that are due now, and the time of the next look. */

/* Facts that hold for a whole job. */
struct job {
	bool needed;   /* online work wants the GPU of one of them */
	bool must_run; /* one of them has to be paid */
};

struct step {
	struct gpreempt_policy *p;
	uint64_t now;
	uint64_t wake;
	uint64_t nodes; /* where online work is */
	bool off;	/* with a duty: no process runs now */
	struct job jobs[GPREEMPT_POLICY_ENTITIES + 1];
	struct gpreempt_policy_action *actions;
	unsigned int count;
};

static void wake_at(struct step *s, uint64_t when)
{
	if (when > s->now && when < s->wake)
		s->wake = when;
}

/* How long an entity runs until its debt is paid. */
static uint64_t left_to_run(const struct step *s, const struct gpreempt_policy_entity *a)
{
	uint64_t hold = s->p->options.max_hold_ns;
	unsigned __int128 left = (unsigned __int128)a->debt * s->p->payback_ns;

	left = (left - a->rest + hold - 1) / hold;
	return left < UINT64_MAX ? (uint64_t)left : UINT64_MAX;
}

static bool is_active(struct step *s, const struct gpreempt_policy_entity *a)
{
	uint64_t end;

	if (a->busy || a->requests)
		return true;
	if (a->idle_since == GPREEMPT_POLICY_NEVER)
		return false;
	end = shr_later_ns(a->idle_since, s->p->options.linger_ns);
	wake_at(s, end);
	return s->now < end;
}

static void look_at_duty(struct step *s)
{
	uint64_t period = s->p->options.period_ns, phase, run;

	if (!s->p->options.duty)
		return;
	phase = (s->now - s->p->start) % period;
	run = scale(period, s->p->options.duty, 100);
	s->off = phase >= run;
	wake_at(s, shr_later_ns(s->now, (s->off ? period : run) - phase));
}

/* Is it up to us to suspend it at all? */
static bool is_ours(struct step *s, const struct gpreempt_policy_entity *a)
{
	if (s->now >= a->until)
		return true;
	if (a->until != GPREEMPT_POLICY_NEVER)
		wake_at(s, a->until);
	return false;
}

static void note_debt(struct step *s, struct gpreempt_policy_entity *a)
{
	if (s->p->options.duty || !s->p->payback_ns)
		a->must_run = false;
	else if (a->debt >= s->p->options.max_hold_ns)
		a->must_run = true;
	else if (!a->debt)
		a->must_run = false;
}

/* Nodes on which an offline entity is in the way of online work. */
static uint64_t in_the_way(const struct step *s, const struct gpreempt_policy_entity *a)
{
	return a->nodes & s->nodes & (a->held | ~a->idle);
}

static void look_at_offline(struct step *s, struct gpreempt_policy_entity *a)
{
	struct job *job = &s->jobs[a->job];

	count(s->p, a, s->now);
	note_debt(s, a);
	if (!a->job || !is_ours(s, a))
		return;
	job->needed |= in_the_way(s, a);
	job->must_run |= a->must_run;
}

/* Times at which the answer may be another, for an entity that is as it is. */
static void look_ahead(struct step *s, const struct gpreempt_policy_entity *a, bool needed)
{
	uint64_t hold = s->p->options.max_hold_ns;

	if (s->p->options.duty || !s->p->payback_ns)
		return;
	if (a->held && a->debt < hold)
		wake_at(s, shr_later_ns(s->now, hold - a->debt + a->credit));
	if (!a->held && a->must_run && needed)
		wake_at(s, shr_later_ns(s->now, left_to_run(s, a)));
}

static enum gpreempt_policy_reason why(const struct step *s, bool suspend, bool ours, bool must_run)
{
	if (!suspend && !ours)
		return GPREEMPT_POLICY_RELEASED;
	if (s->p->options.duty)
		return GPREEMPT_POLICY_DUTY;
	if (suspend)
		return GPREEMPT_POLICY_ARRIVAL;
	return must_run ? GPREEMPT_POLICY_SHARE : GPREEMPT_POLICY_IDLE;
}

/* Nodes on which an entity that is ours is to be suspended. */
static uint64_t wanted(const struct step *s, const struct gpreempt_policy_entity *a,
		       const struct job *job)
{
	if (s->off)
		return a->nodes;
	if (!job->needed || job->must_run)
		return 0;
	return a->job ? a->nodes : in_the_way(s, a);
}

/* Leave nodes alone on which the last action did not work. */
static uint64_t without_failed(struct step *s, struct gpreempt_policy_entity *a, uint64_t want)
{
	if (s->now >= a->retry)
		a->failed = 0;
	if ((want ^ a->held) & a->failed)
		wake_at(s, a->retry);
	return (want & ~a->failed) | (a->held & a->failed);
}

/* Switch an entity if it has to be, and if it is the turn of such a switch. */
static void decide(struct step *s, unsigned int i, bool suspends)
{
	struct gpreempt_policy_entity *a = &s->p->entity[i];
	struct job alone = { in_the_way(s, a), a->must_run };
	const struct job *job = a->job ? &s->jobs[a->job] : &alone;
	bool ours = is_ours(s, a), suspend;
	uint64_t want = without_failed(s, a, ours ? wanted(s, a, job) : 0);

	suspend = want & ~a->held;
	if (suspend != suspends)
		return;
	if (want != a->held) {
		a->held = want;
		s->actions[s->count++] = (struct gpreempt_policy_action){
			.entity = i,
			.suspend = suspend,
			.reason = why(s, suspend, ours, job->must_run),
			.nodes = want,
		};
	}
	look_ahead(s, a, ours && job->needed);
}

unsigned int gpreempt_policy_step(struct gpreempt_policy *p, uint64_t now,
				  struct gpreempt_policy_action *actions, uint64_t *wake)
{
	struct step s = {
		.p = p,
		.now = now > p->now ? now : p->now,
		.wake = GPREEMPT_POLICY_NEVER,
		.actions = actions,
	};
	unsigned int i, suspends;

	p->now = s.now;
	look_at_duty(&s);
	for (i = 0; i < p->top; i++)
		if (p->entity[i].role == GPREEMPT_ROLE_ONLINE && is_active(&s, &p->entity[i]))
			s.nodes |= p->entity[i].nodes;
	for (i = 0; i < p->top; i++)
		if (p->entity[i].role == GPREEMPT_ROLE_OFFLINE)
			look_at_offline(&s, &p->entity[i]);
	/* Suspend first: online work waits for that. What was switched has no second turn. */
	for (suspends = 2; suspends-- > 0;)
		for (i = 0; i < p->top; i++)
			if (p->entity[i].role == GPREEMPT_ROLE_OFFLINE)
				decide(&s, i, suspends);
	*wake = s.wake;
	return s.count;
}

/* Requests of a server to guard. */

struct gpreempt_online {
	int fd; /* -1: to be opened again */
	uint64_t timeout_ns;
	pid_t pid;     /* 0: the caller */
	uint64_t open; /* requests of the caller */
};

/* A value or -errno. After any failure of the connection it is closed. */
static int ask_once(struct gpreempt_online *online, const struct guard_request *request,
		    uint64_t deadline_ns)
{
	struct guard_reply reply;
	int ret;

	if (online->fd < 0)
		online->fd = gp_ipc_connect(GUARD_SOCKET, deadline_ns);
	if (online->fd < 0)
		return online->fd;
	ret = gp_guard_ask(online->fd, request, &reply, deadline_ns);
	/* Close the connection: a late reply would be taken for that of the next request. */
	if (ret)
		shr_close(&online->fd);
	else
		ret = reply.code ? reply.code : (int)reply.value;
	return ret;
}

/* Do the same as ask_once(), and once more if the connection had ended. */
static int ask(struct gpreempt_online *online, struct guard_request *request, uint64_t all)
{
	uint64_t deadline = shr_now_ns() + online->timeout_ns;
	bool fresh = online->fd < 0;
	int ret = -ECONNRESET;

	request->pid = online->pid;
	if (!fresh)
		ret = ask_once(online, request, deadline);
	if (ret != -ECONNRESET)
		return ret;
	/* A new connection has no requests: all are opened at once. */
	if (!online->pid) {
		if (!all)
			return 0;
		*request = (struct guard_request){ .verb = GUARD_BEGIN, .count = all };
	}
	return ask_once(online, request, deadline);
}

int gpreempt_online_begin(struct gpreempt_online *online)
{
	struct guard_request request = { .verb = GUARD_BEGIN };
	int ret = ask(online, &request, online->open + 1);

	if (ret > 0)
		online->open++;
	return ret;
}

int gpreempt_online_end(struct gpreempt_online *online)
{
	struct guard_request request = { .verb = GUARD_END };

	if (!online->pid && !online->open)
		return -EINVAL;
	if (!online->pid)
		online->open--;
	return ask(online, &request, online->open);
}

void gpreempt_online_close(struct gpreempt_online *online)
{
	if (!online)
		return;
	shr_cleanup_fd(&online->fd);
	free(online);
}

static int take_options(struct gpreempt_online *online,
			const struct gpreempt_online_options *options)
{
	struct gpreempt_online_options o = { 0 };
	int ret = 0;

	if (options)
		ret = gp_options_take(options, sizeof(o), &o, sizeof(o));
	if (!ret && o.pid < 0)
		ret = -EINVAL;
	online->pid = o.pid;
	online->timeout_ns = o.timeout_ns ? o.timeout_ns : GPREEMPT_ONLINE_TIMEOUT_NS;
	return ret;
}

int gpreempt_online_open(const struct gpreempt_online_options *options,
			 struct gpreempt_online **out)
{
	struct gpreempt_online *online = calloc(1, sizeof(*online));
	int ret;

	if (!online)
		return -ENOMEM;
	ret = take_options(online, options);
	if (!ret)
		ret = online->fd = gp_ipc_connect(GUARD_SOCKET, shr_now_ns() + online->timeout_ns);
	if (ret < 0) {
		free(online);
		return ret;
	}
	*out = online;
	return 0;
}

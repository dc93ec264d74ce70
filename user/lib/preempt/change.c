// SPDX-License-Identifier: LGPL-2.1-or-later
/* Suspend and resume of a session's queues: choice, method and result. */
#include <stdio.h>
#include <string.h>

#include "lib/see/see.h"
#include "lib/see/words.h"
#include "shared/util.h"
#include "session.h"

/* Filter of a suspend or resume: its queues, and its effect on new ones. */

static bool matches(const struct gpreempt_filter *which, const struct gpreempt_session_queue *queue)
{
	return gp_filter_matches(which, queue->qid, queue->gpu_id, queue->priority);
}

static bool same_rule(const struct gp_rule *a, const struct gp_rule *b)
{
	const struct gpreempt_filter *x = &a->which, *y = &b->which;

	return x->by_priority == y->by_priority &&
	       (!x->by_priority ||
		(x->priority_min == y->priority_min && x->priority_max == y->priority_max)) &&
	       x->n_gpu_ids == y->n_gpu_ids &&
	       !memcmp(a->gpu_ids, b->gpu_ids, x->n_gpu_ids * sizeof(a->gpu_ids[0]));
}

/* A later rule about the same queues takes the place of an earlier one. */
static void remove_rule(struct gpreempt_session *s, const struct gp_rule *rule)
{
	size_t i, n = 0;

	for (i = 0; i < s->n_rules; i++)
		if (!same_rule(&s->rules[i], rule))
			s->rules[n++] = s->rules[i];
	s->n_rules = n;
}

/* Remember the effect of a filter without ids on new queues. 0 or -errno. */
static int gp_session_add_rule(struct gpreempt_session *s, const struct gpreempt_filter *which,
			       bool suspend)
{
	struct gp_rule rule;

	/* Most suspends and resumes are of all: as little as it takes. */
	if (gp_filter_is_all(which)) {
		if (!s->first_is_all)
			s->rules[0] = (struct gp_rule){ .suspend = true };
		s->first_is_all = true;
		s->n_rules = suspend;
		return 0;
	}
	s->first_is_all = false;
	rule = (struct gp_rule){ .suspend = suspend, .which = *which };
	if (which->n_gpu_ids)
		memcpy(rule.gpu_ids, which->gpu_ids, which->n_gpu_ids * sizeof(rule.gpu_ids[0]));
	remove_rule(s, &rule);
	/* New queues run without a rule. */
	if (!s->n_rules && !suspend)
		return 0;
	if (s->n_rules == GP_MAX_RULES)
		return gp_session_fail(s, -ENOSPC, GPREEMPT_SYSTEM,
				       "remembering which new queues are meant");
	s->rules[s->n_rules++] = rule;
	return 0;
}

bool gp_session_wants(const struct gpreempt_session *s, const struct gpreempt_session_queue *queue)
{
	size_t i;

	for (i = s->n_rules; i--;) {
		struct gpreempt_filter which = s->rules[i].which;

		which.gpu_ids = s->rules[i].gpu_ids;
		if (matches(&which, queue))
			return s->rules[i].suspend;
	}
	return false;
}

static bool priorities_known(const struct gpreempt_session *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].priority == GPREEMPT_UNKNOWN)
			return false;
	return true;
}

int gp_session_learn_priorities(struct gpreempt_session *s)
{
	struct gpreempt_view *view;
	size_t i;

	if (priorities_known(s))
		return 0;
	if (!gpreempt_view_read(s->g, s->kfd.pid, &view, NULL)) {
		for (i = 0; i < s->count; i++) {
			const struct gpreempt_queue *queue;

			queue = gp_view_find(view, s->queues[i].qid);
			if (queue)
				s->queues[i].priority = queue->priority;
		}
		gpreempt_list_free(view);
	}
	if (priorities_known(s))
		return 0;
	return gp_session_fail(s, -ENODATA, GPREEMPT_NO_MODULE, "choosing queues by priority");
}

/* Queues of a session: search in their list. */

struct gpreempt_session_queue *gp_session_find(const struct gpreempt_session *s, uint32_t qid)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->queues[middle].qid == qid)
			return &s->queues[middle];
		if (s->queues[middle].qid < qid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct gpreempt_session_queue *gpreempt_session_queues(const struct gpreempt_session *s,
							     size_t *count)
{
	*count = s->count;
	return s->queues;
}

bool gp_session_any_held(const struct gpreempt_session *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].held)
			return true;
	return false;
}

bool gp_session_any_destroyed(const struct gpreempt_session *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].being_destroyed)
			return true;
	return false;
}

/*
 * Are the queues that shall be suspended out of the hardware?
 *
 * A "yes" speaks for all of them, in all contexts of the process: a queue that was not seen, that
 * is not suspended, or of which it is unknown whether a slot holds it, leaves it open, and a queue
 * that is seen in a slot, or with waves in flight, is a contradiction whatever else was seen.
 */

struct check {
	const struct gpreempt_session *s;
	const struct gpreempt_view *view;
	struct gp_off off;
};

/* The driver holds the lock of a process for a moment at a time. */
#define STALE_TRIES    10
#define STALE_RETRY_NS (2 * NSEC_PER_MSEC)

static const struct gpreempt_queue *find_row(const struct gpreempt_view *view, uint32_t qid)
{
	size_t i;

	/* Each context of a process counts its queues from 0. */
	for (i = 0; i < view->count; i++)
		if (view->queues[i].qid == qid && view->queues[i].context == GPREEMPT_UNKNOWN)
			return &view->queues[i];
	return NULL;
}

static void check_known(struct check *check, const struct gpreempt_session_queue *queue)
{
	const struct gpreempt_queue *row = find_row(check->view, queue->qid);

	/* Slots that are empty after a reset prove nothing about a queue that hung. */
	if (row)
		gp_off_add(&check->off, check->view, row,
			   queue->held && queue->result != GPREEMPT_RESULT_FAILED);
	else
		check->off.open = true;
}

/*
 * A queue that the session does not know counts if a new queue like it is to be
 * suspended. It is younger than the last snapshot, or one of a further context,
 * which the debug interface neither shows nor suspends. So it is not suspended,
 * and that no slot holds it now says nothing of the next moment.
 */
static void check_unknown(struct check *check, const struct gpreempt_queue *row)
{
	const struct gpreempt_session_queue like = {
		.qid = row->qid,
		.gpu_id = row->gpu_id,
		.priority = row->priority,
	};

	if (gp_session_wants(check->s, &like))
		gp_off_add(&check->off, check->view, row, false);
}

static void check_rows(struct check *check)
{
	size_t i;

	for (i = 0; i < check->view->count; i++) {
		const struct gpreempt_queue *row = &check->view->queues[i];

		/* Two queues can have one number; one is then of a context without a name. */
		if (row->context != GPREEMPT_UNKNOWN || !gp_session_find(check->s, row->qid) ||
		    find_row(check->view, row->qid) != row)
			check_unknown(check, row);
	}
}

static bool is_stale(const struct gpreempt_view *view)
{
	size_t i;

	for (i = 0; i < view->count; i++)
		if (view->queues[i].age_ms > 0)
			return true;
	return false;
}

/* The view, and a list of now if it can be had. NULL: there is none. */
static struct gpreempt_view *read_view(const struct gpreempt_session *s)
{
	struct gpreempt_view *view;
	int tries;

	for (tries = 1;; tries++) {
		if (gpreempt_view_read(s->g, s->kfd.pid, &view, NULL))
			return NULL;
		if (tries == STALE_TRIES || !is_stale(view))
			return view;
		gpreempt_list_free(view);
		shr_sleep_ns(STALE_RETRY_NS);
	}
}

enum gpreempt_verdict gpreempt_session_verify(struct gpreempt_session *s,
					      enum gpreempt_verified_by *by)
{
	struct gpreempt_view *view = read_view(s);
	struct check check = { .s = s, .view = view };
	size_t i;

	if (!view)
		return gp_off_verdict(&check.off, by);
	/* Queues that came since the view was read are not in the list. */
	check.off.open = s->n_rules && is_stale(view);
	for (i = 0; i < s->count; i++)
		if (s->queues[i].held || s->queues[i].wanted)
			check_known(&check, &s->queues[i]);
	check_rows(&check);
	gpreempt_list_free(view);
	return gp_off_verdict(&check.off, by);
}

/* Suspending and resuming the queues of a session. */

/* Put the ids that the driver has to suspend into s->ids. */
static size_t collect_wanted(struct gpreempt_session *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].wanted && !s->queues[i].held && !s->queues[i].being_destroyed)
			s->ids[n++] = s->queues[i].qid;
	return n;
}

static void judge_one(struct gpreempt_session *s, uint32_t *id, bool suspend,
		      struct gpreempt_outcome *out)
{
	enum gpreempt_result result = gp_kfd_judge(id);
	struct gpreempt_session_queue *queue = gp_session_find(s, *id);

	if (queue) {
		queue->result = result;
		queue->held = suspend && result != GPREEMPT_RESULT_REFUSED;
	}
	out->done += result == GPREEMPT_RESULT_DONE;
	out->refused += result == GPREEMPT_RESULT_REFUSED;
	out->failed += result == GPREEMPT_RESULT_FAILED;
}

/*
 * Note the result of each id. The driver marks a queue as suspended before the hardware fails to
 * release it: such a queue has to be resumed too.
 */
static void judge(struct gpreempt_session *s, size_t n, bool suspend, struct gpreempt_outcome *out)
{
	struct gpreempt_session_queue *queue;
	size_t i, next = 0;

	for (i = 0; i < n; i++) {
		/*
		 * Most ids come in the order of the queues, and without bits: this costs next to
		 * nothing in each call.
		 */
		if (next == s->count || s->queues[next].qid != s->ids[i]) {
			judge_one(s, &s->ids[i], suspend, out);
			continue;
		}
		queue = &s->queues[next++];
		queue->result = GPREEMPT_RESULT_DONE;
		queue->held = suspend;
		out->done++;
	}
}

/* The driver has waited for the hardware in vain, and resets the GPU now. */
static void note_hang(struct gpreempt_session *s, const char *step)
{
	size_t i, used = 0;
	uint32_t last = 0;

	gp_session_fail(s, -EIO, GPREEMPT_HANG, step);
	for (i = 0; i < s->count && used < sizeof(s->error.name); i++) {
		const struct gpreempt_session_queue *queue = &s->queues[i];

		if (queue->result != GPREEMPT_RESULT_FAILED || queue->gpu_id == last)
			continue;
		last = queue->gpu_id;
		used += snprintf(s->error.name + used, sizeof(s->error.name) - used, "%s0x%x",
				 used ? " " : "", last);
	}
}

/*
 * Fail for want of a runtime: the driver's answer is EPERM. A process that never enabled it
 * cannot be suspended; one that has disabled it, as hsa_shut_down() does, is ending.
 */
static int fail_runtime(struct gpreempt_session *s, const char *step)
{
	struct gp_process process;

	/* A disable has resumed all queues. */
	gp_session_all_run(s);
	if (gp_process_read(s->g, s->kfd.pid, &process) || strchr("ZX", process.state))
		return gp_session_fail(s, -ESRCH, GPREEMPT_ENDED, step);
	return gp_session_fail(s, -EPERM, s->had_runtime ? GPREEMPT_ENDING : GPREEMPT_RUNTIME_OFF,
			       step);
}

/* Make one ioctl for the n ids in s->ids. */
static int call(struct gpreempt_session *s, size_t n, bool suspend, struct gpreempt_outcome *out)
{
	const char *step = suspend ? "suspending the queues" : "resuming the queues";
	int ret;

	out->requested += n;
	/* The driver takes an empty list for all queues. */
	if (!n)
		return 0;
	ret = suspend ? gp_kfd_suspend(&s->kfd, s->ids, n, s->grace) :
			gp_kfd_resume(&s->kfd, s->ids, n);
	out->ioctl_ns = s->kfd.return_ns - s->kfd.entry_ns;
	if (ret == -EPERM)
		return fail_runtime(s, step);
	if (ret < 0)
		return gp_session_fail_trap(s, ret, step);
	judge(s, n, suspend, out);
	gp_release_count(s, s->kfd.return_ns);
	/* A resume is no proof that the hardware goes on. */
	if (suspend)
		s->gpu_hung = out->failed;
	if (out->failed)
		note_hang(s, step);
	return 0;
}

/* Collect in s->ids the queues whose state has to change. The others are done already. */
static size_t collect(struct gpreempt_session *s, const struct gpreempt_filter *which, bool suspend)
{
	bool all = gp_filter_is_all(which);
	size_t i, n = 0;

	for (i = 0; i < s->count; i++) {
		struct gpreempt_session_queue *queue = &s->queues[i];

		if (!all && !matches(which, queue))
			continue;
		queue->wanted = suspend;
		if (queue->held != suspend && !(suspend && queue->being_destroyed))
			s->ids[n++] = queue->qid;
	}
	return n;
}

/*
 * Collect by ids; the driver judges those that we do not know. Not inline: its array would be on
 * the stack of every call.
 */
__attribute__((noinline)) static size_t collect_ids(struct gpreempt_session *s,
						    const struct gpreempt_filter *which,
						    bool suspend, struct gpreempt_outcome *out)
{
	/* Each queue below is found by its id. */
	struct gpreempt_filter rest = *which;
	bool seen[GP_MAX_IDS] = { 0 };
	size_t i, n = 0;

	rest.ids = NULL;
	for (i = 0; i < which->n_ids; i++) {
		struct gpreempt_session_queue *queue;

		queue = gp_session_find(s, which->ids[i]);
		if (queue ? !matches(&rest, queue) : !gp_filter_is_all(&rest))
			continue;
		if (queue && seen[queue - s->queues])
			continue;
		if (queue) {
			seen[queue - s->queues] = true;
			queue->wanted = suspend;
		}
		if (queue && queue->held == suspend) {
			out->requested++;
			out->done++;
		} else {
			s->ids[n++] = which->ids[i];
		}
	}
	return n;
}

void gp_session_arm_sampler(struct gpreempt_session *s, const struct gpreempt_filter *which)
{
	uint32_t ids[GP_MAX_IDS];
	size_t i, n = 0;

	if (!s->sampler || s->sampling == GPREEMPT_SAMPLE_PAUSE || gp_sampler_armed(s->sampler))
		return;
	if (which && which->by_priority)
		gp_session_learn_priorities(s);
	for (i = 0; i < s->count; i++)
		if (!s->queues[i].held && (!which || matches(which, &s->queues[i])))
			ids[n++] = s->queues[i].qid;
	gp_sampler_arm(s->sampler, ids, n, s->sampling == GPREEMPT_SAMPLE_ON);
}

void gp_session_finish_sampler(struct gpreempt_session *s, struct gpreempt_outcome *out)
{
	gp_sampler_finish(s->sampler, out->ioctl_ns ? s->kfd.entry_ns : UINT64_MAX, out);
}

static int check_filter(struct gpreempt_session *s, const struct gpreempt_filter *which)
{
	if (which->n_ids > GP_MAX_IDS || which->n_gpu_ids > GP_MAX_GPUS)
		return gp_session_fail(s, -E2BIG, GPREEMPT_SYSTEM, "collecting the queues");
	if (!which->by_priority)
		return 0;
	return gp_session_learn_priorities(s);
}

/* Report with this call, which returned at now, how long queues ran before it. */
static void note_call(struct gpreempt_session *s, bool suspend, uint64_t now,
		      struct gpreempt_outcome *out)
{
	struct gp_release *r = &s->release;
	uint64_t total;
	size_t i;

	gp_release_count(s, now);
	total = gp_meter_total(&r->ran, now);
	out->released_ns = total - r->told;
	r->told = total;
	/* Queues that are held now were there when their owner suspended them. */
	for (i = 0; suspend && r->made && i < s->count; i++)
		if (s->queues[i].held)
			r->young[s->queues[i].qid % GP_MAX_IDS] = false;
}

static int change(struct gpreempt_session *s, const struct gpreempt_filter *which, bool suspend,
		  struct gpreempt_outcome *out)
{
	static const struct gpreempt_filter all;
	struct gpreempt_outcome outcome = {
		.slots_ns = GPREEMPT_UNKNOWN,
		.resolution_ns = GPREEMPT_UNKNOWN,
	};
	bool first, timed;
	uint64_t now;
	size_t n;
	int ret;

	if (!which)
		which = &all;
	if (s->state != GP_SESSION_OPEN)
		return -ENOTCONN;
	ret = check_filter(s, which);
	if (!ret && !which->ids)
		ret = gp_session_add_rule(s, which, suspend);
	if (ret)
		return ret;
	n = which->ids ? collect_ids(s, which, suspend, &outcome) : collect(s, which, suspend);
	if (suspend)
		gp_session_arm_sampler(s, which);
	first = suspend && !gp_session_any_held(s);
	ret = call(s, n, suspend, &outcome);
	/* The ioctl has read the clock; it is not read again for each account. */
	timed = !ret && n;
	now = timed ? s->kfd.return_ns : shr_now_ns();
	/* Queues that were gone before ran by right. */
	if (first)
		s->release.dispatched = timed ? s->kfd.entry_ns : now;
	if (suspend)
		gp_session_finish_sampler(s, &outcome);
	note_call(s, suspend, now, &outcome);
	if (!ret && out)
		*out = outcome;
	return ret;
}

int gpreempt_session_suspend(struct gpreempt_session *s, const struct gpreempt_filter *which,
			     struct gpreempt_outcome *out)
{
	return change(s, which, true, out);
}

int gpreempt_session_resume(struct gpreempt_session *s, const struct gpreempt_filter *which,
			    struct gpreempt_outcome *out)
{
	return change(s, which, false, out);
}

int gp_session_sample_slots(struct gpreempt_session *s, enum gpreempt_sampling mode)
{
	s->sampling = mode;
	return gp_sampler_switch(&s->sampler, mode != GPREEMPT_SAMPLE_OFF, s->g, s->kfd.pid,
				 &s->error);
}

int gp_session_apply(struct gpreempt_session *s)
{
	struct gpreempt_outcome outcome = { 0 };
	int ret;

	/*
	 * Without a runtime there is nothing to suspend yet. Hardware that hangs is being reset:
	 * the user of the session has to see to that.
	 */
	if (s->state != GP_SESSION_OPEN || s->gpu_hung || s->runtime != DEBUG_RUNTIME_STATE_ENABLED)
		return 0;
	ret = call(s, collect_wanted(s), true, &outcome);
	/* The process is disabling its runtime or ending: an event reports which. */
	if (ret == -EPERM || ret == -ESRCH)
		return 0;
	if (!ret && outcome.done)
		gp_log(s->g, "process %d: suspended %zu of %zu new queues", s->kfd.pid,
		       outcome.done, outcome.requested);
	return ret;
}

int gp_session_resume_ids(struct gpreempt_session *s, size_t count)
{
	struct gpreempt_outcome outcome = { 0 };
	int ret = call(s, count, false, &outcome);

	/* The process is disabling its runtime or ending: both resume its queues. */
	return ret == -EPERM || ret == -ESRCH ? 0 : ret;
}

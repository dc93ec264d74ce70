// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events of a session: new queues, exceptions, queues that are gone. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "shared/util.h"
#include "session.h"

/* Taking the queues of a process from the driver. */

#define SPARE_ROOM 16

static int grow(void *array, size_t size)
{
	void *bigger = realloc(*(void **)array, size);

	if (!bigger)
		return -ENOMEM;
	*(void **)array = bigger;
	return 0;
}

static int set_capacity(struct gpreempt_session *s, size_t capacity)
{
	if (grow(&s->queues, capacity * sizeof(*s->queues)) ||
	    grow(&s->spare, capacity * sizeof(*s->spare)) ||
	    grow(&s->snapshot, capacity * sizeof(*s->snapshot)))
		return -ENOMEM;
	s->capacity = capacity;
	return 0;
}

/* Returns the debug interface's type; the view and sysfs have others. */
static uint32_t queue_type(uint32_t type)
{
	switch (type) {
	case KFD_IOC_QUEUE_TYPE_COMPUTE:
		return GPREEMPT_QUEUE_COMPUTE_PM4;
	case KFD_IOC_QUEUE_TYPE_SDMA:
		return GPREEMPT_QUEUE_SDMA;
	case KFD_IOC_QUEUE_TYPE_SDMA_XGMI:
		return GPREEMPT_QUEUE_SDMA_XGMI;
	default:
		return GPREEMPT_QUEUE_COMPUTE_AQL;
	}
}

static int compare_entries(const void *a, const void *b)
{
	const struct kfd_queue_snapshot_entry *x = a, *y = b;

	return (x->queue_id > y->queue_id) - (x->queue_id < y->queue_id);
}

/* Forget a queue whose number a new queue has: the old one is gone. */
static void forget_new(struct gpreempt_session *s, uint32_t copied)
{
	uint32_t i;

	for (i = 0; i < copied; i++) {
		struct gpreempt_session_queue *queue;

		if (!(s->snapshot[i].exception_status & KFD_EC_MASK(EC_QUEUE_NEW)))
			continue;
		s->release.missing--;
		queue = gp_session_find(s, s->snapshot[i].queue_id);
		if (queue)
			*queue = (struct gpreempt_session_queue){ .qid = queue->qid };
	}
}

/* Does a rule ask for priorities? */
static bool needs_priorities(const struct gpreempt_session *s)
{
	size_t i;

	for (i = 0; i < s->n_rules; i++)
		if (s->rules[i].which.by_priority)
			return true;
	return false;
}

/* Apply the rules to queues that the session did not know. */
static void judge_new(struct gpreempt_session *s, const bool *fresh)
{
	size_t i;

	if (needs_priorities(s) && gp_session_learn_priorities(s))
		gp_log(s->g,
		       "process %d: the priorities of its new queues "
		       "are not known: those queues run",
		       s->kfd.pid);
	for (i = 0; i < s->count; i++) {
		if (!fresh[i])
			continue;
		s->queues[i].wanted = gp_session_wants(s, &s->queues[i]);
		s->fresh = true;
		if (s->queues[i].wanted)
			gp_release_note_new(s, s->queues[i].qid);
	}
}

/* Merge the snapshot into the list of queues, and keep our own facts. */
static void merge(struct gpreempt_session *s, uint32_t count)
{
	struct gpreempt_session_queue *queues = s->spare;
	bool fresh[GP_MAX_IDS];
	uint32_t i;

	if (count)
		qsort(s->snapshot, count, sizeof(*s->snapshot), compare_entries);
	for (i = 0; i < count; i++) {
		const struct kfd_queue_snapshot_entry *entry = &s->snapshot[i];
		const struct gpreempt_session_queue *old;

		old = gp_session_find(s, entry->queue_id);
		/* No node has the id 0: see forget_new(). */
		fresh[i] = !old || !old->gpu_id;
		queues[i] = !fresh[i] ? *old :
					(struct gpreempt_session_queue){
						.qid = entry->queue_id,
						.priority = GPREEMPT_UNKNOWN,
					};
		queues[i].gpu_id = entry->gpu_id;
		queues[i].type = queue_type(entry->queue_type);
	}
	s->spare = s->queues;
	s->queues = queues;
	s->count = count;
	judge_new(s, fresh);
	gp_release_count(s, shr_now_ns());
}

int gp_session_refresh(struct gpreempt_session *s)
{
	static const char step[] = "asking for the queues";
	int ret;

	if (s->state == GP_SESSION_LOST || s->state == GP_SESSION_ENDED)
		return -ENOTCONN;
	for (;;) {
		uint32_t count = s->capacity;

		/* The driver acknowledges only the queues that it copies. */
		ret = gp_kfd_snapshot(&s->kfd, true, s->snapshot, &count);
		if (ret)
			return gp_session_fail_trap(s, ret, step);
		if (count > GP_MAX_IDS)
			return gp_session_fail(s, -E2BIG, GPREEMPT_SYSTEM, step);
		forget_new(s, count < s->capacity ? count : s->capacity);
		if (count <= s->capacity) {
			merge(s, count);
			return 0;
		}
		ret = set_capacity(s, count + SPARE_ROOM);
		if (ret)
			return gp_session_fail(s, ret, GPREEMPT_SYSTEM, step);
	}
}

/* Acts of the session itself: on signals, new queues, the runtime, the end. */

/* Stops and events handled in one call, at most, so that the caller's other work goes on. */
#define MAX_ROUNDS 32

static int end(struct gpreempt_session *s, bool stopped, enum gpreempt_reason reason)
{
	gp_session_leave(s, stopped);
	gp_session_fail(s, -ESRCH, reason, "watching the process");
	return GPREEMPT_EVENT_ENDED;
}

static bool is_stop_signal(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/* The process has stopped for us. Let it go on as it would without us. */
static int handle_stop(struct gpreempt_session *s, int status)
{
	int sig, request = PTRACE_CONT, happened = 0;

	if (!WIFSTOPPED(status)) {
		s->traced = false;
		s->enabled = false;
		return end(s, true, GPREEMPT_ENDED);
	}
	sig = WSTOPSIG(status);
	switch (status >> 16) {
	case PTRACE_EVENT_EXIT:
		/*
		 * Leave before it exits: an exit with the debug session open
		 * can wait for an interrupt for ever.
		 */
		return end(s, true, GPREEMPT_ENDED);
	case PTRACE_EVENT_EXEC:
		/* The driver has dropped the session with the old program. */
		s->enabled = false;
		return end(s, true, GPREEMPT_EXECED);
	case PTRACE_EVENT_STOP:
		/* Job control has stopped the process: it stays so, but we see its SIGCONT. */
		if (is_stop_signal(sig) != s->stopped)
			happened = GPREEMPT_EVENT_JOB;
		s->stopped = is_stop_signal(sig);
		if (s->stopped)
			request = PTRACE_LISTEN;
		sig = 0;
		break;
	}
	s->g->ops->ptrace(s->g->be, request, s->kfd.pid, sig);
	/* These signals ask a program to end, and its end destroys its queues. */
	if (sig == SIGTERM || sig == SIGINT || sig == SIGHUP)
		gp_session_look_fast(s);
	return sig ? GPREEMPT_EVENT_SIGNAL : happened;
}

static int handle_stops(struct gpreempt_session *s)
{
	int happened = 0, rounds;

	for (rounds = 0; rounds < MAX_ROUNDS; rounds++) {
		int status, ret;

		ret = s->g->ops->wait(s->g->be, s->kfd.pid, &status);
		if (ret < 0) {
			s->traced = false;
			return happened | end(s, true, GPREEMPT_ENDED);
		}
		if (!ret)
			break;
		happened |= handle_stop(s, status);
		if (s->state == GP_SESSION_ENDED)
			return happened;
	}
	s->g->ops->watch_next(s->g->be, s->watch);
	return happened;
}

static int lose(struct gpreempt_session *s)
{
	/* Stop polling this descriptor; it would always be readable. */
	shr_close(&s->events);
	s->enabled = false;
	s->state = GP_SESSION_LOST;
	gp_session_all_run(s);
	gp_session_fail(s, -ENOTCONN, GPREEMPT_LOST, "watching the process");
	return GPREEMPT_EVENT_LOST;
}

/* Empty the pipe, of a byte for each event; false at its end. */
static bool drain(int fd, size_t *count)
{
	char bytes[256];
	ssize_t n;

	*count = 0;
	do {
		n = read(fd, bytes, sizeof(bytes));
		*count += n > 0 ? n : 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0;
}

static int handle_runtime(struct gpreempt_session *s)
{
	int ret = gp_kfd_answer_runtime(&s->kfd, &s->runtime);

	if (ret)
		return gp_session_fail_trap(s, ret, "answering the runtime");
	/* A disable has resumed all queues. */
	if (s->runtime != DEBUG_RUNTIME_STATE_ENABLED)
		gp_session_all_run(s);
	else
		s->had_runtime = true;
	return GPREEMPT_EVENT_RUNTIME;
}

/* Acknowledge new queues and suspend those that match: they run until then, so hurry. */
static int take_new_queues(struct gpreempt_session *s)
{
	int ret;

	s->fresh = false;
	ret = gp_session_refresh(s);
	if (!ret && s->fresh)
		ret = gp_session_apply(s);
	if (ret)
		return ret;
	return s->fresh ? GPREEMPT_EVENT_QUEUES : 0;
}

/* Handle one event of the driver; -EAGAIN when there is none. */
static int handle_exception(struct gpreempt_session *s)
{
	uint64_t exceptions;
	int happened = 0, ret;

	ret = gp_kfd_query_event(&s->kfd, &exceptions);
	if (ret == -EAGAIN)
		return ret;
	if (ret)
		return gp_session_fail_trap(s, ret, "asking for events");
	if (exceptions & KFD_EC_MASK(EC_QUEUE_NEW)) {
		ret = take_new_queues(s);
		if (ret < 0)
			return ret;
		happened |= ret;
	}
	if (exceptions & KFD_EC_MASK(EC_PROCESS_RUNTIME)) {
		ret = handle_runtime(s);
		if (ret < 0)
			return ret;
		happened |= ret;
	}
	return happened;
}

static int handle_events(struct gpreempt_session *s)
{
	int happened = 0, rounds, ret = 0;
	size_t count;

	if (!drain(s->events, &count))
		return lose(s);
	s->release.missing += count;
	/* Most events are new queues: take them without a question first. */
	if (s->n_rules)
		ret = take_new_queues(s);
	if (ret > 0)
		happened = ret;
	for (rounds = 0; ret >= 0 && rounds < MAX_ROUNDS; rounds++) {
		ret = handle_exception(s);
		if (ret > 0)
			happened |= ret;
	}
	/* Some of the missing events are of the runtime: start the count again. */
	if (happened & GPREEMPT_EVENT_RUNTIME)
		gp_release_start(s);
	else if (ret == -EAGAIN)
		gp_release_note_unseen(s);
	if (ret == -EAGAIN && happened)
		ret = gp_session_apply(s);
	/* A moment later the stop reports the end. */
	if (ret == -EAGAIN || ret == -ESRCH || ret >= 0)
		return happened;
	return s->state == GP_SESSION_LOST ? happened | GPREEMPT_EVENT_LOST : ret;
}

static int handle_timer(struct gpreempt_session *s)
{
	uint64_t count;
	ssize_t n;
	int ret;

	n = read(s->timer, &count, sizeof(count));
	(void)n;
	s->timer_armed = false;
	if (s->state == GP_SESSION_LOST)
		return 0;
	ret = gp_session_scan_destroyers(s);
	if (ret == -ESRCH)
		return 0;
	return s->state == GP_SESSION_LOST ? GPREEMPT_EVENT_LOST : ret;
}

int gpreempt_session_dispatch(struct gpreempt_session *s)
{
	/* Descriptors in the order of their importance: a stopped process waits for us. */
	struct {
		int *fd;
		int (*handle)(struct gpreempt_session *s);
	} sources[] = {
		{ &s->stops, handle_stops },
		{ &s->events, handle_events },
		{ &s->timer, handle_timer },
	};
	struct epoll_event ready[ARRAY_SIZE(sources)];
	uint64_t now = shr_now_ns();
	int n, j, ret, happened = 0;
	size_t i;

	if (s->state == GP_SESSION_ENDED)
		return GPREEMPT_EVENT_ENDED;
	n = epoll_wait(s->epoll, ready, ARRAY_SIZE(sources), 0);
	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		for (j = 0; j < n; j++)
			if (ready[j].data.ptr == sources[i].fd)
				break;
		if (j >= n || *sources[i].fd < 0)
			continue;
		ret = sources[i].handle(s);
		if (ret < 0)
			return ret;
		happened |= ret;
		if (s->state == GP_SESSION_ENDED)
			return happened;
	}
	/* Repeat this until the renewal: an owner must not miss that nothing is held. */
	if (s->state == GP_SESSION_LOST)
		happened |= GPREEMPT_EVENT_LOST;
	s->release.dispatched = now;
	happened |= gp_release_report(s);
	gp_session_arm(s);
	return happened;
}

int gpreempt_session_wait(struct gpreempt_session *s, uint64_t timeout_ns, const int *stop)
{
	const int last = GPREEMPT_EVENT_LOST | GPREEMPT_EVENT_ENDED;
	uint64_t deadline = shr_later_ns(shr_now_ns(), timeout_ns);
	struct pollfd fds[2] = {
		{ .fd = s->epoll, .events = POLLIN },
		{ .fd = stop ? *stop : -1, .events = POLLIN },
	};
	int happened = 0;

	for (;;) {
		int ret = gpreempt_session_dispatch(s);
		uint64_t now = shr_now_ns();
		struct timespec ts;

		if (ret < 0)
			return ret;
		happened |= ret;
		if ((happened & last) || now >= deadline)
			return happened;
		ts = shr_timespec(deadline - now);
		if (ppoll(fds, 2, &ts, NULL) < 0)
			return -errno;
		if (fds[1].revents)
			return -EINTR;
	}
}

int gp_session_await_queues(struct gpreempt_session *s, uint64_t timeout_ns)
{
	static const char step[] = "waiting for its queues";
	uint64_t deadline = shr_later_ns(shr_now_ns(), timeout_ns);

	for (;;) {
		int ret = gpreempt_session_dispatch(s);

		if (ret < 0)
			return ret;
		if (ret & GPREEMPT_EVENT_ENDED)
			return -ESRCH;
		if (ret & GPREEMPT_EVENT_LOST)
			return -ENOTCONN;
		if (s->count)
			return 0;
		if (s->had_runtime && s->runtime != DEBUG_RUNTIME_STATE_ENABLED)
			return gp_session_fail(s, -ESRCH, GPREEMPT_ENDING, step);
		if (shr_now_ns() >= deadline)
			return gp_session_fail(s, -ETIMEDOUT, GPREEMPT_SYSTEM, step);
		shr_sleep_ns(NSEC_PER_MSEC);
	}
}

int gp_session_renew(struct gpreempt_session *s)
{
	int ret;

	if (s->state != GP_SESSION_LOST)
		return -EINVAL;
	ret = gp_session_enable(s);
	if (!ret) {
		s->state = GP_SESSION_OPEN;
		ret = gp_session_refresh(s);
	}
	if (!ret) {
		gp_release_start(s);
		ret = gp_session_apply(s);
	}
	return ret;
}

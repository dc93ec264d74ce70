// SPDX-License-Identifier: LGPL-2.1-or-later
/* The thread of a process in a gang. */
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/see/see.h"
#include "shared/util.h"
#include "gang.h"

#define STACK_SIZE (256 * 1024)

static void note_events(struct gp_member *m, int happened)
{
	if (!happened)
		return;
	pthread_mutex_lock(&m->gang->lock);
	m->public.events |= happened;
	if (happened & GPREEMPT_EVENT_ENDED)
		m->public.error = *gp_method_error(&m->method);
	pthread_mutex_unlock(&m->gang->lock);
	eventfd_write(m->gang->events, 1);
}

/* Note a GPU of the member. Under the gang's lock. */
static void note_gpu(void *data, uint32_t gpu_id)
{
	struct gp_member *m = data;
	size_t gpu;

	for (gpu = m->last_gpu; gpu < m->gang->n_nodes; gpu++)
		if (m->gang->nodes[gpu].gpu_id == gpu_id)
			m->last_gpu = gpu;
}

/* How far the driver has to go through its GPUs for this process. */
static void note_gpus(struct gp_member *m)
{
	pthread_mutex_lock(&m->gang->lock);
	m->last_gpu = 0;
	m->method.ops->each_gpu(&m->method, note_gpu, m);
	pthread_mutex_unlock(&m->gang->lock);
}

static void note_loss(void *data, const struct gpreempt_error *err)
{
	(void)err;
	note_events(data, GPREEMPT_EVENT_LOST);
}

/*
 * Dispatch a member. A process whose session was lost for good is still traced: its signals are
 * passed on, and the loss has been reported.
 */
static int dispatch_method(struct gp_member *m)
{
	int ret;

	if (!m->method.keeper.over)
		return m->method.ops->dispatch(&m->method);
	ret = gpreempt_session_dispatch(m->method.keeper.session);
	return ret > 0 ? ret & ~GPREEMPT_EVENT_LOST : ret;
}

static void dispatch(struct gp_member *m)
{
	struct gpreempt_error err = { 0 };
	int ret = dispatch_method(m);

	if (ret > 0)
		note_events(m, ret);
	if (ret > 0 && (ret & GPREEMPT_EVENT_QUEUES))
		note_gpus(m);
	/* A member without a loss keeps the result of its last call. */
	if (ret >= 0 && !(ret & GPREEMPT_EVENT_LOST))
		return;
	if (ret < 0)
		err = *gp_method_error(&m->method);
	pthread_mutex_lock(&m->gang->lock);
	m->public.code = ret < 0 ? ret : 0;
	m->public.error = err;
	pthread_mutex_unlock(&m->gang->lock);
}

static void change_member(struct gp_member *m)
{
	const struct gp_method_ops *ops = m->method.ops;
	struct gpreempt_outcome out = {
		.slots_ns = GPREEMPT_UNKNOWN,
		.resolution_ns = GPREEMPT_UNKNOWN,
	};
	uint64_t start;
	int ret;

	if (m->order == GP_ORDER_SUSPEND)
		ops->prepare(&m->method, m->which);
	sem_post(&m->ready);
	shr_sem_wait(&m->go);
	start = shr_now_ns();
	sem_post(&m->entered);
	ret = m->order == GP_ORDER_SUSPEND ? ops->suspend(&m->method, m->which, &out) :
					     ops->resume(&m->method, m->which, &out);
	m->end_ns = shr_now_ns();
	pthread_mutex_lock(&m->gang->lock);
	m->public.code = ret;
	m->public.outcome = out;
	m->public.start_ns = start - m->gang->released_ns;
	if (ret || out.failed)
		m->public.error = *gp_method_error(&m->method);
	pthread_mutex_unlock(&m->gang->lock);
	sem_post(&m->done);
	/* Handle the events of the meantime, and set the timer: see gpreempt_session_fd(). */
	dispatch(m);
}

static void verify(struct gp_member *m)
{
	enum gpreempt_verified_by by;
	enum gpreempt_verdict verdict = m->method.ops->verify(&m->method, &by);

	pthread_mutex_lock(&m->gang->lock);
	m->public.verdict = verdict;
	m->public.verified_by = by;
	pthread_mutex_unlock(&m->gang->lock);
	sem_post(&m->done);
}

static void sample(struct gp_member *m)
{
	int ret = m->method.ops->sample(&m->method, m->gang->sampling);

	pthread_mutex_lock(&m->gang->lock);
	m->public.code = ret;
	if (ret)
		m->public.error = *gp_method_error(&m->method);
	pthread_mutex_unlock(&m->gang->lock);
	sem_post(&m->done);
}

static void carry_out(struct gp_member *m)
{
	switch (m->order) {
	case GP_ORDER_VERIFY:
		verify(m);
		break;
	case GP_ORDER_SAMPLE:
		sample(m);
		break;
	default:
		change_member(m);
	}
}

static void run(struct gp_member *m)
{
	struct pollfd fds[2] = {
		{ .fd = m->wake, .events = POLLIN },
		{ .fd = gp_method_fd(&m->method), .events = POLLIN },
	};

	for (;;) {
		eventfd_t count;

		if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
			continue;
		if (fds[1].revents)
			dispatch(m);
		if (m->public.events & GPREEMPT_EVENT_ENDED)
			fds[1].fd = -1;
		if (eventfd_read(m->wake, &count) < 0)
			continue;
		if (m->order == GP_ORDER_CLOSE)
			return;
		carry_out(m);
	}
}

static void *member_thread(void *arg)
{
	struct gp_member *m = arg;
	const struct gp_method_ops *ops = m->method.ops;
	uint64_t start = shr_now_ns();

	m->method.keeper.lost = note_loss;
	m->method.keeper.data = m;
	m->tid = gettid();
	shr_ask_short_slices();
	m->public.code = ops->open(&m->method);
	m->public.open_ns = shr_now_ns() - start;
	if (m->public.code) {
		m->public.error = m->method.error;
		sem_post(&m->done);
		return NULL;
	}
	if (m->gang->sampling)
		ops->sample(&m->method, true);
	note_gpus(m);
	sem_post(&m->done);
	run(m);
	m->public.code = ops->close(&m->method);
	return NULL;
}

/* Gang: several processes, each with a thread, suspended at the same time. */

/* Time to take and leave the locks of a host's GPUs, on a slow CPU. */
#define PASS_NS (100 * NSEC_PER_USEC)

/* Priorities, for hosts with too few CPUs. */
enum level { LEVEL_ENTRANT = 1, LEVEL_SENDER };

static void wake(struct gp_member *m, enum gp_order order, const struct gpreempt_filter *which)
{
	m->order = order;
	m->which = which;
	eventfd_write(m->wake, 1);
}

static void free_member(struct gp_member *m)
{
	close(m->wake);
	sem_destroy(&m->ready);
	sem_destroy(&m->go);
	sem_destroy(&m->entered);
	sem_destroy(&m->done);
	free(m);
}

static struct gp_member *new_member(struct gpreempt_gang *gang, pid_t pid,
				    enum gpreempt_method method)
{
	struct gp_member *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->gang = gang;
	m->public.pid = pid;
	m->public.method = method;
	m->method = (struct gp_method){ .ops = gp_methods[method], .g = gang->g, .pid = pid };
	m->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (m->wake < 0) {
		free(m);
		return NULL;
	}
	sem_init(&m->ready, 0, 0);
	sem_init(&m->go, 0, 0);
	sem_init(&m->entered, 0, 0);
	sem_init(&m->done, 0, 0);
	return m;
}

int gpreempt_gang_new(struct gpreempt *g, struct gpreempt_gang **out)
{
	struct gpreempt_gang *gang = calloc(1, sizeof(*gang));

	if (!gang)
		return -ENOMEM;
	gang->g = g;
	gang->events = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (gang->events < 0) {
		int ret = -errno;

		free(gang);
		return ret;
	}
	pthread_mutex_init(&gang->lock, NULL);
	*out = gang;
	return 0;
}

static struct gp_member **find(struct gpreempt_gang *gang, pid_t pid)
{
	size_t i;

	for (i = 0; i < gang->count; i++)
		if (gang->members[i]->public.pid == pid)
			return &gang->members[i];
	return NULL;
}

/*
 * Learn the order in which the driver takes the locks of its GPUs, which is that of its
 * topology. Without it the gang works, but not in parallel.
 */
static void learn_nodes(struct gpreempt_gang *gang)
{
	struct gpreempt_node *nodes;
	size_t count;

	if (gp_sysfs_nodes(gang->g, &nodes, &count))
		return;
	pthread_mutex_lock(&gang->lock);
	free(gang->nodes);
	gang->nodes = nodes;
	gang->n_nodes = count;
	pthread_mutex_unlock(&gang->lock);
}

int gpreempt_gang_add(struct gpreempt_gang *gang, pid_t pid, enum gpreempt_method method,
		      struct gpreempt_error *err)
{
	static const char step[] = "adding a process to the gang";
	struct gp_member *m;
	int ret;

	if (method >= GPREEMPT_METHODS)
		return gp_error(err, -EINVAL, GPREEMPT_SYSTEM, pid, step);
	if (find(gang, pid))
		return gp_error(err, -EEXIST, GPREEMPT_SYSTEM, pid, step);
	learn_nodes(gang);
	if (shr_array_room(&gang->members, gang->count, 1, sizeof(*gang->members)))
		return gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, pid, step);
	m = new_member(gang, pid, method);
	if (!m)
		return gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, pid, step);
	/* The thread opens the session, and posts done. */
	ret = shr_thread_start(&m->thread, STACK_SIZE, false, member_thread, m);
	if (ret) {
		free_member(m);
		return gp_error(err, ret, GPREEMPT_SYSTEM, pid, step);
	}
	shr_sem_wait(&m->done);
	ret = m->public.code;
	if (ret) {
		pthread_join(m->thread, NULL);
		if (err)
			*err = m->public.error;
		free_member(m);
		return ret;
	}
	gang->members[gang->count++] = m;
	return 0;
}

static int end_member(struct gp_member *m)
{
	int ret;

	wake(m, GP_ORDER_CLOSE, NULL);
	pthread_join(m->thread, NULL);
	ret = m->public.code;
	free_member(m);
	return ret;
}

int gpreempt_gang_remove(struct gpreempt_gang *gang, pid_t pid)
{
	struct gp_member **place = find(gang, pid);
	struct gp_member *m;

	if (!place)
		return -ESRCH;
	m = *place;
	*place = gang->members[--gang->count];
	return end_member(m);
}

/* Members whose last GPU is late in KFD's order come first: the driver takes longest for them. */
static int compare_members(const void *a, const void *b)
{
	const struct gp_member *x = *(struct gp_member *const *)a;
	const struct gp_member *y = *(struct gp_member *const *)b;

	if (x->last_gpu != y->last_gpu)
		return x->last_gpu < y->last_gpu ? 1 : -1;
	return (x->public.pid > y->public.pid) - (x->public.pid < y->public.pid);
}

static void sort_members(struct gpreempt_gang *gang)
{
	pthread_mutex_lock(&gang->lock);
	if (gang->count)
		qsort(gang->members, gang->count, sizeof(*gang->members), compare_members);
	pthread_mutex_unlock(&gang->lock);
}

static int sum_up(struct gpreempt_gang *gang, struct gpreempt_gang_outcome *out)
{
	struct gpreempt_gang_outcome sum = { .members = gang->count };
	uint64_t end = gang->released_ns;
	int ret = 0;
	size_t i;

	pthread_mutex_lock(&gang->lock);
	for (i = 0; i < gang->count; i++) {
		const struct gp_member *m = gang->members[i];

		if (m->end_ns > end)
			end = m->end_ns;
		if (!ret)
			ret = m->public.code;
		sum.succeeded += !m->public.code &&
				 m->public.outcome.done == m->public.outcome.requested;
		sum.requested += m->public.outcome.requested;
		sum.done += m->public.outcome.done;
	}
	pthread_mutex_unlock(&gang->lock);
	sum.span_ns = end - gang->released_ns;
	if (out)
		*out = sum;
	return ret;
}

static void send(struct gp_member *m)
{
	sem_post(&m->go);
	shr_sem_wait(&m->entered);
}

/* Do members that poll in the driver take the CPU from members that come later? */
static bool is_crowded(const struct gpreempt_gang *gang)
{
	return shr_processors() < gang->count;
}

/*
 * Send the order to one member after the other. A member has a higher priority than those that
 * poll until it has passed the GPUs that are not its own, and then the same one; the sender has
 * the highest. Returns false if the kernel refuses the sender's priority.
 */
static bool send_urgently(struct gpreempt_gang *gang)
{
	struct shr_sched sender, entrant;
	size_t i;

	if (!shr_urgent(0, LEVEL_SENDER, &sender))
		return false;
	for (i = 0; i < gang->count; i++) {
		struct gp_member *m = gang->members[i];
		bool urgent = shr_urgent(m->tid, LEVEL_ENTRANT, &entrant);

		send(m);
		shr_sleep_ns(PASS_NS);
		if (urgent)
			shr_not_urgent(m->tid, &entrant);
	}
	shr_not_urgent(0, &sender);
	return true;
}

static void send_all(struct gpreempt_gang *gang)
{
	size_t i;

	for (i = 0; i < gang->count; i++) {
		send(gang->members[i]);
		/* The member that we woke may need this CPU; let it run first. */
		sched_yield();
	}
}

static int change(struct gpreempt_gang *gang, enum gp_order order,
		  const struct gpreempt_filter *which, struct gpreempt_gang_outcome *out)
{
	size_t i;

	sort_members(gang);
	for (i = 0; i < gang->count; i++)
		wake(gang->members[i], order, which);
	for (i = 0; i < gang->count; i++)
		shr_sem_wait(&gang->members[i]->ready);
	gang->released_ns = shr_now_ns();
	/* A suspend waits for its own saves, a resume at most for those of others. */
	if (order != GP_ORDER_SUSPEND || !is_crowded(gang) || !send_urgently(gang))
		send_all(gang);
	for (i = 0; i < gang->count; i++)
		shr_sem_wait(&gang->members[i]->done);
	return sum_up(gang, out);
}

int gpreempt_gang_suspend(struct gpreempt_gang *gang, const struct gpreempt_filter *which,
			  struct gpreempt_gang_outcome *out)
{
	return change(gang, GP_ORDER_SUSPEND, which, out);
}

int gpreempt_gang_resume(struct gpreempt_gang *gang, const struct gpreempt_filter *which,
			 struct gpreempt_gang_outcome *out)
{
	return change(gang, GP_ORDER_RESUME, which, out);
}

static void tell_all(struct gpreempt_gang *gang, enum gp_order order)
{
	size_t i;

	for (i = 0; i < gang->count; i++)
		wake(gang->members[i], order, NULL);
	for (i = 0; i < gang->count; i++)
		shr_sem_wait(&gang->members[i]->done);
}

void gpreempt_gang_verify(struct gpreempt_gang *gang)
{
	tell_all(gang, GP_ORDER_VERIFY);
}

int gpreempt_gang_sample_slots(struct gpreempt_gang *gang, bool on)
{
	int ret = 0;
	size_t i;

	gang->sampling = on;
	tell_all(gang, GP_ORDER_SAMPLE);
	for (i = 0; i < gang->count && !ret; i++)
		ret = gang->members[i]->public.code;
	return ret;
}

size_t gpreempt_gang_members(struct gpreempt_gang *gang, struct gpreempt_member *members,
			     size_t room)
{
	eventfd_t count;
	size_t i;

	eventfd_read(gang->events, &count);
	pthread_mutex_lock(&gang->lock);
	for (i = 0; i < gang->count && i < room; i++)
		members[i] = gang->members[i]->public;
	pthread_mutex_unlock(&gang->lock);
	return gang->count;
}

int gpreempt_gang_fd(const struct gpreempt_gang *gang)
{
	return gang->events;
}

void gpreempt_gang_free(struct gpreempt_gang *gang)
{
	if (!gang)
		return;
	while (gang->count)
		end_member(gang->members[--gang->count]);
	pthread_mutex_destroy(&gang->lock);
	close(gang->events);
	free(gang->members);
	free(gang->nodes);
	free(gang);
}

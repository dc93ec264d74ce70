// SPDX-License-Identifier: GPL-2.0-only
/* Poller: looks at the queues of online and offline processes, and notes their work. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#include "cli/message.h"
#include "shared/util.h"
#include "guard.h"

/*
 * Begin and end of online work, as events. The poller notes it, under the lock and without a
 * system call; the main thread prints it in its next step.
 */

int guard_work_open(struct guard *guard)
{
	if (!guard->options->json || !guard->options->verbose)
		return 0;
	guard->work = calloc(1, sizeof(*guard->work));
	return guard->work ? 0 : ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
}

static void add(struct guard_work *work, pid_t pid, bool busy, uint64_t ns)
{
	if (work->n == GUARD_WORKS)
		work->lost++;
	else
		work->note[work->at][work->n++] = (struct guard_note){ pid, busy, ns };
}

void guard_work_note(struct guard *guard, pid_t pid, int seen, uint64_t now)
{
	if (!guard->work)
		return;
	/* Work that came and went came after the last look. */
	if (seen == GUARD_PULSE)
		add(guard->work, pid, true, guard->turn.looked_ns);
	else if (seen == GUARD_BUSY)
		add(guard->work, pid, true, now);
	if (seen != GUARD_BUSY)
		add(guard->work, pid, false, now);
}

void guard_work_tell(struct guard *guard)
{
	struct guard_work *work = guard->work;
	const struct guard_note *told;
	size_t n, lost, i;

	if (!work)
		return;
	pthread_mutex_lock(&guard->lock);
	told = work->note[work->at];
	n = work->n;
	lost = work->lost;
	work->at = !work->at;
	work->n = work->lost = 0;
	pthread_mutex_unlock(&guard->lock);
	for (i = 0; i < n; i++)
		guard_tell_work(guard, &told[i]);
	if (lost)
		guard_tell_lost(lost);
}

/*
 * Has an online process work? Its AQL indices show packets that the GPU has
 * not begun. Equal indices do not mean that the last packet is done: its
 * completion signal shows that, if it has one.
 */

#define PACKET_SIZE   64
#define PACKET_SIGNAL 56 /* completion_signal in any AQL packet */
#define SIGNAL_VALUE  8	 /* in amd_signal_t */

/* ROCm's runtime has both indices of a queue in one struct (amd_queue_t), 72 bytes apart. */
#define GAP_MAX 128

struct indices {
	uint8_t bytes[GUARD_QUEUES * (GAP_MAX + sizeof(uint64_t))];
	uint64_t written[GUARD_QUEUES];
	uint64_t read[GUARD_QUEUES];
};

static int read_word(pid_t pid, uint64_t address, uint64_t *out)
{
	struct iovec here = { out, sizeof(*out) };
	struct iovec there = { (void *)(uintptr_t)address, sizeof(*out) };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == sizeof(*out) ? 0 : -EFAULT;
}

/*
 * Add the memory that has both words: one range where they are near, as the kernel takes locks and
 * looks up the page for each. Returns the size; the words are at its ends.
 */
static size_t add_ranges(uint64_t one, uint64_t other, struct iovec *there, size_t *n)
{
	uint64_t low = one < other ? one : other, high = one < other ? other : one;
	size_t gap = high - low, word = sizeof(uint64_t);
	bool near = gap <= GAP_MAX;

	there[(*n)++] = (struct iovec){ (void *)(uintptr_t)low, near ? gap + word : word };
	if (!near)
		there[(*n)++] = (struct iovec){ (void *)(uintptr_t)high, word };
	return near ? gap + word : 2 * word;
}

/*
 * Read all indices of all queues in one call. The GPU moves no read index of a parked process:
 * where the write indices are known, new ones tell all.
 */
static int read_indices(const struct guard_sight *sight, struct indices *indices)
{
	struct iovec there[2 * GUARD_QUEUES], here = { indices->bytes, 0 };
	const uint8_t *at = indices->bytes;
	size_t size[GUARD_QUEUES], i, n = 0;
	const struct guard_queue *queue;
	bool both = !sight->parked;
	ssize_t ret;

	for (i = 0; i < sight->n; i++)
		both |= !sight->queue[i].known;
	for (i = 0; i < sight->n; i++) {
		queue = &sight->queue[i];
		size[i] = add_ranges(queue->write_addr, both ? queue->read_addr : queue->write_addr,
				     there, &n);
		here.iov_len += size[i];
	}
	ret = process_vm_readv(sight->pid, &here, 1, there, n, 0);
	if (ret < 0)
		return -errno;
	if ((size_t)ret != here.iov_len)
		return -EFAULT;
	for (i = 0; i < sight->n; at += size[i++]) {
		const uint8_t *end = at + size[i] - sizeof(uint64_t);
		bool first = sight->queue[i].write_addr <= sight->queue[i].read_addr;

		memcpy(&indices->written[i], first ? at : end, sizeof(uint64_t));
		memcpy(&indices->read[i], first ? end : at, sizeof(uint64_t));
	}
	return 0;
}

/* The signal of the last packet, which stays in the ring when it is begun. */
static uint64_t find_signal(const struct guard_sight *sight, const struct guard_queue *queue)
{
	uint64_t at, signal;

	if (!queue->written || !queue->packets)
		return 0;
	at = queue->ring + (queue->written - 1) % queue->packets * PACKET_SIZE;
	if (read_word(sight->pid, at + PACKET_SIGNAL, &signal))
		return 0;
	return signal;
}

/* Does the signal wait? A signal counts down; one that cannot be read tells nothing. */
static bool signal_waits(const struct guard_sight *sight, const struct guard_queue *queue)
{
	uint64_t value;

	return queue->signal && !read_word(sight->pid, queue->signal + SIGNAL_VALUE, &value) &&
	       (int64_t)value > 0;
}

/* Look at a queue. True: it had work since the last look. */
static bool look_at(const struct guard_sight *sight, struct guard_queue *queue, uint64_t read,
		    uint64_t written)
{
	bool moved = queue->known && written != queue->written;
	bool found = !queue->known || moved;

	queue->written = written;
	queue->known = true;
	if (read != written) {
		/* The last packet may not be written while packets come. */
		queue->signal = 0;
		queue->busy = true;
		return true;
	}
	if (found || (queue->busy && !queue->signal)) {
		queue->signal = find_signal(sight, queue);
		queue->unsure = queue->written && !queue->signal;
	}
	queue->busy = signal_waits(sight, queue);
	/* The packet is done: the program may use the signal for something else now. */
	if (!queue->busy)
		queue->signal = 0;
	return moved || queue->busy;
}

/*
 * Does a packet without a signal execute still? Only waves in flight show that. A queue of which
 * the module does not know them is done, or in doubt not.
 */
static bool executes(struct guard_sight *sight)
{
	__cleanup_list struct gpreempt_view *view = NULL;
	bool any = false, unsure = false;
	size_t i, j;

	for (i = 0; i < sight->n; i++)
		unsure |= sight->queue[i].unsure;
	if (unsure && sight->dark)
		return true;
	if (!unsure || !sight->g || gpreempt_view_read(sight->g, sight->pid, &view, NULL))
		return false;
	for (i = 0; i < sight->n; i++) {
		struct guard_queue *queue = &sight->queue[i];
		bool runs = false;

		for (j = 0; queue->unsure && j < view->count; j++)
			runs |= view->queues[j].ring == (int64_t)queue->ring &&
				view->queues[j].waves > 0;
		queue->unsure = runs;
		any |= runs;
	}
	return any;
}

int guard_look(struct guard_sight *sight)
{
	bool busy = false, worked = false;
	struct indices indices;
	size_t i;
	int ret;

	if (!sight->n)
		return GUARD_IDLE;
	ret = read_indices(sight, &indices);
	if (ret)
		return ret;
	for (i = 0; i < sight->n; i++) {
		worked |= look_at(sight, &sight->queue[i], indices.read[i], indices.written[i]);
		busy |= sight->queue[i].busy;
	}
	busy = busy || executes(sight);
	return busy ? GUARD_BUSY : worked ? GUARD_PULSE : GUARD_IDLE;
}

static void set_queue(struct guard_queue *out, const struct gpreempt_queue *queue)
{
	*out = (struct guard_queue){
		.qid = queue->qid,
		.read_addr = queue->rptr_addr,
		.write_addr = queue->wptr_addr,
		.ring = queue->ring,
		.packets = queue->ring_size / 64,
	};
}

static bool can_be_seen(const struct gpreempt_queue *queue)
{
	return queue->type == GPREEMPT_QUEUE_COMPUTE_AQL && queue->rptr_addr > 0 &&
	       queue->wptr_addr > 0 && queue->ring > 0 && queue->ring_size > 0;
}

bool guard_watch_queues(struct guard_online *online, const struct gpreempt_view *view)
{
	bool all = true;
	size_t i;

	online->n = 0;
	for (i = 0; i < view->count; i++)
		if (online->n < GUARD_QUEUES && can_be_seen(&view->queues[i]))
			set_queue(&online->queue[online->n++], &view->queues[i]);
		else
			all = false;
	online->gone = false;
	return all && online->n;
}

void guard_watch_end(struct guard_online *online)
{
	if (online->sight && online->sight->since_ns)
		online->sight->left = true;
	else
		free(online->sight);
	online->sight = NULL;
}

/* Take over queues that came or went; the state of the others is kept. */
static void guard_sight_update(struct guard_sight *sight, const struct guard_online *online)
{
	struct guard_queue fresh[GUARD_QUEUES];
	size_t i, j;

	for (i = 0; i < online->n; i++) {
		fresh[i] = online->queue[i];
		for (j = 0; j < sight->n; j++)
			if (sight->queue[j].qid == fresh[i].qid &&
			    sight->queue[j].write_addr == fresh[i].write_addr)
				fresh[i] = sight->queue[j];
	}
	memcpy(sight->queue, fresh, online->n * sizeof(*fresh));
	sight->n = online->n;
}

/*
 * The threads of the poller, one of which polls at a time.
 *
 * A read of another process's memory may never end: the page may be one of userfaultfd or of a
 * FUSE file, and the kernel waits for whatever the process does to its address space. A second
 * thread, the stand-in, watches the one whose turn it is, and takes over when a read takes
 * long. When that read returns, the thread that waited for it is the next stand-in. Even
 * SIGKILL does not end a wait for a page of FUSE, so these threads share no descriptors with
 * the others: guard's socket and locks are closed when guard is killed.
 */

/* Workers release their targets when the poller is away for longer. */
#ifndef GUARD_LATE_NS
#define GUARD_LATE_NS NSEC_PER_SEC
#endif
/* A read takes microseconds. */
#define STUCK_NS    (10 * NSEC_PER_MSEC)
#define STAND_IN_NS (3 * NSEC_PER_MSEC)
/* And while no online work can come. */
#define STAND_IN_QUIET_NS (15 * NSEC_PER_MSEC)
/* Time in which all threads end: no more than a sleep of one. */
#define END_NS (2 * NSEC_PER_SEC)

/* Can online work come, which a look at a parked process delays? Under the lock. */
static bool expects_online(const struct guard *guard)
{
	return guard->n_online || guard->n_clients;
}

/* Stand by until the polling thread has to be relieved. False: guard ends. */
static bool stand_in(struct guard *guard, unsigned int me)
{
	struct guard_turn *turn = &guard->turn;
	uint64_t ns = STAND_IN_NS;
	bool taken = false;

	prctl(PR_SET_NAME, "guard-stand-in");
	while (!taken && !atomic_load(&guard->quit)) {
		shr_sleep_ns(ns);
		pthread_mutex_lock(&guard->lock);
		ns = expects_online(guard) ? STAND_IN_NS : STAND_IN_QUIET_NS;
		taken = turn->since_ns && shr_now_ns() > turn->since_ns + STUCK_NS;
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
 * End the thread's turn: guard ends, or another thread took over and this one's read has
 * returned. True: this thread becomes the stand-in.
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

static void guard_poll_turn(struct guard *guard, unsigned int me);

/* Poll while it is this thread's turn; stand by while it is the stand-in. */
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
		guard_poll_turn(guard, me);
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
	/* This thread was to be the stand-in; another one can try. */
	if (ret)
		guard->turn.has_stand_in = false;
	pthread_mutex_unlock(&guard->lock);
	return NULL;
}

/* A thread starts on the CPUs of the one that makes it: pin that, for a moment. */
static int pin(const struct guard *guard, cpu_set_t *before)
{
	uint64_t cpu = guard->options->cpu;
	cpu_set_t set;

	if (!cpu)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(cpu - 1, &set);
	if (sched_getaffinity(0, sizeof(*before), before) < 0 ||
	    sched_setaffinity(0, sizeof(set), &set) < 0)
		return -errno;
	return 0;
}

static int start_thread(struct guard *guard)
{
	cpu_set_t before;
	pthread_t thread;
	int ret;

	ret = pin(guard, &before);
	if (ret)
		return ret;
	pthread_mutex_lock(&guard->lock);
	ret = shr_thread_start(&thread, 0, true, poller_thread, guard);
	/* A thread that never returns from a read cannot be joined. */
	if (!ret)
		pthread_detach(thread);
	guard->turn.threads += !ret;
	pthread_mutex_unlock(&guard->lock);
	if (guard->options->cpu)
		sched_setaffinity(0, sizeof(before), &before);
	return ret;
}

int guard_poll_start(struct guard *guard)
{
	int ret;

	atomic_store(&guard->common->beat_ns, shr_now_ns());
	guard->common->late_ns = GUARD_LATE_NS + guard->poll_ns;
	guard->turn.wake = GPREEMPT_POLICY_NEVER;
	guard->turn.looked_ns = shr_now_ns();
	/* The first thread that runs polls. */
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
	wanted = !turn->has_stand_in && turn->threads <= GUARD_STUCK && !atomic_load(&guard->quit);
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

/*
 * The poller: sees work come and go, asks the policy, and gives orders.
 *
 * It reads memory of other processes, without the lock, and such a read may never end. The process
 * that is being read is left out until that read returns; another thread takes over.
 */

/* Longest time between two looks for new targets. */
#define MAX_SLEEP_NS (20 * NSEC_PER_MSEC)
/*
 * Time between two looks at parked processes, when no online one can come to work, and looks in a
 * row: to sleep costs more than to look.
 */
#define PARKED_NS    NSEC_PER_MSEC
#define PARKED_LOOKS 8
/* Time after an order in which a worker is in the driver, and has the CPU where there is one. */
#define ORDER_NS NSEC_PER_MSEC
/* Looks between two reads of its CPU time, which take as long as a look. */
#define LOOKS_A_COUNT 64

static struct guard_offline *find_entity(struct guard *guard, unsigned int entity)
{
	size_t i;

	for (i = 0; i < guard->n_offline; i++)
		if (guard->offline[i].entity == entity)
			return &guard->offline[i];
	return NULL;
}

/*
 * Wake a parked process when it has work, or when that cannot be seen. The first look tells nothing
 * about the time before. Under the lock.
 */
static void note_parked(struct guard *guard, struct guard_online *watch, int seen, uint64_t now)
{
	struct guard_offline *offline = find_entity(guard, watch->entity);
	bool first = !watch->looked;

	watch->looked = true;
	if (offline)
		offline->looked_ns = now;
	if ((seen == GUARD_IDLE && !first) || !offline)
		return;
	offline->moved_ns = now;
	if (seen == GUARD_IDLE)
		return;
	/* The next looks at its registers may come before its work is there. */
	offline->worked[0] = UINT64_MAX;
	offline->work_ns = now;
	guard->changed |= guard->policy->entity[watch->entity].idle != 0;
	gp_policy_idle(guard->policy, watch->entity, 0, now);
}

/* Note the result of a look at one process. Under the lock. */
static void note_seen(struct guard *guard, struct guard_online *online, int seen, uint64_t now)
{
	bool busy = seen == GUARD_BUSY, before = online->busy;
	struct guard_turn *turn = &guard->turn;
	bool new = !online->looked;

	if (online->offline) {
		note_parked(guard, online, seen, now);
		return;
	}
	online->looked = true;
	online->gone |= seen < 0;
	if (seen == GUARD_BUSY || seen == GUARD_PULSE)
		turn->worked_ns = now;
	/* More of the same work. */
	if (before && seen == GUARD_PULSE)
		seen = GUARD_IDLE;
	if (busy == before && seen != GUARD_PULSE)
		return;
	guard_work_note(guard, online->target.pid, seen, now);
	/* We do not know when the work of a new process came. */
	if (!before && seen > 0 && !new)
		turn->arrival_ns = turn->looked_ns;
	if (seen == GUARD_PULSE)
		gpreempt_policy_busy(guard->policy, online->entity, true, now);
	gpreempt_policy_busy(guard->policy, online->entity, busy, now);
	online->busy = busy;
	guard->changed = true;
}

static void carry_out(struct guard *guard, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct gpreempt_policy_action *action = &guard->turn.actions[i];
		bool arrival = action->reason == GPREEMPT_POLICY_ARRIVAL;
		struct guard_offline *offline = find_entity(guard, action->entity);
		struct guard_order order = {
			.nodes = action->nodes,
			.reason = action->reason,
			.arrival_ns = arrival ? guard->turn.arrival_ns : 0,
		};

		if (offline)
			guard_worker_order(offline->worker, &order);
	}
	if (n)
		guard->turn.ordered_ns = shr_now_ns();
}

/* Are there too many stuck threads? Then no memory is read any more, but servers may still ask. */
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
	/* A process of which nothing is known has no work online, and may have some offline. */
	int unknown = online->offline ? -EAGAIN : GUARD_IDLE;

	if (sight->since_ns) {
		if (now > sight->since_ns + GUARD_SILENT_NS)
			note_seen(guard, online, unknown, now);
		return NULL;
	}
	if (online->gone || no_more_threads(guard)) {
		note_seen(guard, online, unknown, now);
		return NULL;
	}
	/* The stand-in is being started; without it a read could catch the last thread. */
	if (!guard->turn.has_stand_in)
		return NULL;
	guard_sight_update(sight, online);
	sight->parked = guard->policy->entity[online->entity].parked;
	sight->dark = online->dark && !sight->parked;
	sight->since_ns = now;
	guard->turn.since_ns = now;
	return sight;
}

/*
 * The read has returned, in time or not. Work of a late one is noted by the next read, which would
 * not see it again. Under the lock.
 */
static void give_back(struct guard *guard, struct guard_sight *sight, int seen, bool in_time,
		      uint64_t now)
{
	size_t i;

	sight->since_ns = 0;
	if (sight->worked && seen == GUARD_IDLE)
		seen = GUARD_PULSE;
	sight->worked = !in_time && seen > 0;
	if (in_time)
		guard->turn.since_ns = 0;
	for (i = 0; in_time && i < guard->n_online; i++)
		if (guard->online[i].sight == sight)
			note_seen(guard, &guard->online[i], seen, now);
	for (i = 0; in_time && i < guard->n_offline; i++)
		if (guard->offline[i].watch.sight == sight)
			note_seen(guard, &guard->offline[i].watch, seen, now);
	if (sight->left)
		free(sight);
}

/* Look at one, under the lock but for the read. False: another thread has taken over. */
static bool look_at_one(struct guard *guard, unsigned int me, struct guard_online *online,
			uint64_t now)
{
	struct guard_sight *sight = claim(guard, online, shr_now_ns());
	bool in_time;
	int seen;

	if (!sight)
		return true;
	pthread_mutex_unlock(&guard->lock);
	seen = guard_look(sight);
	pthread_mutex_lock(&guard->lock);
	in_time = guard->turn.thread == me;
	give_back(guard, sight, seen, in_time, now);
	return in_time;
}

/*
 * Look at the next of the processes that are parked, or may be at once: one a pass where each
 * delays a look at online work. As look_at_one().
 */
static bool look_at_parked(struct guard *guard, unsigned int me, uint64_t now)
{
	unsigned int most = expects_online(guard) ? 1 : PARKED_LOOKS;
	struct guard_turn *turn = &guard->turn;
	bool in_time = true;
	size_t i;

	turn->parked = 0;
	for (i = 0; in_time && turn->parked < most && i < guard->n_offline; i++) {
		struct guard_offline *o = &guard->offline[turn->next++ % guard->n_offline];
		const struct gpreempt_policy_entity *e = &guard->policy->entity[o->entity];

		if (!o->watch.sight || !(e->parked || (e->parks && (e->crowded || o->watch.dark))))
			continue;
		turn->parked++;
		in_time = look_at_one(guard, me, &o->watch, now);
	}
	return in_time;
}

static bool look_at_all(struct guard *guard, unsigned int me, uint64_t now)
{
	bool in_time;
	size_t i;

	guard->turn.arrival_ns = 0;
	/* The parked ones first: what online does is decided upon at once. */
	in_time = look_at_parked(guard, me, now);
	for (i = 0; in_time && i < guard->n_online; i++)
		in_time = look_at_one(guard, me, &guard->online[i], now);
	return in_time;
}

void guard_decide(struct guard *guard, uint64_t now)
{
	struct guard_turn *turn = &guard->turn;

	if (!guard->changed && now < turn->wake)
		return;
	guard->changed = false;
	carry_out(guard, gpreempt_policy_step(guard->policy, now, turn->actions, &turn->wake));
	if (guard->policy->contested)
		guard_ask_wake(guard);
}

/* Poll once. False: another thread has taken over meanwhile. */
static bool poll_once(struct guard *guard, unsigned int me)
{
	struct guard_turn *turn = &guard->turn;
	bool in_time;
	uint64_t now;

	pthread_mutex_lock(&guard->lock);
	now = shr_now_ns();
	in_time = look_at_all(guard, me, now);
	if (in_time) {
		guard_decide(guard, now);
		turn->looked_ns = now;
	}
	pthread_mutex_unlock(&guard->lock);
	return in_time;
}

static void doze(const struct guard *guard)
{
	const struct guard_turn *turn = &guard->turn;
	uint64_t ns = guard->poll_ns, now = shr_now_ns(), took = now - turn->looked_ns;
	uint64_t ordered = turn->ordered_ns + ORDER_NS;

	/* While nothing is left to be suspended, online work can only end. */
	if (guard->policy->running && guard->n_online &&
	    now < shr_later_ns(turn->worked_ns, guard->spin_ns))
		return;
	/* So often, with time for others in between. */
	ns -= took < ns / 2 ? took : ns / 2;
	if (!guard->policy->running && ordered > now + ns)
		ns = ordered - now;
	if (!expects_online(guard) && (ns < PARKED_NS || !turn->parked))
		ns = turn->parked ? PARKED_NS * (turn->parked - (turn->parked > 1)) : MAX_SLEEP_NS;
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

/* poll.c: poll as long as it is the turn of this thread, which has that number. */
static void guard_poll_turn(struct guard *guard, unsigned int me)
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

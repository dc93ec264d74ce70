// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "lib/core/apart.h"
#include "internal.h"
#include "shared/util.h"

#define STACK	  (64 * 1024)
#define MAX_STUCK 8 /* with more, nothing is begun */
/* A process that was killed and does not wait ends within this time. */
#define END_MS 20

enum stage {
	STARTING,
	WAITING, /* for its call: gp_apart_ready() */
	CALLED,
	WORKING,
	ENTERED, /* the ioctl */
	LEFT,
	ABANDONED,
};

struct area {
	char shared[GP_APART_SIZE];
	_Atomic int stage;
	_Atomic unsigned int steps;
	_Atomic int place;
	void (*work)(void *shared);
	pid_t caller, pid;
	int keep, pidfd;
	uint64_t ioctl_ns;
	const struct gpreempt *g; /* handle whose watchdog waits, or NULL */
	bool busy;
	bool waits;  /* the process does, for this call */
	bool shares; /* the caller's memory */
	struct area *next;
	char stack[STACK] __attribute__((aligned(16)));
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t idle;
	pid_t pid;	      /* owner of this record: a child of fork() has nothing */
	struct area *spare;   /* one, so that most calls take no memory */
	struct area *stuck;   /* areas of the abandoned processes */
	struct area *waiting; /* areas of processes that wait for their call */
	bool looked;	      /* own_memory is filled in */
	bool own_memory;
	unsigned int sharing; /* calls that go on with a shared memory */
} apart = { .lock = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER };

/* Take the lock. A child of fork() forgets the areas of its parent, which are shared with it. */
static void lock(void)
{
	pthread_mutex_lock(&apart.lock);
	if (apart.pid == getpid())
		return;
	apart.pid = getpid();
	apart.spare = apart.stuck = apart.waiting = NULL;
	apart.looked = apart.own_memory = false;
	apart.sharing = 0;
}

void *gp_apart_new(void)
{
	struct area *area;

	lock();
	area = apart.spare;
	apart.spare = NULL;
	pthread_mutex_unlock(&apart.lock);
	if (area) {
		memset(area->shared, 0, sizeof(area->shared));
		return area;
	}
	area = mmap(NULL, sizeof(*area), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return area == MAP_FAILED ? NULL : area;
}

/* Take an area whose process waits for its call: the caller calls or ends it. Under the lock. */
static bool take_waiting(const struct area *area)
{
	struct area **at;

	for (at = &apart.waiting; *at; at = &(*at)->next)
		if (*at == area) {
			*at = area->next;
			return true;
		}
	return false;
}

/* End a waiting process. It waits for nothing that could keep it from ending. */
static void end_waiting(struct area *area)
{
	kill(area->pid, SIGKILL);
	waitpid(area->pid, NULL, __WALL);
	close(area->pidfd);
}

void gp_apart_free(void *shared)
{
	struct area *area = shared;

	lock();
	if (take_waiting(area))
		end_waiting(area);
	if (!apart.spare) {
		apart.spare = area;
		area = NULL;
	}
	pthread_mutex_unlock(&apart.lock);
	if (area)
		munmap(area, sizeof(*area));
}

/* Forget the stuck processes that have ended; returns how many are left. Under the lock. */
static unsigned int count_stuck(bool sharing)
{
	struct area **at = &apart.stuck;
	unsigned int count = 0;

	while (*at) {
		struct area *area = *at;

		if (waitpid(area->pid, NULL, WNOHANG | __WALL)) {
			*at = area->next;
			munmap(area, sizeof(*area));
			continue;
		}
		count += !sharing || area->shares;
		at = &area->next;
	}
	return count;
}

int gp_apart_own_memory(void)
{
	struct area *area;
	int ret;

	lock();
	while (apart.sharing)
		pthread_cond_wait(&apart.idle, &apart.lock);
	ret = count_stuck(true) ? -EBUSY : 0;
	if (!ret)
		apart.own_memory = true;
	for (area = apart.waiting; area; area = area->next)
		end_waiting(area);
	apart.waiting = NULL;
	pthread_mutex_unlock(&apart.lock);
	return ret;
}

/* A program can use the GPU itself. */
static void look_for_gpu(void)
{
	char path[GP_PID_PATH];

	gp_pid_path(path, GP_SYSFS_PROC, getpid(), "");
	lock();
	apart.looked = true;
	apart.own_memory |= !access(path, F_OK);
	pthread_mutex_unlock(&apart.lock);
}

/* Begin a call: with the process that waits for it, or with a new one. */
static int begin(struct area *area)
{
	int ret;

	lock();
	if (!apart.looked) {
		pthread_mutex_unlock(&apart.lock);
		look_for_gpu();
		lock();
	}
	ret = count_stuck(false) < MAX_STUCK ? 0 : -EBUSY;
	if (!ret) {
		area->shares = !apart.own_memory;
		apart.sharing += area->shares;
		area->waits = take_waiting(area);
	}
	pthread_mutex_unlock(&apart.lock);
	return ret;
}

static void end(struct area *area, int ret)
{
	lock();
	apart.sharing -= area->shares;
	pthread_cond_broadcast(&apart.idle);
	if (ret == -ETIMEDOUT) {
		area->next = apart.stuck;
		apart.stuck = area;
	}
	pthread_mutex_unlock(&apart.lock);
}

static void wait_while(struct area *area, int stage, const struct timespec *most)
{
	syscall(SYS_futex, &area->stage, FUTEX_WAIT, stage, most);
}

static void set_stage(struct area *area, int stage)
{
	area->stage = stage;
	syscall(SYS_futex, &area->stage, FUTEX_WAKE, 1);
}

/* Move to the next stage. False: the other side was first. */
static bool move(struct area *area, int from, int to)
{
	return atomic_compare_exchange_strong(&area->stage, &from, to);
}

static bool has_caller(const struct area *area)
{
	return getppid() == area->caller;
}

/* Run in the other process. The caller's end kills it, except in the ioctl. */
static int become(void *arg)
{
	struct area *area = arg;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!has_caller(area))
		return 1;
	if (area->keep > 0)
		shr_close_range(0, area->keep - 1);
	/* -1: none */
	shr_close_range(area->keep + 1, ~0U);
	if (area->stage == STARTING)
		set_stage(area, WAITING);
	while (area->stage == WAITING)
		wait_while(area, WAITING, NULL);
	if (move(area, CALLED, WORKING))
		area->work(area->shared);
	return 0;
}

/* A caller that ends meanwhile must not kill this process, which has to undo the ioctl. */
bool gp_apart_enter(void *shared)
{
	prctl(PR_SET_PDEATHSIG, 0);
	return has_caller(shared) && move(shared, WORKING, ENTERED);
}

bool gp_apart_is_wanted(void *shared)
{
	struct area *area = shared;

	return has_caller(area) && area->stage == ENTERED;
}

bool gp_apart_leave(void *shared)
{
	return has_caller(shared) && move(shared, ENTERED, LEFT);
}

void gp_apart_at(void *shared, int place)
{
	struct area *area = shared;

	area->place = place;
	atomic_fetch_add(&area->steps, 1);
}

/* Does it wait for a CPU, and not for the target? */
static bool is_runnable(pid_t pid)
{
	const char *state;
	char text[128];

	shr_read_start(text, sizeof(text), "/proc/%d/stat", pid);
	state = shr_stat_state(text);
	return state && *state == 'R';
}

static void set_busy(struct area *area, bool busy)
{
	if (busy != area->busy && area->g && area->g->busy)
		area->g->busy(area->g->data, busy);
	area->busy = busy;
}

/* Wait as long as there is progress. */
static bool wait_for_end(struct area *area)
{
	uint64_t end = shr_now_ns() + GP_APART_MOST_NS;
	unsigned int steps;

	do {
		steps = area->steps;
		if (shr_readable(area->pidfd, GP_APART_WAIT_NS / NSEC_PER_MSEC))
			return true;
		set_busy(area, true);
	} while (area->stage <= WORKING && (area->steps != steps || is_runnable(area->pid)) &&
		 shr_now_ns() < end);
	return area->stage >= ENTERED && shr_readable(area->pidfd, area->ioctl_ns / NSEC_PER_MSEC);
}

/*
 * Give the process up. In the ioctl it is not killed: it undoes the ioctl. Behind the ioctl it
 * has done its work, and does not wait any more.
 */
static int give_up(struct area *area)
{
	if (move(area, ENTERED, ABANDONED))
		return -ETIMEDOUT;
	if (!move(area, CALLED, ABANDONED))
		move(area, WORKING, ABANDONED);
	kill(area->pid, SIGKILL);
	return shr_readable(area->pidfd, END_MS) && area->stage == LEFT ? 0 : -ETIMEDOUT;
}

/* Block signals: the other process shares errno, so no signal may interrupt our poll(). */
static void block_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, before);
}

static int start(struct area *area, int keep, void (*work)(void *shared), int stage)
{
	area->stage = stage;
	area->place = 0;
	area->work = work;
	area->caller = getpid();
	area->keep = keep;
	area->pid = clone(become, area->stack + STACK, CLONE_PIDFD | (area->shares ? CLONE_VM : 0),
			  area, &area->pidfd);
	return area->pid < 0 ? -errno : 0;
}

static int wait_for(struct area *area)
{
	int status = 0, ret = 0;

	if (!wait_for_end(area))
		ret = give_up(area);
	if (!ret)
		waitpid(area->pid, &status, __WALL);
	close(area->pidfd);
	return WIFSIGNALED(status) && area->stage != LEFT ? -EINTR : ret;
}

/* The process writes the caller's errno until it waits, so the caller waits for that. */
static bool start_waiting(struct area *area, int keep, void (*work)(void *shared))
{
	struct timespec most = { .tv_sec = GP_APART_WAIT_NS / NSEC_PER_SEC };

	if (start(area, keep, work, STARTING))
		return false;
	wait_while(area, STARTING, &most);
	if (area->stage == WAITING)
		return true;
	end_waiting(area);
	return false;
}

void gp_apart_ready(void *shared, int keep, void (*work)(void *shared))
{
	struct area *area = shared;
	sigset_t before;

	if (begin(area))
		return;
	block_signals(&before);
	if (area->shares && start_waiting(area, keep, work)) {
		lock();
		area->next = apart.waiting;
		apart.waiting = area;
		pthread_mutex_unlock(&apart.lock);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	end(area, 0);
}

/* Call the process that waits. False: it was killed while it waited. */
static bool call_ready(struct area *area, int *ret)
{
	set_stage(area, CALLED);
	*ret = wait_for(area);
	return *ret != -EINTR || area->stage != CALLED;
}

static int call_new(struct area *area, int keep, void (*work)(void *shared))
{
	struct shr_sched ordinary;
	bool urgent;
	int ret;

	/* We are urgent only until the other process enters the driver, not while it is there. */
	urgent = shr_urgent(0, 1, &ordinary);
	ret = start(area, keep, work, CALLED);
	if (!ret)
		ret = wait_for(area);
	if (urgent)
		shr_not_urgent(0, &ordinary);
	return ret;
}

int gp_apart_run(const struct gpreempt *g, void *shared, int keep, void (*work)(void *shared),
		 uint64_t ioctl_ns, int *place)
{
	struct area *area = shared;
	sigset_t before;
	int ret;

	ret = begin(area);
	if (ret)
		return ret;
	area->g = g;
	area->ioctl_ns = ioctl_ns;
	block_signals(&before);
	if (!area->waits || !call_ready(area, &ret))
		ret = call_new(area, keep, work);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	set_busy(area, false);
	*place = area->place;
	end(area, ret);
	/* Look now, for the next call: a look takes as long as half of the ioctls. */
	look_for_gpu();
	return ret;
}

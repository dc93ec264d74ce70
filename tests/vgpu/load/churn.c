// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that makes queues and destroys them all the time: what a tenant does
 * that wants to wear out the one that suspends it.
 */
#include "churn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "submit.h"

#define NS_PER_S 1000000000ULL
/* Time between the first and the last byte that the driver reads of its argument. */
#define COPIED_NS 200000

static void sleep_ns(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };

	nanosleep(&ts, NULL);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static int map_lie(struct load_churn *churn)
{
	int fd = memfd_create("lie", MFD_CLOEXEC);
	void *here, *given;

	if (fd < 0 || ftruncate(fd, sysconf(_SC_PAGESIZE)))
		return -errno;
	here = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	given = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (here == MAP_FAILED || given == MAP_FAILED)
		return -ENOMEM;
	churn->args_here = here;
	churn->args_given = given;
	return 0;
}

/*
 * Destroy a queue as load_queue_destroy() does, with a page that is not there until the driver
 * reads it.
 */
static int destroy_lying(struct load_churn *churn, struct load_queue *queue)
{
	int ret;

	churn->args_here->queue_id = queue->id;
	if (madvise(churn->args_given, 1, MADV_DONTNEED))
		return -errno;
	atomic_fetch_add(&churn->given, 1);
	ret = load_kfd_ioctl(churn->proc->kfd, AMDKFD_IOC_DESTROY_QUEUE, churn->args_given);
	atomic_fetch_add(&churn->given, 1);
	queue->exists = ret != 0;
	return ret;
}

static void fill(struct load_churn *churn, struct load_queue *queue)
{
	struct load_process one = *churn->proc;

	one.queues = queue;
	one.num_queues = 1;
	load_submit_round(&one, churn->args, now_ns(), false);
}

/* Its packets are in the ring before it is made; the GPU finds them there. */
static int churn_quickly(struct load_churn *churn)
{
	struct load_gpu *gpu = churn->proc->queues[0].gpu;
	volatile uint64_t nowhere;
	struct load_queue queue;
	const char *what;
	int ret;

	ret = load_queue_prepare(churn->proc->kfd, gpu, LOAD_COMPUTE, churn->args, &queue);
	if (ret)
		return ret;
	queue.doorbell = &nowhere;
	fill(churn, &queue);
	ret = load_queue_start(churn->proc->kfd, churn->args, &queue, &what);
	if (ret)
		return ret;
	ret = load_queue_destroy(churn->proc->kfd, &queue);
	if (!ret)
		load_queue_free(churn->proc->kfd, &queue);
	return ret;
}

static int churn_once(struct load_churn *churn)
{
	struct load_gpu *gpu = churn->proc->queues[0].gpu;
	struct load_queue queue;
	const char *what;
	int ret;

	ret = load_queue_create(churn->proc->kfd, gpu, LOAD_COMPUTE, churn->args, &queue, &what);
	if (ret)
		return ret;
	if (churn->args->churn_how == LOAD_CHURN_BUSY)
		fill(churn, &queue);
	sleep_ns(churn->args->churn_ns);
	ret = churn->args->churn_how == LOAD_CHURN_LIE ?
		      destroy_lying(churn, &queue) :
		      load_queue_destroy(churn->proc->kfd, &queue);
	if (!ret)
		load_queue_free(churn->proc->kfd, &queue);
	return ret;
}

static void *churn_thread(void *arg)
{
	struct load_churn *churn = arg;
	int ret = 0;

	while (!ret && !atomic_load(&churn->stop)) {
		ret = churn->args->churn_how == LOAD_CHURN_QUICK ? churn_quickly(churn) :
								   churn_once(churn);
		churn->rounds++;
	}
	if (ret)
		fprintf(stderr, "vgpu-load: churn: %s\n", strerror(-ret));
	return NULL;
}

static bool is_present(int pagemap, const void *page)
{
	uint64_t entry = 0;
	off_t at = (uintptr_t)page / sysconf(_SC_PAGESIZE) * sizeof(entry);

	return pread(pagemap, &entry, sizeof(entry), at) == sizeof(entry) && entry >> 63;
}

/*
 * The driver must have its own copy before: it would destroy the other queue. It reads
 * the argument first of all.
 */
static void *liar_thread(void *arg)
{
	struct load_churn *churn = arg;
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (pagemap < 0)
		perror("vgpu-load: /proc/self/pagemap");
	while (!atomic_load(&churn->stop)) {
		unsigned int call = atomic_load(&churn->given);
		bool read = call % 2 && is_present(pagemap, churn->args_given);

		sleep_ns(COPIED_NS);
		if (read && call == atomic_load(&churn->given))
			*(volatile uint32_t *)&churn->args_here->queue_id = churn->victim;
	}
	close(pagemap);
	return NULL;
}

int load_churn_start(struct load_churn *churn, const struct load_process *proc,
		     const struct load_args *args)
{
	int ret;

	memset(churn, 0, sizeof(*churn));
	if (!args->churn_ns)
		return 0;
	churn->proc = proc;
	churn->args = args;
	churn->victim = proc->queues[0].id;
	ret = args->churn_how == LOAD_CHURN_LIE ? map_lie(churn) : 0;
	if (ret)
		return ret;
	ret = pthread_create(&churn->thread, NULL, churn_thread, churn);
	if (!ret && args->churn_how == LOAD_CHURN_LIE)
		ret = pthread_create(&churn->liar, NULL, liar_thread, churn);
	return -ret;
}

void load_churn_stop(struct load_churn *churn)
{
	if (!churn->args)
		return;
	atomic_store(&churn->stop, true);
	if (churn->args->churn_how == LOAD_CHURN_LIE)
		pthread_join(churn->liar, NULL);
	pthread_join(churn->thread, NULL);
}

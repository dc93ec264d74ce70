// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that makes queues and destroys them all the time: what a tenant does
 * that wants to wear out the one that suspends it.
 */
#include "churn.h"

#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "submit.h"

#define NS_PER_S 1000000000ULL
/* The driver has copied its argument by then. */
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

/* As load_queue_destroy(), with the argument where the other thread finds it. */
static int destroy(struct load_churn *churn, struct load_queue *queue)
{
	struct kfd_ioctl_destroy_queue_args args = { .queue_id = queue->id };
	int ret;

	if (churn->args->churn_how == LOAD_CHURN_LIE)
		atomic_store(&churn->given, &args);
	ret = load_kfd_ioctl(churn->proc->kfd, AMDKFD_IOC_DESTROY_QUEUE, &args);
	atomic_store(&churn->given, NULL);
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

	ret = load_queue_prepare(churn->proc->kfd, gpu, LOAD_COMPUTE,
				 churn->args, &queue);
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

	ret = load_queue_create(churn->proc->kfd, gpu, LOAD_COMPUTE,
				churn->args, &queue, &what);
	if (ret)
		return ret;
	if (churn->args->churn_how == LOAD_CHURN_BUSY)
		fill(churn, &queue);
	sleep_ns(churn->args->churn_ns);
	ret = destroy(churn, &queue);
	if (!ret)
		load_queue_free(churn->proc->kfd, &queue);
	return ret;
}

static void *churn_thread(void *arg)
{
	struct load_churn *churn = arg;
	int ret = 0;

	while (!ret && !atomic_load(&churn->stop)) {
		ret = churn->args->churn_how == LOAD_CHURN_QUICK ?
			      churn_quickly(churn) :
			      churn_once(churn);
		churn->rounds++;
	}
	if (ret)
		fprintf(stderr, "vgpu-load: churn: %s\n", strerror(-ret));
	return NULL;
}

static void *liar_thread(void *arg)
{
	struct load_churn *churn = arg;
	struct kfd_ioctl_destroy_queue_args *given;

	while (!atomic_load(&churn->stop)) {
		given = atomic_load(&churn->given);
		sleep_ns(COPIED_NS);
		/* It is on the other thread's stack, which stays. */
		if (given && given == atomic_load(&churn->given))
			*(volatile uint32_t *)&given->queue_id = churn->victim;
	}
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

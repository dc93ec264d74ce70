// SPDX-License-Identifier: GPL-2.0-only
/* hsa-load: a GPU process that knows nothing of KFD, only ROCr. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "copy.h"
#include "queue.h"

#define NS_PER_S   1000000000ULL
#define NS_PER_MS  1000000.0
#define WAIT_NS	   20000000 /* one wait, before signals and the clock are looked at */
#define IDLE_NS	   2000000  /* between looks when there is nothing to wait for */
#define MAX_QUEUES 512

static volatile sig_atomic_t stop_requested;
static volatile sig_atomic_t usr1_count;
static volatile sig_atomic_t queues_wanted;

struct load {
	struct rocm_args args;
	struct rocm_gpus gpus;
	struct rocm_queue queues[MAX_QUEUES];
	unsigned int num_queues;
	struct rocm_copy copies[ROCM_MAX_GPUS];
	bool queue_error; /* ROCr reported an error of a queue */
	uint64_t tick_ns; /* unit of hsa_signal_wait's timeout, rounded up */

	uint64_t start_ns;
	uint64_t next_ns; /* time of the next progress line */
	uint64_t last_ns; /* time of the last one */
	uint64_t last_completed;
	uint64_t moved_ns;   /* when a dispatch was last found complete, or restarted */
	uint64_t longest_ns; /* longest time in which no dispatch in flight completed */
};

static void on_stop(int sig)
{
	(void)sig;
	stop_requested = 1;
}

static void on_usr1(int sig)
{
	(void)sig;
	usr1_count++;
}

static void on_usr2(int sig)
{
	(void)sig;
	queues_wanted++;
}

static void catch_signals(void)
{
	static const struct {
		int sig;
		void (*handler)(int number);
	} table[] = {
		{ SIGTERM, on_stop },
		{ SIGINT, on_stop },
		{ SIGUSR1, on_usr1 },
		{ SIGUSR2, on_usr2 },
	};
	struct sigaction action = {};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		action.sa_handler = table[i].handler;
		sigaction(table[i].sig, &action, NULL);
	}
}

static struct rocm_verdict total(const struct load *load)
{
	struct rocm_verdict sum = {};
	unsigned int i;

	for (i = 0; i < load->num_queues; i++) {
		sum.submitted += load->queues[i].verdict.submitted;
		sum.completed += load->queues[i].verdict.completed;
		sum.lost += load->queues[i].verdict.lost;
		sum.doubled += load->queues[i].verdict.doubled;
		sum.disordered += load->queues[i].verdict.disordered;
		sum.unfinished += load->queues[i].verdict.unfinished;
	}
	return sum;
}

static hsa_status_t add_queue(struct load *load, unsigned int gpu)
{
	hsa_status_t status;

	if (load->num_queues == MAX_QUEUES)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	status = rocm_queue_create(&load->gpus, gpu, (uint32_t)load->args.ring,
				   load->args.packet_ns, &load->queue_error,
				   &load->queues[load->num_queues]);
	if (!status)
		load->num_queues++;
	return status;
}

static hsa_status_t add_queues(struct load *load, uint64_t n)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;
	unsigned int gpu;
	uint64_t i;

	for (gpu = 0; !status && gpu < load->gpus.count && gpu < load->args.gpus; gpu++)
		for (i = 0; !status && i < n; i++)
			status = add_queue(load, gpu);
	return status;
}

static hsa_status_t add_copies(struct load *load)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;
	unsigned int gpu;

	if (!load->args.copy)
		return status;
	for (gpu = 0; !status && gpu < load->gpus.count && gpu < load->args.gpus; gpu++)
		status = rocm_copy_create(&load->gpus, gpu, load->args.copy, &load->copies[gpu]);
	return status;
}

static void print_progress(struct load *load, uint64_t now)
{
	struct rocm_verdict sum = total(load);
	double interval = (double)(now - load->last_ns) / NS_PER_S;

	printf("t %.3f submitted %" PRIu64 " completed %" PRIu64 " rate %.0f\n",
	       (double)(now - load->start_ns) / NS_PER_S, sum.submitted, sum.completed,
	       (double)(sum.completed - load->last_completed) / interval);
	load->last_ns = now;
	load->last_completed = sum.completed;
	/* Do not make up for the lines that were missed in a stop of the whole process. */
	load->next_ns += load->args.report_ns;
	if (load->next_ns <= now)
		load->next_ns = now + load->args.report_ns;
}

static void top_up(struct rocm_queue *queue, const struct rocm_args *args)
{
	uint64_t n = rocm_queue_room(queue, (uint32_t)args->depth);

	if (args->count && n > args->count - queue->head)
		n = args->count - queue->head;
	if (n)
		rocm_queue_put(queue, (uint32_t)n);
}

/* Retires and submits. Returns whether anything is in flight. */
static bool turn(struct load *load, bool stop)
{
	bool in_flight = false, was = false;
	uint64_t done = 0, now;
	unsigned int i;

	for (i = 0; i < load->num_queues; i++) {
		was |= load->queues[i].head != load->queues[i].tail;
		done += rocm_queue_retire(&load->queues[i]);
		if (!stop)
			top_up(&load->queues[i], &load->args);
		in_flight |= load->queues[i].head != load->queues[i].tail;
	}
	now = rocm_now_ns();
	if (was && now - load->moved_ns > load->longest_ns)
		load->longest_ns = now - load->moved_ns;
	if (done || !was)
		load->moved_ns = now;
	return in_flight;
}

static hsa_status_t copy_turn(struct load *load, bool stop, bool *busy)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;
	unsigned int i;

	for (i = 0; !status && i < ROCM_MAX_GPUS; i++) {
		if (!load->copies[i].vram)
			continue;
		status = rocm_copy_step(&load->copies[i], !stop);
		*busy |= load->copies[i].busy;
	}
	return status;
}

/* Wait until a dispatch of the next queue that has one completes. */
static void wait_for_one(struct load *load)
{
	hsa_wait_state_t state = load->args.poll ? HSA_WAIT_STATE_ACTIVE : HSA_WAIT_STATE_BLOCKED;
	static unsigned int next;
	struct rocm_queue *queue;
	unsigned int i;

	for (i = 0; i < load->num_queues; i++) {
		queue = &load->queues[next++ % load->num_queues];
		if (queue->head == queue->tail)
			continue;
		hsa_signal_wait_scacquire(queue->signal, HSA_SIGNAL_CONDITION_LT,
					  ROCM_SIGNAL_START - (int64_t)queue->tail,
					  load->args.forever ? UINT64_MAX : WAIT_NS / load->tick_ns,
					  state);
		return;
	}
	rocm_sleep_ns(IDLE_NS);
}

static bool finished(const struct load *load, uint64_t now)
{
	unsigned int i;

	if (stop_requested || load->queue_error)
		return true;
	if (load->args.duration_ns && now - load->start_ns >= load->args.duration_ns)
		return true;
	if (!load->args.count)
		return false;
	for (i = 0; i < load->num_queues; i++)
		if (load->queues[i].head < load->args.count)
			return false;
	return true;
}

static hsa_status_t add_wanted(struct load *load)
{
	hsa_status_t status;

	queues_wanted--;
	status = add_queues(load, 1);
	if (!status)
		printf("queues %u\n", load->num_queues);
	return status;
}

static hsa_status_t run(struct load *load)
{
	uint64_t now = rocm_now_ns(), stop_ns = 0;
	hsa_status_t status = HSA_STATUS_SUCCESS;
	bool busy;

	load->start_ns = now;
	load->last_ns = now;
	load->moved_ns = now;
	load->next_ns = now + load->args.report_ns;
	for (;;) {
		if (queues_wanted) {
			status = add_wanted(load);
			if (status)
				return status;
		}
		now = rocm_now_ns();
		if (!stop_ns && finished(load, now))
			stop_ns = now;
		busy = turn(load, stop_ns);
		if (now - load->start_ns >= load->args.copy_after_ns &&
		    (usr1_count || !load->args.copy_on_usr1))
			status = copy_turn(load, stop_ns, &busy);
		if (status)
			return status;
		if (load->args.report_ns && now >= load->next_ns)
			print_progress(load, now);
		if (stop_ns && (!busy || now - stop_ns >= load->args.drain_ns))
			return HSA_STATUS_SUCCESS;
		wait_for_one(load);
	}
}

static void wait_before(const struct rocm_args *args)
{
	uint64_t until = rocm_now_ns() + args->wait_ns, now;

	if (!args->wait_ns)
		return;
	printf("waiting pid %d\n", (int)getpid());
	while ((now = rocm_now_ns()) < until && !stop_requested)
		rocm_sleep_ns(until - now);
}

static hsa_status_t start(struct load *load)
{
	uint64_t before, frequency = 0;
	hsa_status_t status;

	wait_before(&load->args);
	before = rocm_now_ns();
	status = hsa_init();
	if (status)
		return status;
	printf("init ms %.1f\n", (double)(rocm_now_ns() - before) / NS_PER_MS);
	hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency);
	load->tick_ns = frequency && frequency < NS_PER_S ? NS_PER_S / frequency : 1;
	status = rocm_find(&load->gpus);
	if (!status)
		status = add_queues(load, load->args.queues);
	if (!status)
		status = add_copies(load);
	if (!status)
		printf("ready pid %d queues %u\n", (int)getpid(), load->num_queues);
	return status;
}

/* Queues first, as programs do: what they ran must not be accounted for before. */
static hsa_status_t end(struct load *load)
{
	hsa_status_t status = HSA_STATUS_SUCCESS, one;
	uint64_t before = rocm_now_ns();
	unsigned int i;

	for (i = 0; i < load->num_queues; i++)
		rocm_queue_finish(&load->queues[i]);
	if (load->args.leave)
		return status;
	for (i = 0; i < load->num_queues; i++) {
		one = rocm_queue_destroy(&load->queues[i]);
		status = status ? status : one;
	}
	printf("destroyed ms %.1f\n", (double)(rocm_now_ns() - before) / NS_PER_MS);
	for (i = 0; i < ROCM_MAX_GPUS; i++)
		if (load->copies[i].vram && !load->copies[i].busy)
			rocm_copy_destroy(&load->copies[i]);
	before = rocm_now_ns();
	one = hsa_shut_down();
	printf("shut_down ms %.1f\n", (double)(rocm_now_ns() - before) / NS_PER_MS);
	return status ? status : one;
}

static int verdict(const struct rocm_verdict *sum, uint64_t differ)
{
	if (sum->lost || sum->doubled || sum->disordered || differ ||
	    sum->completed + sum->unfinished != sum->submitted)
		return 1;
	return sum->unfinished ? 3 : 0;
}

static int print_result(const struct load *load, uint64_t copies, uint64_t differ)
{
	struct rocm_verdict sum = total(load);

	printf("done submitted %" PRIu64 " completed %" PRIu64 " lost %" PRIu64 " doubled %" PRIu64
	       " disordered %" PRIu64 " unfinished %" PRIu64
	       " signals %d longest_wait_ms %.0f copies %" PRIu64 " differ %" PRIu64 "\n",
	       sum.submitted, sum.completed, sum.lost, sum.doubled, sum.disordered, sum.unfinished,
	       (int)usr1_count, (double)load->longest_ns / NS_PER_MS, copies, differ);
	return verdict(&sum, differ);
}

static int fail(const char *what, hsa_status_t status)
{
	fprintf(stderr, "hsa-load: cannot %s: %s\n", what, rocm_error(status));
	return 1;
}

int main(int argc, char **argv)
{
	uint64_t copies = 0, differ = 0;
	static struct load load;
	hsa_status_t status;
	char err[160];
	int i, ret;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (rocm_args_parse(&load.args, argc, argv, err, sizeof(err))) {
		fprintf(stderr, "hsa-load: %s\nTry 'hsa-load --help'.\n", err);
		return 2;
	}
	if (load.args.help) {
		fputs(rocm_usage, stdout);
		return 0;
	}
	catch_signals();
	status = start(&load);
	if (status)
		return fail("start", status);
	status = run(&load);
	for (i = 0; i < ROCM_MAX_GPUS; i++) {
		copies += load.copies[i].done;
		differ += load.copies[i].differ;
	}
	if (status)
		return fail("go on", status);
	status = end(&load);
	ret = print_result(&load, copies, differ);
	if (status)
		return fail("shut down", status);
	fflush(stdout);
	if (load.args.leave)
		_exit(ret);
	return load.queue_error ? 1 : ret;
}

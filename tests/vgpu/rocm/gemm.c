// SPDX-License-Identifier: GPL-2.0-only
/*
 * hsa-gemm: a ROCr program that multiplies matrices on the GPU, several queues at a time, and
 * compares each product with the CPU's.
 *
 *   hsa-gemm CODE-OBJECT QUEUES
 *
 * Until SIGTERM. Prints what vgpu-load prints.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "product.h"
#include "queue.h"

#define MAX_QUEUES 8
#define RING	   64 /* packets */
#define WAIT_NS	   20000000
#define REPORT_NS  200000000

static volatile sig_atomic_t stop_requested;

struct kernel {
	uint64_t object;
	uint32_t group_size; /* bytes of LDS */
};

/* The arguments of "gemm", and what it reads and writes, in memory that the GPU sees. */
struct work {
	const float *a, *b;
	float *c;
	uint32_t side;
	float in[2][PRODUCT_CELLS], out[PRODUCT_CELLS];
};

struct queue {
	hsa_queue_t *queue;
	hsa_signal_t done;
	struct work *work;
	struct product product;
};

struct gemm {
	struct rocm_gpus gpus;
	struct kernel kernel;
	struct queue queues[MAX_QUEUES];
	unsigned int num_queues;
};

static void on_stop(int sig)
{
	(void)sig;
	stop_requested = 1;
}

static void on_error(hsa_status_t error, hsa_queue_t *queue, void *data)
{
	(void)queue;
	(void)data;
	fprintf(stderr, "hsa-gemm: a queue: %s\n", rocm_error(error));
	stop_requested = 1;
}

static int find_kernel(struct gemm *g, const char *path)
{
	hsa_agent_t gpu = g->gpus.gpu[0].agent;
	hsa_code_object_reader_t reader;
	hsa_executable_t executable;
	hsa_executable_symbol_t symbol;
	int fd = open(path, O_RDONLY);

	if (fd < 0) {
		perror(path);
		return -1;
	}
	TRY(hsa_code_object_reader_create_from_file(fd, &reader));
	TRY(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
				      NULL, &executable));
	TRY(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
	TRY(hsa_executable_freeze(executable, NULL));
	TRY(hsa_executable_get_symbol_by_name(executable, "gemm.kd", &gpu, &symbol));
	TRY(hsa_executable_symbol_get_info(symbol,
					   HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
					   &g->kernel.group_size));
	TRY(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
					   &g->kernel.object));
	close(fd);
	return 0;
}

static int add_queue(struct gemm *g)
{
	struct queue *q = &g->queues[g->num_queues];

	TRY(rocm_host_alloc(&g->gpus, sizeof(*q->work), (void **)&q->work));
	q->work->a = q->work->in[0];
	q->work->b = q->work->in[1];
	q->work->c = q->work->out;
	q->work->side = PRODUCT_SIDE;
	TRY(hsa_signal_create(0, 0, NULL, &q->done));
	TRY(hsa_queue_create(g->gpus.gpu[0].agent, RING, HSA_QUEUE_TYPE_MULTI, on_error, NULL,
			     UINT32_MAX, UINT32_MAX, &q->queue));
	g->num_queues++;
	return 0;
}

static void launch(const struct kernel *kernel, struct queue *q)
{
	hsa_kernel_dispatch_packet_t *packet;
	uint64_t index = q->product.begun;
	struct work *work = q->work;

	product_next(&q->product);
	memcpy(work->in[0], q->product.a, PRODUCT_BYTES);
	memcpy(work->in[1], q->product.b, PRODUCT_BYTES);
	hsa_signal_store_screlease(q->done, 1);
	packet = rocm_dispatch_at(q->queue, index, work, q->done);
	packet->workgroup_size_x = PRODUCT_GROUP_SIZE;
	packet->grid_size_x = PRODUCT_GROUP_SIZE * PRODUCT_GROUPS;
	packet->group_segment_size = kernel->group_size;
	packet->kernel_object = kernel->object;
	rocm_packet_commit(packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, 1);
	hsa_queue_store_write_index_screlease(q->queue, index + 1);
	hsa_signal_store_screlease(q->queue->doorbell_signal, (hsa_signal_value_t)index);
}

/* Waits for a while, so that signals are seen. Returns whether the product was taken. */
static bool collect(struct queue *q)
{
	if (q->product.begun == q->product.done)
		return true;
	if (hsa_signal_wait_scacquire(q->done, HSA_SIGNAL_CONDITION_LT, 1, WAIT_NS,
				      HSA_WAIT_STATE_BLOCKED))
		return false;
	product_compare(&q->product, q->work->out);
	return true;
}

static struct product sum_of(const struct gemm *g)
{
	struct product sum = {};
	unsigned int i;

	for (i = 0; i < g->num_queues; i++) {
		sum.begun += g->queues[i].product.begun;
		sum.done += g->queues[i].product.done;
		sum.wrong += g->queues[i].product.wrong;
		sum.checksum += g->queues[i].product.checksum;
		sum.expected += g->queues[i].product.expected;
	}
	return sum;
}

static void report(const struct gemm *g, uint64_t start)
{
	static uint64_t next;
	uint64_t now = rocm_now_ns();
	struct product sum;

	if (now < next)
		return;
	next = now + REPORT_NS;
	sum = sum_of(g);
	product_progress(&sum, now - start);
}

static void run(struct gemm *g)
{
	uint64_t start = rocm_now_ns();
	bool busy = true;
	unsigned int i;

	while (busy) {
		busy = !stop_requested;
		for (i = 0; i < g->num_queues; i++) {
			if (!collect(&g->queues[i]))
				busy = true;
			else if (!stop_requested)
				launch(&g->kernel, &g->queues[i]);
			report(g, start);
		}
	}
}

static int start(struct gemm *g, const char *path, int queues)
{
	TRY(hsa_init());
	TRY(rocm_find(&g->gpus));
	if (find_kernel(g, path))
		return -1;
	while (queues--)
		if (add_queue(g))
			return -1;
	printf("ready pid %d queues %u\n", (int)getpid(), g->num_queues);
	return 0;
}

static int end(struct gemm *g)
{
	unsigned int i;

	for (i = 0; i < g->num_queues; i++)
		TRY(hsa_queue_destroy(g->queues[i].queue));
	TRY(hsa_shut_down());
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_stop };
	int queues = argc == 3 ? atoi(argv[2]) : 0;
	static struct gemm g;
	struct product sum;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (queues < 1 || queues > MAX_QUEUES) {
		fputs("usage: hsa-gemm CODE-OBJECT QUEUES\n", stderr);
		return 2;
	}
	sigaction(SIGTERM, &action, NULL);
	if (start(&g, argv[1], queues))
		return 1;
	run(&g);
	if (end(&g))
		return 1;
	sum = sum_of(&g);
	return product_result(&sum);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A queue's memory and the queue itself.
 *
 * KFD wants the indices, the ring, the EOP buffer and the save area each to
 * be a mapping of its own with the exact start and size that it expects, so
 * that it can hold them for as long as the queue lives.
 */
#include "queue.h"

#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	       4096
#define EOP_BYTES      4096
#define DOORBELL_SLICE 8192

/* Places in ROCm's amd_queue_t (amd_hsa_queue.h): write_dispatch_id and read_dispatch_id. */
#define WRITE_INDEX 56
#define READ_INDEX  128

const char *load_queue_type_name(enum load_queue_type type)
{
	return type == LOAD_SDMA ? "sdma" : "compute-aql";
}

/* Kernargs, signals and cells: ordinary memory that both sides use. */
static size_t work_bytes(uint32_t slots)
{
	size_t bytes = (size_t)slots *
		       (LOAD_KERNARG_STRIDE + sizeof(struct amd_signal) + sizeof(uint64_t));

	return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/*
 * ROCm's save area has its memory before the first preemption, and so has this
 * one where the driver writes: the control stack of each XCC. The waves' part
 * stays empty, and huge pages would fill tens of MB of it with zeroes.
 */
static void touch_save_area(const struct load_queue *queue)
{
	const struct load_node *node = &queue->gpu->node;
	volatile uint8_t *area = queue->cwsr.cpu;
	uint64_t xcc, byte;

	madvise(queue->cwsr.cpu, queue->cwsr.size, MADV_NOHUGEPAGE);
	for (xcc = 0; xcc < node->num_xcc; xcc++)
		for (byte = 0; byte <= node->ctl_stack_size; byte += PAGE)
			area[xcc * node->cwsr_size + byte] = 0;
}

static int alloc_compute(int kfd, struct load_queue *queue, const struct load_args *args)
{
	const struct load_gpu *gpu = queue->gpu;
	int ret;

	ret = load_buffer_alloc(kfd, gpu, EOP_BYTES, &queue->eop);
	if (ret)
		return ret;
	ret = load_buffer_alloc(kfd, gpu, load_cwsr_bytes(&gpu->node), &queue->cwsr);
	if (ret)
		return ret;
	touch_save_area(queue);
	ret = load_buffer_alloc(kfd, gpu, work_bytes(args->ring), &queue->work);
	if (ret)
		return ret;
	queue->ring.seen = calloc(args->ring, sizeof(*queue->ring.seen));
	return queue->ring.seen ? 0 : -ENOMEM;
}

static int alloc_buffers(int kfd, struct load_queue *queue, const struct load_args *args)
{
	const struct load_gpu *gpu = queue->gpu;
	int ret;

	ret = load_buffer_alloc(kfd, gpu, PAGE, &queue->indices);
	if (ret)
		return ret;
	queue->wptr = (uint8_t *)queue->indices.cpu + WRITE_INDEX;
	queue->rptr = (uint8_t *)queue->indices.cpu + READ_INDEX;
	ret = load_buffer_alloc(kfd, gpu, args->ring * sizeof(union aql_packet), &queue->ring_mem);
	if (ret)
		return ret;
	if (queue->type == LOAD_SDMA)
		return load_buffer_alloc(kfd, gpu, PAGE, &queue->work);
	return alloc_compute(kfd, queue, args);
}

static void init_ring(struct load_queue *queue, const struct load_args *args)
{
	struct load_ring *ring = &queue->ring;
	uint8_t *work = queue->work.cpu;
	uint32_t i;

	ring->size = args->ring;
	ring->packet_ns = args->packet_ns;
	ring->workgroups = args->workgroups;
	ring->barrier_every = args->barrier;
	ring->packets = queue->ring_mem.cpu;
	ring->read_index = queue->rptr;
	ring->write_index = queue->wptr;
	ring->kernargs = work;
	ring->signals = (void *)(work + (size_t)args->ring * LOAD_KERNARG_STRIDE);
	ring->cells = (void *)(ring->signals + args->ring);
	for (i = 0; i < args->ring; i++)
		ring->packets[i].header = AQL_TYPE_INVALID;
}

static void init_sdma(struct load_queue *queue)
{
	struct load_sdma *sdma = &queue->sdma;
	uint8_t *work = queue->work.cpu;

	sdma->packets = queue->ring_mem.cpu;
	sdma->bytes = (uint32_t)queue->ring_mem.size;
	sdma->write_index = queue->wptr;
	sdma->cell = (void *)work;
	sdma->fence = (void *)(work + sizeof(*sdma->cell));
}

/* KFD writes the control stack's header to the start of the save area. */
static void fill_create_args(const struct load_queue *queue, const struct load_args *args,
			     struct kfd_ioctl_create_queue_args *create)
{
	const struct load_node *node = &queue->gpu->node;

	create->ring_base_address = (uintptr_t)queue->ring_mem.cpu;
	create->ring_size = (uint32_t)queue->ring_mem.size;
	create->write_pointer_address = (uintptr_t)queue->wptr;
	create->read_pointer_address = (uintptr_t)queue->rptr;
	create->gpu_id = node->gpu_id;
	create->queue_percentage = 100;
	create->queue_priority = args->priority;
	if (queue->type == LOAD_SDMA) {
		create->queue_type = KFD_IOC_QUEUE_TYPE_SDMA;
		return;
	}
	create->queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL;
	create->eop_buffer_address = (uintptr_t)queue->eop.cpu;
	create->eop_buffer_size = queue->eop.size;
	create->ctx_save_restore_address = (uintptr_t)queue->cwsr.cpu;
	create->ctx_save_restore_size = node->cwsr_size;
	create->ctl_stack_size = node->ctl_stack_size;
}

/* One mapping a GPU holds the doorbells of all this process's queues there. */
static int map_doorbell(int kfd, struct load_queue *queue, uint64_t offset)
{
	uint64_t slice = DOORBELL_SLICE;
	void *map;

	if (!queue->gpu->doorbells) {
		map = mmap(NULL, slice, PROT_READ | PROT_WRITE, MAP_SHARED, kfd,
			   (off_t)(offset & ~(slice - 1)));
		if (map == MAP_FAILED)
			return -errno;
		queue->gpu->doorbells = map;
	}
	queue->doorbell = (void *)(queue->gpu->doorbells + (offset & (slice - 1)));
	return 0;
}

int load_queue_prepare(int kfd, struct load_gpu *gpu, enum load_queue_type type,
		       const struct load_args *args, struct load_queue *queue)
{
	int ret;

	*queue = (struct load_queue){ .type = type, .gpu = gpu };
	ret = alloc_buffers(kfd, queue, args);
	if (ret) {
		load_queue_free(kfd, queue);
		return ret;
	}
	if (type == LOAD_COMPUTE)
		init_ring(queue, args);
	else
		init_sdma(queue);
	return 0;
}

int load_queue_create(int kfd, struct load_gpu *gpu, enum load_queue_type type,
		      const struct load_args *args, struct load_queue *queue, const char **what)
{
	int ret = load_queue_prepare(kfd, gpu, type, args, queue);

	*what = "allocate a queue's memory";
	return ret ? ret : load_queue_start(kfd, args, queue, what);
}

int load_queue_start(int kfd, const struct load_args *args, struct load_queue *queue,
		     const char **what)
{
	struct kfd_ioctl_create_queue_args create = {};
	int ret;

	*what = "create a queue";
	fill_create_args(queue, args, &create);
	ret = load_kfd_ioctl(kfd, AMDKFD_IOC_CREATE_QUEUE, &create);
	if (ret)
		goto err_free;
	queue->id = create.queue_id;
	queue->exists = true;
	*what = "map the doorbells";
	ret = map_doorbell(kfd, queue, create.doorbell_offset);
	if (ret)
		goto err_destroy;
	return 0;

err_destroy:
	load_queue_destroy(kfd, queue);
err_free:
	load_queue_free(kfd, queue);
	return ret;
}

int load_queue_destroy(int kfd, struct load_queue *queue)
{
	struct kfd_ioctl_destroy_queue_args args = { .queue_id = queue->id };
	int ret;

	if (!queue->exists)
		return 0;
	ret = load_kfd_ioctl(kfd, AMDKFD_IOC_DESTROY_QUEUE, &args);
	if (!ret)
		queue->exists = false;
	return ret;
}

void load_queue_retire(struct load_queue *queue)
{
	if (queue->type == LOAD_COMPUTE)
		load_ring_retire(&queue->ring, &queue->verdict);
	else
		load_sdma_retire(&queue->sdma, &queue->verdict);
}

void load_queue_finish(struct load_queue *queue)
{
	if (queue->type == LOAD_COMPUTE)
		load_ring_finish(&queue->ring, &queue->verdict);
	else
		load_sdma_finish(&queue->sdma, &queue->verdict);
}

bool load_queue_drained(const struct load_queue *queue)
{
	if (queue->type == LOAD_COMPUTE)
		return queue->ring.head == queue->ring.tail;
	return queue->sdma.head == queue->sdma.tail;
}

void load_queue_free(int kfd, struct load_queue *queue)
{
	free(queue->ring.seen);
	queue->ring.seen = NULL;
	load_buffer_free(kfd, &queue->work);
	load_buffer_free(kfd, &queue->cwsr);
	load_buffer_free(kfd, &queue->eop);
	load_buffer_free(kfd, &queue->ring_mem);
	load_buffer_free(kfd, &queue->indices);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Dispatches through a ROCr queue, each accounted for once. */
#include "queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The virtual GPU executes no code, so any address does. On a real GPU this
 * would be the kernel object of a kernel with struct vgpu_kernarg's signature.
 */
#define KERNEL_OBJECT 0x1000

static void on_queue_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	bool *error = data;

	fprintf(stderr, "queue %lu: %s\n", (unsigned long)queue->id, rocm_error(status));
	*error = true;
}

/* Sizes of the private and group segment are left to ROCr: UINT32_MAX. */
hsa_status_t rocm_queue_create(const struct rocm_gpus *gpus, unsigned int gpu, uint32_t size,
			       uint64_t packet_ns, bool *error, struct rocm_queue *queue)
{
	hsa_status_t status;

	*queue = (struct rocm_queue){ .packet_ns = packet_ns };
	queue->seen = calloc(size, sizeof(*queue->seen));
	if (!queue->seen)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	status = rocm_host_alloc(gpus, size * sizeof(*queue->kernargs), (void **)&queue->kernargs);
	if (!status)
		status =
			rocm_host_alloc(gpus, size * sizeof(*queue->cells), (void **)&queue->cells);
	if (!status)
		status = hsa_signal_create(ROCM_SIGNAL_START, 0, NULL, &queue->signal);
	if (!status)
		status = hsa_queue_create(gpus->gpu[gpu].agent, size, HSA_QUEUE_TYPE_MULTI,
					  on_queue_error, error, UINT32_MAX, UINT32_MAX,
					  &queue->queue);
	if (status)
		rocm_queue_destroy(queue);
	return status;
}

hsa_status_t rocm_queue_destroy(struct rocm_queue *queue)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	if (queue->queue)
		status = hsa_queue_destroy(queue->queue);
	if (queue->signal.handle)
		hsa_signal_destroy(queue->signal);
	if (queue->cells)
		hsa_amd_memory_pool_free(queue->cells);
	if (queue->kernargs)
		hsa_amd_memory_pool_free(queue->kernargs);
	free(queue->seen);
	queue->queue = NULL;
	return status;
}

hsa_kernel_dispatch_packet_t *rocm_dispatch_at(hsa_queue_t *queue, uint64_t index, void *kernarg,
					       hsa_signal_t signal)
{
	hsa_kernel_dispatch_packet_t *packet = queue->base_address;

	packet += index & (queue->size - 1);
	memset((char *)packet + sizeof(packet->header), 0,
	       sizeof(*packet) - sizeof(packet->header));
	packet->workgroup_size_x = 1;
	packet->workgroup_size_y = 1;
	packet->workgroup_size_z = 1;
	packet->grid_size_x = 1;
	packet->grid_size_y = 1;
	packet->grid_size_z = 1;
	packet->kernel_object = KERNEL_OBJECT;
	packet->kernarg_address = kernarg;
	packet->completion_signal = signal;
	return packet;
}

/* The header makes the packet valid, so it goes last, with the next 16 bits. */
void rocm_packet_commit(void *packet, hsa_packet_type_t type, uint16_t second)
{
	uint32_t header = type << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;

	__atomic_store_n((uint32_t *)packet, header | (uint32_t)second << 16, __ATOMIC_RELEASE);
}

static uint32_t slot_of(const struct rocm_queue *queue, uint64_t index)
{
	return (uint32_t)(index & (queue->queue->size - 1));
}

/* A slot is free when its dispatch is complete and the GPU has moved past it. */
uint32_t rocm_queue_room(const struct rocm_queue *queue, uint32_t depth)
{
	uint64_t read = hsa_queue_load_read_index_scacquire(queue->queue);
	uint64_t oldest = read < queue->tail ? read : queue->tail;
	uint64_t used = queue->head - oldest, in_flight = queue->head - queue->tail;

	if (used >= queue->queue->size || in_flight >= depth)
		return 0;
	used = queue->queue->size - used;
	in_flight = depth - in_flight;
	return (uint32_t)(used < in_flight ? used : in_flight);
}

void rocm_queue_put(struct rocm_queue *queue, uint32_t n)
{
	hsa_kernel_dispatch_packet_t *packet;
	uint32_t slot, i;

	for (i = 0; i < n; i++, queue->head++) {
		slot = slot_of(queue, queue->head);
		queue->kernargs[slot] = (struct vgpu_kernarg){
			.magic = VGPU_KERNARG_MAGIC,
			.duration_ns = queue->packet_ns,
			.address = (uintptr_t)&queue->cells[slot],
			.addend = 1,
		};
		packet = rocm_dispatch_at(queue->queue, queue->head, &queue->kernargs[slot],
					  queue->signal);
		rocm_packet_commit(packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, 1);
	}
	queue->verdict.submitted += n;
	hsa_queue_store_write_index_screlease(queue->queue, queue->head);
	hsa_signal_store_screlease(queue->queue->doorbell_signal,
				   (hsa_signal_value_t)(queue->head - 1));
}

/* How many times did the slot's dispatch run since we last looked? */
static uint64_t take_marks(struct rocm_queue *queue, uint32_t slot)
{
	uint64_t cell = __atomic_load_n(&queue->cells[slot], __ATOMIC_ACQUIRE);
	uint64_t marks = cell - queue->seen[slot];

	queue->seen[slot] = cell;
	return marks;
}

uint64_t rocm_queue_retire(struct rocm_queue *queue)
{
	int64_t left = hsa_signal_load_scacquire(queue->signal);
	uint64_t complete = (uint64_t)(ROCM_SIGNAL_START - left);
	uint64_t before = queue->tail, marks;

	/* The signal was decremented too often: each time counts once. */
	if (complete > queue->head) {
		if (complete - queue->head > queue->extra) {
			queue->verdict.doubled += complete - queue->head - queue->extra;
			queue->extra = complete - queue->head;
		}
		complete = queue->head;
	}
	for (; queue->tail < complete; queue->tail++) {
		marks = take_marks(queue, slot_of(queue, queue->tail));
		queue->verdict.completed++;
		queue->verdict.lost += marks == 0;
		queue->verdict.doubled += marks > 1 ? marks - 1 : 0;
	}
	return queue->tail - before;
}

/*
 * Count marks that are there only now: as many as were missing belong to dispatches that a later
 * one overtook, the others to dispatches that ran again.
 */
void rocm_queue_finish(struct rocm_queue *queue)
{
	struct rocm_verdict *verdict = &queue->verdict;
	uint64_t late = 0, index, marks;
	uint32_t slot, used;

	rocm_queue_retire(queue);
	verdict->unfinished = queue->head - queue->tail;
	for (index = queue->tail; index < queue->head; index++) {
		marks = take_marks(queue, slot_of(queue, index));
		verdict->doubled += marks > 1 ? marks - 1 : 0;
	}
	used = queue->head < queue->queue->size ? (uint32_t)queue->head : queue->queue->size;
	for (slot = 0; slot < used; slot++)
		late += take_marks(queue, slot);
	verdict->disordered = late < verdict->lost ? late : verdict->lost;
	verdict->lost -= verdict->disordered;
	verdict->doubled += late - verdict->disordered;
}

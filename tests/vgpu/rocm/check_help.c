// SPDX-License-Identifier: GPL-2.0-only
/* Packets and signals for the checks. */
#include <string.h>

#include "check.h"
#include "queue.h"

int check_new_signal(int64_t value, hsa_signal_t *signal)
{
	TRY(hsa_signal_create(value, 0, NULL, signal));
	return 0;
}

/* A counter is worth its time only once: @addend 0 leaves the cell alone. */
void check_put_dispatch(struct check *c, uint64_t duration_ns, uint64_t addend, hsa_signal_t signal)
{
	struct vgpu_kernarg *arg = &c->kernargs[c->index & (c->queue->size - 1)];

	*arg = (struct vgpu_kernarg){
		.magic = VGPU_KERNARG_MAGIC,
		.duration_ns = duration_ns,
		.address = addend ? (uintptr_t)c->cell : 0,
		.addend = addend,
	};
	rocm_packet_commit(rocm_dispatch_at(c->queue, c->index, arg, signal),
			   HSA_PACKET_TYPE_KERNEL_DISPATCH, 1);
	c->index++;
}

void check_put_barrier(struct check *c, hsa_packet_type_t type, const hsa_signal_t *deps,
		       unsigned int n, hsa_signal_t signal)
{
	hsa_barrier_and_packet_t *packet = c->queue->base_address;
	unsigned int i;

	packet += c->index & (c->queue->size - 1);
	memset((char *)packet + sizeof(packet->header), 0,
	       sizeof(*packet) - sizeof(packet->header));
	for (i = 0; i < n; i++)
		packet->dep_signal[i] = deps[i];
	packet->completion_signal = signal;
	rocm_packet_commit(packet, type, 0);
	c->index++;
}

void check_ring(struct check *c)
{
	hsa_queue_store_write_index_screlease(c->queue, c->index);
	hsa_signal_store_screlease(c->queue->doorbell_signal, (hsa_signal_value_t)(c->index - 1));
}

bool check_zero_within(hsa_signal_t signal, unsigned int ms)
{
	uint64_t until = rocm_now_ns() + ms * MS;

	while (hsa_signal_load_scacquire(signal) > 0) {
		if (rocm_now_ns() >= until)
			return false;
		rocm_sleep_ns(MS / 2);
	}
	return true;
}

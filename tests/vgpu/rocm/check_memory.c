// SPDX-License-Identifier: GPL-2.0-only
/* Copies by SDMA, whose data is compared, and copies by a kernel. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define PATIENCE 10000 /* ms */
#define SIZE	 (4u << 20)

struct buffers {
	uint8_t *from, *to; /* host */
	void *vram[2];	    /* memory of GPU 0 and of the last one */
	hsa_signal_t done;
};

static int take(struct check *c, struct buffers *b)
{
	size_t i;

	TRY(rocm_host_alloc(&c->gpus, SIZE, (void **)&b->from));
	TRY(rocm_host_alloc(&c->gpus, SIZE, (void **)&b->to));
	TRY(rocm_vram_alloc(&c->gpus, 0, SIZE, &b->vram[0]));
	TRY(rocm_vram_alloc(&c->gpus, c->gpus.count - 1, SIZE, &b->vram[1]));
	for (i = 0; i < SIZE; i++)
		b->from[i] = (uint8_t)(i * 7 + (i >> 8));
	return check_new_signal(0, &b->done);
}

static void give_back(struct buffers *b)
{
	hsa_amd_memory_pool_free(b->from);
	hsa_amd_memory_pool_free(b->to);
	hsa_amd_memory_pool_free(b->vram[0]);
	hsa_amd_memory_pool_free(b->vram[1]);
	hsa_signal_destroy(b->done);
}

static int copy(struct buffers *b, void *to, hsa_agent_t to_agent, const void *from,
		hsa_agent_t from_agent, size_t size)
{
	hsa_signal_store_screlease(b->done, 1);
	TRY(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, size, 0, NULL, b->done));
	MUST(check_zero_within(b->done, PATIENCE));
	MUST(hsa_signal_load_scacquire(b->done) == 0);
	return 0;
}

/* Host to GPU to host, of sizes that are odd, or more than one packet. */
int check_copy(struct check *c)
{
	static const size_t sizes[] = { 1, 63, 4096, 4099, 1000001, SIZE };
	hsa_agent_t cpu = c->gpus.cpu, gpu = c->gpus.gpu[0].agent;
	hsa_amd_profiling_async_copy_time_t time;
	struct buffers b;
	size_t i;

	if (take(c, &b))
		return -1;
	TRY(hsa_amd_profiling_async_copy_enable(true));
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memset(b.to, 0xee, SIZE);
		if (copy(&b, b.vram[0], gpu, b.from, cpu, sizes[i]) ||
		    copy(&b, b.to, cpu, b.vram[0], gpu, sizes[i]))
			return -1;
		MUST(memcmp(b.from, b.to, sizes[i]) == 0);
		MUST(sizes[i] == SIZE || b.to[sizes[i]] == 0xee);
		TRY(hsa_amd_profiling_get_async_copy_time(b.done, &time));
		MUST(time.end > time.start);
	}
	TRY(hsa_amd_profiling_async_copy_enable(false));
	give_back(&b);
	return 0;
}

/* Copy from one GPU's memory to another's. Within one, ROCr uses a kernel instead. */
int check_copy_peer(struct check *c)
{
	hsa_agent_t cpu = c->gpus.cpu, first = c->gpus.gpu[0].agent;
	hsa_agent_t last = c->gpus.gpu[c->gpus.count - 1].agent;
	struct buffers b;

	if (c->gpus.count == 1) {
		printf("  there is no other GPU\n");
		return 0;
	}
	if (take(c, &b))
		return -1;
	if (copy(&b, b.vram[0], first, b.from, cpu, SIZE) ||
	    copy(&b, b.vram[1], last, b.vram[0], first, SIZE) ||
	    copy(&b, b.to, cpu, b.vram[1], last, SIZE))
		return -1;
	MUST(memcmp(b.from, b.to, SIZE) == 0);
	give_back(&b);
	return 0;
}

/* A window of 256 by 32 bytes out of rows of 1024. */
int check_copy_rect(struct check *c)
{
	hsa_pitched_ptr_t from = { .pitch = 1024, .slice = SIZE };
	hsa_pitched_ptr_t to = { .pitch = 1024, .slice = SIZE };
	hsa_dim3_t at = { 64, 3, 0 }, range = { 256, 32, 1 };
	struct buffers b;
	int row;

	if (take(c, &b))
		return -1;
	memset(b.to, 0, SIZE);
	from.base = b.from;
	to.base = b.vram[0];
	if (copy(&b, b.vram[0], c->gpus.gpu[0].agent, b.to, c->gpus.cpu, SIZE))
		return -1;
	hsa_signal_store_screlease(b.done, 1);
	TRY(hsa_amd_memory_async_copy_rect(&to, &at, &from, &at, &range, c->gpus.gpu[0].agent,
					   hsaHostToDevice, 0, NULL, b.done));
	MUST(check_zero_within(b.done, PATIENCE));
	if (copy(&b, b.to, c->gpus.cpu, b.vram[0], c->gpus.gpu[0].agent, SIZE))
		return -1;
	for (row = 3; row < 35; row++)
		MUST(memcmp(b.to + row * 1024 + 64, b.from + row * 1024 + 64, 256) == 0);
	MUST(b.to[2 * 1024 + 64] == 0 && b.to[3 * 1024 + 63] == 0);
	MUST(b.to[3 * 1024 + 320] == 0 && b.to[35 * 1024 + 64] == 0);
	give_back(&b);
	return 0;
}

/* A copy that waits for a signal, here that of a dispatch. */
int check_copy_after(struct check *c)
{
	hsa_signal_t first;
	struct buffers b;

	if (take(c, &b) || check_new_signal(1, &first))
		return -1;
	hsa_signal_store_screlease(b.done, 1);
	TRY(hsa_amd_memory_async_copy(b.vram[0], c->gpus.gpu[0].agent, b.from, c->gpus.cpu, SIZE, 1,
				      &first, b.done));
	MUST(!check_zero_within(b.done, 60));
	check_put_dispatch(c, MS, 0, first);
	check_ring(c);
	MUST(check_zero_within(b.done, PATIENCE));
	if (copy(&b, b.to, c->gpus.cpu, b.vram[0], c->gpus.gpu[0].agent, SIZE))
		return -1;
	MUST(memcmp(b.from, b.to, SIZE) == 0);
	hsa_signal_destroy(first);
	give_back(&b);
	return 0;
}

/* A fill is one of ROCr's own kernels: it completes, and writes where code is executed. */
int check_fill(struct check *c)
{
	struct buffers b;
	size_t i, filled = 0;

	if (take(c, &b))
		return -1;
	TRY(hsa_amd_memory_fill(b.vram[0], 0x5a5a5a5a, 1024));
	if (copy(&b, b.to, c->gpus.cpu, b.vram[0], c->gpus.gpu[0].agent, 4096))
		return -1;
	for (i = 0; i < 4096; i++)
		filled += b.to[i] == 0x5a;
	printf("  complete, %zu of 4096 bytes written (a kernel)\n", filled);
	give_back(&b);
	return 0;
}

/* Memory that the program took elsewhere, pinned. */
int check_lock(struct check *c)
{
	void *plain = aligned_alloc(4096, SIZE), *locked = NULL;
	struct buffers b;

	MUST(plain);
	if (take(c, &b))
		return -1;
	memcpy(plain, b.from, SIZE);
	TRY(hsa_amd_memory_lock(plain, SIZE, &c->gpus.gpu[0].agent, 1, &locked));
	if (copy(&b, b.vram[0], c->gpus.gpu[0].agent, locked, c->gpus.cpu, SIZE))
		return -1;
	memset(plain, 0, SIZE);
	if (copy(&b, locked, c->gpus.cpu, b.vram[0], c->gpus.gpu[0].agent, SIZE))
		return -1;
	MUST(memcmp(plain, b.from, SIZE) == 0);
	TRY(hsa_amd_memory_unlock(plain));
	free(plain);
	give_back(&b);
	return 0;
}

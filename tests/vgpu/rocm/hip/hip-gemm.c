// SPDX-License-Identifier: GPL-2.0-only
/*
 * hip-gemm: a HIP program that multiplies matrices on the GPU, and compares each product with the
 * CPU's. What lies between is HIP's own: a fill, small copies, a copy within the GPU, all of which
 * may be kernels of HIP.
 *
 *   hip-gemm MODULE
 *
 * Until SIGTERM. Prints what vgpu-load prints.
 */
#include <stdio.h>
#include <unistd.h>

#include "../product.h"
#include "hip.h"

#define FILL_BYTE 0x5a
#define FILL_SIZE 1000 /* bytes, no multiple of a wave's */

struct gemm {
	struct product product;
	hipModule_t module;
	hipFunction_t kernel;
	hipStream_t stream;
	float *a, *b, *c, *copy; /* the GPU's memory */
	uint8_t *filled;
};

static int prepare(struct gemm *g, const char *file)
{
	TRY(hipModuleLoad(&g->module, file));
	TRY(hipModuleGetFunction(&g->kernel, g->module, "gemm"));
	TRY(hipStreamCreateWithFlags(&g->stream, hipStreamNonBlocking));
	TRY(hipMalloc((void **)&g->a, PRODUCT_BYTES));
	TRY(hipMalloc((void **)&g->b, PRODUCT_BYTES));
	TRY(hipMalloc((void **)&g->c, PRODUCT_BYTES));
	TRY(hipMalloc((void **)&g->copy, PRODUCT_BYTES));
	TRY(hipMalloc((void **)&g->filled, FILL_SIZE));
	return 0;
}

static int check_fill(struct gemm *g)
{
	uint8_t got[FILL_SIZE] = {}, byte = (uint8_t)(FILL_BYTE + g->product.done);
	size_t i, bad = 0;

	TRY(hipMemsetAsync(g->filled, byte, FILL_SIZE, g->stream));
	TRY(hipMemcpyAsync(got, g->filled, FILL_SIZE, hipMemcpyDeviceToHost, g->stream));
	TRY(hipStreamSynchronize(g->stream));
	for (i = 0; i < FILL_SIZE; i++)
		bad += got[i] != byte;
	g->product.wrong += bad != 0;
	return 0;
}

static int multiply(struct gemm *g)
{
	struct product *p = &g->product;
	float got[PRODUCT_CELLS] = {};
	unsigned int side = PRODUCT_SIDE;
	void *params[] = { &g->a, &g->b, &g->c, &side };

	product_next(p);
	TRY(hipMemcpyAsync(g->a, p->a, PRODUCT_BYTES, hipMemcpyHostToDevice, g->stream));
	TRY(hipMemcpyAsync(g->b, p->b, PRODUCT_BYTES, hipMemcpyHostToDevice, g->stream));
	TRY(hipModuleLaunchKernel(g->kernel, PRODUCT_GROUPS, 1, 1, PRODUCT_GROUP_SIZE, 1, 1, 0,
				  g->stream, params, NULL));
	TRY(hipMemcpyAsync(g->copy, g->c, PRODUCT_BYTES, hipMemcpyDeviceToDevice, g->stream));
	TRY(hipMemcpyAsync(got, g->copy, PRODUCT_BYTES, hipMemcpyDeviceToHost, g->stream));
	TRY(hipStreamSynchronize(g->stream));
	product_compare(p, got);
	return 0;
}

static int run(struct gemm *g)
{
	uint64_t start = now_ns(), next = start, now;

	while (!stop_requested) {
		if (multiply(g) || check_fill(g))
			return -1;
		now = now_ns();
		if (now < next)
			continue;
		product_progress(&g->product, now - start);
		next = now + REPORT_NS;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct gemm g;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 2) {
		fputs("usage: hip-gemm MODULE\n", stderr);
		return 2;
	}
	catch_stop();
	/* HIP builds its own kernels when it needs them first, which takes seconds. */
	if (prepare(&g, argv[1]) || multiply(&g) || check_fill(&g))
		return 1;
	printf("ready pid %d\n", (int)getpid());
	if (run(&g))
		return 1;
	return product_result(&g.product);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Products of square matrices, computed by the GPU and compared with the CPU's. Their numbers are
 * small integers, so that each product is exact whatever the order of its sums.
 */
#ifndef ROCM_PRODUCT_H
#define ROCM_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

#define PRODUCT_SIDE  32 /* a multiple of the kernels' tile, 16 */
#define PRODUCT_CELLS ((size_t)PRODUCT_SIDE * PRODUCT_SIDE)
#define PRODUCT_BYTES (PRODUCT_CELLS * sizeof(float))
/* The kernel "gemm" of tests/wave/kernels.c: a workgroup for each tile. */
#define PRODUCT_GROUPS	   (PRODUCT_CELLS / 256)
#define PRODUCT_GROUP_SIZE 256

struct product {
	float a[PRODUCT_CELLS], b[PRODUCT_CELLS], want[PRODUCT_CELLS];
	uint64_t begun, done;
	uint64_t wrong;	   /* results that differ from the CPU's */
	uint64_t checksum; /* over all cells of all products */
	uint64_t expected; /* the same over the CPU's */
};

/* The next two matrices, and their product by the CPU. */
void product_next(struct product *p);
void product_compare(struct product *p, const float *got);

/* Print what vgpu-load prints: a line of progress, and the last line. */
void product_progress(const struct product *p, uint64_t ns);
/* Returns the program's exit status. */
int product_result(const struct product *p);

#endif

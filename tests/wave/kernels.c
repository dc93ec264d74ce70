// SPDX-License-Identifier: GPL-2.0-only
/* Kernels of the test, free-standing: no HIP headers needed. */
#include "arithmetic.h"

typedef unsigned int u32;
typedef unsigned char u8;
#define G      __attribute__((address_space(1)))
#define L      __attribute__((address_space(3)))
#define KERNEL __attribute__((amdgpu_kernel, visibility("protected")))
#define tid()  __builtin_amdgcn_workitem_id_x()
#define gid()  (__builtin_amdgcn_workgroup_id_x() * 256 + tid())

static void barrier(void)
{
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

KERNEL void vecadd(G const float *a, G const float *b, G float *c, u32 n)
{
	u32 i = gid();

	if (i < n)
		c[i] = a[i] + b[i];
}

KERNEL void fill(G u8 *p, u8 value, u32 n)
{
	for (u32 i = gid(); i < n; i += 512)
		p[i] = value;
}

L u32 part[256] __attribute__((loader_uninitialized));

KERNEL void reduce(G const u32 *a, G u32 *out, u32 n)
{
	u32 t = tid(), sum = 0;

	for (u32 i = gid(); i < n; i += 512)
		sum += a[i];
	part[t] = sum;
	barrier();
	for (u32 s = 128; s; s >>= 1) {
		if (t < s)
			part[t] += part[t + s];
		barrier();
	}
	if (!t)
		__atomic_fetch_add(out, part[0], __ATOMIC_RELAXED);
}

L float ta[256] __attribute__((loader_uninitialized)),
	tb[256] __attribute__((loader_uninitialized));

/* c = a * b, n a multiple of 16; one workgroup of 16 x 16 a tile. */
KERNEL void gemm(G const float *a, G const float *b, G float *c, u32 n)
{
	u32 t = tid(), x = t & 15, y = t >> 4, tiles = n / 16;
	u32 g = __builtin_amdgcn_workgroup_id_x();
	u32 row = g / tiles * 16 + y, col = g % tiles * 16 + x;
	float sum = 0;

	for (u32 k = 0; k < n; k += 16) {
		ta[t] = a[row * n + k + x];
		tb[t] = b[(k + y) * n + col];
		barrier();
		for (u32 i = 0; i < 16; i++)
			sum += ta[y * 16 + i] * tb[i * 16 + x];
		barrier();
	}
	c[row * n + col] = sum;
}

typedef float f4 __attribute__((ext_vector_type(4)));

typedef int i4 __attribute__((ext_vector_type(4)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef short s4 __attribute__((ext_vector_type(4)));

/* Bits 31 to 16 of a float: a number with fewer bits, if it is a small integer. */
static short bfloat(float x)
{
	return (short)(__builtin_bit_cast(u32, x) >> 16);
}

/*
 * The same with the matrix cores: one wave a tile, exact for small integers; and once more with
 * numbers of 16 bits and bytes. All have to have the same product.
 */
KERNEL void mfma(G const float *a, G const float *b, G float *c, u32 n)
{
	u32 t = tid() & 63, tiles = n / 16, g = __builtin_amdgcn_workgroup_id_x();
	u32 row = g / tiles * 16, col = g % tiles * 16;
	f4 d = { 0, 0, 0, 0 }, h = d, s = d;
	i4 w = { 0, 0, 0, 0 };

	for (u32 k = 0; k < n; k += 4)
		d = __builtin_amdgcn_mfma_f32_16x16x4f32(a[(row + t % 16) * n + k + t / 16],
							 b[(k + t / 16) * n + col + t % 16], d, 0,
							 0, 0);
	for (u32 k = t / 16 * 4; k < n; k += 16) {
		u32 x = 0, y = 0;
		h4 hx, hy;
		s4 sx, sy;

		for (u32 i = 0; i < 4; i++) {
			float p = a[(row + t % 16) * n + k + i], q = b[(k + i) * n + col + t % 16];

			hx[i] = (_Float16)p, hy[i] = (_Float16)q;
			sx[i] = bfloat(p), sy[i] = bfloat(q);
			x |= ((u32)(int)p & 255) << i * 8, y |= ((u32)(int)q & 255) << i * 8;
		}
		h = __builtin_amdgcn_mfma_f32_16x16x16f16(hx, hy, h, 0, 0, 0);
		s = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(sx, sy, s, 0, 0, 0);
#ifdef __gfx90a__
		w = __builtin_amdgcn_mfma_i32_16x16x16i8(x, y, w, 0, 0, 0);
#else
		w = (i4){ (int)h[0], (int)h[1], (int)h[2], (int)h[3] };
#endif
	}
	for (u32 i = 0; i < 4; i++)
		c[(row + t / 16 * 4 + i) * n + col + t % 16] =
			d[i] == h[i] && d[i] == s[i] && d[i] == (float)w[i] ? d[i] : -1e9f;
}

/* AccVGPRs by hand: the compiler takes them only for spills and matrices. */
KERNEL void accs(G const u32 *a, G u32 *out, u32 n)
{
	u32 t = tid(), x = a[t], y = 0, p, q;

	asm volatile("v_accvgpr_write_b32 a0, %0\n v_accvgpr_write_b32 a7, %1" ::"v"(x), "v"(x * 3)
		     : "a0", "a7");
	for (u32 i = 0; i < n; i++)
		y = y * 31 + a[(t + i) & 255];
	asm volatile("v_accvgpr_read_b32 %0, a0\n v_accvgpr_read_b32 %1, a7"
		     : "=&v"(p), "=&v"(q), "+v"(y));
	out[gid()] = p + q + y;
}

#define OUT(value) out[i0 + k_++] = (wide)(value);

/* Two numbers of each lane, and two that all lanes of a workgroup share. */
KERNEL void lanes(G const u32 *a, G wide *out)
{
	u32 n = __builtin_amdgcn_workgroup_id_x() * 64 + tid(), i0 = n * ARITHMETIC_COUNT;

	ARITHMETIC_ALL(a[n], a[n + 1024], OUT);
}

KERNEL void shared(G const u32 *a, G wide *out)
{
	u32 g = __builtin_amdgcn_workgroup_id_x(), i0 = g * ARITHMETIC_COUNT;

	ARITHMETIC_ALL(a[g], a[g + 1024], OUT);
}

L u8 room[64 * 32] __attribute__((loader_uninitialized, aligned(16)));

typedef u32 four __attribute__((ext_vector_type(4)));

/* Moves and atomic operations; OUT has four numbers of each lane, then 32 bytes, then a sum. */
KERNEL void moves(G const u32 *a, G wide *out)
{
	u32 t = tid(), x = a[t], y = a[t + 1024];
	G u8 *mine = (G u8 *)(out + 64 * 4) + t * 32;
	L u8 *lds = room + t * 32;

	MOVE_ALL(L, lds, x, y);
	MOVE_ALL(G, mine, x, y);
	out[t * 4] = SUM_ALL(L, lds);
	out[t * 4 + 1] = SUM_ALL(G, mine);
	out[t * 4 + 2] = __atomic_fetch_add((L u32 *)lds, y, __ATOMIC_RELAXED) ^
			 __atomic_fetch_xor((G u32 *)mine, y, __ATOMIC_RELAXED) ^
			 __builtin_amdgcn_ds_bpermute((63 - t) * 4, x);
	__atomic_fetch_max((L u32 *)lds, x, __ATOMIC_RELAXED);
	__atomic_fetch_or((G wide *)(mine + 8), x, __ATOMIC_RELAXED);
	*(volatile G four *)(mine + 16) = *(volatile L four *)lds;
	barrier();
	out[t * 4 + 3] = *(volatile L u32 *)(room + (63 - t) * 32);
	/* One for all lanes, whose sum the compiler makes by moves between lanes. */
	__atomic_fetch_add((G u32 *)(out + 64 * 8), x, __ATOMIC_RELAXED);
}

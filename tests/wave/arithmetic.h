/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arithmetic that two compilers build: clang for the GPU, for numbers of each lane and for numbers
 * that all lanes share, and the host's compiler for what must come out. So what an opcode has to
 * do follows from LLVM's choice of it, and not from our belief.
 *
 * x and y are numbers of 32 bits, p and q of 64, f and g floats, d and e doubles, h and i halves.
 */
#ifndef WAVE_ARITHMETIC_H
#define WAVE_ARITHMETIC_H

typedef unsigned int num;
typedef unsigned long long wide;
typedef _Float16 pair __attribute__((vector_size(4)));

/* clang-format off */
#define ORDERS(X, a, b)                                                                       \
	X((a < b) | (a <= b) << 1 | (a == b) << 2) X(a > b ? x : y) X(a >= b ? y : x) X(a != b)
#define BOTH_SIGNS(X, s, u, bits)                                                             \
	ORDERS(X, (s)p, (s)q) ORDERS(X, (u)p, (u)q)                                           \
	X((u)p >> (q & (bits))) X((wide)((s)p >> (q & (bits)))) X((u)((u)p << (q & (bits)))) \
	X((u)((u)p * (u)q)) X((u)((u)p + (u)q)) X((u)((u)p - (u)q)) X((wide)(s)p)             \
	X((s)p < (s)q ? (u)p : (u)q) X((u)p < (u)q ? (u)p : (u)q)                             \
	X((s)p > (s)q ? (u)p : (u)q) X((u)p > (u)q ? (u)p : (u)q)
#define FLOATS_OF(X, a, b, type)                                                              \
	ORDERS(X, a, b) X(!(a < b)) X(!(a > b)) X(a != a) X(of((double)(type)(a + b)))        \
	X(of((double)(type)(a - b))) X(of((double)(type)(a * b))) X(of((double)-a))           \
	X(of((double)(a < b ? a : b))) X(of((double)(type)(-a * b))) X(of((double)(float)a))

/* Opcodes that no expression of C becomes, by their builtins; the numbers have exact results. */
#ifdef __AMDGCN__
#define EXACT(gpu, host) gpu
#else
#define EXACT(gpu, host) host
#endif
#define BUILTINS(X, b)                                                                        \
	X(of((double)EXACT(__builtin_amdgcn_rcpf(b), 1 / (b))))                               \
	X(of((double)EXACT(__builtin_amdgcn_rsqf(b), 1 / __builtin_sqrtf(b))))                \
	X(of((double)EXACT(__builtin_amdgcn_sqrtf(b), __builtin_sqrtf(b))))                   \
	X(of((double)EXACT(__builtin_amdgcn_logf(b), __builtin_log2f(b))))                    \
	X(of((double)EXACT(__builtin_amdgcn_exp2f(b / 64), __builtin_exp2f(b / 64))))         \
	X(of((double)EXACT(__builtin_amdgcn_fractf(f), f - __builtin_floorf(f))))             \
	X(of(EXACT(__builtin_amdgcn_rcp((double)b), 1 / (double)b)))                          \
	X(of(EXACT(__builtin_amdgcn_rsq((double)b), 1 / __builtin_sqrt(b))))                  \
	X(of((double)EXACT(__builtin_amdgcn_sqrth((_Float16)b), __builtin_sqrtf(b))))         \
	X(of(EXACT(__builtin_amdgcn_fract(d), d - __builtin_floor(d))))                       \
	X(of(EXACT(__builtin_amdgcn_frexp_mant((double)b), .5)))                              \
	X(of((double)__builtin_ldexpf(f, (int)(y & 15)))) X(of((double)(b * f + g)))          \
	X(EXACT(__builtin_amdgcn_alignbyte(x, y, x), (num)(((wide)x << 32 | y) >> (x & 3) * 8))) \
	X(of((double)EXACT(__builtin_fmaf16(h, i, h), (_Float16)(h * i + h))))                \
	X(of((double)EXACT(__builtin_fmaxf16(h, i), h > i ? h : i)))                          \
	X(of((double)EXACT(__builtin_fminf16(h, i), h < i ? h : i)))

#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define MOST(a, b)  ((a) > (b) ? (a) : (b))
#define EACH(act)   (pair){ (_Float16)act(h, i), (_Float16)act(i, h) }
#define SUM(a, b)   __builtin_fmaf(a, b, a)
#define QUOTIENT(X, a, up, b, low)                                                            \
	X(of((double)(__builtin_ldexpf(a + .5f, up) / __builtin_ldexpf(b + .3f, low))))       \
	X(of(__builtin_ldexp((double)a + .5, up * 8) / __builtin_ldexp((double)b + .3, low * 8)))
/* Divisions, three sources, and halves in pairs. */
#define MORE(X)                                                                               \
	QUOTIENT(X, f, 0, g, 0) QUOTIENT(X, f, 90, g, -30) QUOTIENT(X, f, -100, g, 15)        \
	QUOTIENT(X, f, 0, g, 100) QUOTIENT(X, f, 100, g, 100) QUOTIENT(X, f, -110, g, -100)   \
	QUOTIENT(X, f, 20, g, -120) QUOTIENT(X, f, -120, g, 0)                                \
	X(of((double)(_Float16)(h / (i + (_Float16).5))))                                     \
	X(LEAST(LEAST(x, y), (num)p)) X(MOST(MOST(x, y), (num)p))                             \
	X((num)LEAST(LEAST((int)x, (int)y), (int)p)) X((num)MOST(MOST((int)x, (int)y), (int)p)) \
	X(EXACT(__builtin_amdgcn_classf(f, y), y >> (f == 0 ? 6 : f < 0 ? 3 : 8) & 1))        \
	X(EXACT(__builtin_amdgcn_class(d, y), y >> (d == 0 ? 6 : d < 0 ? 3 : 8) & 1))         \
	X(EXACT(__builtin_amdgcn_classh(h, y), y >> (h == 0 ? 6 : h < 0 ? 3 : 8) & 1))        \
	X(of((double)(_Float16)(short)x)) X(of((double)(_Float16)(unsigned short)y))          \
	X((wide)(x & 0xffffff) * (y & 0xffffff) >> 32)                                        \
	X(of((double)EXACT(__builtin_amdgcn_fdot2((pair){ h, i }, (pair){ i, h }, f, 0),      \
			   __builtin_fmaf(i, h, __builtin_fmaf(h, i, f)))))                   \
	X((num)EXACT(__builtin_amdgcn_sdot4(x, y, p, 0), dot(x, y, p, 0)))                    \
	X((num)EXACT(__builtin_amdgcn_sdot4(x, y, x | 1 << 30, 1), dot(x, y, x | 1 << 30, 1))) \
	X(of((double)__builtin_fmaf((float)h, (float)i, f)))                                  \
	X(of((double)(_Float16)__builtin_fmaf((float)h, (float)-i, (float)h)))                \
	X(bits_of(EACH(SUM))) X(bits_of((pair){ h, i } * (pair){ i, i }))                     \
	X(bits_of((pair){ h, i } + (pair){ i, h }))                                           \
	X(bits_of(EXACT(__builtin_elementwise_min((pair){ h, i }, (pair){ i, h }), EACH(LEAST)))) \
	X(bits_of(EXACT(__builtin_elementwise_max((pair){ h, i }, (pair){ i, h }), EACH(MOST)))) \
	X(bits_of(EXACT(__builtin_elementwise_fma((pair){ h, i }, (pair){ i, h }, (pair){ h, i }), \
			EACH(SUM))))                                                          \
	X(of((double)EXACT(__builtin_fminf16(__builtin_fminf16(h, i), -4),                    \
			   LEAST(LEAST(h, i), (_Float16)-4))))                                \
	X(of((double)EXACT(__builtin_fmaxf16(__builtin_fmaxf16(h, i), 4),                     \
			   MOST(MOST(h, i), (_Float16)4))))

#define ARITHMETIC(X)                                                                         \
	MORE(X)                                                                               \
	BOTH_SIGNS(X, int, num, 31) BOTH_SIGNS(X, long long, wide, 63)                        \
	BOTH_SIGNS(X, short, unsigned short, 15) BOTH_SIGNS(X, signed char, unsigned char, 7) \
	X(x & y) X(x | y) X(x ^ y) X(~x) X(x & ~y) X(~(x ^ y)) X((x & y) | 0x1234) X(p & q)   \
	X(p | q) X(p ^ q) X(p & ~q) X(~p) X((x & y) | (~x & 0x5a5a5a5a)) X((x ^ y) + 7)       \
	X((x << 3) + y) X((x + y) << 4) X((x << 5) | y) X(x + y + 77) X((x >> 5) & 0x7f)      \
	X((wide)((int)(x << 7) >> 13)) X(x << (y & 31) | x >> (-y & 31)) X((p << 9) + q)      \
	X((wide)x * y) X((wide)x * y >> 32) X((wide)((long long)(int)x * (int)y))             \
	X((wide)x * y + q) X((x & 0xffffff) * (y & 0xffffff) + 9) X(x / (y | 1))              \
	X(x % (y | 1)) X((wide)((int)x / (int)(y >> 20 | 1))) X(__builtin_bswap32(x))         \
	X((x & 0xff00) << 8 | (y >> 24)) X((x & 0xffff) | y << 16) X(x >> 16 | (y & ~0xffffu)) \
	X(__builtin_popcount(x)) X(__builtin_popcountll(p)) X(__builtin_clz(x | 1))           \
	X(__builtin_ctz(x | 256)) X(__builtin_ctzll(p | 1ull << 40)) X(__builtin_clzll(p | 2)) \
	X((p >> 7 | q << 57) & 0xffffffff) X((num)(p >> (q & 31))) X(p + x) X(p - (wide)y)    \
	X((int)x < 0 ? -x : x) X(x & 1 ? q : p) X((x >> 3 & 1) + 5) X(p == q) X(q < p)        \
	FLOATS_OF(X, f, g, float) FLOATS_OF(X, d, e, double) FLOATS_OF(X, h, i, _Float16)     \
	X(of((double)__builtin_fmaf(f, g, 3.f))) X(of(__builtin_fma(d, e, d)))                \
	X(of((double)__builtin_fabsf(f))) X(of(__builtin_fabs(d))) X((wide)(int)f)            \
	X((num)__builtin_fabsf(f)) X((wide)(int)d) X((num)__builtin_fabs(d))                  \
	X(of((double)__builtin_floorf(f))) X(of((double)__builtin_ceilf(f)))                  \
	X(of((double)__builtin_truncf(f))) X(of((double)__builtin_rintf(f)))                  \
	X(of(__builtin_floor(d))) X(of(__builtin_trunc(d))) X(of(__builtin_rint(d)))          \
	X(of((double)(float)(int)x)) X(of((double)(float)x)) X(of((double)(int)x))            \
	X(of((double)x)) X(of((double)(float)(x & 255))) X(of((double)(float)(x >> 8 & 255))) \
	X(of((double)(_Float16)f)) X(of((double)(f > g ? -f : g)))                            \
	X(of((double)(float)(d * 0.25))) X(of((double)(f * 0.15915494f)))                     \
	X(~(x & y)) X(~(x | y)) X(x | ~y) X(~(p & q)) X(~(p | q)) X(p | ~q) X(~(p ^ q))       \
	X((x << 1) + y) X((x << 2) + y) X((x << 4) + y) X(__builtin_popcount(~x))             \
	X(((1u << (x & 31)) - 1) << (y & 31)) X(x & ~(1u << (y & 31))) X((x + y) << (y & 31)) \
	X((x & 0xffff) | (y & 0xffff0000)) X(x >> 16 | (y >> 16) << 16)                       \
	X((num)((long long)(int)x * (int)y >> 32)) X(of((double)(float)(x >> 16 & 255)))      \
	X(of((double)(float)(x >> 24))) X(of((double)__builtin_fminf(f, g)))                  \
	X(of((double)__builtin_fmaxf(f, g))) X(of(__builtin_fmin(d, e)))                      \
	X(of(__builtin_fmax(d, e))) X(of((double)(-f - g))) X((unsigned short)(x >> (y & 15))) \
	BUILTINS(X, (float)(64 << (x & 3) * 2))
/* clang-format on */

#define COUNT_ONE(value) +1
enum { ARITHMETIC_COUNT = 0 ARITHMETIC(COUNT_ONE) };

static inline __attribute__((always_inline)) wide of(double value)
{
	wide bits;

	__builtin_memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline __attribute__((always_inline)) wide bits_of(pair value)
{
	num bits;

	__builtin_memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline __attribute__((always_inline, unused)) int dot(num x, num y, int c, _Bool clamp)
{
	long long sum = c;

	for (int k = 0; k < 32; k += 8)
		sum += (signed char)(x >> k) * (signed char)(y >> k);
	return clamp ? (int)LEAST(MOST(sum, -0x80000000ll), 0x7fffffffll) : (int)sum;
}

/* All values for two numbers; result number K goes to OUT(K). */
#define ARITHMETIC_ALL(x_, y_, OUT)                                                  \
	do {                                                                         \
		num x = (x_), y = (y_), k_ = 0;                                      \
		wide p = (wide)y << 29 ^ x * 0x9e3779b1ull;                          \
		wide q = (wide)x << 37 ^ y * 0x85ebca6bull;                          \
		float f = (float)((int)x >> 8) * 0.0078125f;                         \
		float g = (float)((int)y >> 8) * 0.0078125f;                         \
		double d = (double)(int)x * 0.001953125, e = (double)(int)y;         \
		_Float16 h = (_Float16)((int)x >> 22), i = (_Float16)((int)y >> 25); \
		ARITHMETIC(OUT)                                                      \
	} while (0)

/* Moves of all widths between registers and 32 bytes of LDS and of memory, with a sum of them. */
#define MOVE(space, at, type, n) (*(volatile space type *)((at) + (n)))
#define MOVE_ALL(space, at, x, y)                                                               \
	MOVE(space, at, unsigned char, 0) = (x), MOVE(space, at, unsigned char, 1) = (y) >> 16, \
				       MOVE(space, at, unsigned short, 2) = (x) >> 7,           \
				       MOVE(space, at, num, 4) = (y) ^ (x),                     \
				       MOVE(space, at, wide, 8) = (wide)(x) << 30 ^ (y),        \
				       MOVE(space, at, wide, 16) = (y),                         \
				       MOVE(space, at, num, 24) = 5,                            \
				       MOVE(space, at, num, 28) = (x) >> 9
#define SUM_ALL(space, at)                                                                  \
	(MOVE(space, at, unsigned char, 8) + MOVE(space, at, unsigned short, 10) +          \
	 (wide)MOVE(space, at, signed char, 9) * 3 + (wide)MOVE(space, at, short, 12) * 5 + \
	 MOVE(space, at, num, 0) * 7ull + MOVE(space, at, wide, 16) * 11)

#endif

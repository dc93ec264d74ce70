// SPDX-License-Identifier: GPL-2.0-only
/*
 * Vector instructions: VOP1, VOP2, VOPC, VOP3 and packed ones, with SDWA and DPP. Arithmetic is
 * the host's, as docs/vgpu.md says. A modifier that an opcode does not take here is refused.
 */
#include <float.h>
#include <math.h>

#include "wave.h"

/* A source: of lane l the words lo[l * step] and hi[l * step]. */
struct source {
	const u32 *lo, *hi;
	u32 step, constant[2];
};

struct vector {
	struct wave *w;
	const struct wave_inst *i;
	u64 active, lanes; /* EXEC, and the lanes that are written */
	u64 bits;	   /* a carry or the result of a comparison for each lane */
	struct source source[3];
	u32 made[2][LANES]; /* sources as DPP or SDWA gives them */
};

enum { DST_BYTES = 4, DST_ALL = 6, UNUSED_SEXT = 1, UNUSED_KEEP = 2 };

static double mantissa(double a)
{
	int e;

	return frexp(a, &e);
}

static int exponent(double a)
{
	int e;

	frexp(a, &e);
	return isfinite(a) ? e : 0;
}

/* Conversions saturate, and take no number for 0. */
static s32 integer(double a)
{
	return isnan(a) ? 0 : a >= 0x1p31 ? INT32_MAX : a < -0x1p31 ? INT32_MIN : (s32)a;
}

static u32 natural(double a)
{
	return !(a > 0) ? 0 : a >= 0x1p32 ? UINT32_MAX : (u32)a;
}

static s64 least(s64 a, s64 b)
{
	return a < b ? a : b;
}

static s64 most(s64 a, s64 b)
{
	return a > b ? a : b;
}

/* Bit of a number's class; bit 22 of its mantissa tells two kinds of NaN apart. */
static u32 class_of(double a, bool tiny, u64 bits)
{
	u32 kind = isinf(a) ? 0 : a == 0 ? 3 : tiny ? 2 : 1;

	if (isnan(a))
		return 1u << (bits >> 22 & 1);
	return 1u << (signbit(a) ? 2 + kind : 9 - kind);
}

/*
 * Sign and special cases of num / den; a is the quotient of the two after v_div_scale, and low the
 * difference of exponents below which it is 0.
 */
static double quotient(double a, double den, double num, int low)
{
	double sign = signbit(num) != signbit(den) ? -1 : 1;
	int at_num, at_den;

	if (isnan(num) || isnan(den))
		return isnan(num) ? num : den;
	if ((num == 0 && den == 0) || (isinf(num) && isinf(den)))
		return copysign(NAN, -1);
	if (isinf(num) || den == 0)
		return copysign(INFINITY, sign);
	frexp(num, &at_num);
	frexp(den, &at_den);
	if (isinf(den) || num == 0 || at_num - at_den < low)
		return copysign(0, sign);
	return copysign(a, sign);
}

static s64 signed24(u64 x)
{
	return (s32)((u32)x << 8) >> 8;
}

static u32 count_below(u64 mask, u64 lane, u32 from)
{
	u64 below = lane <= from ? 0 : lane - from >= 32 ? ~0u : (1u << (lane - from)) - 1;

	return (u32)__builtin_popcount((u32)(mask & below));
}

static u32 permute_bytes(u32 a, u32 b, u32 selectors)
{
	u64 from = (u64)a << 32 | b;
	u32 r = 0, k;

	for (k = 0; k < 32; k += 8) {
		u32 s = selectors >> k & 255, byte = 255;

		if (s < 8)
			byte = from >> s * 8 & 255;
		else if (s < 12)
			byte = (from >> ((s - 8) * 16 + 15) & 1) * 255;
		else if (s == 12)
			byte = 0;
		r |= byte << k;
	}
	return r;
}

/* -- sources and results, by kind ------------------------------------------- */

typedef u64 type_u;
typedef float type_f, type_h;
typedef double type_d;

static type_u get_u(const struct vector *v, u32 k, u64 l)
{
	const struct source *s = &v->source[k];

	if (v->i->width[SRC0 + k] != 2)
		return v->i->width[SRC0 + k] ? s->lo[l * s->step] : 0;
	return s->lo[l * s->step] | (u64)s->hi[l * s->step] << 32;
}

static double with_sign(const struct vector *v, u32 k, double x)
{
	if (v->i->abs >> k & 1)
		x = fabs(x);
	return v->i->neg >> k & 1 ? -x : x;
}

static type_f get_f(const struct vector *v, u32 k, u64 l)
{
	u32 x = (u32)get_u(v, k, l);

	if (v->i->abs >> k & 1)
		x &= 0x7fffffff;
	return AS(float, v->i->neg >> k & 1 ? x ^ 0x80000000 : x);
}

static type_h get_h(const struct vector *v, u32 k, u64 l)
{
	u32 n = v->i->n[SRC0 + k], x = (u32)get_u(v, k, l);

	if (n >= 240 && n <= 248)
		return (float)with_sign(v, k, AS(float, x));
	return (float)with_sign(v, k,
				(double)AS(_Float16, (u16)(v->i->op_sel >> k & 1 ? x >> 16 : x)));
}

/* A literal is the upper half of a double. */
static type_d get_d(const struct vector *v, u32 k, u64 l)
{
	u64 x = get_u(v, k, l) << (v->i->n[SRC0 + k] == IS_LITERAL ? 32 : 0);

	return with_sign(v, k, AS(double, x));
}

static double scaled(const struct vector *v, double x)
{
	static const float factor[] = { 1, 2, 4, .5f };

	x *= (double)factor[v->i->omod];
	if (v->i->clamp)
		x = x > 0 ? x < 1 ? x : 1 : 0;
	return x;
}

static void put_u(struct vector *v, u64 l, u64 x)
{
	u32 *d = v->w->v[v->i->n[DST] - VGPR + (v->i->width[DST] == 2)];
	u32 sel = v->i->extra >> 8 & 7, unused = v->i->extra >> 11 & 3, bits, at, mask, keep = 0;

	if (v->i->width[DST] == 2) {
		d[l] = (u32)(x >> 32);
		d -= LANES;
	}
	if (v->i->bare != IS_SDWA || sel >= DST_ALL) {
		d[l] = (u32)x;
		return;
	}
	bits = sel < DST_BYTES ? 8 : 16;
	at = sel < DST_BYTES ? sel * 8 : (sel - DST_BYTES) * 16;
	mask = ((1u << bits) - 1) << at;
	if (unused == UNUSED_KEEP)
		keep = d[l] & ~mask;
	else if (unused == UNUSED_SEXT && x >> (bits - 1) & 1)
		keep = ~(mask | (mask - 1));
	d[l] = ((u32)x << at & mask) | keep;
}

static void put_f(struct vector *v, u64 l, float x)
{
	put_u(v, l, AS(u32, v->i->omod || v->i->clamp ? (float)scaled(v, x) : x));
}

static void put_h(struct vector *v, u64 l, float x)
{
	u32 old = v->w->v[v->i->n[DST] - VGPR][l], bits = AS(u16, (_Float16)scaled(v, x));

	put_u(v, l, v->i->op_sel >> 3 & 1 ? (old & 0xffff) | bits << 16 : bits);
}

static void put_d(struct vector *v, u64 l, double x)
{
	put_u(v, l, AS(u64, scaled(v, x)));
}

static float old_f(const struct vector *v, u64 l)
{
	return AS(float, v->w->v[v->i->n[DST] - VGPR][l]);
}

static double old_d(const struct vector *v, u64 l)
{
	const u32(*r)[LANES] = &v->w->v[v->i->n[DST] - VGPR];

	return AS(double, r[0][l] | (u64)r[1][l] << 32);
}

static float literal_f(const struct vector *v)
{
	return AS(float, v->i->literal);
}

/* -- opcodes for all lanes at once ------------------------------------------ */

static void multiply_add_wide(struct vector *v)
{
	FOR_LANES(l, v->lanes) {
		u64 x = (u64)(u32)get_u(v, 0, l) * (u32)get_u(v, 1, l), y = x + get_u(v, 2, l);

		v->bits |= (u64)(y < x) << l;
		put_u(v, l, y);
	}
	wave_put(v->w, v->i->n[DST2], 2, v->bits);
}

/* The last step of a division: a * b + c. With the bit in VCC it undoes the scaling. */
static float last_step_f(const struct vector *v, u64 l, float a, float b, float c)
{
	int up = fabsf(c) >= 2 ? 64 : -64;

	if (!(wave_pair(v->w, VCC) >> l & 1))
		return fmaf(a, b, c);
	return (float)ldexp(fma((double)a, (double)b, (double)c), up);
}

static double last_step_d(const struct vector *v, u64 l, double a, double b, double c)
{
	int up = fabs(c) >= 2 ? 128 : -128;

	if (!(wave_pair(v->w, VCC) >> l & 1))
		return fma(a, b, c);
	return (double)ldexpl(fmal(a, b, c), up);
}

/*
 * Scale source 0, the denominator (1) or the numerator (2) of a quotient, so that no step of the
 * division overflows or loses bits; VCC tells v_div_fmas to undo it. The conditions are those of
 * the manual; far is a difference of exponents, up what is added to one, least the smallest
 * normal number, and small the exponent up to which a numerator is scaled.
 */
static double scale(struct vector *v, u64 l, double x, double den, double num, const double *of)
{
	double least_normal = of[0], far = of[1], up = of[2], small = of[3];
	bool reciprocal = fabs(1 / den) < least_normal, result = fabs(num / den) < least_normal;
	int at_num, at_den;

	frexp(num, &at_num);
	frexp(den, &at_den);
	if (num == 0 || den == 0)
		return NAN;
	if (at_num - at_den >= far) {
		v->bits |= 1ull << l;
		return x == den ? ldexp(x, (int)up) : x;
	}
	if (fabs(den) < least_normal)
		return ldexp(x, (int)up);
	if (reciprocal && !result)
		return ldexp(x, -(int)up);
	if (result) {
		v->bits |= 1ull << l;
		return x == (reciprocal ? den : num) ? ldexp(x, (int)up) : x;
	}
	return at_num <= small ? ldexp(x, (int)up) : x;
}

static void scale_floats(struct vector *v)
{
	static const double of[] = { (double)FLT_MIN, 96, 64, 23 - 126 };

	FOR_LANES(l, v->lanes)
		put_f(v, l,
		      (float)scale(v, l, (double)get_f(v, 0, l), (double)get_f(v, 1, l),
				   (double)get_f(v, 2, l), of));
	wave_put(v->w, v->i->n[DST2], 2, v->bits);
}

static void scale_doubles(struct vector *v)
{
	static const double of[] = { DBL_MIN, 768, 128, 53 - 1022 };

	FOR_LANES(l, v->lanes)
		put_d(v, l, scale(v, l, get_d(v, 0, l), get_d(v, 1, l), get_d(v, 2, l), of));
	wave_put(v->w, v->i->n[DST2], 2, v->bits);
}

static void multiply_bytes(struct vector *v, bool onto_old)
{
	FOR_LANES(l, v->lanes) {
		u32 a = (u32)get_u(v, 0, l), b = (u32)get_u(v, 1, l), k;
		s64 sum = (s32)(onto_old ? v->w->v[v->i->n[DST] - VGPR][l] : get_u(v, 2, l));

		for (k = 0; k < 32; k += 8)
			sum += (s64)(int8_t)(a >> k) * (int8_t)(b >> k);
		if (v->i->clamp)
			sum = most(least(sum, INT32_MAX), INT32_MIN);
		put_u(v, l, (u32)sum);
	}
}

static void read_lane(struct vector *v, u32 lane)
{
	wave_put(v->w, v->i->n[DST], 1, v->source[0].lo[lane * v->source[0].step]);
}

static void write_lane(struct vector *v, u32 lane)
{
	v->w->v[v->i->n[DST] - VGPR][lane] = *v->source[0].lo;
}

/* A half of a source; inline constants are floats of 32 bits here, and stand in the lower one. */
static float half_of(const struct vector *v, u32 k, u64 l, bool high)
{
	u32 n = v->i->n[SRC0 + k], x = (u32)get_u(v, k, l);
	float constant = AS(float, x);

	if (n >= 240 && n <= 248)
		x = AS(u16, (_Float16)constant);
	return (float)AS(_Float16, (u16)(high ? x >> 16 : x));
}

/* op_sel_hi tells a source of 16 bits, whose half op_sel is. Keep the other half of the result. */
static void multiply_mixed(struct vector *v, u32 mask)
{
	FOR_LANES(l, v->lanes) {
		u32 old = v->w->v[v->i->n[DST] - VGPR][l], k, bits;
		float x[3];

		for (k = 0; k < 3; k++) {
			x[k] = v->i->op_sel_hi >> k & 1 ? half_of(v, k, l, v->i->op_sel >> k & 1) :
							  AS(float, (u32)get_u(v, k, l));
			x[k] = v->i->neg_hi >> k & 1 ? fabsf(x[k]) : x[k];
			x[k] = v->i->neg >> k & 1 ? -x[k] : x[k];
		}
		x[0] = (float)scaled(v, (double)fmaf(x[0], x[1], x[2]));
		bits = AS(u16, (_Float16)x[0]) * 0x10001u;
		put_u(v, l, mask ? (old & ~mask) | (bits & mask) : AS(u32, x[0]));
	}
}

static u32 half_of_pair(const struct vector *v, u32 k, u64 l, bool high)
{
	const struct source *s = &v->source[k];

	return (high ? s->hi : s->lo)[l * s->step];
}

static void packed_move(struct vector *v)
{
	FOR_LANES(l, v->lanes) {
		u64 low = half_of_pair(v, 0, l, v->i->op_sel & 1);

		put_u(v, l, low | (u64)half_of_pair(v, 1, l, v->i->op_sel >> 1 & 1) << 32);
	}
}

static float paired_source(const struct vector *v, u32 k, u64 l, u32 half)
{
	u32 sel = half ? v->i->op_sel_hi : v->i->op_sel, neg = half ? v->i->neg_hi : v->i->neg;
	float x = v->i->width[SRC0 + k] ? half_of(v, k, l, sel >> k & 1) : 0;

	return neg >> k & 1 ? -x : x;
}

static void multiply_pairs(struct vector *v)
{
	FOR_LANES(l, v->lanes) {
		float sum = AS(float, (u32)get_u(v, 2, l));

		sum = v->i->neg >> 2 & 1 ? -sum : sum;
		for (u32 half = 0; half < 2; half++)
			sum = fmaf(paired_source(v, 0, l, half), paired_source(v, 1, l, half), sum);
		put_f(v, l, sum);
	}
}

static float add_pair(const struct vector *v, u64 l, float sum)
{
	sum = fmaf(half_of(v, 0, l, false), half_of(v, 1, l, false), sum);
	return fmaf(half_of(v, 0, l, true), half_of(v, 1, l, true), sum);
}

static float packed_source(const struct vector *v, u32 k, u64 l, u32 half)
{
	u32 sel = half ? v->i->op_sel_hi : v->i->op_sel, neg = half ? v->i->neg_hi : v->i->neg;
	u32 x = v->i->width[SRC0 + k] ? half_of_pair(v, k, l, sel >> k & 1) : 0;

	return AS(float, neg >> k & 1 ? x ^ 0x80000000 : x);
}

enum { FLOATS, HALVES, BFLOATS, BYTES };

/* Element j that a lane has of a matrix: of one float, or of four smaller numbers. */
static float element(const struct source *s, u32 lane, u32 j, u32 kind)
{
	u32 word = (kind == BYTES || j < 2 ? s->lo : s->hi)[lane * s->step];
	u32 half = word >> j % 2 * 16 & 0xffff;

	if (kind == BYTES)
		return (float)(int8_t)(word >> j * 8);
	if (kind == HALVES)
		return (float)AS(_Float16, (u16)half);
	return AS(float, kind == BFLOATS ? half << 16 : word);
}

/*
 * D = A * B + C, 16 by 16, by 4 floats or 16 smaller numbers, for all lanes. The lane and the
 * register of an element are those of the manual's chapter "Matrix Arithmetic Instructions".
 */
static void multiply_16x16(struct vector *v, u32 kind)
{
	u32 result[4][LANES], per = kind == FLOATS ? 1 : 4, reg, l, k;
	const struct source *a = &v->source[0], *b = &v->source[1], *c = &v->source[2];

	if (v->i->imm || v->i->neg) {
		wave_refuse(v->w, "%s with a broadcast is not executed here",
			    wave_op_name(v->i->op));
		return;
	}
	for (reg = 0; reg < 4; reg++)
		for (l = 0; l < LANES; l++) {
			u32 row = l / 16 * 4 + reg, whole = c->lo[c->step ? reg * LANES + l : 0];
			float sum = AS(float, whole);

			for (k = 0; k < 4 * per; k++) {
				float x = element(a, k / per * 16 + row, k % per, kind);
				float y = element(b, k / per * 16 + l % 16, k % per, kind);

				if (kind == BYTES)
					whole += (u32)((s32)x * (s32)y);
				sum = fmaf(x, y, sum);
			}
			result[reg][l] = kind == BYTES ? whole : AS(u32, sum);
		}
	memcpy(v->w->v[v->i->n[DST] - VGPR], result, sizeof(result));
}

static void put_comparison(struct vector *v, bool to_exec)
{
	wave_put(v->w, v->i->n[DST], 2, v->bits);
	if (to_exec)
		wave_put(v->w, EXEC, 2, v->bits);
}

/* -- the opcodes ------------------------------------------------------------- */

/* clang-format off */
#define FUNCTION(name, out, in, ...) static void name(struct vector *v) { __VA_ARGS__; }
#define SOURCES(in)                                                                               \
	type_##in a = get_##in(v, 0, l), b = get_##in(v, 1, l), c = get_##in(v, 2, l);            \
	u64 carry_in = v->i->width[SRC2] == 2 ? get_u(v, 2, 0) >> l & 1 : 0;                      \
	(void)a, (void)b, (void)c, (void)carry_in
#define OLD(kind)     old_##kind(v, l)
#define LITERAL(kind) literal_##kind(v)
#define VOP(name, out, in, value) \
	FUNCTION(name, out, in, FOR_LANES(l, v->lanes) { SOURCES(in); put_##out(v, l, value); })
#define CARRY(name, value) FUNCTION(name, u, u,                                                   \
	FOR_LANES(l, v->lanes) {                                                                  \
		SOURCES(u);                                                                       \
		u64 r = value;                                                                    \
		v->bits |= (r >> 32 & 1) << l;                                                    \
		put_u(v, l, r);                                                                   \
	}                                                                                         \
	wave_put(v->w, v->i->n[DST2], 2, v->bits))
#define ACT(name, act) FUNCTION(name, u, u, act)
#define HALVES(name, get, bits, shift) FUNCTION(name, p, p,                                       \
	FOR_LANES(l, v->lanes) {                                                                  \
		u64 r = 0;                                                                        \
		for (u32 half = 0; half < 2; half++) {                                            \
			float a = get(v, 0, l, half), b = get(v, 1, l, half);                     \
			float c = get(v, 2, l, half);                                             \
			(void)c;                                                                  \
			r |= (u64)(bits) << half * (shift);                                       \
		}                                                                                 \
		put_u(v, l, r);                                                                   \
	})
#define PACKED(name, value) HALVES(name, packed_source, AS(u32, value), 32)
#define PAIRED(name, value) HALVES(name, paired_source, AS(u16, (_Float16)(value)), 16)
#define COMPARE_ONE(name, in, condition, to_exec) FUNCTION(name, u, in,                           \
	FOR_LANES(l, v->lanes) { SOURCES(in); v->bits |= (u64)!!(condition) << l; }               \
	put_comparison(v, to_exec))
#define COMPARE(what, kind, in, condition)                           \
	COMPARE_ONE(v_cmp_##what##_##kind, in, condition, false)     \
	COMPARE_ONE(v_cmpx_##what##_##kind, in, condition, true)
#define COMMON(kind, in, type)                                       \
	COMPARE(f, kind, in, false)                                  \
	COMPARE(lt, kind, in, (type)a < (type)b)                     \
	COMPARE(eq, kind, in, (type)a == (type)b)                    \
	COMPARE(le, kind, in, (type)a <= (type)b)                    \
	COMPARE(gt, kind, in, (type)a > (type)b)                     \
	COMPARE(ge, kind, in, (type)a >= (type)b)
#define INTEGERS(kind, type)                                         \
	COMMON(kind, u, type)                                        \
	COMPARE(ne, kind, u, (type)a != (type)b)                     \
	COMPARE(t, kind, u, true)
#define FLOATS(kind, in)                                             \
	COMMON(kind, in, type_##in)                                  \
	COMPARE(lg, kind, in, a < b || a > b)                        \
	COMPARE(o, kind, in, !isnan(a) && !isnan(b))                 \
	COMPARE(u, kind, in, isnan(a) || isnan(b))                   \
	COMPARE(nge, kind, in, !(a >= b))                            \
	COMPARE(nlg, kind, in, !(a < b || a > b))                    \
	COMPARE(ngt, kind, in, !(a > b))                             \
	COMPARE(nle, kind, in, !(a <= b))                            \
	COMPARE(neq, kind, in, a != b)                               \
	COMPARE(nlt, kind, in, !(a < b))                             \
	COMPARE(tru, kind, in, true)
#include "vector-ops.h"
#undef FUNCTION
#define FUNCTION(name, out, in, ...) [OP_##name] = { name, KIND_##out, KIND_##in },
static const struct row {
	void (*run)(struct vector *v);
	enum { KIND_u, KIND_f, KIND_d, KIND_h, KIND_p } out, in;
} rows[OP_COUNT] = {
#include "vector-ops.h"
};
/* clang-format on */

/* -- sources of all lanes ---------------------------------------------------- */

static void find_source(struct vector *v, u32 k)
{
	struct source *s = &v->source[k];
	u32 n = v->i->n[SRC0 + k];
	u64 x;

	s->step = n >= VGPR;
	if (n >= VGPR) {
		s->lo = v->w->v[n - VGPR];
		s->hi = v->w->v[n - VGPR + (v->i->width[SRC0 + k] == 2)];
		return;
	}
	x = wave_scalar(v->w, v->i, SRC0 + k);
	s->constant[0] = (u32)x;
	s->constant[1] = (u32)(x >> 32);
	s->lo = &s->constant[0];
	s->hi = &s->constant[1];
}

/* The lane that DPP takes a lane's source from; -1: none; -2: there is no such control. */
static int dpp_source(u32 control, int l)
{
	int row = l & 48, r = l & 15, n = (int)(control & 15);

	switch (control) {
	case 0x000 ... 0x0ff: /* quad_perm */
		return (l & 60) | (int)(control >> (l & 3) * 2 & 3);
	case 0x101 ... 0x10f: /* row_shl */
		return r + n < 16 ? l + n : -1;
	case 0x111 ... 0x11f: /* row_shr */
		return r >= n ? l - n : -1;
	case 0x121 ... 0x12f: /* row_ror */
		return row | ((r - n) & 15);
	case 0x138: /* wave_shr */
		return l - 1;
	case 0x140: /* row_mirror */
		return row | (15 - r);
	case 0x141: /* row_half_mirror */
		return (l & 56) | (7 - (l & 7));
	case 0x142: /* row_bcast:15 */
		return row - 1;
	case 0x143: /* row_bcast:31 */
		return l >= 32 ? 31 : -1;
	case 0x150 ... 0x15f: /* row_newbcast */
		return row | n;
	}
	return -2;
}

static bool apply_dpp(struct vector *v)
{
	u32 control = BITS(v->i->extra, 16, 8), rows_on = v->i->extra >> 28, l;
	u32 banks_on = v->i->extra >> 24 & 15;
	bool zero = v->i->extra >> 19 & 1;
	struct source *s = &v->source[0];

	for (l = 0; l < LANES; l++) {
		int from = dpp_source(control, (int)l);
		bool valid = from >= 0 && v->active >> from & 1;

		if (from == -2)
			return false;
		v->made[0][l] = valid ? s->lo[(u32)from * s->step] : 0;
		if (!(rows_on >> l / 16 & 1) || !(banks_on >> (l / 4 & 3) & 1) || (!valid && !zero))
			v->lanes &= ~(1ull << l);
	}
	s->lo = s->hi = v->made[0];
	s->step = 1;
	return true;
}

/* Bits 2:0 are a byte, a half or all; bit 3 extends the sign. */
static u32 select_part(u32 x, u32 sel)
{
	u32 part = sel & 7, bits = part < DST_BYTES ? 8 : 16;

	if (part >= DST_ALL)
		return x;
	x >>= part < DST_BYTES ? part * 8 : (part - DST_BYTES) * 16;
	x &= (1u << bits) - 1;
	return sel & 8 ? (u32)((s32)(x << (32 - bits)) >> (32 - bits)) : x;
}

static void apply_sdwa(struct vector *v)
{
	u32 k, l;

	for (k = 0; k < 2; k++) {
		struct source *s = &v->source[k];
		u32 sel = v->i->extra >> (16 + 8 * k) & 15;

		if (!v->i->width[SRC0 + k])
			continue;
		for (l = 0; l < LANES; l++)
			v->made[k][l] = select_part(s->lo[l * s->step], sel);
		s->lo = s->hi = v->made[k];
		s->step = 1;
	}
}

/* NULL, or the modifier that this opcode does not take here. */
static const char *wrong_modifier(const struct wave_inst *i, const struct row *row)
{
	bool half = row->in == KIND_h || row->out == KIND_h;

	if (row->in == KIND_p)
		return i->clamp ? "clamp" : NULL;
	if (i->op == OP_v_pk_mov_b32)
		return i->neg || i->neg_hi || i->clamp ? "a modifier" : NULL;
	if (i->format == VOP3P)
		return NULL; /* moves of AccVGPRs have the bits of others */
	if (row->in == KIND_u && (i->abs || i->neg))
		return "neg or abs";
	if (row->out == KIND_u && (i->clamp || i->omod))
		return "clamp or omod";
	if (i->op_sel && !half)
		return "op_sel";
	return i->bare && (i->width[SRC0] == 2 || i->width[DST] == 2) && row->out != KIND_u ?
		       "64 bits" :
		       NULL;
}

static void run(struct wave *w, const struct wave_inst *i)
{
	const struct row *row = &rows[i->op];
	struct vector v = { .w = w, .i = i, .active = wave_pair(w, EXEC) };
	const char *why = wrong_modifier(i, row);
	u32 k;

	v.lanes = v.active;
	for (k = 0; k < 3; k++)
		if (i->width[SRC0 + k])
			find_source(&v, k);
	if (i->bare == IS_SDWA)
		apply_sdwa(&v);
	if (i->bare == IS_DPP && (i->width[SRC0] == 2 || !apply_dpp(&v)))
		why = "a control of DPP";
	if (why)
		wave_refuse(w, "%s with %s is not executed here", wave_op_name(i->op), why);
	if (w->state != WAVE_REFUSED)
		row->run(&v);
}

wave_run *vector_run(u32 op)
{
	return rows[op].run ? run : NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory instructions: SMEM, DS, FLAT and GLOBAL, MUBUF. All end at once: a wait that a program
 * lacks is not noticed. An address outside of memory or of the workgroup's LDS is refused.
 */

#include "wave.h"

enum what {
	NOTHING, /* caches, which are not modelled */
	CLOCK,
	SCALAR_READ,
	SCALAR_WRITE,
	READ,
	READ_SIGNED,
	READ_LOW, /* into half of a register, the other half stays */
	READ_HIGH,
	WRITE,
	WRITE_HIGH, /* the upper half of a register */
	ATOMIC,
	PERMUTE, /* between lanes: DS without LDS */
	BPERMUTE,
};

struct access {
	bool here;
	u8 what;
	u8 bytes;    /* 1 or 2; 0: whole registers, as many as the operand has */
	u8 pair;     /* DS: two places, apart by the offsets times so many elements */
	bool buffer; /* SMEM with a buffer's resource */
	u64 (*atomic)(u64 old, u64 x, u64 compare);
};

static u32 add_floats(float a, float b)
{
	return AS(u32, a + b);
}

/* clang-format off */
#define DO(name, value) \
	static u64 do_##name(u64 old, u64 x, u64 compare) \
	{ \
		(void)old;  \
		(void)compare;  \
		return value; \
	}
DO(swap, x)
DO(cmpswap, old == compare ? x : old)
DO(add_f32, add_floats(AS(float, old), AS(float, x)))
DO(add, old + x)
DO(sub, old - x)
DO(umin, old < x ? old : x)
DO(umax, old > x ? old : x)
DO(smin, (s32)old < (s32)x ? old : x)
DO(smax, (s32)old > (s32)x ? old : x)
DO(and, old & x)
DO(or, old | x)
DO(xor, old ^ x)

#define ROW(name, what, bytes, pair, buffer, atomic) \
	[OP_##name] = { true, what, bytes, pair, buffer, atomic },
#define ONE(name, what, bytes)	  ROW(name, what, bytes, 0, false, NULL)
#define NO_ACT(name)		  ONE(name, NOTHING, 0)
#define PAIR(name, what, pair)	  ROW(name##_b32, what, 0, pair, false, NULL) \
				  ROW(name##_b64, what, 0, pair, false, NULL)
#define SCALARS_OF(n) \
	ROW(s_load_dword##n, SCALAR_READ, 0, 0, false, NULL) \
	ROW(s_buffer_load_dword##n, SCALAR_READ, 0, 0, true, NULL)
#define SCALAR_STORES_OF(n) \
	ROW(s_store_dword##n, SCALAR_WRITE, 0, 0, false, NULL) \
	ROW(s_buffer_store_dword##n, SCALAR_WRITE, 0, 0, true, NULL)
#define VECTOR(name, what, bytes) ONE(global_##name, what, bytes) ONE(buffer_##name, what, bytes)
#define VECTORS_OF(n) \
	VECTOR(load_dword##n, READ, 0) VECTOR(store_dword##n, WRITE, 0)
#define CHANGE(name, act)	  ROW(name, ATOMIC, 0, 0, false, do_##act)
#define ATOMIC_32(name) CHANGE(global_atomic_##name, name) CHANGE(buffer_atomic_##name, name)
#define ATOMIC_64(name) ATOMIC_32(name) \
	CHANGE(global_atomic_##name##_x2, name) CHANGE(buffer_atomic_##name##_x2, name)
#define DS_ATOMIC(name, type, act) \
	CHANGE(ds_##name##_##type, act) CHANGE(ds_##name##_rtn_##type, act)

static const struct access accesses[OP_COUNT] = {
	SCALARS_OF() SCALARS_OF(x2) SCALARS_OF(x4) SCALARS_OF(x8) SCALARS_OF(x16)
	SCALAR_STORES_OF() SCALAR_STORES_OF(x2) SCALAR_STORES_OF(x4)
	ONE(s_memrealtime, CLOCK, 0)
	NO_ACT(s_dcache_inv) NO_ACT(s_dcache_wb) NO_ACT(buffer_wbl2) NO_ACT(buffer_inv)
	NO_ACT(buffer_wbinvl1) NO_ACT(buffer_wbinvl1_vol) NO_ACT(buffer_invl2)
	VECTOR(load_ubyte, READ, 1)
	VECTOR(load_sbyte, READ_SIGNED, 1)
	VECTOR(load_ushort, READ, 2)
	VECTOR(load_sshort, READ_SIGNED, 2)
	VECTOR(load_short_d16, READ_LOW, 2)
	VECTOR(load_short_d16_hi, READ_HIGH, 2)
	VECTOR(load_ubyte_d16, READ_LOW, 1)
	VECTOR(load_ubyte_d16_hi, READ_HIGH, 1)
	VECTOR(store_byte, WRITE, 1)
	VECTOR(store_byte_d16_hi, WRITE_HIGH, 1)
	VECTOR(store_short, WRITE, 2)
	VECTOR(store_short_d16_hi, WRITE_HIGH, 2)
	VECTORS_OF() VECTORS_OF(x2) VECTORS_OF(x3) VECTORS_OF(x4)
	ATOMIC_64(swap) ATOMIC_64(cmpswap) ATOMIC_64(add) ATOMIC_64(sub) ATOMIC_64(umin)
	ATOMIC_64(umax) ATOMIC_64(and) ATOMIC_64(or) ATOMIC_64(xor)
	ATOMIC_32(smin) ATOMIC_32(smax) ATOMIC_32(add_f32)
	ONE(ds_read_u8, READ, 1)
	ONE(ds_read_i8, READ_SIGNED, 1)
	ONE(ds_read_u16, READ, 2)
	ONE(ds_read_i16, READ_SIGNED, 2)
	ONE(ds_read_u16_d16, READ_LOW, 2)
	ONE(ds_read_u16_d16_hi, READ_HIGH, 2)
	ONE(ds_read_b32, READ, 0) ONE(ds_read_b64, READ, 0)
	ONE(ds_read_b96, READ, 0) ONE(ds_read_b128, READ, 0)
	ONE(ds_write_b8, WRITE, 1)
	ONE(ds_write_b16, WRITE, 2)
	ONE(ds_write_b8_d16_hi, WRITE_HIGH, 1)
	ONE(ds_write_b16_d16_hi, WRITE_HIGH, 2)
	ONE(ds_read_u8_d16, READ_LOW, 1)
	ONE(ds_read_u8_d16_hi, READ_HIGH, 1)
	ONE(ds_write_b32, WRITE, 0) ONE(ds_write_b64, WRITE, 0)
	ONE(ds_write_b96, WRITE, 0) ONE(ds_write_b128, WRITE, 0)
	PAIR(ds_read2, READ, 1) PAIR(ds_read2st64, READ, 64)
	PAIR(ds_write2, WRITE, 1) PAIR(ds_write2st64, WRITE, 64)
	DS_ATOMIC(add, u32, add) DS_ATOMIC(add, u64, add) DS_ATOMIC(sub, u32, sub)
	DS_ATOMIC(min, i32, smin) DS_ATOMIC(max, i32, smax)
	DS_ATOMIC(min, u32, umin) DS_ATOMIC(max, u32, umax)
	DS_ATOMIC(and, b32, and) DS_ATOMIC(or, b32, or) DS_ATOMIC(xor, b32, xor)
	DS_ATOMIC(add, f32, add_f32) CHANGE(ds_wrxchg_rtn_b32, swap)
	ONE(ds_permute_b32, PERMUTE, 0) ONE(ds_bpermute_b32, BPERMUTE, 0)
};
/* clang-format on */

/* -- one lane ------------------------------------------------------------------ */

/* Move between memory and COUNT registers from r on, or a part of the first. */
static void move(struct wave *w, const struct access *a, u32 r, u32 count, u64 lane, u8 *at)
{
	u32(*v)[LANES] = &w->v[r], part = 0, k, bytes = a->bytes ? a->bytes : 4;

	for (k = 0; k < count && a->what == WRITE; k++)
		memcpy(at + k * 4, &v[k][lane], bytes);
	for (k = 0; k < count && a->what == READ && !a->bytes; k++)
		memcpy(&v[k][lane], at + k * 4, 4);
	if (a->what == WRITE || (a->what == READ && !a->bytes))
		return;
	if (a->what == WRITE_HIGH) {
		part = v[0][lane] >> 16;
		memcpy(at, &part, bytes);
		return;
	}
	memcpy(&part, at, bytes);
	if (a->what == READ_SIGNED)
		part = (u32)(bytes == 1 ? (s32)(int8_t)part : (s32)(int16_t)part);
	else if (a->what == READ_LOW)
		part |= v[0][lane] & 0xffff0000;
	else if (a->what == READ_HIGH)
		part = part << 16 | (v[0][lane] & 0xffff);
	v[0][lane] = part;
}

/* DATA has the operand, and for a compare-and-swap behind it what to compare with. */
static void change(struct wave *w, const struct access *a, u32 data, u32 registers, u32 dst,
		   bool returns, u64 lane, u8 *at)
{
	bool compares = a->atomic == do_cmpswap;
	u32 bytes = registers * 4 / (compares ? 2 : 1), k;
	u64 old = 0, x = 0, compare = 0, now;

	memcpy(&old, at, bytes);
	for (k = 0; k < bytes / 4; k++) {
		x |= (u64)w->v[data + k][lane] << k * 32;
		if (compares)
			compare |= (u64)w->v[data + bytes / 4 + k][lane] << k * 32;
	}
	now = a->atomic(old, x, compare);
	memcpy(at, &now, bytes);
	for (k = 0; k < bytes / 4 && returns; k++)
		w->v[dst + k][lane] = (u32)(old >> k * 32);
}

static u64 bytes_of(const struct access *a, u32 registers)
{
	return a->bytes ? a->bytes : registers * 4;
}

static u8 *lds_at(struct wave *w, u64 at, u64 bytes)
{
	if (at > w->group->lds_size || bytes > w->group->lds_size - at) {
		wave_refuse(w, "LDS at %llu of %u", (unsigned long long)at, w->group->lds_size);
		return NULL;
	}
	return w->group->lds + at;
}

/* -- scalar --------------------------------------------------------------------- */

static void scalar(struct wave *w, const struct wave_inst *i, const struct access *a)
{
	u32 base = i->n[SRC0], k, count = i->width[DST];
	u64 at = wave_pair(w, base), limit = ~0ull;
	u64 offset = (u64)(s64)i->imm + (i->width[SRC1] ? wave_scalar(w, i, SRC1) : 0);
	u32 *p;

	if (a->buffer) {
		u32 stride = w->s[base + 1] >> 16 & 0x3fff;

		at &= 0xffffffffffff;
		limit = w->s[base + 2] * (stride ? (u64)stride : 1);
	}
	if (offset >= limit && a->buffer)
		p = NULL;
	else
		p = wave_memory(w, (at + offset) & ~3ull, count * 4);
	if (w->state == WAVE_REFUSED)
		return;
	for (k = 0; k < count; k++)
		if (a->what == SCALAR_READ)
			wave_put(w, i->n[DST] + k, 1, p ? p[k] : 0);
		else if (p)
			p[k] = w->s[i->n[DST] + k];
}

/* -- DS -------------------------------------------------------------------------- */

static void permute(struct wave *w, const struct wave_inst *i, const struct access *a)
{
	u32 *address = w->v[i->n[SRC0] - VGPR], *data = w->v[i->n[SRC1] - VGPR];
	u32 result[LANES] = { 0 };
	u64 exec = wave_pair(w, EXEC);

	FOR_LANES(l, exec) {
		u32 lane = (address[l] + (u32)i->imm) >> 2 & 63;

		if (a->what == PERMUTE)
			result[lane] = data[l];
		else
			result[l] = exec >> lane & 1 ? data[lane] : 0;
	}
	FOR_LANES(l, exec)
		w->v[i->n[DST] - VGPR][l] = result[l];
}

static void ds(struct wave *w, const struct wave_inst *i, const struct access *a)
{
	bool reads = a->what >= READ && a->what <= READ_HIGH, atomic = a->what == ATOMIC;
	u32 r = i->n[reads ? DST : SRC1] - VGPR, count = i->width[reads ? DST : SRC1];
	u32 places = a->pair ? 2 : 1, k;

	if (reads && a->pair)
		count /= 2;
	FOR_LANES(l, wave_pair(w, EXEC)) {
		u32 address = w->v[i->n[SRC0] - VGPR][l];

		for (k = 0; k < places; k++) {
			u32 offset = a->pair ? ((u32)i->imm >> k * 8 & 255) * count * 4 * a->pair :
					       (u32)i->imm;
			u8 *at = lds_at(w, address + offset, bytes_of(a, count));
			u32 from = !k ? r : reads ? r + count : i->n[SRC2] - (u32)VGPR;

			if (!at)
				return;
			if (atomic)
				change(w, a, r, count, i->n[DST] - VGPR, i->width[DST], l, at);
			else
				move(w, a, from, count, l, at);
		}
	}
}

/* -- FLAT, GLOBAL ------------------------------------------------------------------ */

static void flat(struct wave *w, const struct wave_inst *i, const struct access *a)
{
	bool reads = a->what >= READ && a->what <= READ_HIGH;
	u32 r = i->n[reads ? DST : SRC1] - VGPR, count = i->width[reads ? DST : SRC1];
	u64 shared = w->group->gpu->shared_base, bytes = bytes_of(a, count);
	const u32(*address)[LANES] = &w->v[i->n[SRC0] - VGPR];

	if (a->atomic == do_cmpswap)
		bytes /= 2;
	FOR_LANES(l, wave_pair(w, EXEC)) {
		u64 at = address[0][l] + (u64)(s64)i->imm;
		u8 *p;

		if (i->width[SRC2])
			at += wave_pair(w, i->n[SRC2]);
		else
			at += (u64)address[1][l] << 32;
		if (i->flat && at >> 32 == shared >> 32)
			p = lds_at(w, at & 0xffffffff, bytes);
		else
			p = wave_memory(w, at, bytes);
		if (!p)
			return;
		if (a->what == ATOMIC)
			change(w, a, r, count, i->n[DST] - VGPR, i->returns, l, p);
		else
			move(w, a, r, count, l, p);
	}
}

/* -- MUBUF --------------------------------------------------------------------------- */

static void buffer_lane(struct wave *w, const struct wave_inst *i, const struct access *a, u64 l)
{
	const u32 *resource = &w->s[i->n[SRC1]], address = i->n[SRC0] - (u32)VGPR;
	u32 stride = resource[1] >> 16 & 0x3fff, count = i->width[DST], r = i->n[DST] - VGPR;
	u32 index = (i->idxen ? w->v[address][l] : 0) + (resource[3] >> 23 & 1 ? (u32)l : 0);
	u32 offset = i->offen ? w->v[address + i->idxen][l] : 0, k;
	u64 relative = (u64)(u32)i->imm + offset + (u64)index * stride;
	u64 base = resource[0] | (u64)(resource[1] & 0xffff) << 32;
	u64 bytes = bytes_of(a, i->lds ? 1 : count) / (a->atomic == do_cmpswap ? 2 : 1);
	u8 *p, *lds;

	if (relative >= resource[2]) { /* NUM_RECORDS: reads are 0, writes are none */
		for (k = 0; k < count && a->what >= READ && a->what <= READ_HIGH; k++)
			w->v[r + k][l] = 0;
		return;
	}
	p = wave_memory(w, base + wave_scalar(w, i, SRC2) + relative, bytes);
	if (!p)
		return;
	if (i->lds) {
		lds = lds_at(w, (w->s[M0] & 0xffff) + (u32)i->imm + l * 4, 4);
		if (lds)
			memcpy(lds, p, 4);
	} else if (a->what == ATOMIC) {
		change(w, a, r, count, r, i->returns, l, p);
	} else {
		move(w, a, r, count, l, p);
	}
}

static void run(struct wave *w, const struct wave_inst *i)
{
	const struct access *a = &accesses[i->op];

	if (a->what == NOTHING)
		return;
	if (i->lds && i->op != OP_buffer_load_dword)
		wave_refuse(w, "%s with lds is not executed here", wave_op_name(i->op));
	else if (a->what == CLOCK)
		wave_put(w, i->n[DST], 2, w->group->gpu->clock);
	else if (a->what == SCALAR_READ || a->what == SCALAR_WRITE)
		scalar(w, i, a);
	else if (a->what == PERMUTE || a->what == BPERMUTE)
		permute(w, i, a);
	else if (i->format == DS)
		ds(w, i, a);
	else if (i->format == FLAT)
		flat(w, i, a);
	else
		FOR_LANES(l, wave_pair(w, EXEC))
			if (w->state != WAVE_REFUSED)
				buffer_lane(w, i, a, l);
}

wave_run *memory_run(u32 op)
{
	return accesses[op].here ? run : NULL;
}

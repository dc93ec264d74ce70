// SPDX-License-Identifier: GPL-2.0-only
/*
 * The witness: a wave fills its registers and its LDS with a pattern of its own, looks at all of
 * them in each round, and writes at its end what it has found. Built once for each of
 * WITNESS_SIZES, by make-witness.
 */
#include "witness.h"

typedef unsigned int uint;
typedef unsigned long ulong;

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")
/*
 * An empty asm statement holds a value in its register: the compiler can neither compute it again
 * nor move it to memory between two rounds. Of a seed: what follows from it is computed again.
 */
#define HOLD(where, x) __asm__ volatile("" : "+" where(x))
/* Instructions of AccVGPRs alone: else the compiler has each value in a VGPR, too. */
#define WRITE(acc, x) __asm__ volatile("v_accvgpr_write_b32 %0, %1" : "=a"(acc) : "v"(x))
#define READ(acc)                                                                     \
	({                                                                            \
		uint x_;                                                              \
		__asm__ volatile("v_accvgpr_read_b32 %0, %1" : "=v"(x_), "+a"(acc)); \
		x_;                                                                   \
	})

struct finding {
	uint at; /* number of the place that is looked at */
	uint bad, where, differ;
};

INLINE void look(struct finding *f, uint seed, uint kind, uint nth, uint value)
{
	uint differ = value ^ seed ^ witness_key(kind, nth);

	f->where = differ ? f->at : f->where;
	f->differ = differ ? differ : f->differ;
	f->at++;
	/* One after the other: else more registers are needed than there are. */
	HOLD("s", f->at);
	HOLD("v", f->where);
	HOLD("v", f->differ);
}

/* Lane 0 puts together what the lanes of its wave have left in LDS. */
INLINE void report(volatile local uint *lds, uint lane, const struct finding *f, uint hash,
		   uint rounds, global struct witness_wave *out)
{
	struct witness_wave sum = { .rounds = rounds, .done = WITNESS_DONE };
	uint i;

	lds[lane] = hash;
	lds[64 + lane] = f->bad;
	lds[128 + lane] = f->where;
	lds[192 + lane] = f->differ;
	__builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
	if (lane)
		return;
	for (i = 0; i < WITNESS_LANES; i++) {
		sum.hash ^= lds[i];
		if (lds[64 + i] && !sum.bad) {
			sum.lane = i;
			sum.where = lds[128 + i];
			sum.differ = lds[192 + i];
		}
		sum.bad += lds[64 + i];
	}
	*out = sum;
}

/*
 * The first four arguments are those that the virtual GPU of the tests knows, which executes no
 * code: a time, and a number to add to a cell (tests/vgpu/vgpu.h).
 */
kernel __attribute__((reqd_work_group_size(64, 1, 1), amdgpu_waves_per_eu(1, WAVES))) void
witness(ulong magic, ulong duration_ns, global ulong *cell, ulong addend,
	global struct witness_wave *out, uint rounds, uint words, volatile local uint *lds)
{
	uint lane = __builtin_amdgcn_workitem_id_x(), wave = __builtin_amdgcn_workgroup_id_x();
	uint seed = witness_seed(wave * WITNESS_LANES + lane), wave_seed = witness_seed(wave);
	uint v[VGPRS], a[AGPRS + 1], s[WITNESS_SGPRS], hash = 0, round, i;
	struct finding f = { 0 };

	UNROLL for (i = 0; i < VGPRS; i++) v[i] = seed ^ witness_key(WITNESS_VGPR, i);
	UNROLL for (i = 0; i < AGPRS; i++) WRITE(a[i], seed ^ witness_key(WITNESS_AGPR, i));
	UNROLL for (i = 0; i < WITNESS_SGPRS; i++) s[i] = wave_seed ^ witness_key(WITNESS_SGPR, i);
	for (i = 0; i < words; i++)
		lds[i * WITNESS_LANES + lane] = seed ^ witness_key(WITNESS_WORD, i);
	for (round = 0; round < rounds; round++) {
		HOLD("v", seed);
		HOLD("s", wave_seed);
		f.at = 0;
		UNROLL for (i = 0; i < VGPRS; i++) HOLD("v", v[i]);
		UNROLL for (i = 0; i < WITNESS_SGPRS; i++) HOLD("s", s[i]);
		UNROLL for (i = 0; i < VGPRS; i++) look(&f, seed, WITNESS_VGPR, i, v[i]);
		UNROLL for (i = 0; i < AGPRS; i++)
			look(&f, seed, WITNESS_AGPR, i, READ(a[i]));
		UNROLL for (i = 0; i < WITNESS_SGPRS; i++)
			look(&f, wave_seed, WITNESS_SGPR, i, s[i]);
		for (i = 0; i < words; i++)
			look(&f, seed, WITNESS_WORD, i, lds[i * WITNESS_LANES + lane]);
		f.bad += f.differ != 0;
	}
	UNROLL for (i = 0; i < VGPRS; i++) hash = witness_fold(hash, v[i]);
	UNROLL for (i = 0; i < AGPRS; i++) hash = witness_fold(hash, READ(a[i]));
	UNROLL for (i = 0; i < WITNESS_SGPRS; i++) hash = witness_fold(hash, s[i]);
	for (i = 0; i < words; i++)
		hash = witness_fold(hash, lds[i * WITNESS_LANES + lane]);
	report(lds, lane, &f, hash, round, out + wave);
	if (!lane && !wave)
		*cell += addend;
}

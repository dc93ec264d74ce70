// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dispatches: workgroups that are started in order, as many at a time as the model has room for,
 * and executed in turn; saved and restored by the handler at TBA (group.c). CP's part is a model:
 * which workgroup goes to which XCC, and what the control stacks have.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"

enum {
	TURN = 32,	   /* instructions of a wave before the next one's turn */
	HANDLER = 1 << 20, /* and in the handler, at most */
	TICK_NS = 10,	   /* a tick of the clock that a program can read */
	/* Words of the state: what the dispatch is made of, and these; then each workgroup. */
	BEGUN = sizeof(struct engine_launch) / 4,
	GROUPS,
	HEADER,
};

/* A workgroup in flight. Its number of waves is 0 where there is none. */
struct running {
	struct wave_group g;
	u32 index;
};

struct dispatch {
	struct dispatch *next;
	u64 number;
	struct wave_gpu *gpu;
	struct wave_launch launch;
	struct engine_launch from;
	u32 count[3]; /* workgroups on each axis */
	u32 xccs, first[ENGINE_XCCS];
	u32 total, begun, waves, room;
	struct running *group; /* room of them, each with memory for so many waves */
	u64 seed;
};

const char *const dispatch_no_code = "there is no kernel at the packet's address";
static struct dispatch *all;

struct dispatch **dispatch_find(u64 number)
{
	struct dispatch **d;

	for (d = &all; *d && (*d)->number != number; d = &(*d)->next)
		;
	return d;
}

struct dispatch *dispatch_new(u64 number, struct wave_gpu *gpu)
{
	struct dispatch *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->number = number;
	d->gpu = gpu;
	d->seed = number;
	d->next = all;
	all = d;
	return d;
}

void dispatch_free(struct dispatch *d)
{
	struct dispatch **at = dispatch_find(d->number);
	u32 i;

	if (*at)
		*at = d->next;
	for (i = 0; d->group && i < d->room; i++)
		free(d->group[i].g.wave);
	free(d->group);
	free(d);
}

static u32 get16(const u8 *p, u32 at)
{
	return p[at] | (u32)p[at + 1] << 8;
}

static u32 get32(const u8 *p, u32 at)
{
	return get16(p, at) | get16(p, at + 2) << 16;
}

static u64 get64(const u8 *p, u32 at)
{
	return get32(p, at) | (u64)get32(p, at + 4) << 32;
}

/* Places in a dispatch packet, from the HSA specification */
enum { SETUP = 2, SIZE = 4, GRID = 12, SCRATCH = 24, LDS = 28, KERNEL = 32, KERNARG = 40 };

/* Registers of a PM4 queue are the kernel's descriptor. LDS is in units of 128 words. */
static const char *read_registers(struct dispatch *d)
{
	const u32 *rsrc = d->from.rsrc;

	if (rsrc[1] & 1)
		return "the code wants scratch memory";
	d->launch.kernel = (struct wave_kernel){
		.entry = d->from.entry,
		.lds = BITS(rsrc[1], 23, 15) * 512,
		.rsrc1 = rsrc[0],
		.rsrc2 = rsrc[1],
		.rsrc3 = rsrc[2],
	};
	d->launch.user = d->from.user;
	d->launch.users = BITS(rsrc[1], 5, 1);
	if (d->launch.users > ENGINE_USER)
		d->launch.users = ENGINE_USER;
	return d->gpu->target ? NULL : dispatch_no_code;
}

static const char *read_kernel(struct dispatch *d)
{
	const u8 *packet = d->from.packet, *descriptor;
	u64 at = get64(packet, KERNEL);

	if (d->from.entry)
		return read_registers(d);
	descriptor = gpu_memory(d->gpu, at, 64);
	if (!descriptor || !d->gpu->target)
		return dispatch_no_code;
	wave_kernel_read(descriptor, at, &d->launch.kernel);
	if (get32(packet, SCRATCH))
		return "the kernel wants scratch memory";
	d->launch.kernel.lds = get32(packet, LDS);
	d->launch.kernarg = get64(packet, KERNARG);
	return NULL;
}

static const char *read_packet(struct dispatch *d, const struct engine_request *r)
{
	const u8 *packet = r->launch.packet;
	u32 dims = packet[SETUP] & 3, i;
	u64 items = 1, total = 1;

	d->from = r->launch;
	d->launch.packet = r->launch.packet_at;
	d->launch.tba = r->tba;
	d->launch.tma = r->tma;
	d->launch.budget = HANDLER;
	d->xccs = r->xccs;
	for (i = 0; i < 3; i++) {
		u32 size = i < dims ? get16(packet, SIZE + i * 2) : 1;
		u32 grid = i < dims ? get32(packet, GRID + i * 4) : 1;

		if (!size || !grid)
			return "the packet has an empty grid";
		d->launch.size[i] = size;
		d->launch.grid[i] = grid;
		d->count[i] = (grid - 1) / size + 1;
		items *= size;
		total *= d->count[i];
		if (items > LANES * WAVES_MAX || total > UINT32_MAX)
			return "the packet's grid or workgroup is too large";
	}
	if (!d->xccs || d->xccs > ENGINE_XCCS)
		return "no XCC";
	for (i = 0; i < d->xccs; i++)
		d->first[i] = r->area[i].number % d->xccs;
	d->total = (u32)total;
	d->waves = (u32)(items + LANES - 1) / LANES;
	d->room = ENGINE_WAVES / d->waves;
	d->group = calloc(d->room, sizeof(*d->group));
	return d->group ? read_kernel(d) : "no memory";
}

/* XCC of a workgroup, as the partition counts them */
static u32 xcc_of(const struct dispatch *d, u32 index)
{
	u32 i;

	for (i = 0; i < d->xccs; i++)
		if (d->first[i] == index % d->xccs)
			return i;
	return 0;
}

static const char *start_group(struct dispatch *d, u32 slot, u32 index)
{
	const u32 at[3] = { index % d->count[0], index / d->count[0] % d->count[1],
			    index / d->count[0] / d->count[1] };
	struct running *r = &d->group[slot];

	if (!r->g.wave)
		r->g.wave = calloc(d->waves, sizeof(*r->g.wave));
	if (!r->g.wave)
		return "no memory";
	r->index = index;
	d->launch.xcc = xcc_of(d, index);
	return wave_group_start(&r->g, d->gpu, &d->launch, at, &d->seed) ?
		       "no compute unit holds a workgroup" :
		       NULL;
}

/* Start workgroups until there is no room, or none is left */
static const char *fill(struct dispatch *d)
{
	const char *why = NULL;
	u32 i;

	for (i = 0; i < d->room && d->begun < d->total && !why; i++)
		if (!d->group[i].g.waves)
			why = start_group(d, i, d->begun++);
	return why;
}

const char *dispatch_start(struct dispatch *d, const struct engine_request *r)
{
	const char *why = read_packet(d, r);

	return why ? why : fill(d);
}

static u32 live_waves(const struct wave_group *g)
{
	u32 n = 0, i;

	for (i = 0; i < g->waves; i++)
		n += wave_is_live(&g->wave[i]);
	return n;
}

bool dispatch_over(const struct dispatch *d)
{
	u32 n = 0, i;

	for (i = 0; d->group && i < d->room; i++)
		n += live_waves(&d->group[i].g);
	return d->begun == d->total && !n;
}

static const char *refused(const struct wave_group *g)
{
	const struct wave *w = wave_group_refused(g);

	return w ? w->why : NULL;
}

/* Each wave of a group in its turn, until all have ended or the budget has */
static void run_group(struct wave_group *g, struct engine_request *r)
{
	u32 i, n;

	for (i = 0; i < g->waves; i++) {
		g->gpu->clock = (r->clock_ns + r->done * r->price_ns) / TICK_NS;
		for (n = 0; n < TURN && g->wave[i].state == WAVE_RUNS && r->done < r->budget; n++) {
			wave_step(&g->wave[i]);
			r->done++;
		}
	}
}

const char *dispatch_run(struct dispatch *d, struct engine_request *r)
{
	const char *why = NULL;
	u64 before;
	u32 i;

	r->done = 0;
	while (!why && r->done < r->budget && !dispatch_over(d)) {
		before = r->done;
		for (i = 0; i < d->room && !why; i++) {
			struct wave_group *g = &d->group[i].g;

			run_group(g, r);
			why = refused(g);
			if (!live_waves(g))
				g->waves = 0;
		}
		if (!why)
			why = fill(d);
		if (!why && r->done == before)
			why = "waves wait for a barrier that no wave reaches";
	}
	return why;
}

/* Words of a control stack, as control_stack_iterate() of ROCdbgapi reads them for gfx90a */
static u32 relaunch_state(const struct dispatch *d, const struct wave_group *g)
{
	const struct wave_kernel *k = &d->launch.kernel;

	return 1u << 31 | (wave_vgprs(k) / 8 - 1) | 7 << 6 | g->lds_size / 512 << 9 |
	       (wave_arch_vgprs(k) / 4 - 1) << 24;
}

static u32 relaunch_wave(bool first, bool last)
{
	return (u32)first << 17 | (u32)last << 16;
}

/* The waves of a group, the first one first. Returns how many words. */
static u32 stack_group(const struct wave_group *g, u32 *words)
{
	u32 i, n = 0, left = 0;

	for (i = 0; i < g->waves; i++)
		left += g->wave[i].state == WAVE_SAVED;
	for (i = 0; i < g->waves; i++)
		if (g->wave[i].state == WAVE_SAVED) {
			words[n] = relaunch_wave(!n, n + 1 == left);
			n++;
		}
	return n;
}

/* Waves of all workgroups together are at most ENGINE_WAVES: */
static_assert(HEADER + 2 * ENGINE_WAVES <= ENGINE_STATE_WORDS, "room for their places");
static_assert(3 * ENGINE_XCCS + ENGINE_WAVES <= ENGINE_STACK_WORDS, "room in the stacks");

/* The stack of an XCC: what was saved last comes first, behind two words of CP's own. */
static u32 stack_xcc(const struct dispatch *d, u32 xcc, u32 *words)
{
	u32 n = 3, i;

	words[0] = 0;
	words[1] = 0;
	for (i = d->room; i--;) {
		const struct wave_group *g = &d->group[i].g;

		if (!g->waves || xcc_of(d, d->group[i].index) != xcc)
			continue;
		words[2] = relaunch_state(d, g);
		n += stack_group(g, words + n);
	}
	return n > 3 ? n : 0;
}

/* A group's waves to the area of its XCC. Their places are kept as distances from its base. */
static const char *save_group(struct dispatch *d, struct running *run, struct engine_area *a,
			      u32 *places)
{
	u32 i;

	d->launch.save = a->base + a->stack + a->used;
	d->launch.save_size = a->size - a->stack - a->used;
	d->launch.xcc = xcc_of(d, run->index);
	switch (wave_group_save(&run->g, &d->launch, &d->seed)) {
	case 0:
		break;
	case -ENOSPC:
		return "the save area is full";
	default:
		return refused(&run->g) ? refused(&run->g) : "the handler does not end";
	}
	for (i = 0; i < d->waves; i++)
		places[i] = run->g.wave[i].state == WAVE_SAVED ?
				    (u32)(wave_place(&run->g.wave[i]) - a->base) :
				    0;
	a->used += (u32)wave_group_saved(&run->g, &d->launch.kernel);
	return NULL;
}

const char *dispatch_save(struct dispatch *d, struct engine_request *r)
{
	u32 *s = r->state, i, words = 0;
	const char *why = NULL;

	if (r->xccs != d->xccs)
		return "another number of XCCs";
	memcpy(s, &d->from, sizeof(d->from));
	s[BEGUN] = d->begun;
	s[GROUPS] = 0;
	r->words = HEADER;
	for (i = 0; i < d->xccs; i++)
		r->area[i].used = 0;
	for (i = 0; i < d->room && !why; i++) {
		struct running *run = &d->group[i];

		if (!run->g.waves)
			continue;
		s[r->words] = run->index;
		why = save_group(d, run, &r->area[xcc_of(d, run->index)], s + r->words + 1);
		r->words += 1 + d->waves;
		s[GROUPS]++;
	}
	for (i = 0; i < d->xccs && !why; i++) {
		r->area[i].words = stack_xcc(d, i, r->stack + words);
		words += r->area[i].words;
	}
	return why;
}

static const char *restore_group(struct dispatch *d, u32 slot, const u32 *s,
				 const struct engine_request *r)
{
	const struct engine_area *a = &r->area[xcc_of(d, s[0])];
	const char *why = start_group(d, slot, s[0]);
	struct wave_group *g = &d->group[slot].g;
	u32 i, top = 0;

	for (i = 0; i < d->waves; i++)
		top = s[i + 1] > top ? s[i + 1] : top;
	/* The wave that saved LDS has the highest place. */
	for (i = 0; i < d->waves && !why; i++) {
		g->wave[i].state = s[i + 1] ? WAVE_SAVED : WAVE_ENDED;
		wave_set_place(&g->wave[i], a->base + s[i + 1], s[i + 1] == top);
	}
	if (!why && wave_group_restore(g, &d->launch, &d->seed))
		why = refused(g) ? refused(g) : "the handler does not end";
	return why;
}

const char *dispatch_restore(struct dispatch *d, const struct engine_request *r)
{
	struct engine_request packet = *r;
	const u32 *s = r->state;
	u32 n = HEADER, i;
	const char *why;

	if (r->words < HEADER || r->words > ENGINE_STATE_WORDS)
		return "no saved state";
	memcpy(&packet.launch, s, sizeof(packet.launch));
	why = read_packet(d, &packet);
	d->begun = s[BEGUN];
	for (i = 0; i < s[GROUPS] && !why; i++, n += 1 + d->waves) {
		if (i >= d->room || n + 1 + d->waves > r->words || s[n] >= d->total)
			return "a saved state that makes no sense";
		why = restore_group(d, i, s + n, r);
	}
	return why ? why : fill(d);
}

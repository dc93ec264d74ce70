// SPDX-License-Identifier: GPL-2.0-only
/* A GPU in memory, its preemptions, and whether a wave's state is the same before and after one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* Addresses from BASE on. A handler has two pages (KFD_CWSR_TMA_OFFSET), then its memory. */
#define BASE 0x7e0000000000ull
enum {
	CODE = 0,
	TRAP = 4 << 20,
	TMA = TRAP + 8192,
	ARGS = TRAP + (1 << 16),
	SAVE = 8 << 20,
	SAVE_SIZE = 4 << 20,
	DATA = SAVE + SAVE_SIZE,
	SIZE = DATA + BENCH_DATA,
};

/*
 * From the handler's source, cwsr_trap_handler_gfx9.asm. The bits of IB_STS that it restores
 * (SQ_WAVE_IB_STS_RCNT_FIRST_REPLAY_MASK) are those that it keeps in TTMP11 or TTMP13 above the
 * debugger's data (TTMP_SAVE_RCNT_FIRST_REPLAY_MASK). EXCEPTIONS are sticky bits of TRAPSTS:
 * arithmetic ones (EXCP below the memory violation, EXCP_HI).
 */
enum { IB_STS_KEPT = 0x1f8000, DEBUG_DATA = 0x3ffffff, EXCEPTIONS = 0x70ff };

const char *const bench_hows[BENCH_HOWS] = {
	"without preemptions",
	"going on with what was restored",
	"going back to what was saved",
};

static void *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	void *data = NULL;
	long size;

	if (!f)
		return NULL;
	size = fseek(f, 0, SEEK_END) ? 0 : ftell(f);
	rewind(f);
	data = size > 0 ? malloc((size_t)size) : NULL;
	*len = data ? fread(data, 1, (size_t)size, f) : 0;
	fclose(f);
	return data;
}

int bench_open(struct bench *b, const char *target, const char *handler)
{
	size_t len = 0;
	void *code;

	memset(b, 0, sizeof(*b));
	b->gpu = (struct wave_gpu){
		.target = wave_target(target),
		.memory = calloc(1, SIZE),
		.address = BASE,
		.size = SIZE,
		.shared_base = 0x1000000000000,
	};
	b->group.wave = calloc(WAVES_MAX, sizeof(*b->group.wave));
	b->before = calloc(WAVES_MAX, sizeof(*b->before));
	if (!b->gpu.memory || !b->group.wave || !b->before)
		return -ENOMEM;
	if (!b->gpu.target)
		return -EINVAL;
	code = read_file(handler, &len);
	if (!code || len > TMA - TRAP)
		return code ? -E2BIG : -ENOENT;
	memcpy(b->gpu.memory + TRAP, code, len);
	free(code);
	b->code = BASE + CODE;
	b->args = BASE + ARGS;
	b->data = BASE + DATA;
	b->seed = 1;
	b->launch = (struct wave_launch){
		.kernarg = b->args,
		.tba = BASE + TRAP,
		.tma = BASE + TMA,
		.save = BASE + SAVE,
		.save_size = SAVE_SIZE,
		.budget = 1 << 16,
	};
	return 0;
}

void bench_close(struct bench *b)
{
	free(b->gpu.memory);
	free(b->group.wave);
	free(b->before);
	free(b->file);
}

void *bench_memory(const struct bench *b, u64 address)
{
	return gpu_memory(&b->gpu, address, 1);
}

int bench_object(struct bench *b, const char *path)
{
	size_t len = 0;
	void *file = read_file(path, &len);
	int status = file ? wave_object_load(&b->gpu, b->code, file, len) : -ENOENT;

	b->file = file;
	b->file_len = len;
	return status;
}

/* The first part of a wave's state that is not the same; NULL: all is. */
static const char *find_difference(const struct wave *a, const struct wave *b,
				   const struct wave_kernel *k)
{
	u32 arch = wave_arch_vgprs(k), acc = wave_vgprs(k) - arch, i;
	/* clang-format off */
	const struct {
		const char *name;
		const void *a, *b;
		size_t size;
	} parts[] = {
#define PART(name, member, size) { name, &a->member, &b->member, size }
		PART("SGPRs", s, TTMP0 * 4), PART("M0", s[M0], 4), PART("EXEC", s[EXEC], 8),
		PART("PC", pc, 8), PART("SCC", scc, 1), PART("MODE", hw[HW_MODE], 4),
		PART("STATUS", hw[HW_STATUS], 4), PART("TRAPSTS", hw[HW_TRAPSTS], 4),
		PART("IB_STS", hw[HW_IB_STS], 4), PART("VGPRs", v, arch * sizeof(a->v[0])),
		PART("AccVGPRs", v[256], acc * sizeof(a->v[0])),
	};
	/* clang-format on */

	for (i = 4; i < 14; i++)
		if (i != 12 && (a->s[TTMP0 + i] ^ b->s[TTMP0 + i]) & (i < 11 ? ~0u : DEBUG_DATA))
			return "TTMPs";
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (memcmp(parts[i].a, parts[i].b, parts[i].size))
			return parts[i].name;
	return NULL;
}

/* Set what no kernel here sets. */
static void set_states(struct bench *b)
{
	u32 k;

	for (k = 0; k < b->group.waves; k++) {
		u32 any = (u32)(b->preemptions * 0x9e3779b1u) + k * 0x85ebca6bu;

		b->group.wave[k].hw[HW_TRAPSTS] = any & EXCEPTIONS;
		b->group.wave[k].hw[HW_IB_STS] = any & IB_STS_KEPT;
		if (b->xnack_error)
			b->group.wave[k].hw[HW_TRAPSTS] |= TRAPSTS_XNACK_ERROR;
	}
}

/* Overwrite all that a wave does not find again by itself. */
static void forget(struct bench *b)
{
	struct wave_group *g = &b->group;
	u32 k;

	memset(g->lds, 0xa5, sizeof(g->lds));
	for (k = 0; k < g->waves; k++) {
		struct wave *w = &g->wave[k], old = { .save = w->save };

		if (w->state != WAVE_SAVED)
			continue;
		memset(w, 0x5a, sizeof(*w));
		w->group = g;
		w->save = old.save;
		w->count = b->before[k].count;
		w->scc = k & 1;
		w->state = WAVE_SAVED;
	}
}

static void compare(struct bench *b)
{
	struct wave_group *g = &b->group;
	const char *what = NULL;
	u32 k, of = 0;

	for (k = 0; k < g->waves && !what; k++) {
		if (!wave_is_live(&b->before[k]))
			continue;
		of = k;
		what = find_difference(&b->before[k], &g->wave[k], &b->launch.kernel);
		if (!what && memcmp(b->lds_before, g->lds, g->lds_size))
			what = "LDS";
	}
	if (!what)
		return;
	b->differ++;
	if (!*b->what)
		snprintf(b->what, sizeof(b->what), "%s of wave %u, at %#llx of the code", what, of,
			 (unsigned long long)(b->before[of].pc - b->code));
}

/* Go on with the waves as they were, and not with what came back. */
static void go_back(struct bench *b)
{
	struct wave_group *g = &b->group;
	u32 k;

	for (k = 0; k < g->waves; k++) {
		if (!wave_is_live(&b->before[k]))
			continue;
		g->wave[k] = b->before[k];
		g->wave[k].save = 0;
		if (g->wave[k].state == WAVE_AT_BARRIER)
			g->wave[k].pc += 4;
	}
	memcpy(g->lds, b->lds_before, sizeof(g->lds));
}

static int preempt(struct bench *b)
{
	struct wave_group *g = &b->group;
	u32 live = 0, k;
	int status;

	for (k = 0; k < g->waves; k++)
		live += wave_is_live(&g->wave[k]);
	if (!live)
		return 0;
	set_states(b);
	b->launch.lag = b->how == BENCH_GOES_ON ? 300 : 0;
	g->entered = b->before;
	g->lds_entered = b->lds_before;
	status = wave_group_save(g, &b->launch, &b->seed);
	if (status)
		return status;
	forget(b);
	if (b->meanwhile)
		b->meanwhile(b);
	status = wave_group_restore(g, &b->launch, &b->seed);
	if (status)
		return status;
	b->preemptions++;
	compare(b);
	if (b->how == BENCH_GOES_BACK)
		go_back(b);
	return 0;
}

static int run_group(struct bench *b, const u32 at[3])
{
	struct wave_group *g = &b->group;
	int status = wave_group_start(g, &b->gpu, &b->launch, at, &b->seed);
	u64 count = 0;

	while (!status && !wave_group_refused(g) && wave_group_step(g, &b->seed)) {
		b->instructions++;
		if (b->how != BENCH_PLAIN && ++count % b->every == 0)
			status = preempt(b);
		if (count > 1u << 24)
			status = -ELOOP;
	}
	if (wave_group_refused(g))
		status = -EIO;
	for (u32 k = 0; k < g->waves && !status; k++)
		if (g->wave[k].state != WAVE_ENDED)
			status = -EDEADLK;
	return status;
}

void bench_print(const struct bench *b, const char *handler)
{
	const char *name = strrchr(handler, '/');

	printf("%s: %llu instructions, %llu preemptions, %llu states differ; ",
	       name ? name + 1 : handler, (unsigned long long)b->instructions,
	       (unsigned long long)b->preemptions, (unsigned long long)b->differ);
}

int bench_run(struct bench *b, const char *kernel, u32 lds, u32 groups, u32 size)
{
	const struct wave *refused;
	int status = wave_object_kernel(b->file, b->file_len, kernel, &b->launch.kernel);
	u32 at[3] = { 0 };

	b->what[0] = '\0';
	memcpy(b->launch.size, (u32[3]){ size, 1, 1 }, sizeof(b->launch.size));
	b->launch.kernel.lds += lds;
	b->launch.kernel.entry += b->code;
	for (; at[0] < groups && !status; at[0]++)
		status = run_group(b, at);
	refused = status ? wave_group_refused(&b->group) : NULL;
	if (status)
		snprintf(b->what, sizeof(b->what), "%s: %s", kernel,
			 refused ? refused->why : strerror(-status));
	return status;
}

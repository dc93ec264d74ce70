/* SPDX-License-Identifier: GPL-2.0-only */
/* Code objects, workgroups, and their preemption by the driver's own trap handler. */
#ifndef WAVE_GROUP_H
#define WAVE_GROUP_H

#include "wave.h"

/* A kernel descriptor, as LLVM's "User Guide for AMDGPU Backend" has it. */
struct wave_kernel {
	u64 entry;
	u32 lds, rsrc1, rsrc2, rsrc3, properties;
};

struct wave_launch {
	struct wave_kernel kernel;
	u64 kernarg, packet; /* addresses */
	const u32 *user; /* first SGPRs, so many as users; without any by the kernel's properties */
	u32 users;
	u32 size[3]; /* work-items of a workgroup */
	u32 grid[3]; /* in all; 0: whole workgroups */
	u32 xcc;
	u64 tba, tma;	     /* the trap handler, and its memory */
	u64 save, save_size; /* the area where the handler saves waves */
	u32 budget;	     /* instructions of a wave in the handler, at most */
	u32 lag;	     /* turns after which a wave enters late, on average; 0: all at once */
};

/* Copy the segments to AT. -EINVAL: no code object; -ENOMEM: no room. */
int wave_object_load(struct wave_gpu *gpu, u64 at, const void *file, size_t len);
/* The descriptor of a kernel, with the entry from the object's begin. -ENOENT: it has none. */
int wave_object_kernel(const void *file, size_t len, const char *name, struct wave_kernel *kernel);

/* A descriptor of 64 bytes that is at this address. */
void wave_kernel_read(const u8 *descriptor, u64 at, struct wave_kernel *kernel);

/* Start a workgroup. -E2BIG: no compute unit holds it. */
int wave_group_start(struct wave_group *g, struct wave_gpu *gpu, const struct wave_launch *launch,
		     const u32 at[3], u64 *seed);
bool wave_is_live(const struct wave *w);
/* One instruction of one of the waves that run, which SEED chooses. False: none runs. */
bool wave_group_step(struct wave_group *g, u64 *seed);
/* The first wave that was refused; NULL: none. */
const struct wave *wave_group_refused(const struct wave_group *g);

/*
 * Save all waves that have not ended by the handler at TBA, and start them again from what it
 * wrote. Between the two nothing of a wave counts but its place in the save area. 0, -ENOSPC: the
 * save area is too small, -EIO: a wave was refused or the handler did not come to its end.
 */
int wave_group_save(struct wave_group *g, const struct wave_launch *launch, u64 *seed);
/* Bytes of the save area that the group has taken. */
u64 wave_group_saved(const struct wave_group *g, const struct wave_kernel *kernel);
/* The address where a wave was saved. */
u64 wave_place(const struct wave *w);
/* Make a wave one that was saved there. */
void wave_set_place(struct wave *w, u64 at, bool first);
int wave_group_restore(struct wave_group *g, const struct wave_launch *launch, u64 *seed);
u32 wave_vgprs(const struct wave_kernel *kernel);
u32 wave_arch_vgprs(const struct wave_kernel *kernel);

#endif

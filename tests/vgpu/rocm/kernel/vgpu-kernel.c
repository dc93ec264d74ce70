// SPDX-License-Identifier: GPL-2.0-only
/*
 * struct vgpu_kernarg as a kernel: on a real GPU it does what the virtual one,
 * which executes no code, reads out of its arguments. One work-item.
 */
#define TICK_NS 10 /* one tick of s_memrealtime: 100 MHz */

typedef unsigned long u64;

__attribute__((amdgpu_kernel, visibility("protected"))) void
vgpu_kernel(u64 magic, u64 duration_ns, __attribute__((address_space(1))) u64 *address, u64 addend)
{
	u64 start = __builtin_amdgcn_s_memrealtime();

	(void)magic;
	while ((__builtin_amdgcn_s_memrealtime() - start) * TICK_NS < duration_ns)
		;
	if (address)
		*address += addend;
}

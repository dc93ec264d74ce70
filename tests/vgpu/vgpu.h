/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Agreement between a program and the virtual GPU.
 *
 * The virtual GPU does not execute shader code. A kernel-dispatch packet whose kernarg begins
 * with struct vgpu_kernarg tells how long it takes and what it leaves behind, so that a packet
 * lost or run twice shows. On a real GPU an ordinary kernel with this signature means the same.
 */
#ifndef VGPU_H
#define VGPU_H

#include <linux/types.h>

/* "gpreempt", little endian */
#define VGPU_KERNARG_MAGIC 0x74706d6565727067ULL

/**
 * struct vgpu_kernarg - first bytes of the kernarg segment of a dispatch
 * @magic: VGPU_KERNARG_MAGIC; anything else: the packet takes the device's
 *	packet_ns and has no effect but its completion
 * @duration_ns: GPU time that the dispatch takes, in ns
 * @address: user address of a 64-bit counter, 8-byte aligned; 0: none
 * @addend: added to the counter when the dispatch completes
 */
struct vgpu_kernarg {
	__u64 magic;
	__u64 duration_ns;
	__u64 address;
	__u64 addend;
};

/* GPU clock of signal timestamps: 100 MHz, CLOCK_MONOTONIC in units of 10 ns */
#define VGPU_CLOCK_NS 10

#endif

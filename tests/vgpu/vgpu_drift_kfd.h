/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between drivers in KFD's own structures, as vgpu_drift.h. */
#ifndef VGPU_DRIFT_KFD_H
#define VGPU_DRIFT_KFD_H

#include "kfd_priv.h"
#include "vgpu_priv.h"

/* A device has a node for each partition; before (6.5), it is one itself. */
#ifdef VGPU_HAS_KFD_NODE
#define vgpu_num_nodes(kfd)	((int)(kfd)->num_nodes)
#define vgpu_node_calls(kfd, i) (&(kfd)->nodes[i]->kfd2kgd)
#define vgpu_gpu_id(kfd)	((kfd)->nodes[0]->id)
#else
#define vgpu_num_nodes(kfd)	1
#define vgpu_node_calls(kfd, i) (&(kfd)->kfd2kgd)
#define vgpu_gpu_id(kfd)	((kfd)->id)
#endif

/* End a process's debug session, where the driver has them (6.5); under its mutex */
static inline int vgpu_end_session(struct kfd_process *p)
{
#ifdef VGPU_HAS_DEBUG_TRAP
	if (p->debug_trap_enabled)
		return vgpu_syms.kfd_dbg_trap_disable(p);
#endif
	return -EINVAL;
}

#endif

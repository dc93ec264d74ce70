// SPDX-License-Identifier: LGPL-2.1-or-later
/* The driver's functions that a suspend goes through. */
#include <linux/kfd_ioctl.h>

#include "lib/trace/trace.h"
#include "shared/macro.h"

/* How the first arguments of the ioctl are fetched; uapi, so they stay there. */
_Static_assert(offsetof(struct kfd_ioctl_dbg_trap_args, pid) == 0, "pid");
_Static_assert(offsetof(struct kfd_ioctl_dbg_trap_args, op) == 4, "op");

const struct gp_trace_function gp_trace_functions[GP_TRACE_FUNCTIONS] = {
	[GP_TRACED_IOCTL] = {
		"kfd_ioctl_set_debug_trap", GP_TRACE_PHASES,
		{ { "pid", "+0($arg3):u32" }, { "op", "+4($arg3):u32" } },
		true,
	},
	[GP_TRACED_SUSPEND] = {
		"suspend_queues", GP_TRACE_PHASES,
		{ { "stack", "$stack:x64" } }, false,
	},
	[GP_TRACED_RESUME] = {
		"resume_queues", GP_TRACE_PHASES, { { NULL, NULL } },
		false,
	},
	[GP_TRACED_COPY] = {
		"copy_context_work_handler", GP_TRACE_COPY,
		{ { "work", "$arg1:x64" } }, false,
	},
	[GP_TRACED_PACKETS] = {
		"pm_send_unmap_queue", GP_TRACE_UNMAP, { { NULL, NULL } },
		false,
	},
	{ "pm_send_query_status", GP_TRACE_UNMAP, { { NULL, NULL } },
	  false },
	{ "amdkfd_fence_wait_timeout", GP_TRACE_FENCE,
	  { { NULL, NULL } }, false },
	{ "pm_send_runlist", GP_TRACE_MAP, { { NULL, NULL } }, false },
	/* GPUs of gfx11 and later: these two wait for the hardware, too. */
	{ "remove_queue_mes", GP_TRACE_UNMAP, { { NULL, NULL } },
	  false },
	{ "add_queue_mes", GP_TRACE_MAP, { { NULL, NULL } }, false },
};

const char *const gp_trace_kinds[GP_TRACE_KINDS] = {
	[GP_TRACE_ATTACH] = "attach",
	[GP_TRACE_SUSPEND] = "suspend",
	[GP_TRACE_RESUME] = "resume",
	[GP_TRACE_DETACH] = "detach",
};

const char *const gp_trace_phases[GP_TRACE_PHASES] = {
	[GP_TRACE_LOCK] = "lock",   [GP_TRACE_UNMAP] = "unmap", [GP_TRACE_FENCE] = "fence",
	[GP_TRACE_MAP] = "map",	    [GP_TRACE_COPY] = "copy",	[GP_TRACE_OTHER] = "other",
	[GP_TRACE_TOTAL] = "total",
};

enum gp_trace_kind gp_trace_kind(uint64_t operation)
{
	switch (operation) {
	case KFD_IOC_DBG_TRAP_ENABLE:
		return GP_TRACE_ATTACH;
	case KFD_IOC_DBG_TRAP_SUSPEND_QUEUES:
		return GP_TRACE_SUSPEND;
	case KFD_IOC_DBG_TRAP_RESUME_QUEUES:
		return GP_TRACE_RESUME;
	case KFD_IOC_DBG_TRAP_DISABLE:
		return GP_TRACE_DETACH;
	default:
		return GP_TRACE_KINDS;
	}
}

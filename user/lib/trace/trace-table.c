// SPDX-License-Identifier: LGPL-2.1-or-later
/* The driver's functions that a suspend goes through. */
#include <linux/kfd_ioctl.h>

#include "lib/trace/trace.h"
#include "shared/macro.h"

/* How the first arguments of the ioctl are fetched; uapi, so they stay there. */
_Static_assert(offsetof(struct kfd_ioctl_dbg_trap_args, pid) == 0, "pid");
_Static_assert(offsetof(struct kfd_ioctl_dbg_trap_args, op) == 4, "op");

static const struct gpreempt_trace_function functions[GP_TRACE_FUNCTIONS] = {
	[GP_TRACE_IOCTL] = {
		"kfd_ioctl_set_debug_trap", GPREEMPT_TRACE_PHASES,
		{ { "pid", "+0($arg3):u32" }, { "op", "+4($arg3):u32" } },
		true,
	},
	[GP_TRACE_SUSPEND] = {
		"suspend_queues", GPREEMPT_TRACE_PHASES,
		{ { "stack", "$stack:x64" } }, false,
	},
	[GP_TRACE_RESUME] = {
		"resume_queues", GPREEMPT_TRACE_PHASES, { { NULL, NULL } },
		false,
	},
	[GP_TRACE_COPY] = {
		"copy_context_work_handler", GPREEMPT_TRACE_COPY,
		{ { "work", "$arg1:x64" } }, false,
	},
	[GP_TRACE_PACKETS] = {
		"pm_send_unmap_queue", GPREEMPT_TRACE_UNMAP, { { NULL, NULL } },
		false,
	},
	{ "pm_send_query_status", GPREEMPT_TRACE_UNMAP, { { NULL, NULL } },
	  false },
	{ "amdkfd_fence_wait_timeout", GPREEMPT_TRACE_FENCE,
	  { { NULL, NULL } }, false },
	{ "pm_send_runlist", GPREEMPT_TRACE_MAP, { { NULL, NULL } }, false },
	/* GPUs of gfx11 and later: these two wait for the hardware, too. */
	{ "remove_queue_mes", GPREEMPT_TRACE_UNMAP, { { NULL, NULL } },
	  false },
	{ "add_queue_mes", GPREEMPT_TRACE_MAP, { { NULL, NULL } }, false },
};

static const struct {
	uint32_t operation;
	const char *name;
} kinds[GPREEMPT_TRACE_KINDS] = {
	[GPREEMPT_TRACE_ATTACH] = { KFD_IOC_DBG_TRAP_ENABLE, "attach" },
	[GPREEMPT_TRACE_SUSPEND] = {
		KFD_IOC_DBG_TRAP_SUSPEND_QUEUES, "suspend",
	},
	[GPREEMPT_TRACE_RESUME] = {
		KFD_IOC_DBG_TRAP_RESUME_QUEUES, "resume",
	},
	[GPREEMPT_TRACE_DETACH] = { KFD_IOC_DBG_TRAP_DISABLE, "detach" },
};

static const char *const phases[GPREEMPT_TRACE_PHASES] = {
	[GPREEMPT_TRACE_LOCK] = "lock",	  [GPREEMPT_TRACE_UNMAP] = "unmap",
	[GPREEMPT_TRACE_FENCE] = "fence", [GPREEMPT_TRACE_MAP] = "map",
	[GPREEMPT_TRACE_COPY] = "copy",	  [GPREEMPT_TRACE_OTHER] = "other",
	[GPREEMPT_TRACE_TOTAL] = "total",
};

const struct gpreempt_trace_function *gpreempt_trace_function(size_t n)
{
	return n < ARRAY_SIZE(functions) ? functions + n : NULL;
}

const char *gpreempt_trace_kind_name(enum gpreempt_trace_kind kind)
{
	return kind < ARRAY_SIZE(kinds) ? kinds[kind].name : NULL;
}

const char *gpreempt_trace_phase_name(enum gpreempt_trace_phase phase)
{
	return phase < ARRAY_SIZE(phases) ? phases[phase] : NULL;
}

enum gpreempt_trace_kind gp_trace_kind(uint64_t operation)
{
	unsigned int kind;

	for (kind = 0; kind < ARRAY_SIZE(kinds); kind++)
		if (kinds[kind].operation == operation)
			break;
	return kind;
}

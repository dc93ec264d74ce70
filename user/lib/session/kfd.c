// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/session/kfd.h"
#include "shared/clock.h"

/* The events that we request. The driver keeps the rest for the runtime. */
#define EXCEPTIONS (KFD_EC_MASK(EC_QUEUE_NEW) | KFD_EC_MASK(EC_PROCESS_RUNTIME))

static inline int do_ioctl(const struct gp_kfd *k, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = k->g->ops->ioctl(k->g->be, k->fd, request, arg);
	} while (ret == -EINTR);
	return ret;
}

/* What is measured is the driver's time, and nothing of ours beside it. */
static inline int trap(struct gp_kfd *k, uint32_t op, struct kfd_ioctl_dbg_trap_args *args)
{
	int ret;

	args->pid = k->pid;
	args->op = op;
	/* Each of them waits for the lock that a hanging one holds. */
	if (k->g->busy)
		k->g->busy(k->g->data, true);
	k->entry_ns = shr_now_ns();
	ret = do_ioctl(k, AMDKFD_IOC_DBG_TRAP, args);
	k->return_ns = shr_now_ns();
	if (k->g->busy)
		k->g->busy(k->g->data, false);
	return ret;
}

int gp_kfd_version(const struct gp_kfd *k, unsigned int *major, unsigned int *minor)
{
	struct kfd_ioctl_get_version_args args = { 0 };
	int ret = do_ioctl(k, AMDKFD_IOC_GET_VERSION, &args);

	if (ret < 0)
		return ret;
	*major = args.major_version;
	*minor = args.minor_version;
	return 0;
}

int gp_kfd_enable(struct gp_kfd *k, int event_fd, uint32_t *runtime)
{
	struct kfd_runtime_info info = { 0 };
	struct kfd_ioctl_dbg_trap_args args = {
		.enable = {
			.exception_mask = EXCEPTIONS,
			.rinfo_ptr = (uintptr_t)&info,
			.rinfo_size = sizeof(info),
			.dbg_fd = event_fd,
		},
	};
	int ret = trap(k, KFD_IOC_DBG_TRAP_ENABLE, &args);

	if (ret < 0)
		return ret;
	*runtime = info.runtime_state;
	return 0;
}

/*
 * DISABLE drops the event's file before it notes that the trap is off, without the lock
 * of the events (kfd_dbg_trap_disable()). A process that makes a queue at that time
 * crashes the kernel: it writes to no file (kfd_dbg_ev_raise()). It writes only what is
 * subscribed to, under that lock, which the first call takes, too.
 */
int gp_kfd_disable(struct gp_kfd *k)
{
	struct kfd_ioctl_dbg_trap_args none = { 0 }, args = { 0 };

	trap(k, KFD_IOC_DBG_TRAP_SET_EXCEPTIONS_ENABLED, &none);
	return trap(k, KFD_IOC_DBG_TRAP_DISABLE, &args);
}

int gp_kfd_snapshot(struct gp_kfd *k, bool acknowledge, struct kfd_queue_snapshot_entry *entries,
		    uint32_t *count)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.queue_snapshot = {
			.exception_mask = acknowledge ?
				KFD_EC_MASK(EC_QUEUE_NEW) : 0,
			.snapshot_buf_ptr = (uintptr_t)entries,
			.num_queues = *count,
			.entry_size = sizeof(*entries),
		},
	};
	int ret = trap(k, KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT, &args);

	if (ret < 0)
		return ret;
	*count = args.queue_snapshot.num_queues;
	return 0;
}

int gp_kfd_suspend(struct gp_kfd *k, uint32_t *ids, size_t count, uint32_t grace)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.suspend_queues = {
			.queue_array_ptr = (uintptr_t)ids,
			.num_queues = count,
			.grace_period = grace,
		},
	};

	return trap(k, KFD_IOC_DBG_TRAP_SUSPEND_QUEUES, &args);
}

int gp_kfd_resume(struct gp_kfd *k, uint32_t *ids, size_t count)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.resume_queues = {
			.queue_array_ptr = (uintptr_t)ids,
			.num_queues = count,
		},
	};

	return trap(k, KFD_IOC_DBG_TRAP_RESUME_QUEUES, &args);
}

int gp_kfd_query_event(struct gp_kfd *k, uint64_t *exceptions)
{
	/* Nothing is cleared here: who deals with an event clears it. */
	struct kfd_ioctl_dbg_trap_args args = { 0 };
	int ret = trap(k, KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT, &args);

	if (ret < 0)
		return ret;
	*exceptions = args.query_debug_event.exception_mask;
	return 0;
}

int gp_kfd_answer_runtime(struct gp_kfd *k, uint32_t *runtime)
{
	struct kfd_runtime_info info = { 0 };
	struct kfd_ioctl_dbg_trap_args query = {
		.query_exception_info = {
			.info_ptr = (uintptr_t)&info,
			.info_size = sizeof(info),
			.exception_code = EC_PROCESS_RUNTIME,
			.clear_exception = 1,
		},
	};
	struct kfd_ioctl_dbg_trap_args answer = {
		.send_runtime_event = {
			.exception_mask = KFD_EC_MASK(EC_PROCESS_RUNTIME),
		},
	};
	int ret = trap(k, KFD_IOC_DBG_TRAP_QUERY_EXCEPTION_INFO, &query);

	if (ret < 0)
		return ret;
	*runtime = info.runtime_state;
	ret = trap(k, KFD_IOC_DBG_TRAP_SEND_RUNTIME_EVENT, &answer);
	return ret < 0 ? ret : 0;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* The driver of a made-up system, by the rules of the real one. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "fake-kfd/loop.h"
#include "shared/util.h"

#define NEW	KFD_EC_MASK(EC_QUEUE_NEW)
#define RUNTIME KFD_EC_MASK(EC_PROCESS_RUNTIME)
#define INVALID (1U << KFD_DBG_QUEUE_INVALID_BIT)
#define ERROR	(1U << KFD_DBG_QUEUE_ERROR_BIT)

static void raise_event(struct gp_loop *loop)
{
	ssize_t ret;

	if (!loop->debugged || loop->dbg_fd < 0)
		return;
	ret = write(loop->dbg_fd, ".", 1);
	(void)ret;
}

struct gp_loop_queue *gp_loop_queue(struct gp_loop *loop, uint32_t qid)
{
	size_t i;

	for (i = 0; i < loop->count; i++)
		if (loop->queues[i].qid == qid)
			return &loop->queues[i];
	return NULL;
}

struct gp_loop_queue *gp_loop_add_queue(struct gp_loop *loop, uint32_t qid)
{
	struct gp_loop_queue *queue = &loop->queues[loop->count++];

	*queue = (struct gp_loop_queue){
		.qid = qid,
		.gpu_id = 0xf7bc,
		.type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
		.is_new = true,
	};
	raise_event(loop);
	return queue;
}

void gp_loop_remove_queue(struct gp_loop *loop, uint32_t qid)
{
	struct gp_loop_queue *queue = gp_loop_queue(loop, qid);

	*queue = loop->queues[--loop->count];
}

static void run_all(struct gp_loop *loop)
{
	size_t i;

	for (i = 0; i < loop->count; i++)
		loop->queues[i].suspended = false;
}

void gp_loop_set_runtime(struct gp_loop *loop, uint32_t state)
{
	loop->runtime = state;
	if (state == DEBUG_RUNTIME_STATE_DISABLED)
		run_all(loop);
	if (loop->debugged)
		loop->exceptions |= RUNTIME;
	raise_event(loop);
}

void gp_loop_disable(struct gp_loop *loop)
{
	int fd = loop->dbg_fd;

	run_all(loop);
	loop->debugged = false;
	loop->dbg_fd = -1;
	/* The thread of the session may open the next one now. */
	if (fd >= 0)
		close(fd);
}

static int suspend_one(struct gp_loop *loop, uint32_t *id)
{
	struct gp_loop_queue *queue = gp_loop_queue(loop, *id);

	if (!queue) {
		*id |= INVALID;
		return 0;
	}
	if (queue->suspended)
		return 1;
	if (queue->is_new || queue->destroying) {
		*id |= INVALID;
		return 0;
	}
	queue->suspended = true;
	if (queue->broken) {
		*id |= ERROR;
		return 0;
	}
	return 1;
}

static int resume_one(struct gp_loop *loop, uint32_t *id)
{
	struct gp_loop_queue *queue = gp_loop_queue(loop, *id);

	if (!queue) {
		*id |= INVALID;
		return 0;
	}
	queue->suspended = false;
	return 1;
}

static int change(struct gp_loop *loop, uint64_t array, uint32_t count,
		  int (*one)(struct gp_loop *loop, uint32_t *id))
{
	uint32_t i, *ids = (uint32_t *)(uintptr_t)array;
	int done = 0;

	if (loop->runtime != DEBUG_RUNTIME_STATE_ENABLED)
		return -EPERM;
	/* The driver takes it for all, or crashes: never do that. */
	if (!ids || !count || count > 1024)
		return -EFAULT;
	for (i = 0; i < count; i++)
		done += one(loop, &ids[i]);
	return done;
}

static int enable(struct gp_loop *loop, struct kfd_ioctl_dbg_trap_enable_args *args)
{
	struct kfd_runtime_info info = { .runtime_state = loop->runtime };

	loop->dbg_fd = dup(args->dbg_fd);
	if (loop->dbg_fd < 0)
		return -EBADF;
	memcpy((void *)(uintptr_t)args->rinfo_ptr, &info, sizeof(info));
	loop->subscribed = args->exception_mask;
	loop->debugged = true;
	return 0;
}

static int snapshot(struct gp_loop *loop, struct kfd_ioctl_dbg_trap_queue_snapshot_args *args)
{
	struct kfd_queue_snapshot_entry *entry;
	uint32_t i;

	entry = (void *)(uintptr_t)args->snapshot_buf_ptr;
	/* The driver gives the newest first. */
	for (i = 0; i < loop->count && i < args->num_queues; i++, entry++) {
		struct gp_loop_queue *queue;

		queue = &loop->queues[loop->count - 1 - i];
		*entry = (struct kfd_queue_snapshot_entry){
			.exception_status = queue->is_new ? NEW : 0,
			.queue_id = queue->qid,
			.gpu_id = queue->gpu_id,
			.queue_type = queue->type,
		};
		if (args->exception_mask & NEW)
			queue->is_new = false;
	}
	args->num_queues = loop->count;
	return 0;
}

static int query(struct gp_loop *loop, struct kfd_ioctl_dbg_trap_query_debug_event_args *args)
{
	size_t i;

	for (i = 0; i < loop->count; i++) {
		if (loop->queues[i].is_new) {
			args->exception_mask = NEW;
			return 0;
		}
	}
	args->exception_mask = loop->exceptions;
	return loop->exceptions ? 0 : -EAGAIN;
}

static int query_info(struct gp_loop *loop,
		      struct kfd_ioctl_dbg_trap_query_exception_info_args *args)
{
	struct kfd_runtime_info info = { .runtime_state = loop->runtime };

	if (!(loop->exceptions & RUNTIME))
		return -ENODATA;
	memcpy((void *)(uintptr_t)args->info_ptr, &info, sizeof(info));
	if (args->clear_exception)
		loop->exceptions &= ~RUNTIME;
	return 0;
}

static const char *op_name(const struct kfd_ioctl_dbg_trap_args *args)
{
	switch (args->op) {
	case KFD_IOC_DBG_TRAP_ENABLE:
		return "enable";
	case KFD_IOC_DBG_TRAP_DISABLE:
		return "disable";
	case KFD_IOC_DBG_TRAP_SET_EXCEPTIONS_ENABLED:
		return "subscribe";
	case KFD_IOC_DBG_TRAP_SUSPEND_QUEUES:
		return "suspend";
	case KFD_IOC_DBG_TRAP_RESUME_QUEUES:
		return "resume";
	case KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT:
		/* The call only asks for a session if it has no room for an entry. */
		return args->queue_snapshot.exception_mask ? "snapshot" : "probe";
	case KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT:
		return "query";
	case KFD_IOC_DBG_TRAP_QUERY_EXCEPTION_INFO:
		return "info";
	case KFD_IOC_DBG_TRAP_SEND_RUNTIME_EVENT:
		return "answer";
	default:
		return "unknown";
	}
}

static int trap(struct gp_loop *loop, struct kfd_ioctl_dbg_trap_args *args)
{
	int ret = gp_loop_enter(loop, op_name(args));

	if (ret)
		return ret;
	if ((pid_t)args->pid != loop->pid || !loop->opened)
		return -ESRCH;
	if (args->op == KFD_IOC_DBG_TRAP_ENABLE)
		return loop->debugged ? -EALREADY : enable(loop, &args->enable);
	if (!loop->debugged)
		return -EINVAL;
	switch (args->op) {
	case KFD_IOC_DBG_TRAP_DISABLE:
		loop->exposed |= loop->subscribed;
		gp_loop_disable(loop);
		return 0;
	case KFD_IOC_DBG_TRAP_SET_EXCEPTIONS_ENABLED:
		loop->subscribed = args->set_exceptions_enabled.exception_mask;
		return 0;
	case KFD_IOC_DBG_TRAP_SUSPEND_QUEUES:
		loop->grace = args->suspend_queues.grace_period;
		return change(loop, args->suspend_queues.queue_array_ptr,
			      args->suspend_queues.num_queues, suspend_one);
	case KFD_IOC_DBG_TRAP_RESUME_QUEUES:
		return change(loop, args->resume_queues.queue_array_ptr,
			      args->resume_queues.num_queues, resume_one);
	case KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT:
		return snapshot(loop, &args->queue_snapshot);
	case KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT:
		return query(loop, &args->query_debug_event);
	case KFD_IOC_DBG_TRAP_QUERY_EXCEPTION_INFO:
		return query_info(loop, &args->query_exception_info);
	case KFD_IOC_DBG_TRAP_SEND_RUNTIME_EVENT:
		loop->answered++;
		return 0;
	default:
		return -EINVAL;
	}
}

/* Answer CRIU's ioctl by the process that opened the descriptor and the tracer. */
static int criu(struct gp_loop *loop, const struct kfd_ioctl_criu_args *args)
{
	bool pause = args->op == KFD_CRIU_OP_PROCESS_INFO;
	int ret = gp_loop_enter(loop, pause ? "pause" : "unpause");

	if (!loop->taken || loop->taken == loop->foreign || loop->tracer != gettid())
		return -EBADF;
	if (ret)
		return ret;
	if (pause) {
		if (!loop->paused || loop->pause_counts)
			loop->evicted++;
		loop->paused = true;
		return 0;
	}
	if (!loop->paused)
		return -EINVAL;
	loop->evicted--;
	loop->paused = false;
	return 0;
}

int gp_loop_ioctl(void *be, int fd, unsigned long request, void *arg)
{
	struct kfd_ioctl_get_version_args *version = arg;
	struct gp_loop *loop = be;
	int ret;

	(void)fd;
	if (request == AMDKFD_IOC_DBG_TRAP)
		return trap(loop, arg);
	if (request == AMDKFD_IOC_CRIU_OP)
		return criu(loop, arg);
	ret = gp_loop_enter(loop, "version");
	if (ret)
		return ret;
	version->major_version = 1;
	version->minor_version = loop->minor;
	return 0;
}

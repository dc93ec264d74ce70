/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The driver's debug-trap ioctl, one function an operation. */
#ifndef GP_SESSION_KFD_H
#define GP_SESSION_KFD_H

#include <linux/kfd_ioctl.h>

#include "lib/core/internal.h"

/* The driver refuses longer arrays of ids. */
#define GP_MAX_IDS 1024

struct gp_kfd {
	const struct gpreempt *g;
	int fd;
	pid_t pid;	   /* whose queues it is about */
	uint64_t entry_ns; /* of the last operation, since boot */
	uint64_t return_ns;
};

/*
 * All return what the driver returns or -errno; EINTR is tried again, and
 * -EAGAIN is an answer. Only the thread that traces the process gets one.
 */
int gp_kfd_version(const struct gp_kfd *k, unsigned int *major, unsigned int *minor);
int gp_kfd_enable(struct gp_kfd *k, int event_fd, uint32_t *runtime);
int gp_kfd_disable(struct gp_kfd *k);

/*
 * Up to *count entries; *count becomes the number of all queues there are.
 * With acknowledge the queues copied are not new any more for the driver.
 */
int gp_kfd_snapshot(struct gp_kfd *k, bool acknowledge, struct kfd_queue_snapshot_entry *entries,
		    uint32_t *count);

/* The ids come back with KFD_DBG_QUEUE_ bits; see gp_kfd_judge(). */
int gp_kfd_suspend(struct gp_kfd *k, uint32_t *ids, size_t count, uint32_t grace);
int gp_kfd_resume(struct gp_kfd *k, uint32_t *ids, size_t count);

/* Take the bits off an id that came back, and say what they mean. */
static inline enum gpreempt_result gp_kfd_judge(uint32_t *id)
{
	const uint32_t error = KFD_DBG_QUEUE_ERROR_MASK;
	const uint32_t invalid = 1U << KFD_DBG_QUEUE_INVALID_BIT;
	uint32_t bits = *id;

	if (!(bits & (error | invalid)))
		return GPREEMPT_RESULT_DONE;
	*id = bits & ~(error | invalid);
	return bits & error ? GPREEMPT_RESULT_FAILED : GPREEMPT_RESULT_REFUSED;
}

/* Exceptions that are pending; -EAGAIN when there are none. */
int gp_kfd_query_event(struct gp_kfd *k, uint64_t *exceptions);

/*
 * The process waits in the driver after it has enabled or disabled its
 * runtime: read the new state, and let it go on.
 */
int gp_kfd_answer_runtime(struct gp_kfd *k, uint32_t *runtime);

#endif

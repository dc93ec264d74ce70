/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pause a process, without a debug session.
 *
 * The driver has a pause for checkpoints (CRIU): AMDKFD_IOC_CRIU_OP with KFD_CRIU_OP_PROCESS_INFO
 * evicts all queues of a process from all of its GPUs, and KFD_CRIU_OP_UNPAUSE restores them
 * (criu_process_info() and criu_unpause() in amdkfd/kfd_chardev.c, interface 1.7, Linux 5.18). The
 * process needs no KFD runtime and no ROCm, nothing stays attached to it, and other debuggers can
 * attach while it is paused.
 *
 * A pause has the contract of SIGSTOP: it stays until the unpause, whatever becomes of the program
 * that asked for it; only the end of the process ends it besides. So it is no public function: the
 * owner of a pause notes it in the journal first, and has a guardian (hold/pause-owner.h).
 *
 * The ioctl acts on the process that opened the descriptor. A helper process takes a copy of
 * /dev/kfd out of the process (pidfd_getfd()), traces the first thread of the process for the time
 * of the ioctl (PTRACE_SEIZE, which does not stop it), and ends. The caller gets no signal, and no
 * child that its wait() could see. The process can make the helper wait: after a second, or 19 s in
 * the ioctl, the caller gives up the helper (GPREEMPT_STUCK), which undoes later what it does.
 *
 * Capabilities: CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN for the ioctl (kfd_ioctl()), CAP_SYS_PTRACE
 * to trace, and CAP_DAC_READ_SEARCH for the descriptors of another user's process; the first two of
 * the first user namespace.
 */
#ifndef LIB_PREEMPT_PAUSE_H
#define LIB_PREEMPT_PAUSE_H

#include <gpreempt/session.h>

#include "lib/core/internal.h"

enum gp_paused {
	GP_PAUSED_NO,
	GP_PAUSED_YES,
	GP_PAUSED_UNKNOWN,
};

/* Times are in ns, and 0 where the call did not come so far. */
struct gp_pause_report {
	enum gp_paused before; /* state before, by the driver's answer */
	enum gp_paused after;  /* state after; unknown after an error: look, do not repeat */
	/* /dev/kfd that the process itself opened, on which the call was made */
	uint32_t contexts;
	/* descriptors that another process opened: the driver refuses them */
	uint32_t foreign;
	uint64_t ioctl_ns;  /* time in the ioctls, summed up */
	uint64_t entry_ns;  /* when the first ioctl was entered, monotonic */
	uint64_t return_ns; /* when the last ioctl returned */
};

/* A helper process that waits for the next pause of its target. */
struct gp_pause_ready {
	struct gp_pause_help *help; /* NULL: there is none */
	int process;		    /* descriptor of the target, which stays the caller's */
};

/*
 * Sets ready->help, if it is not set. Without memory there is none, and the pause starts
 * its helper.
 */
void gp_pause_ready(struct gpreempt *g, struct gp_pause_ready *ready);
void gp_pause_not_ready(struct gp_pause_ready *ready);

/*
 * Take all queues of the process off all of its GPUs, also those that it makes while it is
 * paused. @start_time: of gpreempt_start_time(), or 0. @ready: NULL, or a helper that waits
 * may be there. @report and @err may be NULL.
 *
 * When the process was paused already (@before), it is paused once afterwards, also by
 * drivers that count: the unpause comes first, which they refuse for a process that is
 * not paused, and its queues run for that moment.
 *
 * 0, or -errno with a reason beside those of the process:
 *	-EBUSY, GPREEMPT_TRACED: a debugger traces it; nothing was done
 *	-ETIMEDOUT or -EBUSY, GPREEMPT_STUCK: see above
 *	-EPERM, GPREEMPT_TRACE_DENIED: no CAP_SYS_PTRACE
 *	-EACCES, GPREEMPT_PAUSE_DENIED: no CAP_CHECKPOINT_RESTORE
 *	-ENOTTY, GPREEMPT_NO_PAUSE: the driver does not have the operation
 *	-ENXIO, GPREEMPT_KFD_CLOSED: the process has closed /dev/kfd
 *	-EOPNOTSUPP, GPREEMPT_NO_ADDRESS_SPACE or GPREEMPT_PAUSE_UNSAFE: see pause.c.
 *	With @contexts 1 the descriptor was of what the process was before exec()
 *	-E2BIG: it has more KFD contexts than GP_PAUSE_CONTEXTS
 *	GPREEMPT_PAUSE_FAILED: the driver's error. Look at the view then: queues that
 *	are evicted while the process is not paused stay off the GPU until it ends
 */
int gp_pause(struct gpreempt *g, pid_t pid, uint64_t start_time, struct gp_pause_ready *ready,
	     struct gp_pause_report *report, struct gpreempt_error *err);
/* Unpause the process; one that is not paused is no error. The driver's own evictions stay. */
int gp_unpause(struct gpreempt *g, pid_t pid, uint64_t start_time, struct gp_pause_report *report,
	       struct gpreempt_error *err);
/* Could it be paused? Does not touch the process. 0, or as gp_pause(). */
int gp_pause_check(struct gpreempt *g, pid_t pid, struct gpreempt_error *err);
/*
 * Does this driver count pauses? Up to 6.1 and in amdgpu-dkms a second pause by another
 * program, such as CRIU, adds an eviction, and one unpause does not undo both: then the
 * process is off the GPU until it ends. 1 or 0, asked of a process that is made for this;
 * -errno: not known, as without gpreempt.ko, or for a reason in pause.c.
 */
int gp_pause_counts(struct gpreempt *g);
/* Fill in err->name for GPREEMPT_PAUSE_OFF: what keeps the process off the GPU. */
void gp_pause_name_left(struct gpreempt *g, pid_t pid, struct gpreempt_error *err);
/*
 * GPREEMPT_VERIFIED when every queue is evicted, and off the hardware as
 * gpreempt_session_verify() has it; GPREEMPT_CONTRADICTED when one is not;
 * GPREEMPT_NOT_CHECKED without gpreempt.ko.
 * @queues: NULL, or gets their number where that can be read. @by: or NULL.
 */
enum gpreempt_verdict gp_pause_verify(struct gpreempt *g, pid_t pid, size_t *queues,
				      enum gpreempt_verified_by *by);

#endif

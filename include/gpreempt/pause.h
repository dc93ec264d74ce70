/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of libgpreempt: pause a process, without a debug session. Included by
 * gpreempt.h.
 *
 * The driver has a pause for checkpoints (CRIU): AMDKFD_IOC_CRIU_OP with
 * KFD_CRIU_OP_PROCESS_INFO evicts all queues of a process from all of its GPUs,
 * and KFD_CRIU_OP_UNPAUSE restores them (criu_process_info() and
 * criu_unpause() in amdkfd/kfd_chardev.c, interface 1.7, Linux 5.18). The
 * process needs no KFD runtime and no ROCm, nothing stays attached to it, and
 * other debuggers can attach while it is paused.
 *
 * A pause has the contract of SIGSTOP: it stays until gpreempt_unpause(),
 * whatever becomes of the program that asked for it. Only the end of the
 * process ends it besides. So a caller
 *
 *	1. notes the process (number and start time) where it survives the
 *	   caller, before gpreempt_pause();
 *	2. pauses no process that it has paused already, and does not unpause
 *	   one that another program paused (@before of the report);
 *	3. removes the note after gpreempt_unpause(), and repairs what is noted
 *	   and has no owner when it starts.
 *
 * The ioctl acts on the process that opened the descriptor. A helper process takes a
 * copy of /dev/kfd out of the process (pidfd_getfd()), traces the first thread of the
 * process for the time of the ioctl (PTRACE_SEIZE, which does not stop it), and ends. A
 * signal that comes to the process in that moment is delivered when the helper has
 * ended. The caller gets no signal, and no child that its wait() could see; while it
 * waits for the helper, its signals are blocked.
 *
 * The process can make the helper wait: by executing a file that does not answer, by
 * such a file among its descriptors, or with a lock of the driver. After a second, or
 * 19 s in the ioctl, the caller gives up the helper (GPREEMPT_STUCK) and goes on; the
 * helper undoes what it does later.
 *
 * Capabilities: CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN for the ioctl
 * (kfd_ioctl()), CAP_SYS_PTRACE to trace, and CAP_DAC_READ_SEARCH for the
 * descriptors of another user's process; the first two of the first user
 * namespace.
 */
#ifndef GPREEMPT_PAUSE_H
#define GPREEMPT_PAUSE_H

#include <gpreempt/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** enum gpreempt_paused - is a process paused? */
enum gpreempt_paused {
	GPREEMPT_PAUSED_NO,
	GPREEMPT_PAUSED_YES,
	GPREEMPT_PAUSED_UNKNOWN,
};

/**
 * struct gpreempt_pause_report - what one pause or unpause did
 * @before: was it paused before? As the driver answered
 * @after: is it paused now? GPREEMPT_PAUSED_UNKNOWN after an error: look
 *	(gpreempt_view_read()), and do not try again before
 * @contexts: own /dev/kfd descriptors of the process on which it was done
 * @foreign: descriptors that another process opened, for instance its parent:
 *	the driver refuses them (EBADF), and they are skipped
 * @find_ns: from the call to when the descriptors were known
 * @attach_ns: from there to the first ioctl: the helper, pidfd_getfd(),
 *	PTRACE_SEIZE
 * @ioctl_ns: of the ioctls that did it, from entry to return, summed up
 * @entry_ns: when the first of those was entered, of the monotonic clock
 * @return_ns: when the last one returned; @return_ns less the time of the call
 *	is the time from nothing attached to off the GPU
 * @detach_ns: from there until the process was no longer traced
 * @reserved: 0; a later release may use it
 *
 * Times are 0 where the call did not come so far.
 */
struct gpreempt_pause_report {
	enum gpreempt_paused before;
	enum gpreempt_paused after;
	uint32_t contexts;
	uint32_t foreign;
	uint64_t find_ns;
	uint64_t attach_ns;
	uint64_t ioctl_ns;
	uint64_t entry_ns;
	uint64_t return_ns;
	uint64_t detach_ns;
	uint64_t reserved[8];
};

/**
 * gpreempt_pause() - take all queues of a process off all of its GPUs
 * @g: library
 * @pid: process, by the number of the host
 * @start_time: of gpreempt_start_time(), or 0 for whichever process has the
 *	number
 * @report: or NULL; also filled in after an error
 * @err: or NULL; gets the reason
 *
 * When the process was paused already (@before), it is paused once afterwards,
 * also by drivers that count: the library unpauses first, which they refuse for
 * a process that is not paused, and its queues run for that moment.
 *
 * Queues that the process makes while it is paused do not run either.
 *
 * Any thread.
 *
 * Return: 0, or a negative errno value, with these reasons beside those of the
 * process (GPREEMPT_NO_PROCESS, GPREEMPT_ENDED ...):
 *	-EBUSY, GPREEMPT_TRACED: a debugger traces it; nothing was done
 *	-ETIMEDOUT or -EBUSY, GPREEMPT_STUCK: see above. With @after
 *	GPREEMPT_PAUSED_UNKNOWN keep the note, and look later
 *	-EPERM, GPREEMPT_TRACE_DENIED: no CAP_SYS_PTRACE
 *	-EACCES, GPREEMPT_PAUSE_DENIED: no CAP_CHECKPOINT_RESTORE
 *	-ENOTTY, GPREEMPT_NO_PAUSE: the driver does not have the operation
 *	-ENXIO, GPREEMPT_KFD_CLOSED: the process has closed /dev/kfd
 *	-EOPNOTSUPP, GPREEMPT_NO_ADDRESS_SPACE or GPREEMPT_PAUSE_UNSAFE: with a
 *	driver before the debug trap, or without the hardware scheduler, which
 *	crashes when a process is unpaused that has no address space on one of
 *	its GPUs (restore_process_queues_cpsch() and _nocpsch() in amdkfd's
 *	kfd_device_queue_manager.c). There gpreempt.ko must show that it has
 *	all. With @contexts 1 in the report, the descriptor was of what the
 *	process was before exec(): do not try that process again
 *	-E2BIG: it has more KFD contexts than the library pauses (4)
 *	GPREEMPT_PAUSE_FAILED: the driver's error. Look at the view then: queues
 *	that are evicted while the process is not paused stay off the GPU until
 *	the process ends
 */
int gpreempt_pause(struct gpreempt *g, pid_t pid, uint64_t start_time,
		   struct gpreempt_pause_report *report,
		   struct gpreempt_error *err);

/**
 * gpreempt_unpause() - let the queues of a paused process run
 * @g: library
 * @pid: process, by the number of the host
 * @start_time: of gpreempt_start_time(), or 0 for whichever process has the
 *	number
 * @report: or NULL; also filled in after an error
 * @err: or NULL; gets the reason
 *
 * A process that is not paused is no error: @before is GPREEMPT_PAUSED_NO then.
 * Evictions by the driver itself are not undone.
 *
 * Any thread.
 *
 * Return: as gpreempt_pause(). -ESRCH with GPREEMPT_ENDED or
 * GPREEMPT_NO_PROCESS: nothing is left to do.
 */
int gpreempt_unpause(struct gpreempt *g, pid_t pid, uint64_t start_time,
		     struct gpreempt_pause_report *report,
		     struct gpreempt_error *err);

/**
 * gpreempt_pause_check() - could this process be paused?
 * @g: library
 * @pid: process
 * @err: or NULL; gets the reason
 *
 * Checks what can be checked without touching the process: it has a /dev/kfd
 * open, and no tracer. Any thread.
 *
 * Return: 0, or as gpreempt_pause().
 */
int gpreempt_pause_check(struct gpreempt *g, pid_t pid,
			 struct gpreempt_error *err);

/**
 * gpreempt_pause_verify() - ask the hardware about a process that is paused
 * @g: library
 * @pid: process, by the number of the host
 * @queues: or NULL; gets the number of its queues, and is left alone where that
 *	cannot be read
 *
 * The pause speaks for queues that are not seen, too. Any thread.
 *
 * Return: GPREEMPT_VERIFIED when every queue is evicted, and every slot of theirs
 * inactive; GPREEMPT_CONTRADICTED when one is not; GPREEMPT_NOT_CHECKED without
 * gpreempt.ko, or where it could not look.
 */
enum gpreempt_verdict gpreempt_pause_verify(struct gpreempt *g, pid_t pid,
					    size_t *queues);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libgpreempt: see the GPU queues of a process, and take them off the GPU for
 * a while, through the debug interface of the amdgpu driver.
 *
 *	core.h		errors, the library's handle, targets, figures
 *	observe.h	processes, queues, slots and GPUs, as gpreempt.ko shows them
 *	select.h	from words to processes
 *	session.h	suspending and resuming the queues of one process
 *	gang.h		the same of several processes at once
 *	hold.h		a hold that a separate process keeps, so that a program
 *			that hangs does not hold its target for ever
 *	online.h	a server's requests to "gpreempt-ctl guard"
 *
 * Functions that can fail return 0 (or a count) or a negative errno value, and leave output
 * arguments unchanged when they fail, unless stated otherwise. The library prints nothing,
 * never exits, installs no signal handler and has no state but what its handles hold.
 *
 * Threads: each function, or the head of its header, names one of these:
 *
 *	any thread	also at the same time as another thread, even with the
 *			same handle
 *	one thread	any thread, but not two at a time with the same handle
 *	its thread	only the thread that opened the session: the driver
 *			answers only the thread that traces the process
 *			(kfd_ioctl_set_debug_trap() in amdkfd/kfd_chardev.c)
 *
 * Times are in nanoseconds, of the monotonic clock.
 *
 * Compiled programs work with later libraries of the same soname:
 *
 *	handles		(struct gpreempt, gpreempt_session ...) are opaque
 *	options		(gpreempt_options and all that end so) begin with their
 *			size. Members that the program does not know are 0;
 *			members that the library does not know are refused
 *			with -E2BIG unless they are 0
 *	lists		(gpreempt_view, gpreempt_targets ...) are made and freed
 *			by the library: they grow at their end
 *	the others	lie in the program's memory, or one behind the other in
 *			a list: their size never changes. A new member takes
 *			its place from "reserved" at the end; an older library
 *			sets it to 0. A structure without "reserved" is final
 *	enums		grow at their end; names ending in _COUNT or in a plural
 *			(GPREEMPT_POLICY_REASONS) are of the header only
 *	functions	never change; a different one has a new name
 *
 * "make check-library-abi" compares the library with that of the last tag.
 */
#ifndef GPREEMPT_GPREEMPT_H
#define GPREEMPT_GPREEMPT_H

#include <gpreempt/core.h>
#include <gpreempt/gang.h>
#include <gpreempt/hold.h>
#include <gpreempt/observe.h>
#include <gpreempt/select.h>
#include <gpreempt/session.h>

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The text formats of /sys/kernel/debug/gpreempt/.
 *
 * gpreempt.ko prints them, libgpreempt reads them; both take names, versions
 * and columns from this file. It is plain C and includes nothing.
 *
 * Every file begins with two lines. The first has the name of the format and
 * its version, the second has "#" and the names of the columns:
 *
 *	gpreempt-gpus - version: 2.0
 *	# gpu_id vm    context
 *	0xf7bc   1     -
 *	0x1a2b   0     -
 *
 * After them there is one record a line. Cells are separated by blanks, which align
 * them, and hold none. "-" means that the value is not known. Readers find a column
 * by its name and skip names they do not know. A new column or a new word
 * raises the second number of the version, anything that could break a reader
 * raises the first. Version 1 had one blank between two cells, and another order.
 *
 * A column list is a macro that calls X(name, kind) for each column in the
 * order of the line. The kinds:
 *
 *	DEC	a decimal number, not negative
 *	BIG	the same, of many digits
 *	HEX	a number in hexadecimal, with 0x
 *	ADDR	the same, of many digits
 *	FLAG	0 or 1
 *	WORD	a word, most of them out of a list in this file
 *	SET	one or more words out of a list in this file, joined by ","
 *	CODES	the same out of GP_VIEW_EXCEPTIONS, or "none"
 *
 * Errors of reading the files of a process: ESTALE when it is gone (also when
 * its number belongs to another process by then), EUCLEAN when the driver's
 * data contradicts itself (the kernel log names the field), and for queues and hqds
 * EBUSY when the driver holds the process's lock and no queue was seen before, and
 * E2BIG when the process has more than 64 contexts.
 */

/* clang-format off */
#ifndef GPREEMPT_VIEW_H
#define GPREEMPT_VIEW_H

/* Directory below the mount point of debugfs, and the files in it. */
#define GP_VIEW_DIR		"gpreempt"
#define GP_VIEW_PID_DIR		"pid"
#define GP_VIEW_VERSION_FILE	"version"
#define GP_VIEW_QUEUES_FILE	"queues"
#define GP_VIEW_GPUS_FILE	"gpus"
#define GP_VIEW_HQDS_FILE	"hqds"
#define GP_VIEW_USAGE_FILE	"usage"
#define GP_VIEW_PROCESSES_FILE	"processes"
#define GP_VIEW_NODES_FILE	"nodes"
#define GP_VIEW_STATS_FILE	"stats"

/* The first line of a file, from two string literals. */
#define GP_VIEW_HEAD(name, version)	name " - version: " version "\n"

/* The second line: "#" GP_VIEW_<FILE>_COLUMNS(GP_VIEW_COLUMN_NAME) "\n". */
#define GP_VIEW_COLUMN_NAME(name, kind)	" " #name

/* Text for a value that is not known. */
#define GP_VIEW_UNKNOWN		"-"

/* The kinds, for tables that are made from a column list. */
enum gp_view_kind {
	GP_VIEW_DEC,
	GP_VIEW_BIG,
	GP_VIEW_HEX,
	GP_VIEW_ADDR,
	GP_VIEW_FLAG,
	GP_VIEW_WORD,
	GP_VIEW_SET,
	GP_VIEW_CODES,
};

/*
 * States of a node's hardware: read, or the reason why not. X(NAME, word).
 *
 *	read		it was
 *	removed		the device is being removed
 *	asleep		the device is suspended (runtime PM)
 *	reset		the device is in reset
 *	stopped		the driver has stopped its scheduler
 *	gfxoff		the part may switch its graphics core off (GFXOFF)
 *	sriov		a virtual function: the registers are the host's
 *	unsupported	the driver has no way to read this kind of slot
 *	failed		the driver tried and failed
 *	lost		the device does not answer, or the driver does not access
 *			it any more
 *	unused		the device is awake and no process uses it: a read would keep
 *			it from falling asleep ("idle" in version 1)
 */
#define GP_VIEW_HARDWARE(X)						\
	X(READ,		"read")						\
	X(REMOVED,	"removed")					\
	X(ASLEEP,	"asleep")					\
	X(RESET,	"reset")					\
	X(STOPPED,	"stopped")					\
	X(GFXOFF,	"gfxoff")					\
	X(SRIOV,	"sriov")					\
	X(UNSUPPORTED,	"unsupported")					\
	X(FAILED,	"failed")					\
	X(LOST,		"lost")						\
	X(UNUSED,	"unused")

#define GP_VIEW_HARDWARE_ENUM(name, word)	GP_VIEW_HARDWARE_##name,

enum gp_view_hardware {
	GP_VIEW_HARDWARE(GP_VIEW_HARDWARE_ENUM)
	GP_VIEW_HARDWARE_COUNT,
};

/*
 * version: one fact a line.
 *
 *	key	out of GP_VIEW_VERSION_KEYS, or the name of a feature out of
 *		GP_VIEW_FEATURES behind "feature_"
 *	value	a word; of a feature "on", or "off:" and the name that the
 *		driver lacks
 */
#define GP_VIEW_VERSION_NAME	"gpreempt-version"
#define GP_VIEW_VERSION_VERSION	"1.3"
#define GP_VIEW_VERSION_COLUMNS(X)					\
	X(key,		WORD)						\
	X(value,	WORD)

/*
 *	module		version of gpreempt.ko
 *	queues		version of the text of pid/<n>/queues
 *	gpus		version of the text of pid/<n>/gpus
 *	hqds		version of the text of pid/<n>/hqds
 *	processes	version of the text of processes
 *	nodes		version of the text of nodes
 *	stats		version of the text of stats
 *	kernel		release of the running kernel
 *	amdgpu		srcversion of the amdgpu module that is observed
 *	layout		where the driver's structures were found: btf, or headers
 *	events		how new and ended processes are noticed: probes, or rescan
 *	usage		version of the text of pid/<n>/usage
 */
#define GP_VIEW_VERSION_KEYS(X)						\
	X(module) X(queues) X(gpus) X(hqds) X(processes)		\
	X(nodes) X(stats) X(kernel) X(amdgpu) X(layout)			\
	X(events) X(usage)

/*
 * Features of the module; each is off when the driver lacks a name that it needs.
 *
 *	sdma		slots of SDMA queues
 *	occupied	a cheap look whether a slot holds a ring
 *	debug		suspended, exception and debugged
 *	contexts	the context of a queue, from Linux 7.0 on
 *	nodes		the file nodes
 *	hiq		whether the driver's own queue is in its slot
 *	resets		whether the driver has reset a queue, from Linux 7.2 on
 *	pause		whether a process is paused, as for a checkpoint
 *	answers		a cheap look whether a device answers
 *	waves		how many waves of a queue are in flight, from Linux 6.12 on
 *	evictions	how long a process was evicted from a node
 */
#define GP_VIEW_FEATURES(X)						\
	X(sdma)								\
	X(occupied)							\
	X(debug)							\
	X(contexts)							\
	X(nodes)							\
	X(hiq)								\
	X(resets)							\
	X(pause)							\
	X(answers)							\
	X(waves)							\
	X(evictions)

/*
 * pid/<n>/queues: one queue a line, in the order of the queue ids. What a person asks
 * for comes first, within 80 columns.
 *
 *	qid		queue id, unique within the process and its context
 *	gpu_id		KFD's id of the node that the queue is on
 *	type		out of GP_VIEW_QUEUE_TYPES
 *	state		out of GP_VIEW_QUEUE_STATES
 *	active		hardware slots that hold the queue now. The hardware
 *			can give work to a queue in a slot; it need not
 *			execute anything. "-": not read, for the reason in
 *			the column hardware
 *	slots		hardware slots the queue has when it is mapped: one in
 *			each XCC of its node, or one of an SDMA engine
 *	waves		waves of the queue in flight, in all XCCs: more than 0
 *			means that it executes. A queue of compute only. Not to be
 *			added up: queues are read one after the other. "-": the
 *			driver has no way to count them, the hardware was not
 *			read, or the queue left its slot meanwhile
 *	hardware	out of GP_VIEW_HARDWARE: whether active was read, or
 *			why not
 *	age_ms		age of all columns but active and waves, which are always
 *			read now. More than 0 when the driver held the
 *			process's lock: the list last seen is shown then
 *	priority	as the process set it, 0 to 15
 *	suspended	1: the debug interface holds the queue
 *	evicted		1: the driver has taken the queue off for a while
 *	wants		share of the hardware that the process asks for, no
 *			utilisation: 0 takes the queue off ("percent" in version 1)
 *	doorbell	index of its doorbell, in dwords, in the device's BAR
 *	engine, rlc	the slot of an SDMA queue; engines count within the
 *			node
 *	rptr, wptr	as the registers of its slot have them, for a compute
 *			queue those of the first XCC that holds it; not those
 *			in memory. "-" when no slot holds it
 *	unit		of rptr and wptr, out of GP_VIEW_UNITS. rptr of a compute
 *			queue starts again at the end of the ring, wptr does
 *			not. Equal ones do not mean that the queue is idle
 *	ring		user address of the ring
 *	ring_size	in bytes
 *	rptr_addr, wptr_addr	user addresses of the indices in memory
 *	mqd		GPU address of the MQD, that of the first XCC
 *	cwsr, cwsr_size	user address and bytes of the context save area
 *	exception	exceptions that wait to be asked for, out of
 *			GP_VIEW_EXCEPTIONS (in version 1 a number, a bit each)
 *	context		of a process that has several; "-" for the first.
 *			Queue ids are unique within a context only, and the
 *			debug interface knows the queues of the first alone: it
 *			can't suspend those whose context is a number
 */
#define GP_VIEW_QUEUES_NAME	"gpreempt-queues"
#define GP_VIEW_QUEUES_VERSION	"2.0"
#define GP_VIEW_QUEUES_COLUMNS(X)					\
	X(qid,		DEC)						\
	X(gpu_id,	HEX)						\
	X(type,		WORD)						\
	X(state,	SET)						\
	X(active,	DEC)						\
	X(slots,	DEC)						\
	X(waves,	DEC)						\
	X(hardware,	WORD)						\
	X(age_ms,	DEC)						\
	X(priority,	DEC)						\
	X(suspended,	FLAG)						\
	X(evicted,	FLAG)						\
	X(wants,	DEC)						\
	X(doorbell,	HEX)						\
	X(engine,	DEC)						\
	X(rlc,		DEC)						\
	X(rptr,		BIG)						\
	X(wptr,		BIG)						\
	X(unit,		WORD)						\
	X(ring,		ADDR)						\
	X(ring_size,	BIG)						\
	X(rptr_addr,	ADDR)						\
	X(wptr_addr,	ADDR)						\
	X(mqd,		ADDR)						\
	X(cwsr,		ADDR)						\
	X(cwsr_size,	BIG)						\
	X(exception,	CODES)						\
	X(context,	DEC)

/*
 * X(NAME, code, word): the exceptions of a queue, as enum kfd_dbg_trap_exception_code
 * of linux/kfd_ioctl.h has them without its EC_QUEUE_. One that is not here is "ec-" and
 * its code. EC_QUEUE_NEW is none: each queue has it that no debugger has seen.
 */
#define GP_VIEW_EXCEPTIONS(X)						\
	X(WAVE_ABORT,			1, "wave-abort")		\
	X(WAVE_TRAP,			2, "wave-trap")			\
	X(WAVE_MATH_ERROR,		3, "wave-math-error")		\
	X(WAVE_ILLEGAL_INSTRUCTION,	4, "wave-illegal-instruction")	\
	X(WAVE_MEMORY_VIOLATION,	5, "wave-memory-violation")	\
	X(WAVE_APERTURE_VIOLATION,	6, "wave-aperture-violation")	\
	X(PACKET_DISPATCH_DIM_INVALID,	16, "dispatch-dim-invalid")	\
	X(PACKET_DISPATCH_GROUP_SEGMENT_SIZE_INVALID, 17,		\
	  "dispatch-segment-size-invalid")				\
	X(PACKET_DISPATCH_CODE_INVALID,	18, "dispatch-code-invalid")	\
	X(PACKET_RESERVED,		19, "packet-reserved")		\
	X(PACKET_UNSUPPORTED,		20, "packet-unsupported")	\
	X(PACKET_DISPATCH_WORK_GROUP_SIZE_INVALID, 21,			\
	  "dispatch-group-size-invalid")				\
	X(PACKET_DISPATCH_REGISTER_INVALID, 22,				\
	  "dispatch-register-invalid")					\
	X(PACKET_VENDOR_UNSUPPORTED,	23, "packet-vendor-unsupported") \
	X(PREEMPTION_ERROR,		30, "preemption-error")
#define GP_VIEW_EXCEPTION_NEW	31
#define GP_VIEW_CODE		"ec-"
#define GP_VIEW_NONE		"none"
#define GP_VIEW_EXCEPTION_BIT(code)	(1ull << ((code) - 1))

/*
 * X(NAME, word) for each word of the column state. All that hold are joined.
 *
 *	active		the driver wants it in the hardware, and a slot holds it
 *	suspended	through the debug interface
 *	evicted		by the driver
 *	wants=0		its share is 0 ("percent=0" in version 1)
 *	no-ring		it has no ring, or one of no size
 *	destroying	it is being destroyed; waits while it is suspended
 *	unmapped	the driver wants it in the hardware, but no slot holds
 *			it: over-subscribed, or between two run lists
 *	stuck		suspended, and a slot still holds it
 *	inactive	off, and for none of these reasons
 *	reset		the driver has reset it after a hang
 *	paused		evicted, and its process is paused: by gpreempt, or by CRIU
 *	wanted		the driver wants it in the hardware, which was not read
 */
#define GP_VIEW_QUEUE_STATES(X)						\
	X(ACTIVE,	"active")					\
	X(SUSPENDED,	"suspended")					\
	X(EVICTED,	"evicted")					\
	X(WANTS,	"wants=0")					\
	X(NO_RING,	"no-ring")					\
	X(DESTROYING,	"destroying")					\
	X(UNMAPPED,	"unmapped")					\
	X(STUCK,	"stuck")					\
	X(INACTIVE,	"inactive")					\
	X(RESET,	"reset")					\
	X(PAUSED,	"paused")					\
	X(WANTED,	"wanted")

#define GP_VIEW_QUEUE_STATE_ENUM(name, word)	GP_VIEW_STATE_##name,

enum gp_view_queue_state {
	GP_VIEW_QUEUE_STATES(GP_VIEW_QUEUE_STATE_ENUM)
	GP_VIEW_STATE_COUNT,
};

/* X(NAME, word) for each word of the column unit. */
#define GP_VIEW_UNITS(X)						\
	X(DWORDS,	"dwords")					\
	X(BYTES,	"bytes")

#define GP_VIEW_UNIT_ENUM(name, word)	GP_VIEW_UNIT_##name,

enum gp_view_unit {
	GP_VIEW_UNITS(GP_VIEW_UNIT_ENUM)
	GP_VIEW_UNIT_COUNT,
};

/* X(NAME, word) for each word of the column type. */
#define GP_VIEW_QUEUE_TYPES(X)						\
	X(COMPUTE_AQL,	"compute-aql")					\
	X(COMPUTE_PM4,	"compute-pm4")					\
	X(SDMA,		"sdma")						\
	X(SDMA_XGMI,	"sdma-xgmi")

#define GP_VIEW_QUEUE_TYPE_ENUM(name, word)	GP_VIEW_QUEUE_##name,
#define GP_VIEW_QUEUE_TYPE_WORD(name, word)	word,

enum gp_view_queue_type {
	GP_VIEW_QUEUE_TYPES(GP_VIEW_QUEUE_TYPE_ENUM)
	GP_VIEW_QUEUE_TYPE_COUNT,
};

/*
 * pid/<n>/gpus: one KFD node that the process can use a line, in the order that
 * the driver has them in. Needs no lock of the driver.
 *
 *	gpu_id	KFD's id of the node
 *	vm	1: the process has an address space there. Without one it has no
 *		queue there
 *	context	of a process that has several; "-" for the first. Each has nodes of
 *		its own
 *	evictions	that the driver counts there now: its queues are off the node
 *			until all are undone. One for a pause, or for each on a driver
 *			that counts pauses, and one for want of memory
 */
#define GP_VIEW_GPUS_NAME	"gpreempt-gpus"
#define GP_VIEW_GPUS_VERSION	"2.0"
#define GP_VIEW_GPUS_COLUMNS(X)						\
	X(gpu_id,	HEX)						\
	X(vm,		FLAG)						\
	X(context,	DEC)						\
	X(evictions,	DEC)

/*
 * pid/<n>/hqds: a line for each hardware slot that a queue of the process holds,
 * in the order of the queues. Slots are always read at that moment. A queue whose slots could
 * not be read has one line, with the reason in the column hardware and without a
 * slot: active is "-".
 *
 *	qid		queue id
 *	gpu_id		KFD's id of the node
 *	type		of the queue, out of GP_VIEW_QUEUE_TYPES
 *	xcc		of a compute queue, as the driver numbers them
 *	pipe, queue	of a compute queue
 *	engine, rlc	of an SDMA queue; engines count within the node
 *	active		1: the slot's register says active
 *	waves		of the queue in flight in this XCC, as in queues
 *	hardware	as in queues
 *	age_ms		age of qid and type, as in queues
 *	vmid		the address space it works in
 *	rptr, wptr, unit	as in queues, of this slot
 *	doorbell	as the slot has it
 */
#define GP_VIEW_HQDS_NAME	"gpreempt-hqds"
#define GP_VIEW_HQDS_VERSION	"2.0"
#define GP_VIEW_HQDS_COLUMNS(X)						\
	X(qid, DEC) X(gpu_id, HEX) X(type, WORD) X(xcc, DEC)		\
	X(pipe, DEC) X(queue, DEC) X(engine, DEC) X(rlc, DEC)		\
	X(active, FLAG) X(waves, DEC) X(hardware, WORD)			\
	X(age_ms, DEC) X(vmid, DEC) X(rptr, BIG) X(wptr, BIG)		\
	X(unit, WORD) X(doorbell, HEX)

/*
 * pid/<n>/usage: how much of a node the process uses a line, for each node and
 * context in which it has an address space, in the order of gpus.
 *
 * usage: the same of all processes, for each node on which they have queues. It is
 * for samples: the waves in an XCC are counted once, whatever the number of queues.
 * Slots are not read: waves are those of the queue's doorbell. A line whose hardware is
 * "-" is of a process that was busy.
 *
 *	pid		as the host counts
 *	gpu_id		KFD's id of the node
 *	queues		of the process there
 *	busy		1: waves are in flight in an XCC of the node. The driver starts
 *			each queue on another one
 *	waves		of its queues in flight there, "-" when that of one is not
 *			known
 *	waves_max	that the node has room for
 *	hardware	out of GP_VIEW_HARDWARE: whether the node could be asked for
 *			the waves of its queues, or why not
 *	age_ms		as in queues: of what is known of its queues
 *	suspended	how many of its queues are, by the debug interface
 *	evicted		1: they are evicted now
 *	evicted_ms	for how long the driver had evicted its queues there since
 *			the process has begun, with the eviction that goes on; a
 *			pause is one. A suspend is not. "-" while the driver is at
 *			the queues of the node
 *	context		of a process that has several; "-" for the first
 */
#define GP_VIEW_USAGE_NAME	"gpreempt-usage"
#define GP_VIEW_USAGE_VERSION	"2.0"
#define GP_VIEW_USAGE_COLUMNS(X)					\
	X(pid, DEC) X(gpu_id, HEX) X(queues, DEC) X(busy, FLAG)		\
	X(waves, DEC) X(waves_max, DEC) X(hardware, WORD)		\
	X(age_ms, DEC) X(suspended, DEC) X(evicted, FLAG)		\
	X(evicted_ms, BIG) X(context, DEC)

/*
 * processes: one GPU process a line.
 *
 *	pid		as the host counts
 *	ns_pid		in the innermost namespace of the process
 *	comm		name of its leader; what is no letter, digit or one of
 *			"._:/+@-" is \ and three octal digits
 *	gpus		nodes on which it has an address space
 *	queues		how many; aql, pm4, sdma and xgmi of each type
 *	active		hardware slots that its queues hold; "-" when some could
 *			not be read
 *	slots		that they would hold
 *	suspended, evicted	queues
 *	debugged	1: a debugger holds it
 *	age_ms		as in queues, the largest. "-", as all but pid, ns_pid
 *			and comm: the driver held the process's lock and no
 *			list was seen before
 *	paused		1: all its queues are evicted until it is unpaused
 *			(kfd_process.queues_paused)
 */
#define GP_VIEW_PROCESSES_NAME		"gpreempt-processes"
#define GP_VIEW_PROCESSES_VERSION	"2.0"
#define GP_VIEW_PROCESSES_COLUMNS(X)					\
	X(pid, DEC) X(ns_pid, DEC) X(comm, WORD) X(gpus, DEC)		\
	X(queues, DEC) X(aql, DEC) X(pm4, DEC) X(sdma, DEC)		\
	X(xgmi, DEC) X(active, DEC) X(slots, DEC)			\
	X(suspended, DEC) X(evicted, DEC) X(debugged, FLAG)		\
	X(age_ms, DEC) X(paused, FLAG)

/*
 * nodes: one KFD node a line, that is a GPU or a partition of one.
 *
 *	gpu_id		KFD's id of the node
 *	node		its number in KFD's topology
 *	device		name of the device, for PCI its address
 *	gfx		version of the graphics core, as KFD's topology has it
 *			(gfx_target_version)
 *	xccs, xcc_mask	its XCCs
 *	scheduler	out of GP_VIEW_SCHEDULERS
 *	hardware	out of GP_VIEW_HARDWARE: whether slots_used and hiq
 *			were read, or why not
 *	slots_used	CP slots of KFD that are active on its first XCC. Under
 *			the hardware scheduler it is the same on each
 *	slots		CP slots that KFD has on each XCC
 *	hiq		1: the driver's own queue is active on the first XCC
 *	processes	that have queues there
 *	queues		there are
 *	mapped		the driver wants in the hardware
 *	oversubscribed	1: more of them, or of processes, than fit at once. "-"
 *			under MES, where the driver does not know
 */
#define GP_VIEW_NODES_NAME	"gpreempt-nodes"
#define GP_VIEW_NODES_VERSION	"2.0"
#define GP_VIEW_NODES_COLUMNS(X)					\
	X(gpu_id, HEX) X(node, DEC) X(device, WORD) X(gfx, DEC)		\
	X(xccs, DEC) X(xcc_mask, HEX) X(scheduler, WORD)		\
	X(hardware, WORD) X(slots_used, DEC) X(slots, DEC)		\
	X(hiq, FLAG) X(processes, DEC) X(queues, DEC)			\
	X(mapped, DEC) X(oversubscribed, FLAG)

/* X(NAME, word) for each word of the column scheduler. */
#define GP_VIEW_SCHEDULERS(X)						\
	X(HWS,		"hws")						\
	X(MES,		"mes")						\
	X(NONE,		"none")

#define GP_VIEW_SCHEDULER_ENUM(name, word)	GP_VIEW_SCHEDULER_##name,

enum gp_view_scheduler {
	GP_VIEW_SCHEDULERS(GP_VIEW_SCHEDULER_ENUM)
	GP_VIEW_SCHEDULER_COUNT,
};

/*
 * stats: what the module has cost since it was loaded, one fact a line.
 *
 *	key	out of GP_VIEW_STATS
 *	value	a number; *_ns are nanoseconds
 */
#define GP_VIEW_STATS_NAME	"gpreempt-stats"
#define GP_VIEW_STATS_VERSION	"2.0"
#define GP_VIEW_STATS_COLUMNS(X)					\
	X(key,		WORD)						\
	X(value,	DEC)

/*
 *	registers	register reads, at most: a look whether a slot holds a ring makes
 *			1 to 3 and counts as 3
 *	wave_counts	times that the waves in an XCC were counted
 *	refreshes	times that the module read all queue lists ahead, without the
 *			hardware
 *	<lock>_taken	times that a lock of the driver was taken
 *	<lock>_ns	how long it was held in all
 *	<lock>_max_ns	how long at most
 *			table: read section of KFD's table of processes;
 *			process: a process's mutex; reset: the reset lock of a
 *			device, for reading, with all that is read from it
 *	process_busy	times that a process's mutex was not to be had
 *	broken		times that the driver's data contradicted itself
 *	unread_lost	times that the hardware of a node did not answer
 */
#define GP_VIEW_STATS_LOCK(X, lock)					\
	X(lock##_taken)							\
	X(lock##_ns)							\
	X(lock##_max_ns)
#define GP_VIEW_STATS(X)						\
	X(registers) X(wave_counts) X(refreshes)			\
	GP_VIEW_STATS_LOCK(X, table)					\
	GP_VIEW_STATS_LOCK(X, process)					\
	GP_VIEW_STATS_LOCK(X, reset)					\
	X(process_busy) X(broken) X(unread_lost)

#endif /* GPREEMPT_VIEW_H */
/* clang-format on */

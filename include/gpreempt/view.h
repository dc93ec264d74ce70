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
 *	gpreempt-queues - version: 1.0
 *	# qid gpu_id type priority suspended evicted active slots age_ms
 *	0 0xf7bc compute-aql 7 0 0 4 4 0
 *	1 0xf7bc sdma 7 0 0 - 1 0
 *
 * After them there is one record a line. Cells are separated by one space and
 * hold no space. "-" means that the value is not known. Readers find a column
 * by its name and skip names they do not know. A new column or a new word
 * raises the second number of the version, anything that could break a reader
 * raises the first.
 *
 * A column list is a macro that calls X(name, kind) for each column in the
 * order of the line. The kinds:
 *
 *	DEC	a decimal number, not negative
 *	HEX	a number in hexadecimal, with 0x
 *	FLAG	0 or 1
 *	WORD	a word out of a list in this file
 *
 * Errors of reading the files of a process: ESTALE when it is gone (also when
 * its number belongs to another process by then), EUCLEAN when the driver's
 * data contradicts itself (the kernel log says where), and for queues EBUSY
 * when the driver holds the process's lock and no list was seen before.
 */

#ifndef GPREEMPT_VIEW_H
#define GPREEMPT_VIEW_H

/* Directory below the mount point of debugfs, and the files in it. */
#define GP_VIEW_DIR		"gpreempt"
#define GP_VIEW_PID_DIR		"pid"
#define GP_VIEW_VERSION_FILE	"version"
#define GP_VIEW_QUEUES_FILE	"queues"
#define GP_VIEW_GPUS_FILE	"gpus"

/* The first line of a file, from two string literals. */
#define GP_VIEW_HEAD(name, version)	name " - version: " version "\n"

/* The second line: "#" GP_VIEW_<FILE>_COLUMNS(GP_VIEW_COLUMN_NAME) "\n". */
#define GP_VIEW_COLUMN_NAME(name, kind)	" " #name

/* What is printed for a value that is not known. */
#define GP_VIEW_UNKNOWN		"-"

/* The kinds, for tables that are made from a column list. */
enum gp_view_kind {
	GP_VIEW_DEC,
	GP_VIEW_HEX,
	GP_VIEW_FLAG,
	GP_VIEW_WORD,
};

/*
 * version: one fact a line.
 *
 *	key	out of GP_VIEW_VERSION_KEYS
 *	value	a word
 */
#define GP_VIEW_VERSION_NAME	"gpreempt-version"
#define GP_VIEW_VERSION_VERSION	"1.0"
#define GP_VIEW_VERSION_COLUMNS(X)					\
	X(key,		WORD)						\
	X(value,	WORD)

/*
 *	module	version of gpreempt.ko
 *	queues	version of the text of pid/<n>/queues
 *	gpus	version of the text of pid/<n>/gpus
 *	kernel	release of the running kernel
 *	amdgpu	srcversion of the amdgpu module that is observed
 *	layout	where the driver's structures were found: btf
 *	events	what tells of new and ended processes: probes, or rescan
 */
#define GP_VIEW_VERSION_KEYS(X)						\
	X(module)							\
	X(queues)							\
	X(gpus)								\
	X(kernel)							\
	X(amdgpu)							\
	X(layout)							\
	X(events)

/*
 * pid/<n>/queues: one queue a line, in the order of the queue ids.
 *
 *	qid		queue id, unique within the process
 *	gpu_id		KFD's id of the node that the queue is on
 *	type		out of GP_VIEW_QUEUE_TYPES
 *	priority	as the process set it, 0 to 15
 *	suspended	1: the debug interface holds the queue
 *	evicted		1: the driver has taken the queue off for a while
 *	active		hardware slots that hold the queue now. A queue in a
 *			slot can be given work by the hardware; it does not
 *			follow that it executes something. "-": the GPU is
 *			asleep or in reset, or its scheduler is stopped
 *	slots		hardware slots the queue has when it is mapped: one in
 *			each XCC of its node, or one of an SDMA engine
 *	age_ms		age of what the line says but for active, which is
 *			always read now. More than 0 when the driver held the
 *			process's lock: the list last seen is shown then
 */
#define GP_VIEW_QUEUES_NAME	"gpreempt-queues"
#define GP_VIEW_QUEUES_VERSION	"1.0"
#define GP_VIEW_QUEUES_COLUMNS(X)					\
	X(qid,		DEC)						\
	X(gpu_id,	HEX)						\
	X(type,		WORD)						\
	X(priority,	DEC)						\
	X(suspended,	FLAG)						\
	X(evicted,	FLAG)						\
	X(active,	DEC)						\
	X(slots,	DEC)						\
	X(age_ms,	DEC)

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
 */
#define GP_VIEW_GPUS_NAME	"gpreempt-gpus"
#define GP_VIEW_GPUS_VERSION	"1.0"
#define GP_VIEW_GPUS_COLUMNS(X)						\
	X(gpu_id,	HEX)						\
	X(vm,		FLAG)

#endif /* GPREEMPT_VIEW_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one table of columns: the heading, --batch, the keys of JSON, --help, the manual
 * and the screen's own help are made of it.
 */
#ifndef CTL_TOP_COLUMNS_H
#define CTL_TOP_COLUMNS_H

#include "ctl/top/model.h"

/*
 * FIELD(member, its name for programs, heading, kind, width, rank, in the help, more)
 * and DRAWN for what only the screen has. The column of the highest rank is left out
 * first where the terminal is narrow. A width of 0: what is left.
 */
/* clang-format off */
#define TOP_COLUMNS(FIELD, DRAWN) \
	FIELD(pid, "pid", "PID", OUT_DEC, 7, 0, \
	      "  PID        the process\n") \
	FIELD(user, "user", "USER", OUT_TEXT, 9, 3, \
	      "  USER       its real user\n", .array = true) \
	FIELD(gpu, "gpu", "GPUS", OUT_TEXT, 7, 5, \
	      "  GPUS       its GPU, or how many it has queues or memory on\n", .array = true) \
	FIELD(busy, "busy_percent", "BUSY%", OUT_TENTHS, 6, 0, \
	      "  BUSY%      part of the looks in which it was busy, all its GPUs added up\n") \
	FIELD(method, "method", "METHOD", OUT_TEXT, 7, 8, \
	      "  METHOD     how that was seen: by waves, or by packets that wait in slots\n") \
	DRAWN("HISTORY", 10, 7, \
	      "  HISTORY    BUSY% of its busiest GPU in the last refreshes\n") \
	FIELD(queues, "queues", NULL, OUT_DEC, 0, 0, "") \
	FIELD(waves, "waves", "WAVES", OUT_DEC, 6, 6, \
	      "  WAVES      waves in flight at the last look\n") \
	FIELD(slots_held, "slots_percent", "SLOT%", OUT_TENTHS, 6, 9, \
	      "  SLOT%      part of the slots that its queues take, which hold them\n") \
	FIELD(vram, "vram", "VRAM", OUT_SIZE, 10, 2, \
	      "  VRAM       memory of its GPUs that it has\n") \
	FIELD(evicted_ms, "evicted_ms", "EVICT-MS", OUT_DEC, 9, 11, \
	      "  EVICT-MS   so long the driver had its queues off, in ms\n") \
	FIELD(suspended_ms, "suspended_ms", "SUSP-MS", OUT_DEC, 8, 10, \
	      "  SUSP-MS    so long all its queues were seen suspended, in ms\n") \
	FIELD(holds, "holds", "HOLDS", OUT_DEC, 5, 13, \
	      "  HOLDS      so often they were seen to become suspended or evicted\n") \
	FIELD(state, "state", "STATE", OUT_WORD, 10, 1, \
	      "  STATE      as \"gpreempt-ctl list\" has it; \"paused\": the whole process is\n") \
	FIELD(held_by, "held_by", "HELD-BY", OUT_DEC, 7, 4, \
	      "  HELD-BY    the process that holds or debugs it\n", .spare = true) \
	FIELD(held_as, "held_as", "AS", OUT_TEXT, 8, 6, \
	      "  AS         the command that this is, or the debugger's name\n", \
	      .array = true, .spare = true) \
	FIELD(container, "container", "CONTAINER", OUT_TEXT, 12, 6, \
	      "  CONTAINER  the container that it is in\n", .array = true, .spare = true) \
	FIELD(pod_uid, "pod_uid", "POD", OUT_TEXT, 12, 12, \
	      "  POD        the uid of its pod\n", .array = true, .spare = true) \
	FIELD(job, "job", "JOB", OUT_TEXT, 8, 6, \
	      "  JOB        its job of Slurm\n", .array = true, .spare = true) \
	FIELD(cgroup, "cgroup", NULL, OUT_TEXT, 0, 0, "", .array = true) \
	FIELD(command, "command", "COMMAND", OUT_TEXT, 0, 0, \
	      "  COMMAND    its command line\n", .cut = true)

#define TOP_HELP_OF(member, key, title, kind, width, rank, help, ...) help
#define TOP_HELP_OF_DRAWN(title, width, rank, help)		      help
/* One string. */
#define TOP_COLUMNS_HELP TOP_COLUMNS(TOP_HELP_OF, TOP_HELP_OF_DRAWN)
/* clang-format on */

struct top_column {
	const struct out_field *field; /* NULL: it is the history */
	const char *title;	       /* NULL: the screen does not show it */
	int width;
	int rank;
};

#define TOP_COUNT(...) 1 +
#define TOP_N_COLUMNS  ((size_t)(TOP_COLUMNS(TOP_COUNT, TOP_COUNT) 0))

extern const struct top_column top_columns[TOP_N_COLUMNS];
extern const size_t top_column_busy, top_column_vram, top_column_pid;

/* Processes; the GPUs and the queues of one; GPUs. */
extern const struct out_table top_processes, top_figures, top_queues, top_gpus;

#endif

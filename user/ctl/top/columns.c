// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/top/columns.h"

#define NO_FIELD(...)

#define AS_FIELD(member, key, title, what, columns, rank, help, ...) \
	OUT_NAMED(key, struct top_process, member, title, what, __VA_ARGS__),

static const struct out_field process_fields[] = { TOP_COLUMNS(AS_FIELD, NO_FIELD) };

#define AS_NUMBER(member, ...) FIELD_##member,

enum { TOP_COLUMNS(AS_NUMBER, NO_FIELD) };

#define AS_COLUMN(member, key, title, kind, columns, rank, help, ...) \
	{ &process_fields[FIELD_##member], title, columns, rank },
#define AS_DRAWN(title, columns, rank, help) { NULL, title, columns, rank },

const struct top_column top_columns[] = { TOP_COLUMNS(AS_COLUMN, AS_DRAWN) };

#define COLUMN_OF(member, ...) COLUMN_##member,
#define COLUMN_OF_DRAWN(...)   COLUMN_history,

enum { TOP_COLUMNS(COLUMN_OF, COLUMN_OF_DRAWN) };

const size_t top_column_busy = COLUMN_busy;
const size_t top_column_vram = COLUMN_vram;
const size_t top_column_pid = COLUMN_pid;

const struct out_table top_processes = OUT_TABLE("processes", process_fields, struct top_process);

#define FIGURE(member, title, what) OUT_FIELD(struct top_figure, member, title, what)

static const struct out_field figure_fields[] = {
	FIGURE(gpu_id, "GPU", OUT_HEX),
	OUT_NAMED("busy_percent", struct top_figure, busy, "BUSY%", OUT_TENTHS),
	FIGURE(method, "METHOD", OUT_TEXT),
	FIGURE(looks, "LOOKS", OUT_DEC),
	FIGURE(queues, "QUEUES", OUT_DEC),
	FIGURE(suspended, "SUSPENDED", OUT_DEC),
	FIGURE(waves, "WAVES", OUT_DEC),
	FIGURE(vram, "VRAM", OUT_SIZE),
	FIGURE(evicted_ms, "EVICT-MS", OUT_DEC),
	FIGURE(suspended_ms, "SUSP-MS", OUT_DEC),
	FIGURE(holds, "HOLDS", OUT_DEC),
};

const struct out_table top_figures = OUT_TABLE("gpus", figure_fields, struct top_figure);

#define QUEUE(member, title, what) OUT_NAMED(#member, struct top_queue, q.member, title, what)

static const struct out_field queue_fields[] = {
	QUEUE(qid, "QUEUE", OUT_DEC),
	QUEUE(gpu_id, "GPU", OUT_HEX),
	OUT_FIELD(struct top_queue, type, "TYPE", OUT_TEXT),
	OUT_FIELD(struct top_queue, state, "STATE", OUT_SET, .array = true),
	QUEUE(active, "ACTIVE", OUT_DEC),
	QUEUE(slots, "SLOTS", OUT_DEC),
	QUEUE(waves, "WAVES", OUT_DEC),
	QUEUE(priority, "PRIORITY", OUT_DEC),
	QUEUE(rptr, "RPTR", OUT_DEC),
	QUEUE(wptr, "WPTR", OUT_DEC),
};

const struct out_table top_queues = OUT_TABLE("queues", queue_fields, struct top_queue);

#define GPU(member, what) OUT_FIELD(struct top_gpu, member, NULL, what)

static const struct out_field gpu_fields[] = {
	GPU(gpu_id, OUT_HEX),
	OUT_FIELD(struct top_gpu, device, NULL, OUT_TEXT, .array = true),
	OUT_NAMED("busy_percent", struct top_gpu, busy, NULL, OUT_TENTHS),
	GPU(method, OUT_TEXT),
	GPU(looks, OUT_DEC),
	GPU(waves, OUT_DEC),
	GPU(waves_max, OUT_DEC),
	GPU(slots_used, OUT_DEC),
	GPU(slots, OUT_DEC),
	GPU(vram, OUT_DEC),
	GPU(vram_size, OUT_DEC),
	GPU(processes, OUT_DEC),
};

const struct out_table top_gpus = OUT_TABLE("gpus", gpu_fields, struct top_gpu);

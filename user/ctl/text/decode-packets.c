// SPDX-License-Identifier: GPL-2.0-only
/* The packets of a runlist (rls), which the driver gave the hardware scheduler. */
#include <stdlib.h>

#include "ctl/text/decode.h"
#include "shared/macro.h"

/* The members are the keys of JSON. */
struct decode_packet {
	int64_t gpu_id;
	const char *packet;
	int64_t pasid;
	int64_t pid;
	int64_t queue_id;
	int64_t doorbell;
	int64_t mqd;
};

#define PACKET(member, title, what) OUT_FIELD(struct decode_packet, member, title, what)

static const struct out_field fields[] = {
	PACKET(gpu_id, "GPU", OUT_HEX),	  PACKET(packet, "PACKET", OUT_TEXT),
	PACKET(pasid, "PASID", OUT_HEX),  PACKET(pid, "PID", OUT_DEC),
	PACKET(queue_id, "QID", OUT_DEC), PACKET(doorbell, "DOORBELL", OUT_HEX),
	PACKET(mqd, "MQD", OUT_HEX),
};

static const struct out_table table = OUT_TABLE("run_list", fields, struct decode_packet);

static const char *name_of(unsigned int op)
{
	switch (op) {
	case GP_TEXT_MAP_PROCESS:
		return "map-process";
	case GP_TEXT_MAP_QUEUES:
		return "map-queues";
	case GP_TEXT_RUN_LIST:
		return "run-list";
	default:
		return "other";
	}
}

/*
 * The process of a packet's PASID: mqds says it, or on Linux 7, where each GPU has PASIDs of
 * its own, a packet of one of the process's queues.
 */
static int64_t find_pid(const struct gp_text_data *d, const struct gp_text_packet *packet)
{
	size_t i;

	if (packet->pasid == GPREEMPT_UNKNOWN)
		return GPREEMPT_UNKNOWN;
	for (i = 0; i < d->n_processes; i++)
		if (d->processes[i].pasid == packet->pasid)
			return d->processes[i].pid;
	for (i = 0; i < d->n_packets; i++)
		if (d->packets[i].queue >= 0 && d->packets[i].gpu_id == packet->gpu_id &&
		    d->packets[i].pasid == packet->pasid)
			return d->queues[d->packets[i].queue].pid;
	return GPREEMPT_UNKNOWN;
}

static struct decode_packet *make_rows(const struct ctl_text *text, int64_t pid, size_t *count)
{
	const struct gp_text_data *d = text->data;
	struct decode_packet *rows = shr_must(calloc(d->n_packets + 1, sizeof(*rows)));
	size_t i;

	*count = 0;
	for (i = 0; i < d->n_packets; i++) {
		const struct gp_text_packet *p = d->packets + i;
		const struct gp_text_queue *q = p->queue < 0 ? NULL : d->queues + p->queue;
		struct decode_packet row = {
			.gpu_id = p->gpu_id,
			.packet = name_of(p->op),
			.pasid = p->pasid,
			.doorbell = p->doorbell,
			.mqd = p->mqd,
			.pid = q ? q->pid : find_pid(d, p),
			.queue_id = q ? q->qid : GPREEMPT_UNKNOWN,
		};

		if (!pid || row.pid == pid)
			rows[(*count)++] = row;
	}
	return rows;
}

struct json_object *decode_json_packets(const struct ctl_text *text, int64_t pid)
{
	struct json_object *array;
	struct decode_packet *rows;
	size_t count;

	rows = make_rows(text, pid, &count);
	array = out_json_rows(&table, rows, count);
	free(rows);
	return array;
}

void decode_print_packets(enum out_mode mode, const struct ctl_text *text, int64_t pid)
{
	struct decode_packet *rows;
	size_t count;

	rows = make_rows(text, pid, &count);
	if (count) {
		putchar('\n');
		out_rows(mode, &table, rows, count);
	}
	free(rows);
}

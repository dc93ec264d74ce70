/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records of ROCm's log, and the messages in them. */
#ifndef GP_AMDLOG_RECORD_H
#define GP_AMDLOG_RECORD_H

#include <gpreempt/core.h>

/* A stretch of a line. */
struct gp_span {
	const char *at;
	const char *end;
	bool cut; /* another record goes on where it stops */
};

/* ":4:rocvirtual.cpp           :1083: 20162701614 us: [pid:1 tid: 0x2] ..." */
struct gp_record {
	unsigned int level;
	int64_t us;
	int64_t pid;
	struct gp_span message;
};

/*
 * Where the next record of a line begins, or NULL; its level and where what is
 * behind the name of the source file begins.
 */
const char *gp_record_find(const char *at, const char *end, unsigned int *level,
			   const char **behind);

/* What ROCr's own records have before their text; they have no level. */
#define GP_ROCR_MARK "[***rocr***]"

/* Time and process. False if they are not there, or not whole. */
bool gp_record_head(struct gp_span text, struct gp_record *record);

enum gp_amdlog_kind {
	GP_AMDLOG_NOTHING, /* nothing about queues */
	GP_AMDLOG_CREATED,
	GP_AMDLOG_ACQUIRED,
	GP_AMDLOG_RELEASED,
	GP_AMDLOG_DELETED,
	GP_AMDLOG_DISPATCH,
	GP_AMDLOG_BARRIER,
	GP_AMDLOG_KERNEL,
	GP_AMDLOG_VERSION,
	GP_AMDLOG_BROKEN, /* about a queue, but which one is not there */
};

struct gp_message {
	enum gp_amdlog_kind kind;
	uint64_t hwq, swq;
	bool by_swq;	      /* hwq is the address of a software queue */
	bool cut;	      /* an index is there, but not all of it */
	const char *priority; /* low, normal, high */
	int64_t id, size, rptr, wptr;
	struct gp_span rest; /* of a version */
};

void gp_message_parse(struct gp_span text, struct gp_message *message);

#endif

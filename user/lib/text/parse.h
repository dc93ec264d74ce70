/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the parser of the driver's text share. */
#ifndef GP_TEXT_PARSE_H
#define GP_TEXT_PARSE_H

#include "lib/text/lines.h"
#include "lib/text/text.h"
#include "shared/array.h"

/* Problems that are kept; the others are counted. */
#define GP_TEXT_PROBLEMS 4096

/* What the words that come belong to. */
enum gp_text_block {
	GP_BLOCK_NONE,
	GP_BLOCK_QUEUE, /* mqds */
	GP_BLOCK_NODE,	/* rls, until something else comes */
	GP_BLOCK_SLOT,	/* hqds */
};

struct gp_text {
	struct gp_lines lines;
	SHR_ARRAY(uint32_t, words);
	unsigned int file;
	enum gp_text_block block;
	bool have_process, have_node; /* that what comes is of */
	bool orphans_told;	      /* words without a head: once for each block */
	bool dumped;		      /* the slot at hand has registers */
	uint64_t first_line;	      /* of the dump that comes */
	uint64_t next_offset;	      /* that the next line of it must have */
	bool garbled;		      /* the line before could not be read */
	unsigned int xccs;	      /* of the node so far */
	int64_t last_xcc;	      /* as printed */
	int64_t first_engine;	      /* of the node */
	bool content;		      /* this file has more than remarks in it */
	struct gp_text_data data;
};

/* One more of something in the data, zeroed, or NULL; and the last one, or NULL. */
#define gp_text_add(text, name) \
	shr_array_add(&(text)->data.name, &(text)->data.n_##name, sizeof(*(text)->data.name))
#define gp_text_last(text, name) \
	((text)->data.n_##name ? (text)->data.name + (text)->data.n_##name - 1 : NULL)

/* Note a problem, of this file or another; @line 0: the whole file. 0 or -ENOMEM. */
int gp_text_problem(struct gp_text *text, uint64_t line, const char *what);
int gp_text_problem_at(struct gp_text *text, unsigned int file, uint64_t line, const char *what);

/* The words of a line of a dump, behind those so far. How many; 0: it is none. */
size_t gp_text_hex(struct gp_text *text, struct gp_line line, uint64_t *offset);

/* A line that is no dump. 0 or -ENOMEM. */
int gp_text_head(struct gp_text *text, struct gp_line line);

/* The dump is complete: make of it what the block says. 0 or -ENOMEM. */
int gp_text_end_dump(struct gp_text *text);
/* And the block, as at the end of a file. */
int gp_text_end_block(struct gp_text *text);

/* Of something that has none: known is 0, and the others are unknown. */
void gp_text_no_regs(struct gp_text_regs *regs);

/*
 * Decode the dump of an MQD or a slot; fields that are behind its end are unknown.
 * Returns NULL or what is wrong with it.
 */
const char *gp_text_regs(enum gp_text_type type, bool mqd, const uint32_t *words, size_t count,
			 struct gp_text_regs *regs);

/* Is something in it twice? Sets several_moments. 0 or -ENOMEM. */
int gp_text_find_moments(struct gp_text *text);

#endif

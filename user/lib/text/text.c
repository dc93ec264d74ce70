// SPDX-License-Identifier: LGPL-2.1-or-later
/* The driver's mqds, hqds and rls: lines, dumps and what they belong to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/parse.h"
#include "shared/macro.h"

/* A dump starts: at 0 in mqds and rls, anywhere in hqds. */
static int start_dump(struct gp_text *text, uint64_t offset)
{
	text->first_line = text->lines.number;
	text->next_offset = offset;
	if (offset && text->block != GP_BLOCK_SLOT)
		return gp_text_problem(text, text->lines.number,
				       "the start of this dump is missing");
	return 0;
}

/*
 * In a slot's dump the addresses may jump, as the registers do. In the others
 * an offset of 0 starts the MQD of the next XCC.
 */
static int check_offset(struct gp_text *text, uint64_t offset)
{
	int ret;

	if (!text->words.count)
		return start_dump(text, offset);
	if (offset == text->next_offset || text->block == GP_BLOCK_SLOT)
		return 0;
	if (offset) {
		ret = gp_text_problem(text, text->lines.number,
				      "this dump does not go on where it stopped");
		text->next_offset = offset;
		return ret;
	}
	ret = gp_text_end_dump(text);
	return ret ? ret : start_dump(text, offset);
}

/*
 * After a line that could not be read, which may have been a head: is this
 * dump still of the block before it?
 */
static bool goes_on(const struct gp_text *text, uint64_t offset)
{
	if (text->words.count)
		return offset == text->next_offset;
	return text->block == GP_BLOCK_NODE && !offset;
}

/* A dump that belongs to nothing: said once for each head that is missing. */
static int take_orphan(struct gp_text *text)
{
	int ret = gp_text_end_block(text);

	if (ret || text->orphans_told)
		return ret;
	text->orphans_told = true;
	return gp_text_problem(text, text->lines.number, "a dump without a line that says of what");
}

static int take_words(struct gp_text *text, size_t count, uint64_t offset)
{
	bool lost = text->block == GP_BLOCK_NONE || (text->garbled && !goes_on(text, offset));
	int ret;

	text->garbled = false;
	text->content = true;
	if (lost)
		return take_orphan(text);
	text->data.known_lines++;
	ret = check_offset(text, offset);
	if (ret)
		return ret;
	text->next_offset = offset + count * sizeof(uint32_t);
	text->words.count += count;
	return 0;
}

static int take_line(void *data, struct gp_line line)
{
	struct gp_text *text = data;
	uint64_t offset;
	size_t count;
	int ret;

	ret = shr_array_room(&text->words.items, text->words.count, 8, sizeof(uint32_t));
	if (ret)
		return ret;
	count = gp_text_hex(text, line, &offset);
	ret = count ? take_words(text, count, offset) : gp_text_head(text, line);
	if (!ret && line.cut)
		ret = gp_text_problem(text, text->lines.number,
				      line.too_long ? "too long a line" :
						      "the file ends within this line");
	return ret;
}

int gp_text_new(struct gp_text **out)
{
	struct gp_text *text = calloc(1, sizeof(*text));

	if (!text)
		return -ENOMEM;
	text->lines.take = take_line;
	text->lines.data = text;
	*out = text;
	return 0;
}

void gp_text_free(struct gp_text *text)
{
	if (!text)
		return;
	free(text->data.processes);
	free(text->data.queues);
	free(text->data.mqds);
	free(text->data.nodes);
	free(text->data.slots);
	free(text->data.packets);
	free(text->data.problems);
	free(text->words.items);
	gp_lines_free(&text->lines);
	free(text);
}

int gp_text_feed(struct gp_text *text, const char *data, size_t len)
{
	return gp_lines_feed(&text->lines, data, len);
}

int gp_text_end(struct gp_text *text)
{
	int ret = gp_lines_end(&text->lines);

	if (!ret)
		ret = gp_text_end_block(text);
	/* An idle driver's is empty; hqds and rls name each node at least. */
	text->data.mqds_seen |= !text->content;
	text->content = false;
	text->garbled = false;
	text->have_process = false;
	text->have_node = false;
	text->orphans_told = false;
	text->file++;
	return ret;
}

const struct gp_text_data *gp_text_get(const struct gp_text *text)
{
	return &text->data;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names of GPUs, and which GPU a word means. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/internal.h"
#include "shared/text.h"
#include "shared/util.h"
#include "see.h"
#include "words.h"

/* Compare PCI addresses; a longer one has a higher domain. */
static int compare_devices(const char *a, const char *b)
{
	size_t x = strlen(a), y = strlen(b);

	return x != y ? (x > y) - (x < y) : strcmp(a, b);
}

static void find_place(const struct gp_gpus *gpus, size_t i, bool known)
{
	struct gp_gpu *gpu = &gpus->items[i];
	size_t j;

	gpu->index = known ? 0 : GPREEMPT_UNKNOWN;
	for (j = 0; j < gpus->count; j++) {
		int order = compare_devices(gpus->items[j].device, gpu->device);

		if (known)
			gpu->index += order < 0 || (!order && j < i);
		gpu->partition += !order && j < i;
		gpu->partitions += !order;
	}
}

int gp_gpus_name(const struct gpreempt *g, const struct gpreempt_nodes *nodes, struct gp_gpus *out)
{
	bool known = true;
	size_t i;

	*out = (struct gp_gpus){ .items = calloc(nodes->count + 1, sizeof(*out->items)) };
	if (!out->items)
		return -ENOMEM;
	out->count = nodes->count;
	for (i = 0; i < nodes->count; i++) {
		struct gp_gpu *gpu = &out->items[i];
		char node[24];
		uint64_t render;

		gpu->gpu_id = nodes->nodes[i].gpu_id;
		gpu->hip = i;
		memcpy(gpu->device, nodes->nodes[i].device, sizeof(gpu->device));
		known &= *gpu->device != '\0';
		snprintf(node, sizeof(node), "%lld", (long long)nodes->nodes[i].node);
		gpu->render = gp_node_property(g, node, "drm_render_minor", &render) ?
				      GPREEMPT_UNKNOWN :
				      (int64_t)render;
	}
	for (i = 0; i < out->count; i++)
		find_place(out, i, known);
	return 0;
}

int gp_gpus_read(struct gpreempt *g, struct gp_gpus *out, struct gpreempt_error *err)
{
	struct gpreempt_nodes *nodes;
	int ret = gpreempt_nodes_read(g, &nodes, err);

	*out = (struct gp_gpus){ 0 };
	if (ret)
		return ret;
	ret = gp_gpus_name(g, nodes, out);
	gpreempt_list_free(nodes);
	return ret ? gp_error(err, ret, GPREEMPT_SYSTEM, 0, "reading the names of GPUs") : 0;
}

void gp_gpus_free(struct gp_gpus *gpus)
{
	free(gpus->items);
	*gpus = (struct gp_gpus){ 0 };
}

const struct gp_gpu *gp_gpus_get(const struct gp_gpus *gpus, int64_t gpu_id)
{
	size_t i;

	for (i = 0; i < gpus->count; i++)
		if (gpus->items[i].gpu_id == gpu_id)
			return &gpus->items[i];
	return NULL;
}

bool gp_gpus_are_words(const char *text)
{
	static const char render[] = "renderD";
	const char *word, *letters;

	for (;; text++) {
		letters = "0123456789abcdefABCDEFxX:.";
		if (!strncmp(text, render, strlen(render))) {
			text += strlen(render);
			letters = "0123456789";
		}
		word = text;
		text += strspn(text, letters);
		if (text == word || (*text && *text != ','))
			return false;
		if (!*text)
			return true;
	}
}

/* Is it one of the names of the GPU? A number has up to three meanings. */
static bool is_name(const struct gp_gpu *gpu, const char *word)
{
	const char *device = gpu->device, *bus = strchr(device, ':');
	unsigned long long hex;
	uint64_t number;
	char *end;

	if (strchr(word, ':'))
		return !strcasecmp(device, word) || (bus && !strcasecmp(bus + 1, word));
	if (!strncmp(word, "renderD", 7))
		return !shr_parse_u64(word + 7, INT32_MAX, &number) &&
		       (int64_t)number == gpu->render;
	if (!shr_parse_u64(word, UINT32_MAX, &number) &&
	    ((int64_t)number == gpu->index || (int64_t)number == gpu->gpu_id))
		return true;
	hex = strtoull(word, &end, 16);
	return isxdigit((unsigned char)*word) && !*end && (int64_t)hex == gpu->gpu_id;
}

int gp_gpus_find(const struct gp_gpus *gpus, const char *word, bool *chosen)
{
	size_t i, first = gpus->count;
	int ret = -ENOENT;

	for (i = 0; i < gpus->count; i++) {
		chosen[i] = is_name(&gpus->items[i], word);
		if (!chosen[i])
			continue;
		if (first == gpus->count) {
			first = i;
			ret = 0;
		} else if (!strchr(word, ':') ||
			   strcmp(gpus->items[i].device, gpus->items[first].device)) {
			ret = -EEXIST;
		}
	}
	return ret;
}

int gp_gpu_text(const struct gp_gpu *gpu, char *buf, size_t size)
{
	unsigned long long id = gpu->gpu_id;
	char render[32] = "";

	if (gpu->index == GPREEMPT_UNKNOWN)
		return snprintf(buf, size, "0x%llx", id);
	if (gpu->render != GPREEMPT_UNKNOWN)
		snprintf(render, sizeof(render), "renderD%lld, ", (long long)gpu->render);
	return snprintf(buf, size, "%lld (%s, %s0x%llx)", (long long)gpu->index, gpu->device,
			render, id);
}

bool gp_may_use_gpu(struct gpreempt *g, pid_t pid, int64_t gpu_id)
{
	uint64_t value;

	return !gp_read_number(g, &value, GP_SYSFS_PROC "/%d/vram_%lld", pid, (long long)gpu_id);
}

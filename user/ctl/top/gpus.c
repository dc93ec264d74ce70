// SPDX-License-Identifier: GPL-2.0-only
/* The bars of the GPUs. */
#include <stdio.h>

#include "ctl/top/parts.h"

#define NAME	     11 /* columns of "GPU 0x7d63 " */
#define BAR	     24
#define LEAST	     8	/* of a history */
#define BESIDE	     60 /* columns of one of two GPUs in a line */
#define TEXT	     40
#define HISTORY_MOST (TOP_HISTORY / 2)

/* "12.3G"; "-": not known. */
static void put_size(char buf[TEXT / 2], int64_t bytes)
{
	static const char units[] = "BKMGTPE";
	double size = bytes;
	size_t i = 0;

	for (; size >= 999.95; size /= 1024)
		i++;
	if (bytes == GPREEMPT_UNKNOWN)
		snprintf(buf, TEXT / 2, "-");
	else
		snprintf(buf, TEXT / 2, i ? "%.1f%c" : "%.0f%c", size, units[i]);
}

static void put_number(char buf[TEXT / 2], int64_t number)
{
	if (number == GPREEMPT_UNKNOWN)
		snprintf(buf, TEXT / 2, "-");
	else
		snprintf(buf, TEXT / 2, "%lld", (long long)number);
}

/* "NAME 1/2" */
static void pair(char buf[TEXT], const char *name, void (*put)(char buf[TEXT / 2], int64_t number),
		 int64_t one, int64_t other)
{
	char first[TEXT / 2], second[TEXT / 2];

	put(first, one);
	put(second, other);
	snprintf(buf, TEXT, "%s%.16s/%.16s", name, first, second);
}

static void vram(const struct top_gpu *gpu, char buf[TEXT])
{
	pair(buf, "VRAM ", put_size, gpu->vram, gpu->vram_size);
}

static void waves(const struct top_gpu *gpu, char buf[TEXT])
{
	pair(buf, "waves ", put_number, gpu->waves, gpu->waves_max);
}

static void slots(const struct top_gpu *gpu, char buf[TEXT])
{
	pair(buf, "slots ", put_number, gpu->slots_used, gpu->slots);
}

static void processes(const struct top_gpu *gpu, char buf[TEXT])
{
	char number[TEXT / 2];

	put_number(number, gpu->processes);
	snprintf(buf, TEXT, "%s proc%s", number, gpu->processes == 1 ? "" : "s");
}

static void device(const struct top_gpu *gpu, char buf[TEXT])
{
	snprintf(buf, TEXT, "%.*s", TEXT - 1, gpu->device);
}

/* Beside name and bar, from left to right. The highest rank is left out first. */
static const struct part {
	void (*text)(const struct top_gpu *gpu, char buf[TEXT]);
	int width;
	int rank;
} parts[] = {
	{ device, 13, 4 }, { waves, 17, 1 },	 { slots, 12, 3 },
	{ vram, 19, 0 },   { processes, 10, 2 },
};

#define DEVICE 0 /* of parts; it stands left of the bar */

/* The ranks below that fit. */
static int fitting_rank(int width)
{
	int rank, left = width - NAME - BAR;
	size_t i;

	for (rank = 0; rank < (int)ARRAY_SIZE(parts); rank++) {
		for (i = 0; parts[i].rank != rank; i++)
			;
		left -= parts[i].width;
		if (left < 0)
			break;
	}
	return rank;
}

static int put_part(struct top_screen *s, int y, int x, const struct part *part,
		    const struct top_gpu *gpu)
{
	char text[TEXT];

	part->text(gpu, text);
	top_put(s, y, x + 1, part->width - 1, TOP_PLAIN, text);
	return x + part->width;
}

static void bar_text(const struct top_gpu *gpu, char buf[TEXT])
{
	if (gpu->busy == GPREEMPT_UNKNOWN)
		snprintf(buf, TEXT, "-");
	else
		snprintf(buf, TEXT, "%.1f%%%s", gpu->busy / 10.0,
			 gpu->method && *gpu->method == 'p' ? " packets" : "");
}

static void draw_gpu(struct top_screen *s, int y, int x, int width, const struct top_gpu *gpu)
{
	int rank = fitting_rank(width), left = width - NAME - BAR, bar = BAR;
	char text[TEXT];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		left -= parts[i].rank < rank ? parts[i].width : 0;
	if (left < LEAST + 1)
		bar += left;
	snprintf(text, sizeof(text), "GPU 0x%llx", (unsigned long long)gpu->gpu_id);
	x = top_put(s, y, x, NAME - 1, TOP_STRONG, text);
	if (parts[DEVICE].rank < rank)
		x = put_part(s, y, x, &parts[DEVICE], gpu);
	bar_text(gpu, text);
	x = top_put_bar(s, y, x + 1, bar, gpu->busy, text);
	for (i = DEVICE + 1; i < ARRAY_SIZE(parts); i++)
		if (parts[i].rank < rank)
			x = put_part(s, y, x, &parts[i], gpu);
	if (left >= LEAST + 1)
		top_put_history(s, y, x + 1, left - 1 > HISTORY_MOST ? HISTORY_MOST : left - 1,
				TOP_GOOD, &gpu->history);
}

/* Processes keep half of the screen. */
int top_draw_gpus(struct top_screen *s, int y, const struct top_model *m, const struct top_view *v)
{
	int most = (s->height - 3) / 2, columns = 1, lines, width, n = 0;
	size_t i, count = v->gpu_id ? 1 : m->gpus.count;
	char more[64];

	if (most < 1)
		return y;
	if ((int)count > most && s->width >= 2 * BESIDE)
		columns = 2;
	lines = ((int)count + columns - 1) / columns;
	if (lines > most)
		lines = most;
	width = s->width / columns;
	for (i = 0; i < m->gpus.count; i++) {
		if (v->gpu_id && m->gpus.items[i].gpu_id != v->gpu_id)
			continue;
		if (n == lines * columns - 1 && (int)count > n + 1) {
			snprintf(more, sizeof(more), "and %zu GPUs more", count - n);
			top_put(s, y + n % lines, n / lines * width, width, TOP_FAINT, more);
			break;
		}
		draw_gpu(s, y + n % lines, n / lines * width, width - (columns > 1),
			 &m->gpus.items[i]);
		n++;
	}
	return y + lines;
}

// SPDX-License-Identifier: GPL-2.0-only
#include <locale.h>

#include "unit-top.h"

struct top_model model;
struct top_view view;
struct top_screen screen;

void top_setup(void)
{
	static const int64_t ids[] = { 0x7d63, 0x1d67 };
	struct top_gpu *gpu;
	size_t i;

	/* Widths of characters are those of a locale. */
	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
	top_view_init(&view);
	view.delay_ns = 2 * NSEC_PER_SEC;
	view.root = true;
	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		gpu = shr_add(&model.gpus);
		*gpu = (struct top_gpu){
			.gpu_id = ids[i],
			.gpu = i,
			.busy = i ? 0 : 420,
			.method = "waves",
			.looks = 50,
			.waves = i ? 0 : 1234,
			.waves_max = 2560,
			.slots_used = i ? 0 : 8,
			.slots = 32,
			.vram = i ? 0 : 13207024436,
			.vram_used = GPREEMPT_UNKNOWN,
			.vram_size = 206158430208,
			.processes = i ? 0 : 3,
		};
		snprintf(gpu->device, sizeof(gpu->device), "0000:0%zu:00.0", 3 + i);
	}
}

void top_teardown(void)
{
	top_model_clear(&model);
	top_screen_free(&screen);
}

struct top_figure *add_figure(struct top_process *p, int64_t gpu_id, int64_t busy, int64_t vram)
{
	struct top_figure *f = shr_add(&p->gpus);

	*f = (struct top_figure){
		.gpu_id = gpu_id,
		.gpu = gpu_id == 0x1d67,
		.busy = busy,
		.method = busy == GPREEMPT_UNKNOWN ? NULL : "waves",
		.looks = busy == GPREEMPT_UNKNOWN ? 0 : 50,
		.queues = 1,
		.waves = busy == GPREEMPT_UNKNOWN ? GPREEMPT_UNKNOWN : busy / 10,
		.vram = vram,
	};
	return f;
}

struct top_process *add_process(int64_t pid, const char *command, int64_t gpu_id, int64_t busy,
				int64_t vram)
{
	struct top_process *p = shr_add(&model.processes);

	p->pid = pid;
	p->start = 1000 + pid;
	strcpy(p->user, "alice");
	p->state = "active";
	p->held_by = GPREEMPT_UNKNOWN;
	p->slots_held = 1000;
	p->command = strdup(command);
	add_figure(p, gpu_id, busy, vram);
	return p;
}

void press(int key)
{
	top_view_key(&view, &model, key);
	ck_assert_int_eq(top_view_settle(&view, &model), 0);
}

/* One line, in UTF-8; cells that a wide character covers have no text. */
static size_t put_line(char *at, size_t size, int y)
{
	size_t used = 0, last = 0;
	int x, i;

	for (x = 0; x < screen.width; x++) {
		const wchar_t *text = screen.cells[y * screen.width + x].text;

		for (i = 0; text[i]; i++)
			used += snprintf(at + used, size - used, "%lc", (wint_t)text[i]);
		if (*text && *text != ' ')
			last = used;
	}
	at[last] = '\0';
	return last;
}

const char *line_at(int y)
{
	static char line[4096];

	put_line(line, sizeof(line), y);
	return line;
}

const char *drawn(int width, int height)
{
	static char text[1 << 17];
	size_t used = 0;
	int y;

	ck_assert_int_eq(top_view_settle(&view, &model), 0);
	ck_assert_int_eq(top_screen_resize(&screen, width, height), 0);
	screen.utf8 = view.utf8;
	top_draw(&screen, &model, &view);
	for (y = 0; y < height; y++) {
		used += put_line(text + used, sizeof(text) - used, y);
		text[used++] = '\n';
	}
	text[used] = '\0';
	return text;
}

enum top_look look_at(int y, int x)
{
	return screen.cells[y * screen.width + x].look;
}

const char *order(void)
{
	static char text[4096];
	size_t i, used = 0;

	ck_assert_int_eq(top_view_settle(&view, &model), 0);
	*text = '\0';
	for (i = 0; i < model.lines.count; i++) {
		const struct top_line *line = &model.lines.items[i];

		used += line->process ? sprintf(text + used, "%s%lld", i ? " " : "",
						(long long)line->process->pid) :
					sprintf(text + used, "%s(%s)", i ? " " : "", line->group);
	}
	return text;
}

// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "shared/text.h"
#include "top.h"

#define NO_FIELD(...)

#define AS_FIELD(member, key, title, what, columns, order, help, ...) \
	OUT_NAMED(key, struct top_process, member, title, what, .rank = order, __VA_ARGS__),

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
	FIGURE(gpu, "GPU", OUT_DEC),
	OUT_NAMED("kfd_gpu_id", struct top_figure, gpu_id, NULL, OUT_HEX),
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
	OUT_FIELD(struct top_queue, gpu, "GPU", OUT_DEC),
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

/* clang-format off */
static const struct out_field gpu_fields[] = {
	GPU(gpu, OUT_DEC),
	OUT_NAMED("pci", struct top_gpu, device, NULL, OUT_TEXT, .array = true),
	OUT_NAMED("kfd_gpu_id", struct top_gpu, gpu_id, NULL, OUT_HEX),
	OUT_NAMED("busy_percent", struct top_gpu, busy, NULL, OUT_TENTHS),
	GPU(method, OUT_TEXT),
	GPU(looks, OUT_DEC),
	GPU(waves, OUT_DEC),
	GPU(waves_max, OUT_DEC),
	GPU(slots_used, OUT_DEC),
	GPU(slots, OUT_DEC),
	GPU(vram, OUT_DEC),
	GPU(vram_used, OUT_DEC),
	GPU(vram_size, OUT_DEC),
	GPU(processes, OUT_DEC),
};
/* clang-format on */

const struct out_table top_gpus = OUT_TABLE("gpus", gpu_fields, struct top_gpu);

/* The bars of the GPUs. */

#define NAME	     11 /* columns of "GPU 0x7d63 " */
#define BAR	     24
#define LEAST	     8	/* columns of a history, at least */
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
	pair(buf, "VRAM ", put_size,
	     gpu->vram_used == GPREEMPT_UNKNOWN ? gpu->vram : gpu->vram_used, gpu->vram_size);
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

/* Parts beside name and bar, from left to right. The highest rank is left out first. */
static const struct part {
	void (*text)(const struct top_gpu *gpu, char buf[TEXT]);
	int width;
	int rank;
} parts[] = {
	{ device, 13, 4 }, { waves, 17, 1 },	 { slots, 12, 3 },
	{ vram, 19, 0 },   { processes, 10, 2 },
};

#define DEVICE 0 /* index into parts; it stands left of the bar */

/* Returns the rank below which all parts fit. */
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
		snprintf(buf, TEXT, "%.*f%%%s", gpu->looks >= TOP_MANY_LOOKS, gpu->busy / 10.0,
			 gpu->method && *gpu->method == 'p' ? " packets" : "");
}

void top_gpu_name(int64_t index, int64_t gpu_id, char *buf, size_t size)
{
	if (index == GPREEMPT_UNKNOWN)
		snprintf(buf, size, "GPU 0x%llx", (unsigned long long)gpu_id);
	else
		snprintf(buf, size, "GPU %lld", (long long)index);
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
	top_gpu_name(gpu->gpu, gpu->gpu_id, text, sizeof(text));
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
static int top_draw_gpus(struct top_screen *s, int y, const struct top_model *m,
			 const struct top_view *v)
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
			snprintf(more, sizeof(more), "and %zu GPUs more; g shows each", count - n);
			top_put(s, y + n % lines, n / lines * width, width, TOP_FAINT, more);
			break;
		}
		draw_gpu(s, y + n % lines, n / lines * width, width - (columns > 1),
			 &m->gpus.items[i]);
		n++;
	}
	return y + lines;
}

/* The list of processes. */

#define COMMAND(width) ((width) / 5) /* columns that it has at least */
#define MOST_RANK      100
#define INDENT	       2 /* columns before a process in a group */
#define FIRST_LINE(v)  ((v)->page ? (v)->line / (v)->page * (v)->page : 0)

/* Is the column empty in all lines? */
static bool is_spare(const struct top_model *m, const struct out_field *field)
{
	const struct top_process *p;
	size_t i;

	for (i = 0; field->spare && i < m->lines.count; i++) {
		p = m->lines.items[i].process;
		if (!p)
			continue;
		if (field->kind <= OUT_LIST ? !!out_text_of(field, p) :
					      out_number_of(field, p) != GPREEMPT_UNKNOWN)
			return false;
	}
	return field->spare;
}

/* Returns the rank below which all columns fit. */
static int fitting_columns(const struct top_model *m, int width, bool *spare)
{
	int rank = MOST_RANK, sum, worst;
	size_t i;

	for (i = 0; i < TOP_N_COLUMNS; i++)
		spare[i] = !top_columns[i].title ||
			   (top_columns[i].field && is_spare(m, top_columns[i].field));
	for (;; rank = worst) {
		sum = COMMAND(width);
		worst = 0;
		for (i = 0; i < TOP_N_COLUMNS; i++) {
			if (spare[i] || top_columns[i].rank >= rank || !top_columns[i].width)
				continue;
			sum += top_columns[i].width + 1;
			if (top_columns[i].rank > worst)
				worst = top_columns[i].rank;
		}
		if (sum <= width || !worst)
			return rank;
	}
}

static enum top_look look_of(const struct top_process *p, const struct top_column *column)
{
	static const char *const warnings[] = { "suspended", "partly-suspended", "paused",
						"evicted" };
	size_t i;

	if (!p->state || !column->field || column->field->kind != OUT_WORD)
		return TOP_PLAIN;
	for (i = 0; i < ARRAY_SIZE(warnings); i++)
		if (!strcmp(p->state, warnings[i]))
			return TOP_WARNING;
	return !strcmp(p->state, "active") ? TOP_GOOD : TOP_FAINT;
}

static int put_cell(struct top_screen *s, int y, int x, int width, enum top_look look,
		    const struct out_field *field, const struct top_process *p, uint64_t looks)
{
	__cleanup_free char *text = top_cell(field, p, looks);

	return (out_to_the_right(field) ? top_put_right : top_put)(s, y, x, width, look,
								   text ? text : "");
}

static void draw_process(struct top_screen *s, int y, const struct top_process *p, uint64_t looks,
			 const struct top_view *v, const bool *hidden, bool selected)
{
	size_t i;
	int x = 0;

	for (i = 0; i < TOP_N_COLUMNS; i++) {
		const struct top_column *column = &top_columns[i];
		int width = column->width ? column->width : s->width - x;
		enum top_look look = selected ? TOP_SELECTED : look_of(p, column);

		if (hidden[i])
			continue;
		if (!column->width && v->tree != TOP_FLAT) {
			x = top_put(s, y, x, INDENT, look, "");
			width -= INDENT;
		}
		if (column->field)
			x = put_cell(s, y, x, width, look, column->field, p, looks);
		else
			x = top_put_history(s, y, x, width, look, top_history_of(p, v->gpu_id));
		if (column->width)
			x = top_put(s, y, x, 1, look, "");
	}
}

static void draw_group(struct top_screen *s, int y, const struct top_line *line, uint64_t looks,
		       bool selected)
{
	enum top_look look = selected ? TOP_SELECTED : TOP_STRONG;
	char sums[96];
	int width;

	if (line->busy == GPREEMPT_UNKNOWN)
		snprintf(sums, sizeof(sums), "  %zu process%s", line->members,
			 line->members == 1 ? "" : "es");
	else
		snprintf(sums, sizeof(sums), "  %zu process%s, BUSY%% %.*f", line->members,
			 line->members == 1 ? "" : "es", looks >= TOP_MANY_LOOKS,
			 line->busy / 10.0);
	width = s->width - (int)strlen(sums);
	if (width < 1)
		width = s->width;
	top_put(s, y, top_put_foreign(s, y, 0, width, look, line->group), s->width, look, sums);
}

static void draw_heading(struct top_screen *s, int y, const struct top_view *v, const bool *hidden)
{
	size_t i;
	int x = 0;

	for (i = 0; i < TOP_N_COLUMNS; i++) {
		const struct top_column *column = &top_columns[i];
		int width = column->width ? column->width : s->width - x;
		enum top_look look = i == v->column ? TOP_SELECTED : TOP_HEADING;
		bool right = column->field && out_to_the_right(column->field);

		if (hidden[i])
			continue;
		x = (right ? top_put_right : top_put)(s, y, x, width, look, column->title);
		if (column->width)
			x = top_put(s, y, x, 1, TOP_HEADING, "");
	}
}

/* Processes, up to the last line but one. */
static void top_draw_list(struct top_screen *s, int y, const struct top_model *m,
			  struct top_view *v)
{
	bool hidden[TOP_N_COLUMNS];
	int rank = fitting_columns(m, s->width, hidden);
	size_t i, first;

	for (i = 0; i < TOP_N_COLUMNS; i++)
		hidden[i] |= top_columns[i].rank >= rank;
	draw_heading(s, y++, v, hidden);
	v->page = s->height - 1 > y ? s->height - 1 - y : 0;
	first = FIRST_LINE(v);
	for (i = first; i < m->lines.count && i < first + v->page; i++, y++) {
		const struct top_line *line = &m->lines.items[i];

		if (line->process)
			draw_process(s, y, line->process, m->looks, v, hidden, i == v->line);
		else
			draw_group(s, y, line, m->looks, i == v->line);
	}
	if (!m->lines.count)
		top_put(s, y, 0, s->width, TOP_FAINT,
			m->processes.count ? "no process is like that" : "no process uses the GPU");
}

#define LINE 512

static void draw_title(struct top_screen *s, const struct top_model *m, const struct top_view *v)
{
	char delay[32], text[LINE];
	const char *from = s->width < 80 ? "" : "gpreempt-ctl top: ";

	shr_format_duration(v->delay_ns, delay, sizeof(delay));
	snprintf(text, sizeof(text), "%s%zu process%s, %zu GPU%s, every %s%s%s", from,
		 m->processes.count, m->processes.count == 1 ? "" : "es", m->gpus.count,
		 m->gpus.count == 1 ? "" : "s", delay, v->paused ? ", PAUSED" : "",
		 m->simulated ? ", simulated GPU" : "");
	top_put(s, 0, 0, s->width, TOP_STRONG, text);
}

/* Put a harmless text in lines, broken at blanks. Returns the line below; y -1: only count. */
static int put_wrapped(struct top_screen *s, int y, const char *text)
{
	bool count = y < 0;

	for (y = count ? 0 : y; *text; y++) {
		char part[LINE];
		size_t len = strlen(text), width = s->width;

		if (width >= sizeof(part))
			width = sizeof(part) - 1;
		if (len > width)
			for (len = width; len && text[len] != ' '; len--)
				;
		if (!len)
			len = width;
		snprintf(part, sizeof(part), "%.*s", (int)len, text);
		if (!count)
			top_put(s, y, 0, s->width, TOP_WARNING, part);
		text += len + (text[len] == ' ');
	}
	return y;
}

/* Put what was done last, whole, over the last lines. */
static void draw_status(struct top_screen *s, const char *status)
{
	__cleanup_free char *clean = shr_must(shr_clean_copy(status, false));
	int y = s->height - put_wrapped(s, -1, clean);

	put_wrapped(s, y < 0 ? 0 : y, clean);
}

/* Print which lines of a page can be seen; "": all of them. */
static void put_place(char text[LINE], size_t first, size_t shown, size_t all)
{
	size_t last = first + shown < all ? first + shown : all;

	*text = '\0';
	if (shown < all)
		snprintf(text, LINE, "%zu-%zu of %zu  ", first + 1, last, all);
}

static void question(const struct top_request *r, char text[LINE])
{
	if (r->verb == TOP_DO_SUSPEND)
		snprintf(text, LINE, "suspend %lld %s until it is resumed?", (long long)r->pid,
			 r->command);
	else if (r->verb == TOP_DO_RESUME)
		snprintf(text, LINE, "resume %lld %s?", (long long)r->pid, r->command);
	else
		snprintf(text, LINE, "send SIG%s to %lld %s?", top_signal_name(r->signal),
			 (long long)r->pid, r->command);
}

/* Ask the question, which may be cut; the keys are not. */
static void ask(struct top_screen *s, int y, const struct top_request *r)
{
	static const char keys[] = " y/N";
	int room = s->width - (int)strlen(keys), len;
	__cleanup_free char *clean = NULL;
	char text[LINE];

	question(r, text);
	clean = shr_clean_copy(text, false);
	len = clean ? top_text_width(s, clean) : 0;
	len = top_put(s, y, 0, len > room ? room : len, TOP_WARNING, clean ? clean : "");
	top_put(s, y, len, s->width, TOP_STRONG, keys);
}

static void draw_hints(struct top_screen *s, int y, const struct top_model *m,
		       const struct top_view *v)
{
	char text[LINE], place[LINE];

	if (v->mode == TOP_MODE_LIST)
		put_place(place, FIRST_LINE(v), v->page, m->lines.count);
	else
		put_place(place, v->above, v->page, v->length);
	if (v->mode == TOP_MODE_DETAILS)
		snprintf(text, sizeof(text), "%.40sEsc back  s suspend  r resume  k signal", place);
	else if (v->mode == TOP_MODE_HELP)
		snprintf(text, sizeof(text), "%.40sUp Down PgUp PgDn  Esc back", place);
	else
		snprintf(text, sizeof(text),
			 "%.40s%s%s%s? help  / filter  < > sort  t groups  g GPU  "
			 "Enter details%s  q quit",
			 place, *v->filter ? "filter " : "", v->filter, *v->filter ? "  " : "",
			 v->root ? "  s suspend  r resume  k signal" : "");
	top_put_foreign(s, y, 0, s->width, TOP_FAINT, text);
}

static void draw_last_line(struct top_screen *s, const struct top_model *m,
			   const struct top_view *v)
{
	int y = s->height - 1, x;
	char text[LINE];

	switch (v->mode) {
	case TOP_MODE_FILTER:
		x = top_put(s, y, 0, s->width, TOP_STRONG, "filter: ");
		x = 8;
		top_put_foreign(s, y, x, s->width - x, TOP_PLAIN, v->filter);
		break;
	case TOP_MODE_SIGNAL:
		snprintf(text, sizeof(text),
			 "signal to %lld: t TERM  k KILL  s STOP  c CONT  i INT",
			 (long long)v->asked.pid);
		top_put(s, y, 0, s->width, TOP_STRONG, text);
		break;
	case TOP_MODE_CONFIRM:
		ask(s, y, &v->asked);
		break;
	default:
		if (*v->status)
			draw_status(s, v->status);
		else
			draw_hints(s, y, m, v);
	}
}

void top_draw(struct top_screen *s, const struct top_model *m, struct top_view *v)
{
	int y = 1;

	top_screen_clear(s);
	draw_title(s, m, v);
	if (v->mode == TOP_MODE_HELP) {
		top_draw_help(s, y, v);
	} else if (v->mode == TOP_MODE_DETAILS) {
		top_draw_details(s, y, m, v);
	} else {
		if (m->missing) {
			__cleanup_free char *clean = shr_must(shr_clean_copy(m->missing, false));

			y = put_wrapped(s, y, clean);
		}
		y = top_draw_gpus(s, y, m, v);
		top_draw_list(s, y, m, v);
	}
	draw_last_line(s, m, v);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The screen of top as cells: the GPUs, the list, a process's page, the help. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/text.h"
#include "top.h"

static void top_screen_clear(struct top_screen *s)
{
	int i;

	for (i = 0; i < s->width * s->height; i++)
		s->cells[i] = (struct top_cell){ .text = L" " };
}

void top_screen_resize(struct top_screen *s, int width, int height)
{
	size_t count = (size_t)width * height + 1;

	s->cells = shr_must(reallocarray(s->cells, count, sizeof(*s->cells)));
	s->width = width;
	s->height = height;
	top_screen_clear(s);
}

void top_screen_free(struct top_screen *s)
{
	free(s->cells);
	*s = (struct top_screen){ 0 };
}

/* The next character, and its columns: 0 combines with the one before. */
static size_t take(const struct top_screen *s, const char *text, wchar_t *c, int *columns)
{
	uint32_t code;
	size_t len = shr_take_utf8(text, &code);

	*c = code;
	*columns = len == 1 ? 1 : wcwidth(code);
	if (!len || *columns < 0 || (!s->utf8 && len > 1)) {
		*c = '?';
		*columns = 1;
	}
	return len ? len : 1;
}

/* Returns the columns that a harmless text takes. */
static int top_text_width(const struct top_screen *s, const char *text)
{
	int width = 0, columns;
	wchar_t c;

	while (*text) {
		text += take(s, text, &c, &columns);
		width += columns;
	}
	return width;
}

static struct top_cell *cell_at(struct top_screen *s, int y, int x)
{
	return &s->cells[y * s->width + x];
}

static void combine(struct top_cell *cell, wchar_t c)
{
	size_t len = wcslen(cell->text);

	if (len && len + 1 < ARRAY_SIZE(cell->text)) {
		cell->text[len] = c;
		cell->text[len + 1] = 0;
	}
}

static void put_character(struct top_screen *s, int y, int x, int columns, enum top_look look,
			  wchar_t c)
{
	*cell_at(s, y, x) = (struct top_cell){ { c }, look };
	/* Fill the right half of the character. */
	if (columns == 2)
		*cell_at(s, y, x + 1) = (struct top_cell){ { 0 }, look };
}

/*
 * Put a harmless text in width columns: a longer one is cut, and the rest is blank. Returns the
 * column behind them, which a text never passes, nor the edge.
 */
static int top_put(struct top_screen *s, int y, int x, int width, enum top_look look,
		   const char *text)
{
	int end = width > s->width - x ? s->width : x + width, at = x, columns;
	wchar_t c;

	if (y < 0 || y >= s->height || x >= s->width || width <= 0)
		return x;
	while (*text) {
		text += take(s, text, &c, &columns);
		if (at + columns > end)
			break;
		if (columns)
			put_character(s, y, at, columns, look, c);
		else if (at > x && *cell_at(s, y, at - 1)->text)
			combine(cell_at(s, y, at - 1), c);
		at += columns;
	}
	while (at < end)
		put_character(s, y, at++, 1, look, ' ');
	return end;
}

static int top_put_right(struct top_screen *s, int y, int x, int width, enum top_look look,
			 const char *text)
{
	int space = width - top_text_width(s, text);

	if (space > 0)
		x = top_put(s, y, x, space, look, "");
	return top_put(s, y, x, space > 0 ? width - space : width, look, text);
}

/* Put the text of a cell, or of its heading. */
static int put_cell(struct top_screen *s, int y, int x, int width, enum top_look look,
		    const struct out_field *field, const char *text)
{
	bool right = field && out_to_the_right(field);

	return (right ? top_put_right : top_put)(s, y, x, width, look, text);
}

/* Put a text of another program's bytes in width columns. */
static int top_put_foreign(struct top_screen *s, int y, int x, int width, enum top_look look,
			   const char *text)
{
	__cleanup_free char *clean = shr_must(shr_clean_copy(text, false));

	return top_put(s, y, x, width, look, clean);
}

/* How high a point of the history is: 0 (none) to 4. */
static unsigned int height_of(const struct top_history *h, unsigned int ago)
{
	unsigned int percent = top_history_at(h, ago);

	return percent == TOP_NOTHING || !percent ? 0 : 1 + (percent - 1) / 25;
}

/* Two refreshes a cell, the last one at the right. */
static int top_put_history(struct top_screen *s, int y, int x, int width, enum top_look look,
			   const struct top_history *h)
{
	/* Dots of Unicode's braille, from below: left column, and right one. */
	static const unsigned int left[] = { 0, 0x40, 0x44, 0x46, 0x47 };
	static const unsigned int right[] = { 0, 0x80, 0xa0, 0xb0, 0xb8 };
	static const char levels[] = " .:|#";
	int i;

	if (y < 0 || y >= s->height)
		return x;
	for (i = 0; i < width && x + i < s->width; i++) {
		unsigned int ago = 2 * (width - 1 - i);
		unsigned int new = height_of(h, ago);
		unsigned int old = height_of(h, ago + 1);
		wchar_t c = new || old ? 0x2800 + left[old] + right[new] : ' ';

		if (!s->utf8)
			c = levels[new > old ? new : old];
		put_character(s, y, x + i, 1, look, c);
	}
	return x + i;
}

/* A bar with a text at its right end; tenths of a percent, or GPREEMPT_UNKNOWN. */
static int top_put_bar(struct top_screen *s, int y, int x, int width, int64_t tenths,
		       const char *text)
{
	int room = width - 2, i, len = top_text_width(s, text);
	int full = tenths <= 0 ? 0 : tenths >= 1000 ? room : (int)((tenths * room + 999) / 1000);

	if (room < len || x + width > s->width || y >= s->height)
		return x;
	top_put(s, y, x, 1, TOP_STRONG, "[");
	for (i = 0; i < room - len; i++)
		put_character(s, y, x + 1 + i, 1, i < full ? TOP_GOOD : TOP_PLAIN,
			      i < full ? '|' : ' ');
	top_put(s, y, x + 1 + room - len, len, TOP_PLAIN, text);
	return top_put(s, y, x + width - 1, 1, TOP_STRONG, "]");
}

/* The bars of the GPUs. */

#define NAME	11 /* columns of "GPU 0x7d63 " */
#define BAR	24
#define LEAST	8  /* columns of a history, at least */
#define BESIDE	60 /* columns of one of two GPUs in a line */
#define TEXT	40
#define HISTORY (TOP_HISTORY / 2)

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
	     gpu->is.vram_used == GPREEMPT_UNKNOWN ? gpu->is.vram : gpu->is.vram_used,
	     gpu->is.vram_size);
}

static void waves(const struct top_gpu *gpu, char buf[TEXT])
{
	pair(buf, "waves ", put_number, gpu->is.waves, gpu->is.waves_max);
}

static void slots(const struct top_gpu *gpu, char buf[TEXT])
{
	pair(buf, "slots ", put_number, gpu->is.node.slots_used, gpu->is.node.slots);
}

static void processes(const struct top_gpu *gpu, char buf[TEXT])
{
	char number[TEXT / 2];

	put_number(number, gpu->processes);
	snprintf(buf, TEXT, "%s proc%s", number, gpu->processes == 1 ? "" : "s");
}

static void device(const struct top_gpu *gpu, char buf[TEXT])
{
	snprintf(buf, TEXT, "%.*s", TEXT - 1, gpu->is.node.device);
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
		snprintf(buf, TEXT, "%.0f%%%s", gpu->busy / 10.0,
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
	top_gpu_name(gpu->gpu, gpu->is.node.gpu_id, text, sizeof(text));
	x = top_put(s, y, x, NAME - 1, TOP_STRONG, text);
	if (parts[DEVICE].rank < rank)
		x = put_part(s, y, x, &parts[DEVICE], gpu);
	bar_text(gpu, text);
	x = top_put_bar(s, y, x + 1, bar, gpu->busy, text);
	for (i = DEVICE + 1; i < ARRAY_SIZE(parts); i++)
		if (parts[i].rank < rank)
			x = put_part(s, y, x, &parts[i], gpu);
	if (left >= LEAST + 1)
		top_put_history(s, y, x + 1, left - 1 > HISTORY ? HISTORY : left - 1, TOP_GOOD,
				&gpu->history);
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
		if (v->gpu_id && m->gpus.items[i].is.node.gpu_id != v->gpu_id)
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

/* Returns the history of a process of the lines on that GPU; with 0, its own. */
static const struct top_history *top_history_of(const struct top_process *p, int64_t gpu_id)
{
	size_t i;

	for (i = 0; gpu_id && i < p->gpus.count; i++)
		if (p->gpus.items[i].is.gpu_id == gpu_id)
			return &p->gpus.items[i].history;
	return &p->history;
}

/* Draw a process, or with NULL the headings. */
static void draw_process(struct top_screen *s, int y, const struct top_process *p,
			 const struct top_view *v, const bool *hidden, bool selected)
{
	size_t i;
	int x = 0;

	for (i = 0; i < TOP_N_COLUMNS; i++) {
		const struct top_column *column = &top_columns[i];
		int width = column->width ? column->width : s->width - x;
		enum top_look plain = p ? look_of(p, column) : TOP_HEADING;
		enum top_look look = selected || (!p && i == v->column) ? TOP_SELECTED : plain;
		__cleanup_free char *text = NULL;

		if (hidden[i])
			continue;
		if (p && !column->width && v->tree != TOP_FLAT) {
			x = top_put(s, y, x, INDENT, look, "");
			width -= INDENT;
		}
		if (p && column->field)
			text = shr_must(out_cell(column->field, p));
		if (p && !text)
			x = top_put_history(s, y, x, width, look, top_history_of(p, v->gpu_id));
		else
			x = put_cell(s, y, x, width, look, column->field, p ? text : column->title);
		if (column->width)
			x = top_put(s, y, x, 1, selected ? look : plain, "");
	}
}

static void draw_group(struct top_screen *s, int y, const struct top_line *line, bool selected)
{
	enum top_look look = selected ? TOP_SELECTED : TOP_STRONG;
	char sums[96];
	int width = sprintf(sums, "  %zu process%s", line->members, line->members == 1 ? "" : "es");

	if (line->busy != GPREEMPT_UNKNOWN)
		width += sprintf(sums + width, ", BUSY%% %.0f", line->busy / 10.0);
	width = s->width - width;
	if (width < 1)
		width = s->width;
	top_put(s, y, top_put_foreign(s, y, 0, width, look, line->group), s->width, look, sums);
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
	draw_process(s, y++, NULL, v, hidden, false);
	v->page = s->height - 1 > y ? s->height - 1 - y : 0;
	first = FIRST_LINE(v);
	for (i = first; i < m->lines.count && i < first + v->page; i++, y++) {
		const struct top_line *line = &m->lines.items[i];

		if (line->process)
			draw_process(s, y, line->process, v, hidden, i == v->line);
		else
			draw_group(s, y, line, i == v->line);
	}
	if (!m->lines.count)
		top_put(s, y, 0, s->width, TOP_FAINT,
			m->processes.count ? "no process is like that" : "no process uses the GPU");
}

/* Pages that may be longer than the screen: a process, and the help. */

#define GAP	2
#define COLUMNS 16 /* columns of a table, at most */

struct page {
	struct top_screen *s;
	int first; /* line of the screen */
	int above; /* lines that stand above it */
	int line;  /* the next one of the page */
};

/* Returns the page line's line of the screen, or -1. */
static int line_of(const struct page *p)
{
	int y = p->first + p->line - p->above;

	return p->line < p->above || y >= p->s->height - 1 ? -1 : y;
}

static int put(struct page *p, int x, int width, enum top_look look, const char *text)
{
	return top_put(p->s, line_of(p), x, width, look, text);
}

__attribute__((format(printf, 3, 4))) static void put_line(struct page *p, enum top_look look,
							   const char *format, ...)
{
	char text[1024], clean[2048];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	shr_clean(clean, sizeof(clean), text, false);
	put(p, 0, p->s->width, look, clean);
	p->line++;
}

static void put_text(struct page *p, const char *text)
{
	size_t len;

	for (; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		put_line(p, TOP_PLAIN, "%.*s", (int)len, text);
	}
}

static void put_title(struct page *p, const char *text)
{
	put_line(p, TOP_STRONG, "%s", text);
}

/* Widths of the columns, by all cells. */
static void measure(const struct page *p, const struct out_table *table, const char *rows,
		    size_t count, int *widths)
{
	size_t i, j;

	for (i = 0; i < table->n_fields; i++) {
		/* A field without a heading is for programs. */
		if (!table->fields[i].heading)
			continue;
		widths[i] = strlen(table->fields[i].heading);
		for (j = 0; j < count; j++) {
			__cleanup_free char *cell =
				shr_must(out_cell(&table->fields[i], rows + j * table->row_size));
			int width = top_text_width(p->s, cell);

			if (width > widths[i])
				widths[i] = width;
		}
	}
}

/* A row, or with NULL the heading. Returns the column behind it. */
static int put_row(struct page *p, const struct out_table *table, const int *widths,
		   const void *row)
{
	enum top_look look = row ? TOP_PLAIN : TOP_HEADING;
	size_t i;
	int x = 0;

	for (i = 0; i < table->n_fields; i++) {
		const struct out_field *field = &table->fields[i];
		__cleanup_free char *cell = row ? shr_must(out_cell(field, row)) : NULL;

		if (!field->heading)
			continue;
		x = put_cell(p->s, line_of(p), x, widths[i], look, field,
			     row ? cell : field->heading);
		x = put(p, x, GAP, look, "");
	}
	return x;
}

/* Compare the indexes of GPUs; those without one are last, by their ids. */
static int compare_gpus(const void *a, const void *b)
{
	const struct top_figure *x = a, *y = b;
	uint64_t m = x->gpu, n = y->gpu;

	return m != n ? (m > n) - (m < n) : shr_compare_first(a, b);
}

/* Put the GPUs that it uses, in the order of the host's. */
static void put_gpus(struct page *p, const struct top_process *process)
{
	__cleanup_free struct top_figure *used =
		shr_must(calloc(process->gpus.count + 1, sizeof(*used)));
	int widths[COLUMNS], x;
	size_t i, n = 0;

	for (i = 0; i < process->gpus.count; i++)
		if (gp_figure_is_used(&process->gpus.items[i].is))
			used[n++] = process->gpus.items[i];
	if (!n) {
		put_line(p, TOP_FAINT, "it has no queue and no memory on a GPU");
		return;
	}
	qsort(used, n, sizeof(*used), compare_gpus);
	measure(p, &top_figures, (const char *)used, n, widths);
	x = put_row(p, &top_figures, widths, NULL);
	put(p, x, p->s->width - x, TOP_HEADING, "HISTORY");
	p->line++;
	for (i = 0; i < n; i++) {
		x = put_row(p, &top_figures, widths, &used[i]);
		top_put_history(p->s, line_of(p), x,
				p->s->width - x > HISTORY ? HISTORY : p->s->width - x, TOP_GOOD,
				&used[i].history);
		p->line++;
	}
}

static void put_queues(struct page *p, const struct top_model *m)
{
	int widths[COLUMNS], x;
	size_t i;

	if (!m->queues.count) {
		put_line(p, TOP_FAINT, "it has no queue that can be seen");
		return;
	}
	measure(p, &top_queues, (const char *)m->queues.items, m->queues.count, widths);
	x = put_row(p, &top_queues, widths, NULL);
	put(p, x, p->s->width - x, TOP_HEADING, "");
	p->line++;
	for (i = 0; i < m->queues.count; i++) {
		put_row(p, &top_queues, widths, &m->queues.items[i]);
		p->line++;
	}
}

static void put_person(struct page *p, const struct top_process *process)
{
	put_line(p, TOP_STRONG, "process %lld  %s", (long long)process->pid, process->command);
	put_line(p, TOP_PLAIN, "user %s  state %s", *process->user ? process->user : "-",
		 process->state ? process->state : "-");
	if (process->held_by != GPREEMPT_UNKNOWN)
		put_line(p, TOP_WARNING, "held by process %lld (%s)", (long long)process->held_by,
			 process->held_as);
	if (*process->container)
		put_line(p, TOP_PLAIN, "container %s", process->container);
	if (*process->pod_uid)
		put_line(p, TOP_PLAIN, "pod %s", process->pod_uid);
	if (*process->job)
		put_line(p, TOP_PLAIN, "job %s", process->job);
	put_line(p, TOP_PLAIN, "cgroup %s", *process->cgroup ? process->cgroup : "-");
}

/* Twice, if the user wanted to see more below than there is. */
static bool was_too_far(struct page *p, struct top_view *v)
{
	int room = p->s->height - 1 - p->first;
	int most = p->line > room ? p->line - room : 0, y;

	v->page = room > 0 ? room : 0;
	v->length = p->line;
	if ((int)v->above <= most)
		return false;
	v->above = p->above = most;
	p->line = 0;
	for (y = p->first; y < p->s->height - 1; y++)
		top_put(p->s, y, 0, p->s->width, TOP_PLAIN, "");
	return true;
}

static void top_draw_details(struct top_screen *s, int y, const struct top_model *m,
			     struct top_view *v)
{
	struct page p = { .s = s, .first = y, .above = v->above };
	const struct top_process *process = top_find(m, v->pid);

	if (!process)
		return;
	do {
		put_person(&p, process);
		put_title(&p, "");
		put_gpus(&p, process);
		put_title(&p, "");
		put_queues(&p, m);
	} while (was_too_far(&p, v));
}

static void top_draw_help(struct top_screen *s, int y, struct top_view *v)
{
	struct page p = { .s = s, .first = y, .above = v->above };

	do {
		put_title(&p, "Keys");
		put_text(&p, TOP_KEYS_HELP);
		put_title(&p, "");
		put_title(&p, "Columns");
		put_text(&p, TOP_COLUMNS_HELP);
	} while (was_too_far(&p, v));
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
	char text[LINE], clean[4 * LINE];

	question(r, text);
	shr_clean(clean, sizeof(clean), text, false);
	len = top_text_width(s, clean);
	len = top_put(s, y, 0, len > room ? room : len, TOP_WARNING, clean);
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
	int y = s->height - 1;
	char text[LINE];

	switch (v->mode) {
	case TOP_MODE_FILTER:
		top_put(s, y, 0, s->width, TOP_STRONG, "filter: ");
		top_put_foreign(s, y, 8, s->width - 8, TOP_PLAIN, v->filter);
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

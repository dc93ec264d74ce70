// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/text.h"
#include "top.h"

int top_screen_resize(struct top_screen *s, int width, int height)
{
	struct top_cell *cells = reallocarray(s->cells, (size_t)width * height + 1, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	s->cells = cells;
	s->width = width;
	s->height = height;
	top_screen_clear(s);
	return 0;
}

void top_screen_clear(struct top_screen *s)
{
	int i;

	for (i = 0; i < s->width * s->height; i++)
		s->cells[i] = (struct top_cell){ .text = L" " };
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

int top_text_width(const struct top_screen *s, const char *text)
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

int top_put(struct top_screen *s, int y, int x, int width, enum top_look look, const char *text)
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

int top_put_right(struct top_screen *s, int y, int x, int width, enum top_look look,
		  const char *text)
{
	int space = width - top_text_width(s, text);

	if (space > 0)
		x = top_put(s, y, x, space, look, "");
	return top_put(s, y, x, space > 0 ? width - space : width, look, text);
}

int top_put_foreign(struct top_screen *s, int y, int x, int width, enum top_look look,
		    const char *text)
{
	__cleanup_free char *clean = shr_clean_copy(text, false);

	return top_put(s, y, x, width, look, clean ? clean : "");
}

/* How high a point of the history is: 0 (none) to 4. */
static unsigned int height_of(const struct top_history *h, unsigned int ago)
{
	unsigned int percent = top_history_at(h, ago);

	return percent == TOP_NOTHING || !percent ? 0 : 1 + (percent - 1) / 25;
}

int top_put_history(struct top_screen *s, int y, int x, int width, enum top_look look,
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

int top_put_bar(struct top_screen *s, int y, int x, int width, int64_t tenths, const char *text)
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

char *top_cell(const struct out_field *field, const void *row, uint64_t looks)
{
	char *cell = out_cell(field, row);
	int64_t tenths;

	if (!cell || looks >= TOP_MANY_LOOKS || strcmp(field->name, "busy_percent"))
		return cell;
	tenths = out_number_of(field, row);
	if (tenths != GPREEMPT_UNKNOWN)
		sprintf(cell, "%lld", (long long)(tenths + 5) / 10);
	return cell;
}

/* Pages that may be longer than the screen: a process, and the help. */

#define GAP	2
#define COLUMNS 16 /* columns of a table, at most */
#define HISTORY (TOP_HISTORY / 2)

struct page {
	struct top_screen *s;
	int first; /* line of the screen */
	int above; /* lines that stand above it */
	int line;  /* the next one of the page */
	uint64_t looks;
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
				top_cell(&table->fields[i], rows + j * table->row_size, p->looks);
			int width = cell ? top_text_width(p->s, cell) : 0;

			if (width > widths[i])
				widths[i] = width;
		}
	}
}

/* A row, or with NULL the heading. Returns the column behind it. */
static int put_row(struct page *p, const struct out_table *table, const int *widths,
		   const void *row)
{
	size_t i;
	int x = 0;

	for (i = 0; i < table->n_fields; i++) {
		const struct out_field *field = &table->fields[i];
		__cleanup_free char *cell = row ? top_cell(field, row, p->looks) : NULL;

		if (!field->heading)
			continue;
		x = (out_to_the_right(field) ? top_put_right :
					       top_put)(p->s, line_of(p), x, widths[i],
							row ? TOP_PLAIN : TOP_HEADING,
							row ? (cell ? cell : "") : field->heading);
		x = put(p, x, GAP, row ? TOP_PLAIN : TOP_HEADING, "");
	}
	return x;
}

/* Compare the indexes of GPUs; those without one are last, by their ids. */
static int compare_gpus(const void *a, const void *b)
{
	const struct top_figure *x = a, *y = b;
	uint64_t m = x->gpu, n = y->gpu;

	return m != n ? (m > n) - (m < n) : (x->gpu_id > y->gpu_id) - (x->gpu_id < y->gpu_id);
}

/* Put the GPUs that it uses, in the order of the host's. */
static void put_gpus(struct page *p, const struct top_process *process)
{
	__cleanup_free struct top_figure *used =
		shr_must(calloc(process->gpus.count + 1, sizeof(*used)));
	int widths[COLUMNS], x;
	size_t i, n = 0;

	for (i = 0; i < process->gpus.count; i++)
		if (top_figure_is_used(&process->gpus.items[i]))
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

void top_draw_details(struct top_screen *s, int y, const struct top_model *m, struct top_view *v)
{
	struct page p = { .s = s, .first = y, .above = v->above, .looks = m->looks };
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

void top_draw_help(struct top_screen *s, int y, struct top_view *v)
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

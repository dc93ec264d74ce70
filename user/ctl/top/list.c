// SPDX-License-Identifier: GPL-2.0-only
/* The list of processes. */
#include <stdio.h>
#include <string.h>

#include "ctl/top/columns.h"
#include "ctl/top/parts.h"

#define COMMAND(width) ((width) / 5) /* columns that it has at least */
#define MOST_RANK      100
#define INDENT	       2 /* of a process in a group */
#define FIRST_LINE(v)  ((v)->page ? (v)->line / (v)->page * (v)->page : 0)

/* Is nothing in it, in any line? */
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

/* Which columns fit: those of a rank below the one that is returned. */
static int fitting_rank(const struct top_model *m, int width, bool *spare)
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
		    const struct out_field *field, const struct top_process *p)
{
	__cleanup_free char *text = out_cell(field, p);

	return (out_to_the_right(field) ? top_put_right : top_put)(s, y, x, width, look,
								   text ? text : "");
}

static void draw_process(struct top_screen *s, int y, const struct top_process *p,
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
			x = put_cell(s, y, x, width, look, column->field, p);
		else
			x = top_put_history(s, y, x, width, look, top_history_of(p, v->gpu_id));
		if (column->width)
			x = top_put(s, y, x, 1, look, "");
	}
}

static void draw_group(struct top_screen *s, int y, const struct top_line *line, bool selected)
{
	enum top_look look = selected ? TOP_SELECTED : TOP_STRONG;
	char sums[96];
	int width;

	if (line->busy == GPREEMPT_UNKNOWN)
		snprintf(sums, sizeof(sums), "  %zu process%s", line->members,
			 line->members == 1 ? "" : "es");
	else
		snprintf(sums, sizeof(sums), "  %zu process%s, BUSY%% %.1f", line->members,
			 line->members == 1 ? "" : "es", line->busy / 10.0);
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

void top_draw_list(struct top_screen *s, int y, const struct top_model *m, struct top_view *v)
{
	bool hidden[TOP_N_COLUMNS];
	int rank = fitting_rank(m, s->width, hidden);
	size_t i, first;

	for (i = 0; i < TOP_N_COLUMNS; i++)
		hidden[i] |= top_columns[i].rank >= rank;
	draw_heading(s, y++, v, hidden);
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

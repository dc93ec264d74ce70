// SPDX-License-Identifier: GPL-2.0-only
#include "guard/timeline.h"

#include <stdbool.h>
#include <string.h>

#define WIDTH	  900
#define RIGHT	  10
#define TOP	  34
#define LANE	  44
#define BAR	  28
#define TICKS	  6
#define NARROWEST 0.5 /* that can be seen */

/* Seen on a light page and on a dark one. */
static const char *const styles[TIMELINE_KINDS] = {
	[TIMELINE_ONLINE] =
		"fill=\"#d9480f\" stroke=\"#ffffff\" stroke-width=\"0.4\"",
	[TIMELINE_OFFLINE] =
		"fill=\"#1c7ed6\" stroke=\"#ffffff\" stroke-width=\"0.4\"",
	[TIMELINE_WORK] = "fill=\"#d9480f\"",
	[TIMELINE_RUNS] = "fill=\"#1c7ed6\"",
	[TIMELINE_HELD] = "fill=\"#868e96\"",
};

static void put_text(const char *text, FILE *out)
{
	static const char special[] = "<>&\"";
	static const char *const names[] = { "lt", "gt", "amp", "quot" };
	const char *at;

	for (; *text; text++) {
		at = strchr(special, *text);
		if (at)
			fprintf(out, "&%s;", names[at - special]);
		else
			/* Others have no place in XML. */
			fputc((unsigned char)*text < ' ' ? '?' : *text, out);
	}
}

static double place(const struct timeline *t, uint64_t ns)
{
	double part =
		(double)(ns - t->from_ns) / (double)(t->to_ns - t->from_ns);

	return t->left + part * (WIDTH - t->left - RIGHT);
}

static void put_label(FILE *out, double x, double y, const char *anchor,
		      const char *text)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
		anchor);
	put_text(text, out);
	fputs("</text>\n", out);
}

static void put_axis(const struct timeline *t)
{
	uint64_t whole = t->to_ns - t->from_ns;
	unsigned int bottom = TOP + t->n_lanes * LANE;
	char text[32];
	double x;
	int i;

	for (i = 0; i <= TICKS; i++) {
		x = place(t, t->from_ns + whole * i / TICKS);
		fprintf(t->out,
			"<path d=\"M%.1f %d V%u\" stroke=\"#868e96\" stroke-width=\"0.5\"/>\n",
			x, TOP - 6, bottom);
		snprintf(text, sizeof(text), "%.0f ms",
			 (double)whole * i / TICKS / 1e6);
		put_label(t->out, x, bottom + 14, i == TICKS ? "end" : "middle",
			  text);
	}
}

static bool is_empty(const struct timeline *t)
{
	return t->to_ns <= t->from_ns;
}

void timeline_begin(const struct timeline *t)
{
	unsigned int height = TOP + t->n_lanes * LANE + 24;
	size_t i;

	if (is_empty(t))
		return;
	fprintf(t->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" "
		"font-family=\"sans-serif\" font-size=\"13\" fill=\"#868e96\">\n",
		WIDTH, height);
	put_label(t->out, t->left, 18, "start", t->title);
	put_axis(t);
	for (i = 0; i < t->n_lanes; i++)
		put_label(t->out, t->left - 8, TOP + i * LANE + 19.0, "end",
			  t->lanes[i]);
}

void timeline_span(const struct timeline *t, unsigned int lane,
		   enum timeline_kind kind, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t from = from_ns > t->from_ns ? from_ns : t->from_ns;
	uint64_t to = to_ns < t->to_ns ? to_ns : t->to_ns;
	double width;

	if (from >= to || lane >= t->n_lanes)
		return;
	width = place(t, to) - place(t, from);
	fprintf(t->out,
		"<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" %s/>\n",
		place(t, from), TOP + lane * LANE,
		width < NARROWEST ? NARROWEST : width, BAR, styles[kind]);
}

void timeline_end(const struct timeline *t)
{
	if (!is_empty(t))
		fputs("</svg>\n", t->out);
}

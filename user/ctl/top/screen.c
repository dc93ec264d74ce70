// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "ctl/top/columns.h"
#include "ctl/top/parts.h"
#include "ctl/top/screen.h"
#include "shared/clean.h"
#include "shared/parse.h"

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

/* A long text in lines, broken at blanks. Returns the line below. */
static int put_wrapped(struct top_screen *s, int y, const char *text)
{
	while (*text) {
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
		top_put_foreign(s, y++, 0, s->width, TOP_WARNING, part);
		text += len + (text[len] == ' ');
	}
	return y;
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

/* The question may be cut, what to press is not. */
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

static void draw_hints(struct top_screen *s, int y, const struct top_view *v)
{
	char text[LINE];

	if (*v->status)
		snprintf(text, sizeof(text), "%s", v->status);
	else if (v->mode == TOP_MODE_DETAILS)
		snprintf(text, sizeof(text), "Esc back  s suspend  r resume  k signal");
	else if (v->mode == TOP_MODE_HELP)
		snprintf(text, sizeof(text), "Up Down PgUp PgDn  Esc back");
	else
		snprintf(text, sizeof(text),
			 "%s%s%s? help  / filter  < > sort  t groups  g GPU  "
			 "Enter details%s  q quit",
			 *v->filter ? "filter " : "", v->filter, *v->filter ? "  " : "",
			 v->root ? "  s suspend  r resume  k signal" : "");
	top_put_foreign(s, y, 0, s->width, *v->status ? TOP_WARNING : TOP_FAINT, text);
}

static void draw_last_line(struct top_screen *s, const struct top_view *v)
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
		draw_hints(s, y, v);
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
		if (m->missing)
			y = put_wrapped(s, y, m->missing);
		y = top_draw_gpus(s, y, m, v);
		top_draw_list(s, y, m, v);
	}
	draw_last_line(s, v);
}

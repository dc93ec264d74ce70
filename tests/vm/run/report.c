// SPDX-License-Identifier: GPL-2.0-only
/*
 * A failed test as a person wants to see it: the step that failed to its end, what the
 * guest showed of itself then, the kernel's log since that step, and how to repeat it.
 */
#include <stdlib.h>
#include <string.h>

#include "vmrun.h"

#define STEP_LINES  60	/* up to the line FAIL */
#define STATE_LINES 120 /* after it */
#define LOG_LINES   20

/* A file as lines; text is one block that they point into. */
struct lines {
	char *text;
	char **line;
	size_t n;
};

static void read_lines(struct lines *l, const char *dir, const char *name)
{
	char path[PATH_MAX + 32], *p, *end;
	size_t size = 0, room = 0;

	memset(l, 0, sizeof(*l));
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	l->text = read_file(path, &size);
	for (p = l->text; p && *p; p = end) {
		end = p + strcspn(p, "\n");
		if (*end)
			*end++ = '\0';
		p[strcspn(p, "\r")] = '\0';
		if (l->n == room) {
			room = room ? room * 2 : 64;
			l->line = realloc(l->line, room * sizeof(*l->line));
			if (!l->line)
				die("out of memory");
		}
		l->line[l->n++] = p;
	}
}

static void free_lines(struct lines *l)
{
	free(l->line);
	free(l->text);
}

void last_line(const char *dir, const char *prefix, char *last, size_t size)
{
	size_t len = strlen(prefix), i;
	struct lines l;

	last[0] = '\0';
	read_lines(&l, dir, "output");
	for (i = 0; i < l.n; i++)
		if (!strncmp(l.line[i], prefix, len) && l.line[i][len])
			snprintf(last, size, "%s", l.line[i] + len);
	free_lines(&l);
}

static void show(FILE *to, const struct lines *l, size_t from, size_t end, const char *mark)
{
	for (; from < end; from++)
		fprintf(to, "    %s %s\n", mark, l->line[from]);
}

/* Print from the last step to the line FAIL or, without one, to the end. */
static double show_step(FILE *to, const struct vm *vm)
{
	size_t step = 0, fail, end;
	double at = 0;
	struct lines l;

	read_lines(&l, vm->dir, "output");
	for (fail = 0; fail < l.n; fail++) {
		if (!strncmp(l.line[fail], "-- [", 4))
			step = fail;
		if (!strncmp(l.line[fail], "FAIL: ", 6))
			break;
	}
	if (step < l.n)
		sscanf(l.line[step], "-- [%lf]", &at);
	end = fail < l.n ? fail + 1 : l.n;
	if (end - step > STEP_LINES) {
		show(to, &l, step, step + 1, "|");
		fprintf(to, "    | ... %zu lines\n", end - step - STEP_LINES);
		step = end - STEP_LINES + 1;
	}
	show(to, &l, step, end, "|");
	show(to, &l, end, l.n - end > STATE_LINES ? end + STATE_LINES : l.n, "|");
	free_lines(&l);
	return at;
}

/* The last lines, but none of before a moment of the guest's clock. */
static void show_log(FILE *to, const struct vm *vm, const char *name, double since,
		     const char *mark)
{
	struct lines l;
	size_t from;
	double at;

	read_lines(&l, vm->dir, name);
	from = l.n > LOG_LINES ? l.n - LOG_LINES : 0;
	while (from < l.n && sscanf(l.line[from], "[%lf]", &at) == 1 && at < since)
		from++;
	show(to, &l, from, l.n, mark);
	free_lines(&l);
}

void report_failure(FILE *to, const struct bench *b, const struct vm *vm, const struct test_case *t,
		    const struct outcome *o, double seconds)
{
	double load[1] = { 0 };
	double since = show_step(to, vm);

	show_log(to, vm, "kernel.log", since, "k");
	if (o->verdict == V_LOST)
		show_log(to, vm, "serial.log", 0, "s");
	if (getloadavg(load, 1) != 1)
		load[0] = 0;
	fprintf(to,
		"    = clock %s, seed %d, pace %d, load %.1f, guest %.1f s, host %.1f s\n"
		"    = again: make %s T=%s SEED=%d%s; logs: %s/vm/logs/%s\n",
		b->counted ? "counted" : "real", b->seed, b->pace, load[0], o->guest_ms / 1000.0,
		seconds,
		/* The target of another guest has the name of its image. */
		strcmp(b->image, "boot") ? b->image : "vmtest", t->name, b->seed,
		b->chaos ? " CHAOS=1" :
		b->real	 ? " REAL=1" :
			   "",
		b->build, t->name);
}

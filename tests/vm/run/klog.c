// SPDX-License-Identifier: GPL-2.0-only
/*
 * A dirty kernel log fails a test that passed, except for the lines that the
 * test lists because it provokes them.
 */
#include <stdlib.h>
#include <string.h>

#include "vmrun.h"

#define LEAK	   "unreferenced object" /* each of kmemleak's begins so */
#define REPORT_MAX 250			 /* lines */

static const char *const dirt[] = {
	"WARNING:",
	"BUG:",
	"kernel BUG at",
	"Oops",
	"Kernel panic",
	"general protection",
	"unable to handle",
	"KASAN",
	"UBSAN",
	"use.after.free",
	"blocked for more than",
	"rcu.*(stall|detected expedited)",
	"soft lockup",
	"hard LOCKUP",
	"list_(add|del) corruption",
	"scheduling while atomic",
	"sleeping function called",
	"possible (recursive|circular) locking",
	"suspicious RCU usage",
	LEAK,
	"unchecked MSR access",
	"page allocation failure",
	"Out of memory: Killed",
	"records lost",
};

static bool matches(const char *line, const char *pattern)
{
	regex_t re;
	bool hit;

	if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB))
		return false;
	hit = !regexec(&re, line, 0, NULL, 0);
	regfree(&re);
	return hit;
}

static bool allowed(const char *line, const struct test_case *t)
{
	int i;

	for (i = 0; i < t->allowed; i++)
		if (matches(line, t->allow[i]))
			return true;
	return false;
}

static void all_dirt(regex_t *re)
{
	char pattern[1024] = "";
	size_t i, len = 0;

	for (i = 0; i < sizeof(dirt) / sizeof(dirt[0]); i++)
		len += snprintf(pattern + len, sizeof(pattern) - len, "%s%s", i ? "|" : "",
				dirt[i]);
	if (regcomp(re, pattern, REG_EXTENDED | REG_NOSUB))
		die("the list of dirty log lines is wrong");
}

/* Returns the line after the report that begins with line i. */
static size_t report_end(char *const *lines, size_t i, size_t n, const regex_t *re)
{
	bool trace = false;
	size_t end;

	for (end = i + 1; end < n && end < i + REPORT_MAX; end++) {
		if (strstr(lines[end], "</TASK>"))
			trace = true;
		else if (trace && !regexec(re, lines[end], 0, NULL, 0))
			break;
		if (strstr(lines[end], "end trace") ||
		    (trace && strstr(lines[end], "==========")) || strstr(lines[end], LEAK))
			break;
	}
	return end;
}

static size_t read_lines(const char *path, char ***lines)
{
	FILE *f = fopen(path, "re");
	size_t n = 0, room = 0, size = 0;
	char *text = NULL;

	*lines = NULL;
	while (f && getline(&text, &size, f) > 0) {
		if (n == room) {
			room = room ? room * 2 : 256;
			*lines = realloc(*lines, room * sizeof(**lines));
		}
		text[strcspn(text, "\n")] = '\0';
		if (!*lines)
			die("out of memory");
		(*lines)[n++] = text;
		text = NULL;
		size = 0;
	}
	free(text);
	if (f)
		fclose(f);
	return n;
}

static bool find_dirt(char *const *lines, size_t n, const struct test_case *t, struct reports *r,
		      char *line, size_t size)
{
	size_t i = 0, end;
	regex_t re;

	all_dirt(&re);
	for (; i < n; i = end) {
		end = i + 1;
		if (regexec(&re, lines[i], 0, NULL, 0) || allowed(lines[i], t))
			continue;
		end = report_end(lines, i, n, &re);
		if (!reports_know(r, lines + i, end - i))
			break;
	}
	if (i < n)
		snprintf(line, size, "%s", lines[i]);
	regfree(&re);
	return i < n;
}

bool klog_dirty(const char *path, const struct test_case *t, struct reports *r, char *line,
		size_t size)
{
	char **lines;
	size_t n = read_lines(path, &lines);
	bool dirty = find_dirt(lines, n, t, r, line, size);

	while (n)
		free(lines[--n]);
	free(lines);
	return dirty;
}

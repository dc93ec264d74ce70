// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports of a kernel that looks for mistakes, which are not of our modules and are known. The
 * file has a row each, in three parts between tabs: a regular expression for the report's first
 * line, one for another line of it, and what it is. A report that names gpreempt.ko is never a
 * known one. vgpu.ko may stand in it as what called the driver: the other line has to come
 * before it, as traces begin with what was called last.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "vmrun.h"

#define OURS	 "[gpreempt]"
#define BENCH	 "[vgpu]"
#define ROWS_MAX 64

struct row {
	regex_t first, within;
	char *what;
	atomic_uint seen;
};

struct reports {
	struct row row[ROWS_MAX];
	size_t n;
};

static bool compile(regex_t *re, const char *text)
{
	return text && !regcomp(re, text, REG_EXTENDED | REG_NOSUB);
}

static void add_row(struct reports *r, char *line)
{
	struct row *row = &r->row[r->n];
	char *save;

	if (r->n == ROWS_MAX || !compile(&row->first, strtok_r(line, "\t", &save)) ||
	    !compile(&row->within, strtok_r(NULL, "\t", &save)))
		die("a known report cannot be read: %s", line);
	row->what = strtok_r(NULL, "\t", &save);
	if (!row->what)
		die("a known report says not what it is: %s", line);
	row->what = strdup(row->what);
	r->n++;
}

struct reports *reports_read(const char *path)
{
	struct reports *r = shared_zeros(sizeof(*r));
	FILE *f = fopen(path, "re");
	char line[1024];

	if (!f)
		die("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] && line[0] != '#')
			add_row(r, line);
	}
	fclose(f);
	return r;
}

static bool any(const regex_t *re, char *const *lines, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!regexec(re, lines[i], 0, NULL, 0))
			return true;
	return false;
}

bool reports_know(struct reports *r, char *const *lines, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strstr(lines[i], OURS))
			return false;
	for (i = 0; i < n; i++)
		if (strstr(lines[i], BENCH))
			n = i;
	for (i = 0; r && i < r->n; i++)
		if (any(&r->row[i].first, lines, 1) && any(&r->row[i].within, lines, n)) {
			r->row[i].seen++;
			return true;
		}
	return false;
}

void reports_tell(const struct reports *r)
{
	size_t i;

	for (i = 0; r && i < r->n; i++)
		if (r->row[i].seen)
			printf("known report, %u times: %s\n", r->row[i].seen, r->row[i].what);
}

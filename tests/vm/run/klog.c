// SPDX-License-Identifier: GPL-2.0-only
/*
 * A dirty kernel log fails a test that passed, except for the lines that the
 * test lists because it provokes them.
 */
#include <stdlib.h>
#include <string.h>

#include "vmrun.h"

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
	"unchecked MSR access",
	"page allocation failure",
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
		len += snprintf(pattern + len, sizeof(pattern) - len, "%s%s",
				i ? "|" : "", dirt[i]);
	if (regcomp(re, pattern, REG_EXTENDED | REG_NOSUB))
		die("the list of dirty log lines is wrong");
}

bool klog_dirty(const char *path, const struct test_case *t, char *line,
		size_t size)
{
	char *text = NULL;
	bool found = false;
	size_t room = 0;
	regex_t re;
	FILE *f;

	f = fopen(path, "re");
	if (!f)
		return false;
	all_dirt(&re);
	while (!found && getline(&text, &room, f) > 0) {
		text[strcspn(text, "\n")] = '\0';
		found = !regexec(&re, text, 0, NULL, 0) && !allowed(text, t);
	}
	if (found)
		snprintf(line, size, "%s", text);
	regfree(&re);
	free(text);
	fclose(f);
	return found;
}

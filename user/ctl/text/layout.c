// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ctl/text/layout.h"
#include "ctl/text/load.h"
#include "shared/array.h"
#include "ctl/text/open.h"
#include "shared/macro.h"

/* Digits behind a name that are a time of day, or more: 112847, 20260203. */
#define TIME_DIGITS 6

const char *const text_names[] = {
	[TEXT_MQDS] = "mqds",
	[TEXT_HQDS] = "hqds",
	[TEXT_RLS] = "rls",
};

static char *below(const char *dir, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		abort();
	return path;
}

static bool exists_in(const char *dir, const char *name)
{
	char *path = below(dir, name);
	struct stat st;
	bool there = !lstat(path, &st);

	free(path);
	return there;
}

bool ctl_is_snapshot(const char *dir)
{
	return exists_in(dir, text_names[TEXT_MQDS]) || exists_in(dir, text_names[TEXT_HQDS]);
}

static bool is_border(char c)
{
	return !isalnum((unsigned char)c);
}

/* A whole word of a name: "hqd" in "baseline_hqd.txt". */
static const char *find_word(const char *name, const char *word)
{
	size_t len = strlen(word);
	const char *at = name;

	for (; (at = strstr(at, word)); at++)
		if ((at == name || is_border(at[-1])) && is_border(at[len]))
			return at;
	return NULL;
}

static enum text_when find_when(const char *name)
{
	if (find_word(name, "baseline") || find_word(name, "before"))
		return TEXT_BEFORE;
	if (find_word(name, "final") || find_word(name, "after"))
		return TEXT_AFTER;
	return TEXT_SAMPLE;
}

static const struct {
	const char *word;
	int role;
} roles[] = {
	{ "mqd", TEXT_MQDS },  { "mqds", TEXT_MQDS }, { "hqd", TEXT_HQDS },
	{ "hqds", TEXT_HQDS }, { "rls", TEXT_RLS },
};

/*
 * "snapshot_mqd_1.txt" is MQDs of "snapshot_1". False: a file of another kind;
 * summaries are what a script made of the text.
 */
static bool take_apart(const char *file, int *role, char **name)
{
	const char *at = NULL;
	size_t i, before, len;
	char *end;

	if (find_word(file, "summary"))
		return false;
	for (i = 0; i < ARRAY_SIZE(roles) && !at; i++) {
		at = find_word(file, roles[i].word);
		if (!at)
			continue;
		*role = roles[i].role;
		len = strlen(roles[i].word);
	}
	if (!at)
		return false;
	before = at - file;
	at += len;
	/* One of the two marks around the word goes with it. */
	if (before)
		before--;
	else if (*at && *at != '.')
		at++;
	if (asprintf(name, "%.*s%s", (int)before, file, at) < 0)
		abort();
	end = strrchr(*name, '.');
	if (end && (!strcmp(end, ".txt") || !strcmp(end, ".log")))
		*end = '\0';
	return true;
}

/* Length of a name without the times behind it. */
static size_t without_time(const char *name)
{
	size_t len = strlen(name), digits;

	for (;;) {
		for (digits = 0; digits < len && isdigit((unsigned char)name[len - 1 - digits]);)
			digits++;
		if (digits < TIME_DIGITS || digits == len || !is_border(name[len - 1 - digits]))
			return len;
		len -= digits + 1;
	}
}

struct moments {
	struct text_moment *items;
	size_t count;
};

static struct text_moment *add_moment(struct moments *moments, const char *dir, const char *name)
{
	struct text_moment *moment = shr_must(shr_add(moments));

	*moment = (struct text_moment){
		.name = shr_must(strdup(name)),
		.dir = shr_must(strdup(dir)),
		.when = find_when(name),
	};
	return moment;
}

static void add_file(struct moments *moments, const char *dir, const char *file)
{
	struct text_moment *moment = NULL;
	int role;
	char *name;
	size_t i;

	if (!take_apart(file, &role, &name))
		return;
	for (i = 0; i < moments->count && !moment; i++)
		if (!moments->items[i].snapshot && !strcmp(moments->items[i].name, name))
			moment = moments->items + i;
	if (!moment)
		moment = add_moment(moments, dir, *name ? name : ".");
	if (!moment->files[role])
		moment->files[role] = shr_must(strdup(file));
	free(name);
}

static void add_snapshot(struct moments *moments, const char *path, const char *name)
{
	struct text_moment *moment = add_moment(moments, path, name);
	size_t i;

	moment->snapshot = true;
	for (i = 0; i < TEXT_FILES; i++)
		moment->files[i] = shr_must(strdup(text_names[i]));
}

static void free_moment(struct text_moment *moment)
{
	size_t i;

	free(moment->name);
	free(moment->dir);
	for (i = 0; i < TEXT_FILES; i++)
		free(moment->files[i]);
}

/* The script read mqds, and hqds a second later: the times differ. */
static bool is_other_half(const struct text_moment *a, const struct text_moment *b)
{
	size_t len = without_time(a->name);

	return a->files[TEXT_MQDS] && !a->files[TEXT_HQDS] && b->files[TEXT_HQDS] &&
	       !b->files[TEXT_MQDS] && !a->snapshot && len == without_time(b->name) &&
	       !strncmp(a->name, b->name, len);
}

/* Those of which there is one half each, and only one such pair. */
static void join_halves(struct moments *moments)
{
	size_t i, j, found, other;

	for (i = 0; i < moments->count; i++) {
		for (j = 0, found = 0, other = 0; j < moments->count; j++)
			if (is_other_half(moments->items + i, moments->items + j)) {
				found++;
				other = j;
			}
		for (j = 0; j < moments->count && found == 1; j++)
			found += j != i &&
				 is_other_half(moments->items + j, moments->items + other);
		if (found != 1)
			continue;
		moments->items[i].files[TEXT_HQDS] = moments->items[other].files[TEXT_HQDS];
		moments->items[other].files[TEXT_HQDS] = NULL;
		free_moment(moments->items + other);
		memmove(moments->items + other, moments->items + other + 1,
			(--moments->count - other) * sizeof(*moments->items));
		i -= other < i;
	}
}

static int compare(const void *a, const void *b)
{
	const struct text_moment *x = a, *y = b;

	if (x->when != y->when)
		return x->when < y->when ? -1 : 1;
	return strverscmp(x->name, y->name);
}

size_t text_moments(const char *dir, struct text_moment **out)
{
	struct moments moments = { NULL, 0 };
	DIR *stream = opendir(dir);
	struct dirent *entry;
	struct stat st;

	while (stream && (entry = readdir(stream))) {
		if (entry->d_name[0] == '.' ||
		    fstatat(dirfd(stream), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISDIR(st.st_mode)) {
			char *path = below(dir, entry->d_name);

			if (ctl_is_snapshot(path))
				add_snapshot(&moments, path, entry->d_name);
			free(path);
		} else {
			add_file(&moments, dir, entry->d_name);
		}
	}
	if (stream)
		closedir(stream);
	join_halves(&moments);
	if (moments.count)
		qsort(moments.items, moments.count, sizeof(*moments.items), compare);
	*out = moments.items;
	return moments.count;
}

void text_moments_free(struct text_moment *moments, size_t count)
{
	while (count)
		free_moment(moments + --count);
	free(moments);
}

struct text_moment *text_moment_snapshot(const char *dir)
{
	struct moments moments = { NULL, 0 };

	add_snapshot(&moments, dir, dir);
	return moments.items;
}

struct text_moment *text_moment_named(const char *word)
{
	const char *slash = strrchr(word, '/');
	const char *name = slash ? slash + 1 : word;
	char *dir = shr_must(slash ? strndup(word, slash - word + 1) : strdup("."));
	struct text_moment *found = NULL;
	struct moments moments;
	size_t i;

	moments.count = text_moments(dir, &moments.items);
	free(dir);
	for (i = 0; i < moments.count; i++)
		if (!strcmp(moments.items[i].name, name))
			break;
	if (i < moments.count) {
		found = shr_must(malloc(sizeof(*found)));
		*found = moments.items[i];
		moments.items[i] = moments.items[--moments.count];
	}
	text_moments_free(moments.items, moments.count);
	return found;
}

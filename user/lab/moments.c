// SPDX-License-Identifier: GPL-2.0-only
/* Moments in a directory: which files of the driver's text belong together, and their order. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "shared/util.h"
#include "load.h"

/* Directories below the given one that are searched: DIR/node1/sample_1/kfd/mqds. */
#define DEPTH 3

const char *const text_names[] = {
	[TEXT_MQDS] = "mqds",
	[TEXT_HQDS] = "hqds",
	[TEXT_RLS] = "rls",
};

/* A file of the driver's text. */
struct part {
	char *file;
	char *shown; /* name of it without its role and its end */
	char *rest;  /* name without its time, too: equal in all parts of a moment */
	unsigned int roles;
	int rank;     /* place of its role in the order in which the script wrote them */
	int64_t time; /* by the name; 0: it has none */
};

struct parts {
	struct part *items;
	size_t count;
};

static char *below(const char *dir, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		abort();
	return path;
}

bool ctl_is_snapshot(const char *dir)
{
	__cleanup_free char *mqds = below(dir, text_names[TEXT_MQDS]);
	__cleanup_free char *hqds = below(dir, text_names[TEXT_HQDS]);
	struct stat st;

	return !strstr(dir, CTL_SNAPSHOT_PART) && (!lstat(mqds, &st) || !lstat(hqds, &st));
}

static bool is_plain(const char *name)
{
	return !strcmp(name, "mqds") || !strcmp(name, "hqds") || !strcmp(name, "rls");
}

/* Find a pattern; @at gets the place of its second part. */
static bool match(const char *pattern, const char *name, regmatch_t *at)
{
	regmatch_t parts[3];
	regex_t regex;
	bool found;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_ICASE))
		abort();
	found = !regexec(&regex, name, ARRAY_SIZE(parts), parts, 0);
	regfree(&regex);
	if (found)
		*at = parts[2];
	return found;
}

#define WORD(words) "(^|[^a-z0-9])(" words ")($|[^a-z0-9])"
/* A date with a time of day, a time of day, or any number of six digits or more. */
#define TIME                                                         \
	"(^|[^0-9])(((19|20)[0-9]{2}[-_.]?[01][0-9][-_.]?[0-3][0-9]" \
	"[-_.T ]?[0-2][0-9][-_.:h]?[0-5][0-9]([-_.:m]?[0-5][0-9])?"  \
	"|[0-2][0-9][:-][0-5][0-9][:-][0-5][0-9]|[0-9]{6,})([.,][0-9]+|[-_][0-9]{9})?)($|[^0-9])"
/* Digits of a time: nanoseconds of seconds since 1970, less one. */
#define TIME_DIGITS 18

static enum text_when find_when(const char *name)
{
	regmatch_t at;

	if (match(WORD("baseline|before"), name, &at))
		return TEXT_BEFORE;
	return match(WORD("final|after"), name, &at) ? TEXT_AFTER : TEXT_SAMPLE;
}

/* Find the time in a name: a number by which times of one kind compare. 0: there is none. */
static int64_t find_time(const char *name, regmatch_t *at)
{
	char digits[TIME_DIGITS + 1] = "";
	size_t n = 0;
	regoff_t i;

	if (!match(TIME, name, at))
		return 0;
	for (i = at->rm_so; i < at->rm_eo && n < TIME_DIGITS; i++)
		if (isdigit((unsigned char)name[i]))
			digits[n++] = name[i];
	while (n < TIME_DIGITS)
		digits[n++] = '0';
	return strtoll(digits, NULL, 10);
}

/* Copy a name without a part of it, and without one of the marks around that. */
static char *without(const char *name, regmatch_t cut)
{
	const char *right = name + cut.rm_eo;
	int left = cut.rm_so;
	bool mark = left && !isalnum((unsigned char)name[left - 1]);
	char *out;

	left -= mark;
	right += *right && !isalnum((unsigned char)*right);
	if (asprintf(&out, "%.*s%s", left + (left && *right && mark), name, right) < 0)
		abort();
	return out;
}

/*
 * Judge a file. NULL: it is the driver's, with these roles by what is in it, or cannot be read,
 * which its reader will report; else a clause why it is passed over.
 */
static const char *judge(const char *dir, const char *name, unsigned int *roles)
{
	size_t len, i, seen = 0;
	char *all = text_read_in(dir, name, &len);
	const struct gp_text_data *d;
	const struct text_guess *guess;
	const char *why = NULL;
	struct gp_text *text;

	if (!all)
		return !is_plain(name) && (errno == ELOOP || errno == EINVAL) ?
			       text_open_error(-errno) :
			       NULL;
	text = gp_text_new();
	d = gp_text_get(text);
	gp_text_feed(text, all, len);
	gp_text_end(text);
	seen = !!(d->n_processes + d->n_queues) << TEXT_MQDS | d->hqds_seen << TEXT_HQDS |
	       !!d->n_packets << TEXT_RLS;
	for (i = 0; i < d->n_nodes; i++)
		seen |= (d->nodes[i].note == GP_TEXT_NO_LIST) << TEXT_RLS;
	guess = text_guess(all, len);
	if (guess)
		why = guess->what;
	else if (d->n_problems && !seen && !d->n_nodes)
		why = "no line of it is what the driver prints";
	else if (d->n_problems > d->known_lines && !is_plain(name))
		why = "most lines of it are not what the driver prints";
	if (seen)
		*roles = seen;
	gp_text_free(text);
	free(all);
	return why;
}

static void pass_over(struct text_moments *out, const char *dir, const char *name, const char *why)
{
	char **line = shr_must(shr_array_add(&out->passed, &out->n_passed, sizeof(*line)));

	if (asprintf(line, "%s/%s is passed over: %s", dir, name, why) < 0)
		abort();
}

/* Take a file with a role in its name. One of another kind that is empty says nothing. */
static void add_part(struct text_moments *out, struct parts *parts, const char *dir,
		     const char *name, bool empty)
{
	char *stem = shr_must(strdup(name));
	struct part part = { .file = stem };
	const char *why = NULL;
	regmatch_t at, end;
	int role;

	if (match("(^|.)(\\.(txt|log|out))$", name, &end))
		stem[end.rm_so] = '\0';
	if (!match("(^|[^a-z])(mqds?|hqds?|rls)($|[^a-z])", stem, &at)) {
		free(stem);
		return;
	}
	role = tolower((unsigned char)stem[at.rm_so]);
	part.roles = 1 << (role == 'm' ? TEXT_MQDS : role == 'h' ? TEXT_HQDS : TEXT_RLS);
	if (match("(^|.)(~|\\.[a-z][^.]*)$", stem + at.rm_eo, &end))
		why = empty ? "" : "the end of its name is that of another kind of file";
	else if (match(WORD("summary"), stem, &end))
		why = "a summary";
	else
		why = judge(dir, name, &part.roles);
	if (why && *why)
		pass_over(out, dir, name, why);
	if (!why) {
		part.file = shr_must(strdup(name));
		part.shown = without(stem, at);
		part.time = find_time(part.shown, &at);
		part.rest = part.time ? without(part.shown, at) : shr_must(strdup(part.shown));
		*(struct part *)shr_must(shr_add(parts)) = part;
	}
	free(stem);
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int ret = strcmp(x->rest, y->rest);

	if (ret)
		return ret;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->rank != y->rank ? x->rank - y->rank : strcmp(x->file, y->file);
}

/* Sort the parts by name and time, those of one time in that order of their roles. */
static void sort_parts(struct parts *parts, const int *order)
{
	size_t i;

	for (i = 0; i < parts->count; i++)
		parts->items[i].rank = order[__builtin_ctz(parts->items[i].roles)];
	qsort(parts->items, parts->count, sizeof(*parts->items), compare_parts);
}

/* Count the parts of the moment that begins at @first: each role once, in their order. */
static size_t moment_parts(const struct parts *parts, const struct part *first)
{
	const struct part *part = first + 1, *end = parts->items + parts->count;
	unsigned int roles = first->roles;

	for (; part < end && !strcmp(part->rest, first->rest) && !(roles & part->roles) &&
	       part->rank > part[-1].rank;
	     part++)
		roles |= part->roles;
	return part - first;
}

/*
 * Sort the parts in the order in which the script wrote its files, one after the other: with it
 * there are the fewest moments, and these are the shortest.
 */
static void put_in_order(struct parts *parts)
{
	static const int orders[][TEXT_FILES] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 2, 0, 1 }, { 1, 2, 0 }, { 2, 1, 0 },
	};
	size_t best = 0, least = SIZE_MAX, i, o, n, len;
	double shortest = 0, sum;

	for (o = 0; o < ARRAY_SIZE(orders); o++) {
		sort_parts(parts, orders[o]);
		for (i = n = 0, sum = 0; i < parts->count; i += len, n++) {
			len = moment_parts(parts, parts->items + i);
			sum += parts->items[i + len - 1].time - parts->items[i].time;
		}
		if (n > least || (n == least && sum >= shortest))
			continue;
		best = o;
		least = n;
		shortest = sum;
	}
	sort_parts(parts, orders[best]);
}

/* Make a moment of some parts in a directory of the name @prefix. A run list alone is none. */
static void add_moment(struct text_moments *out, const char *dir, const char *prefix,
		       const struct part *part, size_t count, bool only)
{
	const char *shown = *part->shown ? part->shown : part->file;
	struct text_moment *moment;
	size_t i;

	if (part->roles == 1 << TEXT_RLS && count == 1) {
		pass_over(out, dir, part->file, "no mqds or hqds is of its moment");
		return;
	}
	moment = shr_must(shr_add(out));
	for (i = 0; i < count; i++)
		moment->files[__builtin_ctz(part[i].roles)] = shr_must(strdup(part[i].file));
	moment->dir = shr_must(strdup(dir));
	moment->name = *prefix && !only ? below(prefix, shown) :
					  shr_must(strdup(*prefix ? prefix : shown));
	moment->when = find_when(moment->name);
}

static void add_moments(struct text_moments *out, struct parts *parts, const char *dir,
			const char *prefix)
{
	size_t i, len;

	if (parts->count)
		put_in_order(parts);
	for (i = 0; i < parts->count; i += len) {
		len = moment_parts(parts, parts->items + i);
		add_moment(out, dir, prefix, parts->items + i, len, len == parts->count);
	}
	for (i = 0; i < parts->count; i++) {
		free(parts->items[i].file);
		free(parts->items[i].shown);
		free(parts->items[i].rest);
	}
	free(parts->items);
}

/* A snapshot's own directories are copies of the host's, and have no moments. */
static void search(struct text_moments *out, const char *dir, const char *prefix, int depth)
{
	int below_it = ctl_is_snapshot(dir) ? 0 : depth;
	DIR *stream = opendir(dir);
	struct parts parts = { 0 };
	struct dirent *entry;
	struct stat st;

	while (stream && (entry = readdir(stream))) {
		const char *name = entry->d_name;
		char *path, *of;

		if (*name == '.' || strstr(name, CTL_SNAPSHOT_PART) ||
		    fstatat(dirfd(stream), name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (!S_ISDIR(st.st_mode) || is_plain(name)) {
			add_part(out, &parts, dir, name, !st.st_size);
		} else if (below_it) {
			path = below(dir, name);
			of = below(prefix, name);
			search(out, path, *prefix ? of : name, depth - 1);
			free(of);
			free(path);
		}
	}
	if (stream)
		closedir(stream);
	add_moments(out, &parts, dir, prefix);
}

static int compare_moments(const void *a, const void *b)
{
	const struct text_moment *x = a, *y = b;

	if (x->when != y->when)
		return x->when < y->when ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return strverscmp(x->name, y->name);
}

void text_moments_find(const char *dir, struct text_moments *out)
{
	bool timed = true;
	regmatch_t at;
	size_t i;

	*out = (struct text_moments){ 0 };
	if (!strstr(dir, CTL_SNAPSHOT_PART))
		search(out, dir, "", DEPTH);
	for (i = 0; i < out->count; i++) {
		out->items[i].time = find_time(out->items[i].name, &at);
		timed &= out->items[i].time != 0;
	}
	for (i = 0; i < out->count && !timed; i++)
		out->items[i].time = 0;
	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), compare_moments);
}

void text_moments_note(const struct text_moments *moments)
{
	size_t i;

	for (i = 0; i < moments->n_passed; i++)
		ctl_note("%s", moments->passed[i]);
}

void text_moments_free(struct text_moments *moments)
{
	size_t i, j;

	for (i = 0; i < moments->count; i++) {
		for (j = 0; j < TEXT_FILES; j++)
			free(moments->items[i].files[j]);
		free(moments->items[i].name);
		free(moments->items[i].dir);
	}
	for (i = 0; i < moments->n_passed; i++)
		free(moments->passed[i]);
	free(moments->items);
	free(moments->passed);
}

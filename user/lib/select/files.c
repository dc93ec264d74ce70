// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What was read in files that name containers, kept: guard asks for each
 * process many times a second. And bounds on what a user can make it cost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/select/select.h"
#include "shared/clock.h"

#define FILES	  128 /* the least used makes room */
#define USERS	  16
#define MAX_NAMES 4096

/* How old an answer may be, and one that has not what is looked for. */
#define FRESH_NS   NSEC_PER_SEC
#define MISSING_NS (200 * NSEC_PER_MSEC)
/* A user whose files do not answer is not asked again for so long. */
#define QUIET_NS (60 * NSEC_PER_SEC)
/* All users' files together may take so much time out of each period. */
#define PERIOD_NS (10 * NSEC_PER_SEC)
#define SPENT_NS  NSEC_PER_SEC

struct file {
	char *path; /* NULL: free */
	uid_t uid;
	struct gp_file_id id;
	uint64_t looked_ns; /* when it was read last; 0: not yet */
	struct gp_names names;
};

struct gp_files {
	struct file file[FILES];
	struct {
		uid_t uid;
		uint64_t until_ns;
	} quiet[USERS];
	uint64_t period_ns; /* since when spent_ns counts */
	uint64_t spent_ns;
};

struct gp_files *gp_files_new(void)
{
	return calloc(1, sizeof(struct gp_files));
}

static void clear_names(struct gp_names *names)
{
	free(names->list);
	*names = (struct gp_names){ 0 };
}

static void clear_file(struct file *f)
{
	clear_names(&f->names);
	free(f->path);
	*f = (struct file){ 0 };
}

void gp_files_free(struct gp_files *files)
{
	size_t i;

	for (i = 0; files && i < FILES; i++)
		clear_file(&files->file[i]);
	free(files);
}

void gp_names_add(struct gp_names *names, const char *key, const char *name)
{
	struct gp_name *bigger = names->list;

	if (names->count == MAX_NAMES)
		return;
	/* Whenever the count is a power of two. */
	if (!(names->count & (names->count - 1))) {
		size_t room = names->count ? 2 * names->count : 1;

		bigger = realloc(names->list, room * sizeof(*bigger));
		if (!bigger)
			return;
		names->list = bigger;
	}
	snprintf(bigger[names->count].key, sizeof(bigger->key), "%s", key);
	snprintf(bigger[names->count].name, sizeof(bigger->name), "%s", name);
	names->count++;
}

const char *gp_names_find(const struct gp_names *names, const char *key)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		if (!strcmp(names->list[i].key, key))
			return names->list[i].name;
	return NULL;
}

static bool is_quiet(const struct gp_files *files, uid_t uid, uint64_t now)
{
	size_t i;

	for (i = 0; i < USERS; i++)
		if (files->quiet[i].uid == uid &&
		    files->quiet[i].until_ns > now)
			return true;
	return false;
}

/* In the place of the one whose time ends first. */
static void set_quiet(struct gp_files *files, uid_t uid, uint64_t now)
{
	size_t i, first = 0;

	for (i = 1; i < USERS; i++)
		if (files->quiet[i].until_ns < files->quiet[first].until_ns)
			first = i;
	files->quiet[first].uid = uid;
	files->quiet[first].until_ns = now + QUIET_NS;
}

static bool may_ask(struct gp_files *files, uid_t uid, uint64_t now)
{
	if (!uid)
		return true;
	if (now - files->period_ns >= PERIOD_NS) {
		files->period_ns = now;
		files->spent_ns = 0;
	}
	return files->spent_ns < SPENT_NS && !is_quiet(files, uid, now);
}

static struct file *find_file(struct gp_files *files,
			      const struct gp_place *place)
{
	struct file *f, *oldest = &files->file[0];
	char path[512];
	size_t i;

	snprintf(path, sizeof(path), "%s/%s", place->base, place->path);
	for (i = 0; i < FILES; i++) {
		f = &files->file[i];
		if (f->path && f->uid == place->uid && !strcmp(f->path, path))
			return f;
		if (f->looked_ns < oldest->looked_ns)
			oldest = f;
	}
	clear_file(oldest);
	oldest->uid = place->uid;
	oldest->path = strdup(path);
	return oldest->path ? oldest : NULL;
}

/* Is that certain, and not only of this moment? */
static bool is_definite(ssize_t n)
{
	return n >= 0 || n == -ENOENT || n == -ENOTDIR || n == -EACCES ||
	       n == -ELOOP || n == -EINVAL || n == -EFBIG || n == -EXDEV;
}

static void take_text(struct file *f, ssize_t n, char *buf,
		      gp_parse_names *parse)
{
	clear_names(&f->names);
	if (n < 0) {
		f->id = (struct gp_file_id){ 0 };
		return;
	}
	buf[n] = '\0';
	parse(buf, n, &f->names);
}

/* What does not answer keeps the names that it had. */
static void refresh(const struct gpreempt *g, const struct gp_place *place,
		    struct file *f, gp_parse_names *parse)
{
	struct gp_files *files = g->files;
	uint64_t start = shr_now_ns(), now;
	__cleanup_free char *buf = NULL;
	ssize_t n;

	if (!may_ask(files, place->uid, start))
		return;
	buf = malloc(GP_PLACE_MAX + 1);
	if (!buf)
		return;
	n = g->ops->read_place(g->be, place, &f->id, buf, GP_PLACE_MAX);
	now = shr_now_ns();
	f->looked_ns = now;
	if (place->uid)
		files->spent_ns += now - start;
	if (n == -ETIMEDOUT || n == -EBUSY) {
		set_quiet(files, place->uid, now);
		gp_log(g,
		       "%s of user %u does not answer: names of containers in it are not known",
		       f->path, place->uid);
	} else if (is_definite(n)) {
		take_text(f, n, buf, parse);
	}
}

const struct gp_names *gp_place_names(const struct gpreempt *g,
				      const struct gp_place *place,
				      gp_parse_names *parse, const char *key)
{
	static const struct gp_names none;
	struct file *f = find_file(g->files, place);
	uint64_t age;

	if (!f)
		return &none;
	age = shr_now_ns() - f->looked_ns;
	if (!f->looked_ns ||
	    age >= (key && gp_names_find(&f->names, key) ? FRESH_NS :
							   MISSING_NS))
		refresh(g, place, f, parse);
	return &f->names;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The moments that a directory has: snapshots of gpreempt-ctl, which are
 * directories, or pairs of files whose names differ only in mqd and hqd, as
 * scripts write them ("baseline_mqd.txt", "hqd_during_20260203_120005.txt").
 */
#ifndef CTL_TEXT_LAYOUT_H
#define CTL_TEXT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

/* When: by the words baseline and before, final and after in the name. */
enum text_when {
	TEXT_BEFORE,
	TEXT_SAMPLE,
	TEXT_AFTER,
};

/* The driver's files, and their names. */
enum {
	TEXT_MQDS,
	TEXT_HQDS,
	TEXT_RLS,
	TEXT_FILES,
};

extern const char *const text_names[TEXT_FILES];

struct text_moment {
	char *name;
	char *dir;		 /* where the files are */
	char *files[TEXT_FILES]; /* names there; NULL: there is none */
	bool snapshot;		 /* ids are there, too */
	enum text_when when;
};

/* Is the directory a snapshot? */
bool ctl_is_snapshot(const char *dir);

/*
 * The moments in it, in the order of time as their names say it, for text_moments_free().
 */
size_t text_moments(const char *dir, struct text_moment **out);
void text_moments_free(struct text_moment *moments, size_t count);

/* One, for text_moments_free() with a count of 1: a directory that is a snapshot. */
struct text_moment *text_moment_snapshot(const char *dir);
/* "DIR/NAME", which need not be a file: that moment of a directory, or NULL. */
struct text_moment *text_moment_named(const char *word);

#endif

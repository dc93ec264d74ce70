/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes that a TARGET word names now, and child processes that look for the
 * words that may take long.
 *
 * Guard looks for a PID and a name (comm:) itself. The other words take longer: how
 * long, the users of the host decide. A role is looked up in each level of a cgroup
 * (role:), the cgroups of all processes are read (cgroup:, user:), the name of a container
 * is in a file on a disk (container:), and a command line (cmd:) is in the memory of a
 * process, which can map it from a file that never answers. A child does that. If it
 * hangs, guard kills it, keeps the processes that it has found before, and starts
 * another one later. Words that can hang have a child of their own.
 */
#ifndef GUARD_FINDER_H
#define GUARD_FINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gpreempt/select.h>

#include "agent/holder-lock.h"

/* Of one word: those with queues first. The processes of guard lock what it takes. */
#ifndef GUARD_FOUND_MAX
#define GUARD_FOUND_MAX 4096
#endif
#define GUARD_FINDER_WORDS 128
#define GUARD_FINDER_STUCK 4 /* children that even SIGKILL does not end */

/* How looking for one word went. */
struct guard_finding {
	/*
	 * 0: as listed, also when that is none. -EEXIST: the name is that of
	 * several containers, whose processes are listed. -EINPROGRESS: not
	 * looked for yet. Any other -errno: it failed.
	 */
	int code;
	size_t n;
	struct gpreempt_target target[GUARD_FOUND_MAX];
	char text[512]; /* why, if there is a code, or not all are listed */
};

/* Which child looks for a word. */
enum guard_word_kind {
	GUARD_WORD_SLOW,
	GUARD_WORD_HANGS, /* it can */
	GUARD_WORD_QUICK, /* none: it is looked for here */
};
#define GUARD_FINDERS GUARD_WORD_QUICK

enum guard_word_kind guard_word_kind(const char *word);

/* A word, in its role. */
struct guard_sought {
	const char *word;
	bool online; /* then none in doubt is meant: lib/select/words.h */
};

/* Look for one word, here and now; skip as for gpreempt_select(). */
void guard_find_word(struct gpreempt *g, struct guard_sought what,
		     bool (*skip)(void *data, pid_t pid), void *data, struct guard_finding *out);

struct guard_finder_memory;

struct guard_finder {
	struct gpreempt *g;
	struct guard_sought sought[GUARD_FINDER_WORDS];
	size_t n;
	struct guard_finder_memory *memory; /* NULL: not started */
	struct guard_finding *last;	    /* what is known, for each word */
	int wake;			    /* eventfd: look again */
	pid_t child;			    /* 0: none now */
	pid_t stuck[GUARD_FINDER_STUCK];
	size_t n_stuck;
	size_t first;	  /* word that a new child begins with */
	uint64_t pace_ns; /* how often the child looks for each word at most */
	uint64_t asked_ns;
	uint64_t retry_ns; /* no new child before */
};

/* Words up to n are set. 0 or -errno; without words there is nothing to do. */
int guard_finder_start(struct guard_finder *f, struct gpreempt *g);
/* Take results, notice a child that hangs or has ended. Never waits. */
void guard_finder_poll(struct guard_finder *f);
/* NULL: the word is not the finder's, or it was not started. */
const struct guard_finding *guard_finder_get(const struct guard_finder *f,
					     struct guard_sought what);
void guard_finder_stop(struct guard_finder *f);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the user has chosen, and what is asked for: keys in, requests out. Nothing here
 * reads the system or draws.
 */
#ifndef CTL_TOP_VIEW_H
#define CTL_TOP_VIEW_H

#include "ctl/top/model.h"

enum top_mode {
	TOP_MODE_LIST,
	TOP_MODE_FILTER,  /* a pattern is typed */
	TOP_MODE_DETAILS, /* of the process that is selected */
	TOP_MODE_HELP,
	TOP_MODE_SIGNAL, /* which one? */
	TOP_MODE_CONFIRM,
};

enum top_verb {
	TOP_DO_NOTHING,
	TOP_DO_SUSPEND,
	TOP_DO_RESUME,
	TOP_DO_SIGNAL,
};

struct top_request {
	enum top_verb verb;
	int64_t pid;
	uint64_t start; /* with pid its identity */
	int signal;
	char command[128]; /* as the process has it, perhaps cut */
};

struct top_view {
	bool utf8; /* the terminal's */
	bool root;
	bool paused;
	bool quit;
	uint64_t delay_ns;
	enum top_mode mode;
	size_t column; /* that it is sorted by */
	bool inverted;
	enum top_tree tree;
	int64_t gpu_id; /* that alone; 0: all */
	char filter[64];
	int64_t pid;		  /* that is selected; 0: none, as a heading is */
	size_t line;		  /* of it */
	bool moved;		  /* the selection stays at its process, not at its line */
	size_t page;		  /* lines that were drawn of the list */
	size_t above;		  /* lines of a long page that stand above the screen */
	struct top_request asked; /* in TOP_MODE_SIGNAL and TOP_MODE_CONFIRM */
	struct top_request ready; /* to be done; the caller takes it */
	char status[256];	  /* in the last line, until the next key */
};

#define TOP_SHORTEST_NS 100000000ULL /* from one refresh to the next */
#define TOP_LONGEST_NS	3600000000000ULL

void top_view_init(struct top_view *v);

/* A key: a character, or one of enum top_key_code. Afterwards top_view_settle(). */
void top_view_key(struct top_view *v, const struct top_model *m, int code);

/* Arrange the lines as is chosen; and find the selection. 0 or -ENOMEM. */
int top_view_settle(struct top_view *v, struct top_model *m);

/* A signal's name, without SIG. */
const char *top_signal_name(int signal);

#endif

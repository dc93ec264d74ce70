/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Model of top: processes, GPUs and their history, which top-model.c has copied from the
 * sampler. Nothing here reads the system.
 */
#ifndef CTL_TOP_H
#define CTL_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <wchar.h>

#include <gpreempt/observe.h>

#include "cli/table.h"
#include "shared/util.h"
#include "figures.h"

#define TOP_HISTORY 128 /* refreshes that are kept */
#define TOP_NOTHING 255 /* no percentage: it was not known */

/* How busy something was in the last refreshes, in percent. */
struct top_history {
	uint8_t percent[TOP_HISTORY]; /* a ring */
	unsigned int count;	      /* values that were put in */
};

/* A process on a GPU. A number that is not known is GPREEMPT_UNKNOWN. */
struct top_figure {
	struct gp_figure is; /* record of the sampler; its gpu_id is first */
	int64_t gpu;	     /* its index */
	int64_t busy;	     /* in tenths of a percent */
	const char *method;
	int64_t looks;
	int64_t suspended_ms;
	int64_t holds;
	struct top_history history;
};

/* A process. The numbers that its GPUs have are their sums: see top_arrange(). */
struct top_process {
	int64_t pid;
	uint64_t start;
	char user[64];
	char gpu[32]; /* the index, or "8 GPUs" */
	int64_t busy;
	const char *method;
	int64_t queues;
	int64_t waves;
	int64_t slots_held; /* part of the slots that its queues take, in tenths of % */
	int64_t vram;
	int64_t evicted_ms;
	int64_t suspended_ms;
	int64_t holds;
	const char *state;
	int64_t held_by;
	char held_as[64];
	const char *how;
	char container[128];
	char cgroup[256];
	char pod_uid[40];
	char job[24];
	char tenant[256];		    /* set by top_gather_tenants() */
	char *command;			    /* its own; others' bytes as all texts here */
	SHR_ARRAY(struct top_figure, gpus); /* its own; by gpu_id */
	struct top_history history;	    /* history of the busiest GPU */
};

struct top_gpu {
	struct gp_gpu_figures is; /* record of the sampler; waves: unknown without looks */
	int64_t gpu;		  /* its index */
	int64_t busy;
	const char *method;
	int64_t looks;
	int64_t processes; /* processes that have queues or memory there */
	struct top_history history;
};

/* A queue on the process's page, with the columns that are texts. */
struct top_queue {
	struct gpreempt_queue q;
	int64_t gpu; /* index of its GPU */
	const char *type;
	char state[96];
};

/* Kinds of groups of processes. */
enum top_tree {
	TOP_FLAT,
	TOP_BY_CGROUP,
	TOP_BY_CONTAINER,
	TOP_BY_POD,
	TOP_BY_TENANT, /* tenant of the guard that runs */
	TOP_TREES
};

/* A line of the list: a process, or the heading of a group. */
struct top_line {
	const struct top_process *process; /* NULL: a heading */
	const char *group;
	size_t members; /* processes in the group */
	int64_t busy;	/* sum of the group */
};

struct top_model {
	SHR_ARRAY(struct top_process, processes); /* by PID */
	SHR_ARRAY(struct top_gpu, gpus);	  /* in KFD's order */
	SHR_ARRAY(struct top_line, lines);	  /* set by top_arrange() */
	/* the parts that cannot be seen, and why; NULL: none */
	char *missing;
	bool simulated;
	uint64_t looks; /* looks in the last interval */
	uint64_t all_looks;
	SHR_ARRAY(struct top_queue, queues); /* queues of the process that has a page */
};

void top_model_clear(struct top_model *m);
void top_process_clear(struct top_process *p);

/* busy: in tenths of a percent. */
void top_history_add(struct top_history *h, int64_t busy);
/* Returns the value of so many refreshes ago, or TOP_NOTHING. */
unsigned int top_history_at(const struct top_history *h, unsigned int ago);

const struct top_process *top_find(const struct top_model *m, int64_t pid);

/* Choices and requests of the user: keys in, requests out. Nothing here reads or draws. */

enum top_mode {
	TOP_MODE_LIST,
	TOP_MODE_FILTER,  /* a pattern is typed */
	TOP_MODE_DETAILS, /* page of the selected process */
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
	char command[128]; /* command line of the process, perhaps cut */
};

struct top_view {
	bool utf8; /* the terminal's */
	bool root;
	bool paused;
	bool quit;
	uint64_t delay_ns;
	enum top_mode mode;
	size_t column; /* sorted by this column */
	bool inverted;
	enum top_tree tree;
	int64_t gpu_id; /* only this GPU; 0: all */
	char filter[64];
	int64_t pid;		  /* selected process; 0: none, as on a heading */
	size_t line;		  /* line of the selection */
	bool moved;		  /* the selection stays at its process, not at its line */
	size_t page;		  /* lines that were drawn of the list */
	size_t above;		  /* lines of a long page that stand above the screen */
	size_t length;		  /* lines that it has */
	struct top_request asked; /* in TOP_MODE_SIGNAL and TOP_MODE_CONFIRM */
	struct top_request ready; /* to be done; the caller takes it */
	char status[1024];	  /* in the last lines, until the next key */
};

#define TOP_SHORTEST_NS 100000000ULL /* from one refresh to the next */
#define TOP_LONGEST_NS	3600000000000ULL

void top_view_init(struct top_view *v);

/* A key: a character, or one of enum top_key_code. Afterwards top_view_settle(). */
void top_view_key(struct top_view *v, const struct top_model *m, int code);

/* Add up figures, and make the lines as is chosen. */
void top_arrange(struct top_model *m, const struct top_view *v);

/* Arrange the lines, and find the selection. */
void top_view_settle(struct top_view *v, struct top_model *m);

/* A signal's name, without SIG. */
const char *top_signal_name(int signal);

struct top_args {
	uint64_t batch;
	struct out_form form;
	uint64_t count;	   /* refreshes; 0: no limit */
	uint64_t delay_ns; /* from one to the next */
	uint64_t looks_ns; /* from one look to the next; 0: as 1 % of a CPU allows */
};

struct top {
	const struct top_args *args;
	struct ctl_sampler sampler;
	struct top_model model;
	struct top_view view;
	int stop; /* readable after Ctrl-C and its like, and when the size changes */
};

/*
 * Table of columns: the heading, --batch, the keys of JSON, --help, the manual and the screen's
 * own help are made of it.
 */

/*
 * FIELD(member, its name for programs, heading, kind, width, rank, in the help, more)
 * and DRAWN for what only the screen has. The column of the highest rank is left out
 * first where the terminal is narrow. A width of 0: what is left.
 */
/* clang-format off */
#define TOP_COLUMNS(FIELD, DRAWN) \
	FIELD(pid, "pid", "PID", OUT_DEC, 7, 0, \
	      "  PID        the process\n") \
	FIELD(user, "user", "USER", OUT_TEXT, 9, 3, \
	      "  USER       its real user\n", .array = true) \
	FIELD(gpu, "gpu", "GPUS", OUT_TEXT, 7, 5, \
	      "  GPUS       its GPU, or the number of GPUs that it uses\n", .array = true) \
	FIELD(busy, "busy_percent", "BUSY%", OUT_SHARE, 6, 0, \
	      "  BUSY%      part of the looks in which it was busy, all its GPUs added up\n") \
	FIELD(method, "method", "METHOD", OUT_TEXT, 7, 8, \
	      "  METHOD     how that was seen: by waves, or by packets that wait in slots\n") \
	DRAWN("HISTORY", 10, 7, \
	      "  HISTORY    BUSY% of its busiest GPU in the last refreshes\n") \
	FIELD(queues, "queues", NULL, OUT_DEC, 0, 0, "") \
	FIELD(waves, "waves", "WAVES", OUT_DEC, 6, 6, \
	      "  WAVES      waves in flight at the last look\n") \
	FIELD(slots_held, "slots_percent", "SLOT%", OUT_TENTHS, 6, 9, \
	      "  SLOT%      part of the slots that its queues take, which hold them\n") \
	FIELD(vram, "vram", "VRAM", OUT_SIZE, 10, 2, \
	      "  VRAM       GPU memory that it has allocated\n") \
	FIELD(evicted_ms, "evicted_ms", "EVICT-MS", OUT_DEC, 9, 11, \
	      "  EVICT-MS   time that the driver kept its queues off the GPU, in ms\n") \
	FIELD(suspended_ms, "suspended_ms", "SUSP-MS", OUT_DEC, 8, 10, \
	      "  SUSP-MS    time that all its queues were seen suspended, in ms\n") \
	FIELD(holds, "holds", "HOLDS", OUT_DEC, 5, 13, \
	      "  HOLDS      how many times they were seen to become suspended or evicted\n") \
	FIELD(state, "state", "STATE", OUT_WORD, 10, 1, \
	      "  STATE      as \"gpreempt-ctl list\" has it; \"paused\": the whole process is\n") \
	FIELD(held_by, "held_by", "HELD-BY", OUT_DEC, 7, 4, \
	      "  HELD-BY    the process that holds or debugs it\n", .spare = true) \
	FIELD(held_as, "held_as", "AS", OUT_TEXT, 8, 6, \
	      "  AS         the command that this is, or the debugger's name\n", \
	      .array = true, .spare = true) \
	FIELD(how, "how", NULL, OUT_TEXT, 0, 0, "") \
	FIELD(container, "container", "CONTAINER", OUT_TEXT, 12, 6, \
	      "  CONTAINER  the container that it is in\n", .array = true, .spare = true) \
	FIELD(pod_uid, "pod_uid", "POD", OUT_TEXT, 12, 12, \
	      "  POD        the uid of its pod\n", .array = true, .spare = true) \
	FIELD(job, "job", "JOB", OUT_TEXT, 8, 6, \
	      "  JOB        its job of Slurm\n", .array = true, .spare = true) \
	FIELD(cgroup, "cgroup", NULL, OUT_TEXT, 0, 0, "", .array = true) \
	FIELD(command, "command", "COMMAND", OUT_TEXT, 0, 0, \
	      "  COMMAND    its command line\n", .cut = true)

#define TOP_HELP_OF(member, key, title, kind, width, rank, help, ...) help
#define TOP_HELP_OF_DRAWN(title, width, rank, help)		      help
/* Help on the columns, as one string. */
#define TOP_COLUMNS_HELP TOP_COLUMNS(TOP_HELP_OF, TOP_HELP_OF_DRAWN)
/* clang-format on */

struct top_column {
	const struct out_field *field; /* NULL: it is the history */
	const char *title;	       /* NULL: the screen does not show it */
	int width;
	int rank;
};

#define TOP_COUNT(...) 1 +
#define TOP_N_COLUMNS  ((size_t)(TOP_COLUMNS(TOP_COUNT, TOP_COUNT) 0))

extern const struct top_column top_columns[TOP_N_COLUMNS];
extern const size_t top_column_busy, top_column_vram, top_column_pid;

/* Processes; the GPUs and the queues of one; GPUs. */
extern const struct out_table top_processes, top_figures, top_queues, top_gpus;

/*
 * Copy the sampler's facts since the last time, one point of the history, and begin its next
 * interval. Call it after ctl_sampler_refresh().
 */
void top_gather(struct top_model *m, struct ctl_sampler *s);

/* Read the queues of that process for its page. */
void top_gather_queues(struct top_model *m, const struct gp_figures *f, int64_t pid);

/* Ask the guard that runs which tenant has which process. 0 or -errno: -ENOENT: there is none. */
int top_gather_tenants(struct top_model *m);

/* Table of keys: their actions, --help, the manual and the help on the screen are made of it. */

/* Keys that are no characters; top-term.c has the terminal's codes for them. */
enum top_key_code {
	TOP_KEY_NONE = 0,
	TOP_KEY_ENTER = '\n',
	TOP_KEY_ESCAPE = 0x1b,
	TOP_KEY_UP = 0x200000, /* no character has such a number */
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_BACKSPACE,
	TOP_KEY_F1,
	TOP_KEY_F4 = TOP_KEY_F1 + 3,
	TOP_KEY_F5,
	TOP_KEY_F6,
	TOP_KEY_F9 = TOP_KEY_F1 + 8,
	TOP_KEY_F10,
};

/* ROW(action, codes, up to three, in the help) */
/* clang-format off */
#define TOP_KEYS(ROW) \
	ROW(TOP_UP, (TOP_KEY_UP), \
	    "  Up             the process above\n") \
	ROW(TOP_DOWN, (TOP_KEY_DOWN, 'j'), \
	    "  Down j         the process below\n") \
	ROW(TOP_PAGE_UP, (TOP_KEY_PAGE_UP), \
	    "  PgUp           one page up\n") \
	ROW(TOP_PAGE_DOWN, (TOP_KEY_PAGE_DOWN), \
	    "  PgDn           one page down\n") \
	ROW(TOP_HOME, (TOP_KEY_HOME), \
	    "  Home           the first process\n") \
	ROW(TOP_END, (TOP_KEY_END), \
	    "  End            the last process\n") \
	ROW(TOP_DETAILS, (TOP_KEY_ENTER, '\r'), \
	    "  Enter          GPUs, history and queues of the process; Esc goes back\n") \
	ROW(TOP_FILTER, ('/', TOP_KEY_F4, '\\'), \
	    "  / F4           show the processes that have a text; Esc shows all\n") \
	ROW(TOP_CYCLE_TREE, ('t', TOP_KEY_F5), \
	    "  t F5           group by cgroup, by container, by pod, or not\n") \
	ROW(TOP_TENANTS, ('T'), \
	    "  T              group by tenant of guard, with its GPU time, or not (root)\n") \
	ROW(TOP_CYCLE_GPU, ('g'), \
	    "  g              one GPU, the next one, or all\n") \
	ROW(TOP_SORT_BEFORE, ('<', ','), \
	    "  < ,            sort by the column to the left\n") \
	ROW(TOP_SORT_NEXT, ('>', '.', TOP_KEY_F6), \
	    "  > . F6         sort by the column to the right\n") \
	ROW(TOP_SORT_BUSY, ('P'), \
	    "  P              sort by BUSY%\n") \
	ROW(TOP_SORT_VRAM, ('M'), \
	    "  M              sort by VRAM\n") \
	ROW(TOP_SORT_PID, ('N'), \
	    "  N              sort by PID\n") \
	ROW(TOP_INVERT, ('I', 'R'), \
	    "  I R            turn the order around\n") \
	ROW(TOP_FASTER, ('-'), \
	    "  -              half the time from one refresh to the next\n") \
	ROW(TOP_SLOWER, ('+', '='), \
	    "  + =            twice that time\n") \
	ROW(TOP_PAUSE, ('p', 'Z', ' '), \
	    "  p Z Space      keep the screen as it is, and go on\n") \
	ROW(TOP_SUSPEND, ('s'), \
	    "  s              suspend the process until it is resumed (asks; root)\n") \
	ROW(TOP_RESUME, ('r'), \
	    "  r              resume it (asks; root)\n") \
	ROW(TOP_SIGNAL, ('k', TOP_KEY_F9), \
	    "  k F9           send it a signal (asks; root)\n") \
	ROW(TOP_HELP, ('?', 'h', TOP_KEY_F1), \
	    "  ? h F1         help\n") \
	ROW(TOP_QUIT, ('q', TOP_KEY_F10), \
	    "  q F10 Ctrl-C   quit\n")

#define TOP_KEYS_NAME(action, codes, help) action,
enum top_action { TOP_KEYS(TOP_KEYS_NAME) TOP_ACTIONS };

#define TOP_KEYS_HELP_OF(action, codes, help) help
/* Help on the keys, as one string. */
#define TOP_KEYS_HELP TOP_KEYS(TOP_KEYS_HELP_OF)
/* clang-format on */

/* A screen of cells, which no terminal has to be there for. */

/* Looks of a cell; top-term.c has the terminal's form of each. */
enum top_look {
	TOP_PLAIN,
	TOP_STRONG,
	TOP_FAINT,
	TOP_HEADING,
	TOP_SELECTED,
	TOP_GOOD,
	TOP_WARNING,
	TOP_LOOKS
};

struct top_cell {
	wchar_t text[4]; /* a character and its combining ones; "": see left */
	uint32_t look;	 /* enum top_look */
};

struct top_screen {
	int width;
	int height;
	bool utf8;		/* else ASCII alone */
	struct top_cell *cells; /* line by line */
};

/* Make all of it blank, in another size perhaps. */
void top_screen_resize(struct top_screen *s, int width, int height);
void top_screen_free(struct top_screen *s);

/* Print "GPU 0", or "GPU 0x7d63" without an index. */
void top_gpu_name(int64_t index, int64_t gpu_id, char *buf, size_t size);

/* Screen as a function of the model, the user's choices, and its size. */

/*
 * Draw the whole screen. The lines of m are those of top_view_settle(). v gets the length of a
 * page of the list, and how far a long page can be moved.
 */
void top_draw(struct top_screen *s, const struct top_model *m, struct top_view *v);

/* Terminal, by ncurses, which no other file uses. */

/*
 * Take the terminal. 0, or the exit status after an error message. A process that ends
 * by top_term_close() or by a crash leaves the terminal as it was.
 */
int top_term_open(const struct out_form *form);
void top_term_close(void);

/* Get the terminal's present size. */
void top_term_size(int *width, int *height);
/* Set the terminal's new size. */
void top_term_resize(int width, int height);
/* Show the cells. before: the cells on the terminal; with another size all is drawn. */
void top_term_draw(const struct top_screen *s, const struct top_screen *before);
/* The next key that was pressed, or TOP_KEY_NONE; does not wait. */
int top_term_key(void);

#endif

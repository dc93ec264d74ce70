/* SPDX-License-Identifier: GPL-2.0-only */
/* A trial of gpreempt on a host: stages, what they found, and the file that outlives a crash. */
#ifndef TRIAL_TRIAL_H
#define TRIAL_TRIAL_H

#include <json-c/json.h>

#include <gpreempt/gpreempt.h>

#include "cli/program.h"
#include "cli/table.h"
#include "lib/see/words.h"
#include "shared/util.h"

/* Claims of ours that a trial tries, in the order of the page. */
enum trial_claim {
	TRIAL_SUSPENDS,
	TRIAL_OFF,
	TRIAL_PAUSES,
	TRIAL_ONCE,
	TRIAL_REGISTERS,
	TRIAL_SLOTS,
	TRIAL_TEXT,
	TRIAL_WAVES,
	TRIAL_FOLLOWS,
	TRIAL_OTHERS,
	TRIAL_QUIET,
	TRIAL_CLEAN,
	TRIAL_CLAIMS,
};

/* A line of the page: a claim. */
struct trial_verdict {
	const char *verdict; /* "holds", "does not hold" or "not tried" */
	int64_t tried, held; /* true in so many of them */
	const char *claim, *how;
};

enum trial_result {
	TRIAL_LEFT_OUT, /* by the user's choice */
	TRIAL_DONE,
	TRIAL_FAILED,
	TRIAL_INTERRUPTED,
	TRIAL_HUNG,  /* in an earlier run: it did not end */
	TRIAL_LACKS, /* something that this host or this build has not */
	TRIAL_RESULTS,
};

struct trial;
struct trial_setup;
struct trial_work;

struct trial_stage {
	const char *name;
	const char *what;
	bool asks;
	unsigned int limit_s;
	const struct trial_setup *setups; /* a load of each of these sizes */
	size_t n;
	/*
	 * Act beside a load for up to ns, and put the figures into run. TRIAL_DONE, or why not.
	 * NULL: the stage has no load.
	 */
	enum trial_result (*act)(struct trial *t, const struct trial_stage *stage,
				 const struct trial_work *w, uint64_t ns, struct json_object *run);
	const char *how; /* method of preempt */
	uint64_t cycles;
};

#define TRIAL_STAGES 9
extern const struct trial_stage trial_stages[TRIAL_STAGES];

/* Take "0-3,8" apart: a bit for each stage. 0 or -EINVAL. */
int trial_parse_stages(const char *text, unsigned int *stages);

/*
 * The state file: stages that began and have not ended, as --stages has them. It is on the disk
 * before a stage begins.
 */
#ifndef TRIAL_DIR
#define TRIAL_DIR "/var/lib/gpreempt"
#endif
#define TRIAL_STATE TRIAL_DIR "/trial"

/* A bit for each stage in the text, which need not be terminated. -EPROTO: it is none of ours. */
int trial_state_parse(const char *text, size_t len, unsigned int *open);
/* 0, also when there is no file, or -errno. */
int trial_state_read(unsigned int *open);
/* On the disk when it returns. Without an open stage there is no file. 0 or -errno. */
int trial_state_write(unsigned int open);

/* A line of the page: a stage, and what it found. */
struct trial_line {
	enum trial_result code;
	int64_t stage, time; /* ns, unknown: it did not begin */
	const char *name, *result;
	char why[256];
	struct json_object *runs;
	struct json_object *log; /* events of the kernel's log; NULL: it could not be read */
};

/* Findings of a trial on one GPU. */
struct trial_gpu {
	struct trial_line stages[TRIAL_STAGES];
	struct trial_verdict claims[TRIAL_CLAIMS];
	char gfx[16];
};

/* Begin with all stages left out and no claim tried. */
void trial_begin(struct trial_gpu *gpu);
void trial_set_result(struct trial_line *line, enum trial_result code);
void trial_count(struct trial_gpu *gpu, enum trial_claim claim, int64_t tried, int64_t held);

struct trial {
	struct gpreempt *g;
	size_t place; /* number of the GPU, in KFD's order */
	struct gpreempt_node node;
	const char *load, *lab; /* paths of gpreempt-load and gpreempt-lab */
	const char *snapshot;	/* directory for snapshots, or NULL */
	int stop;		/* descriptor, readable after Ctrl-C */
	bool stopped;
	uint64_t begin_ns;  /* when the stage began */
	uint64_t budget_ns; /* time that the stage may take */
	struct trial_gpu *found;
	struct trial_line *line; /* the stage; one that is done may have left something out */
};

/* Run a stage, and put what each of its loads gave into its line. */
enum trial_result trial_run(struct trial *t, const struct trial_stage *stage);

/* Returns the object in the last whole line of its output; NULL: there is none. */
struct json_object *trial_last(const struct ctl_child *p);
/* A number of an object, or one in hexadecimal, which is text. Unknown: it has none. */
int64_t trial_int(struct json_object *row, const char *key);
/* Wait for the descriptor, up to ns; false: not, or Ctrl-C came. */
bool trial_wait_fd(struct trial *t, int fd, uint64_t ns);

/*
 * Bytes a second of a GPU's memory: its width in bits and its highest clock in MHz, as KFD's
 * topology has them, and transfers a clock, which depend on the kind of the memory. 0: not known.
 */
uint64_t trial_bandwidth(const char *gfx, uint64_t width, uint64_t mhz);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The driver's text, from the system, from files and from snapshots. */
#ifndef CTL_TEXT_LOAD_H
#define CTL_TEXT_LOAD_H

#include "ctl/command/ctl.h"
#include "ctl/text/layout.h"
#include "ctl/text/open.h"
#include "lib/text/text.h"

/* Directory of the driver's text. */
#ifndef TEXT_DIR
#define TEXT_DIR "/sys/kernel/debug/kfd"
#endif
/* In a snapshot: the module's view of a process's queues, "queues-<pid>". */
#define TEXT_QUEUES "queues-"

/* In a snapshot: what KFD's sysfs says, "pid qid gpu_id size type". */
#define TEXT_SYSFS "sysfs"

/* A queue by its id, which is its process's own. */
struct ctl_id {
	int64_t pid;
	int64_t gpu_id;
	int64_t qid;
};

struct ctl_text {
	struct gp_text *text;
	const struct gp_text_data *data;
	char **files; /* by their number in data */
	size_t n_files;
	struct ctl_id *ids; /* sorted, each once */
	size_t n_ids;
	bool all_ids;	    /* a process without one has none */
	uint64_t bad_lines; /* that could not be read, of other text */
};

/* What the system says now. 0, or the exit status after saying why not. */
int ctl_text_live(struct ctl_text *out);
/*
 * Files, "-" for stdin, directories that are snapshots, and DIR/NAME for one of those in a
 * directory; all are of one moment. 0, or the exit status after saying why not.
 */
int ctl_text_files(const char *const *words, size_t count, struct ctl_text *out);
/* The files of one moment in a directory. */
int ctl_text_moment(const struct text_moment *moment, struct ctl_text *out);
void ctl_text_free(struct ctl_text *text);

/* Does the join hold, of a process (0: of all)? */
struct gp_text_check ctl_text_check(const struct ctl_text *text, int64_t pid);

/* The address of a queue's ring, which is its process's own. */
int64_t ctl_ring_of(const struct gp_text_data *d, const struct gp_text_queue *queue);

/* stdin is there once among them, if at all. 0, or the exit status. */
int ctl_one_stdin(const char *const *words, size_t count);

/* ids.c: are the queue ids of a process (0: of all) known? */
bool ctl_ids_known(const struct ctl_text *text, int64_t pid);
void ctl_add_id(struct ctl_text *text, int64_t pid, int64_t gpu_id, int64_t qid);
/* Add those of the older text, which has them itself, and sort all. */
void ctl_finish_ids(struct ctl_text *text);

/* A list with commas between, which begins as NULL, for free(). */
__attribute__((format(printf, 2, 3))) void text_append(char **list, const char *format, ...);

#endif

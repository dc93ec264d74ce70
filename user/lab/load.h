/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of text, snapshots, and a directory of these. */
#ifndef LAB_LOAD_H
#define LAB_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#include "cli/cli.h"
#include "text.h"

/* Time of a moment: by the words baseline and before, final and after in the name. */
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

/* A moment of a directory: a snapshot, or files that a script wrote one after the other. */
struct text_moment {
	char *name; /* within the directory: DIR/NAME */
	char *dir;  /* directory of its files */
	char *files[TEXT_FILES];
	enum text_when when;
	int64_t time; /* by the names, if all have one; or 0 */
};

struct text_moments {
	struct text_moment *items;
	size_t count;
	char **passed; /* a sentence for each file that has no place */
	size_t n_passed;
};

/* Is the directory a snapshot? */
bool ctl_is_snapshot(const char *dir);

/* Find the moments in a directory and those below it, by time, for text_moments_free(). */
void text_moments_find(const char *dir, struct text_moments *out);
void text_moments_note(const struct text_moments *moments);
void text_moments_free(struct text_moments *moments);

/*
 * Opening text. A file that the user names is opened as it is; in a directory,
 * which another user may have made, only regular files are, and no links.
 */

/* A file in a directory is not larger: bytes. */
#define TEXT_FILE_MAX (1ll << 30)
/* Bytes of a file that is read as a whole, at most: ids, views, results, plans. */
#define TEXT_WHOLE_MAX (16ll << 20)

/* "-" is stdin. A descriptor or -errno. */
int text_open(const char *path);

/*
 * Open a file of a directory. Returns a descriptor, or -errno: -ELOOP for a link, -EINVAL for
 * neither a link nor a regular file, -EFBIG for one that has more than @max bytes.
 */
int text_open_in(const char *dir, const char *name, int64_t max);

/* Returns a sentence for the user about an error of these. */
const char *text_open_error(int err);
/* Print it, with the next step. Returns the exit status. */
int text_fail(const char *path, int err);

/* Read the whole file, with a NUL behind it, for free(). Returns the length or -errno. */
ssize_t text_read_all(int fd, int64_t max, char **out);

/* Read a whole file that the user names, "-" for stdin; NULL: errno has the reason. */
char *text_read(const char *path, size_t *len);
/* The same of a regular file. */
char *ctl_read_file(const char *path, size_t *len);
char *text_read_in(const char *dir, const char *name, size_t *len);

/* A guess at the kind of a file that is not text of this kind. */
struct text_guess {
	const char *begin; /* its first bytes */
	size_t len;	   /* number of these bytes */
	const char *what;  /* a clause about the file */
	const char *next;  /* next step, or NULL */
};

/* Guess by the first bytes of a file; NULL: not known. */
const struct text_guess *text_guess(const char *begin, size_t len);

/* The driver's text, from the system, from files and from snapshots. */

/* Directory of the driver's text. */
#ifndef TEXT_DIR
#define TEXT_DIR "/sys/kernel/debug/kfd"
#endif
/* Start of a name in a snapshot: the module's view of a process's queues, "queues-<pid>". */
#define TEXT_QUEUES "queues-"

/* Name in a snapshot: KFD's facts in sysfs, "pid qid gpu_id size type". */
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
	uint64_t bad_lines; /* lines of other text that could not be read */
};

/* Read the state of the system now. 0, or the exit status after a message. */
int ctl_text_live(struct ctl_text *out);
/*
 * Read files, "-" for stdin, and directories of one moment, or DIR/NAME; all are of one moment. 0,
 * or the exit status after a message.
 */
int ctl_text_files(const char *const *words, size_t count, struct ctl_text *out);
int ctl_text_moment(const struct text_moment *moment, struct ctl_text *out);
void ctl_text_free(struct ctl_text *text);

/* Is there such a process in the text? */
bool ctl_text_has(const struct ctl_text *text, int64_t pid);

/* Check the join of a process (0: of all). */
struct gp_text_check ctl_text_check(const struct ctl_text *text, int64_t pid);

/* The address of a queue's ring, which is its process's own. */
int64_t ctl_ring_of(const struct gp_text_data *d, const struct gp_text_queue *queue);

/*
 * The registers of the slot on the first XCC that holds a queue, which are those of now: the
 * driver updates an MQD when it takes the queue off only. NULL: it is in none that is known.
 */
const struct gp_text_regs *ctl_regs_now(const struct gp_text_data *d, size_t queue);
/* Packets that wait in the ring of an AQL queue; or unknown, as of SDMA. */
int64_t ctl_waiting(const struct gp_text_regs *slot);

/* Check that stdin is among the words once at most. 0, or the exit status. */
int ctl_one_stdin(const char *const *words, size_t count);

/* Registers that gpreempt.ko's view of a process and the driver's text both have. */
struct decode_view {
	int64_t compared, agree;
	char differs[160]; /* the first that does not agree */
};

/*
 * Read the driver's text between two looks at the view of a process, and compare. What changed
 * meanwhile is left out. 0, with the text, or the exit status after a message.
 */
int decode_view(pid_t pid, struct ctl_text *text, struct decode_view *sum);

/* A list with commas between, which begins as NULL, for free(). */
__attribute__((format(printf, 2, 3))) void text_append(char **list, const char *format, ...);

/* Text that has queue ids and no slots: monitor --csv, and a snapshot's sysfs. */

/* Bytes that tell a file of monitor --csv. */
#define IDS_CSV_BEGIN 4

struct ids_problems {
	uint64_t count;
	uint64_t first; /* line of the first one */
};

bool ids_is_csv(const char *begin, size_t len);
/* The text is cut up. -EINVAL: it has no columns with pid and ids. */
int ids_read_csv(struct ctl_text *out, char *text, struct ids_problems *bad);

/* Read lines "pid qid gpu_id ..."; other lines are skipped. */
void ids_read_sysfs(struct ctl_text *out, char *text);

/*
 * Print a directory of snapshots: one line for each, with the changes; only of that process, or
 * 0: of all. Returns the exit status, or -1: there are no two moments in it.
 */
int decode_series(enum out_mode mode, uint64_t pid, const char *dir);

#endif

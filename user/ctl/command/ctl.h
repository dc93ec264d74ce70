/* SPDX-License-Identifier: GPL-2.0-only */
/* What the subcommands of gpreempt-ctl share. */
#ifndef CTL_COMMAND_CTL_H
#define CTL_COMMAND_CTL_H

#include <stdio.h>

#include <gpreempt/gpreempt.h>

#include "guard/options.h"
#include "output/message.h"

/* Numbers from min to max; not set: any. */
struct ctl_range {
	bool set;
	int64_t min;
	int64_t max;
};

/* Everything that a command line can say. */
struct ctl_args {
	pid_t pid;		/* of ctl_each_target(): the one at hand */
	const char *const *words;	/* targets or files, as typed */
	size_t n_words;
	char **command;		/* behind "--", up to a NULL; NULL: none */
	uint64_t lease_ns;	/* 0: none */
	uint64_t hold_ns;
	uint64_t interval_ns;
	uint64_t duration_ns;
	uint64_t wait_ns;	/* 0: a target must be there */
	uint64_t grace_ns;
	uint64_t foreground;
	uint64_t count;
	uint32_t *ids;		/* NULL: all queues */
	size_t n_ids;
	struct ctl_range priority;
	uint32_t *gpus;		/* gpu_ids; NULL: all */
	size_t n_gpus;
	uint64_t verbose;
	uint64_t json;
	uint64_t csv;
	uint64_t only_pid;	/* 0: of all */
	uint64_t pid_a;
	uint64_t pid_b;
	uint64_t every_ns;
	uint64_t runs;
	uint64_t concurrent;
	uint64_t amd_log;	/* AMD_LOG_LEVEL; 0: as it is */
	const char *output;	/* file or directory; NULL: none */
	const char *tag;
	const char *format;
	const char *model_a;	/* commands for the shell */
	const char *model_b;
	const char *resume;	/* directories */
	const char *report_only;
	const char *samples;	/* file; NULL: none */
	const char *record;	/* the same */
	const char *replay;
	struct guard_options sched;
};

enum ctl_kind {
	CTL_FLAG,		/* no argument, sets a uint64_t to 1 */
	CTL_COUNT,		/* uint64_t, at least 1 */
	CTL_DURATION,		/* uint64_t, in ns */
	CTL_IDS,		/* ids and n_ids */
	CTL_PRIORITY,		/* priority */
	CTL_GPUS,		/* gpus and n_gpus */
	CTL_FILE,		/* const char *, the name of a file */
	CTL_NAME,		/* const char * */
	CTL_PERCENT,		/* uint64_t, 0 to 99; "%" may follow */
	CTL_CPU,		/* uint64_t, the number and 1 */
	CTL_ROLE,		/* struct guard_words; words may follow */
	CTL_UIDS,		/* sched.uids and n_uids */
	CTL_KINDS,
};

struct ctl_option {
	const char *name;	/* without "--"; output can be -o */
	enum ctl_kind kind;
	size_t offset;		/* in struct ctl_args */
	const char *arg;	/* its name in the help; NULL for a flag */
	const char *help;
};

/* What the words of a command are; its options may stand between them. */
enum ctl_words {
	CTL_NO_WORDS,
	CTL_TARGETS,		/* as gpreempt_select() takes them */
	CTL_FILES,
};

/* Options that several commands have: bits of struct ctl_command's shared. */
#define CTL_SHARED_QUEUES	(1 << 0)	/* --queues --priority --gpu */
#define CTL_SHARED_WAIT		(1 << 1)	/* --wait */
#define CTL_SHARED_JSON		(1 << 2)	/* --json */
#define CTL_SHARED_REPLAY	(1 << 3)	/* --record --replay */
#define CTL_SHARED_COUNT	4

struct ctl_command {
	const char *name;
	int (*run)(const struct ctl_command *cmd, struct ctl_args *args);
	enum ctl_words words;
	size_t min_words;
	size_t max_words;	/* 0: as many as one likes */
	const char *usage;	/* the words in the help; NULL: it takes none */
	const char *command;	/* "COMMAND...": may follow "--"; NULL: not */
	const char *summary;
	const char *details;	/* for its own --help; NULL: none */
	const struct ctl_option *options;	/* up to one without a name */
	unsigned int shared;	/* CTL_SHARED_ bits */
	const char *not_recorded;	/* why it has no --record; or NULL */
	struct ctl_args defaults;
};

/* The table of commands, up to NULL (commands.c). */
extern const struct ctl_command *const ctl_commands[];
/* What a target can be, for help and manual. */
extern const char ctl_targets_help[];

/*
 * The command that the words begin with, and how many of them are its name: 1
 * or 2. NULL if there is none.
 */
const struct ctl_command *ctl_find_command(int argc, char **argv, int *words);
/* Report that the words begin with no command. Returns the exit status. */
int ctl_no_command(int argc, char **argv);
/* The nth option of a command, its own ones first; NULL behind the last. */
const struct ctl_option *ctl_option_at(const struct ctl_command *cmd,
				       size_t n);

extern const struct ctl_command ctl_list;
extern const struct ctl_command ctl_doctor;
extern const struct ctl_command ctl_monitor;
extern const struct ctl_command ctl_queues;
extern const struct ctl_command ctl_suspend;
extern const struct ctl_command ctl_resume;
extern const struct ctl_command ctl_status;
extern const struct ctl_command ctl_preempt;
extern const struct ctl_command ctl_decode;
extern const struct ctl_command ctl_snapshot;
extern const struct ctl_command ctl_diff;
extern const struct ctl_command ctl_amdlog;
extern const struct ctl_command ctl_pidmap;
extern const struct ctl_command ctl_experiment;
extern const struct ctl_command ctl_self;
extern const struct ctl_command ctl_trace;
extern const struct ctl_command ctl_follow;
extern const struct ctl_command ctl_run;
extern const struct ctl_command ctl_guard;
extern const struct ctl_command ctl_guard_begin;
extern const struct ctl_command ctl_guard_end;
extern const struct ctl_command ctl_guard_release;
extern const struct ctl_command ctl_module_load;
extern const struct ctl_command ctl_module_unload;

/*
 * Fill in args from the words behind the command's name. Returns -1 to go on,
 * or the exit status: 0 after --help, 2 after a mistake. Sorts argv.
 */
int ctl_parse(const struct ctl_command *cmd, int argc, char **argv,
	      struct ctl_args *args);
void ctl_free_args(struct ctl_args *args);
/* All commands, or all about one. */
void ctl_help_all(FILE *f);
void ctl_help(const struct ctl_command *cmd, FILE *f);
/* "gpreempt-ctl COMMAND WORDS [OPTION...] [-- COMMAND...]" */
void ctl_usage(const struct ctl_command *cmd, FILE *f);

/* Is it among the queues that --queues, --priority and --gpu choose? */
bool ctl_chosen(const struct ctl_args *args,
		const struct gpreempt_queue *queue);

/* The same for the library; it lives as long as args. */
struct gpreempt_filter ctl_filter(const struct ctl_args *args);

/*
 * A handle on the library as --record and --replay want it. 0, or the exit
 * status after saying why not.
 */
int ctl_open(const struct ctl_args *args, struct gpreempt **out);
/* The same for a library that is to tell data when it is busy. */
int ctl_open_busy(const struct ctl_args *args,
		  void (*busy)(void *data, bool busy), void *data,
		  struct gpreempt **out);

/*
 * The processes that the words of the command line name, after --wait; no
 * holder is among them. For gpreempt_targets_free(). 0, or the exit status
 * after saying why there is none.
 */
int ctl_targets(struct gpreempt *g, const struct ctl_args *args,
		struct gpreempt_targets **out);

/*
 * Do it for each target, with args->pid set. Returns the exit status: that of
 * all if it is the same, GPREEMPT_CLASS_PARTIAL when some were done.
 */
int ctl_each_target(struct ctl_args *args,
		    int (*one)(struct ctl_args *args));
/* The exit status of two targets together. */
int ctl_merge_status(int a, int b);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that the commands of gpreempt-ctl and of gpreempt-lab share. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdio.h>

#include <gpreempt/gpreempt.h>

#include "table.h"
#include "shared/util.h"

/*
 * A command's arguments are a struct of its own, which its options and words fill. The structs
 * below are parts that several commands have.
 */

/* Targets or files, as typed. */
struct ctl_words {
	const char *const *word;
	size_t n;
};

/* A command with CTL_TARGETS has one of these, named targets. */
struct ctl_target_args {
	struct ctl_words words;
	uint64_t wait_ns;	       /* 0: a target must be there */
	struct gpreempt_filter queues; /* CTL_QUEUE_OPTIONS */
	const char *gpus;	       /* names, for ctl_find_gpus(); NULL: all */
	const char *from;	       /* a snapshot's directory; NULL: this host */
};

/* Targets of a role. */
struct guard_words {
	const char *word[64];
	size_t n;
};

enum ctl_kind {
	CTL_FLAG,     /* no argument, sets a uint64_t to 1 */
	CTL_COUNT,    /* uint64_t, at least 1 */
	CTL_DURATION, /* uint64_t, in ns */
	CTL_LEASE,    /* a duration above 0 */
	CTL_IDS,      /* struct gpreempt_filter: the queues */
	CTL_PRIORITY, /* struct gpreempt_filter: the priorities */
	CTL_GPUS,     /* struct ctl_target_args: the GPUs */
	CTL_FILE,     /* const char *, the name of a file */
	CTL_NAME,     /* const char * */
	CTL_PERCENT,  /* uint64_t, 0 to 99; "%" may follow */
	CTL_CPU,      /* uint64_t, the number and 1 */
	CTL_ROLE,     /* struct guard_words; words may follow */
	CTL_UIDS,     /* struct shr_ids */
	CTL_HOW,      /* enum gpreempt_how */
	CTL_JSON,     /* no argument, enum out_mode; without it the mode fits stdout */
	CTL_CSV,      /* no argument, enum out_mode */
	CTL_COLOUR,   /* struct out_form: the colour */
	CTL_KINDS,
};

struct ctl_option {
	const char *name; /* without "--"; some have a letter, too */
	enum ctl_kind kind;
	size_t offset;	 /* in the command's arguments */
	const char *arg; /* its name in the help; NULL for a flag */
	const char *help;
};

#define CTL_MAX_OPTIONS 32 /* for one command */

/* clang-format off */

/* The option --how, for commands that take a process off its GPUs. */
#define CTL_HOW_OPTION(type) \
	{ "how", CTL_HOW, offsetof(type, how), "METHOD", \
	  "debug, pause, or auto: pause what debug cannot hold (auto)" }
/* Rows of several commands' tables, for the members targets and mode. */
#define CTL_QUEUE_OPTIONS(type) \
	{ "queues", CTL_IDS, offsetof(type, targets.queues), "LIST", \
	  "only these queue ids (0,2)" }, \
	{ "priority", CTL_PRIORITY, offsetof(type, targets.queues), "RANGE", \
	  "only queues of that priority ('<=5', '>3', 7, 3-7)" }, \
	{ "gpu", CTL_GPUS, offsetof(type, targets), "LIST", \
	  "only queues on these GPUs (0: as amd-smi counts)" }
#define CTL_WAIT_OPTION(type) \
	{ "wait", CTL_DURATION, offsetof(type, targets.wait_ns), "TIME", \
	  "wait up to that long for the targets and their queues (30s)" }
#define CTL_JSON_OPTION(type) \
	{ "json", CTL_JSON, offsetof(type, mode), NULL, "print one JSON object" }
/* For a command that prints a table, row by row or at once, for the member form. */
#define CTL_ROW_OPTIONS(type) \
	{ "columns", CTL_NAME, offsetof(type, form.columns), "COLUMNS", \
	  "only these, in that order (-o pid,state)" }, \
	{ "no-headers", CTL_FLAG, offsetof(type, form.bare), NULL, "print no headings" }, \
	{ "color", CTL_COLOUR, offsetof(type, form), "WHEN", \
	  "auto (not with NO_COLOR), always or never" }, \
	{ "json", CTL_JSON, offsetof(type, form.mode), NULL, "print one JSON object" }
#define CTL_TABLE_OPTIONS(type) \
	{ "sort", CTL_NAME, offsetof(type, form.sort), "COLUMN", \
	  "by this column; -COLUMN: the largest first" }, \
	CTL_ROW_OPTIONS(type)
#define CTL_FROM_OPTION(type) \
	{ "from", CTL_FILE, offsetof(type, targets.from), "DIR", \
	  "read a snapshot, also of another host" }

/* clang-format on */

/* Kinds of words that a command takes; its options may stand between them. */
enum ctl_words_kind {
	CTL_NO_WORDS,
	CTL_TARGETS, /* targets for gpreempt_select() */
	CTL_FILES,
	CTL_ROLES, /* a role, and the targets that get it */
};

struct ctl_command {
	const char *name; /* "": the program has no other command */
	int (*run)(void *args);
	size_t args_size;     /* size of the command's own struct; 0: none */
	const void *defaults; /* defaults for that struct; NULL: zeroes */
	enum ctl_words_kind words;
	size_t words_at; /* offset of a struct ctl_words */
	size_t min_words;
	size_t max_words;    /* 0: no limit */
	const char *usage;   /* the words in the help; NULL: it takes none */
	const char *command; /* "COMMAND...": may follow "--"; NULL: not */
	size_t command_at;   /* offset of a char **; NULL there: none */
	const char *summary;
	const char *details;		  /* for its own --help; NULL: none */
	const char *examples;		  /* lines for a shell; NULL: its usage is one */
	const struct out_table *table;	  /* the columns of -o; NULL: run() checks */
	const struct ctl_option *options; /* up to one without a name */
};

/* Arguments of a command whose words are targets, in the member targets. */
#define CTL_TARGET_ARGS(type) \
	.args_size = sizeof(type), .words = CTL_TARGETS, .words_at = offsetof(type, targets.words)

#define ctl_for_each_option(o, cmd) for ((o) = (cmd)->options; (o) && (o)->name; (o)++)

/* The commands of gpreempt-ctl, in the order of the help: ctl_list and so on. */
#define CTL_COMMANDS(DO)  \
	DO(list)          \
	DO(suspend)       \
	DO(resume)        \
	DO(top)           \
	DO(doctor)        \
	DO(gpus)          \
	DO(queues)        \
	DO(status)        \
	DO(monitor)       \
	DO(metrics)       \
	DO(preempt)       \
	DO(follow)        \
	DO(repair)        \
	DO(guard)         \
	DO(guard_begin)   \
	DO(guard_end)     \
	DO(guard_release) \
	DO(guard_check)   \
	DO(guard_get)     \
	DO(guard_set)     \
	DO(run)           \
	DO(role)          \
	DO(nri)           \
	DO(trial)         \
	DO(module_load)   \
	DO(module_unload)

/* The commands of gpreempt-lab, of one word each. Both programs have a command named trial. */
#define LAB_COMMANDS(DO) \
	DO(decode)       \
	DO(snapshot)     \
	DO(diff)         \
	DO(report)       \
	DO(amdlog)       \
	DO(klog)         \
	DO(pidmap)       \
	DO(experiment)   \
	DO(lab_trial)    \
	DO(self)         \
	DO(trace)

#define CTL_DECLARE(name) extern const struct ctl_command ctl_##name;
#define CTL_ADDRESS(name) &ctl_##name,
#define CTL_NAME_OF(name) #name,
CTL_COMMANDS(CTL_DECLARE)
LAB_COMMANDS(CTL_DECLARE)

/* A heading of the help, above a command of the table. */
struct ctl_group {
	const char *heading; /* NULL behind the last group */
	const struct ctl_command *first;
};

/* A word that people type for a command that has another name. */
struct ctl_synonym {
	const char *typed; /* NULL behind the last one */
	const char *meant;
};

/* A program: help, manual and completions are made of its table. */
struct ctl_program {
	const char *name;
	const char *purpose;			   /* a sentence */
	const struct ctl_command *const *commands; /* up to NULL */
	const struct ctl_command *usual;	   /* without a command's name; NULL: the help */
	const char *other;			   /* name of the other program, */
	const char *const *others;		   /* and of its commands, up to NULL */
	const struct ctl_group *groups;		   /* NULL: none */
	const struct ctl_synonym *synonyms;	   /* NULL: none */
};

/* Programs, each in a main.c of its own. */
extern const struct ctl_program ctl_program, lab_program;

/* The main() of each program. Returns the exit status. */
int ctl_run_program(const struct ctl_program *p, int argc, char **argv);
/* Set the program for help and messages. */
void ctl_set_program(const struct ctl_program *p);
/* Kinds of targets, for help and manual. */
extern const char ctl_targets_help[];

/*
 * The command that the words begin with, and how many of them are its name: 1
 * or 2. NULL if there is none.
 */
const struct ctl_command *ctl_find_command(int argc, char **argv, int *words);

/* A command's arguments with their defaults. */
void *ctl_new_args(const struct ctl_command *cmd);
void ctl_free_args(const struct ctl_command *cmd, void *args);
/*
 * Fill in args from the words behind argv[0]. Returns -1 to go on, or the exit
 * status: 0 after --help, 2 after a mistake. Sorts argv.
 */
int ctl_parse(const struct ctl_command *cmd, int argc, char **argv, void *args);
/* Check the columns that were asked for. -1 to go on, or the exit status after a message. */
int ctl_check_form(const struct ctl_command *cmd, const struct out_form *form,
		   const struct out_table *table);
/*
 * End the output. Returns the exit status, if stdout took all. A reader that has closed the pipe
 * is no failure.
 */
int ctl_finish_output(int status);

/* Print the help on all commands, or on one. */
void ctl_help_all(FILE *f);
void ctl_help(const struct ctl_command *cmd, FILE *f);
/* "PROGRAM COMMAND WORDS [OPTION...] [-- COMMAND...]" */
void ctl_usage(const struct ctl_command *cmd, FILE *f);

/* Check the method against the filter: a pause takes the whole process. 0, or the exit status. */
int ctl_check_how(enum gpreempt_how how, const struct gpreempt_filter *queues);

/* A half of a snapshot has that in its name, and the PID of its writer. */
#define CTL_SNAPSHOT_PART ".part-"
/*
 * A handle on the library: on a snapshot's files, or with NULL on this system. 0, or
 * the exit status after saying why not.
 */
int ctl_open(const char *from, struct gpreempt **out);
/*
 * Open this system, for root in the host's namespaces alone: "only root may @to". Also for
 * gpreempt_free().
 */
int ctl_open_host(const char *to, struct gpreempt **out);

struct gp_gpus;

/*
 * Fill in the filter of GPUs by their names. Of ctl_targets(), too. 0, or the exit status after a
 * message with the names of all.
 */
int ctl_find_gpus(struct gpreempt *g, const struct ctl_target_args *args);
/* Set a flag for each GPU that a word means. 0, or the exit status after such a message. */
int ctl_find_gpu(const struct gp_gpus *gpus, const char *word, bool *chosen);

/*
 * The processes that the words of the command line name, after --wait; no holder is among them.
 * For gpreempt_list_free(). 0, or the exit status after saying why there is none.
 */
int ctl_targets(struct gpreempt *g, const struct ctl_target_args *args,
		struct gpreempt_targets **out);
/* Select without processes in doubt, see lib/see/words.h: for callers that release them. */
int ctl_targets_sure(struct gpreempt *g, const struct ctl_target_args *args,
		     struct gpreempt_targets **out);

/* The exit status of two targets together. */
int ctl_merge_status(int a, int b);

/*
 * Become the program, with output, if it is not negative, as its stdout and
 * stderr. Returns only when that fails, after reporting why on our stderr: as a
 * shell 127 for a program that is not there, else 126.
 */
int ctl_exec(char **command, int output);
/* Returns the shell's exit status for a status of waitpid(). */
int ctl_program_status(int status);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What the subcommands of gpreempt-ctl share. */
#ifndef CTL_H
#define CTL_H

#include <stdio.h>

#include <gpreempt/gpreempt.h>

/* Everything that a command line can say. */
struct ctl_args {
	pid_t pid;		/* 0: the command takes none */
	uint64_t lease_ns;	/* 0: none */
	uint64_t hold_ns;
	uint64_t interval_ns;
	uint64_t count;
	uint32_t *ids;		/* NULL: all queues */
	size_t n_ids;
	uint64_t verbose;
};

enum ctl_kind {
	CTL_FLAG,		/* no argument, sets a uint64_t to 1 */
	CTL_COUNT,		/* uint64_t, at least 1 */
	CTL_DURATION,		/* uint64_t, in ns */
	CTL_IDS,		/* ids and n_ids */
};

struct ctl_option {
	const char *name;	/* without "--" */
	enum ctl_kind kind;
	size_t offset;		/* in struct ctl_args */
	const char *arg;	/* its name in the help; NULL for a flag */
	const char *help;
};

struct ctl_command {
	const char *name;
	int (*run)(const struct ctl_command *cmd, struct ctl_args *args);
	const char *target;	/* "PID", or NULL: it takes none */
	const char *summary;
	const char *details;	/* for its own --help; NULL: none */
	const struct ctl_option *options;	/* up to one without a name */
	struct ctl_args defaults;
};

extern const struct ctl_command ctl_queues;
extern const struct ctl_command ctl_suspend;
extern const struct ctl_command ctl_resume;
extern const struct ctl_command ctl_status;
extern const struct ctl_command ctl_preempt;

/*
 * Fill in args from the words behind the command's name. Returns -1 to go on,
 * or the exit status: 0 after --help, 2 after a mistake.
 */
int ctl_parse(const struct ctl_command *cmd, int argc, char **argv,
	      struct ctl_args *args);
void ctl_help(const struct ctl_command *cmd, FILE *f);

/* Say why on stderr, and what to do next. Returns the exit status. */
int ctl_fail(const struct gpreempt_error *err);
__attribute__((format(printf, 3, 4)))
int ctl_fail_text(enum gpreempt_class class, const char *next,
		  const char *format, ...);
/* For a reason that needs no more than the process. */
int ctl_fail_reason(enum gpreempt_reason reason, int code, pid_t pid);

/* Something that the user should know, on stderr. */
__attribute__((format(printf, 1, 2)))
void ctl_note(const char *format, ...);

/* 0, or the exit status after saying that only root can do it. */
int ctl_need_root(pid_t pid);

/* Times that a simulated GPU gives are not those of hardware: say so. */
void ctl_label_times(void);

const char *ctl_verdict_name(enum gpreempt_verdict verdict);

/*
 * What ps shows of this process. init before the arguments are used; set
 * clears the environment.
 */
void ctl_title_init(int argc, char **argv);
__attribute__((format(printf, 2, 3)))
void ctl_title_set(const char *name, const char *format, ...);

#endif
